// Package tidemark embeds the database in a Go program: no server, the same SQL.
//
//	db, err := tidemark.Open("data")
//	err = db.Exec(ctx, "CREATE STREAM s (k text, v bigint)")
//	err = db.Exec(ctx, "CREATE MATERIALIZED VIEW v AS SELECT k, sum(v) FROM s GROUP BY k")
//	err = db.Exec(ctx, "INSERT INTO s VALUES ($1, $2)", "a", 1)
//	rows, err := db.Query(ctx, "SELECT * FROM v")
//
// When Exec of an INSERT returns, its rows are durable and every view shows them.
//
// A program can offer processors written in Go to transform_with_state (WithProcessor, RegisterProcessor), whose state is Go values (ValueState,
// ListState, MapState), and connectors from which streams read (WithConnector).
package tidemark

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/exec/engine"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/wire/pgcatalog"
)

// DB is an open database. Its methods may be called from any goroutine; statements of different calls run beside each other.
type DB struct {
	e     *engine.Engine
	procs *engine.Processors
	ids   atomic.Uint32
}

// Option sets something at Open.
type Option func(*engine.Options) error

// WithMemory bounds the memory for state and caches, in bytes.
func WithMemory(bytes int64) Option {
	return func(o *engine.Options) error { o.MemoryBytes = bytes; return nil }
}

// WithCheckpointInterval sets the time between checkpoints.
func WithCheckpointInterval(d time.Duration) Option {
	return func(o *engine.Options) error { o.CheckpointInterval = d; return nil }
}

// WithClock sets what gives processing time. It may be called from any goroutine.
func WithClock(now func() time.Time) Option {
	return func(o *engine.Options) error { o.Clock = now; return nil }
}

// WithLogger sets where the database logs; without it, it does not.
func WithLogger(log zerolog.Logger) Option {
	return func(o *engine.Options) error { o.Log = log; return nil }
}

// WithProcessor offers a processor in Go to SQL (see DB.RegisterProcessor), before views that use it are opened.
func WithProcessor(name, result string, make func() StatefulProcessor) Option {
	return func(o *engine.Options) error { return register(o.Processors, name, result, make) }
}

// WithConnector offers a connector to CREATE STREAM ... WITH (connector = 'name'): file.Connector{} of package exec/connector/file, or one of the
// program's own. Streams of a connector that is not offered stand still.
func WithConnector(name string, c connector.Connector) Option {
	return func(o *engine.Options) error {
		if _, ok := o.Connectors[name]; ok {
			return sqlerr.New(sqlerr.DuplicateObject, "connector \"%s\" is given twice", name)
		}
		o.Connectors[name] = c
		return nil
	}
}

// Open opens the database in a directory, which is made if it is not there. One process at a time may have it open. Processors in
// Go that its views use are given with WithProcessor; a view whose processor is not is stopped, until it is registered and the view resumed.
func Open(dir string, opts ...Option) (*DB, error) {
	o := engine.Options{Dir: dir, Log: zerolog.Nop(), System: pgcatalog.Relations(), Processors: &engine.Processors{}, Connectors: map[string]connector.Connector{}}
	for _, f := range opts {
		if err := f(&o); err != nil {
			return nil, err
		}
	}
	e, err := engine.Open(o)
	if err != nil {
		return nil, err
	}
	return &DB{e: e, procs: o.Processors}, nil
}

// Close ends the database: it writes a checkpoint and closes the files.
func (db *DB) Close() error { return db.e.Close() }

// Checkpoint writes a checkpoint now.
func (db *DB) Checkpoint(ctx context.Context) error { return db.e.Checkpoint(ctx) }

// Exec runs statements. With arguments there must be one statement, with parameters $1, $2, ...; an argument is nil, bool, int, int64, float64,
// string, []byte, time.Time or time.Duration. Several statements without a block form one transaction.
func (db *DB) Exec(ctx context.Context, sql string, args ...any) error {
	c, err := db.Conn()
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Exec(ctx, sql, args...)
}

// Query runs one statement and gives its rows, which must be closed.
func (db *DB) Query(ctx context.Context, sql string, args ...any) (*Rows, error) {
	c, err := db.Conn()
	if err != nil {
		return nil, err
	}
	rows, err := c.Query(ctx, sql, args...)
	if err != nil {
		c.Close()
		return nil, err
	}
	rows.owner = c
	return rows, nil
}

// Conn is a session: settings, transaction blocks and prepared statements belong to it. One goroutine uses it at a time.
type Conn struct{ s session.Session }

// Conn starts a session.
func (db *DB) Conn() (*Conn, error) {
	s, err := db.e.NewSession(session.Params{User: "tidemark", Database: "tidemark", Application: "embedded", ProcessID: db.ids.Add(1)})
	if err != nil {
		return nil, err
	}
	return &Conn{s}, nil
}

// Close ends the session; an open transaction is rolled back.
func (c *Conn) Close() { c.s.Close() }

// Exec is DB.Exec in this session.
func (c *Conn) Exec(ctx context.Context, sql string, args ...any) (err error) {
	sts, err := c.s.Parse(sql)
	if err != nil {
		return err
	}
	if len(sts) > 1 {
		if len(args) > 0 {
			return sqlerr.New(sqlerr.SyntaxError, "cannot insert multiple commands into a prepared statement")
		}
		c.s.BeginImplicit()
		defer func() {
			if eerr := c.s.EndImplicit(ctx, err != nil); err == nil {
				err = eerr
			}
		}()
	}
	for _, st := range sts {
		res, err := c.start(ctx, st, args)
		if err != nil {
			return err
		}
		err = drain(ctx, res)
		res.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func drain(ctx context.Context, res session.Result) error {
	if in := res.CopyIn(); in != nil {
		in.Abort()
		return sqlerr.Unsupported("COPY FROM STDIN is not supported here").WithHint("Use INSERT with parameters.")
	}
	for {
		b, err := res.Next(ctx, 0)
		if err != nil || b == nil {
			return err
		}
	}
}

// start prepares and starts one statement.
func (c *Conn) start(ctx context.Context, st session.Statement, args []any) (session.Result, error) {
	p, err := c.s.Prepare(ctx, st, nil)
	if err != nil {
		return nil, err
	}
	ts := p.Params()
	if len(ts) != len(args) {
		return nil, sqlerr.New(sqlerr.ProtocolViolation, "%d arguments given for a statement with %d parameters", len(args), len(ts))
	}
	params := make([]types.Datum, len(ts))
	for i, t := range ts {
		if params[i], err = custom.DatumOf(t, args[i]); err != nil {
			return nil, err
		}
	}
	return c.s.Execute(ctx, p, params)
}

// Query is DB.Query in this session. The rows must be closed before the session is used again.
func (c *Conn) Query(ctx context.Context, sql string, args ...any) (*Rows, error) {
	sts, err := c.s.Parse(sql)
	if err != nil {
		return nil, err
	}
	if len(sts) != 1 {
		return nil, sqlerr.New(sqlerr.SyntaxError, "Query takes one statement, not %d", len(sts))
	}
	res, err := c.start(ctx, sts[0], args)
	if err != nil {
		return nil, err
	}
	return &Rows{ctx: ctx, res: res, env: c.s.Env()}, nil
}

// Subscribe runs a query again after each epoch and calls f with what has changed: at first with all rows. It returns when the context
// ends, or with the error of the query or of f. Its cost is that of the query at each epoch; what lies between two epochs that
// come fast may be given as one change.
func (db *DB) Subscribe(ctx context.Context, sql string, f func(Change) error) error {
	seen := map[string]*counted{}
	for epoch := uint64(0); ; {
		var err error
		if epoch, err = db.e.WaitEpoch(ctx, epoch); err != nil {
			return err
		}
		rows, err := db.Query(ctx, sql)
		if err != nil {
			return err
		}
		for _, c := range seen {
			c.now = 0
		}
		for rows.Next() {
			k := rows.key()
			c := seen[k]
			if c == nil {
				c = &counted{row: rows.Values()}
				seen[k] = c
			}
			c.now++
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return err
		}
		ch := Change{Epoch: epoch}
		for _, k := range sortedKeys(seen) {
			c := seen[k]
			for ; c.was > c.now; c.was-- {
				ch.Deleted = append(ch.Deleted, c.row)
			}
			for ; c.was < c.now; c.was++ {
				ch.Inserted = append(ch.Inserted, c.row)
			}
			if c.now == 0 {
				delete(seen, k)
			}
		}
		if len(ch.Deleted)+len(ch.Inserted) == 0 {
			continue
		}
		if err := f(ch); err != nil {
			return err
		}
	}
}

// Change is what an epoch changed in the answer of a query: rows as Rows.Values gives them.
type Change struct {
	Epoch             uint64
	Deleted, Inserted [][]any
}

type counted struct {
	row      []any
	was, now int
}

// Rows are the rows of a query. They are used from one goroutine and must be closed.
type Rows struct {
	ctx   context.Context
	res   session.Result
	env   *types.Env
	owner *Conn // to be closed with the rows
	b     *batch.Batch
	i     int
	n     int64 // times that the row is still to be given
	err   error
}

// Columns lists the names of the columns.
func (r *Rows) Columns() []string {
	var out []string
	for _, c := range r.res.Columns() {
		out = append(out, c.Name)
	}
	return out
}

// Next goes to the next row; false at the end or on an error (Err).
func (r *Rows) Next() bool {
	for r.err == nil {
		if r.n--; r.b != nil && r.n > 0 {
			return true
		}
		if r.b != nil && r.i+1 < r.b.N {
			r.i++
			r.n = r.b.Weight(r.i)
			return true
		}
		if r.b, r.err = r.res.Next(r.ctx, 0); r.err != nil || r.b == nil {
			r.b = nil
			return false
		}
		r.i, r.n = -1, 0
	}
	return false
}

// Err gives the error that ended the rows, nil if there was none.
func (r *Rows) Err() error { return r.err }

// Close ends the query. It may be called more than once.
func (r *Rows) Close() {
	r.res.Close()
	if r.owner != nil {
		r.owner.Close()
		r.owner = nil
	}
}

// Values gives the row as Go values: nil, bool, int64, float64, string, []byte or time.Time; other types as their text.
func (r *Rows) Values() []any {
	out := make([]any, len(r.b.Cols))
	for i, c := range r.b.Cols {
		out[i] = goValue(c.Type, c.Datum(r.i), r.env)
	}
	return out
}

// key is the row as text that is equal for equal rows only.
func (r *Rows) key() string {
	var dst []byte
	for _, c := range r.b.Cols {
		dst = types.AppendValue(dst, c.Type, c.Datum(r.i))
	}
	return string(dst)
}

func goValue(t types.Type, d types.Datum, env *types.Env) any {
	if d.Null {
		return nil
	}
	switch t.Kind {
	case types.Bool:
		return d.I != 0
	case types.Int2, types.Int4, types.Int8, types.OID:
		return d.I
	case types.Float4, types.Float8:
		return d.F
	case types.Bytea:
		return append([]byte{}, d.B...)
	case types.Timestamp, types.TimestampTZ:
		if types.IsFiniteTime(d.I) {
			return time.UnixMicro(d.I).UTC()
		}
	}
	return strings.Clone(types.Format(t, d, env))
}
