package engine

import (
	"testing"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// TestAlterStep sets, changes and resets max_watermark_step on a stream that is there.
func TestAlterStep(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM s (k int, ts timestamp, WATERMARK FOR ts AS ts IDLE TIMEOUT INTERVAL '30 seconds' ADVANCE)`,
		`INSERT INTO s VALUES (1, '2024-03-01 10:00')`,
		`ALTER STREAM s SET (max_watermark_step = '1 hour')`,
		`INSERT INTO s VALUES (2, '2024-03-01 12:00'), (3, '2024-03-01 10:30')`)
	c.want(`SELECT k FROM s ORDER BY k`, "1", "3")
	c.want(`SELECT row->>'k' FROM tidemark.dead_letters WHERE relation = 's'`, "2")
	c.want(`SELECT delay, idle_timeout, advance, max_watermark_step FROM tidemark.streams`, "00:00:00,00:00:30,t,01:00:00")
	c.restart(true)
	c.exec(`INSERT INTO s VALUES (4, '2024-03-01 12:00')`, `ALTER STREAM s SET (max_watermark_step = '1 day')`, `INSERT INTO s VALUES (5, '2024-03-01 13:00')`)
	c.want(`SELECT k FROM s ORDER BY k`, "1", "3", "5")
	c.exec(`ALTER STREAM s RESET (max_watermark_step)`, `INSERT INTO s VALUES (6, '2030-03-01 13:00')`)
	c.want(`SELECT k FROM s ORDER BY k`, "1", "3", "5", "6")
	c.want(`SELECT max_watermark_step IS NULL FROM tidemark.streams`, "t")
	c.want(`SELECT row->>'k' FROM tidemark.dead_letters WHERE relation = 's' ORDER BY 1`, "2", "4")
	for _, bad := range []string{"'-1 day'", "'1 month'", "'soon'"} {
		if _, err := query(c.sess, `ALTER STREAM s SET (max_watermark_step = `+bad+`)`); err == nil {
			t.Errorf("max_watermark_step = %s was taken", bad)
		}
	}
}

// TestUnknownOptions: an option that does not exist is told from one that cannot be changed, and the hint has those that do exist.
func TestUnknownOptions(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM s (k int)`, `CREATE MATERIALIZED VIEW v AS SELECT count(*) FROM s`)
	const ofView, ofStream = "The options of a materialized view are output_mode, state_partitions, watermark_policy.",
		"The options of a stream are connector, max_watermark_step, retention, and those of its connector."
	for _, x := range []struct {
		sql     string
		code    sqlerr.Code
		message string
		hint    string
	}{
		{`CREATE STREAM x (k int) WITH (foo = 'bar')`, sqlerr.InvalidParameterValue, `unrecognized parameter "foo"`, ofStream},
		{`CREATE TABLE x (k int) WITH (foo = 'bar')`, sqlerr.InvalidParameterValue, `unrecognized parameter "foo"`, "A table has no options."},
		{`CREATE MATERIALIZED VIEW x WITH (output_mod = 'append') AS SELECT k FROM s`, sqlerr.InvalidParameterValue, `unrecognized parameter "output_mod"`, ofView},
		{`ALTER MATERIALIZED VIEW v SET (state_partitons = 3)`, sqlerr.InvalidParameterValue, `unrecognized parameter "state_partitons"`, ofView},
		{`ALTER MATERIALIZED VIEW v RESET (state_partitons)`, sqlerr.InvalidParameterValue, `unrecognized parameter "state_partitons"`, ofView},
		{`CREATE MATERIALIZED VIEW x WITH (on_error = 'dead') AS SELECT k FROM s`, sqlerr.FeatureNotSupported, `option "on_error" is not supported yet`, ""},
		{`ALTER MATERIALIZED VIEW v SET (on_error = 'dead')`, sqlerr.FeatureNotSupported, `option "on_error" is not supported yet`, ""},
		{`ALTER MATERIALIZED VIEW v SET (output_mode = 'append')`, sqlerr.FeatureNotSupported, `option "output_mode" of a materialized view cannot be changed`, ""},
		{`ALTER STREAM s SET (max_step = '1 day')`, sqlerr.InvalidParameterValue, `unrecognized parameter "max_step"`, ofStream},
		{`ALTER STREAM s SET (retention = '0')`, sqlerr.FeatureNotSupported, `option "retention" of a stream cannot be changed`, ""},
	} {
		_, err := query(c.sess, x.sql)
		if e := sqlerr.From(err); err == nil || e.Code != x.code || e.Message != x.message || e.Hint != x.hint {
			t.Errorf("%s: %+v", x.sql, e)
		}
	}
}
