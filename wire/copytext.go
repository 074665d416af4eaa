package wire

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/sql/session"
)

// Line ends of COPY data. The first one decides for all.
type lineEnd uint8

const (
	eolUnknown lineEnd = iota
	eolLF
	eolCRLF
	eolCR
)

// lineScanner finds the ends of lines; it is shared by text and CSV.
type lineScanner struct {
	pending
	sink    *copySink
	csv     bool
	eol     lineEnd
	header  bool // the next line is the header
	ended   bool // after \.
	scanned int  // bytes of the pending line that hold no line end
}

// terminator is the last byte of a line end.
func (s *lineScanner) terminator() byte {
	if s.eol == eolCR {
		return '\r'
	}
	return '\n'
}

// errorAt reports a stray carriage return or newline.
func (s *lineScanner) stray(c byte) error {
	name, esc := "newline", `\n`
	if c == '\r' {
		name, esc = "carriage return", `\r`
	}
	kind, hint := "literal", `Use "`+esc+`" to represent `+name+`.`
	if s.csv {
		kind, hint = "unquoted", "Use quoted CSV field to represent "+name+"."
	}
	e := s.sink.placeError("%s %s found in data", kind, name)
	e.Hint = hint
	return e
}

// decide looks at the first line end, at p[i]. ok is false where the next byte is needed for that.
func (s *lineScanner) decide(p []byte, i int, final bool) (ok bool) {
	switch {
	case p[i] == '\n':
		s.eol = eolLF
	case i+1 < len(p) && p[i+1] == '\n':
		s.eol = eolCRLF
	case i+1 < len(p) || final:
		s.eol = eolCR
	default:
		return false
	}
	return true
}

// textDecoder reads PostgreSQL's text format.
type textDecoder struct {
	lineScanner
	delim   byte
	null    string
	scratch []byte
}

func newTextDecoder(f *session.CopyFormat, s *copySink) *textDecoder {
	d := &textDecoder{lineScanner: lineScanner{sink: s, header: f.Header}, delim: f.Delimiter, null: f.Null}
	if d.delim == 0 {
		d.delim = '\t'
	}
	return d
}

func (d *textDecoder) feed(p []byte) error {
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

func (d *textDecoder) finish() error {
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
func (d *textDecoder) lines(p []byte, final bool) (int, error) {
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
		lo, d.scanned = i+1, 0
		if err := d.line(line); err != nil {
			return lo, err
		}
	}
	return lo, nil
}

// end finds the last byte of the end of the line that begins at lo.
func (d *textDecoder) end(p []byte, lo int, final bool) (int, bool) {
	from := lo + d.scanned
	for from < len(p) {
		i := -1
		if d.eol == eolUnknown {
			i = bytes.IndexAny(p[from:], "\r\n")
		} else {
			i = bytes.IndexByte(p[from:], d.terminator())
		}
		if i < 0 {
			break
		}
		i += from
		if escaped(p[lo:i]) {
			from = i + 1
			continue
		}
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
	d.scanned = len(p) - lo
	return 0, false
}

// escaped says whether the byte behind b follows a backslash that counts.
func escaped(b []byte) bool {
	n := len(b)
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (len(b)-n)%2 == 1
}

// line handles one line, without its end.
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
		d.header = false
		return nil
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

// plainRow reads a row without backslashes.
func (d *textDecoder) plainRow(line []byte) error {
	s, rest, last := d.sink, line, len(d.sink.cols)-1
	for c := range s.cols {
		field := rest
		i := bytes.IndexByte(rest, d.delim)
		switch {
		case i < 0 && c < last:
			if err := d.field(c, field, field); err != nil {
				return err
			}
			return s.missing(line, c+1)
		case i >= 0 && c == last:
			return s.extra(line)
		case i >= 0:
			field, rest = rest[:i], rest[i+1:]
		}
		if err := d.field(c, field, field); err != nil {
			return err
		}
	}
	if last < 0 && len(line) > 0 {
		return s.extra(line)
	}
	return s.endRow(len(line))
}

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
	return s.endRow(len(line))
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
