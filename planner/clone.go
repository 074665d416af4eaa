package planner

import "github.com/tidemarkdb/tidemark/planner/plan"

// clone copies a plan that is still being bound, so that both copies can be changed in place. Expressions are shared:
// they are never modified.
func clone(n plan.Node) plan.Node {
	ins := n.Inputs()
	var c plan.Node
	switch x := n.(type) {
	case *plan.Scan:
		d := *x
		d.Cols = append([]int{}, x.Cols...)
		c = &d
	case *plan.Values:
		d := *x
		d.Rows = make([][]plan.Expr, len(x.Rows))
		for i, r := range x.Rows {
			d.Rows[i] = append([]plan.Expr{}, r...)
		}
		c = &d
	case *plan.TableFunc:
		d := *x
		d.Args = append([]plan.Expr{}, x.Args...)
		c = &d
	case *plan.Filter:
		d := *x
		c = &d
	case *plan.Project:
		d := *x
		d.Exprs = append([]plan.Expr{}, x.Exprs...)
		c = &d
	case *plan.Window:
		d := *x
		c = &d
	case *plan.Aggregate:
		c = cloneAggregate(x)
	case *plan.Join:
		c = cloneJoin(x)
	case *plan.AsofJoin:
		d := *x
		d.LeftKeys = append([]plan.Expr{}, x.LeftKeys...)
		d.RightKeys = append([]plan.Expr{}, x.RightKeys...)
		c = &d
	case *plan.Recursive:
		d := *x
		d.Consts = append([]plan.Node{}, x.Consts...)
		d.Step = clone(x.Step)
		c = &d
	case *plan.Lookup:
		d := *x
		d.LeftKeys = append([]plan.Expr{}, x.LeftKeys...)
		d.RightKeys = append([]plan.Expr{}, x.RightKeys...)
		c = &d
	case *plan.Custom:
		d := *x
		d.Keys = append([]plan.Expr{}, x.Keys...)
		d.InitialKeys = append([]plan.Expr{}, x.InitialKeys...)
		c = &d
	case *plan.Union:
		d := *x
		d.Ins = append([]plan.Node{}, x.Ins...)
		c = &d
	case *plan.SetOp:
		d := *x
		c = &d
	case *plan.TopN:
		d := *x
		d.PartitionBy = append([]plan.Expr{}, x.PartitionBy...)
		d.Sort = append([]plan.SortKey{}, x.Sort...)
		c = &d
	case *plan.Sort:
		d := *x
		d.Keys = append([]plan.SortKey{}, x.Keys...)
		c = &d
	case *plan.Dedup:
		d := *x
		d.Keys = append([]plan.Expr{}, x.Keys...)
		c = &d
	case *plan.OverWindow:
		c = cloneOver(x)
	case *plan.TemporalFilter:
		d := *x
		c = &d
	case *plan.AppendFinal:
		d := *x
		c = &d
	default:
		return n
	}
	c.Props().Columns = append([]plan.Column{}, n.Props().Columns...)
	for i, in := range ins {
		setInput(c, i, clone(in))
	}
	return c
}

func cloneJoin(x *plan.Join) *plan.Join {
	d := *x
	d.LeftKeys = append([]plan.Expr{}, x.LeftKeys...)
	d.RightKeys = append([]plan.Expr{}, x.RightKeys...)
	d.NullSafe = append([]bool{}, x.NullSafe...)
	return &d
}

func cloneAggregate(x *plan.Aggregate) *plan.Aggregate {
	d := *x
	d.Keys = append([]plan.Expr{}, x.Keys...)
	d.Aggs = append([]plan.Agg{}, x.Aggs...)
	for i, a := range x.Aggs {
		d.Aggs[i].Args = append([]plan.Expr{}, a.Args...)
		d.Aggs[i].OrderBy = append([]plan.SortKey{}, a.OrderBy...)
		d.Aggs[i].Direct = append([]plan.Expr{}, a.Direct...)
	}
	return &d
}

func cloneOver(x *plan.OverWindow) *plan.OverWindow {
	d := *x
	d.PartitionBy = append([]plan.Expr{}, x.PartitionBy...)
	d.Sort = append([]plan.SortKey{}, x.Sort...)
	d.Funcs = append([]plan.OverFunc{}, x.Funcs...)
	for i, f := range x.Funcs {
		d.Funcs[i].Args = append([]plan.Expr{}, f.Args...)
	}
	return &d
}
