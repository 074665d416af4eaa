package file

import (
	"context"
	"errors"
	"io"
	"math"
	"os"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// rereader implements connector.Rereader. A file stays open from one extent to the next.
type rereader struct {
	opts   *options
	cfg    connector.Config
	fields []field

	part    string
	columns int
	cur     reader
}

// Reread implements connector.Rereader.
func (r *rereader) Reread(ctx context.Context, e *connector.Extent) (*batch.Batch, error) {
	if e.Columns > len(r.fields) {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "rows of %d columns were recorded for a stream of %d", e.Columns, len(r.fields))
	}
	ts := make([]types.Type, e.Columns)
	for i := range ts {
		ts[i] = r.fields[i].typ
	}
	out := &sink{fields: r.fields[:e.Columns], rows: batch.New(ts, int(e.Rows))}
	for i := range e.Spans {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.span(out, &e.Spans[i]); err != nil {
			return nil, err
		}
	}
	if int64(out.rows.N) != e.Rows || e.Hash != 0 && connector.Fingerprint(out.rows) != e.Hash {
		return nil, r.changed(e.Spans, "its rows are not those that were read")
	}
	return out.rows, nil
}

// span reads one span.
func (r *rereader) span(out *sink, s *connector.Span) error {
	if s.To == s.From {
		return nil
	}
	out.part = s.Part
	at := int64(-1)
	if r.cur != nil {
		at, _ = r.cur.pos()
	}
	if r.cur != nil && r.part == s.Part && at == s.From && r.columns == len(out.fields) {
		r.cur.until(s.To, s.Cut)
	} else {
		r.closeFile()
		st, err := os.Stat(r.opts.root)
		if err != nil {
			return r.changed([]connector.Span{*s}, err.Error())
		}
		f := &found{name: s.Part, path: r.opts.path(s.Part, !st.IsDir())}
		r.cur, err = r.opts.openAt(f, out.fields, connector.Position{At: s.From, Line: s.Line}, s.To, s.Cut)
		if errors.Is(err, errDamaged) && s.Done {
			return nil // as it was when it gave a bad row
		}
		if err != nil {
			return r.changed([]connector.Span{*s}, err.Error())
		}
		r.part, r.columns = s.Part, len(out.fields)
	}
	for {
		out.bytes = 0
		if err := r.cur.read(out, math.MaxInt); err == io.EOF {
			break
		} else if err != nil {
			return r.changed([]connector.Span{*s}, err.Error())
		}
	}
	if to, _ := r.cur.pos(); to != s.To {
		return r.changed([]connector.Span{*s}, "it does not have the rows that were read")
	}
	return nil
}

// changed says that the input is not what it was.
func (r *rereader) changed(spans []connector.Span, why string) error {
	r.closeFile()
	name := ""
	if len(spans) > 0 {
		name = spans[0].Part
	}
	if len(spans) > 1 {
		name += "\" to \"" + spans[len(spans)-1].Part
	}
	return sqlerr.New(sqlerr.DataCorrupted, "file \"%s\" was changed after it had been read: %s", name, why).
		WithHint("The stream keeps no rows of its own (retention = '0'), so its files must stay as they are.")
}

func (r *rereader) closeFile() {
	if r.cur != nil {
		r.cur.close()
		r.cur = nil
	}
}

// Close implements connector.Rereader.
func (r *rereader) Close() error {
	r.closeFile()
	return nil
}
