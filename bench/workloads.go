package bench

import (
	"fmt"
	"time"
)

// workload is one view over the stream events (k, v, x, ts) or, where joined is set, over events and others, which has the same columns.
type workload struct {
	name     string
	keyType  string        // of k: "bigint" or "text"
	keys     int64         // k is one of so many, all as likely
	retire   int64         // so many of them go in an epoch, and new ones come
	delay    time.Duration // of the watermark
	joined   bool
	mode     string        // output_mode of the view
	before   string        // a statement that the view needs; "" for none
	query    string        // of the view
	sums     string        // a query over the view v of one row, which the model must give too
	perEpoch time.Duration // event time that one epoch covers
	warm     int           // epochs before the measured ones
	epochs   int           // measured ones
	smoke    int           // epochs of a smoke run, warm ones included
	goal     float64       // million events a second and core
	model    func() model
}

func (w *workload) streams() int {
	if w.joined {
		return 2
	}
	return 1
}

// setup lists the statements that make the streams and the view.
func (w *workload) setup(o *Options) []string {
	var sql []string
	if w.before != "" {
		sql = append(sql, w.before)
	}
	for _, name := range streamNames[:w.streams()] {
		sql = append(sql, fmt.Sprintf("CREATE STREAM %s (k %s, v bigint, x bigint, ts timestamp, WATERMARK FOR ts AS ts - %s)", name, w.keyType, interval(w.delay)))
	}
	return append(sql, w.create(o))
}

// create is the statement that makes the view.
func (w *workload) create(o *Options) string {
	with := "output_mode = '" + w.mode + "'"
	if o.Partitions > 0 {
		with += fmt.Sprintf(", state_partitions = %d", o.Partitions)
	}
	return "CREATE MATERIALIZED VIEW v WITH (" + with + ") AS " + w.query
}

var streamNames = [2]string{"events", "others"}

// workloads are those that have goals, and aggregates in update mode. Windows hold at least 20 rows a key at 1k and 100k keys, 3 at 1M.
var workloads = []*workload{
	filter(),
	tumbling("tumbling-1k", "bigint", 1000, time.Second, 800, 40),
	tumbling("tumbling-100k", "bigint", 100_000, 300*time.Millisecond, 400, 15),
	tumbling("tumbling-1M", "bigint", 1_000_000, 200*time.Millisecond, 400, 7),
	tumbling("tumbling-1k-strings", "text", 1000, time.Second, 400, 20),
	tumbling("tumbling-100k-strings", "text", 100_000, 300*time.Millisecond, 200, 6),
	tumbling("tumbling-1M-strings", "text", 1_000_000, 200*time.Millisecond, 200, 2),
	sliding(),
	sessions(),
	join(),
	// An id comes ten times while it lives, or one in ten comes twice.
	dedup("dedup-1M", epochRows/10, 77, 400),
	dedup("dedup-1M-unique", epochRows*9/10, 9, 120),
	topN(),
	counts(),
	computed(),
}

func filter() *workload {
	return &workload{name: "filter", keyType: "bigint", keys: 1000, delay: time.Second, mode: "append", perEpoch: time.Second, warm: 50, epochs: 1000, smoke: 4, goal: 80,
		query: "SELECT k, v, ts FROM events WHERE x < 100",
		sums:  "SELECT count(*), sum(v)::bigint FROM v",
		model: func() model { return &filterModel{} }}
}

// tumbling is the count, sum and max of a ten-second window by key.
func tumbling(name, keyType string, keys int64, perEpoch time.Duration, epochs int, goal float64) *workload {
	return windows(&workload{name: name, keyType: keyType, keys: keys, perEpoch: perEpoch, warm: epochs / 8, epochs: epochs, smoke: int(12 * time.Second / perEpoch), goal: goal}, 10*time.Second, 10*time.Second)
}

// sliding is the count, sum and max of ten minutes, every minute, by key.
func sliding() *workload {
	return windows(&workload{name: "sliding-1k", keyType: "bigint", keys: 1000, perEpoch: 10 * time.Second, warm: 70, epochs: 400, smoke: 80, goal: 15}, 10*time.Minute, time.Minute)
}

func windows(w *workload, size, slide time.Duration) *workload {
	w.delay, w.mode = time.Second, "append"
	w.query = fmt.Sprintf("SELECT window.end AS we, k, count(*) AS n, sum(v) AS s, max(x) AS m FROM events GROUP BY window(ts, %s, %s), k", interval(size), interval(slide))
	w.sums = "SELECT count(*), sum(n)::bigint, sum(s)::bigint, max(m) FROM v"
	w.model = func() model { return newWindowModel(w.keys, size.Microseconds(), slide.Microseconds()) }
	return w
}

// sessions has about 7 rows a session.
func sessions() *workload {
	const keys, gap = 100_000, 30 * time.Second
	return &workload{name: "session-100k", keyType: "bigint", keys: keys, delay: time.Second, mode: "append", perEpoch: 10 * time.Second, warm: 20, epochs: 200, smoke: 10, goal: 4,
		query: "SELECT session_window.start AS ss, session_window.end AS se, k, count(*) AS n, sum(v) AS s, max(x) AS m FROM events GROUP BY session_window(ts, " + interval(gap) + "), k",
		sums:  "SELECT count(*), sum(n)::bigint, sum(s)::bigint, max(m), sum(extract(epoch FROM se - ss) * 1000000)::bigint FROM v",
		model: func() model { return &sessionModel{gap: gap.Microseconds(), keys: make([]openSession, keys)} }}
}

// join pairs what comes within ten seconds: a row of events has two partners in three cases.
func join() *workload {
	const span = 10 * time.Second
	return &workload{name: "join-range-1M", keyType: "bigint", keys: 1_000_000, delay: time.Second, joined: true, mode: "append", perEpoch: time.Second, warm: 24, epochs: 60, smoke: 6, goal: 1,
		query: "SELECT e.k, e.v, o.x, o.ts FROM events e JOIN others o ON e.k = o.k AND o.ts BETWEEN e.ts AND e.ts + " + interval(span),
		sums:  "SELECT count(*), sum(v)::bigint, sum(x)::bigint FROM v",
		model: func() model { return &joinModel{span: span.Microseconds(), rows: [2]map[int64][]event{{}, {}}} }}
}

// dedup keeps an id for twice the watermark's delay, which is as long as it comes: a million ids are alive.
func dedup(name string, retire int64, delay time.Duration, epochs int) *workload {
	w := &workload{name: name, keyType: "bigint", keys: 1_000_000, retire: retire, delay: delay * time.Second, mode: "append", perEpoch: time.Second, warm: 2*int(delay) + 2, epochs: epochs, smoke: 5, goal: 15,
		query: "SELECT DISTINCT ON (k) WITHIN WATERMARK k, v, ts FROM events",
		sums:  "SELECT count(*), sum(v)::bigint, sum(k)::bigint FROM v"}
	w.model = func() model { return &dedupModel{delay: w.delay.Microseconds(), ids: map[int64]struct{}{}} }
	return w
}

func topN() *workload {
	const keys, n = 100_000, 10
	return &workload{name: "topn-100k", keyType: "bigint", keys: keys, delay: time.Second, mode: "update", perEpoch: time.Second, warm: 40, epochs: 200, smoke: 10, goal: 5,
		query: fmt.Sprintf("SELECT k, v, x, ts FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS r FROM events) q WHERE r <= %d", n),
		sums:  "SELECT count(*), sum(v)::bigint, max(v) FROM v",
		model: func() model { return &topModel{n: n, keys: make([][]int64, keys)} }}
}

// counts is the count, sum and max by key as of now: half of the keys change in an epoch.
func counts() *workload {
	const keys = 100_000
	return &workload{name: "counts-100k", keyType: "bigint", keys: keys, delay: time.Second, mode: "update", perEpoch: time.Second, warm: 20, epochs: 100, smoke: 10,
		query: "SELECT k, count(*) AS n, sum(v) AS s, max(x) AS m FROM events GROUP BY k",
		sums:  "SELECT count(*), sum(n)::bigint, sum(s)::bigint, max(m) FROM v",
		model: func() model { return &countModel{seen: make([]bool, keys)} }}
}

// computed is counts with expressions over what is counted: a division, a rounding, and a text.
func computed() *workload {
	w := counts()
	w.name = "computed-100k"
	w.query = "SELECT k, count(*) AS n, sum(v)::bigint AS s, max(x) AS m, round(sum(v) / count(*), 2) AS mean, upper('key ' || k) AS name FROM events GROUP BY k"
	w.sums = "SELECT count(*), sum(n)::bigint, sum(s)::bigint, max(m), sum(mean * 100)::bigint, count(*) FILTER (WHERE name = 'KEY ' || k) FROM v"
	w.model = func() model { return &meanModel{make([]keyTotal, w.keys)} }
	return w
}
