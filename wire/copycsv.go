package wire

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/sql/session"
)

// csvDecoder reads CSV as PostgreSQL defines it: quotes may stand anywhere in a field, and only an unquoted
// field can be the NULL string.
type csvDecoder struct {
	lineScanner
	f       session.CopyFormat
	quoting bool  // the pending line is inside quotes at scanned
	escaped bool  // the byte before scanned was an escape that counts
	quotes  bool  // the line has quotes
	breaks  int64 // line ends inside quotes
	scratch []byte
}

func newCSVDecoder(f *session.CopyFormat, s *copySink) *csvDecoder {
	d := &csvDecoder{lineScanner: lineScanner{sink: s, header: f.Header, match: f.HeaderMatch, csv: true, delim: f.Delimiter}, f: *f}
	d.format = d
	if d.delim == 0 {
		d.delim = ','
	}
	if d.f.Quote == 0 {
		d.f.Quote = '"'
	}
	if d.f.Escape == 0 {
		d.f.Escape = d.f.Quote
	}
	return d
}

// lineEnd implements lineFormat: a line end within quotes is data.
func (d *csvDecoder) lineEnd(p []byte, _, at int) (i, searched int) {
	for at < len(p) {
		if d.quoting {
			at = d.skipQuoted(p, at)
			continue
		}
		rest := p[at:]
		i := d.breakIn(rest)
		if i >= 0 {
			rest = rest[:i]
		}
		if q := bytes.IndexByte(rest, d.f.Quote); q >= 0 {
			d.quoting, d.quotes = true, true
			at += q + 1
			continue
		}
		if i < 0 {
			break
		}
		return at + i, at + i
	}
	return -1, len(p)
}

// skipQuoted goes on from at, inside quotes, to behind the closing quote or the end of p. A doubled quote closes and opens again.
func (d *csvDecoder) skipQuoted(p []byte, at int) int {
	start := at
	for ; at < len(p); at++ {
		c := p[at]
		if d.escaped {
			d.escaped = false
			if c == d.f.Quote || c == d.f.Escape {
				continue
			}
		}
		if c == d.f.Escape && c != d.f.Quote {
			d.escaped = true
		} else if c == d.f.Quote {
			d.quoting = false
			at++
			break
		}
	}
	// As in PostgreSQL, breaks in quotes count as lines only once the kind of line end is known.
	counted := []byte{'\r'}
	if d.eol == eolLF {
		counted[0] = '\n'
	}
	d.breaks += int64(bytes.Count(p[start:at], counted))
	return at
}

// line implements lineFormat.
func (d *csvDecoder) line(line []byte) error {
	quotes := d.quotes
	d.sink.line += 1 + d.breaks
	d.quoting, d.escaped, d.quotes, d.breaks = false, false, false, 0
	if !quotes {
		if c := bytes.IndexAny(line, "\r\n"); c >= 0 {
			return d.stray(line[c])
		}
		if string(line) == `\.` {
			d.ended = true
			return nil
		}
	}
	if d.header {
		return d.headerLine(line)
	}
	if err := d.sink.checkEncoding(line); err != nil {
		return err
	}
	if !quotes {
		return d.plainRow(line)
	}
	return d.quotedRow(line)
}

// headerField implements lineFormat.
func (d *csvDecoder) headerField(b []byte) (value []byte, n int, null, ok bool) {
	value, n, quoted, ok := d.quotedField(b)
	return value, n, !quoted && string(value) == d.f.Null, ok
}

// plainField implements lineFormat.
func (d *csvDecoder) plainField(c int, value []byte) error { return d.field(c, value, false) }

// quotedRow splits a line that has quotes into fields.
func (d *csvDecoder) quotedRow(line []byte) error {
	s, rest, last := d.sink, line, len(d.sink.cols)-1
	for c := range s.cols {
		field, n, quoted, ok := d.quotedField(rest)
		if !ok {
			return s.lineError(line, "unterminated CSV quoted field")
		}
		more := n < len(rest)
		if more {
			rest = rest[n+1:]
		}
		if more && c == last {
			return s.extra(line)
		}
		if err := d.field(c, field, quoted); err != nil {
			return err
		}
		if !more && c < last {
			return s.missing(line, c+1)
		}
	}
	if last < 0 && len(line) > 0 {
		return s.extra(line)
	}
	return s.endRow(line, len(line))
}

// field appends a value.
func (d *csvDecoder) field(c int, value []byte, quoted bool) error {
	if string(value) == d.f.Null {
		forceNull := c < len(d.f.ForceNull) && d.f.ForceNull[c]
		forceNotNull := c < len(d.f.ForceNotNull) && d.f.ForceNotNull[c]
		if quoted && forceNull || !quoted && !forceNotNull {
			d.sink.null(c)
			return nil
		}
	}
	return d.sink.text(c, value)
}

// quotedField reads the first field of b, of n bytes, in a line that has quotes somewhere. ok is false where a quote is not closed.
func (d *csvDecoder) quotedField(b []byte) (value []byte, n int, quoted, ok bool) {
	if len(b) > 0 && b[0] == d.f.Quote && d.f.Escape == d.f.Quote {
		// "..." and nothing else needs no copy.
		if e := bytes.IndexByte(b[1:], d.f.Quote); e >= 0 && (e+2 == len(b) || b[e+2] == d.delim) {
			return b[1 : e+1], e + 2, true, true
		}
	}
	dst := d.scratch[:0]
	defer func() { d.scratch = dst }()
	for {
		for ; n < len(b) && b[n] != d.delim && b[n] != d.f.Quote; n++ {
			dst = append(dst, b[n])
		}
		if n == len(b) || b[n] == d.delim {
			return dst, n, quoted, true
		}
		quoted = true
		for n++; ; n++ {
			if n >= len(b) {
				return nil, n, true, false
			}
			if b[n] == d.f.Escape && n+1 < len(b) && (b[n+1] == d.f.Escape || b[n+1] == d.f.Quote) {
				n++
			} else if b[n] == d.f.Quote {
				n++
				break
			}
			dst = append(dst, b[n])
		}
	}
}
