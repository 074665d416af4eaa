package table

import (
	"math/bits"
	"slices"
)

// order notes when a record that was appended expires.
func (x *stretch) order(d dueRow) {
	switch {
	case x.expired(d.time):
		return // it has expired, or is overdue
	case x.sorted && x.newestRow != noRow && (d.time < x.newest || d.time == x.newest && d.num < x.newestRow):
		x.sorted, x.built, x.at = false, false, 0
	case !x.sorted && x.built:
		x.late = append(x.late, d)
	}
	x.newest, x.newestRow = d.time, d.num
}

// unorder forgets when records expire.
func (x *stretch) unorder() {
	x.due, x.late, x.at, x.sorted, x.built, x.newestRow = nil, nil, 0, true, false, noRow
}

// expire calls f for the records at or before until that have not expired, by time and number. All of them are in memory.
func (x *stretch) expire(until int64, f func(r packed) error) error {
	slices.SortFunc(x.overdue, dueRow.compare)
	for _, d := range x.overdue {
		if err := f(x.record(d.ref)); err != nil {
			return err
		}
	}
	x.overdue = x.overdue[:0]
	if x.sorted {
		return x.expireSorted(until, f)
	}
	x.sortDue(until)
	for ; x.at < len(x.due) && x.due[x.at].time <= until; x.at++ {
		if err := f(x.record(x.due[x.at].ref)); err != nil {
			return err
		}
	}
	x.until = max(x.until, until)
	return nil
}

// expireSorted is expire for rows that have come in the order of their times.
func (x *stretch) expireSorted(until int64, f func(r packed) error) error {
	end := x.end()
	for x.at = x.next(max(x.at, x.first)); x.at < end; {
		r := x.look(x.at)
		t := r.time()
		if t > until {
			break
		}
		x.at = x.next(after(x.at, r))
		if x.expired(t) {
			continue // since before it was loaded
		}
		if err := f(r); err != nil {
			return err
		}
	}
	x.until = max(x.until, until)
	return nil
}

// sortDue brings into due all that expires until then.
func (x *stretch) sortDue(until int64) {
	if !x.built {
		x.due, x.late, x.at, x.built = x.due[:0], x.late[:0], 0, true
		x.each(x.first, func(ref uint32, r packed) bool {
			if !x.expired(r.time()) {
				x.due = append(x.due, dueRow{r.time(), r.num(), ref})
			}
			return true
		})
		x.due = sortRows(x.due)
		return
	}
	if !slices.ContainsFunc(x.late, func(d dueRow) bool { return d.time <= until }) {
		return
	}
	// Few that are due are put before what follows in due; many make it anew.
	if len(x.late) > 256+(len(x.due)-x.at)/8 {
		x.due = mergeRows(x.due[x.at:], sortRows(x.late))
		x.late, x.at = x.late[:0], 0
		return
	}
	kept, now := x.late[:0], []dueRow(nil)
	for _, d := range x.late {
		if d.time <= until {
			now = append(now, d)
		} else {
			kept = append(kept, d)
		}
	}
	x.late = kept
	end := x.at
	for end < len(x.due) && x.due[end].time <= until {
		end++
	}
	now = append(now, x.due[x.at:end]...)
	slices.SortFunc(now, dueRow.compare)
	if extra := len(now) - (end - x.at); extra <= x.at {
		x.at -= extra
		copy(x.due[x.at:], now)
	} else {
		x.due = slices.Replace(x.due, x.at, end, now...)
	}
}

// mergeRows merges two sorted lists into a new one.
func mergeRows(a, b []dueRow) []dueRow {
	out := make([]dueRow, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if b[0].compare(a[0]) < 0 {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	return append(append(out, a...), b...)
}

const (
	radixRows = 256 // from how many rows on they are distributed
	radixBits = 11  // of the time, at a time
)

// sortRows sorts rows by time and number, and gives them in the same memory or in other. Rows that come by number are distributed by the bits
// of their times in which they differ, of which a stretch has few, the lowest first.
func sortRows(rows []dueRow) []dueRow {
	if len(rows) < radixRows {
		slices.SortFunc(rows, dueRow.compare)
		return rows
	}
	least, most, inOrder := rows[0].time, rows[0].time, true
	for i, r := range rows[1:] {
		least, most = min(least, r.time), max(most, r.time)
		inOrder = inOrder && rows[i].num < r.num
	}
	width := bits.Len64(uint64(most) - uint64(least))
	if !inOrder || width > 4*radixBits {
		slices.SortFunc(rows, dueRow.compare)
		return rows
	}
	other := make([]dueRow, len(rows))
	for shift := 0; shift < width; shift += radixBits {
		var at [1<<radixBits + 1]uint32
		for _, r := range rows {
			at[uint64(r.time-least)>>shift&(1<<radixBits-1)+1]++
		}
		for i := 1; i < len(at); i++ {
			at[i] += at[i-1]
		}
		for _, r := range rows {
			k := uint64(r.time-least) >> shift & (1<<radixBits - 1)
			other[at[k]] = r
			at[k]++
		}
		rows, other = other, rows
	}
	return rows
}
