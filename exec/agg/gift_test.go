package agg

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/state/table"
)

// TestGifts: the rows of windows, of which some are kept with the memory that they came in and some are not, stay what they were while other
// windows come out, in the order of their keys and in batches that contents take as they are.
func TestGifts(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	s := newSource(true, tWindow, tInt8, tText)
	n := aggregate(s, catalog.Append, 0, []plan.Expr{col(s, 0), col(s, 1)}, call("count"), call("max", col(s, 2)))
	op, err := NewAggregate(n, plan.Types(s), table.NewTransient(), 0, &kernel.Env{})
	if err != nil {
		t.Fatal(err)
	}
	var kept []*batch.Batch
	var is, want []string
	gifts := 0
	ep := &dataflow.Epoch{Sink: &sink{}, Before: dataflow.NoWatermark}
	for w := range int64(8) {
		keys := 1 + r.IntN(3*windowRows)
		lo, hi := w*100, w*100+100
		b := batch.New(plan.Types(s), keys)
		for _, k := range r.Perm(keys) {
			b.Cols[0].AppendPair(lo, hi)
			b.Cols[1].AppendInt(int64(k))
			b.Cols[2].AppendString(fmt.Sprint("text ", k))
			b.EndRow(1)
		}
		if err := op.Push(ep, 0, b, nil); err != nil {
			t.Fatal(err)
		}
		scribble(b)
		ep.N++
		ep.After = dataflow.Watermark(hi)
		err := op.EndEpoch(ep, func(b *batch.Batch) error {
			if b.N > windowRows {
				t.Errorf("seed %d: a batch of %d rows", seed, b.N)
			}
			switch {
			case b.Gift != nil && r.IntN(3) > 0:
				gifts++
				kept = append(kept, b.Keep())
			default:
				c := batch.New(b.Types(), b.N)
				c.AppendBatch(b, nil)
				kept = append(kept, c)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for k := range keys {
			want = append(want, fmt.Sprintf("%s|%d|1|text %d", windowText(lo, hi), k, k))
		}
		ep.Before = ep.After
	}
	for _, b := range kept {
		for i := range b.N {
			is = append(is, rowText(b, i))
		}
	}
	if gifts == 0 || !slices.Equal(is, want) {
		t.Errorf("seed %d: %d gifts, %d rows that are not the %d expected", seed, gifts, len(is), len(want))
	}
}
