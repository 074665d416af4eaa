package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// sharedQueries begin alike, some with each other, some up to a point.
var sharedQueries = []string{
	"SELECT k, count(*) AS n, sum(v) AS s FROM ev WHERE 12 / (v - 5) > 1 GROUP BY k",
	"SELECT k + 1 AS k1, count(*) AS n FROM ev WHERE 12 / (v - 5) > 1 GROUP BY 1",
	"SELECT k, v FROM ev WHERE 12 / (v - 5) > 1",
	"SELECT k, 10 / v AS q FROM ev WHERE 12 / (v - 5) > 1",
	"SELECT k, 10 / v AS q, ts FROM ev WHERE 12 / (v - 5) > 1",
	"SELECT window.start AS w, k, count(*) AS n FROM ev WHERE v > 2 GROUP BY window(ts, '10 seconds'), k",
	"SELECT window.start AS w, k % 3 AS g, sum(v) AS n FROM ev WHERE v > 2 GROUP BY window(ts, '10 seconds'), 2",
	"SELECT window.end AS w, count(*) AS n FROM ev WHERE v > 2 GROUP BY window(ts, '10 seconds', '5 seconds')",
	"SELECT window.end AS w, max(v) AS n FROM ev WHERE v > 2 GROUP BY window(ts, '10 seconds', '5 seconds')",
	"SELECT a.k, a.v, b.v AS bv FROM ev a JOIN ev b ON a.k = b.k AND a.v < b.v WHERE a.v > 2 AND b.v > 2",
	"SELECT id, 100 / x AS y FROM t WHERE x % 2 = 0",
	"SELECT 100 / x AS y, count(*) AS n FROM t WHERE x % 2 = 0 GROUP BY 1",
}

// TestSharedSteps: views that share what has no state hold what they would hold alone, letters and counters too, with failing rows, changed
// rows, rows without a time, views that come and go, and restarts.
func TestSharedSteps(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	all := openClocked(t)
	var alone []*clocked
	for range sharedQueries {
		alone = append(alone, openClocked(t))
	}
	both := func(sql string) {
		all.exec(sql)
		for _, c := range alone {
			c.exec(sql)
		}
	}
	both("CREATE STREAM ev (k int, v int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '2 seconds')")
	both("CREATE TABLE t (id int PRIMARY KEY, x int)")
	create := func(i int) {
		sql := fmt.Sprintf("CREATE MATERIALIZED VIEW v%d AS %s", i, sharedQueries[i])
		all.exec(sql)
		alone[i].exec(sql)
	}
	at, next := 0, 0
	for step := range 60 {
		if next < len(sharedQueries) && (step > 4 || r.IntN(2) == 0) {
			create(next)
			next++
		}
		switch r.IntN(6) {
		case 0:
			both(fmt.Sprintf("INSERT INTO t VALUES (%d, %d)", step, r.IntN(6)))
		case 1:
			both(fmt.Sprintf("UPDATE t SET x = %d WHERE id %% 3 = %d", r.IntN(6), r.IntN(3)))
		case 2:
			both(fmt.Sprintf("DELETE FROM t WHERE id = %d", r.IntN(step+1)))
		default:
			var rows []string
			for range 1 + r.IntN(30) {
				ts := fmt.Sprintf("'2024-01-01 00:%02d:%02d'", at/60, (at+r.IntN(4))%60)
				if r.IntN(8) == 0 {
					ts = "NULL"
				}
				rows = append(rows, fmt.Sprintf("(%d, %d, %s)", r.IntN(5), r.IntN(9), ts))
			}
			at += r.IntN(6)
			both("INSERT INTO ev VALUES " + strings.Join(rows, ", "))
		}
		if r.IntN(20) == 0 {
			all.restart(r.IntN(2) == 0)
		}
		if step == 40 {
			all.exec("DROP MATERIALIZED VIEW v1", "CREATE MATERIALIZED VIEW v1 AS "+sharedQueries[1])
		}
	}
	for i := range sharedQueries {
		for _, q := range []string{
			fmt.Sprintf("SELECT count(*), string_agg(x::text, ' ' ORDER BY x::text) FROM v%d x", i),
			fmt.Sprintf("SELECT string_agg(sqlstate || message || row::text, ' ' ORDER BY sqlstate || message || row::text) FROM tidemark.dead_letters WHERE relation = 'v%d'", i),
			fmt.Sprintf("SELECT dead_letters_total, late_rows_total FROM tidemark.views WHERE view_name = 'v%d'", i),
			fmt.Sprintf("SELECT operator_name, num_rows_total FROM tidemark.state_operators WHERE view_name = 'v%d' ORDER BY 1, 2", i),
		} {
			got, err := query(all.sess, q)
			if err != nil {
				t.Fatalf("%s: %v", q, err)
			}
			want, err := query(alone[i].sess, q)
			if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("%s\n%s\ntogether %s\nalone    %s", sharedQueries[i], q, got, want)
			}
		}
	}
	if err := all.e.do(func() {
		if n := len(all.e.shares().steps); n != 5 {
			t.Errorf("%d steps are shared, not 5", n)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
