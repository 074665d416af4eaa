package simple

import (
	"encoding/binary"
	"math"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// timeline is a Z-set of rows ordered by a time.
//
// State: key = time in 8 bytes, then the row's values; value = weight as a varint.
type timeline struct {
	t       *table.Ordered
	key     []byte
	stats   dataflow.Stats
	scratch []byte
}

func newTimeline(sp *table.Space, opID int, name string, row []types.Type) timeline {
	key := append([]table.Column{{Name: "time", Type: types.Of(types.Int8), Time: true}}, rowenc.Columns("c", row)...)
	return timeline{
		t:     sp.Ordered(table.Decl{Operator: opID, Name: name, Key: key, Value: []table.Column{{Name: "weight", Type: types.Of(types.Int8)}}}),
		stats: dataflow.Stats{Name: name},
	}
}

// add adds w to the weight of row i of b at a time.
func (l *timeline) add(at int64, b *batch.Batch, i int, w int64) {
	l.key = rowenc.AppendRow(rowenc.AppendTime(l.key[:0], at), b.Cols, i)
	old, found := l.t.Get(l.key)
	if found {
		have, _ := rowenc.Varint(old)
		w += have
	}
	if w == 0 {
		l.t.Delete(l.key)
		return
	}
	l.scratch = binary.AppendVarint(l.scratch[:0], w)
	l.t.Put(l.key, l.scratch)
	l.stats.RowsUpdated++
}

// take removes the rows at or before a time and gives each to f, in order of time and row.
func (l *timeline) take(at int64, f func(row []byte, w int64) error) error {
	hi := rowenc.AfterTime(nil, at)
	var err error
	l.t.Scan(nil, hi, func(key, val []byte) bool {
		w, _ := rowenc.Varint(val)
		l.stats.RowsRemoved++
		err = f(key[rowenc.TimeLen:], w)
		return err == nil
	})
	if err != nil {
		return err
	}
	l.t.DeleteRange(nil, hi)
	return nil
}

// first gives the earliest time.
func (l *timeline) first() (at int64, ok bool) {
	l.t.Scan(nil, nil, func(key, _ []byte) bool {
		at, ok = rowenc.ReadTime(key), true
		return false
	})
	return at, ok
}

// Stats implements dataflow.Stateful.
func (l *timeline) Stats() dataflow.Stats {
	s := l.stats
	s.RowsTotal, s.MemoryUsedBytes = l.t.Len(), l.t.MemBytes()
	return s
}

// appendFinal holds changes back until the watermark says that their row can't change any more.
type appendFinal struct {
	timeline
	col int
	out *rowenc.Out
}

// NewAppendFinal makes the operator of a plan.AppendFinal. A row with a NULL time is never final; a SELECT gives it at the end.
func NewAppendFinal(n *plan.AppendFinal, in dataflow.InputTypes, sp *table.Space, opID int, _ *kernel.Env) (dataflow.Operator, error) {
	return &appendFinal{timeline: newTimeline(sp, opID, "appendFinal", in[0]), col: n.TimeCol, out: rowenc.NewOut(in[0])}, nil
}

// Push implements dataflow.Operator.
func (a *appendFinal) Push(_ *dataflow.Epoch, _ int, b *batch.Batch, _ dataflow.Emit) error {
	v := b.Cols[a.col]
	for i := 0; i < b.N; i++ {
		t, ok := rowenc.EventTime(v, i)
		if !ok {
			t = math.MaxInt64
		}
		a.add(t, b, i, b.Weight(i))
	}
	return nil
}

// EndEpoch implements dataflow.Operator.
func (a *appendFinal) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	until := int64(ep.After)
	if ep.Final {
		until = math.MaxInt64
	} else if ep.After == dataflow.NoWatermark {
		return nil
	}
	err := a.take(until, func(row []byte, w int64) error { return a.out.Row(row, w, out) })
	if err != nil {
		return err
	}
	return a.out.Flush(out)
}

// temporalFilter keeps rows while Time OP now() + Offset. Each row changes its state at most once, at its turn: with > and
// >= it leaves then, with < and <= it enters. Rows whose turn is still to come are in the timeline under it.
type temporalFilter struct {
	timeline
	time   *rowenc.Exprs
	env    *kernel.Env
	offset int64 // microseconds
	leaves bool  // the operator is > or >=
	strict bool  // the turn is one microsecond after Time - offset: >= and <
	out    *rowenc.Out
}

// NewTemporalFilter makes the operator of a plan.TemporalFilter. It implements dataflow.Timed.
func NewTemporalFilter(n *plan.TemporalFilter, in dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	x, err := rowenc.Compile([]plan.Expr{n.Time}, in[0])
	if err != nil {
		return nil, err
	}
	months, days, micros := types.IntervalParts(n.Offset.I, n.Offset.J)
	if months != 0 {
		return nil, sqlerr.Unsupported("a comparison with now() in a view can't have an offset in months")
	}
	f := &temporalFilter{
		timeline: newTimeline(sp, opID, "temporalFilter", in[0]), time: x, env: env,
		offset: int64(days)*rowenc.MicrosPerDay + micros, out: rowenc.NewOut(in[0]),
	}
	switch n.Op {
	case ">":
		f.leaves = true
	case ">=":
		f.leaves, f.strict = true, true
	case "<":
		f.strict = true
	case "<=":
	default:
		return nil, sqlerr.Unsupported("comparison %s with now() is not supported in a view", n.Op)
	}
	return f, nil
}

// Push implements dataflow.Operator.
func (f *temporalFilter) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, out dataflow.Emit) error {
	vecs, sel, err := f.time.Eval(ep, f.env, b)
	if err != nil {
		return err
	}
	err = rowenc.EachRow(b.N, sel, func(i int) error {
		t, ok := rowenc.EventTime(vecs[0], i)
		if !ok {
			return nil
		}
		turn := f.turn(t)
		pending, w := ep.Timestamp < turn, b.Weight(i)
		if pending && !ep.Final {
			f.add(turn, b, i, w)
		}
		if pending == f.leaves {
			return f.out.Copy(b, i, w, out)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f.out.Flush(out)
}

// turn is the first timestamp at which a row of time t has left, or entered. An infinite time has no turn, or had it always.
func (f *temporalFilter) turn(t int64) int64 {
	if !types.IsFiniteTime(t) {
		return t
	}
	t = rowenc.AddSat(t, -f.offset)
	if f.strict {
		t = rowenc.AddSat(t, 1)
	}
	return t
}

// EndEpoch implements dataflow.Operator.
func (f *temporalFilter) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	if ep.Final {
		return nil
	}
	err := f.take(ep.Timestamp, func(row []byte, w int64) error {
		if f.leaves {
			w = -w
		}
		return f.out.Row(row, w, out)
	})
	if err != nil {
		return err
	}
	return f.out.Flush(out)
}

// NextDue implements dataflow.Timed: the earliest timestamp at which a row comes or goes.
func (f *temporalFilter) NextDue() (int64, bool) {
	at, ok := f.first()
	return at, ok && types.IsFiniteTime(at)
}
