package join

import (
	"fmt"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestSpan compares maintained joins whose condition is random comparisons of times with what the comparisons say.
func TestSpan(t *testing.T) {
	rnd := seeded(t)
	in := dataflow.InputTypes{timedTs, timedTs}
	add := func(t, off int64) int64 {
		if types.IsFiniteTime(t) {
			return t + off
		}
		return t
	}
	for round := 0; round < 150; round++ {
		type comparison struct {
			op          string
			swap, minus bool
			off         int64
		}
		var cs []comparison
		var exprs []plan.Expr
		desc := ""
		for k := 1 + rnd.Intn(3); k > 0; k-- {
			c := comparison{[]string{"<", "<=", ">", ">=", "=", "<>"}[rnd.Intn(6)], rnd.Intn(2) == 0, rnd.Intn(2) == 0, int64(rnd.Intn(7)-3) * second}
			l, r := optest.Col(timedTs2, 1), optest.Col(timedTs2, 3)
			a, b := l, optest.Op("+", r, interval(c.off))
			if c.minus {
				b = optest.Op("-", r, interval(-c.off))
			}
			if c.swap {
				a, b = b, a
			}
			cs, exprs = append(cs, c), append(exprs, optest.Op(c.op, a, b))
			desc += fmt.Sprintf(" %+v", c)
		}
		holds := func(l, r optest.Row) bool {
			if l[0] == nil || l[0] != r[0] || l[1] == nil || r[1] == nil {
				return false
			}
			for _, c := range cs {
				a, b := l[1].(int64), add(r[1].(int64), c.off)
				if c.swap {
					a, b = b, a
				}
				if !map[string]bool{"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "=": a == b, "<>": a != b}[c.op] {
					return false
				}
			}
			return true
		}
		j := &timed{n: plan.Join{Kind: plan.JoinKind(rnd.Intn(6)), LeftKeys: []plan.Expr{optest.Col(timedTs, 0)}, RightKeys: []plan.Expr{optest.Col(timedTs, 0)},
			NullSafe: []bool{false}, Residual: and(exprs), KeyTime: -1, LeftTime: -1, RightTime: -1, Mode: catalog.Update,
			Left: optest.Input(timedTs, false), Right: optest.Input(timedTs, false)}, matches: holds}
		r := optest.New(t, mustNew(t, &j.n, in), in, rnd)
		gen := func() optest.Row {
			row := optest.Row{rnd.Intn(2), int64(rnd.Intn(8)) * second}
			switch rnd.Intn(12) {
			case 0:
				row[1] = nil
			case 1:
				row[1] = types.Infinity
			case 2:
				row[1] = types.NegInfinity
			}
			return row
		}
		var have [2][]optest.Row
		for e := 0; e < 6; e++ {
			changes := optest.Changes(rnd, 0, rnd.Intn(8), &have[0], gen, true)
			changes = append(changes, optest.Changes(rnd, 1, rnd.Intn(8), &have[1], gen, true)...)
			if err := r.Epoch(shuffle(rnd, changes), dataflow.NoWatermark, 0); err != nil {
				t.Fatal(err)
			}
			optest.Equal(t, fmt.Sprintf("round %d epoch %d %v:%s\n%v\n%v", round, e, j.n.Kind, desc, have[0], have[1]), r.Total, j.show(have))
		}
	}
}

// show is contents without a watermark.
func (j *timed) show(have [2][]optest.Row) optest.ZSet {
	z, _ := j.contents(have, dataflow.NoWatermark)
	return z
}
