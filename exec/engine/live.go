package engine

import (
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/state"
)

// liveEpoch is what the loop needs for the epoch that runs: memory that is used again for the next one.
type liveEpoch struct {
	streams []stream // as they were before
	marks   map[catalog.OID]mark
	rec     state.EpochRecord
	offsets []sourceOffset
	meta    []byte

	in     epochInput // how views see it
	b      *epochBuild
	reader *view // whose turn it is
}

// noMarks gives an empty map for the epoch's marks.
func (l *liveEpoch) noMarks() map[catalog.OID]mark {
	if l.marks == nil {
		l.marks = map[catalog.OID]mark{}
	}
	clear(l.marks)
	return l.marks
}

// record is what the log keeps of the epoch. It is valid until the next one is made.
func (b *epochBuild) record(marks map[catalog.OID]mark) (*state.EpochRecord, error) {
	evs, err := encodeEvents(b.events)
	if err != nil {
		return nil, err
	}
	l := &b.e.live
	rec := &l.rec
	clear(rec.Changes)
	*rec = state.EpochRecord{Epoch: b.n, Timestamp: b.ts, Events: evs, UseReserve: b.onlyDrops(), Changes: rec.Changes[:0], Watermarks: rec.Watermarks[:0]}
	l.offsets = l.offsets[:0]
	for _, oid := range b.order {
		c := b.changes[oid]
		if c.replayable || c.read != nil {
			l.offsets = append(l.offsets, sourceOffset{oid, b.e.streams[oid].rows, c.read, !c.replayable})
		}
		if c.replayable {
			continue
		}
		for _, p := range c.parts {
			rec.Changes = append(rec.Changes, state.RelChange{OID: oid, Batch: p.b, Spooled: p.sp})
		}
	}
	for _, s := range b.e.streamOrder() {
		if letters := b.held[s.rel.OID]; letters != nil {
			rec.Changes = append(rec.Changes, state.RelChange{OID: s.rel.OID | deadOID, Batch: letters})
		}
	}
	if l.meta, err = appendOffsets(l.meta[:0], l.offsets); err != nil {
		return nil, err
	}
	rec.Meta = l.meta
	for _, s := range b.e.streamOrder() {
		if m, ok := marks[s.rel.OID]; ok && m.moved() || s.moved {
			rec.Watermarks = append(rec.Watermarks, state.StreamMark{OID: s.rel.OID, Watermark: int64(s.wm), MaxEventTime: s.maxEvent, Idle: s.idle})
		}
	}
	return rec, nil
}

// epochInput shows the epoch to views, one after the other: live.reader is the one that looks.
func (e *Engine) epochInput(b *epochBuild, marks map[catalog.OID]mark) *epochInput {
	l := &e.live
	l.b, l.marks = b, marks
	if l.in.changes == nil {
		l.in.changes, l.in.marks, l.in.stream = e.liveChanges, e.liveMark, e.liveStream
	}
	l.in.n, l.in.ts, l.in.cat = b.n, b.ts, b.cat
	return &l.in
}

// liveChanges gives the parts by which a relation changes in the epoch.
func (e *Engine) liveChanges(oid catalog.OID) []part {
	if isLetters(oid) {
		return e.letterChanges(oid, e.live.reader)
	}
	if c := e.live.b.changes[oid]; c != nil {
		return c.parts
	}
	if v := e.viewByOID[oid]; v != nil && v.fillEnded() {
		return v.changes
	}
	return nil
}

// liveMark looks up the epoch's marks: those of streams, and of views that ran in it; other views stand where they stood.
func (e *Engine) liveMark(oid catalog.OID) mark {
	if m, ok := e.live.marks[oid]; ok {
		return m
	}
	if v := e.viewByOID[oid]; v != nil && v.fillEnded() {
		return still(v.wm, v.idle)
	}
	return still(dataflow.NoWatermark, false)
}

// liveStream gives what progress tells of a stream.
func (e *Engine) liveStream(oid catalog.OID) (streamInput, bool) {
	s := e.streams[oid]
	if s == nil {
		return streamInput{}, false
	}
	return streamInput{rows: s.rows, latest: s.rows, of: s}, true
}
