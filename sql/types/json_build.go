package types

import "strconv"

// AppendJSONValue appends a value as JSON in UTC, as PostgreSQL's to_json does:
// numbers and booleans plain, times in ISO form with T, json as it is, arrays
// as arrays, windows as {"start": ..., "end": ...}, records as {"f1": ...},
// everything else as a string of its text form; NULL as null. The text is
// valid JSON but not canonical jsonb: for that, put it through AppendJSONB.
func AppendJSONValue(dst []byte, t Type, d Datum) []byte {
	return AppendJSONValueEnv(dst, t, d, defaultEnv)
}

// AppendJSONValueEnv is AppendJSONValue in the time zone and float format of env.
func AppendJSONValueEnv(dst []byte, t Type, d Datum, env *Env) []byte {
	if d.Null {
		return append(dst, "null"...)
	}
	if env == nil {
		env = defaultEnv
	}
	switch t.Kind {
	case Bool:
		return strconv.AppendBool(dst, d.I != 0)
	case Int2, Int4, Int8:
		return strconv.AppendInt(dst, d.I, 10)
	case Float4, Float8, Numeric:
		start := len(dst)
		dst = Append(dst, t, d, env)
		if c := dst[len(dst)-1]; c == 'N' || c == 'y' { // NaN, Infinity
			return quoteTail(dst, start, false)
		}
		return dst
	case JSON, JSONB:
		return append(dst, d.B...)
	case Date:
		return append(AppendDate(append(dst, '"'), d.I), '"')
	case Timestamp:
		return append(AppendTimestamp(append(dst, '"'), d.I, 'T'), '"')
	case TimestampTZ:
		return append(AppendTimestampTZ(append(dst, '"'), d.I, 'T', env.Location), '"')
	case Array, Int2Vector:
		a := DecodeArray(t.ElemType(), d.B)
		if a.N == 0 {
			return append(dst, "[]"...)
		}
		return appendJSONArray(dst, &a, 0, env)
	case Window:
		dst = AppendJSONValueEnv(append(dst, `{"start":`...), t.ElemType(), Datum{I: d.I}, env)
		dst = AppendJSONValueEnv(append(dst, `,"end":`...), t.ElemType(), Datum{I: d.J}, env)
		return append(dst, '}')
	case Record:
		return appendJSONRecord(dst, d.B, env)
	case Text, Varchar, Bpchar, Name, Unknown:
		return AppendJSONString(dst, d.B)
	}
	var buf [64]byte
	return AppendJSONString(dst, Append(buf[:0], t, d, env))
}

// appendJSONRecord appends a record as an object; fields without names are f1, f2, ...
func appendJSONRecord(dst, b []byte, env *Env) []byte {
	r, names := DecodeRecord(b), RecordNames(b)
	dst = append(dst, '{')
	for i := 0; r.N > 0; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		if i < len(names) {
			dst = AppendJSONString(dst, []byte(names[i]))
		} else {
			dst = append(strconv.AppendInt(append(dst, `"f`...), int64(i+1), 10), '"')
		}
		ft, fd := r.Next()
		dst = AppendJSONValueEnv(append(dst, ':'), ft, fd, env)
	}
	return append(dst, '}')
}

func appendJSONArray(dst []byte, a *ArrayValue, depth int, env *Env) []byte {
	dst = append(dst, '[')
	for i := 0; i < a.Dims[depth].Len; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		if depth+1 < a.NDim {
			dst = appendJSONArray(dst, a, depth+1, env)
		} else {
			dst = AppendJSONValueEnv(dst, a.Elem, a.Next(), env)
		}
	}
	return append(dst, ']')
}
