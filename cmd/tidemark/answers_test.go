package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// The answers in testdata/expected were computed by PostgreSQL 15 over whole files (testdata/README.md); the views must
// show the same however the input is cut and whenever the views are made.

const webStream = `CREATE STREAM web (line_no bigint, client text, ts timestamp, method text, path text, status int, bytes bigint,
  WATERMARK FOR ts AS ts - INTERVAL '10 minutes')`

const webViews = `CREATE MATERIALIZED VIEW sessions AS SELECT client, session_window.start AS session_start, session_window.end AS session_end,
  count(*) AS hits, sum(bytes) AS bytes FROM web GROUP BY session_window(ts, '30 minutes'), client;
CREATE MATERIALIZED VIEW status_per_hour AS SELECT window.start AS window_start, status, count(*) AS n, count(DISTINCT client) AS clients, sum(bytes) AS bytes
  FROM web GROUP BY window(ts, '1 hour'), status`

func checkWeb(t *testing.T, c *pgx.Conn) {
	t.Helper()
	expectCSV(t, csvOf(t, c, "SELECT client, session_start, session_end, hits, coalesce(bytes, 0) FROM sessions ORDER BY client, session_start"), "web_sessions_30minutes.csv")
	expectCSV(t, csvOf(t, c, "SELECT window_start, status, n, clients, coalesce(bytes, 0) FROM status_per_hour ORDER BY window_start, status"), "web_status_per_hour.csv")
}

func webLines(t testing.TB) []string {
	return strings.SplitAfter(strings.TrimRight(readFile(t, "testdata/web/access.csv"), "\n"), "\n")[1:]
}

func TestWebSessions(t *testing.T) {
	lines := webLines(t)
	whole := strings.Join(lines, "")
	load := map[string]func(t *testing.T, c *pgx.Conn){
		"one COPY": func(t *testing.T, c *pgx.Conn) { copyIn(t, c, "web", whole, false) },
		"100 pieces": func(t *testing.T, c *pgx.Conn) {
			for i := 0; i < 100; i++ {
				copyIn(t, c, "web", strings.Join(lines[i*len(lines)/100:(i+1)*len(lines)/100], ""), false)
			}
		},
		"row by row": func(t *testing.T, c *pgx.Conn) { insertRows(t, c, lines, nil) },
	}
	for name, f := range load {
		for _, before := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/view first %t", name, before), func(t *testing.T) {
				url, _ := startServer(t, t.TempDir())
				c := connect(t, url)
				execSQL(t, c, webStream)
				if before {
					execSQL(t, c, webViews)
				}
				f(t, c)
				if !before {
					execSQL(t, c, webViews)
				}
				checkWeb(t, c)
			})
		}
	}
}

// insertRows inserts lines of the web log one by one; between is called before each.
func insertRows(t testing.TB, c *pgx.Conn, lines []string, between func(i int)) {
	t.Helper()
	for i, l := range lines {
		if between != nil {
			between(i)
		}
		f, err := csv.NewReader(strings.NewReader(l)).Read()
		if err != nil {
			t.Fatal(err)
		}
		var bytes any
		if f[6] != "" {
			bytes = f[6]
		}
		if _, err := c.Exec(context.Background(), "INSERT INTO web VALUES ($1::text::bigint, $2, $3::text::timestamp, $4, $5, $6::text::int, $7::text::bigint)",
			f[0], f[1], f[2], f[3], f[4], f[5], bytes); err != nil {
			t.Fatalf("row %d: %v", i, err)
		}
	}
}

func TestWebSessionsKilled(t *testing.T) {
	lines := webLines(t)
	dir := t.TempDir()
	p := startProcess(t, dir, "--checkpoint-interval", "300ms")
	c := connect(t, p.url)
	execSQL(t, c, webStream)
	execSQL(t, c, webViews)
	piece := func(i int) string { return strings.Join(lines[i*len(lines)/50:(i+1)*len(lines)/50], "") }
	for i := 0; i < 50; i++ {
		copyIn(t, c, "web", piece(i), false)
		if i%12 == 11 {
			p.kill()
			p = startProcess(t, dir, "--checkpoint-interval", "300ms")
			c = connect(t, p.url)
			var n int
			if err := c.QueryRow(context.Background(), "SELECT count(*) FROM web").Scan(&n); err != nil || n != (i+1)*len(lines)/50 {
				t.Fatalf("after kill -9: %d rows, want %d (%v)", n, (i+1)*len(lines)/50, err)
			}
		}
	}
	checkWeb(t, c)
	if code := p.terminate(t); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
	url, _ := startServer(t, dir)
	checkWeb(t, connect(t, url))
}

func TestMachine(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	if err := runFile(context.Background(), url, "../../examples/machine/machine.sql", io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	c := connect(t, url)
	expectCSV(t, csvOf(t, c, `SELECT window_start, n, round(lo::numeric, 4), round(mean::numeric, 4), round(hi::numeric, 4) FROM machine_alarms ORDER BY window_start`), "machine_hourly_alarms.csv")
	expectCSV(t, csvOf(t, c, `SELECT window_start, n, round(mean::numeric, 4) FROM machine_hourly ORDER BY window_start`), "machine_hourly_all.csv")
}

func TestAdx(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	c := connect(t, url)
	var union []string
	for _, x := range []string{"2", "3", "4"} {
		for _, kind := range []string{"cpc", "cpm"} {
			execSQL(t, c, fmt.Sprintf("CREATE STREAM %s%s (ts timestamp, value double precision, WATERMARK FOR ts AS ts - INTERVAL '5 minutes')", kind, x))
		}
		union = append(union, fmt.Sprintf(`SELECT %s AS exchange, m.ts, m.value / (1000 * c.value) AS ctr FROM cpm%s m JOIN cpc%s c ON date_trunc('minute', m.ts) = date_trunc('minute', c.ts)
		  AND c.ts BETWEEN m.ts - INTERVAL '1 minute' AND m.ts + INTERVAL '1 minute'`, x, x, x))
	}
	execSQL(t, c, "CREATE MATERIALIZED VIEW ctr AS "+strings.Join(union, " UNION ALL "))
	for _, x := range []string{"2", "3", "4"} {
		for _, kind := range []string{"cpc", "cpm"} {
			copyIn(t, c, kind+x, readFile(t, fmt.Sprintf("testdata/adx/exchange-%s_%s_results.csv", x, kind)), true)
		}
	}
	expectCSV(t, csvOf(t, c, "SELECT exchange, ts, round(ctr::numeric, 8) FROM ctr ORDER BY exchange, ts, ctr"), "adx_ctr.csv")
}

func TestRoad(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	c := connect(t, url)
	execSQL(t, c, `CREATE STREAM occupancy (ts timestamp, value double precision, WATERMARK FOR ts AS ts - INTERVAL '10 minutes');
	CREATE STREAM speed (ts timestamp, value double precision, WATERMARK FOR ts AS ts - INTERVAL '10 minutes');
	CREATE MATERIALIZED VIEW jam AS SELECT o.ts, o.value AS occupancy, s.ts AS speed_ts, s.value AS speed FROM occupancy o
	  JOIN speed s ON s.ts >= o.ts - INTERVAL '5 minutes' AND s.ts <= o.ts WHERE o.value > 15 AND s.value < 60`)
	copyIn(t, c, "occupancy", readFile(t, "testdata/road/occupancy_t4013.csv"), true)
	copyIn(t, c, "speed", readFile(t, "testdata/road/speed_t4013.csv"), true)
	expectCSV(t, csvOf(t, c, "SELECT ts, occupancy, speed_ts, speed FROM jam ORDER BY ts, speed_ts, speed"), "road_jam.csv")
}
