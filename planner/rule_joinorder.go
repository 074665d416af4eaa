package planner

import "github.com/tidemarkdb/tidemark/planner/plan"

// orderJoins changes the order of inner joins where the order of FROM would pair rows that nothing relates, as in
// FROM a, b, c WHERE a.x = c.x AND b.y = c.y. It runs after conditions have been pushed down and before keys are extracted.
func (b *binder) orderJoins(n plan.Node) plan.Node {
	if j, ok := n.(*plan.Join); ok && innerJoin(j) {
		return b.orderChain(j)
	}
	for i, in := range n.Inputs() {
		setInput(n, i, b.orderJoins(in))
	}
	return n
}

func innerJoin(j *plan.Join) bool {
	return j.Kind == plan.Inner && !j.Single && len(j.LeftKeys) == 0
}

// joinChain is a tree of inner joins taken apart. Conditions are over the columns of all leaves, in their order.
type joinChain struct {
	leaves []plan.Node
	starts []int // first column of each leaf
	conds  []plan.Expr
	width  int
}

func (c *joinChain) add(n plan.Node) {
	j, ok := n.(*plan.Join)
	if !ok || !innerJoin(j) {
		c.leaves = append(c.leaves, n)
		c.starts = append(c.starts, c.width)
		c.width += width(n)
		return
	}
	at := c.width
	c.add(j.Left)
	c.add(j.Right)
	for _, p := range conjuncts(j.Residual) {
		c.conds = append(c.conds, shiftPriv(p, at))
	}
}

func (b *binder) orderChain(j *plan.Join) plan.Node {
	c := &joinChain{}
	c.add(j)
	for i := range c.leaves {
		c.leaves[i] = b.orderJoins(c.leaves[i])
	}
	order := c.order()
	plain := true
	for i, l := range order {
		plain = plain && i == l
	}
	if plain {
		c.relink(j, new(int))
		return j
	}
	return c.build(order)
}

// relink puts the leaves, which may have been replaced, back into an unchanged tree.
func (c *joinChain) relink(j *plan.Join, next *int) {
	for i, in := range j.Inputs() {
		if k, ok := in.(*plan.Join); ok && innerJoin(k) {
			c.relink(k, next)
			continue
		}
		setInput(j, i, c.leaves[*next])
		*next++
	}
}

// leafOf gives the leaf that a column belongs to.
func (c *joinChain) leafOf(col int) int {
	for i := len(c.starts) - 1; i >= 0; i-- {
		if col >= c.starts[i] && width(c.leaves[i]) > 0 {
			return i
		}
	}
	return 0
}

// reads gives the leaves that an expression reads.
func (c *joinChain) reads(e plan.Expr) map[int]bool {
	out := map[int]bool{}
	walk(e, func(x plan.Expr) {
		if col, ok := x.(*plan.Col); ok {
			out[c.leafOf(col.Index)] = true
		}
	})
	return out
}

// order takes the first leaf, then again and again the first one that an equality relates to those taken, else the next.
func (c *joinChain) order() []int {
	taken := map[int]bool{0: true}
	out := []int{0}
	for len(out) < len(c.leaves) {
		next := -1
		for i := range c.leaves {
			if taken[i] {
				continue
			}
			if next < 0 {
				next = i
			}
			if c.related(i, taken) {
				next = i
				break
			}
		}
		taken[next] = true
		out = append(out, next)
	}
	return out
}

// related says whether an equality has leaf i alone on one side and only taken leaves on the other.
func (c *joinChain) related(i int, taken map[int]bool) bool {
	for _, p := range c.conds {
		eq, _ := isOp(p, "=")
		if eq == nil || len(eq.Args) != 2 {
			continue
		}
		for s := range eq.Args {
			own, other := c.reads(eq.Args[s]), c.reads(eq.Args[1-s])
			ok := len(own) == 1 && own[i] && len(other) > 0
			for l := range other {
				ok = ok && taken[l]
			}
			if ok {
				return true
			}
		}
	}
	return false
}

// build joins the leaves in the given order, each condition as soon as it can be tested, and restores the order of columns.
func (c *joinChain) build(order []int) plan.Node {
	moved := make([]int, c.width)
	have := map[int]bool{}
	used := make([]bool, len(c.conds))
	var n plan.Node
	for _, l := range order {
		at := 0
		if n != nil {
			at = width(n)
		}
		for k := 0; k < width(c.leaves[l]); k++ {
			moved[c.starts[l]+k] = at + k
		}
		have[l] = true
		if n == nil {
			n = c.leaves[l]
			continue
		}
		var conds []plan.Expr
		for i, p := range c.conds {
			ready := !used[i]
			for r := range c.reads(p) {
				ready = ready && have[r]
			}
			if ready {
				used[i] = true
				conds = append(conds, remap(p, moved))
			}
		}
		n = newJoin(plan.Inner, n, c.leaves[l], and(conds))
	}
	exprs := make([]plan.Expr, c.width)
	for i := range exprs {
		exprs[i] = colOf(n, moved[i])
	}
	return newProject(n, exprs, nil)
}
