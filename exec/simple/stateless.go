package simple

import (
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// filter keeps rows for which a predicate is true.
type filter struct {
	pred *kernel.Kernel
	env  *kernel.Env
	sel  []int32
}

// NewFilter makes the operator of a plan.Filter over an input with columns of the types in[0].
func NewFilter(n *plan.Filter, in dataflow.InputTypes, _ *table.Space, _ int, env *kernel.Env) (dataflow.Operator, error) {
	pred, err := kernel.Compile(n.Pred, in[0])
	if err != nil {
		return nil, err
	}
	return &filter{pred: pred, env: env}, nil
}

// Push implements dataflow.Operator.
func (f *filter) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, out dataflow.Emit) error {
	sel, failed := f.pred.Filter(f.env, b, nil, f.sel[:0])
	f.sel = sel
	sel, err := rowenc.Bury(ep, b, sel, failed)
	if err != nil || len(sel) == 0 {
		return err
	}
	if len(sel) == b.N {
		return out(b)
	}
	o := b.Select(sel)
	o.Gift = &batch.Gift{}
	return out(o)
}

// EndEpoch implements dataflow.Operator.
func (f *filter) EndEpoch(*dataflow.Epoch, dataflow.Emit) error { return nil }

// project computes columns; plain column references share the input's vectors.
type project struct {
	exprs *rowenc.Exprs
	env   *kernel.Env
	out   batch.Batch // only while it is emitted
}

// NewProject makes the operator of a plan.Project over an input with columns of the types in[0].
func NewProject(n *plan.Project, in dataflow.InputTypes, _ *table.Space, _ int, env *kernel.Env) (dataflow.Operator, error) {
	exprs, err := rowenc.Compile(n.Exprs, in[0])
	if err != nil {
		return nil, err
	}
	return &project{exprs: exprs, env: env}, nil
}

// Push implements dataflow.Operator.
func (p *project) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, out dataflow.Emit) error {
	vecs, sel, err := p.exprs.Eval(ep, p.env, b)
	if err != nil {
		return err
	}
	o := &p.out
	*o = batch.Batch{N: b.N, Cols: append(o.Cols[:0], vecs...), Weights: b.Weights}
	if b.Gift != nil && sel == nil {
		o.Gift = b.Gift
		p.exprs.Last(o.Cols)
	}
	if sel != nil {
		o = o.Select(sel)
	}
	if o.N == 0 {
		return nil
	}
	err = out(o)
	clear(p.out.Cols) // their memory is others'
	return err
}

// EndEpoch implements dataflow.Operator.
func (p *project) EndEpoch(*dataflow.Epoch, dataflow.Emit) error { return nil }

// union passes everything on.
type union struct{}

// NewUnion makes the operator of a plan.Union.
func NewUnion(*plan.Union, dataflow.InputTypes, *table.Space, int, *kernel.Env) (dataflow.Operator, error) {
	return union{}, nil
}

// Push implements dataflow.Operator.
func (union) Push(_ *dataflow.Epoch, _ int, b *batch.Batch, out dataflow.Emit) error { return out(b) }

// EndEpoch implements dataflow.Operator.
func (union) EndEpoch(*dataflow.Epoch, dataflow.Emit) error { return nil }

// once remembers, across restarts, that a source without input gave its rows.
type once struct{ done *table.Ordered }

func newOnce(sp *table.Space, opID int, name string) once {
	return once{sp.Ordered(table.Decl{Operator: opID, Name: name})}
}

// first says whether this is the first call ever.
func (o once) first() bool {
	if o.done.Len() > 0 {
		return false
	}
	o.done.Put([]byte{0}, nil)
	return true
}

// oneRow is a batch of one row without columns, the input of expressions that have none.
func oneRow() *batch.Batch { return &batch.Batch{N: 1} }

// values gives literal rows in its first epoch.
type values struct {
	once
	rows []*rowenc.Exprs
	ts   []types.Type
	env  *kernel.Env
}

// NewValues makes the operator of a plan.Values: its rows come at the end of the first epoch that it sees.
func NewValues(n *plan.Values, _ dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	v := &values{once: newOnce(sp, opID, "values"), ts: plan.Types(n), env: env}
	for _, r := range n.Rows {
		x, err := rowenc.Compile(r, nil)
		if err != nil {
			return nil, err
		}
		v.rows = append(v.rows, x)
	}
	if len(n.Rows) == 0 && len(v.ts) == 0 {
		// No FROM: one row without columns.
		v.rows = append(v.rows, &rowenc.Exprs{})
	}
	return v, nil
}

// Push implements dataflow.Operator; there is no input.
func (v *values) Push(*dataflow.Epoch, int, *batch.Batch, dataflow.Emit) error { return nil }

// EndEpoch implements dataflow.Operator.
func (v *values) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	if !v.first() {
		return nil
	}
	o, one := rowenc.NewOut(v.ts), oneRow()
	for _, r := range v.rows {
		vecs, sel, err := r.Eval(ep, v.env, one)
		if err != nil {
			return err
		}
		if sel != nil { // the row failed
			continue
		}
		for c, x := range vecs {
			o.B.Cols[c].AppendFrom(x, 0)
		}
		if err := o.End(1, out); err != nil {
			return err
		}
	}
	return o.Flush(out)
}
