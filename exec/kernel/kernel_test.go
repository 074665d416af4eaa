package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

func compileText(t testing.TB, src string, cols string, typs ...types.Type) *Kernel {
	t.Helper()
	e, err := bindText(src, types.DefaultEnv(), strings.Fields(cols), typs)
	if err != nil {
		t.Fatal(err)
	}
	k, err := Compile(e, typs)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func ints(vals ...int64) *batch.Batch {
	v := batch.NewVector(types.Of(types.Int4), len(vals))
	for _, x := range vals {
		v.AppendInt(x)
	}
	return &batch.Batch{N: len(vals), Cols: []*batch.Vector{v}}
}

// TestGuards: what CASE, COALESCE, AND and OR guard is not evaluated, so it cannot fail.
func TestGuards(t *testing.T) {
	int4 := types.Of(types.Int4)
	b := ints(2, 0, 5)
	for _, c := range []struct{ src, want string }{
		{"case when x <> 0 then 10 / x end", "5,NULL,2"},
		{"case x when 0 then 0 else 10 / x end", "5,0,2"},
		{"coalesce(nullif(x, 0), 1 / (x + 1))", "2,1,5"},
		{"x <> 0 and 10 / x > 2", "t,f,f"},
		{"x = 0 or 10 / x > 2", "t,t,f"},
		{"case when x > 100 then 1 / 0 else x end", "2,0,5"},
	} {
		k := compileText(t, c.src, "x", int4)
		v, errs := k.Eval(nil, b, nil)
		if len(errs) > 0 {
			t.Errorf("%s: %v", c.src, errs[0].Err)
		}
		var got []string
		for i := 0; i < b.N; i++ {
			got = append(got, show(k.Type(), v.Datum(i)))
		}
		if s := strings.Join(got, ","); s != c.want {
			t.Errorf("%s: got %s, want %s", c.src, s, c.want)
		}
	}
}

// TestErrorsBelongToRows: only the rows that fail are reported, once each and in order, and only selected ones.
func TestErrorsBelongToRows(t *testing.T) {
	k := compileText(t, "10 / x + 2147483647 / x", "x", types.Of(types.Int4))
	v, errs := k.Eval(nil, ints(1, 0, 5, 0), nil)
	var got []string
	for _, e := range errs {
		got = append(got, fmt.Sprint(e.Row, " ", e.Err.Code))
	}
	if s := strings.Join(got, ", "); s != "0 22003, 1 22012, 3 22012" {
		t.Errorf("errors: %s", s)
	}
	if v.I64[2] != 2+429496729 {
		t.Errorf("row 2: %d", v.I64[2])
	}
	if _, errs = k.Eval(nil, ints(1, 0, 5, 0), []int32{2}); len(errs) > 0 {
		t.Errorf("errors of rows that were not selected: %v", errs)
	}
	if _, errs = k.Eval(nil, ints(), nil); len(errs) > 0 {
		t.Errorf("errors of no rows: %v", errs)
	}
	k = compileText(t, "1 / 0", "x", types.Of(types.Int4))
	if _, errs = k.Eval(nil, ints(1, 2), nil); len(errs) != 2 {
		t.Errorf("a constant error is every row's, got %v", errs)
	}
	if _, errs = k.Eval(nil, ints(), nil); len(errs) != 0 {
		t.Errorf("a constant error of no rows: %v", errs)
	}
}

// TestFilterStopsAtFirstFalse: AND in a filter does not evaluate the next operand for rows that are out already.
func TestFilterStopsAtFirstFalse(t *testing.T) {
	k := compileText(t, "x > 0 and 10 / x > 1 and x < 9", "x", types.Of(types.Int4))
	rows, errs := k.Filter(nil, ints(0, 1, 20, 3, 0), nil, nil)
	if fmt.Sprint(rows) != "[1 3]" || len(errs) != 0 {
		t.Errorf("got %v %v", rows, errs)
	}
	k = compileText(t, "10 / x > 1", "x", types.Of(types.Int4))
	rows, errs = k.Filter(nil, ints(0, 1, 20, 3, 0), nil, nil)
	if fmt.Sprint(rows) != "[1 3]" || len(errs) != 2 || errs[1].Row != 4 {
		t.Errorf("got %v %v", rows, errs)
	}
}

func TestFold(t *testing.T) {
	int4 := types.Of(types.Int4)
	for _, c := range []struct{ src, want string }{
		{"1 + 2 * 3", "7"},
		{"x + (1 + 2)", "call"},
		{"1 / 0", "call"}, // fails at run time, if it is reached
		{"lower('ABC') || 'd'", "abcd"},
		{"now()", "call"},
		{"random()", "call"},
		{"x + null", "NULL"},
		{"x > 1 and true", "call"},
		{"x > 1 and false", "f"},
		{"x > 1 or true", "t"},
		{"x > 1 or 1 = 2", "call"},
		{"case when 1 = 1 then x else 1 / 0 end", "col"},
		{"case when 1 = 2 then 1 / 0 else 3 end", "3"},
		{"coalesce(null, 4, x)", "4"},
		{"not true", "f"},
		{"5 in (1, 5)", "t"},
		{"array[1, 2]", "{1,2}"},
		{"'2024-01-01'::timestamp::text", "call"}, // depends on DateStyle
		{"'12'::text::int4", "12"},
		{"current_setting('x')", "call"},
	} {
		e, err := bindText(c.src, types.DefaultEnv(), []string{"x"}, []types.Type{int4})
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		got := ""
		switch f := Fold(e).(type) {
		case *plan.Const:
			got = show(f.Typ, f.Val)
		case *plan.Call:
			got = "call"
		case *plan.Col:
			got = "col"
		default:
			got = fmt.Sprintf("%T", f)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.src, got, c.want)
		}
	}
}

type fakeSession struct{ calls []string }

func (s *fakeSession) Call(name string, args []types.Datum) (types.Datum, error) {
	s.calls = append(s.calls, name)
	switch name {
	case "current_setting":
		if string(args[0].B) != "x" {
			return types.NullDatum, sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter %q", args[0].B)
		}
		return types.StringDatum("value"), nil
	}
	return types.NullDatum, nil
}

func TestSessionFunctions(t *testing.T) {
	s, env := &fakeSession{}, types.DefaultEnv()
	env.RegOID = func(_ types.Kind, text string) (uint32, error) { return uint32(len(text)), nil }
	env.RegName = func(_ types.Kind, oid uint32) (string, bool) { return fmt.Sprint("rel", oid), oid != 7 }
	for _, c := range []struct{ src, want string }{
		{"current_setting('x')", "value"},
		{"current_setting('y')", "error 42704"},
		{"'pg_class'::text::regclass::text", "rel8"},
		{"'123'::text::regclass::text", "rel123"},
		{"'7'::text::regclass::text", "7"},
		{"'-'::text::regproc::text", "-"},
		{"0::regnamespace::text", "-"},
		{"'int4'::text::regtype::text", "integer"},
		{"'pg_catalog.varchar(10)'::text::regtype::text", "character varying"},
		{"obj_description(null::oid)", "NULL"},
		{"format_type(null, null)", "NULL"},
	} {
		e, err := bindText(c.src, types.DefaultEnv(), nil, nil)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		d, err := EvalConst(e, &Env{Funcs: s, Session: env})
		got := show(e.Type(), d)
		if err != nil {
			got = "error " + string(sqlerr.CodeOf(err))
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.src, got, c.want)
		}
	}
	if n := strings.Count(strings.Join(s.calls, " "), "obj_description"); n != 0 {
		t.Error("a strict function of the session was called with NULL")
	}
	e, _ := bindText("current_setting('x')", types.DefaultEnv(), nil, nil)
	if _, err := EvalConst(e, nil); sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
		t.Errorf("without a session: %v", err)
	}
}

func TestNowAndWindows(t *testing.T) {
	const us = 1_000_000
	env := &Env{Now: 1_700_000_000 * us}
	for k, want := range map[types.Kind]string{
		types.TimestampTZ: "2023-11-14 22:13:20+00", types.Timestamp: "2023-11-14 22:13:20", types.Date: "2023-11-14", types.Time: "22:13:20",
	} {
		d, err := EvalConst(&plan.Now{Typ: types.Of(k)}, env)
		if got := show(types.Of(k), d); err != nil || got != want {
			t.Errorf("%v: got %s %v, want %s", k, got, err, want)
		}
	}
	w := types.WindowOf(types.Timestamp)
	v := batch.NewVector(w, 2)
	v.AppendPair(0, 600*us)
	v.AppendNull()
	b := &batch.Batch{N: 2, Cols: []*batch.Vector{v}}
	for src, want := range map[string]string{
		"window_time(w)": "1970-01-01 00:09:59.999999", "window_start(w)": "1970-01-01 00:00:00", "window_end(w)": "1970-01-01 00:10:00",
		"w = w": "t", "w < w": "f", "w::text": `("1970-01-01 00:00:00","1970-01-01 00:10:00")`,
		"to_json(w)": `{"start":"1970-01-01T00:00:00","end":"1970-01-01T00:10:00"}`,
	} {
		k := compileText(t, src, "w", w)
		out, errs := k.Eval(env, b, nil)
		if got := show(k.Type(), out.Datum(0)); len(errs) > 0 || got != want || !out.IsNull(1) {
			t.Errorf("%s: got %s (%v), want %s", src, got, errs, want)
		}
	}
	for end, want := range map[bool]int64{false: 0, true: 600 * us} {
		k, err := Compile(&plan.WindowField{X: &plan.Col{Typ: w}, End: end}, []types.Type{w})
		if err != nil {
			t.Fatal(err)
		}
		if out, _ := k.Eval(env, b, nil); out.I64[0] != want || !out.IsNull(1) {
			t.Errorf("end %v: got %d", end, out.I64[0])
		}
	}
}

func TestCompileErrors(t *testing.T) {
	for _, e := range []plan.Expr{
		&plan.Col{Index: 3, Typ: types.Of(types.Int4)},
		&plan.Param{N: 1, Typ: types.Of(types.Int4)},
	} {
		if _, err := Compile(e, nil); sqlerr.CodeOf(err) != sqlerr.InternalError {
			t.Errorf("%T: %v", e, err)
		}
	}
	f := &fn.Func{Name: "nosuch", Class: fn.Scalar}
	if _, err := Compile(&plan.Call{Fn: f, Typ: types.Of(types.Int4)}, nil); sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
		t.Errorf("unknown function: %v", err)
	}
	if _, err := CompileSet(f, nil, nil); sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
		t.Errorf("unknown set function: %v", err)
	}
}

// TestAssignmentLength: an assignment refuses what an explicit cast cuts.
func TestAssignmentLength(t *testing.T) {
	v3 := types.Type{Kind: types.Varchar, Mod: 7}
	text := types.Of(types.Text)
	for _, c := range []struct {
		in   string
		ctx  fn.CastContext
		want string
	}{
		{"abcd", fn.Explicit, "abc"}, {"abcd", fn.Assignment, "22001"}, {"abc  ", fn.Assignment, "abc"}, {"ab", fn.Assignment, "ab"},
	} {
		f, err := fn.ResolveCast(text, v3, c.ctx)
		if err != nil {
			t.Fatal(err)
		}
		d, err := EvalConst(&plan.Call{Fn: f, Args: []plan.Expr{&plan.Const{Val: types.StringDatum(c.in), Typ: text}}, Typ: v3}, nil)
		got := string(d.B)
		var e *sqlerr.Error
		if errors.As(err, &e) {
			got = string(e.Code)
		}
		if got != c.want {
			t.Errorf("%q in context %d: got %s, want %s", c.in, c.ctx, got, c.want)
		}
	}
}

// TestRelabelledCast: a call that is given a binary compatible type still does what it did.
func TestRelabelledCast(t *testing.T) {
	text := types.Of(types.Text)
	v3 := types.Type{Kind: types.Varchar, Mod: 7}
	f, err := fn.ResolveCast(text, v3, fn.Explicit)
	if err != nil {
		t.Fatal(err)
	}
	d, err := EvalConst(&plan.Call{Fn: f, Args: []plan.Expr{&plan.Const{Val: types.StringDatum("abcd"), Typ: text}}, Typ: text}, nil)
	if err != nil || string(d.B) != "abc" {
		t.Errorf("got %q %v", d.B, err)
	}
	// A column under another type comes out as that type.
	k, err := Compile(&plan.Col{Typ: types.Of(types.Int8)}, []types.Type{types.Of(types.Int4)})
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := k.Eval(nil, ints(1, 2), nil); v.Type.Kind != types.Int8 || v.I64[1] != 2 {
		t.Errorf("got %v", v.Type)
	}
}

// TestSetKernelReadsTheRow: arguments come from the row, evaluated anew for each.
func TestSetKernelReadsTheRow(t *testing.T) {
	int4 := types.Of(types.Int4)
	e, err := bindText("generate_series(1, x * 2)", types.DefaultEnv(), []string{"x"}, []types.Type{int4})
	if err != nil {
		t.Fatal(err)
	}
	c := e.(*plan.Call)
	k, err := CompileSet(c.Fn, c.Args, []types.Type{int4})
	if err != nil {
		t.Fatal(err)
	}
	b := ints(1, 0, 2)
	b.Cols[0].AppendNull()
	b.N++
	for row, want := range []string{"[1 2]", "[]", "[1 2 3 4]", "[]"} {
		got := []int64{}
		if err := k.Call(nil, b, row, func(v []types.Datum) bool { got = append(got, v[0].I); return true }); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("row %d: got %v, want %s", row, got, want)
		}
	}
	n := 0
	if err := k.Call(nil, b, 2, func([]types.Datum) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("emit said stop: %d rows, %v", n, err)
	}
}

// TestNoAllocation: the plain paths allocate nothing once their memory has grown.
func TestNoAllocation(t *testing.T) {
	typs := []types.Type{types.Of(types.Int4), types.Of(types.Text), types.Of(types.Timestamp)}
	b := batch.New(typs, 1000)
	for i := 0; i < 1000; i++ {
		if i%7 == 0 {
			b.Cols[0].AppendNull()
		} else {
			b.Cols[0].AppendInt(int64(i))
		}
		b.Cols[1].AppendString(fmt.Sprint("row ", i))
		b.Cols[2].AppendInt(int64(i) * 1e6)
	}
	b.N = 1000
	var out []int32
	for _, src := range []string{
		"x + 1 > 10", "x * 2 + x", "case when x > 5 then x else 0 end", "coalesce(x, 1)", "upper(s)", "s like '%5%'", "s = 'row 7'",
		"x > 5 and s <> 'row 7'", "t + interval '1 hour'", "x in (1, 2, 3)", "s in ('row 1')", "x is null", "substr(s, 2)", "x::float8",
	} {
		k := compileText(t, src, "x s t", typs...)
		run := func() {
			if k.Type().Kind == types.Bool {
				out, _ = k.Filter(plainEnv, b, nil, out)
			}
			k.Eval(plainEnv, b, nil)
		}
		run()
		if n := testing.AllocsPerRun(10, run); n > 0 {
			t.Errorf("%s: %v allocations a batch", src, n)
		}
	}
}

var plainEnv = &Env{}

// TestLongLiteral: a long literal takes memory for the rows that there are, and not for a whole batch.
func TestLongLiteral(t *testing.T) {
	text := types.Datum{B: bytes.Repeat([]byte("x"), 10_000)}
	k, err := Compile(&plan.Const{Typ: types.Of(types.Text), Val: text}, nil)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for _, n := range []int{1, 3, 2, 40, 41, batch.Target, 7} {
		v, errs := k.Eval(nil, &batch.Batch{N: n}, nil)
		if len(errs) > 0 || v.N != n {
			t.Fatalf("%d rows of %d: %v", v.N, n, errs)
		}
		for i := range n {
			if !bytes.Equal(v.Bytes(i), text.B) {
				t.Fatalf("row %d of %d is another", i, n)
			}
		}
		if most = max(most, n); v.MemBytes() > (2*most+1)*len(text.B) {
			t.Errorf("%d rows take %d bytes", n, v.MemBytes())
		}
	}
}
