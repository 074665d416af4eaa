package table

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync/atomic"
)

// Change is one key of a Frozen: set to Val, merged with it, or deleted.
type Change struct {
	Key, Val []byte
	Delete   bool
	Merge    bool // what there is and Val, which is newer, become one (BlockMerger)
}

// Range is a range of keys [Lo, Hi).
type Range struct{ Lo, Hi []byte }

// Frozen is what changed in a space between two Freezes: the space goes on
// while it is written. First the ranges are deleted, then the changes applied.
// It is of the space's goroutine until it is complete (Space.Step), then of
// whoever writes it; it completes itself when it is read before.
type Frozen struct {
	sp     *Space
	parts  []*part // in the order of their keys
	ranges []Range
	left   []member // tables that are not copied yet
	full   []*part  // parts with what the writer adds
	merged bool     // ranges are sorted
	done   atomic.Bool
}

// part is what changed in one table or in a stretch of its keys, or in the
// descriptions of all. Entries are copied into blocks that never move, as growing one
// buffer would hold up the epoch that does it: each is a header, the key and the value.
type part struct {
	prefix int           // bytes that all keys have in common, at least
	common []byte        // those of a part of newPart
	fill   func(p *part) // nil, or adds what else the part has, when it is written
	lent   int           // bytes that fill is about to copy
	hash   *hashPart     // nil, or how the changes are written as blocks
	blocks [][]byte
	n      int
	want   int // changes that there will be, about; 0: unknown
	bytes  int64
	few    [3][]byte // memory for blocks
}

// header is what precedes a key: its length and that of the value, deleted if the key is to be deleted; 4 bytes little-endian each.
const header = 8

const (
	deleted    = ^uint32(0)
	minBlock   = 4 << 10
	maxBlock   = 256 << 10
	perPart    = 2048 // entries of a Hash that are about as many as a part of it should have
	maxPartLog = 8    // the parts of a Hash are at most so many powers of two
)

// room gives the block to append to, with space for n bytes if n is less than a block. After appending, put notes the change.
func (p *part) room(n int) []byte {
	n += header
	l := len(p.blocks)
	if l == 0 || cap(p.blocks[l-1])-len(p.blocks[l-1]) < n {
		size := int(p.bytes) / 4 // of many parts with a last block each, little must be empty
		if left := p.want - p.n; p.n > 0 && left > 0 {
			size = max(size, (int(p.bytes)/p.n+1+header)*(left+left/32))
		}
		if p.blocks == nil {
			p.blocks = p.few[:0]
		}
		p.blocks = append(p.blocks, make([]byte, 0, max(min(max(size, minBlock), maxBlock), n)))
		l++
	}
	b := p.blocks[l-1]
	return b[:len(b)+header]
}

// put notes a change that was appended to the last block, which is now b: its key, of klen bytes, begins at off.
func (p *part) put(b []byte, off, klen int, del bool) {
	vlen := uint32(len(b) - off - klen)
	if del {
		vlen = deleted
	}
	binary.LittleEndian.PutUint32(b[off-header:], uint32(klen))
	binary.LittleEndian.PutUint32(b[off-header+4:], vlen)
	p.blocks[len(p.blocks)-1] = b
	p.n++
	p.bytes += int64(len(b) - off)
}

// add notes a change by its key and value.
func (p *part) add(key, val []byte, del bool) {
	b := p.room(len(key) + len(val))
	off := len(b)
	p.put(append(append(b, key...), val...), off, len(key), del)
}

// change gives what lies at off of a block, and where the next one begins.
func (p *part) change(block, off uint32) (c Change, next uint32) {
	b := p.blocks[block][off:]
	klen, vlen := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	end := header + klen
	c.Key = b[header:end:end]
	if vlen == deleted {
		c.Delete = true
	} else {
		c.Val = b[end : end+vlen : end+vlen]
		end += vlen
	}
	return c, off + end
}

// newPart adds a part whose keys begin with prefix; parts are added in the order of their keys.
func (f *Frozen) newPart(prefix []byte) *part {
	return f.newParts(prefix, 1)[0]
}

// newParts is newPart for several of one prefix.
func (f *Frozen) newParts(prefix []byte, n int) []*part {
	at, all := len(f.parts), make([]part, n)
	f.parts = slices.Grow(f.parts, n)
	for i := range all {
		all[i].prefix, all[i].common = len(prefix), prefix
		f.parts = append(f.parts, &all[i])
	}
	return f.parts[at : at+n : at+n]
}

// memBytes gives the memory that the copies of changes occupy, about.
func (p *part) memBytes() int64 {
	n := int64(p.lent)
	for _, b := range p.blocks {
		n += int64(cap(b))
	}
	return n
}

// Complete copies what is left; it is called from the space's goroutine.
func (f *Frozen) Complete() {
	for f.sp != nil && len(f.left) > 0 {
		f.sp.step(f, 1<<20)
	}
}

// written gives the parts with all that they have. It is the writer's work, and changes nothing that others see.
func (f *Frozen) written() []*part {
	f.Complete()
	if f.full != nil {
		return f.full
	}
	f.full = slices.Clone(f.parts)
	for i, p := range f.full {
		if p.fill != nil {
			all := *p
			all.blocks = slices.Clone(p.blocks)
			p.fill(&all)
			f.full[i] = &all
		}
	}
	return f.full
}

// Ranges lists the key ranges to delete, ascending and apart from each other.
func (f *Frozen) Ranges() []Range {
	f.Complete()
	if f.merged {
		return f.ranges
	}
	f.merged = true
	slices.SortFunc(f.ranges, func(a, b Range) int { return bytes.Compare(a.Lo, b.Lo) })
	merged := f.ranges[:0]
	for _, r := range f.ranges {
		if bytes.Compare(r.Lo, r.Hi) >= 0 {
			continue
		}
		if n := len(merged); n > 0 && bytes.Compare(merged[n-1].Hi, r.Lo) >= 0 {
			if bytes.Compare(merged[n-1].Hi, r.Hi) < 0 {
				merged[n-1].Hi = r.Hi
			}
			continue
		}
		merged = append(merged, r)
	}
	f.ranges = merged
	return f.ranges
}

// Len gives the number of changes, where each entry of a block is one.
func (f *Frozen) Len() int {
	n := 0
	for _, p := range f.written() {
		n += p.n
	}
	return n
}

// Bytes gives the size of keys and values, about.
func (f *Frozen) Bytes() int64 {
	n := int64(0)
	for _, p := range f.written() {
		n += p.bytes
		if h := p.hash; h != nil { // blocks have no tags, and less of a number
			n -= int64(p.n) * 4
			if h.ints {
				n -= int64(p.n) * 4
			}
		}
	}
	return n
}

// Each calls f for the changes in ascending order of keys. The slices are valid during the call.
func (f *Frozen) Each(g func(c Change) error) error {
	var s recordSorter
	var z bucketSorter
	for _, p := range f.written() {
		if p.hash != nil {
			if err := z.eachBlock(p, g); err != nil {
				return err
			}
			continue
		}
		for _, r := range s.sort(p) {
			c, _ := p.change(r.block, r.off)
			if err := g(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// Written says that the changes are on disk and that reads of the space's
// Backing see them. It may be called from any goroutine.
func (f *Frozen) Written() { f.done.Store(true) }
