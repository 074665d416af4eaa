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
// target bytes, filters not counted, cold ones first, or nothing more can be dropped. It is called
// between epochs and makes slots invalid. It gives the memory that remains.
func (s *Space) Evict(target int64) int64 {
	s.Finish()
	s.BeginEvict(target)
	s.FinishEvict()
	return s.mem.Load()
}

// FinishEvict does what BeginEvict left to Step.
func (s *Space) FinishEvict() {
	s.Finish()
	for s.ev != nil {
		s.evictSome(1 << 20)
	}
	s.mem.Store(s.MemBytes())
}

// BeginEvict has Step do what Evict does, in small steps between epochs, once what else it has to do is done. It takes the place of
// an eviction that was begun before.
func (s *Space) BeginEvict(target int64) {
	s.mem.Store(s.MemBytes())
	s.ev = nil
	if s.backing != nil && s.mem.Load()-s.FilterBytes() > target {
		s.ev = &eviction{target: target}
	}
}

// eviction is an Evict on its way.
type eviction struct {
	target int64
	used   uint8 // the round: what is of use is dropped in later ones
	table  int   // that comes next, or from which is dropped
	begun  bool  // of table
}

// evictSome looks at about n entries; it gives what is left of n, above zero if there is nothing more to drop.
func (s *Space) evictSome(n int) int {
	for x := s.ev; x != nil; {
		if x.table == len(s.tables) {
			if x.used == mostUsed {
				s.ev = nil
				break
			}
			x.table, x.used = 0, x.used+1
		}
		t := s.tables[x.table]
		if !x.begun {
			s.mem.Store(s.MemBytes())
			mem := s.mem.Load() - s.FilterBytes()
			if mem <= x.target+x.target/(4*mostUsed)*int64(x.used) { // what is in use is not dropped for a little
				s.ev = nil
				break
			}
			t.beginEvict(x.used, mem-x.target)
			x.begun = true
		}
		if n = t.evictSome(n); n <= 0 {
			return n
		}
		x.table, x.begun = x.table+1, false
	}
	return max(n, 1)
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

func (w *Windows) beginEvict(used uint8, want int64) {
	want -= w.spareBytes()
	for _, h := range w.spare {
		h.freeArrays()
	}
	w.spare, w.last = nil, nil
	w.evicting = w.evicting[:0]
	for _, end := range w.ends {
		if want <= 0 {
			break
		}
		// Each has its part of what is to go, by its size.
		h := w.open[end].h
		h.beginEvict(used, want)
		want -= h.pass.size()
		w.evicting = append(w.evicting, h)
	}
}

func (w *Windows) evictSome(n int) int {
	for len(w.evicting) > 0 {
		if n = w.evicting[0].evictSome(n); n <= 0 {
			return n
		}
		w.evicting = w.evicting[1:]
	}
	return max(n, 1)
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

func (t *Ordered) beginEvict(used uint8, want int64) {
	t.toEvict, t.evictUsed, t.evictAt = want-t.spareBytes(), used, t.evictAt[:0]
	t.p.spare.drop()
	if used < mostUsed && used > 0 {
		t.toEvict = 0 // there are no degrees of it
	}
}

// evictSome drops clean entries of leaves that were not touched since the last eviction came to them, or with the most use of all.
func (t *Ordered) evictSome(n int) int {
	if t.toEvict <= 0 && t.evictUsed > 0 {
		return max(n, 1)
	}
	for n > 0 {
		q, _ := t.p.seek(t.evictAt)
		next, more := t.p.sepAfter(q)
		n--
		if l := t.p.leaf(q); t.toEvict > 0 && (t.evictUsed > 0 || !l.touched) {
			n -= len(l.ents)
			before := t.p.bytes
			if dropped := int64(t.p.dropClean(q)); dropped > 0 {
				t.live -= dropped
				t.absent += dropped
				t.partial = true
			}
			t.toEvict -= before - t.p.bytes
		} else {
			l.touched = false
		}
		if !more {
			return max(n, 1)
		}
		t.evictAt = append(t.evictAt[:0], next...)
	}
	return n
}

// sepAfter gives the key from which on the leaf behind that at q has what is there.
func (p *pages) sepAfter(q pos) (sep string, ok bool) {
	b := p.top[q.b]
	switch {
	case q.l+1 < len(b.seps):
		return b.seps[q.l+1], true
	case q.b+1 < len(p.top):
		return p.top[q.b+1].seps[0], true
	}
	return "", false
}

// dropClean removes the entries of the leaf at q that are on disk as they are; it says how many. What it leaves was not touched.
func (p *pages) dropClean(q pos) int {
	l := p.leaf(q)
	before, dropped := l.mem(), 0
	l.touched = false
	kept := l.ents[:0]
	for _, c := range l.ents {
		if c.flags&keepFlags == 0 && c.flags&flagOnDisk != 0 {
			l.garbage += int(c.klen + c.vlen)
			dropped++
			continue
		}
		kept = append(kept, c)
	}
	if dropped == 0 {
		return 0
	}
	l.ents = kept
	p.pack(l)
	l.setHeads()
	p.n -= dropped
	p.bytes += l.mem() - before
	p.shrink(q)
	p.spare.drop()
	return dropped
}
