package engine

import (
	"context"
	"fmt"

	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// ViewCheck is what CheckViews found of one view.
type ViewCheck struct {
	View string
	Rows int64
	// Skipped says why the view was not compared with its query, "" if it was.
	Skipped string
	// Problem says how it differs, "" if it does not.
	Problem string
}

// CheckViews compares every view with its query run afresh (promise 4). Left out are views whose meaning is a sequence of epochs or
// a moment (docs/joins.md lists the exceptions), those that do not run, append views, which hold only what is final, and those that late rows or
// dead letters keep from being equal.
func (e *Engine) CheckViews(ctx context.Context) ([]ViewCheck, error) {
	var out []ViewCheck
	p := e.current()
	for _, v := range e.liveViews(p) {
		c, err := e.checkView(ctx, v, p)
		if err != nil {
			return nil, fmt.Errorf("view %s: %w", v.rel().Name, err)
		}
		out = append(out, c)
	}
	return out, nil
}

func (e *Engine) checkView(ctx context.Context, v *view, p *published) (ViewCheck, error) {
	c := ViewCheck{View: v.rel().Schema + "." + v.rel().Name}
	snap, ok := p.contents(v.rel().OID).(*viewSnapshot)
	if st, _ := v.getStatus(); st != viewRunning || !ok {
		c.Skipped = "it is " + st.String()
		return c, nil
	}
	c.Rows = snap.count()
	if c.Skipped = whyUnequal(v, snap); c.Skipped != "" {
		return c, nil
	}
	ast, err := parser.ParseQuery(v.rel().SQL)
	if err != nil {
		return c, err
	}
	set := viewSettings(v.rel())
	q, err := planner.PlanQuery(ast, planner.Options{Catalog: p.cat, SearchPath: set.searchPath(""), Env: set.typesEnv(), ParseView: parser.ParseQuery, NativeProcessor: e.opts.Processors.find, MakeFunction: custom.Functions{}})
	if err != nil {
		return c, err
	}
	net := newRowCounts(v.rel())
	err = snap.scan(ctx, func(b *batch.Batch) error { return net.addBatch(b) })
	if err != nil {
		return c, err
	}
	env := viewEnv(v.rel())
	env.Now = p.ts
	err = runQuery(ctx, q.Root, &txReader{e: e, snap: p}, env, func(b *batch.Batch) error { return net.addBatch(b.Negate()) })
	if err != nil {
		c.Problem = "its query fails: " + err.Error()
		return c, nil
	}
	missing, extra := 0, 0
	for _, w := range net.w {
		switch {
		case w > 0:
			extra++
		case w < 0:
			missing++
		}
	}
	if missing+extra > 0 {
		c.Problem = fmt.Sprintf("%d rows of its query are missing, %d rows are not of its query", missing, extra)
	}
	return c, nil
}

// whyUnequal says why a view need not equal its query, "" if it must.
func whyUnequal(v *view, snap *viewSnapshot) string {
	switch {
	case v.rel().OutputMode == catalog.Append:
		return "an append view holds only what is final"
	case snap.late.count() > 0:
		return "late rows are kept out of it"
	case snap.dead.count() > 0:
		return "rows that failed are kept out of it"
	}
	why := ""
	var walk func(plan.Node)
	walk = func(n plan.Node) {
		if w := exec.EpochDependent(n); w != "" {
			why = w
		}
		if s, ok := n.(*plan.Scan); ok && s.Rel.Kind == catalog.System {
			why = "it reads the relation " + s.Rel.Name + " of the system"
		}
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	walk(v.plan.Root)
	return why
}
