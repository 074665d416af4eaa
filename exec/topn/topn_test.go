package topn

import (
	"bytes"
	"fmt"
	"math/rand"
	"sort"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/exec/kernel"
	"github.com/tidemarkdb/tidemark/exec/rowenc"
	"github.com/tidemarkdb/tidemark/planner/plan"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state/table"
)

var (
	i8 = types.Of(types.Int8)
	ts = []types.Type{i8, i8, types.Of(types.Text)}
)

func seeded(t *testing.T) *rand.Rand {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewSource(seed))
}

// reference sorts each partition and cuts.
func reference(n *plan.TopN, rows []optest.Row) optest.ZSet {
	parts := map[string][]optest.Row{}
	for _, r := range rows {
		p := ""
		if len(n.PartitionBy) > 0 {
			p = fmt.Sprint(r[0])
		}
		parts[p] = append(parts[p], r)
	}
	z := optest.ZSet{}
	sortKey := func(r optest.Row) int {
		switch {
		case len(n.Sort) == 0:
			return 0
		case r[1] == nil && n.Sort[0].NullsFirst:
			return -1000
		case r[1] == nil:
			return 1000
		case n.Sort[0].Desc:
			return -r[1].(int)
		}
		return r[1].(int)
	}
	for _, rs := range parts {
		encoded := func(r optest.Row) []byte {
			return rowenc.AppendRow(nil, optest.Batch(ts, []optest.Change{{Row: r, W: 1}}).Cols, 0)
		}
		sort.Slice(rs, func(i, j int) bool {
			if a, b := sortKey(rs[i]), sortKey(rs[j]); a != b {
				return a < b
			}
			return bytes.Compare(encoded(rs[i]), encoded(rs[j])) < 0
		})
		end := len(rs)
		if n.Limit >= 0 {
			end = min(end, int(n.Offset+n.Limit))
			for n.WithTies && end > 0 && n.Limit > 0 && end < len(rs) && sortKey(rs[end]) == sortKey(rs[end-1]) {
				end++
			}
		}
		for i := int(n.Offset); i < end; i++ {
			z.Add(optest.Print(ts, rs[i]), 1)
		}
	}
	return z
}

func gen(rnd *rand.Rand) func() optest.Row {
	return func() optest.Row {
		r := optest.Row{rnd.Intn(3), rnd.Intn(8), string(rune('a' + rnd.Intn(4)))}
		if rnd.Intn(9) == 0 {
			r[1] = nil
		}
		return r
	}
}

func newOp(t testing.TB, n *plan.TopN) dataflow.Operator {
	t.Helper()
	op, err := New(n, dataflow.InputTypes{ts}, table.NewTransient(), 0, &kernel.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func TestTopN(t *testing.T) {
	rnd := seeded(t)
	for _, deletes := range []bool{true, false} {
		for _, part := range []bool{true, false} {
			for _, limit := range []int64{-1, 0, 1, 3, 7} {
				for _, offset := range []int64{0, 2} {
					for _, shape := range []string{"asc", "desc", "ties", "unsorted"} {
						n := &plan.TopN{Input: optest.Input(ts, !deletes), Limit: limit, Offset: offset, WithTies: shape == "ties" && limit > 0}
						if part {
							n.PartitionBy = []plan.Expr{optest.Col(ts, 0)}
						}
						if shape != "unsorted" {
							n.Sort = []plan.SortKey{{X: optest.Col(ts, 1), Desc: shape == "desc", NullsFirst: shape == "desc"}}
						}
						name := fmt.Sprintf("deletes %t partition %t limit %d offset %d %s", deletes, part, limit, offset, shape)
						t.Run(name, func(t *testing.T) { runTopN(t, rnd, n, deletes) })
					}
				}
			}
		}
	}
}

func runTopN(t *testing.T, rnd *rand.Rand, n *plan.TopN, deletes bool) {
	in := dataflow.InputTypes{ts}
	op := newOp(t, n)
	r := optest.New(t, op, in, rnd)
	var have []optest.Row
	for e := 0; e < 15; e++ {
		cs := optest.Changes(rnd, 0, rnd.Intn(12), &have, gen(rnd), deletes)
		if deletes && e == 8 {
			for ; len(have) > 0; have = have[1:] {
				cs = append(cs, optest.Change{Row: have[0], W: -1})
			}
		}
		rnd.Shuffle(len(cs), func(i, j int) { cs[i], cs[j] = cs[j], cs[i] })
		if err := r.Epoch(cs, dataflow.NoWatermark, 0); err != nil {
			t.Fatal(err)
		}
		optest.Equal(t, fmt.Sprintf("epoch %d of %v", e, have), r.Total, reference(n, have))
	}
	if kept := op.(dataflow.Stateful).Stats().RowsTotal; !deletes && len(n.PartitionBy) == 0 && n.Limit > 0 && !n.WithTies && kept > n.Offset+n.Limit {
		t.Fatalf("%d rows are kept of an append-only input", kept)
	}
	final := optest.New(t, newOp(t, n), in, rnd)
	final.Final = true
	var cs []optest.Change
	for _, row := range have {
		cs = append(cs, optest.Change{Row: row, W: 1})
	}
	if err := final.Epoch(cs, dataflow.NoWatermark, 0); err != nil {
		t.Fatal(err)
	}
	optest.Equal(t, "SELECT", final.Total, r.Total)
}

func TestSortBatches(t *testing.T) {
	rnd := seeded(t)
	var have []optest.Row
	cs := optest.Changes(rnd, 0, 5000, &have, gen(rnd), false)
	b := optest.Batch(ts, cs)
	keys := []plan.SortKey{{X: optest.Col(ts, 1), Desc: true, NullsFirst: true}, {X: optest.Col(ts, 2)}}
	out, err := SortBatches([]*batch.Batch{b.Slice(0, 1000), b.Slice(1000, 5000)}, keys, ts, &kernel.Env{})
	if err != nil {
		t.Fatal(err)
	}
	key := func(r optest.Row) (int, string) {
		if r[1] == nil {
			return -1000, r[2].(string)
		}
		return -r[1].(int), r[2].(string)
	}
	sort.SliceStable(have, func(i, j int) bool {
		a, as := key(have[i])
		b, bs := key(have[j])
		return a < b || a == b && as < bs
	})
	i := 0
	for _, b := range out {
		for k := 0; k < b.N; k++ {
			if got, want := optest.Text(b, k), optest.Print(ts, have[i]); got != want {
				t.Fatalf("row %d: %s, want %s", i, got, want)
			}
			i++
		}
	}
	if i != len(have) {
		t.Fatalf("%d rows, want %d", i, len(have))
	}
}
