package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// views measures many views on one stream: events a second and core with one view and with many that filter and window alike, what an epoch
// costs views that have nothing to do, and how fast a view that is created late catches up.
func views(ctx context.Context, o Options) error {
	many, epochs, history := 1000, 8, 10_000_000
	if o.Smoke {
		many, epochs, history = 20, 2, 200_000
	}
	fmt.Fprintf(o.Out, "\nMany views on one stream: count and sum of a ten-second window by one of ten expressions of the key, of one row in ten\n\n%-44s %12s %14s\n", "", "M ev/s/c", "M ev x views/s/c")
	for _, n := range []int{1, many} {
		if err := manyViews(ctx, o, n, epochs); err != nil {
			return fmt.Errorf("views: %w", err)
		}
	}
	return lateView(ctx, o, history)
}

// openViews opens a database with the stream ev (k, v, ts) and the table other (id).
func openViews(ctx context.Context) (*database, error) {
	return openDatabase(ctx, engine.Options{}, "CREATE STREAM ev (k bigint, v bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 second')", "CREATE TABLE other (id bigint PRIMARY KEY)")
}

// viewRows gives epoch i of the stream: keys 0 to 999 in turn, values by number, a tenth of a second an epoch.
func viewRows(b *batch.Batch, i, rows int) *batch.Batch {
	if b == nil {
		b = batch.New([]types.Type{types.Of(types.Int8), types.Of(types.Int8), types.Of(types.Timestamp)}, rows)
	}
	b.Reset()
	for r := range rows {
		n := int64(i)*int64(rows) + int64(r)
		b.Cols[0].AppendInt(n % 1000)
		b.Cols[1].AppendInt(n)
		b.Cols[2].AppendInt(1_700_000_000_000_000 + int64(i)*100_000)
	}
	b.N = rows
	return b
}

func manyViews(ctx context.Context, o Options, n, epochs int) error {
	d, err := openViews(ctx)
	if err != nil {
		return err
	}
	defer d.close()
	e, s := d.e, d.s
	for i := range n {
		q := fmt.Sprintf("CREATE MATERIALIZED VIEW v%d AS SELECT window.end AS w, k %% %d AS g, count(*) AS n, sum(v) AS s FROM ev WHERE v %% 10 = 0 GROUP BY window(ts, '10 seconds'), 2", i, i%10+2)
		if _, err := query(ctx, s, q); err != nil {
			return err
		}
	}
	const rows = 1 << 14
	var bufs [2]*batch.Batch
	feed := func(i int) error {
		bufs[i%2] = viewRows(bufs[i%2], i, rows)
		return e.Feed(ctx, "public", "ev", bufs[i%2])
	}
	if err := feed(0); err != nil {
		return err
	}
	if n == 1 {
		epochs *= 100
	}
	cpu := processCPU()
	for i := 1; i <= epochs; i++ {
		if err := feed(i); err != nil {
			return err
		}
	}
	rate := float64(epochs*rows) / (processCPU() - cpu).Seconds() / 1e6
	fmt.Fprintf(o.Out, "%-44s %12.3f %14.1f\n", fmt.Sprintf("%d views", n), rate, rate*float64(n))
	total := int64(epochs+1) * rows
	want := (total + 9) / 10
	for _, i := range []int{0, n / 2, n - 1} {
		got, err := query(ctx, s, fmt.Sprintf("SELECT sum(n)::bigint, sum(s)::bigint FROM v%d", i))
		if err == nil {
			err = compare(got, want, (want-1)*want/2*10)
		}
		if err != nil {
			return fmt.Errorf("v%d: %w", i, err)
		}
	}
	idle := 2000
	if o.Smoke {
		idle = 50
	}
	start, cpu := time.Now(), processCPU()
	for i := range idle {
		if _, err := query(ctx, s, fmt.Sprintf("INSERT INTO other VALUES (%d)", i)); err != nil {
			return err
		}
	}
	fmt.Fprintf(o.Out, "%-44s %12.0f us CPU, %.0f us\n", fmt.Sprintf("an INSERT elsewhere, %d views idle", n), float64((processCPU()-cpu).Microseconds())/float64(idle), float64(time.Since(start).Microseconds())/float64(idle))
	return nil
}

// lateView creates a view on a history that the log keeps.
func lateView(ctx context.Context, o Options, history int) error {
	d, err := openViews(ctx)
	if err != nil {
		return err
	}
	defer d.close()
	s := d.s
	const rows = 100_000
	for i := range history / rows {
		q := fmt.Sprintf("INSERT INTO ev SELECT i %% 1000, i, timestamp '2024-01-01' + i * interval '10 microseconds' FROM generate_series(%d::bigint, %d) AS i", i*rows, (i+1)*rows-1)
		if _, err := query(ctx, s, q); err != nil {
			return err
		}
	}
	start, cpu := time.Now(), processCPU()
	if _, err := query(ctx, s, "CREATE MATERIALIZED VIEW late AS SELECT k, count(*) AS n, sum(v) AS s FROM ev GROUP BY k"); err != nil {
		return err
	}
	got, err := query(ctx, s, "SELECT count(*), sum(n)::bigint, sum(s)::bigint FROM late") // waits until it is filled
	if err != nil {
		return err
	}
	cpuTook, took, n := processCPU()-cpu, time.Since(start), int64(history)
	if err := compare(got, min(1000, n), n, n*(n-1)/2); err != nil {
		return fmt.Errorf("late view: %w", err)
	}
	fmt.Fprintf(o.Out, "%-44s %12.2f M rows/s/c, %.2f s\n", fmt.Sprintf("a view created on %d rows of history", history), float64(history)/cpuTook.Seconds()/1e6, took.Seconds())
	return nil
}
