package equivalence

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/sqllogictest/pgtest"
)

// pgdb is a real PostgreSQL to compare with.
type pgdb struct{ c *pgconn.PgConn }

// startPostgres gives a PostgreSQL 15, or nil with a word in the log where there is none.
func startPostgres(t *testing.T) *pgdb {
	var url string
	t.Run("postgres", func(sub *testing.T) {
		// pgtest skips where PostgreSQL is not installed: only this part of the test is then left out. The server must
		// outlive the subtest, so it belongs to the parent.
		url = pgtest.Start(parentCleanup{sub, t})
	})
	if url == "" {
		t.Log("PostgreSQL 15 is not installed: views are compared only with the engine's own answers")
		return nil
	}
	c, err := pgconn.Connect(context.Background(), url)
	must(t, err)
	t.Cleanup(func() { c.Close(context.Background()) })
	return &pgdb{c}
}

// parentCleanup is a subtest whose clean-up is the parent's.
type parentCleanup struct {
	testing.TB
	parent *testing.T
}

func (p parentCleanup) Cleanup(f func()) { p.parent.Cleanup(f) }

// reset empties the database.
func (p *pgdb) reset() error {
	_, err := p.run("ROLLBACK; SET client_min_messages = 'error'; DROP SCHEMA public CASCADE; CREATE SCHEMA public")
	return err
}

// run runs statements and gives the rows of the last.
func (p *pgdb) run(sql string) (*rowset, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	results := p.c.Exec(ctx, sql)
	out := &rowset{}
	for results.NextResult() {
		*out = rowset{}
		r := results.ResultReader()
		for _, f := range r.FieldDescriptions() {
			out.cols = append(out.cols, colType{f.Name, f.DataTypeOID})
		}
		for r.NextRow() {
			row := make([]string, len(out.cols))
			for i, v := range r.Values() {
				if row[i] = string(v); v == nil {
					row[i] = nullText
				}
			}
			out.rows = append(out.rows, row)
		}
		if _, err := r.Close(); err != nil {
			results.Close()
			return nil, err
		}
	}
	return out, results.Close()
}

// pgState gives the SQLSTATE of an error of PostgreSQL.
func pgState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
