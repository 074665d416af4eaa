package join

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

var (
	i8     = types.Of(types.Int8)
	text   = types.Of(types.Text)
	sideTs = []types.Type{i8, i8, text} // key, value, name
	bothTs = append(append([]types.Type(nil), sideTs...), sideTs...)
)

// cond is a condition beyond the keys, as an expression and as what it means.
type cond struct {
	name string
	expr plan.Expr
	eval func(l, r optest.Row) bool
}

func less(a, b any) bool { return a != nil && b != nil && a.(int) < b.(int) }

var conds = []cond{
	{"none", nil, func(_, _ optest.Row) bool { return true }},
	{"mixed", optest.Op("<", optest.Col(bothTs, 1), optest.Col(bothTs, 4)), func(l, r optest.Row) bool { return less(l[1], r[1]) }},
	{"own left", optest.Op("<", optest.Const(i8, 3), optest.Col(bothTs, 1)), func(l, _ optest.Row) bool { return less(3, l[1]) }},
	{"own right and mixed", &plan.And{Args: []plan.Expr{optest.Op("<", optest.Col(bothTs, 4), optest.Const(i8, 7)),
		optest.Op("<", optest.Col(bothTs, 1), optest.Col(bothTs, 4))}},
		func(l, r optest.Row) bool { return less(r[1], 7) && less(l[1], r[1]) }},
}

// reference computes a join from the contents of both sides.
func reference(n *plan.Join, c cond, left, right []optest.Row) optest.ZSet {
	z := optest.ZSet{}
	null := optest.Row{nil, nil, nil}
	pair := func(l, r optest.Row) string { return optest.Print(bothTs, append(append(optest.Row{}, l...), r...)) }
	matches := func(l, r optest.Row) bool {
		if len(n.LeftKeys) > 0 {
			if l[0] == nil || r[0] == nil {
				if !(n.NullSafe[0] && l[0] == nil && r[0] == nil) {
					return false
				}
			} else if l[0] != r[0] {
				return false
			}
		}
		return c.eval(l, r)
	}
	rightMatched := make([]bool, len(right))
	for _, l := range left {
		any := false
		for j, r := range right {
			if !matches(l, r) {
				continue
			}
			any, rightMatched[j] = true, true
			if n.Kind < plan.Semi {
				z.Add(pair(l, r), 1)
			}
		}
		switch {
		case !any && (n.Kind == plan.Left || n.Kind == plan.Full):
			z.Add(pair(l, null), 1)
		case any && n.Kind == plan.Semi, !any && n.Kind == plan.Anti:
			z.Add(optest.Print(sideTs, l), 1)
		}
	}
	for j, r := range right {
		if !rightMatched[j] && (n.Kind == plan.Right || n.Kind == plan.Full) {
			z.Add(pair(null, r), 1)
		}
	}
	return z
}

func randomRow(rnd *rand.Rand) func() optest.Row {
	return func() optest.Row {
		r := optest.Row{rnd.Intn(4), rnd.Intn(10), string(rune('a' + rnd.Intn(3)))}
		if rnd.Intn(7) == 0 {
			r[0] = nil
		}
		if rnd.Intn(7) == 0 {
			r[1] = nil
		}
		return r
	}
}

func mustNew(t testing.TB, n *plan.Join, in dataflow.InputTypes) dataflow.Operator {
	t.Helper()
	op, err := New(n, in, table.NewTransient(), 0, &kernel.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func seeded(t *testing.T) *rand.Rand {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewSource(seed))
}

// shuffle mixes the changes of both ports; deletions may come before their insertions.
func shuffle(rnd *rand.Rand, cs []optest.Change) []optest.Change {
	rnd.Shuffle(len(cs), func(i, j int) { cs[i], cs[j] = cs[j], cs[i] })
	return cs
}

func equiJoin(kind plan.JoinKind, c cond, keys, nullSafe bool) *plan.Join {
	n := &plan.Join{Kind: kind, Residual: c.expr, KeyTime: -1, LeftTime: -1, RightTime: -1, Mode: catalog.Update,
		Left: optest.Input(sideTs, false), Right: optest.Input(sideTs, false)}
	if keys {
		n.LeftKeys, n.RightKeys = []plan.Expr{optest.Col(sideTs, 0)}, []plan.Expr{optest.Col(sideTs, 0)}
		n.NullSafe = []bool{nullSafe}
	}
	return n
}

// TestMaintained compares every kind of join with the reference after every epoch of random changes, and a SELECT over
// the final contents with it too.
func TestMaintained(t *testing.T) {
	rnd := seeded(t)
	in := dataflow.InputTypes{sideTs, sideTs}
	for kind := plan.Inner; kind <= plan.Anti; kind++ {
		for _, c := range conds {
			for _, shape := range [][2]bool{{true, false}, {true, true}, {false, false}} {
				t.Run(fmt.Sprint(kind, c.name, shape), func(t *testing.T) {
					n := equiJoin(kind, c, shape[0], shape[1])
					op := mustNew(t, n, in)
					r := optest.New(t, op, in, rnd)
					var have [2][]optest.Row
					for e := 0; e < 12; e++ {
						cs := optest.Changes(rnd, 0, rnd.Intn(8), &have[0], randomRow(rnd), true)
						cs = append(cs, optest.Changes(rnd, 1, rnd.Intn(8), &have[1], randomRow(rnd), true)...)
						if err := r.Epoch(shuffle(rnd, cs), dataflow.NoWatermark, 0); err != nil {
							t.Fatal(err)
						}
						optest.Equal(t, fmt.Sprintf("epoch %d, left %v, right %v", e, have[0], have[1]), r.Total, reference(n, c, have[0], have[1]))
					}
					for _, appendOnly := range []bool{false, true} {
						n.Left, n.Right = optest.Input(sideTs, appendOnly), optest.Input(sideTs, appendOnly)
						final := optest.New(t, mustNew(t, n, in), in, rnd)
						final.Final = true
						if err := final.Epoch(shuffle(rnd, contents(have)), dataflow.NoWatermark, 0); err != nil {
							t.Fatal(err)
						}
						optest.Equal(t, "SELECT", final.Total, r.Total)
						if final.Negative {
							t.Fatal("a SELECT took a row back")
						}
					}
				})
			}
		}
	}
}

// contents inserts the rows of both sides.
func contents(have [2][]optest.Row) (cs []optest.Change) {
	for p := range have {
		for _, row := range have[p] {
			cs = append(cs, optest.Change{Port: p, Row: row, W: 1})
		}
	}
	return cs
}
