package parser

import (
	"strconv"
	"strings"
	"sync"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Parse splits text at its semicolons and parses every statement; empty ones
// are left out. Positions in a Parsed are relative to its Text. The error is
// an *sqlerr.Error whose Position is relative to the whole text, in bytes;
// nothing is returned beside it, since one bad statement refuses the whole
// text, as in PostgreSQL.
func Parse(text string) (stmts []ast.Parsed, err error) {
	defer recoverTo(&err)
	p := newParser(text)
	defer p.release()
	for p.peek().kind != kindEOF {
		if p.accept(";") {
			continue
		}
		stmts = append(stmts, p.parsed())
	}
	return stmts, nil
}

// Split cuts a text behind the semicolons that end its statements, which may be wrong in themselves: those that are not between brackets, nor within
// a text, a quoted name or a comment. The pieces together are the text.
func Split(text string) []string {
	out, rest := split(text)
	if rest != "" {
		out = append(out, rest)
	}
	return out
}

// split is Split with the piece behind the last such semicolon apart.
func split(text string) (whole []string, rest string) {
	p := newParser(text)
	defer p.release()
	from, depth := 0, 0
	for i := range p.toks {
		switch t := &p.toks[i]; {
		case p.tokIs(t, "("):
			depth++
		case p.tokIs(t, ")"):
			depth = max(depth-1, 0)
		case p.tokIs(t, ";") && depth == 0:
			whole = append(whole, text[from:t.end])
			from = int(t.end)
		}
	}
	return whole, text[from:]
}

// Ending tells how a text ends: whole says that there are only space and comments behind its last statement, as Split has them, and open that it ends within a text, a quoted
// name or a comment, or is no SQL.
func Ending(text string) (whole, open bool) {
	_, rest := split(text)
	p := newParser(rest)
	defer p.release()
	return p.toks[0].kind == kindEOF, p.toks[len(p.toks)-1].kind == kindBad
}

// ParseExpr parses a stand-alone expression, such as a stored default or
// check. Errors are as those of Parse.
func ParseExpr(text string) (e ast.Expr, err error) {
	defer recoverTo(&err)
	p := newParser(text)
	defer p.release()
	e = p.expr()
	p.expectEnd()
	return e, nil
}

// ParseQuery parses one query, such as a stored view or the body of a function
// in SQL. A semicolon may follow it. Errors are as those of Parse, and 0A000
// for another statement.
func ParseQuery(text string) (q *ast.Query, err error) {
	defer recoverTo(&err)
	p := newParser(text)
	defer p.release()
	if w := p.oneOf("insert", "update", "delete", "merge"); w != "" {
		p.unsupported(p.i, "%s in place of a query is not supported", strings.ToUpper(w))
	}
	q = p.query()
	if p.accept(";") && p.peek().kind != kindEOF {
		p.unsupported(p.i, "more than one statement in place of a query is not supported")
	}
	p.expectEnd()
	return q, nil
}

// parser is a cursor over the tokens of a text, shared by the statements and
// the translator.
type parser struct {
	text   string
	toks   []token
	values []string
	bad    *sqlerr.Error // of the last token, if that is kindBad
	i      int           // next token
	base   int           // byte offset of the current statement
	depth  int           // nesting of expressions, queries and statements
	// height bounds how deep the trees are of the expressions read so far
	// within the one that is being read.
	height int
}

// tokenSlices pools the tokens of texts, which do not outlive their parser.
var tokenSlices = sync.Pool{New: func() any { return new([]token) }}

// maxPooledTokens is the capacity above which a slice is left to the collector.
const maxPooledTokens = 1 << 17

func newParser(text string) *parser {
	l := lexer{text: text, toks: (*tokenSlices.Get().(*[]token))[:0]}
	if want := len(text)/4 + 8; cap(l.toks) < want {
		l.toks = make([]token, 0, want)
	}
	l.run()
	return &parser{text: text, toks: l.toks, values: l.values, bad: l.bad}
}

// release gives the tokens back. The parser must not be used after it.
func (p *parser) release() {
	if toks := p.toks; cap(toks) <= maxPooledTokens {
		p.toks = nil
		tokenSlices.Put(&toks)
	}
}

// parsed parses one statement up to its semicolon.
func (p *parser) parsed() ast.Parsed {
	first := p.i
	p.base = int(p.peek().pos)
	stmt := p.statement()
	if !p.is(";") && p.peek().kind != kindEOF {
		p.syntaxError()
	}
	return ast.Parsed{
		Stmt:   stmt,
		Text:   p.text[p.base:p.toks[p.i-1].end],
		At:     ast.Pos(p.base),
		Params: p.maxParam(first, p.i),
	}
}

// maxParam gives the greatest $n in the tokens [i, j).
func (p *parser) maxParam(i, j int) int {
	most := 0
	for ; i < j; i++ {
		if p.toks[i].kind == kindParam {
			most = max(most, p.paramNumber(i))
		}
	}
	return most
}

func (p *parser) paramNumber(i int) int {
	t := &p.toks[i]
	n, err := strconv.Atoi(p.text[t.pos+1 : t.end])
	if err != nil || n > 65535 || n == 0 {
		raise(int(t.pos), sqlerr.UndefinedParameter, "there is no parameter %s", p.raw(i))
	}
	return n
}

// enter counts a level of nesting; the caller leaves it by p.depth--.
func (p *parser) enter() {
	p.depth++
	if p.depth > maxNesting {
		tooDeep(int(p.peek().pos))
	}
}

func (p *parser) peek() *token { return &p.toks[p.i] }

// at gives token n places ahead, the EOF token at the end.
func (p *parser) at(n int) *token { return &p.toks[min(p.i+n, len(p.toks)-1)] }

// raw gives the text of token i as written.
func (p *parser) raw(i int) string { return p.text[p.toks[i].pos:p.toks[i].end] }

// pos gives the position of token i within the statement.
func (p *parser) pos(i int) ast.Pos { return ast.Pos(int(p.toks[i].pos) - p.base) }

// here gives the position of the next token within the statement.
func (p *parser) here() ast.Pos { return p.pos(p.i) }

func (p *parser) next() int {
	i := p.i
	if i < len(p.toks)-1 {
		p.i++
	}
	return i
}

// value gives what token i means: a folded identifier, a string's content,
// any other token as written.
func (p *parser) value(i int) string {
	t := &p.toks[i]
	switch t.kind {
	case kindWord:
		if t.plain {
			return p.text[t.pos:t.end]
		}
		return Fold(p.text[t.pos:t.end])
	case kindQuoted, kindString, kindBits:
		if t.plain {
			return p.text[t.pos+1 : t.end-1]
		}
		return p.values[t.link]
	case kindParam:
		return p.text[t.pos+1 : t.end]
	}
	return p.text[t.pos:t.end]
}

// syntaxError raises a syntax error at the next token, or as end of input at
// a semicolon's place only when the text ends there.
func (p *parser) syntaxError() { p.syntaxErrorAt(p.i) }

func (p *parser) syntaxErrorAt(i int) {
	if p.toks[i].kind == kindBad {
		panic(bailout{p.bad})
	}
	syntaxAt(int(p.toks[i].pos), p.raw(i))
}

func (p *parser) unsupported(i int, format string, args ...any) {
	raise(int(p.toks[i].pos), sqlerr.FeatureNotSupported, format, args...)
}

func (p *parser) tokIs(t *token, s string) bool {
	return (t.kind == kindPunct || t.kind == kindOp) && p.text[t.pos:t.end] == s
}

// is says whether the next token is this operator or punctuation.
func (p *parser) is(s string) bool { return p.tokIs(p.peek(), s) }

func (p *parser) isAt(n int, s string) bool { return p.tokIs(p.at(n), s) }

func (p *parser) accept(s string) bool {
	if p.is(s) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(s string) {
	if !p.accept(s) {
		p.syntaxError()
	}
}

func (p *parser) expectEnd() {
	if p.peek().kind != kindEOF {
		p.syntaxError()
	}
}

// isWord says whether the unquoted word n places ahead is w, in lower case.
func (p *parser) isWord(n int, w string) bool {
	t := p.at(n)
	return t.kind == kindWord && int(t.end-t.pos) == len(w) && strings.EqualFold(p.text[t.pos:t.end], w)
}

// words says whether the next tokens are these unquoted words.
func (p *parser) words(ws ...string) bool {
	for n, w := range ws {
		if !p.isWord(n, w) {
			return false
		}
	}
	return true
}

// oneOf gives the word among ws that the next token is, or "".
func (p *parser) oneOf(ws ...string) string { return p.oneOfAt(0, ws...) }

func (p *parser) oneOfAt(n int, ws ...string) string {
	for _, w := range ws {
		if p.isWord(n, w) {
			return w
		}
	}
	return ""
}

// acceptWords moves past these words if they are next.
func (p *parser) acceptWords(ws ...string) bool {
	if !p.words(ws...) {
		return false
	}
	for range ws {
		p.next()
	}
	return true
}

func (p *parser) expectWords(ws ...string) {
	for _, w := range ws {
		if !p.isWord(0, w) {
			p.syntaxError()
		}
		p.next()
	}
}

// isName says whether the token n places ahead may be a name of the category:
// with colName a column or table, with typeFunc a function or type.
func (p *parser) isName(n int, c category) bool {
	t := p.at(n)
	switch t.kind {
	case kindQuoted:
		return true
	case kindWord:
		k := t.kw.category()
		return k == unreserved || k == c
	}
	return false
}

// name reads a column or table name (PostgreSQL's ColId).
func (p *parser) name() string {
	if !p.isName(0, colName) {
		p.syntaxError()
	}
	return p.value(p.next())
}

// label reads any word or quoted identifier (ColLabel).
func (p *parser) label() string {
	if k := p.peek().kind; k != kindWord && k != kindQuoted {
		p.syntaxError()
	}
	return p.value(p.next())
}

// qualified reads name or schema.name; a database name before them is dropped.
func (p *parser) qualified() ast.Name {
	n := ast.Name{Pos: p.here(), Name: p.name()}
	for parts := 1; p.is("."); parts++ {
		if parts == 3 {
			start := int(p.toks[p.i].pos)
			raise(start, sqlerr.SyntaxError, "improper qualified name (too many dotted names)")
		}
		p.next()
		n.Schema, n.Name = n.Name, p.label()
	}
	return n
}

// nameList reads (a, b, ...).
func (p *parser) nameList() []string {
	p.expect("(")
	var out []string
	for {
		out = append(out, p.name())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return out
}

// str reads a string literal.
func (p *parser) str() string {
	if p.peek().kind != kindString {
		p.syntaxError()
	}
	return p.value(p.next())
}

// source gives the text between tokens i (included) and j (excluded).
func (p *parser) source(i, j int) string { return p.text[p.toks[i].pos:p.toks[j-1].end] }

// String gives the name of a token kind, for tests.
func (k kind) String() string {
	return [...]string{"eof", "word", "quoted", "string", "bits", "number", "param", "op", "punct", "bad"}[k]
}
