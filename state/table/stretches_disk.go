package table

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Rows of a stretch on disk (State: on disk) lie in chunks of some chunkRows rows, cut by the leading bits of the hash of their keys: so a key is found
// by reading a few chunks, and what a checkpoint writes is far fewer keys than rows.
//
//	d | table 2 | start 8 | 0 | bucket 2 | number of the first row 4   rows
//	d | table 2 | start 8 | 1 | page 4                                 marks of 4096 rows, 512 bytes
//	m | table 2 | start 8                                              rows, weight, until (varints), bits of the bucket (byte)
//
// A row of a chunk is its number less that of the row before (uvarint), its time less the start (uvarint), weight (varint), length of the key
// (uvarint), key, length of the body (uvarint), body.
const (
	chunkRows  = 64
	chunkBytes = 32 << 10

	hashKeyBytes = 2 // of the hash, in keys of chunks

	chunkKind  = 0
	pageKind   = 1
	stretchRow = 96 // estimate of the memory of a row
)

var (
	errStretchFull = sqlerr.New(sqlerr.ProgramLimitExceeded, "a stretch of operator state has too many rows")
	errChunk       = errors.New("chunk of state rows is malformed")
)

func (t *Stretches) prefix(x *stretch) []byte { return appendEnd(dataKey(t.inf.ord), x.start) }

func (t *Stretches) metaKey(start int64) []byte { return appendEnd(metaKey(t.inf.ord), start) }

func (x *stretch) bucket(tag uint32) uint16 { return uint16(uint64(tag) >> (32 - uint(x.bits))) }

func (t *Stretches) info() *tableInfo { return t.inf }

func (t *Stretches) dirtyEntries() int64 { return t.dirty }

func (t *Stretches) heldEntries() int64 { return t.rows - t.absent }

// freeze notes what the run will have: the records are where they are and stay as they are, and are made chunks of by the writer.
func (t *Stretches) freeze(f *Frozen, meta *part) {
	for _, start := range t.gone {
		lo := appendEnd(dataKey(t.inf.ord), start)
		f.ranges = append(f.ranges, Range{lo, PrefixEnd(lo)})
		if _, again := t.search(start); !again {
			meta.add(t.metaKey(start), nil, true)
		}
	}
	t.gone, t.dirty = nil, 0
	most := int64(0)
	for _, x := range t.list {
		most = max(most, x.rows)
		if !x.changed {
			continue
		}
		x.changed, x.onDisk = false, true
		t.recount(x)
		x.settle()
		if x.bits < 0 {
			// Others tell how many rows it may come to have.
			x.bits = min(bits.Len64(uint64(most/chunkRows)), 8*hashKeyBytes)
		}
		p := f.newPart(t.prefix(x))
		if end := x.end(); x.next(x.clean) < end {
			cut := x.cut()
			p.lent, p.fill = end-x.clean, cut.chunks
			x.clean, x.cleanRows = end, x.rows
		}
		for i, d := range x.dirty {
			if d {
				x.dirty[i] = false
				p.add(pageKey(p.common, i), x.page(i), false)
			}
		}
		v := binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(nil, x.rows), x.live), x.until)
		meta.add(t.metaKey(x.start), append(v, byte(x.bits)), false)
	}
}

func pageKey(prefix []byte, page int) []byte {
	return binary.BigEndian.AppendUint32(append(slices.Clone(prefix), pageKind), uint32(page))
}

// page gives the marks of a page as they are on disk.
func (x *stretch) page(i int) []byte {
	b := make([]byte, 8*pageWords)
	for w, m := range x.marks[i*pageWords : min((i+1)*pageWords, len(x.marks))] {
		binary.LittleEndian.PutUint64(b[8*w:], m)
	}
	return b
}

// cut gives a stretch with the records that are not clean, for another goroutine.
func (x *stretch) cut() *stretch {
	from := x.next(x.clean)
	b := from >> blockLog
	return &stretch{start: x.start, bits: x.bits, blocks: slices.Clone(x.blocks[b:]), first: from - b<<blockLog}
}

// diskRow is a row of a chunk; its slices alias the chunk.
type diskRow struct {
	num          uint32
	time, weight int64
	key, body    []byte
}

// readChunk calls f for the rows of a chunk until it returns false.
func readChunk(start int64, first uint32, val []byte, f func(d diskRow) bool) error {
	bad := false
	number := func() uint64 {
		v, n := binary.Uvarint(val)
		if n <= 0 {
			bad = true
			return 0
		}
		val = val[n:]
		return v
	}
	slice := func() []byte {
		n := number()
		if bad || n > uint64(len(val)) {
			bad = true
			return nil
		}
		b := val[:n:n]
		val = val[n:]
		return b
	}
	for d := (diskRow{num: first}); len(val) > 0; {
		d.num += uint32(number())
		d.time = start + int64(number())
		w, n := binary.Varint(val)
		if n <= 0 {
			return errChunk
		}
		d.weight, val = w, val[n:]
		d.key, d.body = slice(), slice()
		if bad {
			return errChunk
		}
		if !f(d) {
			break
		}
	}
	return nil
}

// scanChunks calls f for the rows on disk of buckets [lo, hi) that are not in memory, until it returns false.
func (t *Stretches) scanChunks(x *stretch, lo, hi int, f func(d diskRow) bool) {
	from := append(t.prefix(x), chunkKind)
	to := binary.BigEndian.AppendUint16(slices.Clone(from), uint16(hi))
	if hi > math.MaxUint16 {
		to = PrefixEnd(from)
	}
	var err error
	fail(t.inf.sp.backing.Scan(binary.BigEndian.AppendUint16(from, uint16(lo)), to, false, func(k, v []byte) bool {
		going := true
		if len(k) < 4 {
			err = errChunk
			return false
		}
		err = readChunk(x.start, binary.BigEndian.Uint32(k[len(k)-4:]), v, func(d diskRow) bool {
			if int64(d.num) < x.base {
				going = f(d)
			}
			return going
		})
		return going && err == nil
	}))
	fail(err)
}

// eachOnDisk gives the rows of buckets that are on disk only as records that are valid during the call.
func (t *Stretches) eachOnDisk(x *stretch, lo, hi int, f func(r packed) bool) {
	one := newStretch(x.start, &blockPool{})
	t.scanChunks(x, lo, hi, func(d diskRow) bool {
		if one.pend = one.pend[:0]; len(one.blocks) > 0 {
			one.blocks[0] = one.blocks[0][:0]
			if cap(one.blocks[0]) < recordHead+16+len(d.key)+len(d.body) {
				one.blocks, one.bytes = nil, 0
			}
		}
		one.put(0, d.num, d.time, d.weight, d.key, d.body)
		return f(one.record(1))
	})
}

// loadStretch brings a stretch into memory.
func (t *Stretches) loadStretch(x *stretch) {
	t.recount(x)
	t.absent -= x.base
	old, before := *x, x.memBytes()
	x.release()
	t.scanChunks(x, 0, 1<<16, func(d diskRow) bool {
		x.put(uint32(HashBytes(d.key)>>32), d.num, d.time, d.weight, d.key, d.body)
		return true
	})
	// Rows that come later lie in other blocks, so that they can be in memory without those.
	x.sealed = len(x.blocks)
	loaded := x.sealed << blockLog
	moved := func(place int) int { return max(place-old.first, 0) + loaded }
	for _, b := range old.blocks[old.first>>blockLog:] {
		x.blocks, x.bytes = append(x.blocks, b), x.bytes+int64(cap(b))
	}
	x.enterFrom(loaded)
	x.clean, x.safe = moved(old.clean), moved(old.safe)
	for i, d := range x.overdue {
		x.overdue[i].ref = refOf(moved(placeOf(d.ref)))
	}
	x.base, x.cold = 0, coldKeys{}
	x.moves++
	x.settle()
	t.inf.sp.loaded(x.memBytes() - before)
}

// fetch reads the rows on disk that have one of the keys sought, or its tag.
func (t *Stretches) fetch(x *stretch, hashes []uint64, from, to []int64) {
	z := &t.find
	z.keys = z.keys[:0]
	end := t.endOf(x)
	for k, h := range hashes {
		if from[k] <= end && to[k] >= x.start {
			z.keys = append(z.keys, soughtKey{uint32(h >> 32), from[k], to[k]})
		}
	}
	if len(z.keys) == 0 {
		return
	}
	slices.SortFunc(z.keys, func(a, b soughtKey) int { return cmp.Compare(a.tag, b.tag) })
	mem := newStretch(x.start, &blockPool{})
	for i := 0; i < len(z.keys); {
		lo := x.bucket(z.keys[i].tag)
		hi, j := lo, i
		for ; j < len(z.keys); j++ {
			b := x.bucket(z.keys[j].tag)
			if b > hi+nearBuckets {
				break
			}
			hi = b
		}
		keys := z.keys[i:j]
		t.scanChunks(x, int(lo), int(hi)+1, func(d diskRow) bool {
			if tag := uint32(HashBytes(d.key) >> 32); sought(keys, tag, d.time) {
				mem.put(tag, d.num, d.time, d.weight, d.key, d.body)
			}
			return true
		})
		i = j
	}
	mem.settle()
	z.mem, z.own = append(z.mem, mem), append(z.own, x)
}

// nearBuckets is up to how many buckets that nobody looks for are read rather than skipped.
const nearBuckets = 8

// sought says whether rows with a tag and a time are looked for. keys are in the order of tags.
func sought(keys []soughtKey, tag uint32, time int64) bool {
	i, _ := slices.BinarySearchFunc(keys, tag, func(k soughtKey, tag uint32) int { return cmp.Compare(k.tag, tag) })
	for ; i < len(keys) && keys[i].tag == tag; i++ {
		if keys[i].from <= time && time <= keys[i].to {
			return true
		}
	}
	return false
}

func (t *Stretches) freezing() bool { return false }

func (t *Stretches) copyFrozen(n int) int { return n }

// beginThaw is called when all that was frozen is on disk.
func (t *Stretches) beginThaw() {
	for _, x := range t.list {
		x.safe = x.clean
	}
}

func (t *Stretches) thaw(n int) int { return max(n, 1) }

// beginEvict has evictSome drop what is on disk of stretches, older ones first.
func (t *Stretches) beginEvict(used uint8, want int64) {
	want -= t.spareBytes()
	t.pool.blocks, t.evicting = nil, t.evicting[:0]
	if used > 0 && used < mostUsed {
		return // there are no degrees of it
	}
	for _, x := range t.list {
		switch {
		case want <= 0:
			return
		case used == 0 && x.touched:
			x.touched = false
		case x.safe > 0:
			want -= x.memBytes()
			t.evicting = append(t.evicting, x)
		}
	}
}

func (t *Stretches) evictSome(n int) int {
	for len(t.evicting) > 0 {
		if n <= 0 {
			return n
		}
		// What remains of it is entered anew.
		x := t.evicting[0]
		t.evicting = t.evicting[1:]
		n -= 1 + int(x.rows-x.cleanRows)
		t.forget(x, x.forgettable())
	}
	return max(n, 1)
}

// forget lets go of the records of a stretch before a place.
func (t *Stretches) forget(x *stretch, to int) {
	t.absent -= x.base
	x.forgetClean(to)
	t.absent += x.base
	t.recount(x)
}

func (t *Stretches) load(max int64) bool {
	for _, x := range t.list {
		if x.base == 0 {
			continue
		}
		if max <= 0 {
			return false
		}
		before := x.memBytes()
		t.loadStretch(x)
		max -= x.memBytes() - before
	}
	return true
}

func (t *Stretches) clear() { *t = *newStretches(t.inf) }

// reopen finds the stretches on disk.
func (t *Stretches) reopen() {
	prefix := metaKey(t.inf.ord)
	var err error
	scan := t.inf.sp.backing.Scan
	fail(scan(append(metaKey(t.inf.ord), 0), PrefixEnd(prefix), false, func(k, v []byte) bool {
		x := t.newStretch(windowEnd(k))
		if len(k) != len(prefix)+8 || !x.parse(v) {
			err = fmt.Errorf("record of a stretch is malformed: %x = %x", k, v)
			return false
		}
		x.base, x.cleanRows, x.onDisk = x.rows, x.rows, true
		t.list = append(t.list, x)
		t.rows, t.absent = t.rows+x.rows, t.absent+x.rows
		t.recount(x)
		return true
	}))
	fail(err)
	for _, x := range t.list {
		pages := append(t.prefix(x), pageKind)
		fail(scan(pages, PrefixEnd(pages), false, func(k, v []byte) bool {
			i := int(binary.BigEndian.Uint32(k[len(k)-4:]))
			if len(k) != len(pages)+4 || len(v) != 8*pageWords || int64(i)*pageRows >= x.rows {
				err = fmt.Errorf("marks of a stretch are malformed: %x", k)
				return false
			}
			for len(x.marks) < (i+1)*pageWords {
				x.marks = append(x.marks, 0)
			}
			for w := range pageWords {
				x.marks[i*pageWords+w] = binary.LittleEndian.Uint64(v[8*w:])
			}
			return true
		}))
	}
	fail(err)
}

// parse reads the record of a stretch.
func (x *stretch) parse(v []byte) bool {
	for _, p := range []*int64{&x.rows, &x.live, &x.until} {
		w, n := binary.Varint(v)
		if n <= 0 {
			return false
		}
		*p, v = w, v[n:]
	}
	if len(v) != 1 || v[0] > 8*hashKeyBytes || x.rows < 0 || x.rows > maxRecords {
		return false
	}
	x.bits = int(v[0])
	return true
}

// each gives rows as inspection sees them: the key is the row's key, its time in eight bytes that sort, and its body; the value is the length of
// what comes before the body (uvarint), the weight and, of a marked row, 1 (varints). Equal rows are one.
func (t *Stretches) each(f func(e *Entry) bool) bool {
	type seen struct {
		key    []byte
		head   int
		weight int64
		mark   int64
	}
	var rows []seen
	start := int64(0)
	flush := func() bool {
		slices.SortFunc(rows, func(a, b seen) int { return bytes.Compare(a.key, b.key) })
		for i := 0; i < len(rows); {
			r := rows[i]
			for i++; i < len(rows) && bytes.Equal(rows[i].key, r.key); i++ {
				r.weight += rows[i].weight
				r.mark = max(r.mark, rows[i].mark)
			}
			v := binary.AppendVarint(binary.AppendUvarint(nil, uint64(r.head)), r.weight)
			if r.mark > 0 {
				v = binary.AppendVarint(v, r.mark)
			}
			if !f(&Entry{Key: r.key, Value: v}) {
				return false
			}
		}
		rows = rows[:0]
		return true
	}
	going := true
	t.Each(func(r Row) bool {
		if r.x.start != start {
			going = flush()
			start = r.x.start
		}
		k := append(appendEnd(slices.Clone(r.Key()), r.Time()), r.Body()...)
		s := seen{key: k, head: len(r.Key()) + 8, weight: r.Weight()}
		if r.Marked() {
			s.mark = 1
		}
		rows = append(rows, s)
		return going
	})
	return going && flush()
}
