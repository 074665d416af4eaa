package engine

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/state"
)

// With retention = '0' the log has the extents of a source's input and no rows. Whoever needs the rows, be it recovery, a view that
// catches up or a SELECT from the stream, reads the extents again. Input that has changed is an error then: of recovery it stops the stream
// and its views, and nothing else.

// decodeOffsets reads what appendOffsets wrote.
func decodeOffsets(meta []byte) ([]sourceOffset, error) {
	if len(meta) == 0 {
		return nil, nil
	}
	var out []sourceOffset
	if err := json.Unmarshal(meta, &out); err != nil {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "the offsets of an epoch are malformed").WithCause(err)
	}
	return out, nil
}

// rereads reads recorded extents again, for one reader. Its sources are opened when they are needed first.
type rereads struct {
	e    *Engine
	open map[catalog.OID]*openReread
}

type openReread struct {
	rel *catalog.Relation
	r   connector.Rereader
}

func (e *Engine) newRereads() *rereads {
	return &rereads{e: e, open: map[catalog.OID]*openReread{}}
}

func (r *rereads) close() {
	for _, o := range r.open {
		_ = o.r.Close()
	}
}

// rows gives the rows of an extent, with all columns of the stream.
func (r *rereads) rows(ctx context.Context, rel *catalog.Relation, x *connector.Extent) (*batch.Batch, error) {
	o := r.open[rel.OID]
	if o == nil || o.rel != rel {
		if o != nil {
			_ = o.r.Close()
			delete(r.open, rel.OID)
		}
		conn := r.e.opts.Connectors[rel.Options[connectorOption]]
		if conn == nil {
			return nil, r.e.noConnector(rel.Options[connectorOption])
		}
		rr, err := conn.Reread(connector.Config{Options: connectorOptions(rel), Columns: rel.Columns, Fingerprint: true})
		if err != nil {
			return nil, err
		}
		o = &openReread{rel, rr}
		r.open[rel.OID] = o
	}
	b, err := o.r.Reread(ctx, x)
	if err != nil {
		return nil, err
	}
	return pad(rel, b), nil
}

// fill adds to a stored epoch the rows that it does not hold, of the relations in rels.
func (r *rereads) fill(rec *state.EpochRecord, rels map[catalog.OID]*catalog.Relation) error {
	offs, err := decodeOffsets(rec.Meta)
	if err != nil {
		return err
	}
	for i := range offs {
		rel := rels[offs[i].OID]
		if rel == nil || offs[i].Kept || offs[i].Read == nil || offs[i].Read.Rows == 0 {
			continue
		}
		b, err := r.rows(context.Background(), rel, offs[i].Read)
		if err != nil {
			return err
		}
		rec.Changes = append(rec.Changes, state.RelChange{OID: rel.OID, Batch: b})
	}
	return nil
}

// scanAgain gives the rows of a stream whose log keeps none, up to an epoch.
func (s *streamSnapshot) scanAgain(ctx context.Context, f func(*batch.Batch) error) error {
	r := s.e.newRereads()
	defer r.close()
	return s.e.store.ReadEpochsOf(s.rel.CreatedEpoch, s.epoch, func(catalog.OID) bool { return false }, func(rec *state.EpochRecord) error {
		if err := r.fill(rec, map[catalog.OID]*catalog.Relation{s.rel.OID: s.rel}); err != nil {
			return err
		}
		for i := range rec.Changes {
			if err := f(rec.Changes[i].Batch); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// replaySources takes a stored epoch's offsets in again, and the rows that the epoch does not hold.
func (e *Engine) replaySources(b *epochBuild, rec *state.EpochRecord) error {
	offs, err := decodeOffsets(rec.Meta)
	if err != nil {
		return err
	}
	for i := range offs {
		o := &offs[i]
		if o.Read == nil {
			return sqlerr.New(sqlerr.DataCorrupted, "epoch %d holds rows of a source that only a program which embeds the engine can give again", rec.Epoch)
		}
		rel, st := b.cat.ByOID(o.OID), e.streams[o.OID]
		if rel == nil || st == nil || st.src == nil {
			continue // dropped in the same epoch
		}
		st.src.offset.Add(o.Read)
		if o.Kept || o.Read.Rows == 0 || st.src.state == sourceFailed {
			continue
		}
		if e.again == nil {
			e.again = e.newRereads()
		}
		rows, err := e.again.rows(context.Background(), rel, o.Read)
		if err != nil {
			e.lose(b, st, err)
			continue
		}
		b.keep(stagedChange{rel, part{b: rows}})
	}
	return nil
}

// lose stops a stream whose rows can't be had again, and the views that are built on it.
func (e *Engine) lose(b *epochBuild, st *stream, cause error) {
	if !errors.Is(cause, context.Canceled) {
		e.log.Error().Err(cause).Str("source", st.rel.Name).Uint64("epoch", b.n).Msg("rows of a source can't be read again")
	}
	se := sqlerr.From(cause)
	err := sqlerr.New(se.Code, "the rows of stream \"%s\" can't be read again: %s", st.rel.Name, se.Message).WithHint("%s", se.Hint).WithCause(cause)
	st.src.state, st.src.err = sourceFailed, err
	all, _ := closure(b.cat, []catalog.OID{st.rel.OID})
	for _, oid := range all {
		if v := e.viewByOID[oid]; v != nil {
			v.setStatus(viewFailed, err)
		}
	}
}
