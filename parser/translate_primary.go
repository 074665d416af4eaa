package parser

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// literalAlone reads an expression that is one literal or parameter and
// nothing more, without TiDB; nil if the cursor is at anything else. What
// follows decides: only a token that can begin neither an operator nor a cast
// will do.
func (p *parser) literalAlone() ast.Expr {
	n := 0
	if p.is("-") {
		n = 1
	}
	t := p.at(n)
	constant := t.kind == kindNumber || n == 0 && (t.kind == kindString || t.kind == kindParam ||
		t.kind == kindWord && (t.kw == kwNull || t.kw == kwTrue || t.kw == kwFalse))
	if !constant {
		return nil
	}
	switch follow := p.at(n + 1); {
	case follow.kind == kindEOF:
	case follow.kind == kindPunct:
		if c := p.text[follow.pos]; c != ',' && c != ')' && c != ';' {
			return nil
		}
	default:
		return nil
	}
	at := ast.P{At: p.here()}
	if n == 1 {
		p.next()
		return &ast.Const{P: at, Kind: ast.NumberConst, Text: "-" + p.value(p.next())}
	}
	return p.literal(p.next())
}

// literal makes the expression of the literal token i; nil if it is none.
func (p *parser) literal(i int) ast.Expr {
	at := ast.P{At: p.pos(i)}
	t := &p.toks[i]
	switch t.kind {
	case kindString:
		return &ast.Const{P: at, Kind: ast.StringConst, Text: p.value(i)}
	case kindNumber:
		return &ast.Const{P: at, Kind: ast.NumberConst, Text: p.value(i)}
	case kindBits:
		return &ast.Const{P: at, Kind: ast.BitConst, Text: p.value(i)}
	case kindParam:
		return &ast.Param{P: at, N: p.paramNumber(i)}
	case kindWord:
		switch t.kw {
		case kwNull:
			return &ast.Const{P: at, Kind: ast.NullConst}
		case kwTrue, kwFalse:
			return &ast.Const{P: at, Kind: ast.BoolConst, Text: p.value(i)}
		}
	}
	return nil
}

func (u *unit) leaf(i int, e ast.Expr) { u.hole(markLeaf, i, e) }

// primary translates one operand without prefix operators and casts.
func (u *unit) primary() {
	p := u.p
	i := p.i
	t := p.peek()
	switch t.kind {
	case kindString, kindNumber, kindBits:
		u.leaf(i, p.literal(p.next()))
	case kindParam:
		u.indirected(p.isAt(1, ".") || p.isAt(1, "["), func() { u.leaf(i, p.literal(p.next())) })
	case kindQuoted:
		if !u.typed() {
			u.nameOrCall()
		}
	case kindPunct:
		if !p.is("(") {
			p.syntaxError()
		}
		u.paren()
	case kindWord:
		u.word(t.kw)
	default:
		p.syntaxError()
	}
}

// paren translates a bracketed expression, row or scalar subquery.
func (u *unit) paren() {
	p := u.p
	link := int(p.peek().link)
	after := &p.toks[link+1]
	u.indirected(p.tokIs(after, ".") || p.tokIs(after, "["), func() {
		i := p.next()
		if p.queryAt(p.i) {
			u.open(markSubquery, i, nil)
			u.subquery()
		} else {
			u.plain(i, "(")
			u.list()
		}
		u.close()
		p.expect(")")
	})
}

// subquery translates a query as an argument: (SELECT ...).
func (u *unit) subquery() {
	u.plain(u.p.i, "(")
	u.query()
	u.close()
}

// indirectionMark is the chain of fields and subscripts behind an operand.
// Its expressions follow the operand as arguments.
type indirectionMark struct{ steps []indirection }

type indirection struct {
	tok    int
	field  string // "*" for all; "" for a subscript
	slice  bool
	lo, hi bool // which bounds are there
}

// indirected translates an operand and, where it is so, the fields and
// subscripts that follow it.
func (u *unit) indirected(is bool, operand func()) {
	if !is {
		operand()
		return
	}
	p := u.p
	m := &indirectionMark{}
	u.open(markIndirection, p.i, m)
	operand()
	for p.is(".") || p.is("[") {
		if len(m.steps) >= maxNesting {
			tooDeep(int(p.peek().pos))
		}
		s := indirection{tok: p.i}
		if p.accept(".") {
			if p.accept("*") {
				s.field = "*"
			} else {
				s.field = p.label()
			}
		} else {
			u.subscript(&s)
		}
		m.steps = append(m.steps, s)
	}
	u.close()
}

func (u *unit) subscript(s *indirection) {
	p := u.p
	p.expect("[")
	bound := func() bool {
		if p.is(":") || p.is("]") {
			return false
		}
		u.comma()
		u.sequence(false)
		return true
	}
	s.lo = bound()
	if p.accept(":") {
		s.slice = true
		s.hi = bound()
	} else if !s.lo {
		p.syntaxError()
	}
	p.expect("]")
}

// word translates a primary that begins with an unquoted word.
func (u *unit) word(kw keyword) {
	p := u.p
	i := p.i
	call := p.isAt(1, "(")
	switch kw {
	case kwNull, kwTrue, kwFalse:
		u.leaf(i, p.literal(p.next()))
		return
	case kwCase:
		u.caseExpr()
		return
	case kwCast:
		u.castCall()
		return
	case kwArray:
		u.array()
		return
	case kwExists:
		if call {
			u.queryCall(markExists)
			return
		}
	case kwRow:
		if call {
			u.rowCall()
			return
		}
	case kwInterval:
		if e := p.interval(); e != nil {
			u.leaf(i, e)
			return
		}
	case kwExtract, kwSubstring, kwPosition, kwTrim, kwOverlay:
		if call {
			u.special(kw)
			return
		}
	case kwCurrentDate, kwCurrentTime, kwCurrentTimestamp, kwLocaltime, kwLocaltimestamp, kwCurrentRole,
		kwCurrentUser, kwUser, kwSessionUser, kwCurrentCatalog:
		u.niladic(call)
		return
	case kwCurrentSchema:
		if !call {
			u.niladic(false)
			return
		}
	case kwCoalesce, kwGreatest, kwLeast, kwNullif, kwGrouping:
		if call {
			u.listCall(kw)
			return
		}
	case kwNormalize:
		if call {
			u.call(nil)
			return
		}
	case kwDefault:
		raise(int(p.peek().pos), sqlerr.SyntaxError, "DEFAULT is not allowed in this context")
	}
	if !u.typed() {
		u.nameOrCall()
	}
}

// typed translates a type followed by a string literal, if that is next.
func (u *unit) typed() bool {
	p := u.p
	if !p.typedLiteral() {
		return false
	}
	i := p.i
	c := &ast.Cast{P: ast.P{At: p.pos(i)}, Type: p.typeName()}
	if p.peek().kind != kindString {
		p.syntaxError()
	}
	c.X = p.literal(p.next())
	u.leaf(i, c)
	return true
}

// listCall translates COALESCE and its like, which take a list that is not
// empty and none of the clauses of a call.
func (u *unit) listCall(kw keyword) {
	p := u.p
	i := p.next()
	m := &callMark{call: &ast.Call{P: ast.P{At: p.pos(i)}, Name: p.value(i)}}
	u.open(markCall, i, m)
	p.expect("(")
	if kw == kwNullif {
		u.sequence(false)
		p.expect(",")
		u.comma()
		u.sequence(false)
		m.args = 2
	} else {
		m.args = u.list()
	}
	p.expect(")")
	u.close()
}

// nameOrCall translates a column reference or a function call.
func (u *unit) nameOrCall() {
	p := u.p
	i := p.i
	t := p.peek()
	n := 1 // tokens of the name
	for p.isAt(n, ".") && (p.at(n+1).kind == kindWord || p.at(n+1).kind == kindQuoted) {
		n += 2
	}
	if p.isAt(n, "(") {
		if t.kind == kindWord && t.kw != kwWindow {
			if c := t.kw.category(); c == reserved || c == colName {
				if n == 1 && c == colName {
					p.syntaxErrorAt(i + 1)
				}
				if c == reserved {
					p.syntaxError()
				}
			}
		}
		u.call(nil)
		return
	}
	if t.kind == kindWord && t.kw != kwWindow {
		switch t.kw.category() {
		case reserved:
			p.syntaxError()
		case typeFunc:
			p.syntaxErrorAt(i + 1)
		}
	}
	u.indirected(p.isAt(n, "["), func() {
		c := &ast.ColumnRef{P: ast.P{At: p.pos(i)}, Parts: make([]string, 0, n/2+1)}
		for {
			c.Parts = append(c.Parts, p.value(p.next()))
			if p.is(".") && p.isAt(1, "*") {
				p.next()
				p.next()
				c.Star = true
				break
			}
			if !p.is(".") {
				break
			}
			p.next()
			if k := p.peek().kind; k != kindWord && k != kindQuoted {
				p.syntaxError()
			}
		}
		u.leaf(i, c)
	})
}

// caseMark is CASE; its arguments are the operand, the arms and the ELSE.
type caseMark struct {
	operand, otherwise bool
	arms               int
}

func (u *unit) caseExpr() {
	p := u.p
	m := &caseMark{}
	u.open(markCase, p.next(), m)
	if !p.isWord(0, "when") {
		m.operand = true
		u.sequence(false)
		u.comma()
	}
	for m.arms == 0 || p.isWord(0, "when") {
		if m.arms > 0 {
			u.comma()
		}
		p.expectWords("when")
		u.sequence(false)
		u.comma()
		p.expectWords("then")
		u.sequence(false)
		m.arms++
	}
	if p.acceptWords("else") {
		m.otherwise = true
		u.comma()
		u.sequence(false)
	}
	p.expectWords("end")
	u.close()
}

func (u *unit) castCall() {
	p := u.p
	i := p.next()
	c := &ast.Cast{P: ast.P{At: p.pos(i)}}
	p.expect("(")
	u.open(markCastCall, i, c)
	u.sequence(false)
	u.close()
	p.expectWords("as")
	c.Type = p.typeName()
	p.expect(")")
}

// array translates ARRAY[...] and ARRAY(query).
func (u *unit) array() {
	p := u.p
	if p.isAt(1, "(") {
		u.queryCall(markArrayQuery)
		return
	}
	i := p.next()
	if !p.is("[") {
		p.syntaxError()
	}
	u.elements(i)
}

// elements translates [a, b, [c]].
func (u *unit) elements(i int) {
	p := u.p
	p.enter()
	p.expect("[")
	u.open(markArray, i, nil)
	for n := 0; !p.is("]"); n++ {
		if n > 0 {
			p.expect(",")
			u.comma()
		}
		if p.is("[") {
			u.elements(p.i)
		} else {
			u.sequence(false)
		}
	}
	u.close()
	p.expect("]")
	p.depth--
}

// queryCall translates WORD (query).
func (u *unit) queryCall(k markKind) {
	p := u.p
	i := p.next()
	p.expect("(")
	if !p.queryAt(p.i) {
		p.syntaxError()
	}
	u.open(k, i, nil)
	u.subquery()
	u.close()
	p.expect(")")
}

func (u *unit) rowCall() {
	p := u.p
	u.open(markRow, p.next(), nil)
	p.expect("(")
	if !p.is(")") {
		u.list()
	}
	p.expect(")")
	u.close()
}

// interval reads INTERVAL 'text' [fields], INTERVAL (p) 'text' and Spark's
// INTERVAL 5 MINUTES; nil, with the cursor unmoved, if it is none of them.
func (p *parser) interval() ast.Expr {
	i := p.i
	lit := &ast.IntervalLit{P: ast.P{At: p.pos(i)}, Prec: -1}
	switch {
	case p.at(1).kind == kindString:
		p.next()
		lit.Text = p.value(p.next())
		if unit := p.pluralUnit(0); unit != "" {
			p.next()
			lit.Text += " " + unit
			return lit
		}
		lit.Fields, lit.Prec = p.intervalFields()
	case p.isAt(1, "(") && p.at(2).kind == kindNumber && p.isAt(3, ")") && p.at(4).kind == kindString:
		p.i += 2
		lit.Prec = p.integer()
		p.next()
		lit.Text = p.value(p.next())
	case p.unquotedInterval(1):
		p.next()
		var parts []string
		for len(parts) == 0 || p.unquotedInterval(0) {
			sign := ""
			if p.accept("-") {
				sign = "-"
			}
			parts = append(parts, sign+p.value(p.next())+" "+p.value(p.next()))
		}
		lit.Text = strings.Join(parts, " ")
	default:
		return nil
	}
	return lit
}

var intervalUnits = map[string]bool{"year": true, "month": true, "week": true, "day": true, "hour": true, "minute": true,
	"second": true, "millisecond": true, "microsecond": true}

// pluralUnit gives the plural unit n places ahead ("minutes"), or "".
func (p *parser) pluralUnit(n int) string {
	if p.at(n).kind != kindWord || p.i+n >= len(p.toks) {
		return ""
	}
	w := p.value(p.i + n)
	if strings.HasSuffix(w, "s") && intervalUnits[strings.TrimSuffix(w, "s")] {
		return w
	}
	return ""
}

// unquotedInterval says whether [-] number unit stands n places ahead.
func (p *parser) unquotedInterval(n int) bool {
	if p.isAt(n, "-") {
		n++
	}
	if p.at(n).kind != kindNumber || p.at(n+1).kind != kindWord {
		return false
	}
	return intervalUnits[strings.TrimSuffix(p.value(p.i+n+1), "s")]
}

// niladic translates CURRENT_DATE and the like, which take no arguments or a precision.
func (u *unit) niladic(call bool) {
	p := u.p
	i := p.next()
	m := &callMark{call: &ast.Call{P: ast.P{At: p.pos(i)}, Name: p.value(i)}}
	u.open(markCall, i, m)
	if call {
		switch p.toks[i].kw {
		case kwCurrentTime, kwCurrentTimestamp, kwLocaltime, kwLocaltimestamp:
		default:
			p.syntaxError()
		}
		p.expect("(")
		j := p.i
		p.integer()
		u.leaf(j, p.literal(j))
		m.args = 1
		p.expect(")")
	}
	u.close()
}

// integer reads a number without fraction that fits four bytes.
func (p *parser) integer() int {
	if p.peek().kind != kindNumber {
		p.syntaxError()
	}
	i := p.next()
	n := 0
	for _, c := range p.value(i) {
		if c < '0' || c > '9' {
			p.syntaxErrorAt(i)
		}
		if n = n*10 + int(c-'0'); n > 1<<31-1 {
			raise(int(p.toks[i].pos), sqlerr.NumericValueOutOfRange, "value \"%s\" is out of range for type integer", p.value(i))
		}
	}
	return n
}
