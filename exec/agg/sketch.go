package agg

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// hllCell is approx_count_distinct over append-only input. The field is the sorted 64-bit hashes of the values while
// there are few of them, so that small counts are exact, and HyperLogLog registers, a byte each, later. Both depend on the set of values alone.
type hllCell struct {
	in    *input
	field int
	typ   types.Type
	p     int // log2 of the registers
}

// State: the field begins with its form.
const (
	hllSparse = 1 // 8 bytes a hash, ascending
	hllDense  = 2 // a byte a register
)

// hllBits chooses the registers for a relative standard deviation.
func hllBits(rsd float64) int {
	n := 1.04 / rsd
	return min(max(int(math.Ceil(math.Log2(n*n))), 9), 16)
}

func (c *hllCell) add(t *target) {
	rs := &c.in.rs
	v := c.in.cols[0]
	for k, s := range rs.slot {
		c.insert(t, s, mix(types.Hash(c.typ, v.Datum(int(rs.row[k])))))
	}
}

// mix makes every bit of the register choice and of the rank depend on the whole hash.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

func (c *hllCell) insert(t *target, s int32, h uint64) {
	f := t.field(s, c.field)
	if len(f) > 0 && f[0] == hllDense {
		c.register(f[1:], h)
		return
	}
	n := max(len(f)-1, 0) / 8
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(f[1+8*i:]) }
	lo, hi := 0, n
	for lo < hi {
		if m := int(uint(lo+hi) / 2); at(m) < h {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < n && at(lo) == h {
		return
	}
	if n >= c.sparseMax() {
		d := make([]byte, 1+1<<c.p)
		d[0] = hllDense
		for i := 0; i < n; i++ {
			c.register(d[1:], at(i))
		}
		c.register(d[1:], h)
		t.setField(s, c.field, d)
		return
	}
	nf := make([]byte, 1+8*(n+1))
	nf[0] = hllSparse
	if n > 0 {
		copy(nf[1:], f[1:1+8*lo])
		copy(nf[1+8*(lo+1):], f[1+8*lo:])
	}
	binary.LittleEndian.PutUint64(nf[1+8*lo:], h)
	t.setField(s, c.field, nf)
}

// sparseMax is the number of hashes that take the room of the registers.
func (c *hllCell) sparseMax() int { return 1 << c.p / 8 }

func (c *hllCell) register(r []byte, h uint64) {
	i := h >> (64 - c.p)
	rank := byte(bits.LeadingZeros64(h<<c.p|1<<(c.p-1)) + 1)
	r[i] = max(r[i], rank)
}

func (c *hllCell) merge(dst *target, to []int32, src *target, from []int32) {
	for k, i := range to {
		c.mergeOne(dst, i, slices.Clone(src.field(from[k], c.field)))
	}
}

// mergeOne adds the sketch f, which is the callee's, to entry dst.
func (c *hllCell) mergeOne(t *target, dst int32, f []byte) {
	if len(f) == 0 {
		return
	}
	if f[0] == hllSparse {
		for i := 1; i < len(f); i += 8 {
			c.insert(t, dst, binary.LittleEndian.Uint64(f[i:]))
		}
		return
	}
	d := t.field(dst, c.field)
	if len(d) > 0 && d[0] == hllSparse {
		for i := 1; i < len(d); i += 8 {
			c.register(f[1:], binary.LittleEndian.Uint64(d[i:]))
		}
	} else if len(d) > 0 {
		for i := 1; i < len(d); i++ {
			f[i] = max(f[i], d[i])
		}
	}
	t.setField(dst, c.field, f)
}

// estimate gives the number of distinct values.
func (c *hllCell) estimate(t *target, slot int32) int64 {
	f := t.field(slot, c.field)
	if len(f) == 0 {
		return 0
	}
	if f[0] == hllSparse {
		return int64(len(f)-1) / 8
	}
	// Ertl's improved estimator needs no bias tables.
	m := float64(int(1) << c.p)
	q := 64 - c.p
	counts := make([]float64, q+2)
	for _, r := range f[1:] {
		counts[r]++
	}
	z := m * hllTau(1-counts[q+1]/m)
	for k := q; k >= 1; k-- {
		z = 0.5 * (z + counts[k])
	}
	z += m * hllSigma(counts[0]/m)
	return int64(math.Round(m / (2 * math.Ln2) * m / z))
}

func hllSigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for {
		x *= x
		old := z
		z += x * y
		y += y
		if z == old {
			return z
		}
	}
}

func hllTau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		x = math.Sqrt(x)
		old := z
		y *= 0.5
		z -= (1 - x) * (1 - x) * y
		if z == old {
			return z / 3
		}
	}
}

// ddCell is approx_percentile: counts of values by logarithmic bucket (DDSketch), so that values can be taken
// out again. Over append-only input a group is exact while it has few different values.
type ddCell struct {
	in    *input
	field int
	gamma float64
	exact bool // start with exact values
}

// State: the field begins with its form, then has entries of 16 bytes, ascending: the value's order word
// (exact) or the bucket (buckets), and the count.
const (
	ddExact   = 1
	ddBuckets = 2

	ddExactMax = 256
)

func (c *ddCell) add(t *target) {
	rs := &c.in.rs
	vals := c.in.cols[0].F64
	for k, s := range rs.slot {
		c.insert(t, s, vals[rs.row[k]], rs.weight(k))
	}
}

func (c *ddCell) insert(t *target, s int32, x float64, w int64) {
	f := t.field(s, c.field)
	if len(f) == 0 && c.exact || len(f) > 0 && f[0] == ddExact {
		if c.bump(t, s, f, ddExact, floatOrder(x+0), w) {
			return
		}
		old := slices.Clone(f)
		t.setField(s, c.field, []byte{ddBuckets})
		for i := 1; i < len(old); i += 16 {
			v := orderFloat(word(old[i:], 0))
			c.bump(t, s, t.field(s, c.field), ddBuckets, c.bucket(v), int64(word(old[i:], 1)))
		}
		f = t.field(s, c.field)
	}
	c.bump(t, s, f, ddBuckets, c.bucket(x), w)
}

// bump adds w to the count under key k; false if the exact form is full.
func (c *ddCell) bump(t *target, s int32, f []byte, form byte, k uint64, w int64) bool {
	n := max(len(f)-1, 0) / 16
	lo, hi := 0, n
	for lo < hi {
		if m := int(uint(lo+hi) / 2); word(f[1+16*m:], 0) < k {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < n && word(f[1+16*lo:], 0) == k {
		e := f[1+16*lo:]
		if c := int64(word(e, 1)) + w; c != 0 {
			setWord(e, 1, uint64(c))
			return true
		}
		t.setField(s, c.field, append(slices.Clone(f[:1+16*lo]), f[1+16*(lo+1):]...))
		return true
	}
	if form == ddExact && n >= ddExactMax {
		return false
	}
	nf := make([]byte, 1+16*(n+1))
	if n > 0 {
		copy(nf, f[:1+16*lo])
		copy(nf[1+16*(lo+1):], f[1+16*lo:])
	}
	nf[0] = form
	setWord(nf[1+16*lo:], 0, k)
	setWord(nf[1+16*lo:], 1, uint64(w))
	t.setField(s, c.field, nf)
	return true
}

// Bucket numbers: magnitudes by logarithm, positive above ddZero and negative below, then infinities and NaN at the ends.
const ddZero = 1 << 40

func (c *ddCell) bucket(x float64) uint64 {
	switch {
	case x != x:
		return 2*ddZero + 1
	case math.IsInf(x, 1):
		return 2 * ddZero
	case math.IsInf(x, -1):
		return 0
	case x == 0:
		return ddZero
	}
	// Doubles have logarithms from -745 to 710, so the offset keeps every bucket on its side of zero.
	i := int64(math.Ceil(math.Log(math.Abs(x))/math.Log(c.gamma))) + ddZero/2
	if x < 0 {
		return uint64(ddZero - i)
	}
	return uint64(ddZero + i)
}

func (c *ddCell) value(k uint64) float64 {
	switch {
	case k == 2*ddZero+1:
		return math.NaN()
	case k == 2*ddZero:
		return math.Inf(1)
	case k == 0:
		return math.Inf(-1)
	case k == ddZero:
		return 0
	}
	i := int64(k) - ddZero
	sign := 1.0
	if i < 0 {
		i, sign = -i, -1
	}
	return sign * 2 * math.Pow(c.gamma, float64(i-ddZero/2)) / (c.gamma + 1)
}

func (c *ddCell) merge(dst *target, to []int32, src *target, from []int32) {
	for k, i := range to {
		c.mergeOne(dst, i, slices.Clone(src.field(from[k], c.field)))
	}
}

// mergeOne adds the sketch f to entry dst.
func (c *ddCell) mergeOne(t *target, dst int32, f []byte) {
	for i := 1; i < len(f); i += 16 {
		k, n := word(f[i:], 0), int64(word(f[i:], 1))
		if f[0] == ddExact {
			c.insert(t, dst, orderFloat(k), n)
			continue
		}
		if d := t.field(dst, c.field); len(d) == 0 || d[0] == ddExact {
			old := slices.Clone(d)
			t.setField(dst, c.field, []byte{ddBuckets})
			for j := 1; j < len(old); j += 16 {
				c.bump(t, dst, t.field(dst, c.field), ddBuckets, c.bucket(orderFloat(word(old[j:], 0))), int64(word(old[j:], 1)))
			}
		}
		c.bump(t, dst, t.field(dst, c.field), ddBuckets, k, n)
	}
}

// quantile gives the smallest value with at least a share p of the n values at or below it.
func (c *ddCell) quantile(t *target, slot int32, p float64, n int64) float64 {
	f := t.field(slot, c.field)
	rank := max(int64(math.Ceil(p*float64(n))), 1)
	for i := 1; i < len(f); i += 16 {
		k, m := word(f[i:], 0), int64(word(f[i:], 1))
		if rank -= m; rank <= 0 {
			if f[0] == ddExact {
				return orderFloat(k)
			}
			return c.value(k)
		}
	}
	return math.NaN()
}
