package engine

import (
	"context"
	"strconv"
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
	steps, _ := s.set.get("processor_max_steps")
	if f.MaxSteps, err = strconv.ParseInt(steps, 10, 64); err != nil {
		return nil, err
	}
	if f.Language == "starlark" {
		if _, err := custom.NewFunction(f); err != nil {
			return nil, err
		}
	}
	old := sameFunction(s.catalog(), f)
	if old != nil && !x.OrReplace {
		return nil, sqlerr.New("42723", "function \"%s\" already exists with same argument types", f.Name)
	}
	f.OID = s.e.newOID()
	if old != nil {
		f.OID = old.OID
		if !old.Result.Same(f.Result) {
			return nil, sqlerr.New(custom.InvalidFunctionDefinition, "cannot change return type of existing function").WithHint("Use DROP FUNCTION %s first.", describeFunction(old))
		}
		if err := functionFree(s.catalog(), old, "replace", false); err != nil {
			return nil, err
		}
	}
	return s.change(ctx, tag, func(c *catalog.Catalog) *catalog.Catalog { return c.WithFunction(f) }, func(b *epochBuild) error {
		if b.cat.Schema(f.Schema) == nil {
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", f.Schema)
		}
		if have := sameFunction(b.cat, f); have != nil && have.OID != f.OID {
			return sqlerr.New("42723", "function \"%s\" already exists with same argument types", f.Name)
		} else if have != nil {
			if err := functionFree(b.cat, have, "replace", false); err != nil {
				return err
			}
		}
		return b.apply(event{Kind: "function", Func: f})
	})
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

// functionFree refuses to change a function that views call: what they show would no longer be what their query says.
func functionFree(c *catalog.Catalog, f *catalog.Function, what string, cascade bool) error {
	users := c.UsersOf(f.OID)
	if len(users) == 0 || cascade {
		return nil
	}
	var lines []string
	for _, r := range users {
		lines = append(lines, describeObject(r)+" depends on function "+describeFunction(f))
	}
	return sqlerr.New(sqlerr.DependentObjects, "cannot %s function %s because other objects depend on it", what, describeFunction(f)).
		WithDetail("%s", strings.Join(lines, "\n")).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
}

// dropFunctions runs DROP FUNCTION.
func (s *sess) dropFunctions(ctx context.Context, x *ast.DropFunction) (session.Result, error) {
	const tag = "DROP FUNCTION"
	var oids []catalog.OID
	cat := s.catalog()
	for _, n := range x.Functions {
		f, err := s.namedFunction(cat, n)
		if err != nil {
			if x.IfExists && sqlerr.From(err).Code == sqlerr.UndefinedFunction {
				s.notice(sqlerr.Notice("%s, skipping", sqlerr.From(err).Message))
				continue
			}
			return nil, err
		}
		if err := functionFree(cat, f, "drop", x.Cascade); err != nil {
			return nil, err
		}
		oids = append(oids, f.OID)
	}
	if len(oids) == 0 {
		return done(tag), nil
	}
	local := func(c *catalog.Catalog) *catalog.Catalog {
		for _, oid := range oids {
			all, _ := closure(c, usersOf(c, oid))
			for _, r := range all {
				c = c.Without(r)
			}
			c = c.WithoutFunction(oid)
		}
		return c
	}
	return s.change(ctx, tag, local, func(b *epochBuild) error { return b.dropFunctions(oids, x.Cascade) })
}

// dropFunctions is the part that runs in the loop.
func (b *epochBuild) dropFunctions(oids []catalog.OID, cascade bool) error {
	for _, oid := range oids {
		f := b.cat.FunctionByOID(oid)
		if f == nil {
			return sqlerr.New(sqlerr.UndefinedFunction, "a function was dropped meanwhile")
		}
		if err := functionFree(b.cat, f, "drop", cascade); err != nil {
			return err
		}
		if users := usersOf(b.cat, oid); len(users) > 0 {
			if err := b.dropAll(users, true); err != nil {
				return err
			}
		}
		if err := b.apply(event{Kind: "drop function", OID: oid}); err != nil {
			return err
		}
	}
	return nil
}

// functionsIn lists the functions of a schema.
func functionsIn(c *catalog.Catalog, schema string) []catalog.OID {
	var out []catalog.OID
	for _, f := range c.Functions() {
		if f.Schema == schema {
			out = append(out, f.OID)
		}
	}
	return out
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
