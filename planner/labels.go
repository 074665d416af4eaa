package planner

import (
	"strconv"

	"github.com/tidemarkdb/tidemark/planner/plan"
)

// LabelColumns fills Props.Labels and Props.PairLabels of all nodes under root. The plan must be finished: what changes it later leaves
// labels that are too many or wrong.
func LabelColumns(root plan.Node) {
	labelled := map[plan.Node]bool{}
	var visit func(plan.Node)
	visit = func(n plan.Node) {
		if labelled[n] {
			return
		}
		labelled[n] = true
		for _, in := range n.Inputs() {
			visit(in)
		}
		p := n.Props()
		p.Labels = tellApart(p.Columns, func(i int) string { return columnText(n, i) })
		p.PairLabels = nil
		switch n.(type) {
		case *plan.Join, *plan.AsofJoin, *plan.Lookup:
			l, r := n.Inputs()[0], n.Inputs()[1]
			p.PairLabels = tellApart(joinCols(columns(l), columns(r)...), func(i int) string { return pairText(l, r, i) })
		}
	}
	visit(root)
}

// tellApart gives columns names of which no two are equal; nil where theirs are such. Those that share a name get what text says of
// them, and a number if they share that too.
func tellApart(cols []plan.Column, text func(i int) string) []string {
	uses := map[string]int{}
	for _, c := range cols {
		uses[c.Name]++
	}
	if len(uses) == len(cols) {
		return nil
	}
	names := make([]string, len(cols))
	taken := map[string]bool{}
	for i, c := range cols {
		if uses[c.Name] == 1 {
			names[i], taken[c.Name] = c.Name, true
		}
	}
	for i, c := range cols {
		if uses[c.Name] == 1 {
			continue
		}
		name := text(i)
		for k, base := 1, name; taken[name]; k++ {
			name = base + "_" + strconv.Itoa(k)
		}
		names[i], taken[name] = name, true
	}
	return names
}

// columnText says where column i of a node comes from: the expression that makes it, or the relation that has it.
func columnText(n plan.Node, i int) string {
	name := columns(n)[i].Name
	made := func(in plan.Node, e plan.Expr) string {
		c, ok := e.(*plan.Col)
		switch {
		case !ok:
			return exprText(e, labelled(in))
		case columns(in)[c.Index].Name == name:
			return columnText(in, c.Index)
		}
		return name // given by the query
	}
	switch x := n.(type) {
	case *plan.Scan:
		return x.Rel.Name + "." + name
	case *plan.Project:
		if _, ok := x.Exprs[i].(*plan.Col); ok || name == "?column?" {
			return made(x.Input, x.Exprs[i])
		}
	case *plan.Aggregate:
		if x.Session != nil {
			i--
		}
		switch {
		case i < 0:
		case i < len(x.Keys):
			return made(x.Input, x.Keys[i])
		case i < len(x.Keys)+len(x.Aggs):
			return aggText(x.Aggs[i-len(x.Keys)], labelled(x.Input))
		}
	case *plan.Join, *plan.AsofJoin, *plan.Lookup:
		return pairText(n.Inputs()[0], n.Inputs()[1], i)
	case *plan.TableFunc:
		if x.Input != nil && i < width(x.Input) {
			return columnText(x.Input, i)
		}
	case *plan.Filter, *plan.Window, *plan.TopN, *plan.Dedup, *plan.OverWindow, *plan.TemporalFilter, *plan.AppendFinal:
		// Their columns are the input's, then their own.
		if in := n.Inputs()[0]; i < width(in) {
			return columnText(in, i)
		}
	}
	return name
}

// pairText is columnText of the rows of two nodes side by side.
func pairText(l, r plan.Node, i int) string {
	if k := width(l); i >= k {
		return columnText(r, i-k)
	}
	return columnText(l, i)
}

// labelled gives a node's columns by their labels.
func labelled(n plan.Node) []plan.Column {
	cols := columns(n)
	labels := n.Props().Labels
	if labels == nil {
		return cols
	}
	out := make([]plan.Column, len(cols))
	for i, c := range cols {
		c.Name = labels[i]
		out[i] = c
	}
	return out
}
