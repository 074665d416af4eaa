package planner

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// lookups notes equalities of a filter right above a scan on columns of the relation's keys, which a SELECT can use to
// find rows by key.
func (b *binder) lookups(n plan.Node) {
	eachNode(n, func(m plan.Node) {
		f, ok := m.(*plan.Filter)
		if !ok {
			return
		}
		s, ok := f.Input.(*plan.Scan)
		if !ok || s.Rel.Kind != catalog.Table && s.Rel.Kind != catalog.MatView {
			return
		}
		for _, c := range conjuncts(f.Pred) {
			eq, _ := isOp(c, "=")
			if eq == nil {
				continue
			}
			col, val := eq.Args[0], eq.Args[1]
			if _, isCol := col.(*plan.Col); !isCol {
				col, val = val, col
			}
			k, isCol := col.(*plan.Col)
			if !isCol || !constExpr(val) || volatileExpr(val) || k.Index >= len(s.Cols) {
				continue
			}
			t := s.Rel.Columns[s.Cols[k.Index]].Type
			if !plan.SameKeys(k.Typ, t) || !plan.SameKeys(val.Type(), t) || !b.keyColumn(s.Rel, s.Cols[k.Index]) {
				continue
			}
			s.Eq = append(s.Eq, plan.KeyEq{Col: s.Cols[k.Index], Val: val})
		}
	})
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
