package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// writer is where a DML statement reads and writes: the epoch that is being made (outside a block), or an open block.
type writer interface {
	reader
	// lookup gives the rows of a table with the given values in one of its keys, the statement's own earlier changes included.
	lookup(rel *catalog.Relation, key []int, vals []types.Datum, f func(*batch.Batch) error) error
	// stage adds changes with all columns of the relation; the caller gives the batch up.
	stage(rel *catalog.Relation, b *batch.Batch) error
	// catalog is what the statement was planned against, or must be planned against again.
	catalogNow() *catalog.Catalog
}

// loopWriter reads and writes the epoch that is being made.
type loopWriter struct {
	b *epochBuild
	s *sess
}

// memory implements reader.
func (w *loopWriter) memory() int64 { return w.b.e.queryMemory() }

func (w *loopWriter) catalogNow() *catalog.Catalog { return w.b.cat }

func (w *loopWriter) stage(rel *catalog.Relation, b *batch.Batch) error { return w.b.stage(rel, b) }

func (w *loopWriter) lookup(rel *catalog.Relation, key []int, vals []types.Datum, f func(*batch.Batch) error) error {
	t := w.b.e.tables[rel.OID]
	if t == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", rel.Name)
	}
	return t.lookup(key, vals, f)
}

// scan implements reader: tables and streams with the epoch's changes so far, views as of the epoch before.
func (w *loopWriter) scan(ctx context.Context, src *dataflow.Source, f func(*batch.Batch) error) error {
	oid := src.Rel.OID
	if t := w.b.e.tables[oid]; t != nil {
		give := func(b *batch.Batch) error { return f(sourceBatch(src, b, 0, 0)) }
		key, none := lookupKey(src)
		if none {
			return nil
		}
		if key != nil {
			return t.rows.lookup(key, give)
		}
		return t.scan(ctx, give)
	}
	give := func(b *batch.Batch) error { return f(sourceBatch(src, b, w.b.n, 0)) }
	r := &txReader{e: w.b.e, s: w.s, snap: w.b.e.current()}
	if err := r.scan(ctx, src, f); err != nil || src.Rel.Kind != catalog.Stream {
		return err
	}
	if c := w.b.changes[oid]; c != nil {
		if err := eachBatch(c.parts, give); err != nil {
			return err
		}
	}
	for _, st := range w.b.staged {
		if st.rel.OID == oid {
			if err := eachBatch([]part{st.part}, give); err != nil {
				return err
			}
		}
	}
	return nil
}

// blockWriter reads the block's snapshot with its own changes on top, and keeps what it writes for COMMIT.
type blockWriter struct {
	txReader
	t *txn
}

func (s *sess) blockWriter() *blockWriter {
	return &blockWriter{txReader{e: s.e, s: s, snap: s.tx.snapshot(s.e), own: s.tx.own}, s.tx}
}

func (w *blockWriter) catalogNow() *catalog.Catalog { return w.t.catalog(w.e) }

func (w *blockWriter) stage(rel *catalog.Relation, b *batch.Batch) error { return w.t.stage(rel, b) }

func (w *blockWriter) lookup(rel *catalog.Relation, key []int, vals []types.Datum, f func(*batch.Batch) error) error {
	o := w.t.own[rel.OID]
	snap, _ := w.snap.contents(rel.OID).(*tableSnapshot)
	if o == nil {
		if snap == nil {
			return nil
		}
		return snap.lookupBy(key, vals, f)
	}
	net := newRowCounts(rel)
	if snap != nil {
		if err := snap.lookupBy(key, vals, net.addBatch); err != nil {
			return err
		}
	}
	o.withKey(key, vals, func(b *batch.Batch, i int) { net.add(b, i, b.Weight(i)) })
	return net.batches(f)
}

func (c *rowCounts) addBatch(b *batch.Batch) error {
	for i := 0; i < b.N; i++ {
		c.add(b, i, b.Weight(i))
	}
	return nil
}

// withKey calls f for the block's changes of rows with the given values in a key.
func (o *overlay) withKey(key []int, vals []types.Datum, f func(b *batch.Batch, i int)) {
	x := o.index(key)
	for _, at := range x.rows[string(encodeKey(nil, o.rel, key, vals))] {
		f(o.batches[at.batch], at.row)
	}
}

// keyIndex finds a block's changes by one key.
type keyIndex struct {
	key     []int
	rows    map[string][]rowAt
	indexed int // batches that are in rows
}

type rowAt struct{ batch, row int }

// index brings the index of a key up to date with the batches.
func (o *overlay) index(key []int) *keyIndex {
	var x *keyIndex
	for _, i := range o.indexes {
		if slices.Equal(i.key, key) {
			x = i
		}
	}
	if x == nil {
		x = &keyIndex{key: key, rows: map[string][]rowAt{}}
		o.indexes = append(o.indexes, x)
	}
	var buf []byte
	for ; x.indexed < len(o.batches); x.indexed++ {
		b := o.batches[x.indexed]
		for i := 0; i < b.N; i++ {
			vals, _ := keyValues(b, i, key)
			buf = encodeKey(buf[:0], o.rel, key, vals)
			x.rows[string(buf)] = append(x.rows[string(buf)], rowAt{x.indexed, i})
		}
	}
	return x
}
