package table

import (
	"errors"
	"fmt"
	"maps"
	"testing"
)

// TestSpoiledBlocks reads tables whose blocks have errors in them: that fails, or finds something, but does no harm.
func TestSpoiledBlocks(t *testing.T) {
	r := seeded(t)
	b := &memBacking{m: map[string]string{}}
	sp := Open(b)
	decls := []Decl{{Name: "i", Words: 3, Rare: 1, IntKey: true}, {Name: "s", Words: 1}}
	ints, strs := sp.Hash(decls[0]), sp.Hash(decls[1])
	const n = 400
	add := func(some int64) {
		for k := range some {
			s := ints.findOrAddInt(k * 1e6)
			ints.Words(s)[0] = k
			ints.markDirty(s)
			key := fmt.Appendf(nil, "key %d", k)
			s = strs.findOrAddBytes(key, uint32(HashBytes(key)>>32))
			strs.SetBlob(s, make([]byte, k))
		}
		b.write(t, sp.Freeze())
	}
	add(n)
	add(n / 10) // buckets of two blocks
	var blocks []string
	for k := range b.m {
		if k[0] == spaceData {
			blocks = append(blocks, k)
		}
	}
	failed := 0
	for range 300 {
		spoiled := &memBacking{m: maps.Clone(b.m)}
		at := blocks[r.IntN(len(blocks))]
		v := []byte(spoiled.m[at])
		for range 1 + r.IntN(2) {
			v[r.IntN(len(v))] = byte(r.IntN(256))
		}
		spoiled.m[at] = string(v[:len(v)-r.IntN(2)*r.IntN(len(v))])
		func() {
			defer func() {
				if p := recover(); p != nil {
					var f *Failure
					if err, ok := p.(error); !ok || !errors.As(err, &f) {
						panic(p)
					}
					failed++
				}
			}()
			sp := Open(spoiled)
			sp.SetBudget(int64(r.IntN(2)))
			ints, strs := sp.Hash(decls[0]), sp.Hash(decls[1])
			if r.IntN(2) == 0 {
				var slots [n]int32
				var keys [n]int64
				for i := range keys {
					keys[i] = int64(i) * 1e6
					strs.FindBytes(fmt.Appendf(nil, "key %d", i))
				}
				ints.FindManyInts(keys[:], slots[:])
			}
			ints.fetchAll()
			strs.fetchAll()
		}()
		c := NewChecker()
		lo, hi := MetaRange()
		_ = spoiled.Scan(lo, hi, false, func(k, v []byte) bool { return c.Declare(k, v) == nil })
		_ = spoiled.Scan(nil, lo, false, func(k, v []byte) bool { _ = c.Add(k, v); return true })
		c.Problems()
	}
	if failed < 25 {
		t.Errorf("%d of 300 reads failed", failed)
	}
}
