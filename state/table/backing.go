package table

import (
	"bytes"
	"slices"
	"sync/atomic"
)

// Backing reads what a space has on disk as of the last checkpoint that was
// written. Keys are relative to the space. Slices passed to callbacks are valid
// during the call. It is used from the goroutine of the space.
type Backing interface {
	// Get calls f with the value of key, if there is one.
	Get(key []byte, f func(val []byte)) error
	// GetMany calls f with the value of keys[i] for each that is there; keys ascend.
	GetMany(keys [][]byte, f func(i int, val []byte)) error
	// Scan calls f for the entries of [lo, hi) in ascending, or descending, order until it returns false.
	Scan(lo, hi []byte, desc bool, f func(key, val []byte) bool) error
}

// Keys within a space (State: on disk):
//
//	d | table 2 | entry key                          Ordered
//	d | table 2 | hash 2 | entry key                 Hash
//	d | table 2 | window end 8 | hash 2 | entry key  Windows
//	m | table 2                                      declaration and number of entries
//	m | table 2 | window end 8                       start of a window and its number of entries
//
// Integers are big-endian; window ends and int keys have their sign bit flipped, so that they sort.
const (
	spaceData = 'd'
	spaceMeta = 'm'
)

// Change is one key of a Frozen: set to Val, or deleted.
type Change struct {
	Key, Val []byte
	Delete   bool
}

// Range is a range of keys [Lo, Hi).
type Range struct{ Lo, Hi []byte }

// Frozen is what changed in a space between two Freezes, copied: the space
// goes on while it is written. First the ranges are deleted, then the changes
// applied. It is used by one goroutine at a time.
type Frozen struct {
	buf    []byte
	recs   []record
	ranges []Range
	sorted bool
	done   atomic.Bool
}

type record struct {
	off        uint64
	klen, vlen uint32
	del        bool
}

// Ranges lists the key ranges to delete, ascending and apart from each other.
func (f *Frozen) Ranges() []Range {
	f.sort()
	return f.ranges
}

// Len gives the number of changes.
func (f *Frozen) Len() int { return len(f.recs) }

// Bytes gives the size of keys and values.
func (f *Frozen) Bytes() int64 { return int64(len(f.buf)) }

// Each calls f for the changes in ascending order of keys. The slices are valid as long as the Frozen.
func (f *Frozen) Each(g func(c Change) error) error {
	f.sort()
	for _, r := range f.recs {
		k := f.buf[r.off : r.off+uint64(r.klen) : r.off+uint64(r.klen)]
		c := Change{Key: k, Delete: r.del}
		if !r.del {
			lo := r.off + uint64(r.klen)
			c.Val = f.buf[lo : lo+uint64(r.vlen) : lo+uint64(r.vlen)]
		}
		if err := g(c); err != nil {
			return err
		}
	}
	return nil
}

// Written says that the changes are on disk and that reads of the space's
// Backing see them. It may be called from any goroutine.
func (f *Frozen) Written() { f.done.Store(true) }

// sort is done by the writer rather than by Freeze, which holds up epochs.
func (f *Frozen) sort() {
	if f.sorted {
		return
	}
	f.sorted = true
	key := func(r record) []byte { return f.buf[r.off : r.off+uint64(r.klen)] }
	slices.SortFunc(f.recs, func(a, b record) int { return bytes.Compare(key(a), key(b)) })
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
}

// begin starts a record; the key, then the value are appended to buf, then end is called.
func (f *Frozen) begin() uint64 { return uint64(len(f.buf)) }

func (f *Frozen) end(off uint64, klen int) {
	f.recs = append(f.recs, record{off, uint32(klen), uint32(uint64(len(f.buf)) - off - uint64(klen)), false})
}

func (f *Frozen) endDelete(off uint64) {
	f.recs = append(f.recs, record{off, uint32(uint64(len(f.buf)) - off), 0, true})
}

func (f *Frozen) deleteRange(lo, hi []byte) { f.ranges = append(f.ranges, Range{lo, hi}) }
