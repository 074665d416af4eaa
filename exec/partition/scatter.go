package partition

import (
	"math/bits"
	"slices"

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
	plain := isBytes(v.Type)
	for i := range out {
		switch {
		case v.IsNull(lo + i):
			out[i] = mix(out[i], nullKey)
		case plain:
			out[i] = mix(out[i], table.HashBytes(v.Bytes(lo+i)))
		default:
			h.key = types.AppendKey(h.key[:0], v.Type, v.Datum(lo+i), false, false)
			out[i] = mix(out[i], table.HashBytes(h.key))
		}
	}
}

// slotOf gives the slot of a hash: slots own equal ranges of the hash space.
func slotOf(hash uint64, slots int) int {
	hi, _ := bits.Mul64(hash, uint64(slots))
	return int(hi)
}

// piece is a run of rows of one port for one slot, filled by one lane.
type piece struct {
	port, lane int
	b          *batch.Batch
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

// lane copies rows to the queues on one goroutine. What it writes for each row lies apart from other lanes'.
type lane struct {
	hasher  hasher
	fillers []filler // by slot
}

// filler is one lane's part of a queue: batches for later, and what it has filled beside the other lanes and not yet lined up with theirs.
type filler struct {
	free  [][]*batch.Batch // by port
	ahead []piece
	sel   []int32 // rows of the block at hand
}

// add copies rows sel of b (nil: all) to the last of pieces or a new one behind it, and gives the pieces.
func (f *filler) add(pieces []piece, lane, port int, b *batch.Batch, sel []int32) []piece {
	n := len(pieces)
	if n == 0 || pieces[n-1].port != port || pieces[n-1].lane != lane || pieces[n-1].b.N >= pieceRows {
		pieces = append(pieces, piece{port, lane, f.take(port, b)})
		n++
	}
	pieces[n-1].b.AppendBatch(b, sel)
	return pieces
}

func (f *filler) take(port int, like *batch.Batch) *batch.Batch {
	for len(f.free) <= port {
		f.free = append(f.free, nil)
	}
	if k := len(f.free[port]); k > 0 {
		b := f.free[port][k-1]
		f.free[port] = f.free[port][:k-1]
		return b
	}
	return batch.New(like.Types(), 0)
}

// reset empties the queue and keeps its batches for the next rows.
func (q *queue) reset() {
	for _, p := range q.pieces {
		if f := q.lanes[p.lane]; len(f.free[p.port]) < keepFree {
			p.b.Reset()
			f.free[p.port] = append(f.free[p.port], p.b)
		}
	}
	clear(q.pieces)
	q.pieces = q.pieces[:0]
}

// addLanes makes lanes up to a number.
func (o *Operator) addLanes(n int) {
	for len(o.lanes) < n {
		l := &lane{fillers: make([]filler, len(o.slots))}
		o.lanes = append(o.lanes, l)
		for i := range o.slots {
			o.slots[i].queue.lanes = append(o.slots[i].queue.lanes, &l.fillers[i])
		}
	}
}

// scatterRows is the number of rows a slot from which a lane pays.
const scatterRows = 256

// scatter queues the rows of b (those in rows; nil: all) in the slots of their keys. A large batch is cut into stretches, which lanes copy
// side by side; each slot lines their pieces up in the order of the stretches.
func (o *Operator) scatter(port int, b *batch.Batch, keys []*batch.Vector, rows []int32) {
	lanes := 1
	if b.N >= parallelRows {
		lanes = max(min(o.workers.Number(), b.N/(scatterRows*len(o.slots))), 1)
	}
	o.addLanes(lanes)
	if lanes == 1 {
		o.scatterRange(0, port, b, keys, rows, 0, b.N, func(i int) *[]piece { return &o.slots[i].queue.pieces })
		return
	}
	o.inParallel(lanes, func(w int) {
		lo, hi := Range(w, lanes, b.N)
		o.scatterRange(w, port, b, keys, rows, lo, hi, func(i int) *[]piece { return &o.lanes[w].fillers[i].ahead })
	})
	for i := range o.slots {
		q := &o.slots[i].queue
		for _, f := range q.lanes {
			q.pieces = append(q.pieces, f.ahead...)
			clear(f.ahead)
			f.ahead = f.ahead[:0]
		}
	}
}

// scatterRange copies, on a lane, rows [lo, hi) of b, of those in rows, to the pieces that to gives of a slot. It goes by blocks, so that a block
// is still in the near caches when the last slot takes its rows.
func (o *Operator) scatterRange(w, port int, b *batch.Batch, keys []*batch.Vector, rows []int32, lo, hi int, to func(slot int) *[]piece) {
	l := o.lanes[w]
	if rows != nil {
		from, _ := slices.BinarySearch(rows, int32(lo))
		end, _ := slices.BinarySearch(rows, int32(hi))
		rows = rows[from:end]
	}
	all := rows == nil
	for lo < hi {
		end := min(lo+batch.Target, hi)
		hs := l.hasher.hash(keys, lo, end)
		if all {
			for i, x := range hs {
				f := &l.fillers[slotOf(x, len(o.slots))]
				f.sel = append(f.sel, int32(lo+i))
			}
		}
		for len(rows) > 0 && int(rows[0]) < end {
			f := &l.fillers[slotOf(hs[int(rows[0])-lo], len(o.slots))]
			f.sel, rows = append(f.sel, rows[0]), rows[1:]
		}
		for i := range l.fillers {
			f := &l.fillers[i]
			if len(f.sel) == 0 {
				continue
			}
			sel := f.sel
			if len(sel) == b.N {
				sel = nil
			}
			pieces := to(i)
			*pieces = f.add(*pieces, w, port, b, sel)
			f.sel = f.sel[:0]
		}
		lo = end
	}
}
