package table

import (
	"bytes"
	"slices"
	"sort"
)

// Ordered is a byte-ordered map from key bytes to value bytes. Keys and values
// are copied in; slices that it returns are valid until the next modification.
type Ordered struct {
	inf    *tableInfo
	prefix []byte // of the keys on disk, within the space
	p      *pages

	live     int64 // entries in memory, tombs not counted
	absent   int64 // entries that are only on disk
	dirty    int64 // entries with flagDirty, tombs included
	partial  bool  // misses may be on disk
	scanning int   // depth of scans that run: a Get within one must not move entries

	// Ranges deleted since the last Freeze, and those in a run that is being
	// written. They hide what is on disk; what is in memory is newer.
	dels, frozenDels spans
	key              []byte // buffer for keys on disk

	gen    uint32         // number of the last Freeze
	fz     *orderedFreeze // nil: no Freeze has leaves to copy
	thawed []byte         // leaves before this key have been thawed

	toEvict   int64  // bytes to drop
	evictUsed uint8  // above zero: from leaves that were touched, too
	evictAt   []byte // leaves before this key were looked at
}

// span is a range of keys [lo, hi); hi nil: no bound.
type span struct{ lo, hi []byte }

// spans are ranges in ascending order, apart from each other.
type spans []span

func (ss spans) holds(k []byte) bool {
	i := sort.Search(len(ss), func(i int) bool { return ss[i].hi == nil || bytes.Compare(ss[i].hi, k) > 0 })
	return i < len(ss) && bytes.Compare(ss[i].lo, k) <= 0
}

// add unites the ranges with [lo, hi), which it keeps.
func (ss *spans) add(lo, hi []byte) {
	s := *ss
	i := sort.Search(len(s), func(i int) bool { return s[i].hi == nil || bytes.Compare(s[i].hi, lo) >= 0 })
	j := i
	for j < len(s) && (hi == nil || bytes.Compare(s[j].lo, hi) <= 0) {
		if bytes.Compare(s[j].lo, lo) < 0 {
			lo = s[j].lo
		}
		if hi != nil && (s[j].hi == nil || bytes.Compare(s[j].hi, hi) > 0) {
			hi = s[j].hi
		}
		j++
	}
	*ss = slices.Replace(s, i, j, span{lo, hi})
}

func newOrdered(inf *tableInfo, prefix []byte) *Ordered {
	return &Ordered{inf: inf, prefix: prefix, p: newPages()}
}

// Get gives the value of a key.
func (t *Ordered) Get(key []byte) (val []byte, ok bool) {
	q, found := t.p.seek(key)
	if found {
		l := t.p.leaf(q)
		l.touched = true
		if l.ents[q.i].flags&flagTomb != 0 {
			return nil, false
		}
		return l.val(q.i), true
	}
	if t.partial {
		return t.fetch(q, key)
	}
	return nil, false
}

// PutNew sets the value of a key of which the caller knows, from a Get or from its own numbering, that it is not there: the disk is not
// asked again.
func (t *Ordered) PutNew(key, val []byte) {
	q, found := t.p.seek(key)
	if found { // a tomb
		t.Put(key, val)
		return
	}
	t.settle(t.p.leaf(q))
	t.p.insert(q, key, val, flagDirty)
	t.live++
	t.dirty++
}

// Put sets the value of a key.
func (t *Ordered) Put(key, val []byte) {
	q, found := t.p.seek(key)
	t.settle(t.p.leaf(q))
	if !found {
		flags := flagDirty
		if t.partial && t.onDisk(key) {
			flags |= flagOnDisk
			t.absent--
		}
		t.p.insert(q, key, val, flags)
		t.live++
		t.dirty++
		return
	}
	c := &t.p.leaf(q).ents[q.i]
	if c.flags&flagTomb != 0 {
		c.flags &^= flagTomb
		t.live++
	}
	if c.flags&flagDirty == 0 {
		c.flags |= flagDirty
		t.dirty++
	}
	t.p.replace(q, val)
}

// Delete removes a key, if it is there.
func (t *Ordered) Delete(key []byte) {
	q, found := t.p.seek(key)
	t.settle(t.p.leaf(q))
	if !found {
		if t.partial && t.onDisk(key) {
			t.absent--
			t.dirty++
			t.p.insert(q, key, nil, flagOnDisk|flagDirty|flagTomb)
		}
		return
	}
	t.kill(q)
}

// kill removes the entry at q, or leaves a tomb that hides what is on disk.
// It says whether the entry is still there, as a tomb. The leaf is settled.
func (t *Ordered) kill(q pos) bool {
	c := &t.p.leaf(q).ents[q.i]
	if c.flags&flagTomb != 0 {
		return true
	}
	t.live--
	if c.flags&flagOnDisk == 0 {
		if c.flags&flagDirty != 0 {
			t.dirty--
		}
		t.p.remove(q)
		return false
	}
	if c.flags&flagDirty == 0 {
		t.dirty++
	}
	c.flags |= flagDirty | flagTomb
	t.p.replace(q, nil)
	return true
}

// manyTombs is the number of entries on disk from which on a range delete is
// cheaper for later scans than one tombstone for each.
const manyTombs = 16

// DeleteRange removes the keys in [lo, hi); hi nil: no bound.
func (t *Ordered) DeleteRange(lo, hi []byte) {
	t.settleRange(lo, hi)
	onDisk := 0
	if t.partial {
		n := t.countOnlyOnDisk(lo, hi)
		t.absent -= n
		if n > 0 {
			onDisk = manyTombs
		}
	}
	if onDisk < manyTombs {
		t.walk(lo, hi, func(l *leaf, i int) bool {
			if l.ents[i].flags&flagOnDisk != 0 {
				onDisk++
			}
			return onDisk < manyTombs
		})
	}
	asSpan := onDisk >= manyTombs
	if asSpan {
		t.dels.add(append([]byte{}, lo...), slices.Clone(hi))
	}
	q, _ := t.p.seek(lo)
	for t.p.norm(&q) {
		l := t.p.leaf(q)
		if hi != nil && bytes.Compare(l.key(q.i), hi) >= 0 {
			return
		}
		if q.i == 0 && t.dropWhole(q, hi, asSpan) {
			if q.b >= len(t.p.top) || q.l >= len(t.p.top[q.b].leaves) {
				q, _ = t.p.seek(lo)
			}
			continue
		}
		if !asSpan {
			if t.kill(q) {
				q.i++
				continue
			}
		} else {
			c := l.ents[q.i]
			if c.flags&flagTomb == 0 {
				t.live--
			}
			if c.flags&flagDirty != 0 {
				t.dirty--
			}
			t.p.remove(q)
		}
		// Removal may have dropped or joined leaves at q.
		if q.b >= len(t.p.top) || q.l >= len(t.p.top[q.b].leaves) || q.i > len(t.p.leaf(q).ents) {
			q, _ = t.p.seek(lo)
		}
	}
}

// dropWhole removes all entries of a leaf if they are before hi and none needs a tomb, as with asSpan none does.
func (t *Ordered) dropWhole(q pos, hi []byte, asSpan bool) bool {
	l := t.p.leaf(q)
	if hi != nil && bytes.Compare(l.key(len(l.ents)-1), hi) >= 0 {
		return false
	}
	live, dirty := int64(0), int64(0)
	for _, c := range l.ents {
		if c.flags&flagOnDisk != 0 && !asSpan {
			return false
		}
		if c.flags&flagTomb == 0 {
			live++
		}
		if c.flags&flagDirty != 0 {
			dirty++
		}
	}
	t.live, t.dirty = t.live-live, t.dirty-dirty
	t.p.dropWhole(q)
	return true
}

// walk calls f for every entry in memory in [lo, hi), tombs included, until it returns false.
func (t *Ordered) walk(lo, hi []byte, f func(l *leaf, i int) bool) {
	q, _ := t.p.seek(lo)
	for t.p.norm(&q) {
		l := t.p.leaf(q)
		l.touched = true
		for ; q.i < len(l.ents); q.i++ {
			if hi != nil && bytes.Compare(l.key(q.i), hi) >= 0 || !f(l, q.i) {
				return
			}
		}
	}
}

// Scan calls f for the entries in [lo, hi) in ascending order until it returns
// false; hi nil: no bound. f must not modify the table.
func (t *Ordered) Scan(lo, hi []byte, f func(key, val []byte) bool) {
	if t.partial {
		t.scanDisk(lo, hi, f)
		return
	}
	t.walk(lo, hi, func(l *leaf, i int) bool {
		return l.ents[i].flags&flagTomb != 0 || f(l.key(i), l.val(i))
	})
}

// ScanDesc is Scan in descending order.
func (t *Ordered) ScanDesc(lo, hi []byte, f func(key, val []byte) bool) {
	if t.partial {
		t.scanDiskDesc(lo, hi, f)
		return
	}
	q := t.p.end()
	if hi != nil {
		q, _ = t.p.seek(hi)
	}
	for t.p.back(&q) {
		l := t.p.leaf(q)
		l.touched = true
		if bytes.Compare(l.key(q.i), lo) < 0 {
			return
		}
		if l.ents[q.i].flags&flagTomb == 0 && !f(l.key(q.i), l.val(q.i)) {
			return
		}
	}
}

// Len gives the number of entries, those only on disk included.
func (t *Ordered) Len() int64 { return t.live + t.absent }

// MemBytes gives the memory that the table occupies, about.
func (t *Ordered) MemBytes() int64 { return t.p.bytes + t.p.spare.bytes }

func (t *Ordered) filterBytes() int64 { return 0 }
func (t *Ordered) spareBytes() int64  { return t.p.spare.bytes }
