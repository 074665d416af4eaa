package agg

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// A set from which values are taken by position (percentiles), or the most frequent one (mode), has sums beside it (table.Sums), one
// scope for each group: so neither costs in proportion to the group. Changed elements are noted and the sums brought up to date at the
// end of the epoch, before anything reads them, or when very many were noted. Without sums (sessions, windows that come out once, SELECT) the set is gone through.

// setSums is the sums of one set.
type setSums struct {
	*table.Sums
	setSummary
	idle  bool // a SELECT runs, which reads each group once
	arena []byte
	noted []noted
}

// noted is the key of an element that changed, in the arena; the first scope bytes are the group's scope.
type noted struct{ off, n, scope int }

// notedMax bounds the bytes of noted keys.
const notedMax = 16 << 20

// declareSums makes the sums of the sets that want them, over the ordered table sets.
func (p *program) declareSums(sets *table.Ordered, sp *table.Space, opID int) {
	b := types.Of(types.Bytea)
	for _, c := range p.sets {
		if !c.places && !c.modal {
			continue
		}
		s := &setSums{setSummary: setSummary{typ: c.args[0].typ, modal: c.modal}}
		nodes := sp.Ordered(table.Decl{Operator: opID, Name: "values-sums-" + strconv.Itoa(c.id),
			Key: []table.Column{{Name: "node", Type: b}}, Value: []table.Column{{Name: "sum", Type: b}}})
		s.Sums = table.NewSums(sets, nodes, &s.setSummary)
		c.sums = s
	}
}

// eachSums calls f for the sums that there are.
func (p *program) eachSums(f func(s *setSums)) {
	for _, c := range p.sets {
		if c.sums != nil {
			f(c.sums)
		}
	}
}

func (s *setSums) note(key []byte, scope int) {
	if s.idle {
		return
	}
	s.noted = append(s.noted, noted{len(s.arena), len(key), scope})
	if s.arena = append(s.arena, key...); len(s.arena) > notedMax {
		s.settle()
	}
}

// settle brings the sums up to date.
func (s *setSums) settle() {
	if len(s.noted) == 0 {
		return
	}
	keyOf := func(n noted) []byte { return s.arena[n.off : n.off+n.n : n.off+n.n] }
	slices.SortFunc(s.noted, func(a, b noted) int { return bytes.Compare(keyOf(a), keyOf(b)) })
	var scope []byte
	var keys [][]byte
	for i, n := range s.noted {
		k := keyOf(n)
		if i > 0 && bytes.Equal(k[:n.scope], scope) {
			if !bytes.Equal(k, keys[len(keys)-1]) {
				keys = append(keys, k)
			}
			continue
		}
		if len(keys) > 0 {
			s.Update(scope, keys)
		}
		scope, keys = k[:n.scope], append(keys[:0], k)
	}
	s.Update(scope, keys)
	s.noted = s.noted[:0]
	if s.arena = s.arena[:0]; cap(s.arena) > 1<<20 {
		s.arena, s.noted = nil, nil
	}
}

// run is neighbours in a set that are equal: how often they occur, and the encoding of the first one.
type run struct {
	n   int64
	val []byte
}

// setSummary is a table.Summary of elements: their number, and for mode the first, the last and the longest run, of equally long ones the first.
//
// Stored: number (uvarint); for mode 1 if there is one run only, else 0, and each run: its length (uvarint), length of the value and the value.
type setSummary struct {
	typ   types.Type
	modal bool

	rows              int64
	single            bool
	first, last, best run
}

// Reset implements table.Summary.
func (s *setSummary) Reset() { *s = setSummary{typ: s.typ, modal: s.modal} }

// Entry implements table.Summary.
func (s *setSummary) Entry(_, val []byte) {
	n := s.EntryRows(val)
	if n == 0 {
		return
	}
	if s.modal {
		r := run{n, bytes.Clone(val[8:])}
		s.join(true, r, r, r)
	}
	s.rows += n
}

// join adds runs at the right.
func (s *setSummary) join(single bool, first, last, best run) {
	if s.rows == 0 {
		s.single, s.first, s.last, s.best = single, first, last, best
		return
	}
	if !s.equal(s.last.val, first.val) {
		s.single, s.last = false, last
	} else {
		both := run{s.last.n + first.n, s.last.val}
		if s.single {
			s.first = both
		}
		if s.last = both; !single {
			s.last = last
		}
		s.single = s.single && single
		if both.n > s.best.n {
			s.best = both
		}
	}
	if best.n > s.best.n {
		s.best = best
	}
}

func (s *setSummary) equal(a, b []byte) bool {
	return bytes.Equal(a, b) || formsDiffer(s.typ) && types.Equal(s.typ, readField(s.typ, a), readField(s.typ, b))
}

// Node implements table.Summary.
func (s *setSummary) Node(sum []byte) {
	n, sum := rowenc.Uvarint(sum)
	if n > 0 && s.modal {
		var r [3]run
		single := sum[0] == 1
		sum = sum[1:]
		for i := range r {
			var count, size uint64
			count, sum = rowenc.Uvarint(sum)
			size, sum = rowenc.Uvarint(sum)
			r[i] = run{int64(count), bytes.Clone(sum[:size])}
			sum = sum[size:]
		}
		s.join(single, r[0], r[1], r[2])
	}
	s.rows += int64(n)
}

// Append implements table.Summary.
func (s *setSummary) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(s.rows))
	if s.rows == 0 || !s.modal {
		return dst
	}
	if s.single {
		dst = append(dst, 1)
	} else {
		dst = append(dst, 0)
	}
	for _, r := range []run{s.first, s.last, s.best} {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(r.n)), uint64(len(r.val)))
		dst = append(dst, r.val...)
	}
	return dst
}

// Rows implements table.Summary.
func (s *setSummary) Rows(sum []byte) int64 {
	n, _ := rowenc.Uvarint(sum)
	return int64(n)
}

// EntryRows implements table.Summary.
func (s *setSummary) EntryRows(val []byte) int64 {
	return max(int64(binary.LittleEndian.Uint64(val)), 0)
}

// mode gives the most frequent value of an entry's set, NULL for an empty one.
func (c *setCell) mode(t *target, slot int32) types.Datum {
	if c.sums != nil && !c.sums.idle {
		if c.sums.Range(c.prefix(t, slot), nil, nil); c.sums.rows == 0 {
			return types.NullDatum
		}
		return readField(c.args[0].typ, c.sums.best.val).Clone()
	}
	all := setSummary{typ: c.args[0].typ, modal: true}
	lo := bytes.Clone(c.prefix(t, slot))
	t.sets.Scan(lo, table.PrefixEnd(lo), func(k, v []byte) bool {
		all.Entry(k, v)
		return true
	})
	if all.rows == 0 {
		return types.NullDatum
	}
	return readField(all.typ, all.best.val).Clone()
}

// pick gives the values at two positions of an entry's set, i <= j.
func (c *setCell) pick(t *target, slot int32, i, j int64) (a, b types.Datum) {
	if c.sums != nil && !c.sums.idle {
		scope := c.prefix(t, slot)
		_, val, before, ok := c.sums.Select(scope, i)
		if !ok {
			return types.NullDatum, types.NullDatum
		}
		a = readField(c.args[0].typ, val[8:])
		if b = a; j >= before+c.sums.EntryRows(val) {
			if _, val, _, ok = c.sums.Select(scope, j); ok {
				b = readField(c.args[0].typ, val[8:])
			}
		}
		return a, b
	}
	var seen int64
	found := false
	c.each(t, slot, func(n int64, args []types.Datum) bool {
		seen += n
		if !found && seen > i {
			a, found = args[0].Clone(), true
		}
		if seen > j {
			b = args[0].Clone()
			return false
		}
		return true
	})
	return a, b
}
