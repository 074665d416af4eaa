package fn

import (
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// CommonType gives the type of UNION columns, CASE, COALESCE, VALUES, IN and ARRAY (PostgreSQL 10.5). Untyped
// literals (Unknown) count only if there is nothing else: then the result is text. The modifier is kept where
// all inputs have the same type with it. Error: 42804 with the two type names, for types of different
// categories; 42846 if one cannot be converted to the type chosen.
func CommonType(ts []types.Type) (types.Type, error) {
	if len(ts) == 0 {
		return types.Of(types.Text), nil
	}
	same := true
	for _, t := range ts[1:] {
		same = same && t == ts[0]
	}
	if same && ts[0].Kind != types.Unknown {
		return ts[0], nil
	}
	var pick types.Type
	for _, t := range ts {
		t = t.NoMod()
		switch {
		case t.Kind == types.Unknown || t == pick:
		case pick.Kind == types.Unknown:
			pick = t
		case category(t) != category(pick):
			return pick, sqlerr.New(sqlerr.DatatypeMismatch, "types %s and %s cannot be matched", shownName(pick), shownName(t))
		case !preferred(pick) && coercible(pick, t) && !coercible(t, pick):
			pick = t
		}
	}
	if pick.Kind == types.Unknown {
		return types.Of(types.Text), nil
	}
	for _, t := range ts {
		if !coercible(t.NoMod(), pick) {
			return pick, sqlerr.New(sqlerr.CannotCoerce, "could not convert type %s to %s", shownName(t), shownName(pick))
		}
	}
	return pick, nil
}
