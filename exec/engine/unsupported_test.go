package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// TestUnsupportedSaysWhere: statements that are not built answer 0A000, at where they begin or at the word that is not known.
func TestUnsupportedSaysWhere(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE TABLE t (k int PRIMARY KEY, v int)`, `CREATE STREAM s (k int)`)
	for _, x := range []struct{ sql, at string }{
		{`CREATE INDEX ON t (v)`, "CREATE"},
		{`SUBSCRIBE t`, "SUBSCRIBE"},
		{`EXPLAIN ANALYZE SELECT 1`, "EXPLAIN"},
		{`EXPLAIN DELETE FROM t`, "EXPLAIN"},
		{`CREATE SINK x FROM t`, "CREATE"},
		{`ALTER TABLE t ADD COLUMN w int`, "ALTER"},
		{`ALTER TABLE t DROP COLUMN v`, "ALTER"},
		{`COMMENT ON DATABASE d IS 'x'`, "COMMENT"},
		{`CREATE TEMP TABLE u (a int)`, "CREATE"},
		{`CREATE TABLE u (a serial)`, "CREATE"},
		{`SELECT 1 AS a INTO u`, "INTO"},
	} {
		_, err := query(c.sess, x.sql)
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != sqlerr.FeatureNotSupported || e.Position != strings.Index(x.sql, x.at)+1 {
			t.Errorf("%s: %v, %+v", x.sql, err, e)
		}
	}
}
