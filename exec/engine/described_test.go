package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"
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

// TestReadAtHandOver: a view that is filled is never said to run before readers find its rows. They look again and again here, so that one looks in between.
func TestReadAtHandOver(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM s (k int)`, `INSERT INTO s SELECT g FROM generate_series(1, 1000) g`)
	if err := c.e.do(func() { c.e.opts.BackfillRows = 5 }); err != nil {
		t.Fatal(err)
	}
	never, cancel := context.WithCancel(context.Background())
	cancel() // they do not wait
	for range 100 {
		c.exec(`CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n FROM s`)
		oid := c.e.current().cat.Relation("public", "v").OID
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				for c.e.waitReadable(never, oid) != nil {
				}
				if c.e.current().contents(oid) == nil {
					t.Error("it runs and has no rows")
				}
			})
		}
		readers.Wait()
		c.want(`SELECT n FROM v`, "1000")
		c.exec(`DROP MATERIALIZED VIEW v`)
	}
}
