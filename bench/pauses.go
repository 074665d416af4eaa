package bench

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// pauseCase is a view over the stream ev (k, v, ts) whose state is large, all of which changes between two checkpoints.
type pauseCase struct {
	name  string
	query string
	mode  string // output mode
	check string // a query of one row of numbers over the view v, and what it must give after n events of keys 0 to keys-1 in turn
	want  func(n, keys int64) []int64
}

var pauseCases = []pauseCase{
	{"aggregate", "SELECT k, count(*) AS n, sum(v) AS s, max(v) AS m FROM ev GROUP BY k", "update",
		"SELECT count(*), sum(n)::bigint, sum(s)::bigint, max(m) FROM v", func(n, keys int64) []int64 { return []int64{min(n, keys), n, n * (n - 1) / 2, n - 1} }},
	{"distinct", "SELECT DISTINCT k FROM ev", "update",
		"SELECT count(*), sum(k)::bigint FROM v", func(n, keys int64) []int64 { m := min(n, keys); return []int64{m, m * (m - 1) / 2} }},
	{"join", "SELECT a.k, a.v AS av, b.v AS bv FROM ev a JOIN ev b ON a.k = b.k AND a.v + 1 = b.v", "append",
		"SELECT count(*) FROM v", func(int64, int64) []int64 { return []int64{0} }},
	{"median", "SELECT k / 1000 AS g, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) AS m FROM ev GROUP BY 1", "update",
		"SELECT count(*) FROM v", func(n, keys int64) []int64 { return []int64{(min(n, keys) + 999) / 1000} }},
}

// pauses measures the longest epoch while checkpoints are written of state of which every entry changed, beside the longest
// without one, and how long an epoch takes that closes windows of all keys at once.
func pauses(ctx context.Context, o Options) error {
	keys, rounds := int64(1_000_000), 4
	if o.Smoke {
		keys, rounds = 20_000, 2
	}
	fmt.Fprintf(o.Out, "\nEpochs of %d rows over state of %d keys, milliseconds that the loop ran, which other work on the machine changes little (in\nbrackets: elapsed, which it does): the longest in as long a time with no checkpoint, the longest within each of %d checkpoints\n\n", pauseRows, keys, rounds)
	fmt.Fprintf(o.Out, "%-22s %8s %8s %16s  %s\n", "view", "p50", "p99", "without", "within, by checkpoint")
	for i := range pauseCases {
		if c := &pauseCases[i]; o.wants("pauses-" + c.name) {
			if err := c.run(ctx, o, keys, rounds); err != nil {
				return fmt.Errorf("pauses: %s: %w", c.name, err)
			}
		}
	}
	for _, k := range []string{"bigint", "text"} {
		if o.wants("pauses-growing") {
			if err := growing(ctx, o, k, 12*keys); err != nil {
				return fmt.Errorf("pauses: growing: %w", err)
			}
		}
		if o.wants("pauses-closing") {
			if err := closing(ctx, o, k, keys); err != nil {
				return fmt.Errorf("pauses: closing: %w", err)
			}
		}
	}
	return nil
}

// took is what one epoch took: the time that the loop's thread ran, and elapsed time.
type took struct{ ran, wall time.Duration }

func (t took) String() string { return fmt.Sprintf("%.1f (%.0f)", millis(t.ran), millis(t.wall)) }

// longest gives the longest of each, not necessarily of one epoch.
func longest(ts []took) (m took) {
	for _, t := range ts {
		m.ran, m.wall = max(m.ran, t.ran), max(m.wall, t.wall)
	}
	return m
}

// pauseRows is the number of rows of an epoch: small, so that what else the loop does shows.
const pauseRows = 2000

// pauseBench is a database with the stream ev and the view v.
type pauseBench struct {
	*database
	keys int64
	n    int64
	text bool
	base int64 // event time of row 0
	loop int   // thread of the engine's loop
	ran  time.Duration
	bufs [2]*batch.Batch
}

func openPause(ctx context.Context, keyType, view string, keys int64) (*pauseBench, error) {
	loop := make(chan int, 1)
	d, err := openDatabase(ctx, engine.Options{CheckpointInterval: time.Hour, LoopStarted: func() {
		runtime.LockOSThread()
		loop <- threadID()
	}}, "CREATE STREAM ev (k "+keyType+", v bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 second')", view)
	if err != nil {
		return nil, err
	}
	p := &pauseBench{database: d, keys: keys, text: keyType == "text", loop: <-loop, base: 1_700_000_000_000_000}
	p.ran = threadCPU(p.loop)
	kt := types.Of(types.Int8)
	if p.text {
		kt = types.Of(types.Text)
	}
	for i := range p.bufs {
		p.bufs[i] = batch.New([]types.Type{kt, types.Of(types.Int8), types.Of(types.Timestamp)}, 1<<16)
	}
	return p, nil
}

// feed gives one epoch of n rows whose keys go on in turn, and says how long it took.
func (p *pauseBench) feed(ctx context.Context, n int) (took, error) {
	b := p.bufs[0]
	p.bufs[0], p.bufs[1] = p.bufs[1], b
	b.Reset()
	for range n {
		// Keys come in an order that is neither theirs nor that of their hashes.
		k := p.n * 514_229 % p.keys
		if p.text {
			b.Cols[0].AppendBytes(fmt.Appendf(nil, "key-%08d", k))
		} else {
			b.Cols[0].AppendInt(k)
		}
		b.Cols[1].AppendInt(p.n)
		b.Cols[2].AppendInt(p.base)
		p.n++
	}
	b.N = n
	start, before := time.Now(), p.ran
	err := p.e.Feed(ctx, "public", "ev", b)
	p.ran = threadCPU(p.loop) // since the last epoch: what the loop did between the two counts
	return took{p.ran - before, time.Since(start)}, err
}

// fill gives every key once more.
func (p *pauseBench) fill(ctx context.Context) error {
	for left := p.keys; left > 0; {
		n := min(left, 1<<16)
		if _, err := p.feed(ctx, int(n)); err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// during feeds small epochs until stop is closed, and gives how long each took.
func (p *pauseBench) during(ctx context.Context, stop <-chan struct{}) ([]took, error) {
	var ts []took
	for {
		select {
		case <-stop:
			return ts, nil
		default:
		}
		d, err := p.feed(ctx, pauseRows)
		if err != nil {
			return nil, err
		}
		ts = append(ts, d)
	}
}

func (c *pauseCase) run(ctx context.Context, o Options, keys int64, rounds int) error {
	p, err := openPause(ctx, "bigint", "CREATE MATERIALIZED VIEW v WITH (output_mode = '"+c.mode+"') AS "+c.query, keys)
	if err != nil {
		return err
	}
	defer p.close()
	var plain, all []took
	within := ""
	for range rounds {
		if err := p.fill(ctx); err != nil {
			return err
		}
		stop, failed := make(chan struct{}), make(chan error, 1)
		start := time.Now()
		go func() {
			failed <- p.e.Checkpoint(ctx)
			close(stop)
		}()
		ts, err := p.during(ctx, stop)
		lasted := time.Since(start)
		if err == nil {
			err = <-failed
		}
		if err != nil {
			return err
		}
		all = append(all, ts...)
		within += longest(ts).String() + "  "
		quiet := make(chan struct{})
		time.AfterFunc(lasted, func() { close(quiet) })
		if ts, err = p.during(ctx, quiet); err != nil {
			return err
		}
		plain, all = append(plain, ts...), append(all, ts...)
	}
	rows, err := query(ctx, p.s, c.check)
	if err == nil {
		err = compare(rows, c.want(p.n, keys)...)
	}
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b took) int { return cmp.Compare(a.ran, b.ran) })
	fmt.Fprintf(o.Out, "%-22s %8.1f %8.1f %16v  %s\n", c.name, millis(all[len(all)/2].ran), millis(all[len(all)*99/100].ran), longest(plain), within)
	return nil
}

// growing measures the longest epoch while a window gets a new key with each row: its table grows all the time.
func growing(ctx context.Context, o Options, keyType string, keys int64) error {
	p, err := openPause(ctx, keyType, "CREATE MATERIALIZED VIEW v WITH (output_mode = 'append') AS SELECT window.end AS we, k, count(*) AS n, sum(v) AS s, max(v) AS m FROM ev GROUP BY window(ts, '10 seconds'), k", keys)
	if err != nil {
		return err
	}
	defer p.close()
	var ts []took
	for p.n < keys {
		d, err := p.feed(ctx, int(min(4*pauseRows, keys-p.n)))
		if err != nil {
			return err
		}
		ts = append(ts, d)
	}
	most := longest(ts)
	slices.SortFunc(ts, func(a, b took) int { return cmp.Compare(a.ran, b.ran) })
	fmt.Fprintf(o.Out, "%-22s %8.1f %8.1f %16v  %d keys, epochs of %d rows\n", "growing, "+keyType+" keys", millis(ts[len(ts)/2].ran), millis(ts[len(ts)*99/100].ran), most, keys, 4*pauseRows)
	return nil
}

// closing measures the epoch that closes windows of all keys at once.
func closing(ctx context.Context, o Options, keyType string, keys int64) error {
	p, err := openPause(ctx, keyType, "CREATE MATERIALIZED VIEW v WITH (output_mode = 'append') AS SELECT window.end AS we, k, count(*) AS n, sum(v) AS s, max(v) AS m FROM ev GROUP BY window(ts, '10 seconds'), k", keys)
	if err != nil {
		return err
	}
	defer p.close()
	text := ""
	const windows = 5
	for range windows {
		if err := p.fill(ctx); err != nil {
			return err
		}
		p.base += 20_000_000
		d, err := p.feed(ctx, pauseRows)
		if err != nil {
			return err
		}
		text += d.String() + "  "
	}
	rows, err := query(ctx, p.s, "SELECT count(*), sum(n)::bigint, sum(s)::bigint FROM v")
	if err == nil {
		n := p.n - pauseRows // of the window that is open
		err = compare(rows, windows*keys, n, n*(n-1)/2)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "%-22s %8s %8s %16s  %s\n", "closing, "+keyType+" keys", "", "", "", text)
	return nil
}
