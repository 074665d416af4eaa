package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// largeSizes are the workloads large-2M, large-10M and large-50M: the budget is about a tenth of what the state would take.
var largeSizes = []struct{ keys, budget int64 }{{2_000_000, 20 << 20}, {10_000_000, 100 << 20}, {50_000_000, 512 << 20}}

// largeState measures state of ten times the memory budget: how fast rows are taken in of keys that are in memory, and when one key in ten
// is one that is not.
func largeState(ctx context.Context, o Options) error {
	sizes := largeSizes
	if o.Smoke {
		sizes = []struct{ keys, budget int64 }{{100_000, 8 << 20}}
	}
	fmt.Fprintf(o.Out, "\nState of many keys under a small budget: a count and a sum by key, of which the view has a row each. A hot key is one of a fortieth of all;\nin the last phase one row in ten has any key. CPU and elapsed time are microseconds a row; the longest is the time that the loop ran for one epoch of %d rows, milliseconds, and in brackets elapsed time,\nwhich has the waits for a checkpoint where epochs make state faster than it is written. RSS has the pages of the program's own file, anon has not.\n\n", epochRows)
	fmt.Fprintf(o.Out, "%-12s %-14s %9s %9s %11s %9s %9s %9s %9s %16s\n", "workload", "phase", "M rows", "CPU us", "elapsed us", "peak RSS", "of budget", "anon MB", "heap MB", "longest ms")
	for _, s := range sizes {
		name := largeName(s.keys)
		if !o.Smoke && !o.wants(name) {
			continue
		}
		r := &largeRun{name: name, o: &o, keys: s.keys, budget: s.budget, rnd: newXorshift(0)}
		if err := r.run(ctx); err != nil {
			return fmt.Errorf("large: %w", err)
		}
	}
	return nil
}

func largeName(keys int64) string { return fmt.Sprintf("large-%dM", keys/1_000_000) }

// largeRun is a database of which the state is larger than memory.
type largeRun struct {
	name         string
	o            *Options
	e            *engine.Engine
	keys, budget int64
	n            int64
	loop         int // thread of the engine's loop
	rnd          xorshift
	sum          int64
	bufs         [2]*batch.Batch
}

func (r *largeRun) run(ctx context.Context) error {
	defer engine.LimitMemory(0)
	engine.LimitMemory(r.budget)
	loop := make(chan int, 1)
	d, err := openDatabase(ctx, engine.Options{MemoryBytes: r.budget, LoopStarted: func() {
		runtime.LockOSThread()
		loop <- threadID()
	}}, "CREATE STREAM ev (k bigint, v bigint)",
		"CREATE MATERIALIZED VIEW v AS SELECT k, count(*) AS n, sum(v) AS s FROM ev GROUP BY k")
	if err != nil {
		return err
	}
	defer d.close()
	r.e, r.loop = d.e, <-loop
	for i := range r.bufs {
		r.bufs[i] = batch.New([]types.Type{types.Of(types.Int8), types.Of(types.Int8)}, epochRows)
	}
	if _, err := r.phase(ctx, "fill", r.keys, func(i int64, _ uint64) int64 { return i * 514_229 % r.keys }); err != nil {
		return err
	}
	if err := r.e.Checkpoint(ctx); err != nil {
		return err
	}
	hot := r.keys / 40
	pick := func(_ int64, x uint64) int64 { return int64(x>>16) % hot * 40 }
	rows := r.keys / 5
	if _, err := r.phase(ctx, "hot, first", rows, pick); err != nil { // brings them into memory
		return err
	}
	warm, err := r.phase(ctx, "hot", rows, pick)
	if err != nil {
		return err
	}
	cold, err := r.phase(ctx, "1 in 10 cold", rows, func(i int64, x uint64) int64 {
		if x%10 == 0 {
			return int64(x>>16) % r.keys
		}
		return pick(i, x)
	})
	if err != nil {
		return err
	}
	if err := r.e.Checkpoint(ctx); err != nil {
		return err
	}
	used := diskUse(d.dir)
	got, err := query(ctx, d.s, "SELECT count(*), sum(n)::bigint, sum(s)::bigint FROM v")
	if err == nil {
		err = compare(got, r.keys, r.n, r.sum)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(r.o.Out, "%-12s slowdown %.1f, bytes on disk a key %.0f\n", r.name, cold/warm, float64(used)/float64(r.keys))
	r.o.figures.add(Figure{r.name, "slowdown where one key in ten is cold", cold / warm, "x", 10, true},
		Figure{r.name, "bytes on disk a key, of state and view", float64(used) / float64(r.keys), "B", 0, false})
	return nil
}

// phase feeds rows and gives the CPU time of the process for each, in microseconds.
func (r *largeRun) phase(ctx context.Context, name string, rows int64, key func(i int64, x uint64) int64) (float64, error) {
	cpu, began := processCPU(), time.Now()
	var peak, anon, heap int64
	var most took
	ran := threadCPU(r.loop)
	for i := int64(0); i < rows; {
		b := r.bufs[0]
		r.bufs[0], r.bufs[1] = r.bufs[1], b
		b.Reset()
		for ; i < rows && b.N < epochRows; b.N++ {
			b.Cols[0].AppendInt(key(i, r.rnd.next()))
			b.Cols[1].AppendInt(i)
			r.sum += i
			i++
		}
		r.n += int64(b.N)
		start := time.Now()
		if err := r.e.Feed(ctx, "public", "ev", b); err != nil {
			return 0, err
		}
		now := threadCPU(r.loop)
		most = longest([]took{most, {now - ran, time.Since(start)}})
		all, own := resident()
		ran, peak, anon, heap = now, max(peak, all), max(anon, own), max(heap, liveHeap())
	}
	us := float64((processCPU() - cpu).Nanoseconds()) / float64(rows) / 1000
	fmt.Fprintf(r.o.Out, "%-12s %-14s %9.1f %9.2f %11.2f %9d %8.0f%% %9d %9d %16v\n", r.name, name, float64(rows)/1e6, us, float64(time.Since(began).Nanoseconds())/float64(rows)/1000,
		peak>>20, 100*float64(peak)/float64(r.budget), anon>>20, heap>>20, most)
	r.o.figures.add(Figure{r.name, name + ": CPU a row", us, "us", 0, false}, Figure{r.name, name + ": peak RSS of the budget", float64(peak) / float64(r.budget), "x", 1.25, true},
		Figure{r.name, name + ": longest time that the loop ran for an epoch", millis(most.ran), "ms", 0, false})
	return us, nil
}

// liveHeap gives the bytes of Go's heap that were in use after its last collection.
func liveHeap() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// diskUse gives the size of the files in a directory.
func diskUse(dir string) int64 {
	var n int64
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if info, err := f.Info(); err == nil && !info.IsDir() {
			n += info.Size()
		}
	}
	return n
}
