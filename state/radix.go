package state

import (
	"bytes"
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
}

// segment is a stretch of a run: rows [lo, hi).
type segment struct {
	r      *run
	lo, hi int
}

var placesPool = sync.Pool{New: func() any { return new(places) }}

// maxPooled is the number of places up to which memory is kept for the next sort.
const maxPooled = 1 << 17

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
		slices.SortFunc(p.all, func(a, b place) int {
			if a.head < b.head {
				return -1
			}
			if a.head > b.head {
				return 1
			}
			return 0
		})
		return
	}
	if bits.LeadingZeros64(differ) >= 32 {
		differ = p.skipCommon()
	}
	// Byte by byte, from the last one that is not the same in all.
	for shift := 0; shift < 64; shift += 8 {
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

// each calls f for each row in the order of keys, with its total weight, unless that is zero.
func (p *places) each(f func(r *run, rec *rowRec, weight int64)) {
	for lo := 0; lo < len(p.all); {
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

// seal sorts the rows and adds up the weights of equal ones.
func (r *run) seal() {
	p := placesPool.Get().(*places)
	defer p.done()
	p.segs = append(p.segs, segment{r, 0, len(r.recs)})
	p.sort()
	recs := make([]rowRec, 0, len(r.recs))
	p.each(func(_ *run, rec *rowRec, weight int64) {
		recs = append(recs, *rec)
		recs[len(recs)-1].weight = weight
	})
	r.recs = recs
}

// mergeChunk is the number of rows that are merged at a time: what sorting them takes stays in the near caches.
const mergeChunk = 1 << 15

// mergeRuns makes one run of several, adding up weights. It sorts stretches of all of them that lie between the same keys.
func mergeRuns(runs []*run) *run {
	if len(runs) == 1 {
		return runs[0]
	}
	out := &run{}
	n, size := 0, 0
	for _, r := range runs {
		n += len(r.recs)
		size += len(r.data)
	}
	out.recs, out.data = make([]rowRec, 0, n), make([]byte, 0, size)
	p := placesPool.Get().(*places)
	defer p.done()
	for _, r := range runs {
		p.segs = append(p.segs, segment{r: r})
	}
	each := max(fewPlaces, mergeChunk/len(runs))
	for more := true; more; {
		more = p.next(each)
		p.sort()
		p.each(func(r *run, rec *rowRec, weight int64) {
			c := *rec
			c.off, c.weight = uint64(len(out.data)), weight
			out.data = append(out.data, r.data[rec.off:rec.off+uint64(rec.length)]...)
			out.recs = append(out.recs, c)
		})
	}
	return out
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
