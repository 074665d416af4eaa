package wire

import (
	"context"
	"strings"

	"github.com/jackc/pgproto3/v2"

	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// errFailedBlock is the answer to statements in a failed transaction block.
var errFailedBlock = sqlerr.New(sqlerr.InFailedTransaction, "current transaction is aborted, commands ignored until end of transaction block")

// query handles a simple query: any number of statements in one text.
func (c *conn) query(text string) error {
	delete(c.stmts, "") // as in PostgreSQL, a simple query ends the unnamed statement and portal
	c.closePortal("")
	src := source{text: text, stmt: text}
	stmts, err := c.parse(text)
	if err != nil {
		c.fail(context.Background(), err, src)
		return c.ready()
	}
	if len(stmts) == 0 {
		c.out.send(&pgproto3.EmptyQueryResponse{})
	}
	if len(stmts) > 1 {
		if err := c.beginImplicit(); err != nil {
			c.fail(context.Background(), err, src)
			return c.ready()
		}
	}
	for i, st := range stmts {
		src = c.locate(src, st)
		if !c.simple(st, src, i == len(stmts)-1) {
			break
		}
		src.from += len(src.stmt)
	}
	if err := c.endImplicit(false); err != nil {
		c.fail(context.Background(), err, source{}) // only after an error that ended the loop without failing the transaction
	}
	c.dropPortals()
	return c.ready()
}

// parse checks the encoding of text and splits it into statements.
func (c *conn) parse(text string) (stmts []session.Statement, err error) {
	if e := invalidUTF8([]byte(text)); e != nil {
		return nil, e
	}
	err = c.engine(func() (err error) {
		stmts, err = c.sess.Parse(text)
		return err
	})
	return stmts, err
}

// locate finds st in the text, at or after src.from.
func (c *conn) locate(src source, st session.Statement) source {
	src.stmt = st.Text()
	if at := strings.Index(src.text[src.from:], src.stmt); at >= 0 {
		src.from += at
	}
	return src
}

// simple runs one statement of a simple query and says whether it succeeded.
// The last one commits what the query began before it is told complete.
func (c *conn) simple(st session.Statement, src source, last bool) bool {
	r := c.begin()
	defer c.finish(r)
	c.current = src
	tag, err := c.runSimple(r.ctx, st)
	if err == nil && last {
		err = c.endImplicit(false)
	}
	if err != nil {
		c.fail(r.ctx, err, src)
		return false
	}
	c.out.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	return true
}

// runSimple runs a statement to its end and gives its tag.
func (c *conn) runSimple(ctx context.Context, st session.Statement) (tag string, err error) {
	if err := c.checkBlock(st); err != nil {
		return "", err
	}
	var res session.Result
	err = c.engine(func() error {
		p, err := c.sess.Prepare(ctx, st, nil)
		if err != nil {
			return err
		}
		if n := len(p.Params()); n > 0 {
			return sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $1")
		}
		res, err = c.sess.Execute(ctx, p, nil)
		return err
	})
	if err != nil {
		return "", err
	}
	defer c.closeResult(res)
	if in := res.CopyIn(); in != nil {
		return c.copyFrom(ctx, in)
	}
	p := &portal{res: res, cols: res.Columns()}
	if f := res.CopyOut(); f != nil {
		return c.copyTo(ctx, p, f)
	}
	if p.cols != nil {
		c.out.send(rowDescription(p.cols, nil))
		p.enc = newRowEncoder(p.cols, nil, c.sess.Env)
	}
	if _, err := c.sendRows(ctx, p, 0); err != nil {
		return "", err
	}
	return res.Tag(), nil
}

// checkBlock refuses everything but the end of a failed transaction block.
func (c *conn) checkBlock(st session.Statement) error {
	if c.sess.TxStatus() == session.TxFailed && (st == nil || !st.EndsTransaction()) {
		return errFailedBlock
	}
	return nil
}

// closeResult frees a result.
func (c *conn) closeResult(res session.Result) {
	err := c.engine(func() error { res.Close(); return nil })
	if err != nil {
		c.log.Error().Err(err).Msg("closing result failed")
	}
}
