package plan

import (
	"math"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// SameKeys says whether a value of type t that is equal to one of type u has the same form in a key, so far as u has it.
func SameKeys(t, u types.Type) bool {
	unbounded := func(t types.Type) bool { return t.Kind == types.Text || t.Kind == types.Varchar }
	return t.Same(u) || t.Kind.IsInt() && u.Kind.IsInt() || unbounded(t) && unbounded(u)
}

// Key gives the value for a key column of type t; false if it is not a constant, is NULL, or t does not have it, so that no
// lookup is possible.
func (k KeyEq) Key(t types.Type) (types.Datum, bool) {
	c, ok := k.Val.(*Const)
	if !ok || c.Val.Null || !SameKeys(c.Typ, t) {
		return types.Datum{}, false
	}
	switch t.Kind {
	case types.Int2:
		ok = c.Val.I == int64(int16(c.Val.I))
	case types.Int4:
		ok = c.Val.I >= math.MinInt32 && c.Val.I <= math.MaxInt32
	}
	return c.Val, ok
}
