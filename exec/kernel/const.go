package kernel

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// EvalConst evaluates an expression without columns. The result owns its memory.
func EvalConst(e plan.Expr, env *Env) (types.Datum, error) {
	if c, ok := e.(*plan.Const); ok {
		return c.Val, nil
	}
	k, err := Compile(e, nil)
	if err != nil {
		return types.NullDatum, err
	}
	v, errs := k.Eval(env, &batch.Batch{N: 1}, nil)
	if len(errs) > 0 {
		return types.NullDatum, errs[0].Err
	}
	return v.Datum(0).Clone(), nil
}

// Fold replaces what does not depend on rows, session or time by constants. What would fail is left as it is, so
// that it fails at run time, if it is reached.
func Fold(e plan.Expr) plan.Expr { return plan.Rewrite(e, foldNode) }

func constOf(e plan.Expr) (*plan.Const, bool) {
	c, ok := e.(*plan.Const)
	return c, ok
}

func isTrue(e plan.Expr) bool {
	c, ok := constOf(e)
	return ok && !c.Val.Null && c.Val.I != 0
}

func isFalse(e plan.Expr) bool {
	c, ok := constOf(e)
	return ok && !c.Val.Null && c.Val.I == 0
}

func foldNode(e plan.Expr) plan.Expr {
	switch x := e.(type) {
	case *plan.Col, *plan.Const, *plan.Param, *plan.Now, *lateParam:
		return e
	case *plan.And:
		return foldLogic(e, x.Args, isTrue, isFalse, func(a []plan.Expr) plan.Expr { return &plan.And{Args: a} })
	case *plan.Or:
		return foldLogic(e, x.Args, isFalse, isTrue, func(a []plan.Expr) plan.Expr { return &plan.Or{Args: a} })
	case *plan.Case:
		return foldCase(x)
	case *plan.Coalesce:
		return foldCoalesce(x)
	case *plan.Call:
		if x.Fn.Session || x.Fn.Volatility != fn.Immutable {
			return e
		}
		if x.Fn.Strict && anyNull(x.Args) {
			return &plan.Const{Val: types.NullDatum, Typ: x.Typ}
		}
	}
	for _, c := range plan.Children(e) {
		if _, ok := constOf(c); !ok {
			return e
		}
	}
	d, err := EvalConst(e, nil)
	if err != nil {
		return e
	}
	return &plan.Const{Val: d, Typ: e.Type()}
}

func anyNull(args []plan.Expr) bool {
	for _, a := range args {
		if c, ok := constOf(a); ok && c.Val.Null {
			return true
		}
	}
	return false
}

// foldLogic drops operands that decide nothing; one that decides everything is the result.
func foldLogic(e plan.Expr, args []plan.Expr, neutral, deciding func(plan.Expr) bool, make func([]plan.Expr) plan.Expr) plan.Expr {
	var kept []plan.Expr
	for _, a := range args {
		if deciding(a) {
			return a
		}
		if !neutral(a) {
			kept = append(kept, a)
		}
	}
	switch {
	case len(kept) == 0 && len(args) > 0:
		return args[0]
	case len(kept) == 1:
		return kept[0]
	case len(kept) == len(args):
		return e
	}
	return make(kept)
}

func foldCase(x *plan.Case) plan.Expr {
	var whens []plan.When
	for _, w := range x.Whens {
		c, ok := constOf(w.Cond)
		switch {
		case !ok:
			whens = append(whens, w)
		case !c.Val.Null && c.Val.I != 0:
			if len(whens) == 0 {
				return w.Then
			}
			return &plan.Case{Whens: whens, Else: w.Then, Typ: x.Typ}
		}
	}
	if len(whens) == 0 {
		return x.Else
	}
	return &plan.Case{Whens: whens, Else: x.Else, Typ: x.Typ}
}

func foldCoalesce(x *plan.Coalesce) plan.Expr {
	var kept []plan.Expr
	for _, a := range x.Args {
		c, ok := constOf(a)
		if ok && c.Val.Null {
			continue
		}
		kept = append(kept, a)
		if ok {
			break
		}
	}
	switch len(kept) {
	case 0:
		return &plan.Const{Val: types.NullDatum, Typ: x.Typ}
	case 1:
		return kept[0]
	}
	return &plan.Coalesce{Args: kept, Typ: x.Typ}
}

// errNotSet is for set-returning functions that are not built.
func errNotSet(sig string) error {
	return sqlerr.Unsupported("set-returning function %s is not supported", sig)
}
