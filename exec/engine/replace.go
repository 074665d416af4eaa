package engine

import (
	"context"
	"fmt"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// replaceView runs CREATE OR REPLACE MATERIALIZED VIEW: the new view is filled from history beside the old one, under a name
// of its own, and takes its place in one epoch.
func (s *sess) replaceView(ctx context.Context, old, rel *catalog.Relation) (session.Result, error) {
	const tag = "CREATE MATERIALIZED VIEW"
	if err := s.apart(ctx, "CREATE OR REPLACE MATERIALIZED VIEW"); err != nil {
		return nil, err
	}
	if err := s.writable(tag); err != nil {
		return nil, err
	}
	if err := undepended(s.catalog(), old, "replaced"); err != nil {
		return nil, err
	}
	name := rel.Name
	rel.Name = fmt.Sprintf("%s (replacement %d)", name, rel.OID)
	if err := s.e.submit(ctx, 0, func(b *epochBuild) error { return b.createView(rel) }); err != nil {
		return nil, err
	}
	err := s.e.waitReadable(ctx, rel.OID)
	if err == nil {
		err = s.e.submit(ctx, 0, func(b *epochBuild) error {
			r, now := b.cat.ByOID(rel.OID), b.cat.ByOID(old.OID)
			if r == nil || now == nil {
				return sqlerr.New(sqlerr.UndefinedTable, "materialized view \"%s\" was dropped meanwhile", name)
			}
			if err := undepended(b.cat, now, "replaced"); err != nil {
				return err
			}
			if err := b.apply(event{Kind: "drop", OID: old.OID}); err != nil {
				return err
			}
			c := *r
			c.Name = name
			return b.apply(event{Kind: "replace", Rel: &c})
		})
	}
	if err != nil {
		// The old view stays; the new one goes, whatever has become of the client.
		derr := s.e.submit(context.WithoutCancel(ctx), 0, func(b *epochBuild) error {
			if b.cat.ByOID(rel.OID) == nil {
				return nil
			}
			return b.apply(event{Kind: "drop", OID: rel.OID})
		})
		if derr != nil {
			s.e.log.Warn().Err(derr).Str("view", rel.Name).Msg("replacement could not be dropped")
		}
		return nil, err
	}
	made := *rel
	made.Name = name
	s.tellFailed(&made)
	return done(tag), nil
}

// keepsColumns is PostgreSQL's rule for CREATE OR REPLACE VIEW: the columns that are there must stay, new ones may follow.
func keepsColumns(old, rel *catalog.Relation) error {
	if len(rel.Columns) < len(old.Columns) {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot drop columns from view")
	}
	for i, c := range old.Columns {
		n := rel.Columns[i]
		if n.Name != c.Name {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change name of view column \"%s\" to \"%s\"", c.Name, n.Name).
				WithHint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.")
		}
		if n.Type != c.Type {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change data type of view column \"%s\" from %s to %s", c.Name, c.Type, n.Type)
		}
	}
	return nil
}

// createTableAs runs CREATE TABLE ... AS query: the table and its rows enter one epoch.
func (s *sess) createTableAs(ctx context.Context, x *ast.CreateRelation, schema string) (session.Result, error) {
	q, err := planner.PlanQuery(x.AsQuery, s.plannerOptions(s.catalog()))
	if err != nil {
		return nil, err
	}
	if len(q.Params) > 0 {
		return nil, sqlerr.Unsupported("parameters in CREATE TABLE AS are not supported")
	}
	if err := s.readable(ctx, q); err != nil {
		return nil, err
	}
	cols := q.Root.Props().Columns
	if len(x.Columns) > len(cols) {
		return nil, sqlerr.New(sqlerr.SyntaxError, "too many column names were specified")
	}
	rel := &catalog.Relation{OID: s.e.newOID(), Schema: schema, Name: x.Name.Name, Kind: catalog.Table, Options: map[string]string{}}
	for i, c := range cols {
		name := c.Name
		if i < len(x.Columns) {
			name = x.Columns[i].Name
		}
		t := c.Type
		if t.Kind == types.Unknown {
			t = types.Of(types.Text)
		}
		rel.Columns = append(rel.Columns, catalog.Column{Name: name, Type: t})
	}
	if err := duplicateColumns(rel); err != nil {
		return nil, err
	}
	rel.PrimaryKey, rel.HiddenKey = []int{len(rel.Columns)}, true
	rel.Columns = append(rel.Columns, catalog.Column{Name: planner.RowIDColumn, Type: types.Of(types.Int8), NotNull: true, Hidden: true})
	rows, err := s.tableRows(ctx, q, rel)
	if err != nil {
		return nil, err
	}
	n := rows.N
	create := func(b *epochBuild) error {
		r := *rel
		r.CreatedEpoch = b.n
		return b.apply(event{Kind: "create", Rel: &r})
	}
	if s.tx != nil {
		if _, err := s.change(ctx, "CREATE TABLE AS", func(c *catalog.Catalog) *catalog.Catalog { return c.With(rel) }, create); err != nil {
			return nil, err
		}
		return done(tagRows("SELECT", int64(n))), s.tx.stage(rel, rows)
	}
	if err := s.writable("CREATE TABLE AS"); err != nil {
		return nil, err
	}
	err = s.e.submit(ctx, n, func(b *epochBuild) error {
		if err := create(b); err != nil {
			return err
		}
		return b.stage(b.cat.ByOID(rel.OID), rows)
	})
	if err != nil {
		return nil, err
	}
	return done(tagRows("SELECT", int64(n))), nil
}

// tableRows runs a query and gives its rows in the shape of a table without a key.
func (s *sess) tableRows(ctx context.Context, q *plan.Query, rel *catalog.Relation) (*batch.Batch, error) {
	k := len(rel.Columns) - 1
	out := batch.New(rel.Types()[:k], 0)
	err := runQuery(ctx, q.Root, s.reader(), s.kernelEnv(), func(b *batch.Batch) error {
		out.AppendBatch(&batch.Batch{N: b.N, Cols: b.Cols[:k]}, nil)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.Cols = append(out.Cols, batch.NewVector(types.Of(types.Int8), 0))
	s.e.numberRows(rel, out)
	return out, nil
}
