package parser

import (
	"sort"
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
)

func (f *formatter) query(q *ast.Query) {
	f.with(q)
	f.body(q.Body)
	if len(q.OrderBy) > 0 {
		f.put(" ")
		f.orderBy(q.OrderBy)
	}
	switch {
	case q.Limit != nil && q.WithTies:
		f.put(" FETCH FIRST (", q.Limit, ") ROWS WITH TIES")
	case q.Limit != nil:
		f.put(" LIMIT ", q.Limit)
	}
	if q.Offset != nil {
		f.put(" OFFSET ", q.Offset)
	}
	if q.Locking {
		f.put(" FOR UPDATE")
	}
}

func (f *formatter) with(q *ast.Query) {
	for i, c := range q.With {
		switch {
		case i > 0:
			f.put(", ")
		case q.Recursive:
			f.put("WITH RECURSIVE ")
		default:
			f.put("WITH ")
		}
		f.put(QuoteIdent(c.Name))
		f.columns(c.Columns)
		f.put(" AS ")
		if c.Materialized != nil {
			f.put(not(!*c.Materialized), "MATERIALIZED ")
		}
		f.put("(", c.Query, ")")
	}
	if len(q.With) > 0 {
		f.put(" ")
	}
}

func (f *formatter) names(names []string) {
	for i, n := range names {
		if i > 0 {
			f.put(", ")
		}
		f.put(QuoteIdent(n))
	}
}

func (f *formatter) columns(names []string) {
	if len(names) > 0 {
		f.put("(")
		f.names(names)
		f.put(")")
	}
}

func (f *formatter) body(b ast.Body) {
	switch x := b.(type) {
	case *ast.ParenQuery:
		f.put("(", x.Query, ")")
	case *ast.SetOp:
		f.operand(x.L)
		f.put(" ", strings.ToUpper(x.Op), " ")
		if x.All {
			f.put("ALL ")
		}
		f.operand(x.R)
	case *ast.Values:
		f.put("VALUES ")
		for i, r := range x.Rows {
			if i > 0 {
				f.put(", ")
			}
			f.put("(")
			f.exprs(r)
			f.put(")")
		}
	case *ast.Select:
		f.selectBlock(x)
	}
}

// operand writes a side of a set operation; another one goes into brackets.
func (f *formatter) operand(b ast.Body) {
	if _, ok := b.(*ast.SetOp); ok {
		f.put("(")
		f.body(b)
		f.put(")")
		return
	}
	f.body(b)
}

func (f *formatter) selectBlock(s *ast.Select) {
	f.put("SELECT")
	if s.Distinct {
		f.put(" DISTINCT")
	}
	if len(s.DistinctOn) > 0 {
		f.put(" DISTINCT ON (")
		f.exprs(s.DistinctOn)
		f.put(")")
		if s.WithinWatermark {
			f.put(" WITHIN WATERMARK")
		}
	}
	for i, item := range s.Items {
		if i > 0 {
			f.put(",")
		}
		f.put(" ", item.X)
		if item.Alias != "" {
			f.put(" AS ", QuoteIdent(item.Alias))
		}
	}
	for i, t := range s.From {
		if i == 0 {
			f.put(" FROM ")
		} else {
			f.put(", ")
		}
		f.tableExpr(t)
	}
	if s.Where != nil {
		f.put(" WHERE ", s.Where)
	}
	if len(s.GroupBy) > 0 {
		f.put(" GROUP BY ")
		if s.GroupDistinct {
			f.put("DISTINCT ")
		}
		f.groupItems(s.GroupBy)
	}
	if s.Having != nil {
		f.put(" HAVING ", s.Having)
	}
	for i, w := range s.Windows {
		if i == 0 {
			f.put(" WINDOW ")
		} else {
			f.put(", ")
		}
		f.put(QuoteIdent(w.Name), " AS ")
		spec := *w.Spec
		if spec.Ref != "" && spec.PartitionBy == nil && spec.OrderBy == nil && spec.Frame == nil {
			f.put("(", QuoteIdent(spec.Ref), ")")
		} else {
			f.window(&spec)
		}
	}
}

func (f *formatter) groupItems(items []ast.GroupItem) {
	for i, g := range items {
		if i > 0 {
			f.put(", ")
		}
		switch {
		case g.Kind == "empty":
			f.put("()")
		case g.Kind == "sets":
			f.put("GROUPING SETS (")
			f.groupItems(g.Sets)
			f.put(")")
		case g.Kind != "":
			f.put(strings.ToUpper(g.Kind), "(")
			f.groupItems(g.Sets)
			f.put(")")
		case g.Row != nil:
			f.put("(")
			f.groupItems(g.Row)
			f.put(")")
		default:
			f.expr(g.X)
		}
	}
}

func (f *formatter) tableExpr(t ast.TableExpr) {
	switch x := t.(type) {
	case *ast.TableRef:
		if x.Only {
			f.put("ONLY ")
		}
		f.put(FormatName(x.Name))
		if x.AsOf != nil {
			f.put(" FOR SYSTEM_TIME AS OF ", x.AsOf)
		}
		f.watermark(x.Watermark)
		f.alias(x.Alias, x.Columns)
	case *ast.SubqueryRef:
		if x.Lateral {
			f.put("LATERAL ")
		}
		f.put("(", x.Query, ")")
		f.alias(x.Alias, x.Columns)
		f.watermark(x.Watermark)
	case *ast.FuncRef:
		f.funcRef(x)
	case *ast.Join:
		f.join(x)
	}
}

func (f *formatter) alias(name string, columns []string) {
	if name != "" {
		f.put(" AS ", QuoteIdent(name))
		f.columns(columns)
	}
}

func (f *formatter) watermark(w *ast.WatermarkDef) {
	if w == nil {
		return
	}
	col := QuoteIdent(w.Column)
	f.put(" WATERMARK FOR ", col, " AS ")
	if w.Other != nil {
		f.expr(w.Other)
	} else {
		f.put(col, " - INTERVAL ", QuoteLiteral(w.Delay))
	}
	if w.Idle != "" {
		f.put(" IDLE TIMEOUT INTERVAL ", QuoteLiteral(w.Idle))
		if w.Advance {
			f.put(" ADVANCE")
		}
	}
}

func (f *formatter) funcRef(x *ast.FuncRef) {
	if x.Lateral {
		f.put("LATERAL ")
	}
	f.call(x.Call, x.Tables)
	if x.Ordinality {
		f.put(" WITH ORDINALITY")
	}
	if x.Alias != "" {
		f.put(" AS ", QuoteIdent(x.Alias))
	} else if x.ColTypes != nil {
		f.put(" AS ")
	}
	if x.ColTypes == nil {
		f.columns(x.Columns)
		return
	}
	f.put("(")
	for i, c := range x.Columns {
		if i > 0 {
			f.put(", ")
		}
		f.put(QuoteIdent(c), " ", FormatType(x.ColTypes[i]))
	}
	f.put(")")
}

// tableArgs writes the relations among a call's arguments and counts them:
// the positional one first, the others by name.
func (f *formatter) tableArgs(x *ast.Call, tables map[string]*ast.TableArg) (n int) {
	names := make([]string, 0, len(tables))
	for name := range tables {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		a := tables[name]
		if n > 0 {
			f.put(", ")
		}
		n++
		if name == "" && (x.Name == "tumble" || x.Name == "hop") && a.Query == nil && a.PartitionBy == nil {
			f.put(FormatName(a.Name))
			continue
		}
		if name != "" {
			f.put(QuoteIdent(name), " => ")
		}
		if a.Query != nil {
			f.put("TABLE (", a.Query, ")")
		} else {
			f.put("TABLE ", FormatName(a.Name))
		}
		if a.PartitionBy != nil {
			f.put(" PARTITION BY (")
			f.exprs(a.PartitionBy)
			f.put(")")
		}
	}
	return n
}

func (f *formatter) join(x *ast.Join) {
	if x.Alias != "" {
		inner := *x
		inner.Alias, inner.Columns = "", nil
		f.put("(")
		f.join(&inner)
		f.put(")")
		f.alias(x.Alias, x.Columns)
		return
	}
	side := func(t ast.TableExpr) {
		if j, ok := t.(*ast.Join); ok && j.Alias == "" {
			f.put("(")
			f.tableExpr(t)
			f.put(")")
			return
		}
		f.tableExpr(t)
	}
	side(x.L)
	if x.Natural {
		f.put(" NATURAL")
	}
	switch x.Kind {
	case "semi", "anti":
		f.put(" LEFT ", strings.ToUpper(x.Kind), " JOIN ")
	default:
		f.put(" ", strings.ToUpper(x.Kind), " JOIN ")
	}
	side(x.R)
	switch {
	case x.On != nil:
		f.put(" ON ", x.On)
	case len(x.Using) > 0:
		f.put(" USING (")
		f.names(x.Using)
		f.put(")")
	}
}
