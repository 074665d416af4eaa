package kernel

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// pattern is a compiled regular expression.
//
// PostgreSQL's advanced regular expressions are translated to Go's. What Go's
// linear-time engine cannot do, look-ahead and back references, answers 0A000.
// The longest match counts, as in POSIX, unless the first quantifier is
// non-greedy and there are no branches at the top: then matching is as in
// Perl, where PostgreSQL looks for the shortest match as a whole. \m and \M
// are both a word boundary, without regard to its side.
type pattern struct {
	re      *regexp.Regexp
	literal []byte // what every match contains; nil: nothing is known
	context bool   // it has an assertion that looks at what is before a position
	global  bool   // flag g
}

// reFlags are the letters of a flags argument.
type reFlags struct {
	global, fold, expanded, literal bool
	newline                         bool // . and [^x] do not match a line feed
	lines                           bool // ^ and $ match at line feeds
}

func errRegexp(format string, args ...any) error {
	return sqlerr.New(sqlerr.InvalidRegularExpression, "invalid regular expression: "+format, args...)
}

func parseFlags(s string) (fl reFlags, err error) {
	for _, c := range s {
		switch c {
		case 'g':
			fl.global = true
		case 'i':
			fl.fold = true
		case 'c':
			fl.fold = false
		case 'm', 'n':
			fl.newline, fl.lines = true, true
		case 'p':
			fl.newline, fl.lines = true, false
		case 'w':
			fl.newline, fl.lines = false, true
		case 's':
			fl.newline, fl.lines = false, false
		case 'x':
			fl.expanded = true
		case 't':
			fl.expanded = false
		case 'q':
			fl.literal = true
		case 'e', 'b':
		default:
			return fl, sqlerr.New(sqlerr.InvalidParameterValue, "invalid regular expression option: \"%s\"", string(c))
		}
	}
	return fl, nil
}

func compileFlags(src string, fl reFlags) (*pattern, error) {
	t := translator{src: src, fl: fl}
	switch {
	case strings.HasPrefix(src, "***="):
		t.src, t.fl.literal = src[4:], true
	case strings.HasPrefix(src, "***:"):
		t.src = src[4:]
	}
	if t.fl.literal {
		t.out.WriteString(regexp.QuoteMeta(t.src))
	} else if err := t.run(); err != nil {
		return nil, err
	}
	prefix := "(?"
	if t.fl.fold {
		prefix += "i"
	}
	if t.fl.lines {
		prefix += "m"
	}
	if !t.fl.newline {
		prefix += "s"
	}
	if prefix += ")"; prefix == "(?)" {
		prefix = ""
	}
	re, err := regexp.Compile(prefix + t.out.String())
	if err != nil {
		return nil, regexpError(err)
	}
	if t.branch || t.pref != '?' {
		re.Longest()
	}
	return &pattern{re: re, literal: literalOf(re), context: t.context, global: fl.global}, nil
}

// regexpError gives PostgreSQL's words for Go's complaints.
func regexpError(err error) error {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return errRegexp("%s", err.Error())
	}
	switch e.Code {
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		return errRegexp("parentheses () not balanced")
	case syntax.ErrMissingBracket:
		return errRegexp("brackets [] not balanced")
	case syntax.ErrMissingRepeatArgument, syntax.ErrInvalidRepeatOp:
		return errRegexp("quantifier operand invalid")
	case syntax.ErrInvalidRepeatSize:
		return errRegexp("invalid repetition count(s)")
	case syntax.ErrInvalidCharRange:
		return errRegexp("invalid character range")
	case syntax.ErrInvalidEscape, syntax.ErrTrailingBackslash:
		return errRegexp("invalid escape \\ sequence")
	}
	return errRegexp("%s", e.Code.String())
}

// translator rewrites an advanced regular expression in Go's syntax.
type translator struct {
	src     string
	fl      reFlags
	out     strings.Builder
	pos     int
	depth   int  // of parentheses
	branch  bool // there is a | outside of parentheses
	pref    byte // of the first quantifier that has one: greedy '+' or not '?'
	context bool
}

const (
	wordClass    = `\pL\pN_`
	notSupported = "regular expressions with %s are not supported"
)

func (t *translator) run() error {
	if err := t.options(); err != nil {
		return err
	}
	quantifiable := false
	for t.pos < len(t.src) {
		c := t.src[t.pos]
		rest := t.src[t.pos:]
		switch {
		case c == '\\':
			constraint := len(rest) > 1 && strings.IndexByte("mMyYAZ", rest[1]) >= 0
			if err := t.escape(); err != nil {
				return err
			}
			quantifiable = !constraint
			continue
		case strings.HasPrefix(rest, "[[:<:]]"), strings.HasPrefix(rest, "[[:>:]]"):
			t.out.WriteString(`\b`)
			t.pos += 7
			t.context = true
			continue
		case c == '[':
			if err := t.bracket(); err != nil {
				return err
			}
			quantifiable = true
			continue
		case strings.HasPrefix(rest, "(?"):
			if err := t.group(rest); err != nil {
				return err
			}
			quantifiable = false
			continue
		case t.fl.expanded && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
		case t.fl.expanded && c == '#':
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			t.pos += end
			continue
		case c == '^' || c == '$':
			t.context = t.context || c == '^'
			t.out.WriteByte(c)
			quantifiable = false
		case c == '*' || c == '+' || c == '?' || c == '{':
			if c == '{' && (len(rest) < 2 || rest[1] < '0' || rest[1] > '9') {
				t.out.WriteString(`\{`)
				quantifiable = true
				break
			}
			if !quantifiable {
				return errRegexp("quantifier operand invalid")
			}
			if err := t.quantifier(); err != nil {
				return err
			}
			quantifiable = false
			continue
		case c == '(' || c == '|':
			t.out.WriteByte(c)
			quantifiable = false
			if c == '(' {
				t.depth++
			}
			t.branch = t.branch || c == '|' && t.depth == 0
		case c == ')':
			t.out.WriteByte(c)
			quantifiable = true
			t.depth--
		default:
			_, n := utf8.DecodeRuneInString(rest)
			t.out.WriteString(rest[:n])
			t.pos += n
			quantifiable = true
			continue
		}
		t.pos++
	}
	return nil
}

// group translates what starts with (?.
func (t *translator) group(rest string) error {
	switch {
	case strings.HasPrefix(rest, "(?:"):
		t.put(3, "(?:")
		t.depth++
	case strings.HasPrefix(rest, "(?#"):
		end := strings.IndexByte(rest, ')')
		if end < 0 {
			return errRegexp("parentheses () not balanced")
		}
		t.pos += end + 1
	case strings.HasPrefix(rest, "(?="), strings.HasPrefix(rest, "(?!"), strings.HasPrefix(rest, "(?<"):
		return sqlerr.Unsupported(notSupported, "look-around constraints")
	default:
		return errRegexp("quantifier operand invalid")
	}
	return nil
}

// options reads (?xyz) at the start.
func (t *translator) options() error {
	if !strings.HasPrefix(t.src, "(?") {
		return nil
	}
	end := strings.IndexByte(t.src, ')')
	if end < 0 {
		return nil
	}
	letters := t.src[2:end]
	for _, c := range letters {
		if c < 'a' || c > 'z' {
			return nil
		}
	}
	fl, err := parseFlags(letters)
	if err != nil || fl.global {
		return errRegexp("invalid embedded option")
	}
	t.fl.fold = t.fl.fold || fl.fold
	t.fl.newline, t.fl.lines = t.fl.newline || fl.newline, t.fl.lines || fl.lines
	t.fl.expanded = t.fl.expanded || fl.expanded
	t.pos = end + 1
	return nil
}

// quantifier copies *, +, ? or a bound, and the ? that makes it non-greedy.
func (t *translator) quantifier() error {
	end := t.pos + 1
	if t.src[t.pos] == '{' {
		n := strings.IndexByte(t.src[t.pos:], '}')
		if n < 0 {
			return errRegexp("braces {} not balanced")
		}
		end = t.pos + n + 1
		for _, c := range t.src[t.pos+1 : end-1] {
			if c != ',' && (c < '0' || c > '9') {
				return errRegexp("invalid repetition count(s)")
			}
		}
	}
	q := t.src[t.pos:end]
	t.out.WriteString(q)
	t.pos = end
	pref := byte('+')
	if t.pos < len(t.src) && t.src[t.pos] == '?' {
		t.out.WriteByte('?')
		t.pos++
		pref = '?'
	}
	if t.pref == 0 && (q[0] != '{' || strings.IndexByte(q, ',') >= 0) { // {n} has no preference
		t.pref = pref
	}
	return nil
}

// escape translates \x outside of brackets.
func (t *translator) escape() error {
	if t.pos+1 >= len(t.src) {
		return errRegexp("invalid escape \\ sequence")
	}
	c := t.src[t.pos+1]
	switch c {
	case 'w':
		t.put(2, "["+wordClass+"]")
	case 'W':
		t.put(2, "[^"+wordClass+"]")
	case 's':
		t.put(2, "[[:space:]]")
	case 'S':
		t.put(2, "[^[:space:]]")
	case 'd', 'D', 'A':
		t.context = t.context || c == 'A'
		t.put(2, `\`+string(c))
	case 'm', 'M', 'y':
		t.context = true
		t.put(2, `\b`)
	case 'Y':
		t.context = true
		t.put(2, `\B`)
	case 'Z':
		t.put(2, `\z`)
	case 'B':
		t.put(2, `\\`)
	default:
		if c >= '1' && c <= '9' {
			return sqlerr.Unsupported(notSupported, "back references")
		}
		return t.charEscape()
	}
	return nil
}

// put writes what the next n bytes of the source mean.
func (t *translator) put(n int, s string) {
	t.out.WriteString(s)
	t.pos += n
}

// charEscape translates an escape that stands for one character, inside of brackets or not.
func (t *translator) charEscape() error {
	if t.pos+1 >= len(t.src) {
		return errRegexp("invalid escape \\ sequence")
	}
	c := t.src[t.pos+1]
	hexDigits := map[byte]int{'u': 4, 'U': 8, 'x': 0}
	switch {
	case c == 'a' || c == 'f' || c == 'n' || c == 'r' || c == 't' || c == 'v':
		t.put(2, `\`+string(c))
	case c == 'b':
		t.put(2, `\x08`)
	case c == 'e':
		t.put(2, `\x1b`)
	case c == '0':
		t.put(2, `\x00`)
	case c == 'c' && t.pos+2 < len(t.src):
		t.put(3, regexp.QuoteMeta(string(rune(t.src[t.pos+2]&31))))
	case c == 'u' || c == 'U' || c == 'x':
		end := t.pos + 2
		for end < len(t.src) && isHex(t.src[end]) && (hexDigits[c] == 0 || end < t.pos+2+hexDigits[c]) {
			end++
		}
		digits := t.src[t.pos+2 : end]
		if len(digits) == 0 || len(digits) < hexDigits[c] {
			return errRegexp("invalid escape \\ sequence")
		}
		t.put(end-t.pos, `\x{`+digits+`}`)
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return errRegexp("invalid escape \\ sequence")
	default:
		_, n := utf8.DecodeRuneInString(t.src[t.pos+1:])
		t.put(1+n, quoteChar(t.src[t.pos+1:t.pos+1+n]))
	}
	return nil
}

// quoteChar writes one character so that it stands for itself, inside of brackets or not: there "-" means a range.
func quoteChar(c string) string {
	if len(c) == 1 && strings.Contains("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", c) {
		return `\` + c
	}
	return c
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// bracket translates a bracket expression.
func (t *translator) bracket() error {
	t.put(1, "[")
	if strings.HasPrefix(t.src[t.pos:], "^") {
		t.put(1, "^")
		if t.fl.newline {
			t.out.WriteString(`\n`)
		}
	}
	for first := true; ; first = false {
		switch {
		case t.atEnd():
			return errUnbalanced
		case t.src[t.pos] == ']' && !first:
			t.put(1, "]")
			return nil
		case t.isRange() && !first:
			return errRange
		}
		set, err := t.member()
		if err != nil {
			return err
		}
		if !t.isRange() {
			continue
		}
		t.put(1, "-")
		if t.atEnd() {
			return errUnbalanced
		}
		if end, err := t.member(); err != nil {
			return err
		} else if set || end {
			return errRange
		}
	}
}

var (
	errUnbalanced = errRegexp("brackets [] not balanced")
	errRange      = errRegexp("invalid character range")
)

func (t *translator) atEnd() bool { return t.pos >= len(t.src) }

// isRange: there is a "-" that does not stand for itself, as it would at the start and before "]".
func (t *translator) isRange() bool {
	rest := t.src[t.pos:]
	return strings.HasPrefix(rest, "-") && !strings.HasPrefix(rest, "-]")
}

// member translates what stands for one character in brackets, or for a set of them, which cannot be the end of a range.
func (t *translator) member() (set bool, err error) {
	rest := t.src[t.pos:]
	switch {
	case strings.HasPrefix(rest, "[:") || strings.HasPrefix(rest, "[.") || strings.HasPrefix(rest, "[="):
		n := strings.Index(rest[2:], rest[1:2]+"]")
		if n < 0 || n+4 == len(rest) { // what comes behind is looked at first
			return false, errUnbalanced
		}
		t.pos += n + 4
		return rest[1] != '.', t.named(rest[1], rest[2:2+n])
	case rest[0] != '\\':
		_, n := utf8.DecodeRuneInString(rest)
		t.put(n, quoteChar(rest[:n]))
		return false, nil
	case len(rest) > 1 && strings.IndexByte("dsw", rest[1]) >= 0:
		t.put(2, map[byte]string{'d': `\d`, 's': `[:space:]`, 'w': wordClass}[rest[1]])
		return true, nil
	}
	return false, t.charEscape()
}

// named writes what [:name:], [.name.] or [=name=] stands for.
func (t *translator) named(kind byte, name string) error {
	switch {
	case kind == ':':
		return t.class(name)
	case name == "":
		return errRegexp("invalid collating element")
	case utf8.RuneCountInString(name) != 1:
		return sqlerr.Unsupported(notSupported, "collating elements")
	}
	t.out.WriteString(quoteChar(name))
	return nil
}

// class translates [:name:]; letters and digits are Unicode's.
func (t *translator) class(name string) error {
	switch name {
	case "alpha":
		t.out.WriteString(`\pL`)
	case "alnum":
		t.out.WriteString(`\pL\pN`)
	case "upper":
		t.out.WriteString(`\p{Lu}`)
	case "lower":
		t.out.WriteString(`\p{Ll}`)
	case "word":
		t.out.WriteString(wordClass)
	case "digit", "space", "punct", "blank", "cntrl", "graph", "print", "xdigit", "ascii":
		t.out.WriteString("[:" + name + ":]")
	default:
		return errRegexp("invalid character class")
	}
	return nil
}

// all gives the matches that PostgreSQL finds from offset start on, at most limit (negative: all): unlike Go it
// also counts an empty match right after another match.
func (p *pattern) all(s []byte, limit int) [][]int {
	if !p.may(s) {
		return nil
	}
	ms := p.re.FindAllSubmatchIndex(s, limit)
	if p.context || limit == 1 {
		return ms
	}
	var out [][]int
	for i, m := range ms {
		out = append(out, m)
		if m[0] == m[1] || i+1 < len(ms) && ms[i+1][0] == m[1] {
			continue
		}
		if e := p.re.FindSubmatchIndex(s[m[1]:]); e != nil && e[0] == 0 && e[1] == 0 {
			for k := range e {
				if e[k] >= 0 {
					e[k] += m[1]
				}
			}
			out = append(out, e)
		}
	}
	if limit >= 0 && len(out) > limit {
		out = out[:limit]
	}
	return out
}
