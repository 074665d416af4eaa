package custom

import (
	"math/rand"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

const counterScript = `
def init(self, handle):
    self.n = handle.getValueState("n", "n bigint")
def handleInputRows(self, key, rows, timerValues):
    n = self.n.get()[0] if self.n.exists() else 0
    for row in rows:
        n += 1
    self.n.update((n,))
    return [(key[0], n)]
`

func goCounter() *funcs {
	var n *ValueState
	var h *Handle
	f := &funcs{}
	f.init = func(x *Handle) (err error) { h = x; n, err = x.ValueState("n", "n bigint"); return err }
	f.rows = func(key Row, rows Rows, _ TimerValues) (Output, error) {
		have := int64(0)
		if r, ok, err := n.Get(); err != nil {
			return nil, err
		} else if ok {
			have = r.Datum(0).I
		}
		for i := 0; i < rows.Len(); i++ {
			have++
		}
		if err := n.Update(have); err != nil {
			return nil, err
		}
		row, err := h.Row(key.Datum(0), have)
		return Output{row}, err
	}
	return f
}

// counter runs epochs of 64k rows over some keys: with 10,000 a call gets 6.5 rows, with a million one.
func counter(b *testing.B, keys int64, r *rig) {
	const rows = 1 << 16
	rnd := rand.New(rand.NewSource(1))
	in := batch.New(r.op.in.rows.Types(), rows)
	for i := 0; i < rows; i++ {
		in.Cols[0].AppendInt(rnd.Int63n(keys))
		in.Cols[1].AppendInt(1)
		in.EndRow(1)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += rows {
		r.ep++
		r.g.Begin(&dataflow.EpochInfo{N: r.ep, Timestamp: int64(r.ep), Sink: r,
			Watermarks: func(*dataflow.Source) (dataflow.Watermark, dataflow.Watermark) { return r.wm, r.wm }}, func(*batch.Batch) error { return nil })
		if err := r.g.Push(r.src, in); err != nil {
			b.Fatal(err)
		}
		if err := r.g.End(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// BenchmarkCounterGo is the counter in Go.
func BenchmarkCounterGo(b *testing.B) {
	for name, keys := range map[string]int64{"10k": 10_000, "1M": 1_000_000} {
		b.Run(name, func(b *testing.B) {
			counter(b, keys, newRig(b, "none", catalog.Append, bigint, "k bigint, n bigint", goCounter()))
		})
	}
}

// BenchmarkCounterStarlark is the counter in Starlark.
func BenchmarkCounterStarlark(b *testing.B) {
	for name, keys := range map[string]int64{"10k": 10_000, "1M": 1_000_000} {
		b.Run(name, func(b *testing.B) {
			r := newRig(b, "none", catalog.Append, bigint, "k bigint, n bigint", goCounter())
			p, err := NewScript("p", counterScript, r.op.cols, Bounds{})
			if err == nil {
				err = r.op.start(p, r.op.h.keys)
			}
			if err != nil {
				b.Fatal(err)
			}
			counter(b, keys, r)
		})
	}
}

// BenchmarkTimers registers timers, one a key, and lets them fire, in another order than that of the keys; Go, in memory.
func BenchmarkTimers(b *testing.B) {
	var h *Handle
	r := newRig(b, "event_time", catalog.Append, bigint, "n bigint", &funcs{
		init: func(x *Handle) error { h = x; return nil },
		rows: func(_ Row, rows Rows, _ TimerValues) (Output, error) {
			return nil, h.RegisterTimer(rows.At(0).Int("v"))
		},
		timer: func(Row, TimerValues, ExpiredTimerInfo) (Output, error) { return nil, nil }})
	const timers = 100_000
	b.ReportAllocs()
	for n, base := 0, int64(1); n < b.N; n, base = n+timers, base+2*timers {
		rows := make([][2]any, timers)
		for i := range rows {
			rows[i] = [2]any{i, base + int64(i)*7919%timers}
		}
		r.epoch(base-1, int64(r.ep)+1, rows...)
		r.epoch(base+timers, int64(r.ep)+1)
		if len(r.dead) > 0 || r.op.st.timers.Len() > 0 {
			b.Fatal(r.dead, r.op.st.timers.Len())
		}
	}
}
