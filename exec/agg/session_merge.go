package agg

import (
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
//	default       hash     key -> accumulators of the key's latest session, and what tells its other sessions and when one of them ends
//	default-null  hash     the same of sessions whose key is NULL, where it is one int or text
//	older         hash     key bytes, start -> accumulators of a session that is not the latest of its key
//	starts        ordered  key bytes, start of each older session for which the key's entry had no room
//	ends          keys by a time: the earliest end of their sessions or before, when they are looked at again (rowenc.Expiry)
//	ends-null     the same of NULL
//
// Most rows belong to the latest session of their key or begin a new one behind it, which one lookup tells. A key is in ends once: the time
// in its entry says which of its times there counts, if there are several.
type mergedSessions struct {
	s      *session
	t      [3]target // by sessionPart
	look   [2]target // what keys are looked up with
	ends   [2]*rowenc.Expiry
	starts *table.Ordered
	wMore  int // the first of the words that only entries of latest sessions have

	stamp   int64
	block   int64 // counts blocks of rows, by 31 bits
	touched []sessionTouch
	early   []sessionTouch // keys of which an older session was made that ends before the time that they are listed with
	old     *batch.Batch
	oldBad  map[int32]*sqlerr.Error
	pending [3]pendingRows
	split   [2][]int32 // rows by sessionPart
	key     []byte     // of the row or entry at hand
	okey    []byte     // of an older entry
	skey    []byte     // of an entry of starts
	hits    []hit
	slots   []int32
	to      []int32 // of a merge
	from    []int32

	one     [1]int32
	read    int64 // of near
	fresh   freshRows
	bad     map[int32]*sqlerr.Error // of the batch that noteBad is told of
	noteBad failFunc
	em      *emitter
	expired expiredKeys
	closing []closed
	closer  closer
	order   closingOrder
}

// sessionPart is the table that a session lies in.
type sessionPart uint8

const (
	inLatest sessionPart = iota
	inNull               // the latest one of the key NULL, where it is apart
	inOlder
)

// Words of a session's entry, behind those of every entry.
const (
	wordEpoch = headWords + iota // epoch number + 1 of the last change
	wordStart
	wordEnd
	wordTouch    // number in touched, and the last block with a row of it in the upper half
	sessionWords // how many there are, with the others
)

// Words of the entry of a key's latest session behind its accumulators, from wMore on.
const (
	moreCount  = iota // older sessions in the entry, listed or not, and above them the number of those in starts
	moreDue           // time at which the key is in ends, if it is listed
	moreBefore        // starts of older sessions
	moreWords  = moreBefore + maxBefore

	maxBefore   = 2
	moreBits    = 3 // of moreCount
	moreListed  = 4
	moreInEntry = moreListed - 1
)

// sessionTouch is a session that changed in the epoch.
type sessionTouch struct {
	slot  int32 // -1: merged into another
	old   int32 // its row in old, -1 for none
	part  sessionPart
	isNew bool
}

// pendingRows are rows of the batch that are not accumulated yet, and their entries.
type pendingRows struct {
	rows, slots []int32
}

// hit is an older session that a row touches.
type hit struct {
	start int64
	slot  int32
}

// sessionHead declares the words of a session's entry behind those of every entry.
func sessionHead() []table.Column {
	ts := types.Of(types.Timestamp)
	return []table.Column{{Name: "epoch", Type: types.Of(types.Int8)}, {Name: "start", Type: ts}, {Name: "end", Type: ts}, {Name: "touch", Type: types.Of(types.Int8)}}
}

func newMergedSessions(s *session, sp *table.Space, opID int) *mergedSessions {
	p, ks := s.prog, &s.keys
	m := &mergedSessions{s: s, wMore: p.words}
	ts, b, n := types.Of(types.Timestamp), types.Of(types.Bytea), types.Of(types.Int8)
	val := p.schema()
	older := table.Decl{Operator: opID, Name: "older", Key: append(ks.schema(), table.Column{Name: "start_time", Type: ts}), Value: slices.Clone(val), Words: p.words}
	d := table.Decl{Operator: opID, Name: "default", Key: ks.schema(), IntKey: ks.intKey(), TextKey: ks.textKey(), Words: p.words + moreWords,
		Value: slices.Insert(val, len(val)-1, table.Column{Name: "older", Type: n}, table.Column{Name: "due", Type: ts},
			table.Column{Name: "older1", Type: ts}, table.Column{Name: "older2", Type: ts})}
	closes := s.closes && s.mode != catalog.Complete
	declare := func(part sessionPart, d table.Decl, ends string) {
		m.t[part] = target{h: sp.Hash(d), fields: p.fields, intKey: d.IntKey, textKey: d.TextKey, nullKey: part == inNull}
		m.look[part] = m.t[part]
		if closes {
			m.ends[part] = rowenc.NewExpiry(sp, opID, ends)
		}
	}
	declare(inLatest, d, "ends")
	if ks.apart() {
		d.Name, d.IntKey, d.TextKey = d.Name+table.NullName, false, false
		declare(inNull, d, "ends-null")
	}
	m.t[inOlder] = target{h: sp.Hash(older), fields: p.fields}
	m.starts = sp.Ordered(table.Decl{Operator: opID, Name: "starts", Key: []table.Column{{Name: "key_start", Type: b}}})
	return m
}

func (m *mergedSessions) size() (n, bytes int64) {
	bytes = m.starts.MemBytes()
	for i := range m.t {
		if h := m.t[i].h; h != nil {
			n, bytes = n+h.Len(), bytes+h.MemBytes()
		}
	}
	for _, e := range m.ends {
		if e != nil {
			bytes += e.MemBytes()
		}
	}
	return n, bytes
}

// entry gives the words of an entry, valid until entries are added to its table.
func (m *mergedSessions) entry(p sessionPart, slot int32) []int64 {
	words, w := m.t[p].h.WordsAll()
	n := m.wMore
	if p != inOlder {
		n += moreWords
	}
	lo := int(slot) * w
	return words[lo : lo+n : lo+n]
}

// add implements sessionStore.
func (m *mergedSessions) add(ep *dataflow.Epoch, b *batch.Batch, rows []int32) {
	m.stamp = ep.Stamp()
	ks := &m.s.keys
	nulls := ks.mayBeNull()
	if nulls == nil {
		m.addTo(inLatest, b, rows)
		return
	}
	m.split[0], m.split[1] = m.split[0][:0], m.split[1][:0]
	for _, r := range rows {
		p := inLatest
		if nulls.IsNull(int(r)) {
			p = inNull
		}
		m.split[p] = append(m.split[p], r)
	}
	m.addTo(inLatest, b, m.split[inLatest])
	m.addTo(inNull, b, m.split[inNull])
}

// addTo takes rows whose keys are of a part, in blocks whose entries stay in the processor's near caches.
func (m *mergedSessions) addTo(p sessionPart, b *batch.Batch, rows []int32) {
	look := &m.look[p]
	for len(rows) > 0 {
		n := min(len(rows), applyRows)
		look.rows, rows = rows[:n], rows[n:]
		m.s.keys.find(look)
		m.block = (m.block + 1) & (1<<31 - 1)
		m.placeAll(p, b)
		m.flush(b)
	}
	look.rows = nil
}

// placeAll puts the rows of a block to their sessions.
func (m *mergedSessions) placeAll(p sessionPart, b *batch.Batch) {
	look, pend := &m.look[p], &m.pending[p]
	words, w := m.t[p].h.WordsAll()
	mark := m.block << 32
	m.near(words, w, wordEnd, look.slot)
	for k, r := range look.rows {
		slot := look.slot[k]
		e := words[int(slot)*w:][:sessionWords:sessionWords]
		t, end := m.s.from[r], m.s.to[r]
		switch {
		case e[wordEpoch] == 0:
			m.begin(p, slot, t, end, r)
		case t > e[wordEnd]:
			m.demote(p, slot, b, r)
			m.begin(p, slot, t, end, r)
		case t >= e[wordStart]:
			if e[wordEpoch] != m.stamp {
				m.touch(p, slot)
			}
			if end > e[wordEnd] {
				e[wordEnd] = end
			}
		default:
			if m.place(p, slot, b, r) {
				continue
			}
		}
		e[wordTouch] = mark | e[wordTouch]&(1<<32-1)
		pend.rows, pend.slots = append(pend.rows, r), append(pend.slots, slot)
	}
}

// near brings the entries of slots into the processor's caches: a loop that does nothing but read one of their words waits for many at once.
func (m *mergedSessions) near(words []int64, w, word int, slots []int32) {
	x := m.read
	for _, s := range slots {
		x ^= words[int(s)*w+word]
	}
	m.read = x
}

// flush accumulates the pending rows.
func (m *mergedSessions) flush(b *batch.Batch) {
	for i := range m.pending {
		pend := &m.pending[i]
		if len(pend.rows) == 0 {
			continue
		}
		t := &m.t[i]
		t.rows, t.slot = pend.rows, pend.slots
		words, w := t.h.WordsAll()
		for k, s := range t.slot {
			words[int(s)*w+wordRows] += b.Weight(int(t.rows[k]))
		}
		m.s.prog.accumulate(t, b.Weights)
		t.h.MarkDirty(t.slot)
		pend.rows, pend.slots = pend.rows[:0], pend.slots[:0]
	}
}

// begin makes an empty entry a session.
func (m *mergedSessions) begin(p sessionPart, slot int32, t, end int64, r int32) {
	e := m.entry(p, slot)
	e[wordStart], e[wordEnd] = t, end
	if m.s.keys.forms {
		m.s.keys.keepForm(&m.t[p], slot, int(r))
	}
	m.touch(p, slot)
	m.touched[len(m.touched)-1].isNew = true
}

// touch notes that a session changes, before it does.
func (m *mergedSessions) touch(p sessionPart, slot int32) {
	e := m.entry(p, slot)
	if e[wordEpoch] == m.stamp {
		return
	}
	e[wordEpoch], e[wordTouch] = m.stamp, int64(len(m.touched))
	m.s.stats.RowsUpdated++
	x := sessionTouch{slot: slot, part: p, old: -1}
	if m.s.updates && e[wordRows] > 0 {
		if m.old == nil {
			m.old = batch.New(m.s.outTypes, 0)
		}
		x.old = int32(m.old.N)
		m.render(p, []int32{slot}, m.old, func(_ int, err *sqlerr.Error) {
			if m.oldBad == nil {
				m.oldBad = map[int32]*sqlerr.Error{}
			}
			m.oldBad[x.old] = err
		})
	}
	m.touched = append(m.touched, x)
}

// touchOf gives the note of a session that was touched in the epoch, nil if it was not.
func (m *mergedSessions) touchOf(e []int64) *sessionTouch {
	if e[wordEpoch] != m.stamp {
		return nil
	}
	return &m.touched[uint32(e[wordTouch])]
}

// place puts a row that begins before the latest session of its key to its session, which is made, extended or merged as the row demands. It
// says false where that is the latest one, whose entry is slot; else the row is pending.
func (m *mergedSessions) place(p sessionPart, slot int32, b *batch.Batch, r int32) bool {
	t, end := m.s.from[r], m.s.to[r]
	m.key = m.s.keys.append(m.key[:0], int(r))
	m.findOlder(p, slot, t, end)
	if e := m.entry(p, slot); e[wordStart] <= end {
		m.touch(p, slot)
		if len(m.hits) > 0 {
			m.flush(b)
			if m.s.keys.forms {
				m.t[p].setField(slot, 0, m.t[inOlder].field(m.hits[0].slot, 0))
			}
		}
		for _, h := range m.hits {
			m.absorb(p, slot, p, slot, h)
		}
		e[wordStart], e[wordEnd] = min(e[wordStart], t), max(e[wordEnd], end)
		return false
	}
	var to int32
	if len(m.hits) == 0 {
		to = m.addOlder(t)
		m.begin(inOlder, to, t, end, r)
		m.noteBefore(p, slot, t)
		m.dueEarlier(p, slot, end)
	} else {
		to = m.extendOlder(p, slot, b, t)
		e := m.entry(inOlder, to)
		e[wordEnd] = max(e[wordEnd], end)
	}
	pend := &m.pending[inOlder]
	pend.rows, pend.slots = append(pend.rows, r), append(pend.slots, to)
	return true
}

// extendOlder merges the sessions in m.hits, and gives the entry of what they become: a session that begins at t, or where the first of them does.
func (m *mergedSessions) extendOlder(p sessionPart, slot int32, b *batch.Batch, t int64) int32 {
	first := m.hits[0]
	m.touch(inOlder, first.slot)
	if len(m.hits) > 1 || t < first.start {
		m.flush(b)
	}
	for _, h := range m.hits[1:] {
		m.absorb(inOlder, first.slot, p, slot, h)
	}
	if t >= first.start {
		return first.slot
	}
	to := m.move(inOlder, first.slot, t)
	m.t[inOlder].h.Remove(first.slot)
	m.dropBefore(p, slot, first.start)
	m.noteBefore(p, slot, t)
	return to
}

// absorb merges an older session of the key m.key, whose latest one is in slot of p, into entry dst of part to, and removes it.
func (m *mergedSessions) absorb(to sessionPart, dst int32, p sessionPart, slot int32, h hit) {
	m.touch(inOlder, h.slot)
	m.to, m.from = append(m.to[:0], dst), append(m.from[:0], h.slot)
	for _, c := range m.s.prog.cells {
		c.merge(&m.t[to], m.to, &m.t[inOlder], m.from)
	}
	e, x := m.entry(to, dst), m.entry(inOlder, h.slot)
	e[wordRows] += x[wordRows]
	e[wordStart], e[wordEnd] = min(e[wordStart], x[wordStart]), max(e[wordEnd], x[wordEnd])
	m.touchOf(x).slot = -1
	m.dropBefore(p, slot, h.start)
	m.t[inOlder].h.Remove(h.slot)
	m.s.stats.RowsRemoved++
}

// render appends the rows of entries to b.
func (m *mergedSessions) render(p sessionPart, slots []int32, b *batch.Batch, fail failFunc) {
	t, unit := &m.t[p], m.s.unit
	words, w := t.h.WordsAll()
	for _, s := range slots {
		e := words[int(s)*w:]
		b.Cols[0].AppendPair(e[wordStart]/unit, e[wordEnd]/unit)
	}
	n := 1 + len(m.s.keys.cols)
	m.s.keys.show(t, slots, b.Cols[1:n])
	m.s.prog.emit(t, slots, b.Cols[n:], fail)
	b.N += len(slots)
}

// end implements sessionStore.
func (m *mergedSessions) end(ep *dataflow.Epoch, out dataflow.Emit) error {
	m.stamp = ep.Stamp()
	if m.em == nil {
		m.em = newEmitter(m.s.outTypes, nil)
	}
	em := m.em
	em.b.Reset()
	em.out = out
	if m.s.updates {
		if err := m.emitChanges(ep, em); err != nil {
			return err
		}
	}
	if m.ends[inLatest] != nil {
		if err := m.close(ep, m.s.closing(ep), em); err != nil {
			return err
		}
	}
	m.forget()
	return em.flush()
}

// forget forgets the epoch. What it noted in the entries would show in the state, where it says nothing of the sessions.
func (m *mergedSessions) forget() {
	for part := range m.t {
		if m.t[part].h == nil {
			continue
		}
		words, w := m.t[part].h.WordsAll()
		for _, x := range m.touched {
			if int(x.part) == part && x.slot >= 0 {
				words[int(x.slot)*w+wordTouch] = 0
			}
		}
	}
	m.touched, m.old, m.oldBad = m.touched[:0], nil, nil
}

// emitChanges gives, for every session that changed, the row it stood for and the one it stands for now.
func (m *mergedSessions) emitChanges(ep *dataflow.Epoch, em *emitter) error {
	for lo := 0; lo < len(m.touched); lo += batch.Target {
		part := m.touched[lo:min(lo+batch.Target, len(m.touched))]
		fresh := batch.New(m.s.outTypes, len(part))
		bad := map[int32]*sqlerr.Error{}
		for from := 0; from < len(part); {
			m.slots = m.slots[:0]
			to := from
			for ; to < len(part) && part[to].part == part[from].part; to++ {
				if s := part[to].slot; s >= 0 {
					m.slots = append(m.slots, s)
				}
			}
			base := int32(fresh.N)
			m.render(part[from].part, m.slots, fresh, func(k int, err *sqlerr.Error) { bad[base+int32(k)] = err })
			from = to
		}
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
