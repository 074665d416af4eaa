package agg

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestDistinctCounts: DISTINCT aggregates of values that their key bytes tell, under several filters, are those of the same values as
// numerics, which are kept in order and as they came, on random rows with deletions, checkpoints and restarts.
func TestDistinctCounts(t *testing.T) {
	for seed := range uint64(24) {
		appendOnly, windowed, unfiltered, key := seed&1 == 0, seed&2 == 0, seed&4 == 0, []types.Type{tInt8, tText, tNumeric}[seed/8]
		t.Run(fmt.Sprintf("append-only=%t windows=%t unfiltered=%t key=%s", appendOnly, windowed, unfiltered, key), func(t *testing.T) {
			testDistinct(t, rand.New(rand.NewPCG(seed, 1)), appendOnly, windowed, unfiltered, key)
		})
	}
}

func testDistinct(t *testing.T, r *rand.Rand, appendOnly, windowed, unfiltered bool, key types.Type) {
	s := newSource(appendOnly, tWindow, key, tInt8, tNumeric, tBool, tBool)
	var aggs []plan.Agg
	for x := 2; x <= 3; x++ {
		for f := range 3 {
			if f == 2 && !unfiltered {
				continue
			}
			for _, name := range []string{"distinct count", "distinct sum"} {
				a := call(name, col(s, x))
				if f < 2 {
					a.Filter = col(s, 4+f)
				}
				aggs = append(aggs, a)
			}
		}
	}
	keys, event := []plan.Expr{col(s, 1)}, -1
	if windowed {
		keys, event = []plan.Expr{col(s, 0), col(s, 1)}, 0
	}
	h := newHarness(t, aggregate(s, catalog.Update, event, keys, aggs...))
	h.size = 1 + r.IntN(40)
	one := func(p float64, x string) string {
		if r.Float64() < p {
			return "NULL"
		}
		return x
	}
	var live []change
	wm := dataflow.NoWatermark
	for range 40 {
		var rows []change
		for range r.IntN(60) {
			if n := len(live); !appendOnly && n > 0 && r.IntN(2) == 0 {
				i := r.IntN(n)
				rows = append(rows, change{live[i].row, -live[i].w})
				live[i] = live[n-1]
				live = live[:n-1]
				continue
			}
			x, end := one(0.1, fmt.Sprint(r.IntN(8))), 10*(1+r.IntN(5))
			c := change{[]string{one(0.05, fmt.Sprintf("%d-%d", end-10, end)), one(0.1, fmt.Sprint(r.IntN(3))), x, x,
				fmt.Sprint(r.IntN(2) == 0), fmt.Sprint(r.IntN(3) == 0)}, int64(1 + r.IntN(2))}
			rows, live = append(rows, c), append(live, c)
		}
		if windowed && r.IntN(10) == 0 {
			wm = max(wm, dataflow.Watermark(r.IntN(60)))
		}
		h.epoch(wm, false, rows...)
		for row := range h.view {
			got := strings.Split(row, "|")[len(keys):]
			n := len(got) / 2
			if g, w := strings.Join(got[:n], "|"), strings.Join(got[n:], "|"); g != w {
				t.Fatalf("%s: %s, as numerics %s", row, g, w)
			}
		}
		if r.IntN(4) == 0 {
			h.checkpoint(r)
		}
	}
	if st := h.stats(); !windowed && len(live) == 0 && st.RowsTotal != 0 {
		t.Errorf("%d groups are left", st.RowsTotal)
	}
	// What is taken away leaves nothing behind.
	if !appendOnly {
		for i := range live {
			live[i].w = -live[i].w
		}
		h.epoch(wm, false, live...)
	}
	for i, info := range h.space.Tables() {
		if !strings.HasPrefix(info.Decl.Name, "distinct") {
			continue
		}
		if n := info.Entries; !appendOnly && n != 0 && wm == dataflow.NoWatermark {
			t.Errorf("table %d, %s: %d entries are left", i, info.Decl.Name, n)
		}
	}
}
