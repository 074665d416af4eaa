package partition

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// parallelRows is the number of rows from which work is handed to several goroutines.
const parallelRows = 1 << 13

// run runs f for each slot, on the workers if parallel, and passes on what the slots gave, slot by slot. f gives slot.emit what comes out.
func (o *Operator) run(ep *dataflow.Epoch, out dataflow.Emit, parallel bool, f func(s *slot) error) error {
	n := 1
	if parallel {
		n = max(min(o.workers.Number(), len(o.slots)), 1)
	}
	for i := range o.slots {
		o.slots[i].ep = *ep
	}
	if n == 1 && !o.aside {
		for i := range o.slots {
			s := &o.slots[i]
			s.above.begin(0, ep.Sink)
			s.emit, s.to = s.above.emits[0], out
			if err := f(s); err != nil {
				return err
			}
		}
		return nil
	}
	taken := make([]atomic.Bool, len(o.slots))
	o.workers.Run(n, func(w int) { o.runSlots(w, n, taken, f) })
	for i := range o.slots {
		if err := o.slots[i].err; err != nil {
			return err
		}
	}
	return o.passOn(ep, out)
}

// Range gives the slots [lo, hi) of partition w of n.
func Range(w, n, slots int) (lo, hi int) { return w * slots / n, (w + 1) * slots / n }

// Of gives the partition, of n, that owns a slot: the inverse of Range.
func Of(slot, n, slots int) int { return ((slot+1)*min(n, slots) - 1) / slots }

// runSlots runs the slots of partition w, whose tables its core has in its caches, and then what is left of others': a worker that began late, or
// has more to do, is not waited for.
func (o *Operator) runSlots(w, n int, taken []atomic.Bool, f func(s *slot) error) {
	first, _ := Range(w, n, len(o.slots))
	for k := range o.slots {
		i := (first + k) % len(o.slots)
		if taken[i].Swap(true) {
			continue
		}
		s := &o.slots[i]
		if s.err = s.runAside(f); s.err != nil {
			return
		}
	}
}

// runAside runs f for the slot beside others: what comes out and is found is kept. The steps above get what they would get of the operator with all slots, batches that
// are given away.
func (s *slot) runAside(f func(s *slot) error) error {
	s.beginAside()
	if err := f(s); err != nil || len(s.above.steps) == 0 {
		return err
	}
	return s.given.giveAway(s.above.emits[0])
}

// beginAside readies the slot to run beside others in its epoch.
func (s *slot) beginAside() {
	s.ep.Sink = &s.sink
	s.emit, s.to = s.keepOut, nil
	if len(s.above.steps) > 0 {
		s.above.begin(0, &s.sink)
		s.emit, s.to = s.keepGiven, s.keepOut
	}
}

// passOn gives what the slots emitted and recorded to those they are for.
func (o *Operator) passOn(ep *dataflow.Epoch, out dataflow.Emit) error {
	o.aside = false
	for i := range o.slots {
		s := &o.slots[i]
		if err := replay(s.sink.take(), ep.Sink); err != nil {
			return err
		}
		if err := s.out.giveAway(out); err != nil {
			return err
		}
	}
	return nil
}

// collector keeps emitted batches: those of some size that it may keep, or have for other memory, and copies of others, joined or divided into ones of batch.Target
// rows. They are then given away.
type collector struct {
	full []collected
	free []*batch.Batch
	gift batch.Gift
	rows int // that were given away last
}

type collected struct {
	b   *batch.Batch
	own bool // the collector's memory
}

func (c *collector) add(b *batch.Batch) error {
	if b.Gift != nil && b.N >= batch.Target/2 {
		c.full = append(c.full, collected{b: b.Keep()})
		return nil
	}
	if b.Swaps && b.N >= batch.Target/4 {
		x := c.take(b, batch.Target)
		x.Exchange(b)
		c.full = append(c.full, collected{x, true})
		return nil
	}
	for lo := 0; lo < b.N; {
		n := len(c.full)
		if n == 0 || !c.full[n-1].own || c.full[n-1].b.N >= batch.Target {
			c.full = append(c.full, collected{c.take(b, min(c.rows, batch.Target)), true})
			n++
		}
		to := c.full[n-1].b
		hi := min(b.N, lo+batch.Target-to.N)
		if lo == 0 && hi == b.N {
			to.AppendBatch(b, nil)
		} else {
			to.AppendBatch(b.Slice(lo, hi), nil)
		}
		lo = hi
	}
	return nil
}

// take gives an empty batch with the columns of b, and room for some rows.
func (c *collector) take(b *batch.Batch, rows int) *batch.Batch {
	if k := len(c.free); k > 0 {
		x := c.free[k-1]
		c.free = c.free[:k-1]
		return x
	}
	return batch.New(b.Types(), rows)
}

// giveAway emits what there is, and keeps the memory that nobody takes for what comes.
func (c *collector) giveAway(out dataflow.Emit) error {
	if len(c.full) > 0 {
		c.rows = 0
	}
	for _, x := range c.full {
		c.gift.Taken = false
		c.rows += x.b.N
		x.b.Gift = &c.gift
		err := out(x.b)
		x.b.Gift = nil
		if err != nil {
			return err
		}
		if x.own && !c.gift.Taken && len(c.free) < keepFree {
			x.b.Reset()
			c.free = append(c.free, x.b)
		}
	}
	clear(c.full)
	c.full = c.full[:0]
	return nil
}

// recorder keeps what a slot gave to the sink, with copies of the rows.
type recorder struct {
	rows []*batch.Batch
	recs []record
	at   int // what is given now comes behind what others were given at lesser ones
}

type record struct {
	ep                    dataflow.Epoch // as an operator may describe rows that are not those of a port
	b                     *batch.Batch
	row, at               int
	late                  bool
	eventTime, start, end int64
	err                   *sqlerr.Error
}

// keep copies a row. Rows of one shape that follow each other share a batch.
func (r *recorder) keep(b *batch.Batch, i int) (*batch.Batch, int) {
	n := len(r.rows)
	if n == 0 || !sameShape(r.rows[n-1], b) {
		r.rows = append(r.rows, batch.New(b.Types(), 0))
		n++
	}
	to := r.rows[n-1]
	to.AppendRow(b, i, b.Weight(i))
	return to, to.N - 1
}

func sameShape(a, b *batch.Batch) bool {
	if len(a.Cols) != len(b.Cols) {
		return false
	}
	for i, c := range a.Cols {
		if c.Type != b.Cols[i].Type {
			return false
		}
	}
	return true
}

// Late implements dataflow.Sink.
func (r *recorder) Late(ep *dataflow.Epoch, b *batch.Batch, i int, eventTime, start, end int64) {
	to, row := r.keep(b, i)
	r.recs = append(r.recs, record{ep: *ep, b: to, row: row, at: r.at, late: true, eventTime: eventTime, start: start, end: end})
}

// Dead implements dataflow.Sink.
func (r *recorder) Dead(ep *dataflow.Epoch, b *batch.Batch, i int, err *sqlerr.Error) error {
	to, row := r.keep(b, i)
	r.recs = append(r.recs, record{ep: *ep, b: to, row: row, at: r.at, err: err})
	return nil
}

// take gives everything, and forgets it.
func (r *recorder) take() []record {
	recs := r.recs
	r.rows, r.recs = nil, nil
	return recs
}

// replay gives records to the epoch's own sink, in the order of what they note as at.
func replay(recs []record, sink dataflow.Sink) error {
	slices.SortStableFunc(recs, func(a, b record) int { return cmp.Compare(a.at, b.at) })
	for i := range recs {
		x := &recs[i]
		x.ep.Sink = sink
		if x.late {
			sink.Late(&x.ep, x.b, x.row, x.eventTime, x.start, x.end)
		} else if err := sink.Dead(&x.ep, x.b, x.row, x.err); err != nil {
			return err
		}
	}
	return nil
}
