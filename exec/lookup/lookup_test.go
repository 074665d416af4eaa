package lookup

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

var (
	i8   = types.Of(types.Int8)
	in   = []types.Type{i8, i8} // key, payload
	both = []types.Type{i8, i8, i8, i8}
)

// TestAgainstDefinition compares the output of every epoch with: each left row of the epoch, with each right row that is there at its end
// and satisfies the condition; of an outer lookup, with NULLs where there is none.
func TestAgainstDefinition(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	for round := int64(0); round < 60; round++ {
		rnd := rand.New(rand.NewSource(seed + round))
		n := &plan.Lookup{Outer: rnd.Intn(2) == 0, LeftKeys: []plan.Expr{optest.Col(in, 0)}, RightKeys: []plan.Expr{optest.Col(in, 0)},
			NullSafe: []bool{rnd.Intn(2) == 0}}
		residual := rnd.Intn(2) == 0
		if residual {
			n.Residual = optest.Op("<", optest.Col(both, 1), optest.Col(both, 3))
		}
		op, err := New(n, dataflow.InputTypes{in, in}, table.NewTransient(), 0, &kernel.Env{})
		if err != nil {
			t.Fatal(err)
		}
		r := optest.New(t, op, dataflow.InputTypes{in, in}, rnd)
		matches := func(l, x optest.Row) bool {
			return l[0] == x[0] && (l[0] != nil || n.NullSafe[0]) && (!residual || l[1].(int) < x[1].(int))
		}
		row := func() optest.Row {
			if rnd.Intn(8) == 0 {
				return optest.Row{nil, rnd.Intn(4)}
			}
			return optest.Row{rnd.Intn(3), rnd.Intn(4)}
		}
		var left, right []optest.Row
		for e := 0; e < 12; e++ {
			left = nil
			cs := optest.Changes(rnd, 0, rnd.Intn(5), &left, row, false)
			cs = append(cs, optest.Changes(rnd, 1, rnd.Intn(6), &right, row, true)...)
			rnd.Shuffle(len(cs), func(i, j int) { cs[i], cs[j] = cs[j], cs[i] })
			if err := r.Epoch(cs, dataflow.NoWatermark, 0); err != nil {
				t.Fatal(err)
			}
			want := optest.ZSet{}
			for _, l := range left {
				found := false
				for _, x := range right {
					if matches(l, x) {
						found = true
						want.Add(optest.Print(both, append(append(optest.Row{}, l...), x...)), 1)
					}
				}
				if !found && n.Outer {
					want.Add(optest.Print(both, append(append(optest.Row{}, l...), nil, nil)), 1)
				}
			}
			optest.Equal(t, fmt.Sprintf("seed %d epoch %d", seed+round, e), r.Delta, want)
		}
	}
}

func TestRowsThatFailAreLetters(t *testing.T) {
	div := optest.Op("=", optest.Op("/", optest.Col(both, 1), optest.Col(both, 3)), optest.Const(i8, 1))
	n := &plan.Lookup{Outer: true, LeftKeys: []plan.Expr{optest.Col(in, 0)}, RightKeys: []plan.Expr{optest.Col(in, 0)}, NullSafe: []bool{false}, Residual: div}
	op, err := New(n, dataflow.InputTypes{in, in}, table.NewTransient(), 0, &kernel.Env{})
	if err != nil {
		t.Fatal(err)
	}
	r := optest.New(t, op, dataflow.InputTypes{in, in}, nil)
	cs := []optest.Change{{Port: 0, Row: optest.Row{1, 5}, W: 1}, {Port: 1, Row: optest.Row{1, 0}, W: 1}, {Port: 1, Row: optest.Row{1, 5}, W: 1}}
	if err := r.Epoch(cs, dataflow.NoWatermark, 0); err != nil {
		t.Fatal(err)
	}
	optest.Equal(t, "letters", r.Letters, optest.ZSet{"22012 1|5|1|0": 1})
	optest.Equal(t, "rows", r.Total, optest.ZSet{"1|5|1|5": 1})
}
