package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/sql/workers"
	"github.com/tidemarkdb/tidemark/state/table"
)

// viewStatus says whether a view follows the epochs.
type viewStatus uint8

const (
	viewRunning  viewStatus = iota
	viewBackfill            // catches up with history in the background
	viewFailed              // stopped by an error of its own; others go on
	viewPaused              // stopped by ALTER ... PAUSE
)

func (s viewStatus) String() string {
	return [...]string{"running", "backfilling", "failed", "paused"}[s]
}

// view is a running materialized view. All fields but those behind mu belong to the goroutine that runs its epochs: the
// loop's, or its backfill's until that hands it over.
type view struct {
	// described is its relation, which ALTER replaces while other goroutines read it: sessions, and that which fills the view.
	described atomic.Pointer[catalog.Relation]

	plan  *plan.Query
	graph *dataflow.Graph
	// partitions is the number of state partitions, which ALTER may change while the view is being filled.
	partitions atomic.Int32
	team       workers.Team // as many as partitions
	nslots     int          // of each operator that can be partitioned
	space      *table.Space
	env        *kernel.Env
	sink       *viewSink
	out        contents
	late       contents
	dead       contents

	// own are the watermarks that the query itself declares (FROM s WATERMARK ...), by source; nil for the stream's own.
	own []*ownMark

	timers []dataflow.Timed // operators that want epochs because time passes
	ran    uint64           // the last epoch in which it had something to do
	wanted uint64           // the last epoch that may concern it: something that it reads changed
	steps  [][]exec.Step    // by source, what may be evaluated once for several views; nil until it is asked for

	// misfit says that the state in the store is not that of the view's plan, as after a change of the binary: it must be rebuilt.
	misfit error
	// unbuilt says that the view has no operators: they could not be built on this binary. Its status says why.
	unbuilt bool
	// letters says that it reads late rows or dead letters, onViews that it reads views.
	letters, onViews bool

	// pos is the last epoch that the view's state and contents include.
	pos uint64
	// wm is the view's own watermark after pos: its root's.
	wm   dataflow.Watermark
	idle bool // everything beneath that gives it a watermark is idle
	// changes is what the view's contents changed by in the epoch that runs, for the views above it.
	changes []part
	news    news // for the views that read late rows and dead letters
	cap     letterCap
	keep    atomic.Bool // somebody above reads changes; set by the loop, also while the view is being filled
	// Of the current epoch: the rows that it got, by source too, and gave, and how long it took to fix its watermarks.
	running         *viewRun
	pushed, emitted int64
	sourceRows      []int64
	planning        time.Duration

	mu       sync.Mutex // guards what other goroutines read
	status   viewStatus
	err      error
	progress *progressRing
	fill     *backfill
}

// rel gives the view's relation as it is now. Any goroutine may ask.
func (v *view) rel() *catalog.Relation { return v.described.Load() }

// newView builds the operators of a view with their state in sp, for a number of state partitions; sideBySide is Options.SideBySide.
func newView(rel *catalog.Relation, q *plan.Query, sp *table.Space, env *kernel.Env, partitions int, sideBySide func(run func())) (*view, error) {
	policy := dataflow.PolicyMin
	if rel.Options["watermark_policy"] == "max" {
		policy = dataflow.PolicyMax
	}
	v := &view{plan: q, space: sp, env: env, wm: dataflow.NoWatermark, nslots: slotsOf(rel)}
	v.described.Store(rel)
	v.partitions.Store(int32(partitions))
	v.team = workers.Team{Number: func() int { return int(v.partitions.Load()) }, Around: sideBySide}
	var err error
	planner.LabelColumns(q.Root)
	if v.graph, err = exec.NewGraph(q.Root, policy, sp, env, v.slots()); err != nil {
		return nil, err
	}
	v.sink = &viewSink{v: v}
	v.progress = newProgressRing(v)
	for _, s := range v.graph.Sources() {
		v.letters = v.letters || isLetters(s.Rel.OID)
		v.onViews = v.onViews || s.Rel.Kind == catalog.MatView
	}
	v.graph.Operators(func(op dataflow.Operator) {
		if t, ok := op.(dataflow.Timed); ok {
			v.timers = append(v.timers, t)
		}
	})
	return v, nil
}

// epochInput is what one epoch gives to views: changes and watermarks of relations.
type epochInput struct {
	n  uint64
	ts int64
	// again says that the view has run an epoch n already.
	again bool
	// changes gives the parts by which a relation changes, with all its columns.
	changes func(oid catalog.OID) []part
	// marks gives a relation's watermark before and after.
	marks func(oid catalog.OID) mark
	// cat is the catalog of the epoch, or a later one, for the delays of the streams.
	cat *catalog.Catalog
	// stream gives what progress tells of a stream, false of another relation; nil where it isn't known.
	stream func(oid catalog.OID) (streamInput, bool)
	// share evaluates for several views what has no state; nil where a view runs by itself.
	share *sharing
}

// delay gives the delay of a stream's watermark in the epoch: of contents that are closed, that of the next one, as when they were fed.
func (in *epochInput) delay(stream catalog.OID) int64 {
	n := in.n
	if in.again {
		n++
	}
	return in.cat.DelayIn(stream, n)
}

// marksIn looks marks up; a relation without one has no watermark.
func marksIn(marks map[catalog.OID]mark) func(catalog.OID) mark {
	return func(oid catalog.OID) mark {
		if m, ok := marks[oid]; ok {
			return m
		}
		return still(dataflow.NoWatermark, false)
	}
}

// needsRun says whether the epoch gives the view anything to do.
func (v *view) needsRun(in *epochInput) bool {
	if in.share != nil && v.wanted != in.n && in.n != v.rel().CreatedEpoch && len(v.timers) == 0 && !v.letters {
		return false
	}
	for _, s := range v.graph.Sources() {
		if len(in.changes(s.Rel.OID)) > 0 {
			return true
		}
		if m := in.marks(s.Rel.OID); m.before != m.after || m.idleBefore != m.idleAfter {
			return true
		}
	}
	if in.n == v.rel().CreatedEpoch {
		return true // the first epoch: a global aggregate has a row from the start
	}
	due, ok := v.nextDue()
	return ok && due <= in.ts
}

// due is nextDue of a view that the loop runs; another's operators are at work elsewhere, or stopped.
func (v *view) due() (int64, bool) {
	if len(v.timers) == 0 {
		return 0, false
	}
	if st, _ := v.getStatus(); st != viewRunning {
		return 0, false
	}
	return v.nextDue()
}

// nextDue is the timestamp at which a time-dependent operator has something to do.
func (v *view) nextDue() (int64, bool) {
	due, any := int64(0), false
	for _, t := range v.timers {
		if d, ok := t.NextDue(); ok && (!any || d < due) {
			due, any = d, true
		}
	}
	return due, any
}

// runEpoch runs the view for one epoch. On error the view's state is no longer that of any epoch: the caller marks it failed.
func (v *view) runEpoch(in *epochInput) (err error) {
	defer recoverOperator(&err)
	v.changes = v.changes[:0]
	v.sink.reset(in.n)
	v.env.Now = in.ts
	if err := v.advanceOwn(in); err != nil {
		return err
	}
	x := v.run(in)
	start := time.Now()
	v.graph.Begin(&x.info, x.emit)
	v.planning = time.Since(start)
	v.pushed, v.emitted, v.sourceRows = 0, 0, v.sourceRows[:0]
	for _, src := range v.graph.Sources() {
		if in.share != nil {
			rows, ok, err := in.share.push(v, src, in)
			if err != nil {
				return err
			}
			if ok {
				v.pushed += rows
				v.sourceRows = append(v.sourceRows, rows)
				continue
			}
		}
		x.src, x.index = src, 0
		if err := eachBatchOf(in.changes(src.Rel.OID), x.want, x.push); err != nil {
			return err
		}
		v.pushed += int64(x.index)
		v.sourceRows = append(v.sourceRows, int64(x.index))
	}
	clear(x.head.Cols)
	x.head = batch.Batch{Cols: x.head.Cols[:0]}
	err = v.graph.End()
	x.in = nil
	if err != nil {
		return err
	}
	_, v.wm = v.graph.OutputWatermark()
	v.idle = v.graph.Idle()
	v.pos = in.n
	return v.sink.flush()
}

// viewRun is what a view needs to run an epoch: functions and memory that are the same in the next one.
type viewRun struct {
	v     *view
	in    *epochInput
	info  dataflow.EpochInfo
	emit  dataflow.Emit
	want  func() []bool
	push  func(*batch.Batch) error
	src   *dataflow.Source // which is being read
	index int              // of the next row of its changes
	head  batch.Batch
}

// run gives what is needed to run an epoch.
func (v *view) run(in *epochInput) *viewRun {
	x := v.running
	if x == nil {
		x = &viewRun{v: v, emit: v.emit}
		x.want, x.push = x.wanted, x.pushBatch
		x.info = dataflow.EpochInfo{Sink: v.sink, Timed: true,
			Watermarks: func(s *dataflow.Source) (dataflow.Watermark, dataflow.Watermark) {
				m := v.markOf(x.in, s)
				return m.before, m.after
			},
			Idle: func(s *dataflow.Source) (bool, bool) {
				m := v.markOf(x.in, s)
				return m.idleBefore, m.idleAfter
			},
			Delay: func(stream catalog.OID) int64 { return x.in.delay(stream) }}
		v.running = x
	}
	x.in, x.info.N, x.info.Again, x.info.Timestamp = in, in.n, in.again, in.ts
	return x
}

func (x *viewRun) wanted() []bool { return wanted(x.src.Cols) }

// pushBatch gives the view a batch of the source that is being read.
func (x *viewRun) pushBatch(b *batch.Batch) error {
	err := x.v.graph.Push(x.src, shapeTo(&x.head, x.src, b, x.in.n, x.index))
	x.index += b.N
	return err
}

// emit takes the root's output of the running epoch.
func (v *view) emit(b *batch.Batch) error {
	v.emitted += int64(b.N)
	if v.keep.Load() {
		v.changes = append(v.changes, part{b: b.Keep()})
	}
	return v.out.add(b)
}

// allRows is the identity selection, for copying a batch.
func allRows(n int) []int32 {
	sel := make([]int32, n)
	for i := range sel {
		sel[i] = int32(i)
	}
	return sel
}

// sourceBatch gives a relation's rows the shape that a source declares. The position of a row is its epoch and its index
// within the epoch's changes of that relation (at most 2^28 rows).
func sourceBatch(src *dataflow.Source, b *batch.Batch, epoch uint64, index int) *batch.Batch {
	return shapeTo(new(batch.Batch), src, b, epoch, index)
}

// shapeTo is sourceBatch with the memory of p, which it gives.
func shapeTo(p *batch.Batch, src *dataflow.Source, b *batch.Batch, epoch uint64, index int) *batch.Batch {
	cols := p.Cols[:0]
	for _, c := range src.Cols {
		cols = append(cols, b.Cols[c])
	}
	*p = batch.Batch{N: b.N, Weights: b.Weights, Cols: cols, Gift: b.Gift}
	if src.Position {
		pos := batch.NewVector(types.Of(types.Int8), b.N)
		base := int64(epoch)<<28 + int64(index)
		for i := 0; i < b.N; i++ {
			pos.AppendInt(base + int64(i))
		}
		p.Cols = append(p.Cols, pos)
	}
	return p
}

// setStatus records the view's status for other goroutines.
func (v *view) setStatus(s viewStatus, err error) {
	v.mu.Lock()
	v.status, v.err = s, err
	v.mu.Unlock()
}

func (v *view) getStatus() (viewStatus, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.status, v.err
}

// readable gives the error that reading the view must answer with, nil while it is up to date.
func (v *view) readable() error {
	switch s, err := v.getStatus(); s {
	case viewFailed:
		e := sqlerr.New(sqlerr.NotInPrerequisiteState, "materialized view \"%s\" has stopped", v.rel().Name).WithCause(err)
		if err != nil {
			e.Detail = sqlerr.From(err).Message
		}
		if v.unbuilt {
			return e.WithHint("It could not be built when the database was opened. Once what it lacks is there, ALTER MATERIALIZED VIEW %s RESUME rebuilds it from history, and so does opening the database again.", v.rel().Name)
		}
		return e.WithHint("ALTER MATERIALIZED VIEW %s RESUME rebuilds it.", v.rel().Name)
	case viewPaused:
		return sqlerr.New(sqlerr.NotInPrerequisiteState, "materialized view \"%s\" is paused", v.rel().Name).
			WithHint("ALTER MATERIALIZED VIEW %s RESUME lets it catch up.", v.rel().Name)
	}
	return nil
}
