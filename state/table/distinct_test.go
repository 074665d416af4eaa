package table

import (
	"encoding/binary"
	"slices"
	"testing"
)

// TestAddMany compares what AddInts and AddBytes say is new with a map: with keys that repeat in a batch, that were removed, in memory and on
// disk, that are being written, and that were evicted.
func TestAddMany(t *testing.T) {
	rnd := seeded(t)
	b := &memBacking{m: map[string]string{}}
	sp := Open(b)
	ints, strs := sp.Hash(Decl{Name: "i", Words: 2, IntKey: true}), sp.Hash(Decl{Name: "b", Words: 1})
	have := map[int64]bool{}
	key := func(k int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(k)) }
	for round := range 300 {
		var keys []int64
		var sel []int32
		for i := range rnd.IntN(400) {
			keys = append(keys, rnd.Int64N(1500))
			if rnd.IntN(3) > 0 {
				sel = append(sel, int32(i))
			}
		}
		if rnd.IntN(2) == 0 {
			sel = nil
		}
		var want, chosen []int32
		var data []byte
		off, hashes := []uint32{0}, []uint64(nil)
		for i, k := range keys {
			if sel != nil && !slices.Contains(sel, int32(i)) {
				continue
			}
			if !have[k] {
				want = append(want, int32(i))
			}
			have[k] = true
			chosen = append(chosen, int32(i))
			data, hashes = append(data, key(k)...), append(hashes, HashBytes(key(k)))
			off = append(off, uint32(len(data)))
		}
		rows, slots := ints.AddInts(keys, sel, nil, nil)
		if !slices.Equal(rows, want) {
			t.Fatalf("round %d: rows %v, want %v", round, rows, want)
		}
		for i, s := range slots {
			if w := ints.Words(s); ints.KeyInt(s) != keys[rows[i]] || w[0] != 0 || w[1] != 0 {
				t.Fatalf("round %d: row %d got slot %d with words %v", round, rows[i], s, w)
			}
			ints.Words(s)[0] = 1
		}
		rows, slots = strs.AddBytes(hashes, off, data, nil, nil)
		for i, s := range slots {
			if rows[i] = chosen[rows[i]]; string(strs.Key(s)) != string(key(keys[rows[i]])) || strs.Words(s)[0] != 0 {
				t.Fatalf("round %d: row %d got slot %d", round, rows[i], s)
			}
			strs.Words(s)[0] = 1
		}
		if !slices.Equal(rows, want) {
			t.Fatalf("round %d: rows of bytes %v, want %v", round, rows, want)
		}
		for k := range have {
			if rnd.IntN(4) == 0 {
				delete(have, k)
				ints.Remove(ints.FindInt(k))
				strs.Remove(strs.FindBytes(key(k)))
			}
		}
		switch rnd.IntN(6) {
		case 0:
			b.write(t, sp.Freeze())
			sp.Evict(0)
		case 1:
			f := sp.Freeze()
			sp.Step(rnd.IntN(300))
			if rnd.IntN(2) == 0 {
				b.write(t, f)
			}
		}
	}
}
