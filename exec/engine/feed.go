package engine

import (
	"context"
	"encoding/json"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// sourceOffset is how far the source of a stream was read: of rows given to Feed their number since the stream's beginning, of a connector
// the extent that the epoch took in. Kept: the epoch holds the rows too.
type sourceOffset struct {
	OID  catalog.OID
	Rows int64
	Read *connector.Extent `json:",omitempty"`
	Kept bool              `json:",omitempty"`
}

func encodeOffsets(o []sourceOffset) ([]byte, error) {
	if len(o) == 0 {
		return nil, nil
	}
	return json.Marshal(o)
}

// Feed gives a stream the rows of a source in this process as one epoch, and returns when every view shows them. b has all columns of
// the stream and must not change until the next call returns. The log keeps only the number of rows, so the database can
// be opened again only from a checkpoint that has them all: the source must be able to give them again (a bench, a replayable file).
// It may be called from any goroutine.
func (e *Engine) Feed(ctx context.Context, schema, stream string, b *batch.Batch) error {
	wait, err := e.FeedAhead(ctx, schema, stream, b)
	if err != nil {
		return err
	}
	return wait()
}

// FeedAhead is Feed for a source that reads ahead: it returns when the rows are queued, and wait when every view shows them or they were
// not taken, of which it gives the error. Who goes on after an error of one batch must know what became of those that were queued behind it. Until
// wait has returned b must not change.
func (e *Engine) FeedAhead(ctx context.Context, schema, stream string, b *batch.Batch) (wait func() error, err error) {
	rel := e.current().cat.Relation(schema, stream)
	if rel == nil || rel.Kind != catalog.Stream {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "stream \"%s\" does not exist", stream)
	}
	if err := notFed(rel); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	u := &unit{rows: b.N, last: true, done: func(err error) { done <- err }}
	u.run = func(eb *epochBuild) error {
		if eb.changes[rel.OID] != nil {
			return sqlerr.New(sqlerr.ObjectInUse, "stream \"%s\" is written to by others", stream)
		}
		eb.changes[rel.OID] = &relChange{rel: rel, parts: []part{{b: b}}, replayable: true}
		eb.order = append(eb.order, rel.OID)
		return nil
	}
	if err := e.enqueue(ctx, u); err != nil {
		return nil, err
	}
	return func() error { return e.outcome(done) }, nil
}
