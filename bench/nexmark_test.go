package bench

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/exec/connector/nexmark"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/sqllogictest/pgtest"
)

var rewrite = flag.Bool("rewrite", false, "rewrite nexmark/answers.txt with what PostgreSQL answers, for all numbers of events")

// nexmarkColumns are the columns of the streams.
var nexmarkColumns = map[string]string{
	"person":  "id bigint, name varchar, email_address varchar, credit_card varchar, city varchar, state varchar, date_time timestamp, extra varchar",
	"auction": "id bigint, item_name varchar, description varchar, initial_bid bigint, reserve bigint, date_time timestamp, expires timestamp, seller bigint, category bigint, extra varchar",
	"bid":     "auction bigint, bidder bigint, price bigint, channel varchar, url varchar, date_time timestamp, extra varchar",
}

// TestNexmark runs each query over 20,000 events and compares with its known answer.
func TestNexmark(t *testing.T) {
	var out bytes.Buffer
	if err := nexmarkRun(context.Background(), Options{Smoke: true, Names: []string{"nexmark"}, Out: &out}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, q := range nexmarkQueries {
		if !strings.Contains(out.String(), "nexmark-"+q.name+" ") {
			t.Errorf("%s was not run", q.name)
		}
	}
}

// TestNexmarkPostgres runs each query in PostgreSQL over the same events: the known answers are its.
func TestNexmarkPostgres(t *testing.T) {
	sizes := []int{nexmarkSmoke}
	if *rewrite {
		sizes = append(sizes, nexmarkEvents)
	}
	url := pgtest.Start(t)
	var all strings.Builder
	for _, n := range sizes {
		pg, err := pgconn.Connect(context.Background(), url)
		if err != nil {
			t.Fatal(err)
		}
		got := postgresAnswers(t, pg, n)
		pg.Close(context.Background())
		known, err := nexmarkAnswers(n)
		if err != nil && !*rewrite {
			t.Fatal(err)
		}
		for _, q := range nexmarkQueries {
			if known[q.name] != got[q.name] && !*rewrite {
				t.Errorf("%s: answers.txt has %v, PostgreSQL answers %v", q.name, known[q.name], got[q.name])
			}
			fmt.Fprintf(&all, "%s %d %d %016x\n", q.name, n, got[q.name].rows, got[q.name].sum)
		}
	}
	if *rewrite {
		if err := os.WriteFile("nexmark/answers.txt", []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// postgresAnswers gives what PostgreSQL answers.
func postgresAnswers(t *testing.T, pg *pgconn.PgConn, events int) map[string]answer {
	t.Helper()
	ctx := context.Background()
	exec := func(sql string) {
		t.Helper()
		if _, err := pg.Exec(ctx, sql).ReadAll(); err != nil {
			t.Fatalf("%v\n%s", err, sql)
		}
	}
	exec("DROP SCHEMA public CASCADE; CREATE SCHEMA public; SET work_mem = '256MB'; SET jit = off")
	for name, cols := range nexmarkColumns {
		exec("CREATE UNLOGGED TABLE " + name + " (" + cols + ")")
		if _, err := pg.CopyFrom(ctx, copyText(t, name, events), "COPY "+name+" FROM STDIN"); err != nil {
			t.Fatal(err)
		}
		exec("ANALYZE " + name)
	}
	for _, f := range []string{"side_input.sql", "count_char.sql"} {
		text, err := nexmarkText(f, events)
		if err != nil {
			t.Fatal(err)
		}
		exec(text)
	}
	out := map[string]answer{}
	for _, q := range nexmarkQueries {
		own, err := os.ReadFile(filepath.Join("testdata", "nexmark", q.name+".sql"))
		text := string(own)
		if err != nil {
			if text, err = nexmarkText(q.name+".sql", events); err != nil {
				t.Fatal(err)
			}
		}
		exec(text)
		out[q.name] = postgresAnswer(t, pg, "SELECT "+q.check+" FROM "+q.name)
		exec("DROP MATERIALIZED VIEW " + q.name)
	}
	return out
}

func postgresAnswer(t *testing.T, pg *pgconn.PgConn, sql string) (a answer) {
	t.Helper()
	r := pg.ExecParams(context.Background(), sql, nil, nil, nil, nil)
	var row []byte
	for r.NextRow() {
		row = row[:0]
		for _, v := range r.Values() {
			if v == nil {
				v = []byte(`\N`)
			}
			row = append(append(row, v...), '\n')
		}
		a.add(row)
	}
	if _, err := r.Close(); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
	return a
}

// copyText gives the events of a stream as COPY reads them.
func copyText(t *testing.T, stream string, events int) io.Reader {
	t.Helper()
	c := connector.Config{Options: map[string]string{"nexmark.table.type": stream, "nexmark.event.num": fmt.Sprint(events), "nexmark.min.event.gap.in.ns": "0"}}
	for col := range strings.SplitSeq(nexmarkColumns[stream], ", ") {
		name, typ, _ := strings.Cut(col, " ")
		kind := map[string]types.Kind{"bigint": types.Int8, "varchar": types.Varchar, "timestamp": types.Timestamp}[typ]
		c.Columns = append(c.Columns, catalog.Column{Name: name, Type: types.Of(kind)})
	}
	src, err := nexmark.Connector{}.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	go func() {
		for {
			ch, err := src.Read(context.Background(), 1<<14)
			if err != nil {
				w.CloseWithError(err) // io.EOF at the end
				return
			}
			if ch != nil {
				_, _ = w.Write(copyRows(ch.Rows))
			}
		}
	}()
	return r
}

// copyRows writes rows without NULLs and backslashes.
func copyRows(b *batch.Batch) []byte {
	var out []byte
	env := types.DefaultEnv()
	for i := range b.N {
		for c, v := range b.Cols {
			if c > 0 {
				out = append(out, '\t')
			}
			out = types.Append(out, v.Type, v.Datum(i), env)
		}
		out = append(out, '\n')
	}
	return out
}

// TestNexmarkStreams: the columns here are those of the statements.
func TestNexmarkStreams(t *testing.T) {
	words := func(s string) []string { return strings.Fields(strings.ReplaceAll(s, ",", " ")) }
	for name, cols := range nexmarkColumns {
		text, err := nexmarkText(name+".sql", 1)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ = strings.Cut(text, "(")
		text, _, _ = strings.Cut(text, "WATERMARK")
		if !slices.Equal(words(text), words(cols)) {
			t.Errorf("%s.sql has the columns %s", name, text)
		}
	}
}
