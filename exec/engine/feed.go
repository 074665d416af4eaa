package engine

import (
	"context"
	"encoding/json"
	"strconv"

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

// appendOffsets adds offsets to a buffer, as JSON; nothing where there are none.
func appendOffsets(dst []byte, o []sourceOffset) ([]byte, error) {
	for i := range o {
		dst = append(dst, "[,"[min(i, 1)])
		if o[i].Read != nil {
			text, err := json.Marshal(&o[i])
			if err != nil {
				return dst, err
			}
			dst = append(dst, text...)
			continue
		}
		dst = strconv.AppendUint(append(dst, `{"OID":`...), uint64(o[i].OID), 10)
		dst = strconv.AppendInt(append(dst, `,"Rows":`...), o[i].Rows, 10)
		if o[i].Kept {
			dst = append(dst, `,"Kept":true`...)
		}
		dst = append(dst, '}')
	}
	if len(o) > 0 {
		dst = append(dst, ']')
	}
	return dst, nil
}

// Feed gives a stream the rows of a source in this process as one epoch, and returns when every view shows them. b has all columns of
// the stream and must not change until Feed returns. The log keeps only the number of rows, so the database can
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
// wait has returned, which is called once, b must not change.
func (e *Engine) FeedAhead(ctx context.Context, schema, stream string, b *batch.Batch) (wait func() error, err error) {
	rel := e.current().cat.Relation(schema, stream)
	if rel == nil || rel.Kind != catalog.Stream {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "stream \"%s\" does not exist", stream)
	}
	if err := notFed(rel); err != nil {
		return nil, err
	}
	f := e.newFeeding()
	f.rows, f.part[0] = b.N, part{b: b, lent: true}
	f.change = relChange{rel: rel, parts: f.part[:], replayable: true}
	if err := e.enqueue(ctx, &f.unit); err != nil {
		return nil, err
	}
	return f.wait, nil
}

// feeding is a batch of FeedAhead on its way. It is used again for another.
type feeding struct {
	unit
	e      *Engine
	change relChange
	part   [1]part
	out    chan error
	wait   func() error
}

func (e *Engine) newFeeding() *feeding {
	if f, ok := e.feedings.Get().(*feeding); ok {
		return f
	}
	f := &feeding{e: e, out: make(chan error, 1)}
	f.last, f.wait = true, f.outcome
	f.run, f.done = f.enter, func(err error) { f.out <- err }
	return f
}

// enter puts the batch into an epoch. The stream may have been altered or dropped since the batch was queued.
func (f *feeding) enter(b *epochBuild) error {
	rel := b.cat.ByOID(f.change.rel.OID)
	if rel == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "stream \"%s\" was dropped", f.change.rel.Name)
	}
	if b.changes[rel.OID] != nil {
		return sqlerr.New(sqlerr.ObjectInUse, "stream \"%s\" is written to by others", rel.Name)
	}
	f.change.rel, f.part[0].b = rel, pad(rel, f.part[0].b)
	b.changes[rel.OID] = &f.change
	b.order = append(b.order, rel.OID)
	return nil
}

// outcome waits for what became of the batch.
func (f *feeding) outcome() error {
	err := f.e.outcome(f.out)
	if err == nil { // else the loop may still have it
		f.change, f.part = relChange{}, [1]part{}
		f.e.feedings.Put(f)
	}
	return err
}
