package kernel

import (
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// canonical makes the jsonb form of a function that writes json.
func canonical(g textFunc) textFunc {
	return func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		b, err := g(f, f.scratch[:0], a)
		f.scratch = b[:0]
		if err != nil {
			return dst, err
		}
		return types.AppendJSONB(dst, b)
	}
}

func buildArray(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	dst = append(dst, '[')
	for i, d := range a {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = types.AppendJSONValueEnv(dst, f.argTypes[i], d, f.env)
	}
	return append(dst, ']'), nil
}

func buildObject(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	if len(a)%2 != 0 {
		e := sqlerr.New(sqlerr.InvalidParameterValue, "argument list must have even number of elements")
		return dst, e.WithHint("The arguments of %s() must consist of alternating keys and values.", f.jsonName("build_object"))
	}
	dst = append(dst, '{')
	for i := 0; i < len(a); i += 2 {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		var err error
		if dst, err = f.appendKey(dst, i, a[i]); err != nil {
			return dst, err
		}
		dst = types.AppendJSONValueEnv(append(dst, " : "...), f.argTypes[i+1], a[i+1], f.env)
	}
	return append(dst, '}'), nil
}

func (f *frame) jsonName(tail string) string { return f.typ.InternalName() + "_" + tail }

// appendKey appends argument i as the key of a member.
func (f *frame) appendKey(dst []byte, i int, d types.Datum) ([]byte, error) {
	if d.Null {
		if f.typ.Kind == types.JSONB {
			return dst, invalid("argument %d: key must not be null", i+1)
		}
		return dst, sqlerr.New(sqlerr.InvalidParameterValue, "argument %d cannot be null", i+1).
			WithHint("Object keys should be text.")
	}
	switch t := f.argTypes[i]; t.Kind {
	case types.Array, types.Record, types.Window, types.JSON, types.JSONB:
		return dst, invalid("key value must be scalar, not array, composite, or json")
	case types.Bool:
		if d.I != 0 {
			return append(dst, `"true"`...), nil
		}
		return append(dst, `"false"`...), nil
	default:
		var buf [64]byte
		return types.AppendJSONString(dst, types.Append(buf[:0], t, d, f.env)), nil
	}
}

func toJSON(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	return types.AppendJSONValueEnv(dst, f.argTypes[0], a[0], f.env), nil
}

// toJSONLines is the form with a second argument, which asks for a line feed between the outermost elements.
func toJSONLines(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	if a[1].I == 0 {
		return toJSON(f, dst, a)
	}
	f.scratch = types.AppendJSONValueEnv(f.scratch[:0], f.argTypes[0], a[0], f.env)
	open, end := byte('['), byte(']')
	if types.JSONTypeOf(f.scratch) == types.JSONObject {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	first := true
	for it := types.IterJSON(f.scratch); it.Next(); first = false {
		if !first {
			dst = append(dst, ",\n "...)
		}
		if it.Key != nil {
			dst = append(append(dst, it.Key...), ':')
		}
		dst = append(dst, it.Value...)
	}
	return append(dst, end), nil
}

// jsonObject makes an object of strings from one array of pairs or two arrays.
func jsonObject(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	text := types.Of(types.Text)
	keys := types.DecodeArray(text, a[0].B)
	vals := keys
	n := keys.N
	switch {
	case len(a) == 2:
		vals = types.DecodeArray(text, a[1].B)
		if keys.NDim > 1 || keys.NDim != vals.NDim {
			return dst, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
		}
		if keys.N != vals.N {
			return dst, sqlerr.New(sqlerr.ArraySubscriptError, "mismatched array dimensions")
		}
	case keys.NDim > 2:
		return dst, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
	case keys.NDim == 2 && keys.Dims[1].Len != 2:
		return dst, sqlerr.New(sqlerr.ArraySubscriptError, "array must have two columns")
	case n%2 != 0:
		return dst, sqlerr.New(sqlerr.ArraySubscriptError, "array must have even number of elements")
	default:
		n /= 2
	}
	dst = append(dst, '{')
	for i := 0; i < n; i++ {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		k := keys.Next()
		if k.Null {
			return dst, sqlerr.New(sqlerr.NullValueNotAllowed, "null value not allowed for object key")
		}
		var v types.Datum
		if len(a) == 2 {
			v = vals.Next()
		} else {
			v = keys.Next()
		}
		dst = types.AppendJSONString(dst, k.B)
		dst = append(dst, " : "...)
		if v.Null {
			dst = append(dst, "null"...)
		} else {
			dst = types.AppendJSONString(dst, v.B)
		}
	}
	return append(dst, '}'), nil
}

// jsonBuildImpls are the functions that make json.
var jsonBuildImpls = map[string]impl{
	"json_build_array()":           {text: buildArray},
	"json_build_array(any)":        {text: buildArray},
	"json_build_object()":          {text: buildObject},
	"json_build_object(any)":       {text: buildObject},
	"jsonb_build_array()":          {text: canonical(buildArray)},
	"jsonb_build_array(any)":       {text: canonical(buildArray)},
	"jsonb_build_object()":         {text: canonical(buildObject)},
	"jsonb_build_object(any)":      {text: canonical(buildObject)},
	"to_json(anyelement)":          {text: toJSON},
	"to_jsonb(anyelement)":         {text: canonical(toJSON)},
	"row_to_json(record)":          {text: toJSON},
	"row_to_json(record,bool)":     {text: toJSONLines},
	"array_to_json(anyarray)":      {text: toJSON},
	"array_to_json(anyarray,bool)": {text: toJSONLines},
	"json_object(text[])":          {text: jsonObject},
	"json_object(text[],text[])":   {text: jsonObject},
	"jsonb_object(text[])":         {text: canonical(jsonObject)},
	"jsonb_object(text[],text[])":  {text: canonical(jsonObject)},
}
