package custom

import (
	"fmt"
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// operatorName is what tidemark.state_operators shows: Spark's.
const operatorName = "transformWithStateExec"

// Operator is a running transform_with_state.
type Operator struct {
	n     *plan.Custom
	env   *kernel.Env
	proc  StatefulProcessor
	h     *Handle
	st    *store
	mode  TimeMode
	in    input
	init  input
	first rowenc.Changes // rows of the initial state, before they are taken in
	cols  *Schema        // of the result
	out   *rowenc.Out
	diff  rowenc.Changes // update mode
	buf   []byte
	key   *Schema
	known atomic.Pointer[[]Variable] // for readers on other goroutines
	stats dataflow.Stats
	floor dataflow.Watermark // rows at or below it may not be emitted
	begun bool               // the floor of the epoch is known
	fired struct {           // memory of a round of timers
		timers []timer
		arena  []byte
		key    []types.Datum // of the one that fires
	}
	// maxTimers bounds the timers that fire in one epoch.
	maxTimers int
}

// maxTimersPerEpoch bounds the timers that fire in one epoch; the others follow in the next.
const maxTimersPerEpoch = 100_000

// New makes the operator of a plan.Custom over inputs with columns of the types in.
func New(n *plan.Custom, in dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	o := &Operator{n: n, env: env, mode: timeModes[n.TimeMode], maxTimers: maxTimersPerEpoch}
	if err := o.in.open(n.Keys, n.Input, in[0]); err != nil {
		return nil, err
	}
	if n.Initial != nil {
		if err := o.init.open(n.InitialKeys, n.Initial, in[1]); err != nil {
			return nil, err
		}
	}
	keys := make([]Field, len(n.Keys))
	for i, t := range o.in.keys.Types {
		keys[i] = Field{Name: n.KeyNames[i], Type: t}
	}
	cols := make([]Field, len(n.Processor.Columns))
	for i, c := range n.Processor.Columns {
		cols[i] = Field{Name: c.Name, Type: c.Type}
	}
	o.cols = NewSchema(cols)
	o.out = rowenc.NewOut(plan.Types(n))
	o.key = NewSchema(keys)
	o.st = openStore(sp, opID, o.key, n.Mode == catalog.Update)
	proc, err := open(n.Processor, o.cols)
	if err != nil {
		return nil, err
	}
	return o, o.start(proc, newKeyCoder(o.key))
}

var timeModes = map[string]TimeMode{"none": TimeModeNone, "processing_time": TimeModeProcessingTime, "event_time": TimeModeEventTime}

// start initialises a processor over the operator's store.
func (o *Operator) start(proc StatefulProcessor, keys keyCoder) error {
	h := newHandle(o.st, o.mode, keys, o.cols)
	if err := initialise(proc, h); err != nil {
		return err
	}
	o.proc, o.h = proc, h
	vars := o.variables()
	o.known.Store(&vars)
	return nil
}

// initialise runs a processor's Init.
func initialise(proc StatefulProcessor, h *Handle) (err error) {
	defer recoverUser(&err)
	err = proc.Init(h)
	h.phase = phaseIdle
	return err
}

// open makes the processor of a catalog's description.
func open(p *catalog.Processor, result *Schema) (StatefulProcessor, error) {
	switch p.Language {
	case "starlark":
		return NewScript(p.Name, p.Body, result, Bounds{p.MaxSteps, p.MaxMemory})
	case "go":
		if f, ok := p.Native.(Maker); ok {
			return f()
		}
		return nil, sqlerr.New(sqlerr.UndefinedObject, "processor \"%s\" is not registered in this program", p.Name).
			WithHint("Register it before the database is opened.")
	}
	return nil, sqlerr.Unsupported("language \"%s\" is not supported for processors", p.Language)
}

// WatermarkPort implements dataflow.WatermarkPort: the initial state holds nothing back.
func (o *Operator) WatermarkPort() int { return 0 }

// begin notes what the epoch starts from.
func (o *Operator) begin(ep *dataflow.Epoch) {
	if o.begun {
		return
	}
	if o.st.schemas.Len() == 0 {
		o.again()
	}
	o.begun, o.floor, o.h.counts = true, o.HeldWatermark(ep.Before), counts{}
}

// again begins with nothing: the tables were emptied beneath the operator, because its view starts over.
func (o *Operator) again() {
	o.st.meta, o.st.metaOld = meta{}, meta{}
	for _, v := range o.h.vars {
		if err := v.register(); err != nil {
			panic(&table.Failure{Err: err})
		}
	}
}

// Push implements dataflow.Operator.
func (o *Operator) Push(ep *dataflow.Epoch, port int, b *batch.Batch, _ dataflow.Emit) error {
	o.begin(ep)
	if port == 1 {
		for i := 0; i < b.N && !o.st.meta.Initialised; i++ { // only what it holds at the beginning counts
			o.buf = rowenc.AppendRow(o.buf[:0], b.Cols, i)
			o.first.Add(o.buf, b.Weight(i))
		}
		return nil
	}
	vecs, sel, err := o.in.keys.Eval(ep, o.env, b)
	if err != nil {
		return err
	}
	take := o.in.sel[:0]
	err = rowenc.EachRow(b.N, sel, func(i int) error {
		w := b.Weight(i)
		if o.mode == TimeModeEventTime && o.n.TimeCol >= 0 {
			v := b.Cols[o.n.TimeCol]
			if t, ok := rowenc.EventTime(v, i); ok && ep.Before.Late(rowenc.AddSat(t, o.n.Lag)) {
				rowenc.Late(ep, &o.stats, b, i, v, t)
				return nil
			}
		}
		if w < 0 { // the planner has excluded it
			return sqlerr.New(sqlerr.InternalError, "transform_with_state got a deletion")
		}
		for ; w > 0; w-- {
			take = append(take, int32(i))
		}
		return nil
	})
	o.in.add(vecs, b, take)
	o.in.sel = take
	return err
}

// EndEpoch implements dataflow.Operator.
func (o *Operator) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	o.begin(ep)
	o.h.now = floorDiv(ep.Timestamp, 1000)
	if err := o.rounds(ep, out); err != nil {
		return err
	}
	o.expire()
	if o.st.emitted != nil {
		err := o.diff.Each(false, func(row []byte, w int64) error { return o.out.Row(row, w, out) })
		o.diff.Reset()
		if err != nil {
			return err
		}
	}
	o.st.saveMeta()
	o.stats.RowsUpdated += o.h.updated
	o.stats.RowsRemoved += o.h.removed
	o.h.updated, o.h.removed = 0, 0
	o.begun = false
	return o.out.Flush(out)
}

// rounds runs the rounds of the epoch (see the package comment).
func (o *Operator) rounds(ep *dataflow.Epoch, out dataflow.Emit) error {
	before, after := millisOf(ep.Before), millisOf(ep.After)
	budget := o.maxTimers
	if ep.Final {
		budget = 1 << 60
	}
	if err := o.initialState(ep, o.clocks(before)); err != nil {
		return err
	}
	m := &o.st.meta
	continued := m.Pending
	if continued {
		if err := o.fire(ep, m.Until, &budget, true, out); err != nil {
			return err
		}
	}
	t := o.clocks(before)
	err := o.in.each(func(key Row, gkey []byte, rows Rows) error { return o.handleRows(ep, key, gkey, rows, t, out) })
	if err != nil {
		return err
	}
	switch o.mode {
	case TimeModeProcessingTime:
		if !m.Pending {
			err = o.fire(ep, o.h.now, &budget, false, out)
		}
	case TimeModeEventTime:
		if !m.Pending && ep.Fed {
			err = o.fire(ep, before, &budget, false, out)
		}
		if err == nil && !m.Pending && (after != before || continued) {
			err = o.fire(ep, after, &budget, false, out)
		}
	}
	if m.Pending && err == nil {
		o.hold(ep)
	}
	return err
}

// clocks are what a call may know of time at a watermark.
func (o *Operator) clocks(watermark int64) TimerValues {
	t := TimerValues{ProcessingTime: -1, Watermark: -1}
	switch o.mode {
	case TimeModeProcessingTime:
		t.ProcessingTime = o.h.now
	case TimeModeEventTime:
		t.ProcessingTime, t.Watermark = o.h.now, watermark
	}
	return t
}

// millisOf gives a watermark in milliseconds, 0 for none, as Spark has it.
func millisOf(w dataflow.Watermark) int64 {
	if w == dataflow.NoWatermark {
		return 0
	}
	return floorDiv(int64(w), 1000)
}

// initialState takes the initial state in, once.
func (o *Operator) initialState(ep *dataflow.Epoch, t TimerValues) error {
	if o.st.meta.Initialised {
		return nil
	}
	o.st.meta.Initialised = true
	if o.n.Initial == nil {
		return nil
	}
	if err := o.netInitial(ep); err != nil {
		return err
	}
	return o.init.each(func(key Row, gkey []byte, rows Rows) error {
		for i := 0; i < rows.Len(); i++ {
			one := Rows{rows.schema, rows.b, rows.at[i : i+1]}
			_, err := o.call(phaseInitial, key, gkey, func(k Row) (Output, error) {
				return nil, o.proc.HandleInitialState(k, one.At(0), t)
			})
			if err != nil {
				if err := o.bury(ep, 1, one, err); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// netInitial brings the rows of the initial state together by key. A table has no order; the encoding of its rows gives one.
func (o *Operator) netInitial(ep *dataflow.Epoch) error {
	b := batch.New(o.init.rows.Types(), o.first.Len())
	err := o.first.Each(false, func(row []byte, w int64) error {
		for ; w > 0; w-- {
			rowenc.ReadRow(row, b.Cols)
			b.EndRow(1)
		}
		return nil
	})
	o.first.Reset()
	if err != nil {
		return err
	}
	at := *ep
	at.Port = 1
	vecs, sel, err := o.init.keys.Eval(&at, o.env, b)
	if err != nil {
		return err
	}
	if sel == nil {
		for i := range b.N {
			o.init.sel = append(o.init.sel, int32(i))
		}
		sel = o.init.sel
	}
	o.init.add(vecs, b, sel)
	return nil
}

func (o *Operator) handleRows(ep *dataflow.Epoch, key Row, gkey []byte, rows Rows, t TimerValues, out dataflow.Emit) error {
	res, err := o.call(phaseRows, key, gkey, func(k Row) (Output, error) { return o.proc.HandleInputRows(k, rows, t) })
	if err != nil {
		return o.bury(ep, 0, rows, err)
	}
	return o.emit(gkey, res, out)
}

// call runs one call of the processor for a key. On error everything that it changed is taken back.
func (o *Operator) call(ph phase, key Row, gkey []byte, f func(key Row) (Output, error)) (res Output, err error) {
	h := o.h
	key.Schema = h.keys.schema
	h.phase, h.gkey, h.key = ph, gkey, h.key[:0]
	if h.keys.exact {
		h.key = h.keys.appendExact(h.key, key.Datums())
	}
	h.taken = 0
	updated, removed := h.updated, h.removed
	res, err = o.guarded(key, f)
	if err != nil {
		o.st.rollback()
		h.updated, h.removed = updated, removed
		for _, v := range h.vars {
			v.fresh, v.cleared = nil, false
		}
	} else {
		if len(o.st.deferred) > 0 {
			h.removed += o.st.clearDeferred()
			for _, v := range h.vars {
				v.settle()
			}
		}
		o.st.forget()
	}
	h.phase = phaseIdle
	return res, err
}

// guarded runs user code and checks what it gives.
func (o *Operator) guarded(key Row, f func(key Row) (Output, error)) (res Output, err error) {
	defer recoverUser(&err)
	if res, err = f(key); err == nil {
		err = o.check(res)
	}
	return res, err
}

// recoverUser turns a panic of user code into an error; a failed read of state goes on.
func recoverUser(err *error) {
	switch r := recover().(type) {
	case nil:
	case *table.Failure:
		panic(r)
	default:
		*err = sqlerr.New(UserError, "processor panicked: %v", r)
	}
}

// check refuses output that does not fit the result.
func (o *Operator) check(res Output) error {
	for _, row := range res {
		if len(row) != len(o.cols.Fields) {
			return sqlerr.New(sqlerr.DatatypeMismatch, "the processor returned a row of %d values for %d columns (%s)", len(row), len(o.cols.Fields), o.cols)
		}
		if o.n.EventTime < 0 || row[o.n.EventTime].Null || o.mode != TimeModeEventTime {
			continue
		}
		us := rowenc.ScaleTime(o.cols.Fields[o.n.EventTime].Type.Kind, row[o.n.EventTime].I)
		if o.floor.Late(rowenc.AddSat(us, o.n.Lag)) {
			return condition(condOldRows, "Previous node emitted a row with eventTime=%d which is older than current_watermark_value=%d. "+
				"This can lead to correctness issues in the stateful operators downstream in the execution pipeline.", us, millisOf(o.floor))
		}
	}
	return nil
}

// emit gives the output of a call on.
func (o *Operator) emit(gkey []byte, res Output, out dataflow.Emit) error {
	if res == nil {
		return nil
	}
	if o.st.emitted == nil {
		for _, row := range res {
			for c, v := range o.out.B.Cols {
				v.AppendDatum(row[c])
			}
			if err := o.out.End(1, out); err != nil {
				return err
			}
		}
		return nil
	}
	old, had := o.st.emitted.Get(gkey)
	if had {
		o.replaced(old, -1)
	}
	if len(res) == 0 {
		o.st.emitted.Delete(gkey)
		return nil
	}
	o.buf = o.buf[:0]
	for _, row := range res {
		o.buf = appendDatums(o.buf, o.cols, row)
	}
	o.replaced(o.buf, 1)
	if had {
		o.st.emitted.Put(gkey, o.buf)
	} else {
		o.st.emitted.PutNew(gkey, o.buf)
	}
	return nil
}

// replaced adds the rows of a key to what changes, with a weight.
func (o *Operator) replaced(rows []byte, w int64) {
	vals := make([]types.Datum, len(o.cols.Fields))
	for len(rows) > 0 {
		rest := readDatums(o.cols, vals, rows)
		o.diff.Add(rows[:len(rows)-len(rest)], w)
		rows = rest
	}
}

// bury sends the rows of a call that failed to the dead letters.
func (o *Operator) bury(ep *dataflow.Epoch, port int, rows Rows, cause error) error {
	e := letter(cause)
	at := *ep
	at.Port = port
	for _, i := range rows.at {
		if err := ep.Sink.Dead(&at, rows.b, int(i), e); err != nil {
			return err
		}
	}
	return nil
}

// letter is the error that a dead letter has.
func letter(cause error) *sqlerr.Error {
	if e, ok := cause.(*sqlerr.Error); ok {
		return e
	}
	e := sqlerr.From(cause)
	if e.Code == sqlerr.InternalError {
		return sqlerr.New(UserError, "%s", cause.Error())
	}
	return e
}

// Close ends the processor. It implements io.Closer.
func (o *Operator) Close() error {
	o.h.phase = phaseClosed
	var err error
	func() {
		defer recoverUser(&err)
		err = o.proc.Close()
	}()
	return err
}

// Stats implements dataflow.Stateful.
func (o *Operator) Stats() dataflow.Stats {
	s := o.stats
	s.Name = operatorName
	s.RowsTotal = o.st.values.Len() + o.st.lists.Len()
	for _, t := range o.st.tables() {
		s.MemoryUsedBytes += t.MemBytes()
	}
	return s
}

// String describes the operator, for debugging.
func (o *Operator) String() string { return fmt.Sprintf("transform_with_state %s", o.n.Processor.Name) }
