package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgproto3/v2"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// copyDecoder turns COPY data into rows. The data comes in pieces that know nothing of rows.
type copyDecoder interface {
	// feed takes the next piece, which is valid during the call only.
	feed(p []byte) error
	// finish takes what the data's end completes.
	finish() error
}

func newCopyDecoder(f *session.CopyFormat, s *copySink) (copyDecoder, error) {
	switch f.Format {
	case "", "text":
		return newTextDecoder(f, s), nil
	case "csv":
		return newCSVDecoder(f, s), nil
	case "binary":
		return newBinaryDecoder(s), nil
	}
	return nil, sqlerr.New(sqlerr.InvalidParameterValue, "COPY format \"%s\" not recognized", f.Format)
}

// copyFrom runs COPY FROM STDIN and gives its command tag.
func (c *conn) copyFrom(ctx context.Context, in session.CopyIn) (tag string, err error) {
	cols := in.Columns()
	f := in.Format()
	binary := f.Format == "binary"
	c.out.send(&pgproto3.CopyInResponse{OverallFormat: overallFormat(binary), ColumnFormatCodes: columnFormats(len(cols), binary)})
	if err := c.out.flush(); err != nil {
		return "", err
	}
	c.in.resize(copyBufferSize)
	defer c.in.resize(readBufferSize)
	done := false
	defer func() {
		if !done {
			_ = c.engine(func() error { in.Abort(); return nil }) // the error that led here is the one to tell
		}
	}()
	sink := newCopySink(in, c.sess.Env(), c.srv.opts.MaxMessageBytes, func(b *batch.Batch) error {
		return c.engine(func() error { return in.Write(ctx, b) })
	})
	dec, err := newCopyDecoder(f, sink)
	if err != nil {
		return "", err
	}
	if err := c.copyRows(ctx, sink, dec); err != nil {
		return "", withKept(err, in)
	}
	var rows int64
	err = c.engine(func() (err error) {
		rows, err = in.Commit(ctx)
		return err
	})
	if err != nil {
		if row := (*session.RowError)(nil); errors.As(err, &row) {
			err = sink.placed(err)
		}
		return "", withKept(err, in)
	}
	done = true
	return fmt.Sprintf("COPY %d", rows), nil
}

// copyRows reads the data to its end and gives all rows on.
func (c *conn) copyRows(ctx context.Context, sink *copySink, dec copyDecoder) error {
	err := c.copyMessages(ctx, dec)
	if err == nil {
		err = dec.finish()
	}
	if err != nil {
		if ctx.Err() != nil || c.lost != nil {
			return err
		}
		return sink.settle(err)
	}
	return sink.flush()
}

// withKept adds to the error of a COPY how many of its rows stay, so that whoever repeats it can leave them out.
func withKept(err error, in session.CopyIn) error {
	n := in.Kept()
	if n == 0 {
		return err
	}
	e := *sqlerr.From(err)
	s, verb := "rows were", "stay"
	if n == 1 {
		s, verb = "row was", "stays"
	}
	e.Detail = strings.TrimSpace(fmt.Sprintf("%s\nThe first %d %s copied and %s.", e.Detail, n, s, verb))
	return &e
}

// copyMessages hands the data of CopyData messages to dec until CopyDone.
func (c *conn) copyMessages(ctx context.Context, dec copyDecoder) error {
	// A client may be slow to send; cancelling must not wait for it.
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		_ = c.raw.SetReadDeadline(time.Unix(1, 0)) // fails only on a closed socket, where the read fails too
	})
	defer func() {
		if !stop() {
			<-woken
			_ = c.raw.SetReadDeadline(time.Time{}) // as above
		}
	}()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		typ, body, err := c.in.next()
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil {
				return ctx.Err()
			}
			c.lost = err
			return sqlerr.New(sqlerr.ConnectionException, "unexpected EOF on client connection with an open transaction")
		}
		switch typ {
		case 'd':
			if err := dec.feed(body); err != nil {
				return err
			}
		case 'c':
			return nil
		case 'f':
			var m pgproto3.CopyFail
			if err := decode(&m, body); err != nil {
				return sqlerr.New(sqlerr.ProtocolViolation, "%s", err.Error())
			}
			return sqlerr.New(sqlerr.QueryCanceled, "COPY from stdin failed: %s", m.Message)
		case 'H', 'S': // ignored, for clients that do not look at the answer of an Execute
		case 'X':
			c.lost = errClosed
			return sqlerr.New(sqlerr.ConnectionException, "unexpected EOF on client connection with an open transaction")
		default:
			return sqlerr.New(sqlerr.ProtocolViolation, "unexpected message type 0x%02X during COPY from stdin", typ)
		}
	}
}

func overallFormat(binary bool) byte {
	if binary {
		return byte(binaryFormat)
	}
	return byte(textFormat)
}

func columnFormats(n int, binary bool) []uint16 {
	codes := make([]uint16, n)
	if binary {
		for i := range codes {
			codes[i] = uint16(binaryFormat)
		}
	}
	return codes
}
