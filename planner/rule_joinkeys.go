package planner

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
)

// extractKeys takes the equalities of a join's condition apart into key pairs; the rest stays as its residual.
func (b *binder) extractKeys(n plan.Node) {
	eachNode(n, func(m plan.Node) {
		j, ok := m.(*plan.Join)
		if !ok || j.Residual == nil {
			return
		}
		k := width(j.Left)
		var rest []plan.Expr
		for _, c := range conjuncts(j.Residual) {
			l, r, safe, ok := b.equality(c, k)
			if !ok {
				rest = append(rest, c)
				continue
			}
			j.LeftKeys = append(j.LeftKeys, fold(l))
			j.RightKeys = append(j.RightKeys, fold(shiftPriv(r, -k)))
			j.NullSafe = append(j.NullSafe, safe)
		}
		j.Residual = and(rest)
	})
}

// equality reads a conjunct as left = right or left IS NOT DISTINCT FROM right, each over one side only.
func (b *binder) equality(c plan.Expr, k int) (l, r plan.Expr, nullSafe, ok bool) {
	switch x := c.(type) {
	case *plan.Call:
		if eq, _ := isOp(x, "="); eq == nil || len(x.Args) != 2 {
			return nil, nil, false, false
		}
		l, r = x.Args[0], x.Args[1]
	case *plan.IsDistinct:
		if !x.Not {
			return nil, nil, false, false
		}
		l, r, nullSafe = x.L, x.R, true
	default:
		return nil, nil, false, false
	}
	if !oneSide(l, 0, k) {
		l, r = r, l
	}
	if !oneSide(l, 0, k) || !oneSide(r, k, 1<<30) || volatileExpr(c) {
		return nil, nil, false, false
	}
	l, r = b.sameType(l, r, -1)
	return l, r, nullSafe, true
}

// oneSide says that e reads columns, all of them in [lo, hi).
func oneSide(e plan.Expr, lo, hi int) bool {
	l, h, ok := colRange(e)
	return ok && l >= lo && h < hi
}
