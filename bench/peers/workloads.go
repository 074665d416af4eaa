package main

import (
	"fmt"
	"strings"
)

// workload is one question that every engine answers over the same files.
type workload struct {
	name    string
	streams []string
	// columns of the result in the order in which the checksum takes them: w, ts, its and cts are times, e too, m is a price.
	columns string
	view    string // Tidemark's
}

// goals are what Tidemark's rows per CPU second are to be of another engine's.
const (
	goalSpark       = 20.0
	goalFlink       = 8.0
	goalFlinkFilter = 5.0
	goalDuckDB      = 0.5 // of a query that keeps nothing up to date; not a goal but the stretch
)

// tumble is the count, sum and greatest price by key and minute.
func tumble(name, key string) workload {
	return workload{name, []string{"events"}, "w k c s m", fmt.Sprintf(`CREATE MATERIALIZED VIEW r WITH (output_mode = 'append') AS
		SELECT window.start AS w, %s AS k, count(*) AS c, sum(v)::bigint AS s, max(price) AS m FROM events GROUP BY window(ts, '1 minute'), %s`, key, key)}
}

const joined = `CREATE MATERIALIZED VIEW r WITH (output_mode = 'append') AS
	SELECT i.id, i.ts AS its, c.ts AS cts FROM imp i %s clk c ON i.id = c.id AND c.ts BETWEEN i.ts AND i.ts + INTERVAL '5 minutes'`

// workloads are all of them.
var workloads = []workload{
	{"filter", []string{"events"}, "ts k3 v2", `CREATE MATERIALIZED VIEW r AS SELECT ts, k3, v * 2 + 1 AS v2 FROM events WHERE v >= 900`},
	tumble("tumble_1k", "k1"), tumble("tumble_100k", "k2"), tumble("tumble_1m", "k3"), tumble("tumble_str_100k", "name"),
	{"slide", []string{"events"}, "w k c s m", `CREATE MATERIALIZED VIEW r WITH (output_mode = 'append') AS
		SELECT window.start AS w, k1 AS k, count(*) AS c, sum(v)::bigint AS s, max(price) AS m FROM events GROUP BY window(ts, '10 minutes', '1 minute'), k1`},
	{"session", []string{"events"}, "w e k c s m", `CREATE MATERIALIZED VIEW r WITH (output_mode = 'append') AS
		SELECT session_window.start AS w, session_window.end AS e, k2 AS k, count(*) AS c, sum(v)::bigint AS s, max(price) AS m FROM events GROUP BY session_window(ts, '30 seconds'), k2`},
	{"join", []string{"imp", "clk"}, "id its cts", fmt.Sprintf(joined, "JOIN")},
	{"left_join", []string{"imp", "clk"}, "id its cts", fmt.Sprintf(joined, "LEFT JOIN")},
	{"dedup", []string{"dup"}, "id v", `CREATE MATERIALIZED VIEW r WITH (output_mode = 'append') AS SELECT DISTINCT ON (id) WITHIN WATERMARK id, v FROM dup`},
}

// stream is the statement that makes a stream of a folder of files.
func stream(name, dir, format, retention string) string {
	columns, delay := "id bigint, ts timestamp", 2
	switch name {
	case "events":
		columns, delay = "ts timestamp, k1 bigint, k2 bigint, k3 bigint, name text, v bigint, price double precision", 1
	case "dup":
		columns += ", v bigint"
	}
	header := ""
	if format == "csv" {
		header = ", header = 'true'"
	}
	return fmt.Sprintf(`CREATE STREAM %s (%s, WATERMARK FOR ts AS ts - INTERVAL '%d minutes')
		WITH (connector = 'file', path = '%s', match_pattern = 'part-*', format = '%s', bounded = 'true', retention = '%s'%s)`,
		name, columns, delay, strings.ReplaceAll(dir, "'", "''"), format, retention, header)
}

// job is a workload on files of one format.
type job struct {
	*workload
	format string
}

// jobs gives what is to be run: all workloads on Parquet, those named in text on the other formats.
func jobs(names, formats []string) []job {
	var out []job
	for i := range workloads {
		w := &workloads[i]
		if len(names) > 0 && !contains(names, w.name) {
			continue
		}
		for _, f := range formats {
			if f == "parquet" || w.name == "filter" || w.name == "tumble_100k" {
				out = append(out, job{w, f})
			}
		}
	}
	return out
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
