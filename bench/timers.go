package bench

import (
	"context"
	"fmt"
	"runtime"
	"sort"
	"sync/atomic"
	"time"

	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

const timerProcessor = `CREATE PROCESSOR reminder RETURNS TABLE (k bigint, at timestamp) LANGUAGE starlark AS $$
def init(self, handle):
    self.handle = handle

def handleInputRows(self, key, rows, timerValues):
    self.handle.registerTimer(millis(rows[0].ts) + 3600000)
    return None

def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
    return [(key[0], timestamp(expiredTimerInfo.getExpiryTimeInMs()))]
$$`

// timers registers a timer for each of a million keys, lets one watermark reach them all, and prints the memory that a timer takes, the
// CPU that it costs to register and to fire, and what an INSERT into another stream waits meanwhile.
func timers(ctx context.Context, o Options) error {
	n := 1_000_000
	if o.Smoke {
		n = 20_000
	}
	d, err := openDatabase(ctx, engine.Options{}, "CREATE STREAM ev (k bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 minute')", timerProcessor,
		"CREATE MATERIALIZED VIEW r WITH (output_mode = 'append') AS SELECT * FROM transform_with_state(TABLE ev PARTITION BY k, processor => 'reminder', time_mode => 'event_time')",
		"CREATE STREAM other (id bigint)", "CREATE MATERIALIZED VIEW others AS SELECT count(*) FROM other")
	if err != nil {
		return err
	}
	defer d.close()
	e, s := d.e, d.s
	heap0, cpu := heap(), processCPU()
	rnd := newXorshift(0)
	for k := 0; k < n; {
		b := batch.New([]types.Type{types.Of(types.Int8), types.Of(types.Timestamp)}, epochRows)
		for ; k < n && b.N < epochRows; k++ {
			b.Cols[0].AppendInt(int64(k) * 7919 % int64(n))
			b.Cols[1].AppendInt(int64(1_700_000_000_000_000) + int64(rnd.next()%100))
			b.N++
		}
		if err := e.Feed(ctx, "public", "ev", b); err != nil {
			return err
		}
	}
	registered := processCPU() - cpu
	memory := heap() - heap0
	idle, err := insertLatency(ctx, e, func(done int) bool { return done >= 200 || o.Smoke && done >= 5 })
	if err != nil {
		return err
	}
	cpu = processCPU()
	var fired atomic.Bool
	waited := make(chan error, 1)
	var busy []time.Duration
	go func() {
		var err error
		busy, err = insertLatency(ctx, e, func(int) bool { return fired.Load() })
		waited <- err
	}()
	if _, err = query(ctx, s, "ADVANCE WATERMARK OF ev TO '2023-11-15 12:00:00'"); err != nil {
		return err
	}
	for got := int64(0); got < int64(n); time.Sleep(20 * time.Millisecond) {
		if got, err = count(ctx, s, "SELECT count(*) FROM r"); err != nil {
			return err
		}
	}
	firing := processCPU() - cpu
	fired.Store(true)
	if err := <-waited; err != nil {
		return err
	}
	at := func(d []time.Duration, p float64) time.Duration {
		return d[int(float64(len(d)-1)*p)].Round(time.Microsecond)
	}
	_, err = fmt.Fprintf(o.Out, "\n%d timers: %.0f bytes each in memory; CPU of the process, with the INSERTs, %.2f microseconds each to register and %.2f to fire.\n"+
		"An INSERT into another stream took p50 %v before, and p50 %v, longest %v while they fired (%d INSERTs)\n", n, float64(memory)/float64(n),
		micros(registered)/float64(n), micros(firing)/float64(n), at(idle, 0.5), at(busy, 0.5), at(busy, 1), len(busy))
	return err
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// insertLatency inserts one row after the other until enough says so, and gives how long each took, sorted.
func insertLatency(ctx context.Context, e *engine.Engine, enough func(done int) bool) ([]time.Duration, error) {
	s, err := e.NewSession(session.Params{User: "bench", Database: "bench"})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var took []time.Duration
	for len(took) == 0 || !enough(len(took)) {
		start := time.Now()
		if _, err := query(ctx, s, "INSERT INTO other VALUES (1)"); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
	return took, nil
}
