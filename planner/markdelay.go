package planner

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// delays derives the delays of the watermarks that the columns of a node carry. What is kept of a stream's is which stream it is, as ALTER changes
// it for the views that there are, also for those that only read it through others.
func delays(n plan.Node) {
	p := n.Props()
	p.WatermarkDelays = nil
	for _, c := range p.WatermarkCols {
		p.WatermarkDelays = append(p.WatermarkDelays, columnDelay(n, c))
	}
}

// columnDelay gives the delay of the watermark that a column of a node's output carries: that of the stream whose time it is, or the greatest if its
// rows come from several.
func columnDelay(n plan.Node, col int) catalog.Delay {
	switch x := n.(type) {
	case *plan.Scan:
		if x.Rel.Kind == catalog.MatView {
			p := plan.Props{WatermarkCols: x.Rel.WatermarkCols, WatermarkDelays: x.Rel.WatermarkDelays}
			return p.MarkDelay(x.Cols[col])
		}
		switch w := x.Rel.Watermark; {
		case w == nil:
			return catalog.Delay{}
		case w.Own:
			return catalog.Delay{Micros: w.DelayMicros}
		}
		return catalog.Delay{Streams: []catalog.OID{x.Rel.OID}}
	case *plan.Project:
		return exprDelay(x.Exprs[col], x.Input)
	case *plan.Window:
		if col == width(x.Input) {
			return exprDelay(x.Time, x.Input)
		}
	case *plan.Aggregate:
		if x.Session != nil {
			return exprDelay(x.Session.Time, x.Input)
		}
		return exprDelay(x.Keys[col], x.Input)
	case *plan.Join:
		return joinDelay(x, col)
	case *plan.AsofJoin:
		if k := width(x.Left); col >= k {
			return x.Right.Props().MarkDelay(col - k)
		}
		return x.Left.Props().MarkDelay(col)
	case *plan.Lookup:
		return x.Left.Props().MarkDelay(col)
	case *plan.Custom: // what it gives is not before the time that it takes
		return x.Input.Props().MarkDelay(firstMark(x.Input.Props()))
	case *plan.Union:
		var most catalog.Delay
		for _, in := range x.Ins {
			most = most.Or(in.Props().MarkDelay(col)) // 0 if it carries no watermark
		}
		return most
	}
	if in := n.Inputs(); len(in) == 1 { // input columns come first
		return in[0].Props().MarkDelay(col)
	}
	return catalog.Delay{}
}

// joinDelay gives the delay of a column of a join. A key that has no watermark of its own carries the other side's.
func joinDelay(x *plan.Join, col int) catalog.Delay {
	side, other, keys := x.Left, x.Right, x.RightKeys
	if k := width(x.Left); col >= k {
		side, other, keys, col = x.Right, x.Left, x.LeftKeys, col-k
	}
	if x.KeyTime >= 0 && !isMark(side, col) {
		return exprDelay(keys[x.KeyTime], other)
	}
	return side.Props().MarkDelay(col)
}

// exprDelay gives the delay of an expression that keeps a column's watermark.
func exprDelay(e plan.Expr, in plan.Node) catalog.Delay {
	if c := timeColumn(e); c != nil {
		return in.Props().MarkDelay(c.Index)
	}
	return catalog.Delay{}
}
