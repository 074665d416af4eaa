package planner

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
)

// pushdown moves filters towards the scans. preds are over n's output; the result has them applied. A stream's watermark
// is a property of the stream, before any filter, so that no filter moves it, wherever it stands.
func (b *binder) pushdown(n plan.Node, preds []plan.Expr) plan.Node {
	switch x := n.(type) {
	case *plan.Filter:
		return b.pushdown(x.Input, append(conjuncts(x.Pred), preds...))
	case *plan.Project:
		below, above := splitPreds(preds, func(p plan.Expr) bool { return !volatileThrough(p, x.Exprs) })
		for i, p := range below {
			below[i] = fold(substitute(p, x.Exprs))
		}
		x.Input = b.pushdown(x.Input, flatten(below))
		return newFilter(x, above...)
	case *plan.Window:
		k := width(x.Input)
		below, above := splitPreds(preds, within(0, k))
		x.Input = b.pushdown(x.Input, below)
		return newFilter(x, above...)
	case *plan.TableFunc:
		if x.Input == nil {
			return newFilter(x, preds...)
		}
		below, above := splitPreds(preds, within(0, width(x.Input)))
		if x.Outer {
			below, above = nil, preds
		}
		x.Input = b.pushdown(x.Input, below)
		return newFilter(x, above...)
	case *plan.OverWindow:
		below, above := splitPreds(preds, func(p plan.Expr) bool { return onPartition(p, x.PartitionBy) })
		x.Input = b.pushdown(x.Input, below)
		return newFilter(x, above...)
	case *plan.Sort:
		x.Input = b.pushdown(x.Input, preds)
		return x
	case *plan.TemporalFilter:
		x.Input = b.pushdown(x.Input, preds)
		return x
	case *plan.Union:
		for i, in := range x.Ins {
			x.Ins[i] = b.pushdown(in, append([]plan.Expr{}, preds...))
		}
		return x
	case *plan.SetOp:
		x.Left = b.pushdown(x.Left, append([]plan.Expr{}, preds...))
		x.Right = b.pushdown(x.Right, append([]plan.Expr{}, preds...))
		return x
	case *plan.Aggregate:
		return b.pushAggregate(x, preds)
	case *plan.Join:
		return b.pushJoin(x, preds)
	case *plan.AsofJoin:
		return b.pushLeft(x, x.Left, x.Right, preds)
	case *plan.Lookup:
		return b.pushLeft(x, x.Left, x.Right, preds)
	}
	for i, in := range n.Inputs() {
		setInput(n, i, b.pushdown(in, nil))
	}
	return newFilter(n, preds...)
}

// pushAggregate moves conditions on grouping keys below the grouping. In a view they stay: rows that are late for the
// aggregate are recorded as such whether or not a HAVING would have kept their group.
func (b *binder) pushAggregate(x *plan.Aggregate, preds []plan.Expr) plan.Node {
	var below, above []plan.Expr
	if b.view() || len(x.Keys) == 0 || x.Session != nil {
		above = preds
	} else {
		below, above = splitPreds(preds, within(0, len(x.Keys)))
		for i, p := range below {
			below[i] = fold(substitute(p, x.Keys))
		}
	}
	x.Input = b.pushdown(x.Input, flatten(below))
	return newFilter(x, above...)
}

// pushJoin distributes conditions over the sides of a join and its own condition.
func (b *binder) pushJoin(x *plan.Join, preds []plan.Expr) plan.Node {
	k, w := width(x.Left), width(x.Left)+width(x.Right)
	isLeft, isRight := within(0, k), within(k, w)
	x.Kind = strengthen(x, preds, k, w)
	own := conjuncts(x.Residual)
	var toLeft, toRight, above, cond []plan.Expr
	keepsLeft := x.Kind != plan.Right && x.Kind != plan.Full
	keepsRight := x.Kind == plan.Inner || x.Kind == plan.Right
	for _, p := range preds {
		switch {
		case volatileExpr(p):
			above = append(above, p)
		case isLeft(p) && keepsLeft:
			toLeft = append(toLeft, p)
		case isRight(p) && keepsRight:
			toRight = append(toRight, p)
		case x.Kind == plan.Inner:
			cond = append(cond, p)
		default:
			above = append(above, p)
		}
	}
	leftOwn := x.Kind == plan.Inner || x.Kind == plan.Right || x.Kind == plan.Semi
	rightOwn := x.Kind != plan.Right && x.Kind != plan.Full && !x.NullAware
	for _, c := range own {
		switch {
		case volatileExpr(c):
			cond = append(cond, c)
		case isLeft(c) && leftOwn && !constExpr(c):
			toLeft = append(toLeft, c)
		case isRight(c) && rightOwn && !constExpr(c):
			toRight = append(toRight, c)
		case !isTrue(c):
			cond = append(cond, c)
		}
	}
	for i := range toRight {
		toRight[i] = shiftPriv(toRight[i], -k)
	}
	x.Residual = and(cond)
	x.Left = b.pushdown(x.Left, toLeft)
	x.Right = b.pushdown(x.Right, toRight)
	return newFilter(x, above...)
}

// strengthen turns an outer join into a narrower one where a condition above it rejects the rows that it fills with NULL.
func strengthen(x *plan.Join, preds []plan.Expr, k, w int) plan.JoinKind {
	kind := x.Kind
	if x.Single {
		return kind
	}
	for _, p := range preds {
		if rejectsNull(p, k, w) {
			switch kind {
			case plan.Left:
				kind = plan.Inner
			case plan.Full:
				kind = plan.Right
			}
		}
		if rejectsNull(p, 0, k) {
			switch kind {
			case plan.Right:
				kind = plan.Inner
			case plan.Full:
				kind = plan.Left
			}
		}
	}
	return kind
}

// rejectsNull says that p is not true when all columns in [lo, hi) are NULL.
func rejectsNull(p plan.Expr, lo, hi int) bool {
	switch x := p.(type) {
	case *plan.Call:
		return x.Fn.Strict && nullWhenNull(x, lo, hi)
	case *plan.IsNull:
		return x.Not && nullWhenNull(x.X, lo, hi)
	case *plan.IsBool:
		return (x.What == 't' || x.What == 'f') && !x.Not && nullWhenNull(x.X, lo, hi)
	case *plan.Not:
		return nullWhenNull(x.X, lo, hi)
	case *plan.InList:
		return nullWhenNull(x.X, lo, hi)
	case *plan.And:
		for _, a := range x.Args {
			if rejectsNull(a, lo, hi) {
				return true
			}
		}
	case *plan.Or:
		for _, a := range x.Args {
			if !rejectsNull(a, lo, hi) {
				return false
			}
		}
		return true
	case *plan.Col:
		return x.Index >= lo && x.Index < hi
	}
	return false
}

// nullWhenNull says that e is NULL when all columns in [lo, hi) are.
func nullWhenNull(e plan.Expr, lo, hi int) bool {
	switch x := e.(type) {
	case *plan.Col:
		return x.Index >= lo && x.Index < hi
	case *plan.Call:
		if !x.Fn.Strict {
			return false
		}
		for _, a := range x.Args {
			if nullWhenNull(a, lo, hi) {
				return true
			}
		}
	case *plan.WindowField:
		return nullWhenNull(x.X, lo, hi)
	case *plan.InList:
		return nullWhenNull(x.X, lo, hi)
	case *plan.Not:
		return nullWhenNull(x.X, lo, hi)
	}
	return false
}

// within gives a test for expressions whose columns all lie in [lo, hi).
func within(lo, hi int) func(plan.Expr) bool {
	return func(e plan.Expr) bool {
		l, h, ok := colRange(e)
		return !ok || l >= lo && h < hi
	}
}

// onPartition says that p reads only columns by which rows are partitioned, so that it keeps or drops whole partitions.
func onPartition(p plan.Expr, part []plan.Expr) bool {
	return !constExpr(p) && !has(p, func(x plan.Expr) bool {
		c, ok := x.(*plan.Col)
		if !ok {
			return false
		}
		for _, e := range part {
			if k, isCol := e.(*plan.Col); isCol && k.Index == c.Index {
				return false
			}
		}
		return true
	})
}

func constExpr(e plan.Expr) bool {
	_, _, ok := colRange(e)
	return !ok
}

func splitPreds(preds []plan.Expr, below func(plan.Expr) bool) (yes, no []plan.Expr) {
	for _, p := range preds {
		if below(p) && !volatileExpr(p) {
			yes = append(yes, p)
		} else {
			no = append(no, p)
		}
	}
	return yes, no
}

func flatten(es []plan.Expr) []plan.Expr {
	var out []plan.Expr
	for _, e := range es {
		out = append(out, conjuncts(e)...)
	}
	return out
}

func volatileExpr(e plan.Expr) bool {
	return has(e, func(x plan.Expr) bool {
		c, ok := x.(*plan.Call)
		return ok && c.Fn.Volatility == volatile
	})
}

// volatileThrough says whether p reads a column that a volatile expression makes.
func volatileThrough(p plan.Expr, exprs []plan.Expr) bool {
	return has(p, func(x plan.Expr) bool {
		c, ok := x.(*plan.Col)
		return ok && volatileExpr(exprs[c.Index])
	})
}
