package file

import (
	"math"
	"unicode/utf8"
	"unsafe"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// fieldOp is how the text of a field becomes a value. All but opParse are short cuts for what types.Parse gives, and leave to it whatever
// does not have the usual form.
type fieldOp uint8

const (
	opParse fieldOp = iota // types.Parse
	opInt
	opFloat
	opText
	opBool
	opTime // timestamp and timestamptz
)

// field is one column of the stream as decoders see it.
type field struct {
	name    string
	typ     types.Type
	op      fieldOp
	notNull bool
	isJSON  bool
	lo, hi  int64 // of opInt
	// Of opTime: the minute of the value before, up to its second colon, and its microseconds. Times come mostly in order.
	minute [17]byte
	base   int64
}

func newFields(cols []catalog.Column) []field {
	out := make([]field, len(cols))
	for i, c := range cols {
		out[i] = field{name: c.Name, typ: c.Type, notNull: c.NotNull, isJSON: c.Type.Kind == types.JSON || c.Type.Kind == types.JSONB}
		f := &out[i]
		switch c.Type.Kind {
		case types.Int2:
			f.op, f.lo, f.hi = opInt, math.MinInt16, math.MaxInt16
		case types.Int4:
			f.op, f.lo, f.hi = opInt, math.MinInt32, math.MaxInt32
		case types.Int8:
			f.op, f.lo, f.hi = opInt, math.MinInt64, math.MaxInt64
		case types.Float8:
			f.op = opFloat
		case types.Text:
			f.op = opText
		case types.Bool:
			f.op = opBool
		case types.Timestamp, types.TimestampTZ:
			if c.Type.Mod == 0 {
				f.op = opTime
			}
		}
	}
	return out
}

var parseEnv = types.DefaultEnv()

// append adds the value of a field's text to v.
func (f *field) append(v *batch.Vector, b []byte) error {
	switch f.op {
	case opInt:
		if x, ok := parseInt(b); ok && x >= f.lo && x <= f.hi {
			v.AppendInt(x)
			return nil
		}
	case opFloat:
		if x, ok := parseFloat(b); ok {
			v.AppendFloat(x)
			return nil
		}
	case opText:
		if validText(b) {
			v.AppendBytes(b)
			return nil
		}
	case opBool:
		switch string(b) {
		case "true", "t":
			v.AppendInt(1)
			return nil
		case "false", "f":
			v.AppendInt(0)
			return nil
		}
	case opTime:
		if x, ok := f.time(b); ok {
			v.AppendInt(x)
			return nil
		}
	}
	d, err := types.Parse(f.typ, string(b), parseEnv)
	if err != nil {
		return f.wrong(err)
	}
	v.AppendDatum(d)
	return nil
}

// null adds NULL, where the column may be.
func (f *field) null(v *batch.Vector) error {
	if f.notNull {
		return sqlerr.New(sqlerr.NotNullViolation, "null value in column \"%s\" violates not-null constraint", f.name)
	}
	v.AppendNull()
	return nil
}

// wrong says in which column a value was refused.
func (f *field) wrong(err error) error {
	e := *sqlerr.From(err)
	e.Message += ", column \"" + f.name + "\""
	return &e
}

// validText says whether b can be a text value: UTF-8 without the byte 0.
func validText(b []byte) bool {
	var or byte
	for _, c := range b {
		if c == 0 {
			return false
		}
		or |= c
	}
	return or < 0x80 || utf8.Valid(b)
}

// parseInt reads a decimal integer of at most 18 digits.
func parseInt(b []byte) (int64, bool) {
	neg := len(b) > 0 && b[0] == '-'
	if neg {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	x := int64(0)
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		x = x*10 + int64(d)
	}
	if neg {
		x = -x
	}
	return x, true
}

var pow10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseFloat reads a decimal number without exponent of at most 15 digits: both it without its point and the power of ten are exact
// as float64, so that their quotient is the nearest.
func parseFloat(b []byte) (float64, bool) {
	neg := len(b) > 0 && b[0] == '-'
	if neg {
		b = b[1:]
	}
	x, digits, scale, point := uint64(0), 0, 0, false
	for _, c := range b {
		d := c - '0'
		switch {
		case d <= 9:
			x = x*10 + uint64(d)
			digits++
			if point {
				scale++
			}
		case c == '.' && !point:
			point = true
		default:
			return 0, false
		}
	}
	if digits == 0 || digits > 15 {
		return 0, false
	}
	v := float64(x)
	if scale > 0 {
		v /= pow10[scale]
	}
	if neg {
		v = -v
	}
	return v, true
}

// time is parseTime with what the value before tells.
func (f *field) time(b []byte) (int64, bool) {
	if len(b) >= 19 && string(b[:17]) == string(f.minute[:]) {
		us, ok := parseSeconds(b[17:])
		return f.base + us, ok
	}
	x, ok := parseTime(b)
	if ok {
		us, _ := parseSeconds(b[17:])
		f.base = x - us
		copy(f.minute[:], b)
	}
	return x, ok
}

// parseSeconds reads ss[.ffffff][Z] as microseconds.
func parseSeconds(b []byte) (int64, bool) {
	hi, lo := b[0]-'0', b[1]-'0'
	if hi > 5 || lo > 9 {
		return 0, false
	}
	us, rest := (int64(hi)*10+int64(lo))*1_000_000, b[2:]
	if len(rest) > 1 && rest[0] == '.' && rest[1]-'0' <= 9 {
		unit := int64(100_000)
		for rest = rest[1:]; len(rest) > 0 && rest[0]-'0' <= 9; rest = rest[1:] {
			if unit == 0 {
				return 0, false
			}
			us += int64(rest[0]-'0') * unit
			unit /= 10
		}
	}
	return us, len(rest) == 0 || string(rest) == "Z"
}

// parseTime reads YYYY-MM-DD hh:mm:ss[.ffffff][Z], with a space or a T between, as microseconds since 1970. A zone other than Z is
// left to types.Parse; without one it is UTC.
func parseTime(b []byte) (int64, bool) {
	if len(b) < 19 || b[4] != '-' || b[7] != '-' || b[10] != ' ' && b[10] != 'T' || b[13] != ':' || b[16] != ':' {
		return 0, false
	}
	bad := byte(0)
	two := func(i int) int64 {
		hi, lo := b[i]-'0', b[i+1]-'0'
		if hi > 9 || lo > 9 {
			bad = 1
		}
		return int64(hi)*10 + int64(lo)
	}
	year, month, day := two(0)*100+two(2), two(5), two(8)
	hour, minute := two(11), two(14)
	us, ok := parseSeconds(b[17:])
	if !ok || bad != 0 || year == 0 || month < 1 || month > 12 || day < 1 || day > 28 && day > daysIn(year, month) || hour > 23 || minute > 59 {
		return 0, false
	}
	return ((daysFromCivil(year, month, day)*24+hour)*60+minute)*60_000_000 + us, true
}

func daysIn(year, month int64) int64 {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysFromCivil gives the days since 1970-01-01 in the Gregorian calendar, of years from 1.
func daysFromCivil(y, m, d int64) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	return 365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + d - 1 - 719468
}

// text gives b as a string without copying it; it is valid as long as b is not written to.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
