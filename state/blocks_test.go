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

// blocksModel is an int and a text table over a real store, and what must be in both.
type blocksModel struct {
	t          *testing.T
	r          *rand.Rand
	st         *state.Store
	sp         *table.Space
	ints, strs *table.Hash
	rows       map[int64]int64
}

func (m *blocksModel) open() {
	m.sp = m.st.Space(9)
	m.ints, m.strs = m.sp.Hash(table.Decl{Name: "i", IntKey: true, Words: 1}), m.sp.Hash(table.Decl{Name: "s", Words: 1})
	if err := m.sp.Verify(); err != nil {
		m.t.Fatal(err)
	}
}

func (m *blocksModel) text(k int64) []byte { return fmt.Appendf(nil, "key %d", k) }

func (m *blocksModel) change(k, v int64) {
	var slot [1]int32
	m.ints.FindOrAddInts([]int64{k}, nil, slot[:])
	m.ints.Words(slot[0])[0] = v
	m.ints.MarkDirty(slot[:])
	b := m.text(k)
	m.strs.FindOrAddBytes([]uint64{table.HashBytes(b)}, []uint32{0, uint32(len(b))}, b, slot[:])
	m.strs.Words(slot[0])[0] = v
	m.strs.MarkDirty(slot[:])
	m.rows[k] = v
}

// check compares all entries, and one in ten as it is found by its key.
func (m *blocksModel) check() {
	m.t.Helper()
	if m.ints.Len() != int64(len(m.rows)) || m.strs.Len() != int64(len(m.rows)) {
		m.t.Fatalf("%d and %d entries, want %d", m.ints.Len(), m.strs.Len(), len(m.rows))
	}
	got := [2]map[int64]int64{{}, {}}
	for i := range got {
		m.sp.Each(i, func(e *table.Entry) bool {
			k := e.Int
			if i == 1 {
				fmt.Sscanf(string(e.Key), "key %d", &k)
			}
			got[i][k] = e.Words[0]
			return true
		})
		if fmt.Sprint(got[i]) != fmt.Sprint(m.rows) {
			m.t.Fatalf("table %d: %d entries, want %d", i, len(got[i]), len(m.rows))
		}
	}
	for k, v := range m.rows {
		if m.r.IntN(10) > 0 {
			continue
		}
		if i, s := m.ints.FindInt(k), m.strs.FindBytes(m.text(k)); i < 0 || s < 0 || m.ints.Words(i)[0] != v || m.strs.Words(s)[0] != v {
			m.t.Fatalf("key %d is at %d and %d", k, i, s)
		}
	}
}

// TestBlocksOnDisk has hash tables grow and shrink over a real store, by tables that are ingested and by batches, with compactions and restarts, so that
// blocks are merged by Pebble and tables laid out anew in the same step that deletes what was there.
func TestBlocksOnDisk(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	dir := filepath.Join(t.TempDir(), "db")
	m := &blocksModel{t: t, r: r, st: openDir(t, dir), rows: map[int64]int64{}}
	m.open()
	for round := range 40 {
		size := 1 << r.IntN(13)
		for len(m.rows) < size {
			m.change(r.Int64N(1<<14)-1000, r.Int64N(1000))
		}
		for k := range m.rows {
			if len(m.rows) > size {
				m.ints.Remove(m.ints.FindInt(k))
				m.strs.Remove(m.strs.FindBytes(m.text(k)))
				delete(m.rows, k)
			} else if r.IntN(20) == 0 {
				m.change(k, r.Int64N(1000))
			}
		}
		state.Force(m.st, r.IntN(2) == 0)
		state.SetTableSize(m.st, 200+r.IntN(20_000))
		appendEpoch(t, m.st, &state.EpochRecord{})
		if err := m.st.Write(context.Background(), []*state.Section{state.SpaceSection(9, m.sp.Freeze())}, nil); err != nil {
			t.Fatal(err)
		}
		switch r.IntN(6) {
		case 0:
			if err := state.Compact(m.st); err != nil {
				t.Fatal(err)
			}
		case 1:
			m.sp.Evict(0)
		case 2:
			if err := m.st.Close(); err != nil {
				t.Fatal(err)
			}
			m.st = openDir(t, dir)
			m.open()
			m.sp.SetBudget(int64(r.IntN(2)))
		}
		if round%3 == 0 {
			m.check()
		}
	}
	if err := state.Compact(m.st); err != nil {
		t.Fatal(err)
	}
	m.sp.Evict(0)
	m.check()
}
