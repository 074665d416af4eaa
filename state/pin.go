package state

import (
	"runtime"

	"github.com/cockroachdb/pebble/v2"
)

// pin is Pebble as of a checkpoint. All snapshots of relations taken until the
// next checkpoint share it; when the last of them is unreachable, the garbage
// collector lets go of it. So readers need not be counted, and forgetting to
// close a snapshot costs space on disk only until the next collection.
type pin struct {
	snap *pebble.Snapshot
}

// renewPin makes the state on disk as it is now that of new snapshots.
func (s *Store) renewPin() *pin {
	p := &pin{snap: s.db.NewSnapshot()}
	s.pinMu.Lock()
	s.pins[p.snap] = struct{}{}
	s.pinMu.Unlock()
	s.mu.Lock()
	s.pin = p
	s.gen.Add(1)
	for b := range s.backings {
		b.release()
	}
	s.mu.Unlock()
	s.releaseReaders()
	// Closing takes a lock of Pebble, which a failing disk may hold for ever:
	// that must not stop the garbage collector's cleanups.
	runtime.AddCleanup(p, func(snap *pebble.Snapshot) { go s.releasePin(snap) }, p.snap)
	return p
}

func (s *Store) currentPin() *pin {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pin
}

// releasePin closes a snapshot, unless Close was faster.
func (s *Store) releasePin(snap *pebble.Snapshot) {
	s.pinMu.Lock()
	defer s.pinMu.Unlock()
	if _, open := s.pins[snap]; open {
		delete(s.pins, snap)
		_ = s.close(snap) // always nil
	}
}

func (s *Store) closePins() {
	s.pinMu.Lock()
	defer s.pinMu.Unlock()
	for snap := range s.pins {
		_ = s.close(snap)
	}
	clear(s.pins)
}
