package agg

import (
	"slices"
	"strconv"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// microsPerDay turns an event key of type date into event time.
const microsPerDay = 24 * 60 * 60 * 1_000_000

// NewAggregate builds the operator of an aggregate, with its state in sp. opID is its number in the view, in the tables' declarations.
// in are the types of the input's columns; env is shared by the kernels of the graph and may change between epochs. Errors: 0A000
// for an aggregate that is not built, and those of the constant arguments of aggregates.
func NewAggregate(n *plan.Aggregate, in []types.Type, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	appendOnly := n.Input.Props().AppendOnly
	var head []table.Column
	if n.Session != nil {
		head = sessionHead()
	}
	prog, err := newProgram(n.Aggs, in, appendOnly, appendOnly && n.Sketch, head, env)
	if err != nil {
		return nil, err
	}
	if n.Session != nil {
		return newSession(n, in, prog, sp, opID, env)
	}
	g := &group{prog: prog, env: env, mode: n.Mode, event: n.EventKey, global: len(n.Keys) == 0 && len(n.Aggs) > 0, outTypes: outputTypes(n)}
	if n.Distinct && g.mode == catalog.Append {
		g.mode = catalog.Update // its input is append-only then, so that a row which was shown never goes
	}
	var rest []*keyCol
	for i, x := range n.Keys {
		c, err := newKeyCol(x, in)
		if err != nil {
			return nil, err
		}
		g.cols = append(g.cols, c)
		if i != n.EventKey {
			rest = append(rest, c)
		}
	}
	if g.start = startKey(n); g.start != nil {
		rest = append(rest, g.start)
	}
	g.keys.init(rest)
	if g.event >= 0 {
		if g.time, err = newLateTime(n, in, env); err != nil {
			return nil, err
		}
		g.unit = 1
		if t := n.Keys[g.event].Type(); t.Kind == types.Date || t.Kind == types.Window && t.Elem == types.Date {
			g.unit = microsPerDay
		}
	}
	g.declare(sp, opID)
	g.slides = newSlides(n, g)
	return g, nil
}

// outputTypes are the types of the operator's columns: session, keys, aggregates.
func outputTypes(n *plan.Aggregate) []types.Type {
	var ts []types.Type
	if n.Session != nil {
		ts = append(ts, n.P.Columns[0].Type)
	}
	for _, x := range n.Keys {
		ts = append(ts, x.Type())
	}
	for i := range n.Aggs {
		ts = append(ts, n.Aggs[i].Typ)
	}
	return ts
}

// group is the hash aggregate.
type group struct {
	prog     *program
	env      *kernel.Env
	mode     catalog.OutputMode
	cols     []*keyCol // all keys, in output order
	keys     keySet    // those but the event key
	event    int       // event key in cols, -1 for none
	start    *keyCol   // the start of the event key's window, where its end does not determine it
	time     *lateTime
	unit     int64   // microseconds of a unit of the event key's values
	slides   *slides // of an input that has only the last window of each row
	global   bool    // one row always
	outTypes []types.Type

	// Without an event key: hash, and nullHash for NULL where it is apart. With one: windows and nullWindows, and noTime
	// for groups whose event time is NULL. What is not needed is nil.
	hash, nullHash, noTime *table.Hash
	windows, nullWindows   *table.Windows
	sets                   *table.Ordered
	distincts              distincts
	stats                  dataflow.Stats

	epochState
}

// epochState is what the operator knows during an epoch.
type epochState struct {
	running   bool
	updates   bool // rows come out as they change, not when they close
	hadGlobal bool
	ord       int64   // rows seen in the epoch
	ords      []int64 // numbers of the rows at hand, where they do not follow ord
	touched   []touch
	old       *batch.Batch // rows of touched groups as they stood before the epoch
	oldBad    map[int32]*sqlerr.Error
	targets   []*target
	plain     *target
	byEnd     map[int64]*target
	spare     []*target
	active    []*target // those with rows of the batch at hand

	// scratch
	iota, sel, kept, late []int32
	first, picks          []int32
	weights               []int64
	slots                 []int32
	dead                  map[int32]bool
	failed                []kernel.RowError // of the batch at hand, of each of its dead rows one
	sorter                sorter
	fresh                 freshRows
	span                  *batch.Vector // the event key of all rows that come out; nil: render makes it
	spanPart              batch.Vector  // of a batch
	keyCols               []*batch.Vector
	bad                   map[int32]*sqlerr.Error // of the batch that noteBad is told of
	noteBad               failFunc
	em                    *emitter
}

// touch is a group that changed in the epoch.
type touch struct {
	t    *target
	slot int32
	old  int32 // its row in old, -1 for none
	ord  int64 // of the row that touched it first
}

func (g *group) declare(sp *table.Space, opID int) {
	d := table.Decl{Operator: opID, Name: "default", Key: g.keys.schema(), Value: g.prog.schema(), Words: g.prog.words + g.prog.rare, Rare: g.prog.rare,
		IntKey: g.keys.intKey(), TextKey: g.keys.textKey()}
	null := d
	null.Name, null.IntKey, null.TextKey = d.Name+table.NullName, false, false
	none := null
	none.Name = "default-no-time"
	switch {
	case g.event < 0:
		g.hash = sp.Hash(d)
		if g.keys.apart() {
			g.nullHash = sp.Hash(null)
		}
	default:
		g.windows = sp.Windows(d)
		if g.keys.apart() {
			g.nullWindows = sp.Windows(null)
		}
		g.noTime = sp.Hash(none)
	}
	if len(g.prog.sets) > 0 {
		g.sets = sp.Ordered(setsDecl(opID))
		if g.mode != catalog.Append || g.event < 0 { // else each group is read once
			g.prog.declareSums(g.sets, sp, opID)
		}
	}
	g.distincts.declare(g.prog, sp, opID, g.keys.schema(), g.event >= 0)
	g.stats.Name = "stateStoreSave"
	g.byEnd = map[int64]*target{}
	g.dead = map[int32]bool{}
}

// schema lists the value columns of the hash tables: the words, and the blob.
func (p *program) schema() []table.Column {
	cols := []table.Column{{Name: "count", Type: types.Of(types.Int8)}}
	cols = append(cols, p.head...)
	for i := len(cols); i < p.words+p.rare; i++ {
		cols = append(cols, table.Column{Name: "value" + strconv.Itoa(i-headWords-len(p.head)+1), Type: types.Of(types.Int8)})
	}
	return append(cols, table.Column{Name: "data", Type: types.Of(types.Bytea)})
}

func setsDecl(opID int) table.Decl {
	b := types.Of(types.Bytea)
	return table.Decl{Operator: opID, Name: "values", Key: []table.Column{{Name: "element", Type: b}}, Value: []table.Column{{Name: "value", Type: b}}}
}

// begin starts the epoch at its first call.
func (g *group) begin(ep *dataflow.Epoch) {
	if g.running {
		return
	}
	g.running = true
	// A DISTINCT over append-only input never changes a row, so in append mode, too, it can show a group at once.
	g.updates = ep.Final || g.mode != catalog.Append || g.event < 0
	g.prog.eachSums(func(s *setSums) { s.idle = ep.Final })
	if g.global {
		g.hadGlobal = g.hash.FindBytes(nil) >= 0
	}
}

// lateBound is the watermark by which the epoch's rows are late.
func (g *group) lateBound(ep *dataflow.Epoch) dataflow.Watermark {
	if g.event < 0 || ep.Final || g.mode == catalog.Complete {
		return dataflow.NoWatermark
	}
	return ep.Before
}

// Push implements dataflow.Operator.
func (g *group) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, _ dataflow.Emit) error {
	if b.N == 0 {
		return nil
	}
	g.begin(ep)
	if g.slides != nil {
		return g.pushSlides(ep, b)
	}
	return g.push(ep, b)
}

// TakesHashes implements dataflow.HashTaker.
func (g *group) TakesHashes() bool { return g.keys.textKey() }

// push takes rows that have the windows that they belong to.
func (g *group) push(ep *dataflow.Epoch, b *batch.Batch) error {
	g.failed = g.failed[:0]
	dead := func(row int, e *sqlerr.Error) {
		if !g.dead[int32(row)] {
			g.dead[int32(row)] = true
			g.failed = append(g.failed, kernel.RowError{Row: row, Err: e})
		}
	}
	clear(g.dead)
	for len(g.iota) < b.N {
		g.iota = append(g.iota, int32(len(g.iota)))
	}
	rows := g.iota[:b.N]
	for _, c := range g.cols {
		if c.col >= 0 {
			c.v = b.Cols[c.col]
			continue
		}
		var errs []kernel.RowError
		c.v, errs = c.k.Eval(g.env, b, nil)
		for _, e := range errs {
			dead(e.Row, e.Err)
		}
	}
	g.keys.take(b)
	if g.start != nil {
		g.start.v = startsOf(g.cols[g.event].v, g.start.typ)
	}
	if len(g.dead) > 0 {
		rows = g.alive(rows)
	}
	rows, err := g.route(ep, b, rows)
	if err != nil {
		return err
	}
	before := len(g.dead)
	if len(rows) > 0 {
		sel := rows
		if len(rows) == b.N {
			sel = nil
		}
		g.prog.evaluate(b, sel, dead)
	}
	if len(g.failed) > 0 {
		if err := g.bury(ep, b); err != nil {
			return err
		}
	}
	if len(rows) == 0 {
		return nil
	}
	if len(g.dead) > before {
		for _, t := range g.active {
			t.rows = slices.DeleteFunc(slices.Clone(t.rows), func(r int32) bool { return g.dead[r] })
		}
	}
	mark := len(g.touched)
	for _, t := range g.active {
		g.apply(t, b)
	}
	if len(g.active) > 1 {
		tail := g.touched[mark:]
		slices.SortFunc(tail, func(x, y touch) int { return int(x.ord - y.ord) })
	}
	g.ord += int64(b.N)
	return nil
}

// bury gives the rows of b that failed to the dead letters, in order, whether it was a key or an argument that failed: how rows are cut into
// batches is then of no account. Those of sliding windows are held until all windows of the batch have had it.
func (g *group) bury(ep *dataflow.Epoch, b *batch.Batch) error {
	if s := g.slides; s != nil {
		for _, f := range g.failed {
			s.held = append(s.held, heldError{f, s.at})
		}
		return nil
	}
	return rowenc.Letters(ep, b, g.failed)
}

// alive leaves out dead rows.
func (g *group) alive(rows []int32) []int32 {
	g.sel = g.sel[:0]
	for _, r := range rows {
		if !g.dead[r] {
			g.sel = append(g.sel, r)
		}
	}
	return g.sel
}

// applyRows is how many rows are accumulated together: few enough that their entries stay in the processor's near caches from the lookup
// to the last aggregate.
const applyRows = batch.Target / 8

// apply accumulates the rows of a target.
func (g *group) apply(t *target, b *batch.Batch) {
	g.inBlocks(t, func() {
		g.touch(t, b.Weights)
		g.prog.accumulate(t, b.Weights)
		if t.one {
			t.h.MarkDirty(t.slot[:1])
		} else {
			t.h.MarkDirty(t.slot)
		}
	})
}

// inBlocks finds the entries of a target's rows and calls f, a block of rows at a time.
func (g *group) inBlocks(t *target, f func()) {
	rows := t.rows
	if len(rows) > applyRows && t.h.Partial() {
		g.keys.bring(t)
	}
	for len(rows) > 0 {
		n := min(len(rows), applyRows)
		if len(g.keys.cols) == 0 || t.nullKey {
			n = len(rows) // of one entry
		}
		t.rows, rows = rows[:n], rows[n:]
		g.keys.find(t)
		f()
	}
}

// touch counts the rows of a target's groups. Groups that were not yet touched in this epoch are noted, with the rows they
// stood for, before anything changes.
func (g *group) touch(t *target, weights []int64) {
	words, w := t.h.WordsAll()
	t.seen.fit(t.h.Slots())
	slots, each := t.slot, int64(1)
	if t.one && weights == nil { // as if it were one row that counts as often
		slots, each = t.slot[:1], int64(len(t.slot))
	}
	if !g.updates && !g.keys.forms && weights == nil {
		n := uint64(0)
		for _, s := range slots {
			n += t.seen.add(s) // without a branch, of which the processor would guess wrong for every other row
			words[int(s)*w+wordRows] += each
		}
		g.stats.RowsUpdated += int64(n)
		return
	}
	g.first = g.first[:0]
	for k, s := range slots {
		if t.seen.add(s) != 0 {
			g.first = append(g.first, int32(k))
		}
	}
	g.stats.RowsUpdated += int64(len(g.first))
	if g.keys.forms {
		for _, k := range g.first {
			g.keys.keepForm(t, t.slot[k], int(t.rows[k]))
		}
	}
	if g.updates {
		g.noteFirst(t)
	}
	words, w = t.h.WordsAll()
	if weights == nil {
		for _, s := range slots {
			words[int(s)*w+wordRows] += each
		}
		return
	}
	for k, s := range t.slot {
		words[int(s)*w+wordRows] += weights[t.rows[k]]
	}
}

// noteFirst notes the groups in g.first as touched and renders those that had a row.
func (g *group) noteFirst(t *target) {
	g.slots = g.slots[:0]
	for _, k := range g.first {
		s := t.slot[k]
		x := touch{t: t, slot: s, old: -1, ord: g.ord + int64(t.rows[k])}
		if g.ords != nil {
			x.ord = g.ords[t.rows[k]]
		}
		if t.word(s, wordRows) > 0 || g.global && g.hadGlobal {
			if g.old == nil {
				g.old = batch.New(g.outTypes, 0)
			}
			x.old = int32(g.old.N + len(g.slots))
			g.slots = append(g.slots, s)
		}
		g.touched = append(g.touched, x)
	}
	if len(g.slots) == 0 {
		return
	}
	base := int32(g.old.N)
	g.render(t, g.slots, g.old, func(k int, err *sqlerr.Error) {
		if g.oldBad == nil {
			g.oldBad = map[int32]*sqlerr.Error{}
		}
		g.oldBad[base+int32(k)] = err
	})
}

// render appends the rows of entries to b.
func (g *group) render(t *target, slots []int32, b *batch.Batch, fail failFunc) {
	n := len(g.cols)
	cols := b.Cols[:n:n]
	if g.event >= 0 {
		v := cols[g.event]
		cols = append(append(g.keyCols[:0], cols[:g.event]...), cols[g.event+1:]...)
		g.keyCols = cols
		if g.start != nil {
			starts := batch.NewVector(g.start.typ, len(slots))
			g.keys.show(t, slots, append(cols, starts))
			g.renderEvent(t, v, starts, len(slots))
		} else {
			g.keys.show(t, slots, cols)
			if g.span == nil {
				g.renderEvent(t, v, nil, len(slots))
			}
		}
	} else {
		g.keys.show(t, slots, cols)
	}
	g.prog.emit(t, slots, b.Cols[n:], fail)
	b.N += len(slots)
}

// renderEvent appends the event key of n entries; starts are those of their windows, nil where the target has one.
func (g *group) renderEvent(t *target, v, starts *batch.Vector, n int) {
	switch {
	case t.kind == nullTarget:
		for range n {
			v.AppendNull()
		}
	case v.Type.Kind != types.Window:
		fill(v.AppendInts(n), t.start)
	default:
		from, to := v.AppendPairs(n)
		if starts != nil {
			copy(from, starts.I64)
		} else {
			fill(from, t.start)
		}
		fill(to, t.end)
	}
}

func fill(vals []int64, x int64) {
	for i := range vals {
		vals[i] = x
	}
}

// Stats implements dataflow.Stateful.
func (g *group) Stats() dataflow.Stats {
	s := g.stats
	s.RowsTotal, s.MemoryUsedBytes = 0, 0
	for _, h := range []*table.Hash{g.hash, g.nullHash, g.noTime} {
		if h != nil {
			s.RowsTotal += h.Len()
			s.MemoryUsedBytes += h.MemBytes()
		}
	}
	for _, w := range []*table.Windows{g.windows, g.nullWindows} {
		if w != nil {
			s.RowsTotal += w.Len()
			s.MemoryUsedBytes += w.MemBytes()
		}
	}
	s.MemoryUsedBytes += g.distincts.memBytes()
	if g.sets != nil {
		s.MemoryUsedBytes += g.sets.MemBytes()
		g.prog.eachSums(func(x *setSums) { s.MemoryUsedBytes += x.MemBytes() })
	}
	return s
}
