package state

import (
	"bytes"
	"iter"
	"runtime"
	"sort"
)

// mergeChunk is the number of rows that are merged at a time: what sorting them takes stays in the near caches.
const mergeChunk = 1 << 15

// nearBytes is how much memory is near once it was gone through.
const nearBytes = 1 << 19

// mergeRuns makes one run of several, adding up weights.
func mergeRuns(runs []*run) *run { return mergeTo(runs, 1) }

// mergeTo is mergeRuns for runs of which about one row in so many is left.
func mergeTo(runs []*run, part int) *run {
	if len(runs) == 1 {
		return runs[0]
	}
	return together(runs, part)
}

// together is mergeTo that gives a run in order, also of one that is not.
func together(runs []*run, part int) *run {
	m := newMerged(runs, part)
	for p, near := range rowsInOrder(runs) {
		m.roomFor(len(p.all))
		p.each(near, m.out.take)
		runtime.Gosched() // epochs go first
	}
	m.out.cutHeads()
	m.out.clip()
	return m.out
}

// merged is a run that is made of others.
type merged struct {
	out        *run
	rows, data int // of all of them
	seen       int // rows that were gone through
}

// newMerged gives an empty one with room for all rows, or where about one in so many is left, which nobody knows, for the first of them.
func newMerged(runs []*run, part int) *merged {
	m := &merged{out: &run{skip: alike(runs)}}
	for _, r := range runs {
		m.rows += r.rows()
		m.data += len(r.data)
	}
	if part > 1 {
		part *= firstPart
	}
	m.out.recs, m.out.data = make([]rowRec, 0, m.rows/part), make([]byte, 0, m.data/part)
	return m
}

// alike gives with how many bytes all keys of runs begin alike, as far as that is known of those that are not in order.
func alike(runs []*run) int {
	var common prefix
	for _, r := range runs {
		if r.unread() {
			common.of([]byte(r.late.cuts.skip[:r.late.skip]))
		} else if in := r.inOrder(); len(in.recs) > 0 {
			common.ofRange(in, 0, len(in.recs))
		}
	}
	return len(common.key)
}

// firstPart is the part of the rows by which it is told how many are left.
const firstPart = 16

// roomFor makes room for the next n rows, all of which may be left, and where there is none for as many as will be left in the end, by what was left of those
// before. To grow by a quarter each time would leave as much memory again to the collector.
func (m *merged) roomFor(n int) {
	r, size := m.out, n*(m.data/max(m.rows, 1)+1)
	if cap(r.recs) < min(len(r.recs)+n, m.rows) {
		r.recs = append(make([]rowRec, 0, m.expect(len(r.recs), n, n, m.rows)), r.recs...)
	}
	if cap(r.data) < min(len(r.data)+size, m.data) {
		r.data = append(make([]byte, 0, m.expect(len(r.data), size, n, m.data)), r.data...)
	}
	m.seen += n
}

// expect gives how much room is needed in the end, where have came of what was seen and the next n rows may be most: no more than for all.
func (m *merged) expect(have, most, n, all int) int {
	want := have + most
	if m.seen > 0 {
		want += int(float64(have) / float64(m.seen) * float64(m.rows-m.seen-n) * 17 / 16)
	}
	return min(want, all)
}

// eachMerged calls f for the rows of runs in the order of their keys, with their total weights, but those of weight zero, until it fails.
func eachMerged(runs []*run, f func(key []byte, klen uint32, weight int64) error) error {
	if len(runs) == 1 && !runs[0].unread() {
		r := runs[0].inOrder()
		for i := range r.recs {
			if err := f(r.row(i)); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	for p, near := range rowsInOrder(runs) {
		p.each(near, func(key []byte, klen uint32, weight int64) {
			if err == nil {
				err = f(key, klen, weight)
			}
		})
		if err != nil {
			return err
		}
		runtime.Gosched()
	}
	return nil
}

// rowsInOrder gives the rows of runs in the order of their keys, some at a time, and whether they are near. Equal rows come together. What is given is valid until the next.
// There is never more than a part of the rows of late runs in order: all of them would be as much memory again, which nobody counts.
func rowsInOrder(runs []*run) iter.Seq2[*places, bool] {
	return func(yield func(p *places, near bool) bool) {
		late, sorted := apart(runs)
		segs := make([]segment, len(sorted), len(sorted)+1)
		for i, r := range sorted {
			segs[i] = segment{r: r}
		}
		merged := placesPool.Get().(*places)
		defer merged.done()
		if len(late) == 0 {
			for i := range segs {
				segs[i].end = len(segs[i].r.recs)
			}
			merged.eachChunk(segs, yield)
			return
		}
		p := placesPool.Get().(*places)
		defer p.done()
		skip := late[0].late.skip
		for _, r := range late {
			p.segs = append(p.segs, segment{r: r})
			skip = min(skip, r.late.skip)
		}
		p.late = true
		cuts, piece := late[0].late.cuts, &run{}
		for k := range late[0].late.ends {
			size := 0
			p.all = p.all[:0]
			for i, r := range late {
				lo, hi := r.late.part(k)
				size += hi - lo
				p.addLate(uint32(i), r.data, lo, hi, skip)
			}
			p.order()
			if near := size <= nearBytes; !upTo(segs, cuts, k) {
				if !yield(p, near) {
					return
				}
			} else {
				// Those of the part that are in order already come in between.
				piece.recs, piece.data = piece.recs[:0], piece.data[:0]
				p.each(near, piece.take)
				if !merged.eachChunk(append(segs, segment{r: piece, end: len(piece.recs)}), yield) {
					return
				}
			}
		}
	}
}

// apart gives those of the runs that nobody has read and that have the same cuts, and the others in order.
func apart(runs []*run) (late, sorted []*run) {
	var others []*run
	for _, r := range runs {
		switch {
		case !r.unread():
			sorted = append(sorted, r.inOrder())
		case len(late) == 0 || r.late.cuts == late[0].late.cuts:
			late = append(late, r)
		default:
			others = append(others, r)
		}
	}
	if len(others) > 0 {
		sorted = append(sorted, together(others, 1))
	}
	return late, sorted
}

// upTo moves segments of runs in order on to the rows of part k, behind which they end. It says whether there are any.
func upTo(segs []segment, c *cuts, k int) (some bool) {
	for i := range segs {
		s := &segs[i]
		s.lo, s.hi = s.end, s.end
		if s.end = len(s.r.recs); k < c.parts()-1 {
			s.end = s.hi + sort.Search(len(s.r.recs)-s.hi, func(j int) bool {
				part, _ := c.part(s.r.key(s.hi + j))
				return part > k
			})
		}
		some = some || s.end > s.hi
	}
	return some
}

// eachChunk yields the rows of segments of runs in order, from hi to end, in the order of their keys, mergeChunk of them at a time, with memory that p has. It says
// whether it was not stopped.
func (p *places) eachChunk(segs []segment, yield func(p *places, near bool) bool) bool {
	p.segs = append(p.segs[:0], segs...)
	each := max(fewPlaces, mergeChunk/max(len(segs), 1))
	for more := len(segs) > 0; more; {
		more = p.next(each)
		p.sort(p.common())
		if !yield(p, true) {
			return false
		}
	}
	return true
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
		if s.lo = s.hi; s.lo+n < s.end {
			if k := s.r.key(s.lo + n); end == nil || bytes.Compare(k, end) < 0 {
				end = k
			}
		}
	}
	for i := range p.segs {
		s := &p.segs[i]
		if s.hi = s.end; end != nil {
			s.hi = s.r.seekIn(end, s.lo, min(s.lo+n, s.hi))
		}
	}
	return end != nil
}
