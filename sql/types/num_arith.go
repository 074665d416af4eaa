package types

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Neg gives -n.
func (n Num) Neg() Num {
	if n.form == numNaN || n.IsZero() {
		return n
	}
	n.neg = !n.neg
	return n
}

// Abs gives the absolute value.
func (n Num) Abs() Num {
	n.neg = false
	return n
}

// rescaled gives n with a display scale of s, which must not be lower than its own.
func (n Num) rescaled(s int32) Num {
	n = n.shiftLeft(int(s - n.scale))
	n.scale = s
	return n
}

// cmpMag compares magnitudes of finite numbers of one scale.
func cmpMag(a, b Num) int {
	if a.wide != nil || b.wide != nil {
		return a.mag().Cmp(b.mag())
	}
	switch {
	case a.hi != b.hi:
		return cmpOrdered(a.hi, b.hi)
	default:
		return cmpOrdered(a.lo, b.lo)
	}
}

// Cmp compares by value: -1, 0 or 1. NaN equals NaN and is above everything
// else, so that the order is total; 1.0 equals 1.00.
func (n Num) Cmp(m Num) int {
	if n.form != numFinite || m.form != numFinite {
		return cmpOrdered(n.rank(), m.rank())
	}
	sn, sm := n.Sign(), m.Sign()
	if sn != sm {
		return cmpOrdered(sn, sm)
	}
	if sn == 0 {
		return 0
	}
	// A far difference in size needs no alignment, which may be costly.
	if n.wide != nil || m.wide != nil {
		if dn, dm := n.digits()-int(n.scale), m.digits()-int(m.scale); dn != dm {
			return sn * cmpOrdered(dn, dm)
		}
	}
	s := max(n.scale, m.scale)
	return sn * cmpMag(n.rescaled(s), m.rescaled(s))
}

func (n Num) rank() int {
	switch {
	case n.form == numNaN:
		return 2
	case n.form == numFinite:
		return 0
	case n.neg:
		return -1
	}
	return 1
}

// Add gives n + m with the larger of the two scales. Infinity - Infinity is NaN.
func (n Num) Add(m Num) Num {
	if n.form != numFinite || m.form != numFinite {
		return addSpecial(n, m)
	}
	s := max(n.scale, m.scale)
	n, m = n.rescaled(s), m.rescaled(s)
	if n.wide == nil && m.wide == nil {
		if n.neg == m.neg {
			lo, c := bits.Add64(n.lo, m.lo, 0)
			hi, c := bits.Add64(n.hi, m.hi, c)
			if c == 0 {
				return Num{hi: hi, lo: lo, scale: s, neg: n.neg}
			}
		} else {
			if cmpMag(n, m) < 0 {
				n, m = m, n
			}
			lo, c := bits.Sub64(n.lo, m.lo, 0)
			hi, _ := bits.Sub64(n.hi, m.hi, c)
			r := Num{hi: hi, lo: lo, scale: s, neg: n.neg}
			r.fixZero()
			return r
		}
	}
	a, b := n.signed(), m.signed()
	a.Add(a, b)
	neg := a.Sign() < 0
	return numBig(a.Abs(a), neg, s)
}

// signed gives the coefficient as a fresh big.Int.
func (n Num) signed() *big.Int {
	b := n.mag()
	if n.wide != nil {
		b = new(big.Int).Set(b)
	}
	if n.neg {
		b.Neg(b)
	}
	return b
}

func addSpecial(n, m Num) Num {
	switch {
	case n.form == numNaN || m.form == numNaN:
		return NumNaN
	case n.form == numInf && m.form == numInf:
		if n.neg != m.neg {
			return NumNaN
		}
		return n
	case n.form == numInf:
		return n
	}
	return m
}

// Sub gives n - m with the larger of the two scales.
func (n Num) Sub(m Num) Num { return n.Add(m.Neg()) }

// Mul gives n * m with the sum of the two scales. Error: 22003 beyond the format.
func (n Num) Mul(m Num) (Num, error) {
	if n.form != numFinite || m.form != numFinite {
		if n.form == numNaN || m.form == numNaN || n.IsZero() || m.IsZero() {
			return NumNaN, nil
		}
		return Num{form: numInf, neg: n.neg != m.neg}, nil
	}
	r := Num{scale: n.scale + m.scale, neg: n.neg != m.neg}
	if n.wide == nil && m.wide == nil && (n.hi == 0 || m.hi == 0) {
		small, other := m.lo, n
		if m.hi != 0 {
			small, other = n.lo, m
		}
		if hi, lo, ok := mulAdd128(other.hi, other.lo, small, 0); ok {
			r.hi, r.lo = hi, lo
			r.fixZero()
			return r.capped()
		}
	}
	return numBig(new(big.Int).Mul(n.mag(), m.mag()), r.neg, r.scale).capped()
}

// capped rounds off a scale beyond what can be stored and refuses too many digits.
func (n Num) capped() (Num, error) {
	if n.scale > maxDisplayScale {
		n = n.Round(maxDisplayScale)
	}
	if n.wide != nil && n.digits()-int(n.scale) > maxIntDigits {
		return n, errNumOverflow()
	}
	return n, nil
}

// leading gives the weight of the first base-10000 digit and that digit, on
// which PostgreSQL's choice of result scales rests. Both are 0 for zero.
func (n Num) leading() (weight, digit int) {
	if n.IsZero() {
		return 0, 0
	}
	var buf [48]byte
	d := n.appendDigits(buf[:0])
	exp := len(d) - 1 - int(n.scale)
	weight = floorDiv(exp, 4)
	for i := 0; i <= exp-4*weight; i++ {
		digit *= 10
		if i < len(d) {
			digit += int(d[i] - '0')
		}
	}
	return weight, digit
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func errDivZero() error { return sqlerr.New(sqlerr.DivisionByZero, "division by zero") }

// Div gives n / m, rounded half away from zero at the scale that PostgreSQL
// chooses: at least 16 significant digits and no less than either operand's
// scale. Error: 22012.
func (n Num) Div(m Num) (Num, error) {
	switch {
	case n.form == numNaN || m.form == numNaN:
		return NumNaN, nil
	case n.form == numInf:
		if m.form == numInf {
			return NumNaN, nil
		}
		if m.IsZero() {
			return n, errDivZero()
		}
		n.neg = n.neg != m.neg
		return n, nil
	case m.form == numInf:
		return Num{}, nil
	case m.IsZero():
		return n, errDivZero()
	}
	w1, d1 := n.leading()
	w2, d2 := m.leading()
	qw := w1 - w2
	if d1 <= d2 {
		qw--
	}
	return n.divScale(m, clampScale(minSigDigits-qw*4, n.scale, m.scale)), nil
}

// clampScale bounds a scale that a function chose by those of its operands and the limits.
func clampScale(s int, operands ...int32) int32 {
	for _, o := range operands {
		s = max(s, int(o))
	}
	return int32(min(max(s, 0), maxResultScale))
}

// divScale divides finite numbers, m not zero, rounding to scale s.
func (n Num) divScale(m Num, s int32) Num {
	num := n
	den := m
	if shift := int(s) - int(n.scale) + int(m.scale); shift >= 0 {
		num = num.shiftLeft(shift)
	} else {
		den = den.shiftLeft(-shift)
	}
	neg := n.neg != m.neg
	if num.wide == nil && den.wide == nil && den.hi == 0 {
		q := Num{scale: s, neg: neg}
		var r uint64
		q.hi, r = bits.Div64(0, num.hi, den.lo)
		q.lo, r = bits.Div64(r, num.lo, den.lo)
		if r >= den.lo-r { // half or more
			var c uint64
			q.lo, c = bits.Add64(q.lo, 1, 0)
			q.hi += c
		}
		q.fixZero()
		return q
	}
	return numBig(divRound(num.mag(), den.mag()), neg, s)
}

// divRound gives a/b for magnitudes, rounded half up.
func divRound(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Lsh(r, 1).Cmp(b) >= 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// QuoTrunc gives the quotient truncated to an integer, PostgreSQL's div(). Error: 22012.
func (n Num) QuoTrunc(m Num) (Num, error) {
	if n.form != numFinite || m.form != numFinite || m.IsZero() {
		return n.Div(m)
	}
	s := max(n.scale, m.scale)
	a, b := n.rescaled(s), m.rescaled(s)
	return numBig(new(big.Int).Quo(a.mag(), b.mag()), n.neg != m.neg, 0), nil
}

// Mod gives the remainder of the truncated division, with the sign of n and
// the larger of the two scales. Error: 22012.
func (n Num) Mod(m Num) (Num, error) {
	switch {
	case n.form == numNaN || m.form == numNaN:
		return NumNaN, nil
	case m.IsZero():
		return n, errDivZero()
	case n.form == numInf:
		return NumNaN, nil
	case m.form == numInf:
		return n, nil
	}
	s := max(n.scale, m.scale)
	a, b := n.rescaled(s), m.rescaled(s)
	if a.wide == nil && b.wide == nil && a.hi == 0 && b.hi == 0 {
		r := Num{lo: a.lo % b.lo, scale: s, neg: n.neg}
		r.fixZero()
		return r, nil
	}
	return numBig(new(big.Int).Rem(a.mag(), b.mag()), n.neg, s), nil
}

type rounding uint8

const (
	roundHalfAway rounding = iota
	roundToZero
	roundUp   // towards +infinity
	roundDown // towards -infinity
)

// quantize brings n to s digits after the point; s may be negative.
func (n Num) quantize(s int, how rounding) Num {
	if n.form != numFinite {
		return n
	}
	drop := int(n.scale) - s
	if drop <= 0 {
		if s > int(n.scale) {
			n = n.rescaled(int32(s))
		}
		return n
	}
	away := how == roundUp && !n.neg || how == roundDown && n.neg
	r := Num{neg: n.neg}
	if n.wide == nil && n.hi == 0 && drop < len(pow10u64) {
		p := pow10u64[drop]
		q, rem := n.lo/p, n.lo%p
		if away && rem > 0 || how == roundHalfAway && rem >= p-rem {
			q++
		}
		r.lo = q
	} else {
		p := bigPow10(min(drop, n.digits()+1))
		q, rem := new(big.Int).QuoRem(n.mag(), p, new(big.Int))
		if away && rem.Sign() > 0 || how == roundHalfAway && new(big.Int).Lsh(rem, 1).Cmp(p) >= 0 {
			q.Add(q, big.NewInt(1))
		}
		r = numBig(q, n.neg, 0)
	}
	r.fixZero()
	if s < 0 {
		return r.shiftLeft(-s)
	}
	r.scale = int32(s)
	return r
}

// Round rounds half away from zero to scale digits after the point; a negative
// scale rounds before the point. The scale is limited to +-2000 as in PostgreSQL.
func (n Num) Round(scale int) Num { return n.quantize(clampRound(scale), roundHalfAway) }

// Trunc is Round towards zero.
func (n Num) Trunc(scale int) Num { return n.quantize(clampRound(scale), roundToZero) }

// clampRound limits the scale that a caller asks for; the wider limit above
// serves products, whose scale is rounded to what can be stored.
func clampRound(s int) int {
	if s == maxDisplayScale {
		return s
	}
	return min(max(s, -2000), 2000)
}

// Ceil gives the smallest integer that is not below n.
func (n Num) Ceil() Num { return n.quantize(0, roundUp) }

// Floor gives the largest integer that is not above n.
func (n Num) Floor() Num { return n.quantize(0, roundDown) }

// TrimScale drops trailing zeros after the point, PostgreSQL's trim_scale().
func (n Num) TrimScale() Num { return n.quantize(n.MinScale(), roundToZero) }

// MinScale gives the smallest scale that shows n without loss, PostgreSQL's min_scale().
func (n Num) MinScale() int {
	if n.form != numFinite || n.IsZero() {
		return 0
	}
	var buf [48]byte
	d := n.appendDigits(buf[:0])
	s := int(n.scale)
	for i := len(d) - 1; i >= 0 && s > 0 && d[i] == '0'; i-- {
		s--
	}
	return s
}

// ToInt64 rounds half away from zero. Errors: 22003, and 0A000 for NaN and infinities.
func (n Num) ToInt64() (int64, error) { return n.toInt("bigint", math.MinInt64, math.MaxInt64) }

// ToInt32 is ToInt64 in the range of integer.
func (n Num) ToInt32() (int64, error) { return n.toInt("integer", math.MinInt32, math.MaxInt32) }

// ToInt16 is ToInt64 in the range of smallint.
func (n Num) ToInt16() (int64, error) { return n.toInt("smallint", math.MinInt16, math.MaxInt16) }

func (n Num) toInt(name string, lo, hi int64) (int64, error) {
	switch n.form {
	case numNaN:
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert NaN to %s", name)
	case numInf:
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert infinity to %s", name)
	}
	r := n.quantize(0, roundHalfAway)
	if r.wide == nil && r.hi == 0 {
		switch {
		case r.neg && r.lo <= 1<<63:
			if i := int64(-r.lo); i >= lo {
				return i, nil
			}
		case !r.neg && r.lo <= uint64(hi):
			return int64(r.lo), nil
		}
	}
	return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", name)
}

// FromFloat64 gives the number that PostgreSQL casts a double precision to:
// its value at 15 significant digits.
func FromFloat64(f float64) Num { return fromFloat(f, 15) }

// FromFloat32 gives the number that PostgreSQL casts a real to: its value at 6 significant digits.
func FromFloat32(f float32) Num { return fromFloat(float64(f), 6) }

func fromFloat(f float64, digits int) Num {
	switch {
	case math.IsNaN(f):
		return NumNaN
	case math.IsInf(f, 0):
		return Num{form: numInf, neg: f < 0}
	}
	var buf [32]byte
	n, _, _ := scanNum(string(strconv.AppendFloat(buf[:0], f, 'g', digits, 64)))
	return n
}

// ToFloat64 gives the nearest double; a number beyond its range gives an infinity,
// which a cast must refuse.
func (n Num) ToFloat64() float64 {
	switch {
	case n.form == numNaN:
		return math.NaN()
	case n.form == numInf && n.neg:
		return math.Inf(-1)
	case n.form == numInf:
		return math.Inf(1)
	}
	// Both operands exact, so the quotient is rounded once.
	if n.wide == nil && n.hi == 0 && n.lo <= 1<<53 && n.scale <= 19 {
		f := float64(n.lo) / float64(pow10u64[n.scale])
		if n.neg {
			f = -f
		}
		return f
	}
	f, _ := strconv.ParseFloat(n.String(), 64)
	return f
}

// ApplyTypmod rounds to the scale of numeric(p,s) and checks the precision;
// mod is Type.Mod, 0 meaning none. Error: 22003.
func (n Num) ApplyTypmod(mod int32) (Num, error) {
	if mod == 0 || n.form == numNaN {
		return n, nil
	}
	p, s := numericMod(mod)
	over := sqlerr.New(sqlerr.NumericValueOutOfRange, "numeric field overflow")
	if n.form == numInf {
		return n, over.WithDetail("A field with precision %d, scale %d cannot hold an infinite value.", p, s)
	}
	r := n.quantize(s, roundHalfAway)
	if !r.IsZero() && r.digits()-int(r.scale) > p-s {
		limit := "1"
		if p != s {
			limit = "10^" + strconv.Itoa(p-s)
		}
		return r, over.WithDetail("A field with precision %d, scale %d must round to an absolute value less than %s.", p, s, limit)
	}
	return r, nil
}
