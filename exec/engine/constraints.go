package engine

import (
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// constraints tests rows against NOT NULL and CHECK. One goroutine uses it.
type constraints struct {
	rel    *catalog.Relation
	checks []checkKernel
}

type checkKernel struct {
	name string
	k    *kernel.Kernel
}

// newConstraints compiles a relation's constraints.
func newConstraints(rel *catalog.Relation, o planner.Options) (*constraints, error) {
	c := &constraints{rel: rel}
	var cols []plan.Column
	for _, x := range rel.Columns {
		cols = append(cols, plan.Column{Name: x.Name, Type: x.Type})
	}
	for _, ch := range rel.Checks {
		e, err := parser.ParseExpr(ch.Expr)
		if err != nil {
			return nil, err
		}
		b, err := planner.BindScalar(e, cols, o)
		if err != nil {
			return nil, err
		}
		k, err := kernel.Compile(b, rel.Types())
		if err != nil {
			return nil, err
		}
		c.checks = append(c.checks, checkKernel{ch.Name, k})
	}
	return c, nil
}

// test gives PostgreSQL's 23502 or 23514 for the first row that breaks a constraint.
func (c *constraints) test(b *batch.Batch, env *kernel.Env) error {
	for i, col := range c.rel.Columns {
		if !col.NotNull || b.Cols[i].Valid == nil {
			continue
		}
		for r := 0; r < b.N; r++ {
			if b.Cols[i].IsNull(r) {
				e := sqlerr.New(sqlerr.NotNullViolation, "null value in column \"%s\" of relation \"%s\" violates not-null constraint", col.Name, c.rel.Name).
					WithDetail("Failing row contains %s.", c.showRow(b, r))
				e.Schema, e.Table, e.Column = c.rel.Schema, c.rel.Name, col.Name
				return e
			}
		}
	}
	for _, ch := range c.checks {
		v, errs := ch.k.Eval(env, b, nil)
		if len(errs) > 0 {
			return errs[0].Err
		}
		for r := 0; r < b.N; r++ {
			if !v.IsNull(r) && v.I64[r] == 0 {
				e := sqlerr.New(sqlerr.CheckViolation, "new row for relation \"%s\" violates check constraint \"%s\"", c.rel.Name, ch.name).
					WithDetail("Failing row contains %s.", c.showRow(b, r))
				e.Schema, e.Table, e.Constraint = c.rel.Schema, c.rel.Name, ch.name
				return e
			}
		}
	}
	return nil
}

func (c *constraints) showRow(b *batch.Batch, r int) string {
	out := []byte{'('}
	for i, v := range b.Cols {
		if c.rel.Columns[i].Hidden {
			continue
		}
		if len(out) > 1 {
			out = append(out, ", "...)
		}
		if d := v.Datum(r); d.Null {
			out = append(out, "null"...)
		} else {
			out = types.Append(out, v.Type, d, types.DefaultEnv())
		}
	}
	return string(append(out, ')'))
}
