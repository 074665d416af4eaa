package table

// Additions to a table that serves as a set: who asks which keys are new has no use for the entries of those that are not, so that these
// are not looked at beyond their keys.

// AddInts adds the int keys that are missing, with zero words. keys[k] is looked at for every k in sel (nil: all of them); each k whose key
// was missing, also among those before it, is appended to rows, and the slot of its entry to slots.
func (t *Hash) AddInts(keys []int64, sel []int32, rows, slots []int32) (newRows, newSlots []int32) {
	if t.disk.partial {
		t.fetchInts(keys, sel)
	}
	var p probe
	n := len(keys)
	if sel != nil {
		n = len(sel)
	}
	for lo := 0; lo < n; lo += probeBlock {
		hi := min(lo+probeBlock, n)
		block, out := p.keys[:hi-lo], p.out[:hi-lo]
		if sel == nil {
			block = keys[lo:hi]
		} else {
			for j, k := range sel[lo:hi] {
				block[j] = keys[k]
			}
		}
		t.probeInts(&p, block, out)
		t.keysAt(&p, out)
		for j, key := range block {
			if s := out[j]; s >= 0 && int64(p.refs[j]) == key && (t.tombs == 0 || t.flags[s]&flagTomb == 0) {
				continue
			}
			s, added := t.addInt(key, p.tags[j])
			if !added {
				continue
			}
			k := int32(lo + j)
			if sel != nil {
				k = sel[k]
			}
			rows, slots = append(rows, k), append(slots, s)
		}
	}
	return rows, slots
}

// addInt finds or adds an int key, and says whether it was missing.
func (t *Hash) addInt(key int64, tag uint32) (slot int32, added bool) {
	s, end := t.searchInt(key, tag)
	if s >= 0 {
		return s, t.revived(s)
	}
	s = t.newSlot()
	t.ents[int(s)*t.stride+t.w] = key
	t.insertAt(end, tag, s)
	t.create(s)
	return s, true
}

// revived makes a new entry of one that was found, if that is a tomb, and says whether it is.
func (t *Hash) revived(s int32) bool {
	if t.flags[s]&flagTomb == 0 {
		return false
	}
	t.revive(s)
	return true
}

// AddBytes is AddInts for bytes keys, given as to FindOrAddBytes.
func (t *Hash) AddBytes(hashes []uint64, off []uint32, data []byte, rows, slots []int32) (newRows, newSlots []int32) {
	if t.disk.partial {
		t.fetchBytes(hashes, off, data)
	}
	var p probe
	for lo := 0; lo < len(hashes); lo += probeBlock {
		hi := min(lo+probeBlock, len(hashes))
		out := p.out[:hi-lo]
		t.roomForKeys(int(off[hi] - off[lo])) // they do not move while some are added
		arena := t.probeBytes(&p, hashes[lo:hi], out)
		for j, s := range out {
			key := data[off[lo+j]:off[lo+j+1]]
			if s >= 0 && isKey(arena, p.refs[j], key) && (t.tombs == 0 || t.flags[s]&flagTomb == 0) {
				continue
			}
			if s, added := t.addNewBytes(key, p.tags[j]); added {
				rows, slots = append(rows, int32(lo+j)), append(slots, s)
			}
		}
	}
	return rows, slots
}

// addNewBytes is addInt for bytes keys.
func (t *Hash) addNewBytes(key []byte, tag uint32) (slot int32, added bool) {
	s, end := t.searchBytes(key, tag)
	if s >= 0 {
		return s, t.revived(s)
	}
	ref := t.store(key) // first, as it may fail
	s = t.newSlot()
	t.setKref(s, ref)
	t.insertAt(end, tag, s)
	t.create(s)
	return s, true
}
