package planner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// TestNoInternalErrors plans every statement of the sqllogictest suites, queries also as views in every output
// mode, and wants no XX000: what the planner can't do, it says.
func TestNoInternalErrors(t *testing.T) {
	files, err := filepath.Glob("../sqllogictest/suites/*/*.slt")
	if err != nil {
		t.Fatal(err)
	}
	nested, err := filepath.Glob("../sqllogictest/suites/*/*/*.slt")
	if err != nil {
		t.Fatal(err)
	}
	planned := 0
	for _, file := range append(files, nested...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		db := newTestDB()
		for _, rec := range strings.Split(string(text), "\n\n") {
			if sql := recordSQL(rec); sql != "" {
				planned += planAll(t, db, file, sql)
			}
		}
	}
	if planned < 500 && len(files) > 0 {
		t.Errorf("only %d statements were planned: is the format of the suites another one?", planned)
	}
}

// recordSQL gives the SQL of a sqllogictest record.
func recordSQL(rec string) string {
	rec = strings.TrimSpace(rec)
	head, body, _ := strings.Cut(rec, "\n")
	for strings.HasPrefix(head, "#") {
		head, body, _ = strings.Cut(body, "\n")
	}
	if !strings.HasPrefix(head, "statement") && !strings.HasPrefix(head, "query") {
		return ""
	}
	sql, _, _ := strings.Cut(body, "\n----")
	return sql
}

func planAll(t *testing.T, db *testDB, file, sql string) int {
	stmts, err := parser.Parse(sql)
	if err != nil {
		return 0
	}
	check := func(err error) {
		if sqlerr.CodeOf(err) == sqlerr.InternalError && !strings.Contains(err.Error(), "unexpected statement") {
			t.Errorf("%s: %s\n%v: %v", file, sql, err, sqlerr.From(err).Err)
		}
	}
	for _, s := range stmts {
		_, err := db.one(s.Stmt, true)
		check(err)
		q, ok := s.Stmt.(*ast.QueryStmt)
		if !ok {
			continue
		}
		for _, mode := range []catalog.OutputMode{catalog.Append, catalog.Update, catalog.Complete} {
			o := db.options()
			o.View = &planner.ViewOptions{Mode: mode}
			_, err := planner.PlanQuery(q.Query, o)
			check(err)
		}
	}
	return len(stmts)
}
