package planner

import (
	"slices"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// lookups notes comparisons of a filter right above a scan of columns of the relation's keys, which a SELECT can use to
// find rows by key, and where the first rows are wanted in the order of a key.
func (b *binder) lookups(n plan.Node) {
	readers := map[plan.Node]int{}
	eachNode(n, func(m plan.Node) {
		if readers[m]++; readers[m] > 1 {
			return
		}
		f, ok := m.(*plan.Filter)
		if !ok {
			return
		}
		s, ok := f.Input.(*plan.Scan)
		if !ok || s.Rel.Kind != catalog.Table && s.Rel.Kind != catalog.MatView {
			return
		}
		for _, c := range conjuncts(f.Pred) {
			call, op := isOp(c, "=", "<", "<=", ">", ">=")
			if call == nil {
				continue
			}
			col, val := call.Args[0], call.Args[1]
			if _, isCol := col.(*plan.Col); !isCol {
				col, val = val, col
				if m, turns := mirrored[op]; turns {
					op = m
				}
			}
			k, isCol := col.(*plan.Col)
			if !isCol || !constExpr(val) || volatileExpr(val) || k.Index >= len(s.Cols) {
				continue
			}
			t := s.Rel.Columns[s.Cols[k.Index]].Type
			if !plan.SameKeys(k.Typ, t) || !plan.SameKeys(val.Type(), t) || !b.keyColumn(s.Rel, s.Cols[k.Index]) {
				continue
			}
			eq := plan.KeyEq{Col: s.Cols[k.Index], Val: val}
			if op == "=" {
				s.Eq = append(s.Eq, eq)
			} else if keyOrdered(t) {
				s.Bounds = append(s.Bounds, plan.KeyBound{KeyEq: eq, Op: op})
			}
		}
		next := slices.IndexFunc(s.Rel.PrimaryKey, func(key int) bool { return !pinned(s, key) })
		s.Bounds = slices.DeleteFunc(s.Bounds, func(x plan.KeyBound) bool { return next < 0 || x.Col != s.Rel.PrimaryKey[next] })
	})
	eachNode(n, func(m plan.Node) {
		if t, ok := m.(*plan.TopN); ok {
			t.Presorted = presorted(t, readers)
		}
	})
}

// pinned says whether a column of a scan's relation is one value.
func pinned(s *plan.Scan, col int) bool {
	return slices.ContainsFunc(s.Eq, func(eq plan.KeyEq) bool { return eq.Col == col })
}

// keyOrdered says whether keys of a type have the order of its comparison operators.
func keyOrdered(t types.Type) bool {
	switch t.Kind {
	case types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric, types.Text, types.Varchar, types.Date, types.Timestamp, types.TimestampTZ:
		return true
	}
	return false
}

// presorted says whether a TopN has its rows, through filters and projections, from a scan that nobody else reads, and in the order in which it wants them:
// that of their arrival, or of the primary key behind columns that are one value each.
func presorted(t *plan.TopN, readers map[plan.Node]int) bool {
	if len(t.PartitionBy) > 0 || len(t.Sort) == 0 || t.WithTies {
		return false
	}
	cols := make([]int, len(t.Sort))
	for i, k := range t.Sort {
		c, ok := k.X.(*plan.Col)
		if !ok || k.Desc || k.NullsFirst {
			return false
		}
		cols[i] = c.Index
	}
	for n := t.Input; ; n = n.Inputs()[0] {
		if readers[n] > 1 {
			return false
		}
		switch x := n.(type) {
		case *plan.Filter:
		case *plan.Project:
			for i := range cols {
				c, ok := x.Exprs[cols[i]].(*plan.Col)
				if !ok {
					return false
				}
				cols[i] = c.Index
			}
		case *plan.Scan:
			return len(cols) == 1 && cols[0] == x.Position || inKeyOrder(x, cols)
		default:
			return false
		}
	}
}

// inKeyOrder says whether the order of the primary key of a scan's relation is one by the scan's columns cols.
func inKeyOrder(s *plan.Scan, cols []int) bool {
	if s.Rel.Kind != catalog.Table && s.Rel.Kind != catalog.MatView || len(s.Rel.PrimaryKey) == 0 {
		return false
	}
	for _, key := range s.Rel.PrimaryKey {
		switch {
		case len(cols) == 0:
			return true
		case cols[0] < len(s.Cols) && s.Cols[cols[0]] == key:
			cols = cols[1:]
		case !pinned(s, key):
			return false
		}
	}
	return true // behind a whole key there is nothing to sort
}

// keyColumn says whether a column is part of a key or an index of a relation.
func (b *binder) keyColumn(r *catalog.Relation, col int) bool {
	in := func(cols []int) bool {
		for _, c := range cols {
			if c == col {
				return true
			}
		}
		return false
	}
	if in(r.PrimaryKey) {
		return true
	}
	for _, u := range r.Unique {
		if in(u) {
			return true
		}
	}
	for _, d := range b.o.Catalog.Dependents(r.OID) {
		if d.Kind == catalog.Index && in(d.IndexCols) {
			return true
		}
	}
	return false
}
