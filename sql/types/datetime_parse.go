package types

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// dateErr says why date or time input was refused.
type dateErr uint8

const (
	dateOK         dateErr = iota
	dateBad                // no meaning
	dateOverflow           // a field is out of range
	dateMDOverflow         // month or day out of range, perhaps of the wrong order
	dateZoneRange          // zone displacement out of range
	dateZoneName           // unknown zone name
)

func (e dateErr) error(typ, input, zone string) error {
	switch e {
	case dateOverflow, dateMDOverflow:
		err := sqlerr.New(sqlerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", input)
		if e == dateMDOverflow {
			err.Hint = "Perhaps you need a different \"datestyle\" setting."
		}
		return err
	case dateZoneRange:
		return sqlerr.New(sqlerr.InvalidTimeZone, "time zone displacement out of range: \"%s\"", input)
	case dateZoneName:
		return sqlerr.New(sqlerr.InvalidParameterValue, "time zone \"%s\" not recognized", zone)
	}
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid input syntax for type %s: \"%s\"", typ, input)
}

// The set of fields seen so far.
const (
	hasYear = 1 << iota
	hasMonth
	hasDay
	hasDOY
	hasHour
	hasMinute
	hasSecond
	hasZone
	hasDSTMod
	hasAMPM
	hasADBC
	hasWeekday
	hasReserved
	hasDate = hasYear | hasMonth | hasDay
	hasTime = hasHour | hasMinute | hasSecond
)

// dateParser decodes fields into a civil time. It follows PostgreSQL's
// DecodeDateTime and DecodeTimeOnly.
type dateParser struct {
	civil
	env       *Env
	order     string
	seen      int
	yday      int
	twoDigits bool
	textMonth bool
	julian    bool
	bc        bool
	pm        int // 0: 24 hours, 1: am, 2: pm
	special   int // resEpoch, resLate, resEarly, else -1
	zoneOff   int64
	dstAdd    int64
	zone      *time.Location // a full zone name was given
	badZone   string
	allowDate bool // false for type time
}

func newDateParser(env *Env) dateParser {
	p := dateParser{env: env, order: env.DateOrder, special: -1, allowDate: true}
	if p.order == "" {
		p.order = "MDY"
	}
	return p
}

// decode reads all fields.
func (p *dateParser) decode(fields []dateField) dateErr {
	pending := -1 // a unit or "t" that names the next number
	for i, f := range fields {
		before := p.seen
		p.seen = 0
		got, next, e := p.field(f, before, pending, fields[i+1:])
		if e != dateOK {
			return e
		}
		if got&before != 0 {
			return dateBad
		}
		p.seen, pending = before|got, next
	}
	return dateOK // a unit at the end without a number is ignored, as in PostgreSQL
}

func (p *dateParser) field(f dateField, seen, pending int, rest []dateField) (got, next int, e dateErr) {
	next = -1
	switch f.kind {
	case fieldDate:
		got, e = p.dateField(f.text, seen, pending)
	case fieldTime:
		if pending >= 0 && pending != unitTime {
			return 0, 0, dateBad
		}
		got, e = hasTime, p.clock(f.text)
		if e == dateOK && p.timeOverflows() {
			e = dateOverflow
		}
	case fieldZone:
		got, next = hasZone, pending
		p.zoneOff, e = parseZoneOffset(f.text)
	case fieldNumber:
		if pending >= 0 {
			got, e = p.labelled(f.text, seen, pending)
		} else {
			got, e = p.number(f.text, seen)
		}
	default:
		return p.word(f, seen, pending, rest)
	}
	return got, next, e
}

// dateField decodes a field with '-', '/' or '.' in it.
func (p *dateParser) dateField(s string, seen, pending int) (int, dateErr) {
	if pending == unitJulian {
		cut := strings.IndexByte(s, '-')
		if cut <= 0 {
			return 0, dateBad
		}
		off, e := parseZoneOffset(s[cut:])
		if e != dateOK {
			return 0, e
		}
		p.zoneOff = off
		got, e := p.labelled(s[:cut], seen, pending)
		return got | hasTime | hasZone, e
	}
	if pending < 0 && p.allowDate && seen&(hasMonth|hasDay) != hasMonth|hasDay {
		return p.date(s, seen)
	}
	if !isDigit(s[0]) && pending < 0 {
		if p.zone = p.findZone(s); p.zone == nil {
			p.badZone = s
			return 0, dateZoneName
		}
		return hasZone, dateOK
	}
	// hhmmss-zz, run together
	if pending >= 0 && pending != unitTime || seen&hasTime == hasTime {
		return 0, dateBad
	}
	cut := strings.IndexByte(s, '-')
	if cut < 0 {
		return 0, dateBad
	}
	off, e := parseZoneOffset(s[cut:])
	if e != dateOK {
		return 0, e
	}
	p.zoneOff = off
	got, e := p.runTogether(s[:cut], seen|hasDate)
	return got | hasZone, e
}

func (p *dateParser) findZone(name string) *time.Location {
	names, _ := zoneTables()
	if name == "utc" || name == "gmt" {
		return time.UTC
	}
	return namedZone(names, name, name)
}

// date decodes a date with separators, such as 2001-02-03 or 3-feb-2001.
func (p *dateParser) date(s string, seen int) (int, dateErr) {
	var parts [maxDateFields]string
	n := 0
	for i := 0; i < len(s) && n < len(parts); {
		for i < len(s) && !isAlnum(s[i]) {
			i++
		}
		if i == len(s) {
			return 0, dateBad
		}
		start := i
		if isDigit(s[i]) {
			i = skip(s, i, isDigit)
		} else {
			i = skip(s, i, isAlpha)
		}
		parts[n] = s[start:i]
		n++
		if i < len(s) && !isAlnum(s[i]) || i < len(s) {
			i++ // the separator; a letter right after digits is dropped, as in PostgreSQL
		}
	}
	all := 0
	for i, w := range parts[:n] {
		if !isAlpha(w[0]) {
			continue
		}
		tok := dateTokens[w]
		if tok.kind == tokIgnore {
			continue
		}
		if tok.kind != tokMonth || (seen|all)&hasMonth != 0 {
			return 0, dateBad
		}
		p.month, p.textMonth = tok.value, true
		all |= hasMonth
		parts[i] = ""
	}
	for _, w := range parts[:n] {
		if w == "" || !isDigit(w[0]) {
			continue
		}
		got, e := p.byPosition(w, seen|all)
		if e != dateOK {
			return 0, e
		}
		if got&(seen|all) != 0 {
			return 0, dateBad
		}
		all |= got
	}
	if (seen|all)&^(hasDOY|hasZone) != hasDate {
		return 0, dateBad
	}
	return all, dateOK
}

// number decodes a bare number by its length and what is still missing.
func (p *dateParser) number(s string, seen int) (int, dateErr) {
	point := strings.IndexByte(s, '.')
	if !p.allowDate {
		return p.runTogether(s, seen|hasDate)
	}
	switch {
	case point >= 0 && seen&hasDate == 0:
		return p.date(s, seen)
	case point > 2, point < 0 && len(s) >= 6 && (seen&hasDate == 0 || seen&hasTime == 0):
		return p.runTogether(s, seen)
	}
	return p.byPosition(s, seen)
}

// byPosition decodes a number as the part of a date that comes next.
func (p *dateParser) byPosition(s string, seen int) (int, dateErr) {
	top := len(s)
	if point := strings.IndexByte(s, '.'); point >= 0 {
		top = point
	}
	val, err := strconv.Atoi(s[:top])
	if err != nil || val > math.MaxInt32 {
		return 0, dateOverflow
	}
	if len(s) == 3 && seen&hasDate == hasYear && val >= 1 && val <= 366 {
		p.yday = val
		return hasDOY | hasMonth | hasDay, dateOK
	}
	set := func(field int) (int, dateErr) {
		switch field {
		case hasYear:
			p.year, p.twoDigits = val, len(s) <= 2
		case hasMonth:
			p.month = val
		default:
			p.day = val
		}
		return field, dateOK
	}
	long := len(s) >= 3
	switch seen & hasDate {
	case 0:
		switch {
		case long || p.order == "YMD":
			return set(hasYear)
		case p.order == "DMY":
			return set(hasDay)
		}
		return set(hasMonth)
	case hasYear:
		return set(hasMonth)
	case hasMonth:
		if p.textMonth && (long || p.order == "YMD") {
			return set(hasYear)
		}
		return set(hasDay)
	case hasYear | hasMonth:
		if p.textMonth && long && p.twoDigits {
			// The first number was the day, not the year.
			p.day, p.year, p.twoDigits = p.year, val, false
			return hasDay, dateOK
		}
		return set(hasDay)
	case hasDay:
		return set(hasMonth)
	case hasMonth | hasDay:
		return set(hasYear)
	case hasDate:
		return p.runTogether(s, seen)
	}
	return 0, dateBad
}

// runTogether decodes yymmdd, yyyymmdd, hhmm, hhmmss and hhmmss.ffffff.
func (p *dateParser) runTogether(s string, seen int) (int, dateErr) {
	frac := 0
	if cut := strings.IndexByte(s, '.'); cut >= 0 {
		var ok bool
		if frac, ok = parseFraction(s[cut:]); !ok {
			return 0, dateBad
		}
		s = s[:cut]
	} else if seen&hasDate != hasDate && len(s) >= 6 {
		y, err := strconv.Atoi(s[:len(s)-4])
		if err != nil || y > math.MaxInt32 {
			return 0, dateOverflow
		}
		p.year, p.month, p.day = y, atoi2(s[len(s)-4:]), atoi2(s[len(s)-2:])
		p.twoDigits = len(s) == 6
		return hasDate, dateOK
	}
	if seen&hasTime != hasTime && (len(s) == 6 || len(s) == 4) {
		p.hour, p.min, p.sec, p.usec = atoi2(s), atoi2(s[2:]), 0, frac
		if len(s) == 6 {
			p.sec = atoi2(s[4:])
		}
		return hasTime, dateOK
	}
	return 0, dateBad
}

func atoi2(s string) int { return int(s[0]-'0')*10 + int(s[1]-'0') }

// parseFraction reads ".ddd" into microseconds, rounding half to even beyond six digits.
func parseFraction(s string) (int, bool) {
	d := s[1:]
	if skip(d, 0, isDigit) != len(d) {
		return 0, false
	}
	if len(d) <= 6 {
		n := 0
		for i := 0; i < 6; i++ {
			n *= 10
			if i < len(d) {
				n += int(d[i] - '0')
			}
		}
		return n, true
	}
	f, err := strconv.ParseFloat("0"+s, 64)
	return int(math.RoundToEven(f * 1e6)), err == nil
}

// clock decodes hh:mm[:ss[.ffffff]].
func (p *dateParser) clock(s string) dateErr {
	h, m, sec, us, e := parseClock(s)
	p.hour, p.min, p.sec, p.usec = int(h), m, sec, us
	if e == dateOK && h > math.MaxInt32 {
		e = dateOverflow
	}
	return e
}

// timeOverflows says whether the time is beyond 24:00:00.
func (c civil) timeOverflows() bool {
	return c.hour > 24 || c.min > 59 || c.sec > 60 || c.timeOfDay() > usecPerDay
}

func parseClock(s string) (h int64, m, sec, us int, e dateErr) {
	head, rest, _ := strings.Cut(s, ":")
	h, err := strconv.ParseInt(head, 10, 64)
	if err != nil {
		return 0, 0, 0, 0, dateOverflow
	}
	point := strings.IndexByte(rest, '.')
	if point >= 0 {
		var ok bool
		if us, ok = parseFraction(rest[point:]); !ok {
			return 0, 0, 0, 0, dateBad
		}
		rest = rest[:point]
	}
	mm, ss, two := strings.Cut(rest, ":")
	m, ok := smallInt(mm)
	if !ok {
		return 0, 0, 0, 0, dateBad
	}
	switch {
	case two:
		if sec, ok = smallInt(ss); !ok {
			return 0, 0, 0, 0, dateBad
		}
	case point >= 0: // mm:ss.fff
		h, m, sec = 0, int(min(h, math.MaxInt32)), m
	}
	if m > 59 || sec > 60 {
		return 0, 0, 0, 0, dateOverflow
	}
	return h, m, sec, us, dateOK
}

// smallInt reads digits; numbers too large for any field give a large one.
func smallInt(s string) (int, bool) {
	if s == "" || skip(s, 0, isDigit) != len(s) {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return math.MaxInt32, true
	}
	return n, true
}

// parseZoneOffset reads +hh, +hhmm, +hh:mm or +hh:mm:ss into seconds east of UTC.
func parseZoneOffset(s string) (int64, dateErr) {
	body := s[1:]
	if body == "" || !isDigit(body[0]) {
		return 0, dateBad
	}
	var h, m, sec int
	parts := strings.Split(body, ":")
	for i, dst := range []*int{&h, &m, &sec} {
		if i < len(parts) {
			var ok bool
			if *dst, ok = smallInt(parts[i]); !ok {
				return 0, dateBad
			}
		}
	}
	if len(parts) > 3 {
		return 0, dateBad
	}
	if len(parts) == 1 && len(s) > 3 {
		h, m = h/100, h%100
	}
	if h > 15 || m > 59 || sec > 59 {
		return 0, dateZoneRange
	}
	off := int64(h*3600 + m*60 + sec)
	if s[0] == '-' {
		off = -off
	}
	return off, dateOK
}

// labelled decodes a number after a unit, as in y2001m02d04, J2451187 or T040506.
func (p *dateParser) labelled(s string, seen, unit int) (int, dateErr) {
	if unit == unitTime {
		got, e := p.runTogether(s, seen|hasDate)
		if e == dateOK && got != hasTime {
			e = dateBad
		}
		return got, e
	}
	head, frac, point := s, "", strings.IndexByte(s, '.')
	if point >= 0 {
		head, frac = s[:point], s[point:]
		if unit != unitJulian && unit != unitSecond {
			return 0, dateBad
		}
	}
	v, err := strconv.Atoi(head)
	if err != nil || v > math.MaxInt32 {
		return 0, dateOverflow
	}
	switch unit {
	case unitYear:
		p.year = v
		return hasYear, dateOK
	case unitMonth:
		if seen&hasMonth != 0 && seen&hasHour != 0 {
			p.min = v
			return hasMinute, dateOK
		}
		p.month = v
		return hasMonth, dateOK
	case unitDay:
		p.day = v
		return hasDay, dateOK
	case unitHour:
		p.hour = v
		return hasHour, dateOK
	case unitMinute:
		p.min = v
		return hasMinute, dateOK
	case unitSecond:
		p.sec = v
		if frac != "" {
			us, ok := parseFraction(frac)
			if !ok {
				return 0, dateBad
			}
			p.usec = us
		}
		return hasSecond, dateOK
	case unitJulian:
		return p.julianDay(v, frac)
	}
	return 0, dateBad
}

func (p *dateParser) julianDay(v int, frac string) (int, dateErr) {
	p.year, p.month, p.day = DaysToCivil(int64(v) - 2440588)
	p.julian = true
	if frac == "" {
		return hasDate, dateOK
	}
	f, err := strconv.ParseFloat("0"+frac, 64)
	if err != nil {
		return 0, dateBad
	}
	t := int64(f * float64(usecPerDay))
	c := toCivil(t)
	p.hour, p.min, p.sec, p.usec = c.hour, c.min, c.sec, c.usec
	return hasDate | hasTime, dateOK
}
