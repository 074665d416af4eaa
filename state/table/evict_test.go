package table

import (
	"slices"
	"testing"
)

// TestEvictsWhatIsUsedLeast: of what is on disk, what changed least since evictions passed it goes first, wherever it is, and all of it is found again.
func TestEvictsWhatIsUsedLeast(t *testing.T) {
	b := &countingBacking{memBacking: memBacking{m: map[string]string{}}}
	sp := Open(b)
	sp.SetBudget(1)
	h := sp.Hash(Decl{Name: "t", Words: 1, IntKey: true})
	const n = 6000
	touch := func(from, to int64) {
		t.Helper()
		keys := make([]int64, 0, n)
		for k := from; k < to; k++ {
			keys = append(keys, k)
		}
		slots := make([]int32, len(keys))
		h.FindOrAddInts(keys, nil, slots)
		h.MarkDirty(slots)
	}
	checkpoint := func() { b.write(t, sp.Freeze()) }
	held := func() (of [3]int) { // of each third of the keys
		for s, f := range h.flags {
			if f&flagTomb == 0 {
				of[h.KeyInt(int32(s))/(n/3)]++
			}
		}
		return of
	}
	touch(0, n)
	checkpoint()
	touch(n/3, 2*n/3)
	checkpoint()
	for range 2 {
		touch(0, n/3)
		checkpoint()
	}
	sp.Thaw()
	sp.Finish()
	if got := held(); got != [3]int{n / 3, n / 3, n / 3} {
		t.Fatalf("%v entries are in memory before the eviction", got)
	}
	all := sp.MemBytes()
	sp.Evict(all * 2 / 3)
	if got := held(); got[0] != n/3 || got[1] == 0 || got[2] > n/12 {
		t.Errorf("%v entries of those changed most, more and once are in memory", got)
	}
	sp.Evict(0)
	keys := []int64{1, n / 2, n - 1, 5, n/2 + 5, n - 5, 9, n/2 + 9}
	slots := make([]int32, len(keys))
	h.FindManyInts(keys, slots)
	if slices.Contains(slots, -1) {
		t.Fatalf("entries are missing: %v", slots)
	}
	if h.Len() != n {
		t.Errorf("%d entries, want %d", h.Len(), n)
	}
}

// TestUseGrows: a Freeze adds one to the use of what changed, and leaves other marks as they are.
func TestUseGrows(t *testing.T) {
	b := &memBacking{m: map[string]string{}}
	for _, n := range []int{1, 7, 8, 21} {
		h := Open(b).Hash(Decl{Name: "t", Words: 1, IntKey: true})
		for k := range n {
			h.FindOrAddInts([]int64{int64(k)}, nil, make([]int32, 1))
		}
		for s := range h.flags {
			h.flags[s] = flagOnDisk | uint8(s%(mostUsed+1))*flagUsed
		}
		h.dirty = 0
		for s := range h.flags {
			if s%3 == 0 {
				h.markDirty(int32(s))
			}
		}
		h.inf.sp.Freeze()
		for s, f := range h.flags {
			want := flagOnDisk | uint8(s%(mostUsed+1))*flagUsed
			if s%3 == 0 {
				want = flagOnDisk | flagPending | flagFrozen | uint8(min(s%(mostUsed+1)+1, mostUsed))*flagUsed
			}
			if f != want {
				t.Errorf("slot %d of %d has flags %08b, want %08b", s, n, f, want)
			}
		}
	}
}
