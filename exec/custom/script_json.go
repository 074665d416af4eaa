package custom

import (
	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// jsonModule is Starlark's own: json.encode, json.decode, json.indent.
var jsonModule = &starlarkstruct.Module{Name: "json", Members: starlark.StringDict{
	"encode": starlark.NewBuiltin("json.encode", encodeJSON), "decode": guardedJSON("decode", func(s string, _ starlark.Tuple) int64 { return 2 * valueBytes * int64(len(s)) }),
	"indent": guardedJSON("indent", indentCost)}}

// guardedJSON charges what a function of a JSON text gives.
func guardedJSON(name string, c func(text string, rest starlark.Tuple) int64) *starlark.Builtin {
	f := json.Module.Members[name].(*starlark.Builtin)
	return starlark.NewBuiltin("json."+name, func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		if len(args) > 0 {
			if s, ok := args[0].(starlark.String); ok {
				rest := append(starlark.Tuple(nil), args[1:]...)
				for _, k := range kw {
					rest = append(rest, k[1])
				}
				if err := accountOf(th).charge(c(string(s), rest)); err != nil {
					return nil, err
				}
			}
		}
		return f.CallInternal(th, args, kw)
	})
}

// indentCost is that of json.indent: each bracket and comma begins a line with the prefix and as many indents as it is deep.
func indentCost(text string, rest starlark.Tuple) int64 {
	unit, lines, depth, deepest := int64(4), int64(1), int64(0), int64(0)
	for _, a := range rest {
		unit += length(a)
	}
	for _, c := range []byte(text) {
		switch c {
		case '[', '{':
			lines, depth = lines+2, depth+1
			deepest = max(deepest, depth)
		case ']', '}':
			depth--
		case ',':
			lines++
		}
	}
	return int64(len(text)) + product(product(lines, deepest+1), unit)
}

func encodeJSON(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	if err := pay(th, texts, nil, args, kw); err != nil {
		return nil, err
	}
	for i, a := range args {
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
