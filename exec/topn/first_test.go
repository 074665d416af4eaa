package topn

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// firstTypes have a key of one word, event time, and values to sort by of each layout.
var firstTypes = []types.Type{i8, types.Of(types.Timestamp), types.Of(types.Text), i8, types.Of(types.Float8), types.Of(types.Bool)}

// firstPlan makes a random plan that first can do.
func firstPlan(rnd *rand.Rand) *plan.TopN {
	col := func(i int) plan.Expr { return optest.Col(firstTypes, i) }
	n := &plan.TopN{Input: optest.Input(firstTypes, true), Limit: 1 + int64(rnd.Intn(5)), Offset: int64(max(0, rnd.Intn(5)-2))}
	n.PartitionBy = [][]plan.Expr{nil, {col(0)}, {col(0)}, {col(5)}, {col(2)}, {col(2), col(0)}, {col(0), col(1)}}[rnd.Intn(7)]
	if len(n.PartitionBy) == 2 && rnd.Intn(2) == 0 {
		n.PartitionBy[0], n.PartitionBy[1] = col(2), col(1)
	}
	for i, x := range n.PartitionBy {
		if x.Type().Kind == types.Timestamp {
			n.Timed, n.TimeKey = true, i
		}
	}
	for k := rnd.Intn(3); k > 0; k-- {
		n.Sort = append(n.Sort, plan.SortKey{X: col(2 + rnd.Intn(4)), Desc: rnd.Intn(2) == 0, NullsFirst: rnd.Intn(2) == 0})
	}
	return n
}

func firstRow(rnd *rand.Rand) optest.Row {
	text := []string{"", "a", "ab", "a\x00b", "b", "a long text that is more than a word", "a long text that is more than one"}
	row := optest.Row{rnd.Intn(4), rnd.Intn(20), text[rnd.Intn(len(text))], []int{rnd.Intn(6) - 3, int(rnd.Int63()), -int(rnd.Int63())}[rnd.Intn(3)],
		float64(rnd.Intn(9)-4) / 2, rnd.Intn(2)}
	for c := range row {
		if rnd.Intn(8) == 0 {
			row[c] = nil
		}
	}
	return row
}

// TestFirstIsTopN: the lists of first rows give the same changes in each epoch as the operator that keeps all rows in order, over random rows, with
// checkpoints, eviction and restarts in between, and the same result in a SELECT.
func TestFirstIsTopN(t *testing.T) {
	rnd := seeded(t)
	in := dataflow.InputTypes{firstTypes}
	wasBlock, wasAhead := block, ahead
	defer func() { block, ahead = wasBlock, wasAhead }()
	for round := 0; round < 400; round++ {
		block, ahead = []int{1, 3, wasBlock}[rnd.Intn(3)], []int{1, 2, wasAhead}[rnd.Intn(3)]
		n := firstPlan(rnd)
		disk := optest.Disk{}
		var sp *table.Space
		open := func() dataflow.Operator {
			sp = table.Open(disk)
			op, err := New(n, in, sp, 0, &kernel.Env{})
			if err != nil {
				t.Fatal(err)
			}
			if err := sp.Verify(); err != nil {
				t.Fatal(err)
			}
			return op.(*first)
		}
		general := func() *optest.Runner {
			op, err := newTopN(n, in, table.NewTransient(), 0, &kernel.Env{})
			if err != nil {
				t.Fatal(err)
			}
			return optest.New(t, op, in, rnd)
		}
		got, want := optest.New(t, open(), in, rnd), general()
		what := fmt.Sprintf("round %d: by %v, sort %+v, offset %d, limit %d", round, n.PartitionBy, n.Sort, n.Offset, n.Limit)
		have := partitions{n: n, rows: map[string]int64{}, times: map[string]any{}}
		mark := dataflow.NoWatermark
		var all []optest.Change
		for e := 0; e < 10; e++ {
			var cs []optest.Change
			for k := rnd.Intn(30); k > 0; k-- {
				c := optest.Change{Row: firstRow(rnd), W: int64(max(1, rnd.Intn(8)-4))}
				cs = append(cs, c)
				have.add(c, mark)
			}
			all = append(all, cs...)
			if rnd.Intn(3) == 0 {
				mark = max(mark, dataflow.Watermark(rnd.Intn(20)))
			}
			for _, r := range []*optest.Runner{got, want} {
				if err := r.Epoch(cs, mark, 0); err != nil {
					t.Fatal(err)
				}
			}
			optest.Equal(t, fmt.Sprintf("%s: epoch %d", what, e), got.Delta, want.Delta)
			optest.Equal(t, what+": late rows", got.Late, want.Late)
			have.close(mark)
			if s := got.Op.(dataflow.Stateful).Stats(); s.RowsTotal != have.total() {
				t.Fatalf("%s: epoch %d: %d rows in state, want %d", what, e, s.RowsTotal, have.total())
			}
			if rnd.Intn(2) == 0 {
				if err := disk.Write(sp.Freeze()); err != nil {
					t.Fatal(err)
				}
				switch rnd.Intn(3) {
				case 0:
					sp.Evict(rnd.Int63n(sp.MemBytes() + 1))
				case 1:
					got.Op = open()
				}
			}
		}
		op, err := New(n, in, table.NewTransient(), 0, &kernel.Env{})
		if err != nil {
			t.Fatal(err)
		}
		final, wantFinal := optest.New(t, op, in, rnd), general()
		final.Final, wantFinal.Final = true, true
		for _, r := range []*optest.Runner{final, wantFinal} {
			if err := r.Epoch(all, dataflow.NoWatermark, 0); err != nil {
				t.Fatal(err)
			}
		}
		optest.Equal(t, what+": SELECT", final.Total, wantFinal.Total)
	}
}

// partitions counts the rows that are kept of each.
type partitions struct {
	n     *plan.TopN
	rows  map[string]int64
	times map[string]any
}

func (p *partitions) add(c optest.Change, mark dataflow.Watermark) {
	var key optest.Row
	var time any
	for i, x := range p.n.PartitionBy {
		v := c.Row[x.(*plan.Col).Index]
		key = append(key, v)
		if p.n.Timed && i == p.n.TimeKey {
			time = v
		}
	}
	if at, ok := time.(int); ok && mark.Late(int64(at)) {
		return
	}
	k := fmt.Sprintf("%q", fmt.Sprintf("%#v", key))
	p.rows[k] = min(p.rows[k]+c.W, p.n.Offset+p.n.Limit)
	p.times[k] = time
}

func (p *partitions) close(mark dataflow.Watermark) {
	for k, at := range p.times {
		if at, ok := at.(int); ok && mark.Late(int64(at)) {
			delete(p.rows, k)
			delete(p.times, k)
		}
	}
}

func (p *partitions) total() (n int64) {
	for _, k := range p.rows {
		n += k
	}
	return n
}

// TestSelectOrder: a SELECT gives partitions, and the rows of each, in their order.
func TestSelectOrder(t *testing.T) {
	n := &plan.TopN{Input: optest.Input(ts, true), Limit: 2, PartitionBy: []plan.Expr{optest.Col(ts, 0)}, Sort: []plan.SortKey{{X: optest.Col(ts, 1), Desc: true}}}
	op, err := New(n, dataflow.InputTypes{ts}, table.NewTransient(), 0, &kernel.Env{})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	emit := func(b *batch.Batch) error {
		for i := 0; i < b.N; i++ {
			got += optest.Text(b, i) + "; "
		}
		return nil
	}
	ep := &dataflow.Epoch{Final: true, Before: dataflow.NoWatermark, After: dataflow.NoWatermark}
	var cs []optest.Change
	for _, r := range []optest.Row{{7, 1, "a"}, {nil, 5, "b"}, {-3, 2, "c"}, {7, 3, "d"}, {7, 2, "e"}, {nil, 6, "f"}} {
		cs = append(cs, optest.Change{Row: r, W: 1})
	}
	if err := op.Push(ep, 0, optest.Batch(ts, cs), emit); err != nil {
		t.Fatal(err)
	}
	if err := op.EndEpoch(ep, emit); err != nil {
		t.Fatal(err)
	}
	if want := "-3|2|c; 7|3|d; 7|2|e; NULL|6|f; NULL|5|b; "; got != want {
		t.Fatalf("%s\nwant %s", got, want)
	}
}
