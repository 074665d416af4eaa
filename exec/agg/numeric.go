package agg

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"slices"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// Exact sums of numerics.
//
// While every value has one scale (over append-only input: whatever the
// scales) and the sum fits 127 bits it lies inline in four words: state, number
// of values, and the coefficient. Otherwise it is a numSum in the entry's blob,
// which also knows how many values of each scale there are, because the
// display scale of a sum is the largest scale among the values it is over.
//
// Inline state word: 0 empty, scale<<2|1 inline, 2 wide.

const numWords = 4

// coef is a numeric taken apart: (-1)^neg * (hi, lo) * 10^-scale.
type coef struct {
	hi, lo uint64
	scale  int
	neg    bool
}

// splitNumeric reads the stored form of a finite numeric of up to 126 bits; false for others.
func splitNumeric(b []byte) (c coef, ok bool) {
	if len(b) == 0 || b[0]&2 != 0 {
		return c, false
	}
	c.scale, c.neg = int(b[0]>>2), b[0]&1 != 0
	b = b[1:]
	if c.scale == 63 {
		if len(b) < 2 {
			return c, false
		}
		c.scale = int(b[0])<<8 | int(b[1])
		b = b[2:]
	}
	if len(b) > 16 || len(b) == 16 && b[0] >= 0x40 {
		return c, false
	}
	for _, x := range b {
		c.hi = c.hi<<8 | c.lo>>56
		c.lo = c.lo<<8 | uint64(x)
	}
	return c, true
}

// appendNumeric appends the stored form of a two's complement coefficient at a scale.
func appendNumeric(dst []byte, lo, hi uint64, scale int) []byte {
	var sign byte
	if hi>>63 != 0 {
		sign = 1
		var c uint64
		lo, c = bits.Add64(^lo, 1, 0)
		hi = ^hi + c
	}
	if scale < 63 {
		dst = append(dst, byte(scale)<<2|sign)
	} else {
		dst = append(dst, 63<<2|sign, byte(scale>>8), byte(scale))
	}
	if hi != 0 {
		return binary.BigEndian.AppendUint64(appendBytes(dst, hi), lo)
	}
	return appendBytes(dst, lo)
}

// appendBytes appends x, the highest byte first, without the zeros before it.
func appendBytes(dst []byte, x uint64) []byte {
	n := (bits.Len64(x) + 7) / 8
	return binary.BigEndian.AppendUint64(dst, x<<(64-8*n))[:len(dst)+n]
}

var pow10 = func() (p [20]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// scaleUp multiplies a magnitude by 10^k; false beyond 126 bits.
func scaleUp(hi, lo uint64, k int) (uint64, uint64, bool) {
	for k > 0 && hi|lo != 0 {
		n := min(k, 19)
		k -= n
		var ok bool
		if hi, lo, ok = mul128(hi, lo, pow10[n]); !ok {
			return 0, 0, false
		}
	}
	return hi, lo, true
}

// mul128 multiplies a magnitude by w; false beyond 126 bits.
func mul128(hi, lo, w uint64) (uint64, uint64, bool) {
	h, l := bits.Mul64(lo, w)
	over, m := bits.Mul64(hi, w)
	m, c := bits.Add64(m, h, 0)
	return m, l, over == 0 && c == 0 && m>>62 == 0
}

// addNumeric adds w times a stored numeric to an inline sum. mixed says that
// values of several scales may share the inline form, which is so over
// append-only input. False: the sum must become wide; it is then unchanged.
func addNumeric(p []int64, b []byte, w int64, mixed bool) bool {
	c, ok := splitNumeric(b)
	if !ok || p[0]&3 == fixWide {
		return false
	}
	if w != 1 {
		n := uint64(w)
		if w < 0 {
			c.neg, n = !c.neg, -n
		}
		if c.hi, c.lo, ok = mul128(c.hi, c.lo, n); !ok {
			return false
		}
	}
	lo, hi, scale := uint64(p[2]), uint64(p[3]), int(p[0]>>2)
	switch {
	case p[0] == fixEmpty:
		scale = c.scale
	case c.scale == scale:
	case !mixed:
		return false
	case c.scale < scale:
		if c.hi, c.lo, ok = scaleUp(c.hi, c.lo, scale-c.scale); !ok {
			return false
		}
	default:
		if lo, hi, ok = scaleUpSigned(lo, hi, c.scale-scale); !ok {
			return false
		}
		scale = c.scale
	}
	old := hi
	var carry uint64
	if c.neg {
		lo, carry = bits.Sub64(lo, c.lo, 0)
		hi, _ = bits.Sub64(hi, c.hi, carry)
		ok = int64(old&^hi) >= 0
	} else {
		lo, carry = bits.Add64(lo, c.lo, 0)
		hi, _ = bits.Add64(hi, c.hi, carry)
		ok = int64(hi&^old) >= 0
	}
	if !ok {
		return false
	}
	p[0], p[1], p[2], p[3] = int64(scale)<<2|fixInline, p[1]+w, int64(lo), int64(hi)
	if p[1] == 0 && lo|hi == 0 {
		p[0] = fixEmpty // a sum over nothing has no scale
	}
	return true
}

// addInlineNumeric adds the inline sum s to p; false, with p unchanged, where p must become wide or one of them is.
func addInlineNumeric(p, s []int64, mixed bool) bool {
	if p[0]&3 != fixInline || s[0]&3 != fixInline {
		return false
	}
	scale, with := int(p[0]>>2), int(s[0]>>2)
	if scale != with && !mixed {
		return false
	}
	lo, hi, slo, shi, ok := uint64(p[2]), uint64(p[3]), uint64(s[2]), uint64(s[3]), true
	if scale < with {
		lo, hi, ok = scaleUpSigned(lo, hi, with-scale)
		scale = with
	} else if scale > with {
		slo, shi, ok = scaleUpSigned(slo, shi, scale-with)
	}
	if !ok {
		return false
	}
	sumLo, carry := bits.Add64(lo, slo, 0)
	sumHi, _ := bits.Add64(hi, shi, carry)
	if int64((hi^sumHi)&(shi^sumHi)) < 0 { // overflow: both have a sign that the sum has not
		return false
	}
	p[0], p[1], p[2], p[3] = int64(scale)<<2|fixInline, p[1]+s[1], int64(sumLo), int64(sumHi)
	return true
}

func scaleUpSigned(lo, hi uint64, k int) (uint64, uint64, bool) {
	neg := hi>>63 != 0
	if neg {
		var c uint64
		lo, c = bits.Add64(^lo, 1, 0)
		hi = ^hi + c
	}
	hi, lo, ok := scaleUp(hi, lo, k)
	if neg {
		var c uint64
		lo, c = bits.Add64(^lo, 1, 0)
		hi = ^hi + c
	}
	return lo, hi, ok
}

// numSum is the wide form: a sum, and for variances a sum of squares, of any size.
type numSum struct {
	special [3]int64 // NaN, Infinity, -Infinity
	scales  []scaleCount
	scale   int      // of sum; that of squares is twice as large
	sum     *big.Int // never nil
	squares *big.Int // nil where not wanted
}

// scaleCount says how many values of a scale there are, ascending by scale.
type scaleCount struct {
	scale int
	n     int64
}

func newNumSum(squares bool) *numSum {
	s := &numSum{sum: new(big.Int)}
	if squares {
		s.squares = new(big.Int)
	}
	return s
}

// countScale counts n values of a scale.
func (s *numSum) countScale(scale int, n int64) {
	i, ok := slices.BinarySearchFunc(s.scales, scale, func(c scaleCount, k int) int { return c.scale - k })
	if !ok {
		s.scales = slices.Insert(s.scales, i, scaleCount{scale: scale})
	}
	if s.scales[i].n += n; s.scales[i].n == 0 {
		s.scales = slices.Delete(s.scales, i, i+1)
	}
}

// display gives the display scale of the sum.
func (s *numSum) display() int {
	if n := len(s.scales); n > 0 {
		return s.scales[n-1].scale
	}
	return 0
}

func bigPow10(k int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(k)), nil) }

// rescale raises the scale of the stored sums.
func (s *numSum) rescale(to int) {
	if to <= s.scale {
		return
	}
	p := bigPow10(to - s.scale)
	s.sum.Mul(s.sum, p)
	if s.squares != nil {
		s.squares.Mul(s.squares, p.Mul(p, p))
	}
	s.scale = to
}

// add adds w times a stored numeric.
func (s *numSum) add(b []byte, w int64) {
	n := types.NumDecode(b)
	switch {
	case n.IsNaN():
		s.special[0] += w
		return
	case n.IsInf() && n.Sign() > 0:
		s.special[1] += w
		return
	case n.IsInf():
		s.special[2] += w
		return
	}
	s.countScale(n.Scale(), w)
	s.rescale(n.Scale())
	x := coefBig(b)
	if d := s.scale - n.Scale(); d > 0 {
		x.Mul(x, bigPow10(d))
	}
	k := big.NewInt(w)
	if s.squares != nil {
		sq := new(big.Int).Mul(x, x)
		s.squares.Add(s.squares, sq.Mul(sq, k))
	}
	s.sum.Add(s.sum, x.Mul(x, k))
}

// coefBig gives the coefficient of a stored finite numeric.
func coefBig(b []byte) *big.Int {
	neg, skip := b[0]&1 != 0, 1
	if b[0]>>2 == 63 {
		skip = 3
	}
	x := new(big.Int).SetBytes(b[skip:])
	if neg {
		x.Neg(x)
	}
	return x
}

// addInline adds what an inline sum holds.
func (s *numSum) addInline(p []int64) {
	if p[0]&3 != fixInline {
		return
	}
	scale := int(p[0] >> 2)
	s.countScale(scale, p[1])
	s.rescale(scale)
	x := int128(p[2], p[3])
	if d := s.scale - scale; d > 0 {
		x.Mul(x, bigPow10(d))
	}
	s.sum.Add(s.sum, x)
}

func int128(lo, hi int64) *big.Int {
	x := big.NewInt(hi)
	x.Lsh(x, 64)
	return x.Add(x, new(big.Int).SetUint64(uint64(lo)))
}

// merge adds another sum.
func (s *numSum) merge(o *numSum) {
	for i, n := range o.special {
		s.special[i] += n
	}
	for _, c := range o.scales {
		s.countScale(c.scale, c.n)
	}
	to := max(s.scale, o.scale)
	s.rescale(to)
	o.rescale(to)
	s.sum.Add(s.sum, o.sum)
	if s.squares != nil {
		s.squares.Add(s.squares, o.squares)
	}
}

// result gives the sum as PostgreSQL shows it.
func (s *numSum) result() types.Num {
	switch {
	case s.special[0] > 0 || s.special[1] > 0 && s.special[2] > 0:
		return types.NumNaN
	case s.special[1] > 0:
		return types.NumInf
	case s.special[2] > 0:
		return types.NumNegInf
	}
	return numOf(s.sum, s.scale, s.display())
}

// isSpecial says whether any value is NaN or infinite.
func (s *numSum) isSpecial() bool {
	return s.special[0] > 0 || s.special[1] > 0 || s.special[2] > 0
}

// numOf makes x * 10^-have with display scale want, to which it must be exact.
func numOf(x *big.Int, have, want int) types.Num {
	if have > want {
		x = new(big.Int).Quo(x, bigPow10(have-want))
	} else if have < want {
		x = new(big.Int).Mul(x, bigPow10(want-have))
	}
	return types.NumDecode(appendBigNumeric(nil, x, want))
}

// appendBigNumeric appends the stored form of x * 10^-scale.
func appendBigNumeric(dst []byte, x *big.Int, scale int) []byte {
	var sign byte
	if x.Sign() < 0 {
		sign = 1
	}
	if scale < 63 {
		dst = append(dst, byte(scale)<<2|sign)
	} else {
		dst = append(dst, 63<<2|sign, byte(scale>>8), byte(scale))
	}
	return append(dst, x.Bytes()...)
}

// appendTo appends the encoding that a blob field holds.
func (s *numSum) appendTo(dst []byte) []byte {
	for _, n := range s.special {
		dst = binary.AppendVarint(dst, n)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.scales)))
	for _, c := range s.scales {
		dst = binary.AppendUvarint(dst, uint64(c.scale))
		dst = binary.AppendVarint(dst, c.n)
	}
	dst = binary.AppendUvarint(dst, uint64(s.scale))
	dst = appendBig(dst, s.sum)
	if s.squares != nil {
		dst = appendBig(dst, s.squares)
	}
	return dst
}

func appendBig(dst []byte, x *big.Int) []byte {
	b := x.Bytes()
	dst = binary.AppendVarint(dst, int64(len(b))<<1|int64(uint(x.Sign())>>63))
	return append(dst, b...)
}

// readNumSum reads what appendTo wrote; an empty field is an empty sum.
func readNumSum(b []byte, squares bool) *numSum {
	s := newNumSum(squares)
	if len(b) == 0 {
		return s
	}
	r := reader{b}
	for i := range s.special {
		s.special[i] = r.varint()
	}
	s.scales = make([]scaleCount, r.uvarint())
	for i := range s.scales {
		s.scales[i] = scaleCount{scale: int(r.uvarint()), n: r.varint()}
	}
	s.scale = int(r.uvarint())
	s.sum = r.big()
	if squares {
		s.squares = r.big()
	}
	return s
}

// reader takes blob fields apart. Their bytes are the operator's own, so that a short one is a bug and panics.
type reader struct{ b []byte }

func (r *reader) varint() int64 {
	x, n := binary.Varint(r.b)
	r.b = r.b[n:]
	return x
}

func (r *reader) uvarint() uint64 {
	x, n := binary.Uvarint(r.b)
	r.b = r.b[n:]
	return x
}

func (r *reader) big() *big.Int {
	h := r.varint()
	n := int(h >> 1)
	x := new(big.Int).SetBytes(r.b[:n])
	r.b = r.b[n:]
	if h&1 != 0 {
		x.Neg(x)
	}
	return x
}
