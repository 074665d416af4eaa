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
	return v.each(v.Reader(), f)
}

// Lookup calls f with the rows whose leading key columns equal the prefix, in
// key order. NULL finds NULL. For many lookups use one RowsReader and its Seek.
func (v *RowsSnapshot) Lookup(prefix []types.Datum, f func(*batch.Batch) error) error {
	r := v.Reader()
	r.Seek(prefix)
	return v.each(r, f)
}

func (v *RowsSnapshot) each(r *RowsReader, f func(*batch.Batch) error) error {
	defer r.Close()
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
	out    *batch.Batch
}

// Seek makes the following Next give the rows whose leading key columns equal the prefix.
func (r *RowsReader) Seek(prefix []types.Datum) {
	if len(prefix) == 0 {
		r.place(nil, nil)
		return
	}
	k := r.v.r.codec.keyPrefix(prefix)
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
	r.placed = true
	r.m.err = nil
	r.m.seek(r.v.runs, lo, hi)
	r.m.disk = nil
	if r.v.noDisk {
		return
	}
	r.m.err = r.disk.seek(r.v, lo, hi)
	r.m.disk = &r.disk
}

// Next gives the next batch, valid until the following call; nil at the end.
func (r *RowsReader) Next() (*batch.Batch, error) {
	if !r.placed {
		r.place(nil, nil)
	}
	c := &r.v.r.codec
	if r.out == nil {
		r.out = batch.New(c.types, 64)
	}
	r.out.Reset()
	for r.out.N < batch.Target && r.m.next() {
		if r.m.weight == 0 {
			continue
		}
		if r.m.weight < 0 {
			return nil, sqlerr.New(sqlerr.InternalError, "a row of relation %d has multiplicity %d", r.v.r.oid, r.m.weight)
		}
		if err := c.decodeRow(r.m.key[r.m.klen:], r.out, r.m.weight); err != nil {
			return nil, corrupt("row of relation %d: %v", r.v.r.oid, err)
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

// Close ends the reading; it may be called twice.
func (r *RowsReader) Close() error { return r.disk.close() }

// diskRows walks rows of one relation on disk.
type diskRows struct {
	st     *Store
	it     *pebble.Iterator
	prefix int
	valid  bool
	key    []byte // without the relation, valid until next
	klen   int
	weight int64
}

func (d *diskRows) seek(v *RowsSnapshot, lo, hi []byte) error {
	d.st = v.r.st
	prefix := relationKey(keyRow, v.r.oid)
	d.prefix = len(prefix)
	upper := after(prefix)
	if hi != nil {
		upper = join(prefix, hi)
	}
	lower := join(prefix, lo)
	if d.it == nil {
		it, err := v.pin.snap.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
		if err != nil {
			return err
		}
		d.it = it
	} else {
		d.it.SetBounds(lower, upper)
	}
	return d.at(d.it.First())
}

func (d *diskRows) next() error { return d.at(d.it.Next()) }

func (d *diskRows) at(ok bool) error {
	d.valid = ok
	if !ok {
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

func (d *diskRows) close() error {
	if d.it == nil {
		return nil
	}
	it := d.it
	d.it, d.valid = nil, false
	return d.st.close(it)
}
