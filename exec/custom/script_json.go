package custom

import (
	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// jsonModule is Starlark's own: json.encode, json.decode, json.indent.
var jsonModule = json.Module

// jsonToStarlark gives a JSON text as dicts, lists and scalars; a text that Starlark's decoder does not take stays a string.
func jsonToStarlark(b []byte) starlark.Value {
	v, err := starlark.Call(&starlark.Thread{}, json.Module.Members["decode"], starlark.Tuple{starlark.String(b)}, nil)
	if err != nil {
		return starlark.String(b)
	}
	return v
}

// jsonFromStarlark encodes a value as json or jsonb.
func jsonFromStarlark(t types.Type, v starlark.Value) (types.Datum, error) {
	if r, ok := v.(*inputRow); ok {
		v = r.whole()
	}
	if r, ok := v.(*rowValue); ok {
		f, _ := r.Attr("asDict")
		v, _ = starlark.Call(&starlark.Thread{}, f, nil, nil)
	}
	s, err := starlark.Call(&starlark.Thread{}, json.Module.Members["encode"], starlark.Tuple{v}, nil)
	if err != nil {
		return types.Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "a %s cannot be a value of type %s: %v", v.Type(), t, err)
	}
	return types.Parse(t, string(s.(starlark.String)), types.DefaultEnv())
}
