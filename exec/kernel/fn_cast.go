package kernel

import (
	"math"
	"strconv"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// castImpl makes the conversion from one type to another, with to's modifier. explicit cuts strings that are
// too long; otherwise they are errors.
func castImpl(from, to types.Type, explicit bool) impl {
	if im, ok := vecCast(from, to); ok {
		return im
	}
	if to.Layout() == types.LayoutBytes {
		return impl{text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
			return appendCast(f, dst, from, to, explicit, a[0])
		}}
	}
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) {
		d, err := fixedCast(f, from, to, a[0])
		if err != nil || to.Mod == 0 {
			return d, err
		}
		return types.CoerceMod(to, d, explicit)
	}}
}

// vecCast gives the conversions that are loops.
func vecCast(from, to types.Type) (impl, bool) {
	g, toInt := intRanges[to.Kind]
	switch {
	case from.Kind.IsInt() && toInt:
		return intUnary(func(a int64) (int64, error) {
			if a < g.lo || a > g.hi {
				return 0, g.err()
			}
			return a, nil
		}), true
	case from.Kind.IsInt() && (to.Kind == types.Float8 || to.Kind == types.Float4):
		single := to.Kind == types.Float4
		return impl{vec: func(v *vecNode, c *ctx, sel []int32, n int) {
			x, out, m := v.ops[0].v.I64, v.out.F64, v.ops[0].mask()
			v.eachRow(sel, n, func(i int) {
				if single {
					out[i] = float64(float32(x[i&m]))
				} else {
					out[i] = float64(x[i&m])
				}
			})
		}}, true
	case from.Kind == types.Date && to.Kind == types.Timestamp && to.Mod == 0:
		return intUnary(types.DateToTimestamp), true
	case from.Kind == types.Timestamp && to.Kind == types.Date:
		return intUnary(func(a int64) (int64, error) { return types.TimestampToDate(a), nil }), true
	}
	return impl{}, false
}

// castDatum converts one value; the result may alias d or own new memory.
func castDatum(f *frame, from, to types.Type, explicit bool, d types.Datum) (types.Datum, error) {
	if d.Null {
		return d, nil
	}
	if to.Layout() == types.LayoutBytes {
		b, err := appendCast(f, nil, from, to, explicit, d)
		return types.Datum{B: b}, err
	}
	d, err := fixedCast(f, from, to, d)
	if err != nil || to.Mod == 0 {
		return d, err
	}
	return types.CoerceMod(to, d, explicit)
}

// appendCast converts to a type of LayoutBytes.
func appendCast(f *frame, dst []byte, from, to types.Type, explicit bool, d types.Datum) ([]byte, error) {
	start := len(dst)
	dst, err := appendCastPlain(f, dst, from, to, explicit, d)
	if err != nil || to.Mod == 0 && to.Kind != types.Name || to.Kind == types.Array {
		return dst, err
	}
	if to.Kind == types.Numeric {
		n, err := types.NumDecode(dst[start:]).ApplyTypmod(to.Mod)
		return n.AppendTo(dst[:start]), err
	}
	r, err := types.CoerceMod(to, types.Datum{B: dst[start:]}, explicit)
	return append(dst[:start], r.B...), err
}

func appendCastPlain(f *frame, dst []byte, from, to types.Type, explicit bool, d types.Datum) ([]byte, error) {
	switch {
	case to.Kind == types.Array && from.Kind == types.Array:
		return castArray(f, dst, from, to, explicit, d)
	case from.NoMod() == to.NoMod():
		return append(dst, d.B...), nil
	case to.Kind == types.Name && from.Kind == types.Bool: // no cast function, so as output has it
		return types.Append(dst, from, d, f.env), nil
	case to.Kind.IsString():
		return appendText(f, dst, from, d)
	case from.Kind.IsString():
		r, err := types.Parse(to.NoMod(), string(d.B), f.env)
		return append(dst, r.B...), err
	case to.Kind == types.Numeric:
		n, err := toNum(from, d)
		if err != nil {
			return dst, err
		}
		return n.AppendTo(dst), nil
	case to.Kind == types.JSONB:
		return types.AppendJSONB(dst, d.B)
	case from.Layout() == types.LayoutBytes:
		return append(dst, d.B...), nil
	}
	return dst, errNoCast(from, to)
}

func errNoCast(from, to types.Type) error {
	return sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %s to %s", from, to)
}

// appendText converts a value to text as a cast does.
func appendText(f *frame, dst []byte, from types.Type, d types.Datum) ([]byte, error) {
	switch from.Kind {
	case types.Bool:
		return strconv.AppendBool(dst, d.I != 0), nil
	case types.Bpchar:
		return append(dst, trimRight(d.B, ' ')...), nil
	}
	return types.Append(dst, from, d, f.env), nil
}

func trimRight(b []byte, c byte) []byte {
	n := len(b)
	for n > 0 && b[n-1] == c {
		n--
	}
	return b[:n]
}

func toNum(from types.Type, d types.Datum) (types.Num, error) {
	switch from.Kind {
	case types.Float4:
		return types.FromFloat32(float32(d.F)), nil
	case types.Float8:
		return types.FromFloat64(d.F), nil
	case types.JSONB:
		if k := types.JSONTypeOf(d.B); k.String() != "number" {
			return types.Num{}, errJSONCast(k.String(), types.Of(types.Numeric))
		}
		return types.NumParse(string(d.B))
	}
	return types.FromInt64(d.I), nil
}

func errJSONCast(kind string, to types.Type) error {
	if kind == "number" {
		kind = "numeric"
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "cannot cast jsonb %s to type %s", kind, to.NoMod())
}

// castArray converts element by element.
func castArray(f *frame, dst []byte, from, to types.Type, explicit bool, d types.Datum) ([]byte, error) {
	fe, te := from.ElemType(), to.ElemType()
	te.Mod = to.Mod
	a := types.DecodeArray(fe, d.B)
	elems := make([]types.Datum, a.N)
	for i := range elems {
		e, err := castDatum(f, fe, te, explicit, a.Next())
		if err != nil {
			return dst, err
		}
		elems[i] = e
	}
	return types.AppendArrayDims(dst, te, a.Dims[:a.NDim], elems)
}

// fixedCast converts to a type of fixed width, without modifier.
func fixedCast(f *frame, from, to types.Type, d types.Datum) (types.Datum, error) {
	if from.NoMod() == to.NoMod() {
		return d, nil
	}
	if from.Kind.IsString() {
		return parseText(f, to, d)
	}
	switch from.Kind {
	case types.JSONB:
		return jsonToFixed(f, to, d)
	case types.Float4, types.Float8:
		return floatTo(to, d.F)
	case types.Numeric:
		return numericTo(to, num(d))
	case types.Date, types.Time, types.Timestamp, types.TimestampTZ, types.Interval:
		return timeTo(f, from, to, d)
	}
	if from.Kind == types.OID && to.Kind == types.Int4 { // the same four bytes
		return types.IntDatum(int64(int32(d.I))), nil
	}
	if g, ok := intRanges[to.Kind]; ok {
		if d.I < g.lo || d.I > g.hi {
			return d, g.err()
		}
		if from.Kind == types.Char {
			d.I = int64(int8(d.I))
		}
		return d, nil
	}
	switch to.Kind {
	case types.Bool:
		return types.BoolDatum(d.I != 0), nil
	case types.Char:
		if d.I < -128 || d.I > 127 {
			return d, sqlerr.New(sqlerr.NumericValueOutOfRange, `"char" out of range`)
		}
		return types.IntDatum(d.I & 0xff), nil
	case types.OID, types.Regclass, types.Regtype, types.Regproc, types.Regnamespace, types.Regrole, types.Regprocedure:
		if from.Kind == types.Int8 && (d.I < 0 || d.I > math.MaxUint32) {
			return d, sqlerr.New(sqlerr.NumericValueOutOfRange, "OID out of range")
		}
		return types.IntDatum(int64(uint32(d.I))), nil
	case types.Float4, types.Float8:
		return types.FloatDatum(float64(d.I)), nil
	}
	return d, errNoCast(from, to)
}

// parseText reads text as a value of fixed width.
func parseText(f *frame, to types.Type, d types.Datum) (types.Datum, error) {
	s := string(d.B)
	return types.Parse(to.NoMod(), s, f.env)
}

func jsonToFixed(f *frame, to types.Type, d types.Datum) (types.Datum, error) {
	kind := types.JSONTypeOf(d.B).String()
	switch {
	case to.Kind == types.Bool && kind == "boolean":
		return types.BoolDatum(d.B[0] == 't'), nil
	case to.Kind == types.Bool || kind != "number":
		return d, errJSONCast(kind, to)
	}
	n, err := types.NumParse(string(d.B))
	if err != nil {
		return d, err
	}
	return numericTo(to, n)
}

func floatTo(to types.Type, x float64) (types.Datum, error) {
	switch to.Kind {
	case types.Float8:
		return types.FloatDatum(x), nil
	case types.Float4:
		r := float64(float32(x))
		switch {
		case math.IsInf(r, 0) && !math.IsInf(x, 0):
			return types.Datum{}, errFloatOver
		case r == 0 && x != 0:
			return types.Datum{}, errFloatUnder
		}
		return types.FloatDatum(r), nil
	}
	g := intRanges[to.Kind]
	r := math.RoundToEven(x)
	// The upper bounds of bigint are not floats themselves.
	if x != x || r < float64(g.lo) || r >= -float64(g.lo) {
		return types.Datum{}, g.err()
	}
	return types.IntDatum(int64(r)), nil
}

func numericTo(to types.Type, n types.Num) (types.Datum, error) {
	var i int64
	var err error
	switch to.Kind {
	case types.Int2:
		i, err = n.ToInt16()
	case types.Int4:
		i, err = n.ToInt32()
	case types.Int8:
		i, err = n.ToInt64()
	default:
		x := n.ToFloat64()
		if to.Kind == types.Float4 {
			x = numToFloat32(n)
		}
		if math.IsInf(x, 0) && !n.IsInf() || x == 0 && !n.IsZero() {
			return types.Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "%q is out of range for type %s", n.String(), to.NoMod())
		}
		return types.FloatDatum(x), nil
	}
	return types.IntDatum(i), err
}

// numToFloat32 rounds once, not by way of a double.
func numToFloat32(n types.Num) float64 {
	if n.IsNaN() || n.IsInf() {
		return n.ToFloat64()
	}
	x, _ := strconv.ParseFloat(n.String(), 32)
	return x
}

// timeTo converts among dates, times, timestamps and intervals.
func timeTo(f *frame, from, to types.Type, d types.Datum) (types.Datum, error) {
	loc := f.env.Location
	switch from.Kind {
	case types.Time: // to interval
		return types.PairDatum(d.I, 0), nil
	case types.Interval: // to time
		us := d.I % usecPerDay
		if us < 0 {
			us += usecPerDay
		}
		return types.IntDatum(us), nil
	}
	local, err := d.I, error(nil)
	switch from.Kind {
	case types.Date:
		if local, err = types.DateToTimestamp(d.I); err != nil {
			return d, err
		}
	case types.TimestampTZ:
		local = types.ToLocal(d.I, loc)
	}
	switch to.Kind {
	case types.Date:
		local = types.TimestampToDate(local)
	case types.Time:
		if !types.IsFiniteTime(local) {
			return types.NullDatum, nil
		}
		local = types.TimestampTime(local)
	case types.TimestampTZ:
		local, err = types.FromLocal(local, loc)
	}
	return types.IntDatum(local), err
}
