package agg

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
)

// Exact sums of floats.
//
// A sum is a fixed-point number in two's complement. While the exponents that
// occur fit it lies inline in an entry's words, as a window of 64*limbs bits
// whose lowest bit stands for 2^base; beyond that it moves to the entry's blob,
// where it spans every exponent a float has. Both forms are exact, so a sum
// depends only on what was added, never on the order or on what was added and
// removed again.
//
// Inline form: word 0 is 0 for an empty sum, base<<2|1 for an inline one, 2 for
// one that is wide; the limbs follow, lowest first.

const (
	fixEmpty  = 0
	fixInline = 1
	fixWide   = 2
	// fixSlack is the room that a new window leaves below its first value.
	fixSlack = 32
)

// mag is the magnitude of a term: up to 192 bits, lowest limb first.
type mag [3]uint64

func (m mag) isZero() bool { return m[0]|m[1]|m[2] == 0 }

func (m mag) bitLen() int {
	for i := 2; i >= 0; i-- {
		if m[i] != 0 {
			return 64*i + bits.Len64(m[i])
		}
	}
	return 0
}

func (m mag) trailingZeros() int {
	for i := 0; i < 3; i++ {
		if m[i] != 0 {
			return 64*i + bits.TrailingZeros64(m[i])
		}
	}
	return 192
}

func (m mag) shiftRight(n int) mag {
	for ; n >= 64; n -= 64 {
		m = mag{m[1], m[2], 0}
	}
	if n > 0 {
		s, r := uint(n), uint(64-n)
		m = mag{m[0]>>s | m[1]<<r, m[1]>>s | m[2]<<r, m[2] >> s}
	}
	return m
}

// mul multiplies by w; the product must fit.
func (m mag) mul(w uint64) mag {
	if w == 1 {
		return m
	}
	h0, l0 := bits.Mul64(m[0], w)
	h1, l1 := bits.Mul64(m[1], w)
	_, l2 := bits.Mul64(m[2], w)
	r1, c := bits.Add64(l1, h0, 0)
	r2, _ := bits.Add64(l2, h1, c)
	return mag{l0, r1, r2}
}

// splitFloat takes a finite float apart: x = +-m * 2^e.
func splitFloat(x float64) (m uint64, e int, neg bool) {
	b := math.Float64bits(x)
	m, e = b&(1<<52-1), int(b>>52&0x7ff)
	if e == 0 {
		e = 1
	} else {
		m |= 1 << 52
	}
	return m, e - 1075, b>>63 != 0
}

// fixAddFloat adds w times x to an inline sum of two limbs. It says false where the sum must become wide; the sum is then unchanged.
func fixAddFloat(p []int64, x float64, w int64) bool {
	m, e, neg := splitFloat(x)
	if e == 0x7ff-1075 {
		return false
	}
	if p[0]&3 == fixInline && w == 1 {
		if d := uint(e - int(p[0]>>2)); d <= 127-53-1 {
			lo, hi := m<<d, m>>(64-d)
			if d >= 64 {
				hi = m << (d - 64)
			}
			old := uint64(p[2])
			var c uint64
			if neg {
				lo, c = bits.Sub64(uint64(p[1]), lo, 0)
				hi, _ = bits.Sub64(old, hi, c)
				neg = int64(old&^hi) < 0
			} else {
				lo, c = bits.Add64(uint64(p[1]), lo, 0)
				hi, _ = bits.Add64(old, hi, c)
				neg = int64(hi&^old) < 0
			}
			if !neg { // no overflow
				p[1], p[2] = int64(lo), int64(hi)
				return true
			}
			m, e, neg = splitFloat(x)
		}
	}
	t := mag{m}
	if w < 0 {
		neg, w = !neg, -w
	}
	return fixAdd(p, t.mul(uint64(w)), e, neg)
}

// fixAdd adds +-m * 2^e to an inline sum, moving its window as needed; false
// where no window holds both, and then the sum is unchanged.
func fixAdd(p []int64, m mag, e int, neg bool) bool {
	if p[0]&3 == fixWide {
		return false
	}
	if m.isZero() {
		return true
	}
	tz := m.trailingZeros()
	m, e = m.shiftRight(tz), e+tz
	limbs := p[1:]
	room := 64*len(limbs) - 2 // magnitude bits that leave one for the sum's carry and one for the sign
	base := int(p[0] >> 2)
	lo, hi := e, e+m.bitLen()
	if aLo, aHi, ok := limbSpan(limbs); ok {
		aLo, aHi = aLo+base, aHi+base
		if min(lo, aLo) < base || max(hi, aHi) > base+room {
			lo, hi = min(lo, aLo), max(hi, aHi)
			if hi-lo > room {
				return false
			}
			to := lo - min(fixSlack, (room-hi+lo)/2)
			shiftLimbs(limbs, base-to)
			base = to
		}
	} else {
		if hi-lo > room {
			return false
		}
		base = lo - min(fixSlack, (room-hi+lo)/2)
	}
	p[0] = int64(base)<<2 | fixInline
	addLimbs(limbs, m, uint(e-base), neg)
	return true
}

// fixAddInline adds the inline sum s to the sum p, both of at most three limbs; false where p must become wide, and then it is unchanged.
func fixAddInline(p, s []int64) bool {
	l := s[1:]
	if len(l) > len(mag{}) {
		return false
	}
	var m mag
	neg := l[len(l)-1] < 0
	c := uint64(1)
	for i, x := range l {
		if m[i] = uint64(x); neg {
			m[i], c = bits.Add64(^m[i], 0, c)
		}
	}
	return fixAdd(p, m, int(s[0]>>2), neg)
}

// limbSpan gives the lowest bit that is set and one above the highest magnitude bit; ok is false for zero.
func limbSpan(l []int64) (lo, hi int, ok bool) {
	sign := l[len(l)-1] >> 63
	lo = -1
	for i, x := range l {
		if x != 0 && lo < 0 {
			lo = 64*i + bits.TrailingZeros64(uint64(x))
		}
		if x != sign {
			hi = 64*i + bits.Len64(uint64(x^sign))
		}
	}
	if lo < 0 {
		return 0, 0, false
	}
	return lo, max(hi, lo+1), true
}

// shiftLimbs multiplies by 2^n; what is shifted out on either side must be empty.
func shiftLimbs(l []int64, n int) {
	sign := l[len(l)-1] >> 63
	at := func(i int) uint64 {
		switch {
		case i < 0:
			return 0
		case i >= len(l):
			return uint64(sign)
		}
		return uint64(l[i])
	}
	if n > 0 {
		q, s := n/64, uint(n%64)
		for i := len(l) - 1; i >= 0; i-- {
			l[i] = int64(at(i-q)<<s | at(i-q-1)>>(64-s))
		}
	} else if n < 0 {
		q, s := -n/64, uint(-n%64)
		for i := range l {
			l[i] = int64(at(i+q)>>s | at(i+q+1)<<(64-s))
		}
	}
}

// addLimbs adds +-m * 2^at, with carries to the top.
func addLimbs(l []int64, m mag, at uint, neg bool) {
	q, s := int(at/64), at%64
	term := [4]uint64{m[0] << s, m[1]<<s | m[0]>>(64-s), m[2]<<s | m[1]>>(64-s), m[2] >> (64 - s)}
	var c uint64
	for i := q; i < len(l); i++ {
		var t uint64
		if i-q < 4 {
			t = term[i-q]
		} else if c == 0 {
			return
		}
		var r uint64
		if neg {
			r, c = bits.Sub64(uint64(l[i]), t, c)
		} else {
			r, c = bits.Add64(uint64(l[i]), t, c)
		}
		l[i] = int64(r)
	}
}

// A wide sum is a blob field: counts of NaN, Infinity and -Infinity, then limbs
// over the whole range of floats (or of their squares), all 8 bytes little-endian.

// wideSum describes the limbs of a wide sum.
type wideSum struct {
	base  int // exponent of bit 0
	limbs int
}

var (
	// The top leaves 127 bits for weights and counts.
	wideFloats   = wideSum{base: -1074, limbs: (1024 + 1074 + 127 + 63) / 64}
	wideProducts = wideSum{base: -2148, limbs: (2048 + 2148 + 127 + 63) / 64}
)

const wideHead = 24

func (w wideSum) size() int { return wideHead + 8*w.limbs }

func word(b []byte, i int) uint64       { return binary.LittleEndian.Uint64(b[8*i:]) }
func setWord(b []byte, i int, x uint64) { binary.LittleEndian.PutUint64(b[8*i:], x) }

// fromInline fills field b, which is zero, with the inline sum p.
func (w wideSum) fromInline(b []byte, p []int64) {
	if p[0]&3 != fixInline {
		return
	}
	l := p[1:]
	sign := uint64(l[len(l)-1] >> 63)
	at := int(p[0]>>2) - w.base
	lo, _, ok := limbSpan(l)
	if !ok {
		return
	}
	// The window may reach below base, where it is empty because no float does.
	cp := append([]int64(nil), l...)
	if at < 0 {
		drop := min(-at, lo)
		shiftLimbs(cp, -drop)
		at += drop
	}
	q, s := at/64, uint(at%64)
	for i := 0; i < w.limbs-q; i++ {
		cur, prev := sign, sign
		if i < len(cp) {
			cur = uint64(cp[i])
		}
		if i == 0 {
			prev = 0
		} else if i-1 < len(cp) {
			prev = uint64(cp[i-1])
		}
		setWord(b[wideHead:], q+i, cur<<s|prev>>(64-s))
	}
}

// add adds +-m * 2^e.
func (w wideSum) add(b []byte, m mag, e int, neg bool) {
	if m.isZero() {
		return
	}
	at := e - w.base
	if at < 0 { // low bits that no exact product has
		m, at = m.shiftRight(-at), 0
	}
	q, s := at/64, uint(at%64)
	term := [4]uint64{m[0] << s, m[1]<<s | m[0]>>(64-s), m[2]<<s | m[1]>>(64-s), m[2] >> (64 - s)}
	b = b[wideHead:]
	var c uint64
	for i := q; i < w.limbs; i++ {
		var t uint64
		if i-q < 4 {
			t = term[i-q]
		} else if c == 0 {
			return
		}
		var r uint64
		if neg {
			r, c = bits.Sub64(word(b, i), t, c)
		} else {
			r, c = bits.Add64(word(b, i), t, c)
		}
		setWord(b, i, r)
	}
}

// addSpecial counts w occurrences of NaN or an infinity.
func (w wideSum) addSpecial(b []byte, x float64, n int64) {
	i := 0
	if math.IsInf(x, 1) {
		i = 1
	} else if math.IsInf(x, -1) {
		i = 2
	}
	setWord(b, i, word(b, i)+uint64(n))
}

// addWide adds sum s to b.
func (w wideSum) addWide(b, s []byte) {
	for i := 0; i < 3; i++ {
		setWord(b, i, word(b, i)+word(s, i))
	}
	b, s = b[wideHead:], s[wideHead:]
	var c uint64
	for i := 0; i < w.limbs; i++ {
		var r uint64
		r, c = bits.Add64(word(b, i), word(s, i), c)
		setWord(b, i, r)
	}
}

// special gives NaN or an infinity where the sum is one.
func wideSpecial(b []byte) (float64, bool) {
	nan, pos, neg := int64(word(b, 0)), int64(word(b, 1)), int64(word(b, 2))
	switch {
	case nan > 0 || pos > 0 && neg > 0:
		return math.NaN(), true
	case pos > 0:
		return math.Inf(1), true
	case neg > 0:
		return math.Inf(-1), true
	}
	return 0, false
}

// exact is a finite sum: sign, and magnitude limbs (lowest first) times 2^base.
type exact struct {
	neg  bool
	base int
	mag  []uint64
}

// sum reads a sum in either form; blob is its field where it is wide. buf is
// scratch. Special says that the value is f, not a finite sum.
func (w wideSum) sum(p []int64, blob []byte, buf []uint64) (x exact, f float64, special bool) {
	buf = buf[:0]
	switch p[0] & 3 {
	case fixInline:
		x.base = int(p[0] >> 2)
		for _, l := range p[1:] {
			buf = append(buf, uint64(l))
		}
	case fixWide:
		if f, special = wideSpecial(blob); special {
			return x, f, true
		}
		x.base = w.base
		for i := 0; i < w.limbs; i++ {
			buf = append(buf, word(blob[wideHead:], i))
		}
	default:
		return x, 0, false
	}
	if n := len(buf); buf[n-1]>>63 != 0 {
		x.neg = true
		var c uint64 = 1
		for i := range buf {
			buf[i], c = bits.Add64(^buf[i], 0, c)
		}
	}
	x.mag = buf
	return x, 0, false
}

// big gives the sum as an integer times 2^base.
func (x exact) big() *big.Int {
	b := make([]byte, 8*len(x.mag))
	for i, l := range x.mag {
		binary.BigEndian.PutUint64(b[len(b)-8*(i+1):], l)
	}
	z := new(big.Int).SetBytes(b)
	if x.neg {
		z.Neg(z)
	}
	return z
}

// floatFormat is a binary floating-point format.
type floatFormat struct {
	prec   int // bits of precision
	minExp int // exponent of the lowest bit of a subnormal
	maxExp int // magnitudes of 2^maxExp and more overflow
}

var (
	formatDouble = floatFormat{53, -1074, 1024}
	formatReal   = floatFormat{24, -149, 128}
)

// div gives x / n, n > 0, rounded once, half to even. The result is infinite on overflow.
func (x exact) div(n uint64, f floatFormat) float64 {
	top := len(x.mag) - 1
	for top >= 0 && x.mag[top] == 0 {
		top--
	}
	if top < 0 {
		return 0
	}
	// (hi, lo) are the 128 leading bits, rest says whether anything follows.
	s := uint(bits.LeadingZeros64(x.mag[top]))
	at := func(i int) uint64 {
		if i < 0 {
			return 0
		}
		return x.mag[i]
	}
	hi := x.mag[top]<<s | at(top-1)>>(64-s)
	lo := at(top-1)<<s | at(top-2)>>(64-s)
	rest := at(top-2)<<s != 0
	for i := 0; i < top-2 && !rest; i++ {
		rest = x.mag[i] != 0
	}
	e := x.base + 64*(top-1) - int(s) // exponent of lo's lowest bit
	d := uint(bits.LeadingZeros64(n))
	den := n << d
	if hi >= den {
		rest = rest || lo&1 != 0
		lo = lo>>1 | hi<<63
		hi >>= 1
		e++
	}
	q, r := bits.Div64(hi, lo, den)
	return roundFloat(x.neg, q, rest || r != 0, e+int(d), f)
}

// roundFloat gives +-(q + something below 1 if sticky) * 2^e, q not zero.
func roundFloat(neg bool, q uint64, sticky bool, e int, f floatFormat) float64 {
	drop := bits.Len64(q) - f.prec
	if low := f.minExp - e; drop < low {
		drop = low
	}
	switch {
	case drop > 64 || drop == 64 && q>>63 == 0:
		q, drop = 0, 0
		e = f.minExp
	case drop > 0:
		half := uint64(1) << (drop - 1)
		below := q & (half - 1)
		up := q&half != 0 && (sticky || below != 0 || drop < 64 && q>>drop&1 != 0)
		if drop == 64 {
			q = 0
		} else {
			q >>= drop
		}
		if up {
			q++
		}
		e += drop
	}
	v := math.Ldexp(float64(q), e)
	if bits.Len64(q)+e > f.maxExp {
		v = math.Inf(1)
	}
	if neg {
		v = -v
	}
	return v
}

// ratio gives num / den * 2^e rounded once to a double; den is not zero.
func ratio(num, den *big.Int, e int) float64 {
	if num.Sign() == 0 {
		return 0
	}
	neg := num.Sign() != den.Sign()
	a, b := new(big.Int).Abs(num), new(big.Int).Abs(den)
	// At least 64 bits of quotient.
	if sh := 66 - (a.BitLen() - b.BitLen()); sh > 0 {
		a.Lsh(a, uint(sh))
		e -= sh
	}
	q, r := a.QuoRem(a, b, new(big.Int))
	sticky := r.Sign() != 0
	if n := q.BitLen() - 64; n > 0 {
		sticky = sticky || q.TrailingZeroBits() < uint(n)
		q.Rsh(q, uint(n))
		e += n
	}
	return roundFloat(neg, q.Uint64(), sticky, e, formatDouble)
}
