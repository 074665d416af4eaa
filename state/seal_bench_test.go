package state

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/sql/workers"
)

// BenchmarkSeal takes in the changes of an epoch of a top n, by one worker and by several, whose work it adds up.
func BenchmarkSeal(b *testing.B) {
	ts := []types.Type{types.Of(types.Int8), types.Of(types.Int8), types.Of(types.Int8), types.Of(types.Timestamp)}
	r := rand.New(rand.NewPCG(1, 1))
	var batches []*batch.Batch
	for range 16 {
		x := batch.New(ts, batch.Target)
		for i := range 1200 {
			for c, most := range []int64{100_000, 1 << 16, 1000, 1 << 40} {
				x.Cols[c].AppendInt(r.Int64N(most))
			}
			x.EndRow(int64(1 - 2*(i%2)))
		}
		x.Gift = &batch.Gift{}
		batches = append(batches, x)
	}
	for _, n := range []int{1, 2} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				rows := Rows{st: &Store{}, codec: rowCodec{ts, nil}, tail: &run{}, rowSize: 40, team: workers.Team{Number: func() int { return n }}}
				for _, x := range batches {
					rows.Apply(x)
				}
				rows.sealTail()
			}
		})
	}
}
