package over

import (
	"bytes"
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

var (
	i4, i8, f8 = types.Of(types.Int4), types.Of(types.Int8), types.Of(types.Float8)
	num        = types.Of(types.Numeric)
	ts         = []types.Type{i8, i8, i4} // partition, order, value
)

func seeded(t *testing.T) *rand.Rand {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewSource(seed))
}

func overFunc(name string, args int, typ types.Type) *plan.OverFunc {
	return &plan.OverFunc{Typ: typ, Fn: lookup(name, args)[0]}
}

// lookup gives the functions of a name and number of arguments that can have OVER.
func lookup(name string, args int) (fs []*fn.Func) {
	for _, c := range fn.Lookup(name) {
		if len(c.Args) == args && (c.Class == fn.Window || c.Class == fn.Aggregate) {
			fs = append(fs, c)
		}
	}
	if len(fs) == 0 {
		panic("no function " + name)
	}
	return fs
}

// testCase is a window function and what it means: the value for row i of the ordered partition rows, where frame lists the rows of its frame.
type testCase struct {
	f    *plan.OverFunc
	want func(rows []optest.Row, keys []any, i int, frame []int) any
}

func ints(rows []optest.Row, frame []int) (vs []int64) {
	for _, k := range frame {
		if v := rows[k][2]; v != nil {
			vs = append(vs, int64(v.(int)))
		}
	}
	return vs
}

func sum(vs []int64) (s int64) {
	for _, v := range vs {
		s += v
	}
	return s
}

func anyOf[T any](vs []T, f func() any) any {
	if len(vs) == 0 {
		return nil
	}
	return f()
}

// countBefore counts the rows of the partition whose key lies before that of row i, or up to its last peer.
func countBefore(keys []any, i int, peers bool) (n int) {
	for k := range keys {
		if same := keys[k] == keys[i]; k < i && !same || peers && (same || k < i) {
			n++
		}
	}
	return n
}

func distinctBefore(keys []any, i int) int {
	seen := map[any]bool{}
	for k := 0; k < i; k++ {
		if keys[k] != keys[i] {
			seen[keys[k]] = true
		}
	}
	return len(seen)
}

func with(f *plan.OverFunc, args ...plan.Expr) *plan.OverFunc {
	f.Args = args
	return f
}

func cases() []testCase {
	v := optest.Col(ts, 2)
	at := func(rows []optest.Row, i int) any {
		if i < 0 || i >= len(rows) {
			return nil
		}
		return rows[i][2]
	}
	filtered := with(overFunc("count", 1, i8), v)
	filtered.Filter = optest.Op("<", v, optest.Const(i4, 3))
	return []testCase{
		{overFunc("row_number", 0, i8), func(_ []optest.Row, _ []any, i int, _ []int) any { return i + 1 }},
		{overFunc("rank", 0, i8), func(_ []optest.Row, k []any, i int, _ []int) any { return countBefore(k, i, false) + 1 }},
		{overFunc("dense_rank", 0, i8), func(_ []optest.Row, k []any, i int, _ []int) any { return distinctBefore(k, i) + 1 }},
		{overFunc("percent_rank", 0, f8), func(r []optest.Row, k []any, i int, _ []int) any {
			if len(r) == 1 {
				return 0.0
			}
			return float64(countBefore(k, i, false)) / float64(len(r)-1)
		}},
		{overFunc("cume_dist", 0, f8), func(r []optest.Row, k []any, i int, _ []int) any {
			return float64(countBefore(k, i, true)) / float64(len(r))
		}},
		{with(overFunc("ntile", 1, i4), optest.Const(i4, 3)), func(r []optest.Row, _ []any, i int, _ []int) any {
			for b, k := 1, 0; ; b++ {
				size := len(r) / 3
				if b <= len(r)%3 {
					size++
				}
				if k += size; i < k {
					return b
				}
			}
		}},
		{with(overFunc("lag", 1, i4), v), func(r []optest.Row, _ []any, i int, _ []int) any { return at(r, i-1) }},
		{with(overFunc("lead", 2, i4), v, optest.Const(i4, 2)), func(r []optest.Row, _ []any, i int, _ []int) any { return at(r, i+2) }},
		{with(overFunc("first_value", 1, i4), v), func(r []optest.Row, _ []any, _ int, f []int) any {
			return anyOf(f, func() any { return r[f[0]][2] })
		}},
		{with(overFunc("last_value", 1, i4), v), func(r []optest.Row, _ []any, _ int, f []int) any {
			return anyOf(f, func() any { return r[f[len(f)-1]][2] })
		}},
		{with(overFunc("nth_value", 2, i4), v, optest.Const(i4, 2)), func(r []optest.Row, _ []any, _ int, f []int) any {
			if len(f) < 2 {
				return nil
			}
			return r[f[1]][2]
		}},
		{overFunc("count", 0, i8), func(_ []optest.Row, _ []any, _ int, f []int) any { return len(f) }},
		{filtered, func(r []optest.Row, _ []any, _ int, f []int) any {
			n := 0
			for _, x := range ints(r, f) {
				if x < 3 {
					n++
				}
			}
			return n
		}},
		{with(overFunc("sum", 1, i8), v), func(r []optest.Row, _ []any, _ int, f []int) any {
			return anyOf(ints(r, f), func() any { return sum(ints(r, f)) })
		}},
		{with(overFunc("avg", 1, num), v), func(r []optest.Row, _ []any, _ int, f []int) any {
			vs := ints(r, f)
			return anyOf(vs, func() any {
				q, _ := types.FromInt64(sum(vs)).Div(types.FromInt64(int64(len(vs))))
				return q.Datum()
			})
		}},
		{with(overFunc("min", 1, i4), v), func(r []optest.Row, _ []any, _ int, f []int) any {
			return anyOf(ints(r, f), func() any {
				vs := ints(r, f)
				sort.Slice(vs, func(i, j int) bool { return vs[i] < vs[j] })
				return vs[0]
			})
		}},
		{with(overFunc("max", 1, i4), v), func(r []optest.Row, _ []any, _ int, f []int) any {
			return anyOf(ints(r, f), func() any {
				vs := ints(r, f)
				sort.Slice(vs, func(i, j int) bool { return vs[i] > vs[j] })
				return vs[0]
			})
		}},
	}
}

// frameRows lists the rows of row i's frame, by definition.
func frameRows(f plan.Frame, keys []any, desc bool, i int) (rows []int) {
	group := func(k int) int { return distinctBefore(keys, k) }
	side := func(b plan.FrameBound, k int, start bool) bool {
		off := 0
		if b.Offset != nil {
			off = int(b.Offset.(*plan.Const).Val.I)
		}
		if b.Kind == "preceding" {
			off = -off
		}
		if b.Kind == "unbounded preceding" || b.Kind == "unbounded following" {
			return true
		}
		var d int // how far row k is after row i
		switch {
		case f.Mode == "rows":
			d = k - i
		case f.Mode == "groups", b.Kind == "current row", keys[i] == nil:
			d = group(k) - group(i)
			if f.Mode == "range" {
				off = 0
			}
		case keys[k] == nil:
			// With an offset, NULLs are not in the frame of others, except beyond an unbounded end: they are at one end.
			if (k > i) == start {
				return true
			}
			return false
		default:
			d = keys[k].(int) - keys[i].(int)
			if desc {
				d = -d
			}
		}
		if start {
			return d >= off
		}
		return d <= off
	}
	for k := range keys {
		if !side(f.Start, k, true) || !side(f.End, k, false) {
			continue
		}
		peer := keys[k] == keys[i]
		switch f.Exclude {
		case "current row":
			if k == i {
				continue
			}
		case "group":
			if peer {
				continue
			}
		case "ties":
			if peer && k != i {
				continue
			}
		}
		rows = append(rows, k)
	}
	return rows
}

func reference(n *plan.OverWindow, cs []testCase, have []optest.Row, out []types.Type) optest.ZSet {
	parts := map[any][]optest.Row{}
	for _, r := range have {
		parts[r[0]] = append(parts[r[0]], r)
	}
	z := optest.ZSet{}
	for _, rows := range parts {
		order := func(r optest.Row) []byte {
			b := optest.Batch(ts, []optest.Change{{Row: r, W: 1}})
			k := types.AppendKey(nil, i8, b.Cols[1].Datum(0), n.Sort[0].Desc, n.Sort[0].NullsFirst)
			return rowenc.AppendRow(k, b.Cols, 0)
		}
		sort.Slice(rows, func(i, j int) bool { return bytes.Compare(order(rows[i]), order(rows[j])) < 0 })
		keys := make([]any, len(rows))
		for i, r := range rows {
			keys[i] = r[1]
		}
		for i, r := range rows {
			row := append(optest.Row{}, r...)
			for k, c := range cs {
				row = append(row, c.want(rows, keys, i, frameRows(n.Funcs[k].Frame, keys, n.Sort[0].Desc, i)))
			}
			z.Add(optest.Print(out, row), 1)
		}
	}
	return z
}

// randomFrame makes a legal frame.
func randomFrame(rnd *rand.Rand) plan.Frame {
	kinds := []string{"unbounded preceding", "preceding", "current row", "following", "unbounded following"}
	f := plan.Frame{Mode: []string{"rows", "range", "groups"}[rnd.Intn(3)], Exclude: []string{"", "no others", "current row", "group", "ties"}[rnd.Intn(5)]}
	s := rnd.Intn(4)
	e := max(1, s+rnd.Intn(5-s))
	for _, b := range []struct {
		to   *plan.FrameBound
		kind int
	}{{&f.Start, s}, {&f.End, e}} {
		b.to.Kind = kinds[b.kind]
		if b.kind == 1 || b.kind == 3 {
			b.to.Offset = optest.Const(i8, rnd.Intn(4))
		}
	}
	return f
}

func TestOver(t *testing.T) {
	testOver(t, 2, 6, func(_ *rand.Rand, cs []testCase) []testCase { return cs }, randomFrame)
}

// TestOverLocal: functions that look at near rows only, of partitions that are much longer than that.
func TestOverLocal(t *testing.T) {
	testOver(t, 1, 60, func(rnd *rand.Rand, cs []testCase) (out []testCase) {
		for _, c := range cs {
			if name := c.f.Fn.Name; (c.f.Fn.Class == fn.Aggregate || name == "lag" || name == "lead" || strings.HasSuffix(name, "_value")) && rnd.Intn(3) == 0 {
				out = append(out, c)
			}
		}
		return append(out, cs[6])
	}, func(rnd *rand.Rand) plan.Frame {
		for {
			f := randomFrame(rnd)
			if f.Mode, f.Exclude = "rows", ""; !strings.HasPrefix(f.Start.Kind, "unbounded") && !strings.HasPrefix(f.End.Kind, "unbounded") {
				return f
			}
		}
	})
}

// testOver compares some of the cases with the reference over random changes of rows in so many partitions with so many values of the sort key.
func testOver(t *testing.T, parts, keys int, some func(*rand.Rand, []testCase) []testCase, frame func(*rand.Rand) plan.Frame) {
	rnd := seeded(t)
	for round := 0; round < 60; round++ {
		cs := some(rnd, cases())
		n := &plan.OverWindow{PartitionBy: []plan.Expr{optest.Col(ts, 0)},
			Sort: []plan.SortKey{{X: optest.Col(ts, 1), Desc: rnd.Intn(2) == 0, NullsFirst: rnd.Intn(2) == 0}}}
		out := append([]types.Type(nil), ts...)
		desc := ""
		for i := range cs {
			cs[i].f.Frame = frame(rnd)
			n.Funcs, out = append(n.Funcs, *cs[i].f), append(out, cs[i].f.Typ)
			desc += fmt.Sprintf("\n%s %+v", cs[i].f.Fn.Name, cs[i].f.Frame)
		}
		op, err := New(n, dataflow.InputTypes{ts}, table.NewTransient(), 0, &kernel.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if parts == 1 && !op.(*over).local {
			t.Fatalf("not local:%s", desc)
		}
		r := optest.New(t, op, dataflow.InputTypes{ts}, rnd)
		var have []optest.Row
		gen := func() optest.Row {
			row := optest.Row{rnd.Intn(parts), rnd.Intn(keys), rnd.Intn(6)}
			if rnd.Intn(6) == 0 {
				row[1+rnd.Intn(2)] = nil
			}
			return row
		}
		for e := 0; e < 6; e++ {
			changes := optest.Changes(rnd, 0, rnd.Intn(10+keys/2), &have, gen, true)
			rnd.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
			if err := r.Epoch(changes, dataflow.NoWatermark, 0); err != nil {
				t.Fatal(err)
			}
			optest.Equal(t, fmt.Sprintf("round %d epoch %d, %+v%s", round, e, n.Sort[0], desc), r.Total, reference(n, cs, have, out))
		}
	}
}

// TestFloatSum: what was added and removed leaves no trace, and the sum is rounded once.
func TestFloatSum(t *testing.T) {
	rnd := seeded(t)
	s := &floatSum{}
	col := &batch.Vector{Type: f8}
	col.AppendFloat(1e20)
	col.AppendFloat(1)
	col.AppendFloat(-1e20)
	for i := 0; i < 200; i++ {
		col.AppendFloat((rnd.Float64() - 0.5) * float64(int64(1)<<uint(rnd.Intn(60))))
	}
	for i := 0; i < col.N; i++ {
		s.add(col, i)
	}
	for i := 3; i < col.N; i++ {
		s.remove(col, i)
	}
	if got := s.total(); got != 1 {
		t.Errorf("1e20 + 1 - 1e20 = %v", got)
	}
	s.reset()
	for _, x := range []float64{1, 1 << 53, 0x1p-60} { // 2^53 + 1 + a little rounds up
		s.grow(x)
	}
	if got := s.total(); got != 1<<53+2 {
		t.Errorf("got %v", got)
	}
}

// TestNumericScale: the scale of a sum is that of the rows in its frame.
func TestNumericScale(t *testing.T) {
	s := &numSum{scales: map[int]int{}}
	col, dst := batch.NewVector(num, 2), batch.NewVector(num, 3)
	for _, x := range []string{"1.250", "2.5", "NaN"} {
		v, err := types.NumParse(x)
		if err != nil {
			t.Fatal(err)
		}
		col.AppendDatum(v.Datum())
	}
	s.add(col, 0)
	s.add(col, 1)
	s.result(col, dst)
	s.add(col, 2)
	s.remove(col, 0)
	s.result(col, dst)
	s.remove(col, 2)
	s.result(col, dst)
	for i, want := range []string{"3.750", "NaN", "2.5"} {
		if got := types.NumDecode(dst.Bytes(i)).String(); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}
