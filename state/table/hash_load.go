package table

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// loader enters entries with int keys into a Hash as they are read from disk, a block at a time, so that the processor waits for the places in the index of
// many at once (see probe.go).
type loader struct {
	n     int
	keys  [probeBlock]int64
	slots [probeBlock]int32
	blobs [probeBlock][]byte
	words []int64
	rare  []int64
	p     probe
}

func newLoader(words, rare int) *loader {
	return &loader{words: make([]int64, probeBlock*words), rare: make([]int64, probeBlock*rare)}
}

// add takes an entry as it is on disk.
func (l *loader) add(t *Hash, key int64, val []byte) error {
	blob, err := decodeWords(l.words[l.n*t.w:(l.n+1)*t.w], l.rare[l.n*t.nrare:(l.n+1)*t.nrare], val)
	if err != nil {
		return fmt.Errorf("state key %d: %w", key, err)
	}
	l.keys[l.n] = key
	l.blobs[l.n] = slices.Clone(blob)
	if l.n++; l.n == probeBlock {
		l.flush(t)
	}
	return nil
}

// flush enters what was taken, but what memory has, or a tomb for it.
func (l *loader) flush(t *Hash) {
	keys, slots := l.keys[:l.n], l.slots[:l.n]
	l.n = 0
	t.probeInts(&l.p, keys, slots)
	for j, key := range keys {
		// Keys are there once each: what is entered here is none that follows.
		if slots[j] >= 0 && t.lookupInt(key, l.p.tags[j]) >= 0 {
			continue
		}
		s := t.newSlot()
		e := t.ents[int(s)*t.stride:][:t.stride]
		copy(e, l.words[j*t.w:(j+1)*t.w])
		e[t.w] = key
		t.insert(l.p.tags[j], s)
		t.flags[s] = flagOnDisk
		t.setRare(s, l.rare[j*t.nrare:(j+1)*t.nrare])
		t.disk.absent--
		if l.blobs[j] != nil {
			t.putBlob(s, l.blobs[j])
		}
	}
}

// reserve makes room for what is only on disk, if that is most of the table.
func (t *Hash) reserve() {
	n := t.used + int(t.disk.absent)
	if t.used > n/8 || t.next != nil {
		return
	}
	t.roomFor(n * t.stride)
	if size := indexFor(n); size > len(t.cells) {
		t.resizeIndex(size)
		for t.next != nil {
			t.enterSlots(len(t.flags))
		}
	}
}

func (t *Hash) loadSegment(seg uint32) {
	d := &t.disk
	before := t.MemBytes()
	lo, hi := t.segmentRange(seg)
	var err error
	if d.load == nil {
		d.load = newLoader(t.w, t.nrare)
	}
	l := d.load
	l.n = 0
	t.eachOnDisk(lo, hi, func(r *blockReader) bool {
		if t.intKey {
			err = l.add(t, numbered(r.num), r.val)
		} else {
			err = t.enter(0, r.key, r.val)
		}
		return err == nil
	})
	fail(err)
	l.flush(t)
	d.segs[seg] = segComplete | segKnown
	if d.missing--; d.missing == 0 || d.absent == 0 {
		d.found()
	}
	t.inf.sp.loaded(t.MemBytes() - before)
}

// eachOnDisk calls f for the entries in a range of keys on disk until it returns false.
func (t *Hash) eachOnDisk(lo, hi []byte, f func(r *blockReader) bool) {
	var m BlockMerger
	var r blockReader
	var err error
	fail(t.inf.sp.backing.Scan(lo, hi, false, func(k, v []byte) bool {
		var b []byte
		if b, err = m.one(v, true); err == nil && (len(k) != len(t.prefix)+bucketKeyBytes || !t.openBlock(&r, b)) {
			err = errBlock
		}
		going := err == nil
		for going && r.next() {
			going = f(&r)
		}
		if err = cmp.Or(err, r.err); err != nil {
			err = fmt.Errorf("state key %x: %w", k, err)
			return false
		}
		return going
	}))
	fail(err)
}

// openBlock begins to read a block of the table.
func (t *Hash) openBlock(r *blockReader, block []byte) bool {
	if r.open(block); r.err == nil && r.ints != t.intKey {
		r.err = errBlock
	}
	return r.err == nil
}

// bring enters those entries of a bucket that are among misses. Of bytes keys, miss i is data[off[i]:off[i+1]].
func (t *Hash) bring(val []byte, misses []miss, off []uint32, data []byte) error {
	keyOf := func(m miss) []byte { return data[off[m.i]:off[m.i+1]] }
	if len(misses) > 1 {
		slices.SortFunc(misses, func(a, b miss) int {
			if t.intKey {
				return cmp.Compare(number(a.key), number(b.key))
			}
			return bytes.Compare(keyOf(a), keyOf(b))
		})
	}
	var r blockReader
	for len(val) > 0 && len(misses) > 0 {
		var block []byte
		if block, val = nextBlock(val); block == nil || !t.openBlock(&r, block) {
			return errBlock
		}
		// Those that are not found are sought in older blocks.
		next, rest := 0, misses[:0]
		for next < len(misses) && r.next() {
			for next < len(misses) {
				c := 0
				if t.intKey {
					c = cmp.Compare(number(misses[next].key), r.num)
				} else {
					c = bytes.Compare(keyOf(misses[next]), r.key)
				}
				if c > 0 {
					break
				}
				if c < 0 {
					rest = append(rest, misses[next])
				} else if !r.gone {
					if err := t.enter(numbered(r.num), r.key, r.val); err != nil {
						return err
					}
				}
				next++
			}
		}
		if r.err != nil {
			return r.err
		}
		misses = append(rest, misses[next:]...)
	}
	return nil
}

// enter adds an entry as it is on disk, unless memory has it, or a tomb for it.
func (t *Hash) enter(ik int64, k, val []byte) error {
	var s int32
	if t.intKey {
		tag := tagInt(ik)
		if t.lookupInt(ik, tag) >= 0 {
			return nil
		}
		s = t.newSlot()
		t.ents[int(s)*t.stride+t.w] = ik
		t.insert(tag, s)
	} else {
		tag := uint32(HashBytes(k) >> 32)
		if t.lookupBytes(k, tag) >= 0 {
			return nil
		}
		s = t.placeBytes(k, tag)
	}
	t.flags[s] = flagOnDisk | flagUsed
	t.disk.absent--
	var few [8]int64
	rare := few[:min(t.nrare, len(few))]
	if t.nrare > len(few) {
		rare = make([]int64, t.nrare)
	}
	blob, err := decodeWords(t.Words(s), rare, val)
	if err != nil {
		return fmt.Errorf("state key %d %x: %w", ik, k, err)
	}
	t.setRare(s, rare)
	if blob != nil {
		t.putBlob(s, blob)
	}
	return nil
}

// fetchAll brings the whole table into memory.
func (t *Hash) fetchAll() {
	d := &t.disk
	for seg := 0; d.partial && seg < len(d.segs); seg++ {
		if d.segs[seg]&segComplete == 0 {
			t.loadSegment(uint32(seg))
		}
	}
}

// load brings segments into memory until about max bytes were read; it says whether the table is complete.
func (t *Hash) load(max int64) bool {
	d := &t.disk
	before := t.MemBytes()
	for seg := 0; d.partial && seg < len(d.segs); seg++ {
		if t.MemBytes()-before > max {
			return false
		}
		if d.segs[seg]&segComplete == 0 {
			t.loadSegment(uint32(seg))
		}
	}
	return true
}
