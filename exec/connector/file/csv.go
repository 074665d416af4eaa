package file

import (
	"bytes"
	"io"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// csvReader decodes CSV as PostgreSQL's COPY defines it: quotes may stand anywhere in a field, a doubled quote within them is one, and
// only an unquoted field can be the NULL string. Empty lines are skipped.
type csvReader struct {
	*lineReader
	delim, quote byte
	null         []byte
	cols         []int // of each field of a row: the column, -1: none
	all          bool  // every column has a field
	last         bool  // a last line without line end is a row
	cutLine      bool  // such a row was read
	differs      string

	quoted quotedRow // of the general path
}

// newCSV opens a CSV file at its first row.
func newCSV(l *lineReader, o *options, fields []field, last bool) (*csvReader, error) {
	r := &csvReader{lineReader: l, delim: o.delimiter, quote: '"', null: []byte(o.null), last: last}
	if !o.header {
		for i := range fields {
			r.cols = append(r.cols, i)
		}
		r.all = true
		return r, nil
	}
	for {
		ok, err := r.record()
		if err != nil {
			return nil, err
		}
		if !ok {
			return r, nil // empty so far
		}
		if r.quoted.err != nil {
			return nil, damaged(r.quoted.err)
		}
		if len(r.quoted.fields) > 1 || len(r.quoted.field(0)) > 0 {
			break
		}
	}
	return r, r.mapHeader(fields)
}

// mapHeader finds the columns that the header names.
func (r *csvReader) mapHeader(fields []field) error {
	found := make([]bool, len(fields))
	n := 0
	var others, lacking []string
	for k := range r.quoted.fields {
		name := strings.TrimPrefix(string(r.quoted.field(k)), "\ufeff")
		col := -1
		for i := range fields {
			if strings.EqualFold(strings.TrimSpace(name), fields[i].name) && !found[i] {
				col = i
				found[i] = true
				n++
				break
			}
		}
		r.cols = append(r.cols, col)
		if col < 0 {
			others = append(others, name)
		}
	}
	for i := range fields {
		if !found[i] {
			lacking = append(lacking, fields[i].name)
		}
	}
	r.all = n == len(fields)
	r.differs = difference(lacking, others)
	if n == 0 {
		return sqlerr.New(sqlerr.BadCopyFileFormat, "the header names none of the stream's columns").WithCause(errDamaged)
	}
	return nil
}

// read implements reader.
func (r *csvReader) read(s *sink, max int) error {
	for !s.full(max) {
		w := r.window()
		// Up to the last line end, if there is no quote in between, rows are plain.
		end := bytes.LastIndexByte(w, '\n') + 1
		if q := bytes.IndexByte(w[:end], r.quote); q >= 0 {
			end = bytes.LastIndexByte(w[:q], '\n') + 1
		}
		if end > 0 {
			s.bytes += r.plain(w[:end], s, max)
			continue
		}
		ok, err := r.record()
		if err != nil {
			return err
		}
		if !ok {
			return io.EOF
		}
		s.bytes += len(r.quoted.raw)
		if r.quoted.err != nil {
			s.reject(r.line-r.quoted.lines+1, r.quoted.raw, r.quoted.err)
			continue
		}
		r.quotedRow(s)
	}
	return nil
}

// plain decodes rows without quotes; w ends with a line end. It gives the bytes taken.
func (r *csvReader) plain(w []byte, s *sink, max int) int {
	p := 0
	for p < len(w) && s.rows.N+len(s.bad) < max {
		n := bytes.IndexByte(w[p:], '\n')
		line := trimCR(w[p : p+n])
		p += n + 1
		r.take(n+1, 1)
		if len(line) == 0 {
			continue
		}
		err := r.plainRow(line, s)
		if err == nil {
			if r.all {
				s.rows.EndRow(1)
				continue
			}
			err = s.fill()
		}
		if err != nil {
			s.reject(r.line, line, err)
		}
	}
	return p
}

// plainRow decodes the fields of one line.
func (r *csvReader) plainRow(line []byte, s *sink) error {
	cols, delim := r.cols, r.delim
	p := 0
	for k, col := range cols {
		q := p
		if col >= 0 && s.fields[col].op == opInt && len(r.null) == 0 {
			// An integer of the usual form is read while its end is looked for.
			x, n := digits(line[p:])
			if q = p + n; n > 0 && (q == len(line) || line[q] == delim) && x >= s.fields[col].lo && x <= s.fields[col].hi {
				s.rows.Cols[col].AppendInt(x)
				if q == len(line) {
					if k < len(cols)-1 {
						return r.missing(s, k+1)
					}
					return nil
				}
				p = q + 1
				continue
			}
		}
		for q < len(line) && line[q] != delim {
			q++
		}
		if col >= 0 {
			if err := s.fields[col].plain(s.rows.Cols[col], line[p:q], r.null); err != nil {
				return err
			}
		}
		if q == len(line) {
			if k < len(cols)-1 {
				return r.missing(s, k+1)
			}
			return nil
		}
		p = q + 1
	}
	return errExtra()
}

// digits reads the number that b begins with, of at most 18 digits, and gives its length.
func digits(b []byte) (x int64, n int) {
	for n < len(b) {
		d := b[n] - '0'
		if d > 9 {
			break
		}
		x = x*10 + int64(d)
		if n++; n > 18 {
			return 0, 0
		}
	}
	return x, n
}

// plain adds the value of a field that is not quoted.
func (f *field) plain(v *batch.Vector, b, null []byte) error {
	if len(b) == len(null) && bytes.Equal(b, null) {
		return f.null(v)
	}
	return f.append(v, b)
}

// missing says that a row ends before its field k.
func (r *csvReader) missing(s *sink, k int) error {
	for ; k < len(r.cols); k++ {
		if c := r.cols[k]; c >= 0 {
			return sqlerr.New(sqlerr.BadCopyFileFormat, "missing data for column \"%s\"", s.fields[c].name)
		}
	}
	return sqlerr.New(sqlerr.BadCopyFileFormat, "the row has too few fields")
}

func errExtra() error {
	return sqlerr.New(sqlerr.BadCopyFileFormat, "extra data after last expected column")
}

// misfit implements reader.
func (r *csvReader) misfit() string { return r.differs }

// pos implements reader.
func (r *csvReader) pos() (at, line int64) { return r.at, r.line }

// until implements reader.
func (r *csvReader) until(limit int64, last bool) { r.limit, r.eof, r.last = limit, false, last }

// cut implements reader.
func (r *csvReader) cut() bool { return r.cutLine }
