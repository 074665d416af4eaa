package planner

import (
	"errors"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// fromBinder binds a FROM clause.
type fromBinder struct {
	b      *binder
	parent *frame // of the enclosing query
	ctes   *cteScope
}

// fromPart is a bound FROM item: its node and the names of its columns. lateral is the frame of the items to its left,
// to which its node may refer.
type fromPart struct {
	node    plan.Node
	scope   *scope
	lateral *frame
	asOf    bool // looked up as of the time at which the rows to its left come in
}

// list binds the items of FROM, joined by comma; none gives one row without columns.
func (fb *fromBinder) list(items []ast.TableExpr) *fromPart {
	var left *fromPart
	for _, it := range items {
		right := fb.item(it, left)
		if left == nil {
			left = right
			continue
		}
		left = fb.combine(plan.Inner, left, right, nil)
	}
	if left == nil {
		return &fromPart{node: newOne(), scope: &scope{}}
	}
	return left
}

// item binds one item; left is what stands to its left, for LATERAL.
func (fb *fromBinder) item(t ast.TableExpr, left *fromPart) *fromPart {
	fb.b.enter(-1)
	defer fb.b.leave()
	switch x := t.(type) {
	case *ast.TableRef:
		return fb.table(x)
	case *ast.SubqueryRef:
		return fb.subquery(x, left)
	case *ast.FuncRef:
		return fb.function(x, left)
	case *ast.Join:
		return fb.join(x, left)
	}
	fail(sqlerr.Unsupported("this kind of FROM item is not supported"))
	return nil
}

// lateralFrame makes the frame that a LATERAL item sees.
func (fb *fromBinder) lateralFrame(left *fromPart) *frame {
	if left == nil {
		return nil
	}
	return &frame{scope: left.scope, parent: fb.parent}
}

func (fb *fromBinder) table(t *ast.TableRef) *fromPart {
	if t.AsOf != nil {
		unsupported(t.AsOf.Position(), "FOR SYSTEM_TIME AS OF is supported on the right side of a join only")
	}
	alias := t.Alias
	if alias == "" {
		alias = t.Name.Name
	}
	if t.Name.Schema == "" {
		if c := fb.ctes.find(t.Name.Name); c != nil {
			node := fb.b.cte(c, t.Name.Pos)
			return fb.named(fb.watermarked(node, t.Watermark), alias, "", t.Columns, nil, t.Name.Pos)
		}
	}
	r, err := fb.b.o.Catalog.Lookup(t.Name.Schema, t.Name.Name, fb.b.o.SearchPath)
	must(err, t.Name.Pos)
	fb.b.noteDependency(r)
	node := fb.b.relation(r, t.Name.Pos)
	schema := ""
	if t.Alias == "" {
		schema = r.Schema
	}
	return fb.named(fb.watermarked(node, t.Watermark), alias, schema, t.Columns, r, t.Name.Pos)
}

// relation reads a stream, table, materialized view or system relation, or expands a plain view.
func (b *binder) relation(r *catalog.Relation, pos ast.Pos) plan.Node {
	switch r.Kind {
	case catalog.View:
		return b.expand(r, pos)
	case catalog.Index, catalog.Sequence:
		failAt(pos, sqlerr.WrongObjectType, "cannot open relation %q", r.Name)
	case catalog.System:
		if b.view() && !readableInViews[r.Name] {
			unsupported(pos, "system relation %q can't be read in a materialized view", r.Schema+"."+r.Name)
		}
	}
	b.noteRead(r)
	s := newScan(r, r.HiddenKey || r.Kind == catalog.System) // those of the catalogs have tableoid
	if n, ok := b.o.Widths[r.OID]; ok && n < len(s.Cols) {
		s.Cols, s.P.Columns = s.Cols[:n:n], s.P.Columns[:n:n]
	}
	return s
}

// readableInViews are the system relations whose changes views may follow.
var readableInViews = map[string]bool{"late_rows": true, "dead_letters": true}

// maxViewDepth bounds the expansion of views on views.
const maxViewDepth = 100

// expand puts the query of a plain view in its place.
func (b *binder) expand(r *catalog.Relation, pos ast.Pos) plan.Node {
	if b.o.ParseView == nil {
		unsupported(pos, "view %q can't be expanded here", r.Name)
	}
	for _, x := range b.expanding {
		if x.OID == r.OID {
			failAt(pos, sqlerr.InvalidObjectDefinition, "infinite recursion detected in rules for relation %q", r.Name)
		}
	}
	if len(b.expanding) >= maxViewDepth {
		failAt(pos, sqlerr.StatementTooComplex, "views are nested too deeply")
	}
	q, err := b.o.ParseView(r.SQL)
	must(err, pos)
	saved := b.o
	b.expanding = append(b.expanding, r)
	defer func() {
		b.o, b.expanding = saved, b.expanding[:len(b.expanding)-1]
		if p := recover(); p != nil {
			panic(withoutPosition(p))
		}
	}()
	b.o.Widths = r.Widths
	if sp, ok := r.Settings["search_path"]; ok {
		b.o.SearchPath = splitPath(sp)
	}
	node := b.query(q, nil, nil).result(b)
	names := make([]string, 0, len(r.Columns))
	ts := make([]types.Type, 0, len(r.Columns))
	for _, c := range r.Columns {
		names = append(names, c.Name)
		ts = append(ts, c.Type)
	}
	if len(names) != width(node) {
		return node
	}
	return rename(b.castColumns(node, ts, fn.Explicit, nil), names)
}

// splitPath takes a search_path setting apart.
func splitPath(s string) []string {
	var out []string
	for _, p := range splitList(s) {
		out = append(out, splitName(p)[0])
	}
	return out
}

func splitList(s string) []string {
	var out []string
	start := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != ',' {
			continue
		}
		part := s[start:i]
		for len(part) > 0 && part[0] == ' ' {
			part = part[1:]
		}
		for len(part) > 0 && part[len(part)-1] == ' ' {
			part = part[:len(part)-1]
		}
		if part != "" {
			out = append(out, part)
		}
		start = i + 1
	}
	return out
}

// withoutPosition takes the position from an error that is about the text of a view, not of the statement.
func withoutPosition(p any) any {
	bp, ok := p.(bindPanic)
	if !ok {
		return p
	}
	var e *sqlerr.Error
	if errors.As(bp.err, &e) && e.Position != 0 {
		c := *e
		c.Position = 0
		return bindPanic{&c}
	}
	return p
}

// named makes a FROM item out of a node: alias and column names. rel is set for a relation.
func (fb *fromBinder) named(node plan.Node, alias, schema string, names []string, rel *catalog.Relation, pos ast.Pos) *fromPart {
	s := &source{alias: alias, schema: schema, rel: rel}
	cols := columns(node)
	shown := 0
	for i, c := range cols {
		v := visible{name: c.Name, expr: colOf(node, i)}
		if rel != nil && i < len(rel.Columns) && rel.Columns[i].Hidden {
			v.hidden = true
		} else {
			shown++
		}
		if i < len(names) {
			v.name = names[i]
		}
		s.cols = append(s.cols, v)
	}
	if len(names) > shown {
		failAt(-1, sqlerr.InvalidColumnReference, "table %q has %d columns available but %d columns specified", alias, shown, len(names))
	}
	sc := &scope{sources: []*source{s}}
	for _, v := range s.cols {
		if !v.hidden {
			sc.vis = append(sc.vis, v)
		}
	}
	return &fromPart{node: node, scope: sc}
}

func (fb *fromBinder) subquery(t *ast.SubqueryRef, left *fromPart) *fromPart {
	parent := fb.parent
	var lat *frame
	switch {
	case left == nil:
	case t.Lateral:
		lat = fb.lateralFrame(left)
		parent = lat
	default:
		parent = &frame{scope: &scope{}, parent: fb.parent, unreachable: left.scope.sources}
	}
	node := fb.watermarked(fb.b.query(t.Query, parent, fb.ctes).result(fb.b), t.Watermark)
	p := fb.named(node, t.Alias, "", t.Columns, nil, t.At)
	p.lateral = lat
	return p
}

// joinKinds maps the syntax to the plan; cross is an inner join without a condition.
var joinKinds = map[string]plan.JoinKind{"inner": plan.Inner, "cross": plan.Inner, "left": plan.Left, "right": plan.Right,
	"full": plan.Full, "semi": plan.Semi, "anti": plan.Anti, "asof": plan.Inner, "left asof": plan.Left}

func (fb *fromBinder) join(j *ast.Join, outer *fromPart) *fromPart {
	p := fb.bareJoin(j, outer)
	if j.Alias == "" {
		return p
	}
	// The alias names the columns as * shows them, and hides the items within.
	s := &source{alias: j.Alias, cols: append([]visible{}, p.scope.vis...)}
	if len(j.Columns) > len(s.cols) {
		failAt(-1, sqlerr.InvalidColumnReference, "join expression %q has %d columns available but %d columns specified", j.Alias, len(s.cols), len(j.Columns))
	}
	for i, name := range j.Columns {
		s.cols[i].name = name
	}
	p.scope = &scope{sources: []*source{s}, vis: append([]visible{}, s.cols...), within: append(p.scope.within, p.scope.sources...)}
	return p
}

// bareJoin binds a join without its alias.
func (fb *fromBinder) bareJoin(j *ast.Join, outer *fromPart) *fromPart {
	kind, ok := joinKinds[j.Kind]
	if !ok {
		unsupported(j.At, "%s joins are not supported", j.Kind)
	}
	l := fb.item(j.L, outer)
	r := fb.rightItem(j, l)
	if j.Kind == "asof" || j.Kind == "left asof" {
		return fb.asofJoin(j, l, r)
	}
	if r.lateral != nil && usesFrame(r.node, r.lateral) && (kind == plan.Right || kind == plan.Full) {
		failAt(j.At, sqlerr.InvalidColumnReference, "invalid reference to FROM-clause entry: the combining JOIN type must be INNER or LEFT for a LATERAL reference")
	}
	using := j.Using
	if j.Natural {
		using = commonNames(l.scope, r.scope)
	}
	if using != nil {
		return fb.using(kind, l, r, using, j.At)
	}
	return fb.combineOn(kind, l, r, j.On)
}

// combineOn joins two items by a condition.
func (fb *fromBinder) combineOn(kind plan.JoinKind, l, r *fromPart, on ast.Expr) *fromPart {
	var cond plan.Expr
	both := l.scope.join(shifted(r.scope, width(l.node)))
	if on != nil {
		f := &frame{scope: both, parent: fb.parent}
		x := &exprBinder{b: fb.b, f: f, ctes: fb.ctes, clause: "JOIN/ON", subqueries: true}
		cond = x.condition(on)
		if hasSubquery(cond) {
			if kind != plan.Inner {
				unsupported(on.Position(), "subqueries in the condition of an outer, semi or anti join are not supported")
			}
			p := fb.combine(kind, l, r, nil)
			k := width(p.node)
			p.node = truncate(fb.b.filterBy(p.node, f, cond), k)
			p.scope = both
			return p
		}
	}
	return fb.combine(kind, l, r, cond)
}

func hasSubquery(e plan.Expr) bool {
	return has(e, func(x plan.Expr) bool { _, ok := x.(*subquery); return ok })
}

func shifted(s *scope, n int) *scope {
	c := &scope{vis: append([]visible{}, s.vis...), within: s.within}
	for _, src := range s.sources {
		d := *src
		d.cols = append([]visible{}, src.cols...)
		c.sources = append(c.sources, &d)
	}
	c.shift(n)
	return c
}

// combine joins two items; the condition is over left columns, then right.
func (fb *fromBinder) combine(kind plan.JoinKind, l, r *fromPart, cond plan.Expr) *fromPart {
	p := &fromPart{lateral: l.lateral}
	if r.asOf {
		p.node = fb.b.lookup(kind, l.node, r.node, cond)
	} else {
		p.node = fb.b.apply(kind, l.node, r.node, cond, r.lateral, false)
	}
	if kind == plan.Semi || kind == plan.Anti {
		p.scope = l.scope
		return p
	}
	p.scope = l.scope.join(shifted(r.scope, width(l.node)))
	return p
}

func commonNames(l, r *scope) []string {
	out := []string{}
	for _, a := range l.vis {
		for _, b := range r.vis {
			if a.name == b.name && !a.hidden && !b.hidden && indexOf(out, a.name) < 0 {
				out = append(out, a.name)
			}
		}
	}
	return out
}

// using joins by equality of columns of the same names, which are merged into one.
func (fb *fromBinder) using(kind plan.JoinKind, l, r *fromPart, names []string, pos ast.Pos) *fromPart {
	lw := width(l.node)
	rs := shifted(r.scope, lw)
	var conds []plan.Expr
	var merged []visible
	for _, name := range names {
		a, b := usingColumn(l.scope, name, "left", pos), usingColumn(rs, name, "right", pos)
		eq := fb.b.operator("=", a, b, pos)
		conds = append(conds, eq)
		es, t := fb.b.unify("JOIN/USING", []plan.Expr{a, b}, []ast.Pos{pos, pos})
		v := visible{name: name, expr: es[0]}
		switch kind {
		case plan.Right:
			v.expr = es[1]
		case plan.Full:
			v.expr = &plan.Coalesce{Args: es, Typ: t}
		}
		merged = append(merged, v)
	}
	p := fb.combine(kind, l, r, and(conds))
	if kind == plan.Semi || kind == plan.Anti {
		return p
	}
	vis := merged
	for _, v := range append(append([]visible{}, l.scope.vis...), rs.vis...) {
		if indexOf(names, v.name) < 0 {
			vis = append(vis, v)
		}
	}
	p.scope.vis = vis
	return p
}

func usingColumn(s *scope, name, side string, pos ast.Pos) plan.Expr {
	var found plan.Expr
	for _, v := range s.vis {
		if v.name != name {
			continue
		}
		if found != nil && !equal(found, v.expr) {
			failAt(-1, sqlerr.AmbiguousColumn, "common column name %q appears more than once in %s table", name, side)
		}
		found = v.expr
	}
	if found == nil {
		failAt(-1, sqlerr.UndefinedColumn, "column %q specified in USING clause does not exist in %s table", name, side)
	}
	return found
}

// watermarked declares event time on a FROM item, as if its stream had been declared with it.
func (fb *fromBinder) watermarked(n plan.Node, w *ast.WatermarkDef) plan.Node {
	if w == nil {
		return n
	}
	at := -1
	for i, c := range columns(n) {
		if c.Name == w.Column {
			at = i
		}
	}
	if at < 0 {
		failAt(w.At, sqlerr.UndefinedColumn, "column %q does not exist", w.Column)
	}
	scan, col := scanOf(n, at)
	if scan == nil {
		unsupported(w.At, "WATERMARK after a FROM item needs a plain column of a stream")
	}
	if scan.Rel.Kind == catalog.Table {
		fb.b.notices = append(fb.b.notices, "the watermark on table \""+scan.Rel.Name+"\" has no effect: only streams carry one")
		return n
	}
	if scan.Rel.Kind != catalog.Stream {
		unsupported(w.At, "WATERMARK after a FROM item is supported on streams only")
	}
	if scan.Rel.Watermark != nil {
		fail(sqlerr.New(sqlerr.InvalidTableDefinition, "Redefining watermark is disallowed: stream %q already has one", scan.Rel.Name).At(int(w.At)))
	}
	r := *scan.Rel
	r.Watermark = fb.b.watermark(w, r.Columns)
	r.Watermark.Column, r.Watermark.Own = scan.Cols[col], true
	scan.Rel = &r
	return n
}

// scanOf follows a plain column down to the scan that it comes from.
func scanOf(n plan.Node, i int) (*plan.Scan, int) {
	switch x := n.(type) {
	case *plan.Scan:
		return x, i
	case *plan.Filter:
		return scanOf(x.Input, i)
	case *plan.Project:
		if c, ok := x.Exprs[i].(*plan.Col); ok {
			return scanOf(x.Input, c.Index)
		}
	}
	return nil, 0
}
