package join

import (
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

var errNoTime = sqlerr.New(sqlerr.InternalError, "a join bounds the state of a side that has no event time")

// pairs are candidates: rows of the batch joined with rows of the other side that have their key.
type pairs struct {
	b     *batch.Batch // left's columns, then right's; weights are the products
	live  []int32      // index in the side's live of each candidate's row
	other []int64      // weight of the other row
	// Keys in state of the other rows, if their match counts have to be kept.
	keys []byte
	koff []uint32
	sel  []int32

	// Other rows that got matches, to be counted when no scan runs: keys in touched[toff[j]:toff[j+1]] and by how much.
	touched []byte
	toff    []uint32
	by      []int64

	// Of rows in stretches: rows of the batch, and the other ones, and what times each row of the batch looks for.
	mine     []int32
	near     []table.Row
	from, to []int64

	key, lo, end []byte // buffers
}

func newPairs(ts []types.Type) *pairs {
	return &pairs{b: batch.New(ts, batch.Target), koff: []uint32{0}, toff: []uint32{0}}
}

// process takes a batch of one side: its pairs come out, then what changes for rows without a partner, then it is stored.
func (o *join) process(ep *dataflow.Epoch, port int, b *batch.Batch, out dataflow.Emit) error {
	o.loadCounts()
	s, other := &o.sides[port], &o.sides[1-port]
	if err := o.prepare(ep, s, b, out); err != nil {
		return err
	}
	s.found = append(s.found[:0], make([]int64, len(s.live))...)
	if o.near {
		return o.processNear(ep, s, other, b, out)
	}
	if o.keyed && o.leftOnly() {
		// No pairs come out and counts say it all.
	} else if err := o.probe(ep, s, other, b, out); err != nil {
		return err
	}
	for j, i := range s.live {
		if err := o.arrive(s, other, b, j, int(i), out); err != nil {
			return err
		}
	}
	return o.lone.Flush(out)
}

// probe finds the pairs of all live rows, emits them and counts them in found and in the other side's rows.
func (o *join) probe(ep *dataflow.Epoch, s, other *side, b *batch.Batch, out dataflow.Emit) error {
	p := o.pairs
	mine := p.b.Cols[s.first : s.first+len(s.types)]
	theirs := p.b.Cols[other.first : other.first+len(other.types)]
	counting := other.tracked && !o.keyed
	for j, i := range s.live {
		k := s.kbuf[s.koff[j]:s.koff[j+1]]
		lo, hi := k, []byte(nil)
		if o.span != nil {
			lo, hi = o.span.reach(p.lo, p.end, k, s.port, s.when[j])
			p.lo = lo
		} else {
			hi = rowenc.PrefixEnd(p.end, k)
		}
		if hi != nil {
			p.end = hi
		}
		var err error
		w := b.Weight(int(i))
		other.rows.Scan(lo, hi, func(key, val []byte) bool {
			e := o.readEntry(other, val)
			for c, v := range mine {
				v.AppendFrom(b.Cols[c], int(i))
			}
			rowenc.ReadRow(key[e.klen:], theirs)
			p.b.EndRow(w * e.w)
			p.live, p.other = append(p.live, int32(j)), append(p.other, e.w)
			if counting {
				p.keys = append(p.keys, key...)
				p.koff = append(p.koff, uint32(len(p.keys)))
			}
			if p.b.N >= batch.Target {
				err = o.flushPairs(ep, s, b, counting, out)
			}
			return err == nil
		})
		if err == nil {
			err = o.countTouched(other, out)
		}
		if err != nil {
			return err
		}
	}
	if err := o.flushPairs(ep, s, b, counting, out); err != nil {
		return err
	}
	return o.countTouched(other, out)
}

// flushPairs emits the candidates that pass, and notes the other rows that got matches if their numbers are counted.
func (o *join) flushPairs(ep *dataflow.Epoch, s *side, b *batch.Batch, counting bool, out dataflow.Emit) error {
	p := o.pairs
	live, n := p.live, p.b.N
	sel, err := o.emitPairs(ep, s, out)
	if err == nil && counting {
		err = rowenc.EachRow(n, sel, func(c int) error {
			p.touched = append(p.touched, p.keys[p.koff[c]:p.koff[c+1]]...)
			p.toff = append(p.toff, uint32(len(p.touched)))
			p.by = append(p.by, b.Weight(int(s.live[live[c]])))
			return nil
		})
	}
	p.keys, p.koff = p.keys[:0], p.koff[:1]
	return err
}

// emitPairs tests the candidates, counts those that pass in found and emits them. It gives those (nil: all), valid until the next call.
func (o *join) emitPairs(ep *dataflow.Epoch, s *side, out dataflow.Emit) (sel []int32, err error) {
	p := o.pairs
	if p.b.N == 0 {
		return nil, nil
	}
	// Many candidates may go by before one passes.
	if err := ep.Interrupted(); err != nil {
		return nil, err
	}
	passed := p.b
	if o.residual != nil {
		if sel, err = o.testPairs(ep); err != nil {
			return nil, err
		}
		if len(sel) == p.b.N {
			sel = nil
		} else {
			passed = nil
			if !o.leftOnly() && len(sel) > 0 {
				passed = p.b.Select(sel)
			}
		}
	}
	if s.tracked {
		_ = rowenc.EachRow(p.b.N, sel, func(c int) error {
			s.found[p.live[c]] += p.other[c]
			return nil
		})
	}
	if passed != nil && !o.leftOnly() {
		err = out(passed)
	}
	p.b.Reset()
	p.live, p.other = p.live[:0], p.other[:0]
	return sel, err
}

// testPairs gives the candidates for which the rest of the condition is true; it is never nil.
func (o *join) testPairs(ep *dataflow.Epoch) ([]int32, error) {
	p := o.pairs
	sel, failed := o.residual.Filter(o.env, p.b, nil, p.sel[:0])
	if sel == nil {
		sel = []int32{}
	}
	p.sel = sel
	if len(failed) == 0 {
		return sel, nil
	}
	return rowenc.Bury(pairEpoch(ep), p.b, sel, failed)
}

// pairEpoch is ep with one port that describes pairs, so that a pair's dead letter is the same whichever row came last.
func pairEpoch(ep *dataflow.Epoch) *dataflow.Epoch {
	e := *ep
	e.Port, e.Inputs = 0, nil
	if len(ep.Inputs) == 2 {
		l, r := ep.Inputs[0], ep.Inputs[1]
		both := dataflow.PortInfo{Columns: slices.Concat(l.Pair, r.Pair), Streams: l.Streams}
		if r.Streams != l.Streams {
			both.Streams += ", " + r.Streams
		}
		e.Inputs = []dataflow.PortInfo{both}
	}
	return &e
}

// countTouched adds to the match counts of the other side's rows and lets those come out that gained their first match or lost their last.
func (o *join) countTouched(other *side, out dataflow.Emit) error {
	p := o.pairs
	for j, by := range p.by {
		key := p.touched[p.toff[j]:p.toff[j+1]]
		val, ok := other.rows.Get(key)
		if !ok {
			continue
		}
		e := o.readEntry(other, val)
		if o.sticky && e.matches > 0 {
			continue
		}
		was := e.matches > 0
		e.matches += by
		o.putEntry(other, key, e)
		if is := e.matches > 0; is != was {
			if err := o.turned(other, key[e.klen:], e.w, is, out); err != nil {
				return err
			}
			if o.settles() {
				o.forget(other, key, e)
			}
		}
	}
	p.touched, p.toff, p.by = p.touched[:0], p.toff[:1], p.by[:0]
	return nil
}

// turned lets a stored row of a tracked side come out, or takes it back, because it now has a match or has none any more.
func (o *join) turned(s *side, row []byte, w int64, matched bool, out dataflow.Emit) error {
	switch {
	case o.n.Kind == plan.Semi:
		if !matched {
			w = -w
		}
	case o.holding:
		return nil // it comes out when it is evicted, or at the end, if it is unmatched then
	case matched:
		w = -w
	}
	return o.emitStored(s, row, w, out)
}

// arrive stores live row j, row i of b, and lets it come out alone if that is due.
func (o *join) arrive(s, other *side, b *batch.Batch, j, i int, out dataflow.Emit) error {
	k, w := s.kbuf[s.koff[j]:s.koff[j+1]], b.Weight(i)
	matches := s.found[j]
	if s.tracked && o.keyed {
		matches = other.keyCount(k)
	}
	if s.tracked {
		show := !o.holding && matches <= 0
		if o.n.Kind == plan.Semi {
			show = matches > 0
		}
		if show {
			if err := o.emitRow(s, b, i, w, out); err != nil {
				return err
			}
		}
	}
	if s.port == 0 && matches > 0 && o.settles() {
		return nil
	}
	o.store(s, b, j, i, k, matches)
	if s.counts == nil {
		return nil
	}
	was, is := o.addCount(s, k, w)
	if (was > 0) == (is > 0) {
		return nil
	}
	return o.turnKey(other, k, is > 0, out)
}

// turnKey does what turned does for all rows of a side with a join key.
func (o *join) turnKey(s *side, joinKey []byte, matched bool, out dataflow.Emit) error {
	if o.holding && o.n.Kind != plan.Semi && !o.settles() {
		return nil
	}
	p := o.pairs
	hi := rowenc.PrefixEnd(p.end, joinKey)
	if hi != nil {
		p.end = hi
	}
	var err error
	removed := int64(0)
	s.rows.Scan(joinKey, hi, func(key, val []byte) bool {
		e := o.readEntry(s, val)
		err = o.turned(s, key[e.klen:], e.w, matched, out)
		removed += e.w
		return err == nil
	})
	if err == nil && o.settles() {
		s.rows.DeleteRange(joinKey, hi)
		o.removed(s, removed)
	}
	return err
}

// forget removes a stored row of the left side.
func (o *join) forget(s *side, key []byte, e entry) {
	s.rows.Delete(key)
	o.removed(s, e.w)
	if s.times == nil {
		return
	}
	o.one.Reset()
	rowenc.ReadRow(key[e.klen:], o.one.Cols)
	t, _ := rowenc.EventTime(o.one.Cols[s.timeCol], 0)
	o.scratch = append(rowenc.AppendTime(o.scratch[:0], t), key...)
	s.times.Delete(o.scratch)
}
