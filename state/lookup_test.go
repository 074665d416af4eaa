package state_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/checkpoint"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
	"github.com/tidemarkdb/tidemark/sql/workers"
	"github.com/tidemarkdb/tidemark/state"
)

// lookup gives the rows with an id, each as often as it is there.
func lookup(v *state.RowsSnapshot, id int64) (out []pair, err error) {
	err = v.Lookup([]types.Datum{types.IntDatum(id)}, func(b *batch.Batch) error {
		for i := range b.N {
			p := pair{b.Cols[0].I64[i], none}
			if !b.Cols[1].IsNull(i) {
				p.text = string(b.Cols[1].Bytes(i))
			}
			for range b.Weight(i) {
				out = append(out, p)
			}
		}
		return nil
	})
	return out, err
}

// uniqueModel is a relation with a unique key, and a map of what it holds.
type uniqueModel struct {
	t    *testing.T
	r    *rand.Rand
	st   *state.Store
	rows *state.Rows
	m    map[int64]string
	ids  int64
}

// check compares some lookups of a snapshot, or all, with what it holds.
func (u *uniqueModel) check(v *state.RowsSnapshot, m map[int64]string, r *rand.Rand, some int) error {
	for i := range min(some, int(u.ids)) {
		id := int64(i)
		if some < int(u.ids) {
			id = r.Int64N(u.ids)
		}
		got, err := lookup(v, id)
		if err != nil {
			return err
		}
		var want []pair
		if text, ok := m[id]; ok {
			want = []pair{{id, text}}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("id %d of epoch %d: got %v, want %v", id, v.Epoch, got, want)
		}
	}
	return nil
}

// change applies some changes of an epoch: rows that come, go, and are replaced, perhaps several times, the new one before the old one is gone or behind it. now has what is
// there with them, the changes before them in the epoch included.
func (u *uniqueModel) change(now map[int64]string, n int) {
	type change struct {
		p pair
		w int64
	}
	var all []change
	for range n {
		id := u.r.Int64N(u.ids)
		old, had := now[id]
		text := []string{none, "", "a", "b\x00c", fmt.Sprint(u.r.IntN(1000))}[u.r.IntN(5)]
		var two []change
		if had {
			two = append(two, change{pair{id, old}, -1})
			delete(now, id)
		}
		if !had || u.r.IntN(3) > 0 {
			two = append(two, change{pair{id, text}, 1})
			now[id] = text
		}
		if u.r.IntN(2) == 0 {
			slices.Reverse(two)
		}
		all = append(all, two...)
	}
	if u.r.IntN(2) == 0 {
		u.r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	for len(all) > 0 {
		part := all[:min(len(all), 1+u.r.IntN(max(n, 1)))]
		all = all[len(part):]
		b := batch.New(pairTypes, len(part))
		for _, c := range part {
			pairs(b, c.p, c.w)
		}
		if n > 100 || u.r.IntN(2) == 0 {
			b.Gift = &batch.Gift{}
		}
		u.rows.Apply(b)
		if u.r.IntN(3) == 0 {
			u.rows.Pending() // runs of a part of an epoch
		}
	}
}

// TestUniqueLookups applies random epochs to a relation with a unique key, with merges, checkpoints, restarts and drops, and compares lookups, those of earlier snapshots too and
// beside all that, with maps.
func TestUniqueLookups(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	dir := filepath.Join(t.TempDir(), "db")
	u := &uniqueModel{t: t, r: rand.New(rand.NewPCG(seed, 1)), m: map[int64]string{}}
	u.ids = []int64{5, 40, 3000}[u.r.IntN(3)]
	open := func() {
		u.st = openDir(t, dir)
		state.SetShrinkFrom(u.st, 1)
		state.SetLateFrom(u.st, 1+u.r.IntN(20))
		u.rows = u.st.Rows(7, pairTypes, []int{0})
		u.rows.SetUnique()
		u.rows.SetTeam(workers.Team{Number: func() int { return 3 }})
	}
	open()
	var wg sync.WaitGroup
	defer wg.Wait()
	for step := range 300 {
		now := cloneMap(u.m)
		for range u.r.IntN(3) {
			n := u.r.IntN(30)
			if u.r.IntN(20) == 0 && u.ids > 100 {
				n = 3 * batch.Target
			}
			u.change(now, n)
		}
		if u.r.IntN(10) == 0 {
			u.rows.Discard()
			now = cloneMap(u.m)
		}
		if u.r.IntN(4) == 0 {
			u.rows.Shrink()
		}
		if u.r.IntN(60) == 0 {
			u.rows.DropContents()
			clear(now)
		}
		u.m = now
		appendEpoch(t, u.st, &state.EpochRecord{})
		u.rows.Publish(u.st.LastEpoch())
		snap := u.rows.Snapshot()
		if err := u.check(snap, u.m, u.r, []int{0, 10, int(u.ids)}[u.r.IntN(3)]); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		if step%5 == 0 {
			wg.Add(1)
			go func(m map[int64]string, r *rand.Rand) {
				defer wg.Done()
				for range 3 {
					if err := u.check(snap, m, r, 50); err != nil {
						t.Errorf("snapshot of step %d: %v", step, err)
					}
					time.Sleep(time.Millisecond)
				}
			}(u.m, rand.New(rand.NewPCG(seed, uint64(step))))
		}
		if u.r.IntN(5) == 0 {
			state.Force(u.st, u.r.IntN(2) == 0)
			c := &checkpoint.Checkpoint{Epoch: u.st.LastEpoch(), Sections: []*state.Section{u.rows.Freeze()}}
			if _, err := checkpoint.Write(context.Background(), u.st, c); err != nil {
				t.Fatal(err)
			}
			if u.r.IntN(4) == 0 {
				wg.Wait()
				if err := u.st.Close(); err != nil {
					t.Fatal(err)
				}
				open()
			}
		}
		if u.r.IntN(20) == 0 {
			state.ReleaseReaders(u.st)
		}
	}
	wg.Wait()
	if err := u.st.Close(); err != nil {
		t.Fatal(err)
	}
}

func cloneMap(m map[int64]string) map[int64]string {
	out := make(map[int64]string, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// TestLookupWithinLookup: what a lookup gives stays while others run.
func TestLookupWithinLookup(t *testing.T) {
	st := openDir(t, filepath.Join(t.TempDir(), "db"))
	rows := st.Rows(7, pairTypes, []int{0})
	rows.SetUnique()
	b := batch.New(pairTypes, 4)
	for i := range 10 {
		pairs(b, pair{int64(i), fmt.Sprint("row ", i)}, 1)
	}
	rows.Apply(b)
	appendEpoch(t, st, &state.EpochRecord{})
	rows.Publish(1)
	for range 2 {
		v := rows.Snapshot()
		var descend func(id int64)
		descend = func(id int64) {
			if id == 10 {
				return
			}
			err := v.Lookup([]types.Datum{types.IntDatum(id)}, func(b *batch.Batch) error {
				descend(id + 1)
				if got, want := string(b.Cols[1].Bytes(0)), fmt.Sprint("row ", id); b.N != 1 || got != want {
					t.Errorf("%d rows, %q, want %q", b.N, got, want)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		descend(0)
		descend(0)
		c := &checkpoint.Checkpoint{Epoch: st.LastEpoch(), Sections: []*state.Section{rows.Freeze()}}
		if _, err := checkpoint.Write(context.Background(), st, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestUnreadRunsWait: an epoch's end puts no changes in order that nobody has read, however small their runs are; those that were read are merged at once while they are small.
func TestUnreadRunsWait(t *testing.T) {
	st := openDir(t, filepath.Join(t.TempDir(), "db"))
	defer func() {
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	const lateFrom, epochs = 50, 12
	state.SetLateFrom(st, lateFrom)
	rows := st.Rows(7, pairTypes, []int{0})
	next := int64(0)
	for range epochs {
		b := batch.New(pairTypes, lateFrom)
		for range lateFrom {
			pairs(b, pair{next, "x"}, 1)
			next++
		}
		rows.Apply(b)
		appendEpoch(t, st, &state.EpochRecord{})
		rows.Publish(st.LastEpoch())
	}
	if all, unread := state.UnreadRuns(rows.Snapshot()); all != epochs || unread != epochs {
		t.Fatalf("%d runs of %d epochs, of which %d are unread", all, epochs, unread)
	}
	n := int64(0)
	if err := rows.Snapshot().Scan(func(b *batch.Batch) error { n += int64(b.N); return nil }); err != nil || n != next {
		t.Fatalf("%d rows of %d, %v", n, next, err)
	}
	b := batch.New(pairTypes, lateFrom)
	for i := range int64(lateFrom - 1) {
		pairs(b, pair{next + i, "x"}, 1)
	}
	rows.Apply(b)
	appendEpoch(t, st, &state.EpochRecord{})
	rows.Publish(st.LastEpoch())
	if all, _ := state.UnreadRuns(rows.Snapshot()); all != 1 {
		t.Fatalf("%d runs after all was read", all)
	}
}
