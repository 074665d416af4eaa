package sqllogictest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// viewSet holds the materialized views of mode Before: one for each query of
// the file, made as soon as the relations that it reads exist.
type viewSet struct {
	planned []*plannedView
	byRec   map[*record]*plannedView
	started bool // the first rows have come, or are about to
}

type plannedView struct {
	rec   *record
	name  string
	state viewState
}

type viewState uint8

const (
	viewPending viewState = iota // its relations are not all there
	viewReady
	viewDone // read and dropped, or not possible
)

// canBeView recognizes queries, as opposed to SHOW, EXPLAIN, INSERT ... RETURNING and so on.
var canBeView = regexp.MustCompile(`(?is)^\s*\(*\s*(select|with|values|table)\b`)

// plan names a view for each query that could be one.
func (v *viewSet) plan(records []*record, applies func(*record) bool) {
	v.byRec = map[*record]*plannedView{}
	for _, rec := range records {
		if rec.kind != queryRecord || rec.isError || !canBeView.MatchString(rec.sql) || !applies(rec) {
			continue
		}
		p := &plannedView{rec: rec, name: fmt.Sprintf("__slt_%d", len(v.planned)+1)}
		v.planned = append(v.planned, p)
		v.byRec[rec] = p
	}
}

// missing are the errors of a view whose relations do not exist yet, or not in the form that the query needs.
var missing = []string{"42P01", "42703", "42883", "42704", "3F000", "42804", "42846"}

// createAll makes every pending view that can be made.
func (v *viewSet) createAll(ctx context.Context, r *runner, c *connection) {
	if c.pg.TxStatus() != 'I' {
		return
	}
	v.started = true
	for _, p := range v.planned {
		if p.state != viewPending {
			continue
		}
		err := createView(ctx, r, c, p.name, p.rec)
		switch state := sqlState(err); {
		case err == nil:
			p.state = viewReady
			r.report.Views++
		case slices.Contains(missing, state):
		case state == "0A000", strings.HasPrefix(state, "22"):
			// Not maintained; or the query fails over empty relations, which PostgreSQL finds out at once.
			p.state = viewDone
			r.report.NoView++
		default:
			p.state = viewDone
			r.report.fail(Failure{Place: p.rec.place(), SQL: p.rec.sql, Message: "create view: " + errorText(err)})
		}
	}
}

// createView makes a view of a query. Names that occur twice, which a query may have and a view may not, get new ones.
func createView(ctx context.Context, r *runner, c *connection, name string, rec *record) error {
	sql := strings.TrimRight(rec.sql, "; \n\t")
	res := r.exec(ctx, c, fmt.Sprintf("CREATE MATERIALIZED VIEW %s AS %s", name, sql))
	if sqlState(res.err) != "42701" || rec.types == "" {
		return res.err
	}
	cols := make([]string, len(rec.types))
	for i := range cols {
		cols[i] = fmt.Sprintf("c%d", i+1)
	}
	return r.exec(ctx, c, fmt.Sprintf("CREATE MATERIALIZED VIEW %s (%s) AS %s", name, strings.Join(cols, ", "), sql)).err
}

func dropView(ctx context.Context, r *runner, c *connection, name string) error {
	return r.exec(ctx, c, "DROP MATERIALIZED VIEW "+name).err
}

// answer gives the rows of a query by way of a view; nil where the query itself is to be run. sorted says that a view has lost the order of its rows.
func (v *viewSet) answer(ctx context.Context, r *runner, c *connection, rec *record) (res *result, sorted bool) {
	if c.pg.TxStatus() != 'I' {
		return nil, false // inside a block, views show the state before it
	}
	switch r.opts.Mode {
	case Before:
		p := v.byRec[rec]
		if p == nil || p.state != viewReady {
			return nil, false
		}
		p.state = viewDone
		return readView(ctx, r, c, p.name), true
	case After:
		if !canBeView.MatchString(rec.sql) {
			return nil, false
		}
		err := createView(ctx, r, c, "__slt_after", rec)
		switch {
		case err == nil:
		case sqlState(err) == "0A000":
			r.report.NoView++
			return nil, false
		default:
			return &result{err: fmt.Errorf("create view: %w", err)}, true
		}
		r.report.Views++
		return readView(ctx, r, c, "__slt_after"), true
	}
	return nil, false
}

// readView reads a view and drops it. PostgreSQL's own views are filled by hand.
func readView(ctx context.Context, r *runner, c *connection, name string) *result {
	if r.engine == "postgres" {
		if res := r.exec(ctx, c, "REFRESH MATERIALIZED VIEW "+name); res.err != nil {
			return res
		}
	}
	res := r.exec(ctx, c, "SELECT * FROM "+name)
	if err := dropView(ctx, r, c, name); err != nil && res.err == nil {
		res.err = fmt.Errorf("drop view: %w", err)
	}
	return res
}

// retract drops the views that wait for their query, because they are in the way of a statement of the file. They are made again
// when their relations are there again.
func (v *viewSet) retract(ctx context.Context, r *runner) {
	c, err := r.connection(ctx, "")
	if err != nil || c.pg.TxStatus() != 'I' {
		return
	}
	for _, p := range v.planned {
		if p.state == viewReady && dropView(ctx, r, c, p.name) == nil {
			p.state = viewPending
		}
	}
}

// dropAll drops what is left at the end of a file.
func (v *viewSet) dropAll(ctx context.Context, r *runner) {
	v.retract(ctx, r)
}
