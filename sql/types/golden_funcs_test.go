package types

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// goldenFunc is a function whose answers are compared with PostgreSQL's: the
// query over $1, $2, ... as text, and the same in this package.
type goldenFunc struct {
	sql string
	run func(args []string) (string, error)
}

func numFunc(f func(n []Num) (Num, error)) func([]string) (string, error) {
	return func(args []string) (string, error) {
		var ns []Num
		for _, a := range args {
			n, err := NumParse(a)
			if err != nil {
				return "", err
			}
			ns = append(ns, NumDecode(n.AppendTo(nil)))
		}
		r, err := f(ns)
		return r.String(), err
	}
}

func noErr(f func(n []Num) Num) func([]string) (string, error) {
	return numFunc(func(n []Num) (Num, error) { return f(n), nil })
}

// val reads arguments of a type and panics on malformed ones.
func val(k Kind, s string) Datum {
	d, err := Parse(Of(k), s, nil)
	if err != nil {
		panic(err)
	}
	return d
}

func show(k Kind, d Datum, err error) (string, error) { return Format(Of(k), d, nil), err }

func showI(k Kind, i int64, err error) (string, error) { return Format(Of(k), Datum{I: i}, nil), err }

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }

func atof(s string) float64 { return val(Float8, s).F }

func zoneOf(s string) *time.Location {
	if s == "" {
		return nil
	}
	l, err := ParseZone(s)
	if err != nil {
		panic(err)
	}
	return l
}

func path(s string) []string {
	d, err := Parse(ArrayOf(Of(Text)), s, nil)
	if err != nil {
		panic(err)
	}
	var out []string
	a := DecodeArray(Of(Text), d.B)
	for _, e := range a.Elems() {
		out = append(out, string(e.B))
	}
	return out
}

func extractGolden(k Kind) func([]string) (string, error) {
	return func(a []string) (string, error) {
		n, null, err := Extract(a[0], k, val(k, a[1]), time.UTC)
		if null {
			return "NULL", err
		}
		return n.String(), err
	}
}

func charGolden(t Type, d Datum, format string) (string, error) {
	s, null, err := ToChar(t, d, format, nil)
	if null {
		return "NULL", err
	}
	return s, err
}

func optJSON(v []byte, ok bool) (string, error) {
	if !ok {
		return "NULL", nil
	}
	return string(v), nil
}

const num2 = "$1::text::numeric %s $2::text::numeric"

func op(o string) string { return "SELECT " + fmt.Sprintf(num2, o) }

var goldenFuncs = map[string]goldenFunc{
	"add": {op("+"), noErr(func(n []Num) Num { return n[0].Add(n[1]) })},
	"sub": {op("-"), noErr(func(n []Num) Num { return n[0].Sub(n[1]) })},
	"mul": {op("*"), numFunc(func(n []Num) (Num, error) { return n[0].Mul(n[1]) })},
	"div": {op("/"), numFunc(func(n []Num) (Num, error) { return n[0].Div(n[1]) })},
	"mod": {op("%"), numFunc(func(n []Num) (Num, error) { return n[0].Mod(n[1]) })},
	"quo": {"SELECT div($1::text::numeric, $2::text::numeric)", numFunc(func(n []Num) (Num, error) { return n[0].QuoTrunc(n[1]) })},
	"pow": {op("^"), numFunc(func(n []Num) (Num, error) { return n[0].Pow(n[1]) })},
	"log": {"SELECT log($1::text::numeric, $2::text::numeric)", numFunc(func(n []Num) (Num, error) { return n[1].Log(n[0]) })},
	"cmp": {"SELECT CASE WHEN a < b THEN -1 WHEN a > b THEN 1 ELSE 0 END FROM (SELECT $1::text::numeric a, $2::text::numeric b) x",
		func(a []string) (string, error) {
			return strconv.Itoa(Compare(Of(Numeric), val(Numeric, a[0]), val(Numeric, a[1]))), nil
		}},
	"sqrt":       {"SELECT sqrt($1::text::numeric)", numFunc(func(n []Num) (Num, error) { return n[0].Sqrt() })},
	"exp":        {"SELECT exp($1::text::numeric)", numFunc(func(n []Num) (Num, error) { return n[0].Exp() })},
	"ln":         {"SELECT ln($1::text::numeric)", numFunc(func(n []Num) (Num, error) { return n[0].Ln() })},
	"ceil":       {"SELECT ceil($1::text::numeric)", noErr(func(n []Num) Num { return n[0].Ceil() })},
	"floor":      {"SELECT floor($1::text::numeric)", noErr(func(n []Num) Num { return n[0].Floor() })},
	"abs":        {"SELECT abs($1::text::numeric)", noErr(func(n []Num) Num { return n[0].Abs() })},
	"neg":        {"SELECT - $1::text::numeric", noErr(func(n []Num) Num { return n[0].Neg() })},
	"trim_scale": {"SELECT trim_scale($1::text::numeric)", noErr(func(n []Num) Num { return n[0].TrimScale() })},
	"round": {"SELECT round($1::text::numeric, $2::text::int)", func(a []string) (string, error) {
		return NumDecode(val(Numeric, a[0]).B).Round(atoi(a[1])).String(), nil
	}},
	"trunc": {"SELECT trunc($1::text::numeric, $2::text::int)", func(a []string) (string, error) {
		return NumDecode(val(Numeric, a[0]).B).Trunc(atoi(a[1])).String(), nil
	}},
	"to_int8": {"SELECT $1::text::numeric::int8", func(a []string) (string, error) {
		i, err := NumDecode(val(Numeric, a[0]).B).ToInt64()
		return strconv.FormatInt(i, 10), err
	}},
	"to_float8": {"SELECT $1::text::numeric::float8", func(a []string) (string, error) {
		return Format(Of(Float8), FloatDatum(NumDecode(val(Numeric, a[0]).B).ToFloat64()), nil), nil
	}},
	"from_float8": {"SELECT $1::text::float8::numeric", func(a []string) (string, error) { return FromFloat64(atof(a[0])).String(), nil }},
	"from_float4": {"SELECT $1::text::float4::numeric", func(a []string) (string, error) {
		return FromFloat32(float32(val(Float4, a[0]).F)).String(), nil
	}},

	"ts_plus": {"SELECT $1::text::timestamp + $2::text::interval", func(a []string) (string, error) {
		r, err := TimestampAddInterval(val(Timestamp, a[0]).I, val(Interval, a[1]), nil)
		return showI(Timestamp, r, err)
	}},
	"tstz_plus": {"SELECT (set_config('TimeZone', $3, true) IS NOT NULL)::text || ' ' || ($1::text::timestamptz + $2::text::interval)::text", func(a []string) (string, error) {
		env := DefaultEnv()
		env.Location = zoneOf(a[2])
		r, err := TimestampAddInterval(val(TimestampTZ, a[0]).I, val(Interval, a[1]), env.Location)
		return "true " + Format(Of(TimestampTZ), Datum{I: r}, env), err
	}},
	"ts_minus": {"SELECT $1::text::timestamp - $2::text::timestamp", func(a []string) (string, error) {
		r, err := TimestampSub(val(Timestamp, a[0]).I, val(Timestamp, a[1]).I)
		return show(Interval, r, err)
	}},
	"age": {"SELECT age($1::text::timestamp, $2::text::timestamp)", func(a []string) (string, error) {
		r, err := Age(val(Timestamp, a[0]).I, val(Timestamp, a[1]).I, nil)
		return show(Interval, r, err)
	}},
	"date_trunc": {"SELECT date_trunc($1, $2::text::timestamp)", func(a []string) (string, error) {
		r, err := DateTrunc(a[0], val(Timestamp, a[1]).I, nil)
		return showI(Timestamp, r, err)
	}},
	"date_trunc_zone": {"SELECT date_trunc($1, $2::text::timestamptz, $3)", func(a []string) (string, error) {
		r, err := DateTrunc(a[0], val(TimestampTZ, a[1]).I, zoneOf(a[2]))
		return showI(TimestampTZ, r, err)
	}},
	"interval_trunc": {"SELECT date_trunc($1, $2::text::interval)", func(a []string) (string, error) {
		r, err := IntervalTrunc(a[0], val(Interval, a[1]))
		return show(Interval, r, err)
	}},
	"extract_ts":       {"SELECT extract_ts", extractGolden(Timestamp)},
	"extract_tstz":     {"SELECT extract_tstz", extractGolden(TimestampTZ)},
	"extract_date":     {"SELECT extract_date", extractGolden(Date)},
	"extract_time":     {"SELECT extract_time", extractGolden(Time)},
	"extract_interval": {"SELECT extract_interval", extractGolden(Interval)},
	"date_bin": {"SELECT date_bin($1::text::interval, $2::text::timestamp, $3::text::timestamp)", func(a []string) (string, error) {
		r, err := DateBin(val(Interval, a[0]), val(Timestamp, a[1]).I, val(Timestamp, a[2]).I)
		return showI(Timestamp, r, err)
	}},
	"interval_add": {"SELECT $1::text::interval + $2::text::interval", func(a []string) (string, error) {
		r, err := IntervalAdd(val(Interval, a[0]), val(Interval, a[1]))
		return show(Interval, r, err)
	}},
	"interval_mul": {"SELECT $1::text::interval * $2::text::float8", func(a []string) (string, error) {
		r, err := IntervalMul(val(Interval, a[0]), atof(a[1]))
		return show(Interval, r, err)
	}},
	"interval_div": {"SELECT $1::text::interval / $2::text::float8", func(a []string) (string, error) {
		r, err := IntervalDiv(val(Interval, a[0]), atof(a[1]))
		return show(Interval, r, err)
	}},
	"justify_hours":    {"SELECT justify_hours($1::text::interval)", intervalGolden(JustifyHours)},
	"justify_days":     {"SELECT justify_days($1::text::interval)", intervalGolden(JustifyDays)},
	"justify_interval": {"SELECT justify_interval($1::text::interval)", intervalGolden(JustifyInterval)},
	"interval_cmp": {"SELECT CASE WHEN a < b THEN -1 WHEN a > b THEN 1 ELSE 0 END FROM (SELECT $1::text::interval a, $2::text::interval b) x",
		func(a []string) (string, error) {
			return strconv.Itoa(Compare(Of(Interval), val(Interval, a[0]), val(Interval, a[1]))), nil
		}},
	"make_date": {"SELECT make_date($1::text::int, $2::text::int, $3::text::int)", func(a []string) (string, error) {
		r, err := MakeDate(atoi(a[0]), atoi(a[1]), atoi(a[2]))
		return showI(Date, r, err)
	}},
	"make_interval": {"SELECT make_interval($1::text::int,$2::text::int,$3::text::int,$4::text::int,$5::text::int,$6::text::int,$7::text::float8)", func(a []string) (string, error) {
		r, err := MakeInterval(atoi(a[0]), atoi(a[1]), atoi(a[2]), atoi(a[3]), atoi(a[4]), atoi(a[5]), atof(a[6]))
		return show(Interval, r, err)
	}},
	"at_zone": {"SELECT $1::text::timestamp AT TIME ZONE $2", func(a []string) (string, error) {
		l, err := ParseZone(a[1])
		if err != nil {
			return "", err
		}
		r, err := FromLocal(val(Timestamp, a[0]).I, l)
		return showI(TimestampTZ, r, err)
	}},
	"to_char_ts": {"SELECT to_char($1::text::timestamp, $2)", func(a []string) (string, error) {
		return charGolden(Of(Timestamp), val(Timestamp, a[0]), a[1])
	}},
	"to_char_tstz": {"SELECT to_char($1::text::timestamptz, $2)", func(a []string) (string, error) {
		return charGolden(Of(TimestampTZ), val(TimestampTZ, a[0]), a[1])
	}},
	"to_char_interval": {"SELECT to_char($1::text::interval, $2)", func(a []string) (string, error) {
		return charGolden(Of(Interval), val(Interval, a[0]), a[1])
	}},
	"to_char_num": {"SELECT to_char($1::text::numeric, $2)", func(a []string) (string, error) {
		return charGolden(Of(Numeric), val(Numeric, a[0]), a[1])
	}},
	"to_char_float8": {"SELECT to_char($1::text::float8, $2)", func(a []string) (string, error) {
		return charGolden(Of(Float8), val(Float8, a[0]), a[1])
	}},
	"to_char_int": {"SELECT to_char($1::text::int, $2)", func(a []string) (string, error) {
		return charGolden(Of(Int4), val(Int4, a[0]), a[1])
	}},
	"to_timestamp": {"SELECT to_timestamp($1, $2)", func(a []string) (string, error) {
		r, err := ToTimestamp(a[0], a[1], nil)
		return showI(TimestampTZ, r, err)
	}},
	"to_date": {"SELECT to_date($1, $2)", func(a []string) (string, error) {
		r, err := ToDate(a[0], a[1], nil)
		return showI(Date, r, err)
	}},

	"json_cmp": {"SELECT CASE WHEN a < b THEN -1 WHEN a > b THEN 1 ELSE 0 END FROM (SELECT $1::text::jsonb a, $2::text::jsonb b) x",
		func(a []string) (string, error) {
			return strconv.Itoa(Compare(Of(JSONB), val(JSONB, a[0]), val(JSONB, a[1]))), nil
		}},
	"json_contains": {"SELECT $1::text::jsonb @> $2::text::jsonb", func(a []string) (string, error) {
		return show(Bool, BoolDatum(JSONContains(val(JSONB, a[0]).B, val(JSONB, a[1]).B)), nil)
	}},
	"json_exists": {"SELECT $1::text::jsonb ? $2", func(a []string) (string, error) {
		return show(Bool, BoolDatum(JSONExists(val(JSONB, a[0]).B, a[1])), nil)
	}},
	"json_concat": {"SELECT $1::text::jsonb || $2::text::jsonb", func(a []string) (string, error) {
		return string(AppendJSONConcat(nil, val(JSONB, a[0]).B, val(JSONB, a[1]).B)), nil
	}},
	"json_delete": {"SELECT $1::text::jsonb - $2", func(a []string) (string, error) {
		b, err := AppendJSONDelete(nil, val(JSONB, a[0]).B, a[1])
		return string(b), err
	}},
	"json_delete_index": {"SELECT $1::text::jsonb - $2::text::int", func(a []string) (string, error) {
		b, err := AppendJSONDeleteIndex(nil, val(JSONB, a[0]).B, atoi(a[1]))
		return string(b), err
	}},
	"json_delete_path": {"SELECT $1::text::jsonb #- $2::text::text[]", func(a []string) (string, error) {
		b, err := AppendJSONDeletePath(nil, val(JSONB, a[0]).B, path(a[1]))
		return string(b), err
	}},
	"json_set": {"SELECT jsonb_set($1::text::jsonb, $2::text::text[], $3::text::jsonb, $4::text::bool)", func(a []string) (string, error) {
		b, err := AppendJSONSet(nil, val(JSONB, a[0]).B, path(a[1]), val(JSONB, a[2]).B, a[3] == "t")
		return string(b), err
	}},
	"json_insert": {"SELECT jsonb_insert($1::text::jsonb, $2::text::text[], $3::text::jsonb, $4::text::bool)", func(a []string) (string, error) {
		b, err := AppendJSONInsert(nil, val(JSONB, a[0]).B, path(a[1]), val(JSONB, a[2]).B, a[3] == "t")
		return string(b), err
	}},
	"json_strip": {"SELECT jsonb_strip_nulls($1::text::jsonb)", func(a []string) (string, error) {
		return string(AppendJSONStripNulls(nil, val(JSONB, a[0]).B, false)), nil
	}},
	"json_strip_text": {"SELECT json_strip_nulls($1::text::json)", func(a []string) (string, error) {
		return string(AppendJSONStripNulls(nil, []byte(a[0]), true)), nil
	}},
	"json_pretty": {"SELECT jsonb_pretty($1::text::jsonb)", func(a []string) (string, error) {
		return string(AppendJSONPretty(nil, val(JSONB, a[0]).B)), nil
	}},
	"json_get": {"SELECT $1::text::json -> $2", func(a []string) (string, error) { return optJSON(JSONGet([]byte(a[0]), a[1])) }},
	"json_index": {"SELECT $1::text::json -> $2::text::int", func(a []string) (string, error) {
		return optJSON(JSONIndex([]byte(a[0]), atoi(a[1])))
	}},
	"json_path": {"SELECT $1::text::json #> $2::text::text[]", func(a []string) (string, error) { return optJSON(JSONPath([]byte(a[0]), path(a[1]))) }},
	"json_text": {"SELECT $1::text::json ->> $2", func(a []string) (string, error) {
		v, ok := JSONGet([]byte(a[0]), a[1])
		if ok {
			var null bool
			v, null = JSONText(v)
			ok = !null
		}
		return optJSON(v, ok)
	}},
	"json_typeof": {"SELECT json_typeof($1::text::json)", func(a []string) (string, error) { return JSONTypeOf([]byte(a[0])).String(), nil }},
	"to_json": {"SELECT to_json", func(a []string) (string, error) {
		t, _ := ByName(a[0])
		d, err := Parse(t, a[1], nil)
		return string(AppendJSONValue(nil, t, d)), err
	}},
}

func intervalGolden(f func(Datum) (Datum, error)) func([]string) (string, error) {
	return func(a []string) (string, error) {
		r, err := f(val(Interval, a[0]))
		return show(Interval, r, err)
	}
}

// query gives the SQL of a call; extract and to_json need their first argument in the text.
func (f goldenFunc) query(name string, args []string) (string, []string) {
	if k, ok := strings.CutPrefix(name, "extract_"); ok {
		typ := map[string]string{"ts": "timestamp", "tstz": "timestamptz"}[k]
		if typ == "" {
			typ = k
		}
		return "SELECT extract(" + args[0] + " FROM $1::text::" + typ + ")", args[1:]
	}
	if name == "to_json" {
		return "SELECT to_json($1::text::" + args[0] + ")", args[1:]
	}
	return f.sql, args
}

func TestGoldenFunctions(t *testing.T) {
	golden(t, "functions.txt", func(c *pgconn.PgConn, line string) string {
		call, want, answered := strings.Cut(line, "\t=\t")
		parts := strings.Split(call, "\t")
		f, ok := goldenFuncs[parts[0]]
		if !ok {
			t.Fatalf("unknown function in %q", line)
		}
		var args []string
		for _, p := range parts[1:] {
			args = append(args, unesc(t, p))
		}
		if c != nil {
			sql, rest := f.query(parts[0], args)
			text, _ := ask(t, c, sql, rest...)
			want, answered = esc(text), true
		}
		if !answered {
			t.Fatalf("line without answer: %q", line)
		}
		got, err := f.run(args)
		if err != nil {
			got = errText(err)
		}
		if got != unesc(t, want) {
			t.Errorf("%s: got %s, want %s", strings.ReplaceAll(call, "\t", " | "), esc(got), want)
		}
		return call + "\t=\t" + want
	})
}
