package state

import (
	"io"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/tidemarkdb/tidemark/state/table"
)

// merger has Pebble merge blocks of entries of operator state (table.BlockMerger), the only keys that are written so. It never says that nothing is
// left (docs/storage.md, traps).
var merger = &pebble.Merger{
	Name: "tidemark.blocks.1", // State: on disk
	Merge: func(_, value []byte) (pebble.ValueMerger, error) {
		m := mergings.Get().(*merging)
		m.val = append(m.val[:0], value...)
		return m, nil
	},
}

var mergings = sync.Pool{New: func() any { return &merging{} }}

// merging is the merge of the values of one key.
type merging struct {
	m        table.BlockMerger
	val, buf []byte // values, the newest first; memory
}

// MergeNewer implements pebble.ValueMerger.
func (m *merging) MergeNewer(value []byte) error {
	m.buf, m.val = m.val, append(append(m.buf[:0], value...), m.val...)
	return nil
}

// MergeOlder implements pebble.ValueMerger.
func (m *merging) MergeOlder(value []byte) error {
	m.val = append(m.val, value...)
	return nil
}

// Finish implements pebble.ValueMerger.
func (m *merging) Finish(includesBase bool) ([]byte, io.Closer, error) {
	val, err := m.m.Settle(m.val, m.buf[:0], includesBase)
	if err != nil {
		return nil, nil, corrupt("operator state: %v", err)
	}
	if &val[0] != &m.val[0] {
		m.buf = val // it may have grown
	}
	return val, m, nil
}

// Close says that nobody reads the result any more.
func (m *merging) Close() error {
	mergings.Put(m)
	return nil
}
