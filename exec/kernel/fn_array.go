package kernel

import (
	"strconv"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// array reads argument i as an array.
func (f *frame) array(i int, d types.Datum) types.ArrayValue {
	return types.DecodeArray(f.argTypes[i].ElemType(), d.B)
}

// dimOf lifts a function of one dimension of an array; NULL where it has no such dimension.
func dimOf(g func(d types.Dim) int) impl {
	return impl{row: func(f *frame, a []types.Datum) (types.Datum, error) {
		arr := f.array(0, a[0])
		if a[1].I < 1 || a[1].I > int64(arr.NDim) {
			return types.NullDatum, nil
		}
		return types.IntDatum(int64(g(arr.Dims[a[1].I-1]))), nil
	}}
}

func errSubscript(format string, args ...any) error {
	return sqlerr.New(sqlerr.ArraySubscriptError, format, args...)
}

// push makes array_append and array_prepend; at is the argument that is the array.
func push(at int) textFunc {
	return func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		elem := a[1-at]
		t := f.argTypes[at].ElemType()
		if a[at].Null {
			return types.AppendArray(dst, t, []types.Datum{elem}), nil
		}
		arr := f.array(at, a[at])
		dims := []types.Dim{{Len: 1, Lower: 1}}
		switch arr.NDim {
		case 0:
		case 1:
			dims[0] = types.Dim{Len: arr.N + 1, Lower: arr.Dims[0].Lower}
		default:
			return dst, sqlerr.New("22000", "argument must be empty or one-dimensional array")
		}
		elems := arr.Elems()
		if at == 0 {
			elems = append(elems, elem)
		} else {
			elems = append([]types.Datum{elem}, elems...)
		}
		return types.AppendArrayDims(dst, t, dims, elems)
	}
}

// arrayCat joins arrays whose dimensions are equal but for the first, or of which one is an element of the other.
func arrayCat(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	switch {
	case a[0].Null && a[1].Null:
		return dst, errNull
	case a[0].Null:
		return append(dst, a[1].B...), nil
	case a[1].Null:
		return append(dst, a[0].B...), nil
	}
	x, y := f.array(0, a[0]), f.array(1, a[1])
	switch {
	case x.NDim == 0:
		return append(dst, a[1].B...), nil
	case y.NDim == 0:
		return append(dst, a[0].B...), nil
	}
	dims, ok := joinedDims(x, y)
	if !ok {
		return dst, errSubscript("cannot concatenate incompatible arrays").(*sqlerr.Error).
			WithDetail("Arrays with differing dimensions are not compatible for concatenation.")
	}
	return types.AppendArrayDims(dst, x.Elem, dims, append(x.Elems(), y.Elems()...))
}

func joinedDims(x, y types.ArrayValue) ([]types.Dim, bool) {
	var dims []types.Dim
	switch x.NDim - y.NDim {
	case 0:
		dims = append(dims, x.Dims[:x.NDim]...)
		dims[0].Len += y.Dims[0].Len
		return dims, sameLens(x.Dims[1:x.NDim], y.Dims[1:y.NDim])
	case 1:
		dims = append(dims, x.Dims[:x.NDim]...)
		dims[0].Len++
		return dims, sameLens(x.Dims[1:x.NDim], y.Dims[:y.NDim])
	case -1:
		dims = append(dims, y.Dims[:y.NDim]...)
		dims[0].Len++
		return dims, sameLens(y.Dims[1:y.NDim], x.Dims[:x.NDim])
	}
	return nil, false
}

func sameLens(a, b []types.Dim) bool {
	for i := range a {
		if a[i].Len != b[i].Len {
			return false
		}
	}
	return true
}

// arraySlice is array[lo:hi], and [lo:hi][lo:hi] for two dimensions. A NULL bound is one that was not written.
func arraySlice(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	if a[0].Null {
		return dst, errNull
	}
	arr := f.array(0, a[0])
	if arr.NDim == 0 || arr.NDim < (len(a)-1)/2 {
		return types.AppendArray(dst, arr.Elem, nil), nil
	}
	var lo, hi [types.MaxDims]int // ranges from 0, hi exclusive
	var dims []types.Dim
	for i := 0; i < arr.NDim; i++ {
		d := arr.Dims[i]
		lo[i], hi[i] = 0, d.Len
		if k := 1 + 2*i; k < len(a) {
			if !a[k].Null {
				lo[i] = max(0, int(a[k].I)-d.Lower)
			}
			if !a[k+1].Null {
				hi[i] = min(d.Len, int(a[k+1].I)-d.Lower+1)
			}
		}
		if hi[i] <= lo[i] {
			return types.AppendArray(dst, arr.Elem, nil), nil
		}
		dims = append(dims, types.Dim{Len: hi[i] - lo[i], Lower: 1})
	}
	var kept []types.Datum
	var at [types.MaxDims]int
	for n := arr.N; n > 0; n-- {
		e, in := arr.Next(), true
		for i := 0; i < arr.NDim; i++ {
			in = in && at[i] >= lo[i] && at[i] < hi[i]
		}
		if in {
			kept = append(kept, e)
		}
		for i := arr.NDim - 1; i >= 0; i-- {
			if at[i]++; at[i] < arr.Dims[i].Len {
				break
			}
			at[i] = 0
		}
	}
	return types.AppendArrayDims(dst, arr.Elem, dims, kept)
}

// arrayPosition finds the subscript of the first element, from a start on, that is not distinct from a value.
func arrayPosition(f *frame, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.NullDatum, nil
	}
	arr := f.array(0, a[0])
	if arr.NDim > 1 {
		return types.Datum{}, sqlerr.Unsupported("searching for elements in multidimensional arrays is not supported")
	}
	from := int64(arr.Dims[0].Lower)
	if len(a) == 3 {
		if a[2].Null {
			return types.Datum{}, sqlerr.New(sqlerr.NullValueNotAllowed, "initial position must not be null")
		}
		from = a[2].I
	}
	for i := int64(arr.Dims[0].Lower); arr.N > 0; arr.N-- {
		if e := arr.Next(); i >= from && types.Equal(arr.Elem, e, a[1]) {
			return types.IntDatum(i), nil
		}
		i++
	}
	return types.NullDatum, nil
}

func arrayPositions(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	if a[0].Null {
		return dst, errNull
	}
	arr := f.array(0, a[0])
	if arr.NDim > 1 {
		return dst, sqlerr.Unsupported("searching for elements in multidimensional arrays is not supported")
	}
	var out []types.Datum
	for i := arr.Dims[0].Lower; arr.N > 0; arr.N-- {
		if types.Equal(arr.Elem, arr.Next(), a[1]) {
			out = append(out, types.IntDatum(int64(i)))
		}
		i++
	}
	return types.AppendArray(dst, types.Of(types.Int4), out), nil
}

func arrayRemove(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	if a[0].Null {
		return dst, errNull
	}
	arr := f.array(0, a[0])
	if arr.NDim > 1 {
		return dst, sqlerr.Unsupported("removing elements from multidimensional arrays is not supported")
	}
	var out []types.Datum
	lower := arr.Dims[0].Lower
	for _, e := range arr.Elems() {
		if !types.Equal(arr.Elem, e, a[1]) {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		return types.AppendArray(dst, arr.Elem, nil), nil
	}
	return types.AppendArrayDims(dst, arr.Elem, []types.Dim{{Len: len(out), Lower: lower}}, out)
}

func arrayReplace(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	if a[0].Null {
		return dst, errNull
	}
	arr := f.array(0, a[0])
	elems := arr.Elems()
	for i := range elems {
		if types.Equal(arr.Elem, elems[i], a[1]) {
			elems[i] = a[2]
		}
	}
	return types.AppendArrayDims(dst, arr.Elem, arr.Dims[:arr.NDim], elems)
}

func arrayFill(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	int4 := types.Of(types.Int4)
	nullDims := sqlerr.New(sqlerr.NullValueNotAllowed, "dimension array or low bound array cannot be null")
	if a[1].Null || len(a) == 3 && a[2].Null {
		return dst, nullDims
	}
	lens := types.DecodeArray(int4, a[1].B)
	var lows types.ArrayValue
	for _, d := range a[1:] {
		for _, e := range types.DecodeArray(int4, d.B).Elems() {
			if e.Null {
				return dst, sqlerr.New(sqlerr.NullValueNotAllowed, "dimension values cannot be null")
			}
		}
	}
	if len(a) == 3 {
		if lows = types.DecodeArray(int4, a[2].B); lows.N != lens.N {
			return dst, errSubscript("wrong number of array subscripts")
		}
	}
	if lens.N > types.MaxDims {
		return dst, sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", lens.N, types.MaxDims)
	}
	var dims []types.Dim
	total := 1
	for i, n := 0, lens.N; i < n; i++ {
		l := lens.Next()
		d := types.Dim{Len: int(l.I), Lower: 1}
		if len(a) == 3 {
			d.Lower = int(lows.Next().I)
		}
		if d.Len < 0 || total*d.Len > 1<<24 {
			return dst, sqlerr.New(sqlerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", 1<<24)
		}
		total *= d.Len
		dims = append(dims, d)
	}
	if len(dims) == 0 || total == 0 {
		return types.AppendArray(dst, f.argTypes[0], nil), nil
	}
	elems := make([]types.Datum, total)
	for i := range elems {
		elems[i] = a[0]
	}
	return types.AppendArrayDims(dst, f.argTypes[0], dims, elems)
}

func arrayToString(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	if a[0].Null || a[1].Null {
		return dst, errNull
	}
	first := true
	for arr := f.array(0, a[0]); arr.N > 0; arr.N-- {
		e := arr.Next()
		if e.Null && (len(a) == 2 || a[2].Null) {
			continue
		}
		if !first {
			dst = append(dst, a[1].B...)
		}
		first = false
		if e.Null {
			dst = append(dst, a[2].B...)
		} else {
			dst = types.Append(dst, arr.Elem, e, f.env)
		}
	}
	return dst, nil
}

func trimArray(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
	arr := f.array(0, a[0])
	n, have := int(a[1].I), arr.Dims[0].Len
	if n < 0 || n > have {
		return dst, sqlerr.New(sqlerr.ArraySubscriptError, "number of elements to trim must be between 0 and %d", have)
	}
	rest := types.IntDatum(int64(arr.Dims[0].Lower + have - n - 1))
	return arraySlice(f, dst, []types.Datum{a[0], types.NullDatum, rest})
}

// contains says whether every element of b is in a; NULL elements are in nothing.
func contains(f *frame, a, b types.ArrayValue) bool {
	in := a.Elems()
	for ; b.N > 0; b.N-- {
		if e := b.Next(); e.Null || !member(a.Elem, in, e) {
			return false
		}
	}
	return true
}

func member(t types.Type, in []types.Datum, e types.Datum) bool {
	for _, x := range in {
		if !x.Null && types.Equal(t, x, e) {
			return true
		}
	}
	return false
}

func arrayOverlap(f *frame, a []types.Datum) (types.Datum, error) {
	x, y := f.array(0, a[0]), f.array(1, a[1])
	in := x.Elems()
	for ; y.N > 0; y.N-- {
		if e := y.Next(); !e.Null && member(x.Elem, in, e) {
			return types.BoolDatum(true), nil
		}
	}
	return types.BoolDatum(false), nil
}

var arrayImpls = map[string]impl{
	"array_length(anyarray,int4)": dimOf(func(d types.Dim) int { return d.Len }),
	"array_lower(anyarray,int4)":  dimOf(func(d types.Dim) int { return d.Lower }),
	"array_upper(anyarray,int4)":  dimOf(func(d types.Dim) int { return d.Lower + d.Len - 1 }),
	"array_ndims(anyarray)": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		n := f.array(0, a[0]).NDim
		return types.Datum{I: int64(n), Null: n == 0}, nil
	}},
	"array_dims(anyarray)": {text: func(f *frame, dst []byte, a []types.Datum) ([]byte, error) {
		arr := f.array(0, a[0])
		if arr.NDim == 0 {
			return dst, errNull
		}
		for _, d := range arr.Dims[:arr.NDim] {
			dst = strconv.AppendInt(append(dst, '['), int64(d.Lower), 10)
			dst = strconv.AppendInt(append(dst, ':'), int64(d.Lower+d.Len-1), 10)
			dst = append(dst, ']')
		}
		return dst, nil
	}},
	"cardinality(anyarray)": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		return types.IntDatum(int64(f.array(0, a[0]).N)), nil
	}},
	"array_position(anyarray,anyelement)":           {row: arrayPosition},
	"array_position(anyarray,anyelement,int4)":      {row: arrayPosition},
	"array_positions(anyarray,anyelement)":          {text: arrayPositions},
	"array_remove(anyarray,anyelement)":             {text: arrayRemove},
	"array_replace(anyarray,anyelement,anyelement)": {text: arrayReplace},
	"array_fill(anyelement,int4[])":                 {text: arrayFill},
	"array_fill(anyelement,int4[],int4[])":          {text: arrayFill},
	"array_to_string(anyarray,text)":                {text: arrayToString},
	"array_to_string(anyarray,text,text)":           {text: arrayToString},
	"trim_array(anyarray,int4)":                     {text: trimArray},
	"array_append(anyarray,anyelement)":             {text: push(0)},
	"array_prepend(anyelement,anyarray)":            {text: push(1)},
	"array_cat(anyarray,anyarray)":                  {text: arrayCat},
	"anyarray || anyelement":                        {text: push(0)},
	"anyelement || anyarray":                        {text: push(1)},
	"anyarray || anyarray":                          {text: arrayCat},
	"array_slice(anyarray,int4,int4)":               {text: arraySlice},
	"array_slice(anyarray,int4,int4,int4,int4)":     {text: arraySlice},
	"anyarray && anyarray":                          {row: arrayOverlap},
	"anyarray @> anyarray": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		return types.BoolDatum(contains(f, f.array(0, a[0]), f.array(1, a[1]))), nil
	}},
	"anyarray <@ anyarray": {row: func(f *frame, a []types.Datum) (types.Datum, error) {
		return types.BoolDatum(contains(f, f.array(1, a[1]), f.array(0, a[0]))), nil
	}},
}
