package bench

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// largeState measures state of ten times the memory budget: how fast rows are taken in of keys that are in memory, and when one key in ten
// is one that is not.
func largeState(ctx context.Context, o Options) error {
	sizes := []struct{ keys, budget int64 }{{2_000_000, 20 << 20}, {10_000_000, 100 << 20}, {50_000_000, 512 << 20}}
	if o.Smoke {
		sizes = []struct{ keys, budget int64 }{{100_000, 8 << 20}}
	}
	fmt.Fprintf(o.Out, "\nState of many keys under a small budget: a count and a sum by key, of which the view has a row each. A hot key is one of a fortieth of all\n\n")
	fmt.Fprintf(o.Out, "%-12s %9s %13s %13s %13s %9s %8s %8s %12s %12s\n", "keys", "budget MB", "fill us/row", "hot us/row", "1/10 cold", "slowdown", "peak RSS", "of it", "disk B/key", "longest ms")
	for _, s := range sizes {
		if len(o.Names) > 0 && !o.wants(fmt.Sprintf("large-%dM", s.keys/1_000_000)) && !o.Smoke {
			continue
		}
		if err := largeStateOf(ctx, o, s.keys, s.budget); err != nil {
			return fmt.Errorf("large: %w", err)
		}
	}
	return nil
}

// largeRun is a database of which the state is larger than memory.
type largeRun struct {
	e       *engine.Engine
	keys, n int64
	rnd     xorshift
	sum     int64
	peak    int64
	longest time.Duration
	bufs    [2]*batch.Batch
}

func largeStateOf(ctx context.Context, o Options, keys, budget int64) error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1)) // as it was
	engine.LimitMemory(budget)
	d, err := openDatabase(ctx, engine.Options{MemoryBytes: budget}, "CREATE STREAM ev (k bigint, v bigint)",
		"CREATE MATERIALIZED VIEW v AS SELECT k, count(*) AS n, sum(v) AS s FROM ev GROUP BY k")
	if err != nil {
		return err
	}
	defer d.close()
	e, s := d.e, d.s
	r := &largeRun{e: e, keys: keys, rnd: newXorshift(0)}
	for i := range r.bufs {
		r.bufs[i] = batch.New([]types.Type{types.Of(types.Int8), types.Of(types.Int8)}, epochRows)
	}
	fill, err := r.phase(ctx, keys, func(i int64, _ uint64) int64 { return i * 514_229 % keys })
	if err != nil {
		return err
	}
	if err := e.Checkpoint(ctx); err != nil {
		return err
	}
	hot := keys / 40
	pick := func(_ int64, x uint64) int64 { return int64(x>>16) % hot * 40 }
	rows := keys / 5
	if _, err := r.phase(ctx, rows, pick); err != nil { // brings them into memory
		return err
	}
	warm, err := r.phase(ctx, rows, pick)
	if err != nil {
		return err
	}
	r.longest = 0
	cold, err := r.phase(ctx, rows, func(i int64, x uint64) int64 {
		if x%10 == 0 {
			return int64(x>>16) % keys
		}
		return pick(i, x)
	})
	if err != nil {
		return err
	}
	if err := e.Checkpoint(ctx); err != nil {
		return err
	}
	used := diskUse(d.dir)
	got, err := query(ctx, s, "SELECT count(*), sum(n)::bigint, sum(s)::bigint FROM v")
	if err == nil {
		err = compare(got, keys, r.n, r.sum)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "%-12d %9d %13.2f %13.2f %13.2f %9.1f %8d %7.0f%% %12.0f %12.0f\n", keys, budget>>20, fill, warm, cold, cold/warm, r.peak>>20,
		100*float64(r.peak)/float64(budget), float64(used)/float64(keys), millis(r.longest))
	return nil
}

// phase feeds rows and gives the CPU time of the process for each, in microseconds.
func (r *largeRun) phase(ctx context.Context, rows int64, key func(i int64, x uint64) int64) (float64, error) {
	cpu := processCPU()
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
		r.longest, r.peak = max(r.longest, time.Since(start)), max(r.peak, rss())
	}
	return float64((processCPU() - cpu).Nanoseconds()) / float64(rows) / 1000, nil
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
