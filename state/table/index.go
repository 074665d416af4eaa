package table

// The index of a Hash grows in steps: the table is larger than what an epoch may take time for. While it grows there are two of them.
// The old one goes on being whole, and lookups know nothing of the other; what is entered or taken out is so in both. With each
// entry that comes in some cells of the old one are copied, so that the new one is whole before the old one is too full.

// growCells is how many cells are copied for each entry that comes in: all of them by the time that as many came in as a 16th of them.
const growCells = 16

// Tests change these.
var (
	growAtOnce = 1 << 16 // cells up to which an index is copied in one step
	growStep   = 1 << 10 // cells that are copied at a time
)

// nextIndex is an index that is being made.
type nextIndex struct {
	idx  []uint64
	mem  *region
	done int // cells of the old index before it are copied
	owed int // cells to copy
	rate int // cells to copy for each entry that comes in
}

func (t *Hash) setIndex(n int) {
	t.idxMem.free()
	t.dropNext()
	t.idx, t.idxMem = t.newCells(n)
	t.limit = n / 8 * 5
}

// dropNext forgets the index that is being made.
func (t *Hash) dropNext() {
	if t.next != nil {
		t.next.mem.free()
		t.next = nil
	}
}

// indexFor gives the size of an index for n entries and half as many again.
func indexFor(n int) int {
	size := minIndex
	for size/8*5 <= n+n/2 {
		size *= 2
	}
	return size
}

// grow makes the index twice as large, or as large as it is expected to become, or starts to.
func (t *Hash) grow() {
	n := 2 * len(t.idx)
	for n/8*5 <= t.expect && t.expectable(t.used) {
		n *= 2
	}
	t.resizeIndex(n)
}

// resizeIndex makes the index one of n cells, or starts to: there is room for all entries, and for those that come in meanwhile.
func (t *Hash) resizeIndex(n int) {
	t.next = &nextIndex{}
	t.next.idx, t.next.mem = t.newCells(n)
	t.next.rate = max(growCells, 2*len(t.idx)/max(n/8*5-t.used, 1)+1)
	if len(t.idx) <= growAtOnce {
		t.copyCells(len(t.idx))
	}
}

// stepIndex goes on with the index that is being made, as one entry comes in.
func (t *Hash) stepIndex() {
	if t.next.owed += t.next.rate; t.next.owed >= growStep {
		t.copyCells(t.next.owed)
	}
}

// copyCells copies n cells of the index to the one that is being made, and puts that in its place when it is whole.
func (t *Hash) copyCells(n int) {
	x := t.next
	end := min(x.done+n, len(t.idx))
	for _, e := range t.idx[x.done:end] {
		if e != 0 {
			x.enter(e)
		}
	}
	x.done, x.owed = end, 0
	if end == len(t.idx) {
		t.idxMem.free()
		t.idx, t.idxMem, t.next = x.idx, x.mem, nil
		t.limit = len(t.idx) / 8 * 5
	}
}

// enter enters a cell, unless it is there.
func (x *nextIndex) enter(e uint64) {
	mask := uint32(len(x.idx) - 1)
	i := uint32(e >> 32)
	for ; x.idx[i&mask] != 0; i++ {
		if x.idx[i&mask] == e {
			return
		}
	}
	x.idx[i&mask] = e
}

// place enters a cell into an index that does not have it.
func place(idx []uint64, e uint64) {
	mask := uint32(len(idx) - 1)
	i := uint32(e >> 32)
	for idx[i&mask] != 0 {
		i++
	}
	idx[i&mask] = e
}

// insertAt is insert for a tag whose search ended at cell i, which is empty.
func (t *Hash) insertAt(i, tag uint32, slot int32) {
	if t.next != nil || t.used >= t.limit {
		t.insert(tag, slot)
		return
	}
	t.used++
	t.idx[i] = uint64(tag)<<32 | uint64(uint32(slot)+1)
}

// insert enters slot under tag, whose key is known to be absent.
func (t *Hash) insert(tag uint32, slot int32) {
	if t.next != nil {
		t.stepIndex()
	} else if t.used >= t.limit {
		t.grow()
	}
	t.used++
	e := uint64(tag)<<32 | uint64(uint32(slot)+1)
	place(t.idx, e)
	if t.next != nil {
		t.next.enter(e)
	}
}

// takeOut takes a slot out of the index, under the tag that it was entered with.
func (t *Hash) takeOut(tag uint32, slot int32) {
	e := uint64(tag)<<32 | uint64(uint32(slot)+1)
	mask := uint32(len(t.idx) - 1)
	i := tag & mask
	for t.idx[i] != e {
		i = (i + 1) & mask
	}
	closeGap(t.idx, i, t.next)
	if x := t.next; x != nil {
		mask = uint32(len(x.idx) - 1)
		for i = tag & mask; x.idx[i] != 0; i = (i + 1) & mask {
			if x.idx[i] == e {
				closeGap(x.idx, i, nil)
				break
			}
		}
	}
	t.used--
}

// changeSlot enters under another slot what is in the index.
func (t *Hash) changeSlot(tag uint32, from, to int32) {
	e, n := uint64(tag)<<32|uint64(uint32(from)+1), uint64(tag)<<32|uint64(uint32(to)+1)
	mask := uint32(len(t.idx) - 1)
	i := tag & mask
	for t.idx[i] != e {
		i = (i + 1) & mask
	}
	t.idx[i] = n
	if x := t.next; x != nil {
		mask = uint32(len(x.idx) - 1)
		for i = tag & mask; x.idx[i] != 0; i = (i + 1) & mask {
			if x.idx[i] == e {
				x.idx[i] = n
				break
			}
		}
	}
}

// closeGap empties cell i, and moves others so that searches that end at an empty cell stay right. Cells that move may move to where
// they are not copied to x any more: x gets them now.
func closeGap(idx []uint64, i uint32, x *nextIndex) {
	mask := uint32(len(idx) - 1)
	for j := i; ; {
		j = (j + 1) & mask
		e := idx[j]
		if e == 0 {
			break
		}
		home := uint32(e >> 32)
		if (j-home)&mask >= (j-i)&mask {
			idx[i] = e
			i = j
			if x != nil {
				x.enter(e)
			}
		}
	}
	idx[i] = 0
}
