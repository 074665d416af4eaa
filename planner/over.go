package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// overCall is one window function call; the calls with equal partitions and order share a node.
type overCall struct {
	part []plan.Expr
	sort []plan.SortKey
	fn   plan.OverFunc
}

func (o *overCall) each(f func(plan.Expr) plan.Expr) {
	for i := range o.part {
		o.part[i] = f(o.part[i])
	}
	for i := range o.sort {
		o.sort[i].X = f(o.sort[i].X)
	}
	for i := range o.fn.Args {
		o.fn.Args[i] = f(o.fn.Args[i])
	}
	if o.fn.Filter != nil {
		o.fn.Filter = f(o.fn.Filter)
	}
}

func (x *exprBinder) overCall(n *ast.Call, class fn.Class, found bool) plan.Expr {
	switch {
	case !found:
		args, _ := x.bindList(n.Args)
		x.b.call(n.Name, args, n.At)
	case class != fn.Aggregate && class != fn.Window:
		failAt(n.At, sqlerr.WrongObjectType, "OVER specified, but %s is not a window function nor an aggregate function", n.Name)
	case x.inOver:
		failAt(n.At, sqlerr.WindowingError, "window function calls cannot be nested")
	case x.inAgg:
		failAt(n.At, sqlerr.GroupingError, "aggregate function calls cannot contain window function calls")
	case !x.overs || x.block == nil:
		failAt(n.At, sqlerr.WindowingError, "window functions are not allowed in %s", x.clause)
	case n.Distinct:
		unsupported(n.At, "DISTINCT is not implemented for window functions")
	case len(n.OrderBy) > 0 && !n.Within:
		unsupported(n.At, "aggregate ORDER BY is not implemented for window functions")
	case n.Within:
		unsupported(n.At, "OVER is not supported for ordered-set aggregate %s", n.Name)
	case n.IgnoreNulls:
		unsupported(n.At, "IGNORE NULLS is not supported")
	case n.Filter != nil && class == fn.Window:
		unsupported(n.At, "FILTER is not implemented for non-aggregate window functions")
	}
	in := *x
	in.inOver, in.overs, in.sets = true, false, false
	spec := x.block.windowSpec(n.Over, 0)
	args, _ := in.bindList(n.Args)
	if len(args) == 0 && !n.Star && n.Name == "count" {
		failAt(n.At, sqlerr.WrongObjectType, "count(*) must be used to call a parameterless aggregate function")
	}
	c := x.b.call(n.Name, args, n.At, class)
	o := &overCall{fn: plan.OverFunc{Fn: c.Fn, Args: c.Args, Typ: c.Typ, Filter: in.filter(n.Filter)}}
	for _, p := range spec.PartitionBy {
		y := in
		y.clause = "PARTITION BY"
		o.part = append(o.part, x.b.groupable(y.value(p), loc(p)))
	}
	o.sort = in.sortKeys(spec.OrderBy)
	o.fn.Frame = in.frame(spec, o.sort)
	x.block.overs = append(x.block.overs, o)
	return &overRef{idx: len(x.block.overs) - 1, typ: c.Typ}
}

// windowSpec resolves a reference to a named window.
func (blk *block) windowSpec(s *ast.WindowSpec, depth int) *ast.WindowSpec {
	if s.Ref == "" {
		return s
	}
	if depth > len(blk.sel.Windows) {
		failAt(s.At, sqlerr.UndefinedObject, "window %q does not exist", s.Ref)
	}
	for _, w := range blk.sel.Windows {
		if w.Name != s.Ref {
			continue
		}
		base := blk.windowSpec(w.Spec, depth+1)
		plain := len(s.PartitionBy) == 0 && len(s.OrderBy) == 0 && s.Frame == nil
		switch {
		case plain:
			return base
		case len(s.PartitionBy) > 0:
			failAt(s.At, sqlerr.WindowingError, "cannot override PARTITION BY clause of window %q", s.Ref)
		case len(s.OrderBy) > 0 && len(base.OrderBy) > 0:
			failAt(s.At, sqlerr.WindowingError, "cannot override ORDER BY clause of window %q", s.Ref)
		case base.Frame != nil:
			failAt(s.At, sqlerr.WindowingError, "cannot copy window %q because it has a frame clause", s.Ref)
		}
		out := &ast.WindowSpec{PartitionBy: base.PartitionBy, OrderBy: base.OrderBy, Frame: s.Frame, At: s.At}
		if len(s.OrderBy) > 0 {
			out.OrderBy = s.OrderBy
		}
		return out
	}
	failAt(s.At, sqlerr.UndefinedObject, "window %q does not exist", s.Ref)
	return nil
}

// frame binds a frame clause; without one it is RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW.
func (x *exprBinder) frame(s *ast.WindowSpec, sort []plan.SortKey) plan.Frame {
	f := plan.Frame{Mode: "range", Start: plan.FrameBound{Kind: "unbounded preceding"}, End: plan.FrameBound{Kind: "current row"}}
	if s.Frame == nil {
		return f
	}
	a := s.Frame
	f.Mode, f.Exclude = a.Mode, a.Exclude
	if f.Exclude == "no others" {
		f.Exclude = ""
	}
	offset := a.Start.Offset != nil || a.End.Offset != nil
	switch {
	case a.Start.Kind == "unbounded following":
		failAt(s.At, sqlerr.WindowingError, "frame start cannot be UNBOUNDED FOLLOWING")
	case a.End.Kind == "unbounded preceding":
		failAt(s.At, sqlerr.WindowingError, "frame end cannot be UNBOUNDED PRECEDING")
	case a.Start.Kind == "current row" && a.End.Kind == "preceding":
		failAt(s.At, sqlerr.WindowingError, "frame starting from current row cannot have preceding rows")
	case a.Start.Kind == "following" && (a.End.Kind == "preceding" || a.End.Kind == "current row"):
		failAt(s.At, sqlerr.WindowingError, "frame starting from following row cannot have preceding rows")
	case f.Mode == "groups" && len(sort) == 0:
		failAt(s.At, sqlerr.WindowingError, "GROUPS mode requires an ORDER BY clause")
	case f.Mode == "range" && offset && len(sort) != 1:
		failAt(s.At, sqlerr.WindowingError, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
	}
	f.Start = x.frameBound(a.Start, f.Mode, sort)
	f.End = x.frameBound(a.End, f.Mode, sort)
	return f
}

func (x *exprBinder) frameBound(b ast.Bound, mode string, sort []plan.SortKey) plan.FrameBound {
	out := plan.FrameBound{Kind: b.Kind}
	if b.Offset == nil {
		return out
	}
	pos := loc(b.Offset)
	t := int8Type
	if mode == "range" {
		switch key := sort[0].X.Type(); key.Kind {
		case types.Date, types.Time, types.Timestamp, types.TimestampTZ, types.Interval:
			t = types.Of(types.Interval)
		case types.Int2, types.Int4, types.Int8, types.Numeric, types.Float4, types.Float8:
			t = key.NoMod()
		default:
			failAt(pos, sqlerr.FeatureNotSupported, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s", key)
		}
	}
	e := fold(x.b.cast(x.bind(b.Offset), t, fn.Assignment, pos))
	c, ok := e.(*plan.Const)
	if !ok {
		if _, isParam := e.(*plan.Param); !isParam {
			unsupported(pos, "frame offsets must be constants")
		}
		out.Offset = e
		return out
	}
	if c.Val.Null {
		failAt(pos, sqlerr.NullValueNotAllowed, "frame %s offset must not be null", "starting")
	}
	out.Offset = c
	return out
}

func (b *block) addSet(c *plan.Call) plan.Expr {
	b.sets = append(b.sets, c)
	idx := len(b.sets) - 1
	if c.Fn.OutCols == nil {
		return &setRef{idx: idx, typ: c.Typ}
	}
	row := &plan.RowCtor{}
	for i, o := range c.Fn.OutCols {
		row.Args, row.Names = append(row.Args, &setRef{idx: idx, col: i, typ: o.Type}), append(row.Names, o.Name)
	}
	if len(row.Args) == 1 {
		return row.Args[0]
	}
	return row
}

// windowFunctions adds a node for each group of calls that share partitions and order.
func (blk *block) windowFunctions(on *onClause) {
	if len(blk.overs) == 0 {
		return
	}
	overs := blk.overs
	blk.overs = nil
	for _, o := range overs {
		o.each(func(e plan.Expr) plan.Expr {
			blk.node, e = blk.b.attach(blk.node, blk.f, e)
			return e
		})
	}
	at := make([]plan.Expr, len(overs))
	for i, o := range overs {
		if at[i] != nil {
			continue
		}
		n := &plan.OverWindow{Input: blk.node, PartitionBy: o.part, Sort: o.sort}
		n.P.Columns = joinCols(columns(blk.node))
		for j := i; j < len(overs); j++ {
			p := overs[j]
			if at[j] != nil || !equalAll(o.part, p.part) || !sameSort(o.sort, p.sort) {
				continue
			}
			n.Funcs = append(n.Funcs, p.fn)
			n.P.Columns = append(n.P.Columns, plan.Column{Name: p.fn.Fn.Name, Type: p.fn.Typ})
			at[j] = colOf(n, len(n.P.Columns)-1)
		}
		blk.node = n
	}
	var put func(plan.Expr) plan.Expr
	put = func(e plan.Expr) plan.Expr {
		if r, ok := e.(*overRef); ok {
			return retype(at[r.idx], r.typ)
		}
		return mapChildren(e, put)
	}
	blk.eachOutput(on, put)
}

func sameSort(a, b []plan.SortKey) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Desc != b[i].Desc || a[i].NullsFirst != b[i].NullsFirst || !equal(a[i].X, b[i].X) {
			return false
		}
	}
	return true
}

// setFunctions adds the set-returning functions of the select list, several as one that calls them side by side.
func (blk *block) setFunctions(on *onClause) {
	if len(blk.sets) == 0 {
		return
	}
	c := blk.sets[0]
	if len(blk.sets) > 1 {
		c = rowsFrom(blk.sets)
	}
	for i := range c.Args {
		blk.node, c.Args[i] = blk.b.attach(blk.node, blk.f, c.Args[i])
	}
	starts := make([]int, len(blk.sets))
	at := width(blk.node)
	for i, s := range blk.sets {
		starts[i] = at
		at += max(len(s.Fn.OutCols), 1)
	}
	blk.node = newTableFunc(blk.node, c, c.Fn.Name, false)
	var put func(plan.Expr) plan.Expr
	put = func(e plan.Expr) plan.Expr {
		if r, ok := e.(*setRef); ok {
			return retype(colOf(blk.node, starts[r.idx]+r.col), r.typ)
		}
		return mapChildren(e, put)
	}
	blk.sets = nil
	blk.eachOutput(on, put)
}

// rowsFrom makes one call of several.
func rowsFrom(sets []*plan.Call) *plan.Call {
	all := &plan.Call{Typ: types.Of(types.Record), Pos: sets[0].Pos}
	var parts []*fn.Func
	var args []int
	var cols []fn.OutCol
	for _, c := range sets {
		parts, args = append(parts, c.Fn), append(args, len(c.Args))
		for _, o := range setColumns(c, c.Fn.Name) {
			cols = append(cols, fn.OutCol{Name: o.Name, Type: o.Type})
		}
		all.Args = append(all.Args, c.Args...)
	}
	all.Fn = fn.RowsFrom(parts, args, cols)
	return all
}
