package engine

import (
	"context"
	"errors"

	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state"
)

// copy runs COPY.
func (s *sess) copy(ctx context.Context, x *ast.Copy) (session.Result, error) {
	if x.File != "" {
		return nil, sqlerr.Unsupported("COPY from or to a file of the server is not supported").At(int(x.At)).
			WithHint("Use COPY ... FROM STDIN, or psql's \\copy.")
	}
	if !x.From {
		return s.copyOut(ctx, x)
	}
	if err := s.writable("COPY FROM"); err != nil {
		return nil, err
	}
	rel, err := s.lookup(x.Table)
	if err != nil {
		return nil, err
	}
	o, err := copyOptions(x)
	if err != nil {
		return nil, err
	}
	if rel.Kind != catalog.Stream && rel.Kind != catalog.Table {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "cannot copy to %s \"%s\"", rel.Kind, rel.Name)
	}
	if err := notFed(rel); err != nil {
		return nil, err
	}
	cols, err := copyColumns(rel, x)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = rel.Columns[c].Name
	}
	if err := o.force(names, rel); err != nil {
		return nil, err
	}
	in, err := s.newCopyIn(rel, cols, &o.CopyFormat)
	if err != nil {
		return nil, err
	}
	in.batchRows = o.batchRows
	return &copyResult{in: in}, nil
}

// copyColumns resolves the column list; without one, all columns but hidden ones.
func copyColumns(rel *catalog.Relation, x *ast.Copy) ([]int, error) {
	var cols []int
	if len(x.Columns) == 0 {
		for i, c := range rel.Columns {
			if !c.Hidden {
				cols = append(cols, i)
			}
		}
		return cols, nil
	}
	seen := map[int]bool{}
	for _, n := range x.Columns {
		i := rel.ColumnIndex(n)
		if i < 0 || rel.Columns[i].Hidden {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", n, rel.Name)
		}
		if seen[i] {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once", n)
		}
		seen[i] = true
		cols = append(cols, i)
	}
	return cols, nil
}

// copyOut runs COPY t TO STDOUT and COPY (query) TO STDOUT.
func (s *sess) copyOut(ctx context.Context, x *ast.Copy) (session.Result, error) {
	q := x.Query
	var rel *catalog.Relation
	var cols []int
	if q == nil {
		var err error
		if rel, err = s.lookup(x.Table); err != nil {
			return nil, err
		}
		if cols, err = copyColumns(rel, x); err != nil {
			return nil, err
		}
		sel := &ast.Select{From: []ast.TableExpr{&ast.TableRef{Name: x.Table}}}
		for _, c := range cols {
			sel.Items = append(sel.Items, ast.SelectItem{X: &ast.ColumnRef{Parts: []string{rel.Columns[c].Name}}})
		}
		q = &ast.Query{Body: sel}
	}
	o, err := copyOptions(x)
	if err != nil {
		return nil, err
	}
	p := &prepared{st: &statement{ast.Parsed{Stmt: &ast.QueryStmt{Query: q}}}}
	if err := s.plan(p); err != nil {
		return nil, err
	}
	names := make([]string, len(p.cols))
	for i, c := range p.cols {
		names[i] = c.Name
	}
	if err := o.force(names, rel); err != nil {
		return nil, err
	}
	res, err := s.Execute(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	r := res.(*rows)
	r.verb, r.copy = "COPY", &o.CopyFormat
	return r, nil
}

// copyResult is the result of COPY FROM STDIN.
type copyResult struct {
	done
	in *copyIn
}

// CopyIn implements session.Result.
func (c *copyResult) CopyIn() session.CopyIn { return c.in }

// Tag implements session.Result.
func (c *copyResult) Tag() string { return tagRows("COPY", c.in.total) }

// Close implements session.Result.
func (c *copyResult) Close() { c.in.Abort() }

// Sizes of what COPY keeps: rows of a chunk, and rows from which on they are spooled into the log rather than kept in memory.
const (
	chunkRows = 1 << 14
	spoolRows = 1 << 17
)

// copyIn takes the rows of COPY FROM STDIN: they enter one epoch together at Commit, unless batch_rows is given.
type copyIn struct {
	s         *sess
	rel       *catalog.Relation
	cols      []int
	f         *session.CopyFormat
	ins       *inserter
	chunks    []*batch.Batch
	spool     *state.Spool // of a large COPY into a stream
	total     int64
	batchRows int
	pending   int
	closed    bool
}

func (s *sess) newCopyIn(rel *catalog.Relation, cols []int, f *session.CopyFormat) (*copyIn, error) {
	ins, err := s.newInserter(rel, cols)
	if err != nil {
		return nil, err
	}
	return &copyIn{s: s, rel: rel, cols: cols, f: f, ins: ins}, nil
}

// Format implements session.CopyIn.
func (c *copyIn) Format() *session.CopyFormat { return c.f }

// Columns implements session.CopyIn.
func (c *copyIn) Columns() []session.Column {
	out := make([]session.Column, len(c.cols))
	for i, k := range c.cols {
		out[i] = session.Column{Name: c.rel.Columns[k].Name, Type: c.rel.Columns[k].Type, TableOID: uint32(c.rel.OID), Attr: int16(k + 1)}
	}
	return out
}

// Relation implements session.CopyIn.
func (c *copyIn) Relation() string { return c.rel.Name }

// Rules implements session.CopyIn.
func (c *copyIn) Rules() session.CopyRules {
	r := session.CopyRules{UnitRows: c.batchRows, NotNull: make([]bool, len(c.cols)), Rows: c.ins.refuses()}
	for i, k := range c.cols {
		r.NotNull[i] = c.rel.Columns[k].NotNull
	}
	r.Keys = c.rel.Kind == catalog.Table && len(uniqueKeys(c.rel)) > 0
	return r
}

// Kept implements session.CopyIn.
func (c *copyIn) Kept() int64 {
	if c.s.tx != nil {
		return 0
	}
	return c.total
}

// Write implements session.CopyIn.
func (c *copyIn) Write(ctx context.Context, b *batch.Batch) (err error) {
	defer sqlerr.Recover(&err)
	full, err := c.ins.complete(b)
	if err != nil {
		return rowsLater(err, c.total+int64(c.pending))
	}
	c.pending += full.N
	if err := c.keep(full); err != nil {
		return err
	}
	if c.batchRows > 0 && c.pending >= c.batchRows {
		return c.flush(ctx)
	}
	return nil
}

// keep keeps rows until flush.
func (c *copyIn) keep(full *batch.Batch) error {
	if c.spool == nil && c.pending >= spoolRows && c.rel.Kind == catalog.Stream && c.s.tx == nil {
		c.spool = c.s.e.store.NewSpool(false)
		for _, b := range c.chunks {
			if err := c.spool.Append(b); err != nil {
				return err
			}
		}
		c.chunks = nil
	}
	if c.spool != nil {
		return c.spool.Append(full)
	}
	c.hold(full)
	return nil
}

// hold keeps rows in memory, in chunks of a reasonable size.
func (c *copyIn) hold(b *batch.Batch) {
	if n := len(c.chunks); n > 0 && c.chunks[n-1].N < chunkRows {
		c.chunks[n-1].AppendBatch(b, nil)
		return
	}
	c.chunks = append(c.chunks, b)
}

// flush makes what was written so far durable and visible.
func (c *copyIn) flush(ctx context.Context) error {
	if c.pending == 0 {
		return nil
	}
	chunks, spool, n := c.chunks, c.spool, c.pending
	c.chunks, c.spool, c.pending = nil, nil, 0
	var err error
	if spool != nil {
		err = c.flushSpool(ctx, spool, n)
	} else {
		err = c.s.write(ctx, n, func(w writer) error {
			if err := sameRelation(w, c.rel); err != nil {
				return err
			}
			before := c.total
			for _, b := range chunks {
				if err := insertRows(w, c.rel, b); err != nil {
					return rowsLater(err, before)
				}
				before += int64(b.N)
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	c.total += int64(n)
	return nil
}

// rowsLater counts the row of an error, if it is one row's, from n rows earlier.
func rowsLater(err error, n int64) error {
	if row := (*session.RowError)(nil); errors.As(err, &row) {
		row.Row += n
	}
	return err
}

// flushSpool makes the rows of a large COPY part of an epoch: they are in the log already, invisible until its record names them.
func (c *copyIn) flushSpool(ctx context.Context, spool *state.Spool, n int) error {
	done, err := spool.Finish()
	if err != nil {
		return errors.Join(err, c.s.e.abort(spool))
	}
	p := part{sp: done, spRows: int64(n)}
	err = c.s.submit(ctx, n, c.s.lazy(), func(b *epochBuild) error {
		if err := sameRelation(&loopWriter{b, c.s}, c.rel); err != nil {
			return err
		}
		return b.stageSpool(c.rel, p)
	})
	if err != nil {
		return errors.Join(err, c.s.e.abort(spool))
	}
	return nil
}

// abort deletes a spool that no epoch names. One that an epoch may name, which failed when it was being made durable, is left to the next
// start, which knows.
func (e *Engine) abort(sp *state.Spool) error {
	if e.readOnly() != nil {
		return nil
	}
	return sp.Abort()
}

// Commit implements session.CopyIn.
func (c *copyIn) Commit(ctx context.Context) (rows int64, err error) {
	defer sqlerr.Recover(&err)
	c.closed = true
	if err := c.flush(ctx); err != nil {
		if c.s.tx != nil {
			c.s.tx.failed = true
		}
		return 0, err
	}
	return c.total, nil
}

// Abort implements session.CopyIn.
func (c *copyIn) Abort() {
	c.chunks, c.pending = nil, 0
	if c.spool != nil {
		// What can't be deleted now is dropped when the database is opened again.
		_ = c.s.e.abort(c.spool)
		c.spool = nil
	}
	if !c.closed {
		c.closed = true
		if c.s.tx != nil {
			c.s.tx.failed = true
		}
	}
}

// write runs a DML statement: in the epoch loop outside a block, else at once against the block. rows is about how many it changes.
func (s *sess) write(ctx context.Context, rows int, f func(writer) error) error {
	if s.tx != nil {
		return f(s.blockWriter())
	}
	return s.submit(ctx, rows, s.lazy(), func(b *epochBuild) error { return f(&loopWriter{b, s}) })
}

// inserter brings rows into the shape of a table: defaults for missing columns, row ids, constraints.
type inserter struct {
	s        *sess
	rel      *catalog.Relation
	from     []int                // for each relation column: index in the rows that come in, -1 for a default
	defaults []types.Datum        // of all columns; NULL of those whose default is an expression
	fill     []planner.ColumnExpr // of columns that the rows lack
	checks   *constraints
	env      *kernel.Env
}

// newInserter makes the inserter for rows with the given columns of the relation.
func (s *sess) newInserter(rel *catalog.Relation, cols []int) (*inserter, error) {
	o := s.plannerOptions(s.catalog())
	checks, err := newConstraints(rel, o)
	if err != nil {
		return nil, err
	}
	// INSERT ... DEFAULT VALUES is planned for the defaults of all columns.
	def, err := planner.PlanInsert(&ast.Insert{Table: ast.Name{Schema: rel.Schema, Name: rel.Name}}, o)
	if err != nil {
		return nil, err
	}
	in := &inserter{s: s, rel: rel, from: make([]int, len(rel.Columns)), defaults: make([]types.Datum, len(rel.Columns)), checks: checks, env: s.kernelEnv()}
	for i := range in.from {
		in.from[i], in.defaults[i] = -1, types.NullDatum
		if def.Rows != nil {
			in.defaults[i] = def.Rows.Cols[i].Datum(0)
		}
	}
	for k, c := range cols {
		in.from[c] = k
	}
	for _, f := range def.Fill {
		if in.from[f.Col] < 0 {
			in.fill = append(in.fill, f)
		}
	}
	return in, nil
}

// refuses says whether complete may fail for a row that has no NULL in a column of its own that is NOT NULL.
func (in *inserter) refuses() bool {
	if len(in.checks.checks) > 0 || len(in.fill) > 0 {
		return true
	}
	for c, col := range in.rel.Columns {
		if in.from[c] < 0 && col.NotNull && !col.Hidden && in.defaults[c].Null {
			return true
		}
	}
	return false
}

// complete gives rows with all columns of the relation, as a batch of its own, and tests NOT NULL and CHECK. An error of a row is a
// *session.RowError.
func (in *inserter) complete(b *batch.Batch) (*batch.Batch, error) {
	out := &batch.Batch{N: b.N, Cols: make([]*batch.Vector, len(in.rel.Columns))}
	for c, col := range in.rel.Columns {
		if k := in.from[c]; k >= 0 {
			out.Cols[c] = batch.NewVector(col.Type, b.N)
			out.Cols[c].AppendVector(b.Cols[k], nil)
		} else {
			out.Cols[c] = batch.Constant(col.Type, in.defaults[c], b.N)
		}
	}
	if err := fillColumns(out, in.fill, nil, in.env); err != nil {
		return nil, err
	}
	in.s.e.numberRows(in.rel, out)
	return out, in.checks.test(out, in.env)
}
