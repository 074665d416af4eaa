package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

var dropKinds = map[string]catalog.Kind{"stream": catalog.Stream, "table": catalog.Table, "view": catalog.View,
	"materialized view": catalog.MatView, "index": catalog.Index}

// drop runs DROP of schemas and relations.
func (s *sess) drop(ctx context.Context, x *ast.Drop) (session.Result, error) {
	tag := commandTag(x)
	if x.Kind == "schema" {
		return s.dropSchemas(ctx, x)
	}
	if x.Kind == "processor" {
		return s.dropProcessors(ctx, x)
	}
	kind, ok := dropKinds[x.Kind]
	if !ok {
		return nil, sqlerr.Unsupported("%s is not supported", tag).At(0)
	}
	var oids []catalog.OID
	cat := s.catalog()
	for _, n := range x.Names {
		rel, err := cat.Lookup(n.Schema, n.Name, s.set.searchPath(s.p.User))
		if err != nil {
			if x.IfExists {
				s.notice(sqlerr.Notice("%s \"%s\" does not exist, skipping", x.Kind, n.Name))
				continue
			}
			return nil, missing(x.Kind, n)
		}
		if rel.Kind == catalog.System {
			return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied: \"%s\" is a system catalog", rel.Name)
		}
		if is := s.kindOf(rel); is != kind {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a %s", rel.Name, x.Kind).
				WithHint("Use DROP %s to remove a %s.", strings.ToUpper(is.String()), is)
		}
		oids = append(oids, rel.OID)
	}
	all, err := s.dropSet(cat, oids, x.Cascade)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return done(tag), nil
	}
	local := func(c *catalog.Catalog) *catalog.Catalog {
		for _, oid := range all {
			c = c.Without(oid)
		}
		return c
	}
	return s.change(ctx, tag, local, func(b *epochBuild) error { return b.dropAll(oids, x.Cascade) })
}

func missing(kind string, n ast.Name) error {
	name := n.Name
	if n.Schema != "" {
		name = n.Schema + "." + n.Name
	}
	e := sqlerr.New(sqlerr.UndefinedTable, "%s \"%s\" does not exist", kind, name)
	if kind == "index" {
		e.Code = sqlerr.UndefinedObject
	}
	return e
}

// dropSet lists what a DROP removes, dependents first; without CASCADE dependents are an error.
func (s *sess) dropSet(cat *catalog.Catalog, oids []catalog.OID, cascade bool) ([]catalog.OID, error) {
	all, extra := closure(cat, oids)
	if len(extra) == 0 {
		return all, nil
	}
	if !cascade {
		return nil, dependents(cat, oids, extra)
	}
	s.noteCascade(cat, extra)
	return all, nil
}

// noteCascade tells the client what else is dropped.
func (s *sess) noteCascade(cat *catalog.Catalog, extra []catalog.OID) {
	var lines []string
	for _, oid := range extra {
		if r := cat.ByOID(oid); r != nil && r.Kind != catalog.Index {
			lines = append(lines, "drop cascades to "+describeObject(r))
		}
	}
	switch len(lines) {
	case 0:
	case 1:
		s.notice(sqlerr.Notice("%s", lines[0]))
	default:
		s.notice(sqlerr.Notice("drop cascades to %d other objects", len(lines)).WithDetail("%s", strings.Join(lines, "\n")))
	}
}

// closure gives oids with everything built on them, dependents before what they depend on, and those that were not named.
func closure(cat *catalog.Catalog, oids []catalog.OID) (all, extra []catalog.OID) {
	named, seen := map[catalog.OID]bool{}, map[catalog.OID]bool{}
	for _, o := range oids {
		named[o] = true
	}
	var visit func(catalog.OID)
	visit = func(o catalog.OID) {
		if seen[o] {
			return
		}
		seen[o] = true
		for _, d := range cat.Dependents(o) {
			visit(d.OID)
		}
		all = append(all, o)
		if r := cat.ByOID(o); !named[o] && r != nil && r.Kind != catalog.Index {
			extra = append(extra, o)
		}
	}
	for _, o := range oids {
		visit(o)
	}
	return all, extra
}

func dependents(cat *catalog.Catalog, oids, extra []catalog.OID) error {
	first := cat.ByOID(oids[0])
	var lines []string
	for _, o := range extra {
		on := first
		for _, d := range cat.ByOID(o).DependsOn {
			if r := cat.ByOID(d); r != nil {
				on = r
				break
			}
		}
		lines = append(lines, fmt.Sprintf("%s depends on %s", describeObject(cat.ByOID(o)), describeObject(on)))
	}
	return sqlerr.New(sqlerr.DependentObjects, "cannot drop %s because other objects depend on it", describeObject(first)).
		WithDetail("%s", strings.Join(lines, "\n")).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
}

func describeObject(r *catalog.Relation) string {
	if r.Schema != "public" {
		return fmt.Sprintf("%s %s.%s", r.Kind, r.Schema, r.Name)
	}
	return fmt.Sprintf("%s %s", r.Kind, r.Name)
}

// dropAll is the part of DROP that runs in the loop.
func (b *epochBuild) dropAll(oids []catalog.OID, cascade bool) error {
	for _, o := range oids {
		if b.cat.ByOID(o) == nil {
			return sqlerr.New(sqlerr.UndefinedTable, "a relation was dropped meanwhile")
		}
	}
	all, extra := closure(b.cat, oids)
	if len(extra) > 0 && !cascade {
		return dependents(b.cat, oids, extra)
	}
	for _, o := range all {
		if err := b.apply(event{Kind: "drop", OID: o}); err != nil {
			return err
		}
	}
	return nil
}

func (s *sess) dropSchemas(ctx context.Context, x *ast.Drop) (session.Result, error) {
	cat := s.catalog()
	var names []string
	for _, n := range x.Names {
		if catalog.SystemSchema(n.Name) {
			return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for schema %s", n.Name)
		}
		if cat.Schema(n.Name) == nil {
			if x.IfExists {
				s.notice(sqlerr.Notice("schema \"%s\" does not exist, skipping", n.Name))
				continue
			}
			return nil, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", n.Name)
		}
		names = append(names, n.Name)
	}
	op := func(b *epochBuild) error {
		for _, name := range names {
			var oids []catalog.OID
			for _, r := range b.cat.Relations() {
				if r.Schema == name {
					oids = append(oids, r.OID)
				}
			}
			routines := routinesIn(b.cat, name)
			if len(oids)+len(routines) > 0 && !x.Cascade {
				var lines []string
				for _, o := range oids {
					lines = append(lines, fmt.Sprintf("%s depends on schema %s", describeObject(b.cat.ByOID(o)), name))
				}
				for _, r := range routines {
					lines = append(lines, fmt.Sprintf("%s %s.%s depends on schema %s", r.kind, name, r.name, name))
				}
				return sqlerr.New(sqlerr.DependentObjects, "cannot drop schema %s because other objects depend on it", name).
					WithDetail("%s", strings.Join(lines, "\n")).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
			}
			if len(oids) > 0 {
				if err := b.dropAll(oids, true); err != nil {
					return err
				}
			}
			if err := b.dropRoutines(routines, true); err != nil {
				return err
			}
			if err := b.apply(event{Kind: "drop schema", Sch: &catalog.Schema{Name: name}}); err != nil {
				return err
			}
		}
		return nil
	}
	local := func(c *catalog.Catalog) *catalog.Catalog {
		for _, n := range names {
			c = c.WithoutSchema(n)
		}
		return c
	}
	if len(names) == 0 {
		return done("DROP SCHEMA"), nil
	}
	return s.change(ctx, "DROP SCHEMA", local, op)
}
