package over

import (
	"math"
	"math/bits"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// accumulator holds the rows of a frame for an aggregate. Rows are removed in the order in which they were added. arg is the
// argument's column, nil for count(*).
type accumulator interface {
	reset()
	add(arg *batch.Vector, i int)
	remove(arg *batch.Vector, i int)
	// result appends the aggregate to dst, NULL if there is an error.
	result(arg, dst *batch.Vector) *sqlerr.Error
}

// newAccumulator makes the accumulator of an aggregate by its name, for arguments of type t.
func newAccumulator(name string, t types.Type) (accumulator, error) {
	switch {
	case name == "count":
		return &counter{}, nil
	case name == "min", name == "max":
		return &extreme{max: name == "max"}, nil
	case name != "sum" && name != "avg":
	case t.Kind.IsInt():
		return &intSum{avg: name == "avg", wide: t.Kind == types.Int8}, nil
	case t.Kind == types.Numeric:
		return &numSum{avg: name == "avg", scales: map[int]int{}}, nil
	case t.Layout() == types.LayoutF64:
		return &floatSum{avg: name == "avg", single: t.Kind == types.Float4}, nil
	default:
		return nil, sqlerr.Unsupported("aggregate %s(%s) is not supported as a window function", name, t)
	}
	return nil, sqlerr.Unsupported("aggregate %s is not supported as a window function", name)
}

// counter is count.
type counter struct{ n int64 }

func (c *counter) reset() { c.n = 0 }
func (c *counter) add(arg *batch.Vector, i int) {
	if arg == nil || !arg.IsNull(i) {
		c.n++
	}
}
func (c *counter) remove(arg *batch.Vector, i int) {
	if arg == nil || !arg.IsNull(i) {
		c.n--
	}
}
func (c *counter) result(_, dst *batch.Vector) *sqlerr.Error {
	dst.AppendInt(c.n)
	return nil
}

// extreme is min or max: a queue of the rows that are still to be the extreme, which is its first.
type extreme struct {
	max   bool
	queue []int
}

func (e *extreme) reset() { e.queue = e.queue[:0] }
func (e *extreme) add(arg *batch.Vector, i int) {
	if arg.IsNull(i) {
		return
	}
	d := arg.Datum(i)
	for n := len(e.queue); n > 0; n = len(e.queue) {
		c := types.Compare(arg.Type, arg.Datum(e.queue[n-1]), d)
		if e.max {
			c = -c
		}
		if c < 0 { // of equal ones that differ (1 and 1.0) the last is the result, as in PostgreSQL
			break
		}
		e.queue = e.queue[:n-1]
	}
	e.queue = append(e.queue, i)
}
func (e *extreme) remove(_ *batch.Vector, i int) {
	if len(e.queue) > 0 && e.queue[0] == i {
		e.queue = e.queue[1:]
	}
}
func (e *extreme) result(arg, dst *batch.Vector) *sqlerr.Error {
	if len(e.queue) == 0 {
		dst.AppendNull()
		return nil
	}
	dst.AppendFrom(arg, e.queue[0])
	return nil
}

// intSum is sum or avg of integers, in 128 bits.
type intSum struct {
	avg, wide bool // wide: the sum is numeric
	n         int64
	hi        int64
	lo        uint64
}

func (s *intSum) reset() { s.n, s.hi, s.lo = 0, 0, 0 }
func (s *intSum) add(arg *batch.Vector, i int) {
	if arg.IsNull(i) {
		return
	}
	s.n++
	x := arg.I64[i]
	s.addWide(x>>63, uint64(x))
}

// addWide adds hi * 2^64 + lo.
func (s *intSum) addWide(hi int64, lo uint64) {
	lo, c := bits.Add64(s.lo, lo, 0)
	s.lo, s.hi = lo, s.hi+hi+int64(c)
}
func (s *intSum) remove(arg *batch.Vector, i int) {
	if arg.IsNull(i) {
		return
	}
	s.n--
	x := arg.I64[i]
	lo, b := bits.Sub64(s.lo, uint64(x), 0)
	s.lo, s.hi = lo, s.hi-x>>63-int64(b)
}

// num gives the sum as a numeric: hi * 2^64 + lo.
func (s *intSum) num() types.Num {
	if s.hi == int64(s.lo)>>63 {
		return types.FromInt64(int64(s.lo))
	}
	two32 := types.FromInt64(1 << 32)
	high, _ := types.FromInt64(s.hi).Mul(two32)
	high, _ = high.Add(types.FromInt64(int64(s.lo >> 32))).Mul(two32)
	return high.Add(types.FromInt64(int64(s.lo & math.MaxUint32)))
}

func (s *intSum) result(_, dst *batch.Vector) *sqlerr.Error {
	switch {
	case s.n == 0:
		dst.AppendNull()
	case s.avg:
		return appendQuotient(dst, s.num(), s.n)
	case s.wide:
		dst.AppendDatum(s.num().Datum())
	case s.hi != int64(s.lo)>>63:
		dst.AppendNull()
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "bigint out of range")
	default:
		dst.AppendInt(int64(s.lo))
	}
	return nil
}

func appendQuotient(dst *batch.Vector, sum types.Num, n int64) *sqlerr.Error {
	q, err := sum.Div(types.FromInt64(n))
	if err != nil {
		dst.AppendNull()
		return sqlerr.From(err)
	}
	dst.AppendDatum(q.Datum())
	return nil
}

// specials counts the values that are not finite, which can't be subtracted again.
type specials struct{ nan, pos, neg int }

// numSum is sum or avg of numeric. The scale of the sum is the greatest of its operands', so they are counted by scale.
type numSum struct {
	avg    bool
	n      int64
	sum    types.Num
	scales map[int]int
	specials
}

func (s *numSum) reset() {
	s.n, s.sum, s.specials = 0, types.Num{}, specials{}
	clear(s.scales)
}
func (s *numSum) add(arg *batch.Vector, i int)    { s.change(arg, i, 1) }
func (s *numSum) remove(arg *batch.Vector, i int) { s.change(arg, i, -1) }
func (s *numSum) change(arg *batch.Vector, i, by int) {
	if arg.IsNull(i) {
		return
	}
	s.n += int64(by)
	x := types.NumDecode(arg.Bytes(i))
	switch {
	case x.IsNaN():
		s.nan += by
	case x.IsInf() && x.Sign() > 0:
		s.pos += by
	case x.IsInf():
		s.neg += by
	default:
		if s.scales[x.Scale()] += by; s.scales[x.Scale()] == 0 {
			delete(s.scales, x.Scale())
		}
		if by < 0 {
			x = x.Neg()
		}
		s.sum = s.sum.Add(x)
	}
}
func (s *numSum) result(_, dst *batch.Vector) *sqlerr.Error {
	if s.n == 0 {
		dst.AppendNull()
		return nil
	}
	sum := s.sum
	switch {
	case s.nan > 0 || s.pos > 0 && s.neg > 0:
		sum = types.NumNaN
	case s.pos > 0:
		sum = types.NumInf
	case s.neg > 0:
		sum = types.NumNegInf
	default:
		sum = sum.Trunc(s.scale())
	}
	if s.avg {
		return appendQuotient(dst, sum, s.n)
	}
	dst.AppendDatum(sum.Datum())
	return nil
}

// floatSum is sum or avg of floats, exact and so free of order: the sum is held as parts that do not overlap (Shewchuk's
// expansions), from which values can be taken away again without a trace.
type floatSum struct {
	avg, single bool
	n           int64
	parts       []float64 // by ascending magnitude
	specials
}

func (s *floatSum) reset() { s.n, s.parts, s.specials = 0, s.parts[:0], specials{} }
func (s *floatSum) add(arg *batch.Vector, i int) {
	if !arg.IsNull(i) {
		s.change(arg.F64[i], 1)
	}
}
func (s *floatSum) remove(arg *batch.Vector, i int) {
	if !arg.IsNull(i) {
		s.change(arg.F64[i], -1)
	}
}
func (s *floatSum) change(x float64, by int) {
	s.n += int64(by)
	switch {
	case x != x:
		s.nan += by
	case math.IsInf(x, 1):
		s.pos += by
	case math.IsInf(x, -1):
		s.neg += by
	default:
		s.grow(x * float64(by))
	}
}

// grow adds x to the parts.
func (s *floatSum) grow(x float64) {
	kept := s.parts[:0]
	for _, y := range s.parts {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		hi := x + y
		if lo := y - (hi - x); lo != 0 {
			kept = append(kept, lo)
		}
		x = hi
	}
	if x != 0 {
		kept = append(kept, x)
	}
	s.parts = kept
}

// total rounds the parts once, to even.
func (s *floatSum) total() float64 {
	n := len(s.parts) - 1
	if n < 0 {
		return 0
	}
	hi, lo := s.parts[n], 0.0
	for n > 0 {
		x := hi
		n--
		y := s.parts[n]
		hi = x + y
		if lo = y - (hi - x); lo != 0 {
			break
		}
	}
	// Half an ulp with more of the same sign beneath is rounded away.
	if n > 0 && (lo < 0) == (s.parts[n-1] < 0) && lo != 0 {
		y := lo * 2
		if x := hi + y; y == x-hi {
			hi = x
		}
	}
	return hi
}

func (s *floatSum) result(_, dst *batch.Vector) *sqlerr.Error {
	var r float64
	switch {
	case s.n == 0:
		dst.AppendNull()
		return nil
	case s.nan > 0 || s.pos > 0 && s.neg > 0:
		r = math.NaN()
	case s.pos > 0:
		r = math.Inf(1)
	case s.neg > 0:
		r = math.Inf(-1)
	default:
		r = s.total()
		if math.IsInf(r, 0) || s.single && !s.avg && math.IsInf(float64(float32(r)), 0) {
			dst.AppendNull()
			return sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow")
		}
	}
	if s.avg {
		r /= float64(s.n)
	} else if s.single {
		r = float64(float32(r))
	}
	dst.AppendFloat(r)
	return nil
}
