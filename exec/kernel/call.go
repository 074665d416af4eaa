package kernel

import (
	"errors"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// impl is one implementation; exactly one of row, text and vec is set.
type impl struct {
	// row computes one value. Datum.B of a result may alias an argument; it is copied at once.
	row func(f *frame, a []types.Datum) (types.Datum, error)
	// text appends its value to dst. The error errNull stands for NULL.
	text func(f *frame, dst []byte, a []types.Datum) ([]byte, error)
	// vec fills out, of a fixed-width layout and already of the right length, for the rows in sel (nil: all n),
	// none of which has a NULL argument.
	vec func(v *vecNode, c *ctx, sel []int32, n int)
	// cmp comes with vec for a comparison, which can also filter.
	cmp *comparison
}

// errNull is what a text function returns for NULL.
var errNull = errors.New("null")

// frame is what a row function sees of the call it serves.
type frame struct {
	c        *ctx
	env      *types.Env // the session's
	typ      types.Type // of the result, with modifier
	argTypes []types.Type
	scratch  []byte // for the function's own use
	cache    any    // what the function wants to keep between rows, such as a compiled pattern
	cacheKey []byte
}

// callNode calls a row function for each selected row.
type callNode struct {
	impl
	frame
	args     []node
	ops      []operand
	buf      []types.Datum
	layouts  []types.Layout
	strict   bool
	volatile bool
	one      []int32
	fixed    // of a fixed-width result
	bytesOut bool
}

func newCall(im impl, args []node, argTypes []types.Type, typ types.Type, strict, volatile bool) *callNode {
	n := &callNode{impl: im, args: args, strict: strict, volatile: volatile, one: []int32{0}}
	n.frame = frame{typ: typ, argTypes: argTypes}
	n.ops = make([]operand, len(args))
	n.buf = make([]types.Datum, len(args))
	n.layouts = make([]types.Layout, len(args))
	for i, t := range argTypes {
		n.layouts[i] = t.Layout()
	}
	n.fixed = newFixed(typ)
	n.bytesOut = typ.Layout() == types.LayoutBytes
	return n
}

func (n *callNode) eval(c *ctx, sel []int32) operand {
	constant := !n.volatile
	for i, a := range n.args {
		n.ops[i] = a.eval(c, sel)
		constant = constant && n.ops[i].con
	}
	n.frame.c, n.env = c, c.session
	if constant {
		return n.evalOnce(c, sel)
	}
	if n.bytesOut {
		n.evalBytes(c, c.rows(sel), c.n)
	} else {
		n.evalFixed(c, c.rows(sel), c.n)
	}
	return operand{v: n.out}
}

// evalOnce computes a call whose arguments are the same for all rows; its error is every row's.
func (n *callNode) evalOnce(c *ctx, sel []int32) operand {
	rows := c.rows(sel)
	if len(rows) == 0 { // nothing is to be evaluated, so nothing may fail
		n.out.Reset(n.out.Type)
		n.out.AppendNull()
		return operand{v: n.out, con: true}
	}
	before := len(c.errs)
	if n.bytesOut {
		n.evalBytes(c, n.one, 1)
	} else {
		n.evalFixed(c, n.one, 1)
	}
	if len(c.errs) > before {
		err := c.errs[before].Err
		c.errs = c.errs[:before]
		for _, r := range rows {
			c.fail(int(r), err)
		}
	}
	return operand{v: n.out, con: true}
}

// load brings the arguments of a row into buf; false where a strict function must not be called.
func (n *callNode) load(row int) bool {
	for i, o := range n.ops {
		r := row & o.mask()
		d := &n.buf[i]
		if o.v.Valid != nil && !o.v.Valid.Get(r) {
			if n.strict {
				return false
			}
			*d = types.NullDatum
			continue
		}
		d.Null = false
		switch n.layouts[i] {
		case types.LayoutI64:
			d.I = o.v.I64[r]
		case types.LayoutF64:
			d.F = o.v.F64[r]
		case types.LayoutPair:
			d.I, d.J = o.v.I64[r], o.v.J64[r]
		default:
			d.B = o.v.Data[o.v.Off[r]:o.v.Off[r+1]:o.v.Off[r+1]]
		}
	}
	return true
}

func (n *callNode) evalFixed(c *ctx, rows []int32, total int) {
	n.reset(total)
	v := n.out
	for _, r := range rows {
		i := int(r)
		if !n.load(i) {
			n.setNull(i)
			continue
		}
		d, err := n.row(&n.frame, n.buf)
		if err != nil {
			c.fail(i, err)
			n.setNull(i)
			continue
		}
		if d.Null {
			n.setNull(i)
			continue
		}
		switch {
		case v.F64 != nil:
			v.F64[i] = d.F
		case v.J64 != nil:
			v.I64[i], v.J64[i] = d.I, d.J
		default:
			v.I64[i] = d.I
		}
	}
}

func (n *callNode) evalBytes(c *ctx, rows []int32, total int) {
	v := n.out
	v.Reset(v.Type)
	for _, r := range rows {
		i := int(r)
		padTo(v, i)
		if !n.load(i) {
			n.appendNull(total)
			continue
		}
		var err error
		if n.text != nil {
			before := len(v.Data)
			var data []byte
			if data, err = n.text(&n.frame, v.Data, n.buf); err == nil {
				v.Data = data
			} else {
				v.Data = v.Data[:before]
			}
		} else {
			var d types.Datum
			if d, err = n.row(&n.frame, n.buf); err == nil {
				if d.Null {
					err = errNull
				} else {
					v.Data = append(v.Data, d.B...)
				}
			}
		}
		if err == nil && len(v.Data) > maxData {
			err = errVectorFull
		}
		if err != nil {
			if err != errNull {
				c.fail(i, err)
			}
			n.appendNull(total)
			continue
		}
		v.Off = append(v.Off, uint32(len(v.Data)))
		v.N++
	}
	padTo(v, total)
}

// appendNull appends NULL to a bytes result, whose validity has room for all rows from the first NULL on.
func (n *callNode) appendNull(total int) {
	v := n.out
	if v.Valid == nil {
		n.nullable(total)
	}
	v.Off = append(v.Off, uint32(len(v.Data)))
	v.Valid.Clear(v.N)
	v.N++
}
