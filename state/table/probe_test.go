package table

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// sharedTags gives pairs of int keys with one tag.
func sharedTags(rnd *rand.Rand, pairs int) (keys []int64) {
	seen := map[uint32]int64{}
	for len(keys) < 2*pairs {
		k := int64(rnd.Uint64())
		tag := tagInt(k)
		if other, ok := seen[tag]; ok {
			keys = append(keys, other, k)
		}
		seen[tag] = k
	}
	return keys
}

// Blocks of lookups find what lookups of one key find, with repeated, missing and removed keys, and keys that share a tag.
func TestProbeBlocks(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	shared := sharedTags(rnd, 10)
	for range 30 {
		sp := NewTransient()
		ints, bytes := sp.Hash(Decl{Operator: 1, IntKey: true, Words: 1}), sp.Hash(Decl{Operator: 2, Words: 1})
		there := map[int64]int64{} // the words of the keys that are there
		domain := 1 + rnd.IntN(2000)
		for range 40 {
			keys := make([]int64, rnd.IntN(3*probeBlock))
			for i := range keys {
				if keys[i] = int64(rnd.IntN(domain)); rnd.IntN(4) == 0 {
					keys[i] = shared[rnd.IntN(len(shared))]
				}
			}
			checkMany(t, ints, bytes, keys, there)
			addMany(t, rnd, ints, bytes, keys, there)
			for _, k := range keys[:len(keys)/4] {
				if s := ints.FindInt(k); s >= 0 {
					ints.Remove(s)
					bytes.Remove(bytes.FindBytes(keyBytes(k)))
				}
				delete(there, k)
			}
		}
	}
}

func keyBytes(k int64) []byte { return binary.AppendVarint(nil, k) }

// bytesKeys gives keys in the form that lookups take.
func bytesKeys(keys []int64) (hashes []uint64, off []uint32, data []byte) {
	off = []uint32{0}
	for _, k := range keys {
		b := keyBytes(k)
		data = append(data, b...)
		hashes, off = append(hashes, HashBytes(b)), append(off, uint32(len(data)))
	}
	return hashes, off, data
}

func checkMany(t *testing.T, ints, bytes *Hash, keys []int64, there map[int64]int64) {
	t.Helper()
	slots, more := make([]int32, len(keys)), make([]int32, len(keys))
	ints.FindManyInts(keys, slots)
	hashes, off, data := bytesKeys(keys)
	bytes.FindManyBytes(hashes, off, data, more)
	for i, k := range keys {
		word, ok := there[k]
		if (slots[i] >= 0) != ok || (more[i] >= 0) != ok {
			t.Fatalf("key %d: slots %d and %d, in the table: %v", k, slots[i], more[i], ok)
		}
		if ok && (ints.Words(slots[i])[0] != word || bytes.Words(more[i])[0] != word) {
			t.Fatalf("key %d: %d and %d, want %d", k, ints.Words(slots[i])[0], bytes.Words(more[i])[0], word)
		}
	}
}

// addMany adds the keys, of int keys perhaps a selection, and counts in their words how often each came.
func addMany(t *testing.T, rnd *rand.Rand, ints, bytes *Hash, keys []int64, there map[int64]int64) {
	t.Helper()
	var sel []int32
	if rnd.IntN(2) == 0 {
		sel = []int32{}
		for i := range keys {
			if rnd.IntN(3) > 0 {
				sel = append(sel, int32(i))
			}
		}
	}
	slots := slices.Repeat([]int32{-7}, len(keys))
	ints.FindOrAddInts(keys, sel, slots)
	picked := keys
	if sel != nil {
		picked = nil
		for i := range keys {
			if _, ok := slices.BinarySearch(sel, int32(i)); ok {
				picked = append(picked, keys[i])
			} else if slots[i] != -7 {
				t.Fatalf("the slot of a row that was left out became %d", slots[i])
			}
		}
		slots = slices.DeleteFunc(slots, func(s int32) bool { return s == -7 })
	}
	more := make([]int32, len(picked))
	hashes, off, data := bytesKeys(picked)
	bytes.FindOrAddBytes(hashes, off, data, more)
	for i, k := range picked {
		there[k]++
		ints.Words(slots[i])[0]++
		bytes.Words(more[i])[0]++
	}
	checkMany(t, ints, bytes, picked, there)
}
