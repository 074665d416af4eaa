package state

import (
	"bytes"
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"sync"

	"github.com/tidemarkdb/tidemark/state/table"
)

// place is what moves when rows are sorted: a word of the row's key, and where the row is.
type place struct {
	head  uint64
	run   uint32
	index uint32
}

// places are rows of several runs in the order of their keys.
type places struct {
	segs     []segment
	all, tmp []place
	sum      byte // what touchMemory read
}

// segment is a stretch of a run: rows [lo, hi).
type segment struct {
	r      *run
	lo, hi int
}

var placesPool = sync.Pool{New: func() any { return new(places) }}

// maxPooled is the number of places up to which memory is kept for the next sort.
const maxPooled = 1 << 18

func (p *places) done() {
	clear(p.segs)
	p.segs = p.segs[:0]
	if cap(p.all) <= maxPooled {
		placesPool.Put(p)
	}
}

// fewPlaces is the number of rows up to which comparing them is quicker than distributing them.
const fewPlaces = 64

// sort puts the rows of segs in order, as far as words of their keys tell: each then settles those that have the same.
func (p *places) sort() {
	n := 0
	for _, s := range p.segs {
		n += s.hi - s.lo
	}
	p.all = slices.Grow(p.all[:0], n)
	for k, s := range p.segs {
		for i := s.lo; i < s.hi; i++ {
			p.all = append(p.all, place{s.r.recs[i].head, uint32(k), uint32(i)})
		}
	}
	p.order()
}

// order is sort of the rows that are in all.
func (p *places) order() {
	n, differ := len(p.all), uint64(0)
	if n == 0 {
		return
	}
	p.tmp = slices.Grow(p.tmp[:0], n)[:n]
	for _, x := range p.all {
		differ |= x.head ^ p.all[0].head
	}
	if n <= fewPlaces {
		sortHeads(p.all)
		return
	}
	if bits.LeadingZeros64(differ) >= 32 {
		differ = p.skipCommon()
	}
	// Byte by byte, from the last one that is needed for rows to have a few bits to themselves: those that still are alike are few.
	from := 0
	for few := bits.Len(uint(n)) + 2; from < 64 && bits.OnesCount64(differ>>(from+8)) >= few; {
		from += 8
	}
	for shift := from; shift < 64; shift += 8 {
		if byte(differ>>shift) == 0 {
			continue
		}
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
		k := p.key(x)
		common = min(common, len(k))
		for i := 0; i < common; i++ {
			if k[i] != first[i] {
				common = i
			}
		}
	}
	for i := range p.all {
		x := &p.all[i]
		x.head = table.Head(p.key(*x)[common:])
		differ |= x.head ^ p.all[0].head
	}
	return differ
}

func (p *places) rec(x place) *rowRec { return &p.segs[x.run].r.recs[x.index] }

func (p *places) key(x place) []byte { return p.segs[x.run].r.key(int(x.index)) }

// each calls f for each row in the order of keys, with its total weight, unless that is zero. inOrder says that the rows of each
// run lie in memory in that order, too.
func (p *places) each(inOrder bool, f func(r *run, rec *rowRec, weight int64)) {
	near := 0
	if inOrder {
		near = len(p.all)
	}
	for lo := 0; lo < len(p.all); {
		if lo >= near {
			near = p.touchMemory(lo)
		}
		hi := lo + 1
		for hi < len(p.all) && p.all[hi].head == p.all[lo].head {
			hi++
		}
		same := p.all[lo:hi] // perhaps
		lo = hi
		if len(same) == 2 {
			// Mostly one row that came and went.
			x, y := same[0], same[1]
			switch c := bytes.Compare(p.key(x), p.key(y)); {
			case c == 0:
				if w := p.rec(x).weight + p.rec(y).weight; w != 0 {
					f(p.segs[x.run].r, p.rec(x), w)
				}
				continue
			case c > 0:
				same[0], same[1] = y, x
			}
		} else if len(same) > 2 {
			slices.SortFunc(same, func(a, b place) int { return bytes.Compare(p.key(a), p.key(b)) })
		}
		for i := 0; i < len(same); {
			x := same[i]
			rec := p.rec(x)
			w := rec.weight
			for i++; i < len(same) && bytes.Equal(p.key(x), p.key(same[i])); i++ {
				w += p.rec(same[i]).weight
			}
			if w != 0 {
				f(p.segs[x.run].r, rec, w)
			}
		}
	}
}

// touchMemory reads a byte of each line of memory that the rows from lo on occupy, as many as it says, in loops that do nothing else, so
// that the processor waits for many of them at once: rows of a run lie in its memory in the order in which they came.
func (p *places) touchMemory(lo int) (hi int) {
	var recs [nearRows]*rowRec
	all := p.all[lo:min(lo+nearRows, len(p.all))]
	for i, x := range all {
		recs[i] = p.rec(x)
	}
	sum := byte(0)
	for i, x := range all {
		if data, rec := p.segs[x.run].r.data, recs[i]; rec.length > 0 {
			sum += data[rec.off] + data[rec.off+uint64(rec.length)-1]
		}
	}
	p.sum = sum
	return lo + len(all)
}

// nearRows is how many rows are read ahead.
const nearRows = 128

// sorted gives the run that the rows make: in order, with the weights of equal ones added up.
func (r *run) sorted() *run {
	p := placesPool.Get().(*places)
	defer p.done()
	p.segs = append(p.segs, segment{r, 0, len(r.recs)})
	p.sort()
	out := &run{recs: make([]rowRec, 0, len(r.recs)), data: make([]byte, 0, len(r.data))}
	p.each(false, out.take)
	return out
}

// take appends a row of another run. Rows lie in memory in the order of their keys, so that merging reads on and does not jump.
func (r *run) take(from *run, rec *rowRec, weight int64) {
	c := *rec
	c.off, c.weight = uint64(len(r.data)), weight
	r.data = append(r.data, from.data[rec.off:rec.off+uint64(rec.length)]...)
	r.recs = append(r.recs, c)
	if weight < 0 {
		r.less++
	}
}

// mergeChunk is the number of rows that are merged at a time: what sorting them takes stays in the near caches.
const mergeChunk = 1 << 15

// mergeRuns makes one run of several, adding up weights. It sorts stretches of all of them that lie between the same keys.
func mergeRuns(runs []*run) *run { return mergeTo(runs, 1) }

// mergeTo is mergeRuns for runs of which about one row in so many is left.
func mergeTo(runs []*run, part int) *run {
	if len(runs) > 1 {
		runs = lateTogether(runs, part)
	}
	if len(runs) == 1 {
		return runs[0]
	}
	out := roomForAll(runs, part)
	for p := range chunksOf(runs) {
		p.each(true, out.take)
	}
	out.clip()
	return out
}

// chunksOf gives the rows of sorted runs in the order of their keys, mergeChunk of them at a time. The places are valid until the next.
func chunksOf(runs []*run) iter.Seq[*places] {
	return func(yield func(p *places) bool) {
		p := placesPool.Get().(*places)
		defer p.done()
		for _, r := range runs {
			p.segs = append(p.segs, segment{r: r})
		}
		each := max(fewPlaces, mergeChunk/len(runs))
		for more := true; more; {
			more = p.next(each)
			p.sort()
			if !yield(p) {
				return
			}
		}
	}
}

// eachMerged calls f for the rows of runs in the order of their keys, with their total weights, but those of weight zero, until it fails.
func eachMerged(runs []*run, f func(from *run, rec *rowRec, weight int64) error) error {
	if len(runs) == 0 {
		return nil
	}
	runs = lateTogether(runs, 1)
	var err error
	for p := range chunksOf(runs) {
		p.each(true, func(from *run, rec *rowRec, weight int64) {
			if err == nil {
				err = f(from, rec, weight)
			}
		})
		if err != nil {
			break
		}
	}
	return err
}

// roomForAll gives an empty run with room for one in so many of the rows of runs.
func roomForAll(runs []*run, part int) *run {
	n, size := 0, 0
	for _, r := range runs {
		n += len(r.recs)
		size += len(r.data)
	}
	return &run{recs: make([]rowRec, 0, n/part), data: make([]byte, 0, size/part)}
}

// clip gives memory back that is not used, of a run that stays for a while.
func (r *run) clip() {
	if n := len(r.recs); cap(r.recs) > n+n/2 {
		r.recs = append(make([]rowRec, 0, n), r.recs...)
	}
	if n := len(r.data); cap(r.data) > n+n/2 {
		r.data = append(make([]byte, 0, n), r.data...)
	}
}

// next moves the segments, each of a sorted run, to the rows that follow, at most n of each, up to one key. It says whether there are more after them.
func (p *places) next(n int) (more bool) {
	var end []byte
	for i := range p.segs {
		s := &p.segs[i]
		if s.lo = s.hi; s.lo+n < len(s.r.recs) {
			if k := s.r.key(s.lo + n); end == nil || bytes.Compare(k, end) < 0 {
				end = k
			}
		}
	}
	for i := range p.segs {
		s := &p.segs[i]
		if s.hi = len(s.r.recs); end != nil {
			s.hi = s.r.seekIn(end, s.lo, min(s.lo+n, s.hi))
		}
	}
	return end != nil
}
