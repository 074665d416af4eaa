package nexmark

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// part is the name of the input in offsets. Its positions count events of all kinds.
const part = "events"

// patience is how long a Read waits for the next event that is due, before it says that there is none now.
const patience = 50 * time.Millisecond

// source implements connector.Source and connector.Rereader.
type source struct {
	opts   *options
	fields []*field
	types  []types.Type
	hash   bool

	next    int64     // the event that comes next
	origin  int64     // what next was
	started time.Time // when it was origin

	ids  []int64 // scratch
	room []int   // by column, the bytes of the last chunk's values
}

func open(c connector.Config) (*source, error) {
	o, err := parseOptions(c.Options)
	if err != nil {
		return nil, err
	}
	s := &source{opts: o, hash: c.Fingerprint, started: time.Now(), room: make([]int, len(c.Columns))}
	if s.fields, err = fieldsOf(o.kind, c.Columns); err != nil {
		return nil, err
	}
	for i := range c.Columns {
		s.types = append(s.types, c.Columns[i].Type)
	}
	if c.Offset != nil {
		at, _ := c.Offset.Part(part)
		s.next = at.At
	}
	s.origin = s.next
	return s, nil
}

// Read implements connector.Source.
func (s *source) Read(ctx context.Context, max int) (*connector.Chunk, error) {
	if s.opts.events >= 0 && s.next >= s.opts.events {
		return nil, io.EOF
	}
	end, err := s.due(ctx)
	if err != nil || end <= s.next {
		return nil, err
	}
	max = min(max, int(s.opts.chunk))
	// The three kinds go through the same events in chunks of the same length, so that streams of them keep pace.
	o := s.opts
	end = min(end, s.next+int64(max)*o.round()/slices.Max([]int64{o.people, o.auctions, o.bids})+1)
	from, last := s.next, s.number(s.next, end, max)
	s.next = last
	c := &connector.Chunk{Rows: s.rows(len(s.types)), Extent: connector.Extent{Rows: int64(len(s.ids)), Columns: len(s.types),
		Spans: []connector.Span{{Part: part, From: from, To: last, Done: last == s.opts.events}}}}
	if s.hash {
		c.Extent.Hash = connector.Fingerprint(c.Rows)
	}
	return c, nil
}

// due gives the event behind the last that may come now. It waits a little if there is none.
func (s *source) due(ctx context.Context) (int64, error) {
	end := s.opts.events
	if end < 0 {
		end = 1 << 62
	}
	if s.opts.gapNs == 0 {
		return end, ctx.Err()
	}
	for waited := false; ; waited = true {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		now := min(end, s.origin+int64(time.Since(s.started))/s.opts.gapNs)
		if now > s.next || waited {
			return now, nil
		}
		t := time.NewTimer(min(patience, time.Duration((s.next+1-s.origin)*s.opts.gapNs)-time.Since(s.started)))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
		}
	}
}

// number collects the ids of the stream's kind from event from on, until there are most or the event is end, and gives the event behind the last.
func (s *source) number(from, end int64, most int) int64 {
	s.ids = s.ids[:0]
	for ; from < end && len(s.ids) < most; from++ {
		if id := s.opts.id(from); s.opts.kindOf(id) == s.opts.kind {
			s.ids = append(s.ids, id)
		}
	}
	return from
}

// rows makes the first n columns of the events in ids.
func (s *source) rows(n int) *batch.Batch {
	b := batch.New(s.types[:n], len(s.ids))
	for i, v := range b.Cols {
		if v.Off != nil {
			v.Data = make([]byte, 0, s.room[i]+s.room[i]/16)
		}
		s.fields[i].fill(&s.opts.model, v, s.ids)
		s.room[i] = len(v.Data)
	}
	b.N = len(s.ids)
	return b
}

// Reread implements connector.Rereader.
func (s *source) Reread(ctx context.Context, e *connector.Extent) (*batch.Batch, error) {
	if e.Columns > len(s.types) {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "rows of %d columns were recorded for a stream of %d", e.Columns, len(s.types))
	}
	out := batch.New(s.types[:e.Columns], 0)
	for i := range e.Spans {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.number(e.Spans[i].From, e.Spans[i].To, int(e.Rows)+1)
		if b := s.rows(e.Columns); len(e.Spans) == 1 {
			out = b
		} else {
			out.AppendBatch(b, nil)
		}
	}
	if int64(out.N) != e.Rows || e.Hash != 0 && connector.Fingerprint(out) != e.Hash {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "events %d to %d are not those that were recorded", e.Spans[0].From, e.Spans[len(e.Spans)-1].To).
			WithHint("Another version of the program made other events.")
	}
	return out, nil
}

// Close implements connector.Source and connector.Rereader.
func (s *source) Close() error { return nil }
