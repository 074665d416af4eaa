package join

import (
	"math"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// A join of two append-only inputs whose condition bounds their event times from both sides has its rows in table.Stretches: they only
// come, may get their first match, and go by time. What it does is what join does, with a mark in place of the number of matches.

// findNear says whether the join can have its rows in stretches.
func (o *join) findNear() bool {
	n, sp := o.n, o.span
	return o.sticky && n.KeyTime < 0 && n.LeftState != nil && n.RightState != nil &&
		sp != nil && !sp.noLo && !sp.noHi && sp.cols == [2]int{n.LeftTime, n.RightTime}
}

// width gives the length of a stretch of state.
func (s *span) width() int64 { return table.StretchWidth(s.hi - s.lo) }

// within gives the times that a row of side port with time t may match.
func (s *span) within(port int, t int64) (from, to int64) {
	if !types.IsFiniteTime(t) {
		return math.MinInt64, math.MaxInt64
	}
	if port == 0 {
		return rowenc.AddSat(t, s.lo), rowenc.AddSat(t, s.hi)
	}
	return rowenc.AddSat(t, -s.hi), rowenc.AddSat(t, -s.lo)
}

// processNear is process for rows in stretches, after prepare.
func (o *join) processNear(ep *dataflow.Epoch, s, other *side, b *batch.Batch, out dataflow.Emit) error {
	s.hashes = s.hashes[:0]
	for j := range s.live {
		s.hashes = append(s.hashes, table.HashBytes(s.kbuf[s.koff[j]:s.koff[j+1]]))
	}
	if err := o.probeNear(ep, s, other, b, out); err != nil {
		return err
	}
	settles := s.port == 0 && o.settles()
	for j, i := range s.live {
		matched, w := s.tracked && s.found[j] > 0, b.Weight(int(i))
		if s.tracked && matched == (o.n.Kind == plan.Semi) && (matched || !o.holding) {
			if err := o.emitRow(s, b, int(i), w, out); err != nil {
				return err
			}
		}
		if matched && settles {
			continue
		}
		s.count += w
		o.stats.RowsUpdated++
		o.scratch = rowenc.AppendRow(o.scratch[:0], b.Cols, int(i))
		s.near.Append(s.hashes[j], s.kbuf[s.koff[j]:s.koff[j+1]], s.when[j], w, o.scratch, matched)
	}
	return o.lone.Flush(out)
}

// probeNear finds the pairs of all live rows, emits them and notes on both sides what has a match.
func (o *join) probeNear(ep *dataflow.Epoch, s, other *side, b *batch.Batch, out dataflow.Emit) error {
	p := o.pairs
	p.from, p.to = p.from[:0], p.to[:0]
	for _, t := range s.when {
		from, to := o.span.within(s.port, t)
		p.from, p.to = append(p.from, from), append(p.to, to)
	}
	theirs := p.b.Cols[other.first : other.first+len(other.types)]
	var err error
	other.near.Find(s.hashes, s.koff, s.kbuf, p.from, p.to, func(j int, r table.Row) bool {
		if o.leftOnly() && s.port == 1 && r.Marked() {
			return true // another match changes nothing
		}
		rowenc.ReadRow(r.Body(), theirs)
		w := r.Weight()
		p.b.EndRow(b.Weight(int(s.live[j])) * w)
		p.live, p.other, p.mine = append(p.live, int32(j)), append(p.other, w), append(p.mine, s.live[j])
		p.near = append(p.near, r)
		if p.b.N >= batch.Target {
			err = o.flushNear(ep, s, other, b, out)
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	return o.flushNear(ep, s, other, b, out)
}

// flushNear completes the candidates with the rows of the batch and lets those come out that pass. Rows of the other side that
// got their first match come out, or are taken back, after them.
func (o *join) flushNear(ep *dataflow.Epoch, s, other *side, b *batch.Batch, out dataflow.Emit) error {
	p := o.pairs
	if p.b.N == 0 {
		return nil
	}
	for c, v := range p.b.Cols[s.first : s.first+len(s.types)] {
		v.AppendVector(b.Cols[c], p.mine)
	}
	refs := p.near
	p.mine, p.near = p.mine[:0], p.near[:0]
	sel, err := o.emitPairs(ep, s, out)
	if err != nil || !other.tracked {
		return err
	}
	return rowenc.EachRow(len(refs), sel, func(c int) error {
		r := refs[c]
		if r.Marked() {
			return nil
		}
		other.near.Mark(r)
		if err := o.turned(other, r.Body(), r.Weight(), true, out); err != nil {
			return err
		}
		if other.port == 0 && o.settles() {
			o.removed(other, r.Weight())
		}
		return nil
	})
}

// expireNear removes a side's rows whose time is at or below until.
func (o *join) expireNear(s *side, until int64, out dataflow.Emit) error {
	var show func(r table.Row) error
	if o.hold && o.shows(s) {
		show = func(r table.Row) error { return o.showNear(s, r, out) }
	}
	w, err := s.near.Expire(until, show)
	o.removed(s, w)
	return err
}

func (o *join) showNear(s *side, r table.Row, out dataflow.Emit) error {
	if r.Marked() {
		return nil
	}
	return o.emitStored(s, r.Body(), r.Weight(), out)
}
