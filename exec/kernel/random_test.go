package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// The columns of the random batches.
var (
	randCols  = []string{"a", "b", "c", "h", "f", "g", "s", "u", "n", "ts", "tz", "d", "iv", "p", "q", "j", "arr", "ch"}
	randTypes = []types.Type{
		types.Of(types.Int4), types.Of(types.Int4), types.Of(types.Int8), types.Of(types.Int2), types.Of(types.Float8), types.Of(types.Float4),
		types.Of(types.Text), types.Of(types.Text), types.Of(types.Numeric), types.Of(types.Timestamp), types.Of(types.TimestampTZ), types.Of(types.Date),
		types.Of(types.Interval), types.Of(types.Bool), types.Of(types.Bool), types.Of(types.JSONB), types.ArrayOf(types.Of(types.Int4)), {Kind: types.Bpchar, Mod: 9},
	}
)

// randExprs are evaluated over random batches in every way; each line that can fail fails for some rows.
var randExprs = []string{
	"a", "a + b", "a - b", "a * b", "a / b", "a % b", "a + c", "c * c", "h + h", "h * a", "-a", "@ c", "a & b", "a << 3", "~ c",
	"f + f", "f * 1e300", "f / f", "g + g", "g * f", "-f", "f / 0", "abs(a)", "sqrt(f)", "ln(f)", "round(n, 1)", "power(f, 2)",
	"n + n", "n * n", "n / n", "n % 3", "n > 1.5", "n = n",
	"a < b", "a <= 5", "a > 5", "a >= 5", "5 < a", "5 >= a", "a = 5", "a <> 5", "a = b", "a <> b", "a > b", "a >= c",
	"f < 1.5::float8", "f <= 0", "f > 0", "f >= 0", "f = 0", "f <> 0", "f < g", "0 < f", "f = 'NaN'",
	"s = 'abc'", "s <> 'abc'", "s < u", "'b' <= s", "s = u", "ch = 'abc'", "ch < 'b'", "s is distinct from u",
	"p", "not p", "p and q", "p or q", "p and a > 0", "a > 0 and b > 0 and c > 0", "a > 0 or b > 0 or c > 0", "p and not q or a = 1",
	"a <> 0 and 10 / a > 1", "a = 0 or 10 / a > 1", "10 / a > 1 and b > 0", "p and (10 / a > 1 or q)", "not (p or q) and a is not null",
	"case when a <> 0 then 10 / a end", "case when a <> 0 then 10 / a else b / 0 end", "case when p then s when q then u else 'z' end",
	"case a when 1 then 'one' when 2 then 'two' end", "coalesce(a, b, 7)", "coalesce(a, 1 / b)", "coalesce(s, u, '-')", "nullif(a, b)", "coalesce(n, 1.5)",
	"case when p then iv else interval '1 day' end", "case when p then f end", "coalesce(f, g)",
	"a is null", "a is not null", "s is null", "p is true", "p is not false", "p is unknown", "a is distinct from b", "f is not distinct from g", "n is distinct from 2",
	"a in (1, 2, 3)", "a not in (1, 2)", "a in (1, null)", "a not in (1, null)", "s in ('abc', 'b')", "n in (1, 1.5)", "a in (1,2,3,4,5,6,7,8,9,10,11)", "f in (0, 'NaN')",
	"lower(s)", "upper(s) || u", "length(s) + a", "substr(s, 2, 2)", "substr(s, a, b)", "left(s, a)", "s || a", "repeat(s, 2)", "concat(s, a, p)", "concat_ws('-', s, u, a)",
	"s like 'a%'", "s like u", "s ~ '^a'", "s ~ u", "replace(s, 'a', 'bb')", "split_part(s, 'b', h)", "md5(s)", "strpos(s, u)", "s::int4", "a::text", "a::int2", "c::int4", "f::int4", "n::int4", "a::numeric(5,2)", "s::varchar(2)",
	"a::float8", "c::float4", "f::float4", "n::float8", "f::numeric", "p::int4", "a::bool",
	"ts + iv", "ts - iv", "ts + interval '1 hour'", "tz + iv", "tz + interval '5 minutes'", "d + a", "d - d", "d + iv", "ts - ts", "ts < tz", "d < ts", "d = tz", "ts < timestamp '2024-06-01'",
	"date_trunc('hour', ts)", "date_trunc('day', tz)", "extract(hour from tz)", "date_part('dow', ts)", "ts::date", "d::timestamp", "tz::text", "iv * 2", "iv / f", "iv < interval '1 day'", "to_char(ts, 'YYYY-MM-DD')",
	"j -> 'x'", "j ->> 'x'", "(j ->> 'x')::int4", "j @> '{\"x\": 1}'", "j || '{\"y\": 2}'", "jsonb_build_object('a', a, 's', s)", "to_json(a)", "row(a, s)", "row_to_json(row(a, s))",
	"array[a, b]", "(array[a, b])[h]", "arr[1]", "arr[a]", "arr || a", "a = any(arr)", "a < all(arr)", "array_length(arr, 1)", "arr @> array[a]", "array_to_string(arr, ',')", "a = any(array[1,2,3])",
	"greatest(a, b, c)", "least(s, u)", "num_nulls(a, b, s)", "1 + 2", "1 / 0", "'x' || 'y'", "a + 1 / 0", "null::int4 + a", "p and 1 / 0 = 1", "case when a > 0 then 1 / 0 else 1 end",
	"random() < 2", "width_bucket(f, 0, 10, 5)", "regexp_replace(s, 'b', u)", "format('%s-%s', a, s)",
}

func randDatum(r *rand.Rand, t types.Type) types.Datum {
	if r.IntN(6) == 0 {
		return types.NullDatum
	}
	pick := func(s ...string) types.Datum {
		d, err := types.Parse(t, s[r.IntN(len(s))], nil)
		if err != nil {
			panic(err)
		}
		return d
	}
	switch t.Kind {
	case types.Int4:
		return pick("0", "1", "2", "3", "-1", "5", "7", "100", "2147483647", "-2147483648", "40000")
	case types.Int8:
		return pick("0", "1", "-5", "4000000000", "9223372036854775807", "-9223372036854775808")
	case types.Int2:
		return pick("0", "1", "2", "-1", "32767", "-32768")
	case types.Float8:
		return pick("0", "-0", "1.5", "2.5", "-3", "1e300", "1e-300", "NaN", "Infinity", "-Infinity", "3000000000")
	case types.Float4:
		return pick("0", "1.5", "3e38", "NaN", "-2")
	case types.Text:
		return pick("", "abc", "b", "ab", "Abc", "héé", "12", "a%", "(", "bab")
	case types.Bpchar:
		return pick("abc", "b", "", "z")
	case types.Numeric:
		return pick("0", "1.5", "1.50", "-2.25", "123456789012345678901234567890.5", "NaN", "3", "99999")
	case types.Timestamp, types.TimestampTZ:
		return pick("2024-01-31 10:00", "2024-06-01", "2023-03-26 01:30", "infinity", "1969-12-31 23:59:59.999999", "294246-01-01")
	case types.Date:
		return pick("2024-01-31", "2024-06-01", "infinity", "1970-01-01", "5000000-01-01")
	case types.Interval:
		return pick("1 hour", "1 month", "-1 day", "1 mon -2 days 03:00", "0", "178000000 years")
	case types.Bool:
		return pick("t", "f")
	case types.JSONB:
		return pick(`{"x": 1}`, `{"x": "7", "y": null}`, `{"x": "no"}`, `[1, 2]`, `3`)
	case types.Array:
		return pick("{1,2,3}", "{}", "{5,NULL}", "[2:3]={7,1}")
	}
	panic(t)
}

func randBatch(r *rand.Rand, n int) *batch.Batch {
	b := batch.New(randTypes, n)
	for c, t := range randTypes {
		nulls := r.IntN(3) > 0
		for i := 0; i < n; i++ {
			d := randDatum(r, t)
			for d.Null && !nulls {
				d = randDatum(r, t)
			}
			b.Cols[c].AppendDatum(d)
		}
	}
	b.N = n
	return b
}

// atRow gives the expression with the columns of a row as constants.
func atRow(e plan.Expr, b *batch.Batch, row int) plan.Expr {
	return plan.Rewrite(e, func(x plan.Expr) plan.Expr {
		if c, ok := x.(*plan.Col); ok {
			return &plan.Const{Val: b.Cols[c.Index].Datum(row).Clone(), Typ: c.Typ}
		}
		return x
	})
}

// TestVectorsAgainstRows evaluates every expression over random batches and compares each row with the same
// expression over constants, which the golden files compare with PostgreSQL.
func TestVectorsAgainstRows(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	session := *types.DefaultEnv()
	var err error
	if session.Location, err = time.LoadLocation("Europe/Berlin"); err != nil {
		t.Fatal(err)
	}
	env := &Env{Session: &session}
	var batches []*batch.Batch
	for _, n := range []int{0, 1, 63, 64, 65, 130} {
		batches = append(batches, randBatch(r, n))
	}
	batches = append(batches, randBatch(r, 150).Slice(7, 120), randBatch(r, 150).Slice(64, 128))
	for _, src := range randExprs {
		e, err := bindText(src, &session, randCols, randTypes)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		k, err := Compile(e, randTypes)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		for _, b := range batches {
			for _, sel := range [][]int32{nil, {}, randSel(r, b.N), randSel(r, b.N)} {
				compareRows(t, src, e, k, env, b, sel)
			}
		}
	}
}

func randSel(r *rand.Rand, n int) []int32 {
	sel := []int32{}
	for i := 0; i < n; i++ {
		if r.IntN(3) == 0 {
			sel = append(sel, int32(i))
		}
	}
	return sel
}

func compareRows(t *testing.T, src string, e plan.Expr, k *Kernel, env *Env, b *batch.Batch, sel []int32) {
	t.Helper()
	rows := sel
	if sel == nil {
		rows = make([]int32, b.N)
		for i := range rows {
			rows[i] = int32(i)
		}
	}
	v, errs := k.Eval(env, b, sel)
	if v.N != b.N {
		t.Fatalf("%s: %d values for %d rows", src, v.N, b.N)
	}
	// The vector is valid until the kernel's next use, so it is compared before Filter runs.
	failed := map[int]*sqlerr.Error{}
	for _, re := range errs {
		if failed[re.Row] != nil {
			t.Errorf("%s: two errors of row %d", src, re.Row)
		}
		failed[re.Row] = re.Err
	}
	var truths []int32
	for _, r := range rows {
		want, err := EvalConst(atRow(e, b, int(r)), env)
		got := failed[int(r)]
		delete(failed, int(r))
		switch {
		case (err != nil) != (got != nil), err != nil && err.Error() != got.Error():
			t.Errorf("%s: row %d: error %v, want %v (%s)", src, r, got, err, showRow(b, int(r)))
		case err != nil:
		default:
			d := v.Datum(int(r))
			if !sameDatum(e.Type(), d, want) {
				t.Errorf("%s: row %d: got %s, want %s (%s)", src, r, show(e.Type(), d), show(e.Type(), want), showRow(b, int(r)))
			}
			if e.Type().Kind == types.Bool && !want.Null && want.I != 0 {
				truths = append(truths, r)
			}
		}
	}
	if len(failed) > 0 {
		t.Errorf("%s: errors of rows that were not selected: %v", src, failed)
	}
	if e.Type().Kind == types.Bool {
		compareFilter(t, src, k, env, b, sel, truths)
	}
}

// compareFilter: where AND is involved a filter may skip errors that Eval reports, so only the rows count.
func compareFilter(t *testing.T, src string, k *Kernel, env *Env, b *batch.Batch, sel, want []int32) {
	t.Helper()
	got, _ := k.Filter(env, b, sel, nil)
	if fmt.Sprint(got) != fmt.Sprint(want) && len(got)+len(want) > 0 {
		t.Errorf("%s: filter gives %v, want %v", src, got, want)
	}
	if sel != nil {
		in := append([]int32{}, sel...) // not nil, which means all rows
		got, _ = k.Filter(env, b, in, in)
		if fmt.Sprint(got) != fmt.Sprint(want) && len(got)+len(want) > 0 {
			t.Errorf("%s: filter in place gives %v, want %v", src, got, want)
		}
	}
}

func sameDatum(t types.Type, a, b types.Datum) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	return show(t, a) == show(t, b)
}

func show(t types.Type, d types.Datum) string {
	if d.Null {
		return "NULL"
	}
	return types.Format(t, d, nil)
}

func showRow(b *batch.Batch, row int) string {
	s := ""
	for c, t := range randTypes {
		s += randCols[c] + "=" + show(t, b.Cols[c].Datum(row)) + " "
	}
	return s
}
