package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Late rows and dead letters as inputs of views: tidemark.late_rows and tidemark.dead_letters are sources whose changes are those of
// all views' hidden relations, and of what streams held back. A view that reads them runs after all that do not, so it is given, in the
// same epoch, the letters of every view that is not itself built on letters, and of those that are and are older.

// lateRowsOID and deadLettersOID are the two system relations that views may read: their places in tidemarkRelations.
const (
	lateRowsOID    = firstSystemOID + 2
	deadLettersOID = firstSystemOID + 3
)

var (
	lateRowColumns    = append([]catalog.Column{col("view_name", types.Text)}, lateColumns...)
	lateRowFrom       = []int{0, 1, 2, 3, 4, 5, 6, 7}
	deadLetterColumns = []catalog.Column{col("relation", types.Text), deadColumns[3], deadColumns[0], deadColumns[1], deadColumns[2]}
	deadLetterFrom    = []int{3, 0, 1, 2}
)

// letterShape says how a letter relation is made from the hidden ones: its columns, and from which of theirs.
func letterShape(oid catalog.OID) (cols []catalog.Column, from []int) {
	if oid == lateRowsOID {
		return lateRowColumns, lateRowFrom
	}
	return deadLetterColumns, deadLetterFrom
}

func isLetters(oid catalog.OID) bool { return oid == lateRowsOID || oid == deadLettersOID }

// appendLetters adds rows of a hidden relation of the one called name.
func appendLetters(out *batch.Batch, name string, from []int, b *batch.Batch) {
	for i := 0; i < b.N; i++ {
		out.Cols[0].AppendString(name)
		for k, f := range from {
			out.Cols[k+1].AppendFrom(b.Cols[f], i)
		}
		out.EndRow(b.Weight(i))
	}
}

// news are the letters by which an epoch changes the hidden relations of one view, for the views that read them.
type news struct{ late, dead []*batch.Batch }

func (n *news) of(oid catalog.OID) []*batch.Batch {
	if oid == lateRowsOID {
		return n.late
	}
	return n.dead
}

// letterChanges gives the changes of a letter relation in the running epoch, as reader sees them.
func (e *Engine) letterChanges(oid catalog.OID, reader *view) []part {
	cols, from := letterShape(oid)
	var out *batch.Batch
	give := func(name string, bs []*batch.Batch) {
		for _, b := range bs {
			if out == nil {
				out = batch.New(columnTypes(cols), b.N)
			}
			appendLetters(out, name, from, b)
		}
	}
	if oid == deadLettersOID {
		for _, s := range e.streamOrder() {
			if s.heldNow != nil {
				give(s.rel.Name, []*batch.Batch{s.heldNow})
			}
		}
	}
	for _, v := range e.views {
		if v == reader {
			break
		}
		give(v.rel().Name, v.news.of(oid))
	}
	if out == nil {
		return nil
	}
	return []part{{b: out}}
}

// letterSnapshot is a letter relation at one epoch: hidden relations by the name of whose they are.
type letterSnapshot struct {
	oid   catalog.OID
	names []string
	parts []contentSnapshot
}

func (s *letterSnapshot) scan(ctx context.Context, f func(*batch.Batch) error) error {
	cols, from := letterShape(s.oid)
	for i, p := range s.parts {
		err := p.scan(ctx, func(b *batch.Batch) error {
			out := batch.New(columnTypes(cols), b.N)
			appendLetters(out, s.names[i], from, b)
			return f(out)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *letterSnapshot) lookup([]types.Datum, func(*batch.Batch) error) (bool, error) {
	return false, nil
}

func (s *letterSnapshot) count() int64 {
	n := int64(0)
	for _, p := range s.parts {
		n += max(0, p.count())
	}
	return n
}

func (s *letterSnapshot) add(name string, p contentSnapshot) {
	s.names, s.parts = append(s.names, name), append(s.parts, p)
}

// letterHistory gives the letters there are before the epoch after upTo, for the new view reader. Those that wait to be given as news are left out.
func (e *Engine) letterHistory(oid catalog.OID, reader *view, upTo uint64) contentSnapshot {
	s := &letterSnapshot{oid: oid}
	if oid == deadLettersOID {
		for _, st := range e.streamOrder() {
			if st.held != nil {
				s.add(st.rel.Name, st.held.publish(upTo))
			}
		}
	}
	for _, v := range e.views {
		if st, _ := v.getStatus(); v == reader || st != viewRunning || len(v.news.of(oid)) > 0 {
			continue
		}
		if oid == lateRowsOID {
			s.add(v.rel().Name, v.late.publish(upTo))
		} else {
			s.add(v.rel().Name, v.dead.publish(upTo))
		}
	}
	return s
}

// publishedLetters gives a letter relation as a reader of p sees it.
func (p *published) publishedLetters(oid catalog.OID) *letterSnapshot {
	s := &letterSnapshot{oid: oid}
	for _, r := range p.cat.Relations() {
		if held := p.contents(r.OID | deadOID); held != nil && oid == deadLettersOID && r.Kind == catalog.Stream {
			s.add(r.Name, held)
		}
		v, ok := p.contents(r.OID).(*viewSnapshot)
		switch {
		case !ok:
		case oid == lateRowsOID:
			s.add(r.Name, v.late)
		default:
			s.add(r.Name, v.dead)
		}
	}
	return s
}

// readsLetters says whether a view is built on letters, directly or through others.
func (e *Engine) readsLetters(v *view) bool {
	return slices.ContainsFunc(v.graph.Sources(), func(s *dataflow.Source) bool {
		if isLetters(s.Rel.OID) {
			return true
		}
		in := e.viewByOID[s.Rel.OID]
		return in != nil && e.readsLetters(in)
	})
}

// orderViews puts the views that are built on letters behind all others, and notes whether there are any. Dependency order stays.
func (e *Engine) orderViews() {
	var first, last []*view
	for _, v := range e.views {
		if e.readsLetters(v) {
			last = append(last, v)
		} else {
			first = append(first, v)
		}
	}
	e.views, e.lettersRead = append(first, last...), len(last) > 0
}

// keepNews keeps what the view's epoch added to its letters for those who read them.
func (v *view) keepNews(e *Engine) {
	if e.lettersRead {
		v.news.late = append(v.news.late, v.sink.flushedLate...)
		v.news.dead = append(v.news.dead, v.sink.flushedDead...)
	}
	v.sink.flushedLate, v.sink.flushedDead = nil, nil
}

// allNews makes news of all letters of a view that was filled: those who read letters have not seen them.
func (e *Engine) allNews(v *view, epoch uint64) error {
	if !e.lettersRead {
		return nil
	}
	v.news = news{}
	for _, c := range []struct {
		from contentSnapshot
		to   *[]*batch.Batch
	}{{v.late.publish(epoch), &v.news.late}, {v.dead.publish(epoch), &v.news.dead}} {
		err := c.from.scan(context.Background(), func(b *batch.Batch) error {
			*c.to = append(*c.to, b.Select(allRows(b.N)))
			return nil
		})
		if err != nil {
			return err
		}
	}
	e.newsWaits = e.newsWaits || len(v.news.late)+len(v.news.dead) > 0
	return nil
}

// forgetNews ends the epoch: its letters have been read.
func (e *Engine) forgetNews() {
	if e.lettersRead || e.newsWaits || e.newsKept {
		for _, v := range e.views {
			if st, _ := v.getStatus(); st != viewBackfill {
				v.news = news{}
			}
		}
	}
	e.newsKept = e.lettersRead // those of a view that is being filled stay
	for _, s := range e.streams {
		s.heldNow = nil
	}
	e.newsWaits = false
}

func lateRows(c *systemContext) (*batch.Batch, error) { return c.letters(lateRowsOID) }

func deadLetterRows(c *systemContext) (*batch.Batch, error) { return c.letters(deadLettersOID) }

// letters gathers a letter relation.
func (c *systemContext) letters(oid catalog.OID) (*batch.Batch, error) {
	cols, _ := letterShape(oid)
	out := batch.New(columnTypes(cols), 0)
	err := c.snap.publishedLetters(oid).scan(context.Background(), func(b *batch.Batch) error {
		out.AppendBatch(b, nil)
		return nil
	})
	return out, err
}
