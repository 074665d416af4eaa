package equivalence

import (
	"fmt"
	"strings"
)

// slowJoin joins by equal columns, a range of times and conditions on numbers. kind is "", LEFT, RIGHT, FULL, SEMI or ANTI.
type slowJoin struct {
	slowBase
	kind         string
	lkeys, rkeys []int
	// ge and le: right time >= left time - lo, right time <= left time + hi; strict makes them > and <. lt and rt are the columns.
	ge, le, strict bool
	lt, rt         int
	lo, hi         int64
	// both: the left column is not greater than the right one (NULL counts as 0); left, right: a column of one side is greater than 0. -1: no such condition.
	both        [2]int
	left, right int
	items       []int // output: columns of left, then right
	// keyTime is the pair of keys that carries the watermark, -1 for none.
	keyTime int
	judges  bool
	lrows   slowTaken
	rrows   slowTaken
}

func seconds(us int64) string { return fmt.Sprintf("INTERVAL '%d seconds'", us/1e6) }

func (j *slowJoin) sql() string {
	l, r := j.in(0).cols, j.in(1).cols
	var on, items []string
	for i := range j.lkeys {
		on = append(on, fmt.Sprintf("a.%s = b.%s", l[j.lkeys[i]].name, r[j.rkeys[i]].name))
	}
	eq := "="
	if j.strict {
		eq = ""
	}
	if j.ge {
		on = append(on, fmt.Sprintf("b.%s >%s a.%s - %s", r[j.rt].name, eq, l[j.lt].name, seconds(j.lo)))
	}
	if j.le {
		on = append(on, fmt.Sprintf("b.%s <%s a.%s + %s", r[j.rt].name, eq, l[j.lt].name, seconds(j.hi)))
	}
	if j.both[0] >= 0 {
		on = append(on, fmt.Sprintf("coalesce(a.%s, 0) <= coalesce(b.%s, 0)", l[j.both[0]].name, r[j.both[1]].name))
	}
	if j.left >= 0 {
		on = append(on, fmt.Sprintf("a.%s > 0", l[j.left].name))
	}
	if j.right >= 0 {
		on = append(on, fmt.Sprintf("b.%s > 0", r[j.right].name))
	}
	if len(on) == 0 {
		on = []string{"true"}
	}
	for i, at := range j.items {
		if at < len(l) {
			items = append(items, fmt.Sprintf("a.%s AS %s", l[at].name, j.cols[i].name))
		} else {
			items = append(items, fmt.Sprintf("b.%s AS %s", r[at-len(l)].name, j.cols[i].name))
		}
	}
	kind := j.kind
	if kind == "SEMI" || kind == "ANTI" {
		kind = "LEFT " + kind
	}
	return fmt.Sprintf("SELECT %s FROM %s %s JOIN %s ON %s", strings.Join(items, ", "), slowFrom(j.ins[0], "a"), kind, slowFrom(j.ins[1], "b"), strings.Join(on, " AND "))
}

const millisecond = 1000

// bound says what of a side's rows is removed: those whose time is at or below the watermark plus off (reference 5.3).
func (j *slowJoin) bound(left bool) (off int64, ok bool) {
	less := int64(millisecond)
	if j.strict {
		less = 0
	}
	switch {
	case !j.judges:
		return 0, false
	case j.keyTime >= 0:
		return 0, true
	case j.in(0).mark() < 0 || j.in(1).mark() < 0:
		return 0, false
	case left && j.le:
		return -j.hi - less, true
	case !left && j.ge:
		return -j.lo - less, true
	}
	return 0, false
}

// output is the output watermark for an input watermark.
func (j *slowJoin) output(in slowMark) slowMark {
	out := in
	for _, left := range []bool{true, false} {
		if off, ok := j.bound(left); ok && in.at != noMark {
			out.at = min(out.at, in.at+off)
		}
	}
	return out
}

// timeOf is the time by which a row of a side is judged.
func (j *slowJoin) timeOf(left bool, r slowRow) slowVal {
	in, at := j.in(1), j.in(1).mark()
	if left {
		in, at = j.in(0), j.in(0).mark()
	}
	if j.keyTime >= 0 {
		if at = j.rkeys[j.keyTime]; left {
			at = j.lkeys[j.keyTime]
		}
	}
	if at < 0 || r[at].null {
		return slowNull
	}
	return slowNum(r[at].time(in.cols[at].kind))
}

// ownLag is that of the times by which a side's rows are judged.
func (j *slowJoin) ownLag(left bool) int64 {
	in, keys := j.in(1), j.rkeys
	if left {
		in, keys = j.in(0), j.lkeys
	}
	at := in.mark()
	if j.keyTime >= 0 {
		at = keys[j.keyTime]
	}
	if at < 0 {
		return 0
	}
	if !in.cols[at].mark { // what has no watermark is judged by the other's
		return j.ownLag(!left)
	}
	return max(0, in.cols[at].lag)
}

// lag is the greater of both sides': rows are kept for partners that may come so late.
func (j *slowJoin) lag() int64 { return max(j.ownLag(true), j.ownLag(false)) }

// never says that a row can't match any row.
func (j *slowJoin) never(left bool, r slowRow) bool {
	keys, time, own := j.rkeys, j.rt, j.right
	if left {
		keys, time, own = j.lkeys, j.lt, j.left
	}
	for _, k := range keys {
		if r[k].null {
			return true
		}
	}
	return (j.ge || j.le) && r[time].null || own >= 0 && (r[own].null || r[own].a <= 0)
}

func (j *slowJoin) match(l, r slowRow) bool {
	if j.never(true, l) || j.never(false, r) {
		return false
	}
	for i := range j.lkeys {
		if l[j.lkeys[i]] != r[j.rkeys[i]] {
			return false
		}
	}
	if j.ge {
		least := l[j.lt].a - j.lo
		if r[j.rt].a < least || j.strict && r[j.rt].a == least {
			return false
		}
	}
	if j.le {
		most := l[j.lt].a + j.hi
		if r[j.rt].a > most || j.strict && r[j.rt].a == most {
			return false
		}
	}
	return j.both[0] < 0 || l[j.both[0]].a <= r[j.both[1]].a
}

func (j *slowJoin) take(left bool, rows []slowChange, to *slowTaken) {
	for _, c := range rows {
		if j.judges {
			if t := j.timeOf(left, c.row); !t.null && j.before.passed(t.a+j.ownLag(left)) {
				j.lateRow(1-boolInt(left), nil, c)
				continue
			}
		}
		to.add(c)
	}
}

func (j *slowJoin) eval(in [][]slowChange) []slowChange {
	j.take(true, in[0], &j.lrows)
	j.take(false, in[1], &j.rrows)
	now := newBag()
	ls, rs := j.lrows.list(), j.rrows.list()
	met := make([]bool, len(rs))
	emit := func(l, r slowRow) { now.add(l.with(r).pick(j.items), 1) }
	nl, nr := slowNulls(len(j.in(0).cols)), slowNulls(len(j.in(1).cols))
	for _, l := range ls {
		any := false
		for i, r := range rs {
			if !j.match(l, r) {
				continue
			}
			any, met[i] = true, true
			if j.kind != "SEMI" && j.kind != "ANTI" {
				emit(l, r)
			}
		}
		switch {
		case j.kind == "SEMI" && any:
			emit(l, nr)
		case (j.kind == "LEFT" || j.kind == "FULL" || j.kind == "ANTI") && !any && j.certain(true, l):
			emit(l, nr)
		}
	}
	for i, r := range rs {
		if (j.kind == "RIGHT" || j.kind == "FULL") && !met[i] && j.certain(false, r) {
			emit(nl, r)
		}
	}
	return j.changed(now)
}

// certain says whether a row without a match is shown: in append mode, when no match can come any more.
func (j *slowJoin) certain(left bool, r slowRow) bool {
	return j.mode != "append" || j.never(left, r) || j.gone(left, r)
}

// gone says that a row is past its bound.
func (j *slowJoin) gone(left bool, r slowRow) bool {
	off, ok := j.bound(left)
	if !ok {
		return false
	}
	t := j.timeOf(left, r)
	return !t.null && j.after.passed(t.a-off+j.lag())
}

func (j *slowJoin) state() (int, bool) {
	n := 0
	for _, r := range j.lrows.list() {
		if !j.never(true, r) && !j.gone(true, r) {
			n++
		}
	}
	for _, r := range j.rrows.list() {
		if !j.never(false, r) && !j.gone(false, r) {
			n++
		}
	}
	return n, j.kind != "SEMI" && j.kind != "ANTI" // a left row that has found its match need not be kept
}

// outerFinal says whether rows without a match become final some time.
func (j *slowJoin) outerFinal() bool {
	_, l := j.bound(true)
	_, r := j.bound(false)
	switch j.kind {
	case "LEFT", "SEMI", "ANTI":
		return l
	case "RIGHT":
		return r
	case "FULL":
		return l || r
	}
	return true
}
