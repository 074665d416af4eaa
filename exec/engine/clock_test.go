package engine

import (
	"strings"
	"testing"
)

// TestSetClockFiresAll: timers that firing timers register for a time that has come fire before SET CLOCK returns, in later epochs; a timer that
// registers the next one without end does not keep it.
func TestSetClockFiresAll(t *testing.T) {
	s, done := openTest(t, Options{Dir: t.TempDir(), VirtualClock: NewVirtualClock()})
	defer done()
	exec := func(sql string) string {
		t.Helper()
		got, err := query(s, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return got
	}
	for _, sql := range []string{"CREATE STREAM s (k text, n bigint)",
		`CREATE PROCESSOR chain RETURNS TABLE (k text, late_ms bigint, now bigint) LANGUAGE starlark AS $$
def init(self, handle):
    self.h = handle
    self.left = handle.getValueState("left", "n bigint")
def handleInputRows(self, key, rows, timerValues):
    self.left.update((rows[-1].n,))
    self.h.registerTimer(timerValues.getCurrentProcessingTimeInMs() + 1000)
def handleExpiredTimer(self, key, timerValues, info):
    left, at, now = self.left.get()[0], info.getExpiryTimeInMs(), timerValues.getCurrentProcessingTimeInMs()
    if left > 0:
        self.left.update((left - 1,))
        self.h.registerTimer(at - 5)
    return [(key[0], now - at, now)]
$$`,
		"CREATE MATERIALIZED VIEW v WITH (output_mode = 'append') AS SELECT * FROM transform_with_state(TABLE s PARTITION BY k, processor => 'chain', time_mode => 'processing_time')",
		"SET CLOCK TO '2024-03-01 10:00:00'", "INSERT INTO s VALUES ('three', 3)", "SET CLOCK TO '2024-03-01 10:00:01'"} {
		exec(sql)
	}
	if got := exec("SELECT late_ms FROM v ORDER BY 1"); got != "0\n5\n10\n15" {
		t.Errorf("fired late by %s ms, want 0, 5, 10, 15", strings.ReplaceAll(got, "\n", ", "))
	}
	if got := exec("SELECT count(*) FROM statestore('v', read_registered_timers => true)"); got != "0" {
		t.Errorf("%s timers are left", got)
	}
	exec("INSERT INTO s VALUES ('endless', 1000000)")
	exec("SET CLOCK TO '2024-03-01 10:00:02'")
	if got := exec("SELECT count(*) > 900 FROM v WHERE k = 'endless'"); got != "t" {
		t.Errorf("an endless chain of timers: %s", got)
	}
}
