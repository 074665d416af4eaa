package engine

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/state"
)

// Catch-up: a view that starts after its data gets the stored epochs, each with the timestamp and watermark that
// it then had. Tables and views that it reads enter first, as their contents at the epoch of its creation, judged against no watermark.

// maxHeldEpochs bounds the epochs that are kept for a view that is being filled; past it the view starts over.
const maxHeldEpochs = 100_000

// backfill is the filling of one view in the background.
type backfill struct {
	mu   sync.Mutex
	held []*heldEpoch // epochs since the filling began, oldest first
	lost bool         // too many were held
	pos  uint64
	rows int64
	stop chan struct{} // closed to end it
	done chan struct{} // closed when its goroutine has ended
}

// heldEpoch is one epoch's input, kept for a view that can't take it yet.
type heldEpoch struct {
	n       uint64
	ts      int64
	cat     *catalog.Catalog
	changes map[catalog.OID][]part
	marks   map[catalog.OID]mark
	streams map[catalog.OID]streamInput
}

func (h *heldEpoch) input() *epochInput {
	return &epochInput{n: h.n, ts: h.ts, cat: h.cat,
		changes: func(oid catalog.OID) []part { return h.changes[oid] },
		marks:   marksIn(h.marks),
		stream:  func(oid catalog.OID) (streamInput, bool) { s, ok := h.streams[oid]; return s, ok }}
}

// hold keeps an epoch for a view that is being filled. It runs on the loop's goroutine.
func (v *view) hold(in *epochInput) {
	f := v.fill
	if f == nil {
		return
	}
	h := &heldEpoch{n: in.n, ts: in.ts, cat: in.cat, changes: map[catalog.OID][]part{}, marks: map[catalog.OID]mark{}, streams: map[catalog.OID]streamInput{}}
	for _, s := range v.graph.Sources() {
		oid := s.Rel.OID
		if h.changes[oid] == nil {
			// Changes of views are reused from epoch to epoch, those of streams and tables belong to the epoch but where they are lent.
			h.changes[oid] = append([]part(nil), in.changes(oid)...)
			for i := range h.changes[oid] {
				if p := &h.changes[oid][i]; p.lent {
					p.b, p.lent = p.b.Keep(), false
				}
			}
		}
		h.marks[oid] = in.marks(oid)
		if s, ok := in.stream(oid); ok {
			if s.of != nil {
				s.of.settle()
				s.events, s.of = s.of.epoch, nil
			}
			h.streams[oid] = s
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.held) >= maxHeldEpochs {
		f.held, f.lost = nil, true
	}
	if !f.lost {
		f.held = append(f.held, h)
	}
}

// take gives the oldest held epoch, nil if there is none.
func (f *backfill) take() (h *heldEpoch, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost || len(f.held) == 0 {
		return nil, f.lost
	}
	h, f.held = f.held[0], f.held[1:]
	return h, false
}

func (f *backfill) advance(pos uint64, rows int64) {
	f.mu.Lock()
	f.pos, f.rows = pos, f.rows+rows
	f.mu.Unlock()
}

// filled tells how far a filling is.
func (v *view) filled() (pos uint64, rows int64) {
	v.mu.Lock()
	f := v.fill
	v.mu.Unlock()
	if f == nil {
		return 0, 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pos, f.rows
}

// history is what a starting view must be given before the epochs that follow.
type history struct {
	upTo  uint64 // the last epoch of it
	ts    int64
	cat   *catalog.Catalog                // of that epoch or a later one
	snaps map[catalog.OID]contentSnapshot // of tables and views
	wms   map[catalog.OID]mark            // of those
	size  int64                           // rows, about
	err   error                           // why it can't be had
	// shadows follow the watermarks of the views among its inputs, under the streams beneath them.
	shadows []*shadow
	under   []catalog.OID
	// before is called before each stored epoch is run, unless it is nil.
	before func(*state.EpochRecord) error
}

// historyOf gathers a view's history up to epoch upTo, that of p. cat has the streams that come with the view, too.
func (e *Engine) historyOf(v *view, p *published, cat *catalog.Catalog, upTo uint64) *history {
	h := &history{upTo: upTo, ts: p.ts, cat: cat, snaps: map[catalog.OID]contentSnapshot{}, wms: map[catalog.OID]mark{}}
	if h.shadows, h.under, h.err = e.shadowsOf(v.graph); h.err != nil {
		return h
	}
	for _, s := range v.graph.Sources() {
		if st := e.streams[s.Rel.OID]; st != nil {
			h.size += st.rows
			continue
		}
		if isLetters(s.Rel.OID) {
			h.snaps[s.Rel.OID] = e.letterHistory(s.Rel.OID, v, upTo)
			h.size += h.snaps[s.Rel.OID].count()
			continue
		}
		pub := p.rel(s.Rel.OID)
		snap := pub.contents
		if _, ok := specOf(s.Rel); ok {
			if snap, h.err = e.stateForView(s.Rel); h.err != nil {
				return h
			}
		}
		if in := e.viewByOID[s.Rel.OID]; snap == nil && in != nil && in.fillEnded() {
			// Created in the same epoch, and filled already. (One that is being filled is waited for, and asked then.)
			snap = in.out.publish(upTo)
			h.wms[s.Rel.OID] = still(in.wm, in.idle)
		}
		if snap != nil {
			h.snaps[s.Rel.OID] = snap
			h.size += max(0, snap.count())
			if pub.marked {
				h.wms[s.Rel.OID] = still(pub.wm, pub.idle)
			}
		}
	}
	return h
}

var errStopped = errors.New("stopped")

// replayHistory gives a view its history. progress is called after each epoch and may stop it.
func (e *Engine) replayHistory(v *view, h *history, progress func(pos uint64, rows int64) error) error {
	if len(h.snaps) > 0 {
		if err := v.feedContents(h); err != nil {
			return err
		}
	}
	streams, rels := map[catalog.OID]mark{}, map[catalog.OID]*catalog.Relation{}
	for _, s := range v.graph.Sources() {
		if s.Rel.Kind == catalog.Stream {
			streams[s.Rel.OID], rels[s.Rel.OID] = still(dataflow.NoWatermark, false), s.Rel
		}
	}
	marks := maps.Clone(streams)
	for _, oid := range h.under {
		marks[oid] = still(dataflow.NoWatermark, false)
	}
	if len(streams) > 0 {
		again := e.newRereads()
		defer again.close()
		err := e.store.ReadEpochsOf(1, h.upTo, func(oid catalog.OID) bool { _, ok := streams[oid]; return ok }, func(rec *state.EpochRecord) error {
			if h.before != nil {
				if err := h.before(rec); err != nil {
					return err
				}
			}
			if err := again.fill(rec, rels); err != nil {
				return err
			}
			in, rows, err := recordInput(rec, marks, rels, h.shadows)
			if err != nil {
				return err
			}
			in.cat = h.cat
			if v.needsRun(in) {
				if err := v.runEpoch(in); err != nil {
					return err
				}
			}
			for oid := range marks {
				m := in.marks(oid)
				marks[oid] = still(m.after, m.idleAfter)
			}
			for _, s := range h.shadows {
				m := in.marks(s.oid)
				marks[s.oid] = still(m.after, m.idleAfter)
			}
			return progress(rec.Epoch, rows)
		})
		if err != nil {
			return err
		}
	}
	return v.closeContents(h, marks)
}

// recordInput shows a stored epoch to a view.
func recordInput(rec *state.EpochRecord, before map[catalog.OID]mark, rels map[catalog.OID]*catalog.Relation, shadows []*shadow) (*epochInput, int64, error) {
	rows := int64(0)
	marks := maps.Clone(before)
	for _, m := range rec.Watermarks {
		if was, ok := before[m.OID]; ok {
			marks[m.OID] = mark{was.before, dataflow.Watermark(m.Watermark), was.idleBefore, m.Idle}
		}
	}
	for _, s := range shadows {
		s.move(rec.Epoch, rec.Timestamp, marks)
	}
	changes := map[catalog.OID][]part{}
	for i := range rec.Changes {
		c := &rec.Changes[i]
		p, err := recordPart(c, rels[c.OID])
		if err != nil {
			return nil, 0, err
		}
		changes[c.OID] = append(changes[c.OID], p...)
		for _, x := range p {
			rows += x.rows()
		}
	}
	return &epochInput{n: rec.Epoch, ts: rec.Timestamp,
		changes: func(oid catalog.OID) []part { return changes[oid] },
		marks:   marksIn(marks)}, rows, nil
}

// recordPart gives a stored change as a part; rows that are older than a column of the relation are padded.
func recordPart(c *state.RelChange, rel *catalog.Relation) ([]part, error) {
	if c.Spooled == nil {
		return []part{{b: pad(rel, c.Batch)}}, nil
	}
	rows, padded := int64(0), false
	err := c.Spooled.EachShape(func(n, columns int) {
		rows += int64(n)
		padded = padded || columns < len(rel.Columns)
	})
	if err != nil || !padded {
		return []part{{sp: c.Spooled, spRows: rows}}, err
	}
	var out []part
	err = c.Each(func(b *batch.Batch) error {
		out = append(out, part{b: pad(rel, b.Select(allRows(b.N)))})
		return nil
	})
	return out, err
}

// feedContents gives a view the contents of the tables and views that it reads, as an epoch before all others. When their rows came isn't known: the
// delays are those in which the view is made.
func (v *view) feedContents(h *history) (err error) {
	defer recoverOperator(&err)
	v.sink.reset(0)
	v.env.Now = h.ts
	v.graph.Begin(&dataflow.EpochInfo{Timestamp: h.ts, Sink: v.sink, Watermarks: func(*dataflow.Source) (dataflow.Watermark, dataflow.Watermark) {
		return dataflow.NoWatermark, dataflow.NoWatermark
	}, Delay: func(stream catalog.OID) int64 { return h.cat.DelayIn(stream, h.upTo+1) }}, v.emit)
	for _, src := range v.graph.Sources() {
		snap := h.snaps[src.Rel.OID]
		if snap == nil {
			continue
		}
		index := 0
		err := snap.scan(context.Background(), func(b *batch.Batch) error {
			err := v.graph.Push(src, sourceBatch(src, b, 0, index))
			index += b.N
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := v.graph.End(); err != nil {
		return err
	}
	return v.sink.flush()
}

// closeContents lets the watermarks of the views that were fed come into force, and brings the view to the end of its history.
func (v *view) closeContents(h *history, last map[catalog.OID]mark) error {
	moved := false
	for oid, w := range h.wms {
		was := marksIn(last)(oid)
		moved = moved || w.before != was.after || w.idleBefore != was.idleAfter
	}
	if moved {
		in := &epochInput{n: h.upTo, ts: h.ts, cat: h.cat, again: true, changes: func(catalog.OID) []part { return nil },
			marks: func(oid catalog.OID) mark {
				if m, ok := h.wms[oid]; ok {
					was := marksIn(last)(oid)
					return mark{was.after, m.before, was.idleAfter, m.idleBefore}
				}
				return marksIn(last)(oid)
			}}
		if err := v.runEpoch(in); err != nil {
			return err
		}
	}
	v.pos = h.upTo
	return nil
}

// startView lets a new view catch up: at once where its history is small, else in the background. It runs on the loop's goroutine
// before the views run epoch n, of which cat is the catalog. With all set, it is filled at once whatever its size.
func (e *Engine) startView(v *view, cat *catalog.Catalog, n uint64, all bool) {
	if v.unbuilt {
		return
	}
	if v.rel().Options[pausedOption] != "" {
		v.setStatus(viewPaused, nil)
		return
	}
	if e.stopViews {
		v.setStatus(viewFailed, errStoppedByCrashes(n-1))
		return
	}
	h := e.historyOf(v, e.current(), cat, n-1)
	if h.err != nil {
		v.setStatus(viewFailed, h.err)
		e.log.Error().Err(h.err).Str("view", v.rel().Name).Msg("view could not start")
		return
	}
	waits := false
	for _, s := range v.graph.Sources() {
		if in := e.viewByOID[s.Rel.OID]; in != nil {
			switch st, _ := in.getStatus(); st {
			case viewBackfill:
				waits = true
			case viewFailed, viewPaused:
				v.setStatus(viewFailed, errNotRunning(in))
				return
			}
		}
	}
	if !waits && (all || h.size <= e.opts.BackfillRows) {
		err := func() (err error) {
			defer sqlerr.Recover(&err)
			if err := e.replayHistory(v, h, func(uint64, int64) error { return nil }); err != nil {
				return err
			}
			v.progress.restated()
			return e.allNews(v, n-1)
		}()
		if err != nil {
			v.setStatus(viewFailed, err)
			e.log.Error().Err(err).Str("view", v.rel().Name).Msg("view stopped while it was filled")
		}
		return
	}
	f := &backfill{stop: make(chan struct{}), done: make(chan struct{})}
	v.mu.Lock()
	v.space.Finish()
	v.fill, v.status = f, viewBackfill
	v.mu.Unlock()
	e.fills.Add(1)
	go e.fillView(v, f, h, waits)
}

// fillView fills a view beside the loop and hands it over when it has caught up.
func (e *Engine) fillView(v *view, f *backfill, h *history, waits bool) {
	defer e.fills.Done()
	defer close(f.done)
	err := func() (err error) {
		defer sqlerr.Recover(&err)
		if waits {
			if h, err = e.waitInputs(v, f); err != nil {
				return err
			}
		}
		if err := e.replayHistory(v, h, func(pos uint64, rows int64) error {
			f.advance(pos, rows)
			return e.stopped(f)
		}); err != nil {
			return err
		}
		v.progress.restated()
		return e.drainHeld(v, f)
	}()
	if err == nil || errors.Is(err, errStopped) {
		return
	}
	_ = e.do(func() { e.fillFailed(v, err) })
}

// fillFailed stops a view whose filling failed, and tells those who wait for it. It runs on the loop's goroutine.
func (e *Engine) fillFailed(v *view, err error) {
	v.mu.Lock()
	v.status, v.err, v.fill = viewFailed, err, nil
	v.mu.Unlock()
	e.log.Error().Err(err).Str("view", v.rel().Name).Msg("view stopped while it was filled")
	e.published.broadcast()
}

func (e *Engine) stopped(f *backfill) error {
	select {
	case <-f.stop:
		return errStopped
	case <-e.closing:
		return errStopped
	default:
		return nil
	}
}

// waitInputs waits until the views beneath are filled, and takes the history from then on.
func (e *Engine) waitInputs(v *view, f *backfill) (*history, error) {
	for {
		var h *history
		var failed error
		err := e.do(func() {
			for _, s := range v.graph.Sources() {
				if in := e.viewByOID[s.Rel.OID]; in != nil {
					switch st, _ := in.getStatus(); st {
					case viewBackfill:
						return
					case viewRunning:
					default:
						failed = errNotRunning(in)
						return
					}
				}
			}
			f.mu.Lock()
			f.held, f.lost = nil, false
			f.mu.Unlock()
			p := e.current()
			h = e.historyOf(v, p, p.cat, p.epoch)
			failed = h.err
		})
		if err != nil {
			return nil, errStopped
		}
		if h != nil || failed != nil {
			return h, failed
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-f.stop:
			return nil, errStopped
		case <-e.closing:
			return nil, errStopped
		}
	}
}

// drainHeld runs the epochs that came in meanwhile, and hands the view to the loop when none is left.
func (e *Engine) drainHeld(v *view, f *backfill) error {
	for {
		if err := e.stopped(f); err != nil {
			return err
		}
		h, lost := f.take()
		if lost {
			return sqlerr.New(sqlerr.ConfigurationLimitExceeded, "more epochs came in while the view was filled than can be held").
				WithHint("DROP it and create it again at a quieter time.")
		}
		if h != nil {
			if err := v.runHeld(h); err != nil {
				return err
			}
			f.advance(h.n, v.pushed)
			continue
		}
		handed := false
		if err := e.do(func() { handed = e.handOver(v, f) }); err != nil || handed {
			return nil
		}
	}
}

func (v *view) runHeld(h *heldEpoch) error {
	in := h.input()
	if v.needsRun(in) {
		if err := v.timed(in); err != nil {
			return err
		}
	}
	v.pos = h.n
	return nil
}

// handOver runs on the loop's goroutine: it takes the last held epochs, if there are few, and lets the view run with the others.
func (e *Engine) handOver(v *view, f *backfill) bool {
	for range 16 {
		h, lost := f.take()
		if lost {
			return false
		}
		if h == nil {
			e.viewsChanged()
			e.republish(v) // before it is said to run: who sees that reads it next
			v.mu.Lock()
			v.status, v.fill = viewRunning, nil
			v.mu.Unlock()
			e.published.broadcast()
			e.dirty = true // no checkpoint has it, and an epoch may be long in coming
			if err := e.allNews(v, v.pos); err != nil {
				e.fillFailed(v, err)
			}
			return true
		}
		if err := v.runHeld(h); err != nil {
			e.fillFailed(v, err)
			return true
		}
	}
	return false
}

// waitReadable waits until a view that is being filled is complete; it gives an error for one that has stopped.
func (e *Engine) waitReadable(ctx context.Context, oid catalog.OID) error {
	for {
		e.viewMu.Lock()
		v := e.viewStat[oid]
		e.viewMu.Unlock()
		if v == nil {
			return nil
		}
		next := e.published.wait()
		if st, _ := v.getStatus(); st != viewBackfill {
			return v.readable()
		}
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		case <-e.loopDone:
			return errShutdown()
		}
	}
}

// fillEnded says whether the goroutine that fills the view, if there is one, has ended.
func (v *view) fillEnded() bool {
	v.mu.Lock()
	f := v.fill
	v.mu.Unlock()
	if f == nil {
		return true
	}
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}
