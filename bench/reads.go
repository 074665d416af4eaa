package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// readClients is how many connections read at once.
const readClients = 8

// pointReads measures SELECTs of one row by key, prepared, from a view of a million keys and from a table, and of a few rows in the order of the view's key.
func pointReads(ctx context.Context, o *Options) ([]Figure, error) {
	keys, each := int64(1_000_000), 5*time.Second
	if o.Smoke {
		keys, each = 2000, 100*time.Millisecond
	}
	s, err := o.startServer(ctx, "read-points")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	c, err := s.connect(ctx, "CREATE STREAM readings (k bigint, v bigint)",
		"CREATE MATERIALIZED VIEW by_key AS SELECT k, count(*) AS n, sum(v)::bigint AS s FROM readings GROUP BY k",
		"CREATE TABLE things (id bigint PRIMARY KEY, v bigint)",
		fmt.Sprintf("INSERT INTO readings SELECT k, 3 * k FROM generate_series(0, %d) AS k", keys-1),
		fmt.Sprintf("INSERT INTO things SELECT k, 3 * k FROM generate_series(0, %d) AS k", keys/10-1),
		"CHECKPOINT") // rows are read from disk, or its cache
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	var out []Figure
	for _, q := range []struct {
		what, sql string
		keys      int64
		goal      float64
	}{
		{"view of 1 M rows", "SELECT s FROM by_key WHERE k = $1", keys, 30},
		{"table of 100 k rows", "SELECT v FROM things WHERE id = $1", keys / 10, 30},
		{"10 keys of the view", "SELECT min(s)::bigint FROM by_key WHERE k BETWEEN $1 AND $1 + 9", keys, 0},
		{"the first of the view from a key on", "SELECT s FROM by_key WHERE k >= $1 ORDER BY k LIMIT 1", keys, 0},
	} {
		cpu, start := s.cpu(), time.Now()
		took, err := readKeys(ctx, s, q.sql, q.keys, each)
		if err != nil {
			return nil, err
		}
		cpu, wall, n := s.cpu()-cpu, time.Since(start), len(took)
		slices.Sort(took)
		out = append(out, Figure{"read-points", q.what + ", server", float64(n) / max(cpu.Seconds(), 0.01) / 1000, "k/s/core", q.goal, false},
			Figure{"read-points", q.what + ", client and server", float64(n) / wall.Seconds() / 1000, "k/s", 0, false},
			Figure{"read-points", q.what + ", p50", millis(took[n/2]), "ms", 0, true},
			Figure{"read-points", q.what + ", p99", millis(took[n*99/100]), "ms", 0, true})
	}
	return out, nil
}

// readKeys reads random keys from several connections for a while, and gives how long each read took; the value of a key is three times the key.
func readKeys(ctx context.Context, s *server, sql string, keys int64, d time.Duration) ([]time.Duration, error) {
	var wg sync.WaitGroup
	took := make([][]time.Duration, readClients)
	errs := make([]error, readClients)
	until := time.Now().Add(d)
	for i := range readClients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c, err := s.connect(ctx)
			if err != nil {
				errs[i] = err
				return
			}
			defer c.Close(ctx)
			rnd := newXorshift(uint64(i))
			for start := time.Now(); start.Before(until); {
				k := int64(rnd.next() >> 1 % uint64(keys))
				var got int64
				if err := c.QueryRow(ctx, sql, k).Scan(&got); err != nil || got != 3*k {
					errs[i] = fmt.Errorf("key %d reads as %d: %w", k, got, err)
					return
				}
				end := time.Now()
				took[i] = append(took[i], end.Sub(start))
				start = end
			}
		}()
	}
	wg.Wait()
	all := slices.Concat(took...)
	if err := errors.Join(errs...); err != nil || len(all) > 0 {
		return all, err
	}
	return nil, errors.New("no key was read")
}

// scans measures aggregates over all rows of a stream and of an append-only view.
func scans(ctx context.Context, o *Options) ([]Figure, error) {
	epochs, repeat := 152, 20 // some 10 M rows
	if o.Smoke {
		epochs, repeat = 2, 1
	}
	s, err := o.startServer(ctx, "read-scan")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	c, err := s.connect(ctx, ingestTable, "CREATE MATERIALIZED VIEW copied WITH (output_mode = 'append') AS SELECT k, v, x, ts FROM events")
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	w := tumbling("read-scan", "bigint", 1000, time.Second, epochs, 0)
	src := newSource(w)
	if err := copyWith("binary", binaryRows)(ctx, c, src, epochs); err != nil {
		return nil, err
	}
	total := &totalModel{}
	w.replay(src.epochs, total)
	n, sum := total.n, total.sum
	var out []Figure
	for _, rel := range []string{"events", "copied"} {
		for _, q := range []struct {
			sql  string
			want []int64
		}{
			{"SELECT count(*), sum(v)::bigint FROM ", []int64{n, sum}},
			{"SELECT count(*) FROM ", []int64{n}},
		} {
			best := time.Duration(1 << 62)
			begin := s.cpu()
			var cpu, first time.Duration
			for i := range 1 + repeat {
				start := time.Now()
				rows, err := textQuery(ctx, c, q.sql+rel)
				if err != nil {
					return nil, err
				}
				best = min(best, time.Since(start))
				if i == 0 { // reads the blocks of the log into the cache
					cpu = s.cpu()
					first = cpu - begin
				}
				if err := compare(rows, q.want...); err != nil {
					return nil, fmt.Errorf("%s%s: %w", q.sql, rel, err)
				}
			}
			cpu = (s.cpu() - cpu) / time.Duration(repeat)
			out = append(out, Figure{"read-scan", strings.TrimSuffix(q.sql, " FROM ") + " of " + rel + ", best", millis(best), "ms", 0, true},
				Figure{"read-scan", "the same, server", millis(cpu), "CPU ms", 0, true},
				Figure{"read-scan", "the same, server, first time", millis(first), "CPU ms", 0, true})
		}
	}
	return out, nil
}

// interference measures what reads take from writes: the rows a second of a writer of small COPYs alone, beside a connection that sends
// SELECTs without a relation as fast as it can, and beside one that reads the writer's view, in turns. What the second takes is a matter of who gets the
// cores, of which on a small machine none is left; what the third takes more is what reading takes from writing.
func interference(ctx context.Context, o *Options) ([]Figure, error) {
	rounds, each := 4, 3*time.Second
	if o.Smoke {
		rounds, each = 1, 100*time.Millisecond
	}
	s, err := o.startServer(ctx, "read-beside-writes")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	c, err := s.connect(ctx, ingestTable, "CREATE MATERIALIZED VIEW by_key AS SELECT k, count(*) AS n, sum(v)::bigint AS s FROM events GROUP BY k")
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	r, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close(ctx)
	src := newSource(tumbling("read-beside-writes", "bigint", 1000, time.Second, 1, 0))
	var alone, busy, both load
	for range rounds {
		if err := alone.run(ctx, c, src, each, nil); err != nil {
			return nil, err
		}
		if err := busy.run(ctx, c, src, each, func(ctx context.Context, k int64) error {
			return scanOne(ctx, r, "SELECT $1::bigint + 1", k)
		}); err != nil {
			return nil, err
		}
		if err := both.run(ctx, c, src, each, func(ctx context.Context, k int64) error {
			if k%10 == 0 {
				return scanOne(ctx, r, "SELECT sum(s)::bigint FROM by_key")
			}
			return scanOne(ctx, r, "SELECT s FROM by_key WHERE k = $1", k%1000)
		}); err != nil {
			return nil, err
		}
	}
	check, err := textQuery(ctx, c, "SELECT sum(n)::bigint FROM by_key")
	if err != nil {
		return nil, err
	}
	seconds := float64(rounds) * each.Seconds()
	const name = "read-beside-writes"
	return []Figure{
		{name, "writer alone", float64(alone.rows) / seconds / 1000, "k rows/s", 0, false},
		{name, "writer beside SELECTs of nothing", float64(busy.rows) / seconds / 1000, "k rows/s", 0, false},
		{name, "SELECTs of nothing", float64(busy.reads) / seconds, "per s", 0, false},
		{name, "writer beside reads of its view", float64(both.rows) / seconds / 1000, "k rows/s", 0, false},
		{name, "reads of its view", float64(both.reads) / seconds, "per s", 0, false},
		{name, "writer beside reads, of nothing = 100", 100 * float64(both.rows) / float64(busy.rows), "%", 75, false},
		{name, "writer beside reads, alone = 100", 100 * float64(both.rows) / float64(alone.rows), "%", 0, false},
	}, compare(check, alone.rows+busy.rows+both.rows)
}

// scanOne runs a query of one number, which may be missing or NULL.
func scanOne(ctx context.Context, c *pgx.Conn, q string, args ...any) error {
	var got *int64
	if err := c.QueryRow(ctx, q, args...).Scan(&got); err != nil && err != pgx.ErrNoRows {
		return err
	}
	return nil
}

// load is what one kind of turn did.
type load struct{ rows, reads int64 }

// run writes for a while, and meanwhile reads again and again.
func (l *load) run(ctx context.Context, writer *pgx.Conn, src *source, d time.Duration, read func(ctx context.Context, k int64) error) error {
	var stop atomic.Bool
	done := make(chan error, 1)
	go func() {
		var err error
		for k := int64(0); read != nil && !stop.Load() && err == nil; k++ {
			err = read(ctx, k)
			l.reads++
		}
		done <- err
	}()
	rows, err := writeFor(ctx, writer, src, d)
	stop.Store(true)
	l.rows += rows
	return errors.Join(err, <-done)
}

// writeFor copies a thousand rows at a time for a while and gives their number.
func writeFor(ctx context.Context, c *pgx.Conn, src *source, d time.Duration) (rows int64, err error) {
	var buf []byte
	for start := time.Now(); time.Since(start) < d; {
		b := src.next()
		for lo := 0; lo < b.N && time.Since(start) < d; lo += 1024 {
			buf = csvRows(buf[:0], b.Slice(lo, lo+1024))
			tag, err := c.PgConn().CopyFrom(ctx, bytes.NewReader(buf), "COPY events FROM STDIN (FORMAT csv)")
			if err != nil {
				return 0, err
			}
			rows += tag.RowsAffected()
		}
	}
	return rows, nil
}
