package table

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Expiring is a set of keys, each with a time at which it expires. What it has to do for a key is one lookup and one insertion: keys lie in
// stretches of the time at which they expire, as the rows of a Stretches do, of which those that have gone by are dropped whole, in memory
// and on disk; one index finds the keys of all stretches (idIndex). A key whose time has come is not there, whether or not its memory was
// given back. Keys are int64 (Decl.IntKey) or bytes. Times are microseconds; what expires at math.MaxInt64 stays.
type Expiring struct {
	rows    Stretches
	idx     *idIndex
	live    int64 // keys that have not expired
	until   int64 // time up to which keys have expired; math.MinInt64: none has
	probe   idProbe
	touched uint64 // see touch
	cold    coldSearch

	leaving leaving // the eviction that is on its way
}

// idBlock is how many keys are looked up together.
const idBlock = 64

// idProbe is the scratch memory of a block of lookups.
type idProbe struct {
	keys [idBlock]int64
	hash [idBlock]uint64
	refs [idBlock]uint64 // what the first cell with the key has, or any if there is none
	hit  [idBlock]uint8  // not 0: there is one
	next [idBlock]uint64 // where the search goes on, and then what is there
}

func newExpiring(inf *tableInfo) *Expiring {
	t := &Expiring{until: math.MinInt64}
	t.reset(inf)
	return t
}

func (t *Expiring) reset(inf *tableInfo) {
	t.rows = *newStretches(inf)
	t.idx = newIDIndex(inf.decl.IntKey, inf.decl.Width)
	t.rows.ids = t.idx
	t.live, t.leaving = 0, leaving{}
}

// AddInts adds the int keys that are missing, which expire at their times. keys[k] is looked at for every k in sel (nil: all of them); each k whose key
// was missing, also among those before it, is appended to rows. times is as long as keys.
func (t *Expiring) AddInts(keys []int64, sel []int32, times []int64, rows []int32) []int32 {
	n := len(keys)
	if sel != nil {
		n = len(sel)
	}
	var cold []bool
	if t.rows.absent > 0 {
		cold = t.coldInts(keys, sel)
	}
	p := &t.probe
	for lo := 0; lo < n; lo += idBlock {
		hi := min(lo+idBlock, n)
		block := p.keys[:hi-lo]
		if sel == nil {
			block = keys[lo:hi]
		} else {
			for j, k := range sel[lo:hi] {
				block[j] = keys[k]
			}
		}
		t.aheadInts(block)
		for j, key := range block {
			if p.hit[j] != 0 && t.idx.live(p.refs[j]) {
				continue
			}
			k := lo + j
			if sel != nil {
				k = int(sel[k])
			}
			if cold != nil && cold[k] {
				continue
			}
			s, at, found := t.findInt(uint64(key), p.hash[j])
			if found {
				continue
			}
			rows = append(rows, int32(k))
			x := t.at(times[k])
			ref := x.writeInt(x.nextNumber(), times[k], key)
			t.count(x, times[k])
			t.idx.put(s, at, x, uint64(key), times[k], ref)
		}
	}
	return rows
}

// aheadInts looks at the lines in which the keys of a block are looked for first. Its loops have no branches that depend on what they read, so
// that the processor waits for the memory of many keys at once: the more, the less else there is to do in a loop. So where to look is worked
// out before anything is read there, and the lines are brought near before they are compared; the last loop brings those behind lines that are full.
func (t *Expiring) aheadInts(block []int64) {
	p := &t.probe
	segs, mask := t.idx.segs, uint64(len(t.idx.segs)-1)
	var lines [idBlock]*idLine
	for j, key := range block {
		h := hashInt(key)
		p.hash[j&(idBlock-1)], lines[j&(idBlock-1)] = h, segs[h>>32&mask].line(home(h))
	}
	t.touched = touch(lines[:len(block)])
	for j, key := range block {
		l, h, k := lines[j&(idBlock-1)], p.hash[j&(idBlock-1)], uint64(key)
		m := l.matches(k)
		p.refs[j&(idBlock-1)], p.hit[j&(idBlock-1)] = l[bits.TrailingZeros(m|1<<(lineCells-1))].ref, uint8(m)
		p.next[j&(idBlock-1)] = home(h) + uint64(bit(m == 0)&bit(l[lineCells-1].ref != 0))*lineCells // the home once more, if it ends there
	}
	for j, h := range p.hash[:len(block)] {
		cells := segs[h>>32&mask].cells
		p.next[j] = cells[p.next[j]&uint64(len(cells)-1)].ref
	}
}

// touch reads lines. What it gives is of no use but that it was read.
func touch(lines []*idLine) (x uint64) {
	for _, l := range lines {
		x += l[0].ref
	}
	return x
}

// findInt finds an int key, or the cell of its segment that it may be put into.
func (t *Expiring) findInt(key, hash uint64) (s *idSegment, at uint64, found bool) {
	s, at = t.idx.segment(hash), noPlace
	for i := home(hash); ; i += lineCells {
		l := s.line(i)
		for m := l.matches(key); m != 0; m &= m - 1 {
			if t.idx.live(l[bits.TrailingZeros(m)].ref) {
				return s, 0, true
			}
		}
		if at == noPlace {
			if m := t.idx.unused(l); m != 0 {
				at = i + uint64(bits.TrailingZeros(m))
			}
		}
		if l[lineCells-1].ref == 0 {
			return s, at, false
		}
	}
}

// noPlace is no cell.
const noPlace = math.MaxUint64

// AddBytes is AddInts for bytes keys: key k is data[off[k]:off[k+1]], and hashes[k] is its HashBytes.
func (t *Expiring) AddBytes(hashes []uint64, off []uint32, data []byte, times []int64, rows []int32) []int32 {
	var cold []bool
	if t.rows.absent > 0 {
		cold = t.coldBytes(hashes, off, data)
	}
	for lo := 0; lo < len(hashes); lo += idBlock {
		hi := min(lo+idBlock, len(hashes))
		t.aheadBytes(hashes[lo:hi])
		for k := lo; k < hi; k++ {
			if cold != nil && cold[k] {
				continue
			}
			key := data[off[k]:off[k+1]]
			s, at, found := t.findBytes(key, hashes[k])
			if found {
				continue
			}
			rows = append(rows, int32(k))
			x := t.at(times[k])
			ref := x.write(x.nextNumber(), times[k], 1, key, nil)
			t.count(x, times[k])
			t.idx.put(s, at, x, hashes[k], times[k], ref)
		}
	}
	return rows
}

// aheadBytes reads what findBytes will: cells, and then records.
func (t *Expiring) aheadBytes(hashes []uint64) {
	p := &t.probe
	segs, mask := t.idx.segs, uint64(len(t.idx.segs)-1)
	for j, h := range hashes {
		cells := segs[h>>32&mask].cells
		c := &cells[home(h)&uint64(len(cells)-1)]
		p.hash[j], p.refs[j] = c.key, c.ref
	}
	for j, h := range hashes {
		if ref := p.refs[j]; p.hash[j] == h && !t.idx.goneBy(ref) {
			p.refs[j] = uint64(t.idx.of[ref>>(32+partLog)].record(uint32(ref)).num())
		}
	}
}

// findBytes is findInt for a bytes key.
func (t *Expiring) findBytes(key []byte, hash uint64) (s *idSegment, at uint64, found bool) {
	s, at = t.idx.segment(hash), noPlace
	for i := home(hash); ; i += lineCells {
		l := s.line(i)
		for m := l.matches(hash); m != 0; m &= m - 1 {
			ref := l[bits.TrailingZeros(m)].ref
			if t.idx.live(ref) && string(t.idx.of[ref>>(32+partLog)].record(uint32(ref)).key()) == string(key) {
				return s, 0, true
			}
		}
		if at == noPlace {
			if m := t.idx.unused(l); m != 0 {
				at = i + uint64(bits.TrailingZeros(m))
			}
		}
		if l[lineCells-1].ref == 0 {
			return s, at, false
		}
	}
}

// at gives the stretch of a time.
func (t *Expiring) at(time int64) *stretch {
	if x := t.rows.last; x != nil && time >= x.start && uint64(time-x.start) < uint64(t.rows.inf.decl.Width) && x.start != math.MinInt64 {
		return x
	}
	return t.rows.at(time)
}

// nextNumber gives the number of the next record.
func (x *stretch) nextNumber() uint32 {
	if x.rows == maxRecords {
		panic(&Failure{errStretchFull})
	}
	return uint32(x.rows)
}

// count counts a key whose record was written.
func (t *Expiring) count(x *stretch, time int64) {
	t.rows.recount(x)
	t.rows.rows++
	t.rows.dirty++
	t.live++
	x.rows++
	x.live++
	x.changed, x.touched = true, true
	if x.tally.built {
		x.tally.late = append(x.tally.late, time)
	}
}

// writeInt is write for an int key.
func (x *stretch) writeInt(num uint32, time, key int64) uint32 {
	const size = recordHead + 8
	b := x.room(size)
	off := len(b)
	b = b[:off+size]
	x.blocks[len(x.blocks)-1] = b
	r := b[off:]
	binary.LittleEndian.PutUint64(r[24:], uint64(key))
	binary.LittleEndian.PutUint64(r[16:], 8) // length of the key, and of the body
	binary.LittleEndian.PutUint64(r[8:], uint64(time))
	binary.LittleEndian.PutUint64(r, uint64(num)<<32)
	return refOf((len(x.blocks)-1)<<blockLog + off)
}

// Expire removes the keys that expire at or before until, and gives their number.
func (t *Expiring) Expire(until int64) (n int64) {
	if until <= t.until {
		t.idx.step(false)
		return 0
	}
	t.until = until
	for len(t.rows.list) > 0 && t.rows.list[0].start <= until {
		x := t.rows.list[0]
		if t.rows.endOf(x) <= until {
			n += x.live
			t.rows.dropFirst()
			continue
		}
		n += t.expirePart(x, until)
		break
	}
	t.live -= n
	t.idx.step(false)
	return n
}

// expirePart removes keys of a stretch of which others stay.
func (t *Expiring) expirePart(x *stretch, until int64) int64 {
	width := t.rows.inf.decl.Width
	t.rows.recount(x)
	if !x.tally.built {
		times := make([]int64, 0, x.live)
		t.rows.eachTime(x, func(time int64) {
			if !x.expired(time) {
				times = append(times, time)
			}
		})
		x.tally.build(x.start, width, times)
	}
	n := x.tally.expire(until)
	x.tally.again(width)
	x.until, x.live, x.changed = until, x.live-n, true
	t.idx.mix(x)
	return n
}

// eachTime calls f for the times of all rows of a stretch, in memory or on disk.
func (t *Stretches) eachTime(x *stretch, f func(time int64)) {
	if x.base > 0 {
		t.scanChunks(x, 0, 1<<16, func(d diskRow) bool {
			f(d.time)
			return true
		})
	}
	x.each(x.first, func(_ uint32, r packed) bool {
		f(r.time())
		return true
	})
}

// Each calls f for every key, with the time at which it expires, until it returns false: an int key, or bytes that are valid during the call. It reads past memory without filling it. f must not use the table.
func (t *Expiring) Each(f func(ik int64, key []byte, time int64) bool) {
	ints := t.rows.inf.decl.IntKey
	t.rows.Each(func(r Row) bool {
		if ints {
			return f(int64(binary.LittleEndian.Uint64(r.Key())), nil, r.Time())
		}
		return f(0, r.Key(), r.Time())
	})
}

// Len gives the number of keys.
func (t *Expiring) Len() int64 { return t.live }

// MemBytes gives the memory that the table occupies, about.
func (t *Expiring) MemBytes() int64 { return t.rows.MemBytes() + t.idx.memBytes() }

func (t *Expiring) filterBytes() int64 {
	n := 0
	for _, x := range t.rows.list {
		n += x.cold.filter.size
	}
	return int64(n)
}

func (t *Expiring) spareBytes() int64 { return t.rows.spareBytes() }
