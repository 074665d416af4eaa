package dataflow

import (
	"fmt"

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
	emit     Emit
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
	// Tag is the plan node it stands for; it is the builder's, for finding the source again.
	Tag  any
	node *node
}

// EpochInfo is what the runner knows of an epoch before it runs.
type EpochInfo struct {
	N         uint64
	Timestamp int64
	Final     bool
	Sink      Sink
	// Watermarks gives a source's watermark before and after the epoch, and whether it has a declared one.
	Watermarks func(s *Source) (before, after Watermark)
}

// NewGraph starts an empty graph.
func NewGraph(policy Policy) *Graph { return &Graph{policy: policy} }

// Handle names a node while the graph is built.
type Handle struct{ n *node }

// AddSource adds a source; declared says that its relation has a declared watermark.
func (g *Graph) AddSource(s *Source, declared bool) Handle {
	n := &node{src: s, declared: declared}
	s.node = n
	g.add(n)
	g.sources = append(g.sources, s)
	return Handle{n}
}

// Add adds an operator over inputs that are in the graph already; opID is its stateful operator id, -1 for none.
// Declared says that a declared watermark reaches its output; ports describes its inputs.
func (g *Graph) Add(op Operator, opID int, declared bool, ports []PortInfo, inputs ...Handle) Handle {
	n := &node{op: op, declared: declared}
	n.ep.Operator, n.ep.Inputs = opID, ports
	for port, in := range inputs {
		n.inputs = append(n.inputs, in.n)
		in.n.outs = append(in.n.outs, edge{n, port})
	}
	g.add(n)
	return Handle{n}
}

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

// Operators calls f for each operator in topological order.
func (g *Graph) Operators(f func(Operator)) {
	for _, n := range g.nodes {
		if n.op != nil {
			f(n.op)
		}
	}
}

// Begin starts an epoch: it fixes every operator's watermarks. out takes the root's output.
func (g *Graph) Begin(info *EpochInfo, out Emit) {
	g.info, g.out = info, out
	for _, n := range g.nodes {
		var inB, inA Watermark
		if n.src != nil {
			inB, inA = info.Watermarks(n.src)
			if !n.declared {
				inB, inA = NoWatermark, NoWatermark
			}
			n.outB, n.outA = inB, inA
			continue
		}
		inB, inA = g.combine(n.inputs)
		n.ep = Epoch{N: info.N, Timestamp: info.Timestamp, Before: inB, After: inA, Final: info.Final, Sink: info.Sink,
			Operator: n.ep.Operator, Inputs: n.ep.Inputs}
		n.outB, n.outA = inB, inA
		if m, ok := n.op.(WatermarkMapper); ok {
			n.outB, n.outA = mapped(m, inB), mapped(m, inA)
		}
	}
}

func mapped(m WatermarkMapper, w Watermark) Watermark {
	if w == NoWatermark {
		return w
	}
	return m.OutputWatermark(w)
}

// combine applies the policy to the outputs of inputs that carry a declared watermark. None holds back under min and is
// ignored under max; an input without a declared watermark is always ignored.
func (g *Graph) combine(ins []*node) (before, after Watermark) {
	before, after = NoWatermark, NoWatermark
	first := true
	for _, in := range ins {
		if !in.declared {
			continue
		}
		if first {
			before, after, first = in.outB, in.outA, false
			continue
		}
		if g.policy == PolicyMax {
			before, after = max(before, in.outB), max(after, in.outA)
		} else {
			before, after = min(before, in.outB), min(after, in.outA)
		}
	}
	return before, after
}

// Push gives rows to a source during an epoch: columns as the source declares them.
func (g *Graph) Push(s *Source, b *batch.Batch) error {
	if b.N == 0 {
		return nil
	}
	return g.deliver(s.node, b)
}

func (g *Graph) deliver(n *node, b *batch.Batch) error {
	if b.N == 0 {
		return nil
	}
	for _, e := range n.outs {
		e.to.ep.Port = e.port
		if err := e.to.op.Push(&e.to.ep, e.port, b, e.to.emit); err != nil {
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
		if err := n.op.EndEpoch(&n.ep, n.emit); err != nil {
			return err
		}
	}
	return nil
}

// OutputWatermark gives the root's watermark before and after the current epoch.
func (g *Graph) OutputWatermark() (before, after Watermark) { return g.root.outB, g.root.outA }

// InputWatermark gives the watermarks by which the stateful operator id judged in the current epoch.
func (g *Graph) InputWatermark(id int) (before, after Watermark) {
	for _, n := range g.nodes {
		if n.op != nil && n.ep.Operator == id {
			return n.ep.Before, n.ep.After
		}
	}
	return NoWatermark, NoWatermark
}

// String lists the nodes, for debugging.
func (g *Graph) String() string {
	s := ""
	for i, n := range g.nodes {
		s += fmt.Sprintf("%d %T in=%d out=%d\n", i, n.op, len(n.inputs), len(n.outs))
	}
	return s
}
