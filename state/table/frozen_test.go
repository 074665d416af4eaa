package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
)

// TestFrozenManyInOrder: what is frozen of tables with many entries, which are cut into parts by hash, comes in the order of keys, each once,
// and is what the tables are then.
func TestFrozenManyInOrder(t *testing.T) {
	r := seeded(t)
	b := &memBacking{m: map[string]string{}}
	sp := Open(b)
	declare := func(sp *Space) (*Hash, *Hash, *Windows) {
		return sp.Hash(Decl{Name: "ints", Words: 1, IntKey: true}), sp.Hash(Decl{Name: "strs", Words: 1}), sp.Windows(Decl{Name: "win", Words: 1, IntKey: true})
	}
	ints, strs, win := declare(sp)
	n := 4*perPart + r.IntN(40*perPart)
	keys, slots := make([]int64, n), make([]int32, n)
	for i := range keys {
		keys[i] = r.Int64() >> r.IntN(64)
	}
	add := func(h *Hash, keys []int64) {
		h.FindOrAddInts(keys, nil, slots)
		h.MarkDirty(slots[:len(keys)])
		for i, s := range slots[:len(keys)] {
			h.Words(s)[0] = keys[i] * 3
		}
	}
	// Keys that are prefixes of others, and that differ late.
	key := func(i int64) []byte { return bytes.Repeat(fmt.Appendf(nil, "%x.", i), 1+int(uint64(i)%3)) }
	addStrs := func(keys []int64) {
		var data []byte
		off, hashes := []uint32{0}, []uint64(nil)
		for _, k := range keys {
			from := len(data)
			data = append(data, key(k)...)
			off, hashes = append(off, uint32(len(data))), append(hashes, HashBytes(data[from:]))
		}
		strs.FindOrAddBytes(hashes, off, data, slots)
		strs.MarkDirty(slots[:len(keys)])
		for i, s := range slots[:len(keys)] {
			strs.Words(s)[0] = keys[i] * 5
		}
	}
	gone := map[int64]bool{}
	for round := range 3 {
		some := keys[:n>>(2*round)]
		for _, k := range some {
			delete(gone, k)
		}
		add(ints, some)
		add(win.At(0, 10), some)
		add(win.At(10, 20), some[:len(some)/2])
		addStrs(some)
		for _, k := range some[:len(some)/10] {
			if !gone[k] { // keys repeat
				gone[k] = true
				ints.Remove(ints.FindInt(k))
				strs.Remove(strs.FindBytes(key(k)))
			}
		}
		f := sp.Freeze()
		ascends(t, f)
		b.write(t, f)
		f.Written()
	}
	again := Open(b)
	again.SetBudget(1) // keys are read one by one
	ints2, strs2, win2 := declare(again)
	if ints2.Len() != ints.Len() || strs2.Len() != strs.Len() || win2.Len() != win.Len() {
		t.Fatalf("lengths %d %d %d, want %d %d %d", ints2.Len(), strs2.Len(), win2.Len(), ints.Len(), strs.Len(), win.Len())
	}
	for i, k := range keys {
		s, z := ints2.FindInt(k), strs2.FindBytes(key(k))
		if gone[k] {
			if s >= 0 || z >= 0 {
				t.Fatalf("%d is still there", k)
			}
			continue
		}
		if s < 0 || ints2.Words(s)[0] != k*3 || z < 0 || strs2.Words(z)[0] != k*5 {
			t.Fatalf("%d is wrong", k)
		}
		if w := win2.Get(10).FindInt(k); w < 0 || win2.Get(10).Words(w)[0] != k*3 {
			t.Fatalf("%d, the %d-th, is wrong in its window", k, i)
		}
	}
}

// entriesOf gives the number of entries of a change, which are in order if it is a block.
func entriesOf(t *testing.T, c Change) int {
	ord := binary.BigEndian.Uint16(c.Key[1:])
	if c.Key[0] != spaceData || ord > 2 {
		return 1
	}
	var r, last blockReader
	n := 0
	block, rest := nextBlock(c.Val)
	if len(rest) > 0 {
		t.Fatalf("%x has more than a block", c.Key)
	}
	for r.open(block); r.next(); n++ {
		if n > 0 && last.compare(&r) >= 0 {
			t.Fatalf("entries of %x are not in order", c.Key)
		}
		last.ints, last.num, last.key = r.ints, r.num, append(last.key[:0], r.key...)
	}
	if r.err != nil || n == 0 {
		t.Fatalf("%x: %d entries, %v", c.Key, n, r.err)
	}
	return n
}

// ascends fails the test if what is written of a Freeze is not in order of its keys, or not all of it, each time.
func ascends(t *testing.T, f *Frozen) {
	t.Helper()
	for range 2 { // it can be written again after a failure
		var last []byte
		count := 0
		if err := f.Each(func(c Change) error {
			if last != nil && bytes.Compare(last, c.Key) >= 0 {
				return fmt.Errorf("%x comes before %x", last, c.Key)
			}
			last = append(last[:0], c.Key...)
			count += entriesOf(t, c)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if count != f.Len() {
			t.Fatalf("%d changes, not %d", count, f.Len())
		}
	}
}
