package join

import (
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

// operatorName is Spark's name for a stream-stream join.
const operatorName = "symmetricHashJoin"

// New makes the operator of a plan.Join over inputs with columns of the types in[0] and in[1].
func New(n *plan.Join, in dataflow.InputTypes, sp *table.Space, opID int, env *kernel.Env) (dataflow.Operator, error) {
	if len(n.LeftKeys) != len(n.RightKeys) {
		return nil, sqlerr.New(sqlerr.InternalError, "join with %d left and %d right keys", len(n.LeftKeys), len(n.RightKeys))
	}
	if n.Single || n.NullAware {
		return newDeferred(n, in, sp, opID, env)
	}
	o := &join{n: n, env: env, hold: n.Mode == catalog.Append}
	both := append(append([]types.Type(nil), in[0]...), in[1]...)
	mixed, err := o.splitResidual(n.Residual, in, both)
	if err != nil {
		return nil, err
	}
	o.rangeBound = n.LeftState != nil || n.RightState != nil
	o.keyed = mixed == nil && !o.rangeBound
	o.span = findSpan(mixed, len(in[0]))
	o.sticky = n.Left.Props().AppendOnly && n.Right.Props().AppendOnly
	o.near = o.findNear()
	o.pairs = newPairs(both)
	o.outTypes = both
	if o.leftOnly() {
		o.outTypes = in[0]
	}
	o.lone, o.one = rowenc.NewOut(o.outTypes), batch.New(in[0], 1)
	if mixed != nil {
		if o.residual, err = kernel.Compile(mixed, both); err != nil {
			return nil, err
		}
	}
	for i := range o.sides {
		if err := o.initSide(i, in, sp, opID); err != nil {
			return nil, err
		}
	}
	o.counters = sp.Ordered(table.Decl{Operator: opID, Name: "row-counts", Key: []table.Column{{Name: "side", Type: types.Of(types.Int8)}},
		Value: []table.Column{{Name: "rows", Type: types.Of(types.Int8)}}})
	return o, nil
}

// join is the operator for all but NOT IN and scalar subqueries.
type join struct {
	n        *plan.Join
	env      *kernel.Env
	sides    [2]side
	residual *kernel.Kernel // what of the condition needs both sides, nil for nothing
	span     *span          // what it says about times, nil for nothing
	outTypes []types.Type
	// keyed says that equal keys alone decide what matches, so match counts are kept by key.
	keyed bool
	// sticky says that neither side has deletions: a row that has matched once stays matched.
	sticky bool
	// near says that rows are in stretches of time (near.go).
	near bool
	// rangeBound says that a range condition bounds state: a row with a NULL event time can't match.
	rangeBound bool
	hold       bool // append mode: unmatched rows appear when that is certain
	holding    bool // hold, or this epoch is that of a SELECT
	pairs      *pairs
	lone       *rowenc.Out    // rows that come out without a partner
	one        *batch.Batch   // a left row of a semi or anti join
	counters   *table.Ordered // number of stored rows of each side
	counted    bool           // counters were read
	stats      dataflow.Stats
	nulls      int64 // rows of the epoch with a NULL in a key where NULLs are not equal
	nullsLast  int64 // of the last epoch
	metrics    map[string]int64
	scratch    []byte
}

func (o *join) leftOnly() bool { return o.n.Kind == plan.Semi || o.n.Kind == plan.Anti }

// settles says that the first match of a left row settles its case for good, so that it need not be stored any longer.
func (o *join) settles() bool { return o.holding && o.sticky && o.leftOnly() }

// splitResidual compiles the conjuncts that concern one side alone into the sides and gives the rest.
func (o *join) splitResidual(e plan.Expr, in dataflow.InputTypes, both []types.Type) (plan.Expr, error) {
	var parts [3][]plan.Expr // left, right, both
	for _, c := range conjuncts(e, nil) {
		where := 2
		if l, r := usesColumns(c, 0, len(in[0])), usesColumns(c, len(in[0]), len(both)); l != r {
			where = 0
			if r {
				where = 1
			}
		}
		parts[where] = append(parts[where], c)
	}
	for i := range o.sides {
		if len(parts[i]) == 0 {
			continue
		}
		k, err := kernel.Compile(plan.ShiftCols(and(parts[i]), -i*len(in[0])), in[i])
		if err != nil {
			return nil, err
		}
		o.sides[i].own = k
	}
	return and(parts[2]), nil
}

func conjuncts(e plan.Expr, dst []plan.Expr) []plan.Expr {
	if a, ok := e.(*plan.And); ok {
		for _, x := range a.Args {
			dst = conjuncts(x, dst)
		}
		return dst
	}
	if e != nil {
		dst = append(dst, e)
	}
	return dst
}

func and(es []plan.Expr) plan.Expr {
	switch len(es) {
	case 0:
		return nil
	case 1:
		return es[0]
	}
	return &plan.And{Args: es}
}

func usesColumns(e plan.Expr, lo, hi int) bool {
	used := false
	plan.Walk(e, func(x plan.Expr) {
		if c, ok := x.(*plan.Col); ok && c.Index >= lo && c.Index < hi {
			used = true
		}
	})
	return used
}

// Push implements dataflow.Operator.
func (o *join) Push(ep *dataflow.Epoch, port int, b *batch.Batch, out dataflow.Emit) error {
	o.holding = o.hold || ep.Final
	return o.process(ep, port, b, out)
}

// EndEpoch implements dataflow.Operator.
func (o *join) EndEpoch(ep *dataflow.Epoch, out dataflow.Emit) error {
	o.holding = o.hold || ep.Final
	o.loadCounts()
	o.nulls, o.nullsLast = 0, o.nulls
	var err error
	switch {
	case ep.Final:
		err = o.finish(out)
	case ep.After != dataflow.NoWatermark:
		err = o.evict(ep, out)
	}
	if err != nil {
		return err
	}
	o.saveCounts()
	return o.lone.Flush(out)
}

// OutputWatermark implements dataflow.WatermarkMapper: a side whose rows stay in state for longer holds the output back.
func (o *join) OutputWatermark(in dataflow.Watermark) dataflow.Watermark {
	return outputWatermark(o.n, in)
}

func outputWatermark(n *plan.Join, in dataflow.Watermark) dataflow.Watermark {
	w := in
	if n.KeyTime >= 0 {
		return w
	}
	for _, b := range []*plan.StateBound{n.LeftState, n.RightState} {
		if b != nil {
			w = min(w, dataflow.Watermark(floorMillis(rowenc.AddSat(int64(in), b.OffsetMicros))))
		}
	}
	return w
}

func floorMillis(us int64) int64 {
	if r := us % 1000; r < 0 {
		return rowenc.AddSat(us, -r-1000)
	} else {
		return us - r
	}
}

// Metrics implements dataflow.Metered. Spark counts NULLs that it meets in its state; here they do not get there, and rows are counted that are kept
// out of it for a NULL in their key.
func (o *join) Metrics() map[string]int64 {
	if n, ok := o.metrics["skippedNullValueCount"]; !ok || n != o.nullsLast { // who has the map before keeps it
		o.metrics = map[string]int64{"skippedNullValueCount": o.nullsLast}
	}
	return o.metrics
}

// Stats implements dataflow.Stateful.
func (o *join) Stats() dataflow.Stats {
	o.loadCounts()
	s := o.stats
	s.Name = operatorName
	for i := range o.sides {
		d := &o.sides[i]
		s.RowsTotal += d.count
		for _, t := range []*table.Ordered{d.rows, d.times, d.counts} {
			if t != nil {
				s.MemoryUsedBytes += t.MemBytes()
			}
		}
		if d.near != nil {
			s.MemoryUsedBytes += d.near.MemBytes()
		}
	}
	return s
}

func (o *join) loadCounts() {
	if o.counted {
		return
	}
	o.counted = true
	for i := range o.sides {
		if v, ok := o.counters.Get([]byte{byte(i)}); ok {
			o.sides[i].count, _ = rowenc.Varint(v)
			o.sides[i].saved = o.sides[i].count
		}
	}
}

func (o *join) saveCounts() {
	for i := range o.sides {
		s := &o.sides[i]
		if s.count != s.saved {
			o.counters.Put([]byte{byte(i)}, binary.AppendVarint(nil, s.count))
			s.saved = s.count
		}
	}
}
