package table

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Open makes the space of a view over what a store has for it. It panics with *Failure when that cannot be read.
func Open(b Backing) *Space {
	s := &Space{backing: b, stored: map[int][]byte{}}
	fail(b.Scan([]byte{spaceMeta}, []byte{spaceMeta + 1}, false, func(k, v []byte) bool {
		if len(k) == 3 {
			s.stored[int(binary.BigEndian.Uint16(k[1:]))] = append([]byte(nil), v...)
		}
		return true
	}))
	return s
}

// Ordered declares the next table of the space, or opens it again after a restart.
func (s *Space) Ordered(d Decl) *Ordered {
	s, d = s.of(d)
	inf, absent := s.declare(KindOrdered, d)
	t := newOrdered(inf, dataKey(inf.ord))
	t.absent, t.partial = max(absent, 0), absent > 0
	s.tables = append(s.tables, t)
	return t
}

// Hash declares the next table of the space, or opens it again after a restart.
func (s *Space) Hash(d Decl) *Hash {
	s, d = s.of(d)
	inf, absent := s.declare(KindHash, d)
	t := newHash(inf, dataKey(inf.ord))
	if absent > 0 {
		t.bits, t.laid = inf.bits, true
		t.setPartial(absent)
	}
	s.tables = append(s.tables, t)
	return t
}

// Windows declares the next table of the space, or opens it again after a restart.
func (s *Space) Windows(d Decl) *Windows { return declareParts(s, KindWindows, d, newWindows) }

// Stretches declares the next table of the space, or opens it again after a restart.
func (s *Space) Stretches(d Decl) *Stretches { return declareParts(s, KindStretches, d, newStretches) }

// Expiring declares the next table of the space, or opens it again after a restart.
func (s *Space) Expiring(d Decl) *Expiring { return declareParts(s, KindExpiring, d, newExpiring) }

// partedTable is a table of parts by time, which finds the descriptions of those on disk.
type partedTable interface {
	member
	reopen()
}

func declareParts[T partedTable](s *Space, k Kind, d Decl, make func(*tableInfo) T) T {
	s, d = s.of(d)
	inf, known := s.declare(k, d)
	t := make(inf)
	if known >= 0 && s.backing != nil {
		t.reopen()
	}
	s.tables = append(s.tables, t)
	return t
}

// Verify is called when all tables are declared. It gives the error of a
// space whose declarations are not those that the store has (55000), saying
// what changed. The tables must then not be used.
func (s *Space) Verify() error {
	if s.mismatch != nil {
		return s.mismatch
	}
	for ord, raw := range s.stored {
		if ord >= len(s.tables) {
			return changed("table %d, %s, is no longer declared", ord, describe(raw))
		}
	}
	return nil
}

func changed(format string, args ...any) error {
	return sqlerr.New(sqlerr.NotInPrerequisiteState, "operator state does not match the plan of the view").
		WithDetail(format, args...).
		WithHint("The view must be rebuilt from its inputs.")
}

// declare registers a table; it gives the number of entries stored for it, -1 for a new one.
func (s *Space) declare(kind Kind, d Decl) (*tableInfo, int64) {
	inf := &tableInfo{sp: s, ord: len(s.tables), kind: kind, decl: d}
	if inf.ord > math.MaxUint16 {
		panic(&Failure{fmt.Errorf("more than %d tables in one space", math.MaxUint16)})
	}
	raw, ok := s.stored[inf.ord]
	if !ok {
		if len(s.stored) > 0 && s.mismatch == nil {
			s.mismatch = changed("table %d, %s, is new", inf.ord, describe(inf.encode(0)))
		}
		return inf, -1
	}
	count, diff := inf.compare(raw)
	if diff != "" {
		if s.mismatch == nil {
			s.mismatch = changed("%s", diff)
		}
		return inf, -1
	}
	return inf, count
}

// storedDecl is a declaration as it is stored, in JSON behind the number of entries as a varint and the bits of the number of buckets in a byte.
type storedDecl struct {
	Kind     string
	Operator int
	Name     string
	Slot     int      `json:",omitempty"`
	Words    int      `json:",omitempty"`
	Rare     int      `json:",omitempty"`
	IntKey   bool     `json:",omitempty"`
	TextKey  bool     `json:",omitempty"`
	Width    int64    `json:",omitempty"`
	Forgets  bool     `json:",omitempty"`
	Key      []Column `json:",omitempty"`
	Value    []Column `json:",omitempty"`
}

func (inf *tableInfo) encode(entries int64) []byte {
	d := inf.decl
	js, err := json.Marshal(storedDecl{string(inf.kind), d.Operator, d.Name, d.Slot, d.Words, d.Rare, d.IntKey, d.TextKey, d.Width, d.Forgets, d.Key, d.Value})
	fail(err)
	return append(append(binary.AppendVarint(nil, entries), byte(inf.bits)), js...)
}

func parseDecl(raw []byte) (entries int64, bits uint, d storedDecl, err error) {
	entries, n := binary.Varint(raw)
	if n <= 0 || entries < 0 || n == len(raw) || raw[n] > maxBuckets {
		return 0, 0, d, fmt.Errorf("declaration of a state table is malformed")
	}
	err = json.Unmarshal(raw[n+1:], &d)
	if err == nil && (len(d.Kind) != 1 || d.Rare < 0 || d.Words < d.Rare || d.Width < 0 || d.Width == 0 && (d.Kind == string(KindStretches) || d.Kind == string(KindExpiring))) {
		err = fmt.Errorf("declaration of a state table is malformed")
	}
	return entries, uint(raw[n]), d, err
}

func describe(raw []byte) string {
	_, _, d, err := parseDecl(raw)
	if err != nil {
		return "an unreadable declaration"
	}
	return fmt.Sprintf("%q of operator %d", d.Name, d.Operator)
}

// compare gives the stored number of entries, or what differs. The width of stretches does not: those that are there keep theirs, and so does the
// table, as it is a matter of layout.
func (inf *tableInfo) compare(raw []byte) (entries int64, diff string) {
	entries, bits, was, err := parseDecl(raw)
	if err != nil {
		return 0, err.Error()
	}
	d := inf.decl
	where := fmt.Sprintf("table %d, %q of operator %d: ", inf.ord, d.Name, d.Operator)
	switch {
	case was.Name != d.Name || was.Operator != d.Operator:
		return 0, fmt.Sprintf("%sit was %q of operator %d", where, was.Name, was.Operator)
	case was.Kind != string(inf.kind):
		return 0, fmt.Sprintf("%sthe kind of table was %q and is %q", where, was.Kind, string(inf.kind))
	case was.Slot != d.Slot:
		return 0, fmt.Sprintf("%sit was of slot %d and is of %d", where, was.Slot, d.Slot)
	case was.Words != d.Words:
		return 0, fmt.Sprintf("%sentries had %d words and have %d", where, was.Words, d.Words)
	case was.Rare != d.Rare:
		return 0, fmt.Sprintf("%s%d words of entries were rare and %d are", where, was.Rare, d.Rare)
	case was.IntKey != d.IntKey || was.TextKey != d.TextKey:
		return 0, where + "the form of the key changed"
	case (was.Width == 0) != (d.Width == 0):
		return 0, where + "the width of stretches changed"
	case was.Forgets != d.Forgets:
		return 0, where + "the meaning of marks changed"
	}
	if s := compareColumns("key", was.Key, d.Key); s != "" {
		return 0, where + s
	}
	if s := compareColumns("value", was.Value, d.Value); s != "" {
		return 0, where + s
	}
	inf.bits, inf.decl.Width = bits, was.Width
	return entries, ""
}

func compareColumns(what string, was, is []Column) string {
	if len(was) != len(is) {
		return fmt.Sprintf("it had %d %s columns and has %d", len(was), what, len(is))
	}
	for i := range was {
		if was[i].Name != is[i].Name {
			return fmt.Sprintf("%s column %d was %q and is %q", what, i+1, was[i].Name, is[i].Name)
		}
		if !sameStored(was[i].Type, is[i].Type) {
			return fmt.Sprintf("the type of %s column %q changed", what, is[i].Name)
		}
		if s := compareColumns(what, was[i].Ranked, is[i].Ranked); s != "" {
			return s
		}
	}
	return ""
}

// sameStored says whether values of both types are stored alike: the modifier does not matter.
func sameStored(a, b types.Type) bool { return a.Same(b) }

func dataKey(ord int) []byte { return binary.BigEndian.AppendUint16([]byte{spaceData}, uint16(ord)) }

func metaKey(ord int) []byte { return binary.BigEndian.AppendUint16([]byte{spaceMeta}, uint16(ord)) }

func appendEnd(dst []byte, end int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(end)^1<<63)
}

func (w *Windows) windowPrefix(end int64) []byte { return appendEnd(dataKey(w.inf.ord), end) }

func (w *Windows) windowMeta(end int64) []byte { return appendEnd(metaKey(w.inf.ord), end) }

// reopen finds the open windows on disk.
func (w *Windows) reopen() {
	prefix := metaKey(w.inf.ord)
	var err error
	fail(w.inf.sp.backing.Scan(append(metaKey(w.inf.ord), 0), PrefixEnd(prefix), false, func(k, v []byte) bool {
		start, count, bits, ok := parseWindow(v)
		if len(k) != len(prefix)+8 || !ok {
			err = fmt.Errorf("record of a window is malformed: %x = %x", k, v)
			return false
		}
		end := windowEnd(k)
		x := &window{start: start, end: end, onDisk: true, h: newHash(w.inf, w.windowPrefix(end))}
		if count > 0 {
			x.h.bits, x.h.laid = bits, true
			x.h.setPartial(count)
		}
		w.enter(x)
		return true
	}))
	fail(err)
}

// windowEnd reads the window end in a key of a Windows table, of data or description.
func windowEnd(k []byte) int64 { return int64(binary.BigEndian.Uint64(k[3:]) ^ 1<<63) }

// parseWindow reads the record of a window: its start, the number of its entries and the bits of that of its buckets.
func parseWindow(v []byte) (start, count int64, bits uint, ok bool) {
	start, n := binary.Varint(v)
	if n <= 0 {
		return 0, 0, 0, false
	}
	count, m := binary.Varint(v[n:])
	if m <= 0 || n+m+1 != len(v) || count < 0 || v[n+m] > maxBuckets {
		return 0, 0, 0, false
	}
	return start, count, uint(v[n+m]), true
}
