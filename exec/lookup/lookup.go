// Package lookup is the operator of a join with a table at the time a row comes in (FOR SYSTEM_TIME AS OF PROCTIME()): each left row
// meets the rows that the right side has at the end of its epoch, and later changes of the right side change nothing.
//
// The right side is kept as an index by key that follows its changes. Left rows wait for the end of the epoch, so that what
// a left row meets does not depend on how the rows of an epoch were ordered.
package lookup

import (
	"encoding/binary"
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

// operatorName is what tidemark.state_operators shows.
const operatorName = "lookupJoin"

// lookup is the operator.
//
// State: rows = key, row -> length of the key (uvarint), weight (varint).
type lookup struct {
	n         *plan.Lookup
	env       *kernel.Env
	leftKeys  *rowenc.Exprs
	rightKeys *rowenc.Exprs
	residual  *kernel.Kernel // nil for none
	rows      *table.Ordered
	waiting   *batch.Batch // left rows of this epoch
	pairs     *batch.Batch // candidates
	of        []int32      // the row of waiting that each candidate belongs to
	matched   []bool       // by row of waiting
	out       *rowenc.Out
	key, end  []byte
	val       []byte
	stats     dataflow.Stats
}

// New makes the operator of a plan.Lookup over inputs with columns of the types in[0] and in[1].
func New(n *plan.Lookup, in dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	if len(n.LeftKeys) != len(n.RightKeys) {
		return nil, sqlerr.New(sqlerr.InternalError, "lookup with %d left and %d right keys", len(n.LeftKeys), len(n.RightKeys))
	}
	both := append(append([]types.Type(nil), in[0]...), in[1]...)
	o := &lookup{n: n, env: env, waiting: batch.New(in[0], 0), pairs: batch.New(both, 0), out: rowenc.NewOut(both)}
	var err error
	if o.leftKeys, err = rowenc.Compile(n.LeftKeys, in[0]); err != nil {
		return nil, err
	}
	if o.rightKeys, err = rowenc.Compile(n.RightKeys, in[1]); err != nil {
		return nil, err
	}
	if n.Residual != nil {
		if o.residual, err = kernel.Compile(n.Residual, both); err != nil {
			return nil, err
		}
	}
	bigint := types.Of(types.Int8)
	o.rows = sp.Ordered(table.Decl{Operator: opID, Name: "right-keyToValue",
		Key:   append(rowenc.Columns("key", o.rightKeys.Types), rowenc.Columns("c", in[1])...),
		Value: []table.Column{{Name: "key_length", Type: bigint}, {Name: "weight", Type: bigint}}})
	return o, nil
}

// WatermarkPort implements dataflow.WatermarkPort: the right side's time holds nothing back.
func (o *lookup) WatermarkPort() int { return 0 }

// Push implements dataflow.Operator.
func (o *lookup) Push(ep *dataflow.Epoch, port int, b *batch.Batch, _ dataflow.Emit) error {
	if port == 0 {
		o.waiting.AppendBatch(b, nil)
		return nil
	}
	vecs, sel, err := o.rightKeys.Eval(ep, o.env, b)
	if err != nil {
		return err
	}
	return rowenc.EachRow(b.N, sel, func(i int) error {
		if o.canMatch(vecs, i) {
			o.change(vecs, b, i)
		}
		return nil
	})
}

// canMatch says that no key of row i is NULL where NULLs are not equal.
func (o *lookup) canMatch(keys []*batch.Vector, i int) bool {
	for k, v := range keys {
		if v.IsNull(i) && !o.n.NullSafe[k] {
			return false
		}
	}
	return true
}

// change brings the index up to date with row i of the right side.
func (o *lookup) change(keys []*batch.Vector, b *batch.Batch, i int) {
	o.key = rowenc.AppendKey(o.key[:0], keys, i)
	klen := len(o.key)
	o.key = rowenc.AppendRow(o.key, b.Cols, i)
	w := b.Weight(i)
	if v, ok := o.rows.Get(o.key); ok {
		_, have := readValue(v)
		w += have
	}
	if w == 0 {
		o.rows.Delete(o.key)
		o.stats.RowsRemoved++
		return
	}
	o.val = binary.AppendVarint(binary.AppendUvarint(o.val[:0], uint64(klen)), w)
	o.rows.Put(o.key, o.val)
	o.stats.RowsUpdated++
}

func readValue(val []byte) (klen int, w int64) {
	n, val := rowenc.Uvarint(val)
	w, _ = rowenc.Varint(val)
	return int(n), w
}

// EndEpoch implements dataflow.Operator.
func (o *lookup) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	b := o.waiting
	if b.N == 0 {
		return nil
	}
	ep.Port = 0 // letters are about left rows
	defer b.Reset()
	vecs, sel, err := o.leftKeys.Eval(ep, o.env, b)
	if err != nil {
		return err
	}
	o.matched = append(o.matched[:0], make([]bool, b.N)...)
	err = rowenc.EachRow(b.N, sel, func(i int) error {
		if o.canMatch(vecs, i) {
			o.key = rowenc.AppendKey(o.key[:0], vecs, i)
			if err := o.probe(ep, b, i, out); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = o.flushPairs(ep, out)
	}
	if err != nil {
		return err
	}
	if o.n.Outer {
		err = rowenc.EachRow(b.N, sel, func(i int) error {
			if o.matched[i] {
				return nil
			}
			return o.alone(b, i, out)
		})
		if err != nil {
			return err
		}
	}
	return o.out.Flush(out)
}

// probe joins row i of b with the right rows of the key in o.key.
func (o *lookup) probe(ep *dataflow.Epoch, b *batch.Batch, i int, out dataflow.Emit) error {
	k := len(b.Cols)
	hi := rowenc.PrefixEnd(o.end, o.key)
	if hi != nil {
		o.end = hi
	}
	var err error
	o.rows.Scan(o.key, hi, func(key, val []byte) bool {
		klen, w := readValue(val)
		for c, v := range b.Cols {
			o.pairs.Cols[c].AppendFrom(v, i)
		}
		rowenc.ReadRow(key[klen:], o.pairs.Cols[k:])
		o.pairs.EndRow(w * b.Weight(i))
		o.of = append(o.of, int32(i))
		if o.pairs.N >= batch.Target {
			err = o.flushPairs(ep, out)
		}
		return err == nil
	})
	return err
}

// flushPairs emits the candidates for which the rest of the condition holds.
func (o *lookup) flushPairs(ep *dataflow.Epoch, out dataflow.Emit) error {
	defer func() {
		o.pairs.Reset()
		o.of = o.of[:0]
	}()
	if o.pairs.N == 0 {
		return nil
	}
	sel := []int32(nil)
	if o.residual != nil {
		pass, failed := o.residual.Filter(o.env, o.pairs, nil, []int32{})
		pairs := pairEpoch(ep)
		for _, f := range failed {
			if err := ep.Sink.Dead(pairs, o.pairs, f.Row, f.Err); err != nil {
				return err
			}
			o.matched[o.of[f.Row]] = true // a letter stands for it
		}
		sel = pass
	}
	return rowenc.EachRow(o.pairs.N, sel, func(i int) error {
		o.matched[o.of[i]] = true
		return o.out.Copy(o.pairs, i, o.pairs.Weight(i), out)
	})
}

// pairEpoch is ep with one port that describes pairs, for their dead letters.
func pairEpoch(ep *dataflow.Epoch) *dataflow.Epoch {
	e := *ep
	e.Port, e.Inputs = 0, nil
	if len(ep.Inputs) == 2 {
		l, r := ep.Inputs[0], ep.Inputs[1]
		e.Inputs = []dataflow.PortInfo{{Columns: slices.Concat(l.Pair, r.Pair), Streams: l.Streams}}
	}
	return &e
}

// alone emits row i of b with NULLs.
func (o *lookup) alone(b *batch.Batch, i int, out dataflow.Emit) error {
	for c, v := range o.out.B.Cols {
		if c < len(b.Cols) {
			v.AppendFrom(b.Cols[c], i)
		} else {
			v.AppendNull()
		}
	}
	return o.out.End(b.Weight(i), out)
}

// Stats implements dataflow.Stateful.
func (o *lookup) Stats() dataflow.Stats {
	s := o.stats
	s.Name = operatorName
	s.RowsTotal, s.MemoryUsedBytes = o.rows.Len(), o.rows.MemBytes()
	return s
}
