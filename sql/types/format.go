package types

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Append appends PostgreSQL's text form of a value that is not NULL (nothing
// for NULL). env (nil: DefaultEnv) gives the session's settings.
func Append(dst []byte, t Type, d Datum, env *Env) []byte {
	if env == nil {
		env = defaultEnv
	}
	if d.Null {
		return dst
	}
	switch t.Kind {
	case Bool:
		if d.I != 0 {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case Int2, Int4, Int8, OID:
		return strconv.AppendInt(dst, d.I, 10)
	case Regclass, Regtype, Regproc, Regnamespace, Regrole, Regprocedure:
		return appendReg(dst, t.Kind, uint32(d.I), env)
	case Float4:
		return appendFloat(dst, d.F, 32, env.ExtraFloatDigits)
	case Float8:
		return appendFloat(dst, d.F, 64, env.ExtraFloatDigits)
	case Numeric:
		return NumDecode(d.B).AppendText(dst)
	case Char:
		if d.I == 0 {
			return dst
		}
		return append(dst, byte(d.I))
	case Bytea:
		return appendBytea(dst, d.B, env.ByteaHex)
	case Date:
		return AppendDate(dst, d.I)
	case Time:
		return AppendTime(dst, d.I)
	case Timestamp:
		return AppendTimestamp(dst, d.I, ' ')
	case TimestampTZ:
		return AppendTimestampTZ(dst, d.I, ' ', env.Location)
	case Interval:
		return appendInterval(dst, d, env.IntervalStyle)
	case UUID:
		return appendUUID(dst, d)
	case Array:
		return appendArrayText(dst, t.ElemType(), d.B, env)
	case Int2Vector:
		a := DecodeArray(t.ElemType(), d.B)
		for i := 0; i < a.N; i++ {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = strconv.AppendInt(dst, a.Next().I, 10)
		}
		return dst
	case Window:
		dst = append(dst, '(')
		dst = appendRecordField(dst, t.ElemType(), Datum{I: d.I}, env)
		dst = append(dst, ',')
		dst = appendRecordField(dst, t.ElemType(), Datum{I: d.J}, env)
		return append(dst, ')')
	case Record:
		return appendRecordText(dst, d.B, env)
	case Void:
		return dst
	}
	return append(dst, d.B...)
}

// Format gives Append's text as a string.
func Format(t Type, d Datum, env *Env) string {
	var buf [64]byte
	return string(Append(buf[:0], t, d, env))
}

// appendFloat appends the shortest text that reads back as the same float, in
// C's %g layout: exponent form from 1e+15 (1e+06 for real) on and below 1e-4.
// With extraDigits <= 0 it rounds to 15 (6) + extraDigits digits instead.
func appendFloat(dst []byte, f float64, bits, extraDigits int) []byte {
	if bits == 32 {
		f = float64(float32(f))
	}
	switch {
	case f != f:
		return append(dst, "NaN"...)
	case math.IsInf(f, 0):
		if f < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "Infinity"...)
	case f == 0:
		if math.Signbit(f) {
			dst = append(dst, '-')
		}
		return append(dst, '0')
	}
	sig := 15
	if bits == 32 {
		sig = 6
	}
	digits := -1
	if extraDigits <= 0 {
		digits = max(sig+extraDigits, 1) - 1
		sig = digits + 1
	}
	var buf [32]byte
	e := strconv.AppendFloat(buf[:0], f, 'e', digits, bits)
	short := true
	if digits < 0 && math.Abs(f) >= 1<<22 && math.Abs(f) < 1e41 {
		e, short = insideShortest(e, f, bits)
	}
	cut := len(e) - 1
	for e[cut] != 'e' {
		cut--
	}
	exp, _ := strconv.Atoi(string(e[cut+1:]))
	if exp < -4 || exp >= sig {
		mant := e[:cut]
		if digits > 0 {
			mant = trimFraction(mant)
		}
		dst = append(append(dst, mant...), 'e')
		if exp < 0 {
			return appendPadded(append(dst, '-'), uint64(-exp), 2)
		}
		return appendPadded(append(dst, '+'), uint64(exp), 2)
	}
	if digits >= 0 {
		var fixed [40]byte
		out := strconv.AppendFloat(fixed[:0], f, 'f', max(digits-exp, 0), bits)
		if digits > exp {
			out = trimFraction(out)
		}
		return append(dst, out...)
	}
	if !short { // an integer: the exponent is below 15
		return strconv.AppendFloat(dst, f, 'f', 0, bits)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bits)
}

// insideShortest replaces the shortest text of f in exponent form by a longer
// one where it lies exactly between two floats: strconv takes it where reading
// it rounds to f, PostgreSQL does not. That can only be where a whole or half
// number has more bits than a float.
func insideShortest(e []byte, f float64, bits int) (text []byte, same bool) {
	for same = true; ; same = false {
		cut := bytes.IndexByte(e, 'e')
		mant, exp := string(e[:cut]), string(e[cut:])
		frac := 0
		if point := strings.IndexByte(mant, '.'); point < 0 {
			mant += "."
		} else {
			frac = len(mant) - point - 1
		}
		up, _ := strconv.ParseFloat(mant+"00000000000000000001"+exp, bits)
		down, _ := strconv.ParseFloat(decimalPred(mant)+exp, bits)
		exact, _ := strconv.ParseFloat(string(e), bits)
		if up == f && down == f && exact == f || frac >= 17 {
			return e, same
		}
		e = strconv.AppendFloat(e[:0], f, 'e', frac+1, bits)
	}
}

// decimalPred gives a number a little nearer to zero than a decimal that is not zero.
func decimalPred(mant string) string {
	b := []byte(mant)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] == '.' {
			continue
		}
		if b[i] > '0' {
			b[i]--
			break
		}
		b[i] = '9'
	}
	return string(b) + "99999999999999999999"
}

// trimFraction drops trailing zeros after a point, and the point.
func trimFraction(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	if len(b) > 0 && b[len(b)-1] == '.' {
		b = b[:len(b)-1]
	}
	return b
}

func appendBytea(dst, b []byte, asHex bool) []byte {
	if asHex {
		return hex.AppendEncode(append(dst, '\\', 'x'), b)
	}
	for _, c := range b {
		switch {
		case c == '\\':
			dst = append(dst, '\\', '\\')
		case c < 0x20 || c > 0x7e:
			dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func uuidDatum(b []byte) Datum {
	var d Datum
	for i, c := range b[:16] {
		if i < 8 {
			d.I = d.I<<8 | int64(c)
		} else {
			d.J = d.J<<8 | int64(c)
		}
	}
	return d
}

func uuidBytes(d Datum) (b [16]byte) {
	for i := range 8 {
		b[i], b[8+i] = byte(d.I>>(56-8*i)), byte(d.J>>(56-8*i))
	}
	return b
}

func appendUUID(dst []byte, d Datum) []byte {
	b := uuidBytes(d)
	for i, part := range [...][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return dst
}

func appendArrayText(dst []byte, elem Type, b []byte, env *Env) []byte {
	a := DecodeArray(elem, b)
	if a.N == 0 {
		return append(dst, "{}"...)
	}
	bounds := false
	for _, d := range a.Dims[:a.NDim] {
		bounds = bounds || d.Lower != 1
	}
	if bounds {
		for _, d := range a.Dims[:a.NDim] {
			dst = append(dst, '[')
			dst = strconv.AppendInt(dst, int64(d.Lower), 10)
			dst = append(dst, ':')
			dst = strconv.AppendInt(dst, int64(d.Lower+d.Len-1), 10)
			dst = append(dst, ']')
		}
		dst = append(dst, '=')
	}
	return appendArrayLevel(dst, &a, 0, env)
}

func appendArrayLevel(dst []byte, a *ArrayValue, depth int, env *Env) []byte {
	dst = append(dst, '{')
	for i := 0; i < a.Dims[depth].Len; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		if depth+1 < a.NDim {
			dst = appendArrayLevel(dst, a, depth+1, env)
		} else {
			dst = appendArrayElem(dst, a.Elem, a.Next(), env)
		}
	}
	return append(dst, '}')
}

func appendArrayElem(dst []byte, elem Type, d Datum, env *Env) []byte {
	if d.Null {
		return append(dst, "NULL"...)
	}
	start := len(dst)
	dst = Append(dst, elem, d, env)
	if !needsQuotes(dst[start:], "{},\"\\", true) {
		return dst
	}
	return quoteTail(dst, start, false)
}

// needsQuotes says whether an element of an array or field of a record must be quoted.
func needsQuotes(b []byte, special string, nullWord bool) bool {
	if len(b) == 0 || nullWord && strings.EqualFold(string(b), "null") {
		return true
	}
	for _, c := range b {
		if isSpace(c) || c < utf8.RuneSelf && strings.IndexByte(special, c) >= 0 {
			return true
		}
	}
	return false
}

// quoteTail puts dst[start:] in quotes; inside, quotes and backslashes are
// doubled (records) or given a backslash (arrays).
func quoteTail(dst []byte, start int, double bool) []byte {
	text := string(dst[start:])
	dst = append(dst[:start], '"')
	for i := 0; i < len(text); i++ {
		if c := text[i]; c == '"' || c == '\\' {
			if double {
				dst = append(dst, c)
			} else {
				dst = append(dst, '\\')
			}
		}
		dst = append(dst, text[i])
	}
	return append(dst, '"')
}

func appendRecordField(dst []byte, t Type, d Datum, env *Env) []byte {
	if d.Null {
		return dst
	}
	start := len(dst)
	dst = Append(dst, t, d, env)
	if !needsQuotes(dst[start:], "(),\"\\", false) {
		return dst
	}
	return quoteTail(dst, start, true)
}

func appendRecordText(dst, b []byte, env *Env) []byte {
	r := DecodeRecord(b)
	dst = append(dst, '(')
	for i := 0; r.N > 0; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		t, d := r.Next()
		dst = appendRecordField(dst, t, d, env)
	}
	return append(dst, ')')
}
