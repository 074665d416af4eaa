package partition

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/workers"
)

// A large batch goes to the slots in portions. Workers take the next one each, copy its rows for the slots, and then give their own slots what
// others and they have copied so far. So a row that is copied is used while it is in the near caches, and nobody waits between copying and using.

// portion is the stretches [lo, hi) of a batch, and what has come of them. It is the lane's that took it until it is done; then the pieces for a slot are those of
// the worker that owns the slot.
type portion struct {
	lo, hi int
	done   atomic.Bool // all pieces are there
	pieces [][]piece   // by slot
}

// handout is a batch on its way to the slots in portions.
type handout struct {
	all   []*portion   // memory of portions
	cut   []*portion   // in the order of their rows
	taken atomic.Int32 // portions, or more once there are none
	done  atomic.Int32 // portions
}

// over says that all portions are done.
func (h *handout) over() bool { return int(h.done.Load()) == len(h.cut) }

// divide cuts a batch of so many stretches into portions for lanes. A slot should get batch.Target rows of each: what operators do once a batch then does not
// count, and the rows are in the near caches when they come. But each lane should have two portions or more.
func (o *Operator) divide(p *path, lanes, stretches int) {
	most := max(stretches/(2*lanes), 1)
	each := most
	if p.kept > 0 {
		each = min(max(int(float64(batch.Target*len(o.slots))/(p.kept*stretchRows)), 1), most)
	}
	h := &o.handout
	h.cut = h.cut[:0]
	for lo := 0; lo < stretches; lo += each {
		if n := len(h.cut); n == len(h.all) {
			h.all = append(h.all, &portion{pieces: make([][]piece, len(o.slots))})
		}
		x := h.all[len(h.cut)]
		x.lo, x.hi = lo, min(lo+each, stretches)
		x.done.Store(false)
		h.cut = append(h.cut, x)
	}
	h.taken.Store(0)
	h.done.Store(0)
}

// next gives the number of a portion that nobody has taken, -1 if there is none.
func (h *handout) next() int {
	if int(h.taken.Load()) < len(h.cut) {
		if i := int(h.taken.Add(1)) - 1; i < len(h.cut) {
			return i
		}
	}
	return -1
}

// scatterAside takes b through lanes that work side by side, and gives the slots' operators some of what comes out. The rest waits in their queues.
func (o *Operator) scatterAside(ep *dataflow.Epoch, lanes []*lane, port int, b *batch.Batch, stretches int) error {
	o.divide(o.paths[port], len(lanes), stretches)
	o.beginAside(ep)
	o.workers.Run(len(lanes), func(w int) { o.runPortions(w, len(lanes), port, b) })
	return o.endAside(ep, lanes, port, b.N)
}

// beginAside readies the slots for portions.
func (o *Operator) beginAside(ep *dataflow.Epoch) {
	o.aside = true
	for i := range o.slots {
		s := &o.slots[i]
		s.had, s.err, s.ep = 0, nil, *ep
		s.beginAside()
	}
}

// lastWait is how long at most a worker waits for portions that others are copying when all are taken: several times what it takes to copy one.
const lastWait = 50 * time.Microsecond

// runPortions is what worker w of n does. It gives its slots all they can get, so that little is left for the end of the epoch, where workers wait for each other
// once more. What they cannot have yet when others take long is queued.
func (o *Operator) runPortions(w, n, port int, b *batch.Batch) {
	l, h := o.lanes[w], &o.handout
	lo, hi := Range(w, n, len(o.slots))
	own := o.slots[lo:hi]
	for i := h.next(); i >= 0; i = h.next() {
		if l.take(port, o.paths[port], b, i, h); l.err != nil {
			return
		}
		o.takeDone(own)
	}
	if workers.Await(lastWait, h.over) {
		o.takeDone(own)
	}
}

// take takes portion i of b. If it fails it is never done, so no slot gets what is behind it.
func (l *lane) take(port int, p *path, b *batch.Batch, i int, h *handout) {
	x := h.cut[i]
	l.portion, l.sink.at = x, i
	for k := x.lo; k < x.hi; k++ {
		l.run(port, p, b, k)
	}
	if l.err == nil {
		x.done.Store(true)
		h.done.Add(1)
	}
}

// takeDone gives slots what portions have for them that are done.
func (o *Operator) takeDone(own []slot) {
	for k := range own {
		for own[k].takeNext(o) {
		}
	}
}

// takeNext gives the slot's operator what the next portion has for it. Portions come in order; false: there is none, it is not done, or the operator has failed.
func (s *slot) takeNext(o *Operator) bool {
	cut := o.handout.cut
	if s.err != nil || s.had == len(cut) || !cut[s.had].done.Load() {
		return false
	}
	if s.err = s.takeAll(o.paths); s.err != nil { // of batches before
		return false
	}
	x := &cut[s.had].pieces[s.number]
	s.had++
	s.err = s.takePieces(o.paths, *x)
	*x = (*x)[:0]
	return true
}

// endAside queues what lanes have filled and slots have not had of a batch of n rows, and gives what lanes found to the epoch's sink. The error is that of the first
// portion that failed, so the same whichever lanes took which; else that of a slot's operator.
func (o *Operator) endAside(ep *dataflow.Epoch, lanes []*lane, port, n int) error {
	var failed *lane
	var recs []record
	queued := 0
	for _, l := range lanes {
		queued += l.queued
		recs = append(recs, l.sink.take()...)
		if l.err != nil && (failed == nil || l.sink.at < failed.sink.at) {
			failed = l
		}
	}
	if failed != nil { // what others found behind it is as if they had not come there
		recs = slices.DeleteFunc(recs, func(r record) bool { return r.at > failed.sink.at })
	}
	if err := replay(recs, ep.Sink); err != nil {
		return err
	}
	if failed != nil {
		return failed.err
	}
	for i := range o.slots {
		s := &o.slots[i]
		if s.err != nil {
			return s.err
		}
		for _, x := range o.handout.cut[s.had:] {
			s.queue.pieces = append(s.queue.pieces, x.pieces[i]...)
			clear(x.pieces[i])
			x.pieces[i] = x.pieces[i][:0]
		}
	}
	o.waiting += queued
	o.paths[port].kept = float64(queued) / float64(n)
	return nil
}
