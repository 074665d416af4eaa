package agg

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/window"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// slideShape is a sliding window in microseconds.
type slideShape struct {
	time, elem         types.Kind
	size, slide, start int64
}

// newSliding makes an aggregate over the windows of the source's first column, of which last says who gives rows to their windows: the
// aggregate, or the window's operator. Keys are columns of the source, behind which the window stands.
func newSliding(t testing.TB, s *source, shape slideShape, last bool, mode catalog.OutputMode, keys []int, at int, aggs ...plan.Agg) *harness {
	t.Helper()
	w := &plan.Window{Input: s, Time: col(s, 0), Size: shape.size, Slide: shape.slide, Start: shape.start, Last: last}
	w.P.Columns = append(append([]plan.Column(nil), s.P.Columns...), plan.Column{Name: "window", Type: types.WindowOf(shape.elem)})
	w.P.AppendOnly = s.P.AppendOnly
	var exprs []plan.Expr
	for _, k := range keys {
		exprs = append(exprs, col(w, k))
	}
	exprs = append(exprs[:at:at], append([]plan.Expr{col(w, len(s.P.Columns))}, exprs[at:]...)...)
	h := newHarness(t, aggregate(w, mode, at, exprs, aggs...))
	h.in = plan.Types(s)
	front, err := window.New(w, h.in, &kernel.Env{})
	if err != nil {
		t.Fatal(err)
	}
	h.front = front
	return h
}

// slidingAggs gives aggregates over columns from at on (as for everyMergeable): those that can be accumulated by pane, then those that can't.
func slidingAggs(s plan.Node, at int) (paned, other []plan.Agg) {
	x, n := col(s, at), col(s, at+2)
	for _, a := range everyMergeable(s, at) {
		switch {
		case strings.HasPrefix(a.Fn.Name, "regr") || strings.HasPrefix(a.Fn.Name, "co") && a.Fn.Name != "count" || strings.HasPrefix(a.Fn.Name, "approx"):
			other = append(other, a)
		case strings.HasPrefix(a.Fn.Name, "var") || strings.HasPrefix(a.Fn.Name, "std"):
			other = append(other, a)
		case (a.Fn.Name == "min" || a.Fn.Name == "max") && (a.Args[0].Type().Kind == types.Numeric || a.Args[0].Type().Kind == types.Interval):
			other = append(other, a)
		default:
			paned = append(paned, a)
		}
	}
	// Of a row that fails each window has a dead letter.
	failing := call("count", op("/", lit(tInt8, "10"), x))
	filtered := call("sum", n)
	filtered.Filter = &plan.IsNull{X: x, Not: true}
	paned = append(paned, failing, filtered, call("variance", x))
	other = append(other, call("distinct count", x), call("array_agg", x), call("string_agg", col(s, at+4), lit(tText, ",")))
	return paned, other
}

// Rows that the aggregate gives to their windows, by pane or one by one, have the results, late rows, dead letters, order and counts of
// rows that come with each of their windows.
func TestSlidesAreWindows(t *testing.T) {
	values := []types.Type{tInt8, tFloat, tNumeric, tSpan, tText, tBool, tFloat}
	shapes := []slideShape{
		{types.Timestamp, types.Timestamp, 10_000, 1000, 0},
		{types.Timestamp, types.Timestamp, 9000, 3000, 700},
		{types.Timestamp, types.Timestamp, 30_000, 1000, -300},
		{types.Date, types.Date, 4 * microsPerDay, microsPerDay, 0},
		{types.Date, types.Timestamp, 4 * microsPerDay, microsPerDay / 2, 3600_000_000},
	}
	modes := []catalog.OutputMode{catalog.Update, catalog.Append, catalog.Complete}
	keySets := [][]int{{}, {1}, {2}, {1, 2}, {3}} // int, text, both, numeric: equal values of several forms
	panes := 0
	for seed := uint64(0); seed < 60; seed++ {
		r := rand.New(rand.NewPCG(seed, 23))
		shape := shapes[seed%uint64(len(shapes))]
		s := newSource(r.IntN(8) > 0, append([]types.Type{types.Of(shape.time), tInt8, tText, tNumeric}, values...)...)
		aggs, other := slidingAggs(s, 4)
		r.Shuffle(len(aggs), func(i, j int) { aggs[i], aggs[j] = aggs[j], aggs[i] })
		aggs = aggs[:r.IntN(len(aggs))]
		if r.IntN(4) == 0 && s.P.AppendOnly {
			aggs = append(aggs, other[r.IntN(len(other))])
		}
		keys, mode := keySets[r.IntN(len(keySets))], modes[r.IntN(3)]
		at := r.IntN(len(keys) + 1)
		g := newSliding(t, s, shape, true, mode, keys, at, aggs...)
		w := newSliding(t, s, shape, false, mode, keys, at, aggs...)
		if g.op.(*group).slides.panes != nil {
			panes++
		}
		runSlides(t, seed, r, shape, g, w)
	}
	if panes < 15 {
		t.Errorf("only %d cases went by pane", panes)
	}
}

// runSlides runs random epochs in two operators and compares what they give.
func runSlides(t *testing.T, seed uint64, r *rand.Rand, shape slideShape, g, w *harness) {
	t.Helper()
	now, wm := int64(0), none
	crowd := 2 + r.IntN(60) // different values of a key
	epochs, final := 8, r.IntN(10) == 0
	if final {
		epochs = 1
	}
	for e := range epochs {
		var rows []change
		for range r.IntN(90) {
			rows = append(rows, change{slideRow(r, shape, now, crowd), 1 + max(0, r.Int64N(20)-17)})
		}
		if r.IntN(3) > 0 {
			now += r.Int64N(2 * shape.size)
			wm = max(wm, dataflow.Watermark(now-r.Int64N(shape.size)))
		}
		g.size = 1 + r.IntN(100)
		w.size = g.size
		if p := g.op.(*group).slides.panes; p != nil && seed%2 == 0 {
			p.rest = 0 // though it may not pay
		}
		got, exp := g.epoch(wm, final, rows...), w.epoch(wm, final, rows...)
		report := func(what string, got, exp any) {
			t.Helper()
			if fmt.Sprint(got) != fmt.Sprint(exp) {
				t.Fatalf("seed %d, epoch %d, mode %v, %v, %s:\ngot\n%v\nwant\n%v", seed, e, g.plan.Mode, shape, what, got, exp)
			}
		}
		report("rows", strings.Join(got, "\n"), strings.Join(exp, "\n"))
		report("late rows", strings.Join(g.sink.late, "\n"), strings.Join(w.sink.late, "\n"))
		report("dead letters", g.sink.letters, w.sink.letters)
		x, y := g.stats(), w.stats()
		x.MemoryUsedBytes, y.MemoryUsedBytes = 0, 0
		x.RowsDroppedLate += g.late
		y.RowsDroppedLate += w.late
		report("counts", x, y)
		if r.IntN(4) == 0 {
			again := r.Uint64()
			g.checkpoint(rand.New(rand.NewPCG(again, 1)))
			w.checkpoint(rand.New(rand.NewPCG(again, 1)))
		}
	}
}

// slideRow makes a row whose time is around now.
func slideRow(r *rand.Rand, shape slideShape, now int64, crowd int) []string {
	pick := func(xs ...string) string { return xs[r.IntN(len(xs))] }
	at := now + r.Int64N(shape.size) - shape.size/4
	if r.IntN(10) == 0 {
		at -= r.Int64N(3 * shape.size)
	}
	if shape.time == types.Date {
		at /= microsPerDay
	}
	time := types.Format(types.Of(shape.time), types.IntDatum(at), nil)
	if r.IntN(30) == 0 {
		time = pick("NULL", "infinity", "-infinity")
	}
	key := r.IntN(crowd)
	ten := fmt.Sprint(1 + r.IntN(9))
	if r.IntN(200) == 0 {
		ten = "0"
	}
	return []string{time, pick("NULL", fmt.Sprint(key), fmt.Sprint(key)), pick("NULL", fmt.Sprint("k", key), "x y"), pick("1", "1.0", "2.00", "2"),
		pick("NULL", ten, ten, "-17", "9223372036854775807"), pick("NULL", "0.1", "1e100", "-1e-100", "NaN", "-0", "0", fmt.Sprint(r.NormFloat64())),
		pick("NULL", "1.5", "2.000", "-1e25", "7", "99999999999999999999999999999999999999"), pick("NULL", "1 day", "2 mons -1 day", "00:00:01"),
		fmt.Sprint("w", r.IntN(30)), pick("NULL", "t", "f"), pick("NULL", "2", "0.3", "1e10")}
}
