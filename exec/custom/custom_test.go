package custom

import (
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"sort"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// funcs is a processor of functions.
type funcs struct {
	Base
	init  func(h *Handle) error
	rows  func(key Row, rows Rows, t TimerValues) (Output, error)
	timer func(key Row, t TimerValues, x ExpiredTimerInfo) (Output, error)
}

func (f *funcs) Init(h *Handle) error { return f.init(h) }
func (f *funcs) HandleInputRows(key Row, rows Rows, t TimerValues) (Output, error) {
	return f.rows(key, rows, t)
}
func (f *funcs) HandleExpiredTimer(key Row, t TimerValues, x ExpiredTimerInfo) (Output, error) {
	if f.timer == nil {
		return nil, nil
	}
	return f.timer(key, t, x)
}

// rig runs one operator over rows (k, v bigint) by k.
type rig struct {
	t     testing.TB
	op    *Operator
	g     *dataflow.Graph
	src   *dataflow.Source
	ep    uint64
	wm    dataflow.Watermark
	out   []string
	dead  []string
	outWM dataflow.Watermark
}

// Late implements dataflow.Sink.
func (r *rig) Late(*dataflow.Epoch, *batch.Batch, int, int64, int64, int64) {}

// Dead implements dataflow.Sink.
func (r *rig) Dead(_ *dataflow.Epoch, b *batch.Batch, i int, err *sqlerr.Error) error {
	r.dead = append(r.dead, fmt.Sprintf("%d: %s", b.Cols[0].Datum(i).I, err.Message))
	return nil
}

var bigint = types.Of(types.Int8)

func newRig(t testing.TB, mode string, out catalog.OutputMode, keyType types.Type, result string, f *funcs) *rig {
	t.Helper()
	cols := []plan.Column{{Name: "k", Type: keyType}, {Name: "v", Type: bigint}}
	in := &plan.Scan{}
	in.P.Columns = cols
	s, err := ParseSchema(result)
	if err != nil {
		t.Fatal(err)
	}
	p := &catalog.Processor{Name: "p", Language: "go", Native: Maker(func() (StatefulProcessor, error) { return f, nil })}
	n := &plan.Custom{Input: in, Processor: p, Keys: []plan.Expr{&plan.Col{Index: 0, Typ: keyType}}, KeyNames: []string{"k"},
		TimeMode: mode, Mode: out, EventTime: -1, TimeCol: -1}
	for _, f := range s.Fields {
		p.Columns = append(p.Columns, catalog.Column{Name: f.Name, Type: f.Type})
		n.P.Columns = append(n.P.Columns, plan.Column{Name: f.Name, Type: f.Type})
	}
	op, err := New(n, dataflow.InputTypes{plan.Types(in)}, table.NewTransient(), 0, &kernel.Env{})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, op: op.(*Operator), g: dataflow.NewGraph(dataflow.PolicyMin), wm: dataflow.NoWatermark}
	r.src = &dataflow.Source{}
	h := r.g.AddSource(r.src, true)
	r.g.SetRoot(r.g.Add(op, 0, true, []dataflow.PortInfo{{Columns: []string{"k", "v"}}}, h))
	return r
}

// epoch runs one epoch with rows (key, value), a watermark in ms after it (below the last: as it was) and a timestamp in ms.
func (r *rig) epoch(wm, ts int64, rows ...[2]any) {
	r.t.Helper()
	r.ep++
	after := max(r.wm, dataflow.Watermark(wm*1000))
	r.g.Begin(&dataflow.EpochInfo{N: r.ep, Timestamp: ts * 1000, Sink: r,
		Watermarks: func(*dataflow.Source) (dataflow.Watermark, dataflow.Watermark) { return r.wm, after }}, func(b *batch.Batch) error {
		for i := 0; i < b.N; i++ {
			s := fmt.Sprintf("%+d", b.Weight(i))
			for _, c := range b.Cols {
				s += " " + types.Format(c.Type, c.Datum(i), types.DefaultEnv())
			}
			r.out = append(r.out, s)
		}
		return nil
	})
	b := batch.New(r.op.in.rows.Types(), len(rows))
	for _, x := range rows {
		for c, v := range x {
			d, err := DatumOf(b.Cols[c].Type, v)
			if err != nil {
				r.t.Fatal(err)
			}
			b.Cols[c].AppendDatum(d)
		}
		b.EndRow(1)
	}
	if err := r.g.Push(r.src, b); err != nil {
		r.t.Fatal(err)
	}
	if err := r.g.End(); err != nil {
		r.t.Fatal(err)
	}
	_, r.outWM = r.g.OutputWatermark()
	r.wm = after
}

func (r *rig) want(what string, want ...string) {
	r.t.Helper()
	if fmt.Sprint(r.out) != fmt.Sprint(want) {
		r.t.Fatalf("%s: got %q, want %q", what, r.out, want)
	}
	r.out = nil
}

// TestManyTimers: more timers than one epoch may fire go on in the next ones, in order, and the output watermark stays below them.
func TestManyTimers(t *testing.T) {
	const timers, bound = 25_000, 10_000
	var h *Handle
	next := int64(1)
	r := newRig(t, "event_time", catalog.Append, bigint, "n bigint", &funcs{
		init: func(x *Handle) error { h = x; return nil },
		rows: func(_ Row, rows Rows, _ TimerValues) (Output, error) {
			for i := int64(1); i <= rows.At(0).Int("v"); i++ {
				if err := h.RegisterTimer(i); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
		timer: func(_ Row, tv TimerValues, x ExpiredTimerInfo) (Output, error) {
			if x.ExpiryTimeInMs != next || tv.Watermark != 100_000 {
				return nil, fmt.Errorf("timer %d at %d instead of %d", x.ExpiryTimeInMs, tv.Watermark, next)
			}
			next++
			return nil, h.RegisterTimer(x.ExpiryTimeInMs) // is lost
		}})
	r.op.maxTimers = bound
	r.epoch(0, 0, [2]any{1, timers})
	r.epoch(100_000, 1)
	for i := int64(1); ; i++ {
		if next-1 != min(i*bound, timers) || len(r.dead) > 0 {
			t.Fatalf("after %d epochs %d timers have fired: %v", i, next-1, r.dead)
		}
		due, ok := r.op.NextDue()
		if next-1 == timers {
			if ok || r.outWM != 100_000_000 || r.op.st.timers.Len()+r.op.st.keyTimers.Len() != 0 {
				t.Fatalf("at the end: due %d %v, watermark %d, %d timers", due, ok, r.outWM, r.op.st.timers.Len())
			}
			return
		}
		if !ok || due != 0 || int64(r.outWM) != next*1000-1000 {
			t.Fatalf("after %d epochs: due %d %v, watermark %d with timer %d to come", i, due, ok, r.outWM, next)
		}
		r.epoch(0, 1)
	}
}

// TestTTL: values, elements and entries go when their time has come, are not seen from then on, and a write begins their time anew.
func TestTTL(t *testing.T) {
	var v *ValueState
	var l *ListState
	var m *MapState
	f := &funcs{}
	f.init = func(h *Handle) (err error) {
		if v, err = h.ValueStateTTL("v", "n bigint", 100); err == nil {
			if l, err = h.ListStateTTL("l", "n bigint", 100); err == nil {
				m, err = h.MapStateTTL("m", "n bigint", "n bigint", 100)
			}
		}
		f.rows = func(_ Row, rows Rows, _ TimerValues) (Output, error) {
			x := rows.At(0).Int("v")
			if x > 0 {
				if err := errors.Join(v.Update(x), l.Append(x), m.Set([]any{x % 10}, x)); err != nil {
					return nil, err
				}
			}
			is, err := v.Exists()
			ne, nm := int64(0), int64(0)
			err = errors.Join(err, l.Each(func(Row) error { ne++; return nil }), m.Each(func(_, _ Row) error { nm++; return nil }))
			if err != nil {
				return nil, err
			}
			row, err := h.Row(is, ne, nm)
			return Output{row}, err
		}
		return err
	}
	r := newRig(t, "processing_time", catalog.Append, bigint, "value boolean, elements bigint, entries bigint", f)
	r.epoch(0, 1000, [2]any{1, 11})
	r.epoch(0, 1050, [2]any{1, 12})
	r.want("written", "+1 t 1 1", "+1 t 2 2")
	if due, ok := r.op.NextDue(); !ok || due != 1_100_000 {
		t.Fatalf("due %d %v", due, ok)
	}
	r.epoch(0, 1099, [2]any{1, 0})
	r.epoch(0, 1100, [2]any{1, 0})
	r.want("the first have expired", "+1 t 2 2", "+1 t 1 1")
	r.epoch(0, 1149, [2]any{1, 11})
	r.epoch(0, 1200, [2]any{1, 0})
	r.want("written again", "+1 t 2 2", "+1 t 1 1")
	r.epoch(0, 1300)
	if n := r.op.Stats(); n.RowsTotal != 0 || r.op.st.elems.Len()+r.op.st.ttl.Len() != 0 {
		t.Fatalf("%d rows are left, %d elements, %d of the index", n.RowsTotal, r.op.st.elems.Len(), r.op.st.ttl.Len())
	}
	r.epoch(0, 1301, [2]any{1, 0})
	r.want("gone", "+1 f 0 0")
}

// TestListsExpireInPart: a list that grows and expires at once keeps the elements that live, begins at the first of them, and is gone with the last.
func TestListsExpireInPart(t *testing.T) {
	var l *ListState
	f := &funcs{}
	f.init = func(h *Handle) (err error) {
		l, err = h.ListStateTTL("l", "n bigint", 100)
		f.rows = func(_ Row, rows Rows, _ TimerValues) (Output, error) {
			if x := rows.At(0).Int("v"); x > 0 {
				if err := l.Append(x); err != nil {
					return nil, err
				}
			}
			n, sum := int64(0), int64(0)
			err := l.Each(func(r Row) error { n++; sum += r.Int("n"); return nil })
			if err != nil {
				return nil, err
			}
			row, err := h.Row(n, sum)
			return Output{row}, err
		}
		return err
	}
	r := newRig(t, "processing_time", catalog.Append, bigint, "n bigint, total bigint", f)
	for i := range int64(500) { // one element every 10 ms, each for 100 ms: ten live
		n := min(i+1, 10)
		r.epoch(0, 1000+10*i, [2]any{1, i + 1})
		r.want("grows", fmt.Sprintf("+1 %d %d", n, n*(i+1)-n*(n-1)/2))
		var first, next int64
		r.op.st.lists.Scan(nil, nil, func(_, v []byte) bool {
			first, next = readBounds(r.op.h.keys.skip(v))
			return true
		})
		if want := max(i-10, 0); first < want || next != i+1 {
			t.Fatalf("element %d: the list is [%d, %d)", i, first, next)
		}
	}
	r.epoch(0, 10_000)
	if n := r.op.st.lists.Len() + r.op.st.elems.Len() + r.op.st.ttl.Len(); n != 0 {
		t.Fatalf("%d entries are left", n)
	}
	r.epoch(0, 10_001, [2]any{1, 7})
	r.want("begins again", "+1 1 7")
}

// TestDroppedWithTTL: what a dropped variable would have outlived does not reach the one that gets its number, and falls due no more.
func TestDroppedWithTTL(t *testing.T) {
	for _, key := range []types.Type{bigint, types.Of(types.Numeric)} {
		var v *ValueState
		var l *ListState
		var m *MapState
		write := func(_ Row, rows Rows, _ TimerValues) (Output, error) {
			x := rows.At(0).Int("v")
			return nil, errors.Join(v.Update(x), l.Append(x), m.Set([]any{x}, x))
		}
		f := &funcs{rows: write}
		f.init = func(h *Handle) (err error) {
			if v, err = h.ValueStateTTL("v", "n bigint", 100); err == nil {
				if l, err = h.ListStateTTL("l", "n bigint", 100); err == nil {
					m, err = h.MapStateTTL("m", "n bigint", "n bigint", 100)
				}
			}
			return err
		}
		r := newRig(t, "processing_time", catalog.Append, key, "n bigint", f)
		r.epoch(0, 1000, [2]any{1, 11}, [2]any{2, 11})
		g := &funcs{rows: write}
		g.init = func(h *Handle) (err error) {
			if err = errors.Join(h.DeleteIfExists("v"), h.DeleteIfExists("l"), h.DeleteIfExists("m")); err == nil {
				if v, err = h.ValueState("v2", "n bigint"); err == nil {
					if l, err = h.ListState("l2", "n bigint"); err == nil {
						m, err = h.MapState("m2", "n bigint", "n bigint")
					}
				}
			}
			return err
		}
		p := *r.op.Processor()
		p.Native = Maker(func() (StatefulProcessor, error) { return g, nil })
		if err := r.op.Replace(&p); err != nil {
			t.Fatal(err)
		}
		if n := r.op.st.values.Len() + r.op.st.lists.Len() + r.op.st.elems.Len() + r.op.st.ttl.Len(); n != 0 {
			t.Fatalf("%s: %d entries are left", key, n)
		}
		if due, ok := r.op.NextDue(); ok {
			t.Fatalf("%s: due %d", key, due)
		}
		r.epoch(0, 1050, [2]any{1, 11})
		r.epoch(0, 2000)
		if n := [...]int64{r.op.st.values.Len(), r.op.st.lists.Len(), r.op.st.elems.Len()}; n != [...]int64{2, 1, 1} {
			t.Fatalf("%s: values, lists and elements: %d", key, n)
		}
	}
}

// TestKeys: NULL is a key, 1.0 and 1.00 are one, and each comes back as it was.
func TestKeys(t *testing.T) {
	var n *ValueState
	var h *Handle
	r := newRig(t, "processing_time", catalog.Append, types.Of(types.Numeric), "k numeric, n bigint", &funcs{
		init: func(x *Handle) (err error) { h = x; n, err = x.ValueState("n", "n bigint"); return err },
		rows: func(key Row, rows Rows, _ TimerValues) (Output, error) {
			x, _, err := n.Get()
			have := int64(0)
			if x.Len() > 0 {
				have = x.Int("n")
			}
			err = errors.Join(err, n.Update(have+int64(rows.Len())), h.RegisterTimer(5000))
			row, err2 := h.Row(key.Datum(0), have+int64(rows.Len()))
			return Output{row}, errors.Join(err, err2)
		},
		timer: func(key Row, _ TimerValues, _ ExpiredTimerInfo) (Output, error) {
			row, err := h.Row(key.Datum(0), -1)
			return Output{row}, err
		}})
	r.epoch(0, 1, [2]any{"1.0", 0}, [2]any{nil, 0}, [2]any{"2", 0})
	r.epoch(0, 2, [2]any{"1.00", 0}, [2]any{nil, 0})
	r.want("rows", "+1 1.0 1", "+1 2 1", "+1  1", "+1 1.00 2", "+1  2")
	r.epoch(0, 5000)
	r.want("timers", "+1 1.0 -1", "+1 2 -1", "+1  -1")
	var read []string
	r.op.Read("n", func(f Found) bool {
		read = append(read, fmt.Sprint(types.Format(types.Of(types.Numeric), f.Key[0], types.DefaultEnv()), " ", f.Value[0].I))
		return true
	})
	if fmt.Sprint(read) != "[1.00 2 2 1  2]" {
		t.Fatalf("read back %v", read)
	}
}

// TestUpdateMode: what a key emits replaces what it emitted before; nil keeps it, an empty output removes it.
func TestUpdateMode(t *testing.T) {
	var h *Handle
	r := newRig(t, "none", catalog.Update, bigint, "k bigint, n bigint", &funcs{
		init: func(x *Handle) error { h = x; return nil },
		rows: func(key Row, rows Rows, _ TimerValues) (Output, error) {
			n := rows.At(0).Int("v")
			if n < 0 {
				return nil, nil
			}
			out := Output{}
			for i := int64(0); i < n; i++ {
				row, err := h.Row(key.Datum(0), i)
				if err != nil {
					return nil, err
				}
				out = append(out, row)
			}
			return out, nil
		}})
	r.epoch(0, 1, [2]any{1, 2})
	r.want("first", "+1 1 0", "+1 1 1")
	r.epoch(0, 2, [2]any{1, -1})
	r.want("kept")
	r.epoch(0, 3, [2]any{1, 1})
	r.want("replaced", "-1 1 1")
	r.epoch(0, 4, [2]any{1, 0})
	r.want("removed", "-1 1 0")
}

// model is what a key should hold.
type model struct {
	value *int64
	list  []int64
	m     map[int64]int64
}

func (m model) clone() model {
	c := model{list: append([]int64(nil), m.list...), m: map[int64]int64{}}
	if m.value != nil {
		v := *m.value
		c.value = &v
	}
	for k, v := range m.m {
		c.m[k] = v
	}
	return c
}

// TestStateRandom runs random operations in calls of which some fail, and compares what a call sees, and what lasts, with a model.
func TestStateRandom(t *testing.T) {
	seed := rand.Int63()
	rnd := rand.New(rand.NewSource(seed))
	models := map[int64]model{}
	var v *ValueState
	var l *ListState
	var m *MapState
	check := func(x model) error {
		r, ok, err := v.Get()
		if err != nil || ok != (x.value != nil) || ok && r.Int("n") != *x.value {
			return fmt.Errorf("seed %d: value %v %v, want %v", seed, r, ok, x.value)
		}
		var got []int64
		if err := l.Each(func(r Row) error { got = append(got, r.Int("n")); return nil }); err != nil {
			return err
		}
		if len(got)+len(x.list) > 0 && !reflect.DeepEqual(got, x.list) {
			return fmt.Errorf("seed %d: list %v, want %v", seed, got, x.list)
		}
		pairs := map[int64]int64{}
		var order []int64
		err = m.Each(func(k, v Row) error { order = append(order, k.Int("k")); pairs[k.Int("k")] = v.Int("n"); return nil })
		if err != nil || !reflect.DeepEqual(pairs, x.m) || !sort.SliceIsSorted(order, func(i, j int) bool { return order[i] < order[j] }) {
			return fmt.Errorf("seed %d: map %v in order %v, want %v: %v", seed, pairs, order, x.m, err)
		}
		return nil
	}
	fatal := ""
	r := newRig(t, "none", catalog.Append, bigint, "n bigint", &funcs{
		init: func(h *Handle) (err error) {
			if v, err = h.ValueState("v", "n bigint"); err == nil {
				if l, err = h.ListState("l", "n bigint"); err == nil {
					m, err = h.MapState("m", "k bigint", "n bigint")
				}
			}
			return err
		},
		rows: func(key Row, _ Rows, _ TimerValues) (Output, error) {
			k := key.Datum(0).I
			x := models[k].clone()
			for i := rnd.Intn(12); i >= 0; i-- {
				err := x.change(rnd, v, l, m)
				if err == nil {
					err = check(x)
				}
				if err != nil {
					fatal = err.Error()
					return nil, err
				}
			}
			switch rnd.Intn(4) {
			case 0:
				return nil, errors.New("on purpose")
			case 1:
				panic("on purpose")
			}
			models[k] = x
			return nil, nil
		}})
	for i := int64(1); i <= 400 && fatal == ""; i++ {
		r.epoch(0, i, [2]any{rnd.Int63n(3), 0}, [2]any{rnd.Int63n(3), 0})
	}
	if fatal != "" {
		t.Fatal(fatal)
	}
	rows, elems := sizes(models)
	if n := r.op.Stats().RowsTotal; n != rows || r.op.st.elems.Len() != elems {
		t.Fatalf("seed %d: %d rows in state and %d elements, want %d and %d", seed, n, r.op.st.elems.Len(), rows, elems)
	}
}

// change changes the state of a key at random, and the model of it alike.
func (x *model) change(rnd *rand.Rand, v *ValueState, l *ListState, m *MapState) (err error) {
	a, b := rnd.Int63n(6), rnd.Int63()
	switch rnd.Intn(9) {
	case 0:
		err, x.value = v.Clear(), nil
	case 1:
		err, x.value = v.Update(b), &b
	case 2:
		err, x.list = l.Clear(), nil
	case 3, 4:
		err, x.list = l.Append(b), append(x.list, b)
	case 5:
		err, x.list = l.Put([][]types.Datum{{types.IntDatum(a)}, {types.IntDatum(b)}}), []int64{a, b}
	case 6:
		err, x.m = m.Clear(), map[int64]int64{}
	case 7:
		err = m.Set([]any{a}, b)
		x.m[a] = b
	case 8:
		err = m.Remove(a)
		delete(x.m, a)
	}
	return err
}

// sizes gives the rows in state of all keys, and the elements of their lists.
func sizes(models map[int64]model) (rows, elems int64) {
	for _, x := range models {
		if x.value != nil {
			rows++
		}
		if len(x.list) > 0 {
			rows++
		}
		rows += int64(len(x.m))
		elems += int64(len(x.list))
	}
	return rows, elems
}
