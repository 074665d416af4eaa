package state

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// run is a sorted, immutable set of row changes: each key once, no weight zero.
// The key of a row is the ordered encoding of the key columns followed by the
// exact encoding of all columns. With late, rows are not in order, and there are no recs. A run that is being made has recs as rows came, without heads.
type run struct {
	data []byte // rows, see appendRow
	recs []rowRec
	skip int // with so many bytes all keys begin alike
	less int // rows with a weight below zero
	late *late
	ends bool // with it, and those before it, contents are those at the end of an epoch
}

// rowRec says where a row begins in data. head is of the key what follows the bytes that all keys of the run begin with, for comparing.
type rowRec struct{ head, off uint64 }

const recBytes = 16

func (r *run) key(i int) []byte {
	key, _, _, _ := readRow(r.data[r.recs[i].off:])
	return key
}

// row gives a row: its key, how long the ordered part of that is, and its weight.
func (r *run) row(i int) (key []byte, klen uint32, weight int64) {
	key, klen, weight, _ = readRow(r.data[r.recs[i].off:])
	return key, klen, weight
}

// end gives where a row ends in data, if none was left out.
func (r *run) end(i int) uint64 {
	if i+1 < len(r.recs) {
		return r.recs[i+1].off
	}
	return uint64(len(r.data))
}

// rows is the number of changes.
func (r *run) rows() int {
	if r.late != nil {
		return r.late.rows
	}
	return len(r.recs)
}

func (r *run) memBytes() int64 {
	n := int64(cap(r.data) + recBytes*cap(r.recs))
	if r.late != nil {
		if s := r.late.sorted.Load(); s != nil {
			n += s.memBytes()
		}
	}
	return n
}

// seek gives the first row with key >= k; k nil: the first.
func (r *run) seek(k []byte) int {
	if k == nil {
		return 0
	}
	return r.seekIn(k, 0, len(r.recs))
}

// seekIn gives the first of rows [lo, hi) with key >= k, hi if there is none.
func (r *run) seekIn(k []byte, lo, hi int) int {
	if lo == hi {
		return hi
	}
	if r.skip > 0 {
		if c := bytes.Compare(k[:min(len(k), r.skip)], r.key(lo)[:r.skip]); c > 0 {
			return hi
		} else if c < 0 {
			return lo
		}
	}
	head := table.Head(k[r.skip:])
	if r.recs[lo].head > head {
		return lo
	}
	if r.recs[hi-1].head < head {
		return hi
	}
	// As sort.Search, which would call a function for each step.
	for lo < hi {
		i := int(uint(lo+hi) >> 1)
		h := r.recs[i].head
		if h < head || h == head && bytes.Compare(r.key(i), k) < 0 {
			lo = i + 1
		} else {
			hi = i
		}
	}
	return lo
}

// seekNear is seekIn for where the row is likely to be one of the first.
func (r *run) seekNear(k []byte, lo, hi int) int {
	for n := 1; lo+n < hi; n *= 4 {
		if bytes.Compare(r.key(lo+n-1), k) >= 0 {
			return r.seekIn(k, lo, lo+n)
		}
		lo += n
	}
	return r.seekIn(k, lo, hi)
}

// cutHeads leaves out of the heads of a run in order what all its keys begin with.
func (r *run) cutHeads() {
	if len(r.recs) == 0 {
		return
	}
	if skip := commonLen(r.key(0), r.key(len(r.recs)-1)); skip > r.skip {
		r.skip = skip
		for i := range r.recs {
			r.recs[i].head = table.Head(r.key(i)[skip:])
		}
	}
}

// rowCodec encodes rows of one relation.
type rowCodec struct {
	types []types.Type
	key   []int
}

func (c *rowCodec) appendKey(dst []byte, b *batch.Batch, i int) (out []byte, klen int) {
	start := len(dst)
	for _, k := range c.key {
		if v := b.Cols[k]; v.Valid == nil && v.Type.Layout() == types.LayoutI64 {
			dst = binary.BigEndian.AppendUint64(append(dst, 1), uint64(v.I64[i])^1<<63)
		} else {
			dst = types.AppendKey(dst, c.types[k], v.Datum(i), false, false)
		}
	}
	klen = len(dst) - start
	for _, v := range b.Cols {
		dst = v.AppendValue(dst, i)
	}
	return dst, klen
}

// decodeRow appends the row to a batch.
func (c *rowCodec) decodeRow(row []byte, b *batch.Batch, weight int64) error {
	var err error
	for _, v := range b.Cols {
		if row, err = v.ReadValue(row); err != nil {
			return err
		}
	}
	if len(row) > 0 {
		return corrupt("row has %d bytes too many", len(row))
	}
	b.EndRow(weight)
	return nil
}

// keyPrefix encodes leading key columns for a search.
func (c *rowCodec) keyPrefix(prefix []types.Datum) []byte {
	var k []byte
	for i, d := range prefix {
		k = types.AppendKey(k, c.types[c.key[i]], d, false, false)
	}
	return k
}

// grow makes room for n more rows of about size bytes each, at least as much as there is: a slice that grows by a quarter at a time leaves
// several times what it holds to the collector.
func (r *run) grow(n, size int) {
	if need := len(r.recs) + n; need > cap(r.recs) {
		r.recs = append(make([]rowRec, 0, max(need, 2*len(r.recs))), r.recs...)
	}
	if need := len(r.data) + n*size; need > cap(r.data) {
		r.data = append(make([]byte, 0, max(need, 2*len(r.data))), r.data...)
	}
}

// add appends the rows of a batch, unsorted.
func (r *run) add(c *rowCodec, b *batch.Batch) {
	var all [maxIntColumns][]int64
	if cols, ok := intColumns(all[:0], b); ok {
		r.addInts(c.key, cols, b)
		return
	}
	for i := range b.N {
		off := len(r.data)
		var klen int
		r.data, klen = c.appendKey(append(r.data, make([]byte, headLen)...), b, i)
		r.placed(off, klen, b.Weight(i))
	}
}

// placed makes a row of what data has from off on: room for headLen bytes and the key. The row does not have its head.
func (r *run) placed(off, klen int, weight int64) {
	key := r.data[off+headLen:]
	r.recs = append(r.recs, rowRec{off: uint64(off)}) // to read the head of what was just written would have the processor wait
	if weight < 0 {
		r.less++
	}
	if h, ok := rowHead(len(key), klen, weight); ok {
		binary.LittleEndian.PutUint32(r.data[off:], h)
		return
	}
	long := appendRow(nil, key, klen, weight)
	r.data = append(r.data[:off], long...)
}

// maxIntColumns bounds the columns of rows that addInts takes.
const maxIntColumns = 16

// intColumns appends the columns of a batch to cols if they are what addInts takes: one word each, no NULLs.
func intColumns(cols [][]int64, b *batch.Batch) ([][]int64, bool) {
	if len(b.Cols) > maxIntColumns {
		return nil, false
	}
	for _, v := range b.Cols {
		if v.Valid != nil || v.Type.Layout() != types.LayoutI64 {
			return nil, false
		}
		cols = append(cols, v.I64)
	}
	return cols, true
}

// addInts is add for the columns that intColumns gave: it encodes them as appendKey does, in one loop.
func (r *run) addInts(key []int, cols [][]int64, b *batch.Batch) {
	const most = 1 + 8 // bytes of a value
	size := headLen + most*(len(key)+len(cols)) + 8
	for i := range b.N {
		off := len(r.data)
		if cap(r.data)-off < size {
			r.data = slices.Grow(r.data, max(size, off))
		}
		to, at := r.data[off:off+size], headLen
		for _, k := range key {
			to[at] = 1
			binary.BigEndian.PutUint64(to[at+1:], uint64(cols[k][i])^1<<63)
			at += most
		}
		klen := at - headLen
		for _, col := range cols {
			z := uint64(col[i])<<1 ^ uint64(col[i]>>63)
			n := (bits.Len64(z) + 7) / 8
			to[at] = byte(1 + n)
			binary.LittleEndian.PutUint64(to[at+1:], z) // what is too much is written over
			at += 1 + n
		}
		r.data = r.data[:off+at]
		r.placed(off, klen, b.Weight(i))
	}
}

// merge walks several runs, and perhaps the rows on disk, in key order, or with desc from the greatest key to the least.
type merge struct {
	desc   bool
	src    []*cursor // a heap: the one that comes next is first
	all    []cursor
	skip   int // with so many bytes all keys of the runs begin alike
	disk   *diskRows
	err    error
	key    []byte // of the current row, valid until next
	buf    []byte
	klen   int
	weight int64 // its total
}

// cursor is a place in a run: the row at i, behind which others follow, in the direction of by, up to the one at last.
type cursor struct {
	r           *run
	i, last, by int
	head        uint64 // of what follows the bytes that all keys begin with
	key         []byte
	klen        uint32
	weight      int64
}

// at reads the row at i.
func (c *cursor) at(skip int) {
	c.key, c.klen, c.weight = c.r.row(c.i)
	c.head = table.Head(c.key[skip:])
}

// seek begins to walk the keys in [lo, hi); nil: no bound.
func (m *merge) seek(runs []*run, lo, hi []byte) {
	m.all, m.src = m.all[:0], m.src[:0]
	var common prefix
	for _, r := range runs {
		in, from, to := r.between(lo, hi)
		if from == to {
			continue
		}
		common.ofRange(in, from, to)
		if m.desc {
			m.all = append(m.all, cursor{r: in, i: to - 1, last: from, by: -1})
		} else {
			m.all = append(m.all, cursor{r: in, i: from, last: to - 1, by: 1})
		}
	}
	m.skip = len(common.key)
	for i := range m.all {
		m.all[i].at(m.skip)
		m.src = append(m.src, &m.all[i])
	}
	for i := len(m.src)/2 - 1; i >= 0; i-- {
		m.sift(i)
	}
}

// prefix is with what keys begin.
type prefix struct {
	key []byte
	any bool
}

// ofRange takes rows [lo, hi) of a run in order into account.
func (p *prefix) ofRange(r *run, lo, hi int) {
	p.of(r.key(lo))
	p.of(r.key(hi - 1))
}

// of takes a key into account.
func (p *prefix) of(k []byte) {
	if !p.any {
		p.key, p.any = k, true
	}
	p.key = p.key[:commonLen(p.key, k)]
}

// commonLen is the number of bytes with which both begin.
func commonLen(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// before says whether the row of c comes before that of d, which has the same direction.
func (c *cursor) before(d *cursor) bool {
	if c.by < 0 {
		c, d = d, c
	}
	return c.head < d.head || c.head == d.head && bytes.Compare(c.key, d.key) < 0
}

// sift moves the cursor at i down to where it belongs.
func (m *merge) sift(i int) {
	src := m.src
	c := src[i]
	for {
		j := 2*i + 1
		if j >= len(src) {
			break
		}
		if j+1 < len(src) && src[j+1].before(src[j]) {
			j++
		}
		if !src[j].before(c) {
			break
		}
		src[i] = src[j]
		i = j
	}
	src[i] = c
}

// step moves the first cursor on.
func (m *merge) step() {
	if c := m.src[0]; c.i != c.last {
		c.i += c.by
		c.at(m.skip)
	} else {
		n := len(m.src) - 1
		m.src[0] = m.src[n]
		m.src = m.src[:n]
		if n == 0 {
			return
		}
	}
	m.sift(0)
}

// next moves to the following row; its weight may be zero or negative. False at the end, or after an error.
func (m *merge) next() bool {
	if m.err != nil {
		return false
	}
	if d := m.disk; d != nil && d.valid {
		order := 1
		if len(m.src) > 0 {
			order = bytes.Compare(m.src[0].key, d.key)
		}
		if len(m.src) > 0 && m.desc {
			order = -order
		}
		if order >= 0 {
			return m.takeDisk(order == 0)
		}
	}
	if len(m.src) == 0 {
		return false
	}
	l := m.src[0]
	m.key, m.klen, m.weight = l.key, int(l.klen), l.weight
	head := l.head
	m.step()
	m.takeRuns(head)
	return true
}

// takeDisk makes the row on disk the current one, with what the runs have of it if tied.
func (m *merge) takeDisk(tied bool) bool {
	d := m.disk
	m.buf = append(m.buf[:0], d.key...) // the iterator is about to overwrite it
	m.key, m.klen, m.weight = m.buf, d.klen, d.weight
	if tied {
		m.takeRuns(m.src[0].head)
	}
	m.err = d.next()
	return m.err == nil
}

// takeRuns adds the weights that runs have of the current key, whose head is given, and moves them on.
func (m *merge) takeRuns(head uint64) {
	for len(m.src) > 0 && m.src[0].head == head && bytes.Equal(m.src[0].key, m.key) {
		m.weight += m.src[0].weight
		m.step()
	}
}
