package types

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// The row value encoding: compact, self-delimiting and exact.
//
//	LayoutI64    0 for NULL; else 1+n and the n low bytes, little-endian, of the
//	             zigzag form, n from 0 to 8
//	LayoutF64    0 for NULL; else 1 and 8 bytes, little-endian
//	LayoutPair   0 for NULL; else both words as in LayoutI64
//	LayoutBytes  uvarint of 0 for NULL, else length + 1 and the bytes

var errValue = errors.New("types: truncated or malformed value")

// AppendValue appends the row value encoding of d, NULL included. It does not
// allocate beyond growing dst.
func AppendValue(dst []byte, t Type, d Datum) []byte {
	if d.Null {
		return append(dst, 0)
	}
	switch t.Layout() {
	case LayoutI64:
		return AppendIntValue(dst, d.I)
	case LayoutF64:
		return binary.LittleEndian.AppendUint64(append(dst, 1), math.Float64bits(d.F))
	case LayoutPair:
		return AppendIntValue(AppendIntValue(dst, d.I), d.J)
	}
	return append(binary.AppendUvarint(dst, uint64(len(d.B))+1), d.B...)
}

// ReadValue reads one value that AppendValue wrote and gives what follows it.
// Datum.B aliases b. An error means that b is corrupt.
func ReadValue(t Type, b []byte) (Datum, []byte, error) {
	if len(b) == 0 {
		return Datum{}, nil, errValue
	}
	if b[0] == 0 {
		return NullDatum, b[1:], nil
	}
	var d Datum
	var ok bool
	switch t.Layout() {
	case LayoutI64:
		d.I, b, ok = ReadIntValue(b)
	case LayoutF64:
		if len(b) >= 9 {
			d.F, b, ok = math.Float64frombits(binary.LittleEndian.Uint64(b[1:])), b[9:], true
		}
	case LayoutPair:
		if d.I, b, ok = ReadIntValue(b); ok {
			d.J, b, ok = ReadIntValue(b)
		}
	default:
		n, k := binary.Uvarint(b)
		if k > 0 && n-1 <= uint64(len(b)-k) {
			end := k + int(n-1)
			d.B, b, ok = b[k:end:end], b[end:], true
		}
	}
	if !ok {
		return Datum{}, nil, errValue
	}
	return d, b, nil
}

// AppendIntValue is AppendValue for a value of LayoutI64 that is not NULL.
func AppendIntValue(dst []byte, i int64) []byte {
	z := uint64(i)<<1 ^ uint64(i>>63)
	n := (bits.Len64(z) + 7) / 8
	// All eight bytes are written, in one store, and those that are not needed given up again.
	dst = append(dst, byte(1+n))
	return binary.LittleEndian.AppendUint64(dst, z)[:len(dst)+n]
}

// ReadIntValue reads what AppendIntValue wrote at the front of b and gives what follows it; false for NULL, and for corrupt bytes.
func ReadIntValue(b []byte) (int64, []byte, bool) {
	if len(b) == 0 || b[0] == 0 || b[0] > 9 {
		return 0, nil, false
	}
	n := int(b[0]) - 1
	if len(b) < 1+n {
		return 0, nil, false
	}
	var z uint64
	if len(b) >= 9 {
		z = binary.LittleEndian.Uint64(b[1:])
		if n < 8 {
			z &= 1<<(8*n) - 1
		}
	} else {
		for i := n; i > 0; i-- {
			z = z<<8 | uint64(b[i])
		}
	}
	return int64(z>>1) ^ -int64(z&1), b[1+n:], true
}
