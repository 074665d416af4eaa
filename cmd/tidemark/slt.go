package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sqllogictest"
)

// sltMain runs sqllogictest files; without --url each against a server of its own in this process.
func sltMain(args []string) int {
	sqllogictest.StartServer = startTestServer
	return sqllogictest.Main(args)
}

// testMain is sltMain with servers whose clock stands still until SET CLOCK moves it.
func testMain(args []string) int {
	sqllogictest.StartServer = func() (string, func() (string, error), func(), error) {
		return testServer(engine.NewVirtualClock())
	}
	return sqllogictest.Main(args)
}

// startTestServer starts a server on an empty database in a temporary directory.
func startTestServer() (url string, restart func() (string, error), stop func(), err error) {
	return testServer(nil)
}

// testServer is startTestServer with a clock, nil for the real one.
func testServer(clock *engine.VirtualClock) (url string, restart func() (string, error), stop func(), err error) {
	dir, err := os.MkdirTemp("", "tidemark-slt-")
	if err != nil {
		return "", nil, nil, err
	}
	var end func() error
	start := func() (string, error) {
		u, e, err := serveAsideAt(dir, clock)
		end = e
		return u, err
	}
	stop = func() {
		if end != nil {
			_ = end()
		}
		_ = os.RemoveAll(dir)
	}
	restart = func() (string, error) {
		if err := end(); err != nil {
			return "", err
		}
		return start()
	}
	if url, err = start(); err != nil {
		stop()
		return "", nil, nil, err
	}
	return url, restart, stop, nil
}

// serveAside runs a server beside the caller, on a free port of the loopback address, and gives what ends it.
func serveAside(dir string) (url string, end func() error, err error) { return serveAsideAt(dir, nil) }

// serveAsideAt is serveAside with a clock, nil for the real one.
func serveAsideAt(dir string, clock *engine.VirtualClock) (url string, end func() error, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	o := serveOptions{dir: dir, memory: 1 << 30, checkpoint: 10 * time.Second, listener: ln, quiet: true, ready: ready, clock: clock}
	go func() {
		done <- serve(ctx, o, zerolog.New(os.Stderr).Level(zerolog.ErrorLevel))
	}()
	select {
	case <-ready:
	case err := <-done:
		cancel()
		return "", nil, fmt.Errorf("server did not start: %w", err)
	}
	return "postgres://tidemark@" + ln.Addr().String() + "/tidemark?sslmode=disable", func() error {
		cancel()
		return <-done
	}, nil
}
