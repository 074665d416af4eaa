package exec

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

// maxRecursiveRows bounds the rows of a recursive query: it is computed whole, so one without an end would never answer.
const maxRecursiveRows = 20_000_000

// recursive runs WITH RECURSIVE, in a SELECT: it takes its inputs, and at the end runs the recursive term, a graph of its
// own, round after round over the rows of the round before, until one gives no new row.
type recursive struct {
	n     *plan.Recursive
	env   *kernel.Env
	types []types.Type
	in    []*batch.Batch  // what came in on each port
	seen  map[string]bool // of UNION: the rows so far
	rows  int64           // emitted
	key   []byte
}

func newRecursive(n *plan.Recursive, in dataflow.InputTypes, env *kernel.Env) *recursive {
	r := &recursive{n: n, env: env, types: in[0]}
	for _, ts := range in {
		r.in = append(r.in, batch.New(ts, 0))
	}
	if !n.All {
		r.seen = map[string]bool{}
	}
	return r
}

// Push implements dataflow.Operator.
func (r *recursive) Push(_ *dataflow.Epoch, port int, b *batch.Batch, _ dataflow.Emit) error {
	r.in[port].AppendBatch(b, nil)
	return nil
}

// EndEpoch implements dataflow.Operator.
func (r *recursive) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	if !ep.Final {
		return sqlerr.Unsupported("recursive WITH queries are not supported in materialized views")
	}
	work := batch.New(r.types, 0)
	r.fresh(work, r.in[0])
	var g *dataflow.Graph
	reusable := !keepsState(r.n.Step)
	for work.N > 0 {
		if r.rows += int64(work.N); r.rows > maxRecursiveRows {
			return sqlerr.New(sqlerr.ProgramLimitExceeded, "recursive query gives more than %d rows", maxRecursiveRows).
				WithHint("It is computed whole, also under a LIMIT: end the recursion by a condition in its recursive term.")
		}
		if err := out(work); err != nil {
			return err
		}
		if g == nil || !reusable {
			var err error
			if g, err = NewGraph(r.n.Step, dataflow.PolicyMin, table.NewTransient(), r.env, Slots{}); err != nil {
				return err
			}
		}
		next := batch.New(r.types, 0)
		if err := r.round(ep, g, work, next); err != nil {
			return err
		}
		work = next
	}
	return nil
}

// round runs the recursive term over work and adds what is new to next.
func (r *recursive) round(ep *dataflow.Epoch, g *dataflow.Graph, work, next *batch.Batch) error {
	info := &dataflow.EpochInfo{N: ep.N, Timestamp: ep.Timestamp, Final: true, Sink: ep.Sink, Delay: ep.Delay,
		Watermarks: func(*dataflow.Source) (dataflow.Watermark, dataflow.Watermark) {
			return dataflow.NoWatermark, dataflow.NoWatermark
		}}
	g.Begin(info, func(b *batch.Batch) error {
		r.fresh(next, b)
		return nil
	})
	for _, s := range g.Sources() {
		b := work
		if port := s.Tag.(*plan.WorkTable).Port; port > 0 {
			b = r.in[port]
		}
		if err := g.Push(s, b); err != nil {
			return err
		}
	}
	return g.End()
}

// fresh appends the rows of b to dst: each as often as it counts or, of UNION, once if it was not there before.
func (r *recursive) fresh(dst, b *batch.Batch) {
	for i := 0; i < b.N; i++ {
		if r.seen == nil {
			dst.AppendRow(b, i, b.Weight(i))
			continue
		}
		r.key = rowenc.AppendKey(r.key[:0], b.Cols, i)
		if !r.seen[string(r.key)] {
			r.seen[string(r.key)] = true
			dst.AppendRow(b, i, 1)
		}
	}
}

// keepsState says whether a plan has an operator that must be new for each run.
func keepsState(n plan.Node) bool {
	if Stateful(n) {
		return true
	}
	switch x := n.(type) {
	case *plan.Values, *plan.Recursive:
		return true
	case *plan.TableFunc:
		if x.Input == nil {
			return true
		}
	}
	for _, in := range n.Inputs() {
		if keepsState(in) {
			return true
		}
	}
	return false
}
