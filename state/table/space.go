package table

import (
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// Column is one column of a table's declared schema.
type Column struct {
	Name string
	Type types.Type
	// Time says of a column of a key that it is eight bytes that sort as the int64 does, without a mark for NULL.
	Time bool `json:",omitempty"`
	// Again says that other columns have what this one has: it is there for the order, and is not shown.
	Again bool `json:",omitempty"`
	// Desc says of a column of a key that it sorts in descending order.
	Desc bool `json:",omitempty"`
	// Ranked says of the last column of a value that it is a list of rows of these columns (exec/rowenc.Ranked): those of the
	// key by which it is in order, and those of the row, named c0, c1, ...
	Ranked []Column `json:",omitempty"`
}

// NullName ends the name of a table whose keys are NULL, beside that of the same name without it, whose keys are never NULL (Decl.IntKey, Decl.TextKey). Whoever
// reads state takes both for one.
const NullName = "-null"

// NullKey is the only key of such a table of one key column: NULL as types.AppendKey writes it.
var NullKey = []byte{2}

// Decl declares a state table. Operator, Name and the order of declarations
// identify it across restarts; the rest must then be unchanged.
type Decl struct {
	Operator   int      // plan-order number of the operator within the view
	Name       string   // store name, Spark's where it has one: "default", "left-keyWithIndexToValue", ...
	Slot       int      // filled in by Space.Slot: which instance of the operator the table is of
	Key, Value []Column // declared schema, for SQL reading and the check at restart
	Words      int      // Hash and Windows: number of int64 words inline in each entry; Expiring: 1, the time
	Rare       int      // Hash and Windows: so many of them, the last ones, are zero in nearly all entries (Hash.Rare)
	IntKey     bool     // Hash, Windows and Expiring: the key is one int64 that is never NULL; otherwise key bytes
	TextKey    bool     // Hash and Windows: the key bytes are those of one text or bytea that is never NULL; otherwise types.AppendKey of the columns
	Width      int64    // Stretches and Expiring: microseconds of event time that lie in one of them, above 0; a stored table keeps its own
	Forgets    bool     // Stretches: a row that is marked is not there any more
}

// Failure is the panic value of a table whose read from disk failed.
type Failure struct{ Err error }

// Error implements error.
func (f *Failure) Error() string { return "read of operator state failed: " + f.Err.Error() }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

func fail(err error) {
	if err != nil {
		panic(&Failure{err})
	}
}

// Space is the set of state tables of one running view, or of one SELECT when
// it is transient. One goroutine uses it at a time; tables of different slots
// may be used by different goroutines within an epoch.
type Space struct {
	backing  Backing // nil: transient
	tables   []member
	inFlight []*Frozen // frozen and perhaps not written yet, in order
	dropped  bool      // Drop was called and not yet frozen
	thawing  []member  // tables that still have marks of what is written now
	ev       *eviction // nil: there is nothing to drop

	budget int64        // bytes of memory, 0: no limit
	mem    atomic.Int64 // estimate of MemBytes since it was last computed

	// Of a part of a space (Slot): the space that its tables belong to.
	whole *Space
	slot  int

	// What the store had when the space was opened.
	stored   map[int][]byte // declarations by table
	mismatch error          // first declaration that contradicts it
}

// member is what the space asks of each kind of table.
type member interface {
	info() *tableInfo
	Len() int64
	MemBytes() int64
	filterBytes() int64 // of MemBytes: what is known of entries that are only on disk
	spareBytes() int64  // of MemBytes: what is there to be used again, and belongs to no entry
	dirtyEntries() int64
	heldEntries() int64                // those in memory
	freeze(f *Frozen, meta *part)      // clears dirty marks; what changed is copied by copyFrozen, descriptions at once to meta
	freezing() bool                    // something is left for copyFrozen
	copyFrozen(n int) int              // copies about n entries, gives what is left of n
	beginThaw()                        // what was frozen is on disk now
	thaw(n int) int                    // lets go of about n entries, gives what is left of n; above zero: it is done
	beginEvict(used uint8, want int64) // has evictSome drop clean entries, of about want bytes: in the first of mostUsed+1 rounds those of no use, and so on
	evictSome(n int) int               // looks at about n entries, gives what is left of n; above zero: it is done
	load(max int64) bool               // reads what is missing, says whether all is there
	each(f func(e *Entry) bool) bool   // false: f stopped it
	clear()                            // empties the table, nothing is on disk any more
}

// Kind is the kind of a table.
type Kind byte

// The kinds of table. State: on disk.
const (
	KindOrdered Kind = 'o'
	KindHash    Kind = 'h'
	KindWindows Kind = 'w'

	KindStretches Kind = 's'
	KindExpiring  Kind = 'e'
)

// tableInfo is the identity of a table within its space.
type tableInfo struct {
	sp   *Space
	ord  int // declaration order
	kind Kind
	decl Decl

	bits    uint  // of the number of buckets of a Hash on disk
	written int64 // number of entries + 1 in the record of the table that was frozen last; 0: none
	// writtenBits are the bits in that record.
	writtenBits uint
}

// Slot gives the part of the space for instance i of an operator that runs as several. Only Ordered, Hash, Windows, Stretches and Expiring may be called
// on it; the tables are among those of s.
func (s *Space) Slot(i int) *Space { return &Space{whole: s, slot: i} }

// of gives the space that a table declared here belongs to, and its declaration there.
func (s *Space) of(d Decl) (*Space, Decl) {
	if s.whole == nil {
		return s, d
	}
	d.Slot = s.slot
	return s.whole, d
}

// NewTransient makes a space that lives in memory only.
func NewTransient() *Space { return &Space{} }

// MemBytes gives the memory that all tables occupy, about.
func (s *Space) MemBytes() int64 {
	var n int64
	for _, t := range s.tables {
		n += t.MemBytes()
	}
	return n
}

// FilterBytes gives the part of MemBytes that Evict can't free: what tables know of entries that are only on disk.
func (s *Space) FilterBytes() int64 {
	var n int64
	for _, t := range s.tables {
		n += t.filterBytes()
	}
	return n
}

// FrozenBytes gives the memory of what is copied for checkpoints that are not written yet, about.
func (s *Space) FrozenBytes() int64 {
	var n int64
	for _, f := range s.inFlight {
		if !f.done.Load() {
			for _, p := range f.parts {
				n += p.memBytes()
			}
		}
	}
	return n
}

// DirtyBytes gives the memory of entries that changed since the last Freeze, which the next one will take, about: neither filters nor
// what is spare are part of it.
func (s *Space) DirtyBytes() int64 {
	dirty, _ := s.entryBytes()
	return dirty
}

// CleanBytes gives the memory that Evict can free, about: of entries that did not change since the last Freeze, and what is spare.
func (s *Space) CleanBytes() int64 {
	_, clean := s.entryBytes()
	for _, t := range s.tables {
		clean += t.spareBytes()
	}
	return clean
}

// entryBytes divides the memory of entries, their part of the index included, by how many of them changed since the last Freeze.
func (s *Space) entryBytes() (dirty, clean int64) {
	for _, t := range s.tables {
		if held := t.heldEntries(); held > 0 { // else it is of none
			mem := t.MemBytes() - t.filterBytes() - t.spareBytes()
			d := int64(float64(mem) * float64(min(t.dirtyEntries(), held)) / float64(held))
			dirty, clean = dirty+d, clean+mem-d
		}
	}
	return dirty, clean
}

// PrefixEnd gives the smallest key that is greater than every key with that
// prefix; nil when there is none (all bytes 0xFF).
func PrefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xFF {
			end := append(make([]byte, 0, i+1), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}
