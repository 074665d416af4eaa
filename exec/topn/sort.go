package topn

import (
	"bytes"
	"slices"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// SortBatches sorts the rows of batches with columns of the types in by keys, stably, and gives them in new batches of
// about batch.Target rows, weights included. The error is that of a key expression. All rows are held in memory.
func SortBatches(batches []*batch.Batch, keys []plan.SortKey, in []types.Type, env *kernel.Env) ([]*batch.Batch, error) {
	sk, err := rowenc.CompileSort(keys, in)
	if err != nil {
		return nil, err
	}
	type row struct {
		off, n     int
		batch, row int32
	}
	var rows []row
	var arena []byte
	ep := &dataflow.Epoch{Final: true, Sink: abort{}}
	for k, b := range batches {
		vecs, _, err := sk.Eval(ep, env, b)
		if err != nil {
			return nil, err
		}
		for i := 0; i < b.N; i++ {
			off := len(arena)
			arena = sk.Append(arena, vecs, i)
			rows = append(rows, row{off, len(arena) - off, int32(k), int32(i)})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return bytes.Compare(arena[a.off:a.off+a.n], arena[b.off:b.off+b.n])
	})
	var out []*batch.Batch
	for lo := 0; lo < len(rows); lo += batch.Target {
		chunk := rows[lo:min(lo+batch.Target, len(rows))]
		b := batch.New(in, len(chunk))
		for _, r := range chunk {
			src := batches[r.batch]
			b.AppendRow(src, int(r.row), src.Weight(int(r.row)))
		}
		out = append(out, b)
	}
	return out, nil
}

// abort is the sink of a statement that ends at the first error.
type abort struct{}

// Late implements dataflow.Sink.
func (abort) Late(*dataflow.Epoch, *batch.Batch, int, int64, int64, int64) {}

// Dead implements dataflow.Sink.
func (abort) Dead(_ *dataflow.Epoch, _ *batch.Batch, _ int, err *sqlerr.Error) error { return err }
