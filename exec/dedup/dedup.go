// Package dedup holds deduplication: the first row to arrive of each key comes
// out, later ones do not (reference, section 6).
//
// Keys are remembered in a hash table. Where event time bounds that, each new
// key is also entered in an expiry list: chunks of keys, sorted by the time at
// which they may be forgotten, so that forgetting costs in proportion to what is
// forgotten. With a watermarked column among the keys that time is the column's
// value; WITHIN WATERMARK it is the first row's event time plus the delay. Keys
// whose event time is NULL are kept for good.
package dedup

import (
	"encoding/binary"

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
//	default  key -> 1, and within the watermark the time at which it expires
//	null     one entry, if the key is one integer and NULL was seen: its expiry as a varint
//	expiry   see rowenc.Expiry
type dedup struct {
	n      *plan.Dedup
	env    *kernel.Env
	keys   *rowenc.Exprs
	intKey bool
	seen   *table.Hash
	null   *table.Ordered
	expiry *rowenc.Expiry // nil if keys are kept for good
	stats  dataflow.Stats

	sel    []int32 // of the batch at hand: rows on time; never nil, which would mean all rows
	slots  []int32
	hashes []uint64
	off    []uint32
	data   []byte
	fresh  []int32 // rows that come out
	rows   []int32 // buffer
	times  []int64 // when the keys of rows that come out may be forgotten
	gone   []int64 // integer keys that expire
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
	value := []table.Column{{Name: "seen", Type: bigint}}
	if n.Within {
		d.stats.Name = "dedupeWithinWatermark"
		value = append(value, table.Column{Name: "expiresAtMicros", Type: bigint})
	}
	d.intKey = len(n.Keys) == 1 && d.keys.Types[0].Layout() == types.LayoutI64
	d.seen = sp.Hash(table.Decl{Operator: opID, Name: "default", Key: rowenc.Columns("key", d.keys.Types), Value: value, Words: len(value), IntKey: d.intKey})
	if d.intKey {
		d.null = sp.Ordered(table.Decl{Operator: opID, Name: "null", Value: []table.Column{{Name: "expiresAtMicros", Type: bigint}}})
	}
	if n.Within || n.TimeKey >= 0 {
		d.expiry = rowenc.NewExpiry(sp, opID, "expiry")
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
	if time == nil || ep.Final || ep.Before == dataflow.NoWatermark || sel == nil && allAfter(time, b.N, int64(ep.Before)) {
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

// allAfter says that all of the first n values are timestamps after a bound. It may say false where they are.
func allAfter(time *batch.Vector, n int, bound int64) bool {
	if k := time.Type.Kind; time.Valid != nil || k != types.Timestamp && k != types.TimestampTZ {
		return false
	}
	for _, t := range time.I64[:n] {
		if t <= bound {
			return false
		}
	}
	return true
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
				d.null.Put([]byte{0}, binary.AppendVarint(nil, d.expires(time, i)))
			}
			return nil
		})
		sel = present
	}
	nulls := len(d.fresh)
	d.fresh, d.slots = d.seen.AddInts(key.I64[:b.N], sel, d.fresh, d.slots[:0])
	d.remember(d.fresh[nulls:], time)
	if d.expiry != nil {
		for k, i := range d.fresh[nulls:] {
			d.expiry.AddInt(d.times[k], key.I64[i])
		}
	}
	if nulls > 0 {
		sortRows(d.fresh)
	}
}

// sortRows restores the order of arrival after NULL keys were found first: there is one at most.
func sortRows(rows []int32) {
	for i := 0; i+1 < len(rows) && rows[i] > rows[i+1]; i++ {
		rows[i], rows[i+1] = rows[i+1], rows[i]
	}
}

// findBytes puts the rows of sel whose key is new into fresh.
func (d *dedup) findBytes(b *batch.Batch, vecs []*batch.Vector, sel []int32, time *batch.Vector) {
	d.data, d.off, d.hashes = d.data[:0], append(d.off[:0], 0), d.hashes[:0]
	_ = rowenc.EachRow(b.N, sel, func(i int) error {
		from := len(d.data)
		d.data = rowenc.AppendKey(d.data, vecs, i)
		d.off = append(d.off, uint32(len(d.data)))
		d.hashes = append(d.hashes, table.HashBytes(d.data[from:]))
		return nil
	})
	d.fresh, d.slots = d.seen.AddBytes(d.hashes, d.off, d.data, d.fresh, d.slots[:0])
	keys := d.fresh
	if sel != nil {
		d.rows = d.rows[:0]
		for _, k := range keys {
			d.rows = append(d.rows, sel[k])
		}
		d.fresh, d.rows = d.rows, keys
	}
	d.remember(d.fresh, time)
	if d.expiry != nil {
		for i, k := range keys {
			d.expiry.AddBytes(d.times[i], d.data[d.off[k]:d.off[k+1]])
		}
	}
}

// remember fills the new entries d.slots, which are those of rows, and puts into d.times when they may be forgotten.
func (d *dedup) remember(rows []int32, time *batch.Vector) {
	words, stride := d.seen.WordsAll()
	for _, s := range d.slots {
		words[int(s)*stride] = 1
	}
	if d.expiry == nil {
		return
	}
	d.times = d.times[:0]
	delay := int64(0)
	if d.n.Within {
		delay = d.n.DelayMicros
	}
	plain := time != nil && time.Valid == nil && (time.Type.Kind == types.Timestamp || time.Type.Kind == types.TimestampTZ)
	for _, i := range rows {
		if plain {
			d.times = append(d.times, rowenc.AddSat(time.I64[i], delay))
		} else {
			d.times = append(d.times, d.expires(time, int(i)))
		}
	}
	if d.n.Within {
		for k, s := range d.slots {
			words[int(s)*stride+1] = d.times[k]
		}
	}
}

func room(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n, n+n/4)
	}
	return s[:n]
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
	if d.n.Within {
		t = rowenc.AddSat(t, d.n.DelayMicros)
	}
	return t
}

// EndEpoch implements dataflow.Operator.
func (d *dedup) EndEpoch(ep *dataflow.Epoch, _ dataflow.Emit) error {
	if d.expiry == nil || ep.Final {
		return nil
	}
	d.expiry.Write(ep)
	if ep.After == dataflow.NoWatermark {
		return nil
	}
	until := int64(ep.After)
	if d.intKey {
		d.gone = d.gone[:0]
		d.expiry.ExpireInts(until, func(_, key int64) { d.gone = append(d.gone, key) })
		for lo := 0; lo < len(d.gone); lo += forgetRows {
			keys := d.gone[lo:min(lo+forgetRows, len(d.gone))]
			d.slots = room(d.slots, len(keys))
			d.seen.FindManyInts(keys, d.slots)
			for _, s := range d.slots {
				d.forget(s)
			}
		}
		if v, ok := d.null.Get([]byte{0}); ok {
			if at, _ := rowenc.Varint(v); at <= until {
				d.null.Delete([]byte{0})
				d.stats.RowsRemoved++
			}
		}
		return nil
	}
	d.expiry.ExpireBytes(until, func(_ int64, key []byte) { d.forget(d.seen.FindBytes(key)) })
	return nil
}

// forgetRows is how many keys are looked up together to be forgotten: few enough that what was read of them is still at hand.
const forgetRows = 1 << 10

func (d *dedup) forget(slot int32) {
	if slot >= 0 {
		d.seen.Remove(slot)
		d.stats.RowsRemoved++
	}
}

// Stats implements dataflow.Stateful.
func (d *dedup) Stats() dataflow.Stats {
	s := d.stats
	s.RowsTotal, s.MemoryUsedBytes = d.seen.Len(), d.seen.MemBytes()
	if d.null != nil {
		s.RowsTotal += d.null.Len()
	}
	if d.expiry != nil {
		s.MemoryUsedBytes += d.expiry.MemBytes()
	}
	return s
}
