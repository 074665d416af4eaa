package custom

import (
	"go.starlark.net/starlark"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// NewFunction makes what evaluates a scalar function in Starlark: a body that defines a function of its name. It is for one goroutine. Errors
// are those of NewScript.
func NewFunction(f *catalog.Function) (func([]types.Datum) (types.Datum, error), error) {
	steps := uint64(f.MaxSteps)
	if steps == 0 {
		steps = DefaultMaxSteps
	}
	p := &script{name: f.Name, steps: steps, methods: map[string]*starlark.Function{}}
	p.thread = &starlark.Thread{Name: f.Name, Print: func(*starlark.Thread, string) {}}
	globals, err := run(p.thread, steps, f.Name, f.Body)
	if err != nil {
		return nil, err
	}
	def, ok := globals[f.Name].(*starlark.Function)
	if !ok || def.NumParams() != len(f.Args) {
		return nil, sqlerr.New(InvalidFunctionDefinition, "the body must define %s as a function of %d parameters", f.Name, len(f.Args))
	}
	p.methods[f.Name] = def
	return func(args []types.Datum) (types.Datum, error) {
		vals := make([]starlark.Value, len(args))
		for i, d := range args {
			vals[i] = toStarlark(f.Args[i].Type, d)
		}
		v, err := p.call(f.Name, 0, vals...)
		if err != nil {
			return types.Datum{}, err
		}
		return fromStarlark(f.Result, v)
	}, nil
}
