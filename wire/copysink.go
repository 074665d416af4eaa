package wire

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// copyBatchBytes bounds a batch of long rows.
const copyBatchBytes = 4 << 20

// copyDisplay is how much of a line or value an error shows, in bytes.
const copyDisplay = 100

// copySink collects the rows of a COPY FROM in a batch and gives it on when it is full.
type copySink struct {
	relation string
	cols     []session.Column
	parse    []fieldParser
	batch    *batch.Batch
	size     int // bytes of input in batch
	maxRow   int
	line     int64 // of the input, from 1; of binary data the row's number
	emit     func(*batch.Batch) error
	marks    rowMarks
	failed   bool // emit gave an error
}

func newCopySink(in session.CopyIn, env *types.Env, maxRow int, emit func(*batch.Batch) error) *copySink {
	s := &copySink{relation: in.Relation(), cols: in.Columns(), maxRow: maxRow, emit: emit, marks: newRowMarks(in.Rules())}
	ts := make([]types.Type, len(s.cols))
	s.parse = make([]fieldParser, len(s.cols))
	for i, col := range s.cols {
		ts[i] = col.Type
		s.parse[i] = fieldParserFor(col.Type, env)
	}
	s.batch = batch.New(ts, batch.Target)
	return s
}

// endRow finishes a row of n bytes of input; line is nil where the data has no lines.
func (s *copySink) endRow(line []byte, n int) error {
	if row := s.marks.given + int64(s.batch.N); s.line-row != s.marks.ahead {
		s.marks.row(row, s.line, line)
	}
	s.batch.N++
	s.size += n
	if s.batch.N >= s.marks.most || s.size >= copyBatchBytes {
		return s.flush()
	}
	return nil
}

// flush gives on what was collected.
func (s *copySink) flush() error {
	if s.batch.N == 0 {
		return nil
	}
	if err := s.emit(s.batch); err != nil {
		s.failed = true
		return s.placed(err)
	}
	s.marks.gave(s.batch.N)
	s.batch.Reset()
	s.size = 0
	return nil
}

// settle gives the error to tell when reading ended with err. PostgreSQL tests each row as it reads it: what is wrong with a row before the
// place of err, which is in the batch still, comes first.
func (s *copySink) settle(err error) error {
	if s.failed || s.batch.N == 0 || !s.marks.rules.Rows {
		return err
	}
	s.batch = s.batch.Slice(0, s.batch.N) // without the fields of a row that did not end
	if first := s.flush(); first != nil {
		return first
	}
	return err
}

// placed adds to an error of the rows' taker where in the input the row at fault stood, in PostgreSQL's words.
func (s *copySink) placed(err error) error {
	e := *sqlerr.From(err)
	where := "COPY " + s.relation
	if row := (*session.RowError)(nil); errors.As(err, &row) {
		if line := s.marks.lines.of(row.Row); line > 0 {
			where += fmt.Sprintf(", line %d", line)
		}
		if text, ok := s.marks.texts.of(row.Row - s.marks.given); ok && row.Shown {
			where += fmt.Sprintf(": \"%s\"", display(text))
		}
	}
	if e.Where != "" {
		where = e.Where + "\n" + where
	}
	e.Where = where
	return &e
}

// null appends NULL to column c.
func (s *copySink) null(c int) {
	s.batch.Cols[c].AppendNull()
	if not := s.marks.rules.NotNull; c < len(not) && not[c] {
		s.marks.null() // it is given on at once: its error comes before those of later lines, as in PostgreSQL
	}
}

// text appends a value in text form to column c.
func (s *copySink) text(c int, raw []byte) error {
	if err := s.parse[c](s.batch.Cols[c], raw); err != nil {
		return s.fieldError(err, c, raw)
	}
	return nil
}

// fieldError adds where in the input a value stood, in PostgreSQL's words.
func (s *copySink) fieldError(err error, c int, raw []byte) error {
	e := *sqlerr.From(err)
	e.Position = 0 // it would point into the value
	e.Where = fmt.Sprintf("COPY %s, line %d, column %s: \"%s\"", s.relation, s.line, s.cols[c].Name, display(raw))
	return &e
}

// lineError makes a 22P04 about a line.
func (s *copySink) lineError(line []byte, format string, args ...any) *sqlerr.Error {
	e := sqlerr.New(sqlerr.BadCopyFileFormat, format, args...)
	e.Where = fmt.Sprintf("COPY %s, line %d: \"%s\"", s.relation, s.line, display(line))
	return e
}

// placeError makes a 22P04 that does not show the data.
func (s *copySink) placeError(format string, args ...any) *sqlerr.Error {
	e := sqlerr.New(sqlerr.BadCopyFileFormat, format, args...)
	e.Where = fmt.Sprintf("COPY %s, line %d", s.relation, s.line)
	return e
}

func (s *copySink) missing(line []byte, c int) error {
	return s.lineError(line, "missing data for column \"%s\"", s.cols[c].Name)
}

func (s *copySink) extra(line []byte) error {
	return s.lineError(line, "extra data after last expected column")
}

// tooLong is the error for a row that does not end.
func (s *copySink) tooLong() error {
	e := sqlerr.New(sqlerr.ProgramLimitExceeded, "row of COPY data is longer than %d bytes", s.maxRow)
	e.Where = fmt.Sprintf("COPY %s, line %d", s.relation, s.line+1)
	return e
}

// checkEncoding checks that a line is text.
func (s *copySink) checkEncoding(line []byte) error {
	if plainText(line) {
		return nil
	}
	e := invalidUTF8(line)
	if e == nil {
		return nil
	}
	e.Where = fmt.Sprintf("COPY %s, line %d", s.relation, s.line)
	return e
}

// plainText says that b is UTF-8 without zero bytes.
func plainText(b []byte) bool { return bytes.IndexByte(b, 0) < 0 && utf8.Valid(b) }

// display shortens a value for an error.
func display(b []byte) []byte {
	if len(b) <= copyDisplay {
		return b
	}
	n := copyDisplay
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return append(append(make([]byte, 0, n+3), b[:n]...), "..."...)
}

// pending holds the beginning of a row whose end has not come yet.
type pending struct{ rest []byte }

// join gives the data to look at: p, behind what is pending.
func (d *pending) join(p []byte) []byte {
	if len(d.rest) == 0 {
		return p
	}
	d.rest = append(d.rest, p...)
	return d.rest
}

// keep keeps all of data, which join gave, from n on.
func (d *pending) keep(data []byte, n int) {
	if len(d.rest) == 0 {
		d.rest = append(d.rest, data[n:]...)
	} else if n > 0 { // else all of it stays where it is: a long row may come in very small pieces
		d.rest = d.rest[:copy(d.rest, data[n:])]
	}
}

// fieldParser reads a value in text form and appends it to a vector. The bytes are valid during the call only.
type fieldParser func(v *batch.Vector, raw []byte) error
