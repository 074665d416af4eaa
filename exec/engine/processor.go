package engine

import (
	"context"
	"errors"
	"io"
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
	if p.MaxSteps, p.MaxMemory, err = s.set.callBounds(); err != nil {
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
			return sqlerr.New(sqlerr.ObjectInUse, "materialized view \"%s\", which uses processor \"%s\", is being filled", v.rel().Name, p.Name).
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
			e.log.Error().Err(err).Str("view", v.rel().Name).Msg("view stopped: its processor could not be replaced")
		}
		return nil
	})
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
