package engine

import (
	"context"
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Routines are functions and processors: what they have in common is how they are dropped, and what that does to the relations that use them.

// routine is a function or processor of the catalog.
type routine struct {
	oid    catalog.OID
	kind   string // "function", "processor"
	schema string
	name   string // of a function with its arguments
}

// String describes the routine in messages.
func (r routine) String() string { return r.kind + " " + r.name }

func functionRoutine(f *catalog.Function) routine {
	return routine{f.OID, "function", f.Schema, describeFunction(f)}
}

func processorRoutine(p *catalog.Processor) routine {
	return routine{p.OID, "processor", p.Schema, p.Name}
}

// routineByOID finds a routine.
func routineByOID(c *catalog.Catalog, oid catalog.OID) (routine, bool) {
	if f := c.FunctionByOID(oid); f != nil {
		return functionRoutine(f), true
	}
	if p := c.ProcessorByOID(oid); p != nil {
		return processorRoutine(p), true
	}
	return routine{}, false
}

// routinesIn lists the routines of a schema.
func routinesIn(c *catalog.Catalog, schema string) []routine {
	var out []routine
	for _, f := range c.Functions() {
		if f.Schema == schema {
			out = append(out, functionRoutine(f))
		}
	}
	for _, p := range c.Processors() {
		if p.Schema == schema {
			out = append(out, processorRoutine(p))
		}
	}
	return out
}

// usersOf lists the relations that use a routine.
func usersOf(c *catalog.Catalog, oid catalog.OID) []catalog.OID {
	var out []catalog.OID
	for _, r := range c.UsersOf(oid) {
		out = append(out, r.OID)
	}
	return out
}

// free refuses to drop or replace a routine that relations use.
func (r routine) free(c *catalog.Catalog, verb string) error {
	users := c.UsersOf(r.oid)
	if len(users) == 0 {
		return nil
	}
	var lines []string
	for _, u := range users {
		lines = append(lines, describeObject(u)+" depends on "+r.String())
	}
	return sqlerr.New(sqlerr.DependentObjects, "cannot %s %s because other objects depend on it", verb, r).
		WithDetail("%s", strings.Join(lines, "\n")).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
}

// dropRoutines drops routines, with CASCADE the relations that use them too.
func (s *sess) dropRoutines(ctx context.Context, tag string, rs []routine, cascade bool) (session.Result, error) {
	if len(rs) == 0 {
		return done(tag), nil
	}
	cat := s.catalog()
	var users []catalog.OID
	for _, r := range rs {
		if err := r.free(cat, "drop"); err != nil && !cascade {
			return nil, err
		}
		users = append(users, usersOf(cat, r.oid)...)
	}
	all, _ := closure(cat, users)
	s.noteCascade(cat, all)
	local := func(c *catalog.Catalog) *catalog.Catalog {
		for _, oid := range all {
			c = c.Without(oid)
		}
		for _, r := range rs {
			c = c.WithoutFunction(r.oid).WithoutProcessor(r.oid)
		}
		return c
	}
	return s.change(ctx, tag, local, func(b *epochBuild) error { return b.dropRoutines(rs, cascade) })
}

// dropRoutines is the part that runs in the loop.
func (b *epochBuild) dropRoutines(rs []routine, cascade bool) error {
	for _, r := range rs {
		now, ok := routineByOID(b.cat, r.oid)
		if !ok {
			return sqlerr.New(sqlerr.UndefinedFunction, "%s was dropped meanwhile", r)
		}
		if err := now.free(b.cat, "drop"); err != nil && !cascade {
			return err
		}
		if users := usersOf(b.cat, r.oid); len(users) > 0 {
			if err := b.dropAll(users, true); err != nil {
				return err
			}
		}
		if err := b.apply(event{Kind: "drop " + r.kind, OID: r.oid}); err != nil {
			return err
		}
	}
	return nil
}

// dropFunctions runs DROP FUNCTION.
func (s *sess) dropFunctions(ctx context.Context, x *ast.DropFunction) (session.Result, error) {
	var rs []routine
	for _, n := range x.Functions {
		f, err := s.namedFunction(s.catalog(), n)
		if err == nil {
			rs = addRoutine(rs, functionRoutine(f))
			continue
		}
		e := sqlerr.From(err)
		if !x.IfExists || e.Code != sqlerr.UndefinedFunction && e.Code != sqlerr.UndefinedObject && e.Code != sqlerr.InvalidSchemaName {
			return nil, err
		}
		s.notice(sqlerr.Notice("%s, skipping", strings.Replace(e.Message, "could not find a function named \"", "function ", 1)))
	}
	return s.dropRoutines(ctx, "DROP FUNCTION", rs, x.Cascade)
}

// dropProcessors runs DROP PROCESSOR.
func (s *sess) dropProcessors(ctx context.Context, x *ast.Drop) (session.Result, error) {
	var rs []routine
	for _, n := range x.Names {
		p := s.catalog().FindProcessor(n.Schema, n.Name, s.set.searchPath(s.p.User))
		switch {
		case p != nil:
			rs = addRoutine(rs, processorRoutine(p))
		case x.IfExists:
			s.notice(sqlerr.Notice("processor \"%s\" does not exist, skipping", n.Name))
		default:
			return nil, sqlerr.New(sqlerr.UndefinedObject, "processor \"%s\" does not exist", n.Name).At(int(n.Pos))
		}
	}
	return s.dropRoutines(ctx, "DROP PROCESSOR", rs, x.Cascade)
}

// addRoutine adds a routine that may be named twice.
func addRoutine(rs []routine, r routine) []routine {
	for _, x := range rs {
		if x.oid == r.oid {
			return rs
		}
	}
	return append(rs, r)
}
