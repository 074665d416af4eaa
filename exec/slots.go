package exec

import (
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/partition"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/workers"
)

// Slots says how the operators of a graph are cut into instances (package partition). The zero value is one of each.
type Slots struct {
	// N is the number of slots of an operator that can be partitioned. The view's state depends on it.
	N int
	// Team has as many workers as there are state partitions, which may change between epochs.
	Team workers.Team
}

// buildSlots makes the operator of a plan node: in slots where its keys allow it, a step of such a one where it has no state and feeds only that, or is
// fed by that alone.
func (b *graphBuilder) buildSlots(n plan.Node, in dataflow.InputTypes) (dataflow.Operator, error) {
	if s := b.made[n]; s != nil {
		return s, nil
	}
	if b.below[n] {
		return b.newStep(n), nil
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
		for x := top; b.below[x]; x = x.Inputs()[0] {
			ports[i].Steps = append(ports[i].Steps, b.made[x])
		}
		slices.Reverse(ports[i].Steps)
		if w, ok := top.(*plan.Window); ok && b.below[w] && !refersTo(keys, len(w.P.Columns)-1) {
			ports[i].Behind = 1 // what a row is expanded to need not be copied
		}
	}
	var above []*partition.Step
	for _, x := range b.above[n] {
		above = append(above, b.newStep(x))
	}
	return partition.New(ops, ports, above, in, b.env, b.slots.Team)
}

// newStep makes the step of a node with one input.
func (b *graphBuilder) newStep(n plan.Node) *partition.Step {
	in := dataflow.InputTypes{plan.Types(n.Inputs()[0])}
	s := partition.NewStep(func() (dataflow.Operator, error) { return Build(n, in, nil, -1, b.env) })
	b.made[n] = s
	return s
}

// cut says whether the operator of a node is cut into slots.
func (b *graphBuilder) cut(n plan.Node) bool {
	return b.slots.N > 1 && !b.ordered[n] && partitionKeys(n) != nil
}

// markSteps notes the nodes without state that one that is cut evaluates side by side: filters and projections that read it alone, in its slots, and what leads to
// it and to nothing else, in its lanes and slots. Between two that are cut the lower one has its share first: its slots have the rows already.
func (b *graphBuilder) markSteps(root plan.Node) {
	readers, reader := map[plan.Node]int{}, map[plan.Node]plan.Node{}
	var nodes []plan.Node
	var walk func(n plan.Node)
	walk = func(n plan.Node) {
		if readers[n]++; readers[n] > 1 {
			return
		}
		nodes = append(nodes, n)
		for _, in := range n.Inputs() {
			reader[in] = n
			walk(in)
		}
	}
	walk(root)
	if !sharable(b.env) {
		return
	}
	isAbove := map[plan.Node]bool{}
	for _, n := range nodes {
		if !b.cut(n) {
			continue
		}
		for x := n; readers[x] == 1; {
			x = reader[x]
			if _, widens := x.(*plan.Window); widens || !rowwise(x) { // windows are for who takes them in
				break
			}
			b.above[n], isAbove[x] = append(b.above[n], x), true
		}
	}
	for _, n := range nodes {
		if !b.cut(n) {
			continue
		}
		for _, in := range n.Inputs() {
			for readers[in] == 1 && !isAbove[in] && rowwise(in) {
				b.below[in] = true
				in = in.Inputs()[0]
			}
		}
	}
}

// rowwise says of a node that its operator makes what comes out of each row by itself, so that several can share the rows.
func rowwise(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Filter:
		return ofRow(n.Pred)
	case *plan.Project:
		return !slices.ContainsFunc(n.Exprs, func(e plan.Expr) bool { return !ofRow(e) })
	case *plan.Window:
		return ofRow(n.Time)
	}
	return false
}

// ofRow says that an expression's value depends on nothing but its row and the epoch, and that it may be worked out on several goroutines at once, by a kernel
// on each: what kernels share (kernel.Env, but for its Funcs) does not change within an epoch, and a function that a user made is pure.
func ofRow(e plan.Expr) bool {
	of := true
	plan.Walk(e, func(x plan.Expr) {
		if c, ok := x.(*plan.Call); ok && (c.Fn.Volatility == fn.Volatile || c.Fn.Session) {
			of = false
		}
	})
	return of
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
