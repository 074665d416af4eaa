package table

import "testing"

// TestFilter: what was added is found, and of what wasn't little is, however far the filter grew. How many bits it has for each hash is as documented.
func TestFilter(t *testing.T) {
	r := seeded(t)
	for _, c := range []struct {
		first int
		thin  bool
		most  func(times float64) float64 // bits of a hash, when it has so many times as many as were first
	}{
		{20_000, false, func(times float64) float64 { return 11.2 * max(1/times, 1.5) }},
		{60_000, true, func(times float64) float64 {
			thin := 512. / (12 + 3*(46-12)) / times // a line has 512 bits
			switch {
			case times < 12./(12+3*(46-12)):
				return thin
			case times < 1:
				return 3 * thin
			}
			return 3 * 512. / (12 + 3*(46-12)) * 1.5
		}},
	} {
		var f filter
		seen := map[uint64]bool{}
		for len(seen) < 150_000 {
			k := r.Int64() >> r.IntN(60) // small ones come again
			f.add(hashInt(k), c.first, c.thin)
			if seen[hashInt(k)] = true; len(seen)%1000 == 0 {
				if bits, most := float64(8*f.size)/float64(f.n), c.most(float64(f.n)/float64(c.first)); bits > most*1.01 || bits < 10.9 {
					t.Fatalf("%d hashes have %.1f bits each, not %.1f: %d were first, %t", f.n, bits, most, c.first, c.thin)
				}
			}
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
		if rate := float64(wrong) / float64(asked); rate > float64(len(f.parts))/150*1.1 {
			t.Errorf("%d of %d that were not added are found in %d parts", wrong, asked, len(f.parts))
		}
	}
}

// TestFilterOfLittleMore: of a table that is only a little larger than memory the filter is a small part.
func TestFilterOfLittleMore(t *testing.T) {
	const n = 200_000
	b := &countingBacking{memBacking: memBacking{m: map[string]string{}}}
	sp := Open(b)
	sp.SetBudget(1)
	h := sp.Hash(Decl{Name: "t", Words: 1, IntKey: true})
	for k := range int64(n) {
		h.findOrAddInt(k)
	}
	b.write(t, sp.Freeze())
	all := sp.MemBytes()
	for _, part := range []int64{80, 50, 0} { // percent that is kept
		sp.Evict(all * part / 100)
		if f := sp.FilterBytes(); f == 0 || f > 6*n*21/20 || f > all/4 {
			t.Errorf("a filter of %d bytes, with %d %% of %d bytes kept", f, part, all)
		}
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
