package batch

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"unsafe"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// The binary form of a batch (State: on disk):
//
//	version 1 | flags 1 | uvarint rows | uvarint columns | [weights] | column...
//	column:  kind 1 | elem 1 | varint mod | flags 1 | [validity] | values
//	values:  LayoutI64 ints; LayoutF64 8 bytes each; LayoutPair ints ints;
//	         LayoutBytes ints (the lengths), then the bytes
//	ints:    width 1 | varint base | rows * width bytes, each value less base
//
// Numbers are little-endian. Width is 0, 1, 2, 4 or 8, of which 8 has no base
// and 0 means that all values are alike. A batch has at most maxConstant values
// of width 0: so the size of a batch in memory is bounded by that of its encoding.
const (
	codecVersion = 1
	hasWeights   = 1
	hasNulls     = 1
	maxConstant  = 1 << 18
	maxColumns   = 1 << 14
)

var errCodec = errors.New("batch: truncated or malformed encoding")

// Encode appends the binary form of b to dst. Decode reads it.
func Encode(dst []byte, b *Batch) []byte {
	flags := byte(0)
	if b.Weights != nil {
		flags |= hasWeights
	}
	dst = append(dst, codecVersion, flags)
	dst = binary.AppendUvarint(dst, uint64(b.N))
	dst = binary.AppendUvarint(dst, uint64(len(b.Cols)))
	left := maxConstant
	if b.Weights != nil {
		dst = appendInts(dst, b.Weights[:b.N], &left)
	}
	for _, v := range b.Cols {
		dst = appendVector(dst, v, &left)
	}
	return dst
}

// appendVector appends a column; left is how many values of width 0 may follow.
func appendVector(dst []byte, v *Vector, left *int) []byte {
	n := v.N
	flags := byte(0)
	if v.Valid != nil {
		flags |= hasNulls
	}
	dst = append(dst, byte(v.Type.Kind), byte(v.Type.Elem))
	dst = append(binary.AppendVarint(dst, int64(v.Type.Mod)), flags)
	if v.Valid != nil {
		for _, w := range v.Valid[:(n+63)/64] {
			dst = binary.LittleEndian.AppendUint64(dst, w)
		}
	}
	switch v.Type.Layout() {
	case types.LayoutI64:
		return appendInts(dst, v.I64[:n], left)
	case types.LayoutF64:
		return append(dst, wordBytes(v.F64[:n])...)
	case types.LayoutPair:
		return appendInts(appendInts(dst, v.I64[:n], left), v.J64[:n], left)
	}
	if n == 0 {
		return appendInts(dst, nil, left)
	}
	dst = appendLengths(dst, v.Off[:n+1], left)
	return append(dst, v.Data[v.Off[0]:v.Off[n]]...)
}

// widthFor gives the width in bytes of values from 0 to span.
func widthFor(span uint64, n int, left *int) int {
	switch l := bits.Len64(span); {
	case l == 0 && n <= *left:
		*left -= n
		return 0
	case l <= 8:
		return 1
	case l <= 16:
		return 2
	case l <= 32:
		return 4
	}
	return 8
}

func appendInts(dst []byte, s []int64, left *int) []byte {
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, x := range s {
		lo, hi = min(lo, x), max(hi, x)
	}
	if len(s) == 0 {
		lo, hi = 0, 0
	}
	w := widthFor(uint64(hi)-uint64(lo), len(s), left)
	dst = append(dst, byte(w))
	if w == 8 {
		return append(dst, wordBytes(s)...)
	}
	dst = binary.AppendVarint(dst, lo)
	dst, out := extendBytes(dst, len(s)*w)
	switch w {
	case 1:
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
	}
	return dst
}

func appendLengths(dst []byte, off []uint32, left *int) []byte {
	var buf [Target]int64
	n := len(off) - 1
	lens := buf[:]
	if n > len(buf) {
		lens = make([]int64, n)
	}
	for i := range n {
		lens[i] = int64(off[i+1] - off[i])
	}
	return appendInts(dst, lens[:n], left)
}

// extendBytes lengthens dst by n bytes of unspecified content and gives them.
func extendBytes(dst []byte, n int) (all, tail []byte) {
	l := len(dst)
	if cap(dst)-l < n {
		dst = append(make([]byte, 0, 2*l+n), dst...)
	}
	dst = dst[:l+n]
	return dst, dst[l:]
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// wordBytes gives the little-endian bytes of 8-byte values, as a view of them where the machine allows.
func wordBytes[T int64 | float64](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	view := unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), 8*len(s))
	if littleEndian {
		return view
	}
	out := make([]byte, 8*len(s))
	for i := range s {
		binary.LittleEndian.PutUint64(out[8*i:], binary.NativeEndian.Uint64(view[8*i:]))
	}
	return out
}

// words is the reverse of wordBytes; it copies into s, or into larger memory.
func words[T int64 | float64](s []T, b []byte) []T {
	s = resize(s, len(b)/8)
	if len(s) == 0 {
		return s
	}
	view := unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(b))
	copy(view, b)
	if !littleEndian {
		for i := range s {
			binary.NativeEndian.PutUint64(view[8*i:], binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	return s
}

// Decode reads a batch that Encode wrote and that makes up all of b. Bytes
// columns alias b, which must not change while the batch is in use. An error
// means that b is corrupt or of an unknown version; memory in proportion to
// len(b), and some megabytes beyond it, is allocated at most.
func Decode(b []byte) (*Batch, error) { return new(Decoder).Decode(b) }

// reader takes an encoding apart; after a malformed part it is bad and gives zeros.
type reader struct {
	b    []byte
	left int // values of width 0 that may follow
	bad  bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad = true
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) byte() byte {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (r *reader) uvarint(limit uint64) int {
	x, k := binary.Uvarint(r.b)
	if k <= 0 || x > limit {
		r.bad = true
		return 0
	}
	r.b = r.b[k:]
	return int(x)
}

func (r *reader) varint() int64 {
	x, k := binary.Varint(r.b)
	if k <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[k:]
	return x
}

// packed reads the head of ints: width, base and the values' bytes.
func (r *reader) packed(n int) (w int, base int64, p []byte) {
	w = int(r.byte())
	switch w {
	case 0:
		if r.left -= n; r.left < 0 {
			r.bad = true
		}
	case 1, 2, 4, 8:
	default:
		r.bad = true
	}
	if w != 8 {
		base = r.varint()
	}
	p = r.take(n * w)
	return w, base, p
}

// ints reads n integers into s, or into larger memory.
func (r *reader) ints(s []int64, n int) []int64 {
	w, base, p := r.packed(n)
	if r.bad {
		return nil
	}
	if w == 8 {
		return words(s, p)
	}
	s = resize(s, n)
	switch w {
	case 0:
		for i := range s {
			s[i] = base
		}
	case 1:
		for i, x := range p[:len(s)] {
			s[i] = base + int64(x)
		}
	case 2:
		for i := range s {
			s[i] = base + int64(binary.LittleEndian.Uint16(p[2*i:]))
		}
	case 4:
		for i := range s {
			s[i] = base + int64(binary.LittleEndian.Uint32(p[4*i:]))
		}
	}
	return s
}
