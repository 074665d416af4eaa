package table

import "bytes"

// diskKey gives the key on disk, in a buffer that the next call reuses.
func (t *Ordered) diskKey(k []byte) []byte {
	t.key = append(append(t.key[:0], t.prefix...), k...)
	return t.key
}

// hidden says whether what is on disk under k was deleted with a range.
func (t *Ordered) hidden(k []byte) bool {
	return t.dels.holds(k) || t.frozenDels.holds(k)
}

// onDisk says whether a key that is not in memory exists on disk.
func (t *Ordered) onDisk(k []byte) bool {
	if t.absent == 0 || t.hidden(k) {
		return false
	}
	found := false
	fail(t.inf.sp.backing.Get(t.diskKey(k), func([]byte) { found = true }))
	return found
}

// fetch reads a key that is not in memory, and keeps it there. q is its place.
func (t *Ordered) fetch(q pos, k []byte) (val []byte, ok bool) {
	if t.absent == 0 || t.hidden(k) {
		return nil, false
	}
	if t.scanning == 0 {
		if t.loadIfRoom() {
			return t.Get(k)
		}
		// It may have read a part of the table.
		var found bool
		if q, found = t.p.seek(k); found {
			return t.Get(k)
		}
		if t.absent == 0 {
			return nil, false
		}
	}
	fail(t.inf.sp.backing.Get(t.diskKey(k), func(v []byte) {
		val, ok = append(make([]byte, 0, len(v)), v...), true
	}))
	if ok && t.scanning == 0 {
		t.p.insert(q, k, val, flagOnDisk)
		t.absent--
		t.live++
	}
	return val, ok
}

// loadIfRoom reads the whole table if the space's budget allows.
func (t *Ordered) loadIfRoom() bool {
	if !t.inf.sp.hasRoom(t.absent * 64) {
		return false
	}
	return t.load(t.inf.sp.room())
}

// load reads what is only on disk, up to max bytes, or nothing if it is clearly more; it says whether the table is complete.
func (t *Ordered) load(max int64) bool {
	if !t.partial {
		return true
	}
	if t.scanning > 0 || t.absent*16 > max {
		return false
	}
	if t.absent > 0 {
		before, full := t.p.bytes, false
		fail(t.inf.sp.backing.Scan(t.prefix, PrefixEnd(t.prefix), false, func(k, v []byte) bool {
			if full = t.p.bytes-before > max; full {
				return false
			}
			k = k[len(t.prefix):]
			if q, found := t.p.seek(k); !found && !t.hidden(k) {
				t.p.insert(q, k, v, flagOnDisk)
				t.absent--
				t.live++
			}
			return true
		}))
		t.inf.sp.loaded(t.p.bytes - before)
		if full {
			return false
		}
	}
	t.partial = false
	return true
}

func (t *Ordered) bounds(lo, hi []byte) (dlo, dhi []byte) {
	dlo = append(append(make([]byte, 0, len(t.prefix)+len(lo)), t.prefix...), lo...)
	if hi == nil {
		return dlo, PrefixEnd(t.prefix)
	}
	return dlo, append(append(make([]byte, 0, len(t.prefix)+len(hi)), t.prefix...), hi...)
}

// countOnlyOnDisk counts the entries in [lo, hi) that are not in memory.
func (t *Ordered) countOnlyOnDisk(lo, hi []byte) (n int64) {
	if t.absent == 0 || hi != nil && bytes.Compare(lo, hi) >= 0 {
		return 0
	}
	dlo, dhi := t.bounds(lo, hi)
	fail(t.inf.sp.backing.Scan(dlo, dhi, false, func(k, _ []byte) bool {
		k = k[len(t.prefix):]
		if _, found := t.p.seek(k); !found && !t.hidden(k) {
			n++
		}
		return true
	}))
	return n
}

// scanDisk merges memory over disk, ascending.
func (t *Ordered) scanDisk(lo, hi []byte, f func(key, val []byte) bool) {
	if t.scanning == 0 && t.loadIfRoom() {
		t.Scan(lo, hi, f)
		return
	}
	if hi != nil && bytes.Compare(lo, hi) >= 0 {
		return
	}
	t.scanning++
	defer func() { t.scanning-- }()
	q, _ := t.p.seek(lo)
	// emit passes on what memory has before k (nil: up to hi).
	emit := func(k []byte) bool {
		for t.p.norm(&q) {
			l := t.p.leaf(q)
			key := l.key(q.i)
			if k != nil && bytes.Compare(key, k) >= 0 || k == nil && hi != nil && bytes.Compare(key, hi) >= 0 {
				return true
			}
			l.touched = true
			if l.ents[q.i].flags&flagTomb == 0 && !f(key, l.val(q.i)) {
				return false
			}
			q.i++
		}
		return true
	}
	going := true
	if t.absent > 0 {
		dlo, dhi := t.bounds(lo, hi)
		fail(t.inf.sp.backing.Scan(dlo, dhi, false, func(k, v []byte) bool {
			k = k[len(t.prefix):]
			if going = emit(k); !going {
				return false
			}
			if t.p.norm(&q) && bytes.Equal(t.p.leaf(q).key(q.i), k) || t.hidden(k) {
				return true // memory has the newer value, and emits it next
			}
			going = f(k, v)
			return going
		}))
	}
	if going {
		emit(nil)
	}
}

// scanDiskDesc merges memory over disk, descending.
func (t *Ordered) scanDiskDesc(lo, hi []byte, f func(key, val []byte) bool) {
	if t.scanning == 0 && t.loadIfRoom() {
		t.ScanDesc(lo, hi, f)
		return
	}
	if hi != nil && bytes.Compare(lo, hi) >= 0 {
		return
	}
	t.scanning++
	defer func() { t.scanning-- }()
	q := t.p.end()
	if hi != nil {
		q, _ = t.p.seek(hi)
	}
	// q stands behind the next entry of memory; peek looks at it.
	peek := func() (l *leaf, i int) {
		r := q
		if !t.p.back(&r) {
			return nil, 0
		}
		l = t.p.leaf(r)
		if bytes.Compare(l.key(r.i), lo) < 0 {
			return nil, 0
		}
		return l, r.i
	}
	// emit passes on what memory has after k (nil: down to lo).
	emit := func(k []byte) bool {
		for {
			l, i := peek()
			if l == nil || k != nil && bytes.Compare(l.key(i), k) <= 0 {
				return true
			}
			l.touched = true
			if l.ents[i].flags&flagTomb == 0 && !f(l.key(i), l.val(i)) {
				return false
			}
			t.p.back(&q)
		}
	}
	going := true
	if t.absent > 0 {
		dlo, dhi := t.bounds(lo, hi)
		fail(t.inf.sp.backing.Scan(dlo, dhi, true, func(k, v []byte) bool {
			k = k[len(t.prefix):]
			if going = emit(k); !going {
				return false
			}
			if l, i := peek(); l != nil && bytes.Equal(l.key(i), k) || t.hidden(k) {
				return true
			}
			going = f(k, v)
			return going
		}))
	}
	if going {
		emit(nil)
	}
}
