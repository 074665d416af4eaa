package planner

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// markSketches sets Sketch of the aggregates with approximate functions. A view of any mode and a SELECT over the same input must agree, so
// it does not depend on what reads the plan: it says whether a view in update mode would never see a row of the aggregate's input taken back.
// It leaves properties that must be derived anew.
func (b *binder) markSketches(root plan.Node) {
	var aggs []*plan.Aggregate
	approximate, sequence := false, false
	eachNode(root, func(n plan.Node) {
		switch x := n.(type) {
		case *plan.Aggregate:
			aggs = append(aggs, x)
			for i := range x.Aggs {
				approximate = approximate || isApproximate(x.Aggs[i].Fn.Name)
			}
		case *plan.Lookup, *plan.Custom:
			sequence = true // their meaning is a sequence of epochs, which a SELECT does not have
		}
	})
	if !approximate {
		return
	}
	if sequence {
		newDeriver(b).derive(root)
		for _, x := range aggs {
			x.Sketch = b.view() && x.Input.Props().AppendOnly
		}
		return
	}
	as := clone(root)
	(&deriver{b: b, view: true, mode: catalog.Update}).derive(as)
	eachNode(as, func(n plan.Node) {
		if x, ok := n.(*plan.Aggregate); ok {
			aggs[0].Sketch = x.Input.Props().AppendOnly
			aggs = aggs[1:]
		}
	})
}

func isApproximate(name string) bool {
	return name == "approx_count_distinct" || name == "approx_percentile"
}
