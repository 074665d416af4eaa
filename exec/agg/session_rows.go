package agg

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// rowSessions keeps the rows of sessions, because they may be taken back, so that a session falls apart again, or because an
// aggregate needs their order. What changed is computed afresh at the end of the epoch, from the rows around it.
//
// State, all ordered:
//
//	default  key bytes, start -> end, row. Keys are encoded by AppendKey, values by AppendValue. The row is 1 and the row values of keys and
//	         aggregates; for one that failed 0, the same, SQLSTATE and message
//	rows     key bytes, time, end, then (append-only) epoch and number in the epoch, else the row's values -> weight, the row's values
//	ends     end, key bytes, start
type rowSessions struct {
	s              *session
	in             []types.Type
	needed         []int // input columns that keys and aggregates use
	sessions, rows *table.Ordered
	ends           *table.Ordered

	touched []touchedKey
	byKey   map[string]int
	key     []byte
	val     []byte

	// The replay accumulates the rows of a session in tables of its own.
	replay target
	batch  *batch.Batch
}

// touchedKey is a key with changed rows, all within [from, to].
type touchedKey struct {
	key      []byte
	from, to int64
}

func newRowSessions(s *session, n *plan.Aggregate, in []types.Type, sp *table.Space, opID int) *rowSessions {
	r := &rowSessions{s: s, in: in, byKey: map[string]int{}, batch: batch.New(in, 0)}
	r.needed = neededColumns(s.prog, n, len(in))
	b := types.Of(types.Bytea)
	decl := func(name, key string, val ...table.Column) table.Decl {
		return table.Decl{Operator: opID, Name: name, Key: []table.Column{{Name: key, Type: b}}, Value: val}
	}
	ts := types.Of(types.Timestamp)
	r.sessions = sp.Ordered(table.Decl{Operator: opID, Name: "default", Key: append(s.keys.schema(), table.Column{Name: "session_start", Type: ts}),
		Value: []table.Column{{Name: "session_end", Type: ts}, {Name: "row", Type: b}}})
	r.rows = sp.Ordered(decl("rows", "key_time", table.Column{Name: "row", Type: b}))
	r.ends = sp.Ordered(decl("ends", "end_key_start"))
	mem := table.NewTransient()
	r.replay = target{h: mem.Hash(table.Decl{Name: "replay", Words: s.prog.words}), fields: s.prog.fields,
		sets: mem.Ordered(table.Decl{Name: "replay-values"})}
	for _, d := range s.prog.distincts {
		r.replay.distinct = append(r.replay.distinct, mem.Hash(d.decl(0, nil)))
	}
	r.replay.prefix = appendSetPrefix(nil, plainTarget, 0)
	return r
}

// neededColumns lists the input columns whose values the rows in state keep.
func neededColumns(p *program, n *plan.Aggregate, width int) []int {
	used := make([]bool, width)
	mark := func(x plan.Expr) {
		plan.Walk(x, func(e plan.Expr) {
			if c, ok := e.(*plan.Col); ok {
				used[c.Index] = true
			}
		})
	}
	for _, x := range n.Keys {
		mark(x)
	}
	for _, e := range p.exprs {
		mark(e.x)
	}
	for _, f := range p.filters {
		mark(f.x)
	}
	for _, c := range p.sets {
		for i := range used {
			used[i] = used[i] || c.wholeRow
		}
	}
	var out []int
	for i, u := range used {
		if u {
			out = append(out, i)
		}
	}
	return out
}

func (r *rowSessions) size() (n, bytes int64) {
	return r.sessions.Len(), r.sessions.MemBytes() + r.rows.MemBytes() + r.ends.MemBytes()
}

// add implements sessionStore.
func (r *rowSessions) add(ep *dataflow.Epoch, b *batch.Batch, rows []int32) {
	ks := &r.s.keys
	ks.encode(rows)
	for k, i := range rows {
		key := ks.data[ks.off[k]:ks.off[k+1]]
		t, e := r.s.from[i], r.s.to[i]
		r.val = binary.LittleEndian.AppendUint64(r.val[:0], 0)
		for _, c := range r.needed {
			r.val = types.AppendValue(r.val, r.in[c], b.Cols[c].Datum(int(i)))
		}
		r.key = appendTime(appendTime(append(r.key[:0], key...), t), e)
		w := b.Weight(int(i))
		if r.s.prog.appendOnly {
			r.key = appendTime(appendTime(r.key, int64(ep.N)), r.s.ord+int64(i))
		} else {
			r.key = append(r.key, r.val[8:]...)
			if old, ok := r.rows.Get(r.key); ok {
				w += int64(binary.LittleEndian.Uint64(old))
			}
		}
		if w == 0 {
			r.rows.Delete(r.key)
		} else {
			binary.LittleEndian.PutUint64(r.val, uint64(w))
			r.rows.Put(r.key, r.val)
		}
		r.note(key, t, e)
	}
}

func (r *rowSessions) note(key []byte, t, e int64) {
	i, ok := r.byKey[string(key)]
	if !ok {
		i = len(r.touched)
		r.byKey[string(key)] = i
		r.touched = append(r.touched, touchedKey{bytes.Clone(key), t, e})
	}
	x := &r.touched[i]
	x.from, x.to = min(x.from, t), max(x.to, e)
}

// stored is a session as it lies in state.
type stored struct {
	start, end int64
	row        []byte
}

// appendStart appends a session's start to its key as one more key column.
func appendStart(key []byte, start int64) []byte {
	return appendTime(append(bytes.Clone(key), 1), start)
}

func (s stored) value() []byte {
	v := types.AppendValue(nil, types.Of(types.Timestamp), types.IntDatum(s.end))
	return types.AppendValue(v, types.Of(types.Bytea), types.Datum{B: s.row})
}

// readStored reads the session that lies under a start.
func readStored(start int64, v []byte) stored {
	end, rest, err := types.ReadValue(types.Of(types.Timestamp), v)
	if err != nil {
		panic(err) // the operator's own bytes
	}
	return stored{start, end.I, bytes.Clone(readField(types.Of(types.Bytea), rest).B)}
}

// end implements sessionStore.
func (r *rowSessions) end(ep *dataflow.Epoch, out dataflow.Emit) error {
	em := newEmitter(r.s.outTypes, out)
	for _, x := range r.touched {
		olds, news := r.rebuild(x)
		if err := r.change(ep, x.key, olds, news, em); err != nil {
			return err
		}
	}
	r.touched = r.touched[:0]
	clear(r.byKey)
	if after := r.s.closing(ep); after != dataflow.NoWatermark {
		if err := r.close(ep, after, em); err != nil {
			return err
		}
	}
	return em.flush()
}

// rebuild gives the sessions around a key's changes as they were and as they are.
func (r *rowSessions) rebuild(x touchedKey) (olds, news []stored) {
	n := len(x.key)
	from, to := x.from, x.to
	r.sessions.ScanDesc(x.key, appendStart(x.key, to+1), func(k, v []byte) bool {
		s := readStored(readTime(k[n+1:]), v)
		if s.end < x.from {
			return false
		}
		from, to = min(from, s.start), max(to, s.end)
		olds = append(olds, s)
		return true
	})
	slices.Reverse(olds)
	var cur []sessionRow
	var start, end int64
	done := func() {
		if len(cur) > 0 {
			news = append(news, stored{start, end, r.compute(cur)})
			cur = nil
		}
	}
	r.rows.Scan(appendTime(bytes.Clone(x.key), from), appendTime(bytes.Clone(x.key), to+1), func(k, v []byte) bool {
		w := int64(binary.LittleEndian.Uint64(v))
		if w <= 0 {
			return true
		}
		t, e := readTime(k[n:]), readTime(k[n+8:])
		if len(cur) > 0 && t > end {
			done()
		}
		if len(cur) == 0 {
			start, end = t, e
		}
		end = max(end, e)
		cur = append(cur, sessionRow{bytes.Clone(k[n+16:]), w, bytes.Clone(v[8:])})
		return true
	})
	done()
	return olds, news
}

// sessionRow is a row in state: what orders it by arrival, its weight and its values.
type sessionRow struct {
	arrival []byte
	w       int64
	values  []byte
}

// compute gives the row of a session as it is stored.
func (r *rowSessions) compute(rows []sessionRow) []byte {
	p, t := r.s.prog, &r.replay
	if p.appendOnly {
		slices.SortFunc(rows, func(x, y sessionRow) int { return bytes.Compare(x.arrival, y.arrival) })
	}
	slot := [1]int32{t.h.FindOrAddKey(nil)}
	ks := &r.s.keys
	var row []byte
	for lo := 0; lo < len(rows); lo += batch.Target {
		part := rows[lo:min(lo+batch.Target, len(rows))]
		r.load(part)
		if lo == 0 {
			row = append(row, 1)
			for _, c := range ks.cols {
				row = types.AppendValue(row, c.typ, r.keyValue(c))
			}
		}
		p.evaluate(r.batch, nil, func(int, *sqlerr.Error) {})
		t.rows, t.slot = t.rows[:0], t.slot[:0]
		for i := range part {
			t.rows, t.slot = append(t.rows, int32(i)), append(t.slot, slot[0])
			t.at(slot[0], wordRows, 1)[0] += part[i].w
		}
		p.accumulate(t, r.batch.Weights)
	}
	n := 1 + len(ks.cols)
	res := batch.New(r.s.outTypes, 1)
	var bad *sqlerr.Error
	p.emit(t, slot[:], res.Cols[n:], func(_ int, err *sqlerr.Error) { bad = err })
	t.sets.DeleteRange(nil, nil)
	for _, h := range t.distinct {
		h.Reset()
	}
	t.h.Remove(slot[0])
	for i := n; i < len(res.Cols); i++ {
		row = types.AppendValue(row, res.Cols[i].Type, res.Cols[i].Datum(0))
	}
	if bad != nil {
		row[0] = 0
		row = append(row, string(bad.Code)+bad.Message...)
	}
	return row
}

// keyValue gives a key of the first row of the replay batch.
func (r *rowSessions) keyValue(c *keyCol) types.Datum {
	if c.col >= 0 {
		return r.batch.Cols[c.col].Datum(0)
	}
	v, _ := c.k.Eval(r.s.env, r.batch, []int32{0})
	return v.Datum(0)
}

// load fills the replay batch.
func (r *rowSessions) load(rows []sessionRow) {
	r.batch.Reset()
	for _, x := range rows {
		rest, next := x.values, 0
		for i, v := range r.batch.Cols {
			if next == len(r.needed) || r.needed[next] != i {
				v.AppendNull()
				continue
			}
			d, more, err := types.ReadValue(r.in[i], rest)
			if err != nil {
				panic(err) // the operator's own bytes
			}
			v.AppendDatum(d)
			rest = more
			next++
		}
		r.batch.EndRow(x.w)
	}
}

// change replaces sessions in state and, where rows come out as they change, emits the difference.
func (r *rowSessions) change(ep *dataflow.Epoch, key []byte, olds, news []stored, em *emitter) error {
	same := func(a stored, list []stored) bool {
		return slices.ContainsFunc(list, func(b stored) bool {
			return a.start == b.start && a.end == b.end && bytes.Equal(a.row, b.row)
		})
	}
	for _, s := range olds {
		if same(s, news) {
			continue
		}
		if !slices.ContainsFunc(news, func(x stored) bool { return x.start == s.start }) {
			r.s.stats.RowsRemoved++
		}
		r.sessions.Delete(appendStart(key, s.start))
		r.ends.Delete(r.endKey(key, s))
		if r.s.updates {
			if err := r.give(ep, s, -1, em); err != nil {
				return err
			}
		}
	}
	for _, s := range news {
		if same(s, olds) {
			continue
		}
		r.s.stats.RowsUpdated++
		r.sessions.Put(appendStart(key, s.start), s.value())
		if r.s.closes && r.s.mode != catalog.Complete {
			r.ends.Put(r.endKey(key, s), nil)
		}
		if r.s.updates {
			if err := r.give(ep, s, 1, em); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *rowSessions) endKey(key []byte, s stored) []byte {
	return appendTime(append(appendTime(nil, s.end), key...), s.start)
}

// give emits a session's row; one that failed is a dead letter instead.
func (r *rowSessions) give(ep *dataflow.Epoch, s stored, w int64, em *emitter) error {
	b := batch.New(r.s.outTypes, 1)
	b.Cols[0].AppendPair(s.start/r.s.unit, s.end/r.s.unit)
	rest := s.row[1:]
	for _, v := range b.Cols[1:] {
		d, more, err := types.ReadValue(v.Type, rest)
		if err != nil {
			panic(err) // the operator's own bytes
		}
		v.AppendDatum(d)
		rest = more
	}
	b.EndRow(w)
	if s.row[0] == 0 {
		return deadRow(ep, b, 0, w, sqlerr.New(sqlerr.Code(rest[:5]), "%s", rest[5:]))
	}
	return em.add(b, 0, w)
}

// close removes the sessions that end at or before the watermark, by end, then key; in append mode they come out then.
func (r *rowSessions) close(ep *dataflow.Epoch, after dataflow.Watermark, em *emitter) error {
	type due struct {
		end, start int64
		key        []byte
	}
	var list []due
	hi := appendTime(nil, int64(after)+1)
	r.ends.Scan(nil, hi, func(k, _ []byte) bool {
		list = append(list, due{readTime(k), readTime(k[len(k)-8:]), bytes.Clone(k[8 : len(k)-8])})
		return true
	})
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(x, y due) int {
		return cmp.Or(cmp.Compare(x.end, y.end), bytes.Compare(x.key, y.key), cmp.Compare(x.start, y.start))
	})
	r.ends.DeleteRange(nil, hi)
	for _, x := range list {
		k := appendStart(x.key, x.start)
		v, ok := r.sessions.Get(k)
		if !ok {
			continue
		}
		if r.s.mode == catalog.Append {
			if err := r.give(ep, readStored(x.start, v), 1, em); err != nil {
				return err
			}
		}
		r.sessions.Delete(k)
		r.rows.DeleteRange(appendTime(bytes.Clone(x.key), x.start), appendTime(bytes.Clone(x.key), x.end))
	}
	r.s.stats.RowsRemoved += int64(len(list))
	return nil
}
