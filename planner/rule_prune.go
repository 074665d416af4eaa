package planner

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
)

// pruneRoot drops columns that nothing reads, down to the scans. The root keeps all of its own.
func pruneRoot(root plan.Node) plan.Node {
	need := make([]bool, width(root))
	for i := range need {
		need[i] = true
	}
	n, m := prune(root, need)
	for i, k := range m {
		if i != k {
			panic("planner: pruning moved a column of the root")
		}
	}
	return n
}

// prune gives n without columns that are not needed, where it can do without them, and where each old column is in the
// result (-1: gone). What is kept stays in order.
func prune(n plan.Node, need []bool) (plan.Node, []int) {
	switch x := n.(type) {
	case *plan.Scan:
		return pruneScan(x, need)
	case *plan.Values:
		return pruneValues(x, need)
	case *plan.Project:
		return pruneProject(x, need)
	case *plan.Aggregate:
		return pruneAggregate(x, need)
	case *plan.Join:
		return pruneJoin(x, need)
	case *plan.AsofJoin:
		return pruneAsof(x, need)
	case *plan.Lookup:
		return pruneLookup(x, need)
	case *plan.Custom:
		return pruneCustom(x)
	case *plan.Recursive:
		for i, in := range x.Inputs() {
			setInput(x, i, exactly(in, allNeeded(width(in))))
		}
		return x, identity(width(x))
	case *plan.Union:
		for i, in := range x.Ins {
			x.Ins[i] = exactly(in, need)
		}
		m, cols := keepCols(x.P.Columns, need)
		x.P.Columns = cols
		return x, m
	case *plan.SetOp:
		all := allNeeded(width(x))
		x.Left, x.Right = exactly(x.Left, all), exactly(x.Right, all)
		return x, identity(width(x))
	case *plan.OverWindow:
		k := width(x.Input)
		if !anyOf(need[k:]) {
			// Window functions that nothing reads change nothing.
			child, m := prune(x.Input, need[:k])
			for range x.Funcs {
				m = append(m, -1)
			}
			return child, m
		}
		return pruneTail(x, x.Input, need)
	case *plan.Window, *plan.TableFunc:
		if len(n.Inputs()) == 0 {
			return n, identity(width(n))
		}
		return pruneTail(n, n.Inputs()[0], need)
	}
	// One input with the same columns: filter, topn, sort, dedup.
	in := append([]bool{}, need...)
	if s, ok := n.(*plan.Sort); ok && len(in) < width(s.Input) {
		in = append(in, make([]bool, width(s.Input)-len(in))...)
	}
	markExprs(n, in)
	if d, ok := n.(*plan.Dedup); ok {
		// The event time judges rows even where nothing else reads it.
		for _, c := range d.Input.Props().WatermarkCols {
			in[c] = true
		}
	}
	if f, ok := n.(*plan.AppendFinal); ok {
		in[f.TimeCol] = true
	}
	child, m := prune(n.Inputs()[0], in)
	setInput(n, 0, child)
	remapExprs(n, m)
	if f, ok := n.(*plan.AppendFinal); ok {
		f.TimeCol = m[f.TimeCol]
	}
	if s, ok := n.(*plan.Sort); ok && s.Visible > 0 {
		n.Props().Columns = columns(child)[:s.Visible]
		return n, m[:s.Visible]
	}
	n.Props().Columns = columns(child)
	return n, m
}

func anyOf(need []bool) bool {
	for _, n := range need {
		if n {
			return true
		}
	}
	return false
}

func identity(n int) []int {
	m := make([]int, n)
	for i := range m {
		m[i] = i
	}
	return m
}

func allNeeded(n int) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = true
	}
	return out
}

// keepCols gives the mapping and the columns that are left.
func keepCols(cols []plan.Column, keep []bool) ([]int, []plan.Column) {
	m := make([]int, len(cols))
	var out []plan.Column
	for i, c := range cols {
		m[i] = -1
		if keep[i] {
			m[i] = len(out)
			out = append(out, c)
		}
	}
	return m, out
}

// exactly prunes a node to just the needed columns.
func exactly(n plan.Node, need []bool) plan.Node {
	child, m := prune(n, need)
	var exprs []plan.Expr
	same := true
	for i, ok := range need {
		if ok {
			same = same && m[i] == len(exprs)
			exprs = append(exprs, colOf(child, m[i]))
		}
	}
	if same && len(exprs) == width(child) {
		return child
	}
	return newProject(child, exprs, nil)
}

func markExprs(n plan.Node, need []bool) {
	eachExpr(n, func(e plan.Expr) { colsOf(e, need) })
}

func remapExprs(n plan.Node, m []int) {
	mapExprs(n, func(e plan.Expr) plan.Expr { return remap(e, m) })
}

func pruneScan(x *plan.Scan, need []bool) (plan.Node, []int) {
	m, cols := keepCols(x.P.Columns, need)
	var keep []int
	for i, c := range x.Cols {
		if need[i] {
			keep = append(keep, c)
		}
	}
	if x.Position >= 0 {
		x.Position = m[x.Position]
	}
	x.Cols, x.P.Columns = keep, cols
	return x, m
}

func pruneValues(x *plan.Values, need []bool) (plan.Node, []int) {
	m, cols := keepCols(x.P.Columns, need)
	for r, row := range x.Rows {
		var keep []plan.Expr
		for i, e := range row {
			if need[i] {
				keep = append(keep, e)
			}
		}
		x.Rows[r] = keep
	}
	x.P.Columns = cols
	return x, m
}

func pruneProject(x *plan.Project, need []bool) (plan.Node, []int) {
	m, cols := keepCols(x.P.Columns, need)
	var exprs []plan.Expr
	for i, e := range x.Exprs {
		if need[i] {
			exprs = append(exprs, e)
		}
	}
	x.Exprs, x.P.Columns = exprs, cols
	in := make([]bool, width(x.Input))
	markExprs(x, in)
	child, cm := prune(x.Input, in)
	x.Input = child
	remapExprs(x, cm)
	return x, m
}

// pruneAggregate drops aggregates that nothing reads. Keys stay: they make the groups.
func pruneAggregate(x *plan.Aggregate, need []bool) (plan.Node, []int) {
	keep := append([]bool{}, need...)
	first := len(x.P.Columns) - len(x.Aggs)
	for i := 0; i < first; i++ {
		keep[i] = true
	}
	some := len(x.Aggs) == 0
	for i := first; i < len(keep); i++ {
		some = some || keep[i]
	}
	if !some {
		// Without aggregates it would be a DISTINCT, which shows a group at once and not when it is final.
		keep[first] = true
	}
	var aggs []plan.Agg
	for i, a := range x.Aggs {
		if keep[first+i] {
			aggs = append(aggs, a)
		}
	}
	m, cols := keepCols(x.P.Columns, keep)
	x.Aggs, x.P.Columns = aggs, cols
	in := make([]bool, width(x.Input))
	markExprs(x, in)
	child, cm := prune(x.Input, in)
	x.Input = child
	remapExprs(x, cm)
	return x, m
}

func pruneJoin(x *plan.Join, need []bool) (plan.Node, []int) {
	k, r := width(x.Left), width(x.Right)
	both := make([]bool, k+r)
	copy(both, need)
	if x.Residual != nil {
		colsOf(x.Residual, both)
	}
	left, right := both[:k], both[k:]
	for i := range x.LeftKeys {
		colsOf(x.LeftKeys[i], left)
		colsOf(x.RightKeys[i], right)
	}
	// The event times of the sides bound the state of the join.
	for _, c := range x.Left.Props().WatermarkCols {
		left[c] = true
	}
	for _, c := range x.Right.Props().WatermarkCols {
		right[c] = true
	}
	l, lm := prune(x.Left, left)
	rn, rm := prune(x.Right, right)
	x.Left, x.Right = l, rn
	m := make([]int, k+r)
	copy(m, lm)
	for i, j := range rm {
		m[k+i] = -1
		if j >= 0 {
			m[k+i] = width(l) + j
		}
	}
	if x.Residual != nil {
		x.Residual = remap(x.Residual, m)
	}
	for i := range x.LeftKeys {
		x.LeftKeys[i] = remap(x.LeftKeys[i], lm)
		x.RightKeys[i] = remap(x.RightKeys[i], rm)
	}
	x.P.Columns = joinOutput(x)
	if x.Kind == plan.Semi || x.Kind == plan.Anti {
		return x, lm
	}
	return x, m
}

// pruneTail prunes a node that appends columns to those of its input: an unused appended column stays.
func pruneTail(n, input plan.Node, need []bool) (plan.Node, []int) {
	k := width(input)
	tail := n.Props().Columns[k:]
	in := append([]bool{}, need[:k]...)
	markExprs(n, in)
	child, cm := prune(input, in)
	setInput(n, 0, child)
	remapExprs(n, cm)
	m := append([]int{}, cm...)
	for i := range tail {
		m = append(m, width(child)+i)
	}
	n.Props().Columns = joinCols(columns(child), tail...)
	return n, m
}

// mergeProjects joins projections that stand on one another and drops those that do nothing.
func mergeProjects(n plan.Node, root bool) plan.Node {
	for i, in := range n.Inputs() {
		setInput(n, i, mergeProjects(in, false))
	}
	switch j := n.(type) {
	case *plan.Join:
		j.P.Columns = joinOutput(j)
	case *plan.AsofJoin:
		j.P.Columns = joinCols(columns(j.Left), columns(j.Right)...)
	case *plan.Lookup:
		j.P.Columns = joinCols(columns(j.Left), columns(j.Right)...)
	}
	p, ok := n.(*plan.Project)
	if !ok {
		return n
	}
	if q, ok := p.Input.(*plan.Project); ok && mergeable(p, q) {
		for i, e := range p.Exprs {
			p.Exprs[i] = fold(substitute(e, q.Exprs))
		}
		p.Input = q.Input
	}
	if len(p.Exprs) != width(p.Input) || len(p.Exprs) == 0 {
		return p
	}
	for i, e := range p.Exprs {
		c, ok := e.(*plan.Col)
		if !ok || c.Index != i || c.Typ != columns(p.Input)[i].Type {
			return p
		}
	}
	if _, isSort := p.Input.(*plan.Sort); isSort {
		return p
	}
	p.Input.Props().Columns = p.P.Columns
	return p.Input
}

// mergeable says that no computed column of q is computed more often in p.
func mergeable(p, q *plan.Project) bool {
	uses := make([]int, len(q.Exprs))
	for _, e := range p.Exprs {
		walk(e, func(x plan.Expr) {
			if c, ok := x.(*plan.Col); ok {
				uses[c.Index]++
			}
		})
	}
	for i, n := range uses {
		switch q.Exprs[i].(type) {
		case *plan.Col, *plan.Const:
			continue
		}
		if n > 1 || volatileExpr(q.Exprs[i]) {
			return false
		}
	}
	return true
}
