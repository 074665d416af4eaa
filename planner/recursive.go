package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// recursion is what the recursive term of a WITH item sees under the item's name, while it is bound.
type recursion struct {
	cols []plan.Column // nil: the name can't be used here
	refs int
}

// selfReference binds a reference to a WITH item within its own query.
func (b *binder) selfReference(c *cteScope, pos ast.Pos) plan.Node {
	r := c.rec
	switch {
	case r == nil:
		failAt(pos, sqlerr.InvalidRecursion, "recursive query %q does not have the form non-recursive-term UNION [ALL] recursive-term", c.cte.Name)
	case r.cols == nil:
		failAt(pos, sqlerr.InvalidRecursion, "recursive reference to query %q must not appear within its non-recursive term", c.cte.Name)
	}
	if r.refs++; r.refs > 1 {
		failAt(pos, sqlerr.InvalidRecursion, "recursive reference to query %q must not appear more than once", c.cte.Name)
	}
	w := &plan.WorkTable{}
	w.P.Columns = append([]plan.Column{}, r.cols...)
	return w
}

// recursive binds a WITH RECURSIVE item that refers to itself; nil for one that does not.
func (b *binder) recursive(c *cteScope, pos ast.Pos) plan.Node {
	q := c.cte.Query
	union, ok := q.Body.(*ast.SetOp)
	if !ok || union.Op != "union" {
		return nil
	}
	rec := &recursion{}
	c.env.rec = rec
	defer func() { c.env.rec = nil }()
	ctes, _ := b.with(q, c.frame, c.env)
	l := b.body(union.L, c.frame, ctes)
	anchor := rename(b.settleColumns(truncate(l.node, l.visible)), c.cte.Columns)
	rec.cols = append([]plan.Column{}, columns(anchor)...)
	r := b.body(union.R, c.frame, ctes)
	if rec.refs == 0 {
		return nil
	}
	switch {
	case b.view():
		unsupported(pos, "recursive WITH queries are not supported in materialized views")
	case len(q.OrderBy) > 0:
		unsupported(q.At, "ORDER BY in a recursive query is not implemented")
	case q.Limit != nil:
		unsupported(q.At, "LIMIT in a recursive query is not implemented")
	case q.Offset != nil:
		unsupported(q.At, "OFFSET in a recursive query is not implemented")
	case l.visible != r.visible:
		failAt(firstPos(r.pos, union.At), sqlerr.SyntaxError, "each UNION query must have the same number of columns")
	}
	n := &plan.Recursive{Anchor: anchor, All: union.All}
	n.P.Columns = columns(anchor)
	n.Step = b.stepTypes(c, anchor, truncate(r.node, r.visible), l.pos, r.pos)
	if !n.All {
		for i, k := range n.P.Columns {
			b.groupable(&plan.Col{Index: i, Typ: k.Type}, union.At)
		}
	}
	checkStep(c.cte.Name, n.Step, pos)
	foldAll(n.Step)
	n.Step = b.pushdown(n.Step, nil)
	b.extractKeys(n.Step)
	n.Step = splitStep(n, n.Step)
	return n
}

// stepTypes brings the recursive term to the column types of the other, which must be those that both have in common.
func (b *binder) stepTypes(c *cteScope, anchor, step plan.Node, lpos, rpos []ast.Pos) plan.Node {
	ts := make([]types.Type, width(anchor))
	for i, k := range columns(anchor) {
		pos := []ast.Pos{posAt(lpos, i), posAt(rpos, i)}
		ts[i] = b.common("UNION", []plan.Expr{colOf(anchor, i), colOf(step, i)}, pos)
		if !ts[i].Same(k.Type) {
			fail(sqlerr.New(sqlerr.DatatypeMismatch, "recursive query %q column %d has type %s in non-recursive term but type %s overall",
				c.cte.Name, i+1, k.Type.NoMod(), ts[i].NoMod()).WithHint("Cast the output of the non-recursive term to the correct type.").At(int(pos[0])))
		}
	}
	return b.castColumns(step, ts, fn.Implicit, rpos)
}

// checkStep refuses what PostgreSQL refuses in a recursive term, and references to enclosing queries.
func checkStep(name string, step plan.Node, pos ast.Pos) {
	refuse := func(format string, args ...any) { failAt(pos, sqlerr.InvalidRecursion, format, args...) }
	eachNode(step, func(n plan.Node) {
		eachExpr(n, func(e plan.Expr) {
			if has(e, private) {
				unsupported(pos, "a recursive WITH query that refers to an enclosing query is not supported")
			}
		})
		if !recurs(n) {
			return
		}
		switch x := n.(type) {
		case *plan.Aggregate:
			if len(x.Aggs) > 0 {
				refuse("aggregate functions are not allowed in a recursive query's recursive term")
			}
		case *plan.Join:
			left := x.Kind == plan.Right || x.Kind == plan.Full
			right := x.Kind == plan.Left || x.Kind == plan.Full
			if left && recurs(x.Left) || right && recurs(x.Right) {
				refuse("recursive reference to query %q must not appear within an outer join", name)
			}
			if (x.Kind == plan.Semi || x.Kind == plan.Anti) && recurs(x.Right) {
				refuse("recursive reference to query %q must not appear within a subquery", name)
			}
		case *plan.SetOp:
			if x.Except && recurs(x.Right) {
				refuse("recursive reference to query %q must not appear within EXCEPT", name)
			}
		case *plan.TopN:
			if x.LimitExpr != nil || x.OffsetExpr != nil {
				unsupported(pos, "a parameter as LIMIT in a recursive term is not supported")
			}
		}
	})
}

// recurs says whether the rows of the round before enter a node.
func recurs(n plan.Node) bool {
	found := false
	eachNode(n, func(m plan.Node) {
		w, ok := m.(*plan.WorkTable)
		found = found || ok && w.Port == 0
	})
	return found
}

// splitStep makes inputs of the parts of a recursive term that are the same in every round, and gives what remains.
func splitStep(r *plan.Recursive, n plan.Node) plan.Node {
	if !recurs(n) {
		r.Consts = append(r.Consts, n)
		w := &plan.WorkTable{Port: len(r.Consts)}
		w.P.Columns = columns(n)
		return w
	}
	for i, in := range n.Inputs() {
		setInput(n, i, splitStep(r, in))
	}
	return n
}
