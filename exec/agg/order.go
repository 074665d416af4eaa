package agg

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// keyed is an entry and a word to sort it by.
type keyed struct {
	key  uint64
	slot int32
}

// sorter orders entries by key; it keeps its memory.
type sorter struct{ a, b []keyed }

// sort orders slots of t by key order.
func (s *sorter) sort(t *target, slots []int32) {
	if len(slots) < 2 {
		return
	}
	if t.intKey {
		s.a = s.a[:0]
		for _, x := range slots {
			s.a = append(s.a, keyed{uint64(t.h.KeyInt(x)) ^ signBit, x})
		}
		s.radix()
		for i, k := range s.a {
			slots[i] = k.slot
		}
		return
	}
	// The 8 bytes after what all keys have in common decide mostly.
	common := len(t.h.Key(slots[0]))
	for _, x := range slots[1:] {
		common = commonPrefix(t.h.Key(slots[0])[:common], t.h.Key(x))
	}
	s.a = s.a[:0]
	for _, x := range slots {
		var buf [8]byte
		copy(buf[:], t.h.Key(x)[common:])
		s.a = append(s.a, keyed{binary.BigEndian.Uint64(buf[:]), x})
	}
	s.radix()
	for lo := 0; lo < len(s.a); {
		hi := lo + 1
		for hi < len(s.a) && s.a[hi].key == s.a[lo].key {
			hi++
		}
		if hi-lo > 1 {
			slices.SortFunc(s.a[lo:hi], func(x, y keyed) int { return bytes.Compare(t.h.Key(x.slot), t.h.Key(y.slot)) })
		}
		lo = hi
	}
	for i, k := range s.a {
		slots[i] = k.slot
	}
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

// radix sorts a by key, a byte at a time, passing over bytes in which the keys agree.
func (s *sorter) radix() {
	if len(s.a) < 256 {
		slices.SortFunc(s.a, func(x, y keyed) int {
			if x.key < y.key {
				return -1
			}
			if x.key > y.key {
				return 1
			}
			return 0
		})
		return
	}
	and, or := ^uint64(0), uint64(0)
	for _, k := range s.a {
		and &= k.key
		or |= k.key
	}
	if cap(s.b) < len(s.a) {
		s.b = make([]keyed, len(s.a))
	}
	s.b = s.b[:len(s.a)]
	for sh := uint(0); sh < 64; sh += 8 {
		if byte(and>>sh) == byte(or>>sh) {
			continue
		}
		var at [256]int
		for i := range s.a {
			at[byte(s.a[i].key>>sh)]++
		}
		sum := 0
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for _, k := range s.a {
			d := byte(k.key >> sh)
			s.b[at[d]] = k
			at[d]++
		}
		s.a, s.b = s.b, s.a
	}
}
