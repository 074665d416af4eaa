package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Explain shows a plan as an indented tree with the properties of its nodes; verbose adds their output columns.
func Explain(q *plan.Query, verbose bool) string {
	var sb strings.Builder
	explainer{q.Maintained, verbose}.node(&sb, q.Root, 0)
	return strings.TrimRight(sb.String(), "\n")
}

// explainer shows the nodes of one plan.
type explainer struct{ maintained, verbose bool }

// appendOnly says whether rows of a node only ever come. In a plan that runs once nothing is taken away, which says nothing of what it reads: there it is
// what a view would have, where it follows from the relations and what lets through each row as it comes.
func (e explainer) appendOnly(n plan.Node) bool {
	if e.maintained {
		return n.Props().AppendOnly
	}
	switch x := n.(type) {
	case *plan.Scan:
		return x.Rel.IsAppendOnly()
	case *plan.Values, *plan.TableFunc:
		return n.Props().AppendOnly
	case *plan.Filter, *plan.Project, *plan.Window, *plan.Union:
		return !slices.ContainsFunc(n.Inputs(), func(in plan.Node) bool { return !e.appendOnly(in) })
	}
	return false
}

func (e explainer) node(sb *strings.Builder, n plan.Node, depth int) {
	pad := strings.Repeat("  ", depth)
	arrow := ""
	if depth > 0 {
		pad = strings.Repeat("  ", depth-1)
		arrow = "->  "
	}
	fmt.Fprintf(sb, "%s%s%s\n", pad, arrow, describe(n))
	inner := pad + strings.Repeat(" ", len(arrow)) + "  "
	for _, d := range details(n) {
		fmt.Fprintf(sb, "%s%s: %s\n", inner, d[0], d[1])
	}
	if e.verbose {
		fmt.Fprintf(sb, "%sOutput: %s\n", inner, outputText(n))
	}
	if p := e.propsText(n); p != "" {
		fmt.Fprintf(sb, "%sProperties: %s\n", inner, p)
	}
	for _, in := range explained(n) {
		e.node(sb, in, depth+1)
	}
}

// explained lists what is shown beneath a node: its inputs, and the recursive term of a recursive query.
func explained(n plan.Node) []plan.Node {
	ins := n.Inputs()
	if r, ok := n.(*plan.Recursive); ok {
		ins = append(ins, r.Step)
	}
	return ins
}

// jsonNode is a node of EXPLAIN (FORMAT JSON), with PostgreSQL's names where it has them.
type jsonNode struct {
	NodeType   string            `json:"Node Type"`
	Details    map[string]string `json:"Details,omitempty"`
	Output     []string          `json:"Output"`
	AppendOnly bool              `json:"Append Only"`
	Watermark  []string          `json:"Watermark Columns,omitempty"`
	Keys       [][]string        `json:"Keys,omitempty"`
	State      *jsonState        `json:"State,omitempty"`
	Plans      []jsonNode        `json:"Plans,omitempty"`
}

type jsonState struct {
	Bounded bool   `json:"Bounded"`
	By      string `json:"By"`
}

// ExplainJSON is Explain as JSON, in the frame that PostgreSQL gives it.
func ExplainJSON(q *plan.Query) string {
	out, err := json.MarshalIndent([]map[string]jsonNode{{"Plan": explainer{maintained: q.Maintained}.json(q.Root)}}, "", "  ")
	if err != nil {
		panic("planner: EXPLAIN can't be encoded: " + err.Error())
	}
	return string(out)
}

func (e explainer) json(n plan.Node) jsonNode {
	p := n.Props()
	out := jsonNode{NodeType: describe(n), AppendOnly: e.appendOnly(n), Output: []string{}}
	for _, d := range details(n) {
		if out.Details == nil {
			out.Details = map[string]string{}
		}
		out.Details[d[0]] = d[1]
	}
	for _, c := range p.Columns {
		out.Output = append(out.Output, c.Name)
	}
	for _, c := range p.WatermarkCols {
		out.Watermark = append(out.Watermark, p.Columns[c].Name)
	}
	for _, k := range p.Keys {
		names := []string{}
		for _, c := range k {
			names = append(names, p.Columns[c].Name)
		}
		out.Keys = append(out.Keys, names)
	}
	if p.State != nil {
		out.State = &jsonState{p.State.Bounded, p.State.By}
	}
	for _, in := range explained(n) {
		out.Plans = append(out.Plans, e.json(in))
	}
	return out
}

// describe is the first line of a node.
func describe(n plan.Node) string {
	switch x := n.(type) {
	case *plan.Scan:
		return "Scan " + x.Rel.Kind.String() + " " + x.Rel.Name
	case *plan.Values:
		return "Values (" + strconv.Itoa(len(x.Rows)) + " rows)"
	case *plan.TableFunc:
		return "Table Function " + x.Fn.Name
	case *plan.Filter:
		return "Filter"
	case *plan.Project:
		return "Project"
	case *plan.Window:
		return "Window"
	case *plan.Aggregate:
		switch {
		case x.Session != nil:
			return "Session Aggregate (" + x.Mode.String() + ")"
		case len(x.Aggs) == 0:
			return "Distinct (" + x.Mode.String() + ")"
		}
		return "Aggregate (" + x.Mode.String() + ")"
	case *plan.Join:
		name := x.Kind.String() + " Join"
		if x.NullAware {
			name += " (null aware)"
		}
		if x.Single {
			name += " (single match)"
		}
		return name
	case *plan.AsofJoin:
		if x.Outer {
			return "Left Asof Join (" + x.Mode.String() + ")"
		}
		return "Asof Join (" + x.Mode.String() + ")"
	case *plan.Lookup:
		if x.Outer {
			return "Left Lookup Join as of processing time"
		}
		return "Lookup Join as of processing time"
	case *plan.Recursive:
		if x.All {
			return "Recursive Union All"
		}
		return "Recursive Union"
	case *plan.WorkTable:
		if x.Port > 0 {
			return "Input " + strconv.Itoa(x.Port+1)
		}
		return "Rows of the round before"
	case *plan.Custom:
		return "Transform With State " + x.Processor.Name + " (" + x.Mode.String() + ")"
	case *plan.Union:
		return "Union All"
	case *plan.SetOp:
		return setOpName(x)
	case *plan.TopN:
		return "TopN"
	case *plan.Sort:
		return "Sort"
	case *plan.Dedup:
		if x.Within {
			return "Dedup within watermark"
		}
		return "Dedup"
	case *plan.OverWindow:
		return "Window Functions"
	case *plan.TemporalFilter:
		return "Temporal Filter"
	case *plan.AppendFinal:
		return "Hold Back until final"
	}
	return fmt.Sprintf("%T", n)
}

// details are the further lines of a node, as name and text.
func details(n plan.Node) [][2]string {
	var out [][2]string
	add := func(name, text string) {
		if text != "" {
			out = append(out, [2]string{name, text})
		}
	}
	var in []plan.Column
	if ins := n.Inputs(); len(ins) > 0 {
		in = columns(ins[0])
	}
	switch x := n.(type) {
	case *plan.Scan:
		var eq []string
		for _, e := range x.Eq {
			eq = append(eq, x.Rel.Columns[e.Col].Name+" = "+exprText(e.Val, nil))
		}
		for _, b := range x.Bounds {
			eq = append(eq, x.Rel.Columns[b.Col].Name+" "+b.Op+" "+exprText(b.Val, nil))
		}
		for _, a := range x.Any {
			eq = append(eq, x.Rel.Columns[a.Col].Name+" = ANY ("+exprText(a.Array, nil)+")")
		}
		add("Lookup", strings.Join(eq, ", "))
	case *plan.TableFunc:
		add("Arguments", exprList(x.Args, in))
	case *plan.Filter:
		add("Condition", exprText(x.Pred, in))
	case *plan.Project:
		add("Columns", projectText(x, in))
	case *plan.Window:
		add("Time", exprText(x.Time, in))
		add("Size", microsText(x.Size))
		if x.Slide != x.Size {
			add("Slide", microsText(x.Slide))
		}
		if x.Start != 0 {
			add("Start", microsText(x.Start))
		}
	case *plan.Aggregate:
		if x.Session != nil {
			add("Session", exprText(x.Session.Time, in)+", gap "+exprText(x.Session.Gap, in))
		}
		add("Keys", exprList(x.Keys, in))
		var aggs []string
		for _, a := range x.Aggs {
			aggs = append(aggs, aggText(a, in))
		}
		add("Aggregates", strings.Join(aggs, ", "))
	case *plan.Join:
		joinDetails(x, add)
	case *plan.AsofJoin:
		asofDetails(x, add)
	case *plan.Lookup:
		lookupDetails(x, add)
	case *plan.Custom:
		customDetails(x, add)
	case *plan.TopN:
		add("Partition", exprList(x.PartitionBy, in))
		add("Sort", sortText(x.Sort, in))
		add("Limit", limitText(x))
		if x.Presorted {
			add("Presorted", "yes")
		}
	case *plan.Sort:
		add("Keys", sortText(x.Keys, in))
	case *plan.Dedup:
		add("Keys", exprList(x.Keys, in))
		if x.TimeCol >= 0 {
			add("Event time", in[x.TimeCol].Name)
		}
	case *plan.OverWindow:
		add("Partition", exprList(x.PartitionBy, in))
		add("Sort", sortText(x.Sort, in))
		var fs []string
		for _, f := range x.Funcs {
			fs = append(fs, f.Fn.Name+"("+exprList(f.Args, in)+")")
		}
		add("Functions", strings.Join(fs, ", "))
	case *plan.TemporalFilter:
		t := types.Of(types.Interval)
		add("Condition", exprText(x.Time, in)+" "+x.Op+" now() + "+constText(&plan.Const{Val: x.Offset, Typ: t}))
	case *plan.AppendFinal:
		add("Event time", in[x.TimeCol].Name)
	}
	return out
}

func joinDetails(x *plan.Join, add func(name, text string)) {
	l, r := columns(x.Left), columns(x.Right)
	add("Keys", keyText(x.LeftKeys, x.RightKeys, x.NullSafe, l, r))
	if x.Residual != nil {
		add("Condition", exprText(x.Residual, joinCols(l, r...)))
	}
	if x.KeyTime >= 0 {
		add("Event time key", exprText(x.LeftKeys[x.KeyTime], l))
	}
	if x.LeftState != nil {
		add("Left state until", "watermark "+signedMicros(x.LeftState.OffsetMicros)+" passes "+l[x.LeftTime].Name)
	}
	if x.RightState != nil {
		add("Right state until", "watermark "+signedMicros(x.RightState.OffsetMicros)+" passes "+r[x.RightTime].Name)
	}
}

// keyText shows key pairs; nullSafe is nil where NULLs are never equal.
func keyText(left, right []plan.Expr, nullSafe []bool, l, r []plan.Column) string {
	var keys []string
	for i := range left {
		op := " = "
		if nullSafe != nil && nullSafe[i] {
			op = " IS NOT DISTINCT FROM "
		}
		keys = append(keys, exprText(left[i], l)+op+exprText(right[i], r))
	}
	return strings.Join(keys, " AND ")
}

func limitText(x *plan.TopN) string {
	var parts []string
	switch {
	case x.LimitExpr != nil:
		parts = append(parts, exprText(x.LimitExpr, nil))
	case x.Limit >= 0:
		parts = append(parts, strconv.FormatInt(x.Limit, 10))
	default:
		parts = append(parts, "none")
	}
	if x.OffsetExpr != nil {
		parts = append(parts, "offset "+exprText(x.OffsetExpr, nil))
	} else if x.Offset > 0 {
		parts = append(parts, "offset "+strconv.FormatInt(x.Offset, 10))
	}
	if x.WithTies {
		parts = append(parts, "with ties")
	}
	return strings.Join(parts, " ")
}

func projectText(x *plan.Project, in []plan.Column) string {
	var parts []string
	for i, e := range x.Exprs {
		t := exprText(e, in)
		if name := x.P.Columns[i].Name; name != t {
			t += " AS " + name
		}
		parts = append(parts, t)
	}
	return strings.Join(parts, ", ")
}

func outputText(n plan.Node) string {
	var parts []string
	for _, c := range columns(n) {
		parts = append(parts, c.Name+" "+c.Type.String())
	}
	return strings.Join(parts, ", ")
}

// propsText lists the derived properties.
func (e explainer) propsText(n plan.Node) string {
	p := n.Props()
	var parts []string
	if e.appendOnly(n) {
		parts = append(parts, "append-only")
	}
	if len(p.WatermarkCols) > 0 {
		parts = append(parts, "watermark on ("+colNames(p, p.WatermarkCols)+")")
	} else if p.HasWatermark {
		parts = append(parts, "watermark on no column")
	}
	for _, k := range p.Keys {
		if len(k) == 0 {
			parts = append(parts, "one row")
		} else {
			parts = append(parts, "key ("+colNames(p, k)+")")
		}
	}
	if p.State != nil {
		if p.State.Bounded {
			parts = append(parts, "state bounded by "+p.State.By)
		} else {
			parts = append(parts, "state unbounded: "+p.State.By)
		}
	}
	return strings.Join(parts, "; ")
}

func colNames(p *plan.Props, cols []int) string {
	var names []string
	for _, c := range cols {
		names = append(names, p.Columns[c].Name)
	}
	return strings.Join(names, ", ")
}
