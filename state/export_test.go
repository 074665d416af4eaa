package state

import (
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

// ForgetSpace has the store look at free space again with the next write.
func ForgetSpace(s *Store) { s.spaceAt = time.Time{} }
