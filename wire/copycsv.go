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
	d := &csvDecoder{lineScanner: lineScanner{sink: s, header: f.Header, csv: true}, f: *f}
	if d.f.Delimiter == 0 {
		d.f.Delimiter = ','
	}
	if d.f.Quote == 0 {
		d.f.Quote = '"'
	}
	if d.f.Escape == 0 {
		d.f.Escape = d.f.Quote
	}
	return d
}

func (d *csvDecoder) feed(p []byte) error {
	if d.ended {
		return nil
	}
	data := d.join(p)
	n, err := d.lines(data, false)
	if err != nil {
		return err
	}
	d.keep(data, n)
	if len(d.rest) > d.sink.maxRow {
		return d.sink.tooLong()
	}
	return nil
}

func (d *csvDecoder) finish() error {
	if d.ended {
		return nil
	}
	data := d.rest
	n, err := d.lines(data, true)
	if err != nil || d.ended || n == len(data) {
		return err
	}
	return d.line(data[n:])
}

// lines handles the complete lines of p and gives their length.
func (d *csvDecoder) lines(p []byte, final bool) (int, error) {
	lo := 0
	for !d.ended {
		i, ok := d.end(p, lo, final)
		if !ok {
			break
		}
		line := p[lo:i]
		if d.eol == eolCRLF {
			if len(line) == 0 || line[len(line)-1] != '\r' {
				d.sink.line++
				return lo, d.stray('\n')
			}
			line = line[:len(line)-1]
		}
		lo = i + 1
		if err := d.line(line); err != nil {
			return lo, err
		}
	}
	return lo, nil
}

// end finds the last byte of the end of the line that begins at lo: the first terminator outside quotes.
func (d *csvDecoder) end(p []byte, lo int, final bool) (int, bool) {
	at := lo + d.scanned
	for at < len(p) {
		if d.quoting {
			at = d.skipQuoted(p, at)
			continue
		}
		rest := p[at:]
		i := -1
		if d.eol == eolUnknown {
			i = bytes.IndexAny(rest, "\r\n")
		} else {
			i = bytes.IndexByte(rest, d.terminator())
		}
		if i >= 0 {
			rest = rest[:i]
		}
		if q := bytes.IndexByte(rest, d.f.Quote); q >= 0 {
			d.quoting, d.quotes = true, true
			at += q + 1
			continue
		}
		if i < 0 {
			at = len(p)
			break
		}
		i += at
		if d.eol == eolUnknown {
			if !d.decide(p, i, final) {
				d.scanned = i - lo
				return 0, false
			}
			if d.eol == eolCRLF {
				i++
			}
		}
		return i, true
	}
	d.scanned = at - lo
	return 0, false
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

// line handles one line, without its end, and makes ready for the next.
func (d *csvDecoder) line(line []byte) error {
	quotes := d.quotes
	d.sink.line += 1 + d.breaks
	d.scanned, d.quoting, d.escaped, d.quotes, d.breaks = 0, false, false, false, 0
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
		d.header = false
		return nil
	}
	if err := d.sink.checkEncoding(line); err != nil {
		return err
	}
	return d.row(line, quotes)
}

// row splits a line into fields.
func (d *csvDecoder) row(line []byte, quotes bool) error {
	s, rest, last := d.sink, line, len(d.sink.cols)-1
	for c := range s.cols {
		var field []byte
		var quoted, more bool
		if !quotes {
			field = rest
			if i := bytes.IndexByte(rest, d.f.Delimiter); i >= 0 {
				field, rest, more = rest[:i], rest[i+1:], true
			}
		} else {
			var n int
			var ok bool
			if field, n, quoted, ok = d.quotedField(rest); !ok {
				return s.lineError(line, "unterminated CSV quoted field")
			}
			if more = n < len(rest); more {
				rest = rest[n+1:]
			}
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
	return s.endRow(len(line))
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
		if e := bytes.IndexByte(b[1:], d.f.Quote); e >= 0 && (e+2 == len(b) || b[e+2] == d.f.Delimiter) {
			return b[1 : e+1], e + 2, true, true
		}
	}
	dst := d.scratch[:0]
	defer func() { d.scratch = dst }()
	for {
		for ; n < len(b) && b[n] != d.f.Delimiter && b[n] != d.f.Quote; n++ {
			dst = append(dst, b[n])
		}
		if n == len(b) || b[n] == d.f.Delimiter {
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
