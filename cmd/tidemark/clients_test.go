package main

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// missingDriver skips a test whose driver is not installed; with TIDEMARK_REQUIRE_DRIVERS it fails, as in CI.
func missingDriver(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("TIDEMARK_REQUIRE_DRIVERS") != "" {
		t.Fatal(what + " is not installed")
	}
	t.Skip(what + " is not installed")
}

// installed says whether a command succeeds.
func installed(name string, args ...string) bool {
	return exec.Command(name, args...).Run() == nil
}

// TestDrivers runs the scripts of testdata/clients, one for each driver, against a server. Their expected output was made with
// PostgreSQL 15: a script prints what the driver gives it, types, values, metadata and errors.
func TestDrivers(t *testing.T) {
	addr, _ := startServer(t, t.TempDir())
	execSQL(t, connect(t, addr), readFile(t, "testdata/psql/setup.sql"))
	u, err := url.Parse(addr)
	if err != nil {
		t.Fatal(err)
	}
	base := u.Host + "/tidemark"
	for _, d := range []struct {
		name    string
		command func(t *testing.T) []string
	}{
		{"psycopg", func(t *testing.T) []string {
			if !installed("python3", "-c", "import psycopg") {
				missingDriver(t, "psycopg")
			}
			return []string{"python3", "driver_psycopg.py", "postgresql://tidemark@" + base}
		}},
		{"sqlalchemy", func(t *testing.T) []string {
			if !installed("python3", "-c", "import psycopg, sqlalchemy") {
				missingDriver(t, "SQLAlchemy")
			}
			return []string{"python3", "driver_sqlalchemy.py", "postgresql+psycopg://tidemark@" + base}
		}},
		{"node", func(t *testing.T) []string {
			if !installed("node", "-e", "require('pg')") {
				missingDriver(t, "node-postgres (on NODE_PATH)")
			}
			return []string{"node", "driver_node.js", "postgres://tidemark@" + base}
		}},
		{"jdbc", func(t *testing.T) []string {
			jar := jdbcJar()
			if jar == "" || !installed("java", "-version") {
				missingDriver(t, "the JDBC driver (in Maven's repository or PGJDBC_JAR)")
			}
			return []string{"java", "-cp", jar, "Jdbc.java", "jdbc:postgresql://" + base}
		}},
	} {
		t.Run(d.name, func(t *testing.T) {
			args := d.command(t)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, args[0], args[1:]...)
			cmd.Dir = "testdata/clients"
			cmd.Env = append(os.Environ(), "TZ=UTC", "PYTHONDONTWRITEBYTECODE=1")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v", err)
			}
			got, want := strings.Split(strings.TrimSpace(string(out)), "\n"), strings.Split(strings.TrimSpace(readFile(t, "testdata/clients/"+d.name+".out")), "\n")
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("line %d\ngot:\n%s\nwant:\n%s", i+1, strings.Join(got[min(i, len(got)):], "\n"), strings.Join(want[min(i, len(want)):], "\n"))
				}
			}
		})
	}
}

// jdbcJar finds the driver: PGJDBC_JAR, or what Maven has fetched.
func jdbcJar() string {
	if jar := os.Getenv("PGJDBC_JAR"); jar != "" {
		return jar
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	jars, _ := filepath.Glob(filepath.Join(home, ".m2/repository/org/postgresql/postgresql/*/postgresql-*.jar")) // the pattern is sound
	if len(jars) == 0 {
		return ""
	}
	return jars[len(jars)-1]
}
