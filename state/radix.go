package state

import (
	"bytes"
	"slices"
	"sync"
)

// place is what moves when rows are sorted: the head of a row's key, and where the row is.
type place struct {
	head  uint64
	run   uint32
	index uint32
}

// places are the rows of runs, in the order of their heads once sorted.
type places struct {
	runs     []*run
	all, tmp []place
}

var placesPool = sync.Pool{New: func() any { return new(places) }}

// maxPooled is the number of places up to which memory is kept for the next sort.
const maxPooled = 1 << 17

// sortPlaces sorts the rows of runs by their heads; rows with equal heads stay in the order of their runs. done gives the memory back.
func sortPlaces(runs []*run) *places {
	p := placesPool.Get().(*places)
	p.runs = append(p.runs[:0], runs...)
	n := 0
	for _, r := range runs {
		n += len(r.recs)
	}
	p.all, p.tmp = slices.Grow(p.all[:0], n), slices.Grow(p.tmp[:0], n)[:n]
	differ := uint64(0)
	for k, r := range runs {
		for i := range r.recs {
			head := r.recs[i].head
			p.all = append(p.all, place{head, uint32(k), uint32(i)})
			differ |= head ^ p.all[0].head
		}
	}
	if n < 64 {
		slices.SortStableFunc(p.all, func(a, b place) int {
			if a.head < b.head {
				return -1
			}
			if a.head > b.head {
				return 1
			}
			return 0
		})
		return p
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
	return p
}

func (p *places) done() {
	clear(p.runs)
	if cap(p.all) > maxPooled {
		return
	}
	placesPool.Put(p)
}

func (p *places) rec(x place) *rowRec { return &p.runs[x.run].recs[x.index] }

func (p *places) key(x place) []byte { return p.runs[x.run].key(int(x.index)) }

// each calls f for each row in the order of keys, with its total weight, unless that is zero.
func (p *places) each(f func(r *run, rec *rowRec, weight int64)) {
	for lo := 0; lo < len(p.all); {
		hi := lo + 1
		for hi < len(p.all) && p.all[hi].head == p.all[lo].head {
			hi++
		}
		same := p.all[lo:hi] // perhaps
		lo = hi
		if len(same) > 1 {
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
				f(p.runs[x.run], rec, w)
			}
		}
	}
}
