package fn

import (
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

func typesOf(t *testing.T, words string) []types.Type {
	t.Helper()
	var out []types.Type
	for _, w := range strings.Fields(words) {
		var f Func
		if w == "unknown" {
			out = append(out, types.Of(types.Unknown))
			continue
		}
		out = append(out, f.typeOf(w, words))
	}
	return out
}

// The results are those of PostgreSQL 15 (pg_typeof of the call, EXPLAIN VERBOSE for the arguments).
func TestResolveCall(t *testing.T) {
	for _, c := range []struct{ name, args, sig, result string }{
		{"lower", "unknown", "lower(text)", "text"},
		{"lower", "varchar", "lower(text)", "text"},
		{"abs", "int4", "abs(int4)", "int4"},
		{"abs", "unknown", "abs(float8)", "float8"},
		{"sqrt", "int4", "sqrt(float8)", "float8"},
		{"sqrt", "numeric", "sqrt(numeric)", "numeric"},
		{"round", "numeric int4", "round(numeric,int4)", "numeric"},
		{"round", "int4 int4", "round(numeric,int4)", "numeric"},
		{"round", "int4", "round(float8)", "float8"},
		{"length", "unknown", "length(text)", "int4"},
		{"date_trunc", "unknown date", "date_trunc(text,timestamptz)", "timestamptz"},
		{"date_trunc", "unknown timestamp", "date_trunc(text,timestamp)", "timestamp"},
		{"concat", "int4 unknown bool", "concat(any)", "text"},
		{"array_append", "int4[] unknown", "array_append(anyarray,anyelement)", "int4[]"},
		{"array_append", "int4[] numeric", "array_append(anyarray,anyelement)", "numeric[]"},
		{"array_length", "text[] int4", "array_length(anyarray,int4)", "int4"},
		{"unnest", "int8[]", "unnest(anyarray)", "int8"},
		{"generate_series", "int4 int4", "generate_series(int4,int4)", "int4"},
		{"generate_series", "int4 int8", "generate_series(int8,int8)", "int8"},
		{"sum", "int4", "sum(int4)", "int8"},
		{"sum", "int8", "sum(int8)", "numeric"},
		{"avg", "int2", "avg(int2)", "numeric"},
		{"max", "varchar", "max(text)", "text"},
		{"max", "unknown", "max(text)", "text"},
		{"count", "", "count()", "int8"},
		{"array_agg", "int4", "array_agg(anyelement)", "int4[]"},
		{"array_agg", "int4[]", "array_agg(anyarray)", "int4[]"},
		{"percentile_cont", "float8 int4", "percentile_cont(float8,float8)", "float8"},
		{"lag", "int4 int4 numeric", "lag(anyelement,int4,anyelement)", "numeric"},
		{"to_char", "int4 unknown", "to_char(int4,text)", "text"},
		{"to_char", "date unknown", "to_char(timestamptz,text)", "text"},
		{"substring", "unknown unknown", "substring(text,text)", "text"},
		{"substring", "text int4", "substring(text,int4)", "text"},
		{"greatest", "int4 numeric", "greatest(anyelement)", "numeric"},
		{"extract", "unknown timestamptz", "extract(text,timestamptz)", "numeric"},
		{"float8", "unknown", "cast(text float8)", "float8"},
		{"date", "timestamp", "date(timestamp)", "date"},
		{"power", "int4 int4", "power(float8,float8)", "float8"},
		{"power", "int4 numeric", "power(numeric,numeric)", "numeric"},
	} {
		f, _, r, err := ResolveCall(c.name, typesOf(t, c.args))
		if err != nil {
			t.Errorf("%s(%s): %v", c.name, c.args, err)
			continue
		}
		if f.Signature() != c.sig || typeWord(r) != c.result {
			t.Errorf("%s(%s): got %s %s, want %s %s", c.name, c.args, f.Signature(), typeWord(r), c.sig, c.result)
		}
	}
}

func TestResolveOperator(t *testing.T) {
	for _, c := range []struct{ l, op, r, sig, result string }{
		{"int4", "+", "int8", "int4 + int8", "int8"},
		{"int4", "+", "numeric", "numeric + numeric", "numeric"},
		{"int4", "+", "float8", "float8 + float8", "float8"},
		{"int4", "+", "unknown", "int4 + int4", "int4"},
		{"float4", "*", "numeric", "float4 * float8", "float8"},

		{"", "-", "int2", "- int2", "int2"},
		{"text", "||", "int4", "text || anyelement", "text"},
		{"int4", "||", "unknown", "anyelement || text", "text"},
		{"unknown", "||", "unknown", "text || text", "text"},
		{"int4[]", "||", "int4", "anyarray || anyelement", "int4[]"},
		{"int4[]", "||", "unknown", "anyarray || anyarray", "int4[]"},
		{"int4[]", "||", "numeric", "anyarray || anyelement", "numeric[]"},
		{"varchar", "=", "unknown", "text = text", "bool"},
		{"varchar", "=", "bpchar", "bpchar = bpchar", "bool"},
		{"date", "<", "unknown", "date < date", "bool"},
		{"timestamp", "<", "date", "timestamp < date", "bool"},
		{"timestamp", "-", "timestamp", "timestamp - timestamp", "interval"},
		{"timestamp", "-", "unknown", "timestamp - timestamp", "interval"},
		{"timestamptz", "-", "timestamp", "timestamptz - timestamptz", "interval"},
		{"timestamp", "+", "interval", "timestamp + interval", "timestamp"},
		{"date", "+", "int4", "date + int4", "date"},
		{"date", "-", "date", "date - date", "int4"},
		{"interval", "*", "int4", "interval * float8", "interval"},
		{"jsonb", "->", "unknown", "jsonb -> text", "jsonb"},
		{"json", "->>", "int4", "json ->> int4", "text"},
		{"jsonb", "@>", "unknown", "jsonb @> jsonb", "bool"},
		{"int4[]", "@>", "int4[]", "anyarray @> anyarray", "bool"},
		{"int8", "=", "numeric", "numeric = numeric", "bool"},
		{"char", "=", "unknown", "char = char", "bool"},
		{"oid", "=", "int4", "oid = oid", "bool"},
		{"oid", "=", "regclass", "oid = oid", "bool"},
		{"unknown", "=", "unknown", "text = text", "bool"},
		{"unknown", "<", "int4", "int4 < int4", "bool"},
		{"int4", "^", "int4", "float8 ^ float8", "float8"},
		{"name", "~", "unknown", "name ~ text", "bool"},
		{"int4[]", "=", "unknown", "anyarray = anyarray", "bool"},
		{"window_timestamp", "=", "window_timestamp", "window_timestamp = window_timestamp", "bool"},
	} {
		ts := typesOf(t, c.l+" "+c.r)
		var left *types.Type
		if len(ts) == 2 {
			left = &ts[0]
		}
		f, _, _, r, err := ResolveOperator(c.op, left, &ts[len(ts)-1])
		if err != nil {
			t.Errorf("%s %s %s: %v", c.l, c.op, c.r, err)
			continue
		}
		if f.Signature() != c.sig || typeWord(r) != c.result {
			t.Errorf("%s %s %s: got %s -> %s, want %s -> %s", c.l, c.op, c.r, f.Signature(), typeWord(r), c.sig, c.result)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	check := func(err error, code sqlerr.Code, msg string) {
		t.Helper()
		if sqlerr.CodeOf(err) != code || err == nil || err.Error() != msg {
			t.Errorf("got %v (%s), want %s (%s)", err, sqlerr.CodeOf(err), msg, code)
		}
	}
	_, _, _, err := ResolveCall("lower", typesOf(t, "int4"))
	check(err, "42883", "function lower(integer) does not exist")
	_, _, _, err = ResolveCall("nosuch", typesOf(t, "int4 unknown"))
	check(err, "42883", "function nosuch(integer, unknown) does not exist")
	_, _, _, err = ResolveCall("unnest", typesOf(t, "unknown"))
	check(err, "42804", "could not determine polymorphic type because input has type unknown")
	i, x := types.Of(types.Int4), types.Of(types.Text)
	_, _, _, _, err = ResolveOperator("+", &i, &x)
	check(err, "42883", "operator does not exist: integer + text")
	u := types.Of(types.Unknown)
	_, _, _, _, err = ResolveOperator("-", nil, &u)
	check(err, "42725", "operator is not unique: - unknown")
	_, _, _, _, err = ResolveOperator("+", &u, &u)
	check(err, "42725", "operator is not unique: unknown + unknown")
	b := types.Of(types.Bool)
	_, _, _, _, err = ResolveOperator("-", nil, &b)
	check(err, "42883", "operator does not exist: - boolean")
	_, err = ResolveCast(b, types.Of(types.Date), Explicit)
	check(err, "42846", "cannot cast type boolean to date")
	_, err = CommonType([]types.Type{i, x})
	check(err, "42804", "types integer and text cannot be matched")
}

func TestCommonType(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"int4 int8", "int8"}, {"int8 int4 numeric", "numeric"}, {"numeric float8", "float8"}, {"int4 unknown", "int4"},
		{"unknown unknown", "text"}, {"date timestamptz", "timestamptz"}, {"varchar text", "varchar"}, {"varchar varchar", "varchar"},
		{"bpchar varchar", "bpchar"}, {"int2[] int4[]", "int4[]"},
	} {
		got, err := CommonType(typesOf(t, c.in))
		if err != nil || typeWord(got) != c.want {
			t.Errorf("%s: got %s %v, want %s", c.in, typeWord(got), err, c.want)
		}
	}
	v := types.Type{Kind: types.Varchar, Mod: 14}
	if got, _ := CommonType([]types.Type{v, v}); got != v {
		t.Errorf("modifier lost: %v", got)
	}
}

func TestCasts(t *testing.T) {
	one := func(w string) types.Type { return typesOf(t, w)[0] }
	for _, c := range []struct {
		from, to string
		ctx      CastContext
		ok, none bool
	}{
		{"int4", "int8", Implicit, true, true}, {"int8", "int4", Implicit, false, false}, {"int8", "int4", Assignment, true, false},
		{"int4", "text", Implicit, false, false}, {"int4", "text", Assignment, true, false}, {"text", "int4", Assignment, false, false},
		{"text", "int4", Explicit, true, false}, {"bool", "int4", Assignment, false, false}, {"bool", "int4", Explicit, true, false},
		{"text", "varchar", Implicit, true, true}, {"int4[]", "int8[]", Implicit, true, false}, {"int4[]", "text[]", Implicit, false, false},
		{"int4[]", "text", Assignment, true, false}, {"text", "int4[]", Explicit, true, false}, {"jsonb", "text", Assignment, true, false},
		{"float8", "int4", Implicit, false, false}, {"timestamp", "timestamptz", Implicit, true, false}, {"bytea", "uuid", Explicit, false, false},
	} {
		f, err := ResolveCast(one(c.from), one(c.to), c.ctx)
		if (err == nil) != c.ok || c.ok && (f == nil) != c.none {
			t.Errorf("%s -> %s (%d): got %v %v", c.from, c.to, c.ctx, f, err)
		}
	}
	v5 := types.Type{Kind: types.Varchar, Mod: 9}
	e, _ := ResolveCast(one("text"), v5, Explicit)
	a, _ := ResolveCast(one("text"), v5, Assignment)
	if e == nil || a == nil || e == a || e.Name != "cast" || a.Name != "assign" {
		t.Errorf("length casts: %v %v", e, a)
	}
	again, _ := ResolveCast(one("text"), v5, Explicit)
	if again != e {
		t.Error("a cast has two Funcs")
	}
	if LengthCast(one("text"), Explicit) != nil {
		t.Error("a length cast without length")
	}
}

func TestSignaturesAreUnique(t *testing.T) {
	seen := map[string]Class{}
	for _, f := range All() {
		key := f.Signature()
		if c, ok := seen[key]; ok && c == f.Class {
			t.Errorf("declared twice: %s", key)
		}
		seen[key] = f.Class
	}
}
