package parser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sqllogictest/pgtest"
)

// postgres starts a PostgreSQL 15 and connects. The test is skipped where there is none.
func postgres(t *testing.T) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(context.Background(), pgtest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// rows runs a statement and gives its rows as text.
func rows(c *pgconn.PgConn, sql string) (string, error) {
	res, err := c.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		return "", err
	}
	var sb strings.Builder
	for _, r := range res {
		for _, row := range r.Rows {
			for _, v := range row {
				sb.Write(v)
				sb.WriteByte('\t')
			}
			sb.WriteByte('\n')
		}
	}
	return sb.String(), nil
}

// TestPsqlResults runs psql's queries as they are and as we print them.
func TestPsqlResults(t *testing.T) {
	c := postgres(t)
	text, err := os.ReadFile("testdata/psql.sql")
	if err != nil {
		t.Fatal(err)
	}
	stmts, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, s := range stmts {
		q, err := ParseQuery(s.Text)
		if err != nil {
			t.Fatal(err)
		}
		want, err := rows(c, s.Text)
		if err != nil {
			continue // it asks for objects of the database it was recorded in
		}
		ran++
		if got, err := rows(c, FormatQuery(q)); err != nil || got != want {
			t.Errorf("%s\nprinted as %s\ngives %v\n%s\nwant\n%s", s.Text, FormatQuery(q), err, got, want)
		}
	}
	t.Logf("%d of %d queries compared", ran, len(stmts))
}

// TestErrorsAsPostgres compares code, message and position of the errors of
// bad statements.
func TestErrorsAsPostgres(t *testing.T) {
	c := postgres(t)
	text, err := os.ReadFile("testdata/errors.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		_, err := rows(c, l)
		var want *pgconn.PgError
		if !errors.As(err, &want) {
			t.Errorf("%s: PostgreSQL gives %v", l, err)
			continue
		}
		wanted := fmt.Sprintf("%s at %d: %s", want.Code, want.Position, want.Message)
		_, err = Parse(l)
		got := "no error"
		if err != nil {
			e := sqlerr.From(err)
			got = fmt.Sprintf("%s at %d: %s", e.Code, sqlerr.CharPosition(l, e.Position), e.Message)
		}
		if got != wanted {
			t.Errorf("%s\n got %s\nwant %s", l, got, wanted)
		}
	}
}
