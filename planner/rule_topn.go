package planner

import (
	"math"
	"slices"

	"github.com/tidemarkdb/tidemark/planner/plan"
)

// topN keeps only the first rows of each partition beneath window functions of which a condition above wants only the first
// ranks: row_number() OVER (PARTITION BY k ORDER BY v DESC) <= 3. A condition that this makes true everywhere is dropped, and with it
// the window functions themselves if nothing else reads them (see prune).
//
// It is legal where no function of the node looks at rows behind the current one, which would be cut off: ranks look only ahead
// of it.
func topN(n plan.Node) plan.Node {
	for i, in := range n.Inputs() {
		setInput(n, i, topN(in))
	}
	f, ok := n.(*plan.Filter)
	if !ok {
		return n
	}
	over, ok := f.Input.(*plan.OverWindow)
	if !ok || !ranksOnly(over) {
		return n
	}
	preds := conjuncts(f.Pred)
	var best rankBound
	at, bounds := -1, 0
	for i, c := range preds {
		r, ok := upperBound(c, over)
		if !ok || r.name == "dense_rank" && r.most > 1 {
			continue // the first dense ranks have any number of rows
		}
		bounds++
		if at < 0 || r.most < best.most {
			best, at = r, i
		}
	}
	if at < 0 {
		return n
	}
	if bounds == 1 && best.exact {
		preds = append(preds[:at:at], preds[at+1:]...)
	}
	t := newTopN(over.Input, slices.Clone(over.PartitionBy), slices.Clone(over.Sort), max(best.most, 0), 0)
	t.WithTies = best.name != "row_number"
	over.Input = t
	return newFilter(over, preds...)
}

// ranksOnly says that a node has ranks only.
func ranksOnly(x *plan.OverWindow) bool {
	for _, f := range x.Funcs {
		switch f.Fn.Name {
		case "row_number", "rank", "dense_rank":
		default:
			return false
		}
	}
	return true
}

// rankBound says that a rank has at most a value; exact, that the condition means just that.
type rankBound struct {
	name  string
	most  int64
	exact bool
}

// upperBound reads a condition on a function of a node as a bound.
func upperBound(c plan.Expr, over *plan.OverWindow) (rankBound, bool) {
	call, op := isOp(c, "<", "<=", ">", ">=", "=")
	if call == nil || len(call.Args) != 2 {
		return rankBound{}, false
	}
	l, r := call.Args[0], call.Args[1]
	if _, isConst := l.(*plan.Const); isConst {
		l, r = r, l
		if m, turns := mirrored[op]; turns {
			op = m
		}
	}
	col, isCol := l.(*plan.Col)
	k, isConst := r.(*plan.Const)
	if !isCol || !isConst || k.Val.Null || !k.Typ.Kind.IsInt() {
		return rankBound{}, false
	}
	at := col.Index - width(over.Input)
	if at < 0 {
		return rankBound{}, false
	}
	b := rankBound{name: over.Funcs[at].Fn.Name, most: k.Val.I, exact: true}
	switch {
	case op == "<=":
	case op == "<" && b.most > math.MinInt64:
		b.most--
	case op == "=":
		b.exact = b.most == 1
	default:
		return rankBound{}, false
	}
	return b, true
}
