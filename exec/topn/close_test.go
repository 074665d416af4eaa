package topn

import (
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/state/table"
)

// TestClose: partitions by event time are forgotten when the watermark reaches them.
func TestClose(t *testing.T) {
	rnd := seeded(t)
	for offset := range int64(2) {
		optest.Closing(t, rnd, i8, func(in dataflow.InputTypes, timed bool) (dataflow.Operator, error) {
			col := func(i int) plan.Expr { return optest.Col(in[0], i) }
			n := plan.TopN{Input: &plan.Values{}, PartitionBy: []plan.Expr{col(0), col(1)}, Sort: []plan.SortKey{{X: col(2)}}, Limit: 2, Offset: offset,
				Timed: timed, TimeKey: 1}
			return New(&n, in, table.NewTransient(), 0, &kernel.Env{})
		})
	}
}
