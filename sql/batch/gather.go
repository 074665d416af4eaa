package batch

import (
	"slices"
	"unsafe"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// picked is a slice to which the selected values of another are appended.
type picked struct {
	dst *[]int64
	src []int64
}

// gather appends the selected rows of src to the columns. Columns of words without NULLs are gathered four at a time: to read which row comes
// next, and to check it, takes as long as to copy a word of it.
func (b *Batch) gather(src *Batch, sel []int32) {
	var four [4]picked
	n := 0
	add := func(dst *[]int64, from []int64) {
		four[n] = picked{dst, from[:src.N]}
		if n++; n == len(four) {
			appendFour(&four, sel)
			n = 0
		}
	}
	for c, v := range b.Cols {
		x := src.Cols[c]
		layout := v.Type.Layout()
		if x.Valid != nil || v.Valid != nil || layout != types.LayoutI64 && layout != types.LayoutPair {
			v.AppendVector(x, sel)
			continue
		}
		add(&v.I64, x.I64)
		if layout == types.LayoutPair {
			add(&v.J64, x.J64)
		}
		v.N += len(sel)
	}
	for _, p := range four[:n] {
		*p.dst = appendPicked(*p.dst, p.src, sel)
	}
}

// appendFour is appendPicked for four slices, of which those that are read are as long as the first.
func appendFour(four *[4]picked, sel []int32) {
	var to [4][]int64
	for c, p := range four {
		at := len(*p.dst)
		*p.dst = slices.Grow(*p.dst, len(sel))[:at+len(sel)]
		to[c] = (*p.dst)[at:]
	}
	s0, d0 := four[0].src, to[0][:len(sel)]
	s1, s2, s3 := four[1].src[:len(s0)], four[2].src[:len(s0)], four[3].src[:len(s0)]
	d1, d2, d3 := to[1][:len(sel)], to[2][:len(sel)], to[3][:len(sel)]
	for k, i := range sel {
		d0[k], d1[k], d2[k], d3[k] = s0[i], s1[i], s2[i], s3[i]
	}
}

// short is up to which length a value is copied as if it were so long, without a loop or a call.
const short = 16

// AppendPicked appends to a column of bytes without NULLs the values that sel names, of which value i is data from off[i] to off[i+1].
func (v *Vector) AppendPicked(data []byte, off []uint32, sel []int32) {
	if len(sel) == 0 {
		return
	}
	n := len(v.Off)
	v.Off = slices.Grow(v.Off, len(sel))[:n+len(sel)]
	ends, mean := v.Off[n:], len(data)/max(len(off)-1, 1)+1
	for v.N += len(sel); ; {
		v.Data = slices.Grow(v.Data, len(sel)*mean+short) // if they are as long as others
		k := v.appendShort(data, off, sel, ends)
		if k == len(sel) {
			return
		}
		v.Data = append(v.Data, data[off[sel[k]]:off[sel[k]+1]]...)
		ends[k] = uint32(len(v.Data))
		if sel, ends = sel[k+1:], ends[k+1:]; len(sel) == 0 {
			return
		}
	}
}

// appendShort appends values up to the first that is not short, or that lies at the end of the data or of v's memory, and gives their number; ends gets where they end.
func (v *Vector) appendShort(data []byte, off []uint32, sel []int32, ends []uint32) int {
	at, buf := len(v.Data), v.Data[:cap(v.Data)]
	near, room := len(data)-short, len(buf)-short
	from, to := unsafe.Pointer(unsafe.SliceData(data)), unsafe.Pointer(unsafe.SliceData(buf))
	ends = ends[:len(sel)]
	for k, i := range sel {
		lo, hi := int(off[i]), int(off[i+1])
		if uint(hi-lo) > short || lo > near || at > room {
			v.Data = buf[:at]
			return k
		}
		*(*[short]byte)(unsafe.Add(to, at)) = *(*[short]byte)(unsafe.Add(from, lo)) // the compiler would look at both places again
		at += hi - lo
		ends[k] = uint32(at)
	}
	v.Data = buf[:at]
	return len(sel)
}
