package table

import (
	"math/bits"
	"sync/atomic"
)

// index is the index of a Hash: cells of four bytes, so that it is in few lines of the caches. A cell holds, from its lowest bit up, the number of a slot plus
// one; how far the cell is from its entry's home, or that it is further than can be said; and as many of the leading bits of the entry's tag, by which
// most other entries are known without a look at their keys. 0 is an empty cell. The home of an entry is given by the low bits of its tag, which say nothing of its
// segment: the index of a table of which some segments are only on disk is as evenly filled as any.
type index struct {
	cells []uint32
	mem   *region // where they lie, if they are mapped
	slot  uint32  // mask of the slot's bits: as many as the number of cells has
	low   uint32  // and of those of the distance
	shift uint    // of the distance
	limit int     // entries at which it grows
}

// distanceBits is how many bits the distance has, where there is room for it.
const distanceBits = 3

// growCells is how many slots are entered for each entry that comes in while the index grows: all of them by the time that as many came in as a 16th of them.
const growCells = 16

// Tests change these.
var (
	growAtOnce = 1 << 16 // cells up to which an index is copied in one step
	growStep   = 1 << 10 // slots that are entered at a time
)

// pageCells is how many cells are in a page of memory, and warmPart that part of its entries that comes in while the pages of the new index are
// asked for.
const (
	pageCells = 1 << 10
	warmPart  = 32
)

// nextIndex is an index that is being made. The index of a Hash grows in steps: the table is larger than what an epoch may take time for. While it grows there are two
// of them. The old one goes on being whole, and lookups know nothing of the other; what is taken out is so in both, and what is entered, if its slot has had its turn. With each
// entry that comes in some slots are entered into the new one, so that it is whole before the old one is too full. Before that its memory is written to, a
// page at a time: the system gives a page when it is first used, which takes 1.5 us, and entries would use all of them at once, as they lie in no order.
type nextIndex struct {
	index
	ready int // pages before this cell are there
	warm  int // cells to get ready for each entry that comes in
	done  int // slots before it are entered
	owed  int // slots to enter, or cells to get ready
	rate  int // slots to enter for each entry that comes in
}

// newIndex gives an index of n empty cells, a power of two.
func (t *Hash) newIndex(n int) index {
	x := index{limit: limitOf(n), shift: uint(bits.Len(uint(n)) - 1)}
	x.cells, x.mem = t.newCells(n)
	x.slot = uint32(n - 1)
	x.low = x.slot
	if x.shift+distanceBits <= 32 {
		x.low = uint32(n<<distanceBits - 1)
	}
	return x
}

func (t *Hash) setIndex(n int) {
	t.index.mem.free()
	t.dropNext()
	t.index = t.newIndex(n)
}

// dropNext forgets the index that is being made.
func (t *Hash) dropNext() {
	if t.next != nil {
		t.next.mem.free()
		t.next = nil
	}
}

// limitOf gives how many entries an index of n cells may have: one that is near in any case is the emptier, so that more entries are at their homes.
func limitOf(n int) int {
	if n <= nearCells {
		return n / 16 * 5
	}
	return n / 8 * 5
}

// nearCells is how many cells take no more memory than the first two caches have to spare.
const nearCells = 1 << 15

// indexFor gives the size of an index for n entries and half as many again.
func indexFor(n int) int {
	size := minIndex
	for limitOf(size) <= n+n/2 {
		size *= 2
	}
	return size
}

// grow makes the index twice as large, or as large as it is expected to become, or starts to.
func (t *Hash) grow() {
	n := 2 * len(t.cells)
	for limitOf(n) <= t.expect && t.expectable(t.used) {
		n *= 2
	}
	t.resizeIndex(n)
}

// resizeIndex makes the index one of n cells, or starts to: there is room for all entries, and for those that come in meanwhile.
func (t *Hash) resizeIndex(n int) {
	t.next = &nextIndex{index: t.newIndex(n)}
	t.next.rate = max(growCells, 2*len(t.flags)/max(limitOf(n)-t.used, 1)+1)
	t.next.warm = n*warmPart/max(t.used, 1) + 1
	if len(t.cells) <= growAtOnce {
		t.enterSlots(len(t.flags))
	}
}

// stepIndex goes on with the index that is being made, as one entry comes in.
func (t *Hash) stepIndex() {
	x := t.next
	if x.ready < len(x.cells) {
		x.owed += x.warm
		for ; x.owed >= pageCells && x.ready < len(x.cells); x.ready += pageCells {
			atomic.AddUint32(&x.cells[x.ready], 0) // a write that is not left out, and changes nothing
			x.owed -= pageCells
		}
		return
	}
	if x.owed += x.rate; x.owed >= growStep {
		t.enterSlots(x.owed)
	}
}

// enterSlots enters n slots into the index that is being made, and puts that in the place of the other when it is whole.
func (t *Hash) enterSlots(n int) {
	x := t.next
	end := min(x.done+n, len(t.flags))
	for s := x.done; s < end; s++ {
		if !isFree(t.flags[s]) {
			x.enter(t.tagOf(int32(s)), int32(s))
		}
	}
	x.done, x.owed = end, 0
	if end == len(t.flags) {
		t.index.mem.free()
		t.index, t.next = x.index, nil
	}
}

// cell gives the cell of a slot at a distance from its home.
func (x *index) cell(tag uint32, slot int32, distance uint32) uint32 {
	return tag&^x.low | min(distance, x.low>>x.shift)<<x.shift | uint32(slot+1)
}

// enter enters a slot, unless it is there.
func (x *index) enter(tag uint32, slot int32) {
	mask := uint32(len(x.cells) - 1)
	i := tag
	for e := x.cells[i&mask]; e != 0; e = x.cells[i&mask] {
		if e&x.slot == uint32(slot+1) {
			return
		}
		i++
	}
	x.cells[i&mask] = x.cell(tag, slot, i-tag)
}

// find gives the cell of a slot; false if it is not there.
func (x *index) find(tag uint32, slot int32) (uint32, bool) {
	mask := uint32(len(x.cells) - 1)
	for i := tag; x.cells[i&mask] != 0; i++ {
		if x.cells[i&mask]&x.slot == uint32(slot+1) {
			return i & mask, true
		}
	}
	return 0, false
}

// insert enters slot under tag, whose key is known to be absent and which the entry has by now.
func (t *Hash) insert(tag uint32, slot int32) {
	if t.next != nil {
		t.stepIndex()
	} else if t.used >= t.limit {
		t.grow()
	}
	if uint32(slot+1) > t.slot || t.next != nil && uint32(slot+1) > t.next.slot {
		t.widen(int(slot) + 1)
	}
	t.used++
	t.index.enter(tag, slot)
	if t.next != nil && int(slot) < t.next.done { // those behind are entered in turn
		t.next.enter(tag, slot)
	}
}

// widen makes the index one whose cells have room for the number n, at once: slots that are not used again may be many more than the entries.
func (t *Hash) widen(n int) {
	size := len(t.cells)
	for size <= n {
		size *= 2
	}
	t.dropNext()
	t.next = &nextIndex{index: t.newIndex(max(size, indexFor(t.used)))}
	t.enterSlots(len(t.flags))
}

// insertAt is insert for a tag whose search ended at cell i, which is empty; i is not reduced to the number of cells.
func (t *Hash) insertAt(i, tag uint32, slot int32) {
	if t.next != nil || t.used >= t.limit || uint32(slot+1) > t.slot {
		t.insert(tag, slot)
		return
	}
	t.used++
	t.cells[i&uint32(len(t.cells)-1)] = t.cell(tag, slot, i-tag)
}

// takeOut takes a slot out of the index, under the tag that it was entered with.
func (t *Hash) takeOut(tag uint32, slot int32) {
	i, _ := t.index.find(tag, slot)
	t.closeGap(&t.index, i)
	if x := t.next; x != nil {
		if i, ok := x.find(tag, slot); ok {
			t.closeGap(&x.index, i)
		}
	}
	t.used--
}

// changeSlot enters under another slot what is in the index; that slot has been looked at before if this one was.
func (t *Hash) changeSlot(tag uint32, from, to int32) {
	i, _ := t.index.find(tag, from)
	t.cells[i] = t.cells[i]&^t.slot | uint32(to+1)
	if x := t.next; x != nil {
		if i, ok := x.find(tag, from); ok {
			x.cells[i] = x.cells[i]&^x.slot | uint32(to+1)
		} else {
			x.enter(tag, to)
		}
	}
}

// closeGap empties cell i, and moves others so that searches that end at an empty cell stay right.
func (t *Hash) closeGap(x *index, i uint32) {
	mask := uint32(len(x.cells) - 1)
	for j := i; ; {
		j = (j + 1) & mask
		e := x.cells[j]
		if e == 0 {
			break
		}
		d := e & x.low >> x.shift
		if d == x.low>>x.shift { // further than it says
			d = (j - t.tagOf(int32(e&x.slot)-1)) & mask
		}
		if gap := (j - i) & mask; d >= gap {
			d -= gap
			x.cells[i] = e&^x.low | min(d, x.low>>x.shift)<<x.shift | e&x.slot
			i = j
		}
	}
	x.cells[i] = 0
}
