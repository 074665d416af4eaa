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

// Step is an operator without state before a partitioned one, or behind it. In the graph it passes on what it is given: the partitioned operator
// has several instances of it, which run side by side. It is used from one goroutine.
type Step struct {
	build func() (dataflow.Operator, error)
	made  []dataflow.Operator
	// The way to the partitioned operator, and the place on it; nil: the step is behind it.
	path  *path
	level int
	ep    dataflow.Epoch
	// nullTimes are those that were counted elsewhere.
	nullTimes int64
}

// NewStep makes the step of what build makes: operators that depend on nothing but the batch at hand, and have nothing to do at the end of an
// epoch. It must be given to New with the operator that its output goes to, or whose output goes to it.
func NewStep(build func() (dataflow.Operator, error)) *Step { return &Step{build: build} }

// instance makes one more instance.
func (s *Step) instance() (dataflow.Operator, error) {
	op, err := s.build()
	if err == nil {
		s.made = append(s.made, op)
	}
	return op, err
}

// BeginEpoch implements dataflow.Beginner: the instances run in the epoch as the step sees it.
func (s *Step) BeginEpoch(ep *dataflow.Epoch) { s.ep = *ep }

// Push implements dataflow.Operator: the batch goes on, and the partitioned operator is told where on the way to it it came in.
func (s *Step) Push(_ *dataflow.Epoch, _ int, b *batch.Batch, out dataflow.Emit) error {
	if s.path == nil || s.path.from <= s.level {
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
	// kept is the rows for the slots by row of the last batch in portions: filters make it less than 1, windows more.
	kept float64
}

// newPath takes a port, whose columns have the types in.
func newPath(p Port, in []types.Type) *path {
	x := &path{steps: p.Steps, cut: len(p.Steps) - p.Behind, from: len(p.Steps), keys: p.Keys, in: in}
	for i, s := range x.steps {
		s.path, s.level = x, i
	}
	return x
}

// chain are instances of steps that follow each other, of a lane's or a slot's own.
type chain struct {
	steps []*Step
	eps   []dataflow.Epoch
	emits []dataflow.Emit // to the instance of that number; the last one to what the steps lead to
}

// newChain makes instances of steps that lead to an emit.
func newChain(steps []*Step, to dataflow.Emit) (*chain, error) {
	c := &chain{steps: steps, eps: make([]dataflow.Epoch, len(steps)), emits: make([]dataflow.Emit, len(steps)+1)}
	for i, s := range steps {
		op, err := s.instance()
		if err != nil {
			return nil, err
		}
		c.emits[i] = func(b *batch.Batch) error {
			if b.N == 0 {
				return nil
			}
			return op.Push(&c.eps[i], 0, b, c.emits[i+1])
		}
	}
	c.emits[len(steps)] = to
	return c, nil
}

// begin readies the instances from number at on; what they find is the sink's.
func (c *chain) begin(at int, sink dataflow.Sink) {
	for i := at; i < len(c.steps); i++ {
		c.eps[i] = c.steps[i].ep
		c.eps[i].Sink = sink
	}
}

// way is what a lane's rows of a port go through before the cut.
type way struct {
	*chain
	keys *rowenc.Exprs
	// stretch is the part of a batch that is on its way.
	stretch batch.Batch
}

// newWay makes a lane's way of a port.
func (l *lane) newWay(port int, p *path, env *kernel.Env) (*way, error) {
	keys, err := rowenc.Compile(p.keys, p.in)
	if err != nil {
		return nil, err
	}
	w := &way{keys: keys}
	w.chain, err = newChain(p.steps[:p.cut], func(b *batch.Batch) error { return l.cutUp(port, w, b, env) })
	return w, err
}

// addChains makes a slot's instances of the steps behind the cuts, and of those above the operator.
func (s *slot) addChains(paths []*path, above []*Step) error {
	for port, p := range paths {
		c, err := newChain(p.steps[p.cut:], func(b *batch.Batch) error { return s.op.Push(&s.ep, port, b, s.emit) })
		if err != nil {
			return err
		}
		s.behind = append(s.behind, c)
	}
	var err error
	s.above, err = newChain(above, func(b *batch.Batch) error { return s.to(b) })
	return err
}

// unsigned gives words as what they were before they were a column.
func unsigned(x []int64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// take gives the slot's operator a piece, by way of the steps behind the cut that it has not gone through.
func (s *slot) take(p *path, x *piece) error {
	s.ep.Port = x.port
	b := x.b
	if n := len(b.Cols) - 1; x.hashed {
		s.rows = batch.Batch{N: b.N, Weights: b.Weights, Cols: b.Cols[:n:n], Hashes: unsigned(b.Cols[n].I64)}
		b = &s.rows
	}
	c, at := s.behind[x.port], x.level-p.cut
	c.begin(at, s.ep.Sink)
	return c.emits[at](b)
}
