package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/fn"
)

const aggregateClass = fn.Aggregate

// walkAST calls f for an expression and its operands, parents first; where f gives false it does not go deeper.
// Subqueries are not entered.
func walkAST(e ast.Expr, f func(ast.Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	for _, c := range astChildren(e) {
		walkAST(c, f)
	}
}

func astChildren(e ast.Expr) []ast.Expr {
	switch x := e.(type) {
	case *ast.Cast:
		return []ast.Expr{x.X}
	case *ast.Unary:
		return []ast.Expr{x.X}
	case *ast.Binary:
		return []ast.Expr{x.L, x.R}
	case *ast.BoolOp:
		return x.Args
	case *ast.Not:
		return []ast.Expr{x.X}
	case *ast.Like:
		return []ast.Expr{x.X, x.Pat, x.Escape}
	case *ast.Between:
		return []ast.Expr{x.X, x.Lo, x.Hi}
	case *ast.In:
		return append([]ast.Expr{x.X}, x.List...)
	case *ast.IsTest:
		return []ast.Expr{x.X}
	case *ast.IsDistinct:
		return []ast.Expr{x.L, x.R}
	case *ast.Quantified:
		return []ast.Expr{x.X, x.Array}
	case *ast.Case:
		out := []ast.Expr{x.X}
		for _, w := range x.Whens {
			out = append(out, w.Cond, w.Then)
		}
		return append(out, x.Else)
	case *ast.Call:
		out := append([]ast.Expr{}, x.Args...)
		for _, o := range x.OrderBy {
			out = append(out, o.X)
		}
		out = append(out, x.Filter)
		if x.Over != nil {
			out = append(out, x.Over.PartitionBy...)
			for _, o := range x.Over.OrderBy {
				out = append(out, o.X)
			}
		}
		return out
	case *ast.ArrayExpr:
		return x.Elems
	case *ast.Subscript:
		return []ast.Expr{x.X, x.Lo, x.Hi}
	case *ast.Field:
		return []ast.Expr{x.X}
	case *ast.Row:
		return x.Args
	case *ast.Collate:
		return []ast.Expr{x.X}
	}
	return nil
}

// loc is the position of an expression's leftmost part, where PostgreSQL points in most errors about one.
func loc(e ast.Expr) ast.Pos {
	at := e.Position()
	walkAST(e, func(x ast.Expr) bool {
		if p := x.Position(); p >= 0 && p < at {
			at = p
		}
		return true
	})
	return at
}
