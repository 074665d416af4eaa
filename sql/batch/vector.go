// Package batch holds the one currency of the engine: columns of typed values
// and, with a weight for each row, changes to a relation. Input rows, deltas
// between operators, query results and parameters are all a Batch.
//
// The layout of columns is Apache Arrow's in spirit (validity bitmap, flat
// values, offsets into a byte buffer) with every integer-like type widened to
// int64, so that there are four layouts and not twenty.
package batch

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sql/reuse"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Vector is one column: N values of one type. Only the slices of its type's
// layout are used:
//
//	LayoutI64    I64
//	LayoutF64    F64
//	LayoutPair   I64 (first word) and J64 (second word)
//	LayoutBytes  Off (N+1 offsets, ascending, Off[0] may be > 0) into Data
//
// A NULL's value slot exists and its content is unspecified (for LayoutBytes: empty).
// A vector is owned by whoever made it; one that was handed on is read-only.
// Views made with Slice share memory with their source.
type Vector struct {
	Type  types.Type
	N     int
	Valid Bitmap // bit 1: not NULL; nil: no NULL at all
	I64   []int64
	J64   []int64
	F64   []float64
	Off   []uint32
	Data  []byte
}

// Bitmap is a packed bit set, least significant bit first.
type Bitmap []uint64

// NewBitmap makes a bitmap of n bits, all set or all clear.
func NewBitmap(n int, set bool) Bitmap {
	b := make(Bitmap, (n+63)/64)
	if set {
		for i := range b {
			b[i] = ^uint64(0)
		}
	}
	return b
}

// Get reads bit i.
func (b Bitmap) Get(i int) bool { return b[i>>6]>>(uint(i)&63)&1 != 0 }

// Set sets bit i.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// Clear clears bit i.
func (b Bitmap) Clear(i int) { b[i>>6] &^= 1 << (uint(i) & 63) }

// NewVector makes an empty vector with room for capacity values.
func NewVector(t types.Type, capacity int) *Vector {
	v := &Vector{}
	v.init(t, capacity)
	return v
}

func (v *Vector) init(t types.Type, capacity int) {
	v.Type = t
	switch t.Layout() {
	case types.LayoutI64:
		v.I64 = make([]int64, 0, capacity)
	case types.LayoutF64:
		v.F64 = make([]float64, 0, capacity)
	case types.LayoutPair:
		v.I64 = make([]int64, 0, capacity)
		v.J64 = make([]int64, 0, capacity)
	default:
		v.Off = make([]uint32, 1, capacity+1)
	}
}

// Reset empties the vector and keeps its memory. The vector must own its slices.
func (v *Vector) Reset(t types.Type) {
	reuse.Ints(v.I64)
	reuse.Ints(v.J64)
	reuse.Floats(v.F64)
	reuse.Bytes(v.Data)
	v.Type, v.N, v.Valid = t, 0, nil
	v.I64, v.J64, v.F64, v.Data = v.I64[:0], v.J64[:0], v.F64[:0], v.Data[:0]
	if t.Layout() == types.LayoutBytes {
		v.Off = append(v.Off[:0], 0)
	}
}

// Resize sets the length to n for layouts of fixed width, growing as needed,
// with unspecified values and no NULLs: for kernels that fill by index.
// LayoutBytes vectors are filled by appending instead.
func (v *Vector) Resize(n int) {
	v.N, v.Valid = n, nil
	switch v.Type.Layout() {
	case types.LayoutI64:
		v.I64 = grow(v.I64, n)
	case types.LayoutF64:
		v.F64 = grow(v.F64, n)
	case types.LayoutPair:
		v.I64 = grow(v.I64, n)
		v.J64 = grow(v.J64, n)
	default:
		panic("batch: Resize of a variable-length vector")
	}
}

func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n, n+n/4)
}

// IsNull says whether value i is NULL.
func (v *Vector) IsNull(i int) bool { return v.Valid != nil && !v.Valid.Get(i) }

// SetNull makes value i NULL.
func (v *Vector) SetNull(i int) {
	if v.Valid == nil {
		v.Valid = NewBitmap(max(v.N, i+1), true)
	}
	for len(v.Valid)*64 <= i {
		v.Valid = append(v.Valid, ^uint64(0))
	}
	v.Valid.Clear(i)
}

// Bytes gives value i of a LayoutBytes vector; it aliases the vector's data.
func (v *Vector) Bytes(i int) []byte { return v.Data[v.Off[i]:v.Off[i+1]:v.Off[i+1]] }

// Datum gives value i; B aliases the vector's data.
func (v *Vector) Datum(i int) types.Datum {
	if v.IsNull(i) {
		return types.NullDatum
	}
	switch v.Type.Layout() {
	case types.LayoutI64:
		return types.Datum{I: v.I64[i]}
	case types.LayoutF64:
		return types.Datum{F: v.F64[i]}
	case types.LayoutPair:
		return types.Datum{I: v.I64[i], J: v.J64[i]}
	}
	return types.Datum{B: v.Bytes(i)}
}

func (v *Vector) markAppended(null bool) {
	i := v.N
	v.N++
	if v.Valid != nil {
		if len(v.Valid)*64 <= i {
			v.Valid = append(v.Valid, ^uint64(0))
		} else {
			v.Valid.Set(i)
		}
	}
	if null {
		v.SetNull(i)
	}
}

// AppendNull appends NULL.
func (v *Vector) AppendNull() {
	switch v.Type.Layout() {
	case types.LayoutI64:
		v.I64 = append(v.I64, 0)
	case types.LayoutF64:
		v.F64 = append(v.F64, 0)
	case types.LayoutPair:
		v.I64, v.J64 = append(v.I64, 0), append(v.J64, 0)
	default:
		v.Off = append(v.Off, uint32(len(v.Data)))
	}
	v.markAppended(true)
}

// AppendInt appends to a LayoutI64 vector.
func (v *Vector) AppendInt(x int64) {
	v.I64 = append(v.I64, x)
	v.markAppended(false)
}

// AppendInts appends n values that are not NULL to a LayoutI64 vector, and gives them for the caller to fill.
func (v *Vector) AppendInts(n int) []int64 {
	v.I64 = slices.Grow(v.I64, n)[:v.N+n]
	v.Appended(n)
	return v.I64[v.N-n:]
}

// AppendPairs appends n values that are not NULL to a LayoutPair vector, and gives their halves for the caller to fill.
func (v *Vector) AppendPairs(n int) (i, j []int64) {
	v.I64, v.J64 = slices.Grow(v.I64, n)[:v.N+n], slices.Grow(v.J64, n)[:v.N+n]
	v.Appended(n)
	return v.I64[v.N-n:], v.J64[v.N-n:]
}

// Appended says that the caller appended n values to the vector's slices itself. They are not NULL; SetNull makes them so.
func (v *Vector) Appended(n int) {
	if v.Valid == nil {
		v.N += n
		return
	}
	for range n {
		v.markAppended(false)
	}
}

// AppendFloat appends to a LayoutF64 vector.
func (v *Vector) AppendFloat(x float64) {
	v.F64 = append(v.F64, x)
	v.markAppended(false)
}

// AppendPair appends to a LayoutPair vector.
func (v *Vector) AppendPair(i, j int64) {
	v.I64, v.J64 = append(v.I64, i), append(v.J64, j)
	v.markAppended(false)
}

// AppendBytes appends a copy of b to a LayoutBytes vector.
func (v *Vector) AppendBytes(b []byte) {
	v.Data = append(v.Data, b...)
	v.Off = append(v.Off, uint32(len(v.Data)))
	v.markAppended(false)
}

// AppendString appends a copy of s to a LayoutBytes vector.
func (v *Vector) AppendString(s string) {
	v.Data = append(v.Data, s...)
	v.Off = append(v.Off, uint32(len(v.Data)))
	v.markAppended(false)
}

// AppendDatum appends d, which must be of the vector's type.
func (v *Vector) AppendDatum(d types.Datum) {
	if d.Null {
		v.AppendNull()
		return
	}
	switch v.Type.Layout() {
	case types.LayoutI64:
		v.AppendInt(d.I)
	case types.LayoutF64:
		v.AppendFloat(d.F)
	case types.LayoutPair:
		v.AppendPair(d.I, d.J)
	default:
		v.AppendBytes(d.B)
	}
}

// AppendFrom appends value i of src, which must be of the same layout.
func (v *Vector) AppendFrom(src *Vector, i int) {
	if src.IsNull(i) {
		v.AppendNull()
		return
	}
	switch v.Type.Layout() {
	case types.LayoutI64:
		v.AppendInt(src.I64[i])
	case types.LayoutF64:
		v.AppendFloat(src.F64[i])
	case types.LayoutPair:
		v.AppendPair(src.I64[i], src.J64[i])
	default:
		v.AppendBytes(src.Bytes(i))
	}
}

// AppendVector appends the selected values of src (nil: all), which must be of the same layout.
func (v *Vector) AppendVector(src *Vector, sel []int32) {
	if sel != nil || src.Valid != nil || v.Valid != nil {
		if sel == nil {
			for i := 0; i < src.N; i++ {
				v.AppendFrom(src, i)
			}
			return
		}
		v.gather(src, sel)
		return
	}
	switch v.Type.Layout() {
	case types.LayoutI64:
		v.I64 = append(v.I64, src.I64[:src.N]...)
	case types.LayoutF64:
		v.F64 = append(v.F64, src.F64[:src.N]...)
	case types.LayoutPair:
		v.I64 = append(v.I64, src.I64[:src.N]...)
		v.J64 = append(v.J64, src.J64[:src.N]...)
	default:
		lo, base := src.Off[0], uint32(len(v.Data))
		v.Data = append(v.Data, src.Data[lo:src.Off[src.N]]...)
		for _, o := range src.Off[1 : src.N+1] {
			v.Off = append(v.Off, base+o-lo)
		}
	}
	v.N += src.N
}

func (v *Vector) gather(src *Vector, sel []int32) {
	if src.Valid != nil || v.Valid != nil {
		for _, i := range sel {
			v.AppendFrom(src, int(i))
		}
		return
	}
	switch v.Type.Layout() {
	case types.LayoutI64:
		v.I64 = appendPicked(v.I64, src.I64, sel)
	case types.LayoutF64:
		v.F64 = appendPicked(v.F64, src.F64, sel)
	case types.LayoutPair:
		v.I64, v.J64 = appendPicked(v.I64, src.I64, sel), appendPicked(v.J64, src.J64, sel)
	default:
		v.AppendPicked(src.Data, src.Off, sel)
		return
	}
	v.N += len(sel)
}

// appendPicked appends the values of src that sel names.
func appendPicked[T any](dst, src []T, sel []int32) []T {
	n := len(dst)
	dst = slices.Grow(dst, len(sel))[:n+len(sel)]
	out := dst[n:][:len(sel)] // so that the compiler need not look at each place in it
	for k, i := range sel {
		out[k] = src[i]
	}
	return dst
}

// Slice gives values [lo, hi) sharing memory where it can: only a validity
// bitmap that does not start on a word is copied.
func (v *Vector) Slice(lo, hi int) *Vector {
	s := v.View(lo, hi)
	return &s
}

// View is Slice that gives the vector itself.
func (v *Vector) View(lo, hi int) Vector {
	s := Vector{Type: v.Type, N: hi - lo}
	if v.Valid != nil {
		if lo&63 == 0 {
			s.Valid = v.Valid[lo>>6:]
		} else {
			s.Valid = NewBitmap(hi-lo, true)
			for i := lo; i < hi; i++ {
				if !v.Valid.Get(i) {
					s.Valid.Clear(i - lo)
				}
			}
		}
		// A slice is read-only and may be appended to only by its maker, so capacity is capped.
		s.Valid = s.Valid[: (hi-lo+63)/64 : (hi-lo+63)/64]
	}
	switch v.Type.Layout() {
	case types.LayoutI64:
		s.I64 = v.I64[lo:hi:hi]
	case types.LayoutF64:
		s.F64 = v.F64[lo:hi:hi]
	case types.LayoutPair:
		s.I64, s.J64 = v.I64[lo:hi:hi], v.J64[lo:hi:hi]
	default:
		s.Off, s.Data = v.Off[lo:hi+1:hi+1], v.Data[:len(v.Data):len(v.Data)]
	}
	return s
}

// Constant makes a vector of n copies of d.
func Constant(t types.Type, d types.Datum, n int) *Vector {
	v := NewVector(t, n)
	v.Data = slices.Grow(v.Data, len(d.B)*n)
	for i := 0; i < n; i++ {
		v.AppendDatum(d)
	}
	return v
}

// extend gives the vector, which is the end of another one, the memory that the other has behind its values.
func (v *Vector) extend(of *Vector) {
	v.I64, v.J64, v.F64 = behind(v.I64, of.I64), behind(v.J64, of.J64), behind(v.F64, of.F64)
	v.Off, v.Data = behind(v.Off, of.Off), behind(v.Data, of.Data)
}

func behind[T any](end, of []T) []T {
	if len(end) == 0 {
		return end
	}
	return of[len(of)-len(end):]
}

// MemBytes gives the bytes of memory that the vector's slices occupy.
func (v *Vector) MemBytes() int {
	return 8*(cap(v.I64)+cap(v.J64)+cap(v.F64)+len(v.Valid)) + 4*cap(v.Off) + cap(v.Data)
}
