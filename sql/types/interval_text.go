package types

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// intervalSum accumulates the parts of interval input with overflow checks.
type intervalSum struct {
	years, months, days, usec int64
	over                      bool
}

func (v *intervalSum) add(dst *int64, val, scale int64) {
	p := val * scale
	if val != 0 && (p/val != scale || val == -1 && scale == math.MinInt64) {
		v.over = true
	}
	sum := *dst + p
	if (sum > *dst) != (p > 0) && p != 0 {
		v.over = true
	}
	*dst = sum
}

func (v *intervalSum) fracUsec(frac float64, scale int64) {
	if frac == 0 {
		return
	}
	frac *= float64(scale)
	us := int64(frac)
	frac -= float64(us)
	if frac > 0.5 {
		us++
	} else if frac < -0.5 {
		us--
	}
	v.add(&v.usec, us, 1)
}

func (v *intervalSum) fracDays(frac float64, scale int) {
	if frac == 0 {
		return
	}
	frac *= float64(scale)
	days := int64(frac)
	v.add(&v.days, days, 1)
	v.fracUsec(frac-float64(days), usecPerDay)
}

func (v *intervalSum) fracYears(frac float64, years int) {
	v.add(&v.months, int64(math.RoundToEven(frac*float64(years)*12)), 1)
}

// unit adds val + frac of a unit; false for a unit that intervals do not have.
func (v *intervalSum) unit(unit int, val int64, frac float64) bool {
	switch unit {
	case unitMicrosecond:
		v.add(&v.usec, val, 1)
		v.fracUsec(frac, 1)
	case unitMillisecond:
		v.add(&v.usec, val, 1000)
		v.fracUsec(frac, 1000)
	case unitSecond:
		v.add(&v.usec, val, usecPerSec)
		v.fracUsec(frac, usecPerSec)
	case unitMinute:
		v.add(&v.usec, val, usecPerMin)
		v.fracUsec(frac, usecPerMin)
	case unitHour:
		v.add(&v.usec, val, usecPerHour)
		v.fracUsec(frac, usecPerHour)
	case unitDay:
		v.add(&v.days, val, 1)
		v.fracUsec(frac, usecPerDay)
	case unitWeek:
		v.add(&v.days, val, 7)
		v.fracDays(frac, 7)
	case unitMonth:
		v.add(&v.months, val, 1)
		v.fracDays(frac, 30)
	case unitYear:
		v.add(&v.years, val, 1)
		v.fracYears(frac, 1)
	case unitDecade:
		v.add(&v.years, val, 10)
		v.fracYears(frac, 10)
	case unitCentury:
		v.add(&v.years, val, 100)
		v.fracYears(frac, 100)
	case unitMillennium:
		v.add(&v.years, val, 1000)
		v.fracYears(frac, 1000)
	default:
		return false
	}
	return true
}

func isInt32(i int64) bool { return i == int64(int32(i)) }

func parseInterval(s string, env *Env) (Datum, error) {
	var buf [maxDateFields]dateField
	var v intervalSum
	e := dateBad
	if fields, ok := splitDateTime(s, &buf); ok && len(fields) > 0 {
		e = v.decode(fields, env.IntervalStyle == "sql_standard")
	}
	if e == dateBad {
		v = intervalSum{}
		e = v.decodeISO(s)
	}
	switch {
	case e == dateBad:
		return Datum{}, e.error("interval", s, "")
	case e != dateOK || v.over:
		return Datum{}, sqlerr.New(sqlerr.IntervalFieldOverflow, "interval field value out of range: \"%s\"", s)
	case !isInt32(v.years) || !isInt32(v.months) || !isInt32(v.days):
		return Datum{}, sqlerr.New(sqlerr.IntervalFieldOverflow, "interval field value out of range: \"%s\"", s)
	}
	return v.datum()
}

// decode reads the fields from the right, so that a unit is known before its number.
func (v *intervalSum) decode(fields []dateField, sqlStandard bool) dateErr {
	var seen uint64
	unit, ago := -1, false
	negative := sqlStandard && fields[0].text[0] == '-'
	if negative {
		for _, f := range fields[1:] {
			if f.text[0] == '-' || f.text[0] == '+' {
				negative = false // signs are explicit
			}
		}
	}
	for i := len(fields) - 1; i >= 0; i-- {
		f := fields[i]
		var mask uint64
		switch f.kind {
		case fieldTime, fieldZone:
			text, neg := f.text, negative
			if f.kind == fieldZone {
				if strings.IndexByte(text[1:], ':') < 0 {
					m, e := v.number(f.text, &unit, negative)
					if e != dateOK {
						return e
					}
					mask = m
					break
				}
				neg = text[0] == '-' || negative
				text = text[1:]
			}
			h, m, sec, us, e := parseClock(text)
			if e != dateOK {
				return e
			}
			var t intervalSum
			t.add(&t.usec, h, usecPerHour)
			t.add(&t.usec, int64(m)*usecPerMin+int64(sec)*usecPerSec+int64(us), 1)
			if neg {
				t.usec = -t.usec
			}
			v.over = v.over || t.over
			v.add(&v.usec, t.usec, 1)
			mask = 1<<unitHour | 1<<unitMinute | 1<<unitSecond | 1<<unitMillisecond | 1<<unitMicrosecond
			unit = unitDay
		case fieldDate, fieldNumber:
			m, e := v.number(f.text, &unit, negative)
			if e != dateOK {
				return e
			}
			mask = m
		default:
			tok, ok := intervalTokens[f.text]
			if !ok {
				return dateBad
			}
			switch tok.kind {
			case tokIgnore:
				continue
			case tokAgo:
				ago = true
				unit = -2
				continue
			}
			unit = tok.value
			continue
		}
		if mask&seen != 0 {
			return dateBad
		}
		seen |= mask
	}
	if seen == 0 {
		return dateBad
	}
	if ago {
		v.years, v.months, v.days, v.usec = -v.years, -v.months, -v.days, -v.usec
	}
	return dateOK
}

// number adds one number in the unit to its right, seconds if there is none.
func (v *intervalSum) number(s string, unit *int, negative bool) (mask uint64, e dateErr) {
	if *unit == -2 {
		return 0, dateBad
	}
	if *unit == -1 {
		*unit = unitSecond
	}
	end := skip(s, boolInt(s[0] == '-' || s[0] == '+'), isDigit)
	val := int64(0)
	if end > boolInt(s[0] == '-' || s[0] == '+') {
		var err error
		if val, err = strconv.ParseInt(s[:end], 10, 64); err != nil {
			return 0, dateOverflow
		}
	}
	frac := 0.0
	switch rest := s[end:]; {
	case rest == "":
	case rest[0] == '-': // years-months
		m, ok := smallInt(rest[1:])
		if !ok {
			return 0, dateBad
		}
		if m >= 12 || val > math.MaxInt32 || val < math.MinInt32 {
			return 0, dateOverflow
		}
		*unit = unitMonth
		if s[0] == '-' {
			m = -m
		}
		val = val*12 + int64(m)
	case rest[0] == '.':
		if skip(rest, 1, isDigit) != len(rest) {
			return 0, dateBad
		}
		if rest != "." {
			frac, _ = strconv.ParseFloat("0"+rest, 64)
		}
		if s[0] == '-' {
			frac = -frac
		}
	default:
		return 0, dateBad
	}
	if negative && s[0] != '-' {
		val, frac = -val, -frac
	}
	if !v.unit(*unit, val, frac) {
		return 0, dateBad
	}
	mask = 1 << *unit
	if *unit == unitSecond && frac != 0 {
		mask |= 1<<unitMillisecond | 1<<unitMicrosecond
	}
	return mask, dateOK
}

// decodeISO reads ISO 8601 durations, with designators (P1Y2M3DT4H5M6S) or in
// the alternative forms (P0001-02-03T04:05:06, P00010203T040506).
func (v *intervalSum) decodeISO(s string) dateErr {
	if len(s) < 2 || s[0] != 'P' {
		return dateBad
	}
	s = s[1:]
	date, some := true, false
	dateUnits := map[byte]int{'Y': unitYear, 'M': unitMonth, 'W': unitWeek, 'D': unitDay}
	timeUnits := map[byte]int{'H': unitHour, 'M': unitMinute, 'S': unitSecond}
	for s != "" {
		if s[0] == 'T' {
			date, some, s = false, false, s[1:]
			continue
		}
		val, frac, digits, rest, e := isoNumber(s)
		if e != dateOK {
			return e
		}
		units, basic, sep := dateUnits, 8, byte('-')
		if !date {
			units, basic, sep = timeUnits, 6, ':'
		}
		if rest != "" {
			if u, ok := units[rest[0]]; ok {
				v.unit(u, val, frac)
				some, s = true, rest[1:]
				continue
			}
		}
		switch {
		case (rest == "" || date && rest[0] == 'T') && digits == basic && !some:
			v.isoBasic(date, val, frac)
			s = rest
		case some:
			return dateBad
		case rest == "" || rest[0] == sep || date && rest[0] == 'T':
			if s, e = v.isoExtended(date, val, frac, rest, sep); e != dateOK {
				return e
			}
		default:
			return dateBad
		}
		some = false
	}
	return dateOK
}

func (v *intervalSum) isoBasic(date bool, val int64, frac float64) {
	if date {
		v.unit(unitYear, val/10000, 0)
		v.unit(unitMonth, val/100%100, 0)
		v.unit(unitDay, val%100, frac)
		return
	}
	v.unit(unitHour, val/10000, 0)
	v.unit(unitMinute, val/100%100, 0)
	v.unit(unitSecond, val%100, frac)
}

// isoExtended reads the rest of yyyy-mm-dd or hh:mm:ss after its first number.
func (v *intervalSum) isoExtended(date bool, val int64, frac float64, rest string, sep byte) (string, dateErr) {
	units := []int{unitYear, unitMonth, unitDay}
	if !date {
		units = []int{unitHour, unitMinute, unitSecond}
	}
	for i, u := range units {
		v.unit(u, val, frac)
		if rest == "" || date && rest[0] == 'T' {
			return rest, dateOK
		}
		if i == 2 || rest[0] != sep {
			return "", dateBad
		}
		var e dateErr
		if val, frac, _, rest, e = isoNumber(rest[1:]); e != dateOK {
			return "", e
		}
	}
	return rest, dateBad
}

// isoNumber reads a signed decimal and gives its integer and fractional parts,
// the number of integer digits, and what follows.
func isoNumber(s string) (val int64, frac float64, digits int, rest string, e dateErr) {
	i := 0
	if s != "" && s[0] == '-' {
		i = 1
	}
	start := i
	i = skip(s, i, isDigit)
	digits = i - start
	if i < len(s) && s[i] == '.' {
		i = skip(s, i+1, isDigit)
	}
	if i == start || digits == 0 && i == start+1 {
		return 0, 0, 0, "", dateBad
	}
	f, err := strconv.ParseFloat(s[:i], 64)
	if err != nil || math.Abs(f) >= 1<<63 {
		return 0, 0, 0, "", dateOverflow
	}
	val = int64(f)
	return val, f - float64(val), digits, s[i:], dateOK
}

func appendInterval(dst []byte, d Datum, style string) []byte {
	m, days, us := IntervalParts(d.I, d.J)
	w := intervalWriter{dst: dst, years: int(m / 12), months: int(m % 12), days: int(days), usec: us}
	switch style {
	case "sql_standard":
		w.sqlStandard()
	case "iso_8601":
		w.iso()
	case "postgres_verbose":
		w.verbose()
	default:
		w.postgres()
	}
	return w.dst
}

type intervalWriter struct {
	dst                 []byte
	years, months, days int
	usec                int64
}

// clock gives hours, minutes and seconds, each with the sign of the time part.
func (w *intervalWriter) clock() (h int64, m, s, us int) {
	return w.usec / usecPerHour, int(w.usec / usecPerMin % 60), int(w.usec / usecPerSec % 60), int(w.usec % usecPerSec)
}

func abs[T int | int64](x T) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func (w *intervalWriter) str(s string) { w.dst = append(w.dst, s...) }
func (w *intervalWriter) int(i int64)  { w.dst = strconv.AppendInt(w.dst, i, 10) }

// hms appends [-+]hh:mm:ss[.ffffff] without sign.
func (w *intervalWriter) hms(hourWidth int) {
	h, m, s, us := w.clock()
	w.dst = appendPadded(w.dst, abs(h), hourWidth)
	w.dst = append2(append(w.dst, ':'), int(abs(m)))
	w.dst = append2(append(w.dst, ':'), int(abs(s)))
	w.dst = appendFrac(w.dst, int(abs(us)))
}

func (w *intervalWriter) postgres() {
	zero, neg := true, false
	part := func(v int, unit string) {
		if v == 0 {
			return
		}
		if !zero {
			w.str(" ")
			if neg && v > 0 {
				w.str("+")
			}
		}
		w.int(int64(v))
		w.str(" " + unit)
		if v != 1 {
			w.str("s")
		}
		zero, neg = false, v < 0
	}
	part(w.years, "year")
	part(w.months, "mon")
	part(w.days, "day")
	if !zero && w.usec == 0 {
		return
	}
	if !zero {
		w.str(" ")
	}
	if w.usec < 0 {
		w.str("-")
	} else if neg {
		w.str("+")
	}
	w.hms(2)
}

func (w *intervalWriter) verbose() {
	zero, neg := true, false
	part := func(v int64, unit string) {
		if v == 0 {
			return
		}
		w.str(" ")
		if zero {
			neg = v < 0
			v = int64(abs(v))
		} else if neg {
			v = -v
		}
		w.int(v)
		w.str(" " + unit)
		if v != 1 {
			w.str("s")
		}
		zero = false
	}
	w.str("@")
	h, m, s, us := w.clock()
	part(int64(w.years), "year")
	part(int64(w.months), "mon")
	part(int64(w.days), "day")
	part(h, "hour")
	part(int64(m), "min")
	if s != 0 || us != 0 {
		w.str(" ")
		if s < 0 || us < 0 {
			if zero {
				neg = true
			} else if !neg {
				w.str("-")
			}
		} else if neg {
			w.str("-")
		}
		w.dst = strconv.AppendUint(w.dst, abs(s), 10)
		w.dst = appendFrac(w.dst, int(abs(us)))
		w.str(" sec")
		if abs(s) != 1 || us != 0 {
			w.str("s")
		}
		zero = false
	}
	if zero {
		w.str(" 0")
	}
	if neg {
		w.str(" ago")
	}
}

func (w *intervalWriter) iso() {
	h, m, s, us := w.clock()
	if w.years == 0 && w.months == 0 && w.days == 0 && w.usec == 0 {
		w.str("PT0S")
		return
	}
	part := func(v int64, unit string) {
		if v != 0 {
			w.int(v)
			w.str(unit)
		}
	}
	w.str("P")
	part(int64(w.years), "Y")
	part(int64(w.months), "M")
	part(int64(w.days), "D")
	if w.usec == 0 {
		return
	}
	w.str("T")
	part(h, "H")
	part(int64(m), "M")
	if s != 0 || us != 0 {
		if s < 0 || us < 0 {
			w.str("-")
		}
		w.dst = strconv.AppendUint(w.dst, abs(s), 10)
		w.dst = appendFrac(w.dst, int(abs(us)))
		w.str("S")
	}
}

func (w *intervalWriter) sqlStandard() {
	neg := w.years < 0 || w.months < 0 || w.days < 0 || w.usec < 0
	pos := w.years > 0 || w.months > 0 || w.days > 0 || w.usec > 0
	ym := w.years != 0 || w.months != 0
	dt := w.days != 0 || w.usec != 0
	if !neg && !pos {
		w.str("0")
		return
	}
	if neg && pos || ym && w.days != 0 || ym && dt {
		// The standard has no form for it: explicit signs for every part.
		sign := func(negative bool) {
			if negative {
				w.str("-")
			} else {
				w.str("+")
			}
		}
		sign(w.years < 0 || w.months < 0)
		w.dst = strconv.AppendUint(w.dst, abs(w.years), 10)
		w.dst = strconv.AppendUint(append(w.dst, '-'), abs(w.months), 10)
		w.str(" ")
		sign(w.days < 0)
		w.dst = strconv.AppendUint(w.dst, abs(w.days), 10)
		w.str(" ")
		sign(w.usec < 0)
		w.hms(1)
		return
	}
	if neg {
		w.str("-")
	}
	switch {
	case ym:
		w.dst = strconv.AppendUint(w.dst, abs(w.years), 10)
		w.dst = strconv.AppendUint(append(w.dst, '-'), abs(w.months), 10)
	case w.days != 0:
		w.dst = strconv.AppendUint(w.dst, abs(w.days), 10)
		w.str(" ")
		w.hms(1)
	default:
		w.hms(1)
	}
}
