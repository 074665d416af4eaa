package agg

import (
	"bytes"
	"cmp"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/state/table"
)

// closed is a session that the watermark closes.
type closed struct {
	end, start int64
	slot       int32
	part       sessionPart
}

// expiredKeys are keys that came off a list of ends, and the times at which they were there.
type expiredKeys struct {
	at    []int64
	ints  []int64
	bytes lookup
	slots []int32 // of some of them
	due   []int32 // those of them that are listed
	older lookup  // older sessions of these

	addInt   func(at, key int64) // noteInt and noteBytes
	addBytes func(at int64, key []byte)
}

func (x *expiredKeys) noteInt(at, key int64) {
	x.at, x.ints = append(x.at, at), append(x.ints, key)
}

func (x *expiredKeys) noteBytes(at int64, key []byte) {
	x.at = append(x.at, at)
	x.bytes.add(key)
}

// close removes the sessions that end at or before the watermark, by end, then key; in append mode they come out then.
func (m *mergedSessions) close(ep *dataflow.Epoch, after dataflow.Watermark, em *emitter) error {
	m.closing = m.closing[:0]
	for _, x := range m.touched {
		if x.isNew && x.slot >= 0 && x.part != inOlder {
			m.dueUnlisted(after, x)
		}
	}
	for _, x := range m.early {
		m.dueUnlisted(after, x)
	}
	m.early = m.early[:0]
	for p, ends := range m.ends {
		if ends == nil {
			continue
		}
		if after != dataflow.NoWatermark {
			m.expire(sessionPart(p), after)
		}
		ends.Write(ep)
	}
	m.closer.sort(m)
	n := len(m.closing)
	parts := (n + windowRows - 1) / windowRows // of one size
	for i := range parts {
		if err := m.closeSome(ep, m.closing[i*n/parts:(i+1)*n/parts], em); err != nil {
			return err
		}
	}
	return nil
}

// expire looks at the keys whose time in a list of ends has come.
func (m *mergedSessions) expire(p sessionPart, after dataflow.Watermark) {
	x, ends := &m.expired, m.ends[p]
	x.at, x.ints = x.at[:0], x.ints[:0]
	x.bytes.reset()
	if x.slots == nil {
		x.slots = make([]int32, applyRows)
		x.addInt, x.addBytes = x.noteInt, x.noteBytes
	}
	if m.t[p].intKey {
		ends.ExpireInts(int64(after), x.addInt)
	} else {
		ends.ExpireBytes(int64(after), x.addBytes)
	}
	for lo := 0; lo < len(x.at); lo += applyRows { // in blocks that stay in the near caches
		m.expireSome(p, after, lo, min(lo+applyRows, len(x.at)))
	}
}

// expireSome is expire for some of the keys.
func (m *mergedSessions) expireSome(p sessionPart, after dataflow.Watermark, lo, hi int) {
	x, t := &m.expired, &m.t[p]
	slots := x.slots[:hi-lo]
	if t.intKey {
		t.h.FindManyInts(x.ints[lo:hi], slots)
	} else {
		t.h.FindManyBytes(x.bytes.hashes[lo:hi], x.bytes.off[lo:], x.bytes.data, slots)
	}
	words, w := t.h.WordsAll()
	x.due = x.due[:0]
	for i, slot := range slots {
		if slot < 0 {
			continue // it has no session any more
		}
		if e := words[int(slot)*w+m.wMore:]; e[moreCount]&moreListed != 0 && e[moreDue] == x.at[lo+i] {
			e[moreCount] &^= moreListed
			x.due = append(x.due, slot)
		}
	}
	m.near(words, w, wordEnd, x.due)
	older := m.findBefore(p, x.due)
	for _, slot := range x.due {
		n := m.entry(p, slot)[m.wMore+moreCount] & moreInEntry
		m.due(after, p, slot, older[:n])
		older = older[n:]
	}
}

// findBefore finds the older sessions that entries of latest ones know, one after the other.
func (m *mergedSessions) findBefore(p sessionPart, slots []int32) []int32 {
	x := &m.expired.older
	x.reset()
	for _, slot := range slots {
		e := m.entry(p, slot)[m.wMore:]
		n := e[moreCount] & moreInEntry
		if n == 0 {
			continue
		}
		m.key = m.appendKey(m.key[:0], p, slot)
		for _, start := range e[moreBefore : moreBefore+n] {
			x.add(m.olderKey(start))
		}
	}
	found := x.find(m.t[inOlder].h)
	words, w := m.t[inOlder].h.WordsAll()
	m.near(words, w, wordEnd, found)
	return found
}

// dueUnlisted is due for the key of a latest session, unless it is listed.
func (m *mergedSessions) dueUnlisted(after dataflow.Watermark, x sessionTouch) {
	switch more := m.entry(x.part, x.slot)[m.wMore+moreCount]; {
	case more == 0:
		m.due(after, x.part, x.slot, nil)
	case more&moreListed == 0:
		m.one[0] = x.slot
		m.due(after, x.part, x.slot, m.findBefore(x.part, m.one[:]))
	}
}

// due looks at the sessions of a key that is not listed in ends: those that have ended are to be closed, and if any are left the key is listed
// with the time when the first of them ends. before are the older ones that its entry knows.
func (m *mergedSessions) due(after dataflow.Watermark, p sessionPart, slot int32, before []int32) {
	next := int64(rowenc.Never)
	if m.entry(p, slot)[m.wMore+moreCount] != 0 {
		next = m.dueOlder(after, p, slot, before)
	}
	e := m.entry(p, slot)
	if end := e[wordEnd]; after.Late(end) {
		m.closing = append(m.closing, closed{end, e[wordStart], slot, p})
		e[m.wMore+moreCount], e[m.wMore+moreDue] = moreListed, rowenc.Never // it is not looked at again
		return
	} else if end < next {
		next = end
	}
	m.list(p, slot, next)
}

// list enters a key in ends.
func (m *mergedSessions) list(p sessionPart, slot int32, at int64) {
	t := &m.t[p]
	e := m.entry(p, slot)[m.wMore:]
	e[moreCount] |= moreListed
	e[moreDue] = at
	if t.intKey {
		m.ends[p].AddInt(at, t.h.KeyInt(slot))
	} else {
		m.ends[p].AddBytes(at, t.h.Key(slot))
	}
	t.h.MarkDirty([]int32{slot})
}

// dueEarlier sees to it that a key that is listed in ends is looked at, at the end of the epoch, where an older session was made that ends at end.
func (m *mergedSessions) dueEarlier(p sessionPart, slot int32, end int64) {
	if e := m.entry(p, slot)[m.wMore:]; e[moreCount]&moreListed != 0 && end < e[moreDue] {
		e[moreCount] &^= moreListed
		m.early = append(m.early, sessionTouch{slot: slot, part: p})
	}
}

// dueOlder is due for the older sessions of a key. It gives when the first of those that stay ends.
func (m *mergedSessions) dueOlder(after dataflow.Watermark, p sessionPart, slot int32, before []int32) int64 {
	m.key = m.appendKey(m.key[:0], p, slot)
	next, from := int64(rowenc.Never), len(m.closing)
	for _, s := range before {
		next = min(next, m.dueSlot(after, s))
	}
	if m.entry(p, slot)[m.wMore+moreCount]>>moreBits > 0 {
		next = min(next, m.dueStarts(after))
	}
	for _, c := range m.closing[from:] {
		m.dropBefore(p, slot, c.start)
	}
	return next
}

// dueSlot closes an older session if it has ended, else it gives when it ends.
func (m *mergedSessions) dueSlot(after dataflow.Watermark, slot int32) int64 {
	e := m.entry(inOlder, slot)
	if end := e[wordEnd]; !after.Late(end) {
		return end
	}
	m.closing = append(m.closing, closed{e[wordEnd], e[wordStart], slot, inOlder})
	return rowenc.Never
}

// dueStarts is dueOlder for the sessions in starts, which end in the order in which they begin.
func (m *mergedSessions) dueStarts(after dataflow.Watermark) int64 {
	n, next := len(m.key), int64(rowenc.Never)
	m.starts.Scan(m.key, table.PrefixEnd(m.key), func(k, _ []byte) bool {
		next = m.dueSlot(after, m.older(readTime(k[n:])))
		return next == rowenc.Never
	})
	return next
}

// appendKey appends the key bytes of an entry, as keySet.append gives them.
func (m *mergedSessions) appendKey(dst []byte, p sessionPart, slot int32) []byte {
	dst = m.t[p].appendKey(dst, slot)
	if p == inOlder {
		return dst[:len(dst)-olderKeyTail]
	}
	return dst
}

// closer orders sessions that close, and makes their rows.
type closer struct {
	by    sorter
	list  []closed
	x, y  []byte
	parts [2]*batch.Batch // rows of latest sessions, and of older ones
	at    [2][]int32      // where these rows are to be
	picks []int32

	fail    failFunc // of the list that is being rendered
	failing []int32  // places in it of the rows at hand
	failed  failFunc // failAt
}

// failAt is told which row of those at hand failed.
func (c *closer) failAt(k int, err *sqlerr.Error) { c.fail(int(c.failing[k]), err) }

// sort orders m.closing by end, key and start.
func (c *closer) sort(m *mergedSessions) {
	if len(m.closing) < 2 {
		return
	}
	c.picks = c.picks[:0]
	for i := range m.closing {
		c.picks = append(c.picks, int32(i))
	}
	m.order = closingOrder{c, m}
	c.by.sort(&m.order, c.picks)
	c.list = c.list[:0]
	for _, i := range c.picks {
		c.list = append(c.list, m.closing[i])
	}
	m.closing, c.list = c.list, m.closing
}

// closingOrder orders what closes, by its place in m.closing.
type closingOrder struct {
	c *closer
	m *mergedSessions
}

func (o closingOrder) keyHeads(at []int32, _ int, heads []uint64) int {
	for k, i := range at {
		heads[k] = uint64(o.m.closing[i].end) ^ signBit
	}
	return 0
}

func (o closingOrder) headsDecide() bool { return false }

func (o closingOrder) compareKeys(i, j int32) int {
	x, y := o.m.closing[i], o.m.closing[j]
	if x.end != y.end {
		return cmp.Compare(x.end, y.end)
	}
	o.c.x, o.c.y = o.m.appendKey(o.c.x[:0], x.part, x.slot), o.m.appendKey(o.c.y[:0], y.part, y.slot)
	return cmp.Or(bytes.Compare(o.c.x, o.c.y), cmp.Compare(x.start, y.start))
}

// render appends the rows of sessions to b, which is empty.
func (c *closer) render(m *mergedSessions, list []closed, b *batch.Batch, fail failFunc) {
	// Rows are made by table, a column at a time, and then put in their order.
	c.picks = c.picks[:0]
	if c.fail = fail; c.failed == nil {
		c.failed = c.failAt
	}
	for i := range c.parts {
		if c.parts[i] == nil {
			c.parts[i] = batch.New(m.s.outTypes, 0)
		}
		c.parts[i].Reset()
		c.at[i] = c.at[i][:0]
	}
	for i, x := range list {
		k := int32(0)
		if x.part == inOlder {
			k = 1
		}
		c.picks = append(c.picks, int32(len(c.at[k]))<<1|k)
		c.at[k] = append(c.at[k], int32(i))
	}
	for k, at := range c.at {
		to := c.parts[k]
		if len(at) == len(list) {
			to = b
		}
		for lo := 0; lo < len(at); {
			m.slots = m.slots[:0]
			hi := lo
			for part := list[at[lo]].part; hi < len(at) && list[at[hi]].part == part; hi++ {
				m.slots = append(m.slots, list[at[hi]].slot)
			}
			c.failing = at[lo:hi]
			m.render(list[at[lo]].part, m.slots, to, c.failed)
			lo = hi
		}
		if len(at) == len(list) {
			return
		}
	}
	for i, v := range b.Cols {
		pick(v, c.parts[0].Cols[i], c.parts[1].Cols[i], c.picks)
	}
	b.N = len(list)
}

// closeSome removes sessions, of which a batch may hold the rows.
func (m *mergedSessions) closeSome(ep *dataflow.Epoch, list []closed, em *emitter) error {
	if m.s.mode == catalog.Append {
		fresh := m.fresh.next(m.s.outTypes, len(list), max(len(list), min(8*len(list), 4*windowRows)), -1) // others close in the next epochs
		if m.noteBad == nil {
			m.noteBad = func(k int, err *sqlerr.Error) {
				if m.bad == nil {
					m.bad = map[int32]*sqlerr.Error{}
				}
				m.bad[int32(k)] = err
			}
		}
		m.closer.render(m, list, fresh, m.noteBad)
		bad := m.bad
		if m.bad = nil; bad == nil {
			if err := em.flush(); err != nil {
				return err
			}
			if err := m.fresh.giveAway(fresh, em.out); err != nil {
				return err
			}
		}
		for i := 0; bad != nil && i < fresh.N; i++ { // some go to the dead letters
			c := rowChange{fresh: fresh, bad: bad, o: -1, n: int32(i)}
			if err := c.emit(ep, em); err != nil {
				return err
			}
		}
	}
	for _, x := range list {
		m.t[x.part].h.Remove(x.slot)
	}
	m.s.stats.RowsRemoved += int64(len(list))
	return nil
}
