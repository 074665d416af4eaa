package state

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Rows gives the number of rows, duplicates counted.
func (v *RowsSnapshot) Rows() int64 { return v.rows }

// Types lists the column types.
func (v *RowsSnapshot) Types() []types.Type { return v.r.codec.types }

// Key lists the key columns.
func (v *RowsSnapshot) Key() []int { return v.r.codec.key }

// Scan calls f with all rows in key order, in batches of positive weights. A batch is valid during the call.
func (v *RowsSnapshot) Scan(f func(*batch.Batch) error) error {
	r := v.Reader()
	defer r.Close()
	return r.each(f)
}

func (r *RowsReader) each(f func(*batch.Batch) error) error {
	for {
		b, err := r.Next()
		if b == nil || err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
}

// Reader reads the snapshot by pulling, from the beginning unless Seek is called.
func (v *RowsSnapshot) Reader() *RowsReader { return &RowsReader{v: v, m: &merge{}} }

// RowsReader gives rows of a snapshot batch by batch, in key order. One
// goroutine uses it, and closes it.
type RowsReader struct {
	v      *RowsSnapshot
	m      *merge
	disk   diskRows
	placed bool
	found  []foundRow // of seekOne, which come next
	out    *batch.Batch
	size   int  // rows of the next batch
	desc   bool // see Reverse
}

// Reverse makes Next, after the following Seek or SeekRange, give rows from the greatest key to the least one, or no longer.
func (r *RowsReader) Reverse(desc bool) { r.desc = desc }

// Seek makes the following Next give the rows whose leading key columns equal the prefix.
func (r *RowsReader) Seek(prefix []types.Datum) {
	if len(prefix) == 0 {
		r.place(nil, nil)
		return
	}
	c := &r.v.r.codec
	k := c.keyPrefix(prefix)
	if len(prefix) == len(c.key) && r.v.r.set.Load() && !r.v.within {
		r.seekOne(k)
		return
	}
	r.place(k, after(k))
}

// Bound is an end of a range of the key column that follows an equal prefix.
type Bound struct {
	Value     types.Datum
	Inclusive bool
}

// SeekRange makes the following Next give the rows whose leading key columns
// equal the prefix and whose next key column lies between lo and hi (nil: no
// bound). NULLs, which come last, are left out if either bound is given.
func (r *RowsReader) SeekRange(prefix []types.Datum, lo, hi *Bound) {
	c := &r.v.r.codec
	if lo == nil && hi == nil || len(prefix) >= len(c.key) {
		r.Seek(prefix)
		return
	}
	t := c.types[c.key[len(prefix)]]
	base := c.keyPrefix(prefix)
	base = base[:len(base):len(base)]
	from, to := append(base, 1), append(base, 2) // see types.AppendKey: values start with 1
	if lo != nil {
		from = types.AppendKey(base, t, lo.Value, false, false)
		if !lo.Inclusive {
			from = after(from)
		}
	}
	if hi != nil {
		to = types.AppendKey(base, t, hi.Value, false, false)
		if hi.Inclusive {
			to = after(to)
		}
	}
	if bytes.Compare(from, to) >= 0 {
		to = from
	}
	r.place(from, to)
}

func (r *RowsReader) place(lo, hi []byte) {
	r.placed, r.size = true, firstRows
	r.found = r.found[:0]
	r.m.err = nil
	r.m.desc = r.desc
	r.m.seek(r.v.runs, lo, hi)
	r.m.disk = nil
	if r.v.noDisk {
		return
	}
	r.m.err = r.disk.seek(r.v, lo, hi, r.desc)
	r.disk.one = false
	r.m.disk = &r.disk
}

// firstRows are the rows of the first batch, since a reader may want a few; the following ones have more.
const firstRows = 64

// Next gives the next batch, valid until the following call; nil at the end.
func (r *RowsReader) Next() (*batch.Batch, error) {
	if !r.placed {
		r.place(nil, nil)
	}
	c := &r.v.r.codec
	if r.out == nil {
		r.out = batch.New(c.types, firstRows)
	}
	r.out.Reset()
	for _, x := range r.found {
		if x.weight > 0 {
			if err := r.add(x.key[x.klen:], x.weight); err != nil {
				return nil, err
			}
		}
	}
	r.found = r.found[:0]
	size := r.size
	r.size = min(4*size, batch.Target)
	for r.out.N < size && r.m.next() {
		if r.m.weight == 0 {
			continue
		}
		if err := r.add(r.m.key[r.m.klen:], r.m.weight); err != nil {
			return nil, err
		}
	}
	if r.m.err != nil {
		return nil, r.m.err
	}
	if r.out.N == 0 {
		return nil, nil
	}
	return r.out, nil
}

// add decodes a row into the batch that comes next.
func (r *RowsReader) add(row []byte, weight int64) error {
	if weight < 0 {
		return sqlerr.New(sqlerr.InternalError, "a row of relation %d has multiplicity %d", r.v.r.oid, weight)
	}
	if err := r.v.r.codec.decodeRow(row, r.out, weight); err != nil {
		return corrupt("row of relation %d: %v", r.v.r.oid, err)
	}
	return nil
}

// Close ends the reading; it may be called twice.
func (r *RowsReader) Close() error { return r.disk.close() }

// diskRows walks rows of one relation on disk.
type diskRows struct {
	st     *Store
	it     *pebble.Iterator // nil until something is sought
	pin    *pin             // of which it is
	gen    uint64           // since so many checkpoints
	prefix int
	lo, hi []byte // what is sought, in Pebble; memory
	desc   bool   // from hi to lo
	one    bool   // there is one row at most
	valid  bool
	key    []byte // without the relation, valid until next
	klen   int
	weight int64
}

// seek moves to the first row with a key in [lo, hi), or the last one with desc; nil: no bound. All calls until close are for snapshots with one pin.
func (d *diskRows) seek(v *RowsSnapshot, lo, hi []byte, desc bool) error {
	r := v.r
	d.prefix = len(r.prefix)
	if d.it == nil {
		d.st, d.pin, d.gen = r.st, v.pin, r.st.gen.Load()
		it, err := v.pin.snap.NewIter(&pebble.IterOptions{LowerBound: r.prefix, UpperBound: r.behind})
		if err != nil {
			return err
		}
		d.it = it
	}
	d.lo = append(append(d.lo[:0], r.prefix...), lo...)
	d.hi = append(d.hi[:0], r.behind...)
	if hi != nil {
		d.hi = append(append(d.hi[:0], r.prefix...), hi...)
	}
	// With bounds of its own, each seek would begin anew.
	if d.desc = desc; desc {
		return d.at(d.it.SeekLTWithLimit(d.hi, d.lo))
	}
	return d.at(d.it.SeekGEWithLimit(d.lo, d.hi))
}

func (d *diskRows) next() error {
	if d.one {
		d.valid = false
		return nil
	}
	if d.desc {
		return d.at(d.it.PrevWithLimit(d.lo))
	}
	return d.at(d.it.NextWithLimit(d.hi))
}

// at reads the row at which the iterator is. Its limit is one that it may go beyond.
func (d *diskRows) at(state pebble.IterValidityState) error {
	d.valid = state == pebble.IterValid && bytes.Compare(d.it.Key(), d.hi) < 0 && bytes.Compare(d.it.Key(), d.lo) >= 0
	if !d.valid {
		return d.it.Error()
	}
	v, err := d.it.ValueAndErr()
	if err != nil {
		return err
	}
	w, klen, err := readWeight(v)
	d.key, d.weight, d.klen = d.it.Key()[d.prefix:], w, int(klen)
	if err != nil || d.klen > len(d.key) {
		return corrupt("row %x: malformed weight %x", d.it.Key(), v)
	}
	return nil
}

// close closes the iterator, if there is one.
func (d *diskRows) close() error {
	if d.it == nil {
		return nil
	}
	it := d.it
	d.it, d.pin, d.valid = nil, nil, false
	return d.st.close(it)
}
