package engine

import "testing"

// TestFirstEpoch: views that the first epoch of a database makes, with the streams that they read, have no history before it, also when a crash before
// the first checkpoint lets everything run again.
func TestFirstEpoch(t *testing.T) {
	c := openClocked(t)
	c.exec(`BEGIN`, `CREATE STREAM s (k int, x int)`, `CREATE TABLE t (k int PRIMARY KEY)`, `INSERT INTO s VALUES (0, 0)`,
		`CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n, sum(x) AS x FROM s`,
		`CREATE MATERIALIZED VIEW a AS SELECT k, x FROM s`,
		`CREATE MATERIALIZED VIEW j AS SELECT s.k, s.x FROM s JOIN t ON s.k = t.k`,
		`CREATE MATERIALIZED VIEW above AS SELECT n FROM v`, `COMMIT`)
	check := func(n, x string) {
		t.Helper()
		c.want(`SELECT * FROM v`, n+","+x)
		c.want(`SELECT count(*), sum(x) FROM s`, n+","+x)
		c.want(`SELECT count(*), sum(x) FROM a`, n+","+x)
		c.want(`SELECT count(*) FROM j`, n)
		c.want(`SELECT * FROM above`, n)
	}
	c.exec(`INSERT INTO t VALUES (0), (1), (2)`, `INSERT INTO s VALUES (1, 10)`, `INSERT INTO s VALUES (2, 20)`)
	check("3", "30")
	c.restart(true)
	check("3", "30")
	c.exec(`INSERT INTO s VALUES (2, 5)`)
	c.restart(true)
	check("4", "35")
	c.restart(false)
	check("4", "35")
}
