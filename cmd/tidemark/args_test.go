package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/bench"
)

// program runs this binary as tidemark with args and gives what it wrote and its exit code.
func program(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProgram+"="+strings.Join(args, "\x1f"))
	cmd.Dir = t.TempDir()
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
		t.Errorf("%q left %v, %v", args, left, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestArguments: no command ignores an argument: it tells on stderr which it does not take, does nothing, and exits with 2.
func TestArguments(t *testing.T) {
	dir := t.TempDir()
	for _, x := range []struct {
		args, says string
		code       int
	}{
		{"", "usage: tidemark COMMAND", 2},
		{"nope", `unknown command "nope"`, 2},
		{"serve extra --listen 127.0.0.1:0", `unexpected argument "extra"`, 2},
		{"serve --listen 127.0.0.1:0 extra", `unexpected argument "extra"`, 2},
		{"serve -- --listen", `unexpected argument "--listen"`, 2},
		{"serve --nope", "-nope", 2},
		{"serve --memory abc", `--memory: invalid size "abc"`, 2},
		{"serve --log-level loud", `--log-level: unknown log level "loud"`, 2},
		{"serve --help", "-checkpoint-interval", 0},
		{"run", "no script to run", 2},
		{"run nope.sql --nope", "-nope", 2},
		{"run --help", "-url", 0},
		{"run nope.sql", "nope.sql", 1},
		{"bench nope", `no workload "nope"`, 2},
		{"bench filter nope", `no workload "nope"`, 2},
		{"bench nope --epochs 5", "  tumbling-100k-strings\n", 2},
		{"bench filter --epochs many", `"many"`, 2},
		{"bench scaling-nope", "  scaling-tumbling-1M\n", 2},
		{"bench --help", "-epochs", 0},
		{"check", "no data directory", 2},
		{"check " + dir + " more", `unexpected argument "more"`, 2},
		{"check --nope " + dir, "-nope", 2},
		{"check --help", "usage: tidemark check DIR", 0},
		{"sqllogictest", "no test files", 2},
		{"sqllogictest nope.slt", "no such file", 2},
		{"sqllogictest nope.slt --nope", "-nope", 2},
		{"sqllogictest nope.slt --mode nope", `unknown mode "nope"`, 2},
		{"test nope.slt --mode nope", `unknown mode "nope"`, 2},
		{"test --help", "-mode", 0},
		{"version 1", `unexpected argument "1"`, 2},
		{"version --nope", "-nope", 2},
		{"help", "usage: tidemark COMMAND", 0},
		{"--help", "usage: tidemark COMMAND", 0},
		{"help serve", "-checkpoint-interval", 0},
		{"help serve run", `not "run" too`, 2},
		{"help nope", `unknown command "nope"`, 2},
	} {
		stdout, stderr, code := program(t, strings.Fields(x.args)...)
		if code != x.code || stdout != "" || !strings.Contains(stderr, x.says) {
			t.Errorf("tidemark %s: exit code %d, want %d with %q\nstdout: %s\nstderr: %s", x.args, code, x.code, x.says, stdout, stderr)
		}
	}
	if stdout, stderr, code := program(t, "version"); code != 0 || stderr != "" || !strings.HasPrefix(stdout, "tidemark ") {
		t.Error(stdout, stderr, code)
	}
}

// TestFlagsAnywhere: flags count wherever they stand.
func TestFlagsAnywhere(t *testing.T) {
	for _, x := range []struct {
		args string
		n    int
		on   bool
		rest string
	}{
		{"", 0, false, ""},
		{"a b", 0, false, "a b"},
		{"a -n 5 b -on c", 5, true, "a b c"},
		{"-n 5 a -n=6", 6, false, "a"},
		{"- a -on", 0, true, "- a"},
		{"a -on -- -n 5 -- b", 0, true, "a -n 5 -- b"},
	} {
		fs := flag.NewFlagSet("x", flag.ContinueOnError)
		n, on := fs.Int("n", 0, ""), fs.Bool("on", false, "")
		rest, code := parse(fs, strings.Fields(x.args))
		if rest == nil || code != 0 || *n != x.n || *on != x.on || !slices.Equal(rest, strings.Fields(x.rest)) {
			t.Errorf("%q: -n %d, -on %v, %q, %d", x.args, *n, *on, rest, code)
		}
	}
	script := filepath.Join(t.TempDir(), "s.sql")
	if err := os.WriteFile(script, []byte("SELECT 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	url, _ := startServer(t, t.TempDir())
	if _, stderr, code := program(t, "run", script, "--url", url); code != 0 {
		t.Error(code, stderr)
	}
}

// TestBenchNames: each name of a workload is known, once, and so is how several begin.
func TestBenchNames(t *testing.T) {
	names := bench.Names()
	if err := bench.Check(append(names, "tumbling", "scaling", "pauses", "large", "nexmark", "wire", "read", "scaling-tumbling")); err != nil {
		t.Error(err)
	}
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			t.Errorf("%s is there twice", n)
		}
	}
}
