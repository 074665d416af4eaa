package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// testDB is a catalog that statements build up.
type testDB struct {
	cat *catalog.Catalog
}

func newTestDB() *testDB { return &testDB{cat: catalog.New()} }

func (db *testDB) options() planner.Options {
	return planner.Options{Catalog: db.cat, SearchPath: []string{"public"}, Env: types.DefaultEnv(),
		ParseView: parser.ParseQuery, SessionUser: "alice", Database: "test"}
}

// updating has a query planned as a view in update mode.
var updating = &planner.ViewOptions{Policy: "min", ModeGiven: true, Mode: catalog.Update}

// plan plans a query, as a view unless view is nil; nil if it can't be, which is an error of the test.
func (db *testDB) plan(t *testing.T, sql string, view *planner.ViewOptions) *plan.Query {
	t.Helper()
	q, err := parser.ParseQuery(sql)
	if err != nil {
		t.Fatal(err)
	}
	o := db.options()
	o.View = view
	p, err := planner.PlanQuery(q, o)
	if err != nil {
		t.Errorf("%s: %v", sql, err)
		return nil
	}
	return p
}

// exec runs DDL; a query's plan is given as text.
func (db *testDB) exec(text string, verbose bool) (out string, err error) {
	stmts, err := parser.Parse(text)
	if err != nil {
		return "", err
	}
	var sb strings.Builder
	for _, p := range stmts {
		s, err := db.one(p.Stmt, verbose)
		if err != nil {
			return sb.String(), err
		}
		sb.WriteString(s)
	}
	return sb.String(), nil
}

func (db *testDB) one(s ast.Stmt, verbose bool) (string, error) {
	switch x := s.(type) {
	case *ast.CreateRelation:
		r, err := planner.BindRelation(x, db.options())
		if err != nil {
			return "", err
		}
		r.Schema = "public"
		db.cat = db.cat.With(r)
		return "", nil
	case *ast.CreateView:
		return db.createView(x, verbose)
	case *ast.QueryStmt:
		q, err := planner.PlanQuery(x.Query, db.options())
		if err != nil {
			return "", err
		}
		return planner.Explain(q, verbose) + "\n", nil
	}
	return dmlText(s, db.options())
}

func (db *testDB) createView(x *ast.CreateView, verbose bool) (string, error) {
	o := db.options()
	r := &catalog.Relation{Schema: "public", Name: x.Name.Name, Kind: catalog.View, SQL: x.Query.Text}
	if x.Materialized {
		r.Kind = catalog.MatView
		o.View = &planner.ViewOptions{Policy: "min"}
		for _, opt := range x.Options {
			if opt.Name == "output_mode" {
				o.View.ModeGiven = true
				o.View.Mode = map[string]catalog.OutputMode{"append": catalog.Append, "update": catalog.Update, "complete": catalog.Complete}[opt.Value]
			}
		}
	}
	q, err := planner.PlanQuery(x.Query, o)
	if err != nil {
		return "", err
	}
	for i, c := range q.Root.Props().Columns {
		name := c.Name
		if i < len(x.Columns) {
			name = x.Columns[i]
		}
		r.Columns = append(r.Columns, catalog.Column{Name: name, Type: c.Type})
	}
	p := q.Root.Props()
	r.AppendOnly, r.WatermarkCols, r.WatermarkLags, r.WatermarkDelays, r.OutputMode, r.DependsOn = p.AppendOnly, p.WatermarkCols, p.WatermarkLags, p.WatermarkDelays, q.Mode, q.DependsOn
	db.cat = db.cat.With(r)
	out := ""
	if x.Materialized {
		out = planner.Explain(q, verbose) + "\n"
	}
	for _, n := range q.Notices {
		out += "NOTICE: " + n + "\n"
	}
	return out, nil
}

func errorText(err error, text string) string {
	e := sqlerr.From(err)
	s := fmt.Sprintf("ERROR %s: %s\n", e.Code, e.Message)
	if e.Detail != "" {
		s += "DETAIL: " + e.Detail + "\n"
	}
	if e.Hint != "" {
		s += "HINT: " + e.Hint + "\n"
	}
	if e.Position > 0 && e.Position <= len(text)+1 {
		rest := text[e.Position-1:]
		if i := strings.IndexAny(rest, "\n"); i >= 0 {
			rest = rest[:i]
		}
		s += "AT: " + rest + "\n"
	}
	return s
}

func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		db := newTestDB()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "sql", "verbose":
				out, err := db.exec(d.Input, d.Cmd == "verbose")
				if err != nil {
					return out + errorText(err, d.Input)
				}
				return out
			case "bounds":
				return bounds(db, d.Input)
			case "json":
				q, err := parser.ParseQuery(d.Input)
				if err != nil {
					return errorText(err, d.Input)
				}
				p, err := planner.PlanQuery(q, db.options())
				if err != nil {
					return errorText(err, d.Input)
				}
				return planner.ExplainJSON(p) + "\n"
			case "legal":
				return legality(db, d.Input)
			case "lines":
				// One statement a line, each with its own outcome.
				var sb strings.Builder
				for _, line := range strings.Split(d.Input, "\n") {
					out, err := db.exec(line, false)
					if err != nil {
						out += errorText(err, line)
					}
					if out == "" {
						out = "ok\n"
					}
					fmt.Fprintf(&sb, "> %s\n%s", line, out)
				}
				return sb.String()
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// legality tries each query as a view in every output mode.
func legality(db *testDB, queries string) string {
	var sb strings.Builder
	for _, q := range strings.Split(queries, "\n") {
		fmt.Fprintf(&sb, "> %s\n", q)
		for _, mode := range []string{"append", "update", "complete"} {
			probe := &testDB{cat: db.cat}
			_, err := probe.exec("CREATE MATERIALIZED VIEW probe WITH (output_mode = '"+mode+"') AS "+q, false)
			if err == nil {
				fmt.Fprintf(&sb, "%s: yes\n", mode)
				continue
			}
			e := sqlerr.From(err)
			fmt.Fprintf(&sb, "%s: %s %s\n", mode, e.Code, e.Message)
			if e.Hint != "" {
				fmt.Fprintf(&sb, "  HINT: %s\n", e.Hint)
			}
		}
	}
	return sb.String()
}

// bounds shows the state bounds of a join of l and r on each condition.
func bounds(db *testDB, conditions string) string {
	var sb strings.Builder
	for _, c := range strings.Split(conditions, "\n") {
		q, err := parser.ParseQuery("SELECT lt, rt FROM (SELECT *, k AS k1 FROM l) l JOIN r ON l.k = r.k AND " + c)
		if err != nil {
			return errorText(err, c)
		}
		o := db.options()
		o.View = &planner.ViewOptions{}
		p, err := planner.PlanQuery(q, o)
		if err != nil {
			return sb.String() + c + "\n" + errorText(err, c)
		}
		fmt.Fprintf(&sb, "%s\n  left %s, right %s\n", c, boundText(p.Root, true), boundText(p.Root, false))
	}
	return sb.String()
}

func boundText(n plan.Node, left bool) string {
	j, ok := n.(*plan.Join)
	if !ok {
		return boundText(n.Inputs()[0], left)
	}
	s := j.RightState
	if left {
		s = j.LeftState
	}
	switch {
	case j.KeyTime >= 0:
		return "G by key"
	case s == nil:
		return "none"
	}
	return fmt.Sprintf("G %+d us", s.OffsetMicros)
}
