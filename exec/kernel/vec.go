package kernel

import (
	"github.com/tidemarkdb/tidemark/sql/types"
)

// vecNode applies a vector function. All of them are strict.
type vecNode struct {
	fixed
	impl     impl
	args     []node
	ops      []operand
	live     []int32 // rows without a NULL argument
	argTypes []types.Type
	typ      types.Type
}

func newVec(im impl, args []node, argTypes []types.Type, typ types.Type) node {
	n := vecNode{fixed: newFixed(typ), impl: im, args: args, ops: make([]operand, len(args)), argTypes: argTypes, typ: typ}
	if im.cmp != nil {
		return &cmpNode{vecNode: n}
	}
	return &n
}

// prepare evaluates the arguments. It gives the rows to compute (nil: all total), having noted the NULLs of the
// others, and whether the result is one constant.
func (n *vecNode) prepare(c *ctx, sel []int32) (rows []int32, total int, con bool) {
	con = true
	nulls := false
	for i, a := range n.args {
		o := a.eval(c, sel)
		n.ops[i] = o
		con = con && o.con
		nulls = nulls || o.v.Valid != nil
	}
	total = c.n
	if con {
		total, sel = 1, nil
	}
	n.reset(total)
	if !nulls {
		return sel, total, con
	}
	n.nullable(total)
	for _, o := range n.ops {
		switch {
		case o.v.Valid == nil:
		case o.con && !con:
			if o.null(0) {
				clear(n.valid)
			}
		default:
			for w := range n.valid {
				n.valid[w] &= o.v.Valid[w]
			}
		}
	}
	return n.notNull(sel, total), total, con
}

// notNull lists the rows of sel (nil: all total) at which the output is valid.
func (n *vecNode) notNull(sel []int32, total int) []int32 {
	if cap(n.live) < total {
		n.live = make([]int32, total+total/4)
	}
	live, k := n.live[:total], 0
	if sel == nil {
		for i := range live {
			live[k] = int32(i)
			k += int(n.valid[i>>6] >> (uint(i) & 63) & 1)
		}
	} else {
		for _, i := range sel {
			live[k] = i
			k += int(n.valid[i>>6] >> (uint(i) & 63) & 1)
		}
	}
	return live[:k]
}

func (n *vecNode) eval(c *ctx, sel []int32) operand {
	if sel != nil && len(sel) == 0 {
		n.reset(c.n)
		return operand{v: n.out}
	}
	before := len(c.errs)
	rows, total, con := n.prepare(c, sel)
	if rows == nil || len(rows) > 0 {
		n.impl.vec(n, c, rows, total)
	}
	if con && len(c.errs) > before {
		n.spreadError(c, sel, before)
	}
	return operand{v: n.out, con: con}
}

// spreadError makes the error of a constant call the error of every selected row.
func (n *vecNode) spreadError(c *ctx, sel []int32, before int) {
	err := c.errs[before].Err
	c.errs = c.errs[:before]
	for _, r := range c.rows(sel) {
		c.fail(int(r), err)
	}
}

// fail notes an error of a row and makes its value NULL.
func (n *vecNode) fail(c *ctx, row int, err error) {
	c.fail(row, err)
	n.setNull(row)
}
