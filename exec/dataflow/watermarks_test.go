package dataflow

import (
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/batch"
)

// pass is an operator without state that forwards nothing.
type pass struct{ ep Epoch }

func (p *pass) Push(*Epoch, int, *batch.Batch, Emit) error { return nil }

func (p *pass) EndEpoch(ep *Epoch, _ Emit) error { p.ep = *ep; return nil }

// input is what one source has in an epoch.
type input struct {
	before, after Watermark
	idleB, idleA  bool
}

// twoInputs is a graph of one operator over two sources, of which the declared ones have a watermark.
type twoInputs struct {
	g    *Graph
	op   *pass
	srcs []*Source
}

func newTwoInputs(policy Policy, declared ...bool) *twoInputs {
	t := &twoInputs{g: NewGraph(policy), op: &pass{}}
	var hs []Handle
	any := false
	for _, d := range declared {
		s := &Source{}
		t.srcs = append(t.srcs, s)
		hs = append(hs, t.g.AddSource(s, d))
		any = any || d
	}
	t.g.SetRoot(t.g.Add(t.op, 0, any, nil, hs...))
	return t
}

func (x *twoInputs) run(t *testing.T, ins ...input) (before, after Watermark) {
	t.Helper()
	at := func(s *Source) input {
		for i := range x.srcs {
			if x.srcs[i] == s {
				return ins[i]
			}
		}
		return input{}
	}
	x.g.Begin(&EpochInfo{Watermarks: func(s *Source) (Watermark, Watermark) { i := at(s); return i.before, i.after },
		Idle: func(s *Source) (bool, bool) { i := at(s); return i.idleB, i.idleA }}, func(*batch.Batch) error { return nil })
	if err := x.g.End(); err != nil {
		t.Fatal(err)
	}
	return x.op.ep.Before, x.op.ep.After
}

// TestIdle walks through the life of two inputs of which one falls silent, stays behind, and comes back.
func TestIdle(t *testing.T) {
	const none = NoWatermark
	steps := []struct {
		a, b          input
		before, after Watermark
		idle          bool
	}{
		{input{none, 100, false, false}, input{none, none, false, false}, none, none, false},
		{input{100, 100, false, false}, input{none, 10, false, false}, none, 10, false},
		{input{100, 100, false, false}, input{10, 10, false, true}, 10, 100, false},   // b falls silent
		{input{100, 200, false, false}, input{10, 10, true, true}, 100, 200, false},   // a goes on alone
		{input{200, 200, false, false}, input{10, 20, true, false}, 200, 200, false},  // b is back, and does not take it back
		{input{200, 300, false, false}, input{20, 20, false, false}, 200, 200, false}, // b holds it again
		{input{300, 300, false, true}, input{20, 20, false, true}, 200, 300, true},    // both silent: neither holds the other
		{input{300, 300, true, true}, input{20, 250, true, false}, 300, 300, false},
		{input{300, 300, true, true}, input{250, 400, false, false}, 300, 400, false},
	}
	x := newTwoInputs(PolicyMin, true, true)
	for i, s := range steps {
		b, a := x.run(t, s.a, s.b)
		if b != s.before || a != s.after || x.g.Idle() != s.idle {
			t.Errorf("step %d: %d to %d, idle %v; want %d to %d, %v", i, b, a, x.g.Idle(), s.before, s.after, s.idle)
		}
	}
	if b, a := x.g.SourceWatermark(); b != 300 || a != 400 {
		t.Errorf("the sources together: %d to %d", b, a)
	}
	// A graph that goes on elsewhere needs what was reached.
	y := newTwoInputs(PolicyMin, true, true)
	y.g.SetReached(x.g.Reached())
	if b, a := y.run(t, input{300, 300, false, false}, input{250, 400, false, false}); b != 400 || a != 400 {
		t.Errorf("after a restart: %d to %d", b, a)
	}
	y.g.SetReached(nil) // of another plan: ignored
}

// TestUndeclared: an input without a watermark counts for nothing, idle or not.
func TestUndeclared(t *testing.T) {
	x := newTwoInputs(PolicyMin, true, false)
	if b, a := x.run(t, input{5, 7, false, true}, input{0, 0, false, false}); b != 5 || a != 7 || !x.g.Idle() {
		t.Errorf("%d to %d, idle %v", b, a, x.g.Idle())
	}
}

// TestCombineReference compares random lives of three inputs with the definition.
func TestCombineReference(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	for round := range 200 {
		policy := Policy(rnd.IntN(2))
		x := newTwoInputs(policy, true, true, true)
		cur := []input{{NoWatermark, NoWatermark, false, false}, {NoWatermark, NoWatermark, false, false}, {NoWatermark, NoWatermark, false, false}}
		reached := NoWatermark
		for range 20 {
			for i := range cur {
				c := &cur[i]
				c.before, c.idleB = c.after, c.idleA
				c.idleA = rnd.IntN(3) == 0
				if !c.idleA && rnd.IntN(2) == 0 {
					c.after = max(c.after, 0) + Watermark(rnd.IntN(50))
				}
			}
			want := NoWatermark
			var live, all []Watermark
			for _, c := range cur {
				all = append(all, c.after)
				if !c.idleA {
					live = append(live, c.after)
				}
			}
			if policy == PolicyMin && len(live) > 0 {
				want = live[0]
				for _, w := range live {
					want = min(want, w)
				}
			} else {
				for _, w := range all {
					want = max(want, w)
				}
			}
			was := reached
			reached = max(reached, want)
			if b, a := x.run(t, cur...); b != was || a != reached {
				t.Fatalf("seed %d round %d: %d to %d, want %d to %d", seed, round, b, a, was, reached)
			}
		}
	}
}

// late is an operator that works off in EndEpoch what came before.
type late struct {
	pass
	part float64
}

func (l *late) Deferred() float64 { return l.part }

// TestDeferred: of the time that the end of an epoch takes, what input took that was kept until then counts as the input's.
func TestDeferred(t *testing.T) {
	op := &late{}
	g := NewGraph(PolicyMin)
	g.SetRoot(g.Add(op, 7, false, nil, g.AddSource(&Source{}, false)))
	for _, op.part = range []float64{0, 1} {
		g.Begin(&EpochInfo{Timed: true, Watermarks: func(*Source) (Watermark, Watermark) { return NoWatermark, NoWatermark },
			Idle: func(*Source) (bool, bool) { return false, false }}, func(*batch.Batch) error { return nil })
		if err := g.End(); err != nil {
			t.Fatal(err)
		}
		push, end := g.Times(7)
		if op.part == 0 && push != 0 || op.part == 1 && end != 0 {
			t.Errorf("part %v: input took %v, the end %v", op.part, push, end)
		}
	}
}

// TestLag has an operator that goes behind its watermark: what it judges by does, what it says to others does not.
func TestLag(t *testing.T) {
	g := NewGraph(PolicyMin)
	first, second := &pass{}, &pass{}
	h := g.Add(first, 1, true, nil, g.AddSource(&Source{}, true))
	g.SetLag(h, 2)
	g.SetRoot(g.Add(second, 0, true, nil, h))
	for _, at := range [][2]Watermark{{NoWatermark, 5000}, {5000, 5000}, {5000, 9000}} {
		g.Begin(&EpochInfo{Watermarks: func(*Source) (Watermark, Watermark) { return at[0], at[1] }}, func(*batch.Batch) error { return nil })
		if err := g.End(); err != nil {
			t.Fatal(err)
		}
		before := at[0] - 2
		if at[0] == NoWatermark {
			before = NoWatermark
		}
		if ep := first.ep; ep.Before != before || ep.After != at[1]-2 || ep.Lag != 2 {
			t.Errorf("at %v: it goes by %d to %d, behind by %d", at, ep.Before, ep.After, ep.Lag)
		}
		if ep := second.ep; ep.Before != at[0] || ep.After != at[1] || ep.Lag != 0 {
			t.Errorf("at %v: what follows goes by %d to %d, behind by %d", at, ep.Before, ep.After, ep.Lag)
		}
		if b, a := g.InputWatermark(1); b != at[0] || a != at[1] {
			t.Errorf("at %v: its watermark is shown as %d to %d", at, b, a)
		}
		if b, a := g.OutputWatermark(); b != at[0] || a != at[1] {
			t.Errorf("at %v: the output's is %d to %d", at, b, a)
		}
	}
}
