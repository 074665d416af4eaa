package window

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

type source struct{ plan.Base }

func (*source) Inputs() []plan.Node { return nil }

// build makes a window operator over a time and a bigint.
func build(t *testing.T, kind types.Kind, elem types.Kind, size, slide, start int64) dataflow.Operator {
	t.Helper()
	s := &source{}
	s.P.Columns = []plan.Column{{Name: "t", Type: types.Of(kind)}, {Name: "v", Type: types.Of(types.Int8)}}
	n := &plan.Window{Input: s, Time: &plan.Col{Index: 0, Typ: types.Of(kind)}, Size: size, Slide: slide, Start: start}
	n.P.Columns = append(append([]plan.Column(nil), s.P.Columns...), plan.Column{Name: "window", Type: types.WindowOf(elem)})
	op, err := New(n, plan.Types(s), &kernel.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return op
}

// expand pushes times with weight w and gives "row number:start-end*weight", sorted.
func expand(t *testing.T, op dataflow.Operator, times []int64, nulls map[int]bool, w int64) []string {
	t.Helper()
	b := batch.New([]types.Type{types.Of(types.Timestamp), types.Of(types.Int8)}, len(times))
	for i, x := range times {
		if nulls[i] {
			b.Cols[0].AppendNull()
		} else {
			b.Cols[0].AppendInt(x)
		}
		b.Cols[1].AppendInt(int64(i))
		b.EndRow(w)
	}
	var out []string
	err := op.Push(&dataflow.Epoch{}, 0, b, func(o *batch.Batch) error {
		if o.N == 0 {
			t.Error("empty batch")
		}
		for i := 0; i < o.N; i++ {
			out = append(out, fmt.Sprintf("%d:%d-%d*%d", o.Cols[1].I64[i], o.Cols[2].I64[i], o.Cols[2].J64[i], o.Weight(i)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(out)
	return out
}

const second = 1_000_000

func clock(h, m, s int64) int64 { return (h*3600 + m*60 + s) * second }

// The worked examples of the reference, 3.1 and 13.6.
func TestExamples(t *testing.T) {
	minute := int64(60 * second)
	for _, c := range []struct {
		what               string
		size, slide, start int64
		time               int64
		want               []int64 // starts
	}{
		{"ragged", 12 * minute, 5 * minute, 0, clock(12, 5, 0), []int64{clock(11, 55, 0), clock(12, 0, 0), clock(12, 5, 0)}},
		{"ragged with start", 12 * minute, 5 * minute, 2 * minute, clock(12, 5, 0), []int64{clock(11, 57, 0), clock(12, 2, 0)}},
		{"V58", 10 * second, 3 * second, 0, clock(19, 39, 27), []int64{clock(19, 39, 18), clock(19, 39, 21), clock(19, 39, 24), clock(19, 39, 27)}},
		{"V59 late start", 10 * second, 10 * second, 5 * second, clock(19, 39, 34), []int64{clock(19, 39, 25)}},
		{"V59 early start", 10 * second, 10 * second, -5 * second, clock(19, 39, 34), []int64{clock(19, 39, 25)}},
		{"V60 before 1970", 10 * second, 10 * second, 5 * second, 2 * second, []int64{-5 * second}},
		{"on the edge", 5 * minute, 5 * minute, 0, clock(10, 5, 0), []int64{clock(10, 5, 0)}},
	} {
		op := build(t, types.Timestamp, types.Timestamp, c.size, c.slide, c.start)
		var want []string
		for _, s := range c.want {
			want = append(want, fmt.Sprintf("0:%d-%d*-2", s, s+c.size))
		}
		sort.Strings(want)
		if got := expand(t, op, []int64{c.time}, nil, -2); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: got %v, want %v", c.what, got, want)
		}
	}
}

func TestDates(t *testing.T) {
	week := int64(7 * microsPerDay)
	op := build(t, types.Date, types.Date, week, week, 0)
	if got := expand(t, op, []int64{8}, nil, 1); strings.Join(got, " ") != "0:7-14*1" {
		t.Errorf("windows of dates: %v", got)
	}
	op = build(t, types.Date, types.Timestamp, week, week, 0)
	if got := expand(t, op, []int64{8}, nil, 1); strings.Join(got, " ") != fmt.Sprintf("0:%d-%d*1", week, 2*week) {
		t.Errorf("windows of timestamps over dates: %v", got)
	}
}

// Every window [s, s+size) on the grid that holds t, and no other.
func TestAgainstDefinition(t *testing.T) {
	for seed := uint64(0); seed < 300; seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		size := 1 + r.Int64N(20)
		slide := 1 + r.Int64N(size)
		if r.IntN(3) == 0 {
			slide = size
		}
		start := r.Int64N(2*slide) - slide
		op := build(t, types.Timestamp, types.Timestamp, size, slide, start)
		times := make([]int64, 1+r.IntN(20))
		nulls := map[int]bool{}
		var want []string
		dropped := int64(0)
		for i := range times {
			times[i] = r.Int64N(60) - 30
			switch r.IntN(10) {
			case 0:
				nulls[i] = true
				dropped++
				continue
			case 1:
				times[i] = types.Infinity
				dropped++
				continue
			}
			for s := times[i] - 100; s <= times[i]; s++ {
				if floorMod(s-start, slide) == 0 && s <= times[i] && times[i] < s+size {
					want = append(want, fmt.Sprintf("%d:%d-%d*1", i, s, s+size))
				}
			}
		}
		sort.Strings(want)
		if got := expand(t, op, times, nulls, 1); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("seed %d: size %d slide %d start %d times %v:\ngot  %v\nwant %v", seed, size, slide, start, times, got, want)
		}
		if n := op.(dataflow.Stateful).Stats().RowsNullEvent; n != dropped {
			t.Fatalf("seed %d: %d rows without time, want %d", seed, n, dropped)
		}
	}
}

// TestOneWindow: batches that lie in one window, in part or as a whole, one after the other and of several sizes, as of the definition.
func TestOneWindow(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 5))
	for range 200 {
		slide := 1 + r.Int64N(20)
		size, start := slide, r.Int64N(2*slide)-slide
		if r.IntN(3) == 0 {
			size = 1 + r.Int64N(slide) // between windows there is none
		}
		op := build(t, types.Timestamp, types.Timestamp, size, slide, start)
		for range 6 {
			begin := start + slide*(r.Int64N(3)-1)
			times := make([]int64, 1+r.IntN(30))
			var want []string
			for i := range times {
				times[i] = begin + r.Int64N(size)
				if r.IntN(20) == 0 {
					times[i] += r.Int64N(3*slide) - slide
				}
				s := times[i] - floorMod(times[i]-start, slide)
				if times[i] < s+size {
					want = append(want, fmt.Sprintf("%d:%d-%d*1", i, s, s+size))
				}
			}
			sort.Strings(want)
			if got := expand(t, op, times, nil, 1); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Fatalf("seed %d: size %d slide %d start %d times %v:\ngot  %v\nwant %v", seed, size, slide, start, times, got, want)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	s := &source{}
	s.P.Columns = []plan.Column{{Type: types.Of(types.Date)}}
	n := &plan.Window{Input: s, Time: &plan.Col{Typ: types.Of(types.Date)}, Size: second, Slide: second}
	n.P.Columns = append(s.P.Columns, plan.Column{Type: types.WindowOf(types.Date)})
	if _, err := New(n, plan.Types(s), nil); sqlerr.CodeOf(err) != sqlerr.InvalidParameterValue {
		t.Errorf("a second of dates: %v", err)
	}
	n.Size = 0
	if _, err := New(n, plan.Types(s), nil); sqlerr.CodeOf(err) != sqlerr.InvalidParameterValue {
		t.Errorf("no size: %v", err)
	}
}

// With Last a row comes out once, with the latest of its windows, and rows without a time are counted all the same.
func TestLast(t *testing.T) {
	s := &source{}
	s.P.Columns = []plan.Column{{Name: "t", Type: types.Of(types.Timestamp)}, {Name: "v", Type: types.Of(types.Int8)}}
	n := &plan.Window{Input: s, Time: &plan.Col{Index: 0, Typ: types.Of(types.Timestamp)}, Size: 9, Slide: 3, Start: 1, Last: true}
	n.P.Columns = append(append([]plan.Column(nil), s.P.Columns...), plan.Column{Name: "window", Type: types.WindowOf(types.Timestamp)})
	op, err := New(n, plan.Types(s), &kernel.Env{})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(expand(t, op, []int64{0, 1, 3, 4, -3, 7}, map[int]bool{5: true}, 2), " ")
	if want := "0:-2-7*2 1:1-10*2 2:1-10*2 3:4-13*2 4:-5-4*2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if n := op.(dataflow.Stateful).Stats().RowsNullEvent; n != 2 {
		t.Errorf("%d rows without a time, want 2", n)
	}
	n.Slide = 4
	if _, err := New(n, plan.Types(s), &kernel.Env{}); err == nil {
		t.Error("no error where the slide does not divide the size")
	}
}
