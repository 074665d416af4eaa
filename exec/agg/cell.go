package agg

import (
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/state/table"
)

// State: the words that every entry begins with.
const (
	wordRows  = 0 // rows of the group: the sum of their weights
	headWords = 1
)

// cell is an accumulator: some words of an entry, or a field of its blob, or a
// range of the ordered table. Accumulators are shared by the aggregates that need the same one.
type cell interface {
	// add adds the rows of the cell's input to their entries.
	add(t *target)
	// merge adds what entries from of src have accumulated to entries to of dst, pair by pair. It is used only over append-only input, by
	// cells that have no ordered state. The targets have one layout and may be the same.
	merge(dst *target, to []int32, src *target, from []int32)
}

// target is what rows are accumulated into: one hash table, which for windowed groups is one window's.
type target struct {
	h          *table.Hash
	fields     int // blob fields of an entry
	sets       *table.Ordered
	distinct   []*table.Hash // of the program's distincts
	kind       targetKind
	null       *target // where NULL is apart: the one whose key is NULL
	active     bool    // has rows of the batch at hand
	close      int64   // of windowTarget: when it closes, microseconds
	intKey     bool    // keys are ints
	textKey    bool    // keys are texts, not encoded
	nullKey    bool    // the groups whose key is NULL, where it is apart
	start, end int64   // of windowTarget: the event key's value
	prefix     []byte  // of the keys in sets
	key, ikey  []byte  // scratch

	rows []int32 // rows of the batch at hand
	own  []int32 // backing of rows, where they are not all rows
	slot []int32 // their entries
	one  bool    // all of them are the same
	seen slotSet // entries touched in this epoch
	// alike is how many of slot, from the first on, are the same from a time before, where one is set for all rows that come.
	alike int
}

// emptied gives an unused target with the memory of t.
func (t *target) emptied() target {
	return target{own: t.own[:0], slot: t.slot[:0], key: t.key[:0], ikey: t.ikey[:0], prefix: t.prefix[:0], seen: t.seen.emptied(), distinct: t.distinct[:0]}
}

// ofNull makes it the target of NULL, where it is apart.
func (t *target) ofNull() { t.intKey, t.textKey, t.nullKey = false, false, true }

type targetKind uint8

const (
	plainTarget  targetKind = iota // groups without event time
	windowTarget                   // groups of one window end or event time
	nullTarget                     // groups whose event time is NULL
)

// word gives word off of an entry.
func (t *target) word(slot int32, off int) int64 {
	words, w := t.h.WordsAll()
	return words[int(slot)*w+off]
}

// at gives n words of an entry from off on.
func (t *target) at(slot int32, off, n int) []int64 {
	words, w := t.h.WordsAll()
	lo := int(slot)*w + off
	return words[lo : lo+n : lo+n]
}

// State: a blob is the number of fields, their lengths, 4 bytes little-endian each, and then the fields. Field 0 is the
// row values of the keys as they were seen first, where key bytes do not determine the keys; else it is empty.

// field gives a field of an entry's blob, empty if it was never set; it may be changed in place.
func (t *target) field(slot int32, i int) []byte {
	b := t.h.Blob(slot)
	if b == nil {
		return nil
	}
	at := 4 + 4*t.fields
	for k := 1; k <= i; k++ {
		at += int(binary.LittleEndian.Uint32(b[4*k:]))
	}
	n := int(binary.LittleEndian.Uint32(b[4*(i+1):]))
	return b[at : at+n : at+n]
}

// setField replaces a field.
func (t *target) setField(slot int32, i int, f []byte) {
	old := t.field(slot, i)
	if len(old) == len(f) && len(f) > 0 {
		copy(old, f)
		return
	}
	b := t.h.Blob(slot)
	nb := t.key[:0]
	if b == nil {
		nb = binary.LittleEndian.AppendUint32(nb, uint32(t.fields))
		for k := 0; k < t.fields; k++ {
			nb = append(nb, 0, 0, 0, 0)
		}
		nb = append(nb, f...)
	} else {
		at := 4 + 4*t.fields
		for k := 1; k <= i; k++ {
			at += int(binary.LittleEndian.Uint32(b[4*k:]))
		}
		nb = append(nb, b[:at]...)
		nb = append(nb, f...)
		nb = append(nb, b[at+len(old):]...)
	}
	binary.LittleEndian.PutUint32(nb[4*(i+1):], uint32(len(f)))
	t.key = nb[:0]
	t.h.SetBlob(slot, nb)
}

// grow gives a field of n bytes, zeroed where it is new.
func (t *target) grow(slot int32, i, n int) []byte {
	if f := t.field(slot, i); len(f) == n {
		return f
	}
	t.setField(slot, i, make([]byte, n))
	return t.field(slot, i)
}

// rowset is a set of rows of a batch and the entries they belong to.
type rowset struct {
	row, slot []int32
	w         []int64 // weights by row of the batch; nil: all 1
	one       bool    // there are rows, all of one entry
}

// each says whether each row counts once, for the entry that it has.
func (r *rowset) each() bool { return r.w == nil && !r.one }

func (r *rowset) weight(k int) int64 {
	if r.w == nil {
		return 1
	}
	return r.w[r.row[k]]
}

// input is a list of arguments under a filter. Aggregates over the same arguments share it, and it is
// evaluated once for each batch.
type input struct {
	args   []int // expressions of the program
	filter int   // filter of the program, -1 for none
	// strict inputs leave out rows in which one of the first `strict` arguments is NULL.
	strict int

	cols []*batch.Vector // of the batch at hand
	pass []bool          // rows that the filter passes, nil: all
	rs   rowset          // of the target at hand
	row  []int32         // backing of rs
	slot []int32
}

// bind selects the input's rows among those of a target.
func (in *input) bind(t *target, w []int64) {
	nulls := false
	for _, c := range in.cols[:in.strict] {
		nulls = nulls || c.Valid != nil
	}
	in.rs = rowset{row: t.rows, slot: t.slot, w: w, one: t.one && len(t.slot) > 0}
	if in.pass == nil && !nulls {
		return
	}
	in.row, in.slot = in.row[:0], in.slot[:0]
next:
	for k, r := range t.rows {
		if in.pass != nil && !in.pass[r] {
			continue
		}
		for _, c := range in.cols[:in.strict] {
			if c.IsNull(int(r)) {
				continue next
			}
		}
		in.row, in.slot = append(in.row, r), append(in.slot, t.slot[k])
	}
	in.rs.row, in.rs.slot, in.rs.one = in.row, in.slot, in.rs.one && len(in.slot) > 0
}
