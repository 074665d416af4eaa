package engine

import (
	"testing"
	"time"
)

// TestProgress checks one epoch's figures, in snake_case and as Spark writes them.
func TestProgress(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 minute')`,
		`CREATE MATERIALIZED VIEW v WITH (state_partitions = 3) AS SELECT k, window.start AS s, count(*) AS n FROM (SELECT DISTINCT ON (k, ts) * FROM s) d GROUP BY k, window(ts, '10 minutes')`,
		`INSERT INTO s VALUES (1, '2024-03-01 10:00'), (1, '2024-03-01 10:00'), (2, '2024-03-01 10:20:00.0005'), (3, NULL)`)
	c.pass(2 * time.Second)
	c.exec(`INSERT INTO s VALUES (4, '2024-03-01 10:00'), (5, '2024-03-01 10:30')`)
	at := ` FROM tidemark.query_progress WHERE view_name = 'v' AND num_input_rows = `
	c.want(`SELECT event_time`+at+`4`,
		`{"avg": "2024-03-01T10:06:40.000Z", "max": "2024-03-01T10:20:00.000Z", "min": "2024-03-01T10:00:00.000Z", "watermark_after": "2024-03-01T10:19:00.000Z"}`)
	c.want(`SELECT event_time->>'watermark', event_time->>'watermark_after', input_rows_per_second`+at+`2`, "2024-03-01T10:19:00.000Z,2024-03-01T10:29:00.000Z,1")
	c.want(`SELECT input_rows_per_second IS NULL, progress ? 'inputRowsPerSecond'`+at+`4`, "t,f")
	c.want(`SELECT count(*) FROM tidemark.query_progress WHERE duration_ms ?& ARRAY['latestOffset', 'queryPlanning', 'walCommit', 'addBatch', 'commitOffsets', 'triggerExecution']`, "3")
	c.want(`SELECT sources->0->>'start_offset', sources->0->>'end_offset', sources->0->>'latest_offset', sources->0->>'lag', sources->0->>'num_input_rows'`+at+`2`, "4,6,6,0,2")
	c.want(`SELECT sink->>'num_output_rows'`+at+`4`, "2")
	c.want(`SELECT progress->'eventTime'->>'watermark', progress->>'timestamp', progress->>'name', progress->'sources'->0->>'endOffset'`+at+`2`,
		"2024-03-01T10:19:00.000Z,2030-01-01T00:00:02.000Z,v,6")
	c.want(`SELECT jsonb_array_length(progress->'stateOperators'), progress->'stateOperators'->1->'customMetrics'->>'numDroppedDuplicateRows'`+at+`4`, "2,1")
	c.want(`SELECT state_operators->0->>'num_rows_null_event_time', progress->'stateOperators'->0->>'numRowsNullEventTime'`+at+`4`, "1,1")
	c.want(`SELECT state_operators->1->>'num_rows_dropped_by_watermark'`+at+`2`, "1")
	c.want(`SELECT operator_id, num_rows_total, num_shuffle_partitions, num_state_store_instances FROM tidemark.state_operators WHERE view_name = 'v' ORDER BY 1`, "0,2,3,3", "1,2,3,3") // the open windows; 10:30, and the row without a time
	ids := `SELECT id, run_id FROM tidemark.query_progress ORDER BY batch_id DESC LIMIT 1`
	was, _ := query(c.sess, ids)
	c.restart(false)
	c.exec(`INSERT INTO s VALUES (6, '2024-03-01 10:40')`)
	now, _ := query(c.sess, ids)
	if was[:36] != now[:36] || was[36:] == now[36:] {
		t.Errorf("ids %s before and %s after a restart", was, now)
	}
	for range 120 {
		c.exec(`INSERT INTO s VALUES (7, '2024-03-01 10:40')`)
	}
	c.want(`SELECT count(*), max(batch_id) - min(batch_id) FROM tidemark.query_progress`, "100,99")
}

// TestJoinNulls: rows with a NULL key are kept out of a join's state, and counted in the epoch in which they came.
func TestJoinNulls(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM a (k int, v int)`, `CREATE STREAM b (k int, v int)`, `CREATE MATERIALIZED VIEW j AS SELECT a.v, b.v AS w FROM a JOIN b ON a.k = b.k`,
		`INSERT INTO a VALUES (1, 1), (NULL, 2), (NULL, 3)`)
	const nulls = `SELECT num_rows_total, custom_metrics->>'skippedNullValueCount' FROM tidemark.state_operators WHERE view_name = 'j'`
	c.want(nulls, "1,2")
	c.exec(`INSERT INTO b VALUES (1, 1), (NULL, 2)`)
	c.want(nulls, "2,1")
	c.exec(`INSERT INTO b VALUES (2, 1)`)
	c.want(nulls, "3,0")
}

// TestAdvanceWatermark: it lasts over restarts, does not go back, and takes no other times than finite ones.
func TestAdvanceWatermark(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 minute')`,
		`CREATE MATERIALIZED VIEW v WITH (output_mode = 'append') AS SELECT window.start AS s, count(*) AS n FROM s GROUP BY window(ts, '10 minutes')`,
		`INSERT INTO s VALUES (1, '2024-03-01 10:00')`, `ADVANCE WATERMARK OF s TO '2024-03-01 10:10'`)
	for _, crash := range []bool{true, false, true} {
		c.want(`SELECT s, n FROM v`, "2024-03-01 10:00:00,1")
		c.want(`SELECT watermark FROM tidemark.watermarks`, "2024-03-01 10:10:00+00")
		epoch := c.e.current().epoch
		c.exec(`ADVANCE WATERMARK OF s TO '2024-03-01 10:05'`)
		if c.e.current().epoch != epoch {
			t.Error("an epoch that changes nothing")
		}
		c.restart(crash)
	}
	for _, bad := range []string{"NULL", "'infinity'", "'-infinity'"} {
		if _, err := query(c.sess, `ADVANCE WATERMARK OF s TO `+bad); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	// Before 1970 and before the first event time.
	c.exec(`CREATE STREAM o (ts timestamp, WATERMARK FOR ts AS ts)`, `ADVANCE WATERMARK OF o TO '1960-01-01'`)
	c.want(`SELECT watermark FROM tidemark.watermarks WHERE stream = 'o'`, "1960-01-01 00:00:00+00")
}
