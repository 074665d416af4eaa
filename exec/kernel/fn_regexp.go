package kernel

import (
	"bytes"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// pattern compiles arguments pat and flags (negative: none), kept between rows.
func (f *frame) pattern(a []types.Datum, pat, flags int, fold bool) (*pattern, error) {
	key := append(f.scratch[:0], a[pat].B...)
	if flags >= 0 {
		key = append(append(key, 0), a[flags].B...)
	}
	f.scratch = key
	return cached(f, key, func([]byte) (*pattern, error) {
		fl := reFlags{fold: fold}
		if flags >= 0 {
			var err error
			if fl, err = parseFlags(string(a[flags].B)); err != nil {
				return nil, err
			}
		}
		return compileFlags(string(a[pat].B), fl)
	})
}

// matchOp makes ~, ~*, !~ and !~*.
func matchOp(fold, not bool) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) {
		p, err := f.pattern(a, 1, -1, fold)
		if err != nil {
			return types.Datum{}, err
		}
		return types.BoolDatum(p.match(a[0].B) != not), nil
	}}
}

var regexpImpls = map[string]impl{
	"substring(text,text)":                             {row: regexpSubstring},
	"substring(text,text,text)":                        {row: substringSimilar},
	"regexp_replace(text,text,text)":                   {text: regexpReplace},
	"regexp_replace(text,text,text,text)":              {text: regexpReplace},
	"regexp_replace(text,text,text,int4)":              {text: regexpReplaceNth},
	"regexp_replace(text,text,text,int4,int4)":         {text: regexpReplaceNth},
	"regexp_replace(text,text,text,int4,int4,text)":    {text: regexpReplaceNth},
	"regexp_match(text,text)":                          {text: regexpMatch},
	"regexp_match(text,text,text)":                     {text: regexpMatch},
	"regexp_split_to_array(text,text)":                 {text: regexpSplitArray},
	"regexp_split_to_array(text,text,text)":            {text: regexpSplitArray},
	"regexp_count(text,text)":                          {row: regexpCount},
	"regexp_count(text,text,int4)":                     {row: regexpCount},
	"regexp_count(text,text,int4,text)":                {row: regexpCount},
	"regexp_instr(text,text)":                          {row: regexpInstr},
	"regexp_instr(text,text,int4)":                     {row: regexpInstr},
	"regexp_instr(text,text,int4,int4)":                {row: regexpInstr},
	"regexp_instr(text,text,int4,int4,int4)":           {row: regexpInstr},
	"regexp_instr(text,text,int4,int4,int4,text)":      {row: regexpInstr},
	"regexp_instr(text,text,int4,int4,int4,text,int4)": {row: regexpInstr},
	"regexp_like(text,text)":                           {row: regexpLike},
	"regexp_like(text,text,text)":                      {row: regexpLike},
	"regexp_substr(text,text)":                         {row: regexpSubstr},
	"regexp_substr(text,text,int4)":                    {row: regexpSubstr},
	"regexp_substr(text,text,int4,int4)":               {row: regexpSubstr},
	"regexp_substr(text,text,int4,int4,text)":          {row: regexpSubstr},
	"regexp_substr(text,text,int4,int4,text,int4)":     {row: regexpSubstr},
	"string_to_array(text,text)":                       {text: stringToArray},
	"string_to_array(text,text,text)":                  {text: stringToArray},
}

func init() {
	for _, t := range []string{"text", "bpchar", "name"} {
		register(map[string]impl{
			t + " ~ text": matchOp(false, false), t + " ~* text": matchOp(true, false),
			t + " !~ text": matchOp(false, true), t + " !~* text": matchOp(true, true),
		})
	}
}

// regexpSubstring gives the first group, or the whole match of a pattern without groups.
func regexpSubstring(f *frame, a []types.Datum) (types.Datum, error) {
	p, err := f.pattern(a, 1, -1, false)
	if err != nil {
		return types.Datum{}, err
	}
	return firstGroup(p, a[0].B), nil
}

func firstGroup(p *pattern, s []byte) types.Datum {
	m := p.find(s)
	if m == nil {
		return types.NullDatum
	}
	if len(m) > 2 {
		m = m[2:]
	}
	return group(s, m, 0)
}

func group(s []byte, m []int, i int) types.Datum {
	if m[2*i] < 0 {
		return types.NullDatum
	}
	return types.Datum{B: s[m[2*i]:m[2*i+1]]}
}

// substringSimilar is SUBSTRING(x SIMILAR pattern ESCAPE e).
func substringSimilar(f *frame, a []types.Datum) (types.Datum, error) {
	key := append(append(f.scratch[:0], a[1].B...), 0)
	key = append(key, a[2].B...)
	f.scratch = key
	p, err := cached(f, key, func([]byte) (*pattern, error) {
		src, err := similarPattern(nil, a[1].B, a[2].B)
		if err != nil {
			return nil, err
		}
		return compileFlags(string(src), reFlags{})
	})
	if err != nil {
		return types.Datum{}, err
	}
	return firstGroup(p, a[0].B), nil
}

// regexpReplace replaces the first match, or all with flag g.
func regexpReplace(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	flags, limit := -1, 1
	if len(a) == 4 {
		flags = 3
		if len(a[3].B) > 0 && a[3].B[0] >= '0' && a[3].B[0] <= '9' {
			return dst, sqlerr.New(sqlerr.InvalidParameterValue, "invalid regular expression option: \"%s\"", a[3].B[:1]).
				WithHint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.")
		}
	}
	p, err := f.pattern(a, 1, flags, false)
	if err != nil {
		return dst, err
	}
	if p.global {
		limit = -1
	}
	return replaceMatches(dst, a[0].B, p.all(a[0].B, limit), a[2].B), nil
}

func replaceMatches(dst, s []byte, ms [][]int, with []byte) []byte {
	at := 0
	for _, m := range ms {
		dst = append(dst, s[at:m[0]]...)
		dst = expandMatch(dst, s, m, with)
		at = m[1]
	}
	return append(dst, s[at:]...)
}

// expandMatch appends a replacement with \1 to \9 and \& filled in.
func expandMatch(dst, s []byte, m []int, with []byte) []byte {
	for {
		i := bytes.IndexByte(with, '\\')
		if i < 0 || i+1 == len(with) {
			return append(dst, with...)
		}
		dst = append(dst, with[:i]...)
		c := with[i+1]
		switch {
		case c == '&':
			dst = append(dst, s[m[0]:m[1]]...)
		case c >= '1' && c <= '9':
			if k := int(c - '0'); 2*k < len(m) && m[2*k] >= 0 {
				dst = append(dst, s[m[2*k]:m[2*k+1]]...)
			}
		case c == '\\':
			dst = append(dst, '\\')
		default:
			dst = append(dst, '\\', c)
		}
		with = with[i+2:]
	}
}

// reArgs are the optional arguments that the regexp functions of PostgreSQL 15 share.
type reArgs struct {
	p      *pattern
	from   int // byte offset of start
	nth    int64
	endOpt int64
	sub    int64
}

// reArgs reads the arguments at the given positions, those that are present: start, N, end option, flags,
// subexpression.
func (f *frame) reArgs(name string, a []types.Datum, start, nth, end, flags, sub int) (r reArgs, err error) {
	at := func(i int, low int64, what string, v *int64) error {
		if i < 0 || i >= len(a) {
			return nil
		}
		if *v = a[i].I; *v < low {
			return invalid("invalid value for parameter \"%s\": %d", what, *v)
		}
		return nil
	}
	first := int64(1)
	r.nth = 1
	if nth < 0 {
		r.nth = 0
	}
	for _, e := range []error{at(start, 1, "start", &first), at(nth, b2i(name != "regexp_replace"), "n", &r.nth), at(end, 0, "endoption", &r.endOpt), at(sub, 0, "subexpr", &r.sub)} {
		if e != nil {
			return r, e
		}
	}
	if end >= 0 && end < len(a) && r.endOpt > 1 {
		return r, invalid("invalid value for parameter \"%s\": %d", "endoption", r.endOpt)
	}
	if flags >= len(a) {
		flags = -1
	}
	if r.p, err = f.pattern(a, 1, flags, false); err != nil {
		return r, err
	}
	if r.p.global && name != "regexp_replace" {
		return r, invalid("%s() does not support the \"global\" option", name)
	}
	r.from = runeEnd(a[0].B, int(min(first-1, int64(len(a[0].B)))))
	return r, nil
}

// matches gives the matches from the start on, at most limit, as offsets into the whole string.
func (r reArgs) matches(s []byte, limit int) [][]int {
	var out [][]int
	for _, m := range r.p.all(s, -1) {
		if m[0] >= r.from {
			out = append(out, m)
		}
		if limit > 0 && len(out) == limit {
			break
		}
	}
	return out
}

// nthMatch gives the N-th match and says whether there is one with that subexpression.
func (r reArgs) nthMatch(s []byte) ([]int, bool) {
	ms := r.matches(s, int(r.nth))
	if int64(len(ms)) < r.nth || r.sub > int64(r.p.re.NumSubexp()) {
		return nil, false
	}
	return ms[r.nth-1], true
}

// regexpReplaceNth has a start and, optionally, which match to replace (0: all).
func regexpReplaceNth(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	r, err := f.reArgs("regexp_replace", a, 3, 4, -1, 5, -1)
	if err != nil {
		return dst, err
	}
	if len(a) < 5 && r.p.global {
		r.nth = 0
	}
	ms := r.matches(a[0].B, int(r.nth))
	if r.nth > 0 {
		if int64(len(ms)) < r.nth {
			return append(dst, a[0].B...), nil
		}
		ms = ms[r.nth-1:]
	}
	return replaceMatches(dst, a[0].B, ms, a[2].B), nil
}

func regexpCount(f *frame, a []types.Datum) (types.Datum, error) {
	r, err := f.reArgs("regexp_count", a, 2, -1, -1, 3, -1)
	if err != nil {
		return types.Datum{}, err
	}
	return types.IntDatum(int64(len(r.matches(a[0].B, 0)))), nil
}

func regexpLike(f *frame, a []types.Datum) (types.Datum, error) {
	r, err := f.reArgs("regexp_like", a, -1, -1, -1, 2, -1)
	if err != nil {
		return types.Datum{}, err
	}
	return types.BoolDatum(r.p.match(a[0].B)), nil
}

func regexpSubstr(f *frame, a []types.Datum) (types.Datum, error) {
	r, err := f.reArgs("regexp_substr", a, 2, 3, -1, 4, 5)
	if err != nil {
		return types.Datum{}, err
	}
	m, ok := r.nthMatch(a[0].B)
	if !ok {
		return types.NullDatum, nil
	}
	return group(a[0].B, m, int(r.sub)), nil
}

func regexpInstr(f *frame, a []types.Datum) (types.Datum, error) {
	r, err := f.reArgs("regexp_instr", a, 2, 3, 4, 5, 6)
	if err != nil {
		return types.Datum{}, err
	}
	m, ok := r.nthMatch(a[0].B)
	if !ok || m[2*r.sub] < 0 {
		return types.IntDatum(0), nil
	}
	at := m[2*r.sub]
	if r.endOpt == 1 {
		at = m[2*r.sub+1]
	}
	return types.IntDatum(int64(utf8.RuneCount(a[0].B[:at]) + 1)), nil
}

// groups gives what regexp_match shows of a match: its groups, or the whole if it has none.
func groups(s []byte, m []int) []types.Datum {
	if len(m) == 2 {
		return []types.Datum{group(s, m, 0)}
	}
	var out []types.Datum
	for i := 1; 2*i < len(m); i++ {
		out = append(out, group(s, m, i))
	}
	return out
}

func regexpMatch(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	flags := -1
	if len(a) == 3 {
		flags = 2
	}
	p, err := f.pattern(a, 1, flags, false)
	if err != nil {
		return dst, err
	}
	if p.global {
		return dst, sqlerr.New(sqlerr.InvalidParameterValue, "regexp_match() does not support the \"global\" option").
			WithHint("Use the regexp_matches function instead.")
	}
	m := p.find(a[0].B)
	if m == nil {
		return dst, errNull
	}
	return types.AppendArray(dst, types.Of(types.Text), groups(a[0].B, m)), nil
}

// splitAround gives the pieces between matches. Empty matches at either end or right after a match do not count.
func splitAround(p *pattern, s []byte) []types.Datum {
	var out []types.Datum
	at := 0
	for _, m := range p.all(s, -1) {
		if m[0] >= len(s) || m[1] <= at {
			continue
		}
		out = append(out, types.Datum{B: s[at:m[0]]})
		at = m[1]
	}
	return append(out, types.Datum{B: s[at:]})
}

func (f *frame) split(name string, a []types.Datum) ([]types.Datum, error) {
	flags := -1
	if len(a) == 3 {
		flags = 2
	}
	p, err := f.pattern(a, 1, flags, false)
	if err != nil {
		return nil, err
	}
	if p.global {
		return nil, invalid("%s() does not support the \"global\" option", name)
	}
	return splitAround(p, a[0].B), nil
}

func regexpSplitArray(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	parts, err := f.split("regexp_split_to_array", a)
	if err != nil {
		return dst, err
	}
	return types.AppendArray(dst, types.Of(types.Text), parts), nil
}

// splitString is string_to_array: a NULL separator splits into characters, an empty one not at all; pieces equal
// to the third argument are NULL.
func splitString(a []types.Datum) []types.Datum {
	s := a[0].B
	var out []types.Datum
	add := func(b []byte) {
		null := len(a) == 3 && !a[2].Null && bytes.Equal(b, a[2].B)
		out = append(out, types.Datum{B: b, Null: null})
	}
	switch {
	case len(s) == 0:
	case a[1].Null:
		for len(s) > 0 {
			_, n := utf8.DecodeRune(s)
			add(s[:n])
			s = s[n:]
		}
	case len(a[1].B) == 0:
		add(s)
	default:
		for {
			i := bytes.Index(s, a[1].B)
			if i < 0 {
				add(s)
				return out
			}
			add(s[:i])
			s = s[i+len(a[1].B):]
		}
	}
	return out
}

func stringToArray(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	if a[0].Null {
		return dst, errNull
	}
	return types.AppendArray(dst, types.Of(types.Text), splitString(a)), nil
}
