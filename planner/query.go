package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// bound is a bound query or body. Columns from visible on are hidden: they serve only its ORDER BY.
type bound struct {
	node    plan.Node
	visible int
	sort    []plan.SortKey
	// pos are the positions of the output expressions, for errors about their types.
	pos []ast.Pos
}

// cteScope is a list of the WITH items that can be seen, the nearest first.
type cteScope struct {
	up    *cteScope
	cte   *ast.CTE
	env   *cteScope // what the item's own query sees
	frame *frame    // the frame around the WITH
	self  bool      // the entry stands for the item within its own query (RECURSIVE)
	rec   *recursion
	used  *bool
}

func (c *cteScope) find(name string) *cteScope {
	for ; c != nil; c = c.up {
		if c.cte.Name == name {
			return c
		}
	}
	return nil
}

// query binds a whole query. parent is the frame of the enclosing query, nil at the top.
func (b *binder) query(q *ast.Query, parent *frame, ctes *cteScope) *bound {
	b.enter(q.At)
	defer b.leave()
	ctes, unused := b.with(q, parent, ctes)
	var r *bound
	if s, ok := q.Body.(*ast.Select); ok {
		r = b.selectQuery(s, q.OrderBy, parent, ctes)
	} else {
		r = b.body(q.Body, parent, ctes)
		r.sort = b.outputOrder(r, q.OrderBy, parent, ctes)
	}
	b.limit(q, r, parent, ctes)
	unused()
	return r
}

// with adds the WITH items of a query; the function it gives binds those that nothing used, for their errors.
func (b *binder) with(q *ast.Query, parent *frame, ctes *cteScope) (*cteScope, func()) {
	var added []*cteScope
	for i := range q.With {
		c := &q.With[i]
		for _, o := range added {
			if o.cte.Name == c.Name {
				failAt(c.At, sqlerr.DuplicateAlias, "WITH query name %q specified more than once", c.Name)
			}
		}
		env := ctes
		if q.Recursive {
			env = &cteScope{up: ctes, cte: c, self: true}
		}
		ctes = &cteScope{up: ctes, cte: c, env: env, frame: parent, used: new(bool)}
		added = append(added, ctes)
	}
	return ctes, func() {
		for _, c := range added {
			if !*c.used {
				b.cte(c, c.cte.At)
			}
		}
	}
}

// cte binds a WITH item for one reference to it.
func (b *binder) cte(c *cteScope, pos ast.Pos) plan.Node {
	if c.self {
		return b.selfReference(c, pos)
	}
	*c.used = true
	var node plan.Node
	if c.env != nil && c.env.self {
		node = b.recursive(c, pos)
	}
	if node == nil {
		node = b.query(c.cte.Query, c.frame, c.env).result(b)
	}
	if n := len(c.cte.Columns); n > width(node) {
		failAt(c.cte.At, sqlerr.InvalidColumnReference, "WITH query %q has %d columns available but %d columns specified", c.cte.Name, width(node), n)
	}
	return rename(node, c.cte.Columns)
}

// rename gives the first columns of a node new names.
func rename(n plan.Node, names []string) plan.Node {
	if len(names) == 0 {
		return n
	}
	all := make([]string, width(n))
	copy(all, names)
	return newProject(n, firstCols(n, width(n)), all)
}

// result drops hidden columns and the order, which a query that is not at the root has for aggregates just above only, and settles unknown types.
func (r *bound) result(b *binder) plan.Node {
	if len(r.sort) > 0 {
		if b.orders == nil {
			b.orders = map[plan.Node][]plan.SortKey{}
		}
		b.orders[r.node] = r.sort
	}
	n := truncate(r.node, r.visible)
	return b.settleColumns(n)
}

// settleColumns turns columns of unknown type into text.
func (b *binder) settleColumns(n plan.Node) plan.Node {
	ts := plan.Types(n)
	for i := range ts {
		if isUnknown(ts[i]) {
			ts[i] = textType
		}
	}
	return b.castColumns(n, ts, fn.Implicit, nil)
}

// castColumns brings the columns of a node to the given types; literals in its own select list are read at once.
func (b *binder) castColumns(n plan.Node, ts []types.Type, ctx fn.CastContext, pos []ast.Pos) plan.Node {
	same := true
	for i, c := range columns(n) {
		same = same && c.Type == ts[i]
	}
	if same {
		return n
	}
	at := func(i int) ast.Pos {
		if i < len(pos) {
			return pos[i]
		}
		return -1
	}
	switch x := n.(type) {
	case *plan.Project:
		for i, t := range ts {
			x.Exprs[i] = b.cast(x.Exprs[i], t, ctx, at(i))
			x.P.Columns[i].Type = x.Exprs[i].Type()
		}
		if sameTypes(columns(n), ts) {
			return n
		}
	case *plan.Values:
		for _, row := range x.Rows {
			for i, t := range ts {
				row[i] = b.cast(row[i], t, ctx, at(i))
			}
		}
		for i, t := range ts {
			x.P.Columns[i].Type = t
		}
		return n
	case *plan.Union:
		if unknownOnly(columns(n), ts) {
			for i, in := range x.Ins {
				x.Ins[i] = b.castColumns(in, ts, ctx, pos)
			}
			for i, t := range ts {
				x.P.Columns[i].Type = t
			}
			return n
		}
	}
	exprs := make([]plan.Expr, len(ts))
	names := make([]string, len(ts))
	for i, t := range ts {
		exprs[i] = b.cast(colOf(n, i), t, ctx, at(i))
		names[i] = columns(n)[i].Name
	}
	p := newProject(n, exprs, names)
	for i, t := range ts {
		p.P.Columns[i].Type = t
	}
	return p
}

func sameTypes(cols []plan.Column, ts []types.Type) bool {
	for i, c := range cols {
		if c.Type != ts[i] {
			return false
		}
	}
	return true
}

// unknownOnly says whether the types differ only where a column is of unknown type.
func unknownOnly(cols []plan.Column, ts []types.Type) bool {
	for i, c := range cols {
		if c.Type != ts[i] && !isUnknown(c.Type) {
			return false
		}
	}
	return true
}

// finish makes the root of a whole statement: in a SELECT with its order, in a view without.
func (r *bound) finish(b *binder) plan.Node {
	if b.view() || len(r.sort) == 0 {
		return r.result(b)
	}
	r.node = b.settleColumns(r.node)
	for i := range r.sort {
		if c, ok := r.sort[i].X.(*plan.Col); ok {
			r.sort[i].X = colOf(r.node, c.Index)
		}
	}
	top := newSort(r.node, r.sort)
	if r.visible < width(r.node) {
		top.Visible = r.visible
		top.P.Columns = columns(r.node)[:r.visible:r.visible]
	}
	return top
}

// body binds a query body other than a SELECT with its own ORDER BY.
func (b *binder) body(body ast.Body, parent *frame, ctes *cteScope) *bound {
	switch x := body.(type) {
	case *ast.Select:
		return b.selectQuery(x, nil, parent, ctes)
	case *ast.Values:
		return b.values(x, parent, ctes)
	case *ast.SetOp:
		return b.setOp(x, parent, ctes)
	case *ast.ParenQuery:
		r := b.query(x.Query, parent, ctes)
		n := truncate(r.node, r.visible)
		return &bound{node: n, visible: r.visible, pos: r.pos}
	}
	fail(sqlerr.Unsupported("this kind of query is not supported"))
	return nil
}

func (b *binder) values(v *ast.Values, parent *frame, ctes *cteScope) *bound {
	x := &exprBinder{b: b, f: &frame{scope: &scope{}, parent: parent}, ctes: ctes, clause: "VALUES", subqueries: true}
	k := len(v.Rows[0])
	n := &plan.Values{}
	for _, row := range v.Rows {
		if len(row) != k {
			failAt(rowPos(row), sqlerr.SyntaxError, "VALUES lists must all be the same length")
		}
		es, _ := x.bindList(row)
		n.Rows = append(n.Rows, es)
	}
	r := &bound{node: n, visible: k}
	for c := 0; c < k; c++ {
		col := make([]plan.Expr, len(n.Rows))
		pos := make([]ast.Pos, len(n.Rows))
		unknown := true
		for i := range n.Rows {
			col[i], pos[i] = n.Rows[i][c], loc(v.Rows[i][c])
			unknown = unknown && isUnknown(col[i].Type())
		}
		t := types.Of(types.Unknown)
		if !unknown {
			col, t = b.unify("VALUES", col, pos)
		}
		for i := range n.Rows {
			n.Rows[i][c] = col[i]
		}
		n.P.Columns = append(n.P.Columns, plan.Column{Name: "column" + itoa(c+1), Type: t})
		r.pos = append(r.pos, pos[0])
	}
	r.node = b.attachRows(n, x.f)
	return r
}

// attachRows gives literal rows, with the subqueries in them made joins: a union of projections where there are any.
func (b *binder) attachRows(v *plan.Values, f *frame) plan.Node {
	found := false
	for _, row := range v.Rows {
		found = found || hasSubqueryIn(row)
	}
	if !found {
		return v
	}
	names := make([]string, width(v))
	for i, c := range columns(v) {
		names[i] = c.Name
	}
	var ins []plan.Node
	for _, row := range v.Rows {
		var in plan.Node = newOne()
		exprs := make([]plan.Expr, len(row))
		for i, e := range row {
			in, exprs[i] = b.attach(in, f, e)
		}
		ins = append(ins, newProject(in, exprs, names))
	}
	if len(ins) == 1 {
		return ins[0]
	}
	return newUnion(ins...)
}

func (b *binder) setOp(s *ast.SetOp, parent *frame, ctes *cteScope) *bound {
	b.enter(s.At)
	defer b.leave()
	l := b.body(s.L, parent, ctes)
	r := b.body(s.R, parent, ctes)
	word := map[string]string{"union": "UNION", "intersect": "INTERSECT", "except": "EXCEPT"}[s.Op]
	if l.visible != r.visible {
		failAt(firstPos(r.pos, s.At), sqlerr.SyntaxError, "each %s query must have the same number of columns", word)
	}
	ln, rn := truncate(l.node, l.visible), truncate(r.node, r.visible)
	ts := make([]types.Type, l.visible)
	for i := range ts {
		pos := []ast.Pos{posAt(l.pos, i), posAt(r.pos, i)}
		if isUnknown(columns(ln)[i].Type) && isUnknown(columns(rn)[i].Type) {
			ts[i] = textType
			continue
		}
		ts[i] = b.common(word, []plan.Expr{colOf(ln, i), colOf(rn, i)}, pos)
	}
	ln, rn = b.castColumns(ln, ts, fn.Implicit, l.pos), b.castColumns(rn, ts, fn.Implicit, r.pos)
	out := &bound{visible: l.visible, pos: l.pos}
	switch {
	case s.Op == "union" && s.All:
		out.node = newUnion(ln, rn)
	case s.Op == "union":
		out.node = newDistinct(newUnion(ln, rn))
	default:
		n := &plan.SetOp{Left: ln, Right: rn, Except: s.Op == "except", All: s.All}
		n.P.Columns = newUnion(ln, rn).P.Columns
		out.node = n
	}
	if !(s.Op == "union" && s.All) {
		for i, c := range columns(out.node) {
			b.groupable(&plan.Col{Index: i, Typ: c.Type}, s.At)
		}
	}
	return out
}

func posAt(ps []ast.Pos, i int) ast.Pos {
	if i < len(ps) {
		return ps[i]
	}
	return -1
}

func firstPos(ps []ast.Pos, other ast.Pos) ast.Pos {
	if len(ps) > 0 {
		return ps[0]
	}
	return other
}

// outputOrder binds the ORDER BY of a set operation or VALUES, which sees only output columns.
func (b *binder) outputOrder(r *bound, items []ast.OrderItem, parent *frame, ctes *cteScope) []plan.SortKey {
	var keys []plan.SortKey
	for _, it := range items {
		i, ok := b.ordinal(it.X, r.visible, "ORDER BY")
		if !ok {
			i = -1
			if c, isRef := it.X.(*ast.ColumnRef); isRef && len(c.Parts) == 1 && !c.Star {
				for j, col := range columns(r.node)[:r.visible] {
					if col.Name == c.Parts[0] {
						i = j
					}
				}
				if i < 0 {
					failAt(loc(it.X), sqlerr.UndefinedColumn, "column %q does not exist", c.Parts[0])
				}
			}
		}
		if i < 0 {
			fail(sqlerr.New(sqlerr.FeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").
				WithDetail("Only result column names can be used, not expressions or functions.").
				WithHint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.").At(int(loc(it.X))))
		}
		keys = append(keys, orderKey(b.sortable(colOf(r.node, i), loc(it.X)), it))
	}
	return keys
}

// ordinal reads an integer literal as the position of an output column.
func (b *binder) ordinal(e ast.Expr, n int, clause string) (int, bool) {
	c, ok := e.(*ast.Const)
	if !ok {
		return 0, false
	}
	if c.Kind != ast.NumberConst {
		failAt(c.At, sqlerr.SyntaxError, "non-integer constant in %s", clause)
	}
	i, ok := parseInt(c.Text)
	if !ok {
		failAt(c.At, sqlerr.SyntaxError, "non-integer constant in %s", clause)
	}
	if i < 1 || i > int64(n) {
		failAt(c.At, sqlerr.InvalidColumnReference, "%s position %d is not in select list", clause, i)
	}
	return int(i) - 1, true
}

// limit applies LIMIT, OFFSET and FETCH.
func (b *binder) limit(q *ast.Query, r *bound, parent *frame, ctes *cteScope) {
	if q.WithTies && len(r.sort) == 0 {
		failAt(q.At, sqlerr.SyntaxError, "WITH TIES cannot be specified without ORDER BY clause")
	}
	if q.Limit == nil && q.Offset == nil {
		return
	}
	byQuery := countsByQuery(q)
	x := &exprBinder{b: b, f: &frame{scope: &scope{}, parent: parent}, ctes: ctes}
	var limit, offset int64
	var limitExpr, offsetExpr plan.Expr
	if !byQuery {
		limit, limitExpr = x.rowCount(q.Limit, "LIMIT", sqlerr.InvalidRowCountInLimit, -1)
		offset, offsetExpr = x.rowCount(q.Offset, "OFFSET", sqlerr.InvalidRowCountInOffset, 0)
		if limit < 0 && limitExpr == nil && offset == 0 && offsetExpr == nil {
			return
		}
	}
	node := b.settleColumns(r.node)
	sort := r.sort
	if len(sort) == 0 {
		node, sort = arrivalOrder(node)
	} else {
		for i := range sort {
			if c, ok := sort[i].X.(*plan.Col); ok {
				sort[i].X = colOf(node, c.Index)
			}
		}
	}
	if byQuery {
		b.limitByNumber(q, r, node, sort, parent, ctes)
		return
	}
	t := newTopN(node, nil, sort, limit, offset)
	t.LimitExpr, t.OffsetExpr, t.WithTies = limitExpr, offsetExpr, q.WithTies
	r.node = t
}

// rowCount binds LIMIT or OFFSET: a constant, or an expression of parameters to be computed later.
func (x *exprBinder) rowCount(e ast.Expr, clause string, code sqlerr.Code, none int64) (int64, plan.Expr) {
	if e == nil {
		return none, nil
	}
	x.clause = clause
	walkAST(e, func(n ast.Expr) bool {
		if c, ok := n.(*ast.ColumnRef); ok {
			failAt(c.At, sqlerr.InvalidColumnReference, "argument of %s must not contain variables", clause)
		}
		return true
	})
	v := fold(x.b.cast(x.bind(e), int8Type, fn.Assignment, e.Position()))
	if c, ok := v.(*plan.Const); ok {
		if c.Val.Null {
			return none, nil
		}
		if c.Val.I < 0 {
			fail(sqlerr.New(code, "%s must not be negative", clause))
		}
		return c.Val.I, nil
	}
	if has(v, func(e plan.Expr) bool {
		switch e.(type) {
		case *plan.Col, *outerRef, *subquery:
			return true
		}
		return false
	}) {
		unsupported(e.Position(), "argument of %s must be a constant or a parameter", clause)
	}
	if x.b.view() {
		unsupported(e.Position(), "argument of %s must be a constant in a materialized view", clause)
	}
	return none, v
}

// arrivalOrder adds the position of arrival to a node, where its rows have one, as a key to sort by.
func arrivalOrder(n plan.Node) (plan.Node, []plan.SortKey) {
	m, i, ok := withPosition(n)
	if !ok {
		return n, nil
	}
	return m, []plan.SortKey{{X: colOf(m, i)}}
}
