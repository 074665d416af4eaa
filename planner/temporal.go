package planner

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// temporal reads a conjunct of WHERE in a view as time OP now() + offset; nil if it is something else. Such a condition
// changes its answer as time passes, so it is an operator of its own.
func (b *binder) temporal(c plan.Expr) *plan.TemporalFilter {
	if !b.view() || !has(c, isNow) {
		return nil
	}
	call, op := isOp(c, "<", "<=", ">", ">=")
	if call == nil {
		return nil
	}
	t, n := call.Args[0], call.Args[1]
	if has(t, isNow) {
		t, n = n, t
		op = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
	}
	off, ok := nowOffset(n)
	if !ok || has(t, isNow) || hasSubquery(t) || constExpr(t) || !t.Type().Kind.IsTime() {
		return nil
	}
	return &plan.TemporalFilter{Time: t, Op: op, Offset: off}
}

func isNow(e plan.Expr) bool {
	_, ok := e.(*plan.Now)
	return ok
}

// nowOffset reads now(), cast between timestamp types, plus or minus constant intervals.
func nowOffset(e plan.Expr) (types.Datum, bool) {
	switch x := e.(type) {
	case *plan.Now:
		return types.Datum{}, true
	case *plan.Call:
		if x.Fn.Name == "cast" && len(x.Args) == 1 && (x.Typ.Kind == types.Timestamp || x.Typ.Kind == types.TimestampTZ) && x.Typ.Mod == 0 {
			return nowOffset(x.Args[0])
		}
		call, op := isOp(x, "+", "-")
		if call == nil || len(call.Args) != 2 {
			return types.Datum{}, false
		}
		base, iv := call.Args[0], call.Args[1]
		if op == "+" && has(iv, isNow) {
			base, iv = iv, base
		}
		off, ok := nowOffset(base)
		c, isConst := iv.(*plan.Const)
		if !ok || !isConst || c.Typ.Kind != types.Interval || c.Val.Null {
			return types.Datum{}, false
		}
		return addIntervals(off, c.Val, op == "-"), true
	}
	return types.Datum{}, false
}

func addIntervals(a, b types.Datum, minus bool) types.Datum {
	am, ad, au := types.IntervalParts(a.I, a.J)
	bm, bd, bu := types.IntervalParts(b.I, b.J)
	if minus {
		bm, bd, bu = -bm, -bd, -bu
	}
	return types.IntervalDatum(am+bm, ad+bd, au+bu)
}
