package planner

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// lags derives how far the columns of a node lag behind their watermark, and how far the operator must. A watermark is a whole
// millisecond and a window is open as long as it ends above it, but the event time of the window's row is a microsecond before that end:
// it may equal the watermark, of a session or a window of an odd size, and the row still change. An operator that judges by such a time
// goes a microsecond behind.
func lags(n plan.Node) {
	p := n.Props()
	switch x := n.(type) {
	case *plan.Aggregate:
		switch {
		case x.EventKey >= 0:
			p.Lag = exprLag(x.Keys[x.EventKey], x.Input)
		case x.Session != nil && x.Session.TimeWatermarked:
			p.Lag = exprLag(x.Session.Time, x.Input)
		}
	case *plan.Dedup:
		if x.TimeCol >= 0 {
			p.Lag = x.Input.Props().MarkLag(x.TimeCol)
		}
		if x.TimeKey >= 0 {
			p.Lag = max(p.Lag, exprLag(x.Keys[x.TimeKey], x.Input))
		}
	case *plan.TopN:
		if x.Timed {
			p.Lag = exprLag(x.PartitionBy[x.TimeKey], x.Input)
		}
	case *plan.OverWindow:
		if x.Timed {
			p.Lag = exprLag(x.PartitionBy[x.TimeKey], x.Input)
		}
	case *plan.AppendFinal:
		p.Lag = x.Input.Props().MarkLag(x.TimeCol)
	case *plan.Join:
		joinLag(x)
	case *plan.AsofJoin:
		if x.Timed {
			l, r := max(0, exprLag(x.LeftTime, x.Left)), max(0, exprLag(x.RightTime, x.Right))
			p.Lag = max(l, r)
			x.LeftLead, x.RightLead = p.Lag-l, p.Lag-r
		}
	case *plan.Custom: // it shows its watermark to the processor, so it does not lag as a whole
		x.Lag = max(0, x.Input.Props().MarkLag(firstMark(x.Input.Props())))
	}
	p.Lag = max(0, p.Lag)
	for _, c := range p.WatermarkCols {
		p.WatermarkLags = append(p.WatermarkLags, columnLag(n, c))
	}
}

// joinLag takes the greater lag of both sides: rows that a late partner may meet, or change, must stay as long.
func joinLag(x *plan.Join) {
	own := func(side plan.Node, keys []plan.Expr, time int) (own, most int64) {
		if x.KeyTime >= 0 {
			k := keys[x.KeyTime]
			if !marked(k, side) {
				return -1, 0
			}
			own = max(0, exprLag(k, side))
			return own, own
		}
		for _, lag := range side.Props().WatermarkLags {
			most = max(most, lag)
		}
		if time < 0 {
			return -1, most
		}
		return max(0, side.Props().MarkLag(time)), most
	}
	l, lmost := own(x.Left, x.LeftKeys, x.LeftTime)
	r, rmost := own(x.Right, x.RightKeys, x.RightTime)
	x.P.Lag = max(lmost, rmost)
	x.LeftLead, x.RightLead = 0, 0
	if l >= 0 { // a side without a watermark has no claim of its own
		x.LeftLead = x.P.Lag - l
	}
	if r >= 0 {
		x.RightLead = x.P.Lag - r
	}
}

// columnLag gives the lag of a column of a node's output that carries its watermark.
func columnLag(n plan.Node, col int) int64 {
	switch x := n.(type) {
	case *plan.Scan:
		if x.Rel.Kind != catalog.MatView {
			return 0
		}
		p := plan.Props{WatermarkCols: x.Rel.WatermarkCols, WatermarkLags: x.Rel.WatermarkLags}
		return p.MarkLag(x.Cols[col])
	case *plan.Project:
		return exprLag(x.Exprs[col], x.Input)
	case *plan.Window:
		if col == width(x.Input) {
			return windowLag(x)
		}
	case *plan.Aggregate:
		if x.Session != nil {
			return max(0, exprLag(x.Session.Time, x.Input))
		}
		return exprLag(x.Keys[col], x.Input)
	case *plan.Join:
		return pairLag(x.P.Lag, x.Left, x.Right, col)
	case *plan.AsofJoin:
		return pairLag(x.P.Lag, x.Left, x.Right, col)
	case *plan.Lookup:
		return x.Left.Props().MarkLag(col)
	case *plan.Custom:
		return x.Lag
	case *plan.Union:
		lag := x.Ins[0].Props().MarkLag(col) // 0 if it carries no watermark
		for _, in := range x.Ins[1:] {
			lag = max(lag, in.Props().MarkLag(col))
		}
		return lag
	}
	if in := n.Inputs(); len(in) == 1 { // input columns come first
		return in[0].Props().MarkLag(col)
	}
	return 0
}

// pairLag gives the lag of a column of a join: a row may come as long as it is in state.
func pairLag(lag int64, left, right plan.Node, col int) int64 {
	k := width(left)
	switch {
	case lag > 0:
		return lag
	case col < k:
		return left.Props().MarkLag(col)
	}
	return right.Props().MarkLag(col - k)
}

// exprLag gives the lag of an expression that keeps a column's watermark (timeColumn).
func exprLag(e plan.Expr, in plan.Node) int64 {
	switch x := e.(type) {
	case *plan.Col:
		return in.Props().MarkLag(x.Index)
	case *plan.WindowField:
		return exprLag(x.X, in)
	case *plan.Call:
		switch x.Fn.Name {
		case "window_time":
			return exprLag(x.Args[0], in) + 1
		case "window_end":
			return exprLag(x.Args[0], in)
		}
	}
	return 0
}

// windowLag gives the lag of the ends of windows, each of which is after a time that may still come. Rows whose own time is below the
// watermark count as long as their window is open, so that the lag of that time gives nothing better than 0, unless all ends are whole
// milliseconds: then one above the watermark is a millisecond above.
func windowLag(x *plan.Window) int64 {
	lag := exprLag(x.Time, x.Input) - 1
	if x.Size%1000 != 0 || x.Slide%1000 != 0 || x.Start%1000 != 0 {
		return max(0, lag)
	}
	least := -floorMillis(lag - 1) // the first whole millisecond at or above 1 - lag, which is after w by as much
	return 1 - min(least, 1000)
}
