package planner

import (
	"strconv"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

func itoa(i int) string { return strconv.Itoa(i) }

// block is one SELECT while it is bound. Until the grouping, its node only ever grows columns at the end, so that
// column indexes in expressions that are already bound stay right.
type block struct {
	b    *binder
	sel  *ast.Select
	f    *frame
	ctes *cteScope
	node plan.Node

	aggs  []plan.Agg
	overs []*overCall
	sets  []*plan.Call
	// win is the block's one window() or session_window(); winNames are the names by which it can be referred to.
	win      *eventWindow
	winNames map[string]bool
	// late is set while clauses behind GROUP BY are bound: there a window of the block hides an input column of its name.
	late bool

	items    []plan.Expr // select list
	names    []string
	itemPos  []ast.Pos
	itemASTs []ast.Expr // of each item, nil for one that a star made
	hidden   []plan.Expr
	sort     []plan.SortKey // X is a *plan.Col: an index into items, then hidden
	having   []plan.Expr
}

// selectQuery binds a SELECT with the ORDER BY of its query.
func (b *binder) selectQuery(s *ast.Select, order []ast.OrderItem, parent *frame, ctes *cteScope) *bound {
	blk := &block{b: b, sel: s, ctes: ctes}
	blk.f = &frame{parent: parent, block: blk}
	fb := &fromBinder{b: b, parent: parent, ctes: ctes}
	part := fb.list(s.From)
	blk.node, blk.f.scope = part.node, part.scope
	blk.f.window = blk.windowNamed
	blk.where()
	blk.findWindow()
	keys := blk.groupKeys()
	blk.late = blk.win != nil && blk.windowInGroupBy()
	blk.selectItems()
	blk.bindHaving()
	on := blk.distinctOn()
	blk.bindOrder(order, on)
	grouped := len(s.GroupBy) > 0 || len(blk.aggs) > 0 || s.Having != nil
	if grouped {
		blk.group(keys, on)
	} else {
		blk.placeWindow(on)
	}
	blk.filterHaving()
	blk.windowFunctions(on)
	blk.setFunctions(on)
	return blk.project(on)
}

func (blk *block) binder(clause string) *exprBinder {
	return &exprBinder{b: blk.b, f: blk.f, ctes: blk.ctes, block: blk, clause: clause, subqueries: true}
}

func (blk *block) where() {
	if blk.sel.Where == nil {
		return
	}
	x := blk.binder("WHERE")
	blk.node = blk.b.filterBy(blk.node, blk.f, x.condition(blk.sel.Where))
}

func (blk *block) selectItems() {
	x := blk.binder("SELECT")
	x.aggs, x.overs, x.sets, x.windows = true, true, true, true
	for _, it := range blk.sel.Items {
		if blk.addStar(x, it.X) {
			continue
		}
		e := x.bind(it.X)
		name := it.Alias
		if name == "" {
			name = columnName(it.X)
		}
		blk.addItem(e, name, it.X)
	}
}

func (blk *block) addItem(e plan.Expr, name string, x ast.Expr) {
	pos := ast.Pos(-1)
	if x != nil {
		pos = loc(x)
	}
	blk.items = append(blk.items, e)
	blk.names = append(blk.names, name)
	blk.itemPos = append(blk.itemPos, pos)
	blk.itemASTs = append(blk.itemASTs, x)
}

// addStar adds the items that a star stands for; it says false for any other expression.
func (blk *block) addStar(x *exprBinder, e ast.Expr) bool {
	cols, names, ok := blk.stars(x, e)
	for i, c := range cols {
		blk.addItem(c, names[i], nil)
	}
	return ok
}

// stars gives the columns that *, t.* or (w).* stands for; ok is false for any other item.
func (blk *block) stars(x *exprBinder, e ast.Expr) (cols []plan.Expr, names []string, ok bool) {
	switch n := e.(type) {
	case *ast.ColumnRef:
		if n.Star {
			cols, names = blk.star(n)
			return cols, names, true
		}
	case *ast.Field:
		if n.Name == "*" {
			cols, names = rowStar(x.bind(n.X), n.At)
			return cols, names, true
		}
	}
	return nil, nil, false
}

func (blk *block) star(c *ast.ColumnRef) (cols []plan.Expr, names []string) {
	add := func(g *frame, all []visible) {
		for _, v := range all {
			if !v.hidden {
				cols, names = append(cols, blk.f.from(g, v.expr, c.At)), append(names, v.name)
			}
		}
	}
	if len(c.Parts) == 0 {
		if len(blk.f.scope.sources) == 0 {
			failAt(c.At, sqlerr.SyntaxError, "SELECT * with no tables specified is not valid")
		}
		add(blk.f, blk.f.scope.vis)
		return cols, names
	}
	schema, table := "", c.Parts[len(c.Parts)-1]
	if len(c.Parts) > 1 {
		schema = c.Parts[len(c.Parts)-2]
	}
	for g := blk.f; g != nil; g = g.parent {
		if s := g.findSource(schema, table); s != nil {
			add(g, s.cols)
			return cols, names
		}
	}
	if e := blk.f.plain(table, c.At); e != nil && schema == "" {
		return rowStar(e, c.At)
	}
	blk.f.noTable(table, c.At)
	return nil, nil
}

// rowStar gives the fields of a window, or of a row whose fields are known.
func rowStar(e plan.Expr, pos ast.Pos) (cols []plan.Expr, names []string) {
	switch e.Type().Kind {
	case types.Window:
		names = []string{"start", "end"}
	case types.Record:
		if names = fieldNames(e); names == nil {
			fail(sqlerr.Unsupported("\"*\" of a row whose fields are known only when it is made is not supported").At(int(pos)).
				WithHint("Select the columns where the row is made."))
		}
	default:
		failAt(pos, sqlerr.WrongObjectType, "type %s is not composite", e.Type())
	}
	for i := range names {
		if e.Type().Kind == types.Window {
			cols = append(cols, field(e, names[i], pos))
		} else {
			cols = append(cols, fieldAt(e, i))
		}
	}
	return cols, names
}

func (blk *block) bindHaving() {
	if blk.sel.Having == nil {
		return
	}
	x := blk.binder("HAVING")
	x.aggs, x.windows = true, true
	blk.having = conjuncts(x.condition(blk.sel.Having))
}

// filterHaving applies HAVING over the aggregate.
func (blk *block) filterHaving() {
	if len(blk.having) > 0 {
		blk.node = blk.b.filterBy(blk.node, blk.f, and(blk.having))
	}
}

// onClause is DISTINCT ON: keys are indexes into items, then hidden, or, without ORDER BY, expressions.
type onClause struct {
	exprs []plan.Expr
	pos   []ast.Pos
}

func (blk *block) distinctOn() *onClause {
	if len(blk.sel.DistinctOn) == 0 {
		return nil
	}
	x := blk.binder("DISTINCT ON")
	x.aggs, x.overs, x.windows = true, true, true
	on := &onClause{}
	for _, e := range blk.sel.DistinctOn {
		on.exprs = append(on.exprs, blk.b.groupable(blk.outputExpr(x, e, "SELECT DISTINCT ON"), loc(e)))
		on.pos = append(on.pos, loc(e))
	}
	return on
}

// outputExpr resolves an item of ORDER BY or DISTINCT ON: a position, the name of an output column, or an expression
// over the input.
func (blk *block) outputExpr(x *exprBinder, e ast.Expr, clause string) plan.Expr {
	if i, ok := blk.b.ordinal(e, len(blk.items), clause); ok {
		return blk.settleItem(i)
	}
	if c, ok := e.(*ast.ColumnRef); ok && len(c.Parts) == 1 && !c.Star {
		found := -1
		for i, name := range blk.names {
			if name != c.Parts[0] {
				continue
			}
			if found >= 0 && !equal(blk.items[found], blk.items[i]) {
				failAt(c.At, sqlerr.AmbiguousColumn, "%s %q is ambiguous", clause, name)
			}
			found = i
		}
		if found >= 0 {
			return blk.settleItem(found)
		}
	}
	return x.value(e)
}

// settleItem gives output expression i, as text if its type is unknown.
func (blk *block) settleItem(i int) plan.Expr {
	blk.items[i] = blk.b.settle(blk.items[i])
	return blk.items[i]
}

// bindOrder binds ORDER BY; keys that are not in the select list become hidden columns.
func (blk *block) bindOrder(items []ast.OrderItem, on *onClause) {
	x := blk.binder("ORDER BY")
	x.aggs, x.overs, x.windows, x.sets = true, true, true, true
	matched := 0 // leading items that are DISTINCT ON expressions
	for _, it := range items {
		e := blk.b.sortable(blk.outputExpr(x, it.X, "ORDER BY"), loc(it.X))
		i := findExpr(blk.items, e)
		if i < 0 {
			if blk.sel.Distinct && on == nil {
				failAt(loc(it.X), sqlerr.InvalidColumnReference, "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
			}
			i = len(blk.items) + blk.hide(e)
		}
		if on != nil && !containsExpr(on.exprs, e) && matched < len(on.exprs) {
			failAt(on.pos[0], sqlerr.InvalidColumnReference, "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
		}
		matched++
		blk.sort = append(blk.sort, orderKey(&plan.Col{Index: i}, it))
	}
}

// hide adds a hidden column, once.
func (blk *block) hide(e plan.Expr) int {
	if i := findExpr(blk.hidden, e); i >= 0 {
		return i
	}
	blk.hidden = append(blk.hidden, e)
	return len(blk.hidden) - 1
}

// eachOutput replaces every expression that is computed above the grouping.
func (blk *block) eachOutput(on *onClause, f func(plan.Expr) plan.Expr) {
	for i := range blk.items {
		blk.items[i] = f(blk.items[i])
	}
	for i := range blk.hidden {
		blk.hidden[i] = f(blk.hidden[i])
	}
	for i := range blk.having {
		blk.having[i] = f(blk.having[i])
	}
	if on != nil {
		for i := range on.exprs {
			on.exprs[i] = f(on.exprs[i])
		}
	}
	for _, o := range blk.overs {
		o.each(f)
	}
	for _, c := range blk.sets {
		for i := range c.Args {
			c.Args[i] = f(c.Args[i])
		}
	}
}

// project makes the final projection, DISTINCT and DISTINCT ON.
func (blk *block) project(on *onClause) *bound {
	attachAll := func(es []plan.Expr) {
		for i := range es {
			blk.node, es[i] = blk.b.attach(blk.node, blk.f, es[i])
		}
	}
	attachAll(blk.items)
	attachAll(blk.hidden)
	if on != nil {
		attachAll(on.exprs)
		if len(blk.sort) == 0 {
			blk.dedup(on)
		} else {
			for _, e := range on.exprs {
				if findExpr(blk.items, e) < 0 {
					blk.hide(e)
				}
			}
		}
	}
	r := &bound{visible: len(blk.items), pos: blk.itemPos}
	exprs := append(append([]plan.Expr{}, blk.items...), blk.hidden...)
	names := append(append([]string{}, blk.names...), make([]string, len(blk.hidden))...)
	r.node = newProject(blk.node, exprs, names)
	for i, k := range blk.sort {
		c := colOf(r.node, k.X.(*plan.Col).Index)
		blk.sort[i].X = c
	}
	r.sort = blk.sort
	switch {
	case on != nil && len(blk.sort) > 0:
		var part []plan.Expr
		for _, e := range on.exprs {
			part = append(part, colOf(r.node, findExpr(exprs, e)))
		}
		r.node = newTopN(r.node, part, append([]plan.SortKey{}, blk.sort...), 1, 0)
	case blk.sel.Distinct && on == nil:
		for i := range blk.items {
			if isUnknown(blk.items[i].Type()) {
				r.node = blk.b.settleColumns(r.node)
			}
			blk.b.groupable(blk.items[i], blk.itemPos[i])
		}
		r.node = newDistinct(r.node)
		for i, k := range r.sort {
			r.sort[i].X = colOf(r.node, k.X.(*plan.Col).Index)
		}
	}
	return r
}

// dedup keeps the first row to arrive for each key.
func (blk *block) dedup(on *onClause) {
	d := &plan.Dedup{Input: blk.node, Keys: on.exprs, TimeKey: -1, TimeCol: -1, Within: blk.sel.WithinWatermark}
	d.P.Columns = columns(blk.node)
	blk.node = d
}

// columnName is the name that PostgreSQL gives an output column without alias.
func columnName(e ast.Expr) string {
	if n := impliedName(e); n != "" {
		return n
	}
	return "?column?"
}

// impliedName is the name that an expression has by itself, "" for none.
func impliedName(e ast.Expr) string {
	n, _ := figureName(e)
	return n
}

// figureName is PostgreSQL's FigureColname: a name, and whether it is a strong one, which a cast around it keeps.
func figureName(e ast.Expr) (name string, strong bool) {
	switch x := e.(type) {
	case *ast.ColumnRef:
		if x.Star {
			return "", false // of (SELECT *): PostgreSQL looks at the query as written
		}
		return x.Parts[len(x.Parts)-1], true
	case *ast.Field:
		return x.Name, true
	case *ast.Call:
		return x.Name, true
	case *ast.Cast:
		if n, strong := figureName(x.X); strong {
			return n, true
		}
		return x.Type.Name, false
	case *ast.Subscript:
		return figureName(x.X)
	case *ast.Collate:
		return figureName(x.X)
	case *ast.Case:
		if x.Else != nil {
			if n, strong := figureName(x.Else); strong {
				return n, true
			}
		}
		return "case", false
	case *ast.Subquery:
		return queryName(x.Query), true
	case *ast.Exists:
		return "exists", true
	case *ast.ArrayExpr, *ast.ArrayQuery:
		return "array", true
	case *ast.Row:
		return "row", true
	case *ast.IntervalLit:
		return "interval", false
	}
	return "", false
}

// queryName is the name of the first output column of a subquery.
func queryName(q *ast.Query) string {
	switch s := q.Body.(type) {
	case *ast.Select:
		if len(s.Items) == 0 {
			return ""
		}
		if s.Items[0].Alias != "" {
			return s.Items[0].Alias
		}
		return columnName(s.Items[0].X)
	case *ast.Values:
		return "column1"
	}
	return ""
}
