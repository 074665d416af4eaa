package state

import (
	"bytes"
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/state/table"
)

// Section is what a checkpoint writes of one space or relation: frozen between
// two epochs, written by anyone.
type Section struct {
	prefix  []byte        // of all its keys, but those of records
	ranges  []table.Range // to delete first, full keys
	each    func(f func(c change) error) error
	records []record // small records elsewhere, of keyCount
	bytes   int64
	entries int64
	scanned bool // its keys are read one after the other, seldom one alone
	sorted  func()
	written func(p *pin)
}

// record is a small key of a section that lies elsewhere; val nil: it is deleted.
type record struct{ key, val []byte }

// change is one key of a section, in ascending order.
type change struct {
	op       op
	key, val []byte
}

type op uint8

const (
	opSet   op = iota
	opMerge    // with what there is (merge.go)
	opDelete
)

// Bytes gives the size of what the section writes; of operator state it is known once it is being written.
func (s *Section) Bytes() int64 { return s.bytes }

// Entries gives the number of keys that the section writes; of operator state it is known once it is being written.
func (s *Section) Entries() int64 { return s.entries }

// SpaceSection is the section of a view's operator state. f must be complete when the section is written.
func SpaceSection(view catalog.OID, f *table.Frozen) *Section {
	s := &Section{prefix: relationKey(keySpace, view)}
	// Sizes are known when everything is copied, the ranges after sorting, which is the writer's work.
	s.sorted = func() {
		s.bytes, s.entries = f.Bytes(), int64(f.Len())
		s.ranges = nil
		for _, r := range f.Ranges() {
			s.ranges = append(s.ranges, table.Range{Lo: join(s.prefix, r.Lo), Hi: join(s.prefix, r.Hi)})
		}
	}
	s.each = func(g func(c change) error) error {
		var key []byte
		return f.Each(func(c table.Change) error {
			key = append(append(key[:0], s.prefix...), c.Key...)
			if c.Delete {
				return g(change{op: opDelete, key: key})
			}
			if c.Merge {
				return g(change{op: opMerge, key: key, val: c.Val})
			}
			return g(change{op: opSet, key: key, val: c.Val})
		})
	}
	s.written = func(*pin) { f.Written() }
	return s
}

func join(a, b []byte) []byte { return append(append(make([]byte, 0, len(a)+len(b)), a...), b...) }

// count is what a relation holds as of a checkpoint.
type count struct {
	rows        int64
	first, next uint64 // Chunks: numbers of the chunks on disk
}

func (c *count) encode() []byte {
	return binary.AppendUvarint(binary.AppendUvarint(binary.AppendVarint(nil, c.rows), c.first), c.next)
}

func decodeCount(v []byte) (*count, bool) {
	p := parser{b: v}
	c := &count{p.varint(), p.uvarint(), p.uvarint()}
	return c, !p.bad && len(p.b) == 0 && c.first <= c.next && c.rows >= 0
}

func (s *Store) loadCounts() error {
	return s.scanKeys([]byte{keyCount}, func(k, v []byte) error {
		c, ok := decodeCount(v)
		if len(k) != 5 || !ok {
			return corrupt("numbers of a relation are malformed: %x = %x", k, v)
		}
		s.contents[catalog.OID(binary.BigEndian.Uint32(k[1:]))] = c
		return nil
	})
}

// noteCounts keeps what the checkpoint holds in numbers for relations that are opened later.
func (s *Store) noteCounts(records []record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range records {
		oid := catalog.OID(binary.BigEndian.Uint32(r.key[1:]))
		delete(s.contents, oid)
		if c, ok := decodeCount(r.val); ok {
			s.contents[oid] = c
		}
	}
}

// countRecord is the record of what a relation holds, which an empty one does not have.
func countRecord(oid catalog.OID, c count) record {
	r := record{key: relationKey(keyCount, oid)}
	if c.rows != 0 || c.first != c.next {
		r.val = c.encode()
	}
	return r
}

// countOf gives what the checkpoint holds of a relation.
func (s *Store) countOf(oid catalog.OID) count {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.contents[oid]; c != nil {
		return *c
	}
	return count{}
}

// compareSections orders sections by their keys.
func compareSections(a, b *Section) int { return bytes.Compare(a.prefix, b.prefix) }

// DropSpaceSection deletes the operator state of a view of which no Space is open.
func DropSpaceSection(view catalog.OID) *Section {
	prefix := relationKey(keySpace, view)
	return &Section{
		prefix:  prefix,
		ranges:  []table.Range{{Lo: prefix, Hi: after(prefix)}},
		each:    func(func(change) error) error { return nil },
		written: func(*pin) {},
	}
}
