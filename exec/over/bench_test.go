package over

import (
	"fmt"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/state/table"
)

// BenchmarkAtTheEnd adds a row at the end of a long partition and takes it away again.
func BenchmarkAtTheEnd(b *testing.B) {
	in := dataflow.InputTypes{ts}
	frames := map[string]plan.Frame{"running": {}, "range": {Mode: "range", Start: plan.FrameBound{Kind: "preceding", Offset: optest.Const(i8, 1<<40)}, End: plan.FrameBound{Kind: "current row"}}}
	for name, frame := range frames {
		for _, rows := range []int{10_000, 100_000} {
			b.Run(fmt.Sprint(name, rows), func(b *testing.B) {
				f := with(overFunc("count", 1, i8), optest.Col(ts, 2))
				f.Frame = frame
				op, err := New(&plan.OverWindow{Sort: []plan.SortKey{{X: optest.Col(ts, 1)}}, Funcs: []plan.OverFunc{*f}}, in, table.NewTransient(), 0, &kernel.Env{})
				if err != nil {
					b.Fatal(err)
				}
				epoch := func(first, n int, w int64) {
					var cs []optest.Change
					for i := first; i < first+n; i++ {
						cs = append(cs, optest.Change{Row: optest.Row{0, i, i}, W: w})
					}
					ep := &dataflow.Epoch{Before: dataflow.NoWatermark, After: dataflow.NoWatermark}
					none := func(*batch.Batch) error { return nil }
					if err := op.Push(ep, 0, optest.Batch(ts, cs), none); err != nil {
						b.Fatal(err)
					}
					if err := op.EndEpoch(ep, none); err != nil {
						b.Fatal(err)
					}
				}
				epoch(0, rows, 1)
				b.ResetTimer()
				for i := 0; i < b.N; i++ {
					epoch(rows, 1, 1-2*int64(i%2))
				}
			})
		}
	}
}
