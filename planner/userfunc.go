package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Functions that users made: those in SQL are put in place of the call, those in Starlark are called.

// FunctionMaker makes what evaluates a function in Starlark, for one goroutine.
type FunctionMaker func(f *catalog.Function) (func([]types.Datum) (types.Datum, error), error)

// maxInlined bounds the calls of SQL functions in one statement, those within other such functions included.
const maxInlined = 10_000

// BindFunction makes the catalog's description of a function, without OID, and checks a body in SQL.
func BindFunction(c *ast.CreateFunction, o Options) (f *catalog.Function, err error) {
	defer recoverBind(&err)
	f = &catalog.Function{Schema: c.Name.Schema, Name: c.Name.Name, Language: c.Language, Body: c.Body, Strict: c.Strict, Result: resolveType(c.Result)}
	seen := map[string]bool{}
	for _, d := range c.Args {
		if d.Name != "" && seen[d.Name] {
			failAt(d.At, sqlerr.InvalidObjectDefinition, "parameter name %q used more than once", d.Name)
		}
		seen[d.Name] = true
		f.Args = append(f.Args, catalog.Column{Name: d.Name, Type: resolveType(d.Type)})
	}
	if f.Language == "sql" {
		b := newBinder(o)
		args := make([]plan.Expr, len(f.Args))
		for i, a := range f.Args {
			args[i] = &plan.Const{Val: types.NullDatum, Typ: a.Type}
		}
		b.inline(f, args, c.BodyAt)
	}
	return f, nil
}

// userCall binds a call of a function that a user made; nil if there is none of that name.
func (x *exprBinder) userCall(n *ast.Call) plan.Expr {
	b := x.b
	if b.o.Catalog == nil {
		return nil
	}
	fs := b.o.Catalog.FunctionsNamed(n.Schema, n.Name, b.o.SearchPath)
	if len(fs) == 0 {
		return nil
	}
	x.onlyPlain(n)
	args, pos := x.bindList(n.Args)
	f := b.userFunction(fs, args)
	if f == nil {
		return nil
	}
	for i := range args {
		args[i] = b.cast(args[i], f.Args[i].Type, fn.Implicit, pos[i])
	}
	if len(b.expanding) == 0 && indexOfOID(b.processors, f.OID) < 0 {
		b.processors = append(b.processors, f.OID)
	}
	if f.Language == "sql" {
		return b.inline(f, args, n.At)
	}
	make := b.o.MakeFunction
	if make == nil {
		unsupported(n.At, "function %s can't be called here", f.Name)
	}
	u := &fn.Func{Name: f.Name, Class: fn.Scalar, Result: f.Result, Strict: f.Strict, Volatility: fn.Stable,
		Make: func() (func([]types.Datum) (types.Datum, error), error) { return make(f) }}
	for _, a := range f.Args {
		u.Args = append(u.Args, a.Type)
	}
	return &plan.Call{Fn: u, Args: args, Typ: f.Result, Pos: int(n.At)}
}

// onlyPlain refuses what a scalar function does not take.
func (x *exprBinder) onlyPlain(n *ast.Call) {
	if n.Star || n.Distinct || n.Within || len(n.OrderBy) > 0 || n.Filter != nil || n.Over != nil {
		failAt(n.At, sqlerr.WrongObjectType, "%s is not an aggregate or window function", n.Name)
	}
}

// userFunction picks the function whose arguments are those given, or can become them.
func (b *binder) userFunction(fs []*catalog.Function, args []plan.Expr) *catalog.Function {
	var near *catalog.Function
	for _, f := range fs {
		if len(f.Args) != len(args) {
			continue
		}
		exact, possible := true, true
		for i, a := range args {
			t := a.Type()
			exact = exact && t.Same(f.Args[i].Type)
			possible = possible && (isUnknown(t) || t.Same(f.Args[i].Type) || fn.CanCast(t, f.Args[i].Type, fn.Implicit))
		}
		if exact {
			return f
		}
		if possible && near == nil {
			near = f
		}
	}
	return near
}

// inline puts the body of a function in SQL in place of its call: SELECT expression, without FROM.
func (b *binder) inline(f *catalog.Function, args []plan.Expr, pos ast.Pos) plan.Expr {
	for _, g := range b.inlining {
		if g == f {
			unsupported(pos, "function %s calls itself, which is not supported", f.Name)
		}
	}
	if b.inlined++; b.inlined > maxInlined {
		failAt(pos, sqlerr.StatementTooComplex, "more than %d calls of SQL functions", maxInlined)
	}
	if b.o.ParseView == nil {
		unsupported(pos, "function %s can't be expanded here", f.Name)
	}
	b.inlining = append(b.inlining, f)
	defer func() {
		b.inlining = b.inlining[:len(b.inlining)-1]
		if p := recover(); p != nil {
			panic(withoutPosition(p))
		}
	}()
	q, err := b.o.ParseView(f.Body)
	must(err, pos)
	s, ok := q.Body.(*ast.Select)
	if !ok || len(q.With) > 0 || q.Limit != nil || q.Offset != nil || len(q.OrderBy) > 0 || len(s.From) > 0 || s.Where != nil || len(s.GroupBy) > 0 ||
		s.Having != nil || s.Distinct || len(s.Items) != 1 {
		unsupported(pos, "function %s is more than SELECT expression, which is not supported", f.Name)
	}
	sc := &scope{}
	for i, a := range f.Args {
		if a.Name != "" {
			sc.vis = append(sc.vis, visible{name: a.Name, expr: args[i]})
		}
	}
	x := &exprBinder{b: b, f: &frame{scope: sc}, clause: "functions", params: args}
	e := b.cast(x.value(s.Items[0].X), f.Result, fn.Assignment, pos)
	if !f.Strict || len(args) == 0 {
		return e
	}
	null := make([]plan.Expr, len(args))
	for i, a := range args {
		null[i] = &plan.IsNull{X: a}
	}
	c := plan.Expr(&plan.Or{Args: null})
	if len(null) == 1 {
		c = null[0]
	}
	return &plan.Case{Whens: []plan.When{{Cond: c, Then: &plan.Const{Val: types.NullDatum, Typ: f.Result}}}, Else: e, Typ: f.Result}
}

// parameter is $n in the body of a function in SQL.
func (x *exprBinder) parameter(n int, pos ast.Pos) plan.Expr {
	if n < 1 || n > len(x.params) {
		failAt(pos, sqlerr.UndefinedParameter, "there is no parameter $%d", n)
	}
	return x.params[n-1]
}
