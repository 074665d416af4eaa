package state

import (
	"sync"

	"github.com/tidemarkdb/tidemark/sql/catalog"
)

// How much of the disk is whose. Pebble tells it of a range of keys from the indexes of its tables, but not of what is in memory still; so of
// the log, of which that may be all, what was written since the store was opened is counted.

// logCount counts the bytes that entered the log since the store was opened, by relation, without those of spools.
type logCount struct {
	mu sync.Mutex
	of map[catalog.OID]int64
}

func (c *logCount) add(oid catalog.OID, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[catalog.OID]int64{}
	}
	c.of[oid] += int64(n)
}

func (c *logCount) get(oid catalog.OID) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[oid]
}

func (c *logCount) forget(oid catalog.OID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, oid)
}

// LogBytes gives about how much the log has of a relation, bytes: its records and the files of its spools. After a failure of the store it gives what is known
// without reading. It may be called from any goroutine, as the others here.
func (s *Store) LogBytes(oid catalog.OID) int64 {
	disk := s.rangeBytes(relationKey(keyChunk, oid))
	// Records are in a memtable before they are in a table, and smaller there, as those are compressed.
	inMemory := min(s.logged.get(oid), disk+int64(s.metrics().MemTable.Size))
	return max(disk, inMemory) + s.spools.bytesOf(oid)
}

// ContentBytes gives about how much the last checkpoint has of a relation's contents, bytes on disk.
func (s *Store) ContentBytes(oid catalog.OID) int64 {
	return s.rangeBytes(relationKey(keyContent, oid)) + s.rangeBytes(relationKey(keyRow, oid))
}

// SpaceBytes gives about how much the last checkpoint has of a view's operator state, bytes on disk.
func (s *Store) SpaceBytes(view catalog.OID) int64 { return s.rangeBytes(relationKey(keySpace, view)) }

// rangeBytes gives about how much of Pebble's tables the keys with a prefix take, 0 after a failure.
func (s *Store) rangeBytes(prefix []byte) int64 {
	got := make(chan uint64, 1)
	err := s.unlessFailed(func() error {
		n, err := s.db.EstimateDiskUsage(prefix, after(prefix))
		got <- n
		return err
	})
	if err != nil {
		return 0
	}
	return int64(<-got)
}

// bytesOf gives the size of the files of a relation's spools.
func (x *spoolIndex) bytesOf(oid catalog.OID) (n int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range x.of[oid] {
		n += x.files[r.id]
	}
	return n
}

// Unwritten gives the memory of the chunks that are not on disk, as they are now.
func (v *ChunksSnapshot) Unwritten() int64 { return v.c.view.Load().bytes }

// Unwritten gives the memory of the changes that are not on disk, as they are now.
func (v *RowsSnapshot) Unwritten() int64 {
	n := int64(0)
	for _, x := range v.r.view.Load().runs {
		n += x.memBytes()
	}
	return n
}
