package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/sqllogictest/pgtest"
)

// copyTables are what copyErrors copies into.
const copyTables = `CREATE TABLE acc (id int PRIMARY KEY, v int NOT NULL, w int UNIQUE, c varchar(3), CHECK (w <> 7));
CREATE TABLE two (a int NOT NULL, b int NOT NULL, CHECK (a > 0), CONSTRAINT aaa CHECK (b > 0));
CREATE TABLE plain (a int NOT NULL, b text);
CREATE TABLE ratio (a int, CHECK (10 / a > 1));
INSERT INTO acc VALUES (100, 1, 100, 'x');`

// copyErrors are rows that COPY refuses, with what PostgreSQL 15 says of them (TestCopyErrorsOfPostgres asks it where one is at hand).
var copyErrors = []struct{ copy, data, want string }{
	{"acc FROM STDIN CSV", "1,1,1,a\n2,2,2,b\n4,,4,c\n5,,5,c\n",
		"23502 null value in column \"v\" of relation \"acc\" violates not-null constraint\nFailing row contains (4, null, 4, c).\nCOPY acc, line 3: \"4,,4,c\"\npublic acc v "},
	{"acc FROM STDIN CSV", "1,1,1,a\n4,,4,c\nx,1,1,x\n",
		"23502 null value in column \"v\" of relation \"acc\" violates not-null constraint\nFailing row contains (4, null, 4, c).\nCOPY acc, line 2: \"4,,4,c\"\npublic acc v "},
	{"acc FROM STDIN CSV HEADER", "id,v,w,c\n1,1,1,a\n4,,4,c\n",
		"23502 null value in column \"v\" of relation \"acc\" violates not-null constraint\nFailing row contains (4, null, 4, c).\nCOPY acc, line 3: \"4,,4,c\"\npublic acc v "},
	{"acc FROM STDIN", "1\t1\t1\ta\n4\t\\N\t4\ta\\tb\n",
		"23502 null value in column \"v\" of relation \"acc\" violates not-null constraint\nFailing row contains (4, null, 4, a\tb).\nCOPY acc, line 2: \"4\t\\N\t4\ta\\tb\"\npublic acc v "},
	{"acc FROM STDIN CSV", "1,1,1,a\n2,2,2,b\n1,3,3,x\n4,4,4,x\n",
		"23505 duplicate key value violates unique constraint \"acc_pkey\"\nKey (id)=(1) already exists.\nCOPY acc, line 3\npublic acc  acc_pkey"},
	{"acc FROM STDIN CSV", "1,1,1,a\n2,2,2,b\n5,3,2,x\n1,4,4,x\n",
		"23505 duplicate key value violates unique constraint \"acc_w_key\"\nKey (w)=(2) already exists.\nCOPY acc, line 3\npublic acc  acc_w_key"},
	{"acc FROM STDIN CSV", "1,1,1,\"\n\n\"\n100,2,2,b\n",
		"23505 duplicate key value violates unique constraint \"acc_pkey\"\nKey (id)=(100) already exists.\nCOPY acc, line 2\npublic acc  acc_pkey"},
	{"acc FROM STDIN CSV HEADER", "id,v,w,c\n1,1,1,\"\n\n\"\n3,2,100,b\n",
		"23505 duplicate key value violates unique constraint \"acc_w_key\"\nKey (w)=(100) already exists.\nCOPY acc, line 5\npublic acc  acc_w_key"},
	{"acc FROM STDIN CSV", "1,1,1,a\n2,2,7,\"b\nc\"\nx,3,2,x\n",
		"23514 new row for relation \"acc\" violates check constraint \"acc_w_check\"\nFailing row contains (2, 2, 7, b\nc).\nCOPY acc, line 3: \"2,2,7,\"b\nc\"\"\npublic acc  acc_w_check"},
	{"acc FROM STDIN CSV", "1,1,1,a\n1,1,1,a\n2,2,7,b\n",
		"23514 new row for relation \"acc\" violates check constraint \"acc_w_check\"\nFailing row contains (2, 2, 7, b).\nCOPY acc, line 3: \"2,2,7,b\"\npublic acc  acc_w_check"},
	{"acc FROM STDIN CSV", "1,1,1,a\n2,2,2,abcd\n",
		"22001 value too long for type character varying(3)\n\nCOPY acc, line 2, column c: \"abcd\"\n   "},
	{"acc (id, w) FROM STDIN CSV", "1,1\n2,2\n",
		"23502 null value in column \"v\" of relation \"acc\" violates not-null constraint\nFailing row contains (1, null, 1, null).\nCOPY acc, line 1: \"1,1\"\npublic acc v "},
	{"two FROM STDIN", "1\t\\N\n\\N\t1\n",
		"23502 null value in column \"b\" of relation \"two\" violates not-null constraint\nFailing row contains (1, null).\nCOPY two, line 1: \"1\t\\N\"\npublic two b "},
	{"two FROM STDIN", "\\N\t\\N\n",
		"23502 null value in column \"a\" of relation \"two\" violates not-null constraint\nFailing row contains (null, null).\nCOPY two, line 1: \"\\N\t\\N\"\npublic two a "},
	{"two FROM STDIN", "0\t0\n",
		"23514 new row for relation \"two\" violates check constraint \"aaa\"\nFailing row contains (0, 0).\nCOPY two, line 1: \"0\t0\"\npublic two  aaa"},
	{"two FROM STDIN", "1\t1\n-1\t1\nx\t1\n",
		"23514 new row for relation \"two\" violates check constraint \"two_a_check\"\nFailing row contains (-1, 1).\nCOPY two, line 2: \"-1\t1\"\npublic two  two_a_check"},
	{"two FROM STDIN", "1\t1\n-1\t1\n5\n",
		"23514 new row for relation \"two\" violates check constraint \"two_a_check\"\nFailing row contains (-1, 1).\nCOPY two, line 2: \"-1\t1\"\npublic two  two_a_check"},
	{"two FROM STDIN", "1\t1\n\\N\tx\n",
		"22P02 invalid input syntax for type integer: \"x\"\n\nCOPY two, line 2, column b: \"x\"\n   "},
	{"plain FROM STDIN CSV", "1,x\n," + strings.Repeat("é", 80) + "\n",
		"23502 null value in column \"a\" of relation \"plain\" violates not-null constraint\nFailing row contains (null, éééééééééééééééééééééééééééééééé...).\nCOPY plain, line 2: \",ééééééééééééééééééééééééééééééééééééééééééééééééé...\"\npublic plain a "},
	{"plain FROM STDIN CSV", strings.Repeat("1,x\n", 5000) + ",y\n",
		"23502 null value in column \"a\" of relation \"plain\" violates not-null constraint\nFailing row contains (null, y).\nCOPY plain, line 5001: \",y\"\npublic plain a "},
	{"two FROM STDIN CSV", strings.Repeat("1,2\n", 5000) + "3,-1\n" + strings.Repeat("1,2\n", 5000) + "x\n",
		"23514 new row for relation \"two\" violates check constraint \"aaa\"\nFailing row contains (3, -1).\nCOPY two, line 5001: \"3,-1\"\npublic two  aaa"},
	{"ratio FROM STDIN CSV", "1\n2\n0\n50\n",
		"22012 division by zero\n\nCOPY ratio, line 3: \"0\"\n   "},
	{"two FROM STDIN (FORMAT csv, HEADER match)", "a,b\n1,2\n", "COPY 1"},
	{"two (b, a) FROM STDIN (FORMAT csv, HEADER MATCH)", "b,\"a\"\r\n1,2\r\n", "COPY 1"},
	{"two FROM STDIN (HEADER MATCH)", "a\t\\x62\n1\t2\n", "COPY 1"},
	{"two FROM STDIN (FORMAT csv, HEADER MATCH)", "a,b", "COPY 0"},
	{"two FROM STDIN (FORMAT csv, HEADER)", "", "COPY 0"},
	{"two FROM STDIN (FORMAT csv, HEADER MATCH)", "",
		"22P04 wrong number of fields in header line: got 1, expected 2\n\nCOPY two, line 1: \"\"\n   "},
	{"two FROM STDIN (HEADER MATCH)", "\\.\n",
		"22P04 wrong number of fields in header line: got 1, expected 2\n\nCOPY two, line 1: \"\"\n   "},
	{"two TO STDOUT (HEADER MATCH)", "", "0A000 cannot use \"match\" with HEADER in COPY TO\n\n\n   "},
	{"two FROM STDIN (FORMAT csv, HEADER MATCH)", "b,a\n1,2\n",
		"22P04 column name mismatch in header line field 1: got \"b\", expected \"a\"\n\nCOPY two, line 1: \"b,a\"\n   "},
	{"two FROM STDIN (FORMAT csv, HEADER MATCH)", "a,\n1,2\n",
		"22P04 column name mismatch in header line field 2: got null value (\"\"), expected \"b\"\n\nCOPY two, line 1: \"a,\"\n   "},
	{"two FROM STDIN (FORMAT csv, HEADER MATCH)", "a,\"\"\n1,2\n",
		"22P04 column name mismatch in header line field 2: got \"\", expected \"b\"\n\nCOPY two, line 1: \"a,\"\"\"\n   "},
	{"two FROM STDIN (HEADER MATCH)", "a\tB\n1\t2\n",
		"22P04 column name mismatch in header line field 2: got \"B\", expected \"b\"\n\nCOPY two, line 1: \"a\tB\"\n   "},
	{"two FROM STDIN (HEADER MATCH)", "\\N\tb\n1\t2\n",
		"22P04 column name mismatch in header line field 1: got null value (\"\\N\"), expected \"a\"\n\nCOPY two, line 1: \"\\N\tb\"\n   "},
	{"two FROM STDIN (FORMAT csv, HEADER MATCH)", "x,b,c\n1,2\n",
		"22P04 wrong number of fields in header line: got 3, expected 2\n\nCOPY two, line 1: \"x,b,c\"\n   "},
	{"two FROM STDIN (HEADER MATCH)", "\n1\t2\n",
		"22P04 wrong number of fields in header line: got 1, expected 2\n\nCOPY two, line 1: \"\"\n   "},
	{"acc FROM STDIN BINARY", copyBinary("1", "1", "1", "a", "2", "", "3", "b"),
		"23502 null value in column \"v\" of relation \"acc\" violates not-null constraint\nFailing row contains (2, null, 3, b).\nCOPY acc, line 2\npublic acc v "},
	{"acc FROM STDIN BINARY", copyBinary("1", "1", "1", "a", "1", "1", "3", "b"),
		"23505 duplicate key value violates unique constraint \"acc_pkey\"\nKey (id)=(1) already exists.\nCOPY acc, line 2\npublic acc  acc_pkey"},
	{"acc FROM STDIN BINARY", copyBinary("1", "1", "1", "a", "2", "1", "7", "b"),
		"23514 new row for relation \"acc\" violates check constraint \"acc_w_check\"\nFailing row contains (2, 1, 7, b).\nCOPY acc, line 2\npublic acc  acc_w_check"},
	{"acc FROM STDIN BINARY", copyBinary("1", "1", "1", "a", "2", "1", "3", "abcd"),
		"22001 value too long for type character varying(3)\n\nCOPY acc, line 2, column c\n   "},
}

// copyBinary writes rows of three ints and a text in the binary format; "" is NULL.
func copyBinary(fields ...string) string {
	out := append([]byte("PGCOPY\n\xff\r\n\x00"), make([]byte, 8)...)
	for i, f := range fields {
		if i%4 == 0 {
			out = binary.BigEndian.AppendUint16(out, 4)
		}
		n, err := strconv.Atoi(f)
		switch {
		case f == "":
			out = append(out, 0xff, 0xff, 0xff, 0xff)
		case err == nil:
			out = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(out, 4), uint32(n))
		default:
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(f))), f...)
		}
	}
	return string(append(out, 0xff, 0xff))
}

// copyError runs COPY and gives its error as text, every part on a line of its own.
func copyError(t *testing.T, c *pgx.Conn, stmt, data string) string {
	t.Helper()
	tag, err := c.PgConn().CopyFrom(context.Background(), strings.NewReader(data), "COPY "+stmt)
	var e *pgconn.PgError
	switch {
	case errors.As(err, &e):
		return fmt.Sprintf("%s %s\n%s\n%s\n%s %s %s %s", e.Code, e.Message, e.Detail, e.Where, e.SchemaName, e.TableName, e.ColumnName, e.ConstraintName)
	case err != nil:
		t.Fatal(err)
	}
	return tag.String()
}

func testCopyErrors(t *testing.T, url string) {
	c := connect(t, url)
	execSQL(t, c, copyTables)
	for _, x := range copyErrors {
		if got := copyError(t, c, x.copy, x.data); got != x.want {
			t.Errorf("%s\n%.60q\ngives %q\nwant  %q", x.copy, x.data, got, x.want)
		}
	}
}

// TestCopyErrors: a row that COPY refuses is told with its line, as in PostgreSQL.
func TestCopyErrors(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	testCopyErrors(t, url)
}

// TestCopyErrorsOfPostgres asks a real PostgreSQL for the answers of copyErrors.
func TestCopyErrorsOfPostgres(t *testing.T) { testCopyErrors(t, pgtest.Start(t)) }

// copyOf writes rows (id, 'a') with the given ids in a format; an id below 0 makes a row that can't be read.
func copyOf(format string, ids []int) string {
	var out strings.Builder
	if format == "binary" {
		out.WriteString("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	}
	for _, id := range ids {
		switch {
		case format == "binary" && id < 0:
			out.WriteString("\x00\x02\x00\x00\x00\x03abc\x00\x00\x00\x01a")
		case format == "binary":
			out.WriteString("\x00\x02\x00\x00\x00\x04" + string(binary.BigEndian.AppendUint32(nil, uint32(id))) + "\x00\x00\x00\x01a")
		case id < 0:
			out.WriteString("x,a\n")
		default:
			fmt.Fprintf(&out, "%d,a\n", id)
		}
	}
	return out.String()
}

// upTo gives the numbers below n, and more.
func upTo(n int, more ...int) []int {
	ids := make([]int, n, n+len(more))
	for i := range ids {
		ids[i] = i
	}
	return append(ids, more...)
}

// copyUnits are COPYs with batch_rows into a table whose key is id, which must not be 99999.
var copyUnits = []struct {
	rows  int // batch_rows
	ids   []int
	want  string // tag, or "code detail; context"
	kept  int
	units int
}{
	{2, upTo(4, -1), `22P02 The first 4 rows were copied and stay.; COPY r, line 5, column id: "x"`, 4, 2},
	{2, upTo(5, -1), `22P02 The first 4 rows were copied and stay.; COPY r, line 6, column id: "x"`, 4, 2},
	{2, upTo(1, -1), `22P02 ; COPY r, line 2, column id: "x"`, 0, 0},
	{1, upTo(1, -1), `22P02 The first 1 row was copied and stays.; COPY r, line 2, column id: "x"`, 1, 1},
	{100, upTo(3000), "COPY 3000", 3000, 30},
	{100, upTo(250), "COPY 250", 250, 3},
	{3000, upTo(10000, -1), `22P02 The first 9000 rows were copied and stay.; COPY r, line 10001, column id: "x"`, 9000, 3},
	{1000, upTo(30000, -1), `22P02 The first 30000 rows were copied and stay.; COPY r, line 30001, column id: "x"`, 30000, 30},
	{2, upTo(5, 3, 6, 7), "23505 Key (id)=(3) already exists.\nThe first 4 rows were copied and stay.; COPY r, line 6", 4, 2},
	{4, upTo(6, 1, 7, 8), "23505 Key (id)=(1) already exists.\nThe first 4 rows were copied and stay.; COPY r, line 7", 4, 1},
	{4, upTo(4, 6, 6), "23505 Key (id)=(6) already exists.\nThe first 4 rows were copied and stay.; COPY r, line 6", 4, 1},
	{2, upTo(5, 99999), "23514 Failing row contains (99999, a).\nThe first 4 rows were copied and stay.; COPY r, line 6: \"99999,a\"", 4, 2},
	{3, upTo(4, 99999, -1), "23514 Failing row contains (99999, a).\nThe first 3 rows were copied and stay.; COPY r, line 5: \"99999,a\"", 3, 1},
}

// copyOutcome is how a COPY into r ends: its tag, or "code detail; context".
func copyOutcome(t *testing.T, c *pgx.Conn, options string, data io.Reader) string {
	t.Helper()
	tag, err := c.PgConn().CopyFrom(context.Background(), data, "COPY r FROM STDIN WITH ("+options+")")
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
		return fmt.Sprintf("%s %s; %s", e.Code, e.Detail, e.Where)
	} else if err != nil {
		t.Fatal(err)
	}
	return tag.String()
}

func number(t *testing.T, c *pgx.Conn, sql string) (n int) {
	t.Helper()
	if err := c.QueryRow(context.Background(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// copyFormats are the options of the formats that copyOf writes.
var copyFormats = map[string]string{"text": "FORMAT text, DELIMITER ','", "csv": "FORMAT csv", "binary": "FORMAT binary"}

// TestCopyBatchRows: with batch_rows each n rows are a unit of their own, in every format; an error says how many rows stay.
func TestCopyBatchRows(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	c := connect(t, url)
	execSQL(t, c, "CREATE TABLE r (id int PRIMARY KEY)")
	if got, want := copyError(t, c, "r TO STDOUT (batch_rows 5)", ""), "0A000 COPY batch_rows only available using COPY FROM\n\n\n   "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, x := range copyUnits {
		for format, options := range copyFormats {
			execSQL(t, c, "DROP TABLE IF EXISTS r CASCADE; CREATE TABLE r (id int PRIMARY KEY, x text, CHECK (id <> 99999))")
			execSQL(t, c, "CREATE MATERIALIZED VIEW v AS SELECT count(*) FROM r")
			want := x.want
			if format == "binary" {
				want, _, _ = strings.Cut(strings.Replace(want, "22P02", "08P01", 1), `: "`) // PostgreSQL's words for data without lines
			}
			got := copyOutcome(t, c, fmt.Sprintf("%s, batch_rows %d", options, x.rows), strings.NewReader(copyOf(format, x.ids)))
			if got != want {
				t.Errorf("%s, %d rows, batch_rows %d: %q, want %q", format, len(x.ids), x.rows, got, want)
			}
			kept, last := number(t, c, "SELECT count(*) FROM r"), number(t, c, "SELECT coalesce(max(id), -1) FROM r")
			units := number(t, c, "SELECT count(*) FROM tidemark.query_progress WHERE view_name = 'v' AND num_input_rows > 0")
			if kept != x.kept || last != x.kept-1 || units != x.units {
				t.Errorf("%s, %d rows, batch_rows %d: %d rows stay, up to %d, of %d units; want %d of %d", format, len(x.ids), x.rows, kept, last, units, x.kept, x.units)
			}
		}
	}
}

// cancelled is data of a COPY into r that is cancelled once r has a number of rows; a row follows that never ends.
type cancelled struct {
	t              *testing.T
	running, watch *pgx.Conn
	first          string
	until          int
}

// Read implements io.Reader.
func (c *cancelled) Read(p []byte) (n int, err error) {
	if n = copy(p, c.first); n > 0 {
		c.first = c.first[n:]
		return n, nil
	}
	for ctx := context.Background(); c.watch != nil; {
		if err := c.watch.QueryRow(ctx, "SELECT count(*) FROM r").Scan(&n); err != nil {
			c.t.Error(err)
			return 0, err
		}
		if n == c.until {
			c.watch = nil
			if err := c.running.PgConn().CancelRequest(ctx); err != nil {
				c.t.Error(err)
			}
		}
	}
	time.Sleep(time.Millisecond)
	return copy(p, "7"), nil
}

// TestCopyBatchRowsEnds: units of a stream that are large, that a client gives up or cancels, or that a block takes back.
func TestCopyBatchRowsEnds(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	c := connect(t, url)
	execSQL(t, c, "CREATE STREAM r (id int, x text)")
	rows := 0
	expect := func(got, want string, kept int) {
		t.Helper()
		if rows += kept; got != want || number(t, c, "SELECT count(*) FROM r") != rows {
			t.Errorf("%q, want %q; %d rows, want %d", got, want, number(t, c, "SELECT count(*) FROM r"), rows)
		}
	}
	got := copyOutcome(t, c, "FORMAT csv, batch_rows 140000", strings.NewReader(copyOf("csv", upTo(290000, -1))))
	expect(got, `22P02 The first 280000 rows were copied and stay.; COPY r, line 290001, column id: "x"`, 280000)
	broken := io.MultiReader(strings.NewReader(copyOf("csv", upTo(5))), iotest.ErrReader(errors.New("no more")))
	expect(copyOutcome(t, c, "FORMAT csv, batch_rows 2", broken), "57014 The first 4 rows were copied and stay.; ", 4)
	cancelled := &cancelled{t: t, running: c, watch: connect(t, url), first: copyOf("csv", upTo(5)), until: rows + 4}
	expect(copyOutcome(t, c, "FORMAT csv, batch_rows 2", cancelled), "57014 The first 4 rows were copied and stay.; ", 4)
	execSQL(t, c, "BEGIN")
	got = copyOutcome(t, c, "FORMAT csv, batch_rows 2", strings.NewReader(copyOf("csv", upTo(5, -1))))
	execSQL(t, c, "ROLLBACK")
	expect(got, `22P02 ; COPY r, line 6, column id: "x"`, 0)
	execSQL(t, c, "BEGIN")
	got = copyOutcome(t, c, "FORMAT csv, batch_rows 2", strings.NewReader(copyOf("csv", upTo(5))))
	execSQL(t, c, "COMMIT")
	expect(got, "COPY 5", 5)
}
