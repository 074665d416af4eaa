package parser

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// kind is the kind of a token.
type kind uint8

const (
	kindEOF    kind = iota
	kindWord        // unquoted identifier or keyword; kw is set for keywords
	kindQuoted      // "identifier"
	kindString      // '..', E'..', U&'..', $$..$$
	kindBits        // B'..' and X'..'
	kindNumber      // digits
	kindParam       // $n
	kindOp          // operator
	kindPunct       // ( ) [ ] , ; . : :: := ..
	kindBad         // text that is no token; the last in place of kindEOF
)

// token is one lexical element. It is kept small, since an INSERT of many
// rows has millions.
type token struct {
	kind kind
	// plain says that a string's or quoted identifier's value is the text
	// between its quotes, and that a word is already folded.
	plain bool
	kw    keyword
	pos   int32 // byte offset
	end   int32
	// link is the index of the other bracket of a pair; of a string that is
	// not plain, the index of its value in lexer.values.
	link int32
}

// lexer cuts a text into tokens. The zero value with text set is ready.
type lexer struct {
	text   string
	i      int
	toks   []token
	values []string
	open   []int32 // indexes of brackets not yet closed
	// bad is what is wrong with the text at a kindBad token. It is raised when
	// the parser gets there, since an earlier syntax error comes first.
	bad *sqlerr.Error
}

const (
	classSpace = 1 << iota
	classIdentStart
	classDigit
	classOp
	classSelf
)

var class = func() (c [256]uint8) {
	for _, b := range []byte(" \t\n\r\f\v") {
		c[b] |= classSpace
	}
	for b := 'a'; b <= 'z'; b++ {
		c[b] |= classIdentStart
		c[b-32] |= classIdentStart
	}
	c['_'] |= classIdentStart
	for b := 0x80; b <= 0xff; b++ {
		c[b] |= classIdentStart
	}
	for b := '0'; b <= '9'; b++ {
		c[b] |= classDigit
	}
	for _, b := range []byte("~!@#^&|`?+-*/%<>=") {
		c[b] |= classOp
	}
	for _, b := range []byte("()[],;.:") {
		c[b] |= classSelf
	}
	return c
}()

// run lexes the whole text and appends a closing token.
func (l *lexer) run() {
	last := kindEOF
	defer func() {
		switch r := recover().(type) {
		case nil:
		case bailout:
			l.bad, last = r.err, kindBad
		default:
			panic(r)
		}
		// A bracket that is never closed closes at the end.
		for _, o := range l.open {
			l.toks[o].link = int32(len(l.toks) - 1)
		}
		l.toks = append(l.toks, token{kind: last, pos: int32(len(l.text)), end: int32(len(l.text))})
	}()
	if len(l.text) > maxTextBytes {
		raise(-1, sqlerr.ProgramLimitExceeded, "query text is longer than %d bytes", maxTextBytes)
	}
	for {
		l.skipSpace()
		if l.i >= len(l.text) {
			break
		}
		if len(l.toks) >= maxTokens {
			raise(l.i, sqlerr.ProgramLimitExceeded, "query text has more than %d tokens", maxTokens)
		}
		l.next()
	}
}

// skipSpace moves past white space and comments.
func (l *lexer) skipSpace() {
	s := l.text
	for l.i < len(s) {
		c := s[l.i]
		switch {
		case class[c]&classSpace != 0:
			l.i++
		case c == '-' && l.peek(1) == '-':
			n := strings.IndexAny(s[l.i:], "\r\n")
			if n < 0 {
				l.i = len(s)
				return
			}
			l.i += n
		case c == '/' && l.peek(1) == '*':
			l.skipComment()
		default:
			return
		}
	}
}

// skipComment moves past a block comment; these nest.
func (l *lexer) skipComment() {
	start, depth := l.i, 0
	for s := l.text; ; {
		n := strings.IndexAny(s[l.i:], "/*")
		if n < 0 || l.i+n+1 >= len(s) {
			l.unterminated("unterminated /* comment", start)
		}
		l.i += n
		switch s[l.i : l.i+2] {
		case "/*":
			depth++
			l.i += 2
		case "*/":
			depth--
			l.i += 2
			if depth == 0 {
				return
			}
		default:
			l.i++
		}
	}
}

func (l *lexer) unterminated(msg string, start int) {
	raise(start, sqlerr.SyntaxError, "%s at or near \"%s\"", msg, l.text[start:])
}

func (l *lexer) peek(n int) byte {
	if l.i+n < len(l.text) {
		return l.text[l.i+n]
	}
	return 0
}

func (l *lexer) add(k kind, start int) *token {
	l.toks = append(l.toks, token{kind: k, pos: int32(start), end: int32(l.i)})
	return &l.toks[len(l.toks)-1]
}

// next lexes one token at l.i, which is not space.
func (l *lexer) next() {
	c, start := l.text[l.i], l.i
	cl := class[c]
	switch {
	case cl&classIdentStart != 0:
		l.word(c, start)
	case cl&classDigit != 0 || c == '.' && class[l.peek(1)]&classDigit != 0:
		l.number(start)
	case cl&classSelf != 0:
		l.punct(c, start)
	case c == '\'':
		l.str(start, 0, stringPlain)
	case cl&classOp != 0:
		l.operator(start)
	case c == '"':
		l.quotedIdent(start, 0, false)
	case c == '$':
		l.dollar(start)
	default:
		syntaxAt(start, l.text[start:start+1])
	}
}

// word lexes an identifier or keyword, or a string with a letter before it.
func (l *lexer) word(c byte, start int) {
	switch next := l.peek(1); {
	case next == '\'':
		switch c | 0x20 {
		case 'e':
			l.str(start, 1, stringEscape)
			return
		case 'b', 'x':
			l.str(start, 1, stringBits)
			return
		case 'n':
			l.str(start, 1, stringPlain)
			return
		}
	case next == '&' && c|0x20 == 'u':
		switch l.peek(2) {
		case '\'':
			l.str(start, 2, stringUnicode)
			return
		case '"':
			l.quotedIdent(start, 2, true)
			return
		}
	}
	folded := true
	for l.i < len(l.text) {
		c := l.text[l.i]
		if class[c]&(classIdentStart|classDigit) == 0 && c != '$' {
			break
		}
		if c >= 'A' && c <= 'Z' {
			folded = false
		}
		l.i++
	}
	t := l.add(kindWord, start)
	t.plain = folded && l.i-start <= maxIdent
	t.kw = lookupKeyword(l.text[start:l.i])
}

func (l *lexer) digits() {
	for l.i < len(l.text) && class[l.text[l.i]]&classDigit != 0 {
		l.i++
	}
}

func (l *lexer) number(start int) {
	l.digits()
	if l.peek(0) == '.' && l.peek(1) != '.' {
		l.i++
		l.digits()
	}
	if l.peek(0)|0x20 == 'e' {
		n := 1
		if c := l.peek(1); c == '+' || c == '-' {
			n = 2
		}
		if class[l.peek(n)]&classDigit != 0 {
			l.i += n
			l.digits()
		}
	}
	l.junk("numeric literal", start)
	l.add(kindNumber, start)
}

// junk refuses letters right behind a number or parameter.
func (l *lexer) junk(what string, start int) {
	if l.i == len(l.text) || class[l.text[l.i]]&classIdentStart == 0 {
		return
	}
	for l.i < len(l.text) && (class[l.text[l.i]]&(classIdentStart|classDigit) != 0 || l.text[l.i] == '$') {
		l.i++
	}
	raise(start, sqlerr.SyntaxError, "trailing junk after %s at or near \"%s\"", what, l.text[start:l.i])
}

func (l *lexer) punct(c byte, start int) {
	l.i++
	if c == ':' && (l.peek(0) == ':' || l.peek(0) == '=') || c == '.' && l.peek(0) == '.' {
		l.i++
	}
	t := l.add(kindPunct, start)
	n := int32(len(l.toks) - 1)
	switch c {
	case '(', '[':
		l.open = append(l.open, n)
	case ')', ']':
		// One that closes nothing is a syntax error when the parser gets there.
		if len(l.open) == 0 {
			return
		}
		o := l.open[len(l.open)-1]
		if (l.text[l.toks[o].pos] == '(') == (c == ')') {
			l.open = l.open[:len(l.open)-1]
			t.link, l.toks[o].link = o, n
		}
	}
}

// operator lexes an operator by PostgreSQL's rule: the longest run of
// operator characters before a comment, which may end in + or - only if one
// of ~ ! @ # % ^ & | ` ? is in it.
func (l *lexer) operator(start int) {
	special := false
	for l.i < len(l.text) {
		c := l.text[l.i]
		if class[c]&classOp == 0 {
			break
		}
		if l.i > start && (c == '-' && l.peek(1) == '-' || c == '/' && l.peek(1) == '*') {
			break
		}
		special = special || strings.IndexByte("~!@#%^&|`?", c) >= 0
		l.i++
	}
	for !special && l.i-start > 1 && (l.text[l.i-1] == '+' || l.text[l.i-1] == '-') {
		l.i--
	}
	if l.i-start >= maxIdent+1 {
		raise(start, sqlerr.SyntaxError, "operator too long at or near \"%s\"", l.text[start:l.i])
	}
	l.add(kindOp, start)
}

// dollar lexes a parameter or a dollar-quoted string.
func (l *lexer) dollar(start int) {
	l.i++
	if class[l.peek(0)]&classDigit != 0 {
		l.digits()
		l.junk("parameter", start)
		l.add(kindParam, start)
		return
	}
	for class[l.peek(0)]&(classIdentStart|classDigit) != 0 {
		l.i++
	}
	if l.peek(0) != '$' {
		l.i = start + 1
		syntaxAt(start, "$")
	}
	l.i++
	tag := l.text[start:l.i]
	n := strings.Index(l.text[l.i:], tag)
	if n < 0 {
		l.unterminated("unterminated dollar-quoted string", start)
	}
	l.value(kindString, start, l.text[l.i:l.i+n], l.i+n+len(tag))
}

// value adds a token whose value is kept apart.
func (l *lexer) value(k kind, start int, v string, end int) {
	l.i = end
	l.add(k, start).link = int32(len(l.values))
	l.values = append(l.values, v)
}
