package custom

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// selfValue is self: it takes attributes while init runs.
type selfValue struct {
	attrs  map[string]starlark.Value
	frozen bool
}

func (s *selfValue) String() string        { return "self" }
func (s *selfValue) Type() string          { return "processor" }
func (s *selfValue) Truth() starlark.Bool  { return true }
func (s *selfValue) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable type: processor") }

// Freeze implements starlark.Value; what the attributes hold is frozen too, so that nothing but declared state lasts.
func (s *selfValue) Freeze() {
	if s.frozen {
		return
	}
	s.frozen = true
	for _, v := range s.attrs {
		v.Freeze()
	}
}

// Attr implements starlark.HasAttrs.
func (s *selfValue) Attr(name string) (starlark.Value, error) {
	if v, ok := s.attrs[name]; ok {
		return v, nil
	}
	return nil, nil
}

// AttrNames implements starlark.HasAttrs.
func (s *selfValue) AttrNames() []string { return nil }

// SetField implements starlark.HasSetField.
func (s *selfValue) SetField(name string, v starlark.Value) error {
	if s.frozen {
		return fmt.Errorf("cannot set self.%s: attributes are set in init only; use a state variable for what must last", name)
	}
	s.attrs[name] = v
	return nil
}

// rowValue is a row: a tuple whose values also have names.
type rowValue struct {
	names []string
	vals  starlark.Tuple
}

func newRowValue(names []string, vals starlark.Tuple) *rowValue { return &rowValue{names, vals} }

// rowOf converts a whole row.
func rowOf(r Row) *rowValue {
	v := &rowValue{names: r.Schema.names(), vals: make(starlark.Tuple, r.Len())}
	for i, f := range r.Schema.Fields {
		v.vals[i] = f.toScript(r.Datum(i))
	}
	return v
}

// names lists the fields' names.
func (s *Schema) names() []string {
	if s.list == nil {
		s.list = make([]string, len(s.Fields))
		for i, f := range s.Fields {
			s.list[i] = f.Name
		}
	}
	return s.list
}

func (r *rowValue) find(name string) int {
	for i, n := range r.names {
		if n == name {
			return i
		}
	}
	return -1
}

// named says whether the row has exactly the schema's fields.
func (r *rowValue) named(s *Schema) bool {
	if len(r.names) != len(s.Fields) {
		return false
	}
	for _, f := range s.Fields {
		if r.find(f.Name) < 0 {
			return false
		}
	}
	return true
}

func (r *rowValue) String() string {
	parts := make([]string, len(r.vals))
	for i, v := range r.vals {
		parts[i] = r.names[i] + " = " + v.String()
	}
	return "Row(" + strings.Join(parts, ", ") + ")"
}
func (r *rowValue) Type() string                     { return "Row" }
func (r *rowValue) Freeze()                          { r.vals.Freeze() }
func (r *rowValue) Truth() starlark.Bool             { return len(r.vals) > 0 }
func (r *rowValue) Hash() (uint32, error)            { return r.vals.Hash() }
func (r *rowValue) Len() int                         { return len(r.vals) }
func (r *rowValue) Index(i int) starlark.Value       { return r.vals[i] }
func (r *rowValue) Iterate() starlark.Iterator       { return r.vals.Iterate() }
func (r *rowValue) AttrNames() []string              { return r.names }
func (r *rowValue) Slice(a, b, c int) starlark.Value { return r.vals.Slice(a, b, c) }

// Attr implements starlark.HasAttrs: row.c.
func (r *rowValue) Attr(name string) (starlark.Value, error) {
	if i := r.find(name); i >= 0 {
		return r.vals[i], nil
	}
	if name == "asDict" {
		return starlark.NewBuiltin(name, func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
			d := starlark.NewDict(len(r.vals))
			for i, n := range r.names {
				if err := d.SetKey(starlark.String(n), r.vals[i]); err != nil {
					return nil, err
				}
			}
			return d, nil
		}), nil
	}
	return nil, nil
}

// Get implements starlark.Mapping: row["c"] and row[0].
func (r *rowValue) Get(k starlark.Value) (starlark.Value, bool, error) {
	return getField(k, len(r.vals), r.find, func(i int) starlark.Value { return r.vals[i] })
}

// getField finds a field by name or by number, counted from the end if negative.
func getField(k starlark.Value, n int, find func(string) int, at func(int) starlark.Value) (starlark.Value, bool, error) {
	switch x := k.(type) {
	case starlark.String:
		if i := find(string(x)); i >= 0 {
			return at(i), true, nil
		}
		return nil, false, fmt.Errorf("row has no field %q", string(x))
	case starlark.Int:
		i, err := starlark.AsInt32(x)
		if err == nil && i < 0 {
			i += n
		}
		if err != nil || i < 0 || i >= n {
			return nil, false, fmt.Errorf("row index %s out of range [%d:%d]", x, -n, n-1)
		}
		return at(i), true, nil
	}
	return nil, false, fmt.Errorf("row index must be a name or a number, not %s", k.Type())
}

// CompareSameType implements starlark.Comparable.
func (r *rowValue) CompareSameType(op syntax.Token, y starlark.Value, depth int) (bool, error) {
	return starlark.CompareDepth(op, r.vals, y.(*rowValue).vals, depth)
}

// inputRow is a row of the input, converted as its fields are asked for. It is valid during the call.
type inputRow struct {
	Row
	acct *account
}

func (r *inputRow) whole() *rowValue {
	for i := range r.Schema.Fields {
		r.acct.read(&r.Schema.Fields[i], r.Datum(i))
	}
	return rowOf(r.Row)
}
func (r *inputRow) String() string             { return r.whole().String() }
func (r *inputRow) Type() string               { return "Row" }
func (r *inputRow) Freeze()                    {}
func (r *inputRow) Truth() starlark.Bool       { return true }
func (r *inputRow) Hash() (uint32, error)      { return r.whole().Hash() }
func (r *inputRow) AttrNames() []string        { return r.Schema.names() }
func (r *inputRow) Iterate() starlark.Iterator { return r.whole().Iterate() }
func (r *inputRow) Index(i int) starlark.Value {
	f, d := &r.Schema.Fields[i], r.Datum(i)
	r.acct.read(f, d)
	return f.toScript(d)
}

// Attr implements starlark.HasAttrs.
func (r *inputRow) Attr(name string) (starlark.Value, error) {
	if i := r.Schema.Index(name); i >= 0 {
		return r.Index(i), nil
	}
	if name == "asDict" {
		return r.whole().Attr(name)
	}
	return nil, nil
}

// Get implements starlark.Mapping.
func (r *inputRow) Get(k starlark.Value) (starlark.Value, bool, error) {
	return getField(k, r.Len(), r.Schema.Index, r.Index)
}

// rowList is the rows of a call.
type rowList struct {
	rows Rows
	acct *account
}

func (l *rowList) String() string             { return fmt.Sprintf("rows(%d)", l.rows.Len()) }
func (l *rowList) Type() string               { return "rows" }
func (l *rowList) Freeze()                    {}
func (l *rowList) Truth() starlark.Bool       { return l.rows.Len() > 0 }
func (l *rowList) Hash() (uint32, error)      { return 0, fmt.Errorf("unhashable type: rows") }
func (l *rowList) Len() int                   { return l.rows.Len() }
func (l *rowList) Index(i int) starlark.Value { return &inputRow{l.rows.At(i), l.acct} }
func (l *rowList) Iterate() starlark.Iterator { return &rowIter{l: l} }

// Slice implements starlark.Sliceable.
func (l *rowList) Slice(start, end, step int) starlark.Value {
	var out []starlark.Value
	for i := start; step > 0 && i < end || step < 0 && i > end; i += step {
		out = append(out, l.Index(i))
	}
	return starlark.NewList(out)
}

type rowIter struct {
	l *rowList
	i int
}

// Next implements starlark.Iterator.
func (it *rowIter) Next(v *starlark.Value) bool {
	if it.i >= it.l.Len() {
		return false
	}
	*v = it.l.Index(it.i)
	it.i++
	return true
}

// Done implements starlark.Iterator.
func (it *rowIter) Done() {}
