package state

import (
	"sync"
	"sync/atomic"
)

// late is of a run whose rows are as they came. They are sorted when somebody reads the run, or together with those of others when it is merged:
// mostly that is once for many epochs, beside them. The rows themselves stay as they are, since another goroutine may be merging them.
type late struct {
	once   sync.Once
	sorted atomic.Pointer[run] // nil until somebody has read the run
}

// lateRows is the number of rows from which a run is sorted late. Fewer are sorted at once: that is quick, and whoever reads may read after each epoch.
const lateRows = 1 << 11

// inOrder gives the rows of a run in the order of their keys.
func (r *run) inOrder() *run {
	if r.late == nil {
		return r
	}
	r.late.once.Do(func() { r.late.sorted.Store(r.sorted()) })
	return r.late.sorted.Load()
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

// lateTogether gives runs with the same rows: those that are late are one, in order, where one in so many rows is expected to be left. The list is a new one if any is late.
func lateTogether(runs []*run, part int) []*run {
	var late, out []*run
	for _, r := range runs {
		switch {
		case r.late == nil:
			out = append(out, r)
		case r.late.sorted.Load() != nil:
			out = append(out, r.late.sorted.Load())
		default:
			late = append(late, r)
		}
	}
	switch len(late) {
	case 0:
		return out
	case 1:
		return append(out, late[0].inOrder())
	}
	all := roomForAll(late, part)
	p := placesPool.Get().(*places)
	defer p.done()
	for _, r := range late {
		p.segs = append(p.segs, segment{r, 0, len(r.recs)})
	}
	p.sort()
	p.each(false, all.take)
	all.clip()
	return append(out, all)
}
