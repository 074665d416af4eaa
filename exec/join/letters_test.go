package join

import (
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// TestPairLetters: a pair for which the condition fails is a dead letter that goes when one of its rows goes, whichever side that is on.
func TestPairLetters(t *testing.T) {
	in := dataflow.InputTypes{sideTs, sideTs}
	ratio := optest.Op("/", optest.Col(bothTs, 1), optest.Col(bothTs, 4))
	n := equiJoin(plan.Left, cond{expr: optest.Op("<", ratio, optest.Const(i8, 5))}, true, false)
	r := optest.New(t, mustNew(t, n, in), in, nil)
	l1, l2 := optest.Row{1, 8, "l"}, optest.Row{1, 9, "l"}
	zero, four := optest.Row{1, 0, "r"}, optest.Row{1, 4, "r"}
	for i, s := range []struct {
		cs        []optest.Change
		out, dead string
	}{
		{[]optest.Change{{Port: 0, Row: l1, W: 1}, {Port: 1, Row: zero, W: 1}, {Port: 1, Row: four, W: 1}}, "1|8|l|1|4|r x1\n", "22012 1|8|l|1|0|r x1\n"},
		{[]optest.Change{{Port: 0, Row: l2, W: 2}}, "1|8|l|1|4|r x1\n1|9|l|1|4|r x2\n", "22012 1|8|l|1|0|r x1\n22012 1|9|l|1|0|r x2\n"},
		{[]optest.Change{{Port: 0, Row: l1, W: -1}}, "1|9|l|1|4|r x2\n", "22012 1|9|l|1|0|r x2\n"},
		{[]optest.Change{{Port: 1, Row: four, W: -1}}, "1|9|l|NULL|NULL|NULL x2\n", "22012 1|9|l|1|0|r x2\n"},
		{[]optest.Change{{Port: 1, Row: zero, W: -1}}, "1|9|l|NULL|NULL|NULL x2\n", ""},
	} {
		if err := r.Epoch(s.cs, dataflow.NoWatermark, 0); err != nil {
			t.Fatal(err)
		}
		if r.Total.String() != s.out || r.Letters.String() != s.dead {
			t.Fatalf("step %d:\n%s%s", i, r.Total, r.Letters)
		}
	}
	final := optest.New(t, mustNew(t, n, in), in, nil)
	final.Final = true
	err := final.Epoch([]optest.Change{{Port: 0, Row: l1, W: 1}, {Port: 1, Row: zero, W: 1}}, dataflow.NoWatermark, 0)
	if sqlerr.CodeOf(err) != sqlerr.DivisionByZero {
		t.Fatal(err)
	}
}
