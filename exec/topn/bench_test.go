package topn

import (
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// BenchmarkTopN keeps the first 10 rows of each of 1000 partitions of about 1000 rows, under insertions and as many deletions.
func BenchmarkTopN(b *testing.B) { benchTopN(b, 1000, 10) }

// BenchmarkTopMany keeps the first 10,000 rows of a million: a change must not cost a pass over them.
func BenchmarkTopMany(b *testing.B) { benchTopN(b, 1, 10_000) }

func benchTopN(b *testing.B, partitions int, limit int64) {
	n := &plan.TopN{Input: optest.Input(ts, false), Limit: limit, PartitionBy: []plan.Expr{optest.Col(ts, 0)},
		Sort: []plan.SortKey{{X: optest.Col(ts, 1)}}}
	op := newOp(b, n)
	out := func(*batch.Batch) error { return nil }
	ep := &dataflow.Epoch{Before: dataflow.NoWatermark, After: dataflow.NoWatermark}
	const live = 1 << 20
	row := func(in *batch.Batch, i int, w int64) {
		h := types.HashInt64(int64(i))
		in.Cols[0].AppendInt(int64(h % uint64(partitions)))
		in.Cols[1].AppendInt(int64(h >> 20))
		in.Cols[2].AppendString("abcdefghijkl")
		in.EndRow(w)
	}
	epoch := func(from, n int, deletes bool) {
		for ; n > 0; n -= batch.Target {
			in := batch.New(ts, 2*batch.Target)
			for i := 0; i < batch.Target; i++ {
				row(in, from+i, 1)
				if deletes {
					row(in, from+i-live, -1)
				}
			}
			from += batch.Target
			if err := op.Push(ep, 0, in, out); err != nil {
				b.Fatal(err)
			}
		}
		if err := op.EndEpoch(ep, out); err != nil {
			b.Fatal(err)
		}
	}
	epoch(0, live, false)
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += 4 * batch.Target {
		epoch(live+done/2, 2*batch.Target, true)
	}
}
