package partition

import (
	"math/bits"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
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

// hash gives a hash of each row's key: equal where the keys are as SQL compares them, also over the two sides of a join.
func (h *hasher) hash(keys []*batch.Vector, n int) []uint64 {
	if cap(h.hashes) < n {
		h.hashes = make([]uint64, max(n, batch.Target))
	}
	out := h.hashes[:n]
	for i := range out {
		out[i] = 0
	}
	for _, v := range keys {
		switch {
		case isWord(v.Type):
			if v.Valid == nil {
				for i, x := range v.I64[:n] {
					out[i] = mix(out[i], uint64(x))
				}
				continue
			}
			for i := range out {
				x := nullKey
				if !v.IsNull(i) {
					x = uint64(v.I64[i])
				}
				out[i] = mix(out[i], x)
			}
		default:
			h.hashBytes(v, out)
		}
	}
	return out
}

func (h *hasher) hashBytes(v *batch.Vector, out []uint64) {
	plain := isBytes(v.Type)
	for i := range out {
		switch {
		case v.IsNull(i):
			out[i] = mix(out[i], nullKey)
		case plain:
			out[i] = mix(out[i], table.HashBytes(v.Bytes(i)))
		default:
			h.key = types.AppendKey(h.key[:0], v.Type, v.Datum(i), false, false)
			out[i] = mix(out[i], table.HashBytes(h.key))
		}
	}
}

// slotOf gives the slot of a hash: slots own equal ranges of the hash space.
func slotOf(hash uint64, slots int) int {
	hi, _ := bits.Mul64(hash, uint64(slots))
	return int(hi)
}

// piece is a run of rows of one port for one slot.
type piece struct {
	port int
	b    *batch.Batch
}

// pieceRows is the number of rows that a piece is filled up to.
const pieceRows = 2 * batch.Target

// queue is what waits for one slot.
type queue struct {
	pieces []piece
	sel    []int32 // rows of the batch at hand
	free   [][]*batch.Batch
}

// add copies rows sel of b to the end of the queue; nil is all rows.
func (q *queue) add(port int, b *batch.Batch, sel []int32) {
	n := len(q.pieces)
	if n == 0 || q.pieces[n-1].port != port || q.pieces[n-1].b.N >= pieceRows {
		q.pieces = append(q.pieces, piece{port, q.take(port, b)})
		n++
	}
	q.pieces[n-1].b.AppendBatch(b, sel)
}

func (q *queue) take(port int, like *batch.Batch) *batch.Batch {
	for len(q.free) <= port {
		q.free = append(q.free, nil)
	}
	if k := len(q.free[port]); k > 0 {
		b := q.free[port][k-1]
		q.free[port] = q.free[port][:k-1]
		return b
	}
	return batch.New(like.Types(), 0)
}

// keepFree bounds the batches that a queue keeps for later.
const keepFree = 16

// reset empties the queue and keeps its batches for the next rows.
func (q *queue) reset() {
	for _, p := range q.pieces {
		if len(q.free[p.port]) < keepFree {
			p.b.Reset()
			q.free[p.port] = append(q.free[p.port], p.b)
		}
	}
	clear(q.pieces)
	q.pieces = q.pieces[:0]
}

// scatter queues the rows of b (those in rows; nil: all) in the slots of their keys.
func (o *Operator) scatter(port int, b *batch.Batch, keys []*batch.Vector, rows []int32) error {
	hs := o.hasher.hash(keys, b.N)
	one, many := -1, false
	put := func(i int) error {
		s := slotOf(hs[i], len(o.slots))
		q := &o.slots[s].queue
		q.sel = append(q.sel, int32(i))
		many = many || one >= 0 && s != one
		one = s
		return nil
	}
	if err := rowenc.EachRow(b.N, rows, put); err != nil {
		return err
	}
	if !many && one >= 0 && rows == nil {
		q := &o.slots[one].queue
		q.add(port, b, nil)
		q.sel = q.sel[:0]
		return nil
	}
	for i := range o.slots {
		if q := &o.slots[i].queue; len(q.sel) > 0 {
			q.add(port, b, q.sel)
			q.sel = q.sel[:0]
		}
	}
	return nil
}
