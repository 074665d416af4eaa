package agg

import (
	"cmp"
	"slices"

	"github.com/tidemarkdb/tidemark/sql/batch"
)

// Sessions that are not the latest of their key. The entry of the latest one has the starts of two of them, the others' are in an ordered
// table, so that a key may have many sessions that are not closed. Wherever a key is needed, it is in m.key.

// olderKey builds the key of an older session's entry, its columns encoded like all keys.
func (m *mergedSessions) olderKey(start int64) []byte {
	m.okey = appendTime(append(append(m.okey[:0], m.key...), 1), start)
	return m.okey
}

// olderKeyTail is how many bytes olderKey appends to the key.
const olderKeyTail = 9

// addOlder makes the entry of an older session.
func (m *mergedSessions) addOlder(start int64) int32 {
	return m.t[inOlder].h.FindOrAddKey(m.olderKey(start))
}

// older finds the entry of an older session, which must be there.
func (m *mergedSessions) older(start int64) int32 { return m.t[inOlder].h.FindBytes(m.olderKey(start)) }

// startKey builds the key of an older session in starts.
func (m *mergedSessions) startKey(start int64) []byte {
	m.skey = appendTime(append(m.skey[:0], m.key...), start)
	return m.skey
}

// demote makes the session in an entry of the latest ones an older one, and leaves the entry empty. Row r, of b, has its key.
func (m *mergedSessions) demote(p sessionPart, slot int32, b *batch.Batch, r int32) {
	e := m.entry(p, slot)
	if e[wordEpoch] == m.stamp && e[wordTouch]>>32 == m.block {
		m.flush(b) // rows of it may be pending
	}
	m.key = m.s.keys.append(m.key[:0], int(r))
	start := e[wordStart]
	m.move(p, slot, start)
	clear(e[:m.s.prog.words])
	if t := &m.t[p]; t.h.Blob(slot) != nil {
		t.h.SetBlob(slot, nil)
	}
	m.noteBefore(p, slot, start)
}

// move copies a session, with no rows pending, to the entry of an older session that begins at start.
func (m *mergedSessions) move(p sessionPart, slot int32, start int64) int32 {
	to := m.addOlder(start)
	e, x := m.entry(inOlder, to), m.entry(p, slot)
	copy(e, x[:len(e)])
	if b := m.t[p].h.Blob(slot); b != nil {
		m.t[inOlder].h.SetBlob(to, b)
	}
	e[wordStart] = start
	if t := m.touchOf(e); t != nil {
		t.part, t.slot = inOlder, to
	}
	return to
}

// noteBefore notes that the key of a latest session has an older one.
func (m *mergedSessions) noteBefore(p sessionPart, slot int32, start int64) {
	e := m.entry(p, slot)[m.wMore:]
	if n := e[moreCount] & moreInEntry; n < maxBefore {
		e[moreBefore+n] = start
		e[moreCount]++
	} else {
		m.starts.Put(m.startKey(start), nil)
		e[moreCount] += 1 << moreBits
	}
	m.t[p].h.MarkDirty([]int32{slot})
}

// dropBefore undoes noteBefore.
func (m *mergedSessions) dropBefore(p sessionPart, slot int32, start int64) {
	e := m.entry(p, slot)[m.wMore:]
	m.t[p].h.MarkDirty([]int32{slot})
	n := e[moreCount] & moreInEntry
	before := e[moreBefore : moreBefore+n]
	if i := slices.Index(before, start); i >= 0 {
		before[i] = before[n-1]
		before[n-1] = 0
		e[moreCount]--
		return
	}
	m.starts.Delete(m.startKey(start))
	e[moreCount] -= 1 << moreBits
}

// findOlder lists in m.hits the older sessions of the latest one's key that touch [t, end], by start.
func (m *mergedSessions) findOlder(p sessionPart, slot int32, t, end int64) {
	m.hits = m.hits[:0]
	e := m.entry(p, slot)[m.wMore:]
	for _, start := range e[moreBefore : moreBefore+e[moreCount]&moreInEntry] {
		if start > end {
			continue
		}
		if s := m.older(start); m.entry(inOlder, s)[wordEnd] >= t {
			m.hits = append(m.hits, hit{start, s})
		}
	}
	if e[moreCount]>>moreBits > 0 {
		m.findInStarts(t, end)
	}
	if len(m.hits) > 1 {
		slices.SortFunc(m.hits, func(x, y hit) int { return cmp.Compare(x.start, y.start) })
	}
}

// findInStarts is findOlder for the sessions in starts.
func (m *mergedSessions) findInStarts(t, end int64) {
	n := len(m.key)
	m.starts.ScanDesc(m.key, m.startKey(end+1), func(k, _ []byte) bool {
		h := hit{start: readTime(k[n:])}
		h.slot = m.older(h.start)
		if m.entry(inOlder, h.slot)[wordEnd] < t {
			return false
		}
		m.hits = append(m.hits, h)
		return true
	})
}
