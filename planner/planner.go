package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

const volatile = fn.Volatile

// Options is what a statement is planned against. It is not modified.
type Options struct {
	Catalog    *catalog.Catalog
	SearchPath []string // without the implicit pg_catalog
	Env        *types.Env
	// ParamTypes are the types of $1, $2, ...; Unknown, or too few, means: infer.
	ParamTypes []types.Type
	// View is set when the plan is for a maintained view.
	View *ViewOptions
	// ParseView parses the stored text of a plain view. Without it plain views can't be read.
	ParseView func(sql string) (*ast.Query, error)
	// Widths say of how many columns of a stream the query may know, the first ones (catalog.Relation); of all, of a stream that is not there.
	Widths map[catalog.OID]int
	// NativeProcessor finds a processor that the program which embeds the engine registered, nil if there is none. It may be nil.
	NativeProcessor func(name string) *catalog.Processor
	// StateTable describes what statestore and state_metadata give; without it they can't be read.
	StateTable func(StateRequest) (*StateTable, error)
	// StoredView says that the query is that of a view that exists: what it read once may be gone.
	StoredView bool
	// MakeFunction makes what evaluates functions in Starlark; without it they can't be called.
	MakeFunction FunctionMaker
	// SessionUser and Database answer current_user and current_database().
	SessionUser string
	Database    string
}

// ViewOptions are the options of a maintained view that its plan depends on.
type ViewOptions struct {
	Mode      catalog.OutputMode
	ModeGiven bool   // the statement named the mode
	Policy    string // watermark policy: "min" (default) or "max"
}

// env gives the environment for reading literals, never nil.
func (o *Options) env() *types.Env {
	if o.Env == nil {
		return types.DefaultEnv()
	}
	return o.Env
}

// PlanQuery binds and plans a query: a SELECT, or with o.View the query of a maintained view. Its errors are *sqlerr.Error, with
// the position in the statement's text where there is one.
func PlanQuery(q *ast.Query, o Options) (out *plan.Query, err error) {
	defer recoverBind(&err)
	b := newBinder(o)
	r := b.query(q, nil, nil)
	root := r.finish(b)
	return b.finishQuery(root), nil
}

// bindPanic carries an error of the statement up to an exported function.
type bindPanic struct{ err error }

// fail raises err.
func fail(err error) { panic(bindPanic{err}) }

// failAt raises a new error at a position.
func failAt(pos ast.Pos, code sqlerr.Code, format string, args ...any) {
	fail(sqlerr.New(code, format, args...).At(int(pos)))
}

// unsupported raises 0A000 at a position.
func unsupported(pos ast.Pos, format string, args ...any) {
	failAt(pos, sqlerr.FeatureNotSupported, format, args...)
}

// must raises err, if there is one, with a position where it has none.
func must(err error, pos ast.Pos) {
	if err != nil {
		fail(sqlerr.From(err).At(int(pos)))
	}
}

// recoverBind is deferred by exported functions.
func recoverBind(err *error) {
	r := recover()
	if r == nil {
		return
	}
	if p, ok := r.(bindPanic); ok {
		*err = p.err
		return
	}
	// A bug of ours fails one statement, not the server.
	func() {
		defer sqlerr.Recover(err)
		panic(r)
	}()
}

// binder holds what is common to one statement.
type binder struct {
	o      Options
	params []*paramInfo
	// reads are the relations scanned, in order of first use; depends those named in the text.
	reads   []*catalog.Relation
	depends []catalog.OID
	// processors are those that are called in the text.
	processors []catalog.OID
	// inlining are the functions in SQL whose bodies are being bound, inlined counts their calls.
	inlining []inlining
	inlined  int
	// starlark are the functions in Starlark that are called.
	starlark map[catalog.OID]*fn.Func
	// stateReads are the state tables that a maintained view begins with.
	stateReads []*catalog.Relation
	// expanding is the stack of plain views being expanded.
	expanding []*catalog.Relation
	notices   []string
	depth     int
	// ctes are the WITH items of a statement that changes a table.
	ctes *cteScope
	// attached are the subqueries that are already part of a plan, regrouped those whose references are already those to
	// the output of a grouping.
	attached, regrouped map[plan.Node]bool
	// orders are the ORDER BYs of subqueries, by their nodes with the columns for it.
	orders map[plan.Node][]plan.SortKey
	// literals are the positions of untyped literals, for the error when one can't be read as its type.
	literals map[*plan.Const]ast.Pos
}

func newBinder(o Options) *binder {
	return &binder{o: o, attached: map[plan.Node]bool{}, regrouped: map[plan.Node]bool{}, literals: map[*plan.Const]ast.Pos{}}
}

// maxDepth bounds the nesting of queries and expressions, so that no text can exhaust the stack.
const maxDepth = 500

func (b *binder) enter(pos ast.Pos) {
	if b.depth++; b.depth > maxDepth {
		fail(sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").At(int(pos)))
	}
}

func (b *binder) leave() { b.depth-- }

// view says whether the plan is for a maintained view.
func (b *binder) view() bool { return b.o.View != nil }

func (b *binder) noteRead(r *catalog.Relation) {
	for _, x := range b.reads {
		if x.OID == r.OID {
			return
		}
	}
	b.reads = append(b.reads, r)
}

func (b *binder) noteDependency(r *catalog.Relation) {
	if len(b.expanding) > 0 {
		return
	}
	for _, x := range b.depends {
		if x == r.OID {
			return
		}
	}
	b.depends = append(b.depends, r.OID)
}

// finishQuery runs the passes after binding.
func (b *binder) finishQuery(root plan.Node) *plan.Query {
	q := &plan.Query{Root: root, Maintained: b.view(), Params: b.paramTypes(), Reads: b.reads, DependsOn: b.depends, Processors: b.processors, StateReads: b.stateReads}
	if v := b.o.View; v != nil {
		q.Mode = v.Mode
	}
	q.Root = b.optimise(root)
	b.derive(q)
	lastWindows(q.Root)
	verify(q.Root)
	q.Notices = append(q.Notices, b.notices...)
	return q
}
