package agg

import (
	"math"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/state/table"
)

// EndEpoch implements dataflow.Operator.
func (g *group) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	g.begin(ep)
	defer g.finish()
	g.mergePanes()
	if g.global && !g.hadGlobal && len(g.touched) == 0 {
		g.touchGlobal()
	}
	g.prog.eachSums((*setSums).settle)
	if g.updates {
		if err := g.emitChanges(ep, out); err != nil {
			return err
		}
	}
	if g.event < 0 || ep.Final || g.mode == catalog.Complete || ep.After == dataflow.NoWatermark {
		return nil
	}
	return g.closeWindows(ep, out)
}

// touchGlobal makes the one group of an aggregate without keys.
func (g *group) touchGlobal() {
	g.plain = g.newTarget(plainTarget, g.hash, nil)
	g.plain.rows = []int32{0}
	g.keys.find(g.plain)
	g.touched = append(g.touched, touch{t: g.plain, slot: g.plain.slot[0], old: -1})
}

// finish forgets the epoch.
func (g *group) finish() {
	for _, t := range g.targets {
		*t = t.emptied()
	}
	if len(g.spare)+len(g.targets) < 64 {
		g.spare = append(g.spare, g.targets...)
	}
	g.targets, g.active, g.plain = g.targets[:0], g.active[:0], nil
	clear(g.byEnd)
	if cap(g.touched) > 1<<20 {
		g.touched = nil
	}
	g.touched = g.touched[:0]
	if g.old != nil && g.old.N > 1<<20 {
		g.old = nil
	} else if g.old != nil {
		g.old.Reset()
	}
	g.oldBad = nil
	g.ord, g.running = 0, false
}

// emitChanges gives, for every touched group in order of first touch, the row it stood for and the one it stands for now.
func (g *group) emitChanges(ep *dataflow.Epoch, out dataflow.Emit) error {
	for lo := 0; lo < len(g.touched); lo += batch.Target {
		hi := min(lo+batch.Target, len(g.touched))
		if err := g.emitChunk(ep, g.touched[lo:hi], out); err != nil {
			return err
		}
	}
	for _, x := range g.touched {
		if x.t.word(x.slot, wordRows) == 0 && !g.global {
			g.remove(x.t, x.slot)
		}
	}
	return nil
}

// remove removes a group that has no rows any more.
func (g *group) remove(t *target, slot int32) {
	if g.sets != nil {
		g.dropSets(t.appendGroup(nil, slot))
	}
	t.h.Remove(slot)
	g.stats.RowsRemoved++
}

// dropSets removes the elements of sets under a prefix.
func (g *group) dropSets(prefix []byte) {
	g.sets.DeleteRange(prefix, table.PrefixEnd(prefix))
	g.prog.eachSums(func(s *setSums) { s.Drop(prefix) })
}

func (g *group) emitChunk(ep *dataflow.Epoch, touched []touch, out dataflow.Emit) error {
	fresh := g.freshBatch(len(touched), 0)
	bad := map[int32]*sqlerr.Error{}
	at := make([]int32, len(touched)) // row in fresh, -1 for none
	olds := false
	for lo := 0; lo < len(touched); {
		t := touched[lo].t
		hi := lo
		base := int32(fresh.N)
		g.slots = g.slots[:0]
		for ; hi < len(touched) && touched[hi].t == t; hi++ {
			x := touched[hi]
			at[hi] = -1
			if g.global || t.word(x.slot, wordRows) > 0 {
				at[hi] = base + int32(len(g.slots))
				g.slots = append(g.slots, x.slot)
			}
			olds = olds || x.old >= 0
		}
		g.render(t, g.slots, fresh, func(k int, err *sqlerr.Error) { bad[base+int32(k)] = err })
		lo = hi
	}
	if !olds && len(bad) == 0 {
		if fresh.N == 0 {
			return nil
		}
		return out(fresh)
	}
	em := g.emitter(out)
	if len(bad) == 0 && len(g.oldBad) == 0 {
		return g.emitPairs(touched, at, fresh, em)
	}
	for i, x := range touched {
		c := rowChange{old: g.old, oldBad: g.oldBad, o: x.old, fresh: fresh, bad: bad, n: at[i]}
		if err := c.emit(ep, em); err != nil {
			return err
		}
	}
	return em.flush()
}

// emitPairs is what rowChange does, for a chunk in which no row failed, a column at a time.
func (g *group) emitPairs(touched []touch, at []int32, fresh *batch.Batch, em *emitter) error {
	picks := g.picks[:0]
	for i, x := range touched {
		n := at[i]
		if x.old >= 0 && n >= 0 && sameRow(g.old, x.old, fresh, n) {
			continue
		}
		if x.old >= 0 {
			picks = append(picks, x.old<<1)
		}
		if n >= 0 {
			picks = append(picks, n<<1|1)
		}
	}
	g.picks = picks
	old := g.old
	if old == nil {
		old = fresh
	}
	b := em.b
	for c, v := range b.Cols {
		pick(v, old.Cols[c], fresh.Cols[c], picks)
	}
	b.N = len(picks)
	b.Weights = g.weights[:0]
	for _, p := range picks {
		b.Weights = append(b.Weights, int64(p&1)*2-1)
	}
	g.weights = b.Weights
	return em.flush()
}

// freshBatch gives an empty batch with room for n rows of soon that are about to come out.
func (g *group) freshBatch(n, soon int) *batch.Batch {
	except := -1
	if g.span != nil {
		except = g.event
	}
	return g.fresh.next(g.outTypes, n, soon, except)
}

func (g *group) emitter(out dataflow.Emit) *emitter {
	if g.em == nil {
		g.em = newEmitter(g.outTypes, nil)
	}
	g.em.b.Reset()
	g.em.out = out
	return g.em
}

// closeWindows removes what closed, by window end; in append mode its groups come out then.
func (g *group) closeWindows(ep *dataflow.Epoch, out dataflow.Emit) error {
	ends := g.windows.Ends()
	var nullEnds []int64
	if g.nullWindows != nil {
		nullEnds = g.nullWindows.Ends()
	}
	for len(ends) > 0 || len(nullEnds) > 0 {
		end := int64(math.MaxInt64)
		if len(ends) > 0 {
			end = ends[0]
		}
		if len(nullEnds) > 0 {
			end = min(end, nullEnds[0])
		}
		if !ep.After.Late(end) {
			break
		}
		for i, w := range []*table.Windows{g.windows, g.nullWindows} {
			if w == nil || w.Get(end) == nil {
				continue
			}
			if g.mode == catalog.Append {
				if err := g.emitWindow(ep, w, end, i == 1, out); err != nil {
					return err
				}
			}
			g.stats.RowsRemoved += w.Get(end).Len()
			g.forget(end)
			w.Drop(end)
		}
		if g.sets != nil {
			g.dropSets(appendSetPrefix(nil, windowTarget, end))
		}
		ends, nullEnds = after(ends, end), after(nullEnds, end)
	}
	g.distincts.close(ep.After.Late)
	return nil
}

// forget drops references to the table of a window, which may be used again.
func (g *group) forget(end int64) {
	if t := g.byEnd[end]; t != nil {
		t.h, t.distinct = nil, t.distinct[:0]
		if t.null != nil {
			t.null.h, t.null.distinct = nil, t.null.distinct[:0]
		}
		delete(g.byEnd, end)
	}
}

func after(ends []int64, end int64) []int64 {
	if len(ends) > 0 && ends[0] == end {
		return ends[1:]
	}
	return ends
}

// emitWindow gives the groups of a window in the order of their keys.
func (g *group) emitWindow(ep *dataflow.Epoch, w *table.Windows, end int64, null bool, out dataflow.Emit) error {
	h := w.Get(end)
	t := g.newTarget(windowTarget, h, nil)
	t.close, t.start, t.end = end, g.value(w.StartOf(end)), g.value(end)
	t.prefix = appendSetPrefix(t.prefix[:0], windowTarget, end)
	if null {
		t.ofNull()
	}
	slots := h.All(t.slot[:0])
	words, stride := h.WordsAll()
	n := 0
	for _, s := range slots {
		if words[int(s)*stride+wordRows] > 0 {
			slots[n] = s
			n++
		}
	}
	slots = slots[:n]
	t.slot, t.alike = slots, 0
	g.sorter.sort(t, slots)
	parts := (len(slots) + windowRows - 1) / windowRows // of one size
	if parts > 0 && g.start == nil {
		g.span = g.spanOf(t, (len(slots)+parts-1)/parts)
		defer func() { g.span = nil }()
	}
	for i := range parts {
		lo, hi := i*len(slots)/parts, (i+1)*len(slots)/parts
		if err := g.emitSlots(ep, t, slots[lo:hi], len(slots)-lo, out); err != nil {
			return err
		}
	}
	t.h = nil
	return nil
}

// spanOf gives the event key of n rows of a window. All batches of the window have its memory, and whoever takes one keeps it.
func (g *group) spanOf(t *target, n int) *batch.Vector {
	v := batch.NewVector(g.outTypes[g.event], n)
	g.renderEvent(t, v, nil, n)
	return v
}

// emitSlots gives the rows of entries, those that fail to the dead letters. They are the first of soon.
func (g *group) emitSlots(ep *dataflow.Epoch, t *target, slots []int32, soon int, out dataflow.Emit) error {
	b := g.freshBatch(len(slots), soon)
	if g.span != nil { // in the place of the batch's own column, which it is to have back
		own := b.Cols[g.event]
		g.spanPart = g.span.View(0, len(slots))
		b.Cols[g.event] = &g.spanPart
		defer func() { b.Cols[g.event] = own }()
	}
	if g.noteBad == nil {
		g.noteBad = func(k int, err *sqlerr.Error) {
			if g.bad == nil {
				g.bad = map[int32]*sqlerr.Error{}
			}
			g.bad[int32(k)] = err
		}
	}
	g.render(t, slots, b, g.noteBad)
	if bad := g.bad; bad != nil {
		g.bad = nil
		em := g.emitter(out)
		for i := int32(0); int(i) < b.N; i++ {
			c := rowChange{o: -1, fresh: b, bad: bad, n: i}
			if err := c.emit(ep, em); err != nil {
				return err
			}
		}
		return em.flush()
	}
	if b.N == 0 {
		return nil
	}
	return g.fresh.giveAway(b, out)
}
