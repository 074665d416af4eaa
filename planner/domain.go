package planner

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// dependent computes a right side for every row of a domain: the distinct combinations of the left columns that it uses.
type dependent struct {
	*applier
	cols []int // of the left side
}

// domain is the general form of decorrelation.
func (a *applier) domain(r plan.Node) plan.Node {
	d := &dependent{applier: a}
	seen := map[int]bool{}
	outerUses(r, a.f, func(o *outerRef) {
		if !seen[o.idx] {
			seen[o.idx] = true
			d.cols = append(d.cols, o.idx)
		}
	})
	k := width(r)
	n, pairs := d.push(r)
	return a.finish(n, pairs, k)
}

// values makes the domain itself, a tree of its own.
func (d *dependent) values() plan.Node {
	l := clone(d.l)
	exprs := make([]plan.Expr, len(d.cols))
	for i, c := range d.cols {
		exprs[i] = colOf(l, c)
	}
	return newDistinct(newProject(l, exprs, nil))
}

// pairs equates the domain columns, from column first on, with the left side.
func (d *dependent) pairs(n plan.Node, first int) []pair {
	out := make([]pair, len(d.cols))
	for i, c := range d.cols {
		col := columns(d.l)[c]
		out[i] = pair{left: &outerRef{frame: d.f, idx: c, typ: col.Type, name: col.Name, row: col.Row}, right: first + i, nullSafe: true}
	}
	return out
}

// toDomain replaces references to the frame by the domain columns of a node.
func (d *dependent) toDomain(pairs []pair) func(plan.Expr) plan.Expr {
	return func(e plan.Expr) plan.Expr {
		return mapOuterExpr(e, d.f, func(r *outerRef) plan.Expr {
			for i, c := range d.cols {
				if c == r.idx {
					return &plan.Col{Index: pairs[i].right, Typ: r.typ, Name: r.name, Row: r.row}
				}
			}
			return r
		})
	}
}

// push gives n for every row of the domain: its own columns first, the domain's at the pairs' places.
func (d *dependent) push(n plan.Node) (plan.Node, []pair) {
	if isOne(n) {
		v := d.values()
		return v, d.pairs(v, 0)
	}
	if !usesFrame(n, d.f) {
		k := width(n)
		j := newJoin(plan.Inner, n, d.values(), nil)
		return j, d.pairs(j, k)
	}
	switch x := n.(type) {
	case *plan.Filter:
		in, pairs := d.push(x.Input)
		return newFilter(in, d.toDomain(pairs)(x.Pred)), pairs
	case *plan.Values:
		return d.push(rowsAsUnion(x))
	case *plan.TableFunc:
		var in plan.Node = newOne()
		if x.Input != nil {
			in = x.Input
		}
		return d.one(n, in)
	case *plan.Project, *plan.Dedup, *plan.OverWindow, *plan.Window, *plan.TopN:
		return d.one(n, n.Inputs()[0])
	case *plan.Aggregate:
		m, pairs := d.one(n, x.Input)
		if len(x.Keys) > 0 || x.Session != nil || len(x.Aggs) == 0 {
			return m, pairs
		}
		return d.fillEmpty(x, m, pairs)
	case *plan.Union:
		return d.union(x)
	case *plan.SetOp:
		return d.setOp(x)
	case *plan.Join:
		return d.join(x)
	}
	fail(sqlerr.Unsupported("this form of correlated subquery is not supported"))
	return nil, nil
}

// one rebuilds a node with one input.
func (d *dependent) one(n, input plan.Node) (plan.Node, []pair) {
	in, pairs := d.push(input)
	mapExprs(n, d.toDomain(pairs))
	return d.carry(n, in, pairs)
}

// fillEmpty gives an aggregate without GROUP BY its row for those domain rows that have no group.
func (d *dependent) fillEmpty(x *plan.Aggregate, m plan.Node, pairs []pair) (plan.Node, []pair) {
	v := d.values()
	j := newJoin(plan.Left, v, m, nil)
	for i, p := range pairs {
		j.LeftKeys = append(j.LeftKeys, colOf(v, i))
		j.RightKeys = append(j.RightKeys, colOf(m, p.right))
		j.NullSafe = append(j.NullSafe, true)
	}
	k := len(d.cols)
	var exprs []plan.Expr
	for i, g := range x.Aggs {
		c := plan.Expr(colOf(j, k+i))
		if zeroWhenEmpty(g.Fn) {
			c = &plan.Coalesce{Args: []plan.Expr{c, zeroOf(g.Typ)}, Typ: g.Typ}
		}
		exprs = append(exprs, c)
	}
	exprs = append(exprs, firstCols(j, k)...)
	p := newProject(j, exprs, nil)
	return p, d.pairs(p, len(x.Aggs))
}

// aligned puts the domain columns right behind a node's k own columns, so that nodes can be united.
func (d *dependent) aligned(n plan.Node, pairs []pair, k int) plan.Node {
	exprs := firstCols(n, k)
	for _, p := range pairs {
		exprs = append(exprs, colOf(n, p.right))
	}
	return newProject(n, exprs, nil)
}

func (d *dependent) union(x *plan.Union) (plan.Node, []pair) {
	k := width(x)
	ins := make([]plan.Node, len(x.Ins))
	for i, in := range x.Ins {
		m, pairs := d.push(in)
		ins[i] = d.aligned(m, pairs, k)
	}
	u := newUnion(ins...)
	copy(u.P.Columns, x.P.Columns)
	return u, d.pairs(u, k)
}

func (d *dependent) setOp(x *plan.SetOp) (plan.Node, []pair) {
	k := width(x)
	l, lp := d.push(x.Left)
	r, rp := d.push(x.Right)
	c := *x
	c.Left, c.Right = d.aligned(l, lp, k), d.aligned(r, rp, k)
	c.P.Columns = columns(c.Left)
	return &c, d.pairs(&c, k)
}

// join pushes the domain into the sides that depend on it; the left side always has it, so that the condition can use it.
func (d *dependent) join(x *plan.Join) (plan.Node, []pair) {
	if x.Kind == plan.Right || x.Kind == plan.Full || x.NullAware {
		fail(sqlerr.Unsupported("a correlated reference beneath a RIGHT or FULL JOIN is not supported"))
	}
	lw, rw := width(x.Left), width(x.Right)
	right := usesFrame(x.Right, d.f)
	l, lp := d.push(x.Left)
	r, rp := x.Right, []pair(nil)
	if right {
		r, rp = d.push(x.Right)
	}
	m := make([]int, lw+rw)
	for i := range m {
		m[i] = i
		if i >= lw {
			m[i] = i - lw + width(l)
		}
	}
	c := *x
	c.Left, c.Right = l, r
	c.LeftKeys, c.RightKeys, c.NullSafe = nil, nil, nil
	toDomain := d.toDomain(lp)
	for i := range x.LeftKeys {
		c.LeftKeys = append(c.LeftKeys, toDomain(x.LeftKeys[i]))
		c.RightKeys = append(c.RightKeys, x.RightKeys[i])
		c.NullSafe = append(c.NullSafe, x.NullSafe[i])
	}
	if x.Residual != nil {
		// The condition's own columns are moved first, so that the domain's are those of the new left side.
		c.Residual = toDomain(remap(x.Residual, m))
	}
	for i := range rp {
		c.LeftKeys = append(c.LeftKeys, colOf(l, lp[i].right))
		c.RightKeys = append(c.RightKeys, colOf(r, rp[i].right))
		c.NullSafe = append(c.NullSafe, true)
	}
	c.P.Columns = joinOutput(&c)
	if x.Kind == plan.Semi || x.Kind == plan.Anti {
		return &c, lp
	}
	exprs := make([]plan.Expr, 0, lw+rw+len(lp))
	for _, i := range m {
		exprs = append(exprs, colOf(&c, i))
	}
	out := append([]pair{}, lp...)
	for i, p := range lp {
		exprs = append(exprs, colOf(&c, p.right))
		out[i].right = len(exprs) - 1
	}
	return newProject(&c, exprs, nil), out
}

// rowsAsUnion turns VALUES into a union of one-row projections, which can carry further columns.
func rowsAsUnion(v *plan.Values) plan.Node {
	names := make([]string, len(v.P.Columns))
	for i, c := range v.P.Columns {
		names[i] = c.Name
	}
	var ins []plan.Node
	for _, row := range v.Rows {
		ins = append(ins, newProject(newOne(), row, names))
	}
	if len(ins) == 1 {
		return ins[0]
	}
	return newUnion(ins...)
}
