package planner

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Functions that users made: those in SQL are put in place of the call (userinline.go), those in Starlark are called.

// FunctionMaker makes what evaluates functions in Starlark, for one goroutine.
type FunctionMaker interface {
	// Scalar is for a function that returns a value.
	Scalar(f *catalog.Function) (func([]types.Datum) (types.Datum, error), error)
	// Rows is for a function that returns rows: it gives each to emit, which says whether more are wanted.
	Rows(f *catalog.Function) (func(args []types.Datum, emit func([]types.Datum) bool) error, error)
}

// BindFunction makes the catalog's description of a function, without OID, and checks a body in SQL.
func BindFunction(c *ast.CreateFunction, o Options) (f *catalog.Function, err error) {
	defer recoverBind(&err)
	f = &catalog.Function{Schema: c.Name.Schema, Name: c.Name.Name, Language: c.Language, Body: c.Body, Strict: c.Strict, SetOf: c.SetOf || c.Table != nil,
		Volatility: c.Volatility, Result: types.Of(types.Void)}
	b := newBinder(o)
	seen := map[string]bool{}
	define := func(d ast.ColumnDef) catalog.Column {
		if d.Name != "" && seen[d.Name] {
			failAt(d.At, invalidFunction, "parameter name %q used more than once", d.Name)
		}
		seen[d.Name] = true
		return catalog.Column{Name: d.Name, Type: functionType(d.Type)}
	}
	for i, d := range c.Args {
		a := define(d)
		if d.Default != nil {
			b.argDefault(d.Default, a)
			a.Default = d.DefaultSQL
		} else if i > 0 && f.Args[i-1].Default != "" {
			failAt(d.At, invalidFunction, "input parameters after one with a default value must also have defaults")
		}
		f.Args = append(f.Args, a)
	}
	for _, d := range c.Table {
		f.Columns = append(f.Columns, define(d))
	}
	if c.Table == nil {
		f.Result = functionType(c.Result)
	}
	if f.Language == "sql" {
		args := make([]plan.Expr, len(f.Args))
		for i, a := range f.Args {
			args[i] = &plan.Const{Val: types.NullDatum, Typ: a.Type}
		}
		if f.SetOf {
			b.inlineRows(f, args, c.BodyAt)
		} else {
			b.inline(&exprBinder{b: b, f: &frame{scope: &scope{}}, subqueries: true}, f, args, c.BodyAt)
		}
	}
	return f, nil
}

// invalidFunction is the SQLSTATE of a definition that is not one.
const invalidFunction sqlerr.Code = "42P13"

// functionType resolves the type of a parameter or result.
func functionType(n ast.TypeName) types.Type {
	t := resolveType(n)
	if t.Kind >= types.Record && t.Kind != types.Int2Vector || t.Kind == types.Unknown {
		failAt(-1, sqlerr.FeatureNotSupported, "functions with type %s are not supported", t)
	}
	return t
}

// argDefault binds the default of a parameter.
func (b *binder) argDefault(e ast.Expr, a catalog.Column) plan.Expr {
	x := &exprBinder{b: b, f: &frame{scope: &scope{}}, clause: "DEFAULT expressions"}
	v := x.bind(e)
	if from := v.Type(); !isUnknown(from) && !fn.CanCast(from, a.Type, fn.Assignment) {
		failAt(e.Position(), sqlerr.DatatypeMismatch, "argument of DEFAULT must be type %s, not type %s", a.Type.NoMod(), from.NoMod())
	}
	return b.cast(v, a.Type, fn.Assignment, e.Position())
}

// userCandidate is a function that a call may mean, and where its arguments go.
type userCandidate struct {
	f    *catalog.Function
	to   []int // for each argument given: the parameter
	args []types.Type
	// ambiguous: another function of the schema takes the same arguments.
	ambiguous bool
}

// takes finds where the arguments of a call go; names are empty for positional ones. false: the function does not take them.
func takes(f *catalog.Function, n int, names []string) (userCandidate, bool) {
	c := userCandidate{f: f}
	given := make([]bool, len(f.Args))
	for i := range n {
		at := i
		if i < len(names) && names[i] != "" {
			at = slices.IndexFunc(f.Args, func(a catalog.Column) bool { return a.Name == names[i] })
		}
		if at < 0 || at >= len(f.Args) || given[at] {
			return c, false
		}
		given[at] = true
		c.to, c.args = append(c.to, at), append(c.args, f.Args[at].Type.NoMod())
	}
	for i, a := range f.Args {
		if !given[i] && a.Default == "" {
			return c, false
		}
	}
	return c, true
}

// userFunctions are the functions that a call can mean because users made them; none for a name of a built-in function.
func (b *binder) userFunctions(n *ast.Call) []*catalog.Function {
	if b.o.Catalog == nil || n.Schema == "" && (specialForms[n.Name] != nil || len(fn.Lookup(n.Name)) > 0) {
		return nil
	}
	return b.o.Catalog.FunctionsNamed(n.Schema, n.Name, b.o.SearchPath)
}

// userFunction picks the function that a call means and binds its arguments, defaults included, in the order of its parameters.
func (x *exprBinder) userFunction(n *ast.Call, fs []*catalog.Function) (*catalog.Function, []plan.Expr) {
	b := x.b
	x.onlyPlain(n)
	given, pos := x.bindList(n.Args)
	ts := make([]types.Type, len(given))
	for i, a := range given {
		ts[i] = a.Type()
	}
	var cands []userCandidate
	var params [][]types.Type
	for _, f := range fs {
		if c, ok := takes(f, len(n.Args), n.ArgNames); ok && !shadowed(cands, c) {
			cands, params = append(cands, c), append(params, c.args)
		}
	}
	at, fit := fn.Choose(params, ts)
	if at < 0 {
		b.noFunction(n, ts, fit)
	}
	c := cands[at]
	if c.ambiguous {
		b.noFunction(n, ts, 2)
	}
	args := make([]plan.Expr, len(c.f.Args))
	for i, to := range c.to {
		args[to] = b.cast(given[i], c.f.Args[to].Type, fn.Implicit, pos[i])
	}
	for i, a := range c.f.Args {
		if args[i] == nil {
			args[i] = b.argDefault(b.storedExpr(a.Default), a)
		}
	}
	if len(b.expanding) == 0 && indexOfOID(b.processors, c.f.OID) < 0 {
		b.processors = append(b.processors, c.f.OID)
	}
	return c.f, args
}

// shadowed says whether a candidate takes the same arguments as an earlier one: one in an earlier schema hides it, one in the same schema, from
// which defaults tell it apart, makes such a call ambiguous.
func shadowed(cands []userCandidate, c userCandidate) bool {
	for i, d := range cands {
		if !slices.EqualFunc(d.args, c.args, types.Type.Same) {
			continue
		}
		cands[i].ambiguous = cands[i].ambiguous || d.f.Schema == c.f.Schema
		return true
	}
	return false
}

func (b *binder) noFunction(n *ast.Call, ts []types.Type, fit int) {
	names := make([]string, len(ts))
	for i, t := range ts {
		if names[i] = t.NoMod().String(); i < len(n.ArgNames) && n.ArgNames[i] != "" {
			names[i] = n.ArgNames[i] + " => " + names[i]
		}
	}
	call := n.Name + "(" + strings.Join(names, ", ") + ")"
	if n.Schema != "" {
		call = n.Schema + "." + call
	}
	if fit > 1 {
		fail(sqlerr.New(sqlerr.AmbiguousFunction, "function %s is not unique", call).
			WithHint("Could not choose a best candidate function. You might need to add explicit type casts.").At(int(n.At)))
	}
	fail(sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", call).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.").At(int(n.At)))
}

// userCall binds a call in an expression of a function that a user made.
func (x *exprBinder) userCall(n *ast.Call, fs []*catalog.Function) plan.Expr {
	b := x.b
	f, args := x.userFunction(n, fs)
	if f.SetOf {
		if !x.sets || x.block == nil {
			failAt(n.At, sqlerr.FeatureNotSupported, "set-returning functions are not allowed in %s", x.clause)
		}
		if f.Language == "sql" {
			fail(sqlerr.Unsupported("function %s in SQL, which returns rows, is supported in FROM only", f.Name).
				WithHint("Write FROM %s(...), or FROM ..., LATERAL %s(...).", f.Name, f.Name).At(int(n.At)))
		}
		return x.block.addSet(b.calledRows(f, args, n.At))
	}
	if f.Language == "sql" {
		return b.inline(x, f, args, n.At)
	}
	return &plan.Call{Fn: b.called(f, n.At), Args: args, Typ: f.Result, Pos: int(n.At)}
}

// calledRows is a call of a function in Starlark that returns rows.
func (b *binder) calledRows(f *catalog.Function, args []plan.Expr, pos ast.Pos) *plan.Call {
	u := b.called(f, pos)
	return &plan.Call{Fn: u, Args: args, Typ: u.Result, Pos: int(pos)}
}

// called describes a function in Starlark: the same for each call of it in a statement, so that equal calls are equal.
func (b *binder) called(f *catalog.Function, pos ast.Pos) *fn.Func {
	if u := b.starlark[f.OID]; u != nil {
		return u
	}
	maker := b.o.MakeFunction
	if maker == nil {
		unsupported(pos, "function %s can't be called here", f.Name)
	}
	u := &fn.Func{Name: f.Name, Class: fn.Scalar, Result: f.Result, Strict: f.Strict, Volatility: fn.Stable,
		Make: func() (func([]types.Datum) (types.Datum, error), error) { return maker.Scalar(f) }}
	if f.SetOf {
		u.Class, u.Make = fn.Set, nil
		u.MakeSet = func() (func([]types.Datum, func([]types.Datum) bool) error, error) { return maker.Rows(f) }
		for _, c := range f.Columns {
			u.OutCols = append(u.OutCols, fn.OutCol{Name: c.Name, Type: c.Type})
		}
		if len(f.Columns) == 1 {
			u.Result = f.Columns[0].Type
		}
	}
	for _, a := range f.Args {
		u.Args = append(u.Args, a.Type)
	}
	if b.starlark == nil {
		b.starlark = map[catalog.OID]*fn.Func{}
	}
	b.starlark[f.OID] = u
	return u
}

// onlyPlain refuses what a scalar function does not take.
func (x *exprBinder) onlyPlain(n *ast.Call) {
	if n.Star || n.Distinct || n.Within || len(n.OrderBy) > 0 || n.Filter != nil || n.Over != nil {
		failAt(n.At, sqlerr.WrongObjectType, "%s is not an aggregate or window function", n.Name)
	}
	if n.Variadic {
		unsupported(n.At, "VARIADIC arguments are not supported")
	}
}

// userRows binds a call in FROM of a function that returns rows; nil if the call means another function.
func (fb *fromBinder) userRows(x *exprBinder, t *ast.FuncRef, alias string) *fromPart {
	n := t.Call
	fs := fb.b.userFunctions(n)
	if !slices.ContainsFunc(fs, func(f *catalog.Function) bool { return f.SetOf }) {
		return nil
	}
	f, args := x.userFunction(n, fs)
	var node plan.Node
	single := f.Columns == nil
	switch {
	case !f.SetOf:
		return nil
	case f.Language != "sql":
		node = newTableFunc(nil, fb.b.calledRows(f, args, n.At), f.Name, t.Ordinality)
	case t.Ordinality:
		unsupported(n.At, "WITH ORDINALITY of function %s in SQL is not supported", f.Name)
	default:
		node = fb.b.inlineRows(f, args, n.At)
	}
	if single && t.Alias != "" {
		names := make([]string, width(node))
		for i, c := range columns(node) {
			names[i] = c.Name
		}
		names[0] = t.Alias
		if tf, ok := node.(*plan.TableFunc); ok {
			tf.P.Columns[0].Name = t.Alias
		} else {
			node = rename(node, names)
		}
	}
	p := fb.named(node, alias, "", t.Columns, nil, n.At)
	p.scope.sources[0].isFunc = single && !t.Ordinality
	return p
}
