package equivalence

import (
	"fmt"
	"slices"
	"strings"
)

// slowAgg groups by columns, and by a window of column time if it has a size. aggs are kinds over column of.
// Without aggs it is SELECT DISTINCT.
type slowAgg struct {
	slowBase
	keys []int
	time int
	slowWindows
	aggs []slowCall
	// event is the key, among all keys (the window first), that carries the watermark, -1 for none.
	event int
	rows  []slowTakenRow
}

// slowCall is one aggregate of a column: "count(*)", "count", "sum", "min", "max", "count distinct".
type slowCall struct {
	fn string
	at int
}

// slowTakenRow is a row that the operator took in, with its keys.
type slowTakenRow struct {
	key slowRow
	row slowRow
	n   int
}

func (a *slowAgg) distinct() bool { return len(a.aggs) == 0 }

func (a *slowAgg) sql() string {
	in := a.in(0)
	var items, groups []string
	if a.size > 0 {
		items = append(items, "window AS "+a.cols[0].name)
		groups = append(groups, a.call(in.cols[a.time].name))
	}
	for _, k := range a.keys {
		items = append(items, fmt.Sprintf("%s AS %s", in.cols[k].name, a.cols[len(items)].name))
		groups = append(groups, in.cols[k].name)
	}
	from := slowFrom(a.ins[0], "g")
	if a.distinct() {
		return fmt.Sprintf("SELECT DISTINCT %s FROM %s", strings.Join(items, ", "), from)
	}
	for _, c := range a.aggs {
		items = append(items, fmt.Sprintf("%s AS %s", c.sql(in.cols), a.cols[len(items)].name))
	}
	s := fmt.Sprintf("SELECT %s FROM %s", strings.Join(items, ", "), from)
	if len(groups) > 0 {
		s += " GROUP BY " + strings.Join(groups, ", ")
	}
	return s
}

func (c slowCall) sql(cols []slowCol) string {
	switch c.fn {
	case "count(*)":
		return c.fn
	case "count distinct":
		return fmt.Sprintf("count(DISTINCT %s)", cols[c.at].name)
	case "sum":
		return fmt.Sprintf("sum(%s)::bigint", cols[c.at].name)
	}
	return fmt.Sprintf("%s(%s)", c.fn, cols[c.at].name)
}

// over computes the aggregate of rows.
func (c slowCall) over(rows []slowRow) slowVal {
	if c.fn == "count(*)" {
		return slowNum(int64(len(rows)))
	}
	var vals []int64
	for _, r := range rows {
		if v := r[c.at]; !v.null {
			vals = append(vals, v.a)
		}
	}
	if c.fn == "count" {
		return slowNum(int64(len(vals)))
	}
	slices.Sort(vals)
	if c.fn == "count distinct" {
		return slowNum(int64(len(slices.Compact(vals))))
	}
	if len(vals) == 0 {
		return slowNull
	}
	switch c.fn {
	case "min":
		return slowNum(vals[0])
	case "max":
		return slowNum(vals[len(vals)-1])
	}
	sum := int64(0)
	for _, v := range vals {
		sum += v
	}
	return slowNum(sum)
}

// closes says whether groups become final: in complete mode nothing is late for an aggregate, and nothing closed.
func (a *slowAgg) closes() bool { return a.event >= 0 && a.mode != "complete" }

func (a *slowAgg) keysOf(r slowRow) []slowRow {
	key := r.pick(a.keys)
	if a.size == 0 {
		return []slowRow{key}
	}
	var out []slowRow
	for _, w := range a.of(r[a.time], a.in(0).cols[a.time].kind) {
		out = append(out, slowRow{w}.with(key))
	}
	return out
}

func (a *slowAgg) eventOf(key slowRow) slowVal {
	v := key[a.event]
	return slowVal{null: v.null, a: a.cols[a.event].due(v)}
}

func (a *slowAgg) eval(in [][]slowChange) []slowChange {
	for _, c := range in[0] {
		for _, key := range a.keysOf(c.row) {
			if a.closes() {
				if t := a.eventOf(key); !t.null && a.before.passed(t.a) {
					a.lateRow(0, key[:len(key)-len(a.keys)], c)
					continue
				}
			}
			a.rows = append(a.rows, slowTakenRow{key, c.row, c.n})
		}
	}
	now := newBag()
	for _, g := range a.groups() {
		if a.mode == "append" && !a.distinct() && !a.closed(g.key) {
			continue
		}
		now.add(g.row, 1)
	}
	return a.changed(now)
}

func (a *slowAgg) closed(key slowRow) bool {
	if !a.closes() {
		return false
	}
	t := a.eventOf(key)
	return !t.null && a.after.passed(t.a)
}

// groups computes all groups from all rows.
func (a *slowAgg) groups() []slowTakenRow {
	bags := map[string]*slowBag{}
	keys := map[string]slowRow{}
	if len(a.keys) == 0 && a.size == 0 {
		bags[""], keys[""] = newBag(), slowRow{}
	}
	for _, r := range a.rows {
		k := r.key.key()
		if bags[k] == nil {
			bags[k], keys[k] = newBag(), r.key
		}
		bags[k].add(r.row, r.n)
	}
	var out []slowTakenRow
	for k, bag := range bags {
		rows := bag.list()
		if len(rows) == 0 && len(keys[k]) > 0 {
			continue
		}
		row := keys[k]
		for _, c := range a.aggs {
			row = row.with(slowRow{c.over(rows)})
		}
		out = append(out, slowTakenRow{key: keys[k], row: row})
	}
	return out
}

func (a *slowAgg) state() (int, bool) {
	n := 0
	for _, g := range a.groups() {
		if !a.closed(g.key) {
			n++
		}
	}
	return n, true
}

// slowSession groups by session_window(time, gap) and columns. The gap is other where column gapBy is greater than 0.
type slowSession struct {
	slowBase
	keys        []int
	time        int
	gap, other  int64
	gapBy       int // -1: the gap is one
	aggs        []slowCall
	timed       bool
	open        []slowSpan // rows of sessions that are not closed
	closedSoFar []slowRow
}

// slowSpan is a row as its own session.
type slowSpan struct {
	start, end int64
	key, row   slowRow
	n          int
}

func (s *slowSession) sql() string {
	in := s.in(0)
	gap := fmt.Sprintf("'%d seconds'", s.gap/1e6)
	if s.gapBy >= 0 {
		gap = fmt.Sprintf("CASE WHEN %s > 0 THEN INTERVAL '%d seconds' ELSE INTERVAL '%d seconds' END", in.cols[s.gapBy].name, s.other/1e6, s.gap/1e6)
	}
	items := []string{"session_window AS " + s.cols[0].name}
	groups := []string{fmt.Sprintf("session_window(%s, %s)", in.cols[s.time].name, gap)}
	for _, k := range s.keys {
		items = append(items, fmt.Sprintf("%s AS %s", in.cols[k].name, s.cols[len(items)].name))
		groups = append(groups, in.cols[k].name)
	}
	for _, c := range s.aggs {
		items = append(items, fmt.Sprintf("%s AS %s", c.sql(in.cols), s.cols[len(items)].name))
	}
	return fmt.Sprintf("SELECT %s FROM %s GROUP BY %s", strings.Join(items, ", "), slowFrom(s.ins[0], "g"), strings.Join(groups, ", "))
}

func (s *slowSession) closes() bool { return s.timed && s.mode != "complete" }

func (s *slowSession) eval(in [][]slowChange) []slowChange {
	for _, c := range in[0] {
		v := c.row[s.time]
		if v.null {
			continue
		}
		t := v.a
		if s.in(0).cols[s.time].kind == slowWindow {
			t = v.b - 1
		}
		gap := s.gap
		if s.gapBy >= 0 && !c.row[s.gapBy].null && c.row[s.gapBy].a > 0 {
			gap = s.other
		}
		if s.closes() && s.before.passed(t+gap+s.cols[0].lag) {
			s.lateRow(0, nil, c)
			continue
		}
		s.open = append(s.open, slowSpan{t, t + gap, c.row.pick(s.keys), c.row, c.n})
	}
	now := newBag()
	var still []slowSpan
	for _, g := range s.sessions() {
		row := slowRow{{a: g[0].start, b: g[0].end}}.with(g[0].key)
		var rows []slowRow
		for _, x := range g[1:] {
			rows = append(rows, x.row)
		}
		for _, c := range s.aggs {
			row = append(row, c.over(rows))
		}
		closed := s.closes() && s.after.passed(g[0].end+s.cols[0].lag)
		if closed {
			s.closedSoFar = append(s.closedSoFar, row)
			continue
		}
		still = append(still, g[1:]...)
		if s.mode != "append" {
			now.add(row, 1)
		}
	}
	s.open = still
	for _, r := range s.closedSoFar {
		now.add(r, 1)
	}
	return s.changed(now)
}

// sessions merges the open rows: each result begins with its whole extent, then has its rows.
func (s *slowSession) sessions() [][]slowSpan {
	// A row that has gone takes one that came with it.
	var rows []slowSpan
	for _, x := range s.open {
		if x.n > 0 {
			for range x.n {
				rows = append(rows, slowSpan{x.start, x.end, x.key, x.row, 1})
			}
		}
	}
	for _, x := range s.open {
		for n := x.n; n < 0; n++ {
			at := slices.IndexFunc(rows, func(y slowSpan) bool {
				return y.start == x.start && y.end == x.end && y.row.key() == x.row.key()
			})
			rows = slices.Delete(rows, at, at+1)
		}
	}
	slices.SortStableFunc(rows, func(a, b slowSpan) int {
		if c := strings.Compare(a.key.key(), b.key.key()); c != 0 {
			return c
		}
		return int(a.start - b.start)
	})
	var out [][]slowSpan
	for _, x := range rows {
		if n := len(out); n > 0 && out[n-1][0].key.key() == x.key.key() && x.start <= out[n-1][0].end {
			out[n-1][0].end = max(out[n-1][0].end, x.end)
			out[n-1] = append(out[n-1], x)
			continue
		}
		out = append(out, []slowSpan{{start: x.start, end: x.end, key: x.key}, x})
	}
	return out
}

func (s *slowSession) state() (int, bool) { return len(s.sessions()), true }
