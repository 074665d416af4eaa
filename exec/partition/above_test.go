package partition

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/workers"
)

// tripler multiplies the second column in memory of its own, which it uses again, and gives the first on with the gift that it came with. What fails is left out.
type tripler struct {
	n *batch.Vector
}

func (p *tripler) EndEpoch(*dataflow.Epoch, dataflow.Emit) error { return nil }

func (p *tripler) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, out dataflow.Emit) error {
	if p.n == nil {
		p.n = batch.NewVector(two[1], 0)
	}
	p.n.Reset(two[1])
	var failed []kernel.RowError
	for i := range b.N {
		p.n.AppendInt(3 * b.Cols[1].I64[i])
		if b.Cols[1].I64[i]%100 == 11 {
			failed = append(failed, kernel.RowError{Row: i, Err: sqlerr.New(sqlerr.DivisionByZero, "above %d %d %s", ep.N, ep.Operator, ep.Inputs[ep.Port].Streams)})
		}
	}
	sel, err := rowenc.Bury(ep, b, nil, failed)
	if err != nil {
		return err
	}
	o := &batch.Batch{N: b.N, Weights: b.Weights, Cols: []*batch.Vector{b.Cols[0], p.n}}
	switch {
	case sel != nil:
		o = o.Select(sel)
	case b.Gift != nil:
		n := batch.NewVector(two[1], 0)
		n.AppendVector(p.n, nil)
		o.Gift, o.Cols[1] = b.Gift, n
	}
	err = out(o)
	for i := range p.n.I64 {
		p.n.I64[i] = -1 // its memory is nobody else's
	}
	return err
}

// sieve keeps what is not a multiple of five.
type sieve struct{}

func (sieve) EndEpoch(*dataflow.Epoch, dataflow.Emit) error { return nil }

func (sieve) Push(_ *dataflow.Epoch, _ int, b *batch.Batch, out dataflow.Emit) error {
	sel := []int32{}
	for i := range b.N {
		if b.Cols[1].I64[i]%5 != 0 {
			sel = append(sel, int32(i))
		}
	}
	if len(sel) == 0 {
		return nil
	}
	return out(b.Select(sel))
}

// swapper is a lister whose batches have their memory exchanged.
type swapper struct {
	lister
	out *rowenc.Out
}

func (s *swapper) Push(ep *dataflow.Epoch, port int, b *batch.Batch, out dataflow.Emit) error {
	return s.lister.Push(ep, port, b, func(b *batch.Batch) error {
		for i := range b.N {
			if err := s.out.Copy(b, i, b.Weight(i), out); err != nil {
				return err
			}
		}
		return s.out.Flush(out)
	})
}

// given is a row that came out in an epoch.
type given struct {
	key         string
	n, w, epoch int64
}

// aboveBy makes what tripler and sieve make of rows, and the letters of those that fail.
func aboveBy(rows []given) (out []given, letters []string) {
	for _, x := range rows {
		if x.n%100 == 11 {
			letters = append(letters, fmt.Sprintf("dead 0 %s %d above %d -1 of the step", x.key, x.n, x.epoch))
		} else if x.n *= 3; x.n%5 != 0 {
			out = append(out, x)
		}
	}
	return out, letters
}

// ran is what came out and was found in two epochs of rows.
type ran struct {
	rows           []given
	letters, above []string // of the operator, of the steps above it
}

// runAbove gives an operator of eight slots two epochs of random rows, in batches of random sizes up to most. number is that of the workers; 0: one, and no steps above.
func runAbove(t *testing.T, seed uint64, rows, most, number int) ran {
	r := rand.New(rand.NewPCG(seed, 1))
	var ops []dataflow.Operator
	for range 8 {
		ops = append(ops, &swapper{out: rowenc.NewOut(two)})
	}
	var above []*Step
	if number > 0 {
		above = []*Step{NewStep(func() (dataflow.Operator, error) { return &tripler{}, nil }), NewStep(func() (dataflow.Operator, error) { return sieve{}, nil })}
	}
	o, err := New(ops, []Port{{Keys: []plan.Expr{&plan.Col{Index: 0, Typ: two[0]}}}}, above, dataflow.InputTypes{two}, &kernel.Env{}, workers.Team{Number: func() int { return max(number, 1) }})
	if err != nil {
		t.Fatal(err)
	}
	s, got := &sink{}, ran{}
	var kept []*batch.Batch
	var firsts []given
	for epoch := range int64(2) {
		ep := &dataflow.Epoch{N: uint64(epoch), Sink: s}
		for _, x := range above {
			x.BeginEpoch(&dataflow.Epoch{N: uint64(epoch), Sink: s, Operator: -1, Inputs: []dataflow.PortInfo{{Streams: "of the step"}}})
		}
		row := func(b *batch.Batch, i int) given {
			return given{string(b.Cols[0].Bytes(i)), b.Cols[1].I64[i], b.Weight(i), epoch}
		}
		emit := func(b *batch.Batch) error {
			for i := range b.N {
				got.rows = append(got.rows, row(b, i))
			}
			if r.IntN(3) == 0 {
				kept, firsts = append(kept, b.Keep()), append(firsts, row(b, 0))
			}
			return nil
		}
		in := rand.New(rand.NewPCG(seed, uint64(epoch)+2))
		for at := 0; at < rows; {
			b := batch.New(two, 0)
			for range min(1+in.IntN(most), rows-at) {
				b.Cols[0].AppendString(fmt.Sprint("k", in.IntN(1000)))
				b.Cols[1].AppendInt(int64(at) + epoch*int64(rows))
				b.EndRow(int64(1 - 2*in.IntN(2)))
				at++
			}
			if err := o.Push(ep, 0, b, emit); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.EndEpoch(ep, emit); err != nil {
			t.Fatal(err)
		}
		for i, b := range kept {
			x := firsts[i]
			if is := row(b, 0); is.key != x.key || is.n != x.n || is.w != x.w {
				t.Fatalf("seed %d, %d workers: a batch that was kept begins with %v, not %v", seed, number, is, x)
			}
		}
	}
	for _, x := range s.got {
		if strings.Contains(x, " above ") {
			got.above = append(got.above, x)
		} else {
			got.letters = append(got.letters, x)
		}
	}
	return got
}

// TestAbove: what comes out of steps above an operator is what they make of its rows, in its order, and the letters are those of the operator and theirs, whatever the
// number of workers; what is kept of it stays so.
func TestAbove(t *testing.T) {
	for _, c := range []struct{ rows, most int }{{100, 50}, {parallelRows - 1, 3000}, {parallelRows + 100, 300}, {flushRows * 3 / 2, 3 * parallelRows}} {
		seed := rand.Uint64()
		plain := runAbove(t, seed, c.rows, c.most, 0)
		rows, letters := aboveBy(plain.rows)
		for _, n := range []int{1, 2, 3, 20} {
			got := runAbove(t, seed, c.rows, c.most, n)
			if !slices.Equal(got.rows, rows) {
				t.Fatalf("seed %d: %d rows, %d workers: %d rows come out, not %d, or others", seed, c.rows, n, len(got.rows), len(rows))
			}
			if !slices.Equal(got.letters, plain.letters) || !slices.Equal(got.above, letters) {
				t.Fatalf("seed %d: %d rows, %d workers: %d letters of the operator, not %d, %d of the steps, not %d, or others",
					seed, c.rows, n, len(got.letters), len(plain.letters), len(got.above), len(letters))
			}
		}
	}
}
