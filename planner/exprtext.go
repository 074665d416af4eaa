package planner

import (
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// ExprText shows a bound expression over columns in, as EXPLAIN does.
func ExprText(e plan.Expr, in []plan.Column) string { return exprText(e, in) }

// exprText shows a bound expression over columns in.
func exprText(e plan.Expr, in []plan.Column) string {
	sub := func(x plan.Expr) string {
		s := exprText(x, in)
		switch y := x.(type) {
		case *plan.Call:
			if y.Fn.Class == fn.Operator {
				return "(" + s + ")"
			}
		case *plan.And, *plan.Or, *plan.Not, *plan.IsNull, *plan.IsBool, *plan.IsDistinct, *plan.InList, *plan.Quantified:
			return "(" + s + ")"
		}
		return s
	}
	list := func(xs []plan.Expr, sep string) string {
		parts := make([]string, len(xs))
		for i, x := range xs {
			parts[i] = sub(x)
		}
		return strings.Join(parts, sep)
	}
	neg := func(not bool) string {
		if not {
			return "NOT "
		}
		return ""
	}
	switch x := e.(type) {
	case *plan.Col:
		if x.Index < len(in) {
			return in[x.Index].Name
		}
		return "$col" + strconv.Itoa(x.Index)
	case *plan.Const:
		return constText(x)
	case *plan.Param:
		return "$" + strconv.Itoa(x.N)
	case *plan.Call:
		return callText(x, sub, in)
	case *plan.And:
		return list(x.Args, " AND ")
	case *plan.Or:
		return list(x.Args, " OR ")
	case *plan.Not:
		return "NOT " + sub(x.X)
	case *plan.IsNull:
		return sub(x.X) + " IS " + neg(x.Not) + "NULL"
	case *plan.IsBool:
		return sub(x.X) + " IS " + neg(x.Not) + map[byte]string{'t': "TRUE", 'f': "FALSE", 'u': "UNKNOWN"}[x.What]
	case *plan.IsDistinct:
		return sub(x.L) + " IS " + neg(x.Not) + "DISTINCT FROM " + sub(x.R)
	case *plan.Case:
		s := "CASE"
		for _, w := range x.Whens {
			s += " WHEN " + exprText(w.Cond, in) + " THEN " + exprText(w.Then, in)
		}
		return s + " ELSE " + exprText(x.Else, in) + " END"
	case *plan.Coalesce:
		return "COALESCE(" + exprList(x.Args, in) + ")"
	case *plan.InList:
		var items []string
		for _, d := range x.List {
			items = append(items, constText(&plan.Const{Val: d, Typ: x.X.Type()}))
		}
		if x.Null {
			items = append(items, "NULL")
		}
		return sub(x.X) + " " + neg(x.Not) + "IN (" + strings.Join(items, ", ") + ")"
	case *plan.Quantified:
		word := "ANY"
		if x.All {
			word = "ALL"
		}
		return sub(x.X) + " " + x.Cmp.Name + " " + word + " (" + exprText(x.Array, in) + ")"
	case *plan.ArrayCtor:
		return "ARRAY[" + exprList(x.Elems, in) + "]"
	case *plan.Subscript:
		return sub(x.X) + "[" + exprText(x.Index, in) + "]"
	case *plan.WindowField:
		if x.End {
			return sub(x.X) + ".end"
		}
		return sub(x.X) + ".start"
	case *plan.RowCtor:
		return "ROW(" + exprList(x.Args, in) + ")"
	case *plan.Now:
		return "now()"
	}
	return "?"
}

func callText(x *plan.Call, sub func(plan.Expr) string, in []plan.Column) string {
	switch {
	case x.Fn.Class == fn.Operator && len(x.Args) == 2:
		return sub(x.Args[0]) + " " + x.Fn.Name + " " + sub(x.Args[1])
	case x.Fn.Class == fn.Operator:
		return x.Fn.Name + sub(x.Args[0])
	case x.Fn.Class == fn.Cast:
		return sub(x.Args[0]) + "::" + x.Typ.String()
	}
	return x.Fn.Name + "(" + exprList(x.Args, in) + ")"
}

func exprList(es []plan.Expr, in []plan.Column) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = exprText(e, in)
	}
	return strings.Join(parts, ", ")
}

func constText(c *plan.Const) string {
	if c.Val.Null {
		return "NULL"
	}
	s := types.Format(c.Typ, c.Val, types.DefaultEnv())
	switch {
	case c.Typ.Kind.IsNumber():
		return s
	case c.Typ.Kind == types.Bool:
		return map[string]string{"t": "true", "f": "false"}[s]
	}
	s = "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if !c.Typ.Kind.IsString() {
		s += "::" + c.Typ.String()
	}
	return s
}

func aggText(a plan.Agg, in []plan.Column) string {
	s := a.Fn.Name + "("
	if a.Distinct {
		s += "DISTINCT "
	}
	switch {
	case a.Direct != nil:
		s += exprList(a.Direct, in) + ") WITHIN GROUP (ORDER BY " + sortText(a.OrderBy, in)
	case len(a.Args) == 0:
		s += "*"
	default:
		s += exprList(a.Args, in)
		if len(a.OrderBy) > 0 {
			s += " ORDER BY " + sortText(a.OrderBy, in)
		}
	}
	s += ")"
	if a.Filter != nil {
		s += " FILTER (WHERE " + exprText(a.Filter, in) + ")"
	}
	return s
}

func sortText(keys []plan.SortKey, in []plan.Column) string {
	var parts []string
	for _, k := range keys {
		s := exprText(k.X, in)
		if k.Desc {
			s += " DESC"
		}
		if k.NullsFirst != k.Desc {
			if k.NullsFirst {
				s += " NULLS FIRST"
			} else {
				s += " NULLS LAST"
			}
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

// microsText shows a span of time as an interval.
func microsText(us int64) string {
	d := types.IntervalDatum(0, int32(us/dayMicros), us%dayMicros)
	return types.Format(types.Of(types.Interval), d, types.DefaultEnv())
}

func signedMicros(us int64) string {
	if us < 0 {
		return "- " + microsText(-us)
	}
	return "+ " + microsText(us)
}
