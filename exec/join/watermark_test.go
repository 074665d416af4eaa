package join

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

const second = 1_000_000

var (
	timeType = types.Of(types.Timestamp)
	timedTs  = []types.Type{i8, timeType} // key, time
	timedTs2 = []types.Type{i8, timeType, i8, timeType}
)

// timed is a stream-stream join with a watermark and the meaning of its condition.
type timed struct {
	name    string
	n       plan.Join
	matches func(l, r optest.Row) bool
	bounds  [2]func(w int64) int64 // time at or below which a side's rows are evicted
}

func interval(us int64) plan.Expr {
	return optest.Const(types.Of(types.Interval), types.IntervalDatum(0, 0, us))
}

// rangeJoin is right.time BETWEEN left.time AND left.time + 5 s, with equal keys.
func rangeJoin() timed {
	l, r := optest.Col(timedTs2, 1), optest.Col(timedTs2, 3)
	j := timed{name: "range"}
	j.n = plan.Join{LeftKeys: []plan.Expr{optest.Col(timedTs, 0)}, RightKeys: []plan.Expr{optest.Col(timedTs, 0)}, NullSafe: []bool{false},
		Residual: &plan.And{Args: []plan.Expr{optest.Op(">=", r, l), optest.Op("<=", r, optest.Op("+", l, interval(5*second)))}},
		KeyTime:  -1, LeftTime: 1, RightTime: 1,
		LeftState: &plan.StateBound{OffsetMicros: -5*second - 1000}, RightState: &plan.StateBound{OffsetMicros: -1000}}
	j.matches = func(l, r optest.Row) bool {
		return l[0] != nil && l[0] == r[0] && l[1] != nil && r[1] != nil && r[1].(int) >= l[1].(int) && r[1].(int) <= l[1].(int)+5*second
	}
	j.bounds = [2]func(int64) int64{func(w int64) int64 { return w - 5*second - 1000 }, func(w int64) int64 { return w - 1000 }}
	return j
}

// keyJoin equates key and time.
func keyJoin(residual bool) timed {
	j := timed{name: "key"}
	keys := []plan.Expr{optest.Col(timedTs, 0), optest.Col(timedTs, 1)}
	j.n = plan.Join{LeftKeys: keys, RightKeys: keys, NullSafe: []bool{false, false}, KeyTime: 1, LeftTime: 1, RightTime: 1}
	if residual {
		j.name = "key and residual"
		j.n.Residual = optest.Op("<>", optest.Op("+", optest.Col(timedTs2, 0), optest.Col(timedTs2, 2)), optest.Const(i8, 2))
	}
	j.matches = func(l, r optest.Row) bool {
		return l[0] != nil && l[0] == r[0] && l[1] != nil && l[1] == r[1] && !(residual && l[0].(int) == 1)
	}
	same := func(w int64) int64 { return w }
	j.bounds = [2]func(int64) int64{same, same}
	return j
}

// contents says what a watermarked join must show after an epoch: pairs of rows accepted so far; in append mode unmatched
// rows only once their bound has passed, in update mode at once.
func (j *timed) contents(accepted [2][]optest.Row, w dataflow.Watermark) (z optest.ZSet, stored int64) {
	z = optest.ZSet{}
	evicted := func(side int, r optest.Row) bool {
		if r[0] == nil || r[1] == nil {
			return true // can't match
		}
		return w != dataflow.NoWatermark && int64(r[1].(int)) <= j.bounds[side](int64(w))
	}
	print2 := func(l, r optest.Row) string { return optest.Print(timedTs2, append(append(optest.Row{}, l...), r...)) }
	null := optest.Row{nil, nil}
	for side, rows := range accepted {
		for _, r := range rows {
			if !evicted(side, r) {
				stored++
			}
		}
	}
	settled := j.n.Mode == catalog.Append && j.n.Kind >= plan.Semi // left rows go with their first match
	hasMatch := func(side int, x optest.Row) (any bool) {
		for _, y := range accepted[1-side] {
			if side == 0 && j.matches(x, y) || side == 1 && j.matches(y, x) {
				any = true
			}
		}
		return any
	}
	kind := j.n.Kind
	for side, rows := range accepted {
		for _, r := range rows {
			matched := hasMatch(side, r)
			if settled && side == 0 && matched && !evicted(side, r) {
				stored--
			}
			certain := evicted(side, r) || j.n.Mode == catalog.Update
			switch {
			case matched && side == 0 && kind == plan.Semi, !matched && certain && side == 0 && kind == plan.Anti:
				z.Add(optest.Print(timedTs, r), 1)
			case matched || !certain:
			case side == 0 && (kind == plan.Left || kind == plan.Full):
				z.Add(print2(r, null), 1)
			case side == 1 && (kind == plan.Right || kind == plan.Full):
				z.Add(print2(null, r), 1)
			}
		}
	}
	if kind < plan.Semi {
		for _, l := range accepted[0] {
			for _, r := range accepted[1] {
				if j.matches(l, r) {
					z.Add(print2(l, r), 1)
				}
			}
		}
	}
	return z, stored
}

func late(w dataflow.Watermark, r optest.Row) bool {
	return r[1] != nil && w != dataflow.NoWatermark && int64(r[1].(int)) <= int64(w)
}

// TestWatermark compares joins of streams with a declarative reference after each epoch: what they show, what is in
// state, what was late.
func TestWatermark(t *testing.T) {
	rnd := seeded(t)
	in := dataflow.InputTypes{timedTs, timedTs}
	for _, make := range []func() timed{rangeJoin, func() timed { return keyJoin(false) }, func() timed { return keyJoin(true) }} {
		for _, mode := range []catalog.OutputMode{catalog.Append, catalog.Update} {
			for kind := plan.Inner; kind <= plan.Anti; kind++ {
				j := make()
				t.Run(fmt.Sprint(j.name, mode, kind), func(t *testing.T) {
					j.n.Kind, j.n.Mode = kind, mode
					j.n.Left, j.n.Right = optest.Input(timedTs, true), optest.Input(timedTs, true)
					r := optest.New(t, mustNew(t, &j.n, in), in, rnd)
					runTimed(t, rnd, &j, r)
				})
			}
		}
	}
}

func runTimed(t *testing.T, rnd *rand.Rand, j *timed, r *optest.Runner) {
	before := dataflow.NoWatermark
	var accepted [2][]optest.Row
	lates := optest.ZSet{}
	for e := 0; e < 15; e++ {
		var cs []optest.Change
		for i := rnd.Intn(12); i > 0; i-- {
			row := optest.Row{rnd.Intn(3), (e*2 + rnd.Intn(12)) * second}
			if rnd.Intn(10) == 0 {
				row[0] = nil
			}
			if rnd.Intn(10) == 0 {
				row[1] = nil
			}
			port := rnd.Intn(2)
			cs = append(cs, optest.Change{Port: port, Row: row, W: 1})
			if late(before, row) {
				lates.Add(optest.Print(timedTs, row), 1)
			} else {
				accepted[port] = append(accepted[port], row)
			}
		}
		after := dataflow.Watermark((e*2 + rnd.Intn(3)) * second)
		if e < 2 {
			after = dataflow.NoWatermark
		}
		if e == 14 {
			after = 1000 * second
		}
		after = max(after, before)
		if err := r.Epoch(cs, after, 0); err != nil {
			t.Fatal(err)
		}
		before = after
		want, stored := j.contents(accepted, after)
		optest.Equal(t, fmt.Sprintf("epoch %d", e), r.Total, want)
		optest.Equal(t, "late", r.Late, lates)
		if j.n.Mode == catalog.Append && r.Negative {
			t.Fatal("an append view has a deletion")
		}
		s := r.Op.(dataflow.Stateful).Stats()
		if s.RowsTotal != stored {
			t.Fatalf("epoch %d: %d rows in state, want %d", e, s.RowsTotal, stored)
		}
		if e == 14 && s.RowsTotal != 0 {
			t.Fatalf("%d rows in state after the end", s.RowsTotal)
		}
	}
}

// TestOutputWatermark is V33 of the reference, and the same with a watermark that is not a multiple of the offset.
func TestOutputWatermark(t *testing.T) {
	for _, c := range []struct {
		left, right int64
		in, want    dataflow.Watermark
	}{
		{-1000, -40*second - 1000, 0, -40001 * 1000},
		{-30*second - 1000, -1000, 0, -30001 * 1000},
		{-30*second - 1000, -40*second - 1000, 0, -40001 * 1000},
		{-30*second - 1500, 5, 100 * second, 69998 * 1000},
	} {
		n := &plan.Join{KeyTime: -1, LeftState: &plan.StateBound{OffsetMicros: c.left}, RightState: &plan.StateBound{OffsetMicros: c.right}}
		if got := outputWatermark(n, c.in); got != c.want {
			t.Errorf("%v: %d, want %d", c, got, c.want)
		}
	}
}

// TestWindowKey is V39 and V40 of the reference: outer joins on a window and a value, delay 10 s.
func TestWindowKey(t *testing.T) {
	ts := []types.Type{types.WindowOf(types.Timestamp), i8}
	in := dataflow.InputTypes{ts, ts}
	row := func(port int, values ...int) (cs []optest.Change) {
		for _, v := range values {
			start := int64(v/10*10) * second
			cs = append(cs, optest.Change{Port: port, Row: optest.Row{types.PairDatum(start, start+10*second), v}, W: 1})
		}
		return cs
	}
	const w0, w20 = "0..10000000", "20000000..30000000"
	both := func(w string, v int) string { return fmt.Sprintf("%s|%d|%s|%d", w, v, w, v) }
	for _, kind := range []plan.JoinKind{plan.Left, plan.Full} {
		keys := []plan.Expr{optest.Col(ts, 0), optest.Col(ts, 1)}
		n := &plan.Join{Kind: kind, LeftKeys: keys, RightKeys: keys, NullSafe: []bool{false, false}, KeyTime: 0, LeftTime: 0, RightTime: 0,
			Mode: catalog.Append, Left: optest.Input(ts, true), Right: optest.Input(ts, true)}
		r := optest.New(t, mustNew(t, n, in), in, nil)
		want := optest.ZSet{}
		for i, s := range []struct {
			cs          []optest.Change
			after       dataflow.Watermark
			out         []string
			total, late int64
		}{
			{append(row(0, 1, 2, 3, 4, 5), row(1, 3, 4, 5, 6, 7)...), -5 * second, []string{both(w0, 3), both(w0, 4), both(w0, 5)}, 10, 0},
			{append(row(0, 21), row(1, 22)...), 11 * second, []string{w0 + "|1|NULL|NULL", w0 + "|2|NULL|NULL"}, 2, 0},
			{row(0, 22), 12 * second, []string{both(w20, 22)}, 3, 0},
			{row(0, 1), 12 * second, nil, 3, 1},
			{row(1, 5), 12 * second, nil, 3, 2},
		} {
			if err := r.Epoch(s.cs, s.after, 0); err != nil {
				t.Fatal(err)
			}
			for _, o := range s.out {
				want.Add(o, 1)
			}
			if i == 1 && kind == plan.Full {
				want.Add("NULL|NULL|"+w0+"|6", 1)
				want.Add("NULL|NULL|"+w0+"|7", 1)
			}
			optest.Equal(t, fmt.Sprint(kind, " step ", i), r.Total, want)
			if st := r.Op.(dataflow.Stateful).Stats(); st.RowsTotal != s.total || st.RowsDroppedLate != s.late {
				t.Fatalf("%v step %d: %+v", kind, i, st)
			}
		}
	}
}
