package engine

import (
	"maps"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// published is what readers see: every relation at one epoch. It is immutable.
type published struct {
	epoch uint64
	ts    int64
	cat   *catalog.Catalog
	// places tells where relations stand in rels. As long as none comes or goes it is the same map from one epoch to the next.
	places map[catalog.OID]int
	rels   []publishedRel
}

// publishedRel is what readers see of a relation, or of the hidden relation of a stream.
type publishedRel struct {
	contents contentSnapshot // nil: nothing yet, as of a view that is being filled
	wm       watermark
	marked   bool // wm and idle are known
	idle     bool
	stream   *publishedStream // nil of what is none
}

// publishedStream is what a stream's epoch publishes of it.
type publishedStream struct {
	rows streamSnapshot
	stat streamStat
}

type watermark = dataflow.Watermark

// rel gives what there is of a relation; the zero value if nothing is known.
func (p *published) rel(oid catalog.OID) publishedRel {
	if i, ok := p.places[oid]; ok {
		return p.rels[i]
	}
	return publishedRel{wm: dataflow.NoWatermark}
}

// contents gives a relation's contents, nil if there are none.
func (p *published) contents(oid catalog.OID) contentSnapshot { return p.rel(oid).contents }

// watermark gives a relation's watermark.
func (p *published) watermark(oid catalog.OID) watermark { return p.rel(oid).wm }

// publication is what is about to be published. Of the one before it shares what stays.
type publication struct {
	published
	own bool // places is its own

	// Memory for rels and streams where there are few, so that each publication is one object.
	fewRels    [8]publishedRel
	fewStreams [2]publishedStream
}

// after begins a publication with all that old shows and cat has.
func after(old *published, cat *catalog.Catalog) *publication {
	p := &publication{published: published{epoch: old.epoch, ts: old.ts, cat: cat, places: old.places}}
	if cat == old.cat {
		p.rels = append(p.fewRels[:0], old.rels...)
		return p
	}
	p.places, p.own = make(map[catalog.OID]int, len(old.places)+1), true
	for oid, i := range old.places {
		if cat.ByOID(oid&^deadOID) != nil { // else it was dropped
			p.places[oid] = len(p.rels)
			p.rels = append(p.rels, old.rels[i])
		}
	}
	return p
}

// at gives the place of a relation, for a change; it is valid until the next call.
func (p *publication) at(oid catalog.OID) *publishedRel {
	i, ok := p.places[oid]
	if !ok {
		if !p.own {
			p.places, p.own = maps.Clone(p.places), true
		}
		i = len(p.rels)
		p.places[oid] = i
		p.rels = append(p.rels, publishedRel{wm: dataflow.NoWatermark})
	}
	return &p.rels[i]
}

// mark puts in a relation's watermark.
func (p *publication) mark(oid catalog.OID, w watermark, idle bool) {
	r := p.at(oid)
	r.wm, r.idle, r.marked = w, idle, true
}

// publish makes the epoch what readers see.
func (e *Engine) publish(b *epochBuild, marks map[catalog.OID]mark) {
	old := e.current()
	p := after(old, b.cat)
	p.epoch, p.ts = b.n, b.ts
	streams := slices.Grow(p.fewStreams[:0], len(e.streams))
	for oid, s := range e.streams {
		was := streamStat{}
		r := p.at(oid)
		if r.stream != nil {
			was = r.stream.stat
		}
		streams = append(streams, publishedStream{streamSnapshot{e: e, rel: s.rel, epoch: b.n}, s.stat(was)})
		r.stream = &streams[len(streams)-1]
		r.contents = &r.stream.rows
		if s.held != nil {
			p.at(oid | deadOID).contents = s.held.publish(b.n)
		}
	}
	for oid, t := range e.tables {
		if r := p.at(oid); b.changes[oid] != nil || r.contents == nil {
			r.contents = t.publish(b.n)
		}
	}
	for _, v := range e.views {
		if v.ran == b.n || p.contents(v.rel().OID) == nil {
			if st, _ := v.getStatus(); st == viewRunning {
				v.publishTo(p)
			}
		}
	}
	for oid, m := range marks {
		p.mark(oid, m.after, m.idleAfter)
	}
	e.pub.Store(&p.published)
	e.dirty = true
	e.published.broadcast()
}

// publishTo adds the view's state after its epoch to what readers see.
func (v *view) publishTo(p *publication) {
	now := viewSnapshot{v.out.publish(p.epoch), v.late.publish(p.epoch), v.dead.publish(p.epoch)}
	r := p.at(v.rel().OID)
	if old, ok := r.contents.(*viewSnapshot); ok && *old == now {
		return
	}
	r.contents = &now
}

// republish shows a view that was filled in the background. It runs on the loop's goroutine.
func (e *Engine) republish(v *view) {
	old := e.current()
	p := after(old, old.cat)
	p.mark(v.rel().OID, v.wm, v.idle)
	v.publishTo(p)
	e.pub.Store(&p.published)
	e.published.broadcast()
}

// showWritten has readers see on disk what a checkpoint wrote, so that the memory of relations that have not changed since is let go of. It runs on the
// loop's goroutine.
func (e *Engine) showWritten() {
	old := e.current()
	p := after(old, old.cat)
	for i := range p.rels {
		if c := p.rels[i].contents; c != nil {
			p.rels[i].contents = asNow(c)
		}
	}
	e.pub.Store(&p.published)
}

// asNow gives the same contents as they lie now.
func asNow(c contentSnapshot) contentSnapshot {
	switch s := c.(type) {
	case *rowSnapshot:
		return (*rowSnapshot)(s.of().Now())
	case *chunkSnapshot:
		return (*chunkSnapshot)(s.of().Now())
	case *viewSnapshot:
		now := viewSnapshot{asNow(s.contentSnapshot), asNow(s.late), asNow(s.dead)}
		if now == *s {
			return s
		}
		return &now
	case *tableSnapshot:
		now := &tableSnapshot{contentSnapshot: asNow(s.contentSnapshot), rel: s.rel}
		for _, u := range s.uniq {
			now.uniq = append(now.uniq, asNow(u))
		}
		return now
	}
	return c
}
