package types

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// ToChar formats a timestamp, timestamptz, date, interval or number by a
// template as PostgreSQL's to_char does, with English names. null: PostgreSQL
// gives NULL, for an infinite time or an empty template for times. Errors:
// 22007 for a template that an interval cannot fill, 42601 for a malformed
// number template.
func ToChar(t Type, d Datum, format string, env *Env) (s string, null bool, err error) {
	if env == nil {
		env = defaultEnv
	}
	switch t.Kind {
	case Date:
		if !IsFiniteTime(d.I) || format == "" {
			return "", true, nil
		}
		ts, err := DateToTimestamp(d.I)
		if err != nil {
			return "", false, err
		}
		s, err = charTime(charFields(ts, nil), format)
		return s, false, err
	case Timestamp, TimestampTZ:
		if !IsFiniteTime(d.I) || format == "" {
			return "", true, nil
		}
		var loc *time.Location
		if t.Kind == TimestampTZ {
			if loc = env.Location; loc == nil {
				loc = time.UTC
			}
		}
		s, err = charTime(charFields(d.I, loc), format)
		return s, false, err
	case Interval:
		if format == "" {
			return "", true, nil
		}
		s, err = charTime(charInterval(d), format)
		return s, false, err
	case Int2, Int4, Int8:
		s, err = charNumber(FromInt64(d.I), format)
		return s, false, err
	case Numeric:
		s, err = charNumber(NumDecode(d.B), format)
		return s, false, err
	case Float4, Float8:
		s, err = charFloat(d.F, 15-9*boolInt(t.Kind == Float4), format)
		return s, false, err
	}
	return "", false, sqlerr.Unsupported("to_char of type %s is not implemented", t)
}

// charValues are the fields that a time template can show.
type charValues struct {
	civil
	hours    int64 // of an interval may exceed a day
	day0     int64 // days since 1970, of a timestamp
	yday     int
	interval bool
	zoned    bool
	off      int64
	abbrev   string
}

func charFields(ts int64, loc *time.Location) charValues {
	var v charValues
	if loc != nil {
		v.zoned, v.off = true, ZoneOffset(ts, loc)
		v.abbrev, _ = time.Unix(floorSec(ts), 0).In(loc).Zone()
		ts += v.off * usecPerSec
	}
	v.civil = toCivil(ts)
	v.hours = int64(v.hour)
	v.day0, _ = splitDay(ts)
	v.yday = int(v.day0-CivilToDays(v.year, 1, 1)) + 1
	return v
}

func charInterval(d Datum) charValues {
	m, days, us := IntervalParts(d.I, d.J)
	v := charValues{interval: true, hours: us / usecPerHour}
	v.year, v.month, v.day = int(m/12), int(m%12), int(days)
	v.min, v.sec, v.usec = int(us/usecPerMin%60), int(us/usecPerSec%60), int(us%usecPerSec)
	v.yday = (v.year*12+v.month)*30 + v.day
	return v
}

var (
	monthNames = strings.Fields("January February March April May June July August September October November December")
	dayNames   = strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday")
	romanMonth = strings.Fields("I II III IV V VI VII VIII IX X XI XII")
)

func charTime(v charValues, format string) (string, error) {
	var b strings.Builder
	b.Grow(len(format) + 8)
	for _, n := range parsePattern(format, false) {
		if n.id == "" {
			b.WriteString(n.text)
			continue
		}
		s, number, err := v.field(n)
		if err != nil {
			return "", err
		}
		b.WriteString(s)
		if number && n.ordinal != 0 {
			b.WriteString(ordinalSuffix(s, n.ordinal))
		}
	}
	return b.String(), nil
}

// cased gives a name in the letter case of the keyword, padded unless FM.
func cased(n patternNode, name string, width int) string {
	switch {
	case n.id[0] >= 'a':
		name = strings.ToLower(name)
	case n.id[1] < 'a':
		name = strings.ToUpper(name)
	}
	if n.fill || n.local {
		width = 0
	}
	return fmt.Sprintf("%-*s", width, name)
}

// digits gives a number with leading zeros unless FM; a sign widens it.
func digits(n patternNode, x int64, width int) string {
	return digitsFixed(n, x, width+boolInt(x < 0))
}

// digitsFixed is digits for the keywords whose width includes a sign.
func digitsFixed(n patternNode, x int64, width int) string {
	if n.fill {
		width = 0
	}
	var b [24]byte
	if x < 0 {
		return string(appendPadded(append(b[:0], '-'), -uint64(x), max(width-1, 1)))
	}
	return string(appendPadded(b[:0], uint64(x), max(width, 1)))
}

func (v *charValues) weekday() int { return isoWeekday(v.day0) }

// field gives the text of one keyword and whether TH applies to it.
func (v *charValues) field(n patternNode) (s string, number bool, err error) {
	switch n.id {
	case "A.M.", "P.M.", "AM", "PM", "a.m.", "p.m.", "am", "pm":
		pm := v.hours%24 >= 12
		return halfName(n.id, pm, "AM", "PM"), false, nil
	case "HH", "HH12":
		h := v.hours % 12
		if h == 0 {
			h = 12
		}
		return digits(n, h, 2), true, nil
	case "HH24":
		return digits(n, v.hours, 2), true, nil
	case "MI":
		return digits(n, int64(v.min), 2), true, nil
	case "SS":
		return digits(n, int64(v.sec), 2), true, nil
	case "MS":
		return digitsFixed(patternNode{}, int64(v.usec/1000), 3), true, nil
	case "US":
		return digitsFixed(patternNode{}, int64(v.usec), 6), true, nil
	case "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		p := int(n.id[2] - '0')
		return digitsFixed(patternNode{}, int64(v.usec)/int64(pow10u64[6-p]), p), true, nil
	case "SSSS", "SSSSS":
		return fmt.Sprint(v.hours*3600 + int64(v.min)*60 + int64(v.sec)), true, nil
	case "DDD":
		return digitsFixed(n, int64(v.yday), 3), true, nil
	case "DD":
		return digitsFixed(n, int64(v.day), 2), true, nil
	case "MM":
		return digits(n, int64(v.month), 2), true, nil
	case "WW":
		return digits(n, int64((v.yday-1)/7+1), 2), true, nil
	case "W":
		return fmt.Sprint((v.day-1)/7 + 1), true, nil
	case "Q":
		if v.month == 0 {
			return "", false, nil
		}
		return fmt.Sprint((v.month-1)/3 + 1), true, nil
	case "RM", "rm":
		return v.roman(n), false, nil
	case "FX":
		return "", false, nil
	}
	if s, ok := v.yearField(n); ok {
		return s, true, nil
	}
	if v.interval {
		if n.id == "J" {
			return fmt.Sprint(intervalJulian(v)), true, nil
		}
		return "", false, sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid format specification for an interval value").
			WithHint("Intervals are not tied to specific calendar dates.")
	}
	return v.calendarField(n)
}

// intervalJulian is what PostgreSQL's J gives for the fields of an interval read as a date.
func intervalJulian(v *charValues) int64 {
	y, m := int64(v.year), int64(v.month)
	if m > 2 {
		m, y = m+1, y+4800
	} else {
		m, y = m+13, y+4799
	}
	c := y / 100
	return y*365 - 32167 + y/4 - c + c/4 + 7834*m/256 + int64(v.day)
}

func halfName(id string, second bool, a, b string) string {
	s := a
	if second {
		s = b
	}
	if strings.Contains(id, ".") {
		s = s[:1] + "." + s[1:] + "."
	}
	if id[0] >= 'a' {
		s = strings.ToLower(s)
	}
	return s
}

func (v *charValues) roman(n patternNode) string {
	m := v.month
	if m == 0 && v.year == 0 {
		return ""
	}
	// An interval's month 0 is a whole year, negative months count from the end.
	switch {
	case m < 0:
		m = 13 + m
	case m == 0 && v.year > 0:
		m = 12
	case m == 0:
		m = 1
	}
	s := romanMonth[m-1]
	if n.id == "rm" {
		s = strings.ToLower(s)
	}
	if n.fill {
		return s
	}
	return fmt.Sprintf("%-4s", s)
}

// yearField gives the keywords about years; those of ISO years need a calendar.
func (v *charValues) yearField(n patternNode) (string, bool) {
	y := int64(v.year)
	id := n.id
	if strings.HasPrefix(id, "IY") || id == "I" {
		if v.interval {
			return "", false
		}
		iy, _ := isoWeek(v.day0)
		y, id = int64(iy), strings.Replace(id, "I", "Y", 1)
		if id == "Y" && n.id != "I" {
			id = "YY"
		}
		id = strings.Repeat("Y", len(n.id))
	}
	if !v.interval && y <= 0 {
		y = 1 - y
	}
	switch id {
	case "Y,YYY":
		return fmt.Sprintf("%d,%03d", y/1000, y%1000), true
	case "YYYY":
		return digits(n, y, 4), true
	case "YYY":
		return digits(n, y%1000, 3), true
	case "YY":
		return digits(n, y%100, 2), true
	case "Y":
		return digits(n, y%10, 1), true
	case "CC":
		c := int64(v.year)
		switch {
		case v.interval:
			c /= 100
		case c > 0:
			c = (c-1)/100 + 1
		default:
			c = c/100 - 1
		}
		return digits(n, c, 2), true
	}
	return "", false
}

// calendarField gives the keywords that need a calendar day.
func (v *charValues) calendarField(n patternNode) (s string, number bool, err error) {
	switch n.id {
	case "AD", "BC", "A.D.", "B.C.", "ad", "bc", "a.d.", "b.c.":
		return halfName(n.id, v.year <= 0, "AD", "BC"), false, nil
	case "MONTH", "Month", "month":
		return cased(n, monthNames[v.month-1], 9), false, nil
	case "MON", "Mon", "mon":
		return cased(n, monthNames[v.month-1][:3], 0), false, nil
	case "DAY", "Day", "day":
		return cased(n, dayNames[v.weekday()%7], 9), false, nil
	case "DY", "Dy", "dy":
		return cased(n, dayNames[v.weekday()%7][:3], 0), false, nil
	case "D":
		return fmt.Sprint(v.weekday()%7 + 1), true, nil
	case "ID":
		return fmt.Sprint(v.weekday()), true, nil
	case "IDDD":
		iy, _ := isoWeek(v.day0)
		return digits(n, v.day0-isoYearStart(iy)+1, 3), true, nil
	case "IW":
		_, w := isoWeek(v.day0)
		return digits(n, int64(w), 2), true, nil
	case "J":
		return fmt.Sprint(v.day0 + 2440588), true, nil
	case "TZ", "tz":
		if !v.zoned {
			return "", false, nil
		}
		if n.id == "tz" {
			return strings.ToLower(v.abbrev), false, nil
		}
		return v.abbrev, false, nil
	case "OF", "TZH", "TZM":
		h, m := abs(v.off/3600), abs(v.off/60%60)
		sign := "+"
		if v.off < 0 {
			sign = "-"
		}
		switch {
		case n.id == "TZM":
			return fmt.Sprintf("%02d", m), false, nil
		case n.id == "OF" && m != 0:
			return fmt.Sprintf("%s%02d:%02d", sign, h, m), false, nil
		case n.id == "OF" && n.fill:
			return fmt.Sprintf("%s%d", sign, h), false, nil
		}
		return fmt.Sprintf("%s%02d", sign, h), false, nil
	}
	return "", false, nil
}
