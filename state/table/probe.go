package table

import (
	"bytes"
	"encoding/binary"
)

// Lookups of many keys. A lookup waits for memory two or three times: for the
// index, for the key, and for where the key's bytes are. Keys are looked up in
// blocks, and each of these is one loop over the block without branches that
// depend on what is read, or hardly any: so the processor waits for many of the
// block's keys at once, and a wrong guess of whether a key is there, or at its
// home in the index, does not throw away the work on those that follow.

const (
	// probeBlock is how many keys are looked up together.
	probeBlock = 128
	// probeFew is up to how many keys a block is not worth its while.
	probeFew = 4
)

// probe is the scratch memory of a block.
type probe struct {
	tags  [probeBlock]uint32
	homes [probeBlock]uint32 // what the index has at the keys' homes
	keys  [probeBlock]int64
	refs  [probeBlock]uint64
	out   [probeBlock]int32
}

// candidates gives, for each of the first len(out) tags, the slot of the first entry with that tag, -1 if there is none.
func (t *Hash) candidates(p *probe, out []int32) {
	cells, mask, low, slot := t.cells, uint32(len(t.cells)-1), t.low, t.slot
	tags, homes := p.tags[:len(out)], p.homes[:len(out)]
	for j, e := range homes {
		tag := tags[j]
		for i := tag; e^tag > low && e != 0; {
			i++
			e = cells[i&mask]
		}
		out[j] = int32(e&slot) - 1
	}
}

// FindOrAddInts finds the slots of int keys and adds those that are missing,
// with zero words: slots[k] is that of keys[k] for every k in sel (nil: every
// row). slots is as long as keys; what sel leaves out is not touched.
func (t *Hash) FindOrAddInts(keys []int64, sel []int32, slots []int32) {
	if t.disk.partial {
		t.fetchInts(keys, sel)
	}
	t.findOrAddManyInts(keys, sel, slots)
	if t.fz != nil {
		t.settleSlots(slots[:len(keys)], sel)
	}
}

func (t *Hash) findOrAddManyInts(keys []int64, sel, slots []int32) {
	if sel == nil && len(keys) <= probeFew {
		for k, key := range keys {
			slots[k] = t.findOrAddInt(key)
		}
		return
	}
	var p probe
	if sel == nil {
		for lo := 0; lo < len(keys); lo += probeBlock {
			hi := min(lo+probeBlock, len(keys))
			t.findOrAddBlock(&p, keys[lo:hi], slots[lo:hi])
		}
		return
	}
	for lo := 0; lo < len(sel); lo += probeBlock {
		rows := sel[lo:min(lo+probeBlock, len(sel))]
		for j, k := range rows {
			p.keys[j] = keys[k]
		}
		t.findOrAddBlock(&p, p.keys[:len(rows)], p.out[:len(rows)])
		for j, k := range rows {
			slots[k] = p.out[j]
		}
	}
}

func (t *Hash) findOrAddBlock(p *probe, keys []int64, slots []int32) {
	t.probeInts(p, keys, slots)
	t.keysAt(p, slots)
	for j, key := range keys {
		if s := slots[j]; s < 0 || int64(p.refs[j]) != key || t.tombs != 0 && t.flags[s]&flagTomb != 0 { // new, a shared tag, or a tomb
			slots[j], _ = t.addInt(key, p.tags[j])
		}
	}
}

func (t *Hash) probeInts(p *probe, keys []int64, slots []int32) {
	cells, mask := t.cells, uint32(len(t.cells)-1)
	tags, homes := p.tags[:len(keys)], p.homes[:len(keys)]
	for j, key := range keys {
		tags[j] = tagInt(key)
	}
	for j, tag := range tags { // apart, as the less there is to do in a loop the more of its reads are on their way at once
		homes[j] = cells[tag&mask]
	}
	t.candidates(p, slots)
}

// FindManyInts finds the slots of int keys, -1 for those that are missing. It is faster than to find one after the other, since the
// processor waits for the memory of several at once.
func (t *Hash) FindManyInts(keys []int64, slots []int32) {
	if t.disk.partial {
		t.fetchInts(keys, nil)
	}
	var p probe
	for lo := 0; lo < len(keys); lo += probeBlock {
		hi := min(lo+probeBlock, len(keys))
		block, out := keys[lo:hi], slots[lo:hi]
		t.probeInts(&p, block, out)
		for j, key := range block {
			if s := out[j]; s >= 0 && t.KeyInt(s) != key {
				out[j] = t.lookupInt(key, p.tags[j])
			}
		}
		t.settleFound(out)
	}
}

// settleFound answers searches that came to slots: with -1 for what was removed. The entries may be changed next.
func (t *Hash) settleFound(slots []int32) {
	if t.tombs == 0 && t.fz == nil {
		return
	}
	for j, s := range slots {
		slots[j] = t.found(s)
	}
}

// FindOrAddBytes finds the slots of bytes keys and adds those that are missing,
// with zero words. Key k is data[off[k]:off[k+1]] and hashes[k] is its
// HashBytes; slots[k] receives its slot.
func (t *Hash) FindOrAddBytes(hashes []uint64, off []uint32, data []byte, slots []int32) {
	if t.disk.partial {
		t.fetchBytes(hashes, off, data)
	}
	slots = slots[:len(hashes)]
	t.findOrAddManyBytes(hashes, off, data, slots)
	if t.fz != nil {
		t.settleSlots(slots, nil)
	}
}

func (t *Hash) findOrAddManyBytes(hashes []uint64, off []uint32, data []byte, slots []int32) {
	if len(hashes) <= probeFew {
		for k, h := range hashes {
			slots[k] = t.findOrAddBytes(data[off[k]:off[k+1]], uint32(h>>32))
		}
		return
	}
	var p probe
	for lo := 0; lo < len(hashes); lo += probeBlock {
		hi := min(lo+probeBlock, len(hashes))
		block, out := hashes[lo:hi], slots[lo:hi]
		t.roomForKeys(int(off[hi] - off[lo])) // they do not move while some are added
		arena := t.probeBytes(&p, block, out)
		for j, s := range out {
			key := data[off[lo+j]:off[lo+j+1]]
			if s < 0 || !isKey(arena, p.refs[j], key) || t.tombs != 0 && t.flags[s]&flagTomb != 0 {
				out[j] = t.findOrAddBytes(key, p.tags[j])
			}
		}
	}
}

// isKey says whether the bytes that a reference into arena points to are key. Short keys are compared as two words, without a call.
func isKey(arena []byte, ref uint64, key []byte) bool {
	o, n := ref>>keyLenBits, ref&maxKeyLen
	if n != uint64(len(key)) {
		return false
	}
	if n >= 8 && n <= 16 {
		x, y := arena[o:o+n], key[:n]
		return binary.LittleEndian.Uint64(x) == binary.LittleEndian.Uint64(y) && binary.LittleEndian.Uint64(x[n-8:]) == binary.LittleEndian.Uint64(y[n-8:])
	}
	return bytes.Equal(arena[o:o+n], key)
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

// probeBytes gives candidates in slots, in p.refs where their keys are, and what these are references into. The keys are in the
// processor's caches then.
func (t *Hash) probeBytes(p *probe, hashes []uint64, slots []int32) (arena []byte) {
	cells, mask := t.cells, uint32(len(t.cells)-1)
	tags, homes := p.tags[:len(hashes)], p.homes[:len(hashes)]
	for j, h := range hashes {
		tags[j] = uint32(h >> 32)
	}
	for j, tag := range tags {
		homes[j] = cells[tag&mask]
	}
	t.candidates(p, slots)
	t.keysAt(p, slots)
	arena = t.arena
	if len(arena) == 0 {
		return arena
	}
	touched, last := byte(0), uint64(len(arena)-1)
	for _, r := range p.refs[:len(slots)] {
		touched |= arena[min(r>>keyLenBits, last)] // what was removed may be nowhere
	}
	t.touched = touched
	return arena
}

// FindManyBytes finds the slots of bytes keys, given as to FindOrAddBytes; -1 for those that are missing. It is faster than to find one
// after the other, since the processor waits for the memory of several at once.
func (t *Hash) FindManyBytes(hashes []uint64, off []uint32, data []byte, slots []int32) {
	if t.disk.partial {
		t.fetchBytes(hashes, off, data)
	}
	var p probe
	for lo := 0; lo < len(hashes); lo += probeBlock {
		hi := min(lo+probeBlock, len(hashes))
		block, out := hashes[lo:hi], slots[lo:hi]
		arena := t.probeBytes(&p, block, out)
		for j, s := range out {
			key := data[off[lo+j]:off[lo+j+1]]
			if s >= 0 && !isKey(arena, p.refs[j], key) {
				out[j] = t.lookupBytes(key, p.tags[j])
			}
		}
		t.settleFound(out)
	}
}
