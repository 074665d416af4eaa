// Package bench measures the whole engine: rows from a column source in memory, through a watermark, late-row recording and checkpoints,
// into a maintained view. Workloads are deterministic by seed and their results are checked against a direct
// computation. Some of them run a processor (transform_with_state), in Starlark and in Go. It also measures what one changed row
// costs views over many rows (incremental), whether state levels off while keys come and go (soak), the queries of Nexmark (nexmark),
// and, with clients over the wire of a server in a process of its own, ingest (wire), the time from INSERT to visible (latency) and
// reads (read).
package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/session"
)

// epochRows is the number of rows that the source gives to one epoch.
const epochRows = 1 << 16

// Options of a run.
type Options struct {
	// Smoke runs tiny sizes, for correctness only.
	Smoke bool
	// Names are the workloads to run; none means all.
	Names []string
	// Binary is the tidemark program, which the workloads over the wire run as a server; without one they are left out.
	Binary string
	// Profiles is a directory for CPU profiles of the servers, "" for none.
	Profiles string
	Out      io.Writer
	// JSON writes all figures to Out as one JSON array instead of tables.
	JSON bool

	figures *figures // of this run
}

// result is what one workload measured.
type result struct {
	name      string
	events    int64
	cpu       time.Duration // of the process, all threads, user and system
	wall      time.Duration
	allocs    uint64
	stateRows int64
	viewRows  int64
	rssBytes  int64
	goal      float64 // million events a second and core
}

// Run runs the workloads and prints a table. The error says which result was wrong or could not be measured.
func Run(ctx context.Context, o Options) error {
	out := o.Out
	o.figures = &figures{}
	if o.JSON {
		o.Out = io.Discard
	}
	if err := run(ctx, o); err != nil || !o.JSON {
		return err
	}
	return o.figures.writeJSON(out)
}

func run(ctx context.Context, o Options) error {
	fmt.Fprintf(o.Out, "%s, %d cores, %s, epochs of %d rows, checkpoints every 10 s, late rows recorded\n\n", runtime.Version(), runtime.NumCPU(), time.Now().Format(time.DateOnly), epochRows)
	all := slices.Concat(workloads, processorWorkloads)
	if slices.ContainsFunc(all, func(w *workload) bool { return o.wants(w.name) }) || slices.ContainsFunc(fileWorkloads, func(w fileWorkload) bool { return o.wants(w.name) }) {
		fmt.Fprintf(o.Out, "%-26s %9s %9s %7s %9s %9s %10s %10s %8s\n", "workload", "M events", "M ev/s/c", "goal", "ns/event", "allocs/ev", "state rows", "view rows", "RSS MB")
	}
	for _, w := range all {
		if !o.wants(w.name) {
			continue
		}
		r, err := w.measure(ctx, o.Smoke)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		r.print(o.Out)
		o.figures.add(r.figures()...)
	}
	for i := range fileWorkloads {
		w := &fileWorkloads[i]
		if !o.wants(w.name) {
			continue
		}
		r, err := w.measure(ctx, o.Smoke)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		r.print(o.Out)
		o.figures.add(r.figures()...)
	}
	if err := nexmarkRun(ctx, o); err != nil {
		return err
	}
	if o.wants("incremental") {
		if err := incremental(ctx, o); err != nil {
			return err
		}
	}
	if o.wants("soak") {
		if err := soak(ctx, o); err != nil {
			return err
		}
	}
	for _, w := range []struct {
		name string
		run  func(context.Context, Options) error
	}{{"pauses", pauses}, {"views", views}} {
		if !o.wants(w.name) {
			continue
		}
		if err := w.run(ctx, o); err != nil {
			return err
		}
	}
	return served(ctx, &o)
}

// served runs the workloads over the wire: real clients, and a server in a process of its own.
func served(ctx context.Context, o *Options) error {
	if o.Binary == "" {
		return nil
	}
	var all []Figure
	measure := func(name string, f func(context.Context, *Options) ([]Figure, error)) error {
		if !o.wants(name) {
			return nil
		}
		got, err := f(ctx, o)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, got...)
		return nil
	}
	for i := range ingestWorkloads {
		if err := measure(ingestWorkloads[i].name, ingestWorkloads[i].measure); err != nil {
			return err
		}
	}
	for _, w := range []struct {
		name string
		run  func(context.Context, *Options) ([]Figure, error)
	}{{"wire-group-commit", groupCommit}, {"latency", latency}, {"read-points", pointReads}, {"read-scan", scans}, {"read-beside-writes", interference}} {
		if err := measure(w.name, w.run); err != nil {
			return err
		}
	}
	if len(all) > 0 {
		table(o.Out, "Over the wire, the server in a process of its own, its CPU time counted apart", all)
		o.figures.add(all...)
	}
	return nil
}

func (o *Options) wants(name string) bool {
	if len(o.Names) == 0 {
		return true
	}
	for _, n := range o.Names {
		if n == name || strings.HasPrefix(name, n+"-") || strings.HasPrefix(n, name+"-") && name == "pauses" {
			return true
		}
	}
	return false
}

func (r *result) print(w io.Writer) {
	sec := r.cpu.Seconds()
	fmt.Fprintf(w, "%-26s %9.1f %9.2f %7g %9.1f %9.5f %10d %10d %8d\n", r.name, float64(r.events)/1e6, float64(r.events)/sec/1e6, r.goal,
		float64(r.cpu.Nanoseconds())/float64(r.events), float64(r.allocs)/float64(r.events), r.stateRows, r.viewRows, r.rssBytes>>20)
}

// workload is one query over the stream `events (k, v, x, ts)`.
type workload struct {
	name     string
	keyType  string // "bigint" or "text"
	keys     int64
	before   string // a statement that the view needs; "" for none
	view     string
	sums     string        // sums the view up into one row that the source can compute too
	perEpoch time.Duration // event time that one epoch covers
	epochs   int           // measured ones
	smoke    int           // epochs of a smoke run
	goal     float64
	check    func(src *source, rows [][]string) error
}

// measure runs the workload on a database of its own.
func (w *workload) measure(ctx context.Context, smoke bool) (*result, error) {
	dir, err := os.MkdirTemp("", "tidemark-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	procs, err := nativeProcessors()
	if err != nil {
		return nil, err
	}
	e, err := engine.Open(engine.Options{Dir: dir, Log: zerolog.Nop(), Processors: procs})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	s, err := e.NewSession(session.Params{User: "bench", Database: "bench"})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if w.before != "" {
		if _, err := query(ctx, s, w.before); err != nil {
			return nil, err
		}
	}
	if _, err := query(ctx, s, "CREATE STREAM events (k "+w.keyType+", v bigint, x bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 second')"); err != nil {
		return nil, err
	}
	if _, err := query(ctx, s, w.view); err != nil {
		return nil, err
	}
	n, warm := w.epochs, max(2, w.epochs/8)
	if smoke {
		n, warm = w.smoke, 1
	}
	src := newSource(w)
	for range warm {
		if err := e.Feed(ctx, "public", "events", src.next()); err != nil {
			return nil, err
		}
	}
	r := &result{name: w.name, goal: w.goal}
	runtime.GC()
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	cpu0, start := processCPU(), time.Now()
	for range n {
		if err := e.Feed(ctx, "public", "events", src.next()); err != nil {
			return nil, err
		}
	}
	r.cpu, r.wall = processCPU()-cpu0, time.Since(start)
	runtime.ReadMemStats(&m1)
	r.events, r.allocs, r.rssBytes = int64(n)*epochRows, m1.Mallocs-m0.Mallocs, rss()
	if r.stateRows, err = count(ctx, s, "SELECT coalesce(sum(num_rows_total), 0)::bigint FROM tidemark.state_operators"); err != nil {
		return nil, err
	}
	if r.viewRows, err = count(ctx, s, "SELECT count(*) FROM v"); err != nil {
		return nil, err
	}
	rows, err := query(ctx, s, w.sums)
	if err != nil {
		return nil, err
	}
	return r, w.check(src, rows)
}

func processCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rss gives the process's resident memory, 0 where the system does not tell.
func rss() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// query runs one statement and gives its rows as text.
func query(ctx context.Context, s session.Session, sql string) ([][]string, error) {
	st, err := s.Parse(sql)
	if err != nil {
		return nil, err
	}
	p, err := s.Prepare(ctx, st[0], nil)
	if err != nil {
		return nil, err
	}
	res, err := s.Execute(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	var out [][]string
	for {
		b, err := res.Next(ctx, 0)
		if err != nil || b == nil {
			return out, err
		}
		out = append(out, texts(s, b)...)
	}
}

func count(ctx context.Context, s session.Session, sql string) (int64, error) {
	rows, err := query(ctx, s, sql)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(rows[0][0], 10, 64)
}
