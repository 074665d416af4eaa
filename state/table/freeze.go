package table

import "encoding/binary"

// Freeze copies what changed since the last Freeze and clears the dirty marks.
// It is called between epochs and makes slots of Hash tables invalid. The
// engine hands the result to a checkpoint; whoever wrote it calls its Written.
// A transient space gives an empty one.
func (s *Space) Freeze() *Frozen {
	s.Thaw()
	f := &Frozen{}
	if s.backing == nil {
		return f
	}
	if s.dropped {
		s.dropped = false
		f.deleteRange([]byte{spaceData}, []byte{spaceMeta + 1})
	}
	for _, t := range s.tables {
		t.freeze(f)
		inf := t.info()
		if inf.written == t.Len()+1 {
			continue
		}
		inf.written = t.Len() + 1
		off := f.begin()
		key := metaKey(inf.ord)
		f.buf = append(append(f.buf, key...), inf.encode(t.Len())...)
		f.end(off, len(key))
	}
	s.stored = nil
	s.inFlight = append(s.inFlight, f)
	return f
}

// Thaw lets go of what was kept in memory because its checkpoint was not
// written, if it is now. Freeze and Evict do it themselves.
func (s *Space) Thaw() {
	n := 0
	for _, f := range s.inFlight {
		if !f.done.Load() {
			break
		}
		n++
	}
	if n == 0 || n < len(s.inFlight) {
		return
	}
	s.inFlight = nil
	for _, t := range s.tables {
		t.thaw()
	}
}

// Writing says whether a frozen run is not written yet.
func (s *Space) Writing() bool {
	s.Thaw()
	return len(s.inFlight) > 0
}

// DirtyEntries gives the number of entries that the next Freeze will copy.
func (s *Space) DirtyEntries() int64 {
	var n int64
	for _, t := range s.tables {
		n += t.dirtyEntries()
	}
	return n
}

// Drop empties all tables; the next Freeze deletes what the store has.
func (s *Space) Drop() {
	s.dropped = true
	for _, t := range s.tables {
		t.info().written = 0
		t.clear()
	}
}

func (t *Hash) info() *tableInfo    { return t.inf }
func (t *Ordered) info() *tableInfo { return t.inf }
func (w *Windows) info() *tableInfo { return w.inf }

func (t *Hash) dirtyEntries() int64    { return int64(t.dirty) }
func (t *Ordered) dirtyEntries() int64 { return t.dirty }
func (w *Windows) dirtyEntries() int64 {
	var n int64
	for _, x := range w.open {
		n += int64(x.h.dirty)
	}
	return n
}

func (t *Hash) freeze(f *Frozen) {
	t.dirty = 0
	for s, fl := range t.flags {
		if fl&flagDirty == 0 {
			t.flags[s] = fl &^ flagHot
			continue
		}
		off := f.begin()
		var key []byte
		var ik int64
		if t.intKey {
			ik = t.ints[s]
		} else {
			key = t.Key(int32(s))
		}
		f.buf = t.appendDiskKey(f.buf, t.tagOf(int32(s)), ik, key)
		if fl&flagTomb != 0 {
			f.endDelete(off)
		} else {
			klen := int(f.begin() - off)
			f.buf = appendWords(f.buf, t.Words(int32(s)), t.Blob(int32(s)))
			f.end(off, klen)
		}
		t.flags[s] = fl&^flagDirty | flagFrozen | flagOnDisk | flagHot
	}
}

// thaw drops the tombs that are not needed any more.
func (t *Hash) thaw() {
	for s, fl := range t.flags {
		if fl&flagFrozen == 0 {
			continue
		}
		t.flags[s] &^= flagFrozen
		if fl&flagTomb != 0 && fl&flagDirty == 0 {
			t.tombs--
			t.unlink(int32(s))
		}
	}
}

func (t *Hash) clear() {
	t.reset()
}

func (t *Ordered) freeze(f *Frozen) {
	for _, d := range t.dels {
		lo, hi := t.bounds(d.lo, d.hi)
		f.deleteRange(lo, hi)
	}
	for _, d := range t.dels {
		t.frozenDels.add(d.lo, d.hi)
	}
	t.dels = nil
	if t.dirty == 0 {
		return
	}
	t.dirty = 0
	for _, b := range t.p.top {
		for _, l := range b.leaves {
			for i := range l.ents {
				c := &l.ents[i]
				if c.flags&flagDirty == 0 {
					continue
				}
				off := f.begin()
				f.buf = append(append(f.buf, t.prefix...), l.key(i)...)
				if c.flags&flagTomb != 0 {
					f.endDelete(off)
				} else {
					f.buf = append(f.buf, l.val(i)...)
					f.end(off, len(t.prefix)+int(c.klen))
				}
				c.flags = c.flags&^flagDirty | flagFrozen | flagOnDisk
			}
		}
	}
}

func (t *Ordered) thaw() {
	t.frozenDels = nil
	q := pos{}
	for t.p.norm(&q) {
		c := &t.p.leaf(q).ents[q.i]
		fl := c.flags
		c.flags &^= flagFrozen
		if fl&flagFrozen == 0 || fl&flagTomb == 0 || fl&flagDirty != 0 {
			q.i++
			continue
		}
		k := append([]byte(nil), t.p.leaf(q).key(q.i)...)
		t.p.remove(q)
		q, _ = t.p.seek(k)
	}
}

func (t *Ordered) clear() {
	t.p = newPages()
	t.live, t.absent, t.dirty, t.partial = 0, 0, 0, false
	t.dels, t.frozenDels = nil, nil
}

func (w *Windows) freeze(f *Frozen) {
	for _, end := range w.gone {
		lo := w.windowPrefix(end)
		f.deleteRange(lo, PrefixEnd(lo))
		if w.open[end] == nil {
			off := f.begin()
			f.buf = append(f.buf, w.windowMeta(end)...)
			f.endDelete(off)
		}
	}
	w.gone = nil
	for _, end := range w.ends {
		x := w.open[end]
		if x.h.dirty == 0 && x.onDisk {
			x.h.freeze(f) // clears hot marks
			continue
		}
		x.h.freeze(f)
		x.onDisk = true
		off := f.begin()
		key := w.windowMeta(end)
		f.buf = append(f.buf, key...)
		f.buf = binary.AppendVarint(f.buf, x.start)
		f.buf = binary.AppendVarint(f.buf, x.h.Len())
		f.end(off, len(key))
	}
}

func (w *Windows) thaw() {
	for _, x := range w.open {
		x.h.thaw()
	}
}

func (w *Windows) clear() {
	*w = *newWindows(w.inf)
}
