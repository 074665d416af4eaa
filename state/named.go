package state

import (
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// MarkerName is the named record that a checkpoint writes with the rest: its
// value starts with the epoch, 8 bytes big-endian.
const MarkerName = "checkpoint"

// Named gives a named record as the last checkpoint wrote it; ok is false if there is none.
func (s *Store) Named(name string) (val []byte, ok bool, err error) {
	return s.get(namedKey(keyMark, name))
}

// PutMeta makes a record durable at once, outside epochs and checkpoints: for
// what is not a function of the log, such as settings of the server.
func (s *Store) PutMeta(key string, val []byte) error {
	if err := s.checkSpace(len(val), s.opts.ReserveBytes); err != nil {
		return err
	}
	return s.guard(func() error { return s.db.Set(namedKey(keyInfo, key), val, pebble.Sync) })
}

// GetMeta gives what PutMeta wrote; ok is false if there is nothing.
func (s *Store) GetMeta(key string) (val []byte, ok bool, err error) {
	return s.get(namedKey(keyInfo, key))
}

func (s *Store) get(key []byte) (val []byte, ok bool, err error) {
	v, c, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	val = append([]byte{}, v...)
	return val, true, s.close(c)
}

// checkpointMark gives the epoch of the last checkpoint.
func (s *Store) checkpointMark() (epoch uint64, ok bool, err error) {
	v, ok, err := s.Named(MarkerName)
	if err != nil || !ok {
		return 0, false, err
	}
	if len(v) < 8 {
		return 0, false, corrupt("marker of the checkpoint is malformed: %x", v)
	}
	return binary.BigEndian.Uint64(v), true, nil
}

// scanKeys calls f with the keys under a prefix, in order. Slices are valid during the call.
func (s *Store) scanKeys(prefix []byte, f func(k, v []byte) error) error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var v []byte
		if v, err = it.ValueAndErr(); err == nil {
			err = f(it.Key(), v)
		}
	}
	return errors.Join(err, it.Error(), s.close(it))
}
