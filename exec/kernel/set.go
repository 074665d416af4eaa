package kernel

import (
	"math"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// emitFunc takes one result row and says whether more are wanted.
type emitFunc = func(vals []types.Datum) bool

// setFunc is one implementation of a set-returning function.
type setFunc func(f *frame, a []types.Datum, emit emitFunc) error

// SetKernel is a compiled call of a set-returning function. One goroutine may use it at a time.
type SetKernel struct {
	impl   setFunc
	strict bool
	args   []*Kernel
	vals   []types.Datum
	frame  frame
	ctx    ctx
	cols   []int        // input columns that the arguments use
	row    *batch.Batch // one row of those columns

	parts []*SetKernel // of fn.RowsFrom, which has nothing of the above
	width []int        // their numbers of columns
}

// CompileSet builds a call of f with arguments over columns of the types in. Error: 0A000.
func CompileSet(f *fn.Func, args []plan.Expr, in []types.Type) (*SetKernel, error) {
	if parts, counts := f.Parts(); parts != nil {
		return compileRowsFrom(parts, counts, args, in)
	}
	im, ok := setImpls[f.Signature()]
	if f.MakeSet != nil {
		call, err := f.MakeSet()
		if err != nil {
			return nil, err
		}
		im, ok = func(_ *frame, a []types.Datum, emit emitFunc) error { return call(a, emit) }, true
	}
	if !ok && f.Session {
		return nil, sqlerr.Unsupported("set-returning function %s is not supported here", f.Signature())
	}
	if !ok {
		return nil, errNotSet(f.Signature())
	}
	k := &SetKernel{impl: im, strict: f.Strict, vals: make([]types.Datum, len(args)), row: batch.New(in, 1)}
	k.frame = frame{typ: f.Result, argTypes: typesOf(args)}
	used := map[int]bool{}
	for _, a := range args {
		ak, err := Compile(a, in)
		if err != nil {
			return nil, err
		}
		k.args = append(k.args, ak)
		plan.Walk(a, func(e plan.Expr) {
			if c, ok := e.(*plan.Col); ok && !used[c.Index] {
				used[c.Index] = true
				k.cols = append(k.cols, c.Index)
			}
		})
	}
	return k, nil
}

// Call runs the function for one row of b and gives each result row to emit, whose slice and values are valid
// only during the call; it stops when emit says false. A strict function gives no rows for a NULL argument.
func (k *SetKernel) Call(env *Env, b *batch.Batch, row int, emit func(vals []types.Datum) bool) error {
	if env == nil {
		env = &Env{}
	}
	if k.parts != nil {
		return k.callParts(env, b, row, emit)
	}
	k.row.N = 1
	for _, c := range k.cols {
		v := k.row.Cols[c]
		v.Reset(v.Type)
		v.AppendFrom(b.Cols[c], row)
	}
	null := false
	for i, a := range k.args {
		v, errs := a.Eval(env, k.row, nil)
		if len(errs) > 0 {
			return errs[0].Err
		}
		k.vals[i] = v.Datum(0)
		null = null || k.vals[i].Null
	}
	if null && k.strict {
		return nil
	}
	k.ctx.env, k.ctx.session = env, env.Session
	if k.ctx.session == nil {
		k.ctx.session = defaultSession
	}
	k.frame.c, k.frame.env = &k.ctx, k.ctx.session
	return k.impl(&k.frame, k.vals, emit)
}

var setImpls = map[string]setFunc{
	"unnest(anyarray)":                                  unnest,
	"generate_series(int4,int4)":                        intSeries(math.MaxInt32),
	"generate_series(int4,int4,int4)":                   intSeries(math.MaxInt32),
	"generate_series(int8,int8)":                        intSeries(math.MaxInt64),
	"generate_series(int8,int8,int8)":                   intSeries(math.MaxInt64),
	"generate_series(numeric,numeric)":                  numericSeries,
	"generate_series(numeric,numeric,numeric)":          numericSeries,
	"generate_series(timestamp,timestamp,interval)":     timeSeries(false),
	"generate_series(timestamptz,timestamptz,interval)": timeSeries(true),
	"_pg_expandarray(int2vector)":                       expandArray,
	"_pg_expandarray(oidvector)":                        expandArray,
	"generate_subscripts(anyarray,int4)":                subscripts,
	"generate_subscripts(anyarray,int4,bool)":           subscripts,
	"json_array_elements(json)":                         jsonElements(false),
	"jsonb_array_elements(jsonb)":                       jsonElements(false),
	"json_array_elements_text(json)":                    jsonElements(true),
	"jsonb_array_elements_text(jsonb)":                  jsonElements(true),
	"json_each(json)":                                   jsonEach(false),
	"jsonb_each(jsonb)":                                 jsonEach(false),
	"json_each_text(json)":                              jsonEach(true),
	"jsonb_each_text(jsonb)":                            jsonEach(true),
	"json_object_keys(json)":                            jsonKeys,
	"jsonb_object_keys(jsonb)":                          jsonKeys,
	"regexp_matches(text,text)":                         regexpMatches,
	"regexp_matches(text,text,text)":                    regexpMatches,
	"regexp_split_to_table(text,text)":                  regexpSplitTable,
	"regexp_split_to_table(text,text,text)":             regexpSplitTable,
	"pg_partition_ancestors(regclass)":                  noRows,
	"string_to_table(text,text)":                        stringToTable,
	"string_to_table(text,text,text)":                   stringToTable,
}

// each gives every value as a row of one column.
func each(ds []types.Datum, emit emitFunc) {
	for i := range ds {
		if !emit(ds[i : i+1]) {
			return
		}
	}
}

func unnest(f *frame, a []types.Datum, emit emitFunc) error {
	var one [1]types.Datum
	for arr := f.array(0, a[0]); arr.N > 0; arr.N-- {
		if one[0] = arr.Next(); !emit(one[:]) {
			break
		}
	}
	return nil
}

// expandArray gives the elements of a vector, each with its number from 1.
func expandArray(f *frame, a []types.Datum, emit emitFunc) error {
	var row [2]types.Datum
	for arr := f.array(0, a[0]); arr.N > 0; arr.N-- {
		row[0] = arr.Next()
		if row[1].I++; !emit(row[:]) {
			break
		}
	}
	return nil
}

// noRows serves functions about what we do not have, such as partitions.
func noRows(f *frame, a []types.Datum, emit emitFunc) error { return nil }

func errZeroStep() error { return invalid("step size cannot equal zero") }

// intSeries stops where the next value would leave the type.
func intSeries(limit int64) setFunc {
	return func(f *frame, a []types.Datum, emit emitFunc) error {
		step := int64(1)
		if len(a) == 3 {
			step = a[2].I
		}
		if step == 0 {
			return errZeroStep()
		}
		var one [1]types.Datum
		for x := a[0].I; step > 0 && x <= a[1].I || step < 0 && x >= a[1].I; {
			if one[0].I = x; !emit(one[:]) {
				break
			}
			next, over := checkedAdd(x, step)
			if over || next > limit || next < -limit-1 {
				break
			}
			x = next
		}
		return nil
	}
}

func numericSeries(f *frame, a []types.Datum, emit emitFunc) error {
	step := types.FromInt64(1)
	if len(a) == 3 {
		step = num(a[2])
	}
	from, to := num(a[0]), num(a[1])
	for i, what := range []string{"start value", "stop value", "step size"} {
		n := [...]types.Num{from, to, step}[i]
		if n.IsNaN() {
			return invalid("%s cannot be NaN", what)
		}
		if n.IsInf() {
			return invalid("%s cannot be infinity", what)
		}
	}
	if step.IsZero() {
		return errZeroStep()
	}
	var one [1]types.Datum
	for x := from; x.Cmp(to)*step.Sign() <= 0; x = x.Add(step) {
		one[0].B = x.AppendTo(f.scratch[:0])
		f.scratch = one[0].B
		if !emit(one[:]) {
			break
		}
	}
	return nil
}

func timeSeries(tz bool) setFunc {
	zero := types.PairDatum(0, 0)
	interval := types.Of(types.Interval)
	return func(f *frame, a []types.Datum, emit emitFunc) error {
		sign := types.Compare(interval, a[2], zero)
		if sign == 0 {
			return errZeroStep()
		}
		loc := f.env.Location
		if !tz {
			loc = nil
		}
		var one [1]types.Datum
		for x := a[0].I; sign > 0 && x <= a[1].I || sign < 0 && x >= a[1].I; {
			if one[0].I = x; !emit(one[:]) || !types.IsFiniteTime(x) {
				break
			}
			next, err := types.TimestampAddInterval(x, a[2], loc)
			if err != nil {
				return err
			}
			x = next
		}
		return nil
	}
}

func subscripts(f *frame, a []types.Datum, emit emitFunc) error {
	arr := f.array(0, a[0])
	if a[1].I < 1 || a[1].I > int64(arr.NDim) {
		return nil
	}
	d := arr.Dims[a[1].I-1]
	var one [1]types.Datum
	for i := 0; i < d.Len; i++ {
		k := d.Lower + i
		if len(a) == 3 && a[2].I != 0 {
			k = d.Lower + d.Len - 1 - i
		}
		if one[0].I = int64(k); !emit(one[:]) {
			break
		}
	}
	return nil
}

// isJSONB says whether the argument is jsonb; messages for json differ.
func (f *frame) isJSONB() bool { return f.argTypes[0].Kind == types.JSONB }

func jsonElements(text bool) setFunc {
	return func(f *frame, a []types.Datum, emit emitFunc) error {
		switch types.JSONTypeOf(a[0].B) {
		case types.JSONArray:
		case types.JSONObject:
			if f.isJSONB() {
				return invalid("cannot extract elements from an object")
			}
			return invalid("cannot call %s on a non-array", map[bool]string{false: "json_array_elements", true: "json_array_elements_text"}[text])
		default:
			if f.isJSONB() {
				return invalid("cannot extract elements from a scalar")
			}
			return invalid("cannot call %s on a scalar", map[bool]string{false: "json_array_elements", true: "json_array_elements_text"}[text])
		}
		var one [1]types.Datum
		for it := types.IterJSON(a[0].B); it.Next(); {
			one[0] = types.Datum{B: it.Value}
			if text {
				one[0].B, one[0].Null = types.JSONText(it.Value)
			}
			if !emit(one[:]) {
				break
			}
		}
		return nil
	}
}

func jsonEach(text bool) setFunc {
	return func(f *frame, a []types.Datum, emit emitFunc) error {
		if k := types.JSONTypeOf(a[0].B); k != types.JSONObject {
			switch {
			case f.isJSONB():
				return invalid("cannot call jsonb_each%s on a non-object", map[bool]string{true: "_text"}[text])
			case k == types.JSONArray:
				return invalid("cannot deconstruct an array as an object")
			}
			return invalid("cannot deconstruct a scalar")
		}
		var two [2]types.Datum
		for it := types.IterJSON(a[0].B); it.Next(); {
			two[0].B = types.JSONUnquote(it.Key)
			two[1] = types.Datum{B: it.Value}
			if text {
				two[1].B, two[1].Null = types.JSONText(it.Value)
			}
			if !emit(two[:]) {
				break
			}
		}
		return nil
	}
}

func jsonKeys(f *frame, a []types.Datum, emit emitFunc) error {
	name := "json_object_keys"
	if f.isJSONB() {
		name = "jsonb_object_keys"
	}
	switch types.JSONTypeOf(a[0].B) {
	case types.JSONObject:
	case types.JSONArray:
		return invalid("cannot call %s on an array", name)
	default:
		return invalid("cannot call %s on a scalar", name)
	}
	var one [1]types.Datum
	for it := types.IterJSON(a[0].B); it.Next(); {
		if one[0].B = types.JSONUnquote(it.Key); !emit(one[:]) {
			break
		}
	}
	return nil
}

func regexpMatches(f *frame, a []types.Datum, emit emitFunc) error {
	flags, limit := -1, 1
	if len(a) == 3 {
		flags = 2
	}
	p, err := f.pattern(a, 1, flags, false)
	if err != nil {
		return err
	}
	if p.global {
		limit = -1
	}
	var one [1]types.Datum
	var buf []byte
	for _, m := range p.all(a[0].B, limit) {
		buf = types.AppendArray(buf[:0], types.Of(types.Text), groups(a[0].B, m))
		if one[0].B = buf; !emit(one[:]) {
			break
		}
	}
	return nil
}

func regexpSplitTable(f *frame, a []types.Datum, emit emitFunc) error {
	parts, err := f.split("regexp_split_to_table", a)
	each(parts, emit)
	return err
}

func stringToTable(f *frame, a []types.Datum, emit emitFunc) error {
	if !a[0].Null {
		each(splitString(a), emit)
	}
	return nil
}
