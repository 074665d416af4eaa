package engine

import (
	"time"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/workers"
)

// teamRows is the number of rows of an epoch from which views with several state partitions will have work for as many cores.
const teamRows = 1 << 13

// readyFor says that an epoch of so many rows is about to come. Any goroutine may call it.
func (e *Engine) readyFor(rows int) {
	if n := int(e.workers.Load()); rows >= teamRows && n > 1 {
		workers.Ready(n)
	}
}

// runUnits makes one epoch of the units, or none if they change nothing and no view is due.
func (e *Engine) runUnits(units []*unit) {
	rows := 0
	for _, u := range units {
		rows += u.rows
	}
	e.readyFor(rows)
	b := e.newBuild()
	ok := units[:0]
	b.lazy = len(units) > 0
	for _, u := range units {
		err := e.readOnly()
		if err == nil {
			err = b.runUnit(u)
		}
		if err != nil {
			u.done(err)
			continue
		}
		ok = append(ok, u)
		b.lazy = b.lazy && u.lazy
	}
	var err error
	if !b.empty() || e.anyDue(b.ts) {
		err = e.runEpoch(b)
	}
	for _, u := range ok {
		u.done(err)
	}
	clear(e.units) // nothing of it is kept until the next epoch comes
	clear(b.changes)
	clear(e.live.rec.Changes)
}

// anyDue says whether somebody wants an epoch because time has passed.
func (e *Engine) anyDue(ts int64) bool {
	if e.readOnly() != nil {
		return false
	}
	due, ok := e.nextDue()
	return ok && due <= ts || e.newsWaits
}

// nextDue is the processing time at which a stream or view wants an epoch because time has passed.
func (e *Engine) nextDue() (due int64, any bool) {
	note := func(t int64, ok bool) {
		if ok && (!any || t < due) {
			due, any = t, true
		}
	}
	for _, s := range e.streams {
		note(s.due())
	}
	for _, v := range e.views {
		note(v.due())
	}
	return due, any
}

// runEpoch makes the epoch durable, runs the views meanwhile, and publishes it. An error means that nothing of it is
// published and that the engine takes no more writes: what was acknowledged is safe, what the views computed is not shown.
func (e *Engine) runEpoch(b *epochBuild) error {
	e.rememberStreams()
	defer e.settle() // whatever becomes of the epoch: its rows are its caller's again
	if err := e.holdAhead(b); err != nil {
		return e.fail(err)
	}
	marks, err := e.advanceMarks(b)
	if err != nil {
		return e.fail(err)
	}
	wait := func() error { return nil }
	t := epochTimes{phases: phases{latestOffset: time.Since(b.started)}}
	if !b.replay {
		logged := time.Now()
		rec, err := b.record(marks)
		if err == nil {
			rec.Lazy = b.lazy && len(b.events) == 0
			wait, err = e.store.AppendEpoch(rec)
		}
		if err == nil && rec.Lazy {
			e.syncSoon()
		}
		if err != nil && e.store.Failure() == nil {
			// Nothing was written: too little space, or too large an epoch. Its statements fail, and later ones may succeed.
			e.undoEpoch(b)
			return err
		}
		if err != nil {
			return e.fail(err)
		}
		t.walCommit = time.Since(logged)
	}
	e.realize(b)
	if err := e.deliverHeld(b); err != nil {
		return e.fail(err)
	}
	e.runViews(b, marks)
	e.forgetNews()
	t.ran = time.Now()
	if err := wait(); err != nil {
		return e.fail(err)
	}
	t.walCommit += time.Since(t.ran)
	e.settle()
	published := time.Now()
	e.publish(b, marks)
	t.commitOffsets, t.total = time.Since(published), time.Since(b.started)
	for _, v := range e.views {
		if v.ran == b.n {
			v.progress.finish(b.n, t.phases, e.eventsOf(v))
		}
	}
	return nil
}

// syncDelay is how long an epoch for which nobody waits may stay unsynced: PostgreSQL's wal_writer_delay.
const syncDelay = 200 * time.Millisecond

// syncSoon makes what was logged without sync durable after a moment.
func (e *Engine) syncSoon() {
	if !e.syncing.CompareAndSwap(false, true) {
		return
	}
	e.fills.Add(1)
	go func() {
		defer e.fills.Done()
		select {
		case <-time.After(syncDelay):
		case <-e.closing: // the last checkpoint makes it durable
			return
		}
		e.syncing.Store(false)
		if err := e.store.SyncLog(); err != nil {
			_ = e.fail(err)
		}
	}()
}

// settle returns when all is known of the rows of the streams.
func (e *Engine) settle() {
	for _, s := range e.streams {
		s.settle()
	}
}

// eventsOf gives the event times of an epoch that a view ran: those of its first source with a watermark and rows.
func (e *Engine) eventsOf(v *view) (found eventStats) {
	for _, src := range v.graph.Sources() {
		if s := e.streams[src.Rel.OID]; s != nil && src.Rel.Watermark != nil && s.epoch.n > 0 {
			return s.epoch
		}
	}
	return found
}

// rememberStreams copies what an epoch changes of streams.
func (e *Engine) rememberStreams() {
	e.live.streams = e.live.streams[:0]
	for _, s := range e.streamOrder() {
		e.live.streams = append(e.live.streams, *s)
	}
}

// undoEpoch takes back what an epoch that could not be recorded did to streams and tables.
func (e *Engine) undoEpoch(b *epochBuild) {
	for _, old := range e.live.streams {
		e.streams[old.rel.OID].undo(old, b.changes[old.rel.OID])
	}
	for _, t := range e.tables {
		t.each(func(c *rowContents) { c.r.Discard() })
	}
	for i := len(b.undone) - 1; i >= 0; i-- {
		b.undone[i]()
	}
}

// onlyDrops says whether the epoch does nothing but drop relations, which must work on a full disk too.
func (b *epochBuild) onlyDrops() bool {
	for _, ev := range b.events {
		if ev.Kind != "drop" && ev.Kind != "drop schema" && ev.Kind != "drop processor" && ev.Kind != "drop function" {
			return false
		}
	}
	return len(b.events) > 0 && len(b.changes) == 0
}

func floorMilli(t int64) int64 {
	m := t % 1000
	if m < 0 {
		m += 1000
	}
	return t - m
}

// realize starts what the epoch's events created and ends what they dropped.
func (e *Engine) realize(b *epochBuild) {
	for i := range b.events {
		ev := &b.events[i]
		switch ev.Kind {
		case "create":
			if b.cat.ByOID(ev.Rel.OID) == nil {
				continue // dropped again in the same epoch
			}
			e.start(b, ev.Rel)
			e.launch(ev.Rel.OID, !b.replay)
		case "replace":
			e.replaced(ev.Rel)
		case "drop":
			e.drop(ev.OID)
		case "processor":
			e.exchange(ev.Proc)
		}
	}
}

// runViews runs the epoch through all views in dependency order.
func (e *Engine) runViews(b *epochBuild, marks map[catalog.OID]mark) {
	in := e.epochInput(b, marks)
	in.share = e.shares()
	defer in.share.end()
	for oid := range b.changes {
		in.share.wake(oid, in.n)
	}
	for oid, m := range marks {
		if m.moved() {
			in.share.wake(oid, in.n)
		}
	}
	for _, v := range e.views {
		e.live.reader = v
		if !v.fillEnded() { // the goroutine that fills it has it
			v.hold(in)
			continue
		}
		v.changes = v.changes[:0]
		if st, _ := v.getStatus(); st != viewRunning {
			continue
		}
		var err error
		if v.onViews {
			err = v.blockedBy(e)
		}
		if err != nil || v.needsRun(in) {
			m := still(v.wm, v.idle)
			v.ran = in.n
			if err == nil {
				err = v.timed(in)
			}
			if err != nil {
				v.changes = nil
				v.setStatus(viewFailed, err)
				e.log.Error().Err(err).Str("view", v.rel().Name).Uint64("epoch", in.n).Msg("view stopped")
			}
			v.keepNews(e)
			if m.after, m.idleAfter = v.wm, v.idle; m.moved() || len(v.changes) > 0 {
				in.share.wake(v.rel().OID, in.n)
			}
			marks[v.rel().OID] = m
		}
		v.pos = in.n
	}
}

// blockedBy gives an error when a view beneath has stopped: a view goes no further than what it is built on.
func (v *view) blockedBy(e *Engine) error {
	for _, s := range v.graph.Sources() {
		if in := e.viewByOID[s.Rel.OID]; in != nil {
			if st, _ := in.getStatus(); st != viewRunning {
				return errNotRunning(in)
			}
		}
	}
	return nil
}

// errNotRunning is why a view that is built on another does not go on.
func errNotRunning(in *view) error {
	_, err := in.getStatus()
	return sqlerr.New(sqlerr.NotInPrerequisiteState, "materialized view \"%s\", on which it is built, is not running", in.rel().Name).WithCause(err)
}

// fail turns the engine read-only: a write could not be made durable. It gives the error that statements answer with.
func (e *Engine) fail(err error) error {
	se := sqlerr.From(err)
	if se.Code == sqlerr.InternalError {
		se = sqlerr.New(sqlerr.IOError, "could not write to the data directory: %v", err).WithCause(err)
	}
	e.failMu.Lock()
	if e.failure == nil {
		e.failure = se
		e.log.Error().Err(err).Msg("database is read-only: a write failed")
	}
	e.failMu.Unlock()
	return se
}

// readOnly gives the error that a write must answer with, nil while writes are taken.
func (e *Engine) readOnly() error {
	e.failMu.Lock()
	defer e.failMu.Unlock()
	if e.failure == nil {
		return nil
	}
	return sqlerr.New(e.failure.Code, "the database is read-only since a write failed").WithDetail("%s", e.failure.Message).
		WithHint("Restart the server when the cause is mended; nothing that was acknowledged is lost.").WithCause(e.failure)
}
