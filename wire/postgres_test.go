//go:build unix

package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sqllogictest/pgtest"
)

// TestCopyLikePostgres asks a real PostgreSQL for the answers of copyCases.
func TestCopyLikePostgres(t *testing.T) {
	url := pgtest.Start(t)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "CREATE TABLE t (n serial, a int, b text)"); err != nil {
		t.Fatal(err)
	}
	for _, c := range copyCases {
		if _, err := conn.Exec(ctx, "TRUNCATE t"); err != nil {
			t.Fatal(err)
		}
		_, err := conn.PgConn().CopyFrom(ctx, strings.NewReader(c.data), "COPY t (a, b) FROM STDIN "+copyOptions(c.format))
		got := ""
		if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
			got = fmt.Sprintf("%s %s; %s", pg.Code, pg.Message, pg.Where)
		} else if err != nil {
			t.Fatal(err)
		} else {
			rows, err := conn.Query(ctx, "SELECT coalesce(a::text, 'NULL') || '|' || coalesce(b, 'NULL') || chr(10) FROM t ORDER BY n")
			if err != nil {
				t.Fatal(err)
			}
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			got = strings.Join(lines, "")
		}
		if got != c.want {
			t.Errorf("%s: PostgreSQL says %q, the test %q", c.name, got, c.want)
		}
	}
}

func copyOptions(f session.CopyFormat) string {
	opts := []string{"FORMAT " + f.Format}
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	if f.Delimiter != 0 {
		opts = append(opts, "DELIMITER "+quote(string(f.Delimiter)))
	}
	if f.Format == "text" || f.Null != "" {
		opts = append(opts, "NULL "+quote(f.Null))
	}
	if f.Header {
		opts = append(opts, "HEADER")
	}
	if f.Quote != 0 {
		opts = append(opts, "QUOTE "+quote(string(f.Quote)))
	}
	if f.Escape != 0 {
		opts = append(opts, "ESCAPE "+quote(string(f.Escape)))
	}
	if f.ForceNull != nil {
		opts = append(opts, "FORCE_NULL (b)")
	}
	if f.ForceNotNull != nil {
		opts = append(opts, "FORCE_NOT_NULL (b)")
	}
	return "(" + strings.Join(opts, ", ") + ")"
}
