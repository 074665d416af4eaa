//go:build unix

// Package pgtest starts a PostgreSQL server for tests that compare with it:
// a cluster of its own in a temporary directory, on a free port, without
// syncing to disk. Where PostgreSQL is not installed the test is skipped; with
// TIDEMARK_REQUIRE_CLIENTS=1 in the environment it fails.
package pgtest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// binDirs are where PostgreSQL 15 usually is.
var binDirs = []string{"/usr/lib/postgresql/15/bin", "/usr/pgsql-15/bin", "/usr/local/opt/postgresql@15/bin", "/opt/homebrew/opt/postgresql@15/bin"}

// Start starts a PostgreSQL 15 for the test and gives its URL: the superuser
// postgres in database postgres, with time zone UTC, C collation and Unicode letters. The
// server ends with the test.
func Start(t testing.TB) string {
	t.Helper()
	bin := findBin()
	if bin == "" {
		Missing(t, "PostgreSQL 15 is not installed")
	}
	cred, err := credential()
	if err != nil {
		Missing(t, "PostgreSQL does not run as root: %v", err)
	}
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if cred != nil {
		if err := os.Chown(dir, int(cred.Uid), int(cred.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
		cmd.Dir = dir
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := command("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--lc-ctype=C.UTF-8", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	port := freePort(t)
	var log bytes.Buffer
	server := command("postgres", "-D", data, "-p", strconv.Itoa(port), "-k", dir, "-h", "127.0.0.1", "-F", "-c", "timezone=UTC", "-c", "log_timezone=UTC")
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatalf("postgres: %v", err)
	}
	ended := make(chan struct{})
	go func() { _ = server.Wait(); close(ended) }() // how it ends is of interest only while it starts, in log
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGQUIT) // it may have ended by itself
		<-ended
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if command("pg_isready", "-q", "-h", "127.0.0.1", "-p", strconv.Itoa(port)).Run() == nil {
			break
		}
		select {
		case <-ended:
			t.Fatalf("postgres ended:\n%s", log.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("postgres did not start in time")
		}
	}
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
}

// Missing ends a test that needs a program which is not there: it is skipped, or fails where
// TIDEMARK_REQUIRE_CLIENTS is set, as in CI, so that nothing is skipped unseen.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if v := os.Getenv("TIDEMARK_REQUIRE_CLIENTS"); v != "" && v != "0" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func findBin() string {
	for _, dir := range binDirs {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err == nil {
			return dir
		}
	}
	return ""
}

// credential gives the user to run as: nil for the current one, else that of the package, since PostgreSQL refuses root.
func credential() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("look up user: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("user id: %w", err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("group id: %w", err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

func freePort(t testing.TB) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}
