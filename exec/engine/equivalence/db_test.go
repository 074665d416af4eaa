package equivalence

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state"
)

// db is an engine in this process with one session.
type db struct {
	opts engineOptions
	dir  string
	temp []string
	e    *engine.Engine
	s    session.Session
}

// engineOptions are what a case chooses of how the engine works; views must not show it.
type engineOptions struct {
	memory   int64 // budget in bytes; a tiny one has state evicted and read again
	backfill int64 // rows of history from which on a new view is filled in the background
}

func drawOptions(c *choices) engineOptions {
	return engineOptions{memory: pick(c, int64(64<<20), 1), backfill: pick(c, int64(0), 1, 20)}
}

// tempDir makes a directory, in memory where the system has such a place: tests make thousands of epochs.
func tempDir() (string, error) {
	if d, err := os.MkdirTemp("/dev/shm", "equiv"); err == nil {
		return d, nil
	}
	return os.MkdirTemp("", "equiv")
}

func openDB(o engineOptions) (*db, error) {
	dir, err := tempDir()
	if err != nil {
		return nil, err
	}
	d := &db{opts: o, dir: dir, temp: []string{dir}}
	return d, d.open()
}

func (d *db) open() (err error) {
	d.e, err = engine.Open(engine.Options{Dir: filepath.Join(d.dir, "data"), CheckpointInterval: 50 * time.Millisecond, MemoryBytes: d.opts.memory, BackfillRows: d.opts.backfill,
		Store: state.Options{MemTableSize: 1 << 20}, Log: zerolog.Nop()})
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	d.s, err = d.e.NewSession(session.Params{User: "tidemark", Database: "tidemark", Settings: map[string]string{"TimeZone": "UTC"}})
	return err
}

// restart closes the engine and opens it again.
func (d *db) restart() error {
	d.s.Close()
	if err := d.e.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return d.open()
}

// crash goes on with a copy of the directory, as if the process had been killed now.
func (d *db) crash() error {
	dir, err := tempDir()
	if err != nil {
		return err
	}
	d.temp = append(d.temp, dir)
	if err := copyCrashed(filepath.Join(d.dir, "data"), filepath.Join(dir, "data")); err != nil {
		return err
	}
	d.s.Close()
	if err := d.e.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	d.dir = dir
	return d.open()
}

func (d *db) close() error {
	var err error
	if d.s != nil {
		d.s.Close()
	}
	if d.e != nil {
		err = d.e.Close()
	}
	for _, t := range d.temp {
		os.RemoveAll(t)
	}
	return err
}

// copyCrashed copies a directory in use. No statement runs meanwhile, but a checkpoint may, so a copy during which the
// directory changed is made again.
func copyCrashed(from, to string) error {
	for try := 0; ; try++ {
		before, err := listing(from)
		if err == nil {
			if err = os.CopyFS(to, os.DirFS(from)); err == nil {
				var after string
				if after, err = listing(from); err == nil && before == after {
					return nil
				}
			}
		}
		if try == 100 {
			return fmt.Errorf("the directory does not come to rest: %v", err)
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func listing(dir string) (string, error) {
	s := ""
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		i, err := e.Info()
		if err == nil && !e.IsDir() {
			s += fmt.Sprintln(p, i.Size(), i.ModTime().UnixNano())
		}
		return err
	})
	return s, err
}

// rowset is the result of a query: its rows as text, NULL as nullText.
type rowset struct {
	cols []colType
	rows [][]string
}

type colType struct {
	name string
	oid  uint32
}

const nullText = "\x00NULL"

// on runs a scenario on a database of its own.
func (s *scenario) on(run func(*db) *failure) *failure {
	d, err := openDB(s.opts)
	if err != nil {
		return failed("open", "%v", err)
	}
	f := run(d)
	if err := d.close(); err != nil && f == nil {
		f = failed("close", "%v", err)
	}
	return f
}

// create makes a stream or table.
func (d *db) create(r *relation) *failure {
	if _, err := d.run(tidemark(r.ddl())); err != nil {
		return failed("create "+sqlState(err), "%s: %v", tidemark(r.ddl()), err)
	}
	return nil
}

// run runs statements, each by itself unless they say otherwise, and gives the rows of the last.
func (d *db) run(sql string) (out *rowset, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	sts, err := d.s.Parse(sql)
	if err != nil {
		return nil, err
	}
	for _, st := range sts {
		out, err = d.one(ctx, st)
		for sqlState(err) == "55000" && strings.Contains(err.Error(), "still being filled") && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
			out, err = d.one(ctx, st)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *db) one(ctx context.Context, st session.Statement) (*rowset, error) {
	p, err := d.s.Prepare(ctx, st, nil)
	if err != nil {
		return nil, err
	}
	res, err := d.s.Execute(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	out := &rowset{}
	for _, c := range res.Columns() {
		out.cols = append(out.cols, colType{c.Name, c.Type.OID()})
	}
	env := d.s.Env()
	for {
		b, err := res.Next(ctx, 0)
		if err != nil || b == nil {
			return out, err
		}
		for i := 0; i < b.N; i++ {
			row := make([]string, len(b.Cols))
			for c, v := range b.Cols {
				row[c] = nullText
				if !v.IsNull(i) {
					row[c] = types.Format(v.Type, v.Datum(i), env)
				}
			}
			for w := b.Weight(i); w > 0; w-- {
				out.rows = append(out.rows, row)
			}
		}
	}
}

// sqlState gives the SQLSTATE of an error of the engine.
func sqlState(err error) string {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return string(e.Code)
	}
	return ""
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
