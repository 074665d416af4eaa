package join

import (
	"fmt"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// notIn is SQL's l.key NOT IN (SELECT r.key FROM right WHERE cond), row by row.
func notIn(keys int, nullSafe bool, c cond, left, right []optest.Row) optest.ZSet {
	z := optest.ZSet{}
	for _, l := range left {
		in := true
		for _, r := range right {
			different := false
			for k := 0; k < keys; k++ {
				if l[k] == nil || r[k] == nil {
					different = different || nullSafe && (l[k] == nil) != (r[k] == nil)
				} else if l[k] != r[k] {
					different = true
				}
			}
			if !different && c.eval(l, r) {
				in = false
			}
		}
		if in {
			z.Add(optest.Print(sideTs, l), 1)
		}
	}
	return z
}

func TestNotIn(t *testing.T) {
	rnd := seeded(t)
	in := dataflow.InputTypes{sideTs, sideTs}
	for _, c := range conds[:2] {
		for _, keys := range []int{1, 2} {
			for _, nullSafe := range []bool{false, true} {
				t.Run(fmt.Sprint(c.name, keys, nullSafe), func(t *testing.T) {
					n := &plan.Join{Kind: plan.Anti, NullAware: true, Residual: c.expr, KeyTime: -1, LeftTime: -1, RightTime: -1}
					for k := 0; k < keys; k++ {
						n.LeftKeys, n.NullSafe = append(n.LeftKeys, optest.Col(sideTs, k)), append(n.NullSafe, nullSafe)
					}
					n.RightKeys = n.LeftKeys
					r := optest.New(t, mustNew(t, n, in), in, rnd)
					var have [2][]optest.Row
					for e := 0; e < 40; e++ {
						cs := optest.Changes(rnd, 0, rnd.Intn(4), &have[0], randomRow(rnd), true)
						cs = append(cs, optest.Changes(rnd, 1, rnd.Intn(3), &have[1], randomRow(rnd), true)...)
						for len(have[1]) > 4 { // keep the right side small, so that it is empty and without NULLs now and then
							cs = append(cs, optest.Change{Port: 1, Row: have[1][0], W: -1})
							have[1] = have[1][1:]
						}
						if e%7 == 6 {
							for ; len(have[1]) > 0; have[1] = have[1][1:] {
								cs = append(cs, optest.Change{Port: 1, Row: have[1][0], W: -1})
							}
						}
						if err := r.Epoch(shuffle(rnd, cs), dataflow.NoWatermark, 0); err != nil {
							t.Fatal(err)
						}
						optest.Equal(t, fmt.Sprintf("epoch %d, right %v", e, have[1]), r.Total, notIn(keys, nullSafe, c, have[0], have[1]))
					}
				})
			}
		}
	}
}

// TestScalar: a left row with two matches is a dead letter until one of them goes.
func TestScalar(t *testing.T) {
	rnd := seeded(t)
	in := dataflow.InputTypes{sideTs, sideTs}
	for _, c := range conds[:2] {
		for _, keys := range []bool{true, false} {
			t.Run(fmt.Sprint(c.name, keys), func(t *testing.T) {
				n := equiJoin(plan.Left, c, keys, false)
				n.Single = true
				r := optest.New(t, mustNew(t, n, in), in, rnd)
				var have [2][]optest.Row
				for e := 0; e < 30; e++ {
					cs := optest.Changes(rnd, 0, rnd.Intn(5), &have[0], randomRow(rnd), true)
					cs = append(cs, optest.Changes(rnd, 1, rnd.Intn(3), &have[1], randomRow(rnd), true)...)
					for len(have[1]) > 4 || !keys && len(have[1]) > 1 {
						cs = append(cs, optest.Change{Port: 1, Row: have[1][0], W: -1})
						have[1] = have[1][1:]
					}
					if err := r.Epoch(shuffle(rnd, cs), dataflow.NoWatermark, 0); err != nil {
						t.Fatal(err)
					}
					want, letters := optest.ZSet{}, optest.ZSet{}
					for _, l := range have[0] {
						one := reference(n, c, []optest.Row{l}, have[1])
						if total := weight(one); total > 1 {
							letters.Add(string(sqlerr.CardinalityViolation)+" "+optest.Print(sideTs, l), 1)
							continue
						}
						for row, w := range one {
							want.Add(row, w)
						}
					}
					optest.Equal(t, fmt.Sprintf("epoch %d", e), r.Total, want)
					optest.Equal(t, "letters", r.Letters, letters)
				}
			})
		}
	}
	op := mustNew(t, &plan.Join{Kind: plan.Left, Single: true, KeyTime: -1, LeftTime: -1, RightTime: -1}, in)
	r := optest.New(t, op, in, nil)
	r.Final = true
	row := optest.Row{1, 2, "x"}
	err := r.Epoch([]optest.Change{{Port: 0, Row: row, W: 1}, {Port: 1, Row: row, W: 2}}, dataflow.NoWatermark, 0)
	if sqlerr.CodeOf(err) != sqlerr.CardinalityViolation || err.Error() != moreThanOneRow {
		t.Fatalf("a SELECT gave %v", err)
	}
}

func weight(z optest.ZSet) (n int64) {
	for _, w := range z {
		n += w
	}
	return n
}
