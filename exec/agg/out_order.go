package agg

import (
	"math"

	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// modeOut is mode() WITHIN GROUP.
type modeOut struct{ set *setCell }

func (o modeOut) emit(t *target, slots []int32, v *batch.Vector, _ failFunc) {
	for _, s := range slots {
		v.AppendDatum(o.set.mode(t, s))
	}
}

// percentileOut is percentile_cont or percentile_disc, of one fraction or an array of them.
type percentileOut struct {
	set   *setCell
	cnt   tally
	typ   types.Type
	cont  bool
	fracs fractions
}

func (o percentileOut) emit(t *target, slots []int32, v *batch.Vector, fail failFunc) {
	for k, s := range slots {
		n := o.cnt.of(t, s)
		if n <= 0 {
			v.AppendNull()
			continue
		}
		if !o.fracs.append(v, o.typ, func(p float64) (types.Datum, bool) { return o.value(t, s, p, n) }) {
			fail(k, sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range"))
		}
	}
}

// value gives one percentile of n values.
func (o percentileOut) value(t *target, s int32, p float64, n int64) (types.Datum, bool) {
	if !o.cont {
		at := max(int64(math.Ceil(p*float64(n)))-1, 0)
		lo, _ := o.set.pick(t, s, at, at)
		return lo, true
	}
	x := p * float64(n-1)
	first, second := int64(math.Floor(x)), int64(math.Ceil(x))
	lo, hi := o.set.pick(t, s, first, second)
	if first == second {
		return lo, true
	}
	share := x - float64(first)
	if o.typ.Kind == types.Interval {
		return lerpInterval(lo, hi, share)
	}
	return types.FloatDatum(lo.F + share*(hi.F-lo.F)), true
}

// lerpInterval gives lo + (hi - lo) * share as PostgreSQL does.
func lerpInterval(lo, hi types.Datum, share float64) (types.Datum, bool) {
	lm, ld, lu := types.IntervalParts(lo.I, lo.J)
	hm, hd, hu := types.IntervalParts(hi.I, hi.J)
	d, ok := scaleInterval(types.IntervalDatum(hm-lm, hd-ld, hu-lu), func(x float64) float64 { return x * share })
	m, dd, u := types.IntervalParts(d.I, d.J)
	return types.IntervalDatum(lm+m, ld+dd, lu+u), ok
}

// collect goes through a set of values in order.
type collect struct {
	set  *setCell
	once bool // DISTINCT
}

// each calls f once for every value, as often as it occurs, and says whether there was any.
func (c collect) each(t *target, slot int32, f func(args []types.Datum)) bool {
	any := false
	c.set.each(t, slot, func(n int64, args []types.Datum) bool {
		any = true
		if c.once {
			n = 1
		}
		for ; n > 0; n-- {
			f(args)
		}
		return true
	})
	return any
}

// stringAggOut is string_agg.
type stringAggOut struct{ collect }

func (o stringAggOut) emit(t *target, slots []int32, v *batch.Vector, _ failFunc) {
	var buf []byte
	for _, s := range slots {
		buf = buf[:0]
		first := true
		any := o.each(t, s, func(a []types.Datum) {
			if !first && !a[1].Null {
				buf = append(buf, a[1].B...)
			}
			first = false
			buf = append(buf, a[0].B...)
		})
		if any {
			v.AppendBytes(buf)
		} else {
			v.AppendNull()
		}
	}
}

// arrayAggOut is array_agg, of values or of arrays.
type arrayAggOut struct {
	collect
	elem types.Type
	typ  types.Type
}

func (o arrayAggOut) emit(t *target, slots []int32, v *batch.Vector, fail failFunc) {
	for k, s := range slots {
		var elems []types.Datum
		if !o.each(t, s, func(a []types.Datum) { elems = append(elems, a[0].Clone()) }) {
			v.AppendNull()
			continue
		}
		if o.elem.Kind != types.Array {
			v.AppendBytes(types.AppendArray(nil, o.elem, elems))
			continue
		}
		b, err := stackArrays(o.elem.ElemType(), elems)
		if err != nil {
			v.AppendNull()
			fail(k, sqlerr.From(err))
			continue
		}
		v.AppendBytes(b)
	}
}

// stackArrays makes an array of one dimension more from arrays of equal dimensions.
func stackArrays(elem types.Type, arrays []types.Datum) ([]byte, error) {
	dims := []types.Dim{{Len: len(arrays), Lower: 1}}
	var all []types.Datum
	for i, d := range arrays {
		if d.Null {
			return nil, sqlerr.New(sqlerr.NullValueNotAllowed, "cannot accumulate null arrays")
		}
		a := types.DecodeArray(elem, d.B)
		switch {
		case a.NDim == 0:
			return nil, sqlerr.New(sqlerr.ArraySubscriptError, "cannot accumulate empty arrays")
		case i == 0:
			dims = append(dims, a.Dims[:a.NDim]...)
		case a.NDim != len(dims)-1:
			return nil, errDimensions()
		default:
			for j, x := range a.Dims[:a.NDim] {
				if x != dims[j+1] {
					return nil, errDimensions()
				}
			}
		}
		all = append(all, a.Elems()...)
	}
	return types.AppendArrayDims(nil, elem, dims, all)
}

func errDimensions() error {
	return sqlerr.New(sqlerr.ArraySubscriptError, "cannot accumulate arrays of different dimensionality")
}

// jsonAggOut is the json aggregates, whose values come as json already.
type jsonAggOut struct {
	collect
	binary, object bool
	structured     bool // values are arrays or composites, which PostgreSQL puts on lines of their own
	keyType        types.Type
	env            *kernel.Env
}

func (o jsonAggOut) emit(t *target, slots []int32, v *batch.Vector, fail failFunc) {
	var buf []byte
	for k, s := range slots {
		var err error
		buf = buf[:0]
		first := true
		any := o.each(t, s, func(a []types.Datum) {
			var e error
			if buf, e = o.element(buf, a, first); err == nil {
				err = e
			}
			first = false
		})
		if !any {
			v.AppendNull()
			continue
		}
		if o.object {
			buf = append(buf, " }"...)
		} else {
			buf = append(buf, ']')
		}
		out := buf
		if err == nil && o.binary {
			out, err = types.AppendJSONB(nil, buf)
		}
		if err != nil {
			v.AppendNull()
			fail(k, sqlerr.From(err))
			continue
		}
		v.AppendBytes(out)
	}
}

// element appends a value, or a key and a value.
func (o jsonAggOut) element(buf []byte, a []types.Datum, first bool) ([]byte, error) {
	val := a[len(a)-1]
	switch {
	case o.object && first:
		buf = append(buf, "{ "...)
	case first:
		buf = append(buf, '[')
	case o.structured && !o.object && !val.Null:
		buf = append(buf, ", \n "...)
	default:
		buf = append(buf, ", "...)
	}
	if o.object {
		if a[0].Null {
			return buf, sqlerr.New(sqlerr.InvalidParameterValue, "field name must not be null")
		}
		var session *types.Env
		if o.env != nil {
			session = o.env.Session
		}
		buf = types.AppendJSONString(buf, types.Append(nil, o.keyType, a[0], session))
		buf = append(buf, " : "...)
	}
	if val.Null {
		return append(buf, "null"...), nil
	}
	return append(buf, val.B...), nil
}
