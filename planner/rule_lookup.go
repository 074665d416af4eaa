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
			b.noteKey(s, c)
		}
		// Of columns that are not one value each, the one behind those that are.
		next := slices.IndexFunc(s.Rel.PrimaryKey, func(key int) bool { return !pinned(s, key) })
		other := func(col int) bool { return next < 0 || col != s.Rel.PrimaryKey[next] || s.Rel.IsAppendOnly() }
		s.Bounds = slices.DeleteFunc(s.Bounds, func(x plan.KeyBound) bool { return other(x.Col) })
		s.Any = slices.DeleteFunc(s.Any, func(x plan.KeyAny) bool { return other(x.Col) })
	})
	eachNode(n, func(m plan.Node) {
		if t, ok := m.(*plan.TopN); ok {
			t.Presorted, t.Ties = presorted(t, readers)
		}
	})
}

// noteKey notes a condition right above a scan that says what a column of a key is.
func (b *binder) noteKey(s *plan.Scan, cond plan.Expr) {
	column := func(e plan.Expr, other types.Type) (col int, ok bool) {
		k, isCol := e.(*plan.Col)
		if !isCol || k.Index >= len(s.Cols) {
			return 0, false
		}
		col = s.Cols[k.Index]
		t := s.Rel.Columns[col].Type
		return col, plan.SameKeys(k.Typ, t) && plan.SameKeys(other, t) && b.keyColumn(s.Rel, col)
	}
	switch x := cond.(type) {
	case *plan.Quantified:
		if x.All || x.Cmp.Name != "=" || !constExpr(x.Array) || volatileExpr(x.Array) {
			return
		}
		if col, ok := column(x.X, x.Array.Type().ElemType()); ok && keyOrdered(s.Rel.Columns[col].Type) {
			s.Any = append(s.Any, plan.KeyAny{Col: col, Array: x.Array})
		}
		return
	case *plan.InList:
		t := x.X.Type()
		if col, ok := column(x.X, t); ok && !x.Not && keyOrdered(s.Rel.Columns[col].Type) {
			array := types.Datum{B: types.AppendArray(nil, t, x.List)}
			s.Any = append(s.Any, plan.KeyAny{Col: col, Array: &plan.Const{Val: array, Typ: types.ArrayOf(t)}})
		}
		return
	}
	call, op := isOp(cond, "=", "<", "<=", ">", ">=")
	if call == nil {
		return
	}
	at, val := call.Args[0], call.Args[1]
	if _, isCol := at.(*plan.Col); !isCol {
		at, val = val, at
		if m, turns := mirrored[op]; turns {
			op = m
		}
	}
	if !constExpr(val) || volatileExpr(val) {
		return
	}
	col, ok := column(at, val.Type())
	if !ok {
		return
	}
	eq := plan.KeyEq{Col: col, Val: val}
	if op == "=" {
		s.Eq = append(s.Eq, eq)
	} else if keyOrdered(s.Rel.Columns[col].Type) {
		s.Bounds = append(s.Bounds, plan.KeyBound{KeyEq: eq, Op: op})
	}
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
// that of their arrival, or of the primary key behind columns that are one value each. ties says whether several rows may be alike in that order.
func presorted(t *plan.TopN, readers map[plan.Node]int) (ok, ties bool) {
	if len(t.PartitionBy) > 0 || len(t.Sort) == 0 || t.WithTies {
		return false, false
	}
	cols, desc := make([]int, len(t.Sort)), t.Sort[0].Desc
	for i, k := range t.Sort {
		c, ok := k.X.(*plan.Col)
		if !ok || k.Desc != desc || k.NullsFirst != desc {
			return false, false
		}
		cols[i] = c.Index
	}
	for n := t.Input; ; n = n.Inputs()[0] {
		if readers[n] > 1 {
			return false, false
		}
		switch x := n.(type) {
		case *plan.Filter:
		case *plan.Project:
			for i := range cols {
				c, ok := x.Exprs[cols[i]].(*plan.Col)
				if !ok {
					return false, false
				}
				cols[i] = c.Index
			}
		case *plan.Scan:
			if len(cols) == 1 && cols[0] == x.Position {
				return !desc, false
			}
			ok, ties = inKeyOrder(x, cols)
			x.Desc = ok && desc
			return ok, ties
		default:
			return false, false
		}
	}
}

// inKeyOrder says whether the order of the primary key of a scan's relation is one by the scan's columns cols, and whether several rows may be alike in it.
func inKeyOrder(s *plan.Scan, cols []int) (ok, ties bool) {
	if s.Rel.Kind != catalog.Table && s.Rel.Kind != catalog.MatView || s.Rel.IsAppendOnly() || len(s.Rel.PrimaryKey) == 0 { // such lie as they came
		return false, false
	}
	for _, key := range s.Rel.PrimaryKey {
		switch {
		case len(cols) > 0 && cols[0] < len(s.Cols) && s.Cols[cols[0]] == key:
			cols = cols[1:]
		case pinned(s, key):
		case len(cols) > 0:
			return false, false
		default:
			return true, true
		}
	}
	return true, false // behind a whole key there is nothing to sort
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
