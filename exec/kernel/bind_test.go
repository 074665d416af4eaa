package kernel

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// binder turns syntax into bound expressions, enough for the tests of this package. Columns are by name.
type binder struct {
	env  *types.Env
	cols []string
	typs []types.Type
}

// bindText parses and binds an expression over columns.
func bindText(src string, env *types.Env, cols []string, typs []types.Type) (e plan.Expr, err error) {
	a, err := parser.ParseExpr(src)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	b := binder{env: env, cols: cols, typs: typs}
	return b.known(b.expr(a)), nil
}

func check[T any](v T, err error) T {
	if err != nil {
		panic(error(sqlerr.From(err)))
	}
	return v
}

// known turns an untyped literal into text.
func (b *binder) known(e plan.Expr) plan.Expr {
	if e.Type().Kind == types.Unknown {
		return b.to(e, types.Of(types.Text), fn.Implicit)
	}
	return e
}

// to brings an expression to a type.
func (b *binder) to(e plan.Expr, t types.Type, ctx fn.CastContext) plan.Expr {
	if c, ok := e.(*plan.Const); ok && c.Typ.Kind == types.Unknown {
		if c.Val.Null {
			return &plan.Const{Val: c.Val, Typ: t}
		}
		d := check(types.Parse(t.NoMod(), string(c.Val.B), b.env))
		e = &plan.Const{Val: d, Typ: t.NoMod()}
	}
	f := check(fn.ResolveCast(e.Type(), t, ctx))
	if f == nil {
		if c, ok := e.(*plan.Const); ok {
			return &plan.Const{Val: c.Val, Typ: t}
		}
		if !e.Type().Same(t) { // relabel
			return &plan.Coalesce{Args: []plan.Expr{e}, Typ: t}
		}
		return e
	}
	return &plan.Call{Fn: f, Args: []plan.Expr{e}, Typ: t}
}

func (b *binder) call(name string, args ...plan.Expr) plan.Expr {
	ts := typesOf(args)
	f, want, result, err := fn.ResolveCall(name, ts, fn.Scalar, fn.Set)
	check(0, err)
	for i := range args {
		args[i] = b.to(args[i], want[i], fn.Implicit)
	}
	return &plan.Call{Fn: f, Args: args, Typ: result}
}

func (b *binder) op(name string, l, r plan.Expr) plan.Expr {
	var lt *types.Type
	rt := r.Type()
	if l != nil {
		t := l.Type()
		lt = &t
	}
	f, wl, wr, result, err := fn.ResolveOperator(name, lt, &rt)
	check(0, err)
	args := []plan.Expr{b.to(r, wr, fn.Implicit)}
	if l != nil {
		args = []plan.Expr{b.to(l, wl, fn.Implicit), args[0]}
	}
	return &plan.Call{Fn: f, Args: args, Typ: result}
}

func (b *binder) exprs(as []ast.Expr) []plan.Expr {
	out := make([]plan.Expr, len(as))
	for i, a := range as {
		out[i] = b.expr(a)
	}
	return out
}

// common brings expressions to their common type.
func (b *binder) common(es []plan.Expr) types.Type {
	t := check(fn.CommonType(typesOf(es)))
	for i := range es {
		es[i] = b.to(es[i], t, fn.Implicit)
	}
	return t
}

func (b *binder) boolean(a ast.Expr) plan.Expr {
	return b.to(b.expr(a), types.Of(types.Bool), fn.Implicit)
}

func (b *binder) expr(a ast.Expr) plan.Expr {
	switch x := a.(type) {
	case *ast.Const:
		return b.literal(x)
	case *ast.IntervalLit:
		return &plan.Const{Val: check(types.Parse(types.Of(types.Interval), x.Text, b.env)), Typ: types.Of(types.Interval)}
	case *ast.ColumnRef:
		for i, c := range b.cols {
			if c == x.Parts[0] {
				return &plan.Col{Index: i, Typ: b.typs[i], Name: c}
			}
		}
		panic(sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", x.Parts[0]))
	case *ast.Cast:
		t := types.Of(types.Char) // the parser's name for the word char without quotes is bpchar
		if x.Type.Name != "char" {
			t = check(types.Modded(x.Type.Name, x.Type.Mods))
		}
		if x.Type.Array {
			mod := t.Mod
			t = types.ArrayOf(t)
			t.Mod = mod
		}
		e := b.expr(x.X)
		if arr, ok := x.X.(*ast.ArrayExpr); ok && len(arr.Elems) == 0 {
			return &plan.ArrayCtor{Typ: t}
		}
		return b.to(e, t, fn.Explicit)
	case *ast.Unary:
		return b.op(x.Op, nil, b.expr(x.X))
	case *ast.Binary:
		return b.op(x.Op, b.expr(x.L), b.expr(x.R))
	case *ast.BoolOp:
		args := make([]plan.Expr, len(x.Args))
		for i, a := range x.Args {
			args[i] = b.boolean(a)
		}
		if x.And {
			return &plan.And{Args: args}
		}
		return &plan.Or{Args: args}
	case *ast.Not:
		return &plan.Not{X: b.boolean(x.X)}
	case *ast.Like:
		return b.like(x)
	case *ast.Between:
		v := b.expr(x.X)
		e := plan.Expr(&plan.And{Args: []plan.Expr{b.op(">=", v, b.expr(x.Lo)), b.op("<=", v, b.expr(x.Hi))}})
		if x.Not {
			return &plan.Not{X: e}
		}
		return e
	case *ast.In:
		return b.in(x)
	case *ast.IsTest:
		e := b.expr(x.X)
		if x.What == "null" {
			return &plan.IsNull{X: b.known(e), Not: x.Not}
		}
		return &plan.IsBool{X: b.to(e, types.Of(types.Bool), fn.Implicit), What: x.What[0], Not: x.Not}
	case *ast.IsDistinct:
		es := []plan.Expr{b.expr(x.L), b.expr(x.R)}
		b.common(es)
		return &plan.IsDistinct{L: es[0], R: es[1], Not: x.Not}
	case *ast.Quantified:
		v, arr := b.expr(x.X), b.expr(x.Array)
		if arr.Type().Kind == types.Unknown {
			arr = b.to(arr, types.ArrayOf(v.Type()), fn.Implicit)
		}
		elem, vt := arr.Type().ElemType(), v.Type()
		f, wl, wr, _, err := fn.ResolveOperator(x.Op, &vt, &elem)
		check(0, err)
		return &plan.Quantified{X: b.to(v, wl, fn.Implicit), Array: b.to(arr, types.ArrayOf(wr), fn.Implicit), Cmp: f, All: x.All}
	case *ast.Case:
		return b.caseExpr(x)
	case *ast.ArrayExpr:
		es := b.exprs(x.Elems)
		return &plan.ArrayCtor{Elems: es, Typ: types.ArrayOf(b.common(es))}
	case *ast.Subscript:
		return b.subscript(x)
	case *ast.Row:
		es := b.exprs(x.Args)
		for i := range es {
			es[i] = b.known(es[i])
		}
		return &plan.RowCtor{Args: es}
	case *ast.Call:
		return b.callExpr(x)
	}
	panic(sqlerr.New(sqlerr.FeatureNotSupported, "test binder: %T", a))
}

func (b *binder) literal(x *ast.Const) plan.Expr {
	switch x.Kind {
	case ast.NullConst:
		return &plan.Const{Val: types.NullDatum, Typ: types.Of(types.Unknown)}
	case ast.BoolConst:
		return &plan.Const{Val: types.BoolDatum(x.Text == "true"), Typ: types.Of(types.Bool)}
	case ast.NumberConst:
		for _, k := range []types.Kind{types.Int4, types.Int8, types.Numeric} {
			if d, err := types.Parse(types.Of(k), x.Text, b.env); err == nil {
				return &plan.Const{Val: d, Typ: types.Of(k)}
			}
		}
	}
	return &plan.Const{Val: types.StringDatum(x.Text), Typ: types.Of(types.Unknown)}
}

func (b *binder) like(x *ast.Like) plan.Expr {
	pat := b.expr(x.Pat)
	if x.Escape != nil {
		name := "like_escape"
		if x.Op == "similar" {
			name = "similar_to_escape"
		}
		pat = b.call(name, pat, b.expr(x.Escape))
	} else if x.Op == "similar" {
		pat = b.call("similar_to_escape", pat)
	}
	op := map[string]string{"like": "~~", "ilike": "~~*", "similar": "~"}[x.Op]
	if x.Not {
		op = "!" + op
	}
	return b.op(op, b.expr(x.X), pat)
}

func (b *binder) in(x *ast.In) plan.Expr {
	es := append([]plan.Expr{b.expr(x.X)}, b.exprs(x.List)...)
	t := b.common(es)
	n := &plan.InList{X: es[0], Not: x.Not}
	for _, e := range es[1:] {
		c, ok := Fold(e).(*plan.Const)
		if !ok {
			panic(sqlerr.New(sqlerr.FeatureNotSupported, "test binder: IN of expressions"))
		}
		if c.Val.Null {
			n.Null = true
		} else {
			n.List = append(n.List, c.Val)
		}
	}
	_ = t
	return n
}

func (b *binder) caseExpr(x *ast.Case) plan.Expr {
	n := &plan.Case{}
	var vals []plan.Expr
	for _, w := range x.Whens {
		var cond plan.Expr
		if x.X != nil {
			cond = b.op("=", b.expr(x.X), b.expr(w.Cond))
		} else {
			cond = b.boolean(w.Cond)
		}
		n.Whens = append(n.Whens, plan.When{Cond: cond})
		vals = append(vals, b.expr(w.Then))
	}
	if x.Else != nil {
		vals = append(vals, b.expr(x.Else))
	} else {
		vals = append(vals, b.literal(&ast.Const{Kind: ast.NullConst}))
	}
	n.Typ = b.common(vals)
	for i := range n.Whens {
		n.Whens[i].Then = vals[i]
	}
	n.Else = vals[len(vals)-1]
	return n
}

func (b *binder) subscript(x *ast.Subscript) plan.Expr {
	bound := func(a ast.Expr) plan.Expr {
		if a == nil {
			return &plan.Const{Val: types.NullDatum, Typ: types.Of(types.Int4)}
		}
		return b.to(b.expr(a), types.Of(types.Int4), fn.Implicit)
	}
	if inner, ok := x.X.(*ast.Subscript); ok && x.Slice && inner.Slice {
		return b.call("array_slice", b.expr(inner.X), bound(inner.Lo), bound(inner.Hi), bound(x.Lo), bound(x.Hi))
	}
	arr := b.expr(x.X)
	if x.Slice {
		return b.call("array_slice", arr, bound(x.Lo), bound(x.Hi))
	}
	return &plan.Subscript{X: arr, Index: bound(x.Lo), Typ: arr.Type().ElemType()}
}

func (b *binder) callExpr(x *ast.Call) plan.Expr {
	args := b.exprs(x.Args)
	switch x.Name {
	case "coalesce":
		return &plan.Coalesce{Typ: b.common(args), Args: args}
	case "nullif":
		eq := b.op("=", args[0], args[1])
		return &plan.Case{Whens: []plan.When{{Cond: eq, Then: &plan.Const{Val: types.NullDatum, Typ: args[0].Type()}}}, Else: args[0], Typ: args[0].Type()}
	}
	return b.call(strings.ToLower(x.Name), args...)
}
