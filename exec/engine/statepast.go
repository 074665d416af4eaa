package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state"
	"github.com/tidemarkdb/tidemark/state/table"
)

// The state that a view had after an epoch of the past, and what epochs changed of it, is had by catching a copy of the view up to that epoch, in
// memory and on the reader's goroutine, from the history of its streams. So it is there for views over streams only: changes of tables are
// kept until they are in a checkpoint, and other views show their newest rows.

// feedColumns come before those of the state in a change feed.
var feedColumns = []stateColumn{{name: "batch_id", typ: types.Of(types.Int8)}, {name: "change_type", typ: types.Of(types.Text)}}

// nowhere are contents that nobody reads.
type nowhere struct{ rows int64 }

func (n *nowhere) add(b *batch.Batch) error                           { n.rows += int64(b.N); return nil }
func (*nowhere) lookup([]types.Datum, func(*batch.Batch) error) error { return nil }
func (*nowhere) publish(uint64) contentSnapshot                       { return &stateSnapshot{&batch.Batch{}} }
func (*nowhere) freeze() *state.Section                               { return nil }
func (*nowhere) drop()                                                {}
func (*nowhere) memBytes() int64                                      { return 0 }
func (*nowhere) shrink() bool                                         { return false }

// past is a copy of a view that follows its history.
type past struct {
	e    *Engine
	cat  *catalog.Catalog
	view *view
	// switches are the versions of its processors that came later than the view, by epoch; now are those of the present.
	switches map[uint64][]*catalog.Processor
	now      []*catalog.Processor
}

// readPast gives the rows of a state table of the past. It runs on a session's goroutine.
func (e *Engine) readPast(ctx context.Context, rel *catalog.Relation, s *stateSpec) (out *batch.Batch, err error) {
	defer recoverOperator(&err)
	var live *view
	var cat *catalog.Catalog
	derr := e.do(func() {
		if live, err = e.viewOf(s); err != nil {
			return
		}
		cat = e.current().cat
		if s.Batch != nil && *s.Batch == live.pos {
			out, err = e.readState(rel) // it is the present
		}
	})
	if derr != nil {
		return nil, derr
	}
	if err != nil || out != nil {
		return out, err
	}
	upTo := s.To
	if s.Batch != nil {
		upTo = *s.Batch
	}
	p, err := e.pastOf(live.rel(), cat, upTo)
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.view.closeOperators() }()
	out = batch.New(rel.Types(), 0)
	feed := &changeFeed{spec: s, out: out, types: rel.Types()[len(feedColumns):]}
	err = p.replay(ctx, upTo, func(epoch uint64) error {
		if !s.Feed || epoch+1 < s.From || p.view.pos != epoch && epoch+1 != s.From {
			return nil
		}
		return feed.note(epoch, p.view)
	})
	if err != nil || s.Feed {
		return out, err
	}
	if err := p.exchange(p.now); err != nil {
		return nil, err
	}
	w := &stateWriter{out: out, spec: s, rows: s.Rows}
	return out, w.read(p.view)
}

// pastOf makes a copy of a view as it was when it was made.
func (e *Engine) pastOf(rel *catalog.Relation, cat *catalog.Catalog, upTo uint64) (*past, error) {
	p := &past{e: e, cat: cat, switches: map[uint64][]*catalog.Processor{}}
	for _, oid := range rel.Processors {
		if c := cat.ProcessorByOID(oid); c != nil {
			p.now = append(p.now, c)
		}
	}
	first := map[catalog.OID]*catalog.Processor{}
	if len(p.now) > 0 {
		err := e.store.ReadEpochsOf(1, upTo, func(catalog.OID) bool { return false }, func(rec *state.EpochRecord) error {
			evs, err := decodeEvents(rec.Events)
			for _, ev := range evs {
				if ev.Kind != "processor" || !slices.Contains(rel.Processors, ev.Proc.OID) {
					continue
				}
				if rec.Epoch <= rel.CreatedEpoch {
					first[ev.Proc.OID] = ev.Proc
				} else {
					p.switches[rec.Epoch] = append(p.switches[rec.Epoch], ev.Proc)
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for _, c := range first {
		cat = cat.WithProcessor(c)
	}
	q, err := e.planView(rel, cat)
	if err != nil {
		return nil, err
	}
	partitions, _ := e.partitionsOf(rel)
	v, err := newView(rel, q, table.NewTransient(), viewEnv(rel), partitions, nil)
	if err != nil {
		return nil, err
	}
	v.declareOwn()
	v.out, v.late, v.dead = &nowhere{}, &nowhere{}, &nowhere{}
	p.view = v
	return p, p.fromStreams()
}

// fromStreams refuses a view whose inputs have no history.
func (p *past) fromStreams() error {
	for _, s := range p.view.graph.Sources() {
		if s.Rel.Kind == catalog.Stream && !isLetters(s.Rel.OID) {
			continue
		}
		return sqlerr.New(codeNoBatch, "[STDS_OFFSET_LOG_UNAVAILABLE] The offset log of the batch is not available: view \"%s\" reads \"%s\", whose earlier contents are not kept",
			p.view.rel().Name, s.Rel.Name).WithHint("State of the past can be read of views over streams only.")
	}
	return nil
}

// replay catches the copy up to an epoch. each is called after every epoch.
func (p *past) replay(ctx context.Context, upTo uint64, each func(epoch uint64) error) error {
	next := uint64(1)
	h := &history{upTo: upTo, cat: p.cat, before: func(rec *state.EpochRecord) error {
		if rec.Epoch != next {
			return sqlerr.New(codeNoBatch, "[STDS_OFFSET_LOG_UNAVAILABLE] The offset log for batch %d does not exist: the history begins with batch %d", next, rec.Epoch)
		}
		next++
		return p.exchange(p.switches[rec.Epoch])
	}}
	return p.e.replayHistory(p.view, h, func(pos uint64, _ int64) error {
		if err := ctx.Err(); err != nil {
			return sqlerr.From(err)
		}
		select {
		case <-p.e.closing:
			return errShutdown()
		default:
		}
		return each(pos)
	})
}

// exchange lets the copy go on with other versions of its processors.
func (p *past) exchange(to []*catalog.Processor) error {
	var err error
	for _, c := range to {
		p.view.graph.Operators(func(op dataflow.Operator) {
			if o, ok := op.(*custom.Operator); ok && err == nil && o.Processor().OID == c.OID {
				err = o.Replace(c)
			}
		})
	}
	return err
}

// changeFeed compares the state after each epoch with the state before it: one row for each entry that differs, in order of the entries'
// identities. Not the writes themselves: operators write one entry many times in an epoch, in place.
type changeFeed struct {
	spec  *stateSpec
	out   *batch.Batch
	types []types.Type // without the columns of the feed
	last  *batch.Batch
	at    map[string]int // rows of last by identity
}

// note takes the state after an epoch. That before the first epoch of the feed is only kept.
func (f *changeFeed) note(epoch uint64, v *view) error {
	if err := f.sameSchema(epoch, v); err != nil {
		return err
	}
	w := &stateWriter{out: batch.New(f.types, 0), spec: f.spec, rows: f.spec.Rows[len(feedColumns):], keep: true}
	if err := w.read(v); err != nil {
		return err
	}
	at := make(map[string]int, len(w.ids))
	for i, id := range w.ids {
		at[id] = i
	}
	if epoch >= f.spec.From {
		f.diff(epoch, v, w.out, at)
	}
	f.last, f.at = w.out, at
	return nil
}

// diff appends what differs between the last state and now.
func (f *changeFeed) diff(epoch uint64, v *view, now *batch.Batch, at map[string]int) {
	val := len(f.types) - 2 // the value's column is the last before the partition's
	var ids []string
	for id, i := range at {
		if j, ok := f.at[id]; !ok || !f.spec.Timers && string(now.Cols[val].Bytes(i)) != string(f.last.Cols[val].Bytes(j)) {
			ids = append(ids, id)
		}
	}
	for id := range f.at {
		if _, ok := at[id]; !ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	list := f.isList(v)
	for _, id := range ids {
		i, there := at[id]
		_, was := f.at[id]
		kind, from := "update", now
		switch {
		case !there:
			kind, from, i = "delete", f.last, f.at[id]
		case list && !was:
			kind = "append"
		}
		f.out.Cols[0].AppendInt(int64(epoch))
		f.out.Cols[1].AppendString(kind)
		for c, col := range from.Cols {
			to := f.out.Cols[len(feedColumns)+c]
			if c == val && !there && !f.spec.Timers {
				to.AppendNull()
			} else {
				to.AppendFrom(col, i)
			}
		}
		f.out.EndRow(1)
	}
}

// variable finds the processor's variable that is read, as the copy has it.
func (f *changeFeed) variable(v *view) (custom.Variable, bool) {
	ids, ops := v.graph.Stateful()
	if at := slices.Index(ids, f.spec.Operator); at >= 0 {
		if op, ok := dataflow.Instances(ops[at])[0].(*custom.Operator); ok {
			for _, x := range op.Variables() {
				if x.Name == f.spec.Var {
					return x, true
				}
			}
		}
	}
	return custom.Variable{}, false
}

func (f *changeFeed) isList(v *view) bool {
	x, ok := f.variable(v)
	return ok && x.Kind == custom.ListKind
}

// sameSchema refuses epochs in which a variable had another schema than now.
func (f *changeFeed) sameSchema(epoch uint64, v *view) error {
	x, ok := f.variable(v)
	if !ok {
		return nil
	}
	want := f.spec.Rows[len(f.spec.Rows)-2]
	if x.TTL || len(x.Value.Fields) == len(want.Names) && !slices.ContainsFunc(want.Names, func(n string) bool { return x.Value.Index(n) < 0 }) {
		return nil
	}
	return sqlerr.Unsupported("state variable \"%s\" had another schema in batch %d: (%s)", f.spec.Var, epoch, x.Value).
		WithHint("Begin the change feed after the processor was replaced.")
}
