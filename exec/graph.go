// Package exec turns plans into running operators. Build is the one switch from plan node to operator;
// NewGraph wires the operators of a whole plan.
package exec

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/partition"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// NewGraph builds the operators of the plan under root, with their state in sp. A node that the plan shares becomes one
// operator. Stateful operators are numbered from the root down, as Spark does (reference 1.6). A plan.Sort at the root is not built:
// it is the caller's, who has all the rows. env is shared by all kernels of the graph. slots says how operators are cut into instances.
func NewGraph(root plan.Node, policy dataflow.Policy, sp *table.Space, env *kernel.Env, slots Slots) (*dataflow.Graph, error) {
	if s, ok := root.(*plan.Sort); ok {
		root = s.Input
	}
	b := &graphBuilder{g: dataflow.NewGraph(policy), sp: sp, env: env, ids: map[plan.Node]int{}, built: map[plan.Node]dataflow.Handle{}, slots: slots,
		ordered: map[plan.Node]bool{}, below: map[plan.Node]bool{}, above: map[plan.Node][]plan.Node{}, made: map[plan.Node]*partition.Step{},
		sources: map[*plan.Scan]*dataflow.Source{}}
	b.number(root)
	b.markOrdered(root, false)
	if slots.N > 1 {
		b.markSteps(root)
	}
	h, err := b.build(root)
	if err != nil {
		return nil, err
	}
	b.g.SetRoot(h)
	return b.g, nil
}

type graphBuilder struct {
	g     *dataflow.Graph
	sp    *table.Space
	env   *kernel.Env
	ids   map[plan.Node]int
	next  int
	built map[plan.Node]dataflow.Handle
	slots Slots
	// ordered has the nodes beneath one that goes by the order in which rows come.
	ordered map[plan.Node]bool
	// below has the nodes that a partitioned operator above them evaluates, above, by partitioned node, those over it that it evaluates, the lowest first. made
	// has the operators that stand for them.
	below map[plan.Node]bool
	above map[plan.Node][]plan.Node
	made  map[plan.Node]*partition.Step

	sources map[*plan.Scan]*dataflow.Source
}

// Stateful says whether the operator of a plan node keeps state between epochs.
func Stateful(n plan.Node) bool {
	switch n.(type) {
	case *plan.Aggregate, *plan.Join, *plan.AsofJoin, *plan.Lookup, *plan.Custom, *plan.SetOp, *plan.TopN, *plan.Dedup, *plan.OverWindow, *plan.TemporalFilter, *plan.AppendFinal:
		return true
	}
	return false
}

// Reusable says whether the graph of a SELECT can be run again and again: nothing in it keeps anything from one run to the next.
func Reusable(root plan.Node) bool {
	switch root.(type) {
	case *plan.Scan, *plan.Filter, *plan.Project, *plan.Union:
	default:
		return false
	}
	for _, in := range root.Inputs() {
		if !Reusable(in) {
			return false
		}
	}
	return true
}

// number gives stateful nodes their ids, parents first.
func (b *graphBuilder) number(n plan.Node) {
	if _, seen := b.ids[n]; seen {
		return
	}
	b.ids[n] = -1
	if Stateful(n) {
		b.ids[n] = b.next
		b.next++
	}
	for _, in := range n.Inputs() {
		b.number(in)
	}
}

func (b *graphBuilder) build(n plan.Node) (dataflow.Handle, error) {
	if h, ok := b.built[n]; ok {
		return h, nil
	}
	h, err := b.make(n)
	if err == nil {
		b.built[n] = h
	}
	return h, err
}

func (b *graphBuilder) make(n plan.Node) (dataflow.Handle, error) {
	if s, ok := n.(*plan.Scan); ok {
		src := &dataflow.Source{Rel: s.Rel, Cols: s.Cols, Position: s.Position >= 0, Tag: s}
		b.sources[s] = src
		return b.g.AddSource(src, s.P.HasWatermark), nil
	}
	if w, ok := n.(*plan.WorkTable); ok {
		return b.g.AddSource(&dataflow.Source{Tag: w}, false), nil
	}
	var ins []dataflow.Handle
	var in [][]types.Type
	var ports []dataflow.PortInfo
	for _, c := range n.Inputs() {
		h, err := b.build(c)
		if err != nil {
			return h, err
		}
		ins, in, ports = append(ins, h), append(in, plan.Types(c)), append(ports, portInfo(c))
	}
	if pair := n.Props().PairLabels; pair != nil {
		l := len(in[0])
		ports[0].Pair, ports[1].Pair = pair[:l], pair[l:]
	}
	op, err := b.buildSlots(n, in)
	if err != nil {
		return dataflow.Handle{}, err
	}
	b.stopEarly(n, op)
	h := b.g.Add(op, b.ids[n], n.Props().HasWatermark, ports, ins...)
	b.g.SetTag(h, n)
	b.g.SetLag(h, n.Props().Lag)
	return h, nil
}

// stopEarly has the source of a TopN that has its rows in order give no more than it keeps.
func (b *graphBuilder) stopEarly(n plan.Node, op dataflow.Operator) {
	t, ok := n.(*plan.TopN)
	if !ok || !t.Presorted {
		return
	}
	x, ok := op.(interface{ Enough() bool })
	for in := t.Input; ok; in = in.Inputs()[0] {
		if s, isScan := in.(*plan.Scan); isScan {
			b.sources[s].Enough = x.Enough
			return
		}
	}
}

// portInfo describes the rows of a node to a person.
func portInfo(n plan.Node) dataflow.PortInfo {
	p := dataflow.PortInfo{Changes: !n.Props().AppendOnly, Columns: n.Props().Labels}
	if p.Columns == nil {
		for _, c := range n.Props().Columns {
			p.Columns = append(p.Columns, c.Name)
		}
	}
	p.Pair = p.Columns
	var streams []string
	var walk func(plan.Node)
	walk = func(n plan.Node) {
		if s, ok := n.(*plan.Scan); ok && !slices.Contains(streams, s.Rel.Name) {
			streams = append(streams, s.Rel.Name)
		}
		for _, c := range n.Inputs() {
			walk(c)
		}
	}
	walk(n)
	p.Streams = strings.Join(streams, ", ")
	return p
}
