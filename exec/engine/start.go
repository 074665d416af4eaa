package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// start makes the running form of a view that epoch b creates. It runs on the loop's goroutine.
func (e *Engine) start(b *epochBuild, rel *catalog.Relation) {
	if rel.Kind != catalog.MatView {
		return
	}
	v := e.openView(rel, b.cat)
	e.addView(v)
	e.startView(v, b.cat, b.n, b.replay)
}

// openView makes the running form of a view over its state in the store. One that cannot be built here, such as a view with a processor in Go that this
// program does not offer, is there without operators, and stopped.
func (e *Engine) openView(rel *catalog.Relation, cat *catalog.Catalog) *view {
	sp := e.store.Space(rel.OID)
	v, err := e.buildView(rel, cat, sp)
	if err == nil {
		v.declareOwn()
		v.misfit = sp.Verify()
	} else {
		v = emptyView(rel, sp)
		v.unbuilt = true
		v.setStatus(viewFailed, err)
		e.log.Error().Err(err).Str("view", rel.Name).Msg("view stopped: it cannot be built on this binary")
	}
	if rel.AppendOnly {
		v.out = e.newChunks(rel.OID, rel.Types())
	} else {
		out := e.newRowContents(rel.OID, rel.Types(), rel.PrimaryKey)
		if len(rel.PrimaryKey) > 0 {
			out.r.SetUnique()
		}
		out.r.SetTeam(v.team)
		v.out = out
	}
	v.cap = letterCapOf(rel)
	v.late = e.newChunks(rel.OID|lateOID, columnTypes(lateColumns))
	v.dead = e.newRowContents(rel.OID|deadOID, columnTypes(deadColumns), []int{0, 1, 2})
	return v
}

// buildView plans a view and makes its operators. A plan that gives other columns than the view has is another view's.
func (e *Engine) buildView(rel *catalog.Relation, cat *catalog.Catalog, sp *table.Space) (*view, error) {
	q, err := e.planView(rel, cat)
	if err != nil {
		return nil, err
	}
	if err := hasItsColumns(rel, q); err != nil {
		return nil, err
	}
	partitions, _ := e.partitionsOf(rel)
	return newView(rel, q, sp, viewEnv(rel), partitions, e.opts.SideBySide)
}

// hasItsColumns gives the error of a plan with other columns than its view has: those of a plain view beneath may have changed.
func hasItsColumns(rel *catalog.Relation, q *plan.Query) error {
	cols := q.Root.Props().Columns
	same := len(cols) == len(rel.Columns)
	for i := 0; same && i < len(cols); i++ {
		t := cols[i].Type
		same = t.Same(rel.Columns[i].Type) || t.Kind == types.Unknown && rel.Columns[i].Type.Kind == types.Text
	}
	if same {
		return nil
	}
	return sqlerr.New(sqlerr.NotInPrerequisiteState, "the query of materialized view \"%s\" now gives other columns than the view has", rel.Name)
}

// emptyView is a view without operators.
func emptyView(rel *catalog.Relation, sp *table.Space) *view {
	g := dataflow.NewGraph(dataflow.PolicyMin)
	v := &view{graph: g, space: sp, env: viewEnv(rel), wm: dataflow.NoWatermark}
	v.described.Store(rel)
	v.sink = &viewSink{v: v}
	v.progress = newProgressRing(v)
	return v
}

// stopBlocked stops the views that are built on one that has stopped.
func (e *Engine) stopBlocked() {
	for _, v := range e.views { // what is built upon before what is built on it
		if st, _ := v.getStatus(); st != viewRunning {
			continue
		}
		if err := v.blockedBy(e); err != nil {
			v.setStatus(viewFailed, err)
		}
	}
}

// addView makes the view one that the loop runs, behind the views that it reads (which are older).
func (e *Engine) addView(v *view) {
	e.views = append(e.views, v)
	// A view's OID is greater than those of what it reads.
	slices.SortFunc(e.views, func(a, b *view) int { return cmp.Compare(a.rel().OID, b.rel().OID) })
	e.viewByOID[v.rel().OID] = v
	e.viewMu.Lock()
	e.viewStat[v.rel().OID] = v
	e.viewMu.Unlock()
	e.keepChanges()
	e.shareBudget()
}

// keepChanges says for each view whether another reads its changes.
func (e *Engine) keepChanges() {
	e.viewsChanged()
	read := map[catalog.OID]bool{}
	for _, v := range e.views {
		for _, s := range v.graph.Sources() {
			read[s.Rel.OID] = true
		}
	}
	for _, v := range e.views {
		v.keep.Store(read[v.rel().OID])
	}
	e.orderViews()
}

// replaced follows a change of a relation's description.
func (e *Engine) replaced(rel *catalog.Relation) {
	if s := e.streams[rel.OID]; s != nil {
		s.rel = rel
		s.maxStep, _ = watermarkStep(rel) // ALTER has checked it
		if s.src != nil {
			s.src.alter(rel)
		}
	}
	if v := e.viewByOID[rel.OID]; v != nil {
		v.described.Store(rel)
		n, _ := e.partitionsOf(rel)
		v.repartition(n)
		e.viewsChanged()
		if rel.Options[pausedOption] != "" {
			v.setStatus(viewPaused, nil)
		}
	}
}

// drop ends the running form of a relation. What it has on disk goes with the next checkpoint.
func (e *Engine) drop(oid catalog.OID) {
	switch {
	case e.streams[oid] != nil:
		s := e.streams[oid]
		s.settle() // it may have rows in the epoch that drops it, at whose end nobody finds it any more
		delete(e.streams, oid)
		e.ordered = nil
		e.forget(s)
		g := dropped{log: oid}
		if s.held != nil {
			s.held.drop()
			g.contents = []contents{s.held}
		}
		e.gone = append(e.gone, g)
	case e.tables[oid] != nil:
		t := e.tables[oid]
		e.gone = append(e.gone, dropped{log: oid, table: t})
		t.drop()
		delete(e.tables, oid)
	case e.viewByOID[oid] != nil:
		e.dropView(e.viewByOID[oid])
	}
}

func (e *Engine) dropView(v *view) {
	v.mu.Lock()
	f := v.fill
	v.mu.Unlock()
	e.views = slices.DeleteFunc(e.views, func(x *view) bool { return x == v })
	delete(e.viewByOID, v.rel().OID)
	e.viewMu.Lock()
	delete(e.viewStat, v.rel().OID)
	e.viewMu.Unlock()
	e.keepChanges()
	d := dropped{view: v, contents: []contents{v.out, v.late, v.dead}}
	if f != nil {
		close(f.stop)
		// The goroutine that fills it may be at work on its tables; they are emptied once it has ended.
		d.filling = true
	} else if err := v.closeOperators(); err != nil {
		e.log.Warn().Err(err).Str("view", v.rel().Name).Msg("processor did not close")
	}
	e.gone = append(e.gone, d)
	e.published.broadcast()
}

// dropped is a relation that has ended and whose data is still on disk: until the next checkpoint a restart begins
// before the drop, and needs it.
type dropped struct {
	log      catalog.OID // of a stream or table: its chunks in the log
	table    *tableContents
	view     *view
	contents []contents // of the view
	filling  bool
}

// streamOrder lists the streams by OID. The list is shared.
func (e *Engine) streamOrder() []*stream {
	if e.ordered == nil {
		e.ordered = slices.SortedFunc(maps.Values(e.streams), func(a, b *stream) int { return int(a.rel.OID) - int(b.rel.OID) })
	}
	return e.ordered
}

// statusOf tells whether a view runs.
func (e *Engine) statusOf(oid catalog.OID) viewStatus {
	e.viewMu.Lock()
	v := e.viewStat[oid]
	e.viewMu.Unlock()
	if v == nil {
		return viewRunning
	}
	st, _ := v.getStatus()
	return st
}

// Empty says whether the database has no relations.
func (e *Engine) Empty() bool {
	for _, r := range e.current().cat.Relations() {
		if r.Kind != catalog.System {
			return false
		}
	}
	return true
}
