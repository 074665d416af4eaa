// Package setop holds INTERSECT [ALL] and EXCEPT [ALL] of two changing inputs.
//
// Rows are compared as SQL's IS NOT DISTINCT FROM does, so 1.0 and 1.00 are one
// row; which of the equal rows comes out is the left side's first in the order
// of its encoding. The output of an epoch is the difference between what the
// changed rows gave before it and after it, so nothing comes out that is taken
// back in the same epoch.
package setop

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// operatorName is what tidemark.state_operators shows.
const operatorName = "setOperation"

// setOp is the operator of a plan.SetOp.
//
// State: grouping key of the whole row -> its variants in ascending order of row, each: left weight, right weight
// (varints), length (uvarint) and bytes of the row.
type setOp struct {
	n     *plan.SetOp
	rows  *table.Ordered
	out   *rowenc.Out
	log   rowenc.Changes // of this epoch: length of the key in 4 bytes, side, key, row
	key   []byte
	stats dataflow.Stats
}

// variant is one exact row under a key, with its weight on each side.
type variant struct {
	row []byte
	w   [2]int64
}

// New makes the operator of a plan.SetOp over inputs with columns of the types in[0] and in[1], which are the same.
func New(n *plan.SetOp, in dataflow.InputTypes, sp *table.Space, opID int, _ *kernel.Env) (dataflow.Operator, error) {
	rows := sp.Ordered(table.Decl{Operator: opID, Name: "default", Key: rowenc.Columns("c", in[0]),
		Value: []table.Column{{Name: "variants", Type: types.Of(types.Bytea)}}})
	return &setOp{n: n, rows: rows, out: rowenc.NewOut(in[0])}, nil
}

// Push implements dataflow.Operator.
func (s *setOp) Push(_ *dataflow.Epoch, port int, b *batch.Batch, _ dataflow.Emit) error {
	for i := 0; i < b.N; i++ {
		k := append(s.key[:0], 0, 0, 0, 0)
		k = rowenc.AppendKey(k, b.Cols, i)
		binary.BigEndian.PutUint32(k, uint32(len(k)-4))
		k = append(k, byte(port))
		s.key = rowenc.AppendRow(k, b.Cols, i)
		s.log.Add(s.key, b.Weight(i))
	}
	return nil
}

// EndEpoch implements dataflow.Operator.
func (s *setOp) EndEpoch(_ *dataflow.Epoch, out dataflow.Emit) error {
	var key []byte // of the group at hand
	var before, now []variant
	finish := func() error {
		if key == nil {
			return nil
		}
		s.save(key, now)
		return s.emit(before, now, out)
	}
	err := s.log.Each(false, func(entry []byte, w int64) error {
		klen := int(binary.BigEndian.Uint32(entry))
		k, side, row := entry[4:4+klen:4+klen], entry[4+klen], entry[4+klen+1:]
		if key == nil || !bytes.Equal(k, key) {
			if err := finish(); err != nil {
				return err
			}
			key, before = k, s.load(k)
			now = slices.Clone(before)
		}
		now = add(now, row, side, w)
		return nil
	})
	if err == nil {
		err = finish()
	}
	s.log.Reset()
	if err != nil {
		return err
	}
	return s.out.Flush(out)
}

// add adds w to a variant's weight on a side; the slice stays in order.
func add(vs []variant, row []byte, side byte, w int64) []variant {
	i, ok := slices.BinarySearchFunc(vs, row, func(v variant, row []byte) int { return bytes.Compare(v.row, row) })
	if !ok {
		vs = slices.Insert(vs, i, variant{row: row})
	}
	vs[i].w[side] += w
	if vs[i].w == [2]int64{} {
		vs = slices.Delete(vs, i, i+1)
	}
	return vs
}

// emit lets the difference between two states of a group out.
func (s *setOp) emit(before, now []variant, out dataflow.Emit) error {
	had, has := s.result(before), s.result(now)
	for len(had) > 0 || len(has) > 0 {
		var row []byte
		var w int64
		c := -1
		switch {
		case len(had) == 0:
			c = 1
		case len(has) > 0:
			c = bytes.Compare(had[0].row, has[0].row)
		}
		if c <= 0 {
			row, w, had = had[0].row, -had[0].w[0], had[1:]
		}
		if c >= 0 {
			row, w, has = has[0].row, w+has[0].w[0], has[1:]
		}
		if w != 0 {
			if err := s.out.Row(row, w, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// result gives what a group contributes to the output, as left weights in ascending order of row.
func (s *setOp) result(vs []variant) []variant {
	var l, r int64
	for _, v := range vs {
		l, r = l+v.w[0], r+v.w[1]
	}
	want := int64(0)
	switch {
	case s.n.Except && s.n.All:
		want = l - r
	case s.n.Except && r <= 0, !s.n.Except && !s.n.All && r > 0:
		want = min(l, 1)
	case !s.n.Except && s.n.All:
		want = min(l, r)
	}
	var res []variant
	for _, v := range vs {
		if n := min(want, v.w[0]); n > 0 {
			res = append(res, variant{v.row, [2]int64{n, 0}})
			want -= n
		}
	}
	return res
}

// load reads a group; it does not alias the table.
func (s *setOp) load(key []byte) []variant {
	val, ok := s.rows.Get(key)
	if !ok {
		return nil
	}
	val = append([]byte(nil), val...)
	var vs []variant
	for len(val) > 0 {
		var v variant
		v.w[0], val = rowenc.Varint(val)
		v.w[1], val = rowenc.Varint(val)
		n, rest := rowenc.Uvarint(val)
		v.row, val = rest[:n:n], rest[n:]
		vs = append(vs, v)
	}
	return vs
}

func (s *setOp) save(key []byte, vs []variant) {
	if len(vs) == 0 {
		s.rows.Delete(key)
		s.stats.RowsRemoved++
		return
	}
	var val []byte
	for _, v := range vs {
		val = binary.AppendVarint(binary.AppendVarint(val, v.w[0]), v.w[1])
		val = append(binary.AppendUvarint(val, uint64(len(v.row))), v.row...)
	}
	s.rows.Put(key, val)
	s.stats.RowsUpdated++
}

// Stats implements dataflow.Stateful.
func (s *setOp) Stats() dataflow.Stats {
	st := s.stats
	st.Name = operatorName
	st.RowsTotal, st.MemoryUsedBytes = s.rows.Len(), s.rows.MemBytes()
	return st
}
