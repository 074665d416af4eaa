package state

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// Contents that change are multisets: the value of a row is its multiplicity
// (varint) and the length of its key part (uvarint). A checkpoint writes
// differences, which Pebble adds up when it reads or compacts; so it need not
// read what was there. The name is part of the format.
var weightMerger = &pebble.Merger{
	Name: "tidemark.weights",
	Merge: func(key, value []byte) (pebble.ValueMerger, error) {
		m := &weightSum{}
		return m, m.add(value)
	},
}

type weightSum struct {
	weight int64
	keyLen uint64
	known  bool
}

func (m *weightSum) add(value []byte) error {
	w, keyLen, err := readWeight(value)
	if err != nil {
		return err
	}
	if m.known && keyLen != m.keyLen {
		return fmt.Errorf("key lengths %d and %d of one row", m.keyLen, keyLen)
	}
	m.known, m.keyLen = true, keyLen
	m.weight += w
	return nil
}

func (m *weightSum) MergeNewer(value []byte) error { return m.add(value) }
func (m *weightSum) MergeOlder(value []byte) error { return m.add(value) }

func (m *weightSum) Finish(bool) ([]byte, io.Closer, error) {
	return appendWeight(nil, m.weight, m.keyLen), nil, nil
}

// DeletableFinish drops rows whose differences add up to nothing.
func (m *weightSum) DeletableFinish(bool) ([]byte, bool, io.Closer, error) {
	if m.weight == 0 {
		return nil, true, nil, nil
	}
	v, c, err := m.Finish(true)
	return v, false, c, err
}

func appendWeight(dst []byte, weight int64, keyLen uint64) []byte {
	return binary.AppendUvarint(binary.AppendVarint(dst, weight), keyLen)
}

func readWeight(v []byte) (weight int64, keyLen uint64, err error) {
	weight, n := binary.Varint(v)
	if n > 0 {
		var m int
		if keyLen, m = binary.Uvarint(v[n:]); m > 0 && n+m == len(v) {
			return weight, keyLen, nil
		}
	}
	return 0, 0, fmt.Errorf("weight of a row is malformed: %x", v)
}
