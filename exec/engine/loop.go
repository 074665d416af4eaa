package engine

import (
	"context"
	"time"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/state"
)

// Bounds on what one epoch combines. One statement may be larger: it still enters one epoch whole.
const (
	maxEpochRows  = 1 << 18
	maxEpochUnits = 4096
	queueUnits    = 8192
)

// unit is what enters an epoch whole or not at all: a statement outside a block, or a transaction. run is called on the
// loop's goroutine and stages changes in the epoch; an error leaves nothing of it behind. done is called once: with that error
// at once, or when the epoch is durable and published.
type unit struct {
	run  func(b *epochBuild) error
	done func(err error)
	rows int  // about how many rows run stages, for the epoch's bound
	lazy bool // done need not wait until the epoch is durable: synchronous_commit is off
	// last: nothing joins the epoch behind it. So a source may queue its next unit before this one has an outcome, and never has two in one epoch.
	last bool
}

// submit queues a unit and waits until it is durable and published or has failed.
func (e *Engine) submit(ctx context.Context, rows int, run func(*epochBuild) error) error {
	return e.submitUnit(ctx, &unit{run: run, rows: rows})
}

// submit is Engine.submit for rows that the session writes: it does not wait until they are durable where synchronous_commit is off.
func (s *sess) submit(ctx context.Context, rows int, lazy bool, run func(*epochBuild) error) error {
	return s.e.submitUnit(ctx, &unit{run: run, rows: rows, lazy: lazy})
}

// lazy says whether the session's commits need not wait for the disk.
func (s *sess) lazy() bool { return s.set.values["synchronous_commit"] == "off" }

// submitUnit queues a unit and waits for its outcome.
func (e *Engine) submitUnit(ctx context.Context, u *unit) error {
	ch := make(chan error, 1)
	u.done = func(err error) { ch <- err }
	if err := e.enqueue(ctx, u); err != nil {
		return err
	}
	// Once queued it can't be withdrawn: whether it took effect must be known, so a cancel waits for the outcome.
	return e.outcome(ch)
}

// enqueue queues a unit.
func (e *Engine) enqueue(ctx context.Context, u *unit) error {
	e.readyFor(u.rows)
	select {
	case e.queue <- u:
		return nil
	case <-e.closing:
		return errShutdown()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// outcome waits until a queued unit is published or has failed, of which ch tells.
func (e *Engine) outcome(ch chan error) error {
	select {
	case err := <-ch:
		return err
	case <-e.loopDone:
		select {
		case err := <-ch:
			return err
		default:
			return errShutdown()
		}
	}
}

func errShutdown() error {
	return sqlerr.New(sqlerr.AdminShutdown, "terminating connection due to administrator command")
}

// loop runs epochs until the engine closes. It is the only goroutine that changes what is published.
func (e *Engine) loop() {
	defer close(e.loopDone)
	if e.opts.LoopStarted != nil {
		e.opts.LoopStarted()
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(e.untilDue())
		select {
		case u := <-e.queue:
			e.runUnits(e.collect(u))
		case f := <-e.inLoop:
			f()
		case <-timer.C:
			e.runUnits(nil)
		case <-e.closing:
			e.drain()
			return
		}
		e.maybeCheckpoint()
	}
}

// untilDue is how long the loop may sleep: until a stream or view has something to do because time has passed, or a checkpoint is due.
func (e *Engine) untilDue() time.Duration {
	wait := time.Hour
	if e.checkpoints.copying != nil || e.thawing {
		return 0
	}
	if e.readOnly() != nil {
		return wait
	}
	if e.dirty && !e.checkpoints.running { // the end of one that runs wakes the loop
		wait = max(0, time.Until(e.lastCheckpoint.Add(e.opts.CheckpointInterval)))
	}
	if e.newsWaits {
		return 0
	}
	if due, ok := e.nextDue(); ok {
		// Epochs that only let time pass are at least 100 ms apart.
		p := e.current()
		due = max(due, p.ts+minStep)
		wait = min(wait, max(time.Duration(due-e.now())*time.Microsecond, time.Millisecond))
	}
	return wait
}

// collect takes the first unit and what else waits, up to the bound.
func (e *Engine) collect(first *unit) []*unit {
	units, rows, last := append(e.units[:0], first), first.rows, first.last
	for rows < maxEpochRows && len(units) < maxEpochUnits && !last {
		select {
		case u := <-e.queue:
			units, rows, last = append(units, u), rows+u.rows, u.last
			continue
		default:
		}
		break
	}
	e.units = units
	return units
}

// drain answers what is still queued when the engine closes.
func (e *Engine) drain() {
	for {
		select {
		case u := <-e.queue:
			u.done(errShutdown())
		default:
			return
		}
	}
}

// do runs f on the loop's goroutine between epochs and waits for it.
func (e *Engine) do(f func()) error {
	done := make(chan struct{})
	select {
	case e.inLoop <- func() { f(); close(done) }:
		<-done
		return nil
	case <-e.loopDone:
		return errShutdown()
	}
}

// epochBuild is the epoch that is being made: the input that is fixed so far. Units stage changes in it one after
// another; later ones see the effects of earlier ones on streams and tables.
type epochBuild struct {
	e       *Engine
	started time.Time
	n       uint64
	ts      int64
	cat     *catalog.Catalog
	changes map[catalog.OID]*relChange
	order   []catalog.OID // of first change, so that the record does not depend on map order
	events  []event
	advance map[catalog.OID]int64            // ADVANCE WATERMARK, by stream
	held    map[catalog.OID]*batch.Batch     // dead letters of streams
	replay  bool                             // the epoch comes from the log
	lazy    bool                             // nobody waits until the epoch is durable
	marks   map[catalog.OID]state.StreamMark // of a replay: watermarks as recorded
	// Of the unit that runs: what it staged, and how to undo what it did besides.
	staged []stagedChange
	undo   []func()
	// Of all units: how to undo what they did to the engine.
	undone []func()
}

// relChange is what an epoch changes in one stream or table, in order.
type relChange struct {
	rel   *catalog.Relation
	parts []part
	// replayable says that the rows come from a source that can give them again: the log keeps their number only.
	replayable bool
	// read is what a connector read: the extent that the rows came from. nil: they came otherwise.
	read *connector.Extent
}

// part is some of the rows by which a relation changes: a batch, which belongs to the epoch or is lent to it, or the chunks of a large
// statement that were spooled into the log before it; or both, where a batch was spooled ahead and is still in memory.
type part struct {
	b  *batch.Batch
	sp *state.Spooled
	// spRows is sp's number of rows, where there is no batch.
	spRows int64
	// lent says that the batch is its maker's again when the epoch ends.
	lent bool
}

// rows is the part's number of rows.
func (p part) rows() int64 {
	if p.b == nil {
		return p.spRows
	}
	return int64(p.b.N)
}

// eachBatch calls f with the batches of parts, in order, each valid during the call.
func eachBatch(parts []part, f func(*batch.Batch) error) error { return eachBatchOf(parts, nil, f) }

// eachBatchOf is eachBatch with only the columns that want names by index (nil: all), where others need not be read; they may be nil. want is
// asked where rows are read.
func eachBatchOf(parts []part, want func() []bool, f func(*batch.Batch) error) error {
	for _, p := range parts {
		var err error
		if p.b == nil && want != nil {
			err = p.sp.EachOf(want(), f)
		} else if p.b == nil {
			err = p.sp.Each(f)
		} else {
			err = f(p.b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stagedChange is one part that the running unit staged.
type stagedChange struct {
	rel *catalog.Relation
	part
}

// newBuild begins an epoch. Its memory is the one before's.
func (e *Engine) newBuild() *epochBuild {
	p, b := e.current(), &e.build
	if b.changes == nil {
		b.changes = map[catalog.OID]*relChange{}
	}
	clear(b.undone)
	*b = epochBuild{e: e, started: time.Now(), n: p.epoch + 1, ts: max(p.ts, e.now()), cat: p.cat, changes: b.changes, order: b.order[:0], undone: b.undone[:0]}
	return b
}

// stage adds changes to a stream or table. ch has all columns of the relation; the caller gives it up.
func (b *epochBuild) stage(rel *catalog.Relation, ch *batch.Batch) error {
	if ch.N == 0 {
		return nil
	}
	if rel.Kind == catalog.Table {
		t := b.e.tables[rel.OID]
		if t == nil {
			return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", rel.Name)
		}
		if err := t.add(ch); err != nil {
			return err
		}
	}
	if c := b.changes[rel.OID]; c != nil && c.replayable {
		return sqlerr.New(sqlerr.ObjectInUse, "stream \"%s\" is fed by a source", rel.Name)
	}
	b.staged = append(b.staged, stagedChange{rel, part{b: ch}})
	return nil
}

// stageSpool adds the rows of a spooled statement to a stream.
func (b *epochBuild) stageSpool(rel *catalog.Relation, p part) error {
	if c := b.changes[rel.OID]; c != nil && c.replayable {
		return sqlerr.New(sqlerr.ObjectInUse, "stream \"%s\" is fed by a source", rel.Name)
	}
	b.staged = append(b.staged, stagedChange{rel, p})
	return nil
}

// runUnit runs one unit; on error all that it did is undone.
func (b *epochBuild) runUnit(u *unit) (err error) {
	cat, nev := b.cat, len(b.events)
	b.staged, b.undo = nil, nil
	defer func() {
		if err != nil {
			b.rollback()
			b.cat, b.events = cat, b.events[:nev]
		}
	}()
	defer sqlerr.Recover(&err)
	if err := u.run(b); err != nil {
		return err
	}
	for _, s := range b.staged {
		b.keep(s)
	}
	b.undone = append(b.undone, b.undo...)
	return nil
}

// rollback takes the running unit's changes of tables back, last first.
func (b *epochBuild) rollback() {
	for i := len(b.staged) - 1; i >= 0; i-- {
		s := b.staged[i]
		if t := b.e.tables[s.rel.OID]; t != nil {
			if err := t.add(s.b.Negate()); err != nil {
				b.e.fail(err)
			}
		}
	}
	for i := len(b.undo) - 1; i >= 0; i-- {
		b.undo[i]()
	}
}

// keep moves a staged change into the epoch. Batches are combined, so that views see few large ones.
func (b *epochBuild) keep(s stagedChange) {
	c := b.changes[s.rel.OID]
	if c == nil {
		c = &relChange{rel: s.rel}
		b.changes[s.rel.OID] = c
		b.order = append(b.order, s.rel.OID)
	}
	if n := len(c.parts); n > 0 && s.b != nil && c.parts[n-1].b != nil {
		c.parts[n-1].b.AppendBatch(s.b, nil)
		return
	}
	c.parts = append(c.parts, s.part)
}

func (b *epochBuild) empty() bool {
	return len(b.changes) == 0 && len(b.events) == 0 && len(b.advance) == 0
}
