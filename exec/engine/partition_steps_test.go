package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// steppedQueries have steps without state below what is partitioned: some fail for rows, some depend on columns that a step makes.
var steppedQueries = []string{
	"SELECT k, count(*) AS n, sum(v) AS s FROM ev GROUP BY k",
	"SELECT window.start AS w, g, count(*) AS n, sum(q) AS s FROM (SELECT 100 / (v - 5) AS q, k % 1000 AS g, ts FROM ev WHERE 12 / (v - 7) <> 3) x GROUP BY window(ts, '10 seconds'), g",
	"SELECT window.end AS w, k, max(v) AS m, count(*) AS n FROM ev GROUP BY window(ts, '10 seconds', '3 seconds'), k",
	"SELECT window.end AS w, k, max(v) AS m, count(*) AS n FROM ev GROUP BY window(ts, '10 seconds', '5 seconds'), k",
	"SELECT 100 / v AS q, count(*) AS n FROM ev WHERE k % 3 > 0 GROUP BY 1",
	"SELECT w, k, v FROM (SELECT window_start AS w, k, v, row_number() OVER (PARTITION BY window_start, k % 100 ORDER BY v DESC, k, ts) AS r FROM TUMBLE(ev, ts, INTERVAL '10 seconds')) x WHERE r <= 3",
	"SELECT a.k, a.q, b.v FROM (SELECT k, 10 / v AS q FROM ev WHERE v > 3 OR v = 0) a JOIN (SELECT k * 7 AS k, v FROM ev WHERE v = 8) b ON a.k = b.k",
}

// TestSteps: what has no state beneath a partitioned operator gives the same whether it is run row by row, by the lanes and slots of one or
// several workers, or once for several views: results, dead letters, late rows and rows without a time.
func TestSteps(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for i, q := range steppedQueries {
		one, many, shared := openClocked(t), openClocked(t), openClocked(t)
		all := []*clocked{one, many, shared}
		for k, c := range all {
			c.exec("CREATE STREAM ev (k int, v int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '2 seconds')",
				fmt.Sprintf("CREATE MATERIALIZED VIEW v WITH (state_partitions = %d) AS %s", 1+3*min(k, 1), q))
		}
		shared.exec("CREATE MATERIALIZED VIEW other WITH (state_partitions = 3) AS " + q)
		at := 0
		for range 4 {
			rows := []int{3, 5000, 9000, 20_000}[r.IntN(4)]
			odd, salt := 1+r.IntN(500), r.IntN(1000)
			for _, c := range all {
				// Some rows have no time, some are late, some fail.
				c.exec(fmt.Sprintf(`INSERT INTO ev SELECT (i * 7919 + %d) %% 3000, (i * 31 + %[1]d) %% 9, CASE WHEN i %% %d = 7 THEN NULL ELSE
					timestamp '2024-01-01' + (%d + i / 1000 - CASE WHEN i %% 211 = 5 THEN 30 ELSE i %% 4 END) * INTERVAL '1 second' END FROM generate_series(1, %d) i`,
					salt, odd, at, rows))
			}
			at += rows/1000 + r.IntN(10)
			if r.IntN(3) == 0 {
				for _, c := range all {
					c.restart(salt%2 == 0)
				}
			}
		}
		for _, check := range []string{
			"SELECT count(*), string_agg(x::text, ' ' ORDER BY x::text) FROM v x",
			"SELECT string_agg(sqlstate || message || row::text, ' ' ORDER BY sqlstate || message || row::text) FROM tidemark.dead_letters WHERE relation = 'v'",
			"SELECT string_agg(x::text, ' ' ORDER BY x::text) FROM (SELECT operator_id, event_time, window_start, window_end, row FROM tidemark.late_rows WHERE view_name = 'v') x",
			"SELECT dead_letters_total, late_rows_total FROM tidemark.views WHERE view_name = 'v'",
			"SELECT operator_name, num_rows_total, num_rows_null_event_time, num_rows_dropped_by_watermark FROM tidemark.state_operators WHERE view_name = 'v' ORDER BY 1, 2",
		} {
			want, err := query(one.sess, check)
			if err != nil {
				t.Fatal(err)
			}
			for k, c := range all[1:] {
				for _, v := range []string{"v", "other"}[:k+1] {
					got, err := query(c.sess, strings.ReplaceAll(strings.ReplaceAll(check, "FROM v x", "FROM "+v+" x"), "'v'", "'"+v+"'"))
					if err != nil {
						t.Fatal(err)
					}
					if got != want {
						t.Errorf("query %d, %s of case %d: %s: %d bytes, %d with one partition\n%.300s\n%.300s", i, v, k+1, check, len(got), len(want), got, want)
					}
				}
			}
		}
	}
}
