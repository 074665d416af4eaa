package table

import (
	"bytes"
	"cmp"
	"slices"
)

// findBlock is how many keys of a Find are looked up together.
const findBlock = 64

// find is what a Find works with, kept for the next one.
type find struct {
	tasks []findTask
	ends  [findBlock]int // of the tasks of each key of the block
	from  int            // where in the list the stretches of the last key began
	// Rows with the keys sought of stretches that are on disk only, in part or whole: mem[i] is of own[i].
	mem, own []*stretch
	keys     []soughtKey
}

// findTask is one key in one stretch.
type findTask struct {
	mem, own *stretch // where its records are, and whose rows they are
	tag      uint32
	ref      uint32 // its newest record, 0: none
	home     uint64
}

// soughtKey is a key of a Find to be looked up on disk.
type soughtKey struct {
	tag  uint32
	from int64
	to   int64
}

// Find calls f for each row that has the k-th key and a time in [from[k], to[k]], for all k in ascending order. Key k is
// data[off[k]:off[k+1]], and hashes[k] is its HashBytes. It ends when f returns false. f may mark rows, and must not change the table else.
func (t *Stretches) Find(hashes []uint64, off []uint32, data []byte, from, to []int64, f func(k int, r Row) bool) {
	if len(t.list) == 0 || len(hashes) == 0 {
		return
	}
	t.prepareFind(hashes, from, to)
	z := &t.find
	for lo := 0; lo < len(hashes); lo += findBlock {
		hi := min(lo+findBlock, len(hashes))
		t.lookup(hashes[lo:hi], from[lo:hi], to[lo:hi])
		first := 0
		for k := lo; k < hi; k++ {
			last := z.ends[k-lo]
			for i := first; i < last; i++ {
				if z.tasks[i].ref != 0 && !t.walk(&z.tasks[i], k, data[off[k]:off[k+1]], from[k], to[k], f) {
					t.endFind()
					return
				}
			}
			first = last
		}
	}
	t.endFind()
}

// prepareFind makes the stretches ready that a Find looks at.
func (t *Stretches) prepareFind(hashes []uint64, from, to []int64) {
	z := &t.find
	lo, hi := slices.Min(from), slices.Max(to)
	for i := t.firstUpTo(0, lo); i < len(t.list) && t.list[i].start <= hi; i++ {
		x := t.list[i]
		x.touched = true
		t.recount(x)
		if x.base > 0 {
			if t.inf.sp.hasRoom(x.base * stretchRow) {
				t.loadStretch(x)
			} else {
				t.fetch(x, hashes, from, to)
			}
		}
		x.settle()
	}
	z.from = 0
}

// endFind lets go of what was read from disk.
func (t *Stretches) endFind() {
	z := &t.find
	clear(z.tasks)
	clear(z.mem)
	z.mem, z.own = z.mem[:0], z.own[:0]
}

// lookup makes the tasks of a block of keys. Each of its loops does without branches that depend on what it reads, or hardly any: so the
// processor waits for the memory of many of the lookups at once.
func (t *Stretches) lookup(hashes []uint64, from, to []int64) {
	z := &t.find
	tasks := z.tasks[:0]
	for k, h := range hashes {
		tag := uint32(h >> 32)
		z.from = t.firstUpTo(z.from, from[k])
		for i := z.from; i < len(t.list) && t.list[i].start <= to[k]; i++ {
			x := t.list[i]
			if len(x.idx.cells) > 0 {
				tasks = append(tasks, findTask{mem: x, own: x, tag: tag})
			}
			// Older than those in memory.
			if x.base > 0 {
				if j := slices.Index(z.own, x); j >= 0 && len(z.mem[j].idx.cells) > 0 {
					tasks = append(tasks, findTask{mem: z.mem[j], own: x, tag: tag})
				}
			}
		}
		z.ends[k] = len(tasks)
	}
	for i := range tasks {
		a := &tasks[i]
		cells := a.mem.idx.cells
		a.home = cells[a.tag&uint32(len(cells)-1)]
	}
	for i := range tasks {
		a := &tasks[i]
		if a.home != 0 {
			a.ref = a.mem.idx.newest(a.tag, a.home)
		}
	}
	// The records are read for the first time, all of them together.
	for i := range tasks {
		if a := &tasks[i]; a.ref != 0 {
			a.home = uint64(a.mem.record(a.ref).num())
		}
	}
	z.tasks = tasks
}

// firstUpTo gives the index of the first stretch that does not end before a time, looking from i on.
func (t *Stretches) firstUpTo(i int, time int64) int {
	n := len(t.list)
	if (i == 0 || t.endOf(t.list[i-1]) < time) && (i == n || t.endOf(t.list[i]) >= time) {
		return i
	}
	i, _ = slices.BinarySearchFunc(t.list, time, func(x *stretch, time int64) int { return cmp.Compare(t.endOf(x), time) })
	return i
}

// walk calls f for the rows of a task; false: f ended it.
func (t *Stretches) walk(a *findTask, k int, key []byte, from, to int64, f func(k int, r Row) bool) bool {
	first := refOf(a.mem.first)
	for ref := a.ref; ref >= first; {
		r := a.mem.record(ref)
		ref = r.prev()
		if time := r.time(); time < from || time > to || !bytes.Equal(r.key(), key) || t.hides(a.own, r) {
			continue
		}
		if !f(k, Row{a.own, r}) {
			return false
		}
	}
	return true
}
