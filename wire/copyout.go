package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgproto3/v2"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// copyTo runs COPY TO STDOUT and gives its command tag. Like PostgreSQL it sends one CopyData message per row.
func (c *conn) copyTo(ctx context.Context, p *portal, f *session.CopyFormat) (string, error) {
	w, err := newCopyEncoder(f, p.cols, c.sess.Env())
	if err != nil {
		return "", err
	}
	bin := f.Format == "binary"
	c.out.send(&pgproto3.CopyOutResponse{OverallFormat: overallFormat(bin), ColumnFormatCodes: columnFormats(len(p.cols), bin)})
	c.out.buf = w.begin(c.out.buf)
	rows := int64(0)
	for !p.ended {
		if err := c.fetch(ctx, p, 1<<62); err != nil {
			return "", err
		}
		b := p.left
		if b == nil {
			continue
		}
		for i := 0; i < b.N; i++ {
			for k := b.Weight(i); k > 0; k-- {
				c.out.buf = w.row(c.out.buf, b, i)
				c.out.shown = true
				rows++
				if err := c.out.room(); err != nil {
					return "", err
				}
			}
		}
		p.left = nil
	}
	c.out.buf = w.end(c.out.buf)
	c.out.send(&pgproto3.CopyDone{})
	return fmt.Sprintf("COPY %d", rows), nil
}

// copyEncoder writes rows as CopyData messages.
type copyEncoder struct {
	f       session.CopyFormat
	cols    []session.Column
	values  []valueEncoder
	fields  *rowEncoder // of the binary format
	lead    []byte      // goes in front of the first row: the binary header
	special [256]bool   // bytes of a value that need a backslash (text) or quotes (CSV)
	scratch []byte
}

func newCopyEncoder(f *session.CopyFormat, cols []session.Column, env *types.Env) (*copyEncoder, error) {
	w := &copyEncoder{f: *f, cols: cols}
	format := textFormat
	switch f.Format {
	case "", "text":
		w.f.Delimiter = orByte(f.Delimiter, '\t')
		for _, c := range []byte{'\\', '\b', '\f', '\n', '\r', '\t', '\v', w.f.Delimiter} {
			w.special[c] = true
		}
	case "csv":
		w.f.Delimiter, w.f.Quote = orByte(f.Delimiter, ','), orByte(f.Quote, '"')
		w.f.Escape = orByte(f.Escape, w.f.Quote)
		for _, c := range []byte{w.f.Delimiter, w.f.Quote, '\n', '\r'} {
			w.special[c] = true
		}
	case "binary":
		format = binaryFormat
		w.fields = newRowEncoder(cols, []int16{binaryFormat}, func() *types.Env { return env })
		w.lead = append([]byte(binarySignature), 0, 0, 0, 0, 0, 0, 0, 0)
	default:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "COPY format \"%s\" not recognized", f.Format)
	}
	w.values = make([]valueEncoder, len(cols))
	for i, col := range cols {
		w.values[i] = encoderFor(col.Type, format, func() *types.Env { return env })
	}
	return w, nil
}

func orByte(b, otherwise byte) byte {
	if b == 0 {
		return otherwise
	}
	return b
}

// openCopyData begins a CopyData message at the end of dst; closeCopyData sets its length.
func openCopyData(dst []byte) ([]byte, int) {
	return append(dst, 'd', 0, 0, 0, 0), len(dst) + 1
}

func closeCopyData(dst []byte, at int) []byte {
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at))
	return dst
}

// begin appends what comes before the rows as a message of its own: the header line.
func (w *copyEncoder) begin(dst []byte) []byte {
	if !w.f.Header || w.fields != nil {
		return dst
	}
	dst, at := openCopyData(dst)
	for i, col := range w.cols {
		if i > 0 {
			dst = append(dst, w.f.Delimiter)
		}
		start := len(dst)
		dst = append(dst, col.Name...)
		dst = w.protect(dst, start, false)
	}
	return closeCopyData(append(dst, '\n'), at)
}

// row appends a row as a message.
func (w *copyEncoder) row(dst []byte, b *batch.Batch, i int) []byte {
	dst, at := openCopyData(dst)
	if w.fields != nil {
		dst = append(dst, w.lead...)
		w.lead = nil
		dst = append(dst, byte(len(w.cols)>>8), byte(len(w.cols)))
		return closeCopyData(w.fields.appendFields(dst, b, i), at)
	}
	for c, enc := range w.values {
		if c > 0 {
			dst = append(dst, w.f.Delimiter)
		}
		v := b.Cols[c]
		if v.IsNull(i) {
			dst = append(dst, w.f.Null...)
			continue
		}
		start := len(dst)
		dst = enc(dst, v, i)
		dst = w.protect(dst, start, c < len(w.f.ForceQuote) && w.f.ForceQuote[c])
	}
	return closeCopyData(append(dst, '\n'), at)
}

// end appends what comes after the rows: the binary trailer.
func (w *copyEncoder) end(dst []byte) []byte {
	if w.fields == nil {
		return dst
	}
	dst, at := openCopyData(dst)
	dst = append(dst, w.lead...)
	w.lead = nil
	return closeCopyData(append(dst, 0xff, 0xff), at)
}

// protect makes the value dst[start:] fit for the format.
func (w *copyEncoder) protect(dst []byte, start int, force bool) []byte {
	value := dst[start:]
	need := force
	for _, c := range value {
		if w.special[c] {
			need = true
			break
		}
	}
	if w.f.Format != "csv" {
		if !need {
			return dst
		}
		w.scratch = append(w.scratch[:0], value...)
		return appendEscaped(dst[:start], w.scratch, &w.special)
	}
	if !need && (string(value) == w.f.Null || len(w.cols) == 1 && string(value) == `\.`) {
		need = true // else it would be read as NULL or as the end
	}
	if !need {
		return dst
	}
	w.scratch = append(w.scratch[:0], value...)
	dst = append(dst[:start], w.f.Quote)
	for rest := w.scratch; len(rest) > 0; {
		n := bytes.IndexFunc(rest, func(r rune) bool { return r == rune(w.f.Quote) || r == rune(w.f.Escape) })
		if n < 0 {
			dst = append(dst, rest...)
			break
		}
		dst = append(append(dst, rest[:n]...), w.f.Escape, rest[n])
		rest = rest[n+1:]
	}
	return append(dst, w.f.Quote)
}

// appendEscaped appends a value of the text format with backslashes.
func appendEscaped(dst, value []byte, special *[256]bool) []byte {
	for _, c := range value {
		if !special[c] {
			dst = append(dst, c)
			continue
		}
		dst = append(dst, '\\')
		switch c {
		case '\b':
			c = 'b'
		case '\f':
			c = 'f'
		case '\n':
			c = 'n'
		case '\r':
			c = 'r'
		case '\t':
			c = 't'
		case '\v':
			c = 'v'
		}
		dst = append(dst, c)
	}
	return dst
}
