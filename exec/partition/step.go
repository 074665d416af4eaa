package partition

import (
	"unsafe"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Step is an operator without state before a partitioned one. In the graph it passes on what it is given: the partitioned operator has
// several instances of it, which run side by side. It is used from one goroutine.
type Step struct {
	build func() (dataflow.Operator, error)
	made  []dataflow.Operator
	// The way to the partitioned operator, and the place on it.
	path  *path
	level int
	ep    dataflow.Epoch
	// nullTimes are those that were counted elsewhere.
	nullTimes int64
}

// NewStep makes the step of what build makes: operators that depend on nothing but the batch at hand, and have nothing to do at the end of an
// epoch. It must be given to New with the operator that its output goes to.
func NewStep(build func() (dataflow.Operator, error)) *Step { return &Step{build: build} }

// instance makes one more instance.
func (s *Step) instance() (dataflow.Operator, error) {
	op, err := s.build()
	if err == nil {
		s.made = append(s.made, op)
	}
	return op, err
}

// Push implements dataflow.Operator: the batch goes on, and the partitioned operator is told where on the way it came in.
func (s *Step) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, out dataflow.Emit) error {
	s.ep = *ep
	if s.path.from <= s.level {
		return out(b)
	}
	s.path.from = s.level
	defer func() { s.path.from = len(s.path.steps) }()
	return out(b)
}

// EndEpoch implements dataflow.Operator.
func (s *Step) EndEpoch(*dataflow.Epoch, dataflow.Emit) error { return nil }

// AddNullTimes counts rows without a time that were dropped elsewhere, on this operator's behalf.
func (s *Step) AddNullTimes(n int64) { s.nullTimes += n }

// Stats implements dataflow.Stateful: what the instances counted.
func (s *Step) Stats() dataflow.Stats {
	var sum dataflow.Stats
	for _, op := range s.made {
		if x, ok := op.(dataflow.Stateful); ok {
			one := x.Stats()
			sum.Name = one.Name
			sum.RowsNullEvent += one.RowsNullEvent
		}
	}
	sum.RowsNullEvent += s.nullTimes
	return sum
}

// Port is one input of a partitioned operator.
type Port struct {
	// Keys are the expressions over the port's columns that the rows are divided by; equal keys must have one type family on all ports.
	Keys []plan.Expr
	// Steps are those that lead to the port, the first one first. A batch may come in at any of them, or at the port.
	Steps []*Step
	// Behind is how many of them, at the end, run in the slots, so that what they make need not be copied there. They add columns behind
	// those that Keys refer to, and leave rows out or repeat them.
	Behind int
}

// path is a port with its steps.
type path struct {
	steps []*Step
	cut   int // the first step behind the cut
	from  int // where the batch at hand came in, by level; len(steps): at the port
	keys  []plan.Expr
	in    []types.Type
}

// newPath takes a port, whose columns have the types in.
func newPath(p Port, in []types.Type) *path {
	x := &path{steps: p.Steps, cut: len(p.Steps) - p.Behind, from: len(p.Steps), keys: p.Keys, in: in}
	for i, s := range x.steps {
		s.path, s.level = x, i
	}
	return x
}

// chain are a lane's instances of what a port's rows go through before the cut.
type chain struct {
	keys  *rowenc.Exprs
	steps []dataflow.Operator
	eps   []dataflow.Epoch
	emits []dataflow.Emit // to the step of that number; the last one to the cut
	// stretch is the part of a batch that is on its way.
	stretch batch.Batch
}

// newChain makes a lane's chain for a port.
func (l *lane) newChain(port int, p *path, env *kernel.Env) (*chain, error) {
	keys, err := rowenc.Compile(p.keys, p.in)
	if err != nil {
		return nil, err
	}
	c := &chain{keys: keys, eps: make([]dataflow.Epoch, p.cut)}
	for i, s := range p.steps[:p.cut] {
		op, err := s.instance()
		if err != nil {
			return nil, err
		}
		c.steps = append(c.steps, op)
		c.emits = append(c.emits, func(b *batch.Batch) error {
			if b.N == 0 {
				return nil
			}
			return op.Push(&c.eps[i], 0, b, c.emits[i+1])
		})
	}
	c.emits = append(c.emits, func(b *batch.Batch) error { return l.cutUp(port, c, b, env) })
	return c, nil
}

// begin readies the chain for a batch of the epoch; what the steps find is the lane's sink's.
func (c *chain) begin(p *path, sink dataflow.Sink) {
	for i := range c.eps {
		c.eps[i] = p.steps[i].ep
		c.eps[i].Sink = sink
	}
}

// behind are a slot's instances of the steps behind the cut.
type behind struct {
	steps []dataflow.Operator
	eps   []dataflow.Epoch
	emits []dataflow.Emit // to the step of that number; the last one to the operator
}

// newBehind makes a slot's instances for a port.
func (s *slot) newBehind(port int, p *path) (*behind, error) {
	x := &behind{eps: make([]dataflow.Epoch, len(p.steps)-p.cut)}
	for i, st := range p.steps[p.cut:] {
		op, err := st.instance()
		if err != nil {
			return nil, err
		}
		x.steps = append(x.steps, op)
		x.emits = append(x.emits, func(b *batch.Batch) error { return op.Push(&x.eps[i], 0, b, x.emits[i+1]) })
	}
	x.emits = append(x.emits, func(b *batch.Batch) error { return s.op.Push(&s.ep, port, b, s.emit) })
	return x, nil
}

// unsigned gives words as what they were before they were a column.
func unsigned(x []int64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// take gives the slot's operator a piece, by way of the steps behind the cut that it has not gone through.
func (s *slot) take(p *path, x *piece, emit dataflow.Emit) error {
	s.ep.Port = x.port
	b := x.b
	if n := len(b.Cols) - 1; x.hashed {
		s.rows = batch.Batch{N: b.N, Weights: b.Weights, Cols: b.Cols[:n:n], Hashes: unsigned(b.Cols[n].I64)}
		b = &s.rows
	}
	if x.level == len(p.steps) {
		return s.op.Push(&s.ep, x.port, b, emit)
	}
	s.emit = emit
	bh, at := s.behind[x.port], x.level-p.cut
	for i := at; i < len(bh.steps); i++ {
		bh.eps[i] = p.steps[p.cut+i].ep
		bh.eps[i].Sink = s.ep.Sink
	}
	return bh.emits[at](b)
}
