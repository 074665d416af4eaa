package batch

import (
	"math/rand/v2"
	"testing"

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
		fill := func(n int) *Batch {
			b := New(ts, 0)
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
		got, want := New(ts, 0), New(ts, 0)
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
