package table

import (
	"math"
	"slices"
)

// Windows is one Hash per window end, so that a window that closes is dropped
// whole: one range delete on disk, and nothing at all is written for a window
// that opens and closes between two checkpoints. Times are microseconds. Two
// windows of one table do not share an end.
type Windows struct {
	inf   *tableInfo
	open  map[int64]*window
	ends  []int64 // ascending
	last  *window // of the latest At: rows of one window mostly come together
	spare []*Hash // tables of dropped windows, to use again
	gone  []int64 // ends of dropped windows of which something is on disk
	size  int     // entries of the window that was dropped last

	left    []*Hash // of which a Freeze has entries to copy; some are perhaps dropped
	thawing []*Hash

	evicting []*Hash // of which entries are to be dropped; some windows are perhaps dropped
}

type window struct {
	start, end int64
	h          *Hash
	onDisk     bool // the window has a record on disk or in a run being written
}

// maxSpare bounds how many dropped tables are kept for reuse.
const maxSpare = 4

func newWindows(inf *tableInfo) *Windows {
	return &Windows{inf: inf, open: map[int64]*window{}}
}

// At gives the table of the window [start, end), made when it is missing.
func (w *Windows) At(start, end int64) *Hash {
	if w.last != nil && w.last.end == end {
		return w.last.h
	}
	x := w.open[end]
	if x == nil {
		x = &window{start: start, end: end, h: w.newTable(end)}
		w.enter(x)
	}
	w.last = x
	return x.h
}

func (w *Windows) enter(x *window) {
	w.open[x.end] = x
	i, _ := slices.BinarySearch(w.ends, x.end)
	w.ends = slices.Insert(w.ends, i, x.end)
}

func (w *Windows) newTable(end int64) *Hash {
	prefix := w.windowPrefix(end)
	if n := len(w.spare); n > 0 {
		h := w.spare[n-1]
		w.spare = w.spare[:n-1]
		h.prefix, h.expect = prefix, w.expected()
		return h
	}
	h := newHash(w.inf, prefix)
	h.expect = w.expected()
	return h
}

// expected is how many entries a new window may come to have: as many as the newest one has, or had the last one that was dropped.
func (w *Windows) expected() int {
	n := w.size
	if l := len(w.ends); l > 0 {
		n = max(n, w.open[w.ends[l-1]].h.used)
	}
	return n
}

// Get gives the table of the window with that end, nil if there is none.
func (w *Windows) Get(end int64) *Hash {
	if x := w.open[end]; x != nil {
		return x.h
	}
	return nil
}

// Ends lists the open windows' ends, ascending. The slice is the caller's.
func (w *Windows) Ends() []int64 { return slices.Clone(w.ends) }

// StartOf gives the start of the open window with that end, math.MinInt64 if there is none.
func (w *Windows) StartOf(end int64) int64 {
	if x := w.open[end]; x != nil {
		return x.start
	}
	return math.MinInt64
}

// Drop closes a window: its table is gone, and may be used again for another window.
func (w *Windows) Drop(end int64) {
	x := w.open[end]
	if x == nil {
		return
	}
	w.size = x.h.used
	delete(w.open, end)
	i, _ := slices.BinarySearch(w.ends, end)
	w.ends = slices.Delete(w.ends, i, i+1)
	if w.last == x {
		w.last = nil
	}
	if x.onDisk {
		w.gone = append(w.gone, end)
	}
	if x.h.fz != nil {
		return // something of it is yet to be copied
	}
	if len(w.spare) < maxSpare {
		x.h.reset()
		w.spare = append(w.spare, x.h)
	} else {
		x.h.freeArrays()
	}
}

// Len gives the number of entries of all open windows.
func (w *Windows) Len() int64 {
	var n int64
	for _, x := range w.open {
		n += x.h.Len()
	}
	return n
}

// MemBytes gives the memory that the windows occupy, about.
func (w *Windows) MemBytes() int64 {
	n := int64(len(w.ends)) * 120
	for _, x := range w.open {
		n += x.h.MemBytes()
	}
	return n + w.spareBytes()
}

func (w *Windows) filterBytes() int64 {
	var n int64
	for _, x := range w.open {
		n += x.h.filterBytes()
	}
	return n
}

func (w *Windows) spareBytes() int64 {
	var n int64
	for _, h := range w.spare {
		n += h.MemBytes()
	}
	return n
}

// Reset empties a table of a transient space and keeps its memory, unless that is large.
func (t *Hash) Reset() { t.reset() }

// reset empties a table and keeps its memory, unless that is large.
func (t *Hash) reset() {
	if len(t.cells) > 1<<22 {
		t.freeArrays()
		*t = *newHash(t.inf, t.prefix)
		return
	}
	clear(t.cells)
	t.dropNext()
	t.used, t.tombs, t.dirty, t.waste = 0, 0, 0, 0
	t.ents, t.arena, t.flags = t.ents[:0], t.arena[:0], t.flags[:0]
	t.freeRare()
	t.blobs, t.blobBytes = nil, 0
	t.free = t.free[:0]
	t.disk, t.bits, t.laid, t.cramped = diskState{}, 0, false, false
	t.fz, t.thawed, t.pass = nil, 0, nil
}
