package equivalence

import (
	"fmt"
	"strings"
)

// query draws a query whose columns are named c1, c2, ... and have the given kinds (nil: any).
func (g *generator) query(want []kind, depth int) (string, []column) {
	c := g.c
	if depth <= 0 {
		return g.plainSelect(want, depth)
	}
	switch c.weighted(4, 5, 2, 2, 1, 1, 1) {
	case 1:
		return g.aggregate(want, depth)
	case 2:
		return g.setOperation(want, depth)
	case 3:
		return g.limited(want, depth)
	case 4:
		return g.with(want, depth)
	case 5:
		return g.over(want, depth)
	case 6:
		if want == nil {
			if s, cols := g.timeWindows(); s != "" {
				return s, cols
			}
		}
	}
	return g.plainSelect(want, depth)
}

func (g *generator) kinds(want []kind) []kind {
	if want != nil {
		return want
	}
	for range 1 + g.c.n(4) {
		want = append(want, kind(g.c.n(int(kArr))))
	}
	return want
}

func named(ks []kind) []column {
	var out []column
	for i, k := range ks {
		out = append(out, column{fmt.Sprintf("c%d", i+1), k})
	}
	return out
}

func (g *generator) items(want []kind, f func(k kind) string) string {
	var out []string
	for i, k := range want {
		out = append(out, fmt.Sprintf("%s AS c%d", f(k), i+1))
	}
	return strings.Join(out, ", ")
}

func (g *generator) where(scope []ref, depth int) string {
	if g.c.n(2) == 0 {
		return ""
	}
	return " WHERE " + g.pred(scope, min(depth, 2))
}

func (g *generator) plainSelect(want []kind, depth int) (string, []column) {
	from, scope := g.from(depth)
	if want == nil && g.c.n(2) == 0 { // take columns as they are
		n := 1 + g.c.n(4)
		var items []string
		var cols []column
		for i := range n {
			r := pick(g.c, scope...)
			items = append(items, fmt.Sprintf("%s AS c%d", r.text, i+1))
			cols = append(cols, column{fmt.Sprintf("c%d", i+1), r.kind})
		}
		return fmt.Sprintf("SELECT %s%s FROM %s%s", pick(g.c, "", "", "", "DISTINCT "), strings.Join(items, ", "), from, g.where(scope, depth)), cols
	}
	want = g.kinds(want)
	distinct := pick(g.c, "", "", "", "DISTINCT ")
	items := g.items(want, func(k kind) string { return g.expr(k, scope, 2) })
	return fmt.Sprintf("SELECT %s%s FROM %s%s", distinct, items, from, g.where(scope, depth)), named(want)
}

// from draws a FROM clause and its scope.
func (g *generator) from(depth int) (string, []ref) {
	c := g.c
	left, scope := g.item(depth)
	if depth > 1 && c.oneIn(10) {
		l, k := g.alias(), pick(c, kBig, kNum, kText)
		r := pick(c, g.rels...)
		a := g.alias()
		inner := g.columns(r, a)
		left = fmt.Sprintf("%s %s JOIN LATERAL (SELECT %s AS x FROM %s %s%s) %s ON true", left, pick(c, "LEFT", "INNER"), g.agg(k, inner, 0), r.name, a, g.correlate(inner, scope), l)
		scope = append(append([]ref(nil), scope...), ref{l + ".x", k})
	}
	for joins := c.weighted(5, 4, 1); joins > 0 && depth > 0; joins-- {
		right, rscope := g.item(depth - 1)
		both := append(append([]ref(nil), scope...), rscope...)
		on := g.on(scope, rscope, both)
		switch c.weighted(4, 3, 1, 2, 1, 1, 1) {
		case 0:
			left, scope = fmt.Sprintf("%s JOIN %s ON %s", left, right, on), both
		case 1:
			left, scope = fmt.Sprintf("%s LEFT JOIN %s ON %s", left, right, on), both
		case 2:
			left, scope = fmt.Sprintf("%s RIGHT JOIN %s ON %s", left, right, on), both
		case 3:
			// PostgreSQL's full joins want an equality alone or with conditions that it can hash or merge.
			left, scope = fmt.Sprintf("%s FULL JOIN %s ON %s", left, right, g.equality(scope, rscope, "true")), both
		case 4:
			left, scope = fmt.Sprintf("%s CROSS JOIN %s", left, right), both
		case 5, 6:
			kind, not := "SEMI", ""
			if c.n(2) == 1 {
				kind, not = "ANTI", "NOT "
			}
			left, scope = g.semi(left, scope, right, on, kind, not)
		}
	}
	return left, scope
}

// semi draws a semi or anti join; PostgreSQL gets [NOT] EXISTS in a subquery with the same columns.
func (g *generator) semi(left string, scope []ref, right, on, kind, not string) (string, []ref) {
	a := g.alias()
	var items []string
	var out []ref
	for i, r := range scope {
		items = append(items, fmt.Sprintf("%s AS s%d", r.text, i+1))
		out = append(out, ref{fmt.Sprintf("%s.s%d", a, i+1), r.kind})
	}
	list := strings.Join(items, ", ")
	return dual(fmt.Sprintf("(SELECT %s FROM %s LEFT %s JOIN %s ON %s) %s", list, left, kind, right, on, a),
		fmt.Sprintf("(SELECT %s FROM %s WHERE %sEXISTS (SELECT 1 FROM %s WHERE %s)) %s", list, left, not, right, on, a)), out
}

func (g *generator) equality(l, r []ref, otherwise string) string {
	for range 4 {
		x := pick(g.c, l...)
		if ys := of(r, x.kind); len(ys) > 0 && x.kind != kArr {
			return fmt.Sprintf("%s = %s", x.text, pick(g.c, ys...).text)
		}
	}
	return otherwise
}

func (g *generator) on(l, r, both []ref) string {
	was := g.flat
	g.flat = true
	defer func() { g.flat = was }()
	eq := g.equality(l, r, g.pred(both, 1))
	switch g.c.weighted(4, 1, 1, 1) {
	case 1:
		return eq + " AND " + g.equality(l, r, "true")
	case 2:
		return eq + " AND " + g.pred(both, 1)
	case 3:
		return g.pred(both, 1)
	}
	return eq
}

// item draws one FROM item.
func (g *generator) item(depth int) (string, []ref) {
	a := g.alias()
	if depth > 1 && g.c.oneIn(4) {
		q, cols := g.query(nil, depth-1)
		return fmt.Sprintf("(%s) %s", q, a), g.columns(&relation{cols: cols}, a)
	}
	r := pick(g.c, g.rels...)
	return r.name + " " + a, g.columns(r, a)
}

// aggregate draws GROUP BY, or an aggregation without it.
func (g *generator) aggregate(want []kind, depth int) (string, []column) {
	c := g.c
	from, scope := g.from(depth)
	if want == nil {
		want = g.kinds(nil)
		if c.oneIn(5) {
			want = append(want, kArr)
		}
	}
	keys := c.n(min(len(want), 3) + 1)
	bare := true // all keys are columns
	var items, ordinals []string
	for i, k := range want {
		switch {
		case i < keys && k != kArr:
			was := g.flat
			g.flat = true // a subquery as a group key can't be written twice
			x := g.expr(k, scope, c.n(2))
			g.flat = was
			if len(of(scope, k)) > 0 && c.n(3) > 0 {
				x = pick(c, of(scope, k)...).text
			} else {
				bare = false
			}
			items = append(items, fmt.Sprintf("%s AS c%d", x, i+1))
			ordinals = append(ordinals, fmt.Sprint(i+1))
		default:
			x := g.agg(k, scope, c.n(2))
			if k != kArr && c.oneIn(5) {
				x = fmt.Sprintf("coalesce(%s, %s)", x, g.literal(k))
			}
			items = append(items, fmt.Sprintf("%s AS c%d", x, i+1))
		}
	}
	s := fmt.Sprintf("SELECT %s FROM %s%s", strings.Join(items, ", "), from, g.where(scope, depth))
	if len(ordinals) > 0 {
		// PostgreSQL 15 does not make a constant key NULL in the sets without it.
		if c.oneIn(8) && bare {
			s += " GROUP BY ROLLUP (" + strings.Join(ordinals, ", ") + ")"
		} else {
			s += " GROUP BY " + strings.Join(ordinals, ", ")
		}
	}
	if c.oneIn(5) {
		k := pick(c, kBig, kNum, kInt)
		s += fmt.Sprintf(" HAVING %s %s %s", g.agg(k, scope, 0), pick(c, ">", "<=", "<>"), g.literal(k))
	}
	return s, named(want)
}

func (g *generator) setOperation(want []kind, depth int) (string, []column) {
	want = g.kinds(want)
	op := pick(g.c, "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")
	l, _ := g.query(want, depth-1)
	r, _ := g.query(want, depth-1)
	return fmt.Sprintf("(%s) %s (%s)", l, op, r), named(want)
}

// order draws an ORDER BY over all columns: rows that it leaves equal are the same.
func (g *generator) order(cols []column, first int) string {
	var out []string
	for i := range cols {
		c := cols[(i+first)%len(cols)]
		out = append(out, c.name+pick(g.c, "", " DESC", " NULLS FIRST", " DESC NULLS LAST"))
	}
	return strings.Join(out, ", ")
}

// limited draws ORDER BY ... LIMIT, or DISTINCT ON.
func (g *generator) limited(want []kind, depth int) (string, []column) {
	q, cols := g.query(want, depth-1)
	if g.c.oneIn(3) {
		return fmt.Sprintf("SELECT DISTINCT ON (c1) * FROM (%s) %s ORDER BY %s", q, g.alias(), g.order(cols, 0)), cols
	}
	s := fmt.Sprintf("SELECT * FROM (%s) %s ORDER BY %s LIMIT %d", q, g.alias(), g.order(cols, g.c.n(len(cols))), 1+g.c.n(6))
	if g.c.oneIn(4) {
		s += fmt.Sprintf(" OFFSET %d", 1+g.c.n(3))
	}
	return s, cols
}

func (g *generator) with(want []kind, depth int) (string, []column) {
	q, cols := g.query(nil, depth-1)
	name := g.alias()
	was := g.rels
	g.rels = append(append([]*relation(nil), was...), &relation{name: name, cols: cols})
	body, out := g.query(want, depth-1)
	g.rels = was
	return fmt.Sprintf("WITH %s AS (%s) SELECT * FROM (%s) %s", name, q, body, g.alias()), out
}

// over draws window functions, in an order that leaves only equal rows open.
func (g *generator) over(want []kind, depth int) (string, []column) {
	if want != nil {
		return g.plainSelect(want, depth)
	}
	q, cols := g.query(nil, depth-1)
	a := g.alias()
	spec := fmt.Sprintf("(PARTITION BY c1 ORDER BY %s)", g.order(cols, 0))
	if g.c.oneIn(3) {
		spec = fmt.Sprintf("(ORDER BY %s)", g.order(cols, 0))
	}
	f := pick(g.c, "row_number()", "rank()", "count(*)", "dense_rank()", "ntile(3)::bigint")
	if x := of(g.columns(&relation{cols: cols}, a), kInt); len(x) > 0 && g.c.n(2) == 1 {
		f = "sum(" + x[0].text + ")"
	}
	s := fmt.Sprintf("SELECT %s.*, %s OVER %s AS c%d FROM (%s) %s", a, f, spec, len(cols)+1, q, a)
	if strings.Contains(f, "::bigint") {
		s = fmt.Sprintf("SELECT %s.*, (ntile(3) OVER %s)::bigint AS c%d FROM (%s) %s", a, spec, len(cols)+1, q, a)
	}
	return s, append(append([]column(nil), cols...), column{fmt.Sprintf("c%d", len(cols)+1), kBig})
}

// timeWindows draws an aggregation over event-time windows of a base relation; PostgreSQL gets the windows' definition.
func (g *generator) timeWindows() (string, []column) {
	r := pick(g.c, g.rels...)
	a := g.alias()
	scope := g.columns(r, a)
	ts := of(scope, kTS)
	if len(ts) == 0 {
		return "", nil
	}
	t := ts[len(ts)-1].text
	was := g.flat
	g.flat = true
	defer func() { g.flat = was }()
	key := pick(g.c, scope...)
	if key.kind == kArr {
		return "", nil
	}
	kinds := []kind{kTS, kTS, key.kind, kBig, pick(g.c, kBig, kNum, kText, kInt, kDbl)}
	aggs := fmt.Sprintf("%s AS c3, count(*) AS c4, %s AS c5", key.text, g.agg(kinds[4], scope, 1))
	cond := "true"
	if g.c.n(2) == 1 {
		cond = g.pred(scope, 1)
	}
	size := pick(g.c, 10, 30, 5, 60)
	slide := size / pick(g.c, 1, 1, 2, 5)
	if g.c.oneIn(3) {
		gap := pick(g.c, 10, 5, 30)
		return dual(
			fmt.Sprintf("SELECT session_window.start AS c1, session_window.end AS c2, %s FROM %s %s WHERE %s GROUP BY session_window(%s, '%d minutes'), %s",
				aggs, r.name, a, cond, t, gap, key.text),
			fmt.Sprintf(`SELECT ss AS c1, se AS c2, %s FROM (SELECT y.*, min(tt) OVER (PARTITION BY kk, sn) AS ss, max(tt) OVER (PARTITION BY kk, sn) + INTERVAL '%d minutes' AS se
 FROM (SELECT x.*, sum(CASE WHEN tt <= prev + INTERVAL '%d minutes' THEN 0 ELSE 1 END) OVER (PARTITION BY kk ORDER BY tt) AS sn
 FROM (SELECT %s.*, %s AS tt, %s AS kk, lag(%s) OVER (PARTITION BY %s ORDER BY %s) AS prev FROM %s %s WHERE %s AND %s IS NOT NULL) x) y) %s GROUP BY ss, se, %s`,
				aggs, gap, gap, a, t, key.text, t, key.text, t, r.name, a, cond, t, a, key.text)), named(kinds)
	}
	return dual(
		fmt.Sprintf("SELECT window.start AS c1, window.end AS c2, %s FROM %s %s WHERE %s GROUP BY window(%s, '%d minutes', '%d minutes'), %s",
			aggs, r.name, a, cond, t, size, slide, key.text),
		fmt.Sprintf(`SELECT ww AS c1, ww + INTERVAL '%d minutes' AS c2, %s FROM %s %s, generate_series(date_bin('%d minutes', %s, '1970-01-01') - INTERVAL '%d minutes', date_bin('%d minutes', %s, '1970-01-01'), '%d minutes') ww
 WHERE %s AND %s < ww + INTERVAL '%d minutes' GROUP BY ww, %s`,
			size, aggs, r.name, a, slide, t, (size-1)/slide*slide, slide, t, slide, cond, t, size, key.text)), named(kinds)
}

// failing draws a view some of whose rows fail: they are dead letters, and the others are as if they were not there.
func (g *generator) failing(v *view) []column {
	r := pick(g.c, g.rels...)
	a := g.alias()
	scope := g.columns(r, a)
	ints := of(scope, kInt)
	if len(ints) == 0 {
		q, cols := g.query(nil, 1)
		v.query = q
		return cols
	}
	was := g.flat
	g.flat = true
	defer func() { g.flat = was }()
	x, d := pick(g.c, scope...), pick(g.c, ints...).text
	cond := "true"
	if g.c.n(2) == 1 {
		cond = g.pred(scope, 1)
	}
	from := fmt.Sprintf("%s %s WHERE %s", r.name, a, cond)
	with, group := "", ""
	cols := []column{{"c1", x.kind}, {"c2", kInt}}
	switch g.c.n(4) {
	case 0:
		with = fmt.Sprintf("SELECT %s AS c1, 60 / %s AS c2 FROM ", x.text, d)
	case 1:
		with, cols[1].kind = fmt.Sprintf("SELECT %s AS c1, sum(60 / %s) AS c2 FROM ", x.text, d), kBig
		group = " GROUP BY " + x.text
	case 2:
		with, cols[0].kind, cols[1].kind = fmt.Sprintf("SELECT 60 / %s AS c1, count(*) AS c2 FROM ", d), kInt, kBig
		group = fmt.Sprintf(" GROUP BY 60 / %s", d)
	case 3:
		return g.failingAbove(v, x, d, from)
	}
	v.query = with + from + group
	v.fresh = fmt.Sprintf("%s%s AND (%s <> 0 OR %s IS NULL)%s", with, from, d, d, group)
	v.letters = fmt.Sprintf("SELECT count(*) FROM %s AND %s = 0", from, d)
	return cols
}

// failingAbove is failing above an operator with state, of which several partitions evaluate what is over it. key is a column of from, d an int one.
func (g *generator) failingAbove(v *view, key ref, d, from string) []column {
	k := key.text
	if key.kind == kText && g.c.n(2) == 1 {
		k = pick(g.c, "lower(", "upper(") + k + ")"
	}
	var below string
	k1, kind := kBig, kBig
	switch g.c.n(6) {
	case 0:
		below = fmt.Sprintf("SELECT %s AS c1, count(*) AS c2, count(%s) AS c3 FROM %s GROUP BY %s", k, d, from, k)
	case 1:
		below = fmt.Sprintf("SELECT %s AS c1, sum(%s) AS c2, count(DISTINCT %s) AS c3 FROM %s GROUP BY %s", k, d, d, from, k)
	case 2:
		below = fmt.Sprintf("SELECT * FROM (SELECT %s AS c1, rank() OVER (PARTITION BY %s ORDER BY %s DESC) AS c2, count(*) OVER (PARTITION BY %s) AS c3 FROM %s) w", k, k, d, k, from)
	case 3:
		below = fmt.Sprintf("SELECT DISTINCT %s AS c1, %s AS c2, %s + 1 AS c3 FROM %s", k, d, d, from)
		k1, kind = kInt, kInt
	case 4:
		below = fmt.Sprintf("SELECT * FROM (SELECT %s AS c1, row_number() OVER (PARTITION BY %s ORDER BY %s DESC) AS c2, 3 AS c3 FROM %s) w WHERE c2 <= 3", k, k, d, from)
		kind = kInt
	default:
		below = fmt.Sprintf("SELECT b.c1, a.c2 - b.c2 AS c2, a.c2 AS c3 FROM (SELECT %s AS c1, %s AS c2 FROM %s) a JOIN (SELECT DISTINCT %s AS c1, %s AS c2 FROM %s) b ON a.c1 = b.c1", k, d, from, k, d, from)
		k1, kind = kInt, kInt
	}
	n := 2 + g.c.n(3)
	div, cond := fmt.Sprintf("(c2 %% %d)", n), "true"
	if g.c.n(2) == 1 {
		div = fmt.Sprintf("(c2 - %d)", n)
	}
	if g.c.n(3) == 0 {
		cond = fmt.Sprintf("(c3 > %d OR c1 IS NULL)", g.c.n(3))
	}
	with := fmt.Sprintf("SELECT c1, 60 / %s AS c2, c3 + 1 AS c3 FROM (%s) s WHERE %s", div, below, cond)
	v.query = with
	v.fresh = fmt.Sprintf("%s AND (%s <> 0 OR %s IS NULL)", with, div, div)
	v.letters = fmt.Sprintf("SELECT count(*) FROM (%s) s WHERE %s AND %s = 0", below, cond, div)
	return []column{{"c1", key.kind}, {"c2", k1}, {"c3", kind}}
}
