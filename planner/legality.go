package planner

import (
	"fmt"
	"strings"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// derive fills the properties of a finished plan, and for a maintained view collects the notices about state that nothing
// bounds and joins that never match.
func (b *binder) derive(q *plan.Query) {
	b.markSketches(q.Root)
	newDeriver(b).derive(q.Root)
	if b.view() {
		q.Notices = append(stateNotices(q.Root), rangeNotices(q.Root)...)
	}
}

// checkView refuses what a maintained view, or its output mode, can never answer. Properties must have been derived.
func (b *binder) checkView(root plan.Node) {
	checkVolatile(root)
	checkLookups(root)
	checkCustom(root)
	checkStateReads(root, false)
	switch b.o.View.Mode {
	case catalog.Complete:
		checkComplete(root)
	case catalog.Append:
		checkAppend(root)
	}
	checkWithin(root)
}

// checkVolatile refuses functions whose value is not a function of the recorded epochs.
func checkVolatile(root plan.Node) {
	eachNode(root, func(n plan.Node) {
		eachExpr(n, func(e plan.Expr) {
			walk(e, func(x plan.Expr) {
				switch c := x.(type) {
				case *plan.Call:
					checkVolatileCall(c)
				case *plan.Now:
					fail(sqlerr.Unsupported("now() in a materialized view is supported only in a condition of WHERE that compares a time with it").
						WithHint("Write it as time > now() - INTERVAL '1 hour', or store the time of arrival in a column with DEFAULT now()."))
				}
			})
		})
		switch x := n.(type) {
		case *plan.TableFunc:
			checkVolatileCall(&plan.Call{Fn: x.Fn, Pos: -1})
		}
	})
}

func checkVolatileCall(c *plan.Call) {
	if c.Fn.Volatility == volatile {
		fail(sqlerr.Unsupported("volatile function %s() is not allowed in a materialized view", c.Fn.Name).
			WithDetail("A view must be a function of the recorded input.").At(c.Pos))
	}
	if c.Fn.Session {
		fail(sqlerr.Unsupported("function %s() depends on the session and is not allowed in a materialized view", c.Fn.Name).At(c.Pos))
	}
}

// checkComplete wants an aggregation, as Spark does: complete mode shows the whole answer of one.
func checkComplete(root plan.Node) {
	found := false
	eachNode(root, func(n plan.Node) {
		if _, ok := n.(*plan.Aggregate); ok {
			found = true
		}
	})
	if !found {
		fail(sqlerr.Unsupported("complete output mode is not supported when there are no streaming aggregations in the query").
			WithHint("Use output_mode = 'update', which shows the current answer, or 'append'."))
	}
}

// checkWithin wants a watermark for WITHIN WATERMARK.
func checkWithin(root plan.Node) {
	eachNode(root, func(n plan.Node) {
		d, ok := n.(*plan.Dedup)
		if ok && d.Within && !d.Input.Props().AppendOnly {
			fail(sqlerr.Unsupported("DISTINCT ON ... WITHIN WATERMARK over rows that can change is not supported").
				WithHint("Put it beneath what changes its rows, or use DISTINCT ON ... ORDER BY."))
		}
		if ok && d.Within && d.TimeCol < 0 {
			fail(sqlerr.Unsupported("DISTINCT ON ... WITHIN WATERMARK is not supported without a watermark").
				WithHint("Declare the stream with WATERMARK FOR column AS column - INTERVAL '...', and keep that column up to the DISTINCT ON."))
		}
	})
}

// checkAppend refuses a plan of which some row can never be known to be final.
func checkAppend(root plan.Node) {
	if f, ok := root.(*plan.AppendFinal); ok { // it is there to make the rows beneath it final
		if timedPartitions(f.Input) >= 0 {
			checkAppend(f.Input.Inputs()[0])
		}
		return
	}
	for i, in := range root.Inputs() {
		if !lookedUp(root, i) {
			checkAppend(in)
		}
	}
	if err := appendError(root); err != nil {
		fail(err)
	}
}

// lookedUp says that input i of a node is one of which only the contents count, not the changes.
func lookedUp(n plan.Node, i int) bool {
	switch n.(type) {
	case *plan.Lookup, *plan.Custom:
		return i == 1
	}
	return false
}

const appendWhat = "append output mode is not supported for "

// appendError says why a node whose inputs are final can't be in append mode; nil if it can.
func appendError(n plan.Node) *sqlerr.Error {
	if n.Props().AppendOnly {
		return finalButNeverClosed(n)
	}
	switch x := n.(type) {
	case *plan.Scan:
		return scanError(x)
	case *plan.Aggregate:
		return aggregateError(x)
	case *plan.Join:
		return joinError(x)
	case *plan.AsofJoin:
		return asofError(x)
	case *plan.SetOp:
		return sqlerr.Unsupported(appendWhat+"%s: a row that was emitted could be taken away by a later row of the other side", setOpName(x)).
			WithHint("Use output_mode = 'update', or an anti join with a range condition on watermarked columns.")
	case *plan.TopN:
		switch {
		case len(x.PartitionBy) > 0 && x.Limit == 1:
			return sqlerr.Unsupported(appendWhat + "DISTINCT ON with ORDER BY, or the first row of each partition by row_number() or rank(): a later row could replace one that was emitted").
				WithHint("Use DISTINCT ON without ORDER BY, which keeps the first row to arrive, have a window or the event time among the keys, or use output_mode = 'update'.")
		case len(x.PartitionBy) > 0:
			return sqlerr.Unsupported(appendWhat + "the first rows of each partition by row_number() or rank(): a later row could replace one that was emitted").
				WithHint("Have a window or the event time in PARTITION BY, or use output_mode = 'update'.")
		}
		return sqlerr.Unsupported(appendWhat + "ORDER BY with LIMIT: a later row could replace one that was emitted").
			WithHint("Use output_mode = 'update'.")
	case *plan.OverWindow:
		return sqlerr.Unsupported(appendWhat + "window functions: a later row of a partition could change rows that were emitted").
			WithHint("Have a window or the event time in PARTITION BY, or use output_mode = 'update'.")
	case *plan.TemporalFilter:
		return sqlerr.Unsupported(appendWhat + "a condition on now() that rows cease to meet: they would have to be taken away again").
			WithHint("Use output_mode = 'update'.")
	case *plan.Dedup:
		return sqlerr.Unsupported(appendWhat + "DISTINCT ON over rows that can change").WithHint("Use output_mode = 'update'.")
	}
	return sqlerr.Unsupported(appendWhat + "this query: its rows can change").WithHint("Use output_mode = 'update'.")
}

// finalButNeverClosed refuses a semi join without a bound, as Spark does, although what it emits is final.
func finalButNeverClosed(n plan.Node) *sqlerr.Error {
	if j, ok := n.(*plan.Join); ok && j.Kind == plan.Semi && !outerFinal(j) {
		if _, tables := tablesOnly(j.Right); !tables {
			return joinError(j)
		}
	}
	return nil
}

func scanError(x *plan.Scan) *sqlerr.Error {
	name := x.Rel.Name
	if x.Rel.Kind == catalog.MatView {
		return sqlerr.Unsupported(appendWhat+"a query over materialized view %q, whose rows change and carry no watermark by which they become final", name).
			WithHint("Create %q with output_mode = 'append', or keep its window or event time column in its select list.", name)
	}
	return sqlerr.Unsupported(appendWhat+"a query over %s %q, whose rows can change", x.Rel.Kind, name).
		WithHint("Use output_mode = 'update', or make %q a stream.", name)
}

func aggregateError(x *plan.Aggregate) *sqlerr.Error {
	what := "an aggregation"
	if len(x.Aggs) == 0 {
		what = "DISTINCT over rows that can change"
	}
	if x.Session != nil {
		what = "a session window aggregation"
	}
	in := x.Input.Props()
	switch {
	case !in.HasWatermark:
		return sqlerr.Unsupported(appendWhat+"%s without a watermark: its groups can never be known to be final", what).
			WithHint("Declare the stream with WATERMARK FOR column AS column - INTERVAL '...' and group by a window of that column, or use output_mode = 'update'.")
	case x.Session != nil:
		return sqlerr.Unsupported(appendWhat+"%s whose time column carries no watermark: its sessions can never be known to be final", what).
			WithHint("Use the column of the stream's watermark as the time of session_window, or output_mode = 'update'.")
	case len(in.WatermarkCols) == 0:
		return sqlerr.Unsupported(appendWhat+"%s whose input lost its watermark: its groups can never be known to be final", what).
			WithHint("A computed expression, a join with a table, ORDER BY with LIMIT, DISTINCT ON with ORDER BY and EXCEPT lose it. Keep the event time as a plain column, or use output_mode = 'update'.")
	}
	names := make([]string, len(in.WatermarkCols))
	for i, c := range in.WatermarkCols {
		names[i] = columns(x.Input)[c].Name
	}
	return sqlerr.Unsupported(appendWhat+"%s that does not group by event time: its groups can never be known to be final", what).
		WithHint("Group by %s, or by a window of it, or use output_mode = 'update'.", strings.Join(names, " or "))
}

func joinError(x *plan.Join) *sqlerr.Error {
	for _, in := range x.Inputs() {
		if !in.Props().AppendOnly {
			return sqlerr.Unsupported(appendWhat + "a join with rows that can change").WithHint("Use output_mode = 'update'.")
		}
	}
	kind := map[plan.JoinKind]string{plan.Left: "left outer", plan.Right: "right outer", plan.Full: "full outer", plan.Semi: "left semi", plan.Anti: "left anti"}[x.Kind]
	if x.Single {
		return sqlerr.Unsupported(appendWhat + "a scalar subquery: a later row could change its value").WithHint("Use output_mode = 'update', or a join.")
	}
	return sqlerr.Unsupported(appendWhat+"a %s join without a watermark in the join keys, or a watermark on the nullable side and an appropriate range condition: rows without a match can never be known to have none", kind).
		WithHint("Declare watermarks on both streams and add a condition such as right.ts BETWEEN left.ts AND left.ts + INTERVAL '5 minutes', or use output_mode = 'update'.")
}

func setOpName(x *plan.SetOp) string {
	name := "INTERSECT"
	if x.Except {
		name = "EXCEPT"
	}
	if x.All {
		name += " ALL"
	}
	return name
}

// holdBack puts what makes changing rows final above scans of update-mode views that carry a watermark, in an append view.
func (b *binder) holdBack(n plan.Node) plan.Node {
	if b.o.View.Mode != catalog.Append {
		return n
	}
	for i, in := range n.Inputs() {
		if !lookedUp(n, i) {
			setInput(n, i, b.holdBack(in))
		}
	}
	s, ok := n.(*plan.Scan)
	if !ok || s.Rel.Kind != catalog.MatView || s.Rel.AppendOnly || len(s.Rel.WatermarkCols) == 0 {
		return n
	}
	for i, c := range s.Cols {
		if c == s.Rel.WatermarkCols[0] {
			f := &plan.AppendFinal{Input: s, TimeCol: i}
			f.P.Columns = s.P.Columns
			return f
		}
	}
	return n
}

// holdPartitions puts what makes changing rows final above TopN and window functions whose partitions close, in an append view. Properties
// must have been derived.
func holdPartitions(n plan.Node) plan.Node {
	for i, in := range n.Inputs() {
		if !lookedUp(n, i) {
			setInput(n, i, holdPartitions(in))
		}
	}
	c := timedPartitions(n)
	if c < 0 || n.Props().AppendOnly {
		return n
	}
	f := &plan.AppendFinal{Input: n, TimeCol: c}
	f.P.Columns = columns(n)
	return f
}

// timedPartitions gives the column by which the partitions of a TopN or of window functions close, -1 for any other node.
func timedPartitions(n plan.Node) int {
	switch x := n.(type) {
	case *plan.TopN:
		if x.Timed {
			return timeColumn(x.PartitionBy[x.TimeKey]).Index
		}
	case *plan.OverWindow:
		if x.Timed {
			return timeColumn(x.PartitionBy[x.TimeKey]).Index
		}
	}
	return -1
}

// stateNotices lists the operators whose state nothing bounds.
func stateNotices(root plan.Node) []string {
	var out []string
	eachNode(root, func(n plan.Node) {
		s := n.Props().State
		if s == nil || s.Bounded {
			return
		}
		out = append(out, fmt.Sprintf("state of %s is not bounded: %s", operatorName(n), s.By))
	})
	return out
}

// rangeNotices lists the joins whose conditions on event times no two rows can meet, which is hardly what was meant.
func rangeNotices(root plan.Node) []string {
	var out []string
	eachNode(root, func(n plan.Node) {
		if x, ok := n.(*plan.Join); ok && x.NeverMatches {
			out = append(out, fmt.Sprintf("%s can never match: the conditions on %s and %s exclude each other", operatorName(x),
				columns(x.Left)[x.LeftTime].Name, columns(x.Right)[x.RightTime].Name))
		}
	})
	return out
}

// operatorName names a stateful operator to a user.
func operatorName(n plan.Node) string {
	switch x := n.(type) {
	case *plan.Aggregate:
		cols := columns(x)[:len(columns(x))-len(x.Aggs)]
		var names []string
		for _, c := range cols {
			names = append(names, c.Name)
		}
		what := "aggregation"
		if len(x.Aggs) == 0 {
			what = "DISTINCT"
		}
		if len(names) == 0 {
			return what
		}
		return what + " by (" + strings.Join(names, ", ") + ")"
	case *plan.Join:
		return strings.ToLower(x.Kind.String()) + " join"
	case *plan.AsofJoin:
		return "asof join"
	case *plan.Lookup:
		return "lookup join"
	case *plan.Custom:
		return "transform_with_state"
	case *plan.SetOp:
		return setOpName(x)
	case *plan.TopN:
		return "ORDER BY/LIMIT"
	case *plan.Dedup:
		return "DISTINCT ON"
	case *plan.OverWindow:
		return "window functions"
	}
	return "operator"
}
