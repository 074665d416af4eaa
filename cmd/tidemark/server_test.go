package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// asServer is the variable by which a test runs this binary as a server of its own, so that it can be killed.
const asServer = "TIDEMARK_TEST_SERVE"

// asProgram is the variable by which a test runs this binary as tidemark with the arguments in it.
const asProgram = "TIDEMARK_TEST_ARGS"

func TestMain(m *testing.M) {
	if args, ok := os.LookupEnv(asProgram); ok {
		os.Args = append(os.Args[:1], strings.FieldsFunc(args, func(r rune) bool { return r == '\x1f' })...)
		main()
		os.Exit(0)
	}
	if args := os.Getenv(asServer); args != "" {
		os.Exit(serveMain(strings.Split(args, "\x1f")))
	}
	os.Exit(m.Run())
}

// freeAddr gives a loopback address that is free.
func freeAddr(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

func urlOf(addr string) string { return "postgres://tidemark@" + addr + "/tidemark?sslmode=disable" }

// startServer runs a server in this process on dir and gives its URL and what stops it.
func startServer(t testing.TB, dir string) (url string, stop func()) {
	t.Helper()
	url, end, err := serveAside(dir)
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		if err := end(); err != nil {
			t.Errorf("server: %v", err)
		}
	}
	t.Cleanup(stop)
	return url, stop
}

// quiet keeps log lines of a test that has ended from failing it.
type quiet struct{ testing.TB }

func (q quiet) Log(args ...any) {
	defer func() { _ = recover() }()
	q.TB.Log(args...)
}

func (q quiet) Logf(format string, args ...any) { q.Log(fmt.Sprintf(format, args...)) }

func waitFor(t testing.TB, addr string) {
	t.Helper()
	for range 600 {
		c, err := pgconn.Connect(context.Background(), urlOf(addr))
		if err == nil {
			c.Close(context.Background())
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("server did not start")
}

// process is a server in a process of its own.
type process struct {
	cmd *exec.Cmd
	url string
}

// startProcess runs a server in a process of its own on dir.
func startProcess(t testing.TB, dir string, args ...string) *process {
	t.Helper()
	addr := freeAddr(t)
	cmd := exec.Command(os.Args[0])
	args = append([]string{"--data", dir, "--listen", addr, "--log-level", "warn"}, args...)
	cmd.Env = append(os.Environ(), asServer+"="+strings.Join(args, "\x1f"))
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		sc := bufio.NewScanner(out)
		for sc.Scan() {
			quiet{t}.Log(sc.Text())
		}
	}()
	p := &process{cmd: cmd, url: urlOf(addr)}
	t.Cleanup(p.kill)
	waitFor(t, addr)
	return p
}

// kill ends the process with SIGKILL.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_, _ = p.cmd.Process.Wait()
}

// terminate ends the process with SIGTERM and gives its exit code.
func (p *process) terminate(t testing.TB) int {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	st, err := p.cmd.Process.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return st.ExitCode()
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func execSQL(t testing.TB, c *pgx.Conn, sql string) {
	t.Helper()
	if _, err := c.PgConn().Exec(context.Background(), sql).ReadAll(); err != nil {
		t.Fatalf("%v\nin %s", err, sql)
	}
}

// csvOf runs COPY (query) TO STDOUT in CSV and gives the lines.
func csvOf(t testing.TB, c *pgx.Conn, query string) []string {
	t.Helper()
	var sb strings.Builder
	if _, err := c.PgConn().CopyTo(context.Background(), &sb, "COPY ("+query+") TO STDOUT WITH (FORMAT csv)"); err != nil {
		t.Fatalf("%v\nin %s", err, query)
	}
	return strings.Split(strings.TrimRight(sb.String(), "\n"), "\n")
}

// copyIn loads CSV text with COPY.
func copyIn(t testing.TB, c *pgx.Conn, target, csv string, header bool) {
	t.Helper()
	_, err := c.PgConn().CopyFrom(context.Background(), strings.NewReader(csv), fmt.Sprintf("COPY %s FROM STDIN WITH (FORMAT csv, HEADER %t)", target, header))
	if err != nil {
		t.Fatalf("COPY %s: %v", target, err)
	}
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// expectCSV compares lines with an answer file, header left out.
func expectCSV(t testing.TB, got []string, file string) {
	t.Helper()
	want := strings.Split(strings.TrimRight(strings.ReplaceAll(readFile(t, "testdata/expected/"+file), "\r", ""), "\n"), "\n")[1:]
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, want %d", file, len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: line %d is %q, want %q", file, i+1, got[i], want[i])
		}
	}
}
