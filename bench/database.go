package bench

import (
	"context"
	"errors"
	"os"

	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/session"
)

// database is a database within this process, in a directory of its own, with one session.
type database struct {
	dir string
	e   *engine.Engine
	s   session.Session
}

// openDatabase opens one with o, of which Dir and Log are filled in, and runs statements.
func openDatabase(ctx context.Context, o engine.Options, setup ...string) (_ *database, err error) {
	d := &database{}
	if d.dir, err = os.MkdirTemp("", "tidemark-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = d.close() // what failed first is told
		}
	}()
	o.Dir, o.Log = d.dir, zerolog.Nop()
	if d.e, err = engine.Open(o); err != nil {
		return nil, err
	}
	if d.s, err = d.e.NewSession(session.Params{User: "bench", Database: "bench"}); err != nil {
		return nil, err
	}
	for _, q := range setup {
		if _, err = query(ctx, d.s, q); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// close ends the database and removes its directory.
func (d *database) close() error {
	var err error
	if d.s != nil {
		d.s.Close()
	}
	if d.e != nil {
		err = d.e.Close()
	}
	return errors.Join(err, os.RemoveAll(d.dir))
}

// xorshift is a generator of random numbers that are the same in each run (Marsaglia, "Xorshift RNGs").
type xorshift uint64

// newXorshift starts a generator; different streams begin at different places.
func newXorshift(stream uint64) xorshift { return xorshift(88172645463325252 + stream) }

func (r *xorshift) next() uint64 {
	x := uint64(*r)
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*r = xorshift(x)
	return x
}
