package planner

import (
	"slices"

	"github.com/tidemarkdb/tidemark/planner/plan"
)

// Order of arrival. A stream's scan can give each row's position as a further column; withPosition carries it up
// through operators that keep rows one to one. Where it can't be had, order-sensitive operators see rows in the order
// in which they are processed.

// positionName is the name of the column of positions.
const positionName = "_position"

// withPosition gives n with a column for the position of arrival. ok is false where the rows of n have none.
func withPosition(n plan.Node) (out plan.Node, col int, ok bool) {
	switch x := n.(type) {
	case *plan.Scan:
		if !x.Rel.IsAppendOnly() {
			return n, 0, false
		}
		if x.Position < 0 {
			x.Position = len(x.Cols)
			x.P.Columns = joinCols(x.P.Columns, plan.Column{Name: positionName, Type: int8Type})
		}
		return x, x.Position, true
	case *plan.Filter:
		in, c, ok := withPosition(x.Input)
		if !ok {
			return n, 0, false
		}
		x.Input, x.P.Columns = in, columns(in)
		return x, c, true
	case *plan.Project:
		in, c, ok := withPosition(x.Input)
		if !ok {
			return n, 0, false
		}
		x.Input = in
		for i, e := range x.Exprs {
			if k, isCol := e.(*plan.Col); isCol && k.Index == c {
				return x, i, true
			}
		}
		x.Exprs = append(x.Exprs, colOf(in, c))
		x.P.Columns = joinCols(x.P.Columns, columns(in)[c])
		return x, len(x.Exprs) - 1, true
	case *plan.Dedup:
		in, c, ok := withPosition(x.Input)
		if !ok {
			return n, 0, false
		}
		x.Input, x.P.Columns = in, columns(in)
		return x, c, true
	case *plan.Window:
		return windowPosition(x)
	case *plan.Union:
		return unionPosition(x)
	}
	return n, 0, false
}

// windowPosition gives each window of a row the row's position.
func windowPosition(x *plan.Window) (plan.Node, int, bool) {
	in, c, ok := withPosition(x.Input)
	if !ok {
		return x, 0, false
	}
	k := len(x.P.Columns) - 1 // the window stood behind k columns
	win := x.P.Columns[k]
	x.Input, x.P.Columns = in, joinCols(columns(in), win)
	if width(in) == k {
		return x, c, true
	}
	out := firstCols(x, k)
	out = append(out, colOf(x, width(in)), colOf(x, c))
	return newProject(x, out, nil), k + 1, true
}

// unionPosition orders the rows of a union by epoch, and within one by their places in their own inputs.
func unionPosition(x *plan.Union) (plan.Node, int, bool) {
	k := width(x)
	var ins []plan.Node
	for _, in := range x.Ins {
		if !positioned(in) {
			return x, 0, false
		}
	}
	for _, in := range x.Ins {
		m, c, _ := withPosition(in)
		ins = append(ins, newProject(m, append(firstCols(m, k), colOf(m, c)), nil))
	}
	u := &plan.Union{Ins: ins}
	u.P.Columns = joinCols(x.P.Columns, plan.Column{Name: positionName, Type: int8Type})
	return u, k, true
}

// positioned says whether withPosition finds a position, without changing n.
func positioned(n plan.Node) bool {
	switch x := n.(type) {
	case *plan.Scan:
		return x.Rel.IsAppendOnly()
	case *plan.Filter, *plan.Project, *plan.Dedup, *plan.Window:
		return positioned(x.Inputs()[0])
	case *plan.Union:
		for _, in := range x.Ins {
			if !positioned(in) {
				return false
			}
		}
		return true
	}
	return false
}

// withOrder gives n with the columns of the ORDER BY of the subquery that it is, if it is one with nothing but conditions and
// expressions above, and the keys over them.
func (b *binder) withOrder(n plan.Node) (keys []plan.SortKey, ok bool) {
	if by, have := b.orders[n]; have {
		for _, k := range by {
			c, isCol := k.X.(*plan.Col)
			if !isCol {
				return nil, false
			}
			k.X = colOf(n, c.Index)
			keys = append(keys, k)
		}
		return keys, true
	}
	switch x := n.(type) {
	case *plan.Filter:
		keys, ok = b.withOrder(x.Input)
		x.P.Columns = columns(x.Input)
	case *plan.Project:
		if keys, ok = b.withOrder(x.Input); !ok {
			return nil, false
		}
		for i, k := range keys {
			at := -1
			for j, e := range x.Exprs {
				if equal(e, k.X) {
					at = j
				}
			}
			if at < 0 {
				at = len(x.Exprs)
				x.Exprs = append(x.Exprs[:at:at], k.X)
				x.P.Columns = joinCols(x.P.Columns, columns(x.Input)[k.X.(*plan.Col).Index])
			}
			keys[i].X = colOf(x, at)
		}
	}
	return keys, ok
}

// ordered gives the input of an aggregation and its aggregates so that those that depend on the order of their rows,
// and say none, see that of the subquery beneath, as in PostgreSQL, or else the order of arrival.
func (blk *block) ordered(in plan.Node) (plan.Node, []plan.Agg) {
	aggs := append([]plan.Agg{}, blk.aggs...)
	for i, a := range aggs {
		aggs[i].Args = append([]plan.Expr{}, a.Args...)
		aggs[i].OrderBy = append([]plan.SortKey{}, a.OrderBy...)
	}
	need := false
	for _, a := range aggs {
		need = need || a.Fn != nil && orderSensitive[a.Fn.Name] && len(a.OrderBy) == 0 && !a.Distinct
	}
	if !need {
		return in, aggs
	}
	if keys, ok := blk.b.withOrder(in); ok {
		for i, a := range aggs {
			if orderSensitive[a.Fn.Name] && len(a.OrderBy) == 0 && !a.Distinct {
				aggs[i].OrderBy = slices.Clone(keys)
			}
		}
		return in, aggs
	}
	k := width(in)
	m, c, ok := withPosition(in)
	if !ok {
		return in, aggs
	}
	if c != k {
		// The scan itself stood there, or the position was there before.
		c = width(m) - 1
	}
	for i, a := range aggs {
		if orderSensitive[a.Fn.Name] && len(a.OrderBy) == 0 && !a.Distinct {
			aggs[i].OrderBy = []plan.SortKey{{X: colOf(m, c)}}
		}
	}
	return m, aggs
}

// orderSensitive are the aggregates whose result depends on the order of their rows.
var orderSensitive = map[string]bool{"array_agg": true, "string_agg": true, "json_agg": true, "jsonb_agg": true,
	"json_object_agg": true, "jsonb_object_agg": true, "first": true, "last": true, "first_value": true, "last_value": true}
