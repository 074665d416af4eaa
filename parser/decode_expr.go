package parser

import (
	"strconv"

	tast "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/tidemarkdb/tidemark/parser/ast"
)

var operators = map[opcode.Op]string{
	opcode.Plus: "+", opcode.Minus: "-", opcode.Mul: "*", opcode.Div: "/", opcode.Mod: "%", opcode.Xor: "^",
	opcode.LT: "<", opcode.GT: ">", opcode.LE: "<=", opcode.GE: ">=", opcode.EQ: "=", opcode.NE: "<>",
}

// expr decodes an expression.
func (d decoder) expr(n tast.ExprNode) ast.Expr {
	switch x := n.(type) {
	case *tidbMark:
		return d.take(d.hole(n), markLeaf).node.(ast.Expr)
	case *tast.ParenthesesExpr:
		return d.expr(x.Expr)
	case *tast.BinaryOperationExpr:
		return d.binary(x)
	case *tast.UnaryOperationExpr:
		return d.unary(x)
	case *tast.BetweenExpr:
		return d.predicates(x)
	case *tast.SetCollationExpr:
		return d.casts(x)
	case *tast.RowExpr:
		return &ast.Row{P: d.pos(d.u.tokenAt(n.OriginTextPosition())), Args: d.exprs(x.Values)}
	case *tast.FuncCallExpr:
		if x.FnName.L == tast.Concat {
			return d.atLevel(x)
		}
		return d.marked(x)
	}
	d.strayNode(n)
	return nil
}

func (d decoder) unary(x *tast.UnaryOperationExpr) ast.Expr {
	at := d.pos(d.u.tokenAt(x.OriginTextPosition()))
	v := d.expr(x.V)
	switch x.Op {
	case opcode.Not:
		return &ast.Not{P: at, X: v}
	case opcode.Plus:
		return &ast.Unary{P: at, Op: "+", X: v}
	case opcode.Minus:
		// As PostgreSQL does, so that the least bigint can be written.
		if c, ok := v.(*ast.Const); ok && c.Kind == ast.NumberConst {
			text := "-" + c.Text
			if c.Text[0] == '-' {
				text = c.Text[1:]
			}
			return &ast.Const{P: at, Kind: ast.NumberConst, Text: text}
		}
		return &ast.Unary{P: at, Op: "-", X: v}
	}
	d.strayNode(x)
	return nil
}

func (d decoder) binary(x *tast.BinaryOperationExpr) ast.Expr {
	switch x.Op {
	case opcode.LogicAnd, opcode.LogicOr:
		return d.boolOp(x)
	case opcode.Or:
		s := spine{d: d, xs: flatten(x, opcode.Or)}
		e := s.run()
		s.end()
		return e
	case opcode.Plus, opcode.Minus, opcode.Mul, opcode.Div, opcode.Mod, opcode.Xor:
		l := d.expr(x.L)
		tok := d.operatorToken(x.R)
		return &ast.Binary{P: d.pos(tok), Op: operators[x.Op], L: l, R: d.expr(x.R)}
	}
	return d.comparisons(x)
}

// flatten gives the operands of a run of one operator that TiDB grouped to the left.
func flatten(n tast.ExprNode, op opcode.Op) []tast.ExprNode {
	var xs []tast.ExprNode
	for {
		b, ok := n.(*tast.BinaryOperationExpr)
		if !ok || b.Op != op {
			break
		}
		xs = append(xs, b.R)
		n = b.L
	}
	xs = append(xs, n)
	for i, j := 0, len(xs)-1; i < j; i, j = i+1, j-1 {
		xs[i], xs[j] = xs[j], xs[i]
	}
	return xs
}

func (d decoder) boolOp(x *tast.BinaryOperationExpr) ast.Expr {
	xs := flatten(x, x.Op)
	at := d.pos(d.operatorToken(xs[1]))
	return &ast.BoolOp{P: at, And: x.Op == opcode.LogicAnd, Args: d.exprs(xs)}
}

// spine is a run of operands and marks that were joined by `|`: PostgreSQL's
// "any other operator", prefix operators and ESCAPE.
type spine struct {
	d  decoder
	xs []tast.ExprNode
	i  int
}

// operand decodes the next operand with the prefix operators before it.
func (s *spine) operand() ast.Expr {
	if s.i >= len(s.xs) {
		s.d.strayNode(s.xs[len(s.xs)-1])
	}
	x := s.xs[s.i]
	s.i++
	if k, ok := s.d.holeKind(x); ok && k == markPrefix {
		u := s.d.take(s.d.hole(x), markPrefix).node.(*ast.Unary)
		u.X = s.operand()
		return u
	}
	return s.d.expr(x)
}

// run decodes operands and operators, grouped to the left, up to an ESCAPE.
func (s *spine) run() ast.Expr {
	l := s.operand()
	for s.i < len(s.xs) {
		if k, ok := s.d.holeKind(s.xs[s.i]); ok && k == markEscape {
			break
		}
		h := s.d.hole(s.xs[s.i])
		if h < 0 {
			s.d.strayNode(s.xs[s.i])
		}
		b := s.d.take(h, markInfix).node.(*ast.Binary)
		s.i++
		if s.i < len(s.xs) {
			if q := s.d.quantified(s.xs[s.i], l); q != nil {
				s.i++
				l = q
				continue
			}
		}
		b.L, b.R = l, s.operand()
		l = b
	}
	return l
}

func (s *spine) end() {
	if s.i < len(s.xs) {
		s.d.strayNode(s.xs[s.i])
	}
}

// quantified decodes ANY (...) or ALL (...) as the right side of an operator
// whose left is l; nil if n is not that.
func (d decoder) quantified(n tast.ExprNode, l ast.Expr) ast.Expr {
	if k, ok := d.functionKind(n); !ok || k != markQuantified {
		return nil
	}
	m, args := d.function(n, markQuantified)
	q := m.node.(*ast.Quantified)
	q.X = l
	list, query := d.listOrQuery(args[0])
	if query != nil {
		q.Query = query
	} else {
		q.Array = list[0]
	}
	return q
}

// listOrQuery decodes what IN, ANY and ALL have in their brackets.
func (d decoder) listOrQuery(n tast.ExprNode) ([]ast.Expr, *ast.Query) {
	m, args := d.function(n, markList, markListQuery)
	if m.kind == markListQuery {
		return nil, d.subquery(args[0])
	}
	return d.exprs(args), nil
}

func isComparison(n tast.ExprNode) (*tast.BinaryOperationExpr, bool) {
	b, ok := n.(*tast.BinaryOperationExpr)
	if !ok {
		return nil, false
	}
	switch b.Op {
	case opcode.LT, opcode.GT, opcode.LE, opcode.GE, opcode.EQ, opcode.NE, opcode.NullEQ:
		return b, true
	}
	return nil, false
}

// comparisons decodes a run of comparisons and IS tests. TiDB has them on one
// level, grouped to the left. In PostgreSQL comparisons bind more tightly, and
// neither may stand beside its like without brackets.
func (d decoder) comparisons(n tast.ExprNode) ast.Expr {
	var run []*tast.BinaryOperationExpr // the last first
	for {
		b, ok := isComparison(n)
		if !ok {
			break
		}
		run = append(run, b)
		n = b.L
	}
	cur := d.expr(n)
	compared := false           // cur is an unbracketed comparison
	var pending *ast.IsDistinct // an IS DISTINCT FROM whose right side is cur
	for i := len(run) - 1; i >= 0; i-- {
		b := run[i]
		if b.Op != opcode.NullEQ {
			if compared {
				d.stray(d.operatorToken(b.R))
			}
			if q := d.quantified(b.R, cur); q != nil {
				cur = q
				continue
			}
			tok := d.operatorToken(b.R)
			cur = &ast.Binary{P: d.pos(tok), Op: operators[b.Op], L: cur, R: d.expr(b.R)}
			compared = true
			continue
		}
		h := d.hole(b.R)
		if h < 0 {
			d.strayNode(b.R)
		}
		m := d.take(h, markIsTest, markDistinct)
		if pending != nil {
			d.stray(int(m.tok))
		}
		compared = false
		if m.kind == markIsTest {
			t := m.node.(*ast.IsTest)
			t.X = cur
			cur = t
			continue
		}
		pending = m.node.(*ast.IsDistinct)
		pending.L = cur
		i--
		if i < 0 || run[i].Op != opcode.NullEQ {
			d.stray(int(m.tok))
		}
		cur = d.expr(run[i].R)
	}
	if pending != nil {
		pending.R = cur
		return pending
	}
	return cur
}

// predicates decodes a run of LIKE, BETWEEN and IN, which TiDB groups to the
// right. Only IN may be followed by another.
func (d decoder) predicates(x *tast.BetweenExpr) ast.Expr {
	cur := d.expr(x.Expr)
	closed := true
	for {
		right := x.Right
		next, more := right.(*tast.BetweenExpr)
		if more {
			right = next.Expr
		}
		left := flatten(x.Left, opcode.Or)
		h := d.hole(left[0])
		if h < 0 {
			d.strayNode(x.Left)
		}
		m := d.take(h, markLike, markBetween, markIn)
		if !closed || m.kind != markBetween && len(left) != 1 {
			d.stray(int(m.tok))
		}
		closed = m.kind == markIn
		switch m.kind {
		case markIn:
			in := m.node.(*ast.In)
			in.X = cur
			in.List, in.Query = d.listOrQuery(right)
			cur = in
		case markBetween:
			if len(left) != 2 {
				d.stray(int(m.tok))
			}
			b := m.node.(*ast.Between)
			b.X, b.Lo, b.Hi = cur, d.expr(left[1]), d.expr(right)
			cur = b
		case markLike:
			cur = d.like(m, cur, right)
		}
		if !more {
			return cur
		}
		x = next
	}
}

func (d decoder) like(m *mark, l ast.Expr, right tast.ExprNode) ast.Expr {
	k := m.node.(*likeMark)
	at := d.pos(int(m.tok))
	if q := d.quantified(right, l); q != nil {
		return q
	}
	s := spine{d: d, xs: flatten(right, opcode.Or)}
	pat := s.run()
	var escape ast.Expr
	if s.i < len(s.xs) {
		d.take(d.hole(s.xs[s.i]), markEscape)
		s.i++
		escape = s.run()
	}
	s.end()
	if op := k.operator(); op != "" && escape == nil {
		return &ast.Binary{P: at, Op: op, L: l, R: pat}
	}
	return &ast.Like{P: at, Op: k.op, Not: k.not, X: l, Pat: pat, Escape: escape}
}

// atLevel decodes a run of AT TIME ZONE, COLLATE and OVERLAPS, joined by `||`.
func (d decoder) atLevel(x *tast.FuncCallExpr) ast.Expr {
	var xs []tast.ExprNode // the last first
	var n tast.ExprNode = x
	for {
		f, ok := n.(*tast.FuncCallExpr)
		if !ok || f.FnName.L != tast.Concat || len(f.Args) != 2 {
			break
		}
		xs = append(xs, f.Args[1])
		n = f.Args[0]
	}
	cur := d.expr(n)
	for i := len(xs) - 1; i >= 0; i-- {
		h := d.hole(xs[i])
		if h < 0 {
			d.strayNode(xs[i])
		}
		m := d.take(h, markAtZone, markCollate, markOverlaps)
		if m.kind == markCollate {
			c := m.node.(*ast.Collate)
			c.X = cur
			cur = c
			continue
		}
		if i--; i < 0 {
			d.stray(int(m.tok))
		}
		right := d.expr(xs[i])
		// COLLATE binds more tightly than AT TIME ZONE.
		for i > 0 {
			if k, ok := d.holeKind(xs[i-1]); !ok || k != markCollate {
				break
			}
			i--
			c := d.take(d.hole(xs[i]), markCollate).node.(*ast.Collate)
			c.X = right
			right = c
		}
		at := d.pos(int(m.tok))
		if m.kind == markAtZone {
			cur = &ast.Call{P: at, Name: "timezone", Args: []ast.Expr{right, cur}}
			continue
		}
		l, ok := cur.(*ast.Row)
		r, ok2 := right.(*ast.Row)
		if !ok || !ok2 || len(l.Args) != 2 || len(r.Args) != 2 {
			d.stray(int(m.tok))
		}
		cur = &ast.Call{P: at, Name: "overlaps", Args: append(l.Args, r.Args...)}
	}
	return cur
}

// casts decodes x::a::b. The mark of each is written in up to three digits.
func (d decoder) casts(x *tast.SetCollationExpr) ast.Expr {
	var run []*ast.Cast // the last first
	var n tast.ExprNode = x
	for {
		c, ok := n.(*tast.SetCollationExpr)
		if !ok {
			break
		}
		m, scale := 0, 1
		for f := 0; ok && f < len(castNames) && c.Collate[:2] == castNames[f]; f++ {
			digit, _ := strconv.Atoi(c.Collate[2:])
			m += digit * scale
			scale *= castDigits
			n = c.Expr
			c, ok = n.(*tast.SetCollationExpr)
		}
		if scale == 1 || m >= len(d.u.marks) {
			d.strayNode(n)
		}
		run = append(run, d.take(m, markCast).node.(*ast.Cast))
	}
	cur := d.expr(n)
	for i := len(run) - 1; i >= 0; i-- {
		run[i].X = cur
		cur = run[i]
	}
	return cur
}
