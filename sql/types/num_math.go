package types

import (
	"math"
	"math/big"

	"github.com/cockroachdb/apd/v3"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// guardDigits are computed beyond the wanted ones, so that rounding to the
// result scale is right except where the true value lies within 10^-guardDigits of a tie.
const guardDigits = 12

const log10e = 0.434294481903252

// Sqrt gives the square root. Error: 2201F for a negative number.
func (n Num) Sqrt() (Num, error) {
	switch {
	case n.form == numNaN:
		return n, nil
	case n.neg:
		return n, sqlerr.New(sqlerr.InvalidArgumentForPower, "cannot take square root of a negative number")
	case n.form == numInf:
		return n, nil
	}
	w, _ := n.leading()
	sweight := (w+1)*4/2 - 1
	s := int(clampScale(minSigDigits-sweight, n.scale))
	// The coefficient of the root at scale s is the root of coef * 10^(2s-scale).
	v := n.shiftLeft(2*s - int(n.scale)).mag()
	r := new(big.Int).Sqrt(v)
	rest := new(big.Int).Sub(v, new(big.Int).Mul(r, r))
	if rest.Cmp(r) > 0 {
		r.Add(r, big.NewInt(1))
	}
	return numBig(r, false, int32(s)), nil
}

func (n Num) apd() *apd.Decimal {
	d := apd.NewWithBigInt(new(apd.BigInt).SetMathBigInt(n.mag()), -n.scale)
	d.Negative = n.neg
	return d
}

// numFromAPD rounds a finite decimal to scale s.
func numFromAPD(d *apd.Decimal, s int32) Num {
	c := new(big.Int).Set(d.Coeff.MathBigInt())
	if d.Exponent >= 0 {
		n := numBig(c, d.Negative, 0).shiftLeft(int(d.Exponent))
		return n.rescaled(s)
	}
	n := numBig(c, d.Negative, -d.Exponent)
	n = n.quantize(int(s), roundHalfAway)
	n.scale = s
	return n
}

func apdContext(precision int) *apd.Context {
	c := apd.BaseContext.WithPrecision(uint32(max(precision, 20)))
	c.Rounding = apd.RoundHalfUp
	c.Traps = 0
	return c
}

// Exp gives e to the power n. Error: 22003 where the result exceeds the format.
func (n Num) Exp() (Num, error) {
	switch {
	case n.form == numNaN:
		return n, nil
	case n.form == numInf && n.neg:
		return Num{}, nil
	case n.form == numInf:
		return n, nil
	}
	val := min(max(n.ToFloat64()*log10e, -2000), 2000)
	s := clampScale(minSigDigits-int(val), n.scale)
	if f := n.ToFloat64(); math.Abs(f) >= 6000 {
		if f > 0 {
			return n, errNumOverflow()
		}
		return Num{scale: s}, nil
	}
	out, err := expAPD(n.apd(), int(s)+int(max(n.ToFloat64()*log10e, 0))+guardDigits)
	if err != nil {
		return n, err
	}
	return numFromAPD(out, s), nil
}

// expAPD gives e to the power x. A large x is halved until the library takes
// it, and the result squared as often.
func expAPD(x *apd.Decimal, precision int) (*apd.Decimal, error) {
	c := apdContext(precision + 6)
	f, _ := x.Float64()
	halvings := 0
	for ; math.Abs(f) > 256; f /= 2 {
		halvings++
	}
	out := new(apd.Decimal)
	_, err := c.Quo(out, x, apd.New(1<<halvings, 0))
	if err == nil {
		_, err = c.Exp(out, out)
	}
	for ; halvings > 0 && err == nil; halvings-- {
		_, err = c.Mul(out, out, out)
	}
	if err != nil || out.Form != apd.Finite {
		return nil, errNumOverflow()
	}
	return out, nil
}

// lnWeight estimates the decimal weight of ln(n), as PostgreSQL's estimate_ln_dweight.
func (n Num) lnWeight() int {
	if n.Sign() <= 0 {
		return 0
	}
	if n.Cmp(NumScaled(9, 1)) >= 0 && n.Cmp(NumScaled(11, 1)) <= 0 {
		x := n.Sub(FromInt64(1))
		if x.IsZero() {
			return 0
		}
		w, d := x.leading()
		return w*4 + int(math.Log10(float64(d)))
	}
	var buf [48]byte
	d := n.appendDigits(buf[:0])
	exp := len(d) - 1 - int(n.scale)
	// The first two base-10000 digits.
	w := floorDiv(exp, 4)
	take := exp - 4*w + 1 + 4
	digits := 0.0
	for i := 0; i < take; i++ {
		digits *= 10
		if i < len(d) {
			digits += float64(d[i] - '0')
		}
	}
	return int(math.Log10(math.Abs(math.Log(digits) + float64(4*(w-1))*2.302585092994046)))
}

func (n Num) checkLog() error {
	if n.form == numNaN {
		return nil
	}
	if n.neg {
		return sqlerr.New(sqlerr.InvalidArgumentForLog, "cannot take logarithm of a negative number")
	}
	if n.IsZero() {
		return sqlerr.New(sqlerr.InvalidArgumentForLog, "cannot take logarithm of zero")
	}
	return nil
}

// Ln gives the natural logarithm. Error: 2201E.
func (n Num) Ln() (Num, error) {
	if err := n.checkLog(); err != nil || n.form != numFinite {
		return n, err
	}
	w := n.lnWeight()
	s := clampScale(minSigDigits-w, n.scale)
	out, err := n.ln(int(s) + max(w, 0) + 1 + guardDigits)
	if err != nil {
		return n, err
	}
	return numFromAPD(out, s), nil
}

func (n Num) ln(precision int) (*apd.Decimal, error) {
	var out apd.Decimal
	if _, err := apdContext(precision).Ln(&out, n.apd()); err != nil {
		return nil, sqlerr.New(sqlerr.InternalError, "logarithm failed").WithCause(err)
	}
	return &out, nil
}

// Log gives the logarithm of n to a base. Errors: 2201E, and 22012 for base 1.
func (n Num) Log(base Num) (Num, error) {
	if base.form == numNaN || n.form == numNaN {
		return NumNaN, nil
	}
	for _, x := range [...]Num{base, n} {
		if err := x.checkLog(); err != nil {
			return n, err
		}
	}
	switch {
	case base.form == numInf && n.form == numInf:
		return NumNaN, nil
	case base.form == numInf:
		return Num{}, nil
	case n.form == numInf:
		return n, nil
	}
	s := clampScale(minSigDigits-(n.lnWeight()-base.lnWeight()), base.scale, n.scale)
	precision := int(s) + 10 + guardDigits
	a, err := n.ln(precision)
	if err != nil {
		return n, err
	}
	b, err := base.ln(precision)
	if err != nil {
		return n, err
	}
	if b.IsZero() {
		return n, errDivZero()
	}
	var out apd.Decimal
	if _, err := apdContext(precision).Quo(&out, a, b); err != nil {
		return n, errNumOverflow()
	}
	return numFromAPD(&out, s), nil
}

func (n Num) isInteger() bool { return n.form == numFinite && n.MinScale() == 0 }

func (n Num) isOdd() bool { return n.quantize(0, roundToZero).mag().Bit(0) == 1 }

// Pow gives n to the power e. Errors: 2201F, 22003.
func (n Num) Pow(e Num) (Num, error) {
	if r, done, err := n.powSpecial(e); done {
		return r, err
	}
	if e.isInteger() {
		if i, err := e.ToInt64(); err == nil && i == int64(int32(i)) {
			return n.powInt(i)
		}
	}
	if n.IsZero() {
		return Num{scale: minSigDigits}, nil
	}
	base, neg := n, false
	if n.neg {
		base, neg = n.Abs(), e.isOdd()
	}
	lnBase, err := base.ln(max(8-base.lnWeight(), 0) + guardDigits)
	if err != nil {
		return n, err
	}
	f, _ := lnBase.Float64()
	val := f * e.ToFloat64()
	if math.Abs(val) > 2000*3.01 {
		if val > 0 {
			return n, errNumOverflow()
		}
		return Num{scale: maxResultScale}, nil
	}
	val *= log10e
	s := clampScale(minSigDigits-int(val), n.scale, e.scale)
	precision := int(s) + int(math.Abs(val)) + guardDigits
	ln, err := base.ln(precision + 8 + e.digits())
	if err != nil {
		return n, err
	}
	var x apd.Decimal
	c := apdContext(precision + 8 + e.digits())
	if _, err := c.Mul(&x, ln, e.apd()); err != nil {
		return n, errNumOverflow()
	}
	out, err := expAPD(&x, precision)
	if err != nil {
		return n, err
	}
	out.Negative = neg
	return numFromAPD(out, s), nil
}

// powSpecial handles NaN, infinities and the arguments that have no power.
func (n Num) powSpecial(e Num) (r Num, done bool, err error) {
	one := FromInt64(1)
	if n.form == numNaN || e.form == numNaN {
		switch {
		case n.form != numNaN && n.Cmp(one) == 0:
			return one, true, nil
		case e.form != numNaN && e.IsZero():
			return one, true, nil
		}
		return NumNaN, true, nil
	}
	if n.IsZero() && e.neg {
		return n, true, sqlerr.New(sqlerr.InvalidArgumentForPower, "zero raised to a negative power is undefined")
	}
	if n.neg && e.form == numFinite && !e.isInteger() {
		return n, true, sqlerr.New(sqlerr.InvalidArgumentForPower, "a negative number raised to a non-integer power yields a complex result")
	}
	switch {
	case n.form == numFinite && e.form == numFinite:
		return n, false, nil
	case n.Cmp(one) == 0 || e.form == numFinite && e.IsZero():
		return one, true, nil
	case e.form == numInf:
		c := n.Abs().Cmp(one)
		switch {
		case c == 0:
			return one, true, nil
		case (c > 0) == !e.neg:
			return NumInf, true, nil
		}
		return Num{}, true, nil
	case e.neg: // an infinity to a negative power
		return Num{}, true, nil
	case n.neg && e.isOdd():
		return n, true, nil
	}
	return NumInf, true, nil
}

// powInt gives an integer power.
func (n Num) powInt(e int64) (Num, error) {
	// PostgreSQL takes 16 places whatever the size of the result.
	s := clampScale(minSigDigits, n.scale)
	f := 0.0
	if !n.IsZero() {
		var buf [48]byte
		d := n.appendDigits(buf[:0])
		p := len(d) - int(n.scale)
		if len(d) > 16 {
			d = d[:16]
		}
		x := 0.0
		for _, c := range d {
			x = x*10 + float64(c-'0')
		}
		f = float64(e) * (math.Log10(x) + float64(p-len(d)))
	}
	if f > 3*math.MaxInt16*4 {
		return n, errNumOverflow()
	}
	if f+1 < -float64(s) {
		return Num{scale: s}, nil
	}
	abs := e
	if abs < 0 {
		abs = -abs
	}
	if n.IsZero() && e > 0 {
		return Num{scale: s}, nil
	}
	if int64(n.digits())*abs <= 20000 {
		p := Num{neg: n.neg && abs&1 != 0}
		m := new(big.Int).Exp(n.mag(), big.NewInt(abs), nil)
		// The exact scale may exceed what a Num can hold in general; it is used here only.
		p = numBig(m, p.neg, int32(int64(n.scale)*abs))
		if e < 0 {
			return FromInt64(1).divScale(p, s), nil
		}
		r := p.quantize(int(s), roundHalfAway)
		r.scale = s
		return r.capped()
	}
	var out apd.Decimal
	precision := int(s) + int(math.Max(f, 0)) + guardDigits + 12
	if _, err := apdContext(precision).Pow(&out, n.apd(), apd.New(e, 0)); err != nil || out.Form != apd.Finite {
		return n, errNumOverflow()
	}
	return numFromAPD(&out, s).capped()
}
