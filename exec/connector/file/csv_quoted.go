package file

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// quotedRow is one row as the general path splits it.
type quotedRow struct {
	data   []byte // all fields, unquoted, one behind the other
	fields []quotedField
	lines  int64  // that the row takes
	raw    []byte // its text; valid until more is read
	err    error  // what is wrong with it
}

// quotedField is a field: data up to end, from the end of the one before it.
type quotedField struct {
	end    int
	quoted bool // a quote stood in it, so it is not the NULL string
}

func (q *quotedRow) field(k int) []byte {
	lo := 0
	if k > 0 {
		lo = q.fields[k-1].end
	}
	return q.data[lo:q.fields[k].end]
}

// record takes the next row, with quotes or without, into r.quoted. false: there is no whole one before the end. Empty lines are
// rows with one empty field.
func (r *csvReader) record() (bool, error) {
	scan := quoteScan{delim: r.delim, quote: r.quote}
	for {
		n, ok := scan.end(r.window())
		switch {
		case ok:
			r.split(r.window()[:n], scan.lines)
			r.take(n, scan.lines)
			return true, nil
		case r.hi-r.lo > maxRecord:
			from := r.line
			raw, err := r.skipLong()
			r.quoted = quotedRow{raw: raw, lines: r.line - from, err: errTooLong()}
			return err == nil, err
		case !r.eof:
			if err := r.fill(); err != nil {
				return false, err
			}
			continue
		case !r.last || r.hi == r.lo:
			return false, nil
		}
		// The last row, without line end.
		w := r.window()
		r.split(w, scan.lines+1)
		if scan.in {
			r.quoted.err = sqlerr.New(sqlerr.BadCopyFileFormat, "unterminated CSV quoted field, which goes on to the end of the file")
		}
		r.take(len(w), scan.lines+1)
		r.cutLine = true
		return true, nil
	}
}

// quoteScan looks for the end of a row.
type quoteScan struct {
	delim, quote byte
	done         int  // scanned so far
	in           bool // inside quotes
	lines        int64
}

// end gives the length of the row at the beginning of w, its line end included. It is called again with a longer w.
func (s *quoteScan) end(w []byte) (int, bool) {
	for s.done < len(w) {
		if s.in {
			i := bytes.IndexByte(w[s.done:], s.quote)
			stop := len(w)
			if i >= 0 {
				stop = s.done + i
			}
			s.lines += int64(bytes.Count(w[s.done:stop], []byte{'\n'}))
			s.done = stop
			if i >= 0 {
				s.in = false // a doubled quote opens them again at once
				s.done++
			}
			continue
		}
		switch w[s.done] {
		case s.quote:
			s.in = true
		case '\n':
			s.lines++
			s.done++
			return s.done, true
		}
		s.done++
	}
	return 0, false
}

// split takes a row apart.
func (r *csvReader) split(w []byte, lines int64) {
	q := &r.quoted
	q.data, q.fields, q.lines, q.raw, q.err = q.data[:0], q.fields[:0], lines, w, nil
	if n := len(w); n > 0 && w[n-1] == '\n' {
		w = w[:n-1]
	}
	w = trimCR(w)
	quoted, in := false, false
	for i := 0; i < len(w); i++ {
		switch c := w[i]; {
		case c == r.quote && in && i+1 < len(w) && w[i+1] == r.quote:
			q.data = append(q.data, c)
			i++
		case c == r.quote:
			in, quoted = !in, true
		case c == r.delim && !in:
			q.fields = append(q.fields, quotedField{len(q.data), quoted})
			quoted = false
		default:
			q.data = append(q.data, c)
		}
	}
	q.fields = append(q.fields, quotedField{len(q.data), quoted})
}

// quotedRow adds the row in r.quoted.
func (r *csvReader) quotedRow(s *sink) {
	q := &r.quoted
	if len(q.fields) == 1 && !q.fields[0].quoted && len(q.data) == 0 {
		return // an empty line
	}
	err := r.quotedFields(s)
	if err == nil {
		err = s.fill()
	}
	if err != nil {
		s.reject(r.line-q.lines+1, q.raw, err)
	}
}

func (r *csvReader) quotedFields(s *sink) error {
	q := &r.quoted
	for k, col := range r.cols {
		if k == len(q.fields) {
			return r.missing(s, k)
		}
		if col < 0 {
			continue
		}
		f, v := &s.fields[col], s.rows.Cols[col]
		var err error
		if q.fields[k].quoted {
			err = f.append(v, q.field(k))
		} else {
			err = f.plain(v, q.field(k), r.null)
		}
		if err != nil {
			return err
		}
	}
	if len(q.fields) > len(r.cols) {
		return errExtra()
	}
	return nil
}
