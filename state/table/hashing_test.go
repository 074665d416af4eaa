package table

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// TestHashing pins the hashes of keys, on which what is stored depends, to values that a program in another language gave.
func TestHashing(t *testing.T) {
	for _, c := range []struct {
		n    int
		want uint64
	}{{0, 0x4cbc96337055afbc}, {1, 0x1a3681d57cefd8a1}, {3, 0xe3b22ee3c5f025d5}, {4, 0xb5912bc4413e8136}, {7, 0x77d7dfbf82174934}, {8, 0xa484801d715d19b4},
		{15, 0xf0255e830578ce57}, {16, 0x819ac0c2e0352717}, {17, 0xa565ebadc4a39f29}, {32, 0x93c37455d01eb74c}, {33, 0xf5abc3ff47a92e1d}, {100, 0x9216232ed618048e}} {
		b := make([]byte, c.n)
		for i := range b {
			b[i] = byte(i*7 + 1)
		}
		if got := HashBytes(b); got != c.want {
			t.Errorf("%d bytes: %#x", c.n, got)
		}
	}
	var data []byte
	off, many := []uint32{0, 0}, make([]uint64, 301)
	for n := range 300 {
		for i := range n % 41 {
			data = append(data, byte(i*7+n))
		}
		off = append(off, uint32(len(data)))
	}
	HashMany(data, off, many)
	for k, h := range many {
		if want := HashBytes(data[off[k]:off[k+1]]); h != want {
			t.Errorf("key %d of many, of %d bytes: %#x, want %#x", k, off[k+1]-off[k], h, want)
		}
	}
	words := make([]int64, len(many))
	HashMany(data, off, words)
	for k, h := range words {
		if uint64(h) != many[k] {
			t.Errorf("key %d of many: %#x in a column, want %#x", k, uint64(h), many[k])
		}
	}
	for _, c := range []struct {
		k    int64
		want uint64
	}{{0, 0x3a0ca1e168227cbc}, {1, 0x2346ea7457268833}, {42, 0xdd7f88a15f434649}, {-1, 0xe678d164852648ff}, {1 << 40, 0xb2e09669b30fc567}} {
		if got := hashInt(c.k); got != c.want {
			t.Errorf("%d: %#x", c.k, got)
		}
	}
}

// TestHashSpread looks at how far keys lie from their homes in the index: keys that follow each other, that differ in high bits only, and texts of several lengths
// must fill it about as random ones would.
func TestHashSpread(t *testing.T) {
	const n, cells = 100_000, 1 << 18
	for name, hash := range map[string]func(i int) uint64{
		"one after the other": func(i int) uint64 { return hashInt(int64(i)) },
		"thousands":           func(i int) uint64 { return hashInt(int64(i) * 1000) },
		"microseconds":        func(i int) uint64 { return hashInt(1_700_000_000_000_000 + int64(i)*1_000_000) },
		"high bits":           func(i int) uint64 { return hashInt(int64(i) << 44) },
		"negative":            func(i int) uint64 { return hashInt(-int64(i)) },
		"short texts":         func(i int) uint64 { return HashBytes(fmt.Appendf(nil, "%d", i)) },
		"texts":               func(i int) uint64 { return HashBytes(fmt.Appendf(nil, "key-%08d", i)) },
		"long texts": func(i int) uint64 {
			return HashBytes(fmt.Appendf(nil, "https://example.com/%06d/index.html?lang=en", i))
		},
		"words": func(i int) uint64 { return HashBytes(binary.BigEndian.AppendUint64([]byte{1}, uint64(i)^1<<63)) },
		"two words": func(i int) uint64 {
			return HashBytes(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(i%317)), uint64(i/317)))
		},
	} {
		idx := make([]uint64, cells)
		far := 0
		seen := map[uint64]bool{}
		for i := range n {
			h := hash(i)
			seen[h] = true
			at := uint32(h >> 32)
			for ; idx[at&(cells-1)] != 0; at++ {
				far++
			}
			idx[at&(cells-1)] = 1
		}
		// At a load of 0.38 it is 0.31 cells a key.
		if len(seen) < n || far > n*36/100 {
			t.Errorf("%s: %d hashes, %d cells from home", name, len(seen), far)
		}
	}
}
