package wire

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgproto3/v2"

	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Bounds of what one client may keep on the server.
const (
	maxStatements = 100_000
	maxPortals    = 10_000
)

// extended handles a message of the extended protocol. After an error, messages up to Sync are skipped.
func (c *conn) extended(typ byte, body []byte) error {
	var err error
	switch typ {
	case 'P':
		var m pgproto3.Parse
		if err = decode(&m, body); err == nil {
			err = c.handleParse(&m)
		}
	case 'B':
		var m pgproto3.Bind
		if err = decode(&m, body); err == nil {
			err = c.handleBind(&m)
		}
	case 'D':
		var m pgproto3.Describe
		if err = decode(&m, body); err == nil {
			err = c.handleDescribe(&m)
		}
	case 'E':
		var m pgproto3.Execute
		if err = decode(&m, body); err == nil {
			err = c.handleExecute(&m)
		}
	case 'C':
		var m pgproto3.Close
		if err = decode(&m, body); err == nil {
			err = c.handleClose(&m)
		}
	default:
		return protocolErrorf("invalid frontend message type %d", typ)
	}
	if proto, ok := err.(*errProtocol); ok {
		// The framing is still sound, so this costs the client its statement and not its connection.
		err = sqlerr.New(sqlerr.ProtocolViolation, "%s", proto.msg)
	}
	if err != nil {
		c.failExtended(err)
	}
	return nil
}

// failure is an error together with what is needed to report it well.
type failure struct {
	err error
	run *run
	src source
}

// Error implements error.
func (f *failure) Error() string { return f.err.Error() }

// failExtended reports an error and skips to Sync.
func (c *conn) failExtended(err error) {
	f, ok := err.(*failure)
	if !ok {
		f = &failure{err: err}
	}
	if f.run != nil {
		c.fail(f.run.ctx, f.err, f.src)
	} else {
		c.fail(context.Background(), f.err, f.src)
	}
	c.skipping = true
	_ = c.out.flush() // the client may wait for it before it sends Sync; an error of the socket shows again
}

func (c *conn) handleParse(m *pgproto3.Parse) error {
	src := source{text: m.Query, stmt: m.Query}
	if m.Name == "" {
		delete(c.stmts, "")
	} else if _, ok := c.stmts[m.Name]; ok {
		return sqlerr.New(sqlerr.DuplicatePreparedStatement, "prepared statement \"%s\" already exists", m.Name)
	}
	if len(c.stmts) >= maxStatements {
		return sqlerr.New(sqlerr.ConfigurationLimitExceeded, "too many prepared statements")
	}
	stmts, err := c.parse(m.Query)
	if err != nil {
		return &failure{err: err, src: src}
	}
	ps := &preparedStatement{name: m.Name, src: src}
	switch len(stmts) {
	case 0:
	case 1:
		if err := c.prepare(ps, stmts[0], m.ParameterOIDs); err != nil {
			return err
		}
	default:
		return sqlerr.New(sqlerr.SyntaxError, "cannot insert multiple commands into a prepared statement")
	}
	c.stmts[m.Name] = ps
	c.out.send(&pgproto3.ParseComplete{})
	return nil
}

// prepare plans the statement of a Parse message.
func (c *conn) prepare(ps *preparedStatement, st session.Statement, oids []uint32) error {
	if err := c.checkBlock(st); err != nil {
		return err
	}
	ps.src = c.locate(ps.src, st)
	ts := make([]types.Type, len(oids))
	for i, oid := range oids {
		if oid == 0 {
			continue
		}
		t, ok := types.FromOID(oid)
		if !ok {
			return sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", oid)
		}
		ts[i] = t
	}
	r := c.begin()
	defer c.finish(r)
	c.current = ps.src
	err := c.engine(func() (err error) {
		ps.prep, err = c.sess.Prepare(r.ctx, st, ts)
		return err
	})
	if err != nil {
		return &failure{err: clientError(r.ctx, err), src: ps.src}
	}
	return nil
}

func (c *conn) handleBind(m *pgproto3.Bind) error {
	ps, ok := c.stmts[m.PreparedStatement]
	if !ok {
		return noStatement(m.PreparedStatement)
	}
	if err := c.checkBlock(ps.statement()); err != nil {
		return err
	}
	if m.DestinationPortal != "" {
		if _, ok := c.portals[m.DestinationPortal]; ok {
			return sqlerr.New(sqlerr.DuplicateCursor, "cursor \"%s\" already exists", m.DestinationPortal)
		}
		if len(c.portals) >= maxPortals {
			return sqlerr.New(sqlerr.ConfigurationLimitExceeded, "too many portals")
		}
	}
	p := &portal{stmt: ps, formats: slices.Clone(m.ResultFormatCodes)}
	var err error
	if p.params, err = c.bindParams(ps, m); err != nil {
		return err
	}
	if err := checkFormats(ps, m); err != nil {
		return err
	}
	c.closePortal(m.DestinationPortal)
	c.portals[m.DestinationPortal] = p
	c.out.send(&pgproto3.BindComplete{})
	return nil
}

func noStatement(name string) error {
	if name == "" {
		return sqlerr.New(sqlerr.InvalidStatementName, "unnamed prepared statement does not exist")
	}
	return sqlerr.New(sqlerr.InvalidStatementName, "prepared statement \"%s\" does not exist", name)
}

// checkFormats checks the result formats of a Bind message.
func checkFormats(ps *preparedStatement, m *pgproto3.Bind) error {
	n := 0
	if ps.prep != nil {
		n = len(ps.prep.Columns())
	}
	if f := len(m.ResultFormatCodes); f > 1 && f != n {
		return sqlerr.New(sqlerr.ProtocolViolation, "bind message has %d result formats but query has %d columns", f, n)
	}
	for _, f := range m.ResultFormatCodes {
		if f != textFormat && f != binaryFormat {
			return sqlerr.New(sqlerr.InvalidParameterValue, "unsupported format code: %d", f)
		}
	}
	return nil
}

// bindParams reads the parameter values of a Bind message.
func (c *conn) bindParams(ps *preparedStatement, m *pgproto3.Bind) ([]types.Datum, error) {
	var ts []types.Type
	if ps.prep != nil {
		ts = ps.prep.Params()
	}
	if f := len(m.ParameterFormatCodes); f > 1 && f != len(m.Parameters) {
		return nil, sqlerr.New(sqlerr.ProtocolViolation, "bind message has %d parameter formats but %d parameters", f, len(m.Parameters))
	}
	if len(m.Parameters) != len(ts) {
		return nil, sqlerr.New(sqlerr.ProtocolViolation, "bind message supplies %d parameters, but prepared statement \"%s\" requires %d",
			len(m.Parameters), m.PreparedStatement, len(ts))
	}
	params := make([]types.Datum, len(ts))
	var env *types.Env // for values in text form
	for i, raw := range m.Parameters {
		if raw == nil {
			params[i] = types.NullDatum
			continue
		}
		format := formatOf(m.ParameterFormatCodes, i)
		if format == textFormat && env == nil {
			env = c.sess.Env()
		}
		d, err := parseParam(ts[i], format, raw, env)
		if err != nil {
			return nil, paramError(err, m.DestinationPortal, i, format)
		}
		params[i] = d.Clone() // the message's bytes are gone when the portal runs
	}
	return params, nil
}

func parseParam(t types.Type, format int16, raw []byte, env *types.Env) (types.Datum, error) {
	switch format {
	case binaryFormat:
		if t.Layout() == types.LayoutBytes && (t.Kind.IsString() || t.Kind == types.JSON || t.Kind == types.JSONB) {
			if e := invalidUTF8(raw); e != nil {
				return types.Datum{}, e
			}
		}
		return types.ParseBinary(t, raw)
	case textFormat:
		if e := invalidUTF8(raw); e != nil {
			return types.Datum{}, e
		}
		return types.Parse(t, string(raw), env)
	}
	return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "unsupported format code: %d", format)
}

// paramError says which parameter an error is about, as PostgreSQL's context does.
func paramError(err error, portal string, i int, format int16) error {
	e := *sqlerr.From(err)
	where := "unnamed portal parameter"
	if portal != "" {
		where = fmt.Sprintf("portal \"%s\" parameter", portal)
	}
	e.Where = fmt.Sprintf("%s $%d", where, i+1)
	if format == textFormat {
		e.Where += " = '...'"
	}
	e.Position = 0 // it would point into the value
	return &e
}

func (c *conn) handleDescribe(m *pgproto3.Describe) error {
	var ps *preparedStatement
	var formats []int16
	switch m.ObjectType {
	case 'S':
		ps = c.stmts[m.Name]
		if ps == nil {
			return noStatement(m.Name)
		}
	case 'P':
		p := c.portals[m.Name]
		if p == nil {
			return c.describeCursor(m.Name)
		}
		ps, formats = p.stmt, p.formats
	default:
		return sqlerr.New(sqlerr.ProtocolViolation, "invalid DESCRIBE message subtype %d", m.ObjectType)
	}
	var cols []session.Column
	var params []types.Type
	if ps.prep != nil {
		cols, params = ps.prep.Columns(), ps.prep.Params()
	}
	if cols != nil {
		if err := c.checkBlock(ps.statement()); err != nil {
			return err
		}
	}
	if m.ObjectType == 'S' {
		oids := make([]uint32, len(params))
		for i, t := range params {
			oids[i] = t.OID()
		}
		c.out.send(&pgproto3.ParameterDescription{ParameterOIDs: oids})
	}
	if cols == nil {
		c.out.send(&pgproto3.NoData{})
		return nil
	}
	c.out.send(rowDescription(cols, formats))
	return nil
}

// describeCursor describes a cursor that DECLARE made.
func (c *conn) describeCursor(name string) error {
	if x, ok := c.sess.(session.Cursors); ok {
		if cols, ok := x.CursorColumns(name); ok {
			c.out.send(rowDescription(cols, nil))
			return nil
		}
	}
	return noPortal(name)
}

func noPortal(name string) error {
	return sqlerr.New(sqlerr.InvalidCursorName, "portal \"%s\" does not exist", name)
}

func (c *conn) handleClose(m *pgproto3.Close) error {
	switch m.ObjectType {
	case 'S':
		delete(c.stmts, m.Name)
	case 'P':
		c.closePortal(m.Name)
	default:
		return sqlerr.New(sqlerr.ProtocolViolation, "invalid CLOSE message subtype %d", m.ObjectType)
	}
	c.out.send(&pgproto3.CloseComplete{})
	return nil
}

func (c *conn) handleExecute(m *pgproto3.Execute) error {
	p := c.portals[m.Portal]
	if p == nil {
		return noPortal(m.Portal)
	}
	if p.stmt.prep == nil {
		c.out.send(&pgproto3.EmptyQueryResponse{})
		return nil
	}
	if err := c.checkBlock(p.stmt.statement()); err != nil {
		return err
	}
	limit := uint64(m.MaxRows)
	if int32(m.MaxRows) < 0 {
		limit = 0 // as in PostgreSQL, a negative number is no limit
	}
	if !c.alone(limit) {
		if err := c.beginImplicit(); err != nil {
			return err
		}
	}
	if p.run == nil {
		p.run = c.begin()
	} else {
		c.resume(p.run)
	}
	defer c.suspend(p.run)
	c.current = p.stmt.src
	if err := c.execute(p, m.Portal, limit); err != nil {
		return &failure{err: err, run: p.run, src: p.stmt.src}
	}
	return nil
}

// alone says whether the Execute message at hand is all that its implicit transaction would hold: nothing came before
// it, it runs its statement to the end, and Sync follows. Such a statement runs outside a block, as a simple query does.
func (c *conn) alone(limit uint64) bool {
	return !c.implicit && limit == 0 && c.peek() == 'S'
}

// peekTime is how long peek waits for a message that is still on its way. Clients write Execute together with what makes the
// server answer, Sync or Flush, so it passes only where a segment was lost or a message was cut.
const peekTime = 5 * time.Millisecond

// peek gives the type of the next message without taking it, 0 if it is not there.
func (c *conn) peek() byte {
	if c.in.buffered() == 0 {
		if c.raw.SetReadDeadline(time.Now().Add(peekTime)) != nil {
			return 0
		}
		err := c.in.need(1)
		if c.raw.SetReadDeadline(time.Time{}) != nil || err != nil {
			return 0 // a lost connection shows at the next read
		}
	}
	return c.in.buf[c.in.lo]
}

// execute starts or goes on with a portal.
func (c *conn) execute(p *portal, name string, limit uint64) error {
	if p.res == nil {
		if err := c.start(p); err != nil {
			return err
		}
	} else if p.ended && p.enc == nil {
		return sqlerr.New(sqlerr.NotInPrerequisiteState, "portal \"%s\" cannot be run", name)
	}
	if in := p.res.CopyIn(); in != nil {
		tag, err := c.copyFrom(p.run.ctx, in)
		p.ended = true
		return c.complete(tag, err)
	}
	if f := p.res.CopyOut(); f != nil {
		tag, err := c.copyTo(p.run.ctx, p, f)
		p.ended = true
		return c.complete(tag, err)
	}
	n, err := c.sendRows(p.run.ctx, p, limit)
	if err != nil {
		return err
	}
	if !p.ended {
		c.out.send(&pgproto3.PortalSuspended{})
		return nil
	}
	tag := p.res.Tag()
	if strings.HasPrefix(tag, "SELECT ") {
		tag = fmt.Sprintf("SELECT %d", n) // a portal read in parts tells the rows of each part
	}
	return c.complete(tag, nil)
}

// start executes the statement of a portal.
func (c *conn) start(p *portal) error {
	err := c.engine(func() (err error) {
		p.res, err = c.sess.Execute(p.run.ctx, p.stmt.prep, p.params)
		return err
	})
	if err != nil {
		return err
	}
	p.cols = p.res.Columns()
	if p.res.CopyIn() != nil || p.res.CopyOut() != nil || p.cols == nil {
		return nil
	}
	if told := p.stmt.prep.Columns(); !sameTypes(told, p.cols) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cached plan must not change result type")
	}
	if n := len(p.formats); n > 1 && n != len(p.cols) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cached plan must not change result type")
	}
	p.enc = newRowEncoder(p.cols, p.formats, c.sess.Env)
	return nil
}

// sameTypes compares what the client was told with what comes.
func sameTypes(a, b []session.Column) bool {
	return slices.EqualFunc(a, b, func(x, y session.Column) bool { return x.Type.Same(y.Type) })
}

// complete tells that a statement has ended.
func (c *conn) complete(tag string, err error) error {
	if err != nil {
		return err
	}
	c.out.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	return nil
}
