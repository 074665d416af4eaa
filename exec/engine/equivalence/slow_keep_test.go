package equivalence

import (
	"fmt"
	"slices"
	"strings"
)

// slowDedup is DISTINCT ON without ORDER BY: the first row of each key stays. within: WITHIN WATERMARK.
type slowDedup struct {
	slowBase
	keys    []int
	within  bool
	taken   []slowChange
	expires map[string]int64 // of WITHIN WATERMARK: keys in state, never: for good
	first   *slowBag
}

// closes says of one over rows that can change that its keys close, as the partitions of an ORDER BY do.
func (d *slowDedup) closes() bool {
	return d.mode != "complete" && slices.Contains(d.keys, d.in(0).mark())
}

const slowNever = 1 << 62

func (d *slowDedup) sql() string {
	var keys []string
	for _, k := range d.keys {
		keys = append(keys, d.cols[k].name)
	}
	within := ""
	if d.within {
		within = " WITHIN WATERMARK"
	}
	return fmt.Sprintf("SELECT DISTINCT ON (%s)%s * FROM %s", strings.Join(keys, ", "), within, slowFrom(d.ins[0], "d"))
}

func (d *slowDedup) eval(in [][]slowChange) []slowChange {
	mark := d.in(0).mark()
	if !d.in(0).final && !d.closes() {
		mark = -1 // rows that can change have no order of arrival: it is the first by the row, as with ORDER BY
	}
	for _, c := range in[0] {
		if mark >= 0 && !c.row[mark].null && d.before.passed(d.cols[mark].due(c.row[mark])) {
			d.lateRow(0, nil, c)
			continue
		}
		if !d.within {
			d.taken = append(d.taken, c)
			continue
		}
		d.see(c.row, mark)
	}
	if d.within {
		for k, at := range d.expires {
			if d.after.passed(at) {
				delete(d.expires, k)
			}
		}
		now := newBag()
		for k, r := range d.first.rows {
			now.add(r, d.first.n[k])
		}
		return d.changed(now)
	}
	return d.changed(d.firsts())
}

// see takes a row of WITHIN WATERMARK: the first of a key stays until its time and the delay have passed.
func (d *slowDedup) see(r slowRow, mark int) {
	k := r.pick(d.keys).key()
	if _, have := d.expires[k]; have {
		return
	}
	d.first.add(r, 1)
	d.expires[k] = slowNever
	if !r[mark].null {
		d.expires[k] = d.cols[mark].due(r[mark]) + d.cols[mark].delay
	}
}

// firsts gives the first row of each key of all that was taken in. Where rows can go, all columns are keys.
func (d *slowDedup) firsts() *slowBag {
	all := newBag()
	for _, c := range d.taken {
		all.add(c.row, c.n)
	}
	out := newBag()
	seen := map[string]bool{}
	for _, c := range d.taken {
		k := c.row.pick(d.keys).key()
		if all.n[c.row.key()] > 0 && !seen[k] {
			seen[k] = true
			out.add(c.row, 1)
		}
	}
	return out
}

func (d *slowDedup) state() (int, bool) {
	if d.within {
		return len(d.expires), true
	}
	mark := d.in(0).mark()
	n := 0
	for _, r := range d.firsts().list() {
		if slices.Contains(d.keys, mark) && !r[mark].null && d.after.passed(d.cols[mark].due(r[mark])) {
			continue
		}
		n++
	}
	return n, d.in(0).final
}

// slowTop keeps the first rows by all columns, from column by on: of each value of column part, or, part -1, of all, after offset rows.
type slowTop struct {
	slowBase
	part, by, limit, offset int
	taken                   slowTaken
}

func (t *slowTop) orderBy() string {
	var out []string
	for i := range t.cols {
		out = append(out, t.in(0).cols[(i+t.by)%len(t.cols)].name)
	}
	return strings.Join(out, ", ")
}

func (t *slowTop) sql() string {
	if t.part < 0 {
		return fmt.Sprintf("SELECT * FROM %s ORDER BY %s LIMIT %d OFFSET %d", slowFrom(t.ins[0], "l"), t.orderBy(), t.limit, t.offset)
	}
	return fmt.Sprintf("SELECT %s FROM (SELECT *, row_number() OVER (PARTITION BY %s ORDER BY %s) AS rn FROM %s) l WHERE rn <= %d",
		slowNames(t.cols), t.cols[t.part].name, t.orderBy(), slowFrom(t.ins[0], "m"), t.limit)
}

// slowSorted orders rows by all columns from by on.
func slowSorted(rows []slowRow, by int) []slowRow {
	slices.SortStableFunc(rows, func(a, b slowRow) int {
		for i := range a {
			at := (i + by) % len(a)
			if c := compareVals(a[at], b[at]); c != 0 {
				return c
			}
		}
		return 0
	})
	return rows
}

// takePartition takes rows into the partitions by a column. Those by the event time close with the watermark, so that a row can be late for one.
func (b *slowBase) takePartition(rows []slowChange, part int, to *slowTaken) {
	for _, c := range rows {
		if part >= 0 && b.cols[part].mark && !c.row[part].null && b.before.passed(b.cols[part].due(c.row[part])) {
			b.lateRow(0, nil, c)
			continue
		}
		to.add(c)
	}
}

// shows says whether a partition is shown: in append mode, once it is closed.
func (b *slowBase) shows(v slowVal, part int) bool {
	return b.mode != "append" || part >= 0 && b.cols[part].mark && !v.null && b.after.passed(b.cols[part].due(v))
}

func (t *slowTop) eval(in [][]slowChange) []slowChange {
	t.takePartition(in[0], t.part, &t.taken)
	now := newBag()
	had := map[slowVal]int{}
	for _, r := range slowSorted(t.taken.list(), t.by) {
		v := slowVal{}
		if t.part >= 0 {
			v = r[t.part]
		}
		if had[v]++; had[v] > t.offset && had[v] <= t.offset+t.limit && t.shows(v, t.part) {
			now.add(r, 1)
		}
	}
	return t.changed(now)
}

// slowOver adds a window function over the partitions by column part: the number of rows, or (number) each row's number in the order of all columns from by on.
type slowOver struct {
	slowBase
	part, by int
	number   bool
	taken    slowTaken
}

func (o *slowOver) sql() string {
	in := o.in(0).cols
	var names []string
	for i, c := range in {
		names = append(names, fmt.Sprintf("%s AS %s", c.name, o.cols[i].name))
	}
	f := fmt.Sprintf("count(*) OVER (PARTITION BY %s)", in[o.part].name)
	if o.number {
		var by []string
		for i := range in {
			by = append(by, in[(i+o.by)%len(in)].name)
		}
		f = fmt.Sprintf("row_number() OVER (PARTITION BY %s ORDER BY %s)", in[o.part].name, strings.Join(by, ", "))
	}
	return fmt.Sprintf("SELECT %s, %s AS %s FROM %s", strings.Join(names, ", "), f, o.cols[len(in)].name, slowFrom(o.ins[0], "o"))
}

func (o *slowOver) eval(in [][]slowChange) []slowChange {
	o.takePartition(in[0], o.part, &o.taken)
	rows := slowSorted(o.taken.list(), o.by)
	total, so := map[slowVal]int{}, map[slowVal]int{}
	for _, r := range rows {
		total[r[o.part]]++
	}
	now := newBag()
	for _, r := range rows {
		v := r[o.part]
		so[v]++
		n := total[v]
		if o.number {
			n = so[v]
		}
		if o.shows(v, o.part) {
			now.add(r.with(slowRow{slowNum(int64(n))}), 1)
		}
	}
	return o.changed(now)
}

// slowSet is INTERSECT or EXCEPT.
type slowSet struct {
	slowBase
	except, all bool
	l, r        slowTaken
}

func (s *slowSet) sql() string {
	op := "INTERSECT"
	if s.except {
		op = "EXCEPT"
	}
	if s.all {
		op += " ALL"
	}
	return fmt.Sprintf("(%s) %s (%s)", s.ins[0].sql(), op, s.ins[1].sql())
}

func (s *slowSet) eval(in [][]slowChange) []slowChange {
	for _, c := range in[0] {
		s.l.add(c)
	}
	for _, c := range in[1] {
		s.r.add(c)
	}
	now := newBag()
	seen := map[string]bool{}
	right := map[string]int{}
	for _, r := range s.r.list() {
		right[r.key()]++
	}
	left := map[string]int{}
	for _, l := range s.l.list() {
		left[l.key()]++
	}
	for _, l := range s.l.list() {
		k := l.key()
		if seen[k] {
			continue
		}
		seen[k] = true
		n, m := left[k], right[k]
		switch {
		case s.all && s.except:
			n = max(0, n-m)
		case s.all:
			n = min(n, m)
		case s.except:
			n = boolInt(m == 0)
		default:
			n = boolInt(m > 0)
		}
		if n > 0 {
			now.add(l, n)
		}
	}
	return s.changed(now)
}
