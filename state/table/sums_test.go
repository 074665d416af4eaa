package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// hashed is a Summary that knows the order in which entries were added: a count, and a polynomial of the entries' values.
type hashed struct{ n, h, p uint64 }

const base = 1_000_003

func (s *hashed) Reset() { *s = hashed{p: 1} }
func (s *hashed) Entry(key, val []byte) {
	w := binary.LittleEndian.Uint64(val)
	s.add(w, HashBytes(key)+w, base)
}
func (s *hashed) add(n, h, p uint64) { s.n, s.h, s.p = s.n+n, s.h*p+h, s.p*p }
func (s *hashed) Node(b []byte) {
	u := binary.LittleEndian.Uint64
	s.add(u(b), u(b[8:]), u(b[16:]))
}
func (s *hashed) Append(dst []byte) []byte {
	for _, x := range []uint64{s.n, s.h, s.p} {
		dst = binary.LittleEndian.AppendUint64(dst, x)
	}
	return dst
}
func (s *hashed) Rows(sum []byte) int64      { return int64(binary.LittleEndian.Uint64(sum)) }
func (s *hashed) EntryRows(val []byte) int64 { return int64(binary.LittleEndian.Uint64(val)) }

// TestSums compares sums of ranges and rows at positions with a plain map, under changes, evictions and restarts.
func TestSums(t *testing.T) {
	r := seeded(t)
	b := &memBacking{m: map[string]string{}}
	var sp *Space
	var rows *Ordered
	var sums *Sums
	sum := &hashed{}
	open := func() {
		sp = Open(b)
		rows = sp.Ordered(Decl{Name: "rows"})
		sums = NewSums(rows, sp.Ordered(Decl{Name: "sums"}), sum)
		if err := sp.Verify(); err != nil {
			t.Fatal(err)
		}
	}
	open()
	model := map[string]uint64{}
	for step := 0; step < 250; step++ {
		scope := []byte(fmt.Sprintf("s%d", r.IntN(2)))
		keys := map[string]bool{}
		for n := r.IntN([]int{3, 30, 600}[r.IntN(3)]); n > 0; n-- {
			keys[fmt.Sprintf("%s%05d", scope, r.IntN(5000))] = true
		}
		changeSums(rows, sums, scope, keys, model, r, step/60%2 == 1)
		switch r.IntN(8) {
		case 0:
			b.write(t, sp.Freeze())
			sp.Evict(r.Int64N(sp.MemBytes() + 1))
		case 1:
			b.write(t, sp.Freeze())
			open()
		}
		checkSums(t, r, sums, sum, scope, model)
	}
	for s := 0; s < 2; s++ {
		keys := map[string]bool{}
		for k := range model {
			if k[1] == byte('0'+s) {
				keys[k] = true
			}
		}
		changeSums(rows, sums, []byte(fmt.Sprintf("s%d", s)), keys, map[string]uint64{}, r, true)
	}
	if rows.Len() != 0 || sums.Len() != 0 {
		t.Errorf("%d rows and %d nodes are left", rows.Len(), sums.Len())
	}
}

// changeSums puts or deletes entries under keys.
func changeSums(rows *Ordered, sums *Sums, scope []byte, keys map[string]bool, model map[string]uint64, r *rand.Rand, shrink bool) {
	var sorted [][]byte
	for k := range keys {
		sorted = append(sorted, []byte(k))
		if shrink || r.IntN(3) == 0 {
			rows.Delete([]byte(k))
			delete(model, k)
			continue
		}
		w := uint64(1 + r.IntN(3))
		rows.Put([]byte(k), binary.LittleEndian.AppendUint64(nil, w))
		model[k] = w
	}
	slices.SortFunc(sorted, bytes.Compare)
	sums.Update(scope, sorted)
}

func checkSums(t *testing.T, r *rand.Rand, sums *Sums, sum *hashed, scope []byte, model map[string]uint64) {
	t.Helper()
	var keys []string
	for k := range model {
		if bytes.HasPrefix([]byte(k), scope) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	var all int64
	for i := 0; i < 6; i++ {
		var lo, hi []byte
		if i > 0 && r.IntN(4) > 0 {
			lo = []byte(fmt.Sprintf("%s%05d", scope, r.IntN(5000)))
		}
		if i > 0 && r.IntN(4) > 0 {
			hi = []byte(fmt.Sprintf("%s%05d", scope, r.IntN(5000)))
		}
		want := hashed{p: 1}
		for _, k := range keys {
			if k >= string(lo) && (hi == nil || k < string(hi)) {
				want.Entry([]byte(k), binary.LittleEndian.AppendUint64(nil, model[k]))
			}
		}
		sums.Range(scope, lo, hi)
		if *sum != want {
			t.Fatalf("[%s, %s) of %d: %v, want %v", lo, hi, len(keys), *sum, want)
		}
		if i == 0 {
			all = int64(want.n)
		}
	}
	for i := 0; i < 3; i++ {
		n := r.Int64N(all + 2)
		left, want := n, ""
		for _, k := range keys {
			if left -= int64(model[k]); left < 0 {
				want = k
				break
			}
		}
		k, _, before, ok := sums.Select(scope, n)
		if ok != (want != "") || string(k) != want || ok && before > n {
			t.Fatalf("row %d of %d: %s %d, want %s", n, all, k, before, want)
		}
	}
}
