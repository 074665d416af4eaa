package agg

import (
	"cmp"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// An aggregate over sliding windows whose input has each row once, with the last of its windows (plan.Window.Last), gives the rows to
// their other windows itself. The general way pushes a batch once for each window that its rows lie in. The fast one, for accumulators
// that can be merged, accumulates the rows of an epoch once, by the slide that they lie in (a pane), and merges the groups of a pane into
// each of its windows at the end of the epoch. State, rows and the order in which groups count as touched are those of the general way.

const (
	// maxPanes and maxPaneGroups bound what is kept between two merges.
	maxPanes      = 64
	maxPaneGroups = 1 << 14
	// minPaneRows is how many rows a group must have on average for panes to pay.
	minPaneRows = 2
	// paneRest is how many batches take the general way after panes that did not pay.
	paneRest = 64
)

// slides gives rows to all of their windows.
type slides struct {
	size, slide int64 // in units of the window's fields
	count       int   // windows of a row
	col         int   // of the window in the input
	win         *batch.Vector
	ords        []int64
	at          int         // the window at hand, counted from a row's first
	held        []heldError // of the batch at hand
	*panes                  // nil: the general way only
}

// heldError is the error of a row with the window that it had, counted from the row's first.
type heldError struct {
	kernel.RowError
	window int
}

// panes are the rows that were not merged yet.
type panes struct {
	space        *table.Space
	decl, null   table.Decl
	open         []*pane // by start
	spare        []*pane
	last         *pane   // of the row before
	batches      []int64 // of the batches that the panes' first rows came from: numbers of rows, and before those of the batches before
	rows, groups int     // since the last merge
	rest         int     // batches to go the general way

	early   []int32 // rows of the batch at hand that are not in the panes
	kept    []int32
	parts   []panePart
	touches []paneTouch
	slots   []int32
	weights []int64
	firsts  []int64
}

// pane is the groups of the rows of one slide. Its tables are like a window's, with two more words: where the first row came from, and whether there is one.
type pane struct {
	start  int64 // of the last window
	t      *target
	groups paneGroups
	null   paneGroups // those whose key is NULL, where it is apart
}

// paneGroups are the entries of a pane's table as keys to look up.
type paneGroups struct {
	t      *target
	from   []int32
	ints   []int64
	keys   lookup
	weight []int64 // rows
	first  []int64
	wFirst int // the word of an entry that first comes of
}

// panePart is a pane's groups with their entries in a window, slots[lo:hi].
type panePart struct {
	g      *paneGroups
	lo, hi int
}

// paneTouch is a group of a pane that meets a window.
type paneTouch struct {
	slot        int32
	weight, ord int64
}

// newSlides makes the slides of an aggregate over a window, nil where its input has all windows of a row.
func newSlides(n *plan.Aggregate, g *group) *slides {
	w, ok := n.Input.(*plan.Window)
	if !ok || !w.Last {
		return nil
	}
	s := &slides{size: w.Size, slide: w.Slide, count: int(w.Size / w.Slide), col: len(w.Input.Props().Columns)}
	typ := w.P.Columns[s.col].Type
	if typ.Elem == types.Date {
		s.size, s.slide = w.Size/microsPerDay, w.Slide/microsPerDay
	}
	s.win = batch.NewVector(typ, 0)
	if g.event < 0 || g.cols[g.event].col != s.col || !w.P.AppendOnly || g.keys.forms || g.start != nil || !g.prog.paned(s.col) {
		return s
	}
	for _, c := range g.cols {
		if c.col < 0 {
			return s
		}
	}
	p := &panes{space: table.NewTransient()}
	p.decl = table.Decl{Name: "pane", Key: g.keys.schema(), Value: g.prog.schema(), Words: g.prog.words + 2 + g.prog.rare, Rare: g.prog.rare,
		IntKey: g.keys.intKey(), TextKey: g.keys.textKey()}
	p.null = p.decl
	p.null.Name, p.null.IntKey, p.null.TextKey = p.decl.Name+table.NullName, false, false
	s.panes = p
	return s
}

// paned says whether rows may be accumulated by pane first: what entries hold does not depend on the order in which rows and sums of
// rows come, and no argument reads column col, the window.
func (p *program) paned(col int) bool {
	for _, c := range p.cells {
		switch c := c.(type) {
		case *countCell, *sumIntCell, *squaresIntCell, *extremeCell, *trueCell, *bitCell, *intervalCell, *numericCell:
		case *floatCell:
			if c.y >= 0 {
				return false // sums of products become wide when they are merged
			}
		case *extremeWideCell:
			if !plainBytes(c.typ.Kind) {
				return false // of equal values the last one stays
			}
		default:
			return false
		}
	}
	reads := false
	look := func(x plan.Expr) {
		plan.Walk(x, func(e plan.Expr) {
			c, ok := e.(*plan.Col)
			reads = reads || ok && c.Index == col
		})
	}
	for _, e := range p.exprs {
		look(e.x)
	}
	for _, f := range p.filters {
		look(f.x)
	}
	return !reads
}

// pushSlides takes rows with the last of their windows.
func (g *group) pushSlides(ep *dataflow.Epoch, b *batch.Batch) error {
	s, base := g.slides, g.ord
	general := s.panes == nil || s.rest > 0 || b.Cols[s.col].Valid != nil
	if !general {
		general = !g.pushPanes(ep, b)
	} else if s.panes != nil && s.rest > 0 {
		s.rest--
	}
	var err error
	switch {
	case general:
		err = g.pushGeneral(ep, b, nil)
	case len(s.early) > 0:
		err = g.pushGeneral(ep, b, s.early)
	}
	g.ord = base + int64(s.count)*int64(b.N)
	if s.panes != nil && (len(s.open) > maxPanes || s.groups > maxPaneGroups) {
		g.mergePanes()
	}
	return err
}

// pushGeneral gives the rows (nil: all) with their first windows, then with their second ones and so on.
func (g *group) pushGeneral(ep *dataflow.Epoch, b *batch.Batch, rows []int32) error {
	s := g.slides
	if g.updates {
		g.mergePanes() // groups are to count as touched in the order of the rows
	}
	base, all := g.ord, int64(b.N)
	if rows != nil {
		b = b.Select(rows)
	}
	starts := b.Cols[s.col].I64[:b.N]
	defer func() { s.ords, g.ords, s.held = s.ords[:0], nil, s.held[:0] }()
	for j := range s.count {
		s.at = j
		back := int64(s.count-1-j) * s.slide
		s.win.Resize(b.N)
		for k, x := range starts {
			s.win.I64[k], s.win.J64[k] = x-back, x-back+s.size
		}
		x := batch.Batch{N: b.N, Weights: b.Weights, Cols: slices.Clone(b.Cols)}
		x.Cols[s.col] = s.win
		g.ord = base + int64(j)*all
		if rows != nil {
			s.ords = s.ords[:0]
			for _, r := range rows {
				s.ords = append(s.ords, g.ord+int64(r))
			}
			g.ords = s.ords
		}
		if err := g.push(ep, &x); err != nil {
			return err
		}
	}
	return s.buryHeld(ep, b)
}

// buryHeld gives the letters of a batch's rows: row by row, and of a row window by window.
func (s *slides) buryHeld(ep *dataflow.Epoch, b *batch.Batch) error {
	if len(s.held) == 0 {
		return nil
	}
	slices.SortStableFunc(s.held, func(x, y heldError) int { return cmp.Compare(x.Row, y.Row) })
	x := batch.Batch{N: b.N, Weights: b.Weights, Cols: slices.Clone(b.Cols)}
	x.Cols[s.col] = s.win
	for _, h := range s.held {
		start := b.Cols[s.col].I64[h.Row] - int64(s.count-1-h.window)*s.slide
		s.win.I64[h.Row], s.win.J64[h.Row] = start, start+s.size
		if err := ep.Sink.Dead(ep, &x, h.Row, h.Err); err != nil {
			return err
		}
	}
	return nil
}

// pushPanes accumulates rows by pane, but for those that are late for one of their windows, which it leaves in g.early. It says false,
// with nothing done, where all rows are to go the general way: because one of them fails, so that each of its windows has a dead letter.
func (g *group) pushPanes(ep *dataflow.Epoch, b *batch.Batch) bool {
	s := g.slides
	for len(g.iota) < b.N {
		g.iota = append(g.iota, int32(len(g.iota)))
	}
	for _, c := range g.cols {
		c.v = b.Cols[c.col]
	}
	g.keys.take(b)
	rows := g.routePanes(b, g.lateBound(ep))
	if len(s.early) > 0 && g.updates {
		return false
	}
	if len(rows) == 0 {
		return true
	}
	sel := rows
	if len(rows) == b.N {
		sel = nil
	}
	failed := false
	g.prog.evaluate(b, sel, func(int, *sqlerr.Error) { failed = true })
	if failed {
		return false
	}
	for _, t := range g.active {
		g.inBlocks(t, func() {
			s.countRows(t, b, g.prog.words)
			g.prog.accumulate(t, b.Weights)
		})
	}
	s.rows += len(rows)
	s.batches = append(s.batches, g.ord, int64(b.N))
	return true
}

// routePanes puts rows to the panes that they lie in, which become g.active, and gives those that are not early.
func (g *group) routePanes(b *batch.Batch, bound dataflow.Watermark) []int32 {
	s := g.slides
	g.deactivate()
	s.early, s.kept = s.early[:0], s.kept[:0]
	starts := b.Cols[s.col].I64
	key := g.keys.mayBeNull()
	// The first window of a row ends one slide after its last one begins.
	if key == nil && allEqual(starts, g.iota[:b.N], b.N) && !bound.Late(g.micros(starts[0]+s.slide)) {
		t := g.pane(starts[0]).t
		g.activate(t)
		t.rows = g.iota[:b.N]
		return t.rows
	}
	var p *pane
	late := false
	for r, x := range starts[:b.N] {
		if r == 0 || x != starts[r-1] {
			if late = bound.Late(g.micros(x + s.slide)); !late {
				p = g.pane(x)
			}
		}
		if late {
			s.early = append(s.early, int32(r))
			continue
		}
		g.addRow(p.t, int32(r), key)
		s.kept = append(s.kept, int32(r))
	}
	return s.kept
}

// pane gives the pane whose last window begins at start, made when it is missing.
func (g *group) pane(start int64) *pane {
	s := g.slides
	if s.last != nil && s.last.start == start {
		return s.last
	}
	i, ok := slices.BinarySearchFunc(s.open, start, func(p *pane, x int64) int { return cmp.Compare(p.start, x) })
	if !ok {
		var p *pane
		if n := len(s.spare); n > 0 {
			p, s.spare = s.spare[n-1], s.spare[:n-1]
		} else {
			p = s.newPane(g)
		}
		p.start = start
		s.open = slices.Insert(s.open, i, p)
	}
	s.last = s.open[i]
	return s.last
}

func (s *panes) newPane(g *group) *pane {
	t := &target{h: s.space.Hash(s.decl), fields: g.prog.fields, kind: windowTarget, intKey: s.decl.IntKey, textKey: s.decl.TextKey}
	if g.keys.apart() {
		t.null = &target{h: s.space.Hash(s.null), fields: g.prog.fields, kind: windowTarget, nullKey: true}
	}
	return &pane{t: t, groups: paneGroups{t: t, wFirst: g.prog.words}, null: paneGroups{t: t.null, wFirst: g.prog.words}}
}

// countRows counts the rows of a pane's groups and notes, from word first on, where the first of each came from.
func (s *panes) countRows(t *target, b *batch.Batch, first int) {
	words, w := t.h.WordsAll()
	from := int64(len(s.batches)) << 32
	for k, i := range t.slot {
		e := words[int(i)*w:][:first+2]
		r := t.rows[k]
		if e[first+1] == 0 {
			e[first], e[first+1] = from|int64(r), 1
			s.groups++
		}
		e[wordRows] += b.Weight(int(r))
	}
}

// mergePanes merges what the panes hold into the windows and empties them.
func (g *group) mergePanes() {
	s := g.slides
	if s == nil || s.panes == nil || len(s.open) == 0 {
		return
	}
	g.deactivate()
	for _, p := range s.open {
		p.groups.gather()
		p.null.gather()
	}
	mark := len(g.touched)
	for i, p := range s.open {
		back := int64(s.count-1) * s.slide
		if i > 0 { // windows at or before the pane before are merged
			back = min(back, p.start-s.open[i-1].start-s.slide)
		}
		for ; back >= 0; back -= s.slide {
			start := p.start - back
			n := i + 1
			for n < len(s.open) && s.open[n].start-start < s.size {
				n++
			}
			g.mergeWindow(start, s.open[i:n], false)
			if g.keys.apart() {
				g.mergeWindow(start, s.open[i:n], true)
			}
		}
	}
	tail := g.touched[mark:]
	slices.SortFunc(tail, func(x, y touch) int { return cmp.Compare(x.ord, y.ord) })
	s.rest = 0
	if s.rows < minPaneRows*s.groups {
		s.rest = paneRest
	}
	s.clear()
}

// gather lists the entries.
func (x *paneGroups) gather() {
	x.from, x.ints, x.weight, x.first = x.from[:0], x.ints[:0], x.weight[:0], x.first[:0]
	x.keys.reset()
	if x.t == nil {
		return
	}
	words, w := x.t.h.WordsAll()
	x.t.h.Each(func(i int32) bool {
		x.from = append(x.from, i)
		if x.t.intKey {
			x.ints = append(x.ints, x.t.h.KeyInt(i))
		} else {
			x.keys.add(x.t.h.Key(i))
		}
		x.weight = append(x.weight, words[int(i)*w+wordRows])
		x.first = append(x.first, words[int(i)*w+x.wFirst])
		return true
	})
}

// find finds or makes the groups' entries in a window's table.
func (x *paneGroups) find(h *table.Hash, slots []int32) {
	if x.t.intKey {
		h.FindOrAddInts(x.ints, nil, slots)
	} else {
		h.FindOrAddBytes(x.keys.hashes, x.keys.off, x.keys.data, slots)
	}
}

// mergeWindow merges groups of panes, which lie in the window that begins at start: those whose key is NULL, where it is apart, or all others.
func (g *group) mergeWindow(start int64, in []*pane, null bool) {
	s := g.slides
	var t *target
	s.parts, s.slots, s.touches = s.parts[:0], s.slots[:0], s.touches[:0]
	for _, p := range in {
		x := &p.groups
		if null {
			x = &p.null
		}
		if len(x.from) == 0 {
			continue
		}
		if t == nil {
			if t = g.window(start, start+s.size, g.micros(start+s.size)); null {
				t = g.nullOf(t)
			}
		}
		lo := len(s.slots)
		s.slots = slices.Grow(s.slots, len(x.from))[:lo+len(x.from)]
		x.find(t.h, s.slots[lo:])
		s.parts = append(s.parts, panePart{x, lo, len(s.slots)})
		if g.updates {
			j := (start - p.start + s.size - s.slide) / s.slide // which of the rows' windows it is
			for k, f := range x.first {
				at := s.batches[f>>32:]
				s.touches = append(s.touches, paneTouch{s.slots[lo+k], x.weight[k], at[0] + j*at[1] + f&(1<<32-1)})
			}
		}
	}
	if t == nil {
		return
	}
	s.touchWindow(g, t)
	for _, x := range s.parts {
		to := s.slots[x.lo:x.hi]
		for _, c := range g.prog.cells {
			c.merge(t, to, x.g.t, x.g.from)
		}
		t.h.MarkDirty(to)
	}
}

// touchWindow counts the rows of the groups that were found in a window. Where the order counts, they are touched in that of their first rows.
func (s *panes) touchWindow(g *group, t *target) {
	s.weights, s.firsts = s.weights[:0], s.firsts[:0]
	t.slot, t.one, t.alike = t.slot[:0], false, 0
	if g.updates {
		if len(s.parts) > 1 {
			slices.SortFunc(s.touches, func(x, y paneTouch) int { return cmp.Compare(x.ord, y.ord) })
		}
		for _, x := range s.touches {
			t.slot, s.weights, s.firsts = append(t.slot, x.slot), append(s.weights, x.weight), append(s.firsts, x.ord)
		}
	} else {
		t.slot = append(t.slot, s.slots...)
		for _, x := range s.parts {
			s.weights = append(s.weights, x.g.weight...)
		}
	}
	for len(g.iota) < len(t.slot) {
		g.iota = append(g.iota, int32(len(g.iota)))
	}
	t.rows, g.ords = g.iota[:len(t.slot)], s.firsts
	g.touch(t, s.weights)
	t.rows, g.ords = nil, nil
}

// clear empties the panes.
func (s *panes) clear() {
	for _, p := range s.open {
		for _, t := range []*target{p.t, p.t.null} {
			if t != nil {
				t.h.Reset()
				t.active, t.rows = false, nil
			}
		}
	}
	s.spare = append(s.spare, s.open...)
	s.open, s.last = s.open[:0], nil
	s.batches = s.batches[:0]
	s.rows, s.groups = 0, 0
}
