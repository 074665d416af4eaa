package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// planDML plans INSERT, UPDATE and DELETE.
func (s *sess) planDML(p *prepared, o planner.Options) error {
	var ret []plan.Column
	switch x := p.st.Stmt.(type) {
	case *ast.Insert:
		ip, err := planner.PlanInsert(x, o)
		if err != nil {
			return err
		}
		p.plan, p.params = ip, ip.Params
		if ip.Returning != nil {
			ret = ip.Returning.Columns
		}
	case *ast.Update:
		up, err := planner.PlanUpdate(x, o)
		if err != nil {
			return err
		}
		p.plan, p.params, ret = up, up.Query.Params, up.ReturningCols
	case *ast.Delete:
		dp, err := planner.PlanDelete(x, o)
		if err != nil {
			return err
		}
		p.plan, p.params, ret = dp, dp.Query.Params, dp.ReturningCols
	}
	p.cols = nil
	if ret != nil {
		p.cols = sessionColumns(ret)
	}
	return nil
}

// executeDML runs INSERT, UPDATE or DELETE.
func (s *sess) executeDML(ctx context.Context, p *prepared, params []types.Datum) (session.Result, error) {
	verb := commandTag(p.st.Stmt)
	if err := s.writable(verb); err != nil {
		return nil, err
	}
	d := &dml{s: s, ctx: ctx, params: params, env: s.kernelEnv()}
	var err error
	switch x := p.plan.(type) {
	case *planner.InsertPlan:
		if err = s.compileChecks(p, x.Rel); err == nil {
			err = d.insert(x, p.checks)
		}
	case *planner.UpdatePlan:
		if err = s.compileChecks(p, x.Rel); err == nil {
			err = d.update(x, p.checks)
		}
	case *planner.DeletePlan:
		err = d.delete(x)
	}
	if err != nil {
		return nil, err
	}
	if p.cols == nil {
		return done(tagRows(verb, d.count)), nil
	}
	r := s.oneBatch(p.cols, verb, d.returned)
	r.tag = func() string { return tagRows(verb, d.count) }
	return r, nil
}

// compileChecks makes the constraints that a statement tests, for all its executions.
func (s *sess) compileChecks(p *prepared, rel *catalog.Relation) (err error) {
	if p.checks == nil {
		p.checks, err = newConstraints(rel, s.plannerOptions(s.catalog()))
	}
	return err
}

// dml is one running INSERT, UPDATE or DELETE.
type dml struct {
	s        *sess
	ctx      context.Context
	params   []types.Datum
	env      *kernel.Env
	count    int64
	returned *batch.Batch
}

// insert runs an INSERT: its rows are computed on the session's goroutine, keys are tested where they are written.
func (d *dml) insert(p *planner.InsertPlan, checks *constraints) error {
	if err := notFed(p.Rel); err != nil {
		return err
	}
	rows, err := d.insertRows(p)
	if err != nil {
		return err
	}
	if p.OnConflict == nil || p.OnConflict.Set == nil {
		if err := checks.test(rows, d.env); err != nil {
			return err
		}
	}
	return d.s.write(d.ctx, rows.N, func(w writer) error {
		if err := sameRelation(w, p.Rel); err != nil {
			return err
		}
		stored := rows
		switch {
		case p.OnConflict != nil:
			c := &conflicts{d: d, p: p, w: w, checks: checks}
			var err error
			if stored, err = c.run(rows); err != nil {
				return err
			}
		default:
			if p.Returning != nil {
				stored = rows.Select(allRows(rows.N))
			}
			n := rows.N
			if err := insertRows(w, p.Rel, rows); err != nil {
				return err
			}
			d.count = int64(n)
		}
		if p.Returning == nil {
			return nil
		}
		var err error
		d.returned, err = d.evaluate(p.Returning.Exprs, stored)
		return err
	})
}

// insertRows stages rows, having tested that their keys are free.
func insertRows(w writer, rel *catalog.Relation, b *batch.Batch) error {
	if rel.Kind == catalog.Table {
		if err := keysFree(w, rel, b); err != nil {
			return err
		}
	}
	return w.stage(rel, b)
}

// sameRelation tests that the statement's target is still what it was planned for.
func sameRelation(w writer, rel *catalog.Relation) error {
	now := w.catalogNow().ByOID(rel.OID)
	if now == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", rel.Name)
	}
	if len(now.Columns) != len(rel.Columns) {
		return sqlerr.New(sqlerr.SerializationFailure, "relation \"%s\" was changed meanwhile", rel.Name)
	}
	return nil
}

// insertRows computes the rows of an INSERT, with all columns of the relation; the batch is the caller's.
func (d *dml) insertRows(p *planner.InsertPlan) (*batch.Batch, error) {
	rel := p.Rel
	var rows *batch.Batch
	switch {
	case p.Rows != nil:
		// The epoch combines what it is given, and the plan may be executed again: it keeps its rows.
		rows = p.Rows.Select(allRows(p.Rows.N))
	case p.RowExprs != nil:
		rows = batch.New(rel.Types(), len(p.RowExprs))
		for _, r := range p.RowExprs {
			for c, e := range r {
				if e == nil {
					rows.Cols[c].AppendNull()
					continue
				}
				v, err := d.value(e)
				if err != nil {
					return nil, err
				}
				rows.Cols[c].AppendDatum(v)
			}
			rows.EndRow(1)
		}
	default:
		rows = batch.New(rel.Types(), 0)
		if err := d.s.readable(d.ctx, p.Source); err != nil {
			return nil, err
		}
		r, root := d.s.reader(), planner.Bind(p.Source, d.params).Root
		if err := stillThere(d.s.catalog(), p.Source); err != nil {
			return nil, err
		}
		err := runQuery(d.ctx, root, r, d.env, func(b *batch.Batch) error {
			rows.AppendBatch(b, nil)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if p.Rows != nil {
		if err := fillColumns(rows, p.Fill, d.params, d.env); err != nil {
			return nil, err
		}
	}
	d.s.e.numberRows(rel, rows)
	return rows, nil
}

// value computes an expression without columns.
func (d *dml) value(e plan.Expr) (types.Datum, error) {
	if p, ok := e.(*plan.Param); ok && p.N <= len(d.params) {
		return d.params[p.N-1], nil
	}
	return kernel.EvalConst(planner.BindExpr(e, d.params), d.env)
}

// fillColumns computes columns whose default is an expression, for every row. An error of a row is a *session.RowError.
func fillColumns(rows *batch.Batch, fill []planner.ColumnExpr, params []types.Datum, env *kernel.Env) error {
	for _, f := range fill {
		k, err := kernel.Compile(planner.BindExpr(f.Expr, params), rows.Types())
		if err != nil {
			return err
		}
		v, errs := k.Eval(env, rows, nil)
		if len(errs) > 0 {
			return firstRow(errs)
		}
		col := batch.NewVector(rows.Cols[f.Col].Type, rows.N)
		col.AppendVector(v, nil)
		rows.Cols[f.Col] = col
	}
	return nil
}

// numberRows gives rows of a table without a key their hidden ids.
func (e *Engine) numberRows(rel *catalog.Relation, rows *batch.Batch) {
	if !rel.HiddenKey {
		return
	}
	ids := batch.NewVector(types.Of(types.Int8), rows.N)
	for range rows.N {
		ids.AppendInt(e.nextRow.Add(1))
	}
	rows.Cols[rel.PrimaryKey[0]] = ids
}

// evaluate computes expressions over rows, as a batch of its own. An error of a row aborts the statement.
func (d *dml) evaluate(exprs []plan.Expr, rows *batch.Batch) (*batch.Batch, error) {
	out := &batch.Batch{N: rows.N}
	flat := &batch.Batch{N: rows.N, Cols: rows.Cols}
	for _, e := range exprs {
		k, err := kernel.Compile(planner.BindExpr(e, d.params), rows.Types())
		if err != nil {
			return nil, err
		}
		v, errs := k.Eval(d.env, flat, nil)
		if len(errs) > 0 {
			return nil, errs[0].Err
		}
		col := batch.NewVector(v.Type, rows.N)
		col.AppendVector(v, nil)
		out.Cols = append(out.Cols, col)
	}
	return out, nil
}

// update runs an UPDATE where it is written, so that outside a block it sees every change before it.
func (d *dml) update(p *planner.UpdatePlan, checks *constraints) error {
	if err := d.s.readable(d.ctx, p.Query); err != nil {
		return err
	}
	k := len(p.Rel.Columns)
	return d.s.write(d.ctx, 1, func(w writer) error {
		all, err := d.target(w, p.Query, p.Rel)
		if err != nil {
			return err
		}
		old, fresh := all.Project(cols(0, k)), all.Project(cols(k, 2*k)).Select(allRows(all.N))
		for c := range fresh.Cols {
			fresh.Cols[c].Type = p.Rel.Columns[c].Type
		}
		if err := checks.test(fresh, d.env); err != nil {
			return err
		}
		d.count = int64(all.N)
		if p.ReturningCols != nil {
			d.returned = all.Project(cols(2*k, len(all.Cols)))
		}
		if err := w.stage(p.Rel, old.Select(allRows(old.N)).Negate()); err != nil {
			return err
		}
		return insertRows(w, p.Rel, fresh)
	})
}

// delete runs a DELETE where it is written.
func (d *dml) delete(p *planner.DeletePlan) error {
	if err := d.s.readable(d.ctx, p.Query); err != nil {
		return err
	}
	k := len(p.Rel.Columns)
	return d.s.write(d.ctx, 1, func(w writer) error {
		all, err := d.target(w, p.Query, p.Rel)
		if err != nil {
			return err
		}
		d.count = int64(all.N)
		if p.ReturningCols != nil {
			d.returned = all.Project(cols(k, len(all.Cols)))
		}
		return w.stage(p.Rel, all.Project(cols(0, k)).Select(allRows(all.N)).Negate())
	})
}

// target gathers the rows that UPDATE and DELETE are about.
func (d *dml) target(w writer, q *plan.Query, rel *catalog.Relation) (*batch.Batch, error) {
	if err := sameRelation(w, rel); err != nil {
		return nil, err
	}
	if err := stillThere(w.catalogNow(), q); err != nil {
		return nil, err
	}
	out := batch.New(plan.Types(q.Root), 0)
	err := runQuery(d.ctx, planner.Bind(q, d.params).Root, w, d.env, func(b *batch.Batch) error {
		out.AppendBatch(b, nil)
		return nil
	})
	return out, err
}

func cols(lo, hi int) []int {
	out := make([]int, 0, hi-lo)
	for i := lo; i < hi; i++ {
		out = append(out, i)
	}
	return out
}

// conflicts runs INSERT ... ON CONFLICT, row by row.
type conflicts struct {
	d      *dml
	p      *planner.InsertPlan
	w      writer
	checks *constraints
}

// run stages the rows and gives those that were stored.
func (c *conflicts) run(rows *batch.Batch) (*batch.Batch, error) {
	rel := c.p.Rel
	stored := batch.New(rel.Types(), rows.N)
	touched := map[string]bool{}
	for i := 0; i < rows.N; i++ {
		one := rows.Select([]int32{int32(i)})
		old, err := c.existing(one)
		if err != nil {
			return nil, err
		}
		if old == nil {
			if err := c.checks.test(one, c.d.env); err != nil {
				return nil, err
			}
			touched[c.name(one)] = true
			stored.AppendBatch(one, nil)
			if err := insertRows(c.w, rel, one); err != nil {
				return nil, err
			}
			c.d.count++
			continue
		}
		if c.p.OnConflict.Set == nil {
			continue
		}
		if touched[c.name(old)] {
			return nil, sqlerr.New(sqlerr.CardinalityViolation, "ON CONFLICT DO UPDATE command cannot affect row a second time").
				WithHint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
		}
		fresh, err := c.merged(old, one)
		if err != nil {
			return nil, err
		}
		if fresh == nil {
			continue
		}
		touched[c.name(fresh)] = true
		stored.AppendBatch(fresh, nil)
		if err := c.w.stage(rel, old.Negate()); err != nil {
			return nil, err
		}
		if err := insertRows(c.w, rel, fresh); err != nil {
			return nil, err
		}
		c.d.count++
	}
	return stored, nil
}

// name identifies a row of the target by its primary key.
func (c *conflicts) name(b *batch.Batch) string {
	return string(appendKey(nil, c.p.Rel, keyOf(c.p.Rel, b, 0)))
}

// existing finds the row that is in the way of a new one; nil if there is none.
func (c *conflicts) existing(one *batch.Batch) (*batch.Batch, error) {
	for _, key := range uniqueKeys(c.p.Rel) {
		if c.p.OnConflict.Columns != nil && !sameKey(key, c.p.OnConflict.Columns) {
			continue
		}
		vals, null := keyValues(one, 0, key)
		if null {
			continue
		}
		var old *batch.Batch
		err := c.w.lookup(c.p.Rel, key, vals, func(b *batch.Batch) error {
			if b.N > 0 && old == nil {
				old = b.Select([]int32{0})
				old.Weights = nil
			}
			return nil
		})
		if err != nil || old != nil {
			return old, err
		}
	}
	return nil, nil
}

// merged computes the row that DO UPDATE stores; nil where its WHERE does not hold.
func (c *conflicts) merged(old, one *batch.Batch) (*batch.Batch, error) {
	both := &batch.Batch{N: 1, Cols: append(append([]*batch.Vector{}, old.Cols...), one.Cols...)}
	if w := c.p.OnConflict.Where; w != nil {
		v, err := c.d.evaluate([]plan.Expr{w}, both)
		if err != nil {
			return nil, err
		}
		if v.Cols[0].IsNull(0) || v.Cols[0].I64[0] == 0 {
			return nil, nil
		}
	}
	fresh := &batch.Batch{N: 1, Cols: append([]*batch.Vector{}, old.Cols...)}
	for _, set := range c.p.OnConflict.Set {
		v, err := c.d.evaluate([]plan.Expr{set.Expr}, both)
		if err != nil {
			return nil, err
		}
		fresh.Cols[set.Col] = v.Cols[0]
	}
	fresh = fresh.Select([]int32{0})
	return fresh, c.checks.test(fresh, c.d.env)
}

// truncate runs TRUNCATE.
func (s *sess) truncate(ctx context.Context, x *ast.Truncate) (session.Result, error) {
	if err := s.writable("TRUNCATE TABLE"); err != nil {
		return nil, err
	}
	for _, n := range x.Tables {
		p, err := planner.PlanDelete(&ast.Delete{Table: n}, s.plannerOptions(s.catalog()))
		if err != nil {
			return nil, err
		}
		d := &dml{s: s, ctx: ctx, env: s.kernelEnv()}
		if err := d.delete(p); err != nil {
			return nil, err
		}
	}
	return done("TRUNCATE TABLE"), nil
}
