package engine

import (
	"context"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// createFunction runs CREATE [OR REPLACE] FUNCTION.
func (s *sess) createFunction(ctx context.Context, x *ast.CreateFunction) (session.Result, error) {
	const tag = "CREATE FUNCTION"
	schema, err := s.target(x.Name)
	if err != nil {
		return nil, err
	}
	if x.Language != "sql" && x.Language != "starlark" {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "language \"%s\" does not exist", x.Language).WithHint("Functions are written in sql or starlark.")
	}
	f, err := planner.BindFunction(x, s.plannerOptions(s.catalog()))
	if err != nil {
		return nil, err
	}
	f.Schema = schema
	if f.MaxSteps, f.MaxMemory, err = s.set.callBounds(); err != nil {
		return nil, err
	}
	if f.Language == "starlark" {
		if err := custom.CheckFunction(f); err != nil {
			return nil, err
		}
	}
	old := sameFunction(s.catalog(), f)
	if old != nil && !x.OrReplace {
		return nil, duplicateFunction(f)
	}
	f.OID = s.e.newOID()
	if old != nil {
		f.OID = old.OID
		if err := canReplace(s.catalog(), old, f); err != nil {
			return nil, err
		}
	}
	return s.change(ctx, tag, func(c *catalog.Catalog) *catalog.Catalog { return c.WithFunction(f) }, func(b *epochBuild) error {
		if b.cat.Schema(f.Schema) == nil {
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", f.Schema)
		}
		if have := sameFunction(b.cat, f); have != nil && have.OID != f.OID {
			return duplicateFunction(f)
		} else if have != nil {
			if err := canReplace(b.cat, have, f); err != nil {
				return err
			}
		}
		return b.apply(event{Kind: "function", Func: f})
	})
}

func duplicateFunction(f *catalog.Function) error {
	return sqlerr.New("42723", "function \"%s\" already exists with same argument types", f.Name)
}

// canReplace checks what CREATE OR REPLACE may change, as PostgreSQL does; and a function that views call may not change at all: what they show would
// no longer be what their queries say.
func canReplace(c *catalog.Catalog, old, f *catalog.Function) error {
	invalid := func(format string, args ...any) *sqlerr.Error {
		return sqlerr.New(custom.InvalidFunctionDefinition, format, args...).WithHint("Use DROP FUNCTION %s first.", describeFunction(old))
	}
	if old.SetOf != f.SetOf || !old.Result.Same(f.Result) || (old.Columns == nil) != (f.Columns == nil) {
		return invalid("cannot change return type of existing function")
	}
	same := len(old.Columns) == len(f.Columns)
	for i := 0; same && i < len(f.Columns); i++ {
		same = old.Columns[i].Name == f.Columns[i].Name && old.Columns[i].Type.Same(f.Columns[i].Type)
	}
	if !same {
		return invalid("cannot change return type of existing function").WithDetail("Row type defined by OUT parameters is different.")
	}
	for i, a := range old.Args {
		if a.Name != "" && a.Name != f.Args[i].Name {
			return invalid("cannot change name of input parameter \"%s\"", a.Name)
		}
		if a.Default != "" && f.Args[i].Default == "" {
			return invalid("cannot remove parameter defaults from existing function")
		}
	}
	return functionRoutine(old).free(c, "replace")
}

// sameFunction finds the function of the same name and arguments.
func sameFunction(c *catalog.Catalog, f *catalog.Function) *catalog.Function {
	ts := make([]types.Type, len(f.Args))
	for i, a := range f.Args {
		ts[i] = a.Type
	}
	for _, g := range c.FunctionsNamed(f.Schema, f.Name, nil) {
		if g.SameArgs(ts) {
			return g
		}
	}
	return nil
}

func describeFunction(f *catalog.Function) string {
	args := make([]string, len(f.Args))
	for i, a := range f.Args {
		args[i] = a.Type.String()
	}
	return f.Name + "(" + strings.Join(args, ",") + ")"
}

// namedFunction finds the function that a statement names.
func (s *sess) namedFunction(cat *catalog.Catalog, n ast.FunctionName) (*catalog.Function, error) {
	var ts []types.Type
	for _, a := range n.Args {
		t, err := planner.ResolveType(a)
		if err != nil {
			return nil, err
		}
		ts = append(ts, t)
	}
	var found []*catalog.Function
	for _, f := range cat.FunctionsNamed(n.Name.Schema, n.Name.Name, s.set.searchPath(s.p.User)) {
		if !n.HasArgs || f.SameArgs(ts) {
			found = append(found, f)
		}
	}
	switch {
	case len(found) == 0 && n.HasArgs:
		names := make([]string, len(ts))
		for i, t := range ts {
			names[i] = t.String()
		}
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "function %s(%s) does not exist", n.Name.Name, strings.Join(names, ", "))
	case len(found) == 0:
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "could not find a function named \"%s\"", n.Name.Name)
	case len(found) > 1 && !n.HasArgs:
		return nil, sqlerr.New(sqlerr.AmbiguousFunction, "function name \"%s\" is not unique", n.Name.Name).WithHint("Specify the argument list to select the function unambiguously.")
	}
	return found[0], nil
}
