package simple

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

const second = 1_000_000

var (
	i8 = types.Of(types.Int8)
	ts = []types.Type{i8, types.Of(types.Timestamp)}
)

func seeded(t *testing.T) *rand.Rand {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewSource(seed))
}

func must(t *testing.T) func(op dataflow.Operator, err error) dataflow.Operator {
	return func(op dataflow.Operator, err error) dataflow.Operator {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return op
	}
}

func gen(rnd *rand.Rand) func() optest.Row {
	return func() optest.Row {
		r := optest.Row{rnd.Intn(5), rnd.Intn(20) * second}
		if rnd.Intn(6) == 0 {
			r[rnd.Intn(2)] = nil
		}
		return r
	}
}

// TestFilterProject: a row whose expression fails is a dead letter, and its deletion withdraws that.
func TestFilterProject(t *testing.T) {
	rnd := seeded(t)
	in := dataflow.InputTypes{ts}
	col := optest.Col(ts, 0)
	ratio := optest.Op("/", optest.Const(i8, 12), col)
	filter := must(t)(NewFilter(&plan.Filter{Pred: optest.Op("<", ratio, optest.Const(i8, 7))}, in, table.NewTransient(), -1, &kernel.Env{}))
	project := must(t)(NewProject(&plan.Project{Exprs: []plan.Expr{optest.Col(ts, 1), ratio, ratio}}, in, table.NewTransient(), -1, &kernel.Env{}))
	outTs := []types.Type{ts[1], i8, i8}
	f, p := optest.New(t, filter, in, rnd), optest.New(t, project, in, rnd)
	var have []optest.Row
	for e := 0; e < 20; e++ {
		cs := optest.Changes(rnd, 0, rnd.Intn(10), &have, gen(rnd), true)
		if err := f.Epoch(cs, dataflow.NoWatermark, 0); err != nil {
			t.Fatal(err)
		}
		if err := p.Epoch(cs, dataflow.NoWatermark, 0); err != nil {
			t.Fatal(err)
		}
		kept, projected, letters := optest.ZSet{}, optest.ZSet{}, optest.ZSet{}
		for _, r := range have {
			switch x := r[0]; {
			case x == nil:
				projected.Add(optest.Print(outTs, optest.Row{r[1], nil, nil}), 1)
			case x == 0:
				letters.Add("22012 "+optest.Print(ts, r), 1)
			default:
				q := 12 / x.(int)
				projected.Add(optest.Print(outTs, optest.Row{r[1], q, q}), 1)
				if q < 7 {
					kept.Add(optest.Print(ts, r), 1)
				}
			}
		}
		optest.Equal(t, "filter", f.Total, kept)
		optest.Equal(t, "project", p.Total, projected)
		optest.Equal(t, "letters of filter", f.Letters, letters)
		optest.Equal(t, "letters of project", p.Letters, letters)
	}
	final := optest.New(t, filter, in, nil)
	final.Final = true
	if err := final.Epoch([]optest.Change{{Row: optest.Row{0, 0}, W: 1}}, dataflow.NoWatermark, 0); sqlerr.CodeOf(err) != sqlerr.DivisionByZero {
		t.Fatalf("a SELECT gave %v", err)
	}
}

func TestUnion(t *testing.T) {
	in := dataflow.InputTypes{ts, ts}
	r := optest.New(t, must(t)(NewUnion(nil, in, nil, -1, nil)), in, nil)
	row := optest.Row{1, 2}
	if err := r.Epoch([]optest.Change{{Port: 0, Row: row, W: 2}, {Port: 1, Row: row, W: -1}}, dataflow.NoWatermark, 0); err != nil {
		t.Fatal(err)
	}
	if r.Total.String() != "1|2 x1\n" {
		t.Fatal(r.Total)
	}
}

// TestOnce: literal rows come in the first epoch only, also when the operator is made again over its state.
func TestOnce(t *testing.T) {
	sp := table.NewTransient()
	n := &plan.Values{Base: optest.Base([]types.Type{i8}), Rows: [][]plan.Expr{{optest.Const(i8, 1)}, {optest.Const(i8, nil)}, {optest.Op("/", optest.Const(i8, 1), optest.Const(i8, 0))}}}
	r := optest.New(t, must(t)(NewValues(n, nil, sp, -1, &kernel.Env{})), nil, nil)
	for e := 0; e < 3; e++ {
		if err := r.Epoch(nil, dataflow.NoWatermark, 0); err != nil {
			t.Fatal(err)
		}
		if r.Total.String() != "1 x1\nNULL x1\n" || len(r.Letters) != 1 {
			t.Fatal(r.Total, r.Letters)
		}
	}
	r = optest.New(t, must(t)(NewValues(&plan.Values{}, nil, table.NewTransient(), -1, &kernel.Env{})), nil, nil)
	if err := r.Epoch(nil, dataflow.NoWatermark, 0); err != nil || r.Total[""] != 1 {
		t.Fatal("no FROM is one row without columns", r.Total, err)
	}
}

func series() *fn.Func {
	for _, f := range fn.Lookup("generate_series") {
		if len(f.Args) == 2 && f.Args[0] == i8 {
			return f
		}
	}
	panic("no generate_series")
}

func TestTableFunc(t *testing.T) {
	rnd := seeded(t)
	in := dataflow.InputTypes{ts}
	outTs := []types.Type{i8, ts[1], i8, i8}
	for _, outer := range []bool{false, true} {
		n := &plan.TableFunc{Base: optest.Base(outTs), Input: optest.Input(ts, false), Fn: series(), Ordinality: true, Outer: outer,
			Args: []plan.Expr{optest.Const(i8, 3), optest.Col(ts, 0)}}
		r := optest.New(t, must(t)(NewTableFunc(n, in, table.NewTransient(), -1, &kernel.Env{})), in, rnd)
		var have []optest.Row
		for e := 0; e < 15; e++ {
			if err := r.Epoch(optest.Changes(rnd, 0, rnd.Intn(8), &have, gen(rnd), true), dataflow.NoWatermark, 0); err != nil {
				t.Fatal(err)
			}
			want := optest.ZSet{}
			for _, x := range have {
				n := 0
				for v := 3; x[0] != nil && v <= x[0].(int); v++ {
					n++
					want.Add(optest.Print(outTs, optest.Row{x[0], x[1], v, n}), 1)
				}
				if n == 0 && outer {
					want.Add(optest.Print(outTs, optest.Row{x[0], x[1], nil, nil}), 1)
				}
			}
			optest.Equal(t, "rows", r.Total, want)
		}
	}
	n := &plan.TableFunc{Base: optest.Base([]types.Type{i8}), Fn: series(), Args: []plan.Expr{optest.Const(i8, 1), optest.Const(i8, 2)}}
	r := optest.New(t, must(t)(NewTableFunc(n, nil, table.NewTransient(), -1, &kernel.Env{})), nil, nil)
	for e := 0; e < 2; e++ {
		if err := r.Epoch(nil, dataflow.NoWatermark, 0); err != nil || r.Total.String() != "1 x1\n2 x1\n" {
			t.Fatal(r.Total, err)
		}
	}
}

func TestAppendFinal(t *testing.T) {
	rnd := seeded(t)
	in := dataflow.InputTypes{ts}
	r := optest.New(t, must(t)(NewAppendFinal(&plan.AppendFinal{TimeCol: 1}, in, table.NewTransient(), 0, nil)), in, rnd)
	var have []optest.Row
	after := dataflow.NoWatermark
	for e := 0; e < 30; e++ {
		// The input never changes a row at or below its watermark.
		fresh := func() optest.Row {
			x := gen(rnd)()
			if x[1] != nil {
				x[1] = (e + 1 + rnd.Intn(5)) * second
			}
			return x
		}
		var old, open []optest.Row
		for _, x := range have {
			if x[1] != nil && after.Late(int64(x[1].(int))) {
				old = append(old, x)
			} else {
				open = append(open, x)
			}
		}
		cs := optest.Changes(rnd, 0, rnd.Intn(8), &open, fresh, true)
		have = append(old, open...)
		if e > 3 {
			after = dataflow.Watermark(e * second)
		}
		if err := r.Epoch(cs, after, 0); err != nil {
			t.Fatal(err)
		}
		want := optest.ZSet{}
		for _, x := range have {
			if x[1] != nil && after.Late(int64(x[1].(int))) {
				want.Add(optest.Print(ts, x), 1)
			}
		}
		optest.Equal(t, fmt.Sprintf("epoch %d", e), r.Total, want)
		if r.Negative {
			t.Fatal("an append view has a deletion")
		}
	}
}

func TestTemporalFilter(t *testing.T) {
	rnd := seeded(t)
	in := dataflow.InputTypes{ts}
	for _, op := range []string{"<", "<=", ">", ">="} {
		t.Run(op, func(t *testing.T) {
			n := &plan.TemporalFilter{Time: optest.Col(ts, 1), Op: op, Offset: types.IntervalDatum(0, 0, -2*second)}
			f := must(t)(NewTemporalFilter(n, in, table.NewTransient(), 0, &kernel.Env{}))
			r := optest.New(t, f, in, rnd)
			holds := func(x optest.Row, now int64) bool {
				if x[1] == nil {
					return false
				}
				a, b := int64(x[1].(int)), now-2*second
				return op == "<" && a < b || op == "<=" && a <= b || op == ">" && a > b || op == ">=" && a >= b
			}
			var have []optest.Row
			now := int64(0)
			for e := 0; e < 40; e++ {
				due, ok := f.(dataflow.Timed).NextDue()
				for _, x := range have {
					if ok && holds(x, due-1) != holds(x, now) {
						t.Fatalf("%v changes before %d, which is after %d", x, due, now)
					}
				}
				if ok && rnd.Intn(2) == 0 {
					now = due
				} else {
					now += int64(rnd.Intn(3)) * second
				}
				cs := optest.Changes(rnd, 0, rnd.Intn(6), &have, gen(rnd), true)
				if err := r.Epoch(cs, dataflow.NoWatermark, now); err != nil {
					t.Fatal(err)
				}
				want := optest.ZSet{}
				for _, x := range have {
					if holds(x, now) {
						want.Add(optest.Print(ts, x), 1)
					}
				}
				optest.Equal(t, fmt.Sprintf("epoch %d at %d", e, now), r.Total, want)
			}
		})
	}
}
