package agg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestPlaces compares percentiles and modes of groups with many values, of which a few change at a time, with sorting them; with checkpoints,
// eviction and restarts in between.
func TestPlaces(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	numeric := types.Of(types.Numeric)
	for round := 0; round < 40; round++ {
		desc := r.IntN(2) == 0
		s := newSource(false, tInt8, numeric, tFloat)
		n := aggregate(s, catalog.Update, -1, []plan.Expr{col(s, 0)}, ordered("percentile_disc", col(s, 1), desc, lit(tFloat, "0.3")),
			ordered("percentile_cont", col(s, 2), desc, lit(tFloat, "0.75")), ordered("mode", col(s, 1), desc))
		h := newHarness(t, n)
		h.size = 64
		values := []int{3, 40, 5000}[r.IntN(3)]
		have := map[string][][]string{}
		for e := 0; e < 12; e++ {
			var rows []change
			size := r.IntN(6)
			if e == 0 {
				size = r.IntN(900)
			}
			for ; size > 0; size-- {
				g := fmt.Sprint(r.IntN(2))
				if k := len(have[g]); k > 0 && r.IntN(2) == 0 {
					i := r.IntN(k)
					rows = append(rows, del(have[g][i]...))
					have[g] = slices.Delete(have[g], i, i+1)
					continue
				}
				row := []string{g, fmt.Sprintf("%.*f", r.IntN(2), float64(r.IntN(values))), fmt.Sprint(r.IntN(values))}
				if r.IntN(9) == 0 {
					row[1+r.IntN(2)] = "NULL"
				}
				have[g] = append(have[g], row)
				rows = append(rows, ins(row...))
			}
			h.epoch(none, false, rows...)
			want := map[string]int64{}
			for g, rows := range have {
				if len(rows) > 0 {
					want[placesOf(g, rows, desc)] = 1
				}
			}
			if fmt.Sprint(h.view) != fmt.Sprint(want) {
				t.Fatalf("round %d epoch %d, descending %v:\n%v\nwant\n%v", round, e, desc, h.view, want)
			}
			if r.IntN(3) == 0 {
				h.checkpoint(r)
			}
		}
	}
}

func placesOf(group string, rows [][]string, desc bool) string {
	sorted := func(c int, t types.Type) (out []types.Datum) {
		for _, r := range rows {
			if r[c] != "NULL" {
				d, err := types.Parse(t, r[c], nil)
				if err != nil {
					panic(err)
				}
				out = append(out, d)
			}
		}
		// Equal values of different form are in the order of their forms, descending or not.
		slices.SortFunc(out, func(a, b types.Datum) int {
			if x := types.Compare(t, a, b); x != 0 {
				if desc {
					return -x
				}
				return x
			}
			return strings.Compare(string(types.AppendValue(nil, t, a)), string(types.AppendValue(nil, t, b)))
		})
		return out
	}
	numeric := types.Of(types.Numeric)
	out := []string{group, "NULL", "NULL", "NULL"}
	if v := sorted(1, numeric); len(v) > 0 {
		out[1] = types.Format(numeric, v[max(int(math.Ceil(0.3*float64(len(v))))-1, 0)], nil)
		most := 0
		for i := 0; i < len(v); {
			j := i
			for j < len(v) && types.Equal(numeric, v[i], v[j]) {
				j++
			}
			if j-i > most {
				most, out[3] = j-i, types.Format(numeric, v[i], nil)
			}
			i = j
		}
	}
	if v := sorted(2, tFloat); len(v) > 0 {
		x := 0.75 * float64(len(v)-1)
		lo, hi := v[int(math.Floor(x))].F, v[int(math.Ceil(x))].F
		out[2] = types.Format(tFloat, types.FloatDatum(lo+(x-math.Floor(x))*(hi-lo)), nil)
	}
	return strings.Join(out, "|")
}
