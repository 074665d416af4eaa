package planner_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// The delays, in seconds, of the watermarks that the columns of a query carry: that of the stream from which the time comes, through views too; of two the
// greater; the partner's for a key without a watermark of its own.
func TestMarkDelays(t *testing.T) {
	db := newTestDB()
	if _, err := db.exec(`CREATE STREAM s (k bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '10 seconds');
		CREATE STREAM r (k bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '30 seconds');
		CREATE STREAM u (k bigint, ts timestamp);
		CREATE TABLE t (k bigint PRIMARY KEY);
		CREATE MATERIALIZED VIEW sr WITH (output_mode = 'append') AS SELECT s.k, s.ts, r.ts AS rts FROM s JOIN r ON s.k = r.k AND r.ts BETWEEN s.ts - INTERVAL '5 seconds' AND s.ts + INTERVAL '5 seconds';
		CREATE MATERIALIZED VIEW un WITH (output_mode = 'append') AS SELECT k, ts FROM sr UNION ALL SELECT k, ts FROM s;
		CREATE MATERIALIZED VIEW own WITH (output_mode = 'append') AS SELECT k, ts FROM u WATERMARK ts DELAY OF INTERVAL '20 seconds'`, false); err != nil {
		t.Fatal(err)
	}
	cases := []delayCase{
		{"SELECT ts FROM s", []int64{10}},
		{"SELECT ts, rts FROM sr", []int64{10, 30}},
		{"SELECT ts FROM un", []int64{10}},
		{"SELECT ts FROM own", []int64{20}},
		{"SELECT ts FROM s UNION ALL SELECT ts FROM r", []int64{30}},
		{"SELECT ts FROM r UNION ALL SELECT ts FROM u", []int64{30}},
		{"SELECT rts AS ts FROM sr UNION ALL SELECT ts FROM s", []int64{30}},
		{"SELECT u.ts, s.ts FROM u JOIN s ON u.ts = s.ts", []int64{10, 10}},
		{"SELECT s.ts, u.ts FROM s JOIN u ON u.ts = s.ts", []int64{10, 10}},
		{"SELECT s.ts, r.ts FROM s JOIN r ON r.ts = s.ts", []int64{10, 30}},
		{"SELECT r.ts FROM r LEFT SEMI JOIN s ON r.ts = s.ts", []int64{30}},
		{"SELECT s.ts FROM s ASOF JOIN r ON s.k = r.k AND s.ts >= r.ts", []int64{10}},
		{"SELECT r.ts FROM s ASOF JOIN r ON s.k = r.k AND s.ts <= r.ts", []int64{30}},
		{"SELECT window, window_time(window), count(*) FROM un GROUP BY window(ts, '5 seconds')", []int64{10, 10}},
		{"SELECT window FROM sr GROUP BY window(rts, '5 seconds')", []int64{30}},
		{"SELECT session_window FROM own GROUP BY session_window(ts, '5 seconds')", []int64{20}},
		{"SELECT DISTINCT ON (k, ts) k, ts FROM (SELECT k, window_end(w) AS ts FROM (SELECT k, window(ts, '5 seconds') AS w FROM r) x) y", []int64{30}},
		{"SELECT ts, sum(k) OVER (PARTITION BY ts) FROM own", []int64{20}},
		{"SELECT ts FROM (SELECT ts, row_number() OVER (PARTITION BY ts ORDER BY k) AS n FROM sr) x WHERE n = 1", []int64{10}},
		{"SELECT s.ts FROM s JOIN t ON s.k = t.k", nil}, // the table can take any row back
	}
	checkDelays(t, db, 7, cases)

	// From the epoch after ALTER on, all that the stream's delay reaches has the new one.
	r := *db.cat.Relation("public", "s")
	r.Watermark = r.Watermark.Altered(&catalog.Watermark{Column: r.Watermark.Column, DelayMicros: 60e6}, 7)
	db.cat = db.cat.With(&r)
	checkDelays(t, db, 7, cases)
	for i := range cases {
		c := &cases[i]
		for j, d := range c.delays {
			if d == 10 || strings.Contains(c.sql, "UNION ALL SELECT ts FROM r") || strings.Contains(c.sql, "FROM sr UNION ALL") {
				c.delays[j] = 60
			}
		}
	}
	checkDelays(t, db, 8, cases)
	checkDelays(t, db, math.MaxUint64, cases)
}

type delayCase struct {
	sql    string
	delays []int64
}

// checkDelays plans queries as views and asks for the delays of their columns in an epoch.
func checkDelays(t *testing.T, db *testDB, epoch uint64, cases []delayCase) {
	t.Helper()
	for _, c := range cases {
		p := db.plan(t, c.sql, updating)
		if p == nil {
			continue
		}
		var got []int64
		for _, d := range p.Root.Props().WatermarkDelays {
			got = append(got, d.In(func(stream catalog.OID) int64 { return db.cat.DelayIn(stream, epoch) })/1e6)
		}
		if !slices.Equal(got, c.delays) {
			t.Errorf("%s: delays of %v seconds in epoch %d, want %v", c.sql, got, epoch, c.delays)
		}
	}
}
