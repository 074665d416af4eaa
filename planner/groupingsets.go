package planner

import (
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// oneKeyEach makes one key of those that are the same, once the select list is bound. As in PostgreSQL an expression that is several items of it
// is as many keys of grouping sets, if GROUP BY names the items: some of them can be NULL where others are not.
func (blk *block) oneKeyEach(g *grouping) {
	keys := &grouping{}
	to := make([]int, len(g.keys))
next:
	for i, k := range g.keys {
		item := g.items[i]
		if item < 0 || len(g.sets) == 1 {
			item = findExpr(blk.items, k)
		}
		for j, o := range keys.keys {
			if keys.items[j] == item && equal(o, k) {
				to[i] = j
				continue next
			}
		}
		to[i] = len(keys.keys)
		keys.keys, keys.items = append(keys.keys, k), append(keys.items, item)
	}
	for _, s := range g.sets {
		set := []int{}
		for _, i := range s {
			set = union(set, to[i:i+1])
		}
		keys.sets = append(keys.sets, set)
	}
	if blk.sel.GroupDistinct {
		keys.sets = distinctSets(keys.sets)
	}
	*g = *keys
}

func distinctSets(sets [][]int) [][]int {
	var out [][]int
next:
	for _, s := range sets {
		for _, o := range out {
			if len(o) == len(s) && len(union(o, s)) == len(o) {
				continue next
			}
		}
		out = append(out, s)
	}
	return out
}

// groupingSets makes one aggregation for each set and unites them, absent keys as NULL.
func (blk *block) groupingSets(g *grouping, on *onClause) {
	out := &regroup{blk: blk, keys: g.keys, items: g.items, aggs: len(blk.aggs)}
	var marks []*groupingRef
	out.groupingAt = func(x *groupingRef) plan.Expr {
		at := -1
		for i, m := range marks {
			if equalAll(m.args, x.args) {
				at = i
			}
		}
		if at < 0 {
			at = len(marks)
			marks = append(marks, x)
		}
		for k := range x.args {
			out.checkGrouping(k, x)
		}
		return &plan.Col{Index: len(g.keys) + len(blk.aggs) + at, Typ: int4Type, Name: "grouping"}
	}
	input := blk.node
	blk.eachOutput(on, out.top)
	for k, item := range g.items {
		if item < 0 {
			continue
		}
		if c, ok := blk.items[item].(*plan.Col); ok { // that of a key which may only be equal
			blk.items[item] = &plan.Col{Index: k, Typ: c.Typ, Name: c.Name}
		}
	}
	var parts []plan.Node
	for n, set := range g.sets {
		in := input
		if n > 0 {
			in = clone(input)
		}
		ordered, aggs := blk.ordered(in)
		parts = append(parts, setOutput(newAggregate(ordered, nil, pick(g.keys, set), aggs), g, set, marks, out))
	}
	blk.node = newUnion(parts...)
}

// setOutput brings the aggregate of one grouping set to the common columns: all keys, aggregates, GROUPING values.
func setOutput(a *plan.Aggregate, g *grouping, set []int, marks []*groupingRef, r *regroup) plan.Node {
	at := map[int]int{}
	for i, k := range set {
		at[k] = i
	}
	var exprs []plan.Expr
	for k, e := range g.keys {
		if i, ok := at[k]; ok {
			exprs = append(exprs, colOf(a, i))
		} else {
			exprs = append(exprs, &plan.Const{Val: types.NullDatum, Typ: e.Type()})
		}
	}
	for i := range a.Aggs {
		exprs = append(exprs, colOf(a, len(set)+i))
	}
	for _, m := range marks {
		bits := int64(0)
		for k := range m.args {
			bits <<= 1
			if _, ok := at[r.checkGrouping(k, m)]; !ok {
				bits |= 1
			}
		}
		exprs = append(exprs, &plan.Const{Val: types.IntDatum(bits), Typ: int4Type})
	}
	return newProject(a, exprs, nil)
}

// grouping is GROUPING(a, b).
func (x *exprBinder) grouping(n *ast.Call) plan.Expr {
	if !x.aggs || x.block == nil {
		failAt(n.At, sqlerr.GroupingError, "grouping operations are not allowed in %s", x.clause)
	}
	if len(n.Args) > 31 {
		failAt(n.At, sqlerr.TooManyArguments, "GROUPING must have fewer than 32 arguments")
	}
	args, pos := x.bindList(n.Args)
	return &groupingRef{args: args, at: pos}
}
