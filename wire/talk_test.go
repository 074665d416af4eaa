package wire

import (
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgproto3/v2"
)

// talk is a client that sends messages one by one and shows the answers as text.
type talk struct {
	t   testing.TB
	nc  net.Conn
	fe  *pgproto3.Frontend
	pid uint32
	key uint32
}

func dial(t testing.TB, addr string) *talk {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
	return &talk{t: t, nc: nc, fe: pgproto3.NewFrontend(pgproto3.NewChunkReader(nc), nc)}
}

// connect dials and starts up.
func connect(t testing.TB, addr string) *talk {
	t.Helper()
	c := dial(t, addr)
	c.send(&pgproto3.StartupMessage{ProtocolVersion: 3 << 16, Parameters: map[string]string{"user": "u", "database": "d"}})
	c.until("Z")
	return c
}

func (c *talk) send(ms ...pgproto3.FrontendMessage) {
	c.t.Helper()
	var buf []byte
	for _, m := range ms {
		var err error
		if buf, err = m.Encode(buf); err != nil {
			c.t.Fatal(err)
		}
	}
	if _, err := c.nc.Write(buf); err != nil {
		c.t.Fatal(err)
	}
}

// until reads messages up to the first of a kind in stops and shows them, a line each.
func (c *talk) until(stops string) string {
	c.t.Helper()
	var lines []string
	for {
		m, err := c.fe.Receive()
		if err != nil {
			lines = append(lines, "closed")
			return strings.Join(lines, "\n")
		}
		if k, ok := m.(*pgproto3.BackendKeyData); ok {
			c.pid, c.key = k.ProcessID, k.SecretKey
		}
		line := show(m)
		lines = append(lines, line)
		if strings.Contains(stops, line[:1]) {
			return strings.Join(lines, "\n")
		}
	}
}

// query sends a simple query and gives the answers.
func (c *talk) query(sql string) string {
	c.t.Helper()
	c.send(&pgproto3.Query{String: sql})
	return c.until("Z")
}

// expect compares answers with lines.
func expect(t testing.TB, got string, want ...string) {
	t.Helper()
	if w := strings.Join(want, "\n"); got != w {
		t.Fatalf("got:\n%s\nwant:\n%s", got, w)
	}
}

// show writes a message as its type letter and what matters of it.
func show(m pgproto3.BackendMessage) string {
	switch m := m.(type) {
	case *pgproto3.ReadyForQuery:
		return "Z " + string(m.TxStatus)
	case *pgproto3.CommandComplete:
		return "C " + string(m.CommandTag)
	case *pgproto3.RowDescription:
		s := "T"
		for _, f := range m.Fields {
			s += fmt.Sprintf(" %s:%d:%d", f.Name, f.DataTypeOID, f.Format)
		}
		return s
	case *pgproto3.DataRow:
		s := "D"
		for _, v := range m.Values {
			if v == nil {
				s += " NULL"
			} else {
				s += fmt.Sprintf(" %q", v)
			}
		}
		return s
	case *pgproto3.ErrorResponse:
		s := fmt.Sprintf("E %s %s %s", m.Severity, m.Code, m.Message)
		if m.Position != 0 {
			s += fmt.Sprintf(" at %d", m.Position)
		}
		if m.Where != "" {
			s += " where " + m.Where
		}
		return s
	case *pgproto3.NoticeResponse:
		return fmt.Sprintf("N %s %s %s", m.Severity, m.Code, m.Message)
	case *pgproto3.ParameterStatus:
		return "S " + m.Name + "=" + m.Value
	case *pgproto3.ParameterDescription:
		return fmt.Sprintf("t %v", m.ParameterOIDs)
	case *pgproto3.AuthenticationOk:
		return "R ok"
	case *pgproto3.AuthenticationSASL:
		return fmt.Sprintf("R sasl %v", m.AuthMechanisms)
	case *pgproto3.BackendKeyData:
		return "K"
	case *pgproto3.ParseComplete:
		return "1"
	case *pgproto3.BindComplete:
		return "2"
	case *pgproto3.CloseComplete:
		return "3"
	case *pgproto3.NoData:
		return "n"
	case *pgproto3.PortalSuspended:
		return "s"
	case *pgproto3.EmptyQueryResponse:
		return "I"
	case *pgproto3.CopyInResponse:
		return fmt.Sprintf("G %d %v", m.OverallFormat, m.ColumnFormatCodes)
	case *pgproto3.CopyOutResponse:
		return fmt.Sprintf("H %d %v", m.OverallFormat, m.ColumnFormatCodes)
	case *pgproto3.CopyData:
		return fmt.Sprintf("d %q", m.Data)
	case *pgproto3.CopyDone:
		return "c"
	}
	return fmt.Sprintf("? %T", m)
}

func TestSimpleQuery(t *testing.T) {
	e, _, addr := startServer(t, Options{})
	c := connect(t, addr)
	rowsHead := "T id:20:0 name:25:0"
	expect(t, c.query("rows 2"), rowsHead, `D "1" "row 1"`, `D "2" "row 2"`, "C SELECT 2", "Z I")
	expect(t, c.query(""), "I", "Z I")
	expect(t, c.query(" ; "), "I", "Z I")
	expect(t, c.query("weights"), rowsHead, `D "0" NULL`, `D "1" NULL`, `D "1" NULL`, `D "1" NULL`, `D "2" NULL`, `D "2" NULL`, "C SELECT 6", "Z I")
	expect(t, c.query("begin"), "C BEGIN", "Z T")
	expect(t, c.query("fail"), "E ERROR 22012 division by zero", "Z E")
	expect(t, c.query("rows 1"), "E ERROR 25P02 current transaction is aborted, commands ignored until end of transaction block", "Z E")
	expect(t, c.query("rollback"), "C ROLLBACK", "Z I")
	expect(t, c.query("notice hello"), "N NOTICE 00000 hello", "C NOTICE", "Z I")
	expect(t, c.query("set TimeZone UTC"), "S TimeZone=UTC", "C SET", "Z I")
	expect(t, c.query("panic"), "E ERROR XX000 internal error: the engine has a bug", "Z I")
	e.takeLog()
	expect(t, c.query("insert; rows 1; insert"), "C INSERT 0 1", rowsHead, `D "1" "row 1"`, "C SELECT 1", "C INSERT 0 1", "Z I")
	expect(t, e.takeLog(), "begin insert insert end(false)")
	expect(t, c.query("insert; fail; insert"), "C INSERT 0 1", "E ERROR 22012 division by zero", "Z I")
	expect(t, e.takeLog(), "begin insert end(true)")
	expect(t, c.query("insert"), "C INSERT 0 1", "Z I")
	expect(t, e.takeLog(), "insert")
}

func TestErrorPositions(t *testing.T) {
	_, _, addr := startServer(t, Options{})
	c := connect(t, addr)
	expect(t, c.query("rows 1; ä ??"), `E ERROR 42601 syntax error at or near "??" at 11`, "Z I")
	expect(t, c.query("insert; bind 'ä' nope"), "C INSERT 0 1", `E ERROR 42703 column "nope" does not exist at 18`, "Z I")
	expect(t, c.query("a\xffb"), `E ERROR 22021 invalid byte sequence for encoding "UTF8": 0xff`, "Z I")
	c.send(&pgproto3.Parse{Query: " bind ä nope"}, &pgproto3.Sync{})
	expect(t, c.until("Z"), `E ERROR 42703 column "nope" does not exist at 9`, "Z I")
}

func TestExtendedQuery(t *testing.T) {
	e, _, addr := startServer(t, Options{})
	c := connect(t, addr)
	e.takeLog()
	c.send(&pgproto3.Parse{Name: "s", Query: "echo int8 text"}, &pgproto3.Describe{ObjectType: 'S', Name: "s"}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "1", "t [20 25]", "T c1:20:0 c2:25:0", "Z I")
	c.send(&pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{[]byte("42"), []byte("x")}}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "2", "T c1:20:0 c2:25:0", `D "42" "x"`, "C SELECT 1", "Z I")
	expect(t, e.takeLog(), "") // one statement before Sync needs no transaction of its own
	c.send(&pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{nil, nil}}, &pgproto3.Execute{MaxRows: 1}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "2", "D NULL NULL", "s", "Z I")
	expect(t, e.takeLog(), "begin end(false)")
	c.send(&pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{nil, nil}}, &pgproto3.Execute{}, &pgproto3.Flush{})
	expect(t, c.until("C"), "2", "D NULL NULL", "C SELECT 1")
	c.send(&pgproto3.Sync{})
	expect(t, c.until("Z"), "Z I")
	expect(t, e.takeLog(), "begin end(false)")
	eight := binary.BigEndian.AppendUint64(nil, 258)
	c.send(&pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{eight, nil}, ParameterFormatCodes: []int16{1, 0}, ResultFormatCodes: []int16{1}},
		&pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "2", "T c1:20:1 c2:25:1", `D "\x00\x00\x00\x00\x00\x00\x01\x02" NULL`, "C SELECT 1", "Z I")
	// The portal ended with its transaction, the statement did not.
	c.send(&pgproto3.Execute{}, &pgproto3.Sync{})
	expect(t, c.until("Z"), `E ERROR 34000 portal "" does not exist`, "Z I")
	c.send(&pgproto3.Close{ObjectType: 'S', Name: "s"}, &pgproto3.Bind{PreparedStatement: "s"}, &pgproto3.Execute{}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "3", `E ERROR 26000 prepared statement "s" does not exist`, "Z I")
	c.send(&pgproto3.Parse{Query: ""}, &pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "1", "2", "n", "I", "Z I")
	c.send(&pgproto3.Parse{Query: "insert; insert"}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "E ERROR 42601 cannot insert multiple commands into a prepared statement", "Z I")
	c.send(&pgproto3.Parse{Query: "rows 1"}, &pgproto3.Flush{})
	expect(t, c.until("1"), "1")
	c.send(&pgproto3.Sync{})
	c.until("Z")
	c.send(&pgproto3.Parse{Name: "p", Query: "echo param", ParameterOIDs: []uint32{23}}, &pgproto3.Describe{ObjectType: 'S', Name: "p"}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "1", "t [23]", "T c1:23:0", "Z I")
	c.send(&pgproto3.Parse{Name: "p", Query: "rows 1"}, &pgproto3.Sync{})
	expect(t, c.until("Z"), `E ERROR 42P05 prepared statement "p" already exists`, "Z I")
	expect(t, c.query("deallocate p"), "C DEALLOCATE", "Z I")
	expect(t, c.query("deallocate p"), `E ERROR 26000 prepared statement "p" does not exist`, "Z I")
}

func TestExtendedErrorsSkipToSync(t *testing.T) {
	e, _, addr := startServer(t, Options{})
	c := connect(t, addr)
	e.takeLog()
	c.send(&pgproto3.Parse{Query: "fail"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Flush{})
	expect(t, c.until("E"), "1", "2", "E ERROR 22012 division by zero") // without Sync
	c.send(&pgproto3.Sync{})
	expect(t, c.until("Z"), "Z I")
	e.takeLog()
	c.send(&pgproto3.Parse{Name: "i", Query: "insert"}, &pgproto3.Parse{Name: "f", Query: "fail"},
		&pgproto3.Bind{PreparedStatement: "i"}, &pgproto3.Execute{},
		&pgproto3.Bind{PreparedStatement: "f"}, &pgproto3.Execute{},
		&pgproto3.Bind{PreparedStatement: "i"}, &pgproto3.Execute{}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "1", "1", "2", "C INSERT 0 1", "2", "E ERROR 22012 division by zero", "Z I")
	expect(t, e.takeLog(), "begin insert end(true)")
	for _, bad := range []struct {
		bind pgproto3.Bind
		want string
	}{
		{pgproto3.Bind{PreparedStatement: "e", Parameters: [][]byte{[]byte("x")}}, `E ERROR 22P02 invalid input syntax for type bigint: "x" where unnamed portal parameter $1 = '...'`},
		{pgproto3.Bind{PreparedStatement: "e"}, `E ERROR 08P01 bind message supplies 0 parameters, but prepared statement "e" requires 1`},
		{pgproto3.Bind{PreparedStatement: "e", Parameters: [][]byte{nil}, ResultFormatCodes: []int16{0, 0}}, "E ERROR 08P01 bind message has 2 result formats but query has 1 columns"},
		{pgproto3.Bind{PreparedStatement: "e", Parameters: [][]byte{nil}, ResultFormatCodes: []int16{2}}, "E ERROR 22023 unsupported format code: 2"},
		{pgproto3.Bind{PreparedStatement: "e", Parameters: [][]byte{nil}, ParameterFormatCodes: []int16{0, 1}}, "E ERROR 08P01 bind message has 2 parameter formats but 1 parameters"},
	} {
		c.query("deallocate e")
		c.query("begin")
		c.send(&pgproto3.Parse{Name: "e", Query: "echo int8"}, &bad.bind, &pgproto3.Execute{}, &pgproto3.Sync{})
		expect(t, c.until("Z"), "1", bad.want, "Z E")
		c.query("rollback")
	}
}

// TestEnded: a result that says that it has given all its rows is not asked for more; a portal that is read in parts is suspended behind its last row all the same.
func TestEnded(t *testing.T) {
	e, _, addr := startServer(t, Options{})
	c := connect(t, addr)
	e.takeLog()
	expect(t, c.query("ended 1"), "T id:20:0 name:25:0", `D "1" "row 1"`, "C SELECT 1", "Z I")
	expect(t, e.takeLog(), "next(0)")
	c.send(&pgproto3.Parse{Query: "ended 1001"}, &pgproto3.Bind{DestinationPortal: "p"}, &pgproto3.Execute{Portal: "p"}, &pgproto3.Execute{Portal: "p"}, &pgproto3.Sync{})
	if got := c.until("Z"); !strings.HasSuffix(got, "\nD \"1001\" \"row 1001\"\nC SELECT 1001\nC SELECT 0\nZ I") {
		t.Errorf("got ... %s", got[max(len(got)-100, 0):])
	}
	expect(t, e.takeLog(), "begin next(0) next(0) end(false)")
	c.send(&pgproto3.Parse{Query: "ended 2"}, &pgproto3.Bind{DestinationPortal: "p"}, &pgproto3.Execute{Portal: "p", MaxRows: 2}, &pgproto3.Execute{Portal: "p"}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "1", "2", `D "1" "row 1"`, `D "2" "row 2"`, "s", "C SELECT 0", "Z I")
}

func TestPortals(t *testing.T) {
	_, _, addr := startServer(t, Options{})
	c := connect(t, addr)
	c.send(&pgproto3.Parse{Query: "rows 5"}, &pgproto3.Bind{DestinationPortal: "p"}, &pgproto3.Execute{Portal: "p", MaxRows: 2}, &pgproto3.Execute{Portal: "p", MaxRows: 3},
		&pgproto3.Execute{Portal: "p", MaxRows: 3}, &pgproto3.Execute{Portal: "p"}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "1", "2", `D "1" "row 1"`, `D "2" "row 2"`, "s", `D "3" "row 3"`, `D "4" "row 4"`, `D "5" "row 5"`, "s", "C SELECT 0", "C SELECT 0", "Z I")
	// A row that counts several times is cut by the limit, too.
	c.send(&pgproto3.Parse{Query: "weights"}, &pgproto3.Bind{DestinationPortal: "w"}, &pgproto3.Execute{Portal: "w", MaxRows: 3}, &pgproto3.Execute{Portal: "w"}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "1", "2", `D "0" NULL`, `D "1" NULL`, `D "1" NULL`, "s", `D "1" NULL`, `D "2" NULL`, `D "2" NULL`, "C SELECT 3", "Z I")
	// In a block a portal outlives Sync, and other statements may run between.
	c.query("begin")
	c.send(&pgproto3.Parse{Query: "rows 3"}, &pgproto3.Bind{DestinationPortal: "p"}, &pgproto3.Execute{Portal: "p", MaxRows: 1}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "1", "2", `D "1" "row 1"`, "s", "Z T")
	c.query("rows 1")
	c.send(&pgproto3.Bind{DestinationPortal: "p"}, &pgproto3.Sync{})
	expect(t, c.until("Z"), `E ERROR 26000 unnamed prepared statement does not exist`, "Z E")
	c.query("rollback")
	c.send(&pgproto3.Execute{Portal: "p", MaxRows: 1}, &pgproto3.Sync{})
	expect(t, c.until("Z"), `E ERROR 34000 portal "p" does not exist`, "Z I")
	c.send(&pgproto3.Parse{Query: "insert"}, &pgproto3.Bind{DestinationPortal: "p"}, &pgproto3.Execute{Portal: "p"}, &pgproto3.Execute{Portal: "p"}, &pgproto3.Sync{})
	expect(t, c.until("Z"), "1", "2", "C INSERT 0 1", `E ERROR 55000 portal "p" cannot be run`, "Z I")
}
