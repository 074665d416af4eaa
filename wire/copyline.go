package wire

import "bytes"

// Line ends of COPY data. The first one decides for all.
type lineEnd uint8

const (
	eolUnknown lineEnd = iota
	eolLF
	eolCRLF
	eolCR
)

// lineFormat is what text and CSV do differently.
type lineFormat interface {
	// lineEnd looks in p, from at on, for a byte that ends the line that begins at lo: neither escaped nor quoted. i is negative if there is none; up to then p was searched.
	lineEnd(p []byte, lo, at int) (i, searched int)
	// line handles a line, without its end.
	line(line []byte) error
	// headerField reads the first field of b, of n bytes; ok is false where it does not end.
	headerField(b []byte) (value []byte, n int, null, ok bool)
	// plainField appends the value of a column that has no escapes or quotes.
	plainField(c int, value []byte) error
}

// lineScanner cuts COPY data into lines and plain lines into fields, for text and CSV.
type lineScanner struct {
	pending
	format  lineFormat
	sink    *copySink
	delim   byte
	csv     bool
	eol     lineEnd
	header  bool // the next line is the header
	match   bool // which has to have the columns' names
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

// stray reports a stray carriage return or newline.
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

// feed implements copyDecoder.
func (s *lineScanner) feed(p []byte) error {
	if s.ended {
		return nil
	}
	data := s.join(p)
	n, err := s.lines(data, false)
	if err != nil {
		return err
	}
	s.keep(data, n)
	if len(s.rest) > s.sink.maxRow {
		return s.sink.tooLong()
	}
	return nil
}

// finish implements copyDecoder.
func (s *lineScanner) finish() error {
	if err := s.lastLines(); err != nil || !s.header || !s.match {
		return err
	}
	s.sink.line = 1 // as in PostgreSQL, a header that has to match is an empty line where there is none
	return s.headerLine(nil)
}

// lastLines handles what is pending.
func (s *lineScanner) lastLines() error {
	if s.ended {
		return nil
	}
	data := s.rest
	n, err := s.lines(data, true)
	if err != nil || s.ended || n == len(data) {
		return err
	}
	return s.format.line(data[n:])
}

// lines handles the complete lines of p and gives their length.
func (s *lineScanner) lines(p []byte, final bool) (int, error) {
	lo := 0
	for !s.ended {
		i, ok := s.end(p, lo, final)
		if !ok {
			break
		}
		line := p[lo:i]
		if s.eol == eolCRLF {
			if len(line) == 0 || line[len(line)-1] != '\r' {
				s.sink.line++
				return lo, s.stray('\n')
			}
			line = line[:len(line)-1]
		}
		lo, s.scanned = i+1, 0
		if err := s.format.line(line); err != nil {
			return lo, err
		}
	}
	return lo, nil
}

// end finds the last byte of the end of the line that begins at lo.
func (s *lineScanner) end(p []byte, lo int, final bool) (int, bool) {
	i, searched := s.format.lineEnd(p, lo, lo+s.scanned)
	if i < 0 {
		s.scanned = searched - lo
		return 0, false
	}
	if s.eol == eolUnknown {
		if !s.decide(p, i, final) {
			s.scanned = i - lo
			return 0, false
		}
		if s.eol == eolCRLF {
			i++
		}
	}
	return i, true
}

// breakIn finds the first byte of b that would end a line, -1 if there is none.
func (s *lineScanner) breakIn(b []byte) int {
	if s.eol == eolUnknown {
		return bytes.IndexAny(b, "\r\n")
	}
	return bytes.IndexByte(b, s.terminator())
}

// headerLine takes the header. Where it has to match, it is compared with the columns' names, with PostgreSQL's errors.
func (s *lineScanner) headerLine(line []byte) error {
	s.header = false
	if !s.match {
		return nil
	}
	if err := s.sink.checkEncoding(line); err != nil {
		return err
	}
	fields, wrong := 0, error(nil) // wrong is the first field that does not match
	for rest, more := line, true; more; fields++ {
		value, n, null, ok := s.format.headerField(rest)
		if !ok {
			return s.sink.lineError(line, "unterminated CSV quoted field")
		}
		if wrong == nil && fields < len(s.sink.cols) {
			switch want := s.sink.cols[fields].Name; {
			case null:
				wrong = s.sink.lineError(line, "column name mismatch in header line field %d: got null value (\"%s\"), expected \"%s\"", fields+1, rest[:n], want)
			case string(value) != want:
				wrong = s.sink.lineError(line, "column name mismatch in header line field %d: got \"%s\", expected \"%s\"", fields+1, value, want)
			}
		}
		if more = n < len(rest); more {
			rest = rest[n+1:]
		}
	}
	if fields != len(s.sink.cols) {
		return s.sink.lineError(line, "wrong number of fields in header line: got %d, expected %d", fields, len(s.sink.cols))
	}
	return wrong
}

// plainRow reads a row in which nothing is escaped or quoted.
func (s *lineScanner) plainRow(line []byte) error {
	rest, last := line, len(s.sink.cols)-1
	for c := range s.sink.cols {
		field := rest
		i := bytes.IndexByte(rest, s.delim)
		if i >= 0 {
			if c == last {
				return s.sink.extra(line)
			}
			field, rest = rest[:i], rest[i+1:]
		}
		if err := s.format.plainField(c, field); err != nil {
			return err
		}
		if i < 0 && c < last {
			return s.sink.missing(line, c+1)
		}
	}
	if last < 0 && len(line) > 0 {
		return s.sink.extra(line)
	}
	return s.sink.endRow(line, len(line))
}
