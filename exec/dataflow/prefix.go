package dataflow

import "github.com/tidemarkdb/tidemark/sql/batch"

// Several graphs over one relation may begin with the same operators without state. Whoever runs them can evaluate those once, and give
// each graph what comes out of them: PushFrom in place of Push.

// SetTag notes what a node stands for; it is the builder's, as Source.Tag.
func (g *Graph) SetTag(h Handle, tag any) { h.n.tag = tag }

// Tag gives what SetTag noted, nil for nothing or no node.
func (g *Graph) Tag(h Handle) any {
	if h.n == nil {
		return nil
	}
	return h.n.tag
}

// Handle names the source's node.
func (s *Source) Handle() Handle { return Handle{s.node} }

// Consumer gives the node that alone reads h and reads nothing else; none if there is no such node, if it has state, or if h is the root.
func (g *Graph) Consumer(h Handle) Handle {
	if h.n == nil || h.n == g.root || len(h.n.outs) != 1 {
		return Handle{}
	}
	if to := h.n.outs[0].to; len(to.inputs) == 1 && to.ep.Operator < 0 {
		return Handle{to}
	}
	return Handle{}
}

// Fed says that a source got rows in the epoch, whatever becomes of them.
func (g *Graph) Fed(s *Source) { s.node.fed = true }

// PushFrom passes on a batch as if node h had emitted it.
func (g *Graph) PushFrom(h Handle, b *batch.Batch) error { return g.deliver(h.n, b) }

// NullTimes adds to what the operator of node h counted: rows without a time, that were dropped on its behalf.
func (g *Graph) NullTimes(h Handle, n int64) {
	if c, ok := h.n.op.(interface{ AddNullTimes(n int64) }); ok && n != 0 {
		c.AddNullTimes(n)
	}
}
