package agg

import (
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// State: the ordered table that all aggregates with ordered state share has the keys
//
//	target   0 for plain groups; 1 where the event time is NULL; 2 and the window's end
//	group    the key bytes of the group
//	set      number of the set in the operator, 2 bytes
//	element  order-preserving encoding of what the set is ordered by, then what tells its elements apart
//
// and as value the element's count, 8 bytes little-endian, then the row values of its columns.

// appendSetPrefix appends the prefix under which a target's groups lie.
func appendSetPrefix(dst []byte, kind targetKind, end int64) []byte {
	switch kind {
	case plainTarget:
		return append(dst, 0)
	case nullTarget:
		return append(dst, 1)
	}
	return binary.BigEndian.AppendUint64(append(dst, 2), uint64(end)^signBit)
}

// appendGroup appends the prefix of a group's sets.
func (t *target) appendGroup(dst []byte, slot int32) []byte {
	dst = append(dst, t.prefix...)
	return append(dst, t.groupKey(slot)...)
}

var intKeyType, textKeyType = types.Of(types.Int8), types.Of(types.Bytea)

// groupKey gives the encoded key of an entry; valid until the next call.
func (t *target) groupKey(slot int32) []byte {
	t.ikey = t.appendKey(t.ikey[:0], slot)
	return t.ikey
}

// appendKey appends the key of an entry as keySet.append encodes it.
func (t *target) appendKey(dst []byte, slot int32) []byte {
	switch {
	case t.intKey:
		return types.AppendKey(dst, intKeyType, types.IntDatum(t.h.KeyInt(slot)), false, false)
	case t.textKey:
		return types.AppendKey(dst, textKeyType, types.Datum{B: t.h.Key(slot)}, false, false)
	}
	return append(dst, t.h.Key(slot)...)
}

// sortKey is a column of a set's order.
type sortKey struct {
	arg        int
	typ        types.Type
	desc       bool
	nullsFirst bool
}

// formsDiffer says whether equal values of a type may differ in form, so that key bytes do not tell them apart.
func formsDiffer(t types.Type) bool {
	switch t.Kind {
	case types.Numeric, types.Interval, types.Bpchar, types.JSONB, types.Record, types.Float4, types.Float8:
		return true
	case types.Array:
		return formsDiffer(t.ElemType())
	}
	return false
}

// appendForm appends what tells equal values of different form apart; -0 comes before 0.
func appendForm(dst []byte, t types.Type, d types.Datum) []byte {
	if t.Layout() == types.LayoutF64 {
		return binary.BigEndian.AppendUint64(dst, floatOrder(d.F))
	}
	return types.AppendValue(dst, t, d)
}

// setCell is a counted, ordered set of argument lists per group.
type setCell struct {
	in   *input
	id   int
	sort []sortKey
	args []sortKey // the stored columns; their keys tell elements apart, unless arrival or sorted does
	// sorted says that elements that sort alike are one.
	sorted bool
	// exact tells equal values of different form apart.
	exact bool
	// arrival orders equal elements as they came; it needs one word, off, for the next number.
	arrival bool
	off     int
	// wholeRow orders equal elements by the encoded input row, whose types these are.
	wholeRow bool
	in0      []types.Type
	b        *batch.Batch // the batch at hand, for wholeRow

	// inner are told when an element of the set appears or disappears: the accumulators of DISTINCT
	// aggregates. Their input is changes.
	inner   []cell
	changes *input

	// Values are taken by position, or the most frequent one: sums are kept, where the operator has them.
	places, modal bool
	sums          *setSums

	key, val []byte
}

func (c *setCell) prefix(t *target, slot int32) []byte {
	c.key = t.appendGroup(c.key[:0], slot)
	c.key = binary.BigEndian.AppendUint16(c.key, uint16(c.id))
	return c.key
}

func (c *setCell) add(t *target) {
	rs := &c.in.rs
	words, w := t.h.WordsAll()
	c.startChanges()
	for k, s := range rs.slot {
		r := int(rs.row[k])
		key := c.prefix(t, s)
		scope := len(key)
		for _, o := range c.sort {
			key = types.AppendKey(key, o.typ, c.in.cols[o.arg].Datum(r), o.desc, o.nullsFirst)
		}
		switch {
		case c.arrival:
			p := &words[int(s)*w+c.off]
			key = binary.BigEndian.AppendUint64(key, uint64(*p))
			*p++
		case c.wholeRow:
			for i, v := range c.b.Cols {
				d := v.Datum(r)
				key = types.AppendKey(key, c.in0[i], d, false, false)
				if formsDiffer(c.in0[i]) {
					key = appendForm(key, c.in0[i], d)
				}
			}
		}
		if !c.arrival && !c.sorted {
			for _, o := range c.args {
				d := c.in.cols[o.arg].Datum(r)
				key = types.AppendKey(key, o.typ, d, false, false)
				if c.exact && formsDiffer(o.typ) {
					key = appendForm(key, o.typ, d)
				}
			}
		}
		c.key = key
		c.change(t, s, r, rs.weight(k))
		if c.sums != nil {
			c.sums.note(c.key, scope)
		}
	}
	if c.inner != nil && len(c.changes.rs.slot) > 0 {
		for _, in := range c.inner {
			in.add(t)
		}
	}
}

// change adds w to the element under c.key.
func (c *setCell) change(t *target, slot int32, r int, w int64) {
	old, found := t.sets.Get(c.key)
	var n int64
	if found {
		n = int64(binary.LittleEndian.Uint64(old))
		c.val = append(c.val[:0], old...)
	} else {
		c.val = binary.LittleEndian.AppendUint64(c.val[:0], 0)
		for _, o := range c.args {
			c.val = types.AppendValue(c.val, o.typ, c.in.cols[o.arg].Datum(r))
		}
	}
	if c.inner != nil && n > 0 != (n+w > 0) {
		c.changed(slot, n+w > 0)
	}
	n += w
	if n == 0 {
		t.sets.Delete(c.key)
		return
	}
	binary.LittleEndian.PutUint64(c.val, uint64(n))
	t.sets.Put(c.key, c.val)
}

func (c *setCell) startChanges() {
	if c.inner == nil {
		return
	}
	ch := c.changes
	if ch.cols == nil {
		for _, o := range c.args {
			ch.cols = append(ch.cols, batch.NewVector(o.typ, 0))
		}
	}
	for _, v := range ch.cols {
		v.Reset(v.Type)
	}
	ch.row, ch.slot = ch.row[:0], ch.slot[:0]
	ch.rs = rowset{row: ch.row, slot: ch.slot, w: ch.rs.w[:0]}
}

// changed notes that the element whose columns are in c.val appeared or disappeared.
func (c *setCell) changed(slot int32, appeared bool) {
	ch := c.changes
	rest := c.val[8:]
	for i, o := range c.args {
		d, r, err := types.ReadValue(o.typ, rest)
		if err != nil {
			panic(err)
		}
		ch.cols[i].AppendDatum(d)
		rest = r
	}
	w := int64(1)
	if !appeared {
		w = -1
	}
	ch.rs.row = append(ch.rs.row, int32(len(ch.rs.slot)))
	ch.rs.slot = append(ch.rs.slot, slot)
	ch.rs.w = append(ch.rs.w, w)
	ch.row, ch.slot = ch.rs.row, ch.rs.slot
}

// merge is never called: sessions with ordered state keep their rows.
func (c *setCell) merge(*target, []int32, *target, []int32) { panic("agg: merge of an ordered set") }

// each calls f with every element in order: its count, above 0, and its columns, valid during the call.
func (c *setCell) each(t *target, slot int32, f func(n int64, args []types.Datum) bool) {
	c.scan(t, slot, false, f)
}

func (c *setCell) scan(t *target, slot int32, desc bool, f func(n int64, args []types.Datum) bool) {
	lo := append([]byte(nil), c.prefix(t, slot)...)
	hi := table.PrefixEnd(lo)
	args := make([]types.Datum, len(c.args))
	g := func(_, val []byte) bool {
		n := int64(binary.LittleEndian.Uint64(val))
		if n <= 0 {
			return true
		}
		rest := val[8:]
		for i, o := range c.args {
			d, r, err := types.ReadValue(o.typ, rest)
			if err != nil {
				panic(err)
			}
			args[i], rest = d, r
		}
		return f(n, args)
	}
	if desc {
		t.sets.ScanDesc(lo, hi, g)
	} else {
		t.sets.Scan(lo, hi, g)
	}
}

// first gives the first element, or the last for desc.
func (c *setCell) first(t *target, slot int32, desc bool) (d types.Datum, ok bool) {
	c.scan(t, slot, desc, func(_ int64, args []types.Datum) bool {
		d, ok = args[0], true
		return false
	})
	return d, ok
}
