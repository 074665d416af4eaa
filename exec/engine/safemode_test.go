package engine

import (
	"testing"

	"github.com/rs/zerolog"
)

// TestRecoveryThatEndsTheProcess opens a database whose recovery has ended the process twice: it opens with its views
// stopped, and they can be rebuilt.
func TestRecoveryThatEndsTheProcess(t *testing.T) {
	o := Options{Dir: t.TempDir(), Log: zerolog.Nop()}
	s, closeDB := openTest(t, o)
	expect(t, s, "CREATE STREAM s (k int)", "", "CREATE MATERIALIZED VIEW v AS SELECT k, count(*) AS n FROM s GROUP BY k", "",
		"INSERT INTO s VALUES (1), (1), (2)", "", "INSERT INTO s VALUES (2)", "")
	closeDB()
	e, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	cp := e.checkpointEpoch.Load()
	for range maxRecoveries { // the marks of recoveries that the process did not survive
		if _, err := e.markRecovery(cp); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = openTest(t, o)
	expect(t, s, "SELECT count(*) FROM s", "4", "SELECT status FROM tidemark.views", "failed", "SELECT * FROM v", "!55000",
		"ALTER MATERIALIZED VIEW v RESUME", "", "SELECT string_agg(k || ':' || n, ' ' ORDER BY k) FROM v", "1:2 2:2")
}
