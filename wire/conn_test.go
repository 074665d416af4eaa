package wire

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"
)

func pgxConnect(t testing.TB, addr, user, password, more string) (*pgx.Conn, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	host, port, _ := net.SplitHostPort(addr)
	conn, err := pgx.Connect(ctx, fmt.Sprintf("host=%s port=%s user=%s password=%s dbname=d %s", host, port, user, password, more))
	if err == nil {
		t.Cleanup(func() { conn.Close(context.Background()) })
	}
	return conn, err
}

func TestStartup(t *testing.T) {
	e, _, addr := startServer(t, Options{Version: "1.2"})
	c := dial(t, addr)
	c.send(&pgproto3.StartupMessage{ProtocolVersion: 3 << 16, Parameters: map[string]string{
		"user": "u", "application_name": "app", "options": `-c statement_timeout=5s --search-path=a\ b`}})
	expect(t, c.until("Z"), "R ok", "S application_name=app", "S client_encoding=UTF8", "S DateStyle=ISO, MDY",
		"S default_transaction_read_only=off", "S in_hot_standby=off", "S integer_datetimes=on", "S IntervalStyle=postgres",
		"S is_superuser=on", "S server_encoding=UTF8", "S server_version=15.0 (Tidemark 1.2)", "S session_authorization=u",
		"S standard_conforming_strings=on", "S TimeZone=Europe/Berlin", "K", "Z I")
	p := e.params
	if p.User != "u" || p.Database != "u" || p.Application != "app" || p.ProcessID != c.pid || p.RemoteAddr == "" ||
		p.Settings["statement_timeout"] != "5s" || p.Settings["search_path"] != "a b" {
		t.Errorf("parameters: %+v", p)
	}
	c.send(&pgproto3.Terminate{})
	expect(t, c.until("Z"), "closed")
	if got := e.takeLog(); got != "close" {
		t.Errorf("session: %s", got)
	}
}

func TestStartupRefusals(t *testing.T) {
	_, _, addr := startServer(t, Options{MaxConnections: 1})
	startup := func(params map[string]string) string {
		c := dial(t, addr)
		c.send(&pgproto3.StartupMessage{ProtocolVersion: 3 << 16, Parameters: params})
		return c.until("E")
	}
	expect(t, startup(map[string]string{"database": "d"}), "E FATAL 28000 no PostgreSQL user name specified in startup packet")
	expect(t, startup(map[string]string{"user": "u", "database": "nosuch"}), "R ok", `E FATAL 3D000 database "nosuch" does not exist`)
	expect(t, startup(map[string]string{"user": "u", "replication": "true"}), "E FATAL 0A000 replication connections are not supported")
	time.Sleep(50 * time.Millisecond) // the refused one counts until it is gone
	c := connect(t, addr)
	expect(t, startup(map[string]string{"user": "u"}), "E FATAL 53300 sorry, too many clients already")
	expect(t, c.query("insert"), "C INSERT 0 1", "Z I")
	raw := func(b string) string {
		c := dial(t, addr)
		if _, err := c.nc.Write([]byte(b)); err != nil {
			t.Fatal(err)
		}
		return c.until("E")
	}
	expect(t, raw("\x00\x00\x00\x08\x00\x02\x00\x00"), "E FATAL 0A000 unsupported frontend protocol 2.0: server supports 3.0 to 3.0")
	expect(t, raw("GET / HTTP/1.1\r\n\r\n"), "E FATAL 08P01 invalid length of startup packet")
	expect(t, raw("\x00\x00\x00\x0c\x00\x03\x00\x00user"), "E FATAL 08P01 invalid startup packet layout: expected terminator as last byte")
}

func TestNegotiateProtocolVersion(t *testing.T) {
	_, _, addr := startServer(t, Options{})
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	body := "\x00\x03\x00\x02user\x00u\x00_pq_.x\x00y\x00\x00"
	if _, err := nc.Write(append([]byte{0, 0, 0, byte(len(body) + 4)}, body...)); err != nil {
		t.Fatal(err)
	}
	want := "v\x00\x00\x00\x13\x00\x03\x00\x00\x00\x00\x00\x01_pq_.x\x00R"
	got := make([]byte, len(want))
	_ = nc.SetReadDeadline(time.Now().Add(5 * time.Second))
	for n := 0; n < len(got); {
		m, err := nc.Read(got[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += m
	}
	if string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSCRAM(t *testing.T) {
	// The verifier is that of PostgreSQL 15 for password 'pencil' (salt and keys as in pg_authid).
	secret, err := deriveSecret("pencil", []byte("0123456789abcdef"), 4096)
	if err != nil {
		t.Fatal(err)
	}
	verifier := fmt.Sprintf("SCRAM-SHA-256$4096:%s$%s:%s", b64(secret.salt), b64(secret.storedKey), b64(secret.serverKey))
	_, _, addr := startServer(t, Options{Auth: SCRAM, Users: map[string]string{"plain": "pass wörd", "stored": verifier}})
	for _, c := range []struct{ user, password, code string }{
		{"plain", "'pass wörd'", ""}, {"stored", "pencil", ""}, {"plain", "wrong", "28P01"}, {"nobody", "pencil", "28P01"}, {"stored", "''", "28P01"},
	} {
		conn, err := pgxConnect(t, addr, c.user, c.password, "sslmode=disable")
		if c.code == "" {
			if err != nil {
				t.Errorf("%s: %v", c.user, err)
				continue
			}
			if _, err := conn.Exec(context.Background(), "insert"); err != nil {
				t.Errorf("%s: %v", c.user, err)
			}
			continue
		}
		if got := sqlstate(err); got != c.code {
			t.Errorf("%s with %s: %v", c.user, c.password, err)
		}
	}
}

func TestMalformedVerifier(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := New(&fakeEngine{}, Options{Auth: SCRAM, Users: map[string]string{"u": "SCRAM-SHA-256$4096:x$y"}}, zerolog.Nop())
	if err := srv.Serve(ln); err == nil || !strings.Contains(err.Error(), "malformed") {
		t.Errorf("Serve: %v", err)
	}
}

// TestSCRAMVector checks the exchange of RFC 7677, section 3.
func TestSCRAMVector(t *testing.T) {
	salt := unb64(t, "W22ZaJ0SNY7soEsUEjb6gQ==")
	secret, err := deriveSecret("pencil", salt, 4096)
	if err != nil {
		t.Fatal(err)
	}
	x := scramExchange{secret: secret, gs2: "n,,", clientFirst: "n=user,r=rOprNGfwEbeRWgbNEkqO",
		nonce:       "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
		serverFirst: "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"}
	answer, ok, err := x.final("c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
	if err != nil || !ok || answer != "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=" {
		t.Errorf("answer %q, %v, %v", answer, ok, err)
	}
}

func TestTLS(t *testing.T) {
	_, _, addr := startServer(t, Options{TLS: selfSigned(t), RequireTLS: true})
	conn, err := pgxConnect(t, addr, "u", "x", "sslmode=require")
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	var s string
	if err := conn.QueryRow(context.Background(), "rows 1").Scan(&n, &s); err != nil || n != 1 || s != "row 1" {
		t.Errorf("%d %q %v", n, s, err)
	}
	if _, err := pgxConnect(t, addr, "u", "x", "sslmode=disable"); sqlstate(err) != "28000" {
		t.Errorf("unencrypted: %v", err)
	}
	// Bytes behind an SSLRequest, before the handshake, must not be taken for the client's.
	c := dial(t, addr)
	if _, err := c.nc.Write([]byte("\x00\x00\x00\x08\x04\xd2\x16\x2f\x00\x00\x00\x08\x00\x03\x00\x00")); err != nil {
		t.Fatal(err)
	}
	expect(t, c.until("E"), "E FATAL 08P01 received unencrypted data after SSL request")
}

func selfSigned(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

func sqlstate(err error) string {
	if err == nil {
		return ""
	}
	if s := err.Error(); strings.Contains(s, "SQLSTATE ") {
		return s[strings.Index(s, "SQLSTATE ")+9:][:5]
	}
	return err.Error()
}

func TestCancel(t *testing.T) {
	_, _, addr := startServer(t, Options{})
	c := connect(t, addr)
	c.send(&pgproto3.Query{String: "sleep"})
	time.Sleep(50 * time.Millisecond)
	other := dial(t, addr)
	other.send(&pgproto3.CancelRequest{ProcessID: c.pid, SecretKey: c.key + 1})
	expect(t, other.until("Z"), "closed")
	again := dial(t, addr)
	again.send(&pgproto3.CancelRequest{ProcessID: c.pid, SecretKey: c.key})
	expect(t, again.until("Z"), "closed")
	expect(t, c.until("Z"), "E ERROR 57014 canceling statement due to user request", "Z I")
	expect(t, c.query("set statement_timeout 20ms"), "S statement_timeout=20ms", "C SET", "Z I")
	expect(t, c.query("sleep"), "E ERROR 57014 canceling statement due to statement timeout", "Z I")
	c.send(&pgproto3.Parse{Query: "sleep"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "1", "2", "E ERROR 57014 canceling statement due to statement timeout", "Z I")
	// While it waits for the data of a COPY, too; the connection is usable afterwards.
	c.send(&pgproto3.Query{String: "copyin"})
	expect(t, c.until("Z"), "G 0 []", "E ERROR 57014 canceling statement due to statement timeout", "Z I")
	c.send(&pgproto3.CopyData{Data: []byte("late")}, &pgproto3.CopyDone{})
	expect(t, c.query("insert"), "C INSERT 0 1", "Z I")
}

func TestParseTimeout(t *testing.T) {
	for s, want := range map[string]time.Duration{"0": 0, "250": 250 * time.Millisecond, "5s": 5 * time.Second, "1min": time.Minute,
		"1.5h": 90 * time.Minute, "10 us": 10 * time.Microsecond, "2d": 48 * time.Hour, "x": 0, "-1": 0, "3 weeks": 0} {
		if got := parseTimeout(s); got != want {
			t.Errorf("%s: %v, want %v", s, got, want)
		}
	}
}

func TestRowsStream(t *testing.T) {
	_, _, addr := startServer(t, Options{})
	c := connect(t, addr)
	// Rows of a statement that waits for more are shown, not kept back.
	c.send(&pgproto3.Query{String: "stream"})
	c.until("T")
	start := time.Now()
	expect(t, c.until("D"), `D "1" "row 1"`)
	if d := time.Since(start); d > 80*time.Millisecond {
		t.Errorf("first row after %v", d)
	}
	c.until("Z")
	// An error after rows.
	got := c.query("failrows")
	if !strings.HasSuffix(got, "D \"3000\" \"row 3000\"\nE ERROR 22012 division by zero\nZ I") {
		t.Errorf("end: %s", got[len(got)-100:])
	}
}

// TestSlowClient shows that a client that does not read its rows holds up nobody else.
func TestSlowClient(t *testing.T) {
	_, _, addr := startServer(t, Options{})
	slow := connect(t, addr)
	slow.send(&pgproto3.Query{String: "rows 3000000"})
	time.Sleep(100 * time.Millisecond)
	other := connect(t, addr)
	for i := 0; i < 100; i++ {
		other.query("rows 1")
	}
}

// TestClientGone shows that a waiting statement ends when its client has gone.
func TestClientGone(t *testing.T) {
	e, _, addr := startServer(t, Options{})
	c := connect(t, addr)
	c.send(&pgproto3.Query{String: "sleep"})
	c.nc.Close()
	for i := 0; i < 100; i++ {
		if strings.Contains(e.takeLog(), "close") {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error("the session was not closed")
}

func TestShutdown(t *testing.T) {
	_, srv, addr := startServer(t, Options{})
	idle, busy, stuck := connect(t, addr), connect(t, addr), connect(t, addr)
	busy.send(&pgproto3.Query{String: "stream"}) // 200 ms
	stuck.send(&pgproto3.Query{String: "sleep"})
	time.Sleep(20 * time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- srv.Shutdown(ctx) }()
	expect(t, idle.until("Z"), "E FATAL 57P01 terminating connection due to administrator command", "closed")
	busy.until("C")
	expect(t, busy.until("E"), "Z I", "E FATAL 57P01 terminating connection due to administrator command")
	expect(t, stuck.until("Z"), "E FATAL 57P01 terminating connection due to administrator command", "closed")
	if err := <-done; err != context.DeadlineExceeded {
		t.Errorf("Shutdown: %v", err)
	}
}

func TestPgx(t *testing.T) {
	e, _, addr := startServer(t, Options{})
	for _, mode := range []string{"cache_statement", "describe_exec", "simple_protocol"} {
		conn, err := pgxConnect(t, addr, "u", "x", "sslmode=disable default_query_exec_mode="+mode)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		rows, err := conn.Query(ctx, "rows 3000")
		if err != nil {
			t.Fatal(err)
		}
		n, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (int64, error) {
			var id int64
			var name string
			err := r.Scan(&id, &name)
			return id, err
		})
		if err != nil || len(n) != 3000 || n[2999] != 3000 {
			t.Errorf("%s: %d rows, %v", mode, len(n), err)
		}
		if mode != "simple_protocol" {
			var i int64
			var s string
			var f float64
			if err := conn.QueryRow(ctx, "echo int8 text float8", 7, "seven", 7.5).Scan(&i, &s, &f); err != nil || i != 7 || s != "seven" || f != 7.5 {
				t.Errorf("%s: %d %s %v %v", mode, i, s, f, err)
			}
			b := &pgx.Batch{}
			b.Queue("insert")
			b.Queue("echo int8", 1)
			if err := conn.SendBatch(ctx, b).Close(); err != nil {
				t.Errorf("%s: batch: %v", mode, err)
			}
		}
	}
	e.takeLog()
}
