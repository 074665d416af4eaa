package planner

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Constructors of plan nodes. Each fills Props.Columns, which binding and the rules rely on; the other
// properties are derived at the end.

func columns(n plan.Node) []plan.Column { return n.Props().Columns }

func width(n plan.Node) int { return len(columns(n)) }

// colOf gives column i of a node as an expression.
func colOf(n plan.Node, i int) *plan.Col {
	c := columns(n)[i]
	return &plan.Col{Index: i, Typ: c.Type, Name: c.Name, Row: c.Row}
}

// firstCols gives the first k columns of a node as expressions.
func firstCols(n plan.Node, k int) []plan.Expr {
	out := make([]plan.Expr, k)
	for i := range out {
		out[i] = colOf(n, i)
	}
	return out
}

func joinCols(a []plan.Column, b ...plan.Column) []plan.Column {
	return append(append(make([]plan.Column, 0, len(a)+len(b)), a...), b...)
}

func newScan(r *catalog.Relation, hidden bool) *plan.Scan {
	s := &plan.Scan{Rel: r, Position: -1}
	for i, c := range r.Columns {
		if c.Hidden && !hidden {
			continue
		}
		s.Cols = append(s.Cols, i)
		s.P.Columns = append(s.P.Columns, plan.Column{Name: c.Name, Type: c.Type, TableOID: r.OID, Attr: int16(i + 1)})
	}
	return s
}

func newFilter(in plan.Node, preds ...plan.Expr) plan.Node {
	var keep []plan.Expr
	for _, p := range preds {
		for _, c := range conjuncts(p) {
			if !isTrue(c) {
				keep = append(keep, c)
			}
		}
	}
	if len(keep) == 0 {
		return in
	}
	f := &plan.Filter{Input: in, Pred: and(keep)}
	f.P.Columns = columns(in)
	return f
}

// newProject computes exprs; names gives the names of the columns, "" to take a plain column's own.
func newProject(in plan.Node, exprs []plan.Expr, names []string) *plan.Project {
	p := &plan.Project{Input: in, Exprs: exprs}
	for i, e := range exprs {
		c := exprColumn(in, e)
		if names != nil && names[i] != "" {
			c.Name = names[i]
		}
		p.P.Columns = append(p.P.Columns, c)
	}
	return p
}

// exprColumn describes the column that an expression over in makes.
func exprColumn(in plan.Node, e plan.Expr) plan.Column {
	if c, ok := e.(*plan.Col); ok {
		out := columns(in)[c.Index]
		out.Type = c.Typ
		return out
	}
	c := plan.Column{Name: "?column?", Type: e.Type()}
	if r, ok := e.(*plan.RowCtor); ok {
		c.Row = &plan.RowType{Names: fieldNames(r)}
		for _, a := range r.Args {
			c.Row.Types = append(c.Row.Types, a.Type())
		}
	}
	return c
}

// extend appends computed columns to a node.
func extend(in plan.Node, exprs ...plan.Expr) plan.Node {
	if len(exprs) == 0 {
		return in
	}
	return newProject(in, append(firstCols(in, width(in)), exprs...), nil)
}

// truncate keeps the first k columns of a node.
func truncate(in plan.Node, k int) plan.Node {
	if width(in) == k {
		return in
	}
	return newProject(in, firstCols(in, k), nil)
}

func newWindow(in plan.Node, w *eventWindow, name string) *plan.Window {
	n := &plan.Window{Input: in, Time: w.time, Size: w.size, Slide: w.slide, Start: w.start}
	n.P.Columns = joinCols(columns(in), plan.Column{Name: name, Type: w.typ})
	return n
}

func newJoin(kind plan.JoinKind, l, r plan.Node, cond plan.Expr) *plan.Join {
	j := &plan.Join{Left: l, Right: r, Kind: kind, Residual: cond, KeyTime: -1, LeftTime: -1, RightTime: -1}
	j.P.Columns = joinOutput(j)
	return j
}

func joinOutput(j *plan.Join) []plan.Column {
	if j.Kind == plan.Semi || j.Kind == plan.Anti {
		return columns(j.Left)
	}
	return joinCols(columns(j.Left), columns(j.Right)...)
}

// newAggregate groups by keys; names, if not nil, are those of keys then aggregates.
func newAggregate(in plan.Node, session *plan.Session, keys []plan.Expr, aggs []plan.Agg) *plan.Aggregate {
	a := &plan.Aggregate{Input: in, Session: session, Keys: keys, Aggs: aggs, EventKey: -1}
	if session != nil {
		a.P.Columns = append(a.P.Columns, plan.Column{Name: "session_window", Type: sessionType(session.Time.Type())})
	}
	for _, k := range keys {
		a.P.Columns = append(a.P.Columns, exprColumn(in, k))
	}
	for _, g := range aggs {
		a.P.Columns = append(a.P.Columns, plan.Column{Name: g.Fn.Name, Type: g.Typ})
	}
	return a
}

// newDistinct removes duplicates of whole rows.
func newDistinct(in plan.Node) *plan.Aggregate {
	a := newAggregate(in, nil, firstCols(in, width(in)), nil)
	a.Distinct = true
	return a
}

func sessionType(t types.Type) types.Type { return types.WindowOf(t.Kind) }

func newTopN(in plan.Node, part []plan.Expr, keys []plan.SortKey, limit, offset int64) *plan.TopN {
	t := &plan.TopN{Input: in, PartitionBy: part, Sort: keys, Limit: limit, Offset: offset}
	t.P.Columns = columns(in)
	return t
}

func newSort(in plan.Node, keys []plan.SortKey) *plan.Sort {
	s := &plan.Sort{Input: in, Keys: keys}
	s.P.Columns = columns(in)
	return s
}

func newUnion(ins ...plan.Node) *plan.Union {
	u := &plan.Union{Ins: ins}
	for _, c := range columns(ins[0]) {
		u.P.Columns = append(u.P.Columns, plan.Column{Name: c.Name, Type: c.Type})
	}
	return u
}

// newOne gives one row without columns, for a query without FROM.
func newOne() *plan.Values { return &plan.Values{Rows: [][]plan.Expr{{}}} }

func isOne(n plan.Node) bool {
	v, ok := n.(*plan.Values)
	return ok && len(v.Rows) == 1 && len(v.Rows[0]) == 0
}

// newTableFunc calls a set-returning function, for each row of in if that is not nil.
func newTableFunc(in plan.Node, c *plan.Call, name string, ordinality bool) *plan.TableFunc {
	n := &plan.TableFunc{Input: in, Fn: c.Fn, Args: c.Args, Ordinality: ordinality}
	if in != nil {
		n.P.Columns = joinCols(columns(in))
	}
	n.P.Columns = append(n.P.Columns, setColumns(c, name)...)
	if ordinality {
		n.P.Columns = append(n.P.Columns, plan.Column{Name: "ordinality", Type: int8Type})
	}
	return n
}

// setColumns are the columns of a set-returning function.
func setColumns(c *plan.Call, name string) []plan.Column {
	if c.Fn.OutCols == nil {
		return []plan.Column{{Name: name, Type: c.Typ}}
	}
	var out []plan.Column
	for _, o := range c.Fn.OutCols {
		out = append(out, plan.Column{Name: o.Name, Type: o.Type})
	}
	return out
}

// setInput replaces input i of a node.
func setInput(n plan.Node, i int, in plan.Node) {
	switch x := n.(type) {
	case *plan.TableFunc:
		x.Input = in
	case *plan.Filter:
		x.Input = in
	case *plan.Project:
		x.Input = in
	case *plan.Window:
		x.Input = in
	case *plan.Aggregate:
		x.Input = in
	case *plan.Join:
		if i == 0 {
			x.Left = in
		} else {
			x.Right = in
		}
	case *plan.AsofJoin:
		if i == 0 {
			x.Left = in
		} else {
			x.Right = in
		}
	case *plan.Recursive:
		if i == 0 {
			x.Anchor = in
		} else {
			x.Consts[i-1] = in
		}
	case *plan.Lookup:
		if i == 0 {
			x.Left = in
		} else {
			x.Right = in
		}
	case *plan.Custom:
		if i == 0 {
			x.Input = in
		} else {
			x.Initial = in
		}
	case *plan.Union:
		x.Ins[i] = in
	case *plan.SetOp:
		if i == 0 {
			x.Left = in
		} else {
			x.Right = in
		}
	case *plan.TopN:
		x.Input = in
	case *plan.Sort:
		x.Input = in
	case *plan.Dedup:
		x.Input = in
	case *plan.OverWindow:
		x.Input = in
	case *plan.TemporalFilter:
		x.Input = in
	case *plan.AppendFinal:
		x.Input = in
	}
}

// mapExprs replaces every expression of one node by f of it.
func mapExprs(n plan.Node, f func(plan.Expr) plan.Expr) {
	opt := func(e plan.Expr) plan.Expr {
		if e == nil {
			return nil
		}
		return f(e)
	}
	list := func(es []plan.Expr) {
		for i := range es {
			es[i] = f(es[i])
		}
	}
	keys := func(ks []plan.SortKey) {
		for i := range ks {
			ks[i].X = f(ks[i].X)
		}
	}
	switch x := n.(type) {
	case *plan.Values:
		for _, r := range x.Rows {
			list(r)
		}
	case *plan.TableFunc:
		list(x.Args)
	case *plan.Filter:
		x.Pred = f(x.Pred)
	case *plan.Project:
		list(x.Exprs)
	case *plan.Window:
		x.Time = f(x.Time)
	case *plan.Aggregate:
		list(x.Keys)
		for i := range x.Aggs {
			a := &x.Aggs[i]
			list(a.Args)
			list(a.Direct)
			keys(a.OrderBy)
			a.Filter = opt(a.Filter)
		}
		if x.Session != nil {
			x.Session = &plan.Session{Time: f(x.Session.Time), Gap: f(x.Session.Gap), TimeWatermarked: x.Session.TimeWatermarked}
		}
	case *plan.Join:
		list(x.LeftKeys)
		list(x.RightKeys)
		x.Residual = opt(x.Residual)
	case *plan.AsofJoin:
		list(x.LeftKeys)
		list(x.RightKeys)
		x.LeftTime, x.RightTime = f(x.LeftTime), f(x.RightTime)
	case *plan.Recursive:
		eachNode(x.Step, func(m plan.Node) { mapExprs(m, f) })
	case *plan.Lookup:
		list(x.LeftKeys)
		list(x.RightKeys)
		x.Residual = opt(x.Residual)
	case *plan.Custom:
		list(x.Keys)
		list(x.InitialKeys)
	case *plan.TopN:
		list(x.PartitionBy)
		keys(x.Sort)
		x.LimitExpr, x.OffsetExpr = opt(x.LimitExpr), opt(x.OffsetExpr)
	case *plan.Sort:
		keys(x.Keys)
	case *plan.Dedup:
		list(x.Keys)
	case *plan.OverWindow:
		list(x.PartitionBy)
		keys(x.Sort)
		for i := range x.Funcs {
			list(x.Funcs[i].Args)
			x.Funcs[i].Filter = opt(x.Funcs[i].Filter)
			frame := &x.Funcs[i].Frame
			frame.Start.Offset, frame.End.Offset = opt(frame.Start.Offset), opt(frame.End.Offset)
		}
	case *plan.TemporalFilter:
		x.Time = f(x.Time)
	}
}

// eachExpr calls f for every expression of one node.
func eachExpr(n plan.Node, f func(plan.Expr)) {
	mapExprs(n, func(e plan.Expr) plan.Expr {
		f(e)
		return e
	})
}

// eachNode calls f for n and everything beneath it, parents first.
func eachNode(n plan.Node, f func(plan.Node)) {
	f(n)
	for _, in := range n.Inputs() {
		eachNode(in, f)
	}
}
