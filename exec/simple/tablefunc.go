package simple

import (
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// tableFunc calls a set-returning function: once, or for every input row.
type tableFunc struct {
	once
	n       *plan.TableFunc
	fn      *kernel.SetKernel
	in      int // number of input columns
	fnTypes []types.Type
	env     *kernel.Env
	out     *rowenc.Out
	rows    *batch.Batch // the function's rows for one input row; in a view, held until it is known that the call succeeds
}

// NewTableFunc makes the operator of a plan.TableFunc. Without input its rows come at the end of the first epoch that it sees.
func NewTableFunc(n *plan.TableFunc, in dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	var inTypes []types.Type
	if n.Input != nil {
		inTypes = in[0]
	}
	set, err := kernel.CompileSet(n.Fn, n.Args, inTypes)
	if err != nil {
		return nil, err
	}
	all := plan.Types(n)
	end := len(all)
	if n.Ordinality {
		end--
	}
	t := &tableFunc{n: n, fn: set, in: len(inTypes), fnTypes: all[len(inTypes):end], env: env, out: rowenc.NewOut(all)}
	t.rows = batch.New(t.fnTypes, 16)
	if n.Input == nil {
		t.once = newOnce(sp, opID, "table_function")
	}
	return t, nil
}

// Push implements dataflow.Operator.
func (t *tableFunc) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, out dataflow.Emit) error {
	for i := 0; i < b.N; i++ {
		if err := t.call(ep, b, i, out); err != nil {
			return err
		}
	}
	return t.out.Flush(out)
}

// EndEpoch implements dataflow.Operator.
func (t *tableFunc) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	if t.n.Input != nil || !t.first() {
		return nil
	}
	if err := t.call(ep, oneRow(), 0, out); err != nil {
		return err
	}
	return t.out.Flush(out)
}

// maxCallRows bounds the rows that one call may give in a view: they are held until the call has succeeded, and a row that makes
// more of them would stop the database at each start. In a SELECT they go on at once and are not bounded.
const maxCallRows = 10_000_000

// call runs the function for row i of b and appends what it gives.
func (t *tableFunc) call(ep *dataflow.Epoch, b *batch.Batch, i int, out dataflow.Emit) error {
	t.rows.Reset()
	before := int64(0) // rows that went on already
	var stop error
	err := t.fn.Call(t.env, b, i, func(vals []types.Datum) bool {
		for c, d := range vals {
			t.rows.Cols[c].AppendDatum(d)
		}
		t.rows.EndRow(1)
		switch {
		case ep.Final && t.rows.N == batch.Target:
			stop = t.pass(b, i, before, out)
			before += int64(t.rows.N)
			t.rows.Reset()
		case t.rows.N > maxCallRows:
			stop = ep.Sink.Dead(ep, b, i, sqlerr.New(sqlerr.ProgramLimitExceeded, "set-returning function gives more than %d rows for one row", maxCallRows))
			t.rows.Reset()
			return false
		}
		return stop == nil
	})
	if err != nil {
		return ep.Sink.Dead(ep, b, i, sqlerr.From(err))
	}
	if stop != nil {
		return stop
	}
	if before == 0 && t.rows.N == 0 && t.n.Outer {
		return t.emit(b, i, -1, 0, out)
	}
	return t.pass(b, i, before, out)
}

// pass appends input row i with each of the function's rows that are held; before of them came earlier.
func (t *tableFunc) pass(b *batch.Batch, i int, before int64, out dataflow.Emit) error {
	for r := 0; r < t.rows.N; r++ {
		if err := t.emit(b, i, r, before, out); err != nil {
			return err
		}
	}
	return nil
}

// emit appends input row i with row r of those that are held; r < 0 stands for NULLs.
func (t *tableFunc) emit(b *batch.Batch, i, r int, before int64, out dataflow.Emit) error {
	cols := t.out.B.Cols
	for c := 0; c < t.in; c++ {
		cols[c].AppendFrom(b.Cols[c], i)
	}
	for c := range t.fnTypes {
		if r < 0 {
			cols[t.in+c].AppendNull()
		} else {
			cols[t.in+c].AppendFrom(t.rows.Cols[c], r)
		}
	}
	if t.n.Ordinality {
		if ord := cols[len(cols)-1]; r < 0 {
			ord.AppendNull()
		} else {
			ord.AppendInt(before + int64(r) + 1)
		}
	}
	return t.out.End(b.Weight(i), out)
}
