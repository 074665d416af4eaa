package equivalence

import (
	"fmt"
	"slices"
)

// slowGen draws trees of the model's operators.
type slowGen struct {
	c            *choices
	mode, policy string
	delays       map[string]int64
	n            int // columns named so far
	// inexact says that the optimiser may move a condition beneath an operator, so that fewer rows reach it than the model thinks.
	inexact bool
	tables  bool     // the tree reads a table
	rels    []string // what scans read, nil for any
}

func (g *slowGen) name() string { g.n++; return fmt.Sprintf("c%d", g.n) }

func (g *slowGen) base(ins ...slowNode) slowBase {
	return slowBase{ins: ins, mode: g.mode, policy: g.policy, before: slowMark{at: noMark}, after: slowMark{at: noMark}, out: slowMark{at: noMark}}
}

// anew gives columns new names.
func (g *slowGen) anew(cols []slowCol) []slowCol {
	out := slices.Clone(cols)
	for i := range out {
		out[i].name = g.name()
	}
	return out
}

func unmarked(cols []slowCol) []slowCol {
	out := slices.Clone(cols)
	for i := range out {
		out[i].mark = false
	}
	return out
}

// columnsOf lists the columns of a kind.
func columnsOf(cols []slowCol, k slowKind) []int {
	var out []int
	for i, c := range cols {
		if c.kind == k {
			out = append(out, i)
		}
	}
	return out
}

func numbers(n slowNode) []int { return columnsOf(n.node().cols, slowInt) }

// times lists the columns that have a time: the marked one if there is one.
func times(n slowNode) []int {
	b := n.node()
	if m := b.mark(); m >= 0 {
		return []int{m}
	}
	return append(columnsOf(b.cols, slowTime), columnsOf(b.cols, slowWindow)...)
}

func (g *slowGen) scan() slowNode {
	rels := g.rels
	if rels == nil {
		rels = []string{"s0", "s1", "s0", "s1", "s2", "s2", "u0", "t"}
	}
	s := &slowScan{slowBase: g.base(), rel: pick(g.c, rels...)}
	if s.rel == "t" {
		s.cols = []slowCol{{"a", slowInt, false, -1, 0}, {"b", slowInt, false, -1, 0}}
		g.tables = true
		return s
	}
	d, marked := g.delays[s.rel]
	s.cols = []slowCol{{"k", slowInt, false, -1, 0}, {"x", slowInt, false, -1, 0}, {"ts", slowTime, marked, d, 0}}
	s.final, s.ordered = true, true
	return s
}

// tree draws a tree with at most the given number of stateful operators above each other. It has at most one marked column.
func (g *slowGen) tree(depth int) slowNode { return g.one(g.operator(depth)) }

// one leaves a node at most one marked column.
func (g *slowGen) one(n slowNode) slowNode {
	b := n.node()
	marks := 0
	for _, c := range b.cols {
		marks += boolInt(c.mark)
	}
	if marks < 2 && len(b.cols) < 7 {
		return n
	}
	// One marked column and a few others go on.
	keep := -1
	var items []slowItem
	for i, c := range b.cols {
		if c.mark && (keep < 0 || g.c.n(2) == 1) {
			keep = i
		}
	}
	for i, c := range b.cols {
		if i == keep || !c.mark && len(items) < 4 {
			items = append(items, slowItem{at: i})
		}
	}
	return g.project(n, items)
}

// project computes items of a node.
func (g *slowGen) project(n slowNode, items []slowItem) *slowProject {
	p := &slowProject{slowBase: g.base(n), items: items}
	in := n.node()
	for _, it := range items {
		c := in.cols[it.at]
		c.name = g.name()
		if it.time {
			c.kind, c.lag = slowTime, c.timeLag()
		}
		p.cols = append(p.cols, c)
	}
	p.final, p.ordered = in.final, in.ordered
	return p
}

func (g *slowGen) operator(depth int) slowNode {
	if depth == 0 {
		n := g.scan()
		switch g.c.weighted(6, 2, 1) {
		case 1:
			return g.filter(n)
		case 2:
			return g.windowed(n)
		}
		return n
	}
	if g.c.oneIn(8) {
		depth-- // a shallower one
		if depth == 0 {
			return g.operator(0)
		}
	}
	switch g.c.weighted(5, 2, 2, 3, 7, 3, 2, 2, 2, 2, 1, 1, 2, 2) {
	case 0:
		return g.agg(g.tree(depth-1), true)
	case 1:
		return g.agg(g.tree(depth-1), false)
	case 2:
		return g.distinct(g.tree(depth - 1))
	case 3:
		return g.session(g.tree(depth - 1))
	case 4:
		return g.join(g.two(depth))
	case 5:
		return g.dedup(g.tree(depth-1), false)
	case 6:
		return g.dedup(g.tree(depth-1), true)
	case 7:
		return g.union(g.two(depth))
	case 8:
		return g.top(g.tree(depth - 1))
	case 9:
		return g.over(g.tree(depth - 1))
	case 10:
		return g.set(g.two(depth))
	case 11:
		return g.windowed(g.tree(depth - 1))
	case 12:
		return g.filter(g.tree(depth))
	}
	return g.shift(g.tree(depth))
}

func (g *slowGen) filter(n slowNode) slowNode {
	in := n.node()
	f := &slowFilter{slowBase: g.base(n), at: g.c.n(len(in.cols))}
	f.cols, f.final, f.ordered = in.cols, in.final, in.ordered
	switch in.cols[f.at].kind {
	case slowInt:
		f.kind, f.c = g.c.n(4), int64(g.c.n(4)-2)
	case slowTime:
		f.kind, f.c = pick(g.c, 4, 2), epoch0+int64(g.c.n(8))*5*minute
	default:
		f.kind = 2
	}
	if _, leaf := n.(*slowScan); !leaf {
		g.inexact = true
	}
	return f
}

// shift is a projection that adds to numbers, moves columns and turns windows into times.
func (g *slowGen) shift(n slowNode) slowNode {
	in := n.node()
	var items []slowItem
	first := g.c.n(len(in.cols))
	for i := range in.cols {
		it := slowItem{at: (first + i) % len(in.cols)}
		switch in.cols[it.at].kind {
		case slowInt:
			it.add = int64(g.c.n(3))
		case slowWindow:
			it.time = g.c.n(2) == 1
		}
		items = append(items, it)
	}
	return g.project(n, items)
}

func (g *slowGen) windows() slowWindows {
	w := slowWindows{size: int64(pick(g.c, 10, 5, 20, 60)) * minute}
	w.slide = w.size / int64(pick(g.c, 1, 1, 2, 5))
	if g.c.oneIn(6) && w.size == 10*minute {
		w.slide = 4 * minute // does not divide the size
	}
	if g.c.oneIn(4) {
		w.start = int64(g.c.n(3)-1) * 30 * 1e6
	}
	if g.c.oneIn(4) {
		w.start += pick(g.c, int64(1), 500) // ends a little above whole milliseconds
	}
	return w
}

// windowed adds a column of windows.
func (g *slowGen) windowed(n slowNode) slowNode {
	in := n.node()
	ts := times(n)
	if len(ts) == 0 {
		return n
	}
	t := pick(g.c, ts...)
	var items []slowItem
	for i := range in.cols {
		if i != t {
			items = append(items, slowItem{at: i})
		}
	}
	p := g.project(n, items)
	p.time, p.slowWindows = t, g.windows()
	p.cols = append(p.cols, slowCol{g.name(), slowWindow, in.cols[t].mark, in.cols[t].delay, p.lag(in.cols[t].timeLag())})
	return p
}

func (g *slowGen) calls(n slowNode) ([]slowCall, []slowCol) {
	var out []slowCall
	var cols []slowCol
	for range 1 + g.c.n(2) {
		call := slowCall{fn: "count(*)"}
		if nums := numbers(n); len(nums) > 0 {
			call = slowCall{fn: pick(g.c, "count(*)", "sum", "count", "min", "max", "count distinct"), at: pick(g.c, nums...)}
		}
		out = append(out, call)
		cols = append(cols, slowCol{g.name(), slowInt, false, -1, 0})
	}
	return out, cols
}

// agg draws an aggregation: by a window of a time, or by columns, or by nothing.
func (g *slowGen) agg(n slowNode, windowed bool) slowNode {
	in := n.node()
	a := &slowAgg{slowBase: g.base(n), event: -1}
	ts := times(n)
	if windowed && len(ts) > 0 {
		a.time, a.slowWindows = pick(g.c, ts...), g.windows()
		a.cols = append(a.cols, slowCol{g.name(), slowWindow, false, in.cols[a.time].delay, a.lag(in.cols[a.time].timeLag())})
		if in.cols[a.time].mark {
			a.event = 0
		}
	} else if len(ts) > 0 && g.c.n(3) > 0 {
		a.keys = append(a.keys, pick(g.c, ts...))
	}
	if nums := numbers(n); len(nums) > 0 && g.c.n(2) == 0 {
		a.keys = append(a.keys, pick(g.c, nums...))
	}
	for _, k := range a.keys {
		c := in.cols[k]
		if c.mark {
			a.event = len(a.cols)
		}
		c.name, c.mark = g.name(), false
		a.cols = append(a.cols, c)
	}
	var cols []slowCol
	a.aggs, cols = g.calls(n)
	a.cols = append(a.cols, cols...)
	a.stateful = true
	if a.closes() {
		a.cols[a.event].mark = true
	}
	a.final = a.mode == "append" && a.event >= 0
	return a
}

// distinct is SELECT DISTINCT of all columns.
func (g *slowGen) distinct(n slowNode) slowNode {
	in := n.node()
	a := &slowAgg{slowBase: g.base(n), event: in.mark()}
	a.cols = g.anew(unmarked(in.cols))
	for i := range in.cols {
		a.keys = append(a.keys, i)
	}
	a.stateful = true
	if a.closes() {
		a.cols[a.event].mark = true
	}
	a.final = in.final
	return a
}

func (g *slowGen) session(n slowNode) slowNode {
	ts := times(n)
	if len(ts) == 0 {
		return g.distinct(n)
	}
	in := n.node()
	s := &slowSession{slowBase: g.base(n), time: pick(g.c, ts...), gap: int64(pick(g.c, 5, 1, 10)) * minute, gapBy: -1}
	nums := numbers(n)
	if len(nums) > 0 && g.c.oneIn(4) {
		s.gapBy, s.other = pick(g.c, nums...), int64(pick(g.c, 2, 20))*minute
	}
	s.cols = append(s.cols, slowCol{g.name(), slowWindow, false, in.cols[s.time].delay, max(0, in.cols[s.time].timeLag())})
	if len(nums) > 0 && g.c.n(3) > 0 {
		s.keys = []int{pick(g.c, nums...)}
		c := in.cols[s.keys[0]]
		c.name = g.name()
		s.cols = append(s.cols, c)
	}
	var cols []slowCol
	s.aggs, cols = g.calls(n)
	s.cols = append(s.cols, cols...)
	s.stateful, s.timed = true, in.cols[s.time].mark
	s.cols[0].mark = s.closes()
	s.final = s.mode == "append" && s.timed
	return s
}

// two draws the inputs of an operator.
func (g *slowGen) two(depth int) (slowNode, slowNode) { return g.tree(depth - 1), g.tree(g.c.n(depth)) }

func (g *slowGen) join(l, r slowNode) slowNode {
	if g.c.n(2) == 1 {
		l, r = r, l
	}
	j := &slowJoin{kind: pick(g.c, "", "", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"), keyTime: -1, both: [2]int{-1, -1}, left: -1, right: -1}
	lt, rt := l.node().mark(), r.node().mark()
	onWindow := lt >= 0 && rt >= 0 && l.node().cols[lt].kind == slowWindow && r.node().cols[rt].kind == slowWindow && g.c.n(2) == 1
	switch {
	case onWindow:
		j.lkeys, j.rkeys = []int{lt}, []int{rt}
	case lt >= 0 || rt >= 0:
		l, r = g.plainTime(l), g.plainTime(r)
		lts, rts := times(l), times(r)
		if len(lts) > 0 && len(rts) > 0 {
			g.timeCondition(j, l, r, pick(g.c, lts...), pick(g.c, rts...))
		}
	}
	lnum, rnum := numbers(l), numbers(r)
	if len(lnum) > 0 && len(rnum) > 0 {
		if g.c.n(5) > 0 {
			j.lkeys, j.rkeys = append(j.lkeys, pick(g.c, lnum...)), append(j.rkeys, pick(g.c, rnum...))
		}
		if g.c.oneIn(5) {
			j.both = [2]int{pick(g.c, lnum...), pick(g.c, rnum...)}
		}
	}
	if len(lnum) > 0 && g.c.oneIn(7) {
		j.left, g.inexact = pick(g.c, lnum...), true
	}
	if len(rnum) > 0 && g.c.oneIn(7) {
		j.right, g.inexact = pick(g.c, rnum...), true
	}
	j.slowBase = g.base(l, r)
	g.joined(j)
	return j
}

// plainTime turns a marked window into its time.
func (g *slowGen) plainTime(n slowNode) slowNode {
	b := n.node()
	m := b.mark()
	if m < 0 || b.cols[m].kind != slowWindow {
		return n
	}
	var items []slowItem
	for i := range b.cols {
		items = append(items, slowItem{at: i, time: i == m})
	}
	return g.project(n, items)
}

// timeCondition draws an equality of times, a range or nothing.
func (g *slowGen) timeCondition(j *slowJoin, l, r slowNode, lt, rt int) {
	if l.node().cols[lt].kind != slowTime || r.node().cols[rt].kind != slowTime {
		return
	}
	switch g.c.weighted(2, 6, 2, 2, 1) {
	case 0:
		j.lkeys, j.rkeys = []int{lt}, []int{rt}
	case 1:
		j.ge, j.le = true, true
	case 2:
		j.ge = true
	case 3:
		j.le = true
	}
	if j.ge || j.le {
		j.lt, j.rt, j.lo, j.hi, j.strict = lt, rt, int64(g.c.n(4)-1)*5*minute, int64(1+g.c.n(3))*5*minute, g.c.oneIn(3)
	}
}

// joined settles what follows from a join's conditions: what judges its rows, and its output.
func (g *slowGen) joined(j *slowJoin) {
	l, r := j.in(0), j.in(1)
	j.stateful = true
	j.judges = !l.forGood() && !r.forGood()
	for pass := range 2 {
		for i := range j.lkeys {
			lm, rm := l.cols[j.lkeys[i]].mark, r.cols[j.rkeys[i]].mark
			if j.keyTime < 0 && (pass == 0 && lm || pass == 1 && rm) && (lm || l.final) && (rm || r.final) {
				j.keyTime = i
			}
		}
	}
	all := append(slices.Clone(l.cols), r.cols...)
	if j.kind == "SEMI" || j.kind == "ANTI" {
		all = all[:len(l.cols)]
	}
	_, lb := j.bound(true)
	_, rb := j.bound(false)
	for i, c := range all {
		left := i < len(l.cols)
		c.lag = c.markLag()
		if !c.mark && j.keyTime >= 0 { // as its partner's
			if c.delay = r.cols[j.rkeys[j.keyTime]].delay; !left {
				c.delay = l.cols[j.lkeys[j.keyTime]].delay
			}
		}
		switch {
		case j.keyTime >= 0:
			c.mark = left && i == j.lkeys[j.keyTime] || !left && i-len(l.cols) == j.rkeys[j.keyTime]
		case left:
			c.mark = c.mark && lb
		default:
			c.mark = c.mark && rb
		}
		if lag := j.lag(); lag > 0 {
			c.lag = lag // it may come as long as a partner is in state
		}
		c.name = g.name()
		j.items, j.cols = append(j.items, i), append(j.cols, c)
	}
	outer := j.kind != "" && j.kind != "SEMI"
	j.final = l.final && r.final && (!outer || j.mode == "append" && j.outerFinal())
}

// dedup draws DISTINCT ON. Where the order of rows is open, what is not a key is left out.
func (g *slowGen) dedup(n slowNode, within bool) slowNode {
	in := n.node()
	m := in.mark()
	if within && (m < 0 || !in.final) {
		within = false
	}
	var keys []int
	for i := range in.cols {
		if g.c.n(2) == 1 {
			keys = append(keys, i)
		}
	}
	if len(keys) == 0 {
		keys = []int{g.c.n(len(in.cols))}
	}
	if within && !in.ordered && !slices.Contains(keys, m) {
		keys = append(keys, m)
	}
	if !in.ordered || !in.final {
		var items []slowItem
		for _, k := range keys {
			items = append(items, slowItem{at: k})
		}
		n = g.project(n, items)
		keys = nil
		for i := range items {
			keys = append(keys, i)
		}
		in = n.node()
	}
	d := &slowDedup{slowBase: g.base(n), keys: keys, within: within, expires: map[string]int64{}, first: newBag()}
	d.cols, d.final, d.stateful = in.cols, in.final, true
	if !in.final && !d.closes() {
		d.cols = unmarked(d.cols)
	}
	return d
}

// alike makes of two nodes two with the same kinds of columns.
func (g *slowGen) alike(l, r slowNode) (slowNode, slowNode) {
	var li, ri []slowItem
	for _, k := range []slowKind{slowInt, slowTime, slowWindow} {
		a, b := columnsOf(l.node().cols, k), columnsOf(r.node().cols, k)
		for i := range min(len(a), len(b), 3) {
			li, ri = append(li, slowItem{at: a[i]}), append(ri, slowItem{at: b[i]})
		}
	}
	if len(li) == 0 {
		return l, l
	}
	return g.project(l, li), g.project(r, ri)
}

func (g *slowGen) union(l, r slowNode) slowNode {
	l, r = g.alike(l, r)
	if l == r {
		return l
	}
	u := &slowUnion{g.base(l, r)}
	lb, rb := l.node(), r.node()
	u.final = lb.final && rb.final
	for i, c := range lb.cols {
		d := rb.cols[i]
		c.mark = (c.mark || !g.declares(l) && lb.final) && (d.mark || !g.declares(r) && rb.final) && (c.mark || d.mark)
		c.delay = max(lb.cols[i].markDelay(), d.markDelay())
		c.lag = max(lb.cols[i].markLag(), d.markLag())
		u.cols = append(u.cols, c)
	}
	return u
}

// declares says whether a declared watermark reaches a node.
func (g *slowGen) declares(n slowNode) bool {
	if s, ok := n.(*slowScan); ok {
		_, have := g.delays[s.rel]
		return have
	}
	return slices.ContainsFunc(n.node().ins, g.declares)
}

func (g *slowGen) top(n slowNode) slowNode {
	in := n.node()
	t := &slowTop{slowBase: g.base(n), part: -1, by: g.c.n(len(in.cols)), limit: 1 + g.c.n(3)}
	if g.c.n(2) == 1 {
		t.part = g.c.n(len(in.cols))
	} else {
		t.offset = g.c.n(2)
	}
	t.cols, t.stateful = g.partitioned(in.cols, t.part), true
	t.final = g.closing(in, t.part)
	return t
}

// closing says whether partitions over in come out when they close. What holds them back until then is an operator of its own.
func (g *slowGen) closing(in *slowBase, part int) bool {
	if g.mode != "append" || part < 0 || !in.cols[part].mark {
		return false
	}
	g.inexact = true
	return in.final
}

// partitioned gives the columns above partitions by one of them: only that one keeps the watermark, if partitions close.
func (g *slowGen) partitioned(cols []slowCol, part int) []slowCol {
	out := unmarked(cols)
	if part >= 0 {
		out[part].mark = cols[part].mark && g.mode != "complete"
	}
	return out
}

func (g *slowGen) over(n slowNode) slowNode {
	in := n.node()
	o := &slowOver{slowBase: g.base(n), part: g.c.n(len(in.cols)), by: g.c.n(len(in.cols)), number: g.c.n(2) == 1}
	o.cols = append(g.anew(g.partitioned(in.cols, o.part)), slowCol{g.name(), slowInt, false, -1, 0})
	o.stateful = true
	o.final = g.closing(in, o.part)
	// The optimiser leaves it out where nothing above reads its column: this does.
	f := &slowFilter{slowBase: g.base(o), at: len(o.cols) - 1, c: int64(g.c.n(2)*2 - 1)}
	f.cols, f.final = o.cols, o.final
	return f
}

func (g *slowGen) set(l, r slowNode) slowNode {
	l, r = g.alike(l, r)
	if l == r {
		return l
	}
	s := &slowSet{slowBase: g.base(l, r), except: g.c.n(2) == 1, all: g.c.n(2) == 1}
	s.cols, s.stateful = unmarked(l.node().cols), true
	s.final = !s.except && l.node().final && r.node().final
	return s
}
