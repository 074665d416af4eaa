package partition

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/workers"
)

// hinderer passes everything on, and lets another lane go on when it has passed on some batches. A row in a thousand is dead.
type hinderer struct {
	after int
	then  func()
}

func (h *hinderer) EndEpoch(*dataflow.Epoch, dataflow.Emit) error { return nil }

func (h *hinderer) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, out dataflow.Emit) error {
	if h.after--; h.after == 0 {
		h.then()
	}
	for i := range b.N {
		if b.Cols[1].I64[i]%1000 == 0 {
			if err := ep.Sink.Dead(ep, b, i, sqlerr.New(sqlerr.DivisionByZero, "below")); err != nil {
				return err
			}
		}
	}
	return out(b)
}

// TestPortions: whichever worker takes which portions, and whether slots get them at once or later, slots get the rows of a batch in its order, and letters come in
// it too.
func TestPortions(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 30 {
		const number = 3
		ops, ls := []dataflow.Operator{}, []*lister{}
		for range 4 {
			l := &lister{}
			ops, ls = append(ops, l), append(ls, l)
		}
		var hs []*hinderer
		step := NewStep(func() (dataflow.Operator, error) {
			hs = append(hs, &hinderer{})
			return hs[len(hs)-1], nil
		})
		op, err := New(ops, []Port{{Keys: []plan.Expr{&plan.Col{Index: 0, Typ: two[0]}}, Steps: []*Step{step}}}, nil, dataflow.InputTypes{two}, &kernel.Env{}, workers.Team{Number: func() int { return number }})
		if err != nil {
			t.Fatal(err)
		}
		o, s := op.(*Operator), &sink{}
		if err := o.addLanes(number); err != nil {
			t.Fatal(err)
		}
		b := batch.New(two, 0)
		for i := range stretchRows*(number+r.IntN(9)) - r.IntN(stretchRows) {
			b.Cols[0].AppendString(fmt.Sprint("k", r.IntN(100)))
			b.Cols[1].AppendInt(int64(i))
			b.EndRow(1)
		}
		// Each worker begins while the one before it copies a portion, of which slots wait, and takes all that is left. Portions are larger or smaller.
		o.kept = r.Float64()
		order, ep := r.Perm(number), &dataflow.Epoch{Sink: s}
		step.BeginEpoch(ep)
		o.paths[0].from = 0
		for _, l := range o.lanes[:number] {
			l.ep, l.ep.Sink = *ep, &l.sink
			l.ways[0].begin(0, l.ep.Sink)
		}
		o.divide(number, (b.N+stretchRows-1)/stretchRows)
		o.beginAside(ep)
		for i, w := range order[:number-1] {
			hs[w].after = 1 + r.IntN(3)
			hs[w].then = func() { o.runPortions(order[i+1], number, 0, b) }
		}
		o.runPortions(order[0], number, 0, b)
		if err := o.lineUp(ep, o.lanes[:number], b.N); err != nil {
			t.Fatal(err)
		}
		if err := o.EndEpoch(ep, func(*batch.Batch) error { return nil }); err != nil {
			t.Fatal(err)
		}
		total := 0
		for slot, l := range ls {
			total += len(l.rows)
			if !slices.IsSortedFunc(l.rows, func(a, b seen) int { return int(a.n - b.n) }) {
				t.Fatalf("seed %d: the rows of slot %d are not in order", seed, slot)
			}
		}
		var want []string
		for i := 0; i < b.N; i += 1000 {
			want = append(want, fmt.Sprintf("dead 0 %s %d below", b.Cols[0].Bytes(i), i))
		}
		got := slices.DeleteFunc(s.got, func(x string) bool { return x[len(x)-len("below"):] != "below" })
		if total != b.N || !slices.Equal(got, want) {
			t.Fatalf("seed %d: %d rows of %d, letters %v, not %v", seed, total, b.N, got, want)
		}
	}
}

// TestNextPortion: each portion is taken once, however many take at once.
func TestNextPortion(t *testing.T) {
	const portions, takers = 10_000, 4
	h := handout{cut: make([]*portion, portions)}
	took := make([][]int, takers)
	var wg sync.WaitGroup
	for w := range takers {
		wg.Go(func() {
			for i := h.next(); i >= 0; i = h.next() {
				took[w] = append(took[w], i)
			}
		})
	}
	wg.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	for i, x := range all {
		if x != i || len(all) != portions {
			t.Fatalf("%d portions of %d; number %d is %d", len(all), portions, i, x)
		}
	}
}

// TestDivide: portions are all of a batch, in order; each lane has some; and a slot gets as many rows as it should, where there are so many.
func TestDivide(t *testing.T) {
	for _, c := range []struct {
		slots, lanes, stretches int
		kept                    float64
		each                    int // stretches
	}{
		{2, 2, 16, 1, 1}, {2, 2, 16, 0.25, 4}, {2, 2, 16, 0.001, 4}, {2, 2, 16, 0, 4}, {2, 2, 64, 0.1, 10}, {2, 2, 3, 0.5, 1},
		{8, 4, 32, 1, 4}, {8, 8, 32, 1, 2}, {4, 2, 16, 7, 1}, {256, 2, 1, 1, 1},
	} {
		o := &Operator{slots: make([]slot, c.slots), kept: c.kept}
		for range 2 {
			o.divide(c.lanes, c.stretches)
			at := 0
			for i, x := range o.handout.cut {
				if x.lo != at || x.hi <= at || x.hi-x.lo != c.each && i < len(o.handout.cut)-1 || len(x.pieces) != c.slots || x.done.Load() {
					t.Errorf("%+v: portion %d is %d to %d", c, i, x.lo, x.hi)
				}
				at = x.hi
			}
			if at != c.stretches {
				t.Errorf("%+v: portions end at %d", c, at)
			}
			o.handout.cut[0].done.Store(true)
		}
	}
}

// failer fails at rows with a number, and lists no row after it.
type failer struct {
	lister
	at int64
}

func (f *failer) Push(ep *dataflow.Epoch, port int, b *batch.Batch, out dataflow.Emit) error {
	for i, n := range b.Cols[1].I64[:b.N] {
		if n >= f.at {
			return fmt.Errorf("row %d of port %d", b.Cols[1].I64[i], port)
		}
	}
	return out(b)
}

// TestFailure: of lanes that fail the first portion's error is given, and an operator's is, whether it fails when rows are copied or at the end.
func TestFailure(t *testing.T) {
	b := batch.New(two, 0)
	for i := range 40 * stretchRows {
		b.Cols[0].AppendString(fmt.Sprint("k", i%100))
		b.Cols[1].AppendInt(int64(i))
		b.EndRow(1)
	}
	for _, at := range []int64{0, 5, 17 * stretchRows, 39*stretchRows + 1} {
		for _, below := range []bool{true, false} {
			ops, steps, behind := []dataflow.Operator{}, []*Step{}, &lister{}
			for range 3 {
				if below {
					ops = append(ops, behind)
					behind = &lister{}
				} else {
					ops = append(ops, &failer{at: at})
				}
			}
			if below {
				steps = append(steps, NewStep(func() (dataflow.Operator, error) { return &failer{at: at}, nil }))
			}
			op, err := New(ops, []Port{{Keys: []plan.Expr{&plan.Col{Index: 0, Typ: two[0]}}, Steps: steps}}, nil, dataflow.InputTypes{two}, &kernel.Env{}, workers.Team{Number: func() int { return 3 }})
			if err != nil {
				t.Fatal(err)
			}
			ep, drop := &dataflow.Epoch{Sink: &sink{}}, func(*batch.Batch) error { return nil }
			push := func() error { return op.Push(ep, 0, b, drop) }
			if below {
				steps[0].BeginEpoch(ep)
				push = func() error {
					return steps[0].Push(ep, 0, b, func(b *batch.Batch) error { return op.Push(ep, 0, b, drop) })
				}
			}
			err = push()
			if err == nil && !below {
				err = op.EndEpoch(ep, drop)
			}
			// Of the operators any may be the first, each with its own first row.
			if err == nil || below && err.Error() != fmt.Sprintf("row %d of port 0", at) || !below && !strings.HasSuffix(err.Error(), " of port 0") {
				t.Errorf("fails at %d, below %v: %v", at, below, err)
			}
		}
	}
}
