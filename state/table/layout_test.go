package table

import "testing"

// TestBucketsFollowATableThatIsEvicted: a table that is small when it is dropped from memory, and then grows beside a larger one, has buckets of
// a few entries on disk nevertheless, and so does one of a space that has more than its budget.
func TestBucketsFollowATableThatIsEvicted(t *testing.T) {
	for _, evicts := range []bool{false, true} {
		b := &memBacking{m: map[string]string{}}
		sp := Open(b)
		sp.SetBudget(1)
		big := sp.Hash(Decl{Name: "big", Words: 3, IntKey: true})
		small := sp.Hash(Decl{Name: "small", Words: 1, IntKey: true})
		texts := sp.Hash(Decl{Name: "texts", Words: 1})
		next := int64(0)
		keys, slots := make([]int64, 2000), make([]int32, 2000)
		add := func(h *Hash, n int) {
			for i := range n {
				keys[i] = next * 7919
				next++
			}
			if !h.intKey {
				var data []byte
				off, hashes := []uint32{0}, []uint64(nil)
				for _, k := range keys[:n] {
					data = append(data, keyBytes(k)...)
					off, hashes = append(off, uint32(len(data))), append(hashes, HashBytes(keyBytes(k)))
				}
				h.FindOrAddBytes(hashes, off, data, slots[:n])
			} else {
				h.FindOrAddInts(keys[:n], nil, slots)
			}
			for i, s := range slots[:n] {
				h.Words(s)[0] = keys[i] + 1
			}
		}
		for round := range 60 {
			n := 1
			if round > 5 {
				n = 1000
			}
			for range 2 {
				add(big, 1000)
				add(small, n)
				add(texts, n)
			}
			b.write(t, sp.Freeze())
			if evicts {
				sp.Evict(0)
			}
		}
		for _, h := range []*Hash{big, small, texts} {
			if n := int(h.Len()) >> h.bits; n > 2*mostUnits {
				t.Errorf("evicts %v, %s: %d entries in a bucket", evicts, h.inf.decl.Name, n)
			}
		}
		sp = Open(b)
		sp.SetBudget(1)
		sp.Hash(big.inf.decl)
		ints, strs := sp.Hash(small.inf.decl), sp.Hash(texts.inf.decl)
		if ints.Len() != 108_012 || strs.Len() != 108_012 {
			t.Errorf("%d and %d entries", ints.Len(), strs.Len())
		}
		for _, h := range []*Hash{ints, strs} {
			n := 0
			h.Each(func(s int32) bool {
				k := h.Words(s)[0] - 1
				if h.intKey && h.KeyInt(s) != k || !h.intKey && string(h.Key(s)) != string(keyBytes(k)) {
					t.Fatalf("key %d has another's words", k)
				}
				n++
				return true
			})
			if n != 108_012 {
				t.Errorf("%d entries", n)
			}
		}
	}
}

// TestFrozenBytes: a Freeze knows about how much it is, of short keys, too, by which a checkpoint chooses how it is written.
func TestFrozenBytes(t *testing.T) {
	for _, ints := range []bool{true, false} {
		sp := Open(&memBacking{m: map[string]string{}})
		h := sp.Hash(Decl{Name: "t", IntKey: ints})
		for k := range int64(10_000) {
			if ints {
				h.findOrAddInt(k)
			} else {
				h.findOrAddBytes(keyBytes(k), uint32(HashBytes(keyBytes(k))>>32))
			}
		}
		f, n := sp.Freeze(), int64(0)
		if err := f.Each(func(c Change) error { n += int64(len(c.Key) + len(c.Val)); return nil }); err != nil {
			t.Fatal(err)
		}
		if got := f.Bytes(); got < n/4 || got > 4*n {
			t.Errorf("ints %v: %d bytes, by Bytes %d", ints, n, got)
		}
	}
}
