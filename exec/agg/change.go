package agg

import (
	"math"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// emitter gathers an operator's output into batches.
type emitter struct {
	b   *batch.Batch
	out dataflow.Emit
}

func newEmitter(ts []types.Type, out dataflow.Emit) *emitter {
	return &emitter{batch.New(ts, 0), out}
}

// add appends row i of src with weight w.
func (e *emitter) add(src *batch.Batch, i int, w int64) error {
	e.b.AppendRow(src, i, w)
	if e.b.N < batch.Target {
		return nil
	}
	return e.flush()
}

func (e *emitter) flush() error {
	if e.b.N == 0 {
		return nil
	}
	err := e.out(e.b)
	e.b.Reset()
	return err
}

// rowChange is the change from row o of old to row n of fresh, -1 for none.
type rowChange struct {
	old, fresh  *batch.Batch
	oldBad, bad map[int32]*sqlerr.Error
	o, n        int32
}

// emit gives the change, if there is one; a row that failed is a dead letter instead.
func (c *rowChange) emit(ep *dataflow.Epoch, em *emitter) error {
	var oldErr, newErr *sqlerr.Error
	if c.o >= 0 {
		oldErr = c.oldBad[c.o]
	}
	if c.n >= 0 {
		newErr = c.bad[c.n]
	}
	if c.o >= 0 && c.n >= 0 && (oldErr == nil) == (newErr == nil) && (oldErr == nil || *oldErr == *newErr) && sameRow(c.old, c.o, c.fresh, c.n) {
		return nil
	}
	give := func(b *batch.Batch, i int32, w int64, e *sqlerr.Error) error {
		switch {
		case i < 0:
			return nil
		case e != nil:
			return deadRow(ep, b, i, w, e)
		}
		return em.add(b, int(i), w)
	}
	if err := give(c.old, c.o, -1, oldErr); err != nil {
		return err
	}
	return give(c.fresh, c.n, 1, newErr)
}

// deadRow sends row i of b, the row of a group, to the dead letters with weight w.
func deadRow(ep *dataflow.Epoch, b *batch.Batch, i int32, w int64, e *sqlerr.Error) error {
	one := b.Slice(int(i), int(i)+1)
	one.Weights = []int64{w}
	return ep.Sink.Dead(ep, one, 0, e)
}

// sameRow says whether two rows are the same, bit by bit.
func sameRow(a *batch.Batch, i int32, b *batch.Batch, j int32) bool {
	for c := range a.Cols {
		x, y := a.Cols[c], b.Cols[c]
		if x.IsNull(int(i)) || y.IsNull(int(j)) {
			if x.IsNull(int(i)) != y.IsNull(int(j)) {
				return false
			}
			continue
		}
		switch x.Type.Layout() {
		case types.LayoutI64:
			if x.I64[i] != y.I64[j] {
				return false
			}
		case types.LayoutF64:
			if math.Float64bits(x.F64[i]) != math.Float64bits(y.F64[j]) {
				return false
			}
		case types.LayoutPair:
			if x.I64[i] != y.I64[j] || x.J64[i] != y.J64[j] {
				return false
			}
		default:
			if string(x.Bytes(int(i))) != string(y.Bytes(int(j))) {
				return false
			}
		}
	}
	return true
}

// pick appends to v, which is empty, value p>>1 of a for every even p and of b for every odd one.
func pick(v, a, b *batch.Vector, picks []int32) {
	layout := v.Type.Layout()
	if a.Valid != nil || b.Valid != nil || layout == types.LayoutBytes {
		for _, p := range picks {
			if p&1 == 0 {
				v.AppendFrom(a, int(p>>1))
			} else {
				v.AppendFrom(b, int(p>>1))
			}
		}
		return
	}
	v.Resize(len(picks))
	switch layout {
	case types.LayoutF64:
		pickWords(v.F64, a.F64, b.F64, picks)
	case types.LayoutPair:
		pickWords(v.J64, a.J64, b.J64, picks)
		fallthrough
	default:
		pickWords(v.I64, a.I64, b.I64, picks)
	}
}

func pickWords[T int64 | float64](v, a, b []T, picks []int32) {
	for i, p := range picks {
		if p&1 == 0 {
			v[i] = a[p>>1]
		} else {
			v[i] = b[p>>1]
		}
	}
}
