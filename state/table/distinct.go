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

// keysAt puts what entries have as keys, or what says where these are, into p.refs. It does not branch on whether there is an entry.
func (t *Hash) keysAt(p *probe, slots []int32) {
	ents, w, stride, refs := t.ents, t.w, t.stride, p.refs[:len(slots)]
	if len(ents) == 0 {
		return
	}
	for j, s := range slots {
		refs[j] = uint64(ents[int(max(s, 0))*stride+w])
	}
}

// addInt finds or adds an int key, and says whether it was missing.
func (t *Hash) addInt(key int64, tag uint32) (slot int32, added bool) {
	s := t.lookupInt(key, tag)
	switch {
	case s < 0:
		s = t.newSlot()
		t.ents[int(s)*t.stride+t.w] = key
		t.insert(tag, s)
		t.create(s)
	case t.flags[s]&flagTomb != 0:
		t.revive(s)
	default:
		return s, false
	}
	return s, true
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
	s := t.lookupBytes(key, tag)
	switch {
	case s < 0:
		return t.addBytes(key, tag), true
	case t.flags[s]&flagTomb != 0:
		t.revive(s)
		return s, true
	}
	return s, false
}
