package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sqllogictest/pgtest"
)

// TestPsql has a first look at the example with psql itself, as README.md tells.
func TestPsql(t *testing.T) {
	psql, err := exec.LookPath("psql")
	if err != nil {
		pgtest.Missing(t, "psql is not installed")
	}
	url, _ := startServer(t, t.TempDir())
	dir := filepath.Join(root, "examples/machine")
	run := func(args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, psql, append([]string{"-X", "-v", "ON_ERROR_STOP=1", url}, args...)...)
		cmd.Dir = dir // the script names its file without a folder
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("psql %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if out := run("-f", "machine.sql"); !strings.Contains(out, "COPY 22695") {
		t.Errorf("machine.sql:\n%s", out)
	}
	run("-c", "CREATE TABLE t (id int PRIMARY KEY, name text NOT NULL DEFAULT 'x')")
	for _, x := range []struct{ command, want string }{
		{`\d`, `(?m)^ public \| machine_alarms +\| materialized view \| tidemark`},
		{`\dt`, `(?m)^ public \| t +\| table`},
		{`\dm`, `(?m)^ public \| machine_hourly +\| materialized view`},
		{`\d t`, `(?s)id +\| integer +\| +\| not null.*name +\| text +\| +\| not null \| 'x'.*"t_pkey" PRIMARY KEY`},
		{`\d machine_hourly`, `(?s)Materialized view "public.machine_hourly".*mean +\| double precision`},
		{`\d+ machine_alarms`, `(?s)View definition:.*FROM machine_hourly`},
		{`\dn`, `public`},
		{`\df lower`, `lower +\| text +\| text`},
		{`\l`, `tidemark`},
		{`SELECT count(*) FROM machine_alarms`, `(?m)^ +66$`},
		{`\copy (SELECT 1, 'a,b') TO STDOUT WITH (FORMAT csv)`, `(?m)^1,"a,b"$`},
	} {
		if out := run("-c", x.command); !regexp.MustCompile(x.want).MatchString(out) {
			t.Errorf("%s: no %s in\n%s", x.command, x.want, out)
		}
	}
}
