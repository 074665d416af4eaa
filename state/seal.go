package state

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sql/batch"
)

// sealRows is the number of rows from which one of a team pays.
const sealRows = batch.Target

// sealGiven makes a sorted run of all changes of the epoch that are not sorted yet, several of the team side by side. Where one is enough it
// only encodes what is not, and gives false.
func (r *Rows) sealGiven() bool {
	given, n := r.given, r.team.Size(r.givenRows, sealRows)
	r.given, r.givenRows = nil, 0
	if n == 1 {
		for _, b := range given {
			r.encode(b)
		}
		return false
	}
	for len(r.tails) < n {
		r.tails = append(r.tails, &run{})
	}
	tails := r.tails[:n]
	r.team.Run(n, func(i int) {
		for _, b := range given[i*len(given)/n : (i+1)*len(given)/n] {
			tails[i].grow(b.N, r.rowSize)
			tails[i].add(&r.codec, b)
		}
	})
	runs := append([]*run{r.tail}, tails...)
	sealed := r.sealRuns(runs, n)
	r.tail = &run{}
	for _, x := range tails {
		x.recs, x.data, x.less = x.recs[:0], x.data[:0], 0
	}
	if len(sealed.recs) > 0 {
		r.rowSize = len(sealed.data)/len(sealed.recs) + 1
		r.sealed = compact(append(r.sealed, sealed), 0)
	}
	return true
}

// sealRuns makes one sorted run of several that are not sorted, adding up weights: n workers have a range of the keys each.
func (r *Rows) sealRuns(runs []*run, n int) *run {
	bounds := headBounds(runs, n)
	parts := make([]sealPart, len(bounds)+1)
	for i := range parts {
		parts[i].p = placesPool.Get().(*places)
		defer parts[i].p.done()
	}
	r.team.Run(len(parts), func(i int) {
		lo, hi := uint64(0), ^uint64(0)
		if i > 0 {
			lo = bounds[i-1]
		}
		if i < len(bounds) {
			hi = bounds[i] - 1
		}
		parts[i].collect(runs, lo, hi)
	})
	rows, size := 0, 0
	for i := range parts {
		parts[i].first, parts[i].off = rows, size
		rows, size = rows+len(parts[i].p.all), size+parts[i].size
	}
	out := &run{recs: make([]rowRec, rows), data: make([]byte, size)}
	r.team.Run(len(parts), func(i int) { parts[i].write(out) })
	n = 0
	for i := range parts { // weights that add up to nothing left gaps
		p := &parts[i]
		if n != p.first {
			copy(out.recs[n:], out.recs[p.first:p.first+p.rows])
		}
		n += p.rows
		out.less += p.less
	}
	out.recs = out.recs[:n]
	return out
}

// headBounds divides the rows of runs into n ranges of the words at which their keys begin, about as large, and gives where all but the first
// range begin, ascending; fewer, where keys do not differ there.
func headBounds(runs []*run, n int) []uint64 {
	const each = 64
	var sample []uint64
	for _, x := range runs {
		for step, i := max(len(x.recs)/each, 1), 0; i < len(x.recs); i += step {
			sample = append(sample, x.recs[i].head)
		}
	}
	if len(sample) == 0 {
		return nil
	}
	slices.Sort(sample)
	var bounds []uint64
	for i := 1; i < n; i++ {
		if b := sample[i*len(sample)/n]; b > sample[0] && (len(bounds) == 0 || b > bounds[len(bounds)-1]) {
			bounds = append(bounds, b)
		}
	}
	return bounds
}

// sealPart is what one worker has to put in order, and where in the run it goes.
type sealPart struct {
	p          *places
	size       int // bytes of the rows
	first, off int
	rows       int // that are left
	less       int // of them with a weight below zero
}

// collect finds the rows of runs whose keys begin with words from lo to hi, and sorts them.
func (s *sealPart) collect(runs []*run, lo, hi uint64) {
	p := s.p
	p.all = p.all[:0]
	for k, x := range runs {
		p.segs = append(p.segs, segment{x, 0, len(x.recs)})
		for i := range x.recs {
			if c := &x.recs[i]; c.head >= lo && c.head <= hi {
				p.all = append(p.all, place{c.head, uint32(k), uint32(i)})
				s.size += int(c.length)
			}
		}
	}
	p.order()
}

// write puts the rows in their place, with the sums of their weights.
func (s *sealPart) write(out *run) {
	recs, at := out.recs[s.first:], s.off
	s.p.each(false, func(r *run, rec *rowRec, weight int64) {
		c := *rec
		c.off, c.weight = uint64(at), weight
		at += copy(out.data[at:], r.data[rec.off:rec.off+uint64(rec.length)])
		recs[s.rows] = c
		s.rows++
		if weight < 0 {
			s.less++
		}
	})
}
