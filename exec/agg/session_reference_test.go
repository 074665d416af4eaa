package agg

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// sessionReference computes all sessions of a key from all its rows in state, every epoch.
type sessionReference struct {
	mode   catalog.OutputMode
	rows   map[string][]live
	eval   func(rows [][]string) string
	wm     dataflow.Watermark
	late   int
	closes bool
}

func micros(text string) int64 { return lit(tTime, text).(*plan.Const).Val.I }

func spanOf(row []string) (t, e int64) {
	t = micros(row[1])
	ms, _ := strconv.ParseInt(strings.TrimSuffix(row[2], " milliseconds"), 10, 64)
	return t, t + ms*1000
}

// sessionText is a session's row and its bounds.
type sessionText struct {
	start, end int64
	text       string
}

func (r *sessionReference) sessions(key string) []sessionText {
	rows := r.rows[key]
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool {
		a, _ := spanOf(rows[order[i]].row)
		b, _ := spanOf(rows[order[j]].row)
		return a < b
	})
	var out []sessionText
	for i := 0; i < len(order); {
		start, end := spanOf(rows[order[i]].row)
		var members []int
		for ; i < len(order); i++ {
			t, e := spanOf(rows[order[i]].row)
			if t > end {
				break
			}
			end = max(end, e)
			members = append(members, order[i])
		}
		sort.Ints(members) // arrival
		var in [][]string
		for _, m := range members {
			for n := rows[m].n; n > 0; n-- {
				in = append(in, rows[m].row)
			}
		}
		out = append(out, sessionText{start, end, fmt.Sprintf("%s|%s|%s", windowText(start, end), key, r.eval(in))})
	}
	return out
}

func (r *sessionReference) epoch(after dataflow.Watermark, final bool, rows []change) []string {
	judged := r.closes && !final && r.mode != catalog.Complete
	before := map[string][]sessionText{}
	for _, c := range rows {
		_, e := spanOf(c.row)
		if judged && r.wm.Late(e) {
			r.late += int(max(c.w, -c.w))
			continue
		}
		k := c.row[0]
		if _, ok := before[k]; !ok {
			before[k] = r.sessions(k)
		}
		r.rows[k] = addLive(r.rows[k], c)
	}
	var out []string
	if final || r.mode != catalog.Append {
		for k, old := range before {
			out = append(out, difference(old, r.sessions(k))...)
		}
	}
	if judged {
		for k := range r.rows {
			for _, s := range r.sessions(k) {
				if !after.Late(s.end) {
					continue
				}
				if r.mode == catalog.Append {
					out = append(out, "+1 "+s.text)
				}
				var kept []live
				for _, l := range r.rows[k] {
					if t, _ := spanOf(l.row); t < s.start || t >= s.end {
						kept = append(kept, l)
					}
				}
				r.rows[k] = kept
			}
		}
	}
	r.wm = after
	return out
}

func difference(old, now []sessionText) (out []string) {
	w := map[string]int{}
	for _, s := range old {
		w[s.text]--
	}
	for _, s := range now {
		w[s.text]++
	}
	for t, n := range w {
		if n != 0 {
			out = append(out, fmt.Sprintf("%+d %s", n, t))
		}
	}
	return out
}

func TestSessionsAgainstReference(t *testing.T) {
	for seed := uint64(0); seed < 300; seed++ {
		r := rand.New(rand.NewPCG(seed, 9))
		mode := []catalog.OutputMode{catalog.Update, catalog.Append, catalog.Complete}[r.IntN(3)]
		appendOnly := r.IntN(3) > 0
		arrival := appendOnly && r.IntN(2) == 0
		final := r.IntN(10) == 0
		n := sessions(appendOnly, mode, func(s plan.Node) []plan.Agg {
			aggs := []plan.Agg{call("count"), call("sum", col(s, 3)), call("max", col(s, 3))}
			if arrival {
				aggs = append(aggs, call("array_agg", col(s, 3)))
			}
			return aggs
		})
		ref := &sessionReference{mode: mode, rows: map[string][]live{}, wm: none, closes: true, eval: func(rows [][]string) string {
			v := column(rows, 3)
			out := fmt.Sprintf("%d|%s|%s", len(rows), sumInts(v), least(tInt8, v, -1))
			if arrival {
				out += "|" + array(all(rows, 3))
			}
			return out
		}}
		runSessions(t, seed, r, newHarness(t, n), ref, []string{"a", "b", "NULL"}, appendOnly, final)
	}
}

// TestSessionsByKeyType has keys of which each type is kept in its own way, wide sums, and, with one key, many sessions of it at once.
func TestSessionsByKeyType(t *testing.T) {
	for seed := uint64(0); seed < 200; seed++ {
		r := rand.New(rand.NewPCG(seed, 10))
		mode := []catalog.OutputMode{catalog.Update, catalog.Append}[r.IntN(2)]
		typ, keys := tInt8, []string{"-7", "12", "NULL"}
		switch r.IntN(4) {
		case 0:
			typ, keys = tNumeric, []string{"1.50", "-2", "NULL"}
		case 1:
			keys = keys[:1]
		}
		n := sessionsBy(typ, true, mode, func(s plan.Node) []plan.Agg {
			return []plan.Agg{call("count"), call("sum", col(s, 3)), call("max", col(s, 0))}
		})
		ref := &sessionReference{mode: mode, rows: map[string][]live{}, wm: none, closes: true, eval: func(rows [][]string) string {
			return fmt.Sprintf("%d|%s|%s", len(rows), sumInts(column(rows, 3)), least(typ, column(rows, 0), -1))
		}}
		runSessions(t, seed, r, newHarness(t, n), ref, keys, true, false)
	}
}

func runSessions(t *testing.T, seed uint64, r *rand.Rand, h *harness, ref *sessionReference, keys []string, appendOnly, final bool) {
	t.Helper()
	base := int64(watermark("10:00:00"))
	now := base
	wm := none
	var have []change
	for e := 0; e < 12; e++ {
		var rows []change
		for i := r.IntN(14); i > 0; i-- {
			if !appendOnly && len(have) > 0 && r.IntN(3) == 0 {
				k := r.IntN(len(have))
				rows = append(rows, change{have[k].row, -have[k].w})
				have = append(have[:k], have[k+1:]...)
				continue
			}
			at := now + (r.Int64N(40)-20)*1000
			row := []string{keys[r.IntN(len(keys))], types.Format(tTime, types.IntDatum(at), nil),
				fmt.Sprintf("%d milliseconds", 1+r.IntN(5)), []string{"1", "2", "NULL", "-4"}[r.IntN(4)]}
			c := change{row, 1}
			rows = append(rows, c)
			if _, end := spanOf(row); ref.mode == catalog.Complete || !wm.Late(end) {
				have = append(have, c)
			}
		}
		if r.IntN(2) == 0 {
			now += r.Int64N(12) * 1000
			wm = max(wm, dataflow.Watermark(now-8000))
		}
		h.size = 1 + r.IntN(8)
		got := sorted(h.epoch(wm, final, rows...))
		exp := sorted(ref.epoch(wm, final, rows))
		if strings.Join(got, "\n") != strings.Join(exp, "\n") {
			t.Fatalf("seed %d, epoch %d, mode %v, append-only %v:\ngot\n\t%s\nwant\n\t%s", seed, e, ref.mode, appendOnly,
				strings.Join(got, "\n\t"), strings.Join(exp, "\n\t"))
		}
		open := 0
		for k := range ref.rows {
			open += len(ref.sessions(k))
		}
		if st := h.stats(); int(st.RowsTotal) != open || int(h.late+st.RowsDroppedLate) != ref.late {
			t.Fatalf("seed %d, epoch %d: %d sessions and %d late rows, want %d and %d", seed, e, st.RowsTotal, st.RowsDroppedLate, open, ref.late)
		}
		if final {
			return
		}
		if r.IntN(3) == 0 {
			h.checkpoint(r)
		}
	}
}
