package planner

import (
	"fmt"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// optimise runs the rules over a bound plan.
func (b *binder) optimise(root plan.Node) plan.Node {
	foldAll(root)
	root = b.pushdown(root, nil)
	root = b.orderJoins(root)
	root = topN(root)
	b.extractKeys(root)
	root = b.firstOfChanging(root)
	if b.view() {
		root = b.holdBack(root)
		// Before columns are pruned: operators go by columns that carry a watermark, whether or not anything else reads
		// them, and messages can name them.
		newDeriver(b).derive(root)
		if b.o.View.Mode == catalog.Append {
			root = holdPartitions(root)
			newDeriver(b).derive(root)
		}
		b.checkView(root)
	}
	root = pruneRoot(root)
	root = mergeProjects(root, true)
	if !b.view() {
		b.lookups(root)
	}
	return root
}

// verify panics if an expression of the binder is left in a plan, which is a bug of the planner.
func verify(root plan.Node) {
	eachNode(root, func(n plan.Node) {
		eachExpr(n, func(e plan.Expr) {
			if has(e, private) {
				panic(fmt.Sprintf("planner: %T left in %T", e, n))
			}
		})
	})
}
