package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/jackc/pgx/v5"
)

// latency measures from INSERT to visible over the wire, one row at a time, durable, with a view behind it, and beside it what
// an append of 4 KiB with fdatasync costs on the same disk in the same run.
func latency(ctx context.Context, o Options) error {
	n := 3000
	if o.Smoke {
		n = 50
	}
	url, stop, err := o.StartServer()
	if err != nil {
		return err
	}
	defer stop()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	for _, q := range []string{"CREATE STREAM lat (id bigint, k bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 minute')",
		"CREATE MATERIALIZED VIEW lat_v AS SELECT k, count(*) AS n, max(id) AS id FROM lat GROUP BY k"} {
		if _, err := c.Exec(ctx, q); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(os.TempDir()+"/x"), "tidemark-sync-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	page := make([]byte, 4096)
	var inserts, syncs []time.Duration
	for i := range n {
		start := time.Now()
		if _, err := c.Exec(ctx, "INSERT INTO lat VALUES ($1, $2, '2024-01-01')", int64(i), int64(i%10)); err != nil {
			return err
		}
		inserts = append(inserts, time.Since(start))
		if i%20 == 0 {
			var id int64
			if err := c.QueryRow(ctx, "SELECT id FROM lat_v WHERE k = $1", int64(i%10)).Scan(&id); err != nil || id != int64(i) {
				return fmt.Errorf("latency: row %d is not visible after its INSERT (%d, %v)", i, id, err)
			}
		}
		start = time.Now()
		if _, err := f.Write(page); err != nil {
			return err
		}
		if err := fdatasync(f); err != nil {
			return err
		}
		syncs = append(syncs, time.Since(start))
	}
	sort.Slice(inserts, func(i, j int) bool { return inserts[i] < inserts[j] })
	sort.Slice(syncs, func(i, j int) bool { return syncs[i] < syncs[j] })
	at := func(d []time.Duration, p float64) time.Duration { return d[int(float64(len(d)-1)*p)] }
	goal := 300*time.Microsecond + 2*at(syncs, 0.5)
	fmt.Fprintf(o.Out, "\nINSERT to visible, one row, durable, over the wire: p50 %v, p99 %v; append of 4 KiB with fdatasync: p50 %v, p99 %v; goal p50 at most 0.3 ms + 2 x %v = %v\n",
		at(inserts, 0.5).Round(time.Microsecond), at(inserts, 0.99).Round(time.Microsecond), at(syncs, 0.5).Round(time.Microsecond), at(syncs, 0.99).Round(time.Microsecond),
		at(syncs, 0.5).Round(time.Microsecond), goal.Round(time.Microsecond))
	return nil
}
