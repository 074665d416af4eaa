package engine

import "testing"

// TestLettersWithdrawn: deleting rows withdraws their letters, as many as there were, also of rows that are equal in different forms, of
// several epochs, and of rows that come and go in one epoch.
func TestLettersWithdrawn(t *testing.T) {
	c := openClocked(t)
	count := `SELECT count(*), coalesce(sum((row->>'id')::int), 0) FROM tidemark.dead_letters`
	c.exec(`CREATE TABLE t (id int, n numeric, v int)`,
		`CREATE MATERIALIZED VIEW q AS SELECT id, n, 1 / v AS x FROM t`,
		`INSERT INTO t SELECT g % 100, 1.0, 0 FROM generate_series(1, 3000) g`,
		`INSERT INTO t SELECT g % 100, 1.00, 0 FROM generate_series(1, 2000) g`)
	c.want(count, "5000,247500")
	c.exec(`DELETE FROM t WHERE id % 2 = 1 AND n::text = '1.00'`)
	c.want(count, "4000,197500")
	c.exec(`CHECKPOINT`)
	c.restart(true)
	// 30 and 20 letters of id 4 go and 7 come; those of id 5 come and go.
	c.exec(`BEGIN`, `DELETE FROM t WHERE id = 4`, `INSERT INTO t SELECT 4, 1, 0 FROM generate_series(1, 7)`,
		`INSERT INTO t SELECT 5, 1.000, 0 FROM generate_series(1, 9)`, `DELETE FROM t WHERE id = 5 AND n::text = '1.000'`, `COMMIT`)
	c.want(count, "3957,197328")
	c.restart(true)
	c.want(count, "3957,197328")
	c.want(`SELECT dead_letters_total FROM tidemark.views`, "3957")
	c.exec(`UPDATE t SET v = 1`)
	c.want(count, "0,0")
	c.want(`SELECT count(*) FROM q`, "3957")
}
