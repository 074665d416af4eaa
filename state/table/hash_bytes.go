package table

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// findOrAddBytes is FindOrAddBytes for one key.
func (t *Hash) findOrAddBytes(key []byte, tag uint32) int32 {
	s, _ := t.addNewBytes(key, tag)
	return s
}

// placeBytes enters a key that is not there, and gives its slot.
func (t *Hash) placeBytes(key []byte, tag uint32) int32 {
	ref := t.store(key) // first, as it may fail
	s := t.newSlot()
	t.setKref(s, ref)
	t.insert(tag, s)
	return s
}

// store copies a key into the arena.
func (t *Hash) store(key []byte) uint64 {
	if len(key) > maxKeyLen {
		panic(&Failure{sqlerr.New(sqlerr.ProgramLimitExceeded, "key of %d bytes in operator state exceeds the limit of %d", len(key), maxKeyLen)})
	}
	t.roomForKeys(len(key))
	off := uint64(len(t.arena))
	if off >= maxArena {
		panic(&Failure{sqlerr.New(sqlerr.ProgramLimitExceeded, "keys of a table of operator state exceed %d bytes in memory", uint64(maxArena))})
	}
	t.arena = append(t.arena, key...)
	return off<<keyLenBits | uint64(len(key))
}

// packArena copies the keys that are in use to a new arena, with room for so many bytes more.
func (t *Hash) packArena(more int) {
	old, oldMem := t.arena, t.arenaMem
	t.newArena((len(old)-t.waste+len(old)/4+more)/8 + 1)
	for s := range int32(len(t.flags)) {
		if isFree(t.flags[s]) {
			continue
		}
		r := t.kref(s)
		n := r & maxKeyLen
		o := r >> keyLenBits
		t.setKref(s, uint64(len(t.arena))<<keyLenBits|n)
		t.arena = append(t.arena, old[o:o+n]...)
	}
	oldMem.free()
	t.waste = 0
}

// lookupBytes finds an entry in memory, tombs included.
func (t *Hash) lookupBytes(key []byte, tag uint32) int32 {
	s, _ := t.searchBytes(key, tag)
	return s
}

// searchBytes is searchInt for bytes keys.
func (t *Hash) searchBytes(key []byte, tag uint32) (slot int32, end uint32) {
	mask := uint32(len(t.cells) - 1)
	for i := tag; ; i++ {
		e := t.cells[i&mask]
		if e == 0 {
			return -1, i
		}
		if (e^tag)&^t.low == 0 {
			if s := int32(e&t.slot) - 1; bytes.Equal(t.Key(s), key) {
				return s, i
			}
		}
	}
}

// FindBytes finds the slot of a bytes key, -1 if there is none.
func (t *Hash) FindBytes(key []byte) int32 {
	tag := uint32(HashBytes(key) >> 32)
	s := t.lookupBytes(key, tag)
	if s < 0 && t.disk.partial {
		s = t.fetchOneBytes(key, tag)
	}
	return t.found(s)
}

// FindOrAddKey is FindOrAddBytes for one key.
func (t *Hash) FindOrAddKey(key []byte) int32 {
	tag := uint32(HashBytes(key) >> 32)
	if t.disk.partial && t.lookupBytes(key, tag) < 0 {
		t.fetchOneBytes(key, tag)
	}
	s := t.findOrAddBytes(key, tag)
	if t.fz != nil && t.flags[s]&flagPending != 0 {
		t.settle(s)
	}
	return s
}

// keyBlock is how many keys EachKey looks at together.
const keyBlock = 256

// EachKey gives f the keys of entries of a table with bytes keys in turn; f must not change the table. It is faster than to ask for one key
// after the other, as the processor waits for the memory of several at once; their words are in its caches then.
func (t *Hash) EachKey(slots []int32, f func(key []byte)) {
	var refs [keyBlock]uint64
	for len(slots) > 0 {
		n := t.keyRefs(slots, &refs)
		for _, r := range refs[:n] {
			o := r >> keyLenBits
			f(t.arena[o : o+r&maxKeyLen : o+r&maxKeyLen])
		}
		slots = slots[n:]
	}
}

// AppendKeys appends to data the keys of entries of a table with bytes keys, and to ends where each ends. As with EachKey, the processor waits for the
// memory of several keys at once.
func (t *Hash) AppendKeys(slots []int32, data []byte, ends []uint32) ([]byte, []uint32) {
	var refs [keyBlock]uint64
	ends = slices.Grow(ends, len(slots))
	for len(slots) > 0 {
		n := t.keyRefs(slots, &refs)
		room := wideCopy
		for _, r := range refs[:n] {
			room += int(r & maxKeyLen)
		}
		data = slices.Grow(data, room)
		to, at := data[:cap(data)], len(data)
		for _, r := range refs[:n] {
			o, l := r>>keyLenBits, int(r&maxKeyLen)
			if from := t.arena[o:]; l <= wideCopy && len(from) >= wideCopy { // what is copied beyond the key is written over
				d := to[at : at+wideCopy]
				binary.LittleEndian.PutUint64(d, binary.LittleEndian.Uint64(from))
				binary.LittleEndian.PutUint64(d[8:], binary.LittleEndian.Uint64(from[8:]))
			} else {
				copy(to[at:at+l], from)
			}
			at += l
			ends = append(ends, uint32(at))
		}
		data, slots = data[:at], slots[n:]
	}
	return data, ends
}

// wideCopy is up to how many bytes are copied as two words, whatever their number.
const wideCopy = 16

// keyRefs gives where the bytes of up to keyBlock keys are, and reads a byte of each.
func (t *Hash) keyRefs(slots []int32, refs *[keyBlock]uint64) int {
	n := min(len(slots), keyBlock)
	ents, w, stride, arena := t.ents, t.w, t.stride, t.arena
	for i, s := range slots[:n] {
		refs[i] = uint64(ents[int(s)*stride+w])
	}
	touched := byte(0)
	for _, r := range refs[:n] {
		if r&maxKeyLen > 0 {
			touched |= arena[r>>keyLenBits]
		}
	}
	t.touched = touched
	return n
}

// kref says where the bytes of an entry's key are.
func (t *Hash) kref(slot int32) uint64 { return uint64(t.ents[int(slot)*t.stride+t.w]) }

func (t *Hash) setKref(slot int32, r uint64) { t.ents[int(slot)*t.stride+t.w] = int64(r) }

// Key gives the key of an entry of a table with bytes keys, valid until the next FindOrAdd or Find.
func (t *Hash) Key(slot int32) []byte {
	r := t.kref(slot)
	o := r >> keyLenBits
	n := r & maxKeyLen
	return t.arena[o : o+n : o+n]
}
