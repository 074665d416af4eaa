package state_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/checkpoint"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/state"
	"github.com/tidemarkdb/tidemark/state/table"
)

// pair is a row of the relations of this file: int8, text; with none, the text is NULL.
type pair struct {
	id   int64
	text string
}

const none = "\x00"

var pairTypes = []types.Type{types.Of(types.Int8), types.Of(types.Text)}

func pairs(b *batch.Batch, p pair, w int64) {
	b.Cols[0].AppendInt(p.id)
	if p.text == none {
		b.Cols[1].AppendNull()
	} else {
		b.Cols[1].AppendString(p.text)
	}
	b.EndRow(w)
}

func comparePairs(a, b pair) int {
	if a.id != b.id {
		return int(a.id - b.id)
	}
	if (a.text == none) != (b.text == none) {
		if a.text == none {
			return 1
		}
		return -1
	}
	return strings.Compare(a.text, b.text)
}

// expand lists the rows of a reader, each as often as it is there.
func expand(t *testing.T, r *state.RowsReader) []pair {
	t.Helper()
	var out []pair
	for {
		b, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			return out
		}
		for i := range b.N {
			p := pair{b.Cols[0].I64[i], none}
			if !b.Cols[1].IsNull(i) {
				p.text = string(b.Cols[1].Bytes(i))
			}
			for range b.Weight(i) {
				out = append(out, p)
			}
		}
	}
}

func naive(m map[pair]int64, keep func(p pair) bool) []pair {
	var out []pair
	for p, n := range m {
		for range n {
			if keep(p) {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, comparePairs)
	return out
}

func textOf(p pair) types.Datum {
	if p.text == none {
		return types.NullDatum
	}
	return types.StringDatum(p.text)
}

// TestRowsAgainstMap applies random changes, with checkpoints, restarts and
// drops, and compares scans, lookups and ranges with a map of counts.
func TestRowsAgainstMap(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	dir := filepath.Join(t.TempDir(), "db")
	st := openDir(t, dir)
	state.SetShrinkFrom(st, 1)
	state.SetLateFrom(st, 1+r.IntN(20))
	rows := st.Rows(7, pairTypes, []int{0, 1})
	m := map[pair]int64{}
	row := func() pair {
		return pair{int64(r.IntN(40)), []string{none, "", "a", "b\x00c", "b"}[r.IntN(5)]}
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for step := range 400 {
		for range r.IntN(3) {
			b := batch.New(pairTypes, 8)
			for range r.IntN(30) {
				p := row()
				w := int64(1 + r.IntN(2))
				if m[p] > 0 && r.IntN(3) > 0 {
					w = -1 - int64(r.IntN(int(m[p])))
				}
				if m[p] += w; m[p] == 0 {
					delete(m, p)
				}
				pairs(b, p, w)
			}
			rows.Apply(b)
			if r.IntN(3) == 0 {
				compareRows(t, r, rows.Pending(), m)
			}
		}
		if r.IntN(4) == 0 {
			rows.Shrink()
		}
		if r.IntN(60) == 0 {
			rows.DropContents()
			clear(m)
		}
		appendEpoch(t, st, &state.EpochRecord{})
		rows.Publish(st.LastEpoch())
		snap := rows.Snapshot()
		if r.IntN(3) == 0 { // runs that nobody reads stay unsorted
			compareRows(t, r, snap, m)
		}
		if step%10 == 0 {
			// A snapshot does not change, whatever comes after it.
			wg.Add(1)
			go func(want []pair) {
				defer wg.Done()
				time.Sleep(time.Millisecond)
				rd := snap.Reader()
				defer rd.Close()
				if got := expand(t, rd); !slices.Equal(got, want) {
					t.Errorf("a snapshot changed: %d rows, want %d", len(got), len(want))
				}
			}(naive(m, func(pair) bool { return true }))
		}
		if r.IntN(5) == 0 {
			state.Force(st, r.IntN(2) == 0)
			c := &checkpoint.Checkpoint{Epoch: st.LastEpoch(), Sections: []*state.Section{rows.Freeze()}}
			if _, err := checkpoint.Write(context.Background(), st, c); err != nil {
				t.Fatal(err)
			}
			if r.IntN(4) == 0 {
				wg.Wait()
				if err := st.Close(); err != nil {
					t.Fatal(err)
				}
				st = openDir(t, dir)
				state.SetShrinkFrom(st, 1)
				state.SetLateFrom(st, 1+r.IntN(20))
				rows = st.Rows(7, pairTypes, []int{0, 1})
				compareRows(t, r, rows.Snapshot(), m)
			}
		}
	}
	wg.Wait()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	rep, err := checkpoint.Check(dir)
	if err != nil || len(rep.Problems) > 0 {
		t.Fatalf("check: %v %v", err, rep)
	}
}

func compareRows(t *testing.T, r *rand.Rand, v *state.RowsSnapshot, m map[pair]int64) {
	t.Helper()
	rd := v.Reader()
	defer rd.Close()
	all := naive(m, func(pair) bool { return true })
	if got := expand(t, rd); !slices.Equal(got, all) || v.Rows() != int64(len(all)) {
		t.Fatalf("scan: %d rows, counted %d, want %d\n%v\n%v", len(got), v.Rows(), len(all), got, all)
	}
	for range 3 {
		desc := r.IntN(2) == 0
		rd.Reverse(desc)
		expand := func(t *testing.T, rd *state.RowsReader) []pair {
			t.Helper()
			got := expand(t, rd)
			if desc {
				slices.Reverse(got)
			}
			return got
		}
		rd.SeekRange(nil, nil, nil)
		if got := expand(t, rd); !slices.Equal(got, all) {
			t.Fatalf("scan, reversed %t: %v, want %v", desc, got, all)
		}
		id := int64(r.IntN(42)) - 1
		rd.Seek([]types.Datum{types.IntDatum(id)})
		want := naive(m, func(p pair) bool { return p.id == id })
		if got := expand(t, rd); !slices.Equal(got, want) {
			t.Fatalf("lookup of %d: %v, want %v", id, got, want)
		}
		if len(want) > 0 {
			p := want[0]
			rd.Seek([]types.Datum{types.IntDatum(id), textOf(p)})
			want := naive(m, func(q pair) bool { return p == q })
			if got := expand(t, rd); !slices.Equal(got, want) {
				t.Fatalf("lookup of %v: %v, want %v", p, got, want)
			}
		}
		lo, hi := int64(r.IntN(42)), int64(r.IntN(42))
		bl, bh := &state.Bound{Value: types.IntDatum(lo), Inclusive: r.IntN(2) == 0}, &state.Bound{Value: types.IntDatum(hi), Inclusive: r.IntN(2) == 0}
		rd.SeekRange(nil, bl, bh)
		want = naive(m, func(p pair) bool {
			return (p.id > lo || p.id == lo && bl.Inclusive) && (p.id < hi || p.id == hi && bh.Inclusive)
		})
		if got := expand(t, rd); !slices.Equal(got, want) {
			t.Fatalf("range %v %v: %v, want %v", bl, bh, got, want)
		}
		rd.SeekRange([]types.Datum{types.IntDatum(id)}, &state.Bound{Value: types.StringDatum("a")}, nil)
		want = naive(m, func(p pair) bool { return p.id == id && p.text != none && p.text > "a" })
		if got := expand(t, rd); !slices.Equal(got, want) {
			t.Fatalf("range of %d: %v, want %v", id, got, want)
		}
	}
}

func TestUniqueRows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	st := openDir(t, dir)
	rows := st.Rows(7, pairTypes, []int{0})
	rows.SetUnique()
	change := func(ws ...int64) {
		b := batch.New(pairTypes, 4)
		for i, w := range ws {
			if w != 0 {
				pairs(b, pair{int64(i), "x"}, w)
			}
		}
		rows.Apply(b)
		appendEpoch(t, st, &state.EpochRecord{})
		rows.Publish(st.LastEpoch())
		c := &checkpoint.Checkpoint{Epoch: st.LastEpoch(), Sections: []*state.Section{rows.Freeze()}}
		if _, err := checkpoint.Write(context.Background(), st, c); err != nil {
			t.Fatal(err)
		}
	}
	change(1, 1, 1)
	change(-1, 0, -1, 1)
	rd := rows.Snapshot().Reader()
	if got, want := expand(t, rd), []pair{{1, "x"}, {3, "x"}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := rd.Close(); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestChunks checks order, counts, caps, drops and the counted memory of an append-only relation.
func TestChunks(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	dir := filepath.Join(t.TempDir(), "db")
	st := openDir(t, dir)
	ts := []types.Type{types.Of(types.Int8)}
	c := st.Chunks(7, ts)
	var want []int64
	next := int64(0)
	check := func(prefix bool) {
		t.Helper()
		v := c.Snapshot()
		var got []int64
		if err := v.Scan(func(b *batch.Batch) error { got = append(got, b.Cols[0].I64...); return nil }); err != nil {
			t.Fatal(err)
		}
		if prefix && len(got) <= len(want) {
			want = want[len(want)-len(got):]
		}
		if !slices.Equal(got, want) || v.Rows() != int64(len(want)) {
			t.Fatalf("%d rows, counted %d, want %d", len(got), v.Rows(), len(want))
		}
		if counted, held := state.ChunkMemory(v); counted != held {
			t.Fatalf("%d bytes counted, %d held", counted, held)
		}
	}
	for range 300 {
		b := batch.New(ts, 8)
		n := r.IntN(10)
		if r.IntN(10) == 0 {
			n = r.IntN(6000)
		}
		for range n {
			b.Cols[0].AppendInt(next)
			b.EndRow(1)
			want = append(want, next)
			next++
		}
		c.Append(b)
		appendEpoch(t, st, &state.EpochRecord{})
		c.Publish(st.LastEpoch())
		check(false)
		switch r.IntN(12) {
		case 0, 1, 2:
			s := c.Freeze()
			if r.IntN(2) == 0 { // something is published while the checkpoint is written
				c.Append(ints(next))
				want = append(want, next)
				next++
				c.Publish(st.LastEpoch())
				check(false)
			}
			cp := &checkpoint.Checkpoint{Epoch: st.LastEpoch(), Sections: []*state.Section{s}}
			if _, err := checkpoint.Write(context.Background(), st, cp); err != nil {
				t.Fatal(err)
			}
			check(false)
		case 3:
			keep := int64(r.IntN(5000))
			had := len(want)
			if err := c.TrimRows(keep); err != nil {
				t.Fatal(err)
			}
			check(true)
			if int64(len(want)) < min(keep, int64(had)) {
				t.Fatalf("%d rows left of %d, %d were to be kept", len(want), had, keep)
			}
		case 4:
			if r.IntN(3) == 0 {
				c.DropContents()
				want = nil
				check(false)
			}
		case 5:
			cp := &checkpoint.Checkpoint{Epoch: st.LastEpoch(), Sections: []*state.Section{c.Freeze()}}
			if _, err := checkpoint.Write(context.Background(), st, cp); err != nil {
				t.Fatal(err)
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			st = openDir(t, dir)
			c = st.Chunks(7, ts)
			check(false)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStateLargerThanMemory keeps some ten times the budget in tables over a real store.
func TestStateLargerThanMemory(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	dir := filepath.Join(t.TempDir(), "db")
	const budget = 200_000
	sums, names := map[int64]int64{}, map[string]string{}
	st := openDir(t, dir)
	var sp *table.Space
	var h *table.Hash
	var o *table.Ordered
	open := func() {
		sp = st.Space(9)
		sp.SetBudget(budget)
		h = sp.Hash(table.Decl{Name: "sums", IntKey: true, Words: 1})
		o = sp.Ordered(table.Decl{Name: "names"})
		if err := sp.Verify(); err != nil {
			t.Fatal(err)
		}
	}
	open()
	keys, slots := make([]int64, 400), make([]int32, 400)
	for epoch := range 120 {
		for i := range keys {
			keys[i] = r.Int64N(30_000)
		}
		h.FindOrAddInts(keys, nil, slots)
		for i, k := range keys {
			h.Words(slots[i])[0] += k
			sums[k] += k
		}
		h.MarkDirty(slots)
		for range 200 {
			k := fmt.Sprintf("%06d", r.IntN(15_000))
			switch r.IntN(4) {
			case 0, 1:
				v := strings.Repeat("v", r.IntN(40))
				o.Put([]byte(k), []byte(v))
				names[k] = v
			case 2:
				v, ok := o.Get([]byte(k))
				if want, had := names[k]; string(v) != want || ok != had {
					t.Fatalf("%s: %q %v, want %q %v", k, v, ok, want, had)
				}
			case 3:
				o.Delete([]byte(k))
				delete(names, k)
			}
		}
		appendEpoch(t, st, &state.EpochRecord{})
		if epoch%4 == 3 {
			c := &checkpoint.Checkpoint{Epoch: st.LastEpoch(), Sections: []*state.Section{state.SpaceSection(9, sp.Freeze())}}
			if _, err := checkpoint.Write(context.Background(), st, c); err != nil {
				t.Fatal(err)
			}
			if left := sp.Evict(budget / 2); left > budget {
				t.Fatalf("%d bytes left after eviction", left)
			}
		}
		if epoch%40 == 39 {
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			st = openDir(t, dir)
			open()
		}
		if h.Len() != int64(len(sums)) || o.Len() != int64(len(names)) {
			t.Fatalf("epoch %d: %d and %d entries, want %d and %d", epoch, h.Len(), o.Len(), len(sums), len(names))
		}
	}
	for k, v := range sums {
		if s := h.FindInt(k); s < 0 || h.Words(s)[0] != v {
			t.Fatalf("sum of %d is wrong", k)
		}
	}
	n := 0
	o.Scan(nil, nil, func(k, v []byte) bool {
		n++
		if names[string(k)] != string(v) {
			t.Fatalf("%s: %q, want %q", k, v, names[string(k)])
		}
		return true
	})
	if n != len(names) {
		t.Fatalf("%d names, want %d", n, len(names))
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReopenInProcess opens relations again after a checkpoint of the same process, as when a view begins again.
func TestReopenInProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	st := openDir(t, dir)
	ts := []types.Type{types.Of(types.Int8)}
	rows, chunks := st.Rows(7, ts, []int{0}), st.Chunks(8, ts)
	write := func() {
		t.Helper()
		appendEpoch(t, st, &state.EpochRecord{})
		rows.Publish(st.LastEpoch())
		chunks.Publish(st.LastEpoch())
		c := &checkpoint.Checkpoint{Epoch: st.LastEpoch(), Sections: []*state.Section{chunks.Freeze(), rows.Freeze()}}
		if _, err := checkpoint.Write(context.Background(), st, c); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want int64) {
		t.Helper()
		rows, chunks = st.Rows(7, ts, []int{0}), st.Chunks(8, ts)
		n := [2]int64{}
		count := func(i int) func(*batch.Batch) error {
			return func(b *batch.Batch) error { n[i] += int64(b.N); return nil }
		}
		if err := rows.Snapshot().Scan(count(0)); err != nil {
			t.Fatal(err)
		}
		if err := chunks.Snapshot().Scan(count(1)); err != nil {
			t.Fatal(err)
		}
		if n != [2]int64{want, want} || rows.Snapshot().Rows() != want || chunks.Snapshot().Rows() != want {
			t.Fatalf("%v rows, counted %d and %d, want %d", n, rows.Snapshot().Rows(), chunks.Snapshot().Rows(), want)
		}
	}
	for _, n := range []int64{3, 0, 2} {
		rows.DropContents()
		chunks.DropContents()
		for i := range n {
			rows.Apply(ints(i))
			chunks.Append(ints(i))
		}
		write()
		check(n)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = openDir(t, dir)
	check(2)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := checkpoint.Check(dir); err != nil || len(r.Problems) > 0 {
		t.Fatalf("%v, %v", r, err)
	}
}
