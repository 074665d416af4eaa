package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/sqllogictest/pgtest"
)

// copyAnswer gives what COPY answers without rows: its tag, and what it gives where it gives something, or its error with the position.
func copyAnswer(t *testing.T, c *pgconn.PgConn, stmt string) string {
	t.Helper()
	var tag pgconn.CommandTag
	var err error
	var out strings.Builder
	if strings.Contains(stmt, " TO STD") {
		tag, err = c.CopyTo(context.Background(), &out, "COPY "+stmt)
	} else {
		data := ""
		if strings.Contains(strings.ToLower(stmt), "binary") {
			data = copyBinary()
		}
		tag, err = c.CopyFrom(context.Background(), strings.NewReader(data), "COPY "+stmt)
	}
	var e *pgconn.PgError
	switch {
	case errors.As(err, &e):
		return fmt.Sprintf("%s %s @%d", e.Code, e.Message, e.Position)
	case err != nil:
		t.Fatalf("%s: %v", stmt, err)
	case out.Len() > 0:
		return fmt.Sprintf("%s %q", tag, out.String())
	}
	return tag.String()
}

func testCopyOptions(t *testing.T, url string) {
	text, err := os.ReadFile("testdata/copyoptions.txt")
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, url)
	execSQL(t, c, "CREATE TABLE t (a int, b text)")
	for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		stmt, want, _ := strings.Cut(l, "\t")
		if got := copyAnswer(t, c.PgConn(), stmt); got != want {
			t.Errorf("COPY %s\ngives %s\nwant  %s", stmt, got, want)
		}
	}
}

// TestCopyOptions: options of COPY are taken and refused as PostgreSQL 15 does.
func TestCopyOptions(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	testCopyOptions(t, url)
}

// TestCopyOptionsOfPostgres asks a real PostgreSQL for the answers in testdata/copyoptions.txt.
func TestCopyOptionsOfPostgres(t *testing.T) { testCopyOptions(t, pgtest.Start(t)) }
