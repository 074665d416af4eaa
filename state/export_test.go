package state

import (
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// SetFS has a store use another file system.
func (o *Options) SetFS(fs vfs.FS) { o.fs = fs }

// Force has Write make tables however small it is, or a batch however large.
func Force(s *Store, tables bool) {
	s.smallWrite = -1
	if !tables {
		s.smallWrite = 1 << 40
	}
}

// SetTableSize sets where tables to ingest are cut.
func SetTableSize(s *Store, n int) { s.tableSize = n }

// SetSpoolFileMin sets how large a spool is that gets a file.
func SetSpoolFileMin(s *Store, n int) { s.spoolFileMin = n }

// SpoolFiles counts the files of spools that the log has.
func SpoolFiles(s *Store) int { return len(s.spools.fileIDs()) }

// SetShrinkFrom sets the number of rows of which Shrink merges changes.
func SetShrinkFrom(s *Store, n int) { s.shrinkFrom = n }

// SetLateFrom sets the number of changes in an epoch from which they are sorted late.
func SetLateFrom(s *Store, n int) { s.lateFrom = n }

// ForgetSpace has the store look at free space again with the next write.
func ForgetSpace(s *Store) { s.spaceAt = time.Time{} }

// Compact moves what is on disk to the last level.
func Compact(s *Store) error {
	return s.db.Compact(context.Background(), []byte{0}, []byte{0xff}, false)
}

// FilterHits counts the reads of absent keys that a filter answered, without the reading of a block.
func FilterHits(s *Store) int64 { return s.db.Metrics().Filter.Hits }

// BlockReads counts the blocks that were read, from the cache or the disk.
func BlockReads(s *Store) int64 {
	hits, misses := s.db.Metrics().BlockCache.Hits, s.db.Metrics().BlockCache.Misses
	return hits + misses
}

// MemTableBytes gives what memtables take at most before writes wait.
func MemTableBytes(s *Store) int64 {
	o := s.pebbleOptions()
	return int64(o.MemTableSize) * int64(o.MemTableStopWritesThreshold)
}

// Merging says whether runs are being merged beside the epochs.
func (r *Rows) Merging() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.merging
}

// ReleaseReaders closes the iterators of readers that wait.
func ReleaseReaders(s *Store) { s.releaseReaders() }

// ChunkMemory gives the memory of a snapshot's chunks as it was counted, and as it is.
func ChunkMemory(v *ChunksSnapshot) (counted, held int64) { return v.bytes, memBytes(v.mem) }

// UnreadRuns gives the number of a snapshot's runs in memory, and of those that nobody has put in order.
func UnreadRuns(v *RowsSnapshot) (all, unread int) {
	for _, r := range v.runs {
		if r.unread() {
			unread++
		}
	}
	return len(v.runs), unread
}
