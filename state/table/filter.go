package table

// filter remembers hashes, in eleven bits each or a little more, and says of one that was not added that it may have been in one of
// a hundred and fifty cases for each of its parts. It is a Bloom filter of which all bits of a hash are in one line of the processor's
// cache. It grows by a part half as large as all before, so that nothing has to be added anew.
//
// The first part of one that may come to have many hashes, or few, is a third as large until lines have filterThin of them each. Then it is widened: each
// line becomes three that are alike, as a hash of it belongs into one of these. So lines have some bits that are none of theirs, and a hash takes 13.5 bits, but
// there is still one part, and one place to look.
type filter struct {
	parts [][]uint64
	room  int  // hashes that the last part has room for
	n     int  // hashes that were added
	size  int  // bytes of all parts
	thin  bool // the only part is yet to be widened
}

const (
	filterLine = 8  // words
	filterPer  = 46 // hashes that a line has room for
	filterBits = 6  // of a line that a hash sets, one or several of them the same
	filterMin  = 1 << 12

	filterThin  = 12                                              // hashes of a line at which a thin part is widened
	filterWiden = 3                                               // lines that each becomes
	filterWide  = filterThin + filterWiden*(filterPer-filterThin) // hashes that a line has room for then, with those that come of it
)

// line gives where in a part of n words the line of a hash begins. The tag, the upper half, is the same for many keys of a segment.
func line(hash uint64, n int) int {
	return int(uint64(uint32(hash^hash>>29))*uint64(n/filterLine)>>32) * filterLine
}

// spread gives the hash from which the bits within the line are taken, nine each.
func spread(hash uint64) uint64 { return hash * 0x9e3779b97f4a7c15 >> 10 }

// add adds a hash. The first makes room for so many; with thin that is what there is room for when they have become many.
func (f *filter) add(hash uint64, first int, thin bool) {
	if f.has(hash) {
		return
	}
	if f.room == 0 {
		f.grow(max(first, filterMin), thin)
	}
	f.room--
	f.n++
	p := f.parts[len(f.parts)-1]
	b := p[line(hash, len(p)):][:filterLine]
	x := spread(hash)
	for range filterBits {
		b[x>>6&(filterLine-1)] |= 1 << (x & 63)
		x >>= 9
	}
}

// grow makes room for more hashes.
func (f *filter) grow(first int, thin bool) {
	switch {
	case f.thin:
		f.widen()
	case len(f.parts) > 0:
		f.addPart(f.size/(8*filterLine)/2, filterPer)
	case thin:
		f.addPart(first/filterWide+1, filterThin)
		f.thin = true
	default:
		f.addPart(first/filterPer+1, filterPer)
	}
}

// addPart adds a part of so many lines, of so many hashes each.
func (f *filter) addPart(lines, per int) {
	f.parts = append(f.parts, make([]uint64, lines*filterLine))
	f.size += 8 * filterLine * lines
	f.room = lines * per
}

// widen makes several lines of each of the only part: those to which their hashes belong in a part that is so many times as large (line).
func (f *filter) widen() {
	old := f.parts[0]
	wide := make([]uint64, 0, filterWiden*len(old))
	for i := 0; i < len(old); i += filterLine {
		for range filterWiden {
			wide = append(wide, old[i:i+filterLine]...)
		}
	}
	f.parts[0], f.thin = wide, false
	f.size = 8 * len(wide)
	f.room = len(wide) / filterLine * (filterPer - filterThin)
}

func (f *filter) has(hash uint64) bool {
	x := spread(hash)
	for _, p := range f.parts {
		if inLine(p[line(hash, len(p)):][:filterLine], x) {
			return true
		}
	}
	return false
}

func inLine(b []uint64, x uint64) bool {
	for range filterBits {
		if b[x>>6&(filterLine-1)]>>(x&63)&1 == 0 {
			return false
		}
		x >>= 9
	}
	return true
}
