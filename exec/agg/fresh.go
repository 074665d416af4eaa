package agg

import (
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// windowRows is how many rows come out together at most when windows or sessions close. They are mostly given away: as many as a chunk of contents may have, so that
// they become one as they are.
const windowRows = 2 * batch.Target

// freshRows makes batches for rows that come out, and gives them away.
type freshRows struct {
	cutter *batch.Cutter
	gift   batch.Gift
}

// next gives an empty batch with room for n rows of soon that are about to come out. Column except, -1 for none, needs no room.
func (f *freshRows) next(ts []types.Type, n, soon, except int) *batch.Batch {
	if f.cutter == nil {
		f.cutter = batch.NewCutter(ts)
	}
	return f.cutter.Next(max(n, batch.Target/8), soon, except)
}

// giveAway emits the batch that next gave. Who takes a large one may have its memory: the rows of a window are many, and their last copy is the first then.
func (f *freshRows) giveAway(b *batch.Batch, out dataflow.Emit) error {
	if b.N < batch.Target/4 {
		return out(b)
	}
	f.gift = batch.Gift{Cut: true}
	b.Gift = &f.gift
	err := out(b)
	b.Gift = nil
	if f.gift.Taken {
		f.cutter.Kept()
	} else {
		f.cutter.Unkept()
	}
	return err
}
