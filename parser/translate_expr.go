package parser

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
)

// level is PostgreSQL's operator precedence, the loosest first.
type level uint8

const (
	levelNone level = iota
	levelOr
	levelAnd
	levelNot
	levelIs
	levelCompare
	levelLike
	levelEscape
	levelOp
	levelAdd
	levelMul
	levelPower
	levelAt
	levelSign
)

// run is the state of one flat run of operands and operators.
type run struct {
	u          *unit
	restricted bool
	// groups are the levels of prefix operators that had to be put into
	// brackets, since TiDB's grammar has them at the start of a run only. Such a
	// bracket closes before the next operator that binds as loosely.
	groups []level
	prev   level // of the operator just written
	// starts says for each level where in the output the left operand of an
	// operator of that level would begin.
	starts [levelSign + 1]int
	// done is the level of a test such as IS NULL that has just been completed.
	done    level
	escape  bool // an ESCAPE may follow
	chain   int  // operators and casts since the last AND or OR, which nest in the tree
	tallest int  // the most that chain has been
	flat    int  // ANDs and ORs
}

// sequence translates an expression: operands and operators as they stand,
// without regard to precedence. It ends before the first token that cannot
// continue an expression.
func (u *unit) sequence(restricted bool) {
	u.p.enter()
	outer := u.p.height
	u.p.height = 0
	r := run{u: u, restricted: restricted}
	r.begin(levelNone)
	r.operand()
	for {
		l := r.infixLevel()
		if l == levelNone {
			break
		}
		r.count(l)
		r.closeGroups(l)
		if r.done != levelNone && l > r.done {
			r.bracket()
		}
		if r.done = l; r.infix(l) {
			r.done = levelNone
			r.begin(l)
			r.operand()
		}
	}
	r.closeGroups(levelNone)
	// What is deepest within may be the leftmost operand of the whole run.
	u.p.height += max(r.tallest, r.chain) + r.flat/flatPerLevel + 1
	if u.p.height > maxHeight {
		tooDeep(int(u.p.peek().pos))
	}
	u.p.height = max(outer, u.p.height)
	u.p.depth--
}

// begin notes that an operator of level l has been written: an operand of any
// tighter operator starts here.
func (r *run) begin(l level) {
	for k := l + 1; k <= levelSign; k++ {
		r.starts[k] = len(r.u.out)
	}
}

// bracket puts a completed test, which has no operand on its right, into
// brackets with its left side, since a tighter operator follows: PostgreSQL
// reads a IS NULL || b as (a IS NULL) || b.
func (r *run) bracket() {
	r.u.wrap(r.starts[r.done])
	for k := r.done + 1; k <= levelSign; k++ {
		r.starts[k] = r.starts[r.done]
	}
}

// list translates expressions separated by commas.
func (u *unit) list() (n int) {
	for {
		u.sequence(false)
		n++
		if !u.p.accept(",") {
			return n
		}
		u.comma()
	}
}

func (r *run) count(l level) {
	if l <= levelAnd {
		r.flat++
		r.tallest = max(r.tallest, r.chain)
		r.chain = 0
	} else {
		r.chain++
	}
	if r.chain > maxChain || r.flat > maxChainFlat {
		tooDeep(int(r.u.p.peek().pos))
	}
}

func (r *run) closeGroups(l level) {
	for n := len(r.groups); n > 0 && r.groups[n-1] >= l; n-- {
		r.u.close()
		r.groups = r.groups[:n-1]
	}
	if l <= levelLike {
		r.escape = false
	}
}

func (r *run) group(l level) {
	if len(r.groups) >= maxNesting {
		tooDeep(int(r.u.p.peek().pos))
	}
	r.u.plain(r.u.p.i, "(")
	r.groups = append(r.groups, l)
	r.begin(l)
}

// operand translates prefix operators, a primary and its casts.
func (r *run) operand() {
	u, p := r.u, r.u.p
	for n := 0; ; n++ {
		if n > maxNesting {
			tooDeep(int(p.peek().pos))
		}
		if n > 0 {
			r.chain++
		}
		t := p.peek()
		switch {
		case t.kw == kwNot && t.kind == kindWord && !r.restricted:
			if r.prev > levelNot {
				r.group(levelNot)
			}
			u.plain(p.next(), "NOT")
			r.prev = levelNot
			r.begin(levelNot)
			continue
		case t.kind == kindOp:
			s := p.raw(p.i)
			if s == "-" || s == "+" {
				u.plain(p.next(), s)
				r.prev = levelSign
				continue
			}
			if operatorLevel(s) != levelOp {
				p.syntaxError()
			}
			if r.prev > levelOp {
				r.group(levelOp)
			}
			i := p.next()
			u.hole(markPrefix, i, &ast.Unary{P: ast.P{At: p.pos(i)}, Op: s})
			u.plain(i, "|")
			r.prev = levelOp
			r.begin(levelOp)
			continue
		}
		break
	}
	u.primary()
	for p.is("::") {
		if r.chain++; r.chain > maxChain {
			tooDeep(int(p.peek().pos))
		}
		i := p.next()
		u.cast(i, &ast.Cast{P: ast.P{At: p.pos(i)}, Type: p.typeName()})
	}
}

// operatorLevel gives the level of an infix operator, levelNone for `=>`,
// which only names an argument.
func operatorLevel(s string) level {
	switch s {
	case "+", "-":
		return levelAdd
	case "*", "/", "%":
		return levelMul
	case "^":
		return levelPower
	case "<", ">", "=", "<=", ">=", "<>", "!=":
		return levelCompare
	case "=>":
		return levelNone
	}
	return levelOp
}

// infixLevel gives the level of the operator at the cursor, levelNone if the
// expression ends here.
func (r *run) infixLevel() level {
	p := r.u.p
	t := p.peek()
	if t.kind == kindOp {
		return operatorLevel(p.raw(p.i))
	}
	if t.kind != kindWord {
		return levelNone
	}
	switch t.kw {
	case kwOperator:
		if p.isAt(1, "(") {
			return levelOp
		}
	case kwIs:
		n := 1
		if p.isWord(1, "not") {
			n = 2
		}
		if !r.restricted || p.isWord(n, "distinct") {
			return levelIs
		}
	}
	if r.restricted {
		return levelNone
	}
	switch t.kw {
	case kwCollate, kwOverlaps:
		return levelAt
	case kwAt:
		if p.isWord(1, "time") {
			return levelAt
		}
	case kwOr:
		return levelOr
	case kwAnd:
		return levelAnd
	case kwIsnull, kwNotnull:
		return levelIs
	case kwLike, kwIlike, kwIn, kwBetween:
		return levelLike
	case kwSimilar:
		// SUBSTRING(a SIMILAR b ESCAPE c) has no TO.
		if p.isWord(1, "to") {
			return levelLike
		}
	case kwNot:
		switch p.at(1).kw {
		case kwLike, kwIlike, kwIn, kwBetween, kwSimilar:
			return levelLike
		}
	case kwEscape:
		if r.escape {
			return levelEscape
		}
	}
	return levelNone
}

// infix translates the operator at the cursor; it says whether an operand must follow.
func (r *run) infix(l level) bool {
	u, p := r.u, r.u.p
	r.prev = l
	i := p.i
	at := ast.P{At: p.pos(i)}
	switch l {
	case levelOr:
		u.plain(p.next(), "OR")
	case levelAnd:
		u.plain(p.next(), "AND")
	case levelIs:
		return r.isTest()
	case levelLike:
		return r.predicate()
	case levelEscape:
		r.escape = false
		p.next()
		u.plain(i, "|")
		u.hole(markEscape, i, nil)
		u.plain(i, "|")
	case levelAdd, levelMul, levelPower:
		u.plain(i, p.raw(p.next()))
	case levelCompare:
		op := p.raw(p.next())
		u.plain(i, op)
		return !r.quantified(op)
	case levelOp:
		b := &ast.Binary{P: at, Op: p.raw(i)}
		if p.peek().kind == kindWord {
			b.OpSchema, b.Op = p.operatorName()
		} else {
			p.next()
		}
		u.plain(i, "|")
		u.hole(markInfix, i, b)
		u.plain(i, "|")
		return !r.quantified(b.Op)
	case levelAt:
		return r.atLevel()
	}
	return true
}

// operatorName reads OPERATOR(schema.op).
func (p *parser) operatorName() (schema, op string) {
	p.next()
	p.expect("(")
	for p.peek().kind != kindOp {
		schema = p.name()
		p.expect(".")
	}
	op = p.raw(p.next())
	if op == "!=" {
		op = "<>"
	}
	p.expect(")")
	return schema, op
}

// quantified translates ANY (...) or ALL (...) behind an operator.
func (r *run) quantified(op string) bool {
	u, p := r.u, r.u.p
	t := p.peek()
	if t.kind != kindWord || t.kw != kwAny && t.kw != kwSome && t.kw != kwAll {
		return false
	}
	if !p.isAt(1, "(") {
		p.syntaxErrorAt(p.i + 1)
	}
	if op == "!=" {
		op = "<>"
	}
	i := p.next()
	u.open(markQuantified, i, &ast.Quantified{P: ast.P{At: p.pos(i - 1)}, Op: op, All: t.kw == kwAll})
	u.listOrQuery(false)
	u.close()
	return true
}

// listOrQuery translates a bracketed list of expressions, or one expression,
// or a subquery, as fN(...).
func (u *unit) listOrQuery(many bool) {
	p := u.p
	i := p.i
	p.expect("(")
	if p.queryAt(p.i) {
		u.open(markListQuery, i, nil)
		u.subquery()
	} else {
		u.open(markList, i, nil)
		if many {
			u.list()
		} else {
			u.sequence(false)
		}
	}
	u.close()
	p.expect(")")
}

// isTest translates the IS family.
func (r *run) isTest() bool {
	u, p := r.u, r.u.p
	i := p.next()
	at := ast.P{At: p.pos(i)}
	u.plain(i, "<=>")
	switch p.toks[i].kw {
	case kwIsnull:
		u.hole(markIsTest, i, &ast.IsTest{P: at, What: "null"})
		return false
	case kwNotnull:
		u.hole(markIsTest, i, &ast.IsTest{P: at, What: "null", Not: true})
		return false
	}
	not := p.acceptWords("not")
	switch p.peek().kw {
	case kwDistinct:
		p.next()
		p.expectWords("from")
		u.hole(markDistinct, i, &ast.IsDistinct{P: at, Not: not})
		u.plain(i, "<=>")
		return true
	case kwNull, kwTrue, kwFalse, kwUnknown:
		u.hole(markIsTest, i, &ast.IsTest{P: at, What: p.value(p.next()), Not: not})
		return false
	case kwDocument, kwNormalized, kwNfc, kwNfd, kwNfkc, kwNfkd:
		p.unsupported(p.i, "IS %s is not supported", strings.ToUpper(p.value(p.i)))
	}
	p.syntaxError()
	return false
}

// likeMark is LIKE, ILIKE or SIMILAR TO before it has its operands.
type likeMark struct {
	op  string
	not bool
}

// predicate translates the LIKE family, IN and BETWEEN.
func (r *run) predicate() bool {
	u, p := r.u, r.u.p
	i := p.i
	at := ast.P{At: p.pos(i)}
	not := p.acceptWords("not")
	word := p.peek().kw
	p.next()
	u.plain(i, "BETWEEN")
	switch word {
	case kwIn:
		u.hole(markIn, i, &ast.In{P: at, Not: not})
		u.plain(i, "AND")
		u.listOrQuery(true)
		return false
	case kwBetween:
		sym := p.acceptWords("symmetric")
		if !sym {
			p.acceptWords("asymmetric")
		}
		u.hole(markBetween, i, &ast.Between{P: at, Not: not, Symmetric: sym})
		u.plain(i, "| (")
		u.sequence(true)
		u.close()
		if !p.isWord(0, "and") {
			p.syntaxError()
		}
		u.plain(p.next(), "AND")
		return true
	}
	m := &likeMark{op: keywords[word].word, not: not}
	if word == kwSimilar {
		p.expectWords("to")
	}
	u.hole(markLike, i, m)
	u.plain(i, "AND")
	if op := m.operator(); op != "" && r.quantified(op) {
		return false
	}
	r.escape = true
	return true
}

// operator gives PostgreSQL's operator for LIKE and ILIKE, "" for SIMILAR TO.
func (m *likeMark) operator() string {
	var op string
	switch m.op {
	case "like":
		op = "~~"
	case "ilike":
		op = "~~*"
	default:
		return ""
	}
	if m.not {
		op = "!" + op
	}
	return op
}

// atLevel translates AT TIME ZONE, COLLATE and OVERLAPS.
func (r *run) atLevel() bool {
	u, p := r.u, r.u.p
	i := p.next()
	u.plain(i, "||")
	switch p.toks[i].kw {
	case kwCollate:
		c := &ast.Collate{P: ast.P{At: p.pos(i)}}
		c.Name = p.qualified()
		u.hole(markCollate, i, c)
		return false
	case kwOverlaps:
		u.hole(markOverlaps, i, nil)
	default:
		p.expectWords("time", "zone")
		u.hole(markAtZone, i, nil)
	}
	u.plain(i, "||")
	return true
}
