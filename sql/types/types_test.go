package types

import (
	"math"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

func TestNamesAndOIDs(t *testing.T) {
	for k := Unknown; k < NumKinds; k++ {
		typ := Of(k)
		if k == Int2Vector {
			typ.Elem = Int2
		}
		if typ.OID() == 0 {
			continue // Array and Window, which have none without an element
		}
		if got, ok := FromOID(typ.OID()); !ok || got != typ {
			t.Errorf("FromOID(%d) = %v, want %v", typ.OID(), got, typ)
		}
		want := typ
		if k == Char { // the name in pg_type of "char" is char, which SQL reads as character(1)
			want = Type{Kind: Bpchar, Mod: 5}
		}
		if got, ok := ByName(typ.InternalName()); !ok || got != want {
			t.Errorf("ByName(%s) = %v, want %v", typ.InternalName(), got, want)
		}
		if a := ArrayOf(Of(k)); a.OID() != 0 {
			if got, ok := FromOID(a.OID()); !ok || got.Kind != Array || got.Elem != k {
				t.Errorf("array of %s: FromOID(%d) = %v", typ, a.OID(), got)
			}
		}
	}
	for _, e := range []Kind{Timestamp, TimestampTZ, Date} {
		w := WindowOf(e)
		if got, ok := FromOID(w.OID()); !ok || got != w {
			t.Errorf("window of %v: %v", e, got)
		}
	}
}

// The wanted names are what format_type gives in PostgreSQL 15.
func TestFormatType(t *testing.T) {
	for _, c := range []struct {
		name string
		mods []int
		want string
	}{
		{"varchar", []int{10}, "character varying(10)"},
		{"numeric", []int{10, 2}, "numeric(10,2)"},
		{"numeric", []int{5, -3}, "numeric(5,-3)"},
		{"numeric", []int{4}, "numeric(4,0)"},
		{"char", nil, "character(1)"},
		{"character", []int{3}, "character(3)"},
		{"bpchar", nil, "bpchar"},
		{`"char"`, nil, `"char"`},
		{"timestamp", []int{3}, "timestamp(3) without time zone"},
		{"timestamptz", nil, "timestamp with time zone"},
		{"time", []int{0}, "time(0) without time zone"},
		{"interval", []int{2}, "interval(2)"},
		{"int4[]", nil, "integer[]"},
		{"_varchar", []int{5}, "character varying(5)[]"},
		{"STRING", nil, "text"},
		{"long", nil, "bigint"},
		{"Double", nil, "double precision"},
	} {
		typ, err := Modded(c.name, c.mods)
		if err != nil || typ.String() != c.want {
			t.Errorf("%s%v: %s, %v; want %s", c.name, c.mods, typ, err, c.want)
		}
	}
	for _, c := range []struct {
		name string
		mods []int
		code sqlerr.Code
	}{
		{"nosuch", nil, sqlerr.UndefinedObject},
		{"varchar", []int{0}, sqlerr.InvalidParameterValue},
		{"numeric", []int{1001}, sqlerr.InvalidParameterValue},
		{"int4", []int{3}, sqlerr.SyntaxError},
	} {
		if _, err := Modded(c.name, c.mods); sqlerr.CodeOf(err) != c.code {
			t.Errorf("%s%v: %v, want %s", c.name, c.mods, err, c.code)
		}
	}
}

func TestRelativeTimes(t *testing.T) {
	env := DefaultEnv()
	loc, err := ParseZone("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	env.Location = loc
	env.Now = time.Date(2024, 3, 1, 2, 30, 0, 123456000, time.UTC).UnixMicro() // 21:30 the day before in New York
	for _, c := range []struct {
		kind     Kind
		in, want string
	}{
		{TimestampTZ, "now", "2024-02-29 21:30:00.123456-05"},
		{Timestamp, "now", "2024-02-29 21:30:00.123456"},
		{Date, "now", "2024-02-29"},
		{Date, "today", "2024-02-29"},
		{Date, "tomorrow", "2024-03-01"},
		{TimestampTZ, "yesterday", "2024-02-28 00:00:00-05"},
		{Timestamp, "today 10:00", "2024-02-29 10:00:00"},
		{Time, "now", "21:30:00.123456"},
	} {
		d, err := Parse(Of(c.kind), c.in, env)
		if got := Format(Of(c.kind), d, env); err != nil || got != c.want {
			t.Errorf("%v %s: %s, %v; want %s", c.kind, c.in, got, err, c.want)
		}
	}
}

func TestWindow(t *testing.T) {
	w := WindowOf(Timestamp)
	const text = `("2024-01-01 00:00:00","2024-01-01 00:05:00")`
	d, err := Parse(w, text, nil)
	if err != nil || Format(w, d, nil) != text || d.J-d.I != 5*usecPerMin {
		t.Fatalf("%v %v", d, err)
	}
	b, err := ParseBinary(w, AppendBinary(nil, w, d))
	if err != nil || !Equal(w, b, d) {
		t.Fatalf("%v %v", b, err)
	}
	if got := string(AppendJSONValue(nil, w, d)); got != `{"start":"2024-01-01T00:00:00","end":"2024-01-01T00:05:00"}` {
		t.Error(got)
	}
	for _, bad := range []string{"", "(", "(2024-01-01)", "(2024-01-01,)", "(2024-01-01,2024-01-02,)", "(a,b)", "(2024-01-01,2024-01-02)x"} {
		if _, err := Parse(w, bad, nil); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestRecord(t *testing.T) {
	ts := []Type{Of(Int4), Of(Text), Of(Text), Of(Bool)}
	d := Datum{B: AppendRecord(nil, ts, []Datum{IntDatum(1), StringDatum(`a "b", c`), NullDatum, BoolDatum(true)})}
	if got, want := Format(Of(Record), d, nil), `(1,"a ""b"", c",,t)`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := string(AppendJSONValue(nil, Of(Record), d)), `{"f1":1,"f2":"a \"b\", c","f3":null,"f4":true}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestArrayAt(t *testing.T) {
	d, err := Parse(ArrayOf(Of(Int4)), "[0:1][5:7]={{1,2,3},{4,NULL,6}}", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := DecodeArray(Of(Int4), d.B)
	if a.NDim != 2 || a.N != 6 || ArrayLen(d.B) != 6 || a.Dims[1] != (Dim{Len: 3, Lower: 5}) {
		t.Fatalf("%+v", a)
	}
	if a.At(1, 7).I != 6 || a.At(0, 5).I != 1 || !a.At(1, 6).Null || !a.At(2, 5).Null || !a.At(0).Null {
		t.Error("wrong element")
	}
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	a, b := NumScaled(123456789, 4), NumScaled(-98765, 2)
	ab, bb := a.AppendTo(nil), b.AppendTo(nil)
	arr := AppendArray(nil, Of(Int8), []Datum{IntDatum(1), NullDatum, IntDatum(math.MinInt64)})
	doc := []byte(`{"a": [1, 2, {"b": "x"}], "c": 3}`)
	buf := make([]byte, 0, 256)
	for name, f := range map[string]func(){
		"num add":     func() { buf = NumDecode(ab).Add(NumDecode(bb)).AppendTo(buf[:0]) },
		"num compare": func() { Compare(Of(Numeric), Datum{B: ab}, Datum{B: bb}) },
		"num key":     func() { buf = AppendKey(buf[:0], Of(Numeric), Datum{B: ab}, true, false) },
		"num hash":    func() { Hash(Of(Numeric), Datum{B: ab}) },
		"num text":    func() { buf = a.AppendText(buf[:0]) },
		"text key":    func() { buf = AppendKey(buf[:0], Of(Text), Datum{B: doc}, false, false) },
		"row value": func() {
			buf = AppendValue(buf[:0], Of(Text), Datum{B: doc})
			if _, _, err := ReadValue(Of(Text), buf); err != nil {
				t.Fatal(err)
			}
		},
		"array": func() {
			x := DecodeArray(Of(Int8), arr)
			for range x.N {
				x.Next()
			}
		},
		"json get":         func() { v, _ := JSONGet(doc, "a"); JSONIndex(v, 2) },
		"timestamp text":   func() { buf = Append(buf[:0], Of(TimestampTZ), IntDatum(1700000000123456), nil) },
		"timestamp parse":  func() { parseISOTimestamp("2024-01-15 10:20:30.123456", false, nil) },
		"float text":       func() { buf = Append(buf[:0], Of(Float8), FloatDatum(0.1), nil) },
		"interval compare": func() { Compare(Of(Interval), IntervalDatum(1, 2, 3), IntervalDatum(1, 2, 4)) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestInt128(t *testing.T) {
	for _, c := range []struct {
		hi   int64
		lo   uint64
		want string
	}{
		{0, 5, "5"}, {-1, math.MaxUint64, "-1"}, {1, 0, "18446744073709551616"},
		{math.MinInt64, 0, "-170141183460469231731687303715884105728"},
	} {
		if got := FromInt128(c.hi, c.lo).String(); got != c.want {
			t.Errorf("%d %d: %s, want %s", c.hi, c.lo, got, c.want)
		}
	}
}

func BenchmarkNumSum(b *testing.B) {
	x := NumScaled(123456, 2).AppendTo(nil)
	var sum Num
	for b.Loop() {
		sum = sum.Add(NumDecode(x))
	}
}

func BenchmarkParseTimestamp(b *testing.B) {
	for b.Loop() {
		Parse(Of(Timestamp), "2024-01-15 10:20:30.123456", nil)
	}
}
