package planner

import (
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Decorrelation. A subquery that refers to the rows of an enclosing query is a dependent join: for each left row, the
// right side is evaluated anew. apply turns it into plain joins, by the first of these that fits:
//
//	pull up      the right side is projections and filters over something that does not depend on the left:
//	             its conditions become join conditions
//	group        the left columns are used in equalities only, beneath aggregates, limits and window functions:
//	             the right side is computed for all values at once, grouped by the other side of the equalities
//	domain       anything else: the right side is computed for each distinct combination of the left columns it uses
//
// (the last is Neumann and Kemper, "Unnesting Arbitrary Queries").

// usesFrame says whether a plan refers to columns of f.
func usesFrame(n plan.Node, f *frame) bool {
	found := false
	outerUses(n, f, func(*outerRef) { found = true })
	return found
}

// outerUses calls see for every reference to f in a plan, subqueries in its expressions included.
func outerUses(n plan.Node, f *frame, see func(*outerRef)) {
	if f == nil {
		return
	}
	eachNode(n, func(m plan.Node) {
		eachExpr(m, func(e plan.Expr) { exprUses(e, f, see) })
	})
}

func exprUses(e plan.Expr, f *frame, see func(*outerRef)) {
	walk(e, func(x plan.Expr) {
		switch r := x.(type) {
		case *outerRef:
			if r.frame == f {
				see(r)
			}
		case *subquery:
			outerUses(r.root, f, see)
		}
	})
}

func exprUsesFrame(e plan.Expr, f *frame) bool {
	found := false
	exprUses(e, f, func(*outerRef) { found = true })
	return found
}

// mapOuter replaces every reference to f in a plan, in place.
func mapOuter(n plan.Node, f *frame, with func(*outerRef) plan.Expr) {
	eachNode(n, func(m plan.Node) {
		mapExprs(m, func(e plan.Expr) plan.Expr { return mapOuterExpr(e, f, with) })
	})
}

func mapOuterExpr(e plan.Expr, f *frame, with func(*outerRef) plan.Expr) plan.Expr {
	return rewrite(e, func(x plan.Expr) plan.Expr {
		switch r := x.(type) {
		case *outerRef:
			if r.frame == f {
				return retype(with(r), r.typ)
			}
		case *subquery:
			mapOuter(r.root, f, with)
		}
		return x
	})
}

// retype keeps a relabelled type on the replacement of a reference.
func retype(e plan.Expr, t types.Type) plan.Expr {
	if e.Type() == t || !e.Type().Same(t) && e.Type().Layout() != t.Layout() {
		return e
	}
	return relabel(e, t)
}

// apply joins l with r, where r may refer to the columns of l as those of frame f. cond is over left columns, then right
// columns. single makes a left join raise 21000 where a left row has more than one match.
func (b *binder) apply(kind plan.JoinKind, l, r plan.Node, cond plan.Expr, f *frame, single bool) plan.Node {
	if f == nil || !usesFrame(r, f) {
		if kind == plan.Left && cond == nil && exactlyOne(r) {
			kind, single = plan.Inner, false
		}
		if isOne(l) && kind == plan.Inner && cond == nil {
			return r
		}
		j := newJoin(kind, l, r, cond)
		j.Single = single
		return j
	}
	if kind == plan.Right || kind == plan.Full {
		fail(sqlerr.New(sqlerr.InvalidColumnReference, "the combining JOIN type must be INNER or LEFT for a LATERAL reference"))
	}
	a := &applier{b: b, kind: kind, l: l, f: f, cond: cond, single: single}
	if n := a.tableFunc(r); n != nil {
		return n
	}
	if n := a.pullUp(r); n != nil {
		return n
	}
	if n := a.groupedScalar(r); n != nil {
		return n
	}
	if n := a.grouped(r); n != nil {
		return n
	}
	return a.domain(r)
}

// applier is one dependent join that is being turned into plain ones.
type applier struct {
	b      *binder
	kind   plan.JoinKind
	l      plan.Node
	f      *frame
	cond   plan.Expr
	single bool
}

// toLeft turns references to the frame into columns of the left side.
func (a *applier) toLeft(e plan.Expr) plan.Expr {
	return mapOuterExpr(e, a.f, func(r *outerRef) plan.Expr {
		return &plan.Col{Index: r.idx, Typ: r.typ, Name: r.name, Row: r.row}
	})
}

// overJoin turns an expression over the right side, with references to the frame, into one over the join.
func (a *applier) overJoin(e plan.Expr) plan.Expr { return a.toLeft(shiftPriv(e, width(a.l))) }

// tableFunc calls a set-returning function for each left row.
func (a *applier) tableFunc(r plan.Node) plan.Node {
	t, ok := r.(*plan.TableFunc)
	if !ok || t.Input != nil || a.cond != nil && !isTrue(a.cond) || a.kind != plan.Inner && a.kind != plan.Left {
		return nil
	}
	c := *t
	c.Args = make([]plan.Expr, len(t.Args))
	for i, e := range t.Args {
		c.Args[i] = a.toLeft(e)
	}
	c.Input, c.Outer = a.l, a.kind == plan.Left
	c.P.Columns = joinCols(columns(a.l), t.P.Columns...)
	return &c
}

// pullUp moves the conditions of projections, filters and inner joins at the top of r into the join.
func (a *applier) pullUp(r plan.Node) plan.Node {
	core, outs, preds, ok := a.strip(r)
	if !ok {
		return nil
	}
	marker := -1
	if a.kind == plan.Left && !plainCols(outs) {
		// An output that is not a column of the core must be NULL where there was no match.
		marker = width(core)
		core = extend(core, constBool(true))
	}
	k := width(a.l)
	var conds []plan.Expr
	for _, p := range preds {
		conds = append(conds, a.overJoin(p))
	}
	over := make([]plan.Expr, len(outs))
	for i, o := range outs {
		over[i] = a.overJoin(o)
	}
	if a.cond != nil {
		conds = append(conds, substitute(a.cond, append(firstCols(a.l, k), over...)))
	}
	j := newJoin(a.kind, a.l, core, and(conds))
	j.Single = a.single
	if a.kind == plan.Semi || a.kind == plan.Anti {
		return j
	}
	exprs := firstCols(j, k)
	names := make([]string, k, k+len(over))
	for i, o := range over {
		if _, isCol := o.(*plan.Col); !isCol && marker >= 0 {
			here := &plan.IsNull{X: colOf(j, k+marker), Not: true}
			null := &plan.Const{Val: types.NullDatum, Typ: o.Type()}
			o = &plan.Case{Whens: []plan.When{{Cond: here, Then: o}}, Else: null, Typ: o.Type()}
		}
		exprs = append(exprs, o)
		names = append(names, columns(r)[i].Name)
	}
	return newProject(j, exprs, names)
}

func plainCols(es []plan.Expr) bool {
	for _, e := range es {
		if _, ok := e.(*plan.Col); !ok {
			return false
		}
	}
	return true
}

// strip takes projections, filters and inner joins from the top of r: core does not refer to the frame; the outputs of r
// and the conditions taken away are over core, and may.
func (a *applier) strip(r plan.Node) (core plan.Node, outs, preds []plan.Expr, ok bool) {
	if !usesFrame(r, a.f) {
		return r, firstCols(r, width(r)), nil, true
	}
	switch x := r.(type) {
	case *plan.Filter:
		core, outs, preds, ok = a.strip(x.Input)
		if !ok {
			return
		}
		var keep []plan.Expr
		for _, c := range conjuncts(x.Pred) {
			c = substitute(c, outs)
			if exprUsesFrame(c, a.f) || a.kind == plan.Left && len(preds) > 0 {
				preds = append(preds, c)
			} else {
				keep = append(keep, c)
			}
		}
		return newFilter(core, keep...), outs, preds, true
	case *plan.Project:
		core, outs, preds, ok = a.strip(x.Input)
		if !ok {
			return
		}
		next := make([]plan.Expr, len(x.Exprs))
		for i, e := range x.Exprs {
			next[i] = substitute(e, outs)
		}
		return core, next, preds, true
	case *plan.Join:
		if x.Kind != plan.Inner || len(x.LeftKeys) > 0 {
			return nil, nil, nil, false
		}
		lc, lo, lp, lok := a.strip(x.Left)
		rc, ro, rp, rok := a.strip(x.Right)
		if !lok || !rok {
			return nil, nil, nil, false
		}
		k := width(lc)
		shift := func(es []plan.Expr) {
			for i := range es {
				es[i] = shiftPriv(es[i], k)
			}
		}
		shift(ro)
		shift(rp)
		outs, preds = append(lo, ro...), append(lp, rp...)
		var keep []plan.Expr
		for _, c := range conjuncts(x.Residual) {
			c = substitute(c, outs)
			if exprUsesFrame(c, a.f) {
				preds = append(preds, c)
			} else {
				keep = append(keep, c)
			}
		}
		return newJoin(plan.Inner, lc, rc, and(keep)), outs, preds, true
	}
	return nil, nil, nil, false
}

// pair equates an expression over the left side with a column of the right.
type pair struct {
	left     plan.Expr // with references to the frame
	right    int
	nullSafe bool
}

// groupedScalar handles projections over an aggregate without GROUP BY, which has a row for every left row: the
// aggregate is grouped by the correlation, left joined, and what is missing is what it gives for no rows.
func (a *applier) groupedScalar(r plan.Node) plan.Node {
	if a.kind != plan.Inner && a.kind != plan.Left || a.cond != nil && !isTrue(a.cond) {
		return nil
	}
	n := r
	outs := firstCols(r, width(r))
	for {
		p, ok := n.(*plan.Project)
		if !ok {
			break
		}
		for i := range outs {
			outs[i] = substitute(outs[i], p.Exprs)
		}
		n = p.Input
	}
	agg, ok := n.(*plan.Aggregate)
	if !ok || len(agg.Keys) > 0 || agg.Session != nil || len(agg.Aggs) == 0 || !a.equalitiesOnly(agg) {
		return nil
	}
	in, pairs := a.group(agg.Input)
	keys := make([]plan.Expr, len(pairs))
	for i, p := range pairs {
		keys[i] = colOf(in, p.right)
		pairs[i].right = i
	}
	grouped := newAggregate(in, nil, keys, agg.Aggs)
	j := a.join(plan.Left, grouped, pairs, nil)
	k := width(a.l)
	vals := make([]plan.Expr, len(agg.Aggs))
	for i, g := range agg.Aggs {
		c := plan.Expr(colOf(j, k+len(keys)+i))
		if zeroWhenEmpty(g.Fn) {
			c = &plan.Coalesce{Args: []plan.Expr{c, zeroOf(g.Typ)}, Typ: g.Typ}
		}
		vals[i] = c
	}
	exprs := firstCols(j, k)
	names := make([]string, k)
	for i, o := range outs {
		exprs = append(exprs, a.toLeft(substitute(o, vals)))
		names = append(names, columns(r)[i].Name)
	}
	return newProject(j, exprs, names)
}

// zeroWhenEmpty says whether an aggregate over no rows is zero and not NULL.
func zeroWhenEmpty(f *fn.Func) bool {
	return f.Name == "count" || f.Name == "regr_count" || f.Name == "approx_count_distinct"
}

func zeroOf(t types.Type) plan.Expr { return &plan.Const{Val: types.IntDatum(0), Typ: t} }

// grouped handles right sides whose references are equalities beneath operators that can be grouped by them.
func (a *applier) grouped(r plan.Node) plan.Node {
	if !a.equalitiesOnly(r) || !a.noGlobal(r) {
		return nil
	}
	k := width(r)
	in, pairs := a.group(r)
	return a.finish(in, pairs, k)
}

// finish joins the left side with in, the right side with correlation columns behind its k own ones, and drops those.
func (a *applier) finish(in plan.Node, pairs []pair, k int) plan.Node {
	j := a.join(a.kind, in, pairs, a.cond)
	j.Single = a.single
	if a.kind == plan.Semi || a.kind == plan.Anti {
		return j
	}
	return truncate(j, width(a.l)+k)
}

// join makes the join on pairs and a further condition.
func (a *applier) join(kind plan.JoinKind, in plan.Node, pairs []pair, cond plan.Expr) *plan.Join {
	j := newJoin(kind, a.l, in, cond)
	for _, p := range pairs {
		j.LeftKeys = append(j.LeftKeys, a.toLeft(p.left))
		j.RightKeys = append(j.RightKeys, colOf(in, p.right))
		j.NullSafe = append(j.NullSafe, p.nullSafe)
	}
	return j
}

// correlation reads a conjunct as f(left) = g(right): the equality's operands.
func (a *applier) correlation(c plan.Expr) (left, right plan.Expr, ok bool) {
	eq, _ := isOp(c, "=")
	if eq == nil {
		return nil, nil, false
	}
	x, y := eq.Args[0], eq.Args[1]
	if !exprUsesFrame(x, a.f) {
		x, y = y, x
	}
	_, _, xCols := colRange(x)
	if !exprUsesFrame(x, a.f) || exprUsesFrame(y, a.f) || xCols || hasSubquery(x) || hasSubquery(y) {
		return nil, nil, false
	}
	if !x.Type().Same(y.Type()) {
		x, y = a.b.sameType(x, y, -1)
	}
	return x, y, true
}

// equalitiesOnly says whether group can handle n.
func (a *applier) equalitiesOnly(n plan.Node) bool {
	if !usesFrame(n, a.f) {
		return true
	}
	own := false
	if f, ok := n.(*plan.Filter); ok {
		for _, c := range conjuncts(f.Pred) {
			if exprUsesFrame(c, a.f) {
				if _, _, ok := a.correlation(c); !ok {
					return false
				}
			}
		}
		return a.equalitiesOnly(f.Input)
	}
	eachExpr(n, func(e plan.Expr) { own = own || exprUsesFrame(e, a.f) })
	if own {
		return false
	}
	switch x := n.(type) {
	case *plan.Project, *plan.Dedup, *plan.OverWindow, *plan.Window, *plan.TopN:
	case *plan.Aggregate:
		// One without keys is let through here for groupedScalar; noGlobal refuses it everywhere else.
	case *plan.Join:
		right := usesFrame(x.Right, a.f)
		if right && x.Kind != plan.Inner || x.NullAware {
			return false
		}
		return a.equalitiesOnly(x.Left) && a.equalitiesOnly(x.Right) && a.noGlobal(x.Left) && a.noGlobal(x.Right)
	default:
		return false
	}
	in := n.Inputs()[0]
	return a.equalitiesOnly(in) && a.noGlobal(in)
}

// noGlobal says that no dependent aggregate without GROUP BY stands in n: it has a row where its groups have none.
func (a *applier) noGlobal(n plan.Node) bool {
	ok := true
	eachNode(n, func(m plan.Node) {
		if g, isAgg := m.(*plan.Aggregate); isAgg && len(g.Keys) == 0 && g.Session == nil && usesFrame(m, a.f) {
			ok = false
		}
	})
	return ok
}

// group appends the right sides of n's correlation equalities as columns, carried up through every operator, and
// removes the equalities. It changes n in place.
func (a *applier) group(n plan.Node) (plan.Node, []pair) {
	if !usesFrame(n, a.f) {
		return n, nil
	}
	switch x := n.(type) {
	case *plan.Filter:
		in, pairs := a.group(x.Input)
		var keep, exprs []plan.Expr
		for _, c := range conjuncts(x.Pred) {
			if !exprUsesFrame(c, a.f) {
				keep = append(keep, c)
				continue
			}
			l, r, _ := a.correlation(c)
			pairs = append(pairs, pair{left: l, right: width(in) + len(exprs)})
			exprs = append(exprs, r)
		}
		return newFilter(extend(in, exprs...), keep...), pairs
	case *plan.Join:
		lw := width(x.Left)
		l, lp := a.group(x.Left)
		rw := width(x.Right)
		r, rp := a.group(x.Right)
		return a.regroupJoin(x, l, r, lp, rp, lw, rw)
	}
	in, pairs := a.group(n.Inputs()[0])
	return a.carry(n, in, pairs)
}

// regroupJoin rebuilds a join over sides that have grown columns; the output has the join's own columns first.
func (a *applier) regroupJoin(x *plan.Join, l, r plan.Node, lp, rp []pair, lw, rw int) (plan.Node, []pair) {
	m := make([]int, lw+rw)
	for i := range m {
		m[i] = i
		if i >= lw {
			m[i] = i - lw + width(l)
		}
	}
	c := *x
	c.Left, c.Right = l, r
	if x.Residual != nil {
		c.Residual = remap(x.Residual, m)
	}
	c.P.Columns = joinOutput(&c)
	if x.Kind == plan.Semi || x.Kind == plan.Anti {
		return &c, lp
	}
	exprs := make([]plan.Expr, 0, width(&c))
	for _, i := range m {
		exprs = append(exprs, colOf(&c, i))
	}
	pairs := make([]pair, 0, len(lp)+len(rp))
	for _, p := range lp {
		exprs = append(exprs, colOf(&c, p.right))
		p.right = len(exprs) - 1
		pairs = append(pairs, p)
	}
	for _, p := range rp {
		exprs = append(exprs, colOf(&c, width(l)+p.right))
		p.right = len(exprs) - 1
		pairs = append(pairs, p)
	}
	return newProject(&c, exprs, nil), pairs
}

// carry rebuilds a node with one input over an input that has grown correlation columns behind its own.
func (a *applier) carry(n, in plan.Node, pairs []pair) (plan.Node, []pair) {
	cols := make([]plan.Expr, len(pairs))
	for i, p := range pairs {
		cols[i] = colOf(in, p.right)
	}
	at := func(first int) []pair {
		out := append([]pair{}, pairs...)
		for i := range out {
			out[i].right = first + i
		}
		return out
	}
	switch x := n.(type) {
	case *plan.Project:
		k := len(x.Exprs)
		p := newProject(in, append(append([]plan.Expr{}, x.Exprs...), cols...), nil)
		copy(p.P.Columns, x.P.Columns)
		return p, at(k)
	case *plan.Aggregate:
		g := newAggregate(in, x.Session, append(append([]plan.Expr{}, x.Keys...), cols...), x.Aggs)
		base := len(x.Keys)
		if x.Session != nil {
			base++
		}
		// Own columns first: keys, aggregates, then the correlation.
		var exprs []plan.Expr
		for i := 0; i < base; i++ {
			exprs = append(exprs, colOf(g, i))
		}
		for i := range x.Aggs {
			exprs = append(exprs, colOf(g, base+len(cols)+i))
		}
		for i := range cols {
			exprs = append(exprs, colOf(g, base+i))
		}
		p := newProject(g, exprs, nil)
		copy(p.P.Columns, x.P.Columns)
		return p, at(base + len(x.Aggs))
	case *plan.TopN:
		c := *x
		c.Input, c.PartitionBy = in, append(append([]plan.Expr{}, x.PartitionBy...), cols...)
		c.P.Columns = columns(in)
		return &c, pairs
	case *plan.Dedup:
		c := *x
		c.Input, c.Keys = in, append(append([]plan.Expr{}, x.Keys...), cols...)
		c.P.Columns = columns(in)
		return &c, pairs
	case *plan.OverWindow:
		c := *x
		own := width(x.Input)
		c.Input, c.PartitionBy = in, append(append([]plan.Expr{}, x.PartitionBy...), cols...)
		c.P.Columns = joinCols(columns(in), x.P.Columns[own:]...)
		return a.ownFirst(&c, own, len(x.Funcs), width(in), pairs)
	case *plan.Window:
		c := *x
		own := width(x.Input)
		c.Input = in
		c.P.Columns = joinCols(columns(in), x.P.Columns[own])
		return a.ownFirst(&c, own, 1, width(in), pairs)
	case *plan.TableFunc:
		c := *x
		own := 0
		if x.Input != nil {
			own = width(x.Input)
		}
		c.Input = in
		tail := x.P.Columns[own:]
		c.P.Columns = joinCols(columns(in), tail...)
		return a.ownFirst(&c, own, len(tail), width(in), pairs)
	}
	fail(sqlerr.Unsupported("this form of correlated subquery is not supported"))
	return nil, nil
}

// ownFirst orders the columns of a node that appends added columns to its input: own of the input and the added ones,
// then the correlation.
func (a *applier) ownFirst(n plan.Node, own, added, inWidth int, pairs []pair) (plan.Node, []pair) {
	exprs := firstCols(n, own)
	for i := 0; i < added; i++ {
		exprs = append(exprs, colOf(n, inWidth+i))
	}
	out := append([]pair{}, pairs...)
	for i, p := range pairs {
		exprs = append(exprs, colOf(n, p.right))
		out[i].right = len(exprs) - 1
	}
	return newProject(n, exprs, nil), out
}
