package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/batch"
)

// steppedQueries have steps without state below what is partitioned, above it, and between two of them: some fail for rows, some depend on columns that a step
// makes, some fail for rows that are taken back later.
var steppedQueries = []string{
	"SELECT k, count(*) AS n, sum(v) AS s FROM ev GROUP BY k",
	"SELECT window.start AS w, g, count(*) AS n, sum(q) AS s FROM (SELECT 100 / (v - 5) AS q, k % 1000 AS g, ts FROM ev WHERE 12 / (v - 7) <> 3) x GROUP BY window(ts, '10 seconds'), g",
	"SELECT window.end AS w, k, max(v) AS m, count(*) AS n FROM ev GROUP BY window(ts, '10 seconds', '3 seconds'), k",
	"SELECT window.end AS w, k, max(v) AS m, count(*) AS n FROM ev GROUP BY window(ts, '10 seconds', '5 seconds'), k",
	"SELECT 100 / v AS q, count(*) AS n FROM ev WHERE k % 3 > 0 GROUP BY 1",
	"SELECT w, k, v FROM (SELECT window_start AS w, k, v, row_number() OVER (PARTITION BY window_start, k % 100 ORDER BY v DESC, k, ts) AS r FROM TUMBLE(ev, ts, INTERVAL '10 seconds')) x WHERE r <= 3",
	"SELECT a.k, a.q, b.v FROM (SELECT k, 10 / v AS q FROM ev WHERE v > 3 OR v = 0) a JOIN (SELECT k * 7 AS k, v FROM ev WHERE v = 8) b ON a.k = b.k",
	"SELECT k, n, 1000 / (s % 5) AS q, upper('k' || k) AS u FROM (SELECT k, count(*) AS n, sum(v) AS s FROM ev GROUP BY k) x",
	"SELECT window.end AS w, k, round(sum(v)::numeric / count(*), 2) AS a, 1 / (max(v) - 3) AS q FROM ev GROUP BY window(ts, '10 seconds'), k HAVING 12 / (min(v) - 1) <> 3 AND k % 3 > 0",
	"SELECT q, count(*) AS n, min(k) AS k FROM (SELECT k, 1000 / (sum(v)::bigint % 5) AS q FROM ev GROUP BY k) x WHERE q > 250 GROUP BY q",
	"SELECT window.start AS w, c, count(*) AS n FROM (SELECT e, 10 / (n - 2) AS c FROM (SELECT window.end - INTERVAL '1 second' AS e, k, count(*) AS n FROM ev GROUP BY window(ts, '10 seconds'), k) x WHERE k % 7 < 6) y GROUP BY window(e, '30 seconds'), c",
	"SELECT k, n, odd(n) AS o FROM (SELECT k, count(*)::int AS n FROM ev WHERE v <> 6 AND odd(v) = 1 AND k % 4 = ANY(ARRAY[0, v]) GROUP BY k) x",
	"SELECT a.k, 10 / (a.v - b.v + 2) AS q FROM (SELECT k, v FROM ev WHERE v > 3) a LEFT JOIN (SELECT k * 7 AS k, v FROM ev WHERE v = 8) b ON a.k = b.k",
	"SELECT k, 5 / (v - 4) AS q, length(k::text) AS l FROM (SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v DESC, ts) AS r FROM ev) x WHERE r <= 2",
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
				"CREATE FUNCTION odd(n int) RETURNS int LANGUAGE starlark AS 'def odd(n): return n % 2 if n != 3 else fail(\"three\")'",
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

// TestOrderAbove: what a view in append mode computes of its slots' rows comes in the same order on one, two and three partitions, to the rows of the view and to
// the letters of those that fail; a user's function, too, is evaluated by slots.
func TestOrderAbove(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(uint64(seed), 2))
	const computing = `SELECT window.end AS w, k, round(sum(v)::numeric / count(*), 2) AS a, upper('k' || k) AS u, 1 / (max(v) - 8) AS q, twice(count(*)::int) AS n
		FROM ev GROUP BY window(ts, '10 seconds'), k HAVING min(v) < 8`
	var all []*clocked
	for n := range 3 {
		c := openClocked(t)
		c.exec("CREATE STREAM ev (k int, v int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '2 seconds')",
			"CREATE FUNCTION twice(n int) RETURNS int LANGUAGE starlark AS 'def twice(n): return 2 * n'",
			"CREATE MATERIALIZED VIEW v WITH (output_mode = 'append', state_partitions = 4) AS "+computing,
			"CREATE MATERIALIZED VIEW j WITH (output_mode = 'append', state_partitions = 4) AS SELECT a.k, 10 / (a.v + b.v - 8) AS q, a.v || '-' || b.v AS t FROM ev a JOIN ev b ON a.k = b.k AND a.ts = b.ts",
			fmt.Sprintf("ALTER MATERIALIZED VIEW v SET (state_partitions = %d)", n+1), fmt.Sprintf("ALTER MATERIALIZED VIEW j SET (state_partitions = %d)", n+1))
		all = append(all, c)
	}
	for at := range 6 {
		rows, salt := 8500+r.IntN(6000), r.IntN(1000)
		for _, c := range all {
			c.exec(fmt.Sprintf(`INSERT INTO ev SELECT (i * 7919 + %d) %% 9000, (i * 31 + %[1]d) %% 9, timestamp '2024-01-01' + (%d + i %% 4) * INTERVAL '1 second' FROM generate_series(1, %d) i`, salt, at*6, rows))
		}
	}
	for _, check := range []string{
		"SELECT string_agg(x::text, ' ') FROM v x",
		"SELECT string_agg(x::text, ' ') FROM j x",
		"SELECT count(*) > 20000 FROM v",
		"SELECT string_agg(x::text, ' ') FROM (SELECT relation, sqlstate, message, row, epoch FROM tidemark.dead_letters) x",
		"SELECT relation, count(*) > 1000 FROM tidemark.dead_letters GROUP BY relation ORDER BY relation",
		"SELECT view_name, dead_letters_total, late_rows_total FROM tidemark.views ORDER BY 1",
		"SELECT view_name, operator_name, num_rows_total, num_rows_updated, num_rows_removed FROM tidemark.state_operators ORDER BY 1, 2",
	} {
		want, err := query(all[0].sess, check)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) < 1000 {
			t.Logf("%s: %s", check, want)
		}
		for n, c := range all[1:] {
			got, err := query(c.sess, check)
			if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("%s: %d partitions give %d bytes, one %d\n%.300s\n%.300s", check, n+2, len(got), len(want), got, want)
			}
		}
	}
}

// letterTape writes down the letters that come to a view's kept ones, in order.
type letterTape struct {
	contents
	all []string
}

func (x *letterTape) add(b *batch.Batch) error {
	for i := range b.N {
		x.all = append(x.all, fmt.Sprintf("%d %s: %s", b.Weight(i), b.Cols[1].Bytes(i), b.Cols[2].Bytes(i)))
	}
	return x.contents.add(b)
}

// TestLetterOrder: the letters of rows for which several expressions of one operator fail come in the same order on one, two and three partitions, although these cut
// the rows of a slot into other batches, and there is one for each row: of 99 rows, 11 have v = 3 and 9 have u = 4, one of
// them both.
func TestLetterOrder(t *testing.T) {
	const rows = 29_700 // 300 times 99
	for i, c := range []struct {
		query   string
		letters int
	}{
		{"SELECT k, sum(100 / (v - 3)) AS a, max(50 / (u - 4)) AS q FROM ev GROUP BY k", 300 * 19},
		{"SELECT k, sum(100 / (v - 3)) FILTER (WHERE 50 / (u - 4) <> 1) AS a FROM ev GROUP BY k", 300 * 19},
		{"SELECT 100 / (v - 3) AS a, k, max(50 / (u - 4)) AS q FROM ev GROUP BY 1, 2", 300 * 19},
		{"SELECT session_window.start AS s, k, sum(100 / (v - 3)) AS a, max(50 / (u - 4)) AS q FROM ev GROUP BY session_window(ts, '2 seconds'), k", 300 * 19},
		{"SELECT k, sum(100 / (v - 3)) OVER (PARTITION BY k ORDER BY 50 / (u - 4), ts) AS a FROM ev", 300 * 19},
		{"SELECT k, v, u FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY 100 / (v - 3), 50 / (u - 4), ts) AS r FROM ev) x WHERE r <= 2", 300 * 19},
		{"SELECT k, v, u FROM (SELECT *, row_number() OVER (PARTITION BY k, 100 / (v - 3) ORDER BY 50 / (u - 4), ts) AS r FROM ev) x WHERE r <= 2", 300 * 19},
		{"SELECT DISTINCT ON (k, 100 / (v - 3), 50 / (u - 4)) k, v, u FROM ev", 300 * 19},
		// Each of three windows has a letter.
		{"SELECT window.start AS s, k, sum(100 / (v - 3)) AS a, max(50 / (u - 4)) AS q FROM ev GROUP BY window(ts, '6 seconds', '2 seconds'), k", 3 * 300 * 19},
	} {
		var want []string
		for n := 1; n <= 3; n++ {
			d := openClocked(t)
			d.exec("CREATE STREAM ev (k int, v int, u int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '2 seconds')",
				"CREATE MATERIALIZED VIEW v WITH (state_partitions = 4) AS "+c.query,
				fmt.Sprintf("ALTER MATERIALIZED VIEW v SET (state_partitions = %d)", n))
			tape := &letterTape{}
			if err := d.e.do(func() { tape.contents, d.e.views[0].dead = d.e.views[0].dead, tape }); err != nil {
				t.Fatal(err)
			}
			d.exec(fmt.Sprintf("INSERT INTO ev SELECT i * 7919 %% 9000, i %% 9, i %% 11, timestamp '2024-01-01' + i %% 4 * INTERVAL '1 second' FROM generate_series(1, %d) i", rows))
			if len(tape.all) != c.letters {
				t.Errorf("query %d on %d partitions: %d letters, want %d", i, n, len(tape.all), c.letters)
			}
			if n == 1 {
				want = tape.all
				continue
			}
			for at := range min(len(want), len(tape.all)) {
				if tape.all[at] != want[at] {
					t.Errorf("query %d on %d partitions: letter %d is %s, on one partition %s", i, n, at, tape.all[at], want[at])
					break
				}
			}
		}
	}
}

// TestOneLetter: a row has one letter, of what fails first, when an operator that is not partitioned fails for it in two lists of expressions; letters of a batch come by row.
func TestOneLetter(t *testing.T) {
	for _, q := range []string{
		"SELECT v, u FROM (SELECT *, row_number() OVER (PARTITION BY 100 / (v - 3) ORDER BY sqrt(u - 4)) AS r FROM ev) x WHERE r <= 2",
		"SELECT v, u, count(*) OVER (PARTITION BY 100 / (v - 3) ORDER BY sqrt(u - 4)) AS n FROM ev",
		"SELECT 100 / (v - 3) AS a, sum(sqrt(u - 4)) AS s FROM ev GROUP BY 1",
		"SELECT a.v FROM ev a LEFT JOIN (SELECT 100 AS v) b ON 100 / (a.v - 3) = b.v AND sqrt(a.u - 4) > 0",
	} {
		c := openClocked(t)
		c.exec("CREATE STREAM ev (v int, u int)", "CREATE MATERIALIZED VIEW v WITH (state_partitions = 1) AS "+q)
		tape := &letterTape{}
		if err := c.e.do(func() { tape.contents, c.e.views[0].dead = c.e.views[0].dead, tape }); err != nil {
			t.Fatal(err)
		}
		c.exec("INSERT INTO ev VALUES (1, 4), (1, 3), (3, 5), (2, 4), (3, 2), (4, 1)")
		want := []string{
			`1 cannot take square root of a negative number: {"u": 3, "v": 1}`,
			`1 division by zero: {"u": 5, "v": 3}`,
			`1 division by zero: {"u": 2, "v": 3}`,
			`1 cannot take square root of a negative number: {"u": 1, "v": 4}`,
		}
		if !slices.Equal(tape.all, want) {
			t.Errorf("%s: %q, want %q", q, tape.all, want)
		}
	}
}
