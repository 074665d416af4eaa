package kernel

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// cmpOp is one of the six comparisons.
type cmpOp uint8

const (
	opEQ cmpOp = iota
	opNE
	opLT
	opLE
	opGT
	opGE
)

var cmpOps = map[string]cmpOp{"=": opEQ, "<>": opNE, "<": opLT, "<=": opLE, ">": opGT, ">=": opGE}

// holds says whether a comparison with the result c of Compare is true.
func (op cmpOp) holds(c int) bool {
	switch op {
	case opEQ:
		return c == 0
	case opNE:
		return c != 0
	case opLT:
		return c < 0
	case opLE:
		return c <= 0
	case opGT:
		return c > 0
	}
	return c >= 0
}

// flip gives the comparison that holds with its operands exchanged.
func (op cmpOp) flip() cmpOp { return [...]cmpOp{opEQ, opNE, opGT, opGE, opLT, opLE}[op] }

// comparison is how two types compare.
type comparison struct {
	op   cmpOp
	kind cmpKind
	typ  types.Type                     // for cmpAny
	conv [2]func(c *ctx, x int64) int64 // for cmpConv: to a common scale
}

type cmpKind uint8

const (
	cmpInt   cmpKind = iota // int64 order
	cmpFloat                // PostgreSQL's order of floats
	cmpBytes                // bytes.Compare
	cmpConv                 // int64 order after conversion of an operand
	cmpAny                  // types.Compare
)

// cmpNode is a comparison; it can filter without making a vector.
type cmpNode struct{ vecNode }

// filter compares and selects in one loop.
func (n *cmpNode) filter(c *ctx, sel, dst []int32) []int32 {
	if sel != nil && len(sel) == 0 {
		return dst[:0]
	}
	rows, _, con := n.prepare(c, sel)
	if con {
		return selectTrue(n.vecNode.eval(c, sel), c, sel, dst)
	}
	cm := n.impl.cmp
	l, r := n.ops[0], n.ops[1]
	switch {
	case rows != nil && len(rows) == 0:
		return dst[:0]
	case cm.kind == cmpInt && r.con:
		return filterIntConst(cm.op, l.v.I64, r.v.I64[0], c.n, rows, dst)
	case cm.kind == cmpInt && l.con:
		return filterIntConst(cm.op.flip(), r.v.I64, l.v.I64[0], c.n, rows, dst)
	case cm.kind == cmpInt:
		return filterInts(cm.op, l.v.I64, r.v.I64, c.n, rows, dst)
	case cm.kind == cmpFloat && r.con && r.v.F64[0] == r.v.F64[0]:
		return filterFloatConst(cm.op, l.v.F64, r.v.F64[0], c.n, rows, dst)
	case cm.kind == cmpBytes && r.con && (cm.op == opEQ || cm.op == opNE):
		return filterBytesEqual(l, r.v.Bytes(0), cm.op == opNE, c.rows(rows), dst)
	}
	k := 0
	for _, i := range c.rows(rows) {
		dst[k] = i
		if cm.test(c, l, r, int(i)) {
			k++
		}
	}
	return dst[:k]
}

// test compares one row.
func (cm *comparison) test(c *ctx, l, r operand, i int) bool {
	a, b := i&l.mask(), i&r.mask()
	switch cm.kind {
	case cmpInt:
		x, y := l.v.I64[a], r.v.I64[b]
		switch cm.op {
		case opEQ:
			return x == y
		case opNE:
			return x != y
		case opLT:
			return x < y
		case opLE:
			return x <= y
		case opGT:
			return x > y
		}
		return x >= y
	case cmpFloat:
		return cm.op.holds(types.CompareFloat(l.v.F64[a], r.v.F64[b]))
	case cmpBytes:
		x, y := l.v.Bytes(a), r.v.Bytes(b)
		if cm.op <= opNE {
			return bytes.Equal(x, y) == (cm.op == opEQ)
		}
		return cm.op.holds(bytes.Compare(x, y))
	case cmpConv:
		x, y := l.v.I64[a], r.v.I64[b]
		if f := cm.conv[0]; f != nil {
			x = f(c, x)
		}
		if f := cm.conv[1]; f != nil {
			y = f(c, y)
		}
		switch {
		case x < y:
			return cm.op.holds(-1)
		case x > y:
			return cm.op.holds(1)
		}
		return cm.op.holds(0)
	}
	return cm.op.holds(types.Compare(cm.typ, l.v.Datum(a), r.v.Datum(b)))
}

// compareVec makes the implementation of a comparison.
func compareVec(cm comparison) impl {
	return impl{cmp: &cm, vec: func(v *vecNode, c *ctx, sel []int32, n int) {
		out := v.out.I64
		l, r := v.ops[0], v.ops[1]
		if sel == nil && cm.kind == cmpInt {
			compareInts(cm.op, l, r, out[:n])
			return
		}
		if sel == nil {
			for i := 0; i < n; i++ {
				out[i] = b2i(cm.test(c, l, r, i))
			}
			return
		}
		for _, i := range sel {
			out[i] = b2i(cm.test(c, l, r, int(i)))
		}
	}}
}

func compareInts(op cmpOp, l, r operand, out []int64) {
	if op == opGT || op == opGE {
		l, r, op = r, l, op.flip()
	}
	x, y, mx, my := l.v.I64, r.v.I64, l.mask(), r.mask()
	switch op {
	case opEQ:
		for i := range out {
			out[i] = b2i(x[i&mx] == y[i&my])
		}
	case opNE:
		for i := range out {
			out[i] = b2i(x[i&mx] != y[i&my])
		}
	case opLT:
		for i := range out {
			out[i] = b2i(x[i&mx] < y[i&my])
		}
	default:
		for i := range out {
			out[i] = b2i(x[i&mx] <= y[i&my])
		}
	}
}

// filterIntConst keeps the rows of sel (nil: all n) with x[i] op k, without a branch on the outcome.
func filterIntConst(op cmpOp, x []int64, k int64, n int, sel, dst []int32) []int32 {
	if op == opEQ || op == opNE {
		return filterIntEqual(x, k, op == opNE, n, sel, dst)
	}
	// > is not <=, >= is not <.
	negate := op == opGT || op == opGE
	strict := op == opLT || op == opGE
	j := 0
	flip := int(b2i(negate))
	if sel == nil {
		x = x[:n]
		if strict {
			for i, a := range x {
				dst[j] = int32(i)
				j += int(b2i(a < k)) ^ flip
			}
		} else {
			for i, a := range x {
				dst[j] = int32(i)
				j += int(b2i(a <= k)) ^ flip
			}
		}
		return dst[:j]
	}
	for _, i := range sel {
		a := x[i]
		dst[j] = i
		j += int(b2i(a < k || !strict && a == k)) ^ flip
	}
	return dst[:j]
}

func filterIntEqual(x []int64, k int64, negate bool, n int, sel, dst []int32) []int32 {
	j, flip := 0, int(b2i(negate))
	if sel == nil {
		for i, a := range x[:n] {
			dst[j] = int32(i)
			j += int(b2i(a == k)) ^ flip
		}
		return dst[:j]
	}
	for _, i := range sel {
		dst[j] = i
		j += int(b2i(x[i] == k)) ^ flip
	}
	return dst[:j]
}

// filterInts compares two columns.
func filterInts(op cmpOp, x, y []int64, n int, sel, dst []int32) []int32 {
	if op == opGT || op == opGE {
		x, y, op = y, x, op.flip()
	}
	j := 0
	keep := func(a, b int64) bool {
		switch op {
		case opEQ:
			return a == b
		case opNE:
			return a != b
		case opLT:
			return a < b
		}
		return a <= b
	}
	if sel == nil {
		for i := 0; i < n; i++ {
			dst[j] = int32(i)
			j += int(b2i(keep(x[i], y[i])))
		}
		return dst[:j]
	}
	for _, i := range sel {
		dst[j] = i
		j += int(b2i(keep(x[i], y[i])))
	}
	return dst[:j]
}

// filterFloatConst compares a column with a constant that is not NaN. A NaN in the column is above it.
func filterFloatConst(op cmpOp, x []float64, k float64, n int, sel, dst []int32) []int32 {
	j := 0
	keep := func(a float64) bool {
		switch op {
		case opEQ:
			return a == k
		case opNE:
			return a != k
		case opLT:
			return a < k
		case opLE:
			return a <= k
		case opGT:
			return !(a <= k)
		}
		return !(a < k)
	}
	if sel == nil {
		for i := 0; i < n; i++ {
			dst[j] = int32(i)
			j += int(b2i(keep(x[i])))
		}
		return dst[:j]
	}
	for _, i := range sel {
		dst[j] = i
		j += int(b2i(keep(x[i])))
	}
	return dst[:j]
}

func filterBytesEqual(l operand, k []byte, negate bool, rows, dst []int32) []int32 {
	j, flip := 0, int(b2i(negate))
	off, data := l.v.Off, l.v.Data
	for _, i := range rows {
		dst[j] = i
		j += int(b2i(bytes.Equal(data[off[i]:off[i+1]], k))) ^ flip
	}
	return dst[:j]
}
