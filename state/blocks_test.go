package state_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/state"
	"github.com/tidemarkdb/tidemark/state/table"
)

// TestBlocksOnDisk has hash tables grow and shrink over a real store, by tables that are ingested and by batches, with compactions and restarts, so that
// blocks are merged by Pebble and tables laid out anew in the same step that deletes what was there.
func TestBlocksOnDisk(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	dir := filepath.Join(t.TempDir(), "db")
	st := openDir(t, dir)
	var sp *table.Space
	var ints, strs *table.Hash
	open := func() {
		sp = st.Space(9)
		ints, strs = sp.Hash(table.Decl{Name: "i", IntKey: true, Words: 1}), sp.Hash(table.Decl{Name: "s", Words: 1})
		if err := sp.Verify(); err != nil {
			t.Fatal(err)
		}
	}
	open()
	model := map[int64]int64{}
	text := func(k int64) []byte { return fmt.Appendf(nil, "key %d", k) }
	change := func(k, v int64) {
		var slot [1]int32
		ints.FindOrAddInts([]int64{k}, nil, slot[:])
		ints.Words(slot[0])[0] = v
		ints.MarkDirty(slot[:])
		b := text(k)
		strs.FindOrAddBytes([]uint64{table.HashBytes(b)}, []uint32{0, uint32(len(b))}, b, slot[:])
		strs.Words(slot[0])[0] = v
		strs.MarkDirty(slot[:])
		model[k] = v
	}
	check := func() {
		t.Helper()
		if ints.Len() != int64(len(model)) || strs.Len() != int64(len(model)) {
			t.Fatalf("%d and %d entries, want %d", ints.Len(), strs.Len(), len(model))
		}
		got := [2]map[int64]int64{{}, {}}
		for i := range got {
			sp.Each(i, func(e *table.Entry) bool {
				k := e.Int
				if i == 1 {
					fmt.Sscanf(string(e.Key), "key %d", &k)
				}
				got[i][k] = e.Words[0]
				return true
			})
			if fmt.Sprint(got[i]) != fmt.Sprint(model) {
				t.Fatalf("table %d: %d entries, want %d", i, len(got[i]), len(model))
			}
		}
		for k, v := range model {
			if r.IntN(10) > 0 {
				continue
			}
			if i, s := ints.FindInt(k), strs.FindBytes(text(k)); i < 0 || s < 0 || ints.Words(i)[0] != v || strs.Words(s)[0] != v {
				t.Fatalf("key %d is at %d and %d", k, i, s)
			}
		}
	}
	for round := range 40 {
		size := 1 << r.IntN(13)
		for len(model) < size {
			change(r.Int64N(1<<14)-1000, r.Int64N(1000))
		}
		for k := range model {
			if len(model) > size {
				ints.Remove(ints.FindInt(k))
				strs.Remove(strs.FindBytes(text(k)))
				delete(model, k)
			} else if r.IntN(20) == 0 {
				change(k, r.Int64N(1000))
			}
		}
		state.Force(st, r.IntN(2) == 0)
		state.SetTableSize(st, 200+r.IntN(20_000))
		appendEpoch(t, st, &state.EpochRecord{})
		if err := st.Write(context.Background(), []*state.Section{state.SpaceSection(9, sp.Freeze())}, nil); err != nil {
			t.Fatal(err)
		}
		switch r.IntN(6) {
		case 0:
			if err := state.Compact(st); err != nil {
				t.Fatal(err)
			}
		case 1:
			sp.Evict(0)
		case 2:
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			st = openDir(t, dir)
			open()
			sp.SetBudget(int64(r.IntN(2)))
		}
		if round%3 == 0 {
			check()
		}
	}
	if err := state.Compact(st); err != nil {
		t.Fatal(err)
	}
	sp.Evict(0)
	check()
}
