package batch

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/types"
)

var codecTypes = []types.Type{types.Of(types.Int8), types.Of(types.Bool), types.Of(types.Float8), types.Of(types.Text),
	{Kind: types.Varchar, Mod: 14}, types.WindowOf(types.Timestamp), types.Of(types.Interval), types.Of(types.Numeric), types.ArrayOf(types.Of(types.Int4))}

func randomBatch(r *rand.Rand, n int) *Batch {
	b := New(codecTypes, n)
	spread := uint(r.IntN(64))
	for range n {
		for _, v := range b.Cols {
			x := int64(r.Uint64() >> spread)
			if r.IntN(2) == 0 {
				x = -x
			}
			switch {
			case r.IntN(9) == 0:
				v.AppendNull()
			case v.Type.Layout() == types.LayoutI64:
				v.AppendInt(x)
			case v.Type.Layout() == types.LayoutF64:
				v.AppendFloat(math.Float64frombits(r.Uint64()))
			case v.Type.Layout() == types.LayoutPair:
				v.AppendPair(x, int64(r.IntN(300)))
			default:
				v.AppendString(fmt.Sprintf("%0*d", r.IntN(20), x))
			}
		}
		w := int64(1)
		if spread%3 == 0 {
			w = int64(r.IntN(5)) - 7
		}
		b.EndRow(w)
	}
	return b
}

func sameBatch(t *testing.T, got, want *Batch) {
	t.Helper()
	if got.N != want.N || len(got.Cols) != len(want.Cols) || (got.Weights == nil) != (want.Weights == nil) {
		t.Fatalf("%d rows, %d columns, want %d, %d", got.N, len(got.Cols), want.N, len(want.Cols))
	}
	for c := range want.Cols {
		if got.Cols[c].Type != want.Cols[c].Type || got.Cols[c].N != want.N {
			t.Fatalf("column %d: type %v", c, got.Cols[c].Type)
		}
	}
	for i := range want.N {
		if got.Weight(i) != want.Weight(i) {
			t.Fatalf("row %d: weight %d, want %d", i, got.Weight(i), want.Weight(i))
		}
		for c := range want.Cols {
			g, w := got.Cols[c].Datum(i), want.Cols[c].Datum(i)
			if g.Null != w.Null || g.I != w.I || g.J != w.J || math.Float64bits(g.F) != math.Float64bits(w.F) || !bytes.Equal(g.B, w.B) {
				t.Fatalf("row %d, column %d: %v, want %v", i, c, g, w)
			}
		}
	}
}

func TestCodec(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for _, n := range []int{0, 1, 2, 63, 64, 65, 1000, 2048, 2049, 5000} {
		for range 20 {
			b := randomBatch(r, n)
			if n > 10 && r.IntN(2) == 0 {
				lo := r.IntN(n / 2)
				b = b.Slice(lo, lo+1+r.IntN(n/2))
			}
			prefix := []byte("xyz")
			enc := Encode(prefix, b)[3:]
			got, err := Decode(enc)
			if err != nil {
				t.Fatal(err)
			}
			sameBatch(t, got, b)
			if again := Encode(nil, got); !bytes.Equal(again, enc) && b.N > 0 {
				// Values of NULL slots are kept, so encoding is stable.
				t.Fatal("encoding of the decoded batch differs")
			}
		}
	}
	b := New(codecTypes, 0) // constants beyond what may be of width 0
	for range 50_000 {
		for _, v := range b.Cols {
			v.AppendNull()
		}
		b.EndRow(1)
	}
	got, err := Decode(Encode(nil, b))
	if err != nil {
		t.Fatal(err)
	}
	sameBatch(t, got, b)
	if _, err := Decode(Encode(nil, &Batch{N: 7})); err != nil {
		t.Fatal("batch without columns:", err)
	}
}

// TestForms: values in each form of the encoding come back as they were, and take the bytes that the form says.
func TestForms(t *testing.T) {
	const n = 3000
	r := rand.New(rand.NewPCG(7, 7))
	ints := func(f func(int) int64) *Vector {
		v := NewVector(types.Of(types.Int8), n)
		for i := range n {
			v.AppendInt(f(i))
		}
		return v
	}
	floats := func(f func(int) float64) *Vector {
		v := NewVector(types.Of(types.Float8), n)
		for i := range n {
			v.AppendFloat(f(i))
		}
		return v
	}
	texts := func(f func(int) string) *Vector {
		v := NewVector(types.Of(types.Text), n)
		for i := range n {
			v.AppendString(f(i))
		}
		return v
	}
	var odd [4]byte
	for c, tc := range []struct {
		v    *Vector
		most float64 // bytes a value
	}{
		{ints(func(i int) int64 { return -5 }), 0},
		{ints(func(i int) int64 { return int64(i % 200) }), 1},
		{ints(func(i int) int64 { return -40_000 + int64(i*20) }), 2},
		{ints(func(i int) int64 { return r.Int64N(100_000) }), 3},
		{ints(func(i int) int64 { return 1 << 40 * int64(i%2) }), 6},
		{ints(func(i int) int64 { return r.Int64N(1 << 35) }), 5},
		{ints(func(i int) int64 { return math.MinInt64 + r.Int64N(1<<50) }), 7},
		{ints(func(i int) int64 { return math.MinInt64 * int64(i%2) }), 8},
		{ints(func(i int) int64 { return math.MaxInt64*int64(i%2) - int64(i) }), 8},
		{ints(func(i int) int64 { return 1_700_000_000_123_456 + 1000*r.Int64N(60_000) }), 2},
		{ints(func(i int) int64 { return 1_700_000_000_123_456 + 1_000_000*r.Int64N(60_000) }), 2},
		{ints(func(i int) int64 { return 1_700_000_000_123_456 + 1000*r.Int64N(60_000) + int64(i/(n-1)) }), 4},
		{floats(func(i int) float64 { return float64(r.IntN(100_000)) / 100 }), 3},
		{floats(func(i int) float64 { return -1 - float64(r.IntN(100)) }), 1},
		{floats(func(i int) float64 { return float64(i%50)/100 + float64(i/(n-1))/3 }), 8},
		{floats(func(i int) float64 { return math.Copysign(0, -1) }), 8},
		{floats(func(i int) float64 {
			return []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 1e-300, 1 << 53}[i%6]
		}), 8},
		{texts(func(i int) string { return fmt.Sprintf("https://example.org/%d", i%10) }), 11},
		{texts(func(i int) string {
			for k := range odd {
				odd[k] = byte(r.Uint32())
			}
			return string(odd[:])
		}), 4},
	} {
		enc := Encode(nil, &Batch{N: n, Cols: []*Vector{tc.v}})
		if got := float64(len(enc)-32) / n; got > tc.most {
			t.Errorf("case %d: %.2f bytes a value, want %.0f at most", c, got, tc.most)
		}
		got, err := Decode(enc)
		if err != nil {
			t.Fatalf("case %d: %v", c, err)
		}
		sameBatch(t, got, &Batch{N: n, Cols: []*Vector{tc.v}})
		var none Decoder
		none.Want = []bool{}
		if _, err := none.Decode(enc); err != nil {
			t.Errorf("case %d, passed over: %v", c, err)
		}
		for range 200 {
			enc[r.IntN(len(enc))] ^= 1 << r.IntN(8)
			if b, err := Decode(enc); err == nil {
				touch(b)
			}
		}
	}
}

func TestCodecRefusesDamage(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		enc := Encode(nil, randomBatch(r, r.IntN(100)))
		if _, err := Decode(enc[:r.IntN(len(enc))]); err == nil {
			t.Fatal("a truncated batch was accepted")
		}
		for range 20 {
			enc[r.IntN(len(enc))] ^= 1 << r.IntN(8)
			if b, err := Decode(enc); err == nil {
				touch(b)
			}
		}
	}
}

// touch reads every value, so that a bad offset shows.
func touch(b *Batch) {
	for i := range b.N {
		for _, v := range b.Cols {
			_ = v.Datum(i)
		}
	}
}

func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 100} {
		f.Add(Encode(nil, randomBatch(r, n)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if b, err := Decode(data); err == nil && b.N < 1<<20 {
			touch(b)
			Encode(nil, b)
		}
	})
}

func BenchmarkCodec(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	ts := []types.Type{types.Of(types.Int8), types.Of(types.Timestamp), types.Of(types.Float8), types.Of(types.Text)}
	in := New(ts, Target)
	for i := range Target {
		in.Cols[0].AppendInt(int64(r.IntN(100_000)))
		in.Cols[1].AppendInt(1_700_000_000_000_000 + int64(i)*1000)
		in.Cols[2].AppendFloat(r.Float64())
		in.Cols[3].AppendString(fmt.Sprintf("%012d", i))
		in.EndRow(1)
	}
	enc := Encode(nil, in)
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(enc)))
		var buf []byte
		for range b.N {
			buf = Encode(buf[:0], in)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(enc)))
		for range b.N {
			if _, err := Decode(enc); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestDecoder reads batches of different sizes with one decoder, all columns and some of them.
func TestDecoder(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	for range 40 {
		var d Decoder
		var want []int
		if r.IntN(4) > 0 {
			d.Want = make([]bool, r.IntN(len(codecTypes)+1))
			for i := range d.Want {
				d.Want[i] = r.IntN(2) == 0
			}
		}
		for i := range codecTypes {
			if d.Want == nil || i < len(d.Want) && d.Want[i] {
				want = append(want, i)
			}
		}
		for range 12 {
			b := randomBatch(r, r.IntN(300))
			enc := Encode(nil, b)
			got, err := d.Decode(enc)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got.Cols {
				if (v != nil) != (d.Want == nil || i < len(d.Want) && d.Want[i]) {
					t.Fatalf("column %d is there: %v", i, v != nil)
				}
			}
			sameBatch(t, got.Project(want), b.Project(want))
			// What is cut off or changed is an error or another batch, never a panic.
			bad := bytes.Clone(enc[:r.IntN(len(enc)+1)])
			if len(bad) > 2 {
				bad[2+r.IntN(len(bad)-2)] ^= 1 << r.IntN(8)
			}
			_, _ = d.Decode(bad)
		}
	}
}
