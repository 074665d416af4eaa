package planner

import (
	"slices"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// grouping is the GROUP BY clause: all key expressions, and the sets of indexes into them (one for a plain GROUP BY). Until oneKeyEach
// some keys may be the same.
type grouping struct {
	keys  []plan.Expr
	items []int // of each key: the item of the select list that it is, -1 for none; an expression is the first one that equals it
	sets  [][]int
}

func (blk *block) addAgg(a plan.Agg) plan.Expr {
	for i, o := range blk.aggs {
		if sameAgg(a, o) {
			return &aggRef{idx: i, typ: a.Typ}
		}
	}
	blk.aggs = append(blk.aggs, a)
	return &aggRef{idx: len(blk.aggs) - 1, typ: a.Typ}
}

func sameAgg(a, b plan.Agg) bool {
	if a.Fn != b.Fn || a.Distinct != b.Distinct || !equalAll(a.Args, b.Args) || !equalAll(a.Direct, b.Direct) ||
		!equal(a.Filter, b.Filter) || len(a.OrderBy) != len(b.OrderBy) {
		return false
	}
	for i := range a.OrderBy {
		if a.OrderBy[i].Desc != b.OrderBy[i].Desc || a.OrderBy[i].NullsFirst != b.OrderBy[i].NullsFirst || !equal(a.OrderBy[i].X, b.OrderBy[i].X) {
			return false
		}
	}
	return true
}

// groupKeys binds GROUP BY.
func (blk *block) groupKeys() *grouping {
	g := &grouping{sets: [][]int{{}}}
	for _, it := range blk.sel.GroupBy {
		sets := blk.groupItem(g, it)
		var product [][]int
		for _, a := range g.sets {
			for _, s := range sets {
				product = append(product, union(a, s))
			}
		}
		g.sets = product
		if len(g.sets) > maxGroupingSets {
			failAt(it.At, sqlerr.StatementTooComplex, "too many grouping sets present (maximum %d)", maxGroupingSets)
		}
	}
	return g
}

// maxGroupingSets is PostgreSQL's limit.
const maxGroupingSets = 4096

func union(a, b []int) []int {
	out := append([]int{}, a...)
	for _, i := range b {
		seen := false
		for _, j := range out {
			seen = seen || i == j
		}
		if !seen {
			out = append(out, i)
		}
	}
	return out
}

// groupItem gives the grouping sets that one item stands for.
func (blk *block) groupItem(g *grouping, it ast.GroupItem) [][]int {
	switch it.Kind {
	case "":
		if it.Row != nil {
			var set []int
			for _, r := range it.Row {
				set = union(set, blk.groupItem(g, r)[0])
			}
			return [][]int{set}
		}
		return [][]int{blk.groupExpr(g, it.X)}
	case "empty":
		return [][]int{{}}
	case "rollup":
		out := [][]int{{}}
		var prefix []int
		for _, s := range it.Sets {
			prefix = union(prefix, blk.groupItem(g, s)[0])
			out = append([][]int{prefix}, out...)
		}
		return out
	case "cube":
		if len(it.Sets) > 12 {
			failAt(it.At, sqlerr.TooManyColumns, "CUBE is limited to 12 elements")
		}
		parts := make([][]int, len(it.Sets))
		for i, s := range it.Sets {
			parts[i] = blk.groupItem(g, s)[0]
		}
		var out [][]int
		for mask := 1<<len(parts) - 1; mask >= 0; mask-- {
			var set []int
			for i, p := range parts {
				if mask&(1<<(len(parts)-1-i)) != 0 {
					set = union(set, p)
				}
			}
			out = append(out, set)
		}
		return out
	case "sets":
		var out [][]int
		for _, s := range it.Sets {
			out = append(out, blk.groupItem(g, s)...)
		}
		return out
	}
	unsupported(it.At, "this form of GROUP BY is not supported")
	return nil
}

// groupExpr binds one grouping expression: an input column, else a position or name of an output column, else an
// expression. A parenthesised list comes as a row.
func (blk *block) groupExpr(g *grouping, e ast.Expr) []int {
	if r, ok := e.(*ast.Row); ok {
		var set []int
		for _, a := range r.Args {
			set = union(set, blk.groupExpr(g, a))
		}
		return set
	}
	x := blk.binder("GROUP BY")
	x.windows = true
	k, item := blk.groupValue(x, e)
	g.keys, g.items = append(g.keys, blk.b.groupable(blk.b.settle(k), loc(e))), append(g.items, item)
	return []int{len(g.keys) - 1}
}

// groupValue also gives the item of the select list that e names, -1 if it is an expression.
func (blk *block) groupValue(x *exprBinder, e ast.Expr) (plan.Expr, int) {
	if c, ok := e.(*ast.Const); ok {
		items := blk.outputs(x)
		i, _ := blk.b.ordinal(c, len(items), "GROUP BY")
		if star := items[i].star; star != nil {
			return star, i
		}
		return x.bind(items[i].X), i
	}
	c, ok := e.(*ast.ColumnRef)
	if !ok || len(c.Parts) != 1 || c.Star {
		return x.bind(e), -1
	}
	if in := blk.f.find(c.Parts[0], c.At); in != nil {
		return in, -1
	}
	var found ast.Expr
	item := -1
	for i, it := range blk.outputs(x) {
		name := it.Alias
		if name == "" {
			name = impliedName(it.X)
		}
		if name == c.Parts[0] && it.star == nil {
			if found != nil {
				failAt(c.At, sqlerr.AmbiguousColumn, "GROUP BY %q is ambiguous", name)
			}
			found, item = it.X, i
		}
	}
	if found != nil && found != e {
		if cr, ok := found.(*ast.ColumnRef); !ok || len(cr.Parts) != 1 || cr.Parts[0] != c.Parts[0] {
			return x.bind(found), item
		}
	}
	return x.bind(e), -1
}

// output is an item of the select list before that is bound, or one of the columns that a star in it stands for.
type output struct {
	ast.SelectItem
	star plan.Expr
}

// outputs lists the output columns.
func (blk *block) outputs(x *exprBinder) []output {
	var out []output
	for _, it := range blk.sel.Items {
		cols, _, ok := blk.stars(x, it.X)
		if !ok {
			out = append(out, output{SelectItem: it})
		}
		for _, c := range cols {
			out = append(out, output{it, c})
		}
	}
	return out
}

// group builds the aggregation and rewrites everything above it to its output.
func (blk *block) group(g *grouping, on *onClause) {
	blk.oneKeyEach(g)
	session := blk.placeGroupWindow(g, on)
	blk.attachInputs(g)
	if session == nil && len(blk.aggs) == 0 && slices.ContainsFunc(g.sets, func(set []int) bool { return len(set) == 0 }) {
		// HAVING alone, or an empty grouping set: one group, with a count that nothing reads, so that there is always a row.
		x := blk.binder("HAVING")
		x.aggs = true
		x.aggregate(&ast.Call{Name: "count", Star: true})
	}
	if len(g.sets) == 1 {
		g.keys = pick(g.keys, g.sets[0])
		blk.dependentKeys(g, on)
		in, aggs := blk.ordered(blk.node)
		out := &regroup{blk: blk, keys: g.keys, aggs: len(blk.aggs)}
		if session != nil {
			out.session = blk.win
			out.base = 1
		}
		blk.node = newAggregate(in, session, g.keys, aggs)
		blk.eachOutput(on, out.top)
		return
	}
	if session != nil {
		fail(sqlerr.Unsupported("session_window is not supported with GROUPING SETS"))
	}
	blk.groupingSets(g, on)
}

func pick(es []plan.Expr, at []int) []plan.Expr {
	out := make([]plan.Expr, len(at))
	for i, j := range at {
		out[i] = es[j]
	}
	return out
}

// attachInputs turns subqueries in keys and aggregate arguments into joins beneath the aggregation.
func (blk *block) attachInputs(g *grouping) {
	at := func(e plan.Expr) plan.Expr {
		if e == nil {
			return nil
		}
		blk.node, e = blk.b.attach(blk.node, blk.f, e)
		return e
	}
	for i := range g.keys {
		g.keys[i] = at(g.keys[i])
	}
	for i := range blk.aggs {
		mapAgg(&blk.aggs[i], at)
	}
}

func mapAgg(a *plan.Agg, f func(plan.Expr) plan.Expr) {
	for i := range a.Args {
		a.Args[i] = f(a.Args[i])
	}
	for i := range a.OrderBy {
		a.OrderBy[i].X = f(a.OrderBy[i].X)
	}
	if a.Filter != nil {
		a.Filter = f(a.Filter)
	}
}

// dependentKeys adds columns that depend on a primary key among the keys, where something above needs them.
func (blk *block) dependentKeys(g *grouping, on *onClause) {
	seen := func(e plan.Expr) plan.Expr {
		blk.needDependent(g, e)
		return e
	}
	blk.eachOutput(on, seen)
}

func (blk *block) needDependent(g *grouping, e plan.Expr) {
	if containsExpr(g.keys, e) {
		return
	}
	if c, ok := e.(*plan.Col); ok {
		if blk.dependsOnKeys(g, c.Index) {
			g.keys = append(g.keys, c)
		}
		return
	}
	if s, ok := e.(*subquery); ok {
		outerUses(s.root, blk.f, func(r *outerRef) {
			blk.needDependent(g, &plan.Col{Index: r.idx, Typ: r.typ, Name: r.name})
		})
	}
	mapChildren(e, func(c plan.Expr) plan.Expr {
		blk.needDependent(g, c)
		return c
	})
}

// dependsOnKeys says whether the keys hold the whole primary key of the table that column i comes from.
func (blk *block) dependsOnKeys(g *grouping, i int) bool {
	for _, s := range blk.f.scope.sources {
		if s.rel == nil || s.rel.HiddenKey || len(s.rel.PrimaryKey) == 0 || !sourceHas(s, i) {
			continue
		}
		all := true
		for _, k := range s.rel.PrimaryKey {
			all = all && containsExpr(g.keys, s.cols[k].expr)
		}
		if all {
			return true
		}
	}
	return false
}

func sourceHas(s *source, i int) bool {
	for _, v := range s.cols {
		if c, ok := v.expr.(*plan.Col); ok && c.Index == i {
			return true
		}
	}
	return false
}

// regroup rewrites expressions over the input of an aggregation to ones over its output.
type regroup struct {
	blk     *block
	keys    []plan.Expr
	items   []int // as in grouping, for grouping sets
	base    int   // output index of the first key
	aggs    int
	session *eventWindow
	// groupingAt gives the output column of a GROUPING call, for grouping sets.
	groupingAt func(g *groupingRef) plan.Expr
}

// relabelled finds the key that e is under another type with the same values: a varchar column that is used as text, say. -1 if none.
func (r *regroup) relabelled(e plan.Expr) int {
	switch e.(type) {
	case *plan.Col, *plan.Call, *plan.Case, *plan.Coalesce, *plan.Subscript:
		return slices.IndexFunc(r.keys, func(k plan.Expr) bool {
			return k.Type() != e.Type() && k.Type().Layout() == e.Type().Layout() && equal(relabel(k, e.Type()), e)
		})
	}
	return -1
}

// find gives the key that e is, -1 for none. Of keys that are equal it is the one that is first in the select list, as in PostgreSQL.
func (r *regroup) find(e plan.Expr) int {
	at := findExpr(r.keys, e)
	for i := range r.items {
		if at >= 0 && r.items[i] < r.items[at] && equal(r.keys[i], e) {
			at = i
		}
	}
	return at
}

func (r *regroup) top(e plan.Expr) plan.Expr {
	if i := r.find(e); i >= 0 {
		return &plan.Col{Index: r.base + i, Typ: e.Type(), Name: nameOf(e)}
	}
	if i := r.relabelled(e); i >= 0 {
		return &plan.Col{Index: r.base + i, Typ: e.Type(), Name: nameOf(e)}
	}
	switch x := e.(type) {
	case *aggRef:
		return &plan.Col{Index: r.base + len(r.keys) + x.idx, Typ: x.typ, Name: r.blk.aggs[x.idx].Fn.Name}
	case *eventWindow:
		if r.session != nil && equal(r.session, x) {
			return &plan.Col{Index: 0, Typ: x.typ, Name: "session_window"}
		}
		failAt(ast.Pos(x.pos), sqlerr.GroupingError, "%s must appear in the GROUP BY clause or be used in an aggregate function", x.name())
	case *groupingRef:
		if r.groupingAt != nil {
			return r.groupingAt(x)
		}
		for k := range x.args {
			r.checkGrouping(k, x)
		}
		return &plan.Const{Val: types.IntDatum(0), Typ: int4Type}
	case *plan.Col:
		failAt(r.blk.colPos(x), sqlerr.GroupingError, "column %q must appear in the GROUP BY clause or be used in an aggregate function", r.blk.fullName(x.Index, x.Name))
	case *subquery:
		if !r.blk.b.regrouped[x.root] {
			r.blk.b.regrouped[x.root] = true
			mapOuter(x.root, r.blk.f, func(o *outerRef) plan.Expr { return r.outer(o, x) })
		}
	}
	return mapChildren(e, r.top)
}

func (r *regroup) checkGrouping(k int, x *groupingRef) int {
	i := findExpr(r.keys, x.args[k])
	if i < 0 {
		failAt(x.at[k], sqlerr.GroupingError, "arguments to GROUPING must be grouping expressions of the associated query level")
	}
	return i
}

// outer rewrites a reference from within a subquery.
func (r *regroup) outer(o *outerRef, s *subquery) plan.Expr {
	c := &plan.Col{Index: o.idx, Typ: o.typ, Name: o.name}
	i := r.find(c)
	if i < 0 {
		failAt(o.pos, sqlerr.GroupingError, "subquery uses ungrouped column %q from outer query", r.blk.fullName(o.idx, o.name))
	}
	return &outerRef{frame: o.frame, idx: r.base + i, typ: o.typ, name: o.name, row: o.row, pos: o.pos}
}

func nameOf(e plan.Expr) string {
	if c, ok := e.(*plan.Col); ok {
		return c.Name
	}
	return ""
}

// fullName gives table.column for messages.
func (blk *block) fullName(i int, name string) string {
	for _, s := range blk.f.scope.sources {
		for _, v := range s.cols {
			if c, ok := v.expr.(*plan.Col); ok && c.Index == i {
				return s.alias + "." + v.name
			}
		}
	}
	return name
}

// colPos finds where the select list names a column, for the position of an error.
func (blk *block) colPos(c *plan.Col) ast.Pos {
	pos := ast.Pos(-1)
	see := func(e ast.Expr) {
		walkAST(e, func(n ast.Expr) bool {
			if ref, ok := n.(*ast.ColumnRef); ok && !ref.Star && pos < 0 && ref.Parts[len(ref.Parts)-1] == c.Name {
				pos = ref.At
			}
			call, isCall := n.(*ast.Call)
			if isCall {
				if class, ok := classOf(call.Name); ok && class == aggregateClass && call.Over == nil {
					return false
				}
			}
			return true
		})
	}
	for _, it := range blk.sel.Items {
		see(it.X)
	}
	see(blk.sel.Having)
	return pos
}
