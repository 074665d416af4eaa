package state

import (
	"sync"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/reuse"
)

const (
	// sealRows is the number of rows from which one of a team pays.
	sealRows = batch.Target
	// sealParts bounds the runs of an epoch: readers look at all of them until they are merged.
	sealParts = 8
)

// sealGiven encodes the batches that were kept, several of the team side by side if they are many. Each makes a run of its part, which is sorted when somebody reads
// it or, mostly, together with those of other epochs when it is merged.
func (r *Rows) sealGiven() {
	given, n := r.given, min(r.team.Size(r.givenRows, sealRows), sealParts, len(r.given))
	if r.givenRows < r.st.lateFrom {
		n = 1
	}
	r.given, r.givenRows, r.parts = nil, 0, n
	if n <= 1 {
		for _, b := range given {
			r.encode(b)
		}
		return
	}
	if r.cuts == nil {
		x := &run{}
		for i := 0; len(x.recs) == 0; i++ {
			x.add(&r.codec, given[i])
		}
		r.cuts = newCuts(x)
	}
	runs := make([]*run, n)
	r.team.Run(n, func(i int) {
		part, rows := given[i*len(given)/n:(i+1)*len(given)/n], 0
		for _, b := range part {
			rows += b.N
		}
		x := tails.Get().(*run)
		x.grow(rows, r.rowSize+r.rowSize/16)
		for _, b := range part {
			x.add(&r.codec, b)
		}
		if len(x.recs) > 0 {
			runs[i] = x.split(r.cuts)
		}
		x.again()
	})
	for _, x := range runs {
		if x != nil && x.rows() > 0 {
			r.rowSize = len(x.data)/x.rows() + 1
			r.sealed = append(r.sealed, x)
		}
	}
}

// tails has empty runs with memory for many rows.
var tails = sync.Pool{New: func() any { return &run{} }}

// again gives an empty run for what comes after r, of which nobody has anything any more. Much memory goes to whoever has many rows next.
func (r *run) again() *run {
	const small = 1 << 16
	reuse.Bytes(r.data)
	r.recs, r.data, r.less = r.recs[:0], r.data[:0], 0
	if r.memBytes() <= small {
		return r
	}
	tails.Put(r)
	return &run{}
}
