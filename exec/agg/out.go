package agg

import (
	"math"
	"math/big"
	"slices"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// rowsOut is count(*).
type rowsOut struct{}

func (rowsOut) emit(t *target, slots []int32, v *batch.Vector, _ failFunc) {
	appendWords(t, slots, wordRows, v)
}

// countOut is count(x), or count(*) with a filter.
type countOut struct{ cnt tally }

func (o countOut) emit(t *target, slots []int32, v *batch.Vector, _ failFunc) {
	if rare, _ := t.h.Rare(); o.cnt.off >= 0 || rare == nil {
		appendWords(t, slots, max(o.cnt.off, wordRows), v)
		return
	}
	out := v.AppendInts(len(slots))
	for i, s := range slots {
		out[i] = o.cnt.of(t, s)
	}
}

// appendWords appends one word of entries.
func appendWords(t *target, slots []int32, off int, v *batch.Vector) {
	words, w := t.h.WordsAll()
	out := v.AppendInts(len(slots))
	for i, s := range slots {
		out[i] = words[int(s)*w+off]
	}
}

func outOfRange(name string) *sqlerr.Error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", name)
}

// sumIntOut is sum of an integer, as bigint or numeric.
type sumIntOut struct {
	sum    pairSum
	cnt    tally
	bigint bool
}

func (o sumIntOut) emit(t *target, slots []int32, v *batch.Vector, fail failFunc) {
	base := v.N
	if !o.bigint {
		v.Off = slices.Grow(v.Off, len(slots))
		nulls := false
		for _, s := range slots {
			if e, rare := t.entry(s); o.cnt.count(e, rare) > 0 {
				v.Data = appendNumeric(v.Data, uint64(e[o.sum.off]), uint64(o.sum.high(e, rare)), 0)
			} else {
				nulls = true
			}
			v.Off = append(v.Off, uint32(len(v.Data)))
		}
		v.Appended(len(slots))
		if !nulls {
			return
		}
	} else {
		out := v.AppendInts(len(slots))
		for k, s := range slots {
			out[k] = t.word(s, o.sum.off)
		}
	}
	for k, s := range slots {
		e, rare := t.entry(s)
		n, over := o.cnt.count(e, rare), o.bigint && o.sum.high(e, rare) != e[o.sum.off]>>63
		if n > 0 && !over {
			continue
		}
		v.SetNull(base + k)
		if o.bigint {
			v.I64[base+k] = 0
		}
		if n > 0 {
			fail(k, outOfRange("bigint"))
		}
	}
}

// avgIntOut is avg of an integer.
type avgIntOut struct {
	sum pairSum
	cnt tally
}

func (o avgIntOut) emit(t *target, slots []int32, v *batch.Vector, fail failFunc) {
	var buf [24]byte
	for k, s := range slots {
		n := o.cnt.of(t, s)
		if n <= 0 {
			v.AppendNull()
			continue
		}
		lo, hi := o.sum.of(t, s)
		sum := types.NumDecode(appendNumeric(buf[:0], uint64(lo), uint64(hi), 0))
		appendQuotient(v, sum, n, k, fail)
	}
}

// appendQuotient appends sum / n.
func appendQuotient(v *batch.Vector, sum types.Num, n int64, k int, fail failFunc) {
	var buf [64]byte
	q, err := sum.Div(types.FromInt64(n))
	if err != nil {
		v.AppendNull()
		fail(k, sqlerr.From(err))
		return
	}
	v.AppendBytes(q.AppendTo(buf[:0]))
}

// numericSumOut is sum or avg of a numeric.
type numericSumOut struct {
	sum *numericCell
	cnt tally
	avg bool
}

func (o numericSumOut) emit(t *target, slots []int32, v *batch.Vector, fail failFunc) {
	var buf [64]byte
	for k, s := range slots {
		n := o.cnt.of(t, s)
		if n <= 0 {
			v.AppendNull()
			continue
		}
		b := o.sum.appendSum(t, s, buf[:0])
		if o.avg {
			appendQuotient(v, types.NumDecode(b), n, k, fail)
		} else {
			v.AppendBytes(b)
		}
	}
}

var errFloatOverflow = sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow")

// floatSumOut is sum or avg of a float.
type floatSumOut struct {
	sum    *floatCell
	cnt    tally
	format floatFormat
	avg    bool
}

func (o floatSumOut) emit(t *target, slots []int32, v *batch.Vector, fail failFunc) {
	var buf [80]uint64
	for k, s := range slots {
		n := o.cnt.of(t, s)
		if n <= 0 {
			v.AppendNull()
			continue
		}
		x, f, special := o.sum.sum(t, s, buf[:0])
		if !special {
			d := uint64(1)
			if o.avg {
				d = uint64(n)
			}
			if f = x.div(d, o.format); math.IsInf(f, 0) {
				v.AppendNull()
				fail(k, errFloatOverflow)
				continue
			}
		}
		v.AppendFloat(f)
	}
}

// extremeOut is min or max of a fixed-width value over append-only input.
type extremeOut struct {
	c   *extremeCell
	cnt tally
}

func (o extremeOut) emit(t *target, slots []int32, v *batch.Vector, _ failFunc) {
	if o.c.float {
		for _, s := range slots {
			if e, rare := t.entry(s); o.cnt.count(e, rare) > 0 {
				v.AppendFloat(orderFloat(o.c.decode(e[o.c.off])))
			} else {
				v.AppendNull()
			}
		}
		return
	}
	base := v.N
	out := v.AppendInts(len(slots))
	for k, s := range slots {
		if e, rare := t.entry(s); o.cnt.count(e, rare) > 0 {
			out[k] = int64(o.c.decode(e[o.c.off]) ^ signBit)
		} else {
			out[k] = 0
			v.SetNull(base + k)
		}
	}
}

// extremeWideOut is min or max of any other value over append-only input.
type extremeWideOut struct{ c *extremeWideCell }

func (o extremeWideOut) emit(t *target, slots []int32, v *batch.Vector, _ failFunc) {
	for _, s := range slots {
		if f := t.field(s, o.c.field); len(f) == 0 {
			v.AppendNull()
		} else {
			v.AppendDatum(readField(o.c.typ, f))
		}
	}
}

// extremeSetOut is min or max over input that may be taken back.
type extremeSetOut struct {
	set  *setCell
	cnt  tally
	most bool
}

func (o extremeSetOut) emit(t *target, slots []int32, v *batch.Vector, _ failFunc) {
	for _, s := range slots {
		if o.cnt.of(t, s) > 0 {
			if d, ok := o.set.first(t, s, o.most); ok {
				v.AppendDatum(d)
				continue
			}
		}
		v.AppendNull()
	}
}

// boolOut is bool_and or bool_or.
type boolOut struct {
	trues int
	cnt   tally
	or    bool
}

func (o boolOut) emit(t *target, slots []int32, v *batch.Vector, _ failFunc) {
	for _, s := range slots {
		n, m := o.cnt.of(t, s), t.word(s, o.trues)
		switch {
		case n <= 0:
			v.AppendNull()
		case o.or && m > 0 || !o.or && m == n:
			v.AppendInt(1)
		default:
			v.AppendInt(0)
		}
	}
}

// bitOut is bit_and or bit_or over append-only input, or bit_xor.
type bitOut struct {
	c   *bitCell
	cnt tally
}

func (o bitOut) emit(t *target, slots []int32, v *batch.Vector, _ failFunc) {
	for _, s := range slots {
		x := t.word(s, o.c.off)
		if o.c.op == '&' {
			x = ^x
		}
		if o.cnt.of(t, s) <= 0 {
			v.AppendNull()
		} else {
			v.AppendInt(x)
		}
	}
}

// bitSetOut is bit_and or bit_or over input that may be taken back.
type bitSetOut struct {
	set *setCell
	cnt tally
	op  byte
}

func (o bitSetOut) emit(t *target, slots []int32, v *batch.Vector, _ failFunc) {
	for _, s := range slots {
		if o.cnt.of(t, s) <= 0 {
			v.AppendNull()
			continue
		}
		and, or := int64(-1), int64(0)
		o.set.each(t, s, func(_ int64, a []types.Datum) bool {
			and, or = and&a[0].I, or|a[0].I
			return true
		})
		if o.op == '&' {
			v.AppendInt(and)
		} else {
			v.AppendInt(or)
		}
	}
}

// varianceKind says which of the variance family is asked for.
type varianceKind struct{ pop, root bool }

// varIntOut is a variance of integers.
type varIntOut struct {
	sum     pairSum
	squares int
	cnt     tally
	varianceKind
}

func (o varIntOut) emit(t *target, slots []int32, v *batch.Vector, fail failFunc) {
	for k, s := range slots {
		n := o.cnt.of(t, s)
		if n <= 0 || !o.pop && n == 1 {
			v.AppendNull()
			continue
		}
		q := t.at(s, o.squares, 3)
		lo, hi := o.sum.of(t, s)
		sq := int128(q[1], q[2])
		sq.Add(sq.Lsh(sq, 64), new(big.Int).SetUint64(uint64(q[0])))
		o.append(v, int128(lo, hi), sq, n, 0, k, fail)
	}
}

// append appends the variance of n numbers with a sum at a scale and a sum of squares at twice that, as
// PostgreSQL's numeric_stddev_internal computes it.
func (o varianceKind) append(v *batch.Vector, sum, squares *big.Int, n int64, scale int, k int, fail failFunc) {
	bn := big.NewInt(n)
	num := new(big.Int).Mul(bn, squares)
	num.Sub(num, new(big.Int).Mul(sum, sum))
	var buf [64]byte
	if num.Sign() <= 0 {
		v.AppendBytes(types.FromInt64(0).AppendTo(buf[:0]))
		return
	}
	den := new(big.Int).Mul(bn, bn)
	if !o.pop {
		den.Sub(den, bn)
	}
	r, err := numOf(num, 2*scale, 2*scale).Div(numOf(den, 0, 0))
	if err != nil {
		v.AppendNull()
		fail(k, sqlerr.From(err))
		return
	}
	b := r.AppendTo(buf[:0])
	if o.root {
		b = appendRoot(nil, coefBig(b), r.Scale())
	}
	v.AppendBytes(b)
}

// appendRoot appends the square root of x * 10^-scale, rounded at that scale.
func appendRoot(dst []byte, x *big.Int, scale int) []byte {
	x.Mul(x, bigPow10(scale))
	r := new(big.Int).Sqrt(x)
	// Half away from zero: up where x > r*(r+1), as (r + 1/2)^2 = r*(r+1) + 1/4.
	if x.Sub(x, new(big.Int).Mul(r, r)).Cmp(r) > 0 {
		r.Add(r, big.NewInt(1))
	}
	return appendBigNumeric(dst, r, scale)
}

// varNumericOut is a variance of numerics.
type varNumericOut struct {
	c   *numericSquaresCell
	cnt tally
	varianceKind
}

func (o varNumericOut) emit(t *target, slots []int32, v *batch.Vector, fail failFunc) {
	for k, s := range slots {
		n := o.cnt.of(t, s)
		if n <= 0 || !o.pop && n == 1 {
			v.AppendNull()
			continue
		}
		ns := readNumSum(t.field(s, o.c.field), true)
		if ns.isSpecial() {
			v.AppendBytes(types.NumNaN.AppendTo(nil))
			continue
		}
		// PostgreSQL works at the largest scale among the values.
		d := ns.display()
		sum := numOf(ns.sum, ns.scale, d).AppendTo(nil)
		sq := new(big.Int).Set(ns.squares)
		if ns.scale > d {
			sq.Quo(sq, bigPow10(2*(ns.scale-d)))
		}
		o.append(v, coefBig(sum), sq, n, d, k, fail)
	}
}

// moments gives n*sum(xy) - sum(x)*sum(y) as an integer times 2^e.
func moments(n int64, sxy, sx, sy exact) (*big.Int, int) {
	p := new(big.Int).Mul(sx.big(), sy.big())
	q := sxy.big()
	q.Mul(q, big.NewInt(n))
	ep, eq := sx.base+sy.base, sxy.base
	if d := eq - ep; d > 0 {
		q.Lsh(q, uint(d))
		eq = ep
	} else {
		p.Lsh(p, uint(-d))
	}
	return q.Sub(q, p), eq
}

// varFloatOut is a variance of floats.
type varFloatOut struct {
	sum, squares *floatCell
	cnt          tally
	varianceKind
}

func (o varFloatOut) emit(t *target, slots []int32, v *batch.Vector, fail failFunc) {
	var b1, b2 [80]uint64
	for k, s := range slots {
		n := o.cnt.of(t, s)
		if n <= 0 || !o.pop && n == 1 {
			v.AppendNull()
			continue
		}
		sx, _, special := o.sum.sum(t, s, b1[:0])
		sxx, _, _ := o.squares.sum(t, s, b2[:0])
		if special {
			v.AppendFloat(math.NaN())
			continue
		}
		num, e := moments(n, sxx, sx, sx)
		den := big.NewInt(n)
		if o.pop {
			den.Mul(den, den)
		} else {
			den.Mul(den, big.NewInt(n-1))
		}
		f := ratio(num, den, e)
		if math.IsInf(f, 0) {
			v.AppendNull()
			fail(k, errFloatOverflow)
			continue
		}
		if o.root {
			f = math.Sqrt(f)
		}
		v.AppendFloat(f)
	}
}

// intervalOut is sum or avg of an interval.
type intervalOut struct {
	sum int
	cnt tally
	avg bool
}

func (o intervalOut) emit(t *target, slots []int32, v *batch.Vector, fail failFunc) {
	for k, s := range slots {
		n := o.cnt.of(t, s)
		if n <= 0 {
			v.AppendNull()
			continue
		}
		p := t.at(s, o.sum, 4)
		d := types.IntervalDatum(int32(p[0]), int32(p[1]), p[2])
		ok := p[0] == int64(int32(p[0])) && p[1] == int64(int32(p[1])) && p[3] == p[2]>>63
		if ok && o.avg {
			d, ok = scaleInterval(d, func(x float64) float64 { return x / float64(n) })
		}
		if !ok {
			v.AppendNull()
			fail(k, sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range"))
			continue
		}
		v.AppendPair(d.I, d.J)
	}
}

// scaleInterval multiplies or divides an interval as PostgreSQL's interval_mul and interval_div do: what is
// left of months goes to days and of days to microseconds.
func scaleInterval(d types.Datum, f func(float64) float64) (types.Datum, bool) {
	const daysPerMonth, secsPerDay = 30, 86400
	round := func(x float64) float64 { return math.RoundToEven(x*1e6) / 1e6 }
	months, days, micros := types.IntervalParts(d.I, d.J)
	m, dd := f(float64(months)), f(float64(days))
	if math.Abs(m) > math.MaxInt32 || math.Abs(dd) > math.MaxInt32 {
		return d, false
	}
	im, id := math.Trunc(m), math.Trunc(dd)
	restDays := round((m - im) * daysPerMonth)
	restSecs := round((dd - id + restDays - math.Trunc(restDays)) * secsPerDay)
	if math.Abs(restSecs) >= secsPerDay {
		whole := math.Trunc(restSecs / secsPerDay)
		id += whole
		restSecs -= whole * secsPerDay
	}
	id += math.Trunc(restDays)
	us := math.RoundToEven(f(float64(micros)) + restSecs*1e6)
	if math.Abs(us) >= math.MaxInt64 || math.Abs(id) > math.MaxInt32 {
		return d, false
	}
	return types.IntervalDatum(int32(im), int32(id), int64(us)), true
}

// hllOut is approx_count_distinct over append-only input.
type hllOut struct{ c *hllCell }

func (o hllOut) emit(t *target, slots []int32, v *batch.Vector, _ failFunc) {
	for _, s := range slots {
		v.AppendInt(o.c.estimate(t, s))
	}
}

// ddOut is approx_percentile.
type ddOut struct {
	c     *ddCell
	cnt   tally
	fracs fractions
}

func (o ddOut) emit(t *target, slots []int32, v *batch.Vector, _ failFunc) {
	for _, s := range slots {
		n := o.cnt.of(t, s)
		if n <= 0 {
			v.AppendNull()
			continue
		}
		o.fracs.append(v, types.Of(types.Float8), func(p float64) (types.Datum, bool) {
			return types.FloatDatum(o.c.quantile(t, s, p, n)), true
		})
	}
}
