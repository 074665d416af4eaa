package equivalence

import (
	"strings"
	"testing"
)

// TestRegressions has a script for each fault that the random cases found, with PostgreSQL's answer to its last statement.
func TestRegressions(t *testing.T) {
	for _, x := range []struct{ name, script, want string }{
		{"rollup without aggregates over nothing", `
			CREATE TABLE t (a int);
			CREATE MATERIALIZED VIEW v AS SELECT a FROM t GROUP BY ROLLUP (a);
			SELECT * FROM v`, "(NULL)"},
		{"empty grouping set", `
			CREATE TABLE t (a int);
			SELECT 1 AS x FROM t GROUP BY GROUPING SETS ((), (a), ())`, "(1) (1)"},
		{"a group key with NaN in it", `
			CREATE TABLE t (a int PRIMARY KEY);
			INSERT INTO t VALUES (1);
			SELECT CASE WHEN a > 0 THEN 'NaN'::float8 ELSE 1 END AS x, count(*) FROM t GROUP BY 1`, "(NaN, 1)"},
		{"deduplication whose first rows after a restart are late", `
			CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '10 minutes');
			CREATE MATERIALIZED VIEW v AS SELECT DISTINCT ON (k, ts) k, ts FROM s;
			INSERT INTO s VALUES (1, '2024-01-01 00:05:00');
			restart;
			INSERT INTO s VALUES (2, '2023-12-31 23:51:00');
			SELECT k FROM v`, "(1)"},
		{"DISTINCT with the event time in append mode comes out at first sight", `
			CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '10 minutes');
			CREATE MATERIALIZED VIEW v WITH (output_mode = 'append') AS SELECT DISTINCT k, ts FROM s;
			INSERT INTO s VALUES (1, '2024-01-01 00:05:00'), (1, '2024-01-01 00:05:00');
			INSERT INTO s VALUES (2, '2024-01-01 01:00:00');
			SELECT * FROM v`, "(1, 2024-01-01 00:05:00) (2, 2024-01-01 01:00:00)"},
		{"DISTINCT ON without ORDER BY over rows that change", `
			CREATE STREAM s (k int, x int);
			CREATE MATERIALIZED VIEW v AS SELECT DISTINCT ON (n) n, k FROM (SELECT k, count(*) AS n FROM s GROUP BY k) q;
			INSERT INTO s VALUES (1, 0), (2, 0);
			INSERT INTO s VALUES (1, 0);
			SELECT * FROM v`, "(1, 2) (2, 1)"},
		{"DISTINCT ON over a table loses rows", `
			CREATE TABLE t (a int PRIMARY KEY, b int);
			CREATE MATERIALIZED VIEW v AS SELECT DISTINCT ON (b) * FROM t;
			INSERT INTO t VALUES (1, 7), (2, 7);
			DELETE FROM t WHERE a = 1;
			SELECT * FROM v`, "(2, 7)"},
		{"DISTINCT ON a sliding window keeps the first row to arrive", `
			CREATE STREAM s (x int, ts timestamp);
			CREATE MATERIALIZED VIEW v AS SELECT DISTINCT ON (w) * FROM (SELECT x, window(ts, '10 minutes', '5 minutes') AS w FROM s) q;
			INSERT INTO s VALUES (1, '2024-01-01 00:01:00'), (2, '2024-01-01 00:06:00');
			SELECT x, (w).start FROM v`, "(1, 2023-12-31 23:55:00) (1, 2024-01-01 00:00:00) (2, 2024-01-01 00:05:00)"},
		{"WITHIN WATERMARK over rows that change is refused", `
			CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '10 minutes');
			error 0A000 CREATE MATERIALIZED VIEW v AS SELECT DISTINCT ON (n) WITHIN WATERMARK * FROM (SELECT window_time(window) AS ts, count(*) AS n FROM s GROUP BY window(ts, '5 minutes')) q;
			SELECT count(*) FROM s`, "(0)"},
		{"rows in state after the restart of a view that was filled from history", `
			CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '10 minutes');
			INSERT INTO s VALUES (1, '2024-01-01 00:05:00'), (2, '2024-01-01 00:15:00');
			CREATE MATERIALIZED VIEW v AS SELECT window, count(*) FROM s GROUP BY window(ts, '10 minutes');
			restart;
			SELECT num_rows_total FROM tidemark.state_operators WHERE view_name = 'v'`, "(2)"},
		{"groups of windows that end together but begin apart", `
			CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '10 minutes');
			CREATE MATERIALIZED VIEW v AS SELECT (w).start, count(*) FROM
				(SELECT window(ts, '10 minutes') AS w FROM s UNION ALL SELECT window(ts, '5 minutes') AS w FROM s) u GROUP BY w;
			CREATE MATERIALIZED VIEW v2 WITH (output_mode = 'append') AS SELECT w, k, sum(n) AS n FROM
				(SELECT session_window AS w, k, count(*) AS n FROM s GROUP BY session_window(ts, '5 minutes'), k) q GROUP BY w, k;
			INSERT INTO s VALUES (1, '2024-01-01 00:02:00'), (1, '2024-01-01 00:07:00'), (2, '2024-01-01 00:07:00');
			INSERT INTO s VALUES (NULL, '2024-01-01 01:00:00');
			restart;
			(SELECT start, count FROM v WHERE start < '2024-01-01 00:30:00') UNION ALL (SELECT (w).start, n FROM v2)`,
			"(2024-01-01 00:00:00, 1) (2024-01-01 00:00:00, 3) (2024-01-01 00:02:00, 2) (2024-01-01 00:05:00, 2) (2024-01-01 00:07:00, 1)"},
	} {
		t.Run(x.name, func(t *testing.T) {
			d, err := openDB(engineOptions{memory: 64 << 20})
			must(t, err)
			defer func() { must(t, d.close()) }()
			var got *rowset
			for _, st := range strings.Split(x.script, ";\n") {
				switch strings.TrimSpace(st) {
				case "restart":
					err = d.restart()
				case "crash":
					err = d.crash()
				default:
					rest, refused := strings.CutPrefix(strings.TrimSpace(st), "error ")
					if !refused {
						got, err = d.run(st)
						break
					}
					code, sql, _ := strings.Cut(rest, " ")
					if _, err = d.run(sql); sqlState(err) == code {
						err = nil
					}
				}
				if err != nil {
					t.Fatalf("%s: %v", st, err)
				}
			}
			if rows := sortedRows(got); strings.Join(rows, " ") != x.want {
				t.Errorf("got %s, want %s", strings.Join(rows, " "), x.want)
			}
		})
	}
}
