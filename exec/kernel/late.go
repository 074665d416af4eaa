package kernel

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// lateParam is a parameter whose value comes from the Env of each evaluation.
type lateParam struct {
	n   int // from 1
	typ types.Type
}

// Type implements plan.Expr.
func (e *lateParam) Type() types.Type { return e.typ }

// Late gives e with its parameters taken from Env.Params at each evaluation, so that a kernel can be used with one set of values
// after another. What is compiled for constants (patterns, formats) is then computed for each batch: for many
// rows it is better to put the values in and compile again.
func Late(e plan.Expr) plan.Expr {
	return plan.Rewrite(e, func(x plan.Expr) plan.Expr {
		if p, ok := x.(*plan.Param); ok {
			return &lateParam{p.N, p.Typ}
		}
		return x
	})
}

// lateNode gives a parameter's value.
type lateNode struct {
	n   int
	typ types.Type
	out *batch.Vector
}

func (n *lateNode) eval(c *ctx, _ []int32) operand {
	v := types.NullDatum
	if n.n <= len(c.env.Params) {
		v = c.env.Params[n.n-1]
	}
	n.out.Reset(n.typ)
	n.out.AppendDatum(v)
	return operand{v: n.out, con: true}
}
