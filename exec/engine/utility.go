package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// textCols names result columns of type text.
func textCols(names ...string) []session.Column {
	out := make([]session.Column, len(names))
	for i, n := range names {
		out[i] = session.Column{Name: n, Type: types.Of(types.Text)}
	}
	return out
}

// textRows makes a batch of text rows; nil is NULL.
func textRows(width int, rows [][]string) *batch.Batch {
	ts := make([]types.Type, width)
	for i := range ts {
		ts[i] = types.Of(types.Text)
	}
	b := batch.New(ts, len(rows))
	for _, r := range rows {
		for i, v := range r {
			b.Cols[i].AppendString(v)
		}
		b.EndRow(1)
	}
	return b
}

// utilityColumns describes the rows of a statement that has no plan; nil if it returns none.
func (s *sess) utilityColumns(st ast.Stmt) ([]session.Column, error) {
	switch x := st.(type) {
	case *ast.Show:
		return showColumns(x.Name), nil
	case *ast.Describe:
		return textCols("Column", "Type", "Nullable", "Default", "Note"), nil
	case *ast.Explain:
		return textCols("QUERY PLAN"), nil
	case *ast.ExecuteStmt:
		p, err := s.executed(x)
		if err != nil {
			return nil, err
		}
		return p.cols, nil
	case *ast.Fetch:
		if x.Move {
			return nil, nil
		}
		c, err := s.cursor(x.Name)
		if err != nil {
			return nil, err
		}
		return c.res.Columns(), nil
	case *ast.Copy:
		return nil, nil
	}
	return nil, nil
}

// utility runs a statement that has no plan.
func (s *sess) utility(ctx context.Context, p *prepared, params []types.Datum) (session.Result, error) {
	tag := commandTag(p.st.Stmt)
	switch x := p.st.Stmt.(type) {
	case *ast.CreateSchema:
		return s.createSchema(ctx, x)
	case *ast.CreateRelation:
		return s.createRelation(ctx, x)
	case *ast.CreateView:
		return s.createView(ctx, x)
	case *ast.CreateFunction:
		return s.createFunction(ctx, x)
	case *ast.DropFunction:
		return s.dropFunctions(ctx, x)
	case *ast.CreateProcessor:
		return s.createProcessor(ctx, x)
	case *ast.Drop:
		return s.drop(ctx, x)
	case *ast.Alter:
		return s.alter(ctx, x)
	case *ast.Truncate:
		return s.truncate(ctx, x)
	case *ast.Copy:
		return s.copy(ctx, x)
	case *ast.Begin:
		return s.beginTxn(x.Isolation, x.Access)
	case *ast.Commit:
		return s.commitTxn(ctx)
	case *ast.Rollback:
		return s.rollbackTxn()
	case *ast.Savepoint:
		return s.savepoint(x)
	case *ast.Set:
		if x.Name == "clock" && !x.Default {
			return s.setClock(ctx, x)
		}
		return s.setStmt(x)
	case *ast.Show:
		return s.show(x)
	case *ast.Describe:
		return s.describe(x)
	case *ast.Explain:
		return s.explain(ctx, x)
	case *ast.Prepare:
		return s.prepareStmt(x)
	case *ast.ExecuteStmt:
		return s.executeStmt(ctx, x)
	case *ast.Deallocate:
		return s.deallocate(x)
	case *ast.DeclareCursor, *ast.Fetch, *ast.CloseCursor:
		return s.cursorStmt(ctx, x, params)
	case *ast.AdvanceWatermark:
		return s.advanceWatermark(ctx, x)
	case *ast.WaitFor:
		return s.waitFor(ctx, x)
	case *ast.Checkpoint:
		if err := s.e.Checkpoint(ctx); err != nil {
			return nil, err
		}
		return done(tag), nil
	case *ast.Refresh:
		if _, err := s.lookup(x.Name); err != nil {
			return nil, err
		}
		s.notice(sqlerr.Notice("materialized views are always up to date; there is nothing to refresh"))
		return done(tag), nil
	case *ast.Comment:
		return s.comment(ctx, x)
	case *ast.Discard:
		return s.discard(x)
	case *ast.NoOp:
		return done(tag), nil
	case *ast.CreateOther:
		return nil, sqlerr.Unsupported("%s is not supported", x.What).At(int(x.At))
	}
	return nil, sqlerr.Unsupported("%s is not supported yet", tag).At(0)
}

// lookup finds a relation by name along the search path.
func (s *sess) lookup(n ast.Name) (*catalog.Relation, error) {
	r, err := s.catalog().Lookup(n.Schema, n.Name, s.set.searchPath(s.p.User))
	if err != nil {
		return nil, sqlerr.From(err).At(int(n.Pos))
	}
	return r, nil
}

func (s *sess) setStmt(x *ast.Set) (session.Result, error) {
	tag := commandTag(x)
	if x.All {
		s.resetAll()
		return done(tag), nil
	}
	if strings.HasPrefix(x.Name, "transaction_") {
		return s.setTransaction(x)
	}
	if x.Local {
		if s.tx == nil || s.tx.implicit {
			s.notice(warning(sqlerr.NoActiveTransaction, "SET LOCAL can only be used in transaction blocks"))
			return done(tag), nil
		}
		s.tx.local[canonical(x.Name)] = true
	} else if s.tx != nil {
		delete(s.tx.local, canonical(x.Name))
	}
	var d *setting
	var err error
	if x.Default {
		d, err = s.set.reset(x.Name)
	} else {
		d, err = s.set.set(x.Name, strings.Join(x.Values, ", "))
	}
	if err != nil {
		return nil, err
	}
	if d == nil {
		return done(tag), nil
	}
	if d.notice != "" {
		s.notice(sqlerr.Notice("%s", d.notice))
	}
	if d.report && s.p.ParameterStatus != nil {
		v, _ := s.set.get(d.name)
		s.p.ParameterStatus(d.name, v)
	}
	return done(tag), nil
}

func showColumns(name string) []session.Column {
	switch name {
	case "all":
		return textCols("name", "setting")
	case "streams", "tables", "views", "materialized views", "indexes":
		return textCols("Schema", "Name")
	case "schemas":
		return textCols("Name")
	case "processors":
		return textCols("Schema", "Name", "Language", "Returns")
	}
	if d := settingsByName[canonical(name)]; d != nil {
		return textCols(d.name)
	}
	return textCols(name)
}

func (s *sess) show(x *ast.Show) (session.Result, error) {
	cols := showColumns(x.Name)
	var out [][]string
	switch x.Name {
	case "all":
		for _, n := range s.set.names() {
			v, _ := s.set.get(n)
			out = append(out, []string{n, v})
		}
	case "schemas":
		for _, sc := range s.catalog().Schemas() {
			out = append(out, []string{sc.Name})
		}
	case "clock":
		out = [][]string{{string(types.Append(nil, types.Of(types.TimestampTZ), types.IntDatum(s.e.now()), s.Env()))}}
	case "processors":
		out = s.showProcessors()
	case "streams", "tables", "views", "materialized views", "indexes":
		for _, r := range s.catalog().Relations() {
			if r.Kind.String()+"s" == x.Name || r.Kind == catalog.Index && x.Name == "indexes" {
				out = append(out, []string{r.Schema, r.Name})
			}
		}
	case "transaction_isolation", "transaction_read_only":
		out = [][]string{{s.txSetting(x.Name)}}
	default:
		v, ok := s.set.get(x.Name)
		if !ok {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", x.Name)
		}
		out = [][]string{{v}}
	}
	return s.oneBatch(cols, "SHOW", textRows(len(cols), out)), nil
}

func (s *sess) describe(x *ast.Describe) (session.Result, error) {
	rel, err := s.lookup(x.Name)
	if err != nil {
		return nil, err
	}
	var out [][]string
	for i, c := range rel.Columns {
		if c.Hidden {
			continue
		}
		null := ""
		if c.NotNull {
			null = "not null"
		}
		var notes []string
		for _, k := range rel.PrimaryKey {
			if k == i && rel.Kind == catalog.Table {
				notes = append(notes, "primary key")
			}
		}
		if w := rel.Watermark; w != nil && w.Column == i {
			d := types.IntervalDatum(0, 0, w.DelayMicros)
			notes = append(notes, "watermark delay "+string(types.Append(nil, types.Of(types.Interval), d, s.Env())))
		}
		out = append(out, []string{c.Name, c.Type.String(), null, c.Default, strings.Join(notes, ", ")})
	}
	cols := textCols("Column", "Type", "Nullable", "Default", "Note")
	return s.oneBatch(cols, "SHOW", textRows(len(cols), out)), nil
}

func (s *sess) explain(_ context.Context, x *ast.Explain) (session.Result, error) {
	if x.Analyze {
		return nil, sqlerr.Unsupported("EXPLAIN ANALYZE is not supported yet").At(0)
	}
	var q *plan.Query
	var err error
	o := s.plannerOptions(s.catalog())
	switch st := x.Stmt.(type) {
	case *ast.QueryStmt:
		q, err = planner.PlanQuery(st.Query, o)
	case *ast.CreateView:
		rel := &catalog.Relation{Name: st.Name.Name, Kind: catalog.View, SQL: st.Query.Text, Options: map[string]string{}, Settings: map[string]string{}}
		if st.Materialized {
			rel.Kind = catalog.MatView
			if err := s.viewOptions(rel, st); err != nil {
				return nil, err
			}
		}
		q, err = s.e.planView(rel, s.catalog())
		err = shiftIfAny(err, int(st.Query.At))
	default:
		return nil, sqlerr.Unsupported("EXPLAIN of %s is not supported yet", commandTag(x.Stmt)).At(0)
	}
	if err != nil {
		return nil, err
	}
	text := ""
	if strings.EqualFold(x.Format, "json") {
		text = planner.ExplainJSON(q)
	} else {
		text = planner.Explain(q, x.Verbose)
	}
	var out [][]string
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		out = append(out, []string{l})
	}
	if strings.EqualFold(x.Format, "json") {
		out = [][]string{{text}}
	}
	return s.oneBatch(textCols("QUERY PLAN"), "EXPLAIN", textRows(1, out)), nil
}

func shiftIfAny(err error, by int) error {
	if err == nil {
		return nil
	}
	return shiftPosition(err, by)
}

// advanceWatermark runs ADVANCE WATERMARK OF s TO t.
func (s *sess) advanceWatermark(ctx context.Context, x *ast.AdvanceWatermark) (session.Result, error) {
	rel, err := s.lookup(x.Stream)
	if err != nil {
		return nil, err
	}
	if rel.Kind != catalog.Stream || rel.Watermark == nil {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a stream with a watermark", rel.Name).At(int(x.Stream.Pos))
	}
	if err := s.apart(ctx, "ADVANCE WATERMARK"); err != nil {
		return nil, err
	}
	e, err := planner.BindScalar(x.To, nil, s.plannerOptions(s.catalog()))
	if err != nil {
		return nil, err
	}
	t := types.Of(types.TimestampTZ)
	d, err := s.constAs(e, t)
	if err != nil {
		return nil, err
	}
	us, ok := eventMicros(t, d.I)
	if d.Null || !ok {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "the watermark must be a finite timestamp")
	}
	behind := false
	err = s.e.submit(ctx, 0, func(b *epochBuild) error {
		if b.cat.ByOID(rel.OID) == nil {
			return sqlerr.New(sqlerr.UndefinedTable, "stream \"%s\" does not exist", rel.Name)
		}
		if st := b.e.streams[rel.OID]; st != nil && int64(st.wm) >= floorMilli(us) {
			behind = true
			return nil
		}
		to, ok := b.advance[rel.OID]
		if !ok || us > to {
			if b.advance == nil {
				b.advance = map[catalog.OID]int64{}
			}
			b.advance[rel.OID] = us
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if behind {
		s.notice(sqlerr.Notice("the watermark of stream \"%s\" is there or further already; it does not go back", rel.Name))
	}
	return done("ADVANCE WATERMARK"), nil
}

// constAs evaluates an expression without columns as a value of type t; text is read as a literal of that type.
func (s *sess) constAs(e plan.Expr, t types.Type) (types.Datum, error) {
	env := s.kernelEnv()
	d, err := kernel.EvalConst(e, env)
	if err != nil || d.Null || e.Type().Same(t) {
		return d, err
	}
	text := string(types.Append(nil, e.Type(), d, &types.Env{Location: env.Session.Location, DateOrder: "MDY", DateFormat: "ISO", IntervalStyle: "postgres", ExtraFloatDigits: 1, ByteaHex: true}))
	return types.Parse(t, text, env.Session)
}

// comment runs COMMENT ON a relation.
func (s *sess) comment(ctx context.Context, x *ast.Comment) (session.Result, error) {
	if x.Column != "" || dropKinds[x.Kind] == 0 {
		return nil, sqlerr.Unsupported("COMMENT ON %s is not supported", strings.ToUpper(x.Kind)).At(0)
	}
	rel, err := s.lookup(x.Name)
	if err != nil {
		return nil, err
	}
	text := ""
	if x.Text != nil {
		text = *x.Text
	}
	set := func(r *catalog.Relation) *catalog.Relation { c := *r; c.Comment = text; return &c }
	return s.change(ctx, "COMMENT", func(c *catalog.Catalog) *catalog.Catalog { return c.With(set(rel)) },
		func(b *epochBuild) error {
			r := b.cat.ByOID(rel.OID)
			if r == nil {
				return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", rel.Name)
			}
			return b.apply(event{Kind: "replace", Rel: set(r)})
		})
}

// Prepared statements of SQL (PREPARE, EXECUTE, DEALLOCATE).

func (s *sess) prepareStmt(x *ast.Prepare) (session.Result, error) {
	if s.prepared[x.Name] != nil {
		return nil, sqlerr.New(sqlerr.DuplicatePreparedStatement, "prepared statement \"%s\" already exists", x.Name)
	}
	p, err := s.plannedAs(x)
	if err != nil {
		return nil, err
	}
	s.prepared[x.Name] = p
	return done("PREPARE"), nil
}

func (s *sess) plannedAs(x *ast.Prepare) (*prepared, error) {
	p := &prepared{st: &statement{ast.Parsed{Stmt: x.Stmt, Text: x.Text, Params: x.Params}}}
	for _, t := range x.Types {
		rt, err := planner.ResolveType(t)
		if err != nil {
			return nil, err
		}
		p.given = append(p.given, rt)
	}
	return p, s.plan(p)
}

// executed gives the statement that EXECUTE names, planned for what the session sees now.
func (s *sess) executed(x *ast.ExecuteStmt) (*prepared, error) {
	p := s.prepared[x.Name]
	if p == nil {
		return nil, sqlerr.New(sqlerr.InvalidStatementName, "prepared statement \"%s\" does not exist", x.Name).At(int(x.At))
	}
	if err := s.replan(p); err != nil {
		return nil, err
	}
	if len(x.Args) != len(p.params) {
		return nil, sqlerr.New(sqlerr.SyntaxError, "wrong number of parameters for prepared statement \"%s\"", x.Name).
			WithDetail("Expected %d parameters but got %d.", len(p.params), len(x.Args))
	}
	return p, nil
}

func (s *sess) executeStmt(ctx context.Context, x *ast.ExecuteStmt) (session.Result, error) {
	p, err := s.executed(x)
	if err != nil {
		return nil, err
	}
	params := make([]types.Datum, len(x.Args))
	for i, a := range x.Args {
		e, err := planner.BindScalar(a, nil, s.plannerOptions(s.catalog()))
		if err != nil {
			return nil, err
		}
		if params[i], err = s.constAs(e, p.params[i]); err != nil {
			return nil, err
		}
	}
	return s.Execute(ctx, p, params)
}

func (s *sess) deallocate(x *ast.Deallocate) (session.Result, error) {
	tag := commandTag(x)
	if x.Name == "" {
		s.forgetStatements()
		return done(tag), nil
	}
	if s.prepared[x.Name] == nil {
		if s.p.Deallocate != nil && s.p.Deallocate(x.Name) {
			return done(tag), nil
		}
		return nil, sqlerr.New(sqlerr.InvalidStatementName, "prepared statement \"%s\" does not exist", x.Name)
	}
	delete(s.prepared, x.Name)
	return done(tag), nil
}

// cursor is an open SQL cursor: a running query.
type cursor struct {
	res  session.Result
	hold bool
}

func (s *sess) cursor(name string) (*cursor, error) {
	c := s.cursors[name]
	if c == nil {
		return nil, sqlerr.New(sqlerr.InvalidCursorName, "cursor \"%s\" does not exist", name)
	}
	return c, nil
}

// closeCursors ends the cursors of a block. WITH HOLD ones stay.
func (s *sess) closeCursors() {
	for n, c := range s.cursors {
		if !c.hold {
			c.res.Close()
			delete(s.cursors, n)
		}
	}
}

func (s *sess) cursorStmt(ctx context.Context, st ast.Stmt, params []types.Datum) (session.Result, error) {
	tag := commandTag(st)
	switch x := st.(type) {
	case *ast.DeclareCursor:
		if (s.tx == nil || s.tx.implicit) && !x.Hold {
			return nil, sqlerr.New(sqlerr.NoActiveTransaction, "DECLARE CURSOR can only be used in transaction blocks")
		}
		if s.cursors[x.Name] != nil {
			return nil, sqlerr.New(sqlerr.DuplicateCursor, "cursor \"%s\" already exists", x.Name)
		}
		p := &prepared{st: &statement{ast.Parsed{Stmt: &ast.QueryStmt{Query: x.Query}}}}
		if err := s.plan(p); err != nil {
			return nil, err
		}
		res, err := s.Execute(ctx, p, params)
		if err != nil {
			return nil, err
		}
		s.cursors[x.Name] = &cursor{res, x.Hold}
	case *ast.CloseCursor:
		if x.Name != "" {
			c, err := s.cursor(x.Name)
			if err != nil {
				return nil, err
			}
			c.res.Close()
			delete(s.cursors, x.Name)
			break
		}
		for n, c := range s.cursors {
			c.res.Close()
			delete(s.cursors, n)
		}
	case *ast.Fetch:
		return s.fetch(ctx, x)
	}
	return done(tag), nil
}

func (s *sess) fetch(ctx context.Context, x *ast.Fetch) (session.Result, error) {
	c, err := s.cursor(x.Name)
	if err != nil {
		return nil, err
	}
	cols := c.res.Columns()
	ts := make([]types.Type, len(cols))
	for i := range cols {
		ts[i] = cols[i].Type
	}
	out := batch.New(ts, 0)
	for x.Count < 0 || int64(out.N) < x.Count {
		want := 0
		if x.Count >= 0 {
			want = int(x.Count) - out.N
		}
		b, err := c.res.Next(ctx, want)
		if err != nil {
			return nil, err
		}
		if b == nil {
			break
		}
		out.AppendBatch(b, nil)
	}
	if x.Move {
		return done(fmt.Sprintf("MOVE %d", out.N)), nil
	}
	return s.oneBatch(cols, "FETCH", out), nil
}
