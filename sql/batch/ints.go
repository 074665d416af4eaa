package batch

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync"
)

// units are what the values of a column of integers may all be multiples of, less the least of them.
var units = [...]uint64{1, 1000, 1_000_000}

// packRows is the number of integers that are made ready at a time.
const packRows = 256

// intScratch are integers that are made of other values to be encoded.
var intScratch = sync.Pool{New: func() any { return new([]int64) }}

// widthFor gives the width in bytes of values from 0 to span.
func widthFor(span uint64) int { return (bits.Len64(span) + 7) / 8 }

func appendInts(dst []byte, s []int64, left *int) []byte {
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, x := range s {
		lo, hi = min(lo, x), max(hi, x)
	}
	if len(s) == 0 {
		lo, hi = 0, 0
	}
	span := uint64(hi) - uint64(lo)
	w, unit := widthFor(span), 0
	for u := len(units) - 1; u > 0 && w > 2; u-- {
		if n := widthFor(span / units[u]); n < w && multiples(s, lo, units[u]) {
			w, unit = n, u
			break
		}
	}
	if w == 0 {
		if len(s) <= *left {
			*left -= len(s)
		} else {
			w = 1
		}
	}
	dst = append(dst, byte(w|unit<<4))
	if w == 8 {
		return append(dst, wordBytes(s)...)
	}
	dst = binary.AppendVarint(dst, lo)
	all, out := extendBytes(dst, len(s)*w+8)
	switch {
	case unit == 0:
		packInts(out, s, lo, w)
	default:
		var block [packRows]int64
		for i := 0; i < len(s); i += packRows {
			part := block[:min(packRows, len(s)-i)]
			divide(part, s[i:], lo, unit)
			packInts(out[i*w:], part, 0, w)
		}
	}
	return all[:len(dst)+len(s)*w]
}

// multiples says whether every value, less lo, is a multiple of unit.
func multiples(s []int64, lo int64, unit uint64) bool {
	switch unit { // a division by a constant is a multiplication
	case 1000:
		for _, x := range s {
			if (uint64(x)-uint64(lo))%1000 != 0 {
				return false
			}
		}
	default:
		for _, x := range s {
			if (uint64(x)-uint64(lo))%1_000_000 != 0 {
				return false
			}
		}
	}
	return true
}

// divide gives the values as multiples of the unit, less lo.
func divide(out, s []int64, lo int64, unit int) {
	s = s[:len(out)]
	if unit == 1 {
		for i, x := range s {
			out[i] = int64((uint64(x) - uint64(lo)) / 1000)
		}
		return
	}
	for i, x := range s {
		out[i] = int64((uint64(x) - uint64(lo)) / 1_000_000)
	}
}

// packInts writes the values less lo, w bytes each, less than 8. out has 8 bytes more than they need.
func packInts(out []byte, s []int64, lo int64, w int) {
	switch w {
	case 0:
	case 1:
		out = out[:len(s)]
		for i, x := range s {
			out[i] = byte(x - lo)
		}
	case 2:
		for i, x := range s {
			binary.LittleEndian.PutUint16(out[2*i:], uint16(x-lo))
		}
	case 4:
		for i, x := range s {
			binary.LittleEndian.PutUint32(out[4*i:], uint32(x-lo))
		}
	default:
		for i, x := range s { // each overwrites what the one before wrote too much
			binary.LittleEndian.PutUint64(out[w*i:], uint64(x-lo))
		}
	}
}

// packed reads the head of ints: width, unit, base and the values' bytes.
func (r *reader) packed(n int) (w, unit int, base int64, p []byte) {
	head := r.byte()
	w, unit = int(head&15), int(head>>4)
	switch {
	case w > 8 || unit >= len(units) || w == 8 && unit > 0:
		r.bad = true
		return 0, 0, 0, nil
	case w == 0:
		if r.left -= n; r.left < 0 {
			r.bad = true
		}
	}
	if w != 8 {
		base = r.varint()
	}
	p = r.take(n * w)
	return w, unit, base, p
}

// ints reads n integers into s, or into larger memory.
func (r *reader) ints(s []int64, n int) []int64 {
	w, unit, base, p := r.packed(n)
	if r.bad {
		return nil
	}
	if w == 8 {
		return words(s, p)
	}
	s = resize(s, n)
	k := int64(units[unit])
	switch w {
	case 0:
		for i := range s {
			s[i] = base
		}
	case 1:
		for i, x := range p[:len(s)] {
			s[i] = base + k*int64(x)
		}
	case 2:
		for i := range s {
			s[i] = base + k*int64(binary.LittleEndian.Uint16(p[2*i:]))
		}
	case 4:
		for i := range s {
			s[i] = base + k*int64(binary.LittleEndian.Uint32(p[4*i:]))
		}
	default:
		unpackInts(s, p, w, base, k)
	}
	return s
}

// unpackInts reads values of 3, 5, 6 or 7 bytes, eight at a time while there are so many.
func unpackInts(s []int64, p []byte, w int, base, k int64) {
	mask := uint64(1)<<(8*w) - 1
	i := 0
	for ; w*i+8 <= len(p); i++ {
		s[i] = base + k*int64(binary.LittleEndian.Uint64(p[w*i:])&mask)
	}
	for ; i < len(s); i++ {
		x := uint64(0)
		for b := w - 1; b >= 0; b-- {
			x = x<<8 | uint64(p[w*i+b])
		}
		s[i] = base + k*int64(x)
	}
}
