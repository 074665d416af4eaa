package batch

import "math"

// powers are those of ten by which floats that are stored as integers are divided: a quotient is rounded as the number was when it was read as
// text, so it is the same.
var powers = [...]float64{1, 10, 100, 1000, 10_000}

// noDigits marks floats that are stored as they are.
const noDigits = 255

func appendFloats(dst []byte, s []float64, left *int) []byte {
	if digits, ok := digitsOf(s); ok {
		if all, ok := appendDecimals(dst, s, digits, left); ok {
			return all
		}
	}
	return append(append(dst, noDigits), wordBytes(s)...)
}

// digitsOf gives the number of digits behind the point that some values of s have at most.
func digitsOf(s []float64) (digits int, ok bool) {
	step := max(len(s)/16, 1)
	for i := 0; i < len(s); i += step {
		for {
			if _, ok := decimal(s[i], powers[digits]); ok {
				break
			}
			if digits++; digits == len(powers) {
				return 0, false
			}
		}
	}
	return digits, true
}

// decimal gives the integer that, divided by the power, is x, to the bit.
func decimal(x, power float64) (int64, bool) {
	const most = 1 << 53
	y := x * power
	if !(y > -most && y < most) {
		return 0, false
	}
	n := int64(y + math.Copysign(0.5, y))
	return n, math.Float64bits(float64(n)/power) == math.Float64bits(x)
}

// appendDecimals appends the values as integers; false if one is none, or if they would not be shorter.
func appendDecimals(dst []byte, s []float64, digits int, left *int) ([]byte, bool) {
	scratch := intScratch.Get().(*[]int64)
	defer intScratch.Put(scratch)
	*scratch = resize(*scratch, len(s))
	ints, power := *scratch, powers[digits]
	for i, x := range s {
		n, ok := decimal(x, power)
		if !ok {
			return nil, false
		}
		ints[i] = n
	}
	all := appendInts(append(dst, byte(digits)), ints, left)
	return all, len(all)-len(dst) < 7*len(s)
}

// floats reads n floats into s, or into larger memory.
func (d *Decoder) floats(r *reader, s []float64, n int) []float64 {
	digits := r.byte()
	if digits == noDigits {
		return words(s, r.take(8*n))
	}
	if int(digits) >= len(powers) {
		r.bad = true
		return nil
	}
	d.lens = r.ints(d.lens, n)
	if r.bad {
		return nil
	}
	s = resize(s, n)
	power := powers[digits]
	for i, x := range d.lens {
		s[i] = float64(x) / power
	}
	return s
}

// skipFloats passes over n floats.
func (r *reader) skipFloats(n int) {
	switch digits := r.byte(); {
	case digits == noDigits:
		r.take(8 * n)
	case int(digits) < len(powers):
		r.packed(n)
	default:
		r.bad = true
	}
}
