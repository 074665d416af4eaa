package table

// filter remembers hashes, in eleven bits each or a little more, and says of one that was not added that it may have been in one of
// a hundred and fifty cases for each of its parts. It is a Bloom filter of which all bits of a hash are in one line of the processor's
// cache. It grows by a part half as large as all before, so that nothing has to be added anew.
type filter struct {
	parts [][]uint64
	room  int // hashes that the last part has room for
	n     int // hashes that were added
	size  int // bytes of all parts
}

const (
	filterLine = 8  // words
	filterPer  = 46 // hashes that a line has room for
	filterBits = 6  // of a line that a hash sets, one or several of them the same
	filterMin  = 1 << 12
)

// line gives where in a part of n words the line of a hash begins. The tag, the upper half, is the same for many keys of a segment.
func line(hash uint64, n int) int {
	return int(uint64(uint32(hash^hash>>29))*uint64(n/filterLine)>>32) * filterLine
}

// spread gives the hash from which the bits within the line are taken, nine each.
func spread(hash uint64) uint64 { return hash * 0x9e3779b97f4a7c15 >> 10 }

// add adds a hash. The first makes room for so many.
func (f *filter) add(hash uint64, first int) {
	if f.has(hash) {
		return
	}
	if f.room == 0 {
		n := (max(first, filterMin)/filterPer + 1) * filterLine
		if len(f.parts) > 0 {
			n = f.size / 8 / 2 / filterLine * filterLine
		}
		f.parts = append(f.parts, make([]uint64, n))
		f.size += 8 * n
		f.room = n / filterLine * filterPer
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
