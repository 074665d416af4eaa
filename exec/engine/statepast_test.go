package engine

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// pastViews have state of every kind, and what reads it, with a place for more options.
var pastViews = []struct{ view, query, read string }{
	{"agg", "SELECT k, count(*) AS n, max(v) AS m FROM s GROUP BY k", "agg'"},
	{"win", "SELECT k, window.start AS w, count(*) AS n FROM s GROUP BY k, window(ts, '1 minute')", "win'"},
	{"ded", "SELECT DISTINCT ON (k, ts) * FROM s", "ded'"},
	{"ses", "SELECT k, session_window.start AS w, count(*) AS n FROM s GROUP BY k, session_window(ts, '1 minute')", "ses'"},
	{"jn", "SELECT a.k, a.v FROM s a JOIN u b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1 minute'", "jn', store_name => 'left-keyWithIndexToValue'"},
	{"tws", "SELECT * FROM transform_with_state(TABLE s PARTITION BY k, processor => 'p', time_mode => 'processing_time')", "tws', state_var_name => 'n'"},
	{"tws", "", "tws', state_var_name => 'l'"},
	{"tws", "", "tws', state_var_name => 'm'"},
	{"tws", "", "tws', read_registered_timers => true"},
	{"tws", "", "tws', state_var_name => 'l', flatten_collection_types => false"},
	{"tws", "", "tws', state_var_name => 'm', flatten_collection_types => false"},
}

const pastProcessor = `CREATE OR REPLACE PROCESSOR p RETURNS TABLE (k text, n bigint) LANGUAGE starlark AS $$
def init(self, handle):
    self.h = handle
    self.n = handle.getValueState("n", "n bigint%s")
    self.l = handle.getListState("l", "v bigint", 90000)
    self.m = handle.getMapState("m", "v bigint", "n bigint")
def handleInputRows(self, key, rows, timerValues):
    n = (self.n.get().n if self.n.exists() else 0) + len(rows) * %d
    self.n.update(Row(n = n%s))
    for r in rows:
        self.l.appendValue((r.v,))
        self.m.updateValue((r.v,), (n,))
    self.h.registerTimer(timerValues.getCurrentProcessingTimeInMs() + 40000)
    return [(key[0], n)]
def handleExpiredTimer(self, key, timerValues, info):
    for v in [k[0] for k in self.m.keys()][:1]:
        self.m.removeKey((v,))
    return None
$$`

// TestStateOfThePast: statestore with batch_id gives what it gave at the time, for every kind of state, over restarts and new versions
// of a processor, also where the view was made late; and a change feed applied to a state gives the later ones.
func TestStateOfThePast(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	c := openClocked(t)
	c.exec(`CREATE STREAM s (k text, v bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '10 seconds')`,
		`CREATE STREAM u (k text, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '10 seconds')`, fmt.Sprintf(pastProcessor, "", 1, ""),
		`INSERT INTO s VALUES ('early', 1, '2024-01-01')`)
	for _, v := range pastViews {
		if v.query != "" {
			c.exec("CREATE MATERIALIZED VIEW " + v.view + " AS " + v.query)
		}
	}
	get := func(sql string) string {
		t.Helper()
		got, err := query(c.sess, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return got
	}
	epoch := func() uint64 {
		n, err := strconv.ParseUint(get("SELECT max(max_batch_id) FROM state_metadata('agg')"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const cols = "SELECT * FROM statestore('"
	replaced := uint64(0)
	live := map[uint64][]string{}
	for step := range 40 {
		c.pass(time.Duration(rnd.Intn(40)) * time.Second)
		at := time.Date(2024, 1, 1, 0, 0, step*20+rnd.Intn(60), 0, time.UTC).Format(time.DateTime)
		k := string(rune('a' + rnd.Intn(4)))
		switch {
		case step == 20:
			c.exec(fmt.Sprintf(pastProcessor, ", note text", 10, ", note = 'x'"))
		case rnd.Intn(4) == 0:
			c.exec(fmt.Sprintf(`INSERT INTO u VALUES ('%s', '%s')`, k, at))
		default:
			c.exec(fmt.Sprintf(`INSERT INTO s VALUES ('%s', %d, '%s'), ('a', %d, '%s')`, k, rnd.Intn(5), at, rnd.Intn(5), at))
		}
		if step%9 == 8 {
			c.restart(rnd.Intn(2) == 0)
		}
		n := epoch()
		var now []string
		for _, v := range pastViews {
			now = append(now, get(cols+v.read+") ORDER BY 1, 2"))
		}
		if epoch() == n {
			live[n] = now
		}
		if step == 20 {
			replaced = n
		}
	}
	for n, want := range live {
		for i, v := range pastViews {
			if n < replaced && strings.HasSuffix(v.read, "'n'") {
				continue // the rows of the first version were shown without the column that they have now
			}
			q := fmt.Sprintf("%s%s, batch_id => %d) ORDER BY 1, 2", cols, v.read, n)
			if got := get(q); got != want[i] {
				t.Fatalf("seed %d: %s gives\n%s\nand gave then\n%s", seed, q, got, want[i])
			}
		}
	}
	c.feedAddsUp(t, replaced)
}

// feedAddsUp applies the change feeds from an epoch on to the states after it.
func (c *clocked) feedAddsUp(t *testing.T, from uint64) {
	for _, v := range pastViews {
		if strings.Contains(v.read, "flatten") || strings.Contains(v.read, "timers") {
			continue
		}
		id := "key"
		val := "value"
		switch {
		case strings.Contains(v.read, "'l'"):
			continue // elements have no key of their own
		case strings.Contains(v.read, "'m'"):
			id, val = "key::text || user_map_key::text", "user_map_value"
		case v.view == "jn" || v.view == "ded":
			continue // several entries of one key
		}
		var err error
		read := func(sql string) string {
			got, e := query(c.sess, sql)
			if e != nil {
				err = fmt.Errorf("%s: %w", sql, e)
			}
			return got
		}
		before := fmt.Sprintf("SELECT %d AS batch_id, %s AS id, %s::text AS v FROM statestore('%s, batch_id => %d)", from, id, val, v.read, from)
		feed := fmt.Sprintf("SELECT batch_id, %s, CASE change_type WHEN 'update' THEN %s::text END FROM statestore('%s, read_change_feed => true, change_start_batch_id => %d)",
			id, val, v.read, from+1)
		got := read("SELECT id, v FROM (SELECT DISTINCT ON (id) id, v FROM (" + before + " UNION ALL " + feed + ") x ORDER BY id, batch_id DESC) y WHERE v IS NOT NULL ORDER BY id")
		want := read(fmt.Sprintf("SELECT %s AS id, %s::text FROM statestore('%s) ORDER BY 1", id, val, v.read))
		if err != nil || got != want {
			t.Errorf("%s: the feed makes\n%s\nof the state, which is\n%s\n%v", v.read, got, want, err)
		}
	}
}

// TestChangeFeed compares with what Spark gives (reference 13.8).
func TestChangeFeed(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM s (v int)`, `CREATE MATERIALIZED VIEW n AS SELECT v, count(*) AS c FROM s GROUP BY v`,
		`CREATE MATERIALIZED VIEW d WITH (output_mode = 'append') AS SELECT DISTINCT ON (v) v FROM s`)
	at, _ := query(c.sess, "SELECT max(max_batch_id) + 1 FROM state_metadata('n')")
	c.exec(`INSERT INTO s VALUES (1), (2), (3), (4)`, `INSERT INTO s VALUES (2), (3), (4), (5)`, `INSERT INTO s VALUES (3), (4), (5), (6)`)
	feed := func(cols, args string) string {
		return fmt.Sprintf("SELECT batch_id - %s, change_type, %s FROM statestore('%s, read_change_feed => true, change_start_batch_id => %s)", at, cols, args, at)
	}
	var want []string
	for b := range 3 {
		for v := b + 1; v <= b+4; v++ {
			want = append(want, fmt.Sprintf("%d,update,(%d)", b, v))
		}
	}
	c.want(feed("key", "n'"), want...)
	c.want(feed("key", "d'"), "0,update,(1)", "0,update,(2)", "0,update,(3)", "0,update,(4)", "1,update,(5)", "2,update,(6)")
	c.exec(`CREATE STREAM e (ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 second')`,
		`CREATE MATERIALIZED VIEW w WITH (output_mode = 'append') AS SELECT window.start AS s, count(*) FROM e GROUP BY window(ts, '1 second')`)
	at, _ = query(c.sess, "SELECT max(max_batch_id) + 1 FROM state_metadata('w')")
	c.exec(`INSERT INTO e VALUES ('2024-01-01 00:00:00'), ('2024-01-01 00:00:00')`, `INSERT INTO e VALUES ('2024-01-01 00:00:02')`)
	c.want(feed("(key).window_start, value IS NULL", "w'"), "0,update,2024-01-01 00:00:00,f", "1,delete,2024-01-01 00:00:00,t", "1,update,2024-01-01 00:00:02,f")
}

// TestStateOptions: the conditions of the reference, section 9.1, with their SQLSTATEs.
func TestStateOptions(t *testing.T) {
	c := openClocked(t)
	codeOf := func(err error) string { return string(sqlerr.From(err).Code) }
	c.exec(`CREATE PROCESSOR quiet RETURNS TABLE (k text) LANGUAGE starlark AS $$
def init(self, handle): pass
def handleInputRows(self, key, rows, timerValues): return None
$$`)
	c.exec(`CREATE STREAM s (k text, v bigint)`, `CREATE TABLE t (k text)`, fmt.Sprintf(pastProcessor, "", 1, ""), `INSERT INTO s VALUES ('a', 1)`)
	for _, v := range pastViews[:1] {
		c.exec("CREATE MATERIALIZED VIEW " + v.view + " AS " + v.query)
	}
	c.exec(`CREATE MATERIALIZED VIEW tws AS `+pastViews[5].query, `CREATE MATERIALIZED VIEW over AS SELECT k, count(*) FROM t GROUP BY k`,
		`CREATE MATERIALIZED VIEW none AS SELECT * FROM transform_with_state(TABLE s PARTITION BY k, processor => 'quiet')`)
	c.exec(`INSERT INTO t VALUES ('a')`, `INSERT INTO t VALUES ('b')`)
	for _, x := range []struct{ args, code, says string }{
		{"tws'", "42601", "STDS_REQUIRED_OPTION_UNSPECIFIED"},
		{"agg', snapshot_start_batch_id => 1", "42601", "snapshotPartitionId"},
		{"agg', snapshot_partition_id => 0", "42601", "snapshotStartBatchId"},
		{"agg', read_change_feed => true", "42601", "changeStartBatchId"},
		{"agg', operator_id => -1", "42616", "STDS_INVALID_OPTION_VALUE.IS_NEGATIVE"},
		{"agg', batch_id => -1", "42616", "IS_NEGATIVE"},
		{"agg', snapshot_start_batch_id => -1, snapshot_partition_id => 0", "42616", "IS_NEGATIVE"},
		{"agg', read_change_feed => true, change_start_batch_id => -1", "42616", "IS_NEGATIVE"},
		{"agg', store_name => ''", "42616", "IS_EMPTY"},
		{"agg', join_side => 'middle'", "42616", "WITH_MESSAGE"},
		{"agg', batch_id => 6, snapshot_start_batch_id => 7, snapshot_partition_id => 0", "42616", "WITH_MESSAGE"},
		{"agg', change_start_batch_id => 1", "42616", "readChangeFeed"},
		{"agg', change_end_batch_id => 1", "42616", "readChangeFeed"},
		{"agg', read_change_feed => true, change_start_batch_id => 7, change_end_batch_id => 6", "42616", "changeEndBatchId"},
		{"agg', batch_id => 'x'", "42616", "batchId"},
		{"agg', state_var_name => 'n'", "42616", "stateVarName"},
		{"agg', read_registered_timers => true", "42616", "readRegisteredTimers"},
		{"tws', state_var_name => 'other'", "42616", "stateVarName"},
		{"none', read_registered_timers => true", "42616", "readRegisteredTimers"},
		{"agg', read_change_feed => 'maybe'", "42616", "readChangeFeed"},
		{"agg', operator_id => 7", "42616", "operatorId"},
		{"agg', join_side => 'left', store_name => 'default'", "42613", "STDS_CONFLICT_OPTIONS"},
		{"tws', state_var_name => 'n', read_registered_timers => true", "42613", "STDS_CONFLICT_OPTIONS"},
		{"agg', read_change_feed => true, batch_id => 1, change_start_batch_id => 1", "42613", "batchId"},
		{"agg', read_change_feed => true, join_side => 'left', change_start_batch_id => 1", "42613", "joinSide"},
		{"agg', batch_id => 1000000", "KD006", "STDS_OFFSET_LOG_UNAVAILABLE"},
		{"agg', batch_id => 1", "KD006", "STDS_OFFSET_LOG_UNAVAILABLE"},
		{"over', batch_id => 9", "KD006", "reads \"t\""},
		{"tws', state_var_name => 'l', flatten_collection_types => false, read_change_feed => true, change_start_batch_id => 7", "0A000", "change feed"},
	} {
		_, err := query(c.sess, "SELECT * FROM statestore('"+x.args+")")
		if err == nil || !strings.Contains(err.Error(), x.says) || codeOf(err) != x.code {
			t.Errorf("%s: %v (%s), want %s %s", x.args, err, codeOf(err), x.code, x.says)
		}
	}
	if _, err := query(c.sess, "SELECT * FROM statestore('agg', batch_id => 7, snapshot_start_batch_id => 7, snapshot_partition_id => 0)"); err != nil {
		t.Error(err)
	}
}
