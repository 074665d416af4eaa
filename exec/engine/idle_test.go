package engine

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/session"
)

// clocked is a database whose processing time a test moves.
type clocked struct {
	t    *testing.T
	o    Options
	us   atomic.Int64
	e    *Engine
	sess session.Session
}

func openClocked(t *testing.T) *clocked {
	c := &clocked{t: t}
	c.us.Store(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro())
	c.o = Options{Dir: t.TempDir(), CheckpointInterval: time.Hour, Clock: func() time.Time { return time.UnixMicro(c.us.Load()) }}
	c.open()
	t.Cleanup(func() {
		if err := c.e.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func (c *clocked) open() {
	c.t.Helper()
	var err error
	if c.e, err = Open(c.o); err != nil {
		c.t.Fatal(err)
	}
	c.sess = newTestSession(c.t, c.e)
}

// restart closes the database and opens it; with crash the log since the last checkpoint is replayed.
func (c *clocked) restart(crash bool) {
	c.t.Helper()
	if crash {
		_ = c.e.do(func() { c.e.dirty = false }) // no final checkpoint
	}
	if err := c.e.Close(); err != nil {
		c.t.Fatal(err)
	}
	c.open()
}

// pass lets processing time pass, and the loop make the epochs that are due.
func (c *clocked) pass(d time.Duration) {
	c.us.Add(d.Microseconds())
	if err := c.e.do(func() { c.e.runUnits(nil) }); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clocked) exec(sqls ...string) {
	c.t.Helper()
	for _, sql := range sqls {
		if _, err := query(c.sess, sql); err != nil {
			c.t.Fatalf("%s: %v", sql, err)
		}
	}
}

func (c *clocked) want(sql string, rows ...string) {
	c.t.Helper()
	got, err := query(c.sess, sql)
	if err != nil {
		c.t.Fatalf("%s: %v", sql, err)
	}
	if got != strings.Join(rows, "\n") {
		c.t.Errorf("%s:\n%s\nwant\n%s", sql, got, strings.Join(rows, "\n"))
	}
}

const windowsOfBoth = `CREATE MATERIALIZED VIEW v WITH (output_mode = 'append') AS SELECT window.start AS s, count(*) AS n
	FROM (SELECT ts FROM a UNION ALL SELECT ts FROM b) x GROUP BY window(ts, '10 minutes')`

// TestIdleTimeout: a stream without rows for its timeout holds the other back no more; going idle and coming back are recorded.
func TestIdleTimeout(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM a (ts timestamp, WATERMARK FOR ts AS ts)`,
		`CREATE STREAM b (ts timestamp, WATERMARK FOR ts AS ts IDLE TIMEOUT INTERVAL '30 seconds')`,
		windowsOfBoth,
		`INSERT INTO b VALUES ('2024-03-01 10:01')`, `INSERT INTO a VALUES ('2024-03-01 10:02'), ('2024-03-01 10:25')`)
	c.want(`SELECT s, n FROM v`)
	c.want(`SELECT held_back_by FROM tidemark.views`, "b")
	c.want(`SELECT input, holds_back FROM tidemark.view_inputs ORDER BY 1`, "a,f", "b,t")
	c.pass(29 * time.Second)
	c.want(`SELECT idle FROM tidemark.watermarks WHERE stream = 'b'`, "f")
	c.pass(time.Second)
	c.want(`SELECT idle FROM tidemark.watermarks WHERE stream = 'b'`, "t")
	c.want(`SELECT watermark FROM tidemark.watermarks WHERE stream = 'b'`, "2024-03-01 10:01:00+00")
	c.want(`SELECT s, n FROM v`, "2024-03-01 10:00:00,2")
	c.want(`SELECT held_back_by FROM tidemark.views`, "a")
	for _, crash := range []bool{false, true, true} {
		c.restart(crash)
		c.want(`SELECT idle FROM tidemark.watermarks WHERE stream = 'b'`, "t")
		c.want(`SELECT s, n FROM v`, "2024-03-01 10:00:00,2")
	}
	// It comes back: what lies behind what was reached without it is late, and it holds the other back again.
	c.exec(`INSERT INTO b VALUES ('2024-03-01 10:05'), ('2024-03-01 10:24')`, `INSERT INTO a VALUES ('2024-03-01 11:00')`)
	c.want(`SELECT stream, event_time, watermark FROM tidemark.late_rows`, "a, b,2024-03-01 10:05:00+00,2024-03-01 10:25:00+00")
	c.want(`SELECT idle FROM tidemark.watermarks WHERE stream = 'b'`, "f")
	c.want(`SELECT s, n FROM v ORDER BY 1`, "2024-03-01 10:00:00,2")
	c.restart(true)
	c.want(`SELECT held_back_by FROM tidemark.views`, "b")
	c.pass(time.Minute)
	c.want(`SELECT s, n FROM v ORDER BY 1`, "2024-03-01 10:00:00,2", "2024-03-01 10:20:00,2")
	// A view that is made now goes through the same epochs.
	c.exec(strings.Replace(windowsOfBoth, "VIEW v", "VIEW v2", 1))
	c.want(`SELECT s, n FROM v2 ORDER BY 1`, "2024-03-01 10:00:00,2", "2024-03-01 10:20:00,2")
	c.want(`SELECT count(*) FROM tidemark.late_rows WHERE view_name = 'v2'`, "1")
}

// TestIdleAdvance: with ADVANCE the watermark of a silent stream moves on by the time that passes after the timeout.
func TestIdleAdvance(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM a (ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 second' IDLE TIMEOUT INTERVAL '10 seconds' ADVANCE)`,
		`CREATE MATERIALIZED VIEW v WITH (output_mode = 'append') AS SELECT window.start AS s, count(*) AS n FROM a GROUP BY window(ts, '10 seconds')`)
	c.pass(time.Minute) // nothing to move yet
	c.want(`SELECT idle, watermark IS NULL FROM tidemark.watermarks`, "t,t")
	c.exec(`INSERT INTO a VALUES ('2024-03-01 10:00:05')`)
	c.want(`SELECT idle, watermark FROM tidemark.watermarks`, "f,2024-03-01 10:00:04+00")
	epoch := func() uint64 { return c.e.current().epoch }
	c.pass(10 * time.Second)
	c.want(`SELECT idle, watermark FROM tidemark.watermarks`, "t,2024-03-01 10:00:04+00")
	was := epoch()
	c.pass(50 * time.Millisecond)
	if epoch() != was {
		t.Error("an epoch less than 100 ms after the last")
	}
	c.pass(50 * time.Millisecond)
	c.want(`SELECT watermark FROM tidemark.watermarks`, "2024-03-01 10:00:04.1+00")
	c.pass(5900 * time.Millisecond)
	c.want(`SELECT watermark FROM tidemark.watermarks`, "2024-03-01 10:00:10+00")
	c.want(`SELECT s, n FROM v`, "2024-03-01 10:00:00,1")
	// Time in which the database is down is nobody's silence.
	for _, crash := range []bool{true, false} {
		c.us.Add(time.Hour.Microseconds())
		c.restart(crash)
		c.want(`SELECT idle, watermark FROM tidemark.watermarks`, "t,2024-03-01 10:00:10+00")
	}
	c.pass(time.Second)
	c.want(`SELECT watermark FROM tidemark.watermarks`, "2024-03-01 10:00:11+00")
	// ADVANCE WATERMARK sets it, and it moves on from there.
	c.exec(`ADVANCE WATERMARK OF a TO '2024-03-01 11:00'`)
	c.pass(2 * time.Second)
	c.want(`SELECT watermark FROM tidemark.watermarks`, "2024-03-01 11:00:02+00")
	c.exec(`INSERT INTO a VALUES ('2024-03-01 11:00:10')`)
	c.want(`SELECT idle, watermark FROM tidemark.watermarks`, "f,2024-03-01 11:00:09+00")
	c.pass(9 * time.Second)
	c.want(`SELECT idle, watermark FROM tidemark.watermarks`, "f,2024-03-01 11:00:09+00")
}

// TestIdleTimer: the loop wakes by itself.
func TestIdleTimer(t *testing.T) {
	s, _ := openTest(t, Options{Dir: t.TempDir()})
	for _, sql := range []string{`CREATE STREAM a (ts timestamp, WATERMARK FOR ts AS ts IDLE TIMEOUT INTERVAL '100 milliseconds' ADVANCE)`,
		`INSERT INTO a VALUES ('2024-03-01 10:00')`} {
		if _, err := query(s, sql); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		got, err := query(s, `SELECT idle AND watermark >= '2024-03-01 10:00:00.5' FROM tidemark.watermarks`)
		if err != nil {
			t.Fatal(err)
		}
		if got == "t" {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the stream did not move on")
		}
	}
}
