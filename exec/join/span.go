package join

import (
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// span is what a condition says about two times: right - left lies in [lo, hi] microseconds. State is then ordered by
// time within a join key, so that a row looks only at the other side's rows that are near it in time.
type span struct {
	cols       [2]int // the time columns, each of its own side
	lo, hi     int64
	noLo, noHi bool
}

// term is a time column plus a constant.
type term struct {
	col int
	off int64
}

// findSpan reads a span off comparisons between time columns of the two sides, plus or minus constant intervals, among
// the conjuncts of e. The first pair of columns that is compared decides. It gives nil if there is none.
func findSpan(e plan.Expr, left int) *span {
	var s *span
	for _, c := range conjuncts(e, nil) {
		call, ok := c.(*plan.Call)
		if !ok || len(call.Args) != 2 {
			continue
		}
		op := call.Fn.Name
		a, okA := timeTerm(call.Args[0])
		b, okB := timeTerm(call.Args[1])
		if !okA || !okB || call.Args[0].Type().Kind != call.Args[1].Type().Kind {
			continue
		}
		if a.col >= left {
			a, b, op = b, a, mirrored[op]
		}
		if a.col >= left || b.col < left {
			continue
		}
		// left + a.off op right + b.off
		d := a.off - b.off
		if s == nil {
			s = &span{cols: [2]int{a.col, b.col - left}, noLo: true, noHi: true}
		}
		if s.cols == [2]int{a.col, b.col - left} {
			s.bound(op, d)
		}
	}
	if s == nil || s.noLo && s.noHi {
		return nil
	}
	return s
}

var mirrored = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}

// bound adds left op right - d to the span.
func (s *span) bound(op string, d int64) {
	switch op {
	case "<":
		s.atLeast(d + 1)
	case "<=":
		s.atLeast(d)
	case ">":
		s.atMost(d - 1)
	case ">=":
		s.atMost(d)
	case "=":
		s.atLeast(d)
		s.atMost(d)
	}
}

func (s *span) atLeast(d int64) {
	if s.noLo || d > s.lo {
		s.lo, s.noLo = d, false
	}
}

func (s *span) atMost(d int64) {
	if s.noHi || d < s.hi {
		s.hi, s.noHi = d, false
	}
}

// maxSpanOffset bounds offsets, so that sums of two do not overflow: 10,000 years.
const maxSpanOffset = 10_000 * 366 * rowenc.MicrosPerDay

func timeTerm(e plan.Expr) (term, bool) {
	if c, ok := e.(*plan.Col); ok {
		return term{col: c.Index}, c.Typ.Kind == types.Timestamp || c.Typ.Kind == types.TimestampTZ
	}
	call, ok := e.(*plan.Call)
	if !ok || len(call.Args) != 2 || call.Fn.Name != "+" && call.Fn.Name != "-" {
		return term{}, false
	}
	k, ok := call.Args[1].(*plan.Const)
	if !ok || k.Val.Null || k.Typ.Kind != types.Interval {
		return term{}, false
	}
	t, ok := timeTerm(call.Args[0])
	months, days, us := types.IntervalParts(k.Val.I, k.Val.J)
	if !ok || months != 0 || us > maxSpanOffset || us < -maxSpanOffset {
		return term{}, false
	}
	if days != 0 && e.Type().Kind == types.TimestampTZ {
		return term{}, false // a day's length depends on the time zone
	}
	off := int64(days)*rowenc.MicrosPerDay + us
	if off > maxSpanOffset || off < -maxSpanOffset {
		return term{}, false
	}
	if call.Fn.Name == "-" {
		off = -off
	}
	t.off += off
	return t, t.off <= maxSpanOffset && t.off >= -maxSpanOffset
}

// reach bounds the keys that a row of side port with join key k and time t may match: [lo, hi), in the given buffers.
func (s *span) reach(lo, hi, k []byte, port int, t int64) ([]byte, []byte) {
	from, to, noFrom, noTo := s.lo, s.hi, s.noLo, s.noHi
	if port == 1 {
		from, to, noFrom, noTo = -s.hi, -s.lo, s.noHi, s.noLo
	}
	finite := types.IsFiniteTime(t)
	lo = append(lo[:0], k...)
	if finite && !noFrom {
		lo = rowenc.AppendTime(lo, rowenc.AddSat(t, from))
	}
	if finite && !noTo {
		return lo, rowenc.AfterTime(append(hi[:0], k...), rowenc.AddSat(t, to))
	}
	if hi = rowenc.PrefixEnd(hi, k); hi == nil {
		return lo, nil
	}
	return lo, hi
}
