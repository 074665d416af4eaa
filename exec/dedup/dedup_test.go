package dedup

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

const second = 1_000_000

var ts = []types.Type{types.Of(types.Int8), types.Of(types.Text), types.Of(types.Timestamp)} // id, name, time

func newOp(t testing.TB, n *plan.Dedup) dataflow.Operator {
	t.Helper()
	op, err := New(n, dataflow.InputTypes{ts}, table.NewTransient(), 0, &kernel.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return op
}

// model is reference 6.1 and 6.2, row by row, with a map.
type model struct {
	n         *plan.Dedup
	keys      []int
	expires   map[string]int64
	out, late optest.ZSet
}

func (m *model) epoch(rows []optest.Row, before, after dataflow.Watermark) {
	for _, r := range rows {
		if m.n.TimeCol >= 0 && r[2] != nil && before != dataflow.NoWatermark && int64(r[2].(int)) <= int64(before) {
			m.late.Add(optest.Print(ts, r), 1)
			continue
		}
		key := ""
		for _, k := range m.keys {
			key += fmt.Sprintf("%v|", r[k])
		}
		if _, ok := m.expires[key]; ok {
			continue
		}
		at := int64(math.MaxInt64)
		if r[2] != nil && m.n.Within {
			at = int64(r[2].(int)) + m.n.Delay.Micros
		} else if r[2] != nil && m.n.TimeKey >= 0 {
			at = int64(r[2].(int))
		}
		m.expires[key] = at
		m.out.Add(optest.Print(ts, r), 1)
	}
	if after == dataflow.NoWatermark {
		return
	}
	for k, at := range m.expires {
		if at != math.MaxInt64 && at <= int64(after) {
			delete(m.expires, k)
		}
	}
}

func TestDedup(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	in := dataflow.InputTypes{ts}
	for _, c := range []struct {
		name            string
		keys            []int
		timeKey, timeCo int
		within          bool
	}{
		{"id, no watermark", []int{0}, -1, -1, false},
		{"id", []int{0}, -1, 2, false},
		{"name", []int{1}, -1, 2, false},
		{"time", []int{2}, 0, 2, false},
		{"id and time", []int{0, 2}, 1, 2, false},
		{"id within", []int{0}, -1, 2, true},
		{"id and name within", []int{0, 1}, -1, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := &plan.Dedup{TimeKey: c.timeKey, TimeCol: c.timeCo, Within: c.within, Delay: catalog.Delay{Micros: 3 * second}, SpanMicros: 3 * second}
			for _, k := range c.keys {
				n.Keys = append(n.Keys, optest.Col(ts, k))
			}
			op := newOp(t, n)
			r := optest.New(t, op, in, rnd)
			m := &model{n: n, keys: c.keys, expires: map[string]int64{}, out: optest.ZSet{}, late: optest.ZSet{}}
			before := dataflow.NoWatermark
			for e := 0; e < 40; e++ {
				var rows []optest.Row
				var cs []optest.Change
				for i := rnd.Intn(40); i > 0; i-- {
					row := optest.Row{rnd.Intn(9), string(rune('a' + rnd.Intn(3))), (e + rnd.Intn(6)) * second}
					if rnd.Intn(8) == 0 {
						row[rnd.Intn(3)] = nil
					}
					w := 1 + int64(rnd.Intn(5)/4)
					cs = append(cs, optest.Change{Row: row, W: w})
					for ; w > 0; w-- {
						rows = append(rows, row)
					}
				}
				after := max(before, dataflow.Watermark((e+rnd.Intn(3))*second))
				if e < 3 {
					after = dataflow.NoWatermark
				}
				if err := r.Epoch(cs, after, 0); err != nil {
					t.Fatal(err)
				}
				m.epoch(rows, before, after)
				before = after
				optest.Equal(t, fmt.Sprintf("epoch %d", e), r.Total, m.out)
				optest.Equal(t, "late", r.Late, m.late)
				if got := op.(dataflow.Stateful).Stats().RowsTotal; got != int64(len(m.expires)) {
					t.Fatalf("epoch %d: %d keys in state, want %d", e, got, len(m.expires))
				}
			}
		})
	}
}

// TestLargeEpochs fills several chunks of the expiry list and forgets them bit by bit.
func TestLargeEpochs(t *testing.T) {
	n := &plan.Dedup{Keys: []plan.Expr{optest.Col(ts, 0)}, TimeKey: -1, TimeCol: 2, Within: true, Delay: catalog.Delay{Micros: second}, SpanMicros: second}
	op := newOp(t, n)
	r := optest.New(t, op, dataflow.InputTypes{ts}, nil)
	var cs []optest.Change
	for i := 0; i < 3000; i++ {
		cs = append(cs, optest.Change{Row: optest.Row{i, "x", (i * 7 % 3000) * 1000}, W: 1})
	}
	for _, c := range []struct {
		cs    []optest.Change
		after dataflow.Watermark
		left  int64
	}{{cs, dataflow.NoWatermark, 3000}, {nil, second - 1, 3000}, {nil, second, 2999}, {nil, second + 999, 2999}, {nil, second + 1_500_500, 1499}, {nil, second + 2_999_000, 0}} {
		if err := r.Epoch(c.cs, c.after, 0); err != nil {
			t.Fatal(err)
		}
		if got := op.(dataflow.Stateful).Stats().RowsTotal; got != c.left {
			t.Fatalf("%d keys at %d, want %d", got, c.after, c.left)
		}
	}
}

func TestRefusesDeletions(t *testing.T) {
	op := newOp(t, &plan.Dedup{Keys: []plan.Expr{optest.Col(ts, 0)}, TimeKey: -1, TimeCol: -1})
	r := optest.New(t, op, dataflow.InputTypes{ts}, nil)
	err := r.Epoch([]optest.Change{{Row: optest.Row{1, "x", 0}, W: -1}}, dataflow.NoWatermark, 0)
	if sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
		t.Fatal(err)
	}
}

// BenchmarkDedup: new ids within a watermark that follows, half of the rows duplicates.
func BenchmarkDedup(b *testing.B) {
	n := &plan.Dedup{Keys: []plan.Expr{optest.Col(ts, 0)}, TimeKey: -1, TimeCol: 2, Within: true, Delay: catalog.Delay{Micros: 1 << 20}, SpanMicros: 1 << 20}
	op := newOp(b, n)
	const rows = 2048
	cols := batch.New(ts, rows)
	out := func(*batch.Batch) error { return nil }
	for i := 0; i < rows; i++ {
		cols.Cols[0].AppendInt(0)
		cols.Cols[1].AppendString("abcdefghijkl")
		cols.Cols[2].AppendInt(0)
		cols.EndRow(1)
	}
	b.ResetTimer()
	for done := 0; done < b.N; {
		ep := &dataflow.Epoch{N: uint64(done), Before: dataflow.Watermark(done - 1<<20), After: dataflow.Watermark(done - 1<<20)}
		for k := 0; k < 32 && done < b.N; k++ {
			for i := 0; i < rows; i++ {
				cols.Cols[0].I64[i] = int64((done + i) / 2 * 7919)
				cols.Cols[2].I64[i] = int64(done + i)
			}
			done += rows
			if err := op.Push(ep, 0, cols, out); err != nil {
				b.Fatal(err)
			}
		}
		if err := op.EndEpoch(ep, out); err != nil {
			b.Fatal(err)
		}
	}
}
