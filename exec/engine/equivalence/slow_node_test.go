package equivalence

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// slowNode is an operator of the model.
type slowNode interface {
	node() *slowBase
	// sql is the node as a query.
	sql() string
	// eval takes the changes of the inputs in an epoch, after the watermarks have moved, and gives its own.
	eval(in [][]slowChange) []slowChange
	// state gives the number of rows in state after the epoch; false where no definition fixes it.
	state() (int, bool)
}

// slowMark is a watermark. Without a declaration it neither holds back nor judges anything.
type slowMark struct {
	declared bool
	at       int64 // microseconds; noMark: there is none yet
}

func (m slowMark) passed(t int64) bool { return m.declared && m.at != noMark && t <= m.at }

// slowBase is what all nodes have.
type slowBase struct {
	cols []slowCol
	ins  []slowNode
	mode string // of the view
	// final says that the node only ever adds rows.
	final bool
	// ordered says that the order of the node's changes is that of arrival.
	ordered bool
	// stateful says that it is counted as an operator.
	stateful bool
	// policy is "min" or "max". before and after are the input watermark before and after the epoch; out is the output watermark.
	policy             string
	before, after, out slowMark
	late, lateGone     int          // lateGone are those to be taken away
	lateNow            [2]slowTaken // rows that came late in the epoch, by port
	reads              [2][]int     // columns of the inputs that the query reads, as slowReads finds them
	had                *slowBag     // contents before the epoch
}

func (b *slowBase) node() *slowBase    { return b }
func (b *slowBase) state() (int, bool) { return 0, false }
func (b *slowBase) in(i int) *slowBase { return b.ins[i].node() }

// lateRow counts a row of a port that came late, for a window or (nil) in itself. One to be taken away that came late was kept out just as well; one that
// came and went in one epoch was never there. Rows are told apart by what the query reads of them.
func (b *slowBase) lateRow(port int, window slowRow, c slowChange) {
	r := window.with(c.row.pick(b.reads[port]))
	if c.n < 0 {
		b.lateGone++
	}
	bag := b.lateNow[port].open()
	was := bag.n[r.key()]
	bag.add(r, c.n)
	now := was + c.n
	b.late += max(now, -now) - max(was, -was)
}

func (b *slowBase) mark() int {
	return slices.IndexFunc(b.cols, func(c slowCol) bool { return c.mark })
}
func (b *slowBase) changed(now *slowBag) []slowChange {
	if b.had == nil {
		b.had = newBag()
	}
	d := now.since(b.had)
	b.had = now
	return d
}

// forGood says that any row may change at any time, as those of a table.
func (b *slowBase) forGood() bool { return !b.final && b.mark() < 0 }

// inputs gives the combined watermark of the inputs' outputs.
func (b *slowBase) inputs() slowMark {
	m := slowMark{at: noMark}
	for i := range b.ins {
		o := b.in(i).out
		switch {
		case !o.declared:
		case !m.declared:
			m = o
		case b.policy == "max":
			m.at = max(m.at, o.at)
		default:
			m.at = min(m.at, o.at) // none is the least
		}
	}
	return m
}

// run runs an epoch of the node and of all beneath it.
func runSlow(n slowNode, streams map[string][]slowChange, marks map[string]slowMark) []slowChange {
	b := n.node()
	if s, ok := n.(*slowScan); ok {
		b.out = marks[s.rel]
		return streams[s.rel]
	}
	var in [][]slowChange
	for _, c := range b.ins {
		in = append(in, runSlow(c, streams, marks))
	}
	m := b.inputs()
	b.lateNow = [2]slowTaken{}
	b.before = b.after
	if b.after.declared {
		m.at = max(m.at, b.after.at)
	} else {
		b.before = slowMark{m.declared, noMark}
	}
	b.after = m
	out := m
	if j, ok := n.(*slowJoin); ok {
		out = j.output(m)
	}
	if b.out.declared {
		out.at = max(out.at, b.out.at)
	}
	b.out = out
	return n.eval(in)
}

// from writes a node as a FROM item with an alias.
func slowFrom(n slowNode, alias string) string {
	if s, ok := n.(*slowScan); ok {
		return s.rel + " " + alias
	}
	return "(" + n.sql() + ") " + alias
}

func slowNames(cols []slowCol) string {
	var out []string
	for _, c := range cols {
		out = append(out, c.name)
	}
	return strings.Join(out, ", ")
}

// slowScan reads a stream or table.
type slowScan struct {
	slowBase
	rel string
}

func (s *slowScan) sql() string                      { return fmt.Sprintf("SELECT %s FROM %s", slowNames(s.cols), s.rel) }
func (s *slowScan) eval([][]slowChange) []slowChange { return nil }

// slowFilter keeps rows by one column: kind 0: > c; 1: <= c; 2: IS NOT NULL; 3: IS NULL; 4: event time >= c.
type slowFilter struct {
	slowBase
	at, kind int
	c        int64
}

func (f *slowFilter) sql() string {
	name := f.cols[f.at].name
	cond := ""
	switch f.kind {
	case 0:
		cond = fmt.Sprintf("%s > %d", name, f.c)
	case 1:
		cond = fmt.Sprintf("%s <= %d", name, f.c)
	case 2:
		cond = name + " IS NOT NULL"
	case 3:
		cond = name + " IS NULL"
	case 4:
		cond = fmt.Sprintf("%s >= '%s'", name, stamp(f.c))
	}
	return fmt.Sprintf("SELECT * FROM %s WHERE %s", slowFrom(f.ins[0], "f"), cond)
}

func (f *slowFilter) eval(in [][]slowChange) []slowChange {
	var out []slowChange
	for _, c := range in[0] {
		v := c.row[f.at]
		keep := false
		switch f.kind {
		case 0:
			keep = !v.null && v.a > f.c
		case 1:
			keep = !v.null && v.a <= f.c
		case 2:
			keep = !v.null
		case 3:
			keep = v.null
		case 4:
			keep = !v.null && v.a >= f.c
		}
		if keep {
			out = append(out, c)
		}
	}
	return out
}

// slowItem is an item of a select list: column at, plus add if it is a number; with time: its window_time.
type slowItem struct {
	at   int
	add  int64
	time bool
}

// slowProject chooses and computes columns; with size it adds a column of windows of column time, and a row for each.
type slowProject struct {
	slowBase
	items []slowItem
	time  int
	slowWindows
}

// slowWindows are windows by size, slide and start in microseconds.
type slowWindows struct{ size, slide, start int64 }

// lag gives the lag of the windows of times with a lag: the least end that may be open, or contain a time that may come, at watermark 0, seen from 1.
// Most windows here end on whole milliseconds, as watermarks do; others anywhere.
func (w slowWindows) lag(of int64) int64 {
	if w.start%millisecond != 0 {
		return max(0, of-1)
	}
	end := int64(millisecond)
	for end-millisecond > 1-of {
		end -= millisecond
	}
	return 1 - end
}

func (w slowWindows) call(col string) string {
	if w.start != 0 {
		return fmt.Sprintf("window(%s, '%d seconds', '%d seconds', '%d microseconds')", col, w.size/1e6, w.slide/1e6, w.start)
	}
	if w.slide != w.size {
		return fmt.Sprintf("window(%s, '%d seconds', '%d seconds')", col, w.size/1e6, w.slide/1e6)
	}
	return fmt.Sprintf("window(%s, '%d seconds')", col, w.size/1e6)
}

// of gives the windows in which a value lies: all [n * slide + start, ... + size) that have its time in them. A window stands for its last microsecond.
func (w slowWindows) of(v slowVal, k slowKind) []slowVal {
	if v.null {
		return nil
	}
	t := v.a
	if k == slowWindow {
		t = v.b - 1
	}
	var out []slowVal
	for n := int64(math.Floor(float64(t-w.size)/float64(w.slide))) - 2; n*w.slide+w.start <= t; n++ {
		if s := n*w.slide + w.start; t < s+w.size {
			out = append(out, slowVal{a: s, b: s + w.size})
		}
	}
	return out
}

func (p *slowProject) sql() string {
	var out []string
	in := p.in(0)
	for i, it := range p.items {
		x := in.cols[it.at].name
		if it.time {
			x = "window_time(" + x + ")"
		}
		if it.add != 0 {
			x = fmt.Sprintf("%s + %d", x, it.add)
		}
		out = append(out, x+" AS "+p.cols[i].name)
	}
	if p.size > 0 {
		out = append(out, fmt.Sprintf("%s AS %s", p.call(in.cols[p.time].name), p.cols[len(p.items)].name))
	}
	return fmt.Sprintf("SELECT %s FROM %s", strings.Join(out, ", "), slowFrom(p.ins[0], "p"))
}

func (p *slowProject) eval(in [][]slowChange) []slowChange {
	var out []slowChange
	for _, c := range in[0] {
		var r slowRow
		for _, it := range p.items {
			v := c.row[it.at]
			switch {
			case v.null:
			case it.time:
				v = slowNum(v.b - 1)
			default:
				v.a += it.add
			}
			r = append(r, v)
		}
		if p.size == 0 {
			out = append(out, slowChange{r, c.n})
			continue
		}
		for _, w := range p.of(c.row[p.time], p.in(0).cols[p.time].kind) {
			out = append(out, slowChange{r.with(slowRow{w}), c.n})
		}
	}
	return out
}

// slowUnion is UNION ALL.
type slowUnion struct{ slowBase }

func (u *slowUnion) sql() string {
	return fmt.Sprintf("(%s) UNION ALL (%s)", u.ins[0].sql(), u.ins[1].sql())
}

func (u *slowUnion) eval(in [][]slowChange) []slowChange {
	return append(append([]slowChange(nil), in[0]...), in[1]...)
}

// slowTaken are the rows that an operator has taken in by one port.
type slowTaken struct{ bag *slowBag }

func (t *slowTaken) open() *slowBag {
	if t.bag == nil {
		t.bag = newBag()
	}
	return t.bag
}

func (t *slowTaken) add(c slowChange) { t.open().add(c.row, c.n) }

func (t *slowTaken) list() []slowRow {
	if t.bag == nil {
		return nil
	}
	return t.bag.list()
}
