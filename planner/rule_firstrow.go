package planner

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// firstOfChanging turns DISTINCT ON without ORDER BY over rows that can change into the first row of each key in the order of the
// encoded row: such rows have no order of arrival. A SELECT does the same, so that a view in update mode equals it. In append
// mode it is left to be refused.
func (b *binder) firstOfChanging(root plan.Node) plan.Node {
	found := false
	eachNode(root, func(n plan.Node) {
		d, ok := n.(*plan.Dedup)
		found = found || ok && !d.Within
	})
	d := newDeriver(b)
	if !found || d.view && d.mode == catalog.Append {
		return root
	}
	if !d.view {
		d.view, d.mode = true, catalog.Update
	}
	d.derive(root)
	return firstByRow(root)
}

func firstByRow(n plan.Node) plan.Node {
	for i, in := range n.Inputs() {
		setInput(n, i, firstByRow(in))
	}
	d, ok := n.(*plan.Dedup)
	if !ok || d.Within || d.Input.Props().AppendOnly {
		return n
	}
	return newTopN(d.Input, d.Keys, nil, 1, 0)
}
