package wire

import (
	"context"
	"math"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// preparedStatement is what Parse made. prep is nil for an empty query string.
type preparedStatement struct {
	name string
	src  source
	prep session.Prepared
}

func (s *preparedStatement) statement() session.Statement {
	if s.prep == nil {
		return nil
	}
	return s.prep.Statement()
}

// portal is a bound statement and, once executed, its running result with the
// part of a batch that a row limit left over.
type portal struct {
	stmt    *preparedStatement
	params  []types.Datum
	formats []int16 // of the results, as the client gave them

	run   *run           // nil until executed
	res   session.Result // nil until executed
	cols  []session.Column
	enc   *rowEncoder
	ended bool

	left   *batch.Batch // rows taken from res and not sent, from row on
	row    int
	copies int64 // how often row was sent already
}

func (p *portal) close() {
	if p.res != nil {
		p.res.Close()
	}
	if p.run != nil {
		p.run.cancel(nil)
	}
}

// closePortal closes a portal, if there is one of that name.
func (c *conn) closePortal(name string) {
	p, ok := c.portals[name]
	if !ok {
		return
	}
	delete(c.portals, name)
	if err := c.engine(func() error { p.close(); return nil }); err != nil {
		c.log.Error().Err(err).Msg("closing portal failed")
	}
}

// sendRows sends at most limit rows (0: all) of a portal's result and gives their number; p.ended says that there are no more.
// A result without columns is run to its end.
func (c *conn) sendRows(ctx context.Context, p *portal, limit uint64) (n uint64, err error) {
	if limit == 0 {
		limit = math.MaxUint64
	}
	for n < limit {
		if p.left == nil {
			if p.ended {
				return n, nil
			}
			if err := c.fetch(ctx, p, limit-n); err != nil {
				return n, err
			}
			continue
		}
		if p.enc == nil {
			p.left = nil
			continue
		}
		for p.left != nil && n < limit {
			n += c.sendRow(p, limit-n)
			if err := c.out.room(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// fetch takes the next batch from the engine.
func (c *conn) fetch(ctx context.Context, p *portal, limit uint64) error {
	return c.engine(func() error {
		most := 0
		if limit <= math.MaxInt32 {
			most = int(limit)
		}
		b, err := p.res.Next(ctx, most)
		if err != nil {
			return err
		}
		p.row, p.copies = 0, 0
		if p.left = b; b == nil {
			p.ended = true
		} else if b.N == 0 {
			p.left = nil
		}
		// A portal that is read in parts is suspended behind its last row.
		if e, ok := p.res.(session.Ender); ok && most == 0 && e.Ended() {
			p.ended = true
		}
		return nil
	})
}

// sendRow sends the next row of p.left, as often as its weight says but at most limit times, and gives how often.
func (c *conn) sendRow(p *portal, limit uint64) uint64 {
	todo := uint64(max(p.left.Weight(p.row)-p.copies, 0))
	sent := uint64(0)
	if todo > 0 && limit > 0 {
		start := len(c.out.buf)
		c.out.shown = true
		c.out.buf = p.enc.appendRow(c.out.buf, p.left, p.row)
		end := len(c.out.buf)
		for sent = 1; sent < min(todo, limit) && len(c.out.buf) < flushSize; sent++ {
			c.out.buf = append(c.out.buf, c.out.buf[start:end]...)
		}
	}
	if p.copies += int64(sent); sent == todo {
		if p.row, p.copies = p.row+1, 0; p.row >= p.left.N {
			p.left = nil
		}
	}
	return sent
}
