package partition

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// Hashing. State on disk depends on it: what a slot has stored must be what its keys hash to. So it may not change. Its constants are not
// those of the hash tables (state/table), else the keys of a slot would crowd in one part of a table.
const (
	seed    uint64 = 0x8bb84b93962eacc9
	factor  uint64 = 0xd6e8feb86659fd93
	nullKey uint64 = 0x589965cc75374cc3
)

func mix(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^v^seed, factor)
	return hi ^ lo
}

// hasher gives the slots of rows. It is used from one goroutine.
type hasher struct {
	hashes []uint64
	each   []uint64 // of one key
	key    []byte
}

// isWord says whether values of the type are equal when their words are.
func isWord(t types.Type) bool {
	switch t.Kind {
	case types.Bool, types.Int2, types.Int4, types.Int8, types.Date, types.Timestamp, types.TimestampTZ:
		return true
	}
	return false
}

// isBytes says whether values of the type are equal when their bytes are.
func isBytes(t types.Type) bool {
	return t.Kind == types.Text || t.Kind == types.Varchar || t.Kind == types.Bytea
}

// hash gives a hash of the keys of rows [lo, hi), valid until the next call: equal where the keys are as SQL compares them, also over the two
// sides of a join.
func (h *hasher) hash(keys []*batch.Vector, lo, hi int) []uint64 {
	if cap(h.hashes) < hi-lo {
		h.hashes = make([]uint64, max(hi-lo, batch.Target))
	}
	out := h.hashes[:hi-lo]
	clear(out)
	for _, v := range keys {
		switch {
		case isWord(v.Type):
			if v.Valid == nil {
				for i, x := range v.I64[lo:hi] {
					out[i] = mix(out[i], uint64(x))
				}
				continue
			}
			for i := range out {
				x := nullKey
				if !v.IsNull(lo + i) {
					x = uint64(v.I64[lo+i])
				}
				out[i] = mix(out[i], x)
			}
		default:
			h.hashBytes(v, lo, out)
		}
	}
	return out
}

func (h *hasher) hashBytes(v *batch.Vector, lo int, out []uint64) {
	if isBytes(v.Type) {
		h.each = slices.Grow(h.each[:0], len(out))[:len(out)]
		table.HashMany(v.Data, v.Off[lo:], h.each)
		for i, x := range h.each {
			if v.IsNull(lo + i) {
				x = nullKey
			}
			out[i] = mix(out[i], x)
		}
		return
	}
	for i := range out {
		if v.IsNull(lo + i) {
			out[i] = mix(out[i], nullKey)
			continue
		}
		h.key = types.AppendKey(h.key[:0], v.Type, v.Datum(lo+i), false, false)
		out[i] = mix(out[i], table.HashBytes(h.key))
	}
}

// slotOf gives the slot of a hash: slots own equal ranges of the hash space.
func slotOf(hash uint64, slots int) int {
	hi, _ := bits.Mul64(hash, uint64(slots))
	return int(hi)
}

// piece is a run of rows of one port for one slot, filled by one lane. They have gone through the port's steps below level.
type piece struct {
	port, level, lane int
	hashed            bool // the last column is batch.Batch.Hashes
	b                 *batch.Batch
}

// pieceRows is the number of rows that a piece is filled up to.
const pieceRows = 2 * batch.Target

// keepFree bounds the batches that a lane keeps for later.
const keepFree = 16

// queue is what waits for one slot: the pieces, in the order of their rows.
type queue struct {
	pieces []piece
	lanes  []*filler
}

// lane takes rows through the steps before the cut and copies them to the queues, or to portions, on one goroutine. What it writes for each row lies apart from
// other lanes'.
type lane struct {
	number  int
	slots   []slot
	ways    []*way // by port
	hasher  hasher
	fillers []filler // by slot
	chosen  choice
	texts   *batch.Vector // as bigints, the hashes of the batch at hand, which go to the slots with the rows; nil: the operator takes none
	whole   batch.Batch   // the batch at hand with them as a column
	hashed  bool          // there are hashes
	level   int           // of the pieces at hand
	portion *portion      // at hand; nil: no other lane is at work
	queued  int           // rows that it has copied
	ep      dataflow.Epoch
	sink    recorder
	err     error
}

// filler is one lane's memory for a slot: batches for later. The lane takes them, and whoever has the slot gives them back.
type filler struct {
	mu   sync.Mutex
	free map[form][]*batch.Batch
}

// form says which columns the batches of pieces have.
type form struct {
	port, level int
	hashed      bool
}

// add copies rows sel of b (nil: all) to the last of pieces or a new one behind it, and gives the pieces.
func (f *filler) add(pieces []piece, l *lane, port int, b *batch.Batch, sel []int32) []piece {
	n := len(pieces)
	p := piece{port: port, level: l.level, lane: l.number, hashed: l.hashed}
	if n == 0 || !pieces[n-1].continues(&p) {
		p.b = f.take(form{port, l.level, l.hashed}, b)
		pieces = append(pieces, p)
		n++
	}
	pieces[n-1].b.AppendBatch(b, sel)
	return pieces
}

// continues says whether rows of the piece q may stand in p.
func (p *piece) continues(q *piece) bool {
	return p.port == q.port && p.level == q.level && p.lane == q.lane && p.hashed == q.hashed && p.b.N < pieceRows
}

func (f *filler) take(x form, like *batch.Batch) *batch.Batch {
	f.mu.Lock()
	defer f.mu.Unlock()
	free := f.free[x]
	if k := len(free); k > 0 {
		f.free[x] = free[:k-1]
		return free[k-1]
	}
	return batch.New(like.Types(), 0)
}

// giveBack keeps the batches of pieces for the next rows.
func (q *queue) giveBack(pieces []piece) {
	for _, p := range pieces {
		f, x := q.lanes[p.lane], form{p.port, p.level, p.hashed}
		p.b.Reset()
		f.mu.Lock()
		if len(f.free[x]) < keepFree {
			f.free[x] = append(f.free[x], p.b)
		}
		f.mu.Unlock()
	}
	clear(pieces)
}

// newHashes gives room for hashes, nil if the operator takes none.
func (o *Operator) newHashes() *batch.Vector {
	if x, ok := o.slots[0].op.(dataflow.HashTaker); ok && x.TakesHashes() {
		return batch.NewVector(types.Of(types.Int8), 0)
	}
	return nil
}

// addLanes makes lanes up to a number.
func (o *Operator) addLanes(n int) error {
	for len(o.lanes) < n {
		l := &lane{number: len(o.lanes), texts: o.newHashes(), slots: o.slots, fillers: make([]filler, len(o.slots))}
		for port, p := range o.paths {
			w, err := l.newWay(port, p, o.env)
			if err != nil {
				return err
			}
			l.ways = append(l.ways, w)
		}
		o.lanes = append(o.lanes, l)
		for i := range o.slots {
			l.fillers[i].free = map[form][]*batch.Batch{}
			o.slots[i].queue.lanes = append(o.slots[i].queue.lanes, &l.fillers[i])
		}
	}
	return nil
}

// scatterRows is the number of rows a slot from which a lane pays.
const scatterRows = 256

// stretchRows is the number of rows that a lane takes through the steps at a time, a multiple of 64. Letters come stretch by stretch, however many lanes there are.
const stretchRows = 1 << 12

// scatter takes the rows of b through the steps that they have not gone through, and queues what comes out in the slots of their keys. Of a large batch
// several lanes take portions side by side, and slots get some of them at once (portion.go).
func (o *Operator) scatter(ep *dataflow.Epoch, port int, b *batch.Batch) error {
	lanes, p := 1, o.paths[port]
	if b.N >= parallelRows {
		lanes = max(min(o.workers.Number(), b.N/(scatterRows*len(o.slots))), 1)
	}
	if err := o.addLanes(lanes); err != nil {
		return err
	}
	for _, l := range o.lanes[:lanes] {
		l.ep, l.portion, l.queued, l.err = *ep, nil, 0, nil
		if lanes > 1 {
			l.ep.Sink = &l.sink
		}
		l.ways[port].begin(0, l.ep.Sink)
	}
	stretches := (b.N + stretchRows - 1) / stretchRows
	if lanes > 1 {
		return o.scatterAside(ep, o.lanes[:lanes], port, b, stretches)
	}
	l := o.lanes[0]
	for i := range stretches {
		l.run(port, p, b, i)
	}
	o.waiting += l.queued
	return l.err
}

// run takes a stretch of b on the way of a port.
func (l *lane) run(port int, p *path, b *batch.Batch, i int) {
	if l.err != nil {
		return
	}
	w := l.ways[port]
	l.level = max(p.from, p.cut)
	emit := w.emits[min(p.from, p.cut)]
	lo, hi := i*stretchRows, min((i+1)*stretchRows, b.N)
	if lo == 0 && hi == b.N {
		l.err = emit(b)
		return
	}
	b.SliceTo(&w.stretch, lo, hi)
	l.err = emit(&w.stretch)
}

// cutUp copies rows that have gone through the steps before the cut to the queues, or to the portion at hand. It goes by blocks, so that a block is still in the
// near caches when the last slot takes its rows; smaller ones cost more in calls, of which there is one a slot and column, than nearer caches save.
func (l *lane) cutUp(port int, w *way, b *batch.Batch, env *kernel.Env) error {
	l.ep.Port = port
	keys, rows, err := w.keys.Eval(&l.ep, env, b)
	if err != nil {
		return err
	}
	l.queued += b.N
	b = l.withHashes(b, keys)
	for lo := 0; lo < b.N; lo += stretchRows {
		rows = l.choose(keys, rows, lo, min(lo+stretchRows, b.N))
		for i := range l.fillers {
			f, sel := &l.fillers[i], l.chosen.of(i)
			if len(sel) == 0 {
				continue
			}
			if len(sel) == b.N {
				sel = nil
			}
			to := &l.slots[i].queue.pieces
			if l.portion != nil {
				to = &l.portion.pieces[i]
			}
			*to = f.add(*to, l, port, b, sel)
		}
	}
	return nil
}

// withHashes gives the batch with a column of its keys' hashes, if the operator takes them and they are of such a kind.
func (l *lane) withHashes(b *batch.Batch, keys []*batch.Vector) *batch.Batch {
	l.hashed = l.texts != nil && len(keys) == 1 && isBytes(keys[0].Type) && keys[0].Valid == nil
	if !l.hashed {
		return b
	}
	l.texts.Resize(b.N)
	table.HashMany(keys[0].Data, keys[0].Off, l.texts.I64)
	l.whole = batch.Batch{N: b.N, Weights: b.Weights, Cols: append(append(l.whole.Cols[:0], b.Cols...), l.texts)}
	return &l.whole
}

// choice is which rows of a block are whose.
type choice struct {
	lists []int32 // by slot, of so many rows each
	room  int
	ends  [MaxSlots]int32 // where the lists end
}

// listGap is how many rows more than a block's a list has room for, so that lists do not all begin in the same lines of the near cache.
const listGap = 48

// begin empties the lists, of as many slots, for blocks of so many rows.
func (c *choice) begin(slots, rows int) {
	if c.room < rows+listGap {
		c.room = rows + listGap
		c.lists = make([]int32, slots*c.room)
	}
	for i := range slots {
		c.ends[i] = int32(i * c.room)
	}
}

// add puts a row at the end of a slot's list.
func (c *choice) add(slot int, row int32) {
	n := &c.ends[uint8(slot)]
	c.lists[*n] = row
	*n++
}

// of gives a slot's list, until begin is called.
func (c *choice) of(slot int) []int32 { return c.lists[slot*c.room : c.ends[slot]] }

// choose lists for each slot which of the rows [lo, hi) are its own: of those in rows, which it gives without them; nil: all.
func (l *lane) choose(keys []*batch.Vector, rows []int32, lo, hi int) []int32 {
	slots, c := len(l.fillers), &l.chosen
	c.begin(slots, hi-lo)
	var words []int64 // of which the slots are made
	if l.hashed {
		words = l.texts.I64
	} else if len(keys) == 1 && isWord(keys[0].Type) && keys[0].Valid == nil {
		words = keys[0].I64
	}
	if rows == nil && words != nil {
		lists := c.lists
		for i, x := range words[lo:hi] { // what hash and add do, in one go
			n := &c.ends[uint8(slotOf(mix(0, uint64(x)), slots))]
			lists[*n] = int32(lo + i)
			*n++
		}
		return nil
	}
	hs := l.hasher.hash(keys, lo, hi)
	if rows == nil {
		for i, x := range hs {
			c.add(slotOf(x, slots), int32(lo+i))
		}
		return nil
	}
	for len(rows) > 0 && int(rows[0]) < hi {
		c.add(slotOf(hs[int(rows[0])-lo], slots), rows[0])
		rows = rows[1:]
	}
	return rows
}
