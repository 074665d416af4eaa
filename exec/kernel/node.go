package kernel

import (
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// operand is what a node computed: n values, or one value for all rows (con).
type operand struct {
	v   *batch.Vector
	con bool
}

// mask turns a row number into an index of the operand's slices: row & mask.
func (o operand) mask() int {
	if o.con {
		return 0
	}
	return -1
}

func (o operand) null(row int) bool {
	return o.v.Valid != nil && !o.v.Valid.Get(row&o.mask())
}

func (o operand) datum(row int) types.Datum { return o.v.Datum(row & o.mask()) }

// node computes its value for the rows in sel (nil: all). The operand is valid until the node's next eval.
type node interface {
	eval(c *ctx, sel []int32) operand
}

// filterer is a node that can select rows without making a vector. dst has room for every selected row and
// may be sel itself: a row is written no later than it was read.
type filterer interface {
	filter(c *ctx, sel, dst []int32) []int32
}

func filterNode(n node, c *ctx, sel, dst []int32) []int32 {
	if f, ok := n.(filterer); ok {
		return f.filter(c, sel, dst)
	}
	return selectTrue(n.eval(c, sel), c, sel, dst)
}

// colNode is an input column.
type colNode struct{ index int }

func (n *colNode) eval(c *ctx, sel []int32) operand { return operand{v: c.b.Cols[n.index]} }

// constNode is a constant.
type constNode struct{ v *batch.Vector }

func newConst(t types.Type, d types.Datum) *constNode {
	return &constNode{v: batch.Constant(t, d.Clone(), 1)}
}

func (n *constNode) eval(c *ctx, sel []int32) operand { return operand{v: n.v, con: true} }

// nowNode is the timestamp of the evaluation, of one of the time types.
type nowNode struct {
	typ types.Type
	out *batch.Vector
}

func (n *nowNode) eval(c *ctx, sel []int32) operand {
	n.out.Resize(1)
	local := types.ToLocal(c.env.Now, c.session.Location)
	switch n.typ.Kind {
	case types.TimestampTZ:
		local = c.env.Now
	case types.Date:
		local = types.TimestampToDate(local)
	case types.Time:
		local = types.TimestampTime(local)
	}
	n.out.I64[0] = local
	return operand{v: n.out, con: true}
}

// fixed is the output of a node whose layout is not LayoutBytes, with memory for its validity.
type fixed struct {
	out   *batch.Vector
	valid batch.Bitmap
}

func newFixed(t types.Type) fixed { return fixed{out: batch.NewVector(t, 0)} }

// reset makes n values, all valid.
func (f *fixed) reset(n int) { f.out.Resize(n) }

// nullable gives the output a validity bitmap of n bits, all set.
func (f *fixed) nullable(n int) {
	words := (n + 63) / 64
	if cap(f.valid) < words {
		f.valid = make(batch.Bitmap, words)
	}
	f.valid = f.valid[:words]
	for i := range f.valid {
		f.valid[i] = ^uint64(0)
	}
	f.out.Valid = f.valid
}

// setNull makes a value NULL.
func (f *fixed) setNull(i int) {
	if f.out.Valid == nil {
		f.nullable(f.out.N)
	}
	f.out.Valid.Clear(i)
}

// padTo appends empty values to a LayoutBytes vector until it has n; these are rows outside the selection.
func padTo(v *batch.Vector, n int) {
	for v.N < n {
		v.Off = append(v.Off, uint32(len(v.Data)))
		v.N++
		if v.Valid != nil && len(v.Valid)*64 < v.N {
			v.Valid = append(v.Valid, ^uint64(0))
		}
	}
}
