package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// bindSub binds a subquery's query.
func (x *exprBinder) bindSub(q *ast.Query, pos ast.Pos) plan.Node {
	if !x.subqueries {
		what := x.clause
		if what == "" {
			what = "this context"
		}
		unsupported(pos, "cannot use subquery in %s", what)
	}
	return x.b.query(q, x.f, x.ctes).result(x.b)
}

func (x *exprBinder) scalarSubquery(n *ast.Subquery) plan.Expr {
	root := x.bindSub(n.Query, n.At)
	if width(root) != 1 {
		failAt(n.At, sqlerr.SyntaxError, "subquery must return only one column")
	}
	return &subquery{kind: subqScalar, root: root, typ: columns(root)[0].Type, pos: int(n.At)}
}

func (x *exprBinder) exists(n *ast.Exists) plan.Expr {
	root := x.bindSub(n.Query, n.At)
	return &subquery{kind: subqExists, root: root, typ: boolType, pos: int(n.At)}
}

func (x *exprBinder) arrayQuery(n *ast.ArrayQuery) plan.Expr {
	root := x.bindSub(n.Query, n.At)
	if width(root) != 1 {
		failAt(n.At, sqlerr.SyntaxError, "subquery must return only one column")
	}
	return &subquery{kind: subqArray, root: root, typ: types.ArrayOf(columns(root)[0].Type), pos: int(n.At)}
}

// inQuery is x [NOT] IN (query).
func (x *exprBinder) inQuery(n *ast.In) plan.Expr {
	s := x.compareQuery(n.X, n.Query, "=", n.At)
	s.kind = subqAny
	return maybeNot(s, n.Not)
}

func (x *exprBinder) quantified(n *ast.Quantified) plan.Expr {
	if n.Query != nil {
		s := x.compareQuery(n.X, n.Query, n.Op, n.At)
		s.kind = subqAny
		if n.All {
			s.kind = subqAll
		}
		return s
	}
	l, arr := x.bind(n.X), x.bind(n.Array)
	if isUnknown(arr.Type()) {
		elem := l.Type()
		if isUnknown(elem) {
			elem = textType
		}
		arr = x.b.cast(arr, types.ArrayOf(elem), fn.Implicit, n.At)
	}
	at := arr.Type()
	if at.Kind != types.Array && at.Kind != types.Int2Vector {
		failAt(n.At, sqlerr.WrongObjectType, "op ANY/ALL (array) requires array on right side")
	}
	elem := at.ElemType()
	lt := l.Type()
	f, wl, wr, result, err := fn.ResolveOperator(n.Op, &lt, &elem)
	must(err, n.At)
	if result.Kind != types.Bool {
		failAt(n.At, sqlerr.WrongObjectType, "op ANY/ALL (array) requires operator to yield boolean")
	}
	l = x.b.cast(l, wl, fn.Implicit, n.At)
	if !wr.Same(elem) {
		arr = x.b.cast(arr, types.ArrayOf(wr), fn.Implicit, n.At)
	}
	return &plan.Quantified{X: l, Array: arr, Cmp: f, All: n.All}
}

// compareQuery binds a comparison of an expression, or a row, with the rows of a subquery.
func (x *exprBinder) compareQuery(l ast.Expr, q *ast.Query, op string, pos ast.Pos) *subquery {
	var ls []plan.Expr
	if r, ok := l.(*ast.Row); ok {
		ls, _ = x.bindList(r.Args)
	} else {
		ls = []plan.Expr{x.bind(l)}
	}
	root := x.bindSub(q, pos)
	checkWidth(root, len(ls), pos)
	b := x.b
	s := &subquery{root: root, x: ls, typ: boolType, pos: int(pos), eq: op == "="}
	s.cmp = func(_ int, lhs, rhs plan.Expr) plan.Expr { return b.operator(op, lhs, rhs, pos) }
	// Bind the comparison once for its errors, and for the types that literals on the left take.
	for i := range ls {
		probe := b.operator(op, ls[i], colOf(root, i), pos)
		if probe.Type().Kind != types.Bool {
			failAt(pos, sqlerr.WrongObjectType, "operator %s must return type boolean, not type %s", op, probe.Type())
		}
		if isUnknown(ls[i].Type()) {
			ls[i] = probe.(*plan.Call).Args[0]
		}
	}
	if len(ls) > 1 && op != "=" {
		if op != "<>" {
			unsupported(pos, "row comparison %s with a subquery is not supported", op)
		}
		s.cmp = nil
	}
	return s
}

// rowSubquery is (a, b) op (query).
func (x *exprBinder) rowSubquery(op string, l *ast.Row, q *ast.Subquery, pos ast.Pos) plan.Expr {
	ls, _ := x.bindList(l.Args)
	root := x.bindSub(q.Query, q.At)
	checkWidth(root, len(ls), pos)
	x.b.compareRows(op, ls, firstCols(root, len(ls)), pos) // for its errors
	return &subquery{kind: subqRow, root: root, x: ls, op: op, typ: boolType, pos: int(pos)}
}

// checkWidth compares the number of columns of a subquery with that of the row before it.
func checkWidth(root plan.Node, k int, pos ast.Pos) {
	switch {
	case width(root) > k:
		failAt(pos, sqlerr.SyntaxError, "subquery has too many columns")
	case width(root) < k:
		failAt(pos, sqlerr.SyntaxError, "subquery has too few columns")
	}
}

// compare gives the comparison of the operands with a row of the subquery, whose columns are rows.
func (s *subquery) compare(b *binder, ls, rows []plan.Expr) plan.Expr {
	if s.cmp == nil {
		return b.compareRows("<>", ls, rows, ast.Pos(s.pos))
	}
	var parts []plan.Expr
	for i := range ls {
		parts = append(parts, s.cmp(i, ls[i], rows[i]))
	}
	return and(parts)
}

// filterBy keeps the rows of n for which pred holds. Subqueries that are conjuncts become semi and anti joins, others
// columns. The columns of n come first in the result.
func (b *binder) filterBy(n plan.Node, f *frame, pred plan.Expr) plan.Node {
	var plain []plan.Expr
	var rest []plan.Expr
	for _, c := range conjuncts(pred) {
		if hasSubquery(c) {
			rest = append(rest, c)
		} else if t := b.temporal(c); t == nil {
			plain = append(plain, c)
		} else {
			rest = append(rest, c)
		}
	}
	n = newFilter(n, plain...)
	for _, c := range rest {
		if t := b.temporal(c); t != nil {
			t.Input = n
			t.P.Columns = columns(n)
			n = t
			continue
		}
		n = b.filterSub(n, f, c)
	}
	return n
}

// filterSub applies one conjunct that holds subqueries.
func (b *binder) filterSub(n plan.Node, f *frame, c plan.Expr) plan.Node {
	neg := false
	inner := c
	if x, ok := c.(*plan.Not); ok {
		neg, inner = true, x.X
	}
	s, ok := inner.(*subquery)
	if ok && !hasSubqueryIn(s.x) {
		switch {
		case s.kind == subqExists && !neg:
			return b.apply(plan.Semi, n, s.root, nil, f, false)
		case s.kind == subqExists:
			return b.apply(plan.Anti, n, s.root, nil, f, false)
		case s.kind == subqAny && !neg:
			return b.apply(plan.Semi, n, s.root, s.compare(b, s.x, shiftedCols(n, s.root)), f, false)
		case s.kind == subqAny && s.eq && len(s.x) == 1 && !usesFrame(s.root, f):
			return b.notIn(n, s)
		case s.kind == subqAny:
			// No row for which the comparison is true or unknown.
			cond := &plan.IsBool{X: s.compare(b, s.x, shiftedCols(n, s.root)), What: 'f', Not: true}
			return b.apply(plan.Anti, n, s.root, cond, f, false)
		case s.kind == subqAll && !neg:
			cond := &plan.IsBool{X: s.compare(b, s.x, shiftedCols(n, s.root)), What: 't', Not: true}
			return b.apply(plan.Anti, n, s.root, cond, f, false)
		}
	}
	k := width(n)
	m, e := b.attach(n, f, c)
	return truncate(newFilter(m, e), k)
}

func hasSubqueryIn(es []plan.Expr) bool {
	for _, e := range es {
		if hasSubquery(e) {
			return true
		}
	}
	return false
}

// shiftedCols are the columns of r as the right side of a join with l.
func shiftedCols(l, r plan.Node) []plan.Expr {
	out := firstCols(r, width(r))
	for i := range out {
		out[i] = shiftPriv(out[i], width(l))
	}
	return out
}

// notIn is the uncorrelated x NOT IN (query): an anti join that knows about NULL.
func (b *binder) notIn(n plan.Node, s *subquery) plan.Node {
	eq := s.compare(b, s.x, shiftedCols(n, s.root)).(*plan.Call)
	j := newJoin(plan.Anti, n, s.root, nil)
	l, r := b.sameType(eq.Args[0], eq.Args[1], ast.Pos(s.pos))
	j.LeftKeys = []plan.Expr{l}
	j.RightKeys = []plan.Expr{shiftPriv(r, -width(n))}
	j.NullSafe = []bool{false}
	j.NullAware = true
	return j
}

// attach replaces the subqueries of an expression over n by columns of a join with n; the columns of n come first in
// the node that it gives.
func (b *binder) attach(n plan.Node, f *frame, e plan.Expr) (plan.Node, plan.Expr) {
	if e == nil || !hasSubquery(e) {
		return n, e
	}
	var top func(plan.Expr) plan.Expr
	top = func(e plan.Expr) plan.Expr {
		s, ok := e.(*subquery)
		if !ok {
			return mapChildren(e, top)
		}
		for i := range s.x {
			s.x[i] = top(s.x[i])
		}
		var out plan.Expr
		n, out = b.attachOne(n, f, s)
		return out
	}
	out := top(e)
	return n, out
}

func (b *binder) attachOne(n plan.Node, f *frame, s *subquery) (plan.Node, plan.Expr) {
	pos := ast.Pos(s.pos)
	if b.attached[s.root] {
		// The same expression stands twice in the block, as in ORDER BY of an output column.
		c := *s
		c.root = clone(s.root)
		s = &c
	}
	b.attached[s.root] = true
	switch s.kind {
	case subqScalar:
		j := b.apply(plan.Left, n, s.root, nil, f, !atMostOne(s.root))
		c := colOf(j, width(j)-1)
		c.Typ = s.typ
		return j, c
	case subqRow:
		j := b.apply(plan.Left, n, s.root, nil, f, !atMostOne(s.root))
		k := len(s.x)
		return j, b.compareRows(s.op, s.x, firstCols(j, width(j))[width(j)-k:], pos)
	case subqExists:
		n, c := b.attachCount(n, f, s.root)
		return n, b.operator(">", c, intConst(0), pos)
	case subqArray:
		in, keys := arrivalOrder(s.root)
		agg := plan.Agg{Typ: s.typ, OrderBy: keys}
		call := b.call("array_agg", []plan.Expr{colOf(in, 0)}, pos, fn.Aggregate)
		agg.Fn, agg.Args = call.Fn, call.Args
		j := b.apply(plan.Left, n, newAggregate(in, nil, nil, []plan.Agg{agg}), nil, f, false)
		empty := &plan.ArrayCtor{Typ: s.typ}
		return j, &plan.Coalesce{Args: []plan.Expr{colOf(j, width(j)-1), empty}, Typ: s.typ}
	}
	return b.attachQuantified(n, f, s)
}

func intConst(i int64) plan.Expr { return &plan.Const{Val: types.IntDatum(i), Typ: int8Type} }

// countAgg is count(*), or count(e).
func (b *binder) countAgg(args ...plan.Expr) plan.Agg {
	c := b.call("count", args, -1, fn.Aggregate)
	return plan.Agg{Fn: c.Fn, Args: c.Args, Typ: c.Typ}
}

// attachCount adds the number of rows of a subquery.
func (b *binder) attachCount(n plan.Node, f *frame, root plan.Node) (plan.Node, plan.Expr) {
	j := b.apply(plan.Left, n, newAggregate(root, nil, nil, []plan.Agg{b.countAgg()}), nil, f, false)
	return j, colOf(j, width(j)-1)
}

// attachQuantified computes x op ANY or ALL (query) as a three-valued boolean. ALL is NOT (NOT op ANY).
//
// hits counts the rows for which the comparison is true (for ALL: not false is what fails, so it counts the false ones),
// all the rows, known those for which it is not NULL.
func (b *binder) attachQuantified(n plan.Node, f *frame, s *subquery) (plan.Node, plan.Expr) {
	pos := ast.Pos(s.pos)
	outer := make([]plan.Expr, len(s.x))
	for i, e := range s.x {
		outer[i] = f.outward(e, pos)
	}
	root := clone(s.root)
	rows := firstCols(s.root, width(s.root))
	what := byte('t')
	if s.kind == subqAll {
		what = 'f'
	}
	var hit, unsure plan.Expr
	if s.eq && s.kind == subqAny {
		n, hit = b.attachCount(n, f, newFilter(s.root, s.compare(b, outer, rows)))
		second := clone(root)
		rows = firstCols(second, width(second))
		cmp := s.compare(b, outer, rows)
		if len(outer) == 1 && !usesFrame(second, f) {
			// Without correlation the rows need no comparison: the answer is unknown where either side is NULL.
			aggs := []plan.Agg{b.countAgg(), b.countAgg(rows[0])}
			n = b.apply(plan.Left, n, newAggregate(second, nil, nil, aggs), nil, f, false)
			all, known := colOf(n, width(n)-2), colOf(n, width(n)-1)
			nulls := &plan.Or{Args: []plan.Expr{&plan.IsNull{X: s.x[0]}, b.operator("<", known, all, -1)}}
			unsure = &plan.And{Args: []plan.Expr{b.operator(">", all, intConst(0), -1), nulls}}
		} else {
			var c plan.Expr
			n, c = b.attachCount(n, f, newFilter(second, &plan.IsNull{X: cmp}))
			unsure = b.operator(">", c, intConst(0), -1)
		}
	} else {
		n, hit = b.attachCount(n, f, newFilter(s.root, &plan.IsBool{X: s.compare(b, outer, rows), What: what}))
		second := clone(root)
		cmp := s.compare(b, outer, firstCols(second, width(second)))
		var c plan.Expr
		n, c = b.attachCount(n, f, newFilter(second, &plan.IsNull{X: cmp}))
		unsure = b.operator(">", c, intConst(0), -1)
	}
	found := b.operator(">", hit, intConst(0), -1)
	null := &plan.Const{Val: types.NullDatum, Typ: boolType}
	return n, &plan.Case{
		Whens: []plan.When{{Cond: found, Then: constBool(s.kind == subqAny)}, {Cond: unsure, Then: null}},
		Else:  constBool(s.kind == subqAll), Typ: boolType,
	}
}

// exactlyOne says whether a node always has one row.
func exactlyOne(n plan.Node) bool {
	switch x := n.(type) {
	case *plan.Project:
		return exactlyOne(x.Input)
	case *plan.Aggregate:
		return len(x.Keys) == 0 && x.Session == nil && len(x.Aggs) > 0
	case *plan.Values:
		return len(x.Rows) == 1
	}
	return false
}

// atMostOne says whether a node has at most one row.
func atMostOne(n plan.Node) bool {
	switch x := n.(type) {
	case *plan.Project:
		return atMostOne(x.Input)
	case *plan.Filter:
		return atMostOne(x.Input)
	case *plan.Aggregate:
		return len(x.Keys) == 0 && x.Session == nil && len(x.Aggs) > 0
	case *plan.TopN:
		return len(x.PartitionBy) == 0 && x.Limit >= 0 && x.Limit <= 1 && !x.WithTies || atMostOne(x.Input)
	case *plan.Values:
		return len(x.Rows) <= 1
	case *plan.Join:
		return (x.Kind == plan.Inner || x.Kind == plan.Left) && atMostOne(x.Left) && atMostOne(x.Right)
	}
	return false
}
