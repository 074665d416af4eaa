package agg

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// mergedSessions keeps sessions over append-only input as accumulators, which are merged when sessions are.
//
// State:
//
//	default  hash    key bytes, id -> accumulators, start, end, touch. The id is the start that the session had at first: it lies in no other
//	                 session as long as this one lives, so that a session whose start moves keeps its entry
//	latest   hash    key bytes -> 1, id of the key's latest session
//	starts   ordered key bytes, start -> id, of all but the latest session of each key
//	ends     the key of every session's entry, by a time: its end or before, when it is looked at again (rowenc.Expiry)
//
// Most rows belong to the latest session of their key or begin a new one behind it, for which two hash tables are enough.
type mergedSessions struct {
	s      *session
	t      target
	latest *table.Hash
	starts *table.Ordered
	ends   *rowenc.Expiry // nil: sessions do not close
	// words of an entry
	wStart, wEnd, wTouch int

	stamp   int64
	touched []sessionTouch
	old     *batch.Batch
	oldBad  map[int32]*sqlerr.Error
	turn    int64     // counts epochs
	at      []entryAt // by slot of latest
	keySlot []int32   // of latest, for the rows of the batch
	want    []int32   // of latest: whose entries are looked up
	entries lookup
	pending []int32 // rows of the batch that are not accumulated yet
	slots   []int32 // their entries
	key     []byte
	lo, hi  []byte
	to      []int32 // of a merge
	from    []int32
	hits    []hit
	fresh   *batch.Batch
	gone    []int32 // entries of sessions that close
	closing []closed
	keys    []byte // of what closes
}

// sessionTouch is a session that changed in the epoch.
type sessionTouch struct {
	slot  int32 // -1: merged into another
	old   int32 // its row in old, -1 for none
	isNew bool
}

// entryAt is where a key's latest session has its entry, -1 for none. Slots hold for one epoch.
type entryAt struct {
	turn int64 // the turn in which it was found
	slot int32
}

// hit is a session that a row touches.
type hit struct {
	start, id int64
	slot      int32
	latest    bool
}

func newMergedSessions(s *session, sp *table.Space, opID int) *mergedSessions {
	p := s.prog
	m := &mergedSessions{s: s, turn: 1, wStart: p.words, wEnd: p.words + 1, wTouch: p.words + 2}
	ts, b := types.Of(types.Timestamp), types.Of(types.Bytea)
	key := append(s.keys.schema(), table.Column{Name: "session_id", Type: ts})
	val := p.schema()
	val = slices.Insert(val, len(val)-1, table.Column{Name: "start", Type: ts}, table.Column{Name: "end", Type: ts}, table.Column{Name: "touch", Type: types.Of(types.Int8)})
	h := sp.Hash(table.Decl{Operator: opID, Name: "default", Key: key, Value: val, Words: p.words + 3})
	m.t = target{h: h, fields: p.fields}
	m.starts = sp.Ordered(table.Decl{Operator: opID, Name: "starts", Key: []table.Column{{Name: "key_start", Type: b}}, Value: []table.Column{{Name: "id", Type: b}}})
	m.latest = sp.Hash(table.Decl{Operator: opID, Name: "latest", Key: s.keys.schema(), Value: []table.Column{{Name: "present", Type: types.Of(types.Int8)}, {Name: "id", Type: ts}}, Words: 2})
	if s.closes && s.mode != catalog.Complete {
		m.ends = rowenc.NewExpiry(sp, opID, "ends")
	}
	return m
}

func (m *mergedSessions) size() (n, bytes int64) {
	bytes = m.t.h.MemBytes() + m.latest.MemBytes() + m.starts.MemBytes()
	if m.ends != nil {
		bytes += m.ends.MemBytes()
	}
	return m.t.h.Len(), bytes
}

// word gives a word of an entry.
func (m *mergedSessions) word(slot int32, off int) *int64 {
	words, w := m.t.h.WordsAll()
	return &words[int(slot)*w+off]
}

// add implements sessionStore.
func (m *mergedSessions) add(ep *dataflow.Epoch, b *batch.Batch, rows []int32) {
	m.stamp = int64(ep.N) + 1
	ks := &m.s.keys
	ks.encode(rows)
	if cap(m.keySlot) < len(rows) {
		m.keySlot = make([]int32, max(len(rows), batch.Target))
	}
	keySlot := m.keySlot[:len(rows)]
	m.latest.FindOrAddBytes(ks.hashes, ks.off, ks.data, keySlot)
	m.findLatest(keySlot)
	for k, r := range rows {
		key, l := ks.data[ks.off[k]:ks.off[k+1]], keySlot[k]
		t, e := m.s.from[r], m.s.to[r]
		slot := m.at[l].slot
		switch {
		case slot < 0:
			slot = m.create(key, t, e, int(r))
			m.setLatest(l, t, slot)
		case t > *m.word(slot, m.wEnd):
			m.putStart(key, *m.word(slot, m.wStart), m.latest.Words(l)[1])
			slot = m.create(key, t, e, int(r))
			m.setLatest(l, t, slot)
		case t >= *m.word(slot, m.wStart):
			m.touchEntry(slot)
			if p := m.word(slot, m.wEnd); e > *p {
				*p = e
			}
		default:
			slot = m.place(key, t, e, b, int(r), l)
		}
		m.pending, m.slots = append(m.pending, r), append(m.slots, slot)
	}
	m.flush(b)
}

// findLatest finds the entries of the latest sessions of the batch's keys.
func (m *mergedSessions) findLatest(keySlot []int32) {
	ks := &m.s.keys
	m.want = m.want[:0]
	m.entries.reset()
	for k, l := range keySlot {
		for int(l) >= len(m.at) {
			m.at = append(m.at, make([]entryAt, len(m.at)+64)...)
		}
		if m.at[l].turn == m.turn {
			continue
		}
		m.at[l] = entryAt{m.turn, -1}
		if w := m.latest.Words(l); w[0] != 0 {
			m.want = append(m.want, l)
			m.entries.add(m.entryKey(ks.data[ks.off[k]:ks.off[k+1]], w[1]))
		}
	}
	for i, slot := range m.entries.find(m.t.h) {
		m.at[m.want[i]].slot = slot
	}
}

// lookup is keys to be found together: the processor then waits for the memory of several at once.
type lookup struct {
	data   []byte
	off    []uint32
	hashes []uint64
	slots  []int32
}

func (x *lookup) reset() { x.data, x.off, x.hashes = x.data[:0], append(x.off[:0], 0), x.hashes[:0] }

func (x *lookup) add(key []byte) {
	x.data = append(x.data, key...)
	x.off, x.hashes = append(x.off, uint32(len(x.data))), append(x.hashes, table.HashBytes(key))
}

func (x *lookup) key(i int) []byte { return x.data[x.off[i]:x.off[i+1]] }

// find gives the slots of the keys, -1 for those that are missing, valid until the next call.
func (x *lookup) find(h *table.Hash) []int32 {
	if cap(x.slots) < len(x.hashes) {
		x.slots = make([]int32, max(len(x.hashes), batch.Target))
	}
	h.FindManyBytes(x.hashes, x.off, x.data, x.slots[:len(x.hashes)])
	return x.slots[:len(x.hashes)]
}

// setLatest says which session of a key is the latest.
func (m *mergedSessions) setLatest(l int32, id int64, slot int32) {
	w := m.latest.Words(l)
	w[0], w[1] = 1, id
	m.at[l] = entryAt{m.turn, slot}
	m.latest.MarkDirty([]int32{l})
}

// flush accumulates the pending rows.
func (m *mergedSessions) flush(b *batch.Batch) {
	if len(m.pending) == 0 {
		return
	}
	t := &m.t
	t.rows, t.slot = m.pending, m.slots
	for k, s := range t.slot {
		*m.word(s, wordRows) += b.Weight(int(t.rows[k]))
	}
	m.s.prog.accumulate(t, b.Weights)
	t.h.MarkDirty(t.slot)
	m.pending, m.slots = m.pending[:0], m.slots[:0]
}

// place gives the entry of the session that a row belongs to that begins before the latest of its key, l in latest: made, extended or merged as
// the row demands.
func (m *mergedSessions) place(key []byte, t, e int64, b *batch.Batch, r int, l int32) int32 {
	m.find(key, t, e, l)
	if len(m.hits) == 0 {
		m.putStart(key, t, t)
		return m.create(key, t, e, r)
	}
	// hits are in descending order of start.
	first := m.hits[len(m.hits)-1]
	m.touchEntry(first.slot)
	if len(m.hits) > 1 {
		m.flush(b)
		for _, h := range m.hits[:len(m.hits)-1] {
			m.absorb(key, first.slot, h)
		}
	}
	if p := m.word(first.slot, m.wEnd); e > *p {
		*p = e
	}
	isLatest := m.hits[0].latest
	if isLatest && !first.latest || t < first.start && !first.latest {
		m.deleteStart(key, first.start)
	}
	if t < first.start {
		*m.word(first.slot, m.wStart) = t
	}
	switch {
	case isLatest:
		m.setLatest(l, first.id, first.slot)
	case t < first.start:
		m.putStart(key, t, first.id)
	}
	return first.slot
}

// find lists the sessions of a key that touch [t, e], where t lies before the latest one.
func (m *mergedSessions) find(key []byte, t, e int64, l int32) {
	m.hits = m.hits[:0]
	if s := m.at[l].slot; *m.word(s, m.wStart) <= e {
		m.hits = append(m.hits, hit{start: *m.word(s, m.wStart), id: m.latest.Words(l)[1], slot: s, latest: true})
	}
	n := len(key)
	m.lo = append(m.lo[:0], key...)
	m.hi = appendTime(append(m.hi[:0], key...), e+1)
	m.starts.ScanDesc(m.lo, m.hi, func(k, v []byte) bool {
		h := hit{start: readTime(k[n:]), id: readTime(v)}
		h.slot = m.entry(key, h.id)
		if *m.word(h.slot, m.wEnd) < t {
			return false
		}
		m.hits = append(m.hits, h)
		return true
	})
}

// entryKey builds the key of an entry, its columns encoded like all keys.
func (m *mergedSessions) entryKey(key []byte, id int64) []byte {
	m.key = appendTime(append(append(m.key[:0], key...), 1), id)
	return m.key
}

// entry finds the entry of a session, -1 if there is none.
func (m *mergedSessions) entry(key []byte, id int64) int32 {
	return m.t.h.FindBytes(m.entryKey(key, id))
}

func (m *mergedSessions) putStart(key []byte, start, id int64) {
	m.key = appendTime(append(m.key[:0], key...), start)
	m.lo = appendTime(m.lo[:0], id)
	m.starts.Put(m.key, m.lo)
}

func (m *mergedSessions) deleteStart(key []byte, start int64) {
	m.key = appendTime(append(m.key[:0], key...), start)
	m.starts.Delete(m.key)
}

// create makes the entry of a new session.
func (m *mergedSessions) create(key []byte, t, e int64, r int) int32 {
	k := m.entryKey(key, t)
	var slot [1]int32
	m.t.h.FindOrAddBytes([]uint64{table.HashBytes(k)}, []uint32{0, uint32(len(k))}, k, slot[:])
	s := slot[0]
	*m.word(s, m.wStart), *m.word(s, m.wEnd) = t, e
	if m.s.keys.forms {
		m.s.keys.keepForm(&m.t, s, r)
	}
	m.touchEntry(s)
	m.touched[len(m.touched)-1].isNew = true
	return s
}

// absorb merges a session into entry dst and removes it.
func (m *mergedSessions) absorb(key []byte, dst int32, h hit) {
	m.touchEntry(h.slot)
	m.to, m.from = append(m.to[:0], dst), append(m.from[:0], h.slot)
	for _, c := range m.s.prog.cells {
		c.merge(&m.t, m.to, &m.t, m.from)
	}
	*m.word(dst, wordRows) += *m.word(h.slot, wordRows)
	if p, q := m.word(dst, m.wEnd), *m.word(h.slot, m.wEnd); q > *p {
		*p = q
	}
	m.touched[*m.word(h.slot, m.wTouch)].slot = -1
	if !h.latest {
		m.deleteStart(key, h.start)
	}
	if m.t.h.Added(h.slot) {
		m.t.h.ClearAdded() // else every removal would search the list of added ones
	}
	m.t.h.Remove(h.slot)
	m.s.stats.RowsRemoved++
}

// touchEntry notes that a session changes, before it does.
func (m *mergedSessions) touchEntry(s int32) {
	if *m.word(s, wordEpoch) == m.stamp {
		return
	}
	*m.word(s, wordEpoch), *m.word(s, m.wTouch) = m.stamp, int64(len(m.touched))
	m.s.stats.RowsUpdated++
	x := sessionTouch{slot: s, old: -1}
	if m.s.updates && *m.word(s, wordRows) > 0 {
		if m.old == nil {
			m.old = batch.New(m.s.outTypes, 0)
		}
		x.old = int32(m.old.N)
		m.render([]int32{s}, m.old, func(_ int, err *sqlerr.Error) {
			if m.oldBad == nil {
				m.oldBad = map[int32]*sqlerr.Error{}
			}
			m.oldBad[x.old] = err
		})
	}
	m.touched = append(m.touched, x)
}

// render appends the rows of entries to b.
func (m *mergedSessions) render(slots []int32, b *batch.Batch, fail failFunc) {
	for _, s := range slots {
		b.Cols[0].AppendPair(*m.word(s, m.wStart)/m.s.unit, *m.word(s, m.wEnd)/m.s.unit)
	}
	n := 1 + len(m.s.keys.cols)
	m.s.keys.show(&m.t, slots, b.Cols[1:n])
	m.s.prog.emit(&m.t, slots, b.Cols[n:], fail)
	b.N += len(slots)
}

// end implements sessionStore.
func (m *mergedSessions) end(ep *dataflow.Epoch, out dataflow.Emit) error {
	m.stamp = int64(ep.N) + 1
	em := newEmitter(m.s.outTypes, out)
	if m.s.updates {
		if err := m.emitChanges(ep, em); err != nil {
			return err
		}
	}
	m.t.h.ClearAdded()
	m.latest.ClearAdded()
	if m.ends != nil {
		if err := m.close(ep, m.s.closing(ep), em); err != nil {
			return err
		}
	}
	m.touched, m.old, m.oldBad = m.touched[:0], nil, nil
	m.turn++
	return em.flush()
}

// emitChanges gives, for every session that changed, the row it stood for and the one it stands for now.
func (m *mergedSessions) emitChanges(ep *dataflow.Epoch, em *emitter) error {
	for lo := 0; lo < len(m.touched); lo += batch.Target {
		part := m.touched[lo:min(lo+batch.Target, len(m.touched))]
		var slots []int32
		for _, x := range part {
			if x.slot >= 0 {
				slots = append(slots, x.slot)
			}
		}
		fresh := batch.New(m.s.outTypes, len(slots))
		bad := map[int32]*sqlerr.Error{}
		m.render(slots, fresh, func(k int, err *sqlerr.Error) { bad[int32(k)] = err })
		n := int32(0)
		for _, x := range part {
			c := rowChange{old: m.old, oldBad: m.oldBad, o: x.old, fresh: fresh, bad: bad, n: -1}
			if x.slot >= 0 {
				c.n = n
				n++
			}
			if err := c.emit(ep, em); err != nil {
				return err
			}
		}
	}
	return nil
}

// closed is a session that the watermark closes.
type closed struct {
	end, start, id int64
	key            []byte
	slot           int32
}

// due takes note of the session whose entry has a key: of when it ends or, if it has ended, that it is to be closed.
func (m *mergedSessions) due(after dataflow.Watermark, slot int32, entryKey []byte) {
	end := *m.word(slot, m.wEnd)
	if !after.Late(end) {
		m.ends.AddBytes(end, entryKey)
		return
	}
	n := len(entryKey) - 9 // what entryKey appends
	from := len(m.keys)
	m.keys = append(m.keys, entryKey[:n]...)
	m.closing = append(m.closing, closed{end: end, start: *m.word(slot, m.wStart), id: readTime(entryKey[n+1:]), key: m.keys[from:len(m.keys):len(m.keys)], slot: slot})
}

// close removes the sessions that end at or before the watermark, by end, then key; in append mode they come out then.
func (m *mergedSessions) close(ep *dataflow.Epoch, after dataflow.Watermark, em *emitter) error {
	m.closing, m.keys = m.closing[:0], m.keys[:0]
	if after != dataflow.NoWatermark {
		m.entries.reset()
		m.ends.ExpireBytes(int64(after), m.entries.add)
		for i, slot := range m.entries.find(m.t.h) {
			if slot >= 0 { // else it was merged into another
				m.due(after, slot, m.entries.key(i))
			}
		}
	}
	for _, x := range m.touched {
		if x.isNew && x.slot >= 0 {
			m.due(after, x.slot, m.t.h.Key(x.slot))
		}
	}
	m.ends.Write(ep.N)
	list := m.closing
	slices.SortFunc(list, func(x, y closed) int {
		return cmp.Or(cmp.Compare(x.end, y.end), bytes.Compare(x.key, y.key), cmp.Compare(x.start, y.start))
	})
	for lo := 0; lo < len(list); lo += batch.Target {
		if err := m.closeSome(ep, list[lo:min(lo+batch.Target, len(list))], em); err != nil {
			return err
		}
	}
	return nil
}

// freshBatch gives an empty batch for rows that come out.
func (m *mergedSessions) freshBatch() *batch.Batch {
	if m.fresh == nil {
		m.fresh = batch.New(m.s.outTypes, batch.Target)
	}
	m.fresh.Reset()
	return m.fresh
}

func (m *mergedSessions) closeSome(ep *dataflow.Epoch, list []closed, em *emitter) error {
	slots := m.gone[:0]
	for _, c := range list {
		slots = append(slots, c.slot)
	}
	m.gone = slots
	if m.s.mode == catalog.Append {
		fresh := m.freshBatch()
		var bad map[int32]*sqlerr.Error
		m.render(slots, fresh, func(k int, err *sqlerr.Error) {
			if bad == nil {
				bad = map[int32]*sqlerr.Error{}
			}
			bad[int32(k)] = err
		})
		if len(bad) == 0 {
			if err := em.whole(fresh); err != nil {
				return err
			}
			slots = slots[:0]
		}
		for i := range slots { // some go to the dead letters
			c := rowChange{fresh: fresh, bad: bad, o: -1, n: int32(i)}
			if err := c.emit(ep, em); err != nil {
				return err
			}
		}
	}
	for _, c := range list {
		if l := m.latest.FindBytes(c.key); l >= 0 && m.latest.Words(l)[1] == c.id {
			m.latest.Remove(l)
		} else {
			m.deleteStart(c.key, c.start)
		}
		m.t.h.Remove(c.slot)
	}
	m.s.stats.RowsRemoved += int64(len(list))
	return nil
}
