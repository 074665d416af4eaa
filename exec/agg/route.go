package agg

import (
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// route puts rows to the targets that they belong to, which become g.active, and gives those that are not late.
func (g *group) route(ep *dataflow.Epoch, b *batch.Batch, rows []int32) ([]int32, error) {
	g.deactivate()
	nulls := g.keys.mayBeNull() != nil
	if g.event < 0 {
		if g.plain == nil {
			g.plain = g.newTarget(plainTarget, g.hash, g.nullHash)
		}
		if !nulls {
			g.activate(g.plain)
			g.plain.rows = rows
			return rows, nil
		}
		g.spread(g.plain, rows)
		return rows, nil
	}
	v := g.cols[g.event].v
	starts, ends := v.I64, v.I64
	if v.Type.Kind == types.Window {
		ends = v.J64
	}
	bound := g.lateBound(ep)
	if v.Valid == nil && !nulls && len(rows) > 0 && allEqual(ends, rows, b.N) {
		if at := g.micros(ends[rows[0]]); !bound.Late(at) {
			t := g.window(starts[rows[0]], ends[rows[0]], at)
			g.activate(t)
			t.rows = rows
			return rows, nil
		}
	}
	return g.routeEach(ep, b, rows, bound), nil
}

// allEqual says whether the values of all rows are one value; n is the number of rows of the batch.
func allEqual(vals []int64, rows []int32, n int) bool {
	x := vals[rows[0]]
	if len(rows) == n {
		for _, y := range vals[:n] {
			if x != y {
				return false
			}
		}
		return true
	}
	for _, r := range rows {
		if vals[r] != x {
			return false
		}
	}
	return true
}

// spread divides rows by whether their key is NULL.
func (g *group) spread(t *target, rows []int32) {
	key := g.keys.cols[0].v
	for _, r := range rows {
		g.addRow(t, r, key)
	}
}

// addRow adds a row to t, or to its companion where the key is NULL; key is nil where none can be.
func (g *group) addRow(t *target, r int32, key *batch.Vector) {
	if key != nil && key.IsNull(int(r)) {
		t = g.nullOf(t)
	}
	if !t.active {
		g.activate(t)
		t.rows = t.own[:0]
	}
	t.own = append(t.own, r)
	t.rows = t.own
}

// deactivate forgets the batch before.
func (g *group) deactivate() {
	for _, t := range g.active {
		t.active, t.rows = false, nil
	}
	g.active = g.active[:0]
}

func (g *group) activate(t *target) {
	t.active, t.own = true, t.own[:0]
	g.active = append(g.active, t)
}

// routeEach routes row by row, by event time. A batch mostly has rows of few windows, often in runs.
func (g *group) routeEach(ep *dataflow.Epoch, b *batch.Batch, rows []int32, bound dataflow.Watermark) []int32 {
	v := g.cols[g.event].v
	starts, ends := v.I64, v.I64
	if v.Type.Kind == types.Window {
		ends = v.J64
	}
	key := g.keys.mayBeNull()
	kept := g.kept[:0]
	late := g.late[:0]
	var t *target
	var end int64
	for _, r := range rows {
		if v.IsNull(int(r)) {
			g.addRow(g.withoutTime(), r, nil)
			kept = append(kept, r)
			continue
		}
		if t == nil || ends[r] != end {
			at := g.micros(ends[r])
			if bound.Late(at) {
				late = append(late, r)
				continue
			}
			end = ends[r]
			t = g.window(starts[r], end, at)
		}
		g.addRow(t, r, key)
		kept = append(kept, r)
	}
	g.kept, g.late = kept, late
	g.reportLate(ep, b, late)
	return kept
}

// reportLate counts late rows and hands them to the sink.
func (g *group) reportLate(ep *dataflow.Epoch, b *batch.Batch, rows []int32) {
	if len(rows) == 0 {
		return
	}
	v := g.cols[g.event].v
	times := g.time.of(b, rows)
	for _, r := range rows {
		rowenc.CountLate(&g.stats, b, int(r))
		at, start, end := dataflow.NoTime, dataflow.NoTime, dataflow.NoTime
		if times != nil && !times.IsNull(int(r)) {
			at = toMicros(times.I64[r], times.Type)
		}
		if v.Type.Kind == types.Window {
			start, end = g.micros(v.I64[r]), g.micros(v.J64[r])
		} else {
			at = g.micros(v.I64[r])
		}
		ep.Sink.Late(ep, b, int(r), at, start, end)
	}
}

// micros turns a value of the event key into microseconds.
func (g *group) micros(x int64) int64 {
	if g.unit == 1 || !types.IsFiniteTime(x) {
		return x
	}
	return x * g.unit
}

// value undoes micros.
func (g *group) value(us int64) int64 {
	if g.unit == 1 || !types.IsFiniteTime(us) {
		return us
	}
	return us / g.unit
}

func toMicros(x int64, t types.Type) int64 {
	if t.Kind == types.Date && types.IsFiniteTime(x) {
		return x * microsPerDay
	}
	return x
}

// newTarget makes a target over table h, and its companion for NULL keys over null.
func (g *group) newTarget(kind targetKind, h, null *table.Hash) *target {
	var t *target
	if n := len(g.spare); n > 0 {
		t = g.spare[n-1]
		g.spare = g.spare[:n-1]
	} else {
		t = &target{}
	}
	*t = t.emptied()
	t.h, t.fields, t.sets, t.kind = h, g.prog.fields, g.sets, kind
	t.intKey, t.textKey = g.keys.intKey() && kind != nullTarget, g.keys.textKey() && kind != nullTarget
	if kind != windowTarget {
		t.distinct = append(t.distinct, g.distincts.plain...)
	}
	g.targets = append(g.targets, t)
	t.prefix = appendSetPrefix(t.prefix, kind, 0)
	if null != nil {
		t.null = g.newTarget(kind, null, nil)
		t.null.ofNull()
	}
	return t
}

// window gives the target of an event key's value that closes at the given time.
func (g *group) window(start, end, at int64) *target {
	t := g.byEnd[at]
	if t == nil {
		us := g.micros(start)
		var null *table.Hash
		if g.nullWindows != nil {
			null = g.nullWindows.Get(at)
		}
		t = g.newTarget(windowTarget, g.windows.At(us, at), null)
		for _, x := range []*target{t, t.null} {
			if x != nil {
				x.start, x.end, x.close = start, end, at
				x.prefix = appendSetPrefix(x.prefix[:0], windowTarget, at)
				x.distinct = g.distincts.at(us, at, x.distinct[:0])
			}
		}
		g.byEnd[at] = t
	}
	return t
}

// nullOf gives the companion of t for the key NULL, made when it is missing.
func (g *group) nullOf(t *target) *target {
	if t.null == nil {
		n := g.newTarget(windowTarget, g.nullWindows.At(g.micros(t.start), t.close), nil)
		n.start, n.end, n.close = t.start, t.end, t.close
		n.ofNull()
		n.prefix = append(n.prefix[:0], t.prefix...)
		n.distinct = append(n.distinct[:0], t.distinct...)
		t.null = n
	}
	return t.null
}

// withoutTime gives the target of groups whose event time is NULL.
func (g *group) withoutTime() *target {
	if g.plain == nil {
		g.plain = g.newTarget(nullTarget, g.noTime, nil)
	}
	return g.plain
}

// lateTime gives the event time of late rows, for whoever looks at them later.
type lateTime struct {
	k   *kernel.Kernel
	env *kernel.Env
}

func newLateTime(n *plan.Aggregate, in []types.Type, env *kernel.Env) (*lateTime, error) {
	l := &lateTime{env: env}
	c, ok := n.Keys[n.EventKey].(*plan.Col)
	if !ok {
		return l, nil
	}
	x := traceTime(n.Input, c.Index)
	if x == nil {
		return l, nil
	}
	k, err := kernel.Compile(x, in)
	l.k = k
	return l, err
}

// of evaluates the time of rows; nil where it is not known.
func (l *lateTime) of(b *batch.Batch, rows []int32) *batch.Vector {
	if l.k == nil {
		return nil
	}
	v, _ := l.k.Eval(l.env, b, rows)
	return v
}

// traceTime gives the expression over n's columns from which window column col was made, nil if it is not at hand.
func traceTime(n plan.Node, col int) plan.Expr {
	switch x := n.(type) {
	case *plan.Filter:
		return traceTime(x.Input, col)
	case *plan.Window:
		if col == len(x.Input.Props().Columns) {
			return x.Time
		}
	case *plan.Project:
		c, ok := x.Exprs[col].(*plan.Col)
		if !ok {
			return nil
		}
		t := traceTime(x.Input, c.Index)
		if t == nil {
			return nil
		}
		lost := false
		t = plan.Rewrite(t, func(e plan.Expr) plan.Expr {
			old, ok := e.(*plan.Col)
			if !ok {
				return e
			}
			for i, p := range x.Exprs {
				if q, ok := p.(*plan.Col); ok && q.Index == old.Index {
					return &plan.Col{Index: i, Typ: old.Typ, Name: old.Name}
				}
			}
			lost = true
			return e
		})
		if !lost {
			return t
		}
	}
	return nil
}
