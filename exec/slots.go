package exec

import (
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/partition"
	"github.com/tidemarkdb/tidemark/planner/plan"
)

// Slots says how the operators of a graph are cut into instances (package partition). The zero value is one of each.
type Slots struct {
	// N is the number of slots of an operator that can be partitioned. The view's state depends on it.
	N int
	// Workers gives the number of state partitions, which may change between epochs; it may be nil for one.
	Workers func() int
	// SideBySide, if set, is called with each stretch of work that several workers do, and must run it.
	SideBySide func(run func())
}

// buildSlots makes the operator of a plan node: in slots where its keys allow it.
func (b *graphBuilder) buildSlots(n plan.Node, in dataflow.InputTypes) (dataflow.Operator, error) {
	keys := partitionKeys(n)
	if b.slots.N <= 1 || keys == nil || b.ordered[n] {
		return Build(n, in, b.sp, b.ids[n], b.env)
	}
	ops := make([]dataflow.Operator, b.slots.N)
	for i := range ops {
		var err error
		if ops[i], err = Build(n, in, b.sp.Slot(i), b.ids[n], b.env); err != nil {
			return nil, err
		}
	}
	return partition.New(ops, keys, in, b.env, partition.Workers{Number: b.slots.Workers, Around: b.slots.SideBySide})
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
