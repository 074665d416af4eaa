package types

import (
	"math"
	"time"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

func errInterval() error { return sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range") }

func addOverflows(a, b int64) bool { return (a+b > a) != (b > 0) && b != 0 }

// TimestampAddInterval adds an interval to a timestamp (loc nil) or, in loc, to
// a timestamptz: months first, clamped to the end of the month, then days, both
// in local time, then the time part, which is exact. Infinities stay. Error: 22008.
func TimestampAddInterval(ts int64, d Datum, loc *time.Location) (int64, error) {
	if !IsFiniteTime(ts) {
		return ts, nil
	}
	months, days, us := IntervalParts(d.I, d.J)
	if months != 0 || days != 0 {
		local := ToLocal(ts, loc)
		day, tod := splitDay(local)
		if months != 0 {
			day = addMonths(day, int64(months))
			if months > 0 && days != 0 && loc != nil {
				// A local time that the month's step skips moves before days are added.
				var err error
				if local, err = dayTime(day, tod); err != nil {
					return 0, err
				}
				if ts, err = FromLocal(local, loc); err != nil {
					return 0, err
				}
				day, tod = splitDay(ToLocal(ts, loc))
			}
		}
		local, err := dayTime(day+int64(days), tod)
		if err != nil {
			return 0, err
		}
		if ts, err = FromLocal(local, loc); err != nil {
			return 0, err
		}
	}
	if addOverflows(ts, us) || ts+us < minTimestamp || ts+us > maxTimestamp {
		return 0, errTimestampRange()
	}
	return ts + us, nil
}

func dayTime(day, tod int64) (int64, error) {
	if day < minDate || day > maxTimestamp/usecPerDay || day*usecPerDay > maxTimestamp-tod {
		return 0, errTimestampRange()
	}
	return day*usecPerDay + tod, nil
}

// addMonths moves a day by months and clamps it to the end of the month.
func addMonths(day, months int64) int64 {
	y, m, d := DaysToCivil(day)
	n := int64(y)*12 + int64(m-1) + months
	y, m = floorDiv(int(n), 12), int(n-int64(floorDiv(int(n), 12))*12)+1
	return CivilToDays(y, m, min(d, daysInMonth(y, m)))
}

// TimestampSub gives a - b as an interval of days and time. Error: 22008.
func TimestampSub(a, b int64) (Datum, error) {
	if !IsFiniteTime(a) || !IsFiniteTime(b) {
		return Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "cannot subtract infinite timestamps")
	}
	if addOverflows(a, -b) {
		return Datum{}, errInterval()
	}
	return JustifyHours(Datum{I: a - b})
}

// DateSub gives a - b in days. Error: 22008.
func DateSub(a, b int64) (int64, error) {
	if !IsFiniteTime(a) || !IsFiniteTime(b) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "cannot subtract infinite dates")
	}
	return a - b, nil
}

// DateAdd gives a date moved by days. Infinities stay. Error: 22008.
func DateAdd(date, days int64) (int64, error) {
	if !IsFiniteTime(date) {
		return date, nil
	}
	if r := date + days; r >= minDate && r < endDate {
		return r, nil
	}
	return 0, errDateRange()
}

// TimeAddInterval moves a time of day by an interval's time part, around midnight.
func TimeAddInterval(t int64, d Datum) int64 {
	r := (t + d.I%usecPerDay) % usecPerDay
	if r < 0 {
		r += usecPerDay
	}
	return r
}

// Age gives a - b in years, months, days and time, PostgreSQL's age(a, b); in
// loc for timestamptz, nil for timestamp. Error: 22008 for infinities.
func Age(a, b int64, loc *time.Location) (Datum, error) {
	if !IsFiniteTime(a) || !IsFiniteTime(b) {
		return Datum{}, errTimestampRange()
	}
	x, y := toCivil(ToLocal(a, loc)), toCivil(ToLocal(b, loc))
	earlier := a < b
	hi, lo := x, y
	if earlier {
		hi, lo = y, x
	}
	us := hi.timeOfDay() - lo.timeOfDay()
	day, mon, year := hi.day-lo.day, hi.month-lo.month, hi.year-lo.year
	for us < 0 {
		us += usecPerDay
		day--
	}
	for day < 0 {
		day += daysInMonth(lo.year, lo.month)
		mon--
	}
	for mon < 0 {
		mon += 12
		year--
	}
	m := year*12 + mon
	if earlier {
		m, day, us = -m, -day, -us
	}
	return IntervalDatum(int32(m), int32(day), us), nil
}

// DateBin gives the start of the bin of a stride, counted from origin, that
// holds ts. Errors: 0A000 for strides with months, 22008.
func DateBin(stride Datum, ts, origin int64) (int64, error) {
	if !IsFiniteTime(ts) {
		return ts, nil
	}
	if !IsFiniteTime(origin) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "origin out of range")
	}
	months, days, us := IntervalParts(stride.I, stride.J)
	if months != 0 {
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "timestamps cannot be binned into intervals containing months or years")
	}
	w := int64(days) * usecPerDay
	if addOverflows(w, us) || days != 0 && w/usecPerDay != int64(days) {
		return 0, errInterval()
	}
	if w += us; w <= 0 {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "stride must be greater than zero")
	}
	if addOverflows(ts, -origin) {
		return 0, errInterval()
	}
	diff := ts - origin
	mod := diff % w
	if mod < 0 {
		mod += w
	}
	if addOverflows(ts, -mod) || ts-mod < minTimestamp {
		return 0, errTimestampRange()
	}
	return ts - mod, nil
}

// MakeDate makes a date from numbers; a negative year is BC. Error: 22008.
func MakeDate(year, month, day int) (int64, error) {
	y := year
	if y < 0 {
		y++
	}
	if year == 0 || month < 1 || month > 12 || day < 1 || day > daysInMonth(y, month) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date field value out of range: %d-%02d-%02d", year, month, day)
	}
	d := CivilToDays(y, month, day)
	if d < minDate || d >= endDate {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range: %d-%02d-%02d", year, month, day)
	}
	return d, nil
}

// MakeTime makes a time of day. Error: 22008.
func MakeTime(hour, min int, sec float64) (int64, error) {
	us := math.RoundToEven(sec * 1e6)
	bad := hour < 0 || min < 0 || min > 59 || hour > 24 || math.IsNaN(us) || us < 0 || us > 60e6 ||
		hour == 24 && (min > 0 || us > 0)
	if bad {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "time field value out of range: %d:%02d:%02g", hour, min, sec)
	}
	return int64(hour)*usecPerHour + int64(min)*usecPerMin + int64(us), nil
}

// MakeTimestamp makes a timestamp. Error: 22008.
func MakeTimestamp(year, month, day, hour, min int, sec float64) (int64, error) {
	d, err := MakeDate(year, month, day)
	if err != nil {
		return 0, err
	}
	t, err := MakeTime(hour, min, sec)
	if err != nil {
		return 0, err
	}
	return dayTime(d, t)
}

// MakeInterval makes an interval from its parts. Error: 22008.
func MakeInterval(years, months, weeks, days, hours, mins int, secs float64) (Datum, error) {
	us := math.RoundToEven(secs * 1e6)
	if math.IsNaN(us) || math.Abs(us) >= 1<<63 {
		return Datum{}, errInterval()
	}
	v := intervalSum{years: int64(years), months: int64(months), days: int64(weeks)*7 + int64(days)}
	v.add(&v.usec, int64(hours), usecPerHour)
	v.add(&v.usec, int64(mins), usecPerMin)
	v.add(&v.usec, int64(us), 1)
	return v.datum()
}

func (v *intervalSum) datum() (Datum, error) {
	months := v.years*12 + v.months
	if v.over || !isInt32(v.years) || !isInt32(months) || !isInt32(v.days) {
		return Datum{}, errInterval()
	}
	return IntervalDatum(int32(months), int32(v.days), v.usec), nil
}

// IntervalAdd gives a + b. Error: 22008.
func IntervalAdd(a, b Datum) (Datum, error) {
	am, ad, au := IntervalParts(a.I, a.J)
	bm, bd, bu := IntervalParts(b.I, b.J)
	v := intervalSum{months: int64(am) + int64(bm), days: int64(ad) + int64(bd), usec: au}
	v.add(&v.usec, bu, 1)
	return v.datum()
}

// IntervalNeg gives -a. Error: 22008.
func IntervalNeg(a Datum) (Datum, error) {
	m, d, us := IntervalParts(a.I, a.J)
	v := intervalSum{months: -int64(m), days: -int64(d), usec: -us, over: us == math.MinInt64}
	return v.datum()
}

// IntervalSub gives a - b. Error: 22008.
func IntervalSub(a, b Datum) (Datum, error) {
	n, err := IntervalNeg(b)
	if err != nil {
		return n, err
	}
	return IntervalAdd(a, n)
}

// IntervalMul gives an interval times a factor; fractions of months go to days
// at 30 a month, fractions of days to time. Error: 22008.
func IntervalMul(a Datum, factor float64) (Datum, error) {
	return intervalScale(a, func(x float64) float64 { return x * factor })
}

// IntervalDiv gives an interval divided by a factor. Errors: 22012, 22008.
func IntervalDiv(a Datum, factor float64) (Datum, error) {
	if factor == 0 {
		return Datum{}, errDivZero()
	}
	return intervalScale(a, func(x float64) float64 { return x / factor })
}

// usecRound rounds seconds or days to six places, which hides binary fractions.
func usecRound(x float64) float64 { return math.RoundToEven(x*1e6) / 1e6 }

func intervalScale(a Datum, scale func(float64) float64) (Datum, error) {
	months, days, us := IntervalParts(a.I, a.J)
	fm, fd := scale(float64(months)), scale(float64(days))
	if !(math.Abs(fm) < 1<<31) || !(math.Abs(fd) < 1<<31) {
		return Datum{}, errInterval()
	}
	m, d := math.Trunc(fm), math.Trunc(fd)
	restDays := usecRound((fm - m) * 30)
	whole := math.Trunc(restDays)
	restSecs := usecRound((fd - d + restDays - whole) * float64(secPerDay))
	if math.Abs(restSecs) >= float64(secPerDay) {
		carry := math.Trunc(restSecs / float64(secPerDay))
		d += carry
		restSecs -= carry * float64(secPerDay)
	}
	t := math.RoundToEven(scale(float64(us)) + float64(restSecs*1e6))
	if !(math.Abs(t) < 1<<63) {
		return Datum{}, errInterval()
	}
	v := intervalSum{months: int64(m), days: int64(d) + int64(whole), usec: int64(t)}
	return v.datum()
}

// JustifyHours turns 24 hours into a day. Error: 22008.
func JustifyHours(a Datum) (Datum, error) {
	m, d, us := IntervalParts(a.I, a.J)
	v := intervalSum{months: int64(m), days: int64(d) + us/usecPerDay, usec: us % usecPerDay}
	if v.days > 0 && v.usec < 0 {
		v.usec += usecPerDay
		v.days--
	} else if v.days < 0 && v.usec > 0 {
		v.usec -= usecPerDay
		v.days++
	}
	return v.datum()
}

// JustifyDays turns 30 days into a month. Error: 22008.
func JustifyDays(a Datum) (Datum, error) {
	m, d, us := IntervalParts(a.I, a.J)
	v := intervalSum{months: int64(m) + int64(d/30), days: int64(d % 30), usec: us}
	if v.months > 0 && v.days < 0 {
		v.days += 30
		v.months--
	} else if v.months < 0 && v.days > 0 {
		v.days -= 30
		v.months++
	}
	return v.datum()
}

// JustifyInterval applies JustifyHours and JustifyDays and brings all parts to
// one sign. Error: 22008.
func JustifyInterval(a Datum) (Datum, error) {
	m, d, us := IntervalParts(a.I, a.J)
	v := intervalSum{months: int64(m), days: int64(d) + us/usecPerDay, usec: us % usecPerDay}
	v.months += v.days / 30
	v.days %= 30
	if v.months > 0 && (v.days < 0 || v.days == 0 && v.usec < 0) {
		v.days += 30
		v.months--
	} else if v.months < 0 && (v.days > 0 || v.days == 0 && v.usec > 0) {
		v.days -= 30
		v.months++
	}
	if v.days > 0 && v.usec < 0 {
		v.usec += usecPerDay
		v.days--
	} else if v.days < 0 && v.usec > 0 {
		v.usec -= usecPerDay
		v.days++
	}
	return v.datum()
}
