package table

import "slices"

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
		slices.SortFunc(x.due, dueRow.compare)
		return
	}
	if !slices.ContainsFunc(x.late, func(d dueRow) bool { return d.time <= until }) {
		return
	}
	// Few are merged with what follows in due, many make it anew.
	if len(x.late) > 256+(len(x.due)-x.at)/8 {
		x.due = append(slices.Delete(x.due, 0, x.at), x.late...)
		x.late, x.at = x.late[:0], 0
		slices.SortFunc(x.due, dueRow.compare)
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
