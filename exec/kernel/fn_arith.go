package kernel

import (
	"math"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// arithmeticImpls makes the operators on numbers, in all their combinations of types.
func arithmeticImpls() map[string]impl {
	out := map[string]impl{}
	ints := []types.Kind{types.Int2, types.Int4, types.Int8}
	word := func(k types.Kind) string { return types.Of(k).InternalName() }
	for _, l := range ints {
		for _, r := range ints {
			g := intRanges[max(l, r)]
			for _, op := range "+-*" {
				out[word(l)+" "+string(op)+" "+word(r)] = intVec(byte(op), g)
			}
			out[word(l)+" / "+word(r)] = intDiv(g, false)
		}
		addIntOps(out, word(l), intRanges[l])
	}
	floats := []types.Kind{types.Float4, types.Float8}
	for _, l := range floats {
		for _, r := range floats {
			for _, op := range "+-*/" {
				out[word(l)+" "+string(op)+" "+word(r)] = floatVec(byte(op), l == types.Float4 && r == types.Float4)
			}
		}
		out["+ "+word(l)] = floatUnary(func(a float64) (float64, error) { return a, nil })
		out["- "+word(l)] = floatUnary(func(a float64) (float64, error) { return -a, nil })
		abs := floatUnary(func(a float64) (float64, error) { return math.Abs(a), nil })
		out["@ "+word(l)], out["abs("+word(l)+")"] = abs, abs
	}
	for op, f := range map[string]func(a, b types.Num) (types.Num, error){
		"+": func(a, b types.Num) (types.Num, error) { return a.Add(b), nil },
		"-": func(a, b types.Num) (types.Num, error) { return a.Sub(b), nil },
		"*": types.Num.Mul, "/": types.Num.Div, "%": types.Num.Mod,
	} {
		out["numeric "+op+" numeric"] = numBinary(f)
	}
	out["+ numeric"] = numUnary(func(a types.Num) (types.Num, error) { return a, nil })
	out["- numeric"] = numUnary(func(a types.Num) (types.Num, error) { return a.Neg(), nil })
	abs := numUnary(func(a types.Num) (types.Num, error) { return a.Abs(), nil })
	out["@ numeric"], out["abs(numeric)"] = abs, abs
	return out
}

// addIntOps adds the operators on one integer type.
func addIntOps(out map[string]impl, w string, g intRange) {
	bin := func(op string, f func(a, b int64) int64) {
		out[w+" "+op+" "+w] = intBinary(func(a, b int64) (int64, error) { return f(a, b), nil })
	}
	bin("&", func(a, b int64) int64 { return a & b })
	bin("|", func(a, b int64) int64 { return a | b })
	bin("#", func(a, b int64) int64 { return a ^ b })
	mod := intDiv(g, true)
	out[w+" % "+w], out["mod("+w+","+w+")"] = mod, mod
	size := map[string]int64{"smallint": 16, "integer": 32, "bigint": 64}[g.name]
	wrap := func(x int64) int64 { return x << (64 - size) >> (64 - size) }
	// As in C on the usual machines: the distance counts modulo the width, which is 32 bits for smallint.
	width := max(size, 32) - 1
	out[w+" << int4"] = intBinary(func(a, b int64) (int64, error) { return wrap(a << uint(b&width)), nil })
	out[w+" >> int4"] = intBinary(func(a, b int64) (int64, error) { return wrap(a >> uint(b&width)), nil })
	neg := func(a int64) (int64, error) {
		if a == g.lo {
			return a, g.err()
		}
		return -a, nil
	}
	out["- "+w] = intUnary(neg)
	out["+ "+w] = intUnary(func(a int64) (int64, error) { return a, nil })
	out["~ "+w] = intUnary(func(a int64) (int64, error) { return ^a, nil })
	abs := intUnary(func(a int64) (int64, error) {
		if a < 0 {
			return neg(a)
		}
		return a, nil
	})
	out["@ "+w], out["abs("+w+")"] = abs, abs
}

func num(d types.Datum) types.Num { return types.NumDecode(d.B) }

// numUnary and numBinary lift functions on numerics.
func numUnary(g func(a types.Num) (types.Num, error)) impl {
	return impl{text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		r, err := g(num(a[0]))
		if err != nil {
			return dst, err
		}
		return r.AppendTo(dst), nil
	}}
}

func numBinary(g func(a, b types.Num) (types.Num, error)) impl {
	return impl{text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		r, err := g(num(a[0]), num(a[1]))
		if err != nil {
			return dst, err
		}
		return r.AppendTo(dst), nil
	}}
}
