package types

import (
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones are known on machines without a zone database

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

const (
	usecPerSec  int64 = 1_000_000
	usecPerMin        = 60 * usecPerSec
	usecPerHour       = 60 * usecPerMin
	usecPerDay        = 24 * usecPerHour
	secPerDay   int64 = 86400
)

// Infinity and NegInfinity are the in-memory values of 'infinity' and
// '-infinity' of date, timestamp and timestamptz.
const (
	Infinity    int64 = math.MaxInt64
	NegInfinity int64 = math.MinInt64
)

// The ranges of PostgreSQL, from 4714-11-24 BC. A date ends before 5874898-01-01.
// A timestamp ends where 64 bits from 1970 do, in January of 294247, thirty
// years before PostgreSQL's end, which counts from 2000.
const (
	minDate      int64 = -2440588
	endDate      int64 = 2145042906
	minTimestamp       = minDate * usecPerDay
	maxTimestamp int64 = math.MaxInt64 - 1
)

// Days and microseconds from 1970-01-01 to 2000-01-01, where PostgreSQL's binary formats count from.
const (
	pgEpochDays  int64 = 10957
	pgEpochUsecs       = pgEpochDays * usecPerDay
)

// IsFiniteTime says whether a date or timestamp is neither infinity.
func IsFiniteTime(t int64) bool { return t != Infinity && t != NegInfinity }

// CivilToDays gives the days since 1970-01-01 of a date of the proleptic
// Gregorian calendar; year 0 is 1 BC. The day may lie outside the month.
func CivilToDays(year, month, day int) int64 {
	y := int64(year)
	if month <= 2 {
		y--
	}
	era := y / 400
	if y < 0 {
		era = (y - 399) / 400
	}
	yoe := y - era*400
	mp := int64(month+9) % 12
	doy := (153*mp+2)/5 + int64(day) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

// DaysToCivil is the inverse of CivilToDays.
func DaysToCivil(days int64) (year, month, day int) {
	z := days + 719468
	era := z / 146097
	if z < 0 {
		era = (z - 146096) / 146097
	}
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int(doy - (153*mp+2)/5 + 1)
	month = int(mp + 3)
	if month > 12 {
		month -= 12
	}
	y := yoe + era*400
	if month <= 2 {
		y++
	}
	return int(y), month, day
}

func isLeap(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

func daysInMonth(y, m int) int {
	switch m {
	case 2:
		if isLeap(y) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// civil is a broken-down timestamp. Year 0 is 1 BC.
type civil struct {
	year, month, day int
	hour, min, sec   int
	usec             int
}

func (c civil) timeOfDay() int64 {
	return int64(c.hour)*usecPerHour + int64(c.min)*usecPerMin + int64(c.sec)*usecPerSec + int64(c.usec)
}

// micros gives the timestamp; false when it is out of range.
func (c civil) micros() (int64, bool) {
	days := CivilToDays(c.year, c.month, c.day)
	if days < minDate || days > maxTimestamp/usecPerDay {
		return 0, false
	}
	tod := c.timeOfDay()
	if days*usecPerDay > maxTimestamp-tod {
		return 0, false
	}
	return days*usecPerDay + tod, true
}

// splitDay gives the day and the microseconds within it.
func splitDay(ts int64) (day, usec int64) {
	day = ts / usecPerDay
	usec = ts - day*usecPerDay
	if usec < 0 {
		day--
		usec += usecPerDay
	}
	return day, usec
}

func toCivil(ts int64) civil {
	day, usec := splitDay(ts)
	var c civil
	c.year, c.month, c.day = DaysToCivil(day)
	c.hour = int(usec / usecPerHour)
	c.min = int(usec / usecPerMin % 60)
	c.sec = int(usec / usecPerSec % 60)
	c.usec = int(usec % usecPerSec)
	return c
}

func floorSec(ts int64) int64 {
	s := ts / usecPerSec
	if ts%usecPerSec < 0 {
		s--
	}
	return s
}

// ZoneOffset gives the seconds east of UTC that hold in loc (nil: UTC) at an instant.
func ZoneOffset(ts int64, loc *time.Location) int64 {
	if loc == nil || loc == time.UTC {
		return 0
	}
	_, off := time.Unix(floorSec(ts), 0).In(loc).Zone()
	return int64(off)
}

// LocalOffset gives the seconds east of UTC that a local time of loc has. A
// local time that is skipped has the offset from before the change, one that
// occurs twice the offset from after it, as in PostgreSQL.
func LocalOffset(local int64, loc *time.Location) int64 {
	if loc == nil || loc == time.UTC {
		return 0
	}
	before, after := ZoneOffset(local-usecPerDay, loc), ZoneOffset(min(local, maxTimestamp-usecPerDay)+usecPerDay, loc)
	if before == after {
		return before
	}
	if ZoneOffset(local-after*usecPerSec, loc) == after {
		return after
	}
	return before
}

// ToLocal gives the timestamp without time zone that clocks in loc show at an
// instant: timestamptz AT TIME ZONE. Infinities stay.
func ToLocal(ts int64, loc *time.Location) int64 {
	if !IsFiniteTime(ts) {
		return ts
	}
	return ts + ZoneOffset(ts, loc)*usecPerSec
}

// FromLocal gives the instant at which clocks in loc show a timestamp:
// timestamp AT TIME ZONE. Infinities stay. Error: 22008.
func FromLocal(local int64, loc *time.Location) (int64, error) {
	if !IsFiniteTime(local) {
		return local, nil
	}
	off := LocalOffset(local, loc) * usecPerSec
	if off > 0 && local < minTimestamp+off || off < 0 && local > maxTimestamp+off {
		return 0, errTimestampRange()
	}
	return local - off, nil
}

func errTimestampRange() error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range")
}

func errDateRange() error { return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range") }

// DateToTimestamp gives midnight of a date. Error: 22008.
func DateToTimestamp(days int64) (int64, error) {
	if !IsFiniteTime(days) {
		return days, nil
	}
	if days > maxTimestamp/usecPerDay || days < minDate {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range for timestamp")
	}
	return days * usecPerDay, nil
}

// TimestampToDate gives the date of a timestamp without time zone.
func TimestampToDate(ts int64) int64 {
	if !IsFiniteTime(ts) {
		return ts
	}
	d, _ := splitDay(ts)
	return d
}

// TimestampTime gives the time of day of a timestamp without time zone.
func TimestampTime(ts int64) int64 {
	_, u := splitDay(ts)
	return u
}

// roundPrecision rounds microseconds half away from zero to the precision of a time type's modifier.
func roundPrecision(us int64, mod int32) int64 {
	if mod == 0 || mod > 6 || !IsFiniteTime(us) {
		return us
	}
	unit := int64(pow10u64[6-(mod-1)])
	if us >= 0 {
		return (us + unit/2) / unit * unit
	}
	return -((-us + unit/2) / unit * unit)
}

// Formatting

func append2(dst []byte, n int) []byte { return append(dst, byte('0'+n/10%10), byte('0'+n%10)) }

func appendFrac(dst []byte, usec int) []byte {
	if usec == 0 {
		return dst
	}
	dst = append(dst, '.')
	dst = appendPadded(dst, uint64(usec), 6)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

func appendYMD(dst []byte, y, m, d int) []byte {
	if y <= 0 {
		y = 1 - y
	}
	dst = appendPadded(dst, uint64(y), 4)
	dst = append2(append(dst, '-'), m)
	return append2(append(dst, '-'), d)
}

func appendInfinity(dst []byte, t int64) []byte {
	if t < 0 {
		dst = append(dst, '-')
	}
	return append(dst, "infinity"...)
}

// AppendDate appends a date in ISO form.
func AppendDate(dst []byte, days int64) []byte {
	if !IsFiniteTime(days) {
		return appendInfinity(dst, days)
	}
	y, m, d := DaysToCivil(days)
	dst = appendYMD(dst, y, m, d)
	if y <= 0 {
		dst = append(dst, " BC"...)
	}
	return dst
}

// AppendTime appends a time of day.
func AppendTime(dst []byte, usec int64) []byte {
	dst = append2(dst, int(usec/usecPerHour))
	dst = append2(append(dst, ':'), int(usec/usecPerMin%60))
	dst = append2(append(dst, ':'), int(usec/usecPerSec%60))
	return appendFrac(dst, int(usec%usecPerSec))
}

// AppendTimestamp appends a timestamp without time zone in ISO form, with sep
// between date and time.
func AppendTimestamp(dst []byte, ts int64, sep byte) []byte {
	if !IsFiniteTime(ts) {
		return appendInfinity(dst, ts)
	}
	return appendTimestamp(dst, ts, sep, nil)
}

// AppendTimestampTZ appends an instant as shown in loc (nil: UTC), with its offset.
func AppendTimestampTZ(dst []byte, ts int64, sep byte, loc *time.Location) []byte {
	if !IsFiniteTime(ts) {
		return appendInfinity(dst, ts)
	}
	off := ZoneOffset(ts, loc)
	return appendTimestamp(dst, ts+off*usecPerSec, sep, &off)
}

func appendTimestamp(dst []byte, local int64, sep byte, off *int64) []byte {
	day, usec := splitDay(local)
	y, m, d := DaysToCivil(day)
	dst = appendYMD(dst, y, m, d)
	dst = AppendTime(append(dst, sep), usec)
	if off != nil {
		dst = appendOffset(dst, *off, sep == 'T')
	}
	if y <= 0 {
		dst = append(dst, " BC"...)
	}
	return dst
}

// appendOffset appends +hh, +hh:mm or +hh:mm:ss, the shortest that is exact,
// but no shorter than minutes where asked (XML and JSON).
func appendOffset(dst []byte, off int64, minutes bool) []byte {
	if off < 0 {
		dst, off = append(dst, '-'), -off
	} else {
		dst = append(dst, '+')
	}
	dst = append2(dst, int(off/3600))
	if off%3600 != 0 || minutes {
		dst = append2(append(dst, ':'), int(off/60%60))
	}
	if off%60 != 0 {
		dst = append2(append(dst, ':'), int(off%60))
	}
	return dst
}

// Zones

var zoneTables = sync.OnceValues(func() (names map[string]string, abbrevs map[string]int) {
	names, abbrevs = map[string]string{}, map[string]int{}
	for _, n := range strings.Fields(zoneNames) {
		names[strings.ToLower(n)] = n
	}
	for _, a := range strings.Fields(zoneAbbrevs) {
		name, off, _ := strings.Cut(a, "=")
		abbrevs[name], _ = strconv.Atoi(off)
	}
	return names, abbrevs
})

var (
	zoneCache   sync.Map // name as given to *time.Location
	loadedZones sync.Map // canonical name to *time.Location
)

// ParseZone finds a time zone as AT TIME ZONE does: an abbreviation such as
// EST, a name such as Europe/Paris in any letter case, or a POSIX offset such
// as +3 or UTC+3, whose sign is, by that standard, west of Greenwich.
// Error: 22023.
func ParseZone(name string) (*time.Location, error) {
	if l, ok := zoneCache.Load(name); ok {
		return l.(*time.Location), nil
	}
	loc := findZone(name)
	if loc == nil {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "time zone \"%s\" not recognized", name)
	}
	// Only spellings that cannot be varied at will are kept, so the cache is bounded.
	if name == loc.String() || name == strings.ToUpper(name) {
		if names, abbrevs := zoneTables(); names[strings.ToLower(name)] != "" || abbrevs[strings.ToLower(name)] != 0 {
			zoneCache.Store(strings.Clone(name), loc)
		}
	}
	return loc, nil
}

func findZone(name string) *time.Location {
	names, abbrevs := zoneTables()
	lower := strings.ToLower(name)
	if lower == "utc" || lower == "gmt" || lower == "z" || lower == "zulu" {
		return time.UTC
	}
	if off, ok := abbrevs[lower]; ok {
		return time.FixedZone(strings.ToUpper(name), off)
	}
	return namedZone(names, name, lower)
}

// namedZone finds a full zone name or POSIX offset, not an abbreviation.
func namedZone(names map[string]string, name, lower string) *time.Location {
	if canon, ok := names[lower]; ok {
		if l, ok := loadedZones.Load(canon); ok {
			return l.(*time.Location)
		}
		if l, err := time.LoadLocation(canon); err == nil {
			loadedZones.Store(canon, l)
			return l
		}
	}
	i := 0
	for i < len(name) && isAlpha(name[i]) {
		i++
	}
	if i == len(name) || i == 1 || i == 2 || name[i] != '+' && name[i] != '-' && !isDigit(name[i]) {
		return nil
	}
	off, ok := parsePosixOffset(name[i:])
	if !ok {
		return nil
	}
	return time.FixedZone(name, -off)
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// parsePosixOffset reads [+-]hh[:mm[:ss]] into seconds.
func parsePosixOffset(s string) (int, bool) {
	sign := 1
	if s[0] == '+' || s[0] == '-' {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	total, unit := 0, 3600
	for i, part := range strings.Split(s, ":") {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil || i > 2 || i == 0 && n > 167 || i > 0 && n > 59 {
			return 0, false
		}
		total += int(n) * unit
		unit /= 60
	}
	return sign * total, true
}

// ParseZoneSetting finds a time zone as SET TimeZone does: a bare number is
// hours east of UTC, anything else as in ParseZone but for abbreviations.
// Error: 22023.
func ParseZoneSetting(s string) (*time.Location, error) {
	if h, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil && h >= -168 && h <= 168 {
		off := int(math.Round(h * 3600))
		name := appendOffset([]byte{'<'}, int64(off), false)
		name = appendOffset(append(name, '>'), int64(-off), false)
		return time.FixedZone(string(name), off), nil
	}
	names, _ := zoneTables()
	lower := strings.ToLower(s)
	if lower == "utc" || lower == "gmt" {
		return time.UTC, nil
	}
	if l := namedZone(names, s, lower); l != nil {
		return l, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"TimeZone\": \"%s\"", s)
}
