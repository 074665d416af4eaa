package engine

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// deparser writes bound expressions as PostgreSQL's pg_get_expr does.
type deparser struct {
	pretty bool   // leave out brackets that PostgreSQL's pretty form leaves out
	clock  string // how the expression spells the time of the statement
}

// defaultText shows the default of a column; what cannot be bound any more is shown as it was written.
func (s *sess) defaultText(r *catalog.Relation, i int, pretty bool) string {
	col := r.Columns[i]
	text := col.Default
	tree, err := parser.ParseExpr(text)
	if err != nil {
		return text
	}
	e, err := planner.BindScalar(tree, nil, s.plannerOptions(s.catalog()))
	if err != nil {
		return text
	}
	_, literal := tree.(*ast.Const)
	if c, ok := e.(*plan.Const); ok && (literal && c.Typ.Kind == types.Text || c.Val.Null) {
		val := c.Val
		if !val.Null {
			if val, err = types.Parse(col.Type.NoMod(), string(c.Val.B), s.Env()); err != nil {
				return text
			}
		}
		e = &plan.Const{Val: val, Typ: col.Type.NoMod()}
	}
	return newDeparser(text, pretty).expr(e)
}

// checkText shows the expression of a CHECK constraint, in brackets, and lists the columns in it.
func (s *sess) checkText(r *catalog.Relation, i int, pretty bool) (out string, used []int) {
	text := r.Checks[i].Expr
	tree, err := parser.ParseExpr(text)
	if err != nil {
		return "(" + text + ")", nil
	}
	cols := make([]plan.Column, len(r.Columns))
	for i, c := range r.Columns {
		cols[i] = plan.Column{Name: c.Name, Type: c.Type}
	}
	e, err := planner.BindScalar(tree, cols, s.plannerOptions(s.catalog()))
	if err != nil {
		return "(" + text + ")", nil
	}
	plan.Walk(e, func(x plan.Expr) {
		if c, ok := x.(*plan.Col); ok && !slices.Contains(used, c.Index) {
			used = append(used, c.Index)
		}
	})
	slices.Sort(used)
	return "(" + newDeparser(text, pretty).expr(e) + ")", used
}

func newDeparser(text string, pretty bool) *deparser {
	d := &deparser{pretty: pretty, clock: "now()"}
	if strings.Contains(strings.ToLower(text), "current_timestamp") {
		d.clock = "CURRENT_TIMESTAMP"
	}
	return d
}

// bracket puts s in brackets where the form that is not pretty has them.
func (d *deparser) bracket(s string) string {
	if d.pretty {
		return s
	}
	return "(" + s + ")"
}

// expr writes an expression that stands alone; brackets of its own only in the form that is not pretty.
func (d *deparser) expr(e plan.Expr) string {
	switch x := e.(type) {
	case *plan.Col:
		return parser.QuoteIdent(x.Name)
	case *plan.Const:
		return d.constant(x)
	case *plan.Call:
		return d.call(x)
	case *plan.And:
		return d.logic(x.Args, " AND ", false)
	case *plan.Or:
		return d.logic(x.Args, " OR ", true)
	case *plan.Not:
		return d.bracket("NOT " + d.operand(x.X))
	case *plan.IsNull:
		return d.bracket(d.operand(x.X) + " IS " + not(x.Not) + "NULL")
	case *plan.IsBool:
		return d.bracket(d.operand(x.X) + " IS " + not(x.Not) + map[byte]string{'t': "TRUE", 'f': "FALSE", 'u': "UNKNOWN"}[x.What])
	case *plan.IsDistinct:
		if x.Not {
			return d.bracket("NOT " + d.operand(&plan.IsDistinct{L: x.L, R: x.R}))
		}
		return d.bracket(d.operand(x.L) + " IS DISTINCT FROM " + d.operand(x.R))
	case *plan.InList:
		return d.inList(x)
	case *plan.Quantified:
		return d.bracket(d.operand(x.X) + " " + x.Cmp.Name + map[bool]string{false: " ANY (", true: " ALL ("}[x.All] + d.expr(x.Array) + ")")
	}
	return d.value(e)
}

func not(is bool) string {
	if is {
		return "NOT "
	}
	return ""
}

// value writes the forms that need no brackets anywhere.
func (d *deparser) value(e plan.Expr) string {
	switch x := e.(type) {
	case *plan.Case:
		s := "CASE"
		for _, w := range x.Whens {
			s += " WHEN " + d.expr(w.Cond) + " THEN " + d.expr(w.Then)
		}
		return s + " ELSE " + d.expr(x.Else) + " END"
	case *plan.Coalesce:
		if len(x.Args) == 1 { // a change of type only
			return d.cast(x.Args[0], x.Typ)
		}
		return "COALESCE(" + d.list(x.Args) + ")"
	case *plan.ArrayCtor:
		return "ARRAY[" + d.list(x.Elems) + "]"
	case *plan.Subscript:
		return d.operand(x.X) + "[" + d.expr(x.Index) + "]"
	case *plan.WindowField:
		return "(" + d.expr(x.X) + map[bool]string{false: ").start", true: ").\"end\""}[x.End]
	case *plan.RowCtor:
		return "ROW(" + d.list(x.Args) + ")"
	case *plan.Now:
		return d.clock
	}
	return "?"
}

func (d *deparser) list(es []plan.Expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = d.expr(e)
	}
	return strings.Join(parts, ", ")
}

// logic writes AND and OR. In pretty form only OR inside of AND needs brackets.
func (d *deparser) logic(args []plan.Expr, word string, or bool) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = d.expr(a)
		if _, isOr := a.(*plan.Or); isOr && d.pretty && !or {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return d.bracket(strings.Join(parts, word))
}

// operand writes an operand of an operator: in pretty form operators within operators keep their brackets.
func (d *deparser) operand(e plan.Expr) string {
	s := d.expr(e)
	if !d.pretty {
		return s
	}
	switch x := e.(type) {
	case *plan.Call:
		if x.Fn.Class != fn.Operator {
			return s
		}
	case *plan.And, *plan.Or, *plan.Not, *plan.IsNull, *plan.IsBool, *plan.IsDistinct, *plan.InList, *plan.Quantified, *plan.Case:
	default:
		return s
	}
	return "(" + s + ")"
}

func (d *deparser) call(x *plan.Call) string {
	switch {
	case x.Fn.Class == fn.Cast:
		return d.cast(x.Args[0], x.Typ)
	case x.Fn.Class == fn.Operator && len(x.Args) == 1:
		return d.bracket(x.Fn.Name + " " + d.operand(x.Args[0]))
	case x.Fn.Class == fn.Operator:
		return d.bracket(d.inner(x, 0) + " " + x.Fn.Name + " " + d.inner(x, 1))
	}
	return parser.QuoteIdent(x.Fn.Name) + "(" + d.list(x.Args) + ")"
}

// inner writes an operand of a binary operator. In pretty form arithmetic within arithmetic has brackets only where it needs them.
func (d *deparser) inner(parent *plan.Call, i int) string {
	e := parent.Args[i]
	if x, ok := e.(*plan.Call); ok && d.pretty && x.Fn.Class == fn.Operator && len(x.Args) == 2 {
		p, q := strings.Index("+-*/%", parent.Fn.Name), strings.Index("+-*/%", x.Fn.Name)
		if p >= 0 && q >= 0 && (p < 2 && q >= 2 || (p < 2) == (q < 2) && i == 0) {
			return d.expr(e)
		}
	}
	return d.operand(e)
}

// cast writes a conversion: in pretty form a plain operand has no brackets.
func (d *deparser) cast(e plan.Expr, to types.Type) string {
	if d.pretty {
		return d.operand(e) + "::" + to.String()
	}
	s := d.expr(e)
	if !strings.HasPrefix(s, "(") || !strings.HasSuffix(s, ")") || !bracketed(e) {
		s = "(" + s + ")"
	}
	return s + "::" + to.String()
}

// bracketed says whether expr brackets an expression in the form that is not pretty.
func bracketed(e plan.Expr) bool {
	switch x := e.(type) {
	case *plan.Call:
		return x.Fn.Class == fn.Operator
	case *plan.And, *plan.Or, *plan.Not, *plan.IsNull, *plan.IsBool, *plan.IsDistinct, *plan.InList, *plan.Quantified:
		return true
	}
	return false
}

// inList writes x IN (...) as the comparison with an array that PostgreSQL makes of it.
func (d *deparser) inList(x *plan.InList) string {
	items := make([]string, 0, len(x.List)+1)
	for _, v := range x.List {
		items = append(items, d.constant(&plan.Const{Val: v, Typ: x.X.Type().NoMod()}))
	}
	if x.Null {
		items = append(items, d.constant(&plan.Const{Val: types.NullDatum, Typ: x.X.Type().NoMod()}))
	}
	op := " = ANY (ARRAY["
	if x.Not {
		op = " <> ALL (ARRAY["
	}
	return d.bracket(d.operand(x.X) + op + strings.Join(items, ", ") + "])")
}

// constant writes a literal with its type, where the literal alone would not have it.
func (d *deparser) constant(c *plan.Const) string {
	label := "::" + c.Typ.String()
	if c.Val.Null {
		return "NULL" + label
	}
	s := types.Format(c.Typ, c.Val, types.DefaultEnv())
	switch c.Typ.Kind {
	case types.Bool:
		return map[string]string{"t": "true", "f": "false"}[s]
	case types.Int4:
		if s[0] != '-' {
			return s
		}
	case types.Numeric:
		if s[0] != '-' && strings.ContainsAny(s, ".e") {
			return s
		}
	}
	if c.Typ.Kind.IsNumber() && strings.Trim(s, "0123456789") == "" { // an integer that was converted
		if d.pretty {
			return s + label
		}
		return "(" + s + ")" + label
	}
	return parser.QuoteLiteral(s) + label
}
