package custom

import (
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// fromGo turns Go values into those of a schema's fields, which it puts into out.
func fromGo(out []types.Datum, s *Schema, vals []any) ([]types.Datum, error) {
	if len(vals) != len(s.Fields) {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "%d values given for %d fields (%s)", len(vals), len(s.Fields), s)
	}
	for i, x := range vals {
		d, err := DatumOf(s.Fields[i].Type, x)
		if err != nil {
			return nil, err
		}
		out[i] = d
	}
	return out, nil
}

// DatumOf turns a Go value into one of a type: nil, bool, int, int64, float64, string, []byte, time.Time, time.Duration or a
// types.Datum, which is taken as it is. A string is read as a value of any type, as PostgreSQL reads a literal. Errors: 42804, 22003 and
// those of reading, such as 22021 for text that is not UTF-8.
func DatumOf(t types.Type, x any) (types.Datum, error) {
	switch v := x.(type) {
	case nil:
		return types.NullDatum, nil
	case types.Datum:
		return v, nil
	case int:
		return intDatum(t, int64(v))
	case int64:
		return intDatum(t, v)
	case bool:
		if t.Kind == types.Bool {
			return types.BoolDatum(v), nil
		}
	case float64:
		switch {
		case t.Layout() == types.LayoutF64:
			return types.FloatDatum(v), nil
		case t.Kind == types.Numeric:
			return types.Parse(t, strconv.FormatFloat(v, 'g', -1, 64), types.DefaultEnv())
		}
	case string:
		return types.Parse(t, v, nil)
	case []byte:
		switch t.Kind {
		case types.Bytea:
			return types.Datum{B: v}, nil
		case types.Text:
			return types.Parse(t, string(v), nil)
		}
	case time.Time:
		switch t.Kind {
		case types.Timestamp, types.TimestampTZ:
			return types.IntDatum(v.UnixMicro()), nil
		case types.Date:
			return types.IntDatum(floorDiv(v.Unix(), 86400)), nil
		}
	case time.Duration:
		if t.Kind == types.Interval {
			return types.IntervalDatum(0, 0, v.Microseconds()), nil
		}
	}
	return types.Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "a value of type %s is given for a field of type %s", typeName(x), t)
}

// typeName is the name of a value's Go type. (Formatting the value would move it to the heap, also where there is no error.)
func typeName(x any) string { return reflect.TypeOf(x).String() }

// intDatum makes an integer a value of a numeric type.
func intDatum(t types.Type, v int64) (types.Datum, error) {
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	switch t.Kind {
	case types.Int2:
		lo, hi = math.MinInt16, math.MaxInt16
	case types.Int4:
		lo, hi = math.MinInt32, math.MaxInt32
	case types.Int8:
	case types.Float4, types.Float8:
		return types.FloatDatum(float64(v)), nil
	case types.Numeric:
		return types.CoerceMod(t, types.FromInt64(v).Datum(), false)
	default:
		return types.Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "an integer is given for a field of type %s", t)
	}
	if v < lo || v > hi {
		return types.Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", t)
	}
	return types.IntDatum(v), nil
}

// Lookup gives the value of the entry whose user key is given as Go values; false if there is none.
func (s *MapState) Lookup(userKey ...any) (Row, bool, error) {
	k, err := fromGo(s.v.h.datums(len(userKey)), s.v.user.schema, userKey)
	if err != nil {
		return Row{}, false, err
	}
	return s.GetValue(k)
}

// Set sets the entry of a user key, both given as Go values.
func (s *MapState) Set(userKey []any, vals ...any) error {
	k, err := fromGo(s.v.h.datums(len(userKey)), s.v.user.schema, userKey)
	if err != nil {
		return err
	}
	ds, err := fromGo(s.v.h.datums(len(vals)), s.v.val, vals)
	if err != nil {
		return err
	}
	return s.UpdateValue(k, ds)
}

// Remove removes the entry of a user key given as Go values.
func (s *MapState) Remove(userKey ...any) error {
	k, err := fromGo(s.v.h.datums(len(userKey)), s.v.user.schema, userKey)
	if err != nil {
		return err
	}
	return s.RemoveKey(k)
}

// Each calls f for every entry in order of the user key, until it gives an error.
func (s *MapState) Each(f func(key, value Row) error) error {
	var at []byte
	for {
		es, next, err := s.Page(at, pageSize)
		if err != nil {
			return err
		}
		for _, e := range es {
			if err := f(e.Key, e.Value); err != nil {
				return err
			}
		}
		if next == nil {
			return nil
		}
		at = next
	}
}

// Each calls f for every element in order, until it gives an error.
func (s *ListState) Each(f func(Row) error) error {
	at := int64(-1)
	for {
		rows, next, err := s.Page(at, pageSize)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := f(r); err != nil {
				return err
			}
		}
		if next < 0 {
			return nil
		}
		at = next
	}
}
