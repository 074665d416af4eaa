package custom

import (
	"strconv"

	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// maxSchemas bounds the schemas that a variable may have had (Spark's default).
const maxSchemas = 16

// converter reads rows that were written under one schema of a variable as rows of the present one: fields are matched by name, ones that are new
// are NULL, ones that are gone are dropped, and narrower types are widened. So it goes on within structs, maps and arrays.
type converter struct {
	from, to *Schema
	same     bool
	src      []int // for each field of to: its place in from, -1 for none
	conv     []conversion
}

// conversion turns a value of an earlier type into one of the present type; nil if they are stored alike. NULL stays NULL.
type conversion func(types.Datum) types.Datum

// newConverter makes a converter, or says why there is none. path is what the fields lie in, "" or with a dot at the end.
func newConverter(path string, from, to *Schema) (*converter, string) {
	c := &converter{from: from, to: to, same: from.equal(to)}
	for _, f := range to.Fields {
		i := from.Index(f.Name)
		var conv conversion
		if i >= 0 {
			var why string
			if conv, why = convertField(path+f.Name, from.Fields[i], f); why != "" {
				return nil, why
			}
		}
		c.src, c.conv = append(c.src, i), append(c.conv, conv)
	}
	return c, ""
}

// convertField finds how a field's values go on, or says why they cannot.
func convertField(path string, from, to Field) (conversion, string) {
	refused := "field \"" + path + "\" cannot change from " + from.typeText() + " to " + to.typeText()
	if from.Nest == nil && to.Nest == nil {
		if !widens(from.Type, to.Type) {
			return nil, refused
		}
		if from.Type.Kind == types.Array && !from.Type.Same(to.Type) {
			return func(d types.Datum) types.Datum { return widenArray(from.Type.ElemType(), to.Type.ElemType(), d) }, ""
		}
		if from.Type.Layout() == to.Type.Layout() {
			return nil, ""
		}
		return func(d types.Datum) types.Datum { return widen(to.Type, d) }, ""
	}
	if from.Nest == nil || to.Nest == nil || from.Nest.Shape != to.Nest.Shape {
		return nil, refused
	}
	if to.Nest.Shape == MapShape && !from.Nest.key().sameType(to.Nest.key()) {
		return nil, refused
	}
	c, why := newConverter(path+".", from.Nest.Fields, to.Nest.Fields)
	if why != "" || c.same {
		return nil, why
	}
	if to.Nest.Shape == StructShape {
		return func(d types.Datum) types.Datum { return to.Nest.join(c.convert(from.Nest.split(d))) }, ""
	}
	return func(d types.Datum) types.Datum {
		var out [][]types.Datum
		_ = from.Nest.entries(d, func(vals []types.Datum) error {
			out = append(out, c.convert(vals))
			return nil
		})
		return to.Nest.gather(out)
	}, ""
}

// read reads an encoded row into vals, which has room for the fields that it was written with, or into new memory.
func (c *converter) read(vals []types.Datum, b []byte) []types.Datum {
	readDatums(c.from, vals, b)
	if c.same {
		return vals
	}
	return c.convert(vals)
}

func (c *converter) convert(vals []types.Datum) []types.Datum {
	out := make([]types.Datum, len(c.to.Fields))
	for i := range out {
		k := c.src[i]
		if k < 0 || vals[k].Null {
			out[i] = types.NullDatum
		} else if out[i] = vals[k]; c.conv[i] != nil {
			out[i] = c.conv[i](vals[k])
		}
	}
	return out
}

// rank orders the numeric types by what they can hold.
var rank = map[types.Kind]int{types.Int2: 1, types.Int4: 2, types.Int8: 3, types.Numeric: 4}

// widens says whether every value of from is one of to.
func widens(from, to types.Type) bool {
	if from.Same(to) {
		return from.Mod == to.Mod || to.Mod == 0 || from.Mod != 0 && from.Mod < to.Mod && from.Kind == types.Varchar
	}
	a, b := rank[from.Kind], rank[to.Kind]
	switch {
	case a > 0 && b > a:
		return to.Mod == 0
	case from.Kind == types.Int2 || from.Kind == types.Int4:
		return to.Kind == types.Float8
	case from.Kind == types.Float4:
		return to.Kind == types.Float8
	case from.Kind == types.Varchar:
		return to.Kind == types.Text
	case from.Kind == types.Array && to.Kind == types.Array:
		return from.Mod == 0 && to.Mod == 0 && widens(from.ElemType(), to.ElemType())
	}
	return false
}

// widen makes an integer, which is stored as such, a value of a wider type that is not.
func widen(to types.Type, d types.Datum) types.Datum {
	if to.Kind == types.Numeric {
		return types.FromInt64(d.I).Datum()
	}
	return types.FloatDatum(float64(d.I))
}

// widenArray widens the elements of an array.
func widenArray(from, to types.Type, d types.Datum) types.Datum {
	a := types.DecodeArray(from, d.B)
	elems := a.Elems()
	if from.Layout() != to.Layout() {
		for i, e := range elems {
			if !e.Null {
				elems[i] = widen(to, e)
			}
		}
	}
	b, err := types.AppendArrayDims(nil, to, a.Dims[:a.NDim], elems)
	if err != nil {
		panic(&table.Failure{Err: err})
	}
	return types.Datum{B: b}
}

// register enters the variable into the schemas that are kept, or checks it against what is there.
func (v *variable) register() error {
	st := v.h.st
	ts := func(s *Schema) string { return s.String() }
	vs, ok := st.schemaOf(v.name)
	if !ok {
		vs = &variableSchemas{ID: st.nextID(), Kind: v.kind, TTL: v.ttl, Schemas: []string{ts(v.val)}}
		if v.kind == MapKind {
			vs.UserKey = ts(v.user.schema)
		}
		st.keepSchema(v.name, vs)
	} else if err := v.evolve(vs); err != nil {
		return err
	}
	v.id, v.schemas = vs.ID, nil
	for _, text := range vs.Schemas {
		old, err := ParseSchema(text)
		if err != nil {
			return err
		}
		c, why := newConverter("", old, v.val)
		if c == nil {
			return v.incompatible(why)
		}
		v.schemas = append(v.schemas, c)
	}
	return nil
}

func (v *variable) incompatible(why string) error {
	return condition(condEvolution, "Schema evolution is not possible for state variable \"%s\": %s.", v.name, why).
		WithHint("Give the variable another name, or let the view start over with CREATE OR REPLACE MATERIALIZED VIEW.")
}

// evolve follows a change of the variable's declaration (reference 7.8).
func (v *variable) evolve(vs *variableSchemas) error {
	if vs.Kind != v.kind {
		return condition(condTypeChange, "Cannot change %s to %s between query restarts. Please set %s to %s, or restart with a new checkpoint directory.",
			v.name, v.kind, v.name, vs.Kind)
	}
	if (vs.TTL > 0) != (v.ttl > 0) {
		return v.incompatible("a TTL can be changed, but not added or removed")
	}
	if v.kind == MapKind {
		old, err := ParseSchema(vs.UserKey)
		if err != nil {
			return err
		}
		if !old.sameTypes(v.user.schema) {
			return condition(condKeySchema, "Provided key schema does not match existing state key schema of state variable \"%s\": it was (%s) and is (%s).", v.name, old, v.user.schema)
		}
	}
	now := v.val.String()
	changed := vs.TTL != v.ttl
	vs.TTL = v.ttl
	if n := len(vs.Schemas); vs.Schemas[n-1] != now {
		if n >= maxSchemas {
			return condition(condThreshold, "The number of schema evolutions of state variable \"%s\" exceeds %s.", v.name, strconv.Itoa(maxSchemas))
		}
		vs.Schemas, changed = append(vs.Schemas, now), true
	}
	if changed {
		v.h.st.keepSchema(v.name, vs)
	}
	return nil
}
