package engine

import (
	"fmt"
	"testing"
)

// TestDelayAltered changes the delay of a stream under views that deduplicate within it. By hand: a key expires at its first row's time plus the delay
// when that row came, and is gone in the epoch whose watermark reaches it. Views that run, those that are restarted between any two steps, cleanly
// or not, those made anew from history and those made late are the same, and none is made anew by a restart.
func TestDelayAltered(t *testing.T) {
	steps := []string{ // delay 10 s
		`INSERT INTO s VALUES (1, '2024-01-01 00:00')`, // shown, expires at 00:00:10
		`INSERT INTO s VALUES (2, '2024-01-01 00:05')`, // shown, expires at 00:05:10; watermark 00:04:50
		`ALTER STREAM s SET WATERMARK FOR ts AS ts - INTERVAL '20 minutes'`,
		`INSERT INTO s VALUES (1, '2024-01-01 00:06')`, // shown, expires at 00:26; the watermark stays
		`INSERT INTO s VALUES (2, '2024-01-01 00:07')`, // a duplicate
		`INSERT INTO s VALUES (9, '2024-01-01 00:30')`, // shown, expires at 00:50; watermark 00:10
		`INSERT INTO s VALUES (1, '2024-01-01 00:31')`, // a duplicate; watermark 00:11
		`INSERT INTO s VALUES (2, '2024-01-01 00:31')`, // shown, expires at 00:51
		`ALTER STREAM s SET WATERMARK FOR ts AS ts`,
		`INSERT INTO s VALUES (3, '2024-01-01 00:32')`, // shown, gone at once
		`INSERT INTO s VALUES (3, '2024-01-01 00:33')`, // shown
		`INSERT INTO s VALUES (2, '2024-01-01 00:34')`, // a duplicate
		`INSERT INTO s VALUES (1, '2024-01-01 00:35')`, // shown
	}
	want := []string{"1,00:00", "1,00:06", "1,00:35", "2,00:05", "2,00:31", "3,00:32", "3,00:33", "9,00:30"}
	const within = ` WITH (output_mode = 'append') AS SELECT DISTINCT ON (k) WITHIN WATERMARK * FROM `
	show := func(view string) string { return `SELECT k, to_char(ts, 'HH24:MI') FROM ` + view + ` ORDER BY 1, 2` }
	for at := -1; at < len(steps); at++ { // where it restarts; -1: never
		for _, crash := range []bool{false, true} {
			if at < 0 && crash {
				continue
			}
			t.Run(fmt.Sprintf("restart at %d, crash %t", at, crash), func(t *testing.T) {
				c := openClocked(t)
				c.exec(`CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '10 seconds')`,
					`CREATE MATERIALIZED VIEW m WITH (output_mode = 'append') AS SELECT k, ts FROM s`,
					`CREATE MATERIALIZED VIEW on_s`+within+`s`,
					`CREATE MATERIALIZED VIEW on_m`+within+`m`,
					`CREATE MATERIALIZED VIEW keyed WITH (output_mode = 'append') AS SELECT DISTINCT ON (k, ts) * FROM s`)
				for i, sql := range steps {
					c.exec(sql)
					if i != at {
						continue
					}
					c.restart(crash)
					for _, v := range c.e.views {
						if v.misfit != nil {
							t.Errorf("view %s: %v", v.rel().Name, v.misfit)
						}
					}
				}
				c.want(show("on_s"), want...)
				c.want(show("on_m"), want...)
				c.want(`SELECT count(*) FROM keyed`, "11")
				c.exec(`CREATE MATERIALIZED VIEW late` + within + `s`)
				c.want(show("late"), want...)
				c.e.opts.BackfillRows = 0
				c.exec(`CREATE MATERIALIZED VIEW behind` + within + `s`) // filled in the background
				c.want(show("behind"), want...)
				c.exec(`ALTER MATERIALIZED VIEW on_s REBUILD`)
				c.want(show("on_s"), want...)
			})
		}
	}
}

// TestDelayOfOneTransaction makes views in the transaction that makes one of their streams, over history of another. By hand: a key stays for the
// greater delay, 20 minutes, also one that came before.
func TestDelayOfOneTransaction(t *testing.T) {
	const (
		over = ` WITH (output_mode = 'append') AS SELECT DISTINCT ON (k) WITHIN WATERMARK * FROM `
		both = `(SELECT k, ts FROM old UNION ALL SELECT k, ts FROM new) x`
	)
	c := openClocked(t)
	c.exec(`CREATE STREAM old (k int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '10 seconds')`,
		`INSERT INTO old VALUES (1, '2024-01-01 00:00')`, // stays until 00:20
		`BEGIN`,
		`CREATE STREAM new (k int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '20 minutes')`,
		`CREATE MATERIALIZED VIEW m WITH (output_mode = 'append') AS SELECT * FROM `+both,
		`CREATE MATERIALIZED VIEW on_s`+over+both,
		`CREATE MATERIALIZED VIEW on_m`+over+`m`,
		`COMMIT`,
		`INSERT INTO old VALUES (2, '2024-01-01 00:30')`,
		`INSERT INTO new VALUES (3, '2024-01-01 00:25')`, // watermark 00:05
		`INSERT INTO old VALUES (1, '2024-01-01 00:06')`) // a duplicate
	check := func() {
		t.Helper()
		for _, v := range []string{"on_s", "on_m"} {
			c.want(`SELECT k, to_char(ts, 'HH24:MI') FROM `+v+` ORDER BY 1, 2`, "1,00:00", "2,00:30", "3,00:25")
		}
	}
	check()
	c.restart(true)
	check()
	c.exec(`ALTER MATERIALIZED VIEW on_s REBUILD`)
	check()
}
