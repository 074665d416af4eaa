package table

// Rare words (Decl.Rare) are words of an entry that are zero in nearly all: they lie in an array of their own, which a table has once one of
// them is not zero, so that the others are in fewer lines of the cache.

// Rare gives the rare words of all entries: those of slot s begin at s*stride. They are nil while all are zero. Valid until the next FindOrAdd or AddRare.
func (t *Hash) Rare() (words []int64, stride int) { return t.rare, t.nrare }

// AddRare adds to rare word i of an entry, which is in memory. Call MarkDirty after a change.
func (t *Hash) AddRare(slot int32, i int, d int64) {
	if d == 0 {
		return
	}
	if t.rare == nil {
		t.roomForRare(len(t.flags))
	}
	t.rare[int(slot)*t.nrare+i] += d
}

// Slots gives a number that is above all slots in use.
func (t *Hash) Slots() int { return len(t.flags) }

// rareOf gives the rare words of an entry, nil where the table has none.
func (t *Hash) rareOf(slot int32) []int64 {
	if t.rare == nil {
		return nil
	}
	lo := int(slot) * t.nrare
	return t.rare[lo : lo+t.nrare : lo+t.nrare]
}

// setRare sets the rare words of a new entry.
func (t *Hash) setRare(slot int32, words []int64) {
	for i, x := range words {
		t.AddRare(slot, i, x)
	}
}

// roomForRare makes rare one of words for n slots at least; those that it did not have are zero.
func (t *Hash) roomForRare(n int) {
	if n*t.nrare <= len(t.rare) {
		return
	}
	c := max(2*len(t.rare), n*t.nrare, cap(t.ents)/t.stride*t.nrare, 8)
	if t.rareMem != nil && t.rareMem.resize(c) {
		t.rare = t.rareMem.ints(c)
		return
	}
	old, oldMem := t.rare, t.rareMem
	t.rare, t.rareMem = nil, nil
	if c >= mapFrom && t.inf.sp.backing != nil {
		if r := newRegion(c); r != nil {
			t.rare, t.rareMem = r.ints(c), r
		}
	}
	if t.rare == nil {
		t.rare = make([]int64, c)
	}
	copy(t.rare, old)
	oldMem.free()
}

// shrinkRare gives back what rare has beyond the words of n slots.
func (t *Hash) shrinkRare(n int) {
	if len(t.rare) <= 2*n*t.nrare {
		return
	}
	n *= t.nrare
	if t.rareMem != nil && t.rareMem.resize(n) {
		t.rare = t.rareMem.ints(n)
		return
	}
	rare := make([]int64, n)
	copy(rare, t.rare)
	t.rareMem.free()
	t.rare, t.rareMem = rare, nil
}

// freeRare lets go of the rare words.
func (t *Hash) freeRare() {
	t.rareMem.free()
	t.rare, t.rareMem = nil, nil
}

func anyWord(words []int64) bool {
	for _, x := range words {
		if x != 0 {
			return true
		}
	}
	return false
}
