package main

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/lib/pq"
)

// TestLibPQ uses database/sql with lib/pq: prepared statements, transactions, COPY, arrays, errors, several results.
func TestLibPQ(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	db, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // its connections end with the server
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(query string, args ...any) {
		t.Helper()
		_, err := db.Exec(query, args...)
		must(err)
	}
	at := time.Date(2024, 1, 2, 3, 4, 5, 6000, time.UTC)
	run("CREATE TABLE q (id int PRIMARY KEY, s text, at timestamptz, list text[], b bytea, f float8)")
	run("INSERT INTO q VALUES ($1, $2, $3, $4, $5, $6)", 1, "é", at, pq.Array([]string{"a", `b"c`}), []byte{0, 1}, 1.5)
	var s string
	var got time.Time
	var list []string
	var b []byte
	var f float64
	must(db.QueryRow("SELECT s, at, list, b, f FROM q WHERE id = $1", 1).Scan(&s, &got, pq.Array(&list), &b, &f))
	if s != "é" || !got.Equal(at) || len(list) != 2 || list[1] != `b"c` || len(b) != 2 || f != 1.5 {
		t.Errorf("got %q %v %q %v %v", s, got, list, b, f)
	}

	tx, err := db.Begin()
	must(err)
	in, err := tx.Prepare(pq.CopyIn("q", "id", "s"))
	must(err)
	for i := range 100 {
		_, err := in.Exec(10+i, "copied")
		must(err)
	}
	_, err = in.Exec()
	must(err)
	must(in.Close())
	must(tx.Commit())
	var n int
	must(db.QueryRow("SELECT count(*) FROM q WHERE s = 'copied'").Scan(&n))
	if n != 100 {
		t.Errorf("%d rows were copied", n)
	}

	_, err = db.Exec("INSERT INTO q (id) VALUES (1)")
	var pe *pq.Error
	if !errors.As(err, &pe) || pe.Code.Name() != "unique_violation" || pe.Constraint != "q_pkey" {
		t.Errorf("got %v", err)
	}
	rows, err := db.Query("SELECT 1; SELECT 2")
	must(err)
	for want := 1; ; want++ {
		for rows.Next() {
			must(rows.Scan(&n))
			if n != want {
				t.Errorf("result %d is %d", want, n)
			}
		}
		if !rows.NextResultSet() {
			break
		}
	}
	must(rows.Err())
	must(rows.Close())
}
