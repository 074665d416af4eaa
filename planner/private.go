package planner

import (
	"bytes"
	"math"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// The expressions of this file exist only while a query is being bound. None is left in a finished plan.
type (
	// outerRef is a column of an enclosing frame, seen from a correlated subquery. decorrelate removes it.
	outerRef struct {
		frame *frame
		idx   int
		typ   types.Type
		name  string
		row   *plan.RowType // of a column of rows with named fields
		pos   ast.Pos
	}
	// aggRef is an aggregate call of the block that is being bound.
	aggRef struct {
		idx int
		typ types.Type
	}
	// groupingRef is GROUPING(exprs): a bit for each argument that the current grouping set leaves out.
	groupingRef struct {
		args []plan.Expr
		at   []ast.Pos // of each argument
	}
	// overRef is a window function call of the block.
	overRef struct {
		idx int
		typ types.Type
	}
	// setRef is a set-returning function call in the select list.
	setRef struct {
		idx int
		col int // of its output columns
		typ types.Type
	}
	// eventWindow is window(time, size, slide, start) or session_window(time, gap).
	eventWindow struct {
		time               plan.Expr
		size, slide, start int64
		session            bool
		gap                plan.Expr
		typ                types.Type
		pos                int
	}
	// subquery is a subquery that stands in an expression; attach turns it into a join.
	subquery struct {
		kind subqKind
		root plan.Node
		// x are the operands on the left of IN, ANY and ALL; ops the boolean expression of each comparison, made by cmp.
		x   []plan.Expr
		cmp func(i int, l, r plan.Expr) plan.Expr
		eq  bool   // the comparison is plain equality
		op  string // of subqRow
		typ types.Type
		pos int
	}
)

type subqKind uint8

const (
	subqScalar subqKind = iota
	subqExists
	subqAny // x op ANY (query); IN is = ANY
	subqAll // x op ALL (query); NOT IN is NOT (= ANY)
	subqArray
	subqRow // (a, b) op (query)
)

func (e *outerRef) Type() types.Type    { return e.typ }
func (e *aggRef) Type() types.Type      { return e.typ }
func (e *groupingRef) Type() types.Type { return types.Of(types.Int4) }
func (e *overRef) Type() types.Type     { return e.typ }
func (e *setRef) Type() types.Type      { return e.typ }
func (e *eventWindow) Type() types.Type { return e.typ }
func (e *subquery) Type() types.Type    { return e.typ }

// mapChildren is plan.MapChildren that also goes into the operands of private expressions. Columns inside a
// subquery's plan that refer to frame outer are passed through f as well, as *outerRef.
func mapChildren(e plan.Expr, f func(plan.Expr) plan.Expr) plan.Expr {
	switch x := e.(type) {
	case *eventWindow:
		c := *x
		c.time = f(x.time)
		if x.gap != nil {
			c.gap = f(x.gap)
		}
		return &c
	case *groupingRef:
		return x
	case *subquery:
		c := *x
		c.x = make([]plan.Expr, len(x.x))
		for i, a := range x.x {
			c.x[i] = f(a)
		}
		return &c
	}
	return plan.MapChildren(e, f)
}

// rewrite applies f from the leaves up, private operands included.
func rewrite(e plan.Expr, f func(plan.Expr) plan.Expr) plan.Expr {
	if e == nil {
		return nil
	}
	return f(mapChildren(e, func(c plan.Expr) plan.Expr { return rewrite(c, f) }))
}

// walk calls f for e and every operand, private operands included, parents first.
func walk(e plan.Expr, f func(plan.Expr)) {
	if e == nil {
		return
	}
	f(e)
	mapChildren(e, func(c plan.Expr) plan.Expr {
		walk(c, f)
		return c
	})
}

// has says whether a node of e satisfies f.
func has(e plan.Expr, f func(plan.Expr) bool) bool {
	found := false
	walk(e, func(x plan.Expr) { found = found || f(x) })
	return found
}

// remap replaces every column i by column m[i].
func remap(e plan.Expr, m []int) plan.Expr {
	return rewrite(e, func(x plan.Expr) plan.Expr {
		if c, ok := x.(*plan.Col); ok && m[c.Index] != c.Index {
			n := *c
			n.Index = m[c.Index]
			return &n
		}
		return x
	})
}

// substitute replaces every column i by exprs[i].
func substitute(e plan.Expr, exprs []plan.Expr) plan.Expr {
	return rewrite(e, func(x plan.Expr) plan.Expr {
		if c, ok := x.(*plan.Col); ok {
			return exprs[c.Index]
		}
		return x
	})
}

// colsOf marks in need the columns that e reads.
func colsOf(e plan.Expr, need []bool) {
	walk(e, func(x plan.Expr) {
		if c, ok := x.(*plan.Col); ok {
			need[c.Index] = true
		}
	})
}

// colRange gives the least and greatest column of e; ok is false when it reads none.
func colRange(e plan.Expr) (lo, hi int, ok bool) {
	walk(e, func(x plan.Expr) {
		if c, isCol := x.(*plan.Col); isCol {
			if !ok || c.Index < lo {
				lo = c.Index
			}
			if !ok || c.Index > hi {
				hi = c.Index
			}
			ok = true
		}
	})
	return lo, hi, ok
}

// equal says whether two bound expressions are the same but for names and positions.
func equal(a, b plan.Expr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if a.Type() != b.Type() {
		return false
	}
	switch x := a.(type) {
	case *plan.Col:
		y, ok := b.(*plan.Col)
		return ok && x.Index == y.Index
	case *plan.Const:
		y, ok := b.(*plan.Const)
		return ok && sameDatum(x.Val, y.Val)
	case *plan.Param:
		y, ok := b.(*plan.Param)
		return ok && x.N == y.N
	case *plan.Now:
		_, ok := b.(*plan.Now)
		return ok
	case *outerRef:
		y, ok := b.(*outerRef)
		return ok && x.frame == y.frame && x.idx == y.idx
	case *aggRef:
		y, ok := b.(*aggRef)
		return ok && x.idx == y.idx
	case *overRef:
		y, ok := b.(*overRef)
		return ok && x.idx == y.idx
	case *setRef:
		y, ok := b.(*setRef)
		return ok && x.idx == y.idx && x.col == y.col
	case *eventWindow:
		y, ok := b.(*eventWindow)
		return ok && x.session == y.session && x.size == y.size && x.slide == y.slide && x.start == y.start &&
			equal(x.time, y.time) && equal(x.gap, y.gap)
	case *groupingRef, *subquery:
		return a == b
	}
	return sameShape(a, b) && equalAll(plan.Children(a), plan.Children(b))
}

// sameShape compares what two expressions hold beside their operands.
func sameShape(a, b plan.Expr) bool {
	switch x := a.(type) {
	case *plan.Call:
		y, ok := b.(*plan.Call)
		return ok && x.Fn == y.Fn && x.Fn.Volatility != volatile
	case *plan.And:
		_, ok := b.(*plan.And)
		return ok
	case *plan.Or:
		_, ok := b.(*plan.Or)
		return ok
	case *plan.Not:
		_, ok := b.(*plan.Not)
		return ok
	case *plan.IsNull:
		y, ok := b.(*plan.IsNull)
		return ok && x.Not == y.Not
	case *plan.IsBool:
		y, ok := b.(*plan.IsBool)
		return ok && x.Not == y.Not && x.What == y.What
	case *plan.IsDistinct:
		y, ok := b.(*plan.IsDistinct)
		return ok && x.Not == y.Not
	case *plan.Case:
		_, ok := b.(*plan.Case)
		return ok
	case *plan.Coalesce:
		_, ok := b.(*plan.Coalesce)
		return ok
	case *plan.InList:
		y, ok := b.(*plan.InList)
		if !ok || x.Null != y.Null || x.Not != y.Not || len(x.List) != len(y.List) {
			return false
		}
		for i := range x.List {
			if !sameDatum(x.List[i], y.List[i]) {
				return false
			}
		}
		return true
	case *plan.Quantified:
		y, ok := b.(*plan.Quantified)
		return ok && x.Cmp == y.Cmp && x.All == y.All
	case *plan.ArrayCtor:
		_, ok := b.(*plan.ArrayCtor)
		return ok
	case *plan.Subscript:
		_, ok := b.(*plan.Subscript)
		return ok
	case *plan.WindowField:
		y, ok := b.(*plan.WindowField)
		return ok && x.End == y.End
	case *plan.RowCtor:
		_, ok := b.(*plan.RowCtor)
		return ok
	}
	return false
}

func equalAll(a, b []plan.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// sameDatum compares the bits of doubles: NaN is the same constant as NaN, and 0 is not -0.
func sameDatum(a, b types.Datum) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	return a.I == b.I && a.J == b.J && math.Float64bits(a.F) == math.Float64bits(b.F) && bytes.Equal(a.B, b.B)
}
