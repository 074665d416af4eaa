package engine

import (
	"context"
	"testing"
)

// TestApartInOneText: statements that run in epochs of their own come behind those before them in one text, which the protocol makes one transaction.
func TestApartInOneText(t *testing.T) {
	c := openClocked(t)
	text := func(sql ...string) {
		t.Helper()
		c.sess.BeginImplicit()
		for _, q := range sql {
			c.exec(q)
		}
		if err := c.sess.EndImplicit(context.Background(), false); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	c.exec(`CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts)`,
		`CREATE MATERIALIZED VIEW w WITH (output_mode = 'append', state_partitions = 2) AS SELECT window(ts, '1 minute') AS win, count(*) AS n FROM s GROUP BY window(ts, '1 minute')`)
	text(`INSERT INTO s VALUES (1, '2026-01-01 10:00'), (2, '2026-01-01 10:00')`, `ADVANCE WATERMARK OF s TO '2026-01-01 11:00'`)
	c.want(`SELECT n FROM w`, "2")
	c.want(`SELECT count(*) FROM tidemark.late_rows`, "0")
	text(`ALTER MATERIALIZED VIEW w SET (state_partitions = 3)`, `ALTER MATERIALIZED VIEW w REBUILD`, `ALTER MATERIALIZED VIEW w SET (state_partitions = 5)`, `ALTER MATERIALIZED VIEW w PAUSE`, `ALTER MATERIALIZED VIEW w RESUME`)
	c.want(`SELECT state_partitions FROM tidemark.views WHERE view_name = 'w'`, "5")
	c.want(`SELECT n FROM w`, "2")
	text(`CREATE STREAM more (a int)`, `INSERT INTO more VALUES (7)`, `CREATE OR REPLACE MATERIALIZED VIEW w AS SELECT a FROM more`)
	c.want(`SELECT a FROM w`, "7")
	text(`INSERT INTO more VALUES (8)`, `CREATE STREAM again (a int)`, `CREATE MATERIALIZED VIEW x AS SELECT a FROM again`, `ALTER MATERIALIZED VIEW x REBUILD`, `INSERT INTO again VALUES (9)`)
	c.want(`SELECT a FROM x`, "9")
	c.exec(`BEGIN`)
	if _, err := query(c.sess, `ALTER MATERIALIZED VIEW x REBUILD`); err == nil {
		t.Error("a block holds a REBUILD")
	}
	c.exec(`ROLLBACK`)
	// What a block has made it can change and drop, by the kind that it is to have.
	c.exec(`BEGIN`, `CREATE MATERIALIZED VIEW a AS SELECT a, count(*) AS n FROM again GROUP BY a`, `CREATE MATERIALIZED VIEW b AS SELECT a FROM again`, `CREATE VIEW p AS SELECT 1 AS one`,
		`ALTER MATERIALIZED VIEW a SET (state_partitions = 3)`, `ALTER MATERIALIZED VIEW a RENAME TO z`, `DROP MATERIALIZED VIEW b`, `DROP VIEW p`, `CREATE MATERIALIZED VIEW b AS SELECT 1 AS one FROM again`, `COMMIT`)
	c.want(`SELECT view_name, state_partitions FROM tidemark.views WHERE view_name IN ('a', 'z') AND status = 'running'`, "z,3")
	c.want(`SELECT z.n, b.one FROM z, b`, "1,1")
	for _, wrong := range []string{`DROP VIEW m`, `ALTER VIEW m RENAME TO n`, `DROP MATERIALIZED VIEW p`} {
		c.exec(`BEGIN`, `CREATE MATERIALIZED VIEW m AS SELECT a FROM again`, `CREATE VIEW p AS SELECT 1 AS one`)
		if _, err := query(c.sess, wrong); err == nil {
			t.Errorf("%s was taken", wrong)
		}
		c.exec(`ROLLBACK`)
	}
	text(`CREATE MATERIALIZED VIEW m AS SELECT a FROM again`, `CREATE OR REPLACE MATERIALIZED VIEW m AS SELECT a + 1 AS a FROM again`, `DROP MATERIALIZED VIEW z`)
	c.want(`SELECT a FROM m`, "10")
	c.restart(true)
	c.want(`SELECT a FROM m`, "10")
}
