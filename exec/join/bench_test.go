package join

import (
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// benchEpoch is the number of rows in an epoch of the benchmarks, half of them on each side.
const benchEpoch = 1 << 16

// BenchmarkInner joins on a key that has one row on each side.
func BenchmarkInner(b *testing.B) {
	n := equiJoin(plan.Inner, conds[0], true, false)
	bench(b, n, []types.Type{i8, i8, text}, func(cols []*batch.Vector, i int64) {
		cols[0].AppendInt(i * 7919)
		cols[1].AppendInt(i)
		cols[2].AppendString("abcdefghijkl")
	})
}

// BenchmarkRange joins on a key and a range of 5 seconds, with a watermark that follows by 10; state holds about 16k rows a side.
func BenchmarkRange(b *testing.B) {
	j := rangeJoin()
	j.n.Kind, j.n.Mode = plan.Inner, catalog.Append
	j.n.Left, j.n.Right = optest.Input(timedTs, true), optest.Input(timedTs, true)
	bench(b, &j.n, timedTs, func(cols []*batch.Vector, i int64) {
		cols[0].AppendInt(i % 10007)
		cols[1].AppendInt(i * 1000)
	})
}

// BenchmarkRangeOneKey is a range join in which all rows have the same key.
func BenchmarkRangeOneKey(b *testing.B) {
	j := rangeJoin()
	j.n.Kind, j.n.Mode = plan.Inner, catalog.Append
	j.n.Residual.(*plan.And).Args[1] = optest.Op("<=", optest.Col(timedTs2, 3), optest.Op("+", optest.Col(timedTs2, 1), interval(2000)))
	j.n.LeftState = &plan.StateBound{OffsetMicros: -3000}
	j.n.Left, j.n.Right = optest.Input(timedTs, true), optest.Input(timedTs, true)
	bench(b, &j.n, timedTs, func(cols []*batch.Vector, i int64) {
		cols[0].AppendInt(1)
		cols[1].AppendInt(i * 1000)
	})
}

func bench(b *testing.B, n *plan.Join, ts []types.Type, row func(cols []*batch.Vector, i int64)) {
	op := mustNew(b, n, dataflow.InputTypes{ts, ts})
	out := func(*batch.Batch) error { return nil }
	in := batch.New(ts, batch.Target)
	ep := &dataflow.Epoch{Before: dataflow.NoWatermark, After: dataflow.NoWatermark}
	at := int64(0)
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += benchEpoch {
		for k := int64(0); k < benchEpoch/2; k += batch.Target {
			for port := 0; port < 2; port++ {
				in.Reset()
				for i := int64(0); i < batch.Target; i++ {
					row(in.Cols, at+k+i)
					in.EndRow(1)
				}
				if err := op.Push(ep, port, in, out); err != nil {
					b.Fatal(err)
				}
			}
		}
		at += benchEpoch / 2
		if n.LeftState != nil {
			ep.Before, ep.After = ep.After, dataflow.Watermark(at*1000-10*second)
		}
		if err := op.EndEpoch(ep, out); err != nil {
			b.Fatal(err)
		}
	}
}
