package planner

import (
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// exprBinder binds expressions of one clause.
type exprBinder struct {
	b      *binder
	f      *frame
	ctes   *cteScope
	block  *block // nil where there is no SELECT around (DEFAULT, CHECK, VALUES)
	clause string // for messages: "WHERE", "JOIN conditions", ...
	// What the clause allows.
	aggs, overs, sets, subqueries, windows bool
	inAgg, inOver                          bool
}

// bind gives the bound form of an expression. Literals and parameters may be left of unknown type.
func (x *exprBinder) bind(e ast.Expr) plan.Expr {
	x.b.enter(e.Position())
	defer x.b.leave()
	pos := e.Position()
	switch n := e.(type) {
	case *ast.ColumnRef:
		return x.columnRef(n)
	case *ast.Const:
		return x.constant(n)
	case *ast.Param:
		if len(x.b.inlining) > 0 {
			return x.b.parameter(n.N, pos)
		}
		return x.b.param(n.N, pos)
	case *ast.Cast:
		return x.castExpr(n)
	case *ast.Unary:
		return x.unary(n)
	case *ast.Binary:
		return x.binary(n)
	case *ast.BoolOp:
		return x.boolOp(n)
	case *ast.Not:
		return not(x.b.boolean(x.bind(n.X), "NOT", loc(n.X)))
	case *ast.Like:
		return x.like(n)
	case *ast.Between:
		return x.between(n)
	case *ast.In:
		return x.in(n)
	case *ast.IsTest:
		return x.isTest(n)
	case *ast.IsDistinct:
		return x.isDistinct(n)
	case *ast.Quantified:
		return x.quantified(n)
	case *ast.Case:
		return x.caseExpr(n)
	case *ast.Call:
		return x.callExpr(n)
	case *ast.Subquery:
		return x.scalarSubquery(n)
	case *ast.Exists:
		return x.exists(n)
	case *ast.ArrayExpr:
		return x.array(n)
	case *ast.ArrayQuery:
		return x.arrayQuery(n)
	case *ast.Subscript:
		return x.subscript(n)
	case *ast.Field:
		return x.fieldExpr(n)
	case *ast.Row:
		return x.row(n)
	case *ast.Collate:
		return x.collate(n)
	case *ast.IntervalLit:
		return x.interval(n)
	case *ast.Default:
		failAt(pos, sqlerr.SyntaxError, "DEFAULT is not allowed in this context")
	}
	unsupported(pos, "this expression is not supported")
	return nil
}

// value binds an expression and settles an unknown type as text.
func (x *exprBinder) value(e ast.Expr) plan.Expr { return x.b.settle(x.bind(e)) }

// condition binds a boolean expression.
func (x *exprBinder) condition(e ast.Expr) plan.Expr {
	return x.b.boolean(x.bind(e), x.clause, loc(e))
}

func (x *exprBinder) columnRef(n *ast.ColumnRef) plan.Expr {
	if n.Star && len(n.Parts) > 0 && x.f != nil {
		return x.starRow(n)
	}
	if n.Star {
		failAt(n.At, sqlerr.SyntaxError, "row expansion via \"*\" is not supported here")
	}
	if x.f == nil {
		if x.clause == "DEFAULT" {
			failAt(n.At, sqlerr.FeatureNotSupported, "cannot use column reference in DEFAULT expression")
		}
		failAt(n.At, sqlerr.UndefinedColumn, "column %q does not exist", strings.Join(n.Parts, "."))
	}
	return x.f.column(n.Parts, n.At)
}

func (x *exprBinder) constant(n *ast.Const) plan.Expr {
	switch n.Kind {
	case ast.StringConst:
		c := &plan.Const{Val: types.StringDatum(n.Text), Typ: types.Of(types.Unknown)}
		x.b.literals[c] = n.At
		return c
	case ast.NullConst:
		return &plan.Const{Val: types.NullDatum, Typ: types.Of(types.Unknown)}
	case ast.BoolConst:
		return constBool(n.Text == "true")
	case ast.NumberConst:
		return x.b.number(n.Text, n.At)
	}
	unsupported(n.At, "bit string literals are not supported")
	return nil
}

// number gives a numeric literal the first of integer, bigint and numeric that holds it.
func (b *binder) number(text string, pos ast.Pos) plan.Expr {
	if i, ok := parseInt(text); ok {
		t := int8Type
		if int64(int32(i)) == i {
			t = int4Type
		}
		return &plan.Const{Val: types.IntDatum(i), Typ: t}
	}
	t := types.Of(types.Numeric)
	d, err := types.Parse(t, text, b.o.env())
	must(err, pos)
	return &plan.Const{Val: d, Typ: t}
}

// parseInt reads an optional minus and digits that fit a bigint.
func parseInt(s string) (int64, bool) {
	neg := strings.HasPrefix(s, "-")
	if neg {
		s = s[1:]
	}
	if s == "" || len(s) > 19 {
		return 0, false
	}
	var u uint64
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		u = u*10 + uint64(c-'0')
	}
	switch {
	case neg && u <= 1<<63:
		return -int64(u), true
	case !neg && u < 1<<63:
		return int64(u), true
	}
	return 0, false
}

func (x *exprBinder) castExpr(n *ast.Cast) plan.Expr {
	t := resolveType(n.Type)
	if a, ok := n.X.(*ast.ArrayExpr); ok && t.Kind == types.Array {
		return x.b.cast(x.arrayOf(a, &t), t, fn.Explicit, n.At)
	}
	e := x.bind(n.X)
	if isUnknown(t) {
		return e
	}
	return x.b.cast(e, t, fn.Explicit, n.At)
}

// ResolveType finds a type by name. Errors: 42704 for an unknown one, others for wrong modifiers.
func ResolveType(n ast.TypeName) (t types.Type, err error) {
	defer recoverBind(&err)
	return resolveType(n), nil
}

func resolveType(n ast.TypeName) types.Type {
	if n.Schema != "" && n.Schema != "pg_catalog" {
		failAt(n.Pos, sqlerr.UndefinedObject, "type %q does not exist", n.Schema+"."+n.Name)
	}
	t, err := types.Modded(n.Name, n.Mods)
	must(err, n.Pos)
	if n.Name == "char" { // quoted: the key word is bpchar by now
		t = types.Of(types.Char)
	}
	if n.Array && t.Kind != types.Array {
		mod := t.Mod
		t = types.ArrayOf(t)
		t.Mod = mod
	}
	return t
}

func (x *exprBinder) unary(n *ast.Unary) plan.Expr {
	if c, ok := n.X.(*ast.Const); ok && c.Kind == ast.NumberConst && (n.Op == "-" || n.Op == "+") {
		if n.Op == "-" {
			return x.b.number("-"+c.Text, n.At)
		}
		return x.b.number(c.Text, n.At)
	}
	return x.b.operator(n.Op, nil, x.bind(n.X), n.At)
}

func (x *exprBinder) binary(n *ast.Binary) plan.Expr {
	if n.OpSchema != "" && n.OpSchema != "pg_catalog" {
		failAt(n.At, sqlerr.UndefinedFunction, "operator does not exist: %s.%s", n.OpSchema, n.Op)
	}
	l, lok := n.L.(*ast.Row)
	r, rok := n.R.(*ast.Row)
	switch {
	case lok && rok:
		return x.rowCompare(n.Op, l.Args, r.Args, n.At)
	case lok:
		if q, ok := n.R.(*ast.Subquery); ok {
			return x.rowSubquery(n.Op, l, q, n.At)
		}
	}
	return x.b.operator(n.Op, x.bind(n.L), x.bind(n.R), n.At)
}

// rowCompare is (a, b) op (c, d).
func (x *exprBinder) rowCompare(op string, l, r []ast.Expr, pos ast.Pos) plan.Expr {
	if len(l) != len(r) {
		failAt(pos, sqlerr.SyntaxError, "unequal number of entries in row expressions")
	}
	if len(l) == 0 {
		unsupported(pos, "cannot compare rows of zero length")
	}
	ls, rs := make([]plan.Expr, len(l)), make([]plan.Expr, len(r))
	for i := range l {
		ls[i], rs[i] = x.bind(l[i]), x.bind(r[i])
	}
	return x.b.compareRows(op, ls, rs, pos)
}

func (b *binder) compareRows(op string, l, r []plan.Expr, pos ast.Pos) plan.Expr {
	if len(l) == 1 {
		return b.operator(op, l[0], r[0], pos)
	}
	var parts []plan.Expr
	switch op {
	case "=":
		for i := range l {
			parts = append(parts, b.operator("=", l[i], r[i], pos))
		}
		return &plan.And{Args: parts}
	case "<>", "!=":
		for i := range l {
			parts = append(parts, b.operator("<>", l[i], r[i], pos))
		}
		return &plan.Or{Args: parts}
	case "<", "<=", ">", ">=":
		// (a, b) < (c, d) is a < c OR a = c AND b < d.
		strict := strings.TrimSuffix(op, "=")
		last := len(l) - 1
		out := b.operator(op, l[last], r[last], pos)
		for i := last - 1; i >= 0; i-- {
			out = &plan.Or{Args: []plan.Expr{
				b.operator(strict, l[i], r[i], pos),
				&plan.And{Args: []plan.Expr{b.operator("=", l[i], r[i], pos), out}},
			}}
		}
		return out
	}
	fail(sqlerr.New(sqlerr.FeatureNotSupported, "could not determine interpretation of row comparison operator %s", op).
		WithHint("Row comparison operators must be associated with btree operator families.").At(int(pos)))
	return nil
}

func (x *exprBinder) boolOp(n *ast.BoolOp) plan.Expr {
	word := "OR"
	if n.And {
		word = "AND"
	}
	args := make([]plan.Expr, len(n.Args))
	for i, a := range n.Args {
		args[i] = x.b.boolean(x.bind(a), word, loc(a))
	}
	if n.And {
		return &plan.And{Args: args}
	}
	return &plan.Or{Args: args}
}

func not(e plan.Expr) plan.Expr {
	if n, ok := e.(*plan.Not); ok {
		return n.X
	}
	return &plan.Not{X: e}
}

func (x *exprBinder) like(n *ast.Like) plan.Expr {
	pat := x.bind(n.Pat)
	pos := n.At
	if n.Op == "similar" {
		args := []plan.Expr{pat}
		if n.Escape != nil {
			args = append(args, x.bind(n.Escape))
		}
		re := x.b.call("similar_to_escape", args, pos, fn.Scalar)
		op := "~"
		if n.Not {
			op = "!~"
		}
		return x.b.operator(op, x.bind(n.X), re, pos)
	}
	if n.Escape != nil {
		pat = x.b.call("like_escape", []plan.Expr{pat, x.bind(n.Escape)}, pos, fn.Scalar)
	}
	op := "~~"
	if n.Op == "ilike" {
		op = "~~*"
	}
	if n.Not {
		op = "!" + op
	}
	return x.b.operator(op, x.bind(n.X), pat, pos)
}

func (x *exprBinder) between(n *ast.Between) plan.Expr {
	rng := func(lo, hi ast.Expr) plan.Expr {
		if l, ok := n.X.(*ast.Row); ok {
			return &plan.And{Args: []plan.Expr{x.rowOrScalar(">=", l, lo, n.At), x.rowOrScalar("<=", l, hi, n.At)}}
		}
		return &plan.And{Args: []plan.Expr{
			x.b.operator(">=", x.bind(n.X), x.bind(lo), n.At),
			x.b.operator("<=", x.bind(n.X), x.bind(hi), n.At),
		}}
	}
	out := rng(n.Lo, n.Hi)
	if n.Symmetric {
		out = &plan.Or{Args: []plan.Expr{out, rng(n.Hi, n.Lo)}}
	}
	if n.Not {
		return not(out)
	}
	return out
}

func (x *exprBinder) rowOrScalar(op string, l *ast.Row, r ast.Expr, pos ast.Pos) plan.Expr {
	rr, ok := r.(*ast.Row)
	if !ok {
		failAt(pos, sqlerr.SyntaxError, "unequal number of entries in row expressions")
	}
	return x.rowCompare(op, l.Args, rr.Args, pos)
}

func (x *exprBinder) in(n *ast.In) plan.Expr {
	if n.Query != nil {
		return x.inQuery(n)
	}
	if l, ok := n.X.(*ast.Row); ok {
		var ors []plan.Expr
		for _, item := range n.List {
			ors = append(ors, x.rowOrScalar("=", l, item, n.At))
		}
		return maybeNot(or(ors), n.Not)
	}
	es := []plan.Expr{x.bind(n.X)}
	pos := []ast.Pos{loc(n.X)}
	for _, item := range n.List {
		es = append(es, x.bind(item))
		pos = append(pos, loc(item))
	}
	ts := make([]types.Type, len(es))
	for i, e := range es {
		ts[i] = e.Type()
	}
	if t, err := fn.CommonType(ts); err == nil {
		if e := x.inConstants(es, pos, t); e != nil {
			return maybeNot(e, n.Not)
		}
	}
	var ors []plan.Expr
	for _, e := range es[1:] {
		ors = append(ors, x.b.operator("=", es[0], e, n.At))
	}
	return maybeNot(or(ors), n.Not)
}

// inConstants makes an InList when every item is a constant; nil otherwise.
func (x *exprBinder) inConstants(es []plan.Expr, pos []ast.Pos, t types.Type) plan.Expr {
	if _, _, _, _, err := fn.ResolveOperator("=", &t, &t); err != nil {
		return nil
	}
	t = t.NoMod()
	list := &plan.InList{}
	for i, e := range es[1:] {
		c, ok := fold(x.b.cast(e, t, fn.Implicit, pos[i+1])).(*plan.Const)
		if !ok {
			return nil
		}
		if c.Val.Null {
			list.Null = true
		} else {
			list.List = append(list.List, c.Val)
		}
	}
	list.X = x.b.cast(es[0], t, fn.Implicit, pos[0])
	return list
}

func or(es []plan.Expr) plan.Expr {
	if len(es) == 1 {
		return es[0]
	}
	return &plan.Or{Args: es}
}

func maybeNot(e plan.Expr, neg bool) plan.Expr {
	if neg {
		return not(e)
	}
	return e
}

func (x *exprBinder) isTest(n *ast.IsTest) plan.Expr {
	if n.What != "null" {
		e := x.b.boolean(x.bind(n.X), "IS "+strings.ToUpper(n.What), loc(n.X))
		return &plan.IsBool{X: e, What: n.What[0], Not: n.Not}
	}
	if r, ok := n.X.(*ast.Row); ok {
		var parts []plan.Expr
		for _, a := range r.Args {
			parts = append(parts, &plan.IsNull{X: x.value(a), Not: n.Not})
		}
		if len(parts) > 0 {
			return and(parts)
		}
	}
	return &plan.IsNull{X: x.value(n.X), Not: n.Not}
}

func (x *exprBinder) isDistinct(n *ast.IsDistinct) plan.Expr {
	l, lok := n.L.(*ast.Row)
	r, rok := n.R.(*ast.Row)
	if lok && rok && len(l.Args) == len(r.Args) && len(l.Args) > 0 {
		var parts []plan.Expr
		for i := range l.Args {
			parts = append(parts, x.b.distinctFrom(x.bind(l.Args[i]), x.bind(r.Args[i]), n.Not, n.At))
		}
		if n.Not {
			return and(parts)
		}
		return or(parts)
	}
	return x.b.distinctFrom(x.bind(n.L), x.bind(n.R), n.Not, n.At)
}

// distinctFrom compares two values with NULL as a value; the operand types are those of =.
func (b *binder) distinctFrom(l, r plan.Expr, neg bool, pos ast.Pos) plan.Expr {
	eq := b.operator("=", l, r, pos).(*plan.Call)
	a, c := b.sameType(eq.Args[0], eq.Args[1], pos)
	return &plan.IsDistinct{L: a, R: c, Not: neg}
}

// sameType brings the two operands of a comparison to one type, where the operator takes two (as int4 = int8 does).
func (b *binder) sameType(l, r plan.Expr, pos ast.Pos) (plan.Expr, plan.Expr) {
	if l.Type().Same(r.Type()) {
		return l, r
	}
	t := b.common("comparison", []plan.Expr{l, r}, []ast.Pos{pos, pos}).NoMod()
	return b.cast(l, t, fn.Implicit, pos), b.cast(r, t, fn.Implicit, pos)
}

func (x *exprBinder) caseExpr(n *ast.Case) plan.Expr {
	out := &plan.Case{}
	var subject plan.Expr
	if n.X != nil {
		subject = x.value(n.X)
	}
	var results []plan.Expr
	var pos []ast.Pos
	for _, w := range n.Whens {
		var cond plan.Expr
		if subject != nil {
			cond = x.b.operator("=", subject, x.bind(w.Cond), loc(w.Cond))
		} else {
			cond = x.b.boolean(x.bind(w.Cond), "CASE/WHEN", loc(w.Cond))
		}
		out.Whens = append(out.Whens, plan.When{Cond: cond})
		results = append(results, x.bind(w.Then))
		pos = append(pos, loc(w.Then))
	}
	if n.Else != nil {
		results = append([]plan.Expr{x.bind(n.Else)}, results...)
		pos = append([]ast.Pos{loc(n.Else)}, pos...)
	} else {
		results = append([]plan.Expr{&plan.Const{Val: types.NullDatum, Typ: types.Of(types.Unknown)}}, results...)
		pos = append([]ast.Pos{n.At}, pos...)
	}
	results, out.Typ = x.b.unify("CASE", results, pos)
	out.Else = results[0]
	for i := range out.Whens {
		out.Whens[i].Then = results[i+1]
	}
	return out
}

func (x *exprBinder) row(n *ast.Row) plan.Expr {
	r := &plan.RowCtor{}
	for _, a := range n.Args {
		if f, ok := a.(*ast.Field); ok && f.Name == "*" {
			cols, _ := rowStar(x.bind(f.X), f.At)
			r.Args = append(r.Args, cols...)
			continue
		}
		v := x.value(a)
		if c, ok := a.(*ast.ColumnRef); ok && c.Star {
			if row, ok := v.(*plan.RowCtor); ok {
				r.Args = append(r.Args, row.Args...)
				continue
			}
		}
		r.Args = append(r.Args, v)
	}
	return r
}

func (x *exprBinder) collate(n *ast.Collate) plan.Expr {
	e := x.value(n.X)
	if !e.Type().Kind.IsString() {
		failAt(n.At, sqlerr.DatatypeMismatch, "collations are not supported by type %s", e.Type())
	}
	switch n.Name.Name {
	case "C", "POSIX", "default", "ucs_basic":
		return e
	}
	failAt(n.At, sqlerr.UndefinedObject, "collation %q for encoding \"UTF8\" does not exist", n.Name.Name)
	return nil
}

func (x *exprBinder) interval(n *ast.IntervalLit) plan.Expr {
	text := strings.TrimSpace(n.Text)
	if _, ok := parseDecimal(text); ok && n.Fields != "" {
		words := strings.Fields(n.Fields)
		text += " " + words[len(words)-1]
	}
	t := types.Of(types.Interval)
	if n.Prec >= 0 && n.Prec < 6 {
		t.Mod = int32(n.Prec) + 1
	}
	return x.b.cast(&plan.Const{Val: types.StringDatum(text), Typ: types.Of(types.Unknown)}, t, fn.Explicit, n.At)
}

// parseDecimal says whether s is a plain decimal number.
func parseDecimal(s string) (string, bool) {
	t := strings.TrimLeft(s, "+-")
	digits, dots := 0, 0
	for _, c := range t {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			dots++
		default:
			return "", false
		}
	}
	return t, digits > 0 && dots <= 1
}

// starRow gives the row that t.* is within an expression.
func (x *exprBinder) starRow(n *ast.ColumnRef) plan.Expr {
	schema, table := "", n.Parts[len(n.Parts)-1]
	if len(n.Parts) > 1 {
		schema = n.Parts[len(n.Parts)-2]
	}
	row := x.f.wholeRow(schema, table, n.At)
	if row == nil {
		x.f.noTable(table, n.At)
	}
	return row
}

func (x *exprBinder) fieldExpr(n *ast.Field) plan.Expr {
	if n.Name == "*" {
		failAt(n.At, sqlerr.FeatureNotSupported, "row expansion via \"*\" is not supported here")
	}
	if c, ok := n.X.(*ast.ColumnRef); ok && !c.Star {
		return x.columnRef(&ast.ColumnRef{P: ast.P{At: n.At}, Parts: append(append([]string{}, c.Parts...), n.Name)})
	}
	return field(x.bind(n.X), n.Name, n.At)
}
