package engine

import (
	"context"
	"errors"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state"
)

// contents are the rows of a view, or of one of its hidden relations, as the goroutine that runs its epochs sees them.
type contents interface {
	// add applies changes; b is only read.
	add(b *batch.Batch) error
	// lookup gives the rows with leading key columns of the given values, unpublished changes included.
	lookup(key []types.Datum, f func(*batch.Batch) error) error
	// publish ends an epoch and gives its snapshot: the one before where nothing has changed.
	publish(epoch uint64) contentSnapshot
	// freeze gives what a checkpoint must write, nil if there is nothing.
	freeze() *state.Section
	// drop empties the relation.
	drop()
	memBytes() int64
	// shrink has changes merged that are not on disk, if that may take them much less memory; it says whether that goes on.
	shrink() bool
}

// The hidden relations of a view have OIDs of their own, beyond those of the catalog.
const (
	lateOID catalog.OID = 1 << 29
	deadOID catalog.OID = 1 << 28
)

// chunkContents are append-only.
type chunkContents struct {
	c *state.Chunks
}

func (e *Engine) newChunks(oid catalog.OID, ts []types.Type) contents {
	return &chunkContents{e.store.Chunks(oid, ts)}
}

func (c *chunkContents) add(b *batch.Batch) error {
	if !b.InsertOnly() {
		return errors.New("a row was deleted from an append-only relation")
	}
	c.c.Append(b)
	return nil
}

func (c *chunkContents) lookup([]types.Datum, func(*batch.Batch) error) error {
	return errors.New("an append-only relation has no key")
}

func (c *chunkContents) publish(epoch uint64) contentSnapshot {
	c.c.Publish(epoch)
	return (*chunkSnapshot)(c.c.Snapshot())
}

func (c *chunkContents) freeze() *state.Section { return c.c.Freeze() }
func (c *chunkContents) drop()                  { c.c.DropContents() }
func (c *chunkContents) memBytes() int64        { return c.c.MemBytes() }
func (c *chunkContents) shrink() bool           { return false }

type chunkSnapshot state.ChunksSnapshot

func (s *chunkSnapshot) of() *state.ChunksSnapshot { return (*state.ChunksSnapshot)(s) }

func (s *chunkSnapshot) scan(ctx context.Context, f func(*batch.Batch) error) error {
	return s.of().Scan(func(b *batch.Batch) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(b)
	})
}

func (s *chunkSnapshot) scanColumns(ctx context.Context, want []bool, f func(*batch.Batch) error) error {
	return s.of().ScanColumns(want, func(b *batch.Batch) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(b)
	})
}

func (s *chunkSnapshot) lookup([]types.Datum, func(*batch.Batch) error) (bool, error) {
	return false, nil
}

func (s *chunkSnapshot) count() int64 { return s.of().Rows() }

// viewSnapshot is a view at one epoch: its contents and its hidden relations.
type viewSnapshot struct {
	contentSnapshot
	late, dead contentSnapshot
}

// rowContents are a multiset of rows in key order.
type rowContents struct {
	r *state.Rows
}

func (e *Engine) newRowContents(oid catalog.OID, ts []types.Type, key []int) *rowContents {
	return &rowContents{r: e.store.Rows(oid, ts, key)}
}

func (c *rowContents) add(b *batch.Batch) error {
	c.r.Apply(b)
	return nil
}

func (c *rowContents) lookup(key []types.Datum, f func(*batch.Batch) error) error {
	return c.r.Pending().Lookup(key, f)
}

func (c *rowContents) scan(ctx context.Context, f func(*batch.Batch) error) error {
	return scanRows(ctx, c.r.Pending(), f)
}

func (c *rowContents) publish(epoch uint64) contentSnapshot {
	c.r.Publish(epoch)
	return (*rowSnapshot)(c.r.Snapshot())
}

func (c *rowContents) freeze() *state.Section { return c.r.Freeze() }
func (c *rowContents) drop()                  { c.r.DropContents() }
func (c *rowContents) memBytes() int64        { return c.r.MemBytes() }
func (c *rowContents) shrink() bool           { return c.r.Shrink() }

type rowSnapshot state.RowsSnapshot

func (s *rowSnapshot) of() *state.RowsSnapshot { return (*state.RowsSnapshot)(s) }

func (s *rowSnapshot) scan(ctx context.Context, f func(*batch.Batch) error) error {
	return scanRows(ctx, s.of(), f)
}

func scanRows(ctx context.Context, s *state.RowsSnapshot, f func(*batch.Batch) error) error {
	return s.Scan(func(b *batch.Batch) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(b)
	})
}

func (s *rowSnapshot) lookup(key []types.Datum, f func(*batch.Batch) error) (bool, error) {
	if len(key) > len(s.of().Key()) {
		key = key[:len(s.of().Key())]
	}
	return true, s.of().Lookup(key, f)
}

func (s *rowSnapshot) count() int64 { return s.of().Rows() }
