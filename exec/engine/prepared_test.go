package engine

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/sql/session"
)

// TestPreparedRowsAreTheirOwn executes one prepared INSERT of constants again and again while other INSERTs enter the same epochs: what an
// epoch combines must not end up in the plan.
func TestPreparedRowsAreTheirOwn(t *testing.T) {
	s, _ := openTest(t, Options{Dir: t.TempDir(), Log: zerolog.Nop()})
	expect(t, s, "CREATE STREAM s (k int)", "", "CREATE MATERIALIZED VIEW v AS SELECT k, count(*) AS n FROM s GROUP BY k", "")
	e := s.(*sess).e
	other := newTestSession(t, e)
	ctx := context.Background()
	sts, err := s.Parse("INSERT INTO s VALUES (1)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Prepare(ctx, sts[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		insertTogether(t, e, s, p, other)
	}
	expect(t, s, "SELECT string_agg(k || ':' || n, ' ' ORDER BY k) FROM v", "1:3 2:3", "SELECT count(*) FROM s", "6")
}

// insertTogether runs the prepared statement and then another INSERT so that one epoch takes both: the loop is held until both wait.
func insertTogether(t *testing.T, e *Engine, s session.Session, p session.Prepared, other session.Session) {
	t.Helper()
	errs := make(chan error, 2)
	waiting := func(n int) {
		for len(e.queue) < n {
			time.Sleep(time.Millisecond)
		}
	}
	err := e.do(func() {
		go func() {
			_, err := s.Execute(context.Background(), p, nil)
			errs <- err
		}()
		waiting(1)
		go func() {
			_, err := query(other, "INSERT INTO s VALUES (2)")
			errs <- err
		}()
		waiting(2)
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}
