package setop

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

var ts = []types.Type{types.Of(types.Int8), types.Of(types.Text)}

func reference(n *plan.SetOp, left, right []optest.Row) optest.ZSet {
	l, r, z := optest.ZSet{}, optest.ZSet{}, optest.ZSet{}
	for _, x := range left {
		l.Add(optest.Print(ts, x), 1)
	}
	for _, x := range right {
		r.Add(optest.Print(ts, x), 1)
	}
	for row, w := range l {
		switch {
		case n.Except && n.All:
			w = max(0, w-r[row])
		case n.Except:
			w = 1
			if r[row] > 0 {
				w = 0
			}
		case n.All:
			w = min(w, r[row])
		default:
			w = min(1, r[row])
		}
		z.Add(row, w)
	}
	return z
}

func TestSetOp(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	in := dataflow.InputTypes{ts, ts}
	gen := func() optest.Row {
		r := optest.Row{rnd.Intn(3), string(rune('a' + rnd.Intn(3)))}
		if rnd.Intn(5) == 0 {
			r[rnd.Intn(2)] = nil
		}
		return r
	}
	for _, n := range []*plan.SetOp{{}, {All: true}, {Except: true}, {Except: true, All: true}} {
		t.Run(fmt.Sprintf("except %t all %t", n.Except, n.All), func(t *testing.T) {
			op, err := New(n, in, table.NewTransient(), 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := optest.New(t, op, in, rnd)
			var have [2][]optest.Row
			for e := 0; e < 40; e++ {
				cs := optest.Changes(rnd, 0, rnd.Intn(10), &have[0], gen, true)
				cs = append(cs, optest.Changes(rnd, 1, rnd.Intn(10), &have[1], gen, true)...)
				rnd.Shuffle(len(cs), func(i, j int) { cs[i], cs[j] = cs[j], cs[i] })
				if err := r.Epoch(cs, dataflow.NoWatermark, 0); err != nil {
					t.Fatal(err)
				}
				optest.Equal(t, fmt.Sprintf("epoch %d", e), r.Total, reference(n, have[0], have[1]))
			}
		})
	}
}

// TestEqualButNotSame: numerics that are equal are one row; the left side's comes out, and another of its variants when that goes.
func TestEqualButNotSame(t *testing.T) {
	num := []types.Type{types.Of(types.Numeric)}
	in := dataflow.InputTypes{num, num}
	row := func(s string) optest.Row {
		n, err := types.NumParse(s)
		if err != nil {
			t.Fatal(err)
		}
		return optest.Row{n.Datum()}
	}
	op, _ := New(&plan.SetOp{}, in, table.NewTransient(), 0, nil)
	r := optest.New(t, op, in, nil)
	for i, s := range []struct {
		cs   []optest.Change
		want string
	}{
		{[]optest.Change{{Port: 0, Row: row("1.0"), W: 1}, {Port: 0, Row: row("1.00"), W: 1}}, ""},
		{[]optest.Change{{Port: 1, Row: row("1"), W: 1}}, "1.0 x1\n"},
		{[]optest.Change{{Port: 0, Row: row("1.0"), W: -1}}, "1.00 x1\n"},
		{[]optest.Change{{Port: 1, Row: row("1"), W: -1}}, ""},
	} {
		if err := r.Epoch(s.cs, dataflow.NoWatermark, 0); err != nil {
			t.Fatal(err)
		}
		if r.Total.String() != s.want {
			t.Fatalf("step %d: %q, want %q", i, r.Total, s.want)
		}
	}
}
