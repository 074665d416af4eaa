package bench

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// readClients is how many connections read at once.
const readClients = 8

// pointReads measures SELECTs of one row by key, prepared, from a view of a million keys and from a table.
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
		fmt.Sprintf("INSERT INTO things SELECT k, 3 * k FROM generate_series(0, %d) AS k", keys/10-1))
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
	} {
		cpu, start := s.cpu(), time.Now()
		n, err := readKeys(ctx, s, q.sql, q.keys, each)
		if err != nil {
			return nil, err
		}
		cpu, wall := s.cpu()-cpu, time.Since(start)
		out = append(out, Figure{"read-points", q.what + ", server", float64(n) / max(cpu.Seconds(), 0.01) / 1000, "k/s/core", q.goal, false},
			Figure{"read-points", q.what + ", client and server", float64(n) / wall.Seconds() / 1000, "k/s", 0, false})
	}
	return out, nil
}

// readKeys reads random keys from several connections for a while; the value of a key is three times the key.
func readKeys(ctx context.Context, s *server, sql string, keys int64, d time.Duration) (int64, error) {
	var wg sync.WaitGroup
	var total atomic.Int64
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
			rnd := &source{rnd: 88172645463325252 + uint64(i)}
			for time.Now().Before(until) {
				k := int64(rnd.random() >> 1 % uint64(keys))
				var got int64
				if err := c.QueryRow(ctx, sql, k).Scan(&got); err != nil || got != 3*k {
					errs[i] = fmt.Errorf("key %d reads as %d: %w", k, got, err)
					return
				}
				total.Add(1)
			}
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return total.Load(), nil
}

// scans measures aggregates over all rows of a stream and of an append-only view.
func scans(ctx context.Context, o *Options) ([]Figure, error) {
	epochs, repeat := 152, 5 // some 10 M rows
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
			cpu := s.cpu()
			for range repeat {
				start := time.Now()
				rows, err := textQuery(ctx, c, q.sql+rel)
				if err != nil {
					return nil, err
				}
				best = min(best, time.Since(start))
				if err := compare(rows, q.want...); err != nil {
					return nil, fmt.Errorf("%s%s: %w", q.sql, rel, err)
				}
			}
			cpu = (s.cpu() - cpu) / time.Duration(repeat)
			out = append(out, Figure{"read-scan", strings.TrimSuffix(q.sql, " FROM ") + " of " + rel + ", best", millis(best), "ms", 0, true},
				Figure{"read-scan", "the same, server", millis(cpu), "CPU ms", 0, true})
		}
	}
	return out, nil
}

// interference measures what reads take from writes: the rows a second that one writer of small COPYs reaches, alone and beside readers, in turns.
func interference(ctx context.Context, o *Options) ([]Figure, error) {
	rounds, each := 3, 4*time.Second
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
	src := newSource(tumbling("read-beside-writes", "bigint", 1000, time.Second, 1, 0))
	rows := map[bool]int64{}
	var reads int64
	for range rounds {
		for _, beside := range []bool{false, true} {
			rctx, cancel := context.WithCancel(ctx)
			var wg sync.WaitGroup
			var n atomic.Int64
			if beside {
				r, err := s.connect(ctx)
				if err != nil {
					cancel()
					return nil, err
				}
				wg.Add(1)
				go func() { defer wg.Done(); readWhile(rctx, r, &n); _ = r.Close(ctx) }()
			}
			got, err := writeFor(ctx, c, src, each)
			cancel()
			wg.Wait()
			if err != nil {
				return nil, err
			}
			rows[beside], reads = rows[beside]+got, reads+n.Load()
		}
	}
	total := float64(rounds) * each.Seconds()
	check, err := textQuery(ctx, c, "SELECT sum(n)::bigint FROM by_key")
	if err != nil {
		return nil, err
	}
	return []Figure{
		{"read-beside-writes", "writer alone", float64(rows[false]) / total / 1000, "k rows/s", 0, false},
		{"read-beside-writes", "writer beside a reader", float64(rows[true]) / total / 1000, "k rows/s", 0, false},
		{"read-beside-writes", "share that is left", 100 * float64(rows[true]) / float64(rows[false]), "%", 75, false},
		{"read-beside-writes", "reads meanwhile", float64(reads) / total, "per s", 0, false},
	}, compare(check, rows[false]+rows[true])
}

// readWhile reads the view, by key and whole, until ctx ends.
func readWhile(ctx context.Context, c *pgx.Conn, n *atomic.Int64) {
	for k := int64(0); ctx.Err() == nil; k = (k + 1) % 1000 {
		q, args := "SELECT s FROM by_key WHERE k = $1", []any{k}
		if k%10 == 0 {
			q, args = "SELECT sum(s)::bigint FROM by_key", nil
		}
		var got *int64
		if err := c.QueryRow(ctx, q, args...).Scan(&got); err == nil || err == pgx.ErrNoRows {
			n.Add(1)
		}
	}
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
