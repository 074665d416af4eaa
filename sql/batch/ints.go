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
	if w == 0 {
		for i := range s {
			s[i] = base
		}
		return s
	}
	done := 0
	if k == 1 {
		done = unpackEights(s, p, w, base)
	}
	unpackInts(s[done:], p[w*done:], w, base, k)
	return s
}

// unpackEights reads values of 1, 2 or 4 bytes, eight at a time while there are so many, and says how many it read.
func unpackEights(s []int64, p []byte, w int, base int64) int {
	n := len(s) &^ 7
	if p = p[:w*n]; n == 0 {
		return 0
	}
	switch w {
	case 1:
		for i := 0; i < n; i += 8 {
			out, x := (*[8]int64)(s[i:]), binary.LittleEndian.Uint64(p[i:])
			out[0], out[1], out[2], out[3] = base+int64(uint8(x)), base+int64(uint8(x>>8)), base+int64(uint8(x>>16)), base+int64(uint8(x>>24))
			out[4], out[5], out[6], out[7] = base+int64(uint8(x>>32)), base+int64(uint8(x>>40)), base+int64(uint8(x>>48)), base+int64(x>>56)
		}
	case 2:
		for i := 0; i < n; i += 8 {
			out, in := (*[8]int64)(s[i:]), (*[16]byte)(p[2*i:])
			x, y := binary.LittleEndian.Uint64(in[:8]), binary.LittleEndian.Uint64(in[8:])
			out[0], out[1], out[2], out[3] = base+int64(uint16(x)), base+int64(uint16(x>>16)), base+int64(uint16(x>>32)), base+int64(x>>48)
			out[4], out[5], out[6], out[7] = base+int64(uint16(y)), base+int64(uint16(y>>16)), base+int64(uint16(y>>32)), base+int64(y>>48)
		}
	case 4:
		for i := 0; i < n; i += 8 {
			out, in := (*[8]int64)(s[i:]), (*[32]byte)(p[4*i:])
			for j := 0; j < 8; j += 2 {
				x := binary.LittleEndian.Uint64(in[4*j:])
				out[j], out[j+1] = base+int64(uint32(x)), base+int64(x>>32)
			}
		}
	default:
		return 0
	}
	return n
}

// unpackInts reads values of 1 to 7 bytes, eight bytes at a time while there are so many.
func unpackInts(s []int64, p []byte, w int, base, k int64) {
	mask := uint64(1)<<(8*w) - 1
	i, at := 0, 0
	for ; at+8 <= len(p) && i < len(s); i++ {
		s[i] = base + k*int64(binary.LittleEndian.Uint64(p[at:])&mask)
		at += w
	}
	for ; i < len(s); i++ {
		x := uint64(0)
		for b := w - 1; b >= 0; b-- {
			x = x<<8 | uint64(p[w*i+b])
		}
		s[i] = base + k*int64(x)
	}
}
