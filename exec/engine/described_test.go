package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestAlterWhileFilled: ALTER may describe a view anew while another goroutine fills it and sessions read what it is. The race detector judges.
func TestAlterWhileFilled(t *testing.T) {
	c := openClocked(t)
	rows := strings.Repeat(`(1),(2),(3),`, 300) + `(4)`
	c.exec(`CREATE STREAM s (k int)`)
	for range 30 {
		c.exec(`INSERT INTO s VALUES ` + rows)
	}
	if err := c.e.do(func() { c.e.opts.BackfillRows = 5 }); err != nil {
		t.Fatal(err)
	}
	c.exec(`CREATE MATERIALIZED VIEW v WITH (state_partitions = 2) AS SELECT k, count(*) AS n FROM s GROUP BY k`)
	done := make(chan error)
	go func() {
		s := newTestSession(t, c.e)
		for range 20 {
			if _, err := query(s, `SELECT count(definition) FROM tidemark.views`); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for i := range 10 {
		c.exec(fmt.Sprintf(`ALTER MATERIALIZED VIEW v SET (state_partitions = %d)`, 1+i%2))
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	c.want(`SELECT k, n FROM v ORDER BY k`, "1,9000", "2,9000", "3,9000", "4,30")
}
