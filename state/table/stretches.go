package table

import (
	"cmp"
	"math"
	"slices"
)

// StretchWidth gives the Decl.Width, microseconds, of a table whose rows or keys stay for about span: a quarter of it, as more stretches
// are more lookups a row, and fewer hold memory for longer; but a second at least, as shorter ones would save no memory worth while.
func StretchWidth(span int64) int64 { return max(span/4, 1_000_000) }

// Stretches holds rows by key and event time for operators whose rows come and
// go by time and are not changed in between: all rows with a key and a time in
// a range are found together, and rows expire by time. Event time is cut into
// stretches of Decl.Width, each with its rows in one arena and a hash index of
// their keys, so that rows expire with no work for each but the count, and a
// stretch that has gone by is dropped whole: one range delete on disk, and
// nothing is written for one that opens and closes between two checkpoints. A
// row is written once. A row may be marked, once and for good.
//
// Rows of one key come in the order of stretches, and in one of them from the
// newest on, whether they are in memory or on disk. Times are microseconds.
type Stretches struct {
	inf  *tableInfo
	list []*stretch // ascending, apart from each other
	last *stretch   // of the latest Append: rows of one stretch mostly come together
	pool blockPool
	gone []int64 // starts of dropped stretches of which something is on disk
	find find
	ids  *idIndex // of an Expiring; nil: each stretch has an index of its own

	evicting []*stretch // of which rows are to be dropped; some are perhaps dropped

	// There may be many stretches: what is asked after each epoch is kept up.
	rows, dirty, absent int64 // of all stretches: rows, those that came since the last Freeze, those on disk only
	mem                 int64
	listed              []*stretch // whose memory is to be counted anew; some are perhaps dropped
}

// Row is a row of a Stretches, valid until the next Append or Expire.
type Row struct {
	x *stretch
	r packed
}

// Time gives the row's event time.
func (r Row) Time() int64 { return r.r.time() }

// Weight gives the row's weight, as it was appended.
func (r Row) Weight() int64 { return r.r.weight() }

// Key gives the row's key.
func (r Row) Key() []byte { return r.r.key() }

// Body gives what else was appended with the row.
func (r Row) Body() []byte { return r.r.body() }

// Marked says whether the row was marked.
func (r Row) Marked() bool { return r.x.marked(r.r.num()) }

func newStretches(inf *tableInfo) *Stretches { return &Stretches{inf: inf} }

// startOf gives the start of the stretch of a time.
func (t *Stretches) startOf(time int64) int64 {
	w := t.inf.decl.Width
	q := time / w
	if time%w < 0 {
		q--
	}
	if q < math.MinInt64/w {
		return math.MinInt64
	}
	return q * w
}

// endOf gives the last time of a stretch.
func (t *Stretches) endOf(x *stretch) int64 {
	if x.start == math.MinInt64 { // the first of all may be shorter
		if next := math.MinInt64 / t.inf.decl.Width * t.inf.decl.Width; next > x.start {
			return next - 1
		}
	}
	if end := x.start + t.inf.decl.Width - 1; end >= x.start {
		return end
	}
	return math.MaxInt64
}

// at gives the stretch of a time, made when it is missing.
func (t *Stretches) at(time int64) *stretch {
	start := t.startOf(time)
	if t.last != nil && t.last.start == start {
		return t.last
	}
	i, ok := t.search(start)
	if !ok {
		t.list = slices.Insert(t.list, i, t.newStretch(start))
	}
	t.last = t.list[i]
	return t.last
}

func (t *Stretches) newStretch(start int64) *stretch {
	x := newStretch(start, &t.pool)
	if t.ids != nil {
		t.ids.join(x)
	}
	return x
}

// search gives the place of the stretch with a start, and whether it is there.
func (t *Stretches) search(start int64) (int, bool) {
	return slices.BinarySearchFunc(t.list, start, func(x *stretch, start int64) int { return cmp.Compare(x.start, start) })
}

// Append adds a row. hash is HashBytes(key); key and body are copied.
func (t *Stretches) Append(hash uint64, key []byte, time, weight int64, body []byte, marked bool) {
	x := t.at(time)
	num := x.nextNumber()
	t.recount(x)
	t.rows++
	t.dirty++
	x.rows++
	x.changed = true
	ref := x.put(uint32(hash>>32), num, time, weight, key, body)
	if marked {
		x.mark(num)
	}
	if !marked || !t.inf.decl.Forgets {
		x.live += weight
	}
	if x.expired(time) {
		x.overdue = append(x.overdue, dueRow{time, num, ref})
	}
}

// Mark marks a row, which is not there any more if Decl.Forgets says so.
func (t *Stretches) Mark(r Row) {
	num := r.r.num()
	t.recount(r.x)
	if t.inf.decl.Forgets && !r.x.marked(num) {
		r.x.live -= r.Weight()
	}
	r.x.mark(num)
}

// hides says whether a row is not there any more, but for its memory.
func (t *Stretches) hides(x *stretch, r packed) bool {
	return x.expired(r.time()) || t.inf.decl.Forgets && x.marked(r.num())
}

// Expire removes the rows at or before until and gives their weight. It calls f, if that is not nil, for each of them, by time and then in
// the order in which they came; the first error ends that, and it.
func (t *Stretches) Expire(until int64, f func(r Row) error) (weight int64, err error) {
	for len(t.list) > 0 && t.list[0].start <= until {
		x := t.list[0]
		whole := t.endOf(x) <= until
		if !whole || f != nil {
			w, err := t.expire(x, until, f)
			if weight += w; err != nil {
				return weight, err
			}
		}
		if !whole {
			break
		}
		weight += x.live
		t.dropFirst()
	}
	return weight, nil
}

// expire removes rows of one stretch.
func (t *Stretches) expire(x *stretch, until int64, f func(r Row) error) (weight int64, err error) {
	if until <= x.until && len(x.overdue) == 0 || x.live == 0 {
		return 0, nil
	}
	t.recount(x)
	if x.base > 0 {
		t.loadStretch(x)
	}
	err = x.expire(until, func(r packed) error {
		if t.inf.decl.Forgets && x.marked(r.num()) {
			return nil
		}
		weight += r.weight()
		if f != nil {
			return f(Row{x, r})
		}
		return nil
	})
	x.live -= weight
	x.changed = true
	return weight, err
}

// dropFirst drops the first stretch.
func (t *Stretches) dropFirst() {
	x := t.list[0]
	t.list = slices.Delete(t.list, 0, 1)
	if t.last == x {
		t.last = nil
	}
	if x.onDisk {
		t.gone = append(t.gone, x.start)
	}
	t.pool.dropped(x, x.clean != x.safe) // then records may be being written
	if x.ids != nil {
		x.ids.leave(x)
	}
	t.rows, t.absent, t.dirty, t.mem = t.rows-x.rows, t.absent-x.base, t.dirty-(x.rows-x.cleanRows), t.mem-x.counted
	*x = *newStretch(x.start, nil) // an eviction may have it
}

// Each calls f for every row until it returns false, stretch by stretch. It reads past memory without filling it. f must not use the table.
func (t *Stretches) Each(f func(r Row) bool) {
	going := true
	for _, x := range t.list {
		visit := func(r packed) bool {
			if !t.hides(x, r) {
				going = f(Row{x, r})
			}
			return going
		}
		if x.base > 0 {
			t.eachOnDisk(x, 0, 1<<16, visit)
		}
		if going {
			x.each(x.first, func(_ uint32, r packed) bool { return visit(r) })
		}
		if !going {
			return
		}
	}
}

// Len gives the number of rows, those counted that are only there until their stretch is dropped.
func (t *Stretches) Len() int64 { return t.rows }

// recount notes that the memory of a stretch changes.
func (t *Stretches) recount(x *stretch) {
	if !x.listed {
		x.listed = true
		t.listed = append(t.listed, x)
	}
}

// MemBytes gives the memory that the table occupies, about.
func (t *Stretches) MemBytes() int64 {
	for _, x := range t.listed {
		if x.pool != nil { // else it is dropped
			n := x.memBytes()
			t.mem += n - x.counted
			x.counted, x.listed = n, false
		}
	}
	t.listed = t.listed[:0]
	return t.mem + t.spareBytes()
}

func (t *Stretches) filterBytes() int64 { return 0 }
func (t *Stretches) spareBytes() int64  { return int64(len(t.pool.blocks)) * rowBlock }
