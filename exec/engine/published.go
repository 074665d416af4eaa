package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state"
)

// contentSnapshot is a relation's contents at one epoch. Any goroutine may read it, any number of times.
type contentSnapshot interface {
	// scan gives all rows; batches are valid during the call of f.
	scan(ctx context.Context, f func(*batch.Batch) error) error
	// lookup gives the rows whose leading key columns have the given values; ok is false where there is no such index.
	lookup(key []types.Datum, f func(*batch.Batch) error) (ok bool, err error)
	// count gives the number of rows, -1 if it isn't known.
	count() int64
}

// streamSnapshot reads a stream's history from the log, up to an epoch.
type streamSnapshot struct {
	e     *Engine
	rel   *catalog.Relation
	epoch uint64
}

func (s *streamSnapshot) scan(ctx context.Context, f func(*batch.Batch) error) error {
	if !keepsRows(s.rel) {
		return s.scanAgain(ctx, f)
	}
	return s.scanLog(s.e.store.ScanStream, ctx, f)
}

func (s *streamSnapshot) scanColumns(ctx context.Context, want []bool, f func(*batch.Batch) error) error {
	if !keepsRows(s.rel) {
		return s.scanAgain(ctx, f)
	}
	return s.scanLog(func(oid catalog.OID, from, to uint64, f func(uint64, *batch.Batch) error) error {
		return s.e.store.ScanStreamColumns(oid, from, to, want, f)
	}, ctx, f)
}

// scanLog reads the log with one of the store's functions.
func (s *streamSnapshot) scanLog(scan func(oid catalog.OID, from, to uint64, f func(uint64, *batch.Batch) error) error, ctx context.Context, f func(*batch.Batch) error) error {
	err := scan(s.rel.OID, 0, s.epoch, func(_ uint64, b *batch.Batch) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(pad(s.rel, b))
	})
	if _, gone := s.e.trimmed.Load(s.rel.OID); gone && err == nil {
		err = sqlerr.New(sqlerr.NotInPrerequisiteState, "stream \"%s\" was dropped since this transaction began, and its rows are gone", s.rel.Name)
	}
	return err
}

func (s *streamSnapshot) lookup([]types.Datum, func(*batch.Batch) error) (bool, error) {
	return false, nil
}

func (s *streamSnapshot) count() int64 { return -1 }

// scan gives a source's rows at this epoch.
func (p *published) scan(ctx context.Context, e *Engine, src *dataflow.Source, f func(*batch.Batch) error) error {
	if src.Rel.Kind == catalog.System {
		return sqlerr.New(sqlerr.InternalError, "internal error: system relation \"%s\" read without a session", src.Rel.Name)
	}
	snap := p.contents(src.Rel.OID)
	if snap == nil {
		if src.Rel.Kind == catalog.MatView {
			return sqlerr.New(sqlerr.NotInPrerequisiteState, "materialized view \"%s\" is still being filled", src.Rel.Name).
				WithHint("tidemark.backfills shows how far it is.")
		}
		return nil // created in the reader's own block: nothing yet
	}
	index := 0
	give := func(b *batch.Batch) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := f(sourceBatch(src, b, 0, index))
		index += b.N
		return err
	}
	key, none := lookupKey(src)
	if none {
		return nil
	}
	if err := scanContents(ctx, snap, src, key, untilEnough(src, give)); !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

// scanContents gives the rows that have values of leading key columns, and that the plan wants, as far as the contents can tell.
func scanContents(ctx context.Context, snap contentSnapshot, src *dataflow.Source, key []types.Datum, f func(*batch.Batch) error) error {
	if rows := rowsOf(snap); rows != nil {
		s, isScan := src.Tag.(*plan.Scan)
		desc := isScan && s.Desc
		if vals, ok := lookupAny(src, len(key)); ok {
			return lookupEach(ctx, rows, key, vals, desc, f)
		}
		lo, hi := lookupRange(src, len(key))
		return rows.LookupRange(key, lo, hi, desc, f)
	}
	if key != nil {
		if ok, err := snap.lookup(key, f); ok || err != nil {
			return err
		}
	}
	return scanColumns(ctx, snap, src.Cols, f)
}

// lookupEach gives the rows that have values of leading key columns and one of vals, which are in order, in the next one.
func lookupEach(ctx context.Context, rows *state.RowsSnapshot, key, vals []types.Datum, desc bool, f func(*batch.Batch) error) error {
	const few, scanned = 64, 8 // values that are looked up anyway; rows that are read in the time that a lookup takes
	if n := len(vals); n > few && int64(n) > rows.Rows()/scanned {
		return rows.LookupRange(key, &state.Bound{Value: vals[0], Inclusive: true}, &state.Bound{Value: vals[n-1], Inclusive: true}, desc, f)
	}
	if desc {
		slices.Reverse(vals)
	}
	// What comes behind costs by batch as well as by row.
	found, most := batch.New(rows.Types(), min(len(vals), few)), few
	give := func() error {
		if found.N == 0 {
			return nil
		}
		err := f(found)
		found.Reset()
		most = min(4*most, batch.Target)
		return err
	}
	for i, val := range vals {
		if i%few == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		err := rows.LookupRange(append(key[:len(key):len(key)], val), nil, nil, desc, func(b *batch.Batch) error {
			found.AppendBatch(b, nil)
			if found.N < most {
				return nil
			}
			return give()
		})
		if err != nil {
			return err
		}
	}
	return give()
}

// rowsOf gives contents that are in the order of a key, nil if these are not.
func rowsOf(c contentSnapshot) *state.RowsSnapshot {
	switch s := c.(type) {
	case *viewSnapshot:
		return rowsOf(s.contentSnapshot)
	case *tableSnapshot:
		return rowsOf(s.contentSnapshot)
	case *rowSnapshot:
		return s.of()
	}
	return nil
}

// untilEnough makes of f what gives errEnough once the source has enough.
func untilEnough(src *dataflow.Source, f func(*batch.Batch) error) func(*batch.Batch) error {
	if src.Enough == nil {
		return f
	}
	return func(b *batch.Batch) error {
		if err := f(b); err != nil {
			return err
		}
		if src.Enough() {
			return errEnough
		}
		return nil
	}
}

// errEnough ends a scan whose further rows nobody wants.
var errEnough = errors.New("enough")

// lookupAny gives the values that the plan leaves to the key column behind so many that are pinned, in their order.
func lookupAny(src *dataflow.Source, pinned int) (vals []types.Datum, ok bool) {
	s, isScan := src.Tag.(*plan.Scan)
	if !isScan || pinned == len(src.Rel.PrimaryKey) {
		return nil, false
	}
	col := src.Rel.PrimaryKey[pinned]
	for _, a := range s.Any {
		if a.Col != col {
			continue
		}
		if vals, ok = a.Keys(src.Rel.Columns[col].Type); ok {
			return vals, true
		}
	}
	return nil, false
}

// lookupRange gives the bounds that the plan sets to the key column behind so many that are pinned; nil: none.
func lookupRange(src *dataflow.Source, pinned int) (lo, hi *state.Bound) {
	s, ok := src.Tag.(*plan.Scan)
	if !ok || len(s.Bounds) == 0 || pinned == len(src.Rel.PrimaryKey) {
		return nil, nil
	}
	col := src.Rel.PrimaryKey[pinned]
	for _, b := range s.Bounds {
		if b.Col != col {
			continue
		}
		// A value that the column's type does not have, or NULL, is left to the filter.
		val, none, ok := b.Key(src.Rel.Columns[col].Type)
		if none || !ok {
			continue
		}
		switch x := (&state.Bound{Value: val, Inclusive: len(b.Op) == 2}); {
		case b.Op[0] == '>' && lo == nil:
			lo = x
		case b.Op[0] == '<' && hi == nil:
			hi = x
		}
	}
	return lo, hi
}

// columnSnapshot is implemented by contents that are kept by column.
type columnSnapshot interface {
	// scanColumns is scan with the columns that want names by index; the others may be nil.
	scanColumns(ctx context.Context, want []bool, f func(*batch.Batch) error) error
}

// scanColumns gives all rows of a snapshot, where it is worth it with the given columns only; the others may be nil.
func scanColumns(ctx context.Context, snap contentSnapshot, cols []int, f func(*batch.Batch) error) error {
	if v, ok := snap.(*viewSnapshot); ok {
		snap = v.contentSnapshot
	}
	c, ok := snap.(columnSnapshot)
	if !ok {
		return snap.scan(ctx, f)
	}
	return c.scanColumns(ctx, wanted(cols), f)
}

// wanted names columns by index.
func wanted(cols []int) []bool {
	want := make([]bool, 0, 16)
	for _, i := range cols {
		for i >= len(want) {
			want = append(want, false)
		}
		want[i] = true
	}
	return want
}

// lookupKey gives the values of the leading key columns that the plan pins to constants, nil if there are none. none says that no row
// has such values.
func lookupKey(src *dataflow.Source) (key []types.Datum, none bool) {
	s, ok := src.Tag.(*plan.Scan)
	if !ok || len(s.Eq) == 0 {
		return nil, false
	}
	for _, col := range src.Rel.PrimaryKey {
		found := false
		for _, eq := range s.Eq {
			if eq.Col != col {
				continue
			}
			if val, none, ok := eq.Key(src.Rel.Columns[col].Type); ok {
				if none {
					return nil, true
				}
				key, found = append(key, val), true
				break
			}
		}
		if !found {
			break
		}
	}
	return key, false
}

// eventMicros gives an event time in microseconds; infinite times do not count.
func eventMicros(t types.Type, v int64) (int64, bool) {
	const inf, ninf = int64(^uint64(0) >> 1), -int64(^uint64(0)>>1) - 1
	if v == inf || v == ninf {
		return 0, false
	}
	if t.Kind == types.Date {
		const day = 86400 * 1000 * 1000
		if v > inf/day || v < ninf/day {
			return 0, false
		}
		return v * day, true
	}
	return v, true
}
