package custom

import (
	"reflect"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// goTypes are the SQL types of Go's kinds where no tag says otherwise.
var goTypes = map[reflect.Kind]types.Kind{reflect.Bool: types.Bool, reflect.Int16: types.Int2, reflect.Int32: types.Int4, reflect.Int64: types.Int8, reflect.Int: types.Int8,
	reflect.Float32: types.Float4, reflect.Float64: types.Float8, reflect.String: types.Text}

// scalarField finds how a value that holds no others is kept.
func scalarField(t reflect.Type, name, sqlType string) (Field, fieldCodec, error) {
	f := Field{Name: name}
	switch k, ok := goTypes[t.Kind()]; {
	case sqlType != "":
		s, err := ParseSchema("value " + sqlType)
		if err != nil {
			return f, fieldCodec{}, err
		}
		f = s.Fields[0]
		f.Name = name
	case t == timeType:
		f.Type = types.Of(types.Timestamp)
	case t == durationType:
		f.Type = types.Of(types.Interval)
	case t == bytesType:
		f.Type = types.Of(types.Bytea)
	case ok:
		f.Type = types.Of(k)
	}
	get := scalarGet(t, f.Type)
	if f.Nest != nil || get == nil {
		return f, fieldCodec{}, sqlerr.New(sqlerr.DatatypeMismatch, "a value of type %s cannot be kept as %s", t, cmpText(f))
	}
	return f, fieldCodec{put: scalarPut(t, f.Type), get: func(d types.Datum, v reflect.Value) {
		if d.Null {
			v.SetZero()
			return
		}
		get(d, v)
	}}, nil
}

func cmpText(f Field) string {
	if f.Nest == nil && f.Type.Kind == types.Unknown {
		return "a value of SQL"
	}
	return f.typeText()
}

// scalarPut gives what turns a Go value into one of a SQL type that scalarGet reads.
func scalarPut(t reflect.Type, st types.Type) func(reflect.Value) (types.Datum, error) {
	switch {
	case t == timeType:
		return func(v reflect.Value) (types.Datum, error) { return DatumOf(st, v.Interface().(time.Time)) }
	case t == durationType:
		return func(v reflect.Value) (types.Datum, error) { return DatumOf(st, time.Duration(v.Int())) }
	case t == bytesType:
		return func(v reflect.Value) (types.Datum, error) {
			if v.IsNil() {
				return types.NullDatum, nil
			}
			return types.Datum{B: v.Bytes()}, nil
		}
	}
	switch t.Kind() {
	case reflect.Bool:
		return func(v reflect.Value) (types.Datum, error) { return types.BoolDatum(v.Bool()), nil }
	case reflect.Float32, reflect.Float64:
		return func(v reflect.Value) (types.Datum, error) { return floatDatum(st, v.Float()) }
	case reflect.String:
		return func(v reflect.Value) (types.Datum, error) { return types.Parse(st, v.String(), nil) }
	}
	return func(v reflect.Value) (types.Datum, error) { return intDatum(st, v.Int()) }
}

// scalarGet gives what reads a value of a SQL type, other than NULL, into a Go value; nil if it does not fit.
func scalarGet(t reflect.Type, st types.Type) func(types.Datum, reflect.Value) {
	switch {
	case t == timeType:
		switch st.Kind {
		case types.Timestamp, types.TimestampTZ:
			return func(d types.Datum, v reflect.Value) { v.Set(reflect.ValueOf(time.UnixMicro(d.I).UTC())) }
		case types.Date:
			return func(d types.Datum, v reflect.Value) { v.Set(reflect.ValueOf(time.Unix(d.I*86400, 0).UTC())) }
		}
		return nil
	case t == durationType:
		if st.Kind != types.Interval {
			return nil
		}
		return func(d types.Datum, v reflect.Value) {
			_, days, us := types.IntervalParts(d.I, d.J)
			v.SetInt(int64(time.Duration(us+int64(days)*86_400_000_000) * time.Microsecond))
		}
	case t == bytesType:
		if st.Kind != types.Bytea {
			return nil
		}
		return func(d types.Datum, v reflect.Value) { v.SetBytes(append([]byte{}, d.B...)) }
	}
	switch t.Kind() {
	case reflect.Bool:
		if st.Kind == types.Bool {
			return func(d types.Datum, v reflect.Value) { v.SetBool(d.I != 0) }
		}
	case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64:
		// The Go type must hold what the SQL type does.
		if wide := map[reflect.Kind]int{reflect.Int16: 1, reflect.Int32: 2}[t.Kind()]; st.Kind.IsInt() && (wide == 0 || rank[st.Kind] <= wide) {
			return func(d types.Datum, v reflect.Value) { v.SetInt(d.I) }
		}
	case reflect.Float32, reflect.Float64:
		if st.Layout() == types.LayoutF64 {
			return func(d types.Datum, v reflect.Value) { v.SetFloat(d.F) }
		}
	case reflect.String:
		if st.Kind == types.Text {
			return func(d types.Datum, v reflect.Value) { v.SetString(string(d.B)) }
		}
		if st.Kind != types.Unknown {
			return func(d types.Datum, v reflect.Value) {
				v.SetString(strings.Clone(types.Format(st, d, types.DefaultEnv())))
			}
		}
	}
	return nil
}
