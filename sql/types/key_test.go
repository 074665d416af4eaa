package types

import (
	"bytes"
	"math"
	"math/rand"
	"strings"
	"testing"
	"time"
)

// keyTypes are the types of which random values are made.
var keyTypes = []Type{
	Of(Bool), Of(Int4), Of(Int8), Of(Float4), Of(Float8), Of(Numeric), Of(Text), Of(Bpchar), Of(Bytea), Of(Date),
	Of(Timestamp), Of(Interval), Of(UUID), Of(JSONB), WindowOf(TimestampTZ), ArrayOf(Of(Int4)), ArrayOf(Of(Text)),
	ArrayOf(Of(Numeric)), Of(Record),
}

var smallFloats = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e-300, 5e-324}

func randomNum(r *rand.Rand) Num {
	switch r.Intn(8) {
	case 0:
		return [...]Num{NumNaN, NumInf, NumNegInf, {}}[r.Intn(4)]
	case 1, 2, 3: // few values, so that equal ones of other scales meet
		n := FromInt64(int64(r.Intn(5) - 2)).shiftLeft(r.Intn(3))
		n.scale = int32(r.Intn(4))
		return n
	}
	n := FromInt64(r.Int63() - r.Int63()).shiftLeft(r.Intn(45))
	n.scale = int32(r.Intn(60))
	return n
}

func randomJSON(r *rand.Rand, depth int) string {
	kinds := 7
	if depth > 2 {
		kinds = 5
	}
	switch r.Intn(kinds) {
	case 0:
		return [...]string{"null", "true", "false"}[r.Intn(3)]
	case 1, 2:
		return [...]string{"1", "1.0", "2", "-1", "10", "0.5"}[r.Intn(6)]
	case 3, 4:
		return [...]string{`""`, `"a"`, `"ab"`, `"b"`, `"\u0001"`, `"é"`}[r.Intn(6)]
	case 5:
		parts := make([]string, r.Intn(3))
		for i := range parts {
			parts[i] = randomJSON(r, depth+1)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	parts := make([]string, r.Intn(3))
	for i := range parts {
		parts[i] = [...]string{`"a":`, `"b":`, `"aa":`, `"":`}[r.Intn(4)] + randomJSON(r, depth+1)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func randomDatum(t Type, r *rand.Rand) Datum {
	if r.Intn(12) == 0 {
		return NullDatum
	}
	small := func() int64 {
		if r.Intn(6) == 0 {
			return [...]int64{math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32}[r.Intn(4)]
		}
		return int64(r.Intn(7) - 3)
	}
	switch t.Kind {
	case Bool:
		return IntDatum(int64(r.Intn(2)))
	case Float4, Float8:
		return FloatDatum(smallFloats[r.Intn(len(smallFloats))])
	case Numeric:
		return randomNum(r).Datum()
	case Interval:
		units := [...]int64{0, 1, -1, usecPerDay, -usecPerDay, 30 * usecPerDay, math.MaxInt64, math.MinInt64}
		return IntervalDatum(int32(r.Intn(5)-2), int32(r.Intn(5)-2)*15, units[r.Intn(len(units))])
	case UUID, Window:
		return PairDatum(small(), small())
	case Text, Bpchar, Bytea:
		b := make([]byte, r.Intn(4))
		for i := range b {
			b[i] = " \x00\x01\xffab"[r.Intn(6)]
		}
		return Datum{B: b}
	case JSONB:
		b, err := AppendJSONB(nil, []byte(randomJSON(r, 0)))
		if err != nil {
			panic(err)
		}
		return Datum{B: b}
	case Array:
		var elems []Datum
		for i := r.Intn(4); i > 0; i-- {
			elems = append(elems, randomDatum(t.ElemType(), r))
		}
		if len(elems) == 2 && r.Intn(2) == 0 {
			b, _ := AppendArrayDims(nil, t.ElemType(), []Dim{{1, r.Intn(2)}, {2, 1}}, elems)
			return Datum{B: b}
		}
		return Datum{B: AppendArray(nil, t.ElemType(), elems)}
	case Record:
		ts := []Type{Of(Int4), Of(Text)}[:r.Intn(3)]
		var ds []Datum
		for _, ft := range ts {
			ds = append(ds, randomDatum(ft, r))
		}
		return Datum{B: AppendRecord(nil, ts, ds)}
	}
	return IntDatum(small())
}

// checkPair proves the promises of keys, hashes and row values for two values.
func checkPair(t *testing.T, typ Type, a, b Datum) {
	t.Helper()
	c := Compare(typ, a, b)
	if c != -Compare(typ, b, a) {
		t.Fatalf("%s: Compare is not antisymmetric for %v and %v", typ, a, b)
	}
	if Equal(typ, a, b) != (c == 0) {
		t.Fatalf("%s: Equal differs from Compare for %v and %v", typ, a, b)
	}
	if c == 0 && Hash(typ, a) != Hash(typ, b) {
		t.Fatalf("%s: equal values hash differently: %v and %v", typ, a, b)
	}
	for _, desc := range []bool{false, true} {
		want := c
		if desc && !a.Null && !b.Null {
			want = -c
		}
		// NULL last is Compare's own order. A second column follows, whose
		// order must not leak into the first's.
		x := append(AppendKey(nil, typ, a, desc, false), 0xff)
		y := append(AppendKey(nil, typ, b, desc, false), 0x00)
		got := bytes.Compare(x, y)
		if want != 0 && got != want || want == 0 && !bytes.Equal(x[:len(x)-1], y[:len(y)-1]) {
			t.Fatalf("%s desc=%v: keys order %d, values %d: %v and %v\n%x\n%x", typ, desc, got, want, a, b, x, y)
		}
	}
	if a.Null && !b.Null && bytes.Compare(AppendKey(nil, typ, a, false, true), AppendKey(nil, typ, b, false, true)) >= 0 {
		t.Fatalf("%s: NULL is not first", typ)
	}
	v := AppendValue(AppendValue(nil, typ, a), typ, b)
	for _, want := range []Datum{a, b} {
		got, rest, err := ReadValue(typ, v)
		if err != nil || got.Null != want.Null || got.I != want.I || got.J != want.J ||
			math.Float64bits(got.F) != math.Float64bits(want.F) || !bytes.Equal(got.B, want.B) {
			t.Fatalf("%s: row value of %v reads back as %v, %v", typ, want, got, err)
		}
		v = rest
	}
	if len(v) != 0 {
		t.Fatalf("%s: row values leave %x", typ, v)
	}
}

func TestKeyOrder(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewSource(seed))
	for _, typ := range keyTypes {
		for i := 0; i < 3000; i++ {
			checkPair(t, typ, randomDatum(typ, r), randomDatum(typ, r))
		}
	}
}

func TestCompareIsTransitive(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewSource(seed))
	for _, typ := range keyTypes {
		for i := 0; i < 1000; i++ {
			a, b, c := randomDatum(typ, r), randomDatum(typ, r), randomDatum(typ, r)
			if Compare(typ, a, b) <= 0 && Compare(typ, b, c) <= 0 && Compare(typ, a, c) > 0 {
				t.Fatalf("%s: %v <= %v <= %v", typ, a, b, c)
			}
		}
	}
}

func FuzzKeyOrder(f *testing.F) {
	f.Add(int64(1))
	f.Fuzz(func(t *testing.T, seed int64) {
		r := rand.New(rand.NewSource(seed))
		typ := keyTypes[r.Intn(len(keyTypes))]
		checkPair(t, typ, randomDatum(typ, r), randomDatum(typ, r))
	})
}

// FuzzParse checks that no input panics and that what is read survives being
// written as text, binary and row value.
func FuzzParse(f *testing.F) {
	kinds := append([]Type{Of(Int2), Of(Char), Of(Name), Of(Time), Of(TimestampTZ), Of(JSON), Of(OID), Of(Int2Vector),
		WindowOf(Timestamp), ArrayOf(Of(Timestamp)), ArrayOf(Of(JSONB))}, keyTypes...)
	for i, s := range []string{"1", "2024-01-01 10:00:00+02", "{1,NULL}", `{"a":[1.50]}`, "1 day -02:00", "(a,b)", "\\x00", "-1e-5"} {
		f.Add(uint8(i), s)
	}
	f.Fuzz(func(t *testing.T, k uint8, s string) {
		typ := kinds[int(k)%len(kinds)]
		ParseBinary(typ, []byte(s))
		ReadValue(typ, []byte(s))
		Compare(typ, Datum{B: []byte(s)}, Datum{B: []byte(s)})
		Format(typ, Datum{B: []byte(s)}, nil)
		d, err := Parse(typ, s, nil)
		if err != nil {
			return
		}
		text := Format(typ, d, nil)
		again, err := Parse(typ, text, nil)
		if err != nil || Format(typ, again, nil) != text {
			t.Fatalf("%s %q: text %q reads back as %q, %v", typ, s, text, Format(typ, again, nil), err)
		}
		bin, err := ParseBinary(typ, AppendBinary(nil, typ, d))
		if err != nil || Format(typ, bin, nil) != text {
			t.Fatalf("%s %q: binary reads back as %q, %v", typ, s, Format(typ, bin, nil), err)
		}
		checkPair(t, typ, d, again)
	})
}
