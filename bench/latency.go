package bench

import (
	"context"
	"fmt"
	"os"
	"sort"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// latency measures from INSERT to visible over the wire, one row at a time, durable, with one view behind the stream and with a hundred: from one
// connection on an idle server, and at a tenth and at half of the rate that many connections reach, from the moment at which a
// row was due. Beside it stands what an append of 4 KiB with fdatasync costs on the same disk in the same run.
func latency(ctx context.Context, o *Options) ([]Figure, error) {
	syncs, err := syncTimes(o)
	if err != nil {
		return nil, err
	}
	p50 := at(syncs, 0.5)
	all := []Figure{
		{"latency", "append of 4 KiB with fdatasync, p50", millis(p50), "ms", 0, false},
		{"latency", "append of 4 KiB with fdatasync, p99", millis(at(syncs, 0.99)), "ms", 0, false},
	}
	for _, views := range []int{1, 100} {
		f, err := latencyWith(ctx, o, views, p50)
		if err != nil {
			return nil, err
		}
		all = append(all, f...)
	}
	return all, nil
}

// syncTimes gives sorted times of an append with fdatasync.
func syncTimes(o *Options) ([]time.Duration, error) {
	f, err := os.CreateTemp("", "tidemark-sync-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	n := 1000
	if o.Smoke {
		n = 20
	}
	page := make([]byte, 4096)
	var out []time.Duration
	for range n {
		start := time.Now()
		if _, err := f.Write(page); err != nil {
			return nil, err
		}
		if err := fdatasync(f); err != nil {
			return nil, err
		}
		out = append(out, time.Since(start))
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out, nil
}

// at gives a quantile of sorted times.
func at(d []time.Duration, p float64) time.Duration { return d[int(float64(len(d)-1)*p)] }

// latencyClients is how many connections insert at a rate.
const latencyClients = 32

// latencyWith measures with a number of views.
func latencyWith(ctx context.Context, o *Options, views int, sync time.Duration) ([]Figure, error) {
	name := fmt.Sprintf("latency-%d-views", views)
	s, err := o.startServer(ctx, name)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	ddl := []string{"CREATE STREAM lat (id bigint, k bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 minute')"}
	for i := range views {
		ddl = append(ddl, fmt.Sprintf("CREATE MATERIALIZED VIEW lat_v%d AS SELECT k, count(*) AS n, max(id) AS id FROM lat GROUP BY k", i))
	}
	c, err := s.connect(ctx, ddl...)
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	l := &latencyRun{ctx: ctx, s: s}
	if err := l.connect(); err != nil {
		return nil, err
	}
	defer l.close()
	idle, peakFor, atRate := 3000, 3*time.Second, 15*time.Second
	if o.Smoke {
		idle, peakFor, atRate = 40, 50*time.Millisecond, 100*time.Millisecond
	}
	alone, err := l.alone(c, idle)
	if err != nil {
		return nil, err
	}
	goal := 0.0
	if views == 1 {
		goal = 0.3 + 2*millis(sync)
	}
	out := quantiles(name, "idle", alone, goal, 0)
	rate, err := l.peak(peakFor)
	if err != nil {
		return nil, err
	}
	out = append(out, Figure{name, "peak, 32 connections", rate / 1000, "k rows/s", 0, false})
	for _, share := range []float64{0.1, 0.5} {
		d, err := l.paced(rate*share, atRate)
		if err != nil {
			return nil, err
		}
		p99 := 0.0
		if share == 0.5 {
			p99 = 10
		}
		out = append(out, quantiles(name, fmt.Sprintf("%.0f %% of peak", 100*share), d, 0, p99)...)
	}
	rows, err := textQuery(ctx, c, fmt.Sprintf("SELECT sum(n)::bigint FROM lat_v%d", views-1))
	if err != nil {
		return nil, err
	}
	return out, compare(rows, l.rows)
}

// quantiles gives the figures of sorted times.
func quantiles(name, load string, d []time.Duration, goal50, goal99 float64) []Figure {
	return []Figure{
		{name, load + ", p50", millis(at(d, 0.5)), "ms", goal50, true},
		{name, load + ", p99", millis(at(d, 0.99)), "ms", goal99, true},
		{name, load + ", longest", millis(d[len(d)-1]), "ms", 0, true},
	}
}

// latencyRun is what the loads of one server share.
type latencyRun struct {
	ctx   context.Context
	s     *server
	conns []*pgx.Conn
	rows  int64 // inserted so far
}

func (l *latencyRun) connect() error {
	for range latencyClients {
		c, err := l.s.connect(l.ctx)
		if err != nil {
			return err
		}
		l.conns = append(l.conns, c)
	}
	return nil
}

func (l *latencyRun) close() {
	for _, c := range l.conns {
		_ = c.Close(l.ctx)
	}
}

const latencyInsert = "INSERT INTO lat VALUES ($1, $2, '2024-01-01')"

// alone inserts from one connection and looks now and then whether what it inserted is there.
func (l *latencyRun) alone(c *pgx.Conn, n int) ([]time.Duration, error) {
	var out []time.Duration
	for i := range n {
		start := time.Now()
		if _, err := c.Exec(l.ctx, latencyInsert, int64(i), int64(i%10)); err != nil {
			return nil, err
		}
		out = append(out, time.Since(start))
		l.rows++
		if i%20 == 0 {
			var id int64
			if err := c.QueryRow(l.ctx, "SELECT id FROM lat_v0 WHERE k = $1", int64(i%10)).Scan(&id); err != nil || id != int64(i) {
				return nil, fmt.Errorf("row %d is not visible after its INSERT (%d, %v)", i, id, err)
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out, nil
}

// peak inserts from all connections as fast as they can, and gives rows a second.
func (l *latencyRun) peak(d time.Duration) (float64, error) {
	start := time.Now()
	times, err := l.each(func(_, n int, _ time.Time) (time.Time, bool) { return time.Time{}, time.Since(start) < d })
	return float64(len(times)) / time.Since(start).Seconds(), err
}

// paced inserts at a rate, whatever the server does, and gives the times from when a row was due until it was visible.
func (l *latencyRun) paced(rate float64, d time.Duration) ([]time.Duration, error) {
	gap := time.Duration(float64(time.Second) * latencyClients / rate)
	return l.each(func(i, n int, start time.Time) (time.Time, bool) {
		due := time.Duration(n)*gap + gap*time.Duration(i)/latencyClients
		return start.Add(due), due < d
	})
}

// each inserts from all connections, the n-th row of connection i when due says, and gives the sorted times.
func (l *latencyRun) each(due func(i, n int, start time.Time) (at time.Time, more bool)) ([]time.Duration, error) {
	var wg sync.WaitGroup
	times, errs := make([][]time.Duration, len(l.conns)), make([]error, len(l.conns))
	start := time.Now()
	for i, c := range l.conns {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; ; n++ {
				at, more := due(i, n, start)
				if !more {
					return
				}
				if at.IsZero() {
					at = time.Now()
				}
				time.Sleep(time.Until(at))
				if _, errs[i] = c.Exec(l.ctx, latencyInsert, int64(n), int64(n%1000)); errs[i] != nil {
					return
				}
				times[i] = append(times[i], time.Since(at))
			}
		}()
	}
	wg.Wait()
	var out []time.Duration
	for i := range times {
		if errs[i] != nil {
			return nil, errs[i]
		}
		out = append(out, times[i]...)
	}
	l.rows += int64(len(out))
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	if len(out) == 0 {
		return nil, fmt.Errorf("nothing was inserted")
	}
	return out, nil
}
