package wire

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/sql/session"
)

// textDecoder reads PostgreSQL's text format.
type textDecoder struct {
	lineScanner
	null    string
	scratch []byte
}

func newTextDecoder(f *session.CopyFormat, s *copySink) *textDecoder {
	d := &textDecoder{lineScanner: lineScanner{sink: s, header: f.Header, match: f.HeaderMatch, delim: f.Delimiter}, null: f.Null}
	d.format = d
	if d.delim == 0 {
		d.delim = '\t'
	}
	return d
}

// lineEnd implements lineFormat: a line end behind a backslash is data.
func (d *textDecoder) lineEnd(p []byte, lo, at int) (i, searched int) {
	for at < len(p) {
		i := d.breakIn(p[at:])
		if i < 0 {
			break
		}
		if i += at; !escaped(p[lo:i]) {
			return i, i
		}
		at = i + 1
	}
	return -1, len(p)
}

// escaped says whether the byte behind b follows a backslash that counts.
func escaped(b []byte) bool {
	n := len(b)
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (len(b)-n)%2 == 1
}

// line implements lineFormat.
func (d *textDecoder) line(line []byte) error {
	d.sink.line++
	plain := bytes.IndexByte(line, '\\') < 0
	if bytes.IndexByte(line, '\r') >= 0 || d.eol == eolCR {
		if err := d.checkStray(line); err != nil {
			return err
		}
	}
	if !plain {
		if data, found, err := d.endMarker(line); err != nil {
			return err
		} else if found {
			d.ended = true
			if len(data) == 0 {
				return nil
			}
			line = data
		}
	}
	if d.header {
		return d.headerLine(line)
	}
	if err := d.sink.checkEncoding(line); err != nil {
		return err
	}
	if plain {
		return d.plainRow(line)
	}
	return d.escapedRow(line)
}

// checkStray refuses carriage returns and newlines that do not end lines and are not escaped.
func (d *textDecoder) checkStray(line []byte) error {
	for i, c := range line {
		if (c == '\r' || c == '\n') && !escaped(line[:i]) {
			return d.stray(c)
		}
	}
	return nil
}

// endMarker looks for \. in a line: the end of the data, which nothing may follow on its line.
func (d *textDecoder) endMarker(line []byte) (before []byte, found bool, err error) {
	for i := 0; i+1 < len(line); i++ {
		if line[i] != '\\' {
			continue
		}
		if line[i+1] == '.' {
			if i+2 < len(line) {
				return nil, false, d.sink.placeError("end-of-copy marker corrupt")
			}
			return line[:i], true, nil
		}
		i++
	}
	return nil, false, nil
}

// headerField implements lineFormat.
func (d *textDecoder) headerField(b []byte) (value []byte, n int, null, ok bool) {
	n = fieldLen(b, d.delim)
	d.scratch, _ = unescape(d.scratch[:0], b[:n])
	return d.scratch, n, string(b[:n]) == d.null, true
}

// plainField implements lineFormat.
func (d *textDecoder) plainField(c int, value []byte) error { return d.field(c, value, value) }

// field appends a value; raw is the field as it was written, which is what the NULL string is compared with.
func (d *textDecoder) field(c int, raw, value []byte) error {
	if string(raw) == d.null {
		d.sink.null(c)
		return nil
	}
	return d.sink.text(c, value)
}

// escapedRow reads a row with backslashes.
func (d *textDecoder) escapedRow(line []byte) error {
	s, rest := d.sink, line
	if len(s.cols) == 0 {
		return s.extra(line)
	}
	for c := range s.cols {
		n := fieldLen(rest, d.delim)
		raw, more := rest[:n], n < len(rest)
		value := raw
		if bytes.IndexByte(raw, '\\') >= 0 && string(raw) != d.null {
			var widened bool
			if d.scratch, widened = unescape(d.scratch[:0], raw); widened {
				if e := invalidUTF8(d.scratch); e != nil {
					e.Where = s.lineError(line, "").Where
					return e
				}
			}
			value = d.scratch
		}
		if more && c == len(s.cols)-1 {
			return s.extra(line)
		}
		if err := d.field(c, raw, value); err != nil {
			return err
		}
		if !more && c < len(s.cols)-1 {
			return s.missing(line, c+1)
		}
		if more {
			rest = rest[n+1:]
		}
	}
	return s.endRow(line, len(line))
}

// fieldLen gives the length of the first field of b.
func fieldLen(b []byte, delim byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case delim:
			return i
		case '\\':
			i++
		}
	}
	return len(b)
}

// unescape resolves backslashes; widened says that a byte was made from digits, so that the encoding has to be looked at again.
func unescape(dst, b []byte) (out []byte, widened bool) {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			dst = append(dst, b[i])
			continue
		}
		i++
		c := b[i]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'v':
			c = '\v'
		case '0', '1', '2', '3', '4', '5', '6', '7':
			c -= '0'
			for k := 0; k < 2 && i+1 < len(b) && b[i+1]&^7 == '0'; k++ {
				i++
				c = c<<3 | b[i]&7
			}
			widened = widened || c >= 0x80 || c == 0
		case 'x':
			if x, ok := hexDigit(b, i+1); ok {
				i++
				c = x
				if x, ok := hexDigit(b, i+1); ok {
					i++
					c = c<<4 | x
				}
				widened = widened || c >= 0x80 || c == 0
			}
		}
		dst = append(dst, c)
	}
	return dst, widened
}

func hexDigit(b []byte, i int) (byte, bool) {
	if i >= len(b) {
		return 0, false
	}
	switch c := b[i]; {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
