package engine

import (
	"context"
	"sort"
	"strings"

	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// ddlOp is a change of the catalog, run on the loop's goroutine as part of a unit. It checks again what was checked when the
// statement ran, since others may have come between.
type ddlOp func(b *epochBuild) error

// change runs DDL: outside a block as a unit of its own; in a block at COMMIT, the block itself sees local's catalog until then.
func (s *sess) change(ctx context.Context, tag string, local func(*catalog.Catalog) *catalog.Catalog, op ddlOp) (session.Result, error) {
	if err := s.writable(tag); err != nil {
		return nil, err
	}
	if s.tx == nil {
		if err := s.e.submit(ctx, 0, op); err != nil {
			return nil, err
		}
		return done(tag), nil
	}
	s.tx.cat = local(s.catalog())
	s.tx.ops = append(s.tx.ops, txnOp{ddl: op})
	return done(tag), nil
}

// newOID reserves an object id.
func (e *Engine) newOID() catalog.OID { return catalog.OID(e.nextOID.Add(1) - 1) }

// target gives the schema in which a new relation is made.
func (s *sess) target(n ast.Name) (string, error) {
	cat := s.catalog()
	if n.Schema != "" {
		if cat.Schema(n.Schema) == nil {
			return "", sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", n.Schema).At(int(n.Pos))
		}
		if catalog.SystemSchema(n.Schema) {
			return "", sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for schema %s", n.Schema).At(int(n.Pos))
		}
		return n.Schema, nil
	}
	for _, p := range s.set.searchPath(s.p.User) {
		if cat.Schema(p) != nil && !catalog.SystemSchema(p) {
			return p, nil
		}
	}
	return "", sqlerr.New(sqlerr.InvalidSchemaName, "no schema has been selected to create in").At(int(n.Pos))
}

// exists answers IF NOT EXISTS: true when the relation is there already (with PostgreSQL's notice), an error without it.
func (s *sess) exists(schema, name string, ifNot bool) (bool, error) {
	if s.catalog().Relation(schema, name) == nil {
		return false, nil
	}
	if !ifNot {
		return false, duplicateRelation(name)
	}
	n := sqlerr.Notice("relation \"%s\" already exists, skipping", name)
	n.Code = sqlerr.DuplicateTable
	s.notice(n)
	return true, nil
}

func (s *sess) createSchema(ctx context.Context, x *ast.CreateSchema) (session.Result, error) {
	if s.catalog().Schema(x.Name) != nil && x.IfNotExists {
		n := sqlerr.Notice("schema \"%s\" already exists, skipping", x.Name)
		n.Code = sqlerr.DuplicateSchema
		s.notice(n)
		return done("CREATE SCHEMA"), nil
	}
	if s.catalog().Schema(x.Name) != nil {
		return nil, sqlerr.New(sqlerr.DuplicateSchema, "schema \"%s\" already exists", x.Name)
	}
	if strings.HasPrefix(x.Name, "pg_") {
		return nil, sqlerr.New(sqlerr.ReservedName, "unacceptable schema name \"%s\"", x.Name).
			WithDetail("The prefix \"pg_\" is reserved for system schemas.")
	}
	sch := &catalog.Schema{OID: s.e.newOID(), Name: x.Name}
	return s.change(ctx, "CREATE SCHEMA", func(c *catalog.Catalog) *catalog.Catalog { return c.WithSchema(*sch) },
		func(b *epochBuild) error { return b.apply(event{Kind: "create schema", Sch: sch}) })
}

func (s *sess) createRelation(ctx context.Context, x *ast.CreateRelation) (session.Result, error) {
	tag := commandTag(x)
	schema, err := s.target(x.Name)
	if err != nil {
		return nil, err
	}
	if there, err := s.exists(schema, x.Name.Name, x.IfNotExists); there || err != nil {
		return done(tag), err
	}
	if x.AsQuery != nil {
		return s.createTableAs(ctx, x, schema)
	}
	rel, err := planner.BindRelation(x, s.plannerOptions(s.catalog()))
	if err != nil {
		return nil, err
	}
	rel.OID, rel.Schema, rel.Name = s.e.newOID(), schema, x.Name.Name
	if err := s.e.checkStreamOptions(x, rel); err != nil {
		return nil, err
	}
	if err := checkUnique(rel); err != nil {
		return nil, err
	}
	res, err := s.change(ctx, tag, func(c *catalog.Catalog) *catalog.Catalog { return c.With(rel) },
		func(b *epochBuild) error {
			r := *rel
			r.CreatedEpoch = b.n
			return b.apply(event{Kind: "create", Rel: &r})
		})
	if err == nil {
		if n := s.e.probeInput(rel); n != nil {
			s.notice(n)
		}
	}
	return res, err
}

// createView makes a plain or a materialized view.
func (s *sess) createView(ctx context.Context, x *ast.CreateView) (session.Result, error) {
	tag := commandTag(x)
	schema, err := s.target(x.Name)
	if err != nil {
		return nil, err
	}
	old := s.catalog().Relation(schema, x.Name.Name)
	if old != nil && x.OrReplace {
		if want := map[bool]catalog.Kind{false: catalog.View, true: catalog.MatView}[x.Materialized]; s.kindOf(old) != want {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a %s", old.Name, want)
		}
	} else if there, err := s.exists(schema, x.Name.Name, x.IfNotExists); there || err != nil {
		return done(tag), err
	}
	rel := &catalog.Relation{OID: s.e.newOID(), Schema: schema, Name: x.Name.Name, Kind: catalog.View, SQL: x.Query.Text,
		Options: map[string]string{}, Settings: map[string]string{}}
	for _, name := range []string{"timezone", "datestyle", "intervalstyle", "search_path", lateAgeSetting, lateBytesSetting} {
		rel.Settings[name], _ = s.set.get(name)
	}
	if x.Materialized {
		rel.Kind = catalog.MatView
		if err := s.viewOptions(rel, x); err != nil {
			return nil, err
		}
	}
	q, err := s.e.planView(rel, s.catalog())
	if err != nil {
		return nil, shiftPosition(err, int(x.Query.At))
	}
	describeView(rel, q, x.Columns)
	rel.Widths = streamWidths(rel, s.catalog())
	if len(x.Columns) > len(rel.Columns) {
		return nil, sqlerr.New(sqlerr.SyntaxError, "CREATE VIEW specifies more column names than columns")
	}
	if err := duplicateColumns(rel); err != nil {
		return nil, err
	}
	for _, n := range q.Notices {
		s.notice(sqlerr.Notice("%s", n))
	}
	if old != nil && x.OrReplace {
		if x.Materialized {
			return s.replaceView(ctx, old, rel)
		}
		if err := keepsColumns(old, rel); err != nil {
			return nil, err
		}
		rel.OID = old.OID
		res, err := s.change(ctx, tag, func(c *catalog.Catalog) *catalog.Catalog { return c.With(rel) },
			func(b *epochBuild) error {
				if err := b.apply(event{Kind: "replace", Rel: rel}); err != nil {
					return err
				}
				return b.rebuildDependents(rel.OID)
			})
		if err == nil && s.tx == nil {
			s.tellRefilled(rel.Schema, rel.Name)
		}
		return res, err
	}
	local := func(c *catalog.Catalog) *catalog.Catalog {
		r := *rel
		r.Kind = catalog.View // until COMMIT it answers as a plain view
		return c.With(&r)
	}
	res, err := s.change(ctx, tag, local, func(b *epochBuild) error { return b.createView(rel) })
	switch {
	case err != nil || rel.Kind != catalog.MatView:
	case s.tx != nil:
		s.tx.ops[len(s.tx.ops)-1].makes = rel
	default:
		s.tellMade(rel)
	}
	return res, err
}

// createView is the part of CREATE [MATERIALIZED] VIEW that runs in the loop.
func (b *epochBuild) createView(rel *catalog.Relation) error {
	for _, oid := range rel.DependsOn {
		if b.cat.ByOID(oid) == nil {
			return sqlerr.New(sqlerr.UndefinedTable, "a relation that view \"%s\" reads was dropped meanwhile", rel.Name)
		}
	}
	for _, oid := range rel.Processors {
		if b.cat.ProcessorByOID(oid) == nil && b.cat.FunctionByOID(oid) == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "a processor or function that view \"%s\" calls was dropped meanwhile", rel.Name)
		}
	}
	r := *rel
	r.CreatedEpoch = b.n
	if r.Kind == catalog.MatView {
		r = *b.e.cutSlots(&r)
		// The plan must be one that runs: built once here, where an error still belongs to the statement.
		q, err := b.e.planView(&r, b.cat)
		if err == nil {
			err = hasItsColumns(&r, q)
		}
		if err == nil {
			_, err = exec.NewGraph(q.Root, dataflow.PolicyMin, table.NewTransient(), viewEnv(&r), exec.Slots{})
		}
		if err != nil {
			return err
		}
	}
	return b.apply(event{Kind: "create", Rel: &r})
}

// viewOptions reads WITH (...) and EMIT of CREATE MATERIALIZED VIEW.
func (s *sess) viewOptions(rel *catalog.Relation, x *ast.CreateView) error {
	policy, _ := s.set.get("spark.sql.streaming.multiplewatermarkpolicy")
	if policy == "max" {
		rel.Options["watermark_policy"] = "max"
	}
	mode, own := "", ""
	for _, o := range x.Options {
		v := strings.ToLower(o.Value)
		switch o.Name {
		case "output_mode":
			mode = v
		case "watermark_policy":
			if v != "min" && v != "max" {
				return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for option \"watermark_policy\": \"%s\"", o.Value).At(int(o.At)).WithHint("Available values: min, max.")
			}
			rel.Options[o.Name] = v
		case partitionsOption:
			own = v
		default:
			return unknownOption(rel, o.Name).At(int(o.At))
		}
	}
	if err := s.partitionOptions(rel, own); err != nil {
		return err
	}
	if x.Emit != "" {
		emit := map[string]string{"on window close": "append", "on update": "update"}[x.Emit]
		if mode != "" && mode != emit {
			return sqlerr.New(sqlerr.SyntaxError, "output_mode = '%s' and EMIT %s contradict each other", mode, strings.ToUpper(x.Emit))
		}
		mode = emit
	}
	switch mode {
	case "":
	case "update", "append", "complete":
		rel.OutputMode = map[string]catalog.OutputMode{"update": catalog.Update, "append": catalog.Append, "complete": catalog.Complete}[mode]
		rel.Options["output_mode"] = mode
	default:
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for option \"output_mode\": \"%s\"", mode).WithHint("Available values: append, update, complete.")
	}
	return nil
}

// planView plans a view's stored query under the settings of its CREATE.
func (e *Engine) planView(rel *catalog.Relation, cat *catalog.Catalog) (*plan.Query, error) {
	q, err := parser.ParseQuery(rel.SQL)
	if err != nil {
		return nil, err
	}
	set := viewSettings(rel)
	o := planner.Options{Catalog: cat, SearchPath: set.searchPath(""), Env: set.typesEnv(), ParseView: parser.ParseQuery, NativeProcessor: e.opts.Processors.find, MakeFunction: custom.Functions{}, StateTable: e.storedStateTable(rel), StoredView: len(rel.StateReads) > 0, Widths: rel.Widths}
	if rel.Kind == catalog.MatView {
		policy := rel.Options["watermark_policy"]
		if policy == "" {
			policy = "min"
		}
		_, given := rel.Options["output_mode"]
		o.View = &planner.ViewOptions{Mode: rel.OutputMode, ModeGiven: given, Policy: policy}
	}
	pq, err := planner.PlanQuery(q, o)
	if err != nil {
		return nil, err
	}
	if len(pq.Params) > 0 {
		return nil, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $1")
	}
	return pq, nil
}

func viewSettings(rel *catalog.Relation) *settings {
	set := newSettings()
	for k, v := range rel.Settings {
		set.values[k] = v
	}
	return set
}

// viewEnv is what a view's expressions are evaluated with.
func viewEnv(rel *catalog.Relation) *kernel.Env {
	return &kernel.Env{Session: viewSettings(rel).typesEnv()}
}

// describeView fills in what the plan says of a view.
func describeView(rel *catalog.Relation, q *plan.Query, names []string) {
	p := q.Root.Props()
	rel.Columns = nil
	for i, c := range p.Columns {
		name := c.Name
		if i < len(names) {
			name = names[i]
		}
		t := c.Type
		if t.Kind == types.Unknown {
			t = types.Of(types.Text)
		}
		rel.Columns = append(rel.Columns, catalog.Column{Name: name, Type: t})
	}
	rel.DependsOn, rel.Processors, rel.StateReads = q.DependsOn, q.Processors, q.StateReads
	derive(rel, p)
}

// streamWidths tells how many columns the streams that a view reads have.
func streamWidths(rel *catalog.Relation, cat *catalog.Catalog) map[catalog.OID]int {
	widths := map[catalog.OID]int{}
	for _, oid := range rel.DependsOn {
		if r := cat.ByOID(oid); r != nil && r.Kind == catalog.Stream {
			widths[oid] = len(r.Columns)
		}
	}
	return widths
}

// derive fills in what the plan says of a materialized view beside its columns.
func derive(rel *catalog.Relation, p *plan.Props) {
	if rel.Kind != catalog.MatView {
		return
	}
	rel.AppendOnly = p.AppendOnly
	rel.WatermarkCols, rel.WatermarkLags, rel.WatermarkDelays, rel.PrimaryKey = nil, nil, nil, nil
	if p.HasWatermark {
		rel.WatermarkCols, rel.WatermarkLags, rel.WatermarkDelays = p.WatermarkCols, p.WatermarkLags, p.WatermarkDelays
	}
	if len(p.Keys) > 0 {
		rel.PrimaryKey = shortest(p.Keys)
	}
}

// shortest gives the key with the fewest columns.
func shortest(keys [][]int) []int {
	k := append([][]int(nil), keys...)
	sort.SliceStable(k, func(i, j int) bool { return len(k[i]) < len(k[j]) })
	return k[0]
}

func duplicateColumns(rel *catalog.Relation) error {
	seen := map[string]bool{}
	for _, c := range rel.Columns {
		if seen[c.Name] {
			return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

// shiftPosition moves an error's position from the text of a query to that of the statement around it.
func shiftPosition(err error, by int) error {
	e := *sqlerr.From(err)
	if e.Position > 0 && by > 0 {
		e.Position += by
	}
	return &e
}
