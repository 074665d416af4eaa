package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tidemarkdb/tidemark/checkpoint"
	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/state"
)

// image is the engine's own part of a checkpoint: what replay needs besides state, contents and the catalog.
type image struct {
	Timestamp int64
	NextOID   uint32
	NextRow   int64
	Streams   []streamImage
	Views     []viewImage
}

type streamImage struct {
	OID       catalog.OID
	Watermark int64
	MaxEvent  int64
	Rows      int64
	Idle      bool `json:",omitempty"`
	Lateness  latenessImage
	Source    *connector.Offset `json:",omitempty"`
}

// viewImage is there for every view whose state the checkpoint holds; one that was still being filled is not among them.
type viewImage struct {
	OID       catalog.OID
	Watermark int64
	Late      int64
	Dead      int64
	Idle      bool                 `json:",omitempty"`
	Reached   []dataflow.Watermark // by the view's operators
	Own       []int64              `json:",omitempty"` // watermarks that the query declares, by source
	Letters   letterBook
}

// recover opens the store, goes to the last checkpoint and runs the epochs after it again.
func (e *Engine) recover() error {
	e.startedAt = time.Now().UnixMicro()
	o := e.opts.Store
	o.CacheBytes, o.Logger = e.opts.cacheBytes(), e.log
	if o.MemTableSize == 0 { // there are four at most
		o.MemTableSize = uint64(min(max(e.opts.MemoryBytes/64, 1<<20), 32<<20))
	}
	st, err := state.Open(e.opts.Dir, o)
	if err != nil {
		return err
	}
	e.store = st
	base := e.baseCatalog()
	e.nextOID.Store(uint32(catalog.FirstUserOID))
	p := &published{cat: base, places: map[catalog.OID]int{}}
	e.pub.Store(p)
	cp, ok, err := checkpoint.Load(st)
	if err != nil {
		return err
	}
	from := uint64(0)
	if ok {
		from = cp.Epoch
	}
	if e.stopViews, err = e.markRecovery(from); err != nil {
		return err
	}
	if ok {
		if err := e.restore(base, cp); err != nil {
			return fmt.Errorf("checkpoint of epoch %d: %w", cp.Epoch, err)
		}
	}
	start, n := time.Now(), 0
	err = st.ReadEpochs(from+1, state.Newest, func(rec *state.EpochRecord) error {
		n++
		return e.replay(rec)
	})
	if err != nil {
		return err
	}
	if e.stopViews {
		e.log.Error().Uint64("epoch", from).Msg("views are stopped: earlier recoveries did not end")
	}
	e.stopViews = false
	e.clearRecovery(from)
	e.nextOID.Store(max(e.nextOID.Load(), uint32(e.current().cat.NextOID)))
	e.checkpoints = newCheckpointer(e)
	if n > 0 {
		e.log.Info().Uint64("epoch", e.current().epoch).Int("epochs", n).Int64("dur_ms", time.Since(start).Milliseconds()).Msg("recovered")
	}
	return nil
}

// restore takes the engine to a checkpoint.
func (e *Engine) restore(base *catalog.Catalog, cp *checkpoint.Checkpoint) error {
	cat, err := decodeCatalog(base, cp.Catalog)
	if err != nil {
		return err
	}
	var img image
	if err := json.Unmarshal(cp.Meta["engine"], &img); err != nil {
		return err
	}
	e.nextOID.Store(max(img.NextOID, uint32(cat.NextOID)))
	e.nextRow.Store(img.NextRow)
	e.checkpointEpoch.Store(cp.Epoch)
	streams := map[catalog.OID]streamImage{}
	for _, s := range img.Streams {
		streams[s.OID] = s
	}
	views := map[catalog.OID]viewImage{}
	for _, v := range img.Views {
		views[v.OID] = v
	}
	b := &epochBuild{e: e, n: cp.Epoch, ts: img.Timestamp, cat: cat, changes: map[catalog.OID]*relChange{}, replay: true}
	marks := map[catalog.OID]mark{}
	var late []*view
	for _, rel := range cat.Relations() {
		switch rel.Kind {
		case catalog.Stream:
			e.startStream(rel)
			s, im := e.streams[rel.OID], streams[rel.OID]
			s.wm, s.maxEvent, s.rows = dataflow.Watermark(im.Watermark), im.MaxEvent, im.Rows
			s.idle, s.lateness = im.Idle, im.Lateness.open()
			if s.src != nil && im.Source != nil {
				s.src.offset = *im.Source
			}
			e.launch(rel.OID, false)
			marks[rel.OID] = still(s.wm, s.idle)
		case catalog.Table:
			e.tables[rel.OID] = e.newTable(rel)
		case catalog.MatView:
			v := e.openView(rel, cat)
			if v.unbuilt {
				e.addView(v)
				continue
			}
			im, ok := views[rel.OID]
			if v.misfit != nil {
				e.log.Warn().Err(v.misfit).Str("view", rel.Name).Msg("state does not fit this binary's plan: view is rebuilt from history")
			}
			if !ok || v.misfit != nil {
				late = append(late, v)
				continue
			}
			v.pos, v.wm = cp.Epoch, dataflow.Watermark(im.Watermark)
			v.sink.lateTotal, v.sink.deadTotal = im.Late, im.Dead
			v.progress.setLetters(im.Late, im.Dead)
			v.restoreOwn(im.Own)
			if e.stopViews {
				v.setStatus(viewFailed, errStoppedByCrashes(cp.Epoch))
			}
			e.addView(v)
			v.idle, v.sink.book = im.Idle, im.Letters
			v.graph.SetReached(im.Reached)
			marks[rel.OID] = still(v.wm, v.idle)
		}
	}
	e.publish(b, marks)
	// Views that the checkpoint caught while they were filled begin again, and so do those whose state is another plan's.
	for _, v := range late {
		// An earlier checkpoint may have left something of it.
		v.space.Drop()
		for _, c := range []contents{v.out, v.late, v.dead} {
			c.drop()
		}
		e.addView(v)
		e.startView(v, cat, cp.Epoch+1, true)
		e.republish(v)
	}
	e.stopBlocked()
	return nil
}

// replay runs one stored epoch again.
func (e *Engine) replay(rec *state.EpochRecord) error {
	p := e.current()
	b := &epochBuild{e: e, started: time.Now(), n: rec.Epoch, ts: rec.Timestamp, cat: p.cat, changes: map[catalog.OID]*relChange{}, replay: true, marks: map[catalog.OID]state.StreamMark{}}
	for _, m := range rec.Watermarks {
		b.marks[m.OID] = m
	}
	evs, err := decodeEvents(rec.Events)
	if err != nil {
		return fmt.Errorf("events of epoch %d: %w", rec.Epoch, err)
	}
	for _, ev := range evs {
		if err := b.apply(ev); err != nil {
			return fmt.Errorf("epoch %d: %w", rec.Epoch, err)
		}
	}
	if err := e.replaySources(b, rec); err != nil {
		return err
	}
	for i := range rec.Changes {
		c := &rec.Changes[i]
		if s := c.OID &^ deadOID; s != c.OID {
			b.hold(s, c.Batch.Select(allRows(c.Batch.N)))
			continue
		}
		rel := b.cat.ByOID(c.OID)
		if rel == nil {
			continue // created and dropped, or dropped, within the epoch
		}
		if c.Spooled != nil && e.tables[c.OID] == nil {
			p, err := recordPart(c, rel)
			if err != nil {
				return err
			}
			for _, x := range p {
				b.keep(stagedChange{rel, x})
			}
			continue
		}
		err := c.Each(func(ch *batch.Batch) error {
			own := ch.Select(allRows(ch.N))
			if t := e.tables[c.OID]; t != nil {
				e.noteRowIDs(rel, own)
				if err := t.add(own); err != nil {
					return err
				}
			}
			b.keep(stagedChange{rel, part{b: own}})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return e.runEpoch(b)
}

// noteRowIDs keeps the counter of hidden row ids ahead of those in use.
func (e *Engine) noteRowIDs(rel *catalog.Relation, b *batch.Batch) {
	if !rel.HiddenKey {
		return
	}
	v := b.Cols[rel.PrimaryKey[0]]
	for i := 0; i < v.N; i++ {
		if v.I64[i] > e.nextRow.Load() {
			e.nextRow.Store(v.I64[i])
		}
	}
}
