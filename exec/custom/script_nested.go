package custom

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// toScript gives a field's value to a script: structs as rows, maps as dicts, arrays of them as lists.
func (f Field) toScript(d types.Datum) starlark.Value {
	if f.Nest == nil || d.Null {
		return toStarlark(f.Type, d)
	}
	n := f.Nest
	switch n.Shape {
	case StructShape:
		return rowOf(Row{Schema: n.Fields, vals: n.split(d)})
	case MapShape:
		out := starlark.NewDict(n.count(d))
		_ = n.entries(d, func(vals []types.Datum) error {
			return out.SetKey(n.key().toScript(vals[0]), n.value().toScript(vals[1])) // checkMapKey has seen to it that keys can be keys
		})
		return out
	}
	elems := make([]starlark.Value, 0, n.count(d))
	_ = n.entries(d, func(vals []types.Datum) error {
		elems = append(elems, n.element().toScript(vals[0]))
		return nil
	})
	return starlark.NewList(elems)
}

// fromScript reads a script's value as the field's; it is the way back of toScript.
func (f Field) fromScript(v starlark.Value) (types.Datum, error) {
	if f.Nest == nil {
		return fromStarlark(f.Type, v)
	}
	if v == starlark.None {
		return types.NullDatum, nil
	}
	n := f.Nest
	switch n.Shape {
	case StructShape:
		vals, err := fieldsOf(n.Fields, v, "the struct")
		if err != nil {
			return types.Datum{}, err
		}
		return n.join(vals), nil
	case MapShape:
		return f.mapFromScript(v)
	}
	it := starlark.Iterate(v)
	if it == nil {
		return types.Datum{}, f.mismatch(v)
	}
	defer it.Done()
	var out [][]types.Datum
	var x starlark.Value
	for i := 0; it.Next(&x); i++ {
		d, err := n.element().fromScript(x)
		if err != nil {
			return d, inPlace(err, fmt.Sprintf("element %d", i))
		}
		out = append(out, []types.Datum{d})
	}
	return n.gather(out), nil
}

func (f Field) mapFromScript(v starlark.Value) (types.Datum, error) {
	n := f.Nest
	m, ok := v.(starlark.IterableMapping)
	if !ok {
		return types.Datum{}, f.mismatch(v)
	}
	var out [][]types.Datum
	for _, it := range m.Items() {
		k, err := n.key().fromScript(it[0])
		if err != nil {
			return k, inPlace(err, "a key of the map")
		}
		if k.Null {
			return k, condition("NULL_MAP_KEY", "Cannot use null as map key.")
		}
		d, err := n.value().fromScript(it[1])
		if err != nil {
			return d, inPlace(err, "the value of key "+it[0].String())
		}
		out = append(out, []types.Datum{k, d})
	}
	return n.gather(out), nil
}

func (f Field) mismatch(v starlark.Value) error {
	return sqlerr.New(sqlerr.DatatypeMismatch, "a %s cannot be a value of type %s", v.Type(), f.typeText())
}

func inPlace(err error, what string) error {
	e := *sqlerr.From(err)
	e.Message = what + ": " + e.Message
	return &e
}

// fieldsOf reads a tuple, a list, a Row or a dict as the fields of a schema. A Row whose names are those of the schema, and a dict, are read by
// name; what a dict leaves out is NULL.
func fieldsOf(s *Schema, v starlark.Value, what string) ([]types.Datum, error) {
	return fieldsInto(nil, make([]types.Datum, len(s.Fields)), s, v, what)
}

// fieldsInto is fieldsOf with memory for the fields, which charges what they take.
func fieldsInto(acct *account, out []types.Datum, s *Schema, v starlark.Value, what string) ([]types.Datum, error) {
	if d, ok := v.(*starlark.Dict); ok {
		return fieldsOfDict(acct, out, s, d, what)
	}
	seq, ok := v.(starlark.Indexable)
	byName, _ := v.(*rowValue)
	if byName != nil && (byName.names == nil || !byName.named(s)) {
		byName = nil
	}
	if byName == nil {
		if _, str := v.(starlark.String); !ok || str {
			return nil, sqlerr.New(sqlerr.DatatypeMismatch, "%s must be a tuple of (%s), not a %s", what, s, v.Type())
		}
		if seq.Len() != len(s.Fields) {
			return nil, sqlerr.New(sqlerr.DatatypeMismatch, "%s has %d values instead of %d (%s)", what, seq.Len(), len(s.Fields), s)
		}
	}
	for i := range s.Fields {
		f, at := &s.Fields[i], i
		if byName != nil {
			at = byName.find(f.Name)
		}
		x := seq.Index(at)
		err := acct.value(f, x)
		if err == nil {
			out[i], err = f.fromScript(x)
		}
		if err != nil {
			return nil, inField(err, f.Name, what)
		}
	}
	return out, nil
}

func fieldsOfDict(acct *account, out []types.Datum, s *Schema, d *starlark.Dict, what string) ([]types.Datum, error) {
	found := 0
	for i := range s.Fields {
		f := &s.Fields[i]
		v, ok, err := d.Get(starlark.String(f.Name))
		if err != nil || !ok {
			out[i] = types.NullDatum
			continue
		}
		found++
		if err = acct.value(f, v); err == nil {
			out[i], err = f.fromScript(v)
		}
		if err != nil {
			return nil, inField(err, f.Name, what)
		}
	}
	if found < d.Len() {
		for _, k := range d.Keys() {
			if name, ok := starlark.AsString(k); !ok || s.Index(name) < 0 {
				return nil, sqlerr.New(sqlerr.UndefinedColumn, "%s has no field %s (%s)", what, k, s)
			}
		}
	}
	return out, nil
}

func inField(err error, field, what string) error {
	return inPlace(err, fmt.Sprintf("field \"%s\" of %s", field, what))
}
