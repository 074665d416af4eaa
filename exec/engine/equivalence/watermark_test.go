package equivalence

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const minute = 60_000_000 // microseconds

// TestViewIsFunctionOfEpochs is promise 4a: a view over streams with watermarks and late rows holds the same, and has
// recorded the same late rows, whether it was created before, amid or after the data, and whatever restarts there were. Views of one
// aggregation must match the model of the rules after every epoch.
func TestViewIsFunctionOfEpochs(t *testing.T) {
	run := &markRun{refused: map[string]int{}}
	seeds := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 601638723, 536344727, 881874949, 441962338} // the last: a window_time that equals the watermark
	search(t, 9*time.Second, seeds, func(seed uint64) *recipe {
		return newRecipe(seed, 1+int(seed%4), 8+int(seed%5)*6, func(r *recipe, source func(part, i int) *choices) { drawMarked(r, source) })
	}, func(r *recipe) *scenario { return drawMarked(r, r.replay) }, run.run)
	t.Logf("%d epochs, %d comparisons of views, %d of them with the query run afresh, %d late rows; refused:", run.epochs, run.compared, run.checked, run.late)
	for m, n := range run.refused {
		t.Logf("%5d %s", n, m)
	}
}

// drawMarked draws a case with watermarks. Each of its views is made three times: before, amid and after the data.
func drawMarked(r *recipe, source func(part, i int) *choices) *scenario {
	c := source(partSchema, 0)
	s := &scenario{}
	delays := map[string]int64{}
	for _, name := range []string{"s0", "s1"} {
		d := pick(c, 10, 0, 5, 30)
		delays[name] = int64(d) * minute
		s.base = append(s.base, &relation{name: name, stream: true, time: "ts", cols: []column{{"k", kInt}, {"x", kInt}, {"ts", kTS}},
			mark: fmt.Sprintf(", WATERMARK FOR ts AS ts - INTERVAL '%d minutes'", d)})
	}
	s.base = append(s.base, &relation{name: "t", key: true, cols: []column{{"a", kInt}, {"b", kInt}}})
	s.opts = drawOptions(c)
	calm := c.n(2) == 1 // rows within the delay: little or nothing is late
	s.nullTimes = c.n(2) == 1
	g := &markedViews{delays: delays}
	for i := range r.views {
		g.c = source(partView, i)
		name := fmt.Sprintf("v%d", i)
		v := g.draw(name)
		mid := g.c.n(len(r.steps) + 1)
		s.views = append(s.views, v)
		for _, copy := range []*view{{name: name + "_mid", at: mid}, {name: name + "_late", at: len(r.steps)}} {
			copy.query, copy.options, copy.unlike, copy.unfinished = v.query, v.options, v.unlike, v.unfinished
			if strings.Contains(v.options, "max") && strings.Contains(v.query, "wt") {
				// With the greatest watermark, rows of a slower view are late as they come; a later view gets them as contents.
				copy.at = 0
			}
			s.views = append(s.views, copy)
		}
	}
	for i := range r.steps {
		s.steps = append(s.steps, drawMarkedStep(source(partStep, i), i, calm, s.nullTimes))
	}
	return s
}

// markedViews draws views over s0, s1, t and each other.
type markedViews struct {
	c      *choices
	delays map[string]int64
	made   []string // views with columns ws, we, k, n, s, m, wt
}

func (g *markedViews) draw(name string) *view {
	c := g.c
	mode := pick(c, "append", "update", "append", "update", "complete")
	v := &view{name: name, options: fmt.Sprintf("WITH (output_mode = '%s') ", mode)}
	if shape := c.weighted(6, 8); shape == 1 {
		v.query = g.other()
		if c.oneIn(5) {
			v.options = strings.Replace(v.options, ")", ", watermark_policy = 'max')", 1)
		}
		v.unlike = strings.Contains(v.query, "WITHIN WATERMARK") || strings.Contains(v.query, "session_window")
		v.unfinished = strings.Contains(v.query, "FULL JOIN") && strings.Contains(v.query, "b.ts >= a.ts")
		return v
	}
	m := &model{stream: pick(c, "s0", "s1"), mode: mode, keyed: c.n(2) == 0, above: noFilter}
	m.delay = g.delays[m.stream]
	m.size = int64(pick(c, 10, 5, 30)) * minute
	m.step = m.size / int64(pick(c, 1, 2, 5))
	if c.oneIn(3) {
		m.step = 0
	}
	if c.oneIn(3) {
		m.above = 0
	}
	v.model, v.query = m, m.query()
	v.unlike = m.step == 0
	g.made = append(g.made, name)
	return v
}

// rangeJoin draws a join of the streams by time.
func (g *markedViews) rangeJoin(kinds ...string) string {
	c := g.c
	kind := pick(c, kinds...)
	cols := "a.k, a.x, b.x AS y, a.ts AS ts, b.ts AS ts2"
	if strings.Contains(kind, "SEMI") || strings.Contains(kind, "ANTI") {
		cols = "a.k, a.x, a.ts AS ts"
	}
	on := fmt.Sprintf("b.ts BETWEEN a.ts - INTERVAL '%d minutes' AND a.ts + INTERVAL '%d minutes'", c.n(3)*5, c.n(3)*5)
	if c.oneIn(4) {
		on = "b.ts = a.ts"
	}
	if c.oneIn(5) {
		on = fmt.Sprintf("b.ts >= a.ts - INTERVAL '%d minutes'", c.n(3)*5)
	}
	if c.oneIn(4) {
		on += " AND a.x < b.x"
	}
	return fmt.Sprintf("SELECT %s FROM s0 a %s s1 b ON a.k = b.k AND %s", cols, kind, on)
}

// other draws a query that the model does not know.
func (g *markedViews) other() string {
	c := g.c
	all := []string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"}
	aggs := pick(c, "count(*) AS n, sum(x) AS s", "count(DISTINCT x) AS n, array_agg(x ORDER BY x) AS s", "avg(x) AS n, min(x) FILTER (WHERE x > 0) AS s", "max(x) AS n, count(DISTINCT k) AS s")
	switch c.n(16) {
	case 13, 14:
		return g.general()
	case 15:
		return fmt.Sprintf("SELECT * FROM (SELECT window.start AS ws, k, %s, row_number() OVER (PARTITION BY window.start ORDER BY count(*) DESC, k) AS r FROM %s GROUP BY window(ts, '10 minutes'), k) q WHERE r <= 2", aggs, pick(c, "s0", "s1"))
	case 0:
		return g.rangeJoin(all...)
	case 1:
		return fmt.Sprintf("SELECT a.w AS w, a.k, a.x, b.x AS y FROM (SELECT window(ts, '10 minutes') AS w, k, x FROM s0) a %s (SELECT window(ts, '10 minutes') AS w, k, x FROM s1) b ON a.w = b.w AND a.k = b.k",
			pick(c, all[:4]...))
	case 2:
		return "SELECT DISTINCT ON (k, ts) k, x, ts FROM s0"
	case 3:
		return "SELECT DISTINCT ON (k) WITHIN WATERMARK k, x, ts FROM s0"
	case 4:
		return fmt.Sprintf("SELECT window.start AS ws, count(*) AS c, sum(n) AS n FROM (SELECT window_time(window) AS wt, k, count(*) AS n FROM s0 GROUP BY window(ts, '%d minutes'), k) q GROUP BY window(wt, '20 minutes')", pick(c, 5, 10))
	case 5:
		return fmt.Sprintf("SELECT window.start AS ws, k, %s FROM (SELECT k, x, ts FROM s0 UNION ALL SELECT k, x + 1, ts FROM s1) u GROUP BY window(ts, '10 minutes', '5 minutes'), k", aggs)
	case 6:
		if len(g.made) > 0 {
			return fmt.Sprintf("SELECT window.start AS ws, count(*) AS c, sum(n) AS n, max(m) AS m FROM %s GROUP BY window(wt, '%d minutes')", pick(c, g.made...), pick(c, 10, 20, 60))
		}
		fallthrough
	case 7:
		return fmt.Sprintf("SELECT window.start AS ws, b, %s FROM s0 JOIN t ON s0.x = t.a GROUP BY window(ts, '10 minutes'), b", strings.ReplaceAll(aggs, "(x)", "(s0.x)"))
	case 8:
		return fmt.Sprintf("SELECT window.start AS ws, %s FROM (%s) j GROUP BY window(ts, '10 minutes')", aggs, g.rangeJoin(all...))
	case 9:
		return fmt.Sprintf("SELECT ts, k, %s FROM %s GROUP BY ts, k", aggs, pick(c, "s0", "(SELECT k, x, ts FROM s1 WHERE x > 0) q"))
	case 10:
		return fmt.Sprintf("SELECT session_window.start AS ss, session_window.end AS se, k, %s FROM (%s) j GROUP BY session_window(ts, '5 minutes'), k", aggs, g.rangeJoin(all[:2]...))
	case 11:
		return fmt.Sprintf("SELECT %s s0.k, s0.x, t.b, s0.ts FROM s0 %s t ON s0.k = t.a", pick(c, "", "DISTINCT "), pick(c, "JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN"))
	}
	if len(g.made) > 0 {
		return fmt.Sprintf("SELECT v.k, v.ws, v.n, s1.x, s1.ts FROM %s v %s s1 ON v.k = s1.k AND s1.ts BETWEEN v.wt - INTERVAL '10 minutes' AND v.wt", pick(c, g.made...), pick(c, "JOIN", "LEFT JOIN"))
	}
	return "SELECT DISTINCT k, ts FROM s1"
}

// general draws any query over the base relations, or over views; its rows may be late for what is beneath.
func (g *markedViews) general() string {
	var rels []*relation
	for _, name := range []string{"s0", "s1"} {
		rels = append(rels, &relation{name: name, cols: []column{{"k", kInt}, {"x", kInt}, {"ts", kTS}}})
	}
	rels = append(rels, &relation{name: "t", cols: []column{{"a", kInt}, {"b", kInt}}})
	if len(g.made) > 0 && g.c.n(2) == 1 {
		rels = nil
		for _, name := range g.made {
			rels = append(rels, &relation{name: name, cols: []column{{"ws", kTS}, {"we", kTS}, {"k", kInt}, {"n", kBig}, {"s", kBig}, {"m", kInt}, {"wt", kTS}}})
		}
	}
	q, _ := (&generator{c: g.c, rels: rels}).query(nil, 1+g.c.n(3))
	return tidemark(q)
}

// epoch0 is about when the events are.
var epoch0 = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// drawMarkedStep draws what happens at step i: rows whose times move on with the steps, in disorder.
func drawMarkedStep(c *choices, i int, calm, nullTimes bool) *step {
	st := &step{advance: map[string]int64{}}
	switch c.weighted(30, 1, 1, 1) {
	case 1:
		st.restart = true
		return st
	case 2:
		st.crash = true
		return st
	case 3:
		name := pick(c, "s0", "s1")
		to := epoch0 + int64(i)*5*minute + int64(c.n(20))*minute
		if calm {
			to -= 30 * minute
		}
		st.advance[name] = to
		st.sql = append(st.sql, fmt.Sprintf("ADVANCE WATERMARK OF %s TO '%s'", name, stamp(to)))
		return st
	}
	for range 1 + c.weighted(4, 2, 1) {
		if c.oneIn(6) {
			st.sql = append(st.sql, drawTableChange(c))
			continue
		}
		name := pick(c, "s0", "s1")
		var rows []string
		for range 1 + c.n(5) {
			e := event{stream: name}
			row := make([]string, 3)
			for j, p := range []**int64{&e.k, &e.x} {
				row[j] = "NULL"
				if !c.oneIn(9) {
					v := int64(c.n(4) - c.n(2))
					*p = &v
					row[j] = fmt.Sprint(v)
				}
			}
			row[2] = "NULL"
			if !c.oneIn(15) || !nullTimes {
				back := c.n(2) * c.n(8) * 8
				if calm {
					back /= 8
				}
				ts := epoch0 + int64(i)*5*minute + int64(c.n(6)-back)*minute + pick(c, int64(0), 0, 0, 500, 1, minute-1, 999_999)
				e.ts = &ts
				row[2] = "'" + stamp(ts) + "'"
			}
			st.events = append(st.events, e)
			rows = append(rows, "("+strings.Join(row, ", ")+")")
		}
		st.sql = append(st.sql, fmt.Sprintf("INSERT INTO %s VALUES %s", name, strings.Join(rows, ", ")))
	}
	return st
}

func drawTableChange(c *choices) string {
	switch c.n(3) {
	case 0:
		return fmt.Sprintf("INSERT INTO t VALUES (%d, %d) ON CONFLICT DO NOTHING", c.n(5)-1, c.n(3))
	case 1:
		return fmt.Sprintf("UPDATE t SET b = b + 1 WHERE a < %d", c.n(4))
	}
	return fmt.Sprintf("DELETE FROM t WHERE a = %d", c.n(4)-1)
}

// markRun runs cases with watermarks.
type markRun struct {
	refused                map[string]int
	epochs, compared, late int
	checked                int // comparisons with the query run afresh
}

func (u *markRun) run(s *scenario) *failure {
	return s.on(func(d *db) *failure {
		return (&markCase{markRun: u, s: s, d: d, live: map[string]bool{}, had: map[string]*rowset{}}).all()
	})
}

type markCase struct {
	*markRun
	s    *scenario
	d    *db
	live map[string]bool
	had  map[string]*rowset // of append views: their rows after the step before
	// ended says that all watermarks are past all rows.
	ended bool
}

func (x *markCase) all() *failure {
	for _, r := range x.s.base {
		if f := x.d.create(r); f != nil {
			return f
		}
	}
	for _, v := range x.s.views {
		if v.model != nil {
			v.model.start()
		}
	}
	for i := 0; i <= len(x.s.steps); i++ {
		if f := x.step(i); f != nil {
			f.step = i
			return f
		}
	}
	return nil
}

func (x *markCase) step(i int) *failure {
	for _, v := range x.s.views {
		if v.at != i {
			continue
		}
		_, err := x.d.run(v.create())
		if sqlState(err) == "0A000" && v.model == nil {
			x.refused[firstWords(err)]++
			v.options = strings.ReplaceAll(strings.ReplaceAll(v.options, "'append'", "'update'"), "'complete'", "'update'")
			_, err = x.d.run(v.create())
		}
		switch {
		case err == nil:
			x.live[v.name] = true
		case sqlState(err) == "0A000" || sqlState(err) == "42P01":
			x.refused[firstWords(err)]++
		default:
			return failed("create view: "+firstWords(err), "%s\n%v", v.create(), err)
		}
	}
	if i == len(x.s.steps) {
		if f := x.compare(); f != nil {
			return f
		}
		return x.end()
	}
	st := x.s.steps[i]
	var err error
	switch {
	case st.restart:
		err = x.d.restart()
	case st.crash:
		err = x.d.crash()
	default:
		_, err = x.d.run(st.text())
	}
	if err != nil {
		return failed("step: "+firstWords(err), "%s\n%v", st.text(), err)
	}
	x.epochs++
	for _, v := range x.s.views {
		if m := v.model; m != nil {
			to, ok := st.advance[m.stream]
			if !ok {
				to = noMark
			}
			m.epoch(st.events, to)
		}
	}
	return x.compare()
}

// compare compares the three copies of each view, and the first with its model.
func (x *markCase) compare() *failure {
	for i := 0; i < len(x.s.views); i += 3 {
		first := x.s.views[i]
		if !x.live[first.name] {
			continue
		}
		rows, late, f := x.read(first)
		if f != nil {
			return f
		}
		x.compared++
		if m := first.model; m != nil {
			if d := diffLines(sortedRows(rows), m.contents(), "view", "model"); d != "" {
				return failed("view differs from the model: "+m.shape(), "%s: %s", first.name, d)
			}
			l, err := x.d.run(fmt.Sprintf("SELECT event_time::timestamp, window_start::timestamp, window_end::timestamp, watermark::timestamp FROM tidemark.late_rows WHERE view_name = '%s'", first.name))
			if err != nil {
				return failed("late rows", "%v", err)
			}
			if d := diffLines(sortedRows(l), m.lateRows(), "late_rows", "model"); d != "" {
				return failed("late rows differ from the model: "+m.shape(), "%s: %s", first.name, d)
			}
		}
		if f := x.afresh(first, rows, late); f != nil {
			return f
		}
		for _, copy := range x.s.views[i+1 : i+3] {
			if !x.live[copy.name] {
				continue
			}
			r, l, f := x.read(copy)
			if f != nil {
				return f
			}
			if d := diff(rows, r, first.name, copy.name, 0); d != "" {
				return failed("contents depend on when the view was created", "%s", d)
			}
			if d := diff(late, l, first.name, copy.name, 0); d != "" {
				return failed("late rows depend on when the view was created", "%s", d)
			}
		}
	}
	return nil
}

// afresh compares a view of which nothing was late with its query: in update and complete mode they are equal, in append mode the
// view's rows are those that can no longer change, so there are never more of them, and none that it had is gone.
func (x *markCase) afresh(v *view, rows, late *rowset) *failure {
	if strings.Contains(v.options, "append") {
		before := x.had[v.name]
		x.had[v.name] = rows
		if before != nil {
			if d := onlyIn(differences(before, rows, "before", "after", 0), "before"); d != "" {
				return failed("a row of an append view is gone", "%s: %s", v.name, d)
			}
		}
	}
	if v.unlike || len(late.rows) > 0 {
		return nil
	}
	q, err := x.d.run(v.query)
	if err != nil {
		return failed("SELECT fails: "+firstWords(err), "%s: %v", v.query, err)
	}
	lines := differences(rows, q, "view", "query", 0)
	d := strings.Join(lines[:min(len(lines), 12)], "\n")
	if strings.Contains(v.options, "append") && (!x.ended || v.unfinished) {
		d = onlyIn(lines, "view")
	}
	if d != "" {
		return failed("view differs from its query", "%s: %s", v.name, d)
	}
	x.checked++
	return nil
}

// onlyIn keeps the lines of a diff that say so.
func onlyIn(lines []string, name string) string {
	var out []string
	for _, l := range lines {
		if strings.HasPrefix(l, "only in "+name+":") {
			out = append(out, l)
		}
	}
	return strings.Join(out[:min(len(out), 12)], "\n")
}

// end closes all that is open and compares once more: now an append view without late rows is the whole answer.
func (x *markCase) end() *failure {
	const far = "2030-01-01 00:00:00"
	for _, s := range []string{"s0", "s1"} {
		if _, err := x.d.run(fmt.Sprintf("ADVANCE WATERMARK OF %s TO '%s'", s, far)); err != nil {
			return failed("advance: "+firstWords(err), "%v", err)
		}
	}
	to := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	for _, v := range x.s.views {
		if v.model != nil {
			v.model.epoch(nil, to)
		}
	}
	x.ended = !x.s.nullTimes // what has no event time is never final
	return x.compare()
}

// read gives a view's rows and its late rows.
func (x *markCase) read(v *view) (rows, late *rowset, f *failure) {
	rows, err := x.d.run("SELECT * FROM " + v.name)
	if err != nil {
		return nil, nil, failed("SELECT: "+firstWords(err), "%s: %v", v.name, err)
	}
	late, err = x.d.run(fmt.Sprintf("SELECT operator_id, stream, event_time, window_start, window_end, watermark, epoch, row FROM tidemark.late_rows WHERE view_name = '%s'", v.name))
	if err != nil {
		return nil, nil, failed("late rows: "+firstWords(err), "%s: %v", v.name, err)
	}
	x.late += len(late.rows)
	return rows, late, nil
}

func (m *model) shape() string {
	switch {
	case m.step == 0:
		return m.mode + " session"
	case m.step < m.size:
		return m.mode + " sliding"
	}
	return m.mode + " tumbling"
}

// diffLines says how two sorted lists differ.
func diffLines(a, b []string, aName, bName string) string {
	var out []string
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			out, a = append(out, "only in "+aName+": "+a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			out, b = append(out, "only in "+bName+": "+b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	if len(out) > 12 {
		out = append(out[:12], "...")
	}
	return strings.Join(out, "\n")
}
