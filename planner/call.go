package planner

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// specialForms are the calls that are not functions of the catalogue.
var specialForms map[string]func(x *exprBinder, n *ast.Call) plan.Expr

func init() {
	now := func(t types.Type) func(*exprBinder, *ast.Call) plan.Expr {
		return func(x *exprBinder, n *ast.Call) plan.Expr { return x.now(n, t) }
	}
	user := func(x *exprBinder, n *ast.Call) plan.Expr { return x.session(n, x.b.o.SessionUser) }
	database := func(x *exprBinder, n *ast.Call) plan.Expr { return x.session(n, x.b.o.Database) }
	specialForms = map[string]func(x *exprBinder, n *ast.Call) plan.Expr{
		"coalesce":              (*exprBinder).coalesce,
		"nullif":                (*exprBinder).nullif,
		"greatest":              (*exprBinder).extremum,
		"least":                 (*exprBinder).extremum,
		"grouping":              (*exprBinder).grouping,
		"window":                (*exprBinder).windowCall,
		"session_window":        (*exprBinder).sessionWindow,
		"make_interval":         (*exprBinder).makeInterval,
		"pg_typeof":             (*exprBinder).typeOf,
		"now":                   now(types.Of(types.TimestampTZ)),
		"current_timestamp":     now(types.Of(types.TimestampTZ)),
		"transaction_timestamp": now(types.Of(types.TimestampTZ)),
		"statement_timestamp":   now(types.Of(types.TimestampTZ)),
		"localtimestamp":        now(types.Of(types.Timestamp)),
		"current_date":          now(types.Of(types.Date)),
		"current_time":          now(types.Of(types.Time)),
		"localtime":             now(types.Of(types.Time)),
		"current_user":          user,
		"session_user":          user,
		"user":                  user,
		"current_role":          user,
		"current_database":      database,
		"current_catalog":       database,
		"current_schema":        (*exprBinder).currentSchema,
	}
}

func (x *exprBinder) callExpr(n *ast.Call) plan.Expr {
	if fs := x.b.userFunctions(n); len(fs) > 0 {
		return x.userCall(n, fs)
	}
	if n.Schema != "" && n.Schema != "pg_catalog" && !(n.Schema == "information_schema" && strings.HasPrefix(n.Name, "_pg_")) {
		failAt(n.At, sqlerr.UndefinedFunction, "function %s.%s does not exist", n.Schema, n.Name)
	}
	if f := specialForms[n.Name]; f != nil && n.Over == nil {
		return f(x, n)
	}
	if n.ArgNames != nil && anyNamed(n.ArgNames) {
		unsupported(n.At, "named arguments are not supported for function %s", n.Name)
	}
	if n.Variadic {
		unsupported(n.At, "VARIADIC arguments are not supported")
	}
	class, found := classOf(n.Name)
	switch {
	case n.Over != nil:
		return x.overCall(n, class, found)
	case found && class == fn.Aggregate:
		return x.aggregate(n)
	case found && class == fn.Window:
		failAt(n.At, sqlerr.WrongObjectType, "window function %s requires an OVER clause", n.Name)
	case found && class == fn.Set:
		return x.setCall(n)
	}
	x.onlyAggregate(n)
	args := make([]plan.Expr, len(n.Args))
	for i, a := range n.Args {
		args[i] = x.bind(a)
	}
	return x.b.call(n.Name, args, n.At, fn.Scalar)
}

func anyNamed(names []string) bool {
	for _, s := range names {
		if s != "" {
			return true
		}
	}
	return false
}

// classOf gives the class of the functions of a name.
func classOf(name string) (fn.Class, bool) {
	fs := fn.Lookup(name)
	if len(fs) == 0 {
		return 0, false
	}
	return fs[0].Class, true
}

// onlyAggregate refuses what only aggregates take.
func (x *exprBinder) onlyAggregate(n *ast.Call) {
	what := ""
	switch {
	case n.Star:
		if len(fnWithArgs(n.Name, 0)) == 0 {
			x.b.call(n.Name, nil, n.At)
		}
		failAt(n.At, sqlerr.WrongObjectType, "%s(*) specified, but %s is not an aggregate function", n.Name, n.Name)
	case n.Distinct:
		what = "DISTINCT"
	case n.Within:
		what = "WITHIN GROUP"
	case len(n.OrderBy) > 0:
		what = "ORDER BY"
	case n.Filter != nil:
		what = "FILTER"
	default:
		return
	}
	failAt(n.At, sqlerr.WrongObjectType, "%s specified, but %s is not an aggregate function", what, n.Name)
}

func (x *exprBinder) coalesce(n *ast.Call) plan.Expr {
	es, pos := x.bindList(n.Args)
	es, t := x.b.unify("COALESCE", es, pos)
	return &plan.Coalesce{Args: es, Typ: t}
}

func (x *exprBinder) bindList(args []ast.Expr) ([]plan.Expr, []ast.Pos) {
	var es []plan.Expr
	var pos []ast.Pos
	for _, a := range args {
		es = append(es, x.bind(a))
		pos = append(pos, loc(a))
	}
	return es, pos
}

// nullif is CASE WHEN a = b THEN NULL ELSE a END, of a's type.
func (x *exprBinder) nullif(n *ast.Call) plan.Expr {
	if len(n.Args) != 2 {
		failAt(n.At, sqlerr.SyntaxError, "NULLIF must have two arguments")
	}
	a, c := x.bind(n.Args[0]), x.bind(n.Args[1])
	eq := x.b.operator("=", a, c, n.At)
	a = x.b.settle(a)
	return &plan.Case{Whens: []plan.When{{Cond: eq, Then: &plan.Const{Val: types.NullDatum, Typ: a.Type()}}}, Else: a, Typ: a.Type()}
}

// extremum is GREATEST or LEAST.
func (x *exprBinder) extremum(n *ast.Call) plan.Expr {
	es, pos := x.bindList(n.Args)
	es, t := x.b.unify(strings.ToUpper(n.Name), es, pos)
	if _, ok := classOf(n.Name); ok {
		c := x.b.call(n.Name, es, n.At, fn.Scalar)
		c.Typ = t
		return c
	}
	// A running choice: the NULLs are skipped, as in PostgreSQL.
	op := ">"
	if n.Name == "least" {
		op = "<"
	}
	out := es[0]
	for _, e := range es[1:] {
		better := &plan.Or{Args: []plan.Expr{&plan.IsNull{X: e}, x.b.operator(op, out, e, n.At)}}
		out = &plan.Case{Whens: []plan.When{{Cond: better, Then: out}}, Else: e, Typ: t}
	}
	return out
}

func (x *exprBinder) now(n *ast.Call, t types.Type) plan.Expr {
	e := plan.Expr(&plan.Now{Typ: types.Of(types.TimestampTZ)})
	if len(n.Args) == 1 {
		if c, ok := n.Args[0].(*ast.Const); ok && c.Kind == ast.NumberConst {
			if p, ok := parseInt(c.Text); ok && p >= 0 && p < 6 {
				t.Mod = int32(p) + 1
			}
		}
	} else if len(n.Args) > 1 {
		x.b.call(n.Name, make([]plan.Expr, 0), n.At, fn.Scalar)
	}
	return x.b.cast(e, t, fn.Explicit, n.At)
}

// session is a value that the session knows, as name.
func (x *exprBinder) session(n *ast.Call, v string) plan.Expr {
	if x.b.view() {
		unsupported(n.At, "%s is not allowed in a materialized view", n.Name)
	}
	return &plan.Const{Val: types.StringDatum(v), Typ: types.Of(types.Name)}
}

func (x *exprBinder) currentSchema(n *ast.Call) plan.Expr {
	for _, s := range x.b.o.SearchPath {
		if x.b.o.Catalog.Schema(s) != nil {
			return x.session(n, s)
		}
	}
	return &plan.Const{Val: types.NullDatum, Typ: types.Of(types.Name)}
}

// typeOf is pg_typeof, which the binder knows best: it tells an untyped literal from text.
func (x *exprBinder) typeOf(n *ast.Call) plan.Expr {
	if len(n.Args) != 1 {
		args, _ := x.bindList(n.Args)
		return x.b.call(n.Name, args, n.At, fn.Scalar)
	}
	t := x.bind(n.Args[0]).Type()
	return &plan.Const{Val: types.IntDatum(int64(t.OID())), Typ: types.Of(types.Regtype)}
}

var makeIntervalArgs = []string{"years", "months", "weeks", "days", "hours", "mins", "secs"}

// makeInterval is make_interval, the one function whose arguments are usually named.
func (x *exprBinder) makeInterval(n *ast.Call) plan.Expr {
	args := make([]plan.Expr, len(makeIntervalArgs))
	for i, a := range n.Args {
		at := i
		if n.ArgNames != nil && n.ArgNames[i] != "" {
			at = indexOf(makeIntervalArgs, n.ArgNames[i])
		}
		if at < 0 || at >= len(args) || args[at] != nil {
			failAt(n.At, sqlerr.UndefinedFunction, "function make_interval with these arguments does not exist")
		}
		args[at] = x.bind(a)
	}
	for i := range args {
		if args[i] == nil {
			args[i] = &plan.Const{Typ: int4Type}
			if i == len(args)-1 {
				args[i] = &plan.Const{Typ: types.Of(types.Float8)}
			}
		}
	}
	return x.b.call("make_interval", args, n.At, fn.Scalar)
}

func indexOf(ss []string, s string) int {
	for i := range ss {
		if ss[i] == s {
			return i
		}
	}
	return -1
}

// inner gives a binder for the arguments of an aggregate.
func (x *exprBinder) inner() *exprBinder {
	y := *x
	y.inAgg, y.aggs, y.overs, y.sets, y.windows = true, false, false, false, true
	return &y
}

func (x *exprBinder) aggregate(n *ast.Call) plan.Expr {
	switch {
	case x.inAgg:
		failAt(n.At, sqlerr.GroupingError, "aggregate function calls cannot be nested")
	case !x.aggs || x.block == nil:
		failAt(n.At, sqlerr.GroupingError, "aggregate functions are not allowed in %s", x.clause)
	}
	agg := x.aggCall(n)
	if overSession(agg) {
		// Sessions are known only when the rows of a group have been put together.
		unsupported(n.At, "session_window in the arguments of an aggregate function is not supported")
	}
	if ownedOutside(agg) {
		unsupported(n.At, "aggregate functions over columns of an outer query only are not supported")
	}
	return x.block.addAgg(agg)
}

// overSession says whether an aggregate reads the block's session window.
func overSession(a plan.Agg) bool {
	found := false
	see := func(e plan.Expr) {
		walk(e, func(e plan.Expr) {
			w, ok := e.(*eventWindow)
			found = found || ok && w.session
		})
	}
	for _, e := range a.Args {
		see(e)
	}
	for _, k := range a.OrderBy {
		see(k.X)
	}
	if a.Filter != nil {
		see(a.Filter)
	}
	return found
}

// ownedOutside says whether all columns of the call belong to enclosing queries, whose aggregate it then would be.
func ownedOutside(a plan.Agg) bool {
	outer, own := false, false
	see := func(e plan.Expr) {
		walk(e, func(e plan.Expr) {
			switch e.(type) {
			case *outerRef:
				outer = true
			case *plan.Col, *eventWindow:
				own = true
			}
		})
	}
	for _, e := range a.Args {
		see(e)
	}
	for _, k := range a.OrderBy {
		see(k.X)
	}
	return outer && !own
}

// aggCall binds an aggregate's arguments, ORDER BY and FILTER over the input of the grouping.
func (x *exprBinder) aggCall(n *ast.Call) plan.Agg {
	in := x.inner()
	if n.Within {
		return in.orderedSet(n)
	}
	args, _ := in.bindList(n.Args)
	if len(args) == 0 && !n.Star && n.Name == "count" {
		failAt(n.At, sqlerr.WrongObjectType, "count(*) must be used to call a parameterless aggregate function")
	}
	c := x.b.call(n.Name, args, n.At, fn.Aggregate)
	if c.Fn.OrderedSet {
		failAt(n.At, sqlerr.WrongObjectType, "WITHIN GROUP is required for ordered-set aggregate %s", n.Name)
	}
	a := plan.Agg{Fn: c.Fn, Args: c.Args, Distinct: n.Distinct, Typ: c.Typ}
	a.OrderBy = in.sortKeys(n.OrderBy)
	if n.Distinct {
		for i, k := range a.OrderBy {
			if !containsExpr(a.Args, k.X) {
				failAt(loc(n.OrderBy[i].X), sqlerr.InvalidColumnReference, "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
			}
		}
		if n.Star {
			failAt(n.At, sqlerr.SyntaxError, "DISTINCT specified, but %s(*) has no arguments", n.Name)
		}
	}
	a.Filter = in.filter(n.Filter)
	return a
}

func fnWithArgs(name string, k int) (out []*fn.Func) {
	for _, f := range fn.Lookup(name) {
		if len(f.Args) == k {
			out = append(out, f)
		}
	}
	return out
}

func containsExpr(es []plan.Expr, e plan.Expr) bool { return findExpr(es, e) >= 0 }

func findExpr(es []plan.Expr, e plan.Expr) int {
	for i, x := range es {
		if equal(x, e) {
			return i
		}
	}
	return -1
}

func (x *exprBinder) filter(e ast.Expr) plan.Expr {
	if e == nil {
		return nil
	}
	y := *x
	y.clause = "FILTER"
	return y.condition(e)
}

// orderedSet binds f(direct) WITHIN GROUP (ORDER BY x).
func (x *exprBinder) orderedSet(n *ast.Call) plan.Agg {
	direct, _ := x.bindList(n.Args)
	keys := x.rawSortKeys(n.OrderBy)
	args := append([]plan.Expr{}, direct...)
	for _, k := range keys {
		args = append(args, k.X)
	}
	c := x.b.call(n.Name, args, n.At, fn.Aggregate)
	if !c.Fn.OrderedSet {
		failAt(n.At, sqlerr.WrongObjectType, "%s is not an ordered-set aggregate, so it cannot have WITHIN GROUP", n.Name)
	}
	if n.Distinct {
		failAt(n.At, sqlerr.SyntaxError, "cannot use DISTINCT with WITHIN GROUP")
	}
	a := plan.Agg{Fn: c.Fn, Typ: c.Typ, Direct: c.Args[:len(direct)]}
	for _, d := range a.Direct {
		if _, _, cols := colRange(d); cols {
			unsupported(n.At, "direct arguments of %s must be constants", n.Name)
		}
	}
	for i, k := range keys {
		k.X = c.Args[len(direct)+i]
		a.OrderBy = append(a.OrderBy, k)
	}
	a.Filter = x.filter(n.Filter)
	return a
}

// rawSortKeys binds ORDER BY items whose types may still be unknown.
func (x *exprBinder) rawSortKeys(items []ast.OrderItem) []plan.SortKey {
	var out []plan.SortKey
	for _, it := range items {
		out = append(out, orderKey(x.bind(it.X), it))
	}
	return out
}

func (x *exprBinder) sortKeys(items []ast.OrderItem) []plan.SortKey {
	keys := x.rawSortKeys(items)
	for i := range keys {
		keys[i].X = x.b.sortable(x.b.settle(keys[i].X), loc(items[i].X))
	}
	return keys
}

// sortable checks that values of e's type can be ordered.
func (b *binder) sortable(e plan.Expr, pos ast.Pos) plan.Expr {
	switch t := e.Type(); t.Kind {
	case types.JSON, types.Void:
		fail(sqlerr.New(sqlerr.UndefinedFunction, "could not identify an ordering operator for type %s", t).
			WithHint("Use an explicit ordering operator or modify the query.").At(int(pos)))
	}
	return e
}

// groupable checks that values of e's type can be compared for equality.
func (b *binder) groupable(e plan.Expr, pos ast.Pos) plan.Expr {
	switch t := e.Type(); t.Kind {
	case types.JSON, types.Void:
		failAt(pos, sqlerr.UndefinedFunction, "could not identify an equality operator for type %s", t)
	}
	return e
}

// orderKey applies ASC, DESC, USING and NULLS to a key.
func orderKey(e plan.Expr, it ast.OrderItem) plan.SortKey {
	k := plan.SortKey{X: e, Desc: it.Desc}
	switch it.Using {
	case "", "<":
	case ">":
		k.Desc = true
	default:
		fail(sqlerr.New(sqlerr.WrongObjectType, "operator %s is not a valid ordering operator", it.Using).
			WithHint("Ordering operators must be \"<\" or \">\" members of btree operator families.").At(int(loc(it.X))))
	}
	k.NullsFirst = k.Desc
	if it.NullsFirst != nil {
		k.NullsFirst = *it.NullsFirst
	}
	return k
}

// setCall is a set-returning function in the select list.
func (x *exprBinder) setCall(n *ast.Call) plan.Expr {
	x.onlyAggregate(n)
	if !x.sets || x.block == nil {
		failAt(n.At, sqlerr.FeatureNotSupported, "set-returning functions are not allowed in %s", x.clause)
	}
	args, _ := x.bindList(n.Args)
	return x.block.addSet(x.b.call(n.Name, args, n.At, fn.Set))
}
