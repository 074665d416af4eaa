package types

import (
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// MaxDims is PostgreSQL's limit on the dimensions of an array.
const MaxDims = 6

// maxArrayElems bounds the elements of one array.
const maxArrayElems = 1 << 27

// The stored form of an array (Datum.B) is
//
//	byte           number of dimensions; 0 is the empty array, and nothing follows
//	per dimension  uvarint length, varint lower bound
//	elements       row values (AppendValue) in row-major order, NULL included

// Dim is one dimension: its length and the subscript of its first element.
type Dim struct {
	Len   int
	Lower int
}

// ArrayValue reads an array's elements in storage order. It aliases the bytes
// it was made from. Copying it copies the position.
type ArrayValue struct {
	Elem Type
	NDim int
	Dims [MaxDims]Dim // the first NDim count
	N    int          // elements in all
	rest []byte
}

// DecodeArray reads the header of a stored array; elem is the element type.
// Malformed bytes give an empty array.
func DecodeArray(elem Type, b []byte) ArrayValue {
	a := ArrayValue{Elem: elem}
	if len(b) == 0 || b[0] == 0 || b[0] > MaxDims {
		return a
	}
	ndim := int(b[0])
	b = b[1:]
	n := 1
	for i := 0; i < ndim; i++ {
		l, k := binary.Uvarint(b)
		if k <= 0 || l > maxArrayElems {
			return a
		}
		low, k2 := binary.Varint(b[k:])
		if k2 <= 0 {
			return a
		}
		a.Dims[i] = Dim{Len: int(l), Lower: int(low)}
		n *= int(l)
		if n > maxArrayElems {
			return a
		}
		b = b[k+k2:]
	}
	if n > len(b) { // every element takes at least one byte
		return a
	}
	a.NDim, a.N, a.rest = ndim, n, b
	return a
}

// Next gives the next element, NULL past the end. B aliases the array.
func (a *ArrayValue) Next() Datum {
	d, rest, err := ReadValue(a.Elem, a.rest)
	if err != nil {
		return NullDatum
	}
	a.rest = rest
	return d
}

// Elems gives all elements that are left, aliasing the array.
func (a ArrayValue) Elems() []Datum {
	out := make([]Datum, a.N)
	for i := range out {
		out[i] = a.Next()
	}
	return out
}

// At gives the element with the given subscripts, NULL where one is out of
// bounds or their number is not that of the dimensions.
func (a ArrayValue) At(subscripts ...int) Datum {
	if len(subscripts) != a.NDim || a.NDim == 0 {
		return NullDatum
	}
	at := 0
	for i, s := range subscripts {
		s -= a.Dims[i].Lower
		if s < 0 || s >= a.Dims[i].Len {
			return NullDatum
		}
		at = at*a.Dims[i].Len + s
	}
	for ; at > 0; at-- {
		a.Next()
	}
	return a.Next()
}

// ArrayLen gives the number of elements of a stored array without reading them.
func ArrayLen(b []byte) int { return DecodeArray(Of(Text), b).N }

// AppendArray appends the stored form of a one-dimensional array with lower bound 1.
func AppendArray(dst []byte, elem Type, elems []Datum) []byte {
	if len(elems) == 0 {
		return append(dst, 0)
	}
	dst = appendArrayHeader(dst, []Dim{{Len: len(elems), Lower: 1}})
	for _, e := range elems {
		dst = AppendValue(dst, elem, e)
	}
	return dst
}

// AppendArrayDims is AppendArray for the given dimensions. Errors: 2202E where
// they do not multiply to the number of elements, 54000 beyond MaxDims.
func AppendArrayDims(dst []byte, elem Type, dims []Dim, elems []Datum) ([]byte, error) {
	n := 1
	for _, d := range dims {
		n *= d.Len
	}
	switch {
	case len(dims) > MaxDims:
		return dst, errTooManyDims(len(dims))
	case len(dims) == 0 || n == 0:
		if len(elems) == 0 {
			return append(dst, 0), nil
		}
		fallthrough
	case n != len(elems):
		return dst, sqlerr.New(sqlerr.ArraySubscriptError, "multidimensional arrays must have array expressions with matching dimensions")
	}
	dst = appendArrayHeader(dst, dims)
	for _, e := range elems {
		dst = AppendValue(dst, elem, e)
	}
	return dst, nil
}

func errTooManyDims(n int) error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", n, MaxDims)
}

func appendArrayHeader(dst []byte, dims []Dim) []byte {
	dst = append(dst, byte(len(dims)))
	for _, d := range dims {
		dst = binary.AppendUvarint(dst, uint64(d.Len))
		dst = binary.AppendVarint(dst, int64(d.Lower))
	}
	return dst
}

// RecordValue is a reader of a stored anonymous composite, whose form is a uvarint
// count and, for each field, its kind, element kind and row value; of the row of a table, the names of
// all fields follow, each behind its length as a uvarint.
type RecordValue struct {
	N    int // fields left
	rest []byte
}

// DecodeRecord starts reading a stored record. Malformed bytes give no fields.
func DecodeRecord(b []byte) RecordValue {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)) {
		return RecordValue{}
	}
	return RecordValue{N: int(n), rest: b[k:]}
}

// Next gives the next field's type and value, which aliases the record.
func (r *RecordValue) Next() (Type, Datum) {
	r.N--
	if len(r.rest) < 3 {
		r.N, r.rest = 0, nil
		return Of(Unknown), NullDatum
	}
	t := Type{Kind: Kind(r.rest[0]), Elem: Kind(r.rest[1])}
	d, rest, err := ReadValue(t, r.rest[2:])
	if err != nil {
		r.N, r.rest = 0, nil
		return t, NullDatum
	}
	r.rest = rest
	return t, d
}

// AppendRecord appends the stored form of an anonymous composite.
func AppendRecord(dst []byte, ts []Type, ds []Datum) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(ts)))
	for i, t := range ts {
		dst = append(dst, byte(t.Kind), byte(t.Elem))
		dst = AppendValue(dst, t, ds[i])
	}
	return dst
}

// AppendRecordNames appends the names of all fields to the stored form of a record.
func AppendRecordNames(dst []byte, names []string) []byte {
	for _, n := range names {
		dst = binary.AppendUvarint(dst, uint64(len(n)))
		dst = append(dst, n...)
	}
	return dst
}

// RecordNames gives the names of a stored record's fields, nil if it has none.
func RecordNames(b []byte) []string {
	r := DecodeRecord(b)
	n := r.N
	for r.N > 0 {
		r.Next()
	}
	if n == 0 || len(r.rest) == 0 {
		return nil
	}
	names := make([]string, 0, n)
	for range n {
		size, k := binary.Uvarint(r.rest)
		if k <= 0 || size > uint64(len(r.rest)-k) {
			return nil
		}
		names = append(names, string(r.rest[k:k+int(size)]))
		r.rest = r.rest[k+int(size):]
	}
	return names
}
