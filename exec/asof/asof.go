package asof

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// operatorName is what tidemark.state_operators shows.
const operatorName = "asofJoin"

// asof is the operator.
type asof struct {
	n           *plan.AsofJoin
	env         *kernel.Env
	left, right side
	past        bool   // matches are at or before the left row's time
	strict      bool   // and not at it
	hold        bool   // append mode: rows come out when they are final
	null        []byte // an encoded right row of NULLs
	diff        rowenc.Changes
	out         *rowenc.Out
	buf         []byte
	stats       dataflow.Stats
}

// New makes the operator of a plan.AsofJoin over inputs with columns of the types in[0] and in[1].
func New(n *plan.AsofJoin, in dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	if len(n.LeftKeys) != len(n.RightKeys) {
		return nil, sqlerr.New(sqlerr.InternalError, "ASOF join with %d left and %d right keys", len(n.LeftKeys), len(n.RightKeys))
	}
	o := &asof{n: n, env: env, past: n.Past(), strict: n.Op == ">" || n.Op == "<", hold: n.Timed && n.Mode == catalog.Append}
	o.left.lead, o.right.lead = dataflow.Watermark(n.LeftLead), dataflow.Watermark(n.RightLead)
	o.out = rowenc.NewOut(append(append([]types.Type(nil), in[0]...), in[1]...))
	if err := o.left.init(n.LeftKeys, n.LeftTime, in[0], n.Timed, "left-keyTimeToValue", sp, opID); err != nil {
		return nil, err
	}
	if err := o.right.init(n.RightKeys, n.RightTime, in[1], n.Timed, "right-keyTimeToValue", sp, opID); err != nil {
		return nil, err
	}
	none := batch.New(in[1], 1)
	for _, v := range none.Cols {
		v.AppendNull()
	}
	none.EndRow(1)
	o.null = rowenc.AppendRow(nil, none.Cols, 0)
	return o, nil
}

// Push implements dataflow.Operator.
func (o *asof) Push(ep *dataflow.Epoch, port int, b *batch.Batch, _ dataflow.Emit) error {
	s := &o.left
	if port == 1 {
		s = &o.right
	}
	return s.push(ep, o.env, b, &o.stats, func(i int) error {
		if port == 0 && o.n.Outer {
			o.buf = append(rowenc.AppendRow(o.buf[:0], b.Cols, i), o.null...)
			o.diff.Add(o.buf, b.Weight(i))
		}
		return nil
	})
}

// EndEpoch implements dataflow.Operator.
func (o *asof) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	silent := o.hold && !ep.Final
	o.applyRight(silent)
	for _, c := range o.left.changes() {
		o.left.apply(c)
		o.stats.RowsUpdated++
		if !silent {
			m, ok := o.match(c)
			o.emit(c.row(), m, ok, c.w)
		}
	}
	o.left.log.Reset()
	if o.n.Timed && !ep.Final && ep.After != dataflow.NoWatermark {
		o.close(int64(ep.After))
	}
	err := o.diff.Each(false, func(row []byte, w int64) error { return o.out.Row(row, w, out) })
	o.diff.Reset()
	if err != nil {
		return err
	}
	return o.out.Flush(out)
}

// applyRight brings the right side up to date and moves stored left rows to their new matches, unless silent.
func (o *asof) applyRight(silent bool) {
	cs := o.right.changes()
	forward := func(f func(c entry)) {
		for _, c := range cs {
			f(c)
		}
	}
	backward := func(f func(c entry)) {
		for i := len(cs) - 1; i >= 0; i-- {
			f(cs[i])
		}
	}
	deletions, insertions := forward, backward
	if !o.past {
		deletions, insertions = backward, forward
	}
	move := !silent && o.left.rows.Len() > 0
	deletions(func(c entry) {
		if c.w < 0 {
			if _, now := o.right.apply(c); now == 0 && move {
				o.moved(c, -1)
			}
		}
	})
	insertions(func(c entry) {
		if c.w > 0 {
			if old, _ := o.right.apply(c); old == 0 && move {
				o.moved(c, 1)
			}
		}
	})
	o.stats.RowsUpdated += int64(len(cs))
	o.right.log.Reset()
}

// moved corrects the stored left rows of which a right row c became the match (by 1), or was it (-1). The match that they
// had before, or have now, is the next right row away from them.
func (o *asof) moved(c entry, by int64) {
	end := rowenc.PrefixEnd(nil, c.join())
	above := append(bytes.Clone(c.key), 0)
	other, okOther := o.right.last(c.join(), c.key)
	next, okNext := o.right.first(above, end)
	if !o.past {
		other, okOther, next, okNext = next, okNext, other, okOther
	}
	lo, hi := o.concerned(c)
	if okNext {
		l, h := o.concerned(next)
		if o.past {
			hi = l // the left rows from there on have a nearer match
		} else {
			lo = h
		}
	}
	if hi != nil && bytes.Compare(lo, hi) >= 0 {
		return
	}
	o.left.rows.Scan(lo, hi, func(key, val []byte) bool {
		l := read(key, val)
		o.emit(l.row(), c, true, by*l.w)
		o.emit(l.row(), other, okOther, -by*l.w)
		return true
	})
}

// concerned gives the range of the left rows whose match c may be: those with its key, on the right side of its time.
func (o *asof) concerned(c entry) (lo, hi []byte) {
	switch {
	case o.past && o.strict:
		return rowenc.PrefixEnd(nil, c.until()), rowenc.PrefixEnd(nil, c.join())
	case o.past:
		return bytes.Clone(c.until()), rowenc.PrefixEnd(nil, c.join())
	case o.strict:
		return bytes.Clone(c.join()), bytes.Clone(c.until())
	}
	return bytes.Clone(c.join()), rowenc.PrefixEnd(nil, c.until())
}

// match finds the right row that belongs to a left row.
func (o *asof) match(l entry) (entry, bool) {
	switch {
	case o.past && o.strict:
		return o.right.last(l.join(), l.until())
	case o.past:
		return o.right.last(l.join(), rowenc.PrefixEnd(nil, l.until()))
	case o.strict:
		return o.right.first(rowenc.PrefixEnd(nil, l.until()), rowenc.PrefixEnd(nil, l.join()))
	}
	return o.right.first(l.until(), rowenc.PrefixEnd(nil, l.join()))
}

// emit adds w times a left row with its match, or without one, to what comes out at the end of the epoch.
func (o *asof) emit(left []byte, m entry, ok bool, w int64) {
	switch {
	case ok:
		o.buf = append(append(o.buf[:0], left...), m.row()...)
	case o.n.Outer:
		o.buf = append(append(o.buf[:0], left...), o.null...)
	default:
		return
	}
	o.diff.Add(o.buf, w)
}

// close removes what is final at a watermark, and in append mode lets it come out.
func (o *asof) close(w int64) {
	if o.past {
		for _, l := range o.left.due(w) {
			if o.hold {
				m, ok := o.match(l)
				o.emit(l.row(), m, ok, l.w)
			}
			o.evict(&o.left, l)
		}
		o.keepNewest(w)
		return
	}
	// The first right row at or after a left row decides its case, once no earlier one can come.
	for _, r := range o.right.due(w) {
		lo, hi := o.concerned(r)
		var done []entry
		o.left.rows.Scan(lo, hi, func(key, val []byte) bool {
			done = append(done, read(bytes.Clone(key), val))
			return true
		})
		for _, l := range done {
			if o.hold {
				o.emit(l.row(), r, true, l.w)
			}
			o.evict(&o.left, l)
		}
		o.evict(&o.right, r)
	}
}

// keepNewest removes the right rows at or below a watermark but the newest of each key, which left rows to come may still
// match, and those that are no longer timed: rows that were newest before.
func (o *asof) keepNewest(w int64) {
	for _, r := range o.right.due(w) {
		o.right.times.Delete(timeKey(r))
		var older []entry
		o.right.rows.ScanDesc(r.join(), r.key, func(key, val []byte) bool {
			older = append(older, read(bytes.Clone(key), val))
			return true
		})
		for _, x := range older {
			o.evict(&o.right, x)
		}
	}
}

func (o *asof) evict(s *side, e entry) {
	s.remove(e)
	o.stats.RowsRemoved++
}

// Stats implements dataflow.Stateful.
func (o *asof) Stats() dataflow.Stats {
	s := o.stats
	s.Name = operatorName
	for _, d := range []*side{&o.left, &o.right} {
		s.RowsTotal += d.rows.Len()
		s.MemoryUsedBytes += d.rows.MemBytes()
		if d.times != nil {
			s.MemoryUsedBytes += d.times.MemBytes()
		}
	}
	return s
}
