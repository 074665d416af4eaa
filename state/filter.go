package state

import "github.com/cockroachdb/pebble/v2"

// stateFilter gives tables a filter of the keys of operator state alone. Of all others nobody asks whether they are there, but they
// would be most of what is in it, and a third of the work of writing them.
type stateFilter struct{ pebble.FilterPolicy }

// Name implements pebble.FilterPolicy. State: on disk.
func (stateFilter) Name() string { return "tidemark.state" }

// MayContain implements pebble.FilterPolicy.
func (f stateFilter) MayContain(ft pebble.FilterType, filter, key []byte) bool {
	return !isState(key) || f.FilterPolicy.MayContain(ft, filter, key)
}

// NewWriter implements pebble.FilterPolicy.
func (f stateFilter) NewWriter(ft pebble.FilterType) pebble.FilterWriter {
	return stateFilterWriter{f.FilterPolicy.NewWriter(ft)}
}

type stateFilterWriter struct{ pebble.FilterWriter }

// AddKey implements pebble.FilterWriter.
func (w stateFilterWriter) AddKey(key []byte) {
	if isState(key) {
		w.FilterWriter.AddKey(key)
	}
}

func isState(key []byte) bool { return len(key) > 0 && key[0] == keySpace }
