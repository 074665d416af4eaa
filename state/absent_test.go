package state_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tidemarkdb/tidemark/checkpoint"
	"github.com/tidemarkdb/tidemark/state"
	"github.com/tidemarkdb/tidemark/state/table"
)

// TestAbsentKeysReadNoBlocks asks a table that is on the last level on disk for keys that are not there: the filters answer.
func TestAbsentKeysReadNoBlocks(t *testing.T) {
	st := openDir(t, filepath.Join(t.TempDir(), "db"))
	sp := st.Space(9)
	sp.SetBudget(1) // nothing is read ahead
	o := sp.Ordered(table.Decl{Name: "names"})
	const n = 20_000
	for i := range n {
		o.Put(fmt.Appendf(nil, "%06d", 2*i), fmt.Appendf(nil, "value %d", i))
	}
	appendEpoch(t, st, &state.EpochRecord{})
	c := &checkpoint.Checkpoint{Epoch: st.LastEpoch(), Sections: []*state.Section{state.SpaceSection(9, sp.Freeze())}}
	if _, err := checkpoint.Write(context.Background(), st, c); err != nil {
		t.Fatal(err)
	}
	sp.Evict(0)
	if err := state.Compact(st); err != nil {
		t.Fatal(err)
	}
	const gets = 2000
	before := state.FilterHits(st)
	for i := range gets {
		if _, ok := o.Get(fmt.Appendf(nil, "%06d", 2*(i*7%n)+1)); ok {
			t.Fatalf("%d is there", 2*(i*7%n)+1)
		}
	}
	if hits := state.FilterHits(st) - before; hits < gets*95/100 {
		t.Errorf("filters answered %d of %d reads of absent keys", hits, gets)
	}
	for i := range gets {
		k := i * 7 % n
		if v, ok := o.Get(fmt.Appendf(nil, "%06d", 2*k)); !ok || string(v) != fmt.Sprintf("value %d", k) {
			t.Fatalf("%d: %q %v", 2*k, v, ok)
		}
	}
}

// TestAbsentKeysAreLearned looks up many keys that are not there and lie far apart, after a restart: a hash table reads a block for some, then
// what its segments have, and then nothing.
func TestAbsentKeysAreLearned(t *testing.T) {
	st := openDir(t, filepath.Join(t.TempDir(), "db"))
	sp := st.Space(9)
	h := sp.Hash(table.Decl{Name: "numbers", IntKey: true, Words: 1})
	const n, gets = 200_000, 1000
	keys, slots := make([]int64, n), make([]int32, n)
	for i := range keys {
		keys[i] = int64(2 * i)
	}
	h.FindOrAddInts(keys, nil, slots)
	appendEpoch(t, st, &state.EpochRecord{})
	c := &checkpoint.Checkpoint{Epoch: st.LastEpoch(), Sections: []*state.Section{state.SpaceSection(9, sp.Freeze())}}
	if _, err := checkpoint.Write(context.Background(), st, c); err != nil {
		t.Fatal(err)
	}
	if err := state.Compact(st); err != nil {
		t.Fatal(err)
	}
	// As after a restart: what was evicted the table would know itself.
	sp = st.Space(9)
	sp.SetBudget(1) // nothing is read ahead
	h = sp.Hash(table.Decl{Name: "numbers", IntKey: true, Words: 1})
	keys, slots = keys[:gets], slots[:gets]
	look := func(round int) (blocks int64) {
		for i := range keys {
			keys[i] = int64(2*((i+round*gets)*7919%n) + 1)
		}
		before := state.BlockReads(st)
		h.FindManyInts(keys, slots)
		for i := range keys {
			if slots[i] >= 0 {
				t.Fatalf("%d is there", keys[i])
			}
		}
		return state.BlockReads(st) - before
	}
	if first := look(0); first == 0 || first > 3*gets {
		t.Errorf("the first %d keys that are not there took %d reads of blocks", gets, first)
	}
	for round := range 3 {
		look(1 + round)
	}
	if last := look(4); last > gets/10 { // where the filter errs
		t.Errorf("%d keys that are not there took %d reads of blocks after many others", gets, last)
	}
	for i := range keys {
		keys[i]--
	}
	h.FindManyInts(keys, slots)
	for i, s := range slots {
		if s < 0 || h.KeyInt(s) != keys[i] {
			t.Fatalf("%d: slot %d", keys[i], s)
		}
	}
}

// TestMemTablesLeaveTheCache has caches of small budgets: memtables are part of them, and must not be all.
func TestMemTablesLeaveTheCache(t *testing.T) {
	for _, mb := range []int64{8, 16, 64, 1024} {
		st, err := state.Open(filepath.Join(t.TempDir(), "db"), state.Options{CacheBytes: mb << 20, ReserveBytes: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := state.MemTableBytes(st); got > mb<<20/2 {
			t.Errorf("of a cache of %d MB memtables take up to %d MB", mb, got>>20)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
