package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgtype"
)

// queryModes are the ways in which pgx can run a query: prepared or not, parameters in binary or text.
var queryModes = []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol}

// roundTrips are a value of each type in text form.
var roundTrips = []struct{ typ, value string }{
	{"bool", "t"}, {"int2", "-7"}, {"int4", "70000"}, {"int8", "-9000000000"}, {"float4", "0.25"}, {"float8", "-1.5e-300"}, {"float8", "NaN"},
	{"numeric", "12345678901234567890.0123456789"}, {"numeric", "0.00"}, {"numeric", "NaN"}, {"text", "é\"\\ \n"}, {"varchar", ""}, {"bpchar", "ab"},
	{"name", "abc"}, {`"char"`, "A"}, {"bytea", `\x00ff10`}, {"date", "2024-02-29"}, {"date", "infinity"}, {"time", "01:02:03.000004"},
	{"timestamp", "2024-01-02 03:04:05.678901"}, {"timestamptz", "2024-01-02 03:04:05.678901+00"}, {"timestamptz", "-infinity"},
	{"interval", "1 year 2 mons 3 days 04:05:06.7"}, {"uuid", "12345678-1234-5678-1234-567812345678"}, {"json", `{"a": [1,  null]}`},
	{"jsonb", `{"a": [1, null]}`}, {"oid", "4000000000"}, {"regtype", "integer"}, {"regclass", "pg_class"}, {"regproc", "now"},
	{"regnamespace", "pg_catalog"}, {"int2vector", "1 2 3"}, {"oidvector", "23 25"}, {"int4[]", "{1,NULL,3}"}, {"int4[]", "{}"},
	{"int4[]", "{{1,2},{3,4}}"}, {"text[]", `{a,"b,\"c",NULL,"NULL",""}`}, {"timestamptz[]", `{"2024-01-02 03:04:05+00"}`}, {"numeric[]", "{1.50,2}"},
	{"bool[]", "{t,f}"}, {"window_timestamp", `("2024-01-01 00:00:00","2024-01-01 00:10:00")`}, {"window_date", "(2024-01-01,2024-01-08)"},
}

// TestEveryTypeRoundTrips sends a value of each type in both formats as the protocol has them, and gets it back in both.
func TestEveryTypeRoundTrips(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	c := connect(t, url).PgConn()
	ctx := context.Background()
	for _, x := range roundTrips {
		query := "SELECT $1::" + x.typ
		binary := c.ExecParams(ctx, query, [][]byte{[]byte(x.value)}, nil, nil, []int16{1}).Read()
		if binary.Err != nil {
			t.Errorf("%s %s: %v", x.typ, x.value, binary.Err)
			continue
		}
		raw := binary.Rows[0][0]
		for format, param := range [][]byte{[]byte(x.value), raw} {
			text := c.ExecParams(ctx, query, [][]byte{param}, nil, []int16{int16(format)}, []int16{0}).Read()
			if text.Err != nil || string(text.Rows[0][0]) != x.value {
				t.Errorf("%s %s in format %d: %v %q", x.typ, x.value, format, text.Err, text.Rows)
			}
		}
		simple, err := c.Exec(ctx, "SELECT '"+strings.ReplaceAll(x.value, "'", "''")+"'::"+x.typ+", NULL::"+x.typ).ReadAll()
		if err != nil || string(simple[0].Rows[0][0]) != x.value || simple[0].Rows[0][1] != nil {
			t.Errorf("%s %s in a simple query: %v", x.typ, x.value, err)
		}
	}
}

// TestQueryModes runs statements with Go values in every mode of pgx.
func TestQueryModes(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	ctx := context.Background()
	at := time.Date(2024, 1, 2, 3, 4, 5, 6000, time.UTC)
	for _, mode := range queryModes {
		cfg, err := pgx.ParseConfig(url)
		if err != nil {
			t.Fatal(err)
		}
		cfg.DefaultQueryExecMode = mode
		c, err := pgx.ConnectConfig(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close(ctx) })
		if _, err := c.Exec(ctx, "CREATE TABLE IF NOT EXISTS m (mode int, id int, s text, at timestamptz, n numeric, list int[], b bytea, PRIMARY KEY (mode, id))"); err != nil {
			t.Fatalf("%v: %v", mode, err)
		}
		for id := range 3 {
			tag, err := c.Exec(ctx, "INSERT INTO m VALUES ($1, $2, $3, $4, $5, $6, $7)", int(mode), id, "é", at, pgtype.Numeric{Valid: true, Int: big.NewInt(150), Exp: -2}, []int32{1, 2}, []byte{0, 1})
			if err != nil || tag.String() != "INSERT 0 1" {
				t.Fatalf("%v: %v %v", mode, tag, err)
			}
		}
		var s string
		var got time.Time
		var n pgtype.Numeric
		var list []int32
		var b []byte
		err = c.QueryRow(ctx, "SELECT s, at, n, list, b FROM m WHERE mode = $1 AND id = $2", int(mode), 1).Scan(&s, &got, &n, &list, &b)
		if err != nil || s != "é" || !got.Equal(at) || n.Int.Int64() != 150 || len(list) != 2 || len(b) != 2 {
			t.Errorf("%v: %v %q %v %v %v %v", mode, err, s, got, n, list, b)
		}
		batch := &pgx.Batch{}
		batch.Queue("UPDATE m SET s = 'x' WHERE mode = $1", int(mode))
		batch.Queue("SELECT count(*) FROM m WHERE s = 'x' AND mode = $1", int(mode))
		var count int
		batch.Queue("SELECT 1 / (1 - 1)")
		if mode != pgx.QueryExecModeSimpleProtocol {
			res := c.SendBatch(ctx, batch)
			_, err1 := res.Exec()
			err2 := res.QueryRow().Scan(&count)
			if err := res.Close(); err1 != nil || err2 != nil || count != 3 || err == nil {
				t.Errorf("%v: batch: %v %v %d %v", mode, err1, err2, count, err)
			}
		}
		// The batch failed, so it changed nothing.
		if err := c.QueryRow(ctx, "SELECT count(*) FROM m WHERE s = 'x' AND mode = $1", int(mode)).Scan(&count); err != nil || count != 0 {
			t.Errorf("%v: after the batch %d, %v", mode, count, err)
		}
	}
}

// TestKeyedChangesDoNotConflict: keyed changes outside a block run in order, whatever protocol they come by.
func TestKeyedChangesDoNotConflict(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	setup := connect(t, url)
	execSQL(t, setup, "CREATE TABLE counters (id int PRIMARY KEY, n bigint); INSERT INTO counters VALUES (1, 0)")
	const clients, rounds = 8, 500
	ctx := context.Background()
	for id, query := range []string{"", "UPDATE counters SET n = n + 1 WHERE id = 1", "INSERT INTO counters VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET n = counters.n + 1"} {
		if query == "" {
			continue
		}
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				c, err := pgx.Connect(ctx, url)
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close(ctx)
				var args []any
				if strings.Contains(query, "$1") {
					args = []any{id}
				}
				for range rounds {
					if _, err := c.Exec(ctx, query, args...); err != nil {
						t.Errorf("%s: %v", query, err)
						return
					}
				}
			})
		}
		wg.Wait()
		var n int
		if err := setup.QueryRow(ctx, "SELECT n FROM counters WHERE id = $1", id).Scan(&n); err != nil || n != clients*rounds {
			t.Errorf("%s: n = %d, %v", query, n, err)
		}
	}
}

const endless = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b"

// TestCancel ends statements by a cancelled context and by statement_timeout; the connection stays good.
func TestCancel(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, CancelRequestDelay: 0, DeadlineDelay: 10 * time.Second}
	}
	c, err := pgx.ConnectConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	expectCancel := func(ctx context.Context, message string) {
		t.Helper()
		start := time.Now()
		_, err := c.Exec(ctx, endless)
		var pe *pgconn.PgError
		if !errors.As(err, &pe) || pe.Code != "57014" || pe.Message != message {
			t.Errorf("got %v, want %s", err, message)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("it took %v to cancel", d)
		}
		var one int
		if err := c.QueryRow(context.Background(), "SELECT 1").Scan(&one); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer stop()
	expectCancel(ctx, "canceling statement due to user request")
	execSQL(t, c, "SET statement_timeout = '200ms'")
	expectCancel(context.Background(), "canceling statement due to statement timeout")
}

// TestActivity: pg_stat_activity tells where a session comes from.
func TestActivity(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	c := connect(t, url)
	var from string
	if err := c.QueryRow(context.Background(), `SELECT client_addr || ':' || client_port FROM pg_stat_activity WHERE pid = pg_backend_pid() AND leader_pid IS NULL AND backend_xid IS NULL`).Scan(&from); err != nil {
		t.Fatal(err)
	}
	if want := c.PgConn().Conn().LocalAddr().String(); from != want {
		t.Errorf("session from %s, want %s", from, want)
	}
}

// TestManySessions: idle sessions cost little, and a client that does not read slows only itself.
func TestManySessions(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	ctx := context.Background()
	var conns []*pgx.Conn
	for i := range 300 {
		c, err := pgx.Connect(ctx, url)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		conns = append(conns, c)
		t.Cleanup(func() { c.Close(ctx) })
	}
	deaf := conns[0].PgConn().Conn()
	query := append([]byte{'Q', 0, 0, 0, 0}, "SELECT repeat('x', 1000) FROM generate_series(1, 10000000)\x00"...)
	query[4] = byte(len(query) - 1)
	if _, err := deaf.Write(query); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	start := time.Now()
	for i, c := range conns[1:] {
		var n int
		if err := c.QueryRow(ctx, "SELECT $1::int", i).Scan(&n); err != nil || n != i {
			t.Fatalf("connection %d: %d, %v", i, n, err)
		}
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("299 small queries took %v", d)
	}
	_ = deaf.Close() // the server finds out
}

// listening connects, and adds to said a line for each notice: severity, code and message.
func listening(t *testing.T, url string, said *string) *pgx.Conn {
	t.Helper()
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { *said += fmt.Sprintln(n.Severity, n.Code, n.Message) }
	c, err := pgx.ConnectConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// TestFillWarnings: a statement that fills a view says how many rows failed, once it is done, and nothing where none did.
func TestFillWarnings(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	said := ""
	c := listening(t, url, &said)
	execSQL(t, c, "CREATE TABLE t (a int); INSERT INTO t VALUES (0), (0), (1), (2); CREATE VIEW w AS SELECT a FROM t WHERE a > 1")
	for _, x := range []struct {
		sql   string
		warns string // how many rows of which view
	}{
		{"CREATE MATERIALIZED VIEW v1 AS SELECT 1/0 AS x", "1 row v1"},
		{"CREATE MATERIALIZED VIEW v2 AS SELECT 1/a AS x FROM t", "2 rows v2"},
		{"CREATE MATERIALIZED VIEW v3 AS SELECT 1/a AS x FROM t WHERE a > 0", ""},
		{"BEGIN; CREATE MATERIALIZED VIEW v4 AS SELECT 1/sum(a) AS x FROM t WHERE a = 0", ""},
		{"COMMIT", "1 row v4"},
		{"BEGIN; CREATE MATERIALIZED VIEW v5 AS SELECT 1/a AS x FROM t; ROLLBACK", ""},
		{"CREATE MATERIALIZED VIEW v5 AS SELECT 1/a AS x FROM w", ""},
		{"CREATE OR REPLACE VIEW w AS SELECT a FROM t", "2 rows v5"},
		{"CREATE OR REPLACE MATERIALIZED VIEW v3 AS SELECT 1/(a-1) AS x FROM t", "1 row v3"},
		{"ALTER MATERIALIZED VIEW v3 PAUSE", ""},
		{"ALTER MATERIALIZED VIEW v3 RESUME", "1 row v3"},
		{"ALTER MATERIALIZED VIEW v3 RESUME", ""},
		{"ALTER MATERIALIZED VIEW v3 REBUILD", "1 row v3"},
		{"DELETE FROM t WHERE a = 1", ""},
		{"ALTER MATERIALIZED VIEW v3 REBUILD", ""},
	} {
		said = ""
		execSQL(t, c, x.sql)
		want := ""
		if f := strings.Fields(x.warns); len(f) > 0 {
			want = fmt.Sprintf("WARNING 01000 %s %s failed in materialized view \"%s\", and what comes of them is not in it\n", f[0], f[1], f[2])
		}
		if said != want {
			t.Errorf("%s says\n %q, want\n %q", x.sql, said, want)
		}
	}
}

// TestNotices: notices and reported settings reach the client, before the end of the statement.
func TestNotices(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	var notices []string
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		notices = append(notices, fmt.Sprint(n.Severity, " ", n.Code, " ", n.Message))
	}
	c, err := pgx.ConnectConfig(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	execSQL(t, c, "CREATE TABLE IF NOT EXISTS n (a int); CREATE TABLE IF NOT EXISTS n (a int); COMMIT")
	want := []string{`NOTICE 42P07 relation "n" already exists, skipping`, "WARNING 25P01 there is no transaction in progress"}
	if fmt.Sprint(notices) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", notices, want)
	}
	execSQL(t, c, "SET client_min_messages = warning; CREATE TABLE IF NOT EXISTS n (a int); COMMIT; SET client_min_messages = error; COMMIT; RESET client_min_messages")
	if want = append(want, want[1]); fmt.Sprint(notices) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", notices, want)
	}
	execSQL(t, c, "SET TimeZone = 'Europe/Berlin'")
	if got := c.PgConn().ParameterStatus("TimeZone"); got != "Europe/Berlin" {
		t.Errorf("TimeZone is %q", got)
	}
	execSQL(t, c, "DISCARD ALL")
	if got := c.PgConn().ParameterStatus("TimeZone"); got == "Europe/Berlin" && os.Getenv("PGTZ") == "" {
		t.Errorf("after DISCARD ALL TimeZone is %q", got)
	}
}

// TestProtocolAndSession: what the protocol knows and what SQL knows of statements and transactions is one.
func TestProtocolAndSession(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	conn := connect(t, url)
	c, ctx := conn.PgConn(), context.Background()
	execSQL(t, conn, "BEGIN")
	// The engine never sees this error: the value is malformed.
	if res := c.ExecParams(ctx, "SELECT $1::int", [][]byte{[]byte("x")}, nil, nil, nil).Read(); res.Err == nil || c.TxStatus() != 'E' {
		t.Errorf("got %v in transaction status %c", res.Err, c.TxStatus())
	}
	execSQL(t, conn, "ROLLBACK")
	for _, end := range []string{"DEALLOCATE p", "DEALLOCATE ALL", "DISCARD ALL"} {
		if _, err := c.Prepare(ctx, "p", "SELECT 1", nil); err != nil {
			t.Fatalf("%s: %v", end, err)
		}
		execSQL(t, conn, end)
		var pe *pgconn.PgError
		if res := c.ExecPrepared(ctx, "p", nil, nil, nil).Read(); !errors.As(res.Err, &pe) || pe.Code != "26000" {
			t.Errorf("after %s: %v", end, res.Err)
		}
	}
	// A cursor of DECLARE is a portal.
	execSQL(t, conn, "BEGIN; DECLARE cur CURSOR FOR SELECT 1 AS one, 'a'::text AS a")
	if res := c.Exec(ctx, "FETCH 1 FROM cur"); res == nil {
		t.Error("no result")
	} else if got, err := res.ReadAll(); err != nil || len(got[0].Rows) != 1 {
		t.Errorf("FETCH: %v", err)
	}
}
