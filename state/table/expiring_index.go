package table

import (
	"encoding/binary"
	"math/bits"
)

// idIndex finds the live keys of an Expiring. It is an open-addressing index whose cells hold the keys themselves, if they are integers, or
// their hashes: so a lookup waits for memory once. A cell says of which stretch its key is; when that stretch is dropped, or let go of, its
// cells are dead at once: they are used again for other keys, or cleared when there are too many of them. A key is never looked up to be forgotten.
//
// The index is cut into segments by bits of the hash, each of which grows by itself, so that no step takes long.
type idIndex struct {
	segs []idSegment // one, or idSegments
	ints bool

	width uint       // of a part of a stretch: as many bits of its times
	state []uint16   // of the stretch with a slot
	of    []*stretch // the stretch with a slot
	free  []uint32   // slots of which there are no cells
	gone  []uint32   // slots of which there may be dead cells
	dead  int        // dead cells, about
	used  int        // cells that are not empty

	passing int // slots of gone that no cell will have when the pass has ended; 0: none is on its way
	at      int // segment to which the pass comes next
}

// idCell is a key, or its hash, and where it is: in the lower half of ref the reference to its record, above it in eight bits in which part
// of its stretch its time lies, and then the slot of the stretch. ref is 0 where the cell is empty.
type idCell struct{ key, ref uint64 }

// idSegment is a part of the index, of which len(cells) is a power of two. A key's home is given by the low bits of its hash.
type idSegment struct {
	cells []idCell
	used  int
}

// The state of a slot is 1 more than the part of its stretch up to which keys have expired, or one of these.
const (
	slotLive uint16 = 0              // none has
	slotGone uint16 = 1<<partLog + 1 // all have
)

const (
	idSegments = 256     // segments of an index that is not small
	idSmall    = 4096    // cells in use from which on it is not
	partLog    = 8       // there are two to this many parts of a stretch at most
	lineCells  = 4       // cells in a line of the processor's cache
	idCells    = 16      // the least size of a segment
	maxGone    = 1 << 10 // slots that are gone, at which a pass begins
)

// passCells is how many cells a step of a pass goes through, if a sixteenth of all is not more. Tests change it.
var passCells = 1 << 18

func newIDIndex(ints bool, width int64) *idIndex {
	x := &idIndex{ints: ints, width: uint(max(bits.Len64(uint64(width-1))-partLog, 0)), state: []uint16{slotGone}, of: []*stretch{nil}} // empty cells have slot 0
	x.segs = []idSegment{{cells: make([]idCell, idCells)}}
	return x
}

// join gives a stretch a slot.
func (x *idIndex) join(s *stretch) {
	s.ids = x
	if n := len(x.free); n > 0 {
		s.slot, x.free = x.free[n-1], x.free[:n-1]
	} else {
		s.slot = uint32(len(x.of))
		x.of, x.state = append(x.of, nil), append(x.state, slotLive)
	}
	x.of[s.slot], x.state[s.slot] = s, slotLive
	s.entered = 0
}

// leave makes the cells of a stretch dead.
func (x *idIndex) leave(s *stretch) {
	x.state[s.slot], x.of[s.slot] = slotGone, nil
	x.gone = append(x.gone, s.slot)
	x.dead += s.entered
	s.ids = nil
}

// renewID makes the cells of the stretch dead; what is entered from now on is live.
func (x *stretch) renewID() {
	if ids := x.ids; ids != nil {
		ids.leave(x)
		ids.join(x)
	}
}

// enterID enters the key of a record that has not expired, and is not there.
func (x *stretch) enterID(ref uint32) {
	r := x.record(ref)
	if x.expired(r.time()) {
		return
	}
	key := r.key()
	var word, hash uint64
	if x.ids.ints {
		word = binary.LittleEndian.Uint64(key)
		hash = hashInt(int64(word))
	} else {
		word = HashBytes(key)
		hash = word
	}
	s := x.ids.segment(hash)
	i := home(hash)
	for mask := uint64(len(s.cells) - 1); s.cells[i&mask].ref != 0; i++ {
	}
	x.ids.put(s, i, x, word, r.time(), ref)
}

// home gives where in its segment the cell of a hash is looked for first, modulo the size of that: where a line of the processor's cache begins.
func home(hash uint64) uint64 { return hash &^ (lineCells - 1) }

// idLine is the cells that a line of the processor's cache has. Those in use come first, so that the last one tells whether others may be in the next line.
type idLine [lineCells]idCell

// line gives the line at which cell i, modulo the size of the segment, begins.
func (s *idSegment) line(i uint64) *idLine {
	return (*idLine)(s.cells[i&uint64(len(s.cells)-1):])
}

// matches gives the cells that have a key, a bit each. An empty one may be among them.
func (l *idLine) matches(key uint64) uint {
	return bit(l[0].key == key) | bit(l[1].key == key)<<1 | bit(l[2].key == key)<<2 | bit(l[3].key == key)<<3
}

// unused gives the cells that are empty or dead, a bit each.
func (x *idIndex) unused(l *idLine) uint {
	return bit(x.goneBy(l[0].ref)) | bit(x.goneBy(l[1].ref))<<1 | bit(x.goneBy(l[2].ref))<<2 | bit(x.goneBy(l[3].ref))<<3
}

// bit is 1 for true. It is made without a branch, as a wrong guess costs more than a line has to tell.
func bit(b bool) uint {
	var n uint
	if b {
		n = 1
	}
	return n
}

func (x *idIndex) segment(hash uint64) *idSegment {
	return &x.segs[hash>>32&uint64(len(x.segs)-1)]
}

// put fills cell i of a segment, modulo its size, with a key of a stretch. Cells may be elsewhere then.
func (x *idIndex) put(s *idSegment, i uint64, of *stretch, word uint64, time int64, ref uint32) {
	c := &s.cells[i&uint64(len(s.cells)-1)]
	if c.ref == 0 {
		s.used++
		x.used++
	} else {
		x.lost(c.ref) // it was dead
	}
	*c = idCell{word, uint64(of.slot)<<(32+partLog) | x.part(of, time)<<32 | uint64(ref)}
	of.entered++
	if s.used > len(s.cells)/8*5 {
		x.grow(s)
	}
}

// part gives in which part of its stretch a time lies.
func (x *idIndex) part(of *stretch, time int64) uint64 { return uint64(time-of.start) >> x.width }

// lost notes that a dead cell is no more.
func (x *idIndex) lost(ref uint64) {
	if s := x.of[ref>>(32+partLog)]; s == nil {
		x.dead--
	} else {
		s.entered--
	}
}

// live says whether the key of a cell has not expired. Only if others of its part have, its record tells.
func (x *idIndex) live(ref uint64) bool {
	part, st := uint16(ref>>32&(1<<partLog-1))+1, x.state[ref>>(32+partLog)]
	return part > st || part == st && x.liveByTime(ref)
}

func (x *idIndex) liveByTime(ref uint64) bool {
	s := x.of[ref>>(32+partLog)]
	return !s.expired(s.record(uint32(ref)).time())
}

// goneBy says whether the key of a cell, if it is not empty, has expired for certain.
func (x *idIndex) goneBy(ref uint64) bool {
	return uint16(ref>>32&(1<<partLog-1))+1 < x.state[ref>>(32+partLog)]
}

// mix notes that keys of a stretch have expired.
func (x *idIndex) mix(s *stretch) { x.state[s.slot] = uint16(x.part(s, s.until)) + 1 }

func (x *idIndex) hashOf(word uint64) uint64 {
	if x.ints {
		return hashInt(int64(word))
	}
	return word
}

// grow makes room in a segment that is full.
func (x *idIndex) grow(s *idSegment) {
	x.clean(s)
	if n := len(s.cells); s.used > n/16*9 {
		x.resize(s, 2*n)
	}
	if len(x.segs) == 1 && x.used > idSmall {
		x.fan()
	}
}

// resize gives a segment n cells.
func (x *idIndex) resize(s *idSegment, n int) {
	old := s.cells
	s.cells = make([]idCell, n)
	for _, c := range old {
		if c.ref != 0 {
			s.place(x.hashOf(c.key), c)
		}
	}
}

// place puts a cell where it belongs.
func (s *idSegment) place(hash uint64, c idCell) {
	i, mask := home(hash), uint64(len(s.cells)-1)
	for s.cells[i&mask].ref != 0 {
		i++
	}
	s.cells[i&mask] = c
}

// fan distributes the cells of the one segment to many.
func (x *idIndex) fan() {
	old := x.segs[0].cells
	x.segs = make([]idSegment, idSegments)
	for i := range x.segs {
		x.segs[i].cells = make([]idCell, max(len(old)/idSegments, idCells))
	}
	for _, c := range old {
		if c.ref != 0 {
			h := x.hashOf(c.key)
			s := x.segment(h)
			s.place(h, c)
			if s.used++; s.used > len(s.cells)/8*5 {
				x.resize(s, 2*len(s.cells))
			}
		}
	}
	x.passing, x.at = 0, 0
}

// clean empties the dead cells of a segment.
func (x *idIndex) clean(s *idSegment) {
	cells, mask := s.cells, uint64(len(s.cells)-1)
	for i := uint64(0); i < uint64(len(cells)); {
		c := &cells[i]
		if c.ref == 0 || !x.goneBy(c.ref) {
			i++
			continue
		}
		x.lost(c.ref)
		x.used--
		s.used--
		x.closeGap(cells, i, mask) // another one may be here now
	}
}

// closeGap empties cell i, and moves others so that searches that end at an empty cell stay right.
func (x *idIndex) closeGap(cells []idCell, i, mask uint64) {
	for j := i; ; {
		j = (j + 1) & mask
		c := cells[j]
		if c.ref == 0 {
			break
		}
		if (j-home(x.hashOf(c.key)))&mask >= (j-i)&mask {
			cells[i] = c
			i = j
		}
	}
	cells[i] = idCell{}
}

// step goes on with the pass that empties dead cells, or begins one if there are enough of them, or any and that is asked for. It says
// whether there is more of it.
func (x *idIndex) step(any bool) (more bool) {
	if x.passing == 0 {
		if len(x.gone) == 0 || !any && x.dead <= x.used/4 && len(x.gone) < maxGone {
			return false
		}
		x.passing, x.at = len(x.gone), 0
	}
	left := x.perStep()
	for ; x.at < len(x.segs) && left > 0; x.at++ {
		s := &x.segs[x.at]
		left -= len(s.cells)
		x.clean(s)
		if n := len(s.cells); n > idCells && s.used < n/4 {
			x.resize(s, n/2)
		}
	}
	if x.at < len(x.segs) {
		return true
	}
	x.free = append(x.free, x.gone[:x.passing]...)
	x.gone = append(x.gone[:0], x.gone[x.passing:]...)
	x.passing = 0
	return len(x.gone) > 0 && any
}

// perStep is how many cells a step goes through: so many that the dead do not become more than the live.
func (x *idIndex) perStep() int {
	n := 0
	for i := range x.segs {
		n += len(x.segs[i].cells)
	}
	return max(passCells, n/16)
}

func (x *idIndex) memBytes() int64 {
	n := int64(32*len(x.segs) + 10*cap(x.of) + 4*cap(x.free) + 4*cap(x.gone))
	for i := range x.segs {
		n += int64(16 * len(x.segs[i].cells))
	}
	return n
}
