package over

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/batch"
)

// span is a range of keys of the state table; hi nil: no bound.
type span struct{ lo, hi []byte }

// pair is two rows, by whose sort keys it is told how far they are apart.
type pair struct {
	b *batch.Batch
	v *batch.Vector
}

// pairOf makes a pair of the rows with these encodings; a comes before b in order.
func (o *over) pairOf(f *frame, a, b []byte) *pair {
	p := &o.pair
	if p.b == nil {
		p.b = batch.New(o.in, 2)
	}
	p.b.Reset()
	for _, row := range [][]byte{a, b} {
		rowenc.ReadRow(row, p.b.Cols)
		p.b.EndRow(1)
	}
	vecs, _, err := f.value.Eval(nil, o.env, p.b)
	if err != nil {
		panic(corrupt(err)) // it did not fail when the rows came
	}
	p.v = vecs[0]
	return p
}

// nearby decides how far to go from a row.
type nearby struct {
	o      *over
	r      *reach
	back   bool   // earlier rows are looked at
	row    []byte // encoding of the row
	sort   []byte // partition and sort key of the row looked at last
	groups int64  // peer groups left behind
	rows   int64  // rows that are still within reach, whatever their keys
	// limit, if not 0, is the number of entries after which it stops.
	limit   int64
	stopped bool
}

// takes says whether a row is within reach, given that those between are.
func (n *nearby) takes(key, val []byte) bool {
	if n.limit > 0 {
		if n.limit--; n.limit == 0 {
			n.stopped = true
			return false
		}
	}
	_, send, w := readRow(val)
	r := n.r
	ok := n.rows > 0
	n.rows -= w
	if r.aligned {
		if !bytes.Equal(key[:send], n.sort) {
			n.sort = append(n.sort[:0], key[:send]...)
			n.groups++
		}
		ok = ok || n.groups <= r.groups
	}
	for i := 0; !ok && i < len(r.ranges); i++ {
		a, b := n.row, key[send:]
		if n.back {
			a, b = b, a
		}
		ok = r.ranges[i].within(n.o.pairOf(r.ranges[i].f, a, b))
	}
	return ok
}

func (o *over) nearby(r *reach, key []byte, send int, back bool) *nearby {
	return &nearby{o: o, r: r, back: back, row: bytes.Clone(key[send:]), sort: bytes.Clone(key[:send]), rows: r.rows}
}

// before gives the key of the first row of a partition that is within reach of a row, which may be the row's own.
func (o *over) before(r *reach, lo, key []byte, send int) []byte {
	return o.earliest(o.nearby(r, key, send, true), lo, key)
}

func (o *over) earliest(n *nearby, lo, key []byte) []byte {
	found := key
	o.rows.ScanDesc(lo, key, func(k, v []byte) bool {
		if !n.takes(k, v) {
			return false
		}
		found = bytes.Clone(k)
		return true
	})
	return found
}

// behind gives a key above that of the last row within reach of a row; hi if there is no row beyond that.
func (o *over) behind(r *reach, key []byte, send int, hi []byte) []byte {
	return o.latest(o.nearby(r, key, send, false), key, hi)
}

func (o *over) latest(n *nearby, key, hi []byte) []byte {
	found := append(bytes.Clone(key), 0)
	end := true
	o.rows.Scan(found, hi, func(k, v []byte) bool {
		if !n.takes(k, v) {
			end = false
			return false
		}
		found = append(append(found[:0:0], k...), 0)
		return true
	})
	if end {
		return hi
	}
	return found
}
