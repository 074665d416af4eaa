package table

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// stretch is the rows of a Stretches whose times lie in one stretch of it. Rows are numbered in the order in which they came. They are
// records in an arena that only grows, so what is being written needs no copy; those whose keys have one tag are a chain, from the newest on.
//
// A record begins at a multiple of eight bytes and has, little-endian:
//
//	the record before it in its chain 4 (0: none), number 4, time 8, length of the key 4, length of the body 4, [weight 8], key, body
//
// A record is named by its offset divided by eight, plus one. The weight is there if the length of the key has heavyBit; else it is 1.
type stretch struct {
	start int64
	arena []byte
	// idx is as that of a Hash, with records in place of slots, and of each tag the newest only.
	idx  []uint64
	used int
	pend []uint64 // records that are not in idx yet, as they will be there

	rows  int64    // rows that came so far
	base  int64    // rows with numbers below it are on disk only
	live  int64    // weight of the rows that are neither expired nor forgotten
	until int64    // rows at or before it are expired; math.MinInt64: none is
	marks []uint64 // bits of marked rows, by number; those behind the end are not set

	// What expires next. While rows have come in the order of their times it is the record at offset at, else first those of due, from the
	// at-th on, by time, and in between those of late, in no order.
	sorted      bool
	built       bool // not sorted: due is made
	newest      int64
	newestRow   uint32
	at          int
	due, late   []dueRow
	overdue     []dueRow // rows that came when what has their time had expired: they go with the next that expires
	clean, safe int      // offsets up to which records are on disk or being written, and on disk

	bits    int    // of the tag, in keys on disk; -1 until the first Freeze
	changed bool   // something that the record of the stretch has
	dirty   []bool // by page of marks
	touched bool   // looked at since the last Evict
	onDisk  bool   // it has a record on disk or in a run that is being written
}

// dueRow is a record and what it is sorted by.
type dueRow struct {
	time int64
	num  uint32
	ref  uint32
}

func (a dueRow) compare(b dueRow) int {
	if c := cmp.Compare(a.time, b.time); c != 0 {
		return c
	}
	return cmp.Compare(a.num, b.num)
}

const (
	recordHead  = 24
	heavyBit    = 1 << 31
	maxRecords  = math.MaxUint32 // eights of bytes of an arena, and rows
	pageRows    = 4096           // a page of marks
	pageWords   = pageRows / 64
	pendRecords = 256
)

func newStretch(start int64) *stretch {
	return &stretch{start: start, until: math.MinInt64, sorted: true, newestRow: noRow, bits: -1}
}

// packed is a row as the arena has it; it may be followed by others.
type packed []byte

func (x *stretch) record(ref uint32) packed { return packed(x.arena[int(ref-1)*8:]) }

func (r packed) prev() uint32     { return binary.LittleEndian.Uint32(r) }
func (r packed) setPrev(p uint32) { binary.LittleEndian.PutUint32(r, p) }
func (r packed) num() uint32      { return binary.LittleEndian.Uint32(r[4:]) }
func (r packed) time() int64      { return int64(binary.LittleEndian.Uint64(r[8:])) }
func (r packed) keyLen() (n, at int) {
	k := binary.LittleEndian.Uint32(r[16:])
	return int(k &^ heavyBit), recordHead + int(k>>31)*8
}

func (r packed) weight() int64 {
	if binary.LittleEndian.Uint32(r[16:])&heavyBit == 0 {
		return 1
	}
	return int64(binary.LittleEndian.Uint64(r[recordHead:]))
}

func (r packed) key() []byte {
	n, at := r.keyLen()
	return r[at : at+n : at+n]
}

func (r packed) body() []byte {
	n, at := r.keyLen()
	at += n
	b := int(binary.LittleEndian.Uint32(r[20:]))
	return r[at : at+b : at+b]
}

// size is the length of the record with what fills it up to a multiple of eight.
func (r packed) size() int {
	n, at := r.keyLen()
	return (at + n + int(binary.LittleEndian.Uint32(r[20:])) + 7) &^ 7
}

func (r packed) due(ref uint32) dueRow { return dueRow{r.time(), r.num(), ref} }

// put appends a record; the index gets it with settle.
func (x *stretch) put(tag, num uint32, time, weight int64, key, body []byte) uint32 {
	head := recordHead
	klen := uint32(len(key))
	if weight != 1 {
		head += 8
		klen |= heavyBit
	}
	off := len(x.arena)
	size := (head + len(key) + len(body) + 7) &^ 7
	if len(key) >= heavyBit || len(body) >= heavyBit || (off+size)/8 >= maxRecords {
		panic(&Failure{fmt.Errorf("a stretch of state of %d bytes exceeds the limit", off)})
	}
	x.arena = slices.Grow(x.arena, size)[:off+size]
	r := x.arena[off:]
	binary.LittleEndian.PutUint64(r, uint64(num)<<32)
	binary.LittleEndian.PutUint64(r[8:], uint64(time))
	binary.LittleEndian.PutUint32(r[16:], klen)
	binary.LittleEndian.PutUint32(r[20:], uint32(len(body)))
	if weight != 1 {
		binary.LittleEndian.PutUint64(r[recordHead:], uint64(weight))
	}
	n := head + copy(r[head:], key)
	n += copy(r[n:], body)
	clear(r[n:])
	ref := uint32(off/8) + 1
	if len(x.pend) == pendRecords {
		x.settle()
	}
	x.pend = append(x.pend, uint64(tag)<<32|uint64(ref))
	x.order(dueRow{time, num, ref})
	return ref
}

// order notes when a record that was appended expires.
func (x *stretch) order(d dueRow) {
	switch {
	case x.expired(d.time):
		return // it has expired, or is overdue
	case x.sorted && x.newestRow != noRow && (d.time < x.newest || d.time == x.newest && d.num < x.newestRow):
		x.sorted, x.built, x.at = false, false, 0
	case !x.sorted && x.built:
		x.late = append(x.late, d)
	}
	x.newest, x.newestRow = d.time, d.num
}

// settle enters records into the index.
func (x *stretch) settle() {
	if len(x.pend) == 0 {
		return
	}
	size := max(len(x.idx), minIndex)
	for x.used+len(x.pend) >= size/8*5 {
		size *= 2
	}
	if size > len(x.idx) {
		x.growIndex(size)
	}
	idx, mask := x.idx, uint32(len(x.idx)-1)
	// The first loop waits for the memory that the second one needs.
	var homes [pendRecords]uint64
	for j, e := range x.pend {
		homes[j] = idx[uint32(e>>32)&mask]
	}
	for j, e := range x.pend {
		i := uint32(e >> 32)
		old := homes[j]
		if old == 0 {
			old = idx[i&mask] // one of the records before may have taken it
		}
		for old != 0 && old>>32 != e>>32 {
			i++
			old = idx[i&mask]
		}
		if old == 0 {
			x.used++
		} else {
			x.record(uint32(e)).setPrev(uint32(idx[i&mask]))
		}
		idx[i&mask] = e
	}
	x.pend = x.pend[:0]
}

func (x *stretch) growIndex(size int) {
	old := x.idx
	x.idx = make([]uint64, size)
	mask := uint32(size - 1)
	for _, e := range old {
		if e == 0 {
			continue
		}
		i := uint32(e >> 32)
		for x.idx[i&mask] != 0 {
			i++
		}
		x.idx[i&mask] = e
	}
}

// newestOf gives the newest record with a tag, 0 if there is none. home is what the index has at the tag's home.
func (x *stretch) newestOf(tag uint32, home uint64) uint32 {
	mask := uint32(len(x.idx) - 1)
	for i, e := tag, home; e != 0; e = x.idx[i&mask] {
		if uint32(e>>32) == tag {
			return uint32(e)
		}
		i++
	}
	return 0
}

// expired says whether rows with a time have expired.
func (x *stretch) expired(time int64) bool { return time <= x.until && x.until != math.MinInt64 }

func (x *stretch) marked(num uint32) bool {
	i := int(num >> 6)
	return i < len(x.marks) && x.marks[i]>>(num&63)&1 != 0
}

func (x *stretch) mark(num uint32) {
	for int(num>>6) >= len(x.marks) {
		x.marks = append(x.marks, 0)
	}
	x.marks[num>>6] |= 1 << (num & 63)
	p := int(num / pageRows)
	for p >= len(x.dirty) {
		x.dirty = append(x.dirty, false)
	}
	x.dirty[p], x.changed = true, true
}

// each calls f for the records in memory until it returns false.
func (x *stretch) each(f func(ref uint32, r packed) bool) {
	for off := 0; off < len(x.arena); {
		r := packed(x.arena[off:])
		if !f(uint32(off/8)+1, r) {
			return
		}
		off += r.size()
	}
}

// expire calls f for the records at or before until that have not expired, by time and number. All of them are in memory.
func (x *stretch) expire(until int64, f func(r packed) error) error {
	slices.SortFunc(x.overdue, dueRow.compare)
	for _, d := range x.overdue {
		if err := f(x.record(d.ref)); err != nil {
			return err
		}
	}
	x.overdue = x.overdue[:0]
	if x.sorted {
		for x.at < len(x.arena) {
			r := packed(x.arena[x.at:])
			t := r.time()
			if t > until {
				break
			}
			x.at += r.size()
			if x.expired(t) {
				continue // since before it was loaded
			}
			if err := f(r); err != nil {
				return err
			}
		}
		x.until = max(x.until, until)
		return nil
	}
	x.sortDue(until)
	for ; x.at < len(x.due) && x.due[x.at].time <= until; x.at++ {
		if err := f(x.record(x.due[x.at].ref)); err != nil {
			return err
		}
	}
	x.until = max(x.until, until)
	return nil
}

// sortDue brings into due all that expires until then.
func (x *stretch) sortDue(until int64) {
	if !x.built {
		x.due, x.late, x.at, x.built = x.due[:0], x.late[:0], 0, true
		x.each(func(ref uint32, r packed) bool {
			if !x.expired(r.time()) {
				x.due = append(x.due, r.due(ref))
			}
			return true
		})
		slices.SortFunc(x.due, dueRow.compare)
		return
	}
	first := slices.IndexFunc(x.late, func(d dueRow) bool { return d.time <= until })
	if first < 0 {
		return
	}
	// Few are merged with what follows in due, many make it anew.
	if len(x.late) > 256+(len(x.due)-x.at)/8 {
		x.due = append(slices.Delete(x.due, 0, x.at), x.late...)
		x.late, x.at = x.late[:0], 0
		slices.SortFunc(x.due, dueRow.compare)
		return
	}
	kept, now := x.late[:0], []dueRow(nil)
	for _, d := range x.late {
		if d.time <= until {
			now = append(now, d)
		} else {
			kept = append(kept, d)
		}
	}
	x.late = kept
	end := x.at
	for end < len(x.due) && x.due[end].time <= until {
		end++
	}
	now = append(now, x.due[x.at:end]...)
	slices.SortFunc(now, dueRow.compare)
	if extra := len(now) - (end - x.at); extra <= x.at {
		x.at -= extra
		copy(x.due[x.at:], now)
	} else {
		x.due = slices.Replace(x.due, x.at, end, now...)
	}
}

// forget lets go of the records in memory that are on disk too.
func (x *stretch) forgetClean() {
	old := *x
	x.base = x.rows
	x.release()
	for off := old.safe; off < len(old.arena); {
		r := packed(old.arena[off:])
		x.base = min(x.base, int64(r.num()))
		x.again(r)
		off += r.size()
	}
	x.clean, x.safe = min(old.clean-old.safe, len(x.arena)), 0
}

// again appends a record of another arena, with its number.
func (x *stretch) again(r packed) {
	k := r.key()
	x.put(uint32(HashBytes(k)>>32), r.num(), r.time(), r.weight(), k, r.body())
}

// release lets go of the memory of records. What is known of the rows stays.
func (x *stretch) release() {
	x.arena, x.idx, x.used, x.pend = nil, nil, 0, nil
	x.due, x.late, x.at, x.sorted, x.built, x.newestRow = nil, nil, 0, true, false, noRow
	x.clean, x.safe = 0, 0
}

// reuse empties a stretch for another one, and keeps memory.
func (x *stretch) reuse(start int64) {
	arena, idx, pend, marks, due, late := x.arena[:0], x.idx, x.pend[:0], x.marks[:0], x.due[:0], x.late[:0]
	clear(idx)
	*x = *newStretch(start)
	x.arena, x.idx, x.pend, x.marks, x.due, x.late = arena, idx, pend, marks, due, late
}

func (x *stretch) memBytes() int64 {
	return stretchFixed + int64(cap(x.arena)+8*cap(x.idx)+8*cap(x.pend)+8*cap(x.marks)+16*cap(x.due)+16*cap(x.late))
}

// stretchFixed is about the memory of a stretch without rows.
const stretchFixed = 300

// noRow is no number of a row.
const noRow = math.MaxUint32
