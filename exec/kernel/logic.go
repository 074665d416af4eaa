package kernel

import (
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// andNode is AND, or OR with the roles of true and false swapped.
type andNode struct {
	fixed
	args   []node
	or     bool
	active []int32
}

func (n *andNode) eval(c *ctx, sel []int32) operand {
	n.reset(c.n)
	out := n.out.I64
	var deciding, neutral int64 = 0, 1
	if n.or {
		deciding, neutral = 1, 0
	}
	n.active = append(n.active[:0], c.rows(sel)...)
	for _, r := range n.active {
		out[r] = neutral
	}
	for _, a := range n.args {
		if len(n.active) == 0 {
			break
		}
		o := a.eval(c, n.active)
		kept := n.active[:0]
		m := o.mask()
		for _, r := range n.active {
			i := int(r)
			switch {
			case o.null(i):
				n.setNull(i)
				kept = append(kept, r)
			case o.v.I64[i&m] == deciding:
				out[i] = deciding
				if n.out.Valid != nil {
					n.out.Valid.Set(i)
				}
			default:
				kept = append(kept, r)
			}
		}
		n.active = kept
	}
	return operand{v: n.out}
}

// filter of AND narrows the selection operand by operand.
func (n *andNode) filter(c *ctx, sel, dst []int32) []int32 {
	if n.or {
		return selectTrue(n.eval(c, sel), c, sel, dst)
	}
	rows := filterNode(n.args[0], c, sel, dst)
	for _, a := range n.args[1:] {
		if len(rows) == 0 {
			return rows
		}
		rows = filterNode(a, c, rows, rows)
	}
	return rows
}

// selectTrue writes the selected rows whose boolean is true to dst.
func selectTrue(o operand, c *ctx, sel, dst []int32) []int32 {
	k, m := 0, o.mask()
	if sel == nil {
		sel = c.rows(nil)
	}
	vals := o.v.I64
	if o.v.Valid == nil {
		for _, r := range sel {
			dst[k] = r
			k += int(vals[int(r)&m] & 1)
		}
		return dst[:k]
	}
	for _, r := range sel {
		if vals[int(r)&m] != 0 && !o.null(int(r)) {
			dst[k] = r
			k++
		}
	}
	return dst[:k]
}

type notNode struct {
	fixed
	x node
}

func (n *notNode) eval(c *ctx, sel []int32) operand {
	o := n.x.eval(c, sel)
	total := c.n
	if o.con {
		total, sel = 1, nil
	}
	n.reset(total)
	n.out.Valid = o.v.Valid
	if sel == nil {
		for i := range n.out.I64 {
			n.out.I64[i] = o.v.I64[i] ^ 1
		}
	} else {
		for _, i := range sel {
			n.out.I64[i] = o.v.I64[i] ^ 1
		}
	}
	return operand{v: n.out, con: o.con}
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// perRow fills a boolean output that is never NULL from a test of each row.
func (f *fixed) perRow(c *ctx, sel []int32, con bool, test func(i int) bool) operand {
	if con {
		f.reset(1)
		f.out.I64[0] = b2i(test(0))
		return operand{v: f.out, con: true}
	}
	f.reset(c.n)
	for _, r := range c.rows(sel) {
		f.out.I64[r] = b2i(test(int(r)))
	}
	return operand{v: f.out}
}

type isNullNode struct {
	fixed
	x   node
	not bool
}

func (n *isNullNode) eval(c *ctx, sel []int32) operand {
	o := n.x.eval(c, sel)
	return n.perRow(c, sel, o.con, func(i int) bool { return o.null(i) != n.not })
}

func (n *isNullNode) filter(c *ctx, sel, dst []int32) []int32 {
	o := n.x.eval(c, sel)
	if o.v.Valid == nil {
		if !n.not {
			return dst[:0]
		}
		return dst[:copy(dst, c.rows(sel))]
	}
	k := 0
	for _, r := range c.rows(sel) {
		dst[k] = r
		if o.null(int(r)) != n.not {
			k++
		}
	}
	return dst[:k]
}

type isBoolNode struct {
	fixed
	x    node
	what byte
	not  bool
}

func (n *isBoolNode) eval(c *ctx, sel []int32) operand {
	o := n.x.eval(c, sel)
	m := o.mask()
	return n.perRow(c, sel, o.con, func(i int) bool {
		var is bool
		switch null := o.null(i); n.what {
		case 't':
			is = !null && o.v.I64[i&m] != 0
		case 'f':
			is = !null && o.v.I64[i&m] == 0
		default:
			is = null
		}
		return is != n.not
	})
}

type distinctNode struct {
	fixed
	l, r node
	typ  types.Type
	not  bool
}

func (n *distinctNode) eval(c *ctx, sel []int32) operand {
	l, r := n.l.eval(c, sel), n.r.eval(c, sel)
	return n.perRow(c, sel, l.con && r.con, func(i int) bool {
		return types.Equal(n.typ, l.datum(i), r.datum(i)) == n.not
	})
}

// merger puts together a vector whose rows come from several operands.
type merger struct {
	out   *batch.Vector
	fixed fixed
	from  []uint16 // of each row: the operand it comes from
	ops   []operand
}

func newMerger(t types.Type) merger {
	f := newFixed(t)
	return merger{fixed: f, out: f.out}
}

func (m *merger) begin(n int) {
	if cap(m.from) < n {
		m.from = make([]uint16, n)
	}
	m.from = m.from[:n]
	m.ops = m.ops[:0]
}

// take says that the rows come from o.
func (m *merger) take(o operand, rows []int32) {
	k := uint16(len(m.ops))
	m.ops = append(m.ops, o)
	for _, r := range rows {
		m.from[r] = k
	}
}

func (m *merger) finish(rows []int32, n int) operand {
	v := m.out
	if v.Type.Layout() == types.LayoutBytes {
		v.Reset(v.Type)
		for _, r := range rows {
			i := int(r)
			padTo(v, i)
			o := m.ops[m.from[i]]
			if o.null(i) {
				if v.Valid == nil {
					m.fixed.nullable(n)
				}
				v.Valid.Clear(i)
			} else {
				v.Data = append(v.Data, o.v.Bytes(i&o.mask())...)
			}
			v.Off = append(v.Off, uint32(len(v.Data)))
			v.N++
		}
		padTo(v, n)
		return operand{v: v}
	}
	m.fixed.reset(n)
	for _, r := range rows {
		i := int(r)
		o := m.ops[m.from[i]]
		j := i & o.mask()
		if o.v.Valid != nil && !o.v.Valid.Get(j) {
			m.fixed.setNull(i)
			continue
		}
		switch v.Type.Layout() {
		case types.LayoutI64:
			v.I64[i] = o.v.I64[j]
		case types.LayoutF64:
			v.F64[i] = o.v.F64[j]
		default:
			v.I64[i], v.J64[i] = o.v.I64[j], o.v.J64[j]
		}
	}
	return operand{v: v}
}

// caseNode is the searched CASE.
type caseNode struct {
	merger
	conds, thens []node
	els          node
	active, hit  []int32
}

func newCase(kids []node, t types.Type) *caseNode {
	n := &caseNode{merger: newMerger(t)}
	for i := 0; i+1 < len(kids); i += 2 {
		n.conds, n.thens = append(n.conds, kids[i]), append(n.thens, kids[i+1])
	}
	n.els = kids[len(kids)-1]
	return n
}

func (n *caseNode) eval(c *ctx, sel []int32) operand {
	n.begin(c.n)
	rows := c.rows(sel)
	n.active = append(n.active[:0], rows...)
	for i, cond := range n.conds {
		if len(n.active) == 0 {
			break
		}
		o := cond.eval(c, n.active)
		n.hit = n.hit[:0]
		rest := n.active[:0]
		for _, r := range n.active {
			if o.v.I64[int(r)&o.mask()] != 0 && !o.null(int(r)) {
				n.hit = append(n.hit, r)
			} else {
				rest = append(rest, r)
			}
		}
		n.active = rest
		if len(n.hit) > 0 {
			n.take(n.thens[i].eval(c, n.hit), n.hit)
		}
	}
	if len(n.active) > 0 {
		n.take(n.els.eval(c, n.active), n.active)
	}
	return n.finish(rows, c.n)
}

// coalesceNode is COALESCE.
type coalesceNode struct {
	merger
	args   []node
	active []int32
}

func (n *coalesceNode) eval(c *ctx, sel []int32) operand {
	n.begin(c.n)
	rows := c.rows(sel)
	n.active = append(n.active[:0], rows...)
	for _, a := range n.args {
		if len(n.active) == 0 {
			break
		}
		o := a.eval(c, n.active)
		n.take(o, n.active)
		kept := n.active[:0]
		for _, r := range n.active {
			if o.null(int(r)) {
				kept = append(kept, r)
			}
		}
		n.active = kept
	}
	return n.finish(rows, c.n)
}

// windowFieldNode is the start or end of a window; it shares the operand's memory.
type windowFieldNode struct {
	x   node
	end bool
	out *batch.Vector
}

func (n *windowFieldNode) eval(c *ctx, sel []int32) operand {
	o := n.x.eval(c, sel)
	n.out.N, n.out.Valid, n.out.I64 = o.v.N, o.v.Valid, o.v.I64
	if n.end {
		n.out.I64 = o.v.J64
	}
	return operand{v: n.out, con: o.con}
}
