package optest

import (
	"math/rand"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Closing tests an operator over partitions by event time: they are forgotten when the watermark reaches them, their rows stay, and
// late rows are told. The result is that of an operator that forgets nothing and is given the rows on time. build gives either for
// rows of a key, a timestamp, by both of which they are partitioned, and a value.
func Closing(t *testing.T, rnd *rand.Rand, key types.Type, build func(in dataflow.InputTypes, timed bool) (dataflow.Operator, error)) {
	t.Helper()
	in := dataflow.InputTypes{{key, types.Of(types.Timestamp), types.Of(types.Int8)}}
	for range 40 {
		var runners [2]*Runner
		for i := range runners {
			op, err := build(in, i == 0)
			if err != nil {
				t.Fatal(err)
			}
			runners[i] = New(t, op, in, rnd)
		}
		closing(t, rnd, runners[0], runners[1])
	}
}

func closing(t *testing.T, rnd *rand.Rand, timed, keeping *Runner) {
	t.Helper()
	mark := dataflow.NoWatermark
	open := map[int]int64{} // rows by event time
	nulls, late := int64(0), int64(0)
	for e := 0; e < 12; e++ {
		var all, onTime []Change
		for k := rnd.Intn(40); k > 0; k-- {
			at := rnd.Intn(20)
			c := Change{Row: Row{rnd.Intn(2), at, rnd.Int63()}, W: 1}
			all = append(all, c)
			if mark.Late(int64(at)) {
				late++
				continue
			}
			open[at]++
			onTime = append(onTime, c)
		}
		if rnd.Intn(4) == 0 {
			c := Change{Row: Row{0, nil, rnd.Int63()}, W: 1}
			all, onTime, nulls = append(all, c), append(onTime, c), nulls+1
		}
		if rnd.Intn(2) == 0 {
			mark = max(mark, dataflow.Watermark(rnd.Intn(20)))
		}
		if err := timed.Epoch(all, mark, 0); err != nil {
			t.Fatal(err)
		}
		if err := keeping.Epoch(onTime, dataflow.NoWatermark, 0); err != nil {
			t.Fatal(err)
		}
		Equal(t, "rows", timed.Total, keeping.Total)
		want := nulls
		for at, k := range open {
			if !mark.Late(int64(at)) {
				want += k
			}
		}
		if s := timed.Op.(dataflow.Stateful).Stats(); s.RowsTotal != want || s.RowsDroppedLate != late {
			t.Fatalf("%d rows in state, want %d; %d late, want %d", s.RowsTotal, want, s.RowsDroppedLate, late)
		}
	}
}
