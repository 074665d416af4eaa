package over

import (
	"math"
	"sort"

	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// frame is a compiled plan.Frame.
type frame struct {
	mode       string
	start, end bound
	exclude    string
	value      *rowenc.Exprs // range with an offset: the sort key
	desc       bool
	nullsFirst bool
}

// bound is one end of a frame: a kind, and for PRECEDING and FOLLOWING an offset.
type bound struct {
	kind string
	n    int64 // of rows or groups, or of the sort key if that is an integer or a time (microseconds)
	f    float64
	num  types.Num
}

// SQLSTATE of a frame offset that makes no sense.
const invalidFrameSize sqlerr.Code = "22013"

// newFrame compiles a frame. An empty one is the default: from the start of the partition to the last peer.
func newFrame(f plan.Frame, keys []plan.SortKey, in []types.Type, env *kernel.Env) (*frame, error) {
	if f.Mode == "" {
		f.Mode, f.Start.Kind, f.End.Kind = "range", "unbounded preceding", "current row"
	}
	fr := &frame{mode: f.Mode, exclude: f.Exclude}
	if fr.exclude == "no others" {
		fr.exclude = ""
	}
	if f.Mode != "rows" && len(keys) == 0 { // all rows are peers
		if f.Start.Kind == "current row" {
			f.Start.Kind = "unbounded preceding"
		}
		if f.End.Kind == "current row" {
			f.End.Kind = "unbounded following"
		}
	}
	for _, b := range []struct {
		from plan.FrameBound
		to   *bound
		name string
	}{{f.Start, &fr.start, "starting"}, {f.End, &fr.end, "ending"}} {
		b.to.kind = b.from.Kind
		if b.from.Kind != "preceding" && b.from.Kind != "following" {
			continue
		}
		if f.Mode == "range" {
			if len(keys) != 1 {
				return nil, sqlerr.New(sqlerr.WindowingError, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
			}
			var err error
			if fr.value, err = rowenc.Compile([]plan.Expr{keys[0].X}, in); err != nil {
				return nil, err
			}
			fr.desc, fr.nullsFirst = keys[0].Desc, keys[0].NullsFirst
		}
		if err := b.to.readOffset(f.Mode, b.from.Offset, b.name, fr.value, env); err != nil {
			return nil, err
		}
	}
	return fr, nil
}

// readOffset evaluates a constant offset.
func (b *bound) readOffset(mode string, e plan.Expr, name string, key *rowenc.Exprs, env *kernel.Env) error {
	k, err := kernel.Compile(e, nil)
	if err != nil {
		return err
	}
	v, failed := k.Eval(env, &batch.Batch{N: 1}, nil)
	if len(failed) > 0 {
		return failed[0].Err
	}
	d := v.Datum(0)
	if d.Null {
		return sqlerr.New(sqlerr.NullValueNotAllowed, "frame %s offset must not be null", name)
	}
	negative := false
	switch t := e.Type(); {
	case t.Kind.IsInt():
		b.n, b.f, b.num = d.I, float64(d.I), types.FromInt64(d.I)
		negative = d.I < 0
	case mode != "range":
		return sqlerr.New(sqlerr.DatatypeMismatch, "argument of %s must be type bigint, not type %s", mode, t)
	case t.Layout() == types.LayoutF64:
		b.f = d.F
		negative = d.F < 0 || d.F != d.F
	case t.Kind == types.Numeric:
		b.num = types.NumDecode(d.B)
		negative = b.num.Sign() < 0 || b.num.IsNaN()
	case t.Kind == types.Interval:
		months, days, us := types.IntervalParts(d.I, d.J)
		if months != 0 {
			return sqlerr.Unsupported("RANGE with an offset in months is not supported")
		}
		b.n = int64(days)*rowenc.MicrosPerDay + us
		negative = b.n < 0
	default:
		return sqlerr.Unsupported("RANGE with an offset of type %s is not supported", t)
	}
	if negative && mode == "range" {
		return sqlerr.New(invalidFrameSize, "invalid preceding or following size in window function")
	}
	if negative {
		return sqlerr.New(invalidFrameSize, "frame %s offset must not be negative", name)
	}
	if key == nil || mode != "range" {
		return nil
	}
	switch kt := key.Types[0]; {
	case kt.Kind.IsInt() && e.Type().Kind.IsInt(), kt.Kind.IsTime() && e.Type().Kind == types.Interval,
		kt.Layout() == types.LayoutF64 && e.Type().Layout() == types.LayoutF64, kt.Kind == types.Numeric && e.Type().Kind == types.Numeric:
		return nil
	}
	return sqlerr.Unsupported("RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset type %s", key.Types[0], e.Type())
}

// frames are the frames of a partition's rows: row i's is [lo[i], hi[i]), less what EXCLUDE takes out.
type frames struct {
	p       *partition
	lo, hi  []int
	exclude string
}

// of computes the frames of a partition.
func (f *frame) of(p *partition, env *kernel.Env) (*frames, error) {
	n := p.b.N
	fs := &frames{p: p, lo: make([]int, n), hi: make([]int, n), exclude: f.exclude}
	var value *batch.Vector
	if f.value != nil {
		vecs, _, err := f.value.Eval(nil, env, p.b)
		if err != nil {
			return nil, err
		}
		value = vecs[0]
	}
	for i := 0; i < n; i++ {
		// Only rows whose values are not wanted have peers beyond those at hand.
		fs.lo[i] = max(f.startOf(p, value, i), 0)
		fs.hi[i] = max(min(f.endOf(p, value, i), n), fs.lo[i])
	}
	return fs, nil
}

func clamp(i int64, n int) int { return int(max(0, min(i, int64(n)))) }

// signed gives the offset as a distance: negative for PRECEDING.
func (b bound) signed() int64 {
	if b.kind == "preceding" {
		return -b.n
	}
	return b.n
}

func (f *frame) startOf(p *partition, value *batch.Vector, i int) int {
	n := p.b.N
	switch f.start.kind {
	case "unbounded preceding":
		return 0
	case "current row":
		if f.mode == "rows" {
			return i
		}
		return p.start[i]
	}
	switch f.mode {
	case "rows":
		return clamp(rowenc.AddSat(int64(i), f.start.signed()), n)
	case "groups":
		return p.groups[clamp(rowenc.AddSat(int64(p.group[i]), f.start.signed()), len(p.groups)-1)]
	}
	if value.IsNull(i) {
		return p.start[i]
	}
	return f.search(value, i, f.start, 0)
}

func (f *frame) endOf(p *partition, value *batch.Vector, i int) int {
	n := p.b.N
	switch f.end.kind {
	case "unbounded following":
		return n
	case "current row":
		if f.mode == "rows" {
			return i + 1
		}
		return p.end[i]
	}
	switch f.mode {
	case "rows":
		return clamp(rowenc.AddSat(rowenc.AddSat(int64(i), f.end.signed()), 1), n)
	case "groups":
		return p.groups[clamp(rowenc.AddSat(rowenc.AddSat(int64(p.group[i]), f.end.signed()), 1), len(p.groups)-1)]
	}
	if value.IsNull(i) {
		return p.end[i]
	}
	return f.search(value, i, f.end, 1)
}

// search gives the first row whose sort key, in the order of the partition, is not before (past 0) or is after (past 1) that of row i moved
// by the bound. NULLs lie together at one end of the partition and belong to no such frame.
func (f *frame) search(v *batch.Vector, i int, b bound, past int) int {
	lo, hi := 0, v.N
	for lo < hi && v.IsNull(lo) {
		lo++
	}
	for hi > lo && v.IsNull(hi-1) {
		hi--
	}
	back := (b.kind == "preceding") != f.desc // the moved key is the key less the offset
	return lo + sort.Search(hi-lo, func(k int) bool {
		c := compareMoved(v, lo+k, i, b, back)
		if f.desc {
			c = -c
		}
		return c >= past
	})
}

// compareMoved compares the value of row k with that of row i plus the offset, or minus it.
func compareMoved(v *batch.Vector, k, i int, b bound, back bool) int {
	a, c := v.Datum(k), v.Datum(i)
	switch {
	case v.Type.Kind == types.Numeric:
		off := b.num
		if back {
			off = off.Neg()
		}
		return types.NumDecode(a.B).Cmp(types.NumDecode(c.B).Add(off))
	case v.Type.Layout() == types.LayoutF64:
		off := b.f
		if back {
			off = -off
		}
		if math.IsInf(c.F, 0) && math.IsInf(off, 0) {
			return types.CompareFloat(a.F, c.F)
		}
		return types.CompareFloat(a.F, c.F+off)
	}
	off := b.n
	if back {
		off = -off
	}
	x, y := rowenc.ScaleTime(v.Type.Kind, a.I), rowenc.ScaleTime(v.Type.Kind, c.I)
	if !(v.Type.Kind.IsTime() && !types.IsFiniteTime(y)) {
		y = rowenc.AddSat(y, off)
	}
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// holds says whether row k, which lies in [lo[i], hi[i]), is in row i's frame.
func (fs *frames) holds(i, k int) bool {
	switch fs.exclude {
	case "current row":
		return k != i
	case "group":
		return k < fs.p.start[i] || k >= fs.p.end[i]
	case "ties":
		return k == i || k < fs.p.start[i] || k >= fs.p.end[i]
	}
	return true
}

// sliding says whether frames have no holes and never move back.
func (fs *frames) sliding() bool {
	if fs.exclude != "" {
		return false
	}
	for i := 1; i < len(fs.lo); i++ {
		if fs.lo[i] < fs.lo[i-1] || fs.hi[i] < fs.hi[i-1] {
			return false
		}
	}
	return true
}
