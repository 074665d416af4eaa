package batch_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestGather: selected rows appended together are those appended one by one, whatever the columns.
func TestGather(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 7))
	kinds := []types.Type{types.Of(types.Int8), types.Of(types.Timestamp), types.Of(types.Bool), types.Of(types.Float8), types.Of(types.Text),
		types.Of(types.UUID), types.WindowOf(types.Timestamp)}
	for round := range 300 {
		var ts []types.Type
		for range r.IntN(9) {
			ts = append(ts, kinds[min(r.IntN(12), len(kinds)-1)])
		}
		nulls := make([]bool, len(ts))
		for i := range nulls {
			nulls[i] = r.IntN(4) == 0
		}
		fill := func(n int) *batch.Batch {
			b := batch.New(ts, 0)
			for range n {
				for c, v := range b.Cols {
					switch {
					case nulls[c] && r.IntN(5) == 0:
						v.AppendNull()
						continue
					case ts[c].Layout() == types.LayoutI64:
						v.AppendInt(r.Int64())
					case ts[c].Layout() == types.LayoutF64:
						v.AppendFloat(r.Float64())
					case ts[c].Layout() == types.LayoutPair:
						v.AppendPair(r.Int64(), r.Int64())
					default:
						v.AppendBytes(make([]byte, r.IntN(40)))
					}
				}
				b.EndRow(1)
			}
			return b
		}
		got, want := batch.New(ts, 0), batch.New(ts, 0)
		for range 3 {
			src, sel := fill(r.IntN(50)), []int32{}
			for range r.IntN(60) {
				if src.N > 0 {
					sel = append(sel, int32(r.IntN(src.N)))
				}
			}
			got.AppendBatch(src, sel)
			for _, i := range sel {
				want.AppendRow(src, int(i), 1)
			}
		}
		if got.N != want.N {
			t.Fatalf("seed %d, round %d: %d rows, want %d", seed, round, got.N, want.N)
		}
		for c, v := range got.Cols {
			if v.N != got.N {
				t.Fatalf("seed %d, round %d: column %d has %d values, want %d", seed, round, c, v.N, got.N)
			}
			for i := range got.N {
				if x, y := v.Datum(i), want.Cols[c].Datum(i); x.Null != y.Null || x.I != y.I || x.J != y.J || x.F != y.F || string(x.B) != string(y.B) {
					t.Fatalf("seed %d, round %d: row %d, column %d is %v, want %v", seed, round, i, c, x, y)
				}
			}
		}
	}
}

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
