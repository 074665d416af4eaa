// Package bench measures the whole engine: rows from a column source in memory, through a watermark, late-row recording and checkpoints,
// into a maintained view. Workloads are deterministic by seed and their results are checked against a direct
// computation. Some of them run a processor (transform_with_state), in Starlark and in Go. It also measures what one changed row
// costs views over many rows (incremental), a million timers (timers), whether state levels off while keys come and go (soak), the queries of Nexmark (nexmark),
// and, with clients over the wire of a server in a process of its own, ingest (wire), the time from INSERT to visible (latency) and
// reads (read).
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/session"
)

// epochRows is the number of rows that the source gives to one epoch.
const epochRows = 1 << 16

// Options of a run.
type Options struct {
	// Smoke runs tiny sizes, for correctness only.
	Smoke bool
	// Names are the workloads to run, or how their names begin where none has that name; none means all.
	Names []string
	// Binary is the tidemark program, which the workloads over the wire run as a server; without one they are left out.
	Binary string
	// Profiles is a directory for CPU profiles of the servers, "" for none.
	Profiles string
	Out      io.Writer
	// JSON writes all figures to Out as one JSON array instead of tables.
	JSON bool
	// Partitions is state_partitions of the views of the engine's workloads; 0 leaves it at its default.
	Partitions int
	// Epochs is how many epochs of the engine's workloads are measured; 0: as many as each says.
	Epochs int
	// ProfileAllocs records each allocation of what the engine's workloads measure, no others, for the runtime's profile "allocs".
	ProfileAllocs bool

	figures *figures // of this run
}

// result is what one workload measured.
type result struct {
	name       string
	events     int64
	cpu        time.Duration // of the process, all threads, user and system, without the making of rows
	checkpoint time.Duration // the part of cpu that the checkpoint at the end took
	wall       time.Duration
	elapsed    time.Duration // of the epochs alone: without the making of rows and without checkpoints that nothing runs beside
	allocs     uint64
	stateRows  int64
	newRows    int64 // rows that the view got while it was measured, less those that it lost
	viewRows   int64
	rssBytes   int64
	goal       float64 // million events a second and core
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
	fmt.Fprintf(o.Out, "%s, %d cores, %s, epochs of %d rows, checkpoints every 10 s of CPU time and at the end, late rows recorded\n\n", runtime.Version(), runtime.NumCPU(), time.Now().Format(time.DateOnly), epochRows)
	all := slices.Concat(workloads, processorWorkloads)
	if slices.ContainsFunc(all, func(w *workload) bool { return o.wants(w.name) }) || slices.ContainsFunc(fileWorkloads, func(w fileWorkload) bool { return o.wants(w.name) }) {
		fmt.Fprintf(o.Out, "%-26s %9s %9s %7s %9s %9s %9s %9s %10s %10s %10s %8s\n", "workload", "M events", "M ev/s/c", "goal", "M ev/s", "ns/event", "ns ckpt", "allocs/ev", "new rows", "view rows", "state rows", "RSS MB")
	}
	for _, w := range all {
		if err := o.report(w.name, func() (*result, error) { return w.measure(ctx, &o) }); err != nil {
			return err
		}
	}
	for i := range fileWorkloads {
		w := &fileWorkloads[i]
		if err := o.report(w.name, func() (*result, error) { return w.measure(ctx, &o) }); err != nil {
			return err
		}
	}
	if err := nexmarkRun(ctx, o); err != nil {
		return err
	}
	for _, w := range tables {
		if !o.wants(w.name) {
			continue
		}
		if err := w.run(ctx, o); err != nil {
			return err
		}
	}
	return served(ctx, &o)
}

// report measures a workload, if it is wanted, and prints the result.
func (o *Options) report(name string, measure func() (*result, error)) error {
	if !o.wants(name) {
		return nil
	}
	r, err := measure()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.print(o.Out)
	o.figures.add(r.figures()...)
	return nil
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
	for _, w := range wireWorkloads {
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

func (r *result) print(w io.Writer) {
	fmt.Fprintf(w, "%-26s %9.1f %9.2f %7g %9.2f %9.1f %9.1f %9.5f %10d %10d %10d %8d\n", r.name, float64(r.events)/1e6, r.rate(), r.goal, r.speed(),
		r.perEvent(r.cpu), r.perEvent(r.checkpoint), float64(r.allocs)/float64(r.events), r.newRows, r.viewRows, r.stateRows, r.rssBytes>>20)
}

// rate is in million events a second and core.
func (r *result) rate() float64 { return float64(r.events) / r.cpu.Seconds() / 1e6 }

// speed is in million events a second of elapsed time, whatever else the machine does.
func (r *result) speed() float64 { return float64(r.events) / r.elapsed.Seconds() / 1e6 }

// perEvent is in nanoseconds.
func (r *result) perEvent(d time.Duration) float64 {
	return float64(d.Nanoseconds()) / float64(r.events)
}

// measure runs the workload on a database of its own.
func (w *workload) measure(ctx context.Context, o *Options) (_ *result, err error) {
	procs, err := nativeProcessors()
	if err != nil {
		return nil, err
	}
	d, err := openDatabase(ctx, engine.Options{CheckpointInterval: time.Hour, Processors: procs}, w.setup(o)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	e, s := d.e, d.s
	n, warm := w.epochs, w.warm
	if o.Smoke {
		n, warm = w.smoke-1, 1
	}
	if o.Epochs > 0 {
		n = o.Epochs
	}
	src, f := newSource(w), &feeder{e: e, s: s, last: processCPU()}
	if _, err := f.feed(ctx, src, warm); err != nil {
		return nil, err
	}
	r := &result{name: w.name, goal: w.goal, events: int64(n) * epochRows}
	before, err := count(ctx, s, "SELECT count(*) FROM v")
	if err != nil {
		return nil, err
	}
	if err := r.measure(o, func() (fed, error) { return f.feed(ctx, src, n) }, func() error { return f.checkpoint(ctx) }); err != nil {
		return nil, err
	}
	if err := r.rows(ctx, s, before); err != nil {
		return nil, err
	}
	rows, err := query(ctx, s, w.sums)
	if err != nil {
		return nil, err
	}
	return r, w.check(src, rows)
}

// checkpointEvery is the CPU time between checkpoints: not wall time, so that the load of the machine does not change what is measured.
const checkpointEvery = 10 * time.Second

// feeder gives the rows of a source to an engine.
type feeder struct {
	e    *engine.Engine
	s    session.Session
	last time.Duration // CPU time of the process at the last checkpoint
}

// fed is what feeding took.
type fed struct {
	made    time.Duration // CPU time that the making of the rows took
	elapsed time.Duration // from when rows are given until the epoch has been published
}

// feed gives n epochs.
func (f *feeder) feed(ctx context.Context, src *source, n int) (t fed, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range n {
		start := threadCPU(threadID())
		stream, b := src.stream(), src.next()
		t.made += threadCPU(threadID()) - start
		given := time.Now()
		if err := f.e.Feed(ctx, "public", streamNames[stream], b); err != nil {
			return t, err
		}
		t.elapsed += time.Since(given)
		if processCPU()-f.last > checkpointEvery {
			if err := f.checkpoint(ctx); err != nil {
				return t, err
			}
		}
	}
	return t, nil
}

func (f *feeder) checkpoint(ctx context.Context) error {
	_, err := query(ctx, f.s, "CHECKPOINT")
	f.last = processCPU()
	return err
}

// measure runs f, which tells what it took, and then a checkpoint.
func (r *result) measure(o *Options, f func() (fed, error), checkpoint func() error) error {
	runtime.GC()
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	if o.ProfileAllocs {
		runtime.MemProfileRate = 1
		defer func() { runtime.MemProfileRate = 0 }()
	}
	cpu0, start := processCPU(), time.Now()
	t, err := f()
	if err != nil {
		return err
	}
	cpu1 := processCPU()
	if err := checkpoint(); err != nil {
		return err
	}
	cpu2 := processCPU()
	r.cpu, r.checkpoint, r.wall, r.elapsed = cpu2-cpu0-t.made, cpu2-cpu1, time.Since(start), t.elapsed
	runtime.ReadMemStats(&m1)
	r.allocs, r.rssBytes = m1.Mallocs-m0.Mallocs, rss()
	return nil
}

// rows counts the rows of state and view; before is the number that the view had before what was measured.
func (r *result) rows(ctx context.Context, s session.Session, before int64) (err error) {
	if r.stateRows, err = count(ctx, s, "SELECT coalesce(sum(num_rows_total), 0)::bigint FROM tidemark.state_operators"); err != nil {
		return err
	}
	r.viewRows, err = count(ctx, s, "SELECT count(*) FROM v")
	r.newRows = r.viewRows - before
	return err
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
	all, _ := resident()
	return all
}

// resident gives the process's resident memory, and the part of it that is no file's, as the program itself is; 0 where the system does not tell.
func resident() (all, anonymous int64) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0
	}
	f := strings.Fields(string(b))
	if len(f) < 3 {
		return 0, 0
	}
	pages, _ := strconv.ParseInt(f[1], 10, 64)
	files, _ := strconv.ParseInt(f[2], 10, 64)
	return pages * int64(os.Getpagesize()), (pages - files) * int64(os.Getpagesize())
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
