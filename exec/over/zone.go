package over

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
)

// farthest is the greatest number of rows or groups within which a partition is computed in parts.
const farthest = 1 << 20

// zone says for which rows of a partition a changed row may change a function's value.
type zone int

const (
	zoneNear      zone = iota // those around it: within so many rows, peer groups, or a distance of the sort key
	zoneCount                 // those after it, while the numbers of rows before and after the change differ
	zoneRank                  // the same, by peer groups
	zoneDense                 // those after it, while the numbers of peer groups differ
	zoneRankShare             // as zoneRank, or all if the number of rows in the partition changes
	zoneShare                 // the same, for the last row of each group
	zoneTile                  // those near the bounds of k buckets
	zonePrefix                // those after it, until the running aggregate is as it was
	zoneSuffix                // those before it, in the same way
	zoneTotal                 // all, if the running aggregate is not as it was at the end
	zoneFirst                 // those near; all if the partition's first row changes
	zoneLast                  // those near; all if its last row changes
	zoneNth                   // those near; all if one of the first k rows changes
	zoneGap                   // those near it, or near the row before or after it: the value is that of the nearest row beyond a distance
	zoneAll                   // all
)

// needsSums says whether the summaries of the partition are needed for it.
func (z zone) needsSums() bool { return z != zoneNear && z != zoneAll }

// constant gives the value of an integer constant that is not NULL.
func constant(e plan.Expr) (int64, bool) {
	c, ok := e.(*plan.Const)
	if !ok || c.Val.Null || c.Val.I < -farthest || c.Val.I > farthest {
		return 0, false
	}
	return c.Val.I, true
}

// rankZone completes the zone of a function without a frame.
func (f *function) rankZone(n *plan.OverFunc) {
	switch f.zone {
	case zoneTile:
		var ok bool
		if f.k, ok = constant(n.Args[0]); !ok || f.k <= 0 {
			f.zone = zoneAll
		}
	case zoneNear: // lag and lead
		f.near = 1
		if len(n.Args) > 1 {
			k, ok := constant(n.Args[1])
			if f.near = int(max(k, -k)); !ok {
				f.zone = zoneAll
			}
		}
	}
}

// valueZone sets the zone of first_value, last_value and nth_value.
func (f *function) valueZone(n *plan.OverFunc) {
	fromStart, toEnd := f.frame.unbounded()
	f.zone = f.frame.nearZone()
	if f.frame.exclude != "" {
		return
	}
	switch name := n.Fn.Name; {
	case f.frame.far():
		f.zone = zoneAll
	case name == "first_value" && fromStart:
		f.zone = zoneFirst
	case name == "last_value" && toEnd:
		f.zone = zoneLast
	case name != "nth_value":
		f.zone = zoneNear // the other end does not matter, or is near too
		if (fromStart || toEnd) && f.frame.mode == "range" && f.frame.value != nil {
			f.zone = zoneGap
		}
	case fromStart || toEnd:
		k, ok := constant(n.Args[1])
		switch {
		case !ok || k <= 0 || !fromStart && f.frame.mode != "rows":
			f.zone = zoneAll
		case fromStart:
			f.zone, f.k = zoneNth, k
		default:
			f.zone, f.near = zoneNear, int(k)
		}
	}
}

// unbounded says at which ends a frame has no bound.
func (f *frame) unbounded() (fromStart, toEnd bool) {
	return f.start.kind == "unbounded preceding", f.end.kind == "unbounded following"
}

// far says whether an end of the frame is farther off than partitions are computed in parts for.
func (f *frame) far() bool {
	return f.mode != "range" && (f.start.n > farthest || f.end.n > farthest)
}

// nearZone is the zone of a frame both ends of which are near its row.
func (f *frame) nearZone() zone {
	fromStart, toEnd := f.unbounded()
	if fromStart || toEnd || f.far() {
		return zoneAll
	}
	return zoneNear
}

// reach is how far from a row lie the rows of its frames, other than those up to an end of the partition.
type reach struct {
	any     bool
	rows    int64
	aligned bool // whole peer groups, and
	groups  int64
	ranges  []*frame // rows within one of their offsets, by the sort key
}

// add widens the reach by that of a function.
func (r *reach) add(f *function) {
	r.rows = max(r.rows, int64(f.near))
	r.any = r.any || f.near > 0
	fr := f.frame
	if fr == nil || f.zone == zoneTotal {
		return
	}
	r.any = true
	for _, b := range []bound{fr.start, fr.end} {
		offset := b.kind == "preceding" || b.kind == "following"
		switch {
		case fr.mode == "rows" && offset:
			r.rows = max(r.rows, b.n+int64(f.near))
		case fr.mode == "groups" && offset:
			r.aligned, r.groups = true, max(r.groups, b.n)
		case fr.mode != "rows" && (offset || b.kind == "current row"):
			r.aligned = true
		}
	}
	if fr.value != nil {
		r.ranges = append(r.ranges, fr)
	}
}

// within says whether row k, which comes after row i in order, is no farther from it than one of the frame's offsets.
func (f *frame) within(p *pair) bool {
	if p.v.IsNull(0) || p.v.IsNull(1) {
		return false // peers, or out of each other's frames
	}
	for _, b := range []bound{f.start, f.end} {
		switch b.kind {
		case "preceding", "following":
		default:
			continue
		}
		c := compareMoved(p.v, 1, 0, b, f.desc) // the later row with the earlier one moved on
		d := compareMoved(p.v, 0, 1, b, !f.desc)
		if f.desc {
			c, d = -c, -d
		}
		if c <= 0 || d >= 0 {
			return true
		}
	}
	return false
}
