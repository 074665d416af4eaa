package state_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tidemarkdb/tidemark/state"
	"github.com/tidemarkdb/tidemark/state/table"
)

// blockSpace is a space with tables whose entries lie in blocks, and what is in them.
type blockSpace struct {
	t    *testing.T
	r    *rand.Rand
	st   *state.Store
	sp   *table.Space
	ints *table.Hash
	strs *table.Hash
	wins *table.Windows
	want [3]map[string]string // of windows, the keys begin with the end
}

func (b *blockSpace) open(fs vfs.FS) {
	var o state.Options
	o.SetFS(fs)
	o.CacheBytes, o.MemTableSize, o.ReserveBytes = 1<<20, 64<<10, 1
	st, err := state.Open("db", o)
	if err != nil {
		b.t.Fatal(err)
	}
	if n := b.r.IntN(3); n > 0 {
		state.Force(st, n == 1)
		state.SetTableSize(st, 500)
	}
	b.st, b.sp = st, st.Space(viewOID)
	b.sp.SetBudget([]int64{0, 1, 100 << 10, 1 << 20}[b.r.IntN(4)])
	b.ints = b.sp.Hash(table.Decl{Name: "ints", IntKey: true, Words: 2, Rare: 1})
	b.strs = b.sp.Hash(table.Decl{Name: "strs", Words: 1})
	b.wins = b.sp.Windows(table.Decl{Name: "wins", Words: 1})
}

// change sets or removes one entry of a table of which model has what is in it.
func (b *blockSpace) change(h *table.Hash, model map[string]string, pre string, key string, ints bool) {
	r := b.r
	var slots [1]int32
	if ints {
		var k int64
		_, _ = fmt.Sscan(key, &k)
		if r.IntN(3) == 0 {
			if s := h.FindInt(k); s >= 0 != (model[pre+key] != "") {
				b.t.Fatalf("key %s is at %d, want %q", key, s, model[pre+key])
			} else if s >= 0 {
				h.Remove(s)
				delete(model, pre+key)
			}
			return
		}
		h.FindOrAddInts([]int64{k}, nil, slots[:])
	} else {
		if r.IntN(3) == 0 {
			if s := h.FindBytes([]byte(key)); s >= 0 != (model[pre+key] != "") {
				b.t.Fatalf("key %s is at %d, want %q", key, s, model[pre+key])
			} else if s >= 0 {
				h.Remove(s)
				delete(model, pre+key)
			}
			return
		}
		h.FindOrAddBytes([]uint64{table.HashBytes([]byte(key))}, []uint32{0, uint32(len(key))}, []byte(key), slots[:])
	}
	h.Words(slots[0])[0] = r.Int64N(100)
	switch r.IntN(20) {
	case 0:
		h.SetBlob(slots[0], []byte(strings.Repeat("b", r.IntN(3000))))
	case 1:
		h.SetBlob(slots[0], nil)
	}
	h.MarkDirty(slots[:])
	model[pre+key] = text(h, slots[0])
}

func text(h *table.Hash, s int32) string {
	return fmt.Sprintf("%d %d %t", h.Words(s)[0], len(h.Blob(s)), h.Blob(s) != nil)
}

func (b *blockSpace) epoch() {
	r := b.r
	n := []int{1, 30, 300, 3000}[r.IntN(4)]
	span := []int{20, 2000, 1 << 30}[r.IntN(3)]
	for range n {
		k := fmt.Sprint(r.IntN(span) - 10)
		switch r.IntN(3) {
		case 0:
			b.change(b.ints, b.want[0], "", k, true)
		case 1:
			if k == "7" {
				k = "" // the empty key
			}
			b.change(b.strs, b.want[1], "", strings.Repeat(k, 1+len(k)%3), false)
		case 2:
			end := 10 * (1 + r.Int64N(3))
			b.change(b.wins.At(end-10, end), b.want[2], fmt.Sprintf("%d:", end), k, false)
		}
	}
	if r.IntN(6) == 0 {
		end := 10 * (1 + r.Int64N(3))
		b.wins.Drop(end)
		maps.DeleteFunc(b.want[2], func(k, _ string) bool { return strings.HasPrefix(k, fmt.Sprintf("%d:", end)) })
	}
	if r.IntN(25) == 0 {
		b.sp.Drop()
		b.want = [3]map[string]string{{}, {}, {}}
	}
}

// check compares all of it, by keys first.
func (b *blockSpace) check() {
	got := [3]map[string]string{{}, {}, {}}
	for k, v := range b.want[1] {
		if b.r.IntN(4) == 0 {
			if s := b.strs.FindBytes([]byte(k)); s < 0 || text(b.strs, s) != v {
				b.t.Fatalf("%q is at %d, want %s", k, s, v)
			}
		}
	}
	var keys []int64
	for k := range b.want[0] {
		var n int64
		_, _ = fmt.Sscan(k, &n)
		keys = append(keys, n)
	}
	keys = keys[:b.r.IntN(len(keys)+1)]
	slots := make([]int32, len(keys))
	b.ints.FindManyInts(keys, slots)
	for i, s := range slots {
		if s < 0 || text(b.ints, s) != b.want[0][fmt.Sprint(keys[i])] {
			b.t.Fatalf("%d is at %d", keys[i], s)
		}
	}
	n := b.ints.Len() + b.strs.Len() + b.wins.Len()
	b.ints.Each(func(s int32) bool { got[0][fmt.Sprint(b.ints.KeyInt(s))] = text(b.ints, s); return true })
	b.strs.Each(func(s int32) bool { got[1][string(b.strs.Key(s))] = text(b.strs, s); return true })
	for _, end := range b.wins.Ends() {
		h := b.wins.Get(end)
		h.Each(func(s int32) bool { got[2][fmt.Sprintf("%d:%s", end, h.Key(s))] = text(h, s); return true })
	}
	for i := range got {
		n -= int64(len(got[i]))
		if !maps.Equal(got[i], b.want[i]) {
			b.t.Fatalf("table %d has %d entries, want %d, or others", i, len(got[i]), len(b.want[i]))
		}
	}
	if n != 0 {
		b.t.Fatalf("the tables have %d entries more than are there", n)
	}
}

func (b *blockSpace) verify() {
	var rep state.VerifyReport
	if err := b.st.Verify(&rep); err != nil || len(rep.Problems) > 0 {
		b.t.Fatal(err, rep.Problems)
	}
}

// TestBlocksInTheStore: what tables of blocks have is what was put in, however checkpoints are written, Pebble merges them, snapshots keep them apart,
// tables are laid out anew, and entries are dropped from memory and read back.
func TestBlocksInTheStore(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 3 {
		fs := vfs.NewCrashableMem()
		b := &blockSpace{t: t, r: r, want: [3]map[string]string{{}, {}, {}}}
		b.open(fs)
		for range 50 {
			b.epoch()
			if r.IntN(3) == 0 {
				continue
			}
			f := b.sp.Freeze()
			if r.IntN(2) == 0 {
				b.epoch() // before all is copied
			}
			f.Complete()
			if err := b.st.Write(context.Background(), []*state.Section{state.SpaceSection(viewOID, f)}, nil); err != nil {
				t.Fatal(err)
			}
			if r.IntN(3) == 0 {
				b.sp.Evict(b.sp.MemBytes() * r.Int64N(4) / 4)
			}
			switch r.IntN(12) {
			case 0:
				b.check()
			case 1:
				if err := state.Compact(b.st); err != nil {
					t.Fatal(err)
				}
			case 2:
				b.verify()
			case 3, 4: // what came since the checkpoint would be lost, so there is another one
				if err := b.st.Write(context.Background(), []*state.Section{state.SpaceSection(viewOID, b.sp.Freeze())}, nil); err != nil {
					t.Fatal(err)
				}
				left := fs
				if r.IntN(2) == 0 { // power fails
					left = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.IntN(101), RNG: r})
				} else {
					b.verify()
				}
				if err := b.st.Close(); err != nil {
					t.Fatal(err)
				}
				fs = left
				b.open(fs)
			}
		}
		b.check()
		if err := b.st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
