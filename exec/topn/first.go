package topn

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// maxFirst is the number of rows of a partition up to which they are kept as one list: a row that comes in moves those before it.
const maxFirst = 128

// keepsFirst says whether first can do a plan.TopN. Rows that sort alike, as WithTies wants them, can be any number.
func keepsFirst(n *plan.TopN) bool {
	return n.Input.Props().AppendOnly && !n.WithTies && n.Limit > 0 && rowenc.AddSat(n.Offset, n.Limit) <= maxFirst
}

// first keeps rows [Offset, Offset+Limit) of each partition of an input that only grows, for few rows: a row beyond
// the last of them never comes in. Most rows are such, and are left out by a look at one word of their partition.
//
// State:
//
//	default  partition -> end and number of its rows (see the words of lists), and the first Offset+Limit of them (rowenc.Ranked)
//	null     the same of the partition NULL, if the key of partitions is one integer
//	size     one entry: the number of rows in both, a varint
//	expiry   see rowenc.Expiry; if partitions close
type first struct {
	n         *plan.TopN
	env       *kernel.Env
	partition *rowenc.Partitions
	sort      *rowenc.SortKeys
	keep      int64 // rows of a partition
	intKey    bool
	lists     *lists
	nulls     *lists // nil without intKey
	size      *table.Ordered
	expiry    *rowenc.Expiry // nil if partitions never close
	out       *rowenc.Out
	stats     dataflow.Stats
	grown     int64 // rows more than there were before the epoch
	enough

	// Of the batch at hand, by row where not said otherwise.
	heads  []uint64
	slots  []int32
	all    []int32 // every row
	found  []int32 // slots by place in a block
	cand   []int32 // rows that are not beyond the end
	hashes []uint64
	off    []uint32
	data   []byte // keys of partitions
	key    []byte
	row    []byte
	elem   []byte
	list   []byte
}

// lists is a table of partitions and what is known of it in an epoch. Words of an entry: the complement of the head of the last of
// its rows, if it has as many as it may have (0, so that no head is beyond it, otherwise); the number of its rows.
type lists struct {
	h       *table.Hash
	touched []touched // in the order in which they first were
	marks   []uint64  // two bits a slot: that it is touched; that more than one row came in
	starts  []int32   // buffer

	// Of touchMemory.
	near  []int32
	blobs [][]byte
	sum   byte
}

// touched is a list whose rows changed, and where in it the first row stands that came in.
type touched struct{ slot, at int32 }

const marksInWord = 32

const (
	endWord = iota
	countWord
	firstWords
)

func newFirst(n *plan.TopN, in dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (*first, error) {
	f := &first{n: n, env: env, keep: n.Offset + n.Limit, enough: newEnough(n), out: rowenc.NewOut(in[0])}
	f.stats.Name = operatorName
	var err error
	if f.partition, err = rowenc.CompilePartitions(n.PartitionBy, in[0], n.Timed, n.TimeKey); err != nil {
		return nil, err
	}
	if f.sort, err = rowenc.CompileSort(n.Sort, in[0]); err != nil {
		return nil, err
	}
	bigint := types.Of(types.Int8)
	f.intKey = len(n.PartitionBy) == 1 && !n.Timed && f.partition.Types[0].Layout() == types.LayoutI64
	rows := append(f.sort.Columns(), rowenc.Columns("c", in[0])...)
	decl := table.Decl{Operator: opID, Name: "default", Key: f.partition.Columns(), Words: firstWords, IntKey: f.intKey,
		Value: []table.Column{{Name: "end", Type: bigint}, {Name: "rows", Type: bigint}, {Name: "row", Type: types.Of(types.Bytea), Ranked: rows}}}
	f.lists = &lists{h: sp.Hash(decl)}
	if f.intKey {
		decl.Name, decl.IntKey = decl.Name+table.NullName, false
		f.nulls = &lists{h: sp.Hash(decl)}
	}
	f.size = sp.Ordered(table.Decl{Operator: opID, Name: "size", Value: []table.Column{{Name: "rows", Type: bigint}}})
	if n.Timed {
		f.expiry = rowenc.NewExpiry(sp, opID, "expiry")
	}
	return f, nil
}

// Push implements dataflow.Operator.
func (f *first) Push(ep *dataflow.Epoch, _ int, b *batch.Batch, out dataflow.Emit) error {
	if !b.InsertOnly() {
		return sqlerr.New(sqlerr.InternalError, "a row was deleted from an append-only input")
	}
	b, part, sort, sel, err := evaluate(ep, f.env, b, f.partition, f.sort, &f.stats)
	if err != nil {
		return err
	}
	f.took(b.N, sel, f.sort, sort)
	f.setHeads(b.N, sel, sort)
	f.slots = room(f.slots, b.N)
	x := rowsAt{b: b, part: part, sort: sort, out: out}
	if f.intKey && part[0].Valid != nil {
		var nulls []int32
		if sel, nulls = presence(part[0], b.N, sel); len(nulls) > 0 {
			slot := f.nulls.h.FindOrAddKey(table.NullKey)
			for _, i := range nulls {
				f.slots[i] = slot
			}
			if err := f.offer(x, f.nulls, nulls); err != nil {
				return err
			}
		}
	}
	all := sel == nil
	if all {
		for i := int32(len(f.all)); i < int32(b.N); i++ {
			f.all = append(f.all, i)
		}
		sel = f.all[:b.N]
	}
	// A block's partitions and lists stay in the near caches from when they are found to when they change.
	for lo := 0; lo < len(sel); lo += block {
		rows := sel[lo:min(lo+block, len(sel))]
		switch {
		case !f.intKey:
			f.findBytes(rows, part)
		case all:
			hi := lo + len(rows)
			f.lists.h.FindOrAddInts(part[0].I64[lo:hi], nil, f.slots[lo:hi])
		default:
			f.lists.h.FindOrAddInts(part[0].I64, rows, f.slots)
		}
		if err := f.offer(x, f.lists, rows); err != nil {
			return err
		}
		// Many lists are shown while they are in the near caches; few may change again in the epoch.
		if len(f.lists.touched) >= ahead && !ep.Final {
			if err := f.show(f.lists, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// Variables for tests.
var (
	block = 256 // rows that are taken together
	ahead = 128 // lists that are
)

// rowsAt is the batch at hand, with the values of the expressions over it.
type rowsAt struct {
	b          *batch.Batch
	part, sort []*batch.Vector
	out        dataflow.Emit
}

// presence divides the selected rows by whether a value is NULL.
func presence(v *batch.Vector, n int, sel []int32) (present, nulls []int32) {
	present = make([]int32, 0, n)
	_ = rowenc.EachRow(n, sel, func(i int) error {
		if v.IsNull(i) {
			nulls = append(nulls, int32(i))
		} else {
			present = append(present, int32(i))
		}
		return nil
	})
	return present, nulls
}

func room[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// findBytes finds the partitions of rows by their keys.
func (f *first) findBytes(rows []int32, part []*batch.Vector) {
	if len(part) == 0 {
		slot := f.lists.h.FindOrAddKey(nil)
		for _, i := range rows {
			f.slots[i] = slot
		}
		return
	}
	f.data, f.off = f.data[:0], append(f.off[:0], 0)
	for _, i := range rows {
		f.data = f.partition.Append(f.data, part, int(i))
		f.off = append(f.off, uint32(len(f.data)))
	}
	f.hashes = room(f.hashes, len(rows))
	table.HashMany(f.data, f.off, f.hashes)
	f.found = room(f.found, len(rows))
	f.lists.h.FindOrAddBytes(f.hashes, f.off, f.data, f.found)
	for k, i := range rows {
		f.slots[i] = f.found[k]
	}
}

// setHeads computes of each selected row the start of its sort key.
func (f *first) setHeads(n int, sel []int32, sort []*batch.Vector) {
	f.heads = room(f.heads, n)
	if len(sort) == 0 {
		clear(f.heads)
		return
	}
	k, v := f.n.Sort[0], sort[0]
	if v.Type.Layout() == types.LayoutI64 && v.Valid == nil {
		flip := uint64(1) << 63
		if k.Desc {
			flip = ^flip
		}
		for i, x := range v.I64[:n] {
			f.heads[i] = uint64(x) ^ flip
		}
		return
	}
	_ = rowenc.EachRow(n, sel, func(i int) error {
		f.key = types.AppendKey(f.key[:0], v.Type, v.Datum(i), k.Desc, k.NullsFirst)
		f.heads[i] = headOf(f.key)
		return nil
	})
}

// headOf gives a word by which sort keys, made by rowenc.SortKeys, are in order as far as it tells them apart.
func headOf(key []byte) uint64 {
	if len(key) == 0 || key[0] == 0 {
		return 0 // no key, or NULL first
	}
	if key[0] != 1 {
		return math.MaxUint64 // NULL last
	}
	return table.Head(key[1:])
}

// offer puts rows, whose slots and heads are known, into the lists that they belong to.
func (f *first) offer(x rowsAt, l *lists, rows []int32) error {
	f.cand = room(f.cand, len(rows))
	words, stride := l.h.WordsAll()
	k := 0
	for _, i := range rows {
		f.cand[k] = i
		if f.heads[i] <= ^uint64(words[int(f.slots[i])*stride+endWord]) {
			k++
		}
	}
	cand := f.cand[:k]
	l.near = l.near[:0]
	for _, i := range cand {
		l.near = append(l.near, f.slots[i])
	}
	l.touchMemory()
	for _, i := range cand {
		slot := f.slots[i]
		w := l.h.Words(slot)
		if f.heads[i] > ^uint64(w[endWord]) {
			continue // since another row of the block came in
		}
		if f.expiry != nil && w[countWord] == 0 {
			if at, ok := rowenc.EventTime(x.part[f.n.TimeKey], int(i)); ok {
				f.expiry.AddBytes(at, l.h.Key(slot))
			}
		}
		f.key = f.sort.Append(f.key[:0], x.sort, int(i))
		head := headOf(f.key)
		f.row = rowenc.AppendRow(f.row[:0], x.b.Cols, int(i))
		for times := min(x.b.Weight(int(i)), f.keep); times > 0; times-- {
			in, err := f.insert(l, slot, head, x.out)
			if err != nil {
				return err
			}
			if !in {
				break
			}
		}
	}
	return nil
}

// insert puts the row at hand, whose sort key begins with head, into a list, if it is not beyond its end, and takes out the one that is
// beyond it then.
func (f *first) insert(l *lists, slot int32, head uint64, out dataflow.Emit) (in bool, err error) {
	w, list := l.h.Words(slot), l.h.Blob(slot)
	full := w[countWord] == f.keep
	at, from := rowenc.SkipBeyond(list, head), 0 // where the row belongs; where what stays begins
	for at < len(list) {
		e, n := rowenc.NextRanked(list[at:])
		if !f.beyond(e, head) {
			break
		}
		at += n
	}
	if full && at == 0 {
		return false, nil
	}
	if full {
		var e rowenc.Ranked
		if e, from = rowenc.NextRanked(list); e.Shown {
			if err := f.out.Row(e.Row, -1, out); err != nil {
				return false, err
			}
		}
		f.stats.RowsRemoved++
	} else {
		w[countWord]++
		f.grown++
	}
	l.touch(slot, int32(at-from))
	f.stats.RowsUpdated++
	f.elem = rowenc.AppendRanked(f.elem[:0], rowenc.Ranked{Key: f.key, Row: f.row})
	if len(list)-from+len(f.elem) > cap(list) {
		f.list = append(append(append(f.list[:0], list[from:at]...), f.elem...), list[at:]...)
		list = f.list
	} else {
		list = replace(list, from, at, f.elem)
	}
	if w[countWord] == f.keep {
		e, _ := rowenc.NextRanked(list)
		w[endWord] = int64(^headOf(e.Key))
	}
	l.h.SetBlob(slot, list)
	return true, nil
}

// beyond says whether an element of a list comes after the row at hand.
func (f *first) beyond(e rowenc.Ranked, head uint64) bool {
	if h := headOf(e.Key); h != head {
		return h > head
	}
	c := bytes.Compare(e.Key, f.key)
	return c > 0 || c == 0 && bytes.Compare(e.Row, f.row) > 0
}

// replace takes what is before from out of a list and puts x in where at is, in the memory of the list, which is large enough. What is
// behind stays where it is if x is as long as what goes.
func replace(list []byte, from, at int, x []byte) []byte {
	was, n, to := len(list), len(list)-from+len(x), at-from
	all := list[:max(n, was)]
	if len(x) > from {
		copy(all[to+len(x):], list[at:was])
		copy(all, list[from:at])
	} else {
		copy(all, list[from:at])
		copy(all[to+len(x):], list[at:was])
	}
	copy(all[to:], x)
	return all[:n]
}

// touchMemory reads a byte of each line of memory that the lists of near occupy, in a loop that does nothing else, so that the processor
// waits for many of them at once: to walk a list is to wait for one after the other.
func (l *lists) touchMemory() {
	const line = 64
	l.blobs = l.blobs[:0]
	for _, s := range l.near {
		l.blobs = append(l.blobs, l.h.Blob(s))
	}
	x := byte(0)
	for _, list := range l.blobs {
		for at := 0; at < len(list); at += line {
			x += list[at]
		}
	}
	l.sum = x
	clear(l.blobs)
}

// touch notes that a row comes into a list, at a place in it.
func (l *lists) touch(slot, at int32) {
	for int(slot)/marksInWord >= len(l.marks) {
		l.marks = append(l.marks, make([]uint64, len(l.marks)+32)...)
	}
	m, bit := &l.marks[slot/marksInWord], uint64(1)<<(2*(slot%marksInWord))
	if *m&bit == 0 {
		*m |= bit
		l.touched = append(l.touched, touched{slot, at})
	} else {
		*m |= bit << 1
	}
}

// untouch forgets what touch noted, and says whether it was more than one row.
func (l *lists) untouch(slot int32) (more bool) {
	m, shift := &l.marks[slot/marksInWord], 2*(slot%marksInWord)
	more = *m>>shift&2 != 0
	*m &^= 3 << shift
	return more
}

// EndEpoch implements dataflow.Operator.
func (f *first) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	if ep.Final {
		f.lists.inOrder(f.intKey)
	}
	if err := f.show(f.lists, out); err != nil {
		return err
	}
	if f.nulls != nil {
		if err := f.show(f.nulls, out); err != nil {
			return err
		}
	}
	if f.expiry != nil && !ep.Final {
		f.expiry.Write(ep)
		if ep.After != dataflow.NoWatermark {
			f.expiry.ExpireBytes(int64(ep.After), f.forget)
		}
	}
	if f.grown != 0 {
		f.size.Put(sizeKey, binary.AppendVarint(nil, f.rows()+f.grown))
		f.grown = 0
	}
	return f.out.Flush(out)
}

// inOrder brings what was touched into the order of keys, for a SELECT.
func (l *lists) inOrder(ints bool) {
	slices.SortFunc(l.touched, func(a, b touched) int {
		if !ints {
			return bytes.Compare(l.h.Key(a.slot), l.h.Key(b.slot))
		}
		if l.h.KeyInt(a.slot) < l.h.KeyInt(b.slot) {
			return -1
		}
		return 1
	})
}

// show emits what changed in the output of the lists that were touched.
func (f *first) show(l *lists, out dataflow.Emit) error {
	far := len(l.touched) > 2*block // what was touched first may not be near any more
	for k, t := range l.touched {
		if far && k%ahead == 0 {
			l.near = l.near[:0]
			for _, t := range l.touched[k:min(k+ahead, len(l.touched))] {
				l.near = append(l.near, t.slot)
			}
			l.touchMemory()
		}
		list := l.h.Blob(t.slot)
		l.starts = l.starts[:0] // of what changed
		if more := l.untouch(t.slot); more || f.n.Offset > 0 {
			l.starts = f.changed(l.starts, list, l.h.Words(t.slot)[countWord])
		} else {
			l.starts = append(l.starts, t.at)
		}
		for i := len(l.starts) - 1; i >= 0; i-- {
			x := list[l.starts[i]:]
			e, _ := rowenc.NextRanked(x)
			by := int64(1)
			if e.Shown {
				by = -1
			}
			rowenc.FlipRanked(x)
			if err := f.out.Row(e.Row, by, out); err != nil {
				return err
			}
		}
	}
	l.touched = l.touched[:0]
	return nil
}

// changed appends where in a list of so many rows those stand that are to be shown and are not, or the other way round.
func (f *first) changed(starts []int32, list []byte, rows int64) []int32 {
	for at, rank := 0, rows; at < len(list); {
		rank--
		shown, n := rowenc.SkipRanked(list[at:])
		if shown != (rank >= f.n.Offset) {
			starts = append(starts, int32(at))
		}
		at += n
	}
	return starts
}

// forget drops a partition that is closed. Its rows stay in the output.
func (f *first) forget(_ int64, key []byte) {
	slot := f.lists.h.FindBytes(key)
	if slot < 0 {
		return
	}
	n := f.lists.h.Words(slot)[countWord]
	f.lists.h.Remove(slot)
	f.grown -= n
	f.stats.RowsRemoved += n
}

var sizeKey = []byte{0}

// rows gives the number of rows in state as of the end of the last epoch.
func (f *first) rows() int64 {
	v, ok := f.size.Get(sizeKey)
	if !ok {
		return 0
	}
	n, _ := rowenc.Varint(v)
	return n
}

// Stats implements dataflow.Stateful.
func (f *first) Stats() dataflow.Stats {
	s := f.stats
	s.RowsTotal, s.MemoryUsedBytes = f.rows(), f.lists.h.MemBytes()+f.size.MemBytes()
	if f.nulls != nil {
		s.MemoryUsedBytes += f.nulls.h.MemBytes()
	}
	if f.expiry != nil {
		s.MemoryUsedBytes += f.expiry.MemBytes()
	}
	return s
}
