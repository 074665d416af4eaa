package engine

import (
	"math"
	"sync"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/sql/workers"
)

// Of the event times of an epoch the views need the greatest, which moves the watermark. The mean, the least and the lateness are for readers only: they are found
// while the views run, by workers that would wait (workers.Later), or after the views by the loop.

const (
	// pieceRows is how many rows are summarized in one go: some ten microseconds.
	pieceRows = 1 << 13
	// laterRows is the number of rows for each worker from which figures are found later.
	laterRows = pieceRows
)

// observations are what is to be found of the rows of a stream's epoch.
type observations struct {
	s      *stream
	pieces []observation
	later  workers.Later
	run    func(i int) // what later calls
	mu     sync.Mutex  // guards the stream's epoch and lateness while pieces are done
}

// observation is some of the times, as they stand in a batch of the epoch. Of those before them the greatest was high.
type observation struct {
	ts   []int64
	high int64
}

// observeLater is observe for a batch that stays as it is until the epoch ends: where there are several workers it finds the greatest time at once, and
// leaves the rest to settle.
func (s *stream) observeLater(v *batch.Vector) {
	team := s.team.Size(v.N, laterRows)
	if team == 1 || v.Valid != nil || v.Type.Kind == types.Date {
		s.observe(v)
		return
	}
	o := s.seen
	if o == nil {
		o = &observations{s: s}
		o.run = o.find
		s.seen = o
	}
	ts := v.I64[:v.N]
	n := len(ts) / pieceRows
	first := len(o.pieces)
	for i := range n {
		o.pieces = append(o.pieces, observation{ts: ts[i*len(ts)/n : (i+1)*len(ts)/n]})
	}
	pieces := o.pieces[first:]
	s.team.Run(team, func(w int) {
		for i := w * n / team; i < (w+1)*n/team; i++ {
			pieces[i].high = maxOf(pieces[i].ts)
		}
	})
	high := s.maxEvent
	for i := range pieces {
		most := pieces[i].high
		pieces[i].high = high
		high = max(high, most)
	}
	if high == math.MaxInt64 { // infinity does not count
		o.pieces = o.pieces[:first]
		s.observe(v)
		return
	}
	s.reach(high)
}

// maxOf gives the greatest of at least one. Four at a time do not wait for one another.
func maxOf(ts []int64) int64 {
	a := ts[0]
	b, c, d := a, a, a
	for len(ts) >= 4 {
		a, b, c, d = max(a, ts[0]), max(b, ts[1]), max(c, ts[2]), max(d, ts[3])
		ts = ts[4:]
	}
	for _, t := range ts {
		a = max(a, t)
	}
	return max(a, b, c, d)
}

// offer lets workers that wait find what is to be found.
func (s *stream) offer() {
	if o := s.seen; o != nil && len(o.pieces) > 0 {
		s.team.Start(&o.later, len(o.pieces), o.run)
	}
}

// settle returns when the figures of the epoch are complete, and its rows are not needed any more.
func (s *stream) settle() {
	if o := s.seen; o != nil && len(o.pieces) > 0 {
		o.later.Finish()
		clear(o.pieces)
		o.pieces = o.pieces[:0]
	}
}

// find does one piece.
func (o *observations) find(i int) {
	p := &o.pieces[i]
	ts := p.ts
	sum := summarize(ts)
	if sum.min == math.MinInt64 { // infinity does not count
		ts = nil
		for _, t := range p.ts {
			if t != math.MinInt64 {
				ts = append(ts, t)
			}
		}
		if len(ts) == 0 {
			return
		}
		sum = summarize(ts)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.s.epoch.add(&sum)
	o.s.lateness.note(ts, &sum, p.high, 1)
}
