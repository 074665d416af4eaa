package plan

import (
	"math"
	"slices"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// SameKeys says whether a value of type t that is equal to one of type u has the same form in a key, so far as u has it.
func SameKeys(t, u types.Type) bool {
	unbounded := func(t types.Type) bool { return t.Kind == types.Text || t.Kind == types.Varchar }
	return t.Same(u) || t.Kind.IsInt() && u.Kind.IsInt() || unbounded(t) && unbounded(u)
}

// Keys gives the values for a key column of type t, in the order of keys and each once; ok is false as Key has it.
func (k KeyAny) Keys(t types.Type) (vals []types.Datum, ok bool) {
	c, isConst := k.Array.(*Const)
	if !isConst {
		return nil, false
	}
	if c.Val.Null {
		return nil, true
	}
	elem := c.Typ.ElemType()
	array := types.DecodeArray(elem, c.Val.B)
	for _, e := range array.Elems() {
		val, none, ok := KeyEq{Val: &Const{Val: e, Typ: elem}}.Key(t)
		if !ok {
			return nil, false
		}
		if !none {
			vals = append(vals, val)
		}
	}
	compare := func(a, b types.Datum) int { return types.Compare(t, a, b) }
	slices.SortFunc(vals, compare)
	return slices.CompactFunc(vals, func(a, b types.Datum) bool { return compare(a, b) == 0 }), true
}

// Key gives the value for a key column of type t; ok is false if it is not a constant of a type whose keys t shares, so that no
// lookup is possible. none says that no row can be equal to it: it is NULL, or t does not have it.
func (k KeyEq) Key(t types.Type) (val types.Datum, none, ok bool) {
	c, isConst := k.Val.(*Const)
	if !isConst || !SameKeys(c.Typ, t) {
		return types.Datum{}, false, false
	}
	if c.Val.Null {
		return types.Datum{}, true, true
	}
	switch t.Kind {
	case types.Int2:
		none = c.Val.I != int64(int16(c.Val.I))
	case types.Int4:
		none = c.Val.I < math.MinInt32 || c.Val.I > math.MaxInt32
	}
	return c.Val, none, true
}
