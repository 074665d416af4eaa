package engine

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// TestManyTimersBesideOthers: more timers than an epoch may fire fall due at once. They fire in order over several epochs, none of which fires more
// than it may, while INSERTs into another stream are taken and are visible in its view when they return.
func TestManyTimersBesideOthers(t *testing.T) {
	const timers = 250_000
	s, done := openTest(t, Options{Dir: t.TempDir()})
	defer done()
	exec := func(sql string) string {
		t.Helper()
		got, err := query(s, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return got
	}
	for _, sql := range []string{"CREATE STREAM ev (k bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 day')", "CREATE STREAM other (n bigint)",
		"CREATE MATERIALIZED VIEW others AS SELECT count(*) AS n FROM other",
		`CREATE PROCESSOR p RETURNS TABLE (k bigint, at bigint) LANGUAGE starlark AS $$
def init(self, handle):
    self.h = handle
    self.part = handle.getValueState("part", "v boolean")
def handleInputRows(self, key, rows, timerValues):
    self.part.update((True,))
    self.h.registerTimer(millis(rows[0].ts))
def handleExpiredTimer(self, key, timerValues, info):
    return [(key[0], info.getExpiryTimeInMs())]
$$`,
		"CREATE MATERIALIZED VIEW fired WITH (output_mode = 'append') AS SELECT * FROM transform_with_state(TABLE ev PARTITION BY k, processor => 'p', time_mode => 'event_time')",
		// Keys in one order, times in another.
		fmt.Sprintf("INSERT INTO ev SELECT i, timestamp '2024-01-01' + (i * 7919 %% %d) * INTERVAL '1 millisecond' FROM generate_series(1, %d) g(i)", timers, timers)} {
		exec(sql)
	}
	if n := exec("SELECT count(*) FROM statestore('fired', read_registered_timers => true)"); n != fmt.Sprint(timers) {
		t.Fatalf("%s timers are registered", n)
	}
	var all atomic.Bool
	failed := make(chan error, 1)
	other := newTestSession(t, s.(*sess).e)
	go func() {
		for n := 1; !all.Load() || n < 10; n++ {
			_, err := query(other, "INSERT INTO other VALUES (1)")
			got := ""
			if err == nil {
				got, err = query(other, "SELECT n FROM others")
			}
			if err != nil || got != fmt.Sprint(n) {
				failed <- fmt.Errorf("after INSERT %d the other view has %s: %v", n, got, err)
				return
			}
		}
		failed <- nil
	}()
	exec("ADVANCE WATERMARK OF ev TO '2024-01-03'")
	for exec("SELECT count(*) FROM fired") != fmt.Sprint(timers) {
		select {
		case err := <-failed:
			t.Fatal(err)
		default:
		}
	}
	all.Store(true)
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	// In the order in which they were emitted: ascending within the part of the keys that runs by itself, in one epoch.
	part := map[string]string{}
	for _, line := range strings.Split(exec("SELECT key.k, partition_id FROM statestore('fired', state_var_name => 'part')"), "\n") {
		k, p, _ := strings.Cut(line, ",")
		part[k] = p
	}
	last := map[string]string{}
	for _, line := range strings.Split(exec("SELECT k, at FROM fired"), "\n") {
		k, at, _ := strings.Cut(line, ",")
		if p := part[k]; at <= last[p] {
			t.Fatalf("timer %s of key %s fired after %s", at, k, last[p])
		} else {
			last[p] = at
		}
	}
	sum, epochs := 0, strings.Split(exec("SELECT sink->>'num_output_rows' FROM tidemark.query_progress WHERE view_name = 'fired' AND sink->>'num_output_rows' <> '0'"), "\n")
	for _, text := range epochs {
		n, err := strconv.Atoi(text)
		if err != nil || n > 100_100 { // the share of each instance is rounded up
			t.Fatalf("timers by epoch: %v", epochs)
		}
		sum += n
	}
	if sum != timers {
		t.Errorf("timers by epoch: %v", epochs)
	}
}
