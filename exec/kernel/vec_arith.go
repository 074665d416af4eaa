package kernel

import (
	"math"
	"math/bits"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// intRange is a type that integer arithmetic must stay in.
type intRange struct {
	name   string
	lo, hi int64
}

var intRanges = map[types.Kind]intRange{
	types.Int2: {"smallint", math.MinInt16, math.MaxInt16},
	types.Int4: {"integer", math.MinInt32, math.MaxInt32},
	types.Int8: {"bigint", math.MinInt64, math.MaxInt64},
}

func (g intRange) err() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", g.name)
}

func errDivisionByZero() error { return sqlerr.New(sqlerr.DivisionByZero, "division by zero") }

// checkedAdd and the like give the result and whether it overflowed 64 bits.
func checkedAdd(a, b int64) (int64, bool) { r := a + b; return r, (a^r)&(b^r) < 0 }
func checkedSub(a, b int64) (int64, bool) { r := a - b; return r, (a^b)&(a^r) < 0 }
func checkedMul(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	h := int64(hi) - (a>>63)&b - (b>>63)&a // signed high word
	return int64(lo), h != int64(lo)>>63
}

// intVec makes the vector function of + - or * for integers. The loops note only that some row overflowed;
// which one is found in a second pass, since it hardly ever happens.
func intVec(op byte, g intRange) impl {
	checked := map[byte]func(a, b int64) (int64, bool){'+': checkedAdd, '-': checkedSub, '*': checkedMul}[op]
	narrow := g.hi != math.MaxInt64
	lo, span := g.lo, uint64(g.hi-g.lo)
	return impl{vec: func(v *vecNode, c *ctx, sel []int32, n int) {
		x, y, out := v.ops[0].v.I64, v.ops[1].v.I64, v.out.I64[:n]
		mx, my := v.ops[0].mask(), v.ops[1].mask()
		over := false
		switch {
		case sel != nil:
			for _, i := range sel {
				r, o := checked(x[int(i)&mx], y[int(i)&my])
				out[i] = r
				over = over || o || uint64(r-lo) > span
			}
		case narrow && op == '+':
			for i := range out {
				r := x[i&mx] + y[i&my]
				out[i] = r
				over = over || uint64(r-lo) > span
			}
		case narrow && op == '-':
			for i := range out {
				r := x[i&mx] - y[i&my]
				out[i] = r
				over = over || uint64(r-lo) > span
			}
		case narrow:
			for i := range out {
				r := x[i&mx] * y[i&my]
				out[i] = r
				over = over || uint64(r-lo) > span
			}
		case op == '+':
			for i := range out {
				r, o := checkedAdd(x[i&mx], y[i&my])
				out[i] = r
				over = over || o
			}
		case op == '-':
			for i := range out {
				r, o := checkedSub(x[i&mx], y[i&my])
				out[i] = r
				over = over || o
			}
		default:
			for i := range out {
				r, o := checkedMul(x[i&mx], y[i&my])
				out[i] = r
				over = over || o
			}
		}
		if over {
			v.eachRow(sel, n, func(i int) {
				if r, o := checked(x[i&mx], y[i&my]); o || r < g.lo || r > g.hi {
					v.fail(c, i, g.err())
				}
			})
		}
	}}
}

// eachRow calls f for the rows in sel, or for 0 to n-1.
func (n *vecNode) eachRow(sel []int32, total int, f func(i int)) {
	if sel == nil {
		for i := 0; i < total; i++ {
			f(i)
		}
		return
	}
	for _, i := range sel {
		f(int(i))
	}
}

// intDiv is / for integers, rounding toward zero; mod is %.
func intDiv(g intRange, mod bool) impl {
	return impl{vec: func(v *vecNode, c *ctx, sel []int32, n int) {
		x, y, out := v.ops[0].v.I64, v.ops[1].v.I64, v.out.I64[:n]
		mx, my := v.ops[0].mask(), v.ops[1].mask()
		v.eachRow(sel, n, func(i int) {
			a, b := x[i&mx], y[i&my]
			switch {
			case b == 0:
				v.fail(c, i, errDivisionByZero())
			case b == -1: // the lowest number has no opposite
				switch {
				case mod:
					out[i] = 0
				case a == g.lo:
					v.fail(c, i, g.err())
				default:
					out[i] = -a
				}
			case mod:
				out[i] = a % b
			default:
				out[i] = a / b
			}
		})
	}}
}

// intUnary lifts a function on one integer.
func intUnary(f func(a int64) (int64, error)) impl {
	return impl{vec: func(v *vecNode, c *ctx, sel []int32, n int) {
		x, out := v.ops[0].v.I64, v.out.I64[:n]
		mx := v.ops[0].mask()
		v.eachRow(sel, n, func(i int) {
			r, err := f(x[i&mx])
			if err != nil {
				v.fail(c, i, err)
			}
			out[i] = r
		})
	}}
}

// intBinary lifts a function on two integers.
func intBinary(f func(a, b int64) (int64, error)) impl {
	return impl{vec: func(v *vecNode, c *ctx, sel []int32, n int) {
		x, y, out := v.ops[0].v.I64, v.ops[1].v.I64, v.out.I64[:n]
		mx, my := v.ops[0].mask(), v.ops[1].mask()
		v.eachRow(sel, n, func(i int) {
			r, err := f(x[i&mx], y[i&my])
			if err != nil {
				v.fail(c, i, err)
			}
			out[i] = r
		})
	}}
}

var (
	errFloatOver  = sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow")
	errFloatUnder = sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: underflow")
)

// floatVec makes + - * / for floats; single rounds to real.
func floatVec(op byte, single bool) impl {
	return impl{vec: func(v *vecNode, c *ctx, sel []int32, n int) {
		x, y, out := v.ops[0].v.F64, v.ops[1].v.F64, v.out.F64[:n]
		mx, my := v.ops[0].mask(), v.ops[1].mask()
		switch {
		case sel != nil || op == '/':
			v.eachRow(sel, n, func(i int) {
				out[i] = floatOp(op, x[i&mx], y[i&my])
			})
		case op == '+':
			for i := range out {
				out[i] = x[i&mx] + y[i&my]
			}
		case op == '-':
			for i := range out {
				out[i] = x[i&mx] - y[i&my]
			}
		default:
			for i := range out {
				out[i] = x[i&mx] * y[i&my]
			}
		}
		v.eachRow(sel, n, func(i int) {
			r := out[i]
			if single {
				r = float64(float32(r))
				out[i] = r
			}
			if r-r == 0 && r != 0 { // finite and not zero: right in any case
				return
			}
			if err := floatError(op, x[i&mx], y[i&my], r); err != nil {
				v.fail(c, i, err)
			}
		})
	}}
}

func floatOp(op byte, a, b float64) float64 {
	switch op {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	}
	return a / b
}

// floatError judges a result that is zero, infinite or NaN.
func floatError(op byte, a, b, r float64) error {
	switch {
	case op == '/' && b == 0:
		if a != a {
			return nil
		}
		return errDivisionByZero()
	case math.IsInf(r, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0):
		return errFloatOver
	case r == 0 && (op == '*' && a != 0 && b != 0 || op == '/' && a != 0 && !math.IsInf(b, 0)):
		return errFloatUnder
	}
	return nil
}

// floatUnary lifts a function on one double.
func floatUnary(f func(a float64) (float64, error)) impl {
	return impl{vec: func(v *vecNode, c *ctx, sel []int32, n int) {
		x, out := v.ops[0].v.F64, v.out.F64[:n]
		mx := v.ops[0].mask()
		v.eachRow(sel, n, func(i int) {
			r, err := f(x[i&mx])
			if err != nil {
				v.fail(c, i, err)
			}
			out[i] = r
		})
	}}
}
