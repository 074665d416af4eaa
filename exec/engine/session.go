package engine

import (
	"context"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// maxSessions bounds the sessions that are open at once.
const maxSessions = 2000

// sess implements session.Session.
type sess struct {
	e        *Engine
	id       uint32
	p        session.Params
	set      *settings
	started  time.Time
	tx       *txn // open transaction block, explicit or implicit; nil outside
	implicit bool // BeginImplicit was called and not yet ended
	prepared map[string]*prepared
	cursors  map[string]*cursor
}

// NewSession implements session.Engine.
func (e *Engine) NewSession(p session.Params) (session.Session, error) {
	s := &sess{e: e, p: p, set: newSettings(), started: time.Now(), prepared: map[string]*prepared{}, cursors: map[string]*cursor{}}
	s.set.values["session_authorization"] = p.User
	s.set.values["application_name"] = p.Application
	for k, v := range p.Settings {
		if _, err := s.set.set(k, v); err != nil {
			return nil, err
		}
	}
	s.set.started()
	e.sessMu.Lock()
	defer e.sessMu.Unlock()
	if len(e.sessions) >= maxSessions {
		return nil, sqlerr.New(sqlerr.TooManyConnections, "sorry, too many clients already")
	}
	e.nextSession++
	s.id = e.nextSession
	e.sessions[s.id] = s
	return s, nil
}

// Close implements session.Session.
func (s *sess) Close() {
	s.rollback()
	s.e.sessMu.Lock()
	delete(s.e.sessions, s.id)
	s.e.sessMu.Unlock()
}

// statement implements session.Statement.
type statement struct{ ast.Parsed }

// Text implements session.Statement.
func (s *statement) Text() string { return s.Parsed.Text }

// Tag implements session.Statement.
func (s *statement) Tag() string { return commandTag(s.Stmt) }

// EndsTransaction implements session.Statement.
func (s *statement) EndsTransaction() bool {
	switch x := s.Stmt.(type) {
	case *ast.Commit, *ast.Rollback:
		return true
	case *ast.Savepoint:
		return x.Kind == "rollback to"
	}
	return false
}

// Parse implements session.Session.
func (s *sess) Parse(text string) ([]session.Statement, error) {
	parsed, err := parser.Parse(text)
	if err != nil {
		return nil, err
	}
	out := make([]session.Statement, len(parsed))
	for i := range parsed {
		out[i] = &statement{parsed[i]}
	}
	return out, nil
}

// prepared implements session.Prepared.
type prepared struct {
	st     *statement
	params []types.Type
	given  []types.Type // parameter types as the client gave them
	cols   []session.Column
	cat    *catalog.Catalog // the plan is good for this catalog
	path   string           // and this search_path
	plan   any              // *plan.Query, *planner.InsertPlan, ...; nil for statements without a plan
	reuse  *reuse           // of a *plan.Query, nil where its graph is built for each execution
	checks *constraints     // of an INSERT or UPDATE, made at the first execution
}

// Statement implements session.Prepared.
func (p *prepared) Statement() session.Statement { return p.st }

// Params implements session.Prepared.
func (p *prepared) Params() []types.Type { return p.params }

// Columns implements session.Prepared.
func (p *prepared) Columns() []session.Column { return p.cols }

// Prepare implements session.Session.
func (s *sess) Prepare(_ context.Context, st session.Statement, paramTypes []types.Type) (session.Prepared, error) {
	p := &prepared{st: st.(*statement), given: paramTypes}
	if s.txFailed() && !st.EndsTransaction() {
		return nil, errInFailed()
	}
	if err := s.plan(p); err != nil {
		return nil, err
	}
	return p, nil
}

// plan binds and plans the statement against the catalog that the session sees now.
func (s *sess) plan(p *prepared) error {
	p.cat, p.path, p.reuse, p.checks = s.catalog(), s.set.values["search_path"], nil, nil
	o := s.plannerOptions(p.cat)
	o.ParamTypes = p.given
	switch x := p.st.Stmt.(type) {
	case *ast.QueryStmt:
		q, err := planner.PlanQuery(x.Query, o)
		if err != nil {
			return err
		}
		p.plan, p.params, p.cols, p.reuse = q, q.Params, sessionColumns(q.Root.Props().Columns), newReuse(q)
	case *ast.Insert, *ast.Update, *ast.Delete:
		return s.planDML(p, o)
	default:
		cols, err := s.utilityColumns(x)
		if err != nil {
			return err
		}
		p.cols = cols
		if _, ok := x.(*ast.Prepare); ok {
			break // its parameters are those of the statement that it names
		}
		for i := range p.st.Params {
			t := types.Of(types.Text)
			if i < len(p.given) && p.given[i].Kind != types.Unknown {
				t = p.given[i]
			}
			p.params = append(p.params, t)
		}
	}
	return nil
}

func (s *sess) plannerOptions(cat *catalog.Catalog) planner.Options {
	env := s.Env()
	return planner.Options{Catalog: cat, SearchPath: s.set.searchPath(s.p.User), Env: env, ParseView: parser.ParseQuery, NativeProcessor: s.e.opts.Processors.find, MakeFunction: custom.Functions{}, StateTable: s.e.stateTable, SessionUser: s.p.User, Database: s.p.Database}
}

// sessionColumns shows plan columns to the client.
func sessionColumns(cols []plan.Column) []session.Column {
	out := make([]session.Column, len(cols))
	for i, c := range cols {
		t := c.Type
		if t.Kind == types.Unknown {
			t = types.Of(types.Text)
		}
		out[i] = session.Column{Name: c.Name, Type: t, TableOID: uint32(c.TableOID), Attr: c.Attr}
	}
	return out
}

// catalog is the catalog that the session's next statement sees.
func (s *sess) catalog() *catalog.Catalog {
	if s.tx != nil {
		return s.tx.catalog(s.e)
	}
	return s.e.current().cat
}

// Env implements session.Session.
func (s *sess) Env() *types.Env {
	env := s.set.typesEnv()
	env.Now = time.Now().UnixMicro()
	env.RegName, env.RegOID = s.regName, s.regOID
	return env
}

// Setting implements session.Session.
func (s *sess) Setting(name string) (string, bool) { return s.set.get(name) }

// notice gives the client a notice or a warning, unless client_min_messages says that it wants none.
func (s *sess) notice(n *sqlerr.Error) {
	least, _ := s.set.get("client_min_messages")
	hidden := least == "error" || least == "warning" && n.Severity != "WARNING"
	if s.p.Notice != nil && !hidden {
		s.p.Notice(n)
	}
}

func errInFailed() error {
	return sqlerr.New(sqlerr.InFailedTransaction, "current transaction is aborted, commands ignored until end of transaction block")
}

// kernelEnv is what the session's expressions are evaluated with. Within a block now() stands still, as in PostgreSQL.
func (s *sess) kernelEnv() *kernel.Env {
	env := s.Env()
	if s.tx != nil {
		env.Now = s.tx.started
	}
	return &kernel.Env{Session: env, Now: env.Now, Funcs: &sessionFuncs{s}}
}

// Execute implements session.Session.
func (s *sess) Execute(ctx context.Context, sp session.Prepared, params []types.Datum) (res session.Result, err error) {
	defer sqlerr.Recover(&err)
	p := sp.(*prepared)
	if s.txFailed() && !p.st.EndsTransaction() {
		return nil, errInFailed()
	}
	defer func() {
		if err != nil && s.tx != nil {
			s.tx.failed = true
		}
	}()
	if err := s.replan(p); err != nil {
		return nil, err
	}
	switch x := p.plan.(type) {
	case *plan.Query:
		if err := planner.CheckLimits(x, params); err != nil {
			return nil, err
		}
		if err := s.readable(ctx, x); err != nil {
			return nil, err
		}
		r := s.reader()
		if stillThere(s.catalog(), x) != nil {
			return s.Execute(ctx, sp, params) // dropped since it was planned: plan again
		}
		env := s.kernelEnv()
		if u := p.reuse; u != nil {
			return s.again(p.cols, u, r, env, params), nil
		}
		root := planner.Bind(x, params).Root
		return newRows(p.cols, "SELECT", func(ctx context.Context, out func(*batch.Batch) error) error {
			return runQuery(ctx, root, r, env, out)
		}, s), nil
	case nil:
		return s.utility(ctx, p, params)
	}
	return s.executeDML(ctx, p, params)
}

// replan plans a statement again if the catalog or the search path is no longer the one that it was planned for. Its parameters keep their types
// and its result must keep its columns; where it can't be planned so, it stays as it was and fails at the next execution too.
func (s *sess) replan(p *prepared) error {
	if p.plan == nil || p.cat == s.catalog() && p.path == s.set.values["search_path"] {
		return nil
	}
	fresh := *p
	fresh.given = p.params
	if err := s.plan(&fresh); err != nil {
		return err
	}
	if !sameColumns(fresh.cols, p.cols) {
		return sqlerr.Unsupported("cached plan must not change result type")
	}
	*p = fresh
	return nil
}

// stillThere tests that what a query reads was not dropped since it was planned: a snapshot without a relation reads as empty.
func stillThere(cat *catalog.Catalog, q *plan.Query) error {
	for _, r := range q.Reads {
		if cat.ByOID(r.OID) == nil {
			return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", r.Name)
		}
	}
	return nil
}

func sameColumns(a, b []session.Column) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || !a[i].Type.Same(b[i].Type) {
			return false
		}
	}
	return true
}

// readable waits for, or refuses, the views that a query reads.
func (s *sess) readable(ctx context.Context, q *plan.Query) error {
	for _, r := range q.Reads {
		if r.Kind == catalog.MatView {
			if err := s.e.waitReadable(ctx, r.OID); err != nil {
				return err
			}
		}
	}
	return nil
}

// rows implements session.Result for statements that return rows.
type rows struct {
	cols []session.Column
	st   *rowStream
	verb string
	s    *sess
	copy *session.CopyFormat
	// tag replaces the count of rows in the command tag, where set.
	tag func() string
}

func newRows(cols []session.Column, verb string, run func(context.Context, func(*batch.Batch) error) error, s *sess) *rows {
	return &rows{cols: cols, st: newRowStream(run), verb: verb, s: s}
}

// again is the result of a query whose graph is kept.
func (s *sess) again(cols []session.Column, u *reuse, r reader, env *kernel.Env, params []types.Datum) *rows {
	if !u.few {
		return newRows(cols, "SELECT", func(ctx context.Context, out func(*batch.Batch) error) error {
			return u.run(ctx, r, env, params, out)
		}, s)
	}
	return &rows{cols: cols, verb: "SELECT", s: s, st: &rowStream{ctx: context.Background(), few: func(ctx context.Context) (*batch.Batch, error) {
		return u.runFew(ctx, r, env, params)
	}}}
}

// oneBatch makes a result of rows that are there already.
func (s *sess) oneBatch(cols []session.Column, verb string, b *batch.Batch) *rows {
	return newRows(cols, verb, func(_ context.Context, out func(*batch.Batch) error) error {
		if b.N == 0 {
			return nil
		}
		return out(b)
	}, s)
}

// Columns implements session.Result.
func (r *rows) Columns() []session.Column { return r.cols }

// Next implements session.Result.
func (r *rows) Next(ctx context.Context, limit int) (b *batch.Batch, err error) {
	defer sqlerr.Recover(&err)
	b, err = r.st.pull(ctx, limit)
	if err != nil && r.s != nil && r.s.tx != nil {
		r.s.tx.failed = true
	}
	return b, err
}

// Ended implements session.Ender.
func (r *rows) Ended() bool { return r.st.done && (r.st.cur == nil || r.st.off >= r.st.cur.N) }

// CopyIn implements session.Result.
func (r *rows) CopyIn() session.CopyIn { return nil }

// CopyOut implements session.Result.
func (r *rows) CopyOut() *session.CopyFormat { return r.copy }

// Tag implements session.Result.
func (r *rows) Tag() string {
	if r.tag != nil {
		return r.tag()
	}
	if strings.HasPrefix(r.verb, "SHOW") || strings.HasPrefix(r.verb, "EXPLAIN") {
		return r.verb
	}
	return tagRows(r.verb, r.st.rows)
}

// Close implements session.Result.
func (r *rows) Close() { r.st.close() }

// done is the result of a statement that returns no rows.
type done string

// Columns implements session.Result.
func (d done) Columns() []session.Column { return nil }

// Next implements session.Result.
func (d done) Next(context.Context, int) (*batch.Batch, error) { return nil, nil }

// CopyIn implements session.Result.
func (d done) CopyIn() session.CopyIn { return nil }

// CopyOut implements session.Result.
func (d done) CopyOut() *session.CopyFormat { return nil }

// Tag implements session.Result.
func (d done) Tag() string { return string(d) }

// Close implements session.Result.
func (d done) Close() {}
