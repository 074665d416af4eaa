package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// a JOIN t FOR SYSTEM_TIME AS OF PROCTIME() ON ...: in a maintained view, each row of a meets t as it is when the row comes in. In a
// SELECT, which has one point in time, it is an ordinary join.

// rightItem binds the right side of a join, which may be a relation as of the time at which left rows come in.
func (fb *fromBinder) rightItem(j *ast.Join, left *fromPart) *fromPart {
	t, ok := j.R.(*ast.TableRef)
	if !ok || t.AsOf == nil {
		return fb.item(j.R, left)
	}
	if c, ok := t.AsOf.(*ast.Call); !ok || c.Name != "proctime" || len(c.Args) > 0 || c.Star || c.Over != nil {
		unsupported(t.AsOf.Position(), "FOR SYSTEM_TIME AS OF is supported with PROCTIME() only")
	}
	if j.Kind != "inner" && j.Kind != "left" {
		unsupported(t.AsOf.Position(), "FOR SYSTEM_TIME AS OF PROCTIME() is supported on the right side of an inner or left join only")
	}
	plain := *t
	plain.AsOf = nil
	p := fb.table(&plain)
	p.asOf = fb.b.view()
	return p
}

// lookup joins each row of l with r as it is when the row comes in.
func (b *binder) lookup(kind plan.JoinKind, l, r plan.Node, cond plan.Expr) plan.Node {
	n := &plan.Lookup{Left: l, Right: r, Outer: kind == plan.Left}
	n.P.Columns = joinCols(columns(l), columns(r)...)
	k := width(l)
	var rest []plan.Expr
	for _, c := range conjuncts(cond) {
		x, y, safe, ok := b.equality(c, k)
		if !ok {
			rest = append(rest, c)
			continue
		}
		n.LeftKeys, n.RightKeys = append(n.LeftKeys, fold(x)), append(n.RightKeys, fold(shiftPriv(y, -k)))
		n.NullSafe = append(n.NullSafe, safe)
	}
	n.Residual = and(rest)
	return n
}

// lookup derives the properties of a lookup: they are those of its left side. What is on the right is not judged by the
// view's mode, because no change of it shows.
func (d *deriver) lookup(x *plan.Lookup) {
	d.derive(x.Left)
	right := *d
	right.mode = catalog.Update
	right.derive(x.Right)
	l := x.Left.Props()
	x.P.AppendOnly, x.P.HasWatermark = true, l.HasWatermark
	x.P.WatermarkCols = append([]int{}, l.WatermarkCols...)
	x.P.Keys = nil
	if uniqueOn(x.Right.Props().Keys, x.RightKeys) {
		x.P.Keys = l.Keys
	}
	x.P.State = d.orTables(x.Right, "every row of the right side is kept")
}

// checkLookups refuses lookups for rows that can be taken back: what they met then may be there no more.
func checkLookups(root plan.Node) {
	eachNode(root, func(n plan.Node) {
		if x, ok := n.(*plan.Lookup); ok && !x.Left.Props().AppendOnly {
			fail(sqlerr.Unsupported("FOR SYSTEM_TIME AS OF PROCTIME() is not supported for rows that can change").
				WithHint("Join an append-only stream or view with the table, or leave FOR SYSTEM_TIME out: the join is then maintained as the table changes."))
		}
	})
}

// pruneLookup drops columns of the sides that neither the join nor anything above it reads.
func pruneLookup(x *plan.Lookup, need []bool) (plan.Node, []int) {
	k := width(x.Left)
	both := append([]bool{}, need...)
	if x.Residual != nil {
		colsOf(x.Residual, both)
	}
	left, right := both[:k], both[k:]
	for i := range x.LeftKeys {
		colsOf(x.LeftKeys[i], left)
		colsOf(x.RightKeys[i], right)
	}
	l, r, lm, rm, m := pruneSides(x.Left, x.Right, left, right)
	x.Left, x.Right = l, r
	for i := range x.LeftKeys {
		x.LeftKeys[i], x.RightKeys[i] = remap(x.LeftKeys[i], lm), remap(x.RightKeys[i], rm)
	}
	if x.Residual != nil {
		x.Residual = remap(x.Residual, m)
	}
	x.P.Columns = joinCols(columns(l), columns(r)...)
	return x, m
}

func lookupDetails(x *plan.Lookup, add func(name, text string)) {
	l, r := columns(x.Left), columns(x.Right)
	add("Keys", keyText(x.LeftKeys, x.RightKeys, x.NullSafe, l, r))
	if x.Residual != nil {
		add("Condition", exprText(x.Residual, joinCols(l, r...)))
	}
}
