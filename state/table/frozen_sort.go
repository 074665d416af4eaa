package table

import (
	"bytes"
	"math/bits"
	"slices"
)

// record locates a change in a part. head is what follows the common prefix of the key, for comparing.
type record struct {
	head       uint64
	block, off uint32
}

// recordSorter sorts the changes of parts, and keeps its memory from one to the
// next. That is done by the writer rather than when entries are copied, which holds up epochs.
type recordSorter struct {
	a, b []record
	at   []uint32
}

const (
	// distribute is the number of records from which on they are distributed by the leading bits of their heads before they are sorted.
	distribute = 64
	// byInsertion is up to how many records insertion is the quickest way to sort.
	byInsertion = 24
)

// sort gives the records of a part in the order of their keys, valid until the next call.
func (s *recordSorter) sort(p *part) []record {
	s.a = s.a[:0]
	and, or, ordered := ^uint64(0), uint64(0), true
	var last []byte
	for i, b := range p.blocks {
		for off := uint32(0); off < uint32(len(b)); {
			c, next := p.change(uint32(i), off)
			r := record{Head(c.Key[min(p.prefix, len(c.Key)):]), uint32(i), off}
			ordered = ordered && bytes.Compare(last, c.Key) <= 0
			last, off = c.Key, next
			and, or = and&r.head, or|r.head
			s.a = append(s.a, r)
		}
	}
	switch n := len(s.a); {
	case ordered: // an Ordered of which nothing was copied early
		return s.a
	case n < distribute:
		p.sortFew(s.a)
		return s.a
	}
	s.distribute(p, bits.LeadingZeros64(and^or))
	return s.b
}

// distribute sorts a into b; same is how many leading bits all heads share.
func (s *recordSorter) distribute(p *part, same int) {
	n := len(s.a)
	log := min(bits.Len(uint(n))-4, 16, 64-same)
	shift := uint(64 - same - log)
	mask := uint64(1)<<log - 1
	s.at = append(s.at[:0], make([]uint32, 1<<log+1)...)
	s.b = slices.Grow(s.b[:0], n)[:n]
	at := s.at
	for _, r := range s.a {
		at[r.head>>shift&mask+1]++
	}
	for i := 1; i < len(at); i++ {
		at[i] += at[i-1]
	}
	for _, r := range s.a {
		k := r.head >> shift & mask
		s.b[at[k]] = r
		at[k]++
	}
	lo := uint32(0)
	for _, hi := range at[:1<<log] { // which begin where the next one began
		p.sortFew(s.b[lo:hi])
		lo = hi
	}
}

// sortFew sorts records by comparing them.
func (p *part) sortFew(recs []record) {
	if len(recs) > byInsertion {
		slices.SortFunc(recs, func(a, b record) int {
			switch {
			case p.less(a, b):
				return -1
			case p.less(b, a):
				return 1
			}
			return 0
		})
		return
	}
	for i := 1; i < len(recs); i++ {
		r := recs[i]
		k := i
		for ; k > 0 && p.less(r, recs[k-1]); k-- {
			recs[k] = recs[k-1]
		}
		recs[k] = r
	}
}

func (p *part) less(a, b record) bool {
	if a.head != b.head {
		return a.head < b.head
	}
	x, _ := p.change(a.block, a.off)
	y, _ := p.change(b.block, b.off)
	return bytes.Compare(x.Key, y.Key) < 0
}
