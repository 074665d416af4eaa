package agg

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/window"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// benchTumbling measures count + sum + max over a tumbling window in append mode, epochs of 32 batches, the
// watermark moving with them and windows of perKey rows a key.
func benchTumbling(b *testing.B, keys, perKey int, text bool, mode catalog.OutputMode) {
	benchWindows(b, keys, perKey, 1, false, text, mode)
}

// benchWindows is benchTumbling over windows of so many slides; last says that the aggregate gives rows to them.
func benchWindows(b *testing.B, keys, perKey, slides int, last, text bool, mode catalog.OutputMode) {
	keyType := tInt8
	if text {
		keyType = tText
	}
	s := newSource(true, tTime, keyType, tInt8)
	size := int64(keys * perKey)
	w := &plan.Window{Input: s, Time: col(s, 0), Size: size, Slide: size / int64(slides), Last: last}
	w.P.Columns = append(append([]plan.Column(nil), s.P.Columns...), plan.Column{Name: "window", Type: tWindow})
	w.P.AppendOnly = true
	n := aggregate(w, mode, 0, []plan.Expr{col(w, 3), col(w, 1)}, call("count"), call("sum", col(w, 2)), call("max", col(w, 2)))
	env := &kernel.Env{}
	win, err := window.New(w, plan.Types(s), env)
	if err != nil {
		b.Fatal(err)
	}
	op, err := NewAggregate(n, plan.Types(w), table.NewTransient(), 0, env)
	if err != nil {
		b.Fatal(err)
	}
	const epochRows = 32 * batch.Target
	in := make([]*batch.Batch, 1024) // enough for many more different keys than an epoch has
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range in {
		x := batch.New([]types.Type{tTime, keyType, tInt8}, batch.Target)
		for j := 0; j < batch.Target; j++ {
			x.Cols[0].AppendInt(0)
			if k := rnd.IntN(keys); text {
				x.Cols[1].AppendString(fmt.Sprintf("key-%08d", k))
			} else {
				x.Cols[1].AppendInt(int64(k))
			}
			x.Cols[2].AppendInt(rnd.Int64N(1000))
			x.EndRow(1)
		}
		in[i] = x
	}
	rows := 0
	emit := func(x *batch.Batch) error { rows += x.N; return nil }
	ep := &dataflow.Epoch{Sink: &sink{}, Before: dataflow.NoWatermark}
	push := func(x *batch.Batch) error { return op.Push(ep, 0, x, nil) }
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += epochRows {
		ep.N++
		ep.After = dataflow.Watermark(done + epochRows - 1)
		for k := 0; k < 32; k++ {
			x := in[(done/batch.Target+k)%len(in)]
			at := int64(done + k*batch.Target)
			for j := range x.Cols[0].I64 {
				x.Cols[0].I64[j] = at + int64(j)
			}
			if err := win.Push(ep, 0, x, push); err != nil {
				b.Fatal(err)
			}
		}
		if err := op.EndEpoch(ep, emit); err != nil {
			b.Fatal(err)
		}
		ep.Before = ep.After
	}
	b.ReportMetric(float64(rows)/float64(b.N), "rows/op")
}

func BenchmarkTumbling1kIntKeys(b *testing.B) { benchTumbling(b, 1000, 20, false, catalog.Append) }
func BenchmarkTumbling100kIntKeys(b *testing.B) {
	benchTumbling(b, 100_000, 20, false, catalog.Append)
}
func BenchmarkTumbling1MIntKeys(b *testing.B) {
	benchTumbling(b, 1_000_000, 3, false, catalog.Append)
}
func BenchmarkTumbling100kStringKeys(b *testing.B) {
	benchTumbling(b, 100_000, 20, true, catalog.Append)
}
func BenchmarkTumbling1kIntKeysUpdate(b *testing.B) {
	benchTumbling(b, 1000, 20, false, catalog.Update)
}
func BenchmarkTumbling100kIntKeysUpdate(b *testing.B) {
	benchTumbling(b, 100_000, 20, false, catalog.Update)
}

func BenchmarkSliding1kIntKeys(b *testing.B) {
	benchWindows(b, 1000, 2000, 10, true, false, catalog.Append)
}
func BenchmarkSliding1kIntKeysUpdate(b *testing.B) {
	benchWindows(b, 1000, 2000, 10, true, false, catalog.Update)
}
func BenchmarkSliding100kIntKeys(b *testing.B) {
	benchWindows(b, 100_000, 20, 10, true, false, catalog.Append)
}

// BenchmarkExpanded1kIntKeys is BenchmarkSliding1kIntKeys with rows that come with each of their windows, and so on.
func BenchmarkExpanded1kIntKeys(b *testing.B) {
	benchWindows(b, 1000, 2000, 10, false, false, catalog.Append)
}
func BenchmarkExpanded1kIntKeysUpdate(b *testing.B) {
	benchWindows(b, 1000, 2000, 10, false, false, catalog.Update)
}
func BenchmarkExpanded100kIntKeys(b *testing.B) {
	benchWindows(b, 100_000, 20, 10, false, false, catalog.Append)
}

// benchSessions measures count + sum over sessions. There is a row a microsecond, up to disorder late; gap and watermark's delay are microseconds, too.
func benchSessions(b *testing.B, key types.Type, keys int, gap, disorder int64) {
	s := newSource(true, key, tTime, tSpan, tInt8)
	n := &plan.Aggregate{Input: s, Keys: []plan.Expr{col(s, 0)}, EventKey: -1, Mode: catalog.Append, Aggs: countAndSum(s),
		Session: &plan.Session{Time: col(s, 1), Gap: col(s, 2), TimeWatermarked: true}}
	n.P.Columns = []plan.Column{{Type: tWindow}}
	op, err := NewAggregate(n, plan.Types(s), table.NewTransient(), 0, &kernel.Env{})
	if err != nil {
		b.Fatal(err)
	}
	const epochRows = 32 * batch.Target
	rnd := rand.New(rand.NewPCG(1, 2))
	x := batch.New(plan.Types(s), batch.Target)
	ep := &dataflow.Epoch{Sink: &sink{}, Before: dataflow.NoWatermark}
	rows := 0
	emit := func(x *batch.Batch) error { rows += x.N; return nil }
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += epochRows {
		ep.N++
		ep.After = dataflow.Watermark(int64(done+epochRows) - disorder)
		for k := 0; k < 32; k++ {
			x.Reset()
			for j := 0; j < batch.Target; j++ {
				if k := rnd.IntN(keys); key.Kind == types.Text {
					x.Cols[0].AppendString(names[k])
				} else {
					x.Cols[0].AppendInt(int64(k))
				}
				x.Cols[1].AppendInt(int64(done+k*batch.Target+j) - rnd.Int64N(disorder))
				x.Cols[2].AppendPair(gap, 0)
				x.Cols[3].AppendInt(1)
				x.EndRow(1)
			}
			if err := op.Push(ep, 0, x, nil); err != nil {
				b.Fatal(err)
			}
		}
		if err := op.EndEpoch(ep, emit); err != nil {
			b.Fatal(err)
		}
		ep.Before = ep.After
	}
	b.ReportMetric(float64(rows)/float64(b.N), "rows/op")
}

// About ten rows a session, in order but for a little.
func BenchmarkSessions(b *testing.B) { benchSessions(b, tText, 1000, 2500, 500) }

func BenchmarkSessions100kIntKeys(b *testing.B) { benchSessions(b, tInt8, 100_000, 200_000, 5_000) }

// Hardly more than a row a session, and a key's sessions wait for rows that are much later.
func BenchmarkSessionsOfOneRow(b *testing.B) { benchSessions(b, tInt8, 100_000, 30_000, 60_000) }

// All sessions are of one key, and a thousand of them are open.
func BenchmarkSessionsOfOneKey(b *testing.B) { benchSessions(b, tInt8, 1, 1, 3_000) }

var names = func() (out []string) {
	for i := 0; i < 1000; i++ {
		out = append(out, fmt.Sprintf("client-%04d", i))
	}
	return out
}()

// benchClose measures the end of the epoch that closes a window of 1 M keys, each with one row.
func benchClose(b *testing.B, text bool) {
	keyType := tInt8
	if text {
		keyType = tText
	}
	s := newSource(true, tTime, keyType, tInt8)
	w := &plan.Window{Input: s, Time: col(s, 0), Size: 10, Slide: 10}
	w.P.Columns = append(append([]plan.Column(nil), s.P.Columns...), plan.Column{Name: "window", Type: tWindow})
	w.P.AppendOnly = true
	n := aggregate(w, catalog.Append, 0, []plan.Expr{col(w, 3), col(w, 1)}, call("count"), call("sum", col(w, 2)), call("max", col(w, 2)))
	env := &kernel.Env{}
	op, err := NewAggregate(n, plan.Types(w), table.NewTransient(), 0, env)
	if err != nil {
		b.Fatal(err)
	}
	const keys = 1 << 20
	var in []*batch.Batch
	for i, k := range rand.New(rand.NewPCG(1, 2)).Perm(keys) {
		if i%batch.Target == 0 {
			in = append(in, batch.New([]types.Type{tTime, keyType, tInt8, tWindow}, batch.Target))
		}
		x := in[len(in)-1]
		x.Cols[0].AppendInt(1)
		if text {
			x.Cols[1].AppendString(fmt.Sprintf("key-%08d", k))
		} else {
			x.Cols[1].AppendInt(int64(k))
		}
		x.Cols[2].AppendInt(int64(i))
		x.Cols[3].AppendPair(0, 10)
		x.EndRow(1)
	}
	rows := 0
	emit := func(x *batch.Batch) error { rows += x.N; return nil }
	b.ResetTimer()
	for done := 0; done < b.N; done += keys {
		b.StopTimer()
		ep := &dataflow.Epoch{Sink: &sink{}, N: 1, Before: dataflow.NoWatermark, After: 10}
		for _, x := range in {
			if err := op.Push(ep, 0, x, emit); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		if err := op.EndEpoch(ep, emit); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)/float64(b.N), "rows/op")
}

func BenchmarkCloseInts(b *testing.B)    { benchClose(b, false) }
func BenchmarkCloseStrings(b *testing.B) { benchClose(b, true) }
