package join

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// side is one input and its state.
//
// State, where k is the join key: the event time of the key in 8 bytes if the key carries a watermark, then the key columns.
// Where the condition gives a span, the row's time follows, in 8 bytes.
//
//	rows    k, row -> length of k (uvarint), weight, number of matches (varints; the last only if tracked and not keyed)
//	times   event time in 8 bytes, key in rows -> weight (varint)  (if a range bounds the side)
//
// A join that near.go is for has, in place of rows and times:
//
//	near    k, time, row, weight, whether it has a match        (a table.Stretches)
//
//	counts  k -> number of rows (varint)                        (if the other side is tracked and matches are counted by key)
type side struct {
	port  int
	first int // index of its first column in a pair
	types []types.Type
	keys  *rowenc.Exprs
	own   *kernel.Kernel // the part of the condition that concerns this side alone, nil for none
	// preserved: its unmatched rows come out with NULLs. tracked: it matters whether its rows have matches.
	preserved, tracked bool
	timeCol            int                // column that carries a watermark, -1 for none
	lead               dataflow.Watermark // rows are judged late by so much more than the operator's watermark
	bound              *plan.StateBound
	rows               *table.Ordered // nil where counts are enough
	near               *table.Stretches
	times              *table.Ordered
	counts             *table.Ordered
	count, saved       int64 // rows stored, by weight; and as of the last save

	// Of the batch that is being processed:
	live   []int32 // rows that may match
	koff   []uint32
	kbuf   []byte   // join keys of live rows: kbuf[koff[j]:koff[j+1]]
	when   []int64  // times of live rows, if there is a span
	hashes []uint64 // of the join keys, if rows are in stretches
	found  []int64  // weight of the matches of live rows
	ownB   []int32
	onTime []int32
}

func (o *join) initSide(i int, in dataflow.InputTypes, sp *table.Space, opID int) error {
	n, s := o.n, &o.sides[i]
	s.port, s.types = i, in[i]
	exprs, name := n.LeftKeys, "left"
	s.timeCol, s.lead, s.bound = n.LeftTime, dataflow.Watermark(n.LeftLead), n.LeftState
	if i == 1 {
		s.first = len(in[0])
		exprs, name = n.RightKeys, "right"
		s.timeCol, s.lead, s.bound = n.RightTime, dataflow.Watermark(n.RightLead), n.RightState
	}
	if n.KeyTime >= 0 {
		s.bound = nil // the key's bound takes precedence
	}
	s.preserved = n.Kind == plan.Full || n.Kind == plan.Left && i == 0 || n.Kind == plan.Right && i == 1
	s.tracked = s.preserved || o.leftOnly() && i == 0
	otherTracked := n.Kind == plan.Full || n.Kind == plan.Left && i == 1 || n.Kind == plan.Right && i == 0 || o.leftOnly() && i == 1
	var err error
	if s.keys, err = rowenc.Compile(exprs, in[i]); err != nil {
		return err
	}
	bigint := types.Of(types.Int8)
	keyCols := rowenc.Columns("key", s.keys.Types)
	if n.KeyTime >= 0 {
		keyCols = append([]table.Column{{Name: "key_time", Type: bigint, Time: true, Again: true}}, keyCols...)
	}
	rowCols := slices.Clone(keyCols)
	if o.span != nil {
		rowCols = append(rowCols, table.Column{Name: "row_time", Type: bigint, Time: true, Again: true})
	}
	rowCols = append(rowCols, rowenc.Columns("c", in[i])...)
	rowValue := []table.Column{{Name: "key_length", Type: bigint}, {Name: "weight", Type: bigint}, {Name: "matches", Type: bigint}}
	if o.keyed && otherTracked {
		s.counts = sp.Ordered(table.Decl{Operator: opID, Name: name + "-keyToNumValues", Key: keyCols,
			Value: []table.Column{{Name: "rows", Type: bigint}}})
	}
	if o.near {
		s.near = sp.Stretches(table.Decl{Operator: opID, Name: name + "-keyWithIndexToValue", Key: rowCols, Value: rowValue,
			Width: o.span.width(), Forgets: i == 0 && o.leftOnly() && o.hold})
		return nil
	}
	if s.counts == nil || !o.leftOnly() {
		s.rows = sp.Ordered(table.Decl{Operator: opID, Name: name + "-keyWithIndexToValue", Key: rowCols, Value: rowValue})
	}
	if s.bound != nil {
		if s.timeCol < 0 {
			return errNoTime
		}
		s.times = sp.Ordered(table.Decl{Operator: opID, Name: name + "-timeToKey",
			Key:   append([]table.Column{{Name: "time", Type: bigint, Time: true}}, rowCols...),
			Value: []table.Column{{Name: "weight", Type: bigint}}})
	}
	return nil
}

// prepare sorts the rows of a batch: late ones are recorded, those that can't match come out at once (or not at all),
// and the others are left in live with their join keys.
func (o *join) prepare(ep *dataflow.Epoch, s *side, b *batch.Batch, out dataflow.Emit) error {
	vecs, failed := s.keys.Values(o.env, b, nil)
	sel := rowenc.Without(b.N, nil, failed)
	time := o.eventTimes(s, b, vecs)
	s.live, s.koff, s.kbuf, s.when = s.live[:0], append(s.koff[:0], 0), s.kbuf[:0], s.when[:0]
	onTime := sel
	if time != nil && ep.Before != dataflow.NoWatermark && !ep.Final {
		var err error
		if onTime, err = o.dropLate(ep, s, b, sel, time); err != nil {
			return err
		}
	}
	own, err := o.ownCondition(ep, s, b, onTime, failed)
	if err != nil {
		return err
	}
	err = rowenc.EachRow(b.N, own.sel, func(i int) error {
		if unsafeNull(vecs, o.n.NullSafe, i) {
			o.nulls += max(b.Weight(i), -b.Weight(i))
			return o.alone(s, b, i, out)
		}
		if !own.true(i) || !o.canMatch(s, b, time, i) {
			return o.alone(s, b, i, out)
		}
		if o.n.KeyTime >= 0 {
			t, ok := rowenc.EventTime(vecs[o.n.KeyTime], i)
			if !ok {
				t = math.MaxInt64
			}
			s.kbuf = rowenc.AppendTime(s.kbuf, t)
		}
		s.kbuf = rowenc.AppendKey(s.kbuf, vecs, i)
		if o.span != nil {
			s.when = append(s.when, b.Cols[o.span.cols[s.port]].I64[i])
		}
		s.koff = append(s.koff, uint32(len(s.kbuf)))
		s.live = append(s.live, int32(i))
		return nil
	})
	return err
}

// eventTimes gives the column by which rows of the side are judged, nil for none.
func (o *join) eventTimes(s *side, b *batch.Batch, keys []*batch.Vector) *batch.Vector {
	if o.n.KeyTime >= 0 {
		return keys[o.n.KeyTime]
	}
	if s.timeCol >= 0 {
		return b.Cols[s.timeCol]
	}
	return nil
}

// dropLate records the late rows of sel and gives the others.
func (o *join) dropLate(ep *dataflow.Epoch, s *side, b *batch.Batch, sel []int32, time *batch.Vector) ([]int32, error) {
	bound := ep.Before + s.lead
	if sel == nil && rowenc.AllAfter(time, b.N, int64(bound)) {
		return nil, nil
	}
	if s.onTime == nil {
		s.onTime = make([]int32, 0, b.N) // nil would mean all rows
	}
	kept := s.onTime[:0]
	err := rowenc.EachRow(b.N, sel, func(i int) error {
		if t, ok := rowenc.EventTime(time, i); ok && bound.Late(t) {
			rowenc.Late(ep, &o.stats, b, i, time, t)
			return nil
		}
		kept = append(kept, int32(i))
		return nil
	})
	s.onTime = kept
	return kept, err
}

// ownResult says for which rows of a batch a side's own condition is true.
type ownResult struct {
	sel  []int32 // the rows asked about that did not fail, nil for all
	pass []int32 // those for which it is true, ascending
	all  bool
	next int
}

// true says whether the condition holds for row i; calls come with ascending i.
func (r *ownResult) true(i int) bool {
	if r.all {
		return true
	}
	for r.next < len(r.pass) && int(r.pass[r.next]) < i {
		r.next++
	}
	return r.next < len(r.pass) && int(r.pass[r.next]) == i
}

// ownCondition evaluates the side's own condition for the rows sel, and buries the rows that fail with those that failed before.
func (o *join) ownCondition(ep *dataflow.Epoch, s *side, b *batch.Batch, sel []int32, failed []kernel.RowError) (own ownResult, err error) {
	own.all = s.own == nil
	if !own.all {
		var errs []kernel.RowError
		own.pass, errs = s.own.Filter(o.env, b, sel, s.ownB[:0])
		s.ownB, failed = own.pass, append(failed, errs...)
	}
	own.sel, err = rowenc.Bury(ep, b, sel, failed)
	return own, err
}

// canMatch says whether row i, whose keys are not NULL, could ever match: it has a time where a range asks for one.
func (o *join) canMatch(s *side, b *batch.Batch, time *batch.Vector, i int) bool {
	if o.span != nil && b.Cols[o.span.cols[s.port]].IsNull(i) {
		return false
	}
	return !(o.rangeBound && o.n.KeyTime < 0 && time != nil && time.IsNull(i))
}

// alone lets row i, which can't match, come out if the kind of join shows unmatched rows.
func (o *join) alone(s *side, b *batch.Batch, i int, out dataflow.Emit) error {
	if s.preserved || o.n.Kind == plan.Anti && s.port == 0 {
		return o.emitRow(s, b, i, b.Weight(i), out)
	}
	return nil
}

// emitRow lets row i of b come out without a partner: as it is, or with NULLs in place of the other side.
func (o *join) emitRow(s *side, b *batch.Batch, i int, w int64, out dataflow.Emit) error {
	own := o.ownColumns(s)
	for c, v := range own {
		v.AppendFrom(b.Cols[c], i)
	}
	return o.lone.End(w, out)
}

// emitStored does the same for an encoded row.
func (o *join) emitStored(s *side, row []byte, w int64, out dataflow.Emit) error {
	rowenc.ReadRow(row, o.ownColumns(s))
	return o.lone.End(w, out)
}

// ownColumns gives the output columns of a side after it appended NULL to the others.
func (o *join) ownColumns(s *side) []*batch.Vector {
	cols := o.lone.B.Cols
	for c, v := range cols {
		if c < s.first || c >= s.first+len(s.types) {
			v.AppendNull()
		}
	}
	return cols[s.first : s.first+len(s.types)]
}

// entry is a decoded value of rows.
type entry struct {
	klen       int
	w, matches int64
}

func (o *join) readEntry(s *side, val []byte) entry {
	klen, val := rowenc.Uvarint(val)
	e := entry{klen: int(klen)}
	e.w, val = rowenc.Varint(val)
	if s.tracked && !o.keyed {
		e.matches, _ = rowenc.Varint(val)
	}
	return e
}

func (o *join) putEntry(s *side, key []byte, e entry) {
	v := binary.AppendUvarint(o.scratch[:0], uint64(e.klen))
	v = binary.AppendVarint(v, e.w)
	if s.tracked && !o.keyed {
		v = binary.AppendVarint(v, e.matches)
	}
	o.scratch = v
	s.rows.Put(key, v)
}

// store adds live row j, row i of b, to the side's state; a new entry starts with the given number of matches.
func (o *join) store(s *side, b *batch.Batch, j, i int, joinKey []byte, matches int64) {
	w := b.Weight(i)
	s.count += w
	o.stats.RowsUpdated++
	if s.rows == nil {
		return
	}
	key := append(o.pairs.key[:0], joinKey...)
	if o.span != nil {
		key = rowenc.AppendTime(key, s.when[j])
	}
	e := entry{klen: len(key), matches: matches}
	key = rowenc.AppendRow(key, b.Cols, i)
	o.pairs.key = key
	old, have := s.rows.Get(key)
	if have {
		e = o.readEntry(s, old)
	}
	e.w += w
	if e.w != 0 {
		o.putEntry(s, key, e)
	} else if have {
		s.rows.Delete(key)
	}
	if s.times == nil {
		return
	}
	t, _ := rowenc.EventTime(b.Cols[s.timeCol], i)
	o.scratch = append(rowenc.AppendTime(o.scratch[:0], t), key...)
	if e.w == 0 {
		s.times.Delete(o.scratch)
	} else {
		var buf [binary.MaxVarintLen64]byte
		s.times.Put(o.scratch, binary.AppendVarint(buf[:0], e.w))
	}
}

// keyCount gives the number of rows that a side has with a join key.
func (s *side) keyCount(joinKey []byte) int64 {
	v, ok := s.counts.Get(joinKey)
	if !ok {
		return 0
	}
	n, _ := rowenc.Varint(v)
	return n
}

// addCount adds to the number of rows with a join key and gives it before and after.
func (o *join) addCount(s *side, joinKey []byte, w int64) (before, after int64) {
	before = s.keyCount(joinKey)
	after = before + w
	if after == 0 {
		s.counts.Delete(joinKey)
		return before, after
	}
	o.scratch = binary.AppendVarint(o.scratch[:0], after)
	s.counts.Put(joinKey, o.scratch)
	return before, after
}
