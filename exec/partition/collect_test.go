package partition

import (
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestCollector: what an operator emits comes out of a collector as it was, whether its memory was exchanged, kept or copied, and what somebody keeps of it stays so.
func TestCollector(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	ts := []types.Type{types.Of(types.Int8), types.Of(types.Text)}
	type change struct {
		n    int64
		text string
		w    int64
	}
	rowsOf := func(b *batch.Batch) (all []change) {
		for i := range b.N {
			all = append(all, change{b.Cols[0].I64[i], string(b.Cols[1].Bytes(i)), b.Weight(i)})
		}
		return all
	}
	out, next := rowenc.NewOut(ts), int64(0)
	var c collector
	type held struct {
		b    *batch.Batch
		rows []change
	}
	var kept []held
	for round := range 200 {
		var want, got []change
		for range rnd.Intn(5) {
			n, weighted := []int{0, 1, 300, 600, 2048, 5000}[rnd.Intn(6)], rnd.Intn(3) > 0
			for range n {
				next++
				x := change{next, string(make([]byte, rnd.Intn(4))), 1}
				if weighted && rnd.Intn(2) == 0 {
					x.w = -1
				}
				want = append(want, x)
				out.B.Cols[0].AppendInt(x.n)
				out.B.Cols[1].AppendString(x.text)
				if err := out.End(x.w, c.add); err != nil {
					t.Fatal(err)
				}
			}
			if err := out.Flush(c.add); err != nil {
				t.Fatal(err)
			}
		}
		err := c.giveAway(func(b *batch.Batch) error {
			got = append(got, rowsOf(b)...)
			if rnd.Intn(2) == 0 {
				kept = append(kept, held{b.Keep(), rowsOf(b)})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %d rows come out of %d, or others", round, len(got), len(want))
		}
		for i, k := range kept {
			if !slices.Equal(rowsOf(k.b), k.rows) {
				t.Fatalf("round %d: what was kept as the %d. is not what it was", round, i)
			}
		}
		kept = kept[max(0, len(kept)-10):]
	}
}
