package batch_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestAppendPicked appends values of all lengths, chosen at random, to a column that has some, and compares them with what was chosen; nothing behind the column's memory, or that of
// what is copied, is touched.
func TestAppendPicked(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 2000 {
		most := []int{1, 9, 17, 40, 3000}[r.IntN(5)]
		var values [][]byte
		var data []byte
		off := []uint32{0}
		for range 1 + r.IntN(50) {
			v := make([]byte, r.IntN(most))
			for i := range v {
				v[i] = byte(r.Uint32())
			}
			values, data = append(values, v), append(data, v...)
			off = append(off, uint32(len(data)))
		}
		data = slices.Clip(data)
		v := batch.NewVector(types.Of(types.Bytea), 0)
		var want [][]byte
		for range r.IntN(3) {
			v.AppendBytes([]byte("before"))
			want = append(want, []byte("before"))
		}
		room := r.IntN(100)
		memory := bytes.Repeat([]byte{0xee}, len(v.Data)+room+64)
		v.Data = append(memory[:0:len(v.Data)+room], v.Data...)
		for range 1 + r.IntN(3) {
			sel := make([]int32, r.IntN(60))
			for i := range sel {
				sel[i] = int32(r.IntN(len(values)))
				want = append(want, values[sel[i]])
			}
			v.AppendPicked(data, off, sel)
		}
		if v.N != len(want) {
			t.Fatalf("seed %d: %d values, want %d", seed, v.N, len(want))
		}
		for i, w := range want {
			if !bytes.Equal(v.Bytes(i), w) {
				t.Fatalf("seed %d: value %d is %q, want %q", seed, i, v.Bytes(i), w)
			}
		}
		if tail := memory[len(memory)-64:]; !bytes.Equal(tail, bytes.Repeat([]byte{0xee}, 64)) {
			t.Fatalf("seed %d: memory behind the column was written to", seed)
		}
	}
}
