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
					got, err = d.run(st)
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
