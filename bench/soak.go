package bench

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Soak: a key lives for five minutes of event time, so that at any time soakKeys are alive, and five times as many come and go
// after the first ones in half an hour.
const (
	soakKeys    = 1_000_000
	soakMinutes = 30
	soakLife    = 5 // minutes
	soakEpoch   = 4 * time.Second
	soakMemory  = 4 << 30
)

// soakViews keep state by key in every way that a watermark bounds, and few rows of their own.
var soakViews = []struct{ name, query string }{
	{"tumbling", "SELECT w, count(*) AS keys, sum(n) AS n FROM (SELECT window(ts, '1 minute') AS w, k, count(*) AS n FROM ev GROUP BY 1, 2) x GROUP BY w"},
	{"sessions", "SELECT window(w, '5 minutes') AS sw, count(*) AS sessions, sum(n) AS n FROM (SELECT session_window(ts, '2 minutes') AS w, k, count(*) AS n FROM ev GROUP BY 1, 2) x GROUP BY 1"},
	{"dedup", "SELECT window(ts, '1 minute') AS w, count(*) AS n FROM (SELECT DISTINCT ON (k, ts) k, ts FROM ev) x GROUP BY 1"},
	{"within", "SELECT window(ts, '1 minute') AS w, count(*) AS n FROM (SELECT DISTINCT ON (k) WITHIN WATERMARK k, ts FROM ev) x GROUP BY 1"},
	{"joined", "SELECT window(ts, '1 minute') AS w, count(*) AS n FROM (SELECT e.ts FROM ev e JOIN ac a ON e.k = a.k AND a.ts BETWEEN e.ts AND e.ts + INTERVAL '1 minute') x GROUP BY 1"},
	{"unanswered", "SELECT window(ts, '1 minute') AS w, count(*) AS n FROM (SELECT a.ts FROM ac a LEFT ANTI JOIN ev e ON e.k = a.k AND e.ts BETWEEN a.ts AND a.ts + INTERVAL '1 minute') x GROUP BY 1"},
}

// soak runs half an hour of event time with keys that come and go, prints the state rows of each view and the memory of the
// process as time passes, and fails if state has not levelled off.
func soak(ctx context.Context, o Options) error {
	keys, minutes := int64(soakKeys), soakMinutes
	if o.Smoke {
		keys = 5000
	}
	defer engine.LimitMemory(0)
	engine.LimitMemory(soakMemory)
	d, err := openDatabase(ctx, engine.Options{MemoryBytes: soakMemory, CheckpointInterval: time.Minute},
		"CREATE STREAM ev (k bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 minute')",
		"CREATE STREAM ac (k bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 minute')")
	if err != nil {
		return err
	}
	defer d.close()
	e, s := d.e, d.s
	fmt.Fprintf(o.Out, "\nSoak: %d keys alive, each for %d minutes of event time; state rows by view\n\n%-8s %10s", keys, soakLife, "minute", "keys seen")
	for _, v := range soakViews {
		if _, err := query(ctx, s, "CREATE MATERIALIZED VIEW "+v.name+" WITH (output_mode = 'append') AS "+v.query); err != nil {
			return fmt.Errorf("soak: %s: %w", v.name, err)
		}
		fmt.Fprintf(o.Out, " %10s", v.name)
	}
	fmt.Fprintf(o.Out, " %9s %8s %8s\n", "state MB", "heap MB", "RSS MB")
	src := &soakSource{keys: keys, rnd: newXorshift(0)}
	var half, last int64
	for m := 1; m <= minutes; m++ {
		for range time.Minute / soakEpoch {
			if err := src.feed(ctx, e); err != nil {
				return err
			}
		}
		if m%3 != 0 {
			continue
		}
		if last, err = src.report(ctx, s, o, m); err != nil {
			return err
		}
		o.figures.add(Figure{Workload: "soak", Name: fmt.Sprintf("state after %d minutes", m), Value: float64(last), Unit: "rows"})
		if m*2 <= minutes {
			half = last
		}
	}
	if float64(last) > 1.1*float64(half) {
		return fmt.Errorf("soak: state grows: %d rows after half of the time, %d at its end", half, last)
	}
	return nil
}

// soakSource makes the two streams: each key that is alive is seen at random, by ev about 2.4 times and by ac a fifth as often; rows are up to
// twenty seconds out of order.
type soakSource struct {
	keys   int64
	rnd    xorshift
	epochs int64
}

func (s *soakSource) feed(ctx context.Context, e *engine.Engine) error {
	n := int(s.keys * int64(soakEpoch/time.Second) / 125)
	if err := e.Feed(ctx, "public", "ev", s.batch(n)); err != nil {
		return err
	}
	err := e.Feed(ctx, "public", "ac", s.batch(n/5))
	s.epochs++
	return err
}

func (s *soakSource) seconds() int64 { return s.epochs * int64(soakEpoch/time.Second) }

func (s *soakSource) batch(n int) *batch.Batch {
	b := batch.New([]types.Type{types.Of(types.Int8), types.Of(types.Timestamp)}, n)
	first := s.keys * s.seconds() / (soakLife * 60)
	now := int64(1_700_000_000_000_000) + s.epochs*soakEpoch.Microseconds()
	for range n {
		x := s.rnd.next()
		b.Cols[0].AppendInt(first + int64(x>>32)%s.keys)
		b.Cols[1].AppendInt(now - int64(x&0xffffff)%20_000_000/1000*1000)
	}
	b.N = n
	return b
}

// report prints a line and gives the state rows of all views.
func (s *soakSource) report(ctx context.Context, sn session.Session, o Options, minute int) (int64, error) {
	rows, err := query(ctx, sn, "SELECT view_name, sum(num_rows_total)::bigint, sum(memory_used_bytes)::bigint FROM tidemark.state_operators GROUP BY view_name")
	if err != nil {
		return 0, err
	}
	by, total, bytes := map[string]int64{}, int64(0), int64(0)
	for _, r := range rows {
		n, _ := strconv.ParseInt(r[1], 10, 64)
		m, _ := strconv.ParseInt(r[2], 10, 64)
		by[r[0]], total, bytes = n, total+n, bytes+m
	}
	var line strings.Builder
	fmt.Fprintf(&line, "%-8d %10d", minute, s.keys+s.keys*s.seconds()/(soakLife*60))
	for _, v := range soakViews {
		fmt.Fprintf(&line, " %10d", by[v.name])
	}
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	fmt.Fprintf(o.Out, "%s %9.1f %8d %8d\n", line.String(), float64(bytes)/(1<<20), mem.HeapAlloc>>20, rss()>>20)
	return total, nil
}
