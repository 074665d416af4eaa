package table

// orderedFreeze is a Freeze of an Ordered of which leaves are not copied yet: those whose gen is not the table's.
type orderedFreeze struct {
	part *part
	next []byte // leaves before this key are copied
}

func (t *Ordered) freeze(f *Frozen, _ *part) {
	p := f.newPart(t.prefix)
	for _, d := range t.dels {
		lo, hi := t.bounds(d.lo, d.hi)
		f.ranges = append(f.ranges, Range{lo, hi})
		t.frozenDels.add(d.lo, d.hi)
	}
	t.dels = nil
	if t.dirty == 0 {
		return
	}
	t.dirty = 0
	t.gen++
	t.p.pending = true
	t.fz = &orderedFreeze{part: p}
}

func (t *Ordered) freezing() bool { return t.fz != nil }

// copyFrozen copies leaves with about n entries and gives what is left of n.
func (t *Ordered) copyFrozen(n int) int {
	z := t.fz
	if z == nil {
		return n
	}
	q, _ := t.p.seek(z.next)
	q.i = 0
	for {
		l := t.p.leaf(q)
		if n <= 0 && len(l.ents) > 0 {
			z.next = append(z.next[:0], l.key(0)...)
			return n
		}
		n -= 1 + t.settle(l)
		if q.l++; q.l == len(t.p.top[q.b].leaves) {
			q.l = 0
			if q.b++; q.b == len(t.p.top) {
				t.fz, t.p.pending = nil, false
				return n
			}
		}
	}
}

// settle copies what is dirty in a leaf that is pending, before it changes; it gives the number of entries that it copied.
func (t *Ordered) settle(l *leaf) (n int) {
	if t.fz == nil || l.gen == t.gen {
		return 0
	}
	l.gen = t.gen
	for i := range l.ents {
		c := &l.ents[i]
		if c.flags&flagDirty == 0 {
			continue
		}
		n++
		p := t.fz.part
		b := p.room(len(t.prefix) + int(c.klen) + int(c.vlen))
		off := len(b)
		b = append(append(b, t.prefix...), l.key(i)...)
		klen := len(b) - off
		del := c.flags&flagTomb != 0
		if !del {
			b = append(b, l.val(i)...)
		}
		p.put(b, off, klen, del)
		c.flags = c.flags&^flagDirty | flagFrozen | flagOnDisk
	}
	l.frozen = l.frozen || n > 0
	return n
}

// settleRange settles the leaves with keys in [lo, hi); hi nil: no bound.
func (t *Ordered) settleRange(lo, hi []byte) {
	if t.fz == nil {
		return
	}
	q, _ := t.p.seek(lo)
	for t.p.norm(&q) {
		l := t.p.leaf(q)
		if hi != nil && string(l.key(q.i)) >= string(hi) {
			return
		}
		t.settle(l)
		q.i = len(l.ents)
	}
}

func (t *Ordered) beginThaw() {
	t.frozenDels = nil
	t.thawed = t.thawed[:0]
}

// thaw drops the tombs that are not needed any more, and the marks of what was frozen, of leaves with about n entries. It gives what is left of n.
func (t *Ordered) thaw(n int) int {
	q, _ := t.p.seek(t.thawed)
	q.i = 0
	for t.p.norm(&q) {
		l := t.p.leaf(q)
		if q.i == 0 {
			if n <= 0 {
				t.thawed = append(t.thawed[:0], l.key(0)...)
				return n
			}
			if n--; !l.frozen {
				q.i = len(l.ents)
				continue
			}
			l.frozen = false
			n -= len(l.ents)
		}
		c := &l.ents[q.i]
		fl := c.flags
		c.flags &^= flagFrozen
		if fl&flagFrozen == 0 || fl&flagTomb == 0 || fl&flagDirty != 0 {
			q.i++
			continue
		}
		k := append([]byte(nil), l.key(q.i)...)
		l.frozen = true // the rest of it, which may move
		t.p.remove(q)
		q, _ = t.p.seek(k)
	}
	return max(n, 1)
}

func (t *Ordered) clear() {
	t.p = newPages()
	t.live, t.absent, t.dirty, t.partial = 0, 0, 0, false
	t.dels, t.frozenDels = nil, nil
	t.fz = nil
}
