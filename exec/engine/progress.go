package engine

import (
	"crypto/rand"
	"crypto/sha1"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// ringEpochs is how many epochs with work a view's progress keeps (Spark's numRecentProgressUpdates).
const ringEpochs = 100

// opProgress is what one operator did in one epoch.
type opProgress struct {
	id                                                    int
	partitions                                            int
	name                                                  string
	total, updated, removed, dropped, nullTime, duplicate int64
	memory                                                int64
	metrics                                               map[string]int64 // Spark's custom metrics that the operator has itself
	updating, removing, committing                        time.Duration
}

// sourceProgress is what one input gave in one epoch. Offsets of a stream are rows since its beginning, those of tables and views are epochs.
type sourceProgress struct {
	name               string
	start, end, latest int64
	rows               int64
}

// phases is how long the parts of an epoch took.
type phases struct {
	latestOffset  time.Duration // the statements were run and their rows fixed
	planning      time.Duration // the operators' watermarks were fixed
	walCommit     time.Duration // the epoch's record became durable, as far as it was waited for
	addBatch      time.Duration // the view ran
	commitOffsets time.Duration // the epoch was published
	repartition   time.Duration // partitions took other slots, before the epoch; 0 if they did not
	total         time.Duration
}

// epochTimes measures the phases of a running epoch.
type epochTimes struct {
	phases
	ran time.Time // when the last view had run
}

// epochProgress is what a view did in one epoch.
type epochProgress struct {
	epoch         uint64
	timestamp     int64
	previous      int64 // timestamp of the epoch with work before it, 0 for none
	rows, out     int64
	took          phases
	declared      bool // there is a watermark to tell of
	before, after dataflow.Watermark
	events        eventStats // of the first source with a watermark and rows
	ops           []opProgress
	sources       []sourceProgress
}

// progressRing keeps a view's last epochs with work. The view's goroutine writes it, any goroutine reads it.
type progressRing struct {
	id, run  string
	view     *view
	graph    *dataflow.Graph
	declared bool
	ids      []int
	ops      []dataflow.Stateful
	slots    []int                 // of each operator
	feeders  [][]dataflow.Stateful // by operator: what lies beneath it without state
	last     []dataflow.Stats

	// Memory for the next epoch, of the one that it takes the place of, and from where there is some for the first ones.
	spareOps      []opProgress
	spareSources  []sourceProgress
	ownOps        []opProgress
	ownSources    []sourceProgress
	sourceNames   []string
	sourceNamesOf []relName

	mu   sync.Mutex
	ring []epochProgress // what entries refer to is used again for later ones
	next int
	// repartition is the time that the last change of the number of partitions took, until an epoch shows it.
	repartition time.Duration
	// late and dead count the late rows and dead letters that the view has recorded, of which it may keep fewer.
	late, dead int64
}

// relName is a relation's name as it was when something was made of it.
type relName struct{ schema, name string }

// nameOf gives the name of the i-th source with its schema.
func (p *progressRing) nameOf(i int, rel *catalog.Relation) string {
	for len(p.sourceNames) <= i {
		p.sourceNames, p.sourceNamesOf = append(p.sourceNames, ""), append(p.sourceNamesOf, relName{})
	}
	if now := (relName{rel.Schema, rel.Name}); p.sourceNamesOf[i] != now {
		p.sourceNamesOf[i], p.sourceNames[i] = now, rel.Schema+"."+rel.Name
	}
	return p.sourceNames[i]
}

// slabEpochs is for how many of the first epochs memory is made at once.
const slabEpochs = 16

// cutFrom gives room for n values from *own, which is made anew if it has less.
func cutFrom[T any](own *[]T, n int) []T {
	if len(*own) < n {
		*own = make([]T, n*slabEpochs)
	}
	room := (*own)[:0:n]
	*own = (*own)[n:]
	return room
}

// letters gives the counters of late rows and dead letters.
func (p *progressRing) letters() (late, dead int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.late, p.dead
}

// state gives the entries of the operators' state after the last epoch, and their memory.
func (p *progressRing) state() (entries, memory int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.ring[p.lastIndex()].ops {
		entries, memory = entries+o.total, memory+o.memory
	}
	return entries, memory
}

// setLetters sets them.
func (p *progressRing) setLetters(late, dead int64) {
	p.mu.Lock()
	p.late, p.dead = late, dead
	p.mu.Unlock()
}

func newProgressRing(v *view) *progressRing {
	g := v.graph
	ids, ops := g.Stateful()
	p := &progressRing{id: viewID(v.rel()), run: runID(), view: v, graph: g, ids: ids, ops: ops, last: make([]dataflow.Stats, len(ops))}
	for _, s := range g.Sources() {
		p.declared = p.declared || s.Rel.Watermark != nil || len(s.Rel.WatermarkCols) > 0
	}
	for i, id := range ids {
		p.slots = append(p.slots, len(dataflow.Instances(ops[i])))
		p.feeders = append(p.feeders, g.Feeders(id))
	}
	p.ring = []epochProgress{{ops: p.operators(nil)}}
	return p
}

// viewID is the identity of a view, the same for as long as it lives (Spark's query id).
func viewID(rel *catalog.Relation) string {
	h := sha1.Sum(fmt.Appendf(nil, "tidemark view %d %d %s", rel.OID, rel.CreatedEpoch, rel.SQL))
	return formatUUID(h[:16], 5)
}

// runID is the identity of one run of a view, between two restarts.
func runID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return formatUUID(b[:], 4)
}

func formatUUID(b []byte, version byte) string {
	b[6], b[8] = b[6]&0x0f|version<<4, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// stats gives an operator's totals with what the operators beneath counted for it.
func (p *progressRing) stats(i int) dataflow.Stats {
	s := p.ops[i].Stats()
	s.RowsDroppedLate -= p.view.sink.late.surplus(p.ids[i])
	for _, f := range p.feeders[i] {
		s.RowsNullEvent += f.Stats().RowsNullEvent
	}
	return s
}

// operators appends what each operator did since the last call.
func (p *progressRing) operators(out []opProgress) []opProgress {
	for i := range p.ops {
		s, l := p.stats(i), p.last[i]
		push, end := p.graph.Times(p.ids[i])
		out = append(out, opProgress{id: p.ids[i], name: s.Name, total: s.RowsTotal, updated: s.RowsUpdated - l.RowsUpdated,
			removed: s.RowsRemoved - l.RowsRemoved, dropped: s.RowsDroppedLate - l.RowsDroppedLate,
			nullTime: s.RowsNullEvent - l.RowsNullEvent, duplicate: s.RowsDuplicate - l.RowsDuplicate, memory: s.MemoryUsedBytes,
			updating: push, removing: end, partitions: p.view.operatorPartitions(p.slots[i])})
		if m, ok := p.ops[i].(dataflow.Metered); ok {
			out[len(out)-1].metrics = m.Metrics()
		}
		p.last[i] = s
	}
	return out
}

// restated takes the operators' totals anew, after state came in without an epoch: from a checkpoint, or from history.
func (p *progressRing) restated() {
	ops := p.operators(nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	last := &p.ring[p.lastIndex()]
	kept := slices.Clone(last.ops)
	for i := range kept {
		kept[i].total, kept[i].memory, kept[i].metrics = ops[i].total, ops[i].memory, ops[i].metrics
	}
	last.ops = kept
}

// note records an epoch.
func (p *progressRing) note(e epochProgress) {
	if p.spareOps == nil {
		p.spareOps = cutFrom(&p.ownOps, len(p.ops))
	}
	e.declared, e.ops = p.declared, p.operators(p.spareOps[:0])
	p.spareOps, p.spareSources = nil, nil
	p.mu.Lock()
	defer p.mu.Unlock()
	e.previous = p.ring[p.lastIndex()].timestamp
	e.took.repartition, p.repartition = p.repartition, 0
	if len(p.ring) < ringEpochs+1 { // the first entry is of before the first epoch
		p.ring = append(p.ring, e)
		return
	}
	old := &p.ring[1+p.next%ringEpochs]
	p.spareOps, p.spareSources = old.ops, old.sources
	*old = e
	p.next++
}

// lastIndex is where the newest epoch stands. mu is held.
func (p *progressRing) lastIndex() int {
	if p.next == 0 {
		return len(p.ring) - 1
	}
	return 1 + (p.next-1)%ringEpochs
}

// repartitioned says that the next epoch is the first with another number of partitions.
func (p *progressRing) repartitioned(took time.Duration) {
	p.mu.Lock()
	p.repartition = max(took, 1)
	p.mu.Unlock()
}

// finish adds to the epoch, if it was noted, how long its parts outside of the view took, and its event times.
func (p *progressRing) finish(epoch uint64, t phases, events eventStats) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := &p.ring[p.lastIndex()]
	if e.epoch != epoch {
		return
	}
	t.addBatch, t.planning, t.repartition = e.took.addBatch, e.took.planning, e.took.repartition
	e.took, e.events = t, events
}

// epochs lists the kept epochs, oldest first.
func (p *progressRing) epochs() []epochProgress {
	p.mu.Lock()
	defer p.mu.Unlock()
	es := p.ring[1:]
	k := p.next % ringEpochs
	out := append([]epochProgress(nil), es[k:]...)
	out = append(out, es[:k]...)
	for i := range out {
		out[i].own()
	}
	return out
}

// own makes the epoch independent of the ring.
func (e *epochProgress) own() {
	e.ops, e.sources = slices.Clone(e.ops), slices.Clone(e.sources)
}

// latest is the last epoch with work, or the state before the first.
func (p *progressRing) latest() epochProgress {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.ring[p.lastIndex()]
	e.own()
	return e
}

// timed runs the view's epoch and records its progress.
func (v *view) timed(in *epochInput) error {
	start := time.Now()
	from := int64(v.pos)
	if err := v.runEpoch(in); err != nil {
		return err
	}
	took := time.Since(start)
	e := epochProgress{epoch: in.n, timestamp: in.ts, rows: v.pushed, out: v.emitted, took: phases{addBatch: took, total: took, planning: v.planning}}
	e.before, e.after = v.graph.SourceWatermark()
	if e.sources = v.progress.spareSources[:0]; e.sources == nil {
		e.sources = cutFrom(&v.progress.ownSources, len(v.graph.Sources()))
	}
	for i, src := range v.graph.Sources() {
		sp := sourceProgress{name: v.progress.nameOf(i, src.Rel), start: from, end: int64(in.n), latest: int64(in.n), rows: v.sourceRows[i]}
		if in.stream != nil {
			if st, ok := in.stream(src.Rel.OID); ok {
				sp.end, sp.latest = st.rows, max(st.rows, st.latest)
				sp.start = sp.end - sp.rows
				if e.events.n == 0 && src.Rel.Watermark != nil {
					e.events = st.events
				}
			}
		}
		e.sources = append(e.sources, sp)
	}
	v.progress.note(e)
	return nil
}

// streamInput is what progress tells of a stream in an epoch.
type streamInput struct {
	rows, latest int64 // after the epoch, and of which the newest epoch knows
	events       eventStats
	of           *stream // not nil: events are those of this stream, once it is settled
}
