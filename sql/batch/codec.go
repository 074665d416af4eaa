package batch

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// The binary form of a batch (State: on disk):
//
//	version 1 | flags 1 | uvarint rows | uvarint columns | [weights] | column...
//	column:  kind 1 | elem 1 | varint mod | flags 1 | [validity] | values
//	values:  LayoutI64 ints; LayoutF64 floats; LayoutPair ints ints;
//	         LayoutBytes ints (the lengths), then bytes
//	ints:    width + 16 * unit 1 | varint base | rows * width bytes
//	floats:  digits 1 | ints, or 8 bytes each for digits 255
//	bytes:   packed 1 | as they are, or for packed 1: uvarint length, S2 block
//
// Numbers are little-endian. A value of ints is base + unit * what is stored,
// where unit is 1, 1000 or 1000000 for 0, 1 and 2: times are often whole milliseconds or seconds.
// Width is 0 to 8, of which 8 has neither base nor unit, and 0 means that all
// values are alike. A batch has at most maxConstant values of width 0, and an S2 block is not much shorter than
// a hundredth of what it holds: so the size of a batch in memory is bounded by that of its encoding.
// Floats with a few digits behind the point are integers, divided by 10^digits.
const (
	codecVersion = 2
	hasWeights   = 1
	hasNulls     = 1
	maxConstant  = 1 << 18
	maxColumns   = 1 << 14
)

var errCodec = errors.New("batch: truncated or malformed encoding")

// Encode appends the binary form of b to dst. Decode reads it.
func Encode(dst []byte, b *Batch) []byte {
	var room [16]int // for ends that nobody asks for, without an allocation
	dst, _ = EncodeParts(dst, b, room[:0])
	return dst
}

// EncodeParts is Encode that appends to ends where, counted from what dst was, the head ends and where each column, so that Decoder.Columns can read some of them by themselves.
func EncodeParts(dst []byte, b *Batch, ends []int) ([]byte, []int) {
	from := len(dst)
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
	ends = append(ends, len(dst)-from)
	for _, v := range b.Cols {
		dst = appendVector(dst, v, &left)
		ends = append(ends, len(dst)-from)
	}
	return dst, ends
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
		return appendFloats(dst, v.F64[:n], left)
	case types.LayoutPair:
		return appendInts(appendInts(dst, v.I64[:n], left), v.J64[:n], left)
	}
	if n == 0 {
		return appendBytes(appendInts(dst, nil, left), nil)
	}
	dst = appendLengths(dst, v.Off[:n+1], left)
	return appendBytes(dst, v.Data[v.Off[0]:v.Off[n]])
}

func appendLengths(dst []byte, off []uint32, left *int) []byte {
	scratch := intScratch.Get().(*[]int64)
	defer intScratch.Put(scratch)
	*scratch = resize(*scratch, len(off)-1)
	lens := *scratch
	for i := range lens {
		lens[i] = int64(off[i+1] - off[i])
	}
	return appendInts(dst, lens, left)
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
