package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/exec/connector/file"
	"github.com/tidemarkdb/tidemark/exec/connector/nexmark"
	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/wire"
	"github.com/tidemarkdb/tidemark/wire/pgcatalog"
)

// shutdownTimeout is how long running statements may take to end after SIGTERM.
const shutdownTimeout = 10 * time.Second

// serveOptions are the flags of `tidemark serve`.
type serveOptions struct {
	dir, listen, initFile, logLevel string
	memory                          int64
	checkpoint                      time.Duration
	clock                           *engine.VirtualClock // nil: the real one

	partitions int
	// Of a server that is started within another command:
	listener net.Listener
	quiet    bool          // prints nothing
	ready    chan struct{} // closed when clients are served
}

func serveMain(args []string) int {
	var o serveOptions
	var memory string
	fs := flag.NewFlagSet("serve", flag.ContinueOnError)
	fs.StringVar(&o.dir, "data", "data", "data directory; made if it is not there")
	fs.StringVar(&o.listen, "listen", "127.0.0.1:7432", "address to listen on")
	fs.StringVar(&memory, "memory", "4GB", "memory budget for state and caches (bytes, or with KB, MB, GB)")
	fs.DurationVar(&o.checkpoint, "checkpoint-interval", 10*time.Second, "time between checkpoints")
	fs.IntVar(&o.partitions, "state-partitions", 0, "state partitions of views that do not say; 0: the number of cores")
	fs.StringVar(&o.initFile, "init", "", "SQL script that is run once, when the database is empty")
	virtual := fs.Bool("virtual-clock", false, "for tests: processing time stands still until SET CLOCK moves it")
	profile := fs.String("cpu-profile", "", "write a CPU profile (pprof) of the whole run to this file")
	fs.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	if done, code := parseOnly(fs, args); done {
		return code
	}
	var err error
	if o.memory, err = parseBytes(memory); err != nil {
		return misuse(fs, "--memory: %v", err)
	}
	level, err := zerolog.ParseLevel(o.logLevel)
	if err != nil || o.logLevel == "" {
		return misuse(fs, "--log-level: unknown log level %q", o.logLevel)
	}
	if *profile != "" {
		end, err := startProfile(*profile)
		if err != nil {
			return fatal(err)
		}
		defer end()
	}
	if *virtual {
		o.clock = engine.NewVirtualClock()
	}
	log := zerolog.New(zerolog.ConsoleWriter{Out: os.Stderr, TimeFormat: time.TimeOnly, NoColor: true}).Level(level).With().Timestamp().Logger()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx, o, log); err != nil {
		return fatal(err)
	}
	return 0
}

// startProfile starts a CPU profile and gives what ends it.
func startProfile(path string) (end func(), err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		if err := f.Close(); err != nil {
			fmt.Fprintf(os.Stderr, "tidemark: %v\n", err)
		}
	}, nil
}

// connectors are the kinds of source that CREATE STREAM can name; posix_fs is RisingWave's name of file.
var connectors = map[string]connector.Connector{"file": file.Connector{}, "posix_fs": file.Connector{}, "nexmark": nexmark.Connector{}}

// parseBytes reads a size such as 512MB.
func parseBytes(s string) (int64, error) {
	units := []struct {
		suffix string
		shift  uint
	}{{"GB", 30}, {"MB", 20}, {"KB", 10}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"G", 30}, {"M", 20}, {"K", 10}}
	num, shift := s, uint(0)
	for _, u := range units {
		if strings.HasSuffix(strings.ToUpper(s), strings.ToUpper(u.suffix)) {
			num, shift = s[:len(s)-len(u.suffix)], u.shift
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(num), 10, 64)
	if err != nil || n <= 0 || n > 1<<62>>shift {
		return 0, fmt.Errorf("invalid size %q", s)
	}
	return n << shift, nil
}

// serve runs the server until ctx ends; then it checkpoints and gives nil.
func serve(ctx context.Context, o serveOptions, log zerolog.Logger) error {
	ln := o.listener
	if ln == nil {
		var err error
		if ln, err = net.Listen("tcp", o.listen); err != nil {
			return fmt.Errorf("cannot listen on %s: %w", o.listen, err)
		}
	}
	defer ln.Close()
	start := time.Now()
	if o.ready == nil { // a process of its own
		engine.LimitMemory(o.memory)
	}
	e, err := engine.Open(engine.Options{Dir: o.dir, MemoryBytes: o.memory, CheckpointInterval: o.checkpoint, StatePartitions: o.partitions,
		VirtualClock: o.clock, Connectors: connectors, System: pgcatalog.Relations(), Log: log.With().Str("component", "engine").Logger()})
	if err != nil {
		return err
	}
	srv := wire.New(e, wire.Options{Version: engine.Version, MaxConnections: 1000}, log.With().Str("component", "wire").Logger())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	log.Info().Str("addr", ln.Addr().String()).Str("data", o.dir).Int64("dur_ms", time.Since(start).Milliseconds()).Msg("ready")
	if o.initFile != "" {
		if err := initialise(ctx, e, ln.Addr().String(), o.initFile); err != nil {
			log.Error().Err(err).Str("file", o.initFile).Msg("init script failed")
		}
	}
	if o.ready != nil {
		close(o.ready)
	}
	if !o.quiet {
		greet(ln.Addr(), o.initFile != "")
	}
	select {
	case <-ctx.Done():
		log.Info().Msg("stopping")
	case err = <-done:
	}
	sctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	_ = srv.Shutdown(sctx)
	if cerr := e.Close(); err == nil {
		err = cerr
	}
	return err
}

// greet prints the line to paste, and with the example loaded two queries to try.
func greet(addr net.Addr, example bool) {
	host, port, _ := net.SplitHostPort(addr.String())
	fmt.Printf("Tidemark is ready. Connect with:\n\n    psql -h %s -p %s -U tidemark tidemark\n\n", host, port)
	if example {
		fmt.Print(exampleHint)
	}
}

const exampleHint = `and try:

    SELECT * FROM machine_alarms ORDER BY window_start LIMIT 5;
    SELECT * FROM cold_spells ORDER BY since;

`

// initialise runs a script over the wire if the database has no relation yet.
func initialise(ctx context.Context, e *engine.Engine, addr, file string) error {
	if !e.Empty() {
		return nil
	}
	return runFile(ctx, "postgres://tidemark@"+addr+"/tidemark?sslmode=disable", file, io.Discard, io.Discard)
}
