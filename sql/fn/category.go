package fn

import "github.com/tidemarkdb/tidemark/sql/types"

// category is pg_type.typcategory.
func category(t types.Type) byte {
	switch t.Kind {
	case types.Unknown:
		return 'X'
	case types.Bool:
		return 'B'
	case types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric,
		types.OID, types.Regclass, types.Regtype, types.Regproc, types.Regnamespace, types.Regrole, types.Regprocedure:
		return 'N'
	case types.Text, types.Varchar, types.Bpchar, types.Name:
		return 'S'
	case types.Date, types.Time, types.Timestamp, types.TimestampTZ:
		return 'D'
	case types.Interval:
		return 'T'
	case types.Array, types.Int2Vector:
		return 'A'
	case types.Char:
		return 'Z'
	case types.Any, types.AnyElement, types.AnyArray, types.Record, types.Void:
		return 'P'
	}
	return 'U'
}

// preferred is pg_type.typispreferred.
func preferred(t types.Type) bool {
	switch t.Kind {
	case types.Bool, types.Float8, types.OID, types.Text, types.TimestampTZ, types.Interval:
		return true
	}
	return false
}

func polymorphic(t types.Type) bool { return t.Kind == types.AnyElement || t.Kind == types.AnyArray }

// coercible says whether a value of type from may stand implicitly where to is wanted. Polymorphic
// types accept everything here; consistent judges them over the whole signature.
func coercible(from, to types.Type) bool {
	return from.Same(to) || to.Kind == types.Any || polymorphic(to) || from.Kind == types.Unknown || findCast(from, to, Implicit) != noCast
}

// isArray says whether the type is an array for polymorphic arguments.
func isArray(t types.Type) bool { return t.Kind == types.Array || t.Kind == types.Int2Vector }

// consistent applies the rules of polymorphic types to actual arguments, which may be Unknown, and gives
// the element type that they stand for: the zero Type if there is none to find, Unknown if all of them are unknown.
func (f *Func) consistent(params, args []types.Type) (elem types.Type, ok bool) {
	var elems []types.Type
	seen := false
	for i, p := range params {
		if !polymorphic(p) {
			continue
		}
		seen = true
		switch a := args[i]; {
		case a.Kind == types.Unknown:
		case p.Kind == types.AnyArray:
			if !isArray(a) {
				return elem, false
			}
			elems = append(elems, a.ElemType())
		default:
			elems = append(elems, a.NoMod())
		}
	}
	if !seen {
		return types.Type{}, true
	}
	if len(elems) == 0 {
		return types.Of(types.Unknown), true
	}
	elem = elems[0]
	for _, e := range elems[1:] {
		if !f.compat && !e.Same(elem) {
			return elem, false
		}
	}
	if f.compat {
		var err error
		if elem, err = CommonType(elems); err != nil {
			return elem, false
		}
		for _, e := range elems {
			if !coercible(e, elem) {
				return elem, false
			}
		}
	}
	if elem.Kind == types.Array && (f.nonArray || hasArray(params) || f.Result.Kind == types.AnyArray) {
		return elem, false
	}
	return elem, true
}

func hasArray(ts []types.Type) bool {
	for _, t := range ts {
		if t.Kind == types.AnyArray {
			return true
		}
	}
	return false
}

// actual gives the types that the arguments must be brought to, and the result type.
func (f *Func) actual(params, args []types.Type) ([]types.Type, types.Type, error) {
	elem, _ := f.consistent(params, args)
	if elem.Kind == types.Unknown {
		if f.compat {
			elem = types.Of(types.Text)
		} else if usesPoly(params) {
			return nil, types.Type{}, errPolymorphic()
		}
	}
	bind := func(p types.Type) types.Type {
		switch p.Kind {
		case types.AnyElement:
			return elem
		case types.AnyArray:
			return types.ArrayOf(elem)
		}
		return p
	}
	out := make([]types.Type, len(args))
	for i, p := range params {
		out[i] = bind(p)
		switch {
		case p.Kind == types.Any && args[i].Kind == types.Unknown:
			out[i] = types.Of(types.Text)
		case p.Kind == types.Any:
			out[i] = args[i]
		case p.Kind == types.AnyArray && args[i].Kind == types.Int2Vector:
			out[i] = args[i]
		}
	}
	return out, bind(f.Result), nil
}

func usesPoly(ts []types.Type) bool {
	for _, t := range ts {
		if polymorphic(t) {
			return true
		}
	}
	return false
}
