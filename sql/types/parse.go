package types

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// maxNesting bounds the depth of nested input such as JSON.
const maxNesting = 6000

func sqlerrTimestampInput(s string) error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", s)
}

func errSyntax(typ, s string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type %s: \"%s\"", typ, s)
}

func errRange(typ, s string) error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "value \"%s\" is out of range for type %s", s, typ)
}

// Parse reads PostgreSQL's text form of a value, applying the type's modifier
// as an assignment does. env (nil: DefaultEnv) decides what session settings
// decide. The result does not alias s. Errors are PostgreSQL's, most often
// 22P02, 22003, 22007, 22008 and 22001.
func Parse(t Type, s string, env *Env) (Datum, error) {
	if env == nil {
		env = defaultEnv
	}
	switch t.Kind {
	case Bool:
		b, ok := parseBool(s)
		if !ok {
			return Datum{}, errSyntax("boolean", s)
		}
		return BoolDatum(b), nil
	case Int2:
		return parseInt(s, "smallint", 16)
	case Int4:
		return parseInt(s, "integer", 32)
	case Int8:
		return parseInt(s, "bigint", 64)
	case Float4:
		return parseFloat(s, "real", 32)
	case Float8:
		return parseFloat(s, "double precision", 64)
	case Numeric:
		n, err := NumParse(s)
		if err == nil {
			n, err = n.ApplyTypmod(t.Mod)
		}
		if err != nil {
			return Datum{}, err
		}
		return n.Datum(), nil
	case Text, Unknown:
		return StringDatum(s), checkUTF8(s)
	case Varchar, Bpchar, Name:
		if err := checkUTF8(s); err != nil {
			return Datum{}, err
		}
		return CoerceMod(t, StringDatum(s), false)
	case Char:
		if s == "" {
			return Datum{}, nil
		}
		return IntDatum(int64(s[0])), nil
	case Bytea:
		b, err := parseBytea(s)
		return Datum{B: b}, err
	case UUID:
		return parseUUID(s)
	case JSON:
		if err := checkUTF8(s); err != nil {
			return Datum{}, err
		}
		return StringDatum(s), ValidateJSON([]byte(s))
	case JSONB:
		if err := checkUTF8(s); err != nil {
			return Datum{}, err
		}
		b, err := AppendJSONB(nil, []byte(s))
		return Datum{B: b}, err
	case OID:
		return parseOID(s)
	case Regclass, Regtype, Regproc, Regnamespace, Regrole, Regprocedure:
		return parseReg(t.Kind, s, env)
	case Array:
		return parseArray(t, s, env)
	case Int2Vector:
		return parseInt2Vector(t.ElemType(), s)
	case Window:
		return parseWindow(t, s, env)
	case Void:
		return Datum{}, nil
	}
	return parseTimeKind(t, s, env)
}

var defaultEnv = DefaultEnv()

func parseTimeKind(t Type, s string, env *Env) (d Datum, err error) {
	switch t.Kind {
	case Date:
		d.I, err = parseDate(s, env)
	case Time:
		d.I, err = parseTime(s, t.Mod, env)
	case Timestamp:
		d.I, err = parseTimestamp(s, false, t.Mod, env)
	case TimestampTZ:
		d.I, err = parseTimestamp(s, true, t.Mod, env)
	case Interval:
		d, err = parseInterval(s, env)
		d.I = roundPrecision(d.I, t.Mod)
	default:
		err = sqlerr.Unsupported("input of type %s is not implemented", t)
		if t.Kind >= Any && t.Kind <= AnyArray {
			err = sqlerr.Unsupported("cannot accept a value of type %s", t)
		}
	}
	return d, err
}

// ValidText gives a text that can be stored: each byte 0, and each run of bytes that are no UTF-8, becomes U+FFFD.
func ValidText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func checkUTF8(s string) error {
	if strings.IndexByte(s, 0) >= 0 {
		return sqlerr.New(sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": 0x00")
	}
	if utf8.ValidString(s) {
		return nil
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			// PostgreSQL shows as many bytes as the first one announces.
			want := 1
			switch c := s[i]; {
			case c >= 0xf0 && c < 0xf8:
				want = 4
			case c >= 0xe0 && c < 0xf0:
				want = 3
			case c >= 0xc0 && c < 0xe0:
				want = 2
			}
			msg := ""
			for _, c := range []byte(s[i:min(i+want, len(s))]) {
				msg += " 0x" + hex.EncodeToString([]byte{c})
			}
			return sqlerr.New(sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\":%s", msg)
		}
		i += n
	}
	return nil
}

func trimSpace(s string) string { return strings.Trim(s, " \t\n\v\f\r") }

func parseBool(s string) (v, ok bool) {
	s = strings.ToLower(trimSpace(s))
	if s == "" {
		return false, false
	}
	switch {
	case strings.HasPrefix("true", s), strings.HasPrefix("yes", s), s == "on", s == "1":
		return true, true
	case strings.HasPrefix("false", s), strings.HasPrefix("no", s), s == "of", s == "off", s == "0":
		return false, true
	}
	return false, false
}

func parseInt(s, typ string, bits int) (Datum, error) {
	t := trimSpace(s)
	i, err := strconv.ParseInt(t, 10, bits)
	if err == nil {
		return IntDatum(i), nil
	}
	if err.(*strconv.NumError).Err == strconv.ErrRange {
		return Datum{}, errRange(typ, s)
	}
	return Datum{}, errSyntax(typ, s)
}

func parseFloat(s, typ string, bits int) (Datum, error) {
	t := trimSpace(s)
	body := strings.TrimLeft(t, "+-")
	if body != "" && !isDigit(body[0]) && body[0] != '.' {
		sign := t[:len(t)-len(body)]
		switch lower := strings.ToLower(body); {
		case len(sign) > 1:
		case lower == "nan":
			return FloatDatum(math.NaN()), nil
		case lower == "inf" || lower == "infinity":
			return FloatDatum(math.Inf(1 - 2*boolInt(sign == "-"))), nil
		}
		return Datum{}, errSyntax(typ, s)
	}
	f, err := strconv.ParseFloat(t, bits)
	if strings.IndexByte(t, '_') >= 0 {
		return Datum{}, errSyntax(typ, s)
	}
	if err != nil {
		if err.(*strconv.NumError).Err == strconv.ErrRange {
			return Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "\"%s\" is out of range for type %s", t, typ)
		}
		return Datum{}, errSyntax(typ, s)
	}
	if f == 0 && strings.ContainsAny(mantissa(t), "123456789") {
		return Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "\"%s\" is out of range for type %s", t, typ)
	}
	return FloatDatum(f), nil
}

// mantissa gives the digits before an exponent of a number, decimal or hexadecimal.
func mantissa(s string) string {
	if len(s) > 1 && strings.ContainsAny(s[:2], "xX") {
		return s
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i]
	}
	return s
}

func parseOID(s string) (Datum, error) {
	t := trimSpace(s)
	i, err := strconv.ParseInt(t, 10, 64)
	if err != nil && err.(*strconv.NumError).Err == strconv.ErrSyntax {
		return Datum{}, errSyntax("oid", s)
	}
	if err != nil || i > math.MaxUint32 || i < math.MinInt32 {
		return Datum{}, errRange("oid", s)
	}
	return IntDatum(int64(uint32(i))), nil
}

func parseUUID(s string) (Datum, error) {
	t := s
	if len(t) > 1 && t[0] == '{' && t[len(t)-1] == '}' {
		t = t[1 : len(t)-1]
	}
	var b [16]byte
	n := 0
	for len(t) > 0 {
		if n == 16 || len(t) < 2 {
			return Datum{}, errSyntax("uuid", s)
		}
		if _, err := hex.Decode(b[n:n+1], []byte(t[:2])); err != nil {
			return Datum{}, errSyntax("uuid", s)
		}
		n++
		t = t[2:]
		// A hyphen may follow every group of four digits.
		if len(t) > 1 && t[0] == '-' && n%2 == 0 && n < 16 {
			t = t[1:]
		}
	}
	if n != 16 {
		return Datum{}, errSyntax("uuid", s)
	}
	return uuidDatum(b[:]), nil
}

func parseBytea(s string) ([]byte, error) {
	if strings.HasPrefix(s, "\\x") {
		return parseByteaHex(s[2:])
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		switch {
		case i+1 < len(s) && s[i+1] == '\\':
			out = append(out, '\\')
			i++
		case i+3 < len(s) && s[i+1] >= '0' && s[i+1] <= '3' && isOctal(s[i+2]) && isOctal(s[i+3]):
			out = append(out, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
		default:
			return nil, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
		}
	}
	return out, nil
}

func isOctal(c byte) bool { return c >= '0' && c <= '7' }

func parseByteaHex(s string) ([]byte, error) {
	out := make([]byte, 0, len(s)/2)
	for i := 0; i < len(s); {
		if c := s[i]; c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			i++
			continue
		}
		hi, ok := hexDigit(s[i])
		if !ok {
			return nil, errHexDigit(s[i:])
		}
		if i+1 == len(s) {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
		}
		lo, ok := hexDigit(s[i+1])
		if !ok {
			return nil, errHexDigit(s[i+1:])
		}
		out = append(out, hi<<4|lo)
		i += 2
	}
	return out, nil
}

func errHexDigit(s string) error {
	_, n := utf8.DecodeRuneInString(s)
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal digit: \"%s\"", s[:n])
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// CoerceMod applies the length, precision or scale of t to a value of the same
// kind. An explicit cast cuts text that is too long; an assignment refuses it
// unless only blanks are cut. Errors: 22001, 22003. The result may alias d.
func CoerceMod(t Type, d Datum, explicit bool) (Datum, error) {
	if d.Null {
		return d, nil
	}
	switch t.Kind {
	case Varchar, Bpchar:
		return coerceLength(t, d, explicit)
	case Name:
		if len(d.B) > 63 {
			n := 63
			for n > 0 && !utf8.RuneStart(d.B[n]) {
				n--
			}
			d.B = d.B[:n]
		}
	case Numeric:
		if t.Mod != 0 {
			n, err := NumDecode(d.B).ApplyTypmod(t.Mod)
			return n.Datum(), err
		}
	case Time, Timestamp, TimestampTZ, Interval:
		d.I = roundPrecision(d.I, t.Mod)
	case Array:
		if t.Mod != 0 {
			return coerceArrayMod(t, d, explicit)
		}
	}
	return d, nil
}

func coerceLength(t Type, d Datum, explicit bool) (Datum, error) {
	if t.Mod == 0 {
		return d, nil
	}
	limit := int(t.Mod - 4)
	chars := 0
	if len(d.B) > limit || t.Kind == Bpchar {
		chars = utf8.RuneCount(d.B)
	}
	if chars > limit {
		cut := 0
		for i := 0; i < limit; i++ {
			_, n := utf8.DecodeRune(d.B[cut:])
			cut += n
		}
		if !explicit && len(trimBlanks(d.B)) > cut {
			return d, sqlerr.New(sqlerr.StringDataRightTruncation, "value too long for type %s", t)
		}
		d.B = d.B[:cut:cut]
	} else if t.Kind == Bpchar && chars < limit {
		b := make([]byte, 0, len(d.B)+limit-chars)
		b = append(b, d.B...)
		for ; chars < limit; chars++ {
			b = append(b, ' ')
		}
		d.B = b
	}
	return d, nil
}

func coerceArrayMod(t Type, d Datum, explicit bool) (Datum, error) {
	elem := t.ElemType()
	a := DecodeArray(elem, d.B)
	elem.Mod = t.Mod
	elems := a.Elems()
	for i := range elems {
		e, err := CoerceMod(elem, elems[i], explicit)
		if err != nil {
			return d, err
		}
		elems[i] = e
	}
	b, err := AppendArrayDims(nil, elem, a.Dims[:a.NDim], elems)
	return Datum{B: b}, err
}
