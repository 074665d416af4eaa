package equivalence

import (
	"fmt"
	"strings"
)

// generator draws queries. It yields text for both systems (dual).
type generator struct {
	c    *choices
	rels []*relation // what FROM may name
	next int         // number of the next alias
	// flat keeps subqueries out of expressions, as in what DML evaluates.
	flat bool
}

// ref is a column in scope.
type ref struct {
	text string
	kind kind
}

func (g *generator) alias() string {
	g.next++
	return fmt.Sprintf("r%d", g.next)
}

func (g *generator) columns(r *relation, alias string) []ref {
	var out []ref
	for _, c := range r.cols {
		out = append(out, ref{alias + "." + c.name, c.kind})
	}
	return out
}

func of(scope []ref, k kind) []ref {
	var out []ref
	for _, r := range scope {
		if r.kind == k {
			out = append(out, r)
		}
	}
	return out
}

// literal gives a literal with its type written, so that both systems agree on it everywhere.
func (g *generator) literal(k kind) string {
	v := value(g.c, k, true)
	if k == kArr {
		return "NULL::int[]"
	}
	if k == kInt && v != "NULL" {
		return "(" + v + ")"
	}
	return "(" + v + ")::" + kindNames[k]
}

// expr draws an expression of a kind over the columns in scope, at most depth operators high.
func (g *generator) expr(k kind, scope []ref, depth int) string {
	c := g.c
	cols := of(scope, k)
	if k == kBool && depth > 0 && (len(cols) == 0 || !c.oneIn(6)) {
		return g.pred(scope, depth)
	}
	if depth <= 0 || c.n(3) == 0 {
		if len(cols) > 0 && !c.oneIn(8) {
			return pick(c, cols...).text
		}
		return g.literal(k)
	}
	sub := func(k kind) string { return g.expr(k, scope, depth-1) }
	switch c.weighted(6, 1, 1, 1, 1) {
	case 1:
		return fmt.Sprintf("coalesce(%s, %s)", sub(k), sub(k))
	case 2:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.pred(scope, depth-1), sub(k), sub(k))
	case 3:
		if k == kBool || k == kArr {
			break
		}
		return fmt.Sprintf("%s(%s, %s)", pick(c, "greatest", "least", "nullif"), sub(k), sub(k))
	case 4:
		if s := g.scalarSubquery(k, scope, depth-1); s != "" {
			return s
		}
	}
	return g.operation(k, sub)
}

// operation draws an operator or function of a kind. Nothing here can fail on any row: values stay small, divisors are constants.
func (g *generator) operation(k kind, sub func(kind) string) string {
	c := g.c
	switch k {
	case kInt:
		switch c.n(9) {
		case 0:
			return fmt.Sprintf("(%s + %s)", sub(kInt), sub(kInt))
		case 1:
			return fmt.Sprintf("(%s - %s)", sub(kInt), sub(kInt))
		case 2:
			return fmt.Sprintf("(%s %% %d * 3)", sub(kInt), 2+c.n(4))
		case 3:
			return fmt.Sprintf("abs(%s)", sub(kInt))
		case 4:
			return fmt.Sprintf("length(%s)", sub(kText))
		case 5:
			return fmt.Sprintf("(%s)::int", sub(kBool))
		case 6:
			return fmt.Sprintf("(%s / %d)", sub(kInt), 2+c.n(4))
		case 7:
			return fmt.Sprintf("extract(%s FROM %s)::int", pick(c, "hour", "minute", "dow"), sub(kTS))
		}
		return fmt.Sprintf("(- %s)", sub(kInt))
	case kBig:
		switch c.n(4) {
		case 0:
			return fmt.Sprintf("(%s)::bigint", sub(kInt))
		case 1:
			return fmt.Sprintf("(%s + %s)", sub(kBig), sub(kInt))
		case 2:
			return fmt.Sprintf("(%s %% 1000 * 2)", sub(kBig))
		}
		return fmt.Sprintf("(%s - %s)", sub(kBig), sub(kBig))
	case kText:
		switch c.n(7) {
		case 0:
			return fmt.Sprintf("left(%s || %s, 8)", sub(kText), sub(kText))
		case 1:
			return fmt.Sprintf("upper(%s)", sub(kText))
		case 2:
			return fmt.Sprintf("substr(%s, %d)", sub(kText), 1+c.n(3))
		case 3:
			return fmt.Sprintf("(%s)::text", sub(kInt))
		case 4:
			return fmt.Sprintf("replace(%s, 'b', 'xy')", sub(kText))
		case 5:
			return fmt.Sprintf("to_char(%s, 'HH24:MI')", sub(kTS))
		}
		return fmt.Sprintf("(%s)::text", sub(kBool))
	case kNum:
		switch c.n(5) {
		case 0:
			return fmt.Sprintf("(%s + %s)", sub(kNum), sub(kNum))
		case 1:
			return fmt.Sprintf("round(%s, 1)", sub(kNum))
		case 2:
			return fmt.Sprintf("(%s)::numeric", sub(kInt))
		case 3:
			return fmt.Sprintf("(%s / 4)", sub(kNum))
		}
		return fmt.Sprintf("(%s - %s)", sub(kNum), sub(kInt))
	case kDbl:
		switch c.n(4) {
		case 0:
			return fmt.Sprintf("(%s)::float8", sub(kInt))
		case 1:
			return fmt.Sprintf("(%s * 0.5::float8)", sub(kDbl))
		case 2:
			return fmt.Sprintf("abs(%s)", sub(kDbl))
		}
		return fmt.Sprintf("floor(%s)", sub(kDbl))
	case kTS:
		switch c.n(3) {
		case 0:
			return fmt.Sprintf("(%s + INTERVAL '%d minutes')", sub(kTS), c.n(20))
		case 1:
			return fmt.Sprintf("date_trunc('hour', %s)", sub(kTS))
		}
		return fmt.Sprintf("(%s - %s * INTERVAL '1 minute')", sub(kTS), sub(kInt))
	}
	return g.literal(k)
}

// kindIn draws a kind, preferring those that the scope has columns of.
func (g *generator) kindIn(scope []ref) kind {
	if len(scope) > 0 && !g.c.oneIn(8) {
		if k := pick(g.c, scope...).kind; k != kArr {
			return k
		}
	}
	return kind(g.c.n(int(kArr)))
}

// pred draws a condition.
func (g *generator) pred(scope []ref, depth int) string {
	c := g.c
	k := g.kindIn(scope)
	sub := func(k kind) string { return g.expr(k, scope, min(depth-1, 1)) }
	if depth > 0 {
		switch c.weighted(6, 1, 1, 1, 1) {
		case 1:
			return fmt.Sprintf("(%s AND %s)", g.pred(scope, depth-1), g.pred(scope, depth-1))
		case 2:
			return fmt.Sprintf("(%s OR %s)", g.pred(scope, depth-1), g.pred(scope, depth-1))
		case 3:
			return fmt.Sprintf("(NOT %s)", g.pred(scope, depth-1))
		case 4:
			if s := g.subqueryPred(k, scope, depth-1); s != "" {
				return s
			}
		}
	}
	switch c.weighted(5, 2, 1, 1, 1, 1) {
	case 1:
		return fmt.Sprintf("(%s IS %sNULL)", sub(k), pick(c, "NOT ", ""))
	case 2:
		return fmt.Sprintf("(%s IS %sDISTINCT FROM %s)", sub(k), pick(c, "", "NOT "), sub(k))
	case 3:
		return fmt.Sprintf("(%s %sIN (%s, %s))", sub(k), pick(c, "", "NOT "), g.literal(k), g.literal(k))
	case 4:
		return fmt.Sprintf("(%s BETWEEN %s AND %s)", sub(k), sub(k), sub(k))
	case 5:
		return fmt.Sprintf("(%s %sLIKE %s)", sub(kText), pick(c, "", "NOT "), pick(c, "'a%'", "'%b%'", "'_'", "''"))
	}
	return fmt.Sprintf("(%s %s %s)", sub(k), pick(c, "=", "<", ">=", "<>", ">", "<="), sub(k))
}

// agg draws an aggregate of a kind over the scope; "" where there is none.
func (g *generator) agg(k kind, scope []ref, depth int) string {
	c := g.c
	arg := func(k kind) string { return g.expr(k, scope, depth) }
	s := ""
	switch k {
	case kBig:
		switch c.n(4) {
		case 0:
			s = "count(*)"
		case 1:
			s = fmt.Sprintf("count(%s)", arg(g.kindIn(scope)))
		case 2:
			s = fmt.Sprintf("count(DISTINCT %s)", arg(g.kindIn(scope)))
		case 3:
			s = fmt.Sprintf("sum(%s%s)", pick(c, "", "DISTINCT "), arg(kInt))
		}
	case kNum:
		switch c.n(4) {
		case 0:
			s = fmt.Sprintf("sum(%s)", arg(kNum))
		case 1:
			s = fmt.Sprintf("avg(%s%s)", pick(c, "", "DISTINCT "), arg(kInt))
		case 2:
			s = fmt.Sprintf("sum(%s)", arg(kBig))
		case 3:
			s = fmt.Sprintf("avg(%s)", arg(kNum))
		}
	case kDbl:
		switch c.n(4) {
		case 0:
			s = fmt.Sprintf("sum(%s)", arg(kDbl))
		case 1:
			s = fmt.Sprintf("avg(%s)", arg(kDbl))
		case 2:
			s = fmt.Sprintf("%s((%s)::float8)", pick(c, "stddev", "var_pop", "stddev_pop", "variance"), arg(kInt))
		case 3:
			s = fmt.Sprintf("percentile_cont(%s) WITHIN GROUP (ORDER BY (%s)::float8)", pick(c, "0.5", "0.25", "1"), arg(kInt))
		}
	case kText:
		x := arg(kText)
		s = pick(c, fmt.Sprintf("min(%s)", x), fmt.Sprintf("max(%s)", x), fmt.Sprintf("string_agg(%s, ',' ORDER BY %s)", x, x), fmt.Sprintf("string_agg(DISTINCT %s, ';')", x))
		if strings.HasPrefix(s, "string_agg(DISTINCT") {
			s = fmt.Sprintf("string_agg(DISTINCT %s, ';' ORDER BY %s)", x, x)
			if strings.Contains(x, "SELECT") {
				s = fmt.Sprintf("max(%s)", x)
			}
		}
	case kBool:
		s = fmt.Sprintf("%s(%s)", pick(c, "bool_and", "bool_or"), arg(kBool))
	case kArr:
		x := arg(kInt)
		s = fmt.Sprintf("array_agg(%s ORDER BY %s%s)", x, x, pick(c, "", " DESC"))
	default:
		s = fmt.Sprintf("%s(%s)", pick(c, "min", "max"), arg(k))
	}
	if c.oneIn(6) {
		s += fmt.Sprintf(" FILTER (WHERE %s)", g.expr(kBool, scope, min(depth, 1)))
	}
	return s
}

// scalarSubquery draws (SELECT agg FROM ...), at times correlated with the scope; "" where there can be none.
func (g *generator) scalarSubquery(k kind, scope []ref, depth int) string {
	if g.flat || len(g.rels) == 0 || k == kArr {
		return ""
	}
	r := pick(g.c, g.rels...)
	a := g.alias()
	inner := g.columns(r, a)
	s := fmt.Sprintf("(SELECT %s FROM %s %s", g.agg(k, inner, 0), r.name, a)
	return s + g.correlate(inner, scope) + ")"
}

// correlate draws the WHERE of a subquery.
func (g *generator) correlate(inner, scope []ref) string {
	var conds []string
	if len(scope) > 0 && g.c.n(3) > 0 {
		x := pick(g.c, scope...)
		if ys := of(inner, x.kind); len(ys) > 0 {
			op := "="
			if g.c.oneIn(4) {
				op = pick(g.c, "<", "<>", ">=")
			}
			conds = append(conds, fmt.Sprintf("%s %s %s", pick(g.c, ys...).text, op, x.text))
		}
	}
	if g.c.oneIn(3) {
		was := g.flat
		g.flat = true
		conds = append(conds, g.pred(inner, 0))
		g.flat = was
	}
	if len(conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conds, " AND ")
}

// subqueryPred draws IN, NOT IN and EXISTS.
func (g *generator) subqueryPred(k kind, scope []ref, depth int) string {
	if g.flat || len(g.rels) == 0 {
		return ""
	}
	r := pick(g.c, g.rels...)
	a := g.alias()
	inner := g.columns(r, a)
	if cols := of(inner, k); len(cols) > 0 && k != kArr && g.c.n(2) == 0 {
		return fmt.Sprintf("(%s %sIN (SELECT %s FROM %s %s%s))", g.expr(k, scope, 0), pick(g.c, "", "NOT "),
			pick(g.c, cols...).text, r.name, a, g.correlate(inner, scope))
	}
	return fmt.Sprintf("(%sEXISTS (SELECT 1 FROM %s %s%s))", pick(g.c, "", "NOT "), r.name, a, g.correlate(inner, scope))
}
