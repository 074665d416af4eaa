package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// alter runs ALTER STREAM, TABLE, VIEW and MATERIALIZED VIEW.
func (s *sess) alter(ctx context.Context, x *ast.Alter) (session.Result, error) {
	tag := commandTag(x)
	kind, ok := dropKinds[x.Kind]
	if !ok {
		return nil, sqlerr.Unsupported("%s is not supported", tag).At(int(x.At))
	}
	runs := x.Action == "pause" || x.Action == "resume" || x.Action == "rebuild"
	if runs {
		if err := s.apart(ctx, tag+" ... "+strings.ToUpper(x.Action)); err != nil {
			return nil, err
		}
	}
	rel, err := s.catalog().Lookup(x.Name.Schema, x.Name.Name, s.set.searchPath(s.p.User))
	if err != nil {
		if x.IfExists {
			s.notice(sqlerr.Notice("relation \"%s\" does not exist, skipping", x.Name.Name))
			return done(tag), nil
		}
		return nil, sqlerr.From(err).At(int(x.Name.Pos))
	}
	if rel.Kind == catalog.System {
		return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied: \"%s\" is a system catalog", rel.Name)
	}
	// PostgreSQL lets ALTER TABLE rename any kind of relation.
	if s.kindOf(rel) != kind && !(kind == catalog.Table && strings.HasPrefix(x.Action, "rename")) {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a %s", rel.Name, x.Kind).At(int(x.Name.Pos))
	}
	if x.Action == "owner to" {
		return done(tag), nil
	}
	if runs {
		return s.alterRun(ctx, rel, x)
	}
	if err := alterFed(rel, x); err != nil {
		return nil, err
	}
	change, err := s.alteration(rel, x)
	if err != nil {
		return nil, err
	}
	local := func(c *catalog.Catalog) *catalog.Catalog {
		r := *rel
		if err := change(c, &r); err != nil {
			return c
		}
		return c.With(&r)
	}
	if s.tx != nil { // what fails at COMMIT for a reason that is known now should fail now
		r := *rel
		if err := change(s.catalog(), &r); err != nil {
			return nil, err
		}
	}
	return s.change(ctx, tag, local, func(b *epochBuild) error {
		old := b.cat.ByOID(rel.OID)
		if old == nil {
			return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", rel.Name)
		}
		r := *old
		if err := change(b.cat, &r); err != nil {
			return err
		}
		if r.Watermark != old.Watermark {
			r.Watermark = old.Watermark.Altered(r.Watermark, b.n)
		}
		return b.apply(event{Kind: "replace", Rel: &r})
	})
}

// alteration gives the function that changes a relation's description; it is run against the catalog of the moment.
func (s *sess) alteration(rel *catalog.Relation, x *ast.Alter) (func(*catalog.Catalog, *catalog.Relation) error, error) {
	o := s.plannerOptions(s.catalog())
	switch x.Action {
	case "rename to":
		return func(c *catalog.Catalog, r *catalog.Relation) error {
			if c.Relation(r.Schema, x.NewName) != nil {
				return duplicateRelation(x.NewName)
			}
			if err := undepended(c, r, "renamed"); err != nil {
				return err
			}
			r.Name = x.NewName
			return nil
		}, nil
	case "set", "reset":
		return s.alterOptions(rel, x)
	case "rename column":
		return func(c *catalog.Catalog, r *catalog.Relation) error { return renameColumn(c, r, x.OldName, x.NewName) }, nil
	case "add column":
		col, err := planner.BindColumn(*x.Column, o)
		if err != nil {
			return nil, err
		}
		if col.Default != "" {
			if col.Missing, err = s.missingValue(rel, col); err != nil {
				return nil, err
			}
		}
		return func(_ *catalog.Catalog, r *catalog.Relation) error { return addColumn(r, col) }, nil
	case "set watermark":
		w, err := planner.BindWatermark(x.Watermark, rel.Columns, o)
		if err != nil {
			return nil, err
		}
		return func(_ *catalog.Catalog, r *catalog.Relation) error {
			if r.Kind != catalog.Stream || r.Watermark == nil {
				return sqlerr.Unsupported("a watermark can only be changed on a stream that was created with one").
					WithHint("State and late rows of the views on it depend on it.")
			}
			if r.Watermark.Column != w.Column {
				return sqlerr.Unsupported("the column of a watermark cannot be changed")
			}
			r.Watermark = w
			return nil
		}, nil
	case "set default", "drop default":
		return func(_ *catalog.Catalog, r *catalog.Relation) error {
			name, text := x.OldName, ""
			if x.Action == "set default" {
				name, text = x.Column.Name, x.Column.DefaultSQL
			}
			return editColumn(r, name, func(c *catalog.Column) { c.Default = text })
		}, nil
	case "drop not null":
		return func(_ *catalog.Catalog, r *catalog.Relation) error {
			return editColumn(r, x.OldName, func(c *catalog.Column) { c.NotNull = false })
		}, nil
	}
	return nil, sqlerr.Unsupported("ALTER %s ... %s is not supported", strings.ToUpper(x.Kind), strings.ToUpper(x.Action)).At(int(x.At))
}

// undepended refuses a change of what the stored texts of views name.
func undepended(c *catalog.Catalog, r *catalog.Relation, what string) error {
	deps := c.Dependents(r.OID)
	if len(deps) == 0 {
		return nil
	}
	return sqlerr.Unsupported("%s cannot be %s: other objects depend on it", describeObject(r), what).
		WithDetail("%s depends on it.", describeObject(deps[0])).WithHint("Drop what depends on it, and create it again afterwards.")
}

func renameColumn(c *catalog.Catalog, r *catalog.Relation, from, to string) error {
	if r.Kind == catalog.View || r.Kind == catalog.MatView {
		return sqlerr.Unsupported("columns of a %s cannot be renamed", r.Kind)
	}
	if err := undepended(c, r, "changed"); err != nil {
		return err
	}
	if r.ColumnIndex(to) >= 0 {
		return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists", to, r.Name)
	}
	if len(r.Checks) > 0 {
		return sqlerr.Unsupported("columns of a table with CHECK constraints cannot be renamed")
	}
	return editColumn(r, from, func(c *catalog.Column) { c.Name = to })
}

// editColumn changes one column of a copy of the relation's columns.
func editColumn(r *catalog.Relation, name string, edit func(*catalog.Column)) error {
	i := r.ColumnIndex(name)
	if i < 0 || r.Columns[i].Hidden {
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, r.Name)
	}
	r.Columns = append([]catalog.Column(nil), r.Columns...)
	edit(&r.Columns[i])
	return nil
}

// addColumn appends a column to a stream. Rows that are there already have its default, or NULL.
func addColumn(r *catalog.Relation, col catalog.Column) error {
	if r.Kind != catalog.Stream {
		return sqlerr.Unsupported("ADD COLUMN is supported on streams only").At(0)
	}
	if r.ColumnIndex(col.Name) >= 0 {
		return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists", col.Name, r.Name)
	}
	if col.NotNull && col.Default == "" {
		return sqlerr.New(sqlerr.NotNullViolation, "column \"%s\" of relation \"%s\" contains null values", col.Name, r.Name)
	}
	r.Columns = append(append([]catalog.Column(nil), r.Columns...), col)
	return nil
}

// missingValue evaluates the default of a new column, once: it is what older rows show.
func (s *sess) missingValue(rel *catalog.Relation, col catalog.Column) (*string, error) {
	r := &catalog.Relation{OID: rel.OID, Schema: rel.Schema, Name: rel.Name, Kind: catalog.Stream, Columns: []catalog.Column{col}}
	o := s.plannerOptions(s.catalog().With(r))
	p, err := planner.PlanInsert(&ast.Insert{Table: ast.Name{Schema: rel.Schema, Name: rel.Name}}, o)
	if err != nil {
		return nil, err
	}
	rows := p.Rows
	if err := fillColumns(rows, p.Fill, nil, s.kernelEnv()); err != nil {
		return nil, err
	}
	d := rows.Cols[0].Datum(0)
	if d.Null {
		return nil, nil
	}
	text := string(types.Append(nil, col.Type, d, types.DefaultEnv()))
	return &text, nil
}

// pad gives a stream's stored rows the columns that were added after them.
func pad(rel *catalog.Relation, b *batch.Batch) *batch.Batch {
	if len(b.Cols) >= len(rel.Columns) {
		return b
	}
	out := &batch.Batch{N: b.N, Weights: b.Weights, Cols: append([]*batch.Vector(nil), b.Cols...)}
	for _, c := range rel.Columns[len(b.Cols):] {
		d := types.NullDatum
		if c.Missing != nil {
			if v, err := types.Parse(c.Type, *c.Missing, types.DefaultEnv()); err == nil {
				d = v
			}
		}
		out.Cols = append(out.Cols, batch.Constant(c.Type, d, b.N))
	}
	return out
}

// alterRun pauses, resumes or rebuilds a materialized view.
func (s *sess) alterRun(ctx context.Context, rel *catalog.Relation, x *ast.Alter) (session.Result, error) {
	tag := commandTag(x)
	if rel.Kind != catalog.MatView {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a materialized view", rel.Name)
	}
	var notices []*sqlerr.Error
	filled := x.Action != "pause"
	err := s.e.submit(ctx, 0, func(b *epochBuild) error {
		r := b.cat.ByOID(rel.OID)
		if r == nil {
			return sqlerr.New(sqlerr.UndefinedTable, "materialized view \"%s\" does not exist", rel.Name)
		}
		all, _ := closure(b.cat, []catalog.OID{r.OID})
		notices = b.e.refillNotices(all)
		switch x.Action {
		case "pause":
			return b.pause(r)
		case "resume":
			if r.Options[pausedOption] == "" && b.e.statusOf(r.OID) == viewRunning {
				notices, filled = nil, false
				return nil
			}
		}
		if in := b.stoppedBeneath(r.OID); in != nil {
			return sqlerr.New(sqlerr.NotInPrerequisiteState, "materialized view \"%s\", on which \"%s\" is built, is not running", in.Name, r.Name).
				WithHint("ALTER MATERIALIZED VIEW %s RESUME brings it back with what is built on it.", in.Name)
		}
		return b.rebuild(r)
	})
	if err != nil {
		return nil, err
	}
	for _, n := range notices {
		s.notice(n)
	}
	if filled {
		s.tellRefilled(rel.Schema, rel.Name)
	}
	return done(tag), nil
}

// stoppedBeneath finds a view that has stopped among those on which a view is built, nil if there is none.
func (b *epochBuild) stoppedBeneath(oid catalog.OID) *catalog.Relation {
	r := b.cat.ByOID(oid)
	if r == nil {
		return nil
	}
	for _, on := range r.DependsOn {
		if st := b.e.statusOf(on); st == viewFailed || st == viewPaused {
			if in := b.stoppedBeneath(on); in != nil {
				return in
			}
			return b.cat.ByOID(on)
		}
		if in := b.stoppedBeneath(on); in != nil {
			return in
		}
	}
	return nil
}

// pausedOption marks a view that ALTER ... PAUSE stopped; it lasts over restarts.
const pausedOption = "paused"

// withOption gives a relation with an option set, or unset where value is empty.
func withOption(r *catalog.Relation, name, value string) *catalog.Relation {
	c := *r
	c.Options = map[string]string{}
	for k, v := range r.Options {
		c.Options[k] = v
	}
	delete(c.Options, name)
	if value != "" {
		c.Options[name] = value
	}
	return &c
}

// pause stops a view and those built on it at the epoch before this one.
func (b *epochBuild) pause(rel *catalog.Relation) error {
	all, _ := closure(b.cat, []catalog.OID{rel.OID})
	for i := len(all) - 1; i >= 0; i-- {
		r := b.cat.ByOID(all[i])
		if r == nil || r.Kind != catalog.MatView {
			continue
		}
		if err := b.apply(event{Kind: "replace", Rel: withOption(r, pausedOption, "true")}); err != nil {
			return err
		}
	}
	return nil
}

// rebuild makes a view, and those built on it, anew from history: new relations of the same names in one epoch.
func (b *epochBuild) rebuild(rel *catalog.Relation) error {
	all, _ := closure(b.cat, []catalog.OID{rel.OID})
	return b.recreate(all)
}

// rebuildDependents makes what is built on a plain view anew, because its query has changed.
func (b *epochBuild) rebuildDependents(oid catalog.OID) error {
	all, _ := closure(b.cat, []catalog.OID{oid})
	return b.recreate(slices.DeleteFunc(all, func(o catalog.OID) bool { return o == oid }))
}

// recreate drops relations, dependents first, and creates them again.
func (b *epochBuild) recreate(all []catalog.OID) error {
	var again []*catalog.Relation
	for i := len(all) - 1; i >= 0; i-- { // what is built upon before what is built on it
		if r := b.cat.ByOID(all[i]); r != nil {
			again = append(again, withOption(withOption(r, pausedOption, ""), slotsOption, ""))
		}
	}
	for _, oid := range all {
		if err := b.apply(event{Kind: "drop", OID: oid}); err != nil {
			return err
		}
	}
	for _, r := range again {
		r.OID = b.e.newOID()
		q, err := b.e.planView(r, b.cat)
		if err != nil {
			return err
		}
		r.DependsOn = q.DependsOn
		derive(r, q.Root.Props()) // a plain view beneath may now read other relations
		if err := b.createView(r); err != nil {
			return err
		}
	}
	return nil
}
