package file

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// jsonReader decodes JSON lines: an object a line, whose members are columns by name. Members that are no column are passed over, columns
// without a member are NULL, and of a member that comes twice the last counts. Empty lines are skipped.
type jsonReader struct {
	*lineReader
	last    bool
	cutLine bool
	byName  map[string]int
	known   bool // a member was a column
	// order is what the rows before looked like: which column (-1: none) the k-th member was, by the bytes of its name.
	order []member
}

type member struct {
	name  []byte
	token []byte // the name as it was written, with quotes and colon
	col   int
}

// maxMembers bounds how many members of an object are remembered.
const maxMembers = 256

func newJSON(l *lineReader, fields []field, last bool) *jsonReader {
	r := &jsonReader{lineReader: l, last: last, byName: make(map[string]int, len(fields))}
	for i := range fields {
		r.byName[fields[i].name] = i
	}
	return r
}

// misfit implements reader: each object may have other members, but one that has none that is a column is likely not meant.
func (r *jsonReader) misfit() string {
	if len(r.order) == 0 || r.known {
		return ""
	}
	var names []string
	for _, m := range r.order {
		names = append(names, string(m.name))
	}
	return "has no member that is a column of the stream, but " + quotedNames(names)
}

// read implements reader.
func (r *jsonReader) read(s *sink, max int) error {
	for !s.full(max) {
		line, n, ok := r.next(r.last)
		if !ok {
			if r.hi-r.lo > maxRecord {
				from := r.line
				raw, err := r.skipLong()
				if err != nil {
					return err
				}
				s.reject(from+1, raw, errTooLong())
				continue
			}
			if r.eof {
				return io.EOF
			}
			if err := r.fill(); err != nil {
				return err
			}
			continue
		}
		r.cutLine = r.window()[n-1] != '\n'
		r.take(n, 1)
		s.bytes += n
		r.row(line, s)
	}
	return nil
}

// row decodes one line.
func (r *jsonReader) row(line []byte, s *sink) {
	done, err := r.plain(line, s)
	if !done && err == nil {
		s.undo()
		if len(bytes.TrimLeft(line, " \t\r")) == 0 {
			return
		}
		err = r.general(line, s)
	}
	if err == nil {
		err = s.fill()
	}
	if err != nil {
		s.reject(r.line, line, err)
	}
}

// plain decodes an object without nesting and escapes. done is false where the line is anything else, valid or not; what was
// added to the row by then must be undone.
func (r *jsonReader) plain(b []byte, s *sink) (done bool, err error) {
	p := space(b, 0)
	if p >= len(b) || b[p] != '{' {
		return false, nil
	}
	if p = space(b, p+1); p < len(b) && b[p] == '}' {
		return space(b, p+1) == len(b), nil
	}
	for k := 0; ; k++ {
		col := -1
		if k < len(r.order) && bytes.HasPrefix(b[p:], r.order[k].token) {
			col, p = r.order[k].col, p+len(r.order[k].token)
		} else {
			q, ok := stringEnd(b, p)
			if !ok {
				return false, nil
			}
			col = r.column(k, b[p+1:q-1])
			if p = space(b, q); p >= len(b) || b[p] != ':' {
				return false, nil
			}
			p++
		}
		p = space(b, p)
		if col >= 0 && s.fields[col].op == opInt && s.rows.Cols[col].N == s.rows.N {
			// An integer of the usual form.
			x, n := digits(b[p:])
			if q := p + n; n > 0 && (n == 1 || b[p] != '0') && q < len(b) && (b[q] == ',' || b[q] == '}') && x >= s.fields[col].lo && x <= s.fields[col].hi {
				s.rows.Cols[col].AppendInt(x)
				if b[q] == '}' {
					return space(b, q+1) == len(b), nil
				}
				p = space(b, q+1)
				continue
			}
		}
		val, q, kind := scalar(b, p)
		if kind == notPlain {
			return false, nil
		}
		if col >= 0 {
			v := s.rows.Cols[col]
			if v.N > s.rows.N { // it comes twice
				return false, nil
			}
			f := &s.fields[col]
			switch {
			case kind == nullValue:
				err = f.null(v)
			case f.isJSON:
				err = f.append(v, b[p:q])
			default:
				err = f.append(v, val)
			}
			if err != nil {
				// The general path tells it again, if the rest of the line is JSON at all.
				return false, nil
			}
		}
		if p = space(b, q); p >= len(b) {
			return false, nil
		}
		if b[p] == '}' {
			return space(b, p+1) == len(b), nil
		}
		if b[p] != ',' {
			return false, nil
		}
		p = space(b, p+1)
	}
}

// column finds the column of the k-th member.
func (r *jsonReader) column(k int, name []byte) int {
	if k < len(r.order) && bytes.Equal(r.order[k].name, name) {
		return r.order[k].col
	}
	col, ok := r.byName[text(name)]
	if !ok {
		col = -1
	}
	r.known = r.known || ok
	m := member{bytes.Clone(name), append(append([]byte{'"'}, name...), '"', ':'), col}
	if k < len(r.order) {
		r.order[k] = m
	} else if k == len(r.order) && k < maxMembers {
		r.order = append(r.order, m)
	}
	return col
}

// space gives the first byte from p on that is not white space.
func space(b []byte, p int) int {
	for p < len(b) && (b[p] == ' ' || b[p] == '\t' || b[p] == '\r' || b[p] == '\n') {
		p++
	}
	return p
}

// stringEnd gives what follows the string that begins at p; false for one with escapes, or none.
func stringEnd(b []byte, p int) (int, bool) {
	if p >= len(b) || b[p] != '"' {
		return 0, false
	}
	or := byte(0)
	for q := p + 1; q < len(b); q++ {
		c := b[q]
		if c == '"' {
			return q + 1, or < 0x80 || utf8.Valid(b[p+1:q])
		}
		if c < 0x20 || c == '\\' {
			return 0, false
		}
		or |= c
	}
	return 0, false
}

type scalarKind uint8

const (
	notPlain scalarKind = iota
	nullValue
	otherValue // number, string, true or false
)

// scalar reads the value at p: its text, of a string without the quotes, and what follows.
func scalar(b []byte, p int) (val []byte, end int, kind scalarKind) {
	if p >= len(b) {
		return nil, 0, notPlain
	}
	switch c := b[p]; {
	case c == '"':
		q, ok := stringEnd(b, p)
		if !ok {
			return nil, 0, notPlain
		}
		return b[p+1 : q-1], q, otherValue
	case c == '-' || c-'0' <= 9:
		q, ok := numberEnd(b, p)
		if !ok {
			return nil, 0, notPlain
		}
		return b[p:q], q, otherValue
	case c == 't' && len(b) >= p+4 && string(b[p:p+4]) == "true":
		return b[p : p+4], p + 4, otherValue
	case c == 'f' && len(b) >= p+5 && string(b[p:p+5]) == "false":
		return b[p : p+5], p + 5, otherValue
	case c == 'n' && len(b) >= p+4 && string(b[p:p+4]) == "null":
		return nil, p + 4, nullValue
	}
	return nil, 0, notPlain
}

// numberEnd gives what follows the number at p, which must have JSON's form.
func numberEnd(b []byte, p int) (int, bool) {
	digits := func() bool {
		from := p
		for p < len(b) && b[p]-'0' <= 9 {
			p++
		}
		return p > from
	}
	if b[p] == '-' {
		p++
	}
	if p < len(b) && b[p] == '0' {
		p++
	} else if !digits() {
		return 0, false
	}
	if p < len(b) && b[p] == '.' {
		p++
		if !digits() {
			return 0, false
		}
	}
	if p < len(b) && (b[p] == 'e' || b[p] == 'E') {
		p++
		if p < len(b) && (b[p] == '+' || b[p] == '-') {
			p++
		}
		if !digits() {
			return 0, false
		}
	}
	return p, true
}

// pos implements reader.
func (r *jsonReader) pos() (at, line int64) { return r.at, r.line }

// until implements reader.
func (r *jsonReader) until(limit int64, last bool) { r.limit, r.eof, r.last = limit, false, last }

// cut implements reader.
func (r *jsonReader) cut() bool { return r.cutLine }
