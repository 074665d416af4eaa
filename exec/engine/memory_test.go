package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestMemoryParts: what of a budget has which size. State that is kept leaves room for filters, and both for what is yet to be written.
func TestMemoryParts(t *testing.T) {
	for _, budget := range []int64{16 << 20, 48 << 20, 100 << 20, 512 << 20, 4 << 30} {
		o := &Options{MemoryBytes: budget}
		if much, most := o.muchState(), o.mostState(); much >= most || o.cacheBytes()+most > max(budget, 16<<20) {
			t.Errorf("budget %d: cache %d, much %d, most %d", budget, o.cacheBytes(), much, most)
		}
		whole := o.keptState(0)
		for filters, last := int64(0), whole; filters < o.ownBytes(); filters += o.ownBytes() / 64 {
			kept := o.keptState(filters)
			if kept > last || kept > whole || kept < whole/4*3-16 {
				t.Errorf("budget %d, filters of %d: %d is kept, %d with less of them, %d without", budget, filters, kept, last, whole)
			}
			if last = kept; filters <= o.ownBytes()/16*3 && kept+filters > o.muchState() {
				t.Errorf("budget %d: filters of %d and kept state of %d leave nothing of %d", budget, filters, kept, o.muchState())
			}
		}
	}
}

// TestMemoryBounded: however quickly state comes about, it stays within what epochs wait for and what one of them makes, with copies for a checkpoint and contents
// that are not on disk. A checkpoint does not wait for time to pass.
func TestMemoryBounded(t *testing.T) {
	const rows, epochs = 1 << 15, 16
	c := &clocked{t: t, o: Options{Dir: t.TempDir(), MemoryBytes: 16 << 20, CheckpointInterval: time.Hour}}
	c.open()
	e := c.e
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	c.exec(`CREATE STREAM s (k bigint, v bigint)`, `CREATE MATERIALIZED VIEW a AS SELECT k, count(*) AS n, sum(v) AS v FROM s GROUP BY k`)
	b := batch.New([]types.Type{types.Of(types.Int8), types.Of(types.Int8)}, rows)
	grown, most := int64(0), int64(0)
	for i := range int64(epochs) {
		b.Reset()
		for j := range int64(rows) {
			b.Cols[0].AppendInt((i*rows + j) * 514_229 % (rows * epochs))
			b.Cols[1].AppendInt(1)
			b.N++
		}
		if err := e.Feed(context.Background(), "public", "s", b); err != nil {
			t.Fatal(err)
		}
		if err := e.do(func() {
			used := e.countMemory() + e.toCopy
			if i == 0 {
				grown = used
			}
			most = max(most, used)
		}); err != nil {
			t.Fatal(err)
		}
	}
	if limit := e.opts.mostState() + 2*grown; most > limit {
		t.Errorf("state takes up to %d bytes, not %d; one epoch makes %d", most, limit, grown)
	}
	c.want(`SELECT count(*), sum(n), sum(v) FROM a`, "524288,524288,524288")
}

// TestStoppedViewIsNotWritten: what a view has in memory that does not run is in no checkpoint, so one is not brought forward for it again and again.
func TestStoppedViewIsNotWritten(t *testing.T) {
	for name, stop := range map[string]func(e *Engine, c *clocked){
		"paused": func(_ *Engine, c *clocked) { c.exec(`ALTER MATERIALIZED VIEW a PAUSE`) },
		"failed": func(e *Engine, c *clocked) {
			if err := e.do(func() { e.views[0].setStatus(viewFailed, errors.New("it failed")) }); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := openClocked(t)
			e := c.e
			c.exec(`CREATE STREAM s (k bigint)`, `CREATE STREAM r (k bigint)`,
				`CREATE MATERIALIZED VIEW a AS SELECT k, count(*) AS n FROM s GROUP BY k`,
				`CREATE MATERIALIZED VIEW b AS SELECT count(*) AS n FROM r`,
				`INSERT INTO s SELECT g FROM generate_series(1, 250000) g`)
			stop(e, c)
			if err := e.do(func() { e.opts.MemoryBytes, e.opts.CheckpointInterval = 16<<20, time.Hour }); err != nil {
				t.Fatal(err)
			}
			const inserts = 100
			start, made, last := time.Now(), 0, e.checkpointEpoch.Load()
			for range inserts {
				c.exec(`INSERT INTO r VALUES (1)`)
				if at := e.checkpointEpoch.Load(); at != last {
					made, last = made+1, at
				}
			}
			took := time.Since(start)
			if err := e.do(func() {
				if used := e.countMemory(); used <= e.opts.muchState() || e.unwritten > 1<<20 || e.toCopy > 1<<20 {
					t.Errorf("%d bytes are in memory, %d of them unwritten, %d would be copied", used, e.unwritten, e.toCopy)
				}
			}); err != nil {
				t.Fatal(err)
			}
			if most := int(took/minCheckpointInterval) + 2; made > most {
				t.Errorf("%d checkpoints in %v for %d rows, want %d at most", made, took, inserts, most)
			}
			c.want(`SELECT n FROM b`, "100")
		})
	}
}
