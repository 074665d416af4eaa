package types

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

func cmpOrdered[T cmp.Ordered](a, b T) int { return cmp.Compare(a, b) }

// Compare orders two values of one type as PostgreSQL's btree does, with text
// in the C collation: -1, 0 or 1. The order is total: NaN is above every other
// float, numerics compare by value, intervals by their length with months of
// 30 days and days of 24 hours, character(n) without trailing blanks. NULL
// equals NULL and comes after everything else. It allocates for jsonb and wide
// numerics only.
func Compare(t Type, a, b Datum) int {
	if a.Null || b.Null {
		return cmpOrdered(boolInt(a.Null), boolInt(b.Null))
	}
	switch t.Layout() {
	case LayoutI64:
		return cmpOrdered(a.I, b.I)
	case LayoutF64:
		return CompareFloat(a.F, b.F)
	case LayoutPair:
		return comparePair(t.Kind, a, b)
	}
	switch t.Kind {
	case Numeric:
		return NumDecode(a.B).Cmp(NumDecode(b.B))
	case Bpchar:
		return bytes.Compare(trimBlanks(a.B), trimBlanks(b.B))
	case JSONB:
		if bytes.Equal(a.B, b.B) {
			return 0
		}
		return compareJSONB(a.B, b.B)
	case Array, Int2Vector:
		return compareArrays(t.ElemType(), a.B, b.B)
	case Record:
		return compareRecords(a.B, b.B)
	}
	return bytes.Compare(a.B, b.B)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// CompareFloat orders floats with NaN equal to itself and above everything
// else, and -0 equal to 0.
func CompareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return cmpOrdered(boolInt(a != a), boolInt(b != b))
}

func comparePair(k Kind, a, b Datum) int {
	switch k {
	case UUID:
		if a.I != b.I {
			return cmpOrdered(uint64(a.I), uint64(b.I))
		}
		return cmpOrdered(uint64(a.J), uint64(b.J))
	case Interval:
		ah, al := intervalSpan(a)
		bh, bl := intervalSpan(b)
		if ah != bh {
			return cmpOrdered(ah, bh)
		}
		return cmpOrdered(al, bl)
	}
	if a.I != b.I {
		return cmpOrdered(a.I, b.I)
	}
	return cmpOrdered(a.J, b.J)
}

// intervalSpan gives the length of an interval in microseconds as a 128-bit
// number, with months of 30 days and days of 24 hours.
func intervalSpan(d Datum) (hi int64, lo uint64) {
	months, days, micros := IntervalParts(d.I, d.J)
	n := int64(months)*30 + int64(days)
	abs := uint64(n)
	if n < 0 {
		abs = -abs
	}
	h, l := bits.Mul64(abs, uint64(usecPerDay))
	if n < 0 {
		var c uint64
		l, c = bits.Sub64(0, l, 0)
		h, _ = bits.Sub64(0, h, c)
	}
	l, c := bits.Add64(l, uint64(micros), 0)
	h, _ = bits.Add64(h, uint64(micros>>63), c)
	return int64(h), l
}

func trimBlanks(b []byte) []byte {
	n := len(b)
	for n > 0 && b[n-1] == ' ' {
		n--
	}
	return b[:n]
}

func compareJSONB(a, b []byte) int {
	var bufA, bufB [256]byte
	return bytes.Compare(appendJSONBKey(bufA[:0], a), appendJSONBKey(bufB[:0], b))
}

// compareArrays compares element by element, NULL elements last, then by
// length, dimensions and bounds, as PostgreSQL's btarraycmp.
func compareArrays(elem Type, a, b []byte) int {
	x, y := DecodeArray(elem, a), DecodeArray(elem, b)
	for i := 0; i < x.N && i < y.N; i++ {
		if c := Compare(elem, x.Next(), y.Next()); c != 0 {
			return c
		}
	}
	if x.N != y.N {
		return cmpOrdered(x.N, y.N)
	}
	if x.NDim != y.NDim {
		return cmpOrdered(x.NDim, y.NDim)
	}
	for i := 0; i < x.NDim; i++ {
		if c := cmp.Or(cmpOrdered(x.Dims[i].Len, y.Dims[i].Len), cmpOrdered(x.Dims[i].Lower, y.Dims[i].Lower)); c != 0 {
			return c
		}
	}
	return 0
}

func compareRecords(a, b []byte) int {
	x, y := DecodeRecord(a), DecodeRecord(b)
	for x.N > 0 && y.N > 0 {
		tx, dx := x.Next()
		ty, dy := y.Next()
		if !tx.Same(ty) {
			return cmpOrdered(tx.OID(), ty.OID())
		}
		if c := Compare(tx, dx, dy); c != 0 {
			return c
		}
	}
	return cmpOrdered(x.N, y.N)
}

// Equal says whether Compare gives 0.
func Equal(t Type, a, b Datum) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	switch t.Kind {
	case Text, Varchar, Bytea, Name, Unknown, JSON:
		return bytes.Equal(a.B, b.B)
	}
	return Compare(t, a, b) == 0
}

// Hash gives a hash that is equal for values that are Equal, the same in every
// process and on every platform, so it may be stored.
func Hash(t Type, d Datum) uint64 {
	if d.Null {
		return 0x9e3779b97f4a7c15
	}
	switch t.Layout() {
	case LayoutI64:
		return HashInt64(d.I)
	case LayoutF64:
		return HashInt64(int64(floatKeyBits(d.F)))
	case LayoutPair:
		if t.Kind == Interval {
			h, l := intervalSpan(d)
			return HashInt64(int64(HashInt64(h)) ^ int64(l))
		}
		return HashInt64(int64(HashInt64(d.I)) ^ d.J)
	}
	switch t.Kind {
	case Text, Varchar, Bytea, Name, Unknown, JSON:
		return xxhash.Sum64(d.B)
	case Bpchar:
		return xxhash.Sum64(trimBlanks(d.B))
	}
	if t.Kind == Numeric {
		var buf [64]byte
		return xxhash.Sum64(appendNumKey(buf[:0], NumDecode(d.B)))
	}
	return xxhash.Sum64(appendKeyValue(make([]byte, 0, 2*len(d.B)+16), t, d))
}

// HashInt64 mixes one word; Hash of every LayoutI64 type is HashInt64 of its I.
func HashInt64(i int64) uint64 {
	hi, lo := bits.Mul64(uint64(i)^0xa0761d6478bd642f, 0xe7037ed1a0b428db)
	h := hi ^ lo
	h ^= h >> 32
	h *= 0x9fb21c651e98df25
	return h ^ h>>28
}

// floatKeyBits maps floats to words whose unsigned order is CompareFloat's.
func floatKeyBits(f float64) uint64 {
	if f != f {
		return math.MaxUint64
	}
	if f == 0 {
		f = 0 // -0 and 0 are one value
	}
	u := math.Float64bits(f)
	if u>>63 != 0 {
		return ^u
	}
	return u | 1<<63
}

// AppendKey appends an encoding whose bytes.Compare order is Compare's order
// (reversed for desc), with NULL first or last as asked. It is self-delimiting,
// so the keys of several columns can be concatenated, and identical for values
// that are Equal. It does not determine the value: see AppendValue for that.
//
// A key starts with 0 (NULL first), 1 (a value) or 2 (NULL last). The value
// follows: 8 bytes big-endian with the sign bit flipped for integers, times and
// floats; 16 bytes for two words; escaped bytes (0 as 0,255; end as 0,1) for
// text; and for desc the complement of all of that but the first byte.
func AppendKey(dst []byte, t Type, d Datum, desc, nullsFirst bool) []byte {
	if d.Null {
		if nullsFirst {
			return append(dst, 0)
		}
		return append(dst, 2)
	}
	dst = append(dst, 1)
	start := len(dst)
	dst = appendKeyValue(dst, t, d)
	if desc {
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst
}

func appendKeyValue(dst []byte, t Type, d Datum) []byte {
	switch t.Layout() {
	case LayoutI64:
		return appendKeyInt(dst, d.I)
	case LayoutF64:
		return binary.BigEndian.AppendUint64(dst, floatKeyBits(d.F))
	case LayoutPair:
		switch t.Kind {
		case UUID:
			dst = binary.BigEndian.AppendUint64(dst, uint64(d.I))
			return binary.BigEndian.AppendUint64(dst, uint64(d.J))
		case Interval:
			h, l := intervalSpan(d)
			return binary.BigEndian.AppendUint64(appendKeyInt(dst, h), l)
		}
		return appendKeyInt(appendKeyInt(dst, d.I), d.J)
	}
	switch t.Kind {
	case Numeric:
		return appendNumKey(dst, NumDecode(d.B))
	case Bpchar:
		return appendKeyBytes(dst, trimBlanks(d.B))
	case JSONB:
		return appendJSONBKey(dst, d.B)
	case Array, Int2Vector:
		return appendArrayKey(dst, t.ElemType(), d.B)
	case Record:
		return appendRecordKey(dst, d.B)
	}
	return appendKeyBytes(dst, d.B)
}

func appendKeyInt(dst []byte, i int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(i)^1<<63)
}

func appendKeyBytes(dst, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			return append(append(dst, b...), 0, 1)
		}
		dst = append(append(dst, b[:i]...), 0, 255)
		b = b[i+1:]
	}
}

// Classes of numeric keys, in order.
const (
	numKeyNegInf = 0x10
	numKeyNeg    = 0x20
	numKeyZero   = 0x30
	numKeyPos    = 0x40
	numKeyInf    = 0x50
	numKeyNaN    = 0x60
)

// appendNumKey appends the class and, for a finite number that is not zero, the
// decimal exponent in 3 bytes and the significant digits two to a byte (1 to
// 100, then 0 as the end), all of it complemented for a negative number.
func appendNumKey(dst []byte, n Num) []byte {
	switch {
	case n.form == numNaN:
		return append(dst, numKeyNaN)
	case n.form == numInf && n.neg:
		return append(dst, numKeyNegInf)
	case n.form == numInf:
		return append(dst, numKeyInf)
	case n.IsZero():
		return append(dst, numKeyZero)
	case n.neg:
		dst = append(dst, numKeyNeg)
	default:
		dst = append(dst, numKeyPos)
	}
	start := len(dst)
	var buf [48]byte
	d := n.appendDigits(buf[:0])
	exp := uint32(len(d) - int(n.scale) + 1<<22)
	for len(d) > 0 && d[len(d)-1] == '0' {
		d = d[:len(d)-1]
	}
	dst = append(dst, byte(exp>>16), byte(exp>>8), byte(exp))
	for ; len(d) > 1; d = d[2:] {
		dst = append(dst, (d[0]-'0')*10+d[1]-'0'+1)
	}
	if len(d) == 1 {
		dst = append(dst, (d[0]-'0')*10+1)
	}
	dst = append(dst, 0)
	if n.neg {
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst
}

// appendArrayKey: elements as keys with NULL last, then 0 as the end, which is
// below any element's first byte, then dimensions and bounds.
func appendArrayKey(dst []byte, elem Type, b []byte) []byte {
	a := DecodeArray(elem, b)
	for i := 0; i < a.N; i++ {
		dst = AppendKey(dst, elem, a.Next(), false, false)
	}
	dst = append(dst, 0, byte(a.NDim))
	for _, dim := range a.Dims[:a.NDim] {
		dst = binary.BigEndian.AppendUint32(dst, uint32(dim.Len))
		dst = binary.BigEndian.AppendUint32(dst, uint32(dim.Lower)^1<<31)
	}
	return dst
}

func appendRecordKey(dst []byte, b []byte) []byte {
	r := DecodeRecord(b)
	for r.N > 0 {
		t, d := r.Next()
		dst = binary.BigEndian.AppendUint32(append(dst, 1), t.OID())
		dst = AppendKey(dst, t, d, false, false)
	}
	return append(dst, 0)
}
