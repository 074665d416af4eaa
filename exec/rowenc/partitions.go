package rowenc

import (
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// Partitions is a compiled PARTITION BY, of which one expression may carry the watermark: a partition then closes when the watermark
// reaches its time, or the end of its window. Keys of partitions begin with that time, so that those that close lie together. It belongs to one operator.
type Partitions struct {
	*Exprs
	time int // the expression that carries the watermark, -1 for none
	sel  []int32
}

// timeType is the type of the time at the front of keys.
var timeType = types.Of(types.TimestampTZ)

// CompilePartitions compiles exprs over an input with columns of the types in. With timed, expression key carries the watermark.
func CompilePartitions(exprs []plan.Expr, in []types.Type, timed bool, key int) (*Partitions, error) {
	x, err := Compile(exprs, in)
	if err != nil {
		return nil, err
	}
	p := &Partitions{Exprs: x, time: -1, sel: []int32{}} // never nil, which would mean all rows
	if timed {
		p.time = key
	}
	return p, nil
}

// Append appends the key of row i's partition, given the vectors of Eval. No key begins another.
func (p *Partitions) Append(dst []byte, vecs []*batch.Vector, i int) []byte {
	if p.time >= 0 {
		d := types.NullDatum // such a partition never closes
		if t, ok := EventTime(vecs[p.time], i); ok {
			d = types.IntDatum(t)
		}
		dst = types.AppendKey(dst, timeType, d, false, false)
	}
	return AppendKey(dst, vecs, i)
}

// Columns declares the columns of the keys.
func (p *Partitions) Columns() []table.Column {
	cols := Columns("partition", p.Types)
	if p.time >= 0 {
		cols = append([]table.Column{{Name: "event_time", Type: timeType}}, cols...)
	}
	return cols
}

// OnTime gives the rows of b whose partition is not closed. Late rows go to the sink and are counted in stats; those for which
// an expression fails are dead letters.
func (p *Partitions) OnTime(ep *dataflow.Epoch, env *kernel.Env, b *batch.Batch, stats *dataflow.Stats) (*batch.Batch, error) {
	if p.time < 0 || ep.Final || ep.Before == dataflow.NoWatermark {
		return b, nil
	}
	vecs, sel, err := p.Eval(ep, env, b)
	if err != nil {
		return nil, err
	}
	p.sel = p.sel[:0]
	_ = EachRow(b.N, sel, func(i int) error {
		if t, ok := EventTime(vecs[p.time], i); ok && ep.Before.Late(t) {
			Late(ep, stats, b, i, vecs[p.time], t)
		} else {
			p.sel = append(p.sel, int32(i))
		}
		return nil
	})
	if len(p.sel) == b.N {
		return b, nil
	}
	return b.Select(p.sel), nil
}

// Closed gives the range of keys [lo, hi) of the partitions that are closed at the end of the epoch; false if none can be.
func (p *Partitions) Closed(ep *dataflow.Epoch) (lo, hi []byte, ok bool) {
	if p.time < 0 || ep.Final || ep.After == dataflow.NoWatermark || ep.After == ep.Before {
		return nil, nil, false
	}
	last := types.AppendKey(nil, timeType, types.IntDatum(int64(ep.After)), false, false)
	return last[:1], table.PrefixEnd(last), true
}
