// Package dedup holds deduplication: the first row to arrive of each key comes
// out, later ones do not (reference, section 6).
//
// Keys are remembered in a hash table, or, where event time bounds for how long,
// in a table.Expiring with the time at which each may be forgotten: with a
// watermarked column among the keys the column's value, WITHIN WATERMARK the
// first row's event time plus the delay in the epoch in which it comes. Keys
// whose event time is NULL are kept for good.
package dedup

import (
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// dedup is the operator of a plan.Dedup.
//
// State:
//
//	default       key -> 1, or the time at which it expires
//	default-null  the same of NULL, if the key is one integer
type dedup struct {
	n      *plan.Dedup
	env    *kernel.Env
	keys   *rowenc.Exprs
	intKey bool
	seen   *table.Hash     // keys that are kept for good; nil: they expire
	live   *table.Expiring // keys that expire
	null   *table.Hash     // nil without intKey
	stats  dataflow.Stats
	delay  int64 // in this epoch, of Within: from a key's time to when it expires

	sel    []int32 // of the batch at hand: rows on time; never nil, which would mean all rows
	slots  []int32
	hashes []uint64
	off    []uint32
	data   []byte
	fresh  []int32 // rows that come out
	times  []int64 // when the keys of rows may be forgotten
}

// New makes the operator of a plan.Dedup over an input with columns of the types in[0], which must be append-only.
func New(n *plan.Dedup, in dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	d := &dedup{n: n, env: env, sel: []int32{}}
	var err error
	if d.keys, err = rowenc.Compile(n.Keys, in[0]); err != nil {
		return nil, err
	}
	if n.Within && n.TimeCol < 0 {
		// The planner saw to it for views.
		return nil, sqlerr.Unsupported("DISTINCT ON ... WITHIN WATERMARK is supported in materialized views only")
	}
	d.stats.Name = "dedupe"
	bigint := types.Of(types.Int8)
	if n.Within {
		d.stats.Name = "dedupeWithinWatermark"
	}
	d.intKey = len(n.Keys) == 1 && d.keys.Types[0].Layout() == types.LayoutI64
	decl := table.Decl{Operator: opID, Name: "default", Key: rowenc.Columns("key", d.keys.Types), Words: 1, IntKey: d.intKey}
	if n.Within || n.TimeKey >= 0 {
		decl.Value = []table.Column{{Name: "expiresAtMicros", Type: bigint}}
		decl.Width = table.StretchWidth(n.SpanMicros)
		d.live = sp.Expiring(decl)
	} else {
		decl.Value = []table.Column{{Name: "seen", Type: bigint}}
		d.seen = sp.Hash(decl)
	}
	if d.intKey {
		decl.Name, decl.IntKey, decl.Width = decl.Name+table.NullName, false, 0
		d.null = sp.Hash(decl)
	}
	return d, nil
}

// Push implements dataflow.Operator.
func (d *dedup) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, out dataflow.Emit) error {
	if !b.InsertOnly() {
		return sqlerr.Unsupported("DISTINCT ON without ORDER BY needs an input without deletions")
	}
	vecs, sel, err := d.keys.Eval(ep, d.env, b)
	if err != nil {
		return err
	}
	var time *batch.Vector
	if d.n.TimeKey >= 0 {
		time = vecs[d.n.TimeKey]
	}
	judge := time
	if d.n.TimeCol >= 0 {
		judge = b.Cols[d.n.TimeCol]
	}
	if d.n.Within {
		time = judge
	}
	d.delay = 0
	if d.n.Within {
		d.delay = ep.DelayOf(d.n.Delay)
	}
	sel = d.dropLate(ep, b, sel, judge)
	d.fresh = d.fresh[:0]
	if d.intKey {
		d.findInts(b, vecs[0], sel, time)
	} else {
		d.findBytes(b, vecs, sel, time)
	}
	if b.Weights == nil && sel == nil {
		d.stats.RowsDuplicate += int64(b.N)
	} else {
		_ = rowenc.EachRow(b.N, sel, func(i int) error { d.stats.RowsDuplicate += b.Weight(i); return nil })
	}
	d.stats.RowsDuplicate -= int64(len(d.fresh))
	if len(d.fresh) == 0 {
		return nil
	}
	d.stats.RowsUpdated += int64(len(d.fresh))
	if len(d.fresh) == b.N && b.Weights == nil {
		return out(b)
	}
	o := b.Select(d.fresh)
	o.Weights = nil // a row that came several times is its own duplicate
	o.Gift = &batch.Gift{}
	return out(o)
}

// dropLate records late rows and gives the others of sel.
func (d *dedup) dropLate(ep *dataflow.Epoch, b *batch.Batch, sel []int32, time *batch.Vector) []int32 {
	if time == nil || ep.Final || ep.Before == dataflow.NoWatermark || sel == nil && rowenc.AllAfter(time, b.N, int64(ep.Before)) {
		return sel
	}
	d.sel = d.sel[:0]
	_ = rowenc.EachRow(b.N, sel, func(i int) error {
		if t, ok := rowenc.EventTime(time, i); ok && ep.Before.Late(t) {
			rowenc.Late(ep, &d.stats, b, i, time, t)
		} else {
			d.sel = append(d.sel, int32(i))
		}
		return nil
	})
	return d.sel
}

// findInts puts the rows of sel whose integer key is new into fresh.
func (d *dedup) findInts(b *batch.Batch, key *batch.Vector, sel []int32, time *batch.Vector) {
	if key.Valid != nil {
		present := make([]int32, 0, b.N)
		_ = rowenc.EachRow(b.N, sel, func(i int) error {
			if !key.IsNull(i) {
				present = append(present, int32(i))
			} else if d.null.Len() == 0 {
				d.fresh = append(d.fresh, int32(i))
				d.addNull(time, i)
			}
			return nil
		})
		sel = present
	}
	nulls := len(d.fresh)
	if d.live != nil {
		d.fresh = d.live.AddInts(key.I64[:b.N], sel, d.expiries(b.N, sel, time), d.fresh)
	} else {
		d.fresh, d.slots = d.seen.AddInts(key.I64[:b.N], sel, d.fresh, d.slots[:0])
		d.remember()
	}
	if nulls > 0 {
		sortRows(d.fresh)
	}
}

// addNull enters NULL as a key, seen in row i.
func (d *dedup) addNull(time *batch.Vector, i int) {
	slot := d.null.FindOrAddKey(table.NullKey)
	d.null.Words(slot)[0] = 1
	if d.live != nil {
		d.null.Words(slot)[0] = d.expires(time, i)
	}
	d.null.MarkDirty([]int32{slot})
}

// sortRows restores the order of arrival after NULL keys were found first: there is one at most.
func sortRows(rows []int32) {
	for i := 0; i+1 < len(rows) && rows[i] > rows[i+1]; i++ {
		rows[i], rows[i+1] = rows[i+1], rows[i]
	}
}

// findBytes puts the rows of sel whose key is new into fresh.
func (d *dedup) findBytes(b *batch.Batch, vecs []*batch.Vector, sel []int32, time *batch.Vector) {
	d.data, d.off = d.data[:0], append(d.off[:0], 0)
	_ = rowenc.EachRow(b.N, sel, func(i int) error {
		d.data = rowenc.AppendKey(d.data, vecs, i)
		d.off = append(d.off, uint32(len(d.data)))
		return nil
	})
	d.hashes = slices.Grow(d.hashes[:0], len(d.off)-1)[:len(d.off)-1]
	table.HashMany(d.data, d.off, d.hashes)
	if d.live != nil {
		times := d.expiries(b.N, sel, time)
		for k, i := range sel {
			times[k] = times[i] // sel ascends
		}
		d.fresh = d.live.AddBytes(d.hashes, d.off, d.data, times, d.fresh)
	} else {
		d.fresh, d.slots = d.seen.AddBytes(d.hashes, d.off, d.data, d.fresh, d.slots[:0])
		d.remember()
	}
	if sel != nil {
		for k, i := range d.fresh {
			d.fresh[k] = sel[i]
		}
	}
}

// remember fills the new entries d.slots.
func (d *dedup) remember() {
	words, stride := d.seen.WordsAll()
	for _, s := range d.slots {
		words[int(s)*stride] = 1
	}
}

// expiries gives when the keys of the rows of sel may be forgotten, by row of the batch, in memory of the operator.
func (d *dedup) expiries(n int, sel []int32, time *batch.Vector) []int64 {
	if cap(d.times) < n {
		d.times = make([]int64, n, n+n/4)
	}
	times := d.times[:n]
	if time == nil || time.Valid != nil || time.Type.Kind != types.Timestamp && time.Type.Kind != types.TimestampTZ {
		_ = rowenc.EachRow(n, sel, func(i int) error {
			times[i] = d.expires(time, i)
			return nil
		})
		return times
	}
	for i, t := range time.I64[:n] {
		times[i] = rowenc.AddSat(t, d.delay)
	}
	return times
}

// expires is the watermark at which the key of row i may be forgotten; never if time is nil or NULL.
func (d *dedup) expires(time *batch.Vector, i int) int64 {
	if time == nil {
		return rowenc.Never
	}
	t, ok := rowenc.EventTime(time, i)
	if !ok {
		return rowenc.Never
	}
	return rowenc.AddSat(t, d.delay)
}

// EndEpoch implements dataflow.Operator.
func (d *dedup) EndEpoch(ep *dataflow.Epoch, _ dataflow.Emit) error {
	if d.live == nil || ep.Final || ep.After == dataflow.NoWatermark {
		return nil
	}
	until := int64(ep.After)
	d.stats.RowsRemoved += d.live.Expire(until)
	if d.intKey {
		if slot := d.null.FindBytes(table.NullKey); slot >= 0 && d.null.Words(slot)[0] <= until {
			d.null.Remove(slot)
			d.stats.RowsRemoved++
		}
	}
	return nil
}

// Stats implements dataflow.Stateful.
func (d *dedup) Stats() dataflow.Stats {
	s := d.stats
	if d.live != nil {
		s.RowsTotal, s.MemoryUsedBytes = d.live.Len(), d.live.MemBytes()
	} else {
		s.RowsTotal, s.MemoryUsedBytes = d.seen.Len(), d.seen.MemBytes()
	}
	if d.null != nil {
		s.RowsTotal += d.null.Len()
		s.MemoryUsedBytes += d.null.MemBytes()
	}
	return s
}
