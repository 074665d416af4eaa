package connector

import (
	"encoding/binary"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Fingerprint is the hash of a batch's values, by which rows that are read again are known to be the same. It depends on the values
// only, not on how they came. It is never 0, which means none.
func Fingerprint(b *batch.Batch) uint64 {
	h := xxhash.New()
	var word [8]byte
	number := func(n int) {
		binary.LittleEndian.PutUint64(word[:], uint64(n))
		_, _ = h.Write(word[:])
	}
	number(b.N)
	for _, v := range b.Cols {
		number(int(v.Type.Kind))
		for i := 0; i < v.N && v.Valid != nil; i++ {
			if v.IsNull(i) {
				number(i)
			}
		}
		switch v.Type.Layout() {
		case types.LayoutI64:
			_, _ = h.Write(words(v.I64[:v.N]))
		case types.LayoutF64:
			_, _ = h.Write(words(v.F64[:v.N]))
		case types.LayoutPair:
			_, _ = h.Write(words(v.I64[:v.N]))
			_, _ = h.Write(words(v.J64[:v.N]))
		default:
			_, _ = h.Write(words(v.Off[:v.N+1]))
			_, _ = h.Write(v.Data[v.Off[0]:v.Off[v.N]])
		}
	}
	return max(h.Sum64(), 1)
}

// words gives the bytes of a slice of numbers. The machines that we run on are little-endian.
func words[T int64 | float64 | uint32](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}
