package custom

import (
	"go.starlark.net/starlark"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Functions makes what evaluates functions in Starlark. It implements planner.FunctionMaker.
type Functions struct{}

// CheckFunction says whether a function in Starlark can be created. Errors are those of NewScript.
func CheckFunction(f *catalog.Function) error {
	_, err := functionScript(f)
	return err
}

// functionScript reads a body, which defines a function of the function's name.
func functionScript(f *catalog.Function) (*script, error) {
	p := newScript(f.Name, Bounds{f.MaxSteps, f.MaxMemory})
	globals, err := p.run(f.Body)
	if err != nil {
		return nil, err
	}
	def, ok := globals[f.Name].(*starlark.Function)
	if !ok || def.NumParams() != len(f.Args) {
		return nil, sqlerr.New(InvalidFunctionDefinition, "the body must define %s as a function of %d parameters", f.Name, len(f.Args))
	}
	p.methods[f.Name] = def
	return p, nil
}

// callFunction calls the function of a body.
func (p *script) callFunction(f *catalog.Function, args []types.Datum) (starlark.Value, error) {
	vals := make([]starlark.Value, len(args))
	for i, d := range args {
		vals[i] = toStarlark(f.Args[i].Type, d)
	}
	return p.call(f.Name, 0, vals...)
}

// Scalar makes what evaluates a function that returns a value. It is for one goroutine. Errors are those of NewScript.
func (Functions) Scalar(f *catalog.Function) (func([]types.Datum) (types.Datum, error), error) {
	p, err := functionScript(f)
	if err != nil {
		return nil, err
	}
	result := &Field{Name: f.Name, Type: f.Result}
	return func(args []types.Datum) (types.Datum, error) {
		v, err := p.callFunction(f, args)
		if err != nil {
			return types.Datum{}, err
		}
		d, err := fieldInto(p.acct, result, v)
		return d, p.ended(0, err)
	}, nil
}

// Rows makes what evaluates a function that returns rows: an iterable of tuples, Rows or dicts, of plain values if there is one column, or None for no
// rows. It is for one goroutine. Errors are those of NewScript.
func (Functions) Rows(f *catalog.Function) (func(args []types.Datum, emit func([]types.Datum) bool) error, error) {
	p, err := functionScript(f)
	if err != nil {
		return nil, err
	}
	fields := make([]Field, 0, len(f.Rows()))
	for _, c := range f.Rows() {
		fields = append(fields, Field{Name: c.Name, Type: c.Type})
	}
	result := NewSchema(fields)
	row := make([]types.Datum, len(fields))
	return func(args []types.Datum, emit func([]types.Datum) bool) error {
		v, err := p.callFunction(f, args)
		if err != nil || v == starlark.None {
			return err
		}
		it := starlark.Iterate(v)
		if it == nil {
			return sqlerr.New(sqlerr.DatatypeMismatch, "the function returned a %s instead of None or a list", v.Type())
		}
		defer it.Done()
		var x starlark.Value
		for it.Next(&x) {
			err := p.acct.charge(rowBytes)
			if err == nil {
				err = resultRow(p.acct, row, f, result, x)
			}
			if err != nil {
				return p.ended(0, err)
			}
			if !emit(row) {
				return nil
			}
		}
		return nil
	}, nil
}

// resultRow reads an element of what a function returned into row. That of RETURNS SETOF is the value itself.
func resultRow(acct *account, row []types.Datum, f *catalog.Function, result *Schema, x starlark.Value) (err error) {
	whole := len(result.Fields) > 1
	switch x.(type) {
	case starlark.Tuple, *rowValue, *starlark.Dict:
		whole = whole || f.Columns != nil
	}
	if whole {
		_, err = fieldsInto(acct, row, result, x, "a row of the result")
		return err
	}
	row[0], err = fieldInto(acct, &result.Fields[0], x)
	return err
}

// fieldInto reads one value and charges what it takes.
func fieldInto(acct *account, f *Field, x starlark.Value) (types.Datum, error) {
	if err := acct.value(f, x); err != nil {
		return types.Datum{}, err
	}
	return f.fromScript(x)
}
