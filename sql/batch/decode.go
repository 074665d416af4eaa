package batch

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// Decoder reads batches that Encode wrote, one after another, into memory that it uses again. One goroutine uses it.
type Decoder struct {
	// Want says which columns are wanted, by index; nil: all. Columns beyond it are not wanted.
	Want []bool

	out     Batch
	own     []*Vector // memory of the columns
	bytes   [][]byte  // memory of the values of columns whose bytes are packed
	weights []int64
	lens    []int64
}

// Decode reads a batch that makes up all of b. It is valid until the next call, and bytes columns alias b. A column that is not
// wanted is nil, and of its values no more is looked at than is needed to find the next column. Errors and memory as those of the function Decode.
func (d *Decoder) Decode(b []byte) (*Batch, error) {
	if len(b) < 2 {
		return nil, errCodec
	}
	if b[0] != codecVersion {
		return nil, fmt.Errorf("batch: unknown version %d of the encoding", b[0])
	}
	r := reader{b: b[2:], left: maxConstant}
	n, cols := r.uvarint(math.MaxInt32), r.uvarint(maxColumns)
	out := &d.out
	*out = Batch{N: n, Cols: out.Cols[:0]}
	if b[1]&hasWeights != 0 {
		d.weights = r.ints(d.weights, n)
		out.Weights = d.weights
		for _, w := range out.Weights {
			if w == 0 {
				r.bad = true
			}
		}
	}
	if r.bad || cols > len(r.b) {
		return nil, errCodec
	}
	for i := range cols {
		var v *Vector
		if d.Wants(i) {
			v = d.column(&r, i, n)
		} else {
			d.skip(&r, n)
		}
		if r.bad {
			return nil, errCodec
		}
		out.Cols = append(out.Cols, v)
	}
	if len(r.b) > 0 {
		return nil, errCodec
	}
	return out, nil
}

// Wants says whether column i is wanted.
func (d *Decoder) Wants(i int) bool { return d.Want == nil || i < len(d.Want) && d.Want[i] }

// Columns gives what Decode gives of a batch of n rows without weights: load gives the bytes of a column that is wanted, which EncodeParts tells, and which are needed for as long as the batch. Errors are
// those of load, and those of Decode.
func (d *Decoder) Columns(n, cols int, load func(i int) ([]byte, error)) (*Batch, error) {
	out := &d.out
	*out = Batch{N: n, Cols: out.Cols[:0]}
	for i := range cols {
		var v *Vector
		if d.Wants(i) {
			b, err := load(i)
			if err != nil {
				return nil, err
			}
			r := reader{b: b, left: maxConstant}
			if v = d.column(&r, i, n); r.bad || len(r.b) > 0 {
				return nil, errCodec
			}
		}
		out.Cols = append(out.Cols, v)
	}
	return out, nil
}

// column reads column i into memory that is used again.
func (d *Decoder) column(r *reader, i, n int) *Vector {
	for i >= len(d.own) {
		d.own, d.bytes = append(d.own, nil), append(d.bytes, nil)
	}
	if d.own[i] == nil {
		d.own[i] = &Vector{}
	}
	d.vector(r, d.own[i], n, &d.bytes[i])
	return d.own[i]
}

// vector reads a column into v; data is the memory for its bytes where they cannot stay where they are.
func (d *Decoder) vector(r *reader, v *Vector, n int, data *[]byte) {
	*v = Vector{N: n, Type: r.columnType(), I64: v.I64, J64: v.J64, F64: v.F64, Off: v.Off, Valid: v.Valid}
	valid := v.Valid
	v.Valid = nil
	if r.byte()&hasNulls != 0 {
		p := r.take((n + 63) / 64 * 8)
		v.Valid = resize(valid, len(p)/8)
		for i := range v.Valid {
			v.Valid[i] = binary.LittleEndian.Uint64(p[8*i:])
		}
	}
	if r.bad {
		return
	}
	switch v.Type.Layout() {
	case types.LayoutI64:
		v.I64 = r.ints(v.I64, n)
	case types.LayoutF64:
		v.F64 = d.floats(r, v.F64, n)
	case types.LayoutPair:
		v.I64 = r.ints(v.I64, n)
		v.J64 = r.ints(v.J64, n)
	default:
		d.lens = r.ints(d.lens, n)
		if r.bad {
			return
		}
		v.Off = resize(v.Off, n+1)
		v.Off[0] = 0
		total := int64(0)
		for i, l := range d.lens {
			if total += min(max(l, -1), math.MaxUint32); l < 0 || total > math.MaxUint32 {
				r.bad = true
				return
			}
			v.Off[i+1] = uint32(total)
		}
		v.Data = r.bytes(data, int(total))
	}
}

// skip passes over a column.
func (d *Decoder) skip(r *reader, n int) {
	t := r.columnType()
	if r.byte()&hasNulls != 0 {
		r.take((n + 63) / 64 * 8)
	}
	if r.bad {
		return
	}
	switch t.Layout() {
	case types.LayoutI64:
		r.packed(n)
	case types.LayoutF64:
		r.skipFloats(n)
	case types.LayoutPair:
		r.packed(n)
		r.packed(n)
	default:
		d.lens = r.ints(d.lens, n)
		total := int64(0)
		for _, l := range d.lens {
			if total += min(max(l, -1), math.MaxUint32); l < 0 || total > math.MaxUint32 {
				r.bad = true
				return
			}
		}
		r.skipBytes(int(total))
	}
}

// columnType reads the type of a column.
func (r *reader) columnType() (t types.Type) {
	t.Kind, t.Elem = types.Kind(r.byte()), types.Kind(r.byte())
	t.Mod = int32(r.varint())
	if t.Kind >= types.NumKinds || t.Elem >= types.NumKinds {
		r.bad = true
	}
	return t
}

// resize gives s the length n, in its own memory if that is large enough; the values are unspecified.
func resize[S ~[]T, T any](s S, n int) S {
	if cap(s) < n {
		return make(S, n)
	}
	return s[:n]
}
