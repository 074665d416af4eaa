package custom

import (
	"strconv"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// maxSchemas bounds the schemas that a variable may have had (Spark's default).
const maxSchemas = 16

// converter reads rows that were written under one schema of a variable as rows of the present one: fields are matched by name, ones that are new
// are NULL, ones that are gone are dropped, and narrower types are widened.
type converter struct {
	from, to *Schema
	same     bool
	src      []int // for each field of to: its place in from, -1 for none
}

func newConverter(from, to *Schema) (*converter, string) {
	c := &converter{from: from, to: to, same: from.equal(to)}
	for _, f := range to.Fields {
		i := from.Index(f.Name)
		c.src = append(c.src, i)
		if i >= 0 && !widens(from.Fields[i].Type, f.Type) {
			return nil, "field \"" + f.Name + "\" cannot change from " + from.Fields[i].Type.String() + " to " + f.Type.String()
		}
	}
	return c, ""
}

func (c *converter) read(b []byte) []types.Datum {
	vals := make([]types.Datum, len(c.from.Fields))
	readDatums(c.from, vals, b)
	if c.same {
		return vals
	}
	out := make([]types.Datum, len(c.to.Fields))
	for i, f := range c.to.Fields {
		out[i] = types.NullDatum
		if k := c.src[i]; k >= 0 {
			out[i] = widen(c.from.Fields[k].Type, f.Type, vals[k])
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
	}
	return false
}

func widen(from, to types.Type, d types.Datum) types.Datum {
	if d.Null || from.Layout() == to.Layout() {
		return d
	}
	if to.Kind == types.Numeric {
		return types.FromInt64(d.I).Datum()
	}
	return types.FloatDatum(float64(d.I))
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
		c, why := newConverter(old, v.val)
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
