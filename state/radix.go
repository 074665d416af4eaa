package state

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"github.com/tidemarkdb/tidemark/state/table"
)

// place is what moves when rows are sorted: a word of the row's key, and where the row is.
type place struct {
	head  uint64
	run   uint32
	index uint32 // of a run in order the number of the row, of a late one where it lies in data
}

// places are rows of several runs in the order of their keys.
type places struct {
	segs     []segment
	late     bool // all runs are
	all, tmp []place
	sum      byte // what touchMemory read
}

// segment is a stretch of a run: rows [lo, hi). end is up to where next moves it.
type segment struct {
	r           *run
	lo, hi, end int
}

var placesPool = sync.Pool{New: func() any { return new(places) }}

// maxPooled is the number of places up to which memory is kept for the next sort.
const maxPooled = 1 << 18

func (p *places) done() {
	clear(p.segs)
	p.segs, p.late = p.segs[:0], false
	if cap(p.all) <= maxPooled {
		placesPool.Put(p)
	}
}

// fewPlaces is the number of rows up to which comparing them is quicker than distributing them.
const fewPlaces = 64

// sort puts the rows of segs in order, as far as words of their keys tell: each then settles those that have the same. All of them begin with so many bytes that are alike.
func (p *places) sort(skip int) {
	n := 0
	for _, s := range p.segs {
		n += s.hi - s.lo
	}
	p.all = slices.Grow(p.all[:0], n)
	heads := p.headsTell(skip)
	for k, s := range p.segs {
		if heads {
			for i := s.lo; i < s.hi; i++ {
				p.all = append(p.all, place{s.r.recs[i].head, uint32(k), uint32(i)})
			}
			continue
		}
		for i := s.lo; i < s.hi; i++ {
			p.all = append(p.all, place{table.Head(s.r.key(i)[skip:]), uint32(k), uint32(i)})
		}
	}
	p.order()
}

// headsTell says whether the heads that runs have can be compared with those of others, and nearly all that is in them tells rows apart. All rows begin with so many
// bytes that are alike.
func (p *places) headsTell(skip int) bool {
	const few = 4 // bytes that all heads begin with
	for _, s := range p.segs {
		if s.lo < s.hi && (s.r.skip > skip || s.r.skip+few <= skip || s.r.skip != p.segs[0].r.skip) {
			return false
		}
	}
	return true
}

// common gives the number of bytes with which all rows of segs, stretches of runs in order, begin.
func (p *places) common() int {
	var c prefix
	for _, s := range p.segs {
		if s.lo < s.hi {
			c.ofRange(s.r, s.lo, s.hi)
		}
	}
	return len(c.key)
}

// addLate adds the rows that lie between lo and hi in the data of a late run, all of which begin with so many bytes that are alike.
func (p *places) addLate(run uint32, data []byte, lo, hi, skip int) {
	for lo < hi {
		key, _, _, n := readRow(data[lo:])
		p.all = append(p.all, place{table.Head(key[skip:]), run, uint32(lo)})
		lo += n
	}
}

// order is sort of the rows that are in all.
func (p *places) order() {
	n, differ := len(p.all), uint64(0)
	if n == 0 {
		return
	}
	for _, x := range p.all {
		differ |= x.head ^ p.all[0].head
	}
	if n <= fewPlaces {
		sortHeads(p.all)
		return
	}
	p.tmp = slices.Grow(p.tmp[:0], n)[:n]
	if bits.LeadingZeros64(differ) >= 32 {
		differ = p.skipCommon()
	}
	// Digit by digit, from the last one that is needed for rows to have a few bits to themselves: those that still are alike are few.
	width := p.pack(differ)
	few := min(bits.Len(uint(n))+2, width)
	passes := (few + 7) / 8
	from := max(width-8*passes, 0)
	for shift := from; shift < width; shift += 8 {
		var next [256]uint32
		for i := range p.all {
			next[byte(p.all[i].head>>shift)]++
		}
		sum := uint32(0)
		for b, c := range next {
			next[b] = sum
			sum += c
		}
		for _, x := range p.all {
			b := byte(x.head >> shift)
			p.tmp[next[b]] = x
			next[b]++
		}
		p.all, p.tmp = p.tmp, p.all
	}
	if from > 0 {
		p.settle(from)
	}
}

// pack leaves of the words only the bits in which they differ, one behind the other, and gives their number. Where these are scattered, the words stay as they are.
func (p *places) pack(differ uint64) (width int) {
	var s stretches
	if low := s.choose(differ, 64); low == 64 || differ&(1<<low-1) != 0 {
		return bits.Len64(differ)
	}
	const near = 512 // places, which stay in the nearest cache
	for all := p.all; len(all) > 0; {
		some := all[:min(near, len(all))]
		all = all[len(some):]
		var words [near]uint64
		for _, t := range s.all[:s.n] {
			for i, x := range some {
				words[i] = words[i]<<(t.width&63) | x.head>>(t.shift&63)&t.mask
			}
		}
		for i := range some {
			some[i].head = words[i]
		}
	}
	return bits.OnesCount64(differ)
}

// settle sorts the rows, which are in order but for the last bits of their words.
func (p *places) settle(bits int) {
	all := p.all
	for lo := 0; lo < len(all); {
		hi, top := lo+1, all[lo].head>>bits
		for hi < len(all) && all[hi].head>>bits == top {
			hi++
		}
		if hi-lo > 1 {
			sortHeads(all[lo:hi])
		}
		lo = hi
	}
}

// sortHeads sorts by words of keys.
func sortHeads(all []place) {
	if len(all) > 12 {
		slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.head, b.head) })
		return
	}
	for i := 1; i < len(all); i++ {
		x, k := all[i], i
		for ; k > 0 && x.head < all[k-1].head; k-- {
			all[k] = all[k-1]
		}
		all[k] = x
	}
}

// skipCommon takes the words of keys from behind what all keys begin with, and says in which bits the words then differ.
func (p *places) skipCommon() (differ uint64) {
	first := p.key(p.all[0])
	common := len(first)
	for _, x := range p.all[1:] {
		common = commonLen(first[:common], p.key(x))
	}
	for i := range p.all {
		x := &p.all[i]
		x.head = table.Head(p.key(*x)[common:])
		differ |= x.head ^ p.all[0].head
	}
	return differ
}

func (p *places) key(x place) []byte {
	key, _, _ := p.row(x)
	return key
}

// row gives a row: its key, how long the ordered part of that is, and its weight.
func (p *places) row(x place) (key []byte, klen uint32, weight int64) {
	r := p.segs[x.run].r
	if !p.late {
		return r.row(int(x.index))
	}
	key, klen, weight, _ = readRow(r.data[x.index:])
	return key, klen, weight
}

// each calls f for each row in the order of keys, with its total weight, unless that is zero. near says that rows need not be read ahead.
func (p *places) each(near bool, f func(key []byte, klen uint32, weight int64)) {
	ahead := 0
	if near {
		ahead = len(p.all)
	}
	for lo := 0; lo < len(p.all); {
		if lo >= ahead {
			ahead = p.touchMemory(lo)
		}
		hi := lo + 1
		for hi < len(p.all) && p.all[hi].head == p.all[lo].head {
			hi++
		}
		same := p.all[lo:hi] // perhaps
		lo = hi
		if len(same) == 1 {
			f(p.row(same[0]))
			continue
		}
		if len(same) > 2 {
			slices.SortFunc(same, func(a, b place) int { return bytes.Compare(p.key(a), p.key(b)) })
		} else if bytes.Compare(p.key(same[0]), p.key(same[1])) > 0 {
			same[0], same[1] = same[1], same[0]
		}
		for i := 0; i < len(same); {
			key, klen, weight := p.row(same[i])
			for i++; i < len(same); i++ {
				k, _, w := p.row(same[i])
				if !bytes.Equal(key, k) {
					break
				}
				weight += w
			}
			if weight != 0 {
				f(key, klen, weight)
			}
		}
	}
}

// touchMemory reads a byte of each line of memory that the rows of late runs occupy, those from lo on, as many as it says, in a loop that does nothing else, so
// that the processor waits for many of them at once. Rows are thought of as short.
func (p *places) touchMemory(lo int) (hi int) {
	all := p.all[lo:min(lo+nearRows, len(p.all))]
	sum := byte(0)
	for _, x := range all {
		data := p.segs[x.run].r.data
		sum += data[x.index] + data[min(int(x.index)+32, len(data)-1)]
	}
	p.sum = sum
	return lo + len(all)
}

// nearRows is how many rows are read ahead.
const nearRows = 128

// sorted gives the run that the rows make: in order, with the weights of equal ones added up.
func (r *run) sorted() *run {
	for i := range r.recs {
		r.recs[i].head = table.Head(r.key(i))
	}
	p := placesPool.Get().(*places)
	defer p.done()
	p.segs = append(p.segs, segment{r: r, hi: len(r.recs)})
	p.sort(0)
	out := &run{recs: make([]rowRec, 0, len(r.recs)), data: make([]byte, 0, len(r.data))}
	p.each(true, out.take)
	out.cutHeads()
	return out
}

// take appends a row. Rows lie in memory in the order of their keys, so that merging reads on and does not jump.
func (r *run) take(key []byte, klen uint32, weight int64) {
	r.recs = append(r.recs, rowRec{table.Head(key[r.skip:]), uint64(len(r.data))})
	r.data = appendRow(r.data, key, int(klen), weight)
	if weight < 0 {
		r.less++
	}
}
