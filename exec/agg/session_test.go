package agg

import (
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// sessions makes a session aggregate over (k, ts, gap, v).
func sessions(appendOnly bool, mode catalog.OutputMode, aggs func(s plan.Node) []plan.Agg) *plan.Aggregate {
	return sessionsBy(tText, appendOnly, mode, aggs)
}

// sessionsBy is sessions with keys of a type.
func sessionsBy(key types.Type, appendOnly bool, mode catalog.OutputMode, aggs func(s plan.Node) []plan.Agg) *plan.Aggregate {
	s := newSource(appendOnly, key, tTime, tSpan, tInt8)
	n := &plan.Aggregate{Input: s, Keys: []plan.Expr{col(s, 0)}, EventKey: -1, Sketch: s.Props().AppendOnly, Mode: mode, Aggs: aggs(s),
		Session: &plan.Session{Time: col(s, 1), Gap: col(s, 2), TimeWatermarked: true}}
	n.P.Columns = []plan.Column{{Type: tWindow}}
	return n
}

func countAndSum(s plan.Node) []plan.Agg { return []plan.Agg{call("count"), call("sum", col(s, 3))} }

func clock(hm string) string { return "2024-03-01 " + hm }

func watermark(hm string) dataflow.Watermark {
	return dataflow.Watermark(lit(tTime, clock(hm)).(*plan.Const).Val.I)
}

// row is an event with a gap of 5 minutes.
func event(k, hm, v string) change { return ins(k, clock(hm), "5 minutes", v) }

func span(a, b string) string {
	return windowText(int64(watermark(a)), int64(watermark(b)))
}

func TestSessionAppend(t *testing.T) {
	for _, appendOnly := range []bool{true, false} {
		h := newHarness(t, sessions(appendOnly, catalog.Append, countAndSum))
		total := func(n int64) {
			t.Helper()
			if st := h.stats(); st.RowsTotal != n {
				t.Errorf("append-only %v: %d sessions in state, want %d", appendOnly, st.RowsTotal, n)
			}
		}
		want(t, "1", h.epoch(watermark("09:54:00"), false, event("u1", "10:00:00", "1"), event("u1", "10:04:00", "2"), event("u2", "10:00:00", "3")))
		total(2)
		want(t, "2", h.epoch(watermark("09:59:00"), false, event("u1", "10:09:00", "4"), event("u2", "10:05:00", "5")))
		total(2)
		want(t, "3", h.epoch(watermark("10:10:00"), false, event("u1", "10:20:00", "6"), event("u1", "10:13:59", "7")),
			"+1 "+span("10:00:00", "10:10:00")+"|u2|2|8")
		total(2)
		want(t, "4", h.epoch(watermark("10:30:00"), false, event("u2", "10:40:00", "8")),
			"+1 "+span("10:00:00", "10:18:59")+"|u1|4|14", "+1 "+span("10:20:00", "10:25:00")+"|u1|1|6")
		total(1)
		want(t, "5", h.epoch(watermark("10:30:00"), false, event("u1", "10:16:00", "9"), event("u1", "10:31:00", "10")))
		total(2)
		want(t, "6", h.epoch(watermark("11:50:00"), false, event("u3", "12:00:00", "11")),
			"+1 "+span("10:31:00", "10:36:00")+"|u1|1|10", "+1 "+span("10:40:00", "10:45:00")+"|u2|1|8")
		total(1)
		if st := h.stats(); st.RowsDroppedLate != 1 || st.Name != "sessionWindowStateStoreSave" {
			t.Errorf("stats %+v", st)
		}
	}
}

func TestSessionBridgeAndClosed(t *testing.T) {
	for _, appendOnly := range []bool{true, false} {
		h := newHarness(t, sessions(appendOnly, catalog.Append, countAndSum))
		h.epoch(watermark("09:58:00"), false, event("u1", "10:00:00", "1"), event("u1", "10:08:00", "2"))
		want(t, "bridge", h.epoch(watermark("10:13:00"), false, event("u1", "10:04:00", "3")), "+1 "+span("10:00:00", "10:13:00")+"|u1|3|6")
		// Touches the closed session, and is not late itself.
		want(t, "beside", h.epoch(watermark("10:13:00"), false, event("u1", "10:12:00", "4"), event("u1", "10:08:00", "5")))
		want(t, "closed", h.epoch(watermark("10:17:00"), false), "+1 "+span("10:12:00", "10:17:00")+"|u1|1|4")
		if st := h.stats(); st.RowsTotal != 0 || st.RowsDroppedLate != 1 {
			t.Errorf("stats %+v", st)
		}
	}
}

func TestSessionUpdate(t *testing.T) {
	for _, appendOnly := range []bool{true, false} {
		h := newHarness(t, sessions(appendOnly, catalog.Update, countAndSum))
		want(t, "first", sorted(h.epoch(none, false, event("a", "10:00:00", "1"), event("a", "10:08:00", "2"))),
			"+1 "+span("10:00:00", "10:05:00")+"|a|1|1", "+1 "+span("10:08:00", "10:13:00")+"|a|1|2")
		want(t, "bridge", sorted(h.epoch(none, false, event("a", "10:04:00", "3"))),
			"+1 "+span("10:00:00", "10:13:00")+"|a|3|6", "-1 "+span("10:00:00", "10:05:00")+"|a|1|1", "-1 "+span("10:08:00", "10:13:00")+"|a|1|2")
		if !appendOnly {
			want(t, "split", sorted(h.epoch(none, false, del("a", clock("10:04:00"), "5 minutes", "3"))),
				"+1 "+span("10:00:00", "10:05:00")+"|a|1|1", "+1 "+span("10:08:00", "10:13:00")+"|a|1|2", "-1 "+span("10:00:00", "10:13:00")+"|a|3|6")
		}
		want(t, "closing is silent", h.epoch(watermark("10:13:00"), false))
		if st := h.stats(); st.RowsTotal != 0 {
			t.Errorf("stats %+v", st)
		}
	}
}

func TestSessionBadRows(t *testing.T) {
	h := newHarness(t, sessions(true, catalog.Append, countAndSum))
	h.epoch(none, false, ins("a", "NULL", "5 minutes", "1"), ins("a", clock("10:00:00"), "0", "1"), ins("a", clock("10:00:00"), "NULL", "1"),
		ins("a", clock("10:00:00"), "-1 day", "1"), ins("b", clock("10:00:00"), "1 month", "1"))
	if st := h.stats(); st.RowsTotal != 1 || st.RowsNullEvent != 1 || len(h.sink.letters) != 3 {
		t.Errorf("stats %+v, letters %v", st, h.sink.letters)
	}
	want(t, "month", h.epoch(watermark("10:00:00")+31*microsPerDay, false),
		"+1 "+windowText(int64(watermark("10:00:00")), int64(watermark("10:00:00"))+31*microsPerDay)+"|b|1|1")
}

func TestSessionOrdered(t *testing.T) {
	n := sessions(true, catalog.Append, func(s plan.Node) []plan.Agg {
		return []plan.Agg{call("array_agg", col(s, 3)), call("distinct count", col(s, 3))}
	})
	h := newHarness(t, n)
	h.epoch(none, false, event("a", "10:08:00", "2"), event("a", "10:00:00", "1"), event("a", "10:00:00", "1"))
	h.epoch(none, false, event("a", "10:04:00", "0"))
	want(t, "arrival", h.epoch(watermark("10:13:00"), false), "+1 "+span("10:00:00", "10:13:00")+"|a|{2,1,1,0}|3")
}

func TestSessionDates(t *testing.T) {
	for _, appendOnly := range []bool{true, false} {
		tDate := types.Of(types.Date)
		s := newSource(appendOnly, tDate)
		n := &plan.Aggregate{Input: s, EventKey: -1, Mode: catalog.Append, Aggs: []plan.Agg{call("count")},
			Session: &plan.Session{Time: col(s, 0), Gap: lit(tSpan, "2 days"), TimeWatermarked: true}}
		n.P.Columns = []plan.Column{{Type: types.WindowOf(types.Date)}}
		h := newHarness(t, n)
		h.epoch(none, false, ins("2024-02-28"), ins("2024-03-01"), ins("2024-03-05"))
		want(t, "closed", h.epoch(watermark("00:00:00")+2*microsPerDay, false),
			"+1 "+types.Format(n.P.Columns[0].Type, types.PairDatum(lit(tDate, "2024-02-28").(*plan.Const).Val.I, lit(tDate, "2024-03-03").(*plan.Const).Val.I), nil)+"|2")
	}
}
