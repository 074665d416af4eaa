package table

// pass drops clean entries of a Hash and closes the gaps, in place and in steps. First it goes on from where the last one ended, once around:
// what is clean and has no use left is dropped, until it is enough, and from what has some it takes one. So what is used again
// before it is passed so many times stays, however long that takes. Then it goes down from the last slot, and what is there goes to a slot
// further down that is free. So what is left are the first slots, and memory behind them goes back. Between two steps the table
// is as any other, and used as any other.
type pass struct {
	drop int   // entries yet to drop
	left int   // slots yet to look at
	per  int64 // bytes of an entry, its part of the index included
	low  int   // slots before it stay
	over bool  // only the index is yet to be made smaller
	gaps bool  // it was begun to close gaps only
}

// size gives the bytes that the pass has yet to free, about.
func (p *pass) size() int64 {
	if p == nil {
		return 0
	}
	return int64(p.drop) * p.per
}

const keepFlags = flagDirty | flagFrozen | flagTomb

// beginEvict begins a pass that frees about want bytes; each round finds entries with less use.
func (t *Hash) beginEvict(_ uint8, want int64) {
	t.pass = nil
	if len(t.flags) == 0 {
		return
	}
	p := &pass{left: len(t.flags), per: max(t.MemBytes()/int64(len(t.flags)), 1)}
	p.drop = int(min(want/p.per+1, int64(len(t.flags))))
	t.pass = p
}

// evictSome goes on with a pass. It looks at about n entries and gives what is left of n; above zero: it is done.
func (t *Hash) evictSome(n int) int {
	p := t.pass
	if p == nil {
		return max(n, 1)
	}
	for n > 0 {
		if p.over {
			if t.next == nil {
				t.pass = nil
				return n
			}
			t.enterSlots(growStep)
			n -= growStep / 16
			continue
		}
		if p.drop > 0 && p.left > 0 {
			n = t.sweep(n)
			continue
		}
		last := len(t.flags) - 1
		if last < p.low {
			t.endPass()
			continue
		}
		n--
		if !isFree(t.flags[last]) {
			for ; p.low < last && !isFree(t.flags[p.low]); p.low++ {
				if p.low&7 == 7 {
					n--
				}
			}
			if p.low >= last {
				p.low = last + 1
				continue
			}
			t.move(int32(last), int32(p.low))
			p.low++
		}
		t.truncate(last)
	}
	if l := len(t.ents); t.entsMem != nil && cap(t.ents)-l > l/4+mapFrom {
		t.shrinkEnts(l + l/8)
	}
	return n
}

// sweep goes on around the slots: it looks at about n entries, most of them for an eighth of what one costs that is dropped, and gives what is left of n.
func (t *Hash) sweep(n int) int {
	p := t.pass
	for n > 0 && p.left > 0 && p.drop > 0 {
		if t.hand >= len(t.flags) {
			t.hand = 0
		}
		s := t.hand
		t.hand++
		if p.left--; p.left&7 == 0 {
			n--
		}
		switch f := t.flags[s]; {
		case f&keepFlags != 0 || f&flagOnDisk == 0:
		case f&useFlags != 0:
			t.flags[s] = f - flagUsed
		default:
			t.drop(int32(s))
			n--
		}
	}
	return n
}

// drop takes an entry out of memory that is on disk.
func (t *Hash) drop(slot int32) {
	t.pass.drop--
	hash := t.hashOf(slot)
	t.lose(hash)
	t.takeOut(uint32(hash>>32), slot)
	t.discard(slot)
	if t.blobs != nil {
		t.putBlob(slot, nil)
	}
}

// move moves an entry to a slot that is free.
func (t *Hash) move(from, to int32) {
	t.changeSlot(uint32(t.hashOf(from)>>32), from, to)
	copy(t.ents[int(to)*t.stride:(int(to)+1)*t.stride], t.ents[int(from)*t.stride:])
	copy(t.rareOf(to), t.rareOf(from))
	t.flags[to] = t.flags[from]
	if t.blobs != nil {
		t.blobs[to], t.blobs[from] = t.blobs[from], nil
	}
}

// truncate drops the slots from n on.
func (t *Hash) truncate(n int) {
	t.flags, t.ents = t.flags[:n], t.ents[:n*t.stride]
	if t.blobs != nil {
		t.blobs = t.blobs[:n]
	}
}

// endPass gives memory back that the pass made room of.
func (t *Hash) endPass() {
	n := len(t.flags)
	if t.pass.low >= n { // what was free was used, or is gone
		t.free = t.free[:0]
	}
	t.pass.over, t.pass.drop = true, 0
	room := n + n/8 + 16
	if cap(t.flags) > 2*room {
		t.flags = append(make([]uint8, 0, room), t.flags...)
		if t.blobs != nil {
			t.blobs = append(make([][]byte, 0, room), t.blobs...)
		}
	}
	t.shrinkEnts(room * t.stride)
	t.shrinkRare(room)
	if t.waste > len(t.arena)/2 {
		t.packArena(0)
	}
	if size := indexFor(max(t.used, n*5/8)); size < len(t.cells) && t.next == nil {
		t.resizeIndex(size)
	}
}
