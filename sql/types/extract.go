package types

import (
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// fieldUnit finds the unit that a field of extract or date_trunc names.
func fieldUnit(field string) (unit int, ok bool) {
	f := strings.ToLower(field)
	tok, ok := intervalTokens[f]
	if !ok || tok.kind != tokUnits {
		if tok, ok = dateTokens[f]; ok && tok.kind == tokReserved && tok.value == resEpoch {
			return unitEpoch, true
		}
	}
	return tok.value, ok && tok.kind == tokUnits
}

func errUnit(known bool, field string, k Kind) error {
	f, typ := strings.ToLower(field), Of(k).String()
	if known {
		return sqlerr.New(sqlerr.FeatureNotSupported, "unit \"%s\" not supported for type %s", f, typ)
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "unit \"%s\" not recognized for type %s", f, typ)
}

// truncUnit finds the unit that a field of date_trunc names.
func truncUnit(field string) (unit int, ok bool) {
	tok := intervalTokens[strings.ToLower(field)]
	return tok.value, tok.kind == tokUnits
}

// isoWeek gives the ISO 8601 year and week of a day.
func isoWeek(day int64) (year, week int) {
	y, _, _ := DaysToCivil(day)
	for _, c := range [...]int{y + 1, y, y - 1} {
		if start := isoYearStart(c); day >= start {
			return c, int(day-start)/7 + 1
		}
	}
	return y, 1
}

// isoYearStart gives the Monday of the week that holds January 4th.
func isoYearStart(year int) int64 {
	d := CivilToDays(year, 1, 4)
	return d - int64(isoWeekday(d)-1)
}

// isoWeekday gives 1 for Monday to 7 for Sunday; 1970-01-01 was a Thursday.
func isoWeekday(day int64) int {
	w := (day + 3) % 7
	if w < 0 {
		w += 7
	}
	return int(w) + 1
}

// shownYear gives the year as SQL counts it, without a year 0.
func shownYear(y int) int {
	if y <= 0 {
		return y - 1
	}
	return y
}

func decadeOf(y int) int {
	if y >= 0 {
		return y / 10
	}
	return -((8 - (y - 1)) / 10)
}

// periodOf gives the century (100) or millennium (1000) of a year.
func periodOf(y, n int) int {
	if y > 0 {
		return (y + n - 1) / n
	}
	return -((n - 1 - (y - 1)) / n)
}

// Extract gives a field of a date, time, timestamp, timestamptz (in loc) or
// interval as PostgreSQL's extract does, exactly. null: the field of an
// infinity that has none. Errors: 22023 for an unknown field, 0A000 for one
// that the type does not have.
func Extract(field string, k Kind, d Datum, loc *time.Location) (n Num, null bool, err error) {
	unit, ok := fieldUnit(field)
	if !ok {
		return n, false, errUnit(false, field, k)
	}
	switch k {
	case Interval:
		n, ok = extractInterval(unit, d)
	case Time:
		n, ok = extractTime(unit, d.I)
	case Date, Timestamp, TimestampTZ:
		if !IsFiniteTime(d.I) {
			return extractInfinity(field, unit, k, d.I < 0)
		}
		if k == Date {
			n, ok = extractDay(unit, d.I)
			if unit == unitEpoch {
				n, ok = FromInt64(d.I*secPerDay), true
			}
		} else {
			n, ok = extractTimestamp(unit, k, d.I, loc)
		}
	default:
		ok = false
	}
	if !ok {
		return n, false, errUnit(true, field, k)
	}
	return n, false, nil
}

// DatePart is Extract as PostgreSQL's date_part gives it: a double, with the
// time fields of a date being those of its midnight.
func DatePart(field string, k Kind, d Datum, loc *time.Location) (f float64, null bool, err error) {
	if k == Date {
		k = Timestamp
		if d.I, err = DateToTimestamp(d.I); err != nil {
			return 0, false, err
		}
	}
	n, null, err := Extract(field, k, d, loc)
	return n.ToFloat64(), null, err
}

func extractInfinity(field string, unit int, k Kind, negative bool) (Num, bool, error) {
	switch unit {
	case unitYear, unitDecade, unitCentury, unitMillennium, unitJulian, unitISOYear, unitEpoch:
		return Num{form: numInf, neg: negative}, false, nil
	}
	if _, ok := extractTimestamp(unit, TimestampTZ, 0, nil); !ok && k != Date {
		return Num{}, false, errUnit(true, field, k)
	}
	if _, ok := extractDay(unit, 0); !ok && k == Date {
		return Num{}, false, errUnit(true, field, k)
	}
	return Num{}, true, nil
}

func extractTimestamp(unit int, k Kind, ts int64, loc *time.Location) (Num, bool) {
	var off int64
	if k == TimestampTZ {
		off = ZoneOffset(ts, loc)
	}
	switch unit {
	case unitEpoch:
		return NumScaled(ts, 6), true
	case unitTZ:
		return FromInt64(off), k == TimestampTZ
	case unitTZHour:
		return FromInt64(off / 3600), k == TimestampTZ
	case unitTZMinute:
		return FromInt64(off % 3600 / 60), k == TimestampTZ
	}
	day, tod := splitDay(ts + off*usecPerSec)
	if unit == unitJulian {
		frac, _ := FromInt64(tod).Div(FromInt64(usecPerDay))
		return FromInt64(day + 2440588).Add(frac), true
	}
	if n, ok := extractDay(unit, day); ok {
		return n, true
	}
	return extractClock(unit, tod)
}

// extractDay gives the fields that depend on the day alone.
func extractDay(unit int, day int64) (Num, bool) {
	y, m, d := DaysToCivil(day)
	v := 0
	switch unit {
	case unitDay:
		v = d
	case unitMonth:
		v = m
	case unitQuarter:
		v = (m-1)/3 + 1
	case unitWeek:
		_, v = isoWeek(day)
	case unitYear:
		v = shownYear(y)
	case unitDecade:
		v = decadeOf(y)
	case unitCentury:
		v = periodOf(y, 100)
	case unitMillennium:
		v = periodOf(y, 1000)
	case unitJulian:
		v = int(day + 2440588)
	case unitISOYear:
		v, _ = isoWeek(day)
		v = shownYear(v)
	case unitDOW:
		v = isoWeekday(day) % 7
	case unitISODOW:
		v = isoWeekday(day)
	case unitDOY:
		v = int(day-CivilToDays(y, 1, 1)) + 1
	default:
		return Num{}, false
	}
	return FromInt64(int64(v)), true
}

// extractClock gives hours and below of a time of day or an interval's time.
func extractClock(unit int, us int64) (Num, bool) {
	switch unit {
	case unitMicrosecond:
		return FromInt64(us % usecPerMin), true
	case unitMillisecond:
		return NumScaled(us%usecPerMin, 3), true
	case unitSecond:
		return NumScaled(us%usecPerMin, 6), true
	case unitMinute:
		return FromInt64(us / usecPerMin % 60), true
	case unitHour:
		return FromInt64(us / usecPerHour), true
	}
	return Num{}, false
}

func extractTime(unit int, us int64) (Num, bool) {
	if unit == unitEpoch {
		return NumScaled(us, 6), true
	}
	return extractClock(unit, us)
}

func extractInterval(unit int, d Datum) (Num, bool) {
	months, days, us := IntervalParts(d.I, d.J)
	year, mon := int64(months/12), int64(months%12)
	switch unit {
	case unitDay:
		return FromInt64(int64(days)), true
	case unitMonth:
		return FromInt64(mon), true
	case unitQuarter:
		return FromInt64(mon/3 + 1), true
	case unitYear:
		return FromInt64(year), true
	case unitDecade:
		return FromInt64(year / 10), true
	case unitCentury:
		return FromInt64(year / 100), true
	case unitMillennium:
		return FromInt64(year / 1000), true
	case unitEpoch:
		// Years of 365.25 days, months of 30.
		secs := (1461*year + 120*mon + 4*int64(days)) * (secPerDay / 4)
		return NumScaled(secs, 0).Add(NumScaled(us, 6)), true
	}
	return extractClock(unit, us)
}

// DateTrunc cuts a timestamp (loc nil) or, in loc, a timestamptz down to a
// field. Infinities stay. Errors: 22023, 0A000, 22008.
func DateTrunc(field string, ts int64, loc *time.Location) (int64, error) {
	k := Timestamp
	if loc != nil {
		k = TimestampTZ
	}
	unit, ok := truncUnit(field)
	if !ok {
		return 0, errUnit(false, field, k)
	}
	if !IsFiniteTime(ts) {
		if _, known := truncLocal(unit, 0); !known {
			return 0, errUnit(true, field, k)
		}
		return ts, nil
	}
	off := ZoneOffset(ts, loc) * usecPerSec
	local, ok := truncLocal(unit, ts+off)
	if !ok {
		return 0, errUnit(true, field, k)
	}
	switch unit {
	case unitMicrosecond, unitMillisecond, unitSecond, unitMinute, unitHour:
		ts = local - off // within the hour the offset stays
	default:
		return FromLocal(local, loc)
	}
	if ts < minTimestamp {
		return 0, errTimestampRange()
	}
	return ts, nil
}

func truncLocal(unit int, ts int64) (int64, bool) {
	day, tod := splitDay(ts)
	floor := func(to int64) (int64, bool) { return ts - tod%to, true }
	switch unit {
	case unitMicrosecond:
		return ts, true
	case unitMillisecond:
		return floor(1000)
	case unitSecond:
		return floor(usecPerSec)
	case unitMinute:
		return floor(usecPerMin)
	case unitHour:
		return floor(usecPerHour)
	case unitDay:
		return floor(usecPerDay)
	case unitWeek:
		return (day - int64(isoWeekday(day)-1)) * usecPerDay, true
	}
	y, m, _ := DaysToCivil(day)
	switch unit {
	case unitMonth:
	case unitQuarter:
		m = (m-1)/3*3 + 1
	case unitYear:
		m = 1
	case unitDecade:
		m = 1
		if y > 0 {
			y = y / 10 * 10
		} else {
			y = -((8 - (y - 1)) / 10) * 10
		}
	case unitCentury:
		y, m = truncPeriod(y, 100), 1
	case unitMillennium:
		y, m = truncPeriod(y, 1000), 1
	default:
		return 0, false
	}
	return CivilToDays(y, m, 1) * usecPerDay, true
}

func truncPeriod(y, n int) int {
	if y > 0 {
		return (y+n-1)/n*n - (n - 1)
	}
	return -((n-1-(y-1))/n)*n + 1
}

// IntervalTrunc cuts an interval down to a field. Errors: 22023, 0A000.
func IntervalTrunc(field string, d Datum) (Datum, error) {
	unit, ok := truncUnit(field)
	if !ok {
		return d, errUnit(false, field, Interval)
	}
	months, days, us := IntervalParts(d.I, d.J)
	cut := func(n int32) { months, days, us = months/n*n, 0, 0 }
	switch unit {
	case unitMillennium:
		cut(12000)
	case unitCentury:
		cut(1200)
	case unitDecade:
		cut(120)
	case unitYear:
		cut(12)
	case unitQuarter:
		cut(3)
	case unitMonth:
		cut(1)
	case unitDay:
		us = 0
	case unitHour:
		us -= us % usecPerHour
	case unitMinute:
		us -= us % usecPerMin
	case unitSecond:
		us -= us % usecPerSec
	case unitMillisecond:
		us -= us % 1000
	case unitMicrosecond:
	default:
		err := errUnit(true, field, Interval)
		if unit == unitWeek {
			err.(*sqlerr.Error).Detail = "Months usually have fractional weeks."
		}
		return d, err
	}
	return IntervalDatum(months, days, us), nil
}
