package kernel

import (
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// orNull makes the result of a look-up: SQL NULL where there is nothing.
func orNull(v []byte, ok bool) (types.Datum, error) { return types.Datum{B: v, Null: !ok}, nil }

// asText is orNull for the text of the value found.
func asText(v []byte, ok bool) (types.Datum, error) {
	if !ok {
		return types.NullDatum, nil
	}
	b, null := types.JSONText(v)
	return types.Datum{B: b, Null: null}, nil
}

type found = func(v []byte, ok bool) (types.Datum, error)

// jsonField is -> text, jsonElem -> integer, jsonPath #>, each with the form of its result.
func jsonField(r found) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) {
		key, _ := cached(f, a[1].B, func(b []byte) (string, error) { return string(b), nil })
		return r(types.JSONGet(a[0].B, key))
	}}
}

func jsonElem(r found) impl {
	return plain(func(a []types.Datum) (types.Datum, error) { return r(types.JSONIndex(a[0].B, int(a[1].I))) })
}

func jsonPath(r found) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) {
		path, err := f.textArray(a[1].B)
		if err != nil {
			return types.NullDatum, nil // a NULL step
		}
		return r(types.JSONPath(a[0].B, path))
	}}
}

// jsonExtract is json_extract_path: the steps are arguments.
func jsonExtract(r found) impl {
	return plain(func(a []types.Datum) (types.Datum, error) {
		path := make([]string, len(a)-1)
		for i, d := range a[1:] {
			path[i] = string(d.B)
		}
		return r(types.JSONPath(a[0].B, path))
	})
}

// textArray reads a text[] argument, kept between rows; an error where an element is NULL.
func (f *frame) textArray(b []byte) ([]string, error) {
	return cached(f, b, func(b []byte) ([]string, error) {
		arr := types.DecodeArray(types.Of(types.Text), b)
		out := make([]string, arr.N)
		for i := range out {
			d := arr.Next()
			if d.Null {
				return nil, sqlerr.New(sqlerr.NullValueNotAllowed, "path element at position %d is null", i+1)
			}
			out[i] = string(d.B)
		}
		return out, nil
	})
}

func invalid(format string, args ...any) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
}

func jsonArrayLength(f *frame, a []types.Datum) (types.Datum, error) {
	switch types.JSONTypeOf(a[0].B) {
	case types.JSONArray:
		return types.IntDatum(int64(types.JSONLen(a[0].B))), nil
	case types.JSONObject:
		return types.Datum{}, invalid("cannot get array length of a non-array")
	}
	return types.Datum{}, invalid("cannot get array length of a scalar")
}

var jsonTypeof = textOf(func(dst, s []byte) []byte { return append(dst, types.JSONTypeOf(s).String()...) })

// jsonAny makes ?| (all false) and ?& (all true); NULL elements do not count.
func jsonAny(all bool) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) {
		arr := types.DecodeArray(types.Of(types.Text), a[1].B)
		for ; arr.N > 0; arr.N-- {
			d := arr.Next()
			if !d.Null && types.JSONExists(a[0].B, string(d.B)) != all {
				return types.BoolDatum(!all), nil
			}
		}
		return types.BoolDatum(all), nil
	}}
}

// jsonSet makes jsonb_set and jsonb_insert; flag is what stands for a missing fourth argument.
func jsonSet(insert, flag bool) impl {
	return impl{text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		path, err := f.textArray(a[1].B)
		if err != nil {
			return dst, err
		}
		on := flag
		if len(a) == 4 {
			on = a[3].I != 0
		}
		if insert {
			return types.AppendJSONInsert(dst, a[0].B, path, a[2].B, on)
		}
		return types.AppendJSONSet(dst, a[0].B, path, a[2].B, on)
	}}
}

// jsonImpls are the operators on json and the functions that take it apart or change it.
var jsonImpls = map[string]impl{
	"json -> text": jsonField(orNull), "jsonb -> text": jsonField(orNull),
	"json ->> text": jsonField(asText), "jsonb ->> text": jsonField(asText),
	"json -> int4": jsonElem(orNull), "jsonb -> int4": jsonElem(orNull),
	"json ->> int4": jsonElem(asText), "jsonb ->> int4": jsonElem(asText),
	"json #> text[]": jsonPath(orNull), "jsonb #> text[]": jsonPath(orNull),
	"json #>> text[]": jsonPath(asText), "jsonb #>> text[]": jsonPath(asText),
	"json_extract_path(json,text)": jsonExtract(orNull), "jsonb_extract_path(jsonb,text)": jsonExtract(orNull),
	"json_extract_path_text(json,text)": jsonExtract(asText), "jsonb_extract_path_text(jsonb,text)": jsonExtract(asText),

	"jsonb @> jsonb":  boolOf(func(a []types.Datum) bool { return types.JSONContains(a[0].B, a[1].B) }),
	"jsonb <@ jsonb":  boolOf(func(a []types.Datum) bool { return types.JSONContains(a[1].B, a[0].B) }),
	"jsonb ? text":    boolOf(func(a []types.Datum) bool { return types.JSONExists(a[0].B, string(a[1].B)) }),
	"jsonb ?| text[]": jsonAny(false),
	"jsonb ?& text[]": jsonAny(true),
	"jsonb || jsonb": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		return types.AppendJSONConcat(dst, a[0].B, a[1].B), nil
	}},
	"jsonb - text": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		return types.AppendJSONDelete(dst, a[0].B, string(a[1].B))
	}},
	"jsonb - text[]": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		var keys []string
		for arr := types.DecodeArray(types.Of(types.Text), a[1].B); arr.N > 0; arr.N-- {
			if d := arr.Next(); !d.Null {
				keys = append(keys, string(d.B))
			}
		}
		return types.AppendJSONDelete(dst, a[0].B, keys...)
	}},
	"jsonb - int4": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		return types.AppendJSONDeleteIndex(dst, a[0].B, int(a[1].I))
	}},
	"jsonb #- text[]": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		path, err := f.textArray(a[1].B)
		if err != nil {
			return dst, err
		}
		return types.AppendJSONDeletePath(dst, a[0].B, path)
	}},

	"json_typeof(json)":                     jsonTypeof,
	"jsonb_typeof(jsonb)":                   jsonTypeof,
	"json_array_length(json)":               {row: jsonArrayLength},
	"jsonb_array_length(jsonb)":             {row: jsonArrayLength},
	"jsonb_set(jsonb,text[],jsonb)":         jsonSet(false, true),
	"jsonb_set(jsonb,text[],jsonb,bool)":    jsonSet(false, true),
	"jsonb_insert(jsonb,text[],jsonb)":      jsonSet(true, false),
	"jsonb_insert(jsonb,text[],jsonb,bool)": jsonSet(true, false),
	"jsonb_strip_nulls(jsonb)": textOf(func(dst, s []byte) []byte {
		return types.AppendJSONStripNulls(dst, s, false)
	}),
	"json_strip_nulls(json)": textOf(func(dst, s []byte) []byte { return types.AppendJSONStripNulls(dst, s, true) }),
	"jsonb_pretty(jsonb)":    textOf(types.AppendJSONPretty),
}
