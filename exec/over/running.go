package over

import (
	"encoding/binary"
	"math"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// running is an aggregate that only grows: over a frame that begins with the partition or ends with it. What it stands at can be
// stored, and added to that of the rows after it.
type running interface {
	reset()
	add(arg *batch.Vector, i int)
	// merge adds what append wrote at the front of b and gives what follows it.
	merge(b []byte) []byte
	append(dst []byte) []byte
	// same says whether the results of both are equal, now and after both have been given the same rows.
	same(o running) bool
	// result appends the aggregate to dst, NULL if there is an error.
	result(arg, dst *batch.Vector) *sqlerr.Error
}

// newRunning makes the running form of an aggregate for arguments of type t. fromEnd: rows are added at the front.
func newRunning(name string, t types.Type, fromEnd bool) (running, error) {
	if name == "min" || name == "max" {
		return &best{typ: t, max: name == "max", front: fromEnd}, nil
	}
	acc, err := newAccumulator(name, t)
	if err != nil {
		return nil, err
	}
	return acc.(running), nil
}

func (c *counter) merge(b []byte) []byte {
	n, b := rowenc.Varint(b)
	c.n += n
	return b
}
func (c *counter) append(dst []byte) []byte { return binary.AppendVarint(dst, c.n) }
func (c *counter) same(o running) bool      { return c.n == o.(*counter).n }

// best is min or max.
type best struct {
	typ        types.Type
	max, front bool
	has        bool
	d          types.Datum
}

func (e *best) reset() { e.has = false }
func (e *best) add(arg *batch.Vector, i int) {
	if !arg.IsNull(i) {
		e.offer(arg.Datum(i))
	}
}

// offer takes d if it is better. Of equal ones that differ (1 and 1.0) the last row's is the result, as in PostgreSQL.
func (e *best) offer(d types.Datum) {
	if e.has {
		c := types.Compare(e.typ, d, e.d)
		if e.max {
			c = -c
		}
		if c > 0 || c == 0 && e.front {
			return
		}
	}
	e.has, e.d = true, d.Clone()
}

// merge is for rows that come after those so far, or with front before.
func (e *best) merge(b []byte) []byte {
	if b[0] == 0 {
		return b[1:]
	}
	d, rest, err := types.ReadValue(e.typ, b[1:])
	if err != nil {
		panic(corrupt(err))
	}
	e.offer(d)
	return rest
}
func (e *best) append(dst []byte) []byte {
	if !e.has {
		return append(dst, 0)
	}
	return types.AppendValue(append(dst, 1), e.typ, e.d)
}
func (e *best) same(o running) bool {
	x := o.(*best)
	return e.has == x.has && (!e.has || string(e.append(nil)) == string(x.append(nil)))
}
func (e *best) result(_, dst *batch.Vector) *sqlerr.Error {
	if e.has {
		dst.AppendDatum(e.d)
	} else {
		dst.AppendNull()
	}
	return nil
}

func (s *intSum) merge(b []byte) []byte {
	n, b := rowenc.Varint(b)
	hi, b := rowenc.Varint(b)
	lo, b := rowenc.Uvarint(b)
	s.n += n
	s.addWide(hi, lo)
	return b
}
func (s *intSum) append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, s.n)
	return binary.AppendUvarint(binary.AppendVarint(dst, s.hi), s.lo)
}
func (s *intSum) same(o running) bool {
	x := o.(*intSum)
	return sameCount(s.avg, s.n, x.n) && s.hi == x.hi && s.lo == x.lo
}

// sameCount says whether numbers of values make no difference: to a sum, only whether there is any.
func sameCount(avg bool, a, b int64) bool { return a == b || !avg && a > 0 && b > 0 }

func (s *specials) merge(b []byte) []byte {
	for _, p := range []*int{&s.nan, &s.pos, &s.neg} {
		var n uint64
		n, b = rowenc.Uvarint(b)
		*p += int(n)
	}
	return b
}
func (s specials) append(dst []byte) []byte {
	for _, n := range []int{s.nan, s.pos, s.neg} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst
}
func (s specials) same(o specials) bool {
	return s.nan > 0 == (o.nan > 0) && s.pos > 0 == (o.pos > 0) && s.neg > 0 == (o.neg > 0)
}

func (s *numSum) scale() (most int) {
	for k := range s.scales {
		most = max(most, k)
	}
	return most
}
func (s *numSum) merge(b []byte) []byte {
	n, b := rowenc.Varint(b)
	s.n += n
	b = s.specials.merge(b)
	scale, b := rowenc.Uvarint(b)
	s.scales[int(scale)]++
	size, b := rowenc.Uvarint(b)
	if uint64(len(b)) < size {
		panic(corrupt(errShort))
	}
	s.sum = s.sum.Add(types.NumDecode(b[:size]))
	return b[size:]
}
func (s *numSum) append(dst []byte) []byte {
	dst = s.specials.append(binary.AppendVarint(dst, s.n))
	dst = binary.AppendUvarint(dst, uint64(s.scale()))
	sum := s.sum.AppendTo(nil)
	return append(binary.AppendUvarint(dst, uint64(len(sum))), sum...)
}
func (s *numSum) same(o running) bool {
	x := o.(*numSum)
	return sameCount(s.avg, s.n, x.n) && s.specials.same(x.specials) && s.scale() == x.scale() && s.sum.Cmp(x.sum) == 0
}

func (s *floatSum) merge(b []byte) []byte {
	n, b := rowenc.Varint(b)
	s.n += n
	b = s.specials.merge(b)
	parts, b := rowenc.Uvarint(b)
	if uint64(len(b)) < 8*parts {
		panic(corrupt(errShort))
	}
	for ; parts > 0; parts-- {
		s.grow(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		b = b[8:]
	}
	return b
}
func (s *floatSum) append(dst []byte) []byte {
	dst = s.specials.append(binary.AppendVarint(dst, s.n))
	dst = binary.AppendUvarint(dst, uint64(len(s.parts)))
	for _, p := range s.parts {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(p))
	}
	return dst
}

// same compares the exact sums: parts that differ may stand for the same number.
func (s *floatSum) same(o running) bool {
	x := o.(*floatSum)
	if !sameCount(s.avg, s.n, x.n) || !s.specials.same(x.specials) {
		return false
	}
	d := floatSum{parts: append([]float64(nil), s.parts...)}
	for _, p := range x.parts {
		d.grow(-p)
	}
	return len(d.parts) == 0
}
