package types

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

func errBinary(format string, args ...any) error {
	return sqlerr.New(sqlerr.InvalidBinaryRepresent, format, args...)
}

// binaryWidth is the length of the binary form of kinds that have a fixed one.
var binaryWidth = [NumKinds]int{
	Bool: 1, Char: 1, Int2: 2, Int4: 4, OID: 4, Date: 4, Float4: 4,
	Regclass: 4, Regtype: 4, Regproc: 4, Regnamespace: 4, Regrole: 4, Regprocedure: 4,
	Int8: 8, Float8: 8, Time: 8, Timestamp: 8, TimestampTZ: 8, Interval: 16, UUID: 16,
}

// ParseBinary reads PostgreSQL's binary form of a value that is not NULL.
// The result may alias b. Errors: 22P03, 22021, 22008, 22P02.
func ParseBinary(t Type, b []byte) (Datum, error) {
	if w := binaryWidth[t.Kind]; w != 0 && len(b) != w {
		if len(b) < w {
			return Datum{}, sqlerr.New(sqlerr.ProtocolViolation, "insufficient data left in message")
		}
		return Datum{}, errBinary("incorrect binary data format")
	}
	be := binary.BigEndian
	switch t.Kind {
	case Bool:
		return BoolDatum(b[0] != 0), nil
	case Char:
		return IntDatum(int64(b[0])), nil
	case Int2:
		return IntDatum(int64(int16(be.Uint16(b)))), nil
	case Int4:
		return IntDatum(int64(int32(be.Uint32(b)))), nil
	case OID, Regclass, Regtype, Regproc, Regnamespace, Regrole, Regprocedure:
		return IntDatum(int64(be.Uint32(b))), nil
	case Int8:
		return IntDatum(int64(be.Uint64(b))), nil
	case Float4:
		return FloatDatum(float64(math.Float32frombits(be.Uint32(b)))), nil
	case Float8:
		return FloatDatum(math.Float64frombits(be.Uint64(b))), nil
	case UUID:
		return uuidDatum(b), nil
	case Date, Time, Timestamp, TimestampTZ, Interval:
		return parseBinaryTime(t, b)
	case Numeric:
		return parseBinaryNumeric(b, t.Mod)
	case Text, Varchar, Bpchar, Name, Unknown:
		if err := checkUTF8(string(b)); err != nil {
			return Datum{}, err
		}
		return CoerceMod(t, Datum{B: b}, false)
	case Bytea:
		return Datum{B: b}, nil
	case JSON:
		if err := checkUTF8(string(b)); err != nil {
			return Datum{}, err
		}
		return Datum{B: b}, ValidateJSON(b)
	case JSONB:
		if len(b) == 0 || b[0] != 1 {
			v := 0
			if len(b) > 0 {
				v = int(b[0])
			}
			return Datum{}, sqlerr.New(sqlerr.InternalError, "unsupported jsonb version number %d", v)
		}
		if err := checkUTF8(string(b[1:])); err != nil {
			return Datum{}, err
		}
		out, err := AppendJSONB(nil, b[1:])
		return Datum{B: out}, err
	case Array, Int2Vector:
		return parseBinaryArray(t, b)
	case Window:
		return parseBinaryWindow(t, b)
	case Void:
		return Datum{}, nil
	}
	return Datum{}, sqlerr.Unsupported("binary input of type %s is not implemented", t)
}

// Bounds of times in PostgreSQL's binary forms, which count from 2000.
const (
	pgDateInfinity    = math.MaxInt32
	pgDateNegInfinity = math.MinInt32
)

func parseBinaryTime(t Type, b []byte) (Datum, error) {
	be := binary.BigEndian
	switch t.Kind {
	case Date:
		switch d := int64(int32(be.Uint32(b))); d {
		case pgDateInfinity:
			return IntDatum(Infinity), nil
		case pgDateNegInfinity:
			return IntDatum(NegInfinity), nil
		default:
			if d += pgEpochDays; d < minDate || d >= endDate {
				return Datum{}, errDateRange()
			}
			return IntDatum(d), nil
		}
	case Time:
		us := int64(be.Uint64(b))
		if us < 0 || us > usecPerDay {
			return Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "time out of range")
		}
		return IntDatum(roundPrecision(us, t.Mod)), nil
	case Interval:
		d := IntervalDatum(int32(be.Uint32(b[12:])), int32(be.Uint32(b[8:])), int64(be.Uint64(b)))
		d.I = roundPrecision(d.I, t.Mod)
		return d, nil
	}
	ts := int64(be.Uint64(b))
	if !IsFiniteTime(ts) {
		return IntDatum(ts), nil
	}
	if ts < minTimestamp-pgEpochUsecs || ts > maxTimestamp-pgEpochUsecs {
		return Datum{}, errTimestampRange()
	}
	return IntDatum(roundPrecision(ts+pgEpochUsecs, t.Mod)), nil
}

// Numeric signs of the binary form.
const (
	pgNumNeg    = 0x4000
	pgNumNaN    = 0xC000
	pgNumInf    = 0xD000
	pgNumNegInf = 0xF000

	pgNumInfScale = 0x20 // what PostgreSQL sends as the scale of infinities
)

func parseBinaryNumeric(b []byte, mod int32) (Datum, error) {
	be := binary.BigEndian
	if len(b) < 8 {
		return Datum{}, sqlerr.New(sqlerr.ProtocolViolation, "insufficient data left in message")
	}
	count, weight, sign, scale := int(be.Uint16(b)), int(int16(be.Uint16(b[2:]))), be.Uint16(b[4:]), int(be.Uint16(b[6:]))
	b = b[8:]
	n := Num{neg: sign == pgNumNeg}
	switch sign {
	case 0, pgNumNeg:
	case pgNumNaN:
		n = NumNaN
	case pgNumInf:
		n = NumInf
	case pgNumNegInf:
		n = NumNegInf
	default:
		return Datum{}, errBinary("invalid sign in external \"numeric\" value")
	}
	if scale > maxDisplayScale {
		return Datum{}, errBinary("invalid scale in external \"numeric\" value")
	}
	if len(b) != 2*count {
		return Datum{}, errBinary("incorrect binary data format")
	}
	if n.form == numFinite {
		var wide *big.Int
		for ; len(b) > 0; b = b[2:] {
			digit := be.Uint16(b)
			if digit > 9999 {
				return Datum{}, errBinary("invalid digit in external \"numeric\" value")
			}
			hi, lo, ok := mulAdd128(n.hi, n.lo, 10000, uint64(digit))
			if wide == nil && !ok {
				wide = n.signed()
				wide.Abs(wide)
			}
			if wide != nil {
				wide.Add(wide.Mul(wide, big.NewInt(10000)), big.NewInt(int64(digit)))
				continue
			}
			n.hi, n.lo = hi, lo
		}
		if wide != nil {
			n = numBig(wide, n.neg, 0)
		}
		n.fixZero()
		// The digits stand for coef * 10000^(weight-count+1), which may have
		// more or fewer places than the display scale.
		have := 4 * (count - 1 - weight)
		if n.IsZero() {
			n.scale = int32(scale)
		} else {
			if have < 0 {
				n, have = n.shiftLeft(-have), 0
			}
			n.scale = int32(have)
			n = n.quantize(scale, roundToZero)
		}
	}
	n, err := n.ApplyTypmod(mod)
	if err != nil {
		return Datum{}, err
	}
	if n, err = n.capped(); err != nil {
		return Datum{}, err
	}
	return n.Datum(), nil
}

func parseBinaryArray(t Type, b []byte) (Datum, error) {
	elem := t.ElemType()
	elem.Mod = t.Mod
	r := binaryReader{b: b}
	ndim, flags, oid := int(r.u32()), r.u32(), r.u32()
	switch {
	case r.bad:
	case ndim < 0 || ndim > MaxDims:
		return Datum{}, errTooManyDims(ndim)
	case flags > 1:
		return Datum{}, errBinary("invalid array flags")
	case oid != elem.OID():
		return Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "binary data has array element type %d instead of expected %d", oid, elem.OID())
	}
	dims := make([]Dim, 0, MaxDims)
	n := 1
	for i := 0; i < ndim && !r.bad; i++ {
		d := Dim{Len: int(int32(r.u32())), Lower: int(int32(r.u32()))}
		if d.Len < 0 || d.Len > maxArrayElems {
			return Datum{}, errBinary("incorrect binary data format")
		}
		dims = append(dims, d)
		if n *= d.Len; n > len(b) {
			r.bad = true
		}
	}
	if ndim == 0 {
		n = 0
	}
	elems := make([]Datum, 0, min(n, len(b)/4))
	for i := 0; i < n && !r.bad; i++ {
		field, null := r.field()
		d := NullDatum
		if !null && !r.bad {
			var err error
			if d, err = ParseBinary(elem, field); err != nil {
				return Datum{}, err
			}
		}
		elems = append(elems, d)
	}
	if r.bad {
		return Datum{}, sqlerr.New(sqlerr.ProtocolViolation, "insufficient data left in message")
	}
	if len(r.b) > 0 {
		return Datum{}, errBinary("incorrect binary data format")
	}
	if n == 0 {
		return Datum{B: []byte{0}}, nil
	}
	out, err := AppendArrayDims(nil, elem, dims, elems)
	return Datum{B: out}, err
}

func parseBinaryWindow(t Type, b []byte) (Datum, error) {
	r := binaryReader{b: b}
	if n := r.u32(); n != 2 && !r.bad {
		return Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "wrong number of columns: %d, expected 2", n)
	}
	var d Datum
	for i, dst := range []*int64{&d.I, &d.J} {
		oid := r.u32()
		field, null := r.field()
		if r.bad {
			return Datum{}, sqlerr.New(sqlerr.ProtocolViolation, "insufficient data left in message")
		}
		if want := t.ElemType().OID(); oid != want {
			return Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "binary data has type %d instead of expected %d in record column %d", oid, want, i+1)
		}
		if null {
			return Datum{}, sqlerr.New(sqlerr.NullValueNotAllowed, "a window's start and end must not be null")
		}
		v, err := ParseBinary(t.ElemType(), field)
		if err != nil {
			return Datum{}, err
		}
		*dst = v.I
	}
	if len(r.b) > 0 {
		return Datum{}, errBinary("incorrect binary data format")
	}
	return d, nil
}

// binaryReader reads big-endian words and length-prefixed fields; bad is set
// once the bytes do not suffice.
type binaryReader struct {
	b   []byte
	bad bool
}

func (r *binaryReader) u32() uint32 {
	if len(r.b) < 4 {
		r.bad = true
		return 0
	}
	v := binary.BigEndian.Uint32(r.b)
	r.b = r.b[4:]
	return v
}

func (r *binaryReader) field() (b []byte, null bool) {
	n := int32(r.u32())
	if n == -1 {
		return nil, true
	}
	if n < 0 || int(n) > len(r.b) {
		r.bad = true
		return nil, false
	}
	b = r.b[:n:n]
	r.b = r.b[n:]
	return b, false
}

// AppendBinary appends PostgreSQL's binary form of a value that is not NULL
// (nothing for NULL), without the length that precedes it on the wire.
func AppendBinary(dst []byte, t Type, d Datum) []byte {
	if d.Null {
		return dst
	}
	be := binary.BigEndian
	switch t.Kind {
	case Bool, Char:
		return append(dst, byte(d.I))
	case Int2:
		return be.AppendUint16(dst, uint16(d.I))
	case Int4, OID, Regclass, Regtype, Regproc, Regnamespace, Regrole, Regprocedure:
		return be.AppendUint32(dst, uint32(d.I))
	case Int8, Time:
		return be.AppendUint64(dst, uint64(d.I))
	case Float4:
		return be.AppendUint32(dst, math.Float32bits(float32(d.F)))
	case Float8:
		if d.F != d.F {
			return be.AppendUint64(dst, 0x7ff8<<48) // C's NaN
		}
		return be.AppendUint64(dst, math.Float64bits(d.F))
	case Date:
		switch d.I {
		case Infinity:
			return be.AppendUint32(dst, math.MaxInt32)
		case NegInfinity:
			return be.AppendUint32(dst, 1<<31)
		}
		return be.AppendUint32(dst, uint32(d.I-pgEpochDays))
	case Timestamp, TimestampTZ:
		if IsFiniteTime(d.I) {
			d.I -= pgEpochUsecs
		}
		return be.AppendUint64(dst, uint64(d.I))
	case Interval:
		m, days, us := IntervalParts(d.I, d.J)
		dst = be.AppendUint64(dst, uint64(us))
		return be.AppendUint32(be.AppendUint32(dst, uint32(days)), uint32(m))
	case UUID:
		return be.AppendUint64(be.AppendUint64(dst, uint64(d.I)), uint64(d.J))
	case Numeric:
		return appendBinaryNumeric(dst, NumDecode(d.B))
	case JSONB:
		return append(append(dst, 1), d.B...)
	case Array, Int2Vector:
		return appendBinaryArray(dst, t.ElemType(), d.B)
	case Window:
		dst = be.AppendUint32(dst, 2)
		dst = appendBinaryField(dst, t.ElemType(), Datum{I: d.I}, true)
		return appendBinaryField(dst, t.ElemType(), Datum{I: d.J}, true)
	case Record:
		r := DecodeRecord(d.B)
		dst = be.AppendUint32(dst, uint32(r.N))
		for r.N > 0 {
			ft, fd := r.Next()
			dst = appendBinaryField(dst, ft, fd, true)
		}
		return dst
	case Void:
		return dst
	}
	return append(dst, d.B...)
}

// appendBinaryField appends a length-prefixed value, after its type's OID for fields of records.
func appendBinaryField(dst []byte, t Type, d Datum, withOID bool) []byte {
	if withOID {
		dst = binary.BigEndian.AppendUint32(dst, t.OID())
	}
	if d.Null {
		return binary.BigEndian.AppendUint32(dst, math.MaxUint32)
	}
	at := len(dst)
	dst = AppendBinary(append(dst, 0, 0, 0, 0), t, d)
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

func appendBinaryArray(dst []byte, elem Type, b []byte) []byte {
	be := binary.BigEndian
	a := DecodeArray(elem, b)
	nulls := uint32(0)
	for i, c := 0, a; i < a.N; i++ {
		if c.Next().Null {
			nulls = 1
		}
	}
	dst = be.AppendUint32(be.AppendUint32(be.AppendUint32(dst, uint32(a.NDim)), nulls), elem.OID())
	for _, d := range a.Dims[:a.NDim] {
		dst = be.AppendUint32(be.AppendUint32(dst, uint32(d.Len)), uint32(d.Lower))
	}
	for i := 0; i < a.N; i++ {
		dst = appendBinaryField(dst, elem, a.Next(), false)
	}
	return dst
}

func appendBinaryNumeric(dst []byte, n Num) []byte {
	be := binary.BigEndian
	head := func(count, weight int, sign uint16, scale int) {
		dst = be.AppendUint16(be.AppendUint16(dst, uint16(count)), uint16(weight))
		dst = be.AppendUint16(be.AppendUint16(dst, sign), uint16(scale))
	}
	switch {
	case n.form == numNaN:
		head(0, 0, pgNumNaN, 0)
		return dst
	case n.form == numInf && n.neg:
		head(0, 0, pgNumNegInf, pgNumInfScale)
		return dst
	case n.form == numInf:
		head(0, 0, pgNumInf, pgNumInfScale)
		return dst
	case n.IsZero():
		head(0, 0, 0, int(n.scale))
		return dst
	}
	// Groups of four digits must start at the point: pad to whole groups on both sides.
	var buf [64]byte
	digits := n.appendDigits(buf[:0])
	intDigits := len(digits) - int(n.scale)
	weight := floorDiv(intDigits-1, 4)
	lead := 4*(weight+1) - intDigits // zeros before the first digit
	digit := func(i int) int {
		if i -= lead; i >= 0 && i < len(digits) {
			return int(digits[i] - '0')
		}
		return 0
	}
	groups := make([]uint16, 0, 16)
	for i := 0; i < lead+len(digits); i += 4 {
		groups = append(groups, uint16(digit(i)*1000+digit(i+1)*100+digit(i+2)*10+digit(i+3)))
	}
	for len(groups) > 0 && groups[len(groups)-1] == 0 {
		groups = groups[:len(groups)-1]
	}
	sign := uint16(0)
	if n.neg {
		sign = pgNumNeg
	}
	head(len(groups), weight, sign, int(n.scale))
	for _, g := range groups {
		dst = be.AppendUint16(dst, g)
	}
	return dst
}
