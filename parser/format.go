package parser

import (
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
)

// Format writes an expression as SQL with every operator in brackets, so that
// the grouping shows and the text parses back to the same tree.
func Format(e ast.Expr) string {
	var f formatter
	f.expr(e)
	return f.String()
}

// FormatQuery writes a query in the same manner.
func FormatQuery(q *ast.Query) string {
	var f formatter
	f.query(q)
	return f.String()
}

// QuoteLiteral writes a string as a literal in single quotes.
func QuoteLiteral(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

type formatter struct{ strings.Builder }

// put writes strings and expressions in turn.
func (f *formatter) put(parts ...any) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			f.WriteString(p)
		case *ast.Query:
			f.query(p)
		case ast.Expr:
			f.expr(p)
		}
	}
}

func (f *formatter) exprs(es []ast.Expr) {
	for i, e := range es {
		if i > 0 {
			f.WriteString(", ")
		}
		f.expr(e)
	}
}

func not(is bool) string {
	if is {
		return "NOT "
	}
	return ""
}

func (f *formatter) expr(e ast.Expr) {
	switch x := e.(type) {
	case *ast.ColumnRef:
		f.columnRef(x)
	case *ast.Const:
		f.WriteString(formatConst(x))
	case *ast.Param:
		f.put("$", strconv.Itoa(x.N))
	case *ast.Default:
		f.put("DEFAULT")
	case *ast.Cast:
		f.put("(", x.X, ")::", FormatType(x.Type))
	case *ast.Unary:
		f.put("(", x.Op, " ", x.X, ")")
	case *ast.Binary:
		op := x.Op
		if x.OpSchema != "" {
			op = "OPERATOR(" + QuoteIdent(x.OpSchema) + "." + op + ")"
		}
		f.put("(", x.L, " ", op, " ", x.R, ")")
	case *ast.BoolOp:
		word := " OR "
		if x.And {
			word = " AND "
		}
		f.put("(")
		for i, a := range x.Args {
			if i > 0 {
				f.put(word)
			}
			f.expr(a)
		}
		f.put(")")
	case *ast.Not:
		f.put("(NOT ", x.X, ")")
	case *ast.Field:
		name := x.Name
		if name != "*" {
			name = QuoteIdent(name)
		}
		f.put("(", x.X, ").", name)
	case *ast.Collate:
		f.put("(", x.X, " COLLATE ", FormatName(x.Name), ")")
	case *ast.IntervalLit:
		f.interval(x)
	case *ast.Row:
		f.put("ROW(")
		f.exprs(x.Args)
		f.put(")")
	case *ast.ArrayExpr:
		f.put("ARRAY[")
		f.exprs(x.Elems)
		f.put("]")
	case *ast.Call:
		f.call(x, nil)
	case *ast.Case:
		f.caseExpr(x)
	default:
		f.predicate(e)
	}
}

// predicate writes tests and what holds a query.
func (f *formatter) predicate(e ast.Expr) {
	switch x := e.(type) {
	case *ast.Like:
		word := map[string]string{"like": "LIKE", "ilike": "ILIKE", "similar": "SIMILAR TO"}[x.Op]
		f.put("(", x.X, " ", not(x.Not), word, " ", x.Pat)
		if x.Escape != nil {
			f.put(" ESCAPE ", x.Escape)
		}
		f.put(")")
	case *ast.Between:
		sym := ""
		if x.Symmetric {
			sym = "SYMMETRIC "
		}
		f.put("(", x.X, " ", not(x.Not), "BETWEEN ", sym, x.Lo, " AND ", x.Hi, ")")
	case *ast.In:
		f.put("(", x.X, " ", not(x.Not), "IN (")
		if x.Query != nil {
			f.query(x.Query)
		} else {
			f.exprs(x.List)
		}
		f.put("))")
	case *ast.IsTest:
		f.put("(", x.X, " IS ", not(x.Not), strings.ToUpper(x.What), ")")
	case *ast.IsDistinct:
		f.put("(", x.L, " IS ", not(x.Not), "DISTINCT FROM ", x.R, ")")
	case *ast.Quantified:
		word := "ANY"
		if x.All {
			word = "ALL"
		}
		f.put("(", x.X, " ", x.Op, " ", word, " (")
		if x.Query != nil {
			f.query(x.Query)
		} else {
			f.expr(x.Array)
		}
		f.put("))")
	case *ast.Subquery:
		f.put("(", x.Query, ")")
	case *ast.Exists:
		f.put("EXISTS (", x.Query, ")")
	case *ast.ArrayQuery:
		f.put("ARRAY(", x.Query, ")")
	case *ast.Subscript:
		f.put("(", x.X, ")[")
		if x.Lo != nil {
			f.expr(x.Lo)
		}
		if x.Slice {
			f.put(":")
			if x.Hi != nil {
				f.expr(x.Hi)
			}
		}
		f.put("]")
	}
}

func (f *formatter) columnRef(x *ast.ColumnRef) {
	for i, p := range x.Parts {
		if i > 0 {
			f.WriteByte('.')
		}
		// After a dot any word may stand as it is.
		if i > 0 && plainWord(p) {
			f.WriteString(p)
		} else if p == "window" {
			f.WriteString(p)
		} else {
			f.WriteString(QuoteIdent(p))
		}
	}
	if x.Star {
		if len(x.Parts) > 0 {
			f.WriteByte('.')
		}
		f.WriteByte('*')
	}
}

func plainWord(s string) bool { return lookupKeyword(s) != noKeyword || QuoteIdent(s) == s }

func formatConst(x *ast.Const) string {
	switch x.Kind {
	case ast.StringConst:
		return QuoteLiteral(x.Text)
	case ast.NullConst:
		return "NULL"
	case ast.BitConst:
		return x.Text[:1] + QuoteLiteral(x.Text[1:])
	case ast.NumberConst:
		if strings.HasPrefix(x.Text, "-") {
			return "(" + x.Text + ")"
		}
	}
	return x.Text
}

func (f *formatter) interval(x *ast.IntervalLit) {
	f.put("INTERVAL ")
	inFields := x.Prec >= 0 && strings.HasSuffix(x.Fields, "second")
	if x.Prec >= 0 && !inFields {
		f.put("(", strconv.Itoa(x.Prec), ") ")
	}
	f.put(QuoteLiteral(x.Text))
	if x.Fields != "" {
		f.put(" ", strings.ToUpper(x.Fields))
	}
	if inFields {
		f.put("(", strconv.Itoa(x.Prec), ")")
	}
}

func (f *formatter) caseExpr(x *ast.Case) {
	f.put("CASE")
	if x.X != nil {
		f.put(" ", x.X)
	}
	for _, w := range x.Whens {
		f.put(" WHEN ", w.Cond, " THEN ", w.Then)
	}
	if x.Else != nil {
		f.put(" ELSE ", x.Else)
	}
	f.put(" END")
}

// functionWords are names of functions that have a grammar of their own and
// so stand unquoted, though they are key words.
var functionWords = map[string]bool{"coalesce": true, "nullif": true, "greatest": true, "least": true, "grouping": true,
	"window": true, "normalize": true}

// nullary are the calls that are written without brackets.
var nullary = map[string]bool{"current_date": true, "current_time": true, "current_timestamp": true, "localtime": true,
	"localtimestamp": true, "current_role": true, "current_user": true, "user": true, "session_user": true, "current_catalog": true}

// call writes a call; tables are the relations among its arguments in FROM.
func (f *formatter) call(x *ast.Call, tables map[string]*ast.TableArg) {
	if x.Schema == "" && nullary[x.Name] {
		f.put(x.Name)
		if len(x.Args) > 0 {
			f.put("(", x.Args[0], ")")
		}
		return
	}
	f.functionName(x)
	f.put("(")
	if x.Distinct {
		f.put("DISTINCT ")
	}
	if x.Star {
		f.put("*")
	}
	n := f.tableArgs(x, tables)
	for i, a := range x.Args {
		if n > 0 {
			f.put(", ")
		}
		n++
		if x.Variadic && i == len(x.Args)-1 {
			f.put("VARIADIC ")
		}
		if i < len(x.ArgNames) && x.ArgNames[i] != "" {
			f.put(QuoteIdent(x.ArgNames[i]), " => ")
		}
		f.expr(a)
	}
	if len(x.OrderBy) > 0 && !x.Within {
		f.put(" ")
		f.orderBy(x.OrderBy)
	}
	f.put(")")
	if x.Within {
		f.put(" WITHIN GROUP (")
		f.orderBy(x.OrderBy)
		f.put(")")
	}
	if x.Filter != nil {
		f.put(" FILTER (WHERE ", x.Filter, ")")
	}
	if x.IgnoreNulls {
		f.put(" IGNORE NULLS")
	}
	if x.Over != nil {
		f.put(" OVER ")
		f.window(x.Over)
	}
}

func (f *formatter) functionName(x *ast.Call) {
	switch k := lookupKeyword(x.Name); {
	case x.Schema != "":
		f.put(QuoteIdent(x.Schema), ".", QuoteIdent(x.Name))
	case functionWords[x.Name], k.category() == typeFunc && k != noKeyword:
		f.put(x.Name)
	case x.Name == "extract" || x.Name == "substring" || x.Name == "position" || x.Name == "overlay":
		// With plain commas the name must be quoted to mean the function itself.
		f.put(`"`, x.Name, `"`)
	default:
		f.put(QuoteIdent(x.Name))
	}
}

func (f *formatter) orderBy(items []ast.OrderItem) {
	f.put("ORDER BY ")
	for i, o := range items {
		if i > 0 {
			f.put(", ")
		}
		f.expr(o.X)
		if o.Desc {
			f.put(" DESC")
		}
		if o.Using != "" {
			f.put(" USING ", o.Using)
		}
		if o.NullsFirst != nil {
			if *o.NullsFirst {
				f.put(" NULLS FIRST")
			} else {
				f.put(" NULLS LAST")
			}
		}
	}
}

func (f *formatter) window(w *ast.WindowSpec) {
	if w.Ref != "" && w.PartitionBy == nil && w.OrderBy == nil && w.Frame == nil {
		f.put(QuoteIdent(w.Ref))
		return
	}
	sep := ""
	next := func() string { s := sep; sep = " "; return s }
	f.put("(")
	if w.Ref != "" {
		f.put(next(), QuoteIdent(w.Ref))
	}
	if w.PartitionBy != nil {
		f.put(next(), "PARTITION BY ")
		f.exprs(w.PartitionBy)
	}
	if w.OrderBy != nil {
		f.put(next())
		f.orderBy(w.OrderBy)
	}
	if fr := w.Frame; fr != nil {
		f.put(next(), strings.ToUpper(fr.Mode), " BETWEEN ")
		f.bound(fr.Start)
		f.put(" AND ")
		f.bound(fr.End)
		if fr.Exclude != "" {
			f.put(" EXCLUDE ", strings.ToUpper(fr.Exclude))
		}
	}
	f.put(")")
}

func (f *formatter) bound(b ast.Bound) {
	if b.Offset != nil {
		f.put(b.Offset, " ")
	}
	f.put(strings.ToUpper(b.Kind))
}

// FormatName writes a qualified name.
func FormatName(n ast.Name) string {
	if n.Schema != "" {
		return QuoteIdent(n.Schema) + "." + QuoteIdent(n.Name)
	}
	return QuoteIdent(n.Name)
}

// FormatType writes a type by its internal name, with modifiers.
func FormatType(t ast.TypeName) string {
	var sb strings.Builder
	if t.Schema != "" {
		sb.WriteString(QuoteIdent(t.Schema) + ".")
	}
	name := t.Name
	k := lookupKeyword(name)
	switch {
	case t.Schema == "" && internalTypes[k] == name && name != "bit":
		sb.WriteString(name)
	case name == "bit":
		sb.WriteString(name)
	default:
		sb.WriteString(QuoteIdent(name))
	}
	if t.Fields != "" {
		sb.WriteString(" " + t.Fields)
	}
	for i, m := range t.Mods {
		if i == 0 {
			sb.WriteByte('(')
		} else {
			sb.WriteByte(',')
		}
		sb.WriteString(strconv.Itoa(m))
		if i == len(t.Mods)-1 {
			sb.WriteByte(')')
		}
	}
	if t.Array {
		sb.WriteString("[]")
	}
	return sb.String()
}
