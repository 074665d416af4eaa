package planner_test

import (
	"slices"
	"testing"

	"github.com/tidemarkdb/tidemark/planner/plan"
)

// How far the columns of a query may be behind its watermark, and how far its operators go behind it, from the root down. Those numbers
// follow from what may still come, by hand: of a stream, times t >= w + 1; of a window that is open at w, ends e >= w + 1, or e >= w + 1000
// if ends are whole milliseconds as w is; window_time is e - 1.
func TestMarkLags(t *testing.T) {
	db := newTestDB()
	if _, err := db.exec(`CREATE STREAM s (k bigint, v bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 minute');
		CREATE STREAM r (k bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 minute');
		CREATE MATERIALIZED VIEW even WITH (output_mode = 'append') AS SELECT window AS w, window_time(window) AS wt, count(*) AS n FROM s GROUP BY window(ts, '10 minutes');
		CREATE MATERIALIZED VIEW odd WITH (output_mode = 'append') AS SELECT window AS w, window_time(window) AS wt, count(*) AS n FROM s GROUP BY window(ts, '1.0005 seconds');
		CREATE MATERIALIZED VIEW ses WITH (output_mode = 'append') AS SELECT session_window AS w, window_time(session_window) AS wt, k FROM s GROUP BY session_window(ts, '10 minutes'), k`, false); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sql       string
		lags, ops []int64
	}{
		{"SELECT ts FROM s", []int64{0}, nil},
		{"SELECT w, window_end(w) AS e, wt FROM even", []int64{-999, -999, -998}, nil},
		{"SELECT w, window_end(w) AS e, wt FROM odd", []int64{0, 0, 1}, nil},
		{"SELECT w, window_end(w) AS e, wt, window_time(w) AS t FROM ses", []int64{0, 0, 1, 1}, nil},
		{"SELECT window FROM s GROUP BY window(ts, '2 seconds', '1 second', '0.0005 seconds')", []int64{0}, []int64{0}},
		{"SELECT window FROM s GROUP BY window(ts, '2 seconds', '1 second', '0.005 seconds')", []int64{-999}, []int64{0}},
		// a window over the time of another closes at its own end; one of 1 microsecond is the time itself, one after
		{"SELECT window, window_time(window) FROM even GROUP BY window(wt, '10 minutes')", []int64{-999, -998}, []int64{0}},
		{"SELECT window, window_time(window) FROM ses GROUP BY window(wt, '10 minutes')", []int64{-999, -998}, []int64{0}},
		{"SELECT window, window_time(window) FROM ses GROUP BY window(wt, '0.000001 seconds')", []int64{0, 1}, []int64{0}},
		// sessions of the times of sessions: one that ends at w may go on by a time of w
		{"SELECT session_window, window_time(session_window) FROM ses GROUP BY session_window(wt, '5 minutes')", []int64{1, 2}, []int64{1}},
		{"SELECT session_window FROM even GROUP BY session_window(wt, '5 minutes')", []int64{0}, []int64{0}},
		{"SELECT window FROM (SELECT window_time(session_window) AS t FROM ses GROUP BY session_window(wt, '5 minutes')) x GROUP BY window(t, '1 second')", []int64{1}, []int64{1, 1}},
		{"SELECT wt, count(*) FROM ses GROUP BY wt", []int64{1}, []int64{1}},
		{"SELECT wt, count(*) FROM even GROUP BY wt", []int64{-998}, []int64{0}},
		{"SELECT w, count(*) FROM ses GROUP BY w", []int64{0}, []int64{0}},
		// by the first column that carries the watermark, or by a key that does
		{"SELECT DISTINCT ON (k) k, wt FROM ses", []int64{1}, []int64{0}},
		{"SELECT DISTINCT ON (k) k, wt FROM (SELECT DISTINCT k, wt FROM ses) x", []int64{1}, []int64{1, 1}},
		{"SELECT DISTINCT ON (wt) k, wt FROM ses", []int64{1}, []int64{1}},
		{"SELECT DISTINCT ON (n, wt) n, wt FROM even", []int64{-998}, []int64{0}},
		{"SELECT wt FROM (SELECT wt, row_number() OVER (PARTITION BY wt ORDER BY k) AS n FROM ses) x WHERE n = 1", []int64{1}, []int64{1}},
		{"SELECT wt, sum(k) OVER (PARTITION BY wt) FROM ses", []int64{1}, []int64{1}},
		{"SELECT ses.wt, r.ts FROM ses JOIN r ON ses.wt = r.ts", []int64{1, 1}, []int64{1}},
		{"SELECT even.wt, r.ts FROM even JOIN r ON even.wt = r.ts", []int64{-998, 0}, []int64{0}},
		{"SELECT ses.wt, r.ts FROM ses JOIN r ON ses.k = r.k AND r.ts BETWEEN ses.wt - INTERVAL '1 minute' AND ses.wt", []int64{1, 1}, []int64{1}},
		{"SELECT ses.wt, r.ts FROM ses ASOF JOIN r ON ses.k = r.k AND ses.wt >= r.ts", []int64{1}, []int64{1}},
		{"SELECT ts FROM s UNION ALL SELECT wt FROM even", []int64{0}, nil},
		{"SELECT ts FROM s UNION ALL SELECT wt FROM ses", []int64{1}, nil},
		{"SELECT wt FROM even UNION ALL SELECT wt FROM even", []int64{-998}, nil},
	} {
		p := db.plan(t, c.sql, updating)
		if p == nil {
			continue
		}
		if got := p.Root.Props().WatermarkLags; !slices.Equal(got, c.lags) {
			t.Errorf("%s: columns lag by %v, want %v", c.sql, got, c.lags)
		}
		var ops []int64
		var visit func(n plan.Node)
		visit = func(n plan.Node) {
			switch n.(type) {
			case *plan.Aggregate, *plan.Dedup, *plan.TopN, *plan.OverWindow, *plan.Join, *plan.AsofJoin:
				ops = append(ops, n.Props().Lag)
			default:
				if n.Props().Lag != 0 {
					t.Errorf("%s: a %T lags by %d", c.sql, n, n.Props().Lag)
				}
			}
			for _, in := range n.Inputs() {
				visit(in)
			}
		}
		visit(p.Root)
		if !slices.Equal(ops, c.ops) {
			t.Errorf("%s: operators lag by %v, want %v", c.sql, ops, c.ops)
		}
	}
}
