package main

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sqllogictest/pgtest"
)

// psqlScript runs a script with psql and gives what it shows; times of the clock are replaced.
func psqlScript(t *testing.T, url, file string) string {
	t.Helper()
	psql, err := exec.LookPath("psql")
	if err != nil {
		pgtest.Missing(t, "psql is not installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, psql, "-X", url, "-f", file)
	cmd.Dir = "testdata/psql"
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PGTZ=UTC", "PAGER=cat")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("psql %s: %v\n%s", file, err, out)
	}
	return clock.ReplaceAllString(string(out), "<now>")
}

var clock = regexp.MustCompile(`20[2-9]\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\+00`)

// asPostgres is a server's URL with the user and the database that pgtest has, whose names are in psql's answers.
func asPostgres(t *testing.T, addr string) string {
	t.Helper()
	u, err := url.Parse(addr)
	if err != nil {
		t.Fatal(err)
	}
	u.User, u.Path = url.User("postgres"), "/postgres"
	return u.String()
}

// TestPsqlAsPostgres compares what psql shows, of tables with keys, constraints and defaults, of views, of its own settings, of errors with their
// position, of COPY, with a real PostgreSQL.
func TestPsqlAsPostgres(t *testing.T) {
	pg := pgtest.Start(t)
	own, _ := startServer(t, t.TempDir())
	own = asPostgres(t, own)
	for _, file := range []string{"setup.sql", "describe.sql", "session.sql"} {
		want, got := strings.Split(psqlScript(t, pg, file), "\n"), strings.Split(psqlScript(t, own, file), "\n")
		if file == "setup.sql" {
			continue // its command tags differ: a materialized view is not filled by a query here
		}
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || want[i] != got[i] {
				from := max(i-8, 0)
				t.Errorf("%s: line %d differs\nPostgreSQL:\n%s\nTidemark:\n%s", file, i+1,
					strings.Join(want[from:min(i+8, len(want))], "\n"), strings.Join(got[from:min(i+8, len(got))], "\n"))
				break
			}
		}
	}
	// The queries by which psql completes what is typed.
	if out := psqlScript(t, own, "completion.sql"); strings.Contains(out, "ERROR") {
		t.Errorf("completion.sql:\n%s", out)
	}
}

// TestPsqlStreams is what psql shows of what PostgreSQL lacks.
func TestPsqlStreams(t *testing.T) {
	own, _ := startServer(t, t.TempDir())
	got := psqlScript(t, own, "streams.sql")
	want := readFile(t, "testdata/psql/streams.out")
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
