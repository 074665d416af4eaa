package agg

import (
	"strconv"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// distinctTable says how often each group has had each list of arguments, for the DISTINCT aggregates over these arguments: they differ
// by their FILTER, and each has a count of its own in the entry. Accumulators are told when a list appears or disappears. It is for
// arguments whose key bytes tell their values, which needs neither order nor the values as they came (setCell).
//
// State: a hash table of the group's key bytes and the arguments' (for windowed groups one for each window), with one word for each filter.
// Over append-only input it is 0 or 1, so that an element that comes again changes nothing that a checkpoint would have to write.
type distinctTable struct {
	id         int
	args       []*keyCol
	sets       []*distinctSet
	appendOnly bool

	// Of the block at hand: the rows that have an element, their groups and elements.
	row, slot []int32
	data      []byte
	off       []uint32
	hashes    []uint64
	elem      []int32
	changed   []int32 // elements whose counts changed
	ended     []int32 // elements one of whose counts came to 0
}

// distinctSet is the lists of arguments that pass one filter.
type distinctSet struct {
	in      *input
	off     int
	inner   []cell // their input is changes
	changes *input
	picked  []int32 // rows of in.cols that changes has
}

// tellsApart says whether the key bytes of a type determine its values.
func tellsApart(ts []types.Type) bool {
	for _, t := range ts {
		if needsForm(t) {
			return false
		}
	}
	return true
}

// addDistinct enters the set of an input in the table of its arguments.
func (p *program) addDistinct(in *input, ts []types.Type) *distinctSet {
	key := "distinct"
	for _, a := range in.args {
		key += " " + strconv.Itoa(a)
	}
	d, _ := share(p, key, func() (*distinctTable, error) {
		d := &distinctTable{id: len(p.distincts), appendOnly: p.appendOnly}
		for _, t := range ts {
			d.args = append(d.args, &keyCol{typ: t, form: formOf(t)})
		}
		p.distincts = append(p.distincts, d)
		p.cells = append(p.cells, d)
		return d, nil
	})
	for _, s := range d.sets {
		if s.in == in {
			return s
		}
	}
	s := &distinctSet{in: in, off: len(d.sets), changes: &input{filter: -1}}
	for _, t := range ts {
		s.changes.cols = append(s.changes.cols, batch.NewVector(t, 0))
	}
	d.sets = append(d.sets, s)
	return s
}

// decl declares the table, of groups with the given keys.
func (d *distinctTable) decl(opID int, group []table.Column) table.Decl {
	t := table.Decl{Operator: opID, Name: "distinct" + strconv.Itoa(d.id+1), Key: append([]table.Column(nil), group...), Words: len(d.sets)}
	for i, c := range d.args {
		t.Key = append(t.Key, table.Column{Name: "value" + strconv.Itoa(i+1), Type: c.typ})
	}
	for i := range d.sets {
		t.Value = append(t.Value, table.Column{Name: "count" + strconv.Itoa(i+1), Type: types.Of(types.Int8)})
	}
	return t
}

// add implements cell.
func (d *distinctTable) add(t *target) {
	d.gather(t)
	if len(d.row) == 0 {
		return
	}
	h := t.distinct[d.id]
	d.encode(t)
	if cap(d.elem) < len(d.row) {
		d.elem = make([]int32, max(len(d.row), batch.Target))
	}
	d.elem = d.elem[:len(d.row)]
	h.FindOrAddBytes(d.hashes, d.off, d.data, d.elem)
	d.changed, d.ended = d.changed[:0], d.ended[:0]
	words, stride := h.WordsAll()
	for _, s := range d.sets {
		d.count(s, words, stride)
	}
	h.MarkDirty(d.changed)
	d.drop(h)
	for _, s := range d.sets {
		if len(s.changes.rs.slot) > 0 {
			for _, c := range s.inner {
				c.add(t)
			}
		}
	}
}

// gather lists the rows that are in some set, ascending.
func (d *distinctTable) gather(t *target) {
	for _, s := range d.sets {
		if s.in.pass == nil || len(d.sets) == 1 { // the others' rows are among its
			d.row, d.slot = append(d.row[:0], s.in.rs.row...), append(d.slot[:0], s.in.rs.slot...)
			return
		}
	}
	d.row, d.slot = d.row[:0], d.slot[:0]
	at := make([]int, len(d.sets))
	for k, r := range t.rows {
		in := false
		for i, s := range d.sets {
			if rows := s.in.rs.row; at[i] < len(rows) && rows[at[i]] == r {
				at[i]++
				in = true
			}
		}
		if in {
			d.row, d.slot = append(d.row, r), append(d.slot, t.slot[k])
		}
	}
}

// encode builds the elements of the rows.
func (d *distinctTable) encode(t *target) {
	for i, c := range d.args {
		c.v = d.sets[0].in.cols[i]
	}
	d.data, d.off, d.hashes = d.data[:0], append(d.off[:0], 0), d.hashes[:0]
	last, lo, hi := int32(-1), 0, 0 // the group of the row before, and where its key is
	for k, r := range d.row {
		start := len(d.data)
		if s := d.slot[k]; s == last {
			d.data = append(d.data, d.data[lo:hi]...)
		} else {
			d.data = append(d.data, t.groupKey(s)...)
			last, lo, hi = s, start, len(d.data)
		}
		for _, c := range d.args {
			d.data = c.append(d.data, int(r))
		}
		d.off = append(d.off, uint32(len(d.data)))
		d.hashes = append(d.hashes, table.HashBytes(d.data[start:]))
	}
}

// count adds the rows of a set to its counts and collects what appears and disappears.
func (d *distinctTable) count(s *distinctSet, words []int64, stride int) {
	rs, ch := &s.in.rs, s.changes
	ch.row, ch.slot, ch.rs.w, s.picked = ch.row[:0], ch.slot[:0], ch.rs.w[:0], s.picked[:0]
	j := 0
	for k, r := range rs.row {
		for d.row[j] != r {
			j++
		}
		e := d.elem[j]
		n := &words[int(e)*stride+s.off]
		was, is := *n, *n+rs.weight(k)
		if d.appendOnly {
			if is = 1; was == 1 {
				continue
			}
		}
		*n = is
		d.changed = append(d.changed, e)
		if is == 0 {
			d.ended = append(d.ended, e)
		}
		if was > 0 == (is > 0) {
			continue
		}
		ch.row, ch.slot, s.picked = append(ch.row, int32(len(ch.row))), append(ch.slot, rs.slot[k]), append(s.picked, r)
		ch.rs.w = append(ch.rs.w, 1)
		if is <= 0 {
			ch.rs.w[len(ch.rs.w)-1] = -1
		}
	}
	ch.rs = rowset{row: ch.row, slot: ch.slot, w: ch.rs.w}
	for i, v := range ch.cols {
		v.Reset(v.Type)
		if len(s.picked) > 0 {
			v.AppendVector(s.in.cols[i], s.picked)
		}
	}
}

// drop removes elements of which nothing is left.
func (d *distinctTable) drop(h *table.Hash) {
	for _, e := range d.ended {
		gone := true
		for _, n := range h.Words(e) {
			gone = gone && n == 0
		}
		if gone {
			h.Remove(e)
		}
	}
}

// merge is never called: sessions with DISTINCT aggregates keep their rows.
func (d *distinctTable) merge(*target, []int32, *target, []int32) {
	panic("agg: merge of distinct values")
}

// distincts is the tables of a group's distinctTables. Without an event key: plain. With one: windows, and plain for the groups
// whose event time is NULL.
type distincts struct {
	plain   []*table.Hash
	windows []*table.Windows
}

func (x *distincts) declare(p *program, sp *table.Space, opID int, group []table.Column, windowed bool) {
	for _, d := range p.distincts {
		decl := d.decl(opID, group)
		if windowed {
			x.windows = append(x.windows, sp.Windows(decl))
			decl.Name += "-no-time"
		}
		x.plain = append(x.plain, sp.Hash(decl))
	}
}

// at gives the tables of a window, appended to dst.
func (x *distincts) at(start, end int64, dst []*table.Hash) []*table.Hash {
	for _, w := range x.windows {
		dst = append(dst, w.At(start, end))
	}
	return dst
}

// close drops the tables of the windows that late says are closed.
func (x *distincts) close(late func(end int64) bool) {
	for _, w := range x.windows {
		for _, end := range w.Ends() {
			if !late(end) {
				break
			}
			w.Drop(end)
		}
	}
}

// memBytes is about the memory that the tables occupy.
func (x *distincts) memBytes() int64 {
	n := int64(0)
	for _, h := range x.plain {
		n += h.MemBytes()
	}
	for _, w := range x.windows {
		n += w.MemBytes()
	}
	return n
}
