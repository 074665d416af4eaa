package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

func (x *exprBinder) array(n *ast.ArrayExpr) plan.Expr { return x.arrayOf(n, nil) }

// arrayOf binds ARRAY[...]; want is the type that a cast around it gives.
func (x *exprBinder) arrayOf(n *ast.ArrayExpr, want *types.Type) plan.Expr {
	out := &plan.ArrayCtor{}
	if len(n.Elems) == 0 {
		if want == nil {
			fail(sqlerr.New(sqlerr.IndeterminateDatatype, "cannot determine type of empty array").
				WithHint("Explicitly cast to the desired type, for example ARRAY[]::integer[].").At(int(n.At)))
		}
		out.Typ = want.NoMod()
		return out
	}
	var es []plan.Expr
	var pos []ast.Pos
	for _, a := range n.Elems {
		if sub, ok := a.(*ast.ArrayExpr); ok {
			es = append(es, x.arrayOf(sub, want))
		} else {
			e := x.bind(a)
			if want != nil && isUnknown(e.Type()) {
				e = x.b.cast(e, want.ElemType(), fn.Explicit, loc(a))
			}
			es = append(es, e)
		}
		pos = append(pos, loc(a))
	}
	es, t := x.b.unify("ARRAY", es, pos)
	out.Elems, out.Typ = es, types.ArrayOf(t)
	if out.Typ.OID() == 0 {
		failAt(n.At, sqlerr.UndefinedObject, "could not find array type for data type %s", t)
	}
	return out
}

func (x *exprBinder) subscript(n *ast.Subscript) plan.Expr {
	if inner, ok := n.X.(*ast.Subscript); ok && !n.Slice && !inner.Slice {
		if t := x.bind(inner.X).Type(); t.Kind == types.Array {
			unsupported(n.At, "subscripts of several dimensions are not supported")
		}
	}
	a := x.bind(n.X)
	t := a.Type()
	if t.Kind == types.JSONB && !n.Slice {
		return x.b.operator("->", a, x.bind(n.Lo), n.At)
	}
	if t.Kind != types.Array && t.Kind != types.Int2Vector {
		failAt(loc(n.X), sqlerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", t)
	}
	index := func(e ast.Expr) plan.Expr {
		if e == nil {
			return &plan.Const{Val: types.NullDatum, Typ: int4Type}
		}
		return x.b.cast(x.bind(e), int4Type, fn.Assignment, loc(e))
	}
	if n.Slice {
		return x.b.call("array_slice", []plan.Expr{a, index(n.Lo), index(n.Hi)}, n.At, fn.Scalar)
	}
	return &plan.Subscript{X: a, Index: index(n.Lo), Typ: t.ElemType()}
}
