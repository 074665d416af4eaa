package agg

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// sortable is what a sorter orders: things that have slots and keys.
type sortable interface {
	// keyHeads gives words that are in the order of the slots' keys, and perhaps alike where these are not. For keys of bytes it is told how
	// many of them the keys are known to have in common, and gives how many these have.
	keyHeads(slots []int32, common int, heads []uint64) int
	// headsDecide says whether different keys have different words.
	headsDecide() bool
	// compareKeys orders two by their keys.
	compareKeys(x, y int32) int
}

// sorter orders slots by key; it keeps its memory. Of the next eight bytes in which keys differ, those bits that do differ, 32 of them at
// most, are sorted together with the slot, as one word. Entries that agree in these are sorted by what follows.
type sorter struct {
	heads, a, b []uint64
	counts      [radixPasses][1 << radixBits]uint32
}

const (
	radixBits   = 11
	radixPasses = 3 // that the 32 bits take
	// compareKeys is up to how many entries are sorted by comparing their keys.
	compareKeys = 32
	// radixFrom is the number of words from which on they are not sorted by comparing them.
	radixFrom = 512
)

// sort orders slots of t by their keys.
func (s *sorter) sort(t sortable, slots []int32) {
	n := len(slots)
	if cap(s.a) < n {
		s.heads, s.a, s.b = make([]uint64, n), make([]uint64, n), make([]uint64, n)
	}
	s.sortFrom(t, slots, 0, 0)
	if n > 1<<22 {
		s.heads, s.a, s.b = nil, nil, nil
	}
}

// sortFrom orders slots whose keys share their first common bytes; the memory from at on is for it.
func (s *sorter) sortFrom(t sortable, slots []int32, at, common int) {
	n := len(slots)
	if n <= compareKeys {
		slices.SortFunc(slots, t.compareKeys)
		return
	}
	heads, a, b := s.heads[at:at+n], s.a[at:at+n], s.b[at:at+n]
	common = t.keyHeads(slots, common, heads)
	and, or := ^uint64(0), uint64(0)
	for _, h := range heads {
		and, or = and&h, or|h
	}
	if and == or { // all that heads say of them: of keys of bytes, how many zeros they end with is left
		slices.SortFunc(slots, t.compareKeys)
		return
	}
	width := bitRuns(and^or).pack(heads, slots, a)
	a = s.sortWords(a, b, width)
	for i, x := range a {
		slots[i] = int32(uint32(x))
	}
	if t.headsDecide() && bits.OnesCount64(and^or) <= 32 {
		return
	}
	for lo := 0; lo < n; {
		hi := lo + 1
		for hi < n && a[hi]>>32 == a[lo]>>32 {
			hi++
		}
		if hi-lo > 1 {
			s.sortFrom(t, slots[lo:hi], at+lo, common)
		}
		lo = hi
	}
}

func (t *target) headsDecide() bool { return t.intKey }

// compareKeys orders two entries by their keys.
func (t *target) compareKeys(x, y int32) int {
	if t.intKey {
		return cmp.Compare(t.h.KeyInt(x), t.h.KeyInt(y))
	}
	return bytes.Compare(t.h.Key(x), t.h.Key(y))
}

// keyHeads gives words that are in the order of the slots' keys: the keys themselves, or the eight bytes behind what all have in common, of which
// it gives the length, common at least.
func (t *target) keyHeads(slots []int32, common int, heads []uint64) int {
	if t.intKey {
		for i, x := range slots {
			heads[i] = uint64(t.h.KeyInt(x)) ^ signBit
		}
		return 0
	}
	first := t.h.Key(slots[0])
	all := len(first)
	for _, x := range slots[1:] {
		if k := t.h.Key(x); len(k) < all || string(k[common:all]) != string(first[common:all]) {
			all = common + commonPrefix(first[common:all], k[common:])
		}
	}
	for i, x := range slots {
		k := t.h.Key(x)[all:]
		if len(k) >= 8 {
			heads[i] = binary.BigEndian.Uint64(k)
			continue
		}
		var buf [8]byte
		copy(buf[:], k)
		heads[i] = binary.BigEndian.Uint64(buf[:])
	}
	return all
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := 0; i < n; i++ {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// bitRuns says which bits of words matter.
type bitRuns uint64

// pack puts those bits of heads, the first 32 of them, above the slots in words, and gives their number.
func (m bitRuns) pack(heads []uint64, slots []int32, words []uint64) (width int) {
	for i, x := range slots {
		words[i] = uint64(uint32(x))
	}
	type run struct{ shift, width int } // bits one after the other
	var runs []run
	for m != 0 && width < 32 {
		hi := bits.Len64(uint64(m))
		w := min(bits.LeadingZeros64(^(uint64(m) << (64 - hi))), 32-width)
		runs = append(runs, run{hi - w, w})
		width += w
		m &= 1<<(hi-w) - 1
	}
	for len(heads) > 0 { // some at a time, which stay in the nearest cache
		n := min(len(heads), 512)
		at := 32 + width
		for _, r := range runs {
			at -= r.width
			mask := uint64(1)<<r.width - 1
			for i, h := range heads[:n] {
				words[i] |= h >> r.shift & mask << at
			}
		}
		heads, words = heads[n:], words[n:]
	}
	return width
}

// sortWords sorts a by the width bits from 32 on, with b to help; it gives which of both holds the result.
func (s *sorter) sortWords(a, b []uint64, width int) []uint64 {
	if len(a) < radixFrom {
		slices.Sort(a)
		return a
	}
	passes := (width + radixBits - 1) / radixBits
	digit := (width + passes - 1) / passes
	mask := uint64(1)<<digit - 1
	for p := range passes {
		clear(s.counts[p][:1<<digit])
	}
	for _, x := range a {
		x >>= 32
		for p := range passes {
			s.counts[p][x&mask&(1<<radixBits-1)]++
			x >>= digit
		}
	}
	for p := range passes {
		at := &s.counts[p]
		sum := uint32(0)
		for i, n := range at[:1<<digit] {
			at[i] = sum
			sum += n
		}
		shift := 32 + p*digit
		for _, x := range a {
			d := x >> shift & mask & (1<<radixBits - 1)
			b[at[d]] = x
			at[d]++
		}
		a, b = b, a
	}
	return a
}
