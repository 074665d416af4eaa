package parser

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// maxIdent is the length in bytes to which identifiers are cut (NAMEDATALEN - 1).
const maxIdent = 63

type stringForm uint8

const (
	stringPlain stringForm = iota
	stringEscape
	stringUnicode
	stringBits
)

// quoted finds the end of a quoted run that begins at byte i, its opening
// quote. It gives the offset after the closing quote and whether the text
// between contains doubled quotes or, where those count, backslashes.
func (l *lexer) quoted(i int, escape bool) (end int, plain, ok bool) {
	s, q := l.text, l.text[i]
	plain = true
	for i++; i < len(s); i++ {
		switch c := s[i]; {
		case c == q:
			if i+1 < len(s) && s[i+1] == q {
				plain = false
				i++
				continue
			}
			return i + 1, plain, true
		case escape && c == '\\':
			plain = false
			i++
		}
	}
	return len(s), false, false
}

// continued gives the offset of the quote of a string that continues the one
// ending at i: white space with at least one line end must stand between.
func (l *lexer) continued(i int) (int, bool) {
	newline := false
	for s := l.text; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n' || c == '\r':
			newline = true
		case class[c]&classSpace != 0:
		case c == '-' && i+1 < len(s) && s[i+1] == '-':
			n := strings.IndexAny(s[i:], "\r\n")
			if n < 0 {
				return 0, false
			}
			i += n - 1
		default:
			return i, newline && c == '\''
		}
	}
	return 0, false
}

// str lexes a string whose opening quote is prefix bytes behind start.
func (l *lexer) str(start, prefix int, form stringForm) {
	begin := start + prefix
	end, plain, ok := l.quoted(begin, form == stringEscape)
	if !ok {
		what := "unterminated quoted string"
		if form == stringBits {
			what = "unterminated bit string literal"
			if l.text[start]|0x20 == 'x' {
				what = "unterminated hexadecimal string literal"
			}
		}
		l.unterminated(what, start)
	}
	next, more := l.continued(end)
	if !more && plain && prefix == 0 {
		l.i = end
		l.add(kindString, start).plain = true
		return
	}
	var sb strings.Builder
	for {
		l.piece(&sb, begin+1, end-1, form)
		if !more {
			break
		}
		begin = next
		if end, _, ok = l.quoted(begin, form == stringEscape); !ok {
			l.unterminated("unterminated quoted string", start)
		}
		next, more = l.continued(end)
	}
	v := sb.String()
	switch form {
	case stringEscape:
		if !utf8.ValidString(v) && utf8.ValidString(l.text[start:end]) {
			invalidUTF8(v)
		}
	case stringUnicode:
		v, end = l.unicodeEscapes(v, start, end)
	case stringBits:
		l.value(kindBits, start, strings.ToLower(l.text[start:start+1])+v, end)
		return
	}
	l.value(kindString, start, v, end)
}

// piece appends the decoded text[i:j], the inside of one quoted run.
func (l *lexer) piece(sb *strings.Builder, i, j int, form stringForm) {
	s := l.text
	for i < j {
		switch c := s[i]; {
		case c == '\'':
			sb.WriteByte(c)
			i += 2
		case c == '\\' && form == stringEscape:
			i = l.backslash(sb, i+1, j)
		default:
			sb.WriteByte(c)
			i++
		}
	}
}

// backslash decodes the escape whose letter is at i and gives the offset behind it.
func (l *lexer) backslash(sb *strings.Builder, i, j int) int {
	s := l.text
	c := s[i]
	if n := strings.IndexByte("bfnrt", c); n >= 0 {
		sb.WriteByte("\b\f\n\r\t"[n])
		return i + 1
	}
	hex := func(i, most int) (v rune, n int) {
		for n < most && i+n < j && hexDigit(s[i+n]) >= 0 {
			v = v<<4 | rune(hexDigit(s[i+n]))
			n++
		}
		return v, n
	}
	switch {
	case c >= '0' && c <= '7':
		v, n := 0, 0
		for n < 3 && i+n < j && s[i+n] >= '0' && s[i+n] <= '7' {
			v = v<<3 | int(s[i+n]-'0')
			n++
		}
		l.notNull(byte(v) == 0, i)
		sb.WriteByte(byte(v))
		return i + n
	case c == 'x' && i+1 < j && hexDigit(s[i+1]) >= 0:
		v, n := hex(i+1, 2)
		l.notNull(v == 0, i)
		sb.WriteByte(byte(v))
		return i + 1 + n
	case c == 'u' || c == 'U':
		want := 4
		if c == 'U' {
			want = 8
		}
		v, n := hex(i+1, want)
		if n < want {
			raise(i-1, sqlerr.InvalidEscapeSequence, "invalid Unicode escape")
		}
		i += 1 + n
		if v >= 0xd800 && v < 0xdc00 && i+2 < j && s[i] == '\\' && (s[i+1] == 'u' || s[i+1] == 'U') {
			want = 4
			if s[i+1] == 'U' {
				want = 8
			}
			lo, n := hex(i+2, want)
			if n < want || lo < 0xdc00 || lo > 0xdfff {
				raise(i, sqlerr.SyntaxError, "invalid Unicode surrogate pair")
			}
			v = 0x10000 + (v-0xd800)<<10 + lo - 0xdc00
			i += 2 + n
		}
		l.codePoint(sb, v, i-1)
		return i
	}
	sb.WriteByte(c)
	return i + 1
}

// invalidUTF8 raises PostgreSQL's error for the first bad character of s.
func invalidUTF8(s string) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r != utf8.RuneError || n > 1 {
			i += n
			continue
		}
		size := 1
		switch c := s[i]; {
		case c >= 0xf0:
			size = 4
		case c >= 0xe0:
			size = 3
		case c >= 0xc0:
			size = 2
		}
		var hex []string
		for _, c := range []byte(s[i:min(i+size, len(s))]) {
			hex = append(hex, fmt.Sprintf("0x%02x", c))
		}
		raise(-1, sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": %s", strings.Join(hex, " "))
	}
}

func (l *lexer) notNull(null bool, at int) {
	if null {
		raise(at, sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": 0x00")
	}
}

func (l *lexer) codePoint(sb *strings.Builder, v rune, at int) {
	if v >= 0xd800 && v <= 0xdfff {
		raise(at, sqlerr.SyntaxError, "invalid Unicode surrogate pair")
	}
	if v <= 0 || v > utf8.MaxRune {
		raise(at, sqlerr.SyntaxError, "invalid Unicode escape value")
	}
	sb.WriteRune(v)
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// unicodeEscapes decodes the \XXXX and \+XXXXXX of U&'..' and U&"..", after a
// possible UESCAPE clause that starts at end; it gives the end of the whole.
func (l *lexer) unicodeEscapes(v string, start, end int) (string, int) {
	esc := byte('\\')
	l.i = end
	l.skipSpace()
	if s := l.text[l.i:]; len(s) >= 7 && strings.EqualFold(s[:7], "uescape") {
		l.i += 7
		l.skipSpace()
		if s := l.text[l.i:]; len(s) < 3 || s[0] != '\'' || s[2] != '\'' ||
			hexDigit(s[1]) >= 0 || strings.IndexByte("+'\" \t\n\r\f\v", s[1]) >= 0 {
			raise(l.i, sqlerr.SyntaxError, "invalid Unicode escape character")
		}
		esc = l.text[l.i+1]
		end = l.i + 3
	}
	l.i = end
	if strings.IndexByte(v, esc) < 0 {
		return v, end
	}
	var sb strings.Builder
	var high rune // first half of a surrogate pair
	for i := 0; i < len(v); {
		if v[i] != esc || i+1 < len(v) && v[i+1] == esc {
			if high != 0 {
				raise(start, sqlerr.SyntaxError, "invalid Unicode surrogate pair")
			}
			if v[i] == esc {
				i++
			}
			sb.WriteByte(v[i])
			i++
			continue
		}
		from, want := i+1, 4
		if from < len(v) && v[from] == '+' {
			from, want = from+1, 6
		}
		var r rune
		for k := from; k < from+want; k++ {
			if k >= len(v) || hexDigit(v[k]) < 0 {
				raise(start+len("U&'")+i, sqlerr.SyntaxError, "invalid Unicode escape")
			}
			r = r<<4 | rune(hexDigit(v[k]))
		}
		i = from + want
		switch {
		case high != 0 && r >= 0xdc00 && r <= 0xdfff:
			r, high = 0x10000+(high-0xd800)<<10+r-0xdc00, 0
		case high == 0 && r >= 0xd800 && r < 0xdc00:
			high = r
			continue
		}
		if high != 0 {
			raise(start, sqlerr.SyntaxError, "invalid Unicode surrogate pair")
		}
		l.codePoint(&sb, r, start)
	}
	if high != 0 {
		raise(start, sqlerr.SyntaxError, "invalid Unicode surrogate pair")
	}
	return sb.String(), end
}

// quotedIdent lexes "name", whose opening quote is prefix bytes behind start.
func (l *lexer) quotedIdent(start, prefix int, unicode bool) {
	end, plain, ok := l.quoted(start+prefix, false)
	if !ok {
		l.unterminated("unterminated quoted identifier", start)
	}
	v := l.text[start+prefix+1 : end-1]
	if v == "" {
		raise(start, sqlerr.SyntaxError, "zero-length delimited identifier at or near \"%s\"", l.text[start:end])
	}
	if plain && !unicode && len(v) <= maxIdent {
		l.i = end
		l.add(kindQuoted, start).plain = true
		return
	}
	v = strings.ReplaceAll(v, `""`, `"`)
	if unicode {
		v, end = l.unicodeEscapes(v, start, end)
	}
	l.value(kindQuoted, start, truncateIdent(v), end)
}

// truncateIdent cuts an identifier to maxIdent bytes at a character's border.
func truncateIdent(s string) string {
	if len(s) <= maxIdent {
		return s
	}
	n := maxIdent
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Fold gives an unquoted identifier as PostgreSQL stores it: ASCII letters in
// lower case, cut to 63 bytes.
func Fold(name string) string {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c >= 'A' && c <= 'Z' {
			b := []byte(name)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			name = string(b)
			break
		}
	}
	return truncateIdent(name)
}

// QuoteIdent writes a stored name so that it reads back as itself: in double
// quotes where it is not a lower-case word or is a keyword that may not stand
// unquoted, as PostgreSQL's quote_ident does.
func QuoteIdent(name string) string {
	plain := name != "" && class[name[0]]&classIdentStart != 0 && name[0] < 0x80
	for i := 0; i < len(name) && plain; i++ {
		c := name[i]
		plain = c >= 'a' && c <= 'z' || c == '_' || c >= '0' && c <= '9'
	}
	if plain && (lookupKeyword(name) == noKeyword || lookupKeyword(name).category() == unreserved) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
