package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// recovery measures the start of a server over nothing, and from a kill -9 with much state to the first right answer: right after a
// checkpoint, and with rows since that are to be replayed.
func recovery(ctx context.Context, o *Options) ([]Figure, error) {
	keys, since := int64(10_000_000), int64(1_000_000)
	if o.Smoke {
		keys, since = 50_000, 5000
	}
	start := time.Now()
	s, err := o.startServer(ctx, "recovery")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	out := []Figure{{"recovery", "start over nothing", time.Since(start).Seconds(), "s", 0.1, true},
		{"recovery", "CPU time of that", s.cpu().Seconds(), "s", 0, false}}
	c, err := s.connect(ctx, "CREATE STREAM ev (k bigint, v bigint)",
		"CREATE MATERIALIZED VIEW v AS SELECT k, count(*) AS n, sum(v)::bigint AS s FROM ev GROUP BY k")
	if err != nil {
		return nil, err
	}
	insert := func(lo, hi int64) error {
		for ; lo < hi; lo += 250_000 {
			if _, err := c.Exec(ctx, fmt.Sprintf("INSERT INTO ev SELECT k, 3 * k FROM generate_series(%d::bigint, %d) AS k", lo, min(hi, lo+250_000)-1)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := insert(0, keys); err != nil {
		return nil, err
	}
	for _, replay := range []int64{0, since} {
		if _, err := c.Exec(ctx, "CHECKPOINT"); err != nil {
			return nil, err
		}
		if err := insert(0, replay); err != nil {
			return nil, err
		}
		_ = c.Close(ctx)
		if err := s.cmd.Process.Kill(); err != nil {
			return nil, err
		}
		_ = s.cmd.Wait()
		start := time.Now()
		if err := s.start(ctx, o.Binary, nil); err != nil {
			return nil, err
		}
		if c, err = pgx.Connect(ctx, s.url); err != nil {
			return nil, err
		}
		for i, k := range []int64{0, keys / 2, keys - 1} {
			n, sum := int64(1), 3*k
			if k < replay {
				n, sum = 2, 2*sum
			}
			var gotN, gotSum int64
			if err := c.QueryRow(ctx, "SELECT n, s FROM v WHERE k = $1", k).Scan(&gotN, &gotSum); err != nil {
				return nil, err
			}
			if gotN != n || gotSum != sum {
				return nil, fmt.Errorf("recovery: key %d has %d, %d, want %d, %d", k, gotN, gotSum, n, sum)
			}
			if i == 0 {
				out = append(out, Figure{"recovery", fmt.Sprintf("kill to answer, %d rows replayed", replay), time.Since(start).Seconds(), "s", 2, true},
					Figure{"recovery", "CPU time until then", s.cpu().Seconds(), "s", 0, false})
			}
		}
		// The state goes on where it was.
		start = time.Now()
		if _, err := c.Exec(ctx, "INSERT INTO ev VALUES ($1, 1)", keys-1); err != nil {
			return nil, err
		}
		out = append(out, Figure{"recovery", "first INSERT after it", time.Since(start).Seconds(), "s", 0, false})
		var n int64
		if err := c.QueryRow(ctx, "SELECT n FROM v WHERE k = $1", keys-1).Scan(&n); err != nil || n != 2 {
			return nil, fmt.Errorf("recovery: %d, %v", n, err)
		}
		if _, err := c.Exec(ctx, "INSERT INTO ev VALUES ($1, -1)", keys); err != nil {
			return nil, err
		}
		keys-- // that key is not as the others any more
	}
	return out, c.Close(ctx)
}
