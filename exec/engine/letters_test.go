package engine

import (
	"fmt"
	"testing"
	"time"
)

func (c *clocked) exec1(format string, args ...any) {
	c.t.Helper()
	c.exec(fmt.Sprintf(format, args...))
}

// TestLettersInViews: views follow late rows and dead letters of all views, older and newer, over restarts.
func TestLettersInViews(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts)`,
		`CREATE MATERIALIZED VIEW v1 AS SELECT window.start AS s, count(*) AS n, sum(k) AS k FROM s GROUP BY window(ts, '10 minutes')`,
		`INSERT INTO s VALUES (1, '2024-03-01 10:00'), (2, '2024-03-01 11:00')`,
		`INSERT INTO s VALUES (3, '2024-03-01 10:05')`,
		`CREATE MATERIALIZED VIEW late AS SELECT view_name, (row->>'k')::int AS k, event_time, window_end, epoch FROM tidemark.late_rows`,
		`CREATE MATERIALIZED VIEW n1 WITH (output_mode = 'append') AS SELECT row FROM tidemark.late_rows WHERE view_name = 'v1'`)
	c.want(`SELECT view_name, k FROM late`, "v1,3")
	c.exec(`INSERT INTO s VALUES (4, '2024-03-01 10:06'), (5, '2024-03-01 12:00')`)
	c.want(`SELECT k FROM late ORDER BY 1`, "3", "4")
	c.exec(`CREATE MATERIALIZED VIEW v2 AS SELECT window.start AS s, count(*) AS n, sum(k) AS k FROM s GROUP BY window(ts, '1 hour')`)
	both := []string{"v1,3", "v1,4", "v2,3", "v2,4"}
	c.want(`SELECT view_name, k FROM late ORDER BY 1, 2`, both...)
	c.restart(true)
	c.want(`SELECT view_name, k FROM late ORDER BY 1, 2`, both...)
	c.restart(false)
	c.exec(`INSERT INTO s VALUES (6, '2024-03-01 11:59')`)
	both = []string{"v1,3", "v1,4", "v1,6", "v2,3", "v2,4", "v2,6"}
	c.want(`SELECT view_name, k FROM late ORDER BY 1, 2`, both...)
	c.want(`SELECT count(*) FROM n1`, "3")
	c.want(`SELECT view_name, late_rows_total FROM tidemark.views ORDER BY 1`, "late,0", "n1,0", "v1,3", "v2,3")
	c.want(`SELECT (SELECT count(*) FROM late) = (SELECT count(*) FROM tidemark.late_rows)`, "t")
	c.want(`SELECT view_name, k, event_time, window_end FROM late WHERE k = 6`,
		"v1,6,2024-03-01 11:59:00+00,2024-03-01 12:00:00+00", "v2,6,2024-03-01 11:59:00+00,2024-03-01 12:00:00+00")
}

// TestDeadLettersInViews: a letter that is withdrawn leaves the views that read letters.
func TestDeadLettersInViews(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE TABLE t (k int PRIMARY KEY, d int)`, `CREATE MATERIALIZED VIEW v AS SELECT k, 10 / d AS q FROM t`,
		`INSERT INTO t VALUES (1, 0), (2, 5), (3, 0)`,
		`CREATE MATERIALIZED VIEW bad AS SELECT relation, sqlstate, count(*) AS n FROM tidemark.dead_letters GROUP BY relation, sqlstate`)
	c.want(`SELECT * FROM bad`, "v,22012,2")
	c.exec(`UPDATE t SET d = 1 WHERE k = 1`, `INSERT INTO t VALUES (4, 0), (5, 0)`)
	c.want(`SELECT * FROM bad`, "v,22012,3")
	c.restart(true)
	c.exec(`DELETE FROM t WHERE d = 0`)
	c.want(`SELECT * FROM bad`)
	c.want(`SELECT count(*) FROM tidemark.dead_letters`, "0")
}

// TestLettersOfFilledViews: the letters of a view that is filled in the background reach those who read letters once it is complete.
func TestLettersOfFilledViews(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts)`, `CREATE MATERIALIZED VIEW late AS SELECT view_name, row FROM tidemark.late_rows`,
		`INSERT INTO s VALUES (1, '2024-03-01 10:00')`)
	for i := range 20 {
		c.exec1(`INSERT INTO s VALUES (%d, '2024-03-01 09:00')`, i)
	}
	if err := c.e.do(func() { c.e.opts.BackfillRows = 5 }); err != nil {
		t.Fatal(err)
	}
	c.exec(`CREATE MATERIALIZED VIEW v AS SELECT window.start AS s, count(*) AS n, sum(k) AS k FROM s GROUP BY window(ts, '10 minutes')`)
	c.want(`SELECT count(*) FROM v`, "1") // waits until it is complete
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if got, err := query(c.sess, `SELECT count(*) FROM late`); err != nil || got == "20" {
			break
		} else if time.Now().After(end) {
			t.Fatalf("%s late rows", got)
		}
	}
	c.exec(`INSERT INTO s VALUES (99, '2024-03-01 09:00')`)
	c.restart(true)
	c.want(`SELECT count(*) FROM late`, "21")
}

// TestLetterCaps: old late rows and letters go at a checkpoint, the counters go on, and a view that read them keeps them.
func TestLetterCaps(t *testing.T) {
	c := openClocked(t)
	c.exec(`SET late_rows_max_age = '1h'`, `SET late_rows_max_bytes = '100kB'`,
		`CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts)`,
		`CREATE MATERIALIZED VIEW v AS SELECT window.start AS s, count(*) AS n, sum(1 / k) AS x FROM s GROUP BY window(ts, '10 minutes')`,
		`CREATE MATERIALIZED VIEW late AS SELECT count(*) AS n FROM tidemark.late_rows`,
		`INSERT INTO s VALUES (1, '2024-03-01 10:00')`, `INSERT INTO s VALUES (2, '2024-03-01 09:00'), (0, '2024-03-01 11:00')`, `CHECKPOINT`)
	c.want(`SELECT count(*) FROM tidemark.late_rows`, "1")
	c.pass(2 * time.Hour)
	c.exec(`INSERT INTO s VALUES (3, '2024-03-01 09:00'), (0, '2024-03-01 12:00')`, `CHECKPOINT`)
	c.want(`SELECT row->>'k' FROM tidemark.late_rows`, "3")
	c.want(`SELECT count(*) FROM tidemark.dead_letters`, "1")
	c.exec(`INSERT INTO s SELECT g, '2024-03-01 09:00' FROM generate_series(1, 20000) g`, `CHECKPOINT`, `CHECKPOINT`)
	c.want(`SELECT count(*) BETWEEN 1 AND 10000 FROM tidemark.late_rows`, "t")
	c.want(`SELECT late_rows_total, dead_letters_total FROM tidemark.views WHERE view_name = 'v'`, "20002,2")
	c.want(`SELECT n FROM late`, "20002")
	c.restart(false)
	c.want(`SELECT count(*) BETWEEN 1 AND 10000 FROM tidemark.late_rows`, "t")
	c.want(`SELECT late_rows_total FROM tidemark.views WHERE view_name = 'v'`, "20002")
	c.want(`SELECT n FROM late`, "20002")
}

// TestWatermarkStep: rows too far ahead are the stream's dead letters, over restarts, and readable in views.
func TestWatermarkStep(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE MATERIALIZED VIEW bad AS SELECT relation, row->>'k' AS k FROM tidemark.dead_letters`,
		`CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts) WITH (max_watermark_step = '1 day')`,
		`INSERT INTO s VALUES (1, '2024-03-01 10:00'), (2, '2099-01-01'), (3, NULL), (4, '2024-03-02 10:00'), (5, '2024-03-03 10:00'), (6, '2024-03-04 10:00:00.000001')`)
	for _, crash := range []bool{true, true, false} {
		c.want(`SELECT k FROM s ORDER BY 1`, "1", "3", "4", "5")
		c.want(`SELECT watermark FROM tidemark.watermarks`, "2024-03-03 10:00:00+00")
		c.want(`SELECT relation, sqlstate, row->>'k' FROM tidemark.dead_letters ORDER BY 3`, "s,22008,2", "s,22008,6")
		c.want(`SELECT * FROM bad ORDER BY 2`, "s,2", "s,6")
		c.restart(crash)
	}
	// Where the watermark stands further than the rows do, it is what a row is compared with: 2024-05-01 and its step.
	c.exec(`ADVANCE WATERMARK OF s TO '2024-05-01'`,
		`INSERT INTO s VALUES (7, '2024-04-01'), (8, '2024-05-01'), (9, '2024-05-03'), (10, '2024-05-02')`)
	c.want(`SELECT k FROM s ORDER BY 1`, "1", "3", "4", "5", "7", "8", "10")
	c.want(`SELECT watermark FROM tidemark.watermarks`, "2024-05-02 00:00:00+00")
	c.exec(`DROP STREAM s`)
	c.want(`SELECT count(*) FROM tidemark.dead_letters`, "0")
	c.restart(true)
	c.want(`SELECT count(*) FROM tidemark.dead_letters`, "0")
	for _, bad := range []string{"0", "-1 day", "1 month", "x"} {
		if _, err := query(c.sess, `CREATE STREAM e (ts timestamp, WATERMARK FOR ts AS ts) WITH (max_watermark_step = '`+bad+`')`); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
