package table

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// diskState says what of a Hash is only on disk.
//
// A partial table is cut by hash prefix into segments. A segment that is
// complete in memory answers "none" itself; so does one of which all that is
// only on disk is in the filter, if the key isn't there.
type diskState struct {
	partial bool
	absent  int64 // entries that are only on disk
	segBits uint
	segs    []uint8 // segComplete, segKnown and the number of misses (learn.go), by segment
	missing int     // segments that are not complete
	filter  filter
	misses  []miss // buffer
	load    *loader
}

const (
	segComplete uint8 = 1 << iota // nothing of the segment is only on disk
	segKnown                      // what is only on disk is in the filter
)

const (
	segmentEntries = 2048 // a segment has about so many, or twice as many, when the table becomes partial
	maxSegBits     = 16
)

// miss is a key that is not in memory and may be on disk.
type miss struct {
	tag uint32
	i   int32 // row of the batch
	key int64 // IntKey
}

// setPartial says that absent entries are only on disk, in any segment.
func (t *Hash) setPartial(absent int64) {
	t.cut(absent)
	d := &t.disk
	clear(d.segs)
	d.missing = len(d.segs)
	d.absent = absent
}

// cut makes the table, of n entries, a partial one of which everything is in memory.
func (t *Hash) cut(n int64) {
	d := &t.disk
	bits := uint(0)
	if n > segmentEntries {
		bits = min(segBitsOf(n), t.bits) // of whole buckets
	}
	*d = diskState{partial: true, segBits: bits, segs: make([]uint8, 1<<bits), misses: d.misses[:0]}
	for i := range d.segs {
		d.segs[i] = segComplete | segKnown
	}
}

func segBitsOf(n int64) uint { return min(uint(bits.Len64(uint64(n/segmentEntries))), maxSegBits) }

// firstFilter is for how many times more entries than are in memory the first part of a filter has room once it is widened: state that does not fit mostly is several
// times larger, and each part that is added later has more new keys sought on disk for nothing. Until then, where about as many entries are on disk
// as were in memory, it takes less than six bytes for each of these: state may be only a little more than has room.
const firstFilter = 10

// lose notes that an entry is from now on only on disk.
func (t *Hash) lose(hash uint64) {
	d := &t.disk
	if !d.partial {
		t.cut(int64(t.used))
	}
	d.absent++
	seg := &d.segs[t.segment(uint32(hash>>32))]
	if *seg&segComplete != 0 {
		*seg &^= segComplete
		d.missing++
	}
	if *seg&segKnown != 0 {
		d.filter.add(hash, firstFilter*t.used, true)
		t.renewFilter()
	}
}

// mayMiss says whether a key that is not in memory may be on disk.
func (t *Hash) mayMiss(hash uint64) bool {
	d := &t.disk
	seg := d.segs[t.segment(uint32(hash>>32))]
	return seg&segComplete == 0 && (seg&segKnown == 0 || d.filter.has(hash))
}

// found says that nothing is only on disk any more.
func (d *diskState) found() {
	*d = diskState{misses: d.misses[:0]}
}

func (t *Hash) segment(tag uint32) uint32 {
	return uint32(uint64(tag) >> (32 - t.disk.segBits))
}

// BringInts brings into memory those of the keys that are only on disk. Keys that are looked up some at a time are so read in one go: those
// that lie near each other cost little more than one. sel is as for FindOrAddInts.
func (t *Hash) BringInts(keys []int64, sel []int32) {
	if t.disk.partial {
		t.fetchInts(keys, sel)
	}
}

// BringBytes is BringInts for bytes keys, given as to FindOrAddBytes.
func (t *Hash) BringBytes(hashes []uint64, off []uint32, data []byte) {
	if t.disk.partial {
		t.fetchBytes(hashes, off, data)
	}
}

// Partial says whether some entries may be only on disk.
func (t *Hash) Partial() bool { return t.disk.partial }

// fetchInts brings into memory those of the keys that are only on disk.
func (t *Hash) fetchInts(keys []int64, sel []int32) {
	d := &t.disk
	d.misses = d.misses[:0]
	look := func(k int32) {
		hash := hashInt(keys[k])
		tag := uint32(hash >> 32)
		if t.lookupInt(keys[k], tag) < 0 && t.mayMiss(hash) {
			d.misses = append(d.misses, miss{tag: tag, i: k, key: keys[k]})
		}
	}
	if sel != nil {
		for _, k := range sel {
			look(k)
		}
	} else {
		for k := range keys {
			look(int32(k))
		}
	}
	t.resolve(nil, nil)
}

// fetchBytes brings into memory those of the keys that are only on disk.
func (t *Hash) fetchBytes(hashes []uint64, off []uint32, data []byte) {
	d := &t.disk
	d.misses = d.misses[:0]
	for k, h := range hashes {
		tag := uint32(h >> 32)
		if t.lookupBytes(data[off[k]:off[k+1]], tag) < 0 && t.mayMiss(h) {
			d.misses = append(d.misses, miss{tag: tag, i: int32(k)})
		}
	}
	t.resolve(off, data)
}

func (t *Hash) fetchOneInt(key int64, tag uint32) int32 {
	if !t.mayMiss(hashInt(key)) {
		return -1
	}
	t.disk.misses = append(t.disk.misses[:0], miss{tag: tag, key: key})
	t.resolve(nil, nil)
	return t.lookupInt(key, tag)
}

func (t *Hash) fetchOneBytes(key []byte, tag uint32) int32 {
	if !t.mayMiss(HashBytes(key)) {
		return -1
	}
	t.disk.misses = append(t.disk.misses[:0], miss{tag: tag})
	t.resolve([]uint32{0, uint32(len(key))}, key)
	return t.lookupBytes(key, tag)
}

// resolve answers the misses from disk: by whole segments if the space has
// room for all that is absent, by keys in sorted order otherwise, so that what
// is looked for once does not drive out what is in use. Of bytes keys, miss i is data[off[i]:off[i+1]].
func (t *Hash) resolve(off []uint32, data []byte) {
	d := &t.disk
	if d.absent > 0 {
		t.uncramp()
	}
	if !d.partial || d.absent == 0 {
		d.found()
		return
	}
	if len(d.misses) == 0 {
		return
	}
	slices.SortFunc(d.misses, func(a, b miss) int { return cmp.Compare(a.tag, b.tag) })
	if t.inf.sp.hasRoom(d.absent * t.entryBytes()) {
		t.reserve()
		for _, m := range d.misses {
			if seg := t.segment(m.tag); d.partial && d.segs[seg]&segComplete == 0 {
				t.loadSegment(seg)
			}
		}
		return
	}
	before := t.MemBytes()
	rest := t.learn(d.misses, off, data)
	// The misses are in the order of buckets, too.
	var buf []byte
	ends, size := make([]int, 0, len(rest)), len(t.prefix)+bucketKeyBytes
	for i, m := range rest {
		if b := bucketOf(m.tag, t.bits); i == 0 || b != bucketOf(rest[i-1].tag, t.bits) {
			buf, ends = appendBucketKey(buf, t.prefix, b, t.bits), append(ends, i)
		}
		ends[len(ends)-1] = i + 1
	}
	keys := make([][]byte, len(ends))
	for i := range keys {
		keys[i] = buf[i*size : (i+1)*size : (i+1)*size]
	}
	var err error
	fail(t.inf.sp.backing.GetMany(keys, func(i int, v []byte) {
		from := 0
		if i > 0 {
			from = ends[i-1]
		}
		if e := t.bring(v, rest[from:ends[i]], off, data); e != nil && err == nil {
			err = fmt.Errorf("state key %x: %w", keys[i], e)
		}
	}))
	fail(err)
	t.inf.sp.loaded(t.MemBytes() - before)
}

// entryBytes estimates the memory of an entry.
func (t *Hash) entryBytes() int64 { return int64(8*t.w + 40) }

// Values of Hash entries (State: on disk) are the words but the rare ones as zigzag varints; then, if a rare one is not zero, a byte 2 and the rare ones
// in the same way; and, if the entry has a blob, a byte 1 and the blob.

func appendWords(dst []byte, words, rare []int64, blob []byte) []byte {
	for _, w := range words {
		dst = binary.AppendVarint(dst, w)
	}
	if anyWord(rare) {
		dst = append(dst, 2)
		for _, w := range rare {
			dst = binary.AppendVarint(dst, w)
		}
	}
	if blob != nil {
		dst = append(append(dst, 1), blob...)
	}
	return dst
}

// decodeWords fills words and rare and gives the blob, nil if there is none; it aliases val.
func decodeWords(words, rare []int64, val []byte) (blob []byte, err error) {
	if val, err = decodeVarints(words, val); err != nil {
		return nil, err
	}
	clear(rare)
	if len(val) > 0 && val[0] == 2 && len(rare) > 0 {
		if val, err = decodeVarints(rare, val[1:]); err != nil {
			return nil, err
		}
	}
	if len(val) == 0 {
		return nil, nil
	}
	if val[0] != 1 {
		return nil, fmt.Errorf("state value has an unknown tail %d", val[0])
	}
	return val[1:], nil
}

func decodeVarints(words []int64, val []byte) (rest []byte, err error) {
	for i := range words {
		w, n := binary.Varint(val)
		if n <= 0 {
			return nil, fmt.Errorf("state value has %d words instead of %d", i, len(words))
		}
		words[i], val = w, val[n:]
	}
	return val, nil
}
