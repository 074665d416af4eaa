package planner

import (
	"math"
	"slices"
	"time"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// join derives what bounds the state of a join (reference 5.3) and which columns keep a watermark above it.
func (d *deriver) join(x *plan.Join) {
	l, r := x.Left.Props(), x.Right.Props()
	x.Mode = d.mode
	if d.mode == catalog.Complete {
		x.Mode = catalog.Update
	}
	x.KeyTime, x.LeftTime, x.RightTime, x.LeftState, x.RightState = d.keyTime(x), firstMark(l), firstMark(r), nil, nil
	x.NeverMatches = false
	if d.view && (forGood(l) || forGood(r)) {
		// As Spark's join with a static side, it judges no row late (reference 5.1): no state of it can be bounded.
		x.LeftTime, x.RightTime = -1, -1
	}
	if x.KeyTime < 0 {
		d.rangeBounds(x)
	}
	if x.KeyTime >= 0 {
		if c := timeColumn(x.LeftKeys[x.KeyTime]); c != nil && isMark(x.Left, c.Index) {
			x.LeftTime = c.Index
		}
		if c := timeColumn(x.RightKeys[x.KeyTime]); c != nil && isMark(x.Right, c.Index) {
			x.RightTime = c.Index
		}
	}
	d.joinMarks(x)
	x.P.AppendOnly = d.joinAppendOnly(x)
	x.P.Keys = joinKeySets(x)
	x.P.State = d.joinState(x)
}

// forGood says that any row of an input may change at any time, as those of a table do.
func forGood(p *plan.Props) bool { return !p.AppendOnly && len(p.WatermarkCols) == 0 }

func firstMark(p *plan.Props) int {
	if len(p.WatermarkCols) == 0 {
		return -1
	}
	return p.WatermarkCols[0]
}

// keyTime is case A: a key pair of which either side carries a watermark. A side that can change rows at or below the
// watermark, such as a table, can't be judged by it.
func (d *deriver) keyTime(x *plan.Join) int {
	judged := func(side plan.Node, key plan.Expr) bool {
		return marked(key, side) || side.Props().AppendOnly && d.view && !readsView(side)
	}
	for pass := 0; pass < 2; pass++ {
		for i := range x.LeftKeys {
			l, r := marked(x.LeftKeys[i], x.Left), marked(x.RightKeys[i], x.Right)
			if pass == 0 && !l || pass == 1 && !r {
				continue
			}
			if judged(x.Left, x.LeftKeys[i]) && judged(x.Right, x.RightKeys[i]) {
				return i
			}
		}
	}
	return -1
}

// readsView says whether a materialized view is beneath n. Its rows are judged by the watermark only where their time carries it: a
// view that is made later gets the others as contents, at once, and would take what was late.
func readsView(n plan.Node) bool {
	if s, ok := n.(*plan.Scan); ok {
		return s.Rel.Kind == catalog.MatView
	}
	return slices.ContainsFunc(n.Inputs(), readsView)
}

// rangeBounds is case B: conditions that relate the event times of both sides bound the state of one or both.
func (d *deriver) rangeBounds(x *plan.Join) {
	k := width(x.Left)
	terms := &timeTerms{left: x.Left, right: x.Right, k: k, utc: d.utc()}
	gaps := timeGaps{}
	for _, c := range conjuncts(x.Residual) {
		call, op := isOp(c, "<", "<=", ">", ">=")
		if call == nil {
			continue
		}
		a, ok := terms.sum(call.Args[0])
		b, ok2 := terms.sum(call.Args[1])
		if !ok || !ok2 {
			continue
		}
		if op == ">" || op == ">=" {
			a, b = b, a
		}
		a, b, ok = balance(a, b)
		// Now a < b or a <= b: time_a + offset_a < time_b + offset_b.
		if !ok || (a.col < k) == (b.col < k) {
			continue
		}
		off := a.offset - b.offset
		orEqual := op == "<=" || op == ">="
		x.NeverMatches = gaps.narrow(a.col, b.col, k, off, orEqual) || x.NeverMatches
		if orEqual {
			off = floorMillis(off) - 1000
		} else {
			off = floorMillis(off)
		}
		// The side on the greater end is bounded by the watermark of the other.
		if b.col < k {
			x.LeftState = tighter(x.LeftState, off)
			x.LeftTime, x.RightTime = b.col, a.col-k
		} else {
			x.RightState = tighter(x.RightState, off)
			x.RightTime, x.LeftTime = b.col-k, a.col
		}
	}
}

// timeGaps has, for pairs of a left and a right event time, the least and the greatest that left - right can be by the
// conditions read so far, in microseconds.
type timeGaps map[[2]int][2]int64

// narrow takes in time_b - time_a > off, or >= with orEqual, where the columns below k are the left ones. It says whether no
// difference is left that meets all conditions on that pair.
func (g timeGaps) narrow(a, b, k int, off int64, orEqual bool) bool {
	if !orEqual {
		off++
	}
	pair := [2]int{min(a, b), max(a, b)}
	gap, ok := g[pair]
	if !ok {
		gap = [2]int64{math.MinInt64, math.MaxInt64}
	}
	if b < k {
		gap[0] = max(gap[0], off)
	} else {
		gap[1] = min(gap[1], -off)
	}
	g[pair] = gap
	return gap[0] > gap[1]
}

// tighter keeps the least bound, which is the safe one (reference 5.3).
func tighter(s *plan.StateBound, off int64) *plan.StateBound {
	if s == nil || off < s.OffsetMicros {
		return &plan.StateBound{OffsetMicros: off}
	}
	return s
}

// floorMillis rounds down to whole milliseconds, in which watermarks are counted.
func floorMillis(us int64) int64 {
	ms := us / 1000
	if us%1000 < 0 {
		ms--
	}
	return ms * 1000
}

// utc says whether the session reads timestamps as UTC, so that casts between timestamp and timestamptz change nothing.
func (d *deriver) utc() bool {
	loc := d.b.o.env().Location
	return loc == nil || loc == time.UTC || loc.String() == "UTC"
}

// timeTerms reads expressions over both sides of a join as an event time plus a constant.
type timeTerms struct {
	left, right plan.Node
	k           int
	utc         bool
}

// timeSum is a watermark-carrying column less another, -1 for none, plus microseconds.
type timeSum struct {
	col, less int
	offset    int64
}

// balance moves what is subtracted on one side of a comparison to the other; ok is false unless each has one column then.
func balance(a, b timeSum) (timeSum, timeSum, bool) {
	move := func(to *timeSum, col int) bool {
		if col >= 0 && to.col >= 0 {
			return false
		}
		to.col = max(to.col, col)
		return true
	}
	ok := move(&b, a.less) && move(&a, b.less)
	return a, b, ok && a.col >= 0 && b.col >= 0
}

func (t *timeTerms) sum(e plan.Expr) (timeSum, bool) {
	switch x := e.(type) {
	case *plan.Col, *plan.WindowField:
		c := timeColumn(e)
		if c == nil {
			return timeSum{}, false
		}
		side, i := t.left, c.Index
		if i >= t.k {
			side, i = t.right, i-t.k
		}
		if !isMark(side, i) {
			return timeSum{}, false
		}
		return timeSum{col: c.Index, less: -1}, true
	case *plan.Const:
		us, ok := constMicros(x)
		return timeSum{col: -1, less: -1, offset: us}, ok
	case *plan.Call:
		return t.call(x)
	}
	return timeSum{}, false
}

func (t *timeTerms) call(x *plan.Call) (timeSum, bool) {
	if len(x.Args) == 1 {
		from, to := x.Args[0].Type().Kind, x.Typ.Kind
		switch {
		case x.Fn.Name == "window_time":
			s, ok := t.windowTime(x)
			return s, ok
		case x.Fn.Name != "cast" || !from.IsTime() || !to.IsTime() || to == types.Date || x.Typ.Mod != 0:
			return timeSum{}, false
		case from == types.TimestampTZ != (to == types.TimestampTZ) && !t.utc:
			return timeSum{}, false
		}
		return t.sum(x.Args[0])
	}
	call, op := isOp(x, "+", "-")
	if call == nil || len(x.Args) != 2 {
		return timeSum{}, false
	}
	a, ok := t.sum(x.Args[0])
	b, ok2 := t.sum(x.Args[1])
	switch {
	case !ok || !ok2 || a.less >= 0 || b.less >= 0:
		return timeSum{}, false
	case op == "-" && b.col >= 0:
		if a.col < 0 || x.Typ.Kind != types.Interval {
			return timeSum{}, false
		}
		return timeSum{col: a.col, less: b.col, offset: a.offset - b.offset}, true
	case a.col >= 0 && b.col >= 0:
		return timeSum{}, false
	}
	out := timeSum{col: max(a.col, b.col), less: -1, offset: a.offset + b.offset}
	if op == "-" {
		out.offset = a.offset - b.offset
	}
	if dateArithmetic(x) {
		// date + integer counts days.
		out.offset = a.offset + b.offset*dayMicros
		if op == "-" {
			out.offset = a.offset - b.offset*dayMicros
		}
	}
	return out, true
}

func dateArithmetic(x *plan.Call) bool {
	return x.Args[0].Type().Kind == types.Date && x.Args[1].Type().Kind.IsInt()
}

// windowTime is the end of a marked window, less a microsecond. Its watermark is that of the end.
func (t *timeTerms) windowTime(x *plan.Call) (timeSum, bool) {
	c, ok := x.Args[0].(*plan.Col)
	if !ok {
		return timeSum{}, false
	}
	s, ok := t.sum(c)
	s.offset--
	return s, ok
}

func constMicros(c *plan.Const) (int64, bool) {
	if c.Val.Null {
		return 0, false
	}
	switch c.Typ.Kind {
	case types.Interval:
		months, days, us := types.IntervalParts(c.Val.I, c.Val.J)
		sum, ok := daysMicros(days, us)
		return sum, ok && months == 0
	case types.Int2, types.Int4, types.Int8:
		return c.Val.I, true
	}
	return 0, false
}

// joinMarks finds the output columns that keep a watermark: the event time of a side whose state is bounded.
func (d *deriver) joinMarks(x *plan.Join) {
	k := width(x.Left)
	rightShown := x.Kind != plan.Semi && x.Kind != plan.Anti
	var marks []int
	if x.KeyTime >= 0 {
		if c, ok := x.LeftKeys[x.KeyTime].(*plan.Col); ok {
			marks = append(marks, c.Index)
		}
		if c, ok := x.RightKeys[x.KeyTime].(*plan.Col); ok && rightShown {
			marks = append(marks, k+c.Index)
		}
	} else {
		if x.LeftState != nil {
			marks = append(marks, x.LeftTime)
		}
		if x.RightState != nil && rightShown {
			marks = append(marks, k+x.RightTime)
		}
	}
	x.P.WatermarkCols = marks
}

// boundedSide says whether the state of the left or right side is bounded by a watermark.
func boundedSide(x *plan.Join, left bool) bool {
	if x.KeyTime >= 0 {
		return true
	}
	if left {
		return x.LeftState != nil
	}
	return x.RightState != nil
}

func (d *deriver) joinAppendOnly(x *plan.Join) bool {
	both := x.Left.Props().AppendOnly && x.Right.Props().AppendOnly
	switch {
	case !both:
		return false
	case x.Kind == plan.Inner, x.Kind == plan.Semi:
		return true
	case !d.view || d.mode != catalog.Append:
		return false
	}
	return outerFinal(x)
}

// outerFinal says whether rows without a match of an outer or anti join become final some time (reference 5.2).
func outerFinal(x *plan.Join) bool {
	switch x.Kind {
	case plan.Left, plan.Anti, plan.Semi:
		return boundedSide(x, true) && !x.NullAware
	case plan.Right:
		return boundedSide(x, false)
	case plan.Full:
		return boundedSide(x, true) || boundedSide(x, false)
	}
	return true
}

// joinKeySets keeps the keys of a side whose rows can't be multiplied by the other.
func joinKeySets(x *plan.Join) [][]int {
	l, r := x.Left.Props().Keys, x.Right.Props().Keys
	if x.Kind == plan.Semi || x.Kind == plan.Anti {
		return l
	}
	var out [][]int
	k := width(x.Left)
	if (x.Kind == plan.Inner || x.Kind == plan.Left) && (x.Single || uniqueOn(r, x.RightKeys)) {
		out = append(out, l...)
	}
	if (x.Kind == plan.Inner || x.Kind == plan.Right) && uniqueOn(l, x.LeftKeys) {
		for _, key := range r {
			m := make([]int, len(key))
			for i, c := range key {
				m[i] = c + k
			}
			out = append(out, m)
		}
	}
	if len(out) == 0 && len(l) > 0 && len(r) > 0 && x.Kind == plan.Inner {
		m := append([]int{}, l[0]...)
		for _, c := range r[0] {
			m = append(m, c+k)
		}
		out = append(out, m)
	}
	return out
}

// uniqueOn says whether the join keys hold one of the key sets.
func uniqueOn(keys [][]int, on []plan.Expr) bool {
	for _, key := range keys {
		all := true
		for _, c := range key {
			found := false
			for _, e := range on {
				col, ok := e.(*plan.Col)
				found = found || ok && col.Index == c
			}
			all = all && found
		}
		if all {
			return true
		}
	}
	return false
}

func (d *deriver) joinState(x *plan.Join) *plan.Bound {
	if x.KeyTime >= 0 {
		return &plan.Bound{Bounded: true, By: "watermark on join key " + exprText(x.LeftKeys[x.KeyTime], columns(x.Left))}
	}
	_, lt := tablesOnly(x.Left)
	_, rt := tablesOnly(x.Right)
	lb, rb := x.LeftState != nil || lt || oneRow(x.Left), x.RightState != nil || rt || oneRow(x.Right)
	cols := joinCols(columns(x.Left), columns(x.Right)...)
	switch {
	case lb && rb && (x.LeftState != nil || x.RightState != nil):
		by := "range condition on "
		if x.LeftState != nil {
			by += cols[x.LeftTime].Name
		}
		if x.RightState != nil {
			if x.LeftState != nil {
				by += " and "
			}
			by += cols[width(x.Left)+x.RightTime].Name
		}
		return &plan.Bound{Bounded: true, By: by}
	case lb && rb:
		return d.orTables(x, "one row")
	case lb || rb:
		side := "right"
		if rb {
			side = "left"
		}
		by := "the " + side + " side is kept for good: neither a join key nor a range condition with a watermark bounds it"
		if x.Kind == plan.Full { // as Spark takes it (reference 5.2)
			by += "; in append mode its rows without a match never come out"
		}
		return &plan.Bound{By: by}
	}
	return &plan.Bound{By: "both sides are kept for good: neither a join key nor a range condition with a watermark bounds them"}
}

func oneRow(n plan.Node) bool {
	for _, k := range n.Props().Keys {
		if len(k) == 0 {
			return true
		}
	}
	return false
}
