package dataflow

import "time"

// opTime is the time that an operator took in an epoch, less that of the operators it fed.
type opTime struct{ push, end time.Duration }

// stopwatch charges time to one account at a time: entering an operator stops the clock of the one that feeds it.
type stopwatch struct {
	on   bool
	cur  *time.Duration
	last time.Time
}

func (w *stopwatch) begin(on bool) { w.on, w.cur = on, nil }

// enter charges from now on to, and gives the account that leave must go back to.
func (w *stopwatch) enter(to *time.Duration) (was *time.Duration) {
	if !w.on {
		return nil
	}
	was = w.cur
	w.charge()
	w.cur = to
	return was
}

func (w *stopwatch) leave(was *time.Duration) {
	if w.on {
		w.charge()
		w.cur = was
	}
}

func (w *stopwatch) charge() {
	now := time.Now()
	if w.cur != nil {
		*w.cur += now.Sub(w.last)
	}
	w.last = now
}

// Times gives the time that the stateful operator id took in the current epoch: to take its input in, and to end the epoch. It is
// zero unless the epoch's info asked for it.
func (g *Graph) Times(id int) (push, end time.Duration) {
	for _, n := range g.nodes {
		if n.op != nil && n.ep.Operator == id {
			return n.spent.push, n.spent.end
		}
	}
	return 0, 0
}

// Feeders lists the operators without state whose counters belong to the stateful operator id, because nothing with state lies
// between: window operators, which drop rows without a time.
func (g *Graph) Feeders(id int) []Stateful {
	var out []Stateful
	seen := map[*node]bool{}
	var walk func(n *node)
	walk = func(n *node) {
		for _, in := range n.inputs {
			if in.op == nil || in.ep.Operator >= 0 || seen[in] {
				continue
			}
			seen[in] = true
			if s, ok := in.op.(Stateful); ok {
				out = append(out, s)
			}
			walk(in)
		}
	}
	for _, n := range g.nodes {
		if n.op != nil && n.ep.Operator == id && id >= 0 {
			walk(n)
		}
	}
	return out
}
