package agg

import (
	"math/bits"
)

// countCell counts rows, or those of the group that its input leaves out.
type countCell struct {
	in *input
	tally
	// byOther says that another cell over the input counts its rows, too, where rowset.each.
	byOther bool
}

func (c *countCell) add(t *target) {
	if c.off < 0 {
		c.addNulls(t)
		return
	}
	words, w := t.h.WordsAll()
	off := c.off
	rs := &c.in.rs
	if c.byOther && rs.each() {
		return
	}
	if rs.w == nil && rs.one {
		words[int(rs.slot[0])*w+off] += int64(len(rs.slot))
		return
	}
	if rs.w == nil {
		for _, s := range rs.slot {
			words[int(s)*w+off]++
		}
		return
	}
	for k, s := range rs.slot {
		words[int(s)*w+off] += rs.w[rs.row[k]]
	}
}

func (c *countCell) merge(dst *target, to []int32, src *target, from []int32) {
	if c.off >= 0 {
		addWords(dst, to, src, from, c.off)
		return
	}
	for k, i := range to {
		if rare := src.rareOf(from[k]); rare != nil {
			dst.h.AddRare(i, c.nulls, rare[c.nulls])
		}
	}
}

// addNulls counts the rows that have a NULL.
func (c *countCell) addNulls(t *target) {
	rs := &c.in.rs
	if len(rs.row) == len(t.rows) {
		return
	}
	j := 0
	for k, r := range t.rows {
		switch {
		case j < len(rs.row) && rs.row[j] == r:
			j++
		case rs.w == nil:
			t.h.AddRare(t.slot[k], c.nulls, 1)
		default:
			t.h.AddRare(t.slot[k], c.nulls, rs.w[r])
		}
	}
}

// addWords adds one word of entries.
func addWords(dst *target, to []int32, src *target, from []int32, off int) {
	d, dw := dst.h.WordsAll()
	s, sw := src.h.WordsAll()
	for k, i := range to {
		d[int(i)*dw+off] += s[int(from[k])*sw+off]
	}
}

// counter is a cell that can do the work of a countCell over its input in the same pass over the entries.
type counter interface {
	cell
	// countFor makes it count, where rowset.each, in the word of a countCell; false if it can't.
	countFor(c *countCell) bool
}

// shareCounting lets cells count the rows of their input, which would be one more pass over the entries.
func (p *program) shareCounting() {
	for _, c := range p.cells {
		n, ok := c.(*countCell)
		for i := 0; ok && n.off >= 0 && !n.byOther && i < len(p.cells); i++ {
			if o, is := p.cells[i].(counter); is {
				n.byOther = o.countFor(n)
			}
		}
	}
}

// sumIntCell sums integers in 128 bits.
type sumIntCell struct {
	in *input
	pairSum
	cnt *countCell // to count for, or nil
}

func (c *sumIntCell) countFor(n *countCell) bool {
	if c.in != n.in || c.cnt != nil || c.rare >= 0 {
		return false
	}
	c.cnt = n
	return true
}

func (c *sumIntCell) add(t *target) {
	words, w := t.h.WordsAll()
	off := c.off
	rs := &c.in.rs
	vals := c.in.cols[0].I64
	if rs.w == nil && rs.one {
		var p [2]int64
		sumOfRows(p[:], vals, rs.row[:len(rs.slot)])
		c.pairSum.add(t, rs.slot[0], uint64(p[0]), uint64(p[1]))
		return
	}
	if rs.w == nil {
		row := rs.row[:len(rs.slot)]
		if c.rare >= 0 {
			for k, s := range rs.slot {
				p := &words[int(s)*w+off]
				x, v := *p, vals[row[k]]
				y := x + v
				*p = y
				if (x^y)&(v^y) < 0 { // the sum does not fit the word: the high half is one more or less than its sign says
					t.h.AddRare(s, c.rare, y>>63&2-1)
				}
			}
			return
		}
		if c.cnt != nil {
			cnt := c.cnt.off
			for k, s := range rs.slot {
				e := words[int(s)*w:]
				v := vals[row[k]]
				lo, carry := bits.Add64(uint64(e[off]), uint64(v), 0)
				e[off] = int64(lo)
				e[off+1] += v>>63 + int64(carry)
				e[cnt]++
			}
			return
		}
		for k, s := range rs.slot {
			p := words[int(s)*w+off:][:2]
			v := vals[row[k]]
			lo, carry := bits.Add64(uint64(p[0]), uint64(v), 0)
			p[0] = int64(lo)
			p[1] += v>>63 + int64(carry)
		}
		return
	}
	for k, s := range rs.slot {
		r := rs.row[k]
		hi, lo := mulSigned(vals[r], rs.w[r])
		c.pairSum.add(t, s, lo, hi)
	}
}

// sumOfRows adds the values of rows, of which there are at least one, and which ascend, to a pair of words.
func sumOfRows(p []int64, vals []int64, rows []int32) {
	// The sum modulo 2^64 and that of the upper halves tell the one of the lower halves, and nothing has to be carried.
	low, high := int64(0), int64(0)
	if s, ok := stretch(vals, rows); ok {
		for ; len(s) >= 8; s = s[8:] {
			x := (*[8]int64)(s)
			low += x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7]
			high += x[0]>>32 + x[1]>>32 + x[2]>>32 + x[3]>>32 + x[4]>>32 + x[5]>>32 + x[6]>>32 + x[7]>>32
		}
		for _, v := range s {
			low += v
			high += v >> 32
		}
	} else {
		for _, r := range rows {
			low += vals[r]
			high += vals[r] >> 32
		}
	}
	add128(p, uint64(low)-uint64(high)<<32, 0)
	add128(p, uint64(high)<<32, uint64(high>>32))
}

// stretch gives the values of rows, which ascend, if no row is left out between the first and the last.
func stretch[T any](vals []T, rows []int32) ([]T, bool) {
	first, n := int(rows[0]), len(rows)
	if int(rows[n-1])-first != n-1 {
		return nil, false
	}
	return vals[first : first+n], true
}

// mulSigned gives a*b in 128 bits of two's complement.
func mulSigned(a, b int64) (hi, lo uint64) {
	hi, lo = bits.Mul64(uint64(a), uint64(b))
	hi -= uint64(a>>63)&uint64(b) + uint64(b>>63)&uint64(a)
	return hi, lo
}

// add128 adds to a pair of words.
func add128(p []int64, lo, hi uint64) {
	l, c := bits.Add64(uint64(p[0]), lo, 0)
	h, _ := bits.Add64(uint64(p[1]), hi, c)
	p[0], p[1] = int64(l), int64(h)
}

func (c *sumIntCell) merge(dst *target, to []int32, src *target, from []int32) {
	for k, i := range to {
		lo, hi := c.pairSum.of(src, from[k])
		c.pairSum.add(dst, i, uint64(lo), uint64(hi))
	}
}

// squaresIntCell sums squares of integers in 192 bits.
type squaresIntCell struct {
	in  *input
	off int
}

func (c *squaresIntCell) add(t *target) {
	rs := &c.in.rs
	vals := c.in.cols[0].I64
	for k, s := range rs.slot {
		v := vals[rs.row[k]]
		if v < 0 {
			v = -v
		}
		hi, lo := bits.Mul64(uint64(v), uint64(v))
		w, neg := rs.weight(k), false
		if w < 0 {
			w, neg = -w, true
		}
		addLimbs(t.at(s, c.off, 3), mag{lo, hi}.mul(uint64(w)), 0, neg)
	}
}

func (c *squaresIntCell) merge(dst *target, to []int32, src *target, from []int32) {
	for k, i := range to {
		p := src.at(from[k], c.off, 3)
		addLimbs(dst.at(i, c.off, 3), mag{uint64(p[0]), uint64(p[1]), uint64(p[2])}, 0, false)
	}
}

// extremeCell is min or max of a fixed-width value over append-only input. The word holds the value in a form
// in which an extreme is an unsigned maximum and 0 is the identity; whether there is a value the count of the input says.
type extremeCell struct {
	in    *input
	off   int
	min   bool
	float bool
	cnt   *countCell // to count for, or nil
}

func (c *extremeCell) countFor(n *countCell) bool {
	if c.in != n.in || c.cnt != nil || c.float {
		return false
	}
	c.cnt = n
	return true
}

const signBit = 1 << 63

// decode undoes the complement of a minimum.
func (c *extremeCell) decode(x int64) uint64 {
	if c.min {
		x = ^x
	}
	return uint64(x)
}

func (c *extremeCell) add(t *target) {
	words, w := t.h.WordsAll()
	off := c.off
	rs := &c.in.rs
	row := rs.row[:len(rs.slot)]
	var flip uint64
	if c.min {
		flip = ^uint64(0)
	}
	if c.float {
		vals := c.in.cols[0].F64
		for k, s := range rs.slot {
			p := &words[int(s)*w+off]
			*p = int64(max(uint64(*p), floatOrder(vals[row[k]])^flip))
		}
		return
	}
	vals := c.in.cols[0].I64
	flip ^= signBit
	if rs.one {
		p := &words[int(rs.slot[0])*w+off]
		*p = int64(max(uint64(*p), uint64(extremeInt(vals, row, c.min))^flip))
		return
	}
	if c.cnt != nil && rs.each() {
		cnt := c.cnt.off
		for k, s := range rs.slot {
			e := words[int(s)*w:]
			e[off] = int64(max(uint64(e[off]), uint64(vals[row[k]])^flip))
			e[cnt]++
		}
		return
	}
	for k, s := range rs.slot {
		p := &words[int(s)*w+off]
		*p = int64(max(uint64(*p), uint64(vals[row[k]])^flip))
	}
}

// extremeInt gives the least or the greatest of the values of rows, of which there is at least one, and which ascend.
func extremeInt(vals []int64, rows []int32, least bool) int64 {
	s, ok := stretch(vals, rows)
	lo := vals[rows[0]]
	hi := lo
	switch {
	case !ok:
		for _, r := range rows {
			lo, hi = min(lo, vals[r]), max(hi, vals[r])
		}
	case least:
		for _, v := range s {
			lo = min(lo, v)
		}
	default:
		for _, v := range s {
			hi = max(hi, v)
		}
	}
	if least {
		return lo
	}
	return hi
}

func (c *extremeCell) merge(dst *target, to []int32, src *target, from []int32) {
	d, dw := dst.h.WordsAll()
	s, sw := src.h.WordsAll()
	for k, i := range to {
		p := &d[int(i)*dw+c.off]
		*p = int64(max(uint64(*p), uint64(s[int(from[k])*sw+c.off])))
	}
}

// trueCell counts the true values of a boolean.
type trueCell struct {
	in  *input
	off int
}

func (c *trueCell) add(t *target) {
	words, w := t.h.WordsAll()
	off := c.off
	rs := &c.in.rs
	vals := c.in.cols[0].I64
	for k, s := range rs.slot {
		if vals[rs.row[k]] != 0 {
			words[int(s)*w+off] += rs.weight(k)
		}
	}
}

func (c *trueCell) merge(dst *target, to []int32, src *target, from []int32) {
	addWords(dst, to, src, from, c.off)
}

// bitCell is bit_and (kept as its complement, so that 0 is the identity) or bit_or over append-only input, or bit_xor over any.
type bitCell struct {
	in  *input
	off int
	op  byte // '&', '|', '#'
}

func (c *bitCell) add(t *target) {
	rs := &c.in.rs
	vals := c.in.cols[0].I64
	for k, s := range rs.slot {
		p := t.at(s, c.off, 1)
		v := vals[rs.row[k]]
		switch c.op {
		case '&':
			p[0] |= ^v
		case '|':
			p[0] |= v
		default:
			if rs.weight(k)&1 != 0 {
				p[0] ^= v
			}
		}
	}
}

func (c *bitCell) merge(dst *target, to []int32, src *target, from []int32) {
	for k, i := range to {
		p := dst.at(i, c.off, 1)
		if c.op == '#' {
			p[0] ^= src.word(from[k], c.off)
		} else {
			p[0] |= src.word(from[k], c.off)
		}
	}
}

// intervalCell sums intervals: months, days, and microseconds in 128 bits.
type intervalCell struct {
	in  *input
	off int
}

func (c *intervalCell) add(t *target) {
	rs := &c.in.rs
	v := c.in.cols[0]
	for k, s := range rs.slot {
		p := t.at(s, c.off, 4)
		r, w := rs.row[k], rs.weight(k)
		p[0] += (v.J64[r] >> 32) * w
		p[1] += int64(int32(v.J64[r])) * w
		hi, lo := mulSigned(v.I64[r], w)
		add128(p[2:], lo, hi)
	}
}

func (c *intervalCell) merge(dst *target, to []int32, src *target, from []int32) {
	for k, i := range to {
		d, s := dst.at(i, c.off, 4), src.at(from[k], c.off, 4)
		d[0] += s[0]
		d[1] += s[1]
		add128(d[2:], uint64(s[2]), uint64(s[3]))
	}
}
