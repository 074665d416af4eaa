package types

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// ToTimestamp reads text by a template, PostgreSQL's to_timestamp(text, text).
// A time without zone is in env's time zone. Errors: 22007, 22008, 0A000.
func ToTimestamp(text, format string, env *Env) (int64, error) {
	if env == nil {
		env = defaultEnv
	}
	v, err := parseByPattern(text, format)
	if err != nil {
		return 0, err
	}
	ts, ok := v.micros()
	if !ok {
		return 0, sqlerrTimestampInput(text)
	}
	if v.zoned {
		return ts - v.off*usecPerSec, nil
	}
	return FromLocal(ts, env.Location)
}

// ToDate is ToTimestamp for dates, PostgreSQL's to_date.
func ToDate(text, format string, env *Env) (int64, error) {
	v, err := parseByPattern(text, format)
	if err != nil {
		return 0, err
	}
	d := CivilToDays(v.year, v.month, v.day)
	if d < minDate || d >= endDate {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range: \"%s\"", text)
	}
	return d, nil
}

// fromChar reads input by a template.
type fromChar struct {
	text string
	pos  int
	set  map[string]int // values by canonical field
	bc   bool
	pm   int // 0 none, 1 am, 2 pm
	h12  bool
	fx   bool
}

type fromCharResult struct {
	civil
	zoned bool
	off   int64
}

func (f *fromChar) rest() string { return f.text[f.pos:] }

func (f *fromChar) spaces() int {
	start := f.pos
	f.pos = skip(f.text, f.pos, isSpace)
	return f.pos - start
}

func isSeparator(s string) bool {
	return s != "" && s[0] > ' ' && s[0] < 0x7f && !isAlnum(s[0])
}

func parseByPattern(text, format string) (fromCharResult, error) {
	f := &fromChar{text: text, set: map[string]int{}}
	nodes := parsePattern(format, false)
	extra := 0
	for i, n := range nodes {
		if f.pos >= len(f.text) {
			break
		}
		if n.id == "FX" {
			f.fx = true
			continue
		}
		if !f.fx && (n.id != "" || i == 0) {
			extra += f.spaces()
		}
		if n.id == "" {
			extra = f.literal(n, extra)
			continue
		}
		if err := f.field(n, i+1 >= len(nodes) || nextIsSeparator(n, nodes[i+1])); err != nil {
			return fromCharResult{}, err
		}
		if n.ordinal != 0 {
			f.pos = min(f.pos+2, len(f.text))
		}
		if !f.fx {
			extra = f.spaces()
		}
	}
	return f.result()
}

func (f *fromChar) literal(n patternNode, extra int) int {
	_, size := utf8.DecodeRuneInString(f.rest())
	separator := !n.quoted && (isSpace(n.text[0]) || isSeparator(n.text))
	switch {
	case f.fx:
		f.pos += size
	case separator:
		extra--
		if isSpace(f.text[f.pos]) || isSeparator(f.rest()) {
			f.pos++
			extra++
		}
	case extra > 0:
		extra--
	default:
		f.pos += size
	}
	return extra
}

// nextIsSeparator says whether a number may be read as far as its digits go,
// because what follows in the template is not a digit.
func nextIsSeparator(n, next patternNode) bool {
	if n.ordinal != 0 {
		return true
	}
	if next.id == "" {
		return !isDigit(next.text[0])
	}
	_, numeric := fieldWidths[next.id]
	return !numeric
}

// fieldWidths are the numeric keywords with their widths.
var fieldWidths = map[string]int{
	"HH": 2, "HH12": 2, "HH24": 2, "MI": 2, "SS": 2, "MS": 3, "US": 6, "FF1": 1, "FF2": 2, "FF3": 3, "FF4": 4, "FF5": 5, "FF6": 6,
	"SSSS": 5, "SSSSS": 5, "DDD": 3, "DD": 2, "D": 1, "ID": 1, "IDDD": 3, "MM": 2, "WW": 2, "IW": 2, "W": 1, "Q": 1, "CC": 2, "J": 7,
	"YYYY": 4, "YYY": 3, "YY": 2, "Y": 1, "IYYY": 4, "IYY": 3, "IY": 2, "I": 1, "Y,YYY": 4,
}

// canonicalField names the value that several keywords share.
var canonicalField = map[string]string{
	"HH12": "HH24", "HH": "HH24", "SSSSS": "SSSS", "YYY": "YYYY", "YY": "YYYY", "Y": "YYYY", "Y,YYY": "YYYY",
	"IYY": "IYYY", "IY": "IYYY", "I": "IYYY", "FF1": "US", "FF2": "US", "FF3": "US", "FF4": "US", "FF5": "US", "FF6": "US",
}

func errFromChar(value, field string) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid value \"%s\" for \"%s\"", value, field)
}

func (f *fromChar) store(field, keyword string, v int) error {
	if old, ok := f.set[field]; ok && old != v {
		return sqlerr.New(sqlerr.InvalidDatetimeFormat, "conflicting values for \"%s\" field in formatting string", keyword).
			WithDetail("This value contradicts a previous setting for the same field type.")
	}
	f.set[field] = v
	return nil
}

// integer reads a number of at most width characters, or of any length if open.
func (f *fromChar) integer(n patternNode, width int, open bool) (v, used int, err error) {
	f.spaces()
	s := f.rest()
	limit := len(s)
	if !open && !n.fill {
		limit = 0
		for k := 0; k < width && limit < len(s); k++ {
			_, size := utf8.DecodeRuneInString(s[limit:])
			limit += size
		}
		if limit < width {
			return 0, 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, "source string too short for \"%s\" formatting field", n.id).
				WithDetail("Field requires %d characters, but only %d remain.", width, limit)
		}
	}
	word := s[:limit]
	i := 0
	if word != "" && (word[0] == '-' || word[0] == '+') {
		i = 1
	}
	end := skip(word, i, isDigit)
	if end == i {
		return 0, 0, errFromChar(s[:min(len(s), max(width, 1))], n.id).WithDetail("Value must be an integer.")
	}
	if !open && !n.fill && end < width {
		return 0, 0, errFromChar(word, n.id).WithDetail("Field requires %d characters, but only %d could be parsed.", width, end)
	}
	v, err = strconv.Atoi(word[:end])
	if err != nil || v > math.MaxInt32 || v < math.MinInt32 {
		return 0, 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "value for \"%s\" in source string is out of range", n.id)
	}
	f.pos += end
	return v, end, nil
}

func (f *fromChar) field(n patternNode, open bool) error {
	if n.id == "Y,YYY" {
		return f.commaYear(n)
	}
	width, numeric := fieldWidths[n.id]
	if !numeric {
		return f.wordField(n)
	}
	v, used, err := f.integer(n, width, open)
	if err != nil {
		return err
	}
	field := n.id
	if c := canonicalField[field]; c != "" {
		field = c
	}
	switch n.id {
	case "HH", "HH12":
		f.h12 = true
	case "MS": // 25 is 250 ms
		for ; used < 3; used++ {
			v *= 10
		}
	case "US", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		for ; used < 6; used++ {
			v *= 10
		}
		for ; used > 6; used-- {
			v /= 10
		}
	case "YYY", "YY", "Y", "IYY", "IY", "I":
		if used < 4 {
			v = nearYear2020(v)
		}
	case "D", "ID":
		if v < 1 || v > 7 {
			return errFromChar(strconv.Itoa(v), n.id)
		}
	case "Q":
		return nil // not enough to tell a date, so ignored as in PostgreSQL
	}
	return f.store(field, n.id, v)
}

// nearYear2020 puts a year of one to three digits near 2020.
func nearYear2020(y int) int {
	switch {
	case y < 70:
		return y + 2000
	case y < 100:
		return y + 1900
	case y < 520:
		return y + 2000
	case y < 1000:
		return y + 1000
	}
	return y
}

func (f *fromChar) commaYear(n patternNode) error {
	s := f.rest()
	end := skip(s, 0, func(c byte) bool { return isDigit(c) || c == ',' })
	a, b, ok := strings.Cut(s[:end], ",")
	x, err1 := strconv.Atoi(a)
	y, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil {
		return sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid input string for \"Y,YYY\"")
	}
	f.pos += end
	return f.store("YYYY", n.id, x*1000+y)
}

// oneOf reads one of some words, in any letter case, and gives its index.
func (f *fromChar) oneOf(n patternNode, words []string, length int) (int, error) {
	s := f.rest()
	for i, w := range words {
		if length > 0 {
			w = w[:length]
		}
		if len(s) >= len(w) && strings.EqualFold(s[:len(w)], w) {
			f.pos += len(w)
			return i, nil
		}
	}
	word := s[:min(len(s), max(skip(s, 0, isAlnum), 1))]
	return 0, errFromChar(word, n.id).WithDetail("The given value did not match any of the allowed values for this field.")
}

var romanByLength = strings.Fields("XII XI X IX VIII VII VI V IV III II I")

func (f *fromChar) wordField(n patternNode) error {
	switch strings.ToUpper(n.id) {
	case "AM", "PM", "A.M.", "P.M.":
		words := []string{"am", "pm"}
		if strings.Contains(n.id, ".") {
			words = []string{"a.m.", "p.m."}
		}
		i, err := f.oneOf(n, words, 0)
		f.pm, f.h12 = i+1, true
		return err
	case "AD", "BC", "A.D.", "B.C.":
		words := []string{"ad", "bc"}
		if strings.Contains(n.id, ".") {
			words = []string{"a.d.", "b.c."}
		}
		i, err := f.oneOf(n, words, 0)
		f.bc = i == 1
		return err
	case "MONTH", "MON":
		return f.nameField(n, monthNames, 3*boolInt(len(n.id) == 3), "MM", 1)
	case "DAY", "DY":
		_, err := f.oneOf(n, dayNames, 3*boolInt(len(n.id) == 2))
		return err
	case "RM":
		i, err := f.oneOf(n, romanByLength, 0)
		if err != nil {
			return err
		}
		return f.store("MM", n.id, 12-i)
	case "TZH":
		neg := f.text[f.pos] == '-'
		if neg || f.text[f.pos] == '+' || f.text[f.pos] == ' ' {
			f.pos++
		}
		v, _, err := f.integer(n, 2, true)
		f.set["TZSIGN"] = 1 - 2*boolInt(neg)
		if err != nil {
			return err
		}
		return f.store("TZH", n.id, v)
	case "TZM":
		v, _, err := f.integer(n, 2, true)
		if err != nil {
			return err
		}
		return f.store("TZM", n.id, v)
	case "TZ", "OF":
		return sqlerr.Unsupported("formatting field \"%s\" is only supported in to_char", strings.ToUpper(n.id))
	}
	return nil
}

func (f *fromChar) nameField(n patternNode, names []string, length int, field string, base int) error {
	i, err := f.oneOf(n, names, length)
	if err != nil {
		return err
	}
	return f.store(field, n.id, i+base)
}

// result puts the values together; what is missing is the first of the period,
// and a missing year is 1 BC, as in PostgreSQL.
func (f *fromChar) result() (r fromCharResult, err error) {
	get := func(field string, missing int) int {
		if v, ok := f.set[field]; ok {
			return v
		}
		return missing
	}
	has := func(field string) bool { _, ok := f.set[field]; return ok }
	bad := func() error {
		return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", f.text)
	}
	r.year, r.month, r.day = get("YYYY", 0), get("MM", 1), get("DD", 1)
	if has("CC") {
		if has("YYYY") {
			r.year = (get("CC", 0)-1)*100 + r.year%100
		} else {
			r.year = (get("CC", 0)-1)*100 + 1
		}
	}
	if f.bc {
		r.year = 1 - r.year
		if !has("YYYY") {
			r.year = 0
		}
	} else if r.year < 0 {
		r.year++
	}
	switch {
	case has("J"):
		r.year, r.month, r.day = DaysToCivil(int64(get("J", 0)) - 2440588)
	case has("IYYY") && (has("IW") || has("IDDD")):
		day := isoYearStart(get("IYYY", 0)) + int64(get("IDDD", 1)) - 1
		if has("IW") {
			day = isoYearStart(get("IYYY", 0)) + int64(get("IW", 1)-1)*7 + int64(get("ID", 1)) - 1
		}
		r.year, r.month, r.day = DaysToCivil(day)
	case has("IYYY"):
		r.year, r.month, r.day = DaysToCivil(isoYearStart(get("IYYY", 0)) + int64(get("ID", 1)) - 1)
	case has("DDD"):
		if get("DDD", 1) < 1 || get("DDD", 1) > 365+boolInt(isLeap(r.year)) {
			return r, bad()
		}
		r.year, r.month, r.day = DaysToCivil(CivilToDays(r.year, 1, 1) + int64(get("DDD", 1)) - 1)
	case has("WW"):
		r.year, r.month, r.day = DaysToCivil(CivilToDays(r.year, 1, 1) + int64(get("WW", 1)-1)*7)
	case has("W") && !has("DD"):
		r.day = (get("W", 1)-1)*7 + 1
	}
	if r.month < 1 || r.month > 12 || r.day < 1 || r.day > daysInMonth(r.year, r.month) {
		return r, bad()
	}
	return f.clock(r, get, has, bad)
}

func (f *fromChar) clock(r fromCharResult, get func(string, int) int, has func(string) bool, bad func() error) (fromCharResult, error) {
	r.hour, r.min, r.sec = get("HH24", 0), get("MI", 0), get("SS", 0)
	if has("SSSS") {
		s := get("SSSS", 0)
		r.hour, r.min, r.sec = s/3600, s/60%60, s%60
	}
	if f.h12 && has("HH24") {
		if r.hour < 1 || r.hour > 12 {
			return r, sqlerr.New(sqlerr.InvalidDatetimeFormat, "hour \"%d\" is invalid for the 12-hour clock", r.hour).
				WithHint("Use the 24-hour clock, or give an hour between 1 and 12.")
		}
		if f.pm == 2 && r.hour < 12 {
			r.hour += 12
		} else if f.pm == 1 && r.hour == 12 {
			r.hour = 0
		}
	}
	r.usec = get("US", 0) + get("MS", 0)*1000
	if r.hour < 0 || r.hour > 23 || r.min < 0 || r.min > 59 || r.sec < 0 || r.sec > 59 || r.usec < 0 || r.usec >= int(usecPerSec) {
		return r, bad()
	}
	if has("TZH") || has("TZM") {
		if get("TZH", 0) > 15 || get("TZM", 0) > 59 || get("TZH", 0) < 0 {
			return r, bad()
		}
		r.zoned = true
		r.off = int64(get("TZSIGN", 1)) * int64(get("TZH", 0)*3600+get("TZM", 0)*60)
	}
	return r, nil
}
