package planner

import "github.com/tidemarkdb/tidemark/planner/plan"

// lastWindows lets aggregates over sliding windows give rows to their windows themselves (plan.Window.Last): they can do with one update a
// row what would be one for each window. The keys besides the window must be plain columns, so that the rows of a group are those of
// equal keys whatever their windows. It goes by what was derived of the plan.
func lastWindows(root plan.Node) {
	consumers := map[plan.Node]int{root: 1}
	var aggs []*plan.Aggregate
	var visit func(plan.Node)
	visit = func(n plan.Node) {
		if a, ok := n.(*plan.Aggregate); ok {
			aggs = append(aggs, a)
		}
		for _, in := range n.Inputs() {
			if consumers[in]++; consumers[in] == 1 {
				visit(in)
			}
		}
	}
	visit(root)
	for _, a := range aggs {
		w, ok := a.Input.(*plan.Window)
		if ok && consumers[w] == 1 && w.P.AppendOnly && !w.P.NeedsOrder && w.Slide < w.Size && w.Size%w.Slide == 0 && keyedByWindow(a, width(w)-1) {
			w.Last = true
		}
	}
}

// keyedByWindow says whether an aggregate's event key is column win, and its other keys are other columns.
func keyedByWindow(a *plan.Aggregate, win int) bool {
	if a.EventKey < 0 {
		return false
	}
	for i, k := range a.Keys {
		c, ok := k.(*plan.Col)
		if !ok || (c.Index == win) != (i == a.EventKey) {
			return false
		}
	}
	return true
}
