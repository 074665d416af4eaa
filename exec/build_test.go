package exec

import (
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// TestBuild makes an operator of every kind of node.
func TestBuild(t *testing.T) {
	ts := []types.Type{types.Of(types.Int8), types.Of(types.Timestamp)}
	in := optest.Input(ts, true)
	base := optest.Base(ts)
	key := []plan.Expr{optest.Col(ts, 0)}
	pred := optest.Op("<", optest.Col(ts, 0), optest.Const(ts[0], 3))
	for _, n := range []plan.Node{
		&plan.Values{Base: base},
		&plan.Filter{Base: base, Input: in, Pred: pred},
		&plan.Project{Base: base, Input: in, Exprs: key},
		&plan.Union{Base: base, Ins: []plan.Node{in, in}},
		&plan.AppendFinal{Base: base, Input: in, TimeCol: 1},
		&plan.TemporalFilter{Base: base, Input: in, Time: optest.Col(ts, 1), Op: ">"},
		&plan.Window{Base: optest.Base(append(ts[:2:2], types.WindowOf(types.Timestamp))), Input: in, Time: optest.Col(ts, 1), Size: 10, Slide: 10},
		&plan.Aggregate{Base: optest.Base(ts[:1]), Input: in, Keys: key, EventKey: -1},
		&plan.Join{Base: base, Left: in, Right: in, LeftKeys: key, RightKeys: key, NullSafe: []bool{false}, KeyTime: -1, LeftTime: -1, RightTime: -1},
		&plan.SetOp{Base: base, Left: in, Right: in},
		&plan.TopN{Base: base, Input: in, Limit: 1},
		&plan.Dedup{Base: base, Input: in, Keys: key, TimeKey: -1, TimeCol: -1},
		&plan.OverWindow{Base: base, Input: in},
	} {
		op, err := Build(n, dataflow.InputTypes{ts, ts}[:max(1, len(n.Inputs()))], table.NewTransient(), 0, &kernel.Env{})
		if err != nil || op == nil {
			t.Errorf("%T: %v", n, err)
			continue
		}
		if _, ok := op.(dataflow.Stateful); Stateful(n) && !ok {
			t.Errorf("%T: the operator does not tell about its state", n)
		}
	}
	if _, err := Build(&plan.Sort{Base: base, Input: in}, dataflow.InputTypes{ts}, table.NewTransient(), 0, &kernel.Env{}); sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
		t.Errorf("Sort: %v", err)
	}
}
