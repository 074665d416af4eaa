package state

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// SnapshotTo makes a copy of the data directory in dir, which must not exist:
// hard links where the file system allows, so it takes milliseconds and little
// space. The copy holds everything that was durable when the call began, and
// opens as a data directory of the same database. It may run beside anything.
func (s *Store) SnapshotTo(dir string) error {
	if _, err := s.fs.Stat(dir); err == nil {
		return fmt.Errorf("snapshot: %s exists already", dir)
	}
	return s.guard(func() (err error) {
		done := s.spools.read()
		defer func() { err = errors.Join(err, done()) }()
		if err := s.db.Checkpoint(dir, pebble.WithFlushedWAL()); err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
		// After that: so those that the copied log names are known.
		if err := s.linkSpools(dir); err != nil {
			return errors.Join(fmt.Errorf("snapshot: %w", err), s.fs.RemoveAll(dir))
		}
		if err := s.writeFile(s.fs.PathJoin(dir, formatFile), []byte("tidemark "+formatVersion+" "+s.id+"\n")); err != nil {
			return errors.Join(fmt.Errorf("snapshot: %w", err), s.fs.RemoveAll(dir))
		}
		return nil
	})
}
