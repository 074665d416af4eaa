package custom

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Codec turns Go values of one type into rows of a schema that it derives from the type, and back. It is immutable.
//
// Exported fields of a struct are fields of the schema, named in snake case (LastSeen: last_seen) unless a tag says otherwise: `tidemark:"name"`,
// `tidemark:"name,numeric(10,2)"`, `tidemark:"-"` for none. Another type is a schema with one field, "value". Go's types are bool (boolean), int16, int32,
// int64 and int (smallint, integer, bigint), float32 and float64, string (text, or what the tag says), []byte (bytea), time.Time (timestamp, in UTC),
// time.Duration (interval), structs (struct), slices (array) and maps (map); a pointer is NULL where it is nil. NULL is read as the zero value of other types.
type Codec struct {
	Schema *Schema
	fields []fieldCodec
	whole  bool // the value itself is the one field
}

// fieldCodec converts one field.
type fieldCodec struct {
	index int
	put   func(v reflect.Value) (types.Datum, error)
	get   func(d types.Datum, v reflect.Value)
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	bytesType    = reflect.TypeFor[[]byte]()
)

// NewCodec makes the codec of a Go type. Error: 42804 for a type, or a field, that no SQL type can hold.
func NewCodec(t reflect.Type) (*Codec, error) {
	if t.Kind() == reflect.Struct && t != timeType {
		return structCodec(t, 0)
	}
	f, c, err := newFieldCodec(t, "value", "", 0)
	if err != nil {
		return nil, err
	}
	return &Codec{Schema: NewSchema([]Field{f}), fields: []fieldCodec{c}, whole: true}, nil
}

func structCodec(t reflect.Type, depth int) (*Codec, error) {
	c := &Codec{}
	var fields []Field
	seen := map[string]bool{}
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("tidemark")
		if !sf.IsExported() || tag == "-" {
			continue
		}
		name, sqlType, _ := strings.Cut(tag, ",")
		if name == "" {
			name = snakeCase(sf.Name)
		}
		if seen[name] {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "%s has more than one field \"%s\"", t, name)
		}
		seen[name] = true
		f, fc, err := newFieldCodec(sf.Type, name, sqlType, depth)
		if err != nil {
			return nil, inPlace(err, fmt.Sprintf("field %s of %s", sf.Name, t))
		}
		fc.index = i
		fields, c.fields = append(fields, f), append(c.fields, fc)
	}
	if len(fields) == 0 {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "%s has no exported fields", t)
	}
	c.Schema = NewSchema(fields)
	return c, nil
}

// snakeCase gives LastSeenAt as last_seen_at, and ID as id.
func snakeCase(s string) string {
	var b strings.Builder
	rs := []rune(s)
	for i, r := range rs {
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(rs[i-1]) || unicode.IsDigit(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// newFieldCodec finds how values of a Go type are kept in a field.
func newFieldCodec(t reflect.Type, name, sqlType string, depth int) (Field, fieldCodec, error) {
	if depth > maxDepth {
		return Field{}, fieldCodec{}, sqlerr.New(sqlerr.StatementTooComplex, "types are nested more than %d levels deep", maxDepth)
	}
	if t.Kind() == reflect.Pointer {
		f, c, err := newFieldCodec(t.Elem(), name, sqlType, depth+1)
		return f, pointerCodec(t, c), err
	}
	if sqlType == "" && t != timeType && t != bytesType {
		switch t.Kind() {
		case reflect.Struct:
			return structField(t, name, depth)
		case reflect.Slice:
			return sliceField(t, name, depth)
		case reflect.Map:
			return mapField(t, name, depth)
		}
	}
	return scalarField(t, name, sqlType)
}

func pointerCodec(t reflect.Type, c fieldCodec) fieldCodec {
	return fieldCodec{
		put: func(v reflect.Value) (types.Datum, error) {
			if v.IsNil() {
				return types.NullDatum, nil
			}
			return c.put(v.Elem())
		},
		get: func(d types.Datum, v reflect.Value) {
			if d.Null {
				v.SetZero()
				return
			}
			p := reflect.New(t.Elem())
			c.get(d, p.Elem())
			v.Set(p)
		}}
}

func structField(t reflect.Type, name string, depth int) (Field, fieldCodec, error) {
	in, err := structCodec(t, depth+1)
	if err != nil {
		return Field{}, fieldCodec{}, err
	}
	f := nestedField(name, StructShape, in.Schema.Fields...)
	return f, fieldCodec{
		put: func(v reflect.Value) (types.Datum, error) {
			vals, err := in.Put(v)
			if err != nil {
				return types.Datum{}, err
			}
			return f.Nest.join(vals), nil
		},
		get: func(d types.Datum, v reflect.Value) {
			v.SetZero()
			if !d.Null {
				in.get(f.Nest.split(d), v)
			}
		}}, nil
}

func sliceField(t reflect.Type, name string, depth int) (Field, fieldCodec, error) {
	elem, c, err := newFieldCodec(t.Elem(), "element", "", depth+1)
	if err != nil {
		return Field{}, fieldCodec{}, err
	}
	f := nestedArray(name, elem)
	plain := f.Nest == nil
	return f, fieldCodec{
		put: func(v reflect.Value) (types.Datum, error) {
			if v.IsNil() {
				return types.NullDatum, nil
			}
			ds := make([]types.Datum, v.Len())
			rows := make([][]types.Datum, v.Len())
			for i := range ds {
				var err error
				if ds[i], err = c.put(v.Index(i)); err != nil {
					return types.Datum{}, err
				}
				rows[i] = ds[i : i+1]
			}
			if plain {
				return types.Datum{B: types.AppendArray([]byte{}, elem.Type, ds)}, nil
			}
			return f.Nest.gather(rows), nil
		},
		get: func(d types.Datum, v reflect.Value) {
			v.SetZero()
			if d.Null {
				return
			}
			var ds []types.Datum
			if plain {
				a := types.DecodeArray(elem.Type, d.B)
				ds = a.Elems()
			} else {
				_ = f.Nest.entries(d, func(vals []types.Datum) error {
					ds = append(ds, vals[0])
					return nil
				})
			}
			s := reflect.MakeSlice(t, len(ds), len(ds))
			for i, e := range ds {
				c.get(e, s.Index(i))
			}
			v.Set(s)
		}}, nil
}

func mapField(t reflect.Type, name string, depth int) (Field, fieldCodec, error) {
	key, kc, err := newFieldCodec(t.Key(), "key", "", depth+1)
	if err == nil {
		err = checkMapKey(key)
	}
	if err != nil {
		return Field{}, fieldCodec{}, err
	}
	val, vc, err := newFieldCodec(t.Elem(), "value", "", depth+1)
	if err != nil {
		return Field{}, fieldCodec{}, err
	}
	f := nestedField(name, MapShape, key, val)
	return f, fieldCodec{
		put: func(v reflect.Value) (types.Datum, error) {
			if v.IsNil() {
				return types.NullDatum, nil
			}
			var rows [][]types.Datum
			for it := v.MapRange(); it.Next(); {
				k, err := kc.put(it.Key())
				if err != nil {
					return k, err
				}
				if k.Null {
					return k, condition("NULL_MAP_KEY", "Cannot use null as map key.")
				}
				x, err := vc.put(it.Value())
				if err != nil {
					return x, err
				}
				rows = append(rows, []types.Datum{k, x})
			}
			// Go's maps have no order; a replay must give the same bytes.
			slices.SortFunc(rows, func(a, b []types.Datum) int {
				return bytes.Compare(types.AppendValue(nil, key.Type, a[0]), types.AppendValue(nil, key.Type, b[0]))
			})
			return f.Nest.gather(rows), nil
		},
		get: func(d types.Datum, v reflect.Value) {
			v.SetZero()
			if d.Null {
				return
			}
			m := reflect.MakeMap(t)
			_ = f.Nest.entries(d, func(vals []types.Datum) error {
				k, x := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
				kc.get(vals[0], k)
				vc.get(vals[1], x)
				m.SetMapIndex(k, x)
				return nil
			})
			v.Set(m)
		}}, nil
}

// Put gives the row of a value, which must be of the codec's type. Errors: 22003, 42804 and those of reading text as another type.
func (c *Codec) Put(v reflect.Value) ([]types.Datum, error) {
	out := make([]types.Datum, len(c.fields))
	for i, f := range c.fields {
		x := v
		if !c.whole {
			x = v.Field(f.index)
		}
		var err error
		if out[i], err = f.put(x); err != nil {
			return nil, inPlace(err, "field \""+c.Schema.Fields[i].Name+"\"")
		}
	}
	return out, nil
}

// Get reads a row under the codec's schema into a value of its type, which can be set. Nothing of it aliases the row.
func (c *Codec) Get(r Row, v reflect.Value) {
	c.get(r.vals, v)
}

func (c *Codec) get(vals []types.Datum, v reflect.Value) {
	for i, f := range c.fields {
		x := v
		if !c.whole {
			x = v.Field(f.index)
		}
		f.get(vals[i], x)
	}
}
