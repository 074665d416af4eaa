package over

import (
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
)

// farthest is the greatest number of rows or groups within which a partition is computed in parts.
const farthest = 1 << 20

// contextRows is the number of rows around those that are computed up to which they are read for wide frames.
var contextRows int64 = 256

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
	zoneWide                  // those near, of which there may be many more in a frame than change: see wide.go
	zoneAll                   // all
)

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
		k := int64(1)
		if len(n.Args) > 1 {
			var ok bool
			if k, ok = constant(n.Args[1]); !ok {
				f.zone = zoneAll
			}
		}
		if n.Fn.Name == "lead" {
			k = -k
		}
		f.lookBack, f.lookAhead = max(k, 0), max(-k, 0)
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
	case name != "nth_value" && (fromStart || toEnd):
		f.zone = zoneNear // the unbounded end does not matter
		if f.frame.value != nil {
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
			f.zone, f.lookAhead = zoneNear, k
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
	switch {
	case fromStart || toEnd || f.far():
		return zoneAll
	case f.exclude == "" && (f.value != nil || f.mode == "rows" && max(f.start.n, f.end.n) > contextRows):
		return zoneWide
	}
	return zoneNear
}

// reach is how far from a row lie the rows in one direction that its values depend on, other than those up to an end of the partition.
type reach struct {
	rows    int64
	aligned bool // whole peer groups, and
	groups  int64
	ranges  []rangeReach
}

// rangeReach is rows within the offset of a frame's bound, by the sort key.
type rangeReach struct {
	f *frame
	b bound
}

// reaches is how far rows look back and ahead.
type reaches struct {
	any         bool
	back, ahead reach
}

// add widens the reaches by those of a function.
func (r *reaches) add(f *function) {
	if f.lookBack > 0 || f.lookAhead > 0 {
		r.any = true
		r.back.rows, r.ahead.rows = max(r.back.rows, f.lookBack), max(r.ahead.rows, f.lookAhead)
	}
	fr := f.frame
	if fr == nil || f.zone == zoneTotal {
		return
	}
	r.any = true
	for _, b := range []bound{fr.start, fr.end} {
		if b.kind == "current row" && fr.mode != "rows" {
			r.back.aligned, r.ahead.aligned = true, true
		}
		to := &r.back
		switch b.kind {
		case "following":
			to = &r.ahead
		case "preceding":
		default:
			continue
		}
		switch fr.mode {
		case "rows":
			to.rows = max(to.rows, rowenc.AddSat(b.n, f.lookAhead))
		case "groups":
			r.back.aligned, r.ahead.aligned = true, true
			to.groups = max(to.groups, b.n)
		default:
			r.back.aligned, r.ahead.aligned = true, true
			to.ranges = append(to.ranges, rangeReach{fr, b})
		}
	}
}

// within says of a row and a later one, in order, whether the one that looks at the other, by the bound's direction, sees it.
func (r rangeReach) within(p *pair) bool {
	if p.v.IsNull(0) || p.v.IsNull(1) {
		return false // peers, or out of each other's frames
	}
	var c int
	if r.b.kind == "following" {
		c = -compareMoved(p.v, 1, 0, r.b, r.f.desc) // the later row with the earlier one moved on
	} else {
		c = compareMoved(p.v, 0, 1, r.b, !r.f.desc)
	}
	if r.f.desc {
		c = -c
	}
	return c >= 0
}
