package custom

import (
	"fmt"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// jsonModule is Starlark's own: json.encode, json.decode, json.indent.
var jsonModule = &starlarkstruct.Module{Name: "json", Members: starlark.StringDict{
	"encode": starlark.NewBuiltin("json.encode", encodeJSON), "decode": json.Module.Members["decode"], "indent": json.Module.Members["indent"]}}

func encodeJSON(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	for i, a := range args {
		if tooDeep(a, maxNesting) {
			return nil, fmt.Errorf("json.encode: the value is nested more than %d levels deep", maxNesting)
		}
		args[i] = plainJSON(a)
	}
	return starlark.Call(th, json.Module.Members["encode"], args, kw)
}

// plainJSON gives a row as a dict, which is what it is in JSON.
func plainJSON(v starlark.Value) starlark.Value {
	if r, ok := v.(*inputRow); ok {
		v = r.whole()
	}
	r, ok := v.(*rowValue)
	if !ok {
		return v
	}
	d := starlark.NewDict(len(r.vals))
	for i, n := range r.names {
		_ = d.SetKey(starlark.String(n), r.vals[i]) // strings can be keys
	}
	return d
}

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
	s, err := encodeJSON(&starlark.Thread{}, nil, starlark.Tuple{v}, nil)
	if err != nil {
		return types.Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "a %s cannot be a value of type %s: %v", v.Type(), t, err)
	}
	return types.Parse(t, string(s.(starlark.String)), types.DefaultEnv())
}
