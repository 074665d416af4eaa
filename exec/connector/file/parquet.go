package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// parquetStep is how many rows of all columns are decoded at once.
const parquetStep = 8192

// parquetReader reads the columns of a Parquet file that the stream has, page by page. Positions are rows.
type parquetReader struct {
	f      *os.File
	file   *parquet.File
	fields []field
	cols   []*parquet.Column // by column of the stream, nil for one that the file has not

	groups []parquet.RowGroup // behind the current one
	group  int                // number of the next one
	slow   bool               // tests: the library reads everything
	left   int64              // rows of the current one
	cur    []*pageCursor      // its columns
	at     int64
	limit  int64
	badAt  []badValue
}

// badValue is a value that could not be converted, in a row of the sink.
type badValue struct {
	row int
	err error
}

// openParquet opens a file at a row.
func openParquet(path string, fields []field, at, limit int64) (_ *parquetReader, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = damaged(fmt.Errorf("%v", p))
		}
		if err != nil {
			f.Close()
		}
	}()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	pf, err := parquet.OpenFile(f, st.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(blockBytes))
	if err != nil {
		return nil, damaged(err)
	}
	r := &parquetReader{f: f, file: pf, fields: fields, groups: pf.RowGroups(), limit: limit}
	if err := r.mapColumns(); err != nil {
		return nil, err
	}
	for at > 0 {
		if r.left == 0 {
			if !r.nextGroup() {
				return nil, errShort
			}
			continue
		}
		n := min(at, r.left)
		for _, c := range r.cur {
			if c != nil {
				if err := c.skip(n); err != nil {
					return nil, damaged(err)
				}
			}
		}
		at, r.left, r.at = at-n, r.left-n, r.at+n
	}
	return r, nil
}

// mapColumns finds the stream's columns by name.
func (r *parquetReader) mapColumns() error {
	any := false
	for i := range r.fields {
		c := r.file.Root().Column(r.fields[i].name)
		if c != nil && (!c.Leaf() || c.Repeated()) {
			return sqlerr.New(sqlerr.BadCopyFileFormat, "column \"%s\" of the file is nested, which is not supported", c.Name()).WithCause(errDamaged)
		}
		r.cols = append(r.cols, c)
		any = any || c != nil
	}
	if !any {
		return sqlerr.New(sqlerr.BadCopyFileFormat, "the file has none of the stream's columns").WithCause(errDamaged)
	}
	return nil
}

// misfit implements reader.
func (r *parquetReader) misfit() string {
	var others, lacking []string
	read := map[*parquet.Column]bool{}
	for i, c := range r.cols {
		if read[c] = true; c == nil {
			lacking = append(lacking, r.fields[i].name)
		}
	}
	for _, c := range r.file.Root().Columns() {
		if !read[c] {
			others = append(others, c.Name())
		}
	}
	return difference(lacking, others)
}

// nextGroup goes to the next row group; false: there is none.
func (r *parquetReader) nextGroup() bool {
	r.closeGroup()
	if len(r.groups) == 0 {
		return false
	}
	g := r.groups[0]
	r.groups, r.left = r.groups[1:], g.NumRows()
	chunks, meta := g.ColumnChunks(), r.file.Metadata().RowGroups[r.group].Columns
	r.group++
	r.cur = make([]*pageCursor, len(r.cols))
	for i, c := range r.cols {
		if c != nil {
			var own *columnPages
			if !r.slow {
				own = newColumnPages(r.f, c, &meta[c.Index()])
			}
			r.cur[i] = newPageCursor(c, chunks[c.Index()], own, &r.fields[i])
		}
	}
	return true
}

func (r *parquetReader) closeGroup() {
	for _, c := range r.cur {
		if c != nil {
			c.close()
		}
	}
	r.cur, r.left = nil, 0
}

// read implements reader.
func (r *parquetReader) read(s *sink, max int) (err error) {
	defer func() {
		if p := recover(); p != nil { // of the library, on a file that is not what it says
			s.undo()
			err = damaged(fmt.Errorf("%v", p))
		}
	}()
	for !s.full(max) {
		if r.limit >= 0 && r.at >= r.limit {
			return io.EOF
		}
		if r.left == 0 {
			if !r.nextGroup() {
				return io.EOF
			}
			continue
		}
		n := min(int64(max-s.rows.N-len(s.bad)), r.left, parquetStep)
		if r.limit >= 0 {
			n = min(n, r.limit-r.at)
		}
		if err := r.step(s, int(n)); err != nil {
			s.undo()
			return damaged(err)
		}
		r.left, r.at = r.left-n, r.at+n
	}
	return nil
}

// step decodes n rows, which the row group has.
func (r *parquetReader) step(s *sink, n int) error {
	r.badAt = r.badAt[:0]
	for i, c := range r.cur {
		v := s.rows.Cols[i]
		size := len(v.Data)
		if c == nil {
			for range n {
				r.null(i, v)
			}
		} else if err := c.decode(r, i, v, n); err != nil {
			return err
		}
		s.bytes += 8*n + len(v.Data) - size
	}
	first := s.rows.N
	s.rows.N += n
	if len(r.badAt) > 0 {
		r.dropBad(s, first)
	}
	return nil
}

// null adds NULL to column i, which makes its row a bad one where it may not be.
func (r *parquetReader) null(i int, v *batch.Vector) {
	if r.fields[i].notNull {
		err := r.fields[i].null(v)
		r.badAt = append(r.badAt, badValue{v.N, err})
	}
	v.AppendNull()
}

// value adds a value given as text to column i.
func (r *parquetReader) value(i int, v *batch.Vector, text []byte) {
	if err := r.fields[i].append(v, text); err != nil {
		r.badAt = append(r.badAt, badValue{v.N, err})
		v.AppendNull()
	}
}

// dropBad takes the rows with bad values out of those from first on.
func (r *parquetReader) dropBad(s *sink, first int) {
	slices.SortStableFunc(r.badAt, func(a, b badValue) int { return a.row - b.row })
	sel := make([]int32, 0, s.rows.N)
	k := 0
	for i := 0; i < s.rows.N; i++ {
		if k < len(r.badAt) && r.badAt[k].row == i {
			e := *sqlerr.From(r.badAt[k].err)
			s.bad = append(s.bad, connector.BadRow{Part: s.part, Line: r.at + int64(i-first) + 1, Err: &e})
			for k < len(r.badAt) && r.badAt[k].row == i {
				k++
			}
			continue
		}
		sel = append(sel, int32(i))
	}
	s.rows = s.rows.Select(sel)
}

// pos implements reader.
func (r *parquetReader) pos() (at, line int64) { return r.at, r.at }

// until implements reader.
func (r *parquetReader) until(limit int64, _ bool) { r.limit = limit }

// cut implements reader.
func (r *parquetReader) cut() bool { return false }

func (r *parquetReader) close() {
	r.closeGroup()
	r.f.Close()
}

var errPages = errors.New("a column has fewer values than its row group has rows")
