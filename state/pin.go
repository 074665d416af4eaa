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
	s.mu.Lock()
	s.pins[p.snap] = struct{}{}
	s.pin = p
	s.gen.Add(1)
	for b := range s.backings {
		b.release()
	}
	s.mu.Unlock()
	runtime.AddCleanup(p, s.releasePin, p.snap)
	return p
}

func (s *Store) currentPin() *pin {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pin
}

func (s *Store) releasePin(snap *pebble.Snapshot) {
	s.mu.Lock()
	_, open := s.pins[snap]
	delete(s.pins, snap)
	s.mu.Unlock()
	if open {
		_ = snap.Close() // always nil
	}
}

func (s *Store) closePins() {
	s.mu.Lock()
	pins := s.pins
	s.pins = map[*pebble.Snapshot]struct{}{}
	s.mu.Unlock()
	for snap := range pins {
		_ = snap.Close()
	}
}
