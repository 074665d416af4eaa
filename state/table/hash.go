package table

import "slices"

// Hash is an open-addressing hash table. An entry has a key, Decl.Words inline
// int64 words, and optionally a blob. Entries are addressed by slot, which
// stays the same until the entry is removed or until Freeze or Evict between
// epochs; so slots are never kept across epochs.
//
// The index is cells of four bytes (index.go). Words and behind them the key, or
// where it is, lie in one array by slot, so that who looks up a key has its words in the processor's
// caches, too; flags in another. There are no pointers for the garbage collector to follow.
type Hash struct {
	inf    *tableInfo
	prefix []byte // of the keys on disk, within the space
	w      int
	nrare  int // rare words of an entry
	stride int // words of an entry in ents: w, and the key
	intKey bool

	index
	used int        // index entries in use: live entries and tombs
	next *nextIndex // nil: it does not grow now

	// expect is how many entries there will be, by all that is known; 0: nothing is. A table that comes to an eighth of that makes room for all.
	expect int

	// ents holds of each slot its words, and then the key (IntKey), or offset<<keyLenBits | length of the key in arena.
	ents  []int64
	arena []byte
	rare  []int64 // the rare words of each slot; nil: all of them are zero
	// Where they lie, if they are mapped.
	entsMem, arenaMem, rareMem *region
	waste                      int // bytes of arena that belong to removed entries
	// touched is of no use but that what is read ahead for its own sake goes somewhere.
	touched byte

	flags     []uint8
	blobs     [][]byte // nil until the first SetBlob
	blobBytes int64

	free  []int32 // slots to use again, and perhaps some that are in use or gone
	tombs int     // entries that are only there to hide what is on disk
	dirty int     // entries with flagDirty

	bits uint // of the number of buckets on disk
	laid bool // there may be something on disk, in these buckets
	// cramped says that the table was read back since its buckets had too many entries.
	cramped bool

	disk   diskState
	fz     *hashFreeze // nil: no Freeze has entries to copy
	thawed int         // slots before it have been thawed
	pass   *pass       // nil: nothing is dropped or moved now
	hand   int         // slot that the next eviction looks at first
}

// Flags of an entry, of Hash and of Ordered.
const (
	flagDirty uint8 = 1 << iota // changed since the last Freeze
	_
	flagOnDisk  // on disk, or in a run that is being written
	flagTomb    // removed; kept because flagOnDisk
	flagFrozen  // in a run that is being written
	flagUsed    // with flagOften, a number: what use the entry was lately (Hash)
	flagOften   // its upper digit
	flagPending // as of the last Freeze, and not copied yet (Hash)
)

// flagFree are the flags of a slot of a Hash that is not in use: those of something removed that need not be remembered.
const flagFree = flagTomb

// isFree says of the flags of a slot of a Hash whether it is not in use.
func isFree(f uint8) bool { return f&(flagTomb|flagOnDisk) == flagFree }

// What eviction goes by: an entry that was read from disk for its own sake has a use of one, each Freeze that finds it changed adds one, and each
// eviction that passes it takes one off.
const (
	useFlags = flagUsed | flagOften
	mostUsed = 3
)

const (
	keyLenBits = 28 // so a table has 64 GB of keys at most
	maxKeyLen  = 1<<keyLenBits - 1
	maxArena   = 1 << (64 - keyLenBits)
	minIndex   = 16
)

func newHash(inf *tableInfo, prefix []byte) *Hash {
	t := &Hash{inf: inf, prefix: prefix, w: inf.decl.Words - inf.decl.Rare, nrare: inf.decl.Rare, intKey: inf.decl.IntKey}
	t.stride = t.w + 1
	t.setIndex(minIndex)
	return t
}

// expectable says whether a table that has come to n entries may make room for all that it is expected to have.
func (t *Hash) expectable(n int) bool { return n >= t.expect/8 }

// newSlot takes a slot with zero words and no flags.
func (t *Hash) newSlot() int32 {
	for n := len(t.free); n > 0; n = len(t.free) {
		s := t.free[n-1]
		t.free = t.free[:n-1]
		if int(s) >= len(t.flags) || !isFree(t.flags[s]) {
			continue
		}
		clear(t.ents[int(s)*t.stride : (int(s)+1)*t.stride])
		clear(t.rareOf(s))
		t.flags[s] = 0
		return s
	}
	s := len(t.flags)
	t.flags = append(t.flags, 0)
	l := len(t.ents)
	if l+t.stride > cap(t.ents) {
		t.roomFor(l + t.stride)
	}
	t.ents = t.ents[:l+t.stride]
	clear(t.ents[l:])
	if t.rare != nil {
		t.roomForRare(s + 1)
		clear(t.rareOf(int32(s)))
	}
	if t.blobs != nil {
		t.blobs = append(t.blobs, nil)
	}
	return int32(s)
}

// create marks a slot as new and dirty.
func (t *Hash) create(s int32) {
	t.flags[s] = t.flags[s]&^flagTomb | flagDirty
	t.dirty++
}

// revive turns a tomb into a new entry.
func (t *Hash) revive(s int32) {
	if t.flags[s]&flagPending != 0 {
		t.settle(s)
	}
	t.tombs--
	clear(t.Words(s))
	clear(t.rareOf(s))
	if t.flags[s]&flagDirty != 0 {
		t.dirty--
	}
	t.create(s)
}

func (t *Hash) findOrAddInt(key int64) int32 {
	s, _ := t.addInt(key, tagInt(key))
	return s
}

// lookupInt finds an entry in memory, tombs included.
func (t *Hash) lookupInt(key int64, tag uint32) int32 {
	s, _ := t.searchInt(key, tag)
	return s
}

// searchInt is lookupInt that gives the cell at which the search ended, too: if there is no entry, where one goes with insertAt.
func (t *Hash) searchInt(key int64, tag uint32) (slot int32, end uint32) {
	mask := uint32(len(t.cells) - 1)
	for i := tag; ; i++ {
		e := t.cells[i&mask]
		if e == 0 {
			return -1, i
		}
		if (e^tag)&^t.low == 0 {
			if s := int32(e&t.slot) - 1; t.KeyInt(s) == key {
				return s, i
			}
		}
	}
}

// FindInt finds the slot of an int key, -1 if there is none.
func (t *Hash) FindInt(key int64) int32 {
	tag := tagInt(key)
	s := t.lookupInt(key, tag)
	if s < 0 && t.disk.partial {
		s = t.fetchOneInt(key, tag)
	}
	return t.found(s)
}

// found is what a search answers that came to slot s.
func (t *Hash) found(s int32) int32 {
	if s < 0 || t.flags[s]&flagTomb != 0 {
		return -1
	}
	if t.flags[s]&flagPending != 0 {
		t.settle(s) // it may be changed next
	}
	return s
}

// Words gives the entry's inline words but the rare ones, writable, valid until the next
// FindOrAdd or Find. Call MarkDirty after a change.
func (t *Hash) Words(slot int32) []int64 {
	lo := int(slot) * t.stride
	return t.ents[lo : lo+t.w : lo+t.w]
}

// WordsAll gives the words of all entries, but the rare ones: those of slot s begin at
// s*stride. What lies between them is not the caller's. Valid until the next FindOrAdd or Find.
func (t *Hash) WordsAll() (words []int64, stride int) { return t.ents, t.stride }

// KeyInt gives the key of an entry of an IntKey table.
func (t *Hash) KeyInt(slot int32) int64 { return t.ents[int(slot)*t.stride+t.w] }

// KeysInt gives the keys of entries of an IntKey table, one for each slot. It is faster than to ask for one after the other, as the
// processor waits for the memory of several at once; their words are in its caches then.
func (t *Hash) KeysInt(slots []int32, keys []int64) {
	ents, w, stride := t.ents, t.w, t.stride
	for i, s := range slots {
		keys[i] = ents[int(s)*stride+w]
	}
}

// Blob gives the entry's blob, nil if it has none; valid until it is set again.
func (t *Hash) Blob(slot int32) []byte {
	if t.blobs == nil {
		return nil
	}
	return t.blobs[slot]
}

// SetBlob sets the entry's blob to a copy of b (nil: none) and marks it dirty. What begins where Blob does, and was changed in place, is not
// copied.
func (t *Hash) SetBlob(slot int32, b []byte) {
	t.putBlob(slot, b)
	t.markDirty(slot)
}

func (t *Hash) putBlob(slot int32, b []byte) {
	if t.blobs == nil {
		if b == nil {
			return
		}
		t.blobs = make([][]byte, len(t.flags), cap(t.flags))
	}
	old := t.blobs[slot]
	if b == nil {
		t.blobs[slot] = nil
		t.blobBytes -= int64(cap(old))
		return
	}
	if len(b) > 0 && cap(old) > 0 && &b[0] == &old[:1][0] {
		t.blobs[slot] = old[:len(b)]
		return
	}
	// A blob that grows little by little is copied a logarithmic number of times.
	if old == nil || cap(old) < len(b) || cap(old) > 4*len(b)+64 {
		size := len(b)
		if old != nil && cap(old) < len(b) {
			size += len(b) / 4
		}
		old2 := make([]byte, 0, size)
		t.blobBytes += int64(cap(old2) - cap(old))
		old = old2
	}
	t.blobs[slot] = append(old[:0], b...)
}

func (t *Hash) markDirty(s int32) {
	if t.flags[s]&flagDirty == 0 {
		t.flags[s] |= flagDirty
		t.dirty++
	}
}

// MarkDirty says that the words of these entries changed. FindOrAdd does it
// for the entries that it adds, and SetBlob for its own.
func (t *Hash) MarkDirty(slots []int32) {
	if t.dirty == t.used { // all are, as in a window that no checkpoint has seen
		return
	}
	flags, n := t.flags, 0
	for _, s := range slots {
		f := flags[s]
		n += int(^f & flagDirty)
		flags[s] = f | flagDirty
	}
	t.dirty += n
}

// Remove removes an entry; its slot may be used for the next one that is added.
func (t *Hash) Remove(slot int32) {
	f := t.flags[slot]
	if f&flagTomb != 0 {
		return
	}
	if t.blobs != nil {
		t.putBlob(slot, nil)
	}
	if f&flagOnDisk != 0 {
		t.markDirty(slot)
		t.flags[slot] |= flagTomb
		t.tombs++
		return
	}
	if f&flagDirty != 0 {
		t.dirty--
	}
	t.unlink(slot)
}

// unlink takes an entry out of the index and frees its slot.
func (t *Hash) unlink(slot int32) {
	t.takeOut(t.tagOf(slot), slot)
	t.discard(slot)
	t.free = append(t.free, slot)
}

// discard lets go of a slot that is not in the index any more.
func (t *Hash) discard(slot int32) {
	if !t.intKey {
		t.waste += int(t.kref(slot) & maxKeyLen)
	}
	t.flags[slot] = flagFree
}

func (t *Hash) tagOf(slot int32) uint32 { return uint32(t.hashOf(slot) >> 32) }

func (t *Hash) hashOf(slot int32) uint64 {
	if t.intKey {
		return hashInt(t.KeyInt(slot))
	}
	return HashBytes(t.Key(slot))
}

// Each calls f for every entry, on disk or in memory, in the order of slots,
// until it returns false. f must not change the table.
func (t *Hash) Each(f func(slot int32) bool) {
	t.fetchAll()
	for s := range t.flags {
		if t.flags[s]&flagTomb == 0 && !f(int32(s)) {
			return
		}
	}
}

// All appends the slots of all entries, on disk or in memory, to slots, in the order of slots.
func (t *Hash) All(slots []int32) []int32 {
	t.fetchAll()
	slots = slices.Grow(slots, t.used)
	for s, f := range t.flags {
		if f&(flagTomb|flagFree) == 0 {
			slots = append(slots, int32(s))
		}
	}
	return slots
}

// Len gives the number of entries, those only on disk included.
func (t *Hash) Len() int64 { return int64(t.used-t.tombs) + t.disk.absent }

// MemBytes gives the memory that the table occupies, about.
func (t *Hash) MemBytes() int64 {
	ents := cap(t.ents)
	if t.entsMem != nil {
		ents = len(t.ents) // what was not touched yet takes none
	}
	keys := cap(t.arena)
	if t.arenaMem != nil {
		keys = len(t.arena)
	}
	n := 4*cap(t.cells) + 8*ents + 8*len(t.rare) + keys + cap(t.flags) +
		24*cap(t.blobs) + 4*cap(t.free) + t.disk.filter.size
	if t.next != nil {
		n += 4 * cap(t.next.cells)
	}
	return int64(n) + t.blobBytes
}

func (t *Hash) filterBytes() int64 { return int64(t.disk.filter.size) }
func (t *Hash) spareBytes() int64  { return 0 }
