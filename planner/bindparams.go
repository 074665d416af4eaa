package planner

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Bind gives q with every parameter replaced by its value, and limits computed. q is not changed; params are of the types
// of q.Params. Without parameters it is q itself. A negative limit counts as zero: CheckLimits finds it before.
func Bind(q *plan.Query, params []types.Datum) *plan.Query {
	if len(q.Params) == 0 {
		return q
	}
	root := clone(q.Root)
	eachNode(root, func(n plan.Node) {
		mapExprs(n, func(e plan.Expr) plan.Expr { return BindExpr(e, params) })
		if s, ok := n.(*plan.Scan); ok {
			s.Eq = append([]plan.KeyEq{}, s.Eq...)
			for i := range s.Eq {
				s.Eq[i].Val = BindExpr(s.Eq[i].Val, params)
			}
			s.Any = append([]plan.KeyAny{}, s.Any...)
			for i := range s.Any {
				s.Any[i].Array = BindExpr(s.Any[i].Array, params)
			}
			s.Bounds = append([]plan.KeyBound{}, s.Bounds...)
			for i := range s.Bounds {
				s.Bounds[i].Val = BindExpr(s.Bounds[i].Val, params)
			}
		}
		if t, ok := n.(*plan.TopN); ok {
			t.Limit, t.LimitExpr = constLimit(t.LimitExpr, t.Limit, -1)
			t.Offset, t.OffsetExpr = constLimit(t.OffsetExpr, t.Offset, 0)
		}
	})
	out := *q
	out.Root = root
	return &out
}

// Late gives a copy of a plan whose expressions are what f makes of them, for one that is run with one set of values of its parameters after
// another. The values in Scan.Eq stay as they are. It must not have limits that are parameters.
func Late(root plan.Node, f func(plan.Expr) plan.Expr) plan.Node {
	root = clone(root)
	eachNode(root, func(n plan.Node) { mapExprs(n, f) })
	return root
}

// CloneScans gives a copy of a plan whose scans have equalities (Scan.Eq) of their own, which may be changed.
func CloneScans(root plan.Node) plan.Node {
	root = clone(root)
	eachNode(root, func(n plan.Node) {
		if s, ok := n.(*plan.Scan); ok {
			s.Eq = append([]plan.KeyEq{}, s.Eq...)
		}
	})
	return root
}

// BindExpr gives e with its parameters replaced by values, constants folded.
func BindExpr(e plan.Expr, params []types.Datum) plan.Expr {
	if e == nil {
		return nil
	}
	found := false
	out := plan.Rewrite(e, func(x plan.Expr) plan.Expr {
		p, ok := x.(*plan.Param)
		if !ok {
			return x
		}
		found = true
		v := types.NullDatum
		if p.N <= len(params) {
			v = params[p.N-1]
		}
		return &plan.Const{Val: v, Typ: p.Typ}
	})
	if !found {
		return e
	}
	return fold(out)
}

func constLimit(e plan.Expr, v, none int64) (int64, plan.Expr) {
	c, ok := e.(*plan.Const)
	switch {
	case e == nil:
		return v, nil
	case !ok:
		return none, e
	case c.Val.Null:
		return none, nil
	}
	return max(c.Val.I, 0), nil
}

// CheckLimits raises 2201W or 2201X where a parameter makes a LIMIT or OFFSET negative. It is for a query before Bind.
func CheckLimits(q *plan.Query, params []types.Datum) error {
	var err error
	eachNode(q.Root, func(n plan.Node) {
		t, ok := n.(*plan.TopN)
		if !ok {
			return
		}
		negative := func(e plan.Expr) bool {
			if e == nil {
				return false
			}
			c, isConst := BindExpr(e, params).(*plan.Const)
			return isConst && !c.Val.Null && c.Val.I < 0
		}
		if negative(t.LimitExpr) {
			err = sqlerr.New(sqlerr.InvalidRowCountInLimit, "LIMIT must not be negative")
		}
		if negative(t.OffsetExpr) {
			err = sqlerr.New(sqlerr.InvalidRowCountInOffset, "OFFSET must not be negative")
		}
	})
	return err
}
