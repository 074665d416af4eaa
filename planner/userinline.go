package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// The body of a function in SQL is a query. It is put in place of the call: SELECT expression as that expression, any other as a subquery, or,
// in FROM, as a LATERAL one. Its parameters are found by name in a frame outside of the body, behind the columns of the body's own relations.

// maxInlined bounds the calls of SQL functions in one statement, those within other such functions included.
const maxInlined = 10_000

// inlining is a function whose body is being bound.
type inlining struct {
	f    *catalog.Function
	args []plan.Expr // what $1, $2, ... mean
}

// functionBody parses the body of a function for one call of it, and calls bind with it and the frame of its parameters.
func (b *binder) functionBody(f *catalog.Function, args []plan.Expr, pos ast.Pos, bind func(q *ast.Query, params *frame)) {
	for _, g := range b.inlining {
		if g.f == f {
			unsupported(pos, "function %s calls itself, which is not supported", f.Name)
		}
	}
	if b.inlined++; b.inlined > maxInlined {
		failAt(pos, sqlerr.StatementTooComplex, "more than %d calls of SQL functions", maxInlined)
	}
	if b.o.ParseView == nil {
		unsupported(pos, "function %s can't be expanded here", f.Name)
	}
	b.inlining = append(b.inlining, inlining{f, args})
	defer func() {
		b.inlining = b.inlining[:len(b.inlining)-1]
		if p := recover(); p != nil {
			panic(withoutPosition(p))
		}
	}()
	q, err := b.o.ParseView(f.Body)
	must(err, pos)
	src := &source{alias: f.Name}
	sc := &scope{sources: []*source{src}}
	for i, a := range f.Args {
		if a.Name != "" {
			src.cols = append(src.cols, visible{name: a.Name, expr: args[i]})
		}
	}
	sc.vis = src.cols
	bind(q, &frame{scope: sc})
}

// inline gives the value of a call.
func (b *binder) inline(x *exprBinder, f *catalog.Function, args []plan.Expr, pos ast.Pos) (out plan.Expr) {
	b.functionBody(f, args, pos, func(q *ast.Query, params *frame) {
		if s := plainSelect(q); s != nil {
			y := &exprBinder{b: b, f: params, clause: "functions"}
			out = b.cast(y.value(s.Items[0].X), f.Result, fn.Assignment, pos)
			return
		}
		out = b.inlineQuery(x, f, args, q, params, pos)
	})
	if f.Strict && len(args) > 0 {
		null := make([]plan.Expr, len(args))
		for i, a := range args {
			null[i] = &plan.IsNull{X: a}
		}
		c := plan.Expr(&plan.Or{Args: null})
		if len(null) == 1 {
			c = null[0]
		}
		out = &plan.Case{Whens: []plan.When{{Cond: c, Then: &plan.Const{Val: types.NullDatum, Typ: f.Result}}}, Else: out, Typ: f.Result}
	}
	for i, a := range args {
		if volatileExpr(a) && uses(out, a) > 1 {
			unsupported(pos, "a volatile argument of function %s, which uses parameter %d more than once, is not supported", f.Name, i+1)
		}
	}
	return out
}

func uses(e, arg plan.Expr) int {
	n := 0
	walk(e, func(x plan.Expr) {
		if x == arg {
			n++
		}
	})
	return n
}

// plainSelect gives a body that is SELECT expression and no more, nil for another one.
func plainSelect(q *ast.Query) *ast.Select {
	s, ok := q.Body.(*ast.Select)
	if !ok || len(q.With) > 0 || q.Limit != nil || q.Offset != nil || len(q.OrderBy) > 0 || len(s.From) > 0 || s.Where != nil || len(s.GroupBy) > 0 ||
		s.Having != nil || s.Distinct || len(s.Items) != 1 || !plainExpr(s.Items[0].X) {
		return nil
	}
	return s
}

// plainExpr says whether an expression needs no query around it: it has no subqueries, aggregates, window or set-returning functions.
func plainExpr(e ast.Expr) bool {
	plain := true
	walkAST(e, func(e ast.Expr) bool {
		switch x := e.(type) {
		case *ast.Subquery, *ast.Exists, *ast.ArrayQuery:
			plain = false
		case *ast.In:
			plain = plain && x.Query == nil
		case *ast.Quantified:
			plain = plain && x.Query == nil
		case *ast.Call:
			class, ok := classOf(x.Name)
			plain = plain && x.Over == nil && !(ok && class != fn.Scalar)
		}
		return plain
	})
	return plain
}

// inlineQuery gives the value of a call whose body reads relations: its first row.
func (b *binder) inlineQuery(x *exprBinder, f *catalog.Function, args []plan.Expr, q *ast.Query, params *frame, pos ast.Pos) plan.Expr {
	if !x.subqueries {
		unsupported(pos, "function %s, whose body is more than SELECT expression, is not supported in %s", f.Name, x.clause)
	}
	b.plainArgs(f, args, pos)
	for i := range params.scope.sources[0].cols {
		c := &params.scope.sources[0].cols[i]
		c.expr = x.f.outward(c.expr, pos)
	}
	own := make([]plan.Expr, len(args))
	for i, a := range args {
		own[i] = x.f.outward(a, pos)
	}
	b.inlining[len(b.inlining)-1].args = own
	if q.Limit == nil {
		q.Limit = &ast.Const{P: ast.P{At: pos}, Kind: ast.NumberConst, Text: "1"}
	}
	root := b.query(q, params, nil).result(b)
	if width(root) != 1 {
		fail(sqlerr.New(invalidFunction, "return type mismatch in function declared to return %s", f.Result).WithDetail("Final statement must return exactly one column."))
	}
	root = b.castResult(f, root, []types.Type{f.Result})
	return &subquery{kind: subqScalar, root: root, typ: f.Result, pos: int(pos)}
}

// plainArgs refuses arguments that cannot stand in a query beneath the call.
func (b *binder) plainArgs(f *catalog.Function, args []plan.Expr, pos ast.Pos) {
	for _, a := range args {
		odd := has(a, func(e plan.Expr) bool {
			switch e.(type) {
			case *aggRef, *groupingRef, *overRef, *setRef, *eventWindow, *subquery:
				return true
			}
			return false
		})
		if odd || volatileExpr(a) {
			fail(sqlerr.Unsupported("an argument of function %s with aggregates, window functions, subqueries or volatile functions is not supported: its body is a query", f.Name).
				WithHint("Compute it in a subquery beneath the call.").At(int(pos)))
		}
	}
}

// inlineRows gives the rows of a call of a function that returns rows.
func (b *binder) inlineRows(f *catalog.Function, args []plan.Expr, pos ast.Pos) (node plan.Node) {
	b.plainArgs(f, args, pos)
	b.functionBody(f, args, pos, func(q *ast.Query, params *frame) {
		node = b.query(q, params, nil).result(b)
	})
	cols := f.Rows()
	ts, names := make([]types.Type, len(cols)), make([]string, len(cols))
	for i, c := range cols {
		ts[i], names[i] = c.Type, c.Name
	}
	if width(node) != len(cols) {
		what := "Final statement returns too many columns."
		if width(node) < len(cols) {
			what = "Final statement returns too few columns."
		}
		fail(sqlerr.New(invalidFunction, "return type mismatch in function declared to return %s", resultName(f)).WithDetail("%s", what))
	}
	node = rename(b.castResult(f, node, ts), names)
	if f.Strict {
		var known []plan.Expr
		for _, a := range args {
			known = append(known, &plan.IsNull{X: a, Not: true})
		}
		node = newFilter(node, known...)
	}
	return node
}

// castResult brings the columns of a body to the types that the function returns.
func (b *binder) castResult(f *catalog.Function, node plan.Node, ts []types.Type) plan.Node {
	for i, c := range columns(node) {
		if !isUnknown(c.Type) && !fn.CanCast(c.Type, ts[i], fn.Assignment) {
			fail(sqlerr.New(invalidFunction, "return type mismatch in function declared to return %s", resultName(f)).
				WithDetail("Final statement returns %s instead of %s at column %d.", c.Type.NoMod(), ts[i].NoMod(), i+1))
		}
	}
	return b.castColumns(node, ts, fn.Assignment, nil)
}

func resultName(f *catalog.Function) string {
	if f.Columns != nil {
		return "record"
	}
	return f.Result.NoMod().String()
}

// parameter is $n in the body of a function in SQL.
func (b *binder) parameter(n int, pos ast.Pos) plan.Expr {
	args := b.inlining[len(b.inlining)-1].args
	if n < 1 || n > len(args) {
		failAt(pos, sqlerr.UndefinedParameter, "there is no parameter $%d", n)
	}
	return args[n-1]
}
