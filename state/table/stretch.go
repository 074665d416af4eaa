package table

import (
	"cmp"
	"encoding/binary"
	"math"

	"github.com/tidemarkdb/tidemark/sql/reuse"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// stretch is the rows of a Stretches whose times lie in one stretch of it. Rows are numbered in the order in which they came. They are
// records in blocks that never move or change, so what is being written needs no copy; those whose keys have one tag are a chain, from the
// newest on.
//
// A record begins at a multiple of eight bytes and has, little-endian:
//
//	the record before it in its chain 4 (0: none), number 4, time 8, length of the key 4, length of the body 4, [weight 8], key, body
//
// The weight is there if the length of the key has heavyBit; else it is 1. The place of a record is the number of its block, from blockLog
// on, and its offset; a reference to it is its place divided by eight, plus one.
type stretch struct {
	start  int64
	blocks [][]byte
	first  int   // place of the first record in memory, in a block of its own; blocks before it are dropped
	bytes  int64 // memory of the blocks
	sealed int   // blocks before it get no more records
	pool   *blockPool
	idx    rowIndex
	pend   []uint64 // records that are not in idx yet, as they will be there

	rows  int64    // rows that came so far
	base  int64    // rows with numbers below it are on disk only
	live  int64    // weight of the rows that are neither expired nor forgotten
	until int64    // rows at or before it are expired; math.MinInt64: none is
	marks []uint64 // bits of marked rows, by number; those behind the end are not set

	// What expires next. While rows have come in the order of their times it is the record at place at, else first those of due, from the
	// at-th on, by time, and in between those of late, in no order.
	sorted    bool
	built     bool // not sorted: due is made
	newest    int64
	newestRow uint32
	at        int
	due, late []dueRow
	overdue   []dueRow // rows that came when what has their time had expired: they go with the next that expires

	clean, safe int   // places up to which records are on disk or being written, and on disk
	cleanRows   int64 // rows as of the last Freeze

	bits    int    // of the tag, in keys on disk; -1 until the first Freeze
	changed bool   // something that the record of the stretch has
	dirty   []bool // by page of marks
	touched bool   // looked at since the last Evict
	onDisk  bool   // it has a record on disk or in a run that is being written

	counted int64 // its memory, as far as it is counted in the table's
	listed  bool  // its memory is to be counted anew

	// Of an Expiring, which has one index for all of its stretches.
	ids     *idIndex // nil: the stretch has an index of its own
	slot    uint32   // its number in ids
	entered int      // cells of ids that have it
	moves   int      // how often it was loaded, and its records came to lie elsewhere
	tally   tally
	cold    coldKeys
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
	blockLog    = 20
	rowBlock    = 1 << blockLog
	minRowBlock = 512
	maxBlocks   = 1 << (32 - (blockLog - 3)) // references have 32 bits
	maxRecords  = math.MaxUint32             // rows of a stretch
	pageRows    = 4096                       // a page of marks
	pageWords   = pageRows / 64
	pendRecords = 256
	noRow       = math.MaxUint32 // no number of a row
)

func newStretch(start int64, pool *blockPool) *stretch {
	return &stretch{start: start, pool: pool, until: math.MinInt64, sorted: true, newestRow: noRow, bits: -1}
}

// packed is a row as a block has it; it may be followed by others.
type packed []byte

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

func refOf(place int) uint32 { return uint32(place/8) + 1 }
func placeOf(ref uint32) int { return int(ref-1) * 8 }

// record gives what a reference is to.
func (x *stretch) record(ref uint32) packed { return x.look(placeOf(ref)) }

func (x *stretch) look(place int) packed {
	return packed(x.blocks[place>>blockLog][place&(rowBlock-1):])
}

// end is the place behind the last record.
func (x *stretch) end() int {
	b := len(x.blocks) - 1
	if b < x.sealed {
		return x.sealed << blockLog
	}
	return b<<blockLog + min(len(x.blocks[b]), rowBlock)
}

// next gives the place of the record at or behind a place, where one may end.
func (x *stretch) next(place int) int {
	if b := place >> blockLog; b < max(len(x.blocks)-1, x.sealed) && place&(rowBlock-1) >= len(x.blocks[b]) {
		return (b + 1) << blockLog
	}
	return place
}

// after gives the place behind a record.
func after(place int, r packed) int {
	return min(place+r.size(), (place>>blockLog+1)<<blockLog)
}

// each calls f for the records in memory from a place on until it returns false.
func (x *stretch) each(from int, f func(ref uint32, r packed) bool) {
	end := x.end()
	for place := x.next(from); place < end; {
		r := x.look(place)
		if !f(refOf(place), r) {
			return
		}
		place = x.next(after(place, r))
	}
}

// room gives the last block, with space for n bytes.
func (x *stretch) room(n int) []byte {
	b := len(x.blocks) - 1
	if b < x.sealed || cap(x.blocks[b])-len(x.blocks[b]) < n {
		x.newBlock(n)
		b++
	}
	return x.blocks[b]
}

// newBlock adds a block with space for n bytes: stretches with few rows have small ones.
func (x *stretch) newBlock(n int) {
	if len(x.blocks) == maxBlocks {
		panic(&Failure{errStretchFull})
	}
	size := x.bytes / 2
	if like := x.pool.like.bytes; x.bytes < like/4 {
		size = max(size, like/8)
	} else {
		size = max(size, like-x.bytes)
	}
	b := x.pool.take(max(n, min(max(int(size)&^7, minRowBlock), rowBlock)))
	x.bytes += int64(cap(b))
	if x.blocks == nil {
		x.blocks = make([][]byte, 0, 8)
	}
	x.blocks = append(x.blocks, b)
}

// blockPool is blocks of dropped stretches, to use again.
type blockPool struct {
	blocks [][]byte
	pend   [][]uint64 // memory for stretch.pend
	like   struct {   // what the stretch that was dropped last had, and the next will probably have
		bytes int64
		cells int
	}
}

// poolBlocks bounds the blocks of a pool, and poolPend its other memory.
const (
	poolBlocks = 64
	poolPend   = 8
)

// dropped takes what it can use of a stretch that is dropped. With lent its blocks are still being read.
func (p *blockPool) dropped(x *stretch, lent bool) {
	p.like.bytes, p.like.cells = x.bytes, len(x.idx.cells)
	if !lent {
		p.give(x.blocks)
	}
	if cap(x.pend) == pendRecords && len(p.pend) < poolPend {
		p.pend = append(p.pend, x.pend[:0])
	}
}

func (p *blockPool) take(size int) []byte {
	l := len(p.blocks)
	if l == 0 || size != rowBlock {
		return make([]byte, 0, size)
	}
	b := p.blocks[l-1]
	p.blocks = p.blocks[:l-1]
	return b[:0]
}

func (p *blockPool) give(blocks [][]byte) {
	for _, b := range blocks {
		reuse.Bytes(b)
		if cap(b) == rowBlock && len(p.blocks) < poolBlocks {
			p.blocks = append(p.blocks, b)
		}
	}
}

// put appends a record; the index of the stretch gets it with settle, that of an Expiring at once.
func (x *stretch) put(tag, num uint32, time, weight int64, key, body []byte) uint32 {
	ref := x.write(num, time, weight, key, body)
	if x.ids != nil {
		x.enterID(ref)
		return ref
	}
	if len(x.pend) == pendRecords {
		x.settle()
	}
	if n := len(x.pool.pend); x.pend == nil && n > 0 {
		x.pend, x.pool.pend = x.pool.pend[n-1], x.pool.pend[:n-1]
	}
	x.pend = append(x.pend, uint64(tag)<<32|uint64(ref))
	x.order(dueRow{time, num, ref})
	return ref
}

// write appends a record that no index has.
func (x *stretch) write(num uint32, time, weight int64, key, body []byte) uint32 {
	head := recordHead
	klen := uint32(len(key))
	if weight != 1 {
		head += 8
		klen |= heavyBit
	}
	size := (head + len(key) + len(body) + 7) &^ 7
	if len(key) >= heavyBit || len(body) >= heavyBit {
		panic(&Failure{sqlerr.New(sqlerr.ProgramLimitExceeded, "row of %d bytes in operator state exceeds the limit", len(key)+len(body))})
	}
	b := x.room(size)
	off := len(b)
	b = b[:off+size]
	x.blocks[len(x.blocks)-1] = b
	r := b[off:]
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
	return refOf((len(x.blocks)-1)<<blockLog + off)
}

// settle enters records into the index.
func (x *stretch) settle() {
	if len(x.pend) == 0 {
		return
	}
	x.idx.makeRoom(len(x.pend), x.pool.like.cells)
	// The first loop waits for the memory that the second one needs.
	var homes [pendRecords]uint64
	x.idx.homes(x.pend, homes[:])
	for j, e := range x.pend {
		if old := x.idx.enter(e, homes[j]); old != 0 {
			x.record(uint32(e)).setPrev(old)
		}
	}
	x.pend = x.pend[:0]
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

// forgettable gives the place before which records are on disk too, in whole blocks.
func (x *stretch) forgettable() int {
	to := x.next(x.safe)
	if to == x.end() {
		return to
	}
	return max(to&^(rowBlock-1), x.first)
}

// forgetClean lets go of the records before to, as forgettable gave it: what is left are the latest rows.
func (x *stretch) forgetClean(to int) {
	x.settle()
	if to == x.end() {
		x.release()
		x.base = x.rows
		return
	}
	if to <= x.first {
		return
	}
	x.renewID()
	for b := range to >> blockLog {
		x.bytes -= int64(cap(x.blocks[b]))
		x.blocks[b] = nil
	}
	x.first, x.base, x.idx = to, int64(x.look(to).num()), rowIndex{}
	x.unorder()
	x.enterFrom(to)
}

// enterFrom enters the records from a place on, which is the first of a block, anew.
func (x *stretch) enterFrom(place int) {
	x.settle()
	x.each(place, func(ref uint32, r packed) bool {
		if x.ids != nil {
			x.enterID(ref)
			return true
		}
		hash := HashBytes(r.key())
		x.idx.makeRoom(1, 0)
		r.setPrev(x.idx.enter(hash&^math.MaxUint32|uint64(ref), 0))
		x.order(dueRow{r.time(), r.num(), ref})
		return true
	})
}

// release lets go of the memory of records. What is known of the rows stays.
func (x *stretch) release() {
	x.renewID()
	x.blocks, x.first, x.bytes, x.sealed, x.idx, x.pend = nil, 0, 0, 0, rowIndex{}, nil
	x.clean, x.safe = 0, 0
	x.unorder()
}

func (x *stretch) memBytes() int64 {
	return stretchFixed + x.bytes + x.tally.memBytes() + int64(x.cold.filter.size) + x.idx.memBytes() + int64(24*cap(x.blocks)+8*cap(x.pend)+8*cap(x.marks)+16*cap(x.due)+16*cap(x.late))
}

// stretchFixed is about the memory of a stretch without rows.
const stretchFixed = 400
