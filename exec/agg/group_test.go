package agg

import (
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

const none = dataflow.NoWatermark

func TestUpdate(t *testing.T) {
	s := newSource(true, tText, tInt8)
	h := newHarness(t, aggregate(s, catalog.Update, -1, []plan.Expr{col(s, 0)},
		call("count"), call("sum", col(s, 1)), call("min", col(s, 1)), call("max", col(s, 1)), call("avg", col(s, 1))))
	want(t, "first", h.epoch(none, false, ins("a", "1"), ins("b", "NULL"), ins("a", "4"), ins("NULL", "9")),
		"+1 a|2|5|1|4|2.5000000000000000", "+1 b|1|NULL|NULL|NULL|NULL", "+1 NULL|1|9|9|9|9.0000000000000000")
	want(t, "second", h.epoch(none, false, ins("b", "-3"), ins("c", "7"), ins("NULL", "9")),
		"-1 b|1|NULL|NULL|NULL|NULL", "+1 b|2|-3|-3|-3|-3.0000000000000000", "+1 c|1|7|7|7|7.0000000000000000",
		"-1 NULL|1|9|9|9|9.0000000000000000", "+1 NULL|2|18|9|9|9.0000000000000000")
	want(t, "quiet", h.epoch(none, false))
	if st := h.stats(); st.RowsTotal != 4 || st.RowsUpdated != 6 || st.Name != "stateStoreSave" {
		t.Errorf("stats %+v", st)
	}
}

func TestDeletions(t *testing.T) {
	s := newSource(false, tInt8, tInt4)
	h := newHarness(t, aggregate(s, catalog.Update, -1, []plan.Expr{col(s, 0)},
		call("count"), call("sum", col(s, 1)), call("min", col(s, 1)), call("max", col(s, 1)), call("distinct count", col(s, 1))))
	want(t, "first", h.epoch(none, false, ins("1", "5"), ins("1", "5"), ins("1", "7"), ins("NULL", "1"), ins("2", "2")),
		"+1 1|3|17|5|7|2", "+1 NULL|1|1|1|1|1", "+1 2|1|2|2|2|1")
	want(t, "second", h.epoch(none, false, del("1", "7"), del("NULL", "1"), del("2", "2"), ins("2", "2")),
		"-1 1|3|17|5|7|2", "+1 1|2|10|5|5|1", "-1 NULL|1|1|1|1|1")
	want(t, "third", h.epoch(none, false, del("1", "5"), del("1", "5"), ins("2", "3"), del("2", "2")),
		"-1 1|2|10|5|5|1", "-1 2|1|2|2|2|1", "+1 2|1|3|3|3|1")
	if st := h.stats(); st.RowsTotal != 1 {
		t.Errorf("stats %+v", st)
	}
}

func TestGlobal(t *testing.T) {
	s := newSource(false, tInt8)
	h := newHarness(t, aggregate(s, catalog.Complete, -1, nil, call("count"), call("sum", col(s, 0))))
	want(t, "empty", h.epoch(none, false), "+1 0|NULL")
	want(t, "quiet", h.epoch(none, false))
	want(t, "first", h.epoch(none, false, ins("3")), "-1 0|NULL", "+1 1|3")
	want(t, "gone", h.epoch(none, false, del("3")), "-1 1|3", "+1 0|NULL")
	if st := h.stats(); st.RowsTotal != 1 {
		t.Errorf("stats %+v", st)
	}
}

func TestWindowAppend(t *testing.T) {
	s := newSource(true, tWindow, tInt8)
	h := newHarness(t, aggregate(s, catalog.Append, 0, []plan.Expr{col(s, 0), col(s, 1)}, call("count")))
	want(t, "none closed", h.epoch(10, false, ins("0-10", "2"), ins("10-20", "1"), ins("0-10", "1"), ins("0-10", "NULL")),
		"+1 "+windowText(0, 10)+"|1|1", "+1 "+windowText(0, 10)+"|2|1", "+1 "+windowText(0, 10)+"|NULL|1")
	want(t, "late", h.epoch(10, false, ins("0-10", "2"), ins("10-20", "1")))
	want(t, "closed", h.epoch(30, false, ins("20-30", "5")), "+1 "+windowText(10, 20)+"|1|2", "+1 "+windowText(20, 30)+"|5|1")
	if st := h.stats(); st.RowsTotal != 0 || st.RowsDroppedLate != 1 || st.RowsRemoved != 5 {
		t.Errorf("stats %+v", st)
	}
	want(t, "late rows", h.sink.late, windowText(0, 10)+"|2 at -9223372036854775808 [0,10)")
}

func TestWindowUpdateAndComplete(t *testing.T) {
	s := newSource(true, tWindow, tText)
	h := newHarness(t, aggregate(s, catalog.Update, 0, []plan.Expr{col(s, 0)}, call("count")))
	want(t, "first", h.epoch(10, false, ins("0-10", "2"), ins("10-20", "1")), "+1 "+windowText(0, 10)+"|1", "+1 "+windowText(10, 20)+"|1")
	want(t, "second", h.epoch(10, false, ins("0-10", "2"), ins("10-20", "1")), "-1 "+windowText(10, 20)+"|1", "+1 "+windowText(10, 20)+"|2")
	if st := h.stats(); st.RowsTotal != 1 || st.RowsDroppedLate != 1 {
		t.Errorf("stats %+v", st)
	}
	h = newHarness(t, aggregate(s, catalog.Complete, 0, []plan.Expr{col(s, 0)}, call("count")))
	h.epoch(10, false, ins("0-10", "2"), ins("10-20", "1"))
	want(t, "complete", h.epoch(30, false, ins("0-10", "2")), "-1 "+windowText(0, 10)+"|1", "+1 "+windowText(0, 10)+"|2")
	if st := h.stats(); st.RowsTotal != 2 || st.RowsDroppedLate != 0 {
		t.Errorf("stats %+v", st)
	}
}

func TestDistinct(t *testing.T) {
	s := newSource(true, tNumeric, tFloat)
	h := newHarness(t, aggregate(s, catalog.Append, -1, []plan.Expr{col(s, 0), col(s, 1)}))
	want(t, "first", h.epoch(none, false, ins("1.0", "-0"), ins("1.00", "0"), ins("NULL", "NaN"), ins("NULL", "NaN")), "+1 1.0|-0", "+1 NULL|NaN")
	want(t, "second", h.epoch(none, false, ins("1.000", "0"), ins("2", "0")), "+1 2|0")
}

func TestOverflowIsALetter(t *testing.T) {
	s := newSource(false, tInt8, tInt4)
	n := aggregate(s, catalog.Update, -1, []plan.Expr{col(s, 0)}, call("sum", col(s, 1)))
	h := newHarness(t, n)
	big := change{[]string{"1", "2147483647"}, 1 << 33}
	h.epoch(none, false, ins("1", "1"))
	want(t, "over", h.epoch(none, false, big), "-1 1|1")
	if len(h.sink.letters) != 1 || h.sink.letters["22003 bigint out of range: 1|NULL"] != 1 {
		t.Errorf("letters %v", h.sink.letters)
	}
	want(t, "still over", h.epoch(none, false, ins("1", "1")))
	big.w = -big.w
	want(t, "back", h.epoch(none, false, big), "+1 1|2")
	if len(h.sink.letters) != 0 {
		t.Errorf("letters %v", h.sink.letters)
	}
}

func TestEventTimeKey(t *testing.T) {
	s := newSource(true, tTime, tText)
	h := newHarness(t, aggregate(s, catalog.Append, 0, []plan.Expr{col(s, 0)}, call("count")))
	t1, t2 := "2024-03-01 10:00:00", "2024-03-01 10:00:01"
	at := func(x string) dataflow.Watermark {
		d := lit(tTime, x).(*plan.Const).Val
		return dataflow.Watermark(d.I)
	}
	want(t, "open", h.epoch(none, false, ins(t1, "a"), ins("NULL", "a"), ins(t2, "b")))
	want(t, "closed", h.epoch(at(t1), false, ins(t1, "a")), "+1 "+t1+"|2")
	want(t, "late", h.epoch(at(t1), false, ins(t1, "a"), ins("NULL", "a")))
	if st := h.stats(); st.RowsTotal != 2 || st.RowsDroppedLate != 1 {
		t.Errorf("stats %+v", st)
	}
	want(t, "final", h.epoch(at(t2), false), "+1 "+t2+"|1")
}

// Windows and event times of dates close by the watermark in microseconds.
func TestDateKeys(t *testing.T) {
	const day = microsPerDay
	for _, typ := range []types.Type{types.WindowOf(types.Date), types.Of(types.Date)} {
		s := newSource(true, typ, tText)
		h := newHarness(t, aggregate(s, catalog.Append, 0, []plan.Expr{col(s, 0)}, call("count")))
		first, second := "10-17", "17-24"
		text := types.Format(typ, types.PairDatum(10, 17), nil)
		if typ.Kind == types.Date {
			first, second = "1970-01-18", "1970-01-25"
			text = first
		}
		want(t, "open", h.epoch(17*day-1000, false, ins(first, "a"), ins(second, "b"), ins(first, "b")))
		h.start() // nothing was written: the state is lost, on purpose
		want(t, "again", h.epoch(17*day-1000, false, ins(first, "a"), ins(second, "b"), ins(first, "b")))
		if err := h.disk.Write(h.space.Freeze()); err != nil {
			t.Fatal(err)
		}
		h.start()
		want(t, "closed", h.epoch(17*day, false), "+1 "+text+"|2")
		h.epoch(17*day, false, ins(first, "a"))
		if st := h.stats(); st.RowsDroppedLate != 1 || st.RowsTotal != 1 {
			t.Errorf("stats %+v", st)
		}
	}
}
