package table

import (
	"bytes"
	"slices"
	"testing"
)

// TestAppendKeys compares it with Key, for keys of all lengths, the shortest and those at the end of the arena among them, and keys that it must stop at.
func TestAppendKeys(t *testing.T) {
	r := seeded(t)
	for range 40 {
		h := NewTransient().Hash(Decl{Name: "t", Words: 1})
		var slots []int32
		for n := r.IntN(1500) + 1; len(slots) < n; {
			k := make([]byte, 3+r.IntN(1+r.IntN(40)))
			for i := range k {
				k[i] = byte(r.IntN(256))
			}
			k[0] = 1
			if s := h.findOrAddBytes(k, uint32(HashBytes(k)>>32)); int(s) == len(slots) {
				slots = append(slots, s)
			}
		}
		r.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
		want, wantEnds := []byte("before"), []uint32{6}
		for _, s := range slots {
			k := h.Key(s)
			want = append(want, k[1:len(k)-2]...)
			wantEnds = append(wantEnds, uint32(len(want)))
		}
		got, ends, ok := h.AppendKeys(slots, 1, 2, []byte("before"), []uint32{6})
		if !ok || !bytes.Equal(got, want) || !slices.Equal(ends, wantEnds) {
			t.Fatalf("%d keys, %v: %x, want %x", len(slots), ok, got, want)
		}
		for _, other := range [][]byte{{2, 'a', 0, 1}, {1, 0}, {1}, {}} {
			s := h.findOrAddBytes(other, uint32(HashBytes(other)>>32))
			if _, _, ok := h.AppendKeys(slices.Insert(slices.Clone(slots), r.IntN(len(slots)+1), s), 1, 2, nil, nil); ok {
				t.Fatalf("%x was taken", other)
			}
		}
	}
}
