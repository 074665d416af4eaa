package dataflow

// Begin starts an epoch: it fixes every operator's watermarks. out takes the root's output.
func (g *Graph) Begin(info *EpochInfo, out Emit) {
	g.info, g.out = info, out
	g.watch.begin(info.Timed)
	for _, n := range g.nodes {
		n.spent, n.fed = opTime{}, false
		if n.src != nil {
			g.beginSource(n)
			continue
		}
		inB, inA := g.combine(n, n.timed())
		n.before, n.after = inB, inA
		n.ep = Epoch{N: info.N, Again: info.Again, Timestamp: info.Timestamp, Before: n.behind(inB), After: n.behind(inA), Lag: n.lag,
			Final: info.Final, Sink: info.Sink, Interrupt: info.Interrupt, Delay: info.Delay, Operator: n.ep.Operator, Inputs: n.ep.Inputs}
		n.outB, n.outA = inB, inA
		if m, ok := n.op.(WatermarkMapper); ok {
			n.outB, n.outA = mapped(m, inB), mapped(m, inA)
		}
		if h, ok := n.op.(WatermarkHolder); ok {
			n.outB = h.HeldWatermark(inB)
			n.outA = n.outB // until EndEpoch has shown how far it came
		}
		if x, ok := n.op.(Beginner); ok {
			x.BeginEpoch(&n.ep)
		}
	}
	g.all.outB, g.all.outA = g.combine(&g.all, g.sourceNodes())
}

// behind gives what the operator goes by at an input watermark.
func (n *node) behind(w Watermark) Watermark {
	if w == NoWatermark {
		return w
	}
	return w - n.lag
}

func (g *Graph) beginSource(n *node) {
	n.outB, n.outA = NoWatermark, NoWatermark
	if n.declared {
		n.outB, n.outA = g.info.Watermarks(n.src)
	}
	n.idleB, n.idleA = false, false
	if g.info.Idle != nil {
		n.idleB, n.idleA = g.info.Idle(n.src)
	}
}

func (g *Graph) sourceNodes() []*node {
	out := make([]*node, len(g.sources))
	for i, s := range g.sources {
		out[i] = s.node
	}
	return out
}

func mapped(m WatermarkMapper, w Watermark) Watermark {
	if w == NoWatermark {
		return w
	}
	return m.OutputWatermark(w)
}

// combine gives n's input watermark before and after the epoch, and notes whether n is idle. The policy is applied to the outputs of
// inputs that carry a declared watermark; an input without one is always ignored. None holds back under min and is ignored under max.
// Under min an idle input is passed over; when all are idle none of them can hold another back, so the greatest counts. The result
// never goes back, not when an input that lags behind is idle no more either: its rows are then judged by what was reached without it.
func (g *Graph) combine(n *node, ins []*node) (before, after Watermark) {
	before, n.idleB = g.least(ins, func(in *node) (Watermark, bool) { return in.outB, in.idleB })
	after, n.idleA = g.least(ins, func(in *node) (Watermark, bool) { return in.outA, in.idleA })
	before = max(before, n.in)
	n.in = max(before, after)
	return before, n.in
}

// least applies the policy to one side of the epoch; idle says that every declared input is.
func (g *Graph) least(ins []*node, of func(*node) (Watermark, bool)) (w Watermark, idle bool) {
	low, high := NoWatermark, NoWatermark
	live, any := false, false
	for _, in := range ins {
		if !in.declared {
			continue
		}
		x, silent := of(in)
		any, high = true, max(high, x)
		if silent {
			continue
		}
		if !live || x < low {
			low = x
		}
		live = true
	}
	if g.policy == PolicyMax || !live {
		return high, any && !live
	}
	return low, false
}

// hold takes the watermark that an operator's epoch ended with on to the operators above it, whose own end is still to come.
func (g *Graph) hold(n *node, h WatermarkHolder) {
	n.outA = h.HeldWatermark(n.after)
	moved := map[*node]bool{n: true}
	for _, m := range g.nodes {
		if m.op == nil || m == n {
			continue
		}
		follows := false
		for _, in := range m.inputs {
			follows = follows || moved[in]
		}
		if !follows {
			continue
		}
		moved[m] = true
		m.in = m.before
		_, m.after = g.combine(m, m.timed())
		m.ep.After, m.outA = m.behind(m.after), m.after
		if p, ok := m.op.(WatermarkMapper); ok {
			m.outA = mapped(p, m.after)
		}
		if p, ok := m.op.(WatermarkHolder); ok {
			m.outA = p.HeldWatermark(m.before)
		}
	}
}

// OutputWatermark gives the root's watermark before and after the current epoch, and SourceWatermark that of all sources together,
// by the graph's policy.
func (g *Graph) OutputWatermark() (before, after Watermark) { return g.root.outB, g.root.outA }

// SourceWatermark gives what the policy makes of the sources' watermarks, before and after the current epoch.
func (g *Graph) SourceWatermark() (before, after Watermark) { return g.all.outB, g.all.outA }

// Idle says whether everything that gives the root a watermark is idle after the current epoch.
func (g *Graph) Idle() bool { return g.root.idleA }

// InputWatermark gives the input watermarks of the stateful operator id in the current epoch.
func (g *Graph) InputWatermark(id int) (before, after Watermark) {
	for _, n := range g.nodes {
		if n.op != nil && n.ep.Operator == id {
			return n.before, n.after
		}
	}
	return NoWatermark, NoWatermark
}

// Reached lists the input watermarks that the nodes have reached, in the order in which they were added, and at the end that of the
// graph. It is what a graph that goes on after a restart must be given (SetReached): idleness makes it more than a function of the sources' watermarks.
func (g *Graph) Reached() []Watermark {
	out := make([]Watermark, 0, len(g.nodes)+1)
	for _, n := range g.nodes {
		out = append(out, n.in)
	}
	return append(out, g.all.in)
}

// SetReached gives a graph of the same plan back what Reached listed. A list of another length is ignored.
func (g *Graph) SetReached(ws []Watermark) {
	if len(ws) != len(g.nodes)+1 {
		return
	}
	for i, n := range g.nodes {
		n.in = ws[i]
	}
	g.all.in = ws[len(g.nodes)]
}
