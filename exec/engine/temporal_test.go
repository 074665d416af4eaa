package engine

import (
	"testing"
	"time"
)

// TestTemporalFilters lets rows come and go by the clock alone, across restarts with and without a checkpoint.
func TestTemporalFilters(t *testing.T) {
	for _, crash := range []bool{false, true} {
		c := openClocked(t)
		c.exec(`CREATE STREAM s (id int, ts timestamptz)`,
			`CREATE TABLE t (id int PRIMARY KEY, ts timestamp, d date)`,
			`CREATE MATERIALIZED VIEW recent AS SELECT id FROM s WHERE ts > now() - interval '1 hour'`,
			`CREATE MATERIALIZED VIEW reached WITH (output_mode = 'append') AS SELECT id FROM s WHERE ts <= now()`,
			`CREATE MATERIALIZED VIEW within AS SELECT id FROM s WHERE ts BETWEEN now() - interval '1 hour' AND now() + interval '30 minutes'`,
			`CREATE MATERIALIZED VIEW three AS SELECT id FROM s WHERE ts > now() - interval '2 hours' AND now() - interval '10 minutes' >= ts AND ts <> '2030-01-01 00:05+00' AND now() < ts + interval '90 minutes'`,
			`CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n FROM recent`,
			`CREATE MATERIALIZED VIEW stamps AS SELECT id FROM t WHERE ts >= now() - interval '1 hour'`,
			`CREATE MATERIALIZED VIEW days AS SELECT id FROM t WHERE d > now() - interval '2 days'`,
			`INSERT INTO s VALUES (1, '2030-01-01 00:00+00'), (2, '2030-01-01 00:45+00'), (3, '2029-12-31 23:30+00'), (4, '2029-12-31 22:00+00'), (5, NULL)`,
			`INSERT INTO t VALUES (1, '2030-01-01 00:00', '2030-01-01'), (2, '2029-12-31 23:30', '2029-12-31'), (3, '2029-12-31 22:00', '2029-12-29')`)
		c.want(`SELECT id FROM recent ORDER BY 1`, "1", "2", "3")
		c.want(`SELECT id FROM reached ORDER BY 1`, "1", "3", "4")
		c.want(`SELECT id FROM within ORDER BY 1`, "1", "3")
		c.want(`SELECT id FROM three ORDER BY 1`, "3")
		c.want(`SELECT id FROM stamps ORDER BY 1`, "1", "2")
		c.want(`SELECT id FROM days ORDER BY 1`, "1", "2")

		c.restart(crash)
		c.pass(30*time.Minute - time.Microsecond)
		c.want(`SELECT id FROM recent ORDER BY 1`, "1", "2", "3")
		c.want(`SELECT id FROM within ORDER BY 1`, "1", "2", "3")
		c.want(`SELECT id FROM stamps ORDER BY 1`, "1", "2")

		// 00:30: row 3 is just an hour old, which > does not want and >= does.
		c.pass(time.Microsecond)
		c.want(`SELECT id FROM recent ORDER BY 1`, "1", "2")
		c.want(`SELECT n FROM counted`, "2")
		c.want(`SELECT id FROM within ORDER BY 1`, "1", "2", "3")
		c.want(`SELECT id FROM three ORDER BY 1`, "1", "3")
		c.want(`SELECT id FROM stamps ORDER BY 1`, "1", "2")
		c.restart(crash)
		c.pass(time.Microsecond)
		c.want(`SELECT id FROM within ORDER BY 1`, "1", "2")
		c.want(`SELECT id FROM stamps ORDER BY 1`, "1")

		// A row is taken back before its turn, and one comes of which part of the time has passed.
		c.exec(`DELETE FROM t WHERE id = 1`, `INSERT INTO t VALUES (4, '2030-01-01 00:10', '2029-12-30')`)
		c.want(`SELECT id FROM stamps ORDER BY 1`, "4")
		c.pass(20 * time.Minute) // 00:50
		c.want(`SELECT id FROM reached ORDER BY 1`, "1", "2", "3", "4")
		c.restart(crash)
		c.pass(24 * time.Hour)
		c.want(`SELECT id FROM recent`)
		c.want(`SELECT n FROM counted`, "0")
		c.want(`SELECT id FROM three`)
		c.want(`SELECT id FROM stamps`)
		c.want(`SELECT id FROM days ORDER BY 1`)

		// A view that is created now has what holds now.
		c.exec(`CREATE MATERIALIZED VIEW late_view AS SELECT id FROM s WHERE ts > now() - interval '25 hours'`)
		c.want(`SELECT id FROM late_view ORDER BY 1`, "1", "2")
		c.pass(15 * time.Minute)
		c.want(`SELECT id FROM late_view ORDER BY 1`, "2")
	}
}
