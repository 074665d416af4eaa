package agg

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// The columns of random input.
const (
	cWindow = iota
	cInt
	cText
	cValue
	cFloat
	cWord
	cNumeric
	cFlag
)

var referenceTypes = []types.Type{tWindow, tInt8, tText, tInt8, tFloat, tText, tNumeric, tBool}

// live is a row of a group in order of arrival, n times.
type live struct {
	row []string
	n   int64
}

// naive is an aggregate from its definition, over the rows of a group.
type naive struct {
	call plan.Agg
	eval func(rows [][]string) string
}

// column gives the values of a column that are not NULL.
func column(rows [][]string, c int) (out []string) {
	for _, r := range rows {
		if r[c] != "NULL" {
			out = append(out, r[c])
		}
	}
	return out
}

func orNull(none bool, s func() string) string {
	if none {
		return "NULL"
	}
	return s()
}

func sumInts(xs []string) string {
	return orNull(len(xs) == 0, func() string {
		z := new(big.Int)
		for _, x := range xs {
			i, _ := new(big.Int).SetString(x, 10)
			z.Add(z, i)
		}
		return z.String()
	})
}

func distinct(xs []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, x := range xs {
		if !seen[x] {
			seen[x] = true
			out = append(out, x)
		}
	}
	return out
}

func value(t types.Type, text string) types.Datum {
	if text == "NULL" {
		return types.NullDatum
	}
	return lit(t, text).(*plan.Const).Val
}

// byType sorts values of a type.
func byType(t types.Type, xs []string) []string {
	xs = append([]string(nil), xs...)
	sort.SliceStable(xs, func(i, j int) bool {
		return types.Compare(t, value(t, xs[i]), value(t, xs[j])) < 0
	})
	return xs
}

func naives(s plan.Node, appendOnly bool) []naive {
	filtered := call("count")
	filtered.Filter = col(s, cFlag)
	list := []naive{
		{call("count"), func(r [][]string) string { return fmt.Sprint(len(r)) }},
		{call("count", col(s, cValue)), func(r [][]string) string { return fmt.Sprint(len(column(r, cValue))) }},
		{call("sum", col(s, cValue)), func(r [][]string) string { return sumInts(column(r, cValue)) }},
		{call("min", col(s, cValue)), func(r [][]string) string { return least(tInt8, column(r, cValue), 0) }},
		{call("max", col(s, cValue)), func(r [][]string) string { return least(tInt8, column(r, cValue), -1) }},
		{call("max", col(s, cWord)), func(r [][]string) string { return least(tText, column(r, cWord), -1) }},
		{call("min", col(s, cFloat)), func(r [][]string) string { return least(tFloat, column(r, cFloat), 0) }},
		{call("sum", col(s, cFloat)), func(r [][]string) string { return sumFloats(column(r, cFloat)) }},
		{call("sum", col(s, cNumeric)), func(r [][]string) string { return sumNumerics(column(r, cNumeric)) }},
		{call("distinct count", col(s, cValue)), func(r [][]string) string { return fmt.Sprint(len(distinct(column(r, cValue)))) }},
		{call("distinct sum", col(s, cValue)), func(r [][]string) string { return sumInts(distinct(column(r, cValue))) }},
		{call("approx_count_distinct", col(s, cWord)), func(r [][]string) string { return fmt.Sprint(len(distinct(column(r, cWord)))) }},
		{call("bool_and", col(s, cFlag)), func(r [][]string) string {
			f := column(r, cFlag)
			return orNull(len(f) == 0, func() string {
				return map[bool]string{true: "t", false: "f"}[!strings.Contains(strings.Join(f, ""), "f")]
			})
		}},
		{filtered, func(r [][]string) string {
			return fmt.Sprint(strings.Count(strings.Join(column(r, cFlag), ""), "t"))
		}},
		{ordered("percentile_disc", col(s, cValue), false, lit(tFloat, "0.5")), func(r [][]string) string {
			v := byType(tInt8, column(r, cValue))
			return orNull(len(v) == 0, func() string { return v[(len(v)+1)/2-1] })
		}},
		{call("distinct array_agg", col(s, cValue)), func(r [][]string) string {
			v := byType(tInt8, distinct(all(r, cValue)))
			return array(v)
		}},
	}
	if appendOnly {
		list = append(list, naive{call("array_agg", col(s, cValue)), func(r [][]string) string { return array(all(r, cValue)) }})
	} else {
		a := call("array_agg", col(s, cValue))
		a.OrderBy = []plan.SortKey{{X: col(s, cValue), Desc: true, NullsFirst: true}}
		list = append(list, naive{a, func(r [][]string) string {
			v := byType(tInt8, all(r, cValue))
			for i, j := 0, len(v)-1; i < j; i, j = i+1, j-1 {
				v[i], v[j] = v[j], v[i]
			}
			return array(v)
		}})
	}
	return list
}

func array(xs []string) string {
	return orNull(len(xs) == 0, func() string { return "{" + strings.Join(xs, ",") + "}" })
}

func all(rows [][]string, c int) (out []string) {
	for _, r := range rows {
		out = append(out, r[c])
	}
	return out
}

// least gives the i-th of the sorted values, from the end for -1.
func least(t types.Type, xs []string, i int) string {
	xs = byType(t, xs)
	return orNull(len(xs) == 0, func() string { return xs[(i+len(xs))%len(xs)] })
}

func sumFloats(xs []string) string {
	return orNull(len(xs) == 0, func() string {
		var fs []float64
		for _, x := range xs {
			fs = append(fs, lit(tFloat, x).(*plan.Const).Val.F)
		}
		f, _ := bigSum(fs).Float64()
		return types.Format(tFloat, types.FloatDatum(f), nil)
	})
}

func sumNumerics(xs []string) string {
	return orNull(len(xs) == 0, func() string {
		z := types.FromInt64(0)
		for _, x := range xs {
			n, _ := types.NumParse(x)
			z = z.Add(n)
		}
		return z.String()
	})
}

// reference is the slow operator: it keeps every row and computes whole groups.
type reference struct {
	keys   []int // columns
	window bool
	mode   catalog.OutputMode
	aggs   []naive
	groups map[string]*refGroup
	global bool
	wm     dataflow.Watermark
	late   int
}

type refGroup struct {
	key  []string
	end  int64
	rows []live
}

// text is the row of a group, "" for none.
func (r *reference) text(g *refGroup) string {
	if g == nil {
		return ""
	}
	var rows [][]string
	for _, l := range g.rows {
		for i := int64(0); i < l.n; i++ {
			rows = append(rows, l.row)
		}
	}
	if len(rows) == 0 && !r.global {
		return ""
	}
	out := append([]string(nil), g.key...)
	for _, a := range r.aggs {
		out = append(out, a.eval(rows))
	}
	return strings.Join(out, "|")
}

func windowEnd(s string) (end int64) {
	var lo int64
	fmt.Sscanf(s, "%d-%d", &lo, &end)
	return end
}

func (r *reference) epoch(after dataflow.Watermark, final bool, rows []change) []string {
	judged := r.window && !final && r.mode != catalog.Complete
	before := map[string]string{}
	var order []string
	touch := func(k string) {
		if _, ok := before[k]; !ok {
			before[k] = r.text(r.groups[k])
			if g := r.groups[k]; g != nil && len(g.rows) == 0 && !r.global {
				before[k] = ""
			}
			order = append(order, k)
		}
	}
	if r.global {
		touch("")
		if r.groups[""] == nil {
			r.groups[""] = &refGroup{}
		}
	}
	for _, c := range rows {
		g := refGroup{}
		var id []string
		for _, k := range r.keys {
			v := c.row[k]
			if k == cWindow {
				g.end = windowEnd(v)
				var lo int64
				fmt.Sscanf(v, "%d-", &lo)
				v = windowText(lo, g.end)
			}
			g.key = append(g.key, v)
			id = append(id, v)
		}
		if judged && r.wm.Late(g.end) {
			r.late += int(max(c.w, -c.w))
			continue
		}
		k := strings.Join(id, "|")
		touch(k)
		if r.groups[k] == nil {
			r.groups[k] = &g
		}
		x := r.groups[k]
		x.rows = addLive(x.rows, c)
	}
	var out []string
	emits := final || r.mode != catalog.Append || !r.window
	for _, k := range order {
		now := r.text(r.groups[k])
		if emits && before[k] != now {
			if before[k] != "" {
				out = append(out, "-1 "+before[k])
			}
			if now != "" {
				out = append(out, "+1 "+now)
			}
		}
		if len(r.groups[k].rows) == 0 && !r.global {
			delete(r.groups, k)
		}
	}
	if judged {
		for k, g := range r.groups {
			if after.Late(g.end) {
				if r.mode == catalog.Append {
					out = append(out, "+1 "+r.text(g))
				}
				delete(r.groups, k)
			}
		}
	}
	r.wm = after
	return out
}

// addLive adds a change; a removal takes the row that came last.
func addLive(rows []live, c change) []live {
	if c.w > 0 {
		return append(rows, live{c.row, c.w})
	}
	left := -c.w
	for i := len(rows) - 1; i >= 0 && left > 0; i-- {
		if strings.Join(rows[i].row, "|") == strings.Join(c.row, "|") {
			n := min(left, rows[i].n)
			rows[i].n -= n
			left -= n
			if rows[i].n == 0 {
				rows = append(rows[:i:i], rows[i+1:]...)
			}
		}
	}
	return rows
}

// randomRow makes a row whose window is around now.
func randomRow(r *rand.Rand, now int64) []string {
	pick := func(xs ...string) string { return xs[r.IntN(len(xs))] }
	end := (now/10 + r.Int64N(5) - 2) * 10
	return []string{
		fmt.Sprintf("%d-%d", end-10, end),
		pick("1", "2", "NULL", "-5", "3"),
		pick("a", "b", "", "NULL"),
		pick("NULL", "1", "2", "3", "-7", "9223372036854775807", "-9223372036854775808"),
		pick("NULL", "0.1", "1e+20", "-1e+20", "3", "1e-300", "1e+300"),
		pick("NULL", "x", "y", "zz", ""),
		pick("NULL", "1.50", "2", "-3.125", "1e30"),
		pick("NULL", "t", "f"),
	}
}

func TestAgainstReference(t *testing.T) {
	modes := []catalog.OutputMode{catalog.Update, catalog.Append, catalog.Complete}
	keySets := [][]int{{}, {cInt}, {cText}, {cInt, cText}, {cWindow}, {cWindow, cInt}, {cText, cWindow}, {cWindow, cInt, cText}}
	for seed := uint64(0); seed < 400; seed++ {
		r := rand.New(rand.NewPCG(seed, 7))
		keys := keySets[seed%8]
		mode := modes[r.IntN(3)]
		event := -1
		var windowed bool
		for i, k := range keys {
			if k == cWindow {
				event, windowed = i, true
			}
		}
		if mode == catalog.Append && !windowed {
			mode = catalog.Update
		}
		appendOnly := mode == catalog.Append || r.IntN(2) == 0
		final := r.IntN(10) == 0
		s := newSource(appendOnly, referenceTypes...)
		aggs := naives(s, appendOnly)
		// A few of them at a time, so that sharing differs.
		r.Shuffle(len(aggs), func(i, j int) { aggs[i], aggs[j] = aggs[j], aggs[i] })
		aggs = aggs[:1+r.IntN(len(aggs))]
		var calls []plan.Agg
		for _, a := range aggs {
			calls = append(calls, a.call)
		}
		var exprs []plan.Expr
		for _, k := range keys {
			exprs = append(exprs, col(s, k))
		}
		h := newHarness(t, aggregate(s, mode, event, exprs, calls...))
		ref := &reference{keys: keys, window: windowed, mode: mode, aggs: aggs, groups: map[string]*refGroup{}, global: len(keys) == 0, wm: none}
		runReference(t, seed, r, h, ref, appendOnly, final)
	}
}

func runReference(t *testing.T, seed uint64, r *rand.Rand, h *harness, ref *reference, appendOnly, final bool) {
	t.Helper()
	var have []change
	wm := none
	now := int64(100)
	epochs := 12
	if final {
		epochs = 1
	}
	for e := 0; e < epochs; e++ {
		var rows []change
		for i := r.IntN(30); i > 0; i-- {
			if !appendOnly && len(have) > 0 && r.IntN(3) == 0 {
				k := r.IntN(len(have))
				rows = append(rows, change{have[k].row, -have[k].w})
				have = append(have[:k], have[k+1:]...)
				continue
			}
			c := change{randomRow(r, now), 1}
			if r.IntN(8) == 0 {
				c.w = 1 + r.Int64N(3)
			}
			rows = append(rows, c)
			if !wm.Late(windowEnd(c.row[cWindow])) || !ref.window || ref.mode == catalog.Complete {
				have = append(have, c)
			}
		}
		if r.IntN(2) == 0 {
			now += r.Int64N(30)
			wm = max(wm, dataflow.Watermark(now-10))
		}
		h.size = 1 + r.IntN(12)
		got := sorted(h.epoch(wm, final, rows...))
		exp := sorted(ref.epoch(wm, final, rows))
		if strings.Join(got, "\n") != strings.Join(exp, "\n") {
			t.Fatalf("seed %d, epoch %d, keys %v, mode %v, append-only %v:\ngot\n\t%s\nwant\n\t%s", seed, e, ref.keys, ref.mode, appendOnly,
				strings.Join(got, "\n\t"), strings.Join(exp, "\n\t"))
		}
		st := h.stats()
		if int(st.RowsTotal) != len(ref.groups) || int(h.late+st.RowsDroppedLate) != ref.late {
			t.Fatalf("seed %d, epoch %d: %d groups and %d late rows, want %d and %d", seed, e, st.RowsTotal, st.RowsDroppedLate, len(ref.groups), ref.late)
		}
		if r.IntN(3) == 0 {
			h.checkpoint(r)
		}
	}
}
