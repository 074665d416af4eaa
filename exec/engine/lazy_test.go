package engine

import (
	"testing"
)

// TestLazyCommit: with synchronous_commit off rows are visible when a statement returns, as with it on, in one epoch with others or alone, and a
// database that is closed has them all.
func TestLazyCommit(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	s, closeDB := openTest(t, o)
	expect(t, s, "CREATE STREAM s (k int)", "", "CREATE TABLE t (k int PRIMARY KEY)", "", "CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n FROM s", "",
		"SET synchronous_commit = off", "", "INSERT INTO s VALUES (1), (2)", "", "SELECT n FROM v", "2", "INSERT INTO t VALUES (1)", "", "INSERT INTO t VALUES (1)", "!23505",
		"BEGIN", "", "INSERT INTO s VALUES (3)", "", "DELETE FROM t", "", "COMMIT", "", "SELECT n, (SELECT count(*) FROM t) FROM v", "3,0",
		"CHECKPOINT", "", "INSERT INTO s VALUES (4)", "", "SET synchronous_commit = on", "",
		"BEGIN", "", "SET LOCAL synchronous_commit = off", "", "INSERT INTO s VALUES (5)", "", "COMMIT", "", "SHOW synchronous_commit", "on", "SELECT n FROM v", "5",
		"CREATE TABLE u (k int)", "", "SET synchronous_commit = off", "", "INSERT INTO u SELECT k FROM s", "")
	closeDB()
	s, _ = openTest(t, o)
	expect(t, s, "SELECT n FROM v", "5", "SELECT count(*) FROM s", "5", "SELECT count(*) FROM u", "5", "SELECT count(*) FROM t", "0")
}
