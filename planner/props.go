package planner

import (
	"math"
	"strings"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// deriver fills the properties of the nodes of a plan, from the leaves up, and what physical operators take from them:
// modes, event keys, state bounds.
type deriver struct {
	b    *binder
	view bool
	mode catalog.OutputMode // of the view; Update for a SELECT
}

func newDeriver(b *binder) *deriver {
	d := &deriver{b: b}
	if v := b.o.View; v != nil {
		d.view, d.mode = true, v.Mode
	}
	return d
}

func (d *deriver) derive(n plan.Node) {
	n.Props().Lag, n.Props().WatermarkLags = 0, nil
	d.properties(n)
	lags(n)
	delays(n)
}

// properties derives all but how far watermarks lag and what they are behind by.
func (d *deriver) properties(n plan.Node) {
	switch x := n.(type) {
	case *plan.Lookup:
		d.lookup(x)
		return
	case *plan.Custom:
		d.custom(x)
		if !d.view {
			x.P.State = nil
		}
		return
	}
	for _, in := range n.Inputs() {
		d.derive(in)
	}
	p := n.Props()
	p.AppendOnly, p.WatermarkCols, p.HasWatermark, p.Keys, p.State = false, nil, false, nil, nil
	for _, in := range n.Inputs() {
		p.HasWatermark = p.HasWatermark || in.Props().HasWatermark
	}
	switch x := n.(type) {
	case *plan.Scan:
		d.scan(x)
	case *plan.Values:
		p.AppendOnly = true
		if len(x.Rows) <= 1 {
			p.Keys = [][]int{{}}
		}
	case *plan.TableFunc:
		p.AppendOnly = true
		if x.Input != nil {
			d.pass(n, x.Input)
			p.Keys = nil
		}
	case *plan.Filter:
		d.pass(n, x.Input)
	case *plan.Sort:
		d.pass(n, x.Input)
		p.WatermarkCols, p.Keys = nil, shownKeys(p.Keys, width(n))
	case *plan.Project:
		d.project(x)
	case *plan.Window:
		d.pass(n, x.Input)
		if marked(x.Time, x.Input) {
			p.WatermarkCols = append(p.WatermarkCols, width(x.Input))
		}
		if x.Slide != x.Size {
			p.Keys = nil
		}
	case *plan.Aggregate:
		d.aggregate(x)
	case *plan.Join:
		d.join(x)
	case *plan.AsofJoin:
		d.asof(x)
	case *plan.WorkTable:
		p.AppendOnly = true
	case *plan.Recursive:
		d.derive(x.Step)
		p.AppendOnly = true
	case *plan.Union:
		d.union(x)
	case *plan.SetOp:
		d.setOp(x)
	case *plan.TopN:
		d.topN(x)
	case *plan.Dedup:
		d.dedup(x)
	case *plan.OverWindow:
		p.Keys = x.Input.Props().Keys
		if x.Timed, x.TimeKey = d.timedPartition(n, x.PartitionBy, x.Input); !x.Timed {
			p.State = d.allRows(n, "window functions need every row of their partitions")
		}
	case *plan.TemporalFilter:
		p.Keys = x.Input.Props().Keys
		p.AppendOnly = x.Input.Props().AppendOnly && (x.Op == "<" || x.Op == "<=")
		p.State = &plan.Bound{Bounded: true, By: "distance of " + exprText(x.Time, columns(x.Input)) + " from now()"}
	case *plan.AppendFinal:
		d.pass(n, x.Input)
		p.AppendOnly = true
		p.State = &plan.Bound{Bounded: true, By: "watermark on " + columns(x.Input)[x.TimeCol].Name}
	}
	if !d.view {
		p.State = nil // it lives for one epoch
	}
}

// pass takes the properties of the only input.
func (d *deriver) pass(n, in plan.Node) {
	p, q := n.Props(), in.Props()
	p.AppendOnly = q.AppendOnly
	p.WatermarkCols = append([]int{}, q.WatermarkCols...)
	p.Keys = q.Keys
}

// shownKeys keeps the keys whose columns are all among the first k.
func shownKeys(keys [][]int, k int) [][]int {
	var out [][]int
	for _, key := range keys {
		shown := true
		for _, c := range key {
			shown = shown && c < k
		}
		if shown {
			out = append(out, key)
		}
	}
	return out
}

func (d *deriver) scan(x *plan.Scan) {
	x.P.AppendOnly = !d.view || x.Rel.IsAppendOnly()
	x.P.NeedsOrder = x.Position >= 0
	at := map[int]int{}
	for i, c := range x.Cols {
		at[c] = i
	}
	if pk := x.Rel.PrimaryKey; len(pk) > 0 {
		if k, ok := mapKey(pk, at); ok {
			x.P.Keys = append(x.P.Keys, k)
		}
	}
	if !d.view {
		return
	}
	marks := x.Rel.WatermarkCols
	if x.Rel.Kind == catalog.Stream {
		marks = nil
		if x.Rel.Watermark != nil {
			marks = []int{x.Rel.Watermark.Column}
		}
	}
	x.P.HasWatermark = len(marks) > 0
	for _, c := range marks {
		if i, ok := at[c]; ok {
			x.P.WatermarkCols = append(x.P.WatermarkCols, i)
		}
	}
}

func mapKey(key []int, at map[int]int) ([]int, bool) {
	out := make([]int, len(key))
	for i, c := range key {
		j, ok := at[c]
		if !ok {
			return nil, false
		}
		out[i] = j
	}
	return out, true
}

func isMark(n plan.Node, col int) bool {
	for _, c := range n.Props().WatermarkCols {
		if c == col {
			return true
		}
	}
	return false
}

// marked says whether an expression over a node's output carries its watermark: a marked column, the end of a marked
// window, or the window_time of one.
func marked(e plan.Expr, in plan.Node) bool {
	c := timeColumn(e)
	return c != nil && isMark(in, c.Index)
}

// timeColumn gives the column whose watermark an expression keeps, nil for any other expression.
func timeColumn(e plan.Expr) *plan.Col {
	switch x := e.(type) {
	case *plan.Col:
		return x
	case *plan.WindowField:
		if x.End {
			return timeColumn(x.X)
		}
	case *plan.Call:
		if x.Fn.Name == "window_time" || x.Fn.Name == "window_end" {
			return timeColumn(x.Args[0])
		}
	}
	return nil
}

func (d *deriver) project(x *plan.Project) {
	in := x.Input.Props()
	x.P.AppendOnly = in.AppendOnly
	at := map[int]int{}
	for i, e := range x.Exprs {
		if marked(e, x.Input) {
			x.P.WatermarkCols = append(x.P.WatermarkCols, i)
		}
		if c, ok := e.(*plan.Col); ok {
			if _, have := at[c.Index]; !have {
				at[c.Index] = i
			}
		}
	}
	for _, k := range in.Keys {
		if m, ok := mapKey(k, at); ok {
			x.P.Keys = append(x.P.Keys, m)
		}
	}
}

func (d *deriver) aggregate(x *plan.Aggregate) {
	x.Mode = d.mode
	x.EventKey = -1
	in := x.Input
	if x.Session != nil {
		x.Session = &plan.Session{Time: x.Session.Time, Gap: x.Session.Gap, TimeWatermarked: marked(x.Session.Time, in)}
	} else {
		x.EventKey = eventKey(x.Keys, in)
	}
	first := 0
	if x.Session != nil {
		first = 1
	}
	key := make([]int, first+len(x.Keys))
	for i := range key {
		key[i] = i
	}
	if len(key) > 0 || len(x.Aggs) > 0 {
		x.P.Keys = [][]int{key}
	}
	timed := x.EventKey >= 0 || x.Session != nil && x.Session.TimeWatermarked
	if timed && d.mode != catalog.Complete {
		x.P.WatermarkCols = []int{first + x.EventKey}
		if x.Session != nil {
			x.P.WatermarkCols = []int{0}
		}
	}
	distinct := len(x.Aggs) == 0 && x.Session == nil
	x.P.AppendOnly = !d.view || d.mode == catalog.Append && (timed || distinct) || distinct && in.Props().AppendOnly
	x.P.State = d.aggregateState(x, timed)
}

// eventKey gives the key that carries the watermark: a window before a plain time.
func eventKey(keys []plan.Expr, in plan.Node) int {
	at := -1
	for i, k := range keys {
		if !marked(k, in) {
			continue
		}
		if k.Type().Kind == types.Window {
			return i
		}
		if at < 0 {
			at = i
		}
	}
	return at
}

func (d *deriver) aggregateState(x *plan.Aggregate, timed bool) *plan.Bound {
	switch {
	case timed && d.mode != catalog.Complete && x.Session != nil:
		return &plan.Bound{Bounded: true, By: "watermark on session_window.end"}
	case timed && d.mode != catalog.Complete:
		k := x.Keys[x.EventKey]
		by := exprText(k, columns(x.Input))
		if k.Type().Kind == types.Window {
			by += ".end"
		}
		return &plan.Bound{Bounded: true, By: "watermark on " + by}
	case len(x.Keys) == 0 && x.Session == nil && !keepsValues(x):
		return &plan.Bound{Bounded: true, By: "one row"}
	case timed:
		return d.orTables(x, "complete mode keeps every group")
	case len(x.Keys) == 0 && x.Session == nil:
		return d.orTables(x, "its aggregates keep every value")
	case x.Input.Props().HasWatermark:
		return d.orTables(x, "no grouping key carries the watermark")
	}
	return d.orTables(x, "there is no watermark")
}

// keepsValues says whether an aggregate's state grows with the number of values.
func keepsValues(x *plan.Aggregate) bool {
	for _, a := range x.Aggs {
		if a.Distinct || a.Fn.OrderedSet || orderSensitive[a.Fn.Name] {
			return true
		}
		if (a.Fn.Name == "min" || a.Fn.Name == "max") && !x.Input.Props().AppendOnly {
			return true
		}
	}
	return false
}

// orTables is unbounded for a reason, unless the input is tables only, whose contents bound it.
func (d *deriver) orTables(n plan.Node, why string) *plan.Bound {
	if names, ok := tablesOnly(n); ok {
		if len(names) == 0 {
			return &plan.Bound{Bounded: true, By: "constant input"}
		}
		return &plan.Bound{Bounded: true, By: "contents of " + strings.Join(names, ", ")}
	}
	return &plan.Bound{By: why}
}

func (d *deriver) allRows(n plan.Node, why string) *plan.Bound { return d.orTables(n, why) }

// tablesOnly lists the tables that a node reads, if it reads nothing else.
func tablesOnly(n plan.Node) (names []string, ok bool) {
	ok = true
	eachNode(n, func(m plan.Node) {
		s, isScan := m.(*plan.Scan)
		if !isScan {
			return
		}
		if s.Rel.Kind != catalog.Table && s.Rel.Kind != catalog.System {
			ok = false
		}
		if indexOf(names, s.Rel.Name) < 0 {
			names = append(names, s.Rel.Name)
		}
	})
	return names, ok
}

func (d *deriver) union(x *plan.Union) {
	x.P.AppendOnly = true
	for i := range x.P.Columns {
		mark, any := true, false
		for _, in := range x.Ins {
			q := in.Props()
			switch {
			case q.HasWatermark:
				any = true
				mark = mark && isMark(in, i)
			case !q.AppendOnly:
				mark = false
			}
		}
		if mark && any {
			x.P.WatermarkCols = append(x.P.WatermarkCols, i)
		}
	}
	for _, in := range x.Ins {
		x.P.AppendOnly = x.P.AppendOnly && in.Props().AppendOnly
	}
}

func (d *deriver) setOp(x *plan.SetOp) {
	x.P.AppendOnly = !x.Except && x.Left.Props().AppendOnly && x.Right.Props().AppendOnly
	if !x.All {
		x.P.Keys = [][]int{identity(width(x))}
	} else if !x.Except {
		x.P.Keys = x.Left.Props().Keys
	}
	x.P.State = d.allRows(x, "set operations keep every row of their inputs")
}

// byArrival says that a TopN takes rows as they come: a LIMIT without ORDER BY over rows that have a position, or no order.
func byArrival(x *plan.TopN) bool {
	if len(x.PartitionBy) > 0 || len(x.Sort) > 1 || !x.Input.Props().AppendOnly {
		return false
	}
	if len(x.Sort) == 0 {
		return false
	}
	c, ok := x.Sort[0].X.(*plan.Col)
	return ok && !x.Sort[0].Desc && columns(x.Input)[c.Index].Name == positionName
}

func (d *deriver) topN(x *plan.TopN) {
	x.P.Keys = x.Input.Props().Keys
	if len(x.PartitionBy) == 0 && x.Limit == 1 && !x.WithTies {
		x.P.Keys = [][]int{{}}
	}
	if byArrival(x) {
		x.P.AppendOnly = true
		x.P.WatermarkCols = append([]int{}, x.Input.Props().WatermarkCols...)
	}
	x.Timed, x.TimeKey = d.timedPartition(x, x.PartitionBy, x.Input)
	switch {
	case x.Timed:
	case len(x.PartitionBy) == 0 && x.Limit >= 0 && x.Input.Props().AppendOnly && !x.WithTies:
		x.P.State = &plan.Bound{Bounded: true, By: itoa(int(x.Limit+x.Offset)) + " rows"}
	case len(x.PartitionBy) > 0:
		x.P.State = d.allRows(x, "it keeps rows for every key")
	default:
		x.P.State = d.allRows(x, "its input can lose rows, so it keeps all of them")
	}
}

// timedPartition finds the PARTITION BY key of a node that carries the watermark. Partitions close under it: their state goes, and their rows
// never change any more, so the column keeps the watermark. In complete mode nothing closes.
func (d *deriver) timedPartition(n plan.Node, by []plan.Expr, in plan.Node) (timed bool, key int) {
	key = eventKey(by, in)
	if key < 0 || d.mode == catalog.Complete {
		return false, 0
	}
	p, text := n.Props(), exprText(by[key], columns(in))
	if by[key].Type().Kind == types.Window {
		text += ".end"
	}
	p.WatermarkCols = []int{timeColumn(by[key]).Index}
	p.State = &plan.Bound{Bounded: true, By: "watermark on " + text}
	return true, key
}

func (d *deriver) dedup(x *plan.Dedup) {
	in := x.Input.Props()
	d.pass(x, x.Input)
	x.Mode = d.mode
	if d.mode == catalog.Complete {
		x.Mode = catalog.Update
	}
	needOrder(x.Input)
	x.TimeKey, x.TimeCol, x.Delay = eventKey(x.Keys, x.Input), -1, catalog.Delay{}
	if len(in.WatermarkCols) > 0 {
		x.TimeCol = in.WatermarkCols[0]
		if x.TimeKey >= 0 {
			x.TimeCol = timeColumn(x.Keys[x.TimeKey]).Index
		}
		x.Delay = in.MarkDelay(x.TimeCol)
	}
	x.SpanMicros = x.Delay.In(func(stream catalog.OID) int64 { return d.b.o.Catalog.DelayIn(stream, math.MaxUint64) })
	if !in.AppendOnly {
		x.P.WatermarkCols = nil
	}
	var key []int
	for _, k := range x.Keys {
		if c, ok := k.(*plan.Col); ok {
			key = append(key, c.Index)
		}
	}
	if len(key) == len(x.Keys) {
		x.P.Keys = append(append([][]int{}, in.Keys...), key)
	}
	switch {
	case x.Within && x.TimeCol >= 0:
		x.P.State = &plan.Bound{Bounded: true, By: "watermark delay on " + columns(x.Input)[x.TimeCol].Name}
	case x.TimeKey >= 0:
		x.P.State = &plan.Bound{Bounded: true, By: "watermark on " + exprText(x.Keys[x.TimeKey], columns(x.Input))}
	case in.HasWatermark:
		x.P.State = d.allRows(x, "none of its keys carries the watermark")
	default:
		x.P.State = d.allRows(x, "there is no watermark")
	}
}

// needOrder says to the windows beneath an operator that goes by the order of arrival that they must keep it.
func needOrder(n plan.Node) {
	switch x := n.(type) {
	case *plan.Filter:
		needOrder(x.Input)
	case *plan.Project:
		needOrder(x.Input)
	case *plan.TableFunc:
		if x.Input != nil {
			needOrder(x.Input)
		}
	case *plan.Window:
		x.P.NeedsOrder = true
		needOrder(x.Input)
	}
}
