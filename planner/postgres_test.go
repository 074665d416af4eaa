package planner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/parser"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/planner"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/sqllogictest/pgtest"
)

// TestPostgres binds each statement of testdata/postgres/*.sql, one a line, and compares with a real PostgreSQL: the
// names and types of the result's columns and the types of parameters, or the SQLSTATE, message, detail, hint and position
// of the error (no position for lines that begin with ~). The file schema.sql comes first.
func TestPostgres(t *testing.T) {
	url := pgtest.Start(t)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	db := newTestDB()
	schema, err := os.ReadFile("testdata/postgres/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, string(schema)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.exec(string(schema), false); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/postgres/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if filepath.Base(file) == "schema.sql" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			for n, line := range strings.Split(string(text), "\n") {
				if line == "" || strings.HasPrefix(line, "--") {
					continue
				}
				line, anywhere := strings.CutPrefix(line, "~")
				want := describePostgres(ctx, conn, line, anywhere)
				got := describeOurs(db, line, anywhere)
				if got != want {
					t.Errorf("line %d: %s\n got %s\nwant %s", n+1, line, got, want)
				}
			}
		})
	}
}

func describePostgres(ctx context.Context, conn *pgx.Conn, sql string, anywhere bool) string {
	d, err := conn.PgConn().Prepare(ctx, "", sql, nil)
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		if anywhere {
			pe.Position = 0
		}
		return fmt.Sprintf("%s %s @%d %s %s", pe.Code, pe.Message, pe.Position, pe.Detail, pe.Hint)
	}
	if err != nil {
		return err.Error()
	}
	var cols []string
	for _, f := range d.Fields {
		cols = append(cols, f.Name+" "+typeName(f.DataTypeOID, f.TypeModifier))
	}
	var params []string
	for _, p := range d.ParamOIDs {
		params = append(params, typeName(p, -1))
	}
	return shape(cols, params)
}

func typeName(oid uint32, mod int32) string {
	t, ok := types.FromOID(oid)
	if !ok {
		return fmt.Sprint("oid ", oid)
	}
	s := t.String()
	if mod >= 0 {
		s += fmt.Sprintf(" mod %d", mod)
	}
	return s
}

func shape(cols, params []string) string {
	s := "(" + strings.Join(cols, ", ") + ")"
	if len(params) > 0 {
		s += " params (" + strings.Join(params, ", ") + ")"
	}
	return s
}

func describeOurs(db *testDB, sql string, anywhere bool) string {
	cols, params, err := bindOurs(db, sql)
	if err != nil {
		e := *sqlerr.From(err)
		if anywhere {
			e.Position = 0
		}
		return fmt.Sprintf("%s %s @%d %s %s", e.Code, e.Message, sqlerr.CharPosition(sql, e.Position), e.Detail, e.Hint)
	}
	var names, ps []string
	for _, c := range cols {
		names = append(names, c.Name+" "+typeName(c.Type.OID(), c.Type.PGMod()))
	}
	for _, p := range params {
		ps = append(ps, typeName(p.OID(), -1))
	}
	return shape(names, ps)
}

func bindOurs(db *testDB, sql string) ([]plan.Column, []types.Type, error) {
	stmts, err := parser.Parse(sql)
	if err != nil {
		return nil, nil, err
	}
	o := db.options()
	switch x := stmts[0].Stmt.(type) {
	case *ast.QueryStmt:
		q, err := planner.PlanQuery(x.Query, o)
		if err != nil {
			return nil, nil, err
		}
		return q.Root.Props().Columns, q.Params, nil
	case *ast.Insert:
		p, err := planner.PlanInsert(x, o)
		if err != nil {
			return nil, nil, err
		}
		if p.Returning != nil {
			return p.Returning.Columns, p.Params, nil
		}
		return nil, p.Params, nil
	case *ast.Update:
		p, err := planner.PlanUpdate(x, o)
		if err != nil {
			return nil, nil, err
		}
		return p.ReturningCols, p.Query.Params, nil
	case *ast.Delete:
		p, err := planner.PlanDelete(x, o)
		if err != nil {
			return nil, nil, err
		}
		return p.ReturningCols, p.Query.Params, nil
	}
	return nil, nil, fmt.Errorf("unexpected statement %T", stmts[0].Stmt)
}
