package kernel

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

func compile(e plan.Expr, in []types.Type) (node, error) {
	switch x := e.(type) {
	case *plan.Col:
		if x.Index < 0 || x.Index >= len(in) {
			return nil, sqlerr.New(sqlerr.InternalError, "column %d is out of range of an input of %d columns", x.Index, len(in))
		}
		return &colNode{index: x.Index}, nil
	case *plan.Const:
		return newConst(x.Typ, x.Val), nil
	case *plan.Param:
		return nil, sqlerr.New(sqlerr.InternalError, "parameter $%d was not bound", x.N)
	case *lateParam:
		return &lateNode{n: x.n, typ: x.typ, out: batch.NewVector(x.typ, 1)}, nil
	case *plan.Now:
		return &nowNode{typ: x.Typ, out: batch.NewVector(x.Typ, 1)}, nil
	}
	kids, err := compileAll(plan.Children(e), in)
	if err != nil {
		return nil, err
	}
	switch x := e.(type) {
	case *plan.Call:
		return compileCall(x.Fn, kids, typesOf(x.Args), x.Typ)
	case *plan.And:
		return &andNode{args: kids, fixed: newFixed(x.Type())}, nil
	case *plan.Or:
		return &andNode{args: kids, or: true, fixed: newFixed(x.Type())}, nil
	case *plan.Not:
		return &notNode{x: kids[0], fixed: newFixed(x.Type())}, nil
	case *plan.IsNull:
		return &isNullNode{x: kids[0], not: x.Not, fixed: newFixed(x.Type())}, nil
	case *plan.IsBool:
		return &isBoolNode{x: kids[0], what: x.What, not: x.Not, fixed: newFixed(x.Type())}, nil
	case *plan.IsDistinct:
		return &distinctNode{l: kids[0], r: kids[1], not: x.Not, typ: x.L.Type(), fixed: newFixed(x.Type())}, nil
	case *plan.Case:
		return newCase(kids, x.Typ), nil
	case *plan.Coalesce:
		if len(kids) == 1 { // a value under another type
			return kids[0], nil
		}
		return &coalesceNode{args: kids, merger: newMerger(x.Typ)}, nil
	case *plan.InList:
		return newInList(kids[0], x), nil
	case *plan.Quantified:
		return newQuantified(kids, x)
	case *plan.ArrayCtor:
		return newArrayCtor(kids, x), nil
	case *plan.Subscript:
		if x.X.Type().Kind == types.Record {
			return newCall(recordFieldImpl, kids, []types.Type{x.X.Type(), x.Index.Type()}, x.Typ, true, false), nil
		}
		return newCall(subscriptImpl, kids, []types.Type{x.X.Type(), x.Index.Type()}, x.Typ, true, false), nil
	case *plan.WindowField:
		return &windowFieldNode{x: kids[0], end: x.End, out: batch.NewVector(x.Type(), 0)}, nil
	case *plan.RowCtor:
		return newCall(rowCtorImpl(x.Names), kids, typesOf(x.Args), x.Type(), false, false), nil
	}
	return nil, sqlerr.New(sqlerr.InternalError, "expression %T cannot be compiled", e)
}

func compileAll(es []plan.Expr, in []types.Type) ([]node, error) {
	out := make([]node, len(es))
	for i, e := range es {
		n, err := compile(e, in)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func typesOf(es []plan.Expr) []types.Type {
	out := make([]types.Type, len(es))
	for i, e := range es {
		out[i] = e.Type()
	}
	return out
}

// compileCall finds the implementation of f for those arguments.
func compileCall(f *fn.Func, args []node, argTypes []types.Type, typ types.Type) (node, error) {
	if f.Class == fn.Operator && len(args) == 2 {
		if n := newLike(f.Name, args, argTypes[0]); n != nil {
			return n, nil
		}
	}
	im, err := lookup(f, argTypes, typ)
	if err != nil {
		return nil, err
	}
	if im.vec != nil {
		return newVec(im, args, argTypes, typ), nil
	}
	return newCall(im, args, argTypes, typ, f.Strict, f.Volatility == fn.Volatile), nil
}
