package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// reuse keeps the graph of a prepared SELECT from one execution to the next, where nothing in it has state. It belongs to one plan: a statement
// that is planned again begins anew. Executions of one statement may overlap, as portals that are read in parts: the graph is then out, and
// another is built.
type reuse struct {
	root plan.Node // with late parameters
	// few says that every relation is looked up by the whole of a key, so that there are a few rows at most, and no need to give them bit by bit.
	few  bool
	idle *compiled
}

// compiled is a graph that can be run again.
type compiled struct {
	g    *dataflow.Graph
	env  *kernel.Env // of the graph's kernels, filled for each run
	info dataflow.EpochInfo
	eqs  []boundEq
	// slots is where the values of parameters in eqs go.
	slots []plan.Const
}

// boundEq is an equality of a scan whose value has parameters: expr gives it.
type boundEq struct {
	to   *plan.KeyEq
	expr plan.Expr
}

// newReuse says how a query's graph can be kept; nil if it can't.
func newReuse(q *plan.Query) *reuse {
	root := unordered(q.Root)
	if !exec.Reusable(root) {
		return nil
	}
	r := &reuse{root: root, few: byWholeKey(root)}
	switch {
	case len(q.Params) == 0:
	case r.few:
		r.root = planner.Late(root, kernel.Late)
	default:
		return nil // over many rows, values that are compiled in are worth a new graph
	}
	return r
}

// unordered gives a plan without the ORDER BY and LIMIT at its top where they change nothing, as it gives one row at most.
func unordered(root plan.Node) plan.Node {
	for n := root; ; {
		var keys []plan.SortKey
		switch x := n.(type) {
		case *plan.Sort:
			if x.Visible > 0 {
				return root
			}
			n, keys = x.Input, x.Keys
		case *plan.TopN:
			if x.LimitExpr != nil || x.OffsetExpr != nil || x.Offset != 0 || x.Limit == 0 {
				return root
			}
			n, keys = x.Input, x.Sort
		case *plan.Filter, *plan.Project, *plan.Scan:
			if exec.Reusable(n) && byWholeKey(n) && !hasUnion(n) {
				return n
			}
			return root
		default:
			return root
		}
		for _, k := range keys {
			if _, isCol := k.X.(*plan.Col); !isCol {
				return root // it may fail
			}
		}
	}
}

// hasUnion says whether rows of several scans may come.
func hasUnion(n plan.Node) bool {
	in := n.Inputs()
	return len(in) > 1 || len(in) == 1 && hasUnion(in[0])
}

// byWholeKey says whether all that a plan reads is looked up by equality with all columns of its primary key.
func byWholeKey(n plan.Node) bool {
	s, ok := n.(*plan.Scan)
	if !ok {
		for _, in := range n.Inputs() {
			if !byWholeKey(in) {
				return false
			}
		}
		return len(n.Inputs()) > 0
	}
	if len(s.Rel.PrimaryKey) == 0 || s.Rel.Kind != catalog.Table && s.Rel.Kind != catalog.MatView {
		return false
	}
	for _, col := range s.Rel.PrimaryKey {
		pinned := false
		for _, eq := range s.Eq {
			pinned = pinned || eq.Col == col
		}
		if !pinned {
			return false
		}
	}
	return true
}

// take gives a graph that nobody else uses, until put.
func (r *reuse) take() (*compiled, error) {
	if c := r.idle; c != nil {
		r.idle = nil
		return c, nil
	}
	c := &compiled{env: &kernel.Env{}}
	root := planner.CloneScans(r.root) // values are put into its scans
	var err error
	if c.g, err = exec.NewGraph(root, dataflow.PolicyMin, table.NewTransient(), c.env, exec.Slots{}); err != nil {
		return nil, err
	}
	c.info = dataflow.EpochInfo{Final: true, Sink: selectSink{},
		Watermarks: func(*dataflow.Source) (dataflow.Watermark, dataflow.Watermark) {
			return dataflow.NoWatermark, dataflow.NoWatermark
		}}
	for _, src := range c.g.Sources() {
		s := src.Tag.(*plan.Scan)
		for i := range s.Eq {
			if _, isConst := s.Eq[i].Val.(*plan.Const); !isConst {
				c.eqs = append(c.eqs, boundEq{&s.Eq[i], s.Eq[i].Val})
			}
		}
	}
	c.slots = make([]plan.Const, len(c.eqs))
	return c, nil
}

// put gives a graph back whose run has ended without error; after an error it is left to the collector.
func (r *reuse) put(c *compiled) { r.idle = c }

// bind sets what a run depends on besides its input.
func (c *compiled) bind(env *kernel.Env, params []types.Datum) {
	*c.env = *env
	c.env.Params = params
	c.info.Timestamp = env.Now
	for i, eq := range c.eqs {
		if p, ok := eq.expr.(*plan.Param); ok && p.N <= len(params) {
			c.slots[i] = plan.Const{Val: params[p.N-1], Typ: p.Typ}
			eq.to.Val = &c.slots[i]
			continue
		}
		eq.to.Val = planner.BindExpr(eq.expr, params)
	}
}

// runFew runs a query that gives a few rows and gives them as one batch, which the caller owns.
func (u *reuse) runFew(ctx context.Context, r reader, env *kernel.Env, params []types.Datum) (all *batch.Batch, err error) {
	err = u.run(ctx, r, env, params, func(b *batch.Batch) error {
		if all == nil {
			all = b.Select(allRows(b.N))
		} else {
			all.AppendBatch(b, nil)
		}
		return nil
	})
	return all, err
}

// run runs the query over what r gives, as runQuery does.
func (u *reuse) run(ctx context.Context, r reader, env *kernel.Env, params []types.Datum, out func(*batch.Batch) error) error {
	c, err := u.take()
	if err != nil {
		return err
	}
	c.bind(env, params)
	err = runGraph(ctx, c.g, &c.info, r, func(b *batch.Batch) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := unitWeights(b)
		if err != nil || b.N == 0 {
			return err
		}
		return out(b)
	})
	if err == nil {
		u.put(c)
	}
	return err
}
