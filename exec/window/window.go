// Package window expands rows into the windows that they lie in: the operator
// of window(time, size, slide, start), TUMBLE and HOP.
package window

import (
	"math"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

const microsPerDay = 24 * 60 * 60 * 1_000_000

// New builds the operator of n over input columns of the types in. It has no state. A row whose time is NULL or infinite lies in no
// window: it is dropped and counted (Stats.RowsNullEvent). With n.Last a row comes out once, with its last window. Errors: 22023 for sizes
// that are not positive or, where windows are of dates, not whole days, and those of compiling the time.
func New(n *plan.Window, in []types.Type, env *kernel.Env) (dataflow.Operator, error) {
	k, err := kernel.Compile(n.Time, in)
	if err != nil {
		return nil, err
	}
	w := &operator{env: env, time: k, size: n.Size, slide: n.Slide, start: n.Start, typ: n.P.Columns[len(n.P.Columns)-1].Type, scale: 1,
		ordered: n.P.NeedsOrder}
	if n.Size <= 0 || n.Slide <= 0 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "window size and slide must be greater than zero")
	}
	days := n.Time.Type().Kind == types.Date
	switch {
	case w.typ.Elem == types.Date:
		if n.Size%microsPerDay != 0 || n.Slide%microsPerDay != 0 || n.Start%microsPerDay != 0 {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "windows over dates must be whole days")
		}
		w.size, w.slide, w.start = n.Size/microsPerDay, n.Slide/microsPerDay, n.Start/microsPerDay
		if !days {
			return nil, sqlerr.New(sqlerr.InternalError, "window of dates over a time that is not a date")
		}
	case days:
		w.scale = microsPerDay
	}
	// A window begins and ends within so much of a row's time.
	reach := w.size + w.slide + max(w.start, -w.start)
	if max(w.size, w.slide, w.start, -w.start) > math.MaxInt64/4 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "size, slide or start of a window is out of range")
	}
	w.least, w.most = (math.MinInt64+reach)/w.scale, (math.MaxInt64-reach)/w.scale
	w.count = int((w.size + w.slide - 1) / w.slide)
	w.ragged = w.size%w.slide != 0
	if n.Last {
		if w.ragged {
			return nil, sqlerr.New(sqlerr.InternalError, "windows of which the slide does not divide the size, with the last one only")
		}
		w.count = 1
	}
	return w, nil
}

// operator is the window expansion. Sizes are in units of the window's fields: microseconds, or days for dates.
type operator struct {
	env                *kernel.Env
	time               *kernel.Kernel
	typ                types.Type
	size, slide, start int64
	scale              int64 // units of the fields in one unit of the time
	least, most        int64 // times whose windows are in range
	count              int   // windows that a row lies in, at most
	ragged             bool  // in the earliest of them not every row does
	ordered            bool  // a parent goes by the order of arrival
	stats              dataflow.Stats

	rows []int32
	last []int64 // start of the last window of each row
	win  *batch.Vector
	same int64 // start of the window that the first values of win, as many as fill, all are
	fill int
	out  batch.Batch // only while it is emitted
}

// Push implements dataflow.Operator.
func (w *operator) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, out dataflow.Emit) error {
	if b.N == 0 {
		return nil
	}
	times, errs := w.time.Eval(w.env, b, nil)
	if len(errs) == 0 && times.Valid == nil {
		if start, ok := w.one(times.I64[:b.N]); ok {
			return w.give(b, w.repeat(start, b.N), out)
		}
	}
	if kept, all, err := w.keep(ep, b, times, errs); !all {
		if err != nil || len(kept) == 0 {
			return err
		}
		b = b.Select(kept)
		t := batch.NewVector(times.Type, len(kept))
		t.AppendVector(times, kept)
		times = t
	}
	w.align(times.I64[:b.N])
	if w.ordered && w.count > 1 {
		return w.emitByRow(b, times.I64[:b.N], out)
	}
	for i := w.count - 1; i >= 0; i-- {
		if err := w.emit(b, times.I64[:b.N], i, out); err != nil {
			return err
		}
	}
	return nil
}

// one gives the start of the window of all times, if they have only one and it is the same.
func (w *operator) one(times []int64) (start int64, ok bool) {
	first, last := times[0], times[len(times)-1]
	if w.count != 1 || first < w.least || first > w.most {
		return 0, false
	}
	start = first*w.scale - floorMod(first*w.scale-w.start, w.slide)
	within := min(w.slide, w.size) // of a slide that is longer than the window the rest has none
	if last < w.least || last > w.most || uint64(last*w.scale-start) >= uint64(within) {
		return 0, false
	}
	lo, hi := first, first
	for _, t := range times {
		lo, hi = min(lo, t), max(hi, t)
	}
	return start, lo >= w.least && hi <= w.most && lo*w.scale >= start && hi*w.scale-start < within
}

// repeat gives a window n times. They mostly are there, as the batches before had the same.
func (w *operator) repeat(start int64, n int) *batch.Vector {
	if w.win == nil {
		w.win = batch.NewVector(w.typ, max(n, batch.Target))
	}
	if w.same != start || cap(w.win.I64) < n {
		w.fill = 0
	}
	w.win.Resize(n)
	if w.same = start; w.fill < n {
		for i := w.fill; i < n; i++ {
			w.win.I64[i], w.win.J64[i] = start, start+w.size
		}
		w.fill = n
	}
	return w.win
}

// withWindow puts a column of windows behind the others. The batch is valid until the next call.
func (w *operator) withWindow(b *batch.Batch, win *batch.Vector) *batch.Batch {
	w.out = batch.Batch{N: b.N, Weights: b.Weights, Hashes: b.Hashes, Cols: append(append(w.out.Cols[:0], b.Cols...), win)}
	return &w.out
}

// give emits a batch with a column of windows.
func (w *operator) give(b *batch.Batch, win *batch.Vector, out dataflow.Emit) error {
	err := out(w.withWindow(b, win))
	clear(w.out.Cols) // their memory is others'
	return err
}

// keep lists the rows that have windows; all says that it is all of them. Those whose windows are out of range are dead letters.
func (w *operator) keep(ep *dataflow.Epoch, b *batch.Batch, times *batch.Vector, errs []kernel.RowError) (kept []int32, all bool, err error) {
	all = times.Valid == nil && len(errs) == 0
	if all {
		for _, t := range times.I64[:b.N] {
			all = all && w.least <= t && t <= w.most
		}
	}
	if all {
		return nil, true, nil
	}
	w.rows = w.rows[:0]
	for i := 0; i < b.N; i++ {
		if len(errs) > 0 && errs[0].Row == i {
			if err := ep.Sink.Dead(ep, b, i, errs[0].Err); err != nil {
				return nil, false, err
			}
			errs = errs[1:]
			continue
		}
		if times.IsNull(i) || !types.IsFiniteTime(times.I64[i]) {
			n := b.Weight(i)
			w.stats.RowsNullEvent += max(n, -n)
			continue
		}
		if t := times.I64[i]; t < w.least || t > w.most {
			if err := ep.Sink.Dead(ep, b, i, sqlerr.New(sqlerr.DatetimeFieldOverflow, "window is out of range")); err != nil {
				return nil, false, err
			}
			continue
		}
		w.rows = append(w.rows, int32(i))
	}
	return w.rows, false, nil
}

// align finds the start of the last window of each row.
func (w *operator) align(times []int64) {
	if cap(w.last) < len(times) {
		w.last = make([]int64, max(len(times), batch.Target))
	}
	w.last = w.last[:len(times)]
	slide, start, scale := w.slide, w.start, w.scale
	// Neighbours mostly have the same window.
	cur := times[0]*scale - floorMod(times[0]*scale-start, slide)
	for i, t := range times {
		t *= scale
		if uint64(t-cur) >= uint64(slide) {
			cur = t - floorMod(t-start, slide)
		}
		w.last[i] = cur
	}
}

func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}

// emit gives the rows with the i-th window back from their last one.
func (w *operator) emit(b *batch.Batch, times []int64, i int, out dataflow.Emit) error {
	if w.win == nil {
		w.win = batch.NewVector(w.typ, batch.Target)
	}
	w.win.Resize(b.N)
	w.fill = 0
	back := int64(i) * w.slide
	starts, ends := w.win.I64[:b.N], w.win.J64[:b.N]
	for k, s := range w.last {
		starts[k] = s - back
		ends[k] = s - back + w.size
	}
	if i != w.count-1 || !w.ragged {
		return w.give(b, w.win, out)
	}
	rows := make([]int32, 0, b.N)
	for k, t := range times {
		if t*w.scale < ends[k] {
			rows = append(rows, int32(k))
		}
	}
	switch len(rows) {
	case 0:
		return nil
	case b.N:
		return w.give(b, w.win, out)
	}
	return out(w.withWindow(b, w.win).Select(rows))
}

// emitByRow gives all windows of the first row, the earliest first, then those of the next.
func (w *operator) emitByRow(b *batch.Batch, times []int64, out dataflow.Emit) error {
	win := batch.NewVector(w.typ, b.N*w.count)
	w.rows = w.rows[:0]
	for k, t := range times {
		for i := w.count - 1; i >= 0; i-- {
			start := w.last[k] - int64(i)*w.slide
			if t*w.scale < start+w.size {
				w.rows = append(w.rows, int32(k))
				win.AppendPair(start, start+w.size)
			}
		}
	}
	if len(w.rows) == 0 {
		return nil
	}
	o := b.Select(w.rows)
	return w.give(o, win, out)
}

// EndEpoch implements dataflow.Operator.
func (w *operator) EndEpoch(*dataflow.Epoch, dataflow.Emit) error { return nil }

// AddNullTimes counts rows without a time that were dropped elsewhere, on this operator's behalf.
func (w *operator) AddNullTimes(n int64) { w.stats.RowsNullEvent += n }

// Stats counts the rows that had no time.
func (w *operator) Stats() dataflow.Stats {
	s := w.stats
	s.Name = "window"
	return s
}
