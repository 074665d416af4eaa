package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// openTest opens a database with a session for the length of the test, or until close is called.
func openTest(t *testing.T, o Options) (s session.Session, close func()) {
	t.Helper()
	e, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	close = func() {
		if closed {
			return
		}
		closed = true
		if err := e.Close(); err != nil && e.readOnly() == nil {
			t.Error(err)
		}
	}
	t.Cleanup(close)
	return newTestSession(t, e), close
}

func newTestSession(t *testing.T, e *Engine) session.Session {
	t.Helper()
	s, err := e.NewSession(session.Params{User: "tidemark", Database: "tidemark"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// query runs one statement and gives its rows as text: columns joined by commas, rows by newlines.
func query(s session.Session, sql string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	sts, err := s.Parse(sql)
	if err != nil {
		return "", err
	}
	var out []string
	for _, st := range sts {
		p, err := s.Prepare(ctx, st, nil)
		if err != nil {
			return "", err
		}
		res, err := s.Execute(ctx, p, nil)
		if err != nil {
			return "", err
		}
		for {
			b, err := res.Next(ctx, 0)
			if err != nil {
				return "", err
			}
			if b == nil {
				break
			}
			for i := 0; i < b.N; i++ {
				var cols []string
				for _, c := range b.Cols {
					cols = append(cols, string(types.Append(nil, c.Type, c.Datum(i), types.DefaultEnv())))
				}
				out = append(out, strings.Join(cols, ","))
			}
		}
		res.Close()
	}
	return strings.Join(out, "\n"), nil
}

// expect runs one statement after another, each followed by what it must give: rows, or an SQLSTATE after "!".
func expect(t *testing.T, s session.Session, steps ...string) {
	t.Helper()
	for i := 0; i < len(steps); i += 2 {
		got, err := query(s, steps[i])
		if err != nil {
			got = "!" + string(sqlerr.From(err).Code)
		}
		if got != steps[i+1] {
			t.Errorf("%s\ngives %q (%v), want %q", steps[i], got, err, steps[i+1])
		}
	}
}

// TestDiskFull: where space is short a write fails with 53100 and leaves nothing behind; reads go on, and so do writes when there is space.
func TestDiskFull(t *testing.T) {
	o := Options{Dir: t.TempDir(), CheckpointInterval: time.Hour}
	s, closeDB := openTest(t, o)
	expect(t, s, "CREATE TABLE t (k int PRIMARY KEY)", "", "CREATE STREAM s (ts timestamp, WATERMARK FOR ts AS ts)", "",
		"CREATE MATERIALIZED VIEW v AS SELECT count(*) FROM t", "", "INSERT INTO t VALUES (1)", "")
	closeDB()
	o.Store.ReserveBytes = 1 << 60
	s, closeDB = openTest(t, o)
	expect(t, s, "INSERT INTO t VALUES (2)", "!53100", "INSERT INTO t VALUES (2)", "!53100", "UPDATE t SET k = 7", "!53100",
		"INSERT INTO s VALUES ('2024-01-01')", "!53100", "CREATE TABLE u (k int)", "!53100", "SELECT k, (SELECT count FROM v) FROM t", "1,1",
		"SELECT count(watermark) FROM tidemark.watermarks", "0", "INSERT INTO u VALUES (1)", "!42P01")
	closeDB()
	o.Store.ReserveBytes = 0
	s, _ = openTest(t, o)
	expect(t, s, "INSERT INTO t VALUES (2)", "", "CREATE TABLE u (k int)", "", "SELECT k, (SELECT count FROM v) FROM t ORDER BY 1", "1,2\n2,2")
}

// TestDroppedBehindSnapshot: a transaction whose stream was dropped meanwhile does not read it as empty.
func TestDroppedBehindSnapshot(t *testing.T) {
	s, _ := openTest(t, Options{Dir: t.TempDir(), CheckpointInterval: time.Hour})
	expect(t, s, "CREATE STREAM s (x int)", "", "CREATE TABLE t (x int)", "", "INSERT INTO s VALUES (1)", "", "INSERT INTO t VALUES (1)", "",
		"BEGIN ISOLATION LEVEL REPEATABLE READ", "", "SELECT (SELECT count(*) FROM s), (SELECT count(*) FROM t)", "1,1")
	other := newTestSession(t, s.(*sess).e)
	expect(t, other, "DROP STREAM s", "", "DROP TABLE t", "", "CHECKPOINT", "", "SELECT 1 FROM s", "!42P01")
	expect(t, s, "SELECT count(*) FROM t", "1", "SELECT count(*) FROM s", "!55000", "ROLLBACK", "")
}
