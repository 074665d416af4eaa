package parser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// postgres starts a PostgreSQL 15 of its own on a socket in a temporary
// directory, and connects. The test is skipped where there is none.
func postgres(t *testing.T) *pgconn.PgConn {
	t.Helper()
	const bin = "/usr/lib/postgresql/15/bin"
	if _, err := os.Stat(filepath.Join(bin, "postgres")); err != nil {
		t.Skip("PostgreSQL 15 is not installed")
	}
	dir, err := os.MkdirTemp("", "tmpg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	attr := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Skip("no user to run PostgreSQL as")
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "-N", "--no-locale", "-E", "UTF8")
	initdb.SysProcAttr, initdb.Dir = attr, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-h", "", "-c", "fsync=off")
	server.SysProcAttr, server.Dir = attr, dir
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT)
		_ = server.Wait()
	})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		c, err := pgconn.Connect(ctx, fmt.Sprintf("host=%s user=postgres database=postgres", dir))
		if err == nil {
			t.Cleanup(func() { _ = c.Close(context.Background()) })
			return c
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// rows runs a statement and gives its rows as text.
func rows(c *pgconn.PgConn, sql string) (string, error) {
	res, err := c.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		return "", err
	}
	var sb strings.Builder
	for _, r := range res {
		for _, row := range r.Rows {
			for _, v := range row {
				sb.Write(v)
				sb.WriteByte('\t')
			}
			sb.WriteByte('\n')
		}
	}
	return sb.String(), nil
}

// TestPsqlResults runs psql's queries as they are and as we print them.
func TestPsqlResults(t *testing.T) {
	c := postgres(t)
	text, err := os.ReadFile("testdata/psql.sql")
	if err != nil {
		t.Fatal(err)
	}
	stmts, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, s := range stmts {
		q, err := ParseQuery(s.Text)
		if err != nil {
			t.Fatal(err)
		}
		want, err := rows(c, s.Text)
		if err != nil {
			continue // it asks for objects of the database it was recorded in
		}
		ran++
		if got, err := rows(c, FormatQuery(q)); err != nil || got != want {
			t.Errorf("%s\nprinted as %s\ngives %v\n%s\nwant\n%s", s.Text, FormatQuery(q), err, got, want)
		}
	}
	t.Logf("%d of %d queries compared", ran, len(stmts))
}

// TestErrorsAsPostgres compares code, message and position of the errors of
// bad statements.
func TestErrorsAsPostgres(t *testing.T) {
	c := postgres(t)
	text, err := os.ReadFile("testdata/errors.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		_, err := rows(c, l)
		var want *pgconn.PgError
		if !errors.As(err, &want) {
			t.Errorf("%s: PostgreSQL gives %v", l, err)
			continue
		}
		wanted := fmt.Sprintf("%s at %d: %s", want.Code, want.Position, want.Message)
		_, err = Parse(l)
		got := "no error"
		if err != nil {
			e := sqlerr.From(err)
			got = fmt.Sprintf("%s at %d: %s", e.Code, sqlerr.CharPosition(l, e.Position), e.Message)
		}
		if got != wanted {
			t.Errorf("%s\n got %s\nwant %s", l, got, wanted)
		}
	}
}
