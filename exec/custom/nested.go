package custom

import (
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Nested is the shape of a field that holds other fields: a struct, a map, or an array of such. It is immutable.
type Nested struct {
	Shape Shape
	// Fields are those of a struct; "key" and "value" of a map; "element" of an array.
	Fields *Schema
}

// Shape is what kind of value a nested field has.
type Shape string

// The shapes, as schemas spell them.
const (
	StructShape Shape = "struct"
	MapShape    Shape = "map"
	ArrayShape  Shape = "array"
)

// A nested value is a Datum whose B holds, of a struct, its fields as rows hold them (appendDatums); of maps and arrays, the number of entries
// (uvarint) and then the entries, in the order in which they were put. State: in the rows of variables.

// String gives the shape as ParseSchema reads it.
func (n *Nested) String() string {
	s := string(n.Shape) + "<"
	for i, f := range n.Fields.Fields {
		if i > 0 {
			s += ", "
		}
		if n.Shape == StructShape {
			s += quoteName(f.Name) + ": "
		}
		s += f.typeText()
	}
	return s + ">"
}

// key and value give the fields of a map, element that of an array.
func (n *Nested) key() Field     { return n.Fields.Fields[0] }
func (n *Nested) value() Field   { return n.Fields.Fields[len(n.Fields.Fields)-1] }
func (n *Nested) element() Field { return n.value() }

// typeText gives the field's type as ParseSchema reads it.
func (f Field) typeText() string {
	if f.Nest != nil {
		return f.Nest.String()
	}
	return f.Type.String()
}

// sameType says whether two fields have the same type, modifiers and names within structs apart.
func (f Field) sameType(g Field) bool {
	if f.Nest == nil || g.Nest == nil {
		return f.Nest == g.Nest && f.Type.Same(g.Type)
	}
	return f.Nest.Shape == g.Nest.Shape && f.Nest.Fields.equal(g.Nest.Fields)
}

// nestedField makes a field of a shape. To readers in SQL it is jsonb.
func nestedField(name string, shape Shape, fields ...Field) Field {
	return Field{Name: name, Type: types.Of(types.JSONB), Nest: &Nested{shape, NewSchema(fields)}}
}

// checkMapKey refuses keys that a script's dict cannot have.
func checkMapKey(f Field) error {
	bad := f.Type.Kind == types.Array || f.Nest == nil && (f.Type.Kind == types.JSON || f.Type.Kind == types.JSONB)
	if f.Nest != nil {
		bad = f.Nest.Shape != StructShape
		for _, g := range f.Nest.Fields.Fields {
			if err := checkMapKey(g); err != nil {
				return err
			}
		}
	}
	if bad {
		return sqlerr.Unsupported("map keys of type %s are not supported", f.typeText())
	}
	return nil
}

// split gives the fields of a struct's value. They alias it.
func (n *Nested) split(d types.Datum) []types.Datum {
	vals := make([]types.Datum, len(n.Fields.Fields))
	readDatums(n.Fields, vals, d.B)
	return vals
}

// join makes a struct's value.
func (n *Nested) join(vals []types.Datum) types.Datum {
	return types.Datum{B: appendDatums([]byte{}, n.Fields, vals)}
}

// entries calls f for each entry of a map's or an array's value with its fields, which are reused and alias the value.
func (n *Nested) entries(d types.Datum, f func(vals []types.Datum) error) error {
	count, b := rowenc.Uvarint(d.B)
	vals := make([]types.Datum, len(n.Fields.Fields))
	for ; count > 0; count-- {
		b = readDatums(n.Fields, vals, b)
		if err := f(vals); err != nil {
			return err
		}
	}
	return nil
}

// count is the number of entries of a map's or an array's value.
func (n *Nested) count(d types.Datum) int {
	c, _ := rowenc.Uvarint(d.B)
	return int(c)
}

// gather makes the value of a map or an array.
func (n *Nested) gather(entries [][]types.Datum) types.Datum {
	b := binary.AppendUvarint([]byte{}, uint64(len(entries)))
	for _, e := range entries {
		b = appendDatums(b, n.Fields, e)
	}
	return types.Datum{B: b}
}

// shown gives a row as readers in SQL see it: nested fields as jsonb.
func (s *Schema) shown(vals []types.Datum) []types.Datum {
	var out []types.Datum
	for i, f := range s.Fields {
		if f.Nest == nil || vals[i].Null {
			continue
		}
		if out == nil {
			out = append([]types.Datum(nil), vals...)
		}
		out[i] = types.NullDatum
		if b, err := types.AppendJSONB(nil, appendJSON(nil, f, vals[i])); err == nil {
			out[i] = types.Datum{B: b}
		}
	}
	if out == nil {
		return vals
	}
	return out
}

// appendJSON appends a field's value as JSON: structs and maps as objects, arrays as arrays, the rest as to_json gives it.
func appendJSON(dst []byte, f Field, d types.Datum) []byte {
	if d.Null || f.Nest == nil {
		return types.AppendJSONValue(dst, f.Type, d)
	}
	n := f.Nest
	switch n.Shape {
	case StructShape:
		dst = append(dst, '{')
		for i, v := range n.split(d) {
			if i > 0 {
				dst = append(dst, ',')
			}
			g := n.Fields.Fields[i]
			dst = append(types.AppendJSONString(dst, []byte(g.Name)), ':')
			dst = appendJSON(dst, g, v)
		}
		return append(dst, '}')
	case MapShape:
		return append(n.appendEntries(append(dst, '{'), d), '}')
	}
	return append(n.appendEntries(append(dst, '['), d), ']')
}

func (n *Nested) appendEntries(dst []byte, d types.Datum) []byte {
	first := true
	_ = n.entries(d, func(vals []types.Datum) error {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if n.Shape == MapShape {
			dst = append(types.AppendJSONString(dst, keyText(n.key(), vals[0])), ':')
		}
		dst = appendJSON(dst, n.value(), vals[len(vals)-1])
		return nil
	})
	return dst
}

// keyText is a map's key as the name in a JSON object: its text, of a struct its JSON.
func keyText(f Field, d types.Datum) []byte {
	if f.Nest != nil {
		return appendJSON(nil, f, d)
	}
	return []byte(types.Format(f.Type, d, types.DefaultEnv()))
}
