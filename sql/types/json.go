package types

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// A json value is its text as written. A jsonb value is canonical text: members
// sorted by length of key and then bytes, one member per key (the last wins),
// one space after ':' and ',', numbers as numeric shows them, and strings with
// the fewest escapes. Equal canonical texts are equal values; not the other way
// round, because numbers keep their scale (1.0 and 1.00).

// ValidateJSON checks that b is one JSON value. Error: 22P02.
func ValidateJSON(b []byte) error {
	p := jsonParser{b: b, checkOnly: true}
	return p.document(nil)
}

// AppendJSONB appends the canonical jsonb text of the JSON value in b.
// Errors: 22P02 for malformed text, 22P05 for \u0000, 22003 for a number beyond numeric.
func AppendJSONB(dst, b []byte) ([]byte, error) {
	p := jsonParser{b: b}
	err := p.document(&dst)
	return dst, err
}

// jsonParser checks JSON text and, unless checkOnly, writes it canonically.
type jsonParser struct {
	b         []byte
	pos       int
	depth     int
	checkOnly bool
	members   []jsonMember // of all objects being read, innermost last
	text      []byte       // decoded keys
}

// jsonMember is a member while its object is read: its decoded key, the order
// it was met in, and where its canonical value lies in the output.
type jsonMember struct {
	key    []byte
	at     int
	lo, hi int
}

func (p *jsonParser) document(dst *[]byte) error {
	var out []byte
	if dst != nil {
		out = *dst
	}
	out, err := p.value(out)
	if err != nil {
		return err
	}
	p.space()
	if p.pos < len(p.b) {
		return p.unexpected("end of input")
	}
	if dst != nil {
		*dst = out
	}
	return nil
}

func (p *jsonParser) space() {
	for p.pos < len(p.b) {
		switch p.b[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *jsonParser) fail(format string, args ...any) error {
	e := sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type json").WithDetail(format, args...)
	line := 1 + bytes.Count(p.b[:min(p.pos, len(p.b))], []byte{'\n'})
	e.Where = string(appendPadded([]byte("JSON data, line "), uint64(line), 1))
	return e
}

// token gives the text of the token at the position, for a message.
func (p *jsonParser) token() string {
	i := p.pos
	if i < len(p.b) && (isAlnum(p.b[i]) || p.b[i] == '_' || p.b[i] >= 0x80 || p.b[i] == '-' || p.b[i] == '+') {
		for i < len(p.b) && (isAlnum(p.b[i]) || p.b[i] == '_' || p.b[i] >= 0x80 || p.b[i] == '-' || p.b[i] == '+' || p.b[i] == '.') {
			i++
		}
	} else if i < len(p.b) && p.b[i] == '"' {
		for i++; i < len(p.b) && p.b[i] != '"'; i++ {
			if p.b[i] == '\\' {
				i++
			}
		}
		i = min(i+1, len(p.b))
	} else if i < len(p.b) {
		i++
	}
	return string(p.b[p.pos:i])
}

func (p *jsonParser) unexpected(expected string) error {
	p.space()
	if p.pos >= len(p.b) {
		return p.fail("The input string ended unexpectedly.")
	}
	tok := p.token()
	switch c := tok[0]; {
	case bytes.IndexByte([]byte("{}[],:\""), c) < 0 && tok != "true" && tok != "false" && tok != "null" && !isDigit(c) && c != '-':
		return p.fail("Token \"%s\" is invalid.", tok)
	case expected == "end of input":
		return p.fail("Expected end of input, but found \"%s\".", tok)
	}
	return p.fail("Expected %s, but found \"%s\".", expected, tok)
}

func (p *jsonParser) value(out []byte) ([]byte, error) {
	p.space()
	if p.pos >= len(p.b) {
		return out, p.unexpected("JSON value")
	}
	switch c := p.b[p.pos]; {
	case c == '{' || c == '[':
		if p.depth++; p.depth > maxNesting {
			return out, sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded")
		}
		var err error
		if c == '{' {
			out, err = p.object(out)
		} else {
			out, err = p.array(out)
		}
		p.depth--
		return out, err
	case c == '"':
		start := len(p.text)
		if err := p.str(); err != nil {
			return out, err
		}
		if !p.checkOnly {
			out = AppendJSONString(out, p.text[start:])
		}
		p.text = p.text[:start]
		return out, nil
	case c == '-' || isDigit(c):
		return p.number(out)
	}
	for _, w := range [...]string{"true", "false", "null"} {
		if p.token() == w {
			p.pos += len(w)
			return append(out, w...), nil
		}
	}
	return out, p.unexpected("JSON value")
}

func (p *jsonParser) array(out []byte) ([]byte, error) {
	p.pos++
	out = append(out, '[')
	p.space()
	if p.pos < len(p.b) && p.b[p.pos] == ']' {
		p.pos++
		return append(out, ']'), nil
	}
	for first := true; ; first = false {
		if !first {
			out = append(out, ", "...)
		}
		var err error
		if out, err = p.value(out); err != nil {
			return out, err
		}
		p.space()
		if p.pos < len(p.b) && p.b[p.pos] == ',' {
			p.pos++
			continue
		}
		if p.pos < len(p.b) && p.b[p.pos] == ']' {
			p.pos++
			return append(out, ']'), nil
		}
		return out, p.unexpected("\",\" or \"]\"")
	}
}

func (p *jsonParser) object(out []byte) ([]byte, error) {
	p.pos++
	base, textBase, outBase := len(p.members), len(p.text), len(out)
	defer func() { p.members, p.text = p.members[:base], p.text[:textBase] }()
	p.space()
	if p.pos < len(p.b) && p.b[p.pos] == '}' {
		p.pos++
		return append(out, "{}"...), nil
	}
	for first := true; ; first = false {
		p.space()
		if p.pos >= len(p.b) || p.b[p.pos] != '"' {
			if first {
				return out, p.unexpected("string or \"}\"")
			}
			return out, p.unexpected("string")
		}
		at := len(p.text)
		if err := p.str(); err != nil {
			return out, err
		}
		p.space()
		if p.pos >= len(p.b) || p.b[p.pos] != ':' {
			return out, p.unexpected("\":\"")
		}
		p.pos++
		key := p.text[at:len(p.text):len(p.text)]
		lo := len(out)
		var err error
		if out, err = p.value(out); err != nil {
			return out, err
		}
		if !p.checkOnly {
			p.members = append(p.members, jsonMember{key: key, at: len(p.members), lo: lo, hi: len(out)})
		} else {
			out = out[:lo]
		}
		p.space()
		if p.pos < len(p.b) && p.b[p.pos] == ',' {
			p.pos++
			continue
		}
		if p.pos < len(p.b) && p.b[p.pos] == '}' {
			p.pos++
			if p.checkOnly {
				return out, nil
			}
			return arrangeMembers(out, outBase, p.members[base:]), nil
		}
		return out, p.unexpected("\",\" or \"}\"")
	}
}

// compareJSONKeys is the order of members in a jsonb object.
func compareJSONKeys(a, b []byte) int {
	if len(a) != len(b) {
		return cmpOrdered(len(a), len(b))
	}
	return bytes.Compare(a, b)
}

// arrangeMembers writes an object of members whose values lie in out from base
// on, over those values.
func arrangeMembers(out []byte, base int, ms []jsonMember) []byte {
	slices.SortFunc(ms, func(a, b jsonMember) int {
		return cmp.Or(compareJSONKeys(a.key, b.key), cmp.Compare(a.at, b.at))
	})
	values := append([]byte(nil), out[base:]...)
	out = append(out[:base], '{')
	first := true
	for i, m := range ms {
		if i+1 < len(ms) && bytes.Equal(m.key, ms[i+1].key) {
			continue
		}
		if !first {
			out = append(out, ", "...)
		}
		first = false
		out = append(AppendJSONString(out, m.key), ": "...)
		out = append(out, values[m.lo-base:m.hi-base]...)
	}
	return append(out, '}')
}

func (p *jsonParser) number(out []byte) ([]byte, error) {
	b, i := p.b, p.pos
	if b[i] == '-' {
		i++
	}
	ok := i < len(b) && isDigit(b[i])
	if ok && b[i] == '0' {
		i++
	} else {
		for i < len(b) && isDigit(b[i]) {
			i++
		}
	}
	digits := func() bool {
		start := i
		for i < len(b) && isDigit(b[i]) {
			i++
		}
		return i > start
	}
	if ok && i < len(b) && b[i] == '.' {
		i++
		ok = digits()
	}
	if ok && i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		ok = digits()
	}
	if !ok || i < len(b) && (isAlnum(b[i]) || b[i] == '_' || b[i] >= 0x80 || b[i] == '.' || b[i] == '+' || b[i] == '-') {
		return out, p.fail("Token \"%s\" is invalid.", p.token())
	}
	text := b[p.pos:i]
	p.pos = i
	if p.checkOnly {
		return out, nil
	}
	n, err := NumParse(string(text))
	if err != nil {
		return out, err
	}
	return n.AppendText(out), nil
}

// str reads a string, at '"', and appends what it means to p.text.
func (p *jsonParser) str() error {
	start := p.pos
	high := rune(-1) // a high surrogate that waits for its low one
	p.pos++
	for p.pos < len(p.b) {
		c := p.b[p.pos]
		if c == '\\' && p.pos+1 < len(p.b) && p.b[p.pos+1] == 'u' {
			if err := p.unicodeEscape(&high); err != nil {
				return err
			}
			continue
		}
		if high >= 0 {
			return p.fail("Unicode low surrogate must follow a high surrogate.")
		}
		switch {
		case c == '"':
			p.pos++
			return nil
		case c < 0x20:
			return p.fail("Character with value 0x%02x must be escaped.", c)
		case c != '\\':
			p.text = append(p.text, c)
			p.pos++
			continue
		}
		if p.pos++; p.pos == len(p.b) {
			break
		}
		switch c = p.b[p.pos]; c {
		case '"', '\\', '/':
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		default:
			return p.fail("Escape sequence \"\\%c\" is invalid.", c)
		}
		p.text = append(p.text, c)
		p.pos++
	}
	tok := string(p.b[start:])
	return p.fail("Token \"%s\" is invalid.", tok)
}

// unicodeEscape reads \uXXXX.
func (p *jsonParser) unicodeEscape(high *rune) error {
	var r rune
	for i := 2; i < 6; i++ {
		if p.pos+i >= len(p.b) {
			return p.fail("\"\\u\" must be followed by four hexadecimal digits.")
		}
		d, ok := hexDigit(p.b[p.pos+i])
		if !ok {
			return p.fail("\"\\u\" must be followed by four hexadecimal digits.")
		}
		r = r<<4 | rune(d)
	}
	p.pos += 6
	if p.checkOnly {
		return nil
	}
	switch {
	case *high >= 0:
		if r < 0xdc00 || r > 0xdfff {
			if r >= 0xd800 && r < 0xdc00 {
				return p.fail("Unicode high surrogate must not follow a high surrogate.")
			}
			return p.fail("Unicode low surrogate must follow a high surrogate.")
		}
		r, *high = utf16.DecodeRune(*high, r), -1
	case r >= 0xd800 && r < 0xdc00:
		*high = r
		return nil
	case r >= 0xdc00 && r <= 0xdfff:
		return p.fail("Unicode low surrogate must follow a high surrogate.")
	case r == 0:
		return sqlerr.New(sqlerr.UntranslatableCharacter, "unsupported Unicode escape sequence").WithDetail("\\u0000 cannot be converted to text.")
	}
	p.text = utf8.AppendRune(p.text, r)
	return nil
}

// AppendJSONString appends s as a JSON string with PostgreSQL's choice of escapes.
func AppendJSONString(dst, s []byte) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i, c := range s {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}

// Classes of jsonb keys in PostgreSQL's order. An empty array at the top comes
// before everything, and any other array there after the scalars.
const (
	jsonKeyTopEmptyArray = iota + 1
	jsonKeyNull
	jsonKeyString
	jsonKeyNumber
	jsonKeyFalse
	jsonKeyTrue
	jsonKeyArray
	jsonKeyObject
)

// appendJSONBKey appends an order-preserving form of canonical jsonb text:
// class, count of elements or members for containers, then the contents.
func appendJSONBKey(dst, b []byte) []byte {
	if string(b) == "[]" {
		return append(dst, jsonKeyTopEmptyArray)
	}
	return appendJSONKeyValue(dst, b)
}

func appendJSONKeyValue(dst, b []byte) []byte {
	if len(b) == 0 {
		return append(dst, jsonKeyNull)
	}
	switch b[0] {
	case 'n':
		return append(dst, jsonKeyNull)
	case 'f':
		return append(dst, jsonKeyFalse)
	case 't':
		return append(dst, jsonKeyTrue)
	case '"':
		return appendKeyBytes(append(dst, jsonKeyString), JSONUnquote(b))
	case '[', '{':
		class := byte(jsonKeyArray)
		if b[0] == '{' {
			class = jsonKeyObject
		}
		dst = append(dst, class)
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		n := uint32(0)
		it := IterJSON(b)
		for it.Next() {
			n++
			if class == jsonKeyObject {
				dst = appendKeyBytes(dst, JSONUnquote(it.Key))
			}
			dst = appendJSONKeyValue(dst, it.Value)
		}
		binary.BigEndian.PutUint32(dst[at:], n)
		return dst
	}
	n, _, _ := scanNum(string(b))
	return appendNumKey(append(dst, jsonKeyNumber), n)
}
