package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is a tidemark server in a process of its own, over an empty directory, so that its CPU time is told from the clients'.
type server struct {
	cmd *exec.Cmd
	dir string
	url string
}

// startServer starts the server of a workload and waits until it answers.
func (o *Options) startServer(ctx context.Context, workload string) (*server, error) {
	var flags []string
	if o.Profiles != "" {
		flags = []string{"--cpu-profile", filepath.Join(o.Profiles, workload+".pprof")}
	}
	dir, err := os.MkdirTemp("", "tidemark-bench-")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir}
	if err := s.start(ctx, o.Binary, flags); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *server) start(ctx context.Context, binary string, flags []string) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := ln.Addr().String()
	if err := ln.Close(); err != nil {
		return err
	}
	s.url = "postgres://bench@" + addr + "/bench?sslmode=disable"
	s.cmd = exec.CommandContext(ctx, binary, append([]string{"serve", "--data", s.dir, "--listen", addr, "--log-level", "warn"}, flags...)...)
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := pgx.Connect(ctx, s.url)
		if err == nil {
			return c.Close(ctx)
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("the server does not answer: %w", err)
		}
	}
}

// stop ends the server and deletes its directory.
func (s *server) stop() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		_ = s.cmd.Wait()
	}
	_ = os.RemoveAll(s.dir)
}

// connect gives a connection on which the statements were run.
func (s *server) connect(ctx context.Context, statements ...string) (*pgx.Conn, error) {
	c, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return nil, err
	}
	for _, q := range statements {
		if _, err := c.Exec(ctx, q); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", q, err), c.Close(ctx))
		}
	}
	return c, nil
}

// clockTick is the unit of the CPU times in /proc on every Linux system.
const clockTick = 10 * time.Millisecond

// cpu gives the user and system time that the server has used, 0 where the system does not tell.
func (s *server) cpu() time.Duration {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name, which may hold blanks, is in parentheses; utime and stime are the 12th and 13th field behind it.
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	sys, _ := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+sys) * clockTick
}
