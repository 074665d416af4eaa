package planner_test

import (
	"testing"

	"github.com/tidemarkdb/tidemark/planner/plan"
)

// Which windows give a row once, for the aggregate above to spread.
func TestLastWindows(t *testing.T) {
	db := newTestDB()
	if _, err := db.exec(`CREATE STREAM s (k bigint, v bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 minute');
		CREATE TABLE t (k bigint, v bigint, ts timestamp)`, false); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sql  string
		last bool
	}{
		{"SELECT window, k, count(*) FROM s GROUP BY window(ts, '10 minutes', '1 minute'), k", true},
		{"SELECT k, window.end, sum(v + 1) FROM s WHERE v > 3 GROUP BY k, window(ts, '10 minutes', '5 minutes', '2 minutes')", true},
		{"SELECT window, count(*) FROM s GROUP BY window(ts, '10 minutes', '1 minute')", true},
		{"SELECT count(*) FROM s GROUP BY window(ts, '10 minutes')", false},
		{"SELECT window, count(*) FROM s GROUP BY window(ts, '10 minutes', '3 minutes')", false}, // not every row is in as many windows
		{"SELECT window, k, count(*) FROM t GROUP BY window(ts, '10 minutes', '1 minute'), k", false},
		{"SELECT k, count(*) FROM (SELECT k, window(ts, '10 minutes', '1 minute') AS w FROM s) x GROUP BY k", false},
		{"SELECT window.start, k, count(*) FROM s GROUP BY window(ts, '10 minutes', '1 minute'), window.start, k", false},
		{"SELECT k, window(ts, '10 minutes', '1 minute') AS w FROM s", false},
		{"WITH q AS (SELECT *, window(ts, '10 minutes', '1 minute') AS w FROM s) SELECT w, k, count(*) FROM q GROUP BY w, k UNION ALL SELECT w, k, v FROM q", false},
	} {
		p := db.plan(t, c.sql, updating)
		if p == nil {
			continue
		}
		any := false
		var visit func(n plan.Node, above plan.Node)
		visit = func(n, above plan.Node) {
			if w, ok := n.(*plan.Window); ok && w.Last {
				any = true
				if a, ok := above.(*plan.Aggregate); !ok || a.EventKey < 0 {
					t.Errorf("%s: last windows go to a %T", c.sql, above)
				}
			}
			for _, in := range n.Inputs() {
				visit(in, n)
			}
		}
		visit(p.Root, nil)
		if any != c.last {
			t.Errorf("%s: last windows %v, want %v", c.sql, any, c.last)
		}
		if p = db.plan(t, c.sql, nil); p == nil { // a SELECT has no event keys
			continue
		}
		any = false
		visit(p.Root, nil)
		if any {
			t.Errorf("%s: last windows in a SELECT", c.sql)
		}
	}
}
