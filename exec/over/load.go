package over

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// partition is the rows of one partition, or of a part of it with what is needed of the rest, in order, each as often as its weight says. Rows
// are numbered from the first that is at hand.
type partition struct {
	o    *over
	part []byte
	b    *batch.Batch
	// Rows that sort alike are peers: start[i] and end[i] bound the peers of row i, group[i] numbers their group; groups[g] is
	// the first row of group g, and the last entry the number of rows. The first and the last group may go on beyond the rows at hand.
	start, end, group, groups []int
	failed                    []*sqlerr.Error // of a function, by row
	wide                      bool            // not all rows of wide frames are at hand

	lo, hi             int      // the rows whose values are wanted
	base, n            int64    // number of rows before those at hand, and of all
	groupBase          int64    // number of peer groups before that of the first row at hand
	before, after, all [][]byte // what running aggregates stand at before and after the rows at hand, and over all; nil: no rows
	far                *batch.Batch
	farAt              int64 // the row in far
}

// fetch gives row n of the partition.
func (p *partition) fetch(n int64) *batch.Batch {
	key, val, _, ok := p.o.sums.Select(p.part, n)
	b := batch.New(p.o.in, 1)
	if !ok {
		panic(corrupt(errShort))
	}
	_, send, _ := readRow(val)
	rowenc.ReadRow(key[send:], b.Cols)
	b.EndRow(1)
	return b
}

// load reads a zone of a partition and what its values depend on; nil if no row is in it.
func (o *over) load(zone, whole span) *partition {
	at, wide := zone, false
	if (o.reach.any || o.wide) && !same(zone, whole) {
		var first, last change
		o.rows.Scan(zone.lo, zone.hi, func(k, v []byte) bool {
			_, send, _ := readRow(v)
			first = change{key: bytes.Clone(k), send: send}
			return false
		})
		if first.key == nil {
			return nil
		}
		o.rows.ScanDesc(zone.lo, zone.hi, func(k, v []byte) bool {
			_, send, _ := readRow(v)
			last = change{key: bytes.Clone(k), send: send}
			return false
		})
		at, wide = o.context(zone, whole, first, last)
	}
	p := &partition{o: o, part: whole.lo, b: batch.New(o.in, 64), hi: -1, wide: wide && !same(at, whole)}
	first, last := p.scan(at, zone)
	if p.b.N == 0 {
		return nil
	}
	p.n = int64(p.b.N)
	if o.sums != nil && !same(at, whole) {
		p.surroundings(at, first, last)
	}
	return p
}

func same(a, b span) bool {
	return bytes.Equal(a.lo, b.lo) && (a.hi == nil) == (b.hi == nil) && bytes.Equal(a.hi, b.hi)
}

// scan reads the rows; it gives partition and sort key of the first and of the last one.
func (p *partition) scan(at, zone span) (first, last []byte) {
	p.o.rows.Scan(at.lo, at.hi, func(key, val []byte) bool {
		_, send, w := readRow(val)
		if len(p.groups) == 0 || !bytes.Equal(key[:send], last) {
			last = append(last[:0], key[:send]...)
			if p.groups = append(p.groups, p.b.N); first == nil {
				first = bytes.Clone(last)
			}
		}
		if bytes.Compare(key, zone.lo) < 0 {
			p.lo += int(w)
		}
		if p.hi < 0 && zone.hi != nil && bytes.Compare(key, zone.hi) >= 0 {
			p.hi = p.b.N
		}
		for ; w > 0; w-- {
			rowenc.ReadRow(key[send:], p.b.Cols)
			p.b.EndRow(1)
			p.start, p.group = append(p.start, p.groups[len(p.groups)-1]), append(p.group, len(p.groups)-1)
		}
		return true
	})
	if p.hi < 0 {
		p.hi = p.b.N
	}
	p.groups = append(p.groups, p.b.N)
	p.end = make([]int, p.b.N)
	for i, g := range p.group {
		p.end[i] = p.groups[g+1]
	}
	return first, last
}

// surroundings reads from the sums what is needed of the rows that are not at hand.
func (p *partition) surroundings(at span, first, last []byte) {
	o := p.o
	o.sums.Range(p.part, nil, nil)
	p.n, p.all = o.summary.rows, o.summary.states()
	o.sums.Range(p.part, nil, at.lo)
	p.base, p.before = o.summary.rows, o.summary.states()
	if p.groupBase = o.summary.groups; p.groupBase > 0 && bytes.Equal(o.summary.last, first[len(p.part):]) {
		p.groupBase--
	}
	if o.needsAfter && at.hi != nil {
		o.sums.Range(p.part, at.hi, nil)
		p.after = o.summary.states()
	}
	if !o.needsPeers {
		return
	}
	if o.sums.Range(p.part, nil, first); o.summary.rows < p.base {
		for i := 0; i < p.groups[1]; i++ {
			p.start[i] = int(o.summary.rows - p.base)
		}
	}
	o.sums.Range(p.part, nil, rowenc.PrefixEnd(nil, last))
	if end := int(o.summary.rows - p.base); end > p.b.N {
		for i := p.groups[len(p.groups)-2]; i < p.b.N; i++ {
			p.end[i] = end
		}
	}
}
