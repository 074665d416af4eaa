package table

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync/atomic"
)

// Change is one key of a Frozen: set to Val, or deleted.
type Change struct {
	Key, Val []byte
	Delete   bool
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
	merged bool     // ranges are sorted
	done   atomic.Bool
}

// part is what changed in one table, or in the descriptions of all: entries are
// copied into blocks that never move, as growing one buffer would hold up the
// epoch that does it.
type part struct {
	prefix int // bytes that all keys have in common, at least
	blocks [][]byte
	recs   [][]record
	n      int
	bytes  int64
	sorted []record
}

// record locates a change: its key and behind it its value. head is what follows the common prefix of the key, for comparing.
type record struct {
	head  uint64
	block uint32
	off   uint32
	klen  uint32
	vlen  uint32 // deleted: the key is to be deleted
}

const (
	deleted   = ^uint32(0)
	blockSize = 256 << 10
	recBlock  = 4096
)

// room gives the block to append to, with space for n bytes if n is less than a block. After appending, put notes the record.
func (p *part) room(n int) []byte {
	if l := len(p.blocks); l > 0 && cap(p.blocks[l-1])-len(p.blocks[l-1]) >= n {
		return p.blocks[l-1]
	}
	p.blocks = append(p.blocks, make([]byte, 0, max(blockSize, n)))
	return p.blocks[len(p.blocks)-1]
}

// put notes a record that was appended to the last block, which is now b: its key, of klen bytes, begins at off.
func (p *part) put(b []byte, off, klen int, del bool) {
	l := len(p.blocks) - 1
	p.blocks[l] = b
	r := record{block: uint32(l), off: uint32(off), klen: uint32(klen), vlen: uint32(len(b) - off - klen)}
	if del {
		r.vlen = deleted
	}
	r.head = headOf(b[min(off+p.prefix, off+klen) : off+klen])
	if n := len(p.recs); n == 0 || len(p.recs[n-1]) == recBlock {
		p.recs = append(p.recs, make([]record, 0, recBlock))
	}
	n := len(p.recs) - 1
	p.recs[n] = append(p.recs[n], r)
	p.n++
	p.bytes += int64(len(b) - off)
}

func headOf(k []byte) uint64 {
	if len(k) >= 8 {
		return binary.BigEndian.Uint64(k)
	}
	var buf [8]byte
	copy(buf[:], k)
	return binary.BigEndian.Uint64(buf[:])
}

func (p *part) key(r *record) []byte {
	return p.blocks[r.block][r.off : r.off+r.klen : r.off+r.klen]
}

// bucketSort is the number of records from which on they are distributed by the first 16 bits of their heads before they are sorted.
const bucketSort = 4096

// sort is done by the writer rather than when entries are copied, which holds up epochs.
func (p *part) sort() {
	if p.sorted != nil || p.n == 0 {
		return
	}
	recs := make([]record, 0, p.n)
	for _, b := range p.recs {
		recs = append(recs, b...)
	}
	p.recs = nil
	less := func(a, b record) int {
		if a.head != b.head {
			if a.head < b.head {
				return -1
			}
			return 1
		}
		return bytes.Compare(p.key(&a), p.key(&b))
	}
	if slices.IsSortedFunc(recs, less) { // an Ordered of which nothing was copied early
		p.sorted = recs
		return
	}
	if len(recs) < bucketSort {
		slices.SortFunc(recs, less)
		p.sorted = recs
		return
	}
	// The keys of a Hash begin with their hash.
	var start [1<<16 + 1]uint32
	for i := range recs {
		start[recs[i].head>>48+1]++
	}
	for i := 1; i < len(start); i++ {
		start[i] += start[i-1]
	}
	out, next := make([]record, len(recs)), start
	for _, r := range recs {
		b := r.head >> 48
		out[next[b]] = r
		next[b]++
	}
	for i := range len(start) - 1 {
		if b := out[start[i]:start[i+1]]; len(b) > 1 {
			slices.SortFunc(b, less)
		}
	}
	p.sorted = out
}

// newPart adds a part whose keys begin with prefix; parts are added in the order of their keys.
func (f *Frozen) newPart(prefix []byte) *part {
	p := &part{prefix: len(prefix)}
	f.parts = append(f.parts, p)
	return p
}

// Complete copies what is left; it is called from the space's goroutine.
func (f *Frozen) Complete() {
	for f.sp != nil && len(f.left) > 0 {
		f.sp.step(f, 1<<20)
	}
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

// Len gives the number of changes.
func (f *Frozen) Len() int {
	f.Complete()
	n := 0
	for _, p := range f.parts {
		n += p.n
	}
	return n
}

// Bytes gives the size of keys and values.
func (f *Frozen) Bytes() int64 {
	f.Complete()
	n := int64(0)
	for _, p := range f.parts {
		n += p.bytes
	}
	return n
}

// Each calls f for the changes in ascending order of keys. The slices are valid as long as the Frozen.
func (f *Frozen) Each(g func(c Change) error) error {
	f.Complete()
	for _, p := range f.parts {
		p.sort()
		for i := range p.sorted {
			r := &p.sorted[i]
			c := Change{Key: p.key(r), Delete: r.vlen == deleted}
			if !c.Delete {
				lo := r.off + r.klen
				c.Val = p.blocks[r.block][lo : lo+r.vlen : lo+r.vlen]
			}
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
