package state

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/sql/workers"
	"github.com/tidemarkdb/tidemark/state/table"
)

// TestRunsSum: runs that are sealed, and merged by sorting or, as readers do, by a heap, have each row once, in the order of keys, with the sum of its weights.
func TestRunsSum(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	text := types.Of(types.Text)
	for round := range 60 {
		codec := rowCodec{types: []types.Type{text, types.Of(types.Int8)}, key: [][]int{nil, {0}, {1, 0}}[rnd.Intn(3)]}
		prefix := []string{"", "common prefix ", "prefix"}[rnd.Intn(3)]
		keys := 1 + rnd.Intn([]int{3, 400, 50_000}[rnd.Intn(3)])
		want := map[string]int64{}
		var runs []*run
		var given []*batch.Batch
		rows := 0
		for range 1 + rnd.Intn(6) {
			r, batches := randomRun(t, rnd, &codec, prefix, keys, want)
			runs, given = append(runs, r), append(given, batches...)
			for _, b := range batches {
				rows += b.N
			}
		}
		var sorted []string
		for k := range want {
			sorted = append(sorted, k)
		}
		slices.Sort(sorted)
		out := mergeRuns(runs).inOrder()
		checkRun(t, out)
		if len(out.recs) != len(sorted) {
			t.Fatalf("round %d: %d rows, want %d", round, len(out.recs), len(sorted))
		}
		for i, k := range sorted {
			if string(out.key(i)) != k || out.recs[i].weight != want[k] {
				t.Fatalf("round %d: row %d is %q x%d, want %q x%d", round, i, out.key(i), out.recs[i].weight, k, want[k])
			}
		}
		if err := sealedTogether(t, rnd, codec, given, rows, out); err != "" {
			t.Fatalf("round %d: %s", round, err)
		}
		heap, n := &merge{}, 0
		heap.seek(runs, nil, nil)
		for heap.next() {
			if heap.weight == 0 {
				continue
			}
			if c := out.recs[n]; !bytes.Equal(heap.key, out.key(n)) || heap.weight != c.weight || heap.klen != int(c.klen) {
				t.Fatalf("round %d: row %d of the heap is %q x%d", round, n, heap.key, heap.weight)
			}
			n++
		}
		if n != len(out.recs) {
			t.Fatalf("round %d: %d rows from the heap, %d from the sort", round, n, len(out.recs))
		}
	}
}

// randomRun gives a run of random changes, late or sorted, and the batches of which it was made; want gets their weights by row.
func randomRun(t *testing.T, rnd *rand.Rand, codec *rowCodec, prefix string, keys int, want map[string]int64) (r *run, given []*batch.Batch) {
	r = &run{}
	for range rnd.Intn(4) {
		b := batch.New(codec.types, 0)
		for range rnd.Intn([]int{300, 300, 300, 12_000}[rnd.Intn(4)]) {
			b.Cols[0].AppendString(fmt.Sprint(prefix, rnd.Intn(keys)))
			if b.Cols[1].AppendInt(int64(rnd.Intn(3))); rnd.Intn(5) == 0 {
				b.Cols[1].SetNull(b.N)
			}
			w := int64(1 - 2*rnd.Intn(2))
			b.EndRow(w)
			k, _ := codec.appendRow(nil, b, b.N-1)
			if want[string(k)] += w; want[string(k)] == 0 {
				delete(want, string(k))
			}
		}
		r.add(codec, b)
		b.Gift = &batch.Gift{}
		given = append(given, b)
	}
	if rnd.Intn(2) == 0 {
		r.late = &late{}
		if rnd.Intn(3) == 0 {
			checkRun(t, r.inOrder())
		}
		return r, given
	}
	r = r.sorted()
	checkRun(t, r)
	return r, given
}

// sealedTogether has some workers encode the batches of an epoch, and says how what they make differs from out.
func sealedTogether(t *testing.T, rnd *rand.Rand, codec rowCodec, given []*batch.Batch, rows int, out *run) string {
	number := 1 + rnd.Intn(5)
	together := Rows{st: &Store{lateFrom: rnd.Intn(2) << 30}, codec: codec, tail: &run{}, team: workers.Team{Number: func() int { return number }}}
	for _, b := range given {
		together.Apply(b)
	}
	together.sealTail()
	if len(given) > 1 && together.st.lateFrom == 0 && number > 1 && together.parts < 2 && rows >= 2*sealRows {
		return fmt.Sprintf("%d rows in %d batches were encoded by one of %d workers", rows, len(given), number)
	}
	all := &run{}
	if len(together.sealed) > 0 {
		all = mergeRuns(together.sealed).inOrder()
	}
	if len(all.recs) != len(out.recs) {
		return fmt.Sprintf("%d rows of %d workers, want %d", len(all.recs), number, len(out.recs))
	}
	checkRun(t, all)
	for i, c := range all.recs {
		if !bytes.Equal(all.key(i), out.key(i)) || c.weight != out.recs[i].weight || c.klen != out.recs[i].klen {
			return fmt.Sprintf("row %d of %d workers is %q x%d", i, number, all.key(i), c.weight)
		}
	}
	return ""
}

func checkRun(t *testing.T, r *run) {
	t.Helper()
	less := 0
	for i := range r.recs {
		if r.recs[i].weight < 0 {
			less++
		}
		if r.recs[i].weight == 0 || r.recs[i].head != table.Head(r.key(i)) || i > 0 && bytes.Compare(r.key(i-1), r.key(i)) >= 0 {
			t.Fatalf("row %d of %d of a run is not in its place", i, len(r.recs))
		}
	}
	if less != r.less {
		t.Fatalf("%d rows of a run with a weight below zero, noted are %d", less, r.less)
	}
}
