package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state"
)

// uniqueKeys lists a table's keys: the primary key, unless it is the hidden row id, then its unique constraints.
func uniqueKeys(rel *catalog.Relation) [][]int {
	var out [][]int
	if !rel.HiddenKey && len(rel.PrimaryKey) > 0 {
		out = append(out, rel.PrimaryKey)
	}
	return append(out, rel.Unique...)
}

func sameKey(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for _, c := range a {
		if !slices.Contains(b, c) {
			return false
		}
	}
	return true
}

// keyValues gives a row's values in key columns; null says that one is NULL, so that the key conflicts with nothing.
func keyValues(b *batch.Batch, i int, key []int) (vals []types.Datum, null bool) {
	vals = make([]types.Datum, len(key))
	for k, c := range key {
		vals[k] = b.Cols[c].Datum(i)
		null = null || vals[k].Null
	}
	return vals, null
}

// encodeKey encodes key values so that equal keys have equal bytes.
func encodeKey(dst []byte, rel *catalog.Relation, key []int, vals []types.Datum) []byte {
	for k, d := range vals {
		dst = types.AppendKey(dst, rel.Columns[key[k]].Type, d, false, false)
	}
	return dst
}

// keyOf gives a row's primary key.
func keyOf(rel *catalog.Relation, b *batch.Batch, i int) []types.Datum {
	vals, _ := keyValues(b, i, rel.PrimaryKey)
	return vals
}

// appendKey encodes a primary key.
func appendKey(dst []byte, rel *catalog.Relation, key []types.Datum) []byte {
	return encodeKey(dst, rel, rel.PrimaryKey, key)
}

// keysFree tests that the rows' keys are neither in the table nor repeated among them; the error is the first such row's, as a
// *session.RowError.
func keysFree(w writer, rel *catalog.Relation, b *batch.Batch) error {
	keys := uniqueKeys(rel)
	seen := make([]map[string]bool, len(keys))
	for k := range keys {
		seen[k] = make(map[string]bool, b.N)
	}
	var buf []byte
	for i := 0; i < b.N; i++ {
		for k, key := range keys {
			vals, null := keyValues(b, i, key)
			if null {
				continue
			}
			buf = encodeKey(buf[:0], rel, key, vals)
			taken := seen[k][string(buf)]
			if !taken {
				err := w.lookup(rel, key, vals, func(got *batch.Batch) error {
					taken = taken || got.N > 0
					return nil
				})
				if err != nil {
					return err
				}
			}
			if taken {
				return &session.RowError{Row: int64(i), Err: duplicateKey(rel, key, vals)}
			}
			seen[k][string(buf)] = true
		}
	}
	return nil
}

// duplicateKey is PostgreSQL's 23505.
func duplicateKey(rel *catalog.Relation, key []int, vals []types.Datum) error {
	names, shown, constraint := "", "", ""
	for k, c := range key {
		if k > 0 {
			names, shown = names+", ", shown+", "
		}
		names += rel.Columns[c].Name
		shown += string(types.Append(nil, rel.Columns[c].Type, vals[k], types.DefaultEnv()))
	}
	for _, k := range rel.Keys() {
		if slices.Equal(key, k.Cols) {
			constraint = k.Name
			break
		}
	}
	e := sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint \"%s\"", constraint).
		WithDetail("Key (%s)=(%s) already exists.", names, shown)
	e.Schema, e.Table, e.Constraint = rel.Schema, rel.Name, constraint
	return e
}

// tableContents are a table's rows by primary key, and once more by each of its unique keys.
type tableContents struct {
	rel  *catalog.Relation
	rows *rowContents
	uniq []*rowContents
}

// indexStep is the distance between the OIDs of a table and of its unique keys' contents.
const indexStep catalog.OID = 1 << 24

// maxUnique is the number of unique constraints that a table may have, besides its primary key.
const maxUnique = 15

// newTable opens a table's contents.
func (e *Engine) newTable(rel *catalog.Relation) *tableContents {
	t := &tableContents{rel: rel, rows: &rowContents{r: e.store.Rows(rel.OID, rel.Types(), rel.PrimaryKey)}}
	t.rows.r.SetUnique()
	for k, key := range rel.Unique {
		t.uniq = append(t.uniq, &rowContents{r: e.store.Rows(rel.OID+indexStep*catalog.OID(k+1), rel.Types(), key)})
	}
	return t
}

func (t *tableContents) each(f func(*rowContents)) {
	f(t.rows)
	for _, u := range t.uniq {
		f(u)
	}
}

func (t *tableContents) add(b *batch.Batch) error {
	t.each(func(c *rowContents) { c.r.Apply(b) })
	return nil
}

// by gives the contents that are ordered by a key.
func (t *tableContents) by(key []int) *rowContents {
	for k, u := range t.rel.Unique {
		if slices.Equal(u, key) {
			return t.uniq[k]
		}
	}
	return t.rows
}

// lookup gives the rows with a key's values, unpublished changes included.
func (t *tableContents) lookup(key []int, vals []types.Datum, f func(*batch.Batch) error) error {
	return t.by(key).lookup(vals, f)
}

func (t *tableContents) scan(ctx context.Context, f func(*batch.Batch) error) error {
	return t.rows.scan(ctx, f)
}

// publish ends an epoch.
func (t *tableContents) publish(epoch uint64) contentSnapshot {
	s := &tableSnapshot{contentSnapshot: t.rows.publish(epoch), rel: t.rel}
	for _, u := range t.uniq {
		s.uniq = append(s.uniq, u.publish(epoch))
	}
	return s
}

func (t *tableContents) freeze() []*state.Section {
	var out []*state.Section
	t.each(func(c *rowContents) {
		if s := c.freeze(); s != nil {
			out = append(out, s)
		}
	})
	return out
}

func (t *tableContents) drop() { t.each(func(c *rowContents) { c.drop() }) }

// tableSnapshot is a table at one epoch.
type tableSnapshot struct {
	contentSnapshot
	rel  *catalog.Relation
	uniq []contentSnapshot
}

// lookupBy gives the rows with a key's values.
func (s *tableSnapshot) lookupBy(key []int, vals []types.Datum, f func(*batch.Batch) error) error {
	from := s.contentSnapshot
	for k, u := range s.rel.Unique {
		if slices.Equal(u, key) {
			from = s.uniq[k]
		}
	}
	_, err := from.lookup(vals, f)
	return err
}

// checkUnique bounds the constraints of a new table.
func checkUnique(rel *catalog.Relation) error {
	if len(rel.Unique) > maxUnique {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "a table cannot have more than %d unique constraints", maxUnique)
	}
	return nil
}
