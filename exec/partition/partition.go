package partition

import (
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/workers"
)

// MaxSlots bounds the slots of an operator.
const MaxSlots = 256

// flushRows is the number of rows at which what waits is worked off, and what it gives passed on, before the epoch's end: it bounds memory. It is more than epochs
// mostly have, whose rows are worked off together with their end: each time that the slots run, one worker waits for another.
const flushRows = 1 << 17

// Operator is one operator as several instances, each with the keys of its slot. Like any operator it is used from one goroutine; the
// instances may run on others during Push and EndEpoch, each on one at a time.
type Operator struct {
	slots   []slot
	paths   []*path // by port
	env     *kernel.Env
	workers workers.Team // as many as there are partitions
	lanes   []*lane
	waiting int // rows for slots since what these gave was last passed on: in queues, or had in portions already
	flushed int // rows of the epoch before those
	handout handout
	aside   bool // slots have run beside others since what they gave was passed on
	// How long it took in the last epoch to work off what waited at its end, and to end it.
	taking, ending time.Duration
}

// slot is one instance.
type slot struct {
	number int
	op     dataflow.Operator
	behind []*chain // by port
	above  *chain
	queue  queue
	had    int         // portions of the batch at hand that the operator was given
	rows   batch.Batch // the piece at hand, with its hashes
	ep     dataflow.Epoch
	// Of the run: where the operator's output goes, and where that of the steps above does.
	emit, to           dataflow.Emit
	given              collector     // by the operator, for the steps above
	keepOut, keepGiven dataflow.Emit // to the collectors
	out                collector
	sink               recorder
	err                error         // with which it ended a run early
	taking, ending     time.Duration // its part of the operator's
}

// New makes the operator of instances that differ in nothing but their state tables, over ports whose columns have the types in; above are the steps
// that its output goes through, the first one first. Errors are those of compiling the keys and the steps.
func New(ops []dataflow.Operator, ports []Port, above []*Step, in dataflow.InputTypes, env *kernel.Env, team workers.Team) (dataflow.Operator, error) {
	o := &Operator{slots: make([]slot, len(ops)), env: env, workers: team}
	for p := range ports {
		o.paths = append(o.paths, newPath(ports[p], in[p]))
	}
	for i, op := range ops {
		s := &o.slots[i]
		s.op, s.number, s.keepOut, s.keepGiven = op, i, s.out.add, s.given.add
		if x, ok := op.(dataflow.Sharer); ok {
			x.Share(len(ops))
		}
		if err := s.addChains(o.paths, above); err != nil {
			return nil, err
		}
	}
	if err := o.addLanes(1); err != nil {
		return nil, err
	}
	if _, ok := ops[0].(dataflow.WatermarkHolder); ok {
		return &holder{o}, nil
	}
	return o, nil
}

// Instances implements dataflow.Composite: the instances, by slot.
func (o *Operator) Instances() []dataflow.Operator {
	ops := make([]dataflow.Operator, len(o.slots))
	for i := range o.slots {
		ops[i] = o.slots[i].op
	}
	return ops
}

// Push implements dataflow.Operator: it queues the rows. Of a large batch slots may get some at once; what these give comes out with the rest.
func (o *Operator) Push(ep *dataflow.Epoch, port int, b *batch.Batch, out dataflow.Emit) error {
	if err := o.scatter(ep, port, b); err != nil {
		return err
	}
	if o.waiting >= flushRows {
		return o.flush(ep, out)
	}
	return nil
}

// flush works off what is queued, and passes on what has come of all rows so far.
func (o *Operator) flush(ep *dataflow.Epoch, out dataflow.Emit) error {
	parallel := o.waiting >= parallelRows
	o.flushed += o.waiting
	o.waiting = 0
	return o.run(ep, out, parallel, func(s *slot) error { return s.takeAll(o.paths) })
}

// takeAll works off what waits for the slot.
func (s *slot) takeAll(paths []*path) error {
	if len(s.queue.pieces) == 0 {
		return nil
	}
	defer func() { s.queue.pieces = s.queue.pieces[:0] }()
	return s.takePieces(paths, s.queue.pieces)
}

// takePieces works off pieces, whose memory lanes get back.
func (s *slot) takePieces(paths []*path, pieces []piece) error {
	defer s.queue.giveBack(pieces)
	for i := range pieces {
		x := &pieces[i]
		if err := s.take(paths[x.port], x); err != nil {
			return err
		}
	}
	return nil
}

// EndEpoch implements dataflow.Operator. Side by side, slots work off what waits together with the end of the epoch.
func (o *Operator) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	// With a watermark that moved there may be much to close.
	parallel := o.flushed+o.waiting >= parallelRows || ep.After != ep.Before && o.Stats().RowsTotal >= parallelRows
	o.flushed, o.taking, o.ending = 0, 0, 0
	end := func(s *slot) error { return s.op.EndEpoch(&s.ep, s.emit) }
	switch {
	case o.waiting == 0: // small epochs are many: no clock is read
		return o.run(ep, out, parallel, end)
	case !parallel:
		start := time.Now()
		if err := o.flush(ep, out); err != nil {
			return err
		}
		taken := time.Now()
		err := o.run(ep, out, false, end)
		o.flushed, o.taking, o.ending = 0, taken.Sub(start), time.Since(taken)
		return err
	}
	o.waiting = 0
	err := o.run(ep, out, true, func(s *slot) error {
		start := time.Now()
		if err := s.takeAll(o.paths); err != nil {
			return err
		}
		taken := time.Now()
		err := end(s)
		s.taking, s.ending = taken.Sub(start), time.Since(taken)
		return err
	})
	for i := range o.slots {
		o.taking, o.ending = o.taking+o.slots[i].taking, o.ending+o.slots[i].ending
	}
	return err
}

// Deferred implements dataflow.Deferrer.
func (o *Operator) Deferred() float64 {
	if all := o.taking + o.ending; all > 0 {
		return float64(o.taking) / float64(all)
	}
	return 0
}

// Stats implements dataflow.Stateful: the sums over the slots.
func (o *Operator) Stats() dataflow.Stats {
	var sum dataflow.Stats
	for i := range o.slots {
		op, ok := o.slots[i].op.(dataflow.Stateful)
		if !ok {
			continue
		}
		s := op.Stats()
		sum.Name = s.Name
		sum.RowsTotal += s.RowsTotal
		sum.RowsUpdated += s.RowsUpdated
		sum.RowsRemoved += s.RowsRemoved
		sum.RowsDroppedLate += s.RowsDroppedLate
		sum.RowsNullEvent += s.RowsNullEvent
		sum.RowsDuplicate += s.RowsDuplicate
		sum.MemoryUsedBytes += s.MemoryUsedBytes
	}
	return sum
}

// Metrics implements dataflow.Metered: the sums over the slots, but of what is counted of the operator's making (numValueStateVars and its
// like) that of one; nil where the instances have none.
func (o *Operator) Metrics() map[string]int64 {
	var sum map[string]int64
	for i := range o.slots {
		m, ok := o.slots[i].op.(dataflow.Metered)
		if !ok {
			return nil
		}
		for name, n := range m.Metrics() {
			if sum == nil {
				sum = map[string]int64{}
			}
			if strings.HasSuffix(name, "Vars") {
				sum[name] = n
			} else {
				sum[name] += n
			}
		}
	}
	return sum
}

// OutputWatermark implements dataflow.WatermarkMapper. It is the same in every slot, as it depends on the plan.
func (o *Operator) OutputWatermark(in dataflow.Watermark) dataflow.Watermark {
	if m, ok := o.slots[0].op.(dataflow.WatermarkMapper); ok {
		return m.OutputWatermark(in)
	}
	return in
}

// holder is an Operator of instances that may hold the watermark back.
type holder struct{ *Operator }

// HeldWatermark implements dataflow.WatermarkHolder: the slot that is furthest behind holds it.
func (h *holder) HeldWatermark(in dataflow.Watermark) dataflow.Watermark {
	w := in
	for i := range h.slots {
		w = min(w, h.slots[i].op.(dataflow.WatermarkHolder).HeldWatermark(in))
	}
	return w
}
