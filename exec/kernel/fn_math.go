package kernel

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// float1 lifts a function whose finite argument must have a finite result.
func float1(g func(x float64) float64) impl {
	return floatUnary(func(x float64) (float64, error) {
		r := g(x)
		if math.IsInf(r, 0) && !math.IsInf(x, 0) {
			return r, errFloatOver
		}
		return r, nil
	})
}

// domain lifts a function that is defined where ok holds.
func domain(ok func(x float64) bool, g func(x float64) float64) impl {
	return floatUnary(func(x float64) (float64, error) {
		if x == x && !ok(x) {
			return 0, errInputRange()
		}
		return g(x), nil
	})
}

func errInputRange() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "input is out of range")
}

func isFinite(x float64) bool     { return !math.IsInf(x, 0) }
func unitInterval(x float64) bool { return x >= -1 && x <= 1 }

func num1(g func(a types.Num) types.Num) impl {
	return numUnary(func(a types.Num) (types.Num, error) { return g(a), nil })
}

func floatPair(g func(x, y float64) (float64, error)) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) {
		r, err := g(a[0].F, a[1].F)
		return types.FloatDatum(r), err
	}}
}

func errNegativeLog(x float64) error {
	if x == 0 {
		return sqlerr.New(sqlerr.InvalidArgumentForLog, "cannot take logarithm of zero")
	}
	return sqlerr.New(sqlerr.InvalidArgumentForLog, "cannot take logarithm of a negative number")
}

func logOf(g func(float64) float64) impl {
	return floatUnary(func(x float64) (float64, error) {
		if x <= 0 {
			return 0, errNegativeLog(x)
		}
		return g(x), nil
	})
}

var ten = types.FromInt64(10)

func numLog10(a types.Num) (types.Num, error) { return a.Log(ten) }

var mathImpls = map[string]impl{
	"ceil(float8)":    floatUnary(func(x float64) (float64, error) { return math.Ceil(x), nil }),
	"ceiling(float8)": floatUnary(func(x float64) (float64, error) { return math.Ceil(x), nil }),
	"floor(float8)":   floatUnary(func(x float64) (float64, error) { return math.Floor(x), nil }),
	"round(float8)":   floatUnary(func(x float64) (float64, error) { return math.RoundToEven(x), nil }),
	"trunc(float8)":   floatUnary(func(x float64) (float64, error) { return math.Trunc(x), nil }),
	"sign(float8)": floatUnary(func(x float64) (float64, error) {
		switch {
		case x > 0:
			return 1, nil
		case x < 0:
			return -1, nil
		}
		return 0, nil
	}),
	"ceil(numeric)":    num1(types.Num.Ceil),
	"ceiling(numeric)": num1(types.Num.Ceil),
	"floor(numeric)":   num1(types.Num.Floor),
	"round(numeric)":   num1(func(a types.Num) types.Num { return a.Round(0) }),
	"trunc(numeric)":   num1(func(a types.Num) types.Num { return a.Trunc(0) }),
	"round(numeric,int4)": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		return num(a[0]).Round(int(a[1].I)).AppendTo(dst), nil
	}},
	"trunc(numeric,int4)": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		return num(a[0]).Trunc(int(a[1].I)).AppendTo(dst), nil
	}},
	"sign(numeric)": num1(func(a types.Num) types.Num {
		if a.IsNaN() {
			return a
		}
		return types.FromInt64(int64(a.Sign()))
	}),
	"scale(numeric)": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		n := num(a[0])
		return types.Datum{I: int64(n.Scale()), Null: n.IsNaN() || n.IsInf()}, nil
	}},
	"min_scale(numeric)": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		n := num(a[0])
		return types.Datum{I: int64(n.MinScale()), Null: n.IsNaN() || n.IsInf()}, nil
	}},
	"trim_scale(numeric)": num1(types.Num.TrimScale),

	"sqrt(float8)": floatUnary(sqrt),
	"|/ float8":    floatUnary(sqrt),
	"cbrt(float8)": float1(math.Cbrt),
	"||/ float8":   float1(math.Cbrt),
	"exp(float8)": floatUnary(func(x float64) (float64, error) {
		r := math.Exp(x)
		switch {
		case math.IsInf(r, 0) && !math.IsInf(x, 0):
			return r, errFloatOver
		case r == 0 && !math.IsInf(x, 0):
			return r, errFloatUnder
		}
		return r, nil
	}),
	"ln(float8)":             logOf(math.Log),
	"log(float8)":            logOf(math.Log10),
	"log10(float8)":          logOf(math.Log10),
	"sqrt(numeric)":          numUnary(types.Num.Sqrt),
	"exp(numeric)":           numUnary(types.Num.Exp),
	"ln(numeric)":            numUnary(types.Num.Ln),
	"log(numeric)":           numUnary(numLog10),
	"log10(numeric)":         numUnary(numLog10),
	"log(numeric,numeric)":   numBinary(func(b, x types.Num) (types.Num, error) { return x.Log(b) }),
	"power(float8,float8)":   floatPair(power),
	"pow(float8,float8)":     floatPair(power),
	"float8 ^ float8":        floatPair(power),
	"power(numeric,numeric)": numBinary(types.Num.Pow),
	"pow(numeric,numeric)":   numBinary(types.Num.Pow),
	"numeric ^ numeric":      numBinary(types.Num.Pow),
	"mod(numeric,numeric)":   numBinary(types.Num.Mod),
	"div(numeric,numeric)":   numBinary(types.Num.QuoTrunc),

	"pi()":            {row: func(f *frame, a []types.Datum) (types.Datum, error) { return types.FloatDatum(math.Pi), nil }},
	"degrees(float8)": float1(func(x float64) float64 { return x / (math.Pi / 180) }),
	"radians(float8)": float1(func(x float64) float64 { return x * (math.Pi / 180) }),
	"sin(float8)":     domain(isFinite, math.Sin),
	"cos(float8)":     domain(isFinite, math.Cos),
	"tan(float8)":     domain(isFinite, math.Tan),
	"cot(float8)":     domain(isFinite, func(x float64) float64 { return 1 / math.Tan(x) }),
	"asin(float8)":    domain(unitInterval, math.Asin),
	"acos(float8)":    domain(unitInterval, math.Acos),
	"atan(float8)":    float1(math.Atan),
	"atan2(float8,float8)": floatPair(func(y, x float64) (float64, error) {
		return math.Atan2(y, x), nil
	}),
	"sinh(float8)":  floatUnary(func(x float64) (float64, error) { return math.Sinh(x), nil }),
	"cosh(float8)":  floatUnary(func(x float64) (float64, error) { return math.Cosh(x), nil }),
	"tanh(float8)":  float1(math.Tanh),
	"asinh(float8)": float1(math.Asinh),
	"acosh(float8)": domain(func(x float64) bool { return x >= 1 }, math.Acosh),
	"atanh(float8)": domain(unitInterval, math.Atanh),

	"gcd(int4,int4)":       {row: gcdOf(intRanges[types.Int4])},
	"gcd(int8,int8)":       {row: gcdOf(intRanges[types.Int8])},
	"lcm(int4,int4)":       {row: lcmOf(intRanges[types.Int4])},
	"lcm(int8,int8)":       {row: lcmOf(intRanges[types.Int8])},
	"gcd(numeric,numeric)": numBinary(numGCD),
	"lcm(numeric,numeric)": numBinary(numLCM),
	"factorial(int8)":      {text: factorial},

	"width_bucket(float8,float8,float8,int4)":    {row: widthBucketFloat},
	"width_bucket(numeric,numeric,numeric,int4)": {row: widthBucketNumeric},
	"width_bucket(anyelement,anyarray)":          {row: widthBucketArray},
	"random()":                                   {row: func(f *frame, a []types.Datum) (types.Datum, error) { return types.FloatDatum(rand.Float64()), nil }},
	"to_hex(int4)": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		return strconv.AppendUint(dst, uint64(uint32(a[0].I)), 16), nil
	}},
	"to_hex(int8)": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		return strconv.AppendUint(dst, uint64(a[0].I), 16), nil
	}},
	"greatest(anyelement)": {row: extreme(1)},
	"least(anyelement)":    {row: extreme(-1)},
	"bit_count(bytea)": intOf(func(a []types.Datum) int {
		n := 0
		for _, c := range a[0].B {
			n += bits.OnesCount8(c)
		}
		return n
	}),
	"num_nulls(any)":    intOf(func(a []types.Datum) int { return countNulls(a) }),
	"num_nonnulls(any)": intOf(func(a []types.Datum) int { return len(a) - countNulls(a) }),
	"hashtext(text)":    intOf(func(a []types.Datum) int { return int(int32(hashBytes(a[0].B))) }),
	"hashint4(int4)":    intOf(func(a []types.Datum) int { return int(int32(hashUint32(uint32(a[0].I)))) }),
	"hashint8(int8)": intOf(func(a []types.Datum) int {
		lo, hi := uint32(a[0].I), uint32(a[0].I>>32)
		if a[0].I >= 0 {
			lo ^= hi
		} else {
			lo ^= ^hi
		}
		return int(int32(hashUint32(lo)))
	}),
}

func countNulls(a []types.Datum) int {
	n := 0
	for _, d := range a {
		if d.Null {
			n++
		}
	}
	return n
}

func sqrt(x float64) (float64, error) {
	if x < 0 {
		return 0, sqlerr.New(sqlerr.InvalidArgumentForPower, "cannot take square root of a negative number")
	}
	return math.Sqrt(x), nil
}

func power(x, y float64) (float64, error) {
	switch {
	case x == 0 && y < 0:
		return 0, sqlerr.New(sqlerr.InvalidArgumentForPower, "zero raised to a negative power is undefined")
	case x < 0 && y == y && !math.IsInf(y, 0) && math.Floor(y) != y:
		return 0, sqlerr.New(sqlerr.InvalidArgumentForPower, "a negative number raised to a non-integer power yields a complex result")
	}
	r := math.Pow(x, y)
	switch {
	case math.IsInf(x, 0) || math.IsInf(y, 0):
	case math.IsInf(r, 0):
		return r, errFloatOver
	case r == 0 && x != 0:
		return r, errFloatUnder
	}
	return r, nil
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

func gcdOf(g intRange) rowFunc {
	return func(f *frame, a []types.Datum) (types.Datum, error) {
		r := gcd(magnitude(a[0].I), magnitude(a[1].I))
		if r > uint64(g.hi) {
			return types.Datum{}, g.err()
		}
		return types.IntDatum(int64(r)), nil
	}
}

func lcmOf(g intRange) rowFunc {
	return func(f *frame, a []types.Datum) (types.Datum, error) {
		x, y := magnitude(a[0].I), magnitude(a[1].I)
		if x == 0 || y == 0 {
			return types.IntDatum(0), nil
		}
		hi, lo := bits.Mul64(x/gcd(x, y), y)
		if hi != 0 || lo > uint64(g.hi) {
			return types.Datum{}, g.err()
		}
		return types.IntDatum(int64(lo)), nil
	}
}

func numGCD(a, b types.Num) (types.Num, error) {
	if a.IsNaN() || b.IsNaN() || a.IsInf() || b.IsInf() {
		return types.NumNaN, nil
	}
	scale := max(a.Scale(), b.Scale())
	for !b.IsZero() {
		r, err := a.Mod(b)
		if err != nil {
			return r, err
		}
		a, b = b, r
	}
	return a.Abs().Round(scale), nil
}

func numLCM(a, b types.Num) (types.Num, error) {
	g, err := numGCD(a, b)
	if err != nil || g.IsNaN() || g.IsZero() {
		return g, err
	}
	q, err := a.QuoTrunc(g)
	if err != nil {
		return q, err
	}
	r, err := q.Mul(b)
	return r.Abs(), err
}

func factorial(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	switch n := a[0].I; {
	case n < 0:
		return dst, sqlerr.New(sqlerr.NumericValueOutOfRange, "factorial of a negative number is undefined")
	case n > 32177:
		return dst, sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
	}
	n, err := types.NumParse(new(big.Int).MulRange(1, a[0].I).String())
	return n.AppendTo(dst), err
}

const errBuckets = "count must be greater than zero"

// errWidthBucket is 2201G, which is used nowhere else.
func errWidthBucket(msg string) error { return sqlerr.New("2201G", "%s", msg) }

func widthBucketFloat(f *frame, a []types.Datum) (types.Datum, error) {
	x, lo, hi, n := a[0].F, a[1].F, a[2].F, a[3].I
	switch {
	case n <= 0:
		return types.Datum{}, errWidthBucket(errBuckets)
	case x != x || lo != lo || hi != hi:
		return types.Datum{}, errWidthBucket("operand, lower bound, and upper bound cannot be NaN")
	case math.IsInf(lo, 0) || math.IsInf(hi, 0):
		return types.Datum{}, errWidthBucket("lower and upper bounds must be finite")
	case lo == hi:
		return types.Datum{}, errWidthBucket("lower bound cannot equal upper bound")
	}
	below, above := x < lo, x >= hi
	if lo > hi {
		below, above = x > lo, x <= hi
	}
	switch {
	case below:
		return types.IntDatum(0), nil
	case above:
		return types.IntDatum(n + 1), nil
	}
	return types.IntDatum(min(int64((x-lo)/(hi-lo)*float64(n)), n-1) + 1), nil
}

func widthBucketNumeric(f *frame, a []types.Datum) (types.Datum, error) {
	x, lo, hi, n := num(a[0]), num(a[1]), num(a[2]), a[3].I
	switch {
	case n <= 0:
		return types.Datum{}, errWidthBucket(errBuckets)
	case x.IsNaN() || lo.IsNaN() || hi.IsNaN():
		return types.Datum{}, errWidthBucket("operand, lower bound, and upper bound cannot be NaN")
	case lo.IsInf() || hi.IsInf():
		return types.Datum{}, errWidthBucket("lower and upper bounds must be finite")
	}
	dir := lo.Cmp(hi)
	switch {
	case dir == 0:
		return types.Datum{}, errWidthBucket("lower bound cannot equal upper bound")
	case x.Cmp(lo) == dir:
		return types.IntDatum(0), nil
	case x.Cmp(hi) != dir:
		return types.IntDatum(n + 1), nil
	}
	p, err := x.Sub(lo).Mul(types.FromInt64(n))
	if err != nil {
		return types.Datum{}, err
	}
	q, err := p.QuoTrunc(hi.Sub(lo))
	if err != nil {
		return types.Datum{}, err
	}
	i, err := q.ToInt64()
	return types.IntDatum(i + 1), err
}

// widthBucketArray finds the bucket among ascending lower bounds.
func widthBucketArray(f *frame, a []types.Datum) (types.Datum, error) {
	arr := types.DecodeArray(f.argTypes[1].ElemType(), a[1].B)
	if arr.NDim > 1 {
		return types.Datum{}, sqlerr.New(sqlerr.ArraySubscriptError, "thresholds must be one-dimensional array")
	}
	n := int64(0)
	for ; arr.N > 0; arr.N-- {
		e := arr.Next()
		if e.Null {
			return types.Datum{}, sqlerr.New(sqlerr.NullValueNotAllowed, "thresholds array must not contain NULLs")
		}
		if types.Compare(arr.Elem, a[0], e) < 0 {
			break
		}
		n++
	}
	return types.IntDatum(n), nil
}

// extreme gives the greatest (1) or least (-1) argument that is not NULL.
func extreme(sign int) rowFunc {
	return func(f *frame, a []types.Datum) (types.Datum, error) {
		best := types.NullDatum
		for _, d := range a {
			if !d.Null && (best.Null || sign*types.Compare(f.typ, d, best) > 0) {
				best = d
			}
		}
		return best, nil
	}
}
