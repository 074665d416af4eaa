package optest

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Leaf is a plan node that stands for an operator's input.
type Leaf struct{ plan.Base }

// Inputs implements plan.Node.
func (*Leaf) Inputs() []plan.Node { return nil }

// Input makes a leaf with columns of the given types.
func Input(ts []types.Type, appendOnly bool) *Leaf {
	l := &Leaf{}
	for _, t := range ts {
		l.P.Columns = append(l.P.Columns, plan.Column{Type: t})
	}
	l.P.AppendOnly = appendOnly
	return l
}

// Base makes the properties of a node with columns of the given types.
func Base(ts []types.Type) plan.Base { return Input(ts, false).Base }

// Col is a reference to column i of the types ts.
func Col(ts []types.Type, i int) plan.Expr { return &plan.Col{Index: i, Typ: ts[i]} }

// Const is a constant of a type.
func Const(t types.Type, x any) plan.Expr { return &plan.Const{Val: Datum(x), Typ: t} }

// Op is an operator applied to two operands of equal types.
func Op(op string, a, b plan.Expr) plan.Expr {
	for _, f := range fn.LookupOperator(op) {
		if len(f.Args) == 2 && f.Args[0].Same(a.Type()) && f.Args[1].Same(b.Type()) {
			return &plan.Call{Fn: f, Args: []plan.Expr{a, b}, Typ: f.Result, Pos: -1}
		}
	}
	panic("optest: no operator " + op + " for " + a.Type().String() + " and " + b.Type().String())
}
