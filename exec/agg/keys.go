package agg

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// keyCol is a group key.
type keyCol struct {
	typ  types.Type
	col  int // plain column, -1 for none
	k    *kernel.Kernel
	v    *batch.Vector // for the batch at hand
	form keyForm
	// start says that it is the start of the event key's window (startKey), which is no column of the output.
	start bool
}

type keyForm uint8

const (
	keyInt keyForm = iota
	keyText
	keyOther
)

func newKeyCol(x plan.Expr, in []types.Type) (*keyCol, error) {
	c := &keyCol{typ: x.Type(), col: -1, form: formOf(x.Type())}
	if p, ok := x.(*plan.Col); ok {
		c.col = p.Index
		return c, nil
	}
	k, err := kernel.Compile(x, in)
	c.k = k
	return c, err
}

func formOf(t types.Type) keyForm {
	switch {
	case t.Layout() == types.LayoutI64:
		return keyInt
	case plainBytes(t.Kind):
		return keyText
	}
	return keyOther
}

// plainBytes says whether equal values of a kind are equal bytes.
func plainBytes(k types.Kind) bool {
	switch k {
	case types.Text, types.Varchar, types.Name, types.Unknown, types.Bytea, types.JSON:
		return true
	}
	return false
}

// needsForm says whether the key bytes do not determine the value.
func needsForm(t types.Type) bool {
	return formsDiffer(t) || t.Kind == types.Array || t.Kind == types.Int2Vector
}

// keySet is the keys of a hash table, the event key left out.
type keySet struct {
	cols []*keyCol
	// forms says that entries keep the values of their keys as first seen, because key bytes don't determine them.
	forms bool

	data   []byte
	off    []uint32
	hashes []uint64
	ints   []int64
	picked batch.Vector
	known  []uint64 // hashes of the rows' texts in the batch at hand, if they came with it
}

func (ks *keySet) init(cols []*keyCol) {
	ks.cols = cols
	for _, c := range cols {
		ks.forms = ks.forms || needsForm(c.typ)
	}
}

// intKey says whether the table's key is one word. NULL is then apart.
func (ks *keySet) intKey() bool { return len(ks.cols) == 1 && ks.cols[0].form == keyInt }

// textKey says whether the table's key is one text, which is not encoded. NULL is then apart.
func (ks *keySet) textKey() bool { return len(ks.cols) == 1 && ks.cols[0].form == keyText }

// apart says whether NULL is no key of the table, but has one of its own.
func (ks *keySet) apart() bool { return ks.intKey() || ks.textKey() }

// mayBeNull gives the column of which NULL is apart, if the batch at hand may have some there.
func (ks *keySet) mayBeNull() *batch.Vector {
	if ks.apart() && ks.cols[0].v.Valid != nil {
		return ks.cols[0].v
	}
	return nil
}

// schema lists the key columns for the table's declaration.
func (ks *keySet) schema() []table.Column {
	out := make([]table.Column, len(ks.cols))
	for i, c := range ks.cols {
		out[i] = table.Column{Name: "key" + strconv.Itoa(i+1), Type: c.typ}
		if c.start {
			out[i].Name = "start"
		}
	}
	return out
}

// take notes what is known of the keys of a batch.
func (ks *keySet) take(b *batch.Batch) {
	ks.known = nil
	if ks.textKey() {
		ks.known = b.Hashes
	}
}

// find fills t.slot with the entries of t.rows, which ascend. Where NULL is apart, none of their keys is NULL, or t.nullKey says that all are.
func (ks *keySet) find(t *target) {
	if cap(t.slot) < len(t.rows) { // a target may be one of very many, of few rows each
		t.slot, t.alike = make([]int32, max(len(t.rows), min(2*cap(t.slot), batch.Target))), 0
	}
	t.slot, t.one = t.slot[:len(t.rows)], false
	switch {
	case len(t.rows) == 0:
	case len(ks.cols) == 0 || t.nullKey:
		ks.findOne(t)
	case t.intKey:
		vals := ks.cols[0].v.I64
		if first, n := int(t.rows[0]), len(t.rows); int(t.rows[n-1])-first == n-1 { // one after the other
			t.h.FindOrAddInts(vals[first:first+n], nil, t.slot)
			return
		}
		ks.ints = ks.ints[:0]
		for _, r := range t.rows {
			ks.ints = append(ks.ints, vals[r])
		}
		t.h.FindOrAddInts(ks.ints, nil, t.slot)
	case t.textKey:
		hashes, off, data := ks.texts(t.rows)
		t.h.FindOrAddBytes(hashes, off, data, t.slot)
	default:
		hashes := ks.encode(t.rows)
		t.h.FindOrAddBytes(hashes, ks.off, ks.data, t.slot)
	}
}

// bring reads from disk what find will look for and is not in memory.
func (ks *keySet) bring(t *target) {
	switch {
	case len(ks.cols) == 0 || t.nullKey:
	case t.intKey:
		t.h.BringInts(ks.cols[0].v.I64, t.rows)
	case t.textKey:
		hashes, off, data := ks.texts(t.rows)
		t.h.BringBytes(hashes, off, data)
	default:
		hashes := ks.encode(t.rows)
		t.h.BringBytes(hashes, ks.off, ks.data)
	}
}

// findOne is find where all rows are of one entry: that without a key, or that of NULL.
func (ks *keySet) findOne(t *target) {
	ks.data = ks.data[:0]
	if t.nullKey {
		ks.data = append(ks.data, table.NullKey...)
	}
	one := t.h.FindOrAddKey(ks.data)
	// Nothing else writes to the slots of such a target, so most of them mostly are what they were.
	if len(t.slot) > t.alike || t.slot[0] != one {
		for k := range t.slot {
			t.slot[k] = one
		}
		t.alike = len(t.slot)
	}
	t.one = true
}

// texts gives the keys of rows, which ascend, of a column of texts without NULLs as FindOrAddBytes takes them. They are not to be changed.
func (ks *keySet) texts(rows []int32) (hashes []uint64, off []uint32, data []byte) {
	v, n := ks.cols[0].v, len(rows)
	if first := int(rows[0]); int(rows[n-1])-first == n-1 { // one after the other
		off, data = v.Off[first:first+n+1], v.Data
		if ks.known != nil {
			return ks.known[first : first+n], off, data
		}
	} else {
		ks.picked.Reset(v.Type)
		ks.picked.AppendPicked(v.Data, v.Off, rows)
		off, data = ks.picked.Off, ks.picked.Data
	}
	ks.hashes = slices.Grow(ks.hashes[:0], n)[:n]
	if ks.known == nil {
		table.HashMany(data, off, ks.hashes)
		return ks.hashes, off, data
	}
	for k, r := range rows {
		ks.hashes[k] = ks.known[r]
	}
	return ks.hashes, off, data
}

// encode builds the key bytes of rows: AppendKey of every column. It gives their hashes.
func (ks *keySet) encode(rows []int32) (hashes []uint64) {
	ks.data, ks.off = ks.data[:0], append(ks.off[:0], 0)
	for _, r := range rows {
		ks.data = ks.append(ks.data, int(r))
		ks.off = append(ks.off, uint32(len(ks.data)))
	}
	ks.hashes = slices.Grow(ks.hashes[:0], len(rows))[:len(rows)]
	table.HashMany(ks.data, ks.off, ks.hashes)
	return ks.hashes
}

func (ks *keySet) append(dst []byte, r int) []byte {
	for _, c := range ks.cols {
		dst = c.append(dst, r)
	}
	return dst
}

// append is AppendKey of the value of row r.
func (c *keyCol) append(dst []byte, r int) []byte {
	switch {
	case c.v.IsNull(r):
		return append(dst, 2)
	case c.form == keyInt:
		return binary.BigEndian.AppendUint64(append(dst, 1), uint64(c.v.I64[r])^signBit)
	case c.form == keyText:
		if b := c.v.Bytes(r); bytes.IndexByte(b, 0) < 0 {
			return append(append(append(dst, 1), b...), 0, 1)
		}
	}
	return types.AppendKey(dst, c.typ, c.v.Datum(r), false, false)
}

// lookup is keys to be found together: the processor then waits for the memory of several at once.
type lookup struct {
	data   []byte
	off    []uint32
	hashes []uint64
	slots  []int32
}

func (x *lookup) reset() { x.data, x.off, x.hashes = x.data[:0], append(x.off[:0], 0), x.hashes[:0] }

func (x *lookup) add(key []byte) {
	x.data = append(x.data, key...)
	x.off, x.hashes = append(x.off, uint32(len(x.data))), append(x.hashes, table.HashBytes(key))
}

// find gives the slots of the keys, -1 for those that are missing, valid until the next call.
func (x *lookup) find(h *table.Hash) []int32 {
	if cap(x.slots) < len(x.hashes) {
		x.slots = make([]int32, max(len(x.hashes), batch.Target))
	}
	h.FindManyBytes(x.hashes, x.off, x.data, x.slots[:len(x.hashes)])
	return x.slots[:len(x.hashes)]
}

// keepForm stores the values of row r as those that the entry shows, unless it has some.
func (ks *keySet) keepForm(t *target, slot int32, r int) {
	if len(t.field(slot, 0)) > 0 {
		return
	}
	var f []byte
	for _, c := range ks.cols {
		f = types.AppendValue(f, c.typ, c.v.Datum(r))
	}
	t.setField(slot, 0, f)
}

// show appends the keys of entries to columns, cols[i] being that of key i.
func (ks *keySet) show(t *target, slots []int32, cols []*batch.Vector) {
	switch {
	case t.nullKey:
		for range slots {
			cols[0].AppendNull()
		}
	case t.intKey:
		t.h.KeysInt(slots, cols[0].AppendInts(len(slots)))
	case ks.forms:
		for _, s := range slots {
			rest := t.field(s, 0)
			for i, c := range ks.cols {
				d, r, err := types.ReadValue(c.typ, rest)
				if err != nil {
					panic(err)
				}
				cols[i].AppendDatum(d)
				rest = r
			}
		}
	case t.textKey:
		v := cols[0]
		v.Data, v.Off = t.h.AppendKeys(slots, v.Data, v.Off)
		v.Appended(len(slots))
	default:
		t.h.EachKey(slots, func(rest []byte) {
			for i, c := range ks.cols {
				rest = showKey(cols[i], c.typ, rest)
			}
		})
	}
}

// showKey appends the value that AppendKey encoded and gives what follows it.
func showKey(v *batch.Vector, t types.Type, b []byte) []byte {
	if b[0] != 1 {
		v.AppendNull()
		return b[1:]
	}
	b = b[1:]
	switch t.Layout() {
	case types.LayoutI64:
		v.AppendInt(int64(binary.BigEndian.Uint64(b) ^ signBit))
		return b[8:]
	case types.LayoutPair:
		var flip uint64 = signBit
		if t.Kind == types.UUID {
			flip = 0
		}
		v.AppendPair(int64(binary.BigEndian.Uint64(b)^flip), int64(binary.BigEndian.Uint64(b[8:])^flip))
		return b[16:]
	}
	end := bytes.IndexByte(b, 0)
	if b[end+1] == 1 {
		v.AppendBytes(b[:end])
		return b[end+2:]
	}
	var out []byte
	for {
		out = append(out, b[:end]...)
		last := b[end+1] == 1
		b = b[end+2:]
		if last {
			v.AppendBytes(out)
			return b
		}
		out = append(out, 0)
		end = bytes.IndexByte(b, 0)
	}
}
