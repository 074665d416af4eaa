package table

import "testing"

// TestFilter: what was added is found, and of what wasn't little is, however far the filter grew.
func TestFilter(t *testing.T) {
	r := seeded(t)
	var f filter
	seen := map[uint64]bool{}
	for range 150_000 {
		k := r.Int64() >> r.IntN(60) // small ones come again
		f.add(hashInt(k), 20_000)
		seen[hashInt(k)] = true
	}
	for h := range seen {
		if !f.has(h) {
			t.Fatalf("%x is lost", h)
		}
	}
	wrong, asked := 0, 0
	for k := range int64(200_000) {
		if h := hashInt(k << 20); !seen[h] {
			asked++
			if f.has(h) {
				wrong++
			}
		}
	}
	if wrong*100 > asked*3*len(f.parts) {
		t.Errorf("%d of %d that were not added are found in %d parts", wrong, asked, len(f.parts))
	}
	if perKey := float64(8*f.size) / float64(len(seen)); perKey > 30 {
		t.Errorf("%.0f bits for each", perKey)
	}
}

// TestNewKeysAreNotRead: a table of which most entries are only on disk knows of nearly all new keys that they are new.
func TestNewKeysAreNotRead(t *testing.T) {
	b := &countingBacking{memBacking: memBacking{m: map[string]string{}}}
	sp := Open(b)
	sp.SetBudget(1)
	ints := sp.Hash(Decl{Name: "i", Words: 1, IntKey: true})
	strs := sp.Hash(Decl{Name: "s", Words: 1})
	for k := range int64(20_000) {
		ints.findOrAddInt(k)
		strs.findOrAddBytes(keyBytes(k), uint32(HashBytes(keyBytes(k))>>32))
	}
	f := sp.Freeze()
	b.write(t, f)
	f.Written()
	sp.Evict(0)
	b.gets = 0
	for k := int64(20_000); k < 30_000; k++ {
		if ints.FindInt(k) >= 0 || strs.FindBytes(keyBytes(k)) >= 0 {
			t.Fatalf("%d is there", k)
		}
	}
	if b.gets > 1000 {
		t.Errorf("20000 new keys took %d reads", b.gets)
	}
	for k := range int64(20_000) {
		if ints.FindInt(k) < 0 || strs.FindBytes(keyBytes(k)) < 0 {
			t.Fatalf("%d is lost", k)
		}
	}
}

// TestNewKeysAfterARestart: what a table has on disk is known again once its segments were missed in for some times.
func TestNewKeysAfterARestart(t *testing.T) {
	b := &countingBacking{memBacking: memBacking{m: map[string]string{}}}
	const n = 20_000
	decls := []Decl{{Name: "i", Words: 1, IntKey: true}, {Name: "s", Words: 1}}
	sp := Open(b)
	ints, strs := sp.Hash(decls[0]), sp.Hash(decls[1])
	for k := range int64(n) {
		ints.findOrAddInt(k)
		strs.findOrAddBytes(keyBytes(k), uint32(HashBytes(keyBytes(k))>>32))
	}
	b.write(t, sp.Freeze())
	sp = Open(b)
	sp.SetBudget(1)
	ints, strs = sp.Hash(decls[0]), sp.Hash(decls[1])
	for k := int64(n); k < 2*n; k++ {
		if ints.FindInt(k) >= 0 || strs.FindBytes(keyBytes(k)) >= 0 {
			t.Fatalf("%d is there", k)
		}
	}
	if b.gets > n/10 {
		t.Errorf("%d new keys took %d reads", 2*n, b.gets)
	}
	for k := range int64(n) {
		if ints.FindInt(k) < 0 || strs.FindBytes(keyBytes(k)) < 0 {
			t.Fatalf("%d is lost", k)
		}
	}
}

// TestFilterForgets: where keys come, are evicted and go, the filter does not grow for ever.
func TestFilterForgets(t *testing.T) {
	b := &countingBacking{memBacking: memBacking{m: map[string]string{}}}
	sp := Open(b)
	sp.SetBudget(1)
	h := sp.Hash(Decl{Name: "t", Words: 1, IntKey: true})
	const each, kept = 5000, 3
	var size int
	for round := range int64(60) {
		for k := range int64(each) {
			h.findOrAddInt(round*each + k)
		}
		for k := range int64(each) {
			if old := h.FindInt((round-kept)*each + k); round >= kept {
				if old < 0 {
					t.Fatalf("key %d of round %d is lost", k, round-kept)
				}
				h.Remove(old)
			}
		}
		b.write(t, sp.Freeze())
		sp.Evict(0)
		size = max(size, h.disk.filter.size)
		if want := int64(each) * min(round+1, kept); h.Len() != want {
			t.Fatalf("round %d: %d entries, want %d", round, h.Len(), want)
		}
	}
	if most := 10 * each * kept; size > most {
		t.Errorf("the filter had %d bytes for %d entries", size, each*kept)
	}
}
