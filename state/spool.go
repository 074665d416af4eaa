package state

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// Spool takes the chunks of one large statement before its epoch. They are
// invisible until a record refers to them (RelChange.Spooled), and dropped by
// Abort, or at the next Open if there was none. One goroutine uses a spool.
type Spool struct {
	st     *Store
	id     uint64
	chunks int
	rows   int64
	buf    []byte
}

// Spooled is a complete spool, or a reference to one in the log.
type Spooled struct {
	st     *Store
	id     uint64
	chunks int
}

// NewSpool starts a spool.
func (s *Store) NewSpool() *Spool { return &Spool{st: s, id: s.nextSpool.Add(1)} }

// Append adds a copy of the batch. Errors as those of AppendEpoch.
func (sp *Spool) Append(b *batch.Batch) error {
	sp.buf = batch.Encode(sp.buf[:0], b)
	if err := sp.st.checkSpace(len(sp.buf), sp.st.opts.ReserveBytes); err != nil {
		return err
	}
	k := spoolKey(sp.id, sp.chunks)
	// The sync of the epoch's record covers what was written before it.
	if err := sp.st.guard(func() error { return sp.st.db.Set(k, sp.buf, pebble.NoSync) }); err != nil {
		return err
	}
	sp.chunks++
	sp.rows += int64(b.N)
	return nil
}

// Rows gives the number of rows appended.
func (sp *Spool) Rows() int64 { return sp.rows }

// Finish gives what goes into the epoch's record. Nothing can be appended afterwards.
func (sp *Spool) Finish() *Spooled { return &Spooled{sp.st, sp.id, sp.chunks} }

// Abort deletes the chunks.
func (sp *Spool) Abort() error {
	return sp.st.guard(func() error {
		return sp.st.db.DeleteRange(spoolKey(sp.id, 0), spoolKey(sp.id+1, 0), pebble.NoSync)
	})
}

// Each calls f with the batches, in order. A batch is valid during the call.
func (s *Spooled) Each(f func(*batch.Batch) error) error { return s.eachWith(nil, f) }

// eachWith is Each with a decoder, as decode has it.
func (s *Spooled) eachWith(d *batch.Decoder, f func(*batch.Batch) error) error {
	it, err := s.st.db.NewIter(&pebble.IterOptions{LowerBound: spoolKey(s.id, 0), UpperBound: spoolKey(s.id+1, 0)})
	if err != nil {
		return err
	}
	return errors.Join(s.each(it, d, f), s.st.close(it))
}

func (s *Spooled) each(it *pebble.Iterator, d *batch.Decoder, f func(*batch.Batch) error) error {
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		b, err := decode(d, v)
		if err != nil {
			return corrupt("spooled chunk %x: %v", it.Key(), err)
		}
		n++
		if err := f(b); err != nil {
			return err
		}
	}
	if err := it.Error(); err != nil {
		return err
	}
	if n != s.chunks {
		return corrupt("spool %d has %d chunks instead of %d", s.id, n, s.chunks)
	}
	return nil
}

// trimSpools adds to b the deletion of the spools that entered oid before an epoch.
func (s *Store) trimSpools(b *pebble.Batch, oid catalog.OID, before uint64) error {
	return s.eachSpoolRef(func(id uint64, owner catalog.OID, epoch uint64) error {
		if owner != oid || epoch >= before {
			return nil
		}
		return errors.Join(b.DeleteRange(spoolKey(id, 0), spoolKey(id+1, 0), nil), b.Delete(spoolRefKey(id), nil))
	})
}

func (s *Store) eachSpoolRef(f func(id uint64, owner catalog.OID, epoch uint64) error) error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{keySpoolRef}, UpperBound: []byte{keySpoolRef + 1}})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var v []byte
		if v, err = it.ValueAndErr(); err != nil {
			break
		}
		if len(it.Key()) != 9 || len(v) != 12 {
			err = corrupt("reference to a spool is malformed: %x = %x", it.Key(), v)
			break
		}
		err = f(binary.BigEndian.Uint64(it.Key()[1:]), catalog.OID(binary.BigEndian.Uint32(v)), binary.BigEndian.Uint64(v[4:]))
	}
	return errors.Join(err, it.Error(), s.close(it))
}

// dropLostSpools deletes, at Open, the spools of statements that did not make
// it into an epoch, and finds the next free number.
func (s *Store) dropLostSpools() error {
	used := map[uint64]bool{}
	next := uint64(0)
	err := s.eachSpoolRef(func(id uint64, _ catalog.OID, _ uint64) error {
		used[id] = true
		next = max(next, id)
		return nil
	})
	if err != nil {
		return err
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{keySpool}, UpperBound: []byte{keySpool + 1}})
	if err != nil {
		return err
	}
	var lost []uint64
	for ok := it.First(); ok && len(it.Key()) == 13; {
		id := binary.BigEndian.Uint64(it.Key()[1:])
		next = max(next, id)
		if !used[id] {
			lost = append(lost, id)
		}
		if id == math.MaxUint64 {
			break
		}
		ok = it.SeekGE(spoolKey(id+1, 0))
	}
	if err := errors.Join(it.Error(), s.close(it)); err != nil {
		return err
	}
	s.nextSpool.Store(next)
	for _, id := range lost {
		if err := s.db.DeleteRange(spoolKey(id, 0), spoolKey(id+1, 0), pebble.NoSync); err != nil {
			return err
		}
	}
	return nil
}
