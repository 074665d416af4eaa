package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand"
	"slices"
	"strings"
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
		prefixes := []string{"", "common prefix ", "prefix", "\x00", strings.Repeat("long", 80)}[rnd.Intn(5)]
		keys := 1 + rnd.Intn([]int{3, 400, 50_000}[rnd.Intn(3)])
		var shared *cuts
		want := map[string]int64{}
		var runs []*run
		var given []*batch.Batch
		rows := 0
		for range 1 + rnd.Intn(6) {
			prefix := prefixes
			if rnd.Intn(4) == 0 {
				prefix = prefix[:rnd.Intn(len(prefix)+1)]
			}
			r, batches := randomRun(t, rnd, &codec, prefix, keys, want, &shared)
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
			if key, _, weight := out.row(i); string(key) != k || weight != want[k] {
				t.Fatalf("round %d: row %d is %q x%d, want %q x%d", round, i, key, weight, k, want[k])
			}
		}
		n := 0
		if err := eachMerged(runs, func(key []byte, _ uint32, weight int64) error {
			if n == len(sorted) || string(key) != sorted[n] || weight != want[sorted[n]] {
				return fmt.Errorf("row %d of %d is %q x%d", n, len(sorted), key, weight)
			}
			n++
			return nil
		}); err != nil || n < len(sorted) {
			t.Fatalf("round %d: %d rows gone through, %v", round, n, err)
		}
		checkRanges(t, rnd, runs, out)
		if err := sealedTogether(t, rnd, codec, given, rows, out); err != "" {
			t.Fatalf("round %d: %s", round, err)
		}
		heap := &merge{}
		n = 0
		heap.seek(runs, nil, nil)
		for heap.next() {
			if heap.weight == 0 {
				continue
			}
			if key, klen, weight := out.row(n); !bytes.Equal(heap.key, key) || heap.weight != weight || heap.klen != int(klen) {
				t.Fatalf("round %d: row %d of the heap is %q x%d", round, n, heap.key, heap.weight)
			}
			n++
		}
		if n != len(out.recs) {
			t.Fatalf("round %d: %d rows from the heap, %d from the sort", round, n, len(out.recs))
		}
	}
}

// randomRun gives a run of random changes, late or sorted, and the batches of which it was made; want gets their weights by row. Late ones mostly have the same cuts.
func randomRun(t *testing.T, rnd *rand.Rand, codec *rowCodec, prefix string, keys int, want map[string]int64, shared **cuts) (r *run, given []*batch.Batch) {
	r = &run{}
	for range rnd.Intn(4) {
		b := batch.New(codec.types, 0)
		sizes := []int{300, 300, 300, 12_000}
		if len(prefix) > 100 {
			sizes = sizes[:3]
		}
		for range rnd.Intn(sizes[rnd.Intn(len(sizes))]) {
			b.Cols[0].AppendString(fmt.Sprint(prefix, rnd.Intn(keys)))
			if b.Cols[1].AppendInt(int64(rnd.Intn(3))); rnd.Intn(5) == 0 {
				b.Cols[1].SetNull(b.N)
			}
			w := int64(1 - 2*rnd.Intn(2))
			if rnd.Intn(20) == 0 {
				w *= rnd.Int63n(1<<rnd.Intn(60)) + 1
			}
			b.EndRow(w)
			k, _ := codec.appendKey(nil, b, b.N-1)
			if want[string(k)] += w; want[string(k)] == 0 {
				delete(want, string(k))
			}
		}
		r.add(codec, b)
		b.Gift = &batch.Gift{}
		given = append(given, b)
	}
	if rnd.Intn(2) == 0 && len(r.recs) > 0 {
		if *shared == nil || rnd.Intn(6) == 0 {
			*shared = newCuts(r)
		}
		r = r.split(*shared)
		if rnd.Intn(3) == 0 {
			checkRun(t, r.inOrder())
		}
		return r, given
	}
	r = r.sorted()
	checkRun(t, r)
	return r, given
}

// checkRanges looks for rows of the runs between some of all, which are in want.
func checkRanges(t *testing.T, rnd *rand.Rand, runs []*run, want *run) {
	t.Helper()
	for range 50 {
		from := rnd.Intn(len(want.recs) + 1)
		to := min(from+rnd.Intn(4), len(want.recs))
		if rnd.Intn(10) == 0 {
			to = from + rnd.Intn(len(want.recs)-from+1)
		}
		bound := func(i int) []byte {
			if i < len(want.recs) {
				return want.key(i)
			}
			return []byte{255, 255, 255, 255}
		}
		var heap merge
		heap.seek(runs, bound(from), bound(to))
		n := from
		for heap.next() {
			if heap.weight == 0 {
				continue
			}
			if n >= to {
				t.Fatalf("row %q is not in [%d, %d)", heap.key, from, to)
			}
			if key, klen, weight := want.row(n); !bytes.Equal(heap.key, key) || heap.weight != weight || heap.klen != int(klen) {
				t.Fatalf("row %d is %q x%d, want %q x%d", n, heap.key, heap.weight, key, weight)
			}
			n++
		}
		if n != to {
			t.Fatalf("%d rows of [%d, %d)", n-from, from, to)
		}
	}
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
	for i := range all.recs {
		key, klen, weight := all.row(i)
		if k, l, w := out.row(i); !bytes.Equal(key, k) || weight != w || klen != l {
			return fmt.Sprintf("row %d of %d workers is %q x%d", i, number, key, weight)
		}
	}
	return ""
}

func checkRun(t *testing.T, r *run) {
	t.Helper()
	less := 0
	for i := range r.recs {
		_, _, weight := r.row(i)
		if weight < 0 {
			less++
		}
		if weight == 0 || r.recs[i].head != table.Head(r.key(i)[r.skip:]) || string(r.key(i)[:r.skip]) != string(r.key(0)[:r.skip]) || i > 0 && bytes.Compare(r.key(i-1), r.key(i)) >= 0 {
			t.Fatalf("row %d of %d of a run is not in its place", i, len(r.recs))
		}
	}
	if less != r.less {
		t.Fatalf("%d rows of a run with a weight below zero, noted are %d", less, r.less)
	}
}

// TestRowData: rows are read from data as they were put there, whatever their lengths and weights, by the codec and by the loop for integers.
func TestRowData(t *testing.T) {
	for _, length := range []int{0, 1, 7, 8, 255, 256, 1<<16 - 1, 1 << 16, 1 << 20} {
		for _, klen := range []int{0, 1, 255, 256, 1 << 16} {
			for _, weight := range []int64{1, -1, 2, -2, 1 << 40, math.MaxInt64, math.MinInt64} {
				if klen > length {
					continue
				}
				key := bytes.Repeat([]byte{7}, length)
				data := appendRow([]byte("before"), key, klen, weight)
				before := len("before")
				size := len(data) - before
				data = append(data, "after"...)
				if k, l, w, n := readRow(data[before:]); !bytes.Equal(k, key) || int(l) != klen || w != weight || n != size {
					t.Errorf("a row of %d bytes, %d of them key, x%d: %d bytes, %d, x%d; %d of %d read", length, klen, weight, len(k), l, w, n, size)
				}
				r := &run{data: append(make([]byte, headLen), key...)}
				r.placed(0, klen, weight)
				if k, l, w := r.row(0); !bytes.Equal(k, key) || int(l) != klen || w != weight || int(r.end(0)) != size {
					t.Errorf("a row of %d bytes, %d of them key, x%d, that is placed: %d bytes, %d, x%d", length, klen, weight, len(k), l, w)
				}
			}
		}
	}
	ts := []types.Type{types.Of(types.Int8), types.Of(types.Bool), types.Of(types.Timestamp)}
	codec := rowCodec{ts, []int{2, 0}}
	b := batch.New(ts, 0)
	for _, x := range []int64{0, 1, -1, 127, 128, 1 << 20, math.MaxInt64, math.MinInt64} {
		b.Cols[0].AppendInt(x)
		b.Cols[1].AppendInt(x & 1)
		b.Cols[2].AppendInt(-x)
		b.EndRow(x | 1)
	}
	r := &run{}
	r.add(&codec, b)
	for i := range b.N {
		want, klen := codec.appendKey(nil, b, i)
		if k, l, w := r.row(i); !bytes.Equal(k, want) || int(l) != klen || w != b.Weights[i] {
			t.Errorf("row %d is %x, %d, x%d; want %x, %d", i, k, l, w, want, klen)
		}
	}
}

// TestCuts: cuts divide rows like those of the sample about evenly, and any rows in the order of their keys.
func TestCuts(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	for round := range 50 {
		prefix, scattered := make([]byte, rnd.Intn(20)), rnd.Uint64()
		random := func(inside bool) []byte {
			k := binary.BigEndian.AppendUint64(slices.Clone(prefix), rnd.Uint64()&scattered)
			if !inside {
				k[rnd.Intn(len(k))] ^= byte(rnd.Intn(256))
				k = k[:rnd.Intn(len(k)+1)]
			}
			return k
		}
		rnd.Read(prefix)
		r := &run{}
		for range 4000 {
			r.take(random(true), 0, 1)
		}
		c := newCuts(r)
		var keys [][]byte
		sizes := make([]int, c.parts())
		for i := range r.recs {
			keys = append(keys, r.key(i))
			p, like := c.part(r.key(i))
			if sizes[p]++; !like {
				t.Fatalf("round %d: key %x does not begin with %x", round, r.key(i), c.skip)
			}
		}
		if most := slices.Max(sizes); most > len(r.recs)/lateParts*3 && bits.OnesCount64(scattered) > 24 {
			t.Errorf("round %d: %d rows of %d are in one of %d parts", round, most, len(r.recs), c.parts())
		}
		for range 2000 {
			keys = append(keys, random(false))
		}
		slices.SortFunc(keys, bytes.Compare)
		last := 0
		for _, k := range keys {
			p, _ := c.part(k)
			if p < last || p >= c.parts() {
				t.Fatalf("round %d: key %x is in part %d, after %d, of %d", round, k, p, last, c.parts())
			}
			last = p
		}
	}
}
