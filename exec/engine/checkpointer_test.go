package engine

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/checkpoint"
	"github.com/tidemarkdb/tidemark/state"
)

// TestFailedFreeze: a checkpoint that cannot be made, because what it looks at cannot be read, takes nothing away from the next one.
func TestFailedFreeze(t *testing.T) {
	c := openClocked(t)
	c.exec(`SET late_rows_max_bytes = '100kB'`, `CREATE TABLE t (k int PRIMARY KEY)`, `CREATE STREAM s (k int)`,
		`CREATE MATERIALIZED VIEW a AS SELECT count(*) AS n, sum(k) AS k FROM s`,
		`CREATE MATERIALIZED VIEW v AS SELECT sum(1 / (k - k)) AS x FROM s WHERE k > 0`,
		`INSERT INTO s SELECT g FROM generate_series(1, 30000) g`, `CHECKPOINT`) // the letters of the newest epoch stay
	c.exec(`INSERT INTO s VALUES (0), (0)`, `INSERT INTO t VALUES (1)`)
	mend := spoilTables(t, c.o.Dir)
	if _, err := query(c.sess, `CHECKPOINT`); err == nil {
		t.Fatal("letters that cannot be read were trimmed")
	}
	mend()
	c.exec(`CHECKPOINT`)
	for range 2 {
		c.restart(true)
		c.want(`SELECT n FROM a`, "30002")
		c.want(`SELECT count(*) FROM t`, "1")
		c.want(`SELECT count(*) FROM tidemark.dead_letters`, "0")
	}
	c.exec(`INSERT INTO s VALUES (0)`)
	c.want(`SELECT n FROM a`, "30003")
}

// spoilTables overwrites the store's tables, and gives the function that puts back what was there.
func spoilTables(t *testing.T, dir string) (mend func()) {
	t.Helper()
	was := map[string][]byte{}
	write := func(path string, b []byte) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".sst") {
			return err
		}
		was[path], err = os.ReadFile(path)
		return err
	})
	if err != nil || len(was) == 0 {
		t.Fatalf("%d tables, %v", len(was), err)
	}
	for path, b := range was {
		write(path, make([]byte, len(b)))
	}
	return func() {
		for path, b := range was {
			write(path, b)
		}
	}
}

// TestFilledViewIsCheckpointed: a view that was being filled when a checkpoint was made is in the last one, also where nothing else has
// changed since.
func TestFilledViewIsCheckpointed(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE STREAM s (k int)`, `INSERT INTO s SELECT g FROM generate_series(1, 100000) g`)
	if err := c.e.do(func() { c.e.opts.BackfillRows = 5 }); err != nil {
		t.Fatal(err)
	}
	during := false
	for range 20 {
		c.exec(`CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n, sum(k) AS k FROM s`)
		oid := c.e.current().cat.Relation("public", "v").OID
		err := c.e.do(func() {
			if st, _ := c.e.viewByOID[oid].getStatus(); st == viewBackfill {
				during = c.e.startCheckpoint() == nil
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		c.want(`SELECT n FROM v`, "100000") // waits until it is filled
		if during {
			if err := c.e.Close(); err != nil {
				t.Fatal(err)
			}
			st, err := state.Open(c.o.Dir, state.Options{})
			if err != nil {
				t.Fatal(err)
			}
			cp, ok, err := checkpoint.Load(st)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			if _, ok := cp.Views[oid]; !ok {
				t.Error("the view is in no checkpoint")
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			break
		}
		c.exec(`DROP MATERIALIZED VIEW v`)
	}
	if !during {
		t.Skip("the view was filled before a checkpoint could begin")
	}
	c.open()
	c.want(`SELECT n FROM v`, "100000")
}

// TestWrittenIsLetGo: once a checkpoint is written, readers of relations that do not change see them on disk, and their rows in memory are gone; what they read is the same.
func TestWrittenIsLetGo(t *testing.T) {
	c := openClocked(t)
	c.exec(`CREATE TABLE t (k int PRIMARY KEY, v int UNIQUE)`, `CREATE STREAM s (k int)`,
		`CREATE MATERIALIZED VIEW by_k AS SELECT k, count(*) AS n FROM s GROUP BY k`,
		`CREATE MATERIALIZED VIEW copied WITH (output_mode = 'append') AS SELECT k FROM s`,
		`INSERT INTO t SELECT g, -g FROM generate_series(1, 3000) g`, `INSERT INTO s SELECT g % 5000 FROM generate_series(1, 10000) g`)
	for _, q := range []string{`CHECKPOINT`, `INSERT INTO t VALUES (0, 0)`, `CHECKPOINT`, `INSERT INTO s VALUES (1)`} {
		c.exec(q)
		if q != `CHECKPOINT` {
			continue
		}
		for running := true; running; { // it has still to tell the loop that it is done
			if err := c.e.do(func() { running = c.e.checkpoints.running }); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.e.do(func() {
			p := c.e.current()
			for _, tab := range c.e.tables {
				s := p.contents(tab.rel.OID).(*tableSnapshot)
				if now := tab.publish(p.epoch).(*tableSnapshot); s.contentSnapshot != now.contentSnapshot || s.uniq[0] != now.uniq[0] {
					t.Error("readers of the table have what was written in memory")
				}
				if n := tab.rows.memBytes(); n > 1000 {
					t.Errorf("the table has %d bytes in memory", n)
				}
			}
			for _, v := range c.e.views {
				s := p.contents(v.rel().OID).(*viewSnapshot)
				if s.contentSnapshot != v.out.publish(p.epoch) {
					t.Errorf("readers of %s have what was written in memory", v.rel().Name)
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	c.want(`SELECT n FROM by_k WHERE k = 1`, "3")
	c.want(`SELECT n FROM by_k WHERE k = 4999`, "2")
	c.want(`SELECT count(*), sum(n) FROM by_k`, "5000,10001")
	c.want(`SELECT count(*), sum(k) FROM copied`, "10001,24995001")
	c.want(`SELECT count(*), sum(k), sum(v) FROM t`, "3001,4501500,-4501500")
	c.want(`SELECT v FROM t WHERE k = 2999`, "-2999")
}
