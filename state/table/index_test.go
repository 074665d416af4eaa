package table

import "testing"

// Indexes grow in steps, and arrays are mapped, as only large ones are otherwise.
func init() { growAtOnce, growStep, mapFrom = 32, 64, 1024 }

// TestIndexGrows adds and removes while an index grows, from the sequence of tags on that wraps around its end.
func TestIndexGrows(t *testing.T) {
	r := seeded(t)
	for range 50 {
		h := NewTransient().Hash(Decl{Name: "t", Words: 1, IntKey: true})
		there := map[int64]int64{}
		grew, span := 0, int64(200+r.IntN(4000))
		for n := range 12_000 {
			k := r.Int64N(span)
			if s := h.FindInt(k); s >= 0 && r.IntN(3) == 0 {
				if h.Words(s)[0] != there[k] {
					t.Fatalf("key %d has %d, want %d", k, h.Words(s)[0], there[k])
				}
				h.Remove(s)
				delete(there, k)
			} else if _, ok := there[k]; ok != (s >= 0) {
				t.Fatalf("key %d: found %v, want %v", k, s >= 0, ok)
			} else if s < 0 {
				h.Words(h.findOrAddInt(k))[0] = int64(n)
				there[k] = int64(n)
			}
			if h.next != nil {
				grew++
			}
		}
		if grew == 0 && span > 500 {
			t.Error("it did not grow in steps")
		}
		if h.Len() != int64(len(there)) {
			t.Errorf("%d entries, want %d", h.Len(), len(there))
		}
		for k, v := range there {
			if s := h.FindInt(k); s < 0 || h.Words(s)[0] != v {
				t.Fatalf("key %d is lost", k)
			}
		}
		if err := checkIndex(h); err != "" {
			t.Fatal(err)
		}
	}
}

// checkIndex says what is wrong with the index: each entry must be there once, and nothing else.
func checkIndex(h *Hash) string {
	n := 0
	for i, e := range h.cells {
		if e == 0 {
			continue
		}
		n++
		s := int32(e&h.slot) - 1
		tag := h.tagOf(s)
		if isFree(h.flags[s]) || (tag^e)&^h.low != 0 {
			return "a cell is of another entry"
		}
		if e != h.cell(tag, s, (uint32(i)-tag)&uint32(len(h.cells)-1)) {
			return "a cell is elsewhere than it says"
		}
	}
	if n != h.used {
		return "cells are lost"
	}
	return ""
}
