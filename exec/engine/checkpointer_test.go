package engine

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
