package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// writer is where a DML statement reads and writes: the epoch that is being made (outside a block), or an open block.
type writer interface {
	reader
	// lookup gives the rows of a table with a key, the statement's own earlier changes included.
	lookup(rel *catalog.Relation, key []types.Datum, f func(*batch.Batch) error) error
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

func (w *loopWriter) catalogNow() *catalog.Catalog { return w.b.cat }

func (w *loopWriter) stage(rel *catalog.Relation, b *batch.Batch) error { return w.b.stage(rel, b) }

func (w *loopWriter) lookup(rel *catalog.Relation, key []types.Datum, f func(*batch.Batch) error) error {
	t := w.b.e.tables[rel.OID]
	if t == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", rel.Name)
	}
	return t.lookup(key, f)
}

// scan implements reader: tables and streams with the epoch's changes so far, views as of the epoch before.
func (w *loopWriter) scan(ctx context.Context, src *dataflow.Source, f func(*batch.Batch) error) error {
	oid := src.Rel.OID
	if t := w.b.e.tables[oid]; t != nil {
		give := func(b *batch.Batch) error { return f(sourceBatch(src, b, 0, 0)) }
		if key := lookupKey(src); key != nil {
			return t.lookup(key, give)
		}
		return t.scan(ctx, give)
	}
	r := &txReader{e: w.b.e, s: w.s, snap: w.b.e.current()}
	if err := r.scan(ctx, src, f); err != nil || src.Rel.Kind != catalog.Stream {
		return err
	}
	if c := w.b.changes[oid]; c != nil {
		if err := f(sourceBatch(src, c.b, w.b.n, 0)); err != nil {
			return err
		}
	}
	for _, st := range w.b.staged {
		if st.rel.OID == oid {
			if err := f(sourceBatch(src, st.b, w.b.n, 0)); err != nil {
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

func (w *blockWriter) lookup(rel *catalog.Relation, key []types.Datum, f func(*batch.Batch) error) error {
	o := w.t.own[rel.OID]
	snap := w.snap.rels[rel.OID]
	if o == nil {
		if snap == nil {
			return nil
		}
		_, err := snap.lookup(key, f)
		return err
	}
	net := newRowCounts(rel)
	if snap != nil {
		if _, err := snap.lookup(key, net.addBatch); err != nil {
			return err
		}
	}
	o.withKey(key, func(b *batch.Batch, i int) { net.add(b, i, b.Weight(i)) })
	return net.batches(f)
}

func (c *rowCounts) addBatch(b *batch.Batch) error {
	for i := 0; i < b.N; i++ {
		c.add(b, i, b.Weight(i))
	}
	return nil
}

// withKey calls f for the block's changes of rows with a whole primary key.
func (o *overlay) withKey(key []types.Datum, f func(b *batch.Batch, i int)) {
	o.index()
	for _, at := range o.byKey[string(appendKey(nil, o.rel, key))] {
		f(o.batches[at.batch], at.row)
	}
}

type rowAt struct{ batch, row int }

// index brings the key index up to date with the batches.
func (o *overlay) index() {
	if o.byKey == nil {
		o.byKey = map[string][]rowAt{}
	}
	var buf []byte
	for ; o.indexed < len(o.batches); o.indexed++ {
		b := o.batches[o.indexed]
		for i := 0; i < b.N; i++ {
			buf = appendKey(buf[:0], o.rel, keyOf(o.rel, b, i))
			o.byKey[string(buf)] = append(o.byKey[string(buf)], rowAt{o.indexed, i})
		}
	}
}

// keyOf gives a row's primary key.
func keyOf(rel *catalog.Relation, b *batch.Batch, i int) []types.Datum {
	key := make([]types.Datum, len(rel.PrimaryKey))
	for k, c := range rel.PrimaryKey {
		key[k] = b.Cols[c].Datum(i)
	}
	return key
}

// appendKey encodes a primary key so that equal keys have equal bytes.
func appendKey(dst []byte, rel *catalog.Relation, key []types.Datum) []byte {
	for k, d := range key {
		dst = types.AppendKey(dst, rel.Columns[rel.PrimaryKey[k]].Type, d, false, false)
	}
	return dst
}

// duplicateKey is PostgreSQL's 23505.
func duplicateKey(rel *catalog.Relation, key []types.Datum) error {
	names, vals := "", ""
	for k, c := range rel.PrimaryKey {
		if k > 0 {
			names, vals = names+", ", vals+", "
		}
		names += rel.Columns[c].Name
		vals += string(types.Append(nil, rel.Columns[c].Type, key[k], types.DefaultEnv()))
	}
	e := sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint \"%s_pkey\"", rel.Name).
		WithDetail("Key (%s)=(%s) already exists.", names, vals)
	e.Schema, e.Table, e.Constraint = rel.Schema, rel.Name, rel.Name+"_pkey"
	return e
}
