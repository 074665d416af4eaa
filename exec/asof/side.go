package asof

import (
	"bytes"
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// side is one input: its state, and its changes of the epoch.
//
// State:
//
//	rows   key, time, row -> length of the key, of key and time (uvarints), weight, event time (varints; 0 where rows are not timed)
//	times  event time in 8 bytes, key of rows -> nothing; only where rows are timed
type side struct {
	exprs *rowenc.Exprs // keys, then the time
	rows  *table.Ordered
	times *table.Ordered     // nil: rows never become final
	lead  dataflow.Watermark // the side's rows are judged late by so much more than the operator's watermark
	log   rowenc.Changes     // key of rows, then trailer
	buf   []byte
}

// trailerLen is the length of what follows a key in a log: length of the key, and of key and time, in 4 bytes each, and the
// event time in 8.
const trailerLen = 16

// entry is a stored row, or a change of one.
type entry struct {
	key  []byte // key, time, row
	klen int    // length of the key
	tlen int    // length of key and time
	w    int64
	at   int64 // event time, where rows are timed
}

func (e entry) join() []byte  { return e.key[:e.klen] }
func (e entry) until() []byte { return e.key[:e.tlen] }
func (e entry) row() []byte   { return e.key[e.tlen:] }

func (s *side) init(keys []plan.Expr, time plan.Expr, in []types.Type, timed bool, name string, sp *table.Space, opID int) error {
	var err error
	if s.exprs, err = rowenc.Compile(append(append([]plan.Expr(nil), keys...), time), in); err != nil {
		return err
	}
	n := len(keys)
	bigint := types.Of(types.Int8)
	key := append(rowenc.Columns("key", s.exprs.Types[:n]), table.Column{Name: "time", Type: s.exprs.Types[n]})
	key = append(key, rowenc.Columns("c", in)...)
	s.rows = sp.Ordered(table.Decl{Operator: opID, Name: name, Key: key,
		Value: []table.Column{{Name: "key_length", Type: bigint}, {Name: "time_end", Type: bigint}, {Name: "weight", Type: bigint}, {Name: "event_time", Type: bigint}}})
	if timed {
		s.times = sp.Ordered(table.Decl{Operator: opID, Name: name + "-timeToKey", Key: append([]table.Column{{Name: "event_time", Type: bigint, Time: true}}, key...)})
	}
	return nil
}

// push logs the rows of a batch. Rows that can match nothing are given to alone, late ones are recorded and counted in stats.
func (s *side) push(ep *dataflow.Epoch, env *kernel.Env, b *batch.Batch, stats *dataflow.Stats, alone func(i int) error) error {
	vecs, sel, err := s.exprs.Eval(ep, env, b)
	if err != nil {
		return err
	}
	n := len(vecs) - 1
	return rowenc.EachRow(b.N, sel, func(i int) error {
		for _, v := range vecs {
			if v.IsNull(i) {
				return alone(i)
			}
		}
		t := int64(0)
		if s.times != nil {
			if t, _ = rowenc.EventTime(vecs[n], i); ep.Before != dataflow.NoWatermark && (ep.Before + s.lead).Late(t) && !ep.Final {
				rowenc.Late(ep, stats, b, i, vecs[n], t)
				return nil
			}
		}
		k := rowenc.AppendKey(s.buf[:0], vecs[:n], i)
		klen := len(k)
		k = rowenc.AppendKey(k, vecs[n:], i)
		tlen := len(k)
		k = rowenc.AppendRow(k, b.Cols, i)
		k = binary.BigEndian.AppendUint32(k, uint32(klen))
		k = binary.BigEndian.AppendUint32(k, uint32(tlen))
		s.buf = binary.BigEndian.AppendUint64(k, uint64(t))
		s.log.Add(s.buf, b.Weight(i))
		return nil
	})
}

// changes gives the netted changes of the epoch in ascending order. They alias the log.
func (s *side) changes() []entry {
	var out []entry
	_ = s.log.Each(false, func(key []byte, w int64) error {
		n := len(key) - trailerLen
		out = append(out, entry{key: key[:n:n], klen: int(binary.BigEndian.Uint32(key[n:])), tlen: int(binary.BigEndian.Uint32(key[n+4:])),
			w: w, at: int64(binary.BigEndian.Uint64(key[n+8:]))})
		return nil
	})
	return out
}

// apply changes a row's weight in state and gives the weights before and after.
func (s *side) apply(e entry) (old, now int64) {
	if v, ok := s.rows.Get(e.key); ok {
		old = read(e.key, v).w
	}
	now = old + e.w
	if now == 0 {
		s.remove(e)
		return old, now
	}
	v := binary.AppendUvarint(s.buf[:0], uint64(e.klen))
	v = binary.AppendUvarint(v, uint64(e.tlen))
	v = binary.AppendVarint(v, now)
	s.buf = binary.AppendVarint(v, e.at)
	s.rows.Put(e.key, s.buf)
	if s.times != nil && old == 0 {
		s.times.Put(timeKey(e), nil)
	}
	return old, now
}

// remove takes a row out of the state.
func (s *side) remove(e entry) {
	s.rows.Delete(e.key)
	if s.times != nil {
		s.times.Delete(timeKey(e))
	}
}

func timeKey(e entry) []byte { return append(rowenc.AppendTime(nil, e.at), e.key...) }

// due gives the timed rows at or before a time, in order of time.
func (s *side) due(until int64) []entry {
	var keys [][]byte
	s.times.Scan(nil, rowenc.AfterTime(nil, until), func(key, _ []byte) bool {
		keys = append(keys, bytes.Clone(key[rowenc.TimeLen:]))
		return true
	})
	out := make([]entry, 0, len(keys))
	for _, k := range keys {
		if v, ok := s.rows.Get(k); ok {
			out = append(out, read(k, v))
		}
	}
	return out
}

// read takes a stored entry apart. It aliases the table.
func read(key, val []byte) entry {
	klen, val := rowenc.Uvarint(val)
	tlen, val := rowenc.Uvarint(val)
	w, val := rowenc.Varint(val)
	at, _ := rowenc.Varint(val)
	return entry{key: key, klen: int(klen), tlen: int(tlen), w: w, at: at}
}

// last gives a copy of the last entry in [lo, hi), first of the first one.
func (s *side) last(lo, hi []byte) (e entry, ok bool) {
	s.rows.ScanDesc(lo, hi, func(key, val []byte) bool {
		e, ok = read(bytes.Clone(key), val), true
		return false
	})
	return e, ok
}

func (s *side) first(lo, hi []byte) (e entry, ok bool) {
	s.rows.Scan(lo, hi, func(key, val []byte) bool {
		e, ok = read(bytes.Clone(key), val), true
		return false
	})
	return e, ok
}
