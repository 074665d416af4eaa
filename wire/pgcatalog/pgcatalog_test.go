package pgcatalog

import (
	"testing"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestEveryRelation fills every relation over a small catalog: a column that a function names must exist, and columns must be of one length.
func TestEveryRelation(t *testing.T) {
	cat := catalog.New()
	cat = cat.With(&catalog.Relation{Schema: "public", Name: "s", Kind: catalog.Stream, Columns: []catalog.Column{{Name: "ts", Type: types.Of(types.Timestamp)}}})
	cat = cat.With(&catalog.Relation{Schema: "public", Name: "t", Kind: catalog.Table, PrimaryKey: []int{0}, Unique: [][]int{{1, 0}}, Comment: "c",
		Checks:  []catalog.Check{{Name: "t_check", Expr: "k > 0"}},
		Columns: []catalog.Column{{Name: "k", Type: types.Of(types.Int4), NotNull: true, Default: "1"}, {Name: "v", Type: types.Type{Kind: types.Varchar, Mod: 14}}}})
	cat = cat.With(&catalog.Relation{Schema: "public", Name: "v", Kind: catalog.View, SQL: "SELECT 1"})
	cat = cat.With(&catalog.Relation{Schema: "public", Name: "m", Kind: catalog.MatView, SQL: "SELECT 1"})
	rels := Relations()
	for _, r := range rels {
		cat = cat.With(r.Rel)
	}
	c := &session.SystemContext{Catalog: cat, User: "u", Database: "d", Settings: func() []session.Setting { return []session.Setting{{Name: "a", Value: "b"}} },
		Default: func(r *catalog.Relation, i int) string { return r.Columns[i].Default }, Check: func(r *catalog.Relation, i int) (string, []int) { return r.Checks[i].Expr, []int{0} },
		IndexDef: func(catalog.OID) string { return "CREATE INDEX" },
		Sessions: func() []session.Activity { return []session.Activity{{ProcessID: 1}} }}
	want := map[string]int{"pg_attribute": 1, "pg_class": 6, "pg_type": 60, "pg_index": 2, "pg_constraint": 3, "columns": 3, "key_column_usage": 3, "pg_proc": 500}
	for _, r := range rels {
		b, err := r.Rows(c)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range b.Cols {
			if v.N != b.N {
				t.Errorf("%s.%s has %d values of %d", r.Rel.Name, r.Rel.Columns[i].Name, v.N, b.N)
			}
		}
		if b.N < want[r.Rel.Name] {
			t.Errorf("%s has %d rows, want at least %d", r.Rel.Name, b.N, want[r.Rel.Name])
		}
	}
}
