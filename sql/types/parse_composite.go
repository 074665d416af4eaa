package types

import (
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

func parseDate(s string, env *Env) (int64, error) {
	p, err := parseDateTime("date", s, env)
	if err != nil {
		return 0, err
	}
	switch p.special {
	case resEpoch:
		return 0, nil
	case resLate:
		return Infinity, nil
	case resEarly:
		return NegInfinity, nil
	}
	d := CivilToDays(p.year, p.month, p.day)
	if d < minDate || d >= endDate {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range: \"%s\"", s)
	}
	return d, nil
}

// parseTime reads a time of day; a date or zone beside it is read and dropped.
func parseTime(s string, mod int32, env *Env) (int64, error) {
	var buf [maxDateFields]dateField
	fields, ok := splitDateTime(s, &buf)
	e := dateBad
	p := newDateParser(env)
	if ok && len(fields) > 0 {
		p.allowDate = false
		for i, f := range fields {
			// A date is told by its separators at the start or end of the input.
			if f.kind == fieldDate && isDigit(f.text[0]) && (i == 0 || i == len(fields)-1) && strings.Count(f.text, "-")+strings.Count(f.text, "/")+strings.Count(f.text, ".") == 2 {
				p.allowDate = true
			}
		}
		if e = p.decode(fields); e == dateOK && p.special >= 0 {
			e = dateBad
		}
		if e == dateOK {
			e = p.checkDate()
		}
		if e == dateOK {
			e = p.applyAMPM()
		}
		if e == dateOK && p.seen&hasTime != hasTime {
			e = dateBad
		}
		if e == dateOK && p.timeOverflows() {
			e = dateOverflow
		}
	}
	if e != dateOK {
		return 0, e.error("time", s, p.badZone)
	}
	return roundPrecision(p.timeOfDay(), mod), nil
}

// parseInt2Vector reads int2vector and oidvector.
func parseInt2Vector(elem Type, s string) (Datum, error) {
	var elems []Datum
	for _, w := range strings.Fields(s) {
		d, err := Parse(elem, w, nil)
		if err != nil {
			return Datum{}, err
		}
		elems = append(elems, d)
	}
	return Datum{B: AppendVector(nil, elem, elems)}, nil
}

// AppendVector appends the array form of int2vector or oidvector, whose lower bound is 0.
func AppendVector(dst []byte, elem Type, elems []Datum) []byte {
	if len(elems) == 0 {
		return append(dst, 0)
	}
	dst = appendArrayHeader(dst, []Dim{{Len: len(elems)}})
	for _, e := range elems {
		dst = AppendValue(dst, elem, e)
	}
	return dst
}

// arrayParser reads array text such as [0:1]={{1,2},{NULL,"a b"}}.
type arrayParser struct {
	s     string
	pos   int
	elem  Type
	env   *Env
	dims  [MaxDims]int // lengths, -1 not yet known
	ndim  int
	elems []Datum
}

func parseArray(t Type, s string, env *Env) (Datum, error) {
	elem := t.ElemType()
	elem.Mod = t.Mod
	p := &arrayParser{s: s, elem: elem, env: env}
	for i := range p.dims {
		p.dims[i] = -1
	}
	bounds, err := p.bounds()
	if err != nil {
		return Datum{}, err
	}
	p.space()
	if p.pos == len(s) || s[p.pos] != '{' {
		return Datum{}, p.malformed("Array value must start with \"{\" or dimension information.")
	}
	if err := p.braces(0); err != nil {
		return Datum{}, err
	}
	p.space()
	if p.pos != len(s) {
		return Datum{}, p.malformed("Junk after closing right brace.")
	}
	dims := make([]Dim, p.ndim)
	for i := range dims {
		dims[i] = Dim{Len: p.dims[i], Lower: 1}
	}
	if bounds != nil {
		if len(bounds) != len(dims) {
			return Datum{}, p.malformed("Specified array dimensions do not match array contents.")
		}
		for i, b := range bounds {
			if b.Len != dims[i].Len {
				return Datum{}, p.malformed("Specified array dimensions do not match array contents.")
			}
		}
		dims = bounds
	}
	if len(p.elems) == 0 {
		return Datum{B: []byte{0}}, nil
	}
	b, err := AppendArrayDims(nil, elem, dims, p.elems)
	return Datum{B: b}, err
}

func (p *arrayParser) malformed(detail string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed array literal: \"%s\"", p.s).WithDetail("%s", detail)
}

func (p *arrayParser) space() { p.pos = skip(p.s, p.pos, isSpace) }

// bounds reads leading [lower:upper] groups and the '=' after them.
func (p *arrayParser) bounds() ([]Dim, error) {
	var out []Dim
	for {
		p.space()
		if p.pos == len(p.s) || p.s[p.pos] != '[' {
			break
		}
		if len(out) == MaxDims {
			return nil, errTooManyDims(len(out) + 1)
		}
		end := strings.IndexByte(p.s[p.pos:], ']')
		if end < 0 {
			return nil, p.malformed("Missing \"]\" after array dimensions.")
		}
		lo, hi, two := strings.Cut(p.s[p.pos+1:p.pos+end], ":")
		if !two {
			lo, hi = "1", lo
		}
		l, err1 := strconv.ParseInt(lo, 10, 32)
		u, err2 := strconv.ParseInt(hi, 10, 32)
		if err1 != nil || err2 != nil {
			return nil, p.malformed("\"[\" must introduce explicitly-specified array dimensions.")
		}
		if u < l {
			return nil, sqlerr.New(sqlerr.ArraySubscriptError, "upper bound cannot be less than lower bound")
		}
		if u-l+1 > maxArrayElems {
			return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxArrayElems)
		}
		out = append(out, Dim{Len: int(u - l + 1), Lower: int(l)})
		p.pos += end + 1
	}
	if out != nil {
		if p.pos == len(p.s) || p.s[p.pos] != '=' {
			return nil, p.malformed("Missing \"=\" after array dimensions.")
		}
		p.pos++
	}
	return out, nil
}

// braces reads one level, at '{'.
func (p *arrayParser) braces(depth int) error {
	if depth == MaxDims {
		return errTooManyDims(depth + 1)
	}
	if p.ndim == depth {
		if len(p.elems) > 0 {
			return p.malformed("Multidimensional arrays must have sub-arrays with matching dimensions.")
		}
		p.ndim = depth + 1
	}
	p.pos++
	n := 0
	for {
		p.space()
		if p.pos == len(p.s) {
			return p.malformed("Unexpected end of input.")
		}
		switch c := p.s[p.pos]; {
		case c == '}' && n == 0 && depth == 0:
			p.pos++
			return p.closeDim(depth, 0)
		case c == '{':
			if err := p.braces(depth + 1); err != nil {
				return err
			}
		case c == ',' || c == '}':
			return p.malformed("Unexpected \"" + string(c) + "\" character.")
		default:
			if p.ndim != depth+1 {
				return p.malformed("Multidimensional arrays must have sub-arrays with matching dimensions.")
			}
			if err := p.element(); err != nil {
				return err
			}
		}
		n++
		p.space()
		if p.pos == len(p.s) {
			return p.malformed("Unexpected end of input.")
		}
		switch p.s[p.pos] {
		case ',':
			p.pos++
			if rest := skip(p.s, p.pos, isSpace); rest < len(p.s) && p.s[rest] == '}' {
				return p.malformed("Unexpected \"}\" character.")
			}
		case '}':
			p.pos++
			return p.closeDim(depth, n)
		default:
			return p.malformed("Unexpected array element.")
		}
	}
}

func (p *arrayParser) closeDim(depth, n int) error {
	if p.dims[depth] < 0 {
		p.dims[depth] = n
	}
	if p.dims[depth] != n {
		return p.malformed("Multidimensional arrays must have sub-arrays with matching dimensions.")
	}
	return nil
}

func (p *arrayParser) element() error {
	var text []byte
	quoted := false
	keep := 0 // trailing blanks beyond this are dropped
	for ; p.pos < len(p.s); p.pos++ {
		c := p.s[p.pos]
		switch {
		case c == '\\':
			if p.pos++; p.pos == len(p.s) {
				return p.malformed("Unexpected end of input.")
			}
			text = append(text, p.s[p.pos])
			keep, quoted = len(text), true
			continue
		case c == '"':
			if len(text) > 0 || quoted {
				return p.malformed("Unexpected array element.")
			}
			if !p.quoted(&text) {
				return p.malformed("Unexpected end of input.")
			}
			keep, quoted = len(text), true
			p.space()
			if p.pos < len(p.s) && p.s[p.pos] != ',' && p.s[p.pos] != '}' {
				return p.malformed("Unexpected array element.")
			}
			p.pos--
			continue
		case c == '{':
			return p.malformed("Unexpected \"{\" character.")
		}
		if c == ',' || c == '}' {
			break
		}
		text = append(text, c)
		if !isSpace(c) {
			keep = len(text)
		}
	}
	word := string(text[:keep])
	if !quoted && strings.EqualFold(word, "null") {
		p.elems = append(p.elems, NullDatum)
		return nil
	}
	d, err := Parse(p.elem, word, p.env)
	p.elems = append(p.elems, d)
	return err
}

// quoted reads a quoted string, at '"', and leaves the position after it.
func (p *arrayParser) quoted(text *[]byte) bool {
	for p.pos++; p.pos < len(p.s); p.pos++ {
		switch c := p.s[p.pos]; c {
		case '"':
			p.pos++
			return true
		case '\\':
			if p.pos++; p.pos == len(p.s) {
				return false
			}
			*text = append(*text, p.s[p.pos])
		default:
			*text = append(*text, c)
		}
	}
	return false
}

// parseWindow reads the composite ("start","end").
func parseWindow(t Type, s string, env *Env) (Datum, error) {
	fields, nulls, detail := splitRecord(s)
	if detail == "" && len(fields) < 2 {
		detail = "Too few columns."
	} else if detail == "" && len(fields) > 2 {
		detail = "Too many columns."
	}
	if detail != "" {
		return Datum{}, sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed record literal: \"%s\"", s).WithDetail("%s", detail)
	}
	var d Datum
	for i, dst := range []*int64{&d.I, &d.J} {
		if nulls[i] {
			return Datum{}, sqlerr.New(sqlerr.NullValueNotAllowed, "a window's start and end must not be null")
		}
		v, err := Parse(t.ElemType(), fields[i], env)
		if err != nil {
			return Datum{}, err
		}
		*dst = v.I
	}
	return d, nil
}

// splitRecord takes record text apart; detail is not empty for malformed text.
func splitRecord(s string) (fields []string, nulls []bool, detail string) {
	i := skip(s, 0, isSpace)
	if i == len(s) || s[i] != '(' {
		return nil, nil, "Missing left parenthesis."
	}
	for i++; ; i++ {
		var f []byte
		start, inQuote := i, false
		for ; i < len(s) && (inQuote || s[i] != ',' && s[i] != ')'); i++ {
			switch {
			case s[i] == '\\':
				if i++; i == len(s) {
					return nil, nil, "Unexpected end of input."
				}
				f = append(f, s[i])
			case s[i] == '"' && inQuote && i+1 < len(s) && s[i+1] == '"':
				f = append(f, '"')
				i++
			case s[i] == '"':
				inQuote = !inQuote
			default:
				f = append(f, s[i])
			}
		}
		if i == len(s) {
			return nil, nil, "Unexpected end of input."
		}
		fields, nulls = append(fields, string(f)), append(nulls, i == start)
		if s[i] == ')' {
			break
		}
	}
	if skip(s, i+1, isSpace) != len(s) {
		return nil, nil, "Junk after right parenthesis."
	}
	return fields, nulls, ""
}
