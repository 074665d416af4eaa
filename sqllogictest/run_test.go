//go:build unix

package sqllogictest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/sqllogictest/pgtest"
)

const sample = `statement ok
CREATE TABLE t (a int, b text)

statement ok
SET timezone = 'Asia/Tokyo'

query I
SELECT count(*) FROM t
----
0

statement count 3
INSERT INTO t VALUES (1, 'x y'), (2, ''), (NULL, NULL)

query IT rowsort
SELECT a, b FROM t
----
NULL NULL
1 x y
2 (empty)

query II
SELECT a, a FROM t WHERE a IS NOT NULL ORDER BY a DESC
----
2 2
1 1

query T valuesort
SELECT v FROM (VALUES ('b', 'a'), ('d', 'c')) s (v, w), LATERAL (SELECT w) x
----
b
d

query T
SELECT timestamptz '2024-03-01 00:00:00+00'
----
2024-03-01 09:00:00+09

query T
SELECT E'a\nb'
----
a\nb

statement error
SELECT a / 0 FROM t
----
22012: division by zero

query error 42P01: relation "nosuch"
SELECT * FROM nosuch

onlyif tidemark
statement ok
this is not run

statement ok
BEGIN

statement ok
DELETE FROM t WHERE a = 1

query I
SELECT count(*) FROM t
----
2

connection other
query I
SELECT count(*) FROM t
----
3

statement ok
COMMIT

query II
SELECT count(*), max(a) FROM t
----
2 2

loop i 1 3

query I
SELECT $i * a FROM t WHERE a = 2
----
${i}0

endloop

statement ok
DROP TABLE t
`

func TestModes(t *testing.T) {
	url := pgtest.Start(t)
	// Twice in the loop a wrong answer is expected: 10 and 20 for 2 and 4.
	file := write(t, t.TempDir(), "sample.slt", sample)
	for _, mode := range []Mode{AsIs, Before, After, Restarting} {
		restarts := 0
		opts := Options{URL: url, Mode: mode, RestartEvery: 2, Restart: func() (string, error) { restarts++; return url, nil }}
		rep, err := Run(context.Background(), opts, file)
		if err != nil {
			t.Fatal(err)
		}
		f := rep.Files[0]
		if len(f.Failures) != 2 || f.Failures[0].Got != "2" || f.Failures[1].Want != "20" || f.Skipped != 1 {
			t.Errorf("%s: %s", mode, rep)
		}
		wantViews := map[Mode]int{Before: 11, After: 10}[mode]
		if f.Views != wantViews {
			t.Errorf("%s: %d views, want %d", mode, f.Views, wantViews)
		}
		if (mode == Restarting) != (restarts > 3) || f.Restarts != restarts {
			t.Errorf("%s: %d restarts", mode, restarts)
		}
	}
}

func TestFailures(t *testing.T) {
	url := pgtest.Start(t)
	file := write(t, t.TempDir(), "bad.slt", `statement ok
SELECT 1/0

statement error
SELECT 1

statement error 22003
SELECT 1/0

statement error
SELECT 1/0
----
22012: division by one

statement count 2
SELECT 1

query II
SELECT 1
----
1

query I nosort same
SELECT 1
----
1

query I nosort same
SELECT 2
----
2
`)
	rep, err := Run(context.Background(), Options{URL: url}, file, file+".missing")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"22012: division by zero", "an error was expected", "the error does not match", "another error was expected", "wrong number of rows",
		"wrong number of columns", "the rows differ from those of the same label"}
	var got []string
	for _, f := range rep.Files[0].Failures {
		got = append(got, f.Message)
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q", got)
	}
	if len(rep.Files[1].Failures) != 1 || !rep.Failed() {
		t.Errorf("missing file: %+v", rep.Files[1])
	}
	var junit bytes.Buffer
	if err := WriteJUnit(&junit, rep); err != nil || !strings.Contains(junit.String(), `tests="2" failures="2"`) {
		t.Errorf("junit: %v\n%s", err, junit.String())
	}
	if rep, err = Run(context.Background(), Options{URL: url, Timeout: 100 * time.Millisecond}, write(t, t.TempDir(), "slow.slt", "statement ok\nSELECT pg_sleep(5)\n\nquery I\nSELECT 1\n----\n1\n")); err != nil || len(rep.Files[0].Failures) != 1 {
		t.Errorf("time limit: %v %v", err, rep)
	}
}

func TestComplete(t *testing.T) {
	url := pgtest.Start(t)
	file := write(t, t.TempDir(), "fill.slt", `# kept
query IT
SELECT 1, 'a b'
UNION ALL SELECT 2, NULL ORDER BY 1

statement error
SELECT 1/0

query I
SELECT 3
----
wrong
answer

# also kept
hash-threshold 2

query I
SELECT generate_series(1, 3)
----

query I
SELECT 4`)
	want := `# kept
query IT
SELECT 1, 'a b'
UNION ALL SELECT 2, NULL ORDER BY 1
----
1 a b
2 NULL

statement error
SELECT 1/0
----
22012: division by zero

query I
SELECT 3
----
3

# also kept
hash-threshold 2

query I
SELECT generate_series(1, 3)
----
3 values hashing to c0710d6b4f15dfa88f600b0e6b624077

query I
SELECT 4
----
4`
	rep, err := Run(context.Background(), Options{URL: url, Complete: true}, file)
	if err != nil || rep.Failed() {
		t.Fatal(err, rep)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got:\n%s", got)
	}
	if rep, err = Run(context.Background(), Options{URL: url}, file); err != nil || rep.Failed() {
		t.Error(err, rep)
	}
}

var rewriteSuites = flag.Bool("rewrite", false, "rewrite the answers in suites with those of PostgreSQL")

// notPostgres are the suites in Tidemark's own SQL.
var notPostgres = []string{"spark", "streaming", "tidemark"}

// postgresSuites lists the files of plain PostgreSQL SQL.
func postgresSuites() ([]string, error) {
	files, err := findFiles([]string{"suites"})
	return slices.DeleteFunc(files, func(f string) bool {
		topic := strings.Split(filepath.ToSlash(f), "/")[1]
		return slices.Contains(notPostgres, topic)
	}), err
}

// TestSuites runs the suites on a real PostgreSQL, which filled in their answers: what they expect is not what someone thought.
func TestSuites(t *testing.T) {
	files, err := postgresSuites()
	if err != nil {
		t.Fatal(err)
	}
	server := pgtest.Start(t)
	var opts Options
	modes := []Mode{AsIs, Before, After}
	if *rewriteSuites {
		opts.Complete, modes = true, []Mode{AsIs}
	}
	for _, opts.Mode = range modes {
		for i, f := range files {
			opts.URL = newDatabase(t, server, fmt.Sprintf("%s%d", opts.Mode, i))
			rep, err := Run(context.Background(), opts, f)
			if err != nil {
				t.Fatal(err)
			}
			if rep.Failed() {
				t.Error(rep)
			}
		}
	}
}

// newDatabase makes an empty database beside that of url and gives its URL.
func newDatabase(t *testing.T, url, name string) string {
	t.Helper()
	ctx := context.Background()
	c, err := pgconn.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, "CREATE DATABASE "+name).ReadAll(); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(url, "/postgres?", "/"+name+"?", 1)
}

func TestCommand(t *testing.T) {
	file := write(t, t.TempDir(), "one.slt", "query I\nSELECT 1\n----\n1\n")
	if code := Main([]string{file}); code != 1 {
		t.Errorf("without a server: %d", code)
	}
	if code := Main([]string{file + ".none"}); code != 2 {
		t.Errorf("without a file: %d", code)
	}
	stopped := false
	StartServer = func() (string, func() (string, error), func(), error) {
		url := pgtest.Start(t)
		return url, func() (string, error) { return url, nil }, func() { stopped = true }, nil
	}
	defer func() { StartServer = nil }()
	if code := Main([]string{"--mode", "asis,restart", "--junit", file + ".xml", file}); code != 0 || !stopped {
		t.Errorf("code %d, stopped %v", code, stopped)
	}
}
