package tidemark_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark"
)

// TestProcessorAbsent opens a database in a program that lacks the processor of one of its views: that view and the one built on it are stopped, all else
// runs; in a program that has it they are what they would have been all along.
func TestProcessorAbsent(t *testing.T) {
	for name, between := range map[string]func(t *testing.T, db *tidemark.DB){
		"nothing happened": func(*testing.T, *tidemark.DB) {},
		"rows came in": func(t *testing.T, db *tidemark.DB) {
			run(t, db, "INSERT INTO s VALUES ('a', 4), ('c', 5)")
		},
		"a checkpoint was written": func(t *testing.T, db *tidemark.DB) {
			run(t, db, "INSERT INTO s VALUES ('a', 4), ('c', 5)")
			if err := db.Checkpoint(context.Background()); err != nil {
				t.Fatal(err)
			}
			run(t, db, "INSERT INTO s VALUES ('d', 6)")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			has := tidemark.WithProcessor("running", "k text, n bigint, sum bigint", func() tidemark.StatefulProcessor { return &running{} })
			db := openDB(t, dir, has)
			run(t, db, "CREATE STREAM s (k text, v bigint)")
			run(t, db, "CREATE MATERIALIZED VIEW p WITH (output_mode = 'update') AS SELECT * FROM transform_with_state(TABLE s PARTITION BY k, processor => 'running')")
			run(t, db, "CREATE MATERIALIZED VIEW above AS SELECT count(*) AS keys, sum(sum) AS total FROM p")
			run(t, db, "CREATE MATERIALIZED VIEW plain AS SELECT k, count(*) AS n, sum(v) AS sum FROM s GROUP BY k")
			run(t, db, "INSERT INTO s VALUES ('a', 1), ('b', 2), ('a', 3)")
			db.Close()

			db = openDB(t, dir)
			between(t, db)
			want := rowsOf(t, db, "SELECT * FROM plain ORDER BY k")
			for _, v := range []string{"p", "above"} {
				_, err := db.Query(context.Background(), "SELECT * FROM "+v)
				if err == nil || sqlState(err) != "55000" {
					t.Errorf("%s: %v", v, err)
				}
			}
			if got := rowsOf(t, db, "SELECT view_name, status, error LIKE '%processor \"running\" does not exist%' OR error LIKE '%\"p\", on which it is built, is not running%' FROM tidemark.views ORDER BY 1"); got != "[[above failed true] [p failed true] [plain running <nil>]]" {
				t.Error(got)
			}
			if err := db.Exec(context.Background(), "ALTER MATERIALIZED VIEW p RESUME"); err == nil || !strings.Contains(err.Error(), "does not exist") {
				t.Errorf("RESUME without the processor: %v", err)
			}
			if err := db.Exec(context.Background(), "ALTER MATERIALIZED VIEW above RESUME"); err == nil || sqlState(err) != "55000" {
				t.Errorf("RESUME above: %v", err)
			}
			if _, err := db.Query(context.Background(), "SELECT * FROM statestore('p', state_var_name => 'n')"); err == nil || sqlState(err) != "55000" {
				t.Errorf("statestore: %v", err)
			}
			db.Close()

			db = openDB(t, dir, has)
			compare(t, db, want)
			run(t, db, "INSERT INTO s VALUES ('a', 7), ('e', 8)")
			compare(t, db, rowsOf(t, db, "SELECT * FROM plain ORDER BY k"))
		})
	}
}

// compare compares the views over the processor with the rows that they must have.
func compare(t *testing.T, db *tidemark.DB, want string) {
	t.Helper()
	if got := rowsOf(t, db, "SELECT k, n, sum FROM p ORDER BY k"); got != want {
		t.Errorf("p has %s, want %s", got, want)
	}
	if a, b := rowsOf(t, db, "SELECT * FROM above"), rowsOf(t, db, "SELECT count(*), sum(sum) FROM plain"); a != b {
		t.Errorf("above has %s, want %s", a, b)
	}
}

// TestProcessorRegisteredLater: a view that was stopped for want of its processor resumes once that is registered, or is dropped.
func TestProcessorRegisteredLater(t *testing.T) {
	dir := t.TempDir()
	make := func() tidemark.StatefulProcessor { return &running{} }
	db := openDB(t, dir, tidemark.WithProcessor("running", "k text, n bigint, sum bigint", make))
	run(t, db, "CREATE STREAM s (k text, v bigint)")
	for _, v := range []string{"p", "q"} {
		run(t, db, "CREATE MATERIALIZED VIEW "+v+" WITH (output_mode = 'update') AS SELECT * FROM transform_with_state(TABLE s PARTITION BY k, processor => 'running')")
	}
	run(t, db, "CREATE MATERIALIZED VIEW above AS SELECT count(*) AS keys, sum(sum) AS total FROM p")
	run(t, db, "CREATE MATERIALIZED VIEW plain AS SELECT k, count(*) AS n, sum(v) AS sum FROM s GROUP BY k")
	run(t, db, "INSERT INTO s VALUES ('a', 1), ('b', 2), ('a', 3)")
	db.Close()

	db = openDB(t, dir)
	run(t, db, "INSERT INTO s VALUES ('a', 4)")
	run(t, db, "DROP MATERIALIZED VIEW q")
	if err := db.Checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := db.RegisterProcessor("running", "k text, n bigint, sum numeric", make); err != nil {
		t.Fatal(err)
	}
	db.Close()

	// one of that name whose result is another is not the view's
	db = openDB(t, dir, tidemark.WithProcessor("running", "k text, n bigint, sum numeric", make))
	if _, err := db.Query(context.Background(), "SELECT * FROM p"); err == nil || !strings.Contains(err.Error(), "has stopped") {
		t.Errorf("another result: %v", err)
	}
	db.Close()

	db = openDB(t, dir)
	if err := db.RegisterProcessor("running", "k text, n bigint, sum bigint", make); err != nil {
		t.Fatal(err)
	}
	run(t, db, "ALTER MATERIALIZED VIEW p RESUME")
	compare(t, db, "[[a 3 8] [b 1 2]]")
	run(t, db, "INSERT INTO s VALUES ('c', 5)")
	compare(t, db, "[[a 3 8] [b 1 2] [c 1 5]]")
	if got := rowsOf(t, db, "SELECT view_name FROM tidemark.views ORDER BY 1"); got != "[[above] [p] [plain]]" {
		t.Error(got)
	}
}

// running counts and sums a key's rows.
type running struct {
	tidemark.ProcessorBase
	h *tidemark.Handle
	s *tidemark.RowValueState
}

func (r *running) Init(h *tidemark.Handle) (err error) {
	r.h = h
	r.s, err = h.ValueState("n", "n bigint, sum bigint")
	return err
}

func (r *running) HandleInputRows(key tidemark.Row, rows tidemark.InputRows, _ tidemark.TimerValues) (tidemark.Output, error) {
	s, known, err := r.s.Get()
	if err != nil {
		return nil, err
	}
	n, sum := int64(0), int64(0)
	if known {
		n, sum = s.Int("n"), s.Int("sum")
	}
	for i := range rows.Len() {
		n, sum = n+1, sum+rows.At(i).Int("v")
	}
	if err := r.s.Update(n, sum); err != nil {
		return nil, err
	}
	row, err := r.h.Row(key.Text("k"), n, sum)
	return tidemark.Output{row}, err
}

// openDB opens a database for a test, which closes it.
func openDB(t *testing.T, dir string, opts ...tidemark.Option) *tidemark.DB {
	t.Helper()
	db, err := tidemark.Open(dir, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func run(t *testing.T, db *tidemark.DB, sql string) {
	t.Helper()
	if err := db.Exec(context.Background(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// rowsOf gives all rows of a query, as text.
func rowsOf(t *testing.T, db *tidemark.DB, sql string) string {
	t.Helper()
	rows, err := db.Query(context.Background(), sql)
	if err != nil {
		t.Errorf("%s: %v", sql, err)
		return ""
	}
	defer rows.Close()
	out := [][]any{}
	for rows.Next() {
		out = append(out, rows.Values())
	}
	if err := rows.Err(); err != nil {
		t.Errorf("%s: %v", sql, err)
	}
	return fmt.Sprint(out)
}

// sqlState gives the SQLSTATE of an error.
func sqlState(err error) string {
	var e interface{ SQLState() string }
	if errors.As(err, &e) {
		return e.SQLState()
	}
	return ""
}
