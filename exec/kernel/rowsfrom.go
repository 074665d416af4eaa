package kernel

import (
	"iter"

	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/fn"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// compileRowsFrom builds the call of several functions side by side; counts is the number of arguments of each.
func compileRowsFrom(parts []*fn.Func, counts []int, args []plan.Expr, in []types.Type) (*SetKernel, error) {
	k := &SetKernel{}
	for i, f := range parts {
		p, err := CompileSet(f, args[:counts[i]], in)
		if err != nil {
			return nil, err
		}
		args = args[counts[i]:]
		k.parts, k.width = append(k.parts, p), append(k.width, max(len(f.OutCols), 1))
	}
	return k, nil
}

// callParts gives the rows of the parts side by side, NULLs for those that have ended. Each part runs as a coroutine, so no rows are
// kept but one of each.
func (k *SetKernel) callParts(env *Env, b *batch.Batch, row int, emit emitFunc) error {
	var failed error
	next := make([]func() ([]types.Datum, bool), len(k.parts))
	for i, p := range k.parts {
		pull, stop := iter.Pull(func(yield func([]types.Datum) bool) {
			if err := p.Call(env, b, row, yield); err != nil && failed == nil {
				failed = err
			}
		})
		defer stop()
		next[i] = pull
	}
	var vals []types.Datum
	for {
		vals = vals[:0]
		any := false
		for i := range next {
			got, ok := next[i]()
			if failed != nil {
				return failed
			}
			any = any || ok
			for c := range k.width[i] {
				if ok {
					vals = append(vals, got[c])
				} else {
					vals = append(vals, types.NullDatum)
				}
			}
		}
		if !any || !emit(vals) {
			return nil
		}
	}
}
