package parser

import (
	tast "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/tidemarkdb/tidemark/parser/ast"
)

// query decodes a whole query.
func (d decoder) query(n tast.Node) *ast.Query {
	var blocks []*tast.SelectStmt
	var with *tast.WithClause
	var order *tast.OrderByClause
	switch x := n.(type) {
	case *tast.SelectStmt:
		blocks, with, order = []*tast.SelectStmt{x}, x.With, x.OrderBy
	case *tast.SetOprStmt:
		with, order = x.With, x.OrderBy
		for _, s := range x.SelectList.Selects {
			b, ok := s.(*tast.SelectStmt)
			if !ok {
				d.strayNode(s)
			}
			blocks = append(blocks, b)
		}
	default:
		d.strayNode(n)
	}
	m, body := d.body(blocks)
	q := m.q
	if with != nil {
		q.With = d.with(with)
	}
	if order != nil {
		d.orderBy(m, order.Items)
	}
	if p, ok := body.(*ast.ParenQuery); ok && len(q.With)+len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil && !q.Locking {
		p.Query.Text, p.Query.At = q.Text, q.At
		return p.Query
	}
	q.Body = body
	return q
}

func (d decoder) with(w *tast.WithClause) []ast.CTE {
	out := make([]ast.CTE, 0, len(w.CTEs))
	for _, c := range w.CTEs {
		i := number(c.Name.O, 't')
		if i < 0 || i >= len(d.u.marks) {
			d.strayNode(c.Query)
		}
		cte := d.take(i, markCTE).node.(*ast.CTE)
		cte.Query = d.subquery(c.Query)
		out = append(out, *cte)
	}
	return out
}

// orderBy decodes ORDER BY with the item that holds LIMIT and OFFSET.
func (d decoder) orderBy(m *queryMark, items []*tast.ByItem) {
	ns := make([]tast.ExprNode, len(items))
	for i, item := range items {
		ns[i] = item.Expr
	}
	m.q.OrderBy = d.orderItems(ns[:m.orders])
	if !m.limit {
		return
	}
	mk, args := d.function(ns[m.orders], markLimit)
	for i, which := range mk.node.(*limitMark).args {
		if which == 'l' {
			m.q.Limit = d.expr(args[i])
		} else {
			m.q.Offset = d.expr(args[i])
		}
	}
}

// body decodes the blocks of a query, which TiDB gives flat. INTERSECT binds
// more tightly than UNION and EXCEPT.
func (d decoder) body(blocks []*tast.SelectStmt) (*queryMark, ast.Body) {
	m, term := d.block(blocks[0])
	query := m.query
	if query == nil {
		d.stray(d.u.p.i)
	}
	var left ast.Body
	var pending *ast.SetOp
	for _, b := range blocks[1:] {
		bm, right := d.block(b)
		op := &ast.SetOp{At: bm.opAt}
		switch *b.AfterSetOperator {
		case tast.Union:
			op.Op = "union"
		case tast.UnionAll:
			op.Op, op.All = "union", true
		case tast.Except:
			op.Op = "except"
		case tast.ExceptAll:
			op.Op, op.All = "except", true
		case tast.Intersect:
			op.Op = "intersect"
		case tast.IntersectAll:
			op.Op, op.All = "intersect", true
		}
		if op.Op == "intersect" {
			op.L, op.R = term, right
			term = op
			continue
		}
		left = setOp(left, pending, term)
		pending, term = op, right
	}
	return query, setOp(left, pending, term)
}

func setOp(l ast.Body, op *ast.SetOp, r ast.Body) ast.Body {
	if op == nil {
		return r
	}
	op.L, op.R = l, r
	return op
}

// block decodes one SELECT of TiDB's, whose first field says what it is.
func (d decoder) block(s *tast.SelectStmt) (*selectMark, ast.Body) {
	fields := s.Fields.Fields
	mk, args := d.function(fields[0].Expr, markSelect)
	m := mk.node.(*selectMark)
	switch m.form {
	case formQuery:
		return m, &ast.ParenQuery{Query: d.subquery(args[0])}
	case formValues:
		v := &ast.Values{At: m.at}
		for _, a := range args {
			_, cells := d.function(a, markRow)
			v.Rows = append(v.Rows, d.exprs(cells))
		}
		return m, v
	case formTable:
		star := &ast.ColumnRef{P: ast.P{At: m.at}, Star: true}
		return m, &ast.Select{At: m.at, Items: []ast.SelectItem{{X: star}}, From: d.from(s.From)}
	}
	sel := m.sel
	if m.on > 0 {
		sel.DistinctOn = d.exprs(args)
	}
	for i, f := range fields[1:] {
		sel.Items[i].X = d.expr(f.Expr)
	}
	sel.From = d.from(s.From)
	if s.Where != nil {
		sel.Where = d.expr(s.Where)
	}
	if s.GroupBy != nil {
		for _, item := range s.GroupBy.Items {
			sel.GroupBy = append(sel.GroupBy, d.groupItem(item.Expr, true)...)
		}
	}
	if s.Having != nil {
		d.having(sel, s.Having.Expr)
	}
	return m, sel
}

func (d decoder) having(sel *ast.Select, n tast.ExprNode) {
	mk, args := d.function(n, markHaving)
	m := mk.node.(*havingMark)
	if m.cond {
		sel.Having = d.expr(args[0])
		args = args[1:]
	}
	for i, name := range m.windows {
		sel.Windows = append(sel.Windows, ast.NamedWindow{Name: name, Spec: d.over(args[i])})
	}
}

// groupItem decodes an item of GROUP BY. A bracketed list is several items at
// the top, and one of several columns within ROLLUP, CUBE and GROUPING SETS.
func (d decoder) groupItem(n tast.ExprNode, top bool) []ast.GroupItem {
	mk, args := d.function(n, markGroup)
	g := mk.node.(*ast.GroupItem)
	switch g.Kind {
	case "empty":
	case "":
		row, ok := args[0].(*tast.RowExpr)
		if !ok {
			g.X = d.expr(args[0])
			break
		}
		var list []ast.GroupItem
		for _, v := range row.Values {
			e := d.expr(v)
			list = append(list, ast.GroupItem{X: e, At: e.Position()})
		}
		if top {
			return list
		}
		g.Row = list
	default:
		for _, a := range args {
			g.Sets = append(g.Sets, d.groupItem(a, false)...)
		}
	}
	return []ast.GroupItem{*g}
}

// from decodes FROM into its items.
func (d decoder) from(f *tast.TableRefsClause) []ast.TableExpr {
	if f == nil || f.TableRefs == nil {
		return nil
	}
	// A comma is a cross join without a condition, grouped to the left.
	var ns []tast.ResultSetNode
	var n tast.ResultSetNode = f.TableRefs
	for {
		j, ok := n.(*tast.Join)
		if !ok || j.On != nil || j.ExplicitParens {
			break
		}
		if j.Right != nil {
			ns = append(ns, j.Right)
		}
		n = j.Left
	}
	ns = append(ns, n)
	var out []ast.TableExpr
	for i := len(ns) - 1; i >= 0; i-- {
		if x := d.tableExpr(ns[i]); x != nil {
			out = append(out, x)
		}
	}
	return out
}

func (d decoder) tableExpr(n tast.ResultSetNode) ast.TableExpr {
	switch x := n.(type) {
	case *tast.TableSource:
		return d.tableSource(x)
	case *tast.Join:
		if x.Right == nil {
			return d.tableExpr(x.Left)
		}
		if x.On == nil {
			d.stray(d.u.p.i)
		}
		// Joins grouped to the left are walked without recursion.
		var run []*tast.Join // the last first
		var left tast.ResultSetNode = x
		for {
			j, ok := left.(*tast.Join)
			if !ok || j.On == nil || j.Right == nil {
				break
			}
			run = append(run, j)
			left = j.Left
		}
		cur := d.tableExpr(left)
		for i := len(run) - 1; i >= 0; i-- {
			m, args := d.function(run[i].On.Expr, markJoin)
			j := m.node.(*ast.Join)
			j.L, j.R = cur, d.tableExpr(run[i].Right)
			if len(args) > 0 {
				j.On = d.expr(args[0])
			}
			cur = j
		}
		return cur
	}
	d.stray(d.u.p.i)
	return nil
}

func (d decoder) tableSource(x *tast.TableSource) ast.TableExpr {
	name := x.AsName.O
	if t, ok := x.Source.(*tast.TableName); ok {
		name = t.Name.O
	}
	i := number(name, 't')
	if i < 0 || i >= len(d.u.marks) {
		d.stray(d.u.p.i)
	}
	switch r := d.take(i, markRelation).node.(type) {
	case *ast.SubqueryRef:
		r.Query = d.query(x.Source)
		return r
	case *ast.FuncRef:
		s, ok := x.Source.(*tast.SelectStmt)
		if !ok {
			d.stray(d.u.p.i)
		}
		mk, args := d.function(s.Fields.Fields[0].Expr, markCall)
		r.Call = d.call(mk.node.(*callMark), args)
		return r
	case ast.TableExpr:
		return r
	}
	return nil
}
