package tidemark

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"
)

// The processors of TestBuiltIns, each the twin of a built-in operator.
const twins = `
CREATE PROCESSOR p_count RETURNS TABLE (k text, n bigint, total bigint) LANGUAGE starlark AS $$
def init(self, handle):
    self.s = handle.getValueState("s", "n bigint, total bigint")
def handleInputRows(self, key, rows, timerValues):
    n, total = self.s.get() if self.s.exists() else (0, None)
    for r in rows:
        n += 1
        if r.v != None:
            total = r.v + (total or 0)
    self.s.update((n, total))
    return [(key[0], n, total)]
$$;
CREATE PROCESSOR p_dedup RETURNS TABLE (k text, ts timestamp, v bigint) LANGUAGE starlark AS $$
def init(self, handle):
    self.handle = handle
    self.seen = handle.getMapState("seen", "ts timestamp", "ok boolean")
def handleInputRows(self, key, rows, timerValues):
    out = []
    for r in rows:
        if not self.seen.containsKey((r.ts,)):
            self.seen.updateValue((r.ts,), (True,))
            self.handle.registerTimer(millis(r.ts))
            out.append((key[0], r.ts, r.v))
    return out
def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
    self.seen.removeKey((timestamp(expiredTimerInfo.getExpiryTimeInMs()),))
$$;
CREATE PROCESSOR p_session RETURNS TABLE (k text, since timestamp, until timestamp, n bigint) LANGUAGE starlark AS $$
GAP = 60 * 1000
def init(self, handle):
    self.handle = handle
    self.open = handle.getMapState("open", "since bigint", "until bigint, n bigint")
def handleInputRows(self, key, rows, timerValues):
    open = {k[0]: (v[0], v[1]) for k, v in self.open.iterator()}
    for r in rows:
        since, until, n = millis(r.ts), millis(r.ts) + GAP, 1
        for s, (u, m) in list(open.items()):
            if since <= u and s <= until:
                since, until, n = min(since, s), max(until, u), n + m
                open.pop(s)
        open[since] = (until, n)
    self.open.clear()
    for t in self.handle.listTimers():
        self.handle.deleteTimer(t)
    for s, (u, n) in open.items():
        self.open.updateValue((s,), (u, n))
        self.handle.registerTimer(u)
def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
    out = []
    for k, v in list(self.open.iterator()):
        if v.until <= expiredTimerInfo.getExpiryTimeInMs():
            self.open.removeKey((k[0],))
            out.append((key[0], timestamp(k[0]), timestamp(v.until), v.n))
    return out
$$;
CREATE PROCESSOR p_join RETURNS TABLE (k text, a bigint, b bigint) LANGUAGE starlark AS $$
def init(self, handle):
    self.even = handle.getListState("even", "v bigint")
    self.odd = handle.getListState("odd", "v bigint")
def handleInputRows(self, key, rows, timerValues):
    out = []
    for r in rows:
        if r.v == None:
            continue
        mine, other = (self.even, self.odd) if r.v % 2 == 0 else (self.odd, self.even)
        mine.appendValue((r.v,))
        for x in other.get():
            out.append((key[0], r.v, x[0]) if r.v % 2 == 0 else (key[0], x[0], r.v))
    return out
$$;
CREATE STREAM s (k text, ts timestamp, v bigint, WATERMARK FOR ts AS ts - INTERVAL '30 seconds');
-- Sessions and joins judge rows late by rules of their own: no row of this stream is late.
CREATE STREAM calm (k text, ts timestamp, v bigint, WATERMARK FOR ts AS ts - INTERVAL '65 seconds');
CREATE MATERIALIZED VIEW count_p AS SELECT * FROM transform_with_state(TABLE s PARTITION BY k, processor => 'p_count');
CREATE MATERIALIZED VIEW count_b AS SELECT k, count(*) AS n, sum(v)::bigint AS total FROM s GROUP BY k;
CREATE MATERIALIZED VIEW dedup_p WITH (output_mode = 'append') AS SELECT * FROM transform_with_state(TABLE s PARTITION BY k, processor => 'p_dedup', time_mode => 'event_time');
CREATE MATERIALIZED VIEW dedup_b WITH (output_mode = 'append') AS SELECT DISTINCT ON (k, ts) k, ts, v FROM s;
CREATE MATERIALIZED VIEW session_p WITH (output_mode = 'append') AS SELECT * FROM transform_with_state(TABLE calm PARTITION BY k, processor => 'p_session', time_mode => 'event_time');
CREATE MATERIALIZED VIEW session_b WITH (output_mode = 'append') AS SELECT k, session_window.start AS since, session_window.end AS until, count(*) AS n FROM calm GROUP BY k, session_window(ts, '1 minute');
CREATE MATERIALIZED VIEW join_p WITH (output_mode = 'append') AS SELECT * FROM transform_with_state(TABLE calm PARTITION BY k, processor => 'p_join') WHERE k IS NOT NULL;
CREATE MATERIALIZED VIEW join_b AS SELECT a.k, a.v AS a, b.v AS b FROM calm a JOIN calm b ON a.k = b.k WHERE a.v % 2 = 0 AND b.v % 2 = 1;
`

func contents(t *testing.T, db *DB, sql string) string {
	t.Helper()
	rows, err := db.Query(context.Background(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		out = append(out, fmt.Sprint(rows.Values()...))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	sort.Strings(out)
	return strings.Join(out, "\n")
}

// TestBuiltIns: processors written as built-in operators are give what those give, over random streams, with restarts and with a
// replay of the log, which gives the same again.
func TestBuiltIns(t *testing.T) {
	seed := rand.Int63()
	rnd := rand.New(rand.NewSource(seed))
	dir := t.TempDir()
	ctx := context.Background()
	open := func(dir string) *DB {
		db, err := Open(dir, WithCheckpointInterval(time.Hour))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		return db
	}
	db := open(dir)
	defer func() { db.Close() }()
	if err := db.Exec(ctx, twins); err != nil {
		t.Fatal(err)
	}
	now := int64(1_700_000_000)
	for epoch := 0; epoch < 60; epoch++ {
		var vals []string
		for i := rnd.Intn(12); i >= 0; i-- {
			now += rnd.Int63n(12)
			k := []string{"'a'", "'b'", "'c'", "NULL"}[rnd.Intn(4)]
			v := fmt.Sprint(rnd.Intn(20))
			if rnd.Intn(8) == 0 {
				v = "NULL"
			}
			vals = append(vals, fmt.Sprintf("(%s, to_timestamp(%d) AT TIME ZONE 'UTC', %s)", k, now-rnd.Int63n(60), v))
		}
		rows := strings.Join(vals, ", ")
		if err := db.Exec(ctx, "INSERT INTO s VALUES "+rows+"; INSERT INTO calm VALUES "+rows); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if rnd.Intn(12) == 0 {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db = open(dir)
		}
		if epoch%10 != 9 {
			continue
		}
		for _, v := range []string{"count", "dedup", "session", "join"} {
			p, b := contents(t, db, "SELECT * FROM "+v+"_p"), contents(t, db, "SELECT * FROM "+v+"_b")
			if p != b {
				t.Fatalf("seed %d, epoch %d: %s by a processor\n%s\nand built in\n%s", seed, epoch, v, p, b)
			}
		}
	}
	if n := contents(t, db, "SELECT count(*) FROM session_p"); n == "0" {
		t.Fatalf("seed %d: no session was closed", seed)
	}
	// What a crash leaves is the last checkpoint and the log.
	crashed := t.TempDir()
	copyTree(t, dir, crashed)
	again := open(crashed)
	defer again.Close()
	for _, v := range []string{"count", "dedup", "session", "join"} {
		for _, q := range []string{"SELECT * FROM " + v + "_p", "SELECT * FROM tidemark.late_rows WHERE view_name = '" + v + "_p'"} {
			if a, b := contents(t, db, q), contents(t, again, q); a != b {
				t.Fatalf("seed %d: %s after a replay\n%s\nand before\n%s", seed, q, b, a)
			}
		}
	}
}

// TestReplaceReplay: a processor that was replaced, processors and functions that were dropped, and state carried over from a view that is
// gone, are as they were when the log is replayed.
func TestReplaceReplay(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	open := func(dir string) *DB {
		db, err := Open(dir, WithCheckpointInterval(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open(dir)
	defer db.Close()
	version := func(n int, schema, add string) string {
		return fmt.Sprintf(`CREATE OR REPLACE PROCESSOR p RETURNS TABLE (k text, n bigint) LANGUAGE starlark AS $$
def init(self, handle): self.n = handle.getValueState("n", "%s")
def handleInitialState(self, key, initialState, timerValues): self.n.update(Row(%s))
def handleInputRows(self, key, rows, timerValues):
    old = self.n.get().n if self.n.exists() else 0
    self.n.update(Row(%s))
    return [(key[0], int(old) * 10 + %d)]
$$`, schema, strings.ReplaceAll(add, "old", "initialState.n"), add, n)
	}
	const state = "SELECT * FROM statestore('w', state_var_name => 'n')"
	steps := []string{
		"CREATE STREAM s (k text)", "CREATE FUNCTION f(x text) RETURNS text LANGUAGE starlark AS 'def f(x): return x.upper()'",
		version(1, "n int", "n = old + 1"),
		"CREATE MATERIALIZED VIEW v AS SELECT * FROM transform_with_state(TABLE s PARTITION BY k, processor => 'p')",
		"INSERT INTO s VALUES ('a'), ('b')",
		version(2, "n bigint, note text", "n = old + 100, note = 'x'"),
		"INSERT INTO s VALUES ('a'), ('c')",
		"CREATE MATERIALIZED VIEW w AS SELECT f(k) AS k, n FROM transform_with_state(TABLE s PARTITION BY k, processor => 'p', initial_state => TABLE (SELECT key.k AS k, value.n AS n FROM statestore('v', state_var_name => 'n')) PARTITION BY k)",
		"DROP MATERIALIZED VIEW v",
		"INSERT INTO s VALUES ('a'), ('d')",
		version(3, "note text, n numeric", "n = int(old) + 1000, note = 'y'"),
		"INSERT INTO s VALUES ('a')",
	}
	for _, sql := range steps {
		if err := db.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	want, wantState := contents(t, db, "SELECT * FROM w"), contents(t, db, state)
	if !strings.Contains(want, "A") || !strings.Contains(wantState, "y") {
		t.Fatalf("%s\n%s", want, wantState)
	}
	crashed := t.TempDir()
	copyTree(t, dir, crashed)
	for i := 0; i < 2; i++ { // from the log, and then from the checkpoint that Close wrote
		again := open(crashed)
		if got, gotState := contents(t, again, "SELECT * FROM w"), contents(t, again, state); got != want || gotState != wantState {
			t.Fatalf("opening %d: got\n%s\n%s\nwant\n%s\n%s", i, got, gotState, want, wantState)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.Walk(from, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if info.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}
