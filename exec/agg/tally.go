package agg

// A group that has no NULL in an argument, and sums that fit a word, are the rule. So that entries take few lines of the cache, what is zero then lies in rare
// words (table.Decl.Rare): how many rows of the group have a NULL, and what the high half of a sum has beyond the sign of the low one.

// tally tells how many rows of an input an entry has: word off; or, if that is -1, the rows of the group less those in rare word nulls.
type tally struct{ off, nulls int }

// count gives the number by the words of the entry; rare is nil where all are zero.
func (c tally) count(e, rare []int64) int64 {
	switch {
	case c.off >= 0:
		return e[c.off]
	case rare == nil:
		return e[wordRows]
	}
	return e[wordRows] - rare[c.nulls]
}

// of gives the number for an entry.
func (c tally) of(t *target, slot int32) int64 { return c.count(t.entry(slot)) }

// pairSum is a number of 128 bits, two's complement: the low half in word off, the high one in the next. If rare is not -1 the high
// half is what rare word rare adds to the sign of the low one.
type pairSum struct{ off, rare int }

// high gives the high half by the words of the entry.
func (x pairSum) high(e, rare []int64) int64 {
	switch {
	case x.rare < 0:
		return e[x.off+1]
	case rare == nil:
		return e[x.off] >> 63
	}
	return e[x.off]>>63 + rare[x.rare]
}

// of gives the number.
func (x pairSum) of(t *target, slot int32) (lo, hi int64) {
	e, rare := t.entry(slot)
	return e[x.off], x.high(e, rare)
}

// add adds to the number.
func (x pairSum) add(t *target, slot int32, lo, hi uint64) {
	e, rare := t.entry(slot)
	if x.rare < 0 {
		add128(e[x.off:], lo, hi)
		return
	}
	was := x.high(e, rare) - e[x.off]>>63
	p := [2]int64{e[x.off], x.high(e, rare)}
	add128(p[:], lo, hi)
	e[x.off] = p[0]
	t.h.AddRare(slot, x.rare, p[1]-p[0]>>63-was)
}

// entry gives the words of an entry, and its rare ones or nil.
func (t *target) entry(slot int32) (words, rare []int64) {
	all, w := t.h.WordsAll()
	lo := int(slot) * w
	return all[lo : lo+w : lo+w], t.rareOf(slot)
}

// rareOf gives the rare words of an entry, nil where all are zero.
func (t *target) rareOf(slot int32) []int64 {
	rare, n := t.h.Rare()
	if rare == nil {
		return nil
	}
	return rare[int(slot)*n:][:n]
}

// slotSet is a set of slots of a table that is emptied quickly: of each 4096 slots one bit tells whether any is in the set.
type slotSet struct {
	bits, blocks []uint64
}

// fit makes room for slots below n.
func (s *slotSet) fit(n int) {
	if n <= len(s.bits)*64 {
		return
	}
	n = (n + n/2 + 1<<12) >> 12
	s.bits = append(s.bits, make([]uint64, n*64-len(s.bits))...)
	s.blocks = append(s.blocks, make([]uint64, n/64+1-len(s.blocks))...)
}

// add adds a slot and gives 1 if it was not in the set, else 0.
func (s *slotSet) add(slot int32) uint64 {
	at, bit := uint32(slot)>>6, uint32(slot)&63
	s.blocks[at>>12] |= 1 << (at >> 6 & 63)
	old := s.bits[at]
	s.bits[at] = old | 1<<bit
	return ^old >> bit & 1
}

// emptied gives the empty set with the memory of s.
func (s slotSet) emptied() slotSet {
	for i, x := range s.blocks {
		for b := 0; x != 0; b, x = b+1, x>>1 {
			if x&1 != 0 {
				clear(s.bits[(i*64+b)*64:][:64])
			}
		}
	}
	clear(s.blocks)
	if len(s.bits) > 1<<18 {
		return slotSet{}
	}
	return s
}
