package partition

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

// TestStretchesOfOthers: whichever lane takes which stretches, slots get the rows of a batch in its order, and letters come in it too.
func TestStretchesOfOthers(t *testing.T) {
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
		// Each lane begins in the middle of the one before it, and takes all that is left.
		order, stretches := r.Perm(number), (b.N+stretchRows-1)/stretchRows
		spans := make([]span, number)
		ep := &dataflow.Epoch{Sink: s}
		step.BeginEpoch(ep)
		o.paths[0].from = 0
		for w, l := range o.lanes[:number] {
			spans[w].set(Range(w, number, stretches))
			l.ep, l.first = *ep, -1
			l.ep.Sink = &l.sink
			l.ways[0].begin(0, l.ep.Sink)
		}
		for i, w := range order[:number-1] {
			hs[w].after = 1 + r.IntN(3)
			hs[w].then = func() { o.lanes[order[i+1]].runSpans(0, o.paths[0], b, spans) }
		}
		o.lanes[order[0]].runSpans(0, o.paths[0], b, spans)
		if err := o.lineUp(ep, o.lanes[:number]); err != nil {
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

// TestSpan: each stretch is taken once, however many take from both ends at once.
func TestSpan(t *testing.T) {
	const stretches, takers = 10_000, 4
	var s span
	s.set(7, 7+stretches)
	took := make([][]int, takers)
	var wg sync.WaitGroup
	for w := range takers {
		wg.Go(func() {
			for i := s.take(w > 0); i >= 0; i = s.take(w > 0) {
				took[w] = append(took[w], i)
			}
		})
	}
	wg.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	for i, x := range all {
		if x != 7+i || len(all) != stretches {
			t.Fatalf("%d stretches of %d; number %d is %d", len(all), stretches, i, x)
		}
	}
}
