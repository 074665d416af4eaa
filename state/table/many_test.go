package table

import (
	"encoding/binary"
	"math/rand"
	"testing"
	"time"
)

// TestFindMany compares lookups of many keys with those of one, over entries that are there, were removed and never were, and
// additions of some rows of a batch with a map.
func TestFindMany(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	sp := NewTransient()
	ints, byBytes := sp.Hash(Decl{Name: "i", Words: 1, IntKey: true}), sp.Hash(Decl{Name: "b", Words: 1})
	for range 200 {
		var keys []int64
		var sel []int32
		var data []byte
		var hashes []uint64
		off := []uint32{0}
		for i := range rnd.Intn(300) {
			k := rnd.Int63n(1000)
			keys = append(keys, k)
			if rnd.Intn(2) == 0 {
				sel = append(sel, int32(i))
			}
			b := binary.BigEndian.AppendUint64(nil, uint64(k))
			data, hashes = append(data, b...), append(hashes, HashBytes(b))
			off = append(off, uint32(len(data)))
		}
		slots := make([]int32, len(keys))
		if ints.FindManyInts(keys, slots); rnd.Intn(2) == 0 {
			for i, s := range slots {
				if s != ints.FindInt(keys[i]) {
					t.Fatalf("key %d: %d, want %d", keys[i], s, ints.FindInt(keys[i]))
				}
			}
		}
		byBytes.FindManyBytes(hashes, off, data, slots)
		for i, s := range slots {
			if want := byBytes.FindBytes(data[off[i]:off[i+1]]); s != want {
				t.Fatalf("key %d: %d, want %d", keys[i], s, want)
			}
		}
		byBytes.FindOrAddBytes(hashes, off, data, slots)
		if len(slots) > 0 {
			byBytes.Remove(slots[0])
		}
		for i := range slots {
			slots[i] = -7
		}
		ints.FindOrAddInts(keys, append([]int32{}, sel...), slots)
		for i, s := range slots {
			chosen := len(sel) > 0 && sel[0] == int32(i)
			if chosen {
				sel = sel[1:]
			}
			if chosen && ints.KeyInt(s) != keys[i] || !chosen && s != -7 {
				t.Fatalf("row %d of key %d got slot %d", i, keys[i], s)
			}
		}
		if len(keys) > 0 {
			if s := ints.FindInt(keys[0]); s >= 0 {
				ints.Remove(s)
			}
		}
	}
}
