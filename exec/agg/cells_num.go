package agg

import (
	"math"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// floatOrder maps a float to a word whose unsigned order is PostgreSQL's, with -0 just below 0.
func floatOrder(f float64) uint64 {
	if f != f {
		return math.MaxUint64
	}
	u := math.Float64bits(f)
	if u>>63 != 0 {
		return ^u
	}
	return u | signBit
}

// orderFloat undoes floatOrder.
func orderFloat(u uint64) float64 {
	switch {
	case u == math.MaxUint64:
		return math.NaN()
	case u>>63 != 0:
		return math.Float64frombits(u &^ signBit)
	}
	return math.Float64frombits(^u)
}

// floatCell sums a float exactly, or with y the product of two (arguments x and y of the input).
type floatCell struct {
	in    *input
	off   int
	field int
	x, y  int // arguments; y -1 for none
	limbs int
	wide  wideSum
}

func (c *floatCell) add(t *target) {
	rs := &c.in.rs
	xs := c.in.cols[c.x].F64
	words, w := t.h.WordsAll()
	n := 1 + c.limbs
	if c.y < 0 {
		for k, s := range rs.slot {
			lo := int(s)*w + c.off
			if x, m := xs[rs.row[k]], rs.weight(k); !fixAddFloat(words[lo:lo+n:lo+n], x, m) {
				c.addWide(t, s, x, 1, m)
			}
		}
		return
	}
	ys := c.in.cols[c.y].F64
	for k, s := range rs.slot {
		r, m := rs.row[k], rs.weight(k)
		x, y := xs[r], ys[r]
		lo := int(s)*w + c.off
		if !isFinite(x) || !isFinite(y) || !fixAddProduct(words[lo:lo+n:lo+n], x, y, m) {
			c.addWide(t, s, x, y, m)
		}
	}
}

func isFinite(x float64) bool { return x-x == 0 }

// product gives x*y exactly.
func product(x, y float64) (m mag, e int, neg bool) {
	a, ea, na := splitFloat(x)
	b, eb, nb := splitFloat(y)
	return mag{a}.mul(b), ea + eb, na != nb
}

func fixAddProduct(p []int64, x, y float64, w int64) bool {
	m, e, neg := product(x, y)
	if w < 0 {
		neg, w = !neg, -w
	}
	return fixAdd(p, m.mul(uint64(w)), e, neg)
}

func (c *floatCell) addWide(t *target, s int32, x, y float64, w int64) {
	f := t.grow(s, c.field, c.wide.size())
	p := t.at(s, c.off, 1+c.limbs)
	if p[0]&3 != fixWide {
		c.wide.fromInline(f, p)
		clear(p)
		p[0] = fixWide
	}
	if !isFinite(x) || !isFinite(y) {
		c.wide.addSpecial(f, x*y, w)
		return
	}
	var m mag
	var e int
	var neg bool
	if c.y < 0 {
		m[0], e, neg = splitFloat(x)
	} else {
		m, e, neg = product(x, y)
	}
	if w < 0 {
		neg, w = !neg, -w
	}
	c.wide.add(f, m.mul(uint64(w)), e, neg)
}

func (c *floatCell) merge(dst *target, to []int32, src *target, from []int32) {
	n := 1 + c.limbs
	for k, i := range to {
		d, s := dst.at(i, c.off, n), src.at(from[k], c.off, n)
		switch {
		case s[0]&3 == fixEmpty:
		case d[0]&3 == fixEmpty && s[0]&3 == fixInline:
			copy(d, s)
		case s[0]&3 == fixInline && fixAddInline(d, s):
		default:
			c.mergeWide(dst, i, src, from[k])
		}
	}
}

// mergeWide adds a sum to one that becomes wide.
func (c *floatCell) mergeWide(dst *target, to int32, src *target, from int32) {
	n := 1 + c.limbs
	f := dst.grow(to, c.field, c.wide.size())
	d, s := dst.at(to, c.off, n), src.at(from, c.off, n)
	if d[0]&3 != fixWide {
		c.wide.fromInline(f, d)
		clear(d)
		d[0] = fixWide
	}
	if s[0]&3 == fixWide {
		c.wide.addWide(f, src.field(from, c.field))
		return
	}
	tmp := make([]byte, c.wide.size())
	c.wide.fromInline(tmp, s)
	c.wide.addWide(f, tmp)
}

// sum reads the sum of an entry.
func (c *floatCell) sum(t *target, slot int32, buf []uint64) (exact, float64, bool) {
	p := t.at(slot, c.off, 1+c.limbs)
	var f []byte
	if p[0]&3 == fixWide {
		f = t.field(slot, c.field)
	}
	return c.wide.sum(p, f, buf)
}

// numericCell sums numerics exactly.
type numericCell struct {
	in    *input
	off   int
	field int
	mixed bool
}

func (c *numericCell) add(t *target) {
	rs := &c.in.rs
	v := c.in.cols[0]
	words, w := t.h.WordsAll()
	for k, s := range rs.slot {
		lo := int(s)*w + c.off
		b, m := v.Bytes(int(rs.row[k])), rs.weight(k)
		if addNumeric(words[lo:lo+numWords:lo+numWords], b, m, c.mixed) {
			continue
		}
		ns := c.widen(t, s)
		ns.add(b, m)
		t.setField(s, c.field, ns.appendTo(nil))
	}
}

// widen gives the wide form of an entry's sum and marks the entry as wide; the caller writes the sum back.
func (c *numericCell) widen(t *target, s int32) *numSum {
	p := t.at(s, c.off, numWords)
	if p[0]&3 == fixWide {
		return readNumSum(t.field(s, c.field), false)
	}
	ns := newNumSum(false)
	ns.addInline(p)
	clear(p)
	p[0] = fixWide
	return ns
}

func (c *numericCell) merge(dst *target, to []int32, src *target, from []int32) {
	for k, i := range to {
		d, s := dst.at(i, c.off, numWords), src.at(from[k], c.off, numWords)
		switch {
		case s[0] == fixEmpty:
		case d[0] == fixEmpty && s[0]&3 == fixInline:
			copy(d, s)
		case addInlineNumeric(d, s, c.mixed):
		default:
			c.mergeWide(dst, i, src, from[k])
		}
	}
}

// mergeWide adds a sum to one that becomes wide.
func (c *numericCell) mergeWide(dst *target, to int32, src *target, from int32) {
	var o *numSum
	if s := src.at(from, c.off, numWords); s[0]&3 == fixWide {
		o = readNumSum(src.field(from, c.field), false)
	} else {
		o = newNumSum(false)
		o.addInline(s)
	}
	ns := c.widen(dst, to)
	ns.merge(o)
	dst.setField(to, c.field, ns.appendTo(nil))
}

// appendSum appends the sum's stored form.
func (c *numericCell) appendSum(t *target, slot int32, dst []byte) []byte {
	p := t.at(slot, c.off, numWords)
	if p[0]&3 == fixWide {
		return readNumSum(t.field(slot, c.field), false).result().AppendTo(dst)
	}
	return appendNumeric(dst, uint64(p[2]), uint64(p[3]), int(p[0]>>2))
}

// numericSquaresCell sums numerics and their squares, always in the blob.
type numericSquaresCell struct {
	in    *input
	field int
}

func (c *numericSquaresCell) add(t *target) {
	rs := &c.in.rs
	v := c.in.cols[0]
	for k, s := range rs.slot {
		ns := readNumSum(t.field(s, c.field), true)
		ns.add(v.Bytes(int(rs.row[k])), rs.weight(k))
		t.setField(s, c.field, ns.appendTo(nil))
	}
}

func (c *numericSquaresCell) merge(dst *target, to []int32, src *target, from []int32) {
	for k, i := range to {
		ns := readNumSum(dst.field(i, c.field), true)
		ns.merge(readNumSum(src.field(from[k], c.field), true))
		dst.setField(i, c.field, ns.appendTo(nil))
	}
}

// extremeWideCell is min or max, over append-only input, of a value that is not one word: the field is the value's encoding.
type extremeWideCell struct {
	in    *input
	field int
	min   bool
	typ   types.Type
}

func (c *extremeWideCell) add(t *target) {
	rs := &c.in.rs
	v := c.in.cols[0]
	var buf []byte
	for k, s := range rs.slot {
		d := v.Datum(int(rs.row[k]))
		if cur := t.field(s, c.field); len(cur) > 0 && !c.better(d, cur) {
			continue
		}
		buf = types.AppendValue(buf[:0], c.typ, d)
		t.setField(s, c.field, buf)
	}
}

// better says whether d takes the place of the value so far; equal values of another form do, as in PostgreSQL.
func (c *extremeWideCell) better(d types.Datum, cur []byte) bool {
	x := types.Compare(c.typ, d, readField(c.typ, cur))
	return c.min && x <= 0 || !c.min && x >= 0
}

// readField reads a value that AppendValue wrote to a field or a set.
func readField(t types.Type, b []byte) types.Datum {
	d, _, err := types.ReadValue(t, b)
	if err != nil {
		panic(err) // the operator's own bytes
	}
	return d
}

func (c *extremeWideCell) merge(dst *target, to []int32, src *target, from []int32) {
	for k, i := range to {
		s := src.field(from[k], c.field)
		if len(s) == 0 {
			continue
		}
		if d := dst.field(i, c.field); len(d) == 0 || c.better(readField(c.typ, s), d) {
			dst.setField(i, c.field, append([]byte(nil), s...))
		}
	}
}
