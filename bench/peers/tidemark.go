package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// clockTicks is how many ticks of /proc/PID/stat a second has: USER_HZ, which is 100 on Linux everywhere.
const clockTicks = 100

// cpuOf gives the CPU time of a process, user and system.
func cpuOf(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat is %q", pid, b)
	}
	user, err1 := strconv.ParseInt(f[11], 10, 64)
	system, err2 := strconv.ParseInt(f[12], 10, 64)
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("/proc/%d/stat is %q", pid, b)
	}
	return time.Duration(user+system) * time.Second / clockTicks, nil
}

// peakMB gives the peak of a process's resident memory.
func peakMB(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			return kb >> 10
		}
	}
	return 0
}

// server is a Tidemark of its own, in an empty directory.
type server struct {
	cmd *exec.Cmd
	url string
}

// startServer starts the binary with what a user would have: nothing but a directory and an address.
func startServer(binary, dir string) (*server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := ln.Addr().String()
	if err := ln.Close(); err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(binary, "serve", "--listen", addr, "--data", dir, "--log-level", "error"), url: "postgres://tidemark@" + addr + "/tidemark?sslmode=disable"}
	s.cmd.Stderr = os.Stderr
	return s, s.cmd.Start()
}

// connect waits until the server answers.
func (s *server) connect(ctx context.Context) (c *pgconn.PgConn, err error) {
	for range 200 {
		if c, err = pgconn.Connect(ctx, s.url); err == nil {
			return c, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, err
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
}

// runTidemark runs a job. What is measured begins with the statements and ends when the view, which is durable, shows all that was in the
// files.
func runTidemark(ctx context.Context, binary, data, scratch string, j job, retention string) (l line, err error) {
	dir := filepath.Join(scratch, "tidemark")
	if err := os.RemoveAll(dir); err != nil {
		return l, err
	}
	defer os.RemoveAll(dir)
	s, err := startServer(binary, dir)
	if err != nil {
		return l, err
	}
	defer s.stop()
	c, err := s.connect(ctx)
	if err != nil {
		return l, err
	}
	defer c.Close(ctx)
	// In one transaction: the view has no history to catch up with.
	statements := []string{"BEGIN"}
	for _, name := range j.streams {
		statements = append(statements, stream(name, filepath.Join(data, j.format, name), j.format, retention))
	}
	statements = append(statements, j.view, "COMMIT")
	for _, name := range j.streams {
		statements = append(statements, "WAIT FOR "+name)
	}
	pid := s.cmd.Process.Pid
	cpu, err := cpuOf(pid)
	if err != nil {
		return l, err
	}
	start := time.Now()
	for _, q := range statements {
		if _, err := c.Exec(ctx, q).ReadAll(); err != nil {
			return l, fmt.Errorf("%s: %w", q, err)
		}
	}
	wall := time.Since(start)
	end, err := cpuOf(pid)
	if err != nil {
		return l, err
	}
	l = line{Engine: engineName(retention), Workload: j.name, Format: j.format, Seconds: wall.Seconds(), CPUSeconds: (end - cpu).Seconds(), RSS: peakMB(pid)}
	if l.Rows, err = scalar(ctx, c, "SELECT sum(rows + errors)::bigint FROM tidemark.sources"); err != nil {
		return l, err
	}
	if n, err := scalar(ctx, c, "SELECT sum(late_rows_total + dead_letters_total)::bigint FROM tidemark.views"); err != nil || n > 0 {
		return l, fmt.Errorf("%d rows were late (%w)", n, err)
	}
	l.RowsPerSecond, l.RowsPerCPUSecond = float64(l.Rows)/l.Seconds, float64(l.Rows)/max(l.CPUSeconds, 0.01)
	got, err := resultSum(ctx, c, "r", j.columns)
	l.ResultRows, l.ResultChecksum = got.rows, fmt.Sprintf("%016x", got.bits)
	return l, err
}

func engineName(retention string) string {
	if retention == "0" {
		return "tidemark-offsets"
	}
	return "tidemark"
}

// scalar gives the one number that a query answers, 0 for NULL.
func scalar(ctx context.Context, c *pgconn.PgConn, q string) (int64, error) {
	r := c.ExecParams(ctx, q, nil, nil, nil, nil).Read()
	if r.Err != nil {
		return 0, r.Err
	}
	if len(r.Rows) != 1 || r.Rows[0][0] == nil {
		return 0, nil
	}
	return strconv.ParseInt(string(r.Rows[0][0]), 10, 64)
}
