package engine

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// createProcessor runs CREATE [OR REPLACE] PROCESSOR. A processor that views use is exchanged between two epochs; its state goes on.
func (s *sess) createProcessor(ctx context.Context, x *ast.CreateProcessor) (session.Result, error) {
	const tag = "CREATE PROCESSOR"
	schema, err := s.target(x.Name)
	if err != nil {
		return nil, err
	}
	if x.Language != "starlark" {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "language \"%s\" does not exist", x.Language).
			WithHint("Processors are written in starlark, or in Go by programs that embed Tidemark.")
	}
	p, err := planner.BindProcessor(x, s.plannerOptions(s.catalog()))
	if err != nil {
		return nil, err
	}
	p.Schema = schema
	steps, _ := s.set.get("processor_max_steps")
	if p.MaxSteps, err = strconv.ParseInt(steps, 10, 64); err != nil {
		return nil, err
	}
	old := s.catalog().Processor(schema, p.Name)
	switch {
	case old != nil && x.OrReplace:
		p.OID = old.OID
	case old != nil && x.IfNotExists:
		n := sqlerr.Notice("processor \"%s\" already exists, skipping", p.Name)
		n.Code = sqlerr.DuplicateObject
		s.notice(n)
		return done(tag), nil
	case old != nil:
		return nil, duplicateProcessor(p.Name)
	default:
		p.OID = s.e.newOID()
	}
	if err := custom.Check(p); err != nil {
		return nil, err
	}
	return s.change(ctx, tag, func(c *catalog.Catalog) *catalog.Catalog { return c.WithProcessor(p) },
		func(b *epochBuild) error { return b.createProcessor(p, old != nil) })
}

func duplicateProcessor(name string) error {
	return sqlerr.New(sqlerr.DuplicateObject, "processor \"%s\" already exists", name)
}

// createProcessor is the part that runs in the loop.
func (b *epochBuild) createProcessor(p *catalog.Processor, replace bool) error {
	if b.cat.Schema(p.Schema) == nil {
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", p.Schema)
	}
	if have := b.cat.Processor(p.Schema, p.Name); have != nil && have.OID != p.OID {
		return duplicateProcessor(p.Name)
	}
	if replace && b.cat.ProcessorByOID(p.OID) == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "processor \"%s\" was dropped meanwhile", p.Name)
	}
	err := b.e.eachCustom(p.OID, func(v *view, o *custom.Operator) error {
		if st, _ := v.getStatus(); st == viewBackfill {
			return sqlerr.New(sqlerr.ObjectInUse, "materialized view \"%s\", which uses processor \"%s\", is being filled", v.rel.Name, p.Name).
				WithHint("Try again when it is complete; tidemark.backfills shows how far it is.")
		} else if st == viewFailed {
			return nil // it starts again
		}
		return o.CheckReplace(p)
	})
	if err != nil {
		return err
	}
	return b.apply(event{Kind: "processor", Proc: p})
}

// eachCustom calls f for every operator of a view that runs a processor.
func (e *Engine) eachCustom(oid catalog.OID, f func(*view, *custom.Operator) error) error {
	for _, v := range e.views {
		var err error
		v.graph.Operators(func(op dataflow.Operator) {
			if o, ok := op.(*custom.Operator); ok && err == nil && o.Processor().OID == oid && oid != 0 {
				err = f(v, o)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// closeOperators ends what a view that is no more has running.
func (v *view) closeOperators() error { return closeGraph(v.graph) }

// closeGraph ends the operators of a graph that have something to end: processors.
func closeGraph(g *dataflow.Graph) error {
	var err error
	g.Operators(func(op dataflow.Operator) {
		if c, ok := op.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	})
	return err
}

// exchange lets the views that use a processor go on with its new version, before they run the epoch.
func (e *Engine) exchange(p *catalog.Processor) {
	_ = e.eachCustom(p.OID, func(v *view, o *custom.Operator) error {
		if st, _ := v.getStatus(); st == viewFailed {
			return nil
		}
		if err := o.Replace(p); err != nil {
			v.setStatus(viewFailed, err)
			e.log.Error().Err(err).Str("view", v.rel.Name).Msg("view stopped: its processor could not be replaced")
		}
		return nil
	})
}

// dropProcessors runs DROP PROCESSOR.
func (s *sess) dropProcessors(ctx context.Context, x *ast.Drop) (session.Result, error) {
	const tag = "DROP PROCESSOR"
	var oids []catalog.OID
	cat := s.catalog()
	for _, n := range x.Names {
		p := cat.FindProcessor(n.Schema, n.Name, s.set.searchPath(s.p.User))
		if p == nil {
			if x.IfExists {
				s.notice(sqlerr.Notice("processor \"%s\" does not exist, skipping", n.Name))
				continue
			}
			return nil, sqlerr.New(sqlerr.UndefinedObject, "processor \"%s\" does not exist", n.Name).At(int(n.Pos))
		}
		oids = append(oids, p.OID)
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
			c = c.WithoutProcessor(oid)
		}
		return c
	}
	if err := dropBlocked(cat, oids, x.Cascade); err != nil {
		return nil, err
	}
	return s.change(ctx, tag, local, func(b *epochBuild) error { return b.dropProcessors(oids, x.Cascade) })
}

func usersOf(c *catalog.Catalog, processor catalog.OID) []catalog.OID {
	var out []catalog.OID
	for _, r := range c.UsersOf(processor) {
		out = append(out, r.OID)
	}
	return out
}

// dropBlocked refuses to drop processors that views use, without CASCADE.
func dropBlocked(cat *catalog.Catalog, oids []catalog.OID, cascade bool) error {
	for _, oid := range oids {
		users := cat.UsersOf(oid)
		if len(users) == 0 || cascade {
			continue
		}
		p := cat.ProcessorByOID(oid)
		var lines []string
		for _, r := range users {
			lines = append(lines, describeObject(r)+" depends on processor "+p.Name)
		}
		return sqlerr.New(sqlerr.DependentObjects, "cannot drop processor %s because other objects depend on it", p.Name).
			WithDetail("%s", strings.Join(lines, "\n")).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
	}
	return nil
}

// dropProcessors is the part that runs in the loop.
func (b *epochBuild) dropProcessors(oids []catalog.OID, cascade bool) error {
	for _, oid := range oids {
		if b.cat.ProcessorByOID(oid) == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "a processor was dropped meanwhile")
		}
	}
	if err := dropBlocked(b.cat, oids, cascade); err != nil {
		return err
	}
	for _, oid := range oids {
		if users := usersOf(b.cat, oid); len(users) > 0 {
			if err := b.dropAll(users, true); err != nil {
				return err
			}
		}
		if err := b.apply(event{Kind: "drop processor", OID: oid}); err != nil {
			return err
		}
	}
	return nil
}

// processorsIn lists the processors of a schema.
func processorsIn(c *catalog.Catalog, schema string) []catalog.OID {
	var out []catalog.OID
	for _, p := range c.Processors() {
		if p.Schema == schema {
			out = append(out, p.OID)
		}
	}
	return out
}

// showProcessors is SHOW PROCESSORS.
func (s *sess) showProcessors() [][]string {
	var out [][]string
	for _, p := range s.catalog().Processors() {
		out = append(out, []string{p.Schema, p.Name, p.Language, resultText(p)})
	}
	for _, p := range s.e.natives() {
		out = append(out, []string{"", p.Name, p.Language, resultText(p)})
	}
	return out
}

func resultText(p *catalog.Processor) string {
	var cols []string
	for _, c := range p.Columns {
		cols = append(cols, c.Name+" "+c.Type.String())
	}
	return "TABLE (" + strings.Join(cols, ", ") + ")"
}
