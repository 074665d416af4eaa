package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgproto3/v2"
	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// conn is one client. All fields but those marked as shared belong to its goroutine.
type conn struct {
	srv       *Server
	log       zerolog.Logger
	raw       net.Conn // the socket, beneath TLS; its deadlines are shared
	in        *framer
	out       out
	encrypted bool

	sess        session.Session
	pid, secret uint32 // fixed by Server.register

	stmts    map[string]*preparedStatement
	portals  map[string]*portal
	implicit bool  // BeginImplicit was called and EndImplicit was not
	skipping bool  // after an error of the extended protocol, until Sync
	lost     error // the input broke in the middle of a statement

	current source // of the statement that runs, for notices; written inside the engine's lock of out

	idle    atomic.Bool // shared: waiting for a client's first or next statement
	runMu   sync.Mutex  // guards running
	running *run        // shared: the statement that a cancel request interrupts
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{
		srv: s, log: s.log, raw: nc, in: newFramer(nc, s.opts.MaxMessageBytes),
		stmts: map[string]*preparedStatement{}, portals: map[string]*portal{},
	}
	c.idle.Store(true)
	return c
}

// serve runs the connection until it ends, and closes it.
func (c *conn) serve() {
	defer func() { _ = c.raw.Close() }() // nobody is left to be told
	c.out.init(c.raw)
	defer c.out.mu.Unlock()
	defer c.out.timer.Stop()
	defer c.end()
	defer func() {
		if r := recover(); r != nil {
			c.log.Error().Str("err", fmt.Sprint(r)).Bytes("stack", debug.Stack()).Msg("panic in connection")
			c.fatal(fatal(sqlerr.InternalError, "internal error: %v", r))
		}
	}()
	err := c.startup()
	if err == nil {
		c.log = c.log.With().Uint32("session", c.pid).Logger()
		c.log.Debug().Msg("connected")
		c.ready()
		err = c.loop()
	}
	c.hangUp(err)
}

// hangUp tells the client why the connection ends, where there is something to tell.
func (c *conn) hangUp(err error) {
	var proto *errProtocol
	var sqlErr *sqlerr.Error
	switch {
	case err == nil || errors.Is(err, errClosed) || errors.Is(err, io.EOF):
	case errors.As(err, &proto):
		c.log.Debug().Err(err).Msg("protocol violation")
		c.fatal(fatal(sqlerr.ProtocolViolation, "%s", proto.msg))
	case errors.As(err, &sqlErr):
		c.fatal(sqlErr)
	case errors.Is(err, os.ErrDeadlineExceeded) && c.srv.draining.Load():
		c.fatal(errShutdown)
	default:
		c.log.Debug().Err(err).Msg("connection lost")
	}
}

// fatal sends the last message of a connection.
func (c *conn) fatal(e *sqlerr.Error) {
	_ = c.raw.SetDeadline(time.Now().Add(time.Second)) // for a client that does not read; a closed socket fails below
	last := *e
	last.Severity = "FATAL"
	c.out.send(errorResponse(&last, source{}))
	_ = c.out.flush() // the connection ends either way
}

// end frees what the connection holds in the engine.
func (c *conn) end() {
	if c.sess == nil {
		return
	}
	err := c.engine(func() error {
		for _, p := range c.portals {
			p.close()
		}
		c.sess.Close()
		return nil
	})
	if err != nil {
		c.log.Error().Err(err).Msg("closing session failed")
	}
}

// engine runs f, which calls the engine, without holding the output buffer. A panic in it becomes an error.
func (c *conn) engine(f func() error) (err error) {
	c.out.release()
	defer c.out.acquire()
	defer sqlerr.Recover(&err)
	return f()
}

// notice is session.Params.Notice.
func (c *conn) notice(e *sqlerr.Error) {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	m := *e
	if m.Severity == "" {
		m.Severity = "NOTICE"
	}
	if m.Code == "" {
		m.Code = sqlerr.SuccessfulCompletion
	}
	resp := pgproto3.NoticeResponse(*errorResponse(&m, c.current))
	c.out.send(&resp)
	c.out.shown = true
	c.out.timer.Reset(lingerTime)
}

// parameterStatus is session.Params.ParameterStatus.
func (c *conn) parameterStatus(name, value string) {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	c.out.send(&pgproto3.ParameterStatus{Name: clean(name), Value: clean(value)})
}

// deallocate is session.Params.Deallocate. It runs inside a call of the engine, so on this connection's goroutine.
func (c *conn) deallocate(name string) bool {
	if name == "" {
		clear(c.stmts)
		return true
	}
	_, ok := c.stmts[name]
	delete(c.stmts, name)
	return ok
}

// loop handles messages until the connection ends.
func (c *conn) loop() error {
	for {
		typ, body, err := c.read()
		if err != nil {
			return err
		}
		if typ == 'X' {
			return errClosed
		}
		if c.skipping && typ != 'S' {
			continue
		}
		if err := c.dispatch(typ, body); err != nil {
			return err
		}
		if c.lost != nil {
			return c.lost
		}
		if c.out.err != nil {
			return c.out.err
		}
	}
}

// read gives the next message; it waits without holding anything that others need.
func (c *conn) read() (byte, []byte, error) {
	if c.idle.Load() && c.srv.draining.Load() {
		return 0, nil, errShutdown
	}
	typ, body, err := c.in.next()
	if err == nil {
		c.idle.Store(false)
	}
	return typ, body, err
}

// wakeIdle makes a connection that waits for its client end; called by Shutdown.
func (c *conn) wakeIdle() {
	if c.idle.Load() {
		_ = c.raw.SetReadDeadline(time.Unix(1, 0)) // fails only where the socket is closed already
	}
}

// dispatch handles one message. An error ends the connection.
func (c *conn) dispatch(typ byte, body []byte) error {
	switch typ {
	case 'Q':
		var m pgproto3.Query
		if err := decode(&m, body); err != nil {
			return err
		}
		return c.query(m.String)
	case 'S':
		return c.sync()
	case 'H':
		return c.out.flush()
	case 'd', 'c', 'f':
		return nil // the rest of a COPY that failed; the client could not know
	case 'F':
		c.fail(context.Background(), sqlerr.Unsupported("fast-path function calls are not supported"), source{})
		return c.ready()
	}
	return c.extended(typ, body)
}

// ready ends a cycle: it tells the client that the next statement may come.
func (c *conn) ready() error {
	c.out.send(&pgproto3.ReadyForQuery{TxStatus: byte(c.sess.TxStatus())})
	c.idle.Store(true)
	return c.out.flush()
}

// sync ends the implicit transaction of the extended protocol.
func (c *conn) sync() error {
	c.skipping = false
	if err := c.endImplicit(false); err != nil {
		c.fail(context.Background(), err, source{})
	}
	c.dropPortals()
	return c.ready()
}

// beginImplicit begins the transaction that the statements up to Sync, or of one simple query, share.
func (c *conn) beginImplicit() error {
	if !c.implicit {
		c.implicit = true
		return c.engine(func() error { c.sess.BeginImplicit(); return nil })
	}
	return nil
}

// endImplicit ends it, if there is one.
func (c *conn) endImplicit(failed bool) error {
	if !c.implicit {
		return nil
	}
	c.implicit = false
	r := c.begin()
	defer c.finish(r)
	err := c.engine(func() error { return c.sess.EndImplicit(r.ctx, failed) })
	if err != nil {
		return clientError(r.ctx, err)
	}
	return nil
}

// dropPortals closes all portals where no transaction is open: they end with theirs.
func (c *conn) dropPortals() {
	if len(c.portals) == 0 || c.sess.TxStatus() != session.TxIdle {
		return
	}
	for name := range c.portals {
		c.closePortal(name)
	}
}

// fail answers a failed statement and makes the transaction a failed one. ctx is that of the statement, or none (Background).
func (c *conn) fail(ctx context.Context, err error, src source) {
	e := clientError(ctx, err)
	if c.out.err != nil {
		c.log.Debug().AnErr("err", c.out.err).Msg("connection lost in a statement")
	} else if e.Code == sqlerr.InternalError || e.Code == sqlerr.DataCorrupted {
		c.log.Error().Str("sqlstate", string(e.Code)).AnErr("err", e).AnErr("cause", e.Err).Msg("statement failed")
	} else {
		c.log.Debug().Str("sqlstate", string(e.Code)).AnErr("err", e).Msg("statement failed")
	}
	if f, ok := c.sess.(session.Failer); ok && c.sess.TxStatus() == session.TxOpen {
		if err := c.engine(func() error { f.Fail(); return nil }); err != nil {
			c.log.Error().Err(err).Msg("failing the transaction failed")
		}
	}
	if end := c.endImplicit(true); end != nil {
		c.log.Error().Err(end).Msg("rollback failed")
	}
	c.out.send(errorResponse(e, src))
	if e.Severity == "FATAL" {
		_ = c.out.flush() // the connection ends either way
		c.out.err = errClosed
	}
}

// run is a statement that can be cancelled. A portal keeps its own while it is suspended.
type run struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // of statement_timeout, nil for none
}

// begin makes a context for a statement and shows it to cancel requests.
func (c *conn) begin() *run {
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &run{ctx: ctx, cancel: cancel}
	c.resume(r)
	return r
}

// resume shows r to cancel requests, and starts the clock of statement_timeout.
func (c *conn) resume(r *run) {
	if d := c.statementTimeout(); d > 0 {
		r.timer = time.AfterFunc(d, func() { r.cancel(errTimeout) })
	}
	c.runMu.Lock()
	c.running = r
	c.runMu.Unlock()
}

// suspend hides r from cancel requests and stops its clock.
func (c *conn) suspend(r *run) {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	c.runMu.Lock()
	c.running = nil
	c.runMu.Unlock()
}

// finish ends a run.
func (c *conn) finish(r *run) {
	c.suspend(r)
	r.cancel(nil)
}

// cancelRunning interrupts the statement that runs, if any. Any goroutine may call it.
func (c *conn) cancelRunning(why error) {
	c.runMu.Lock()
	defer c.runMu.Unlock()
	if c.running != nil {
		c.running.cancel(why)
	}
}

func (c *conn) isRunning() bool {
	c.runMu.Lock()
	defer c.runMu.Unlock()
	return c.running != nil
}

// statementTimeout reads the session's statement_timeout; 0 is none.
func (c *conn) statementTimeout() time.Duration {
	value, ok := c.sess.Setting("statement_timeout")
	if !ok || value == "0" {
		return 0
	}
	return parseTimeout(value)
}

// parseTimeout reads a time as SHOW writes it: a number of milliseconds, or one with a unit. What it cannot read is 0.
func parseTimeout(s string) time.Duration {
	s = strings.TrimSpace(s)
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz ")
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || n <= 0 {
		return 0
	}
	unit, ok := map[string]time.Duration{
		"": time.Millisecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second,
		"min": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}[strings.TrimSpace(s[len(digits):])]
	if !ok {
		return 0
	}
	return time.Duration(n * float64(unit))
}
