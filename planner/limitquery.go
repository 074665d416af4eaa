package planner

import (
	"slices"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
)

// LIMIT and OFFSET whose number comes from a subquery: the rows are numbered, and compared with it.

// countsByQuery says whether LIMIT or OFFSET has a subquery.
func countsByQuery(q *ast.Query) bool {
	found := false
	for _, e := range []ast.Expr{q.Limit, q.Offset} {
		if e == nil {
			continue
		}
		walkAST(e, func(n ast.Expr) bool {
			if _, ok := n.(*ast.Subquery); ok {
				found = true
			}
			return !found
		})
	}
	return found
}

// limitByNumber applies the LIMIT and OFFSET of q to rows in order.
func (b *binder) limitByNumber(q *ast.Query, r *bound, node plan.Node, sort []plan.SortKey, parent *frame, ctes *cteScope) {
	if q.WithTies {
		unsupported(q.At, "WITH TIES with a subquery as the number of rows is not supported")
	}
	k := width(node)
	number := b.call("row_number", nil, q.At, fn.Window)
	over := &plan.OverWindow{Input: node, Sort: slices.Clone(sort), Funcs: []plan.OverFunc{{Fn: number.Fn, Typ: number.Typ,
		Frame: plan.Frame{Mode: "range", Start: plan.FrameBound{Kind: "unbounded preceding"}, End: plan.FrameBound{Kind: "current row"}}}}}
	over.P.Columns = joinCols(columns(node), plan.Column{Name: "row_number", Type: number.Typ})
	f := &frame{scope: &scope{}, parent: parent}
	var in plan.Node = over
	count := func(e ast.Expr, clause string) plan.Expr {
		x := &exprBinder{b: b, f: f, ctes: ctes, clause: clause, subqueries: true}
		var v plan.Expr
		in, v = b.attach(in, f, b.cast(x.bind(e), int8Type, fn.Assignment, e.Position()))
		return v
	}
	n := colOf(over, k)
	var from plan.Expr = intConst(0)
	var conds []plan.Expr
	if q.Offset != nil {
		from = &plan.Coalesce{Args: []plan.Expr{count(q.Offset, "OFFSET"), from}, Typ: int8Type}
		conds = append(conds, b.operator(">", n, from, q.At))
	}
	if q.Limit != nil {
		limit := count(q.Limit, "LIMIT")
		inside := b.operator("<=", b.operator("-", n, from, q.At), limit, q.At)
		conds = append(conds, &plan.Or{Args: []plan.Expr{&plan.IsNull{X: limit}, inside}})
	}
	r.node = truncate(newFilter(in, conds...), k)
}
