package custom

import (
	"fmt"
	"math"
	"strconv"
	"time"

	startime "go.starlark.net/lib/time"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

type resolveErrors = resolve.ErrorList

// toStarlark gives a value of a SQL type to a script: integers as int, real and double as float, numeric and text as
// string, times as time values, intervals as durations, json as dicts, lists and scalars, arrays as lists, windows as rows.
func toStarlark(t types.Type, d types.Datum) starlark.Value {
	if d.Null {
		return starlark.None
	}
	switch t.Kind {
	case types.Bool:
		return starlark.Bool(d.I != 0)
	case types.Int2, types.Int4, types.Int8, types.OID:
		return starlark.MakeInt64(d.I)
	case types.Float4, types.Float8:
		return starlark.Float(d.F)
	case types.Text, types.Varchar, types.Bpchar, types.Name, types.Unknown:
		return starlark.String(d.B)
	case types.Bytea:
		return starlark.Bytes(d.B)
	case types.Timestamp, types.TimestampTZ:
		if types.IsFiniteTime(d.I) {
			return startime.Time(time.UnixMicro(d.I).UTC())
		}
	case types.Date:
		if types.IsFiniteTime(d.I) {
			return startime.Time(time.Unix(d.I*86400, 0).UTC())
		}
	case types.Interval:
		if months, days, us := types.IntervalParts(d.I, d.J); months == 0 {
			return startime.Duration(time.Duration(us+int64(days)*86_400_000_000) * time.Microsecond)
		}
	case types.JSON, types.JSONB:
		return jsonToStarlark(d.B)
	case types.Array:
		elem := t.ElemType()
		a := types.DecodeArray(elem, d.B)
		var elems []starlark.Value
		for _, e := range a.Elems() {
			elems = append(elems, toStarlark(elem, e))
		}
		return starlark.NewList(elems)
	case types.Window:
		e := t.ElemType()
		return newRowValue([]string{"start", "end"}, starlark.Tuple{toStarlark(e, types.IntDatum(d.I)), toStarlark(e, types.IntDatum(d.J))})
	}
	return starlark.String(types.Format(t, d, types.DefaultEnv()))
}

// fromStarlark reads a script's value as one of a SQL type; it is the way back of toStarlark. Errors: 42804, 22003 and those of reading text.
func fromStarlark(t types.Type, v starlark.Value) (types.Datum, error) {
	if v == starlark.None {
		return types.NullDatum, nil
	}
	switch t.Kind {
	case types.JSON, types.JSONB:
		return jsonFromStarlark(t, v)
	case types.Array:
		return arrayFromStarlark(t, v)
	}
	switch x := v.(type) {
	case starlark.Bool:
		if t.Kind == types.Bool {
			return types.BoolDatum(bool(x)), nil
		}
	case starlark.Int:
		if i, ok := x.Int64(); ok {
			return intDatum(t, i)
		}
		switch t.Kind {
		case types.Numeric:
			return types.Parse(t, x.String(), types.DefaultEnv())
		case types.Float8, types.Float4:
			return types.FloatDatum(float64(x.Float())), nil
		}
		return types.Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", t)
	case starlark.Float:
		return floatDatum(t, float64(x))
	case starlark.String:
		if t.Kind.IsInt() || t.Layout() == types.LayoutF64 || t.Kind == types.Bool || t.Kind == types.Bytea {
			break // as Spark: no reading of text
		}
		return types.Parse(t, string(x), nil)
	case starlark.Bytes:
		if t.Kind == types.Bytea {
			return types.Datum{B: []byte(x)}, nil
		}
	case startime.Time:
		switch t.Kind {
		case types.Timestamp, types.TimestampTZ, types.Date:
			return DatumOf(t, time.Time(x))
		}
	case startime.Duration:
		if t.Kind == types.Interval {
			return DatumOf(t, time.Duration(x))
		}
	case *rowValue:
		if t.Kind == types.Window && len(x.vals) == 2 {
			a, err := fromStarlark(t.ElemType(), x.vals[0])
			if err != nil {
				return a, err
			}
			b, err := fromStarlark(t.ElemType(), x.vals[1])
			return types.PairDatum(a.I, b.I), err
		}
	}
	return types.Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "a %s cannot be a value of type %s", v.Type(), t)
}

func floatDatum(t types.Type, f float64) (types.Datum, error) {
	switch t.Kind {
	case types.Float8:
		return types.FloatDatum(f), nil
	case types.Float4:
		if math.Abs(f) > math.MaxFloat32 && !math.IsInf(f, 0) {
			return types.Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", t)
		}
		return types.FloatDatum(float64(float32(f))), nil
	case types.Numeric:
		return types.Parse(t, strconv.FormatFloat(f, 'g', -1, 64), types.DefaultEnv())
	}
	return types.Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "a float cannot be a value of type %s", t)
}

func arrayFromStarlark(t types.Type, v starlark.Value) (types.Datum, error) {
	it := starlark.Iterate(v)
	if it == nil {
		return types.Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "a %s cannot be a value of type %s", v.Type(), t)
	}
	defer it.Done()
	elem := t.ElemType()
	var elems []types.Datum
	var x starlark.Value
	for it.Next(&x) {
		d, err := fromStarlark(elem, x)
		if err != nil {
			return d, err
		}
		elems = append(elems, d)
	}
	return types.Datum{B: types.AppendArray(nil, elem, elems)}, nil
}

// builtins are what a script has beside Starlark's own: nothing that tells the time, a random number or of the world.
var builtins = starlark.StringDict{
	"millis":    starlark.NewBuiltin("millis", millisFn),
	"timestamp": starlark.NewBuiltin("timestamp", timestampFn),
	"Row":       starlark.NewBuiltin("Row", rowFn),
	"json":      jsonModule,
}

func init() { addGuards(builtins) }

// millisFn is millis(t): milliseconds since 1970 UTC, rounded down.
func millisFn(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kw, 1, &v); err != nil {
		return nil, err
	}
	switch t := v.(type) {
	case startime.Time:
		return starlark.MakeInt64(time.Time(t).UnixMilli()), nil
	case startime.Duration:
		return starlark.MakeInt64(time.Duration(t).Milliseconds()), nil
	}
	return nil, fmt.Errorf("millis: got %s, want a time", v.Type())
}

// timestampFn is timestamp(ms): the time so many milliseconds after 1970 UTC.
func timestampFn(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	var ms int64
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kw, 1, &ms); err != nil {
		return nil, err
	}
	return startime.Time(time.UnixMilli(ms).UTC()), nil
}

// rowFn is Row(a = 1, b = 2), or Row(1, 2).
func rowFn(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	if len(args) > 0 && len(kw) > 0 {
		return nil, fmt.Errorf("Row: positional and named values cannot be mixed")
	}
	if len(kw) == 0 {
		return args, nil
	}
	names, vals := make([]string, len(kw)), make(starlark.Tuple, len(kw))
	for i, p := range kw {
		names[i], vals[i] = string(p[0].(starlark.String)), p[1]
	}
	return newRowValue(names, vals), nil
}
