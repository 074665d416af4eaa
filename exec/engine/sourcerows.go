package engine

import (
	"context"
	"fmt"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

var sourceColumns = []catalog.Column{
	col("stream", types.Text), col("connector", types.Text), col("position", types.Text), col("lag_bytes", types.Int8), col("rows", types.Int8),
	col("errors", types.Int8), col("state", types.Text), col("message", types.Text),
}

// sourceStatusRows are the rows of tidemark.sources.
func sourceStatusRows(c *systemContext) (*batch.Batch, error) {
	b := batch.New(columnTypes(sourceColumns), 0)
	for _, r := range c.Catalog.Relations() {
		s := c.e.sources.get(r.OID)
		if s == nil {
			continue
		}
		s.mu.Lock()
		b.Cols[0].AppendString(r.Name)
		b.Cols[1].AppendString(s.name)
		if s.last == "" {
			b.Cols[2].AppendNull()
		} else {
			b.Cols[2].AppendString(fmt.Sprintf("%s:%d", s.last, s.at))
		}
		b.Cols[3].AppendInt(s.lag)
		b.Cols[4].AppendInt(s.rows)
		b.Cols[5].AppendInt(s.errs)
		b.Cols[6].AppendString(s.state)
		switch {
		case s.err != nil:
			b.Cols[7].AppendString(sqlerr.From(s.err).Error())
		case s.note != "":
			b.Cols[7].AppendString(s.note)
		default:
			b.Cols[7].AppendNull()
		}
		s.mu.Unlock()
		b.EndRow(1)
	}
	return b, nil
}

// waitFor runs WAIT FOR: of a bounded source until it has ended, of another until all that was there has been read, and in both
// cases until all views show it.
func (s *sess) waitFor(ctx context.Context, x *ast.WaitFor) (session.Result, error) {
	if err := s.apart(ctx, "WAIT FOR"); err != nil {
		return nil, err
	}
	rel, err := s.lookup(x.Name)
	if err != nil {
		return nil, err
	}
	if src := s.e.sources.get(rel.OID); src != nil {
		if err := src.wait(ctx, rel.Name); err != nil {
			return nil, err
		}
	}
	all, _ := closure(s.catalog(), []catalog.OID{rel.OID})
	for _, oid := range all {
		if err := s.e.waitReadable(ctx, oid); err != nil {
			return nil, err
		}
	}
	return done("WAIT"), nil
}

// wait waits until the source has read what there is.
func (s *source) wait(ctx context.Context, name string) error {
	s.mu.Lock()
	from := s.polls
	s.mu.Unlock()
	for retried := false; ; {
		next := s.e.published.wait()
		s.mu.Lock()
		state, err, polls := s.state, s.err, s.polls
		s.mu.Unlock()
		switch {
		case state == sourceFailed:
			se := sqlerr.From(err)
			return sqlerr.New(sqlerr.NotInPrerequisiteState, "the source of stream \"%s\" has stopped", name).WithDetail("%s", se.Message).WithHint("%s", se.Hint).WithCause(err)
		case state == sourceFinished:
			return nil
		case state == sourceWaiting && polls >= from+2: // the last look began after the statement
			return nil
		case s.e.sources.get(s.oid) != s:
			return sqlerr.New(sqlerr.UndefinedTable, "stream \"%s\" was dropped", name)
		}
		// A source that failed is asked to try again, once: each failure wakes those who wait, and it would never pause.
		if state == sourceWaiting || state == sourceRetrying && !retried {
			retried = state == sourceRetrying
			select {
			case s.nudge <- struct{}{}:
			default:
			}
		}
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.e.loopDone:
			return errShutdown()
		}
	}
}
