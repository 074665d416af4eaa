package parser

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// fromList translates the items of FROM.
func (u *unit) fromList() {
	for {
		u.tableRef()
		if !u.p.accept(",") {
			return
		}
		u.comma()
		u.nest()
	}
}

// tableRef translates an item and the joins behind it. A join whose ON has
// not come yet takes the joins that follow its right side, as in PostgreSQL. It
// gives the join that the others are in, nil for an item that is none.
func (u *unit) tableRef() *ast.Join {
	p := u.p
	p.enter()
	top := u.factor()
	for {
		i := p.i
		j := p.joinWords()
		if j == nil {
			break
		}
		top = j
		u.nest()
		u.plain(i, "LEFT JOIN")
		if j.Kind == "cross" || j.Natural {
			u.factor()
			u.plain(i, "ON")
			u.open(markJoin, i, j)
			u.close()
			continue
		}
		u.tableRef()
		u.joinCondition(i, j)
	}
	p.depth--
	return top
}

func (u *unit) joinCondition(i int, j *ast.Join) {
	p := u.p
	switch {
	case p.isWord(0, "on"):
		u.plain(p.next(), "ON")
		u.open(markJoin, i, j)
		u.sequence(false)
		u.close()
	case p.isWord(0, "using"):
		u.plain(p.next(), "ON")
		j.Using = p.nameList()
		if p.isWord(0, "as") {
			p.unsupported(p.i, "an alias of JOIN USING is not supported")
		}
		u.open(markJoin, i, j)
		u.close()
	default:
		p.syntaxError()
	}
}

// joinWords reads NATURAL LEFT OUTER JOIN and the like; nil if none is next.
func (p *parser) joinWords() *ast.Join {
	j := &ast.Join{At: p.here(), Kind: "inner"}
	start := p.i
	j.Natural = p.acceptWords("natural")
	side := p.oneOf("inner", "left", "right", "full", "cross", "semi", "anti", "asof")
	if side != "" {
		j.Kind = side
		p.next()
	}
	switch side {
	case "left", "right", "full":
		if w := p.oneOf("semi", "anti", "asof"); side == "left" && w != "" && p.isWord(1, "join") {
			j.Kind = w
			if w == "asof" {
				j.Kind = "left asof"
			}
			p.next()
		} else {
			p.acceptWords("outer")
		}
	case "asof":
		if p.acceptWords("left") {
			j.Kind = "left asof"
			p.acceptWords("outer")
		}
	}
	switch {
	case p.acceptWords("join"):
		if j.Natural && (side == "cross" || strings.Contains(j.Kind, "asof") || j.Kind == "semi" || j.Kind == "anti") {
			p.syntaxErrorAt(start + 1)
		}
		return j
	case p.i == start:
		return nil
	case side == "semi" || side == "anti" || side == "asof":
		p.i = start
		return nil
	}
	p.syntaxError()
	return nil
}

// factor translates one item of FROM without joins, or joins in parentheses, of
// which it gives the topmost.
func (u *unit) factor() *ast.Join {
	p := u.p
	i := p.i
	if p.is("(") {
		if p.queryAt(i + 1) {
			u.derived(i, false)
			return nil
		}
		u.plain(p.next(), "(")
		before := u.joins
		top := u.tableRef()
		if u.joins == before && !p.isAt(-1, ")") {
			p.syntaxError()
		}
		p.expect(")")
		u.close()
		if top != nil && (p.isWord(0, "as") || p.aliasAhead()) {
			if top.Alias != "" {
				p.syntaxError()
			}
			top.Alias, top.Columns = p.alias()
		}
		return top
	}
	lateral := p.acceptWords("lateral")
	if lateral && p.is("(") {
		if !p.queryAt(p.i + 1) {
			p.syntaxErrorAt(p.i + 1)
		}
		u.derived(p.i, true)
		return nil
	}
	if p.words("rows", "from") && p.isAt(2, "(") {
		p.unsupported(i, "ROWS FROM is not supported")
	}
	n := 1
	for p.isAt(n, ".") {
		n += 2
	}
	if p.isAt(n, "(") && !p.isWord(0, "only") {
		u.function(i, lateral)
		return nil
	}
	if lateral {
		p.syntaxErrorAt(min(p.i+n, len(p.toks)-1))
	}
	u.table(i)
	return nil
}

// table translates a relation by name.
func (u *unit) table(i int) {
	p := u.p
	r := &ast.TableRef{Only: p.acceptWords("only")}
	if r.Only && p.accept("(") {
		r.Name = p.qualified()
		p.expect(")")
	} else {
		r.Name = p.qualified()
	}
	p.accept("*")
	asOf := func() {
		if r.AsOf == nil && p.words("for", "system_time", "as", "of") {
			p.i += 4
			p.enter()
			r.AsOf = p.expr()
			p.depth--
		}
	}
	asOf()
	r.Watermark = p.watermarkAhead()
	r.Alias, r.Columns = p.alias()
	asOf()
	if r.Watermark == nil {
		r.Watermark = p.watermarkAhead()
		if r.Watermark != nil && r.Alias == "" {
			r.Alias, r.Columns = p.alias()
		}
	}
	p.noSample()
	u.relation(i, r)
}

func (p *parser) noSample() {
	if p.isWord(0, "tablesample") {
		p.unsupported(p.i, "TABLESAMPLE is not supported")
	}
}

// derived translates (query) [AS] alias; the cursor is at the bracket.
func (u *unit) derived(i int, lateral bool) {
	p := u.p
	s := &ast.SubqueryRef{Lateral: lateral, At: p.pos(i)}
	p.expect("(")
	u.subquery()
	p.expect(")")
	s.Alias, s.Columns = p.alias()
	s.Watermark = p.watermarkAhead()
	if s.Alias == "" && s.Watermark != nil {
		s.Alias, s.Columns = p.alias()
	}
	if s.Alias == "" {
		panic(bailout{sqlerr.New(sqlerr.SyntaxError, "subquery in FROM must have an alias").
			WithHint("For example, FROM (SELECT ...) [AS] foo.").At(int(p.toks[i].pos))})
	}
	p.noSample()
	u.plain(i, "AS")
	u.relation(i, s)
}

// function translates a function in FROM, also in the form TABLE(f(...)).
func (u *unit) function(i int, lateral bool) {
	p := u.p
	f := &ast.FuncRef{Lateral: lateral, At: p.here(), Tables: map[string]*ast.TableArg{}}
	wrapped := p.isWord(0, "table")
	if wrapped {
		p.i += 2
	}
	t := p.peek()
	if t.kind == kindWord && t.kw.category() == reserved || t.kind != kindWord && t.kind != kindQuoted {
		p.syntaxError()
	}
	u.plain(i, "(SELECT")
	u.call(f.Tables)
	u.close()
	if wrapped {
		p.expect(")")
	}
	f.Ordinality = p.acceptWords("with", "ordinality")
	as := p.acceptWords("as")
	if !p.is("(") && (as || p.aliasAhead()) {
		f.Alias = p.name()
		as = true
	}
	if as && p.is("(") {
		p.functionColumns(f)
	}
	p.noSample()
	u.plain(i, "AS")
	u.relation(i, f)
}

// functionColumns reads (a, b) or the definitions (a int, b text).
func (p *parser) functionColumns(f *ast.FuncRef) {
	if p.isAt(2, ",") || p.isAt(2, ")") {
		f.Columns = p.nameList()
		return
	}
	p.expect("(")
	for {
		f.Columns = append(f.Columns, p.name())
		f.ColTypes = append(f.ColTypes, p.typeName())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
}

// aliasAhead says whether an alias without AS is next.
func (p *parser) aliasAhead() bool {
	if !p.isName(0, colName) || p.emitClause() || p.watermarkClause() {
		return false
	}
	return !(p.oneOf("semi", "anti") != "" && p.isWord(1, "join") ||
		p.isWord(0, "asof") && (p.isWord(1, "join") || p.isWord(1, "left")))
}

// alias reads [AS] name [(columns)], if there.
func (p *parser) alias() (name string, columns []string) {
	switch {
	case p.acceptWords("as"):
		name = p.name()
	case p.aliasAhead():
		name = p.name()
	default:
		return "", nil
	}
	if p.is("(") {
		columns = p.nameList()
	}
	return name, columns
}

// watermarkClause says whether WATERMARK FOR c or WATERMARK c DELAY OF is next.
func (p *parser) watermarkClause() bool {
	return p.words("watermark", "for") || p.isWord(0, "watermark") && p.isWord(2, "delay") && p.isWord(3, "of")
}

func (p *parser) watermarkAhead() *ast.WatermarkDef {
	if !p.watermarkClause() {
		return nil
	}
	return p.watermark()
}

// watermark reads WATERMARK FOR c AS c - INTERVAL d [IDLE TIMEOUT d [ADVANCE]]
// or WATERMARK c DELAY OF INTERVAL d.
func (p *parser) watermark() *ast.WatermarkDef {
	w := &ast.WatermarkDef{At: p.here()}
	p.expectWords("watermark")
	if p.acceptWords("for") {
		w.Column = p.name()
		p.expectWords("as")
		p.enter()
		e := p.restricted()
		p.depth--
		if delay, ok := delayOf(e, w.Column); ok {
			w.Delay = delay
		} else {
			w.Other = e
		}
	} else {
		w.Column = p.name()
		p.expectWords("delay", "of")
		w.Delay = p.duration()
	}
	if p.acceptWords("idle", "timeout") {
		w.Idle = p.duration()
		w.Advance = p.acceptWords("advance")
	}
	return w
}

// duration reads an interval literal or a string and gives the interval's text.
func (p *parser) duration() string {
	if p.peek().kind == kindString {
		return p.str()
	}
	if !p.isWord(0, "interval") {
		p.syntaxError()
	}
	e := p.interval()
	if e == nil {
		p.syntaxErrorAt(p.i + 1)
	}
	return intervalText(e.(*ast.IntervalLit))
}

// intervalText writes an interval literal's fields into its text: '5' MINUTE
// is "5 minute".
func intervalText(l *ast.IntervalLit) string {
	if l.Fields != "" && !strings.Contains(l.Fields, " ") && strings.Trim(l.Text, "0123456789.-+ ") == "" {
		return l.Text + " " + l.Fields
	}
	return l.Text
}

// delayOf takes column - interval apart; the column alone is a delay of none.
func delayOf(e ast.Expr, column string) (string, bool) {
	same := func(e ast.Expr) bool {
		c, ok := e.(*ast.ColumnRef)
		return ok && !c.Star && len(c.Parts) == 1 && c.Parts[0] == column
	}
	if same(e) {
		return "0 seconds", true
	}
	b, ok := e.(*ast.Binary)
	if !ok || b.Op != "-" || !same(b.L) {
		return "", false
	}
	switch r := b.R.(type) {
	case *ast.IntervalLit:
		return intervalText(r), true
	case *ast.Const:
		return r.Text, r.Kind == ast.StringConst
	case *ast.Cast:
		c, ok := r.X.(*ast.Const)
		if ok && c.Kind == ast.StringConst && r.Type.Name == "interval" && !r.Type.Array {
			return c.Text, true
		}
	}
	return "", false
}
