// Package pgcatalog gives PostgreSQL's system catalogs, pg_catalog and information_schema, over Tidemark's own catalog, so
// that psql's \d family, drivers and tools find what they ask for: streams and tables are relkind 'r', views 'v', materialized
// views 'm', and OIDs are stable.
//
// relations.txt lists the relations of PostgreSQL 15 with OID, kind (r or v) and columns (! for NOT NULL); those without a function in
// rowsOf are empty here. Each has the hidden column tableoid.
package pgcatalog

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

//go:embed relations.txt
var relationList string

// Relations gives every relation of pg_catalog and information_schema. The result is the caller's; it may be called from any goroutine.
func Relations() []session.SystemRelation {
	var out []session.SystemRelation
	for line := range strings.Lines(relationList) {
		rel, err := parseRelation(strings.TrimSpace(line))
		if err != nil {
			panic(err) // the list is part of the program
		}
		fill := rowsOf[rel.Name]
		out = append(out, session.SystemRelation{Rel: rel, Rows: func(c *session.SystemContext) (*batch.Batch, error) {
			t := newRows(rel)
			if fill != nil {
				fill(c, t)
			}
			return t.b, nil
		}})
	}
	return out
}

// systemViews are the relations that are views in PostgreSQL.
var systemViews = func() map[catalog.OID]bool {
	m := map[catalog.OID]bool{}
	for line := range strings.Lines(relationList) {
		if parts := strings.Fields(line); parts[2] == "v" {
			oid, _ := strconv.ParseUint(parts[0], 10, 32) // parseRelation reports an error
			m[catalog.OID(oid)] = true
		}
	}
	return m
}()

// parseRelation reads a line "oid schema.name kind column:type!,column:type".
func parseRelation(line string) (*catalog.Relation, error) {
	parts := strings.Fields(line)
	if len(parts) != 4 {
		return nil, fmt.Errorf("pgcatalog: bad line %q", line)
	}
	oid, err := strconv.ParseUint(parts[0], 10, 32)
	if err != nil {
		return nil, fmt.Errorf("pgcatalog: bad OID in %q", line)
	}
	schema, name, _ := strings.Cut(parts[1], ".")
	r := &catalog.Relation{OID: catalog.OID(oid), Schema: schema, Name: name, Kind: catalog.System}
	for _, c := range strings.Split(parts[3], ",") {
		cn, tn, _ := strings.Cut(c, ":")
		tn, notNull := strings.CutSuffix(tn, "!")
		t, err := columnType(tn)
		if err != nil {
			return nil, err
		}
		r.Columns = append(r.Columns, catalog.Column{Name: cn, Type: t, NotNull: notNull})
	}
	if parts[2] == "r" {
		r.Columns = append(r.Columns, catalog.Column{Name: "tableoid", Type: types.Of(types.OID), Hidden: true})
	}
	return r, nil
}

func columnType(name string) (types.Type, error) {
	switch name {
	case "char":
		return types.Of(types.Char), nil
	case "_char":
		return types.ArrayOf(types.Of(types.Text)), nil
	}
	if elem, ok := strings.CutPrefix(name, "_"); ok {
		t, err := columnType(elem)
		return types.ArrayOf(t), err
	}
	t, ok := types.ByName(name)
	if !ok {
		return t, fmt.Errorf("pgcatalog: unknown type %q", name)
	}
	return t, nil
}

// rows builds the rows of a relation. A column that is not given is 0, false or the empty name, or NULL where it is of another type
// or may be NULL in a catalog.
type rows struct {
	b     *batch.Batch
	index map[string]int
	zero  []types.Datum
}

func newRows(rel *catalog.Relation) *rows {
	t := &rows{b: batch.New(rel.Types(), 0), index: map[string]int{}}
	for i, c := range rel.Columns {
		t.index[c.Name] = i
		z := types.NullDatum
		if c.Name == "tableoid" && c.Hidden {
			t.zero = append(t.zero, types.IntDatum(int64(rel.OID)))
			continue
		}
		switch c.Type.Kind {
		case types.Bool, types.Int2, types.Int4, types.Int8, types.OID, types.Regproc, types.Char, types.Float4:
			z = types.Datum{}
		case types.Name:
			z = types.StringDatum("")
		}
		if !c.NotNull && !(systemViews[rel.OID] && rel.Schema == "pg_catalog") {
			z = types.NullDatum
		}
		t.zero = append(t.zero, z)
	}
	return t
}

// row maps column names to values: int (also for oid), string, []string, bool, []int (int2vector, oidvector, int2[], oid[]), or nil for NULL.
type row map[string]any

func (t *rows) add(r row) {
	for name, i := range t.index {
		v := t.b.Cols[i]
		x, ok := r[name]
		if !ok {
			v.AppendDatum(t.zero[i])
			continue
		}
		v.AppendDatum(datum(v.Type, x))
	}
	t.b.EndRow(1)
	for name := range r {
		if _, ok := t.index[name]; !ok {
			panic("pgcatalog: no column " + name)
		}
	}
}

func datum(t types.Type, x any) types.Datum {
	switch x := x.(type) {
	case nil:
		return types.NullDatum
	case int:
		return number(t, int64(x))
	case catalog.OID:
		return types.IntDatum(int64(x))
	case int64:
		return number(t, x)
	case bool:
		return types.BoolDatum(x)
	case string:
		if t.Kind == types.Char {
			if x == "" {
				return types.IntDatum(0)
			}
			return types.IntDatum(int64(x[0]))
		}
		return types.StringDatum(x)
	case []int:
		elems := make([]types.Datum, len(x))
		for i, n := range x {
			elems[i] = types.IntDatum(int64(n))
		}
		if t.Kind == types.Int2Vector {
			return types.Datum{B: types.AppendVector(nil, t.ElemType(), elems)}
		}
		return types.Datum{B: types.AppendArray(nil, t.ElemType(), elems)}
	case []string:
		elems := make([]types.Datum, len(x))
		for i, s := range x {
			elems[i] = types.StringDatum(s)
		}
		return types.Datum{B: types.AppendArray(nil, t.ElemType(), elems)}
	}
	panic(fmt.Sprintf("pgcatalog: value of type %T", x))
}

func number(t types.Type, n int64) types.Datum {
	if t.Layout() == types.LayoutF64 {
		return types.FloatDatum(float64(n))
	}
	return types.IntDatum(n)
}
