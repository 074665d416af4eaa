package table

import "math"

// SetBudget sets the bytes of memory that the space should stay below; 0: no
// limit. Reading from disk fills whole segments only while there is room;
// exceeding the budget otherwise is up to the engine, which calls Evict.
func (s *Space) SetBudget(bytes int64) {
	s.budget = bytes
	s.mem.Store(s.MemBytes())
}

func (s *Space) hasRoom(n int64) bool { return s.budget <= 0 || s.mem.Load()+n <= s.budget }

// room gives the bytes that are left of the budget.
func (s *Space) room() int64 {
	if s.budget <= 0 {
		return math.MaxInt64
	}
	return s.budget - s.mem.Load()
}

func (s *Space) loaded(n int64) { s.mem.Add(n) }

// Evict drops entries that are safely on disk until the space occupies at most
// target bytes, cold ones first, or nothing more can be dropped. It is called
// between epochs and makes slots invalid. It gives the memory that remains.
func (s *Space) Evict(target int64) int64 {
	s.finish()
	s.Thaw()
	s.finishThaw()
	s.mem.Store(s.MemBytes())
	if s.backing == nil {
		return s.mem.Load()
	}
	for _, hot := range []bool{false, true} {
		for _, t := range s.tables {
			if s.mem.Load() <= target {
				return s.mem.Load()
			}
			s.mem.Add(-t.evict(hot, s.mem.Load()-target))
		}
	}
	s.mem.Store(s.MemBytes())
	return s.mem.Load()
}

// Load reads from disk what is missing in memory, in declared order, up to
// about max bytes and never over the budget. It says whether everything is in
// memory. The engine calls it between epochs after a restart.
func (s *Space) Load(max int64) bool {
	s.mem.Store(s.MemBytes())
	start := s.mem.Load()
	for _, t := range s.tables {
		left := max - (s.mem.Load() - start)
		if s.budget > 0 {
			left = min(left, s.budget-s.mem.Load())
		}
		if left <= 0 || !t.load(left) {
			return false
		}
	}
	return true
}

const keepFlags = flagDirty | flagFrozen | flagTomb

// evict rebuilds the table without clean entries, as many as it takes to free want bytes.
func (t *Hash) evict(hot bool, want int64) int64 {
	keep := keepFlags
	if !hot {
		keep |= flagHot
	}
	before := t.MemBytes()
	clean := 0
	for _, f := range t.flags {
		if f&(keep|flagFree) == 0 && f&flagOnDisk != 0 {
			clean++
		}
	}
	if clean == 0 {
		return 0
	}
	drop := clean
	if per := before / int64(len(t.flags)); per > 0 {
		drop = min(clean, int(want/per)+1)
	}
	upTo := t.cleanUpTo(keep, drop)
	absent, lost := t.disk.absent, t.lostPrefixes()
	t.rebuild(func(s int32, tag uint32) bool {
		f := t.flags[s]
		if int(tag>>16) <= upTo && f&keep == 0 && f&flagOnDisk != 0 {
			absent++
			lost[tag>>16] = true
			return false
		}
		return true
	})
	t.setPartial(absent)
	t.keepComplete(lost)
	return before - t.MemBytes()
}

// rebuild moves the entries that keep wants to memory of the size that they need. What is known of the disk stays.
func (t *Hash) rebuild(keep func(slot int32, tag uint32) bool) {
	n := newHash(t.inf, t.prefix)
	var kept []uint64
	entries, keyBytes := 0, 0
	for _, e := range t.idx {
		if e == 0 {
			continue
		}
		s := int32(uint32(e) - 1)
		if !keep(s, uint32(e>>32)) {
			continue
		}
		entries++
		kept = append(kept, e)
		if !t.intKey {
			keyBytes += int(t.kref(s) & maxKeyLen)
		}
	}
	size := minIndex
	for size/8*5 <= entries {
		size *= 2
	}
	n.setIndex(size)
	room := entries + entries/8 + 16
	n.flags = make([]uint8, 0, room)
	n.roomFor(room * t.stride)
	if !t.intKey {
		n.arena = make([]byte, 0, keyBytes+keyBytes/8)
	}
	n.dirty, n.disk = t.dirty, t.disk
	for _, e := range kept {
		s := int32(uint32(e) - 1)
		n.copyFrom(t, s, uint32(e>>32))
		if t.flags[s]&flagTomb != 0 {
			n.tombs++
		}
	}
	t.freeArrays()
	*t = *n
}

// cleanUpTo gives the hash prefix up to which want clean entries can be dropped.
// So what is dropped is a stretch of segments, and the rest stays complete.
func (t *Hash) cleanUpTo(keep uint8, want int) int {
	n := 0
	counts := make([]int32, 1<<(8*hashKeyBytes))
	for _, e := range t.idx {
		if e == 0 {
			continue
		}
		if f := t.flags[int32(uint32(e)-1)]; f&keep == 0 && f&flagOnDisk != 0 {
			counts[e>>48]++
		}
	}
	for p, c := range counts {
		if n += int(c); n >= want {
			return p
		}
	}
	return len(counts) - 1
}

// lostPrefixes says for each hash prefix whether entries under it may be only on disk.
func (t *Hash) lostPrefixes() []bool {
	d := &t.disk
	lost := make([]bool, 1<<(8*hashKeyBytes))
	if d.partial {
		for p := range lost {
			lost[p] = !d.complete[t.segment(uint32(p)<<16)]
		}
	}
	return lost
}

// keepComplete marks the segments none of whose prefixes is lost.
func (t *Hash) keepComplete(lost []bool) {
	d := &t.disk
	per := len(lost) >> d.segBits
	for seg := range d.complete {
		whole := true
		for _, l := range lost[seg*per : (seg+1)*per] {
			whole = whole && !l
		}
		if whole {
			d.complete[seg] = true
			d.missing--
		}
	}
}

// copyFrom adds entry s of t.
func (n *Hash) copyFrom(t *Hash, s int32, tag uint32) {
	d := n.newSlot()
	copy(n.ents[int(d)*n.stride:], t.ents[int(s)*t.stride:(int(s)+1)*t.stride])
	if !t.intKey {
		n.setKref(d, n.store(t.Key(s)))
	}
	n.flags[d] = t.flags[s]
	if t.flags[s]&flagAdded != 0 {
		n.added = append(n.added, d)
	}
	if t.blobs != nil && t.blobs[s] != nil {
		n.putBlob(d, t.blobs[s])
	}
	n.insert(tag, d)
}

func (w *Windows) evict(hot bool, want int64) int64 {
	var freed int64
	for _, h := range w.spare {
		h.freeArrays()
	}
	w.spare, w.last = nil, nil
	for _, end := range w.ends {
		if freed >= want {
			break
		}
		freed += w.open[end].h.evict(hot, want-freed)
	}
	return freed
}

func (w *Windows) load(max int64) bool {
	for _, end := range w.ends {
		h := w.open[end].h
		before := h.MemBytes()
		if max <= 0 || !h.load(max) {
			return false
		}
		max -= h.MemBytes() - before
	}
	return true
}

// evict drops clean entries leaf by leaf: leaves that were not touched since
// the last call, or with hot all.
func (t *Ordered) evict(hot bool, want int64) int64 {
	before := t.p.bytes
	n := newPages()
	freed, any := int64(0), false
	for _, b := range t.p.top {
		for _, l := range b.leaves {
			if freed < want && (hot || !l.touched) {
				if dropped := l.dropClean(); dropped > 0 {
					freed += l.mem() * int64(dropped) / int64(dropped+len(l.ents)+1)
					t.live -= int64(dropped)
					t.absent += int64(dropped)
					any = true
				}
			}
			l.touched = false
			for i := range l.ents {
				n.insert(n.end(), l.key(i), l.val(i), l.ents[i].flags)
			}
		}
	}
	if !any {
		return 0
	}
	for _, b := range n.top {
		for _, l := range b.leaves {
			l.touched = false
		}
	}
	t.p = n
	t.partial = true
	return before - t.p.bytes
}

// dropClean removes the entries that are on disk as they are; it says how many.
func (l *leaf) dropClean() int {
	kept := l.ents[:0]
	for _, c := range l.ents {
		if c.flags&keepFlags == 0 && c.flags&flagOnDisk != 0 {
			continue
		}
		kept = append(kept, c)
	}
	n := len(l.ents) - len(kept)
	l.ents = kept
	return n
}
