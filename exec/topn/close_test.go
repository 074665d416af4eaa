package topn

import (
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// TestClose: partitions by event time are forgotten when the watermark reaches them, their rows stay, and late rows are told: the result is that of
// an operator that forgets nothing and is given the rows on time.
func TestClose(t *testing.T) {
	rnd := seeded(t)
	in := dataflow.InputTypes{{i8, types.Of(types.Timestamp), i8}}
	for round := 0; round < 40; round++ {
		col := func(i int) plan.Expr { return optest.Col(in[0], i) }
		n := plan.TopN{Input: &plan.Values{}, PartitionBy: []plan.Expr{col(0), col(1)}, Sort: []plan.SortKey{{X: col(2)}}, Limit: 2, Offset: int64(rnd.Intn(2))}
		timed := n
		timed.Timed, timed.TimeKey = true, 1
		var runners [2]*optest.Runner
		for i, p := range []*plan.TopN{&timed, &n} {
			op, err := New(p, in, table.NewTransient(), 0, &kernel.Env{})
			if err != nil {
				t.Fatal(err)
			}
			runners[i] = optest.New(t, op, in, rnd)
		}
		mark := dataflow.NoWatermark
		open := map[int]int64{} // rows by event time
		nulls, late := int64(0), int64(0)
		for e := 0; e < 12; e++ {
			var all, onTime []optest.Change
			for k := rnd.Intn(40); k > 0; k-- {
				at := rnd.Intn(20)
				c := optest.Change{Row: optest.Row{rnd.Intn(2), at, rnd.Int63()}, W: 1}
				all = append(all, c)
				if mark.Late(int64(at)) {
					late++
					continue
				}
				open[at]++
				onTime = append(onTime, c)
			}
			if rnd.Intn(4) == 0 {
				c := optest.Change{Row: optest.Row{0, nil, rnd.Int63()}, W: 1}
				all, onTime, nulls = append(all, c), append(onTime, c), nulls+1
			}
			if rnd.Intn(2) == 0 {
				mark = max(mark, dataflow.Watermark(rnd.Intn(20)))
			}
			if err := runners[0].Epoch(all, mark, 0); err != nil {
				t.Fatal(err)
			}
			if err := runners[1].Epoch(onTime, dataflow.NoWatermark, 0); err != nil {
				t.Fatal(err)
			}
			optest.Equal(t, "rows", runners[0].Total, runners[1].Total)
			want := nulls
			for at, k := range open {
				if !mark.Late(int64(at)) {
					want += k
				}
			}
			if s := runners[0].Op.(dataflow.Stateful).Stats(); s.RowsTotal != want || s.RowsDroppedLate != late {
				t.Fatalf("%d rows in state, want %d; %d late, want %d", s.RowsTotal, want, s.RowsDroppedLate, late)
			}
		}
	}
}
