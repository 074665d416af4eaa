package kernel

import (
	"testing"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestQuantifiedList: an array that is known is looked up in, where equal values have equal keys, instead of gone through for each row.
func TestQuantifiedList(t *testing.T) {
	int4, int8, text, numeric := types.Of(types.Int4), types.Of(types.Int8), types.Of(types.Text), types.Of(types.Numeric)
	one := types.IntDatum(1)
	for _, x := range []struct {
		op      string
		all     bool
		x, elem types.Type
		vals    []types.Datum
		looks   bool
	}{
		{"=", false, int4, int8, []types.Datum{one, types.NullDatum}, true},
		{"<>", true, int8, int4, []types.Datum{one}, true},
		{"=", false, text, text, []types.Datum{types.StringDatum("a")}, true},
		{"=", true, int4, int4, []types.Datum{one}, false},
		{"<>", false, int4, int4, []types.Datum{one}, false},
		{"<", false, int4, int4, []types.Datum{one}, false},
		{"=", false, int4, int4, nil, false},
		{"=", false, numeric, int4, []types.Datum{one}, false},
	} {
		array := types.Datum{B: types.AppendArray(nil, x.elem, x.vals)}
		e := &plan.Quantified{X: &plan.Col{Typ: x.x}, Array: &plan.Const{Val: array, Typ: types.ArrayOf(x.elem)}, Cmp: &fn.Func{Name: x.op}, All: x.all}
		if list := quantifiedList(newConst(e.Array.Type(), array), e); (list != nil) != x.looks {
			t.Errorf("%s %s, all %v, of %d %s: %v", x.x, x.op, x.all, len(x.vals), x.elem, list)
		}
	}
}
