package state

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Options configure a store. The zero value is usable.
type Options struct {
	Logger       zerolog.Logger
	CacheBytes   int64  // block cache, part of the memory budget; 0: 64 MB
	MemTableSize uint64 // 0: an eighth of CacheBytes, 32 MB at most
	ReserveBytes uint64 // free space that is kept: writes fail with 53100 below it; 0: 128 MB
	ReadOnly     bool   // nothing is written, also no recovery of the WAL; for offline checks
	NoMerging    bool   // changes of relations in memory are not merged beside the epochs until memory is short; for measuring the rest

	fs vfs.FS // tests; nil: the file system
}

// Store is an open data directory. Its methods may be called from any
// goroutine unless they say otherwise; there is one epoch loop, which alone
// calls AppendEpoch.
type Store struct {
	dir  string
	opts Options
	fs   vfs.FS
	db   *pebble.DB
	po   *pebble.Options
	log  zerolog.Logger
	lock *pebble.Lock
	id   string

	lastEpoch  atomic.Uint64
	appendings sync.Pool // of *appending
	nextSpool  atomic.Uint64
	syncMu     sync.Mutex    // held by SyncLog
	unsynced   atomic.Bool   // the log has records that were appended lazily since the last SyncLog
	nextFile   atomic.Uint64 // names of tables to ingest
	toWrite    atomic.Int64  // bytes that the Write that runs, or ran last, has to write, about
	wrote      atomic.Int64  // and those that it wrote

	spools *spoolIndex
	logged logCount

	smallWrite   int64 // tests change these
	shrinkFrom   int   // rows of which Shrink merges changes
	lateFrom     int   // changes in an epoch from which they are sorted late
	tableSize    int
	spoolFileMin int

	failOnce sync.Once
	failed   chan struct{} // closed when the store turned read-only
	failure  error         // set before failed is closed

	spaceMu    sync.Mutex
	spaceAt    time.Time // when free space was last looked at
	spaceFree  uint64
	spaceSince uint64 // bytes written since

	mu       sync.Mutex
	pin      *pin                   // of the last checkpoint
	contents map[catalog.OID]*count // as of the last checkpoint
	backings map[*backing]struct{}

	readersMu sync.Mutex
	readers   []*Rows      // of which readers that wait may have iterators
	idle      atomic.Int64 // such iterators

	pinMu sync.Mutex                    // taken before no other
	pins  map[*pebble.Snapshot]struct{} // open ones

	gen atomic.Uint64 // counts checkpoints, so that cached iterators know when to renew
}

const (
	formatFile    = "TIDEMARK"
	formatVersion = "7"
	ingestDir     = "ingest"
)

func errLocked(dir string) error {
	return sqlerr.New(sqlerr.ObjectInUse, "data directory \"%s\" is in use by another server", dir)
}

// Open opens a data directory, which is made when it does not exist. One
// process at a time can have it open; for another it fails with 55006. A
// directory of an unknown format version, or of something else, is refused.
func Open(dir string, opts Options) (*Store, error) {
	s := &Store{dir: dir, opts: opts, fs: opts.fs, log: opts.Logger, failed: make(chan struct{}),
		smallWrite: smallWrite, shrinkFrom: mergeNow, lateFrom: lateRows, tableSize: tableSize, spoolFileMin: spoolFileMin,
		pins: map[*pebble.Snapshot]struct{}{}, contents: map[catalog.OID]*count{}, backings: map[*backing]struct{}{}}
	s.spools = newSpoolIndex(s)
	if s.fs == nil {
		s.fs = vfs.Default
	}
	if s.opts.CacheBytes == 0 {
		s.opts.CacheBytes = 64 << 20
	}
	if s.opts.MemTableSize == 0 {
		// Pebble takes memtables, of which there are several, out of the cache: one as large as the cache would leave nothing to it,
		// and each read would read its block, and the filter of a file, anew.
		s.opts.MemTableSize = uint64(min(max(s.opts.CacheBytes/8, 1<<20), 32<<20))
	}
	s.tableSize = min(s.tableSize, int(s.fileSize()))
	if s.opts.ReserveBytes == 0 {
		s.opts.ReserveBytes = 128 << 20
	}
	if !opts.ReadOnly {
		if err := s.fs.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("create data directory: %w", err)
		}
	}
	var err error
	if s.lock, err = pebble.LockDirectory(dir, s.fs); err != nil {
		if isLockHeld(err) {
			return nil, errLocked(dir)
		}
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- s.open() }()
	select {
	case err = <-done:
		if err != nil {
			err = errors.Join(err, s.lock.Close())
		}
	case <-s.failed:
		err = s.failure
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func isLockHeld(err error) bool {
	msg := err.Error()
	return strings.Contains(msg, "lock held") || strings.Contains(msg, "resource temporarily unavailable") ||
		strings.Contains(msg, "permission denied") && strings.Contains(msg, "lock")
}

func (s *Store) open() error {
	if err := s.checkFormat(); err != nil {
		return err
	}
	s.po = s.pebbleOptions()
	db, err := pebble.Open(s.dir, s.po)
	if err != nil {
		return fmt.Errorf("open data directory: %w", err)
	}
	s.db = db
	if err := s.recover(); err != nil {
		s.closePins()
		return errors.Join(err, db.Close())
	}
	return nil
}

// recover finds where the log and the checkpoint stand, and drops what a crash left behind.
func (s *Store) recover() error {
	if err := s.findLastEpoch(); err != nil {
		return err
	}
	if err := s.loadCounts(); err != nil {
		return err
	}
	s.renewPin()
	if s.opts.ReadOnly {
		return s.loadSpools()
	}
	if err := s.fs.RemoveAll(s.fs.PathJoin(s.dir, ingestDir)); err != nil {
		return fmt.Errorf("remove unfinished checkpoint: %w", err)
	}
	if err := s.fs.MkdirAll(s.fs.PathJoin(s.dir, ingestDir), 0o700); err != nil {
		return err
	}
	return s.loadSpools()
}

func (s *Store) pebbleOptions() *pebble.Options {
	o := &pebble.Options{
		FS:                          s.fs,
		Lock:                        s.lock,
		Logger:                      &logger{s},
		FormatMajorVersion:          pebble.FormatTableFormatV6,
		CacheSize:                   s.opts.CacheBytes,
		MemTableSize:                s.opts.MemTableSize,
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       4,
		L0StopWritesThreshold:       1000,
		LBaseMaxBytes:               s.baseSize(),
		MaxOpenFiles:                1000,
		ReadOnly:                    s.opts.ReadOnly,
		Merger:                      merger,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
	}
	// A table's filter is one block, of a byte and a quarter a key: it must fit well into a part of the cache, of which there are some eight. One that
	// does not is read, and its checksum computed, for each key that is looked up.
	size := s.fileSize()
	for i := range o.TargetFileSizes {
		o.TargetFileSizes[i] = min(max(size/4, 2<<20)<<i, size)
	}
	for i := range o.Levels {
		// Pebble leaves filters off. Those of the last level, where nearly everything is, are used by iterators that ask for it (backing.Get).
		o.Levels[i].FilterPolicy = stateFilter{bloom.FilterPolicy(10)}
		o.Levels[i].BlockSize = 8 << 10 // what is read and decompressed for one entry of state that is not in memory
		o.Levels[i].Compression = compressed
	}
	// What is flushed is nearly all log: batches, whose encoding is as short as the blocks of tables become. It moves down the levels as it is.
	o.Levels[0].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
	l := pebble.EventListener{
		BackgroundError: func(err error) { s.log.Error().Err(err).Msg("background work of the store failed") },
		DataCorruption: func(i pebble.DataCorruptionInfo) {
			s.log.Error().Str("path", i.Path).Msg("corrupt data found")
		},
	}
	o.EventListener = &l
	o.EnsureDefaults()
	return o
}

// compressed is how tables are compressed but those that are flushed.
func compressed() *sstable.CompressionProfile { return sstable.FastestCompression }

// fileSize is how large files with tables become, about.
func (s *Store) fileSize() int64 { return min(max(s.opts.CacheBytes/8, 2<<20), 64<<20) }

// baseSize is how large the first level below level 0 becomes. What comes to it, some checkpoints, is written together with all of it: with little memory checkpoints are
// small, and it should not be much larger than some of them.
func (s *Store) baseSize() int64 { return min(max(s.opts.CacheBytes, 16<<20), 64<<20) }

// checkFormat reads the format file, or writes that of a new directory.
func (s *Store) checkFormat() error {
	path := s.fs.PathJoin(s.dir, formatFile)
	f, err := s.fs.Open(path)
	if errors.Is(err, os.ErrNotExist) || err != nil && strings.Contains(err.Error(), "does not exist") {
		return s.writeFormat(path)
	}
	if err != nil {
		return fmt.Errorf("read format of data directory: %w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return fmt.Errorf("read format of data directory: %w", err)
	}
	version, id, _ := strings.Cut(strings.TrimSpace(string(bytes.TrimPrefix(raw, []byte("tidemark ")))), " ")
	if version != formatVersion || !bytes.HasPrefix(raw, []byte("tidemark ")) {
		return sqlerr.New(sqlerr.DataCorrupted, "data directory has format version %q, this server knows %s", version, formatVersion).
			WithHint("It was written by another version of Tidemark.")
	}
	s.id = id
	return nil
}

func (s *Store) writeFormat(path string) error {
	names, err := s.fs.List(s.dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		// A crash while a directory was made leaves these.
		if n != "LOCK" && n != formatFile+".tmp" {
			return sqlerr.New(sqlerr.DataCorrupted, "directory is not empty and is not a Tidemark data directory")
		}
	}
	if s.opts.ReadOnly {
		return sqlerr.New(sqlerr.DataCorrupted, "directory is not a Tidemark data directory")
	}
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return err
	}
	s.id = hex.EncodeToString(id[:])
	return s.writeFile(path, []byte("tidemark "+formatVersion+" "+s.id+"\n"))
}

// writeFile makes a small file, durably, or not at all.
func (s *Store) writeFile(path string, data []byte) error {
	f, err := s.fs.Create(path+".tmp", vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := s.fs.Rename(path+".tmp", path); err != nil {
		return err
	}
	return s.syncDir(s.fs.PathDir(path))
}

// ID identifies the database: it is made with the data directory and copied with snapshots.
func (s *Store) ID() string { return s.id }

// Dir gives the data directory.
func (s *Store) Dir() string { return s.dir }

// Close closes the store. Nothing may use it, or a snapshot or space of it, any
// more. What was not checkpointed is replayed from the log at the next Open.
// After a failure of the disk it gives that failure and leaves Pebble as it is.
func (s *Store) Close() error {
	err := s.unlessFailed(func() error {
		s.mu.Lock()
		for b := range s.backings {
			b.release()
		}
		s.backings = map[*backing]struct{}{}
		s.mu.Unlock()
		s.releaseReaders()
		s.closePins()
		return s.db.Close()
	})
	return errors.Join(err, s.lock.Close())
}

// MemBytes gives the memory that Pebble occupies: block cache and memtables.
func (s *Store) MemBytes() int64 {
	m := s.metrics()
	return m.BlockCache.Size + int64(m.MemTable.Size)
}

// DiskBytes gives the size of the data directory's files, about.
func (s *Store) DiskBytes() int64 {
	m := s.metrics()
	// The file of the write-ahead log that is being written is among its live ones, and not in Pebble's sum.
	live := max(m.WAL.Size, m.WAL.PhysicalSize) - m.WAL.PhysicalSize
	return int64(m.DiskSpaceUsage()+live) + s.spools.bytes()
}

// metrics gives Pebble's figures, zero after a failure.
func (s *Store) metrics() *pebble.Metrics {
	got := make(chan *pebble.Metrics, 1)
	if err := s.unlessFailed(func() error { got <- s.db.Metrics(); return nil }); err != nil {
		return &pebble.Metrics{}
	}
	return <-got
}
