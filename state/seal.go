package state

import "github.com/tidemarkdb/tidemark/sql/batch"

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
	runs := make([]*run, n)
	r.team.Run(n, func(i int) {
		part, rows := given[i*len(given)/n:(i+1)*len(given)/n], 0
		for _, b := range part {
			rows += b.N
		}
		x := &run{late: &late{}}
		x.grow(rows, r.rowSize+r.rowSize/16)
		for _, b := range part {
			x.add(&r.codec, b)
		}
		x.clip()
		runs[i] = x
	})
	for _, x := range runs {
		if n := len(x.recs); n > 0 {
			r.rowSize = len(x.data)/n + 1
			r.sealed = append(r.sealed, x)
		}
	}
}
