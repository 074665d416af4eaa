package over

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
	optest.Closing(t, rnd, i4, func(in dataflow.InputTypes, timed bool) (dataflow.Operator, error) {
		col := func(i int) plan.Expr { return optest.Col(in[0], i) }
		n := plan.OverWindow{PartitionBy: []plan.Expr{col(0), col(1)}, Sort: []plan.SortKey{{X: col(2)}}, Timed: timed, TimeKey: 1,
			Funcs: []plan.OverFunc{*overFunc("row_number", 0, i8), *with(overFunc("count", 1, i8), col(2))}}
		return New(&n, in, table.NewTransient(), 0, &kernel.Env{})
	})
}
