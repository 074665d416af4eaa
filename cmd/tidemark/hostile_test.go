package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// sqlState runs SQL and gives the SQLSTATE that it answers with, "" for success.
func sqlState(t testing.TB, c *pgconn.PgConn, sql string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err := c.Exec(ctx, sql).ReadAll()
	var pe *pgconn.PgError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &pe):
		return pe.Code
	}
	t.Fatalf("%v\nin %s", err, sql)
	return ""
}

// TestHostileQueries are statements that once broke the server, with the SQLSTATEs that they must answer with.
func TestHostileQueries(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	c := connect(t, url)
	execSQL(t, c, `CREATE TABLE t (a int PRIMARY KEY, b bigint); CREATE STREAM s (a int, hi bigint); CREATE STREAM e (ts timestamp); SET statement_timeout = '1s'`)
	for _, x := range []struct{ sql, state string }{
		{"INSERT INTO s VALUES (1) RETURNING (SELECT * FROM (VALUES (1)) q)", "0A000"},
		{"SELECT session_window(ts, '5 minutes') AS w, count(w) FROM e GROUP BY session_window(ts, '5 minutes')", "0A000"},
		{"SELECT session_window(ts, '5 minutes') AS w, count(*) FROM e GROUP BY session_window(ts, '5 minutes') HAVING max(w.start) > now()", "0A000"},
		// Rows that nobody can hold: they pass, and a time limit ends them.
		{"SELECT count(*) FROM generate_series(1, 1000000000000)", "57014"},
		{"SELECT g FROM generate_series(1, 1000000000000) g WHERE g < 0", "57014"},
		{"SELECT 1 FROM (VALUES (1)) v CROSS JOIN LATERAL (SELECT g FROM generate_series(1, 1000000000000) g ORDER BY 1 OFFSET 1000000000) q", "57014"},
	} {
		if got := sqlState(t, c.PgConn(), x.sql); got != x.state {
			t.Errorf("SQLSTATE %q, want %q of %s", got, x.state, x.sql)
		}
	}
	execSQL(t, c, `SET statement_timeout = 0; INSERT INTO t SELECT g, g FROM generate_series(1, 50000) g; SET statement_timeout = '500ms'`)
	for _, sql := range []string{"SELECT count(*) FROM t x, t y WHERE x.b + y.b = -1", "SELECT count(*) FROM t x LEFT JOIN t y ON x.b + y.b = -1",
		"UPDATE t SET b = 1 FROM t x, t y WHERE x.b + y.b = -1"} {
		if got := sqlState(t, c.PgConn(), sql); got != "57014" {
			t.Errorf("SQLSTATE %q of %s", got, sql)
		}
	}
	execSQL(t, c, `SET statement_timeout = 0; CREATE MATERIALIZED VIEW v AS SELECT s.a, g FROM s, generate_series(1, s.hi) g;
	INSERT INTO s VALUES (1, 2), (2, 1000000000000)`)
	if got := csvOf(t, c, "SELECT (SELECT count(*) FROM v), sqlstate FROM tidemark.dead_letters"); len(got) != 1 || got[0] != "2,54000" {
		t.Error(got)
	}
}
