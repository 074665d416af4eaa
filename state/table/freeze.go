package table

import "encoding/binary"

// Freeze fixes what changed since the last Freeze, as it is now, and clears the
// dirty marks. It takes little time: the entries are copied by Step, or when
// somebody is about to change them. It is called between epochs and makes
// slots of Hash tables invalid. The engine hands the result, when it is
// complete, to a checkpoint; whoever wrote it calls its Written. A transient
// space gives an empty one.
func (s *Space) Freeze() *Frozen {
	s.finish()
	s.Thaw()
	s.finishThaw()
	f := &Frozen{sp: s}
	if s.backing == nil {
		return f
	}
	s.mem.Store(s.MemBytes())
	if s.dropped {
		s.dropped = false
		f.ranges = append(f.ranges, Range{[]byte{spaceData}, []byte{spaceMeta + 1}})
	}
	meta := &part{prefix: 1}
	for _, t := range s.tables {
		t.freeze(f, meta)
		if t.freezing() {
			f.left = append(f.left, t)
		}
		inf := t.info()
		if inf.written == t.Len()+1 && inf.writtenBits == inf.bits {
			continue
		}
		inf.written, inf.writtenBits = t.Len()+1, inf.bits
		b := meta.room(maxMeta)
		off := len(b)
		b = append(b, metaKey(inf.ord)...)
		klen := len(b) - off
		meta.put(append(b, inf.encode(t.Len())...), off, klen, false)
	}
	f.parts = append(f.parts, meta)
	s.stored = nil
	s.inFlight = append(s.inFlight, f)
	return f
}

// maxMeta is more than the key of a description takes.
const maxMeta = 64

// Step does about n entries' worth of the work that Freeze, or the end of
// a write, left to be done between epochs; it says whether there is more.
// Nothing waits for it but the write itself.
func (s *Space) Step(n int) (more bool) {
	for _, f := range s.inFlight {
		if len(f.left) > 0 {
			n = s.step(f, n)
			if n <= 0 {
				return true
			}
		}
	}
	s.Thaw()
	for len(s.thawing) > 0 && n > 0 {
		if n = s.thawing[0].thaw(n); n > 0 {
			s.thawing = s.thawing[1:]
		}
	}
	if len(s.thawing) == 0 && s.ev != nil && n > 0 {
		s.evictSome(n)
	}
	return len(s.thawing) > 0 || s.ev != nil
}

// step copies about n entries into f; it gives what is left of n, zero or less if there is more to copy.
func (s *Space) step(f *Frozen, n int) int {
	for len(f.left) > 0 {
		if n = f.left[0].copyFrozen(n); n <= 0 && f.left[0].freezing() {
			return n
		}
		f.left = f.left[1:]
	}
	return max(n, 1)
}

// Finish does all that Step would do. The engine calls it before another goroutine takes the space.
func (s *Space) Finish() {
	s.finish()
	s.Thaw()
	s.finishThaw()
}

// finish copies whatever a Frozen still waits for.
func (s *Space) finish() {
	for _, f := range s.inFlight {
		f.Complete()
	}
}

// finishThaw lets go of everything that was kept for a checkpoint that is written.
func (s *Space) finishThaw() {
	for _, t := range s.thawing {
		for t.thaw(1<<20) <= 0 {
		}
	}
	s.thawing = nil
}

// Thaw begins to let go of what was kept in memory because its checkpoint was
// not written, if it is now: Step goes on with it. Freeze and Evict do it themselves.
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
	s.finishThaw()
	for _, t := range s.tables {
		t.beginThaw()
		s.thawing = append(s.thawing, t)
	}
}

// Writing says whether a frozen run is not written yet.
func (s *Space) Writing() bool {
	s.Thaw()
	return len(s.inFlight) > 0
}

// DirtyEntries gives the number of entries that the next Freeze will take.
func (s *Space) DirtyEntries() int64 {
	var n int64
	for _, t := range s.tables {
		n += t.dirtyEntries()
	}
	return n
}

// Drop empties all tables; the next Freeze deletes what the store has.
func (s *Space) Drop() {
	s.finish()
	s.dropped = true
	s.thawing, s.ev = nil, nil
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
func (t *Hash) heldEntries() int64     { return int64(t.used) }
func (t *Ordered) heldEntries() int64  { return t.live }
func (w *Windows) heldEntries() int64 {
	var n int64
	for _, x := range w.open {
		n += int64(x.h.used)
	}
	return n
}

func (w *Windows) dirtyEntries() int64 {
	var n int64
	for _, x := range w.open {
		n += int64(x.h.dirty)
	}
	return n
}

// hashFreeze is a Freeze of a Hash of which entries are not copied yet: those with flagPending.
type hashFreeze struct {
	parts []*part // 2^log, by the leading bits of the hash
	log   uint
	fresh bool // all of the table is written, over nothing
	next  int  // slots before it are copied
}

func (t *Hash) freeze(f *Frozen, _ *part) {
	t.freezeTo(f)
	t.inf.bits = t.bits
}

// freezeTo turns dirty marks into pending ones.
func (t *Hash) freezeTo(f *Frozen) {
	n := len(t.flags)
	dirty := t.dirty
	t.dirty = 0
	flags := t.flags
	i := 0
	for ; i+8 <= n; i += 8 { // eight at a time
		x := binary.LittleEndian.Uint64(flags[i:])
		d := x & (ones * uint64(flagDirty))
		// flagDirty is the lowest bit. The use of what is dirty becomes one more, but mostUsed at most.
		used, often, add := x&(ones*uint64(flagUsed)), x>>1&(ones*uint64(flagUsed)), d*uint64(flagUsed)
		x &^= ones*uint64(flagDirty) | add | add<<1
		x |= add&(often|^used) | add&(often|used)<<1
		x |= d * uint64(flagPending|flagFrozen|flagOnDisk)
		binary.LittleEndian.PutUint64(flags[i:], x)
	}
	for ; i < n; i++ {
		fl := flags[i]
		if fl&flagDirty != 0 {
			flags[i] = fl&^(flagDirty|useFlags) | flagPending | flagFrozen | flagOnDisk | min(fl&useFlags+flagUsed, useFlags)
		}
	}
	if dirty == 0 {
		return
	}
	fresh, again := t.layOut(f, dirty)
	if again {
		for i, fl := range flags {
			if fl&(flagTomb|flagPending) == 0 {
				flags[i] = fl | flagPending | flagFrozen | flagOnDisk
				dirty++
			}
		}
	}
	t.fz = &hashFreeze{fresh: fresh}
	t.fz.parts, t.fz.log = f.fan(t, dirty, fresh)
}

// ones is the lowest bit of each of eight bytes.
const ones = 0x0101010101010101

func (t *Hash) freezing() bool { return t.fz != nil }

// copyFrozen copies pending entries, about n of them, and gives what is left of n.
func (t *Hash) copyFrozen(n int) int {
	z := t.fz
	if z == nil {
		return n
	}
	for z.next < len(t.flags) {
		if n <= 0 {
			return n
		}
		i, end := z.next, min(z.next+64, len(t.flags))
		for ; i+8 <= end; i += 8 {
			if binary.LittleEndian.Uint64(t.flags[i:])&(ones*uint64(flagPending)) == 0 {
				continue
			}
			for s := i; s < i+8; s++ {
				if t.flags[s]&flagPending != 0 {
					t.settle(int32(s))
					n--
				}
			}
		}
		for ; i < end; i++ {
			if t.flags[i]&flagPending != 0 {
				t.settle(int32(i))
				n--
			}
		}
		z.next = end
		n--
	}
	t.fz = nil
	return n
}

// settleSlots settles entries that were found and may be changed next.
func (t *Hash) settleSlots(slots, sel []int32) {
	if sel != nil {
		for _, k := range sel {
			if s := slots[k]; t.flags[s]&flagPending != 0 {
				t.settle(s)
			}
		}
		return
	}
	for _, s := range slots {
		if t.flags[s]&flagPending != 0 {
			t.settle(s)
		}
	}
}

func (t *Hash) beginThaw() { t.thawed = 0 }

// thaw drops the tombs that are not needed any more, and the marks of what was frozen. It looks at about 16 n entries, and gives what is left of n.
func (t *Hash) thaw(n int) int {
	for ; t.thawed < len(t.flags); t.thawed++ {
		i := t.thawed
		if i&7 == 0 && i+8 <= len(t.flags) && binary.LittleEndian.Uint64(t.flags[i:])&(ones*uint64(flagFrozen)) == 0 {
			t.thawed += 7
			if i&127 == 0 {
				n--
			}
			continue
		}
		if n <= 0 {
			return n
		}
		fl := t.flags[i]
		if fl&flagFrozen == 0 {
			continue
		}
		t.flags[i] &^= flagFrozen
		n--
		if fl&flagTomb != 0 && fl&flagDirty == 0 {
			t.tombs--
			t.unlink(int32(i))
		}
	}
	if t.pass == nil && len(t.flags) > shrinkAbove && t.used < len(t.flags)/4 {
		t.pass = &pass{gaps: true} // drops nothing, but closes the gaps
	}
	if t.pass != nil && t.pass.gaps {
		return t.evictSome(n)
	}
	return max(n, 1)
}

// shrinkAbove is the number of slots from which on a table that has become much emptier gives memory back.
const shrinkAbove = 1 << 14

func (t *Hash) clear() { t.reset() }

func (w *Windows) freeze(f *Frozen, meta *part) {
	for _, end := range w.gone {
		lo := w.windowPrefix(end)
		f.ranges = append(f.ranges, Range{lo, PrefixEnd(lo)})
		if w.open[end] == nil {
			b := meta.room(maxMeta)
			off := len(b)
			b = append(b, w.windowMeta(end)...)
			meta.put(b, off, len(b)-off, true)
		}
	}
	w.gone = nil
	for _, end := range w.ends {
		x := w.open[end]
		changed := x.h.dirty > 0 || !x.onDisk
		// Windows come in the order of their keys, and so do their parts.
		x.h.freezeTo(f)
		if x.h.fz != nil {
			w.left = append(w.left, x.h)
		}
		if !changed {
			continue
		}
		x.onDisk = true
		b := meta.room(maxMeta)
		off := len(b)
		b = append(b, w.windowMeta(end)...)
		klen := len(b) - off
		b = binary.AppendVarint(b, x.start)
		b = binary.AppendVarint(b, x.h.Len())
		meta.put(append(b, byte(x.h.bits)), off, klen, false)
	}
}

func (w *Windows) freezing() bool { return len(w.left) > 0 }

// copyFrozen copies of the windows that were open at the Freeze, those that were dropped since too.
func (w *Windows) copyFrozen(n int) int {
	for len(w.left) > 0 {
		if n = w.left[0].copyFrozen(n); w.left[0].fz != nil {
			return n
		}
		w.left = w.left[1:]
	}
	w.left = nil
	return n
}

func (w *Windows) beginThaw() {
	w.thawing = w.thawing[:0]
	for _, end := range w.ends {
		h := w.open[end].h
		h.beginThaw()
		w.thawing = append(w.thawing, h)
	}
}

// thaw thaws the windows that were open when the write ended.
func (w *Windows) thaw(n int) int {
	for len(w.thawing) > 0 {
		if n = w.thawing[0].thaw(n); n <= 0 {
			return n
		}
		w.thawing = w.thawing[1:]
	}
	return max(n, 1)
}

func (w *Windows) clear() {
	*w = *newWindows(w.inf)
}
