package table

import (
	"bytes"
	"slices"
	"testing"
)

// TestAppendKeys compares it with Key, for keys of all lengths, none and those at the end of the arena among them.
func TestAppendKeys(t *testing.T) {
	r := seeded(t)
	for range 40 {
		h := NewTransient().Hash(Decl{Name: "t", Words: 1})
		var slots []int32
		for n := r.IntN(1500) + 1; len(slots) < n; {
			k := make([]byte, r.IntN(1+r.IntN(40)))
			for i := range k {
				k[i] = byte(r.IntN(256))
			}
			if s := h.findOrAddBytes(k, uint32(HashBytes(k)>>32)); int(s) == len(slots) {
				slots = append(slots, s)
			}
		}
		r.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
		want, wantEnds := []byte("before"), []uint32{6}
		for _, s := range slots {
			want = append(want, h.Key(s)...)
			wantEnds = append(wantEnds, uint32(len(want)))
		}
		got, ends := h.AppendKeys(slots, []byte("before"), []uint32{6})
		if !bytes.Equal(got, want) || !slices.Equal(ends, wantEnds) {
			t.Fatalf("%d keys: %x, want %x", len(slots), got, want)
		}
	}
}
