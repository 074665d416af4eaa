package exec

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/partition"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/workers"
)

// Slots says how the operators of a graph are cut into instances (package partition). The zero value is one of each.
type Slots struct {
	// N is the number of slots of an operator that can be partitioned. The view's state depends on it.
	N int
	// Team has as many workers as there are state partitions, which may change between epochs.
	Team workers.Team
}

// buildSlots makes the operator of a plan node: in slots where its keys allow it, a step of such a one where it has no state and feeds only that.
func (b *graphBuilder) buildSlots(n plan.Node, in dataflow.InputTypes) (dataflow.Operator, error) {
	if b.steps[n] {
		s := partition.NewStep(func() (dataflow.Operator, error) { return Build(n, in, nil, -1, b.env) })
		b.made[n] = s
		return s, nil
	}
	if !b.cut(n) {
		return Build(n, in, b.sp, b.ids[n], b.env)
	}
	ops := make([]dataflow.Operator, b.slots.N)
	for i := range ops {
		var err error
		if ops[i], err = Build(n, in, b.sp.Slot(i), b.ids[n], b.env); err != nil {
			return nil, err
		}
	}
	ports := make([]partition.Port, len(in))
	for i, keys := range partitionKeys(n) {
		ports[i].Keys = keys
		top := n.Inputs()[i]
		for x := top; b.made[x] != nil; x = x.Inputs()[0] {
			ports[i].Steps = append(ports[i].Steps, b.made[x])
		}
		slices.Reverse(ports[i].Steps)
		if w, ok := top.(*plan.Window); ok && b.made[w] != nil && !refersTo(keys, len(w.P.Columns)-1) {
			ports[i].Behind = 1 // what a row is expanded to need not be copied
		}
	}
	return partition.New(ops, ports, in, b.env, b.slots.Team)
}

// cut says whether the operator of a node is cut into slots.
func (b *graphBuilder) cut(n plan.Node) bool {
	return b.slots.N > 1 && !b.ordered[n] && partitionKeys(n) != nil
}

// markSteps notes the nodes without state that lead to one that is cut and to nothing else: its lanes and slots evaluate them side by side.
func (b *graphBuilder) markSteps(root plan.Node) {
	readers := map[plan.Node]int{}
	var nodes []plan.Node
	var walk func(n plan.Node)
	walk = func(n plan.Node) {
		if readers[n]++; readers[n] > 1 {
			return
		}
		nodes = append(nodes, n)
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	walk(root)
	if !sharable(b.env) {
		return
	}
	for _, n := range nodes {
		if !b.cut(n) {
			continue
		}
		for _, in := range n.Inputs() {
			for readers[in] == 1 && appendStep(&strings.Builder{}, in) {
				b.steps[in] = true
				in = in.Inputs()[0]
			}
		}
	}
}

// refersTo says whether one of the expressions refers to a column.
func refersTo(xs []plan.Expr, col int) bool {
	found := false
	for _, x := range xs {
		plan.Walk(x, func(e plan.Expr) {
			c, ok := e.(*plan.Col)
			found = found || ok && c.Index == col
		})
	}
	return found
}

// markOrdered notes the operators beneath one that goes by the order in which rows come: slots would give them in another.
func (b *graphBuilder) markOrdered(n plan.Node, ordered bool) {
	if ordered {
		if b.ordered[n] {
			return
		}
		b.ordered[n] = true
	}
	switch n.(type) {
	case *plan.Dedup, *plan.Custom:
		ordered = true
	}
	for _, in := range n.Inputs() {
		b.markOrdered(in, ordered)
	}
}

// partitionKeys gives for each port of a node the expressions by whose values its rows can be divided, so that rows of different slots
// have nothing to do with each other; nil where there are none.
func partitionKeys(n plan.Node) [][]plan.Expr {
	switch n := n.(type) {
	case *plan.Aggregate:
		keys := n.Keys
		if n.EventKey >= 0 {
			keys = slices.Delete(slices.Clone(keys), n.EventKey, n.EventKey+1)
		}
		return nonEmpty(keys)
	case *plan.Join:
		if n.Single || n.NullAware {
			return nil // these look at a whole side
		}
		return sameTypes(n.LeftKeys, n.RightKeys)
	case *plan.AsofJoin:
		return sameTypes(n.LeftKeys, n.RightKeys)
	case *plan.SetOp:
		return sameTypes(columns(n.Left), columns(n.Right))
	case *plan.Dedup:
		return nonEmpty(n.Keys)
	case *plan.TopN:
		return nonEmpty(n.PartitionBy)
	case *plan.OverWindow:
		return nonEmpty(n.PartitionBy)
	case *plan.Custom:
		if n.Initial != nil {
			return sameTypes(n.Keys, n.InitialKeys)
		}
		return nonEmpty(n.Keys)
	}
	return nil
}

func nonEmpty(keys []plan.Expr) [][]plan.Expr {
	if len(keys) == 0 {
		return nil
	}
	return [][]plan.Expr{keys}
}

// sameTypes gives the keys of two ports if equal values of both have one form.
func sameTypes(left, right []plan.Expr) [][]plan.Expr {
	if len(left) == 0 || len(left) != len(right) {
		return nil
	}
	for i := range left {
		if !plan.SameKeys(left[i].Type(), right[i].Type()) {
			return nil
		}
	}
	return [][]plan.Expr{left, right}
}

func columns(n plan.Node) []plan.Expr {
	var out []plan.Expr
	for i, c := range n.Props().Columns {
		out = append(out, &plan.Col{Index: i, Typ: c.Type})
	}
	return out
}
