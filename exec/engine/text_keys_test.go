package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// textKeyQueries group by one text-like column: KEY, its expression, ALSO, what follows it in GROUP BY. With ALSO empty the key is one text, which is kept as it
// is; with a number that says the same it is two columns, which are encoded.
var textKeyQueries = []struct{ mode, query string }{
	{"update", "SELECT KEY AS k, count(*) AS n, sum(v) AS s, count(DISTINCT v) AS d, min(t) AS lo FROM SRC GROUP BY KEY ALSO"},
	{"update", "SELECT KEY AS k, count(DISTINCT t) AS d, string_agg(DISTINCT v::text, ',' ORDER BY v::text) AS l, percentile_cont(0.5) WITHIN GROUP (ORDER BY v::float8) AS p FROM SRC WHERE v <> 3 GROUP BY KEY ALSO HAVING count(*) > 2"},
	{"update", "SELECT KEY AS k, 60 / (sum(v) % 3) AS q, upper(min(t)) AS u FROM SRC GROUP BY KEY ALSO HAVING 12 / (min(v) - 1) <> 3"},
	{"update", "SELECT count(*) AS n, max(k) AS k FROM (SELECT KEY AS k, 60 / (count(*) % 4) AS q FROM SRC GROUP BY KEY ALSO) x GROUP BY q"},
	{"update", "SELECT window.end AS w, KEY AS k, count(*) AS n, avg(v) AS a FROM SRC GROUP BY window(ts, '10 seconds', '2 seconds'), KEY ALSO"},
	{"update", "SELECT session_window.end AS w, KEY AS k, count(*) AS n, count(DISTINCT v) AS d FROM SRC GROUP BY session_window(ts, '2 seconds'), KEY ALSO"},
	{"update", "SELECT session_window.end AS w, KEY AS k, count(*) AS n, sum(v) AS s FROM SRC GROUP BY session_window(ts, '1 second'), KEY ALSO"},
	{"append", "SELECT window.end AS w, KEY AS k, count(*) AS n, 60 / (sum(v) % 5) AS q FROM SRC GROUP BY window(ts, '10 seconds'), KEY ALSO"},
	{"append", "SELECT window.end AS w, KEY AS k, max(v) AS m, count(*) AS n FROM SRC GROUP BY window(ts, '10 seconds', '2 seconds'), KEY ALSO"},
	{"append", "SELECT window.end AS w, KEY AS k, count(DISTINCT t) AS d, string_agg(v::text, ',' ORDER BY v) AS l FROM SRC GROUP BY window(ts, '10 seconds', '5 seconds'), KEY ALSO"},
	{"append", "SELECT session_window.end AS w, KEY AS k, count(*) AS n, sum(v) AS s FROM SRC GROUP BY session_window(ts, '1 second'), KEY ALSO"},
	{"append", "SELECT session_window.end AS w, KEY AS k, count(DISTINCT v) AS d, string_agg(v::text, ',' ORDER BY v) AS l FROM SRC GROUP BY session_window(ts, '1 second'), KEY ALSO"},
	{"complete", "SELECT window.end AS w, KEY AS k, count(*) AS n FROM SRC GROUP BY window(ts, '10 seconds', '5 seconds'), KEY ALSO"},
	{"complete", "SELECT session_window.end AS w, KEY AS k, count(*) AS n FROM SRC GROUP BY session_window(ts, '2 seconds'), KEY ALSO"},
}

// textKeys are keys over the columns of the relation, each told by j.
var textKeys = []string{"t", "lower(t || 'A')", "b", "c", "n"}

// TestTextKeys: what is grouped by one text gives what it gives grouped by it and a number that says the same, on any number of partitions.
func TestTextKeys(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for _, i := range r.Perm(len(textKeyQueries))[:5] {
		q, key := textKeyQueries[i], textKeys[r.IntN(len(textKeys))]
		for _, src := range []string{"ev", "tab"} {
			if src == "tab" && (q.mode != "update" || strings.Contains(q.query, "window")) {
				continue
			}
			t.Run(fmt.Sprintf("%d %s %s", i, src, key), func(t *testing.T) { testTextKey(t, r, q.mode, q.query, src, key) })
		}
	}
}

// textKeyRows makes rows whose j tells the texts.
const textKeyRows = `SELECT j, v, ts, t, convert_to(t, 'UTF8') || decode(repeat('00', j % 4), 'hex'), t, right(t, 60) FROM (SELECT *,
	CASE WHEN j = 0 THEN NULL WHEN j = 1 THEN '' WHEN j % 97 = 5 THEN repeat('long ', 100 + j) WHEN j % 3 = 0 THEN 'the same beginning ' ELSE repeat(chr(97 + j % 26), j % 17) END || CASE WHEN j > 1 THEN '#' || j ELSE '' END AS t
	FROM (SELECT (i * 7919 + SALT) % KEYS AS j, (i * 31 + SALT) % 9 AS v, timestamp '2024-01-01' + (AT + i / 1000 - CASE WHEN i % 211 = 5 THEN 30 ELSE i % 4 END) * INTERVAL '1 second' AS ts FROM generate_series(1, ROWS) i) x) y`

func testTextKey(t *testing.T, r *rand.Rand, mode, text, src, key string) {
	c := openClocked(t)
	if r.IntN(2) == 0 {
		c.e.Close()
		c.o.MemoryBytes, c.o.CheckpointInterval = 1, 20*time.Millisecond
		c.open()
	}
	const cols = "j int, v int, ts timestamp, t text, b bytea, c varchar, n name"
	c.exec("CREATE STREAM ev ("+cols+", WATERMARK FOR ts AS ts - INTERVAL '2 seconds')", "CREATE TABLE tab ("+cols+")")
	query1 := strings.NewReplacer("KEY", key, "SRC", src)
	var views []string
	for k, n := range []int{1, 1, 2, 3, 8} {
		also := ""
		if k == 0 {
			also = ", j"
		}
		name := fmt.Sprintf("v%d", k)
		c.exec(fmt.Sprintf("CREATE MATERIALIZED VIEW %s WITH (output_mode = '%s', state_partitions = %d) AS %s", name, mode, n,
			query1.Replace(strings.ReplaceAll(text, "ALSO", also))))
		views = append(views, name)
	}
	at := 0
	for step := range 3 {
		rows, salt, keys := []int{3, 900, 3000, 9000}[r.IntN(4)], r.IntN(1000), []int{1, 3, 200, 3000}[r.IntN(4)]
		c.exec("INSERT INTO " + src + " " + strings.NewReplacer("SALT", fmt.Sprint(salt), "KEYS", fmt.Sprint(keys), "AT", fmt.Sprint(at), "ROWS", fmt.Sprint(rows)).Replace(textKeyRows))
		at += rows/1000 + r.IntN(10)
		compareTextViews(t, c, views, mode, src, fmt.Sprintf("step %d", step))
		if src == "tab" && r.IntN(2) == 0 {
			c.exec(fmt.Sprintf("DELETE FROM tab WHERE j %% %d = %d", 1+r.IntN(3), r.IntN(2)))
			compareTextViews(t, c, views, mode, src, fmt.Sprintf("step %d, rows deleted", step))
		}
		switch r.IntN(3) {
		case 0:
			c.restart(r.IntN(2) == 0)
		case 1:
			c.exec(fmt.Sprintf("ALTER MATERIALIZED VIEW v3 SET (state_partitions = %d)", 1+r.IntN(3)))
		}
	}
}

func compareTextViews(t *testing.T, c *clocked, views []string, mode, src, when string) {
	t.Helper()
	const order = " ORDER BY x::text"
	for _, check := range []string{
		"SELECT count(*), md5(string_agg(x::text, ' '" + order + ")), string_agg(left(x::text, 70), ' '" + order + ") FROM v x",
		"SELECT count(*), string_agg(sqlstate || message, ' ' ORDER BY sqlstate || message) FROM tidemark.dead_letters WHERE relation = 'v'",
		"SELECT count(*), string_agg(x::text, ' ' ORDER BY x::text) FROM (SELECT event_time, window_start, window_end FROM tidemark.late_rows WHERE view_name = 'v') x",
		"SELECT operator_name, num_rows_total, num_rows_updated, num_rows_removed, num_rows_dropped_by_watermark FROM tidemark.state_operators WHERE view_name = 'v' ORDER BY operator_id",
	} {
		first := ""
		for k, v := range views {
			got, err := query(c.sess, strings.ReplaceAll(strings.ReplaceAll(check, "FROM v x", "FROM "+v+" x"), "'v'", "'"+v+"'"))
			if err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				first = got
			} else if got != first {
				t.Errorf("%s, %s: %s:\n%.600s\nand %s, with two keys:\n%.600s", when, check, v, got, views[0], first)
			}
		}
	}
	if mode == "append" { // in the same order, too
		c.want("SELECT count(*) FROM (SELECT x, row_number() OVER () AS r FROM v0 x) a JOIN (SELECT x, row_number() OVER () AS r FROM v1 x) b ON a.r = b.r AND a.x <> b.x", "0")
	}
}
