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

// numbered gives n rows of some keys whose numbers follow from.
func numbered(r *rand.Rand, from, n int) *batch.Batch {
	b := batch.New(two, n)
	for i := range n {
		b.Cols[0].AppendString(fmt.Sprint("k", r.IntN(100)))
		b.Cols[1].AppendInt(int64(from + i))
		b.EndRow(1)
	}
	return b
}

// TestPortions: whichever worker takes which portions, and whether slots get them at once or later, slots get the rows of several batches in their order, and letters
// come in it too.
func TestPortions(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	sizes := map[int]bool{} // of portions, in stretches
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
		ep, all, want := &dataflow.Epoch{Sink: s}, 0, []string{}
		step.BeginEpoch(ep)
		o.paths[0].from = 0
		for range 2 {
			b := numbered(r, all, stretchRows*(number+r.IntN(18))-r.IntN(stretchRows))
			for i := range b.N {
				if n := b.Cols[1].I64[i]; n%1000 == 0 {
					want = append(want, fmt.Sprintf("dead 0 %s %d below", b.Cols[0].Bytes(i), n))
				}
			}
			all += b.N
			for i, l := range o.lanes[:number] {
				l.ep, l.ep.Sink, l.queued = *ep, &l.sink, 0
				l.ways[0].begin(0, l.ep.Sink)
				hs[i].after = 0
			}
			o.paths[0].kept = 0.4 + 2*r.Float64()
			o.divide(o.paths[0], number, (b.N+stretchRows-1)/stretchRows)
			sizes[o.handout.cut[0].hi] = true
			o.beginAside(ep)
			// Each worker begins while the one before it copies a portion, of which slots wait, and takes all that is left.
			order := r.Perm(number)
			for i, w := range order[:number-1] {
				hs[w].after = 1 + r.IntN(3)
				hs[w].then = func() { o.runPortions(order[i+1], number, 0, b) }
			}
			o.runPortions(order[0], number, 0, b)
			if err := o.endAside(ep, o.lanes[:number], 0, b.N); err != nil {
				t.Fatal(err)
			}
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
		got := slices.DeleteFunc(s.got, func(x string) bool { return !strings.HasSuffix(x, "below") })
		if total != all || !slices.Equal(got, want) {
			t.Fatalf("seed %d: %d rows of %d, letters %v, not %v", seed, total, all, got, want)
		}
	}
	if len(sizes) < 2 {
		t.Errorf("seed %d: portions had %v stretches", seed, sizes)
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
		o := &Operator{slots: make([]slot, c.slots)}
		for range 2 {
			o.divide(&path{kept: c.kept}, c.lanes, c.stretches)
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

// failer fails at rows with some numbers, and may get none after that.
type failer struct {
	t      *testing.T
	lo, hi int64
	failed bool
}

func (f *failer) EndEpoch(*dataflow.Epoch, dataflow.Emit) error { return nil }

func (f *failer) Push(_ *dataflow.Epoch, port int, b *batch.Batch, out dataflow.Emit) error {
	if f.failed {
		f.t.Errorf("row %d and others after an error", b.Cols[1].I64[0])
	}
	for _, n := range b.Cols[1].I64[:b.N] {
		if f.failed = n >= f.lo && n < f.hi; f.failed {
			return fmt.Errorf("row %d of port %d", n, port)
		}
	}
	return out(b)
}

// TestFailure: of lanes that fail the first portion's error is given, and no slot gets rows behind it; an operator's error is given, whether it fails when rows are
// copied or at the end. Whoever has failed gets no more.
func TestFailure(t *testing.T) {
	b := numbered(rand.New(rand.NewPCG(1, 1)), 0, 40*stretchRows)
	for _, at := range []int64{0, 5, 17 * stretchRows, 39*stretchRows + 1} {
		for _, below := range []bool{true, false} {
			fails := func() (dataflow.Operator, error) { return &failer{t: t, lo: at, hi: at + 5*stretchRows}, nil }
			ops, steps, ls := []dataflow.Operator{}, []*Step{}, []*lister{}
			for range 3 {
				l := &lister{}
				if ls = append(ls, l); below {
					ops = append(ops, l)
				} else {
					f, _ := fails()
					ops = append(ops, f)
				}
			}
			if below {
				steps = append(steps, NewStep(fails))
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
			for slot, l := range ls {
				if n := len(l.rows); n > 0 && l.rows[n-1].n >= at {
					t.Errorf("fails at %d: slot %d got row %d", at, slot, l.rows[n-1].n)
				}
			}
		}
	}
}
