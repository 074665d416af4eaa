package file

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// chunkFiles bounds the files of one chunk, and chunkBytes about the text.
const (
	chunkFiles = 4096
	chunkBytes = 32 << 20
)

// quiet is how long a file must not have changed until a last line without line end counts as complete.
const quiet = 2 * time.Second

// reader decodes one file.
type reader interface {
	// read adds rows until there are max in the chunk, bad ones counted; io.EOF: the file has ended.
	read(s *sink, max int) error
	// pos is where the next row begins, and how many lines are before it.
	pos() (at, line int64)
	// until says where the file ends, behind the end that was given before, and whether a last line without line end is a row.
	until(limit int64, last bool)
	// cut says whether the last row had no line end.
	cut() bool
	// misfit says in what the file and the columns of the stream differ, as far as it was read, "" if in nothing or where the file does not say what it has.
	misfit() string
	close()
}

// openAt opens a file at a position that was recorded. limit is where it is said to end, -1 for where it does; last says that a last
// line without line end is a row.
func (o *options) openAt(f *found, fields []field, from connector.Position, limit int64, last bool) (reader, error) {
	if o.format == "parquet" {
		r, err := openParquet(f.path, fields, from.At, limit)
		if err != nil {
			return nil, err
		}
		return r, nil
	}
	l, err := openLines(f.path, o.compressionOf(f.name), limit)
	if err != nil {
		return nil, err
	}
	var r reader
	if o.format == "csv" {
		r, err = newCSV(l, o, fields, last)
	} else {
		r = newJSON(l, fields, last)
	}
	if err == nil && from.At > l.at {
		err = l.seek(from.At, from.Line)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return r, nil
}

// seen is what a file was like when it ended in a line without line end.
type seen struct{ size, time int64 }

// source implements connector.Source.
type source struct {
	opts   *options
	cfg    connector.Config
	fields []field
	off    *connector.Offset

	queue  []found // files that are due, the first is being read if cur is set
	lag    int64   // bytes of those behind the first
	newest int64   // time of modification of the files that were found
	cur    reader
	tails  map[string]seen
	room   []int // by column, the bytes of the last chunk's values
	notes
}

// Read implements connector.Source.
func (s *source) Read(ctx context.Context, max int) (*connector.Chunk, error) {
	out := &sink{fields: s.fields}
	var spans []connector.Span
	for n := 0; out.rows == nil || n < chunkFiles && !out.full(max); n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(s.queue) == 0 {
			if len(spans) > 0 {
				break // what there is goes out first
			}
			if err := s.poll(); err != nil {
				return nil, err
			}
			if len(s.queue) == 0 {
				if s.opts.bounded {
					return nil, io.EOF
				}
				return nil, nil
			}
		}
		if out.rows == nil {
			out.rows = s.newRows(max)
		}
		rows, bad := out.rows.N, len(out.bad)
		span, err := s.readFile(out, max)
		if err != nil {
			_ = s.Close()
			if len(spans) == 0 {
				return nil, err
			}
			// What came before it goes out; the next Read will meet it again.
			out.rows.N, out.bad = rows, out.bad[:bad]
			out.undo()
			break
		}
		if span != nil {
			s.off.AddSpan(span)
			spans = append(spans, *span)
		}
	}
	if len(spans) == 0 {
		return nil, nil
	}
	return s.chunk(out, spans), nil
}

func (s *source) chunk(out *sink, spans []connector.Span) *connector.Chunk {
	c := &connector.Chunk{Rows: out.rows, Bad: out.bad, Lag: s.lag, Extent: connector.Extent{Spans: spans, Rows: int64(out.rows.N),
		Errors: int64(len(out.bad)), Columns: len(s.fields)}}
	if len(s.queue) > 0 {
		if at, _ := s.off.Part(s.queue[0].name); s.opts.growable(s.queue[0].name) {
			c.Lag += s.queue[0].size - at.At
		} else {
			c.Lag += s.queue[0].size
		}
	}
	c.Extent.Floor = s.floor()
	s.off.Floor = max(s.off.Floor, c.Extent.Floor)
	if s.cfg.Fingerprint {
		c.Extent.Hash = connector.Fingerprint(out.rows)
	}
	for i, v := range out.rows.Cols {
		s.room[i] = len(v.Data)
	}
	return c
}

// floor gives the time before which files are passed over that are found from now on. Those that were found before are read, however old.
func (s *source) floor() int64 {
	if s.opts.maxAge == 0 || len(s.queue) > 0 {
		return 0
	}
	return s.newest - s.opts.maxAge
}

// newRows makes a batch with about as much room as the one before it took.
func (s *source) newRows(max int) *batch.Batch {
	ts := (&sink{fields: s.fields}).types()
	b := batch.New(ts, min(max, 1<<16, 1<<20/len(ts)))
	if s.room == nil {
		s.room = make([]int, len(ts))
	}
	for i, n := range s.room {
		if n > 0 {
			b.Cols[i].Data = make([]byte, 0, n+n/16)
		}
	}
	return b
}

// poll finds the files that are due.
func (s *source) poll() error {
	files, err := s.opts.list()
	if errors.Is(err, fs.ErrNotExist) && !s.opts.bounded {
		s.absent = s.opts.missing(err)
		return nil // it may come
	}
	if err != nil {
		return unreadable(err)
	}
	if s.absent = ""; len(files) == 0 && s.off.Last == "" {
		s.absent = s.opts.noFile()
	}
	s.lag = 0
	for i := range files {
		f := &files[i]
		p, known := s.off.Part(f.name)
		if !known && f.time < s.off.Floor {
			continue
		}
		s.newest = max(s.newest, f.time)
		due, err := s.opts.due(f, p, known)
		if err != nil {
			return err
		}
		if t, ok := s.tails[f.name]; !due || ok && t == (seen{f.size, f.time}) && !s.last(f) {
			continue
		}
		s.queue = append(s.queue, *f)
		s.lag += f.size
	}
	if len(s.queue) > 0 {
		s.lag -= s.queue[0].size
	}
	return nil
}

// last says whether a last line without line end is complete.
func (s *source) last(f *found) bool {
	return s.opts.bounded || !s.opts.growable(f.name) || time.Since(time.UnixMicro(f.time)) > quiet
}

// readFile reads the first file of the queue until the chunk is full or the file has ended. It gives nil where there was nothing.
func (s *source) readFile(out *sink, max int) (*connector.Span, error) {
	f := &s.queue[0]
	out.part = f.name
	p, _ := s.off.Part(f.name)
	from := p.At
	span := &connector.Span{Part: f.name, From: from, To: from, Line: p.Line, ToLine: p.Line, Size: f.size, ModTime: f.time}
	var err error
	if s.cur == nil {
		limit := int64(-1)
		if s.opts.growable(f.name) {
			limit = f.size // what comes later is a later file, so to say
		}
		s.cur, err = s.opts.openAt(f, s.fields, p, limit, s.last(f))
	}
	if err == nil {
		if err = s.cur.read(out, max); err == nil || err == io.EOF || errors.Is(err, errDamaged) {
			span.To, span.ToLine = s.cur.pos()
		}
		s.fits(f.name, s.cur.misfit()) // of JSON, rows have told
	}
	switch {
	case err == nil: // the chunk is full
		span.Cut = s.cur.cut()
		return span, nil
	case err == io.EOF:
		span.Cut = s.cur.cut()
		span.Done = !s.opts.growable(f.name) || span.To >= f.size
		if !span.Done {
			s.tails[f.name] = seen{f.size, f.time}
		}
	case errors.Is(err, errDamaged):
		// No other attempt would help: the rest of the file is one bad row.
		out.reject(0, nil, err)
		span.Done = true
		if s.opts.growable(f.name) {
			span.To = f.size
		}
	case errors.Is(err, errShort):
		return nil, changed(f.name)
	case errors.Is(err, fs.ErrNotExist) && from > 0:
		out.reject(0, nil, sqlerr.New(sqlerr.BadCopyFileFormat, "the file is gone before it was read to its end"))
		span.Done = true
	case errors.Is(err, fs.ErrNotExist):
		s.next() // it was there a moment ago
		return nil, nil
	default:
		return nil, unreadable(err)
	}
	s.next()
	if span.To == span.From && !span.Done {
		return nil, nil
	}
	return span, nil
}

// next ends the first file of the queue.
func (s *source) next() {
	if s.cur != nil {
		s.cur.close()
		s.cur = nil
	}
	s.queue = s.queue[1:]
	if len(s.queue) > 0 {
		s.lag -= s.queue[0].size
	}
}

// Close implements connector.Source.
func (s *source) Close() error {
	if s.cur != nil {
		s.cur.close()
		s.cur = nil
	}
	return nil
}

// path gives where a part lies.
func (o *options) path(part string, rootIsFile bool) string {
	if rootIsFile {
		return o.root
	}
	return filepath.Join(o.root, filepath.FromSlash(part))
}
