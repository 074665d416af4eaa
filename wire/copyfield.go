package wire

import (
	"math"
	"time"
	"unsafe"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// fieldParserFor picks the reader of a column's values. The plain forms of the common types are read here, straight
// into the vector; everything else, and everything wrong, is left to types.Parse.
func fieldParserFor(t types.Type, env *types.Env) fieldParser {
	general := func(v *batch.Vector, raw []byte) error {
		d, err := types.Parse(t, bytesString(raw), env)
		if err != nil {
			return err
		}
		v.AppendDatum(d)
		return nil
	}
	switch t.Kind {
	case types.Text:
		return parseTextField
	case types.Varchar:
		if t.Mod == 0 {
			return parseTextField
		}
	case types.Int2:
		return intParser(math.MaxInt16, general)
	case types.Int4:
		return intParser(math.MaxInt32, general)
	case types.Int8:
		return intParser(math.MaxInt64, general)
	case types.Date:
		return func(v *batch.Vector, raw []byte) error {
			if days, ok := plainDate(raw); ok && len(raw) == dateLen {
				v.AppendInt(days)
				return nil
			}
			return general(v, raw)
		}
	case types.Timestamp, types.TimestampTZ:
		if t.Mod == 0 && (t.Kind == types.Timestamp || isUTC(env)) {
			return func(v *batch.Vector, raw []byte) error {
				if micros, ok := plainTimestamp(raw); ok {
					v.AppendInt(micros)
					return nil
				}
				return general(v, raw)
			}
		}
	}
	return general
}

// bytesString gives b as a string without copying. It must not be kept: types.Parse copies what it returns.
func bytesString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// parseTextField appends text; the decoder has checked the line's encoding.
func parseTextField(v *batch.Vector, raw []byte) error {
	v.AppendBytes(raw)
	return nil
}

// intParser reads decimal digits with an optional minus, up to limit.
func intParser(limit int64, general fieldParser) fieldParser {
	return func(v *batch.Vector, raw []byte) error {
		x, ok := plainInt(raw)
		if !ok || x > limit || x < -limit {
			return general(v, raw)
		}
		v.AppendInt(x)
		return nil
	}
}

// plainInt reads up to 18 digits, which cannot overflow.
func plainInt(raw []byte) (int64, bool) {
	digits := raw
	if len(raw) > 0 && raw[0] == '-' {
		digits = raw[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	x := int64(0)
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return 0, false
		}
		x = x*10 + int64(c)
	}
	if len(digits) < len(raw) {
		x = -x
	}
	return x, true
}

const (
	dateLen   = len("2006-01-02")
	secondLen = len("2006-01-02 15:04:05")
)

// plainDate reads YYYY-MM-DD at the beginning of b, as days since 1970.
func plainDate(b []byte) (days int64, ok bool) {
	if len(b) < dateLen || b[4] != '-' || b[7] != '-' {
		return 0, false
	}
	y1, ok1 := twoDigits(b[0:])
	y2, ok2 := twoDigits(b[2:])
	m, ok3 := twoDigits(b[5:])
	d, ok4 := twoDigits(b[8:])
	y := y1*100 + y2
	if !(ok1 && ok2 && ok3 && ok4) || y < 1 || m < 1 || m > 12 || d < 1 || d > 28 && d > daysIn(y, m) {
		return 0, false
	}
	return daysFromCivil(y, m, d), true
}

// plainTimestamp reads YYYY-MM-DD HH:MM:SS with up to six digits behind a point, as microseconds since 1970.
func plainTimestamp(b []byte) (micros int64, ok bool) {
	if len(b) < secondLen || b[10] != ' ' && b[10] != 'T' || b[13] != ':' || b[16] != ':' {
		return 0, false
	}
	days, ok1 := plainDate(b)
	h, ok2 := twoDigits(b[11:])
	m, ok3 := twoDigits(b[14:])
	s, ok4 := twoDigits(b[17:])
	if !(ok1 && ok2 && ok3 && ok4) || h > 23 || m > 59 || s > 59 {
		return 0, false
	}
	fraction := int64(0)
	if len(b) > secondLen {
		digits := b[secondLen+1:]
		if b[secondLen] != '.' || len(digits) == 0 || len(digits) > 6 {
			return 0, false
		}
		for i := 0; i < 6; i++ {
			fraction *= 10
			if i < len(digits) {
				c := digits[i] - '0'
				if c > 9 {
					return 0, false
				}
				fraction += int64(c)
			}
		}
	}
	return (days*86400+h*3600+m*60+s)*1_000_000 + fraction, true
}

func twoDigits(b []byte) (int64, bool) {
	hi, lo := b[0]-'0', b[1]-'0'
	return int64(hi)*10 + int64(lo), hi <= 9 && lo <= 9
}

func daysIn(y, m int64) int64 {
	switch m {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// daysFromCivil counts days since 1970-01-01 in the Gregorian calendar, for years from 0: with the year beginning in
// March, the leap day comes last and the days before each month follow a straight line.
func daysFromCivil(y, m, d int64) int64 {
	if m <= 2 {
		y, m = y-1, m+12
	}
	return 365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + d - 1 - 719468
}

// isUTC says that times without a zone are UTC.
func isUTC(env *types.Env) bool { return env == nil || env.Location == nil || env.Location == time.UTC }
