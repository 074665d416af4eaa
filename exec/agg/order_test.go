package agg

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/state/table"
)

// TestSorter compares the order that it gives with one by comparing keys, over keys that differ in many bits and in few, early and late.
func TestSorter(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var s sorter
	for round := range 60 {
		n := 1 << r.IntN(14)
		n += r.IntN(n)
		var one [1]int32
		x := &target{h: table.NewTransient().Hash(table.Decl{Words: 1, IntKey: round%2 == 0}), intKey: round%2 == 0}
		if x.intKey {
			shift, mask := r.IntN(64), int64(r.Uint64()|r.Uint64())
			for range n {
				x.h.FindOrAddInts([]int64{r.Int64()>>r.IntN(1+shift)&mask - int64(r.IntN(2)<<20)}, nil, one[:])
			}
		} else {
			chars := []string{"ab", "\x00\x01", "0123456789", "\x00\xff\x01z"}[r.IntN(4)]
			common := bytes.Repeat([]byte{chars[0]}, r.IntN(30))
			length := 1 + r.IntN(30)
			for range n {
				k := slices.Clone(common)
				for range 1 + r.IntN(length) {
					k = append(k, chars[r.IntN(len(chars))])
				}
				x.h.FindOrAddBytes([]uint64{table.HashBytes(k)}, []uint32{0, uint32(len(k))}, k, one[:])
			}
		}
		var slots []int32
		x.h.Each(func(s int32) bool { slots = append(slots, s); return true })
		r.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
		want := slices.Clone(slots)
		slices.SortFunc(want, x.compareKeys)
		s.sort(x, slots)
		if !slices.Equal(slots, want) {
			t.Fatalf("round %d: %d keys are not in order", round, len(slots))
		}
		// Keys of many at once are those that one gets one by one.
		if x.intKey {
			keys := make([]int64, len(slots))
			x.h.KeysInt(slots, keys)
			for i, s := range slots {
				if keys[i] != x.h.KeyInt(s) {
					t.Fatalf("key of slot %d is %d", s, keys[i])
				}
			}
			continue
		}
		i := 0
		x.h.EachKey(slots, func(k []byte) {
			if !bytes.Equal(k, x.h.Key(slots[i])) {
				t.Fatalf("key of slot %d is %x", slots[i], k)
			}
			i++
		})
		if i != len(slots) {
			t.Fatalf("%d keys of %d", i, len(slots))
		}
	}
}
