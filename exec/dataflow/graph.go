package dataflow

import (
	"fmt"
	"time"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// Graph is the running form of one plan: operators and sources in topological order, inputs before their consumers.
// It is used from one goroutine.
type Graph struct {
	nodes   []*node
	sources []*Source
	policy  Policy
	root    *node
	out     Emit
	info    *EpochInfo
	all     node // over all sources: what the graph as a whole goes by
	watch   stopwatch
}

// Policy says which of several input watermarks an operator goes by (Spark's multipleWatermarkPolicy).
type Policy uint8

// The policies.
const (
	PolicyMin Policy = iota
	PolicyMax
)

// node is one operator (or source) with its consumers and this epoch's watermarks.
type node struct {
	op       Operator // nil for a source
	src      *Source
	inputs   []*node
	outs     []edge
	declared bool // a declared watermark reaches its output
	ep       Epoch
	outB     Watermark // output watermark before and after the epoch
	outA     Watermark
	idleB    bool // nothing has come for its idle timeout, before and after the epoch
	idleA    bool
	lag      Watermark // how far behind its input watermark the operator goes
	before   Watermark // the input watermark before and after the epoch
	after    Watermark
	in       Watermark // the input watermark so far, which never goes back
	fed      bool      // a source beneath got rows in the epoch
	emit     Emit
	spent    opTime
	tag      any
}

type edge struct {
	to   *node
	port int
}

// Source is a place where a relation's rows enter a graph.
type Source struct {
	Rel *catalog.Relation
	// Cols are the relation's columns that it gives, in order. Position says that a bigint column of arrival order follows.
	Cols     []int
	Position bool
	// Enough, if it is there, says that rows which come behind those that were given, in the order of the relation's key or of arrival, change nothing.
	Enough func() bool
	// Tag is the plan node it stands for; it is the builder's, for finding the source again.
	Tag  any
	node *node
}

// EpochInfo is what the runner knows of an epoch before it runs.
type EpochInfo struct {
	N         uint64
	Timestamp int64
	Again     bool // see Epoch
	Final     bool
	Sink      Sink
	// Interrupt is asked before a batch goes from one operator to the next: its error ends the epoch. It may be nil.
	Interrupt func() error
	// Watermarks gives a source's watermark before and after the epoch, and whether it has a declared one.
	Watermarks func(s *Source) (before, after Watermark)
	// Idle says whether a source was idle before and is after the epoch: one that is does not hold others back. nil: none is.
	Idle func(s *Source) (before, after bool)
	// Delay gives the delay of a stream's watermark in the epoch, microseconds. It may be asked by several goroutines. nil: there are no streams.
	Delay func(stream catalog.OID) int64
	// Timed says that the time that operators take is to be measured (Times).
	Timed bool
}

// NewGraph starts an empty graph.
func NewGraph(policy Policy) *Graph { return &Graph{policy: policy, all: node{in: NoWatermark}} }

// Handle names a node while the graph is built.
type Handle struct{ n *node }

// AddSource adds a source; declared says that its relation has a declared watermark.
func (g *Graph) AddSource(s *Source, declared bool) Handle {
	n := &node{src: s, declared: declared, in: NoWatermark}
	s.node = n
	g.add(n)
	g.sources = append(g.sources, s)
	return Handle{n}
}

// Add adds an operator over inputs that are in the graph already; opID is its stateful operator id, -1 for none.
// Declared says that a declared watermark reaches its output; ports describes its inputs.
func (g *Graph) Add(op Operator, opID int, declared bool, ports []PortInfo, inputs ...Handle) Handle {
	n := &node{op: op, declared: declared, in: NoWatermark}
	n.ep.Operator, n.ep.Inputs = opID, ports
	for port, in := range inputs {
		n.inputs = append(n.inputs, in.n)
		in.n.outs = append(in.n.outs, edge{n, port})
	}
	g.add(n)
	return Handle{n}
}

// SetLag says that an operator goes by a watermark that is us microseconds behind that of its inputs (Epoch.Lag). Its output's is not.
func (g *Graph) SetLag(h Handle, us int64) { h.n.lag = Watermark(us) }

func (g *Graph) add(n *node) {
	n.emit = func(b *batch.Batch) error { return g.deliver(n, b) }
	g.nodes = append(g.nodes, n)
}

// SetRoot names the node whose output is the graph's.
func (g *Graph) SetRoot(h Handle) { g.root = h.n }

// Sources lists the graph's sources.
func (g *Graph) Sources() []*Source { return g.sources }

// Stateful lists the operators with state by operator id, ascending.
func (g *Graph) Stateful() (ids []int, ops []Stateful) {
	byID := map[int]Stateful{}
	top := -1
	for _, n := range g.nodes {
		if s, ok := n.op.(Stateful); ok && n.ep.Operator >= 0 {
			byID[n.ep.Operator] = s
			top = max(top, n.ep.Operator)
		}
	}
	for id := 0; id <= top; id++ {
		if s, ok := byID[id]; ok {
			ids, ops = append(ids, id), append(ops, s)
		}
	}
	return ids, ops
}

// Operators calls f for each operator in topological order, and for each instance of one that has several.
func (g *Graph) Operators(f func(Operator)) {
	for _, n := range g.nodes {
		if n.op == nil {
			continue
		}
		for _, op := range Instances(n.op) {
			f(op)
		}
	}
}

// Push gives rows to a source during an epoch: columns as the source declares them.
func (g *Graph) Push(s *Source, b *batch.Batch) error {
	if b.N == 0 {
		return nil
	}
	s.node.fed = true
	return g.deliver(s.node, b)
}

func (g *Graph) deliver(n *node, b *batch.Batch) error {
	if b.N == 0 {
		return nil
	}
	if g.info.Interrupt != nil {
		if err := g.info.Interrupt(); err != nil {
			return err
		}
	}
	for _, e := range n.outs {
		e.to.ep.Port = e.port
		was := g.watch.enter(&e.to.spent.push)
		err := e.to.op.Push(&e.to.ep, e.port, b, e.to.emit)
		g.watch.leave(was)
		if err != nil {
			return err
		}
	}
	if n == g.root {
		return g.out(b)
	}
	return nil
}

// End ends the epoch in every operator, inputs first.
func (g *Graph) End() error {
	for _, n := range g.nodes {
		if n.op == nil {
			continue
		}
		for _, in := range n.inputs {
			n.fed = n.fed || in.fed
		}
		n.ep.Fed = n.fed
		before := n.spent.end
		was := g.watch.enter(&n.spent.end)
		err := n.op.EndEpoch(&n.ep, n.emit)
		g.watch.leave(was)
		if err != nil {
			return err
		}
		if d, ok := n.op.(Deferrer); ok && g.watch.on {
			input := time.Duration(d.Deferred() * float64(n.spent.end-before))
			n.spent.push, n.spent.end = n.spent.push+input, n.spent.end-input
		}
		if h, ok := n.op.(WatermarkHolder); ok {
			g.hold(n, h)
		}
	}
	return nil
}

// String lists the nodes, for debugging.
func (g *Graph) String() string {
	s := ""
	for i, n := range g.nodes {
		s += fmt.Sprintf("%d %T in=%d out=%d\n", i, n.op, len(n.inputs), len(n.outs))
	}
	return s
}
