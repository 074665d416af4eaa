package engine

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
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
	// PostgreSQL tests a row's checks in the order of their names.
	slices.SortFunc(c.checks, func(a, b checkKernel) int { return strings.Compare(a.name, b.name) })
	return c, nil
}

// test gives PostgreSQL's 23502 or 23514 for the first row that breaks a constraint, as a *session.RowError.
func (c *constraints) test(b *batch.Batch, env *kernel.Env) error {
	var first *session.RowError
	end := b.N // rows from here on need no test any more: an earlier one is broken
	fail := func(r int, err error) { first, end = &session.RowError{Row: int64(r), Shown: true, Err: err}, r }
	for i, col := range c.rel.Columns {
		if !col.NotNull || b.Cols[i].Valid == nil {
			continue
		}
		for r := 0; r < end; r++ {
			if b.Cols[i].IsNull(r) {
				fail(r, c.nullError(b, i, r))
			}
		}
	}
	for _, ch := range c.checks {
		v, errs := ch.k.Eval(env, b, nil)
		if len(errs) > 0 {
			if e := firstRow(errs); int(e.Row) < end {
				fail(int(e.Row), e.Err)
			}
		}
		for r := 0; r < end; r++ {
			if !v.IsNull(r) && v.I64[r] == 0 {
				fail(r, c.checkError(b, ch.name, r))
			}
		}
	}
	if first == nil {
		return nil
	}
	return first
}

// firstRow gives the error of the first row of those that an expression fails for.
func firstRow(errs []kernel.RowError) *session.RowError {
	e := slices.MinFunc(errs, func(a, b kernel.RowError) int { return a.Row - b.Row })
	return &session.RowError{Row: int64(e.Row), Shown: true, Err: e.Err}
}

func (c *constraints) nullError(b *batch.Batch, col, r int) error {
	name := c.rel.Columns[col].Name
	e := sqlerr.New(sqlerr.NotNullViolation, "null value in column \"%s\" of relation \"%s\" violates not-null constraint", name, c.rel.Name).
		WithDetail("Failing row contains %s.", c.showRow(b, r))
	e.Schema, e.Table, e.Column = c.rel.Schema, c.rel.Name, name
	return e
}

func (c *constraints) checkError(b *batch.Batch, check string, r int) error {
	e := sqlerr.New(sqlerr.CheckViolation, "new row for relation \"%s\" violates check constraint \"%s\"", c.rel.Name, check).
		WithDetail("Failing row contains %s.", c.showRow(b, r))
	e.Schema, e.Table, e.Constraint = c.rel.Schema, c.rel.Name, check
	return e
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
			at := len(out)
			out = shorten(types.Append(out, v.Type, d, types.DefaultEnv()), at)
		}
	}
	return string(append(out, ')'))
}

// maxShown is how much of a value a failing row is shown with, in bytes, as in PostgreSQL.
const maxShown = 64

// shorten cuts the value that begins at b[at:], between characters, if it is long.
func shorten(b []byte, at int) []byte {
	n := at + maxShown
	if len(b) <= n {
		return b
	}
	for n > at && !utf8.RuneStart(b[n]) {
		n--
	}
	return append(b[:n], "..."...)
}
