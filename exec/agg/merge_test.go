package agg

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// everyMergeable calls every aggregate whose accumulators can be merged, over columns from at on: int8, float8, numeric, interval, text, boolean, float8.
func everyMergeable(s plan.Node, at int) []plan.Agg {
	var out []plan.Agg
	add := func(c int, names ...string) {
		for _, n := range names {
			out = append(out, call(n, col(s, at+c)))
		}
	}
	add(0, "count", "sum", "avg", "min", "max", "var_samp", "stddev_pop", "bit_and", "bit_or", "bit_xor")
	add(1, "sum", "avg", "min", "max", "var_pop", "stddev")
	add(2, "sum", "avg", "min", "max", "variance")
	add(3, "sum", "avg", "min", "max")
	add(4, "min", "max", "approx_count_distinct")
	add(5, "bool_and", "bool_or")
	for _, n := range []string{"corr", "covar_pop", "regr_slope", "regr_count", "regr_avgx"} {
		out = append(out, call(n, col(s, at+1), col(s, at+6)))
	}
	return append(out, call("approx_percentile", col(s, at+1), lit(tFloat, "0.5")), call("count"))
}

// A session that was merged from many, in any order and over several epochs, has the results of one group of its rows.
func TestMergedSessionsAreOneGroup(t *testing.T) {
	values := []types.Type{tInt8, tFloat, tNumeric, tSpan, tText, tBool, tFloat}
	for seed := uint64(0); seed < 40; seed++ {
		r := rand.New(rand.NewPCG(seed, 11))
		s := newSource(true, append([]types.Type{tText, tTime, tSpan}, values...)...)
		n := &plan.Aggregate{Input: s, Keys: []plan.Expr{col(s, 0)}, EventKey: -1, Sketch: true, Mode: catalog.Update, Aggs: everyMergeable(s, 3),
			Session: &plan.Session{Time: col(s, 1), Gap: col(s, 2), TimeWatermarked: true}}
		n.P.Columns = []plan.Column{{Type: tWindow}}
		one := aggregate(s, catalog.Update, -1, []plan.Expr{col(s, 0)}, everyMergeable(s, 3)...)
		h, g := newHarness(t, n), newHarness(t, one)
		count := 2 + r.IntN(40)
		if seed%20 == 0 {
			count = 1500 // beyond the exact forms of the sketches
		}
		var rows []change
		for i := 0; i < count; i++ {
			pick := func(xs ...string) string { return xs[r.IntN(len(xs))] }
			rows = append(rows, ins("k", types.Format(tTime, types.IntDatum(int64(i)*1000), nil), "1 millisecond",
				pick("NULL", "5", "-17", "9223372036854775807"), pick("NULL", "0.1", "1e100", "-1e-100", fmt.Sprint(r.NormFloat64())),
				pick("NULL", "1.5", "2.000", "-1e25", "7"), pick("NULL", "1 day", "2 mons -1 day", "00:00:01"),
				fmt.Sprint("w", r.IntN(1+count)), pick("NULL", "t", "f"), pick("NULL", "2", "0.3", "1e10")))
		}
		r.Shuffle(count, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		// The sums must agree to the last digit, the order of arrival decides only the form of equal extremes.
		for len(rows) > 0 {
			k := 1 + r.IntN(len(rows))
			h.size = 1 + r.IntN(300)
			h.epoch(none, false, rows[:k]...)
			g.epoch(none, false, rows[:k]...)
			rows = rows[k:]
		}
		_, got, _ := strings.Cut(h.current(), "|")
		if strings.Contains(h.current(), "\n") || got != g.current() || got == "" {
			t.Fatalf("seed %d:\ngot  %s\nwant %s", seed, got, g.current())
		}
	}
}

func TestAddInterval(t *testing.T) {
	for _, c := range [][3]string{
		{"2024-01-31 10:00:00", "1 month", "2024-02-29 10:00:00"},
		{"2023-12-31 10:00:00", "2 months", "2024-02-29 10:00:00"},
		{"2024-03-31 00:00:01", "-1 month", "2024-02-29 00:00:01"},
		{"1969-12-31 23:00:00", "1 year 1 day 02:00:00", "1971-01-02 01:00:00"},
		{"2024-11-30 23:00:00", "1 month", "2024-12-30 23:00:00"},
		{"2024-12-30 23:00:00", "1 month", "2025-01-30 23:00:00"},
	} {
		d := lit(tSpan, c[1]).(*plan.Const).Val
		sum, _ := addInterval(micros(c[0]), d.I, d.J)
		if got := types.Format(tTime, types.IntDatum(sum), nil); got != c[2] {
			t.Errorf("%s + %s = %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
