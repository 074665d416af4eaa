package kernel

import (
	"bytes"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// likePattern is a compiled LIKE pattern.
type likePattern struct {
	src    []byte // for the general matcher
	kind   likeKind
	text   []byte // the literal part for all other kinds
	binary bool   // bytes, not characters
	folded bool
}

type likeKind uint8

const (
	likeGeneral likeKind = iota
	likeExact
	likePrefix   // abc%
	likeSuffix   // %abc
	likeContains // %abc%
)

func compileLike(src []byte, binary, fold bool) *likePattern {
	p := &likePattern{src: bytes.Clone(src), binary: binary, folded: fold}
	if fold {
		p.src = appendLower(nil, src)
	}
	s := p.src
	if bytes.IndexByte(s, '_') >= 0 || bytes.IndexByte(s, '\\') >= 0 {
		return p
	}
	lead, trail := bytes.HasPrefix(s, []byte("%")), bytes.HasSuffix(s, []byte("%"))
	body := bytes.Trim(s, "%")
	if bytes.IndexByte(body, '%') >= 0 {
		return p
	}
	p.text = body
	switch {
	case lead && trail:
		p.kind = likeContains
	case lead:
		p.kind = likeSuffix
	case trail:
		p.kind = likePrefix
	default:
		p.kind = likeExact
	}
	return p
}

func (p *likePattern) match(s []byte) (bool, error) {
	switch p.kind {
	case likeExact:
		return bytes.Equal(s, p.text), nil
	case likePrefix:
		return bytes.HasPrefix(s, p.text), nil
	case likeSuffix:
		return bytes.HasSuffix(s, p.text), nil
	case likeContains:
		return bytes.Contains(s, p.text), nil
	}
	return p.general(s)
}

// general matches with one point of return, the last %: what came before it need not be tried again.
func (p *likePattern) general(s []byte) (bool, error) {
	pat := p.src
	i, j := 0, 0
	star, mark := -1, 0
	for i < len(s) {
		if j < len(pat) {
			switch pat[j] {
			case '%':
				star, mark = j, i
				j++
				continue
			case '_':
				i += p.charLen(s[i:])
				j++
				continue
			case '\\':
				if j+1 == len(pat) {
					return false, sqlerr.New(sqlerr.InvalidEscapeSequence, "LIKE pattern must not end with escape character")
				}
				if pat[j+1] == s[i] {
					i++
					j += 2
					continue
				}
			default:
				if pat[j] == s[i] {
					i++
					j++
					continue
				}
			}
		}
		if star < 0 {
			return false, nil
		}
		mark += p.charLen(s[mark:])
		i, j = mark, star+1
	}
	for j < len(pat) && pat[j] == '%' {
		j++
	}
	return j == len(pat), nil
}

func (p *likePattern) charLen(s []byte) int {
	if p.binary || s[0] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRune(s)
	return n
}

// likeOp makes LIKE, NOT LIKE, ILIKE and NOT ILIKE.
func likeOp(fold, not bool) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) {
		p, err := cached(f, a[1].B, func(b []byte) (*likePattern, error) {
			return compileLike(b, f.argTypes[0].Kind == types.Bytea, fold), nil
		})
		if err != nil {
			return types.Datum{}, err
		}
		s := a[0].B
		if fold {
			f.scratch = appendLower(f.scratch[:0], s)
			s = f.scratch
		}
		ok, err := p.match(s)
		return types.BoolDatum(ok != not), err
	}}
}

// likeNode is LIKE with a constant pattern, the usual case; it can filter without making a vector.
type likeNode struct {
	fixed
	x   node
	p   *likePattern
	not bool
}

// newLike gives a likeNode where the pattern is a constant, else nil.
func newLike(op string, args []node, typ types.Type) node {
	pat, ok := args[1].(*constNode)
	if op != "~~" && op != "!~~" || !ok || pat.v.IsNull(0) {
		return nil
	}
	return &likeNode{fixed: newFixed(types.Of(types.Bool)), x: args[0], p: compileLike(pat.v.Bytes(0), typ.Kind == types.Bytea, false), not: op == "!~~"}
}

// test matches one row; a row with an error does not match.
func (n *likeNode) test(c *ctx, o operand, i int) bool {
	ok, err := n.p.match(o.v.Bytes(i & o.mask()))
	if err != nil {
		c.fail(i, err)
		return false
	}
	return ok != n.not
}

func (n *likeNode) eval(c *ctx, sel []int32) operand {
	o := n.x.eval(c, sel)
	n.reset(c.n)
	for _, r := range c.rows(sel) {
		if i := int(r); o.null(i) {
			n.setNull(i)
		} else {
			n.out.I64[i] = b2i(n.test(c, o, i))
		}
	}
	return operand{v: n.out}
}

func (n *likeNode) filter(c *ctx, sel, dst []int32) []int32 {
	o := n.x.eval(c, sel)
	k := 0
	for _, r := range c.rows(sel) {
		dst[k] = r
		if !o.null(int(r)) && n.test(c, o, int(r)) {
			k++
		}
	}
	return dst[:k]
}

func init() {
	for _, t := range []string{"text", "bpchar", "name"} {
		register(map[string]impl{
			t + " ~~ text": likeOp(false, false), t + " ~~* text": likeOp(true, false),
			t + " !~~ text": likeOp(false, true), t + " !~~* text": likeOp(true, true),
		})
	}
	register(map[string]impl{
		"bytea ~~ bytea": likeOp(false, false), "bytea !~~ bytea": likeOp(false, true),
		"like_escape(text,text)":   {text: likeEscape},
		"like_escape(bytea,bytea)": {text: likeEscape},
		"similar_to_escape(text)": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
			return similarPattern(dst, a[0].B, []byte(`\`))
		}},
		"similar_to_escape(text,text)": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
			return similarPattern(dst, a[0].B, a[1].B)
		}},
	})
}

func errEscapeLength() error {
	return sqlerr.New(sqlerr.InvalidEscapeSequence, "invalid escape string").
		WithHint("Escape string must be empty or one character.")
}

// likeEscape rewrites a pattern with another escape character, or with none, into one with a backslash.
func likeEscape(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	pat, esc := a[0].B, a[1].B
	if len(esc) == 0 {
		for _, c := range pat {
			if c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
		}
		return dst, nil
	}
	if utf8.RuneCount(esc) != 1 {
		return dst, errEscapeLength()
	}
	if esc[0] == '\\' {
		return append(dst, pat...), nil
	}
	escaped := false
	for len(pat) > 0 {
		_, n := utf8.DecodeRune(pat)
		switch c := pat[:n]; {
		case bytes.Equal(c, esc) && !escaped:
			dst = append(dst, '\\')
			escaped = true
		case c[0] == '\\':
			dst = append(dst, '\\')
			if !escaped {
				dst = append(dst, '\\')
			}
			escaped = false
		default:
			dst = append(dst, c...)
			escaped = false
		}
		pat = pat[n:]
	}
	return dst, nil
}

// similarPattern translates a SIMILAR TO pattern into a regular expression. Escape and double quote mark the part
// that SUBSTRING gives.
func similarPattern(dst, pat, esc []byte) ([]byte, error) {
	if utf8.RuneCount(esc) > 1 {
		return dst, errEscapeLength()
	}
	quotes := 0
	inClass := false
	afterEscape := false
	// What precedes the marked part takes as little as it can.
	marked := len(esc) > 0 && bytes.Contains(pat, append(bytes.Clone(esc), '"'))
	dst = append(dst, "^(?:"...)
	for len(pat) > 0 {
		_, n := utf8.DecodeRune(pat)
		c := pat[:n]
		pat = pat[n:]
		switch {
		case afterEscape:
			if c[0] == '"' && !inClass {
				switch quotes {
				case 0:
					dst = append(dst, "){1,1}?("...)
				case 1:
					dst = append(dst, "){1,1}(?:"...)
				default:
					return dst, sqlerr.New("2200C", "SQL regular expression may not contain more than two escape-double-quote separators")
				}
				quotes++
			} else {
				dst = append(append(dst, '\\'), c...)
			}
			afterEscape = false
		case len(esc) > 0 && bytes.Equal(c, esc):
			afterEscape = true
		case inClass:
			if c[0] == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c...)
			inClass = c[0] != ']'
		default:
			switch c[0] {
			case '[':
				dst = append(dst, '[')
				inClass = true
			case '%':
				dst = append(dst, ".*"...)
				if marked && quotes == 0 {
					dst = append(dst, '?')
				}
			case '_':
				dst = append(dst, '.')
			case '(':
				dst = append(dst, "(?:"...)
			case '\\', '.', '^', '$':
				dst = append(dst, '\\', c[0])
			default:
				dst = append(dst, c...)
			}
		}
	}
	return append(dst, ")$"...), nil
}
