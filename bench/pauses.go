package bench

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/session"
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
	{"aggregate by key", "SELECT k, count(*) AS n, sum(v) AS s, max(v) AS m FROM ev GROUP BY k", "update",
		"SELECT count(*), sum(n)::bigint, sum(s)::bigint, max(m) FROM v", func(n, keys int64) []int64 { return []int64{min(n, keys), n, n * (n - 1) / 2, n - 1} }},
	{"DISTINCT by key", "SELECT DISTINCT k FROM ev", "update",
		"SELECT count(*), sum(k)::bigint FROM v", func(n, keys int64) []int64 { m := min(n, keys); return []int64{m, m * (m - 1) / 2} }},
	{"join of both sides", "SELECT a.k, a.v AS av, b.v AS bv FROM ev a JOIN ev b ON a.k = b.k AND a.v + 1 = b.v", "append",
		"SELECT count(*) FROM v", func(int64, int64) []int64 { return []int64{0} }},
	{"median by group", "SELECT k / 1000 AS g, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) AS m FROM ev GROUP BY 1", "update",
		"SELECT count(*) FROM v", func(n, keys int64) []int64 { return []int64{(min(n, keys) + 999) / 1000} }},
}

// pauses measures the longest epoch while checkpoints are written of state of which every entry changed, beside the longest
// without one, and how long an epoch takes that closes windows of all keys at once.
func pauses(ctx context.Context, o Options) error {
	keys, rounds := int64(1_000_000), 5
	if o.Smoke {
		keys, rounds = 20_000, 2
	}
	fmt.Fprintf(o.Out, "\nEpochs of %d rows over state of %d keys, milliseconds: the longest of as long a time with no checkpoint, the longest within each of %d checkpoints, and by how\nmuch a goroutine that only sleeps was held up meanwhile\n\n", pauseRows, keys, rounds)
	fmt.Fprintf(o.Out, "%-22s %8s %8s %10s  %-34s %8s %8s\n", "view", "p50", "p99", "without", "within, by checkpoint", "median", "stall")
	for i := range pauseCases {
		if err := pauseCases[i].run(ctx, o, keys, rounds); err != nil {
			return fmt.Errorf("pauses: %s: %w", pauseCases[i].name, err)
		}
	}
	for _, k := range []string{"bigint", "text"} {
		if err := closing(ctx, o, k, keys); err != nil {
			return fmt.Errorf("pauses: closing: %w", err)
		}
	}
	return nil
}

// pauseRows is the number of rows of an epoch: small, so that what else the loop does shows.
const pauseRows = 2000

// pauseBench is a database with the stream ev and the view v.
type pauseBench struct {
	e    *engine.Engine
	s    session.Session
	keys int64
	n    int64
	text bool
	base int64 // event time of row 0
	bufs [2]*batch.Batch
}

func openPause(ctx context.Context, keyType, view string, keys int64) (*pauseBench, func(), error) {
	dir, err := os.MkdirTemp("", "tidemark-bench-")
	if err != nil {
		return nil, nil, err
	}
	e, err := engine.Open(engine.Options{Dir: dir, Log: zerolog.Nop(), CheckpointInterval: time.Hour})
	if err != nil {
		os.RemoveAll(dir)
		return nil, nil, err
	}
	done := func() {
		e.Close()
		os.RemoveAll(dir)
	}
	p := &pauseBench{e: e, keys: keys, text: keyType == "text", base: 1_700_000_000_000_000}
	if p.s, err = e.NewSession(session.Params{User: "bench", Database: "bench"}); err != nil {
		done()
		return nil, nil, err
	}
	for _, q := range []string{"CREATE STREAM ev (k " + keyType + ", v bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 second')", view} {
		if _, err := query(ctx, p.s, q); err != nil {
			done()
			return nil, nil, err
		}
	}
	kt := types.Of(types.Int8)
	if p.text {
		kt = types.Of(types.Text)
	}
	for i := range p.bufs {
		p.bufs[i] = batch.New([]types.Type{kt, types.Of(types.Int8), types.Of(types.Timestamp)}, 1<<16)
	}
	return p, done, nil
}

// feed gives one epoch of n rows whose keys go on in turn, and says how long it took.
func (p *pauseBench) feed(ctx context.Context, n int) (time.Duration, error) {
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
	start := time.Now()
	err := p.e.Feed(ctx, "public", "ev", b)
	return time.Since(start), err
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

// stalls sleeps a millisecond again and again until stop is closed, and gives by how much it overslept at most: what the machine, the
// scheduler and the garbage collector do to a goroutine that has nothing to do with epochs.
func stalls(stop <-chan struct{}) <-chan time.Duration {
	out := make(chan time.Duration, 1)
	go func() {
		var most time.Duration
		for {
			select {
			case <-stop:
				out <- most
				return
			default:
			}
			start := time.Now()
			time.Sleep(time.Millisecond)
			most = max(most, time.Since(start)-time.Millisecond)
		}
	}()
	return out
}

// during feeds small epochs until stop is closed, and gives how long each took.
func (p *pauseBench) during(ctx context.Context, stop <-chan struct{}) ([]time.Duration, error) {
	var took []time.Duration
	for {
		select {
		case <-stop:
			return took, nil
		default:
		}
		d, err := p.feed(ctx, pauseRows)
		if err != nil {
			return nil, err
		}
		took = append(took, d)
	}
}

func (c *pauseCase) run(ctx context.Context, o Options, keys int64, rounds int) error {
	p, done, err := openPause(ctx, "bigint", "CREATE MATERIALIZED VIEW v WITH (output_mode = '"+c.mode+"') AS "+c.query, keys)
	if err != nil {
		return err
	}
	defer done()
	var plain, all []time.Duration
	var within []float64
	text, stalled := "", time.Duration(0)
	for range rounds {
		if err := p.fill(ctx); err != nil {
			return err
		}
		stop, failed := make(chan struct{}), make(chan error, 1)
		start, stall := time.Now(), stalls(stop)
		go func() {
			failed <- p.e.Checkpoint(ctx)
			close(stop)
		}()
		took, err := p.during(ctx, stop)
		lasted := time.Since(start)
		if err == nil {
			err = <-failed
		}
		if err != nil {
			return err
		}
		stalled = max(stalled, <-stall)
		all = append(all, took...)
		d := millis(slices.Max(append(took, 0)))
		within = append(within, d)
		text += strconv.FormatFloat(d, 'f', 1, 64) + " "
		quiet := make(chan struct{})
		time.AfterFunc(lasted, func() { close(quiet) })
		if took, err = p.during(ctx, quiet); err != nil {
			return err
		}
		plain, all = append(plain, took...), append(all, took...)
	}
	rows, err := query(ctx, p.s, c.check)
	if err == nil {
		err = compare(rows, c.want(p.n, keys)...)
	}
	if err != nil {
		return err
	}
	slices.Sort(all)
	slices.Sort(within)
	fmt.Fprintf(o.Out, "%-22s %8.1f %8.1f %10.1f  %-34s %8.1f %8.1f\n", c.name, millis(all[len(all)/2]), millis(all[len(all)*99/100]), millis(slices.Max(append(plain, 0))), text, within[len(within)/2], millis(stalled))
	return nil
}

// closing measures the epoch that closes windows of all keys at once.
func closing(ctx context.Context, o Options, keyType string, keys int64) error {
	p, done, err := openPause(ctx, keyType, "CREATE MATERIALIZED VIEW v WITH (output_mode = 'append') AS SELECT window.end AS we, k, count(*) AS n, sum(v) AS s, max(v) AS m FROM ev GROUP BY window(ts, '10 seconds'), k", keys)
	if err != nil {
		return err
	}
	defer done()
	var took []float64
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
		took = append(took, millis(d))
		text += strconv.FormatFloat(millis(d), 'f', 1, 64) + " "
	}
	rows, err := query(ctx, p.s, "SELECT count(*), sum(n)::bigint, sum(s)::bigint FROM v")
	if err == nil {
		n := p.n - pauseRows // of the window that is open
		err = compare(rows, windows*keys, n, n*(n-1)/2)
	}
	if err != nil {
		return err
	}
	slices.Sort(took)
	fmt.Fprintf(o.Out, "%-22s %8s %8s %10s  %-34s %8.1f\n", "closing, "+keyType+" keys", "", "", "", text, took[len(took)/2])
	return nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
