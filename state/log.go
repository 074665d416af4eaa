package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// EpochRecord is all that an epoch takes in: views, contents and watermarks are
// functions of these records.
type EpochRecord struct {
	Epoch      uint64
	Timestamp  int64 // microseconds since 1970 UTC: now() within the epoch
	Changes    []RelChange
	Watermarks []StreamMark // of the streams whose mark the epoch moved
	Events     []byte       // catalog events, opaque here
	Meta       []byte       // source offsets and whatever else replay needs, opaque here
	// UseReserve lets the record be written where space is short: it leads to space being freed. It is not stored.
	UseReserve bool
	// Lazy says that the record need not be durable when AppendEpoch's wait returns; SyncLog makes it so. It is not stored.
	Lazy bool
}

// RelChange is a change of one base relation: a batch, or what was spooled before, of which Batch may be a copy that is not written.
type RelChange struct {
	OID     catalog.OID
	Batch   *batch.Batch
	Spooled *Spooled
}

// Each calls f with the batches of the change, in order. A batch is valid during the call.
func (c *RelChange) Each(f func(*batch.Batch) error) error {
	if c.Spooled != nil {
		return c.Spooled.Each(f)
	}
	return f(c.Batch)
}

// StreamMark is where a stream's event time stands after an epoch. Times are
// microseconds since 1970 UTC, math.MinInt64 standing for none.
type StreamMark struct {
	OID          catalog.OID
	Watermark    int64
	MaxEventTime int64
	Idle         bool
}

// LastEpoch gives the newest epoch in the log, or that of the checkpoint where the log holds no later one; 0: none.
func (s *Store) LastEpoch() uint64 { return s.lastEpoch.Load() }

// AppendEpoch starts to write the record of the next epoch, which must follow
// LastEpoch. It returns when the record is with the operating system's file at
// the latest; wait returns when it is durable, and is called once. Until then nothing of the epoch
// may be published. The caller's batches are copied before AppendEpoch returns.
//
// Errors: 53100 when space is short, in which case nothing was written and the
// epoch may be tried again; 58030 when a write failed, after which the store is
// read-only. After that it is unknown whether the epoch survives a restart.
func (s *Store) AppendEpoch(rec *EpochRecord) (wait func() error, err error) {
	if last := s.LastEpoch(); last > 0 && rec.Epoch != last+1 || rec.Epoch == 0 {
		return nil, fmt.Errorf("epoch %d does not follow epoch %d", rec.Epoch, last)
	}
	b := s.db.NewBatch()
	if err := s.fillEpoch(b, rec); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	reserve := s.opts.ReserveBytes
	if rec.UseReserve {
		reserve /= 2
	}
	if err := s.checkSpace(b.Len(), reserve); err != nil {
		_ = b.Close() // it was never applied
		return nil, err
	}
	if rec.Lazy {
		if err := s.guard(func() error { return s.db.Apply(b, pebble.NoSync) }); err != nil {
			return nil, err
		}
		s.appended(rec)
		s.unsynced.Store(true)
		return b.Close, nil
	}
	if err := s.writable(); err != nil {
		return nil, err
	}
	a := s.newAppending(b, rec.Epoch)
	go a.write()
	if err := s.await(a.done); err != nil {
		return nil, err
	}
	s.appended(rec)
	return a.wait, nil
}

// appending is the record of an epoch on its way to the disk. It is used again for another one when it is there.
type appending struct {
	s     *Store
	b     *pebble.Batch
	epoch uint64
	done  chan error // gets that it is applied, then that it is synced
	// write and wait are apply and synced, made once.
	write func()
	wait  func() error
}

func (s *Store) newAppending(b *pebble.Batch, epoch uint64) *appending {
	a, ok := s.appendings.Get().(*appending)
	if !ok {
		a = &appending{s: s, done: make(chan error, 2)}
		a.write, a.wait = a.apply, a.synced
	}
	a.b, a.epoch = b, epoch
	return a
}

// apply writes the record. The goroutine that meets a failing disk does not come back.
func (a *appending) apply() {
	b := a.b
	err := a.s.db.ApplyNoSyncWait(b, pebble.Sync)
	a.done <- err
	if err == nil {
		a.done <- b.SyncWait()
	}
}

// synced waits until the record is durable.
func (a *appending) synced() error {
	if err := a.s.await(a.done); err != nil {
		// An unsynced record cannot be taken back, so nothing may be built on it.
		a.s.fail(fmt.Errorf("sync of epoch %d: %w", a.epoch, err))
		return a.s.failure
	}
	b := a.b
	a.b = nil
	a.s.appendings.Put(a)
	return b.Close()
}

// appended notes what has entered the log.
func (s *Store) appended(rec *EpochRecord) {
	s.lastEpoch.Store(rec.Epoch)
	for i := range rec.Changes {
		if c := &rec.Changes[i]; c.Spooled != nil {
			s.spools.enter(c.OID, spoolRef{c.Spooled.id, rec.Epoch})
		}
	}
}

// SyncLog returns when the records that were appended lazily before it was called are durable. Errors as those of AppendEpoch: after
// one the store is read-only.
func (s *Store) SyncLog() error {
	s.syncMu.Lock() // who comes second must not return before the first
	defer s.syncMu.Unlock()
	if !s.unsynced.Swap(false) {
		return nil
	}
	if err := s.guard(func() error { return s.db.LogData(nil, pebble.Sync) }); err != nil {
		s.fail(fmt.Errorf("sync of the log: %w", err))
		return s.failure
	}
	return nil
}

// Chunks of the log start with a byte that says what they are.
const (
	chunkBatch byte = 0
	chunkSpool byte = 1 // spool 8 | chunks 4
	chunkFile  byte = 2 // the same, of a spool with a file
)

// encodings are buffers in which epochs are encoded, one after the other; Pebble takes copies.
var encodings = sync.Pool{New: func() any { return new([]byte) }}

func (s *Store) fillEpoch(b *pebble.Batch, rec *EpochRecord) error {
	keep := encodings.Get().(*[]byte)
	defer encodings.Put(keep)
	buf := *keep
	defer func() { *keep = buf }()
	for i := range rec.Changes {
		c := &rec.Changes[i]
		if c.Spooled != nil {
			kind := chunkSpool
			if c.Spooled.file {
				kind = chunkFile
			}
			buf = binary.BigEndian.AppendUint64(append(buf[:0], kind), c.Spooled.id)
			buf = binary.BigEndian.AppendUint32(buf, uint32(c.Spooled.chunks))
			ref := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, uint32(c.OID)), rec.Epoch)
			if err := b.Set(spoolRefKey(c.Spooled.id), ref, nil); err != nil {
				return err
			}
		} else {
			buf = batch.Encode(append(buf[:0], chunkBatch), c.Batch)
		}
		if int64(b.Len())+int64(len(buf)) > math.MaxUint32/2 {
			return sqlerr.New(sqlerr.ProgramLimitExceeded, "one epoch cannot take more than 2 GB that are not spooled")
		}
		if err := b.Set(chunkKey(c.OID, rec.Epoch, i), buf, nil); err != nil {
			return err
		}
		s.logged.add(c.OID, len(buf))
	}
	buf = appendHeader(buf[:0], rec)
	return b.Set(epochKey(rec.Epoch), buf, nil)
}

const headerVersion = 1

// State: the header of an epoch is version 1 | varint timestamp | uvarint n,
// n relations | uvarint n, n marks | bytes events | bytes meta, where bytes are
// a uvarint length and the content.
func appendHeader(dst []byte, rec *EpochRecord) []byte {
	dst = binary.AppendVarint(append(dst, headerVersion), rec.Timestamp)
	dst = binary.AppendUvarint(dst, uint64(len(rec.Changes)))
	for i := range rec.Changes {
		dst = binary.AppendUvarint(dst, uint64(rec.Changes[i].OID))
	}
	dst = binary.AppendUvarint(dst, uint64(len(rec.Watermarks)))
	for _, m := range rec.Watermarks {
		dst = binary.AppendUvarint(dst, uint64(m.OID))
		dst = binary.AppendVarint(binary.AppendVarint(dst, m.Watermark), m.MaxEventTime)
		idle := byte(0)
		if m.Idle {
			idle = 1
		}
		dst = append(dst, idle)
	}
	dst = append(binary.AppendUvarint(dst, uint64(len(rec.Events))), rec.Events...)
	return append(binary.AppendUvarint(dst, uint64(len(rec.Meta))), rec.Meta...)
}

// parser reads varints and bytes; after something malformed it is bad.
type parser struct {
	b   []byte
	bad bool
}

func (p *parser) uvarint() uint64 {
	x, n := binary.Uvarint(p.b)
	if n <= 0 {
		p.bad, p.b = true, nil
		return 0
	}
	p.b = p.b[n:]
	return x
}

func (p *parser) varint() int64 {
	x, n := binary.Varint(p.b)
	if n <= 0 {
		p.bad, p.b = true, nil
		return 0
	}
	p.b = p.b[n:]
	return x
}

// count reads a number of elements, of which each takes at least one byte.
func (p *parser) count() int {
	n := p.uvarint()
	if n > uint64(len(p.b)) {
		p.bad = true
		return 0
	}
	return int(n)
}

func (p *parser) bytes() []byte {
	n := p.count()
	out := append([]byte(nil), p.b[:n]...)
	p.b = p.b[n:]
	return out
}

func (p *parser) byte() byte {
	if len(p.b) == 0 {
		p.bad = true
		return 0
	}
	x := p.b[0]
	p.b = p.b[1:]
	return x
}

func parseHeader(epoch uint64, v []byte) (*EpochRecord, error) {
	p := parser{b: v}
	if version := p.byte(); version != headerVersion {
		return nil, corrupt("record of epoch %d has unknown version %d", epoch, version)
	}
	rec := &EpochRecord{Epoch: epoch, Timestamp: p.varint()}
	rec.Changes = make([]RelChange, p.count())
	for i := range rec.Changes {
		rec.Changes[i].OID = catalog.OID(p.uvarint())
	}
	rec.Watermarks = make([]StreamMark, p.count())
	for i := range rec.Watermarks {
		rec.Watermarks[i] = StreamMark{catalog.OID(p.uvarint()), p.varint(), p.varint(), p.byte() == 1}
	}
	rec.Events, rec.Meta = p.bytes(), p.bytes()
	if p.bad || len(p.b) > 0 {
		return nil, corrupt("record of epoch %d is malformed", epoch)
	}
	return rec, nil
}

func corrupt(format string, args ...any) error {
	return sqlerr.New(sqlerr.DataCorrupted, format, args...)
}

func (s *Store) findLastEpoch() error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{keyEpoch}, UpperBound: []byte{keyEpoch + 1}})
	if err != nil {
		return err
	}
	if it.Last() && len(it.Key()) == 9 {
		s.lastEpoch.Store(binary.BigEndian.Uint64(it.Key()[1:]))
	}
	if err := errors.Join(it.Error(), s.close(it)); err != nil {
		return err
	}
	mark, ok, err := s.checkpointMark()
	if ok && mark > s.lastEpoch.Load() {
		s.lastEpoch.Store(mark)
	}
	return err
}

// Newest, as the last epoch of a range, means all that there are.
const Newest uint64 = math.MaxUint64 - 1

// ReadEpochs calls f with the records of the epochs between from and to, both
// included, in order. A record is valid during the call. A gap is an error (XX001), but the log may start after from if it was trimmed.
func (s *Store) ReadEpochs(from, to uint64, f func(*EpochRecord) error) error {
	return s.ReadEpochsOf(from, to, nil, f)
}

// ReadEpochsOf is ReadEpochs with the changes of only those relations for which
// want is true (nil: all); those of a dropped relation may be gone from the log.
func (s *Store) ReadEpochsOf(from, to uint64, want func(catalog.OID) bool, f func(*EpochRecord) error) error {
	done := s.spools.read()
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: epochKey(from), UpperBound: epochKey(to + 1)})
	if err == nil {
		err = errors.Join(s.readEpochs(it, want, f), s.close(it))
	}
	return errors.Join(err, done())
}

func (s *Store) readEpochs(it *pebble.Iterator, want func(catalog.OID) bool, f func(*EpochRecord) error) error {
	var last uint64
	for ok := it.First(); ok; ok = it.Next() {
		if len(it.Key()) != 9 {
			return corrupt("key of an epoch is malformed: %x", it.Key())
		}
		epoch := binary.BigEndian.Uint64(it.Key()[1:])
		if last > 0 && epoch != last+1 {
			return corrupt("epoch %d is missing from the input log", last+1)
		}
		last = epoch
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		rec, err := parseHeader(epoch, v)
		if err != nil {
			return err
		}
		kept := rec.Changes[:0]
		for i, c := range rec.Changes {
			if want != nil && !want(c.OID) {
				continue
			}
			if err := s.loadChange(&c, epoch, i); err != nil {
				return err
			}
			kept = append(kept, c)
		}
		rec.Changes = kept
		if err := f(rec); err != nil {
			return err
		}
	}
	return it.Error()
}

func (s *Store) loadChange(c *RelChange, epoch uint64, i int) error {
	v, closer, err := s.db.Get(chunkKey(c.OID, epoch, i))
	if errors.Is(err, pebble.ErrNotFound) {
		return corrupt("chunk %d of epoch %d, relation %d, is missing", i, epoch, c.OID)
	}
	if err != nil {
		return err
	}
	c.Batch, c.Spooled, err = s.parseChunk(append([]byte(nil), v...), nil)
	if err != nil {
		err = corrupt("chunk %d of epoch %d, relation %d: %v", i, epoch, c.OID, err)
	}
	return errors.Join(err, s.close(closer))
}

// decode decodes with d, or into memory of its own where d is nil. The batch aliases v.
func decode(d *batch.Decoder, v []byte) (*batch.Batch, error) {
	if d == nil {
		return batch.Decode(v)
	}
	return d.Decode(v)
}

// parseChunk decodes a chunk of the log, as decode does.
func (s *Store) parseChunk(v []byte, d *batch.Decoder) (*batch.Batch, *Spooled, error) {
	if len(v) == 0 {
		return nil, nil, errors.New("empty chunk")
	}
	switch v[0] {
	case chunkBatch:
		b, err := decode(d, v[1:])
		return b, nil, err
	case chunkSpool, chunkFile:
		if len(v) == 13 {
			return nil, &Spooled{s, binary.BigEndian.Uint64(v[1:]), int(binary.BigEndian.Uint32(v[9:])), v[0] == chunkFile}, nil
		}
	}
	return nil, nil, errors.New("unknown kind of chunk")
}

// ScanStream calls f with the batches that entered a relation in the epochs
// between from and to, both included, in order of arrival. A batch is valid
// during the call.
func (s *Store) ScanStream(oid catalog.OID, from, to uint64, f func(epoch uint64, b *batch.Batch) error) error {
	return s.scanStreamWith(nil, oid, from, to, f)
}

// ScanStreamColumns is ScanStream with only the columns that want names by index (nil: all); the others may be nil. The memory of one
// batch is used for the next.
func (s *Store) ScanStreamColumns(oid catalog.OID, from, to uint64, want []bool, f func(epoch uint64, b *batch.Batch) error) error {
	return s.scanStreamWith(&batch.Decoder{Want: want}, oid, from, to, f)
}

func (s *Store) scanStreamWith(d *batch.Decoder, oid catalog.OID, from, to uint64, f func(epoch uint64, b *batch.Batch) error) error {
	done := s.spools.read()
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: chunkFrom(oid, from), UpperBound: chunkFrom(oid, to+1)})
	if err == nil {
		err = errors.Join(s.scanStream(it, d, f), s.close(it))
	}
	return errors.Join(err, done())
}

func (s *Store) scanStream(it *pebble.Iterator, d *batch.Decoder, f func(epoch uint64, b *batch.Batch) error) error {
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if len(it.Key()) != 17 {
			return corrupt("key of a chunk is malformed: %x", it.Key())
		}
		epoch := binary.BigEndian.Uint64(it.Key()[5:])
		b, sp, err := s.parseChunk(v, d)
		if err != nil {
			return corrupt("chunk %x: %v", it.Key(), err)
		}
		if sp != nil {
			err = sp.eachWith(d, it, func(b *batch.Batch) error { return f(epoch, b) })
		} else {
			err = f(epoch, b)
		}
		if err != nil {
			return err
		}
	}
	return it.Error()
}

// StreamStart gives the first epoch of which the log still holds rows of the relation, 0 if there are none.
func (s *Store) StreamStart(oid catalog.OID) (uint64, error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: chunkFrom(oid, 0), UpperBound: after(relationKey(keyChunk, oid))})
	if err != nil {
		return 0, err
	}
	epoch := uint64(0)
	if it.First() && len(it.Key()) == 17 {
		epoch = binary.BigEndian.Uint64(it.Key()[5:])
	}
	return epoch, errors.Join(it.Error(), s.close(it))
}

// TrimStream deletes the chunks that entered a relation before an epoch. The
// caller makes sure that neither recovery nor a view needs them.
func (s *Store) TrimStream(oid catalog.OID, before uint64) error {
	b := s.db.NewBatch()
	defer b.Close()
	gone, files := s.spools.before(oid, before)
	if err := s.trimSpools(b, gone); err != nil {
		return err
	}
	if err := b.DeleteRange(chunkFrom(oid, 0), chunkFrom(oid, before), nil); err != nil {
		return err
	}
	sync := pebble.NoSync
	if files { // which must not be gone while there is a chance that the log still has them
		sync = pebble.Sync
	}
	return s.guard(func() error {
		if err := s.db.Apply(b, sync); err != nil {
			return err
		}
		return s.spools.forget(oid, gone)
	})
}

// TrimHeaders deletes the epoch headers before an epoch. It is called when a
// checkpoint at before-1 or later is written; ReadEpochs then starts at before.
func (s *Store) TrimHeaders(before uint64) error {
	mark, ok, err := s.checkpointMark()
	if err != nil {
		return err
	}
	if !ok || mark+1 < before {
		return fmt.Errorf("epochs before %d are still needed: the last checkpoint is at %d", before, mark)
	}
	return s.guard(func() error { return s.db.DeleteRange(epochKey(0), epochKey(before), pebble.NoSync) })
}

// DropRelation deletes what the log holds of a relation. Contents are dropped
// with DropContents, operator state with Space.Drop, through the next checkpoint.
func (s *Store) DropRelation(oid catalog.OID) error {
	s.logged.forget(oid)
	return s.TrimStream(oid, math.MaxUint64)
}

// Reclaim starts what gives the space of deleted data back to the file system:
// deletions free nothing while they lie in memory, or while a snapshot is older
// than they are. It must not run beside Write.
func (s *Store) Reclaim() error {
	err := s.guard(func() error {
		s.renewPin()
		_, err := s.db.AsyncFlush()
		return err
	})
	if err == nil && s.checkSpace(0, 2*s.opts.ReserveBytes) != nil {
		runtime.GC() // closes older pins now rather than at some time
	}
	return err
}
