package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tidemarkdb/tidemark/checkpoint"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/state"
	"github.com/tidemarkdb/tidemark/state/table"
)

// checkpointer writes checkpoints beside the loop, one at a time. What is written is fixed on the loop's goroutine between two
// epochs, which takes little time, and copied there in small steps between the epochs that follow: an operator that changes an
// entry before has it copied first. Then it is written beside the loop.
type checkpointer struct {
	e *Engine
	// Of the loop's goroutine:
	running bool // a checkpoint is on its way
	done    chan error
	copying *frozenState // of the one on its way: not all of it is copied yet
	stepped time.Time    // when the loop last worked at it
	base    int64        // the memory in use when all was copied
	again   *frozenState // of a write that failed and changed nothing: it must be written before anything newer is frozen
}

// frozenState is what one checkpoint writes.
type frozenState struct {
	cp     *checkpoint.Checkpoint
	frozen []*table.Frozen
	gone   []dropped
}

func newCheckpointer(e *Engine) *checkpointer { return &checkpointer{e: e} }

// maybeCheckpoint starts a checkpoint when one is due: by time, or because state has outgrown its budget and only what is written can
// be evicted. It runs on the loop's goroutine.
func (e *Engine) maybeCheckpoint() {
	e.stepState()
	if !e.dirty && !e.checkpoints.running || e.readOnly() != nil {
		return
	}
	c, used := e.checkpoints, e.memoryUsed()
	if used > e.opts.mostState() && e.thawing && c.copying == nil {
		e.dropSome()
		used = e.memory
	}
	if c.running {
		e.keepPace()
		return
	}
	used += e.toCopy
	if used > e.opts.muchState()/4*3 {
		e.shrinkContents() // it takes memory itself at first
	}
	since := time.Since(e.lastCheckpoint)
	if since < e.opts.CheckpointInterval {
		much := e.opts.muchState()
		if used <= much || since < minCheckpointInterval && e.unwritten < much/worthWriting || c.again != nil {
			return
		}
		// What is on disk anyway may be enough to drop, and what need not be written enough to merge.
		if e.dropClean() || e.shrinkContents() {
			return
		}
	}
	if err := e.startCheckpoint(); err != nil {
		e.log.Error().Err(err).Msg("checkpoint failed")
	}
}

// keepPace has the loop wait while epochs make state faster than a checkpoint is written: from muchState on they may take of what is left up to
// mostState the part that is written, so that each waits a little rather than one for all of the checkpoint.
func (e *Engine) keepPace() {
	c, much, most := e.checkpoints, e.opts.muchState(), e.opts.mostState()
	if e.memory <= much {
		return
	}
	if c.copying != nil {
		if e.memory <= most {
			return // copying is quick, and done between the epochs
		}
		e.copyAll()
	}
	base := max(much, c.base)
	for room := float64(max(most-base, 0)); e.memory+e.toCopy > base+int64(room*e.store.WriteProgress()); {
		select {
		case err := <-c.done:
			c.done <- err
			return
		case <-time.After(paceStep):
		}
	}
}

// paceStep is how often a loop that waits looks how far a checkpoint is.
const paceStep = 2 * time.Millisecond

// minCheckpointInterval is the least time between checkpoints that write little, however much state there is: where it can't be dropped, as filters,
// each would else be followed by the next. One that writes a part in worthWriting of muchState begins when memory asks for it: how much comes
// about in half a second has nothing to do with the budget.
const (
	minCheckpointInterval = 500 * time.Millisecond
	worthWriting          = 4
)

// startCheckpoint freezes the state as of the last epoch and starts to write it. It runs on the loop's goroutine.
func (e *Engine) startCheckpoint() error {
	if err := e.readOnly(); err != nil {
		return err // the state in memory may be ahead of the log
	}
	c := e.checkpoints
	f := c.again
	e.lastCheckpoint = time.Now()
	if f == nil {
		if e.newsWaits { // what is frozen must not have letters that their readers are yet to get
			e.runUnits(nil)
		}
		var err error
		if f, err = e.freeze(); err != nil {
			return err
		}
		e.dirty = false
	}
	c.running, c.done, c.again = true, make(chan error, 1), nil
	c.copying, c.stepped = f, time.Now()
	return nil
}

// stateStep is how long the loop works between two epochs at what a checkpoint left to do, at least: where epochs take long it is an
// eighth of the time since it last did, so that the checkpoint does come, and more where memory is short.
const stateStep = 2 * time.Millisecond

// longestStep is how long it works at most, however long the epoch before took or had to wait.
const longestStep = 30 * time.Millisecond

// stepState goes on copying what a checkpoint is to write, and starts to write it when all is copied; it also lets go of what
// one that is written kept in memory. It runs on the loop's goroutine between epochs.
func (e *Engine) stepState() {
	c := e.checkpoints
	if c.copying == nil && !e.thawing {
		return
	}
	start := time.Now()
	share := time.Duration(8)
	if e.memory > e.opts.muchState() {
		share = 2
	}
	until := start.Add(min(max(stateStep, start.Sub(c.stepped)/share), longestStep))
	defer func() { c.stepped = time.Now() }()
	for _, v := range e.views {
		if st, _ := v.getStatus(); st == viewBackfill || st == viewFailed {
			continue // the space of one is another goroutine's, and has nothing to do; that of the other may not be sound
		}
		for v.space.Step(256) {
			if time.Now().After(until) {
				return
			}
		}
	}
	e.thawing = false
	e.copyAll()
}

// copyAll copies what is left of the checkpoint on its way, and starts to write it.
func (e *Engine) copyAll() {
	c := e.checkpoints
	f := c.copying
	if f == nil {
		return
	}
	c.copying = nil
	for _, x := range f.frozen {
		x.Complete()
	}
	c.base = e.countMemory()
	done := c.done
	go func() {
		written, err := e.writeCheckpoint(f)
		if !written && e.readOnly() == nil {
			e.log.Error().Err(err).Uint64("epoch", f.cp.Epoch).Msg("checkpoint failed, it is tried again")
			c.again = f // ordered before what the loop does next by running
		}
		done <- err
		f = nil
		_ = e.do(func() {
			c.running = false
			if err == nil {
				e.thawing = true
				e.showWritten()
				go collectShort()
				e.evict()
			} else {
				e.dirty = true
			}
		})
	}()
}

// freeze fixes what changed since the last checkpoint, as it is now. What may fail comes before anything is frozen: that counts as
// written from then on, and a later checkpoint would lack it.
func (e *Engine) freeze() (*frozenState, error) {
	var running []*view // others begin again after a restart
	for _, v := range e.views {
		if st, _ := v.getStatus(); st != viewRunning {
			continue
		}
		running = append(running, v)
		p := e.current()
		trimmed, err := v.trimLetters(p.epoch, p.ts)
		if err != nil {
			return nil, err
		}
		if trimmed {
			e.republish(v)
		}
	}
	cp, err := e.describe(running)
	if err != nil {
		return nil, err
	}
	f := &frozenState{cp: cp}
	for _, s := range e.streamOrder() {
		if s.held != nil {
			f.add(s.held.freeze())
		}
	}
	for _, rel := range e.current().cat.Relations() {
		if t := e.tables[rel.OID]; t != nil {
			f.add(t.freeze()...)
		}
	}
	for _, v := range running {
		f.addSpace(v)
		for _, c := range []contents{v.out, v.late, v.dead} {
			f.add(c.freeze())
		}
	}
	var keep []dropped
	for _, d := range e.gone {
		if d.filling && !d.view.fillEnded() {
			keep = append(keep, d)
			continue
		}
		if d.table != nil {
			f.add(d.table.freeze()...)
		}
		if d.view != nil {
			d.view.space.Drop()
			f.addSpace(d.view)
			for _, c := range d.contents {
				c.drop()
			}
		}
		for _, c := range d.contents {
			f.add(c.freeze())
		}
		f.gone = append(f.gone, d)
	}
	e.gone = keep
	return f, nil
}

func (f *frozenState) add(ss ...*state.Section) {
	for _, s := range ss {
		if s != nil {
			f.cp.Sections = append(f.cp.Sections, s)
		}
	}
}

func (f *frozenState) addSpace(v *view) {
	x := v.space.Freeze()
	f.frozen = append(f.frozen, x)
	f.add(state.SpaceSection(v.rel().OID, x))
}

// describe makes the checkpoint of the present without its sections. views are those that it has.
func (e *Engine) describe(views []*view) (*checkpoint.Checkpoint, error) {
	p := e.current()
	cp := &checkpoint.Checkpoint{Epoch: p.epoch, Timestamp: p.ts, Views: map[catalog.OID]uint64{}}
	img := image{Timestamp: p.ts, NextOID: e.nextOID.Load(), NextRow: e.nextRow.Load()}
	for _, s := range e.streamOrder() {
		img.Streams = append(img.Streams, streamImage{s.rel.OID, int64(s.wm), s.maxEvent, s.rows, s.idle, s.lateness.image(), s.offset()})
	}
	for _, v := range views {
		cp.Views[v.rel().OID] = p.epoch
		img.Views = append(img.Views, viewImage{v.rel().OID, int64(v.wm), v.sink.lateTotal, v.sink.deadTotal, v.idle, v.graph.Reached(), v.ownMarks(), v.sink.book})
	}
	meta, err := json.Marshal(img)
	if err != nil {
		return nil, err
	}
	cp.Meta = map[string][]byte{"engine": meta}
	cp.Catalog, err = encodeCatalog(p.cat)
	return cp, err
}

// writeCheckpoint writes what was frozen, and then deletes what nobody needs any more. After an error, unless the store has failed
// for good, nothing was written and the same can be written again.
func (e *Engine) writeCheckpoint(f *frozenState) (written bool, err error) {
	defer sqlerr.Recover(&err)
	cp, frozen, gone := f.cp, f.frozen, f.gone
	start := time.Now()
	if _, err := checkpoint.Write(context.Background(), e.store, cp); err != nil {
		if e.store.Failure() != nil {
			_ = e.fail(err)
		}
		return false, err
	}
	for _, f := range frozen {
		f.Written()
	}
	e.checkpointEpoch.Store(cp.Epoch)
	for _, d := range gone {
		if d.log != 0 {
			e.trimmed.Store(d.log, true)
			if err := e.store.DropRelation(d.log); err != nil {
				return true, err
			}
		}
	}
	if len(gone) > 0 {
		if err := e.store.Reclaim(); err != nil {
			return true, err
		}
	}
	// They are in the checkpoint; nobody reads their changes from the log any more.
	for _, oid := range e.loggedOIDs() {
		if err := e.store.TrimStream(oid, cp.Epoch+1); err != nil {
			return true, err
		}
	}
	e.log.Debug().Uint64("epoch", cp.Epoch).Int("sections", len(cp.Sections)).Int64("dur_ms", time.Since(start).Milliseconds()).Msg("checkpoint")
	return true, nil
}

// loggedOIDs lists what is in the log until it is in a checkpoint: the tables of the published catalog, and the dead letters of streams.
func (e *Engine) loggedOIDs() []catalog.OID {
	var out []catalog.OID
	for _, r := range e.current().cat.Relations() {
		switch {
		case r.Kind == catalog.Table:
			out = append(out, r.OID)
		case r.Kind == catalog.Stream && (r.Watermark != nil || r.Options[connectorOption] != ""):
			out = append(out, r.OID|deadOID)
		}
	}
	return out
}

// checkpointNow makes a checkpoint of the present state and waits until it is written.
func (e *Engine) checkpointNow(ctx context.Context) error {
	for {
		var done chan error
		own := false
		var err error
		if derr := e.do(func() {
			if !e.checkpoints.running {
				own, err = true, e.startCheckpoint()
			}
			done = e.checkpoints.done
		}); derr != nil {
			return derr
		}
		if err != nil {
			return err
		}
		select {
		case err := <-done:
			done <- err // others may wait for it too
			if own {
				return err
			}
			time.Sleep(time.Millisecond)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// finalCheckpoint writes a checkpoint when the loop has ended.
func (e *Engine) finalCheckpoint() error {
	if c := e.checkpoints; c.running {
		e.copyAll()
		err := <-c.done
		c.done <- err
	}
	if f := e.checkpoints.again; f != nil {
		if _, err := e.writeCheckpoint(f); err != nil {
			return err
		}
	} else if !e.dirty {
		return nil
	}
	if e.newsWaits {
		e.runUnits(nil)
	}
	f, err := e.freeze()
	if err != nil {
		return err
	}
	_, err = e.writeCheckpoint(f)
	return err
}
