package table

// Backing reads what a space has on disk as of the last checkpoint that was
// written. Keys are relative to the space. Slices passed to callbacks are valid
// during the call. It may be used by several goroutines, each with tables of its own.
type Backing interface {
	// Get calls f with the value of key, if there is one.
	Get(key []byte, f func(val []byte)) error
	// GetMany calls f with the value of keys[i] for each that is there, as nearly all are; keys ascend.
	GetMany(keys [][]byte, f func(i int, val []byte)) error
	// Scan calls f for the entries of [lo, hi) in ascending, or descending, order until it returns false.
	Scan(lo, hi []byte, desc bool, f func(key, val []byte) bool) error
}

// Keys within a space (State: on disk):
//
//	d | table 2 | entry key                          Ordered
//	d | table 2 | bucket 3                           Hash: a block of entries (blocks.go)
//	d | table 2 | window end 8 | bucket 3            Windows
//	d | table 2 | start 8 | ...                      Stretches (stretches_disk.go)
//	m | table 2                                      declaration and number of entries
//	m | table 2 | window end 8                       start of a window and its number of entries
//	m | table 2 | start 8                            what is known of a stretch
//
// Integers are big-endian; window ends and int keys have their sign bit flipped, so that they sort.
const (
	spaceData = 'd'
	spaceMeta = 'm'
)
