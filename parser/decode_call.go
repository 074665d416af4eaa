package parser

import (
	tast "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/tidemarkdb/tidemark/parser/ast"
)

// marked decodes fN(...) where an expression is due.
func (d decoder) marked(n *tast.FuncCallExpr) ast.Expr {
	m, args := d.function(n, markCall, markSubquery, markExists, markArrayQuery, markArray, markRow, markCase,
		markCastCall, markIndirection)
	at := d.pos(int(m.tok))
	switch m.kind {
	case markCall:
		return d.call(m.node.(*callMark), args)
	case markSubquery:
		return &ast.Subquery{P: at, Query: d.subquery(args[0])}
	case markExists:
		return &ast.Exists{P: at, Query: d.subquery(args[0])}
	case markArrayQuery:
		return &ast.ArrayQuery{P: at, Query: d.subquery(args[0])}
	case markArray:
		return &ast.ArrayExpr{P: at, Elems: d.exprs(args)}
	case markRow:
		return &ast.Row{P: at, Args: d.exprs(args)}
	case markCase:
		return d.caseExpr(at, m.node.(*caseMark), args)
	case markCastCall:
		c := m.node.(*ast.Cast)
		c.X = d.expr(args[0])
		return c
	}
	return d.indirection(m.node.(*indirectionMark), args)
}

func (d decoder) caseExpr(at ast.P, m *caseMark, args []tast.ExprNode) ast.Expr {
	c := &ast.Case{P: at}
	if m.operand {
		c.X = d.expr(args[0])
		args = args[1:]
	}
	for range m.arms {
		c.Whens = append(c.Whens, ast.When{Cond: d.expr(args[0]), Then: d.expr(args[1])})
		args = args[2:]
	}
	if m.otherwise {
		c.Else = d.expr(args[0])
	}
	return c
}

func (d decoder) indirection(m *indirectionMark, args []tast.ExprNode) ast.Expr {
	cur := d.expr(args[0])
	args = args[1:]
	arg := func() ast.Expr {
		e := d.expr(args[0])
		args = args[1:]
		return e
	}
	for _, s := range m.steps {
		at := d.pos(s.tok)
		if s.field != "" {
			cur = &ast.Field{P: at, X: cur, Name: s.field}
			continue
		}
		sub := &ast.Subscript{P: at, X: cur, Slice: s.slice}
		if s.lo {
			sub.Lo = arg()
		}
		if s.hi {
			sub.Hi = arg()
		}
		cur = sub
	}
	return cur
}

// call decodes the parts of a call in the order the translator wrote them.
func (d decoder) call(m *callMark, args []tast.ExprNode) *ast.Call {
	c := m.call
	for _, a := range args[:m.args] {
		if k, ok := d.functionKind(a); ok && k == markTableArg {
			d.tableArg(a)
			continue
		}
		c.Args = append(c.Args, d.expr(a))
	}
	if m.swap {
		c.Args[0], c.Args[1] = c.Args[1], c.Args[0]
	}
	args = args[m.args:]
	c.OrderBy = d.orderItems(args[:m.orders])
	args = args[m.orders:]
	if m.filter {
		c.Filter = d.expr(args[0])
		args = args[1:]
	}
	if m.over {
		c.Over = d.over(args[0])
	}
	return c
}

func (d decoder) tableArg(n tast.ExprNode) {
	mk, args := d.function(n, markTableArg)
	m := mk.node.(*tableArgMark)
	if m.query {
		m.arg.Query = d.subquery(args[0])
		args = args[1:]
	}
	if m.parts > 0 {
		m.arg.PartitionBy = d.exprs(args)
	}
}

func (d decoder) orderItems(ns []tast.ExprNode) []ast.OrderItem {
	if len(ns) == 0 {
		return nil
	}
	out := make([]ast.OrderItem, len(ns))
	for i, n := range ns {
		m, args := d.function(n, markOrder)
		item := m.node.(*ast.OrderItem)
		item.X = d.expr(args[0])
		out[i] = *item
	}
	return out
}

func (d decoder) over(n tast.ExprNode) *ast.WindowSpec {
	mk, args := d.function(n, markOver)
	m := mk.node.(*overMark)
	if m.parts > 0 {
		m.spec.PartitionBy = d.exprs(args[:m.parts])
	}
	args = args[m.parts:]
	m.spec.OrderBy = d.orderItems(args[:m.orders])
	args = args[m.orders:]
	if f := m.spec.Frame; f != nil {
		for _, b := range []*ast.Bound{&f.Start, &f.End} {
			if b.Offset != nil {
				b.Offset = d.expr(args[0])
				args = args[1:]
			}
		}
	}
	return m.spec
}
