package equivalence

import (
	"fmt"
	"strings"
)

// Each pair of operators chained is composed on purpose: the templates below put one operator over any rows (k, x, ts) and give such rows
// again, so that any can stand over any. Their details are drawn.

// pairGen composes queries.
type pairGen struct {
	c *choices
	n int
}

func (g *pairGen) alias() string { g.n++; return fmt.Sprintf("q%d", g.n) }

// base gives a relation that streams in.
func (g *pairGen) base() string { return pick(g.c, "s1", "s0") }

// operator is a template: its name and its query over a FROM item without alias.
type operator struct {
	name string
	sql  func(g *pairGen, in string) string
}

// leaves are the relations at the bottom.
var leaves = map[string]string{
	"stream": "s0",
	"table":  "(SELECT a AS k, b AS x, TIMESTAMP '2024-01-01' + a * INTERVAL '5 minutes' AS ts FROM t)",
	"view":   "v0", // append-only
	"final":  "v1", // in update mode, with a watermark: in append mode its rows are held back
}

// pairViews are the views that leaves name.
var pairViews = []string{
	"WITH (output_mode = 'append') AS SELECT k, x, ts FROM s0 WHERE x IS NOT NULL",
	"AS SELECT k, count(*)::int AS x, window_time(window) AS ts FROM s0 GROUP BY window(ts, '5 minutes'), k",
}

func formatOf(f string) func(*pairGen, string) string {
	return func(g *pairGen, in string) string { return fmt.Sprintf(f, in+" "+g.alias()) }
}

// withOther puts the rows and a stream into both sides of a template, in either order.
func withOther(f string) func(*pairGen, string) string {
	return func(g *pairGen, in string) string {
		l, r := in, g.base()
		if g.c.n(2) == 1 {
			l, r = r, l
		}
		return fmt.Sprintf(f, l, r)
	}
}

// joined is a join of the rows with a stream, by key and by a range of times or equal times.
func joined(kind, items string) operator {
	return operator{"join." + strings.ToLower(kind), func(g *pairGen, in string) string {
		l, r := in, g.base()
		if g.c.n(2) == 1 {
			l, r = r, l
		}
		on := fmt.Sprintf("b.ts BETWEEN a.ts - INTERVAL '%d minutes' AND a.ts + INTERVAL '%d minutes'", g.c.n(3)*5, g.c.n(3)*5)
		if g.c.oneIn(4) {
			on = "b.ts = a.ts"
		}
		if g.c.oneIn(4) {
			on += " AND a.x <= b.x"
		}
		verb := kind
		if kind == "SEMI" || kind == "ANTI" {
			verb = "LEFT " + kind
		}
		return fmt.Sprintf("SELECT %s FROM %s a %s JOIN %s b ON a.k = b.k AND %s", items, l, verb, r, on)
	}}
}

const rowOrder = "ts, k, x"

// operators are all templates.
var operators = []operator{
	{"window", func(g *pairGen, in string) string {
		return fmt.Sprintf("SELECT k, x, window_time(w) AS ts FROM (SELECT k, x, window(ts, '10 minutes', '%d minutes') AS w FROM %s %s) %s", pick(g.c, 5, 10, 4), in, g.alias(), g.alias())
	}},
	{"unnest", formatOf("SELECT k, u AS x, ts FROM %s, LATERAL unnest(ARRAY[x, 7]) u")},
	{"agg.window", func(g *pairGen, in string) string {
		return fmt.Sprintf("SELECT k, %s::int AS x, window_time(window) AS ts FROM %s %s GROUP BY window(ts, '10 minutes', '%d minutes'), k", g.aggregate(), in, g.alias(), pick(g.c, 10, 5))
	}},
	{"agg.time", func(g *pairGen, in string) string {
		return fmt.Sprintf("SELECT max(k) AS k, %s::int AS x, ts FROM %s %s GROUP BY ts", g.aggregate(), in, g.alias())
	}},
	{"agg.key", func(g *pairGen, in string) string {
		return fmt.Sprintf("SELECT k, %s::int AS x, max(ts) AS ts FROM %s %s GROUP BY k", g.aggregate(), in, g.alias())
	}},
	{"agg.global", func(g *pairGen, in string) string {
		return fmt.Sprintf("SELECT min(k) AS k, %s::int AS x, max(ts) AS ts FROM %s %s", g.aggregate(), in, g.alias())
	}},
	{"agg.session", func(g *pairGen, in string) string {
		return fmt.Sprintf("SELECT k, %s::int AS x, window_time(session_window) AS ts FROM %s %s GROUP BY session_window(ts, '5 minutes'), k", g.aggregate(), in, g.alias())
	}},
	{"distinct", formatOf("SELECT DISTINCT k, x, ts FROM %s")},
	joined("INNER", "a.k, b.x, a.ts"),
	joined("LEFT", "a.k, b.x, a.ts"),
	joined("RIGHT", "b.k, a.x, b.ts"),
	joined("FULL", "coalesce(a.k, b.k) AS k, a.x, b.ts"),
	joined("SEMI", "a.k, a.x, a.ts"),
	joined("ANTI", "a.k, a.x, a.ts"),
	{"join.notin", withOther("SELECT a.k, a.x, a.ts FROM %s a WHERE a.x NOT IN (SELECT b.x FROM %s b WHERE b.x IS NOT NULL)")},
	{"join.scalar", func(g *pairGen, in string) string {
		l, r := in, "(SELECT a AS k, b AS x FROM t)"
		if g.c.n(2) == 1 {
			l, r = "s1", in
		}
		return fmt.Sprintf("SELECT a.k, (SELECT b.x FROM %s b WHERE b.k = a.k AND b.x = a.x GROUP BY b.x, b.k) AS x, a.ts FROM %s a", r, l)
	}},
	{"asof", func(g *pairGen, in string) string {
		l, r := in, g.base()
		if g.c.n(2) == 1 {
			l, r = r, l
		}
		return fmt.Sprintf("SELECT a.k, b.x, a.ts FROM %s a %s JOIN %s b ON a.k = b.k AND a.ts >= b.ts", l, pick(g.c, "ASOF", "LEFT ASOF"), r)
	}},
	{"lookup", func(g *pairGen, in string) string {
		return fmt.Sprintf("SELECT a.k, b.b AS x, a.ts FROM %s a %s t FOR SYSTEM_TIME AS OF PROCTIME() AS b ON a.k = b.a", in, pick(g.c, "JOIN", "LEFT JOIN"))
	}},
	{"union", withOther("(SELECT k, x, ts FROM %s l) UNION ALL (SELECT k, x, ts FROM %s r)")},
	{"intersect", withOther("(SELECT k, x, ts FROM %s l) INTERSECT (SELECT k, x, ts FROM %s r)")},
	{"intersect all", withOther("(SELECT k, x, ts FROM %s l) INTERSECT ALL (SELECT k, x, ts FROM %s r)")},
	{"except", withOther("(SELECT k, x, ts FROM %s l) EXCEPT (SELECT k, x, ts FROM %s r)")},
	{"except all", withOther("(SELECT k, x, ts FROM %s l) EXCEPT ALL (SELECT k, x, ts FROM %s r)")},
	{"dedup", func(g *pairGen, in string) string {
		if (in == "s0" || in == "v0") && g.c.n(2) == 1 {
			return fmt.Sprintf("SELECT DISTINCT ON (k, x) k, x, ts FROM %s", in)
		}
		// Where the order of arrival is open, all columns are keys.
		return fmt.Sprintf("SELECT k, x, NULL::timestamp AS ts FROM (SELECT DISTINCT ON (k, x) k, x FROM %s %s) d", in, g.alias())
	}},
	{"dedup.time", formatOf("SELECT DISTINCT ON (k, x, ts) k, x, ts FROM %s")},
	{"dedup.within", formatOf("SELECT DISTINCT ON (k, ts) WITHIN WATERMARK k, x, ts FROM %s")},
	{"topn", func(g *pairGen, in string) string {
		return fmt.Sprintf("SELECT k, x, ts FROM %s %s ORDER BY %s LIMIT %d OFFSET %d", in, g.alias(), rowOrder, 1+g.c.n(5), g.c.n(2))
	}},
	{"topn.part", func(g *pairGen, in string) string {
		if g.c.n(2) == 1 {
			return fmt.Sprintf("SELECT DISTINCT ON (k) k, x, ts FROM %s %s ORDER BY k, ts, x", in, g.alias())
		}
		return fmt.Sprintf("SELECT k, x, ts FROM (SELECT *, row_number() OVER (PARTITION BY %s ORDER BY %s) AS rn FROM %s %s) %s WHERE rn <= %d", pick(g.c, "k", "k, ts"), rowOrder, in, g.alias(), g.alias(), 1+g.c.n(3))
	}},
	{"over", func(g *pairGen, in string) string {
		f := pick(g.c, "row_number()", "sum(x)", "lag(x)", "count(*)", "dense_rank()")
		return fmt.Sprintf("SELECT k, (%s OVER (PARTITION BY %s ORDER BY %s))::int AS x, ts FROM %s %s", f, pick(g.c, "k", "k, ts"), rowOrder, in, g.alias())
	}},
	{"temporal", func(g *pairGen, in string) string {
		return fmt.Sprintf("SELECT k, x, ts FROM %s %s WHERE %s", in, g.alias(), pick(g.c, "ts < now() + INTERVAL '1 day'", "ts > now() - INTERVAL '100000 days'"))
	}},
	{"custom", func(g *pairGen, in string) string {
		initial := ""
		if g.c.oneIn(4) {
			initial = ", initial_state => TABLE (SELECT a AS k, b AS n FROM t) PARTITION BY k"
		}
		return fmt.Sprintf("SELECT k, x, ts FROM transform_with_state(TABLE (SELECT k, x, ts FROM %s %s) PARTITION BY k, processor => 'running', event_time_column => 'ts'%s) %s", in, g.alias(), initial, g.alias())
	}},
}

// pairProcessor is what "custom" runs.
const pairProcessor = `CREATE PROCESSOR running RETURNS TABLE (k int, x int, ts timestamp) LANGUAGE starlark AS $$
def init(self, handle):
    self.n = handle.getValueState("n", "n bigint")

def handleInputRows(self, key, rows, timerValues):
    n = self.n.get()[0] if self.n.exists() else 0
    self.n.update((n + len(rows),))
    return [(key[0], n + i, r.ts) for i, r in enumerate(rows)]

def handleInitialState(self, key, initialState, timerValues):
    self.n.update((initialState.n,))
$$`

// aggregate draws an aggregate of x; each is a different way to keep state.
func (g *pairGen) aggregate() string {
	return pick(g.c, "count(*)", "sum(x)", "max(x)", "min(x)", "count(DISTINCT x)", "percentile_disc(0.5) WITHIN GROUP (ORDER BY x)", "avg(x)", "bit_xor(x)", "sum(x) FILTER (WHERE x > 0)")
}

// pair is one operator over another, or over a relation.
type pair struct{ parent, child string }

func (p pair) String() string { return p.parent + " over " + p.child }

// allPairs lists every pair of templates and leaves.
func allPairs() []pair {
	var out []pair
	for _, p := range operators {
		for _, l := range []string{"stream", "table", "view", "final"} {
			out = append(out, pair{p.name, l})
		}
		for _, c := range operators {
			out = append(out, pair{p.name, c.name})
		}
	}
	return out
}

func template(name string) operator {
	for _, o := range operators {
		if o.name == name {
			return o
		}
	}
	panic("no template " + name)
}

// query composes a pair, and now and then a third operator above or beneath it.
func (g *pairGen) query(p pair) string {
	in, ok := leaves[p.child]
	if !ok {
		in = pick(g.c, "s0", "s0", "v0", "v1")
		if g.c.oneIn(4) {
			in = "(" + g.third().sql(g, in) + ")"
		}
		in = "(" + template(p.child).sql(g, in) + ")"
	}
	q := template(p.parent).sql(g, in)
	if g.c.oneIn(4) {
		q = g.third().sql(g, "("+q+")")
	}
	return q
}

// third draws an operator that goes over anything.
func (g *pairGen) third() operator {
	return template(pick(g.c, "agg.window", "agg.key", "join.inner", "union", "distinct", "join.left", "agg.time", "topn.part", "over"))
}

// unlikeAfresh says that a query means a sequence of epochs.
func unlikeAfresh(q string) bool {
	for _, s := range []string{"WITHIN WATERMARK", "session_window", "transform_with_state", "PROCTIME"} {
		if strings.Contains(q, s) {
			return true
		}
	}
	return false
}

// pairsPerCase is how many pairs one case has.
const pairsPerCase = 36

// drawPairs draws the case of one part of all pairs.
func drawPairs(r *recipe, source func(part, i int) *choices, part int) *scenario {
	c := source(partSchema, 0)
	s := &scenario{nullTimes: c.n(2) == 1}
	for _, name := range []string{"s0", "s1"} {
		s.base = append(s.base, &relation{name: name, stream: true, time: "ts", cols: []column{{"k", kInt}, {"x", kInt}, {"ts", kTS}},
			mark: fmt.Sprintf(", WATERMARK FOR ts AS ts - INTERVAL '%d minutes'", pick(c, 30, 60))})
	}
	s.base = append(s.base, &relation{name: "t", key: true, cols: []column{{"a", kInt}, {"b", kInt}}})
	s.opts = drawOptions(c)
	for i, q := range pairViews {
		s.views = append(s.views, &view{name: fmt.Sprintf("v%d", i), pairLeaf: true, query: q})
	}
	all := allPairs()
	for i := range r.views {
		vc := source(partView, i)
		at := (part*pairsPerCase + i) % len(all)
		p := all[at*101%len(all)] // neighbours have different parents; 101 has no factor in common with the number of pairs
		g := &pairGen{c: vc}
		v := &view{name: fmt.Sprintf("w%d", i), query: g.query(p), options: fmt.Sprintf("WITH (output_mode = '%s') ", pick(vc, "update", "append"))}
		v.unlike = unlikeAfresh(v.query)
		s.views = append(s.views, v)
	}
	for i := range r.steps {
		s.steps = append(s.steps, drawMarkedStep(source(partStep, i), i, true, s.nullTimes))
	}
	return s
}
