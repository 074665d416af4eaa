package types

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Num is a numeric: a decimal number with a display scale, NaN or an infinity.
// It is a small value; coefficients of up to 128 bits (38 digits) lie in it,
// larger ones in a big.Int that is never changed once made. The zero Num is 0.
//
// The stored form of a numeric (Datum.B) is
//
//	byte 0          scale<<2 | sign (0: not negative, 1: negative), scale <= 62
//	                63<<2 | sign, and the scale in 2 bytes, big-endian, above that
//	                2, 6, 10 for NaN, Infinity, -Infinity
//	rest            the coefficient's magnitude, big-endian without leading zero bytes
//
// The length comes from outside. 1.0 and 1.00 differ in the stored form;
// AppendKey, Compare and Hash treat them as equal.
type Num struct {
	wide   *big.Int // the magnitude where it exceeds 128 bits, else nil
	hi, lo uint64   // the magnitude otherwise
	scale  int32    // digits after the point, 0 to maxDisplayScale
	form   numForm
	neg    bool
}

type numForm uint8

const (
	numFinite numForm = iota
	numNaN
	numInf
)

// Limits of PostgreSQL's numeric.
const (
	maxDisplayScale = 16383  // digits after the point that can be stored
	maxIntDigits    = 131072 // digits before the point that can be stored
	maxResultScale  = 1000   // digits after the point that a division or function chooses by itself
	minSigDigits    = 16     // significant digits that a division or function aims for
	numScaleInline  = 63     // scale field of byte 0 that says "in the next two bytes"
	numBytesNaN     = 0<<2 | 2
	numBytesInf     = 1<<2 | 2
	numBytesNegInf  = 2<<2 | 2
)

var pow10u64 = func() (p [20]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// NumNaN and NumInf are the special values.
var (
	NumNaN    = Num{form: numNaN}
	NumInf    = Num{form: numInf}
	NumNegInf = Num{form: numInf, neg: true}
)

// FromInt64 makes a numeric of scale 0.
func FromInt64(i int64) Num {
	if i < 0 {
		return Num{lo: -uint64(i), neg: true}
	}
	return Num{lo: uint64(i)}
}

// FromInt128 makes a numeric of scale 0 from a 128-bit two's complement integer,
// such as a sum of bigints.
func FromInt128(hi int64, lo uint64) Num {
	n := Num{hi: uint64(hi), lo: lo}
	if hi < 0 {
		var c uint64
		n.lo, c = bits.Sub64(0, n.lo, 0)
		n.hi, _ = bits.Sub64(0, n.hi, c)
		n.neg = true
	}
	return n
}

// NumScaled makes coef * 10^-scale with that display scale, 0 <= scale <= 16383.
func NumScaled(coef int64, scale int) Num {
	n := FromInt64(coef)
	n.scale = int32(scale)
	return n
}

// numBig makes a finite number of a magnitude that it keeps.
func numBig(mag *big.Int, neg bool, scale int32) Num {
	n := Num{scale: scale, neg: neg}
	if mag.BitLen() > 128 {
		n.wide = mag
		return n
	}
	if mag.BitLen() <= 64 {
		n.lo = mag.Uint64()
	} else {
		n.lo = mag.Uint64()
		n.hi = new(big.Int).Rsh(mag, 64).Uint64()
	}
	n.fixZero()
	return n
}

func (n *Num) fixZero() {
	if n.wide == nil && n.hi|n.lo == 0 {
		n.neg = false
	}
}

// mag gives the magnitude of a finite number as a big.Int not to be changed.
func (n Num) mag() *big.Int {
	if n.wide != nil {
		return n.wide
	}
	b := new(big.Int).SetUint64(n.hi)
	if n.hi != 0 {
		b.Lsh(b, 64)
	}
	return b.Or(b, new(big.Int).SetUint64(n.lo))
}

// IsNaN says whether n is NaN.
func (n Num) IsNaN() bool { return n.form == numNaN }

// IsInf says whether n is Infinity or -Infinity.
func (n Num) IsInf() bool { return n.form == numInf }

// IsZero says whether n is a zero of any scale.
func (n Num) IsZero() bool { return n.form == numFinite && n.wide == nil && n.hi|n.lo == 0 }

// Sign gives -1, 0 or 1; 1 for NaN.
func (n Num) Sign() int {
	switch {
	case n.form == numNaN:
		return 1
	case n.neg:
		return -1
	case n.IsZero():
		return 0
	}
	return 1
}

// Scale gives the display scale, the number of digits after the point; 0 for special values.
func (n Num) Scale() int { return int(n.scale) }

// NumDecode reads the stored form. It does not keep b. Bytes that are not a
// stored numeric give NaN.
func NumDecode(b []byte) Num {
	if len(b) == 0 {
		return NumNaN
	}
	h := b[0]
	switch h & 3 {
	case 2:
		switch h {
		case numBytesInf:
			return NumInf
		case numBytesNegInf:
			return NumNegInf
		}
		return NumNaN
	case 3:
		return NumNaN
	}
	n := Num{scale: int32(h >> 2), neg: h&1 != 0}
	b = b[1:]
	if n.scale == numScaleInline {
		if len(b) < 2 {
			return NumNaN
		}
		n.scale = int32(b[0])<<8 | int32(b[1])
		b = b[2:]
	}
	switch {
	case len(b) <= 8:
		for _, c := range b {
			n.lo = n.lo<<8 | uint64(c)
		}
	case len(b) <= 16:
		for _, c := range b {
			n.hi = n.hi<<8 | n.lo>>56
			n.lo = n.lo<<8 | uint64(c)
		}
	default:
		n.wide = new(big.Int).SetBytes(b)
	}
	return n
}

// AppendTo appends the stored form.
func (n Num) AppendTo(dst []byte) []byte {
	switch n.form {
	case numNaN:
		return append(dst, numBytesNaN)
	case numInf:
		if n.neg {
			return append(dst, numBytesNegInf)
		}
		return append(dst, numBytesInf)
	}
	var sign byte
	if n.neg {
		sign = 1
	}
	if n.scale < numScaleInline {
		dst = append(dst, byte(n.scale)<<2|sign)
	} else {
		dst = append(dst, numScaleInline<<2|sign, byte(n.scale>>8), byte(n.scale))
	}
	if n.wide != nil {
		return append(dst, n.wide.Bytes()...)
	}
	if n.hi != 0 {
		dst = appendTrimmed(dst, n.hi)
		return append(dst, byte(n.lo>>56), byte(n.lo>>48), byte(n.lo>>40), byte(n.lo>>32),
			byte(n.lo>>24), byte(n.lo>>16), byte(n.lo>>8), byte(n.lo))
	}
	return appendTrimmed(dst, n.lo)
}

func appendTrimmed(dst []byte, x uint64) []byte {
	for i := (bits.Len64(x) + 7) / 8; i > 0; i-- {
		dst = append(dst, byte(x>>(8*(i-1))))
	}
	return dst
}

// Datum makes a Datum of the number.
func (n Num) Datum() Datum { return Datum{B: n.AppendTo(nil)} }

// appendDigits appends the decimal digits of the magnitude, "0" for zero.
func (n Num) appendDigits(dst []byte) []byte {
	if n.wide != nil {
		return n.wide.Append(dst, 10)
	}
	if n.hi == 0 {
		return strconv.AppendUint(dst, n.lo, 10)
	}
	const e19 = 10_000_000_000_000_000_000
	// 128 bits are up to 39 digits: three groups of 19.
	q1, r := bits.Div64(0, n.hi, e19)
	q0, low := bits.Div64(r, n.lo, e19)
	q, mid := bits.Div64(q1, q0, e19)
	if q != 0 {
		dst = strconv.AppendUint(dst, q, 10)
		dst = appendPadded(dst, mid, 19)
	} else {
		dst = strconv.AppendUint(dst, mid, 10)
	}
	return appendPadded(dst, low, 19)
}

// appendPadded appends x in decimal with at least width digits.
func appendPadded(dst []byte, x uint64, width int) []byte {
	var buf [20]byte
	i := len(buf)
	for x > 0 || len(buf)-i < width {
		i--
		buf[i] = byte('0' + x%10)
		x /= 10
	}
	return append(dst, buf[i:]...)
}

// AppendText appends the number as PostgreSQL shows it.
func (n Num) AppendText(dst []byte) []byte {
	switch n.form {
	case numNaN:
		return append(dst, "NaN"...)
	case numInf:
		if n.neg {
			return append(dst, "-Infinity"...)
		}
		return append(dst, "Infinity"...)
	}
	if n.neg {
		dst = append(dst, '-')
	}
	start := len(dst)
	dst = n.appendDigits(dst)
	if n.scale == 0 {
		return dst
	}
	have, scale := len(dst)-start, int(n.scale)
	if pad := scale + 1 - have; pad > 0 {
		for i := 0; i < pad; i++ {
			dst = append(dst, '0')
		}
		copy(dst[start+pad:], dst[start:start+have])
		for i := 0; i < pad; i++ {
			dst[start+i] = '0'
		}
	}
	dst = append(dst, 0)
	point := len(dst) - 1 - scale
	copy(dst[point+1:], dst[point:])
	dst[point] = '.'
	return dst
}

// String gives the number as PostgreSQL shows it.
func (n Num) String() string {
	var buf [64]byte
	return string(n.AppendText(buf[:0]))
}

// NumParse reads a number as PostgreSQL's numeric input does. Errors: 22P02,
// and 22003 where the number exceeds the format.
func NumParse(s string) (Num, error) {
	n, ok, over := scanNum(strings.Trim(s, " \t\n\v\f\r"))
	switch {
	case over:
		return n, errNumOverflow()
	case !ok:
		return n, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type numeric: \"%s\"", s)
	}
	return n, nil
}

func errNumOverflow() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
}

// scanNum reads a whole trimmed string; over says that it is a number beyond the format.
func scanNum(s string) (n Num, ok, over bool) {
	i, neg, signed := 0, false, false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg, signed, i = s[0] == '-', true, 1
	}
	if i < len(s) && !isDigit(s[i]) && s[i] != '.' {
		switch strings.ToLower(s[i:]) {
		case "nan":
			return NumNaN, !signed, false
		case "inf", "infinity":
			return Num{form: numInf, neg: neg}, true, false
		}
		return n, false, false
	}
	start, digits, frac, point := i, 0, 0, false
	for ; i < len(s); i++ {
		c := s[i]
		if isDigit(c) {
			digits++
			if point {
				frac++
			}
			if hi, lo, fits := mulAdd128(n.hi, n.lo, 10, uint64(c-'0')); fits && n.wide == nil {
				n.hi, n.lo = hi, lo
			} else {
				n.wide = new(big.Int) // read as a whole below
			}
		} else if c == '.' && !point {
			point = true
		} else {
			break
		}
	}
	if digits == 0 {
		return n, false, false
	}
	if n.wide != nil {
		n.hi, n.lo = 0, 0
		n.wide.SetString(strings.Replace(s[start:i], ".", "", 1), 10)
	}
	exp := 0
	if i < len(s) {
		if s[i] != 'e' && s[i] != 'E' {
			return n, false, false
		}
		e, err := strconv.Atoi(s[i+1:])
		if err != nil || strings.ContainsAny(s[i+1:], "_") {
			return n, false, false
		}
		if e > math.MaxInt32/2 || e < -math.MaxInt32/2 {
			return n, false, true
		}
		exp = e
	}
	n.neg = neg
	n.fixZero()
	scale := frac - exp
	if n.IsZero() {
		scale = max(scale, 0)
		n.scale = int32(scale)
		return n, scale <= maxDisplayScale, scale > maxDisplayScale
	}
	if scale > maxDisplayScale || -scale > maxIntDigits {
		return n, false, true
	}
	if scale < 0 {
		n = n.shiftLeft(-scale)
		scale = 0
	}
	n.scale = int32(scale)
	return n, true, n.digits()-scale > maxIntDigits
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// mulAdd128 gives x*m + a and whether it fits in 128 bits.
func mulAdd128(hi, lo, m, a uint64) (uint64, uint64, bool) {
	h1, l := bits.Mul64(lo, m)
	h2, h := bits.Mul64(hi, m)
	l, c := bits.Add64(l, a, 0)
	h, c2 := bits.Add64(h, h1, c)
	return h, l, h2 == 0 && c2 == 0
}

// shiftLeft multiplies the magnitude by 10^k and leaves the scale.
func (n Num) shiftLeft(k int) Num {
	if k <= 0 || n.IsZero() {
		return n
	}
	if n.wide == nil && k <= 38 {
		hi, lo, ok := n.hi, n.lo, true
		for r := k; r > 0 && ok; r -= 19 {
			hi, lo, ok = mulAdd128(hi, lo, pow10u64[min(r, 19)], 0)
		}
		if ok {
			n.hi, n.lo = hi, lo
			return n
		}
	}
	return numBig(new(big.Int).Mul(n.mag(), bigPow10(k)), n.neg, n.scale)
}

func bigPow10(k int) *big.Int {
	if k < len(pow10u64) {
		return new(big.Int).SetUint64(pow10u64[k])
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(k)), nil)
}

// digits gives the number of decimal digits of the magnitude, 1 for zero.
func (n Num) digits() int {
	if n.wide == nil {
		if n.hi == 0 {
			return digits64(n.lo)
		}
		var buf [40]byte
		return len(n.appendDigits(buf[:0]))
	}
	// An estimate from the bit length is exact or one too many.
	d := int(float64(n.wide.BitLen())*math.Log10(2)) + 1
	if n.wide.Cmp(bigPow10(d-1)) < 0 {
		d--
	}
	return d
}

func digits64(x uint64) int {
	d := 1
	for d < len(pow10u64) && x >= pow10u64[d] {
		d++
	}
	return d
}
