package agg

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// source is a plan node of given columns.
type source struct{ plan.Base }

func (*source) Inputs() []plan.Node { return nil }

func newSource(appendOnly bool, ts ...types.Type) *source {
	s := &source{}
	for i, t := range ts {
		s.P.Columns = append(s.P.Columns, plan.Column{Name: fmt.Sprint("c", i), Type: t})
	}
	s.P.AppendOnly = appendOnly
	return s
}

func col(s plan.Node, i int) plan.Expr {
	return &plan.Col{Index: i, Typ: s.Props().Columns[i].Type, Name: s.Props().Columns[i].Name}
}

func lit(t types.Type, text string) plan.Expr {
	d, err := types.Parse(t, text, nil)
	if err != nil {
		panic(err)
	}
	return &plan.Const{Val: d, Typ: t}
}

// call makes an aggregate call; a leading "distinct " in the name asks for DISTINCT.
func call(name string, args ...plan.Expr) plan.Agg {
	name, distinct := strings.CutPrefix(name, "distinct ")
	for _, f := range fn.Lookup(name) {
		if len(f.Args) != len(args) || f.OrderedSet {
			continue
		}
		ok := true
		for i, a := range f.Args {
			k := args[i].Type().Kind
			switch a.Kind {
			case types.Any, types.AnyElement:
				ok = ok && !(k == types.Array && name == "array_agg")
			case types.AnyArray:
				ok = ok && k == types.Array
			default:
				ok = ok && a.Same(args[i].Type())
			}
		}
		if ok {
			t := f.Result
			switch {
			case t.Kind == types.AnyArray && args[0].Type().Kind != types.Array:
				t = types.ArrayOf(args[0].Type())
			case t.Kind == types.AnyArray, t.Kind == types.AnyElement:
				t = args[0].Type()
			}
			return plan.Agg{Fn: f, Args: args, Typ: t, Distinct: distinct}
		}
	}
	panic("no aggregate " + name + " for " + fmt.Sprint(exprTypes(args)))
}

// ordered makes an ordered-set aggregate over x.
func ordered(name string, x plan.Expr, desc bool, direct ...plan.Expr) plan.Agg {
	for _, f := range fn.Lookup(name) {
		if len(f.Args) != len(direct)+1 {
			continue
		}
		if len(direct) > 0 && f.Args[0].Kind != direct[0].Type().Kind {
			continue
		}
		if k := f.Args[len(direct)].Kind; k != types.AnyElement && k != x.Type().Kind {
			continue
		}
		t := x.Type()
		if len(direct) > 0 && direct[0].Type().Kind == types.Array {
			t = types.ArrayOf(t)
		}
		return plan.Agg{Fn: f, Direct: direct, OrderBy: []plan.SortKey{{X: x, Desc: desc}}, Typ: t}
	}
	panic("no aggregate " + name)
}

// sink records late rows and dead letters.
type sink struct {
	late    []string
	letters map[string]int64
}

func (s *sink) Late(_ *dataflow.Epoch, b *batch.Batch, i int, at, start, end int64) {
	s.late = append(s.late, fmt.Sprintf("%s at %d [%d,%d)", rowText(b, i), at, start, end))
}

func (s *sink) Dead(_ *dataflow.Epoch, b *batch.Batch, i int, err *sqlerr.Error) error {
	if s.letters == nil {
		s.letters = map[string]int64{}
	}
	k := string(err.Code) + " " + err.Message + ": " + rowText(b, i)
	if s.letters[k] += b.Weight(i); s.letters[k] == 0 {
		delete(s.letters, k)
	}
	return nil
}

func rowText(b *batch.Batch, i int) string {
	var out []string
	for _, c := range b.Cols {
		if d := c.Datum(i); d.Null {
			out = append(out, "NULL")
		} else {
			out = append(out, types.Format(c.Type, d, nil))
		}
	}
	return strings.Join(out, "|")
}

// harness drives an operator.
type harness struct {
	t  testing.TB
	op dataflow.Operator
	// front, if set, is between the rows and the operator.
	front dataflow.Operator
	in    []types.Type
	sink  sink
	n     uint64
	wm    dataflow.Watermark
	size  int // rows of a batch
	view  map[string]int64

	plan  *plan.Aggregate
	disk  optest.Disk
	space *table.Space
	late  int64 // rows dropped as late before the last start
}

func newHarness(t testing.TB, n *plan.Aggregate) *harness {
	t.Helper()
	h := &harness{t: t, plan: n, in: plan.Types(n.Input), wm: dataflow.NoWatermark, size: 3, disk: optest.Disk{}}
	h.start()
	return h
}

// aggregate makes a plan node; the types of its columns are filled.
func aggregate(in plan.Node, mode catalog.OutputMode, event int, keys []plan.Expr, aggs ...plan.Agg) *plan.Aggregate {
	n := &plan.Aggregate{Input: in, Keys: keys, Aggs: aggs, EventKey: event, Mode: mode, Sketch: in.Props().AppendOnly}
	for _, t := range outputTypes(n) {
		n.P.Columns = append(n.P.Columns, plan.Column{Type: t})
	}
	return n
}

// change is a row as text, "NULL" for NULL, with its weight.
type change struct {
	row []string
	w   int64
}

func ins(row ...string) change { return change{row, 1} }
func del(row ...string) change { return change{row, -1} }

func (h *harness) fill(b *batch.Batch, c change) {
	for i, s := range c.row {
		if s == "NULL" {
			b.Cols[i].AppendNull()
			continue
		}
		if t := h.in[i]; t.Kind == types.Window {
			var lo, hi int64
			fmt.Sscanf(s, "%d-%d", &lo, &hi)
			b.Cols[i].AppendPair(lo, hi)
			continue
		}
		d, err := types.Parse(h.in[i], s, nil)
		if err != nil {
			h.t.Fatal(err)
		}
		b.Cols[i].AppendDatum(d)
	}
	b.EndRow(c.w)
}

// epoch runs an epoch that moves the watermark to after and gives what was emitted: "+2 row", "-1 row".
func (h *harness) epoch(after dataflow.Watermark, final bool, rows ...change) []string {
	h.t.Helper()
	h.n++
	ep := &dataflow.Epoch{N: h.n, Before: h.wm, After: after, Final: final, Sink: &h.sink}
	h.wm = after
	var got []string
	emit := func(b *batch.Batch) error {
		for i := 0; i < b.N; i++ {
			got = append(got, fmt.Sprintf("%+d %s", b.Weight(i), rowText(b, i)))
			h.apply(rowText(b, i), b.Weight(i))
		}
		return nil
	}
	for len(rows) > 0 {
		k := min(len(rows), h.size)
		b := batch.New(h.in, k)
		for _, c := range rows[:k] {
			h.fill(b, c)
		}
		rows = rows[k:]
		push := func(b *batch.Batch) error { return h.op.Push(ep, 0, b, emit) }
		if h.front != nil {
			to := push
			push = func(b *batch.Batch) error { return h.front.Push(ep, 0, b, to) }
		}
		if err := push(b); err != nil {
			h.t.Fatal(err)
		}
		scribble(b)
	}
	if err := h.op.EndEpoch(ep, emit); err != nil {
		h.t.Fatal(err)
	}
	return got
}

// apply keeps the view of what was emitted.
func (h *harness) apply(row string, w int64) {
	if h.view == nil {
		h.view = map[string]int64{}
	}
	if h.view[row] += w; h.view[row] == 0 {
		delete(h.view, row)
	}
	if h.view[row] < 0 {
		h.t.Errorf("row %q has weight %d", row, h.view[row])
	}
}

// current gives the rows of the view.
func (h *harness) current() string {
	var out []string
	for r := range h.view {
		out = append(out, r)
	}
	sort.Strings(out)
	return strings.Join(out, "\n")
}

// scribble overwrites a batch, so that a reference kept beyond Push shows.
func scribble(b *batch.Batch) {
	for _, c := range b.Cols {
		for i := range c.I64 {
			c.I64[i] = -0x3333
		}
		for i := range c.J64 {
			c.J64[i] = -0x3333
		}
		for i := range c.F64 {
			c.F64[i] = -0x3333
		}
		for i := range c.Data {
			c.Data[i] = 0xCC
		}
	}
}

func (h *harness) stats() dataflow.Stats { return h.op.(dataflow.Stateful).Stats() }

func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\ngot\n\t%s\nwant\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func sorted(s []string) []string {
	s = append([]string(nil), s...)
	sort.Strings(s)
	return s
}

var (
	tInt4    = types.Of(types.Int4)
	tInt8    = types.Of(types.Int8)
	tText    = types.Of(types.Text)
	tFloat   = types.Of(types.Float8)
	tNumeric = types.Of(types.Numeric)
	tBool    = types.Of(types.Bool)
	tSpan    = types.Of(types.Interval)
	tTime    = types.Of(types.Timestamp)
	tWindow  = types.WindowOf(types.Timestamp)
)

// windowText is the text of a window given in microseconds.
func windowText(lo, hi int64) string { return types.Format(tWindow, types.PairDatum(lo, hi), nil) }
