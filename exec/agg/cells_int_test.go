package agg

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

// TestOneEntry compares the sum, the least and the greatest value of rows of one entry, with and without gaps between the rows, with
// those that big integers give.
func TestOneEntry(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 3000 {
		vals := make([]int64, 1+r.IntN(70))
		narrow := r.IntN(64)
		for i := range vals {
			switch vals[i] = int64(r.Uint64()) >> narrow; r.IntN(20) {
			case 0:
				vals[i] = math.MinInt64
			case 1:
				vals[i] = math.MaxInt64
			}
		}
		var rows []int32
		leave := r.IntN(2) * r.IntN(5)
		for i := range vals {
			if r.IntN(5) >= leave {
				rows = append(rows, int32(i))
			}
		}
		if cut := r.IntN(len(rows) + 1); leave == 0 {
			rows = rows[cut:]
		}
		if len(rows) == 0 {
			continue
		}
		start := []int64{int64(r.Uint64()), int64(r.Uint64()) >> 8}
		want := wide(start)
		lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
		for _, k := range rows {
			want.Add(want, big.NewInt(vals[k]))
			lo, hi = min(lo, vals[k]), max(hi, vals[k])
		}
		got := []int64{start[0], start[1]}
		if sumOfRows(got, vals, rows); wide(got).Cmp(want) != 0 {
			t.Fatalf("%v + %v of %v = %v, want %v", start, rows, vals, wide(got), want)
		}
		if l, h := extremeInt(vals, rows, true), extremeInt(vals, rows, false); l != lo || h != hi {
			t.Fatalf("%v of %v: least %d, greatest %d, want %d, %d", rows, vals, l, h, lo, hi)
		}
	}
}

// wide gives the number that a low and a high word are.
func wide(p []int64) *big.Int {
	x := new(big.Int).Lsh(big.NewInt(p[1]), 64)
	return x.Add(x, new(big.Int).SetUint64(uint64(p[0])))
}
