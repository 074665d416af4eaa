package table

import (
	"bytes"
	"encoding/binary"
	"math/rand"
	"slices"
	"testing"
	"time"
)

// TestHeads compares an ordered table with a sorted list, over keys that differ early, late and only in length.
func TestHeads(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	prefixes := []string{"", "a", "same beginning, ", "same beginning, and longer than what is left out of the heads: "}
	key := func() []byte {
		k := []byte(prefixes[rnd.Intn(len(prefixes))])
		for n := rnd.Intn(12); n > 0; n-- {
			k = append(k, byte(rnd.Intn(3))*127)
		}
		return k
	}
	o := NewTransient().Ordered(Decl{Name: "t"})
	var keys [][]byte
	for i := range 30_000 {
		k := key()
		at, found := slices.BinarySearchFunc(keys, k, bytes.Compare)
		switch {
		case i%3 == 0 && found:
			o.Delete(k)
			keys = slices.Delete(keys, at, at+1)
		case !found:
			o.Put(k, k)
			keys = slices.Insert(keys, at, k)
		}
		k = key()
		at, found = slices.BinarySearchFunc(keys, k, bytes.Compare)
		if v, ok := o.Get(k); ok != found || ok && !bytes.Equal(v, k) {
			t.Fatalf("Get(%q) = %q, %v", k, v, ok)
		}
		var next []byte
		o.Scan(k, nil, func(k, _ []byte) bool { next = bytes.Clone(k); return false })
		if at < len(keys) && !bytes.Equal(next, keys[at]) || at == len(keys) && next != nil {
			t.Fatalf("after %q comes %q", k, next)
		}
		var last []byte
		o.ScanDesc(nil, k, func(k, _ []byte) bool { last = bytes.Clone(k); return false })
		if at > 0 && !bytes.Equal(last, keys[at-1]) || at == 0 && last != nil {
			t.Fatalf("before %q comes %q", k, last)
		}
	}
}

// BenchmarkOrderedRandom looks up keys of a million entries at random: an integer key and a time, as joins and sessions have them.
func BenchmarkOrderedRandom(b *testing.B) {
	const n = 1 << 20
	o := NewTransient().Ordered(Decl{Name: "t"})
	key := make([]byte, 17)
	set := func(i int) {
		key[0] = 1
		binary.BigEndian.PutUint64(key[1:], uint64(i*7919%n)|1<<63)
		binary.BigEndian.PutUint64(key[9:], uint64(1_700_000_000_000_000+i%n)|1<<63)
	}
	for i := range n {
		set(i)
		o.Put(key, key)
	}
	rnd := uint32(1)
	for b.Loop() {
		rnd = rnd*1664525 + 1013904223
		set(int(rnd >> 12))
		if _, ok := o.Get(key); !ok {
			b.Fatal("missing")
		}
	}
}
