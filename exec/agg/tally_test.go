package agg

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/state/table"
)

// TestPairSum compares sums with and without a rare high half with big integers.
func TestPairSum(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		h := table.NewTransient().Hash(table.Decl{Words: 5, Rare: 1, IntKey: true})
		slots := make([]int32, 2)
		h.FindOrAddInts([]int64{1, 2}, nil, slots)
		tg := &target{h: h, intKey: true}
		plain, rare := pairSum{1, -1}, pairSum{3, 0}
		want := [2]*big.Int{new(big.Int), new(big.Int)}
		for range r.IntN(60) {
			k := r.IntN(2)
			x := int64(r.Uint64()) >> r.IntN(64)
			if r.IntN(4) == 0 {
				x = []int64{math.MaxInt64, math.MinInt64, -1, 1}[r.IntN(4)]
			}
			hi := x >> 63
			if r.IntN(10) == 0 {
				hi = int64(r.Uint64()) >> 8 // sixty of them are within 128 bits
			}
			for _, s := range []pairSum{plain, rare} {
				s.add(tg, slots[k], uint64(x), uint64(hi))
			}
			want[k].Add(want[k], wide([]int64{x, hi}))
			for i, s := range slots {
				for _, p := range []pairSum{plain, rare} {
					if lo, hi := p.of(tg, s); wide([]int64{lo, hi}).Cmp(want[i]) != 0 {
						t.Fatalf("%v of entry %d: %d %d, want %v", p, i, lo, hi, want[i])
					}
				}
			}
		}
	}
}

// TestSlotSet compares a set of slots with a map.
func TestSlotSet(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var s slotSet
	n := 1
	for range 60 {
		in := map[int32]bool{}
		for range r.IntN(2000) {
			if r.IntN(100) == 0 {
				n += r.IntN(20_000)
			}
			s.fit(n)
			x := int32(r.IntN(n))
			if got := s.add(x) == 0; got != in[x] {
				t.Fatalf("slot %d: %v", x, got)
			}
			in[x] = true
		}
		if s = s.emptied(); n > 400_000 {
			n = 1
		}
	}
}
