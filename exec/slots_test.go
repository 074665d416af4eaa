package exec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// TestSteps: filters and projections beside operators that are cut are theirs, but not where rows go elsewhere too, or where an expression is not a function of its row.
func TestSteps(t *testing.T) {
	ts := []types.Type{types.Of(types.Int8), types.Of(types.Timestamp)}
	scan := func() plan.Node {
		return &plan.Scan{Base: optest.Base(ts), Rel: &catalog.Relation{Name: "s"}, Cols: []int{0, 1}}
	}
	project := func(in plan.Node) plan.Node {
		return &plan.Project{Base: optest.Base(ts), Input: in, Exprs: []plan.Expr{optest.Op("+", optest.Col(ts, 0), optest.Const(ts[0], 1)), optest.Col(ts, 1)}}
	}
	filter := func(in plan.Node) plan.Node {
		return &plan.Filter{Base: optest.Base(ts), Input: in, Pred: optest.Op("<", optest.Col(ts, 0), optest.Const(ts[0], 3))}
	}
	dice := func(in plan.Node) plan.Node {
		call := *optest.Op("+", optest.Col(ts, 0), optest.Col(ts, 0)).(*plan.Call)
		f := *call.Fn
		call.Fn, f.Volatility = &f, fn.Volatile
		return &plan.Project{Base: optest.Base(ts), Input: in, Exprs: []plan.Expr{&call, optest.Col(ts, 1)}}
	}
	topn := func(in plan.Node) plan.Node {
		return &plan.TopN{Base: optest.Base(ts), Input: in, PartitionBy: []plan.Expr{optest.Col(ts, 0)}, Sort: []plan.SortKey{{X: optest.Col(ts, 1)}}, Limit: 1}
	}
	whole := func(in plan.Node) plan.Node {
		return &plan.TopN{Base: optest.Base(ts), Input: in, Sort: []plan.SortKey{{X: optest.Col(ts, 1)}}, Limit: 1}
	}
	window := func(in plan.Node) plan.Node {
		return &plan.Window{Base: optest.Base(append(ts[:2:2], types.WindowOf(types.Timestamp))), Input: in, Time: optest.Col(ts, 1), Size: 10, Slide: 10}
	}
	twice := topn(scan())
	for _, c := range []struct {
		what string
		root plan.Node
		want []bool // by node from the scan up: is it a step
	}{
		{"below and above", project(filter(topn(project(filter(scan()))))), []bool{false, true, true, false, true, true}},
		{"between", topn(project(filter(topn(scan())))), []bool{false, false, true, true, false}},
		{"between, with a window", topn(window(project(topn(scan())))), []bool{false, false, true, true, false}},
		{"a window above", window(project(topn(scan()))), []bool{false, false, true, false}},
		{"volatile", project(dice(project(topn(dice(project(scan())))))), []bool{false, false, false, false, true, false, false}},
		{"one group", project(whole(project(scan()))), []bool{false, false, false, false}},
		{"read twice", &plan.Union{Base: optest.Base(ts), Ins: []plan.Node{project(twice), filter(twice)}}, []bool{false, false, false, false, false}},
		{"read twice above a step", func() plan.Node {
			p := project(topn(scan()))
			return &plan.Union{Base: optest.Base(ts), Ins: []plan.Node{project(p), filter(p)}}
		}(), []bool{false, false, true, false, false, false}},
	} {
		for _, slots := range []int{1, 3} {
			g, err := NewGraph(c.root, dataflow.PolicyMin, table.NewTransient(), &kernel.Env{}, Slots{N: slots})
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			var got, want []bool
			for _, node := range strings.Split(strings.TrimSpace(g.String()), "\n") {
				got = append(got, strings.Contains(node, "*partition.Step "))
			}
			for _, is := range c.want {
				want = append(want, is && slots > 1)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, %d slots: steps are %v, want %v", c.what, slots, got, want)
			}
		}
	}
}
