package join

import (
	"bytes"
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// deferred joins each left row to at most one right row, or to none, and settles that at the end of an epoch: scalar
// subqueries (Single: a second match is an error of the left row) and NOT IN (a null-aware anti join). With each left row it keeps
// what came out for it, so that a change is the difference to that.
//
// State:
//
//	left   k, row -> length of k (uvarint), weight, weight that came out (varints), what came out (see outcome)
//	right  k, row -> length of k (uvarint), weight (varint)
type deferred struct {
	n           *plan.Join
	env         *kernel.Env
	keys        [2]*rowenc.Exprs
	types       [2][]types.Type
	rows        [2]*table.Ordered
	residual    *kernel.Kernel
	pair        *batch.Batch // candidates: left's columns, then right's
	weights     []int64      // of their right rows
	one         *batch.Batch // a left row, for dead letters
	out         *rowenc.Out
	left, right rowenc.Changes // keys in rows of what changed in this epoch; of the right side after the length of k in 4 bytes
	key         []byte
	rightChange []byte
	wasEmpty    bool // the right side, before the epoch
	stats       dataflow.Stats
}

// outcome is what comes out for a left row, encoded: a byte that says what, and details.
type outcome = []byte

// The kinds of outcome.
const (
	outNone   = 0 // nothing
	outAlone  = 1 // the row, with NULLs where the right side has output columns
	outPaired = 2 // the row and the right row that follows
	outDead   = 3 // a dead letter; SQLSTATE (5 bytes) and message follow
)

const moreThanOneRow = "more than one row returned by a subquery used as an expression"

func newDeferred(n *plan.Join, in dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	if n.Single && n.Kind != plan.Left || n.NullAware && n.Kind != plan.Anti {
		return nil, sqlerr.New(sqlerr.InternalError, "a scalar subquery is a left join and NOT IN an anti join, not %s", n.Kind)
	}
	d := &deferred{n: n, env: env, types: [2][]types.Type{in[0], in[1]}}
	both := append(append([]types.Type(nil), in[0]...), in[1]...)
	d.pair, d.one = batch.New(both, batch.Target), batch.New(in[0], 1)
	d.out = rowenc.NewOut(both)
	if n.NullAware {
		d.out = rowenc.NewOut(in[0])
	}
	var err error
	if n.Residual != nil {
		if d.residual, err = kernel.Compile(n.Residual, both); err != nil {
			return nil, err
		}
	}
	for i, keys := range [2][]plan.Expr{n.LeftKeys, n.RightKeys} {
		if d.keys[i], err = rowenc.Compile(keys, in[i]); err != nil {
			return nil, err
		}
		bigint := types.Of(types.Int8)
		value := []table.Column{{Name: "key_length", Type: bigint}, {Name: "weight", Type: bigint}}
		if i == 0 {
			value = append(value, table.Column{Name: "shown_weight", Type: bigint}, table.Column{Name: "shown", Type: types.Of(types.Bytea)})
		}
		d.rows[i] = sp.Ordered(table.Decl{Operator: opID, Name: [2]string{"left", "right"}[i] + "-keyWithIndexToValue",
			Key: append(rowenc.Columns("key", d.keys[i].Types), rowenc.Columns("c", in[i])...), Value: value})
	}
	return d, nil
}

// leftEntry is a decoded value of rows[0]. shown aliases the table until copied.
type leftEntry struct {
	klen   int
	w, out int64
	shown  outcome
}

var nothing = outcome{outNone}

func readLeft(val []byte) leftEntry {
	klen, val := rowenc.Uvarint(val)
	e := leftEntry{klen: int(klen)}
	e.w, val = rowenc.Varint(val)
	e.out, e.shown = rowenc.Varint(val)
	return e
}

func (e leftEntry) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(e.klen))
	dst = binary.AppendVarint(binary.AppendVarint(dst, e.w), e.out)
	return append(dst, e.shown...)
}

func readRight(val []byte) (klen int, w int64) {
	k, val := rowenc.Uvarint(val)
	w, _ = rowenc.Varint(val)
	return int(k), w
}

// Push implements dataflow.Operator: it only changes state.
func (d *deferred) Push(ep *dataflow.Epoch, port int, b *batch.Batch, _ dataflow.Emit) error {
	vecs, sel, err := d.keys[port].Eval(ep, d.env, b)
	if err != nil {
		return err
	}
	return rowenc.EachRow(b.N, sel, func(i int) error {
		if port == 1 && d.n.Single && unsafeNull(vecs, d.n.NullSafe, i) {
			return nil // it can't match
		}
		key := rowenc.AppendKey(d.key[:0], vecs, i)
		klen, w := len(key), b.Weight(i)
		key = rowenc.AppendRow(key, b.Cols, i)
		d.key = key
		d.stats.RowsUpdated++
		if port == 0 {
			d.left.Add(key, w)
			d.addLeft(key, klen, w)
			return nil
		}
		d.rightChange = append(binary.BigEndian.AppendUint32(d.rightChange[:0], uint32(klen)), key...)
		if d.right.Len() == 0 {
			d.wasEmpty = d.rows[1].Len() == 0
		}
		d.right.Add(d.rightChange, w)
		have, n := klen, w
		if old, ok := d.rows[1].Get(key); ok {
			have, n = readRight(old)
			n += w
		}
		if n == 0 {
			d.rows[1].Delete(key)
			return nil
		}
		d.rows[1].Put(key, binary.AppendVarint(binary.AppendUvarint(nil, uint64(have)), n))
		return nil
	})
}

func unsafeNull(keys []*batch.Vector, nullSafe []bool, i int) bool {
	for k, v := range keys {
		if v.IsNull(i) && !nullSafe[k] {
			return true
		}
	}
	return false
}

func (d *deferred) addLeft(key []byte, klen int, w int64) {
	e := leftEntry{klen: klen, shown: nothing}
	if old, ok := d.rows[0].Get(key); ok {
		e = readLeft(old)
	}
	e.w += w
	d.rows[0].Put(key, e.append(nil))
}

// EndEpoch implements dataflow.Operator.
func (d *deferred) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	if d.left.Len() == 0 && d.right.Len() == 0 {
		return nil
	}
	if err := d.touch(); err != nil {
		return err
	}
	port := ep.Port
	ep.Port = 0
	err := d.left.Each(true, func(key []byte, _ int64) error { return d.settle(ep, key, out) })
	ep.Port = port
	d.left.Reset()
	d.right.Reset()
	if err != nil {
		return err
	}
	return d.out.Flush(out)
}

// touch adds to the left changes the rows that the right changes concern.
func (d *deferred) touch() error {
	all := false
	var end []byte
	err := d.right.Each(false, func(key []byte, _ int64) error {
		if all {
			return nil
		}
		joinKey := key[4:][:binary.BigEndian.Uint32(key)]
		if d.n.NullAware && d.concernsAll(joinKey) {
			all = true
			return nil
		}
		end = rowenc.PrefixEnd(end, joinKey)
		d.touchRange(joinKey, end)
		return nil
	})
	if all {
		d.touchRange(nil, nil)
	}
	return err
}

func (d *deferred) touchRange(lo, hi []byte) {
	if len(lo) == 0 {
		hi = nil
	}
	d.rows[0].Scan(lo, hi, func(key, _ []byte) bool {
		d.left.Add(key, 0)
		return true
	})
}

// concernsAll says whether a change of a right row with this key may change the outcome of left rows with other keys.
func (d *deferred) concernsAll(joinKey []byte) bool {
	if !d.simpleKey() || joinKey[0] != keyNotNull {
		return true
	}
	return d.wasEmpty != (d.rows[1].Len() == 0)
}

// simpleKey says that the condition is one ordinary equality.
func (d *deferred) simpleKey() bool {
	return d.residual == nil && len(d.n.LeftKeys) == 1 && !d.n.NullSafe[0]
}

// keyNotNull is the first byte of an ascending types.AppendKey of a value that is not NULL.
const keyNotNull = 1

// settle brings what came out for a left row to what should.
func (d *deferred) settle(ep *dataflow.Epoch, key []byte, out dataflow.Emit) error {
	val, ok := d.rows[0].Get(key)
	if !ok {
		return nil
	}
	e := readLeft(val)
	e.shown = append(outcome(nil), e.shown...)
	row, now := key[e.klen:], nothing
	if e.w != 0 {
		var err error
		if now, err = d.decide(key[:e.klen], row); err != nil {
			return err
		}
	}
	if bytes.Equal(now, e.shown) {
		if err := d.emit(ep, row, now, e.w-e.out, out); err != nil {
			return err
		}
	} else {
		if err := d.emit(ep, row, e.shown, -e.out, out); err != nil {
			return err
		}
		if err := d.emit(ep, row, now, e.w, out); err != nil {
			return err
		}
	}
	if e.w == 0 {
		d.rows[0].Delete(key)
		return nil
	}
	e.out, e.shown = e.w, now
	d.rows[0].Put(key, e.append(nil))
	return nil
}

// emit lets an outcome out with a weight.
func (d *deferred) emit(ep *dataflow.Epoch, row []byte, o outcome, w int64, out dataflow.Emit) error {
	if w == 0 || o[0] == outNone {
		return nil
	}
	if o[0] == outDead {
		d.one.Reset()
		rowenc.ReadRow(row, d.one.Cols)
		d.one.EndRow(w)
		return ep.Sink.Dead(ep, d.one, 0, sqlerr.New(sqlerr.Code(o[1:6]), "%s", o[6:]))
	}
	left, right := d.out.B.Cols[:len(d.types[0])], d.out.B.Cols[len(d.types[0]):]
	rowenc.ReadRow(row, left)
	if o[0] == outPaired {
		rowenc.ReadRow(o[1:], right)
	} else {
		for _, v := range right {
			v.AppendNull()
		}
	}
	return d.out.End(w, out)
}

// decide gives the outcome for a left row by the right side as it is now.
func (d *deferred) decide(joinKey, row []byte) (outcome, error) {
	if d.n.NullAware {
		return d.decideNotIn(joinKey, row)
	}
	matches, match := int64(0), []byte(nil)
	dead, err := d.eachMatch(joinKey, row, func(c int, w int64) bool {
		matches += w
		match = rowenc.AppendRow([]byte{outPaired}, d.pair.Cols[len(d.types[0]):], c)
		return matches <= 1
	})
	switch {
	case err != nil || dead != nil:
		return dead, err
	case matches <= 0:
		return outcome{outAlone}, nil
	case matches > 1:
		return letter(sqlerr.New(sqlerr.CardinalityViolation, moreThanOneRow)), nil
	}
	return match, nil
}

func letter(e *sqlerr.Error) outcome {
	return append(append(outcome{outDead}, e.Code...), e.Message...)
}

// eachMatch calls f for every right row with the key that passes the rest of the condition: its index in d.pair and its weight, until
// f gives false. dead is a dead letter if the condition fails for one of them.
func (d *deferred) eachMatch(joinKey, row []byte, f func(c int, w int64) bool) (dead outcome, err error) {
	hi := rowenc.PrefixEnd(nil, joinKey)
	more := true
	d.rows[1].Scan(joinKey, hi, func(key, val []byte) bool {
		klen, w := readRight(val)
		rowenc.ReadRow(row, d.pair.Cols[:len(d.types[0])])
		rowenc.ReadRow(key[klen:], d.pair.Cols[len(d.types[0]):])
		d.pair.EndRow(1)
		d.weights = append(d.weights, w)
		if d.pair.N == batch.Target {
			dead, more = d.flushPair(f)
		}
		return more && dead == nil
	})
	if more && dead == nil {
		dead, _ = d.flushPair(f)
	}
	d.pair.Reset()
	d.weights = d.weights[:0]
	return dead, nil
}

func (d *deferred) flushPair(f func(c int, w int64) bool) (dead outcome, more bool) {
	var sel []int32
	if d.residual != nil && d.pair.N > 0 {
		var failed []kernel.RowError
		sel, failed = d.residual.Filter(d.env, d.pair, nil, nil)
		if len(failed) > 0 {
			return letter(failed[0].Err), false
		}
		if sel == nil {
			sel = []int32{}
		}
	}
	more = true
	_ = rowenc.EachRow(d.pair.N, sel, func(c int) error {
		if more {
			more = f(c, d.weights[c])
		}
		return nil
	})
	d.pair.Reset()
	d.weights = d.weights[:0]
	return nil, more
}

// decideNotIn: a left row is returned if its key is certainly different from that of every right row (that passes the rest
// of the condition).
func (d *deferred) decideNotIn(joinKey, row []byte) (outcome, error) {
	in := outcome{outAlone}
	if d.simpleKey() {
		if d.rows[1].Len() == 0 {
			return in, nil
		}
		if joinKey[0] != keyNotNull || hasPrefix(d.rows[1], joinKey) || hasPrefix(d.rows[1], []byte{keyNotNull + 1}) {
			return nothing, nil
		}
		return in, nil
	}
	found := false
	var keysErr error
	dead, err := d.eachMatch(nil, row, func(c int, w int64) bool {
		if !found && w > 0 {
			found, keysErr = d.perhapsEqual(c)
		}
		return !found && keysErr == nil
	})
	switch {
	case err == nil && keysErr != nil:
		return nil, keysErr
	case err != nil || dead != nil:
		return dead, err
	case found:
		return nothing, nil
	}
	return in, nil
}

// perhapsEqual says whether no pair of keys of candidate c is certainly different.
func (d *deferred) perhapsEqual(c int) (bool, error) {
	one := d.pair.Slice(c, c+1)
	l := &batch.Batch{N: 1, Cols: one.Cols[:len(d.types[0])]}
	r := &batch.Batch{N: 1, Cols: one.Cols[len(d.types[0]):]}
	// Both rows are in state, so their keys were evaluated before and can't fail.
	lv, _, err := d.keys[0].Eval(nil, d.env, l)
	if err != nil {
		return false, err
	}
	rv, _, err := d.keys[1].Eval(nil, d.env, r)
	if err != nil {
		return false, err
	}
	for k := range lv {
		a, b := lv[k].Datum(0), rv[k].Datum(0)
		if (a.Null || b.Null) && !d.n.NullSafe[k] {
			continue
		}
		if !types.Equal(lv[k].Type, a, b) {
			return false, nil
		}
	}
	return true, nil
}

func hasPrefix(t *table.Ordered, prefix []byte) (found bool) {
	t.Scan(prefix, rowenc.PrefixEnd(nil, prefix), func(_, _ []byte) bool {
		found = true
		return false
	})
	return found
}

// OutputWatermark implements dataflow.WatermarkMapper.
func (d *deferred) OutputWatermark(in dataflow.Watermark) dataflow.Watermark {
	return outputWatermark(d.n, in)
}

// Stats implements dataflow.Stateful.
func (d *deferred) Stats() dataflow.Stats {
	s := d.stats
	s.Name = operatorName
	for _, t := range d.rows {
		s.RowsTotal += t.Len()
		s.MemoryUsedBytes += t.MemBytes()
	}
	return s
}
