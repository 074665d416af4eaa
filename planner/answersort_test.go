package planner_test

import (
	"bytes"
	"sort"

	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// consolidate adds up the weights of equal rows and drops those that come to nothing.
func consolidate(b *batch.Batch) *batch.Batch {
	at := map[string]int{}
	weights := []int64{}
	first := []int{}
	for i := 0; i < b.N; i++ {
		var key []byte
		for _, v := range b.Cols {
			key = types.AppendValue(key, v.Type, v.Datum(i))
		}
		k, ok := at[string(key)]
		if !ok {
			k = len(first)
			at[string(key)] = k
			first, weights = append(first, i), append(weights, 0)
		}
		weights[k] += b.Weight(i)
	}
	out := batch.New(b.Types(), b.N)
	for k, i := range first {
		if weights[k] != 0 {
			out.AppendRow(b, i, weights[k])
		}
	}
	return out
}

// sortAll sorts as the root of a SELECT does and drops columns that are there only for that.
func sortAll(b *batch.Batch, s *plan.Sort, env *kernel.Env) ([]*batch.Batch, error) {
	keys := make([][]byte, b.N)
	for _, k := range s.Keys {
		c, err := kernel.Compile(k.X, b.Types())
		if err != nil {
			return nil, err
		}
		v, _ := c.Eval(env, b, nil)
		for i := range keys {
			keys[i] = types.AppendKey(keys[i], k.X.Type(), v.Datum(i), k.Desc, k.NullsFirst)
		}
	}
	order := make([]int32, b.N)
	for i := range order {
		order[i] = int32(i)
	}
	sort.SliceStable(order, func(x, y int) bool { return bytes.Compare(keys[order[x]], keys[order[y]]) < 0 })
	out := b.Select(order)
	if s.Visible > 0 {
		cols := make([]int, s.Visible)
		for i := range cols {
			cols[i] = i
		}
		out = out.Project(cols)
	}
	return []*batch.Batch{out}, nil
}
