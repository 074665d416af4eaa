package parser

import (
	"strconv"

	tast "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/tidemarkdb/tidemark/parser/ast"
)

// decoder turns TiDB's tree and a unit's marks into the syntax tree.
type decoder struct{ u *unit }

// take uses a mark, which must be of one of the kinds and not used before.
func (d decoder) take(i int, kinds ...markKind) *mark {
	m := &d.u.marks[i]
	for _, k := range kinds {
		if m.kind == k && !m.used {
			m.used = true
			return m
		}
	}
	d.stray(int(m.tok))
	return nil
}

// stray raises a syntax error at a token, for a mark in no legal role.
func (d decoder) stray(tok int) { d.u.p.syntaxErrorAt(tok) }

// strayNode raises a syntax error at the start of a node of TiDB's.
func (d decoder) strayNode(n tast.Node) { d.stray(d.u.tokenAt(n.OriginTextPosition())) }

// finish checks that every mark was decoded.
func (d decoder) finish() {
	for i := range d.u.marks {
		if !d.u.marks[i].used {
			d.stray(int(d.u.marks[i].tok))
		}
	}
}

// hole gives the mark of a `?`, -1 for any other node.
func (d decoder) hole(n tast.ExprNode) int {
	if _, ok := n.(*tidbMark); !ok {
		return -1
	}
	return int(d.u.ems[d.u.emissionAt(n.OriginTextPosition())].mark)
}

// holeKind gives the kind of the mark of a `?`.
func (d decoder) holeKind(n tast.ExprNode) (markKind, bool) {
	if i := d.hole(n); i >= 0 {
		return d.u.marks[i].kind, true
	}
	return 0, false
}

// number gives N of a name fN or tN, -1 for any other.
func number(name string, letter byte) int {
	if len(name) < 2 || name[0] != letter {
		return -1
	}
	n, err := strconv.Atoi(name[1:])
	if err != nil {
		return -1
	}
	return n
}

// function takes the mark of fN(...), which must be of one of the kinds.
func (d decoder) function(n tast.ExprNode, kinds ...markKind) (*mark, []tast.ExprNode) {
	if f, ok := n.(*tast.FuncCallExpr); ok {
		if i := number(f.FnName.O, 'f'); i >= 0 && i < len(d.u.marks) {
			return d.take(i, kinds...), f.Args
		}
	}
	d.strayNode(n)
	return nil, nil
}

// functionKind gives the kind of the mark of fN(...), if n is that.
func (d decoder) functionKind(n tast.ExprNode) (markKind, bool) {
	if f, ok := n.(*tast.FuncCallExpr); ok {
		if i := number(f.FnName.O, 'f'); i >= 0 && i < len(d.u.marks) {
			return d.u.marks[i].kind, true
		}
	}
	return 0, false
}

// operatorToken gives the token of the operator before an operand.
func (d decoder) operatorToken(right tast.Node) int {
	return int(d.u.ems[max(d.u.emissionAt(right.OriginTextPosition())-1, 0)].tok)
}

func (d decoder) pos(tok int) ast.P { return ast.P{At: d.u.p.pos(tok)} }

// single decodes the one expression of SELECT x.
func (d decoder) single(stmt tast.StmtNode) ast.Expr {
	s, ok := stmt.(*tast.SelectStmt)
	if !ok || s.Fields == nil || len(s.Fields.Fields) != 1 || s.Fields.Fields[0].Expr == nil {
		d.u.p.syntaxError()
	}
	return d.expr(s.Fields.Fields[0].Expr)
}

// exprs decodes a list.
func (d decoder) exprs(ns []tast.ExprNode) []ast.Expr {
	out := make([]ast.Expr, len(ns))
	for i, n := range ns {
		out[i] = d.expr(n)
	}
	return out
}

// subquery decodes the query in an argument.
func (d decoder) subquery(n tast.ExprNode) *ast.Query {
	s, ok := n.(*tast.SubqueryExpr)
	if !ok {
		d.strayNode(n)
	}
	return d.query(s.Query)
}

// list decodes the n expressions of SELECT a, b, ...
func (d decoder) list(stmt tast.StmtNode, n int) []ast.Expr {
	s, ok := stmt.(*tast.SelectStmt)
	if !ok || s.Fields == nil || len(s.Fields.Fields) != n {
		d.u.p.syntaxError()
	}
	out := make([]ast.Expr, n)
	for i, f := range s.Fields.Fields {
		if f.Expr == nil {
			d.u.p.syntaxError()
		}
		out[i] = d.expr(f.Expr)
	}
	return out
}

// items decodes SELECT a, b, ... into items.
func (d decoder) items(stmt tast.StmtNode, items []ast.SelectItem) {
	for i, e := range d.list(stmt, len(items)) {
		items[i].X = e
	}
}

// fromOf decodes the FROM of SELECT fN() FROM ...
func (d decoder) fromOf(stmt tast.StmtNode) []ast.TableExpr {
	s, ok := stmt.(*tast.SelectStmt)
	if !ok {
		d.u.p.syntaxError()
	}
	d.function(s.Fields.Fields[0].Expr, markSelect)
	return d.from(s.From)
}
