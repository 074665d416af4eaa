package table

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// blockOf makes a block of changes by key; nil: the key is gone.
func blockOf(ints bool, changes map[string]*string, nums map[string]int64) []byte {
	keys := slices.SortedFunc(maps.Keys(changes), func(a, b string) int {
		if ints {
			return cmp.Compare(number(nums[a]), number(nums[b]))
		}
		return bytes.Compare([]byte(a), []byte(b))
	})
	var w blockWriter
	kind := bytesBlock
	if ints {
		kind = intBlock
	}
	w.begin(nil, kind)
	for _, k := range keys {
		var val []byte
		if v := changes[k]; v != nil {
			val = []byte(*v)
		}
		if ints {
			w.addInt(number(nums[k]), val, changes[k] == nil)
		} else {
			w.addBytes([]byte(k), val, changes[k] == nil)
		}
	}
	return appendBlock(nil, w.b)
}

// readBlock is the inverse of blockOf, for values of several blocks, too.
func readBlock(t *testing.T, val []byte) map[string]string {
	got := map[string]string{}
	var m BlockMerger
	block, err := m.one(val, true)
	if err != nil {
		t.Fatal(err)
	}
	var r blockReader
	for r.open(block); r.next(); {
		k := string(r.key)
		if r.ints {
			k = fmt.Sprint(numbered(r.num))
		}
		if r.gone {
			t.Fatalf("%s is gone, but there", k)
		}
		got[k] = string(r.val)
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	return got
}

// TestBlocksMerge: blocks merged in any grouping are what their changes are, one after the other.
func TestBlocksMerge(t *testing.T) {
	r := seeded(t)
	for round := range 400 {
		ints := round%2 == 0
		nums, model := map[string]int64{}, map[string]string{}
		var blocks [][]byte
		for range 1 + r.IntN(12) {
			changes := map[string]*string{}
			for range r.IntN(20) {
				k := fmt.Sprintf("key%0*d", 1+r.IntN(4), r.IntN(30))
				if ints {
					n := (r.Int64N(40) - 20) << r.IntN(2) * (1 + r.Int64N(2)<<40)
					k = fmt.Sprint(n)
					nums[k] = n
				}
				if r.IntN(3) == 0 {
					changes[k] = nil
					delete(model, k)
				} else {
					v := string(bytes.Repeat([]byte{byte(r.IntN(256))}, r.IntN(200)*r.IntN(2)))
					changes[k], model[k] = &v, v
				}
			}
			blocks = append(blocks, blockOf(ints, changes, nums))
		}
		var m BlockMerger
		for len(blocks) > 1 {
			i := r.IntN(len(blocks) - 1)
			b, err := m.Merge(nil, blocks[i], blocks[i+1], i == 0 && r.IntN(2) == 0)
			if err != nil {
				t.Fatal(err)
			}
			blocks = slices.Replace(blocks, i, i+2, b)
		}
		b := blocks[0]
		if got := readBlock(t, b); !maps.Equal(got, model) {
			t.Fatalf("merged: %q, want %q", got, model)
		}
		spoil(t, r, b)
	}
}

// spoil reads a block with errors in it: whatever it finds, it ends.
func spoil(t *testing.T, r *rand.Rand, block []byte) {
	b := slices.Clone(block[:r.IntN(len(block)+1)])
	for range r.IntN(3) {
		if len(b) > 0 {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
	}
	var m BlockMerger
	if got, err := m.Merge(nil, b, block, true); err == nil && len(got) == 0 {
		t.Fatal("nothing came of a block")
	}
}

// TestBucketsFollowTheTable: a table that becomes much larger or smaller is laid out anew on disk, if all of it is in memory, and is the same after a restart.
func TestBucketsFollowTheTable(t *testing.T) {
	r := seeded(t)
	b := &memBacking{m: map[string]string{}}
	sp := Open(b)
	declare := func() (*Hash, *Hash) {
		return sp.Hash(Decl{Name: "i", Words: 1, IntKey: true}), sp.Hash(Decl{Name: "s", Words: 1})
	}
	ints, strs := declare()
	model := map[int64]int64{}
	check := func() {
		t.Helper()
		if ints.Len() != int64(len(model)) || strs.Len() != int64(len(model)) {
			t.Fatalf("%d and %d entries, want %d", ints.Len(), strs.Len(), len(model))
		}
		for k, v := range model {
			i, s := ints.FindInt(k), strs.FindBytes(keyBytes(k))
			if i < 0 || s < 0 || ints.Words(i)[0] != v || strs.Words(s)[0] != v {
				t.Fatalf("key %d is at %d and %d", k, i, s)
			}
		}
	}
	write := func() {
		b.write(t, sp.Freeze())
		c := NewChecker()
		lo, hi := MetaRange()
		report := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		report(b.Scan(lo, hi, false, func(k, v []byte) bool { report(c.Declare(k, v)); return true }))
		report(b.Scan(nil, lo, false, func(k, v []byte) bool { report(c.Add(k, v)); return true }))
		if p := c.Problems(); p != nil {
			t.Fatal(p)
		}
	}
	most, relaid := uint(0), 0
	for _, n := range []int{50, 3000, 3100, 60_000, 20_000, 100, 7, 0, 500} {
		for k := int64(0); len(model) < n; k++ {
			k := k<<uint(r.IntN(2)*33) - 100
			if _, ok := model[k]; !ok {
				model[k] = r.Int64N(1000)
				ints.Words(ints.findOrAddInt(k))[0] = model[k]
				strs.Words(strs.findOrAddBytes(keyBytes(k), uint32(HashBytes(keyBytes(k))>>32)))[0] = model[k]
			}
		}
		for k := range model {
			if len(model) == n {
				break
			}
			delete(model, k)
			ints.Remove(ints.FindInt(k))
			strs.Remove(strs.FindBytes(keyBytes(k)))
		}
		before := ints.bits
		write()
		if u := max(n>>ints.bits, n>>strs.bits); u > mostUnits {
			t.Errorf("%d entries have %d and %d bits of buckets", n, ints.bits, strs.bits)
		}
		if most = max(most, ints.bits); ints.bits != before {
			relaid++
		}
		switch r.IntN(4) {
		case 0:
			sp.Evict(0)
		case 1:
			sp = Open(b)
			sp.SetBudget(int64(r.IntN(2)))
			ints, strs = declare()
		}
		check()
		sp.SetBudget(0)
		ints.fetchAll()
		strs.fetchAll()
		check()
	}
	if most < 9 || relaid < 4 || ints.bits > fewBits {
		t.Errorf("%d bits at most, %d at the end, changed %d times", most, ints.bits, relaid)
	}
	if n := len(b.m); n > 2<<fewBits {
		t.Errorf("%d keys are left on disk", n)
	}
}
