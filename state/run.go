package state

import (
	"bytes"
	"sort"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// run is a sorted, immutable set of row changes: each key once, no weight zero.
// The key of a row is the ordered encoding of the key columns followed by the
// exact encoding of all columns. With late, rows are as they came.
type run struct {
	data []byte
	recs []rowRec
	less int // rows with a weight below zero
	late *late
}

// rowRec locates a row in data. head is the start of the key, for comparing.
type rowRec struct {
	head   uint64
	off    uint64
	klen   uint32 // of the ordered part
	length uint32 // of both parts
	weight int64
}

func (r *run) key(i int) []byte {
	c := &r.recs[i]
	return r.data[c.off : c.off+uint64(c.length) : c.off+uint64(c.length)]
}

func (r *run) memBytes() int64 {
	n := int64(cap(r.data) + 32*cap(r.recs))
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
	return lo + sort.Search(hi-lo, func(i int) bool { return bytes.Compare(r.key(lo+i), k) >= 0 })
}

// rowCodec encodes rows of one relation.
type rowCodec struct {
	types []types.Type
	key   []int
}

func (c *rowCodec) appendRow(dst []byte, b *batch.Batch, i int) (out []byte, klen int) {
	start := len(dst)
	for _, k := range c.key {
		dst = types.AppendKey(dst, c.types[k], b.Cols[k].Datum(i), false, false)
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
	for i := range b.N {
		off := len(r.data)
		var klen int
		r.data, klen = c.appendRow(r.data, b, i)
		w := b.Weight(i)
		r.recs = append(r.recs, rowRec{table.Head(r.data[off:]), uint64(off), uint32(klen), uint32(len(r.data) - off), w})
		if w < 0 {
			r.less++
		}
	}
}

// merge walks several runs, and perhaps the rows on disk, in key order.
type merge struct {
	src    []cursor // a heap: the least is first
	disk   *diskRows
	err    error
	key    []byte // of the current row, valid until next
	buf    []byte
	klen   int
	weight int64 // its total
}

// cursor is a place in a run, before its end.
type cursor struct {
	r      *run
	i, end int
	head   uint64 // of the row at i
}

func (c *cursor) key() []byte { return c.r.key(c.i) }

// step moves on; false at the end.
func (c *cursor) step() bool {
	if c.i++; c.i == c.end {
		return false
	}
	c.head = c.r.recs[c.i].head
	return true
}

// seek begins to walk the keys in [lo, hi); nil: no bound.
func (m *merge) seek(runs []*run, lo, hi []byte) {
	m.src = m.src[:0]
	for _, r := range runs {
		r = r.inOrder()
		c := cursor{r: r, i: r.seek(lo), end: len(r.recs)}
		if hi != nil {
			c.end = r.seek(hi)
		}
		if c.i < c.end {
			c.head = r.recs[c.i].head
			m.src = append(m.src, c)
		}
	}
	for i := len(m.src)/2 - 1; i >= 0; i-- {
		m.sift(i)
	}
}

func (c *cursor) less(d *cursor) bool {
	return c.head < d.head || c.head == d.head && bytes.Compare(c.key(), d.key()) < 0
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
		if j+1 < len(src) && src[j+1].less(&src[j]) {
			j++
		}
		if !src[j].less(&c) {
			break
		}
		src[i] = src[j]
		i = j
	}
	src[i] = c
}

// step moves the least cursor on.
func (m *merge) step() {
	if !m.src[0].step() {
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
			order = bytes.Compare(m.src[0].key(), d.key)
		}
		if order >= 0 {
			return m.takeDisk(order == 0)
		}
	}
	if len(m.src) == 0 {
		return false
	}
	l := &m.src[0]
	m.key, m.klen, m.weight = l.key(), int(l.r.recs[l.i].klen), l.r.recs[l.i].weight
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
		m.takeRuns(table.Head(m.key))
	}
	m.err = d.next()
	return m.err == nil
}

// takeRuns adds the weights that runs have of the current key, whose head is given, and moves them on.
func (m *merge) takeRuns(head uint64) {
	for len(m.src) > 0 && m.src[0].head == head && bytes.Equal(m.src[0].key(), m.key) {
		m.weight += m.src[0].r.recs[m.src[0].i].weight
		m.step()
	}
}
