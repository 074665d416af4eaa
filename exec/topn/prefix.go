package topn

import (
	"bytes"
	"encoding/binary"
	"sort"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
)

// prefix is the first size rows of each partition, with ties those that sort like the last of them too. Its rows count
// with sign in the output.
type prefix struct {
	id   byte
	size int64
	sign int64
	ties bool
}

// boundary is where a prefix ends in one partition: the key of the entry that holds its last row, the length of the partition
// and sort key in that, and the number of rows in entries before it. Invariant: before < size. A nil key means that the
// partition has fewer than size rows; before is their number.
type boundary struct {
	key    []byte
	send   int
	before int64
}

func (b boundary) append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, b.before)
	dst = binary.AppendUvarint(dst, uint64(b.send))
	return append(dst, b.key...)
}

// included is how many of the w rows of an entry are in the prefix.
func (p *prefix) included(b boundary, key []byte, w int64) int64 {
	if b.key == nil {
		return w
	}
	switch c := bytes.Compare(key, b.key); {
	case c < 0:
		return w
	case c == 0 && !p.ties:
		return min(p.size-b.before, w)
	case p.ties && bytes.HasPrefix(key, b.key[:b.send]):
		return w
	}
	return 0
}

// end is the least key above every entry of which the prefix has a row, given the partition's end.
func (p *prefix) end(b boundary, partEnd []byte) []byte {
	switch {
	case b.key == nil:
		return partEnd
	case p.ties:
		return rowenc.PrefixEnd(nil, b.key[:b.send])
	}
	return append(append([]byte(nil), b.key...), 0)
}

func (t *topN) boundKey(p *prefix, part []byte) []byte { return append([]byte{p.id}, part...) }

// trimEnd is where the longest prefix of a partition ends: at key or, with ties, behind what begins as it. nil: nowhere yet.
type trimEnd struct {
	key  []byte
	ties bool
}

// before says whether a key lies beyond the end.
func (e trimEnd) before(key []byte) bool {
	return e.key != nil && bytes.Compare(key, e.key) > 0 && !(e.ties && bytes.HasPrefix(key, e.key))
}

// keepUpTo tells where the rows of a partition end that are kept, where those beyond can't come back. It aliases the table of bounds.
func (t *topN) keepUpTo(part []byte) trimEnd {
	if t.noLimit {
		return trimEnd{}
	}
	p := &t.prefixes[len(t.prefixes)-1]
	t.key = append(append(t.key[:0], p.id), part...)
	val, ok := t.bounds.Get(t.key)
	if !ok {
		return trimEnd{}
	}
	_, val = rowenc.Varint(val)
	send, key := rowenc.Uvarint(val)
	if len(key) == 0 {
		return trimEnd{}
	}
	if p.ties {
		key = key[:send]
	}
	return trimEnd{key, p.ties}
}

// load reads the boundary of a partition; it does not alias the table.
func (t *topN) load(p *prefix, part []byte) boundary {
	val, ok := t.bounds.Get(t.boundKey(p, part))
	if !ok {
		return boundary{}
	}
	var b boundary
	b.before, val = rowenc.Varint(val)
	send, val := rowenc.Uvarint(val)
	b.send = int(send)
	if len(val) > 0 {
		b.key = append([]byte(nil), val...)
	}
	return b
}

func (t *topN) save(p *prefix, part []byte, old, b boundary) {
	switch {
	case b.key == nil && b.before == 0:
		t.bounds.Delete(t.boundKey(p, part))
	case old.before != b.before || !bytes.Equal(old.key, b.key):
		t.bounds.Put(t.boundKey(p, part), b.append(nil))
	}
}

// movePrefix finds a partition's new boundary after the changes in t.group and puts what enters and leaves the prefix into t.diff.
func (t *topN) movePrefix(p *prefix, part []byte, trim bool) {
	old := t.load(p, part)
	from := old
	for _, c := range t.group {
		if old.key == nil || bytes.Compare(c.key, old.key) < 0 {
			from.before += c.w
		}
	}
	partEnd := rowenc.PrefixEnd(nil, part)
	if len(part) == 0 {
		partEnd = nil
	}
	now := t.walk(p, from, part, partEnd)
	for _, c := range t.group {
		t.change(p, c.logKey, p.included(now, c.key, c.now)-p.included(old, c.key, c.now-c.w))
	}
	t.crossed(p, old, now, part, partEnd)
	t.save(p, part, old, now)
	if trim && p.sign > 0 {
		t.trimPast(p.end(now, partEnd), partEnd)
	}
}

func (t *topN) change(p *prefix, logKey []byte, by int64) {
	if by != 0 {
		t.diff.Add(logKey, p.sign*by)
	}
}

// walk moves a boundary whose before is up to date to where the prefix ends now.
func (t *topN) walk(p *prefix, b boundary, part, partEnd []byte) boundary {
	now := boundary{before: b.before}
	if b.before >= p.size {
		t.rows.ScanDesc(part, orEnd(b.key, partEnd), func(key, val []byte) bool {
			_, send, w := readRow(val)
			now.before -= w
			if now.before < p.size {
				now.key, now.send = append([]byte(nil), key...), send
				return false
			}
			return true
		})
		return now
	}
	if b.key == nil {
		return now
	}
	t.rows.Scan(b.key, partEnd, func(key, val []byte) bool {
		_, send, w := readRow(val)
		if now.before+w >= p.size {
			now.key, now.send = append([]byte(nil), key...), send
			return false
		}
		now.before += w
		return true
	})
	return now
}

func orEnd(key, end []byte) []byte {
	if key == nil {
		return end
	}
	return key
}

// crossed puts into diff the rows between two boundaries that did not change themselves.
func (t *topN) crossed(p *prefix, old, now boundary, part, partEnd []byte) {
	if old.key == nil && now.key == nil {
		return
	}
	lo, hi := orLow(old.key, now.key), p.end(old, partEnd)
	if e := p.end(now, partEnd); e == nil || hi != nil && bytes.Compare(e, hi) > 0 {
		hi = e
	}
	t.rows.Scan(lo, hi, func(key, val []byte) bool {
		if t.changed(key) {
			return true
		}
		plen, send, w := readRow(val)
		if by := p.included(now, key, w) - p.included(old, key, w); by != 0 {
			t.change(p, t.logKey(key, plen, send), by)
		}
		return true
	})
}

// orLow is the lesser of two boundary keys, of which nil is the greatest.
func orLow(a, b []byte) []byte {
	if a == nil || b != nil && bytes.Compare(b, a) < 0 {
		return b
	}
	return a
}

// changed says whether a key is among the partition's changes.
func (t *topN) changed(key []byte) bool {
	i := sort.Search(len(t.group), func(i int) bool { return bytes.Compare(t.group[i].key, key) >= 0 })
	return i < len(t.group) && bytes.Equal(t.group[i].key, key)
}

// trimPast removes a partition's entries from lo on.
func (t *topN) trimPast(lo, partEnd []byte) {
	if lo == nil || partEnd != nil && bytes.Compare(lo, partEnd) >= 0 {
		return
	}
	var keys [][]byte
	t.rows.Scan(lo, partEnd, func(key, _ []byte) bool {
		keys = append(keys, append([]byte(nil), key...))
		return true
	})
	for _, k := range keys {
		t.rows.Delete(k)
	}
	t.stats.RowsRemoved += int64(len(keys))
}
