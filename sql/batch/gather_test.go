package batch

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// Selected values are appended as if one by one, whatever the layout, to vectors with and without room, with and without NULLs.
func TestAppendSelected(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	for _, kind := range []types.Kind{types.Int8, types.Float8, types.Interval, types.Text} {
		typ := types.Of(kind)
		for round := range 100 {
			src := NewVector(typ, 0)
			for range 1 + rnd.IntN(100) {
				x := rnd.Int64()
				src.AppendDatum(types.Datum{I: x, J: ^x, F: float64(x), B: fmt.Append(nil, x>>rnd.IntN(64)), Null: round%2 == 1 && x&3 == 0})
			}
			got, want := NewVector(typ, rnd.IntN(300)), NewVector(typ, 0)
			for range 3 {
				sel := []int32{}
				for i := range src.N {
					if rnd.IntN(3) == 0 {
						sel = append(sel, int32(i))
					}
				}
				got.AppendVector(src, sel)
				for _, i := range sel {
					want.AppendFrom(src, int(i))
				}
			}
			if got.N != want.N {
				t.Fatalf("%v: %d values, want %d", typ, got.N, want.N)
			}
			for i := range want.N {
				if g, w := got.Datum(i), want.Datum(i); g.Null != w.Null || !w.Null && !reflect.DeepEqual(g, w) {
					t.Fatalf("%v, value %d: %v, want %v", typ, i, g, w)
				}
			}
		}
	}
}
