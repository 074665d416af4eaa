package kernel

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// inListNode is x [NOT] IN (constants), by a hash set.
type inListNode struct {
	fixed
	x     node
	typ   types.Type
	null  bool // the list has a NULL
	not   bool
	ints  map[int64]struct{}
	few   []int64 // instead of ints, where a scan is faster
	texts map[string]struct{}
	keys  map[string]struct{} // by key encoding, for all other types
	key   []byte
}

const fewItems = 8

func newInList(x node, e *plan.InList) node {
	n := &inListNode{fixed: newFixed(e.Type()), x: x, typ: e.X.Type(), null: e.Null, not: e.Not}
	switch {
	case n.typ.Layout() == types.LayoutI64 && len(e.List) <= fewItems:
		for _, d := range e.List {
			n.few = append(n.few, d.I)
		}
	case n.typ.Layout() == types.LayoutI64:
		n.ints = map[int64]struct{}{}
		for _, d := range e.List {
			n.ints[d.I] = struct{}{}
		}
	case plainBytes(n.typ):
		n.texts = map[string]struct{}{}
		for _, d := range e.List {
			n.texts[string(d.B)] = struct{}{}
		}
	default:
		n.keys = map[string]struct{}{}
		for _, d := range e.List {
			n.keys[string(types.AppendKey(nil, n.typ, d, false, false))] = struct{}{}
		}
	}
	return n
}

// plainBytes says whether values of the type are equal exactly if their bytes are.
func plainBytes(t types.Type) bool {
	switch t.Kind {
	case types.Text, types.Varchar, types.Name, types.Bytea, types.Unknown:
		return true
	}
	return false
}

func (n *inListNode) has(o operand, i int) bool {
	i &= o.mask()
	var ok bool
	switch {
	case n.ints != nil:
		_, ok = n.ints[o.v.I64[i]]
	case n.texts != nil:
		_, ok = n.texts[string(o.v.Bytes(i))]
	case n.keys != nil:
		n.key = types.AppendKey(n.key[:0], n.typ, o.v.Datum(i), false, false)
		_, ok = n.keys[string(n.key)]
	default:
		x := o.v.I64[i]
		for _, k := range n.few {
			if k == x {
				return true
			}
		}
	}
	return ok
}

func (n *inListNode) eval(c *ctx, sel []int32) operand {
	o := n.x.eval(c, sel)
	rows, total := c.rows(sel), c.n
	if o.con {
		rows, total = []int32{0}, 1
	}
	n.reset(total)
	for _, r := range rows {
		i := int(r)
		if o.null(i) {
			n.setNull(i)
			continue
		}
		in := n.has(o, i)
		if !in && n.null {
			n.setNull(i)
			continue
		}
		n.out.I64[i] = b2i(in != n.not)
	}
	return operand{v: n.out, con: o.con}
}

func (n *inListNode) filter(c *ctx, sel, dst []int32) []int32 {
	o := n.x.eval(c, sel)
	if n.null && n.not {
		return dst[:0] // never true
	}
	k := 0
	for _, r := range c.rows(sel) {
		i := int(r)
		dst[k] = r
		if !o.null(i) && n.has(o, i) != n.not {
			k++
		}
	}
	return dst[:k]
}

// newQuantified makes x op ANY|ALL (array). The elements of one row's array are compared by the comparison's own
// kernel, over a batch of two constant columns.
func newQuantified(kids []node, e *plan.Quantified) (node, error) {
	if list := quantifiedList(kids[1], e); list != nil {
		return newInList(kids[0], list), nil
	}
	elem := e.Array.Type().ElemType()
	xt := e.X.Type()
	slots := []*slotNode{newSlot(xt), newSlot(elem)}
	cmp, err := compileCall(e.Cmp, []node{slots[0], slots[1]}, []types.Type{xt, elem}, types.Of(types.Bool))
	if err != nil {
		return nil, err
	}
	test := func(f *frame, a []types.Datum) (types.Datum, error) {
		if a[1].Null {
			return types.NullDatum, nil
		}
		arr := types.DecodeArray(elem, a[1].B)
		unknown := false
		slots[0].set(a[0])
		sub := ctx{env: f.c.env, session: f.c.session, n: 1}
		for ; arr.N > 0; arr.N-- {
			slots[1].set(arr.Next())
			o := cmp.eval(&sub, nil)
			if len(sub.errs) > 0 {
				return types.NullDatum, sub.errs[0].Err
			}
			switch {
			case o.null(0):
				unknown = true
			case (o.v.I64[0] != 0) != e.All:
				return types.BoolDatum(!e.All), nil
			}
		}
		return types.Datum{I: b2i(e.All), Null: unknown}, nil
	}
	return newCall(impl{row: test}, kids, []types.Type{xt, e.Array.Type()}, types.Of(types.Bool), false, false), nil
}

// quantifiedList gives the list in which x = ANY (array) looks x up, or x <> ALL (array), where the array is a constant with elements; else nil.
func quantifiedList(array node, e *plan.Quantified) *plan.InList {
	t := e.X.Type().NoMod()
	elem := e.Array.Type().ElemType()
	c, isConst := array.(*constNode)
	if !isConst || c.v.IsNull(0) || !plan.SameKeys(t, elem.NoMod()) || !(e.Cmp.Name == "=" && !e.All || e.Cmp.Name == "<>" && e.All) {
		return nil
	}
	list := &plan.InList{X: e.X, Not: e.All}
	arr := types.DecodeArray(elem, c.v.Bytes(0))
	if arr.N == 0 {
		return nil // of NULL, too, it is known what is in there
	}
	for ; arr.N > 0; arr.N-- {
		if d := arr.Next(); d.Null {
			list.Null = true
		} else {
			list.List = append(list.List, d)
		}
	}
	return list
}

// slotNode is a constant that its owner changes.
type slotNode struct{ constNode }

func newSlot(t types.Type) *slotNode { return &slotNode{*newConst(t, types.NullDatum)} }

func (n *slotNode) set(d types.Datum) {
	n.v.Reset(n.v.Type)
	n.v.AppendDatum(d)
}

// newArrayCtor makes ARRAY[...]; arrays as elements make one more dimension.
func newArrayCtor(kids []node, e *plan.ArrayCtor) node {
	elem := e.Typ.ElemType()
	nested := len(e.Elems) > 0 && e.Elems[0].Type().Kind == types.Array
	return newCall(impl{text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		if !nested {
			return types.AppendArray(dst, elem, a), nil
		}
		return nestArrays(dst, elem, a)
	}}, kids, typesOf(e.Elems), e.Typ, false, false)
}

// nestArrays makes one array of arrays of equal dimensions; a NULL counts as an empty one.
func nestArrays(dst []byte, elem types.Type, a []types.Datum) ([]byte, error) {
	var dims []types.Dim
	var elems []types.Datum
	empty := 0
	for _, d := range a {
		arr := types.DecodeArray(elem, d.B)
		if d.Null || arr.NDim == 0 {
			empty++
			continue
		}
		if dims == nil {
			dims = append([]types.Dim{{Len: len(a), Lower: 1}}, arr.Dims[:arr.NDim]...)
		} else if arr.NDim != len(dims)-1 || !sameLens(arr.Dims[:arr.NDim], dims[1:]) {
			empty = -1
			break
		}
		elems = append(elems, arr.Elems()...)
	}
	switch {
	case empty == len(a):
		return types.AppendArray(dst, elem, nil), nil
	case empty != 0:
		return dst, sqlerr.New(sqlerr.ArraySubscriptError, "multidimensional arrays must have array expressions with matching dimensions")
	}
	return types.AppendArrayDims(dst, elem, dims, elems)
}

// subscriptImpl is array[i].
var subscriptImpl = impl{row: func(f *frame, a []types.Datum) (types.Datum, error) {
	return f.array(0, a[0]).At(int(a[1].I)), nil
}}

// recordFieldImpl is a field of a record.
var recordFieldImpl = impl{row: func(f *frame, a []types.Datum) (types.Datum, error) {
	r := types.DecodeRecord(a[0].B)
	for i := a[1].I; r.N > 0; i-- {
		if _, d := r.Next(); i == 1 {
			return d, nil
		}
	}
	return types.NullDatum, nil
}}

// rowCtorImpl is ROW(...), or with names a table's row: each field with its type, as types.AppendRecord lays them out.
func rowCtorImpl(names []string) impl {
	return impl{text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		return types.AppendRecordNames(types.AppendRecord(dst, f.argTypes, a), names), nil
	}}
}
