package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// TestRefillNotices: PAUSE, RESUME and REBUILD say which views are not what they were once they are filled anew, and only of those.
func TestRefillNotices(t *testing.T) {
	e, err := Open(Options{Dir: t.TempDir(), CheckpointInterval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var got []string
	s, err := e.NewSession(session.Params{User: "tidemark", Database: "tidemark", Notice: func(n *sqlerr.Error) { got = append(got, n.Message) }})
	if err != nil {
		t.Fatal(err)
	}
	run := func(sql string) string {
		t.Helper()
		out, err := query(s, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return out
	}
	for _, sql := range []string{
		`CREATE STREAM s (id int, k int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '10 seconds')`,
		`CREATE TABLE d (k int PRIMARY KEY, name text)`,
		`INSERT INTO d VALUES (1, 'a')`,
		`CREATE MATERIALIZED VIEW looked WITH (output_mode = 'append') AS SELECT s.id, s.ts, d.name FROM s LEFT JOIN d FOR SYSTEM_TIME AS OF PROCTIME() d ON d.k = s.k`,
		`CREATE MATERIALIZED VIEW above AS SELECT name, count(*) FROM looked GROUP BY name`,
		`CREATE MATERIALIZED VIEW within AS SELECT DISTINCT ON (k) WITHIN WATERMARK * FROM s`,
		`CREATE MATERIALIZED VIEW within_looked AS SELECT DISTINCT ON (name) WITHIN WATERMARK * FROM looked`,
		`CREATE MATERIALIZED VIEW joined AS SELECT s.id, d.name FROM s LEFT JOIN d ON d.k = s.k`,
		`INSERT INTO s VALUES (1, 1, '2024-01-01')`,
		`UPDATE d SET name = 'b'`,
		`INSERT INTO s VALUES (2, 1, '2024-01-01')`,
	} {
		run(sql)
	}
	const (
		looked = `what "looked" shows depends on when its rows came, because it looks rows up at processing time, and of "d" only the present contents are kept`
		within = `what "within_looked" shows depends on when its rows came, because it deduplicates within the watermark, and of "looked" only the present contents are kept`
	)
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{`ALTER MATERIALIZED VIEW joined PAUSE`, nil},
		{`ALTER MATERIALIZED VIEW joined RESUME`, nil},
		{`ALTER MATERIALIZED VIEW within REBUILD`, nil},
		{`ALTER MATERIALIZED VIEW looked RESUME`, nil}, // it runs, and stays as it is
		{`ALTER MATERIALIZED VIEW within_looked REBUILD`, []string{within}},
		{`ALTER MATERIALIZED VIEW looked PAUSE`, []string{looked, within}},
		{`ALTER MATERIALIZED VIEW looked RESUME`, []string{looked, within}},
	} {
		if c.sql == `ALTER MATERIALIZED VIEW looked PAUSE` {
			if out := run(`SELECT id, name FROM looked ORDER BY 1`); out != "1,a\n2,b" {
				t.Fatalf("looked up:\n%s", out)
			}
		}
		got = nil
		run(c.sql)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s said\n%q, not\n%q", c.sql, got, c.want)
		}
	}
	if out := run(`SELECT id, name FROM looked ORDER BY 1`); out != "1,b\n2,b" {
		t.Errorf("filled anew:\n%s", out)
	}
	if out := run(`SELECT * FROM above`); out != "b,2" {
		t.Errorf("above it:\n%s", out)
	}
}
