package state

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/state/table"
)

// VerifyReport is what Verify found.
type VerifyReport struct {
	Keys       int64
	Bytes      int64
	FirstEpoch uint64 // of the log; 0: it is empty
	LastEpoch  uint64
	Rows       map[catalog.OID]int64 // contents by relation
	Problems   []string              // at most maxProblems
}

const maxProblems = 100

func (r *VerifyReport) problem(format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// Verify reads the whole store, checksums included, and checks every key and
// value by its kind. What is wrong goes into the report; an error means that
// reading could not go on.
func (s *Store) Verify(r *VerifyReport) error {
	r.Rows = map[catalog.OID]int64{}
	v := verifier{s: s, r: r, spools: map[uint64]int{}, spaces: map[catalog.OID]*table.Checker{}, counted: map[catalog.OID]bool{}}
	mark, _, err := s.checkpointMark()
	if err != nil {
		r.problem("%v", err)
	}
	v.mark = mark
	it, err := s.db.NewIter(nil)
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		val, err := it.ValueAndErr()
		if err != nil {
			break
		}
		r.Keys++
		r.Bytes += int64(len(it.Key()) + len(val))
		v.key(it.Key(), val)
	}
	err = it.Error()
	if err != nil && pebble.IsCorruptionError(err) {
		r.problem("%v", err)
		err = nil
	}
	v.finish()
	return errors.Join(err, s.close(it))
}

type verifier struct {
	s       *Store
	r       *VerifyReport
	mark    uint64         // epoch of the checkpoint
	spools  map[uint64]int // chunks seen, by spool
	refs    []uint64
	spaces  map[catalog.OID]*table.Checker
	counted map[catalog.OID]bool
}

func (v *verifier) key(k, val []byte) {
	rest := k[1:]
	switch k[0] {
	case keyEpoch:
		v.epoch(k, val)
	case keyChunk:
		v.chunk(k, val)
	case keySpool:
		if len(rest) != 12 {
			v.r.problem("key %x of a spooled chunk is malformed", k)
			return
		}
		v.spools[binary.BigEndian.Uint64(rest)]++
		if _, err := batch.Decode(val); err != nil {
			v.r.problem("spooled chunk %x: %v", k, err)
		}
	case keySpoolRef:
		if len(rest) != 8 || len(val) != 12 {
			v.r.problem("reference %x to a spool is malformed", k)
			return
		}
		v.refs = append(v.refs, binary.BigEndian.Uint64(rest))
	case keySpace:
		v.space(k, val)
	case keyContent:
		v.content(k, val)
	case keyRow:
		v.row(k, val)
	case keyCount:
		v.count(k, val)
	case keyInfo, keyMark:
	default:
		v.r.problem("key %x is of no known kind", k)
	}
}

func (v *verifier) epoch(k, val []byte) {
	if len(k) != 9 {
		v.r.problem("key %x of an epoch is malformed", k)
		return
	}
	epoch := binary.BigEndian.Uint64(k[1:])
	if v.r.LastEpoch > 0 && epoch != v.r.LastEpoch+1 {
		v.r.problem("epochs %d to %d are missing from the input log", v.r.LastEpoch+1, epoch-1)
	}
	if v.r.FirstEpoch == 0 {
		v.r.FirstEpoch = epoch
	}
	v.r.LastEpoch = epoch
	rec, err := parseHeader(epoch, val)
	if err != nil {
		v.r.problem("%v", err)
		return
	}
	if epoch <= v.mark {
		return // chunks before the checkpoint may be trimmed
	}
	for i := range rec.Changes {
		if _, closer, err := v.s.db.Get(chunkKey(rec.Changes[i].OID, epoch, i)); err != nil {
			v.r.problem("chunk %d of epoch %d, relation %d: %v", i, epoch, rec.Changes[i].OID, err)
		} else {
			_ = v.s.close(closer) // always nil
		}
	}
}

func (v *verifier) chunk(k, val []byte) {
	if len(k) != 17 {
		v.r.problem("key %x of a chunk is malformed", k)
		return
	}
	_, sp, err := v.s.parseChunk(val, nil)
	if err == nil && sp != nil && sp.file {
		v.spools[sp.id] += sp.chunks
		err = sp.Each(func(*batch.Batch) error { return nil })
	}
	if err != nil {
		v.r.problem("chunk %x: %v", k, err)
	}
}

func (v *verifier) space(k, val []byte) {
	if len(k) < 6 {
		v.r.problem("key %x of operator state is malformed", k)
		return
	}
	oid := catalog.OID(binary.BigEndian.Uint32(k[1:]))
	c := v.spaces[oid]
	if c == nil {
		c = table.NewChecker()
		v.spaces[oid] = c
		lo, hi := table.MetaRange()
		b := &backing{st: v.s, prefix: relationKey(keySpace, oid)}
		defer b.release()
		err := b.Scan(lo, hi, false, func(k, val []byte) bool {
			if err := c.Declare(k, val); err != nil {
				v.r.problem("state of view %d: %v", oid, err)
			}
			return true
		})
		if err != nil {
			v.r.problem("state of view %d: %v", oid, err)
		}
	}
	lo, _ := table.MetaRange()
	if k[5] == lo[0] {
		return
	}
	if err := c.Add(k[5:], val); err != nil {
		v.r.problem("state of view %d: %v", oid, err)
	}
}

func (v *verifier) content(k, val []byte) {
	if len(k) != 13 {
		v.r.problem("key %x of a chunk of contents is malformed", k)
		return
	}
	b, err := batch.Decode(val)
	if err != nil {
		v.r.problem("chunk of contents %x: %v", k, err)
		return
	}
	oid := catalog.OID(binary.BigEndian.Uint32(k[1:]))
	c := v.s.countOf(oid)
	if seq := binary.BigEndian.Uint64(k[5:]); seq >= c.first && seq < c.next {
		v.r.Rows[oid] += totalWeight(b)
	} else if seq >= c.next {
		v.r.problem("relation %d has a chunk %d beyond its end at %d", oid, seq, c.next)
	}
}

func (v *verifier) row(k, val []byte) {
	w, klen, err := readWeight(val)
	if err != nil || len(k) < 5 || klen > uint64(len(k)-5) || w <= 0 {
		v.r.problem("row %x has malformed weight %x", k, val)
		return
	}
	v.r.Rows[catalog.OID(binary.BigEndian.Uint32(k[1:]))] += w
}

func (v *verifier) count(k, val []byte) {
	c, ok := decodeCount(val)
	if len(k) != 5 || !ok {
		v.r.problem("numbers %x = %x of a relation are malformed", k, val)
		return
	}
	oid := catalog.OID(binary.BigEndian.Uint32(k[1:]))
	v.counted[oid] = true // counts come after contents
	if v.r.Rows[oid] != c.rows {
		v.r.problem("relation %d has %d rows instead of %d", oid, v.r.Rows[oid], c.rows)
	}
}

func (v *verifier) finish() {
	for _, id := range v.refs {
		if v.spools[id] == 0 {
			v.r.problem("spool %d has no chunks", id)
		}
	}
	for oid, n := range v.r.Rows {
		if n != 0 && !v.counted[oid] {
			v.r.problem("relation %d has %d rows and no record of them", oid, n)
		}
	}
	for oid, c := range v.spaces {
		for _, p := range c.Problems() {
			v.r.problem("state of view %d: %s", oid, p)
		}
	}
}
