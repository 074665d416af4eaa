package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// ASOF JOIN, as DuckDB has it: equalities and one inequality; each left row meets the right row that satisfies it and is nearest.

// asofJoin binds a [LEFT] ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts, or USING (k, ts), whose last column is compared by >=.
func (fb *fromBinder) asofJoin(j *ast.Join, l, r *fromPart) *fromPart {
	if r.lateral != nil && usesFrame(r.node, r.lateral) {
		unsupported(j.At, "ASOF joins with a LATERAL item are not supported")
	}
	n := &plan.AsofJoin{Left: l.node, Right: r.node, Outer: j.Kind == "left asof"}
	n.P.Columns = joinCols(columns(l.node), columns(r.node)...)
	p := &fromPart{node: n, lateral: l.lateral}
	rs := shifted(r.scope, width(l.node))
	p.scope = l.scope.join(rs)
	if len(j.Using) > 0 {
		fb.asofUsing(n, j, l.scope, rs, p.scope)
		return p
	}
	if j.On == nil {
		failAt(j.At, sqlerr.SyntaxError, "ASOF JOIN needs a condition")
	}
	x := &exprBinder{b: fb.b, f: &frame{scope: p.scope, parent: fb.parent}, ctes: fb.ctes, clause: "JOIN/ON", subqueries: true}
	cond := x.condition(j.On)
	if hasSubquery(cond) {
		unsupported(j.On.Position(), "subqueries in the condition of an ASOF join are not supported")
	}
	for _, c := range conjuncts(cond) {
		fb.b.asofConjunct(n, c, j.On.Position())
	}
	if n.LeftTime == nil {
		unsupported(j.On.Position(), "an ASOF join without an inequality is not supported")
	}
	return p
}

// asofUsing compares the columns of USING; the last is the inequality. Each is shown once, with the left side's value.
func (fb *fromBinder) asofUsing(n *plan.AsofJoin, j *ast.Join, l, r, both *scope) {
	var vis []visible
	for i, name := range j.Using {
		a, b := usingColumn(l, name, "left", j.At), usingColumn(r, name, "right", j.At)
		op := "="
		if i == len(j.Using)-1 {
			op = ">="
		}
		fb.b.asofConjunct(n, fb.b.operator(op, a, b, j.At), j.At)
		vis = append(vis, visible{name: name, expr: a})
	}
	for _, v := range both.vis {
		if indexOf(j.Using, v.name) < 0 {
			vis = append(vis, v)
		}
	}
	both.vis = vis
}

// asofConjunct takes one comparison into the join.
func (b *binder) asofConjunct(n *plan.AsofJoin, c plan.Expr, pos ast.Pos) {
	k := width(n.Left)
	if l, r, safe, ok := b.equality(c, k); ok && !safe {
		n.LeftKeys, n.RightKeys = append(n.LeftKeys, fold(l)), append(n.RightKeys, fold(shiftPriv(r, -k)))
		return
	}
	call, op := isOp(c, "<", "<=", ">", ">=")
	if call == nil || n.LeftTime != nil || volatileExpr(c) {
		asofRefused(pos)
	}
	l, r := call.Args[0], call.Args[1]
	if !oneSide(l, 0, k) {
		l, r, op = r, l, mirrored[op]
	}
	if !oneSide(l, 0, k) || !oneSide(r, k, 1<<30) {
		asofRefused(pos)
	}
	l, r = b.sameType(l, r, pos)
	n.LeftTime, n.RightTime, n.Op = fold(l), fold(shiftPriv(r, -k)), op
}

// mirrored gives the operator that means the same with its operands exchanged.
var mirrored = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}

func asofRefused(pos ast.Pos) {
	unsupported(pos, "the condition of an ASOF join must be equalities and one inequality (<, <=, >, >=) between both sides; write other conditions in WHERE or in a subquery")
}

// asof derives the properties of an ASOF join. Its rows become final by the watermark where both times carry one and neither
// side can take rows back: of matches in the past when it passes the left row, of those in the future when it passes the match.
func (d *deriver) asof(x *plan.AsofJoin) {
	l, r := x.Left.Props(), x.Right.Props()
	x.Mode = d.mode
	if d.mode == catalog.Complete {
		x.Mode = catalog.Update
	}
	x.Timed = d.view && l.AppendOnly && r.AppendOnly && marked(x.LeftTime, x.Left) && marked(x.RightTime, x.Right)
	x.P.Keys = l.Keys
	k := width(x.Left)
	switch lc, rc := timeColumn(x.LeftTime), timeColumn(x.RightTime); {
	case !x.Timed:
	case x.Past():
		x.P.WatermarkCols = []int{lc.Index}
	case !x.Outer:
		x.P.WatermarkCols = []int{k + rc.Index}
	}
	x.P.AppendOnly = !d.view || x.Timed && d.mode == catalog.Append && (x.Past() || !x.Outer)
	x.P.State = d.asofState(x)
}

func (d *deriver) asofState(x *plan.AsofJoin) *plan.Bound {
	lt := exprText(x.LeftTime, columns(x.Left))
	switch {
	case x.Timed && x.Past():
		return &plan.Bound{Bounded: true, By: "watermark on " + lt + ", and the newest right row of each key"}
	case x.Timed:
		return &plan.Bound{By: "left rows that no right row follows are kept for good"}
	case x.Left.Props().HasWatermark && x.Right.Props().HasWatermark:
		return d.orTables(x, "both times must be the columns that carry the watermarks, of inputs that lose no rows")
	}
	return d.orTables(x, "both sides are kept for good: not both of them have a watermark")
}

// asofError says why an ASOF join can't be in append mode.
func asofError(x *plan.AsofJoin) *sqlerr.Error {
	for _, in := range x.Inputs() {
		if !in.Props().AppendOnly {
			return sqlerr.Unsupported(appendWhat + "an ASOF join with rows that can change").WithHint("Use output_mode = 'update'.")
		}
	}
	if x.Timed {
		return sqlerr.Unsupported(appendWhat+"a LEFT ASOF join by %s: a left row without a match can never be known to have none", x.Op).
			WithHint("Use ASOF JOIN without LEFT, or output_mode = 'update'.")
	}
	return sqlerr.Unsupported(appendWhat + "an ASOF join whose times do not both carry a watermark: a better match could come later").
		WithHint("Declare watermarks on both streams and compare their columns directly, or use output_mode = 'update'.")
}

// pruneAsof drops columns of the sides that neither the join nor anything above it reads.
func pruneAsof(x *plan.AsofJoin, need []bool) (plan.Node, []int) {
	k := width(x.Left)
	both := append([]bool{}, need...)
	left, right := both[:k], both[k:]
	for i := range x.LeftKeys {
		colsOf(x.LeftKeys[i], left)
		colsOf(x.RightKeys[i], right)
	}
	colsOf(x.LeftTime, left)
	colsOf(x.RightTime, right)
	l, r, lm, rm, m := pruneSides(x.Left, x.Right, left, right)
	x.Left, x.Right = l, r
	for i := range x.LeftKeys {
		x.LeftKeys[i], x.RightKeys[i] = remap(x.LeftKeys[i], lm), remap(x.RightKeys[i], rm)
	}
	x.LeftTime, x.RightTime = remap(x.LeftTime, lm), remap(x.RightTime, rm)
	x.P.Columns = joinCols(columns(l), columns(r)...)
	return x, m
}

// pruneSides prunes both inputs of a join-like node and gives where the old columns of each, and of both together, are.
func pruneSides(l, r plan.Node, left, right []bool) (nl, nr plan.Node, lm, rm, both []int) {
	nl, lm = prune(l, left)
	nr, rm = prune(r, right)
	both = append(both, lm...)
	for _, j := range rm {
		if j >= 0 {
			j += width(nl)
		}
		both = append(both, j)
	}
	return nl, nr, lm, rm, both
}

// pushLeft moves conditions on left columns below a node that treats each left row by itself.
func (b *binder) pushLeft(n, left, right plan.Node, preds []plan.Expr) plan.Node {
	below, above := splitPreds(preds, within(0, width(left)))
	var own []plan.Expr
	for _, p := range below {
		if constExpr(p) {
			above = append(above, p)
		} else {
			own = append(own, p)
		}
	}
	setInput(n, 0, b.pushdown(left, own))
	setInput(n, 1, b.pushdown(right, nil))
	return newFilter(n, above...)
}

func asofDetails(x *plan.AsofJoin, add func(name, text string)) {
	l, r := columns(x.Left), columns(x.Right)
	add("Keys", keyText(x.LeftKeys, x.RightKeys, nil, l, r))
	add("Nearest", exprText(x.LeftTime, l)+" "+x.Op+" "+exprText(x.RightTime, r))
}
