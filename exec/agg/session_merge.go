package agg

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
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
//	starts   ordered key bytes, start -> id
//	ends     ordered a time, key bytes, id. One entry for every session, at its end or before: it moves when its time comes
type mergedSessions struct {
	s            *session
	t            target
	starts, ends *table.Ordered
	// words of an entry
	wStart, wEnd, wTouch int

	stamp   int64
	touched []sessionTouch
	old     *batch.Batch
	oldBad  map[int32]*sqlerr.Error
	cache   [sessionCache]cachedSession
	pending []int32 // rows of the batch that are not accumulated yet
	slots   []int32 // their entries
	key     []byte
	lo, hi  []byte
	hits    []hit
}

// sessionTouch is a session that changed in the epoch.
type sessionTouch struct {
	slot int32 // -1: merged into another
	old  int32 // its row in old, -1 for none
}

// cachedSession is where the last row of a key went. It holds for one epoch.
type cachedSession struct {
	key        []byte
	slot       int32
	start, end int64
	next       int64 // the next session of the key does not start before
	epoch      int64
}

const sessionCache = 1 << 12

// hit is a session that a row touches.
type hit struct {
	start, id int64
	slot      int32
}

func newMergedSessions(s *session, sp *table.Space, opID int) *mergedSessions {
	p := s.prog
	m := &mergedSessions{s: s, wStart: p.words, wEnd: p.words + 1, wTouch: p.words + 2}
	ts, b := types.Of(types.Timestamp), types.Of(types.Bytea)
	key := append(s.keys.schema(), table.Column{Name: "session_id", Type: ts})
	val := p.schema()
	val = slices.Insert(val, len(val)-1, table.Column{Name: "start", Type: ts}, table.Column{Name: "end", Type: ts}, table.Column{Name: "touch", Type: types.Of(types.Int8)})
	h := sp.Hash(table.Decl{Operator: opID, Name: "default", Key: key, Value: val, Words: p.words + 3})
	m.t = target{h: h, w: p.words + 3, fields: p.fields}
	m.starts = sp.Ordered(table.Decl{Operator: opID, Name: "starts", Key: []table.Column{{Name: "key_start", Type: b}}, Value: []table.Column{{Name: "id", Type: b}}})
	m.ends = sp.Ordered(table.Decl{Operator: opID, Name: "ends", Key: []table.Column{{Name: "end_key_id", Type: b}}})
	return m
}

func (m *mergedSessions) size() (n, bytes int64) {
	return m.t.h.Len(), m.t.h.MemBytes() + m.starts.MemBytes() + m.ends.MemBytes()
}

// word gives a word of an entry.
func (m *mergedSessions) word(slot int32, off int) *int64 {
	return &m.t.h.WordsAll()[int(slot)*m.t.w+off]
}

// add implements sessionStore.
func (m *mergedSessions) add(ep *dataflow.Epoch, b *batch.Batch, rows []int32) {
	m.stamp = int64(ep.N) + 1
	ks := &m.s.keys
	ks.encode(rows)
	for k, r := range rows {
		key := ks.data[ks.off[k]:ks.off[k+1]]
		t, e := m.s.from[r], m.s.to[r]
		c := &m.cache[ks.hashes[k]%sessionCache]
		var slot int32
		if c.epoch == m.stamp && t >= c.start && t <= c.end && e < c.next && bytes.Equal(c.key, key) {
			slot = c.slot
			if e > c.end {
				c.end = e
				*m.word(slot, m.wEnd) = e
			}
		} else {
			slot = m.place(key, t, e, b, int(r))
			m.remember(c, key, slot)
		}
		m.pending, m.slots = append(m.pending, r), append(m.slots, slot)
	}
	m.flush(b)
}

// remember puts a session into the cache.
func (m *mergedSessions) remember(c *cachedSession, key []byte, slot int32) {
	c.key = append(c.key[:0], key...)
	c.slot, c.epoch = slot, m.stamp
	c.start, c.end = *m.word(slot, m.wStart), *m.word(slot, m.wEnd)
	c.next = 1<<63 - 1
	m.lo = appendTime(append(m.lo[:0], key...), c.start+1)
	m.starts.Scan(m.lo, nil, func(k, _ []byte) bool {
		if bytes.HasPrefix(k, key) {
			c.next = readTime(k[len(k)-8:])
		}
		return false
	})
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

// place gives the entry of the session that a row belongs to, made, extended or merged as the row demands.
func (m *mergedSessions) place(key []byte, t, e int64, b *batch.Batch, r int) int32 {
	m.find(key, t, e)
	if len(m.hits) == 0 {
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
	if t < first.start {
		m.key = appendTime(append(m.key[:0], key...), first.start)
		m.starts.Delete(m.key)
		*m.word(first.slot, m.wStart) = t
		m.putStart(key, t, first.id)
	}
	return first.slot
}

// find lists the sessions of a key that touch [t, e].
func (m *mergedSessions) find(key []byte, t, e int64) {
	m.hits = m.hits[:0]
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

func (m *mergedSessions) create(key []byte, t, e int64, r int) int32 {
	k := m.entryKey(key, t)
	var slot [1]int32
	m.t.h.FindOrAddBytes([]uint64{table.HashBytes(k)}, []uint32{0, uint32(len(k))}, k, slot[:])
	s := slot[0]
	*m.word(s, m.wStart), *m.word(s, m.wEnd) = t, e
	if m.s.keys.forms {
		m.s.keys.keepForm(&m.t, s, r)
	}
	m.putStart(key, t, t)
	if m.s.closes && m.s.mode != catalog.Complete {
		m.ends.Put(m.endKey(e, key, t), nil)
	}
	m.touchEntry(s)
	return s
}

// endKey is a key in ends, valid until the next call.
func (m *mergedSessions) endKey(e int64, key []byte, id int64) []byte {
	m.hi = appendTime(append(appendTime(m.hi[:0], e), key...), id)
	return m.hi
}

// absorb merges a session into entry dst and removes it.
func (m *mergedSessions) absorb(key []byte, dst int32, h hit) {
	m.touchEntry(h.slot)
	for _, c := range m.s.prog.cells {
		c.merge(&m.t, dst, h.slot)
	}
	*m.word(dst, wordRows) += *m.word(h.slot, wordRows)
	if p, q := m.word(dst, m.wEnd), *m.word(h.slot, m.wEnd); q > *p {
		*p = q
	}
	m.touched[*m.word(h.slot, m.wTouch)].slot = -1
	m.key = appendTime(append(m.key[:0], key...), h.start)
	m.starts.Delete(m.key)
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
	if after := m.s.closing(ep); after != dataflow.NoWatermark {
		if err := m.close(ep, after, em); err != nil {
			return err
		}
	}
	m.touched, m.old, m.oldBad = m.touched[:0], nil, nil
	clear(m.cache[:]) // slots last for one epoch
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

// close removes the sessions that end at or before the watermark, by end, then key; in append mode they come out then.
func (m *mergedSessions) close(ep *dataflow.Epoch, after dataflow.Watermark, em *emitter) error {
	var due [][]byte
	hi := appendTime(nil, int64(after)+1)
	m.ends.Scan(nil, hi, func(k, _ []byte) bool {
		due = append(due, bytes.Clone(k))
		return true
	})
	if len(due) == 0 {
		return nil
	}
	m.ends.DeleteRange(nil, hi)
	var list []closed
	for _, k := range due {
		key, id := k[8:len(k)-8], readTime(k[len(k)-8:])
		s := m.entry(key, id)
		if s < 0 {
			continue
		}
		c := closed{end: *m.word(s, m.wEnd), start: *m.word(s, m.wStart), id: id, key: key, slot: s}
		if !after.Late(c.end) {
			m.ends.Put(m.endKey(c.end, key, id), nil)
			continue
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(x, y closed) int {
		return cmp.Or(cmp.Compare(x.end, y.end), bytes.Compare(x.key, y.key), cmp.Compare(x.start, y.start))
	})
	// Finding an entry may have loaded others, so slots are looked up again.
	for lo := 0; lo < len(list); lo += batch.Target {
		if err := m.closeSome(ep, list[lo:min(lo+batch.Target, len(list))], em); err != nil {
			return err
		}
	}
	return nil
}

func (m *mergedSessions) closeSome(ep *dataflow.Epoch, list []closed, em *emitter) error {
	slots := make([]int32, len(list))
	for i, c := range list {
		slots[i] = c.slot
	}
	if m.s.mode == catalog.Append {
		fresh := batch.New(m.s.outTypes, len(slots))
		bad := map[int32]*sqlerr.Error{}
		m.render(slots, fresh, func(k int, err *sqlerr.Error) { bad[int32(k)] = err })
		for i := range slots {
			c := rowChange{fresh: fresh, bad: bad, o: -1, n: int32(i)}
			if err := c.emit(ep, em); err != nil {
				return err
			}
		}
	}
	for _, c := range list {
		m.key = appendTime(append(m.key[:0], c.key...), c.start)
		m.starts.Delete(m.key)
		m.t.h.Remove(c.slot)
	}
	m.s.stats.RowsRemoved += int64(len(list))
	return nil
}
