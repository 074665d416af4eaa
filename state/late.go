package state

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync"
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/state/table"
)

// late is of a run whose rows are not in order, but divided into parts. They are sorted when somebody reads the run, or together with those of others when it is merged: mostly that is once for many epochs, beside them. The rows
// themselves stay as they are, since another goroutine may be merging them.
type late struct {
	rows   int
	cuts   *cuts
	skip   int          // with so many bytes all keys begin alike, those of all runs with these cuts of which it is not 0
	ends   []int        // by part: where it ends in data
	looked atomic.Int64 // bytes that between went through
	once   sync.Once
	sorted atomic.Pointer[run] // nil until somebody has read the run
}

// lateRows is the number of rows from which a run is sorted late. Fewer are sorted at once: that is quick, and whoever reads may read after each epoch.
const lateRows = 1 << 11

// part gives where a part lies in data.
func (l *late) part(i int) (lo, hi int) {
	if i > 0 {
		lo = l.ends[i-1]
	}
	return lo, l.ends[i]
}

// splitter is memory for split.
type splitter struct{ part []uint8 }

var splitters = sync.Pool{New: func() any { return &splitter{} }}

// split gives the late run that the rows of r make.
func (r *run) split(c *cuts) *run {
	s := splitters.Get().(*splitter)
	defer splitters.Put(s)
	if cap(s.part) < len(r.recs) {
		s.part = make([]uint8, len(r.recs), len(r.recs)+len(r.recs)/4)
	}
	part := s.part[:len(r.recs)]
	ends := make([]int, c.parts())
	skip := len(c.skip)
	for i := range r.recs {
		p, like := c.part(r.key(i))
		if !like {
			skip = 0
		}
		part[i] = uint8(p)
		ends[p] += int(r.end(i) - r.recs[i].off)
	}
	size := 0
	for p, n := range ends {
		ends[p] = size // from where it is filled
		size += n
	}
	if size > math.MaxUint32 {
		return r.sorted()
	}
	out := &run{data: make([]byte, size), less: r.less, late: &late{rows: len(r.recs), cuts: c, skip: skip, ends: ends}}
	for i := range r.recs {
		at := &ends[part[i]]
		*at += copyShort(out.data[*at:], r.data[r.recs[i].off:r.end(i)])
	}
	return out
}

// copyShort is copy to a longer slice: most rows are a few words, for which a call takes longer than the copy.
func copyShort(to, from []byte) int {
	n := len(from)
	if n < 8 || n > 64 {
		return copy(to, from)
	}
	to = to[:n]
	for i := 0; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(from[i:]))
	}
	binary.LittleEndian.PutUint64(to[n-8:], binary.LittleEndian.Uint64(from[n-8:]))
	return n
}

// inOrder gives the rows of a run in the order of their keys.
func (r *run) inOrder() *run {
	if r.late == nil {
		return r
	}
	r.late.once.Do(func() { r.late.sorted.Store(together([]*run{r}, 1)) })
	return r.late.sorted.Load()
}

const (
	// fewParts is up to how many parts readers go through rather than have the run sorted.
	fewParts = 2
	// manyTimes is how often they go through as many bytes as the run has before it is: that takes as long as sorting it, about. Keys that ascend may lie in one part.
	manyTimes = 2
)

// between gives those rows of a run whose keys are in [lo, hi), in order: a stretch of a run. nil stands for no bound. Of a run that is not in order it looks at the parts
// that have them, if these are few.
func (r *run) between(lo, hi []byte) (in *run, from, to int) {
	if l := r.late; l != nil && lo != nil && hi != nil && l.sorted.Load() == nil {
		first, _ := l.cuts.part(lo)
		last, _ := l.cuts.part(hi)
		if last-first < fewParts {
			begin, _ := l.part(first)
			_, end := l.part(last)
			if l.looked.Add(int64(end-begin)) <= manyTimes*int64(len(r.data)) {
				in = r.look(lo, hi, first, last)
				return in, 0, len(in.recs)
			}
		}
	}
	in = r.inOrder()
	from, to = in.seek(lo), len(in.recs)
	if hi != nil {
		to = in.seekNear(hi, from, to)
	}
	return in, from, to
}

// look gives the rows of parts first to last whose keys are in [lo, hi).
func (r *run) look(lo, hi []byte, first, last int) *run {
	found := &run{}
	from, _ := r.late.part(first)
	_, to := r.late.part(last)
	least, most := table.Head(lo), table.Head(hi)
	for data := r.data[from:to]; len(data) > 0; {
		key, klen, weight, n := readRow(data)
		data = data[n:]
		if h := table.Head(key); h < least || h > most || bytes.Compare(key, lo) < 0 || bytes.Compare(key, hi) >= 0 {
			continue
		}
		found.take(key, klen, weight)
	}
	if len(found.recs) > 1 {
		return found.sorted()
	}
	return found
}

// unread says of a run that it is not in order, as nobody has read it.
func (r *run) unread() bool { return r.late != nil && r.late.sorted.Load() == nil }

// ordered gives those of the runs that are in order, without sorting any.
func ordered(runs []*run) []*run {
	var out []*run
	for _, r := range runs {
		if r.late != nil {
			r = r.late.sorted.Load()
		}
		if r != nil {
			out = append(out, r)
		}
	}
	return out
}
