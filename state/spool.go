package state

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// spoolFileMin is how large a spool is that gets a file of its own. Smaller ones go through Pebble: a file costs three syncs.
const spoolFileMin = 128 << 10

// Spool takes the chunks of one large statement, or of what a source has read, before its epoch. They are
// invisible until a record refers to them (RelChange.Spooled), and dropped by
// Abort, or at the next Open if there was none. One goroutine uses a spool.
type Spool struct {
	st     *Store
	id     uint64
	chunks int
	rows   int64
	cold   bool
	buf    *[]byte // chunks that are not written yet, as a file has them
	file   *spoolFile
	stored bool // the chunks are in Pebble
}

// Spooled is a complete spool, or a reference to one in the log.
type Spooled struct {
	st     *Store
	id     uint64
	chunks int
	file   bool
}

// NewSpool starts a spool. cold says that it will not be read soon, so that its pages need not be in the cache of the operating system.
func (s *Store) NewSpool(cold bool) *Spool {
	return &Spool{st: s, id: s.nextSpool.Add(1), cold: cold, buf: encodings.Get().(*[]byte)}
}

// Append adds a copy of the batch. Errors: 53100 when space is short, 58030 when a write failed; what is left to do then is Abort.
func (sp *Spool) Append(b *batch.Batch) error {
	if sp.chunks == 0 {
		*sp.buf = (*sp.buf)[:0]
	}
	n := len(*sp.buf)
	*sp.buf = appendFrame(*sp.buf, b)
	if err := sp.st.checkSpace(len(*sp.buf)-n, sp.st.opts.ReserveBytes); err != nil {
		return err
	}
	sp.chunks++
	sp.rows += int64(b.N)
	if len(*sp.buf) < spoolWrite {
		return nil
	}
	return sp.write(false)
}

// Rows gives the number of rows appended.
func (sp *Spool) Rows() int64 { return sp.rows }

// write moves what was appended to the spool's file, all of it when it is the last of it.
func (sp *Spool) write(last bool) error {
	return sp.st.guard(func() (err error) {
		if sp.file == nil {
			if sp.file, err = sp.st.createSpoolFile(sp.id, sp.cold); err != nil {
				return spoolError(err)
			}
		}
		*sp.buf, err = sp.file.write(*sp.buf, last)
		return spoolError(err)
	})
}

// Finish gives what goes into the epoch's record, as durable as it has to be for that. Nothing can be appended afterwards. Errors as those of Append.
func (sp *Spool) Finish() (*Spooled, error) {
	defer sp.release()
	if sp.file == nil && len(*sp.buf) < sp.st.spoolFileMin {
		return &Spooled{sp.st, sp.id, sp.chunks, false}, sp.store()
	}
	err := sp.write(true)
	if err == nil {
		err = sp.st.guard(func() error { return spoolError(sp.file.finish()) })
	}
	if err != nil {
		return nil, err
	}
	sp.st.spools.complete(sp.id, sp.file.size)
	return &Spooled{sp.st, sp.id, sp.chunks, true}, nil
}

// store puts the chunks of a small spool into Pebble. The sync of the epoch's record covers what was written before it.
func (sp *Spool) store() error {
	b := sp.st.db.NewBatch()
	rest, i := *sp.buf, 0
	for len(rest) > 0 {
		var fr frame
		fr.get(rest) // it is ours
		n := fr.body() + fr.size
		if err := b.Set(spoolKey(sp.id, i), rest[fr.body():n], nil); err != nil {
			return errors.Join(err, b.Close())
		}
		rest = rest[n:]
		i++
	}
	sp.stored = true
	return sp.st.guard(func() error { return errors.Join(sp.st.db.Apply(b, pebble.NoSync), b.Close()) })
}

func (sp *Spool) release() {
	if sp.buf != nil {
		encodings.Put(sp.buf)
		sp.buf = nil
	}
}

// Abort deletes the chunks.
func (sp *Spool) Abort() error {
	sp.release()
	return sp.st.guard(func() error {
		if sp.stored {
			return sp.st.db.DeleteRange(spoolKey(sp.id, 0), spoolKey(sp.id+1, 0), pebble.NoSync)
		}
		if sp.file == nil {
			return nil
		}
		return errors.Join(sp.file.close(), sp.st.spools.remove(sp.id))
	})
}

// Each calls f with the batches, in order. A batch is valid during the call.
func (s *Spooled) Each(f func(*batch.Batch) error) error { return s.eachWith(nil, nil, f) }

// EachOf is Each with only the columns that want names by index (nil: all); the others may be nil. The memory of a batch is used for the next.
func (s *Spooled) EachOf(want []bool, f func(*batch.Batch) error) error {
	return s.eachWith(&batch.Decoder{Want: want}, nil, f)
}

// EachShape calls f with the rows and columns of the batches, in order, whose values are not read.
func (s *Spooled) EachShape(f func(rows, columns int)) error {
	return s.eachWith(&batch.Decoder{Want: []bool{}}, nil, func(b *batch.Batch) error {
		f(b.N, len(b.Cols))
		return nil
	})
}

// eachWith is Each with a decoder, as decode has it, and as of the time of an iterator (nil: now).
func (s *Spooled) eachWith(d *batch.Decoder, as *pebble.Iterator, f func(*batch.Batch) error) (err error) {
	if s.file {
		return s.eachInFile(d, f)
	}
	o := &pebble.IterOptions{LowerBound: spoolKey(s.id, 0), UpperBound: spoolKey(s.id+1, 0)}
	var it *pebble.Iterator
	if as == nil {
		it, err = s.st.db.NewIter(o)
	} else {
		it, err = as.Clone(pebble.CloneOptions{IterOptions: o})
	}
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

// trimSpools adds to b the deletion of what Pebble has of spools that entered the log.
func (s *Store) trimSpools(b *pebble.Batch, gone []spoolRef) error {
	for _, r := range gone {
		err := b.Delete(spoolRefKey(r.id), nil)
		if err == nil && !s.spools.isFile(r.id) {
			err = b.DeleteRange(spoolKey(r.id, 0), spoolKey(r.id+1, 0), nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) eachSpoolRef(f func(r spoolRef, owner catalog.OID)) error {
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
		f(spoolRef{binary.BigEndian.Uint64(it.Key()[1:]), binary.BigEndian.Uint64(v[4:])}, catalog.OID(binary.BigEndian.Uint32(v)))
	}
	return errors.Join(err, it.Error(), s.close(it))
}

// loadSpools finds, at Open, the spools of the log and the next free number.
func (s *Store) loadSpools() error {
	used := map[uint64]bool{}
	next := uint64(0)
	err := s.eachSpoolRef(func(r spoolRef, owner catalog.OID) {
		used[r.id] = true
		next = max(next, r.id)
		s.spools.enter(owner, r)
	})
	if err != nil {
		return err
	}
	last, err := s.loadSpoolFiles(used)
	if err != nil {
		return err
	}
	s.nextSpool.Store(max(next, last))
	if s.opts.ReadOnly {
		return nil
	}
	return s.dropLostSpools(used)
}

// dropLostSpools deletes, at Open, what Pebble has of spools that did not make it into an epoch.
func (s *Store) dropLostSpools(used map[uint64]bool) error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{keySpool}, UpperBound: []byte{keySpool + 1}})
	if err != nil {
		return err
	}
	var lost []uint64
	for ok := it.First(); ok && len(it.Key()) == 13; {
		id := binary.BigEndian.Uint64(it.Key()[1:])
		s.nextSpool.Store(max(s.nextSpool.Load(), id))
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
	for _, id := range lost {
		if err := s.db.DeleteRange(spoolKey(id, 0), spoolKey(id+1, 0), pebble.NoSync); err != nil {
			return err
		}
	}
	return nil
}
