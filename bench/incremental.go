package bench

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/session"
)

// incrementalViews are kept over a table big (id, g, v) of n rows in groups of ten, and a table side (id, w) of n rows. One row
// of big is changed at a time, or with tail put at its end and taken away again, in turn; the change of each view is a few rows at most, whatever n is.
var incrementalViews = []incrementalCase{
	{name: "(no view)", query: ""},
	{name: "filter", query: "SELECT id, v FROM big WHERE v % 2 = 0"},
	{name: "aggregate count+sum+max", query: "SELECT g, count(*), sum(v), max(v) FROM big GROUP BY g"},
	{name: "aggregate over aggregate", query: "SELECT n, count(*) FROM (SELECT v, count(*) AS n FROM big GROUP BY v) x GROUP BY n"},
	{name: "median by group", query: "SELECT g, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM big GROUP BY g"},
	{name: "string_agg by group", query: "SELECT g, string_agg(v::text, ',' ORDER BY id) FROM big GROUP BY g"},
	{name: "global aggregate", query: "SELECT count(*), sum(v), max(v), count(DISTINCT g) AS groups FROM big"},
	{name: "DISTINCT", query: "SELECT DISTINCT v FROM big"},
	{name: "DISTINCT ON ... ORDER BY", query: "SELECT DISTINCT ON (g) g, id, v FROM big ORDER BY g, v DESC, id"},
	{name: "join", query: "SELECT big.id, v, w FROM big JOIN side ON big.id = side.id"},
	{name: "left join, residual", query: "SELECT big.id, v, w FROM big LEFT JOIN side ON big.g = side.id AND side.w > big.v"},
	{name: "anti join", query: "SELECT id FROM big WHERE NOT EXISTS (SELECT 1 FROM side WHERE side.w = big.v)"},
	{name: "scalar subquery", query: "SELECT id, (SELECT max(w) FROM side WHERE side.id = big.g) FROM big"},
	{name: "EXCEPT", query: "SELECT v FROM big EXCEPT SELECT w FROM side"},
	{name: "INTERSECT ALL", query: "SELECT v FROM big INTERSECT ALL SELECT w FROM side"},
	{name: "ORDER BY ... LIMIT 10", query: "SELECT id, v FROM big ORDER BY v DESC, id LIMIT 10"},
	{name: "row_number() <= 2", query: "SELECT * FROM (SELECT id, g, v, row_number() OVER (PARTITION BY g ORDER BY v DESC, id) AS r FROM big) x WHERE r <= 2"},
	{name: "lag, running sum", query: "SELECT id, lag(v) OVER w, sum(v) OVER w FROM big WINDOW w AS (PARTITION BY g ORDER BY id)"},
	{name: "ROLLUP", query: "SELECT g % 1000 AS a, g, sum(v) FROM big GROUP BY ROLLUP (1, 2)"},
	{name: "unnest", query: "SELECT id, x FROM big, unnest(ARRAY[v, v + 1]) AS x"},
	{name: "(no view, at the end)", tail: true},
	{name: "row_number, dense_rank", tail: true, query: "SELECT id, row_number() OVER w, dense_rank() OVER w FROM big WINDOW w AS (ORDER BY id)"},
	{name: "rank, with ties", tail: true, query: "SELECT id, rank() OVER (ORDER BY g) FROM big"},
	{name: "running sum, avg, max", tail: true, query: "SELECT id, sum(v) OVER w, avg(v) OVER w, max(v) OVER w FROM big WINDOW w AS (ORDER BY id)"},
	{name: "RANGE 100000 PRECEDING", tail: true, query: "SELECT id, sum(v) OVER w, max(v) OVER w, first_value(v) OVER w FROM big WINDOW w AS (ORDER BY id RANGE BETWEEN 100000 PRECEDING AND CURRENT ROW)"},
	{name: "ntile(4)", tail: true, query: "SELECT id, ntile(4) OVER (ORDER BY id) FROM big"},
	{name: "first_value, max OVER ()", query: "SELECT id, first_value(g) OVER (ORDER BY id), max(v) OVER () FROM big"},
	{name: "running max", query: "SELECT id, max(v) OVER (ORDER BY id) FROM big"},
	{name: "RANGE 10 PRECEDING", query: "SELECT id, sum(v) OVER (ORDER BY id RANGE BETWEEN 10 PRECEDING AND CURRENT ROW) FROM big"},
	{name: "GROUPS, EXCLUDE TIES", query: "SELECT id, count(*) OVER (ORDER BY g GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) FROM big"},
	{name: "global median, mode", query: "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v), percentile_disc(0.9) WITHIN GROUP (ORDER BY v), mode() WITHIN GROUP (ORDER BY g) FROM big"},
}

// incrementalCase is a view; one without a query is measured without a view.
type incrementalCase struct {
	name, query string
	tail        bool
}

// checkedRows is the size up to which views are compared with their queries run afresh, which takes long over more rows.
const checkedRows = 10_000

// incremental measures what one changed row costs with views over more and more rows, and prints a table: the cost must be that
// of the change, not of the view.
func incremental(ctx context.Context, o Options) error {
	sizes, changes := []int{10_000, 100_000, 1_000_000}, 400
	if o.Smoke {
		sizes, changes = []int{200, 2000}, 40
	}
	fmt.Fprintf(o.Out, "\nOne row of a table updated, durable, and its view up to date; lower quartile of %d, microseconds, by rows of the table\n\n%-30s", changes, "view")
	for _, n := range sizes {
		fmt.Fprintf(o.Out, " %10d", n)
	}
	fmt.Fprintln(o.Out)
	var dbs []session.Session
	for _, n := range sizes {
		db, err := incrementalTables(ctx, n)
		if err != nil {
			return fmt.Errorf("incremental: %w", err)
		}
		defer db.close()
		dbs = append(dbs, db.s)
	}
	for _, v := range incrementalViews {
		fmt.Fprintf(o.Out, "%-30s", v.name)
		for i, n := range sizes {
			d, err := incrementalView(ctx, dbs[i], v, n, changes)
			if err != nil {
				return fmt.Errorf("incremental: %s: %w", v.name, err)
			}
			o.figures.add(Figure{Workload: "incremental", Name: fmt.Sprintf("%s, %d rows", v.name, n), Value: float64(d.Microseconds()), Unit: "us"})
			fmt.Fprintf(o.Out, " %10d", d.Microseconds())
		}
		fmt.Fprintln(o.Out)
	}
	return nil
}

// incrementalTables opens a database with both tables.
func incrementalTables(ctx context.Context, n int) (*database, error) {
	return openDatabase(ctx, engine.Options{}, "CREATE TABLE big (id bigint PRIMARY KEY, g bigint, v bigint)", "CREATE TABLE side (id bigint PRIMARY KEY, w bigint)",
		fmt.Sprintf("INSERT INTO big SELECT i, i / 10, i::bigint * 7919 %% %d FROM generate_series(1, %d) AS i", n, n),
		fmt.Sprintf("INSERT INTO side SELECT i, i * 2 FROM generate_series(1, %d) AS i", n))
}

// incrementalView makes the view, changes rows one by one, and compares a small view with its query run afresh.
func incrementalView(ctx context.Context, s session.Session, v incrementalCase, n, changes int) (time.Duration, error) {
	sql := v.query
	if sql != "" {
		if _, err := query(ctx, s, "CREATE MATERIALIZED VIEW iv AS "+sql); err != nil {
			return 0, err
		}
		if _, err := query(ctx, s, "SELECT count(*) FROM iv"); err != nil { // waits until it is filled
			return 0, err
		}
	}
	var took []time.Duration
	random := newXorshift(0)
	for i := range changes {
		rnd := random.next()
		q := fmt.Sprintf("UPDATE big SET v = %d WHERE id = %d", rnd>>8%uint64(n), rnd>>32%uint64(n)+1)
		switch {
		case v.tail && i%2 == 0:
			q = fmt.Sprintf("INSERT INTO big VALUES (%d, %d, %d)", n+1, n/10, rnd>>8%uint64(n))
		case v.tail:
			q = fmt.Sprintf("DELETE FROM big WHERE id = %d", n+1)
		}
		start := time.Now()
		if _, err := query(ctx, s, q); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
	}
	if sql != "" && n <= checkedRows {
		rows, err := query(ctx, s, fmt.Sprintf("SELECT (SELECT count(*) FROM (SELECT * FROM iv EXCEPT ALL (%s)) a), (SELECT count(*) FROM ((%s) EXCEPT ALL SELECT * FROM iv) b)", sql, sql))
		if err != nil {
			return 0, err
		}
		if got := strings.Join(rows[0], " "); got != "0 0" {
			return 0, fmt.Errorf("rows too many and missing: %s", got)
		}
	}
	if sql != "" {
		if _, err := query(ctx, s, "DROP MATERIALIZED VIEW iv"); err != nil {
			return 0, err
		}
	}
	sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
	return took[len(took)/4], nil // other work on the machine disturbs it less than the median
}
