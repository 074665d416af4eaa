package agg

import (
	"fmt"
	"strings"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// compile makes the accumulators and the output of one aggregate.
func (p *program) compile(a *plan.Agg) (output, error) {
	if a.Fn.OrderedSet {
		return p.compileOrderedSet(a)
	}
	switch a.Fn.Name {
	case "array_agg", "string_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg":
		return p.compileCollect(a)
	case "approx_count_distinct", "approx_percentile":
		return p.compileSketch(a)
	}
	if len(a.Args) == 0 {
		if a.Fn.Name != "count" {
			return nil, unsupported(a)
		}
		if a.Filter == nil {
			return rowsOut{}, nil
		}
	}
	in, err := p.addInput(a.Args, a.Filter, len(a.Args))
	if err != nil {
		return nil, err
	}
	s := scope{in: in}
	if a.Distinct && distinctMatters(a.Fn.Name) {
		s = p.distinct(s, exprTypes(a.Args))
	}
	switch len(a.Args) {
	case 0:
		return countOut{p.count(s).tally}, nil
	case 1:
		return p.compileOne(a, s, a.Args[0].Type())
	case 2:
		return p.compileRegression(a, s)
	}
	return nil, unsupported(a)
}

func exprTypes(xs []plan.Expr) []types.Type {
	ts := make([]types.Type, len(xs))
	for i, x := range xs {
		ts[i] = x.Type()
	}
	return ts
}

// distinctMatters says whether repeated values change an aggregate.
func distinctMatters(name string) bool {
	switch name {
	case "min", "max", "bool_and", "bool_or", "every", "bit_and", "bit_or":
		return false
	}
	return true
}

// count counts the rows of an input. Without a FILTER those that it has not are rare.
func (p *program) count(s scope) *countCell {
	if p.mayBeRare(s) && s.in.filter < 0 {
		return addCell(p, s, "count", 0, func(int) *countCell { return &countCell{s.in, tally{-1, p.addRare()}, false} })
	}
	return addCell(p, s, "count", 1, func(off int) *countCell { return &countCell{s.in, tally{off, -1}, false} })
}

func (p *program) sumInt(s scope) *sumIntCell {
	if p.mayBeRare(s) {
		return addCell(p, s, "sum", 1, func(off int) *sumIntCell { return &sumIntCell{in: s.in, pairSum: pairSum{off, p.addRare()}} })
	}
	return addCell(p, s, "sum", 2, func(off int) *sumIntCell { return &sumIntCell{in: s.in, pairSum: pairSum{off, -1}} })
}

// sumFloat sums argument x, or its product with argument y.
func (p *program) sumFloat(s scope, x, y int) *floatCell {
	limbs, wide := 2, wideFloats
	if y >= 0 {
		limbs, wide = 4, wideProducts
	}
	return addCell(p, s, fmt.Sprint("float", x, y), 1+limbs, func(off int) *floatCell {
		return &floatCell{in: s.in, off: off, field: p.addField(), x: x, y: y, limbs: limbs, wide: wide}
	})
}

func (p *program) sumNumeric(s scope) *numericCell {
	return addCell(p, s, "numeric", numWords, func(off int) *numericCell {
		return &numericCell{in: s.in, off: off, field: p.addField(), mixed: p.appendOnly}
	})
}

// compileOne compiles the aggregates of one argument.
func (p *program) compileOne(a *plan.Agg, s scope, t types.Type) (output, error) {
	cnt := p.count(s).tally
	switch a.Fn.Name {
	case "count":
		return countOut{cnt}, nil
	case "sum":
		return p.compileSum(a, s, t, cnt)
	case "avg":
		return p.compileAvg(a, s, t, cnt)
	case "min", "max":
		return p.compileExtreme(s, t, cnt, a.Fn.Name == "min"), nil
	case "bool_and", "every", "bool_or":
		c := addCell(p, s, "true", 1, func(off int) *trueCell { return &trueCell{s.in, off} })
		return boolOut{c.off, cnt, a.Fn.Name == "bool_or"}, nil
	case "bit_and":
		return p.compileBits(s, t, cnt, '&'), nil
	case "bit_or":
		return p.compileBits(s, t, cnt, '|'), nil
	case "bit_xor":
		return p.compileBits(s, t, cnt, '#'), nil
	case "var_pop", "var_samp", "variance", "stddev", "stddev_pop", "stddev_samp":
		return p.compileVariance(a, s, t, cnt)
	}
	return nil, unsupported(a)
}

func (p *program) compileSum(a *plan.Agg, s scope, t types.Type, cnt tally) (output, error) {
	switch t.Kind {
	case types.Int2, types.Int4, types.Int8:
		return sumIntOut{p.sumInt(s).pairSum, cnt, t.Kind != types.Int8}, nil
	case types.Float4:
		return floatSumOut{p.sumFloat(s, 0, -1), cnt, formatReal, false}, nil
	case types.Float8:
		return floatSumOut{p.sumFloat(s, 0, -1), cnt, formatDouble, false}, nil
	case types.Numeric:
		return numericSumOut{p.sumNumeric(s), cnt, false}, nil
	case types.Interval:
		return intervalOut{p.sumInterval(s).off, cnt, false}, nil
	}
	return nil, unsupported(a)
}

func (p *program) compileAvg(a *plan.Agg, s scope, t types.Type, cnt tally) (output, error) {
	switch t.Kind {
	case types.Int2, types.Int4, types.Int8:
		return avgIntOut{p.sumInt(s).pairSum, cnt}, nil
	case types.Float4, types.Float8:
		return floatSumOut{p.sumFloat(s, 0, -1), cnt, formatDouble, true}, nil
	case types.Numeric:
		return numericSumOut{p.sumNumeric(s), cnt, true}, nil
	case types.Interval:
		return intervalOut{p.sumInterval(s).off, cnt, true}, nil
	}
	return nil, unsupported(a)
}

func (p *program) sumInterval(s scope) *intervalCell {
	return addCell(p, s, "interval", 4, func(off int) *intervalCell { return &intervalCell{s.in, off} })
}

func (p *program) compileExtreme(s scope, t types.Type, cnt tally, least bool) output {
	if !p.appendOnly {
		return extremeSetOut{p.values(s, t, false), cnt, !least}
	}
	kind := fmt.Sprint("extreme", least)
	if l := t.Layout(); l == types.LayoutI64 || l == types.LayoutF64 {
		return extremeOut{addCell(p, s, kind, 1, func(off int) *extremeCell {
			return &extremeCell{in: s.in, off: off, min: least, float: l == types.LayoutF64}
		}), cnt}
	}
	return extremeWideOut{addCell(p, s, kind, 0, func(int) *extremeWideCell {
		return &extremeWideCell{in: s.in, field: p.addField(), min: least, typ: t}
	})}
}

// values gives the sorted set of an argument's values.
func (p *program) values(s scope, t types.Type, desc bool) *setCell {
	return p.addSet(s, fmt.Sprint("values", desc), func() *setCell {
		c := &setCell{args: columnsOf(exactly(t)), exact: true}
		if desc {
			c.sort = []sortKey{{typ: t, desc: true}}
		}
		return c
	})
}

func exactly(t types.Type) []types.Type { return []types.Type{t} }

func (p *program) compileBits(s scope, t types.Type, cnt tally, op byte) output {
	if op != '#' && !p.appendOnly {
		return bitSetOut{p.values(s, t, false), cnt, op}
	}
	c := addCell(p, s, "bit"+string(op), 1, func(off int) *bitCell { return &bitCell{s.in, off, op} })
	return bitOut{c, cnt}
}

func (p *program) compileVariance(a *plan.Agg, s scope, t types.Type, cnt tally) (output, error) {
	v := varianceKind{}
	switch a.Fn.Name {
	case "var_pop":
		v.pop = true
	case "stddev_pop":
		v.pop, v.root = true, true
	case "stddev", "stddev_samp":
		v.root = true
	}
	switch t.Kind {
	case types.Int2, types.Int4, types.Int8:
		sq := addCell(p, s, "squares", 3, func(off int) *squaresIntCell { return &squaresIntCell{s.in, off} })
		return varIntOut{p.sumInt(s).pairSum, sq.off, cnt, v}, nil
	case types.Float4, types.Float8:
		return varFloatOut{p.sumFloat(s, 0, -1), p.sumFloat(s, 0, 0), cnt, v}, nil
	case types.Numeric:
		c := addCell(p, s, "numeric squares", 0, func(int) *numericSquaresCell {
			return &numericSquaresCell{s.in, p.addField()}
		})
		return varNumericOut{c, cnt, v}, nil
	}
	return nil, unsupported(a)
}

// compileRegression compiles the aggregates f(y, x) of two doubles.
func (p *program) compileRegression(a *plan.Agg, s scope) (output, error) {
	what, ok := regressions[a.Fn.Name]
	if !ok {
		return nil, unsupported(a)
	}
	return &regressionOut{
		what: what, cnt: p.count(s).tally,
		sy: p.sumFloat(s, 0, -1), sx: p.sumFloat(s, 1, -1),
		syy: p.sumFloat(s, 0, 0), sxy: p.sumFloat(s, 0, 1), sxx: p.sumFloat(s, 1, 1),
	}, nil
}

// compileSketch compiles the approximate aggregates; what follows their first argument must be constant.
func (p *program) compileSketch(a *plan.Agg) (output, error) {
	in, err := p.addInput(a.Args[:1], a.Filter, 1)
	if err != nil {
		return nil, err
	}
	s := scope{in: in}
	t := a.Args[0].Type()
	consts := make([]types.Datum, len(a.Args)-1)
	for i := range consts {
		if consts[i], err = constant(a.Args[i+1], p.env); err != nil {
			return nil, sqlerr.Unsupported("the arguments of %s after the first must be constants", a.Fn.Name).WithCause(err)
		}
	}
	if a.Fn.Name == "approx_count_distinct" {
		rsd := 0.02
		if len(consts) > 0 {
			if rsd = consts[0].F; consts[0].Null || !(rsd > 0 && rsd < 1) {
				return nil, sqlerr.New(sqlerr.InvalidParameterValue, "relative standard deviation must be between 0 and 1")
			}
		}
		if !p.sketch {
			return countOut{p.count(p.distinct(s, exactly(t))).tally}, nil
		}
		bits := hllBits(rsd)
		return hllOut{addCell(p, s, fmt.Sprint("hll", bits), 0, func(int) *hllCell {
			return &hllCell{in: s.in, field: p.addField(), typ: t, p: bits}
		})}, nil
	}
	if a.Distinct {
		s = p.distinct(s, exactly(t))
	}
	cnt := p.count(s).tally
	alpha := 0.01
	if len(consts) > 1 && !consts[1].Null {
		if consts[1].I <= 0 {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "accuracy must be positive")
		}
		alpha = max(min(alpha, 1/float64(consts[1].I)), 1e-4)
	}
	c := addCell(p, s, fmt.Sprint("dd", alpha), 0, func(int) *ddCell {
		return &ddCell{in: s.in, field: p.addField(), gamma: (1 + alpha) / (1 - alpha), exact: p.sketch}
	})
	f, err := readFractions(consts[0], a.Args[1].Type())
	return ddOut{c, cnt, f}, err
}

// fractions are those of a percentile: one, or an array of them.
type fractions struct {
	of    []types.Datum // double precision, NULLs among them
	array bool
	null  bool // the array itself is NULL
}

// readFractions reads a constant of type double precision or double precision[].
func readFractions(d types.Datum, t types.Type) (fractions, error) {
	f := fractions{of: []types.Datum{d}}
	if t.Kind == types.Array {
		f = fractions{array: true, null: d.Null}
		if !d.Null {
			f.of = types.DecodeArray(t.ElemType(), d.B).Elems()
		}
	}
	for _, x := range f.of {
		if !x.Null && !(x.F >= 0 && x.F <= 1) {
			return f, sqlerr.New(sqlerr.NumericValueOutOfRange, "percentile value %s is not between 0 and 1",
				types.Format(types.Of(types.Float8), x, nil))
		}
	}
	return f, nil
}

// append adds a group's result to v: one gives that of one fraction, which is not NULL, or false where there is none. The
// result says whether all had one.
func (f fractions) append(v *batch.Vector, elem types.Type, one func(p float64) (types.Datum, bool)) bool {
	if f.null {
		v.AppendNull()
		return true
	}
	res := make([]types.Datum, len(f.of))
	for i, x := range f.of {
		if x.Null {
			res[i] = types.NullDatum
			continue
		}
		var ok bool
		if res[i], ok = one(x.F); !ok {
			v.AppendNull()
			return false
		}
	}
	if f.array {
		v.AppendBytes(types.AppendArray(nil, elem, res))
	} else {
		v.AppendDatum(res[0])
	}
	return true
}

// compileOrderedSet compiles percentile_cont, percentile_disc and mode.
func (p *program) compileOrderedSet(a *plan.Agg) (output, error) {
	if len(a.OrderBy) != 1 {
		return nil, sqlerr.Unsupported("%s over %d columns is not supported", a.Fn.Name, len(a.OrderBy))
	}
	ob := a.OrderBy[0]
	in, err := p.addInput([]plan.Expr{ob.X}, a.Filter, 1)
	if err != nil {
		return nil, err
	}
	s := scope{in: in}
	t := ob.X.Type()
	set := p.values(s, t, ob.Desc)
	set.places = true
	o := percentileOut{set: set, cnt: p.count(s).tally, typ: t}
	switch a.Fn.Name {
	case "mode":
		set.modal = true
		return modeOut{set}, nil
	case "percentile_cont":
		o.cont = true
	case "percentile_disc":
	default:
		return nil, unsupported(a)
	}
	if len(a.Direct) != 1 {
		return nil, unsupported(a)
	}
	d, err := constant(a.Direct[0], p.env)
	if err != nil {
		return nil, err
	}
	o.fracs, err = readFractions(d, a.Direct[0].Type())
	return o, err
}

// compileCollect compiles the aggregates that put values together in order.
func (p *program) compileCollect(a *plan.Agg) (output, error) {
	name := a.Fn.Name
	args := append([]plan.Expr(nil), a.Args...)
	strict := 0
	switch name {
	case "string_agg":
		strict = 1
	case "json_agg", "jsonb_agg":
		x, err := toJSON(args[0])
		if err != nil {
			return nil, err
		}
		args[0] = x
	case "json_object_agg", "jsonb_object_agg":
		x, err := toJSON(args[1])
		if err != nil {
			return nil, err
		}
		args[1] = x
	}
	cols := exprTypes(args)
	order := args[:len(args):len(args)]
	var keys []sortKey
	for _, ob := range a.OrderBy {
		keys = append(keys, sortKey{arg: len(order), typ: ob.X.Type(), desc: ob.Desc, nullsFirst: ob.NullsFirst})
		order = append(order, ob.X)
	}
	// What was made json is told apart, and sorted, by what it was before.
	byValue := a.Distinct && strings.HasPrefix(name, "json")
	if byValue {
		for _, x := range a.Args {
			keys = append(keys, sortKey{arg: len(order), typ: x.Type()})
			order = append(order, x)
		}
	}
	in, err := p.addInput(order, a.Filter, strict)
	if err != nil {
		return nil, err
	}
	set := &setCell{sort: keys, args: columnsOf(cols), arrival: p.appendOnly && !a.Distinct, wholeRow: !p.appendOnly && !a.Distinct, exact: !a.Distinct, sorted: byValue, in0: p.in}
	set = p.addSet(scope{in: in}, fmt.Sprint("collect", a.Distinct, byValue, len(cols), keys), func() *setCell { return set })
	c := collect{set: set, once: a.Distinct}
	switch name {
	case "array_agg":
		return arrayAggOut{c, cols[0], a.Typ}, nil
	case "string_agg":
		return stringAggOut{c}, nil
	}
	return jsonAggOut{collect: c, binary: strings.HasPrefix(name, "jsonb"), object: len(cols) == 2, keyType: cols[0],
		structured: a.Args[len(a.Args)-1].Type().Kind == types.Array || a.Args[len(a.Args)-1].Type().Kind == types.Record, env: p.env}, nil
}

// toJSON wraps an expression in to_json, which keeps NULL.
func toJSON(x plan.Expr) (plan.Expr, error) {
	if x.Type().Kind == types.JSON {
		return x, nil
	}
	for _, f := range fn.Lookup("to_json") {
		if len(f.Args) == 1 {
			return &plan.Call{Fn: f, Args: []plan.Expr{x}, Typ: types.Of(types.JSON), Pos: -1}, nil
		}
	}
	return nil, sqlerr.Unsupported("json aggregates are not supported")
}
