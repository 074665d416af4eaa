package state

import (
	"fmt"
	"io"
	"time"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// logger passes Pebble's messages on. Pebble calls Fatalf when it cannot go
// on, and relies on it not to return.
type logger struct{ s *Store }

func (l *logger) Infof(format string, args ...any) {
	l.s.log.Debug().Str("detail", fmt.Sprintf(format, args...)).Msg("pebble")
}

func (l *logger) Errorf(format string, args ...any) {
	l.s.log.Warn().Str("detail", fmt.Sprintf(format, args...)).Msg("pebble")
}

// Fatalf turns the store read-only and parks its goroutine for ever.
func (l *logger) Fatalf(format string, args ...any) {
	l.s.fail(fmt.Errorf(format, args...))
	select {}
}

// fail turns the store read-only.
func (s *Store) fail(cause error) {
	s.failOnce.Do(func() {
		s.failure = sqlerr.New(sqlerr.IOError, "the database is read-only because a write to its data directory failed").
			WithDetail("%v", cause).WithHint("Repair the disk and restart the server.").WithCause(cause)
		s.log.Error().Err(cause).Msg("write failed, database is read-only")
		close(s.failed)
	})
}

// Failed is closed when a write failed for good and the store became read-only; Failure says why.
func (s *Store) Failed() <-chan struct{} { return s.failed }

// Failure gives the error that made the store read-only, nil if there is none.
func (s *Store) Failure() error {
	select {
	case <-s.failed:
		return s.failure
	default:
		return nil
	}
}

// close closes an iterator or a value of Pebble. After a failure a lock may be
// held for ever that releasing old files takes, so what is still open is left.
func (s *Store) close(c io.Closer) error {
	select {
	case <-s.failed:
		return nil
	default:
		return c.Close()
	}
}

// guard runs a write. The goroutine that meets a failing disk is parked inside
// Pebble, so it must not be the caller's.
func (s *Store) guard(write func() error) error {
	if err := s.writable(); err != nil {
		return err
	}
	return s.unlessFailed(write)
}

// writable gives the error that a write answers with at once.
func (s *Store) writable() error {
	if s.opts.ReadOnly {
		return sqlerr.New(sqlerr.ReadOnlyTransaction, "the data directory is open read-only")
	}
	return s.Failure()
}

// unlessFailed runs what may meet a failing disk, or a lock that it holds.
func (s *Store) unlessFailed(f func() error) error {
	if err := s.Failure(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- f() }()
	return s.await(done)
}

// await gives what comes from done, or the failure of the store, which what was to answer may never come back from.
func (s *Store) await(done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-s.failed:
		return s.failure
	}
}

const (
	spaceEvery = 100 * time.Millisecond
	spaceBytes = 16 << 20
)

// checkSpace says whether n more bytes can be written and leave a reserve,
// which recovery, compaction, checkpoints and DROP need. Disk usage is asked for
// now and then, and assumed to shrink by what is written meanwhile, twice:
// the log is flushed into tables before it is deleted.
func (s *Store) checkSpace(n int, reserve uint64) error {
	s.spaceMu.Lock()
	defer s.spaceMu.Unlock()
	if now := time.Now(); s.spaceAt.IsZero() || now.Sub(s.spaceAt) > spaceEvery || s.spaceSince > spaceBytes || 2*uint64(n) > spaceBytes {
		u, err := s.fs.GetDiskUsage(s.dir)
		if err != nil {
			s.log.Debug().Err(err).Msg("free space is unknown")
			return nil
		}
		s.spaceAt, s.spaceFree, s.spaceSince = now, u.AvailBytes, 0
	}
	s.spaceSince += 2 * uint64(n)
	if s.spaceFree < reserve+s.spaceSince {
		s.spaceAt = time.Time{}
		return sqlerr.New(sqlerr.DiskFull, "could not write to the data directory: no space left on device").
			WithDetail("%d MB are free, of which %d MB are kept in reserve.", s.spaceFree>>20, reserve>>20).
			WithHint("Free some space, drop a relation or shorten the retention of a stream.")
	}
	return nil
}
