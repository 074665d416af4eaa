package table

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Large arrays of tables that have a backing are mapped memory, where the system can do it, not Go's heap: such an array grows without
// being copied, which would hold up the epoch that does it and need more than twice its memory for that moment, and what it
// lets go of goes back to the system at once, not when the heap is collected next.

// mapFrom is the number of words from which on an array is mapped. Tests change it.
var mapFrom = 1 << 17

// mappedBytes is the memory of all mapped arrays.
var mappedBytes atomic.Int64

// MappedBytes gives the memory that tables have outside Go's heap, in bytes, of all spaces of the process. It may be called from any goroutine.
func MappedBytes() int64 { return mappedBytes.Load() }

// region is the mapped memory of one array. It is of the table that has the array, and goes with it; the array must not be used
// by those who do not have the table.
type region struct {
	b    []byte
	last runtime.Cleanup
}

// newRegion maps zeroed memory for n words; nil if it can't.
func newRegion(n int) *region {
	b, err := mapMemory(8 * n)
	if err != nil {
		return nil
	}
	r := &region{}
	r.own(b)
	return r
}

// own makes b the region's memory, which is unmapped when nobody has the region any more.
func (r *region) own(b []byte) {
	mappedBytes.Add(int64(len(b)))
	r.b = b
	r.last = runtime.AddCleanup(r, unmap, b)
}

func unmap(b []byte) {
	mappedBytes.Add(-int64(len(b)))
	_ = unmapMemory(b) // it fails for what is not mapped only
}

// resize gives the region room for n words. What it had stays, as far as there is room; what is new is zero. It may move.
func (r *region) resize(n int) bool {
	b, err := remapMemory(r.b, 8*n)
	if err != nil {
		return false
	}
	r.last.Stop()
	mappedBytes.Add(-int64(len(r.b)))
	r.own(b)
	return true
}

// free unmaps the memory; r may be nil. For much memory the system takes some milliseconds, for which no epoch waits.
func (r *region) free() {
	if r == nil {
		return
	}
	r.last.Stop()
	if len(r.b) > 8<<20 {
		go unmap(r.b)
	} else {
		unmap(r.b)
	}
	r.b = nil
}

// ints and cells give the memory as an array of which the first n words are in use.

func (r *region) ints(n int) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(r.b))), len(r.b)/8)[:n]
}

func (r *region) cells() []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(r.b))), len(r.b)/4)
}

// newCells gives an index of n empty cells, and where it lies if it is mapped.
func (t *Hash) newCells(n int) ([]uint32, *region) {
	if n/2 >= mapFrom && t.inf.sp.backing != nil {
		if r := newRegion(n / 2); r != nil {
			return r.cells(), r
		}
	}
	return make([]uint32, n), nil
}

// roomFor gives ents room for n words; it is not cleared.
func (t *Hash) roomFor(n int) {
	if n <= cap(t.ents) {
		return
	}
	c := max(64, 2*cap(t.ents), n)
	if c > 1<<20 {
		c = max(cap(t.ents)+cap(t.ents)/4, n)
	}
	if t.expectable(len(t.flags)) {
		c = max(c, (t.expect+t.expect/16)*t.stride)
	}
	l := len(t.ents)
	if t.entsMem != nil && t.entsMem.resize(c) {
		t.ents = t.entsMem.ints(l)
		return
	}
	if c >= mapFrom && t.inf.sp.backing != nil {
		if r := newRegion(c); r != nil {
			ents := r.ints(l)
			copy(ents, t.ents)
			t.entsMem.free()
			t.ents, t.entsMem = ents, r
			return
		}
	}
	t.ents = append(make([]int64, 0, c), t.ents...)
	t.entsMem.free()
	t.entsMem = nil
}

// roomForKeys gives arena room for so many bytes more: until they are there, keys do not move.
func (t *Hash) roomForKeys(more int) {
	if len(t.arena)+more <= cap(t.arena) {
		return
	}
	if t.waste > len(t.arena)/2 {
		t.packArena(more)
	} else {
		t.growArena(len(t.arena) + more)
	}
}

// growArena gives arena room for n bytes.
func (t *Hash) growArena(n int) {
	c := max(1024, 2*cap(t.arena), n)
	if c > 8<<20 {
		c = max(cap(t.arena)+cap(t.arena)/4, n)
	}
	words, l := (c+7)/8, len(t.arena)
	if t.arenaMem != nil && t.arenaMem.resize(words) {
		t.arena = t.arenaMem.b[:l]
		return
	}
	old, oldMem := t.arena, t.arenaMem
	t.newArena(words)
	t.arena = append(t.arena, old...)
	oldMem.free()
}

// newArena gives the table an empty arena of some words; what it had is not freed.
func (t *Hash) newArena(words int) {
	t.arena, t.arenaMem = nil, nil
	if words >= mapFrom && t.inf.sp.backing != nil {
		if r := newRegion(words); r != nil {
			t.arena, t.arenaMem = r.b[:0], r
			return
		}
	}
	t.arena = make([]byte, 0, 8*words)
}

// shrinkEnts gives back what ents has beyond room for n words.
func (t *Hash) shrinkEnts(n int) {
	if cap(t.ents) <= n {
		return
	}
	l := len(t.ents)
	switch {
	case t.entsMem == nil:
		if cap(t.ents) > 2*n {
			t.ents = append(make([]int64, 0, n), t.ents...)
		}
	case n < mapFrom/2:
		t.ents = append(make([]int64, 0, n), t.ents...)
		t.entsMem.free()
		t.entsMem = nil
	case t.entsMem.resize(n):
		t.ents = t.entsMem.ints(l)
	}
}

// freeArrays lets go of what is mapped, and leaves a table without entries that must not get any; a pass or a thaw that comes to it has nothing to do.
func (t *Hash) freeArrays() {
	t.index.mem.free()
	t.entsMem.free()
	t.arenaMem.free()
	t.rareMem.free()
	t.dropNext()
	*t = Hash{inf: t.inf, prefix: t.prefix, w: t.w, nrare: t.nrare, stride: t.stride, intKey: t.intKey}
}
