package engine

import (
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/workers"
)

// stream is the running state of a stream.
type stream struct {
	rel      *catalog.Relation
	wm       dataflow.Watermark
	maxEvent int64 // greatest event time so far, dataflow.NoTime if none
	moved    bool  // maxEvent changed in the running epoch
	rows     int64 // rows since the stream's beginning
	lateness lateness
	epoch    eventStats // of the running epoch; complete once it is settled
	seen     *observations
	team     workers.Team // for what is to be found of many rows
	// src feeds the stream; nil: clients do.
	src *source
	// maxStep is max_watermark_step, microseconds, 0 for none; held are the dead letters of rows that were too far ahead or could not be
	// decoded, nil where there can be none, heldNow those of the running epoch.
	maxStep int64
	held    contents
	heldNow *batch.Batch
	// idle: no row came for the stream's idle timeout. It is recorded in epochs.
	idle bool
	// What idleness is told from is processing time, microseconds since 1970, and is not kept over a restart: while the database
	// is down no row can come, so that time is nobody's silence.
	since   int64 // silent since then
	from    int64 // of an idle stream that moves on: its watermark was base then
	base    dataflow.Watermark
	stepped int64 // when it last moved on
}

// mark is a relation's watermark, and whether it is idle, before and after an epoch.
type mark struct {
	before, after         dataflow.Watermark
	idleBefore, idleAfter bool
}

// moved says that the epoch changes it.
func (m mark) moved() bool { return m.before != m.after || m.idleBefore != m.idleAfter }

// still is the mark of what does not move.
func still(w dataflow.Watermark, idle bool) mark { return mark{w, w, idle, idle} }

// The watermark of an idle stream moves on in epochs that are at least minStep apart, and at most maxStep: the longer the silence,
// the less a step matters.
const (
	minStep = int64(100 * time.Millisecond / time.Microsecond)
	maxStep = int64(time.Second / time.Microsecond)
)

// advanceMarks moves the watermarks of streams by the epoch's rows: greatest event time so far
// less the delay, rounded down to milliseconds, never back; and lets streams go idle and come back.
func (e *Engine) advanceMarks(b *epochBuild) (map[catalog.OID]mark, error) {
	marks := e.live.noMarks()
	for oid, s := range e.streams {
		m := still(s.wm, s.idle)
		rows, err := s.take(b.changes[oid])
		if err != nil {
			return nil, err
		}
		if !b.replay {
			to, explicit := b.advance[oid]
			s.advance(&m, b.ts, rows > 0, to, explicit)
		} else if r, ok := b.marks[oid]; ok {
			s.maxEvent, m.after, m.idleAfter = r.MaxEventTime, dataflow.Watermark(r.Watermark), r.Idle
		}
		s.wm, s.idle = m.after, m.idleAfter
		marks[oid] = m
	}
	return marks, nil
}

// take counts the epoch's rows and their event times.
func (s *stream) take(c *relChange) (rows int64, err error) {
	s.moved, s.epoch = false, eventStats{}
	if c == nil {
		return 0, nil
	}
	for _, p := range c.parts {
		observe := s.observe
		if p.b != nil {
			observe = s.observeLater
		}
		err = eachBatch([]part{p}, func(b *batch.Batch) error {
			rows += int64(b.N)
			if wm := s.rel.Watermark; wm != nil {
				observe(b.Cols[wm.Column])
			}
			return nil
		})
		if err != nil {
			break
		}
	}
	s.rows += rows
	s.offer()
	return rows, err
}

// undo takes the stream back to what it was before an epoch that took c in. The buckets of lateness are one array, which is put right row by row.
func (s *stream) undo(old stream, c *relChange) {
	s.settle()
	again := old
	again.lateness.buckets = s.lateness.buckets
	if wm := s.rel.Watermark; wm != nil && c != nil {
		_ = eachBatch(c.parts, func(b *batch.Batch) error { // what can't be read again is a figure for choosing a delay, no more
			again.observeBy(b.Cols[wm.Column], -1)
			return nil
		})
	}
	buckets := s.lateness.buckets
	*s = old
	s.lateness.buckets = buckets
}

// advance fixes the stream's mark after an epoch of timestamp ts. to is ADVANCE WATERMARK's, if explicit.
func (s *stream) advance(m *mark, ts int64, rows bool, to int64, explicit bool) {
	wm := s.rel.Watermark
	if wm == nil {
		return
	}
	if s.moved {
		m.after = max(m.after, dataflow.Watermark(floorMilli(s.maxEvent-wm.DelayMicros)))
	}
	if explicit {
		m.after = max(m.after, dataflow.Watermark(floorMilli(to)))
	}
	if rows {
		s.since = ts
	}
	if m.idleAfter = wm.IdleMicros > 0 && ts-s.since >= wm.IdleMicros; !m.idleAfter {
		return
	}
	if !m.idleBefore {
		s.rest(m.after, s.since+wm.IdleMicros)
	} else if m.after != m.before {
		s.rest(m.after, ts)
	}
	if wm.Advance && m.after != dataflow.NoWatermark && ts >= s.stepped+s.step() {
		m.after = max(m.after, dataflow.Watermark(floorMilli(int64(s.base)+ts-s.from)))
		s.stepped = ts
	}
}

// rest says that the watermark of the idle stream was w at the processing time at, from which on it moves by the time that passes.
func (s *stream) rest(w dataflow.Watermark, at int64) { s.base, s.from, s.stepped = w, at, at }

// step is how far apart the epochs are in which the stream moves on.
func (s *stream) step() int64 { return min(max((s.stepped-s.from)/10, minStep), maxStep) }

// due is the processing time at which the stream goes idle or moves on; false if nothing is to come.
func (s *stream) due() (int64, bool) {
	wm := s.rel.Watermark
	switch {
	case wm == nil || wm.IdleMicros == 0:
		return 0, s.idle // it was idle when its timeout was taken away: it comes back
	case !s.idle:
		return s.since + wm.IdleMicros, true
	case wm.Advance && s.wm != dataflow.NoWatermark:
		return s.stepped + s.step(), true
	}
	return 0, false
}

// wake starts the measuring of silence, when the database begins to take rows.
func (s *stream) wake(now int64) {
	s.since = now
	if wm := s.rel.Watermark; s.idle && wm != nil {
		s.since = now - wm.IdleMicros // it is idle, and stays so
		s.rest(s.wm, now)
	}
}

func (e *Engine) startStream(rel *catalog.Relation) {
	s := &stream{rel: rel, wm: dataflow.NoWatermark, maxEvent: dataflow.NoTime,
		team: workers.Team{Number: func() int { return int(e.workers.Load()) }, Around: e.opts.SideBySide}}
	s.wake(e.now())
	s.src = e.newSource(rel)
	s.maxStep, _ = watermarkStep(rel)         // CREATE STREAM has checked it
	if rel.Watermark != nil || s.src != nil { // max_watermark_step may come later, and its letters outlive it
		s.held = e.newChunks(rel.OID|deadOID, columnTypes(deadColumns))
	}
	e.streams[rel.OID] = s
	e.ordered = nil
}

// now is the wall clock, microseconds since 1970: processing time.
func (e *Engine) now() int64 {
	if e.opts.Clock != nil {
		return e.opts.Clock().UnixMicro()
	}
	return time.Now().UnixMicro()
}

// streamStat is what readers see of a stream besides its rows.
type streamStat struct {
	maxEvent int64 // dataflow.NoTime for none
	idle     bool
	rows     int64
	// Lateness in microseconds; none without a row that has an event time.
	p50, p99, max int64
	any           bool
}

// stat describes the stream after an epoch. old is what it was before.
func (s *stream) stat(old streamStat) streamStat {
	st := streamStat{maxEvent: s.maxEvent, idle: s.idle, rows: s.rows, p50: old.p50, p99: old.p99, max: s.lateness.max, any: old.any}
	if s.epoch.n > 0 || old.any != (s.lateness.n > 0) {
		st.p50, st.any = s.lateness.quantile(0.5)
		st.p99, _ = s.lateness.quantile(0.99)
	}
	return st
}
