package agg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strconv"
	"testing"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

func TestApproxCountDistinct(t *testing.T) {
	s := newSource(true, tText)
	h := newHarness(t, aggregate(s, catalog.Update, -1, nil, call("approx_count_distinct", col(s, 0))))
	h.size = 2048
	n := 0
	for _, upTo := range []int{1, 10, 300, 3000, 100_000} {
		var rows []change
		for ; n < upTo; n++ {
			rows = append(rows, ins(fmt.Sprint("v", n)), ins(fmt.Sprint("v", n/2)), ins("NULL"))
		}
		h.epoch(none, false, rows...)
		got, _ := strconv.Atoi(h.current())
		if d := math.Abs(float64(got-upTo)) / float64(upTo); d > 0.05 || upTo <= 300 && got != upTo {
			t.Errorf("%d values: estimate %d", upTo, got)
		}
	}
}

// Over input that is taken back the count is exact, however large.
func TestApproxCountDistinctRetracted(t *testing.T) {
	s := newSource(false, tInt8)
	h := newHarness(t, aggregate(s, catalog.Update, -1, nil, call("approx_count_distinct", col(s, 0))))
	h.size = 2048
	var rows, gone []change
	for i := 0; i < 5000; i++ {
		rows = append(rows, ins(fmt.Sprint(i)), ins(fmt.Sprint(i)))
		if i >= 4321 {
			gone = append(gone, del(fmt.Sprint(i)), del(fmt.Sprint(i)))
		}
	}
	h.epoch(none, false, rows...)
	h.epoch(none, false, gone...)
	if h.current() != "4321" {
		t.Errorf("got %s", h.current())
	}
}

func TestApproxPercentile(t *testing.T) {
	for seed := uint64(0); seed < 20; seed++ {
		for _, appendOnly := range []bool{true, false} {
			r := rand.New(rand.NewPCG(seed, 5))
			s := newSource(appendOnly, tFloat)
			var calls []plan.Agg
			fracs := []float64{0, 0.01, 0.5, 0.95, 1}
			for _, f := range fracs {
				calls = append(calls, call("approx_percentile", col(s, 0), lit(tFloat, fmt.Sprint(f))))
			}
			h := newHarness(t, aggregate(s, catalog.Update, -1, nil, calls...))
			h.size = 2048
			n := 1 + r.IntN(3000)
			var vals []float64
			var rows, noise []change
			for i := 0; i < n; i++ {
				v := math.Exp(r.NormFloat64()*5) * float64(r.IntN(3)-1)
				vals = append(vals, v)
				rows = append(rows, ins(strconv.FormatFloat(v, 'g', -1, 64)))
				if !appendOnly {
					noise = append(noise, ins(strconv.FormatFloat(r.NormFloat64(), 'g', -1, 64)))
				}
			}
			h.epoch(none, false, append(noise, rows...)...)
			for i := range noise {
				noise[i].w = -1
			}
			h.epoch(none, false, noise...)
			sort.Float64s(vals)
			checkPercentiles(t, seed, h.current(), fracs, vals, appendOnly)
		}
	}
}

func checkPercentiles(t *testing.T, seed uint64, row string, fracs, vals []float64, appendOnly bool) {
	t.Helper()
	for i, f := range fracs {
		text := row
		for k := 0; k < i; k++ {
			_, text, _ = cut(text)
		}
		text, _, _ = cut(text)
		got, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		want := vals[max(int(math.Ceil(f*float64(len(vals))))-1, 0)]
		limit := 0.0101 * math.Abs(want)
		if appendOnly && len(vals) <= ddExactMax {
			limit = 0
		}
		if math.Abs(got-want) > limit {
			t.Errorf("seed %d, append-only %v: percentile %v of %d values = %v, want %v", seed, appendOnly, f, len(vals), got, want)
		}
	}
}

func cut(s string) (string, string, bool) {
	for i := range s {
		if s[i] == '|' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}
