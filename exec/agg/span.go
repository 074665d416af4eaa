package agg

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Groups are kept by the end of their window. Where windows of different lengths can end at one time (sessions, a union of
// windows of two sizes), the start is one more key of the table.

// startKey makes the key of window starts for the event key of n, nil if its end determines it.
func startKey(n *plan.Aggregate) *keyCol {
	if n.EventKey < 0 {
		return nil
	}
	k := n.Keys[n.EventKey]
	if k.Type().Kind != types.Window {
		return nil
	}
	if c, ok := k.(*plan.Col); ok && oneLength(n.Input, c.Index) {
		return nil
	}
	return &keyCol{typ: types.Of(k.Type().Elem), col: -1, form: keyInt, start: true}
}

// oneLength says whether all windows in column col of n's output surely have one length.
func oneLength(n plan.Node, col int) bool {
	switch x := n.(type) {
	case *plan.Filter:
		return oneLength(x.Input, col)
	case *plan.TemporalFilter:
		return oneLength(x.Input, col)
	case *plan.Dedup:
		return oneLength(x.Input, col)
	case *plan.AppendFinal:
		return oneLength(x.Input, col)
	case *plan.Project:
		c, ok := x.Exprs[col].(*plan.Col)
		return ok && oneLength(x.Input, c.Index)
	case *plan.Window:
		return col == len(x.Input.Props().Columns) || oneLength(x.Input, col)
	case *plan.Aggregate:
		if x.Session != nil {
			col-- // which comes first
		}
		if col < 0 || col >= len(x.Keys) {
			return false
		}
		c, ok := x.Keys[col].(*plan.Col)
		return ok && oneLength(x.Input, c.Index)
	case *plan.Join:
		if k := len(x.Left.Props().Columns); col >= k {
			return oneLength(x.Right, col-k)
		}
		return oneLength(x.Left, col)
	}
	return false
}

// startsOf gives the starts of windows as a column of their own, in the same memory.
func startsOf(w *batch.Vector, t types.Type) *batch.Vector {
	return &batch.Vector{Type: t, N: w.N, Valid: w.Valid, I64: w.I64}
}
