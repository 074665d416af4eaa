package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

var (
	boolType = types.Of(types.Bool)
	int8Type = types.Of(types.Int8)
	int4Type = types.Of(types.Int4)
	textType = types.Of(types.Text)
)

func isUnknown(t types.Type) bool { return t.Kind == types.Unknown }

// cast gives e as type t where the context allows it; literals are read at once. It raises 42846.
func (b *binder) cast(e plan.Expr, t types.Type, ctx fn.CastContext, pos ast.Pos) plan.Expr {
	from := e.Type()
	if from == t {
		return e
	}
	if isUnknown(from) {
		switch x := e.(type) {
		case *plan.Const:
			return b.literal(x, t, ctx, pos)
		case *plan.Param:
			b.setParam(x.N, t)
			if t.Mod == 0 {
				return e
			}
			from = e.Type()
		}
	}
	f, err := fn.ResolveCast(from, t, ctx)
	must(err, pos)
	if f == nil {
		if from.Same(t) {
			return e
		}
		return relabel(e, t)
	}
	return &plan.Call{Fn: f, Args: []plan.Expr{e}, Typ: t, Pos: int(pos)}
}

// relabel gives e the binary compatible type t. A column or constant takes the type itself; anything else keeps its
// own, which has the same values and layout.
func relabel(e plan.Expr, t types.Type) plan.Expr {
	switch x := e.(type) {
	case *plan.Col:
		c := *x
		c.Typ = t
		return &c
	case *plan.Const:
		c := *x
		c.Typ = t
		return &c
	case *plan.Call:
		c := *x
		c.Typ = t
		return &c
	case *plan.Case:
		c := *x
		c.Typ = t
		return &c
	case *plan.Coalesce:
		c := *x
		c.Typ = t
		return &c
	case *plan.Subscript:
		c := *x
		c.Typ = t
		return &c
	case *plan.ArrayCtor:
		c := *x
		c.Typ = t
		return &c
	case *plan.Now:
		c := *x
		c.Typ = t
		return &c
	case *outerRef:
		c := *x
		c.typ = t
		return &c
	case *aggRef:
		c := *x
		c.typ = t
		return &c
	case *overRef:
		c := *x
		c.typ = t
		return &c
	case *setRef:
		c := *x
		c.typ = t
		return &c
	case *subquery:
		c := *x
		c.typ = t
		return &c
	}
	return &plan.Coalesce{Args: []plan.Expr{e}, Typ: t}
}

// literal reads an untyped literal as type t.
func (b *binder) literal(c *plan.Const, t types.Type, ctx fn.CastContext, pos ast.Pos) plan.Expr {
	if c.Val.Null {
		return &plan.Const{Val: types.NullDatum, Typ: t}
	}
	text := string(c.Val.B)
	if at, ok := b.literals[c]; ok {
		pos = at
	}
	switch t.Kind {
	case types.Unknown:
		return c
	case types.Any, types.AnyElement:
		t = textType
	}
	d, err := types.Parse(t.NoMod(), text, b.o.env())
	must(err, pos)
	var e plan.Expr = &plan.Const{Val: d, Typ: t.NoMod()}
	if t.Mod != 0 {
		if f := fn.LengthCast(t, ctx); f != nil {
			return fold(&plan.Call{Fn: f, Args: []plan.Expr{e}, Typ: t, Pos: int(pos)})
		}
	}
	return e
}

// splitName takes a possibly quoted, possibly qualified name apart and folds its unquoted parts.
func splitName(s string) []string {
	var parts []string
	var cur []byte
	quoted := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' && quoted && i+1 < len(s) && s[i+1] == '"':
			cur = append(cur, '"')
			i++
		case c == '"':
			quoted = !quoted
		case c == '.' && !quoted:
			parts, cur = append(parts, string(cur)), nil
		case !quoted && c >= 'A' && c <= 'Z':
			cur = append(cur, c+'a'-'A')
		default:
			cur = append(cur, c)
		}
	}
	return append(parts, string(cur))
}

// settle turns an expression that is still of unknown type into text.
func (b *binder) settle(e plan.Expr) plan.Expr {
	if isUnknown(e.Type()) {
		return b.cast(e, textType, fn.Implicit, -1)
	}
	return e
}

// boolean checks that e, an argument of what ("WHERE", "AND"), is a boolean.
func (b *binder) boolean(e plan.Expr, what string, pos ast.Pos) plan.Expr {
	if t := e.Type(); t.Kind != types.Bool && !isUnknown(t) {
		failAt(pos, sqlerr.DatatypeMismatch, "argument of %s must be type boolean, not type %s", what, t)
	}
	return b.cast(e, boolType, fn.Implicit, pos)
}

// common gives the common type of expressions, named by what ("CASE", "UNION") in errors.
func (b *binder) common(what string, es []plan.Expr, pos []ast.Pos) types.Type {
	ts := make([]types.Type, len(es))
	for i, e := range es {
		ts[i] = e.Type()
	}
	t, err := fn.CommonType(ts)
	if err == nil {
		return t
	}
	at := ast.Pos(-1)
	for i := 1; i < len(ts); i++ {
		if _, e := fn.CommonType(ts[:i+1]); e != nil {
			if i < len(pos) {
				at = pos[i]
			}
			break
		}
	}
	se := *sqlerr.From(err)
	se.Message = what + " " + se.Message
	fail(se.At(int(at)))
	return t
}

// unify brings expressions to their common type.
func (b *binder) unify(what string, es []plan.Expr, pos []ast.Pos) ([]plan.Expr, types.Type) {
	t := b.common(what, es, pos)
	out := make([]plan.Expr, len(es))
	for i, e := range es {
		at := ast.Pos(-1)
		if i < len(pos) {
			at = pos[i]
		}
		out[i] = b.cast(e, t, fn.Implicit, at)
	}
	return out, t
}

// operator makes l op r (l nil: a prefix operator).
func (b *binder) operator(op string, l, r plan.Expr, pos ast.Pos) plan.Expr {
	rt := r.Type()
	var lt *types.Type
	if l != nil {
		t := l.Type()
		lt = &t
	}
	f, wantL, wantR, result, err := fn.ResolveOperator(op, lt, &rt)
	must(err, pos)
	call := &plan.Call{Fn: f, Typ: result, Pos: int(pos)}
	if l != nil {
		call.Args = append(call.Args, b.cast(l, wantL, fn.Implicit, pos))
	}
	call.Args = append(call.Args, b.cast(r, wantR, fn.Implicit, pos))
	return call
}

// call makes a call of a function that must exist.
func (b *binder) call(name string, args []plan.Expr, pos ast.Pos, classes ...fn.Class) *plan.Call {
	ts := make([]types.Type, len(args))
	for i, a := range args {
		ts[i] = a.Type()
	}
	f, want, result, err := fn.ResolveCall(name, ts, classes...)
	must(err, pos)
	out := &plan.Call{Fn: f, Typ: result, Pos: int(pos)}
	for i, a := range args {
		ctx := fn.Implicit
		if f.Class == fn.Cast {
			ctx = fn.Explicit
		}
		out.Args = append(out.Args, b.cast(a, want[i], ctx, pos))
	}
	return out
}

// isOp says whether e is a call of the operator.
func isOp(e plan.Expr, ops ...string) (*plan.Call, string) {
	c, ok := e.(*plan.Call)
	if !ok || c.Fn.Class != fn.Operator {
		return nil, ""
	}
	for _, op := range ops {
		if c.Fn.Name == op {
			return c, op
		}
	}
	return nil, ""
}

// conjuncts splits nested ANDs.
func conjuncts(e plan.Expr) []plan.Expr {
	if e == nil {
		return nil
	}
	if a, ok := e.(*plan.And); ok {
		var out []plan.Expr
		for _, x := range a.Args {
			out = append(out, conjuncts(x)...)
		}
		return out
	}
	return []plan.Expr{e}
}

// and joins conjuncts; nil for none.
func and(es []plan.Expr) plan.Expr {
	switch len(es) {
	case 0:
		return nil
	case 1:
		return es[0]
	}
	return &plan.And{Args: es}
}

func constBool(v bool) plan.Expr { return &plan.Const{Val: types.BoolDatum(v), Typ: boolType} }

func isTrue(e plan.Expr) bool {
	c, ok := e.(*plan.Const)
	return ok && c.Typ.Kind == types.Bool && !c.Val.Null && c.Val.I != 0
}
