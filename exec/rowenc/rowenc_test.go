package rowenc

import (
	"bytes"
	"math"
	"math/rand"
	"sort"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

func TestRows(t *testing.T) {
	ts := []types.Type{types.Of(types.Int8), types.Of(types.Float8), types.Of(types.Text), types.WindowOf(types.Timestamp), types.Of(types.Numeric)}
	n, err := types.NumParse("1.00")
	if err != nil {
		t.Fatal(err)
	}
	b := batch.New(ts, 2)
	for _, row := range [][]types.Datum{
		{types.IntDatum(-5), types.FloatDatum(math.Copysign(0, -1)), types.StringDatum("a\x00b"), types.PairDatum(1, 2), n.Datum()},
		{types.NullDatum, types.NullDatum, types.StringDatum(""), types.NullDatum, types.NullDatum},
	} {
		for c, d := range row {
			b.Cols[c].AppendDatum(d)
		}
		b.EndRow(1)
	}
	back := batch.New(ts, 2)
	var enc [2][]byte
	for i := range enc {
		enc[i] = AppendRow(nil, b.Cols, i)
		if rest := ReadRow(append(enc[i], 'x'), back.Cols); string(rest) != "x" {
			t.Fatalf("rest %q", rest)
		}
		if again := AppendRow(nil, back.Cols, i); !bytes.Equal(again, enc[i]) {
			t.Fatalf("row %d: %x, then %x", i, enc[i], again)
		}
	}
	for n := 0; n < len(enc[0]); n++ {
		if !panics(func() { ReadRow(enc[0][:n], batch.New(ts, 1).Cols) }) {
			t.Fatalf("%d bytes of a row were read", n)
		}
	}
}

func panics(f func()) (failed bool) {
	defer func() { _, failed = recover().(*table.Failure) }()
	f()
	return false
}

func TestTimesSort(t *testing.T) {
	times := []int64{math.MinInt64, -5, -1, 0, 1, 255, 256, math.MaxInt64}
	for i, a := range times {
		if got := ReadTime(AppendTime(nil, a)); got != a {
			t.Errorf("%d became %d", a, got)
		}
		for _, b := range times[i:] {
			key := append(AppendTime(nil, b), 0)
			if below := bytes.Compare(key, AfterTime(nil, a)) < 0; below != (b <= a) {
				t.Errorf("%d is after %d: %t", b, a, !below)
			}
		}
	}
}

func TestEventTime(t *testing.T) {
	date := batch.NewVector(types.Of(types.Date), 3)
	date.AppendInt(2)
	date.AppendInt(types.Infinity)
	date.AppendNull()
	win := batch.NewVector(types.WindowOf(types.Timestamp), 1)
	win.AppendPair(10, 20)
	for _, c := range []struct {
		v    *batch.Vector
		i    int
		want int64
		ok   bool
	}{{date, 0, 2 * MicrosPerDay, true}, {date, 1, types.Infinity, true}, {date, 2, 0, false}, {win, 0, 20, true}} {
		if got, ok := EventTime(c.v, c.i); got != c.want || ok != c.ok {
			t.Errorf("%v: %d %t", c, got, ok)
		}
	}
	if AddSat(math.MaxInt64, 1) != math.MaxInt64 || AddSat(math.MinInt64, -1) != math.MinInt64 || AddSat(math.MaxInt64, -1) != math.MaxInt64-1 {
		t.Error("AddSat")
	}
}

func TestPrefixEnd(t *testing.T) {
	for _, c := range []struct{ prefix, end []byte }{{[]byte{1, 2}, []byte{1, 3}}, {[]byte{1, 255}, []byte{2}}, {[]byte{255}, nil}, {nil, nil}} {
		if got := PrefixEnd(nil, c.prefix); !bytes.Equal(got, c.end) || (got == nil) != (c.end == nil) {
			t.Errorf("%v: %v", c.prefix, got)
		}
	}
}

func TestChanges(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	var c Changes
	for round := 0; round < 5; round++ {
		want := map[string]int64{}
		for i := 0; i < 200; i++ {
			k, w := string(rune('a'+rnd.Intn(26))), int64(rnd.Intn(5)-2)
			c.Add([]byte(k), w)
			want[k] += w
		}
		var keys []string
		_ = c.Each(false, func(key []byte, w int64) error {
			if want[string(key)] != w || w == 0 {
				t.Errorf("%s: %d, want %d", key, w, want[string(key)])
			}
			keys = append(keys, string(key))
			return nil
		})
		for k, w := range want {
			if w == 0 {
				delete(want, k)
			}
		}
		if len(keys) != len(want) || !sort.StringsAreSorted(keys) {
			t.Errorf("%d keys, want %d: %v", len(keys), len(want), keys)
		}
		c.Reset()
	}
}
